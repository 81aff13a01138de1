/* SPDX-License-Identifier: MIT
 *
 * local_dict_test.c - a hash table from bytes to one word, against an array.
 */
#include "local_data.h"
#include "dict.h"

#define T_KEYS 3000

static rlt_dict t_dict;
static char t_keys[T_KEYS][12];
static int t_there[T_KEYS];
static int t_order[T_KEYS];
static uint32_t t_count;

static relet_span t_key(int k)
{
    return t_span(t_keys[k], strlen(t_keys[k]));
}

static void t_names(void)
{
    int k;

    t_keys[0][0] = '\0';
    for (k = 1; k < T_KEYS; k++)
        snprintf(t_keys[k], sizeof t_keys[k], "%d", k * k);
    memset(t_there, 0, sizeof t_there);
    memset(&t_dict, 0, sizeof t_dict);
    t_count = 0;
}

static int t_add(int k)
{
    rlt_entry *e;

    if (!t_any_promise(RLT_DICT_COST(t_key(k).n)))
        return 0;
    e = rlt_dict_add(&t_dict, &t_pool, t_key(k));
    e->value.i = k;
    t_there[k] = 1;
    t_order[t_count++] = k;
    return 1;
}

static void t_remove(int k)
{
    uint32_t i = 0;

    rlt_dict_remove(&t_dict, &t_pool, rlt_dict_find(&t_dict, t_key(k)));
    t_there[k] = 0;
    while (t_order[i] != k)
        i++;
    t_count--;
    memmove(t_order + i, t_order + i + 1, (t_count - i) * sizeof t_order[0]);
}

static int t_right(void)
{
    rlt_entry *e = t_dict.first, *back = NULL;
    uint32_t i;
    int k;

    if (t_dict.count != t_count)
        return 0;
    for (i = 0; i < t_count; i++, back = e, e = e->next)
        if (e == NULL || e->value.i != t_order[i] || e->back != back ||
            !t_same(rlt_entry_key(e), t_key(t_order[i])))
            return 0;
    if (e != NULL || t_dict.last != back)
        return 0;
    for (k = 0; k < T_KEYS; k++)
        if ((rlt_dict_find(&t_dict, t_key(k)) != NULL) != t_there[k])
            return 0;
    return 1;
}

static int t_work(uint32_t keys, int steps, int adds)
{
    int i, k;

    for (i = 0; i < steps; i++) {
        k = (int)t_below(keys);
        if (t_there[k])
            t_remove(k);
        else if ((int)t_below(10) < adds)
            (void)t_add(k);
    }
    return t_right();
}

TEST entries_of_a_dict_are_found_and_walked_in_order(void)
{
    uint64_t seed;

    for (seed = 1; seed < 6; seed++) {
        t_start(seed);
        t_names();
        ASSERT(t_work(20, 400, 10));
        ASSERT(t_work(T_KEYS, 6000, 10));
        ASSERT(t_work(T_KEYS, 6000, 2));
        rlt_dict_clear(&t_dict, &t_pool);
        ASSERT(t_end());
    }
    PASS();
}

static int t_small_work(void)
{
    int ok;

    t_names();
    ok = t_work(100, 2000, 10);
    t_lent.refuse = 0;
    rlt_dict_clear(&t_dict, &t_pool);
    return ok;
}

TEST any_allocation_of_a_dict_may_fail(void)
{
    ASSERT(t_with_each_failure(t_small_work, 3));
    PASS();
}

TEST without_memory_for_buckets_it_still_works(void)
{
    int k;

    t_start(1);
    t_names();
    for (k = 0; k < 200; k++) {
        ASSERT(t_promise(RLT_DICT_COST(t_key(k).n)));
        rlt_dict_add(&t_dict, &t_pool, t_key(k))->value.i = k;
        t_there[k] = 1;
        t_order[t_count++] = k;
    }
    ASSERT(t_right());
    rlt_dict_clear(&t_dict, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST an_entry_can_be_placed_before_another(void)
{
    int k;

    t_start(1);
    t_names();
    for (k = 0; k < 3; k++)
        ASSERT(t_add(k));
    rlt_dict_place(&t_dict, rlt_dict_find(&t_dict, t_key(2)), t_dict.first);
    rlt_dict_place(&t_dict, rlt_dict_find(&t_dict, t_key(0)), NULL);
    t_order[0] = 2;
    t_order[1] = 1;
    t_order[2] = 0;
    ASSERT(t_right());
    rlt_dict_clear(&t_dict, &t_pool);
    ASSERT(t_end());
    PASS();
}

/* The keys below `stay` exist during the whole scan, others come and go. */
static int t_scan(int stay, int shrinking)
{
    static int met[T_KEYS];
    uint64_t cursor = 0;
    rlt_entry *e;
    int k, i;

    memset(met, 0, sizeof met);
    do {
        cursor = rlt_dict_scan(&t_dict, cursor, &e);
        for (; e; e = rlt_dict_scan_next(&t_dict, e))
            met[e->value.i] = 1;
        for (i = 0; i < 5; i++) {
            k = stay + (int)t_below((uint32_t)(T_KEYS - stay));
            if (t_there[k] && shrinking)
                t_remove(k);
            else if (!t_there[k] && !shrinking)
                (void)t_add(k);
        }
    } while (cursor != 0);
    for (k = 0; k < stay; k++)
        if (!met[k])
            return 0;
    return 1;
}

TEST a_scan_meets_all_that_stay(void)
{
    uint64_t seed;
    int k;

    for (seed = 1; seed < 30; seed++) {
        t_start(seed);
        t_names();
        for (k = 0; k < (int)(seed * 10); k++)
            while (!t_add(k))
                ;
        ASSERT(t_scan((int)seed * 10, 0));
        for (k = (int)seed * 10; k < T_KEYS; k++)
            while (!t_there[k] && !t_add(k))
                ;
        ASSERT(t_scan((int)seed * 10, 1));
        rlt_dict_clear(&t_dict, &t_pool);
        ASSERT(t_end());
    }
    PASS();
}

/* Chi-square over all entries: count - 1 on average, with a deviation of
 * sqrt(2 (count - 1)). Five deviations are allowed, as squares. */
static int t_fair(void)
{
    static int hits[T_KEYS];
    uint32_t i, n = t_dict.count * 60;
    double sum = 0, off, free = t_dict.count - 1;

    memset(hits, 0, sizeof hits);
    for (i = 0; i < n; i++)
        hits[rlt_dict_random(&t_dict, &t_dice)->value.i]++;
    for (i = 0; i < t_count; i++) {
        off = hits[t_order[i]] - 60;
        sum += off * off / 60;
    }
    return (sum - free) * (sum - free) < 25 * 2 * free;
}

TEST a_random_entry_is_each_with_the_same_chance(void)
{
    int k;

    t_start(9);
    t_names();
    for (k = 0; k < 7; k++)
        while (!t_add(k))
            ;
    ASSERT(t_fair());
    for (; k < 1000; k++)
        while (!t_add(k))
            ;
    ASSERT(t_fair());
    for (; k > 300; k--)
        t_remove(k - 1);
    ASSERT(t_fair());
    t_lent.refuse = 1; /* no memory to shrink */
    for (; k > 20; k--)
        t_remove(k - 1);
    ASSERT(t_fair());
    rlt_dict_clear(&t_dict, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST a_key_may_be_large(void)
{
    static char large[40000];

    t_start(1);
    t_names();
    ASSERT(t_promise(RLT_DICT_COST(sizeof large)) ||
           t_promise_open(RLT_DICT_COST(sizeof large)));
    rlt_dict_add(&t_dict, &t_pool, t_span(large, sizeof large));
    ASSERT(rlt_dict_find(&t_dict, t_span(large, sizeof large)));
    ASSERT(!rlt_dict_find(&t_dict, t_span(large, sizeof large - 1)));
    rlt_dict_clear(&t_dict, &t_pool);
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(entries_of_a_dict_are_found_and_walked_in_order);
    RUN_TEST(any_allocation_of_a_dict_may_fail);
    RUN_TEST(without_memory_for_buckets_it_still_works);
    RUN_TEST(an_entry_can_be_placed_before_another);
    RUN_TEST(a_scan_meets_all_that_stay);
    RUN_TEST(a_random_entry_is_each_with_the_same_chance);
    RUN_TEST(a_key_may_be_large);
    GREATEST_MAIN_END();
}
