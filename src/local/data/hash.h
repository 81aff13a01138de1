/* SPDX-License-Identifier: MIT
 *
 * hash.h - fields with values, in the order in which fields were added.
 *
 * Walk it as a dict: e = h->fields.first; e = e->next. All zero is an empty
 * hash. */
#ifndef RLT_HASH_H
#define RLT_HASH_H

#include "dict.h"
#include "str.h"

/* Beyond one of these limits Redis converts to a hash table, and never back. */
#define RLT_HASH_SMALL 512
#define RLT_HASH_SMALL_BYTES 64

typedef struct rlt_hash {
    rlt_dict fields; /* value.p: rlt_str *                                   */
    int large;       /* 1: Redis would use a hash table                      */
} rlt_hash;

/* Memory to promise for setting a field of f bytes to a value of v bytes. */
#define RLT_HASH_COST(f, v) (RLT_DICT_COST(f) + RLT_STR_COST(v))

RELET_PRIVATE void rlt_hash_init(rlt_hash *h);
RELET_PRIVATE void rlt_hash_clear(rlt_hash *h, rlt_pool *pool);

/* NULL when there is no such field. */
RELET_PRIVATE rlt_entry *rlt_hash_find(const rlt_hash *h, relet_span field);
RELET_PRIVATE relet_span rlt_hash_value(const rlt_entry *e);

/* 1 when the field is new, else 0. `value` may be the field's present value. */
RELET_PRIVATE int rlt_hash_set(rlt_hash *h, rlt_pool *pool, relet_span field,
                               relet_span value);
RELET_PRIVATE void rlt_hash_remove(rlt_hash *h, rlt_pool *pool, rlt_entry *e);

#endif
