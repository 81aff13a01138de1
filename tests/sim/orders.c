/* SPDX-License-Identifier: MIT
 *
 * orders.c - what operators ask of queues, at any node: that a job is cancelled
 * or played again, that a queue stands still, takes few, forgets. Once all is
 * whole no gate stays shut. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* One of the last jobs of a queue: 1 + its index; 0: there is none. */
static uint32_t orders_job(const sim_world *w, sim_node *n, int queue)
{
    uint32_t jobs = w->jobs.jobs, back, i;

    if (jobs == 0)
        return 0;
    back = sim_choose(&n->work, jobs < 24 ? jobs : 24);
    for (i = jobs - back; i > 0; i--)
        if (w->jobs.job[i - 1].queue == queue)
            return i;
    return 0;
}

/* One by its number, or by its id: 0, or 1 when there is none to ask for. */
static int orders_name(sim_world *w, sim_node *n, int queue, uint64_t *number,
                       char id[8])
{
    uint32_t i = orders_job(w, n, queue);
    const sim_job *j = i ? &w->jobs.job[i - 1] : NULL;

    *number = j ? j->number[w->primary] : 0;
    id[0] = '\0';
    if (j && j->id > 0 && (*number == 0 || sim_chance(&n->work, 1, 2))) {
        sprintf(id, "id%u", (unsigned)j->id);
        *number = 0;
    }
    return *number == 0 && id[0] == '\0';
}

static int orders_cancel(sim_world *w, sim_node *n, int queue,
                         const relet_request *q)
{
    uint64_t number;
    char id[8];

    if (orders_name(w, n, queue, &number, id))
        return 1;
    return relet_job_cancel(n->r, relet_str(sim_jobs_queue(queue)), number,
                            relet_str(id), q);
}

static int orders_keep(sim_world *w, sim_node *n, int queue,
                       const relet_request *q)
{
    relet_time ms = sim_spread(&n->work, 0, 10000);
    uint64_t number;
    char id[8];

    if (orders_name(w, n, queue, &number, id))
        return 1;
    return relet_job_keep(n->r, relet_str(sim_jobs_queue(queue)), number,
                          relet_str(id), ms, q);
}

static int orders_replay(sim_world *w, sim_node *n, int queue,
                         const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));
    uint64_t number[4];
    size_t count = 0;
    uint32_t i, most, replays;

    while (count < 4 && sim_chance(&n->work, 3, 4)) {
        i = orders_job(w, n, queue);
        if (i == 0 || w->jobs.job[i - 1].number[w->primary] == 0)
            break;
        number[count++] = w->jobs.job[i - 1].number[w->primary];
    }
    replays = 1 + sim_choose(&n->work, 3);
    most = 1 + sim_choose(&n->work, 10);
    return relet_queue_replay(n->r, name, number, count, 0, most, replays, q);
}

static int orders_purge(sim_node *n, int queue, const relet_request *q)
{
    static const relet_place place[] = {RELET_NOWHERE, RELET_WAITING,
                                        RELET_RANKED,  RELET_DELAYED,
                                        RELET_LEASED,  RELET_DONE,
                                        RELET_DEAD,    RELET_DEAD};
    int force = sim_chance(&n->work, 1, 2);
    uint32_t most = 1 + sim_choose(&n->work, 20);

    return relet_queue_purge(n->r, relet_str(sim_jobs_queue(queue)),
                             place[sim_choose(&n->work, 8)], most, force, q);
}

static int orders_gates(sim_node *n, int queue, const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));
    int gates = 1 + (int)sim_choose(&n->work, 3);

    switch (sim_choose(&n->work, 5)) {
    case 0:
        return relet_queue_pause(n->r, name, gates, q);
    case 1:
    case 2:
        return relet_queue_resume(n->r, name, gates, q);
    case 3:
        return relet_queue_limit(n->r, name, 1 + sim_choose(&n->work, 4), q);
    }
    return relet_queue_limit(n->r, name, 0, q);
}

static int orders_trim(sim_node *n, int queue, const relet_request *q)
{
    uint32_t most = 1 + sim_choose(&n->work, 20);
    relet_time age_ms = sim_spread(&n->work, 0, 10000);
    uint32_t dead = sim_choose(&n->work, 6), done = sim_choose(&n->work, 6);

    return relet_queue_trim(n->r, relet_str(sim_jobs_queue(queue)), done, dead,
                            age_ms, most, q);
}

static int orders_other(sim_world *w, sim_node *n, int queue,
                        const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));

    switch (sim_choose(&n->work, 8)) {
    case 0:
        return orders_trim(n, queue, q);
    case 1:
        return relet_queue_forget(n->r, name,
                                  relet_str(sim_chance(&n->work, 1, 2) ? ""
                                                                       : "i0"),
                                  q);
    case 2:
        return orders_purge(n, queue, q);
    case 3:
        return orders_replay(w, n, queue, q);
    case 4:
    case 5:
        return orders_gates(n, queue, q);
    case 6:
        return orders_keep(w, n, queue, q);
    }
    return orders_cancel(w, n, queue, q);
}

/* One of them; its bytes do not tell which operation it is. */
static void orders_ask(sim_world *w, sim_node *n, int queue,
                       int (*ask)(sim_world *, sim_node *, int,
                                  const relet_request *))
{
    relet_request q;
    int code;

    memset(&q, 0, sizeof q);
    q.tag = sim_judge_next_tag(w, n);
    if (sim_chance(&n->work, 1, 2))
        q.flags = RELET_REPEATABLE;
    code = ask(w, n, queue, &q);
    if (code > 0) { /* there was nothing to ask                              */
        n->ops_n--;
        return;
    }
    sim_judge_submitted(w, n, &q, code, 0);
    sim_op_of(w, q.tag)->unseen = 1;
}

void sim_orders_step(sim_world *w, sim_node *n)
{
    if (w->shape.ops & 32)
        orders_ask(w, n, (int)sim_choose(&n->work,
                                         1 + w->shape.ops % SIM_QUEUES),
                   orders_other);
}

static int orders_ready(sim_world *w, sim_node *n, int queue,
                        const relet_request *q)
{
    (void)w;
    return relet_queue_promote(n->r, relet_str(sim_jobs_queue(queue)), 100, q);
}

void sim_orders_promote(sim_world *w, sim_node *n, int queue)
{
    orders_ask(w, n, queue, orders_ready);
}

static int orders_open(sim_world *w, sim_node *n, int queue,
                       const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));

    if (w->host[w->primary].ledger.book[queue].limit > 0)
        return relet_queue_limit(n->r, name, 0, q);
    return relet_queue_resume(n->r, name, RELET_IN | RELET_OUT, q);
}

/* 1: something was asked, since a gate is shut. */
int sim_orders_quiet(sim_world *w, sim_node *n)
{
    sim_host *h = &w->host[w->primary];
    int queue, moved = 0;

    if (n->open_ops > 0)
        return 0;
    sim_ledger_read(w, h);
    for (queue = 0; queue < SIM_QUEUES; queue++) {
        const sim_book *b = &h->ledger.book[queue];

        if (!b->closed && !b->stopped && b->limit == 0)
            continue;
        orders_ask(w, n, queue, orders_open);
        moved = 1;
    }
    return moved;
}
