/* SPDX-License-Identifier: MIT
 *
 * complete.c - ends the jobs of a client's workers, and reports their
 * progress. */
#include "client.h"
#include "text.h"
#include "args.h"

#ifndef RELET_NO_QUEUE

RELET_PRIVATE int rlt_workers_in_use(const rlt_worker_entry *d)
{
    return d->work.state != RLT_WORKER_REST;
}

RELET_PRIVATE relet_span rlt_workers_name(const rlt_worker_entry *d)
{
    return rlt_span(d->name, d->name_len);
}

RELET_PRIVATE rlt_worker_entry *rlt_workers_entry(const relet *r, int worker)
{
    if (worker < 0 || (uint32_t)worker >= r->workers.max ||
        rlt_client_is_foreign(r) ||
        !rlt_workers_in_use(&r->workers.list[worker]))
        return NULL;
    return &r->workers.list[worker];
}

RELET_PRIVATE rlt_tag rlt_workers_tag(const relet *r,
                                      const rlt_worker_entry *d, uint32_t what,
                                      uint32_t serial)
{
    return RLT_TAG(RLT_PART_WORKER, d - r->workers.list,
                   what << RLT_WORKERS_STEP_SHIFT | serial);
}

static rlt_claim *complete_slot(const rlt_worker_entry *d, uint64_t number)
{
    return d != NULL ? rlt_claims_open(&d->work.held, number) : NULL;
}

RELET_API relet_time relet_job_valid_for(const relet *r, int worker,
                                         uint64_t number, relet_time now)
{
    const rlt_claim *s = complete_slot(rlt_workers_entry(r, worker), number);

    if (s == NULL || s->state != RLT_CLAIM_HELD)
        return 0;
    return RLT_MAX(s->valid_until - now, 0);
}

/* Ends a claim. Nothing is sent for a claim that was lost. */
static int complete_end(relet *r, rlt_worker_entry *d, rlt_claim *s,
                        rlt_claim_state how)
{
    rlt_assert(rlt_workers_in_use(d));
    rlt_assert(s->number > 0);
    if (rlt_claims_end(&d->work.held, s, how))
        rlt_worker_eased(&d->work);
    rlt_worker_settle(&d->work);
    r->workers.tells |= d->work.tell_end; /* told before any more input       */
    if (r->workers.due == 0)
        r->workers.due = RLT_WORKERS_DUE;
    return 0;
}

/* An end that carries bytes is sent at once, and again over the next link. */
static int complete_close(relet *r, rlt_worker_entry *d, rlt_claim *s,
                          rlt_own_script script, rlt_args *w)
{
    uint32_t slot = (uint32_t)(s - d->work.held.slot);
    relet_request q = {0, 0, RELET_REPEATABLE};
    relet_args a;
    int code;

    rlt_assert(slot < d->work.held.count);
    rlt_assert(w->keys > 0);
    a.argv = w->argv;
    a.argc = w->argc;
    q.tag = rlt_workers_tag(r, d, RLT_WORKERS_CLOSING, slot);
    q.timeout_ms = d->work.plan.lease_ms;
    code = rlt_submit_script(r, script, w->keys, &a, &q);
    return code < 0 ? code : complete_end(r, d, s, RLT_CLAIM_CLOSING);
}

/* The server remembers this operation under the worker's name and the index of
 * the claim, because several claims of a worker may be closing at a time. */
static void complete_own_op(rlt_args *w, const rlt_worker_entry *d,
                            const rlt_claim *s)
{
    rlt_args_place(w, rlt_workers_name(d), (uint64_t)(s - d->work.held.slot));
    rlt_args_number(w, s->token);
}

RELET_API int relet_job_done(relet *r, int worker, uint64_t number,
                             relet_span result)
{
    rlt_worker_entry *d = rlt_workers_entry(r, worker);
    rlt_claim *s = complete_slot(d, number);
    rlt_args *w;
    int code;

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    if (s->state == RLT_CLAIM_LOST || s->bare)
        return complete_end(r, d, s, RLT_CLAIM_DONE);
    w = rlt_client_args(r);
    rlt_args_key(w, &d->queue, RLT_KEY_JOBS);
    rlt_args_key(w, &d->queue, RLT_KEY_LEASED);
    rlt_args_key(w, &d->queue, RLT_KEY_DONE);
    rlt_args_key(w, &d->queue, RLT_KEY_IDS);
    complete_own_op(w, d, s);
    rlt_args_number(w, s->number);
    rlt_args_number(w, s->token);
    rlt_args_number(w, (uint64_t)s->keep_ms);
    rlt_args_add(w, result);
    code = complete_close(r, d, s, RLT_SCRIPT_QUEUE_DONE, w);
    if (code == 0 && s->keep_ms > 0)
        rlt_reaper_kept(&d->work.reaper, r->now + s->keep_ms);
    return code;
}

static relet_time complete_delay(relet *r, const rlt_claim *s,
                                 const relet_failure *f)
{
    relet_job j;

    if (f->delay_ms > 0 || f->verdict != RELET_RETRY)
        return RLT_MIN(f->delay_ms, RLT_WORKERS_MS_MAX);
    memset(&j, 0, sizeof j);
    j.backoff = (relet_backoff)s->backoff;
    j.backoff_ms = s->backoff_ms;
    j.backoff_max_ms = s->backoff_max_ms;
    return rlt_job_backoff(&j, s->attempts + 1, rlt_rand_next(&r->rand));
}

/* A retry after the last attempt buries the job. */
static const char *complete_verdict(const rlt_claim *s, const relet_failure *f)
{
    switch (f->verdict) {
    case RELET_SNOOZE:
        return "s";
    case RELET_BURY:
        return "x";
    case RELET_RETRY:
        break;
    }
    return s->attempts + 1 >= s->attempts_max ? "x" : "r";
}

/* A job that is tried again may be due before the time that sleeping workers
 * know, so a promote follows. */
static int complete_fail(relet *r, rlt_worker_entry *d, rlt_claim *s,
                         const relet_failure *f)
{
    const char *verdict = complete_verdict(s, f);
    rlt_args *w;
    int code;

    w = rlt_client_args(r);
    rlt_args_key(w, &d->queue, RLT_KEY_JOBS);
    rlt_args_key(w, &d->queue, RLT_KEY_LEASED);
    rlt_args_key(w, &d->queue, RLT_KEY_DELAYED);
    rlt_args_key(w, &d->queue, RLT_KEY_DEAD);
    complete_own_op(w, d, s);
    rlt_args_name(w, s->number, s->rank);
    rlt_args_number(w, s->token);
    rlt_args_add(w, relet_str(verdict));
    rlt_args_number(w, (uint64_t)complete_delay(r, s, f));
    rlt_args_add(w, f->text);
    code = complete_close(r, d, s, RLT_SCRIPT_QUEUE_FAIL, w);
    if (code == 0 && verdict[0] != 'x')
        rlt_put_promote(r, &d->queue, NULL);
    return code;
}

RELET_PRIVATE void rlt_complete_stale(relet *r, rlt_worker_entry *d)
{
    relet_failure f;
    rlt_claim *s;

    memset(&f, 0, sizeof f);
    f.verdict = RELET_BURY;
    f.text = relet_str("its deadline has passed");
    do
        s = rlt_claims_stale(&d->work.held);
    while (s != NULL && complete_fail(r, d, s, &f) == 0);
}

RELET_API int relet_job_fail(relet *r, int worker, uint64_t number,
                             const relet_failure *f)
{
    rlt_worker_entry *d = rlt_workers_entry(r, worker);
    rlt_claim *s = complete_slot(d, number);

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    if (s->state == RLT_CLAIM_LOST)
        return complete_end(r, d, s, RLT_CLAIM_CLOSING);
    if ((int)f->verdict < 0 || f->verdict > RELET_BURY)
        return rlt_client_refuse(r, "failure.verdict is not one of "
                                    "relet_verdict");
    if (f->delay_ms < 0)
        return rlt_client_refuse(r, "failure.delay_ms may not be below 0");
    return complete_fail(r, d, s, f);
}

RELET_API int relet_job_release(relet *r, int worker, uint64_t number)
{
    rlt_worker_entry *d = rlt_workers_entry(r, worker);
    rlt_claim *s = complete_slot(d, number);

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    return complete_end(r, d, s, RLT_CLAIM_RETURN);
}

/* ----------------------------------------------------------------- progress */

RELET_API int relet_job_progress(relet *r, int worker, uint64_t number,
                                 relet_span text)
{
    relet_request q = {0, 0, 0};
    rlt_worker_entry *d = rlt_workers_entry(r, worker);
    const rlt_claim *s = complete_slot(d, number);
    relet_args a;
    rlt_args *w;

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    if (s->state != RLT_CLAIM_HELD ||
        !rlt_route_is_up(&r->route, d->hashslot))
        return 0;
    w = rlt_client_args(r);
    rlt_args_key(w, &d->queue, RLT_KEY_JOBS);
    rlt_args_number(w, s->number);
    rlt_args_number(w, s->token);
    rlt_args_add(w, text);
    a.argv = w->argv;
    a.argc = w->argc;
    q.tag = RLT_TAG_IGNORED;
    q.timeout_ms = r->setup.timeout_ms;
    return rlt_submit_script(r, RLT_SCRIPT_QUEUE_PROGRESS, w->keys, &a, &q);
}

#endif /* RELET_NO_QUEUE */
