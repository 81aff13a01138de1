/* SPDX-License-Identifier: MIT
 *
 * stream_group.c - consumer groups of a stream, and their pending entries.
 */
#include "stream_group.h"

#define GROUP_UNKNOWN (-1) /* how many entries were read */

/* -------------------------------------------------------------------- names */

/* The name of the group, or of the consumer, that embeds a leaf. */
typedef relet_span group_name_fn(rlt_leaf *leaf);

static relet_span group_span(const char *p, uint32_t n)
{
    relet_span s;

    s.p = p;
    s.n = n;
    return s;
}

RELET_PRIVATE relet_span rlt_stream_group_name(const rlt_stream_group *g)
{
    return group_span(g->name, g->len);
}

RELET_PRIVATE relet_span rlt_stream_consumer_name(const rlt_stream_consumer *c)
{
    return group_span(c->name, c->len);
}

static relet_span group_leaf_name(rlt_leaf *leaf)
{
    return rlt_stream_group_name(
        RLT_TREE_OWNER(rlt_stream_group, leaf, leaf));
}

static relet_span group_consumer_leaf_name(rlt_leaf *leaf)
{
    return rlt_stream_consumer_name(
        RLT_TREE_OWNER(rlt_stream_consumer, leaf, leaf));
}

/* The leaf with this name; else NULL, and its place is *side of *up. */
static rlt_leaf *group_seek(const rlt_tree *t, relet_span name,
                            group_name_fn *of, rlt_leaf **up, int *side)
{
    rlt_leaf *leaf = t->root;
    int order;

    *up = NULL;
    *side = 0;
    while (leaf) {
        order = rlt_str_compare(name, of(leaf));
        if (order == 0)
            return leaf;
        *up = leaf;
        *side = order > 0;
        leaf = leaf->side[*side];
    }
    return NULL;
}

static void group_link(rlt_tree *t, rlt_leaf *leaf, group_name_fn *of)
{
    rlt_leaf *up;
    int side;

    if (group_seek(t, of(leaf), of, &up, &side))
        rlt_assert(0 && "the name is there already");
    rlt_tree_link(t, leaf, up, side);
}

/* ---------------------------------------------------------------- consumers */

static rlt_stream_consumer *group_consumer(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_stream_consumer, leaf, leaf) : NULL;
}

RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_find(
    const rlt_stream_group *g, relet_span name)
{
    rlt_leaf *up;
    int side;

    return group_consumer(group_seek(&g->consumers, name,
                                     group_consumer_leaf_name, &up, &side));
}

RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_add(
    rlt_stream_group *g, rlt_pool *pool, relet_span name, int64_t now_ms)
{
    rlt_stream_consumer *c;

    c = (rlt_stream_consumer *)rlt_pool_get(pool, sizeof *c + name.n);
    memset(c, 0, sizeof *c);
    c->seen_ms = now_ms;
    c->len = (uint32_t)name.n;
    if (name.n > 0)
        memcpy(c->name, name.p, name.n);
    group_link(&g->consumers, &c->leaf, group_consumer_leaf_name);
    return c;
}

static rlt_stream_pending *group_pending(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_stream_pending, in_group, leaf) : NULL;
}

static rlt_stream_pending *group_consumer_pending(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_stream_pending, in_consumer, leaf) : NULL;
}

RELET_PRIVATE void rlt_stream_consumer_remove(rlt_stream_group *g,
                                              rlt_pool *pool,
                                              rlt_stream_consumer *c)
{
    while (c->pending.root)
        rlt_stream_pending_remove(g, pool,
                                  group_consumer_pending(c->pending.root));
    rlt_tree_unlink(&g->consumers, &c->leaf);
    rlt_pool_put(pool, c, sizeof *c + c->len);
}

RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_first(
    const rlt_stream_group *g)
{
    return group_consumer(rlt_tree_end(&g->consumers, 0));
}

RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_next(
    const rlt_stream_consumer *c)
{
    return group_consumer(rlt_tree_step(&c->leaf, 1));
}

/* ------------------------------------------------------------------- groups */

static rlt_stream_group *group_of(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_stream_group, leaf, leaf) : NULL;
}

RELET_PRIVATE rlt_stream_group *rlt_stream_group_find(const rlt_stream *s,
                                                      relet_span name)
{
    rlt_leaf *up;
    int side;

    return group_of(group_seek(&s->groups, name, group_leaf_name, &up, &side));
}

RELET_PRIVATE rlt_stream_group *rlt_stream_group_add(
    rlt_stream *s, rlt_pool *pool, relet_span name, rlt_stream_id last,
    int64_t entries_read)
{
    rlt_stream_group *g;

    g = (rlt_stream_group *)rlt_pool_get(pool, sizeof *g + name.n);
    memset(g, 0, sizeof *g);
    g->last = last;
    g->entries_read = entries_read;
    g->len = (uint32_t)name.n;
    if (name.n > 0)
        memcpy(g->name, name.p, name.n);
    group_link(&s->groups, &g->leaf, group_leaf_name);
    return g;
}

RELET_PRIVATE void rlt_stream_group_remove(rlt_stream *s, rlt_pool *pool,
                                           rlt_stream_group *g)
{
    while (g->consumers.root)
        rlt_stream_consumer_remove(g, pool, group_consumer(g->consumers.root));
    rlt_assert(g->pending.root == NULL);
    rlt_tree_unlink(&s->groups, &g->leaf);
    rlt_pool_put(pool, g, sizeof *g + g->len);
}

RELET_PRIVATE void rlt_stream_groups_clear(rlt_stream *s, rlt_pool *pool)
{
    while (s->groups.root)
        rlt_stream_group_remove(s, pool, group_of(s->groups.root));
}

RELET_PRIVATE rlt_stream_group *rlt_stream_group_first(const rlt_stream *s)
{
    return group_of(rlt_tree_end(&s->groups, 0));
}

RELET_PRIVATE rlt_stream_group *rlt_stream_group_next(
    const rlt_stream_group *g)
{
    return group_of(rlt_tree_step(&g->leaf, 1));
}

/* ------------------------------------------------- counting what was read
 *
 * Ids do not say how many entries there were. A count can be incremented while
 * nothing was deleted ahead of the reader, or is known at a few ids. */

static int group_is_zero(rlt_stream_id id)
{
    return id.ms == 0 && id.seq == 0;
}

static rlt_stream_id group_first_id(const rlt_stream *s)
{
    const rlt_stream_entry *e = rlt_stream_end(s, 0);

    return e ? e->id : rlt_stream_id_of(0, 0);
}

/* 1 if the highest deleted id is at or behind this id, and the stream has
 * entries before the deleted one. */
static int group_deleted_from(const rlt_stream *s, rlt_stream_id id)
{
    if (rlt_stream_count(s) == 0 ||
        rlt_stream_id_compare(group_first_id(s), s->max_deleted) > 0)
        return 0;
    return rlt_stream_id_compare(id, s->max_deleted) <= 0;
}

RELET_PRIVATE int64_t rlt_stream_read_at(const rlt_stream *s, rlt_stream_id id)
{
    int64_t added = (int64_t)s->added, count = rlt_stream_count(s);
    rlt_stream_id first = group_first_id(s);
    int to_last = rlt_stream_id_compare(id, s->last);
    int to_first = rlt_stream_id_compare(id, first);

    if (s->added == 0)
        return 0;
    if (to_last == 0 || (count == 0 && to_last < 0))
        return added;
    if (to_last > 0)
        return GROUP_UNKNOWN;
    if (!group_is_zero(s->max_deleted) &&
        rlt_stream_id_compare(s->max_deleted, first) >= 0)
        return GROUP_UNKNOWN;
    if (to_first > 0)
        return GROUP_UNKNOWN;
    return (int64_t)(s->added - (uint64_t)count + (to_first == 0));
}

RELET_PRIVATE void rlt_stream_group_read(const rlt_stream *s,
                                         rlt_stream_group *g, rlt_stream_id id)
{
    if (rlt_stream_id_compare(id, g->last) <= 0)
        return;
    if (g->entries_read != GROUP_UNKNOWN && !group_deleted_from(s, id))
        g->entries_read = (int64_t)((uint64_t)g->entries_read + 1);
    else if (s->added > 0)
        g->entries_read = rlt_stream_read_at(s, id);
    g->last = id;
}

RELET_PRIVATE int64_t rlt_stream_group_lag(const rlt_stream *s,
                                           const rlt_stream_group *g)
{
    int64_t read = g->entries_read;

    if (s->added == 0)
        return 0;
    if (read == GROUP_UNKNOWN || group_deleted_from(s, g->last))
        read = rlt_stream_read_at(s, g->last);
    return read == GROUP_UNKNOWN ? GROUP_UNKNOWN
                                 : (int64_t)(s->added - (uint64_t)read);
}

/* ------------------------------------------------------------------ pending */

static rlt_stream_pending *group_pending_of(rlt_leaf *leaf, int of_consumer)
{
    return of_consumer ? group_consumer_pending(leaf) : group_pending(leaf);
}

static void group_pending_link(rlt_tree *t, rlt_stream_pending *p,
                               int of_consumer)
{
    rlt_leaf *up = NULL, *leaf = t->root;
    int side = 0;

    while (leaf) {
        up = leaf;
        side = rlt_stream_id_compare(
                   group_pending_of(leaf, of_consumer)->id, p->id) < 0;
        leaf = leaf->side[side];
    }
    rlt_tree_link(t, of_consumer ? &p->in_consumer : &p->in_group, up, side);
}

RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_add(
    rlt_stream_group *g, rlt_pool *pool, rlt_stream_consumer *c,
    rlt_stream_id id, int64_t now_ms)
{
    rlt_stream_pending *p;

    p = (rlt_stream_pending *)rlt_pool_get(pool, sizeof *p);
    p->id = id;
    p->consumer = c;
    p->delivered_ms = now_ms;
    p->deliveries = 1;
    group_pending_link(&g->pending, p, 0);
    group_pending_link(&c->pending, p, 1);
    return p;
}

RELET_PRIVATE void rlt_stream_pending_remove(rlt_stream_group *g,
                                             rlt_pool *pool,
                                             rlt_stream_pending *p)
{
    rlt_tree_unlink(&g->pending, &p->in_group);
    rlt_tree_unlink(&p->consumer->pending, &p->in_consumer);
    rlt_pool_put(pool, p, sizeof *p);
}

RELET_PRIVATE void rlt_stream_pending_give(rlt_stream_pending *p,
                                           rlt_stream_consumer *c)
{
    if (p->consumer == c)
        return;
    rlt_tree_unlink(&p->consumer->pending, &p->in_consumer);
    p->consumer = c;
    group_pending_link(&c->pending, p, 1);
}

RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_seek(
    const rlt_stream_group *g, const rlt_stream_consumer *c, rlt_stream_id id,
    int side)
{
    rlt_leaf *leaf = c ? c->pending.root : g->pending.root, *best = NULL;
    int order, good;

    while (leaf) {
        order = rlt_stream_id_compare(group_pending_of(leaf, c != NULL)->id,
                                      id);
        good = side ? order >= 0 : order <= 0;
        if (good)
            best = leaf;
        leaf = leaf->side[side ? !good : good];
    }
    return group_pending_of(best, c != NULL);
}

RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_find(
    const rlt_stream_group *g, rlt_stream_id id)
{
    rlt_stream_pending *p = rlt_stream_pending_seek(g, NULL, id, 1);

    return p && rlt_stream_id_compare(p->id, id) == 0 ? p : NULL;
}

RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_step(
    const rlt_stream_pending *p, int of_consumer, int side)
{
    const rlt_leaf *leaf = of_consumer ? &p->in_consumer : &p->in_group;

    return group_pending_of(rlt_tree_step(leaf, side), of_consumer);
}

/* ------------------------------------------------------------------- copies */

static void group_pending_copy(const rlt_stream_consumer *c, rlt_pool *pool,
                               rlt_stream_group *g, rlt_stream_consumer *to)
{
    const rlt_stream_pending *p;
    rlt_stream_pending *copy;
    rlt_leaf *leaf = rlt_tree_end(&c->pending, 0);

    for (; leaf; leaf = rlt_tree_step(leaf, 1)) {
        p = group_consumer_pending(leaf);
        copy = rlt_stream_pending_add(g, pool, to, p->id, p->delivered_ms);
        copy->deliveries = p->deliveries;
    }
}

RELET_PRIVATE void rlt_stream_groups_copy(const rlt_stream *s, rlt_pool *pool,
                                          rlt_stream *to)
{
    const rlt_stream_group *g;
    const rlt_stream_consumer *c;
    rlt_stream_group *copy;

    for (g = rlt_stream_group_first(s); g; g = rlt_stream_group_next(g)) {
        copy = rlt_stream_group_add(to, pool, rlt_stream_group_name(g),
                                    g->last, g->entries_read);
        for (c = rlt_stream_consumer_first(g); c;
             c = rlt_stream_consumer_next(c))
            group_pending_copy(
                c, pool, copy,
                rlt_stream_consumer_add(
                    copy, pool, rlt_stream_consumer_name(c), c->seen_ms));
    }
}

RELET_PRIVATE size_t rlt_stream_groups_copy_cost(const rlt_stream *s)
{
    const rlt_stream_group *g;
    const rlt_stream_consumer *c;
    size_t cost = 0;

    for (g = rlt_stream_group_first(s); g; g = rlt_stream_group_next(g)) {
        cost += RLT_STREAM_GROUP_COST(g->len);
        cost += rlt_tree_count(&g->pending) * RLT_STREAM_PENDING_COST;
        for (c = rlt_stream_consumer_first(g); c;
             c = rlt_stream_consumer_next(c))
            cost += RLT_STREAM_CONSUMER_COST(c->len);
    }
    return cost;
}
