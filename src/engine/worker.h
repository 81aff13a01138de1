/* SPDX-License-Identifier: MIT
 *
 * worker.h - when a worker claims jobs, renews them, reports them done, sleeps
 * and stops. The jobs that it holds are in claims.h.
 *
 * A step is repeated under its number until it is answered, and changes
 * nothing the second time. At most one step of a kind is under way, so jobs
 * that end meanwhile go out together in the next.
 *
 * The worker:
 *
 *   state     event                              becomes
 *   --------  ---------------------------------  -----------------------------
 *   REST      start                              EAGER
 *   EAGER     claims are free                    claims jobs
 *             fewer jobs came than were wanted   lines up to be woken
 *             throttled: jobs are held back      ASLEEP, for a short while
 *             in line                            ASLEEP
 *             by type: more of the line is left  claims behind that
 *             by type: jobs wait in the list     ranks them, then claims
 *             by type: the end of the line       lines up to be woken, or
 *                                                wakes another, if woken
 *             by type: only other types wait     ASLEEP, for a short while
 *             lining up found work               EAGER
 *   ASLEEP    woken, jobs are due, poll_at has   EAGER
 *             come, a link came up
 *             woken while it is full             wakes another worker, leaves
 *                                                the line
 *   EAGER,    stop                               STOPPING: leaves the line
 *   ASLEEP
 *   STOPPING  no claims, no step under way       OVER: ENDED
 *   OVER      ENDED was taken                    REST
 *
 * Until it stops, a worker also cleans up the queue: see reaper.h. The answers
 * are taken in by learn.c. */
#ifndef RLT_WORKER_H
#define RLT_WORKER_H

#include "base.h"
#include "job.h"
#include "part.h"
#include "rand.h"
#include "claims.h"
#include "reaper.h"
#include "type_cursor.h"

#ifndef RELET_NO_QUEUE

/* Each step is one script. Steps that go out together go in this order. */
typedef enum rlt_step {
    RLT_STEP_RENEW,
    RLT_STEP_DONE,
    RLT_STEP_RETURN,
    RLT_STEP_PROMOTE, /* delayed jobs that are due begin to wait             */
    RLT_STEP_RECALL,  /* asks what the last CLAIM brought                    */
    RLT_STEP_RANK,    /* waiting jobs can then leave from the middle         */
    RLT_STEP_CLAIM,
    RLT_STEP_LINE_UP,
    RLT_STEP_LEAVE,   /* leaves the line                                     */
    RLT_STEP_REAP,    /* jobs of workers that are gone wait again            */
    RLT_STEP_TRIM,    /* deletes jobs that were kept for long enough         */
    RLT_STEP_FORGET   /* deletes the memory of clients that are gone         */
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
    relet_time reap_ms; /* RELET_NEVER: other workers clean up               */
    uint32_t slots;
    uint32_t batch;  /* jobs in a step, RLT_WORKER_BATCH at most             */
    uint8_t by_type; /* it claims jobs of one type only                      */
} rlt_worker_plan;

typedef struct rlt_under_way {
    uint32_t serial; /* 0: no such step is under way                         */
    uint64_t op;     /* number of the step and of its repeats                */
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
    uint32_t wanted;   /* jobs, by the CLAIM under way or not answered       */
    uint32_t taken;    /* jobs that began here since the last account        */
    uint32_t allowed;  /* jobs at a time: a team shares its room             */
    uint8_t drained;   /* the last CLAIM brought fewer than wanted           */
    uint8_t throttled; /* CLAIMs in a row, throttled while jobs waited       */
    uint8_t in_line;
    uint8_t left_since; /* a sibling left the line since LINE_UP was sent    */
    uint8_t called;    /* woken while full: it is to wake another worker     */
    uint8_t reply_lost; /* a CLAIM brought jobs that are not known here      */
    uint8_t repeats;   /* the CLAIM to be sent was sent before               */
    uint8_t doubled;   /* the CLAIM under way was sent before                */
    uint8_t in_vain;   /* RECALLs in a row that were not answered            */
    uint8_t tell_end;
    uint64_t reply_lost_from; /* those jobs have no lower tokens             */
    relet_time claim_heard_at; /* when the last CLAIM was answered or failed:
                                * it ran before, unless a lost link holds it */
    relet_time poll_at, due_at, again_at;
    int tries;         /* steps in a row that failed                         */
    uint16_t refused;  /* a bit for each step that the server refused last   */
} rlt_worker;

typedef struct rlt_worker_request {
    rlt_step step;
    uint32_t serial; /* comes back in the reply                              */
    uint64_t op;
    uint32_t count;  /* CLAIM: jobs; RENEW, DONE, RETURN: claims             */
    int64_t latest_ms; /* REAP: latest time of the server clock; 0: any      */
    relet_time timeout_ms;
} rlt_worker_request;

RELET_PRIVATE void rlt_worker_start(rlt_worker *w, const rlt_worker_plan *plan,
                                    rlt_claim *slots, rlt_rand *rand,
                                    relet_time now);

/* The worker claims no more jobs, and is ENDED when all its jobs have ended. */
RELET_PRIVATE void rlt_worker_stop(rlt_worker *w);

/* A claim was freed or an event taken: a stopping worker is OVER if that was
 * the last. */
RELET_PRIVATE void rlt_worker_settle(rlt_worker *w);

/* There will be no link any more. */
RELET_PRIVATE void rlt_worker_cut_off(rlt_worker *w, relet_why why);

RELET_PRIVATE relet_time rlt_worker_deadline(const rlt_worker *w, int up,
                                             relet_time now);
RELET_PRIVATE void rlt_worker_tick(rlt_worker *w, relet_time now);

/* A push said that there is work; a link came up. */
RELET_PRIVATE void rlt_worker_wake(rlt_worker *w);

/* A worker of the same client and queue leaves the line, for all such workers:
 * the answer to a LINE_UP that was sent before is out of date. */
RELET_PRIVATE void rlt_worker_left(rlt_worker *w);

/* A push woke no worker with room: this one is to wake another worker. Returns
 * 0 if this worker has ended. */
RELET_PRIVATE int rlt_worker_passes(rlt_worker *w);

/* Returns 1 and fills *out if a step is to be sent now, under this serial
 * number, which is not 0. The step counts as sent. */
RELET_PRIVATE int rlt_worker_want(rlt_worker *w, relet_time now,
                                  uint32_t serial, rlt_worker_request *out);

/* Whether a claim is part of a step. The jobs of a step stand in the order of
 * the claims, those of a RETURN in the order of their tokens. */
RELET_PRIVATE int rlt_worker_sends(const rlt_claim *s, rlt_step step);

#define RLT_WORKER_IN_VAIN 3 /* unanswered RECALLs until it may give up      */

/* The event that an answer causes. */
enum {
    RLT_WORKER_BROUGHT = 1, /* jobs                                          */
    RLT_WORKER_TROUBLE = 2 /* a refusal: told once until the step succeeds   */
};
RELET_PRIVATE int rlt_worker_reply(rlt_worker *w, relet_time now, rlt_step step,
                                   const rlt_reply *r);

/* The last CLAIM is over; or, if `astray`, its jobs are to be asked for again:
 * those with the token `from` and higher ones. */
RELET_PRIVATE void rlt_worker_claim_ends(rlt_worker *w, int astray,
                                         uint64_t from);

/* _load: how many jobs a worker has or has asked for. _hungry: whether it would
 * take more at once. */
RELET_PRIVATE uint32_t rlt_worker_load(const rlt_worker *w);
RELET_PRIVATE int rlt_worker_hungry(const rlt_worker *w);

/* The worker is hungry, and its share of the team's room has a place left. */
RELET_PRIVATE int rlt_worker_can_claim(const rlt_worker *w);

/* The user ended a job, which may make room under the queue's limit. */
RELET_PRIVATE void rlt_worker_eased(rlt_worker *w);

/* Returns 1, once, when the worker is OVER. */
RELET_PRIVATE int rlt_worker_ended(rlt_worker *w);

#endif /* RELET_NO_QUEUE */

#endif
