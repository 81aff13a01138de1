/* SPDX-License-Identifier: MIT
 *
 * walk.c - how far a worker that claims by type has looked through the line. */
#include "walk.h"

#include "text.h"

#define WALK_START "-inf" /* no score is lower                               */
#define WALK_AGAIN_MS 1000
#define WALK_REST 8 /* times what it took                                    */

RELET_PRIVATE void rlt_walk_begin(rlt_walk *k, relet_time now)
{
    k->mark_len = (uint8_t)strlen(WALK_START);
    memcpy(k->mark, WALK_START, k->mark_len);
    k->began_at = now;
    k->again_at = RELET_NEVER;
}

RELET_PRIVATE int rlt_walk_at_start(const rlt_walk *k)
{
    return rlt_span_is(rlt_span(k->mark, k->mark_len), WALK_START);
}

RELET_PRIVATE void rlt_walk_on(rlt_walk *k, relet_span mark, int found,
                               int over, relet_time now, relet_time poll_ms)
{
    relet_time rest = WALK_AGAIN_MS + WALK_REST * (now - k->began_at);

    if (mark.n > 0 && mark.n <= sizeof k->mark) {
        memcpy(k->mark, mark.p, mark.n);
        k->mark_len = (uint8_t)mark.n;
    }
    k->woken = k->woken && !(found && k->heeds);
    if (k->again_at != RELET_NEVER)
        return;
    if (over)
        k->again_at = now + RLT_MIN(rest, poll_ms);
    else if (found)
        k->again_at = k->began_at + poll_ms;
}
