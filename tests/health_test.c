/* SPDX-License-Identifier: MIT
 *
 * health_test.c - tests of a link's health: pings, silence, answers that are
 * late or beat a deadline, and time that stands still or goes back. */
#include "session_rig.h"

#include "greatest.h"

TEST an_idle_link_is_pinged(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 14999);
    T_NEXT_TOOK(&p, "");
    t_pass(&p, 1);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, "+PONG\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 14999);
    T_NEXT_TOOK(&p, "");
    t_pass(&p, 1);
    T_NEXT_TOOK(&p, "PING");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_ping_may_be_answered_by_an_error(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 15000);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, "-NOPERM no ping\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 15000);
    T_NEXT_TOOK(&p, "PING");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_link_that_talks_is_not_pinged(void)
{
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    for (i = 0; i < 20; i++) {
        t_pass(&p, 10000);
        t_say(&p, ">2\r\n+hey\r\n+you\r\n");
        T_TOLD(&p, "pushed <\"hey\" \"you\">");
        T_NEXT_TOOK(&p, "");
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST no_ping_goes_out_while_an_answer_is_due(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 100000, "BLPOP", "q"));
    T_TOOK(&p, "BLPOP q");
    t_pass(&p, 90000);
    T_NEXT_TOOK(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST ping_every_zero_never_pings(void)
{
    relet_config c = t_config();
    t_peer p;

    c.ping_every_ms = 0;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_pass(&p, 10000000);
    T_NEXT_TOOK(&p, "");
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_dead_link_is_found_in_ping_every_and_a_timeout(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 19999);
    ASSERT_EQ(1, relet_is_up(p.r));
    t_pass(&p, 1);
    T_TOLD(&p, "down silent: the server does not answer");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_wait_without_a_limit_is_not_taken_for_death(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, RELET_NEVER, "BLPOP", "q"));
    t_pass(&p, 10000000);
    ASSERT_EQ(1, relet_is_up(p.r));
    t_say(&p, "$1\r\nx\r\n");
    T_TOLD(&p, "reply 1 \"x\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_slow_answer_does_not_cost_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "KEYS", "*"));
    t_pass(&p, 1000);
    T_TOLD(&p, "unsure 1 timeout");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    T_TOLD(&p, "");
    t_say(&p, "+late\r\n+right\r\n");
    T_TOLD(&p, "reply 2 \"right\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: silence was counted from the last byte read, an hour before. */
TEST a_short_timeout_after_a_long_rest_does_not_cost_the_link(void)
{
    relet_config c = t_config();
    t_peer p;

    c.ping_every_ms = 0;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_pass(&p, 3600000);
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "KEYS", "*"));
    t_pass(&p, 1000);
    T_TOLD(&p, "unsure 1 timeout");
    ASSERT_EQ(1, relet_is_up(p.r));
    t_pass(&p, 15000);
    T_TOLD(&p, "down silent: the server does not answer");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression, found by the simulator: bytes counted as heard at the previous
 * tick, which was long ago after the pause. So histories depended on how the
 * bytes were cut. */
TEST a_message_read_after_a_pause_counts_as_heard_now(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, ">2\r\n+NEWS\r\n:1\r\n");
    t_freeze(&p, 25000);
    t_pass(&p, 10000);
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_that_has_arrived_beats_its_deadline(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, "+here\r\n");
    t_freeze(&p, 3600000);
    T_TOLD(&p, "reply 1 \"here\"");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST many_answers_that_are_here_beat_their_deadlines(void)
{
    t_peer p;
    uint64_t i;
    char line[32];

    t_start(&p);
    ASSERT(t_up(&p));
    p.read_max = t_piece ? t_piece : 3;
    for (i = 0; i < 50; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    t_move(&p);
    for (i = 0; i < 50; i++)
        t_say(&p, "+here\r\n");
    t_freeze(&p, 3600000);
    for (i = 0; i < 50; i++) {
        sprintf(line, "reply %lu \"here\"", (unsigned long)i);
        ASSERT_STR_EQ(line, t_told(&p));
    }
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the tombstone in front made a link look dead although an answer
 * had just arrived. */
TEST a_late_answer_that_is_here_after_a_pause_saves_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "GET", "k"));
    t_pass(&p, 20);
    T_TOLD(&p, "unsure 1 timeout");
    t_say(&p, "+late\r\n");
    t_freeze(&p, 3600000);
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_handshake_answer_that_has_arrived_beats_its_deadline(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    p.read_max = 0;
    t_freeze(&p, 3600000);
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST time_that_goes_back_counts_as_standing_still(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    relet_tick(p.r, p.now - 100000);
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    relet_tick(p.r, -5);
    t_pass(&p, 4999);
    T_TOLD(&p, "");
    t_pass(&p, 1);
    T_TOLD(&p, "unsure 1 timeout");
    T_TOLD(&p, "unsure 2 timeout");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_huge_timeout_is_as_good_as_none(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, RELET_NEVER - 1, "BLPOP", "q"));
    t_pass(&p, 100000);
    T_TOLD(&p, "");
    t_say(&p, "+x\r\n");
    T_TOLD(&p, "reply 1 \"x\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(health)
{
    RUN_TEST(an_idle_link_is_pinged);
    RUN_TEST(a_ping_may_be_answered_by_an_error);
    RUN_TEST(a_link_that_talks_is_not_pinged);
    RUN_TEST(no_ping_goes_out_while_an_answer_is_due);
    RUN_TEST(ping_every_zero_never_pings);
    RUN_TEST(a_dead_link_is_found_in_ping_every_and_a_timeout);
    RUN_TEST(a_wait_without_a_limit_is_not_taken_for_death);
    RUN_TEST(a_slow_answer_does_not_cost_the_link);
    RUN_TEST(a_short_timeout_after_a_long_rest_does_not_cost_the_link);
    RUN_TEST(a_message_read_after_a_pause_counts_as_heard_now);
    RUN_TEST(an_answer_that_has_arrived_beats_its_deadline);
    RUN_TEST(many_answers_that_are_here_beat_their_deadlines);
    RUN_TEST(a_late_answer_that_is_here_after_a_pause_saves_the_link);
    RUN_TEST(a_handshake_answer_that_has_arrived_beats_its_deadline);
    RUN_TEST(time_that_goes_back_counts_as_standing_still);
    RUN_TEST(a_huge_timeout_is_as_good_as_none);
}

T_MAIN(health)
