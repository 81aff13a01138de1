/* SPDX-License-Identifier: MIT
 *
 * swarm.c - draws what kind of run a seed is.
 *
 * Each run leaves out most classes of faults: a class that is in every run
 * would hide defects that only other faults show. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static unsigned swarm_subset(sim_stream *st, unsigned all, unsigned of)
{
    unsigned k = 1 + sim_choose(st, of), bits = 0, i;

    for (i = 0; i < of; i++)
        if ((all & 1u << i) && sim_choose(st, of) < k)
            bits |= 1u << i;
    return bits;
}

/* Small pipes are slow, so their latency must be short. */
static void swarm_network(sim_shape *s, sim_stream *st)
{
    s->latency_us = sim_spread(st, 50, 20000);
    s->pipe = (size_t)sim_spread(st, 512, 65536);
    if (s->pipe < 8192 && s->latency_us > 500)
        s->latency_us = 500;
    s->chunky = (uint32_t)sim_spread(st, 0, 255);
    s->spurious = (uint32_t)sim_spread(st, 0, 64);
}

static void swarm_full(sim_world *w)
{
    sim_shape *s = &w->shape;

    s->nodes = 5;
    s->chaos_us = 60 * SIM_S;
    s->ops = ~0u;
    s->troubles = ~0u;
    s->faults = 30;
    s->latency_us = 2000;
    s->pipe = 65536;
    s->step_us = SIM_S / 4;
}

static void swarm_lite(sim_world *w)
{
    w->shape.nodes = 2;
    w->shape.chaos_us = 2 * SIM_S;
    w->shape.step_us = 50 * SIM_MS;
    if (w->shape.faults > 6)
        w->shape.faults = 6;
}

/* Draws the workload from a stream of its own, so that older seeds kept their
 * runs when a workload was added. */
static void swarm_work(sim_world *w)
{
    sim_stream st;
    uint32_t k;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 1000);
    k = sim_choose(&st, 5);
    w->work = k < 2 ? &sim_plain : k < 4 ? &sim_both : &sim_lease;
    if (sim_chance(&st, 1, 4))
        w->work = &sim_working;
    if (w->setup.work)
        w->work = w->setup.work;
}

/* If all leases ask for copies, most faults concern the copies. */
static void swarm_copies(sim_world *w)
{
    static const uint32_t careful[] = {0, 0, 1, 4};
    const unsigned theirs = 1u << SIM_T_REPLICA | 1u << SIM_T_FAILOVER |
                            1u << SIM_T_RESTART;
    sim_shape *s = &w->shape;
    sim_stream st;
    unsigned few;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 4000);
    s->replicas = (int)sim_choose(&st, 3);
    s->careful = careful[sim_choose(&st, 4)];
    s->lag_us = sim_spread(&st, 100, 20 * SIM_MS);
    s->sync_us = sim_spread(&st, 100, 50 * SIM_MS);
    few = sim_choose(&st, UINT32_MAX);
    few &= sim_choose(&st, UINT32_MAX);
    if (s->careful == 4 && w->work != &sim_plain)
        s->troubles = theirs | (s->troubles & few);
}

/* Makes many requests arrive late or twice: workers number their steps for such
 * requests. */
static void swarm_late(sim_world *w)
{
    const unsigned late = 1u << SIM_T_STALL | 1u << SIM_T_RESET |
                          1u << SIM_T_AFTER_RUN;
    sim_shape *s = &w->shape;
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 5000);
    if (w->work != &sim_working || !sim_chance(&st, 1, 5))
        return;
    s->troubles = late | (s->troubles & sim_choose(&st, UINT32_MAX) &
                          sim_choose(&st, UINT32_MAX));
    if (s->faults < 20)
        s->faults = 20;
    s->ops |= 32;
}

/* Many operations under way at a time, in runs of plain work. */
static void swarm_bursts(sim_world *w)
{
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 6000);
    w->shape.bursts = w->work == &sim_plain && sim_chance(&st, 1, 5);
}

/* In some seeds, operators repair jobs, or dead jobs are kept for a short
 * time. */
static void swarm_orders(sim_world *w)
{
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 9000);
    if (w->work != &sim_working)
        return;
    if (sim_chance(&st, 1, 6))
        w->shape.repairs = (uint32_t)sim_spread(&st, 8, 64);
    if (sim_chance(&st, 1, 6))
        w->shape.dead_ms = sim_spread(&st, 1, 10000);
}

/* In some seeds, scripts of queues are cut in their middle. */
static void swarm_cuts(sim_world *w)
{
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 7000);
    if (w->work == &sim_working && sim_chance(&st, 1, 8))
        w->shape.cuts = (uint32_t)sim_spread(&st, 1, 64);
    if (w->work == &sim_lease && sim_chance(&st, 1, 4))
        w->shape.cuts = (uint32_t)sim_spread(&st, 1, 64);
}

/* Servers that lie, and few other faults: otherwise few links live long enough
 * for a lie about something new. */
static void swarm_liars(sim_world *w)
{
    const unsigned theirs = 1u << SIM_T_LIES | 1u << SIM_T_RESET;
    sim_shape *s = &w->shape;
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 8000);
    if (w->work == &sim_working || !sim_chance(&st, 1, 12))
        return;
    s->troubles = theirs | (s->troubles & sim_choose(&st, UINT32_MAX) &
                            sim_choose(&st, UINT32_MAX));
    if (s->faults < 10)
        s->faults = 10;
}

void sim_swarm(sim_world *w)
{
    sim_shape *s = &w->shape;
    sim_stream st;

    memset(s, 0, sizeof *s);
    sim_stream_open(&st, &w->choices, SIM_OF_SWARM, 0);
    s->nodes = 1 + (int)sim_choose(&st, 5);
    s->chaos_us = sim_spread(&st, 2 * SIM_S, 90 * SIM_S);
    s->step_us = sim_spread(&st, 20 * SIM_MS, 2 * SIM_S);
    if (s->chaos_us / s->step_us > 600)
        s->step_us = s->chaos_us / 600;
    swarm_network(s, &st);
    s->ops = swarm_subset(&st, ~0u, 16);
    s->troubles = swarm_subset(&st, ~0u, SIM_TROUBLES);
    s->faults = (int)sim_spread(&st, 1, SIM_FAULTS);
    s->password = sim_chance(&st, 1, 3);
    s->db = sim_chance(&st, 1, 4) ? 1 + (int)sim_choose(&st, 15) : 0;
    s->tracking = sim_chance(&st, 1, 4) ? 1 + (int)sim_choose(&st, 3) : 0;
    s->ppm = sim_chance(&st, 1, 2) ? (int32_t)sim_spread(&st, 0, 5000) : 0;
    swarm_work(w);
    swarm_copies(w);
    swarm_late(w);
    swarm_bursts(w);
    if (w->setup.preset == SIM_SWARM)
        swarm_cuts(w);
    swarm_liars(w);
    if (w->setup.preset == SIM_SWARM)
        swarm_orders(w);
    if (w->setup.preset == SIM_FULL)
        swarm_full(w);
    if (w->setup.preset == SIM_LITE)
        swarm_lite(w);
    if (w->setup.preset == SIM_CALM)
        s->faults = 0;
}

/* ------------------------------------------------------------ configuration */

static void swarm_times(sim_world *w, relet_config *c, sim_stream *st)
{
    relet_time trip = 12 * w->shape.latency_us / 1000 + 50;

    c->timeout_ms = sim_spread(st, 4 * trip, 5000);
    c->connect_timeout_ms = sim_spread(st, 6 * trip, 5000);
    c->ping_every_ms = sim_chance(st, 1, 4) ? 0
                                            : sim_spread(st, 500, 15000);
    c->retry_min_ms = sim_spread(st, 1, 200);
    c->retry_max_ms = sim_spread(st, c->retry_min_ms + 50, 4000);
    c->stable_ms = sim_spread(st, 100, 5000);
    c->attempts_max = sim_chance(st, 1, 8) ? (int)sim_even(st, 2, 8) : 0;
    c->fail_fast = sim_chance(st, 1, 10);
}

/* The time from the healing until everything works. A link that is dead but
 * silent is found by its ping, or by two time-outs. Then come at most a connect
 * that hangs, a wait, a connect, a handshake that is put off, and the
 * answers. */
static int64_t swarm_bound(const sim_world *w, const relet_config *c)
{
    relet_time ms = c->ping_every_ms + 4 * c->timeout_ms +
                    4 * c->connect_timeout_ms + 4 * c->retry_max_ms + 5000;

    /* Added: a renewal without an answer, a lease that ends, a key that its
     * leader has lost, a quarantine after a failover. */
    if (w->work != &sim_plain)
        ms += 8 * SIM_TTL_MAX_MS;
    if (w->work == &sim_working)
        ms += 4 * SIM_JOB_WAIT_MAX_MS;

    return ms * 1000 + SIM_KEEPALIVE_US + 100 * w->shape.latency_us;
}

static void swarm_limits(relet_config *c, sim_stream *st)
{
    c->operations_max = (uint32_t)sim_spread(st, 1, 64);
    c->subscriptions_max = 8;
    c->scripts_max = 4;
    c->output_max = (size_t)sim_spread(st, 8192, 65536);
    c->reply_max = (size_t)sim_spread(st, 8192, 131072);
    c->bulk_max = (uint32_t)c->reply_max;
    c->buffer_min = (size_t)sim_spread(st, 64, 4096);
    c->tape_max = 16384;
    if (sim_chance(st, 1, 6))
        c->count_max = 32; /* the answer of one script has more elements     */
}

/* Gives each incarnation of a node the same configuration. */
void sim_swarm_config(sim_world *w, sim_node *n)
{
    relet_config *c = &n->config;
    sim_stream st;

    sim_stream_open(&st, &w->choices, SIM_OF_SWARM,
                    1 + (uint64_t)n->number);
    relet_config_init(c);
    strcpy(c->host, "h");
    swarm_times(w, c, &st);
    swarm_limits(c, &st);
    if (w->shape.password)
        strcpy(c->password, "sesame");
    c->db = w->shape.db;
    if (sim_chance(&st, 1, 3))
        strcpy(c->name, "sim");
    c->tracking = (relet_tracking)w->shape.tracking;
    if (c->tracking == RELET_TRACK_BROADCAST)
        strcpy(c->tracking_prefix, "k");
    c->resize = sim_chance(&st, 7, 8) ? sim_node_resize : NULL;
    c->resize_user = n;
    if (w->work == &sim_lease || w->work == &sim_both)
        c->leases_max = SIM_HOLDS - (uint32_t)(n->number & 1);
    if (w->work == &sim_working) {
        c->workers_max = SIM_DESKS;
        c->jobs_max = 1 + sim_choose(&st, 8);
        if (sim_chance(&st, 1, 6))
            c->jobs_max = 1 + sim_choose(&st, SIM_ROOM);
        if (sim_chance(&st, 1, 8)) /* an answer with all jobs is too large  */
            c->reply_max = c->buffer_min + 1024;
    }
    if (w->shape.bursts) {
        c->operations_max = 64;
        c->output_max = 8192;
    }
    c->seed = sim_keyed(&w->choices, SIM_OF_NODE, (uint64_t)n->number,
                        n->incarnation);
    if (swarm_bound(w, c) > w->shape.bound_us)
        w->shape.bound_us = swarm_bound(w, c);
    if (c->timeout_ms > w->shape.timeout_max)
        w->shape.timeout_max = c->timeout_ms;
}

void sim_swarm_print(const sim_world *w)
{
    const sim_shape *s = &w->shape;

    printf("%s, %d nodes, %ld ms, a step each %ld ms, latency %ld us, "
           "pipe %lu, chunky %u, ops %x, faults %d of %x, cuts %u, "
           "bound %ld ms\n",
           w->work->name, s->nodes, (long)(s->chaos_us / 1000),
           (long)(s->step_us / 1000),
           (long)s->latency_us, (unsigned long)s->pipe, s->chunky, s->ops,
           w->faults, s->troubles, s->cuts, (long)(s->bound_us / 1000));
}
