/* SPDX-License-Identifier: MIT
 *
 * cmd_test.c - tests of the encoder: argv to a RESP command, byte for byte. */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

enum { T_ARGS = 128 };

static uint8_t t_out[1 << 17];
static char t_payload[65536 + 1];

static relet_span t_span(const char *p, size_t n)
{
    relet_span s;

    s.p = p;
    s.n = n;
    return s;
}

/* Writes a command into t_out between guards. Returns 1 if size and end agree
 * and both guards are unchanged. */
static int t_write(const relet_span *argv, size_t argc, size_t *size)
{
    uint8_t *end;

    *size = rlt_cmd_size(argv, argc);
    if (*size == 0 || *size + 16 > sizeof t_out)
        return 0;
    memset(t_out, 0xee, *size + 16);
    end = rlt_cmd_write(t_out + 8, argv, argc);
    return end == t_out + 8 + *size && t_out[7] == 0xee && *end == 0xee;
}

static int t_is(const relet_span *argv, size_t argc, const char *want,
                size_t n)
{
    size_t size;

    return t_write(argv, argc, &size) && size == n &&
           memcmp(t_out + 8, want, n) == 0;
}

#define T_IS(argv, argc, want) t_is(argv, argc, want, sizeof(want) - 1)

/* ------------------------------------------------------------- what is sent */

TEST w1_a_lone_word(void)
{
    relet_span argv[1];

    argv[0] = relet_str("PING");
    ASSERT(T_IS(argv, 1, "*1\r\n$4\r\nPING\r\n"));
    PASS();
}

TEST w2_an_empty_argument_is_sent_as_one(void)
{
    relet_span argv[3];

    argv[0] = relet_str("SET");
    argv[1] = relet_str("k");
    argv[2] = t_span(NULL, 0);
    ASSERT(T_IS(argv, 3, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"));
    PASS();
}

TEST w3_any_byte_may_stand_in_an_argument(void)
{
    relet_span argv[3];

    argv[0] = relet_str("SET");
    argv[1] = relet_str("k");
    argv[2] = t_span("a\0\r\nb\xff", 6);
    ASSERT(T_IS(argv, 3,
                "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$6\r\na\0\r\nb\xff\r\n"));
    PASS();
}

TEST w4_the_count_has_as_many_digits_as_it_needs(void)
{
    static const size_t counts[] = {1, 9, 10, 11, 99, 100, 101};
    relet_span argv[T_ARGS];
    char head[16];
    size_t i, size;

    for (i = 0; i < T_ARGS; i++)
        argv[i] = relet_str("a");
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        ASSERT(t_write(argv, counts[i], &size));
        sprintf(head, "*%u\r\n$1\r\na\r\n", (unsigned)counts[i]);
        ASSERT_EQ(0, memcmp(t_out + 8, head, strlen(head)));
        ASSERT_EQ(strlen(head) + (counts[i] - 1) * 7, size);
    }
    PASS();
}

TEST w5_lengths_change_their_digits_at_each_power_of_ten(void)
{
    static const size_t sizes[] = {0,   1,    9,    10,   11,    99,
                                   100, 101,  999,  1000, 9999,  10000,
                                   16384, 65535, 65536};
    relet_span argv[1];
    char head[16];
    size_t i, n, size;

    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        argv[0] = t_span(t_payload, sizes[i]);
        ASSERT(t_write(argv, 1, &size));
        n = (size_t)sprintf(head, "*1\r\n$%u\r\n", (unsigned)sizes[i]);
        ASSERT_EQ(n + sizes[i] + 2, size);
        ASSERT_EQ(0, memcmp(t_out + 8, head, n));
        ASSERT_EQ(0, memcmp(t_out + 8 + n, t_payload, sizes[i]));
        ASSERT_EQ(0, memcmp(t_out + 8 + n + sizes[i], "\r\n", 2));
    }
    PASS();
}

TEST w6_the_smallest_integer_is_twenty_bytes(void)
{
    relet_span argv[1];

    argv[0] = relet_str("-9223372036854775808");
    ASSERT(T_IS(argv, 1, "*1\r\n$20\r\n-9223372036854775808\r\n"));
    PASS();
}

TEST every_short_length_is_copied_whole(void)
{
    relet_span argv[2];
    char want[256];
    size_t n, at;

    for (n = 0; n < 100; n++) {
        argv[0] = t_span(t_payload + 1, n);
        argv[1] = t_span("z", 1);
        at = (size_t)sprintf(want, "*2\r\n$%u\r\n", (unsigned)n);
        memcpy(want + at, t_payload + 1, n);
        memcpy(want + at + n, "\r\n$1\r\nz\r\n", 9);
        ASSERT(t_is(argv, 2, want, at + n + 9));
    }
    PASS();
}

/* ---------------------------------------------------------- what is refused */

TEST w7_no_argument_is_refused(void)
{
    ASSERT_EQ(0, rlt_cmd_size(NULL, 0));
    PASS();
}

/* The limit of 16 384 bytes before AUTH is one of the server's session, not of
 * the encoder. */
TEST w8_an_argument_longer_than_any_server_takes_is_refused(void)
{
    relet_span argv[2];

    argv[0] = relet_str("SET");
    argv[1] = t_span(t_payload, 536870912);
    ASSERT_EQ(4 + 9 + 12 + 536870912u + 2, rlt_cmd_size(argv, 2));
    argv[1].n++;
    ASSERT_EQ(0, rlt_cmd_size(argv, 2));
    argv[1].n = SIZE_MAX;
    ASSERT_EQ(0, rlt_cmd_size(argv, 2));
    PASS();
}

TEST w9_a_command_is_measured_before_a_byte_of_it_is_written(void)
{
    relet_span argv[3];

    memset(t_out, 0xee, 64);
    argv[0] = relet_str("SET");
    argv[1] = relet_str("k");
    argv[2] = t_span(t_payload, (size_t)536870912 + 1);
    ASSERT_EQ(0, rlt_cmd_size(argv, 3));
    ASSERT_EQ(0xee, t_out[0]);
    PASS();
}

TEST a_sum_over_size_t_is_refused(void)
{
    static relet_span argv[16];
    size_t i;

    for (i = 0; i < 16; i++)
        argv[i] = t_span(t_payload, 536870912);
    if (SIZE_MAX > 0xffffffffu)
        ASSERT(rlt_cmd_size(argv, 16) > (size_t)16 * 536870912);
    else
        ASSERT_EQ(0, rlt_cmd_size(argv, 16));
    PASS();
}

TEST a_command_in_two_parts_is_the_same_as_in_one(void)
{
    relet_span argv[T_ARGS];
    size_t heads, size;
    uint8_t *end;

    for (heads = 0; heads < T_ARGS; heads++)
        argv[heads] = t_span(t_payload, heads);
    size = rlt_cmd_size(argv, T_ARGS);
    rlt_cmd_write(t_out, argv, T_ARGS);
    for (heads = 1; heads <= T_ARGS; heads++) {
        ASSERT_EQ(size, rlt_cmd_size_of(argv, heads, argv + heads,
                                        T_ARGS - heads));
        end = rlt_cmd_write_of(t_out + size, argv, heads, argv + heads,
                               T_ARGS - heads);
        ASSERT_EQ(t_out + size * 2, end);
        ASSERT_EQ(0, memcmp(t_out, t_out + size, size));
    }
    PASS();
}

TEST the_bytes_of_a_gap_are_left_as_they_are(void)
{
    relet_span argv[3];
    size_t size, i;

    argv[0] = relet_str("EVAL");
    argv[1] = t_span(NULL, 33);
    argv[2] = relet_str("0");
    ASSERT(t_write(argv, 3, &size));
    ASSERT(memcmp(t_out + 8, "*3\r\n$4\r\nEVAL\r\n$33\r\n", 19) == 0);
    for (i = 0; i < 33; i++)
        ASSERT_EQ(0xee, t_out[8 + 19 + i]);
    ASSERT(memcmp(t_out + 8 + 52, "\r\n$1\r\n0\r\n", 9) == 0);
    PASS();
}

TEST a_command_in_two_parts_is_refused_for_either(void)
{
    relet_span head[1], argv[1];

    head[0] = relet_str("SET");
    argv[0] = t_span(t_payload, (size_t)536870912 + 1);
    ASSERT_EQ(0, rlt_cmd_size_of(head, 1, argv, 1));
    ASSERT_EQ(0, rlt_cmd_size_of(argv, 1, head, 1));
    ASSERT_EQ(0, rlt_cmd_size_of(head, 1, head, 2147483647));
    PASS();
}

TEST more_arguments_than_servers_parse_are_refused(void)
{
    relet_span argv[1];

    argv[0] = relet_str("a");
    ASSERT_EQ(0, rlt_cmd_size(argv, (size_t)2147483647 + 1));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; i < sizeof t_payload; i++)
        t_payload[i] = (char)(i * 7 % 251);
    GREATEST_MAIN_BEGIN();
    RUN_TEST(w1_a_lone_word);
    RUN_TEST(w2_an_empty_argument_is_sent_as_one);
    RUN_TEST(w3_any_byte_may_stand_in_an_argument);
    RUN_TEST(w4_the_count_has_as_many_digits_as_it_needs);
    RUN_TEST(w5_lengths_change_their_digits_at_each_power_of_ten);
    RUN_TEST(w6_the_smallest_integer_is_twenty_bytes);
    RUN_TEST(every_short_length_is_copied_whole);
    RUN_TEST(w7_no_argument_is_refused);
    RUN_TEST(w8_an_argument_longer_than_any_server_takes_is_refused);
    RUN_TEST(w9_a_command_is_measured_before_a_byte_of_it_is_written);
    RUN_TEST(a_sum_over_size_t_is_refused);
    RUN_TEST(a_command_in_two_parts_is_the_same_as_in_one);
    RUN_TEST(the_bytes_of_a_gap_are_left_as_they_are);
    RUN_TEST(a_command_in_two_parts_is_refused_for_either);
    RUN_TEST(more_arguments_than_servers_parse_are_refused);
    GREATEST_MAIN_END();
}
