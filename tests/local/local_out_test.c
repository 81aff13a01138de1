/* SPDX-License-Identifier: MIT
 *
 * local_out_test.c - replies as a server writes them. The expected bytes were
 * recorded from Redis 7.0.15.
 */
#include "local_data.h"
#include "out.h"

#include <math.h>

static rlt_out t_out;

static void t_open(int resp)
{
    memset(&t_lent, 0, sizeof t_lent);
    rlt_out_init(&t_out, t_memory(), 100000);
    t_out.resp = resp;
}

/* Compares the bytes written since t_open, and closes. */
static int t_wrote(const char *want)
{
    relet_span got = t_span(rlt_buf_head(&t_out.buf),
                            rlt_buf_used(&t_out.buf));
    int same = t_same(got, t_text(want)) && !t_out.failed;

    if (!same)
        printf("%.*s is not %s\n", (int)got.n, got.p, want);
    rlt_out_free(&t_out);
    return same && t_lent.live == 0;
}

#define T_BOTH(call, resp2, resp3) \
    do {                           \
        t_open(2);                 \
        call;                      \
        ASSERT(t_wrote(resp2));    \
        t_open(3);                 \
        call;                      \
        ASSERT(t_wrote(resp3));    \
    } while (0)

TEST scalars_are_written_as_a_server_does(void)
{
    T_BOTH(rlt_out_int(&t_out, 12345), ":12345\r\n", ":12345\r\n");
    T_BOTH(rlt_out_int(&t_out, INT64_MIN), ":-9223372036854775808\r\n",
           ":-9223372036854775808\r\n");
    T_BOTH(rlt_out_text(&t_out, "Hello World"), "$11\r\nHello World\r\n",
           "$11\r\nHello World\r\n");
    T_BOTH(rlt_out_bulk(&t_out, t_span(NULL, 0)), "$0\r\n\r\n",
           "$0\r\n\r\n");
    T_BOTH(rlt_out_bulk_int(&t_out, -7), "$2\r\n-7\r\n", "$2\r\n-7\r\n");
    T_BOTH(rlt_out_null(&t_out), "$-1\r\n", "_\r\n");
    T_BOTH(rlt_out_null_array(&t_out), "*-1\r\n", "_\r\n");
    T_BOTH(rlt_out_bool(&t_out, 2), ":1\r\n", "#t\r\n");
    T_BOTH(rlt_out_bool(&t_out, 0), ":0\r\n", "#f\r\n");
    T_BOTH(rlt_out_big(&t_out, t_text("1234567999999999999999999")),
           "$25\r\n1234567999999999999999999\r\n",
           "(1234567999999999999999999\r\n");
    T_BOTH(rlt_out_verbatim(&t_out, "txt", t_text("This is\nit")),
           "$10\r\nThis is\nit\r\n", "=14\r\ntxt:This is\nit\r\n");
    T_BOTH(rlt_out_verbatim(&t_out, "m", t_text("")), "$0\r\n\r\n",
           "=4\r\nm  :\r\n");
    PASS();
}

TEST doubles_have_17_digits(void)
{
    T_BOTH(rlt_out_double(&t_out, 3.141), "$5\r\n3.141\r\n", ",3.141\r\n");
    T_BOTH(rlt_out_double(&t_out, 0.1), "$19\r\n0.10000000000000001\r\n",
           ",0.10000000000000001\r\n");
    T_BOTH(rlt_out_double(&t_out, 1e22), "$5\r\n1e+22\r\n", ",1e+22\r\n");
    T_BOTH(rlt_out_double(&t_out, 3), "$1\r\n3\r\n", ",3\r\n");
    T_BOTH(rlt_out_double(&t_out, HUGE_VAL), "$3\r\ninf\r\n", ",inf\r\n");
    T_BOTH(rlt_out_double(&t_out, -HUGE_VAL), "$4\r\n-inf\r\n", ",-inf\r\n");
    PASS();
}

static double t_nan(int minus)
{
    uint64_t bits = (uint64_t)(minus ? 0xfff8 : 0x7ff8) << 48;
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

TEST not_a_number_has_a_sign(void)
{
    T_BOTH(rlt_out_double(&t_out, t_nan(1)), "$4\r\n-nan\r\n", ",-nan\r\n");
    T_BOTH(rlt_out_double(&t_out, t_nan(0)), "$3\r\nnan\r\n", ",nan\r\n");
    PASS();
}

TEST headers_are_flat_in_resp2(void)
{
    T_BOTH(rlt_out_array(&t_out, 3), "*3\r\n", "*3\r\n");
    T_BOTH(rlt_out_map(&t_out, 3), "*6\r\n", "%3\r\n");
    T_BOTH(rlt_out_set(&t_out, 3), "*3\r\n", "~3\r\n");
    T_BOTH(rlt_out_push(&t_out, 2), "*2\r\n", ">2\r\n");
    PASS();
}

TEST no_line_ends_within_a_line(void)
{
    T_BOTH(rlt_out_status(&t_out, "OK"), "+OK\r\n", "+OK\r\n");
    T_BOTH(rlt_out_status_span(&t_out, t_text("\na\nb\n")), "+ a b \r\n",
           "+ a b \r\n");
    T_BOTH(rlt_out_error(&t_out, "ERR x\n\r\ny\r\n"), "-ERR x   y\r\n",
           "-ERR x   y\r\n");
    T_BOTH(rlt_out_error(&t_out, "\r\nERR b"), "-  ERR b\r\n",
           "-  ERR b\r\n");
    T_BOTH(rlt_out_error(&t_out, "\n\n"), "-\r\n", "-\r\n");
    PASS();
}

TEST errors_are_counted(void)
{
    t_open(2);
    rlt_out_error(&t_out, "ERR a");
    rlt_out_status(&t_out, "OK");
    rlt_out_error_span(&t_out, t_text("ERR b"));
    ASSERT_EQ(2u, t_out.errors);
    rlt_out_free(&t_out);
    PASS();
}

static void t_nested(void)
{
    size_t outer, inner;

    rlt_out_raw(&t_out, "+", 1);
    rlt_out_raw(&t_out, "x\r\n", 3);
    outer = rlt_out_later(&t_out);
    rlt_out_int(&t_out, 1);
    inner = rlt_out_later(&t_out);
    rlt_out_later_end(&t_out, inner, '~', 0);
    rlt_out_int(&t_out, 2);
    rlt_out_later_end(&t_out, outer, '%', 12);
}

TEST a_header_can_come_later(void)
{
    T_BOTH(t_nested(), "+x\r\n*24\r\n:1\r\n*0\r\n:2\r\n",
           "+x\r\n%12\r\n:1\r\n~0\r\n:2\r\n");
    PASS();
}

static void t_write_all(void)
{
    static char large[3000];
    size_t mark = rlt_out_later(&t_out);

    rlt_out_int(&t_out, 5);
    rlt_out_bulk(&t_out, t_span(large, sizeof large));
    rlt_out_error(&t_out, "ERR");
    rlt_out_verbatim(&t_out, "txt", t_span(large, 20));
    rlt_out_later_end(&t_out, mark, '*', 4);
}

TEST without_memory_the_reply_is_broken_off(void)
{
    size_t max;
    long i;

    for (i = 1; i < 6; i++) {
        t_open(3);
        t_lent.fail_at = i;
        t_write_all();
        ASSERT(t_out.failed || t_lent.calls < i);
        rlt_out_free(&t_out);
        ASSERT_EQ(0u, t_lent.live);
    }
    for (max = 0; max < 3100; max++) {
        memset(&t_lent, 0, sizeof t_lent);
        rlt_out_init(&t_out, t_memory(), max);
        t_out.resp = 3;
        t_write_all();
        ASSERT_EQ(max < 4 + 4 + 3009 + 6 + 31, t_out.failed);
        rlt_out_free(&t_out);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(scalars_are_written_as_a_server_does);
    RUN_TEST(doubles_have_17_digits);
    RUN_TEST(not_a_number_has_a_sign);
    RUN_TEST(headers_are_flat_in_resp2);
    RUN_TEST(no_line_ends_within_a_line);
    RUN_TEST(errors_are_counted);
    RUN_TEST(a_header_can_come_later);
    RUN_TEST(without_memory_the_reply_is_broken_off);
    GREATEST_MAIN_END();
}
