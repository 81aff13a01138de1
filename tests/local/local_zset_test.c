/* SPDX-License-Identifier: MIT
 *
 * local_zset_test.c - members with scores, against a sorted array.
 */
#include "local_data.h"
#include "zset.h"

#include <math.h>

#define T_MAX 400

typedef struct t_item {
    char bytes[4];
    double score;
} t_item;

static rlt_zset t_zset;
static t_item t_items[T_MAX + 1];
static uint32_t t_count;

static relet_span t_member(const t_item *item)
{
    return t_span(item->bytes, strlen(item->bytes));
}

static int t_before(const void *a, const void *b)
{
    const t_item *x = (const t_item *)a, *y = (const t_item *)b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return strcmp(x->bytes, y->bytes);
}

static void t_sort(void)
{
    qsort(t_items, t_count, sizeof t_items[0], t_before);
}

static int t_right(void)
{
    rlt_zset_item *item = rlt_zset_end(&t_zset, 0), *back = NULL;
    uint32_t i;

    if (rlt_zset_count(&t_zset) != t_count)
        return 0;
    for (i = 0; i < t_count; i++) {
        if (item == NULL || item->score != t_items[i].score ||
            !t_same(rlt_zset_member(item), t_member(&t_items[i])) ||
            rlt_zset_rank(item) != i || rlt_zset_at(&t_zset, i) != item ||
            rlt_zset_step(item, 0) != back ||
            rlt_zset_find(&t_zset, t_member(&t_items[i])) != item)
            return 0;
        back = item;
        item = rlt_zset_step(item, 1);
    }
    return item == NULL && rlt_zset_end(&t_zset, 1) == back &&
           rlt_zset_at(&t_zset, t_count) == NULL;
}

static double t_score(void)
{
    double odd[] = {0, -0.0, 0, 0, 0.1, -1e300};

    odd[2] = HUGE_VAL;
    odd[3] = -HUGE_VAL;
    return t_below(3) ? (double)t_below(9) - 4 : odd[t_below(6)];
}

static int t_is_in_scores(const rlt_zset_scores *r, double v)
{
    return (r->min_open ? v > r->min : v >= r->min) &&
           (r->max_open ? v < r->max : v <= r->max);
}

static int t_scores_right(void)
{
    rlt_zset_scores r;
    uint32_t i, n = 0, first = 0, from;

    r.min = t_score();
    r.max = t_score();
    r.min_open = (int)t_below(2);
    r.max_open = (int)t_below(2);
    for (i = 0; i < t_count; i++)
        if (t_is_in_scores(&r, t_items[i].score) && n++ == 0)
            first = i;
    return rlt_zset_in_scores(&t_zset, &r, &from) == n &&
           (n == 0 || from == first);
}

static int t_step(void)
{
    t_item item;
    rlt_zset_item *at;
    uint32_t i = 0;

    memset(&item, 0, sizeof item);
    item.bytes[0] = (char)('a' + (char)t_below(20));
    item.bytes[1] = t_below(3) ? (char)(0xC0 + t_below(20)) : '\0';
    item.score = t_score();
    at = rlt_zset_find(&t_zset, t_member(&item));
    if (at == NULL) {
        if (t_count == T_MAX || !t_any_promise(RLT_ZSET_COST(4)))
            return 1;
        rlt_zset_add(&t_zset, &t_pool, t_member(&item), item.score);
        t_items[t_count++] = item;
        t_sort();
        return 1;
    }
    while (strcmp(t_items[i].bytes, item.bytes) != 0)
        i++;
    if (t_below(2)) {
        rlt_zset_move(&t_zset, at, item.score);
        t_items[i].score = item.score;
    } else {
        rlt_zset_remove(&t_zset, &t_pool, at);
        t_items[i] = t_items[--t_count];
    }
    t_sort();
    return 1;
}

static int t_steps(int n)
{
    int i, ok = 1;

    rlt_zset_init(&t_zset);
    t_count = 0;
    for (i = 0; i < n && ok; i++)
        ok = t_step() && t_scores_right() && (i % 10 || t_right());
    t_lent.refuse = 0;
    rlt_zset_clear(&t_zset, &t_pool);
    return ok;
}

TEST a_sorted_set_holds_the_same_members_as_a_sorted_array(void)
{
    uint64_t seed;

    for (seed = 1; seed < 8; seed++) {
        t_start(seed);
        ASSERT(t_steps(1500));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(200);
}

TEST any_allocation_of_a_sorted_set_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

static int t_is_in_lex(const rlt_zset_lex *r, relet_span m)
{
    int low = rlt_str_compare(m, r->min), high = rlt_str_compare(m, r->max);
    int above = r->min_end ? r->min_end < 0 : r->min_open ? low > 0 : low >= 0;
    int below = r->max_end ? r->max_end > 0
                           : r->max_open ? high < 0 : high <= 0;

    return above && below;
}

TEST lex_ranges_are_those_of_a_sorted_array(void)
{
    rlt_zset_lex r;
    char a[3] = "", b[3] = "";
    uint32_t i, n, first, from;
    int round;

    t_start(5);
    rlt_zset_init(&t_zset);
    t_count = 0;
    for (round = 0; round < 3000; round++) {
        while (t_count < 60)
            ASSERT(t_step());
        if (round == 0)
            for (i = 0; i < t_count; i++) {
                rlt_zset_move(&t_zset,
                              rlt_zset_find(&t_zset, t_member(&t_items[i])),
                              3);
                t_items[i].score = 3;
            }
        t_sort();
        a[0] = (char)('a' + (char)t_below(20));
        b[0] = (char)('a' + (char)t_below(20));
        a[1] = t_below(2) ? t_items[t_below(t_count)].bytes[1] : '\0';
        b[1] = t_below(2) ? t_items[t_below(t_count)].bytes[1] : '\0';
        r.min = t_text(a);
        r.max = t_text(b);
        r.min_open = (int)t_below(2);
        r.max_open = (int)t_below(2);
        r.min_end = t_below(5) ? 0 : (int)t_below(3) - 1;
        r.max_end = t_below(5) ? 0 : (int)t_below(3) - 1;
        for (i = n = first = 0; i < t_count; i++)
            if (t_is_in_lex(&r, t_member(&t_items[i])) && n++ == 0)
                first = i;
        ASSERT_EQ(n, rlt_zset_in_lex(&t_zset, &r, &from));
        ASSERT(n == 0 || from == first);
    }
    t_lent.refuse = 0;
    rlt_zset_clear(&t_zset, &t_pool);
    ASSERT(t_end());
    PASS();
}

static int t_large_after(uint32_t members, size_t last)
{
    static char bytes[100];
    char a[20];
    uint32_t i;
    int large;

    t_start(1);
    rlt_zset_init(&t_zset);
    for (i = 0; i + 1 < members; i++) {
        snprintf(a, sizeof a, "%u", i);
        if (!t_promise_open(RLT_ZSET_COST(20)))
            return -1;
        rlt_zset_add(&t_zset, &t_pool, t_text(a), i);
    }
    if (!t_promise_open(RLT_ZSET_COST(last)))
        return -1;
    rlt_zset_add(&t_zset, &t_pool, t_span(bytes, last), 0);
    large = t_zset.large;
    rlt_zset_clear(&t_zset, &t_pool);
    return t_end() ? large : -1;
}

TEST a_sorted_set_turns_large_where_servers_do(void)
{
    ASSERT_EQ(0, t_large_after(128, 5));
    ASSERT_EQ(1, t_large_after(129, 5));
    ASSERT_EQ(0, t_large_after(1, 64));
    ASSERT_EQ(1, t_large_after(1, 65));
    PASS();
}

TEST minus_zero_is_zero_while_it_is_small(void)
{
    rlt_zset_item *item;

    t_start(1);
    rlt_zset_init(&t_zset);
    ASSERT(t_promise_open(2 * RLT_ZSET_COST(100)));
    item = rlt_zset_add(&t_zset, &t_pool, t_text("a"), -0.0);
    ASSERT(!signbit(item->score));
    t_zset.large = 1;
    rlt_zset_move(&t_zset, item, -0.0);
    ASSERT(signbit(item->score));
    rlt_zset_clear(&t_zset, &t_pool);
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_sorted_set_holds_the_same_members_as_a_sorted_array);
    RUN_TEST(any_allocation_of_a_sorted_set_may_fail);
    RUN_TEST(lex_ranges_are_those_of_a_sorted_array);
    RUN_TEST(a_sorted_set_turns_large_where_servers_do);
    RUN_TEST(minus_zero_is_zero_while_it_is_small);
    GREATEST_MAIN_END();
}
