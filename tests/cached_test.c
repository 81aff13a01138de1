/* SPDX-License-Identifier: MIT
 *
 * cached_test.c - tests of reads with RELET_CACHED: CLIENT CACHING goes out in
 * front of them, and decides on their outcome. */
#include "peer.h"

#include "greatest.h"

/* The client is up and tracks the reads submitted with RELET_CACHED. */
static int t_start_optin(t_peer *p)
{
    relet_config c = t_config();

    c.tracking = RELET_TRACK_OPTIN;
    return t_start_with(p, &c) && t_up(p);
}

TEST cached_without_optin_is_refused_by_name(void)
{
    static const relet_tracking other[] = {
        RELET_TRACK_OFF, RELET_TRACK_READ, RELET_TRACK_BROADCAST};
    relet_config c = t_config();
    size_t i;
    int script;

    for (i = 0; i < sizeof other / sizeof other[0]; i++) {
        t_peer p;

        c.tracking = other[i];
        ASSERT(t_start_with(&p, &c));
        ASSERT(t_up(&p));
        script = relet_script_add(p.r, relet_str("return 1"));
        ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, RELET_CACHED, "GET", "k"));
        ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED needs tracking=optin"));
        ASSERT_EQ(RELET_E_REFUSED, t_run(&p, 2, RELET_CACHED, script, "k"));
        ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED needs tracking=optin"));
        ASSERT_EQ(0, relet_outstanding(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST cached_is_for_commands_and_scripts_alone(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 1, RELET_CACHED, "x", "y"));
    ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED is for relet_command"));
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST cached_puts_client_caching_directly_in_front(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "l");
    T_TOOK(&p, "CLIENT CACHING YES");
    T_TOOK(&p, "GET k");
    T_TOOK(&p, "GET l");
    t_say(&p, "+OK\r\n+k\r\n+l\r\n");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "reply 2 \"l\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_refused_caching_ends_its_read_in_an_error_and_shifts_no_answer(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "l");
    t_move(&p);
    t_say(&p, "-ERR no tracking\r\n+k\r\n-ERR own\r\n");
    T_TOLD(&p, "error 1 refused: ERR no tracking");
    T_TOLD(&p, "error 2 ERR own");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_caching_answered_over_a_limit_ends_its_read_in_an_error(void)
{
    char line[1100];
    t_peer p;

    ASSERT(t_start_optin(&p));
    memset(line, 'x', sizeof line);
    line[0] = '-';
    memcpy(line + sizeof line - 3, "\r\n", 3);
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    t_move(&p);
    t_say(&p, line);
    t_say(&p, "+k\r\n");
    T_TOLD(&p, "error 1 refused: the answer to CLIENT CACHING YES is over a "
               "limit");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* A script ends between the two commands: CLIENT CACHING is refused as BUSY,
 * but GET is answered. That answer would never be invalidated. */
TEST a_busy_caching_is_waited_out_with_its_read_when_that_may_be_repeated(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 200);
    T_TOOK(&p, "CLIENT CACHING YES");
    T_TOOK(&p, "GET k");
    t_say(&p, "+OK\r\n+new\r\n");
    T_TOLD(&p, "reply 1 \"new\"");
    (void)t_ask(&p, 2, RELET_CACHED, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "error 2 refused: BUSY a script runs");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_read_that_ran_behind_a_busy_caching_never_ends_not_sent(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_cancel(p.r, 1));
    T_TOLD(&p, "unsure 1 cancelled");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_cached_read_cut_off_between_its_answers_is_answered_rightly(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "l");
    t_move(&p);
    t_say(&p, "+OK\r\n");
    t_move(&p);
    t_break(&p);
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "reply 2 \"l\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(cached)
{
    RUN_TEST(cached_without_optin_is_refused_by_name);
    RUN_TEST(cached_is_for_commands_and_scripts_alone);
    RUN_TEST(cached_puts_client_caching_directly_in_front);
    RUN_TEST(a_refused_caching_ends_its_read_in_an_error_and_shifts_no_answer);
    RUN_TEST(a_caching_answered_over_a_limit_ends_its_read_in_an_error);
    RUN_TEST(
        a_busy_caching_is_waited_out_with_its_read_when_that_may_be_repeated);
    RUN_TEST(a_read_that_ran_behind_a_busy_caching_never_ends_not_sent);
    RUN_TEST(a_cached_read_cut_off_between_its_answers_is_answered_rightly);
}

T_MAIN(cached)
