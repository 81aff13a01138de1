/* SPDX-License-Identifier: MIT
 *
 * turn.h - a turn of the driver for POSIX systems: waits once, moves bytes, and
 * tells the client the time.
 *
 * A turn waits for the link's descriptors and for relet_wake, until the next
 * deadline at most. Then it moves bytes first and tells the time second. The
 * link is a socket (socket.c) or, with mem: and file:, a connection number of a
 * local server (relet_local.h), if RELET_LOCAL is defined. */
#ifndef RLT_TURN_H
#define RLT_TURN_H

#include "client.h"
#include "origin.h"
#include "socket.h"

#ifndef RELET_NO_POLL

#ifdef RELET_LOCAL
#include "relet_local.h"
#define RLT_TURN_STORE(d) ((d)->store)
#else
typedef struct relet_store relet_store;
#define RLT_TURN_STORE(d) ((relet_store *)NULL) /* removes the code for it */
#define relet_store_leave(k) ((void)0)
#define relet_store_wish(k, r, io) ((void)0)
#define relet_store_move(k) ((void)0)
#define relet_store_deadline(k) RELET_NEVER
#endif

typedef struct rlt_driver {
    int wake_in, wake_out;
    int woken; /* relet_wake was called, and no wait has ended for it yet */
    int lends; /* the last call has lent an event: more may be there already */
    relet_time now;
    rlt_socket link[RELET_LINKS_MAX];
    rlt_watchset set; /* for relet_fd                                        */
    rlt_origin origin;
#ifdef RELET_LOCAL
    relet_store *store; /* with mem: and file:, instead of `link`            */
#endif
} rlt_driver;

RELET_PRIVATE rlt_driver *rlt_driver_of(const relet *r);

/* The descriptors of relet_wake. _open: 0, or -1 and errno. */
RELET_PRIVATE int rlt_turn_wake_open(rlt_driver *d);
RELET_PRIVATE void rlt_turn_wake_close(rlt_driver *d);

/* 1: this is not the process that opened the client, which is refused from now
 * on. */
RELET_PRIVATE int rlt_turn_look_foreign(relet *r);

/* The end of a wait of `ms` from now; below 0: RELET_NEVER. */
RELET_PRIVATE relet_time rlt_turn_until(relet *r, relet_time ms);

/* Opens or closes the link as the client asks, and writes pending bytes. */
RELET_PRIVATE void rlt_turn_serve(relet *r);

/* w[0] is for wake-ups, the others are the link's; unused ones have fd -1. */
RELET_PRIVATE void rlt_turn_watch(relet *r, rlt_driver *d, relet_watch *w);

/* When a turn is due though no descriptor is ready; as a timeout for poll. */
RELET_PRIVATE relet_time rlt_turn_due(const relet *r, const rlt_driver *d);
RELET_PRIVATE int rlt_turn_pause(relet_time due, relet_time now);

/* Sleeps until `until` at most, and does one turn of work: 0 or
 * RELET_E_SYSTEM. _now: the time of the last turn. */
RELET_PRIVATE int rlt_turn_take(relet *r, relet_time until);
RELET_PRIVATE relet_time rlt_turn_now(const relet *r);

/* 1 if no link will come any more and nothing is due, so that a wait would not
 * end. */
RELET_PRIVATE int rlt_turn_is_over(const relet *r);

#endif /* RELET_NO_POLL */

#endif
