/* SPDX-License-Identifier: MIT
 *
 * pubsub_refused_test.c - tests of subscriptions that are refused, put off by a
 * busy server, or without memory. */
#include "pubsub_rig.h"

#include "greatest.h"

TEST a_refused_subscription_is_reported_and_forgotten(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.refuse = "-NOPERM no access to the channel\r\n";
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "subscription refused channel a NOPERM no access to the "
               "channel");
    p.server.refuse = NULL;
    t_break(&p);
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(RELET_E_REFUSED, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* When UNSUBSCRIBE is refused, only the end of the link ends the
 * subscription. */
TEST a_refused_unsubscribe_ends_the_link(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    p.honest = 1;
    p.server.keep = "-NOPERM no unsubscribe\r\n";
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "down broken: given up, for UNSUBSCRIBE was refused: NOPERM "
               "no unsubscribe");
    T_TOLD(&p, "unsubscribed channel a");
    t_pass(&p, 200);
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_reply_to_subscribe_during_the_handshake_breaks_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+OK\r\n");
    T_TOLD(&p, "down protocol: a subscription was answered by a reply");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_refused_in_the_handshake_is_reported_by_name(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "b"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "c"));
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n" T_SUB_A "-NOPERM b\r\n"
              ">3\r\n+subscribe\r\n+c\r\n:2\r\n+PONG\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "subscription refused channel b NOPERM b");
    T_TOLD(&p, "subscribed channel c");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the server confirmed the second SUBSCRIBE, but the client had
 * forgotten the subscription at the refusal of the first. */
TEST a_late_refusal_does_not_forget_a_renewed_subscription(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, "-NOPERM not yet\r\n-NOSUB\r\n" T_HELLO_SAYS T_SUB_A);
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "");
    t_break(&p);
    p.honest = 1;
    t_pass(&p, 200);
    ASSERT_EQ(1, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_refused_as_busy_is_requested_again(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.refuse = "-BUSY later\r\n";
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 500);
    T_TOLD(&p, "");
    p.server.refuse = NULL;
    t_pass(&p, 5000);
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_taken_back_while_the_server_is_busy_ends(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, "-BUSY later\r\n");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* An UNSUBSCRIBE answered by BUSY has no effect. Regression: it was taken for
 * done, and the server went on sending messages. */
TEST an_unsubscribe_refused_as_busy_is_asked_again(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    p.honest = 1;
    p.server.keep = "-BUSY later\r\n";
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 500);
    T_TOLD(&p, "");
    ASSERT_EQ(1, t_name_count(&p.server));
    p.server.keep = NULL;
    t_pass(&p, 5000);
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* UNSUBSCRIBE was refused as BUSY, so the subscription stays in force; then the
 * new SUBSCRIBE is refused. The client must still unsubscribe. */
TEST a_refused_subscription_still_in_force_is_unsubscribed(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "-BUSY x\r\n" T_HELLO_SAYS "-NOPERM x\r\n");
    T_TOLD(&p, "subscription refused channel a NOPERM x");
    t_pass(&p, 200);
    T_TOOK(&p, "UNSUBSCRIBE a");
    T_TOOK(&p, "HELLO");
    t_say(&p, T_UNSUB_A T_HELLO_SAYS);
    T_TOLD(&p, "unsubscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST subscribe_answered_by_a_reply_costs_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: SUBSCRIBE was answered by a reply");
    p.honest = 1;
    t_pass(&p, 10000);
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: a confirmation without room was passed over like a message. The
 * next answer was then taken for it, and the link ended as a protocol error.
 * Found by sim seed 23992: a channel of leases has a long name. */
TEST a_confirmation_without_room_costs_the_link(void)
{
    char name[301], push[400];
    t_peer p;

    if (t_fixed)
        SKIPm("only with an allocator");
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(push, sizeof push, ">3\r\n$9\r\nsubscribe\r\n$300\r\n%s\r\n:1\r\n",
             name);
    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, name));
    t_move(&p);
    p.heap.fail_at = p.heap.calls + 1;
    p.heap.fail_on = 1;
    t_say(&p, push);
    T_TOLD(&p, "down memory: no room for the answer to a subscription");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* There was no memory for the subscription's SUBSCRIBE; now there is again. */
static int t_starved_wish(t_peer *p)
{
    char name[61];

    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    t_start(p);
    if (!t_up(p))
        return 0;
    p->heap.fail_at = p->heap.calls + 2; /* behind the allocation of the name */
    p->heap.fail_on = 1;
    if (t_wish(p, RELET_CHANNEL, name) != 0)
        return 0;
    t_move(p);
    p->heap.fail_at = 0;
    p->honest = 1;
    return p->heap.failed > 0 && t_name_count(&p->server) == 0;
}

/* Regression: without a deadline the subscription waited for the next turn that
 * came by chance. Found by sim seeds 60142 and 64694. */
TEST a_subscription_without_memory_has_a_deadline(void)
{
    t_peer p;

    if (t_fixed)
        SKIPm("only with an allocator");
    ASSERT(t_starved_wish(&p));
    ASSERT(relet_deadline(p.r) > p.now);
    ASSERT(relet_deadline(p.r) <= p.now + 1000);
    p.now = relet_deadline(p.r);
    t_move(&p);
    ASSERT_EQ(1, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* A tick before the deadline does not repeat SUBSCRIBE. Found by sim seed
 * 3099617. */
TEST a_subscription_without_memory_waits_for_its_deadline(void)
{
    t_peer p;

    if (t_fixed)
        SKIPm("only with an allocator");
    ASSERT(t_starved_wish(&p));
    p.now = relet_deadline(p.r) - 1;
    t_move(&p);
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(pubsub_refused)
{
    RUN_TEST(a_refused_subscription_is_reported_and_forgotten);
    RUN_TEST(a_refused_unsubscribe_ends_the_link);
    RUN_TEST(a_reply_to_subscribe_during_the_handshake_breaks_the_link);
    RUN_TEST(a_subscription_refused_in_the_handshake_is_reported_by_name);
    RUN_TEST(a_late_refusal_does_not_forget_a_renewed_subscription);
    RUN_TEST(a_subscription_refused_as_busy_is_requested_again);
    RUN_TEST(a_subscription_taken_back_while_the_server_is_busy_ends);
    RUN_TEST(an_unsubscribe_refused_as_busy_is_asked_again);
    RUN_TEST(a_refused_subscription_still_in_force_is_unsubscribed);
    RUN_TEST(subscribe_answered_by_a_reply_costs_the_link);
    RUN_TEST(a_confirmation_without_room_costs_the_link);
    RUN_TEST(a_subscription_without_memory_has_a_deadline);
    RUN_TEST(a_subscription_without_memory_waits_for_its_deadline);
}

T_MAIN(pubsub_refused)
