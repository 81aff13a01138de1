/* SPDX-License-Identifier: MIT
 *
 * keys.h - one database: keys, what they hold, when they end, who watches.
 *
 * Nothing here looks at a clock or deletes on its own: the store asks what is
 * due, tells whom it concerns, and deletes. All zero is an empty database. */
#ifndef RLT_KEYS_H
#define RLT_KEYS_H

#include "rand.h"
#include "obj.h"

struct rlt_due {
    rlt_leaf leaf;
    int64_t at_ms;
    rlt_entry *key;
};

/* A key that someone watches. `changes` counts rlt_keys_touch. */
typedef struct rlt_watch {
    uint64_t changes;
    uint32_t watchers;
    rlt_entry *entry; /* in `watched`; its key is the key                    */
} rlt_watch;

typedef struct rlt_keys {
    rlt_dict dict;    /* value.p: rlt_obj *                                  */
    rlt_tree due;     /* rlt_due.leaf, by time, then by when it was set      */
    rlt_dict watched; /* value.p: rlt_watch *                                */
} rlt_keys;

/* What takes memory: putting under a key of n bytes (the object apart),
 * giving a time to end, watching a key of n bytes. */
#define RLT_KEYS_PUT_COST(n) (RLT_DICT_COST(n) + RLT_KEYS_DUE_COST)
#define RLT_KEYS_DUE_COST RLT_POOL_COST(sizeof(rlt_due))
#define RLT_KEYS_WATCH_COST(n) \
    (RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_watch)))

RELET_PRIVATE void rlt_keys_init(rlt_keys *k);

/* All keys go; watches stay, untouched. */
RELET_PRIVATE void rlt_keys_clear(rlt_keys *k, rlt_pool *pool);
RELET_PRIVATE uint32_t rlt_keys_count(const rlt_keys *k);

/* How many of them have a time to end. */
RELET_PRIVATE uint32_t rlt_keys_due_count(const rlt_keys *k);

/* The entry of a key, whether it is due or not; NULL: none. Walk all keys by
 * k->dict.first and next, or by rlt_dict_scan. */
RELET_PRIVATE rlt_entry *rlt_keys_find(const rlt_keys *k, relet_span key);
RELET_PRIVATE rlt_obj *rlt_keys_obj(const rlt_entry *e);

/* 1 when now is past its time: a key is there at exactly that millisecond. */
RELET_PRIVATE int rlt_keys_is_due(const rlt_obj *o, int64_t now_ms);

/* Put the object, which has no time to end, under the key. What stood there is
 * freed, and its time to end forgotten. */
RELET_PRIVATE rlt_entry *rlt_keys_put(rlt_keys *k, rlt_pool *pool,
                                      relet_span key, rlt_obj *o);

/* The key goes; the object is freed, or is the caller's. *at_ms gets its time
 * to end, -1 for none (at_ms may be NULL); the object has none any more. */
RELET_PRIVATE void rlt_keys_delete(rlt_keys *k, rlt_pool *pool,
                                   rlt_entry *e);
RELET_PRIVATE rlt_obj *rlt_keys_take(rlt_keys *k, rlt_pool *pool,
                                     rlt_entry *e, int64_t *at_ms);

/* Give it a time to end, or another; take it away: 1, or 0: had none. The
 * time in ms, or -1. */
RELET_PRIVATE void rlt_keys_expire(rlt_keys *k, rlt_pool *pool, rlt_entry *e,
                                   int64_t at_ms);
RELET_PRIVATE int rlt_keys_persist(rlt_keys *k, rlt_pool *pool,
                                   rlt_entry *e);
RELET_PRIVATE int64_t rlt_keys_expires_at(const rlt_obj *o);

/* The key that ends first when it is due, else NULL; when the first ends, or
 * INT64_MAX. Active expiry deletes a bounded number of these at a time. */
RELET_PRIVATE rlt_entry *rlt_keys_first_due(const rlt_keys *k,
                                            int64_t now_ms);
RELET_PRIVATE int64_t rlt_keys_next_due(const rlt_keys *k);

/* Some key; NULL when there is none. */
RELET_PRIVATE rlt_entry *rlt_keys_random(const rlt_keys *k, rlt_rand *r);

/* Watch a key, whether it exists or not. The pointer stays good until its
 * last watcher lets go; a watcher notes `changes` and compares it later. */
RELET_PRIVATE rlt_watch *rlt_keys_watch(rlt_keys *k, rlt_pool *pool,
                                        relet_span key);
RELET_PRIVATE void rlt_keys_unwatch(rlt_keys *k, rlt_pool *pool,
                                    rlt_watch *w);
RELET_PRIVATE relet_span rlt_keys_watched_key(const rlt_watch *w);

/* The key has changed. */
RELET_PRIVATE void rlt_keys_touch(rlt_keys *k, relet_span key);

/* All that two databases hold, watches apart, changes sides. */
RELET_PRIVATE void rlt_keys_swap(rlt_keys *a, rlt_keys *b);

#endif
