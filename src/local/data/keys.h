/* SPDX-License-Identifier: MIT
 *
 * keys.h - one database: keys, their objects, expiry times and watches.
 *
 * Nothing here looks at a clock or deletes on its own: the server asks which
 * keys are due, notifies its clients, and deletes. All zero is an empty
 * database. */
#ifndef RLT_KEYS_H
#define RLT_KEYS_H

#include "rand.h"
#include "obj.h"

struct rlt_due {
    rlt_leaf leaf;
    int64_t at_ms;
    rlt_entry *key;
};

/* A watched key. `changes` counts the calls of rlt_keys_touch. */
typedef struct rlt_watch {
    uint64_t changes;
    uint32_t watchers;
    rlt_entry *entry; /* in `watched`, under the watched key                 */
} rlt_watch;

typedef struct rlt_keys {
    rlt_dict dict;    /* value.p: rlt_obj *                                  */
    rlt_tree due;     /* rlt_due.leaf, by time, then by when it was set      */
    rlt_dict watched; /* value.p: rlt_watch *                                */
} rlt_keys;

/* Memory to promise for putting an object under a key of n bytes (without the
 * object), for an expiry time, and for watching a key of n bytes. */
#define RLT_KEYS_PUT_COST(n) (RLT_DICT_COST(n) + RLT_KEYS_DUE_COST)
#define RLT_KEYS_DUE_COST RLT_POOL_COST(sizeof(rlt_due))
#define RLT_KEYS_WATCH_COST(n) \
    (RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_watch)))

RELET_PRIVATE void rlt_keys_init(rlt_keys *k);

/* Deletes all keys; watches stay, untouched. */
RELET_PRIVATE void rlt_keys_clear(rlt_keys *k, rlt_pool *pool);
RELET_PRIVATE uint32_t rlt_keys_count(const rlt_keys *k);

/* How many keys have an expiry time. */
RELET_PRIVATE uint32_t rlt_keys_due_count(const rlt_keys *k);

/* The entry of a key, whether it is due or not; NULL: none. Walk all keys by
 * k->dict.first and next, or by rlt_dict_scan. */
RELET_PRIVATE rlt_entry *rlt_keys_find(const rlt_keys *k, relet_span key);
RELET_PRIVATE rlt_obj *rlt_keys_obj(const rlt_entry *e);

/* 1 when the expiry time is over: a key still exists at exactly that
 * millisecond. */
RELET_PRIVATE int rlt_keys_is_due(const rlt_obj *o, int64_t now_ms);

/* Put the object, which has no expiry time, under the key. The previous object
 * is freed, and its expiry time removed. */
RELET_PRIVATE rlt_entry *rlt_keys_put(rlt_keys *k, rlt_pool *pool,
                                      relet_span key, rlt_obj *o);

/* Remove the key. _delete frees the object; _take hands it to the caller
 * without its expiry time, which goes to *at_ms, -1 for none (at_ms may be
 * NULL). */
RELET_PRIVATE void rlt_keys_delete(rlt_keys *k, rlt_pool *pool,
                                   rlt_entry *e);
RELET_PRIVATE rlt_obj *rlt_keys_take(rlt_keys *k, rlt_pool *pool,
                                     rlt_entry *e, int64_t *at_ms);

/* Set or change the expiry time of a key; remove it: 1, or 0: there was none;
 * the expiry time in ms, or -1. */
RELET_PRIVATE void rlt_keys_expire(rlt_keys *k, rlt_pool *pool, rlt_entry *e,
                                   int64_t at_ms);
RELET_PRIVATE int rlt_keys_persist(rlt_keys *k, rlt_pool *pool,
                                   rlt_entry *e);
RELET_PRIVATE int64_t rlt_keys_expires_at(const rlt_obj *o);

/* The key that expires first if it is due, else NULL; when the first expires,
 * or INT64_MAX. Active expiry deletes a bounded number of these at a time. */
RELET_PRIVATE rlt_entry *rlt_keys_first_due(const rlt_keys *k,
                                            int64_t now_ms);
RELET_PRIVATE int64_t rlt_keys_next_due(const rlt_keys *k);

/* A random key; NULL when there is none. */
RELET_PRIVATE rlt_entry *rlt_keys_random(const rlt_keys *k, rlt_rand *r);

/* Watch a key, whether it exists or not. The pointer is valid until the last
 * watcher unwatches; a watcher notes `changes` and compares it later. */
RELET_PRIVATE rlt_watch *rlt_keys_watch(rlt_keys *k, rlt_pool *pool,
                                        relet_span key);
RELET_PRIVATE void rlt_keys_unwatch(rlt_keys *k, rlt_pool *pool,
                                    rlt_watch *w);
RELET_PRIVATE relet_span rlt_keys_watched_key(const rlt_watch *w);

/* The key has changed: counted if it is watched. */
RELET_PRIVATE void rlt_keys_touch(rlt_keys *k, relet_span key);

/* Swaps the keys of two databases. Watches stay where they are. */
RELET_PRIVATE void rlt_keys_swap(rlt_keys *a, rlt_keys *b);

#endif
