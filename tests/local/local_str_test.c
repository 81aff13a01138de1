/* SPDX-License-Identifier: MIT
 *
 * local_str_test.c - strings of bytes in the pool.
 */
#include "local_data.h"
#include "str.h"

static int t_resizes(void)
{
    static char model[60000];
    rlt_str *s;
    size_t n = 0, want;
    int i, ok = 1;

    if (!t_any_promise(RLT_STR_COST(0)))
        return 1;
    s = rlt_str_new(&t_pool, t_span(NULL, 0));
    for (i = 0; i < 200 && ok; i++) {
        want = t_below(4) ? n + t_below(40) : t_below(50000);
        if (!t_any_promise(RLT_STR_RESIZE_COST(want)))
            continue;
        s = rlt_str_resize(&t_pool, s, want);
        if (want > n)
            memset(model + n, 0, want - n);
        n = want;
        ok = t_same(rlt_str_span(s), t_span(model, n)) &&
             rlt_str_size(s) >= n;
        if (n > 0)
            s->p[n - 1] = model[n - 1] = (char)i;
    }
    rlt_str_free(&t_pool, s);
    return ok;
}

TEST bytes_stay_and_new_ones_are_zero(void)
{
    uint64_t seed;

    for (seed = 1; seed < 20; seed++) {
        t_start(seed);
        ASSERT(t_resizes());
        t_lent.refuse = 0;
        ASSERT(t_end());
    }
    PASS();
}

TEST any_allocation_of_a_string_may_fail(void)
{
    ASSERT(t_with_each_failure(t_resizes, 2));
    PASS();
}

TEST appending_byte_by_byte_copies_rarely(void)
{
    rlt_str *s, *was;
    int moves = 0;
    size_t i;

    t_start(1);
    ASSERT(t_promise_open(RLT_STR_COST(0)));
    s = rlt_str_new(&t_pool, t_span("", 0));
    for (i = 1; i <= 10000; i++) {
        ASSERT(t_promise_open(RLT_STR_RESIZE_COST(i)));
        was = s;
        s = rlt_str_resize(&t_pool, s, i);
        moves += s != was;
    }
    ASSERT(moves < 30);
    rlt_str_free(&t_pool, s);
    rlt_str_free(&t_pool, NULL);
    ASSERT(t_end());
    PASS();
}

TEST bytes_compare_unsigned_and_a_beginning_comes_first(void)
{
    ASSERT(rlt_str_compare(t_text("a"), t_text("b")) < 0);
    ASSERT(rlt_str_compare(t_text("\xff"), t_text("a")) > 0);
    ASSERT(rlt_str_compare(t_text("a"), t_text("ab")) < 0);
    ASSERT(rlt_str_compare(t_text("ab"), t_text("a")) > 0);
    ASSERT(rlt_str_compare(t_span(NULL, 0), t_text("a")) < 0);
    ASSERT_EQ(0, rlt_str_compare(t_span("a\0b", 3), t_span("a\0b", 3)));
    ASSERT_EQ(0, rlt_str_compare(t_span(NULL, 0), t_text("")));
    PASS();
}

static int t_is_int(const char *text, int64_t want)
{
    int64_t v = 0;

    return rlt_str_int(t_text(text), &v) && v == want;
}

TEST an_integer_has_one_form(void)
{
    static const char *const not[] = {"",   "-",   "+1", "01", "-0", "-01",
                                      "1 ", " 1",  "1a", "00", "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    int64_t v = 7;
    size_t i;

    ASSERT(t_is_int("0", 0));
    ASSERT(t_is_int("-1", -1));
    ASSERT(t_is_int("10", 10));
    ASSERT(t_is_int("9223372036854775807", INT64_MAX));
    ASSERT(t_is_int("-9223372036854775808", INT64_MIN));
    for (i = 0; i < sizeof not / sizeof not[0]; i++)
        ASSERT(!rlt_str_int(t_text(not[i]), &v));
    ASSERT_EQ(7, v);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(bytes_stay_and_new_ones_are_zero);
    RUN_TEST(any_allocation_of_a_string_may_fail);
    RUN_TEST(appending_byte_by_byte_copies_rarely);
    RUN_TEST(bytes_compare_unsigned_and_a_beginning_comes_first);
    RUN_TEST(an_integer_has_one_form);
    GREATEST_MAIN_END();
}
