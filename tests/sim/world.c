/* SPDX-License-Identifier: MIT
 *
 * world.c - one run: handles due events until the last phase is over.
 *
 * The phases are the boot, without faults; chaos, with faults; then all faults
 * end, and each client has to be up, to have its subscriptions and to complete
 * an operation, within a bound that follows from its configuration. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define WORLD_EVENTS_MAX 4000000

void sim_due_at(sim_world *w, int64_t at_us, sim_kind kind, int whom,
                uint64_t which)
{
    sim_due d;

    d.at_us = at_us;
    d.kind = (int)kind;
    d.whom = whom;
    d.which = which;
    d.seq = 0;
    d.tie = sim_mix(w->choices.seed ^ (uint64_t)at_us,
                    (uint64_t)kind << 32 | (uint64_t)whom);
    sim_queue_put(&w->queue, d);
}

uint64_t sim_draw(const sim_world *w, uint64_t kind, uint64_t a)
{
    return sim_keyed(&w->choices, kind, a, (uint64_t)w->now_us);
}

/* ------------------------------------------------------------ start and end */

sim_world *sim_world_new(void)
{
    sim_world *w = (sim_world *)calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    return w;
}

/* Buffers outlive a run: clearing them, too, would take half of the time. */
typedef struct world_buffers {
    void *memory[SIM_NODES];
    size_t memory_n[SIM_NODES];
    sim_op *ops[SIM_NODES];
    uint32_t ops_cap[SIM_NODES];
    void *block[SIM_HOSTS];
    sim_log log[SIM_HOSTS];
    sim_ledger ledger[SIM_HOSTS];
    sim_link *link[SIM_LINKS];
    sim_queue queue;
    sim_touch *touch;
    size_t touch_cap;
    sim_record *record;
    size_t records_cap;
} world_buffers;

static void world_take_buffers(const sim_world *w, world_buffers *b)
{
    int i;

    for (i = 0; i < SIM_NODES; i++) {
        b->memory[i] = w->node[i].memory;
        b->memory_n[i] = w->node[i].memory_n;
        b->ops[i] = w->node[i].ops;
        b->ops_cap[i] = w->node[i].ops_cap;
    }
    for (i = 0; i < SIM_HOSTS; i++) {
        b->block[i] = w->host[i].block;
        b->log[i] = w->host[i].log;
        b->ledger[i] = w->host[i].ledger;
    }
    memcpy(b->link, w->link, sizeof b->link);
    b->queue = w->queue;
    b->touch = w->jobs.touch;
    b->touch_cap = w->jobs.touch_cap;
    b->record = w->record;
    b->records_cap = w->records_cap;
}

/* Gives the buffers to a world of zeros. */
static void world_give_buffers(sim_world *w, const world_buffers *b)
{
    int i;

    for (i = 0; i < SIM_NODES; i++) {
        w->node[i].memory = b->memory[i];
        w->node[i].memory_n = b->memory_n[i];
        w->node[i].ops = b->ops[i];
        w->node[i].ops_cap = b->ops_cap[i];
    }
    for (i = 0; i < SIM_HOSTS; i++) {
        w->host[i].block = b->block[i];
        w->host[i].log.bytes = b->log[i].bytes;
        w->host[i].log.cap = b->log[i].cap;
        w->host[i].log.at = b->log[i].at;
        w->host[i].log.at_cap = b->log[i].at_cap;
        sim_ledger_keep(&w->host[i].ledger, &b->ledger[i]);
    }
    for (i = 0; i < SIM_LINKS && b->link[i]; i++) {
        w->link[i] = b->link[i];
        sim_net_blank(w->link[i]);
    }
    w->queue = b->queue;
    sim_queue_clear(&w->queue);
    w->jobs.touch = b->touch;
    w->jobs.touch_cap = b->touch_cap;
    w->record = b->record;
    w->records_cap = b->records_cap;
}

/* A run starts from a world of zeros, whatever ran before: buffers are kept,
 * but their old contents are never read. */
static void world_clear(sim_world *w)
{
    world_buffers buffers;
    int i;

    for (i = 0; i < SIM_NODES; i++)
        if (w->node[i].running)
            relet_finish(w->node[i].r);
    for (i = 0; i < SIM_HOSTS; i++)
        if (w->host[i].local)
            relet_local_finish(w->host[i].local);
    world_take_buffers(w, &buffers);
    memset(w, 0, sizeof *w);
    world_give_buffers(w, &buffers);
}

/* Sets all that does not start as zero. */
static void world_begin(sim_world *w)
{
    int i;

    for (i = 0; i < SIM_NODES; i++) {
        sim_node *n = &w->node[i];

        n->world = w;
        n->number = i;
        n->disturbed_us = n->shaken_us = n->calm_us = -1;
        sim_stream_open(&n->work, &w->choices, SIM_OF_WORK, (uint64_t)i);
        sim_stream_open(&n->chunk, &w->choices, SIM_OF_CHUNK,
                        (uint64_t)i + (w->setup.chunk_salt << 8));
    }
    for (i = 0; i < SIM_HOSTS; i++) {
        w->host[i].number = i;
        w->host[i].wall_stop_us = SIM_NEVER;
        w->host[i].ppm = w->shape.ppm / 2;
    }
    sim_claims_begin(w);
}

void sim_world_free(sim_world *w)
{
    int i;

    for (i = 0; i < SIM_NODES; i++) {
        if (w->node[i].running)
            relet_finish(w->node[i].r);
        free(w->node[i].memory);
        free(w->node[i].ops);
    }
    for (i = 0; i < SIM_HOSTS; i++) {
        sim_ledger_free(&w->host[i]);
        sim_host_free(&w->host[i]);
    }
    free(w->jobs.touch);
    for (i = 0; i < SIM_LINKS && w->link[i]; i++) {
        sim_pipe_free(&w->link[i]->pipe[0]);
        sim_pipe_free(&w->link[i]->pipe[1]);
        free(w->link[i]->in);
        free(w->link[i]->out);
        free(w->link[i]);
    }
    sim_queue_free(&w->queue);
    free(w->record);
    free(w);
}

/* ------------------------------------------------------------------- phases */

static void world_lose(sim_world *w, sim_node *n, sim_loss loss)
{
    int host;

    n->lost = loss;
    sim_disturb(w, n->number);
    SIM_SAY(w, "n%d is %s for good", n->number,
            loss == SIM_DEAD ? "dead" : loss == SIM_STUCK ? "stuck" : "apart");
    switch (loss) {
    case SIM_WHOLE:
        return;
    case SIM_DEAD:
        SIM_MARK(dead_for_good);
        sim_node_end(w, n, 1);
        return;
    case SIM_STUCK:
        SIM_MARK(stuck_for_good);
        n->paused++;
        return;
    case SIM_APART:
        SIM_MARK(apart_for_good);
        for (host = 0; host < SIM_HOSTS; host++) {
            w->path[n->number][host].hole[SIM_UP]++;
            w->path[n->number][host].hole[SIM_DOWN]++;
        }
        return;
    }
}

/* In one of three runs some nodes are never healed, but at least one is. */
static void world_losses(sim_world *w)
{
    sim_stream st;
    int i, spared;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 3000);
    spared = (int)sim_choose(&st, (uint32_t)w->shape.nodes);
    if (w->faults_fired == 0 || !sim_chance(&st, 1, 3))
        return;
    for (i = 0; i < w->shape.nodes; i++)
        if (i != spared && sim_chance(&st, 1, 2))
            world_lose(w, &w->node[i], (sim_loss)(1 + sim_choose(&st, 3)));
}

/* Data that was under way still arrives at its planned time. */
static int64_t world_arrival(sim_world *w, const sim_node *n)
{
    const sim_link *l = sim_net_of_node(w, n);
    int64_t at = w->now_us;
    int way;

    for (way = 0; l && way < 2; way++)
        if (at < l->pipe[way].last_us)
            at = l->pipe[way].last_us;
    return at;
}

static void world_heal(sim_world *w)
{
    int i;

    if (w->setup.plant == 2 || (w->setup.plant && w->faults_fired))
        sim_fail(w, SIM_E4, "planted, in a run of %s with hash %016llx",
                 w->work->name, (unsigned long long)w->hash);
    sim_faults_heal(w);
    w->phase = SIM_QUIET;
    w->phase_us = w->now_us;
    SIM_SAY(w, "all faults end");
    world_losses(w);
    for (i = 0; i < w->shape.nodes; i++) {
        sim_node *n = &w->node[i];

        n->whole_us = world_arrival(w, n);
        w->arrived_us = RLT_MAX(w->arrived_us, n->whole_us);
        if (!n->running && !n->boots) {
            n->boots = 1;
            sim_due_at(w, w->now_us, SIM_BOOT, i, 0);
        }
    }
}

/* Returns 1 if this node has done all for which the phase waits. */
static int world_node_done(sim_world *w, sim_node *n)
{
    if (n->lost)
        return 1;
    if (!n->running)
        return 0;
    if (w->phase == SIM_PROBED)
        return (n->heard & n->wished) == n->wished;
    if (w->work->quiet(w, n))
        sim_node_turn(w, n);
    else
        sim_node_wake(w, n, SIM_NEEDLESS);
    return !w->failed && n->running && w->work->alive(w, n);
}

static void world_probe(sim_world *w)
{
    static const char *const channel[] = {"c0", "c1", "p1", "s0", "s1"};
    int i;

    for (i = 0; i < w->shape.nodes; i++)
        w->node[i].heard = 0;
    for (i = 0; i < 5; i++)
        sim_host_admin(w, &w->host[w->primary], 3,
                       channel[i][0] == 's' ? "SPUBLISH" : "PUBLISH",
                       channel[i], "probe");
}

static void world_over(sim_world *w)
{
    int i;

    w->phase = SIM_OVER;
    for (i = 0; i < w->shape.nodes && !w->failed; i++)
        sim_node_end(w, &w->node[i], w->node[i].lost == SIM_STUCK);
}

static void world_late(sim_world *w, const sim_node *n)
{
    int deaf = w->phase == SIM_PROBED ||
               (n->open_ops == 0 && (n->gap_due || n->wished != n->in_force));

    sim_fail(w, n->running && relet_is_up(n->r) && deaf ? SIM_R9 : SIM_R11,
             "n%d does not recover: %s, %s, %lu open, wished %x, in force %x, "
             "heard %x, probe %u",
             n->number, n->running ? "runs" : "does not run",
             n->running && relet_is_up(n->r) ? "up" : "down",
             (unsigned long)n->open_ops, n->wished, n->in_force, n->heard,
             n->probe);
}

/* Each node has to recover by itself, whatever the others do. */
static void world_recovers(sim_world *w, sim_node *n)
{
    int works = n->running && (w->phase == SIM_PROBED
                                   ? (n->heard & n->wished) == n->wished
                                   : sim_plain.alive(w, n));

    if (works || n->lost) {
        n->whole_us = w->now_us;
        n->waited = 0;
    }
    n->waited |= sim_judge_waits_for_ever(n);
    if (!sim_holds(w, SIM_R11,
                   w->now_us - n->whole_us <= sim_bound_recovery(w, n)))
        world_late(w, n);
}

/* Each node has recovered, but jobs are missing or stay for too long. A job
 * that is kept until a little later than the bound gets its time. */
static void world_jobs_late(sim_world *w)
{
    if (sim_jobs_missing(w))
        sim_fail(w, SIM_Q3, "some jobs never end");
    if (sim_jobs_stay(w) && !sim_jobs_overdue(w)) {
        sim_due_at(w, w->now_us + 50 * SIM_MS, SIM_PHASE, 0, 0);
        return;
    }
    if (sim_jobs_stay(w))
        sim_fail(w, SIM_Q1, "jobs are kept for longer than their keep times");
    sim_fail(w, SIM_E3, "the workload waits, but no job is missing or late");
}

static void world_look(sim_world *w)
{
    int64_t since = w->now_us - w->phase_us;
    int i, waiting = 0;

    for (i = 0; i < w->shape.nodes && !w->failed; i++)
        waiting |= !world_node_done(w, &w->node[i]);
    for (i = 0; i < w->shape.nodes && !w->failed; i++)
        world_recovers(w, &w->node[i]);
    sim_lease_look(w);
    if (w->failed)
        return;
    if (waiting && since > w->shape.bound_us + sim_bound_behind(w) +
                               sim_jobs_patience(w)) {
        world_jobs_late(w);
    } else if (waiting ||
               (w->phase == SIM_QUIET &&
                (sim_lease_more(w) || sim_waits_more(w)))) {
        sim_due_at(w, w->now_us + 50 * SIM_MS, SIM_PHASE, 0, 0);
    } else if (w->phase == SIM_QUIET) {
        w->recovery_us = since;
        w->phase = SIM_PROBED;
        w->phase_us = w->now_us;
        for (i = 0; i < w->shape.nodes; i++)
            w->node[i].whole_us = w->now_us;
        world_probe(w);
        sim_due_at(w, w->now_us + 50 * SIM_MS, SIM_PHASE, 0, 0);
    } else {
        world_over(w);
    }
}

static void world_phase(sim_world *w)
{
    if (w->phase == SIM_BOOTING) {
        w->phase = SIM_CHAOS;
        sim_due_at(w, w->now_us + w->shape.chaos_us, SIM_PHASE, 0, 0);
    } else if (w->phase == SIM_CHAOS) {
        world_heal(w);
        sim_due_at(w, w->now_us, SIM_PHASE, 0, 0);
    } else {
        world_look(w);
    }
}

/* --------------------------------------------------------------------- loop */

static void world_step(sim_world *w, sim_node *n, uint64_t incarnation)
{
    int64_t wait;

    if (!n->running || n->incarnation != incarnation ||
        w->phase > SIM_CHAOS)
        return;
    if (!n->paused) {
        n->now = sim_node_clock(w, n);
        w->work->step(w, n);
        sim_node_turn(w, n);
    }
    wait = sim_even(&n->work, w->shape.step_us / 2, 3 * w->shape.step_us / 2);
    sim_due_at(w, w->now_us + wait, SIM_STEP, n->number, incarnation);
}

static void world_do(sim_world *w, const sim_due *d)
{
    switch ((sim_kind)d->kind) {
    case SIM_BYTES:
        sim_net_bytes(w, d->whom, d->which);
        return;
    case SIM_CONNECT:
        sim_net_connect(w, d->whom, d->which);
        return;
    case SIM_KEEPALIVE:
        sim_net_keepalive(w, d->whom, d->which);
        return;
    case SIM_WAKE:
        sim_node_wake(w, &w->node[d->whom], d->which);
        return;
    case SIM_BOOT:
        sim_node_boot(w, &w->node[d->whom]);
        return;
    case SIM_STEP:
        world_step(w, &w->node[d->whom], d->which);
        return;
    case SIM_HOST:
        if (w->host[d->whom].gen == d->which)
            sim_host_clock(w, &w->host[d->whom]);
        return;
    case SIM_WAIT:
        if (w->link[d->whom]->gen == d->which)
            sim_copies_due(w, w->link[d->whom]);
        return;
    case SIM_FAULT_ON:
        sim_fault_on(w, &w->fault[d->whom]);
        return;
    case SIM_FAULT_OFF:
        sim_fault_off(w, &w->fault[d->whom]);
        return;
    case SIM_HANG:
        sim_fault_hang(w, &w->fault[d->whom], w->phase == SIM_CHAOS);
        return;
    case SIM_CLOG:
        sim_fault_clog(w, &w->fault[d->whom], d->which);
        return;
    case SIM_EFFECT:
        sim_lease_arrives(w, d->which);
        return;
    case SIM_TASK:
        sim_hands_due(w, &w->node[d->whom], d->which);
        return;
    case SIM_DEED:
        sim_hands_arrives(w, d->which);
        return;
    case SIM_PHASE:
        world_phase(w);
        return;
    }
}

static void world_start(sim_world *w, const sim_setup *setup)
{
    int i;

    world_clear(w);
    w->setup = *setup;
    if (setup->bytes)
        sim_choices_bytes(&w->choices, setup->bytes, setup->bytes_n);
    else
        sim_choices_seed(&w->choices, setup->seed);
    sim_swarm(w);
    world_begin(w);
    for (i = 0; i < w->shape.nodes; i++)
        sim_swarm_config(w, &w->node[i]);
    sim_faults_draw(w);
    sim_host_start(w, &w->host[0], &w->host[0].log, 0);
    for (i = 0; i < w->shape.nodes; i++) {
        w->node[i].boots = 1;
        sim_due_at(w, (int64_t)i * 10 * SIM_MS, SIM_BOOT, i, 0);
    }
    sim_due_at(w, SIM_S / 2, SIM_PHASE, 0, 0);
}

int sim_world_run(sim_world *w, const sim_setup *setup)
{
    sim_due d;

    world_start(w, setup);
    while (!w->failed && w->phase != SIM_OVER &&
           sim_queue_take(&w->queue, &d)) {
        w->now_us = d.at_us;
        sim_note(w, (uint64_t)d.kind, (uint64_t)d.whom);
        world_do(w, &d);
        if (++w->events > WORLD_EVENTS_MAX)
            sim_fail(w, SIM_E3, "a run has more than %d events: an endless "
                     "loop", WORLD_EVENTS_MAX);
    }
    if (!w->failed && w->phase != SIM_OVER)
        sim_fail(w, SIM_E3, "no event is due, but the run is not over");
    sim_record_judge(w);
    return w->failed;
}
