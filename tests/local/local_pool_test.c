/* SPDX-License-Identifier: MIT
 *
 * local_pool_test.c - the memory of one local server.
 */
#include "local_data.h"

#define T_BLOCKS 200

typedef struct t_block {
    uint8_t *p;
    size_t n;
    uint8_t mark;
} t_block;

static t_block t_blocks[T_BLOCKS];

static size_t t_size(void)
{
    static const size_t edges[] = {0,    1,    15,    16,    17,   1023, 1024,
                                   1025, 1280, 1281,  14336, 14337, 16383,
                                   16384, 16385, 40000};

    return t_below(3) ? t_below(400) : edges[t_below(16)];
}

static int t_is_whole(const t_block *b)
{
    size_t i;

    for (i = 0; i < b->n; i++)
        if (b->p[i] != b->mark)
            return 0;
    return 1;
}

static void t_put(t_block *b)
{
    rlt_pool_put(&t_pool, b->p, b->n);
    b->p = NULL;
}

static int t_take(t_block *b, uint8_t *p, size_t n)
{
    if (p == NULL || ((uintptr_t)p & 7) != 0)
        return 0;
    b->p = p;
    b->n = n;
    b->mark = (uint8_t)t_below(256);
    memset(p, b->mark, n);
    return 1;
}

/* Gives some blocks back, then ensures memory for some blocks and takes them.
 * */
static int t_round(void)
{
    size_t sizes[8], sum = 0;
    uint32_t n = t_below(8), i, at = t_below(T_BLOCKS - 8);

    for (i = 0; i < n; i++) {
        if (t_blocks[at + i].p && !t_is_whole(&t_blocks[at + i]))
            return 0;
        if (t_blocks[at + i].p)
            t_put(&t_blocks[at + i]);
        sizes[i] = t_size();
        sum += RLT_POOL_COST(sizes[i]);
    }
    if (!t_any_promise(sum))
        return 1;
    for (i = 0; i < n; i++) {
        if (t_below(4) == 0)
            rlt_pool_put(&t_pool, rlt_pool_try(&t_pool, 333), 333);
        if (!t_take(&t_blocks[at + i],
                    (uint8_t *)rlt_pool_get(&t_pool, sizes[i]), sizes[i]))
            return 0;
    }
    return 1;
}

static int t_rounds(void)
{
    int i, ok = 1;

    memset(t_blocks, 0, sizeof t_blocks);
    for (i = 0; i < 300 && ok; i++)
        ok = t_round();
    for (i = 0; i < T_BLOCKS; i++) {
        ok &= t_blocks[i].p == NULL || t_is_whole(&t_blocks[i]);
        t_put(&t_blocks[i]);
    }
    return ok;
}

TEST blocks_do_not_overlap_and_promises_hold(void)
{
    uint64_t seed;

    for (seed = 1; seed < 40; seed++) {
        t_start(seed);
        ASSERT(t_rounds());
        t_lent.refuse = 0;
        ASSERT(t_end());
    }
    PASS();
}

TEST any_allocation_of_a_pool_may_fail(void)
{
    ASSERT(t_with_each_failure(t_rounds, 7));
    PASS();
}

TEST an_ensure_that_fails_takes_no_memory(void)
{
    size_t held;

    t_start(1);
    ASSERT(rlt_pool_ensure(&t_pool, 100));
    held = t_pool.held;
    t_lent.refuse = 1;
    ASSERT(!rlt_pool_ensure(&t_pool, 1000000));
    ASSERT(!rlt_pool_ensure(&t_pool, SIZE_MAX / 2));
    ASSERT_EQ(held, t_pool.held);
    ASSERT(t_end());
    PASS();
}

TEST a_promise_can_grow(void)
{
    void *a, *b, *c;

    t_start(1);
    ASSERT(rlt_pool_ensure(&t_pool, RLT_POOL_COST(3000)));
    ASSERT(rlt_pool_ensure_more(&t_pool, RLT_POOL_COST(30000)));
    ASSERT(rlt_pool_ensure_more(&t_pool, RLT_POOL_COST(300000)));
    t_lent.refuse = 1;
    ASSERT(!rlt_pool_ensure_more(&t_pool, RLT_POOL_COST(3000000)));
    a = rlt_pool_get(&t_pool, 300000);
    b = rlt_pool_get(&t_pool, 3000);
    c = rlt_pool_get(&t_pool, 30000);
    ASSERT(a && b && c);
    rlt_pool_put(&t_pool, a, 300000);
    rlt_pool_put(&t_pool, b, 3000);
    rlt_pool_put(&t_pool, c, 30000);
    ASSERT(t_end());
    PASS();
}

TEST a_large_promise_that_is_not_used_goes_back(void)
{
    size_t held;

    t_start(1);
    ASSERT(rlt_pool_ensure(&t_pool, 100));
    held = t_pool.held;
    ASSERT(rlt_pool_ensure(&t_pool, 1000000));
    ASSERT(t_pool.held >= 1000000);
    rlt_pool_settle(&t_pool);
    ASSERT_EQ(held, t_pool.held);
    ASSERT(t_end());
    PASS();
}

TEST a_big_block_goes_back_to_the_allocator(void)
{
    void *p;
    size_t held;

    t_start(1);
    ASSERT(rlt_pool_ensure(&t_pool, 100));
    held = t_pool.held;
    ASSERT(rlt_pool_ensure(&t_pool, RLT_POOL_COST(100000)));
    p = rlt_pool_get(&t_pool, 100000);
    ASSERT_EQ(100000u, t_pool.used);
    rlt_pool_settle(&t_pool);
    ASSERT(t_pool.held > held);
    rlt_pool_put(&t_pool, p, 100000);
    ASSERT_EQ(held, t_pool.held);
    ASSERT_EQ(0u, t_pool.used);
    ASSERT(t_end());
    PASS();
}

TEST a_cap_is_kept(void)
{
    memset(&t_lent, 0, sizeof t_lent);
    rlt_pool_init(&t_pool, t_memory(), 50000);
    ASSERT(rlt_pool_ensure(&t_pool, 20000));
    ASSERT(!rlt_pool_ensure(&t_pool, 50000));
    ASSERT(t_pool.held <= 50000);
    ASSERT(rlt_pool_try(&t_pool, 40000) == NULL || t_pool.held <= 50000);
    ASSERT(rlt_pool_try(&t_pool, SIZE_MAX) == NULL);
    rlt_pool_free(&t_pool);
    ASSERT_EQ(0u, t_lent.live);
    PASS();
}

TEST a_pool_without_an_allocator_has_nothing(void)
{
    rlt_memory none;

    memset(&none, 0, sizeof none);
    rlt_pool_init(&t_pool, none, 0);
    ASSERT(rlt_pool_try(&t_pool, 1) == NULL);
    ASSERT(!rlt_pool_ensure(&t_pool, 1));
    rlt_pool_free(&t_pool);
    PASS();
}

TEST the_peak_is_remembered(void)
{
    void *p;

    t_start(1);
    p = rlt_pool_try(&t_pool, 1000);
    rlt_pool_put(&t_pool, p, 1000);
    rlt_pool_put(&t_pool, NULL, 7);
    ASSERT_EQ(1008u, t_pool.peak);
    ASSERT(t_end());
    ASSERT_EQ(1008u, t_pool.peak);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(blocks_do_not_overlap_and_promises_hold);
    RUN_TEST(any_allocation_of_a_pool_may_fail);
    RUN_TEST(an_ensure_that_fails_takes_no_memory);
    RUN_TEST(a_promise_can_grow);
    RUN_TEST(a_large_promise_that_is_not_used_goes_back);
    RUN_TEST(a_big_block_goes_back_to_the_allocator);
    RUN_TEST(a_cap_is_kept);
    RUN_TEST(a_pool_without_an_allocator_has_nothing);
    RUN_TEST(the_peak_is_remembered);
    GREATEST_MAIN_END();
}
