/* SPDX-License-Identifier: MIT
 *
 * worker.h - when a worker claims jobs, renews them, reports them done, sleeps
 * and stops. The jobs that it holds are in claims.h, its steps in step.h.
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
 * Until it stops, a worker also cleans up the queue: see reaper.h. */
#ifndef RLT_WORKER_H
#define RLT_WORKER_H

#include "step.h"

#ifndef RELET_NO_QUEUE

RELET_PRIVATE void rlt_worker_start(rlt_worker *w, const rlt_worker_plan *plan,
                                    rlt_claim *slots, rlt_rand *rand,
                                    relet_time now);

/* The worker claims no more jobs, and is ENDED when all its jobs have ended. */
RELET_PRIVATE void rlt_worker_stop(rlt_worker *w);

/* Call it when a claim was freed or an event taken: a stopping worker is OVER
 * once it has no claim and no step under way. */
RELET_PRIVATE void rlt_worker_settle(rlt_worker *w);

/* The client will not connect again: ends the worker and its claims. */
RELET_PRIVATE void rlt_worker_cut_off(rlt_worker *w, relet_why why);

RELET_PRIVATE relet_time rlt_worker_deadline(const rlt_worker *w, int up,
                                             relet_time now);
RELET_PRIVATE void rlt_worker_tick(rlt_worker *w, relet_time now);

/* A worker of the same client and queue leaves the line, for all such workers:
 * the answer to a LINE_UP that was sent before is out of date. */
RELET_PRIVATE void rlt_worker_left(rlt_worker *w);

/* A push came while no worker of this client had room: this worker is to wake a
 * worker of another client. Returns 0 if this worker has ended. */
RELET_PRIVATE int rlt_worker_passes(rlt_worker *w);

/* Returns 1 and fills *out if a step is to be sent now, under this serial
 * number, which is not 0. The step counts as sent. */
RELET_PRIVATE int rlt_worker_want(rlt_worker *w, relet_time now,
                                  uint32_t serial, rlt_worker_request *out);

/* Fills *a with the keys and arguments of a step; returns its script. */
RELET_PRIVATE rlt_own_script rlt_worker_say(const rlt_worker *w, rlt_args *a,
                                            const rlt_worker_request *e);

/* The event that an answer causes. */
enum {
    RLT_WORKER_BROUGHT = 1, /* jobs                                          */
    RLT_WORKER_TROUBLE = 2 /* a refusal: told once until the step succeeds   */
};
RELET_PRIVATE int rlt_worker_reply(rlt_worker *w, relet_time now, rlt_step step,
                                   const rlt_reply *r);

/* The user ended a job, which may make room under the queue's limit. */
RELET_PRIVATE void rlt_worker_eased(rlt_worker *w);

/* Returns 1, once, when the worker is OVER. */
RELET_PRIVATE int rlt_worker_ended(rlt_worker *w);

#endif /* RELET_NO_QUEUE */

#endif
