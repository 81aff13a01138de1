/* SPDX-License-Identifier: MIT
 *
 * worker.c - decides when a worker sends which step. */
#include "worker.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

RELET_PRIVATE void rlt_worker_start(rlt_worker *w, const rlt_worker_plan *plan,
                                    rlt_claim *slots, rlt_rand *rand,
                                    relet_time now)
{
    int i;

    rlt_assert(plan->slots > 0);
    rlt_assert(plan->batch > 0);
    memset(w, 0, sizeof *w);
    rlt_claims_init(&w->held, slots, plan->slots);
    w->plan = *plan;
    w->allowed = plan->slots;
    w->rand = rand;
    rlt_type_cursor_begin(&w->cursor, now);
    w->state = RLT_WORKER_EAGER;
    w->poll_at = now;
    w->due_at = RELET_NEVER;
    rlt_reaper_begin(&w->reaper, plan->reap_ms, now);
    for (i = 0; i < RLT_STEPS; i++)
        w->step[i].op = 1;
}

/* -------------------------------------------------------------------- time */

/* When the first lease is to be renewed. */
static relet_time work_renewal(const rlt_worker *w)
{
    relet_time until = rlt_claims_until(&w->held);

    if (until == RELET_NEVER)
        return until;
    return until - rlt_trust_ms(w->plan.lease_ms) + w->plan.renew_ms;
}

static int work_is_idle(const rlt_worker *w)
{
    return w->state == RLT_WORKER_REST || w->state == RLT_WORKER_OVER;
}

/* A CLAIM brought jobs that are not known here, and a claim is free; or a CLAIM
 * was not answered, and is not to be repeated. */
static int work_is_astray(const rlt_worker *w)
{
    if (w->reply_lost)
        return rlt_claims_in(&w->held, RLT_CLAIM_FREE) > 0;
    return w->repeats && w->state == RLT_WORKER_STOPPING &&
           w->step[RLT_STEP_CLAIM].serial == 0;
}

/* How many jobs a handler works at. */
static uint32_t work_in_hand(const rlt_worker *w)
{
    return rlt_claims_in(&w->held, RLT_CLAIM_HELD) +
           rlt_claims_in(&w->held, RLT_CLAIM_LOST);
}

RELET_PRIVATE uint32_t rlt_worker_load(const rlt_worker *w)
{
    return work_in_hand(w) + (w->repeats || w->reply_lost ? w->wanted : 0);
}

/* How many claims are free, or will be when those that are SENT have ended. */
static uint32_t work_slots(const rlt_worker *w)
{
    return rlt_claims_in(&w->held, RLT_CLAIM_FREE) +
           rlt_claims_in(&w->held, RLT_CLAIM_SENT);
}

RELET_PRIVATE int rlt_worker_hungry(const rlt_worker *w)
{
    return w->state == RLT_WORKER_EAGER && !w->drained && work_slots(w) > 0;
}

/* How many jobs may be claimed. */
static uint32_t work_room(const rlt_worker *w)
{
    uint32_t n = RLT_MIN(work_slots(w), w->plan.batch), has = work_in_hand(w);

    if (w->repeats) /* the CLAIM may have been granted: it counts as load */
        return RLT_MIN(n, w->wanted);
    return RLT_MIN(n, w->allowed > has ? w->allowed - has : 0);
}

RELET_PRIVATE int rlt_worker_can_claim(const rlt_worker *w)
{
    return rlt_worker_hungry(w) && work_room(w) > 0;
}

/* Whether a step is to be sent that does not depend on the clock. A step that
 * waits for one under way does not count. */
static int work_to_send(const rlt_worker *w)
{
    const rlt_under_way *u = w->step;

    if (w->called && u[RLT_STEP_LEAVE].serial == 0)
        return 1;
    if ((u[RLT_STEP_DONE].serial == 0 &&
         rlt_claims_in(&w->held, RLT_CLAIM_DONE) > 0) ||
        (u[RLT_STEP_RETURN].serial == 0 &&
         rlt_claims_in(&w->held, RLT_CLAIM_RETURN) > 0))
        return 1;
    if (work_is_astray(w))
        return u[RLT_STEP_RECALL].serial == 0;
    if (w->reply_lost)
        return 0;
    if (w->state != RLT_WORKER_EAGER || u[RLT_STEP_CLAIM].serial != 0)
        return 0;
    if (w->cursor.unranked)
        return u[RLT_STEP_RANK].serial == 0;
    return w->drained ? u[RLT_STEP_LINE_UP].serial == 0
                      : rlt_claims_in(&w->held, RLT_CLAIM_FREE) > 0 &&
                            work_room(w) > 0;
}

/* If an answer broke the link each time that it came, this worker would ask for
 * that answer for ever. Once the leases of the CLAIM have ended, other workers
 * may have the jobs, and the CLAIM is given up, with or without a link. */
static relet_time work_gives_up_at(const rlt_worker *w)
{
    if (!w->reply_lost || w->in_vain < RLT_WORKER_IN_VAIN ||
        w->step[RLT_STEP_RECALL].serial != 0)
        return RELET_NEVER;
    return w->claim_heard_at + w->plan.lease_ms;
}

RELET_PRIVATE relet_time rlt_worker_deadline(const rlt_worker *w, int up,
                                             relet_time now)
{
    relet_time t;

    if (work_is_idle(w))
        return RELET_NEVER;
    t = RLT_MIN(rlt_claims_deadline(&w->held), work_gives_up_at(w));
    if (!up)
        return t;
    if (w->again_at > now)
        return RLT_MIN(t, w->again_at);
    if (work_to_send(w))
        return now;
    if (w->step[RLT_STEP_RENEW].serial == 0)
        t = RLT_MIN(t, work_renewal(w));
    if (w->state != RLT_WORKER_STOPPING)
        t = RLT_MIN(t, rlt_reaper_due(&w->reaper,
                                      w->step[RLT_STEP_REAP].serial != 0,
                                      w->step[RLT_STEP_TRIM].serial != 0,
                                      w->step[RLT_STEP_FORGET].serial != 0));
    if (w->state == RLT_WORKER_ASLEEP)
        t = RLT_MIN(t, RLT_MIN(w->poll_at, w->due_at));
    if (w->state == RLT_WORKER_EAGER && w->step[RLT_STEP_PROMOTE].serial == 0)
        t = RLT_MIN(t, w->due_at); /* also while it is full of work */
    return t;
}

RELET_PRIVATE void rlt_worker_claim_ends(rlt_worker *w, int astray,
                                         uint64_t from)
{
    w->reply_lost = astray != 0;
    w->reply_lost_from = astray ? from : 0;
    w->repeats = 0;
    w->step[RLT_STEP_CLAIM].op += !astray;
}

static void work_give_up(rlt_worker *w, relet_time now)
{
    if (now < work_gives_up_at(w))
        return;
    w->in_vain = 0;
    rlt_worker_claim_ends(w, 0, 0);
}

RELET_PRIVATE void rlt_worker_tick(rlt_worker *w, relet_time now)
{
    if (work_is_idle(w))
        return;
    rlt_claims_expire(&w->held, now);
    work_give_up(w, now);
    if (w->state != RLT_WORKER_ASLEEP)
        return;
    if (now >= w->due_at) {
        w->state = RLT_WORKER_EAGER;
    } else if (now >= w->poll_at) { /* lining up tells whether there is work */
        w->state = RLT_WORKER_EAGER;
        w->drained = w->throttled == 0;
    }
}

RELET_PRIVATE void rlt_worker_wake(rlt_worker *w)
{
    if (w->state == RLT_WORKER_ASLEEP)
        w->state = RLT_WORKER_EAGER;
    w->cursor.woken = w->plan.by_type;
    w->cursor.wake_seen = 0;
    w->cursor.again_at = 0;
    w->drained = 0;
    w->again_at = 0;
    w->tries = 0;
    w->called = 0;
}

RELET_PRIVATE void rlt_worker_left(rlt_worker *w)
{
    rlt_worker_wake(w);
    w->left_since = w->step[RLT_STEP_LINE_UP].serial != 0;
}

RELET_PRIVATE int rlt_worker_passes(rlt_worker *w)
{
    w->called = !work_is_idle(w);
    return w->called;
}

/* --------------------------------------------------------------- to be sent */

RELET_PRIVATE int rlt_worker_sends(const rlt_claim *s, rlt_step step)
{
    if (step == RLT_STEP_RENEW)
        return s->renewed > 0;
    return s->state == RLT_CLAIM_SENT && s->step == (uint8_t)step;
}

/* Takes all claims that are at least half way to their renewal, so that one
 * step serves many. */
static uint32_t work_gather_renewals(rlt_worker *w, relet_time now)
{
    relet_time until = now + rlt_trust_ms(w->plan.lease_ms) -
                       w->plan.renew_ms / 2;

    return rlt_claims_renew(&w->held, until, w->plan.batch);
}

/* The jobs of the last step if it was not answered, else those that have ended
 * since. */
static uint32_t work_gather_ended(rlt_worker *w, rlt_step step)
{
    if (w->step[step].sent_at != 0)
        return rlt_claims_sent(&w->held, (uint8_t)step);
    return rlt_claims_send(
        &w->held, step == RLT_STEP_DONE ? RLT_CLAIM_DONE : RLT_CLAIM_RETURN,
        (uint8_t)step, w->plan.batch);
}

/* Whether a step is called for, and how many jobs it is about. */
static int work_calls_for(rlt_worker *w, rlt_step step, relet_time now,
                          uint32_t *count)
{
    int eager = w->state == RLT_WORKER_EAGER;

    *count = 0;
    switch (step) {
    case RLT_STEP_RENEW:
        return work_renewal(w) <= now &&
               (*count = work_gather_renewals(w, now)) > 0;
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        return (*count = work_gather_ended(w, step)) > 0;
    case RLT_STEP_PROMOTE:
        return eager && w->due_at <= now;
    case RLT_STEP_RECALL:
        return work_is_astray(w);
    case RLT_STEP_RANK:
        return eager && w->cursor.unranked;
    case RLT_STEP_CLAIM:
        return eager && !w->reply_lost && !w->drained && !w->cursor.unranked &&
               (*count = work_room(w)) > 0;
    case RLT_STEP_LINE_UP:
        return eager && w->drained && w->step[RLT_STEP_CLAIM].serial == 0;
    case RLT_STEP_LEAVE:
        return w->called || (w->in_line && w->state == RLT_WORKER_STOPPING);
    case RLT_STEP_REAP:
    case RLT_STEP_TRIM:
    case RLT_STEP_FORGET:
        return rlt_reaper_due(&w->reaper, step != RLT_STEP_REAP,
                              step != RLT_STEP_TRIM,
                              step != RLT_STEP_FORGET) <= now &&
               w->state != RLT_WORKER_STOPPING;
    }
    return 0;
}

RELET_PRIVATE int rlt_worker_want(rlt_worker *w, relet_time now,
                                  uint32_t serial, rlt_worker_request *out)
{
    int i;

    if (work_is_idle(w) || now < w->again_at)
        return 0;
    for (i = 0; i < RLT_STEPS; i++) {
        rlt_under_way *u = &w->step[i];

        if (u->serial != 0 ||
            !work_calls_for(w, (rlt_step)i, now, &out->count))
            continue;
        rlt_assert(serial != 0);
        rlt_assert(out->count <= w->plan.slots);
        u->serial = serial;
        /* The first send of a repeated CLAIM may have begun its leases. */
        if (i != RLT_STEP_CLAIM || !w->repeats)
            u->sent_at = now;
        if (i == RLT_STEP_CLAIM || i == RLT_STEP_LINE_UP)
            w->cursor.wake_seen = w->cursor.woken;
        if (i == RLT_STEP_LINE_UP)
            w->left_since = 0;
        if (i == RLT_STEP_CLAIM) {
            rlt_assert(w->state == RLT_WORKER_EAGER);
            rlt_assert(!w->reply_lost);
            if (w->cursor.again_at <= now)
                rlt_type_cursor_begin(&w->cursor, now);
            w->wanted = w->repeats ? RLT_MAX(w->wanted, out->count)
                                   : out->count;
            w->doubled = w->repeats;
            w->repeats = 1;
        }
        out->step = (rlt_step)i;
        out->serial = serial;
        out->op = w->step[i == RLT_STEP_RECALL ? RLT_STEP_CLAIM : i].op;
        out->timeout_ms = RLT_MAX(w->plan.renew_ms, 1000);
        out->latest_ms = rlt_reaper_latest(&w->reaper, now, w->plan.lease_ms);
        return 1;
    }
    return 0;
}

/* ---------------------------------------------------------------- the user */

RELET_PRIVATE void rlt_worker_settle(rlt_worker *w)
{
    uint32_t i, busy;

    if (w->state != RLT_WORKER_STOPPING)
        return;
    busy = rlt_claims_busy(&w->held);
    for (i = 0; i < RLT_STEPS; i++)
        busy += w->step[i].serial != 0;
    if (busy > 0 || w->reply_lost || work_is_astray(w) || w->in_line ||
        w->called)
        return;
    w->state = RLT_WORKER_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_worker_stop(rlt_worker *w)
{
    if (work_is_idle(w))
        return;
    w->state = RLT_WORKER_STOPPING;
    w->again_at = 0; /* stopping clears the retry back-off */
    w->tries = 0;
    rlt_worker_settle(w);
}

RELET_PRIVATE void rlt_worker_cut_off(rlt_worker *w, relet_why why)
{
    if (work_is_idle(w))
        return;
    rlt_claims_cut_off(&w->held, why);
    w->state = RLT_WORKER_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_worker_eased(rlt_worker *w)
{
    if (w->throttled && w->state == RLT_WORKER_ASLEEP)
        w->state = RLT_WORKER_EAGER;
}

RELET_PRIVATE int rlt_worker_ended(rlt_worker *w)
{
    if (!w->tell_end)
        return 0;
    rlt_assert(w->state == RLT_WORKER_OVER);
    w->tell_end = 0;
    w->state = RLT_WORKER_REST;
    return 1;
}

#endif /* RELET_NO_QUEUE */
