/* SPDX-License-Identifier: MIT
 *
 * local_keys_test.c - one database, against a table.
 */
#include "local_data.h"
#include "keys.h"

#define T_KEYS 300

static rlt_keys t_keys;
static int64_t t_due[T_KEYS]; /* -2: not there; -1: does not end */
static int t_value[T_KEYS];
static int64_t t_now;

static relet_span t_key(char *out, int k)
{
    return t_span(out, (size_t)snprintf(out, 20, "key:%d", k));
}

static rlt_entry *t_find(int k)
{
    char a[20];

    return rlt_keys_find(&t_keys, t_key(a, k));
}

static int t_right(void)
{
    int64_t first = INT64_MAX;
    uint32_t count = 0, due = 0;
    rlt_entry *e;
    char a[20];
    int k;

    for (k = 0; k < T_KEYS; k++) {
        e = t_find(k);
        if ((e != NULL) != (t_due[k] != -2))
            return 0;
        if (e == NULL)
            continue;
        count++;
        due += t_due[k] >= 0;
        if (t_due[k] >= 0)
            first = RLT_MIN(first, t_due[k]);
        snprintf(a, sizeof a, "%d", t_value[k]);
        if (!t_same(rlt_obj_span(rlt_keys_obj(e)), t_text(a)) ||
            rlt_keys_expires_at(rlt_keys_obj(e)) != t_due[k] ||
            rlt_keys_is_due(rlt_keys_obj(e), t_now) !=
                (t_due[k] >= 0 && t_now > t_due[k]))
            return 0;
    }
    return count == rlt_keys_count(&t_keys) &&
           due == rlt_keys_due_count(&t_keys) &&
           first == rlt_keys_next_due(&t_keys) &&
           (rlt_keys_random(&t_keys, &t_dice) != NULL) == (count > 0);
}

static void t_put(int k)
{
    char key[20], value[20];
    int v = (int)t_below(1000);
    relet_span s = t_span(value, (size_t)snprintf(value, 20, "%d", v));

    if (!t_any_promise(RLT_KEYS_PUT_COST(20) + RLT_OBJ_COST +
                       RLT_STR_COST(20)))
        return;
    rlt_keys_put(&t_keys, &t_pool, t_key(key, k), rlt_obj_string(&t_pool, s));
    t_value[k] = v;
    t_due[k] = -1;
}

/* Renames the key, which keeps its expiry. */
static int t_rename(int k, int to)
{
    int64_t at = 7;
    rlt_obj *o;
    rlt_entry *e;
    char key[20];

    if (t_due[k] == -2 || k == to ||
        !t_any_promise(RLT_KEYS_PUT_COST(20)))
        return 1;
    o = rlt_keys_take(&t_keys, &t_pool, t_find(k), &at);
    e = rlt_keys_put(&t_keys, &t_pool, t_key(key, to), o);
    if (at >= 0)
        rlt_keys_expire(&t_keys, &t_pool, e, at);
    if (at != t_due[k])
        return 0;
    t_due[to] = t_due[k];
    t_value[to] = t_value[k];
    t_due[k] = -2;
    return 1;
}

static int t_number_of(const rlt_entry *e)
{
    relet_span key = rlt_entry_key(e);
    size_t i;
    int k = 0;

    for (i = strlen("key:"); i < key.n; i++)
        k = k * 10 + key.p[i] - '0';
    return k;
}

/* Due keys expire in the order of their times, and no other key expires. */
static int t_expire_some(void)
{
    rlt_entry *e;
    int64_t last = -1, at;
    int n, k;

    t_now += t_below(20);
    for (n = 0; n < 5; n++) {
        e = rlt_keys_first_due(&t_keys, t_now);
        if (e == NULL)
            break;
        at = rlt_keys_expires_at(rlt_keys_obj(e));
        if (at < last || at >= t_now)
            return 0;
        last = at;
        k = t_number_of(e);
        rlt_keys_delete(&t_keys, &t_pool, e);
        t_due[k] = -2;
    }
    return n == 5 || rlt_keys_next_due(&t_keys) >= t_now;
}

static int t_step(void)
{
    int k = (int)t_below(T_KEYS);
    rlt_entry *e = t_find(k);

    switch (t_below(8)) {
    case 0:
    case 1:
    case 2:
        t_put(k);
        return 1;
    case 3:
        return t_expire_some();
    case 4:
        return t_rename(k, (int)t_below(T_KEYS));
    case 5:
        if (e && rlt_keys_persist(&t_keys, &t_pool, e) != (t_due[k] >= 0))
            return 0;
        t_due[k] = e ? -1 : -2;
        return 1;
    case 6:
        if (e && t_below(3) == 0) {
            rlt_keys_delete(&t_keys, &t_pool, e);
            t_due[k] = -2;
            return 1;
        } /* fall through */
    default:
        if (e && t_any_promise(RLT_KEYS_DUE_COST)) {
            t_due[k] = t_now + t_below(200);
            rlt_keys_expire(&t_keys, &t_pool, e, t_due[k]);
        }
        return 1;
    }
}

static void t_begin(void)
{
    int k;

    rlt_keys_init(&t_keys);
    t_now = 1000;
    for (k = 0; k < T_KEYS; k++)
        t_due[k] = -2;
}

static int t_steps(int n)
{
    int i, ok = 1;

    t_begin();
    for (i = 0; i < n && ok; i++)
        ok = t_step() && (i % 20 || t_right());
    t_lent.refuse = 0;
    rlt_keys_clear(&t_keys, &t_pool);
    return ok && rlt_keys_count(&t_keys) == 0 &&
           rlt_keys_due_count(&t_keys) == 0;
}

TEST a_key_space_holds_the_same_keys_as_a_table(void)
{
    uint64_t seed;

    for (seed = 1; seed < 10; seed++) {
        t_start(seed);
        ASSERT(t_steps(4000));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(800);
}

TEST any_allocation_of_a_key_space_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

TEST a_key_is_there_in_its_last_millisecond(void)
{
    t_start(1);
    t_begin();
    t_put(1);
    ASSERT(t_promise(RLT_KEYS_DUE_COST));
    rlt_keys_expire(&t_keys, &t_pool, t_find(1), 50);
    ASSERT(!rlt_keys_is_due(rlt_keys_obj(t_find(1)), 50));
    ASSERT(rlt_keys_first_due(&t_keys, 50) == NULL);
    ASSERT(rlt_keys_is_due(rlt_keys_obj(t_find(1)), 51));
    ASSERT(rlt_keys_first_due(&t_keys, 51) == t_find(1));
    rlt_keys_clear(&t_keys, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST keys_that_end_together_go_in_the_order_they_were_told(void)
{
    int k;

    t_start(1);
    t_begin();
    for (k = 0; k < 50; k++) {
        t_put(k);
        ASSERT(t_promise_open(RLT_KEYS_DUE_COST));
        rlt_keys_expire(&t_keys, &t_pool, t_find(k), 5);
    }
    for (k = 0; k < 50; k++) {
        ASSERT(rlt_keys_first_due(&t_keys, 6) == t_find(k));
        rlt_keys_delete(&t_keys, &t_pool, t_find(k));
    }
    rlt_keys_clear(&t_keys, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST a_watched_key_tells_of_changes_even_when_it_is_not_there(void)
{
    rlt_watch *a, *b, *c;

    t_start(1);
    t_begin();
    ASSERT(t_promise(3 * RLT_KEYS_WATCH_COST(10)));
    a = rlt_keys_watch(&t_keys, &t_pool, t_text("a"));
    b = rlt_keys_watch(&t_keys, &t_pool, t_text("a"));
    c = rlt_keys_watch(&t_keys, &t_pool, t_text("c"));
    ASSERT(a == b && a->watchers == 2);
    ASSERT(t_same(rlt_keys_watched_key(c), t_text("c")));
    rlt_keys_touch(&t_keys, t_text("a"));
    rlt_keys_touch(&t_keys, t_text("b"));
    ASSERT(a->changes == 1 && c->changes == 0);
    rlt_keys_clear(&t_keys, &t_pool);
    ASSERT(a->changes == 1 && c->changes == 0);
    rlt_keys_unwatch(&t_keys, &t_pool, a);
    rlt_keys_touch(&t_keys, t_text("a"));
    ASSERT(b->changes == 2);
    rlt_keys_unwatch(&t_keys, &t_pool, b);
    rlt_keys_unwatch(&t_keys, &t_pool, c);
    ASSERT_EQ(0u, t_keys.watched.count);
    t_lent.refuse = 0;
    ASSERT(t_end());
    PASS();
}

TEST two_databases_can_change_sides(void)
{
    rlt_keys other;
    rlt_watch *w;

    t_start(1);
    t_begin();
    rlt_keys_init(&other);
    t_put(1);
    ASSERT(t_promise(RLT_KEYS_DUE_COST + RLT_KEYS_WATCH_COST(1)));
    rlt_keys_expire(&t_keys, &t_pool, t_find(1), 5);
    w = rlt_keys_watch(&t_keys, &t_pool, t_text("w"));
    rlt_keys_swap(&t_keys, &other);
    ASSERT(rlt_keys_count(&t_keys) == 0 && rlt_keys_count(&other) == 1);
    ASSERT(rlt_keys_next_due(&other) == 5);
    ASSERT(t_keys.watched.count == 1);
    ASSERT(rlt_keys_random(&t_keys, &t_dice) == NULL);
    rlt_keys_unwatch(&t_keys, &t_pool, w);
    rlt_keys_clear(&other, &t_pool);
    rlt_keys_clear(&t_keys, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST an_empty_database_takes_nothing(void)
{
    t_start(1);
    t_begin();
    ASSERT_EQ(0u, t_lent.live);
    ASSERT(sizeof(rlt_pool) + sizeof(rlt_keys) * 16 < 8192);
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_key_space_holds_the_same_keys_as_a_table);
    RUN_TEST(any_allocation_of_a_key_space_may_fail);
    RUN_TEST(a_key_is_there_in_its_last_millisecond);
    RUN_TEST(keys_that_end_together_go_in_the_order_they_were_told);
    RUN_TEST(a_watched_key_tells_of_changes_even_when_it_is_not_there);
    RUN_TEST(two_databases_can_change_sides);
    RUN_TEST(an_empty_database_takes_nothing);
    GREATEST_MAIN_END();
}
