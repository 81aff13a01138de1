/* SPDX-License-Identifier: MIT
 *
 * glob.h - the glob patterns of KEYS, PSUBSCRIBE and ACL.
 */
#ifndef RLT_GLOB_H
#define RLT_GLOB_H

#include "base.h"

/* 1 when all of s matches: * ? [abc] [a-z] [^a] and \x. No pattern takes more
 * than about pattern.n * s.n steps. */
RELET_PRIVATE int rlt_glob_match(relet_span pattern, relet_span s,
                                 int nocase);

#endif
