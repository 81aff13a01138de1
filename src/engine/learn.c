/* SPDX-License-Identifier: MIT
 *
 * learn.c - takes in the answers to a worker's steps. */
#include "text.h"
#include "worker.h"

#ifndef RELET_NO_QUEUE

#define LEARN_AGAIN_MIN_MS 50
#define LEARN_AGAIN_MAX_MS 5000
#define LEARN_HELD_BACK_MAX_MS 1000
#define LEARN_MS_MAX INT64_C(1000000000000000) /* above any clock; sums fit   */

/* ----------------------------------------------------------------- answers */

/* Steps that fail during the back-off have failed for the same reason, and
 * count once. The back-off never takes up the time in which leases are to be
 * renewed once the server is well again. */
static void learn_failed(rlt_worker *w, relet_time now)
{
    relet_time most = RLT_MIN(w->plan.renew_ms / 2, LEARN_AGAIN_MAX_MS);
    relet_time wait = LEARN_AGAIN_MIN_MS << RLT_MIN(w->tries, 7);

    if (w->again_at > now)
        return;
    wait = RLT_MIN(wait, RLT_MAX(most, LEARN_AGAIN_MIN_MS));
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    w->again_at = now + wait;
    w->tries++;
}

/* Takes the jobs of an answer: number, record, state of each, from the fourth
 * element on. A job that found no free claim, as a step that was to free one
 * was not answered, is asked for again. */
static uint32_t learn_take(rlt_worker *w, relet_time now, relet_value v,
                           int64_t us, rlt_claimed *c)
{
    uint32_t n;

    memset(c, 0, sizeof *c);
    c->sent_at = w->step[RLT_STEP_CLAIM].sent_at;
    c->until = c->sent_at + rlt_trust_ms(w->plan.lease_ms);
    c->to_go_back = w->state == RLT_WORKER_STOPPING || c->until <= now;
    c->server_us = us;
    c->from = w->reply_lost_from;
    n = rlt_claims_take(&w->held, v, 3, c);
    w->taken += n;
    rlt_worker_claim_ends(w, c->homeless > 0, c->from);
    return n;
}

/* Scores of delayed jobs are 1024 * ms. */
static void learn_due(rlt_worker *w, relet_time now, int64_t server_us,
                      relet_value due)
{
    int64_t score, ms;

    w->due_at = RELET_NEVER;
    if (!relet_value_int(due, &score) || score < 0)
        return;
    ms = score / 1024 - server_us / 1000;
    w->due_at = now + RLT_MAX(ms, 0);
}

/* Throttled: jobs wait, but the queue is stopped or at its limit; or this
 * worker lost the jobs, and its handlers of them have not ended. Lining up
 * would only tell that there is work, so the worker asks again later, or as
 * soon as a job of its own has ended. */
static void learn_hold_back(rlt_worker *w, relet_time now)
{
    relet_time wait = LEARN_AGAIN_MIN_MS << RLT_MIN(w->throttled, 5);

    wait = RLT_MIN(RLT_MIN(wait, LEARN_HELD_BACK_MAX_MS), w->plan.poll_ms);
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    if (w->throttled < 5)
        w->throttled++;
    w->drained = 0;
    if (w->state != RLT_WORKER_EAGER)
        return;
    w->state = RLT_WORKER_ASLEEP;
    w->poll_at = now + wait;
}

/* The answer to a CLAIM by type: `said` is a letter and a mark. */
static void learn_picked(rlt_worker *w, relet_time now, relet_span said,
                         const rlt_claimed *c, int found)
{
    char letter = said.n > 0 ? *said.p : 'e';

    w->cursor.unranked = letter == 'w';
    if (letter == 'w')
        return;
    if (said.n > 0)
        said = rlt_span(said.p + 1, said.n - 1);
    rlt_type_cursor_on(&w->cursor, said, found, letter == 'e', now,
                       w->plan.poll_ms);
    if (found)
        w->throttled = 0;
    w->drained = letter == 'e';
    if (letter == 'h' || c->twins > 0)
        learn_hold_back(w, now);
}

static uint32_t learn_claimed(rlt_worker *w, relet_time now, relet_value v)
{
    int64_t us = 0, passed = 0;
    rlt_claimed c;
    uint32_t n;

    /* This CLAIM had been done before; or it is a repeat that brought nothing.
     * A server does not note an empty CLAIM, and the first one may still reach
     * it over a link that is gone. */
    if (relet_value_count(v) < 3 ||
        (w->doubled && relet_value_count(v) == 3)) {
        w->reply_lost = 1;
        return 0;
    }
    (void)relet_value_int(relet_value_at(v, 0), &us);
    learn_due(w, now, us, relet_value_at(v, 1));
    (void)relet_value_int(relet_value_at(v, 2), &passed);
    n = learn_take(w, now, v, us, &c);
    if (w->plan.by_type) {
        learn_picked(w, now, relet_value_text(relet_value_at(v, 2)), &c,
                     relet_value_count(v) > 3);
        return n;
    }
    if (passed < 0 || c.twins > 0) {
        learn_hold_back(w, now);
        return n;
    }
    w->throttled = 0;
    w->drained = passed < (int64_t)w->wanted - n - c.homeless;
    return n;
}

static uint32_t learn_recalled(rlt_worker *w, relet_time now, relet_value v)
{
    int64_t us = 0;
    rlt_claimed c;
    uint32_t n;

    (void)relet_value_int(relet_value_at(v, 1), &us);
    n = learn_take(w, now, v, us, &c);
    w->in_vain = 0;
    return n;
}

static void learn_lined_up(rlt_worker *w, relet_time now, relet_value v)
{
    int64_t us = 0, stands = 0;
    relet_time poll = w->plan.poll_ms;

    (void)relet_value_int(relet_value_at(v, 0), &us);
    (void)relet_value_int(relet_value_at(v, 2), &stands);
    learn_due(w, now, us, relet_value_at(v, 1));
    w->drained = 0;
    if (w->left_since) { /* a later LEAVE took the worker out of the line    */
        w->left_since = w->in_line = 0;
        return;
    }
    w->in_line = stands != 0;
    w->cursor.woken = w->cursor.woken && !w->cursor.wake_seen;
    if (!stands && w->plan.by_type && !rlt_type_cursor_at_start(&w->cursor))
        learn_hold_back(w, now); /* the jobs that wait are of other types */
    if (!stands || w->state != RLT_WORKER_EAGER)
        return;
    rlt_type_cursor_begin(&w->cursor, now);
    w->throttled = 0;
    w->state = RLT_WORKER_ASLEEP;
    w->poll_at = now + poll -
                 (relet_time)rlt_rand_below(w->rand, (uint64_t)poll / 4 + 1);
}

static void learn_promoted(rlt_worker *w, relet_time now, relet_value v)
{
    int64_t ms = -1;

    (void)relet_value_int(relet_value_at(v, 1), &ms);
    w->due_at = ms < 0 ? RELET_NEVER : now + RLT_MIN(ms, LEARN_MS_MAX);
}

static void learn_ranked(rlt_worker *w, relet_value v)
{
    int64_t left = 0;

    (void)relet_value_int(relet_value_at(v, 1), &left);
    w->cursor.unranked = left > 0;
}

/* Reaped jobs wait again, also for the worker that reaped them. */
static void learn_reaped(rlt_worker *w, relet_time now, relet_value v)
{
    if (rlt_reaper_reaped(&w->reaper, now, w->step[RLT_STEP_REAP].sent_at,
                          w->plan.reap_ms, v, w->rand) > 0)
        rlt_worker_wake(w);
}

/* Whether v has the type of an answer to this step: text, such as a letter for
 * each job, or an array. */
static int learn_is_answer(rlt_step step, relet_value v)
{
    int letters = step == RLT_STEP_DONE || step == RLT_STEP_RETURN ||
                  step == RLT_STEP_FORGET;

    return relet_value_type(v) == (letters ? RELET_T_TEXT : RELET_T_ARRAY);
}

/* Returns how many jobs the answer brought. */
static uint32_t learn_answer(rlt_worker *w, relet_time now, rlt_step step,
                             relet_value v)
{
    switch (step) {
    case RLT_STEP_RENEW:
        rlt_claims_renewed(&w->held, relet_value_text(relet_value_at(v, 0)),
                           w->step[RLT_STEP_RENEW].sent_at +
                               rlt_trust_ms(w->plan.lease_ms));
        break;
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        rlt_claims_answered(&w->held, (uint8_t)step, relet_value_text(v));
        w->step[step].op++;
        w->step[step].sent_at = 0;
        break;
    case RLT_STEP_PROMOTE:
        learn_promoted(w, now, v);
        break;
    case RLT_STEP_RECALL:
        return learn_recalled(w, now, v);
    case RLT_STEP_RANK:
        learn_ranked(w, v);
        break;
    case RLT_STEP_CLAIM:
        return learn_claimed(w, now, v);
    case RLT_STEP_LINE_UP:
        learn_lined_up(w, now, v);
        break;
    case RLT_STEP_LEAVE:
        w->in_line = w->called = 0;
        break;
    case RLT_STEP_REAP:
        learn_reaped(w, now, v);
        break;
    case RLT_STEP_TRIM:
        rlt_reaper_trimmed(&w->reaper, now, w->plan.reap_ms, v, w->rand);
        break;
    case RLT_STEP_FORGET:
        rlt_reaper_forgot(&w->reaper, now, w->plan.reap_ms, v, w->rand);
        break;
    }
    return 0;
}

/* A failed REAP, TRIM or FORGET, which serves other workers, delays no other
 * step. */
static void learn_refused(rlt_worker *w, relet_time now, rlt_step step,
                          int is_error)
{
    relet_time again = rlt_reaper_again(now, w->plan.reap_ms, w->rand);

    if (step == RLT_STEP_REAP)
        w->reaper.reap_at = again;
    else if (step == RLT_STEP_TRIM)
        w->reaper.trim_at = again;
    else if (step == RLT_STEP_FORGET)
        w->reaper.forget_at =
            is_error ? now + rlt_reaper_forgets(w->plan.reap_ms) : again;
    else
        learn_failed(w, now);
    if (step == RLT_STEP_RECALL && w->in_vain < RLT_WORKER_IN_VAIN)
        w->in_vain++;
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
    if (r->heard == RLT_HEARD_VALUE && learn_is_answer(step, r->value)) {
        w->tries = 0;
        w->refused &= (uint16_t)~bit;
        brought = learn_answer(w, now, step, r->value);
    } else {
        learn_refused(w, now, step, r->heard == RLT_HEARD_VALUE);
        trouble = r->heard == RLT_HEARD_VALUE && !(w->refused & bit);
        w->refused |= (uint16_t)(trouble ? bit : 0);
    }
    rlt_worker_settle(w);
    rlt_assert(brought == 0 || w->state == RLT_WORKER_EAGER ||
               w->state == RLT_WORKER_ASLEEP); /* else jobs go back untold   */
    return trouble ? RLT_WORKER_TROUBLE : brought > 0 ? RLT_WORKER_BROUGHT : 0;
}

#endif /* RELET_NO_QUEUE */
