/* SPDX-License-Identifier: MIT
 *
 * net.c - links: how they are opened, what they carry, how they end.
 *
 * A link ends twice, once at each end, and is free when both ends have closed
 * it. Bytes that a client wrote before it closed the link still arrive, perhaps
 * much later. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static sim_path *net_path(sim_world *w, const sim_link *l)
{
    return &w->path[l->node][l->host];
}

/* The same delay at the same instant, however the bytes are cut (R10). */
static int64_t net_delay(const sim_world *w, const sim_link *l, uint64_t what)
{
    uint64_t bits = sim_keyed(&w->choices, SIM_OF_DELAY, l->gen << 3 | what,
                              (uint64_t)w->now_us);

    return 20 + sim_delay(bits, w->shape.latency_us +
                                    w->path[l->node][l->host].extra_us);
}

static sim_link *net_slot(sim_world *w)
{
    int i;

    for (i = 0; i < SIM_LINKS; i++) {
        if (w->link[i] == NULL) {
            w->link[i] = (sim_link *)calloc(1, sizeof **w->link);
            if (w->link[i] == NULL)
                abort();
        }
        if (w->link[i]->state == SIM_FREE) {
            w->link[i]->number = i;
            return w->link[i];
        }
    }
    return NULL;
}

void sim_net_blank(sim_link *l)
{
    sim_link keep = *l;

    memset(l, 0, sizeof *l);
    l->number = keep.number;
    l->in = keep.in;
    l->in_cap = keep.in_cap;
    l->out = keep.out;
    l->out_cap = keep.out_cap;
    l->pipe[0] = keep.pipe[0];
    l->pipe[1] = keep.pipe[1];
    sim_pipe_clear(&l->pipe[0], 0);
    sim_pipe_clear(&l->pipe[1], 0);
}

static void net_reset_slot(sim_world *w, sim_link *l)
{
    sim_net_blank(l);
    sim_pipe_clear(&l->pipe[0], w->shape.pipe);
    sim_pipe_clear(&l->pipe[1], w->shape.pipe);
    l->gen = ++w->link_gen;
    l->id = -1;
}

sim_link *sim_net_dial(sim_world *w, sim_node *n, const relet_io *io)
{
    sim_link *l = net_slot(w);
    const sim_path *path;

    if (l == NULL)
        return NULL;
    net_reset_slot(w, l);
    l->state = SIM_DIALLING;
    l->node = n->number;
    l->host = w->primary;
    l->give_up = io->deadline;
    l->index = io->link;
    l->open_us = w->now_us;
    path = net_path(w, l);
    if (path->squeeze > 0)
        l->pipe[0].limit = l->pipe[1].limit = path->squeeze;
    sim_due_at(w, w->now_us + net_delay(w, l, 0) + net_delay(w, l, 1),
               SIM_CONNECT, l->number, l->gen);
    sim_pace_dials(w, n);
    SIM_SAY(w, "n%d dials h%d (link %d)", n->number, l->host, l->number);
    return l;
}

sim_link *sim_net_at(sim_world *w, const sim_node *n, int index)
{
    return n->link[index] > 0 ? w->link[n->link[index] - 1] : NULL;
}

sim_link *sim_net_of_node(sim_world *w, const sim_node *n)
{
    return sim_net_at(w, n, 0);
}

int sim_net_in_use(const sim_world *w, const sim_link *l)
{
    return w->node[l->node].link[l->index] == l->number + 1;
}

static void net_free_if_over(sim_link *l)
{
    if (l->client_gone && l->host_gone)
        l->state = SIM_FREE;
}

/* Bytes that arrive in a stall are planned for its end, so a stall that ends
 * sooner than an earlier one changes nothing. */
void sim_net_stall(sim_link *l, int way, int64_t until_us)
{
    if (l->stalled_us[way] < until_us)
        l->stalled_us[way] = until_us;
}

/* Schedules the bytes that a stall has held up. */
void sim_net_flows(sim_world *w, sim_link *l, int way)
{
    l->stalled_us[way] = 0;
    sim_due_at(w, w->now_us, SIM_BYTES, l->number,
               l->gen << 1 | (uint64_t)way);
}

/* Removes all limits of the link. Without this, a link that was opened while
 * its path was narrow would stay narrow. */
void sim_net_whole(sim_world *w, sim_link *l)
{
    int way;

    if (l->state == SIM_FREE)
        return;
    l->kill_after_run = 0;
    l->stall_for_us = 0;
    for (way = 0; way < 2; way++) {
        l->pipe[way].limit = w->shape.pipe;
        l->pipe[way].cut_after = -1;
        if (l->stalled_us[way] > w->now_us)
            sim_net_flows(w, l, way);
    }
}

void sim_net_connect(sim_world *w, int number, uint64_t gen)
{
    sim_link *l = w->link[number];
    sim_path *path;
    sim_node *n;

    if (l->gen != gen || l->state != SIM_DIALLING)
        return;
    n = &w->node[l->node];
    path = net_path(w, l);
    if (path->hang || path->hole[SIM_UP] || path->hole[SIM_DOWN]) {
        if (path->hang)
            SIM_MARK(connect_hangs);
        else
            SIM_MARK(hole_connect);
        sim_disturb_link(w, l);
        return; /* until the client gives up */
    }
    if (path->refuse || path->shut_us > w->now_us || !w->host[l->host].up) {
        SIM_MARK(connect_refused);
        sim_disturb_link(w, l);
        l->reset = 2;
    } else {
        l->state = SIM_OPEN;
        sim_host_accept(w, l);
    }
    sim_node_stir(w, n);
}

/* Bytes of one direction have come to its end. */
void sim_net_bytes(sim_world *w, int number, uint64_t which)
{
    sim_link *l = w->link[number];
    int way = (int)(which & 1);
    sim_pipe *p = &l->pipe[way];

    if (l->gen != which >> 1 || l->state != SIM_OPEN || l->reset)
        return;
    if (net_path(w, l)->hole[way]) {
        p->held = 1;
        sim_disturb_link(w, l);
        if (way == SIM_UP)
            SIM_MARK(hole_up);
        else
            SIM_MARK(hole_down);
        return;
    }
    if (l->stalled_us[way] > w->now_us) {
        SIM_MARK(stalled);
        sim_due_at(w, l->stalled_us[way], SIM_BYTES, number, which);
        return;
    }
    (void)sim_pipe_arrive(p, w->now_us);
    if (p->fin == 1 && p->part == p->parts_n) {
        p->fin = 2;
        if (p->arrived > 0)
            SIM_MARK(fin_with_data);
    }
    if (way == SIM_UP) {
        if (l->client_gone)
            SIM_MARK(late_arrival_of_the_closed);
        if (l->host_gone)
            sim_pipe_take(p, p->arrived);
        else
            sim_host_arrived(w, l);
    } else if (!l->client_gone) {
        sim_node_stir(w, &w->node[l->node]);
    }
    if (l->gen == which >> 1 && p->dying && p->part == p->parts_n)
        sim_net_reset(w, l, 0);
}

static void net_schedule(sim_world *w, sim_link *l, int way)
{
    sim_due_at(w, l->pipe[way].last_us, SIM_BYTES, l->number,
               l->gen << 1 | (uint64_t)way);
}

static int64_t net_arrival(sim_world *w, const sim_link *l, int way)
{
    int64_t at = w->now_us + net_delay(w, l, 2 + (uint64_t)way);

    return at > l->pipe[way].last_us ? at : l->pipe[way].last_us;
}

/* Returns how many of the bytes were taken. */
size_t sim_net_write(sim_world *w, sim_link *l, int way, const uint8_t *bytes,
                     size_t n)
{
    sim_pipe *p = &l->pipe[way];
    size_t room = sim_pipe_room(p), carried;

    if (p->dying || l->reset)
        return n; /* lost, until an end notices */
    if (n > room) {
        p->wanted = 1;
        SIM_MARK(pipe_full);
        n = room;
    }
    if (n == 0)
        return 0;
    carried = n;
    if (p->cut_after >= 0 && (int64_t)n >= p->cut_after) {
        carried = (size_t)p->cut_after;
        p->dying = 1;
        sim_disturb_link(w, l); /* maybe long after it was drawn */
        if (way == SIM_UP)
            SIM_MARK(cut_up);
        else
            SIM_MARK(cut_down);
    }
    if (p->cut_after >= 0)
        p->cut_after -= (int64_t)carried;
    sim_pipe_put(p, bytes, carried, net_arrival(w, l, way));
    net_schedule(w, l, way);
    return n;
}

void sim_net_fin(sim_world *w, sim_link *l, int way)
{
    sim_pipe *p = &l->pipe[way];

    if (p->fin)
        return;
    p->fin = 1;
    p->last_us = net_arrival(w, l, way);
    net_schedule(w, l, way);
}

/* Both pipes vanish. The client sees that now, or when it writes again. */
void sim_net_reset(sim_world *w, sim_link *l, int quiet)
{
    if (l->state == SIM_FREE || l->reset)
        return;
    sim_disturb_link(w, l);
    l->reset = quiet ? 1 : 2;
    SIM_SAY(w, "link %d of n%d is reset%s", l->number, l->node,
            quiet ? ", quietly" : "");
    sim_net_host_lets_go(w, l);
    if (l->state == SIM_FREE)
        return;
    if (quiet)
        sim_due_at(w, w->now_us + SIM_KEEPALIVE_US, SIM_KEEPALIVE, l->number,
                   l->gen);
    else
        sim_node_stir(w, &w->node[l->node]);
}

/* A client that waits without a deadline on a dead link has only its driver,
 * which asks TCP. */
void sim_net_keepalive(sim_world *w, int number, uint64_t gen)
{
    sim_link *l = w->link[number];

    if (l->gen != gen || l->reset != 1 ||
        !sim_judge_waits_for_ever(&w->node[l->node]))
        return;
    l->reset = 2;
    sim_node_stir(w, &w->node[l->node]);
}

/* Closing a socket while input is unread resets the link: bytes that were
 * written may be lost on their way. */
static int net_aborts(const sim_world *w, const sim_link *l)
{
    if (l->pipe[SIM_DOWN].arrived == 0 ||
        (sim_keyed(&w->choices, SIM_OF_DELAY, l->gen, 77) & 1) == 0)
        return 0;
    SIM_MARK(closed_unread);
    return 1;
}

void sim_net_client_lets_go(sim_world *w, sim_link *l, int crash)
{
    sim_node *n = &w->node[l->node];

    if (sim_net_in_use(w, l))
        n->link[l->index] = 0;
    l->client_gone = 1;
    if (l->state == SIM_DIALLING || l->reset)
        l->host_gone = 1;
    else if (crash || net_aborts(w, l))
        sim_net_host_lets_go(w, l);
    else
        sim_net_fin(w, l, SIM_UP);
    net_free_if_over(l);
}

/* Hangs up the server's end, if it was open. */
void sim_net_host_lets_go(sim_world *w, sim_link *l)
{
    sim_host *h = &w->host[l->host];

    sim_record_gone(w, l);
    if (!sim_net_in_use(w, l))
        w->jobs.left_us = w->now_us;
    if (l->id >= 0) {
        h->by_id[l->id] = NULL;
        if (h->local)
            relet_local_hangup(h->local, l->id);
    }
    l->id = -1;
    l->host_gone = 1;
    net_free_if_over(l);
}

sim_link *sim_net_next(const sim_world *w, uint64_t *gen)
{
    sim_link *next = NULL;
    int i;

    for (i = 0; i < SIM_LINKS && w->link[i]; i++)
        if (w->link[i]->state != SIM_FREE &&
            w->link[i]->gen > *gen &&
            (next == NULL || w->link[i]->gen < next->gen))
            next = w->link[i];
    if (next)
        *gen = next->gen;
    return next;
}

/* The path swallows no more bytes: the bytes that were held up arrive now. */
void sim_net_heal(sim_world *w, int node, int host)
{
    const sim_path *path = &w->path[node][host];
    sim_link *l;
    int i, way;

    for (i = 0; i < SIM_LINKS && w->link[i]; i++) {
        l = w->link[i];
        if (l->state == SIM_FREE || l->node != node || l->host != host)
            continue;
        for (way = 0; way < 2; way++) {
            if (!l->pipe[way].held || path->hole[way])
                continue;
            l->pipe[way].held = 0;
            sim_due_at(w, w->now_us + net_delay(w, l, 4 + (uint64_t)way),
                       SIM_BYTES, i, l->gen << 1 | (uint64_t)way);
        }
    }
}
