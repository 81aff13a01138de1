/* SPDX-License-Identifier: MIT
 *
 * orders.c - requests of operators about queues, at any node: to cancel or
 * replay a job, to pause, limit or trim a queue. After the healing each queue
 * is opened and started again, without a limit. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define ORDERS_ANY 100000 /* any number of times                              */

/* One of the last jobs of a queue, as 1 + its index; 0: there is none. */
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

/* Picks a job to name by its number or by its id. Returns 0, or 1 if there is
 * no job to name. */
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

/* A job whose id now names another job, so that only its number names it; 0:
 * there is none. */
static uint64_t orders_second(const sim_world *w, int queue, char letter)
{
    const sim_book *b = &w->host[w->primary].ledger.book[queue];
    size_t i;

    for (i = b->n; i-- > 1;) {
        const sim_place *p = &b->at[i];
        uint64_t id = p->job ? w->jobs.job[p->job - 1].id : 0;

        if (id > 0 && p->letter == letter && b->id[id].number > 0 &&
            b->id[id].number != i)
            return i;
    }
    return 0;
}

/* Makes two jobs of one id wait at the same time: replays a job that was dead
 * when the other job was put. The next call cancels the replayed job. */
static int orders_twins(sim_world *w, sim_node *n, int queue,
                        const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));
    uint64_t number = orders_second(w, queue, 'W');

    if (number > 0)
        return relet_queue_job_cancel(n->r, name, number, relet_str(""), q);
    number = orders_second(w, queue, 'X');
    if (number == 0)
        return 1;
    return relet_queue_replay(n->r, name, &number, 1, 0, 1, 100, q);
}

static int orders_cancel(sim_world *w, sim_node *n, int queue,
                         const relet_request *q)
{
    uint64_t number;
    char id[8];

    if (orders_name(w, n, queue, &number, id))
        return 1;
    return relet_queue_job_cancel(n->r, relet_str(sim_jobs_queue(queue)),
                                  number, relet_str(id), q);
}

static int orders_keep(sim_world *w, sim_node *n, int queue,
                       const relet_request *q)
{
    relet_time ms = sim_spread(&n->work, 0, 10000);
    uint64_t number;
    char id[8];

    if (orders_name(w, n, queue, &number, id))
        return 1;
    return relet_queue_job_keep(n->r, relet_str(sim_jobs_queue(queue)), number,
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

/* Counts the purge: it may run once, or, if it is repeatable, more often. */
static int orders_purge(sim_world *w, sim_node *n, int queue,
                        const relet_request *q)
{
    static const relet_place place[] = {RELET_AT_NOWHERE, RELET_AT_WAITING,
                                        RELET_AT_RANKED,  RELET_AT_DELAYED,
                                        RELET_AT_LEASED,  RELET_AT_DONE,
                                        RELET_AT_DEAD,    RELET_AT_DEAD};
    int force = sim_chance(&n->work, 1, 2);
    uint32_t most = sim_chance(&n->work, 1, 4) ? 128
                                               : 1 + sim_choose(&n->work, 20);
    relet_request once = *q;
    int code;

    if (sim_chance(&n->work, 7, 8))
        once.flags = 0;
    code = relet_queue_purge(n->r, relet_str(sim_jobs_queue(queue)),
                             place[sim_choose(&n->work, 8)], most, force,
                             &once);
    if (code == 0)
        w->jobs.purges[queue][n->number] +=
            once.flags & RELET_REPEATABLE ? ORDERS_ANY : 1;
    return code;
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

/* A node asks one such question at a time, whatever its outcome, so that its
 * answer can be matched. */
static int orders_show(sim_world *w, sim_node *n, int queue,
                       const relet_request *q)
{
    static const relet_place place[] = {RELET_AT_WAITING, RELET_AT_RANKED,
                                        RELET_AT_DELAYED, RELET_AT_LEASED,
                                        RELET_AT_DONE,    RELET_AT_DEAD};
    relet_span name = relet_str(sim_jobs_queue(queue));
    uint32_t what = sim_choose(&n->work, 3), most;
    uint64_t number;
    char id[8];
    int code;

    if (n->asks_tag != 0 ||
        (what == 1 && orders_name(w, n, queue, &number, id)))
        return 1;
    n->asks = what == 0 ? SIM_V_STATUS : what == 1 ? SIM_V_LOOK : SIM_V_LIST;
    most = 1 + sim_choose(&n->work, 10);
    if (what == 0)
        code = relet_queue_status(n->r, name, q);
    else if (what == 1)
        code = relet_queue_job_look(n->r, name, number, relet_str(id), q);
    else
        code = relet_queue_job_list(n->r, name, place[sim_choose(&n->work, 6)],
                                    0, most, NULL, q);
    if (code == 0)
        n->asks_tag = q->tag;
    return code;
}

static int orders_other(sim_world *w, sim_node *n, int queue,
                        const relet_request *q)
{
    relet_span name = relet_str(sim_jobs_queue(queue));

    switch (sim_choose(&n->work, 16)) {
    case 12:
    case 13:
    case 14:
    case 15:
        return orders_show(w, n, queue, q);
    case 8:
    case 9:
        return orders_twins(w, n, queue, q);
    case 10:
    case 11:
        return orders_purge(w, n, queue, q);
    case 0:
        return orders_trim(n, queue, q);
    case 1:
        return relet_queue_forget(n->r, name,
                                  relet_str(sim_chance(&n->work, 1, 2) ? ""
                                                                       : "i0"),
                                  q);
    case 2:
        return orders_purge(w, n, queue, q);
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

/* Sends one such request; its bytes do not name its operation. */
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

/* Repairs any job, which may be worked on at that time. */
static int orders_repair(sim_world *w, sim_node *n, int queue,
                         const relet_request *q)
{
    const sim_book *b = &w->host[w->primary].ledger.book[queue];
    uint64_t number = 1 + sim_choose(&n->work, b->n > 1 ? (uint32_t)b->n : 1);

    return relet_queue_repair(n->r, relet_str(sim_jobs_queue(queue)), number,
                              SIM_JOB_LEASE_MAX_MS, q);
}

void sim_orders_repair(sim_world *w, sim_node *n)
{
    orders_ask(w, n, (int)sim_choose(&n->work, 1 + w->shape.ops % SIM_QUEUES),
               orders_repair);
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

/* Opens a queue that is closed, stopped or limited. Returns 1 if a request was
 * sent. */
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
