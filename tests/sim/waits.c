/* SPDX-License-Identifier: MIT
 *
 * waits.c - Q11: no job waits while a worker of its queue sleeps, if nothing is
 * wrong. After the healing this is tried in each way of sim_wait in turn: a job
 * begins to wait while all workers sleep. A handler must begin with the job as
 * soon as some round trips allow, not when a worker polls. */
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define WAITS_SETTLE_US (3 * SIM_S)

/* Some round trips, and as many turns. */
static int64_t waits_ways(const sim_world *w)
{
    return 60 * w->shape.latency_us + 400 * SIM_MS;
}

/* Each node can be told of a new job at once. */
static int waits_all_hear(sim_world *w)
{
    int i;

    for (i = 0; i < w->shape.nodes; i++)
        if (w->node[i].lost || !w->node[i].running || w->node[i].oom ||
            !sim_lease_link_is_quick(w, &w->node[i]))
            return 0;
    /* The first reaper after a leap waits: other workers' leases may go on. */
    return w->talking == 0 &&
           (!w->leases.leapt || w->jobs.probe.how != SIM_WAIT_DEAD);
}

/* ------------------------------------------------------------- at any time */

void sim_waits_up(sim_world *w, sim_node *n)
{
    n->up_us = w->now_us;
}

/* Returns 1 if the worker may claim any job of its queue, and has had the time
 * to ask for one since its start. */
static int waits_is_free(const sim_world *w, const sim_node *n,
                         const sim_desk *d)
{
    int i;

    for (i = 0; i < SIM_TASKS; i++)
        if (d->task[i].state != SIM_TASK_NONE &&
            !(d->task[i].state == SIM_TASK_ENDED && d->task[i].accepted))
            return 0;
    return d->serial > 0 && !d->stopping && d->team == 0 && d->type == 0 &&
           !n->stopping && !n->lied &&
           w->jobs.token[d->queue] >= w->jobs.twice[d->queue] &&
           d->start_us < w->now_us - waits_ways(w);
}

/* A worker that may have missed a wake-up while it had no link asks as soon as
 * it has one. If it gets errors, it backs off for a sixth of a lease at most.
 */
static void waits_asks(sim_world *w, const sim_node *n, const sim_desk *d)
{
    int64_t back_off_us = d->lease_ms * SIM_MS / 6 + 50 * SIM_MS;

    if (n->up_us == 0 || w->now_us < n->up_us + waits_ways(w) ||
        (n->refused_us >= n->up_us &&
         w->now_us < n->refused_us + back_off_us + waits_ways(w)) ||
        n->claims_us[d->queue] >= n->up_us || d->start_us >= n->up_us ||
        d->busy_us >= n->up_us)
        return;
    if (!sim_judges(w, SIM_Q11,
                    w->talking > 0 ||
                        sim_disturbed(w, n, w->now_us - waits_ways(w)), 0))
        sim_fail(w, SIM_Q11, "n%d.%u sends no claim when its link is up again",
                 n->number, d->serial);
}

/* Returns 1 if nothing has been wrong with any node for long enough, and no
 * link of an ended client is left: a server would wake that client instead of
 * another. */
static int waits_all_well(sim_world *w)
{
    int64_t since = w->now_us - 2 * waits_ways(w);
    int i;

    for (i = 0; i < w->shape.nodes; i++)
        if (!w->node[i].running || w->node[i].paused ||
            !sim_net_of_node(w, &w->node[i]) ||
            sim_net_of_node(w, &w->node[i])->host != w->primary ||
            sim_disturbed(w, &w->node[i], since) ||
            !sim_lease_link_is_quick(w, &w->node[i]))
            return 0;
    for (i = 0; i < SIM_LINKS && w->link[i]; i++)
        if (w->link[i]->state == SIM_OPEN && !w->link[i]->host_gone &&
            !sim_net_in_use(w, w->link[i]))
            return 0;
    return w->talking == 0;
}

/* Fails if a job waits in the queue of this worker while the worker sleeps. */
static void waits_both(sim_world *w, const sim_node *n, const sim_desk *d)
{
    const sim_book *b = &w->host[w->primary].ledger.book[d->queue];
    const sim_place *p = b->line_n > 0 ? &b->at[b->line[0]] : NULL;

    if (p == NULL || p->gone || b->stopped || b->limit > 0 ||
        (b->gates_us > 0 && /* a throttled worker polls each second          */
         b->gates_us > w->now_us - 2 * waits_ways(w) - 2 * SIM_S) ||
        p->since_us == 0 || p->since_us > w->now_us - 2 * waits_ways(w) ||
        d->busy_us > w->now_us - 2 * waits_ways(w) ||
        n->claims_us[d->queue] > w->now_us - 2 * waits_ways(w) ||
        (b->cut_us > 0 && /* no worker was woken */
         n->claims_us[d->queue] <= b->cut_us) ||
        w->jobs.left_us >= p->since_us || /* it may have been woken instead   */
        (b->stale_us > 0 && n->claims_us[d->queue] <= b->stale_us) ||
        !waits_all_well(w))
        return;
    if (!sim_holds(w, SIM_Q11, 0))
        sim_fail(w, SIM_Q11, "job %llu of q%d waits for %ld ms, and n%d.%u "
                 "sleeps", (unsigned long long)b->line[0], d->queue,
                 (long)((w->now_us - p->since_us) / SIM_MS), n->number,
                 d->serial);
}

void sim_waits_turn(sim_world *w, sim_node *n)
{
    int i;

    for (i = 0; i < SIM_DESKS && !w->failed; i++) {
        if (!waits_is_free(w, n, &n->desk[i])) {
            n->desk[i].busy_us = w->now_us;
            n->desk[i].busy = 1;
            continue;
        }
        if (n->desk[i].busy) /* until now, even if the last turn was long ago */
            n->desk[i].busy_us = w->now_us;
        n->desk[i].busy = 0;
        waits_asks(w, n, &n->desk[i]);
        waits_both(w, n, &n->desk[i]);
    }
}

/* ------------------------------------------------------- when all is whole */

/* Remembers how the channels end by which a node is to be woken. */
void sim_waits_channel(sim_node *n, relet_span name)
{
    size_t uid = sizeof n->wake - 1;

    if (name.n < uid)
        return;
    memcpy(n->wake, name.p + name.n - uid, uid);
    n->wake[uid] = '\0';
}

void sim_waits_lines_up(sim_node *n, const sim_words *c)
{
    if (c->n > 7)
        sim_waits_channel(n, c->word[7]);
}

/* Counts the workers of a queue; 0 if the node still has jobs in hand, which
 * may be lost ones. */
static int waits_works_on(const sim_node *n, int queue)
{
    int i, many = 0;

    for (i = 0; i < SIM_DESKS; i++) {
        const sim_desk *d = &n->desk[i];

        if (d->serial > 0 && sim_tasks_in_hand(d) > 0)
            return 0;
        many += d->serial > 0 && d->queue == queue && !d->stopping;
    }
    return many;
}

/* Returns 1 if a node other than `but` is among the first `most` in the line of
 * idle workers, which are those that a script wakes. No place in line may have
 * a listener that no running worker stands behind: a client that has ended, or
 * one whose leaving a server has lost. */
static int waits_in_line(sim_world *w, int queue, int but, int most)
{
    sim_host *h = &w->host[w->primary];
    char name[16], text[1024], heard[128], *at, *end, *count;
    int i, there = 0, all = 0;

    sprintf(name, "{%s}:idle", sim_jobs_queue(queue));
    sim_host_ask(h, text, sizeof text, 4, "ZRANGE", name, "0", "-1");
    for (at = text; (at = strchr(at, '$')) != NULL && all <= most;
         at = end + 1) {
        at = strchr(at, '\n') + 1;
        if ((end = strchr(at, '\r')) == NULL)
            return 0;
        *end = '\0';
        all++;
        for (i = 0; i < w->shape.nodes; i++)
            if (w->node[i].wake[0] != '\0' && strstr(at, w->node[i].wake))
                break;
        there += i < w->shape.nodes && i != but;
        if (i < w->shape.nodes && !waits_works_on(&w->node[i], queue))
            return 0;
        if (i < w->shape.nodes)
            continue;
        sim_host_ask(h, heard, sizeof heard, 3, "PUBSUB", "SHARDNUMSUB", at);
        count = strrchr(heard, ':'); /* its name may hold one, too */
        if (count == NULL || count[1] != '0')
            return 0;
    }
    return there > 0 && all <= most;
}

/* A queue whose workers all sleep; -1: there is none yet. */
static int waits_queue(sim_world *w)
{
    int64_t long_ago = w->now_us - 30 * w->shape.latency_us - 200 * SIM_MS;
    int queue;

    for (queue = 0; queue < SIM_QUEUES; queue++)
        if (w->jobs.busy_us[queue] < long_ago &&
            waits_in_line(w, queue, -1, 8))
            return queue;
    return -1;
}

/* For half of the delayed jobs, flushes the scripts of the server, and then
 * loads `promote` alone, which a client sends behind a put. The put is then
 * repeated after NOSCRIPT, and runs after that `promote`; the job must begin in
 * time all the same. Returns 1 if that is under way. */
static int waits_flush(sim_world *w, int queue)
{
    sim_probe *p = &w->jobs.probe;
    sim_node *n = &w->node[0];

    if (p->how != SIM_WAIT_DELAYED || p->flushed ||
        !sim_chance(&n->work, 1, 2))
        return 0;
    p->flushed = 1;
    n->now = sim_node_clock(w, n);
    sim_host_admin(w, &w->host[w->primary], 2, "SCRIPT", "FLUSH");
    sim_orders_promote(w, n, queue);
    sim_node_turn(w, n);
    return 1;
}

/* Returns 1 if the put is under way. */
static int waits_begin(sim_world *w, int queue)
{
    sim_probe *p = &w->jobs.probe;
    sim_node *n = &w->node[0];
    relet_time delay_ms = 0;

    n->now = sim_node_clock(w, n);
    if (p->how == SIM_WAIT_DELAYED)
        delay_ms = 600 + sim_choose(&n->work, 1000);
    p->job = w->jobs.jobs + 1;
    p->from_us = SIM_NEVER;
    p->fell_us = 0;
    p->begun = 0;
    SIM_SAY(w, "n0 puts a job into q%d, where all workers sleep, way %d", queue,
            p->how);
    if (!sim_jobs_put(w, n, queue, 1, delay_ms)) {
        p->job = 0;
        return 0;
    }
    sim_node_turn(w, n);
    return 1;
}

/* The job begins to wait at from_us, for the first time or again. The job of a
 * dead worker is reaped when its lease must have ended; a server that has just
 * started reaps later. */
void sim_waits_waits(sim_world *w, const sim_job *j, int64_t from_us)
{
    sim_probe *p = &w->jobs.probe;

    if (p->job == 0 || j != &w->jobs.job[p->job - 1])
        return;
    if ((p->how >= SIM_WAIT_RELEASED) != (p->begun > 0))
        return;
    p->from_us = from_us;
    if (p->fell_us > 0 &&
        !sim_holds(w, SIM_Q11, from_us <= p->fell_us + 4 * p->lease_us +
                                              waits_ways(w)))
        sim_fail(w, SIM_Q11, "a job waits for %ld ms until it is relet",
                 (long)((from_us - p->fell_us) / SIM_MS));
}

void sim_waits_begun(sim_world *w, const sim_node *n, uint32_t job)
{
    sim_probe *p = &w->jobs.probe;
    int64_t us = w->now_us - p->from_us;

    if (p->job != job + 1 || p->begun < 0)
        return;
    if (p->how >= SIM_WAIT_RELEASED && p->begun == 0) {
        p->begun = 1 + n->number;
        return;
    }
    p->begun = -1;
    if (p->from_us == SIM_NEVER)
        return;
    if (!sim_holds(w, SIM_Q11, us <= waits_ways(w)))
        sim_fail(w, SIM_Q11, "a job waits for %ld ms while workers sleep, way "
                 "%d", (long)(us / SIM_MS), p->how);
    if (p->how == SIM_WAIT_PUT)
        SIM_MARK(woken_by_put);
    if (p->how == SIM_WAIT_DELAYED)
        SIM_MARK(woken_by_delayed);
    if (p->how == SIM_WAIT_RELEASED)
        SIM_MARK(woken_by_release);
    if (p->how == SIM_WAIT_DEAD)
        SIM_MARK(woken_by_reaper);
}

/* Returns 1 if the first handler of this job has to make it wait in this
 * way. */
int sim_waits_keeps(const sim_world *w, uint32_t job, sim_wait how)
{
    const sim_probe *p = &w->jobs.probe;

    return p->job == job + 1 && p->how == how && p->begun > 0 &&
           p->from_us == SIM_NEVER && p->fell_us == 0;
}

/* The longest time for which a lease in this queue, or the hold-off after the
 * first reap on this server, may still keep a job from being reaped. */
static relet_time waits_longest_ms(const sim_world *w, int queue)
{
    const sim_host *h = &w->host[w->primary];
    relet_time ms = h->ledger.book[queue].open_ms - sim_host_wall(w, h) / 1000;
    int i, j;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_DESKS; j++)
            if (ms < w->node[i].desk[j].lease_ms)
                ms = w->node[i].desk[j].lease_ms;
    return ms;
}

/* The node that has the job dies, if another one waits for work; returns 1. */
int sim_waits_falls(sim_world *w, sim_node *n)
{
    sim_probe *p = &w->jobs.probe;
    int queue;

    if (p->job == 0 || p->how != SIM_WAIT_DEAD || p->begun != 1 + n->number ||
        p->fell_us > 0)
        return 0;
    queue = w->jobs.job[p->job - 1].queue;
    p->fell_us = w->now_us;
    p->lease_us = waits_longest_ms(w, queue) * SIM_MS;
    if (!waits_in_line(w, queue, n->number, 4)) {
        p->begun = -1;
        return 0;
    }
    sim_node_end(w, n, 1);
    n->boots = 1;
    sim_due_at(w, w->now_us + SIM_S, SIM_BOOT, n->number, 0);
    return 1;
}

int sim_waits_more(sim_world *w)
{
    sim_probe *p = &w->jobs.probe;
    int queue;

    if (w->work != &sim_working || p->how == SIM_WAITS)
        return 0;
    if (p->job > 0) { /* the job has ended, or there would be no call */
        p->job = 0;
        p->settle_us = 0;
        p->flushed = 0;
        p->how = (sim_wait)(p->how + 1);
        return p->how < SIM_WAITS;
    }
    if (p->settle_us == 0)
        p->settle_us = w->now_us;
    queue = waits_all_hear(w) ? waits_queue(w) : -1;
    if (queue >= 0 && (waits_flush(w, queue) || waits_begin(w, queue)))
        return 1;
    return w->now_us < p->settle_us + WAITS_SETTLE_US;
}
