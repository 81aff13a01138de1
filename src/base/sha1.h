/* SPDX-License-Identifier: MIT
 *
 * sha1.h - the name that EVALSHA knows a script by.
 *
 * For that alone: SHA-1 protects nothing any more. */
#ifndef RLT_SHA1_H
#define RLT_SHA1_H

#include "base.h"

/* Forty lower-case digits, without a NUL. */
RELET_PRIVATE void rlt_sha1_hex(const void *p, size_t n, char out[40]);

#endif
