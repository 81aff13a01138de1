/* SPDX-License-Identifier: MIT
 *
 * step.h - the state of a worker, and its steps.
 *
 * A step is one script. It is repeated under its number until it is answered,
 * and changes nothing the second time. At most one step of a kind is under way,
 * so jobs that end meanwhile go out together in the next.
 *
 * Each step has, side by side in the file of its family:
 *
 *   _due    when it is to be sent, if no such step is under way
 *   _begin  what changes when it is sent; returns how many jobs it is about
 *   _say    its script, with keys and arguments as the script's head lists them
 *   _heard  what its answer means; returns how many jobs the answer brought
 *
 * The last CLAIM:
 *
 *   state     event                             becomes
 *   --------  --------------------------------  ------------------------------
 *   NONE      CLAIM is sent                     ASKED
 *   ASKED     answered with jobs, or none       NONE
 *             its jobs found no free claim      RECALLED, from a token on
 *             answered: it was done before      RECALLED
 *             refused, or not answered          UNHEARD
 *   UNHEARD   CLAIM is sent again               REPEATED
 *             the worker is stopping            RECALL is sent, not CLAIM
 *   REPEATED  answered with jobs                NONE
 *             answered without jobs: the first  RECALLED
 *             may still reach the server over
 *             a link that is gone
 *             refused, or not answered          UNHEARD
 *   RECALLED, RECALL brings its jobs            NONE, or RECALLED as above
 *   UNHEARD   RECALL is refused, or not         the same, and RECALL again
 *             answered
 *   RECALLED  its leases have ended, and three  NONE
 *             RECALLs in a row were in vain */
#ifndef RLT_STEP_H
#define RLT_STEP_H

#include "args.h"
#include "base.h"
#include "claims.h"
#include "job.h"
#include "part.h"
#include "rand.h"
#include "reaper.h"
#include "script.h"
#include "type_cursor.h"

#ifndef RELET_NO_QUEUE

/* Steps that go out together go in this order. */
typedef enum rlt_step {
    RLT_STEP_RENEW,
    RLT_STEP_DONE,
    RLT_STEP_RETURN,
    RLT_STEP_PROMOTE, /* delayed jobs that are due begin to wait             */
    RLT_STEP_RECALL,  /* asks again for the jobs of the last CLAIM           */
    RLT_STEP_RANK,    /* sorts waiting jobs by rank                          */
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

typedef enum rlt_claiming {
    RLT_CLAIMING_NONE,
    RLT_CLAIMING_ASKED,
    RLT_CLAIMING_UNHEARD,
    RLT_CLAIMING_REPEATED,
    RLT_CLAIMING_RECALLED
} rlt_claiming;

typedef struct rlt_worker_plan {
    relet_time lease_ms, renew_ms, poll_ms;
    relet_time reap_ms; /* RELET_NEVER: other workers clean up               */
    relet_time run_ms;
    relet_time dead_ms; /* 0: dead jobs are kept for ever                    */
    uint32_t stalls_max, dead_max;
    uint32_t slots;
    uint32_t batch;       /* jobs in a step, RLT_WORKER_BATCH at most        */
    uint32_t claim_bytes; /* of records in the answer to a CLAIM             */
    const rlt_queue_tag *queue;
    relet_span name, wake; /* of the worker; the channel it is woken by      */
    relet_span type;      /* empty: jobs of any type                         */
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
    rlt_claiming claiming;
    uint32_t wanted;   /* jobs, by the last CLAIM                            */
    uint32_t taken;    /* jobs that began here since the last account        */
    uint32_t allowed;  /* jobs at a time: a team shares its room             */
    uint8_t drained;   /* the last CLAIM brought fewer than wanted           */
    uint8_t throttled; /* CLAIMs in a row that were throttled; 5: or more    */
    uint8_t in_line;
    uint8_t left_since; /* a sibling left the line since LINE_UP was sent    */
    uint8_t called;    /* woken while full: it is to wake another worker     */
    uint8_t in_vain;   /* RECALLs in a row that were not answered            */
    uint8_t tell_end;
    uint64_t recalled_from; /* the jobs to recall have no lower tokens       */
    relet_time claimed_at; /* when the last CLAIM was sent for the first time:
                            * its leases may have begun then                 */
    relet_time claim_heard_at; /* when the last CLAIM was answered or failed:
                                * it ran before then, unless it is still under
                                * way over a lost link                       */
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

#define RLT_WORKER_IN_VAIN 3 /* unanswered RECALLs until it may give up      */
#define RLT_WORKER_AGAIN_MIN_MS 50

/* ---------------------------------------------------- the state of a worker */

/* Call it when a push says that there is work, or when a link came up. */
RELET_PRIVATE void rlt_worker_wake(rlt_worker *w);

/* _load: how many jobs a worker has or has asked for. _hungry: whether it would
 * claim more jobs now. */
RELET_PRIVATE uint32_t rlt_worker_load(const rlt_worker *w);
RELET_PRIVATE int rlt_worker_hungry(const rlt_worker *w);

/* The worker is hungry, and its share of the team's room has a place left. */
RELET_PRIVATE int rlt_worker_can_claim(const rlt_worker *w);

/* How many jobs may be claimed. */
RELET_PRIVATE uint32_t rlt_worker_room(const rlt_worker *w);

/* Sets due_at from an answer, which has the server's clock and the score of the
 * next job in `delayed`, if there is one. */
RELET_PRIVATE void rlt_worker_due(rlt_worker *w, relet_time now,
                                  int64_t server_us, relet_value due);

/* Jobs wait, but the worker may have none of them now. It asks again soon, or
 * as soon as a job of its own has ended. It does not line up, since the answer
 * would only be that jobs wait. */
RELET_PRIVATE void rlt_worker_throttle(rlt_worker *w, relet_time now);

/* Whether RECALL is to be sent, not CLAIM. */
RELET_PRIVATE int rlt_worker_recalls(const rlt_worker *w);

/* The last CLAIM is over; or, if `more`, its jobs with the token `from` and
 * higher ones are to be asked for again. */
RELET_PRIVATE void rlt_worker_claim_ends(rlt_worker *w, int more,
                                         uint64_t from);

/* Whether a claim is part of a step. The jobs of a step stand in the order of
 * the claims, those of a RETURN in the order of their tokens. */
RELET_PRIVATE int rlt_worker_sends(const rlt_claim *s, rlt_step step);

/* --------------------------------------------------------------- the steps */

/* For each step: its enumerator, the name of its functions, and the name of its
 * _begin function. rlt_step_no_begin does nothing. */
#define RLT_EACH_STEP(X)                                                       \
    X(RENEW, renew, renew)                                                     \
    X(DONE, done, done)                                                        \
    X(RETURN, return, return)                                                  \
    X(PROMOTE, promote, no)                                                    \
    X(RECALL, recall, recall)                                                  \
    X(RANK, rank, no)                                                          \
    X(CLAIM, claim, claim)                                                     \
    X(LINE_UP, line_up, line_up)                                               \
    X(LEAVE, leave, no)                                                        \
    X(REAP, reap, no)                                                          \
    X(TRIM, trim, no)                                                          \
    X(FORGET, forget, no)

#define STEP_DECLARE(NAME, name, begins)                                       \
    RELET_PRIVATE relet_time rlt_step_##name##_due(const rlt_worker *w,        \
                                                   relet_time now);            \
    RELET_PRIVATE rlt_own_script rlt_step_##name##_say(                        \
        const rlt_worker *w, rlt_args *a, const rlt_worker_request *e);        \
    RELET_PRIVATE uint32_t rlt_step_##name##_heard(rlt_worker *w,              \
                                                   relet_time now,             \
                                                   relet_value v);
RLT_EACH_STEP(STEP_DECLARE)
#undef STEP_DECLARE

RELET_PRIVATE uint32_t rlt_step_renew_begin(rlt_worker *w, relet_time now);
RELET_PRIVATE uint32_t rlt_step_done_begin(rlt_worker *w, relet_time now);
RELET_PRIVATE uint32_t rlt_step_return_begin(rlt_worker *w, relet_time now);
RELET_PRIVATE uint32_t rlt_step_recall_begin(rlt_worker *w, relet_time now);
RELET_PRIVATE uint32_t rlt_step_claim_begin(rlt_worker *w, relet_time now);
RELET_PRIVATE uint32_t rlt_step_line_up_begin(rlt_worker *w, relet_time now);

/* REAP, TRIM or FORGET was refused, if `is_error`, or not answered. */
RELET_PRIVATE void rlt_worker_clean_failed(rlt_worker *w, relet_time now,
                                           rlt_step step, int is_error);

RLT_SHORT uint32_t rlt_step_no_begin(rlt_worker *w, relet_time now)
{
    (void)w;
    (void)now;
    return 0;
}

#endif /* RELET_NO_QUEUE */

#endif
