/* SPDX-License-Identifier: MIT
 *
 * sha1.h - SHA-1, which gives the name by which EVALSHA knows a script.
 *
 * It has no other use here: SHA-1 is not secure any more. */
#ifndef RLT_SHA1_H
#define RLT_SHA1_H

#include "base.h"

/* Writes forty lower-case hexadecimal digits, without a NUL. */
RELET_PRIVATE void rlt_sha1_hex(const void *p, size_t n, char out[40]);

#endif
