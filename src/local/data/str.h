/* SPDX-License-Identifier: MIT
 *
 * str.h - strings of bytes in the pool.
 *
 * Any byte may be in them. Room behind the bytes makes appending cheap. */
#ifndef RLT_STR_H
#define RLT_STR_H

#include "pool.h"

typedef struct rlt_str {
    uint32_t n, room; /* bytes in use, bytes allocated                       */
    char p[1];        /* room of them                                        */
} rlt_str;

/* Memory to promise for a new string of n bytes; n has no side effects. */
#define RLT_STR_COST(n) RLT_POOL_COST(sizeof(rlt_str) + (size_t)(n))

/* Memory to promise for an rlt_str_resize to n bytes. */
#define RLT_STR_RESIZE_COST(n) RLT_STR_COST((size_t)(n) + (size_t)(n) / 2)

/* A copy of the bytes; n bytes that the caller fills. */
RELET_PRIVATE rlt_str *rlt_str_new(rlt_pool *pool, relet_span s);
RELET_PRIVATE rlt_str *rlt_str_blank(rlt_pool *pool, size_t n);
RELET_PRIVATE void rlt_str_free(rlt_pool *pool, rlt_str *s); /* NULL is fine */

/* Resizes to n bytes: the first stay, new ones are 0. Returns the string at its
 * new address; s is no longer valid. */
RELET_PRIVATE rlt_str *rlt_str_resize(rlt_pool *pool, rlt_str *s, size_t n);

/* Valid while the string lives and is not resized. */
RELET_PRIVATE relet_span rlt_str_span(const rlt_str *s);

/* Bytes of the pool that the string takes. */
RELET_PRIVATE size_t rlt_str_size(const rlt_str *s);

/* Compares as Redis does: byte by byte unsigned, a prefix comes first. Below 0,
 * 0, above 0. */
RELET_PRIVATE int rlt_str_compare(relet_span a, relet_span b);

/* Reads an integer in the one form that Redis stores as an integer: no +, no
 * -0, no leading zero, within int64. As rlt_text_int. */
RELET_PRIVATE int rlt_str_int(relet_span s, int64_t *out);

#endif
