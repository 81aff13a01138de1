/* SPDX-License-Identifier: MIT
 *
 * zset.c - members with scores, in order of score, then of bytes.
 */
#include "zset.h"

RELET_PRIVATE void rlt_zset_init(rlt_zset *z)
{
    memset(z, 0, sizeof *z);
}

RELET_PRIVATE void rlt_zset_clear(rlt_zset *z, rlt_pool *pool)
{
    rlt_entry *e;

    for (e = z->members.first; e; e = e->next)
        rlt_pool_put(pool, e->value.p, sizeof(rlt_zset_item));
    rlt_dict_clear(&z->members, pool);
    rlt_zset_init(z);
}

RELET_PRIVATE uint32_t rlt_zset_count(const rlt_zset *z)
{
    return z->members.count;
}

RELET_PRIVATE relet_span rlt_zset_member(const rlt_zset_item *item)
{
    return rlt_entry_key(item->entry);
}

static rlt_zset_item *zset_item(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_zset_item, leaf, leaf) : NULL;
}

RELET_PRIVATE rlt_zset_item *rlt_zset_find(const rlt_zset *z,
                                           relet_span member)
{
    rlt_entry *e = rlt_dict_find(&z->members, member);

    return e ? (rlt_zset_item *)e->value.p : NULL;
}

/* -0 and 0 are the same score. */
static int zset_before(const rlt_zset_item *a, const rlt_zset_item *b)
{
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score;
    return rlt_str_compare(rlt_zset_member(a), rlt_zset_member(b)) < 0;
}

static void zset_link(rlt_zset *z, rlt_zset_item *item)
{
    rlt_leaf *up = NULL, *leaf = z->order.root;
    int side = 0;

    while (leaf) {
        up = leaf;
        side = zset_before(zset_item(leaf), item);
        leaf = leaf->side[side];
    }
    rlt_tree_link(&z->order, &item->leaf, up, side);
}

/* While a zset is small, Redis keeps whole scores as integers: without -0. */
static double zset_kept(const rlt_zset *z, double score)
{
    return !z->large && score >= 0 && score <= 0 ? 0 : score;
}

RELET_PRIVATE rlt_zset_item *rlt_zset_add(rlt_zset *z, rlt_pool *pool,
                                          relet_span member, double score)
{
    rlt_zset_item *item;

    if (z->members.count >= RLT_ZSET_SMALL || member.n > RLT_ZSET_SMALL_BYTES)
        z->large = 1;
    item = (rlt_zset_item *)rlt_pool_get(pool, sizeof *item);
    item->score = zset_kept(z, score);
    item->entry = rlt_dict_add(&z->members, pool, member);
    item->entry->value.p = item;
    zset_link(z, item);
    return item;
}

RELET_PRIVATE void rlt_zset_move(rlt_zset *z, rlt_zset_item *item,
                                 double score)
{
    rlt_tree_unlink(&z->order, &item->leaf);
    item->score = zset_kept(z, score);
    zset_link(z, item);
}

RELET_PRIVATE void rlt_zset_remove(rlt_zset *z, rlt_pool *pool,
                                   rlt_zset_item *item)
{
    rlt_tree_unlink(&z->order, &item->leaf);
    rlt_dict_remove(&z->members, pool, item->entry);
    rlt_pool_put(pool, item, sizeof *item);
}

RELET_PRIVATE uint32_t rlt_zset_rank(const rlt_zset_item *item)
{
    return rlt_tree_rank(&item->leaf);
}

RELET_PRIVATE rlt_zset_item *rlt_zset_at(const rlt_zset *z, uint32_t rank)
{
    return zset_item(rlt_tree_at(&z->order, rank));
}

RELET_PRIVATE rlt_zset_item *rlt_zset_end(const rlt_zset *z, int side)
{
    return zset_item(rlt_tree_end(&z->order, side));
}

RELET_PRIVATE rlt_zset_item *rlt_zset_step(const rlt_zset_item *item,
                                           int side)
{
    return zset_item(rlt_tree_step(&item->leaf, side));
}

/* ------------------------------------------------------------------- ranges */

/* A bound, to count the items before a range begins or (is_max) has ended. */
typedef struct zset_bound {
    const rlt_zset_scores *scores; /* or, when NULL, … */
    const rlt_zset_lex *lex;
    int is_max;
} zset_bound;

static int zset_before_score(const zset_bound *b, double score)
{
    const rlt_zset_scores *r = b->scores;

    if (b->is_max)
        return r->max_open ? score < r->max : score <= r->max;
    return r->min_open ? score <= r->min : score < r->min;
}

static int zset_before_lex(const zset_bound *b, relet_span member)
{
    const rlt_zset_lex *r = b->lex;
    int end, order;

    rlt_assert(r != NULL);
    end = b->is_max ? r->max_end : r->min_end;
    if (end != 0)
        return end > 0;
    order = rlt_str_compare(member, b->is_max ? r->max : r->min);
    if (b->is_max)
        return r->max_open ? order < 0 : order <= 0;
    return r->min_open ? order <= 0 : order < 0;
}

static uint32_t zset_count_before(const rlt_zset *z, const zset_bound *b)
{
    rlt_leaf *leaf = z->order.root;
    const rlt_zset_item *item;
    uint32_t n = 0;
    int side;

    while (leaf) {
        item = zset_item(leaf);
        side = b->scores ? zset_before_score(b, item->score)
                         : zset_before_lex(b, rlt_zset_member(item));
        if (side)
            n += 1 + (leaf->side[0] ? leaf->side[0]->size : 0);
        leaf = leaf->side[side];
    }
    return n;
}

static uint32_t zset_in(const rlt_zset *z, zset_bound *b, uint32_t *from)
{
    uint32_t to;

    b->is_max = 0;
    *from = zset_count_before(z, b);
    b->is_max = 1;
    to = zset_count_before(z, b);
    return to > *from ? to - *from : 0;
}

RELET_PRIVATE uint32_t rlt_zset_in_scores(const rlt_zset *z,
                                          const rlt_zset_scores *range,
                                          uint32_t *from)
{
    zset_bound b = {NULL, NULL, 0};

    b.scores = range;
    return zset_in(z, &b, from);
}

RELET_PRIVATE uint32_t rlt_zset_in_lex(const rlt_zset *z,
                                       const rlt_zset_lex *range,
                                       uint32_t *from)
{
    zset_bound b = {NULL, NULL, 0};

    b.lex = range;
    return zset_in(z, &b, from);
}
