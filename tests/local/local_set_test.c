/* SPDX-License-Identifier: MIT
 *
 * local_set_test.c - a set of byte strings, against a table of flags.
 */
#include "local_data.h"
#include "set.h"

#define T_MEMBERS 2000

static rlt_set t_set;
static int t_there[T_MEMBERS];
static uint32_t t_count;

/* Integers from -1000 on. */
static relet_span t_number(char *out, int k)
{
    return t_span(out, (size_t)snprintf(out, 20, "%d", k - 1000));
}

static int t_right(void)
{
    const rlt_entry *e;
    uint32_t n = 0;
    char a[20];
    int k;

    for (e = t_set.members.first; e; e = e->next, n++)
        if (!t_set.large && e->back && e->back->value.i >= e->value.i)
            return 0;
    for (k = 0; k < T_MEMBERS; k++)
        if ((rlt_set_find(&t_set, t_number(a, k)) != NULL) != t_there[k])
            return 0;
    return n == t_count && t_set.members.count == n;
}

static int t_step(uint32_t members)
{
    char a[20];
    int k = (int)t_below(members);
    relet_span m = t_number(a, k);

    if (t_there[k] && t_below(2)) {
        rlt_set_remove(&t_set, &t_pool, rlt_set_find(&t_set, m));
        t_there[k] = 0;
        t_count--;
        return 1;
    }
    if (!t_any_promise(RLT_SET_COST(m.n)))
        return 1;
    if (rlt_set_add(&t_set, &t_pool, m) == t_there[k])
        return 0;
    t_count += !t_there[k];
    t_there[k] = 1;
    return 1;
}

static int t_steps(uint32_t members, int n)
{
    int i, ok = 1;

    rlt_set_init(&t_set);
    memset(t_there, 0, sizeof t_there);
    t_count = 0;
    for (i = 0; i < n && ok; i++)
        ok = t_step(members) && (i % 50 || t_right());
    t_lent.refuse = 0;
    rlt_set_clear(&t_set, &t_pool);
    return ok;
}

TEST a_set_holds_the_same_members_as_an_array_of_flags(void)
{
    uint64_t seed;

    for (seed = 1; seed < 8; seed++) {
        t_start(seed);
        ASSERT(t_steps(seed % 2 ? 600 : T_MEMBERS, 3000));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(100, 500);
}

TEST any_allocation_of_a_set_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

static int t_add(const char *member)
{
    return t_promise_open(RLT_SET_COST(strlen(member))) &&
           rlt_set_add(&t_set, &t_pool, t_text(member));
}

static int t_walks(const char *want)
{
    char got[200] = "";
    const rlt_entry *e;

    for (e = t_set.members.first; e; e = e->next) {
        strncat(got, e->key, e->len);
        strcat(got, " ");
    }
    return strcmp(got, want) == 0;
}

TEST integers_are_walked_in_ascending_order_until_another_comes(void)
{
    t_start(1);
    rlt_set_init(&t_set);
    ASSERT(t_add("10") && t_add("-5") && t_add("9223372036854775807"));
    ASSERT(t_add("7") && t_add("-9223372036854775808") && t_add("0"));
    ASSERT(t_walks("-9223372036854775808 -5 0 7 10 9223372036854775807 "));
    ASSERT(!t_set.large);
    ASSERT(t_add("07") && t_add("1"));
    ASSERT(t_set.large);
    ASSERT(t_walks("-9223372036854775808 -5 0 7 10 9223372036854775807 07 1 "));
    rlt_set_remove(&t_set, &t_pool, rlt_set_find(&t_set, t_text("07")));
    ASSERT(t_set.large);
    rlt_set_clear(&t_set, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST a_set_turns_large_with_the_513th_integer(void)
{
    char a[20];
    int k;

    t_start(1);
    rlt_set_init(&t_set);
    for (k = 512; k > 0; k--) {
        t_number(a, k);
        ASSERT(t_add(a) && !t_set.large);
    }
    ASSERT(!t_add(a) && !t_set.large);
    ASSERT(t_add("5000") && t_set.large);
    rlt_set_clear(&t_set, &t_pool);
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_set_holds_the_same_members_as_an_array_of_flags);
    RUN_TEST(any_allocation_of_a_set_may_fail);
    RUN_TEST(integers_are_walked_in_ascending_order_until_another_comes);
    RUN_TEST(a_set_turns_large_with_the_513th_integer);
    GREATEST_MAIN_END();
}
