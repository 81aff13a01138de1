/* SPDX-License-Identifier: MIT
 *
 * hands.c - the handlers of jobs: how long they run, with what effect, and how
 * they end. The rules are listed in verbs.c. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

void sim_hands_later(sim_world *w, const sim_node *n, int desk,
                     const sim_task *t, int64_t us)
{
    sim_due_at(w, w->now_us + us, SIM_TASK, n->number,
               t->key << 1 | (uint64_t)desk);
}

/* Now and then a handler reports its progress. */
static void hands_progress(sim_world *w, sim_node *n, int desk,
                           const sim_task *t)
{
    char text[40];
    int code;

    if (!sim_chance(&n->work, 1, 8))
        return;
    sprintf(text, SIM_TEXT_PROGRESS "%llu", (unsigned long long)t->token);
    code = relet_job_progress(n->r, desk, t->number, relet_str(text));
    if (!sim_judges(w, SIM_Q5, sim_tasks_lied_of(n, &n->desk[desk], t),
                    code == 0 || code == RELET_E_LIMIT ||
                        code == RELET_E_MEMORY))
        sim_fail(w, SIM_Q5, "n%d has job %llu, but its relet_job_progress "
                 "returned %d", n->number, (unsigned long long)t->number, code);
    SIM_MARK(job_progress);
}

void sim_hands_begin(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    relet_time lease = n->desk[desk].lease_ms, ms;
    uint32_t kind = sim_choose(&n->work, 20);

    t->state = SIM_TASK_HELD;
    t->told_us = w->now_us;
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
    if (t->job != SIM_NOBODYS)
        sim_jobs_begun(w, &w->jobs.job[t->job]);
    if (sim_waits_keeps(w, t->job, SIM_WAIT_DEAD))
        ms = SIM_JOB_LEASE_MAX_MS;
    t->end_us = w->now_us + ms * SIM_MS;
    sim_hands_later(w, n, desk, t, ms * SIM_MS);
}

/* A handler looks at the clock, then acts; its deed arrives later. */
static void hands_act(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    sim_deed *e = &w->jobs.deed[w->jobs.deeds % SIM_DEEDS];

    if (t->job == SIM_NOBODYS || t->acted ||
        sim_tasks_lied_of(n, &n->desk[desk], t))
        return;
    t->acted = 1;
    if (relet_job_valid_for(n->r, desk, t->number, n->now) == 0) {
        SIM_MARK(deed_held_back);
        return;
    }
    if (!sim_holds(w, SIM_Q8, w->now_us <= t->truth_us))
        sim_fail(w, SIM_Q8, "n%d works on job %llu %ld us after its lease",
                 n->number, (unsigned long long)t->number,
                 (long)(w->now_us - t->truth_us));
    e->job = t->job;
    e->token = t->token;
    e->serial = n->desk[desk].serial;
    sim_due_at(w, w->now_us + sim_spread(&n->work, 0, 3 * SIM_S), SIM_DEED,
               n->number, w->jobs.deeds++);
}

void sim_hands_arrives(sim_world *w, uint64_t which)
{
    const sim_deed *e = &w->jobs.deed[which % SIM_DEEDS];
    sim_job *j = &w->jobs.job[e->job];

    if (which + SIM_DEEDS < w->jobs.deeds)
        return;
    if (e->token < j->top) {
        SIM_MARK(deed_refused);
        return;
    }
    if (!sim_tasks_twice(w, j->queue, e->token) &&
        !sim_holds(w, SIM_Q4, e->token > j->top))
        sim_fail(w, SIM_Q4, "two deeds for one job have token %llu",
                 (unsigned long long)e->token);
    j->top = e->token;
    j->top_serial = e->serial;
}

static int hands_fail(sim_world *w, sim_node *n, int desk, sim_task *t,
                      uint32_t how)
{
    relet_failure f;
    char text[48];

    memset(&f, 0, sizeof f);
    sprintf(text, SIM_TEXT_ERROR "%llu", (unsigned long long)t->token);
    f.text = relet_str(text);
    f.verdict = how < 14 || w->phase > SIM_CHAOS ? RELET_RETRY
                : how < 16                       ? RELET_SNOOZE
                                                 : RELET_BURY;
    if (f.verdict == RELET_SNOOZE || sim_chance(&n->work, 1, 3))
        f.delay_ms = sim_spread(&n->work, 1, SIM_JOB_WAIT_MAX_MS);
    t->delay_ms = f.delay_ms;
    if (f.verdict == RELET_BURY && t->job != SIM_NOBODYS) {
        sim_job *j = &w->jobs.job[t->job];

        j->buried[j->burials++ % SIM_BURIALS] = t->token;
    }
    return relet_job_fail(n->r, desk, t->number, &f);
}

static int hands_end(sim_world *w, sim_node *n, int desk, sim_task *t)
{
    uint32_t how = sim_choose(&n->work, 20);
    int back = sim_waits_keeps(w, t->job, SIM_WAIT_RELEASED);
    char text[40];

    SIM_SAY(w, "n%d ends job %llu, %u", n->number,
            (unsigned long long)t->number, how);
    sprintf(text, SIM_TEXT_RESULT "%llu", (unsigned long long)t->token);
    if (how < 11 && !back)
        return relet_job_done(n->r, desk, t->number, relet_str(text));
    if (how < 17 && !back)
        return hands_fail(w, n, desk, t, how);
    if (w->phase > SIM_CHAOS && !back)
        return relet_job_done(n->r, desk, t->number, relet_str(text));
    t->given_back = t->state == SIM_TASK_HELD;
    return relet_job_release(n->r, desk, t->number);
}

static void hands_ended(sim_world *w, sim_node *n, int desk, sim_task *t,
                        int code);

/* The other jobs of the worker are released in the same turn, so they go back
 * together. */
static void hands_give_back_all(sim_world *w, sim_node *n, int desk)
{
    int i;

    for (i = 0; i < SIM_TASKS && !w->failed; i++) {
        sim_task *t = &n->desk[desk].task[i];

        if (t->state != SIM_TASK_HELD)
            continue;
        t->given_back = 1;
        hands_ended(w, n, desk, t, relet_job_release(n->r, desk, t->number));
    }
}

/* Judges the code by which the library answered the end of a job. */
static void hands_ended(sim_world *w, sim_node *n, int desk, sim_task *t,
                        int code)
{
    if (code == RELET_E_LIMIT || code == RELET_E_MEMORY) {
        sim_hands_later(w, n, desk, t, 20 * SIM_MS);
        return;
    }
    if (code < 0)
        t->given_back = 0;
    if (!sim_judges(w, SIM_Q5, sim_tasks_lied_of(n, &n->desk[desk], t),
                    code == 0))
        sim_fail(w, SIM_Q5, "n%d was given job %llu, but ending it returned %d",
                 n->number, (unsigned long long)t->number, code);
    if (t->state == SIM_TASK_LOST)
        SIM_MARK(lost_and_ended);
    t->state = t->state == SIM_TASK_HELD ? SIM_TASK_ENDED : SIM_TASK_NONE;
    t->key = 0;
    t->seen_us = w->now_us;
}

void sim_hands_due(sim_world *w, sim_node *n, uint64_t which)
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
            sim_hands_later(w, n, desk, t, 20 * SIM_MS);
        return;
    }
    n->now = sim_node_clock(w, n);
    if (t->state == SIM_TASK_HELD)
        hands_progress(w, n, desk, t);
    hands_act(w, n, desk, t);
    if (!w->failed && t->state == SIM_TASK_LOST && !t->stubborn)
        hands_ended(w, n, desk, t, relet_job_release(n->r, desk, t->number));
    else if (!w->failed)
        hands_ended(w, n, desk, t, hands_end(w, n, desk, t));
    if (!w->failed && t->state == SIM_TASK_ENDED && t->given_back &&
        w->phase <= SIM_CHAOS && sim_chance(&n->work, 1, 2))
        hands_give_back_all(w, n, desk);
    sim_node_turn(w, n);
}
