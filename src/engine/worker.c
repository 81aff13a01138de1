/* SPDX-License-Identifier: MIT
 *
 * worker.c - decides when a worker sends which step, and takes in the
 * outcome. */
#include "worker.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

#define WORKER_AGAIN_MAX_MS 5000

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

static int worker_is_idle(const rlt_worker *w)
{
    return w->state == RLT_WORKER_REST || w->state == RLT_WORKER_OVER;
}

/* --------------------------------------------------------------- the steps */

/* A switch over the steps that calls a function of each one. */
#define WORKER_DUE(NAME, name, begins)                                         \
    case RLT_STEP_##NAME:                                                      \
        return rlt_step_##name##_due(w, now);
#define WORKER_BEGIN(NAME, name, begins)                                       \
    case RLT_STEP_##NAME:                                                      \
        return rlt_step_##begins##_begin(w, now);
#define WORKER_SAY(NAME, name, begins)                                         \
    case RLT_STEP_##NAME:                                                      \
        return rlt_step_##name##_say(w, a, e);
#define WORKER_HEARD(NAME, name, begins)                                       \
    case RLT_STEP_##NAME:                                                      \
        return rlt_step_##name##_heard(w, now, v);

static relet_time worker_due(const rlt_worker *w, rlt_step step,
                             relet_time now)
{
    switch (step) {
        RLT_EACH_STEP(WORKER_DUE)
    }
    return RELET_NEVER;
}

static uint32_t worker_begin(rlt_worker *w, rlt_step step, relet_time now)
{
    switch (step) {
        RLT_EACH_STEP(WORKER_BEGIN)
    }
    return 0;
}

RELET_PRIVATE rlt_own_script rlt_worker_say(const rlt_worker *w, rlt_args *a,
                                            const rlt_worker_request *e)
{
    rlt_assert(e->serial != 0);
    switch (e->step) {
        RLT_EACH_STEP(WORKER_SAY)
    }
    return RLT_SCRIPT_QUEUE_IDLE;
}

static uint32_t worker_heard(rlt_worker *w, relet_time now, rlt_step step,
                             relet_value v)
{
    switch (step) {
        RLT_EACH_STEP(WORKER_HEARD)
    }
    return 0;
}

/* -------------------------------------------------------------------- time */

/* If an answer broke the link each time that it came, this worker would ask for
 * that answer for ever. Once the leases of the CLAIM have ended, other workers
 * may have the jobs, and the CLAIM is given up, with or without a link. */
static relet_time worker_gives_up_at(const rlt_worker *w)
{
    if (w->claiming != RLT_CLAIMING_RECALLED ||
        w->in_vain < RLT_WORKER_IN_VAIN ||
        w->step[RLT_STEP_RECALL].serial != 0)
        return RELET_NEVER;
    return w->claim_heard_at + w->plan.lease_ms;
}

static relet_time worker_steps_due(const rlt_worker *w, relet_time now)
{
    relet_time t = RELET_NEVER;
    int i;

    for (i = 0; i < RLT_STEPS; i++)
        if (w->step[i].serial == 0)
            t = RLT_MIN(t, worker_due(w, (rlt_step)i, now));
    return t;
}

RELET_PRIVATE relet_time rlt_worker_deadline(const rlt_worker *w, int up,
                                             relet_time now)
{
    relet_time t;

    if (worker_is_idle(w))
        return RELET_NEVER;
    t = RLT_MIN(rlt_claims_deadline(&w->held), worker_gives_up_at(w));
    if (!up)
        return t;
    if (w->again_at > now)
        return RLT_MIN(t, w->again_at);
    if (w->state == RLT_WORKER_ASLEEP)
        t = RLT_MIN(t, RLT_MIN(w->poll_at, w->due_at));
    return RLT_MIN(t, worker_steps_due(w, now));
}

static void worker_give_up(rlt_worker *w, relet_time now)
{
    if (now < worker_gives_up_at(w))
        return;
    w->in_vain = 0;
    rlt_worker_claim_ends(w, 0, 0);
}

RELET_PRIVATE void rlt_worker_tick(rlt_worker *w, relet_time now)
{
    if (worker_is_idle(w))
        return;
    rlt_claims_expire(&w->held, now);
    worker_give_up(w, now);
    if (w->state != RLT_WORKER_ASLEEP)
        return;
    if (now >= w->due_at) {
        w->state = RLT_WORKER_EAGER;
    } else if (now >= w->poll_at) { /* lining up tells whether there is work */
        w->state = RLT_WORKER_EAGER;
        w->drained = w->throttled == 0;
    }
}

RELET_PRIVATE void rlt_worker_left(rlt_worker *w)
{
    rlt_worker_wake(w);
    w->left_since = w->step[RLT_STEP_LINE_UP].serial != 0;
}

RELET_PRIVATE int rlt_worker_passes(rlt_worker *w)
{
    w->called = !worker_is_idle(w);
    return w->called;
}

/* --------------------------------------------------------------- to be sent */

RELET_PRIVATE int rlt_worker_want(rlt_worker *w, relet_time now,
                                  uint32_t serial, rlt_worker_request *out)
{
    int i;

    if (worker_is_idle(w) || now < w->again_at)
        return 0;
    for (i = 0; i < RLT_STEPS; i++) {
        rlt_under_way *u = &w->step[i];

        if (u->serial != 0 || worker_due(w, (rlt_step)i, now) > now)
            continue;
        rlt_assert(serial != 0);
        out->count = worker_begin(w, (rlt_step)i, now);
        rlt_assert(out->count <= w->plan.slots);
        u->serial = serial;
        u->sent_at = now;
        out->step = (rlt_step)i;
        out->serial = serial;
        out->op = u->op;
        out->timeout_ms = RLT_MAX(w->plan.renew_ms, 1000);
        out->latest_ms = rlt_reaper_latest(&w->reaper, now, w->plan.lease_ms);
        return 1;
    }
    return 0;
}

/* ------------------------------------------------------------- the outcome */

/* Steps that fail during the back-off have failed for the same reason, and
 * count once. The back-off is short enough that leases can still be renewed
 * when the server works again. */
static void worker_back_off(rlt_worker *w, relet_time now)
{
    relet_time most = RLT_MIN(w->plan.renew_ms / 2, WORKER_AGAIN_MAX_MS);
    relet_time wait = RLT_WORKER_AGAIN_MIN_MS << RLT_MIN(w->tries, 7);

    if (w->again_at > now)
        return;
    wait = RLT_MIN(wait, RLT_MAX(most, RLT_WORKER_AGAIN_MIN_MS));
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    w->again_at = now + wait;
    w->tries++;
}

/* A failed REAP, TRIM or FORGET, which serves other workers, delays no other
 * step. */
static void worker_failed(rlt_worker *w, relet_time now, rlt_step step,
                          int is_error)
{
    if (step >= RLT_STEP_REAP) {
        rlt_worker_clean_failed(w, now, step, is_error);
        return;
    }
    worker_back_off(w, now);
    rlt_assert(step != RLT_STEP_CLAIM ||
               w->claiming != RLT_CLAIMING_RECALLED);
    if (step == RLT_STEP_CLAIM)
        w->claiming = RLT_CLAIMING_UNHEARD;
    if (step == RLT_STEP_RECALL && w->in_vain < RLT_WORKER_IN_VAIN)
        w->in_vain++;
}

/* Whether v has the type of an answer to this step: text, such as a letter for
 * each job, or an array. */
static int worker_is_answer(rlt_step step, relet_value v)
{
    int letters = step == RLT_STEP_DONE || step == RLT_STEP_RETURN ||
                  step == RLT_STEP_FORGET;

    return relet_value_type(v) == (letters ? RELET_T_TEXT : RELET_T_ARRAY);
}

RELET_PRIVATE int rlt_worker_reply(rlt_worker *w, relet_time now, rlt_step step,
                                   const rlt_reply *r)
{
    uint32_t brought = 0, bit = 1u << step;
    int trouble = 0;

    if (r->serial == 0 || r->serial != w->step[step].serial)
        return 0;
    w->step[step].serial = 0;
    if (step == RLT_STEP_CLAIM)
        w->claim_heard_at = now;
    if (r->heard == RLT_HEARD_VALUE && worker_is_answer(step, r->value)) {
        w->tries = 0;
        w->refused &= (uint16_t)~bit;
        brought = worker_heard(w, now, step, r->value);
    } else {
        worker_failed(w, now, step, r->heard == RLT_HEARD_VALUE);
        trouble = r->heard == RLT_HEARD_VALUE && !(w->refused & bit);
        w->refused |= (uint16_t)(trouble ? bit : 0);
    }
    rlt_worker_settle(w);
    rlt_assert(brought == 0 || w->state == RLT_WORKER_EAGER ||
               w->state == RLT_WORKER_ASLEEP); /* else all jobs are returned */
    return trouble ? RLT_WORKER_TROUBLE : brought > 0 ? RLT_WORKER_BROUGHT : 0;
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
    if (busy > 0 || w->claiming != RLT_CLAIMING_NONE || w->in_line || w->called)
        return;
    w->state = RLT_WORKER_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_worker_stop(rlt_worker *w)
{
    if (worker_is_idle(w))
        return;
    w->state = RLT_WORKER_STOPPING;
    w->again_at = 0; /* stopping clears the retry back-off */
    w->tries = 0;
    rlt_worker_settle(w);
}

RELET_PRIVATE void rlt_worker_cut_off(rlt_worker *w, relet_why why)
{
    if (worker_is_idle(w))
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
