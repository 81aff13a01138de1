/* SPDX-License-Identifier: MIT
 *
 * dict.c - a hash table from bytes to one word, iterated in insertion order.
 */
#include "dict.h"

/* Up to this size a dict has no buckets: lookups walk its entries in order. */
#define DICT_WALKED 8

static uint32_t dict_word(const char *p)
{
    return (uint32_t)(uint8_t)p[0] | (uint32_t)(uint8_t)p[1] << 8 |
           (uint32_t)(uint8_t)p[2] << 16 | (uint32_t)(uint8_t)p[3] << 24;
}

/* The same on every machine, since the order of SCAN depends on it. */
static uint32_t dict_hash(relet_span key)
{
    uint64_t h = 2166136261u;
    size_t i = 0;

    for (; i + 4 <= key.n; i += 4) {
        h = (h ^ dict_word(key.p + i)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    for (; i < key.n; i++)
        h = (h ^ (uint8_t)key.p[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h ^ h >> 32);
}

static size_t dict_entry_size(size_t n)
{
    return offsetof(rlt_entry, key) + RLT_MAX(n, 1);
}

RELET_PRIVATE relet_span rlt_entry_key(const rlt_entry *e)
{
    relet_span s;

    s.p = e->key;
    s.n = e->len;
    return s;
}

RELET_PRIVATE void rlt_dict_init(rlt_dict *d)
{
    memset(d, 0, sizeof *d);
}

static size_t dict_buckets_size(const rlt_dict *d)
{
    return ((size_t)d->mask + 1) * sizeof(rlt_entry *);
}

RELET_PRIVATE void rlt_dict_clear(rlt_dict *d, rlt_pool *pool)
{
    rlt_entry *e = d->first, *next;

    for (; e; e = next) {
        next = e->next;
        rlt_pool_put(pool, e, dict_entry_size(e->len));
    }
    if (d->buckets)
        rlt_pool_put(pool, d->buckets, dict_buckets_size(d));
    rlt_dict_init(d);
}

static int dict_is(const rlt_entry *e, uint32_t hash, relet_span key)
{
    return e->hash == hash && e->len == key.n &&
           (key.n == 0 || memcmp(e->key, key.p, key.n) == 0);
}

RELET_PRIVATE rlt_entry *rlt_dict_find(const rlt_dict *d, relet_span key)
{
    uint32_t hash = dict_hash(key);
    rlt_entry *e;

    if (d->count == 0 || key.n > UINT32_MAX)
        return NULL;
    if (d->buckets == NULL) {
        for (e = d->first; e && !dict_is(e, hash, key); e = e->next)
            ;
        return e;
    }
    e = d->buckets[hash & d->mask];
    while (e && !dict_is(e, hash, key))
        e = e->chain;
    return e;
}

static void dict_chain(rlt_dict *d, rlt_entry *e)
{
    rlt_entry **bucket = &d->buckets[e->hash & d->mask];
    uint32_t length = 0;

    e->chain = *bucket;
    *bucket = e;
    for (; e; e = e->chain)
        length++;
    d->chain_max = RLT_MAX(d->chain_max, length);
}

/* Changes the number of buckets; without memory for that, the dict stays as it
 * is. */
static void dict_resize(rlt_dict *d, rlt_pool *pool, size_t want)
{
    rlt_entry **buckets, *e;

    if (want > (1u << 30))
        return;
    buckets = (rlt_entry **)rlt_pool_try(pool, want * sizeof *buckets);
    if (buckets == NULL)
        return;
    memset(buckets, 0, want * sizeof *buckets);
    if (d->buckets)
        rlt_pool_put(pool, d->buckets, dict_buckets_size(d));
    d->buckets = buckets;
    d->mask = (uint32_t)want - 1;
    d->chain_max = 0;
    for (e = d->first; e; e = e->next)
        dict_chain(d, e);
}

static void dict_grow(rlt_dict *d, rlt_pool *pool)
{
    size_t had = d->buckets ? (size_t)d->mask + 1 : 0;

    if (d->count > DICT_WALKED && d->count >= had)
        dict_resize(d, pool, RLT_MAX(had * 2, 16));
}

/* Empty buckets would make a random choice and a scan slow. */
static void dict_shrink(rlt_dict *d, rlt_pool *pool)
{
    size_t had = d->buckets ? (size_t)d->mask + 1 : 0;

    if (had > 16 && d->count < had / 8)
        dict_resize(d, pool, had / 4);
}

/* -------------------------------------------------------------------- order */

static void dict_order_out(rlt_dict *d, rlt_entry *e)
{
    if (e->back)
        e->back->next = e->next;
    else
        d->first = e->next;
    if (e->next)
        e->next->back = e->back;
    else
        d->last = e->back;
}

static void dict_order_in(rlt_dict *d, rlt_entry *e, rlt_entry *before)
{
    e->next = before;
    e->back = before ? before->back : d->last;
    if (e->back)
        e->back->next = e;
    else
        d->first = e;
    if (before)
        before->back = e;
    else
        d->last = e;
}

RELET_PRIVATE void rlt_dict_place(rlt_dict *d, rlt_entry *e,
                                  rlt_entry *before)
{
    rlt_assert(e != before);
    dict_order_out(d, e);
    dict_order_in(d, e, before);
}

/* --------------------------------------------------------------- in and out */

RELET_PRIVATE rlt_entry *rlt_dict_add(rlt_dict *d, rlt_pool *pool,
                                      relet_span key)
{
    rlt_entry *e;

    rlt_assert(key.n <= UINT32_MAX);
    e = (rlt_entry *)rlt_pool_get(pool, dict_entry_size(key.n));
    memset(e, 0, offsetof(rlt_entry, key));
    e->hash = dict_hash(key);
    e->len = (uint32_t)key.n;
    if (key.n > 0)
        memcpy(e->key, key.p, key.n);
    dict_order_in(d, e, NULL);
    d->count++;
    if (d->buckets)
        dict_chain(d, e);
    dict_grow(d, pool);
    return e;
}

RELET_PRIVATE void rlt_dict_remove(rlt_dict *d, rlt_pool *pool, rlt_entry *e)
{
    rlt_entry **at;

    if (d->buckets) {
        at = &d->buckets[e->hash & d->mask];
        while (*at != e)
            at = &(*at)->chain;
        *at = e->chain;
    }
    dict_order_out(d, e);
    d->count--;
    rlt_pool_put(pool, e, dict_entry_size(e->len));
    dict_shrink(d, pool);
}

/* ------------------------------------------------- random choice and scans */

static rlt_entry *dict_walk(rlt_entry *e, uint64_t steps)
{
    for (; steps > 0; steps--)
        e = e->next;
    return e;
}

/* A bucket is taken as chain_max places, some of them empty. A place of any
 * bucket is drawn, and again while it is empty. Drawing a bucket first, and
 * then an entry of its chain, would favour the entries of short chains. NULL:
 * the draws were used up. */
static rlt_entry *dict_draw(const rlt_dict *d, rlt_rand *r, uint64_t draws)
{
    rlt_entry *e = NULL;
    uint64_t drawn, depth;

    for (; draws > 0 && e == NULL; draws--) {
        drawn = rlt_rand_next(r);
        e = d->buckets[drawn & d->mask];
        depth = (drawn >> 32) * d->chain_max >> 32;
        for (; depth > 0 && e; depth--)
            e = e->chain;
    }
    return e;
}

/* Times the expected number of draws: all fail once in e^DICT_PATIENCE
 * times. */
#define DICT_PATIENCE 16

RELET_PRIVATE rlt_entry *rlt_dict_random(const rlt_dict *d, rlt_rand *r)
{
    rlt_entry *e = NULL;
    uint64_t draws;

    rlt_assert(d->count > 0);
    if (d->buckets) {
        draws = ((uint64_t)d->mask + 1) * d->chain_max / d->count + 1;
        /* If memory was too short to shrink the buckets, walking the entries is
         * faster. */
        if (draws < d->count)
            e = dict_draw(d, r, draws * DICT_PATIENCE);
    }
    return e ? e : dict_walk(d->first, rlt_rand_below(r, d->count));
}

static uint64_t dict_mirrored(uint64_t v)
{
    uint64_t out = 0;
    int i;

    for (i = 0; i < 64; i++, v >>= 1)
        out = out << 1 | (v & 1);
    return out;
}

/* The cursor counts in reversed bit order. So the buckets that a bucket becomes
 * when the table doubles or halves are all before the cursor, or all behind
 * it. */
RELET_PRIVATE uint64_t rlt_dict_scan(const rlt_dict *d, uint64_t cursor,
                                     rlt_entry **e)
{
    *e = d->first;
    if (d->buckets == NULL)
        return 0;
    *e = d->buckets[cursor & d->mask];
    cursor |= ~(uint64_t)d->mask;
    return dict_mirrored(dict_mirrored(cursor) + 1);
}

RELET_PRIVATE rlt_entry *rlt_dict_scan_next(const rlt_dict *d,
                                            const rlt_entry *e)
{
    return d->buckets ? e->chain : e->next;
}
