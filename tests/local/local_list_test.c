/* SPDX-License-Identifier: MIT
 *
 * local_list_test.c - a list of byte strings, against an array.
 */
#include "local_data.h"
#include "list.h"

#define T_MAX 1000

static rlt_list t_list;
static int t_model[T_MAX + 1];
static uint32_t t_count;
static char t_bytes[400];

static relet_span t_element(int k)
{
    size_t n = k % 11 == 0 ? 300 : 3;

    memset(t_bytes, 'a' + k % 26, sizeof t_bytes);
    t_bytes[1] = (char)(k / 26);
    return t_span(t_bytes, n);
}

static void t_open(uint32_t at, int k)
{
    memmove(t_model + at + 1, t_model + at,
            (t_count - at) * sizeof t_model[0]);
    t_model[at] = k;
    t_count++;
}

static void t_close(uint32_t at)
{
    t_count--;
    memmove(t_model + at, t_model + at + 1,
            (t_count - at) * sizeof t_model[0]);
}

static int t_right(void)
{
    rlt_list_place at = rlt_list_end(&t_list, 0), back;
    uint32_t i;

    if (t_list.count != t_count)
        return 0;
    for (i = 0; i < t_count; i++, (void)rlt_list_step(&at, 1))
        if (!at.chunk || !t_same(rlt_list_get(at), t_element(t_model[i])))
            return 0;
    back = rlt_list_end(&t_list, 1);
    for (i = 0; i < t_count; i++, (void)rlt_list_step(&back, 0))
        if (!back.chunk || !t_same(rlt_list_get(back),
                                   t_element(t_model[t_count - 1 - i])))
            return 0;
    i = t_count ? t_below(t_count) : 0;
    if (t_count && !t_same(rlt_list_get(rlt_list_seek(&t_list, i)),
                           t_element(t_model[i])))
        return 0;
    return at.chunk == NULL && back.chunk == NULL &&
           rlt_list_seek(&t_list, t_count).chunk == NULL;
}

static int t_push(int k, int end)
{
    rlt_str *s;

    rlt_list_push(&t_list, &t_pool, t_element(k), end);
    t_open(end ? t_count : 0, k);
    if (t_below(4) > 0)
        return 1;
    /* The same string goes around without a copy. */
    s = rlt_list_pop(&t_list, &t_pool, end);
    rlt_list_push_str(&t_list, &t_pool, s, end);
    return 1;
}

static int t_pop(int end)
{
    rlt_str *s = rlt_list_pop(&t_list, &t_pool, end);
    uint32_t at = end && t_count ? t_count - 1 : 0;
    int ok;

    if (t_count == 0)
        return s == NULL;
    ok = s && t_same(rlt_str_span(s), t_element(t_model[at]));
    rlt_str_free(&t_pool, s);
    t_close(at);
    return ok;
}

static int t_remove(uint32_t i, int side)
{
    rlt_list_place at =
        rlt_list_remove(&t_list, &t_pool, rlt_list_seek(&t_list, i), side);

    t_close(i);
    if (side)
        return i == t_count ? at.chunk == NULL
                            : t_same(rlt_list_get(at), t_element(t_model[i]));
    return i == 0 ? at.chunk == NULL
                  : t_same(rlt_list_get(at), t_element(t_model[i - 1]));
}

static int t_remove_same(int k, uint32_t max, int end)
{
    uint32_t gone = 0, i = 0, at;

    while (i < t_count && (max == 0 || gone < max)) {
        at = end ? t_count - 1 - i : i;
        if (t_model[at] == k) {
            t_close(at);
            gone++;
        } else {
            i++;
        }
    }
    return rlt_list_remove_same(&t_list, &t_pool, t_element(k), max, end) ==
           gone;
}

static int t_step(uint32_t kinds)
{
    int k = (int)t_below(kinds), end = (int)t_below(2);
    uint32_t i = t_count ? t_below(t_count) : 0, what = t_below(100);

    if (!t_any_promise(2 * RLT_LIST_COST(t_element(k).n)))
        return 1;
    if (t_count < T_MAX && (what < 45 || t_count == 0))
        return t_push(k, end);
    if (what < 70)
        return t_pop(end);
    if (what < 85 && t_count < T_MAX) {
        rlt_list_insert(&t_list, &t_pool, rlt_list_seek(&t_list, i), end,
                        t_element(k));
        t_open(i + (uint32_t)end, k);
    } else if (what < 90) {
        rlt_list_set(rlt_list_seek(&t_list, i), &t_pool, t_element(k));
        t_model[i] = k;
    } else if (what < 97) {
        return t_remove(i, end);
    } else if (what < 99) {
        return t_remove_same(k, t_below(3), end);
    } else if (t_below(5) == 0) {
        rlt_list_trim(&t_list, &t_pool, i, (t_count - i) / 2);
        memmove(t_model, t_model + i, (t_count - i) * sizeof t_model[0]);
        t_count = (t_count - i) / 2;
    }
    return 1;
}

static int t_steps(uint32_t kinds, int n)
{
    int i, ok = 1;

    memset(&t_list, 0, sizeof t_list);
    t_count = 0;
    for (i = 0; i < n && ok; i++)
        ok = t_step(kinds) && (i % 20 || t_right());
    t_lent.refuse = 0;
    rlt_list_clear(&t_list, &t_pool);
    return ok;
}

TEST a_list_holds_the_same_elements_as_an_array(void)
{
    uint64_t seed;

    for (seed = 1; seed < 12; seed++) {
        t_start(seed);
        ASSERT(t_steps(seed % 2 ? 4 : 300, 4000));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(20, 900);
}

TEST any_allocation_of_a_list_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

TEST inserting_in_the_middle_keeps_order(void)
{
    uint32_t i;

    t_start(1);
    memset(&t_list, 0, sizeof t_list);
    t_count = 0;
    ASSERT(t_promise_open(1000 * RLT_LIST_COST(300)));
    t_push(0, 1);
    for (i = 1; i < 500; i++) {
        rlt_list_insert(&t_list, &t_pool, rlt_list_seek(&t_list, t_count / 2),
                        (int)(i & 1), t_element((int)i));
        t_open(t_count / 2 + (i & 1), (int)i);
    }
    ASSERT(t_right());
    for (i = 0; i < 490; i++)
        ASSERT(t_remove(t_count / 2, (int)(i & 1)) && t_right());
    rlt_list_clear(&t_list, &t_pool);
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_list_holds_the_same_elements_as_an_array);
    RUN_TEST(any_allocation_of_a_list_may_fail);
    RUN_TEST(inserting_in_the_middle_keeps_order);
    GREATEST_MAIN_END();
}
