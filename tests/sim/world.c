/* SPDX-License-Identifier: MIT
 *
 * world.c - one run: what is due happens, until all that must be has been.
 *
 * Boot, without faults; chaos; then everything is made whole, and from there
 * each client has to be up, to have its messages back and to answer, within a
 * bound that follows from its configuration. */
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

/* Memory stays from run to run: clearing it would be half of the time. */
static void world_clear_node(sim_world *w, int i)
{
    sim_node *n = &w->node[i], keep = *n;

    if (n->running)
        relet_finish(n->r);
    memset(n, 0, sizeof *n);
    n->world = w;
    n->number = i;
    n->memory = keep.memory;
    n->memory_n = keep.memory_n;
    n->ops = keep.ops;
    n->ops_cap = keep.ops_cap;
    n->disturbed_us = -1;
    sim_stream_open(&n->work, &w->choices, SIM_OF_WORK, (uint64_t)i);
    sim_stream_open(&n->chunk, &w->choices, SIM_OF_CHUNK,
                    (uint64_t)i + (w->setup.chunk_salt << 8));
}

static void world_clear_host(sim_world *w, int i)
{
    sim_host *h = &w->host[i], keep = *h;

    if (h->local)
        relet_local_finish(h->local);
    memset(h, 0, sizeof *h);
    h->number = i;
    h->block = keep.block;
    h->log.bytes = keep.log.bytes;
    h->log.cap = keep.log.cap;
    h->log.at = keep.log.at;
    h->log.at_cap = keep.log.at_cap;
    h->ledger = keep.ledger;
    sim_ledger_anew(h);
    h->ledger.gen = 0;
    h->wall_stop_us = SIM_NEVER;
    h->ppm = w->shape.ppm / 2;
}

static void world_clear(sim_world *w)
{
    int i;

    sim_queue_clear(&w->queue);
    for (i = 0; i < SIM_NODES; i++)
        world_clear_node(w, i);
    for (i = 0; i < SIM_HOSTS; i++)
        world_clear_host(w, i);
    sim_net_clear(w);
    sim_claims_clear(w);
    sim_jobs_clear(w);
    memset(w->path, 0, sizeof w->path);
    memset(w->checked, 0, sizeof w->checked);
    w->now_us = w->phase_us = w->recovery_us = 0;
    w->events = w->turns = w->hash = w->history = w->link_gen = 0;
    w->gave_up = 0;
    w->memory_faults = w->flush_next = w->replicas_away = 0;
    w->disks_hang = 0;
    w->lag_us = 0;
    w->primary = w->faults = w->faults_fired = w->talking = w->failed = 0;
    w->phase = SIM_BOOTING;
    w->why[0] = '\0';
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
    n->disturbed_us = SIM_NEVER;
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

/* In one of three runs some are never made whole, but at least one is. */
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

static void world_heal(sim_world *w)
{
    int i;

    sim_faults_heal(w);
    w->phase = SIM_QUIET;
    w->phase_us = w->now_us;
    SIM_SAY(w, "all is whole");
    world_losses(w);
    for (i = 0; i < w->shape.nodes; i++) {
        sim_node *n = &w->node[i];

        sim_disturb(w, i, w->faults_fired ? w->now_us : -w->shape.bound_us);
        if (!n->running && !n->boots) {
            n->boots = 1;
            sim_due_at(w, w->now_us, SIM_BOOT, i, 0);
        }
    }
}

/* What the phase waits for has come about for this node. */
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
    w->checked[SIM_L8] += w->leases.serials > 0;
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

static void world_late(sim_world *w, int waiting)
{
    const sim_node *n = &w->node[waiting];
    int deaf = w->phase == SIM_PROBED ||
               (n->open_ops == 0 && (n->gap_due || n->wished != n->in_force));

    if (n->running && w->phase == SIM_QUIET && sim_lease_missing(w, n))
        sim_fail(w, SIM_L8, "n%d waits for a lease that nobody leads by",
                 waiting);
    if (n->running && w->phase == SIM_QUIET && sim_plain.alive(w, n) &&
        sim_jobs_missing(w))
        sim_fail(w, SIM_Q3, "there are jobs that never end");
    sim_fail(w, n->running && relet_is_up(n->r) && deaf ? SIM_R9 : SIM_R8,
             "n%d does not recover: %s, %s, %lu open, wished %x, in force %x, "
             "heard %x, probe %u",
             waiting, n->running ? "runs" : "does not run",
             n->running && relet_is_up(n->r) ? "up" : "down",
             (unsigned long)n->open_ops, n->wished, n->in_force, n->heard,
             n->probe);
}

/* A server whose clock was set back keeps what it has for longer. */
static int64_t world_behind(const sim_world *w)
{
    return w->leases.ttl_max == 0
               ? 0
               : w->leases.wall_max_us - w->host[w->primary].wall_offset_us;
}

static void world_look(sim_world *w)
{
    int64_t since = w->now_us - w->phase_us;
    int i, waiting = -1;

    for (i = 0; i < w->shape.nodes && !w->failed; i++)
        if (!world_node_done(w, &w->node[i]))
            waiting = i;
    if (w->failed)
        return;
    w->checked[SIM_R8]++;
    if (waiting >= 0 && since > w->shape.bound_us + world_behind(w)) {
        world_late(w, waiting);
    } else if (waiting >= 0 ||
               (w->phase == SIM_QUIET &&
                (sim_lease_more(w) || sim_waits_more(w)))) {
        sim_due_at(w, w->now_us + 50 * SIM_MS, SIM_PHASE, 0, 0);
    } else if (w->phase == SIM_QUIET) {
        w->recovery_us = since;
        w->phase = SIM_PROBED;
        w->phase_us = w->now_us;
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

    w->setup = *setup;
    if (setup->bytes)
        sim_choices_bytes(&w->choices, setup->bytes, setup->bytes_n);
    else
        sim_choices_seed(&w->choices, setup->seed);
    sim_swarm(w);
    world_clear(w);
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
            sim_fail(w, SIM_E3, "too many events: somebody spins");
    }
    if (!w->failed && w->phase != SIM_OVER)
        sim_fail(w, SIM_E3, "nothing is due, and nothing is done");
    sim_record_judge(w);
    sim_jobs_judge(w);
    return w->failed;
}
