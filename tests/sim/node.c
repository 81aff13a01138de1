/* SPDX-License-Identifier: MIT
 *
 * node.c - a client: its process, its clock, its memory. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define NODE_FAR_MS 1000000000 /* longer than any run                        */

relet_time sim_node_clock(const sim_world *w, const sim_node *n)
{
    int64_t us = n->offset_us + w->now_us + w->now_us * n->ppm / 1000000;

    return us / 1000;
}

/* The first world time at which the node's clock shows `ms`. */
int64_t sim_node_world_time(const sim_world *w, const sim_node *n,
                            relet_time ms)
{
    int64_t behind = ms * 1000 - n->offset_us -
                     (w->now_us + w->now_us * n->ppm / 1000000);
    int64_t at = w->now_us + behind * 1000000 / (1000000 + n->ppm) + 1;

    return at > w->now_us ? at : w->now_us;
}

void *sim_node_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    sim_node *n = (sim_node *)user;
    uint64_t bits;

    if (n->oom > 0 && new_size > old_size) {
        bits = sim_keyed(&n->world->choices, SIM_OF_MEMORY,
                         (uint64_t)n->number << 32 | n->incarnation,
                         ++n->asked);
        if ((bits & 255) < n->oom_rate) {
            SIM_MARK(memory_refused);
            n->short_at = n->now;
            n->short_us = n->world->now_us;
            sim_disturb(n->world, n->number);
            return NULL;
        }
    }
    if (new_size == 0) {
        n->held -= old_size;
        free(p);
        return NULL;
    }
    p = realloc(p, new_size);
    if (p == NULL)
        abort();
    n->held += new_size - old_size;
    if (n->held > n->held_peak)
        n->held_peak = n->held;
    return p;
}

/* ------------------------------------------------------------ start and end */

static void node_fresh(sim_world *w, sim_node *n)
{
    n->incarnation++;
    n->oom_rate = n->oom ? n->oom_rate : 0;
    n->offset_us = sim_even(&n->work, 0, 1000 * SIM_S);
    n->ppm = w->shape.ppm == 0
                 ? 0
                 : (int32_t)sim_even(&n->work, -w->shape.ppm, w->shape.ppm);
    n->now = sim_node_clock(w, n);
    memset(n->link, 0, sizeof n->link);
    n->spins = n->leaving = n->stopping = n->lied = n->ever_lied = 0;
    n->misled = 0;
    n->odd = 0;
    n->held_peak = 0;
    n->short_at = 0;
    n->short_us = -1;
    n->gap_us = 0;
    n->troubled = 0;
    n->calm_us = -1; /* until it has a link */
    n->calms = 0;
    n->dials.n = 0;
    n->watch = 0;
    memset(&n->await, 0, sizeof n->await);
    memset(n->told, 0, sizeof n->told);
    n->ups = n->bytes_in = n->bytes_out = 0;
    n->wished = n->in_force = n->wish_moved = n->heard = 0;
    n->gap_due = n->loss_due = n->is_up = n->may_skip = n->may_gap = 0;
    n->wake[0] = '\0';
    n->probe = 0;
    n->wake_us = SIM_NEVER;
}

static void node_later(sim_world *w, sim_node *n, int64_t us)
{
    n->boots = 1;
    sim_due_at(w, w->now_us + us, SIM_BOOT, n->number, 0);
}

void sim_node_boot(sim_world *w, sim_node *n)
{
    relet_fault fault;
    size_t size;

    n->boots = 0;
    if (n->running || n->lost == SIM_DEAD)
        return;
    node_fresh(w, n);
    sim_swarm_config(w, n);
    size = relet_size(&n->config);
    if (size > n->memory_n) {
        free(n->memory);
        n->memory = malloc(n->memory_n = size);
        if (n->memory == NULL)
            abort();
    }
    n->r = relet_init(n->memory, n->memory_n, &n->config, &fault);
    if (n->r == NULL) {
        SIM_MARK(boot_refused);
        if (!n->oom || fault.code != RELET_E_MEMORY)
            sim_fail(w, SIM_E1, "n%d: %s", n->number, fault.text);
        if (n->held != 0)
            sim_fail(w, SIM_R7, "a start that failed did not free its memory");
        node_later(w, n, SIM_S / 2);
        return;
    }
    n->running = 1;
    SIM_SAY(w, "n%d starts, incarnation %lu", n->number,
            (unsigned long)n->incarnation);
    w->work->start(w, n);
    sim_node_turn(w, n);
    n->step_us = w->now_us + sim_even(&n->work, 0, w->shape.step_us);
    sim_due_at(w, n->step_us, SIM_STEP, n->number, n->incarnation);
}

static void node_last_events(sim_world *w, sim_node *n)
{
    relet_event ev;
    relet_io io;
    int i;

    while (relet_next(n->r, &ev)) {
        sim_judge_event(w, n, &ev);
        w->work->event(w, n, &ev);
    }
    while (relet_io_want(n->r, &io))
        if (io.open)
            sim_fail(w, SIM_R7, "n%d opens a link after it was stopped",
                     n->number);
        else if (n->link[io.link] > 0)
            sim_net_client_lets_go(w, sim_net_at(w, n, io.link), 0);
        else
            sim_fail(w, SIM_R7, "n%d closes a link that is not open",
                     n->number);
    for (i = 0; i < RELET_LINKS_MAX; i++)
        if (n->link[i] > 0)
            sim_fail(w, SIM_R7, "n%d leaves a link open", n->number);
}

void sim_node_end(sim_world *w, sim_node *n, int crash)
{
    int i;

    if (!n->running)
        return;
    n->now = sim_node_clock(w, n);
    SIM_SAY(w, "n%d %s", n->number, crash ? "crashes" : "stops");
    if (!crash) {
        n->stopping = 1;
        relet_stop(n->r);
        node_last_events(w, n);
    } else {
        for (i = 0; i < RELET_LINKS_MAX; i++)
            if (n->link[i] > 0)
                sim_net_client_lets_go(w, sim_net_at(w, n, i), crash > 1);
    }
    sim_judge_gone(w, n, crash);
    relet_finish(n->r);
    w->checked[SIM_R7]++;
    if (n->held != 0)
        sim_fail(w, SIM_R7, "n%d did not free %lu bytes", n->number,
                 (unsigned long)n->held);
    n->running = 0;
    n->r = NULL;
    n->wake_gen++;
}

/* ------------------------------------------------------------------- waking */

/* When the node is due next, on its clock. */
static relet_time node_due(sim_world *w, const sim_node *n)
{
    relet_time at = relet_deadline(n->r);
    const sim_link *l = sim_net_of_node(w, n);

    if (n->await.on && rlt_put_wait_deadline(&n->await.machine) < at)
        at = rlt_put_wait_deadline(&n->await.machine);
    return l && l->state == SIM_DIALLING && l->give_up < at ? l->give_up : at;
}

static void node_maybe_needless(sim_world *w, sim_node *n)
{
    uint64_t bits = sim_draw(w, SIM_OF_TIE, (uint64_t)n->number);

    if ((bits & 255) < w->shape.spurious)
        sim_due_at(w, w->now_us + (int64_t)(bits >> 8 & 0xfffff), SIM_WAKE,
                   n->number, SIM_NEEDLESS);
}

static void node_schedule(sim_world *w, sim_node *n)
{
    relet_time at = node_due(w, n);
    int64_t us;

    node_maybe_needless(w, n);
    if (at == RELET_NEVER || at - n->now > NODE_FAR_MS)
        return;
    if (at > n->now) {
        n->spins = 0;
    } else if (++n->spins > 20) {
        sim_fail(w, SIM_R13, "n%d: its deadline is now, again and again",
                 n->number);
        return;
    } else {
        at = n->now + 1;
    }
    us = sim_node_world_time(w, n, at);
    if (n->wake_us <= us && n->wake_us > w->now_us)
        return;
    n->wake_us = us;
    sim_due_at(w, us, SIM_WAKE, n->number, ++n->wake_gen);
}

/* If no input came and nothing is due, a turn must change nothing. If it does,
 * the client announced a deadline that is too late. */
static void node_needless(sim_world *w, sim_node *n, relet_time now)
{
    const sim_link *l = sim_net_of_node(w, n);
    const uint8_t *p;

    if (node_due(w, n) <= now || n->leaving ||
        n->resumed_us == w->now_us) /* it has unread input                    */
        return;
    if (l && (l->reset || l->pipe[SIM_DOWN].arrived > 0 ||
              l->pipe[SIM_DOWN].fin == 2 ||
              relet_io_pending(n->r, 0, &p) > 0))
        return;
    SIM_MARK(spurious_wake);
    n->now = now;
    w->checked[SIM_R13]++;
    if (sim_driver_turn(w, n))
        sim_fail(w, SIM_R13, "n%d did work in a turn before its deadline and "
                 "without input", n->number);
}

/* `gen` is that of a deadline, or UINT64_MAX for any reason. */
void sim_node_wake(sim_world *w, sim_node *n, uint64_t gen)
{
    relet_time now;

    if (!n->running || (gen < SIM_NEEDLESS && gen != n->wake_gen))
        return;
    if (n->paused) {
        n->wake_late = 1;
        return;
    }
    now = sim_node_clock(w, n);
    if (gen == SIM_NEEDLESS) {
        node_needless(w, n, now);
        return;
    }
    if (gen != UINT64_MAX)
        n->wake_us = SIM_NEVER;
    if (gen == UINT64_MAX || node_due(w, n) <= now)
        sim_node_turn(w, n);
    else
        node_schedule(w, n);
}

/* Input came, or the link changed. */
void sim_node_stir(sim_world *w, sim_node *n)
{
    if (!n->running)
        return;
    if (n->paused)
        n->wake_late = 1;
    else
        sim_node_turn(w, n);
}

void sim_node_turn(sim_world *w, sim_node *n)
{
    int rounds = 0;

    if (!n->running || w->failed)
        return;
    if (n->paused) {
        n->wake_late = 1;
        return;
    }
    w->turns++;
    n->now = sim_node_clock(w, n);
    while ((sim_driver_turn(w, n) | sim_awaits_turn(w, n)) && !w->failed)
        if (++rounds > 4000)
            sim_fail(w, SIM_E3, "n%d: a turn without end", n->number);
    w->checked[SIM_E3]++;
    if (w->failed)
        return;
    sim_judge_turn(w, n);
    if (n->leaving) {
        sim_node_end(w, n, 0);
        node_later(w, n, SIM_S);
        return;
    }
    node_schedule(w, n);
}
