/* SPDX-License-Identifier: MIT
 *
 * kept.h - events that are kept for the user, while a function waits for
 * another event; and that wait. */
#ifndef RLT_KEPT_H
#define RLT_KEPT_H

#include "client.h"

/* An event that is kept for the user. */
typedef struct rlt_kept {
    struct rlt_kept *next; /* of the newest: the oldest                      */
    void *copy;            /* of its value and texts                         */
    size_t n;              /* bytes of the copy                              */
    size_t bytes;          /* of the newest: bytes of all that are kept      */
    uint8_t whole;         /* 0: its value and texts are still the link's    */
    uint8_t lent;          /* the oldest: taken, and lent until the next is  */
    relet_event ev;
} rlt_kept;

/* The event that the user waits for. */
typedef struct rlt_wanted {
    relet_kind kind; /* RELET_EV_LEASE_ENDED, _WORKER_ENDED, or an outcome   */
    int number;      /* of the lease or worker                               */
    uint64_t tag;    /* of the operation                                     */
} rlt_wanted;

/* Whether the event is the one that is wanted. */
RLT_SHORT int rlt_wanted_is(const rlt_wanted *w, const relet_event *ev)
{
    if (w->kind == RELET_EV_LEASE_ENDED)
        return ev->kind == w->kind && ev->lease == w->number;
    if (w->kind == RELET_EV_WORKER_ENDED)
        return ev->kind == w->kind && ev->worker == w->number;
    return ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE &&
           ev->tag == w->tag;
}

#ifndef RELET_NO_POLL
#ifndef RELET_SMALL
#define RLT_CLIENT_KEEPS 1
#endif
#endif

/* Events that are kept. _make returns memory for one, before there is an event,
 * or NULL. _add: *ev becomes the newest, and its bytes are still the link's.
 * _copy gives the newest its own bytes: 0, RELET_E_LIMIT if all kept events
 * would take over `max` bytes, or _MEMORY. _strip removes its bytes instead.
 * _next lends the oldest, _take the wanted one; both return 0 if there is none.
 * _has: the end of this lease or worker is kept. Only clients of the driver for
 * POSIX keep events. */
#ifdef RLT_CLIENT_KEEPS

RELET_PRIVATE rlt_kept *rlt_kept_make(relet *r);
RELET_PRIVATE void rlt_kept_free(relet *r, rlt_kept *k);
RELET_PRIVATE void rlt_kept_add(relet *r, rlt_kept *k, const relet_event *ev);
RELET_PRIVATE int rlt_kept_copy(relet *r, size_t max);
RELET_PRIVATE void rlt_kept_strip(relet *r);
RELET_PRIVATE int rlt_kept_next(relet *r, relet_event *ev);
RELET_PRIVATE int rlt_kept_take(relet *r, const rlt_wanted *w, relet_event *ev);
RELET_PRIVATE int rlt_kept_has(const relet *r, relet_kind kind, int number);
RELET_PRIVATE void rlt_kept_finish(relet *r);

/* Whether an event is kept that is not lent. */
RLT_SHORT int rlt_kept_any(const relet *r)
{
    return r->kept != NULL &&
           (!r->kept->next->lent || r->kept->next != r->kept);
}

/* Call it before the link changes: the newest kept event gets its own bytes or,
 * without memory, has none. */
RELET_PRIVATE void rlt_await_secure(relet *r);

/* Waiting for one event. _begin: 1 and *ev if the event is kept already; 0 if
 * it is to be waited for; a code if it cannot come. _next: 1 and *ev if the
 * event has come; 0 if nothing more has come; or a code: then the last event
 * that came is kept, and the next call tries again to copy its bytes. */
RELET_PRIVATE int rlt_await_begin(relet *r, const rlt_wanted *w,
                                  relet_event *ev);
RELET_PRIVATE int rlt_await_next(relet *r, const rlt_wanted *w,
                                 relet_event *ev);

#else

RLT_SHORT int rlt_kept_any(const relet *r)
{
    (void)r;
    return 0;
}

RLT_SHORT int rlt_kept_next(relet *r, relet_event *ev)
{
    (void)r;
    (void)ev;
    return 0;
}

RLT_SHORT int rlt_kept_has(const relet *r, relet_kind kind, int number)
{
    (void)r;
    (void)kind;
    (void)number;
    return 0;
}

RLT_SHORT void rlt_kept_finish(relet *r)
{
    (void)r;
}

RLT_SHORT void rlt_await_secure(relet *r)
{
    (void)r;
}

#endif

#endif
