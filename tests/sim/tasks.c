/* SPDX-License-Identifier: MIT
 *
 * tasks.c - jobs at the nodes that work on them: the worker to which a server
 * leased a job, the events that the node got, and whether these were right.
 * hands.c has the handlers. The rules are listed in verbs.c. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* A round trip, with a turn at each end. */
#define TASKS_WAY_US(w) (60 * (w)->shape.latency_us + 200 * SIM_MS)

#define TASKS_LOSSY(w, since_us) \
    ((w)->leases.void_us[SIM_VOID_COPY] >= (since_us) || \
     (w)->leases.void_us[SIM_VOID_DISK] >= (since_us))

/* ------------------------------------------------------------------ finding */

static sim_desk *tasks_desk(sim_world *w, int node, unsigned serial)
{
    int i;

    for (i = 0; serial > 0 && node >= 0 && node < SIM_NODES && i < SIM_DESKS;
         i++)
        if (w->node[node].desk[i].serial == serial)
            return &w->node[node].desk[i];
    return NULL;
}

static sim_task *tasks_find(sim_desk *d, uint64_t number, uint64_t token)
{
    int i;

    for (i = 0; i < SIM_TASKS; i++)
        if (d->task[i].state != SIM_TASK_NONE &&
            d->task[i].number == number && d->task[i].token == token)
            return &d->task[i];
    return NULL;
}

/* The task of this lease, at any node, in the queue that the running script is
 * about; *n and *desk: its node and worker. */
static sim_task *tasks_of(sim_world *w, uint64_t number, uint64_t token,
                          sim_node **n, int *desk)
{
    int i, j;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_DESKS; j++) {
            sim_desk *d = &w->node[i].desk[j];
            sim_task *t = d->serial && d->queue == w->jobs.run.queue
                              ? tasks_find(d, number, token)
                              : NULL;

            if (t == NULL)
                continue;
            *n = &w->node[i];
            *desk = j;
            return t;
        }
    return NULL;
}

/* The first free task, or else the one that was last heard of longest ago. */
static sim_task *tasks_new(sim_desk *d)
{
    sim_task *old = NULL;
    int i;

    for (i = 0; i < SIM_TASKS; i++) {
        sim_task *t = &d->task[i];

        if (t->state == SIM_TASK_NONE)
            return t;
        if ((t->state == SIM_TASK_GRANTED || t->state == SIM_TASK_ENDED) &&
            (old == NULL || t->seen_us < old->seen_us))
            old = t;
    }
    return old;
}

/* Returns 1 if servers that lost writes may have given this token to two
 * workers. Token 0 stands for an unknown token. */
int sim_tasks_twice(const sim_world *w, int queue, uint64_t token)
{
    return w->jobs.twice[queue] > 0 && token <= w->jobs.twice[queue];
}

/* Returns 1 if nothing follows from this token of a worker: a server lied to
 * the worker's node, or servers may have given the token out twice. */
int sim_tasks_lied(const sim_node *n, const sim_desk *d, uint64_t token)
{
    return n->ever_lied || sim_tasks_twice(n->world, d->queue, token);
}

/* Returns 1 if trouble between since_us and until_us may have kept a worker
 * from a step that is due later_us later. A worker has done the step if all was
 * well for so long in a row: a worker that was refused asks again after a sixth
 * of its lease at most. */
static int tasks_hindered(const sim_world *w, const sim_node *n,
                          const sim_desk *d, int64_t since_us,
                          int64_t until_us, int64_t later_us)
{
    int64_t again_us = d->lease_ms * SIM_MS / 6 + 50 * SIM_MS;

    return sim_disturbed(w, n, since_us) &&
           !sim_was_calm(w, n, since_us, until_us,
                         later_us + again_us + TASKS_WAY_US(w));
}

/* Returns 1 if nothing follows from the token of this job: its lease was
 * granted before the last lie, or the token may exist twice. */
int sim_tasks_lied_of(const sim_node *n, const sim_desk *d, const sim_task *t)
{
    if (t == NULL)
        return sim_tasks_lied(n, d, 0);
    if (n->lied || sim_tasks_twice(n->world, d->queue, t->token))
        return 1;
    return n->ever_lied && t->granted_us <= n->lied_us;
}

/* The same for a job that the running script has changed, by the job's token
 * before the script. Returns 1 also if the judge no longer has a record of that
 * lease, and the node was lied to at any time. */
int sim_tasks_lied_about(sim_world *w, const sim_touch *touch)
{
    sim_node *n = &w->node[w->jobs.run.from];
    int i;

    for (i = 0; i < SIM_DESKS; i++) {
        sim_desk *d = &n->desk[i];
        const sim_task *t = d->serial && d->queue == touch->queue
                                ? tasks_find(d, touch->number,
                                             touch->was.token)
                                : NULL;

        if (t)
            return sim_tasks_lied_of(n, d, t);
    }
    return n->lied || sim_tasks_twice(w, touch->queue, touch->was.token) ||
           (n->ever_lied && touch->was.letter == 'L' && w->jobs.run.pairs > 0);
}

/* A server lies to a node: each job of the node is marked, since a lie may have
 * made the node end another job in its place. */
void sim_tasks_lied_to(sim_world *w, sim_node *n)
{
    int i, j;

    n->lied_us = w->now_us;
    for (i = 0; i < SIM_DESKS; i++)
        for (j = 0; j < SIM_TASKS; j++) {
            const sim_task *t = &n->desk[i].task[j];

            if (n->desk[i].serial > 0 && t->state != SIM_TASK_NONE &&
                t->job != SIM_NOBODYS)
                w->jobs.job[t->job].lied = 1;
        }
}

/* ------------------------------------------------------------------- belief */

/* Returns 1 if an event since the last renewal excuses a wrong belief. */
static int tasks_excused(sim_world *w, const sim_task *t)
{
    (void)sim_claims_two_masters(w);
    return t->ran_us <= w->leases.void_us[SIM_VOID_TIME] ||
           TASKS_LOSSY(w, t->ran_us);
}

/* Returns 1 if the node does not believe in the lease any more, although its
 * handler may still work. */
static int tasks_is_over(sim_world *w, const sim_node *n, int desk,
                         const sim_task *t)
{
    if (!n->running ||
        (t->state != SIM_TASK_HELD && t->state != SIM_TASK_LOST))
        return 1;
    return sim_judges(w, SIM_Q7,
                      sim_tasks_lied_of(n, &n->desk[desk], t) ||
                          tasks_excused(w, t),
                      relet_job_valid_for(n->r, desk, t->number,
                                          sim_node_clock(w, n)) <= 2);
}

static void tasks_alone(sim_world *w, uint32_t job, uint64_t token)
{
    int i, j, k;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_DESKS; j++)
            for (k = 0; k < SIM_TASKS; k++) {
                const sim_task *t = &w->node[i].desk[j].task[k];

                if (t->job == job && t->token != token &&
                    !tasks_is_over(w, &w->node[i], j, t))
                    sim_fail(w, SIM_Q7, "job %llu is leased again while n%d "
                             "believes in it", (unsigned long long)t->number,
                             i);
            }
}

/* -------------------------------------------------------------- at a server */

/* The deadline has passed even if the job was put at the end of its second. */
static int tasks_is_late(const sim_place *p, const sim_step *run)
{
    return p->terms.deadline_ms > 0 &&
           run->wall_ms - p->born_s * 1000 - 1000 > p->terms.deadline_ms;
}

/* A worker asks again for the jobs of a claim, and is told the time at that
 * moment: if the clock was set back since, a deadline has not passed. Seed
 * 5547016654608772104. */
void sim_tasks_recalled(sim_world *w, const sim_step *run, const sim_book *b)
{
    sim_desk *d = tasks_desk(w, run->node, run->serial);
    int i;

    for (i = 0; d && i < SIM_TASKS; i++) {
        sim_task *t = &d->task[i];

        if (t->state == SIM_TASK_GRANTED && t->late && t->number < b->n &&
            b->at[t->number].token == t->token)
            t->late = tasks_is_late(&b->at[t->number], run) != 0;
    }
}

void sim_tasks_claimed(sim_world *w, const sim_step *run, uint64_t number,
                       const sim_place *p)
{
    sim_desk *d = tasks_desk(w, run->node, run->serial);
    sim_task *t;

    if (p->job > 0)
        tasks_alone(w, p->job - 1, p->token);
    if (d == NULL) {
        SIM_MARK(claimed_by_the_gone);
        return;
    }
    if (d->stopping)
        SIM_MARK(claim_after_stop);
    if (d->type > 0) {
        SIM_MARK(claimed_by_type);
        if (!sim_holds(w, SIM_Q10, p->job == 0 || p->terms.type == d->type))
            sim_fail(w, SIM_Q10, "n%d.%u has claimed job %llu of a wrong type",
                     run->node, run->serial, (unsigned long long)number);
    }
    t = tasks_find(d, number, p->token); /* if servers lost writes        */
    if (t && (t->state == SIM_TASK_HELD || t->state == SIM_TASK_LOST))
        return;
    if (t == NULL && (t = tasks_new(d)) == NULL)
        return;
    memset(t, 0, sizeof *t);
    t->state = SIM_TASK_GRANTED;
    t->number = number;
    t->token = p->token;
    t->job = p->job ? p->job - 1 : SIM_NOBODYS;
    t->terms = p->terms;
    t->attempts = p->attempts;
    t->stalls = p->stalls;
    t->replays = p->replays;
    t->granted_us = t->ran_us = t->seen_us = w->now_us;
    t->truth_us = w->now_us + run->lease_ms * SIM_MS;
    t->late = p->job > 0 && tasks_is_late(p, run);
    t->cut = run->cut != 0;
}

/* A worker that renews a cancelled job learns of the cancellation from the
 * answer, so its node gets JOB_CANCEL before the next renewal of the job. A
 * renewal over a link that its node has left has no answer. */
static void tasks_not_wanted(sim_world *w, const sim_node *n, int desk,
                             sim_task *t)
{
    if (w->jobs.run.link + 1 != n->link[0])
        return;
    if (t->heard_us > 0 && !t->asked && t->state == SIM_TASK_HELD &&
        !sim_tasks_lied_of(n, &n->desk[desk], t) &&
        !sim_judges(w, SIM_Q8, sim_disturbed(w, n, t->heard_us), 0))
        sim_fail(w, SIM_Q8, "n%d got no JOB_CANCEL for the cancelled job %llu",
                 n->number, (unsigned long long)t->number);
    if (t->heard_us == 0)
        t->heard_us = w->now_us;
}

/* No worker renews a job after the job's time-out. A renewal over a link that
 * its node has left was sent before (seed 3611190152366). */
static void tasks_overdue(sim_world *w, const sim_node *n, int desk,
                          const sim_task *t)
{
    if (t->timeout_us == 0 || w->jobs.run.link + 1 != n->link[0] ||
        sim_tasks_lied_of(n, &n->desk[desk], t) ||
        tasks_hindered(w, n, &n->desk[desk], t->timeout_us, w->now_us, 0))
        return;
    if (!sim_holds(w, SIM_Q8, w->now_us <= t->timeout_us + TASKS_WAY_US(w)))
        sim_fail(w, SIM_Q8, "n%d renews job %llu after the job's time-out",
                 n->number, (unsigned long long)t->number);
}

void sim_tasks_cancelled(sim_world *w, uint64_t number, uint64_t token)
{
    sim_node *n;
    int desk;
    sim_task *t = tasks_of(w, number, token, &n, &desk);

    if (t)
        t->cancel_us = w->now_us;
}

void sim_tasks_renewed(sim_world *w, const sim_step *run, uint64_t number,
                       const sim_place *p)
{
    sim_node *n;
    int desk;
    sim_task *t = tasks_of(w, number, p->token, &n, &desk);

    SIM_MARK(job_renewed);
    if (t == NULL)
        return;
    if (p->flag == 'c')
        tasks_not_wanted(w, n, desk, t);
    tasks_overdue(w, n, desk, t);
    if (n->desk[desk].stopping)
        SIM_MARK(job_renewed_while_stopping);
    t->ran_us = w->now_us;
    t->truth_us = w->now_us + run->lease_ms * SIM_MS;
}

/* A job that is tried again waits for as long as its handler says, or else for
 * up to its back-off, which grows with each attempt. */
static void tasks_waits(sim_world *w, const sim_step *run, const sim_task *t)
{
    relet_time step = t->terms.backoff_ms ? t->terms.backoff_ms : 1000;
    relet_time most = t->terms.backoff_max_ms ? t->terms.backoff_max_ms
                                              : 3600000;
    relet_time wait = step;
    uint32_t i;
    int right;

    for (i = 0; i < t->attempts && wait < most; i++)
        wait += t->terms.backoff == RELET_BACKOFF_LINEAR ? step
                : t->terms.backoff == RELET_BACKOFF_FIXED ? 0
                                                          : wait;
    if (wait > most)
        wait = most;
    right = run->wait_ms <= wait && (t->terms.backoff != RELET_BACKOFF_FIXED ||
                                     run->wait_ms == wait);
    if (t->delay_ms > 0)
        right = run->wait_ms == t->delay_ms;
    if (!sim_holds(w, SIM_Q10, right))
        sim_fail(w, SIM_Q10, "job %llu waits %ld ms for attempt %u, instead of "
                 "%ld", (unsigned long long)t->number, (long)run->wait_ms,
                 t->attempts + 2,
                 (long)(t->delay_ms > 0 ? t->delay_ms : wait));
}

void sim_tasks_accepted(sim_world *w, const sim_step *run, uint64_t number,
                        uint64_t token)
{
    sim_node *n;
    int desk;
    sim_task *t = tasks_of(w, number, token, &n, &desk);

    if (t == NULL)
        return;
    if (t->state == SIM_TASK_GRANTED && run->what != SIM_V_RELEASE &&
        !run->stale && !sim_tasks_lied_of(n, &n->desk[desk], t))
        sim_fail(w, SIM_Q5, "n%d ends job %llu, of which it got no JOBS event",
                 n->number, (unsigned long long)number);
    if (run->stale && t->state == SIM_TASK_GRANTED)
        SIM_MARK(buried_unbegun);
    if (run->what == SIM_V_FAIL && run->verdict == 'r' &&
        t->job != SIM_NOBODYS && !sim_tasks_lied_of(n, &n->desk[desk], t))
        tasks_waits(w, run, t);
    t->accepted = 1;
    t->cut |= run->cut != 0;
}

/* Fails if a handler had ended the job, and no trouble kept the end from
 * reaching the server. */
static void tasks_ended_in_vain(sim_world *w, const sim_node *n, int desk,
                                const sim_task *t)
{
    if (!n->running || n->stopping || sim_tasks_lied_of(n, &n->desk[desk], t) ||
        TASKS_LOSSY(w, t->granted_us) ||
        w->now_us < t->seen_us + TASKS_WAY_US(w))
        return;
    if (!sim_judges(w, SIM_Q6,
                    tasks_hindered(w, n, &n->desk[desk], t->seen_us,
                                   t->truth_us, 0),
                    0))
        sim_fail(w, SIM_Q6, "job %llu is relet without a cause after n%d had "
                 "ended it", (unsigned long long)t->number, n->number);
}

void sim_tasks_taken(sim_world *w, uint64_t number, uint64_t token)
{
    sim_node *n;
    const sim_link *l;
    int desk;
    sim_task *t = tasks_of(w, number, token, &n, &desk);

    l = t ? sim_net_of_node(w, n) : NULL; /* it may now ask another server */
    if (t && !tasks_is_over(w, n, desk, t))
        sim_fail(w, SIM_Q7, "job %llu is relet while n%d believes in it",
                 (unsigned long long)number, n->number);
    if (t && t->state == SIM_TASK_ENDED && !t->accepted)
        tasks_ended_in_vain(w, n, desk, t);
    if (t == NULL || t->state != SIM_TASK_GRANTED || t->accepted)
        return;
    SIM_MARK(stalled_unheard);
    if (!sim_tasks_lied_of(n, &n->desk[desk], t) && n->running &&
        !sim_judges(w, SIM_Q7,
                    l == NULL || l->host != w->jobs.run.host ||
                        tasks_hindered(w, n, &n->desk[desk], t->granted_us,
                                       t->truth_us, 0),
                    0))
        sim_fail(w, SIM_Q7, "n%d never got a JOBS event for job %llu, without "
                 "a cause", n->number, (unsigned long long)number);
}

/* ---------------------------------------------------------------- at a node */

/* The terms are as they were put; 0 stands for the default. */
static int tasks_same_terms(const relet_job *j, const sim_terms *t)
{
    return (j->attempts ? j->attempts : 3) == t->attempts &&
           j->rank == t->rank && j->keep_ms == t->keep_ms &&
           j->timeout_ms == t->timeout_ms &&
           j->deadline_ms == t->deadline_ms && j->type.n == t->type &&
           (j->reply_to.n > 0) == (t->reply > 0) &&
           (int)j->backoff == t->backoff && j->backoff_ms == t->backoff_ms &&
           j->backoff_max_ms == t->backoff_max_ms;
}

static void tasks_told(sim_world *w, sim_node *n, sim_desk *d,
                       const relet_event *ev)
{
    relet_work work;
    size_t at = 0;
    sim_task *t;

    if (!sim_holds(w, SIM_Q12, !d->stopping))
        sim_fail(w, SIM_Q12, "n%d gets a JOBS event after it has stopped",
                 n->number);
    while (relet_jobs_next(n->r, ev, &at, &work)) {
        t = tasks_find(d, work.number, work.token);
        SIM_SAY(w, "n%d: … job %llu, token %llu, attempt %u", n->number,
                (unsigned long long)work.number,
                (unsigned long long)work.token, work.attempt);
        if (!sim_judges(w, SIM_Q4, sim_tasks_lied_of(n, d, t),
                        t && t->state == SIM_TASK_GRANTED))
            sim_fail(w, SIM_Q4, "n%d gets job %llu, which no server has newly "
                     "leased to it", n->number,
                     (unsigned long long)work.number);
        if (t && t->state == SIM_TASK_GRANTED && !sim_tasks_lied_of(n, d, t) &&
            !sim_holds(w, SIM_Q2,
                       sim_ledger_job(w, work.job.payload) == t->job + 1))
            sim_fail(w, SIM_Q2, "n%d gets job %llu with the payload of another "
                     "job", n->number, (unsigned long long)work.number);
        if (t && t->state == SIM_TASK_GRANTED && !sim_tasks_lied_of(n, d, t) &&
            t->job != SIM_NOBODYS &&
            !sim_holds(w, SIM_Q6, work.attempt == t->attempts + 1 &&
                                      work.stalls == t->stalls &&
                                      work.replays == t->replays))
            sim_fail(w, SIM_Q6, "n%d gets attempt %u of job %llu, which is "
                     "attempt %u", n->number, work.attempt,
                     (unsigned long long)work.number, t->attempts + 1);
        if (t && t->state == SIM_TASK_GRANTED && !sim_tasks_lied_of(n, d, t) &&
            t->job != SIM_NOBODYS &&
            !sim_holds(w, SIM_Q2, tasks_same_terms(&work.job, &t->terms)))
            sim_fail(w, SIM_Q2, "n%d gets job %llu with other terms than it "
                     "was put with", n->number,
                     (unsigned long long)work.number);
        if (t == NULL && sim_tasks_lied(n, d, work.token) &&
            (t = tasks_new(d)) != NULL) {
            memset(t, 0, sizeof *t);
            t->number = work.number;
            t->token = work.token;
            t->job = SIM_NOBODYS;
        }
        if (t && !sim_tasks_lied_of(n, d, t) &&
            !sim_holds(w, SIM_Q8, relet_job_valid_for(n->r, ev->worker,
                                                      work.number, n->now) > 0))
            sim_fail(w, SIM_Q8, "n%d gets job %llu after its lease has ended",
                     n->number, (unsigned long long)work.number);
        if (t && t->state == SIM_TASK_GRANTED && !sim_tasks_lied_of(n, d, t) &&
            t->job != SIM_NOBODYS &&
            t->terms.deadline_ms > 0 &&
            !sim_judges(w, SIM_Q8,
                        w->leases.void_us[SIM_VOID_TIME] >= t->granted_us,
                        !t->late))
            sim_fail(w, SIM_Q8, "n%d gets job %llu after the job's deadline",
                     n->number, (unsigned long long)work.number);
        if (t && t->state <= SIM_TASK_GRANTED)
            sim_hands_begin(w, n, (int)(d - n->desk), t);
        if (t && t->job != SIM_NOBODYS)
            sim_waits_begun(w, n, t->job);
        if (w->failed)
            return;
    }
}

/* Returns 1 if the store of the worker's server says that the lease goes on. */
static int tasks_still(sim_world *w, const sim_desk *d, const sim_task *t)
{
    sim_host *h = &w->host[w->primary];
    sim_book *b = &h->ledger.book[d->queue];
    const sim_place *p;

    sim_ledger_read(w, h);
    if (TASKS_LOSSY(w, t->granted_us) || t->number >= b->n)
        return 0;
    p = &b->at[t->number];
    return p->letter == 'L' && p->token == t->token;
}

/* The result of an end is unknown only if trouble kept the end from its server.
 * The client sends the end again over each new link, for as long as the lease
 * lasts, unless the answer was an error or memory was short. */
static void tasks_broken_rightly(sim_world *w, const sim_node *n,
                                 const sim_desk *d, const sim_task *t)
{
    int early = w->now_us < t->seen_us + d->lease_ms * SIM_MS * 99 / 100 -
                                2 * SIM_MS;
    int answered = n->refused_us >= t->seen_us || n->short_us >= t->seen_us ||
                   n->config.fail_fast || n->config.attempts_max > 0 ||
                   n->stopping;
    /* Servers remember the highest token that a worker has ended. The end of a
     * job about which a server lied may have left a higher token there than
     * that of this job. */
    int outdone = n->ever_lied && d->start_us <= n->lied_us;

    if (!sim_judges(w, SIM_Q5,
                    outdone ||
                        tasks_hindered(w, n, d, t->seen_us, t->truth_us, 0),
                    0))
        sim_fail(w, SIM_Q5, "n%d gets no result for its end of job %llu, "
                 "without a cause", n->number, (unsigned long long)t->number);
    if (!w->failed && !sim_judges(w, SIM_Q5, outdone || !early || answered, 0))
        sim_fail(w, SIM_Q5, "n%d gets no result for its end of job %llu, while "
                 "it could send the end again", n->number,
                 (unsigned long long)t->number);
}

/* The time since which trouble may have kept a worker from a renewal: that of
 * the last renewal. If a renewal ran just now, its answer may be under way, and
 * the renewal before it counts. */
static int64_t tasks_renewed_us(const sim_world *w, const sim_desk *d,
                                const sim_task *t)
{
    return w->now_us < t->ran_us + TASKS_WAY_US(w)
               ? w->now_us - d->lease_ms * SIM_MS
               : t->ran_us;
}

static void tasks_lost_rightly(sim_world *w, sim_node *n, const sim_desk *d,
                               const sim_task *t, const relet_event *ev)
{
    int server = ev->why == RELET_WHY_TAKEN || ev->why == RELET_WHY_GONE;

    if (server && !sim_holds(w, SIM_Q5, !tasks_still(w, d, t)))
        sim_fail(w, SIM_Q5, "n%d gets JOB_LOST for job %llu, which is still "
                 "leased to it", n->number, (unsigned long long)t->number);
    if (server && t->accepted && !TASKS_LOSSY(w, t->granted_us) &&
        !sim_judges(w, SIM_Q5, t->cut, 0))
        sim_fail(w, SIM_Q5, "n%d gets JOB_LOST for job %llu, whose end a "
                 "server has accepted", n->number,
                 (unsigned long long)t->number);
    if (ev->why == RELET_WHY_BROKEN)
        tasks_broken_rightly(w, n, d, t);
    if (ev->why == RELET_WHY_EXPIRED && t->state == SIM_TASK_HELD &&
        t->timeout_us == 0 &&
        !sim_judges(w, SIM_Q7,
                    tasks_hindered(w, n, d, tasks_renewed_us(w, d, t),
                                   t->truth_us,
                                   d->lease_ms * SIM_MS * 2 / 5),
                    0))
        sim_fail(w, SIM_Q7, "n%d loses job %llu without a cause", n->number,
                 (unsigned long long)t->number);
}

static void tasks_lost(sim_world *w, sim_node *n, sim_desk *d,
                       const relet_event *ev)
{
    sim_task *t = tasks_find(d, ev->job, ev->token);
    int desk = (int)(d - n->desk);

    SIM_SAY(w, "n%d: … job %llu, token %llu", n->number,
            (unsigned long long)ev->job, (unsigned long long)ev->token);
    if (!sim_judges(w, SIM_Q5, sim_tasks_lied_of(n, d, t),
                    t && (t->state == SIM_TASK_GRANTED ||
                          ((t->state == SIM_TASK_HELD ||
                            t->state == SIM_TASK_ENDED) && !t->told))))
        sim_fail(w, SIM_Q5, "n%d gets JOB_LOST for job %llu, which it did not "
                 "have", n->number, (unsigned long long)ev->job);
    if (t == NULL || w->failed)
        return;
    if (!sim_tasks_lied_of(n, d, t))
        tasks_lost_rightly(w, n, d, t, ev);
    if (ev->why == RELET_WHY_EXPIRED)
        SIM_MARK(job_lost_expired);
    if (ev->why == RELET_WHY_TAKEN)
        SIM_MARK(job_lost_taken);
    if (ev->why == RELET_WHY_GONE)
        SIM_MARK(job_lost_gone);
    if (ev->why == RELET_WHY_BROKEN)
        SIM_MARK(job_end_unsure);
    if (ev->why == RELET_WHY_TIMEOUT)
        SIM_MARK(job_too_old);
    t->told = 1;
    if (t->state != SIM_TASK_HELD) {
        SIM_MARK(job_too_late);
        t->state = SIM_TASK_NONE;
        return;
    }
    t->state = SIM_TASK_LOST;
    if (t->stubborn)
        return;
    SIM_MARK(job_abandoned);
    sim_hands_later(w, n, desk, t, 0); /* in a separate turn */
}

/* JOB_CANCEL came: the job was cancelled, or takes too long. Its handler ends
 * the job, or, if it is stubborn, goes on. */
static void tasks_unwanted(sim_world *w, sim_node *n, sim_desk *d,
                           const relet_event *ev)
{
    sim_task *t = tasks_find(d, ev->job, ev->token);
    int timeout = ev->why == RELET_WHY_TIMEOUT, right;

    SIM_SAY(w, "n%d: … job %llu, token %llu", n->number,
            (unsigned long long)ev->job, (unsigned long long)ev->token);
    right = t && t->state == SIM_TASK_HELD && t->job != SIM_NOBODYS &&
            (timeout ? t->timeout_us == 0 && t->terms.timeout_ms
                     : t->cancel_us > 0 && !t->asked);
    if (!sim_judges(w, SIM_Q8, sim_tasks_lied_of(n, d, t) ||
                                   (t && t->job != SIM_NOBODYS && !timeout &&
                                    TASKS_LOSSY(w, t->granted_us)), right))
        sim_fail(w, SIM_Q8, "n%d gets JOB_CANCEL for job %llu, which was "
                 "neither cancelled nor too slow, or gets it twice", n->number,
                 (unsigned long long)ev->job);
    if (t == NULL || t->state != SIM_TASK_HELD || w->failed)
        return;
    if (timeout) {
        SIM_MARK(cancelled_by_time);
        t->timeout_us = w->now_us;
    } else {
        SIM_MARK(cancelled_and_told);
        t->asked = 1;
    }
    if (!t->stubborn)
        sim_hands_later(w, n, (int)(d - n->desk), t, 0);
}

uint32_t sim_tasks_in_hand(const sim_desk *d)
{
    uint32_t n = 0;
    int i;

    for (i = 0; i < SIM_TASKS; i++)
        n += d->task[i].state == SIM_TASK_HELD ||
             d->task[i].state == SIM_TASK_LOST;
    return n;
}

/* No worker has more jobs than its room, no team more than its largest room. */
static void tasks_room(sim_world *w, const sim_node *n, const sim_desk *d)
{
    uint32_t many = sim_tasks_in_hand(d), room = d->room, sharing = 0;
    int i;

    for (i = 0; i < SIM_DESKS; i++) {
        const sim_desk *e = &n->desk[i];

        if (e == d || e->serial == 0 || e->team == 0 || e->team != d->team)
            continue;
        sharing++;
        many += sim_tasks_in_hand(e);
        room = room < e->room ? e->room : room;
    }
    if (!sim_holds(w, SIM_Q10, many <= room))
        sim_fail(w, SIM_Q10, "n%d has %u jobs, with room for %u", n->number,
                 many, room);
    if (sharing > 0 && many == room)
        SIM_MARK(team_is_full);
}

/* Returns 1 if no JOB_CANCEL for a time-out is overdue after a turn. */
static int tasks_in_time(const sim_world *w, const sim_node *n,
                         const sim_desk *d, const sim_task *t)
{
    relet_time ms;

    if (t->timeout_us > 0 || t->job == SIM_NOBODYS ||
        sim_tasks_lied_of(n, d, t))
        return 1;
    ms = t->terms.timeout_ms;
    return ms == 0 || w->now_us <= t->told_us + (ms + ms / 100 + 2) * SIM_MS;
}

/* Returns 1 if the node may have given up a claimed job of which it never
 * heard, for lack of memory, for example: it stops asking once the lease has
 * ended by its own clock, which may go faster. */
static int tasks_given_up(const sim_world *w, const sim_node *n,
                          const sim_desk *d, const sim_task *t)
{
    int64_t end_us = t->granted_us + d->lease_ms * SIM_MS * 98 / 100 -
                     2 * SIM_MS - 12 * w->shape.latency_us;

    return w->now_us >= end_us &&
           tasks_hindered(w, n, d, t->granted_us, end_us, 0);
}

static void tasks_over(sim_world *w, sim_node *n, sim_desk *d)
{
    int gave_up = n->config.attempts_max > 0 && !relet_is_up(n->r), i;

    if (!sim_holds(w, SIM_Q12, d->stopping || n->stopping || gave_up))
        sim_fail(w, SIM_Q12, "n%d: a worker has ended without a stop",
                 n->number);
    for (i = 0; i < SIM_TASKS && !n->stopping && !gave_up; i++) {
        const sim_task *t = &d->task[i];

        if (sim_tasks_lied_of(n, d, t))
            continue;

        if (!sim_holds(w, SIM_Q12, t->state != SIM_TASK_HELD &&
                                       t->state != SIM_TASK_LOST))
            sim_fail(w, SIM_Q12, "n%d: a worker has ended before the handler "
                     "of its job %llu", n->number,
                     (unsigned long long)t->number);
        if (t->state == SIM_TASK_ENDED &&
            !sim_holds(w, SIM_Q5, t->accepted || t->told || t->given_back))
            sim_fail(w, SIM_Q5, "n%d ended job %llu too late, and got no "
                     "JOB_LOST", n->number, (unsigned long long)t->number);
        if (t->state == SIM_TASK_GRANTED && !t->accepted &&
            !tasks_given_up(w, n, d, t) &&
            !sim_judges(w, SIM_Q12, t->cut, !tasks_still(w, d, t)))
            sim_fail(w, SIM_Q12, "n%d: a worker has ended, but did not release "
                     "job %llu", n->number, (unsigned long long)t->number);
    }
    SIM_MARK(worker_ended);
    memset(d, 0, sizeof *d);
}

void sim_tasks_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_desk *d = ev->worker >= 0 && ev->worker < SIM_DESKS
                      ? &n->desk[ev->worker]
                      : NULL;

    if (!sim_holds(w, SIM_Q12, d && d->serial > 0 && d->serial == ev->tag)) {
        sim_fail(w, SIM_Q12, "n%d: %s of a worker that has ended", n->number,
                 relet_kind_text(ev->kind));
        return;
    }
    if (ev->kind == RELET_EV_JOBS)
        tasks_told(w, n, d, ev);
    if (ev->kind == RELET_EV_JOBS)
        tasks_room(w, n, d);
    if (ev->kind == RELET_EV_JOB_CANCEL)
        tasks_unwanted(w, n, d, ev);
    if (ev->kind == RELET_EV_JOB_LOST)
        tasks_lost(w, n, d, ev);
    if (ev->kind == RELET_EV_WORKER_ENDED)
        tasks_over(w, n, d);
}

/* No worker believes in a job for longer than a server leased it. */
static void tasks_true(sim_world *w, sim_node *n, int desk, const sim_task *t)
{
    relet_time valid = relet_job_valid_for(n->r, desk, t->number, n->now);
    int64_t until_us = sim_node_world_time(w, n, n->now + valid);

    if (valid > 0 && !sim_holds(w, SIM_Q8, until_us <= t->truth_us))
        sim_fail(w, SIM_Q8, "n%d believes in job %llu for %ld us longer than "
                 "it is leased", n->number, (unsigned long long)t->number,
                 (long)(until_us - t->truth_us));
}

/* After a turn, the node has got JOB_LOST or JOB_CANCEL for each job on which
 * it may not work any more. */
void sim_tasks_turn(sim_world *w, sim_node *n)
{
    int i, j;

    if (w->jobs.serials == 0)
        return;
    sim_waits_turn(w, n);
    for (i = 0; i < SIM_DESKS; i++)
        for (j = 0; n->desk[i].serial && j < SIM_TASKS; j++) {
            const sim_task *t = &n->desk[i].task[j];

            if (t->state == SIM_TASK_HELD &&
                !sim_tasks_lied_of(n, &n->desk[i], t) &&
                !sim_holds(w, SIM_Q8, relet_job_valid_for(n->r, i, t->number,
                                                          n->now) > 0))
                sim_fail(w, SIM_Q8, "n%d got no JOB_LOST for job %llu",
                         n->number, (unsigned long long)t->number);
            if (t->state == SIM_TASK_HELD &&
                !sim_tasks_lied_of(n, &n->desk[i], t))
                tasks_true(w, n, i, t);
            if (t->state == SIM_TASK_HELD &&
                !sim_holds(w, SIM_Q8, tasks_in_time(w, n, &n->desk[i], t)))
                sim_fail(w, SIM_Q8, "n%d got no JOB_CANCEL for the time-out of "
                         "job %llu", n->number, (unsigned long long)t->number);
        }
}

void sim_tasks_gone(sim_world *w, sim_node *n, int crash)
{
    int i;

    for (i = 0; i < SIM_DESKS; i++)
        if (n->desk[i].serial > 0 && !crash)
            sim_fail(w, SIM_Q12, "n%d ends without a WORKER_ENDED", n->number);
    memset(n->desk, 0, sizeof n->desk);
    n->asks_tag = 0;
}
