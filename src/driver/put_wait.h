/* SPDX-License-Identifier: MIT
 *
 * put_wait.h - to put a job and wait for its end, a step at a time.
 *
 * relet_put_wait turns this machine with relet_wait until it has ended. The end
 * of the job is told on a channel of this wait alone. A message may be lost with
 * its link, so the job is also looked for on each new link, every few seconds,
 * and once more at the end of the time. The put itself may be answered as late
 * as that look: without its number nobody could ask for the job any more.
 *
 *   state     | means                          | ends with
 *   ----------+--------------------------------+--------------------------------
 *   putting   | number is 0                    | the put's outcome: waiting, or
 *             |                                | 0, since it failed
 *   waiting   | looks is 0                     | message of the end: 1; UP,
 *             |                                | look_at: looking
 *   looking   | a look is under way            | found at its end: 1; else
 *             |                                | waiting
 *   late      | the time is up; a last look is | as above; no look is under way
 *             | under way for a second more    | or the second is up: TIMEOUT
 *
 * The put of a job that stands in for another one's is followed by a look at
 * once: that one may have ended already, and its end is told elsewhere. */
#ifndef RLT_PUT_WAIT_H
#define RLT_PUT_WAIT_H

#include "base.h"

#ifndef RELET_NO_POLL

typedef struct rlt_put_wait {
    relet *r;
    relet_span queue;
    relet_span channel;   /* lies in name                                     */
    relet_job_info *end;
    uint64_t put_tag, look_tag; /* set by whoever starts it; no others'       */
    uint64_t number;      /* 0: not put yet                                   */
    relet_time until, look_at;
    int looks;            /* under way                                        */
    int late;             /* the time is up                                   */
    char name[160];
} rlt_put_wait;

/* The tags are set. 0, or a code: nothing was put. */
RELET_PRIVATE int rlt_put_wait_start(rlt_put_wait *a, relet *r,
                                     relet_span queue, const relet_job *job,
                                     relet_job_info *end, relet_time now,
                                     relet_time timeout_ms);

/* 1: the job has ended, and *end lends from *ev. 0: the put failed, and *ev says
 * how. -1: go on. */
RELET_PRIVATE int rlt_put_wait_event(rlt_put_wait *a, const relet_event *ev,
                                     relet_time now);

/* Behind each event, and when it is due. 1: the time is up. 0: go on. */
RELET_PRIVATE int rlt_put_wait_tick(rlt_put_wait *a, relet_time now);
RELET_PRIVATE relet_time rlt_put_wait_deadline(const rlt_put_wait *a);

/* It has ended, or was not put: nothing of it stays under way. heard: the last
 * event is still lent, so no other may be told. */
RELET_PRIVATE void rlt_put_wait_finish(rlt_put_wait *a, int heard);

#endif /* RELET_NO_POLL */

#endif
