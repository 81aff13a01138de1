/* SPDX-License-Identifier: MIT
 *
 * dict.h - a hash table from bytes to one word, iterated in insertion order.
 *
 * Entries are chained in buckets, and linked in order. So growing the table is
 * only a matter of speed: without memory for that the table stays as it is. An
 * entry does not move while it lives. */
#ifndef RLT_DICT_H
#define RLT_DICT_H

#include "rand.h"
#include "pool.h"

typedef struct rlt_entry {
    struct rlt_entry *chain;        /* the next in its bucket                */
    struct rlt_entry *next, *back;  /* in order; NULL at the ends            */
    union {
        void *p;
        int64_t i;
        double d;
    } value;
    uint32_t hash, len;
    char key[1]; /* len bytes                                                 */
} rlt_entry;

typedef struct rlt_dict {
    rlt_entry **buckets; /* a power of two of them, or NULL                  */
    rlt_entry *first, *last;
    uint32_t mask, count;
    uint32_t chain_max; /* no chain is longer; all may be shorter            */
} rlt_dict;

/* Memory to promise for adding a key of n bytes, without its value. */
#define RLT_DICT_COST(n) RLT_POOL_COST(sizeof(rlt_entry) + (size_t)(n))

/* All zero is an empty dict. */
RELET_PRIVATE void rlt_dict_init(rlt_dict *d);

/* Frees all entries, but not what their values point to. */
RELET_PRIVATE void rlt_dict_clear(rlt_dict *d, rlt_pool *pool);

RELET_PRIVATE rlt_entry *rlt_dict_find(const rlt_dict *d, relet_span key);

/* Adds an entry at the end, value 0. The key must be new, and its memory
 * promised. */
RELET_PRIVATE rlt_entry *rlt_dict_add(rlt_dict *d, rlt_pool *pool,
                                      relet_span key);
RELET_PRIVATE void rlt_dict_remove(rlt_dict *d, rlt_pool *pool, rlt_entry *e);

/* Moves an entry before `before` in the order; NULL: to the end. */
RELET_PRIVATE void rlt_dict_place(rlt_dict *d, rlt_entry *e,
                                  rlt_entry *before);

/* A random entry, all with the same chance; the dict is not empty. Takes about
 * ten looks into the buckets, more (but bounded by the count) if they are
 * sparse. */
RELET_PRIVATE rlt_entry *rlt_dict_random(const rlt_dict *d, rlt_rand *r);

/* One step of a scan, which begins with cursor 0 and has ended when 0 is
 * returned. *e: the first entry of this step, NULL for none; rlt_dict_scan_next
 * returns the next. An entry that is there during the whole scan is met at
 * least once, however the dict grows or shrinks between the steps. */
RELET_PRIVATE uint64_t rlt_dict_scan(const rlt_dict *d, uint64_t cursor,
                                     rlt_entry **e);
RELET_PRIVATE rlt_entry *rlt_dict_scan_next(const rlt_dict *d,
                                            const rlt_entry *e);

RELET_PRIVATE relet_span rlt_entry_key(const rlt_entry *e);

#endif
