/* SPDX-License-Identifier: MIT
 *
 * local_data.h - for the tests of the local server's data structures: a pool
 * over an allocator that counts, overwrites and fails on demand.
 *
 * After rlt_pool_ensure no allocation may be needed. A pool may have spare
 * memory that hides an error there, so the tests also let every later call of
 * the allocator fail: t_refuse. */
#ifndef T_LOCAL_DATA_H
#define T_LOCAL_DATA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "pool.h"
#include "str.h"
#include "rand.h"

typedef struct t_heap {
    size_t live; /* bytes lent                                               */
    long calls;  /* calls for memory                                         */
    long fail_at; /* the number of the call that fails; 0: none              */
    int refuse;   /* 1: all calls fail                                       */
} t_heap;

static t_heap t_lent;
static rlt_pool t_pool;
static rlt_rand t_dice;

static void *t_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    t_heap *h = (t_heap *)user;
    void *q = NULL;

    if (new_size > 0) {
        h->calls++;
        if (h->refuse || h->calls == h->fail_at)
            return NULL;
        q = malloc(new_size);
        if (q == NULL)
            abort();
        memset(q, 0xEE, new_size);
        if (p)
            memcpy(q, p, old_size < new_size ? old_size : new_size);
        h->live += new_size;
    }
    if (p) {
        memset(p, 0xDD, old_size);
        free(p);
        h->live -= old_size;
    }
    return q;
}

static rlt_memory t_memory(void)
{
    rlt_memory memory;

    memory.resize = t_resize;
    memory.user = &t_lent;
    return memory;
}

static void t_start(uint64_t seed)
{
    memset(&t_lent, 0, sizeof t_lent);
    rlt_rand_seed(&t_dice, seed);
    rlt_pool_init(&t_pool, t_memory(), 0);
}

/* Returns 1 if all blocks were given back to the pool, and all memory to the
 * allocator. */
static int t_end(void)
{
    int even = t_pool.used == 0;

    rlt_pool_free(&t_pool);
    return even && t_lent.live == 0 && t_pool.held == 0;
}

/* Ensures n bytes; then the allocator gives no more memory. */
static int t_promise(size_t n)
{
    t_lent.refuse = 0;
    if (!rlt_pool_ensure(&t_pool, n))
        return 0;
    t_lent.refuse = 1;
    return 1;
}

/* Ensures n bytes; the allocator may still give more. */
static int t_promise_open(size_t n)
{
    t_lent.refuse = 0;
    return rlt_pool_ensure(&t_pool, n);
}

static int t_any_promise(size_t n)
{
    return rlt_rand_below(&t_dice, 2) ? t_promise(n) : t_promise_open(n);
}

static uint32_t t_below(uint32_t n)
{
    return (uint32_t)rlt_rand_below(&t_dice, n);
}

static relet_span t_span(const void *p, size_t n)
{
    relet_span s;

    s.p = (const char *)p;
    s.n = n;
    return s;
}

static relet_span t_text(const char *text)
{
    return t_span(text, strlen(text));
}

static int t_same(relet_span a, relet_span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* One of `kinds` short strings, now and then with a NUL or a long one. */
static relet_span t_word(char *out, uint32_t kinds)
{
    uint32_t k = t_below(kinds);

    if (k % 17 == 3) {
        memset(out, 'a' + (int)(k % 26), 300);
        return t_span(out, 100 + k % 200);
    }
    out[0] = (char)('a' + (char)(k % 26));
    out[1] = '\0';
    out[2] = (char)(k / 26);
    return t_span(out, 3);
}

/* The last test of each data structure: each allocation fails once, and no
 * memory is lost. `run` returns 0 if something is wrong. */
static int t_with_each_failure(int (*run)(void), uint64_t seed)
{
    long i = 0, calls;

    do {
        t_start(seed);
        t_lent.fail_at = i;
        if (!run()) {
            printf("wrong when call %ld fails\n", i);
            return 0;
        }
        calls = t_lent.calls;
        t_lent.refuse = 0;
        if (!t_end()) {
            printf("memory is not even when call %ld fails\n", i);
            return 0;
        }
        i++;
    } while (i <= calls);
    return 1;
}

#endif
