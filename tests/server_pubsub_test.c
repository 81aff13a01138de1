/* SPDX-License-Identifier: MIT
 *
 * server_pubsub_test.c - tests of messages, subscriptions and invalidations, on
 * real servers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_rig.h"
#include "server_run.h"

/* ---------------------------------------------------------------- messages */

static struct {
    uint64_t next, wrong; /* messages are numbers that count up         */
    uint64_t after_left;  /* came after UNSUBSCRIBED                    */
    char channel[40], pattern[40];
    char keys[200]; /* invalidated keys                                 */
} t_heard;

static void t_see_messages(t_client *c, const relet_event *ev)
{
    int64_t n = -1;

    if (ev->kind != RELET_EV_MESSAGE)
        return;
    (void)relet_value_int(ev->value, &n);
    t_heard.wrong += (uint64_t)n != t_heard.next;
    t_heard.next = (uint64_t)n + 1;
    t_heard.after_left += c->n[RELET_EV_UNSUBSCRIBED] > 0;
    t_copy(t_heard.channel, sizeof t_heard.channel, ev->channel);
    t_copy(t_heard.pattern, sizeof t_heard.pattern, ev->pattern);
}

static void t_listen(t_client *c)
{
    memset(&t_heard, 0, sizeof t_heard);
    c->see = t_see_messages;
}

static const char *const t_storm =
    "for i = 0, 9999 do redis.call('PUBLISH', 'news', i) end return 1";

static void ten_thousand_pushes_between_two_replies_are_all_told(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_promote();
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 1);
    t_listen(c);
    t_many(c, 1, T_ECHO, 0, 0);
    T_SAY(c, "EVAL", t_storm, "0");
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_MESSAGE], 10000);
    T_EQ(t_heard.wrong, 0);
    t_heard.next = 0;
    T_EQ(T_ASK(admin, "EVAL", t_storm, "0")->number, 1);
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_MESSAGE], 20000);
    T_EQ(t_heard.wrong, 0);
    T_EQ(c->n[RELET_EV_REPLY], 4);
    T_EQ(t_stats(c).pushes, 20001);
}

typedef struct t_way {
    relet_channel kind;
    const char *wish, *channel, *publish;
} t_way;

static void t_try_way(t_client *c, t_client *admin, const t_way *w)
{
    const uint64_t *n = c->n;
    uint64_t heard, gaps = n[RELET_EV_GAP], told = n[RELET_EV_SUBSCRIBED],
                    left = n[RELET_EV_UNSUBSCRIBED];

    T_EQ(t_wish(c, w->kind, w->wish), 0);
    T_EQ(t_wish(c, w->kind, w->wish), 0);
    T_UNTIL(n[RELET_EV_SUBSCRIBED] == told + 1);
    heard = n[RELET_EV_MESSAGE];
    T_EQ(T_ASK(admin, w->publish, w->channel, "1")->number, 1);
    T_UNTIL(n[RELET_EV_MESSAGE] == heard + 1);
    T(strcmp(t_heard.channel, w->channel) == 0);
    if (w->kind == RELET_PATTERN)
        T(strcmp(t_heard.pattern, w->wish) == 0);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "pubsub")->number, 1);
    T_UNTIL(n[RELET_EV_GAP] == gaps + 2 && n[RELET_EV_SUBSCRIBED] == told + 2);
    T_EQ(T_ASK(admin, w->publish, w->channel, "2")->number, 1);
    T_UNTIL(n[RELET_EV_MESSAGE] == heard + 2);
    T_EQ(relet_unsubscribe(c->r, w->kind, relet_str(w->wish)), 0);
    T_UNTIL(n[RELET_EV_UNSUBSCRIBED] == left + 1);
    T_EQ(T_ASK(admin, w->publish, w->channel, "3")->number, 0);
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(n[RELET_EV_MESSAGE], heard + 2);
}

static void every_kind_of_subscription_holds_until_it_is_taken_back(void)
{
    static const t_way ways[3] = {
        {RELET_CHANNEL, "news", "news", "PUBLISH"},
        {RELET_PATTERN, "n?ws*", "news.today", "PUBLISH"},
        {RELET_SHARDED, "shard", "shard", "SPUBLISH"}};
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_promote();
    c = t_promote();
    t_listen(c);
    for (i = 0; i < 3; i++)
        t_try_way(c, admin, &ways[i]);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 0);
    T_EQ(t_stats(c).connects, 4);
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")),
         RELET_E_REFUSED);
}

static void no_message_comes_after_unsubscribed(void)
{
    t_client *c, *admin;
    char number[24];
    int i;

    t_start("");
    admin = t_promote();
    c = t_promote();
    t_listen(c);
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_EQ(t_wish(c, RELET_CHANNEL, "other"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 2);
    for (i = 0; i < 10000; i++) {
        (void)snprintf(number, sizeof number, "%d", i);
        T_SAY(admin, "PUBLISH", "news", number);
    }
    T_UNTIL(c->n[RELET_EV_MESSAGE] > 2000);
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(admin) && t_quiet(c));
    T_UNTIL(c->n[RELET_EV_UNSUBSCRIBED] == 1);
    T_EQ(t_heard.wrong, 0);
    T_EQ(t_heard.after_left, 0);
    T_EQ(T_ASK(admin, "PUBLISH", "news", "1")->number, 0);
    T_EQ(T_ASK(admin, "PUBLISH", "other", "1")->number, 1);
    T_UNTIL(t_heard.after_left == 1);
}

/* The server answers UNSUBSCRIBE with an error, not with a push. */
static void unsubscribing_ends_though_the_server_refuses_it(void)
{
    relet_config g = t_as_bob();
    t_client *c;

    t_start("user bob on >pw ~* &* +@all -unsubscribe -punsubscribe");
    c = t_open(&g);
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_EQ(t_wish(c, RELET_PATTERN, "news"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 2);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    /* Only the end of the link ends the channel's messages. The next link has
     * the other subscription again. */
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    T_UNTIL(c->n[RELET_EV_UNSUBSCRIBED] == 1 && c->n[RELET_EV_UP] == 2);
    T_EQ(c->n[RELET_EV_DOWN], 1);
    T_EQ(c->n[RELET_EV_SUBSCRIBED], 3);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 20);
    T_EQ(c->n[RELET_EV_ERROR], 0);
}

static void a_subscription_toggled_under_load_ends_in_its_last_state(void)
{
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_promote();
    c = t_promote();
    for (i = 0; i < 200; i++) {
        if (i < 20 && i % 5 == 0)
            T_SAY(admin, "EVAL", t_storm, "0");
        T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
        t_many(c, 1, T_ECHO, 0, 0);
        if (i % 3 == 0)
            t_turn();
        T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    }
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_UNTIL(t_quiet(c) && t_quiet(admin));
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    t_listen(c);
    T_EQ(T_ASK(admin, "PUBLISH", "news", "0")->number, 1);
    T_UNTIL(t_heard.next == 1);
    T_EQ(c->n[RELET_EV_DOWN], 0);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 0);
}

/* -------------------------------------------------------------- tracking */

static void t_see_keys(t_client *c, const relet_event *ev)
{
    relet_value v = relet_value_first(ev->value);
    size_t n = relet_value_count(ev->value), used = strlen(t_heard.keys);
    relet_span key;

    (void)c;
    if (ev->kind != RELET_EV_INVALIDATE)
        return;
    if (relet_value_type(ev->value) == RELET_T_NULL)
        (void)snprintf(t_heard.keys + used, sizeof t_heard.keys - used, "* ");
    for (; n > 0; n--, v = relet_value_next(v)) {
        key = relet_value_text(v);
        used = strlen(t_heard.keys);
        T_CMP(key.n, <, sizeof t_heard.keys - used - 1);
        t_copy(t_heard.keys + used, key.n + 1, key);
        (void)strcat(t_heard.keys, " ");
    }
}

static t_client *t_tracker(relet_tracking tracking, const char *prefix,
                           int noloop)
{
    relet_config g = t_config();
    t_client *c;

    g.tracking = tracking;
    g.tracking_noloop = noloop;
    (void)snprintf(g.tracking_prefix, sizeof g.tracking_prefix, "%s", prefix);
    memset(&t_heard, 0, sizeof t_heard);
    c = t_open(&g);
    c->see = t_see_keys;
    T_UNTIL(relet_is_up(c->r) && c->n[RELET_EV_UP] > 0);
    return c;
}

/* Checks that exactly these keys were invalidated, and forgets them. */
static void t_heard_keys(t_client *c, const char *keys)
{
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    if (strcmp(t_heard.keys, keys) != 0)
        t_fail(__FILE__, __LINE__, "invalidated '%s', not '%s'", t_heard.keys,
               keys);
    t_heard.keys[0] = '\0';
}

static void tracking_reads_tells_of_keys_read_and_of_gaps(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_tracker(RELET_TRACK_READ, "", 0);
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(admin, "SET", "unread", "1");
    (void)T_ASK(admin, "SET", "read", "1");
    t_heard_keys(c, "read ");
    (void)T_ASK(admin, "SET", "read", "2"); /* an invalidation is told once */
    t_heard_keys(c, "");
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(c, "SET", "read", "3");
    t_heard_keys(c, "read ");
    (void)T_ASK(admin, "FLUSHALL");
    t_heard_keys(c, "* ");
    T_EQ(c->n[RELET_EV_GAP], 0);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->number, 1);
    T_UNTIL(c->n[RELET_EV_GAP] == 2); /* one with DOWN, one with UP */
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(admin, "SET", "read", "4");
    t_heard_keys(c, "read ");
}

static void tracking_by_choice_tells_of_chosen_reads_only(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_tracker(RELET_TRACK_OPTIN, "", 0);
    (void)T_ASK(c, "GET", "plain");
    (void)t_ask(c, t_say(c, RELET_CACHED, 0, "GET", "chosen",
                         (const char *)NULL));
    T_EQ(c->answer.kind, RELET_EV_REPLY);
    T_EQ(c->answer.type, RELET_T_NULL);
    (void)T_ASK(admin, "SET", "plain", "1");
    (void)T_ASK(admin, "SET", "chosen", "1");
    t_heard_keys(c, "chosen ");
}

static void tracking_by_prefix_tells_of_keys_that_were_never_read(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_tracker(RELET_TRACK_BROADCAST, "a:,b:", 0);
    (void)T_ASK(admin, "SET", "c:1", "1");
    t_heard_keys(c, "");
    (void)T_ASK(admin, "SET", "a:1", "1");
    t_heard_keys(c, "a:1 ");
    (void)T_ASK(admin, "SET", "b:1", "1");
    t_heard_keys(c, "b:1 ");
}

static void tracking_without_loop_is_silent_about_own_writes(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_tracker(RELET_TRACK_READ, "", 1);
    (void)T_ASK(c, "GET", "k");
    (void)T_ASK(c, "SET", "k", "1");
    t_heard_keys(c, "");
    (void)T_ASK(c, "GET", "k");
    (void)T_ASK(admin, "SET", "k", "2");
    t_heard_keys(c, "k ");
}

static const t_case t_cases[] = {
    C(ten_thousand_pushes_between_two_replies_are_all_told, T_BOTH),
    C(every_kind_of_subscription_holds_until_it_is_taken_back, T_BOTH),
    C(no_message_comes_after_unsubscribed, T_BOTH),
    C(unsubscribing_ends_though_the_server_refuses_it, T_BOTH),
    C(a_subscription_toggled_under_load_ends_in_its_last_state, T_BOTH),
    C(tracking_reads_tells_of_keys_read_and_of_gaps, T_BOTH),
    C(tracking_by_choice_tells_of_chosen_reads_only, T_BOTH),
    C(tracking_by_prefix_tells_of_keys_that_were_never_read, T_BOTH),
    C(tracking_without_loop_is_silent_about_own_writes, T_BOTH)};

T_SERVER_MAIN(t_cases)
