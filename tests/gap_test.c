/* SPDX-License-Identifier: MIT
 *
 * gap_test.c - tests of gaps: the client says when messages or invalidations
 * may be missing, and asks for its subscriptions again. */
#include "pubsub_rig.h"

#include "greatest.h"

TEST subscriptions_are_restored_and_the_gap_is_reported(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_PATTERN, "b*"));
    T_TOLD(&p, "subscribed pattern b*");
    t_break(&p);
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "subscribed pattern b*");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST there_is_no_gap_without_subscriptions_or_tracking(void)
{
    t_peer p;

    t_start(&p);
    p.honest = 1;
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    t_break(&p);
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST tracking_has_a_gap_with_each_down_and_each_up(void)
{
    relet_config c = t_config();
    t_peer p;

    c.tracking = RELET_TRACK_READ;
    ASSERT(t_start_with(&p, &c));
    p.honest = 1;
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    t_break(&p);
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The link has tracking and a subscription in force. */
static int t_cached(t_peer *p)
{
    relet_config c = t_config();

    c.tracking = RELET_TRACK_READ;
    if (!t_start_with(p, &c) || t_wish(p, RELET_CHANNEL, "a") < 0 ||
        !t_up(p))
        return 0;
    return t_name_count(&p->server) == 1;
}

static void t_lose_closed(t_peer *p) { t_break(p); }
static void t_lose_silent(t_peer *p) { t_pass(p, 20000); }
static void t_lose_protocol(t_peer *p) { t_say(p, "?\r\n"); }
static void t_lose_stray(t_peer *p) { t_say(p, "+stray\r\n"); }
static void t_lose_stopped(t_peer *p) { relet_stop(p->r); }

TEST a_link_that_was_up_ends_with_a_gap_for_each_reason(void)
{
    static const struct {
        void (*lose)(t_peer *p);
        const char *down, *gap;
    } row[] = {{t_lose_closed, "down closed: ", "gap closed"},
               {t_lose_silent, "down silent: ", "gap silent"},
               {t_lose_protocol, "down protocol: ", "gap protocol"},
               {t_lose_stray, "down protocol: ", "gap protocol"},
               {t_lose_stopped, "down stopped: ", "gap stopped"}};
    size_t i;

    for (i = 0; i < sizeof row / sizeof row[0]; i++) {
        t_peer p;

        ASSERT(t_cached(&p));
        p.honest = 0;
        p.no = "refused";
        row[i].lose(&p);
        t_move(&p);
        ASSERT_EQ(0, strncmp(row[i].down, t_told(&p), strlen(row[i].down)));
        T_TOLD(&p, row[i].gap);
        ASSERT_EQ(0, relet_is_up(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST giving_up_on_the_server_is_reported_as_a_gap(void)
{
    relet_config c = t_config();
    t_peer p;

    c.tracking = RELET_TRACK_OPTIN;
    c.attempts_max = 1;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    ASSERT_EQ(RELET_NEVER, p.retry_ms);
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_attempt_that_fails_is_no_second_gap(void)
{
    int opens;
    t_peer p;

    ASSERT(t_cached(&p));
    opens = p.opens;
    p.no = "refused";
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    t_pass(&p, 10000);
    ASSERT(p.opens > opens + 3);
    ASSERT(t_find(t_bytes_head(&p.log), t_bytes_used(&p.log), "down connect"));
    ASSERT(!t_find(t_bytes_head(&p.log), t_bytes_used(&p.log), "gap"));
    t_bytes_clear(&p.log);
    p.no = NULL;
    p.honest = 1;
    t_pass(&p, 10000);
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST outcomes_of_a_lost_link_come_behind_its_gap(void)
{
    t_peer p;

    ASSERT(t_cached(&p));
    p.honest = 0;
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "unsure 1 broken");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The subscription is in force before the first UP. Then the server is LOADING,
 * and the link breaks. */
TEST a_subscription_lost_before_the_first_up_is_reported_with_a_gap(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    p.honest = 0;
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n" T_SUB_A "-LOADING later\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "down busy: LOADING later");
    T_TOLD(&p, "");
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* A message over a limit comes behind its subscription and before UP. */
TEST a_message_lost_before_the_first_up_is_a_gap(void)
{
    static char text[400];
    relet_config c = t_config();
    t_peer p;

    c.bulk_max = 64;
    ASSERT(t_start_with(&p, &c));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    p.honest = 0;
    t_move(&p);
    snprintf(text, sizeof text, "%s+OK\r\n+OK\r\n%s"
             ">3\r\n+message\r\n+a\r\n$70\r\n%070d\r\n+PONG\r\n",
             T_HELLO_SAYS, T_SUB_A, 0);
    t_say(&p, text);
    T_TOLD(&p, "subscribed channel a");
    t_move(&p);
    if (strcmp(t_told(&p), "gap") == 0) { /* the bytes came one by one */
        T_TOLD(&p, "up redis 7.0.15");
    } else {
        ASSERT_STR_EQ("up redis 7.0.15", p.line);
        T_TOLD(&p, "gap");
    }
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_server_is_no_gap(void)
{
    relet_config c = t_config();
    t_peer p;

    c.tracking = RELET_TRACK_READ;
    ASSERT(t_start_with(&p, &c));
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    T_TOLD(&p, "");
    p.honest = 1;
    t_bytes_clear(&p.out);
    t_pass(&p, 200);
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    p.honest = 0;
    t_move(&p);
    t_say(&p, "-BUSY a script runs\r\n"); /* pauses a link that is UP */
    p.honest = 1;
    t_bytes_clear(&p.out);
    t_pass(&p, 500);
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_sharded_channel_that_moved_is_a_gap_and_asked_for_again(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_SHARDED, "s"));
    T_TOLD(&p, "subscribed sharded s");
    p.honest = 0;
    t_say(&p, ">3\r\n+sunsubscribe\r\n+s\r\n:0\r\n");
    T_TOLD(&p, "gap sharded s");
    T_TOOK(&p, "SSUBSCRIBE s");
    t_say(&p, ">3\r\n+ssubscribe\r\n+s\r\n:1\r\n");
    T_TOLD(&p, "subscribed sharded s");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_moved_channel_is_subscribed_again_before_the_next_tick(void)
{
    const uint8_t *from = NULL;
    relet_event ev;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_SHARDED, "s"));
    T_TOLD(&p, "subscribed sharded s");
    p.honest = 0;
    p.manual = 1;
    t_say(&p, ">3\r\n+sunsubscribe\r\n+s\r\n:0\r\n");
    do {
        (void)t_read(&p);
    } while (!relet_next(p.r, &ev));
    ASSERT_EQ(RELET_EV_GAP, ev.kind);
    ASSERT(relet_io_pending(p.r, 0, &from) > 0);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(gap)
{
    RUN_TEST(subscriptions_are_restored_and_the_gap_is_reported);
    RUN_TEST(there_is_no_gap_without_subscriptions_or_tracking);
    RUN_TEST(tracking_has_a_gap_with_each_down_and_each_up);
    RUN_TEST(a_link_that_was_up_ends_with_a_gap_for_each_reason);
    RUN_TEST(giving_up_on_the_server_is_reported_as_a_gap);
    RUN_TEST(an_attempt_that_fails_is_no_second_gap);
    RUN_TEST(outcomes_of_a_lost_link_come_behind_its_gap);
    RUN_TEST(a_subscription_lost_before_the_first_up_is_reported_with_a_gap);
    RUN_TEST(a_message_lost_before_the_first_up_is_a_gap);
    RUN_TEST(a_busy_server_is_no_gap);
    RUN_TEST(a_sharded_channel_that_moved_is_a_gap_and_asked_for_again);
    RUN_TEST(a_moved_channel_is_subscribed_again_before_the_next_tick);
}

T_MAIN(gap)
