/* SPDX-License-Identifier: MIT
 *
 * elect.h - a lease and the campaign for it: when to ask, which event to tell.
 *
 *   state      event                      becomes    action, event
 *   ---------  -------------------------  ---------  -------------------------
 *   REST       start                      GATED
 *              start, no election         LEADING    GAINED, token 0
 *   GATED      all before it are held     WAITING    ask at once
 *   WAITING    ask_at has come, woken,    ASKING     ask
 *              a link came up
 *   ASKING     granted                    LEADING    GAINED
 *              refused                    WAITING    TROUBLE, if new and not a
 *                                                    lease that another holds
 *   LEADING    renewal had no effect      LEADING    TROUBLE, if new
 *              lost                       WAITING    LOST; ask again
 *              lost, once                 OVER       LOST, ENDED
 *              stop                       RESIGNING  LOST: STOPPED; lease kept
 *              an earlier lease was lost  RESIGNING  LOST: GROUP
 *   RESIGNING  stopped, grace is over     LEAVING    release
 *              lost                       OVER       ENDED
 *   LEAVING    release had no effect      LEAVING    TROUBLE, if new
 *              released                   OVER       ENDED
 *   OVER       ENDED was taken            REST
 *   GATED      stop, give_up_at           OVER       ENDED
 *   WAITING    stop, give_up_at           LEAVING    leave the line
 *   ASKING     stop, give_up_at           LEAVING    release behind the request
 *   WAITING,   an earlier lease was lost  LEAVING    as after a stop
 *   ASKING
 *   any        the client is stopped      OVER       LOST if LEADING, ENDED
 *
 * A campaign that left because an earlier lease of its group was lost is GATED
 * again instead of OVER, except one with `once` that was LEADING.
 *
 * LOST takes back a GAINED that the user has not taken yet: work that has not
 * begun need not stop. So GAINED and LOST alternate, and ENDED is the last.
 *
 * A follower asks when the holder's lease ends: the first in line at once, the
 * others later. A release wakes one follower. Wake-ups only shorten a wait. */
#ifndef RLT_ELECT_H
#define RLT_ELECT_H

#include "base.h"
#include "lease.h"

#ifndef RELET_NO_LEASE

typedef enum rlt_elect_state {
    RLT_ELECT_REST,
    RLT_ELECT_GATED,
    RLT_ELECT_WAITING,
    RLT_ELECT_ASKING,
    RLT_ELECT_LEADING,
    RLT_ELECT_RESIGNING,
    RLT_ELECT_LEAVING,
    RLT_ELECT_OVER
} rlt_elect_state;

typedef struct rlt_elect_plan {
    rlt_lease_plan lease;
    relet_time retry_ms; /* a follower asks at least this often              */
    relet_time wait_ms;  /* RELET_NEVER: until it is granted                 */
    relet_time grace_ms; /* longest time from a stop to the release          */
    relet_time quarantine_ms; /* 0: none                                     */
    uint8_t once;        /* ends with its first LOST                         */
    uint8_t alone;       /* no election: always leading                      */
} rlt_elect_plan;

/* The events to tell, taken in this order. */
enum {
    RLT_TELL_LOST = 1,
    RLT_TELL_TROUBLE = 2,
    RLT_TELL_GAINED = 4,
    RLT_TELL_ENDED = 8
};

typedef struct rlt_elect {
    rlt_lease lease;
    rlt_elect_plan plan;
    rlt_elect_state state;
    uint8_t tell;
    uint8_t woken;      /* a wake-up came while ASKING                       */
    uint8_t did_wait;   /* the lease was not free when first asked for       */
    uint8_t shut_out;   /* leaving, to be GATED again                        */
    int tries;          /* refusals in a row that were trouble               */
    int nearly;         /* refusals in a row by what was about to end        */
    relet_time ask_at, give_up_at, grace_until;
    uint64_t term, lost_term, lost_token; /* `term` counts GAINEDs           */
    relet_why lost_why, end_why, trouble;
    char text[96];      /* of the trouble                                    */
} rlt_elect;

RELET_PRIVATE void rlt_elect_start(rlt_elect *e, const rlt_elect_plan *plan,
                                   rlt_rand *rand, relet_time now);

/* The first tick since the start: wait_ms counts from now, since the client did
 * not know the time before. */
RELET_PRIVATE void rlt_elect_began(rlt_elect *e, relet_time now);

/* To be called at each turn. open: all leases before this one in its group are
 * held. */
RELET_PRIVATE void rlt_elect_turn(rlt_elect *e, relet_time now, int open);

/* _wake: the lease may have been released. _linked: there is a new link. */
RELET_PRIVATE void rlt_elect_wake(rlt_elect *e, relet_time now);
RELET_PRIVATE void rlt_elect_linked(rlt_elect *e, relet_time now);

/* _stop: the campaign is to end. _stopped: the work of a term has stopped; if
 * the term ended by itself, that may come at any time, and changes nothing. */
RELET_PRIVATE void rlt_elect_stop(rlt_elect *e, relet_time now);
RELET_PRIVATE void rlt_elect_stopped(rlt_elect *e, relet_time now);

/* The client will not connect again. A lease that is held stays until it ends,
 * unless the client was `stopped`. */
RELET_PRIVATE void rlt_elect_cut_off(rlt_elect *e, relet_why why, int stopped);

RELET_PRIVATE relet_time rlt_elect_deadline(const rlt_elect *e, int up);
RELET_PRIVATE void rlt_elect_tick(rlt_elect *e, relet_time now, int up);
RELET_PRIVATE void rlt_elect_reply(rlt_elect *e, relet_time now,
                                   const rlt_reply *r);
RELET_PRIVATE int rlt_elect_want(rlt_elect *e, relet_time now,
                                 uint32_t serial, rlt_request *out);

/* Fills kind, why, text, term, token and did_wait, and returns 1; returns 0 if
 * there is no event. */
RELET_PRIVATE int rlt_elect_event(rlt_elect *e, relet_event *ev);

/* Until when the lease may be acted on; INT64_MIN while it may not. */
RELET_PRIVATE relet_time rlt_elect_valid_until(const rlt_elect *e);

#endif /* RELET_NO_LEASE */

#endif
