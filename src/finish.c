/* SPDX-License-Identifier: MIT
 *
 * finish.c - how the jobs of a client's workers end. */
#include "client.h"
#include "text.h"
#include "words.h"

RELET_PRIVATE int rlt_desk_in_use(const rlt_desk *d)
{
    return d->work.state != RLT_WORK_REST;
}

RELET_PRIVATE relet_span rlt_desk_name(const rlt_desk *d)
{
    return rlt_span(d->name, d->name_len);
}

RELET_PRIVATE rlt_desk *rlt_desk_of(const relet *r, int worker)
{
    if (worker < 0 || (uint32_t)worker >= r->desks_max ||
        rlt_client_is_foreign(r) || !rlt_desk_in_use(&r->desks[worker]))
        return NULL;
    return &r->desks[worker];
}

RELET_PRIVATE uint64_t rlt_desk_tag(const relet *r, const rlt_desk *d,
                                    uint32_t what, uint32_t serial)
{
    return (uint64_t)(r->holds_max + (size_t)(d - r->desks)) << 32 |
           what << RLT_DESK_STEP_SHIFT | serial;
}

static rlt_slot *finish_slot(const rlt_desk *d, uint64_t number)
{
    return d != NULL ? rlt_slots_open(&d->work.held, number) : NULL;
}

RELET_API relet_time relet_job_valid_for(const relet *r, int worker,
                                         uint64_t number, relet_time now)
{
    const rlt_slot *s = finish_slot(rlt_desk_of(r, worker), number);

    if (s == NULL || s->state != RLT_SLOT_HELD)
        return 0;
    return RLT_MAX(s->valid_until - now, 0);
}

/* Nothing is sent for one that was lost. */
static int finish_end(relet *r, rlt_desk *d, rlt_slot *s, rlt_slot_state how)
{
    if (rlt_slots_end(&d->work.held, s, how))
        rlt_work_eased(&d->work);
    rlt_work_settle(&d->work);
    r->desk_tells |= d->work.tell_end; /* before whatever else comes         */
    if (r->desk_due == 0)
        r->desk_due = RLT_DESK_DUE;
    return 0;
}

/* What needs bytes goes out at once, and again over the next link. */
static int finish_close(relet *r, rlt_desk *d, rlt_slot *s,
                        rlt_own_script script, rlt_words *w)
{
    uint32_t slot = (uint32_t)(s - d->work.held.slot);
    relet_request q = {0, 0, RELET_REPEATABLE};
    relet_args a;
    int code;

    a.argv = w->argv;
    a.argc = w->argc;
    q.tag = rlt_desk_tag(r, d, RLT_DESK_CLOSING, slot);
    q.timeout_ms = d->work.plan.lease_ms;
    code = rlt_submit_script(r, script, w->keys, &a, &q);
    return code < 0 ? code : finish_end(r, d, s, RLT_SLOT_CLOSING);
}

/* Its own place in the worker's memory: more than one may be under way. */
static void finish_own_op(rlt_words *w, const rlt_desk *d, const rlt_slot *s)
{
    rlt_words_place(w, rlt_desk_name(d), (uint64_t)(s - d->work.held.slot));
    rlt_words_number(w, s->token);
}

RELET_API int relet_job_done(relet *r, int worker, uint64_t number,
                             relet_span result)
{
    rlt_desk *d = rlt_desk_of(r, worker);
    rlt_slot *s = finish_slot(d, number);
    rlt_words w;
    int code;

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    if (s->state == RLT_SLOT_LOST || s->bare)
        return finish_end(r, d, s, RLT_SLOT_DONE);
    rlt_words_init(&w);
    rlt_words_key(&w, &d->queue, RLT_KEY_JOBS);
    rlt_words_key(&w, &d->queue, RLT_KEY_LEASED);
    rlt_words_key(&w, &d->queue, RLT_KEY_DONE);
    rlt_words_key(&w, &d->queue, RLT_KEY_IDS);
    finish_own_op(&w, d, s);
    rlt_words_number(&w, s->number);
    rlt_words_number(&w, s->token);
    rlt_words_number(&w, (uint64_t)s->keep_ms);
    rlt_words_add(&w, result);
    code = finish_close(r, d, s, RLT_SCRIPT_QUEUE_KEEP, &w);
    if (code == 0 && s->keep_ms > 0)
        rlt_sweep_kept(&d->work.sweep, r->session.now + s->keep_ms);
    return code;
}

static relet_time finish_delay(relet *r, const rlt_slot *s,
                               const relet_failure *f)
{
    relet_job j;

    if (f->delay_ms > 0 || f->verdict != RELET_RETRY)
        return RLT_MIN(f->delay_ms, RLT_DESK_MS_MAX);
    memset(&j, 0, sizeof j);
    j.backoff = (relet_backoff)s->backoff;
    j.backoff_ms = s->backoff_ms;
    j.backoff_max_ms = s->backoff_max_ms;
    return rlt_job_backoff(&j, s->attempts + 1, rlt_rand_next(&r->hold_rand));
}

/* An attempt that was the last is not followed by another one. */
static const char *finish_verdict(const rlt_slot *s, const relet_failure *f)
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

/* What is tried again is due sooner, perhaps, than a sleeper knows. */
static int finish_fail(relet *r, rlt_desk *d, rlt_slot *s,
                       const relet_failure *f)
{
    const char *verdict = finish_verdict(s, f);
    rlt_words w;
    int code;

    rlt_words_init(&w);
    rlt_words_key(&w, &d->queue, RLT_KEY_JOBS);
    rlt_words_key(&w, &d->queue, RLT_KEY_LEASED);
    rlt_words_key(&w, &d->queue, RLT_KEY_DELAYED);
    rlt_words_key(&w, &d->queue, RLT_KEY_DEAD);
    finish_own_op(&w, d, s);
    rlt_words_name(&w, s->number, s->rank);
    rlt_words_number(&w, s->token);
    rlt_words_add(&w, relet_str(verdict));
    rlt_words_number(&w, (uint64_t)finish_delay(r, s, f));
    rlt_words_add(&w, f->text);
    code = finish_close(r, d, s, RLT_SCRIPT_QUEUE_FAIL, &w);
    if (code == 0 && verdict[0] != 'x')
        rlt_put_promote(r, &d->queue, NULL);
    return code;
}

RELET_PRIVATE void rlt_finish_stale(relet *r, rlt_desk *d)
{
    relet_failure f;
    rlt_slot *s;

    memset(&f, 0, sizeof f);
    f.verdict = RELET_BURY;
    f.text = relet_str("its deadline has passed");
    do
        s = rlt_slots_stale(&d->work.held);
    while (s != NULL && finish_fail(r, d, s, &f) == 0);
}

RELET_API int relet_job_fail(relet *r, int worker, uint64_t number,
                             const relet_failure *f)
{
    rlt_desk *d = rlt_desk_of(r, worker);
    rlt_slot *s = finish_slot(d, number);

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    if (s->state == RLT_SLOT_LOST)
        return finish_end(r, d, s, RLT_SLOT_CLOSING);
    if ((int)f->verdict < 0 || f->verdict > RELET_BURY)
        return rlt_client_refuse(r, "failure.verdict is not one of "
                                    "relet_verdict");
    if (f->delay_ms < 0)
        return rlt_client_refuse(r, "failure.delay_ms may not be below 0");
    return finish_fail(r, d, s, f);
}

RELET_API int relet_job_release(relet *r, int worker, uint64_t number)
{
    rlt_desk *d = rlt_desk_of(r, worker);
    rlt_slot *s = finish_slot(d, number);

    if (s == NULL)
        return rlt_client_refuse(r, "the worker has no such job");
    return finish_end(r, d, s, RLT_SLOT_RETURN);
}
