/* SPDX-License-Identifier: MIT
 *
 * lease.c - the second workload: leaders and locks, their registers, and
 * another program that wants the same keys.
 *
 * A lease protects a register that refuses a token below the highest token that
 * the register has seen. An act of a leader arrives there after a delay. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* ------------------------------------------------------------------- asking */

/* A lease must last for some round trips. */
static relet_time lease_ttl(const sim_world *w, sim_node *n)
{
    return sim_spread(&n->work, 200 + 30 * w->shape.latency_us / 1000,
                      SIM_TTL_MAX_MS);
}

/* The same quarantine for all leases of a key. */
static relet_time lease_quarantine(const sim_world *w, int key)
{
    uint64_t bits = sim_keyed(&w->choices, SIM_OF_SWARM, 2000, (uint64_t)key);

    return bits % 5 ? 0 : 100 + (relet_time)(bits >> 8) % 3000;
}

/* One copy or as many as there are replicas, and time enough for them. */
static void lease_copies(const sim_world *w, sim_node *n,
                         relet_lease_config *c)
{
    const sim_shape *s = &w->shape;
    relet_time least = (s->replicas * s->lag_us + s->sync_us) / SIM_MS + 5;

    if (c->ttl_ms / 4 < least)
        return;
    c->replicas = (uint32_t)s->replicas;
    if (c->replicas > 1 && sim_chance(&n->work, 1, 2))
        c->replicas = 1;
    c->fsync = c->replicas == 0 || sim_chance(&n->work, 1, 3);
    c->replicas_ms = sim_spread(&n->work, least, c->ttl_ms / 4);
}

static void lease_config(sim_world *w, sim_node *n, int key,
                         relet_lease_config *c)
{
    relet_time ttl = lease_ttl(w, n);

    memset(c, 0, sizeof *c);
    c->ttl_ms = ttl;
    if (sim_chance(&n->work, 1, 3))
        c->renew_ms = sim_spread(&n->work, ttl / 10, ttl / 3);
    if (sim_chance(&n->work, 1, 3))
        c->retry_ms = sim_spread(&n->work, ttl / 4, ttl);
    if (sim_chance(&n->work, 1, 3))
        c->grace_ms = sim_spread(&n->work, 1, ttl);
    c->once = sim_chance(&n->work, 1, 3);
    if (sim_chance(&n->work, 1, c->once ? 2 : 8))
        c->wait_ms = sim_spread(&n->work, ttl / 2, 3 * ttl);
    c->alone = sim_chance(&n->work, 1, 25);
    c->group = sim_choose(&n->work, 4) == 0;
    c->quarantine_ms = lease_quarantine(w, key);
    if (sim_chance(&n->work, w->shape.careful, 4))
        lease_copies(w, n, c);
}

static void lease_note(sim_world *w, sim_node *n, sim_hold *h, int key,
                       const relet_lease_config *c)
{
    memset(h, 0, sizeof *h);
    h->serial = w->leases.serials;
    h->key = key;
    h->ttl_ms = c->ttl_ms;
    h->retry_ms = c->retry_ms ? c->retry_ms : c->ttl_ms;
    h->quarantine_ms = c->quarantine_ms;
    h->wait_ms = c->wait_ms;
    h->grace_ms = c->grace_ms ? c->grace_ms : c->ttl_ms;
    h->group = c->group;
    h->once = (uint8_t)c->once;
    h->alone = (uint8_t)c->alone;
    h->lied = (uint8_t)n->lied;
    h->copies = (uint8_t)c->replicas;
    h->disk = (uint8_t)c->fsync;
    h->patient = c->wait_ms == 0 && c->quarantine_ms == 0;
    h->start_us = w->now_us;
    h->run_us = -1;
    h->wakes = w->leases.key[key].wakes;
    h->ups = n->ups;
    if (w->leases.key[key].ttl_max < c->ttl_ms)
        w->leases.key[key].ttl_max = c->ttl_ms;
    if (w->leases.ttl_max < c->ttl_ms)
        w->leases.ttl_max = c->ttl_ms;
}

static void lease_begin(sim_world *w, sim_node *n)
{
    int key = (int)sim_choose(&n->work, 1 + w->shape.ops % SIM_KEYS), code;
    relet_lease_config c;
    char label[24];

    lease_config(w, n, key, &c);
    sprintf(label, "n%d.%u", n->number, ++w->leases.serials);
    c.label = relet_str(label);
    c.key = relet_str(sim_key_name[key]);
    c.tag = w->leases.serials;
    code = relet_lease_start(n->r, &c);
    SIM_SAY(w, "n%d asks for %s as %s, ttl %ld%s%s%s%s%s: %d", n->number,
            sim_key_name[key], label, (long)c.ttl_ms, c.once ? ", once" : "",
            c.group ? ", in a group" : "", c.alone ? ", alone" : "",
            c.replicas ? ", copied" : "", c.fsync ? ", on disk" : "", code);
    if (code >= SIM_HOLDS || (code < 0 && code != RELET_E_LIMIT &&
                              code != RELET_E_STOPPED &&
                              (code != RELET_E_CONFIG || !c.group)))
        sim_fail(w, SIM_L7, "n%d: the start of a lease returned %d: %s",
                 n->number, code, relet_refusal(n->r));
    else if (code >= 0)
        lease_note(w, n, &n->hold[code], key, &c);
}

static void lease_stop(sim_world *w, sim_node *n, int i)
{
    if (n->hold[i].serial == 0)
        return;
    SIM_SAY(w, "n%d leaves %s", n->number, sim_key_name[n->hold[i].key]);
    n->hold[i].stopping = 1;
    if (relet_lease_stop(n->r, i) != 0)
        sim_fail(w, SIM_L7, "n%d: a lease cannot be stopped", n->number);
}

static void lease_stopped(sim_world *w, sim_node *n, int i)
{
    SIM_SAY(w, "n%d has stopped its work under %s", n->number,
            sim_key_name[n->hold[i].key]);
    n->hold[i].owes = 0;
    (void)relet_lease_work_done(n->r, i);
}

/* ------------------------------------------------------------------- acting */

/* A leader asks the library whether its lease is valid, then acts. */
static void lease_act(sim_world *w, sim_node *n, int i)
{
    sim_hold *h = &n->hold[i];
    sim_effect *e = &w->leases.effect[w->leases.effects % SIM_EFFECTS];

    if (h->alone)
        return;
    if (relet_lease_valid_for(n->r, i, n->now) == 0) {
        SIM_MARK(effect_held_back);
        return;
    }
    w->checked[SIM_L3] += !h->lied;
    if (w->now_us > h->truth_us && !h->lied)
        sim_fail(w, SIM_L3, "n%d acts under %s %ld us after the lease ended",
                 n->number, sim_key_name[h->key],
                 (long)(w->now_us - h->truth_us));
    e->lied = h->lied;
    if (relet_lease_token(n->r, i) != h->token)
        sim_fail(w, SIM_L2, "n%d reads another token than its GAINED had",
                 n->number);
    e->key = h->key;
    e->node = n->number;
    e->serial = h->serial;
    e->token = h->token;
    sim_due_at(w, w->now_us + sim_spread(&n->work, 0, 3 * SIM_S), SIM_EFFECT,
               n->number, w->leases.effects++);
}

void sim_lease_arrives(sim_world *w, uint64_t which)
{
    const sim_effect *e = &w->leases.effect[which % SIM_EFFECTS];
    sim_key *k = &w->leases.key[e->key];

    if (which + SIM_EFFECTS < w->leases.effects || e->lied)
        return; /* too many are under way, or the token is made up */
    if (e->token < k->top) {
        SIM_MARK(fenced_off);
        return;
    }
    if (!sim_judges(w, SIM_L4, e->token <= k->twice,
                    e->token != k->top || e->serial == k->top_serial))
        sim_fail(w, SIM_L4, "%s: two leaders act under token %llu",
                 sim_key_name[e->key], (unsigned long long)e->token);
    k->top = e->token;
    k->top_serial = e->serial;
}

/* -------------------------------------------------------- another program */

static void lease_other(sim_world *w, sim_node *n)
{
    int key = (int)sim_choose(&n->work, 1 + w->shape.ops % SIM_KEYS);
    relet_time ms = sim_spread(&n->work, 50, 5000);
    sim_host *h = &w->host[w->primary];
    char text[32], px[16];

    if (!h->up || h->frozen || w->now_us < h->loading_until_us)
        return;
    sim_host_time(w, h);
    if (w->leases.key[key].other_until_us > w->now_us) {
        sim_host_ask(h, text, sizeof text, 5, "EVAL",
                     "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                     "return redis.call('DEL', KEYS[1]) end return 0",
                     "1", sim_key_name[key], "other");
        sim_record_other(w, key, 0, 0, text[0] == '1');
        w->leases.key[key].other_until_us = 0;
    } else {
        sprintf(px, "%ld", (long)ms);
        sim_host_ask(h, text, sizeof text, 6, "SET", sim_key_name[key],
                     "other", "NX", "PX", px);
        sim_record_other(w, key, 1, ms, memcmp(text, "OK", 2) == 0);
        if (memcmp(text, "OK", 2) == 0)
            sim_belief_other(w, key, ms);
    }
    sim_host_outputs(w, h);
}

/* --------------------------------------------------------------- the whole */

static void lease_start(sim_world *w, sim_node *n)
{
    uint32_t many = sim_choose(&n->work, 3);

    do
        lease_begin(w, n);
    while (many-- > 0 && !w->failed);
}

static void lease_work(sim_world *w, sim_node *n, int i)
{
    sim_hold *h = &n->hold[i];

    if (h->serial == 0)
        return;
    if (h->leading && sim_chance(&n->work, 3, 4))
        lease_act(w, n, i);
    if (h->owes && sim_chance(&n->work, 1, 2))
        lease_stopped(w, n, i);
    else if (h->leading && h->once && sim_chance(&n->work, 1, 4)) {
        lease_stop(w, n, i);
        lease_stopped(w, n, i);
    }
}

static void lease_step(sim_world *w, sim_node *n)
{
    uint32_t what = sim_choose(&n->work, 32);
    int i;

    for (i = 0; i < SIM_HOLDS && !w->failed; i++)
        lease_work(w, n, i);
    if (what < 3)
        lease_begin(w, n);
    else if (what < 5)
        lease_stop(w, n, (int)sim_choose(&n->work, SIM_HOLDS));
    else if (what == 5)
        lease_other(w, n);
}

static void lease_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    if (ev->kind == RELET_EV_LEASE_LOST && sim_chance(&n->work, 1, 2))
        lease_stopped(w, n, ev->lease);
}

static int lease_quiet(sim_world *w, sim_node *n)
{
    return sim_plain.quiet(w, n);
}

/* Returns 1 if this lease leads, or waits for its key and may ask for it. */
static int lease_waits(const sim_node *n, const sim_hold *h)
{
    int i;

    if (h->serial == 0 || h->stopping || h->alone)
        return 0;
    for (i = 0; i < SIM_HOLDS; i++) {
        const sim_hold *o = &n->hold[i];

        if (o->serial && h->group && o->group == h->group && o->key < h->key &&
            !o->leading)
            return 0;
    }
    return 1;
}

const sim_hold *sim_lease_missing(const sim_world *w, const sim_node *n)
{
    int i;

    for (i = 0; i < SIM_HOLDS; i++)
        if (lease_waits(n, &n->hold[i]) &&
            !sim_belief_led(w, n->hold[i].key))
            return &n->hold[i];
    return NULL;
}

static void lease_look(sim_world *w, const sim_node *n, sim_hold *h)
{
    if (!lease_waits(n, h) || sim_belief_led(w, h->key)) {
        h->waits_us = 0;
        return;
    }
    if (h->waits_us == 0)
        h->waits_us = RLT_MAX(w->now_us, w->arrived_us);
    if (!sim_holds(w, SIM_L8, w->now_us - h->waits_us <=
                                  sim_bound_lead(w, n, h)))
        sim_fail(w, SIM_L8, "n%d waits for %s for %ld ms, and no node leads",
                 n->number, sim_key_name[h->key],
                 (long)((w->now_us - h->waits_us) / SIM_MS));
}

/* After the healing, each waiting lease leads, or has a leader, in time. */
void sim_lease_look(sim_world *w)
{
    int i, j;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_HOLDS; j++)
            if (w->node[i].running && !w->node[i].lost)
                lease_look(w, &w->node[i], &w->node[i].hold[j]);
}

static int lease_alive(sim_world *w, const sim_node *n)
{
    return sim_plain.alive(w, n) && sim_lease_missing(w, n) == NULL;
}

const sim_workload sim_lease = {"lease",     lease_start, lease_step,
                                lease_event, lease_quiet, lease_alive};

static void both_start(sim_world *w, sim_node *n)
{
    sim_plain.start(w, n);
    lease_start(w, n);
}

static void both_step(sim_world *w, sim_node *n)
{
    sim_plain.step(w, n);
    lease_step(w, n);
}

const sim_workload sim_both = {"both",      both_start,  both_step,
                               lease_event, lease_quiet, lease_alive};

/* --------------------------------------------------------------- hand-over */

/* Returns 1 if the node's link can carry a wake-up in time: a link that was
 * opened while its path was narrow stays narrow, and a link on which the
 * wake-up channel was refused gets no wake-up. */
int sim_lease_link_is_quick(sim_world *w, const sim_node *n)
{
    const sim_link *l = sim_net_of_node(w, n);

    return l && !l->deaf && !n->lost && l->pipe[SIM_UP].limit >= 512 &&
           l->pipe[SIM_DOWN].limit >= 512;
}

/* Returns 1 if the lease has seen this server's clock since the last leap: a
 * client that first sees the clock after a leap gives its grant back, and
 * waits. */
static int lease_knows_clock(const sim_world *w, const sim_hold *h)
{
    return !w->leases.leapt || (h->clock_used_host == w->primary &&
                                !sim_claims_leapt(w, h->clock_used_us));
}

/* A node that waits first in line for this key; -1: none. */
static int lease_first_in_line(sim_world *w, int key)
{
    sim_host *h = &w->host[w->primary];
    char name[32], text[160];
    int i, j;

    sprintf(name, "{%s}:sleepers", sim_key_name[key]);
    sim_host_ask(h, text, sizeof text, 4, "ZRANGE", name, "0", "0");
    for (i = 0; i < w->shape.nodes; i++) {
        const sim_node *n = &w->node[i];

        if (n->wake[0] == '\0' || strstr(text, n->wake) == NULL ||
            !sim_lease_link_is_quick(w, n))
            continue;
        for (j = 0; j < SIM_HOLDS; j++)
            if (n->hold[j].key == key && n->hold[j].patient &&
                n->hold[j].group == 0 && !n->hold[j].leading &&
                n->hold[j].until_us == 0 && lease_waits(n, &n->hold[j]) &&
                lease_knows_clock(w, &n->hold[j]))
                return i;
    }
    return -1;
}

/* Returns 1 if the server still names this lease as the owner: a server whose
 * clock leapt may have granted the key to another lease. */
static int lease_is_held(sim_world *w, const sim_node *n, const sim_hold *h)
{
    char text[160], owner[32];

    sprintf(owner, "\nn%d.%u:", n->number, h->serial);
    sim_host_ask(&w->host[w->primary], text, sizeof text, 2, "GET",
                 sim_key_name[h->key]);
    return strstr(text, owner) != NULL;
}

/* Returns 1 if a wake-up may be lost: another waiting lease that has not seen
 * the clock may get the grant first and give it back, which wakes the next node
 * in line, and that node may be lost for good. */
static int lease_may_wake_a_lost_node(const sim_world *w, int key)
{
    int i, j;

    for (i = 0; i < w->shape.nodes; i++)
        if (w->node[i].lost == SIM_STUCK || w->node[i].lost == SIM_APART)
            break;
    if (i == w->shape.nodes)
        return 0;

    for (i = 0; i < w->shape.nodes; i++)
        for (j = 0; j < SIM_HOLDS; j++) {
            const sim_hold *h = &w->node[i].hold[j];

            if (h->key == key && !h->leading && lease_waits(&w->node[i], h) &&
                !lease_knows_clock(w, h))
                return 1;
        }
    return 0;
}

static int lease_hand_over(sim_world *w, int i, int j)
{
    sim_node *n = &w->node[i];
    int key = n->hold[j].key, next = lease_first_in_line(w, key);

    if (next < 0 || next == i || !sim_lease_link_is_quick(w, n) ||
        !lease_is_held(w, n, &n->hold[j]) || lease_may_wake_a_lost_node(w, key))
        return 0;
    SIM_SAY(w, "n%d is to follow n%d", next, i);
    w->leases.hand_key = key;
    w->leases.hand_us = w->now_us;
    n->now = sim_node_clock(w, n);
    lease_stop(w, n, j);
    lease_stopped(w, n, j);
    sim_node_turn(w, n);
    return 1;
}

/* After the healing a leader leaves, and the first lease in line follows it as
 * soon as three round trips allow, not when the lease ends. */
int sim_lease_more(sim_world *w)
{
    sim_leases *g = &w->leases;
    int64_t bound = 60 * w->shape.latency_us + 400 * SIM_MS;
    int i, j;

    if (g->ttl_max == 0)
        return 0;
    if (g->hand_key < 0) {
        if (g->hand_tried)
            return 0;
        g->hand_tried = 1;
        for (i = 0; i < w->shape.nodes; i++)
            for (j = 0; j < SIM_HOLDS; j++)
                if (w->node[i].hold[j].leading && !w->node[i].hold[j].alone &&
                    w->node[i].hold[j].group == 0 &&
                    lease_hand_over(w, i, j))
                    return 1;
        return 0;
    }
    if (g->handed_us == 0)
        return w->now_us < g->hand_us + bound + 20 * SIM_S;
    w->checked[SIM_L8]++;
    if (g->handed_us - g->hand_us > bound)
        sim_fail(w, SIM_L8, "%s: no leader for %ld ms after the leader left",
                 sim_key_name[g->hand_key],
                 (long)((g->handed_us - g->hand_us) / SIM_MS));
    SIM_MARK(handed_over);
    return 0;
}
