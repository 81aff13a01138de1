/* SPDX-License-Identifier: MIT
 *
 * claim_steps.c - the steps that bring jobs to a worker. PROMOTE lets delayed
 * jobs wait when they are due, RANK sorts waiting jobs by rank, CLAIM leases
 * jobs, and RECALL asks again for the jobs of a CLAIM after a lost answer. */
#include "step.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

#define CLAIM_PROMOTE_MAX 128
#define CLAIM_RANK_MAX 128
#define CLAIM_MS_MAX INT64_C(1000000000000000) /* above any clock; sums fit   */

static relet_time claim_now_if(int due, relet_time now)
{
    return due ? now : RELET_NEVER;
}

/* ----------------------------------------------------------------- PROMOTE */

/* A worker that is full promotes jobs, too: another worker may claim them. */
RELET_PRIVATE relet_time rlt_step_promote_due(const rlt_worker *w,
                                              relet_time now)
{
    (void)now;
    return w->state == RLT_WORKER_EAGER ? w->due_at : RELET_NEVER;
}

RELET_PRIVATE rlt_own_script rlt_step_promote_say(const rlt_worker *w,
                                                  rlt_args *a,
                                                  const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_RANKED,
                                   RLT_KEY_DELAYED, RLT_KEY_IDLE, 0};

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_number(a, CLAIM_PROMOTE_MAX);
    return RLT_SCRIPT_QUEUE_PROMOTE;
}

RELET_PRIVATE uint32_t rlt_step_promote_heard(rlt_worker *w, relet_time now,
                                              relet_value v)
{
    int64_t ms = -1;

    (void)relet_value_int(relet_value_at(v, 1), &ms);
    w->due_at = ms < 0 ? RELET_NEVER : now + RLT_MIN(ms, CLAIM_MS_MAX);
    return 0;
}

/* -------------------------------------------------------------------- RANK */

RELET_PRIVATE relet_time rlt_step_rank_due(const rlt_worker *w, relet_time now)
{
    return claim_now_if(w->state == RLT_WORKER_EAGER && w->cursor.unranked,
                        now);
}

RELET_PRIVATE rlt_own_script rlt_step_rank_say(const rlt_worker *w,
                                               rlt_args *a,
                                               const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_RANKED, 0};

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_number(a, CLAIM_RANK_MAX);
    return RLT_SCRIPT_QUEUE_RANK;
}

RELET_PRIVATE uint32_t rlt_step_rank_heard(rlt_worker *w, relet_time now,
                                           relet_value v)
{
    int64_t left = 0;

    (void)now;
    (void)relet_value_int(relet_value_at(v, 1), &left);
    w->cursor.unranked = left > 0;
    return 0;
}

/* ------------------------------------------------------------------- CLAIM */

RELET_PRIVATE relet_time rlt_step_claim_due(const rlt_worker *w,
                                            relet_time now)
{
    return claim_now_if(w->state == RLT_WORKER_EAGER &&
                            w->claiming != RLT_CLAIMING_RECALLED &&
                            !w->drained && !w->cursor.unranked &&
                            rlt_worker_room(w) > 0,
                        now);
}

RELET_PRIVATE uint32_t rlt_step_claim_begin(rlt_worker *w, relet_time now)
{
    int repeats = w->claiming == RLT_CLAIMING_UNHEARD;
    uint32_t count = rlt_worker_room(w);

    rlt_assert(w->state == RLT_WORKER_EAGER);
    rlt_assert(repeats || w->claiming == RLT_CLAIMING_NONE);
    w->cursor.wake_seen = w->cursor.woken;
    if (w->cursor.again_at <= now)
        rlt_type_cursor_begin(&w->cursor, now);
    w->wanted = repeats ? RLT_MAX(w->wanted, count) : count;
    w->claimed_at = repeats ? w->claimed_at : now;
    w->claiming = repeats ? RLT_CLAIMING_REPEATED : RLT_CLAIMING_ASKED;
    return count;
}

RELET_PRIVATE rlt_own_script rlt_step_claim_say(const rlt_worker *w,
                                                rlt_args *a,
                                                const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_RANKED,
                                   RLT_KEY_LEASED, 0};

    rlt_assert(e->count > 0);
    rlt_assert(e->count <= RLT_WORKER_BATCH);
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_add(a, w->plan.name);
    rlt_args_number(a, e->op);
    rlt_args_number(a, (uint64_t)w->plan.lease_ms);
    rlt_args_number(a, e->count);
    rlt_args_number(a, w->plan.claim_bytes);
    if (w->plan.type.n == 0)
        return RLT_SCRIPT_QUEUE_CLAIM;
    rlt_args_add(a, w->plan.type);
    rlt_args_add(a, rlt_span(w->cursor.mark, w->cursor.mark_len));
    return RLT_SCRIPT_QUEUE_CLAIM_TYPE;
}

/* Takes the jobs of an answer: number, record, state of each, from the fourth
 * element on. A job that found no free claim, as a step that was to free one
 * was not answered, is asked for again. */
static uint32_t claim_take(rlt_worker *w, relet_time now, relet_value v,
                           int64_t us, rlt_claimed *c)
{
    uint32_t n;

    memset(c, 0, sizeof *c);
    c->sent_at = w->claimed_at;
    c->until = c->sent_at + rlt_trust_ms(w->plan.lease_ms);
    c->to_go_back = w->state == RLT_WORKER_STOPPING || c->until <= now;
    c->server_us = us;
    c->from = w->recalled_from;
    n = rlt_claims_take(&w->held, v, 3, c);
    w->taken += n;
    rlt_worker_claim_ends(w, c->homeless > 0, c->from);
    return n;
}

/* The answer to a CLAIM by type: `said` is a letter and a mark. */
static void claim_picked(rlt_worker *w, relet_time now, relet_span said,
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
        rlt_worker_throttle(w, now);
}

/* Throttled: the queue is stopped or at its limit; or this worker lost the
 * jobs, and its handlers of them have not ended. */
RELET_PRIVATE uint32_t rlt_step_claim_heard(rlt_worker *w, relet_time now,
                                            relet_value v)
{
    int64_t us = 0, passed = 0;
    rlt_claimed c;
    uint32_t n;

    rlt_assert(w->claiming == RLT_CLAIMING_ASKED ||
               w->claiming == RLT_CLAIMING_REPEATED);
    /* This CLAIM had been done before; or it is a repeat that brought nothing.
     * A server does not note an empty CLAIM, and the first one may still reach
     * it over a link that is gone. */
    if (relet_value_count(v) < 3 ||
        (w->claiming == RLT_CLAIMING_REPEATED && relet_value_count(v) == 3)) {
        w->claiming = RLT_CLAIMING_RECALLED;
        return 0;
    }
    (void)relet_value_int(relet_value_at(v, 0), &us);
    rlt_worker_due(w, now, us, relet_value_at(v, 1));
    (void)relet_value_int(relet_value_at(v, 2), &passed);
    n = claim_take(w, now, v, us, &c);
    if (w->plan.type.n > 0) {
        claim_picked(w, now, relet_value_text(relet_value_at(v, 2)), &c,
                     relet_value_count(v) > 3);
        return n;
    }
    if (passed < 0 || c.twins > 0) {
        rlt_worker_throttle(w, now);
        return n;
    }
    w->throttled = 0;
    w->drained = passed < (int64_t)w->wanted - n - c.homeless;
    return n;
}

/* ------------------------------------------------------------------ RECALL */

RELET_PRIVATE relet_time rlt_step_recall_due(const rlt_worker *w,
                                             relet_time now)
{
    return claim_now_if(rlt_worker_recalls(w), now);
}

/* A RECALL has the operation number of the CLAIM before it. */
RELET_PRIVATE uint32_t rlt_step_recall_begin(rlt_worker *w, relet_time now)
{
    (void)now;
    rlt_assert(w->step[RLT_STEP_CLAIM].serial == 0);
    w->step[RLT_STEP_RECALL].op = w->step[RLT_STEP_CLAIM].op;
    return 0;
}

RELET_PRIVATE rlt_own_script rlt_step_recall_say(const rlt_worker *w,
                                                 rlt_args *a,
                                                 const rlt_worker_request *e)
{
    rlt_args_key(a, w->plan.queue, RLT_KEY_JOBS);
    rlt_args_add(a, w->plan.name);
    rlt_args_number(a, e->op);
    return RLT_SCRIPT_QUEUE_RECALL;
}

RELET_PRIVATE uint32_t rlt_step_recall_heard(rlt_worker *w, relet_time now,
                                             relet_value v)
{
    int64_t us = 0;
    rlt_claimed c;
    uint32_t n;

    rlt_assert(w->claiming == RLT_CLAIMING_RECALLED ||
               w->claiming == RLT_CLAIMING_UNHEARD);
    (void)relet_value_int(relet_value_at(v, 1), &us);
    n = claim_take(w, now, v, us, &c);
    w->in_vain = 0;
    return n;
}

#endif /* RELET_NO_QUEUE */
