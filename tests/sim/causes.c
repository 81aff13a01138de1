/* SPDX-License-Identifier: MIT
 *
 * causes.c - tracks what is wrong at a node, and since when nothing is. Only
 * such a cause excuses trouble that a client reports.
 *
 * A cause begins where it takes effect: when bytes are held up, a link breaks,
 * a server answers by an error, memory is refused; not when the fault was
 * drawn. The cause ends when the node has a link that is open at both ends,
 * carries at full width, and has delivered all that was under way. From then on
 * the node has no excuse, until the next cause. */
#include "sim.h"

#define CAUSES_CALM_US (50 * SIM_MS) /* a shorter calm is not recorded        */

/* The calm of a node ends now. */
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

/* A cause of trouble takes effect at a node now. */
void sim_disturb(sim_world *w, int node)
{
    sim_node *n = &w->node[node];

    causes_calm_ends(w, n);
    n->troubled = 1;
    n->disturbed_us = w->now_us;
}

/* The same for the node of this link, if the node still uses the link. */
void sim_disturb_link(sim_world *w, const sim_link *l)
{
    if (sim_net_in_use(w, l))
        sim_disturb(w, l->node);
}

/* A server answers by an error, such as BUSY. A client that reads the error may
 * wait before it sends anything else on this link. */
void sim_disturb_by_error(sim_world *w, sim_link *l)
{
    sim_disturb_link(w, l);
    w->node[l->node].refused_us = w->now_us;
    l->error_at = l->pipe[SIM_DOWN].carried + (l->out_n - l->out_at);
}

/* The client of this link has read more bytes. */
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

/* A server loses writes, or its clock leaps, now. A node hears of that later,
 * or never. */
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

/* Returns 1 if nothing is wrong with the link and all bytes have arrived. */
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

/* Runs after a turn of the node: its trouble may have passed. */
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

/* Returns 1 if, for for_us in a row between these times, nothing was wrong with
 * the node and no server lost writes or had a leap of its clock. The node has
 * then done all that was due, whatever happened before or after. */
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

        if (causes_is_calm(c->from_us,
                           c->to_us < until_us ? c->to_us : until_us,
                           since_us, for_us))
            return 1;
    }
    return 0;
}

/* Returns 1 if something was wrong with the node or its link since since_us. */
int sim_troubled(const sim_node *n, int64_t since_us)
{
    return n->troubled || n->touching > 0 || n->lied || n->lost ||
           n->disturbed_us >= since_us;
}

/* Returns 1 also if a server has lost writes, or its clock leapt, since
 * since_us. */
int sim_disturbed(const sim_world *w, const sim_node *n, int64_t since_us)
{
    (void)w;
    return sim_troubled(n, since_us) || n->shaken_us >= since_us;
}
