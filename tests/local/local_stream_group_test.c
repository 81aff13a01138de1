/* SPDX-License-Identifier: MIT
 *
 * local_stream_group_test.c - consumer groups, against tables.
 *
 * The counts of read entries and the lag of a group were compared with Redis
 * 7.0.15; a few such cases are kept.
 */
#include "local_data.h"
#include "stream_group.h"

#define T_IDS 200
#define T_CONSUMERS 5

static rlt_stream t_stream;
static rlt_stream_group *t_group;
static const char *const t_names[T_CONSUMERS] = {"b", "", "ab", "abc", "\xff"};
static const int t_sorted[T_CONSUMERS] = {1, 2, 3, 0, 4};
static rlt_stream_consumer *t_consumers[T_CONSUMERS];
static int t_owner[T_IDS]; /* -1: not pending */

static rlt_stream_id t_id(int k)
{
    return rlt_stream_id_of((uint64_t)k / 3, (uint64_t)k % 3);
}

static int t_next(int from, int side, int owner)
{
    int k;

    for (k = from; k >= 0 && k < T_IDS; k += side ? 1 : -1)
        if (t_owner[k] >= 0 && (owner < 0 || t_owner[k] == owner))
            return k;
    return -1;
}

static int t_is(const rlt_stream_pending *p, int k)
{
    if (k < 0 || p == NULL)
        return k < 0 && p == NULL;
    return rlt_stream_id_compare(p->id, t_id(k)) == 0 &&
           p->consumer == t_consumers[t_owner[k]] && p->deliveries == 1 &&
           p->delivered_ms == k;
}

static int t_right(void)
{
    int owner, side, k = (int)t_below(T_IDS), first;
    rlt_stream_pending *p;
    uint32_t n = 0;

    for (owner = -1; owner < T_CONSUMERS; owner++)
        for (side = 0; side < 2; side++) {
            if (owner >= 0 && t_consumers[owner] == NULL)
                continue;
            p = rlt_stream_pending_seek(
                t_group, owner < 0 ? NULL : t_consumers[owner], t_id(k), side);
            first = t_next(k, side, owner);
            if (!t_is(p, first))
                return 0;
            if (p && !t_is(rlt_stream_pending_step(p, owner >= 0, side),
                           t_next(first + (side ? 1 : -1), side, owner)))
                return 0;
        }
    for (first = 0; first < T_IDS; first++)
        n += t_owner[first] >= 0;
    return n == rlt_tree_count(&t_group->pending) &&
           t_is(rlt_stream_pending_find(t_group, t_id(k)),
                t_owner[k] < 0 ? -1 : k);
}

static int t_names_right(void)
{
    rlt_stream_consumer *c = rlt_stream_consumer_first(t_group);
    int i;

    for (i = 0; i < T_CONSUMERS; i++) {
        if (rlt_stream_consumer_find(t_group, t_text(t_names[i])) !=
            t_consumers[i])
            return 0;
        if (t_consumers[t_sorted[i]] == NULL)
            continue;
        if (c != t_consumers[t_sorted[i]] ||
            !t_same(rlt_stream_consumer_name(c),
                    t_text(t_names[t_sorted[i]])))
            return 0;
        c = rlt_stream_consumer_next(c);
    }
    return c == NULL;
}

static void t_consumer_goes(int i)
{
    int k;

    rlt_stream_consumer_remove(t_group, &t_pool, t_consumers[i]);
    t_consumers[i] = NULL;
    for (k = 0; k < T_IDS; k++)
        if (t_owner[k] == i)
            t_owner[k] = -1;
}

static void t_step(void)
{
    int i = (int)t_below(T_CONSUMERS), k = (int)t_below(T_IDS);

    if (t_consumers[i] == NULL) {
        if (t_any_promise(RLT_STREAM_CONSUMER_COST(3)))
            t_consumers[i] = rlt_stream_consumer_add(
                t_group, &t_pool, t_text(t_names[i]), 7);
    } else if (t_below(100) == 0) {
        t_consumer_goes(i);
    } else if (t_owner[k] < 0) {
        if (!t_any_promise(RLT_STREAM_PENDING_COST))
            return;
        rlt_stream_pending_add(t_group, &t_pool, t_consumers[i], t_id(k), k);
        t_owner[k] = i;
    } else if (t_below(2)) {
        rlt_stream_pending_give(rlt_stream_pending_find(t_group, t_id(k)),
                                t_consumers[i]);
        t_owner[k] = i;
    } else {
        rlt_stream_pending_remove(
            t_group, &t_pool, rlt_stream_pending_find(t_group, t_id(k)));
        t_owner[k] = -1;
    }
}

static int t_begin(void)
{
    int k;

    memset(&t_stream, 0, sizeof t_stream);
    memset(t_consumers, 0, sizeof t_consumers);
    for (k = 0; k < T_IDS; k++)
        t_owner[k] = -1;
    if (!t_any_promise(RLT_STREAM_GROUP_COST(5)))
        return 0;
    t_group = rlt_stream_group_add(&t_stream, &t_pool, t_text("group"),
                                   t_id(0), -1);
    return 1;
}

static int t_steps(void)
{
    int i, ok = 1;

    if (!t_begin())
        return 1;
    for (i = 0; i < 3000 && ok; i++) {
        t_step();
        ok = t_right() && t_names_right();
    }
    t_lent.refuse = 0;
    rlt_stream_groups_clear(&t_stream, &t_pool);
    return ok;
}

TEST pending_entries_are_the_same_as_in_a_table(void)
{
    uint64_t seed;

    for (seed = 1; seed < 6; seed++) {
        t_start(seed);
        ASSERT(t_steps());
        ASSERT(t_end());
    }
    PASS();
}

TEST any_allocation_of_a_consumer_group_may_fail(void)
{
    ASSERT(t_with_each_failure(t_steps, 4));
    PASS();
}

TEST copied_groups_are_equal_and_cost_the_promised_memory(void)
{
    rlt_stream copy;
    rlt_stream_group *was;
    int i;

    t_start(8);
    ASSERT(t_begin());
    for (i = 0; i < 2000; i++)
        t_step();
    t_group->entries_read = 5;
    memset(&copy, 0, sizeof copy);
    ASSERT(t_promise(rlt_stream_groups_copy_cost(&t_stream)));
    rlt_stream_groups_copy(&t_stream, &t_pool, &copy);
    was = t_group;
    t_group = rlt_stream_group_find(&copy, t_text("group"));
    ASSERT(t_group && t_group != was && t_group->entries_read == 5);
    for (i = 0; i < T_CONSUMERS; i++)
        t_consumers[i] = rlt_stream_consumer_find(t_group, t_text(t_names[i]));
    ASSERT(t_names_right());
    for (i = 0; i < 200; i++)
        ASSERT(t_right());
    t_lent.refuse = 0;
    rlt_stream_groups_clear(&t_stream, &t_pool);
    rlt_stream_groups_clear(&copy, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST groups_are_walked_by_name(void)
{
    rlt_stream_group *g;
    int i;

    t_start(1);
    memset(&t_stream, 0, sizeof t_stream);
    for (i = 0; i < T_CONSUMERS; i++) {
        ASSERT(t_promise(RLT_STREAM_GROUP_COST(3)));
        rlt_stream_group_add(&t_stream, &t_pool, t_text(t_names[i]), t_id(i),
                             i);
    }
    g = rlt_stream_group_first(&t_stream);
    for (i = 0; i < T_CONSUMERS; i++, g = rlt_stream_group_next(g)) {
        ASSERT_EQ(t_sorted[i], g->entries_read);
        ASSERT(t_same(rlt_stream_group_name(g),
                      t_text(t_names[t_sorted[i]])));
    }
    ASSERT(g == NULL && !rlt_stream_group_find(&t_stream, t_text("c")));
    rlt_stream_group_remove(&t_stream, &t_pool,
                            rlt_stream_group_find(&t_stream, t_text("ab")));
    ASSERT(!rlt_stream_group_find(&t_stream, t_text("ab")));
    rlt_stream_groups_clear(&t_stream, &t_pool);
    ASSERT(t_end());
    PASS();
}

/* ------------------------------------------------- counting what was read */

static void t_fill(uint64_t n)
{
    relet_span strings[2];
    uint64_t i;

    memset(&t_stream, 0, sizeof t_stream);
    strings[0] = strings[1] = t_text("x");
    for (i = 1; i <= n; i++)
        if (t_promise_open(RLT_STREAM_ENTRY_COST(2, 2)))
            rlt_stream_add(&t_stream, &t_pool, rlt_stream_id_of(i, 0),
                           strings, 2);
    if (t_promise_open(RLT_STREAM_GROUP_COST(1)))
        t_group = rlt_stream_group_add(&t_stream, &t_pool, t_text("g"),
                                       rlt_stream_id_of(0, 0), -1);
}

static void t_read_to(uint64_t n)
{
    uint64_t ms;

    for (ms = t_group->last.ms + 1; ms <= n; ms++)
        if (rlt_stream_find(&t_stream, rlt_stream_id_of(ms, 0)))
            rlt_stream_group_read(&t_stream, t_group, rlt_stream_id_of(ms, 0));
}

static void t_delete(uint64_t ms)
{
    rlt_stream_delete(&t_stream, &t_pool,
                      rlt_stream_find(&t_stream, rlt_stream_id_of(ms, 0)));
}

static int t_done(void)
{
    rlt_stream_groups_clear(&t_stream, &t_pool);
    rlt_stream_clear(&t_stream, &t_pool);
    return t_end();
}

TEST without_deletions_every_reader_is_counted(void)
{
    t_start(1);
    t_fill(5);
    ASSERT_EQ(5, rlt_stream_group_lag(&t_stream, t_group));
    t_read_to(3);
    ASSERT_EQ(3, t_group->entries_read);
    ASSERT_EQ(2, rlt_stream_group_lag(&t_stream, t_group));
    rlt_stream_group_read(&t_stream, t_group, rlt_stream_id_of(2, 0));
    ASSERT_EQ(3, t_group->entries_read);
    ASSERT_EQ(3, (int)t_group->last.ms);
    ASSERT(t_done());
    PASS();
}

TEST a_deletion_ahead_makes_the_lag_unknown(void)
{
    t_start(1);
    t_fill(5);
    t_read_to(1);
    t_delete(3);
    ASSERT_EQ(-1, rlt_stream_group_lag(&t_stream, t_group));
    t_read_to(2);
    ASSERT_EQ(-1, t_group->entries_read);
    t_read_to(5);
    ASSERT_EQ(5, t_group->entries_read);
    ASSERT_EQ(0, rlt_stream_group_lag(&t_stream, t_group));
    ASSERT(t_done());
    PASS();
}

TEST a_deletion_before_the_first_entry_does_not_matter(void)
{
    t_start(1);
    t_fill(5);
    t_delete(1);
    t_delete(2);
    ASSERT_EQ(3, rlt_stream_group_lag(&t_stream, t_group));
    ASSERT_EQ(2, rlt_stream_read_at(&t_stream, rlt_stream_id_of(1, 0)));
    ASSERT_EQ(3, rlt_stream_read_at(&t_stream, rlt_stream_id_of(3, 0)));
    ASSERT_EQ(-1, rlt_stream_read_at(&t_stream, rlt_stream_id_of(4, 0)));
    ASSERT_EQ(-1, rlt_stream_read_at(&t_stream, rlt_stream_id_of(9, 0)));
    ASSERT(t_done());
    PASS();
}

TEST an_empty_stream_was_read_to_its_end(void)
{
    t_start(1);
    t_fill(0);
    ASSERT_EQ(0, rlt_stream_group_lag(&t_stream, t_group));
    ASSERT_EQ(0, rlt_stream_read_at(&t_stream, rlt_stream_id_of(9, 0)));
    ASSERT(t_done());
    t_start(1);
    t_fill(2);
    t_delete(1);
    t_delete(2);
    ASSERT_EQ(2, rlt_stream_read_at(&t_stream, rlt_stream_id_of(1, 0)));
    ASSERT_EQ(0, rlt_stream_group_lag(&t_stream, t_group));
    ASSERT(t_done());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(pending_entries_are_the_same_as_in_a_table);
    RUN_TEST(any_allocation_of_a_consumer_group_may_fail);
    RUN_TEST(copied_groups_are_equal_and_cost_the_promised_memory);
    RUN_TEST(groups_are_walked_by_name);
    RUN_TEST(without_deletions_every_reader_is_counted);
    RUN_TEST(a_deletion_ahead_makes_the_lag_unknown);
    RUN_TEST(a_deletion_before_the_first_entry_does_not_matter);
    RUN_TEST(an_empty_stream_was_read_to_its_end);
    GREATEST_MAIN_END();
}
