/* SPDX-License-Identifier: MIT
 *
 * lease.h - one key held for a while, and when to stop believing it.
 *
 *   state       event                       becomes     result
 *   ----------  --------------------------  ----------  -----------------------
 *   NONE        ask                         ASKING
 *   ASKING      granted                     HELD        GRANTED
 *               granted, copies are wanted  CONFIRMING
 *               granted, but ended by now   NONE        REFUSED: EXPIRED
 *               granted, clocks disagree    RELEASING   REFUSED: CLOCK
 *               held by another             NONE        REFUSED: TAKEN
 *               this term is over           NONE        REFUSED: GONE
 *               too soon after a failover   NONE        REFUSED: QUARANTINE
 *               an error                    NONE        REFUSED: REFUSED
 *               no answer                   NONE        REFUSED: BROKEN
 *   CONFIRMING  enough copies               HELD        GRANTED
 *               enough, but ended by now    NONE        REFUSED: EXPIRED
 *               too few, or an error        RELEASING   REFUSED: NOT_REPLICATED
 *               no answer                   NONE        REFUSED: BROKEN
 *   HELD        renewed, copies if wanted   HELD, for longer
 *               too few copies, an error,
 *               no answer                   HELD, and renews again soon
 *               another holds it            NONE        LOST: TAKEN
 *               no owner holds it           NONE        LOST: GONE
 *               clocks disagree             NONE        LOST: CLOCK
 *               valid_until has come        NONE        LOST: EXPIRED
 *   RELEASING   any answer                  NONE        RELEASED
 *               an error, no answer         RELEASING, and releases again soon
 *               it must have ended by now   NONE        RELEASED
 *               no link, and no client can
 *               trust it any more           NONE        RELEASED
 *   any         release                     RELEASING, or NONE when nothing was
 *                                           ever sent: RELEASED
 *               forget                      NONE
 *
 * Only the answer to the last request counts. `valid_until` is counted from the
 * moment of the request, and by our clock alone: the server began its count
 * later. So a late answer cannot bring a lease back.
 *
 * A term is one grant: a repeated request for a term gives the same grant. A
 * term ends with the lease that was granted, trusted or not, and with a
 * release: a server that missed the release must not give that grant again. */
#ifndef RLT_LEASE_H
#define RLT_LEASE_H

#include "base.h"
#include "part.h"
#include "rand.h"

#ifndef RELET_NO_LEASE

typedef enum rlt_lease_state {
    RLT_LEASE_NONE,
    RLT_LEASE_ASKING,
    RLT_LEASE_CONFIRMING,
    RLT_LEASE_HELD,
    RLT_LEASE_RELEASING
} rlt_lease_state;

/* The request to send. */
typedef enum rlt_want {
    RLT_WANT_NOTHING,
    RLT_WANT_ACQUIRE,
    RLT_WANT_RENEW,
    RLT_WANT_RELEASE,
    RLT_WANT_CONFIRM /* WAIT or WAITAOF, over the link that answered last    */
} rlt_want;

typedef struct rlt_request {
    rlt_want what;
    uint32_t serial;       /* comes back in the reply                        */
    uint64_t term, token;  /* token 0: not known yet                         */
    relet_time timeout_ms; /* an answer that comes later is of no use        */
} rlt_request;

typedef enum rlt_lease_result {
    RLT_LEASE_WAS_NONE,
    RLT_LEASE_WAS_GRANTED,
    RLT_LEASE_WAS_REFUSED, /* why, left_ms, place, text                      */
    RLT_LEASE_WAS_RENEWED,
    RLT_LEASE_WAS_KEPT,    /* a renewal or release had no effect: why, text  */
    RLT_LEASE_WAS_LOST,    /* why                                            */
    RLT_LEASE_WAS_RELEASED
} rlt_lease_result;

/* Settings that stay the same while a lease lives. */
typedef struct rlt_lease_plan {
    relet_time ttl_ms, renew_ms;
    uint32_t replicas;       /* copies that a grant needs                    */
    relet_time replicas_ms;  /* … and how long to wait for them              */
    int fsync;               /* copies on disk, the primary's too            */
} rlt_lease_plan;

typedef struct rlt_lease {
    rlt_lease_plan plan;
    rlt_rand *rand;
    rlt_lease_state state;
    rlt_want asked;         /* the request under way                         */
    uint32_t serial;        /* … and its number                              */
    uint8_t granted;        /* this term is over: granted, or given up       */
    uint8_t copies_due;     /* renewed, and the copies are not counted yet   */
    uint8_t measured;       /* clock_sent, clock_heard, clock_us are known   */
    int tries;              /* failed requests in a row                      */
    uint64_t term, token;
    relet_time sent_at;     /* when the last acquire or renew was sent       */
    relet_time valid_until; /* HELD: trust the lease until then              */
    relet_time again_at;    /* HELD: renew; RELEASING: release               */
    relet_time clock_sent, clock_heard; /* our clock, around …               */
    int64_t clock_us;       /* … the server clock                            */
    /* Of the last result. */
    relet_why why;
    relet_time left_ms;     /* of the other holder's lease; below 0: no end  */
    int64_t place;          /* in the line of followers                      */
    relet_span text;        /* an error; valid as long as the reply          */
} rlt_lease;

RELET_PRIVATE void rlt_lease_init(rlt_lease *l, const rlt_lease_plan *plan,
                                  rlt_rand *rand);

/* Begins to ask for the lease, in NONE only. */
RELET_PRIVATE void rlt_lease_ask(rlt_lease *l);

/* Gives the lease up, in any state. _forget sends no release. */
RELET_PRIVATE rlt_lease_result rlt_lease_release(rlt_lease *l, relet_time now);
RELET_PRIVATE void rlt_lease_forget(rlt_lease *l);

RELET_PRIVATE relet_time rlt_lease_deadline(const rlt_lease *l, int up);
RELET_PRIVATE rlt_lease_result rlt_lease_tick(rlt_lease *l, relet_time now,
                                              int up);
RELET_PRIVATE rlt_lease_result rlt_lease_reply(rlt_lease *l, relet_time now,
                                               const rlt_reply *r);

/* Returns 1 and fills *out if a request is to be sent now, under this serial
 * number. It counts as sent: a caller that cannot send the request replies
 * RLT_HEARD_NOTHING. */
RELET_PRIVATE int rlt_lease_want(rlt_lease *l, relet_time now,
                                 uint32_t serial, rlt_request *out);

#endif /* RELET_NO_LEASE */

#endif
