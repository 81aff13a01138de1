/* SPDX-License-Identifier: MIT
 *
 * type_cursor.h - how far a worker that claims by type has looked through the line.
 *
 * Page by page, then at what comes behind that. What comes in front of it, such
 * as another attempt, is seen when it begins again: so long after the end that
 * looking takes a ninth of the time at most, but within its poll. One that
 * finds jobs again and again never comes to the end, so it begins again, too:
 * all it left behind is of other types, or came since. */
#ifndef RLT_TYPE_CURSOR_H
#define RLT_TYPE_CURSOR_H

#include "base.h"

#define RLT_MARK_MAX 32

typedef struct rlt_type_cursor {
    char mark[RLT_MARK_MAX]; /* what queue_pick said last                    */
    uint8_t mark_len;
    uint8_t unranked; /* jobs stand in a list, and queue_rank comes first    */
    uint8_t woken;    /* and neither found anything since, nor passed it on  */
    uint8_t wake_seen; /* the step under way was sent after that             */
    relet_time began_at;
    relet_time again_at; /* NEVER: first it has to come through              */
} rlt_type_cursor;

RELET_PRIVATE void rlt_type_cursor_begin(rlt_type_cursor *k, relet_time now);

/* Whether it has seen none that was not for it. */
RELET_PRIVATE int rlt_type_cursor_at_start(const rlt_type_cursor *k);

/* A page was looked at: where it goes on, whether there was something on it,
 * and whether it was the last. */
RELET_PRIVATE void rlt_type_cursor_on(rlt_type_cursor *k, relet_span mark,
                                      int found, int over, relet_time now,
                                      relet_time poll_ms);

#endif
