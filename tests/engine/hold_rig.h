/* SPDX-License-Identifier: MIT
 *
 * hold_rig.h - clients that take leases of a name, lead and leave, for the
 * tests of leases on a server. */
#ifndef T_HOLD_RIG_H
#define T_HOLD_RIG_H

#include "world.h"

static inline int t_lead(t_world *w, int i, const char *name)
{
    relet_lease_config c = t_lease(name);

    return relet_lease_start(w->p[i].r, &c);
}

static inline int t_leads(t_world *w, int i)
{
    return relet_lease_valid_for(w->p[i].r, 0, w->now) > 0;
}

/* All clients have started, and client 0 leads. */
static inline int t_first_leads(t_world *w, int clients)
{
    int i;

    t_world_start(w, clients);
    (void)t_lead(w, 0, "n");
    t_world_pass(w, 10);
    for (i = 1; i < clients; i++)
        (void)t_lead(w, i, "n");
    t_world_pass(w, 1000);
    return strcmp(t_world_told(w, 0), "lease gained 7") == 0 && t_leads(w, 0);
}

static inline int t_stop(t_world *w, int i)
{
    return relet_lease_stop(w->p[i].r, 0);
}

static inline int t_stopped(t_world *w, int i)
{
    return relet_lease_work_done(w->p[i].r, 0);
}

static inline int t_lock(t_world *w, int i, const char *name,
                         relet_time wait_ms, uint64_t tag)
{
    relet_lease_config c = t_lease(name);

    c.once = 1;
    c.wait_ms = wait_ms;
    c.tag = tag;
    return relet_lease_start(w->p[i].r, &c);
}

#endif
