/* SPDX-License-Identifier: MIT
 *
 * type_cursor.h - how far a worker that claims by type has read the line of
 * waiting jobs.
 *
 * The worker reads page by page, then the jobs that come behind the end. A job
 * that enters in front of the cursor, such as a retry, is seen when the worker
 * starts over. The pause before that is so long that reading takes a ninth of
 * the time at most, but never longer than poll_ms. A worker that finds jobs
 * again and again may never reach the end, so it starts over, too: all jobs
 * that it has passed are of other types, or came since. */
#ifndef RLT_TYPE_CURSOR_H
#define RLT_TYPE_CURSOR_H

#include "base.h"

#ifndef RELET_NO_QUEUE

#define RLT_MARK_MAX 32

typedef struct rlt_type_cursor {
    char mark[RLT_MARK_MAX]; /* where queue_claim_type said to go on         */
    uint8_t mark_len;
    uint8_t unranked; /* jobs wait in the list: queue_rank comes first       */
    uint8_t woken;    /* a wake-up that found no job and was not passed on   */
    uint8_t wake_seen; /* the step under way was sent after the wake-up      */
    relet_time began_at;
    relet_time again_at; /* when to start over; NEVER: not known yet         */
} rlt_type_cursor;

RELET_PRIVATE void rlt_type_cursor_begin(rlt_type_cursor *k, relet_time now);

/* Whether the cursor is at the start: it has not passed any job. */
RELET_PRIVATE int rlt_type_cursor_at_start(const rlt_type_cursor *k);

/* Moves the cursor behind a page. mark: where the next page begins; found: the
 * page brought jobs; over: it was the last page. */
RELET_PRIVATE void rlt_type_cursor_on(rlt_type_cursor *k, relet_span mark,
                                      int found, int over, relet_time now,
                                      relet_time poll_ms);

#endif /* RELET_NO_QUEUE */

#endif
