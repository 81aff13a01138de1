/* SPDX-License-Identifier: MIT
 *
 * elect.h - a lease and a campaign for it: when to ask, what to tell.
 *
 *   state      event                      becomes    doing, telling
 *   ---------  -------------------------  ---------  -------------------------
 *   REST       start                      GATED
 *              start, no election         LEADING    GAINED, token 0
 *   GATED      its turn has come          WAITING    ask at once
 *   WAITING    ask_at has come, woken,    ASKING     ask
 *              a link came up
 *   ASKING     granted                    LEADING    GAINED
 *              refused                    WAITING    TROUBLE, if it is new and
 *                                                    not just another's lease
 *   LEADING    lost                       WAITING    LOST; ask again
 *              lost, once                 OVER       LOST, ENDED
 *              stop                       RESIGNING  LOST: STOPPED; renew on
 *              one before it was lost     RESIGNING  LOST: GROUP
 *   RESIGNING  stopped, grace is over     LEAVING    release
 *              lost                       OVER       ENDED
 *   LEAVING    released                   OVER       ENDED
 *   OVER       ENDED was taken            REST
 *   GATED      stop, give_up_at           OVER       ENDED
 *   WAITING    stop, give_up_at           LEAVING    leave the line
 *   ASKING     stop, give_up_at           LEAVING    release behind it
 *   WAITING,   one before it was lost     LEAVING    the same
 *   ASKING
 *   any        the client is stopped      OVER       LOST if LEADING, ENDED
 *
 * One that left because another one of its group was lost is GATED again
 * instead of OVER, but for a `once` that was LEADING.
 *
 * LOST takes back a GAINED that nobody has taken: work that need not begin
 * need not stop. So GAINED and LOST alternate, and ENDED is the last.
 *
 * Followers ask when the other's lease ends, the first in line at once, those
 * behind it later; a release wakes one. Wake-ups only shorten a wait. */
#ifndef RLT_ELECT_H
#define RLT_ELECT_H

#include "base.h"
#include "lease.h"

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
    relet_time grace_ms; /* from a stop to the release, unasked              */
    relet_time quarantine_ms; /* 0: none                                     */
    uint8_t once;        /* ends with its first LOST                         */
    uint8_t alone;       /* no election: always leading                      */
} rlt_elect_plan;

/* What is to be told; taken in this order. */
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
    uint8_t woken;      /* … while asking                                    */
    uint8_t did_wait;   /* it was not free when first asked for              */
    uint8_t shut_out;   /* leaving, to be GATED again                        */
    int tries;          /* refusals in a row that were trouble               */
    int nearly;         /* … in a row by a lease that was about to end       */
    relet_time ask_at, give_up_at, grace_until;
    uint64_t term, lost_term, lost_token; /* `term` counts GAINEDs           */
    relet_why lost_why, end_why, trouble;
    char text[96];      /* of the trouble                                    */
} rlt_elect;

RELET_PRIVATE void rlt_elect_start(rlt_elect *e, const rlt_elect_plan *plan,
                                   rlt_rand *rand, relet_time now);

/* A wait counts from now: the client's clock stood until its first tick. */
RELET_PRIVATE void rlt_elect_began(rlt_elect *e, relet_time now);

/* Whether those before it in its group are held: to be said at each turn. */
RELET_PRIVATE void rlt_elect_turn(rlt_elect *e, relet_time now, int open);

/* Somebody may have released it; or there is a new link. */
RELET_PRIVATE void rlt_elect_wake(rlt_elect *e, relet_time now);
RELET_PRIVATE void rlt_elect_linked(rlt_elect *e, relet_time now);

/* The work of a term that ended by itself may stop when it likes: then the
 * second changes nothing. */
RELET_PRIVATE void rlt_elect_stop(rlt_elect *e, relet_time now);
RELET_PRIVATE void rlt_elect_stopped(rlt_elect *e, relet_time now);

/* There will be no link again. A lease that is held stays until it ends, but
 * not when the client was `stopped`. */
RELET_PRIVATE void rlt_elect_cut_off(rlt_elect *e, relet_why why, int stopped);

RELET_PRIVATE relet_time rlt_elect_deadline(const rlt_elect *e, int up);
RELET_PRIVATE void rlt_elect_tick(rlt_elect *e, relet_time now, int up);
RELET_PRIVATE void rlt_elect_reply(rlt_elect *e, relet_time now,
                                   const rlt_reply *r);
RELET_PRIVATE int rlt_elect_want(rlt_elect *e, relet_time now,
                                 uint32_t serial, rlt_request *out);

/* Fill kind, why, text, term, token, did_wait: 1, or 0 when there is nothing
 * to tell. */
RELET_PRIVATE int rlt_elect_event(rlt_elect *e, relet_event *ev);

/* Until when it may be acted on; below every time when it may not. */
RELET_PRIVATE relet_time rlt_elect_valid_until(const rlt_elect *e);

#endif
