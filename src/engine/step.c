/* SPDX-License-Identifier: MIT
 *
 * step.c - functions on the state of a worker that several steps use. */
#include "step.h"

#ifndef RELET_NO_QUEUE

#define STEP_THROTTLED_MAX_MS 1000

/* A CLAIM was sent, and may still bring jobs. */
static int step_is_claiming(const rlt_worker *w)
{
    return w->claiming != RLT_CLAIMING_NONE;
}

/* How many jobs the user's handlers are working on. */
static uint32_t step_in_hand(const rlt_worker *w)
{
    return rlt_claims_in(&w->held, RLT_CLAIM_HELD) +
           rlt_claims_in(&w->held, RLT_CLAIM_LOST);
}

RELET_PRIVATE uint32_t rlt_worker_load(const rlt_worker *w)
{
    return step_in_hand(w) + (step_is_claiming(w) ? w->wanted : 0);
}

/* The number of claims that are FREE, or SENT: the answer to their step frees
 * them. */
static uint32_t step_slots(const rlt_worker *w)
{
    return rlt_claims_in(&w->held, RLT_CLAIM_FREE) +
           rlt_claims_in(&w->held, RLT_CLAIM_SENT);
}

/* A claim that has ended is free once its end is sent, which comes before the
 * next CLAIM. */
RELET_PRIVATE int rlt_worker_hungry(const rlt_worker *w)
{
    return w->state == RLT_WORKER_EAGER && !w->drained &&
           step_slots(w) + rlt_claims_in(&w->held, RLT_CLAIM_DONE) +
                   rlt_claims_in(&w->held, RLT_CLAIM_RETURN) > 0;
}

RELET_PRIVATE uint32_t rlt_worker_room(const rlt_worker *w)
{
    uint32_t n = RLT_MIN(step_slots(w), w->plan.batch), has = step_in_hand(w);

    if (step_is_claiming(w)) /* it may have been granted: it counts as load */
        return RLT_MIN(n, w->wanted);
    return RLT_MIN(n, w->allowed > has ? w->allowed - has : 0);
}

RELET_PRIVATE int rlt_worker_can_claim(const rlt_worker *w)
{
    return rlt_worker_hungry(w) && rlt_worker_room(w) > 0;
}

RELET_PRIVATE void rlt_worker_wake(rlt_worker *w)
{
    if (w->state == RLT_WORKER_ASLEEP)
        w->state = RLT_WORKER_EAGER;
    w->cursor.woken = w->plan.type.n > 0;
    w->cursor.wake_seen = 0;
    w->cursor.again_at = 0;
    w->drained = 0;
    w->again_at = 0;
    w->tries = 0;
    w->called = 0;
}

/* Scores of delayed jobs are 1024 * ms. */
RELET_PRIVATE void rlt_worker_due(rlt_worker *w, relet_time now,
                                  int64_t server_us, relet_value due)
{
    int64_t score, ms;

    w->due_at = RELET_NEVER;
    if (!relet_value_int(due, &score) || score < 0)
        return;
    ms = score / 1024 - server_us / 1000;
    w->due_at = now + RLT_MAX(ms, 0);
}

RELET_PRIVATE void rlt_worker_throttle(rlt_worker *w, relet_time now)
{
    relet_time wait = RLT_WORKER_AGAIN_MIN_MS << RLT_MIN(w->throttled, 5);

    wait = RLT_MIN(RLT_MIN(wait, STEP_THROTTLED_MAX_MS), w->plan.poll_ms);
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    if (w->throttled < 5)
        w->throttled++;
    w->drained = 0;
    if (w->state != RLT_WORKER_EAGER)
        return;
    w->state = RLT_WORKER_ASLEEP;
    w->poll_at = now + wait;
}

RELET_PRIVATE int rlt_worker_recalls(const rlt_worker *w)
{
    if (w->claiming == RLT_CLAIMING_RECALLED)
        return rlt_claims_in(&w->held, RLT_CLAIM_FREE) > 0;
    return w->claiming == RLT_CLAIMING_UNHEARD &&
           w->state == RLT_WORKER_STOPPING;
}

RELET_PRIVATE void rlt_worker_claim_ends(rlt_worker *w, int more,
                                         uint64_t from)
{
    rlt_assert(w->claiming != RLT_CLAIMING_NONE);
    w->claiming = more ? RLT_CLAIMING_RECALLED : RLT_CLAIMING_NONE;
    w->recalled_from = more ? from : 0;
    w->step[RLT_STEP_CLAIM].op += !more;
}

RELET_PRIVATE int rlt_worker_sends(const rlt_claim *s, rlt_step step)
{
    if (step == RLT_STEP_RENEW)
        return s->renewed > 0;
    return rlt_claims_is_sent(s, (uint8_t)step);
}

#endif /* RELET_NO_QUEUE */
