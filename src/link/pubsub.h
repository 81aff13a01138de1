/* SPDX-License-Identifier: MIT
 *
 * pubsub.h - subscriptions: those that the user wants, and those that the
 * server agreed to.
 *
 * A subscription has a slot in a table. `want`: the user wants the
 * subscription. `heading`: the server will have it once all commands under way
 * have arrived. Where the two differ, a command is to be sent.
 *
 *   event                want  heading  asked  leaving  tells
 *   -------------------  ----  -------  -----  -------  ----------------------
 *   user subscribes      1
 *   user unsubscribes    0                              UNSUBSCRIBED, unless
 *                                                       under way or in force
 *   SUBSCRIBE sent             1        +1
 *   UNSUBSCRIBE sent           0               +1
 *   push: agreed                        -1              SUBSCRIBED
 *   error instead        0     there    -1              SUBSCRIPTION_REFUSED
 *   BUSY instead               there    -1              UNSUBSCRIBED, if !want
 *   barrier reached                            -1       UNSUBSCRIBED
 *   … behind a BUSY            there           -1       UNSUBSCRIBED, if !want
 *   unasked sunsubscribe       0                        GAP
 *   link broke                 0        0      0        UNSUBSCRIBED, if !want
 *   … the library's own  1     0        0      0
 *
 * An error or BUSY changes want and heading, and is told, only if no other
 * command of the subscription is under way: else the other command decides.
 * "If !want" holds only while the subscription is not in force, either. A slot
 * is free again once its subscription is unwanted and nothing is under way. */
#ifndef RLT_PUBSUB_H
#define RLT_PUBSUB_H

#include "base.h"
#include "buf.h"

typedef struct rlt_subscription {
    size_t name, name_len; /* in the names buffer                            */
    uint16_t asked, leaving;
    uint8_t kind; /* relet_channel                                           */
    uint8_t used, want, heading;
    uint8_t there;   /* it was in force at the server's last answer          */
    uint8_t goodbye; /* RELET_EV_UNSUBSCRIBED is to be told                   */
    uint16_t own;    /* parts of the library that listen to it; 0: the user  */
} rlt_subscription;

typedef struct rlt_pubsub {
    rlt_subscription *subscriptions;
    uint32_t max;
    uint32_t hint;     /* where the next search begins                       */
    uint32_t lent;     /* slot + 1 of the name that an event shows           */
    uint32_t goodbyes; /* number of slots with `goodbye`                     */
    uint8_t dirty;     /* some want may differ from its heading              */
    uint32_t spare;    /* slots at the end that are not for the user's       */
    rlt_buf names;
} rlt_pubsub;

#define RLT_NO_SUBSCRIPTION UINT32_MAX

/* Slots in the table. */
RLT_SHORT uint32_t rlt_pubsub_max(const rlt_pubsub *ps)
{
    return RLT_HAS_MESSAGES ? ps->max : 0;
}

RELET_PRIVATE void rlt_pubsub_init(rlt_pubsub *ps, rlt_subscription *wishes,
                                   uint32_t max, rlt_memory memory, void *names,
                                   size_t names_max);
RELET_PRIVATE void rlt_pubsub_free(rlt_pubsub *ps);

/* 0, or RELET_E_LIMIT, RELET_E_MEMORY. */
RELET_PRIVATE int rlt_pubsub_subscribe(rlt_pubsub *ps, relet_channel kind,
                                       relet_span name);

/* 0, or RELET_E_REFUSED when the user has no such subscription. */
RELET_PRIVATE int rlt_pubsub_unsubscribe(rlt_pubsub *ps, relet_channel kind,
                                         relet_span name);

/* A subscription of the library's own, to a sharded channel, in one of the
 * `spare` slots. Returns what rlt_pubsub_subscribe returns. Each call counts,
 * and _disown takes one back: the last one ends the subscription. */
RELET_PRIVATE int rlt_pubsub_own(rlt_pubsub *ps, relet_span name);
RELET_PRIVATE void rlt_pubsub_disown(rlt_pubsub *ps, relet_span name);

/* 1 for the slot of a subscription of the library's own, also of an ended
 * one. */
RLT_SHORT int rlt_pubsub_is_own(const rlt_pubsub *ps, uint32_t slot)
{
    return slot >= ps->max - ps->spare;
}

/* 1 when the user wants any subscription. */
RELET_PRIVATE int rlt_pubsub_any(const rlt_pubsub *ps);

/* 1 when a subscription that the user wants is in force on this link. */
RELET_PRIVATE int rlt_pubsub_in_force(const rlt_pubsub *ps);

/* The next slot that a command is to be sent for, and in *leave whether it is
 * an UNSUBSCRIBE; or RLT_NO_SUBSCRIPTION. Then call rlt_pubsub_was_sent. */
RELET_PRIVATE uint32_t rlt_pubsub_send(rlt_pubsub *ps, int *leave);
RELET_PRIVATE void rlt_pubsub_was_sent(rlt_pubsub *ps, uint32_t slot,
                                       int leave);

/* For a handshake: the first slot, from `from` on, whose subscription is to be
 * sent; or RLT_NO_SUBSCRIPTION. */
RELET_PRIVATE uint32_t rlt_pubsub_restore(const rlt_pubsub *ps, uint32_t from);

/* The words for a slot: SUBSCRIBE or UNSUBSCRIBE of its kind, and its name. */
RELET_PRIVATE void rlt_pubsub_command(const rlt_pubsub *ps, uint32_t slot,
                                      int leave, relet_span argv[2]);
RELET_PRIVATE relet_span rlt_pubsub_name(const rlt_pubsub *ps, uint32_t slot);

/* The kind of a push. */
typedef enum rlt_push {
    RLT_PUSH_MALFORMED, /* a known kind in an unknown shape                  */
    RLT_PUSH_MESSAGE,
    RLT_PUSH_INVALIDATE,
    RLT_PUSH_SUBSCRIBED,   /* *slot, or RLT_NO_SUBSCRIPTION                  */
    RLT_PUSH_UNSUBSCRIBED, /* *slot, or RLT_NO_SUBSCRIPTION                  */
    RLT_PUSH_UNKNOWN
} rlt_push;

/* Fills kind, channel, pattern and value of the event as far as they apply. */
RELET_PRIVATE rlt_push rlt_pubsub_read(rlt_pubsub *ps, relet_value push,
                                       relet_event *ev, uint32_t *slot);

/* The events of the table above. `refused` returns 1 when the refusal is to be
 * told, `moved` (an unasked sunsubscribe) when a wanted subscription was in
 * force; `stayed` is the barrier behind a BUSY. */
RELET_PRIVATE void rlt_pubsub_agreed(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE int rlt_pubsub_refused(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE void rlt_pubsub_busy(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE void rlt_pubsub_stayed(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE void rlt_pubsub_left(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE int rlt_pubsub_moved(rlt_pubsub *ps, uint32_t slot);
RELET_PRIVATE void rlt_pubsub_broken(rlt_pubsub *ps);

/* The first slot, in slot order, with a SUBSCRIBE that is not answered; or
 * RLT_NO_SUBSCRIPTION. A handshake sends its commands in slot order. */
RELET_PRIVATE uint32_t rlt_pubsub_next_asked(const rlt_pubsub *ps);

/* Fill the event with a slot's kind and name, lent until rlt_pubsub_release. */
RELET_PRIVATE void rlt_pubsub_show(rlt_pubsub *ps, uint32_t slot,
                                   relet_event *ev);
RELET_PRIVATE void rlt_pubsub_release(rlt_pubsub *ps);

/* 1 and an UNSUBSCRIBED event, if one is to be told. */
RELET_PRIVATE int rlt_pubsub_event(rlt_pubsub *ps, relet_event *ev);

#endif
