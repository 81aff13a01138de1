/* SPDX-License-Identifier: MIT
 *
 * pace.c - when a client asks: at a bounded rate, and as soon as it can.
 *
 *   R15 a client waits between attempts to connect
 *   L9  … and between requests for a lease that servers refuse; claims.c bounds
 *       the number of all requests
 *   L11 with a new link, each lease is asked for or renewed at once
 *   L12 a client reports a leap of the server's clock if there was one, and
 *       only then
 *
 * Back-offs are drawn at random below a bound, which doubles up to the longest
 * back-off. Once the bound has reached that, sixteen back-offs in a row add up
 * to less than one and a half of the longest once in 30 000 000 000 times. */
#include <string.h>

#include "sim.h"

#define PACE_SOON_US (30 * SIM_MS)

static int pace_is_slow(sim_pace *p, int64_t now_us, relet_time least,
                        relet_time most)
{
    int steps = 1, at = (int)(p->n % SIM_PACE);
    int64_t since_us = p->at_us[at];

    for (; least < most && steps < 32; least *= 2)
        steps++;
    p->at_us[at] = now_us;
    return (int)p->n++ < steps + SIM_PACE + 1 ||
           now_us - since_us >= most * 1500;
}

void sim_pace_dials(sim_world *w, sim_node *n)
{
    const relet_config *c = &n->config;

    if (!sim_holds(w, SIM_R15, pace_is_slow(&n->dials, w->now_us,
                                            c->retry_min_ms,
                                            c->retry_max_ms)))
        sim_fail(w, SIM_R15, "n%d connects %d times in %ld ms", n->number,
                 (int)SIM_PACE, (long)(c->retry_max_ms * 3 / 2));
}

/* A link that lived for long is followed at once by the next one. */
void sim_pace_down(sim_node *n)
{
    int i;

    if (n->told[RELET_EV_UP] > 0 && n->now - n->up_at >= n->config.stable_ms)
        n->dials.n = 0;
    for (i = 0; i < SIM_HOLDS; i++)
        n->hold[i].up_us = 0;
}

void sim_pace_up(sim_world *w, sim_node *n)
{
    int i;

    n->up_at = n->now;
    for (i = 0; i < SIM_HOLDS; i++) {
        sim_hold *h = &n->hold[i];

        h->fails.n = 0;
        if (h->serial > 0 && !h->alone && h->group == 0)
            h->up_us = w->now_us;
    }
}

static sim_hold *pace_hold(sim_node *n, unsigned serial)
{
    int i;

    for (i = 0; i < SIM_HOLDS; i++)
        if (serial > 0 && n->hold[i].serial == serial)
            return &n->hold[i];
    return NULL;
}

void sim_pace_sent(sim_world *w, sim_node *n, unsigned serial)
{
    sim_hold *h = pace_hold(n, serial);

    if (h == NULL || h->up_us == 0)
        return;
    (void)sim_holds(w, SIM_L11, 1);
    h->up_us = 0;
}

/* A server refused an acquisition. If it was busy, the whole link waits.
 * Requests that were held up on their way arrive together, so the times of
 * sending count. */
void sim_pace_refused(sim_world *w, const sim_run *run, const char *error)
{
    sim_hold *h = run->node < 0 || run->node >= SIM_NODES
                      ? NULL
                      : pace_hold(&w->node[run->node], run->serial);
    relet_time least;

    if (h == NULL || run->what != SIM_ACQUIRE ||
        strncmp(error, "BUSY", 4) == 0 ||
        strncmp(error, "LOADING", 7) == 0 ||
        strncmp(error, "MASTERDOWN", 10) == 0)
        return;
    least = h->ttl_ms / 100 > 0 ? h->ttl_ms / 100 : 1;
    if (h->wakes_seen != w->leases.key[h->key].wakes)
        h->fails.n = 0;
    h->wakes_seen = w->leases.key[h->key].wakes;
    if (!sim_holds(w, SIM_L9,
                   pace_is_slow(&h->fails,
                                w->record[run->record].act.from_us, least,
                                h->retry_ms)))
        sim_fail(w, SIM_L9, "n%d has %d refused requests for %s in %ld ms",
                 run->node, (int)SIM_PACE, sim_key_name[h->key],
                 (long)(h->retry_ms * 3 / 2));
}

/* The server ran an acquisition. */
void sim_pace_ran(sim_hold *h)
{
    h->fails.n = 0;
}

/* An answer that a node has read says when the server looked at its clock. */
void sim_pace_heard(sim_world *w, sim_node *n, const sim_record *r)
{
    sim_hold *h = pace_hold(n, r->act.who);
    int64_t most, least, apart, theirs;

    if (h == NULL || h->lied || r->act.what > SIM_ACT_RENEW)
        return;
    most = w->now_us - h->clock_from_us;
    least = r->act.from_us - h->clock_to_us;
    theirs = r->wall_us - h->clock_wall_us;
    apart = (most / 20 > 100 * SIM_MS ? most / 20 : 100 * SIM_MS) +
            most / 100 + 24 * w->shape.latency_us + 50 * SIM_MS;
    if (h->clock_to_us > 0 && !sim_troubled(n, h->clock_from_us)) {
        h->leapt = theirs < least - apart || theirs > most + apart;
        (void)sim_holds(w, SIM_L12, !h->leapt);
    }
    /* An answer that came too late was not used. */
    if (!sim_troubled(n, h->clock_from_us)) {
        h->clock_before_us = h->clock_from_us;
        h->clock_host_before = h->clock_host;
    }
    if (w->now_us - r->act.from_us <= 24 * w->shape.latency_us + 50 * SIM_MS) {
        h->clock_used_us = r->act.from_us;
        h->clock_used_host = r->host;
    }
    h->clock_host = r->host;
    h->clock_from_us = r->act.from_us;
    h->clock_to_us = w->now_us;
    h->clock_wall_us = r->wall_us;
}

/* A node says that the server's clock and its own disagree. */
void sim_pace_clock(sim_world *w, const sim_node *n, const sim_hold *h)
{
    int leapt = n->shaken_us >= h->clock_before_us ||
                h->clock_host != h->clock_host_before;
    int i;

    for (i = 0; i < SIM_HOSTS; i++)
        leapt |= w->host[i].wall_stop_us != SIM_NEVER;
    if (!sim_judges(w, SIM_L12, h->lied, leapt))
        sim_fail(w, SIM_L12, "n%d loses %s for a leap of the server's clock, "
                 "and no clock has leapt", n->number, sim_key_name[h->key]);
}

/* The checks after a turn. */
void sim_pace_turn(sim_world *w, sim_node *n, sim_hold *h, relet_time valid)
{
    const sim_link *l = sim_net_of_node(w, n);
    const uint8_t *p;

    if (h->leapt && valid > 0)
        sim_fail(w, SIM_L12, "n%d believes in %s after it could see a leap of "
                 "the server's clock", n->number, sim_key_name[h->key]);
    h->leapt = 0;
    if (h->up_us == 0 || l == NULL || w->now_us < h->up_us + PACE_SOON_US)
        return;
    if (!sim_judges(w, SIM_L11,
                    n->short_us >= h->up_us || l->error_at > 0 ||
                        l->waits_us >= h->up_us ||
                        n->resumed_us >= h->up_us || n->lied ||
                        l->pipe[SIM_UP].wanted ||
                        (l->reset == 0 && relet_io_pending(n->r, 0, &p) > 0),
                    0))
        sim_fail(w, SIM_L11, "n%d has a new link, but neither asks for %s nor "
                 "renews it", n->number, sim_key_name[h->key]);
    h->up_us = 0;
}
