/* SPDX-License-Identifier: MIT
 *
 * causes.c - what is wrong at a node, and since when nothing is: what a client
 * may call trouble.
 *
 * A cause begins where it takes effect: when bytes are held up, a link breaks,
 * an error is said, memory is refused; not when the fault was drawn. It ends
 * when the node has a link that is open at both ends, carries at full width,
 * and has delivered all that was under way. From then on the node has no
 * excuse, until something else happens to it. */
#include "sim.h"

#define CAUSES_CALM_US (50 * SIM_MS) /* what is shorter excludes nothing      */

/* A node is in order no more. */
static void causes_calm_ends(sim_world *w, sim_node *n)
{
    sim_calm *c = &n->calm[n->calms % SIM_CALMS];

    if (n->calm_us < 0)
        return;
    c->from_us = n->calm_us;
    c->to_us = w->now_us;
    n->calms += c->to_us - c->from_us >= CAUSES_CALM_US;
    n->calm_us = -1;
}

/* Something happens to a node now. */
void sim_disturb(sim_world *w, int node)
{
    sim_node *n = &w->node[node];

    causes_calm_ends(w, n);
    n->troubled = 1;
    n->disturbed_us = w->now_us;
}

/* … to this link's, if it is still the one that its node uses. */
void sim_disturb_link(sim_world *w, const sim_link *l)
{
    if (w->node[l->node].link == l->number + 1)
        sim_disturb(w, l->node);
}

/* A server is busy, or says so: a client that reads it may wait before it
 * sends anything else on this link. */
void sim_disturb_by_error(sim_world *w, sim_link *l)
{
    sim_disturb_link(w, l);
    w->node[l->node].refused_us = w->now_us;
    l->error_at = l->pipe[SIM_DOWN].carried + (l->out_n - l->out_at);
}

/* Its client has read on. */
void sim_causes_read(sim_world *w, sim_link *l)
{
    const relet_config *c = &w->node[l->node].config;
    const sim_pipe *p = &l->pipe[SIM_DOWN];

    if (l->error_at == 0)
        return;
    l->waits_us = w->now_us + (c->retry_max_ms * 101 / 100 + 2) * SIM_MS;
    if (l->error_at <= p->carried - (p->tail - p->head))
        l->error_at = 0;
}

int sim_link_waits(const sim_world *w, const sim_link *l)
{
    return l->error_at > 0 || l->waits_us >= w->now_us;
}

/* To what servers know: a node hears of it later, if at all. */
void sim_disturb_servers(sim_world *w)
{
    int i;

    for (i = 0; i < w->shape.nodes; i++) {
        causes_calm_ends(w, &w->node[i]);
        w->node[i].shaken_us = w->now_us;
    }
}

static int causes_pipe_is_whole(const sim_world *w, const sim_pipe *p)
{
    return !p->held && !p->dying && !p->fin && p->limit >= w->shape.pipe;
}

static int causes_pipe_is_empty(const sim_pipe *p)
{
    return p->head == p->tail && p->part == p->parts_n;
}

/* Nothing is wrong with it, and what was said before has arrived. */
static int causes_link_is_whole(const sim_world *w, const sim_link *l)
{
    const sim_host *h = &w->host[l->host];

    return l->state == SIM_OPEN && !l->reset && !l->host_gone && !l->lied &&
           h->up && !h->frozen && l->host == w->primary &&
           h->loading_until_us <= w->now_us && !sim_link_waits(w, l) &&
           !l->blocked && !l->closing &&
           l->stalled_us[SIM_UP] <= w->now_us &&
           l->stalled_us[SIM_DOWN] <= w->now_us && l->in_n == 0 &&
           l->out_at == l->out_n &&
           causes_pipe_is_whole(w, &l->pipe[SIM_UP]) &&
           causes_pipe_is_whole(w, &l->pipe[SIM_DOWN]) &&
           causes_pipe_is_empty(&l->pipe[SIM_UP]) &&
           causes_pipe_is_empty(&l->pipe[SIM_DOWN]);
}

/* Behind a turn: what was wrong may have passed. */
void sim_causes_turn(sim_world *w, sim_node *n)
{
    const sim_link *l = sim_net_of_node(w, n);

    if (!n->troubled && n->calm_us >= 0)
        return;
    if (n->troubled)
        n->disturbed_us = w->now_us;
    if (n->touching > 0 || n->lied || n->lost || !l || !relet_is_up(n->r) ||
        !causes_link_is_whole(w, l))
        return;
    n->troubled = 0;
    n->calm_us = w->now_us;
}

static int causes_is_calm(int64_t from_us, int64_t to_us, int64_t since_us,
                          int64_t for_us)
{
    return to_us - (from_us > since_us ? from_us : since_us) >= for_us;
}

/* 1 when nothing was wrong with it, nor with what servers knew, for so long in
 * a row between these times: what it had to do it has done, whatever happened
 * before or behind. */
int sim_was_calm(const sim_world *w, const sim_node *n, int64_t since_us,
                 int64_t until_us, int64_t for_us)
{
    uint32_t i;

    if (n->calm_us >= 0 &&
        causes_is_calm(n->calm_us, w->now_us < until_us ? w->now_us : until_us,
                       since_us, for_us))
        return 1;
    for (i = 0; i < SIM_CALMS && i < n->calms; i++) {
        const sim_calm *c = &n->calm[i];

        if (causes_is_calm(c->from_us, c->to_us < until_us ? c->to_us : until_us,
                           since_us, for_us))
            return 1;
    }
    return 0;
}

/* 1 when something was wrong with it, or its link, at that time or later. */
int sim_troubled(const sim_node *n, int64_t since_us)
{
    return n->troubled || n->touching > 0 || n->lied || n->lost ||
           n->disturbed_us >= since_us;
}

/* … or with what servers knew. */
int sim_disturbed(const sim_world *w, const sim_node *n, int64_t since_us)
{
    (void)w;
    return sim_troubled(n, since_us) || n->shaken_us >= since_us;
}
