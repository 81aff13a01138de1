/* SPDX-License-Identifier: MIT
 *
 * propagate.h - logs changes as commands that repeat them (effects).
 *
 * A unit is one command, one transaction or one script. If it has more than one
 * effect, its effects are enclosed in MULTI and EXEC. */
#ifndef RLT_EFFECT_H
#define RLT_EFFECT_H

#include "state.h"

RELET_PRIVATE void rlt_propagate_unit(rlt_server *s);
RELET_PRIVATE void rlt_propagate_unit_end(rlt_server *s);

/* Begin a command of `words` words, then write each of its words. */
RELET_PRIVATE void rlt_propagate_begin(rlt_server *s, uint32_t db,
                                       size_t words);
RELET_PRIVATE void rlt_propagate_word(rlt_server *s, relet_span word);

#endif
