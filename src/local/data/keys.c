/* SPDX-License-Identifier: MIT
 *
 * keys.c - one database: keys, their objects, expiry times and watches.
 */
#include "keys.h"

RELET_PRIVATE void rlt_keys_init(rlt_keys *k)
{
    memset(k, 0, sizeof *k);
}

RELET_PRIVATE uint32_t rlt_keys_count(const rlt_keys *k)
{
    return k->dict.count;
}

RELET_PRIVATE uint32_t rlt_keys_due_count(const rlt_keys *k)
{
    return rlt_tree_count(&k->due);
}

RELET_PRIVATE rlt_entry *rlt_keys_find(const rlt_keys *k, relet_span key)
{
    return rlt_dict_find(&k->dict, key);
}

RELET_PRIVATE rlt_obj *rlt_keys_obj(const rlt_entry *e)
{
    return (rlt_obj *)e->value.p;
}

/* ------------------------------------------------------------------- expiry */

static rlt_due *keys_due(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_due, leaf, leaf) : NULL;
}

/* Links an expiry behind all others of the same time. */
static void keys_due_link(rlt_keys *k, rlt_due *due)
{
    rlt_leaf *up = NULL, *leaf = k->due.root;
    int side = 0;

    while (leaf) {
        up = leaf;
        side = keys_due(leaf)->at_ms <= due->at_ms;
        leaf = leaf->side[side];
    }
    rlt_tree_link(&k->due, &due->leaf, up, side);
}

RELET_PRIVATE int64_t rlt_keys_expires_at(const rlt_obj *o)
{
    return o->due ? o->due->at_ms : -1;
}

RELET_PRIVATE int rlt_keys_is_due(const rlt_obj *o, int64_t now_ms)
{
    return o->due != NULL && now_ms > o->due->at_ms;
}

RELET_PRIVATE int rlt_keys_persist(rlt_keys *k, rlt_pool *pool, rlt_entry *e)
{
    rlt_obj *o = rlt_keys_obj(e);

    if (o->due == NULL)
        return 0;
    rlt_tree_unlink(&k->due, &o->due->leaf);
    rlt_pool_put(pool, o->due, sizeof *o->due);
    o->due = NULL;
    return 1;
}

RELET_PRIVATE void rlt_keys_expire(rlt_keys *k, rlt_pool *pool, rlt_entry *e,
                                   int64_t at_ms)
{
    rlt_obj *o = rlt_keys_obj(e);

    if (o->due)
        rlt_tree_unlink(&k->due, &o->due->leaf);
    else
        o->due = (rlt_due *)rlt_pool_get(pool, sizeof *o->due);
    o->due->at_ms = at_ms;
    o->due->key = e;
    keys_due_link(k, o->due);
}

RELET_PRIVATE rlt_entry *rlt_keys_first_due(const rlt_keys *k, int64_t now_ms)
{
    return now_ms > rlt_keys_next_due(k)
               ? keys_due(rlt_tree_end(&k->due, 0))->key
               : NULL;
}

RELET_PRIVATE int64_t rlt_keys_next_due(const rlt_keys *k)
{
    const rlt_due *due = keys_due(rlt_tree_end(&k->due, 0));

    return due ? due->at_ms : INT64_MAX;
}

/* --------------------------------------------------------------- in and out */

RELET_PRIVATE void rlt_keys_clear(rlt_keys *k, rlt_pool *pool)
{
    rlt_entry *e;

    for (e = k->dict.first; e; e = e->next) {
        (void)rlt_keys_persist(k, pool, e);
        rlt_obj_free(pool, rlt_keys_obj(e));
    }
    rlt_dict_clear(&k->dict, pool);
}

RELET_PRIVATE rlt_entry *rlt_keys_put(rlt_keys *k, rlt_pool *pool,
                                      relet_span key, rlt_obj *o)
{
    rlt_entry *e = rlt_keys_find(k, key);

    rlt_assert(o->due == NULL);
    if (e == NULL) {
        e = rlt_dict_add(&k->dict, pool, key);
    } else {
        (void)rlt_keys_persist(k, pool, e);
        rlt_obj_free(pool, rlt_keys_obj(e));
    }
    e->value.p = o;
    return e;
}

RELET_PRIVATE rlt_obj *rlt_keys_take(rlt_keys *k, rlt_pool *pool, rlt_entry *e,
                                     int64_t *at_ms)
{
    rlt_obj *o = rlt_keys_obj(e);

    if (at_ms)
        *at_ms = rlt_keys_expires_at(o);
    (void)rlt_keys_persist(k, pool, e);
    rlt_dict_remove(&k->dict, pool, e);
    return o;
}

RELET_PRIVATE void rlt_keys_delete(rlt_keys *k, rlt_pool *pool, rlt_entry *e)
{
    rlt_obj_free(pool, rlt_keys_take(k, pool, e, NULL));
}

RELET_PRIVATE rlt_entry *rlt_keys_random(const rlt_keys *k, rlt_rand *r)
{
    return k->dict.count > 0 ? rlt_dict_random(&k->dict, r) : NULL;
}

/* ----------------------------------------------------------------- watching */

RELET_PRIVATE relet_span rlt_keys_watched_key(const rlt_watch *w)
{
    return rlt_entry_key(w->entry);
}

RELET_PRIVATE rlt_watch *rlt_keys_watch(rlt_keys *k, rlt_pool *pool,
                                        relet_span key)
{
    rlt_entry *e = rlt_dict_find(&k->watched, key);
    rlt_watch *w;

    if (e == NULL) {
        w = (rlt_watch *)rlt_pool_get(pool, sizeof *w);
        memset(w, 0, sizeof *w);
        e = rlt_dict_add(&k->watched, pool, key);
        e->value.p = w;
        w->entry = e;
    }
    w = (rlt_watch *)e->value.p;
    w->watchers++;
    return w;
}

RELET_PRIVATE void rlt_keys_unwatch(rlt_keys *k, rlt_pool *pool, rlt_watch *w)
{
    rlt_assert(w->watchers > 0);
    if (--w->watchers > 0)
        return;
    rlt_dict_remove(&k->watched, pool, w->entry);
    rlt_pool_put(pool, w, sizeof *w);
}

RELET_PRIVATE void rlt_keys_touch(rlt_keys *k, relet_span key)
{
    rlt_entry *e = rlt_dict_find(&k->watched, key);

    if (e)
        ((rlt_watch *)e->value.p)->changes++;
}

RELET_PRIVATE void rlt_keys_swap(rlt_keys *a, rlt_keys *b)
{
    rlt_dict dict = a->dict;
    rlt_tree due = a->due;

    a->dict = b->dict;
    a->due = b->due;
    b->dict = dict;
    b->due = due;
}
