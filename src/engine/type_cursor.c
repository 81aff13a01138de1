/* SPDX-License-Identifier: MIT
 *
 * type_cursor.c - how far a worker that claims by type has read the line of
 * waiting jobs. */
#include "type_cursor.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

#define TYPE_CURSOR_START "-inf" /* no score is lower                         */
#define TYPE_CURSOR_AGAIN_MS 1000
#define TYPE_CURSOR_REST 8 /* the pause, in multiples of the reading time    */

RELET_PRIVATE void rlt_type_cursor_begin(rlt_type_cursor *k, relet_time now)
{
    k->mark_len = (uint8_t)strlen(TYPE_CURSOR_START);
    memcpy(k->mark, TYPE_CURSOR_START, k->mark_len);
    k->began_at = now;
    k->again_at = RELET_NEVER;
}

RELET_PRIVATE int rlt_type_cursor_at_start(const rlt_type_cursor *k)
{
    return rlt_span_is(rlt_span(k->mark, k->mark_len), TYPE_CURSOR_START);
}

RELET_PRIVATE void rlt_type_cursor_on(rlt_type_cursor *k, relet_span mark,
                                      int found, int over, relet_time now,
                                      relet_time poll_ms)
{
    relet_time rest =
        TYPE_CURSOR_AGAIN_MS + TYPE_CURSOR_REST * (now - k->began_at);

    rlt_assert(k->mark_len > 0);
    rlt_assert(k->mark_len <= sizeof k->mark);
    if (mark.n > 0 && mark.n <= sizeof k->mark) {
        memcpy(k->mark, mark.p, mark.n);
        k->mark_len = (uint8_t)mark.n;
    }
    k->woken = k->woken && !(found && k->wake_seen);
    if (k->again_at != RELET_NEVER)
        return;
    if (over)
        k->again_at = now + RLT_MIN(rest, poll_ms);
    else if (found)
        k->again_at = k->began_at + poll_ms;
}

#endif /* RELET_NO_QUEUE */
