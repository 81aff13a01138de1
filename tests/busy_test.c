/* SPDX-License-Identifier: MIT
 *
 * busy_test.c - tests of a server that answers BUSY, LOADING or MASTERDOWN:
 * which commands are repeated, when, and which events come. */
#include "peer.h"

#include "greatest.h"

TEST busy_is_the_outcome_of_an_operation_that_may_not_be_repeated(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 1;
    (void)t_ask(&p, 1, 0, "GET", "k");
    T_TOLD(&p, "error 1 BUSY Redis is busy running a script.");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_repeatable_operation_is_repeated_until_the_server_is_not_busy(void)
{
    static const char *const text[] = {"-BUSY x\r\n", "-LOADING x\r\n",
                                       "-MASTERDOWN x\r\n"};
    relet_stats s;
    int i;

    for (i = 0; i < 3; i++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        p.honest = 1;
        p.server.busy = 7;
        p.server.busy_text = text[i];
        (void)t_ask_for(&p, 1, RELET_REPEATABLE, 100000, "GET", "k");
        t_pass(&p, 100000);
        T_TOLD(&p, "reply 1 \"k\"");
        T_TOLD(&p, "");
        relet_stats_get(p.r, &s);
        ASSERT_EQ(7, s.repeated);
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST no_command_goes_out_while_a_busy_server_is_left_alone(void)
{
    relet_time began;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    T_TOOK(&p, "GET k");
    t_say(&p, "-BUSY x\r\n");
    T_TOOK(&p, "");
    (void)t_ask(&p, 2, 0, "GET", "l");
    (void)t_wish(&p, RELET_CHANNEL, "c");
    began = p.now;
    T_TOOK(&p, "");
    t_pass(&p, relet_deadline(p.r) - p.now);
    ASSERT(p.now > began && p.now <= began + 101);
    T_TOOK(&p, "GET k");
    T_TOOK(&p, "GET l");
    T_TOOK(&p, "SUBSCRIBE c");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_server_is_asked_less_and_less_often(void)
{
    relet_time began, longest = 0;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask_for(&p, 1, RELET_REPEATABLE, 10000000, "GET", "k");
    for (i = 0; i < 30; i++) {
        began = p.now;
        while (strcmp(t_took(&p), "GET k") != 0)
            t_pass(&p, 1);
        longest = RLT_MAX(longest, p.now - began);
        ASSERT(longest <= 10002);
        t_say(&p, "-BUSY x\r\n");
        t_move(&p);
    }
    ASSERT(longest > 2000);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* All commands had been sent when the server became busy. */
TEST many_commands_that_a_busy_server_refuses_are_one_wait(void)
{
    relet_time began;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    for (i = 0; i < 30; i++)
        (void)t_ask(&p, (uint64_t)i + 1, RELET_REPEATABLE, "GET", "k");
    for (i = 0; i < 30; i++)
        T_TOOK(&p, "GET k");
    for (i = 0; i < 30; i++)
        t_say(&p, "-BUSY x\r\n");
    T_TOOK(&p, "");
    began = p.now;
    while (strcmp(t_took(&p), "GET k") != 0) {
        ASSERT(p.now <= began + 101);
        t_pass(&p, 1);
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_server_that_was_busy_once_is_asked_soon_the_next_time(void)
{
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    for (i = 0; i < 20; i++) {
        p.server.busy = 1;
        (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
        t_pass(&p, 102);
        T_TOLD(&p, "reply 1 \"k\"");
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_operation_still_ends_with_its_time(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 1000000;
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    t_pass(&p, 5000);
    ASSERT_EQ(0, strncmp(t_told(&p), "not sent 1 timeout", 18) &&
                     strcmp(p.line, "unsure 1 timeout"));
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_repeatable_transaction_is_repeated_when_busy_was_inside(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 3;
    (void)t_unit(&p, 1, RELET_REPEATABLE, "x", "y");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "k");
    t_pass(&p, 2000);
    T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
    T_TOLD(&p, "reply 2 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* EXECABORT ends the WATCH, so no WATCH would guard a second try. */
TEST a_watched_transaction_is_not_repeated_when_busy_was_inside(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    T_TOLD(&p, "reply 1 \"OK\"");
    p.server.busy = 1;
    (void)t_unit(&p, 2, RELET_REPEATABLE, "x", "y");
    T_TOLD(&p, "error 2 BUSY Redis is busy running a script.");
    t_pass(&p, 4000);
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_idle_link_that_was_busy_is_still_found_dead(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY x\r\n");
    t_pass(&p, 30000);
    ASSERT_EQ(0, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(busy)
{
    RUN_TEST(busy_is_the_outcome_of_an_operation_that_may_not_be_repeated);
    RUN_TEST(a_repeatable_operation_is_repeated_until_the_server_is_not_busy);
    RUN_TEST(no_command_goes_out_while_a_busy_server_is_left_alone);
    RUN_TEST(a_busy_server_is_asked_less_and_less_often);
    RUN_TEST(many_commands_that_a_busy_server_refuses_are_one_wait);
    RUN_TEST(a_server_that_was_busy_once_is_asked_soon_the_next_time);
    RUN_TEST(a_busy_operation_still_ends_with_its_time);
    RUN_TEST(a_repeatable_transaction_is_repeated_when_busy_was_inside);
    RUN_TEST(a_watched_transaction_is_not_repeated_when_busy_was_inside);
    RUN_TEST(an_idle_link_that_was_busy_is_still_found_dead);
}

T_MAIN(busy)
