/* SPDX-License-Identifier: MIT
 *
 * put_wait.h - to put a job and wait for its end, a step at a time.
 *
 * relet_queue_put_wait drives this machine by relet_wait. The server publishes
 * the end of the job on a channel that only this wait uses. That message may be
 * lost with its link, so the job is also looked up on each new link, every few
 * seconds, and once more when the time is up. The put may be answered as late
 * as that last look: without its number the job cannot be found any more.
 *
 *   state     | means                          | ends with
 *   ----------+--------------------------------+-------------------------------
 *   putting   | number is 0                    | the put's outcome: waiting; or
 *             |                                | 0 if it failed
 *   waiting   | looks is 0                     | message of the end: 1; UP,
 *             |                                | look_at: looking
 *   looking   | a look is under way            | the job has ended: 1; else
 *             |                                | waiting
 *   late      | the time is up; a last look is | as above; no look is under way
 *             | under way for a second more    | or the second is up: TIMEOUT
 *
 * If the put finds an existing job with the same id, a look follows at once:
 * that job may have ended already, and its end is published on the channel that
 * its own put named. */
#ifndef RLT_PUT_WAIT_H
#define RLT_PUT_WAIT_H

#include "base.h"

#ifndef RELET_NO_POLL
#ifndef RELET_NO_QUEUE

typedef struct rlt_put_wait {
    relet *r;
    relet_span queue;
    relet_span channel;   /* points into `name`                               */
    relet_job_info *end;
    uint64_t put_tag, look_tag; /* set by the caller; no other operation's */
    uint64_t number;      /* 0: not put yet                                   */
    relet_time until, look_at;
    int looks;            /* 1 while a look is under way                      */
    int late;             /* the time is up                                   */
    char name[160];
} rlt_put_wait;

/* Set the tags before. Returns 0, or a code: then nothing was put. */
RELET_PRIVATE int rlt_put_wait_start(rlt_put_wait *a, relet *r,
                                     relet_span queue, const relet_job *job,
                                     relet_job_info *end, relet_time now,
                                     relet_time timeout_ms);

/* 1: the job has ended, and *end points into what *ev lends. 0: the put failed,
 * and *ev says how. -1: go on. */
RELET_PRIVATE int rlt_put_wait_event(rlt_put_wait *a, const relet_event *ev,
                                     relet_time now);

/* Call it after each event and at the deadline. 1: the time is up. 0: go on. */
RELET_PRIVATE int rlt_put_wait_tick(rlt_put_wait *a, relet_time now);
RELET_PRIVATE relet_time rlt_put_wait_deadline(const rlt_put_wait *a);

/* Call it when the wait has ended or could not start: it unsubscribes and ends
 * the put and the look. heard: the last event is still lent, so the look is
 * ended without an event. */
RELET_PRIVATE void rlt_put_wait_finish(rlt_put_wait *a, int heard);

#endif /* RELET_NO_QUEUE */
#endif /* RELET_NO_POLL */

#endif
