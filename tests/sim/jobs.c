/* SPDX-License-Identifier: MIT
 *
 * jobs.c - the third workload: nodes that put jobs, nodes with workers, and,
 * mostly, nodes that do both; and some plain commands. */
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define JOBS_BATCH 8
#define JOBS_SOON_MS 60000
#define JOBS_CROWD 128 /* jobs of a put, at most                              */
#define JOBS_CROWDS 12 /* batches of a crowd                                  */

/* ---------------------------------------------------------------------- put */

const char *sim_jobs_queue(int queue)
{
    return queue == 0 ? "q0" : "q1";
}

static const char *jobs_type(uint32_t type)
{
    static const char *const text[] = {"", "a", "bb"};

    return text[type];
}

/* Seconds, minutes, or more than 32 bits of milliseconds. */
static relet_time jobs_keep_ms(sim_node *n)
{
    uint32_t what = sim_choose(&n->work, 16);

    if (what == 0)
        return ((relet_time)1 << 32) + sim_spread(&n->work, 1, 10000);
    return sim_spread(&n->work, 1, what < 3 ? 600000 : 10000);
}

/* Draws the options of a job, each now and then, for the job and for the
 * judge's record of the job. */
void sim_jobs_draw(sim_node *n, relet_time delay_ms, relet_job *j, sim_job *g,
                   char id[8])
{
    memset(j, 0, sizeof *j);
    g->terms.attempts = 3;
    g->delay_ms = j->delay_ms = delay_ms < 0 ? 0 : delay_ms;
    if (delay_ms >= 0)
        return;
    if (sim_chance(&n->work, 1, 2))
        g->terms.attempts = j->attempts = 1 + sim_choose(&n->work, 4);
    if (sim_chance(&n->work, 1, 2))
        g->delay_ms = j->delay_ms = sim_spread(&n->work, 1,
                                               SIM_JOB_WAIT_MAX_MS);
    if (sim_chance(&n->work, 1, 4))
        g->terms.rank = j->rank = (int)sim_choose(&n->work, 5) - 2;
    if (sim_chance(&n->work, 1, 3))
        g->terms.keep_ms = j->keep_ms = jobs_keep_ms(n);
    if (sim_chance(&n->work, 1, 6))
        g->terms.timeout_ms = j->timeout_ms = sim_spread(&n->work, 10, 3000);
    if (sim_chance(&n->work, 1, 6))
        g->terms.deadline_ms = j->deadline_ms = sim_spread(&n->work, 1, 5000);
    if (sim_chance(&n->work, 1, 2)) {
        g->terms.type = 1 + sim_choose(&n->work, 2);
        j->type = relet_str(jobs_type(g->terms.type));
    }
    j->backoff = (relet_backoff)sim_choose(&n->work, 3);
    j->backoff_ms = sim_spread(&n->work, 1, 1000);
    j->backoff_max_ms = SIM_JOB_WAIT_MAX_MS;
    g->terms.backoff = (int)j->backoff;
    g->terms.backoff_ms = j->backoff_ms;
    g->terms.backoff_max_ms = j->backoff_max_ms;
    if (sim_chance(&n->work, 1, 4)) {
        g->terms.reply = 1;
        j->reply_to = relet_str(SIM_REPLY_TO);
    }
    if (sim_chance(&n->work, 1, 3)) {
        g->id = 1 + sim_choose(&n->work, 8);
        sprintf(id, "id%u", (unsigned)g->id);
        j->id = relet_str(id);
    }
}

/* "op:HEX" for the first job of a put, "HEX,i" for the others. */
relet_span sim_jobs_payload(char room[32], uint64_t tag, size_t i)
{
    char text[24];
    size_t n = sim_wire_put_tag(text, tag);
    relet_span s;

    s.p = room;
    s.n = n;
    memcpy(room, text, n + 1);
    if (i > 0)
        s.n = (size_t)sprintf(room, "%s,%u", text + 3, (unsigned)i);
    return s;
}

/* Draws need a fixed order; the evaluation of arguments has none. */
static int jobs_put_unique(sim_node *n, int queue, const relet_job *job,
                           uint32_t waiting_max, const relet_request *q)
{
    relet_time window_ms = sim_spread(&n->work, 1, 5000);
    relet_unique mode = (relet_unique)sim_choose(&n->work, 4);

    return relet_queue_put_unique(n->r, relet_str(sim_jobs_queue(queue)), job,
                                  mode, window_ms, waiting_max, q);
}

/* Each job has a payload of its own. delay_ms below 0: all options are drawn;
 * else only the delay is set. Returns 1 if the put was accepted. */
int sim_jobs_put(sim_world *w, sim_node *n, int queue, size_t count,
                 relet_time delay_ms)
{
    sim_jobs *g = &w->jobs;
    char payload[JOBS_CROWD][32], id[JOBS_CROWD][8];
    relet_job job[JOBS_CROWD];
    relet_request q;
    uint32_t most = 0;
    sim_op *op;
    size_t i;
    int code;

    if (g->jobs + count > SIM_JOBS_MAX)
        return 0;
    memset(&q, 0, sizeof q);
    q.tag = sim_judge_next_tag(w, n);
    q.flags = RELET_REPEATABLE;
    for (i = 0; i < count; i++) {
        sim_job *j = &g->job[g->jobs + i];

        memset(j, 0, sizeof *j);
        j->queue = queue;
        j->tag = q.tag;
        sim_jobs_draw(n, delay_ms, &job[i], j, id[i]);
        job[i].payload = sim_jobs_payload(payload[i], q.tag, i);
    }
    if (w->phase <= SIM_CHAOS && sim_chance(&n->work, 1, 8))
        q.timeout_ms = sim_spread(&n->work, 1, 2000);
    if (w->phase <= SIM_CHAOS && sim_chance(&n->work, 1, 8))
        most = 1 + sim_choose(&n->work, 20);
    if (count == 1 && g->job[g->jobs].id > 0 && sim_chance(&n->work, 1, 2))
        code = jobs_put_unique(n, queue, job, most, &q);
    else
        code = relet_queue_put(n->r, relet_str(sim_jobs_queue(queue)), job,
                               count, most, &q);
    sim_judge_submitted(w, n, &q, code, 0);
    op = sim_op_of(w, q.tag);
    op->jobs_from = g->jobs;
    op->jobs_n = code < 0 ? 0 : (uint32_t)count;
    g->jobs += op->jobs_n;
    return code == 0;
}

static void jobs_put_some(sim_world *w, sim_node *n)
{
    int queue = (int)sim_choose(&n->work, 1 + w->shape.ops % SIM_QUEUES);
    relet_time delay_ms = sim_chance(&n->work, 1, 2) ? 0 : -1;
    size_t count = sim_chance(&n->work, 1, 2)
                       ? 1
                       : 1 + sim_choose(&n->work, JOBS_BATCH);
    uint32_t more = sim_chance(&n->work, 1, 3) ? sim_choose(&n->work, 4) : 0;

    /* At once, so that plain puts form a put batch. */
    for (; sim_jobs_put(w, n, queue, count, delay_ms) && more > 0; more--)
        ;
}

/* More jobs wait, and more are due at once, than one script looks at. */
static void jobs_crowd(sim_world *w, sim_node *n)
{
    int left = w->jobs.crowd, ok;

    if (w->jobs.crowd_us == 0)
        w->jobs.crowd_us = w->now_us + 4 * SIM_S;
    if (left > JOBS_CROWDS - 2)
        ok = sim_jobs_put(w, n, 0, left == JOBS_CROWDS ? JOBS_CROWD : 20, 0);
    else
        ok = sim_jobs_put(w, n, 0, 16,
                          w->jobs.crowd_us <= w->now_us
                              ? 1
                              : (w->jobs.crowd_us - w->now_us) / SIM_MS);
    w->jobs.crowd -= ok != 0;
}

/* An acknowledged job is in the store under its number, or was there before. */
static void jobs_acknowledged(sim_world *w, sim_node *n, const relet_event *ev)
{
    const sim_op *op = sim_op_of(w, ev->tag);
    uint64_t number;
    uint32_t i;

    if (op->jobs_n == 0 || op->lied)
        return;
    if (op->touched > 1)
        SIM_MARK(put_repeated);
    for (i = 0; i < op->jobs_n; i++) {
        sim_job *j = &w->jobs.job[op->jobs_from + i];
        int what = relet_queue_put_number(ev->value, i, &number);

        j->stands_in = what == 2;
        j->acked = what == 1;
        if (what == 2)
            SIM_MARK(put_stands_in);
        if (!sim_holds(w, SIM_Q2, what != 0 && (what == 1 || j->id)))
            sim_fail(w, SIM_Q2, "n%d op %u: the answer to a put has no number "
                     "for a job", n->number, (unsigned)(ev->tag & UINT32_MAX));
        if (what == 1 && !sim_holds(w, SIM_Q2, j->number[0] == number ||
                                                   j->number[1] == number))
            sim_fail(w, SIM_Q2, "n%d got number %llu for its job, which no "
                     "server gave to the job", n->number,
                     (unsigned long long)number);
    }
}

/* ------------------------------------------------------------------ workers */

/* The lease must last for some round trips. */
static void jobs_worker(sim_world *w, sim_node *n, int queue, int sure)
{
    relet_time least = 200 + 30 * w->shape.latency_us / 1000;
    relet_worker_config c;
    uint32_t type = 0;
    char label[24];
    sim_desk *d;
    int code;

    memset(&c, 0, sizeof c);
    c.lease_ms = sim_spread(&n->work, least, SIM_JOB_LEASE_MAX_MS);
    if (sim_chance(&n->work, 1, 3))
        c.renew_ms = sim_spread(&n->work, c.lease_ms / 10, c.lease_ms / 3);
    /* A worker that polls often would hide a lost wake-up. */
    c.poll_ms = !sure && sim_chance(&n->work, 1, 8)
                    ? sim_spread(&n->work, 500, 10000)
                    : sim_spread(&n->work, 10000, 30000);
    if (!sure)
        c.reap_ms = sim_chance(&n->work, 1, 6)
                        ? RELET_NEVER
                        : sim_spread(&n->work, c.lease_ms / 2, c.lease_ms);
    if (sim_chance(&n->work, 1, 4))
        c.run_ms = sim_spread(&n->work, c.lease_ms, 3 * c.lease_ms);
    c.stalls_max = sim_choose(&n->work, 4);
    c.dead_ms = w->shape.dead_ms;
    c.room = 1 + sim_choose(&n->work, n->config.jobs_max);
    if (sim_chance(&n->work, 1, 3)) {
        c.team = 1;
        c.weight = sim_choose(&n->work, 4);
    }
    if (!sure && sim_chance(&n->work, 1, 4))
        type = 1 + sim_choose(&n->work, 2);
    c.type = relet_str(jobs_type(type));
    c.queue = relet_str(sim_jobs_queue(queue));
    sprintf(label, "n%d.%u", n->number, ++w->jobs.serials);
    c.label = relet_str(label);
    c.tag = w->jobs.serials;
    code = relet_worker_start(n->r, &c);
    SIM_SAY(w, "n%d works on q%d as %s, lease %ld, room %u: %d", n->number,
            queue, label, (long)c.lease_ms, c.room, code);
    if (code == RELET_E_LIMIT || code == RELET_E_STOPPED)
        return;
    if (code < 0 || code >= SIM_DESKS || n->desk[code].serial > 0) {
        sim_fail(w, SIM_Q12, "n%d: the start of a worker returned %d: %s",
                 n->number, code, relet_refusal(n->r));
        return;
    }
    d = &n->desk[code];
    memset(d, 0, sizeof *d);
    d->serial = w->jobs.serials;
    d->queue = queue;
    d->room = c.room;
    d->team = c.team;
    d->type = type;
    d->lease_ms = c.lease_ms;
    d->never_reaps = c.reap_ms == RELET_NEVER;
    d->start_us = w->now_us;
    if (w->leases.ttl_max < c.lease_ms)
        w->leases.ttl_max = c.lease_ms;
}

static void jobs_stop(sim_world *w, sim_node *n, int i)
{
    if (n->desk[i].serial == 0 || n->desk[i].stopping)
        return;
    SIM_SAY(w, "n%d stops n%d.%u", n->number, n->number, n->desk[i].serial);
    n->desk[i].stopping = 1;
    if (relet_worker_stop(n->r, i) != 0)
        sim_fail(w, SIM_Q12, "n%d: worker %d cannot be stopped", n->number, i);
}

/* ---------------------------------------------------------------- the whole */

static void jobs_start(sim_world *w, sim_node *n)
{
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 6000);
    w->jobs.patient = sim_chance(&st, 1, 6);
    if (w->phase == SIM_BOOTING && sim_chance(&st, 1, 16))
        w->jobs.crowd = JOBS_CROWDS;
    sim_awaits_start(w, n);
    if (n->await.alone)
        return;
    sim_plain.start(w, n);
    if (sim_chance(&n->work, 3, 4))
        jobs_worker(w, n, (int)sim_choose(&n->work,
                                          1 + w->shape.ops % SIM_QUEUES), 0);
}

static void jobs_step(sim_world *w, sim_node *n)
{
    uint32_t what;

    if (n->await.alone) {
        sim_awaits_step(w, n);
        return;
    }
    what = sim_choose(&n->work, 32);
    if (w->shape.repairs > 0 && sim_choose(&n->work, 256) < w->shape.repairs)
        sim_orders_repair(w, n);
    if (w->jobs.crowd > 0)
        jobs_crowd(w, n);
    else if (what < 4 && w->shape.ops & 16)
        sim_plain.step(w, n);
    else if (what < 12)
        jobs_put_some(w, n);
    else if (what < 15)
        jobs_worker(w, n, (int)sim_choose(&n->work,
                                          1 + w->shape.ops % SIM_QUEUES), 0);
    else if (what < 17)
        jobs_stop(w, n, (int)sim_choose(&n->work, SIM_DESKS));
    else if (what < 21)
        sim_orders_step(w, n);
}

static void jobs_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY)
        jobs_acknowledged(w, n, ev);
    sim_replies_event(w, n, ev);
    sim_awaits_event(w, n, ev);
}

static int jobs_works_on(const sim_node *n, int queue)
{
    int i, many = 0;

    for (i = 0; i < SIM_DESKS; i++)
        many += n->desk[i].serial > 0 && n->desk[i].queue == queue;
    return many;
}

/* Makes sure that each queue has a worker, which also reaps jobs of workers
 * that are gone. */
static int jobs_quiet(sim_world *w, sim_node *n)
{
    int moved, queue, i;

    if (n->await.on)
        return 0;
    moved = sim_plain.quiet(w, n);
    if (sim_waits_falls(w, n))
        return 0;
    moved |= sim_orders_quiet(w, n);
    for (i = 0; i < SIM_DESKS; i++)
        if (n->desk[i].serial > 0 && !n->desk[i].stopping &&
            (n->desk[i].never_reaps || n->desk[i].type > 0 ||
             (i > 0 && jobs_works_on(n, n->desk[i].queue) > 1))) {
            jobs_stop(w, n, i);
            moved = 1;
        }
    for (queue = 0; queue < SIM_QUEUES; queue++)
        if (jobs_works_on(n, queue) == 0 &&
            (n->desk[0].serial == 0 || n->desk[1].serial == 0)) {
            jobs_worker(w, n, queue, 1);
            moved = 1;
        }
    return moved;
}

long sim_jobs_open(sim_world *w)
{
    sim_host *h = &w->host[w->primary];
    long open = 0;
    int i;

    sim_ledger_read(w, h);
    for (i = 0; i < SIM_QUEUES; i++)
        open += h->ledger.book[i].open;
    return open;
}

static int jobs_alive(sim_world *w, const sim_node *n)
{
    w->checked[SIM_Q3]++;
    return !n->await.on && sim_plain.alive(w, n) && sim_jobs_open(w) == 0 &&
           sim_jobs_stay(w) == 0;
}

/* Counts the done and dead jobs that workers must remove before the server's
 * clock is this far from now. */
static long jobs_due(sim_world *w, int64_t ms)
{
    sim_host *h = &w->host[w->primary];
    int64_t until = sim_host_wall(w, h) / 1000 + ms;
    long stay = 0;
    int i;
    size_t k;

    sim_ledger_read(w, h);
    for (i = 0; w->jobs.patient && i < SIM_QUEUES; i++) {
        const sim_book *b = &h->ledger.book[i];

        for (k = 0; b->over[0] + b->over[1] > 0 && k < b->n; k++)
            stay += (b->at[k].done && b->at[k].scores[2] < until) ||
                    (w->shape.dead_ms > 0 && b->at[k].dead &&
                     b->at[k].scores[3] + w->shape.dead_ms < until);
    }
    return stay;
}

/* Counts the done and dead jobs that workers must remove within a minute. */
long sim_jobs_stay(sim_world *w)
{
    return jobs_due(w, JOBS_SOON_MS);
}

/* Counts those that should have been removed a minute ago. */
long sim_jobs_overdue(sim_world *w)
{
    return jobs_due(w, -JOBS_SOON_MS);
}

int64_t sim_jobs_patience(const sim_world *w)
{
    return w->jobs.patient ? 2 * JOBS_SOON_MS * SIM_MS : 0;
}

int sim_jobs_missing(sim_world *w)
{
    return w->work == &sim_working && sim_jobs_open(w) > 0;
}

const sim_workload sim_working = {"jobs",     jobs_start, jobs_step,
                                  jobs_event, jobs_quiet, jobs_alive};

/* ------------------------------------------------------------------- begun */

/* For each handler that was begun before, a server has recorded an attempt, a
 * stall or a release. If a server lost writes after the job was put, that
 * record may be lost, too. */
void sim_jobs_begun(sim_world *w, sim_job *j)
{
    int64_t put_us = sim_op_of(w, j->tag)->at_us;
    const int64_t *lost_us = w->leases.void_us;

    (void)sim_claims_two_masters(w);
    j->starts++;
    if (!sim_judges(w, SIM_Q6, j->lied || lost_us[SIM_VOID_COPY] >= put_us ||
                                   lost_us[SIM_VOID_DISK] >= put_us,
                    j->starts <= j->spent + 1))
        sim_fail(w, SIM_Q6, "job %llu of q%d was begun %u times, after only %u "
                 "attempts, stalls and releases",
                 (unsigned long long)j->number[w->primary], j->queue,
                 j->starts, j->spent);
}
