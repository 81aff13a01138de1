/* SPDX-License-Identifier: MIT
 *
 * pubsub_test.c - tests of subscriptions: subscribing, confirmations,
 * unsubscribing, and the events of each; then random sequences of these. */
#include "pubsub_rig.h"

#include "greatest.h"

/* ---------------------------------------------------------------- messages */

TEST messages_of_each_kind_are_told(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "c"));
    ASSERT_EQ(0, t_wish(&p, RELET_PATTERN, "c*"));
    ASSERT_EQ(0, t_wish(&p, RELET_SHARDED, "s"));
    T_TOLD(&p, "subscribed channel c");
    T_TOLD(&p, "subscribed pattern c*");
    T_TOLD(&p, "subscribed sharded s");
    t_say(&p, ">3\r\n+message\r\n+c\r\n$2\r\nhi\r\n"
              ">4\r\n+pmessage\r\n+c*\r\n+cat\r\n$2\r\nho\r\n"
              ">3\r\n+smessage\r\n+s\r\n$0\r\n\r\n");
    T_TOLD(&p, "message channel c \"hi\"");
    T_TOLD(&p, "message pattern c* cat \"ho\"");
    T_TOLD(&p, "message sharded s \"\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST invalidations_are_told(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, ">2\r\n+invalidate\r\n*2\r\n+k\r\n+l\r\n"
              ">2\r\n+invalidate\r\n_\r\n");
    T_TOLD(&p, "invalidate [\"k\" \"l\"]");
    T_TOLD(&p, "invalidate nil");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_of_an_unknown_kind_is_told_as_it_is(void)
{
    static const char *const say[] = {
        ">0\r\n", ">1\r\n_\r\n", ">2\r\n+MOVING\r\n:1\r\n",
        ">1\r\n*1\r\n+message\r\n", ">1\r\n+messages\r\n"};
    static const char *const told[] = {
        "pushed <>", "pushed <nil>", "pushed <\"MOVING\" 1>",
        "pushed <[\"message\"]>", "pushed <\"messages\">"};
    size_t i;

    for (i = 0; i < sizeof say / sizeof say[0]; i++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        t_say(&p, say[i]);
        T_TOLD(&p, told[i]);
        ASSERT_EQ(1, relet_is_up(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_malformed_push_of_a_known_kind_costs_the_link(void)
{
    static const char *const say[] = {
        ">2\r\n+message\r\n+c\r\n",
        ">4\r\n+message\r\n+c\r\n+x\r\n+y\r\n",
        ">3\r\n+message\r\n:1\r\n+x\r\n",
        ">3\r\n+pmessage\r\n+c\r\n+x\r\n",
        ">4\r\n+pmessage\r\n_\r\n+x\r\n+y\r\n",
        ">3\r\n+smessage\r\n_\r\n+x\r\n",
        ">2\r\n+subscribe\r\n+a\r\n",
        ">3\r\n+subscribe\r\n_\r\n:1\r\n",
        ">3\r\n+subscribe\r\n+a\r\n+x\r\n",
        ">3\r\n+unsubscribe\r\n:1\r\n:1\r\n",
        ">1\r\n+invalidate\r\n",
        ">2\r\n+invalidate\r\n+k\r\n"};
    relet_stats s;
    size_t i;

    for (i = 0; i < sizeof say / sizeof say[0]; i++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        t_say(&p, say[i]);
        T_TOLD(&p, "down protocol: a push of a known kind has an unknown "
                   "shape");
        relet_stats_get(p.r, &s);
        ASSERT_EQ(1, s.protocol_errors);
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

/* ----------------------------------------------------------- subscriptions */

TEST subscribing_twice_counts_once(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOOK(&p, "SUBSCRIBE a");
    T_TOOK(&p, "");
    t_say(&p, T_SUB_A);
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOOK(&p, "");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST subscriptions_of_different_kinds_are_independent(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_PATTERN, "a"));
    ASSERT_EQ(RELET_E_REFUSED, t_unwish(&p, RELET_SHARDED, "a"));
    ASSERT_STR_EQ("there is no such subscription", relet_refusal(p.r));
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "subscribed pattern a");
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT(t_name_find(&p.server, 'p', relet_str("a")) >= 0);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST invalid_subscriptions_are_refused(void)
{
    char name[9000];
    relet_span s;
    t_peer p;

    memset(name, 'x', sizeof name);
    s.p = name;
    s.n = 8193;
    t_start(&p);
    ASSERT_EQ(RELET_E_REFUSED, t_wish(&p, RELET_CHANNEL, ""));
    ASSERT_EQ(RELET_E_REFUSED, t_wish(&p, (relet_channel)3, "a"));
    ASSERT_EQ(RELET_E_REFUSED, t_unwish(&p, (relet_channel)3, "a"));
    ASSERT_EQ(RELET_E_REFUSED, relet_subscribe(p.r, RELET_CHANNEL, s));
    ASSERT_EQ(RELET_E_REFUSED, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The push that confirms it has to fit, or the link breaks each time. */
TEST a_name_of_more_than_half_a_reply_is_refused(void)
{
    relet_config c = t_config();
    static char name[4097];
    relet_span s;
    t_peer p;

    c.reply_max = c.bulk_max = 8192;
    ASSERT(t_start_with(&p, &c));
    memset(name, 'x', sizeof name);
    s.p = name;
    s.n = sizeof name;
    ASSERT_EQ(RELET_E_REFUSED, relet_subscribe(p.r, RELET_CHANNEL, s));
    ASSERT_STR_EQ("a name that is over a limit", relet_refusal(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_name_may_hold_any_byte(void)
{
    relet_span s = {"\0\r\n\xff ", 5};
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, relet_subscribe(p.r, RELET_CHANNEL, s));
    T_TOOK(&p, "SUBSCRIBE \\x00\\x0d\\x0a\\xff ");
    t_say(&p, ">3\r\n$9\r\nsubscribe\r\n$5\r\n");
    t_say_span(&p, s.p, s.n);
    t_say(&p, "\r\n:1\r\n");
    T_TOLD(&p, "subscribed channel \\x00\\x0d\\x0a\\xff ");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST subscriptions_max_holds_and_slots_come_free(void)
{
    char name[8];
    t_peer p;
    int i, round;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    for (round = 0; round < 5; round++) {
        for (i = 0; i < 8; i++) {
            sprintf(name, "n%d", i + round);
            ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, name));
        }
        ASSERT_EQ(RELET_E_LIMIT, t_wish(&p, RELET_CHANNEL, "more"));
        if (round % 2)
            t_move(&p);
        for (i = 7; i >= 0; i--) {
            sprintf(name, "n%d", i + round);
            ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, name));
        }
        t_move(&p);
    }
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_made_in_the_handshake_goes_out_once_the_link_is_up(void)
{
    const uint8_t *from = NULL;
    relet_event ev;
    uint8_t *to = NULL;
    t_peer p;
    size_t i;

    t_start(&p);
    t_move(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    for (i = 0; i < strlen(T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n"); i++) {
        ASSERT(relet_io_space(p.r, 0, &to) > 0);
        *to = (uint8_t)(T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n")[i];
        relet_io_received(p.r, 0, 1);
        (void)relet_next(p.r, &ev);
    }
    ASSERT_EQ(RELET_EV_UP, ev.kind);
    ASSERT(relet_io_pending(p.r, 0, &from) > 0);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The subscription waits while the queue of operations is full, and is not
 * forgotten. */
TEST a_subscription_waits_for_room_among_the_operations(void)
{
    relet_config c = t_config();
    t_peer p;
    int i;

    c.operations_max = 8;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.accept = 0;
    for (i = 0; i < 8; i++)
        ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    for (i = 0; i < 8; i++) {
        ASSERT_EQ(1, relet_is_up(p.r));
        (void)t_wish(&p, RELET_CHANNEL, "a");
        (void)t_unwish(&p, RELET_CHANNEL, "a");
    }
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    p.accept = (size_t)-1;
    p.honest = 1;
    t_pass(&p, 1);
    ASSERT_EQ(0, t_name_find(&p.server, 'c', relet_str("a")));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: after a timeout the unsent SUBSCRIBE was taken out of the queue
 * and was never sent again. */
TEST a_subscription_unsent_for_longer_than_the_timeout_goes_out(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 0;
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 12000);
    p.accept = (size_t)-1;
    p.honest = 1;
    T_TOLD(&p, "subscribed channel a");
    p.accept = 0;
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 12000);
    p.accept = (size_t)-1;
    T_TOLD(&p, "unsubscribed channel a");
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_late_confirmation_of_a_subscription_counts(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    (void)t_ask_within(&p, 1, 100000, "GET", "k");
    t_pass(&p, 6000);
    t_say(&p, T_SUB_A "+k\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "reply 1 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------ unsubscribing */

TEST unsubscribe_is_followed_by_a_barrier(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOOK(&p, "UNSUBSCRIBE a");
    T_TOOK(&p, "HELLO");
    T_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST unsubscribe_may_be_answered_by_anything_before_its_barrier(void)
{
    static const char *const say[] = {
        T_UNSUB_A, "-NOSUB nothing to leave\r\n", "",
        ">3\r\n+unsubscribe\r\n_\r\n:0\r\n", T_UNSUB_A T_UNSUB_A,
        T_UNSUB_A "-ERR slot has moved\r\n"};
    size_t i;

    for (i = 0; i < sizeof say / sizeof say[0]; i++) {
        t_peer p;

        ASSERT(t_hearing(&p));
        ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
        (void)t_ask(&p, 1, 0, "GET", "k");
        t_move(&p);
        t_say(&p, say[i]);
        T_TOLD(&p, "");
        t_say(&p, T_HELLO_SAYS "+k\r\n");
        T_TOLD(&p, "unsubscribed channel a");
        T_TOLD(&p, "reply 1 \"k\"");
        T_TOLD(&p, "");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_barrier_over_a_limit_is_a_barrier(void)
{
    t_peer p;
    int i;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, T_UNSUB_A "*600\r\n");
    for (i = 0; i < 600; i++)
        t_say(&p, ":1\r\n");
    T_TOLD(&p, "unsubscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST messages_until_the_barrier_are_told(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, ">3\r\n+message\r\n+a\r\n+last\r\n" T_UNSUB_A T_HELLO_SAYS);
    T_TOLD(&p, "message channel a \"last\"");
    T_TOLD(&p, "unsubscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_taken_back_without_a_link_ends_at_once(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(RELET_E_REFUSED, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    t_took(&p);
    t_took(&p);
    t_took(&p);
    T_TOOK(&p, "PING");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_taken_back_unconfirmed_is_unsubscribed(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    T_TOOK(&p, "SUBSCRIBE a");
    T_TOOK(&p, "UNSUBSCRIBE a");
    T_TOOK(&p, "HELLO");
    t_say(&p, T_SUB_A T_UNSUB_A T_HELLO_SAYS);
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the subscription was in force, but no SUBSCRIBED came. */
TEST a_subscription_renewed_during_the_handshake_is_reported(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n" T_SUB_A);
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_say(&p, "+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    t_bytes_clear(&p.out);
    T_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_subscription_renewed_before_the_barrier_stays_in_force(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOOK(&p, "UNSUBSCRIBE a");
    T_TOOK(&p, "HELLO");
    T_TOOK(&p, "SUBSCRIBE a");
    t_say(&p, T_UNSUB_A T_HELLO_SAYS T_SUB_A);
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

TEST a_broken_link_ends_subscriptions_being_unsubscribed(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "unsubscribed channel a");
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_unsubscribe_may_be_answered_before_its_barrier_is_sent(void)
{
    t_peer p;

    ASSERT(t_hearing(&p));
    p.accept = strlen("*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n*1\r\n");
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_move(&p);
    t_say(&p, "-NOSUB\r\n");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    p.accept = (size_t)-1;
    t_move(&p);
    t_say(&p, T_HELLO_SAYS);
    T_TOLD(&p, "unsubscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_channel_that_moves_while_it_is_unsubscribed_stays_unsubscribed(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_wish(&p, RELET_SHARDED, "s"));
    T_TOLD(&p, "subscribed sharded s");
    p.honest = 0;
    ASSERT_EQ(0, t_unwish(&p, RELET_SHARDED, "s"));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, ">3\r\n+sunsubscribe\r\n+s\r\n:0\r\n-MOVED 1 h:1\r\n"
              T_HELLO_SAYS "+k\r\n");
    T_TOLD(&p, "unsubscribed sharded s");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_unrequested_confirmation_is_ignored(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, T_SUB_A T_UNSUB_A ">3\r\n+unsubscribe\r\n_\r\n:0\r\n");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* -------------------------------------------------------------- lent names */

/* The lent name lies in memory that the new subscription may have to move. */
TEST a_name_lent_by_an_event_may_be_subscribed(void)
{
    char name[201], line[300];
    relet_event ev;
    t_peer p;

    memset(name, 'n', sizeof name);
    name[200] = '\0';
    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, name));
    t_move(&p);
    t_say(&p, "-NOPERM\r\n");
    p.manual = 1;
    while (t_turn(&p))
        ;
    ASSERT_EQ(1, relet_next(p.r, &ev));
    ASSERT_EQ(RELET_EV_SUBSCRIPTION_REFUSED, ev.kind);
    ASSERT_EQ(0, relet_subscribe(p.r, RELET_PATTERN, ev.channel));
    p.manual = 0;
    t_bytes_clear(&p.out);
    sprintf(line, "PSUBSCRIBE %s", name);
    T_TOOK(&p, line);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_name_in_an_unsubscribed_event_may_be_subscribed_again(void)
{
    relet_event ev;
    t_peer p;

    ASSERT(t_hearing(&p));
    p.honest = 1;
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    p.manual = 1;
    do {
        (void)t_turn(&p);
    } while (!relet_next(p.r, &ev));
    ASSERT_EQ(RELET_EV_UNSUBSCRIBED, ev.kind);
    ASSERT_EQ(0, relet_subscribe(p.r, ev.channel_kind, ev.channel));
    p.manual = 0;
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(1, t_name_count(&p.server));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ----------------------------------------------------- random interleavings */

#define T_MODEL_NAMES 4

typedef struct t_model {
    int wished[3][T_MODEL_NAMES];
    int taken[3][T_MODEL_NAMES]; /* unsubscribed, the end not told yet        */
    int open[3][T_MODEL_NAMES];  /* the last end asked for was not told       */
    char last[3][T_MODEL_NAMES]; /* event: s, u, r                           */
    int busy; /* a refusal is by BUSY; else it is final                      */
    int wrong;
} t_model;

static relet_span t_model_name(int i)
{
    static const char *const name[T_MODEL_NAMES] = {"n0", "n1-long", "n2",
                                                    "n3-longer"};

    return relet_str(name[i]);
}

static void t_model_event(t_model *m, const relet_event *ev)
{
    int i = ev->channel.n > 1 ? ev->channel.p[1] - '0' : 0;
    int kind = (int)ev->channel_kind;

    if (ev->kind == RELET_EV_SUBSCRIBED) {
        m->wrong |= !m->wished[kind][i] && !m->taken[kind][i];
        m->last[kind][i] = 's';
    } else if (ev->kind == RELET_EV_UNSUBSCRIBED) {
        m->wrong |= m->taken[kind][i]-- == 0;
        m->open[kind][i] = 0;
        m->last[kind][i] = 'u';
    } else if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED) {
        m->wished[kind][i] = m->open[kind][i] = 0;
        m->last[kind][i] = 'r';
    }
}

static void t_model_drive(t_peer *p, t_model *m, int turns)
{
    relet_event ev;

    p->manual = 1;
    while (turns-- > 0) {
        (void)t_turn(p);
        if (t_below(3) > 0)
            while (relet_next(p->r, &ev))
                t_model_event(m, &ev);
    }
}

/* A sharded channel moves away. The client may subscribe to it again. */
static void t_model_move(t_peer *p, int i)
{
    int at = t_name_find(&p->server, 's', t_model_name(i));

    if (at < 0 || !p->open)
        return;
    p->server.name[at][0] = '\0';
    t_say_confirmed(p, "sunsubscribe", t_model_name(i));
}

static void t_model_step(t_peer *p, t_model *m)
{
    int kind = (int)t_below(3), i = (int)t_below(T_MODEL_NAMES);

    switch (t_below(11)) {
    case 0:
    case 1:
        if (relet_subscribe(p->r, (relet_channel)kind, t_model_name(i)) == 0)
            m->wished[kind][i] = 1;
        return;
    case 2:
    case 3:
        if (relet_unsubscribe(p->r, (relet_channel)kind,
                              t_model_name(i)) == 0) {
            m->wrong |= !m->wished[kind][i];
            m->wished[kind][i] = 0;
            m->taken[kind][i]++;
            m->open[kind][i] = 1;
        } else {
            m->wrong |= m->wished[kind][i] && m->last[kind][i] == 's';
        }
        return;
    case 4:
        p->honest = t_below(3) > 0;
        return;
    case 5:
        p->give = t_below(2) ? (size_t)-1 : t_below(60);
        return;
    case 6:
        p->accept = t_below(2) ? (size_t)-1 : t_below(60);
        return;
    case 7:
        p->now += t_below(400);
        return;
    case 8:
        p->server.refuse = t_below(4) ? NULL
                           : m->busy  ? "-BUSY x\r\n" : "-NOPERM no\r\n";
        p->server.keep = m->busy && t_below(4) == 0 ? "-BUSY x\r\n" : NULL;
        return;
    case 9:
        if (t_below(4) == 0 && p->open) {
            t_link_gone(p);
            relet_io_closed(p->r, 0, 1, "reset");
        }
        return;
    default:
        t_model_move(p, i);
        return;
    }
}

TEST the_server_ends_with_the_subscriptions_of_the_client_in_random_runs(void)
{
    uint32_t seed;
    int kind, i, step, there;

    for (seed = 1; seed <= 300; seed++) {
        relet_config c = t_config();
        t_model m;
        t_peer p;

        memset(&m, 0, sizeof m);
        m.busy = seed % 2 == 0;
        t_seed = seed;
        c.operations_max = 8;
        c.subscriptions_max = 12;
        ASSERT(t_start_with(&p, &c));
        for (step = 0; step < 400; step++) {
            t_model_step(&p, &m);
            t_model_drive(&p, &m, (int)t_below(4));
        }
        p.honest = 1;
        p.accept = p.give = (size_t)-1;
        p.server.refuse = p.server.keep = NULL;
        for (step = 0; step < 60; step++) {
            p.now += 500;
            t_model_drive(&p, &m, 100);
        }
        ASSERT_EQ(0, m.wrong);
        for (kind = 0; kind < 3; kind++)
            for (i = 0; i < T_MODEL_NAMES; i++) {
                there = t_name_find(&p.server, "cps"[kind],
                                    t_model_name(i)) >= 0;
                ASSERT_EQ(m.wished[kind][i], there);
                ASSERT_EQ(there, m.last[kind][i] == 's');
                ASSERT(there || !m.open[kind][i]);
            }
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

static SUITE(pubsub)
{
    RUN_TEST(messages_of_each_kind_are_told);
    RUN_TEST(invalidations_are_told);
    RUN_TEST(a_push_of_an_unknown_kind_is_told_as_it_is);
    RUN_TEST(a_malformed_push_of_a_known_kind_costs_the_link);
    RUN_TEST(subscribing_twice_counts_once);
    RUN_TEST(subscriptions_of_different_kinds_are_independent);
    RUN_TEST(invalid_subscriptions_are_refused);
    RUN_TEST(a_name_of_more_than_half_a_reply_is_refused);
    RUN_TEST(a_name_may_hold_any_byte);
    RUN_TEST(subscriptions_max_holds_and_slots_come_free);
    RUN_TEST(a_subscription_made_in_the_handshake_goes_out_once_the_link_is_up);
    RUN_TEST(a_subscription_waits_for_room_among_the_operations);
    RUN_TEST(a_subscription_unsent_for_longer_than_the_timeout_goes_out);
    RUN_TEST(a_late_confirmation_of_a_subscription_counts);
    RUN_TEST(unsubscribe_is_followed_by_a_barrier);
    RUN_TEST(unsubscribe_may_be_answered_by_anything_before_its_barrier);
    RUN_TEST(a_barrier_over_a_limit_is_a_barrier);
    RUN_TEST(messages_until_the_barrier_are_told);
    RUN_TEST(a_subscription_taken_back_without_a_link_ends_at_once);
    RUN_TEST(a_subscription_taken_back_unconfirmed_is_unsubscribed);
    RUN_TEST(a_subscription_renewed_during_the_handshake_is_reported);
    RUN_TEST(a_subscription_renewed_before_the_barrier_stays_in_force);
    RUN_TEST(a_broken_link_ends_subscriptions_being_unsubscribed);
    RUN_TEST(an_unsubscribe_may_be_answered_before_its_barrier_is_sent);
    RUN_TEST(a_channel_that_moves_while_it_is_unsubscribed_stays_unsubscribed);
    RUN_TEST(an_unrequested_confirmation_is_ignored);
    RUN_TEST(a_name_lent_by_an_event_may_be_subscribed);
    RUN_TEST(a_name_in_an_unsubscribed_event_may_be_subscribed_again);
    RUN_TEST(
        the_server_ends_with_the_subscriptions_of_the_client_in_random_runs);
}

T_MAIN(pubsub)
