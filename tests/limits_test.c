/* SPDX-License-Identifier: MIT
 *
 * limits_test.c - tests of limits: answers and pushes that are too large,
 * output and operations beyond their maximum. */
#include "peer.h"

#include "greatest.h"

/* ------------------------------------------------------- answers and pushes */

static relet_config t_config_tight(void)
{
    relet_config c = t_config();

    c.reply_max = 1024;
    c.tape_max = 512;
    c.bulk_max = 256;
    c.line_max = 128;
    c.count_max = 64;
    c.depth_max = 4;
    return c;
}

static void t_say_many(t_peer *p, int n, const char *text)
{
    while (n-- > 0)
        t_say(p, text);
}

static void t_say_over(t_peer *p, int which)
{
    switch (which) {
    case 0: /* line_max */
        t_say(p, "+");
        t_say_many(p, 129, "x");
        t_say(p, "\r\n");
        return;
    case 1: /* bulk_max */
        t_say(p, "$257\r\n");
        t_say_many(p, 257, "x");
        t_say(p, "\r\n");
        return;
    case 2: /* count_max */
        t_say(p, "*65\r\n");
        t_say_many(p, 65, ":1\r\n");
        return;
    case 3: /* depth_max */
        t_say_many(p, 5, "*1\r\n");
        t_say(p, ":1\r\n");
        return;
    case 4: /* reply_max */
        t_say(p, "*5\r\n");
        for (which = 0; which < 5; which++) {
            t_say(p, "$250\r\n");
            t_say_many(p, 250, "y");
            t_say(p, "\r\n");
        }
        return;
    case 5: /* tape_max */
        t_say(p, "*40\r\n");
        t_say_many(p, 40, ":1\r\n");
        return;
    default:
        t_die("no such limit");
    }
}

TEST an_answer_over_a_limit_is_an_error_of_that_operation_alone(void)
{
    static const char *const told[] = {
        "error 1 too large: a line of the answer is over line_max",
        "error 1 too large: a string of the answer is over bulk_max",
        "error 1 too large: an aggregate of the answer is over count_max",
        "error 1 too large: the answer is nested over depth_max",
        "error 1 too large: the answer is over reply_max",
        "error 1 too large: the answer is over tape_max"};
    relet_config c = t_config_tight();
    int which;

    for (which = 0; which < 6; which++) {
        t_peer p;

        ASSERT(t_start_with(&p, &c));
        ASSERT(t_up(&p));
        (void)t_ask(&p, 0, 0, "GET", "k");
        (void)t_ask(&p, 1, 0, "GET", "k");
        (void)t_ask(&p, 2, 0, "GET", "k");
        t_move(&p);
        t_say(&p, "+before\r\n");
        t_say_over(&p, which);
        t_say(&p, "+after\r\n");
        T_TOLD(&p, "reply 0 \"before\"");
        T_TOLD(&p, told[which]);
        T_TOLD(&p, "reply 2 \"after\"");
        T_TOLD(&p, "");
        ASSERT_EQ(1, relet_is_up(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_transaction_is_not_sent_behind_a_watch_with_an_answer_over_a_limit(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.accept = strlen(T_WATCH_K);
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    T_TOOK(&p, "WATCH k");
    p.accept = 0;
    t_say_over(&p, 0);
    T_TOLD(&p, "error 1 too large: a line of the answer is over line_max");
    T_TOLD(&p, "not sent 2 watch lost");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_over_a_limit_inside_a_transaction_shifts_nothing(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+OK\r\n");
    t_say_over(&p, 0);
    t_say(&p, "+QUEUED\r\n*2\r\n+x\r\n+y\r\n+k\r\n");
    T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
    T_TOLD(&p, "reply 2 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_late_answer_over_a_limit_is_swallowed(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    (void)relet_cancel(p.r, 1);
    t_say_over(&p, 1);
    t_say(&p, "+right\r\n");
    T_TOLD(&p, "unsure 1 cancelled");
    T_TOLD(&p, "reply 2 \"right\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_over_a_limit_is_a_gap(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_say(&p, ">3\r\n+message\r\n+c\r\n$257\r\n");
    t_say_many(&p, 257, "x");
    t_say(&p, "\r\n");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_inside_an_answer_over_a_limit_is_a_gap(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "*65\r\n>1\r\n:9\r\n");
    t_say_many(&p, 65, ":1\r\n");
    T_TOLD(&p, "error 1 too large: an aggregate of the answer is over "
               "count_max");
    T_TOLD(&p, "gap");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Two regressions: the idle client freed the memory of a frame that was still
 * being skipped; and a frame nested deeper than depth_max by more than one
 * level was a protocol error. */
TEST a_push_over_a_limit_may_stop_in_the_middle_and_go_on(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    c.tape_max = 4096;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_say(&p, ">1\r\n");
    t_say_many(&p, 40, "*1\r\n");
    t_pass(&p, 15000);
    T_TOOK(&p, "PING");
    t_say(&p, ":1\r\n+PONG\r\n");
    T_TOLD(&p, "gap");
    t_pass(&p, 15000);
    T_TOOK(&p, "PING");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ---------------------------------------------------- output and operations */

TEST commands_over_output_max_are_refused(void)
{
    relet_config c = t_config();
    char big[2000];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[1100] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, 0, "GET", big));
    ASSERT_STR_EQ("the command is larger than output_max",
                  relet_refusal(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST output_max_counts_queued_commands(void)
{
    relet_config c = t_config();
    char big[500];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[400] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.accept = 0;
    ASSERT_EQ(0, t_ask(&p, 1, 0, "ECHO", big));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "ECHO", big));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 3, 0, "ECHO", big));
    ASSERT_EQ(2, relet_outstanding(p.r));
    p.accept = (size_t)-1;
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 3, 0, "ECHO", big));
    p.honest = 1;
    t_move(&p);
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST output_max_counts_repeatable_commands_until_their_answers(void)
{
    relet_config c = t_config();
    char big[500];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[400] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "ECHO", big));
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "ECHO", big));
    t_move(&p);
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 3, 0, "ECHO", big));
    p.honest = 1;
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 3, 0, "ECHO", big));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST operations_max_holds_until_outcomes_are_taken(void)
{
    relet_config c = t_config();
    uint64_t i;
    t_peer p;

    c.operations_max = 5;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    for (i = 0; i < 5; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 9, 0, "GET", "k"));
    ASSERT_EQ(1, relet_cancel(p.r, 3));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 9, 0, "GET", "k"));
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 9, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 10, 0, "GET", "k"));
    p.honest = 1;
    t_move(&p);
    for (i = 0; i < 5; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST no_byte_is_read_while_events_wait_to_be_taken(void)
{
    uint8_t *to = NULL;
    relet_stats s;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    p.manual = 1;
    for (i = 0; i < 60; i++)
        ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    for (i = 0; i < 60; i++) {
        t_say(&p, "$1000\r\n");
        t_say_many(&p, 100, "0123456789");
        t_say(&p, "\r\n");
    }
    t_move(&p);
    relet_stats_get(p.r, &s);
    ASSERT_EQ(0, relet_io_space(p.r, 0, &to));
    ASSERT(t_bytes_used(&p.in) > 40000);
    ASSERT(s.memory_peak < 6000);
    p.manual = 0;
    t_move(&p);
    ASSERT_EQ(0, t_bytes_used(&p.in));
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(limits)
{
    RUN_TEST(an_answer_over_a_limit_is_an_error_of_that_operation_alone);
    RUN_TEST(
        a_transaction_is_not_sent_behind_a_watch_with_an_answer_over_a_limit);
    RUN_TEST(an_answer_over_a_limit_inside_a_transaction_shifts_nothing);
    RUN_TEST(a_late_answer_over_a_limit_is_swallowed);
    RUN_TEST(a_push_over_a_limit_is_a_gap);
    RUN_TEST(a_push_inside_an_answer_over_a_limit_is_a_gap);
    RUN_TEST(a_push_over_a_limit_may_stop_in_the_middle_and_go_on);
    RUN_TEST(commands_over_output_max_are_refused);
    RUN_TEST(output_max_counts_queued_commands);
    RUN_TEST(output_max_counts_repeatable_commands_until_their_answers);
    RUN_TEST(operations_max_holds_until_outcomes_are_taken);
    RUN_TEST(no_byte_is_read_while_events_wait_to_be_taken);
}

T_MAIN(limits)
