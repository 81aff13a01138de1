/* SPDX-License-Identifier: MIT
 *
 * await.h - to put a job and wait for its end, a step at a time.
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
#ifndef RLT_AWAIT_H
#define RLT_AWAIT_H

#include "base.h"

#ifndef RELET_NO_POLL

typedef struct rlt_await {
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
} rlt_await;

/* The tags are set. 0, or a code: nothing was put. */
RELET_PRIVATE int rlt_await_start(rlt_await *a, relet *r, relet_span queue,
                                  const relet_job *job, relet_job_info *end,
                                  relet_time now, relet_time timeout_ms);

/* 1: the job has ended, and *end lends from *ev. 0: the put failed, and *ev says
 * how. -1: go on. */
RELET_PRIVATE int rlt_await_event(rlt_await *a, const relet_event *ev,
                                  relet_time now);

/* Behind each event, and when it is due. 1: the time is up. 0: go on. */
RELET_PRIVATE int rlt_await_tick(rlt_await *a, relet_time now);
RELET_PRIVATE relet_time rlt_await_deadline(const rlt_await *a);

/* It has ended, or was not put: nothing of it stays under way. heard: the last
 * event is still lent, so no other may be told. */
RELET_PRIVATE void rlt_await_finish(rlt_await *a, int heard);

#endif /* RELET_NO_POLL */

#endif
