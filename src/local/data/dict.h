/* SPDX-License-Identifier: MIT
 *
 * dict.h - a hash table from bytes to one word, walked in order of insertion.
 *
 * Entries are chained and linked in order, so that growing the table is only
 * a matter of speed: when there is no memory for that it stays as it is. An
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
    uint32_t chain_max; /* no chain is longer; some may all be shorter       */
} rlt_dict;

/* What putting a key of n bytes takes of a promise, the value apart. */
#define RLT_DICT_COST(n) RLT_POOL_COST(sizeof(rlt_entry) + (size_t)(n))

/* All zero is an empty one. */
RELET_PRIVATE void rlt_dict_init(rlt_dict *d);

/* Lets go of all entries, not of what their values point to. */
RELET_PRIVATE void rlt_dict_clear(rlt_dict *d, rlt_pool *pool);

RELET_PRIVATE rlt_entry *rlt_dict_find(const rlt_dict *d, relet_span key);

/* A new entry, at the end, value 0. The key must not be there yet, and its
 * memory promised. */
RELET_PRIVATE rlt_entry *rlt_dict_add(rlt_dict *d, rlt_pool *pool,
                                      relet_span key);
RELET_PRIVATE void rlt_dict_remove(rlt_dict *d, rlt_pool *pool, rlt_entry *e);

/* Stand before `before` in order; NULL: at the end. */
RELET_PRIVATE void rlt_dict_place(rlt_dict *d, rlt_entry *e,
                                  rlt_entry *before);

/* Any entry with the same chance; the dict is not empty. About ten looks into
 * the buckets, more (but bounded by the count) where they are sparse. */
RELET_PRIVATE rlt_entry *rlt_dict_random(const rlt_dict *d, rlt_rand *r);

/* One step of a scan that begins with cursor 0 and is at its end when it
 * returns 0. *e: the entries of this step, NULL for none, the next of them by
 * rlt_dict_scan_next. Who is there all the while is met at least once, however
 * the dict grows or shrinks between the steps. */
RELET_PRIVATE uint64_t rlt_dict_scan(const rlt_dict *d, uint64_t cursor,
                                     rlt_entry **e);
RELET_PRIVATE rlt_entry *rlt_dict_scan_next(const rlt_dict *d,
                                            const rlt_entry *e);

RELET_PRIVATE relet_span rlt_entry_key(const rlt_entry *e);

#endif
