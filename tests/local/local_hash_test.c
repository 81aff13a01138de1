/* SPDX-License-Identifier: MIT
 *
 * local_hash_test.c - fields with values, against arrays.
 */
#include "local_data.h"
#include "hash.h"

#define T_FIELDS 700

static rlt_hash t_hash;
static int t_order[T_FIELDS], t_values[T_FIELDS];
static uint32_t t_count;

static relet_span t_number(char *out, int k)
{
    return t_span(out, (size_t)snprintf(out, 20, "%d", k));
}

static int t_right(void)
{
    char a[20], b[20];
    const rlt_entry *e = t_hash.fields.first;
    uint32_t i;

    for (i = 0; i < t_count; i++, e = e->next)
        if (e == NULL ||
            !t_same(rlt_entry_key(e), t_number(a, t_order[i])) ||
            !t_same(rlt_hash_value(e), t_number(b, t_values[t_order[i]])))
            return 0;
    return e == NULL && t_hash.fields.count == t_count;
}

static int t_step(uint32_t fields)
{
    char a[20], b[20];
    int k = (int)t_below(fields);
    relet_span field = t_number(a, k), value = t_number(b, (int)t_below(999));
    rlt_entry *e = rlt_hash_find(&t_hash, field);
    uint32_t i = 0;

    if (t_below(3) == 0) {
        if (e == NULL)
            return 1;
        rlt_hash_remove(&t_hash, &t_pool, e);
        while (t_order[i] != k)
            i++;
        t_count--;
        memmove(t_order + i, t_order + i + 1, (t_count - i) * sizeof(int));
        return rlt_hash_find(&t_hash, field) == NULL;
    }
    if (!t_any_promise(RLT_HASH_COST(field.n, value.n)))
        return 1;
    if (rlt_hash_set(&t_hash, &t_pool, field, value) != (e == NULL))
        return 0;
    if (e == NULL)
        t_order[t_count++] = k;
    t_values[k] = atoi(b);
    return 1;
}

static int t_steps(uint32_t fields, int n)
{
    int i, ok = 1;

    rlt_hash_init(&t_hash);
    t_count = 0;
    for (i = 0; i < n && ok; i++)
        ok = t_step(fields) && (i % 10 || t_right());
    t_lent.refuse = 0;
    rlt_hash_clear(&t_hash, &t_pool);
    return ok;
}

TEST a_hash_holds_the_same_fields_as_plain_arrays(void)
{
    uint64_t seed;

    for (seed = 1; seed < 8; seed++) {
        t_start(seed);
        ASSERT(t_steps(seed % 2 ? 8 : T_FIELDS, 3000));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(100, 600);
}

TEST any_allocation_of_a_hash_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

TEST a_value_may_be_set_to_itself(void)
{
    relet_span f = t_text("f");

    t_start(1);
    rlt_hash_init(&t_hash);
    ASSERT(t_promise(2 * RLT_HASH_COST(1, 5)));
    ASSERT_EQ(1, rlt_hash_set(&t_hash, &t_pool, f, t_text("value")));
    ASSERT_EQ(0, rlt_hash_set(&t_hash, &t_pool, f,
                              rlt_hash_value(rlt_hash_find(&t_hash, f))));
    ASSERT(t_same(rlt_hash_value(rlt_hash_find(&t_hash, f)),
                  t_text("value")));
    rlt_hash_clear(&t_hash, &t_pool);
    ASSERT(t_end());
    PASS();
}

static int t_large_after(uint32_t fields, size_t field, size_t value)
{
    static char bytes[100];
    char a[20];
    uint32_t i;
    int large;

    t_start(1);
    rlt_hash_init(&t_hash);
    if (!t_promise_open(1000 * RLT_HASH_COST(100, 100)))
        return -1;
    for (i = 0; i + 1 < fields; i++)
        rlt_hash_set(&t_hash, &t_pool, t_number(a, (int)i), t_text("v"));
    rlt_hash_set(&t_hash, &t_pool, t_span(bytes, field), t_span(bytes, value));
    large = t_hash.large;
    rlt_hash_clear(&t_hash, &t_pool);
    return t_end() ? large : -1;
}

TEST a_hash_turns_large_where_servers_do(void)
{
    ASSERT_EQ(0, t_large_after(512, 5, 5));
    ASSERT_EQ(1, t_large_after(513, 5, 5));
    ASSERT_EQ(0, t_large_after(1, 64, 64));
    ASSERT_EQ(1, t_large_after(1, 65, 5));
    ASSERT_EQ(1, t_large_after(1, 5, 65));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_hash_holds_the_same_fields_as_plain_arrays);
    RUN_TEST(any_allocation_of_a_hash_may_fail);
    RUN_TEST(a_value_may_be_set_to_itself);
    RUN_TEST(a_hash_turns_large_where_servers_do);
    GREATEST_MAIN_END();
}
