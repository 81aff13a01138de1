/* SPDX-License-Identifier: MIT
 *
 * steps.c - the script of each step of a worker, and its arguments: keys first,
 * then those that the head of the script lists. */
#include "client.h"
#include "text.h"

#ifndef RELET_NO_QUEUE

#define STEPS_PROMOTE_MAX 128
#define STEPS_RANK_MAX 128
#define STEPS_FORGET_MAX 16 /* a server copies the records that it walks over */
#define STEPS_KEPT_MAX (UINT64_C(1) << 52) /* no limit on done jobs           */

/* Number and token of each job that a step is about. */
static void steps_jobs(rlt_args *w, const rlt_worker_entry *d, rlt_step step)
{
    uint32_t i;

    for (i = 0; i < d->work.held.count; i++) {
        const rlt_claim *s = &d->work.held.slot[i];

        if (!rlt_worker_sends(s, step))
            continue;
        rlt_args_number(w, s->number);
        rlt_args_number(w, s->token);
    }
}

/* Of the jobs to return, the one that was leased next after `last`; or NULL. */
static const rlt_claim *steps_next_back(const rlt_worker_entry *d,
                                        const rlt_claim *last)
{
    const rlt_claim *next = NULL;
    uint32_t i;

    for (i = 0; i < d->work.held.count; i++) {
        const rlt_claim *s = &d->work.held.slot[i];

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
static void steps_jobs_back(rlt_args *w, const rlt_worker_entry *d)
{
    const rlt_claim *s = NULL;

    while ((s = steps_next_back(d, s)) != NULL) {
        rlt_args_number(w, s->number);
        rlt_args_number(w, s->token);
    }
}

/* The keys of each step, in the order of rlt_step, behind RLT_KEY_JOBS, which
 * each step has; RLT_KEY_JOBS is 0, and ends a row. */
static const uint8_t steps_keys[RLT_STEPS][5] = {
    {RLT_KEY_LEASED},
    {RLT_KEY_LEASED},
    {RLT_KEY_WAITING, RLT_KEY_LEASED, RLT_KEY_IDLE},
    {RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_DELAYED, RLT_KEY_IDLE},
    {0},
    {RLT_KEY_WAITING, RLT_KEY_RANKED},
    {RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_LEASED},
    {RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_IDLE},
    {RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_IDLE},
    {RLT_KEY_WAITING, RLT_KEY_LEASED, RLT_KEY_DEAD, RLT_KEY_IDLE},
    {RLT_KEY_DONE, RLT_KEY_DEAD, RLT_KEY_IDS},
    {RLT_KEY_IDS}};

static void steps_say_keys(rlt_args *w, const rlt_worker_entry *d,
                           rlt_step step)
{
    const uint8_t *key = steps_keys[step];

    rlt_args_key(w, &d->queue, RLT_KEY_JOBS);
    for (; *key != RLT_KEY_JOBS; key++)
        rlt_args_key(w, &d->queue, (rlt_queue_key)*key);
}

static rlt_own_script steps_say_claim(const relet *r, rlt_args *w,
                                      const rlt_worker_entry *d,
                                      const rlt_worker_request *e)
{
    rlt_assert(e->count > 0);
    rlt_assert(e->count <= RLT_WORKER_BATCH);
    rlt_args_add(w, rlt_workers_name(d));
    rlt_args_number(w, e->op);
    rlt_args_number(w, (uint64_t)d->work.plan.lease_ms);
    rlt_args_number(w, e->count);
    rlt_args_number(w, r->workers.limits.claim_bytes);
    if (!d->work.plan.by_type)
        return RLT_SCRIPT_QUEUE_CLAIM;
    rlt_assert(d->type_len > 0);
    rlt_args_add(w, rlt_span(d->type, d->type_len));
    rlt_args_add(w, rlt_span(d->work.cursor.mark, d->work.cursor.mark_len));
    return RLT_SCRIPT_QUEUE_PICK;
}

static rlt_own_script steps_say_recall(rlt_args *w, const rlt_worker_entry *d,
                                       const rlt_worker_request *e)
{
    rlt_args_add(w, rlt_workers_name(d));
    rlt_args_number(w, e->op);
    return RLT_SCRIPT_QUEUE_HELD;
}

static rlt_own_script steps_say_renew(rlt_args *w, const rlt_worker_entry *d)
{
    rlt_args_number(w, (uint64_t)d->work.plan.lease_ms);
    rlt_args_number(w, (uint64_t)d->run_ms);
    steps_jobs(w, d, RLT_STEP_RENEW);
    return RLT_SCRIPT_QUEUE_RENEW;
}

static rlt_own_script steps_say_done(rlt_args *w, const rlt_worker_entry *d,
                                     const rlt_worker_request *e)
{
    rlt_args_add(w, rlt_workers_name(d));
    rlt_args_number(w, e->op);
    steps_jobs(w, d, RLT_STEP_DONE);
    return RLT_SCRIPT_QUEUE_DONE;
}

static rlt_own_script steps_say_return(rlt_args *w, const rlt_worker_entry *d)
{
    steps_jobs_back(w, d);
    return RLT_SCRIPT_QUEUE_RELEASE;
}

static rlt_own_script steps_say_line(const relet *r, rlt_args *w,
                                     const rlt_worker_entry *d, int leaves)
{
    rlt_assert(r->wake.len > 0);
    rlt_args_add(w, rlt_span(r->wake.name, r->wake.len));
    rlt_args_add(w, relet_str(leaves                 ? "0"
                              : d->work.cursor.woken ? "p"
                                                     : "1"));
    return RLT_SCRIPT_QUEUE_SLEEP;
}

static rlt_own_script steps_say_reap(rlt_args *w, const rlt_worker_entry *d,
                                     const rlt_worker_request *e)
{
    rlt_args_number(w, RLT_WORKER_BATCH);
    rlt_args_number(w, d->stalls_max);
    rlt_args_number(w, (uint64_t)d->work.plan.lease_ms);
    if (e->latest_ms > 0)
        rlt_args_number(w, (uint64_t)e->latest_ms);
    return RLT_SCRIPT_QUEUE_REAP;
}

static rlt_own_script steps_say_trim(rlt_args *w, const rlt_worker_entry *d)
{
    rlt_args_number(w, STEPS_KEPT_MAX);
    rlt_args_number(w, d->dead_max);
    rlt_args_number(w, (uint64_t)d->dead_ms);
    rlt_args_number(w, RLT_WORKER_BATCH);
    return RLT_SCRIPT_QUEUE_TRIM;
}

static rlt_own_script steps_say_forget(rlt_args *w, const rlt_worker_entry *d)
{
    const rlt_reaper *reaper = &d->work.reaper;
    relet_time ms = rlt_reaper_forgets(d->work.plan.reap_ms);

    rlt_args_add(w, rlt_span(reaper->from, reaper->from_len));
    rlt_args_number(w, STEPS_FORGET_MAX);
    rlt_args_number(w, (uint64_t)ms / 1000);
    return RLT_SCRIPT_QUEUE_FORGET;
}

RELET_PRIVATE rlt_own_script rlt_steps_say(const relet *r, rlt_args *w,
                                           const rlt_worker_entry *d,
                                           const rlt_worker_request *e)
{
    rlt_assert(e->serial != 0);
    steps_say_keys(w, d, e->step);
    switch (e->step) {
    case RLT_STEP_RENEW:
        return steps_say_renew(w, d);
    case RLT_STEP_DONE:
        return steps_say_done(w, d, e);
    case RLT_STEP_RETURN:
        return steps_say_return(w, d);
    case RLT_STEP_PROMOTE:
        rlt_args_number(w, STEPS_PROMOTE_MAX);
        return RLT_SCRIPT_QUEUE_READY;
    case RLT_STEP_RECALL:
        return steps_say_recall(w, d, e);
    case RLT_STEP_RANK:
        rlt_args_number(w, STEPS_RANK_MAX);
        return RLT_SCRIPT_QUEUE_RANK;
    case RLT_STEP_CLAIM:
        return steps_say_claim(r, w, d, e);
    case RLT_STEP_LINE_UP:
        return steps_say_line(r, w, d, 0);
    case RLT_STEP_LEAVE:
        break;
    case RLT_STEP_REAP:
        return steps_say_reap(w, d, e);
    case RLT_STEP_TRIM:
        return steps_say_trim(w, d);
    case RLT_STEP_FORGET:
        return steps_say_forget(w, d);
    }
    return steps_say_line(r, w, d, 1);
}

#endif /* RELET_NO_QUEUE */
