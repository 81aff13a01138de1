/* SPDX-License-Identifier: MIT
 *
 * hears.c - judges the messages and subscriptions of a node: R2 for messages,
 * and R9: a new link begins with a handshake and restores all subscriptions. */
#include <string.h>

#include "sim.h"
#include "wire.h"

const char *const sim_wish_name[SIM_WISHES] = {"c0", "c1", "p?", "c*", "s0",
                                               "s1"};
const relet_channel sim_wish_kind[SIM_WISHES] = {
    RELET_CHANNEL, RELET_CHANNEL, RELET_PATTERN,
    RELET_PATTERN, RELET_SHARDED, RELET_SHARDED};

int sim_wish_of(relet_channel kind, relet_span name)
{
    int i;

    for (i = 0; i < SIM_WISHES; i++)
        if (sim_wish_kind[i] == kind && name.n == 2 &&
            memcmp(name.p, sim_wish_name[i], 2) == 0)
            return i;
    return -1;
}

/* The first command of the user on a link finds the handshake done, the
 * database selected and the subscriptions restored. */
void sim_hears_first(sim_world *w, sim_link *l)
{
    sim_node *n = &w->node[l->node];
    unsigned missing = l->restore & ~l->subscribed & ~l->left;

    if (!sim_holds(w, SIM_R9, l->greeted))
        sim_fail(w, SIM_R9, "n%d: a command came before HELLO", l->node);
    if (!sim_judges(w, SIM_R9, l->lied, l->selected == n->config.db))
        sim_fail(w, SIM_R9, "n%d: a command came for database %d, not %d",
                 l->node, l->selected, n->config.db);
    if (missing)
        sim_fail(w, SIM_R9, "n%d: a command came before subscriptions %x",
                 l->node, missing);
}

void sim_hears_wish(sim_world *w, sim_node *n, int wish, int on)
{
    sim_link *l = sim_net_of_node(w, n);

    n->wish_moved |= 1u << wish;
    if (on)
        n->wished |= 1u << wish;
    else
        n->wished &= ~(1u << wish);
    if (l)
        l->left |= 1u << wish;
    SIM_SAY(w, "n%d %s %s", n->number,
            on ? "subscribes to" : "unsubscribes from", sim_wish_name[wish]);
}

static uint64_t hears_digest(const relet_event *ev)
{
    uint64_t digest = sim_mix(0, ev->channel_kind == RELET_PATTERN   ? 1
                                 : ev->channel_kind == RELET_SHARDED ? 2
                                                                     : 0);

    if (ev->channel_kind == RELET_PATTERN)
        digest = sim_wire_text(digest, 'm', ev->pattern);
    digest = sim_wire_text(digest, 'm', ev->channel);
    return sim_wire_text(digest, 'm', relet_value_text(ev->value));
}

/* One GAP follows each UP of a client that lost a link. Any other GAP means
 * that there was no memory for a push, and that messages before the next
 * message may be missing (seed 1704635408684 of WORK=jobs). Each such GAP needs
 * a refused allocation of its own. */
void sim_hears_gap(sim_world *w, sim_node *n)
{
    int short_of_memory = n->short_us >= n->gap_us;

    if (!n->may_gap &&
        !sim_judges(w, SIM_R6, n->lied, short_of_memory))
        sim_fail(w, SIM_R6, "n%d gets a GAP, but no link was lost and no "
                 "allocation had failed", n->number);
    n->may_skip = short_of_memory;
    n->gap_due = n->may_gap = 0;
    n->gap_us = w->now_us;
}

/* A node gets the messages of its link in order. A message may be missing only
 * if subscriptions have changed on this link, or if a GAP said so. */
void sim_hears_message(sim_world *w, sim_node *n, const relet_event *ev)
{
    uint64_t digest = hears_digest(ev);
    int found = 0;

    if (sim_awaits_channel(ev->channel))
        return;
    SIM_MARK(message);
    if (n->open_ops > 0)
        SIM_MARK(push_between_answers);
    if (n->lied)
        return;
    while (!found && n->message_first < n->message_last) {
        found = n->message[n->message_first++ % SIM_MESSAGES] == digest;
        if (!found && !n->wish_moved && !n->may_skip)
            break;
    }
    n->may_skip = 0;
    if (!sim_holds(w, SIM_R2, found))
        sim_fail(w, SIM_R2, "n%d gets a message that is not the next one that "
                 "the server sent", n->number);
    if (n->gap_due)
        sim_fail(w, SIM_R9, "n%d gets a message before the GAP", n->number);
    if (relet_value_text(ev->value).n == 5 &&
        memcmp(relet_value_text(ev->value).p, "probe", 5) == 0)
        n->heard |= 1u << sim_wish_of(ev->channel_kind,
                                      ev->channel_kind == RELET_PATTERN
                                          ? ev->pattern
                                          : ev->channel);
}

/* The client subscribes by itself to {KEY}:wake:UID. */
static int hears_of_wake_up(relet_span channel)
{
    static const char mark[] = ":wake:";
    size_t i, n = sizeof mark - 1;

    for (i = 0; i + n <= channel.n; i++)
        if (memcmp(channel.p + i, mark, n) == 0)
            return 1;
    return 0;
}

void sim_hears_subscription(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_link *l = sim_net_of_node(w, n);
    int wish = sim_wish_of(ev->channel_kind, ev->channel);

    if (wish < 0 && (n->lied || sim_awaits_channel(ev->channel)))
        return;
    if (wish < 0 && ev->kind == RELET_EV_SUBSCRIPTION_REFUSED &&
        hears_of_wake_up(ev->channel)) {
        SIM_MARK(wake_refused);
        if (!sim_troubled(n, w->now_us))
            sim_fail(w, SIM_R6, "n%d: no server refused this channel for "
                     "wake-ups", n->number);
        return;
    }
    if (wish < 0) {
        sim_fail(w, SIM_R9, "n%d: %s of a channel to which it did not "
                 "subscribe", n->number, relet_kind_text(ev->kind));
        return;
    }
    if (ev->kind == RELET_EV_SUBSCRIBED) {
        if (n->ups > 0 && (n->told[RELET_EV_DOWN] > 0))
            SIM_MARK(resubscribed);
        n->in_force |= 1u << wish;
        return;
    }
    n->in_force &= ~(1u << wish);
    if (ev->kind == RELET_EV_UNSUBSCRIBED) {
        SIM_MARK(unwished);
        return;
    }
    SIM_MARK(wish_refused);
    n->wished &= ~(1u << wish);
    if (l)
        l->left |= 1u << wish;
    if (!sim_troubled(n, w->now_us))
        sim_fail(w, SIM_R6, "n%d: a subscription was refused without a cause",
                 n->number);
}
