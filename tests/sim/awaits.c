/* SPDX-License-Identifier: MIT
 *
 * awaits.c - a node that puts a job and waits for its end. It runs the put wait
 * of src/driver/put_wait.h step by step, and does nothing else meanwhile.
 *
 *   Q2   the end that the node is told is one that a server gave to that job
 *   Q11  an end that came in time is told at once, if nothing was wrong
 *   R8   the wait ends by its deadline, plus two seconds for the put and one
 *        for a look */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define AWAITS_LAST_MS 1000  /* after the deadline: the put, and then a look  */
#define AWAITS_KEEP_MS 60000 /* the job's keep_ms, if none was drawn         */
#define AWAITS_MORE_US (4200 * SIM_MS) /* after a pause, for unread answers   */

/* An end is published and looked up over one link: two round trips. */
#define AWAITS_WAY_US(w) (120 * (w)->shape.latency_us + 400 * SIM_MS)

int sim_awaits_channel(relet_span name)
{
    size_t i;

    for (i = 32; i + 5 < name.n; i++)
        if (memcmp(name.p + i, ":end:", 5) == 0)
            return 1;
    return 0;
}

/* In some runs the last node does nothing but put jobs and wait for them. */
void sim_awaits_start(sim_world *w, sim_node *n)
{
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 6001);
    n->await.alone = sim_chance(&st, 1, 6) && w->shape.nodes > 1 &&
                     n->number == w->shape.nodes - 1;
}

/* ------------------------------------------------------------ how jobs end */

void sim_awaits_touched(sim_world *w, const sim_touch *t, const sim_place *p)
{
    uint32_t job = t->was.job ? t->was.job : p->job;
    sim_job *j = job ? &w->jobs.job[job - 1] : NULL;

    if (j == NULL)
        return;
    if (!p->record && t->was.record)
        j->gone_us = w->now_us;
    else if ((p->letter != 'D' && p->letter != 'X') ||
             (p->letter == t->was.letter && p->text == t->was.text))
        return;
    else
        j->ends[j->ended++ % SIM_ENDS] = p->text;
    if (j->ended_us == 0)
        j->ended_us = w->now_us;
}

static uint64_t awaits_digest(const relet_job_info *end)
{
    char text[160];
    relet_span s = end->place == RELET_AT_DONE ? end->result : end->error;

    text[0] = end->place == RELET_AT_DONE ? 'd' : 'x';
    if (s.n >= sizeof text)
        return 0;
    if (s.n > 0)
        memcpy(text + 1, s.p, s.n);
    s.p = text;
    s.n++;
    return sim_ledger_digest(s);
}

/* Returns 1 if the job has ended in this way at some time. */
static int awaits_ended(const sim_job *j, const relet_job_info *end)
{
    uint64_t digest = awaits_digest(end);
    uint32_t i;

    if (end->place == RELET_AT_NOWHERE)
        return j->gone_us > 0;
    for (i = 0; i < SIM_ENDS && i < j->ended; i++)
        if (j->ends[i] == digest)
            return 1;
    return 0;
}

static int awaits_is_true(const sim_world *w, const sim_await *a)
{
    uint32_t i;

    for (i = 0; i < w->jobs.jobs; i++) {
        const sim_job *j = &w->jobs.job[i];

        if (j->queue == a->queue &&
            (j->number[0] == a->end.work.number ||
             j->number[1] == a->end.work.number) &&
            awaits_ended(j, &a->end))
            return 1;
    }
    return 0;
}

/* -------------------------------------------------------- the end of a wait */

/* Returns 1 if, since the wait began, a server lied to the node, lost writes,
 * or cut a script. */
static int awaits_blind(sim_world *w, const sim_node *n, const sim_await *a)
{
    (void)sim_claims_two_masters(w);
    return n->lied || (n->ever_lied && n->lied_us >= a->from_us) ||
           w->jobs.cuts > a->cuts ||
           w->leases.void_us[SIM_VOID_COPY] >= a->from_us ||
           w->leases.void_us[SIM_VOID_DISK] >= a->from_us;
}

static void awaits_end(sim_world *w, sim_node *n, const relet_event *ev)
{
    const sim_await *a = &n->await;
    const sim_job *j = &w->jobs.job[a->job];

    if (a->end.place == RELET_AT_NOWHERE)
        SIM_MARK(await_gone);
    else if (ev->kind == RELET_EV_MESSAGE)
        SIM_MARK(await_heard);
    else
        SIM_MARK(await_found);
    if (!sim_judges(w, SIM_Q2, awaits_blind(w, n, a), awaits_is_true(w, a)))
        sim_fail(w, SIM_Q2, "n%d is told an end of job %llu of q%d that no "
                 "server gave to the job: place %d", n->number,
                 (unsigned long long)a->end.work.number, a->queue,
                 (int)a->end.place);
    if (!w->failed && a->end.place != RELET_AT_NOWHERE && !j->stands_in &&
        j->ended_us > 0 && /* 0: a job of the same id took its place          */
        !sim_judges(w, SIM_Q11,
                    awaits_blind(w, n, a) || sim_disturbed(w, n, a->from_us),
                    w->now_us <= j->ended_us + AWAITS_WAY_US(w)))
        sim_fail(w, SIM_Q11, "n%d was told late that job %llu of q%d has ended",
                 n->number, (unsigned long long)a->end.work.number, a->queue);
}

/* The wait has timed out; the job was put, and may go on. If it has ended, the
 * end came too late to be told before the time was up. */
static void awaits_time_out(sim_world *w, sim_node *n)
{
    sim_await *a = &n->await;
    const sim_job *j = &w->jobs.job[a->job];
    int64_t up_us = w->now_us - (n->now - a->until) * SIM_MS;
    int in_time;

    SIM_MARK(await_timed_out);
    in_time = !j->stands_in && j->ended_us > 0 &&
              j->ended_us + AWAITS_WAY_US(w) < up_us;
    if (!sim_holds(w, SIM_R8, n->now >= a->until))
        sim_fail(w, SIM_R8, "n%d ends its wait before the deadline", n->number);
    if (!w->failed &&
        !sim_holds(w, SIM_Q2, a->machine.number > 0))
        sim_fail(w, SIM_Q2, "n%d is not told the number of the job for whose "
                 "end it waits", n->number);
    if (!w->failed && !sim_judges(w, SIM_Q11,
                                  awaits_blind(w, n, a) ||
                                      sim_disturbed(w, n, a->from_us),
                                  !in_time))
        sim_fail(w, SIM_Q11, "n%d was not told that job %llu of q%d has ended",
                 n->number, (unsigned long long)a->machine.number, a->queue);
}

/* The wait gives up its last look. No event reports that. */
static void awaits_forget_look(sim_world *w, sim_node *n)
{
    sim_op *op = sim_op_of(w, n->await.machine.look_tag);

    if (n->await.machine.looks && op->outcome == RELET_EV_NOTHING) {
        op->outcome = RELET_EV_UNSURE;
        n->open_ops--;
        n->owed = 1;
    }
}

/* code: as rlt_put_wait_event returns it; below 0: the time is up. */
static void awaits_over(sim_world *w, sim_node *n, int code,
                        const relet_event *ev)
{
    sim_await *a = &n->await;

    rlt_put_wait_finish(&a->machine, code >= 0);
    SIM_SAY(w, "n%d waits no more for job %llu of q%d: %s", n->number,
            (unsigned long long)a->end.work.number, a->queue,
            code > 0 ? "it has ended" : code < 0 ? "time is up" : "not put");
    if (code > 0)
        awaits_end(w, n, ev);
    else if (code < 0)
        awaits_time_out(w, n);
    else
        SIM_MARK(await_unput);
    if (code >= 0)
        awaits_forget_look(w, n);
    a->on = 0;
}

/* ----------------------------------------------------- the steps of a wait */

/* Gives a tag to the look that the next call may send. Returns 1 if a look is
 * under way already. */
static uint32_t awaits_before(sim_world *w, sim_node *n)
{
    if (!n->await.machine.looks)
        n->await.machine.look_tag = sim_judge_next_tag(w, n);
    return n->await.machine.looks != 0;
}

static void awaits_after(sim_world *w, sim_node *n, uint32_t looked)
{
    relet_request q;

    if (looked)
        return;
    memset(&q, 0, sizeof q);
    q.tag = n->await.machine.look_tag;
    q.flags = RELET_REPEATABLE;
    if (!n->await.machine.looks) {
        n->ops_n--;
        return;
    }
    sim_judge_submitted(w, n, &q, 0, 0);
    sim_op_of(w, q.tag)->unseen = 1;
}

void sim_awaits_step(sim_world *w, sim_node *n)
{
    sim_await *a = &n->await;
    sim_job *j = &w->jobs.job[w->jobs.jobs];
    char payload[32], id[8];
    relet_job job;
    relet_request q;
    relet_time ms;
    int code;

    if (a->on || n->open_ops > 0 || n->stopping ||
        w->jobs.jobs == SIM_JOBS_MAX)
        return;
    ms = sim_chance(&n->work, 1, 8) ? 0 : sim_spread(&n->work, 1, 12000);
    a->queue = (int)sim_choose(&n->work, 1 + w->shape.ops % SIM_QUEUES);
    memset(&q, 0, sizeof q);
    q.tag = sim_judge_next_tag(w, n);
    q.timeout_ms = ms + AWAITS_LAST_MS;
    q.flags = RELET_REPEATABLE; /* as every put */
    memset(j, 0, sizeof *j);
    j->queue = a->queue;
    j->tag = q.tag;
    sim_jobs_draw(n, -1, &job, j, id);
    job.payload = sim_jobs_payload(payload, q.tag, 0);
    j->terms.reply = 2;
    if (j->terms.keep_ms == 0)
        j->terms.keep_ms = AWAITS_KEEP_MS;
    a->job = w->jobs.jobs;
    a->cuts = w->jobs.cuts;
    a->from_us = w->now_us;
    a->until = n->now + ms;
    a->over_us = w->now_us + ms * 1010 + AWAITS_MORE_US;
    a->machine.put_tag = q.tag;
    a->machine.look_tag = 0;
    code = rlt_put_wait_start(&a->machine, n->r,
                              relet_str(sim_jobs_queue(a->queue)), &job,
                              &a->end, n->now, ms);
    sim_judge_submitted(w, n, &q, code, 0);
    if (code < 0) {
        rlt_put_wait_finish(&a->machine, 0);
        return;
    }
    sim_op_of(w, q.tag)->jobs_from = w->jobs.jobs++;
    sim_op_of(w, q.tag)->jobs_n = 1;
    a->on = 1;
    SIM_SAY(w, "n%d waits for the end of what it puts in q%d, for %ld ms",
            n->number, a->queue, (long)ms);
}

void sim_awaits_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_await *a = &n->await;
    uint32_t looked;
    int code;

    if (!a->on)
        return;
    looked = awaits_before(w, n);
    code = rlt_put_wait_event(&a->machine, ev, n->now);
    awaits_after(w, n, looked);
    if (w->jobs.job[a->job].stands_in)
        SIM_MARK(await_of_another);
    if (code >= 0)
        awaits_over(w, n, code, ev);
}

/* Runs after the events of a turn: the wait may time out, or send a look. */
int sim_awaits_turn(sim_world *w, sim_node *n)
{
    sim_await *a = &n->await;
    relet_time due;
    uint32_t looked;
    int over;

    if (!a->on || w->failed)
        return 0;
    due = rlt_put_wait_deadline(&a->machine);
    looked = awaits_before(w, n);
    over = rlt_put_wait_tick(&a->machine, n->now);
    awaits_after(w, n, looked);
    if (!sim_judges(w, SIM_R8, w->now_us - n->resumed_us < AWAITS_MORE_US,
                    over || w->now_us <= a->over_us))
        sim_fail(w, SIM_R8, "n%d waits beyond the deadline of its wait",
                 n->number);
    if (over)
        awaits_over(w, n, -1, NULL);
    return over || due <= n->now;
}
