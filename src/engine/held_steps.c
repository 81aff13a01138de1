/* SPDX-License-Identifier: MIT
 *
 * held_steps.c - the steps about the jobs that a worker holds. RENEW renews
 * their leases, DONE ends the jobs that are done, and RETURN puts jobs back in
 * line. */
#include "step.h"

#ifndef RELET_NO_QUEUE

/* Adds the number and the token of each job that the step is about. */
static void held_say(rlt_args *a, const rlt_worker *w, rlt_step step)
{
    uint32_t i;

    for (i = 0; i < w->held.count; i++) {
        const rlt_claim *s = &w->held.slot[i];

        if (!rlt_worker_sends(s, step))
            continue;
        rlt_args_number(a, s->number);
        rlt_args_number(a, s->token);
    }
}

/* ------------------------------------------------------------------- RENEW */

/* When the first lease is to be renewed. */
RELET_PRIVATE relet_time rlt_step_renew_due(const rlt_worker *w,
                                            relet_time now)
{
    relet_time until = rlt_claims_until(&w->held);

    (void)now;
    if (until == RELET_NEVER)
        return until;
    return until - rlt_trust_ms(w->plan.lease_ms) + w->plan.renew_ms;
}

/* One RENEW also renews each lease that is due within renew_ms / 2, so that few
 * steps serve many leases. */
RELET_PRIVATE uint32_t rlt_step_renew_begin(rlt_worker *w, relet_time now)
{
    relet_time until = now + rlt_trust_ms(w->plan.lease_ms) -
                       w->plan.renew_ms / 2;

    return rlt_claims_renew(&w->held, until, w->plan.batch);
}

RELET_PRIVATE rlt_own_script rlt_step_renew_say(const rlt_worker *w,
                                                rlt_args *a,
                                                const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_LEASED, 0};

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_number(a, (uint64_t)w->plan.lease_ms);
    rlt_args_number(a, (uint64_t)w->plan.run_ms);
    held_say(a, w, RLT_STEP_RENEW);
    return RLT_SCRIPT_QUEUE_RENEW;
}

RELET_PRIVATE uint32_t rlt_step_renew_heard(rlt_worker *w, relet_time now,
                                            relet_value v)
{
    (void)now;
    rlt_claims_renewed(&w->held, relet_value_text(relet_value_at(v, 0)),
                       w->step[RLT_STEP_RENEW].sent_at +
                           rlt_trust_ms(w->plan.lease_ms));
    return 0;
}

/* ------------------------------------------------------------ DONE, RETURN */

/* A step that was not answered is repeated with the same jobs. */
static int held_repeats(const rlt_worker *w, rlt_step step)
{
    return w->step[step].sent_at != 0;
}

static relet_time held_due(const rlt_worker *w, rlt_step step,
                           rlt_claim_state ended, relet_time now)
{
    uint32_t n = held_repeats(w, step)
                     ? rlt_claims_sent(&w->held, (uint8_t)step)
                     : rlt_claims_in(&w->held, ended);

    return n > 0 ? now : RELET_NEVER;
}

static uint32_t held_begin(rlt_worker *w, rlt_step step, rlt_claim_state ended)
{
    rlt_assert(w->step[step].serial == 0);
    if (held_repeats(w, step))
        return rlt_claims_sent(&w->held, (uint8_t)step);
    return rlt_claims_send(&w->held, ended, (uint8_t)step, w->plan.batch);
}

static uint32_t held_heard(rlt_worker *w, rlt_step step, relet_value v)
{
    rlt_claims_answered(&w->held, (uint8_t)step, relet_value_text(v));
    w->step[step].op++;
    w->step[step].sent_at = 0;
    return 0;
}

RELET_PRIVATE relet_time rlt_step_done_due(const rlt_worker *w, relet_time now)
{
    return held_due(w, RLT_STEP_DONE, RLT_CLAIM_DONE, now);
}

RELET_PRIVATE uint32_t rlt_step_done_begin(rlt_worker *w, relet_time now)
{
    (void)now;
    return held_begin(w, RLT_STEP_DONE, RLT_CLAIM_DONE);
}

RELET_PRIVATE rlt_own_script rlt_step_done_say(const rlt_worker *w,
                                               rlt_args *a,
                                               const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_LEASED, 0};

    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_add(a, w->plan.name);
    rlt_args_number(a, e->op);
    held_say(a, w, RLT_STEP_DONE);
    return RLT_SCRIPT_QUEUE_DONE_PLAIN;
}

RELET_PRIVATE uint32_t rlt_step_done_heard(rlt_worker *w, relet_time now,
                                           relet_value v)
{
    (void)now;
    return held_heard(w, RLT_STEP_DONE, v);
}

RELET_PRIVATE relet_time rlt_step_return_due(const rlt_worker *w,
                                             relet_time now)
{
    return held_due(w, RLT_STEP_RETURN, RLT_CLAIM_RETURN, now);
}

RELET_PRIVATE uint32_t rlt_step_return_begin(rlt_worker *w, relet_time now)
{
    (void)now;
    return held_begin(w, RLT_STEP_RETURN, RLT_CLAIM_RETURN);
}

/* Of the jobs to return, the one that was leased next after `last`; or NULL. */
static const rlt_claim *held_next_back(const rlt_worker *w,
                                       const rlt_claim *last)
{
    const rlt_claim *next = NULL;
    uint32_t i;

    for (i = 0; i < w->held.count; i++) {
        const rlt_claim *s = &w->held.slot[i];

        if (!rlt_worker_sends(s, RLT_STEP_RETURN) ||
            (last && (s->token < last->token ||
                      (s->token == last->token && s <= last))))
            continue;
        if (next == NULL || s->token < next->token)
            next = s;
    }
    return next;
}

/* Jobs are returned in the order in which they were leased, so that they wait
 * in this order again. The worker's claims are in any order. */
RELET_PRIVATE rlt_own_script rlt_step_return_say(const rlt_worker *w,
                                                 rlt_args *a,
                                                 const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_LEASED,
                                   RLT_KEY_IDLE, 0};
    const rlt_claim *s = NULL;

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    while ((s = held_next_back(w, s)) != NULL) {
        rlt_args_number(a, s->number);
        rlt_args_number(a, s->token);
    }
    return RLT_SCRIPT_QUEUE_RELEASE;
}

RELET_PRIVATE uint32_t rlt_step_return_heard(rlt_worker *w, relet_time now,
                                             relet_value v)
{
    (void)now;
    return held_heard(w, RLT_STEP_RETURN, v);
}

#endif /* RELET_NO_QUEUE */
