/* SPDX-License-Identifier: MIT
 *
 * workers.c - the workers of a client: starts and stops them, sends their
 * requests, and hands them the answers. */
#include "kept.h"
#include "text.h"
#include "args.h"

#ifndef RELET_NO_QUEUE

#define WORK_DEAD_MAX 100000
#define WORK_DEAD_MS (INT64_C(30) * 24 * 3600 * 1000)

/* ----------------------------------------------------------------- sending */

/* Whether the worker has the queue with this key. An empty key matches all. */
static int workers_has_key(const rlt_worker_entry *d, relet_span key)
{
    char room[RLT_QUEUE_KEY_MAX];

    return rlt_workers_in_use(d) &&
           (key.n == 0 ||
            rlt_span_same(rlt_queue_name(&d->queue, RLT_KEY_JOBS, room), key));
}

/* Wakes the workers of the queue. 1: one of them has room for a job. */
static int workers_wake(relet *r, relet_span key)
{
    int hungry = 0;
    uint32_t i;

    for (i = 0; i < r->workers.max; i++) {
        if (!workers_has_key(&r->workers.list[i], key))
            continue;
        rlt_worker_wake(&r->workers.list[i].work);
        hungry |= rlt_worker_can_claim(&r->workers.list[i].work);
    }
    return hungry;
}

/* No worker here has this queue any more: the client left the line, but the
 * server has lost that write. Leaving again wakes another sleeper. If this
 * is not sent, the job waits until a worker polls. */
static void workers_decline(relet *r, relet_span key)
{
    static const char end[] = ":jobs";
    static const rlt_queue_key keys[] = {RLT_KEY_JOBS, RLT_KEY_WAITING,
                                         RLT_KEY_RANKED, RLT_KEY_IDLE};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    relet_request own = {RLT_TAG_IGNORED, 0, 0};
    char room[KEYS][RLT_QUEUE_KEY_MAX],
        channel[RLT_QUEUE_NAME_MAX + 2 + RLT_WAKE_TAIL];
    relet_span argv[KEYS + 2];
    relet_args a;
    rlt_queue_tag tag;
    uint32_t i;

    key.n -= RLT_MIN(key.n, sizeof end - 1);
    if (r->workers.max == 0 || key.n == 0 || key.n > sizeof tag.text ||
        memcmp(key.p + key.n, end, sizeof end - 1) != 0)
        return;
    memcpy(tag.text, key.p, key.n);
    tag.len = (uint8_t)key.n;
    for (i = 0; i < KEYS; i++)
        argv[i] = rlt_queue_name(&tag, keys[i], room[i]);
    memcpy(channel, tag.text, tag.len);
    argv[KEYS] = rlt_wake_channel(r, channel, tag.len);
    argv[KEYS + 1] = relet_str("0");
    a.argv = argv;
    a.argc = KEYS + 2;
    own.timeout_ms = r->setup.timeout_ms;
    (void)rlt_submit_script(r, RLT_SCRIPT_QUEUE_IDLE, KEYS, &a, &own);
}

/* A worker that claimed a delayed job when the job was due is still in the
 * line. A wake-up that finds this worker full is passed on to another sleeper.
 */
static void workers_pass_on(relet *r, relet_span key)
{
    uint32_t i;

    for (i = 0; i < r->workers.max; i++)
        if (workers_has_key(&r->workers.list[i], key) &&
            rlt_worker_passes(&r->workers.list[i].work))
            return;
    workers_decline(r, key);
}

/* The workers of a client have one place in the line of a queue. A worker that
 * leaves takes the others out, too, and they line up again. */
static void workers_left(relet *r, const rlt_worker_entry *d)
{
    char room[RLT_QUEUE_KEY_MAX];
    relet_span key = rlt_queue_name(&d->queue, RLT_KEY_JOBS, room);
    uint32_t i;

    for (i = 0; i < r->workers.max; i++)
        if (workers_has_key(&r->workers.list[i], key))
            rlt_worker_left(&r->workers.list[i].work);
}

static int workers_send(relet *r, const rlt_worker_entry *d,
                        const rlt_worker_request *e)
{
    relet_request q = {0, 0, 0};
    rlt_own_script script;
    rlt_args *w;
    relet_args a;

    w = rlt_client_args(r);
    script = rlt_worker_say(&d->work, w, e);
    rlt_assert(w->keys > 0);
    rlt_assert(w->keys < w->argc);
    a.argv = w->argv;
    a.argc = w->argc;
    q.tag = rlt_workers_tag(r, d, (uint32_t)e->step, e->serial);
    q.timeout_ms = e->timeout_ms;
    return rlt_submit_script(r, script, w->keys, &a, &q);
}

static relet_span workers_channel(const rlt_worker_entry *d)
{
    return rlt_span(d->wake, d->wake_len);
}

static void workers_listen(relet *r, rlt_worker_entry *d)
{
    if (!d->listens)
        d->listens =
            (uint8_t)rlt_wake_listen(r, d->hashslot, workers_channel(d));
}

static void workers_leave(relet *r, rlt_worker_entry *d)
{
    if (d->listens)
        rlt_wake_leave(r, d->hashslot, workers_channel(d));
    d->listens = 0;
}

static void workers_pump(relet *r, rlt_worker_entry *d)
{
    rlt_reply failed;
    rlt_worker_request e;

    if (rlt_route_is_up(&r->route, d->hashslot))
        rlt_complete_stale(r, d);
    while (rlt_route_is_up(&r->route, d->hashslot)) {
        uint32_t serial = r->workers.serial % RLT_WORKERS_SERIAL + 1;

        if (!rlt_worker_want(&d->work, r->now, serial, &e))
            return;
        rlt_assert(e.serial == serial);
        r->workers.serial = serial;
        if (e.step == RLT_STEP_CLAIM || e.step == RLT_STEP_LINE_UP)
            workers_listen(r, d); /* again, if it had no memory before */
        if (workers_send(r, d, &e) == 0) {
            if (e.step == RLT_STEP_LEAVE)
                workers_left(r, d);
            continue;
        }
        memset(&failed, 0, sizeof failed);
        failed.heard = RLT_HEARD_NOTHING;
        failed.serial = serial;
        (void)rlt_worker_reply(&d->work, r->now, e.step, &failed);
    }
}

static void workers_turns(relet *r)
{
    uint32_t i;

    r->workers.due = 0;
    r->workers.busy = r->workers.tells = 0;
    for (i = 0; i < r->workers.max; i++) {
        rlt_worker_entry *d = &r->workers.list[i];

        if (!rlt_workers_in_use(d))
            continue;
        if (d->team > 0)
            rlt_team_account(r, d);
        d->work.allowed = rlt_team_allowed(r, d);
        workers_pump(r, d);
        rlt_worker_settle(&d->work);
        r->workers.busy = 1;
        r->workers.tells |= d->work.held.tells > 0 || d->work.tell_end;
    }
}

/* ------------------------------------------------------------------- turns */

RELET_PRIVATE void rlt_workers_stop(relet *r)
{
    uint32_t i;

    for (i = 0; i < r->workers.max; i++)
        rlt_worker_cut_off(&r->workers.list[i].work, RELET_WHY_STOPPED);
    workers_turns(r);
}

static void workers_tick(relet *r, rlt_worker_entry *d)
{
    uint32_t epoch = rlt_route_epoch(&r->route, d->hashslot);

    rlt_worker_tick(&d->work, r->now);
    if (d->epoch == epoch || !rlt_route_is_up(&r->route, d->hashslot))
        return;
    d->epoch = epoch;
    rlt_worker_wake(&d->work);
}

RELET_PRIVATE void rlt_workers_tick(relet *r)
{
    uint32_t i;

    if (!r->workers.busy)
        return;
    if (rlt_route_is_over(&r->route))
        rlt_workers_stop(r);
    for (i = 0; i < r->workers.max; i++)
        if (rlt_workers_in_use(&r->workers.list[i]))
            workers_tick(r, &r->workers.list[i]);
    workers_turns(r);
}

/* All events have been taken: jobs that have ended since are sent together. */
RELET_PRIVATE void rlt_workers_flush(relet *r)
{
    if (r->workers.due == RLT_WORKERS_DUE)
        workers_turns(r);
}

RELET_PRIVATE relet_time rlt_workers_deadline(const relet *r)
{
    relet_time t = RELET_NEVER;
    uint32_t i;

    if (r->workers.due)
        return r->now;
    for (i = 0; r->workers.busy && i < r->workers.max; i++) {
        const rlt_worker_entry *d = &r->workers.list[i];
        int up = rlt_route_is_up(&r->route, d->hashslot);

        t = RLT_MIN(t, rlt_worker_deadline(&d->work, up, r->now));
    }
    return t;
}

/* The answer to a script that ended one job alone. */
static void workers_closed(rlt_worker_entry *d, uint32_t slot, rlt_heard heard,
                           relet_value v)
{
    relet_span letter = relet_value_text(v);
    int known = heard == RLT_HEARD_VALUE &&
                relet_value_type(v) == RELET_T_TEXT && letter.n == 1;

    rlt_assert(slot < d->work.held.count);
    rlt_claims_closed(&d->work.held, slot, (char)(known ? letter.p[0] : 0));
}

RELET_PRIVATE int rlt_workers_answer(relet *r, rlt_tag tag, rlt_heard heard,
                                     relet_value v, relet_event *ev)
{
    uint32_t index = RLT_TAG_INDEX(tag);
    uint32_t what = (uint32_t)tag >> RLT_WORKERS_STEP_SHIFT;
    rlt_reply reply;
    rlt_worker_entry *d;
    int tells = 0;

    rlt_assert(index < r->workers.max);
    d = &r->workers.list[index];
    reply.heard = heard;
    reply.serial = (uint32_t)tag & RLT_WORKERS_SERIAL;
    reply.value = v;
    rlt_assert(what < RLT_STEPS || what == RLT_WORKERS_CLOSING);
    if (what == RLT_WORKERS_CLOSING)
        workers_closed(d, reply.serial, heard, v);
    else
        tells =
            rlt_worker_reply(&d->work, r->now, (rlt_step)what, &reply);
    workers_turns(r);
    if (tells == 0) /* events come before more input, which may need room */
        return rlt_workers_event(r, ev);
    ev->kind = tells == RLT_WORKER_BROUGHT ? RELET_EV_JOBS
                                           : RELET_EV_WORKER_TROUBLE;
    ev->tag = d->tag;
    ev->worker = (int)index;
    ev->value = v;
    if (tells == RLT_WORKER_TROUBLE) {
        ev->why = RELET_WHY_REFUSED;
        ev->text = relet_value_text(v);
    }
    return 1;
}

RELET_PRIVATE int rlt_workers_event(relet *r, relet_event *ev)
{
    uint32_t i;
    rlt_claim job;
    int tell;

    for (i = 0; r->workers.tells && i < r->workers.max; i++) {
        rlt_worker_entry *d = &r->workers.list[i];

        if (rlt_claims_event(&d->work.held, &tell, &job)) {
            ev->kind = tell == RLT_TELL_JOB_LOST ? RELET_EV_JOB_LOST
                                                 : RELET_EV_JOB_CANCEL;
            ev->job = job.number;
            ev->token = job.token;
            ev->why = (relet_why)job.why;
        } else if (rlt_worker_ended(&d->work)) {
            ev->kind = RELET_EV_WORKER_ENDED;
            workers_leave(r, d);
        } else {
            continue;
        }
        ev->tag = d->tag;
        ev->worker = (int)i;
        workers_turns(r);
        return 1;
    }
    r->workers.tells = 0;
    return 0;
}

/* A push on the channel of wake-ups named this key. An empty key: pushes were
 * lost. */
RELET_PRIVATE void rlt_workers_wake(relet *r, relet_span key)
{
    if (!workers_wake(r, key) && key.n > 0)
        workers_pass_on(r, key);
    workers_turns(r);
}

/* ---------------------------------------------------------------- the user */

static const char *workers_label(relet *r, rlt_worker_entry *d,
                                 relet_span label)
{
    size_t i;

    if (label.n > RLT_LEASES_LABEL_MAX)
        return "worker.label has at most 63 bytes";
    for (i = 0; i < label.n; i++)
        if (label.p[i] <= ' ' || label.p[i] > '~' || label.p[i] == ',')
            return "worker.label may hold no blanks, commas or odd bytes";
    memcpy(d->name, label.n ? label.p : "", label.n);
    d->name_len = (uint8_t)label.n;
    if (label.n > 0)
        d->name[d->name_len++] = ':';
    d->name_len = (uint8_t)(d->name_len +
                            rlt_uid_make(r, d->name + d->name_len));
    return NULL;
}

static const char *workers_plan(const relet *r, const relet_worker_config *c,
                                rlt_worker_entry *d, rlt_worker_plan *p)
{
    p->lease_ms = c->lease_ms ? c->lease_ms : 30000;
    p->renew_ms = c->renew_ms ? c->renew_ms : p->lease_ms / 3;
    p->poll_ms = c->poll_ms ? c->poll_ms : 30000;
    p->slots = c->room ? c->room : 1;
    p->reap_ms = c->reap_ms ? c->reap_ms : p->lease_ms;
    p->batch = r->workers.limits.jobs;
    p->claim_bytes = r->workers.limits.claim_bytes;
    d->team = c->team;
    d->weight = c->weight ? c->weight : 1;
    rlt_team_join(r, d);
    p->stalls_max = c->stalls_max ? c->stalls_max : 2;
    p->run_ms = c->run_ms ? c->run_ms : 86400000;
    p->dead_max = c->dead_max ? c->dead_max : WORK_DEAD_MAX;
    p->dead_ms = c->dead_ms ? c->dead_ms : WORK_DEAD_MS;
    if (p->dead_ms == RELET_NEVER)
        p->dead_ms = 0; /* means for ever in queue_trim */
    if (p->lease_ms < 50 || p->lease_ms > RLT_LEASES_MS_MAX)
        return "worker.lease_ms must be between 50 and 1000000000";
    if (p->renew_ms < 1 || p->renew_ms > p->lease_ms / 3)
        return "worker.renew_ms must be at most a third of lease_ms";
    if (p->poll_ms < 1 || p->poll_ms > RLT_LEASES_MS_MAX)
        return "worker.poll_ms must be between 1 and 1000000000";
    if (p->reap_ms < 1 ||
        (p->reap_ms > RLT_LEASES_MS_MAX && p->reap_ms != RELET_NEVER))
        return "worker.reap_ms must be between 1 and 1000000000";
    if (p->run_ms < p->lease_ms || p->run_ms > RLT_WORKERS_MS_MAX)
        return "worker.run_ms must be between lease_ms and 1000000000000";
    if (p->dead_ms < 0 || p->dead_ms > RLT_WORKERS_MS_MAX)
        return "worker.dead_ms must be between 1 and 1000000000000";
    if (p->slots > r->workers.jobs_max)
        return "worker.room is over jobs_max";
    if (p->batch == 0)
        return "a worker needs an output_max of 5184 at least";
    if (d->weight > 1000000)
        return "worker.weight must be at most 1000000";
    if (c->type.n > sizeof d->type)
        return "worker.type has at most 255 bytes";
    memcpy(d->type, c->type.n ? c->type.p : "", c->type.n);
    p->type = rlt_span(d->type, c->type.n);
    return NULL;
}

/* A number is free when the user was told that its worker has ended. */
static int workers_is_free(const relet *r, uint32_t i)
{
    return !rlt_workers_in_use(&r->workers.list[i]) &&
           !rlt_kept_has(r, RELET_EV_WORKER_ENDED, (int)i);
}

RELET_API int relet_worker_start(relet *r, const relet_worker_config *c)
{
    rlt_worker_plan plan;
    const char *rule;
    rlt_worker_entry *d;
    uint32_t i;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rlt_route_is_over(&r->route))
        return RELET_E_STOPPED;
    for (i = 0; i < r->workers.max && !workers_is_free(r, i); i++)
        ;
    if (i == r->workers.max)
        return RELET_E_LIMIT;
    d = &r->workers.list[i];
    d->tag = c->tag;
    rule = rlt_queue_tag_make(&d->queue, relet_str(r->prefix), c->queue);
    if (rule == NULL)
        rule = workers_plan(r, c, d, &plan);
    if (rule == NULL)
        rule = workers_label(r, d, c->label);
    if (rule) {
        r->refusal = rule;
        return RELET_E_CONFIG;
    }
    rlt_assert(plan.renew_ms > 0);
    rlt_assert(plan.renew_ms <= plan.lease_ms / 3);
    d->hashslot = rlt_route_hashslot(rlt_span(d->queue.text, d->queue.len));
    d->epoch = rlt_route_epoch(&r->route, d->hashslot);
    rlt_wake_name(r);
    memcpy(d->wake, d->queue.text, d->queue.len);
    d->wake_len = (uint8_t)rlt_wake_channel(r, d->wake, d->queue.len).n;
    workers_listen(r, d);
    plan.queue = &d->queue;
    plan.name = rlt_workers_name(d);
    plan.wake = workers_channel(d);
    rlt_worker_start(&d->work, &plan,
                     r->workers.claims + (size_t)i * r->workers.jobs_max,
                     &r->rand, r->now);
    r->workers.busy = 1;
    r->workers.due = RLT_WORKERS_DUE_AT_TICK;
    return (int)i;
}

RELET_API int relet_worker_stop(relet *r, int worker)
{
    rlt_worker_entry *d = rlt_workers_entry(r, worker);

    if (d == NULL)
        return rlt_client_refuse(r, "there is no such worker");
    rlt_worker_stop(&d->work);
    workers_turns(r);
    return 0;
}

RELET_PRIVATE int rlt_workers_has(const relet *r, int worker)
{
    return rlt_workers_entry(r, worker) != NULL;
}

/* Marks in relet_node.spare: on the first node of a kept answer, and on the
 * number of each job that the answer brought. */
enum { WORKERS_KEPT = 1, WORKERS_BROUGHT = 2 };

/* The claim of the i-th job in the answer, if this event brought it: a RECALL
 * also lists jobs that were brought before. */
static rlt_claim *workers_brought(const rlt_worker_entry *d, relet_value v,
                                  size_t i, rlt_job_state *state)
{
    relet_value job = relet_value_at(v, i);
    rlt_claim *s;
    int64_t number;

    if (!relet_value_int(job, &number) ||
        !rlt_job_state_read(relet_value_text(relet_value_at(v, i + 2)), state))
        return NULL;
    s = rlt_claims_find(&d->work.held, (uint64_t)number, state->token);
    if (s == NULL)
        return NULL;
    if (v.node->spare == WORKERS_KEPT)
        return job.node->spare == WORKERS_BROUGHT ? s : NULL;
    return s->fresh ? s : NULL;
}

RELET_PRIVATE void rlt_workers_kept(const relet *r, const relet_event *ev,
                                    void *copy)
{
    const rlt_worker_entry *d = rlt_workers_entry(r, ev->worker);
    relet_node *list = (relet_node *)copy;
    size_t count = relet_value_count(ev->value), i;
    rlt_job_state state;

    rlt_assert(ev->kind == RELET_EV_JOBS);
    rlt_assert(list != NULL && list == ev->value.node);
    rlt_assert(list->spare == 0);
    for (i = 3; d != NULL && i + 2 < count; i += 3)
        if (workers_brought(d, ev->value, i, &state) != NULL)
            list[relet_value_at(ev->value, i).node - list].spare =
                WORKERS_BROUGHT;
    list->spare = WORKERS_KEPT;
}

RELET_API int relet_jobs_next(const relet *r, const relet_event *ev,
                              size_t *at, relet_work *out)
{
    const rlt_worker_entry *d = rlt_workers_entry(r, ev->worker);
    size_t count = relet_value_count(ev->value), i;
    rlt_job_state state;
    rlt_claim *s;

    if (d == NULL || ev->kind != RELET_EV_JOBS)
        return 0;
    for (i = *at ? *at : 3; i + 2 < count; i += 3) {
        s = workers_brought(d, ev->value, i, &state);
        if (s == NULL)
            continue;
        memset(out, 0, sizeof *out);
        (void)rlt_job_read(relet_value_text(relet_value_at(ev->value, i + 1)),
                           &out->job, &out->put_s);
        out->number = s->number;
        out->token = s->token;
        out->attempt = s->attempts + 1;
        out->stalls = s->stalls;
        out->replays = s->replays;
        *at = i + 3;
        return 1;
    }
    return 0;
}

#endif /* RELET_NO_QUEUE */
