/* SPDX-License-Identifier: MIT
 *
 * belief.c - judges what nodes are told of their leases and believe: L1, L5 and
 * L7 of claims.c, which knows what servers granted. */
#include <string.h>

#include "sim.h"

static void belief_lost(sim_world *w, sim_node *n, sim_hold *h,
                        const relet_event *ev)
{
    if (!sim_holds(w, SIM_L7, h->leading && ev->term == h->term &&
                                  ev->token == h->token))
        sim_fail(w, SIM_L7, "n%d: LOST of %s does not follow a GAINED with "
                 "the same term and token", n->number, sim_key_name[h->key]);
    h->leading = 0;
    h->owes = 1;
    h->resigned = ev->why == RELET_WHY_STOPPED || ev->why == RELET_WHY_GROUP;
    h->resigned_at = n->now;
    if (ev->why == RELET_WHY_EXPIRED)
        SIM_MARK(lost_expired);
    if (ev->why == RELET_WHY_TAKEN)
        SIM_MARK(lost_taken);
    if (ev->why == RELET_WHY_GONE)
        SIM_MARK(lost_gone);
    if (ev->why == RELET_WHY_CLOCK) {
        SIM_MARK(lost_clock);
        sim_pace_clock(w, n, h);
    }
    if (ev->why == RELET_WHY_GROUP)
        SIM_MARK(lost_group);
    if (ev->why == RELET_WHY_STOPPED)
        SIM_MARK(lost_stopped);
}

static void belief_gained(sim_world *w, sim_node *n, sim_hold *h,
                          const relet_event *ev)
{
    sim_leases *g = &w->leases;

    if (!sim_holds(w, SIM_L6, !h->stopping))
        sim_fail(w, SIM_L6, "n%d: GAINED of %s after a stop", n->number,
                 sim_key_name[h->key]);
    if (!sim_holds(w, SIM_L7, !h->leading && ev->term == h->term + 1))
        sim_fail(w, SIM_L7, "n%d: GAINED of %s while it leads, or not with "
                 "the next term", n->number, sim_key_name[h->key]);
    if (!h->alone && !h->lied && ev->token > g->key[h->key].twice &&
        !sim_holds(w, SIM_L2, ev->token > h->token))
        sim_fail(w, SIM_L2, "n%d: token %llu of %s is not above its last token",
                 n->number, (unsigned long long)ev->token,
                 sim_key_name[h->key]);
    h->lied = (uint8_t)n->lied; /* earlier lies no longer count             */
    h->leading = 1;
    h->owes = h->resigned = 0;
    h->term = ev->term;
    h->token = ev->token;
    if (h->alone)
        SIM_MARK(led_alone);
    else
        SIM_MARK(led);
    if (g->hand_key == h->key && g->handed_us == 0 && !h->alone)
        g->handed_us = w->now_us;
}

static void belief_ended(sim_world *w, const sim_node *n, sim_hold *h,
                         const relet_event *ev)
{
    if (!sim_holds(w, SIM_L7, !h->leading))
        sim_fail(w, SIM_L7, "n%d: ENDED of %s, before a LOST", n->number,
                 sim_key_name[h->key]);
    if (!sim_holds(w, SIM_L7, ev->why != RELET_WHY_STOPPED || h->stopping ||
                                  n->stopping))
        sim_fail(w, SIM_L7, "n%d: %s has ended as stopped, without a stop",
                 n->number, sim_key_name[h->key]);
    if (ev->why == RELET_WHY_TIMEOUT)
        SIM_MARK(wait_timed_out);
    if (!sim_holds(w, SIM_L7, ev->why != RELET_WHY_TIMEOUT ||
                                  (h->wait_ms > 0 && h->term == 0)))
        sim_fail(w, SIM_L7, "n%d: the wait for %s has timed out, but the wait "
                 "had no limit or was over", n->number, sim_key_name[h->key]);
    h->serial = 0;
    h->until_us = 0;
}

void sim_belief_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_hold *h = ev->lease >= 0 && ev->lease < SIM_HOLDS
                      ? &n->hold[ev->lease]
                      : NULL;

    if (!sim_holds(w, SIM_L7, h && h->serial > 0 && h->serial == ev->tag)) {
        sim_fail(w, SIM_L7, "n%d: %s of a lease that has ended", n->number,
                 relet_kind_text(ev->kind));
        return;
    }
    SIM_SAY(w, "n%d: … of %s, n%d.%u, token %llu", n->number,
            sim_key_name[h->key], n->number, h->serial,
            (unsigned long long)ev->token);
    if (ev->kind == RELET_EV_LEASE_GAINED)
        belief_gained(w, n, h, ev);
    if (ev->kind == RELET_EV_LEASE_LOST)
        belief_lost(w, n, h, ev);
    if (ev->kind == RELET_EV_LEASE_TROUBLE)
        SIM_MARK(lease_trouble);
    if (ev->kind == RELET_EV_LEASE_TROUBLE && ev->why == RELET_WHY_QUARANTINE)
        SIM_MARK(quarantined);
    if (ev->kind == RELET_EV_LEASE_TROUBLE &&
        ev->why == RELET_WHY_NOT_REPLICATED)
        SIM_MARK(not_replicated);
    if (ev->kind == RELET_EV_LEASE_ENDED)
        belief_ended(w, n, h, ev);
}

/* Returns 1 if a server may have lost the lease `that`, and then granted or
 * renewed `other`. `other` may even be the older lease, if a server read it
 * back from its disk. */
static int belief_forgotten(const int64_t *void_us, const sim_hold *that,
                            const sim_hold *other)
{
    int64_t copy_us = void_us[SIM_VOID_COPY], disk_us = void_us[SIM_VOID_DISK];

    return (!that->copies && that->run_us <= copy_us &&
            copy_us < other->run_us) ||
           (!that->disk && that->run_us <= disk_us &&
            disk_us < other->run_us);
}

/* Returns 1 if a server may have lost the lease of the other program, which
 * asks for no copies, and read back the older lease `h` (seed 3611190049573 of
 * WORK=lease). */
static int belief_other_forgotten(const int64_t *void_us, int64_t other_us,
                                  const sim_hold *h)
{
    int64_t copy_us = void_us[SIM_VOID_COPY], disk_us = void_us[SIM_VOID_DISK];

    return (other_us <= copy_us && copy_us < h->run_us) ||
           (other_us <= disk_us && disk_us < h->run_us);
}

/* Returns 1 if events since the grants allow two holders at the same time: of
 * lease h, and of lease o or, if o is NULL, of the other program's lease.
 * Servers keep the older lease if it asked for copies, unless its server was
 * replaced. */
static int belief_excused(const sim_world *w, const sim_hold *h,
                          const sim_hold *o, int64_t other_us)
{
    int64_t granted_us = o ? o->granted_us : other_us;
    int64_t run_us = o ? o->run_us : other_us;
    int late = h->granted_us >= granted_us; /* h is the second                */
    const sim_hold *first = late ? o : h, *second = late ? h : o;
    const int64_t *void_us = w->leases.void_us;

    if (run_us > h->run_us)
        run_us = h->run_us;
    return run_us <= void_us[SIM_VOID_TIME] ||
           (o == NULL && belief_other_forgotten(void_us, other_us, h)) ||
           (o && (belief_forgotten(void_us, h, o) ||
                  belief_forgotten(void_us, o, h))) ||
           (run_us <= void_us[SIM_VOID_COPY] && !(first && first->copies)) ||
           (run_us <= void_us[SIM_VOID_DISK] && !(first && first->disk)) ||
           (second && second->stale && !second->copies);
}

/* Returns 1 if, since this lease last ran at a server, an event happened that
 * could excuse a second holder. */
static int belief_void(const sim_world *w, const sim_hold *h)
{
    int i;

    for (i = 0; i < SIM_VOIDS; i++)
        if (w->leases.void_us[i] >= h->run_us)
            return 1;
    return h->stale;
}

static void belief_alone(sim_world *w, const sim_node *n, const sim_hold *h)
{
    const sim_key *k = &w->leases.key[h->key];
    int i, j;

    for (i = 0; i < SIM_NODES; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_hold *o = &w->node[i].hold[j];

            if (o->serial == 0 || o == h || o->key != h->key || o->alone ||
                o->lied ||
                o->until_us <= w->now_us + 2 ||
                belief_excused(w, h, o, 0))
                continue;
            sim_fail(w, SIM_L1, "%s: n%d and n%d both believe that they lead, "
                     "for %ld us more", sim_key_name[h->key], n->number, i,
                     (long)(o->until_us - w->now_us));
        }
    if (k->other_until_us > w->now_us &&
        !belief_excused(w, h, NULL, k->other_us))
        sim_fail(w, SIM_L1, "%s: n%d believes that it leads, but another "
                 "program holds the key", sim_key_name[h->key], n->number);
    (void)sim_judges(w, SIM_L1, belief_void(w, h), 1);
}

/* The leases of a group are taken in the order of their keys. */
static void belief_group(sim_world *w, const sim_node *n, const sim_hold *h)
{
    int i;

    for (i = 0; i < SIM_HOLDS; i++) {
        const sim_hold *o = &n->hold[i];

        if (o->serial && o->group == h->group && o->key < h->key &&
            !sim_holds(w, SIM_L7, o->leading))
            sim_fail(w, SIM_L7, "n%d holds %s of its group, but not %s, which "
                     "comes first", n->number, sim_key_name[h->key],
                     sim_key_name[o->key]);
    }
}

/* A node that runs is told within 3 ms that a lease has expired. */
static void belief_overdue(sim_world *w)
{
    int i, j;

    for (i = 0; i < SIM_NODES; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_node *n = &w->node[i];
            const sim_hold *h = &n->hold[j];

            if (h->serial && h->leading && !h->alone && n->running &&
                !n->paused && n->resumed_us + 3 * SIM_MS < w->now_us &&
                h->until_us + 3 * SIM_MS < w->now_us)
                sim_fail(w, SIM_L7, "n%d gets LOST of %s %ld us too late", i,
                         sim_key_name[h->key],
                         (long)(w->now_us - h->until_us));
        }
}

/* Returns 1 if the node has read the answer that refused this lease. */
static int belief_refused(sim_world *w, const sim_node *n, const sim_hold *h)
{
    const sim_link *l = sim_net_of_node(w, n);

    return h->refused_gen > 0 && h->refused_token == h->token &&
           n->short_us < h->refused_us && l && l->gen == h->refused_gen &&
           l->pipe[SIM_DOWN].carried -
                   (l->pipe[SIM_DOWN].tail - l->pipe[SIM_DOWN].head) >=
               h->refused_at;
}

static void belief_true(sim_world *w, const sim_node *n, const sim_hold *h)
{
    if (!sim_holds(w, SIM_L5, h->until_us <= h->truth_us))
        sim_fail(w, SIM_L5, "n%d believes in %s for %ld us longer than it was "
                 "granted", n->number, sim_key_name[h->key],
                 (long)(h->until_us - h->truth_us));
    if ((h->copies || h->disk) &&
        !sim_holds(w, SIM_L5, h->until_us <= h->copied_us))
        sim_fail(w, SIM_L5, "n%d believes in %s for %ld us longer than there "
                 "are copies of it", n->number, sim_key_name[h->key],
                 (long)(h->until_us - h->copied_us));
    if (!sim_holds(w, SIM_L5, !belief_refused(w, n, h)))
        sim_fail(w, SIM_L5, "n%d believes in %s after it read a refusal",
                 n->number, sim_key_name[h->key]);
}

static void belief_of(sim_world *w, sim_node *n, int i)
{
    sim_hold *h = &n->hold[i];
    relet_time valid = relet_lease_valid_for(n->r, i, n->now);
    int64_t before = h->until_us;

    h->until_us = valid > 0 ? sim_node_world_time(w, n, n->now + valid) : 0;
    if (!sim_holds(w, SIM_L7, !h->leading || valid > 0))
        sim_fail(w, SIM_L7, "n%d was not told that %s is lost", n->number,
                 sim_key_name[h->key]);
    sim_pace_turn(w, n, h, valid);
    if (valid == 0)
        return;
    if (h->until_us > before + SIM_MS && (h->copies || h->disk))
        h->run_us = h->ran_us;
    if (!h->lied)
        belief_true(w, n, h);
    if (before <= w->now_us)
        sim_chart_begin(w, n->number, h);
    else if (h->span > 0)
        w->leases.span[(h->span - 1) % SIM_SPANS].to_us = h->until_us;
    if (!h->lied)
        belief_alone(w, n, h);
}

/* If the work never reports that it has stopped, its lease is kept for
 * grace_ms. */
static void belief_grace(sim_world *w, const sim_node *n, int i)
{
    const sim_hold *h = &n->hold[i];
    relet_time late = n->now - h->resigned_at - h->grace_ms;

    if (!h->resigned || late < 0)
        return;
    if (!sim_holds(w, SIM_L7, relet_lease_valid_for(n->r, i, n->now) == 0))
        sim_fail(w, SIM_L7, "n%d keeps %s for %ld ms longer than its grace",
                 n->number, sim_key_name[h->key], (long)late);
}

void sim_belief_turn(sim_world *w, sim_node *n)
{
    int i;

    if (w->leases.serials == 0)
        return;
    (void)sim_claims_two_masters(w);
    for (i = 0; i < SIM_HOLDS && !w->failed; i++) {
        sim_hold *h = &n->hold[i];

        if (h->serial > 0 && !h->alone)
            belief_of(w, n, i);
        if (h->serial > 0)
            belief_grace(w, n, i);
        if (h->serial > 0 && h->group > 0 && h->leading && !h->alone)
            belief_group(w, n, h);
        if (h->span > 0 && h->until_us <= w->now_us) {
            sim_span *s = &w->leases.span[(h->span - 1) % SIM_SPANS];

            s->to_us = s->to_us < w->now_us ? s->to_us : w->now_us;
            h->span = 0;
        }
    }
    belief_overdue(w);
}

void sim_belief_gone(sim_world *w, sim_node *n, int crash)
{
    int i;

    for (i = 0; i < SIM_HOLDS; i++) {
        sim_hold *h = &n->hold[i];

        if (h->serial > 0 && !crash)
            sim_fail(w, SIM_L7, "n%d ends without an ENDED of %s", n->number,
                     sim_key_name[h->key]);
        if (h->span > 0)
            w->leases.span[(h->span - 1) % SIM_SPANS].to_us = w->now_us;
        memset(h, 0, sizeof *h);
    }
}

void sim_belief_other(sim_world *w, int key, relet_time ms)
{
    sim_key *k = &w->leases.key[key];
    int i, j;

    SIM_MARK(other_took);
    (void)sim_claims_two_masters(w);
    k->other_us = w->now_us;
    k->other_until_us = w->now_us + ms * 990 - 2 * SIM_MS;
    sim_chart_other(w, key, k->other_until_us);
    for (i = 0; i < SIM_NODES; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_hold *h = &w->node[i].hold[j];

            if (h->serial && !h->alone && !h->lied && h->key == key &&
                h->until_us > w->now_us + 2 &&
                !belief_excused(w, h, NULL, w->now_us))
                sim_fail(w, SIM_L1, "%s: another program takes the key while "
                         "n%d believes that it leads", sim_key_name[key], i);
        }
}

int sim_belief_led(const sim_world *w, int key)
{
    int i, j;

    for (i = 0; i < SIM_NODES; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_hold *h = &w->node[i].hold[j];

            if (h->serial && h->leading && !h->alone && h->key == key &&
                h->until_us > w->now_us)
                return 1;
        }
    return 0;
}
