/* SPDX-License-Identifier: MIT
 *
 * session_test.c - tests of a link's life: a server that loads or is busy, the
 * loss of the link, back-off and the next attempt, stop. */
#include "session_rig.h"

#include "greatest.h"

/* ---------------------------------------------- a busy or loading server */

TEST loading_is_waited_out_on_the_same_link_and_told_once(void)
{
    t_peer p;
    int i;

    t_start(&p);
    for (i = 0; i < 5; i++) {
        t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING Redis is "
                                      "loading the dataset in memory\r\n");
        if (i == 0)
            ASSERT_STR_EQ("down busy: LOADING Redis is loading the dataset "
                          "in memory", t_told(&p));
        ASSERT_STR_EQ("", t_told(&p));
        t_pass(&p, 1600);
    }
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(1, p.opens);
    ASSERT_EQ(0, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST every_busy_word_in_every_step_is_waited_out(void)
{
    static const char *const word[] = {
        "-LOADING later\r\n", "-BUSY later\r\n", "-MASTERDOWN later\r\n"};
    static const char *const good[] = {T_HELLO_SAYS, "+OK\r\n", "+OK\r\n",
                                       "+OK\r\n", "+OK\r\n", "+PONG\r\n"};
    size_t w, step, i;

    for (w = 0; w < 3; w++)
        for (step = 0; step < 6; step++) {
            t_peer p;

            t_start_named(&p);
            t_move(&p);
            t_bytes_clear(&p.out);
            for (i = 0; i < 6; i++)
                t_say(&p, i == step ? word[w] : good[i]);
            t_move(&p);
            ASSERT_EQ(0, strncmp("down busy: ", t_told(&p), 11));
            t_pass(&p, 200);
            T_NEXT_TOOK(&p, "HELLO 3 AUTH ann sesame SETNAME worker-1");
            ASSERT_EQ(1, p.opens);
            for (i = 0; i < 6; i++)
                t_say(&p, good[i]);
            T_TOLD(&p, "up redis 7.0.15");
            ASSERT_EQ(0, t_end(&p));
        }
    PASS();
}

TEST a_subscription_refused_as_busy_in_the_handshake_is_repeated(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "b"));
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
                     ">3\r\n+subscribe\r\n+a\r\n:1\r\n"
                     "-BUSY later\r\n+PONG\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "down busy: BUSY later");
    t_pass(&p, 200);
    t_took(&p);
    t_took(&p);
    t_took(&p);
    T_NEXT_TOOK(&p, "SUBSCRIBE b");
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
              ">3\r\n+subscribe\r\n+b\r\n:2\r\n+PONG\r\n");
    T_TOLD(&p, "subscribed channel b");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_server_ends_no_subscription_and_confirms_none_again(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
                     ">3\r\n+subscribe\r\n+a\r\n:1\r\n-LOADING later\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, ">3\r\n+message\r\n+a\r\n$2\r\nhi\r\n");
    T_TOLD(&p, "message channel a \"hi\"");
    t_pass(&p, 200);
    t_took(&p);
    t_took(&p);
    t_took(&p);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    t_say(&p, ">3\r\n+message\r\n+a\r\n$2\r\nho\r\n");
    T_TOLD(&p, "message channel a \"ho\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_during_the_wait_for_a_loading_server_breaks_the_link(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, "-ERR going away\r\n");
    T_TOLD(&p, "");
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_stray_answer_over_a_limit_breaks_a_link_that_waits_for_busy(void)
{
    t_peer p;
    int i;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, "*513\r\n");
    for (i = 0; i < 513; i++)
        t_say(&p, ":1\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ---------------------------------------------------------------- backoff */

/* Full jitter: a pause is between 0 and a bound that doubles up to the cap. */
TEST backoff_stays_under_a_bound_that_doubles(void)
{
    static const relet_time bound[] = {100,  200,  400,  800,   1600,
                                       3200, 6400, 10000, 10000, 10000};
    relet_time most[10] = {0}, least[10];
    int seed, i;

    for (i = 0; i < 10; i++)
        least[i] = RELET_NEVER;
    for (seed = 1; seed <= 60; seed++) {
        relet_config c = t_config();
        t_peer p;

        c.seed = (uint64_t)seed;
        ASSERT(t_start_with(&p, &c));
        p.no = "no";
        for (i = 0; i < 10; i++) {
            while (t_bytes_used(&p.log) == 0)
                t_turn(&p), p.now++;
            t_bytes_clear(&p.log);
            ASSERT(p.retry_ms >= 0 && p.retry_ms <= bound[i]);
            most[i] = RLT_MAX(most[i], p.retry_ms);
            least[i] = RLT_MIN(least[i], p.retry_ms);
        }
        ASSERT_EQ(0, t_end(&p));
    }
    for (i = 0; i < 10; i++) {
        ASSERT(most[i] > bound[i] * 8 / 10);
        ASSERT(least[i] < bound[i] * 2 / 10);
    }
    PASS();
}

TEST the_next_attempt_comes_after_the_announced_delay(void)
{
    t_peer p;
    relet_time retry;

    t_start(&p);
    p.no = "no";
    t_pass(&p, 0);
    while (p.opens < 6)
        t_pass(&p, 1);
    t_bytes_clear(&p.log);
    retry = p.retry_ms;
    ASSERT(retry > 1);
    t_pass(&p, retry - 1);
    ASSERT_EQ(6, p.opens);
    t_pass(&p, 1);
    ASSERT_EQ(7, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static relet_time t_longest_retry(relet_time lived, int links)
{
    relet_time longest = 0;
    t_peer p;
    int i;

    t_start(&p);
    for (i = 0; i < links; i++) {
        if (!t_up(&p))
            t_die("the client did not come up");
        p.honest = 1;
        t_pass(&p, lived);
        p.honest = 0;
        t_break(&p);
        longest = RLT_MAX(longest, p.retry_ms);
    }
    (void)t_end(&p);
    return longest;
}

TEST a_link_that_lived_long_resets_the_backoff(void)
{
    ASSERT(t_longest_retry(10000, 30) <= 100);
    PASS();
}

TEST a_link_that_lived_short_does_not_reset_the_backoff(void)
{
    ASSERT(t_longest_retry(9800, 30) > 1000);
    PASS();
}

TEST stubborn_refusals_are_retried_slowly(void)
{
    static const char *const said[] = {
        "-WRONGPASS no\r\n", "-NOPROTO no\r\n", "HTTP/1.1 200 OK\r\n",
        T_HELLO_SAYS "+OK\r\n+OK\r\n-ERR no ping\r\n"};
    size_t i;

    for (i = 0; i < sizeof said / sizeof said[0]; i++) {
        t_peer p;

        t_start(&p);
        t_greet_with(&p, said[i]);
        ASSERT(t_bytes_used(&p.log) > 0);
        ASSERT(p.retry_ms >= 5000 && p.retry_ms <= 10000);
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST attempts_max_gives_up_and_ends_every_operation(void)
{
    relet_config c = t_config();
    t_peer p;

    c.attempts_max = 3;
    ASSERT(t_start_with(&p, &c));
    p.no = "refused";
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "GET", "k"));
    t_pass(&p, 1000);
    T_TOLD(&p, "down connect: refused");
    T_TOLD(&p, "down connect: refused");
    T_TOLD(&p, "down connect: refused");
    ASSERT_EQ(RELET_NEVER, p.retry_ms);
    T_TOLD(&p, "not sent 1 gave up");
    T_TOLD(&p, "not sent 2 gave up");
    T_TOLD(&p, "");
    ASSERT_EQ(3, p.opens);
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(RELET_E_STOPPED, t_ask(&p, 3, 0, "GET", "k"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST giving_up_after_a_broken_link_ends_sent_operations_unsure(void)
{
    relet_config c = t_config();
    t_peer p;

    c.attempts_max = 1;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "GET", "k"));
    t_move(&p);
    p.accept = 0;
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "GET", "k"));
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "unsure 1 gave up");
    T_TOLD(&p, "not sent 2 gave up");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST equal_seeds_behave_the_same(void)
{
    t_peer a, b;
    int i;

    t_start(&a);
    t_start(&b);
    a.no = b.no = "no";
    for (i = 0; i < 20; i++) {
        t_pass(&a, 777);
        t_pass(&b, 777);
        ASSERT_EQ(relet_deadline(a.r), relet_deadline(b.r));
        ASSERT_EQ(a.retry_ms, b.retry_ms);
        ASSERT_EQ(a.opens, b.opens);
    }
    ASSERT_EQ(0, t_end(&a));
    ASSERT_EQ(0, t_end(&b));
    PASS();
}

/* ------------------------------------------------------------------- stop */

TEST stop_before_the_first_tick_asks_for_nothing(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(RELET_NEVER, p.retry_ms);
    T_TOLD(&p, "not sent 1 stopped");
    T_TOLD(&p, "");
    ASSERT_EQ(0, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_while_opening_closes_the_link_being_opened(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.opens);
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_during_the_handshake_closes_the_link(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, p.open);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_while_the_server_is_busy_closes_the_link(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_with_everything_under_way_ends_each_operation_once(void)
{
    t_peer p;
    int script;

    t_start(&p);
    script = relet_script_add(p.r, relet_str("return ARGV[1]"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    ASSERT_EQ(0, t_unit(&p, 3, RELET_REPEATABLE, "x", "y"));
    ASSERT_EQ(0, t_run(&p, 4, 0, script, "k"));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 20);
    T_TOLD(&p, "unsure 1 timeout");
    p.accept = 5;
    ASSERT_EQ(0, t_ask(&p, 5, 0, "GET", "partly"));
    ASSERT_EQ(0, t_ask(&p, 6, RELET_REPEATABLE, "GET", "unsent"));
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    T_TOLD(&p, "unsure 2 stopped");
    T_TOLD(&p, "unsure 3 stopped");
    T_TOLD(&p, "unsure 4 stopped");
    T_TOLD(&p, "not sent 5 stopped");
    T_TOLD(&p, "not sent 6 stopped");
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(RELET_E_STOPPED, t_ask(&p, 7, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_STOPPED, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(RELET_E_STOPPED, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stopping_twice_is_stopping_once(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    relet_stop(p.r);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    relet_stop(p.r);
    T_TOLD(&p, "");
    t_pass(&p, 100000);
    T_TOLD(&p, "");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the client forgot a close that it had decided on between two
 * turns of the driver. */
TEST stop_does_not_forget_a_close_that_is_still_to_be_asked_for(void)
{
    relet_event ev;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+stray\r\n");
    while (t_read(&p))
        continue;
    ASSERT(relet_next(p.r, &ev));
    ASSERT_EQ(RELET_WHY_PROTOCOL, ev.why);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------- the closing */

TEST answers_before_a_close_are_all_told(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 3, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, "+one\r\n+two\r\n+thr");
    t_hang_up(&p);
    T_TOLD(&p, "reply 1 \"one\"");
    T_TOLD(&p, "reply 2 \"two\"");
    T_TOLD(&p, "down closed: the server closed");
    T_TOLD(&p, "unsure 3 broken");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST after_a_close_by_the_server_the_driver_is_not_asked_to_close(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed");
    ASSERT_EQ(0, p.closes);
    t_pass(&p, 200);
    ASSERT_EQ(2, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: a driver's second close of a link closed its successor. */
TEST a_close_told_late_does_not_hurt_the_next_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+stray\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    relet_io_closed(p.r, 0, 104, "reset");
    t_pass(&p, 10000);
    ASSERT_EQ(2, p.opens);
    ASSERT_STR_EQ("HELLO 3", t_took(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_link_lost_while_opening_is_told(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_move(&p);
    p.asked = 0;
    relet_io_closed(p.r, 0, 104, "reset early");
    T_TOLD(&p, "down closed: reset early");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------- unrequested errors */

TEST an_unrequested_error_is_reported_when_the_link_closes(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "-ERR Closing for maintenance\r\n");
    T_TOLD(&p, "");
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed: ERR Closing for "
               "maintenance");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_last_error_on_one_link_is_not_reported_for_the_next_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "-ERR Closing for maintenance\r\n");
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed: ERR Closing for "
               "maintenance");
    t_pass(&p, 200);
    ASSERT(t_up(&p));
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_stray_answer_costs_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_without_an_operation_counts_as_a_protocol_error(void)
{
    relet_stats stats;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    relet_stats_get(p.r, &stats);
    ASSERT_EQ(1, stats.protocol_errors);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_offset_of_a_protocol_error_counts_the_whole_link(void)
{
    relet_stats stats;
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, ":1x\r\n");
    T_TOLD(&p, "down protocol: the server does not speak RESP: not a 64-bit "
               "integer, at byte 86 of what it sent");
    T_TOLD(&p, "unsure 1 broken");
    relet_stats_get(p.r, &stats);
    ASSERT_EQ(1, stats.protocol_errors);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(session)
{
    RUN_TEST(an_unrequested_error_is_reported_when_the_link_closes);
    RUN_TEST(the_last_error_on_one_link_is_not_reported_for_the_next_link);
    RUN_TEST(a_stray_answer_costs_the_link);
    RUN_TEST(an_answer_without_an_operation_counts_as_a_protocol_error);
    RUN_TEST(the_offset_of_a_protocol_error_counts_the_whole_link);
    RUN_TEST(loading_is_waited_out_on_the_same_link_and_told_once);
    RUN_TEST(every_busy_word_in_every_step_is_waited_out);
    RUN_TEST(a_subscription_refused_as_busy_in_the_handshake_is_repeated);
    RUN_TEST(a_busy_server_ends_no_subscription_and_confirms_none_again);
    RUN_TEST(an_answer_during_the_wait_for_a_loading_server_breaks_the_link);
    RUN_TEST(a_stray_answer_over_a_limit_breaks_a_link_that_waits_for_busy);
    RUN_TEST(backoff_stays_under_a_bound_that_doubles);
    RUN_TEST(the_next_attempt_comes_after_the_announced_delay);
    RUN_TEST(a_link_that_lived_long_resets_the_backoff);
    RUN_TEST(a_link_that_lived_short_does_not_reset_the_backoff);
    RUN_TEST(stubborn_refusals_are_retried_slowly);
    RUN_TEST(attempts_max_gives_up_and_ends_every_operation);
    RUN_TEST(giving_up_after_a_broken_link_ends_sent_operations_unsure);
    RUN_TEST(equal_seeds_behave_the_same);
    RUN_TEST(stop_before_the_first_tick_asks_for_nothing);
    RUN_TEST(stop_while_opening_closes_the_link_being_opened);
    RUN_TEST(stop_during_the_handshake_closes_the_link);
    RUN_TEST(stop_while_the_server_is_busy_closes_the_link);
    RUN_TEST(stop_with_everything_under_way_ends_each_operation_once);
    RUN_TEST(stopping_twice_is_stopping_once);
    RUN_TEST(stop_does_not_forget_a_close_that_is_still_to_be_asked_for);
    RUN_TEST(answers_before_a_close_are_all_told);
    RUN_TEST(after_a_close_by_the_server_the_driver_is_not_asked_to_close);
    RUN_TEST(a_close_told_late_does_not_hurt_the_next_link);
    RUN_TEST(a_link_lost_while_opening_is_told);
}

T_MAIN(session)
