/* SPDX-License-Identifier: MIT
 *
 * tasks.c - jobs at the nodes that work on them: what servers leased to whom,
 * what nodes were told, what their handlers did, and when that was right. The
 * rules are listed in verbs.c. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define TASKS_NOBODYS UINT32_MAX /* a job that a server made up              */

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

/* Whose it is, at any node, of the queue that a script is about; *n, *desk:
 * where. */
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

/* The first free one, or else the one that was heard of least recently. */
static sim_task *tasks_new(sim_desk *d)
{
    sim_task *old = NULL;
    int i;

    for (i = 0; i < SIM_TASKS; i++) {
        sim_task *t = &d->task[i];

        if (t->state == SIM_TASK_NONE)
            return t;
        if ((t->state == SIM_TASK_GRANTED || t->state == SIM_TASK_ENDED) &&
            (old == NULL || t->ran_us < old->ran_us))
            old = t;
    }
    return old;
}

/* Nothing can be told from its tokens: it was lied to, or servers began them
 * again. */
static int tasks_lied(const sim_node *n, const sim_desk *d)
{
    return d->lied || n->ever_lied || n->world->jobs.twice[d->queue];
}

/* ------------------------------------------------------------------- belief */

/* Whether what happened since allows that a belief is wrong. */
static int tasks_excused(sim_world *w, const sim_task *t)
{
    (void)sim_claims_two_masters(w);
    return t->ran_us <= w->leases.void_us[SIM_VOID_TIME] ||
           TASKS_LOSSY(w, t->ran_us);
}

static int tasks_believes(sim_world *w, const sim_node *n, int desk,
                          const sim_task *t)
{
    if (!n->running || t->state != SIM_TASK_HELD ||
        tasks_lied(n, &n->desk[desk]))
        return 0;
    return relet_job_valid_for(n->r, desk, t->number,
                               sim_node_clock(w, n)) > 2;
}

static void tasks_alone(sim_world *w, uint32_t job, uint64_t token)
{
    int i, j, k;

    w->checked[SIM_Q7]++;
    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_DESKS; j++)
            for (k = 0; k < SIM_TASKS; k++) {
                const sim_task *t = &w->node[i].desk[j].task[k];

                if (t->job == job && t->token != token &&
                    t->state == SIM_TASK_HELD &&
                    tasks_believes(w, &w->node[i], j, t) &&
                    !tasks_excused(w, t))
                    sim_fail(w, SIM_Q7, "job %llu is leased again while n%d "
                             "believes in it", (unsigned long long)t->number,
                             i);
            }
}

/* -------------------------------------------------------------- at a server */

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
    t = tasks_find(d, number, p->token); /* where servers forgot it       */
    if (t && (t->state == SIM_TASK_HELD || t->state == SIM_TASK_LOST))
        return;
    if (t == NULL && (t = tasks_new(d)) == NULL)
        return;
    memset(t, 0, sizeof *t);
    t->state = SIM_TASK_GRANTED;
    t->number = number;
    t->token = p->token;
    t->job = p->job ? p->job - 1 : TASKS_NOBODYS;
    t->granted_us = t->ran_us = w->now_us;
    t->truth_us = w->now_us + run->lease_ms * SIM_MS;
}

void sim_tasks_renewed(sim_world *w, const sim_step *run, uint64_t number,
                       uint64_t token)
{
    sim_node *n;
    int desk;
    sim_task *t = tasks_of(w, number, token, &n, &desk);

    SIM_MARK(job_renewed);
    if (t == NULL)
        return;
    if (n->desk[desk].stopping)
        SIM_MARK(job_renewed_while_stopping);
    t->ran_us = w->now_us;
    t->truth_us = w->now_us + run->lease_ms * SIM_MS;
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
        !tasks_lied(n, &n->desk[desk]))
        sim_fail(w, SIM_Q5, "n%d ends job %llu, and was not told of it",
                 n->number, (unsigned long long)number);
    t->accepted = 1;
}

void sim_tasks_taken(sim_world *w, uint64_t number, uint64_t token)
{
    sim_node *n;
    int desk;
    sim_task *t = tasks_of(w, number, token, &n, &desk);

    w->checked[SIM_Q7]++;
    if (t && tasks_believes(w, n, desk, t) && !tasks_excused(w, t))
        sim_fail(w, SIM_Q7, "job %llu is relet while n%d believes in it",
                 (unsigned long long)number, n->number);
    if (t == NULL || t->state != SIM_TASK_GRANTED)
        return;
    SIM_MARK(stalled_unheard);
    if (!tasks_lied(n, &n->desk[desk]) && n->running &&
        !sim_holds(w, SIM_Q7, n->disturbed_us >= t->granted_us))
        sim_fail(w, SIM_Q7, "n%d was never told of job %llu, and nothing was "
                 "wrong", n->number, (unsigned long long)number);
}

/* ----------------------------------------------------------------- handlers */

static void tasks_later(sim_world *w, const sim_node *n, int desk,
                        const sim_task *t, int64_t us)
{
    sim_due_at(w, w->now_us + us, SIM_TASK, n->number,
               t->key << 1 | (uint64_t)desk);
}

static void tasks_begin(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    relet_time lease = n->desk[desk].lease_ms, ms;
    uint32_t kind = sim_choose(&n->work, 20);

    t->state = SIM_TASK_HELD;
    t->key = ++w->jobs.keys;
    t->stubborn = (uint8_t)sim_chance(&n->work, 1, 3);
    if (w->phase > SIM_CHAOS || kind < 10)
        ms = sim_spread(&n->work, 0, 100);
    else if (kind < 16)
        ms = sim_spread(&n->work, 1, lease);
    else
        ms = sim_even(&n->work, lease, 3 * lease);
    if (ms > 2 * lease && kind >= 16)
        SIM_MARK(job_slow);
    if (t->job != TASKS_NOBODYS)
        w->jobs.job[t->job].starts++;
    if (sim_waits_keeps(w, t->job, SIM_WAIT_DEAD))
        ms = SIM_JOB_LEASE_MAX_MS;
    t->end_us = w->now_us + ms * SIM_MS;
    tasks_later(w, n, desk, t, ms * SIM_MS);
}

/* Look at the clock, then act; it arrives later. */
static void tasks_act(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    sim_deed *e = &w->jobs.deed[w->jobs.deeds % SIM_DEEDS];

    if (t->job == TASKS_NOBODYS || t->acted || tasks_lied(n, &n->desk[desk]))
        return;
    t->acted = 1;
    if (relet_job_valid_for(n->r, desk, t->number, n->now) == 0) {
        SIM_MARK(deed_held_back);
        return;
    }
    if (!sim_holds(w, SIM_Q8, w->now_us <= t->truth_us))
        sim_fail(w, SIM_Q8, "n%d works on job %llu, %ld us after its end",
                 n->number, (unsigned long long)t->number,
                 (long)(w->now_us - t->truth_us));
    e->job = t->job;
    e->token = t->token;
    e->serial = n->desk[desk].serial;
    sim_due_at(w, w->now_us + sim_spread(&n->work, 0, 3 * SIM_S), SIM_DEED,
               n->number, w->jobs.deeds++);
}

void sim_tasks_arrives(sim_world *w, uint64_t which)
{
    const sim_deed *e = &w->jobs.deed[which % SIM_DEEDS];
    sim_job *j = &w->jobs.job[e->job];

    if (which + SIM_DEEDS < w->jobs.deeds)
        return;
    if (e->token < j->top) {
        SIM_MARK(deed_refused);
        return;
    }
    if (!w->jobs.twice[j->queue] &&
        !sim_holds(w, SIM_Q4, e->token > j->top))
        sim_fail(w, SIM_Q4, "a job is worked on twice under token %llu",
                 (unsigned long long)e->token);
    j->top = e->token;
    j->top_serial = e->serial;
}

static int tasks_fail(sim_world *w, sim_node *n, int desk, const sim_task *t,
                      uint32_t how)
{
    relet_failure f;

    memset(&f, 0, sizeof f);
    f.text = relet_str("it did not work");
    f.verdict = how < 14 || w->phase > SIM_CHAOS ? RELET_RETRY
                : how < 16                       ? RELET_SNOOZE
                                                 : RELET_BURY;
    if (f.verdict == RELET_SNOOZE || sim_chance(&n->work, 1, 3))
        f.delay_ms = sim_spread(&n->work, 1, SIM_JOB_WAIT_MAX_MS);
    if (f.verdict == RELET_BURY && t->job != TASKS_NOBODYS)
        w->jobs.job[t->job].buried = 1;
    return relet_job_fail(n->r, desk, t->number, &f);
}

static int tasks_end(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    uint32_t how = sim_choose(&n->work, 20);
    int back = sim_waits_keeps(w, t->job, SIM_WAIT_RELEASED);

    SIM_SAY(w, "n%d ends job %llu, %u", n->number,
            (unsigned long long)t->number, how);
    if (how < 11 && !back)
        return relet_job_done(n->r, desk, t->number, relet_str("fine"));
    if (how < 17 && !back)
        return tasks_fail(w, n, desk, t, how);
    if (w->phase > SIM_CHAOS && !back)
        return relet_job_done(n->r, desk, t->number, relet_str(""));
    t->given_back = t->state == SIM_TASK_HELD;
    return relet_job_release(n->r, desk, t->number);
}

/* How it went, as the library says. */
static void tasks_ended(sim_world *w, sim_node *n, int desk, sim_task *t,
                        int code)
{
    if (code == RELET_E_LIMIT || code == RELET_E_MEMORY) {
        tasks_later(w, n, desk, t, 20 * SIM_MS);
        return;
    }
    if (code < 0)
        t->given_back = 0;
    if (!sim_holds(w, SIM_Q5, code == 0 || tasks_lied(n, &n->desk[desk])))
        sim_fail(w, SIM_Q5, "n%d cannot end job %llu, which it was told: %d",
                 n->number, (unsigned long long)t->number, code);
    if (t->state == SIM_TASK_LOST)
        SIM_MARK(lost_and_ended);
    t->state = t->state == SIM_TASK_HELD ? SIM_TASK_ENDED : SIM_TASK_NONE;
    t->key = 0;
}

void sim_tasks_due(sim_world *w, sim_node *n, uint64_t which)
{
    int desk = (int)(which & 1), i;
    sim_task *t = NULL;

    for (i = 0; i < SIM_TASKS; i++)
        if (n->desk[desk].task[i].key == which >> 1)
            t = &n->desk[desk].task[i];
    if (t == NULL || !n->running || n->desk[desk].serial == 0 ||
        (t->state != SIM_TASK_HELD && t->state != SIM_TASK_LOST))
        return;
    if (n->paused) {
        if (n->lost != SIM_STUCK)
            tasks_later(w, n, desk, t, 20 * SIM_MS);
        return;
    }
    n->now = sim_node_clock(w, n);
    tasks_act(w, n, desk, t);
    if (!w->failed && t->state == SIM_TASK_LOST && !t->stubborn)
        tasks_ended(w, n, desk, t, relet_job_release(n->r, desk, t->number));
    else if (!w->failed)
        tasks_ended(w, n, desk, t, tasks_end(w, n, desk, t));
    sim_node_turn(w, n);
}

/* ---------------------------------------------------------------- at a node */

static void tasks_told(sim_world *w, sim_node *n, sim_desk *d,
                       const relet_event *ev)
{
    relet_work work;
    size_t at = 0;
    sim_task *t;

    if (!sim_holds(w, SIM_Q12, !d->stopping || tasks_lied(n, d)))
        sim_fail(w, SIM_Q12, "n%d is told of jobs after it has stopped",
                 n->number);
    while (relet_jobs_next(n->r, ev, &at, &work)) {
        t = tasks_find(d, work.number, work.token);
        SIM_SAY(w, "n%d: … job %llu, token %llu, attempt %u", n->number,
                (unsigned long long)work.number,
                (unsigned long long)work.token, work.attempt);
        if (!sim_holds(w, SIM_Q4, tasks_lied(n, d) ||
                                      (t && t->state == SIM_TASK_GRANTED)))
            sim_fail(w, SIM_Q4, "n%d is told of job %llu, which is not newly "
                     "leased to it", n->number,
                     (unsigned long long)work.number);
        if (t && t->state == SIM_TASK_GRANTED && !tasks_lied(n, d) &&
            !sim_holds(w, SIM_Q2,
                       sim_ledger_job(w, work.job.payload) == t->job + 1))
            sim_fail(w, SIM_Q2, "n%d is told of job %llu with another's bytes",
                     n->number, (unsigned long long)work.number);
        if (t == NULL && tasks_lied(n, d) && (t = tasks_new(d)) != NULL) {
            memset(t, 0, sizeof *t);
            t->number = work.number;
            t->token = work.token;
            t->job = TASKS_NOBODYS;
            w->jobs.lied = 1;
        }
        if (t && !tasks_lied(n, d) &&
            !sim_holds(w, SIM_Q8, relet_job_valid_for(n->r, ev->lease,
                                                      work.number, n->now) > 0))
            sim_fail(w, SIM_Q8, "n%d is told of job %llu after its end",
                     n->number, (unsigned long long)work.number);
        if (t && t->state <= SIM_TASK_GRANTED)
            tasks_begin(w, n, (int)(d - n->desk), t);
        if (t && t->job != TASKS_NOBODYS)
            sim_waits_begun(w, n, t->job);
        if (w->failed)
            return;
    }
}

/* The store that a loss is judged by says that the lease goes on. */
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

static void tasks_lost_rightly(sim_world *w, sim_node *n, const sim_desk *d,
                               const sim_task *t, const relet_event *ev)
{
    int server = ev->why == RELET_WHY_TAKEN || ev->why == RELET_WHY_GONE;

    if (server && !sim_holds(w, SIM_Q5, !tasks_still(w, d, t)))
        sim_fail(w, SIM_Q5, "n%d is told that job %llu is lost, which it has",
                 n->number, (unsigned long long)t->number);
    if (server && t->accepted && !TASKS_LOSSY(w, t->granted_us) &&
        !sim_holds(w, SIM_Q5, 0))
        sim_fail(w, SIM_Q5, "n%d is told that job %llu is lost, which it ended",
                 n->number, (unsigned long long)t->number);
    if (ev->why == RELET_WHY_EXPIRED && t->state == SIM_TASK_HELD &&
        !sim_holds(w, SIM_Q7, n->disturbed_us >= t->ran_us))
        sim_fail(w, SIM_Q7, "n%d loses job %llu, and nothing was wrong",
                 n->number, (unsigned long long)t->number);
}

static void tasks_lost(sim_world *w, sim_node *n, sim_desk *d,
                       const relet_event *ev)
{
    sim_task *t = tasks_find(d, ev->term, ev->token);
    int desk = (int)(d - n->desk);

    SIM_SAY(w, "n%d: … job %llu, token %llu", n->number,
            (unsigned long long)ev->term, (unsigned long long)ev->token);
    if (!sim_holds(w, SIM_Q5, tasks_lied(n, d) ||
                                  (t && (t->state == SIM_TASK_HELD ||
                                         t->state == SIM_TASK_ENDED) &&
                                   !t->told) ||
                                  (t && t->state == SIM_TASK_GRANTED)))
        sim_fail(w, SIM_Q5, "n%d is told that job %llu is lost, which it did "
                 "not have", n->number, (unsigned long long)ev->term);
    if (t == NULL || w->failed)
        return;
    if (!tasks_lied(n, d))
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
    tasks_later(w, n, desk, t, 0); /* in a turn of its own                 */
}

static void tasks_over(sim_world *w, sim_node *n, sim_desk *d)
{
    int gave_up = n->config.attempts_max > 0 && !relet_is_up(n->r), i;

    if (!sim_holds(w, SIM_Q12, d->stopping || n->stopping || gave_up))
        sim_fail(w, SIM_Q12, "n%d: a worker has ended, and nobody stopped it",
                 n->number);
    for (i = 0; i < SIM_TASKS && !tasks_lied(n, d) && !n->stopping && !gave_up;
         i++) {
        const sim_task *t = &d->task[i];

        if (!sim_holds(w, SIM_Q12, t->state != SIM_TASK_HELD &&
                                       t->state != SIM_TASK_LOST))
            sim_fail(w, SIM_Q12, "n%d: a worker has ended, and job %llu has "
                     "not", n->number, (unsigned long long)t->number);
        if (t->state == SIM_TASK_ENDED &&
            !sim_holds(w, SIM_Q5, t->accepted || t->told || t->given_back))
            sim_fail(w, SIM_Q5, "n%d was not told that job %llu came too late",
                     n->number, (unsigned long long)t->number);
        if (t->state == SIM_TASK_GRANTED && !t->accepted &&
            !sim_holds(w, SIM_Q12, !tasks_still(w, d, t)))
            sim_fail(w, SIM_Q12, "n%d has ended, and did not give job %llu "
                     "back", n->number, (unsigned long long)t->number);
    }
    SIM_MARK(worker_ended);
    memset(d, 0, sizeof *d);
}

void sim_tasks_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_desk *d = ev->lease >= 0 && ev->lease < SIM_DESKS
                      ? &n->desk[ev->lease]
                      : NULL;

    if (!sim_holds(w, SIM_Q12, d && d->serial > 0 && d->serial == ev->tag)) {
        sim_fail(w, SIM_Q12, "n%d: %s of a worker that is over", n->number,
                 relet_kind_text(ev->kind));
        return;
    }
    d->lied |= (uint8_t)(n->ever_lied != 0);
    w->jobs.lied |= n->ever_lied;
    if (ev->kind == RELET_JOBS)
        tasks_told(w, n, d, ev);
    if (ev->kind == RELET_JOB_LOST)
        tasks_lost(w, n, d, ev);
    if (ev->kind == RELET_WORKER_ENDED)
        tasks_over(w, n, d);
}

/* Behind a turn nobody has a job that he may not work on, and was not told. */
void sim_tasks_turn(sim_world *w, sim_node *n)
{
    int i, j;

    if (w->jobs.serials == 0)
        return;
    for (i = 0; i < SIM_DESKS; i++)
        for (j = 0; n->desk[i].serial && j < SIM_TASKS; j++) {
            const sim_task *t = &n->desk[i].task[j];

            if (t->state == SIM_TASK_HELD && !tasks_lied(n, &n->desk[i]) &&
                !sim_holds(w, SIM_Q8, relet_job_valid_for(n->r, i, t->number,
                                                          n->now) > 0))
                sim_fail(w, SIM_Q8, "n%d was not told that job %llu is lost",
                         n->number, (unsigned long long)t->number);
        }
}

void sim_tasks_gone(sim_world *w, sim_node *n, int crash)
{
    int i;

    for (i = 0; i < SIM_DESKS; i++)
        if (n->desk[i].serial > 0 && !crash)
            sim_fail(w, SIM_Q12, "n%d: a worker has not ended", n->number);
    memset(n->desk, 0, sizeof n->desk);
}
