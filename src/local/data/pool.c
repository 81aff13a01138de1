/* SPDX-License-Identifier: MIT
 *
 * pool.c - the memory of one local server.
 *
 * Small blocks are cut from chunks, and kept in lists by size when they are
 * freed. A promise of n bytes is n unused bytes in one piece: so it holds for
 * blocks of any size, and whatever the lists have. Big blocks come from the
 * user's allocator; only when that fails, they are cut from the promise like
 * the others. */
#include "pool.h"

#define POOL_CHUNK ((size_t)16384)
#define POOL_HEADER sizeof(rlt_pool_chunk)

/* In front of a big block: its own chunk, or NULL if cut from the promise. */
#define POOL_BIG_HEADER ((size_t)16)

/* Size classes: every 16 bytes up to 1 KiB, then four to each doubling. */
#define POOL_FINE 64u
#define POOL_FINE_BYTES ((size_t)1024)

typedef struct pool_scrap {
    void *next;
    size_t size;
} pool_scrap;

static unsigned pool_class(size_t n)
{
    unsigned shift = 8;

    if (n <= POOL_FINE_BYTES)
        return (unsigned)((n + 15) / 16) - 1;
    for (n -= 1; n >> shift >= 8; shift++)
        ;
    return POOL_FINE + (shift - 8) * 4 + (unsigned)(n >> shift) - 4;
}

/* The size of a block of this class. */
static size_t pool_class_size(unsigned k)
{
    if (k < POOL_FINE)
        return ((size_t)k + 1) * 16;
    k -= POOL_FINE;
    return ((size_t)(k % 4) + 5) << (k / 4 + 8);
}

static size_t pool_left(const rlt_pool_rest *r)
{
    return r->at ? (size_t)(r->end - r->at) : 0;
}

/* ------------------------------------------------------------------- chunks */

static void pool_ring(rlt_pool_chunk *c)
{
    c->next = c->back = c;
}

RELET_PRIVATE void rlt_pool_init(rlt_pool *p, rlt_memory memory, size_t cap)
{
    memset(p, 0, sizeof *p);
    p->memory = memory;
    p->cap = cap;
    pool_ring(&p->chunks);
    pool_ring(&p->bigs);
}

static rlt_pool_chunk *pool_chunk(rlt_pool *p, rlt_pool_chunk *ring, size_t n)
{
    rlt_pool_chunk *c;

    if (n > SIZE_MAX / 2 || p->memory.resize == NULL)
        return NULL;
    if (p->cap > 0 && n > p->cap - RLT_MIN(p->held, p->cap))
        return NULL;
    c = (rlt_pool_chunk *)p->memory.resize(p->memory.user, NULL, 0, n);
    if (c == NULL)
        return NULL;
    c->size = n;
    c->next = ring->next;
    c->back = ring;
    ring->next->back = c;
    ring->next = c;
    p->held += n;
    return c;
}

static void pool_give_back(rlt_pool *p, rlt_pool_chunk *c)
{
    size_t n = c->size;

    c->next->back = c->back;
    c->back->next = c->next;
    p->held -= n;
    (void)p->memory.resize(p->memory.user, c, n, 0);
}

static void pool_empty(rlt_pool *p, rlt_pool_chunk *ring)
{
    while (ring->next != ring)
        pool_give_back(p, ring->next);
}

RELET_PRIVATE void rlt_pool_free(rlt_pool *p)
{
    size_t peak = p->peak;

    pool_empty(p, &p->chunks);
    pool_empty(p, &p->bigs);
    rlt_pool_init(p, p->memory, p->cap);
    p->peak = peak;
}

/* -------------------------------------------------------- rests and scraps */

static void pool_keep(rlt_pool *p, void *block, unsigned k)
{
    memcpy(block, &p->free[k], sizeof(void *));
    p->free[k] = block;
}

/* Puts a piece that is too small for further cuts into the lists. */
static void pool_cut_up(rlt_pool *p, uint8_t *at, size_t n)
{
    size_t take;

    for (; n >= 16; n -= take, at += take) {
        take = RLT_MIN(n & ~(size_t)15, POOL_FINE_BYTES);
        pool_keep(p, at, pool_class(take));
    }
}

static void pool_scrap_put(rlt_pool *p, uint8_t *at, size_t n)
{
    pool_scrap s;

    if (n < POOL_FINE_BYTES) {
        pool_cut_up(p, at, n);
        return;
    }
    s.next = p->scraps;
    s.size = n;
    memcpy(at, &s, sizeof s);
    p->scraps = at;
}

/* Cuts a block from the end of the first scrap, NULL when that is too small. */
static void *pool_scrap_cut(rlt_pool *p, size_t size)
{
    uint8_t *at = (uint8_t *)p->scraps;
    pool_scrap s;

    if (at == NULL)
        return NULL;
    memcpy(&s, at, sizeof s);
    if (s.size < size)
        return NULL;
    s.size -= size;
    if (s.size < POOL_FINE_BYTES) {
        p->scraps = s.next;
        pool_cut_up(p, at, s.size);
    } else {
        memcpy(at, &s, sizeof s);
    }
    return at + s.size;
}

static void pool_rest_of(rlt_pool_rest *r, rlt_pool_chunk *c)
{
    r->at = (uint8_t *)c + POOL_HEADER;
    r->end = (uint8_t *)c + (c->size & ~(size_t)15);
}

/* From now on small blocks are cut from this rest. */
static void pool_use(rlt_pool *p, rlt_pool_rest rest)
{
    if (p->rest.at)
        pool_scrap_put(p, p->rest.at, pool_left(&p->rest));
    p->rest = rest;
}

/* ----------------------------------------------------------------- promises */

static void pool_spare_end(rlt_pool *p)
{
    rlt_pool_rest whole;

    if (p->spared == NULL)
        return;
    pool_rest_of(&whole, p->spared);
    if (p->spare.at == whole.at)
        pool_give_back(p, p->spared);
    else
        pool_use(p, p->spare);
    p->spared = NULL;
    p->spare.at = p->spare.end = NULL;
}

/* Promises n unused bytes in one piece. A chunk of more than the usual size is
 * kept apart, so that it can be given back if it was not needed after all. */
static int pool_promise(rlt_pool *p, size_t n)
{
    size_t size = RLT_POOL_ROUND(n) + POOL_HEADER;
    rlt_pool_chunk *c;
    rlt_pool_rest rest;

    if (pool_left(p->spared ? &p->spare : &p->rest) >= n) {
        p->promised = n;
        return 1;
    }
    c = pool_chunk(p, &p->chunks, RLT_MAX(size, POOL_CHUNK));
    if (c == NULL)
        return 0;
    pool_spare_end(p);
    pool_rest_of(&rest, c);
    if (size <= POOL_CHUNK) {
        pool_use(p, rest);
    } else {
        p->spared = c;
        p->spare = rest;
    }
    p->promised = n;
    return 1;
}

RELET_PRIVATE int rlt_pool_ensure_more(rlt_pool *p, size_t n)
{
    if (n > SIZE_MAX / 4)
        return 0;
    /* A block takes the size of its class, which is up to a quarter more. */
    return pool_promise(p, p->promised + n + n / 4);
}

RELET_PRIVATE int rlt_pool_ensure(rlt_pool *p, size_t n)
{
    rlt_pool_settle(p);
    return rlt_pool_ensure_more(p, n);
}

RELET_PRIVATE void rlt_pool_settle(rlt_pool *p)
{
    pool_spare_end(p);
    p->promised = 0;
}

/* ------------------------------------------------------------------- blocks */

static void *pool_count(rlt_pool *p, void *block, size_t n)
{
    p->used += n;
    p->peak = RLT_MAX(p->peak, p->used);
    return block;
}

static void *pool_listed(rlt_pool *p, unsigned k)
{
    void *block = p->free[k];

    if (block)
        memcpy(&p->free[k], block, sizeof(void *));
    return block;
}

static void *pool_rest_cut(rlt_pool_rest *r, size_t size)
{
    void *block = r->at;

    if (pool_left(r) < size)
        return NULL;
    r->at += size;
    return block;
}

/* Cuts from the promise; NULL only when more is taken than was promised. */
static void *pool_promised_cut(rlt_pool *p, size_t size)
{
    void *block = NULL;

    if (p->spared == NULL || pool_left(&p->spare) < size)
        block = pool_rest_cut(&p->rest, size);
    else
        block = pool_rest_cut(&p->spare, size);
    p->promised -= RLT_MIN(p->promised, size);
    return block;
}

/* Cuts from bytes that are not promised, or else from a new chunk. */
static void *pool_other_cut(rlt_pool *p, size_t size)
{
    size_t keep = p->spared ? 0 : p->promised;
    rlt_pool_chunk *c;
    rlt_pool_rest rest;

    if (pool_left(&p->rest) < keep + size) {
        c = pool_chunk(p, &p->chunks,
                       RLT_MAX(RLT_POOL_ROUND(keep + size) + POOL_HEADER,
                               POOL_CHUNK));
        if (c == NULL)
            return NULL;
        pool_rest_of(&rest, c);
        pool_use(p, rest);
    }
    return pool_rest_cut(&p->rest, size);
}

static size_t pool_big_size(size_t n)
{
    return RLT_POOL_ROUND(n) + POOL_BIG_HEADER;
}

static void *pool_big(rlt_pool *p, size_t n)
{
    rlt_pool_chunk *c = NULL;
    uint8_t *block;

    if (n <= SIZE_MAX / 2)
        c = pool_chunk(p, &p->bigs, POOL_HEADER + pool_big_size(n));
    if (c == NULL)
        return NULL;
    block = (uint8_t *)c + POOL_HEADER;
    memcpy(block, &c, sizeof c);
    return pool_count(p, block + POOL_BIG_HEADER, n);
}

static void *pool_big_promised(rlt_pool *p, size_t n)
{
    rlt_pool_chunk *none = NULL;
    uint8_t *block = (uint8_t *)pool_promised_cut(p, pool_big_size(n));

    if (block == NULL)
        return NULL;
    memcpy(block, &none, sizeof none);
    return pool_count(p, block + POOL_BIG_HEADER, n);
}

static void pool_big_put(rlt_pool *p, uint8_t *block, size_t n)
{
    rlt_pool_chunk *c;

    block -= POOL_BIG_HEADER;
    memcpy(&c, block, sizeof c);
    if (c)
        pool_give_back(p, c);
    else
        pool_scrap_put(p, block, pool_big_size(n));
}

RELET_PRIVATE void *rlt_pool_try(rlt_pool *p, size_t n)
{
    unsigned k;
    void *block;

    n = RLT_MAX(n, 1);
    if (n >= RLT_POOL_BIG)
        return pool_big(p, n);
    k = pool_class(n);
    n = pool_class_size(k);
    block = pool_listed(p, k);
    if (block == NULL)
        block = pool_scrap_cut(p, n);
    if (block == NULL)
        block = pool_other_cut(p, n);
    return block ? pool_count(p, block, n) : NULL;
}

RELET_PRIVATE void *rlt_pool_get(rlt_pool *p, size_t n)
{
    unsigned k;
    void *block;

    n = RLT_MAX(n, 1);
    if (n >= RLT_POOL_BIG) {
        block = pool_big(p, n);
        if (block == NULL)
            block = pool_big_promised(p, n);
        rlt_assert(block != NULL);
        return block;
    }
    k = pool_class(n);
    n = pool_class_size(k);
    block = pool_listed(p, k);
    if (block == NULL)
        block = pool_scrap_cut(p, n);
    if (block == NULL)
        block = pool_promised_cut(p, n);
    rlt_assert(block != NULL);
    return pool_count(p, block, n);
}

RELET_PRIVATE void rlt_pool_put(rlt_pool *p, void *block, size_t n)
{
    unsigned k;

    if (block == NULL)
        return;
    n = RLT_MAX(n, 1);
    if (RLT_TINY)
        memset(block, 0xDD, n);
    if (n >= RLT_POOL_BIG) {
        p->used -= n;
        pool_big_put(p, (uint8_t *)block, n);
        return;
    }
    k = pool_class(n);
    p->used -= pool_class_size(k);
    pool_keep(p, block, k);
}
