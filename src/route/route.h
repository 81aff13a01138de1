/* SPDX-License-Identifier: MIT
 *
 * route.h - the links of a client by their numbers, and the link over which
 * each operation goes.
 *
 * Modules above ask the route for a link, and use the link by the functions of
 * link.h. A client of one server has one link, which serves every hash slot.
 * Totals of a client are added up here, such as the number of outstanding
 * operations and of queued bytes. */
#ifndef RLT_ROUTE_H
#define RLT_ROUTE_H

#include "base.h"
#include "hashslot.h"
#include "link.h"

typedef struct rlt_route {
    rlt_link link[RELET_LINKS_MAX];
} rlt_route;

/* The hash slot of an operation without a key, or with unknown keys. */
#define RLT_ANY_HASHSLOT RLT_HASHSLOTS

/* The hash slot of this key; with one link, all slots are alike. */
RLT_SHORT uint16_t rlt_route_hashslot(relet_span key)
{
    return RELET_LINKS_MAX > 1 ? rlt_hashslot_of(key) : RLT_ANY_HASHSLOT;
}

/* ------------------------------------------------------------ which link */

/* The link for operations of this hash slot. */
RLT_SHORT rlt_link *rlt_route_link(rlt_route *o, uint16_t hashslot)
{
    rlt_assert(hashslot <= RLT_ANY_HASHSLOT);
    (void)hashslot;
    return &o->link[0];
}

/* The link for commands that belong to no hash slot: subscriptions to channels
 * that are not sharded. */
RLT_SHORT rlt_link *rlt_route_home(rlt_route *o)
{
    return &o->link[0];
}

/* The link that the driver knows by this number. */
RLT_SHORT rlt_link *rlt_route_numbered(rlt_route *o, int number)
{
    rlt_assert((unsigned)number < RELET_LINKS_MAX);
    return &o->link[number];
}

/* As relet_io_pending. */
RLT_SHORT size_t rlt_route_pending(const rlt_route *o, int number,
                                   const uint8_t **p)
{
    rlt_assert((unsigned)number < RELET_LINKS_MAX);
    return rlt_link_pending(&o->link[number], p);
}

/* Whether operations of this hash slot can be sent now. */
RLT_SHORT int rlt_route_is_up(const rlt_route *o, uint16_t hashslot)
{
    (void)hashslot;
    return rlt_link_is_up(&o->link[0]);
}

/* A number that changes with each connection that serves this hash slot; 0:
 * there was no connection yet. */
RLT_SHORT uint32_t rlt_route_epoch(const rlt_route *o, uint16_t hashslot)
{
    (void)hashslot;
    return rlt_link_epoch(&o->link[0]);
}

/* As rlt_link_silent_at, of the link that serves this hash slot. */
RLT_SHORT relet_time rlt_route_silent_at(const rlt_route *o, uint16_t hashslot,
                                         uint64_t tag, relet_time since,
                                         relet_time ms)
{
    (void)hashslot;
    return rlt_link_silent_at(&o->link[0], tag, since, ms);
}

/* ---------------------------------------------------------- of all links */

RELET_PRIVATE void rlt_route_free(rlt_route *o);
RELET_PRIVATE void rlt_route_stats(const rlt_route *o, relet_stats *out);
RELET_PRIVATE relet_time rlt_route_deadline(const rlt_route *o);
RELET_PRIVATE void rlt_route_tick(rlt_route *o, relet_time now);
RELET_PRIVATE void rlt_route_stop(rlt_route *o);

/* As relet_io_want. */
RELET_PRIVATE int rlt_route_want(rlt_route *o, relet_io *io);

/* 1 if no link will connect again. */
RELET_PRIVATE int rlt_route_is_over(const rlt_route *o);

/* As the functions of link.h, over all links. */
RELET_PRIVATE size_t rlt_route_cancel(rlt_route *o, uint64_t tag);
RELET_PRIVATE void rlt_route_disown(rlt_route *o, uint64_t tag, uint64_t heir);
RELET_PRIVATE int rlt_route_has_tag(const rlt_route *o, uint64_t tag);
RELET_PRIVATE int rlt_route_has_place(const rlt_route *o, uint32_t place);
RELET_PRIVATE int rlt_route_credentials(rlt_route *o, relet_span user,
                                        relet_span password);

/* The user's operations without an outcome, and the bytes that wait to be
 * sent. */
RLT_SHORT size_t rlt_route_outstanding(const rlt_route *o)
{
    size_t i, n = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        n += rlt_link_outstanding(&o->link[i]);
    return n;
}

RLT_SHORT size_t rlt_route_queued(const rlt_route *o)
{
    size_t i, n = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        n += rlt_link_queued(&o->link[i]);
    return n;
}

/* The allocator, and the most bytes of a reply: the same for each link. */
RLT_SHORT rlt_memory rlt_route_memory(const rlt_route *o)
{
    return rlt_link_memory(&o->link[0]);
}

RLT_SHORT size_t rlt_route_reply_max(const rlt_route *o)
{
    return rlt_link_reply_max(&o->link[0]);
}

/* --------------------------------------------------------- what comes in */

/* Where rlt_route_next goes on, if the caller does not tell the user of what it
 * has found. */
typedef struct rlt_route_from {
    uint32_t link;
    rlt_from from;
} rlt_route_from;

#define RLT_ROUTE_START {0, RLT_FROM_START}

/* The next thing to deliver, as rlt_link_next, from one link after the
 * other. */
RLT_SHORT rlt_found rlt_route_next(rlt_route *o, relet_event *ev,
                                   rlt_route_from *at)
{
    rlt_found found = RLT_FOUND_NOTHING;

    rlt_assert(at->link < RELET_LINKS_MAX);
    while (at->link < RELET_LINKS_MAX) {
        found = rlt_link_next(&o->link[at->link], ev, &at->from);
        if (found)
            break;
        at->link++;
        at->from = RLT_FROM_START;
    }
    return found;
}

RLT_SHORT int rlt_route_tells(const rlt_route *o)
{
    int i, tells = 0;

    for (i = 0; i < RELET_LINKS_MAX && !tells; i++)
        tells = rlt_link_tells(&o->link[i]);
    return tells;
}

RLT_SHORT int rlt_route_take_missed(rlt_route *o)
{
    int i, missed = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        missed |= rlt_link_take_missed(&o->link[i]);
    return missed;
}

RLT_SHORT void rlt_route_release(rlt_route *o)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_release(&o->link[i]);
}

RLT_SHORT int rlt_route_has_answered(const rlt_route *o)
{
    int i, answered = 0;

    for (i = 0; i < RELET_LINKS_MAX && !answered; i++)
        answered = rlt_link_has_answered(&o->link[i]);
    return answered;
}

/* The next operation that was answered by its batch: 1 and *out, or 0. */
RELET_PRIVATE int rlt_route_take_answered(rlt_route *o, rlt_op *out);

#endif
