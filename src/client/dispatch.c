/* SPDX-License-Identifier: MIT
 *
 * dispatch.c - the user's next event: of a lease, a worker, a put or the link.
 *
 * Input is handled when the user asks for the next event, until there is an
 * event to tell. */
#include "kept.h"
#include "text.h"

/* The outcome of a library operation: ev->tag and, if one was heard, its value.
 * 1: *ev is to be told. */
static int dispatch_ours(relet *r, relet_event *ev)
{
    rlt_tag tag = ev->tag;
    relet_value v = ev->value;
    rlt_heard heard = v.node ? RLT_HEARD_VALUE : RLT_HEARD_NOTHING;

    rlt_event_clear(ev);
    switch (RLT_TAG_PART(tag)) {
    case RLT_PART_LEASE:
        return rlt_leases_answer(r, tag, heard, v, ev);
    case RLT_PART_WORKER:
        return rlt_workers_answer(r, tag, heard, v, ev);
    default:
        rlt_assert(tag == RLT_TAG_IGNORED);
        return 0;
    }
}

/* 1: *ev is to be told. A push that was lost for want of room may have been a
 * wake-up, for any lease or worker. */
static int dispatch_link(relet *r, relet_event *ev)
{
    rlt_route_from at = RLT_ROUTE_START;

    for (;;)
        switch (rlt_route_next(&r->route, ev, &at)) {
        case RLT_FOUND_NOTHING:
            return 0;
        case RLT_FOUND_BATCH:
            rlt_put_answered(r, ev);
            return 1;
        case RLT_FOUND_EVENT:
            if (RLT_HAS_ENGINE && rlt_route_take_missed(&r->route)) {
                rlt_leases_wake(r, rlt_span(NULL, 0));
                rlt_workers_wake(r, rlt_span(NULL, 0));
            }
            return 1;
        case RLT_FOUND_OUTCOME:
            return 1;
        case RLT_FOUND_OURS:
            if (RLT_HAS_ENGINE && dispatch_ours(r, ev))
                return 1;
            break;
        }
}

static void dispatch_count(relet *r, const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY)
        r->replies++;
    else if (ev->kind == RELET_EV_ERROR)
        r->errors++;
    else if (ev->kind == RELET_EV_NOT_SENT)
        r->not_sent++;
    else if (ev->kind == RELET_EV_UNSURE)
        r->unsure++;
}

/* The next event, including those that users are not told of. This runs once
 * per event, so a part is called only if it has something to tell. */
static int dispatch_next(relet *r, relet_event *ev)
{
    int told;

    rlt_event_clear(ev);
    rlt_route_release(&r->route);
    do {
        told = (rlt_leases_tells(r) && rlt_leases_event(r, ev)) ||
               (rlt_workers_tells(r) && rlt_workers_event(r, ev)) ||
               (rlt_puts_tells(r) && rlt_put_event(r, ev)) ||
               dispatch_link(r, ev);
    } while (!told && rlt_route_tells(&r->route));
    if (told)
        dispatch_count(r, ev);
    return told;
}

/* 1: the event is about a channel for wake-ups, and not to be told. If the
 * channel has moved away, a message may have been missed: all are woken. If the
 * server refuses the channel, its user hears why nothing is woken. */
static int dispatch_wakes(relet *r, const relet_event *ev)
{
    relet_span key = relet_value_text(ev->value);

    if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED || !rlt_wake_hides(r, ev))
        return 0;
    if (ev->kind == RELET_EV_MESSAGE || ev->kind == RELET_EV_GAP) {
        rlt_leases_wake(r, key);
        rlt_workers_wake(r, key);
    }
    return 1;
}

/* The next event that was not kept. */
static int dispatch_told(relet *r, relet_event *ev)
{
    int told;

    do {
        told = dispatch_next(r, ev);
    } while (RLT_HAS_ENGINE && told && ev->channel.n > 0 &&
             dispatch_wakes(r, ev));
    if (!told)
        rlt_workers_flush(r);
    return told;
}

RELET_API int relet_next(relet *r, relet_event *ev)
{
    if (RLT_UNLIKELY(rlt_client_is_foreign(r)))
        return 0;
    if (RLT_UNLIKELY(r->kept != NULL) && rlt_kept_next(r, ev))
        return 1;
    return dispatch_told(r, ev);
}

/* -------------------------------------------------------- waiting for one */

#ifndef RELET_NO_POLL
#ifndef RELET_SMALL

/* The newest event that is kept gets bytes of its own: 0 or a code. */
static int dispatch_settle(relet *r, size_t max)
{
    int code;

    if (r->kept == NULL || r->kept->whole)
        return 0;
    code = rlt_kept_copy(r, max);
    if (code == 0 && r->kept->ev.kind == RELET_EV_JOBS)
        rlt_workers_kept(r, &r->kept->ev, r->kept->copy);
    return code;
}

RELET_PRIVATE void rlt_await_secure(relet *r)
{
    if (dispatch_settle(r, SIZE_MAX) != 0)
        rlt_kept_strip(r);
}

RELET_PRIVATE int rlt_await_begin(relet *r, const rlt_wanted *w,
                                  relet_event *ev)
{
    if (rlt_kept_take(r, w, ev))
        return 1;
    if (w->kind == RELET_EV_LEASE_ENDED && !rlt_leases_has(r, w->number))
        return rlt_client_refuse(r, "there is no such lease");
    if (w->kind == RELET_EV_WORKER_ENDED && !rlt_workers_has(r, w->number))
        return rlt_client_refuse(r, "there is no such worker");
    if (w->kind == RELET_EV_REPLY && !rlt_route_has_tag(&r->route, w->tag))
        return rlt_client_refuse(r, "no operation with this tag waits for its "
                                    "outcome");
    return dispatch_settle(r, rlt_route_reply_max(&r->route));
}

/* Allocates memory before it takes an event, so that a refused allocation loses
 * no event. */
RELET_PRIVATE int rlt_await_next(relet *r, const rlt_wanted *w,
                                 relet_event *ev)
{
    rlt_kept *k;
    int code;

    for (;;) {
        code = dispatch_settle(r, rlt_route_reply_max(&r->route));
        if (code != 0)
            return code;
        k = rlt_kept_make(r);
        if (k == NULL)
            return RELET_E_MEMORY;
        code = dispatch_told(r, ev);
        if (code == 0 || rlt_wanted_is(w, ev))
            break;
        rlt_kept_add(r, k, ev);
    }
    rlt_kept_free(r, k);
    return code;
}

#endif /* RELET_SMALL */
#endif /* RELET_NO_POLL */
