/* SPDX-License-Identifier: MIT
 *
 * worker.h - what a worker holds of a queue: when to claim, to renew, to say
 * what is done, and when to stop believing in a lease.
 *
 * A job in a slot:
 *
 *   state    event                          becomes   telling
 *   -------  -----------------------------  --------  ------------------------
 *   FREE     claimed                        HELD      JOBS, all of a claim
 *            claimed, but it is STOPPING    RETURN
 *   HELD     done, nothing is kept          DONE
 *            done or failed, with bytes     CLOSING
 *            given back                     RETURN
 *            another's, gone, too old       LOST      JOB_LOST
 *            valid_until has come           LOST      JOB_LOST: EXPIRED
 *            to be cancelled                HELD      JOB_CANCEL, once
 *   DONE,    sent                           SENT
 *   RETURN
 *   SENT     answered                       FREE
 *            answered, but it was lost      LATE      JOB_LOST
 *            no answer                      SENT, and the same step again
 *   CLOSING  answered                       FREE, or LATE
 *   LOST     done, failed, given back       FREE      (nothing is sent)
 *   LATE     its event is taken             FREE
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
 *             there was work                     EAGER
 *   ASLEEP    woken, more are due, poll_at, a    EAGER
 *             link came up
 *   EAGER,    stop                               STOPPING: leaves the line
 *   ASLEEP
 *   STOPPING  no slot in use, nothing under way  OVER: ENDED
 *   OVER      ENDED was taken                    REST */
#ifndef RLT_WORKER_H
#define RLT_WORKER_H

#include "base.h"
#include "job.h"
#include "lease.h"
#include "rand.h"

typedef enum rlt_slot_state {
    RLT_SLOT_FREE,
    RLT_SLOT_HELD,
    RLT_SLOT_DONE,
    RLT_SLOT_RETURN,
    RLT_SLOT_SENT,
    RLT_SLOT_CLOSING,
    RLT_SLOT_LOST,
    RLT_SLOT_LATE
} rlt_slot_state;

typedef struct rlt_slot {
    uint64_t number, token;
    relet_time valid_until;
    relet_time keep_ms, backoff_ms, backoff_max_ms; /* of its relet_job      */
    uint32_t attempts_max;
    int32_t rank;
    uint32_t attempts, stalls, replays;
    uint8_t backoff; /* relet_backoff                                        */
    uint8_t bare;    /* nothing is kept of it, and nobody waits              */
    uint8_t state;   /* rlt_slot_state                                       */
    uint8_t step;    /* rlt_step that it is SENT in                          */
    uint8_t renewed; /* in the renewal that is under way                     */
    uint8_t asked;   /* it is to be cancelled                                */
    uint8_t tell;    /* RLT_TELL_JOB_…                                       */
    uint8_t why;     /* relet_why of a loss                                  */
} rlt_slot;

/* What is to be told of a slot. */
enum { RLT_TELL_JOB_CANCEL = 1, RLT_TELL_JOB_LOST = 2 };

/* One script each, in the order in which they go out together. */
typedef enum rlt_step {
    RLT_STEP_RENEW,
    RLT_STEP_DONE,
    RLT_STEP_RETURN,
    RLT_STEP_PROMOTE, /* what is due begins to wait                          */
    RLT_STEP_RECALL,  /* what the last claim brought                         */
    RLT_STEP_CLAIM,
    RLT_STEP_LINE_UP,
    RLT_STEP_LEAVE,   /* the line                                            */
    RLT_STEP_REAP     /* what is leased to nobody any more is relet          */
} rlt_step;
#define RLT_STEPS 9

#define RLT_WORK_BATCH 128 /* jobs in a step at most                         */

typedef enum rlt_work_state {
    RLT_WORK_REST,
    RLT_WORK_EAGER,
    RLT_WORK_ASLEEP,
    RLT_WORK_STOPPING,
    RLT_WORK_OVER
} rlt_work_state;

typedef struct rlt_work_plan {
    relet_time lease_ms, renew_ms, poll_ms;
    relet_time reap_ms; /* RELET_NEVER: others see to it                     */
    uint32_t slots;
} rlt_work_plan;

typedef struct rlt_under_way {
    uint32_t serial; /* 0: nothing is                                        */
    uint64_t op;     /* its number, and that of its repeats                  */
    relet_time sent_at;
} rlt_under_way;

typedef struct rlt_work {
    rlt_work_plan plan;
    rlt_slot *slot; /* plan.slots of them                                    */
    rlt_rand *rand;
    rlt_work_state state;
    rlt_under_way step[RLT_STEPS];
    uint32_t wanted;   /* by the claim that is under way                     */
    uint32_t tells;    /* slots that have something to tell                  */
    uint8_t short_of;  /* the last claim brought less than was wanted        */
    uint8_t held_back; /* claims in a row, while jobs were there             */
    uint8_t in_line;
    uint8_t astray;    /* a claim brought jobs that are not known here       */
    uint8_t repeats;   /* the claim that is to be sent was sent before       */
    uint8_t tell_end;
    relet_time poll_at, due_at, reap_at, again_at;
    int tries;         /* steps in a row that failed                         */
} rlt_work;

typedef struct rlt_errand {
    rlt_step step;
    uint32_t serial; /* comes back in the reply                              */
    uint64_t op;
    uint32_t count;  /* CLAIM: how many; RENEW, DONE, RETURN: slots          */
    relet_time timeout_ms;
} rlt_errand;

RELET_PRIVATE void rlt_work_start(rlt_work *w, const rlt_work_plan *plan,
                                  rlt_slot *slots, rlt_rand *rand,
                                  relet_time now);

/* Take no more; ENDED when all that is held has ended. */
RELET_PRIVATE void rlt_work_stop(rlt_work *w);

/* There will be no link any more. */
RELET_PRIVATE void rlt_work_cut_off(rlt_work *w, relet_why why);

RELET_PRIVATE relet_time rlt_work_deadline(const rlt_work *w, int up,
                                           relet_time now);
RELET_PRIVATE void rlt_work_tick(rlt_work *w, relet_time now);

/* A push said that there is work; a link came up. */
RELET_PRIVATE void rlt_work_wake(rlt_work *w);

/* 1 and *out, when a script is to be sent now, under this serial number, which
 * is not 0. It counts as sent. */
RELET_PRIVATE int rlt_work_want(rlt_work *w, relet_time now, uint32_t serial,
                                rlt_errand *out);

/* Whether a slot is part of an errand; they stand in it in their order. */
RELET_PRIVATE int rlt_work_sends(const rlt_work *w, uint32_t slot,
                                 rlt_step step);

/* 1 when it brought jobs that are to be told. */
RELET_PRIVATE int rlt_work_reply(rlt_work *w, relet_time now, rlt_step step,
                                 const rlt_reply *r);

/* The slot that holds the job of this number and token, or NULL. */
RELET_PRIVATE rlt_slot *rlt_work_find(const rlt_work *w, uint64_t number,
                                      uint64_t token);

/* How a job ends: 1, and something is to be sent for it; 0: it was lost, and
 * its slot is free; -1: there is no such job here. */
RELET_PRIVATE int rlt_work_end(rlt_work *w, uint32_t slot, rlt_slot_state how);

/* A CLOSING one was answered: 'd', 'l', 'g', or 0: it was not. */
RELET_PRIVATE void rlt_work_closed(rlt_work *w, uint32_t slot, char letter);

/* 1, when a slot has something to tell: which, what, and what is in it. */
RELET_PRIVATE int rlt_work_event(rlt_work *w, uint32_t *slot, int *tell,
                                 rlt_slot *job);
RELET_PRIVATE int rlt_work_ended(rlt_work *w);

#endif
