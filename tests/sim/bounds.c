/* SPDX-License-Identifier: MIT
 *
 * bounds.c - how long a node may take to work once its surroundings are whole,
 * computed from its configuration: R11, L8.
 *
 *   R11 a client whose surroundings are whole is up and answers
 *
 * "Whole" means that no fault is active and that each path is open. A round
 * trip takes at most 12 mean delays and 50 ms. The clocks of nodes may run
 * apart by one percent. */
#include "sim.h"

static int64_t bound_trip(const sim_world *w)
{
    return 12 * w->shape.latency_us + 50 * SIM_MS;
}

/* The time until a client closes a dead link: because a PING has no answer or,
 * without pings, because an operation has none. Unread input delays that by a
 * second. */
static relet_time bound_dead(const relet_config *c)
{
    relet_time by_answer = 3 * c->timeout_ms;
    relet_time by_ping = c->ping_every_ms + 2 * c->timeout_ms;

    return 1000 + (c->ping_every_ms > 0 ? by_ping : by_answer);
}

/* The sum of a dead link, a connect that hangs, two back-offs, a boot, and an
 * operation that may have to be sent again. While an operation without a
 * deadline is open, only TCP finds out that a link is dead. A node that waits
 * for the end of a job sends nothing else. */
int64_t sim_bound_recovery(const sim_world *w, const sim_node *n)
{
    const relet_config *c = &n->config;
    relet_time ms = bound_dead(c) + c->connect_timeout_ms +
                    2 * c->retry_max_ms + c->timeout_ms + 1600;

    return ms * 1010 + 3 * bound_trip(w) +
           (n->waited ? SIM_KEEPALIVE_US : 0) +
           (n->await.over_us > n->whole_us ? n->await.over_us - n->whole_us
                                           : 0);
}

/* A server whose clock was set back keeps its leases for longer. */
int64_t sim_bound_behind(const sim_world *w)
{
    return w->leases.ttl_max == 0
               ? 0
               : w->leases.wall_max_us - w->host[w->primary].wall_offset_us;
}

/* Returns 1 if a node is leaving this key: the node may keep the key until its
 * work has stopped. */
static int bound_is_left(const sim_world *w, int key)
{
    int i, j;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_hold *h = &w->node[i].hold[j];

            if (h->serial && h->key == key && (h->owes || h->stopping))
                return 1;
        }
    return 0;
}

/* The lease of a leader that is gone ends, and the next node asks for it. A
 * node that is not first in line asks three quarters of a lease later. */
int64_t sim_bound_lead(const sim_world *w, const sim_node *n,
                       const sim_hold *h)
{
    relet_time ttl = w->leases.key[h->key].ttl_max;
    relet_time ms = ttl + h->retry_ms + h->ttl_ms * 3 / 4 + h->quarantine_ms +
                    100;

    if (bound_is_left(w, h->key))
        ms += ttl;
    return sim_bound_recovery(w, n) + sim_bound_behind(w) + ms * 1010 +
           3 * bound_trip(w);
}
