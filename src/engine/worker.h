/* SPDX-License-Identifier: MIT
 *
 * worker.h - when a worker is to claim, to renew, to say what is done, to sleep
 * and to stop. What it holds is in claims.h.
 *
 * A step is repeated under its number until it is answered, and changes
 * nothing the second time. At most one of a kind is under way, so what ends
 * meanwhile goes out together in the next.
 *
 * The worker:
 *
 *   state     event                              becomes
 *   --------  ---------------------------------  -----------------------------
 *   REST      start                              EAGER
 *   EAGER     there are free slots               claims
 *             fewer came                         lines up to be woken
 *             some are held back                 ASLEEP, for a short while
 *             in line                            ASLEEP
 *             by type: more of the line is left  claims behind that
 *             the line is no order of ranks      ranks it, then claims
 *             that was all of the line           lines up to be woken, or
 *                                                wakes another, if woken
 *             others wait                        ASLEEP, for a short while
 *             there was work                     EAGER
 *   ASLEEP    woken, more are due, poll_at, a    EAGER
 *             link came up
 *             called while it is full            wakes another, and leaves the
 *                                                line
 *   EAGER,    stop                               STOPPING: leaves the line
 *   ASLEEP
 *   STOPPING  no slot in use, nothing under way  OVER: ENDED
 *   OVER      ENDED was taken                    REST
 *
 * Beside that, until it stops, it looks for what others left: see reaper.h. What
 * answers say is in learn.c. */
#ifndef RLT_WORKER_H
#define RLT_WORKER_H

#include "base.h"
#include "job.h"
#include "lease.h"
#include "rand.h"
#include "claims.h"
#include "reaper.h"
#include "type_cursor.h"

/* One script each, in the order in which they go out together. */
typedef enum rlt_step {
    RLT_STEP_RENEW,
    RLT_STEP_DONE,
    RLT_STEP_RETURN,
    RLT_STEP_PROMOTE, /* what is due begins to wait                          */
    RLT_STEP_RECALL,  /* what the last claim brought                         */
    RLT_STEP_RANK,    /* what waits can leave from the middle then           */
    RLT_STEP_CLAIM,
    RLT_STEP_LINE_UP,
    RLT_STEP_LEAVE,   /* the line                                            */
    RLT_STEP_REAP,    /* what is leased to nobody any more is relet          */
    RLT_STEP_TRIM,    /* what was kept for long enough goes                  */
    RLT_STEP_FORGET   /* what clients were told goes when they are gone      */
} rlt_step;
#define RLT_STEPS 12

typedef enum rlt_worker_state {
    RLT_WORKER_REST,
    RLT_WORKER_EAGER,
    RLT_WORKER_ASLEEP,
    RLT_WORKER_STOPPING,
    RLT_WORKER_OVER
} rlt_worker_state;

typedef struct rlt_worker_plan {
    relet_time lease_ms, renew_ms, poll_ms;
    relet_time reap_ms; /* RELET_NEVER: others see to it                     */
    uint32_t slots;
    uint32_t batch;  /* jobs in a step, RLT_WORKER_BATCH at most             */
    uint8_t by_type; /* it has jobs of one type alone                        */
} rlt_worker_plan;

typedef struct rlt_under_way {
    uint32_t serial; /* 0: nothing is                                        */
    uint64_t op;     /* its number, and that of its repeats                  */
    relet_time sent_at;
} rlt_under_way;

typedef struct rlt_worker {
    rlt_worker_plan plan;
    rlt_claims held;
    rlt_rand *rand;
    rlt_type_cursor cursor;
    rlt_reaper reaper;
    rlt_worker_state state;
    rlt_under_way step[RLT_STEPS];
    uint32_t wanted;   /* by the claim that is under way, or not answered    */
    uint32_t taken;    /* so many jobs began here since the last account     */
    uint32_t allowed;  /* jobs at a time, as others share the room           */
    uint8_t drained;   /* the last claim brought less than was wanted        */
    uint8_t throttled; /* claims in a row, while jobs were there             */
    uint8_t in_line;
    uint8_t left_since; /* the line, by a sibling, since the LINE_UP was sent */
    uint8_t called;    /* woken while it is full: another one is to be          */
    uint8_t reply_lost; /* a claim brought jobs that are not known here      */
    uint8_t repeats;   /* the claim that is to be sent was sent before       */
    uint8_t doubled;   /* … and so was the one that is under way             */
    uint8_t in_vain;   /* recalls that were not answered, in a row            */
    uint8_t tell_end;
    uint64_t reply_lost_from; /* they have no lower tokens                   */
    relet_time claim_heard_at; /* the last claim was answered, or failed: it
                                * ran before, unless a lost link still holds it */
    relet_time poll_at, due_at, again_at;
    int tries;         /* steps in a row that failed                         */
    uint16_t refused;  /* a bit for each step that the server refused last   */
} rlt_worker;

typedef struct rlt_worker_request {
    rlt_step step;
    uint32_t serial; /* comes back in the reply                              */
    uint64_t op;
    uint32_t count;  /* CLAIM: how many; RENEW, DONE, RETURN: slots          */
    int64_t latest_ms; /* REAP: that the server's clock may show; 0: any time */
    relet_time timeout_ms;
} rlt_worker_request;

RELET_PRIVATE void rlt_worker_start(rlt_worker *w, const rlt_worker_plan *plan,
                                    rlt_claim *slots, rlt_rand *rand,
                                    relet_time now);

/* Take no more; ENDED when all that is held has ended. */
RELET_PRIVATE void rlt_worker_stop(rlt_worker *w);

/* A slot was freed, or an event taken: whether that was the last. */
RELET_PRIVATE void rlt_worker_settle(rlt_worker *w);

/* There will be no link any more. */
RELET_PRIVATE void rlt_worker_cut_off(rlt_worker *w, relet_why why);

RELET_PRIVATE relet_time rlt_worker_deadline(const rlt_worker *w, int up,
                                             relet_time now);
RELET_PRIVATE void rlt_worker_tick(rlt_worker *w, relet_time now);

/* A push said that there is work; a link came up. */
RELET_PRIVATE void rlt_worker_wake(rlt_worker *w);

/* A worker of its client leaves the line, for all of them: the answer to a
 * LINE_UP that was sent before that is out of date. */
RELET_PRIVATE void rlt_worker_left(rlt_worker *w);

/* The push woke none that has room: this one is to wake another worker. 0: it
 * has ended. */
RELET_PRIVATE int rlt_worker_passes(rlt_worker *w);

/* 1 and *out, when a script is to be sent now, under this serial number, which
 * is not 0. It counts as sent. */
RELET_PRIVATE int rlt_worker_want(rlt_worker *w, relet_time now,
                                  uint32_t serial, rlt_worker_request *out);

/* Whether a slot is part of an errand; they stand in it in their order. */
RELET_PRIVATE int rlt_worker_sends(const rlt_claim *s, rlt_step step);

#define RLT_WORKER_IN_VAIN 3 /* recalls without an answer: no more of them   */

/* What is to be told of an answer. */
enum {
    RLT_WORKER_BROUGHT = 1, /* jobs                                          */
    RLT_WORKER_TROUBLE = 2 /* it is none: once until the step succeeds       */
};
RELET_PRIVATE int rlt_worker_reply(rlt_worker *w, relet_time now, rlt_step step,
                                   const rlt_reply *r);

/* The claim that was sent last is over, or its jobs, with no lower tokens, are
 * to be asked for. */
RELET_PRIVATE void rlt_worker_claim_ends(rlt_worker *w, int astray,
                                         uint64_t from);

/* How many jobs it has or has asked for; whether it would have more at once. */
RELET_PRIVATE uint32_t rlt_worker_load(const rlt_worker *w);
RELET_PRIVATE int rlt_worker_hungry(const rlt_worker *w);

/* The same, and its share of a team's room has a place left. */
RELET_PRIVATE int rlt_worker_can_claim(const rlt_worker *w);

/* The user ended a job: it may make room under the queue's limit. */
RELET_PRIVATE void rlt_worker_eased(rlt_worker *w);

/* 1, once, when all has ended. */
RELET_PRIVATE int rlt_worker_ended(rlt_worker *w);

#endif
