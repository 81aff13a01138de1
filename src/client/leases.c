/* SPDX-License-Identifier: MIT
 *
 * leases.c - the leases of a client: starts and stops them, gives them the time
 * and the answers, and wakes them. */
#include "kept.h"
#include "text.h"

#ifndef RELET_NO_LEASE

#define LEASES_SILENCE_MS                                                      \
    1000 /* a shorter silence is normal on a busy machine */

/* ---------------------------------------------------------------- settings */

static int leases_refuse(relet *r, const char *rule)
{
    r->refusal = rule;
    return RELET_E_CONFIG;
}

/* Settings that are 0 get their defaults. NULL, or the rule that is broken. */
static const char *leases_plan(const relet_lease_config *c, rlt_elect_plan *p)
{
    relet_time ttl = c->ttl_ms == 0 ? 10000 : c->ttl_ms;
    rlt_lease_plan *l = &p->lease;

    memset(p, 0, sizeof *p);
    if (ttl < 50 || ttl > RLT_LEASES_MS_MAX)
        return "lease.ttl_ms must be between 50 and 1000000000";
    l->ttl_ms = ttl;
    l->renew_ms = c->renew_ms == 0 ? ttl / 3 : c->renew_ms;
    if (l->renew_ms < 1 || l->renew_ms > ttl / 3)
        return "lease.renew_ms must be at most a third of ttl_ms";
    p->retry_ms = c->retry_ms == 0 ? ttl : c->retry_ms;
    p->wait_ms = c->wait_ms == 0 ? RELET_NEVER : c->wait_ms;
    p->grace_ms = c->grace_ms == 0 ? ttl : c->grace_ms;
    if (p->retry_ms < 1 || p->retry_ms > RLT_LEASES_MS_MAX)
        return "lease.retry_ms must be between 1 and 1000000000";
    if (p->wait_ms < 1 ||
        (p->wait_ms > RLT_LEASES_MS_MAX && p->wait_ms != RELET_NEVER))
        return "lease.wait_ms must be between 1 and 1000000000";
    if (p->grace_ms < 1 || p->grace_ms > RLT_LEASES_MS_MAX)
        return "lease.grace_ms must be between 1 and 1000000000";
    l->replicas = c->replicas;
    l->replicas_ms = c->replicas_ms == 0 ? ttl / 10 : c->replicas_ms;
    l->fsync = c->fsync != 0;
    if (l->replicas_ms < 1 || l->replicas_ms > ttl / 4)
        return "lease.replicas_ms must be at most a quarter of ttl_ms";
    if (c->quarantine_ms < 0 || c->quarantine_ms > RLT_LEASES_MS_MAX)
        return "lease.quarantine_ms must be between 0 and 1000000000";
    p->quarantine_ms = c->quarantine_ms;
    p->once = c->once != 0;
    p->alone = c->alone != 0;
    return NULL;
}

/* ------------------------------------------------------------------- turns */

/* Negative, zero or positive: the leases of a group are acquired in the order
 * of their keys. */
static int leases_compare(const rlt_lease_entry *a, const rlt_lease_entry *b)
{
    int order = memcmp(a->key, b->key, RLT_MIN(a->key_len, b->key_len));

    return order ? order : (int)a->key_len - (int)b->key_len;
}

static int leases_in_use(const rlt_lease_entry *h)
{
    return h->elect.state != RLT_ELECT_REST;
}

/* Whether all leases before this one in its group are held. */
static int leases_open(const relet *r, const rlt_lease_entry *h)
{
    uint32_t i;

    for (i = 0; h->group != 0 && i < r->leases.max; i++) {
        const rlt_lease_entry *b = &r->leases.list[i];

        if (leases_in_use(b) && b->group == h->group &&
            leases_compare(b, h) < 0 && b->elect.state != RLT_ELECT_LEADING)
            return 0;
    }
    return 1;
}

static void leases_pump(relet *r, rlt_lease_entry *h)
{
    rlt_request want;
    rlt_reply failed;

    while (rlt_route_is_up(&r->route, h->hashslot) &&
           rlt_elect_want(&h->elect, r->now, r->leases.serial, &want)) {
        r->leases.serial++;
        rlt_assert(h->elect.lease.asked == want.what);
        if (want.what == RLT_WANT_ACQUIRE)
            rlt_leases_listen(r, h); /* again, if it had no memory before */
        if (rlt_leases_send(r, h, &want) == 0)
            continue;
        memset(&failed, 0, sizeof failed);
        failed.heard = RLT_HEARD_NOTHING;
        failed.serial = want.serial;
        rlt_elect_reply(&h->elect, r->now, &failed);
    }
}

/* A lease that changes state may let other leases of its group go on, or stop
 * them. */
static void leases_turns(relet *r)
{
    uint32_t i;

    for (i = 0; i < r->leases.max; i++)
        if (leases_in_use(&r->leases.list[i]))
            rlt_elect_turn(&r->leases.list[i].elect, r->now,
                           leases_open(r, &r->leases.list[i]));
    r->leases.tells = r->leases.busy = 0;
    for (i = 0; i < r->leases.max; i++) {
        if (!leases_in_use(&r->leases.list[i]))
            continue;
        leases_pump(r, &r->leases.list[i]);
        r->leases.busy = 1;
        r->leases.tells |= r->leases.list[i].elect.tell != 0;
    }
}

/* Wakes the leases of this client with this key, except `but`. An empty key
 * wakes all leases. */
static void leases_wake(relet *r, relet_span key, const rlt_lease_entry *but)
{
    uint32_t i;

    for (i = 0; i < r->leases.max; i++)
        if (&r->leases.list[i] != but && leases_in_use(&r->leases.list[i]) &&
            (key.n == 0 ||
             rlt_span_same(rlt_leases_key(&r->leases.list[i]), key)))
            rlt_elect_wake(&r->leases.list[i].elect, r->now);
}

/* When to give up a silent link that owes the answer to a renewal: while there
 * is time left to renew over another link. An operation before the renewal may
 * be slow until its own timeout has passed. */
static relet_time leases_silent_at(const relet *r, const rlt_lease_entry *h)
{
    const rlt_lease *l = &h->elect.lease;

    if (l->state != RLT_LEASE_HELD || l->asked != RLT_WANT_RENEW)
        return RELET_NEVER;
    return rlt_route_silent_at(&r->route, h->hashslot,
                               rlt_leases_tag(r, h, l->serial), l->sent_at,
                               RLT_MAX(LEASES_SILENCE_MS,
                                       l->plan.ttl_ms / 3));
}

static void leases_look_at_links(relet *r)
{
    uint32_t i;

    for (i = 0; i < r->leases.max; i++) {
        const rlt_lease_entry *h = &r->leases.list[i];

        if (r->now >= leases_silent_at(r, h))
            rlt_link_silent(rlt_route_link(&r->route, h->hashslot));
    }
}

static void leases_tick(relet *r, rlt_lease_entry *h, int over)
{
    uint32_t epoch = rlt_route_epoch(&r->route, h->hashslot);
    int up = rlt_route_is_up(&r->route, h->hashslot);

    if (!h->ticked)
        rlt_elect_began(&h->elect, r->now);
    h->ticked = 1;
    rlt_elect_tick(&h->elect, r->now, up);
    if (up && h->epoch != epoch) {
        h->epoch = epoch;
        rlt_elect_linked(&h->elect, r->now);
    }
    if (over)
        rlt_elect_cut_off(&h->elect, RELET_WHY_GAVE_UP, 0);
}

RELET_PRIVATE void rlt_leases_tick(relet *r)
{
    int over = rlt_route_is_over(&r->route);
    uint32_t i;

    if (!r->leases.busy)
        return;
    r->leases.due = 0;
    leases_look_at_links(r);
    for (i = 0; i < r->leases.max; i++)
        leases_tick(r, &r->leases.list[i], over);
    leases_turns(r);
}

RELET_PRIVATE int rlt_leases_answer(relet *r, rlt_tag tag, rlt_heard heard,
                                    relet_value v, relet_event *ev)
{
    rlt_lease_entry *h = &r->leases.list[RLT_TAG_INDEX(tag)];
    int leaving = h->elect.state == RLT_ELECT_LEAVING;
    int releasing = h->elect.lease.asked == RLT_WANT_RELEASE;
    rlt_reply reply;

    rlt_assert(RLT_TAG_INDEX(tag) < r->leases.max);
    reply.heard = heard;
    reply.serial = (uint32_t)tag;
    reply.value = v;
    rlt_elect_reply(&h->elect, r->now, &reply);
    rlt_assert(!leaving || h->elect.state != RLT_ELECT_LEADING);
    /* All campaigns of a client stand in line under its one channel. A release
     * takes this channel out of the line and does not wake it, so the client's
     * other campaigns are woken here. A release that the server refused has
     * taken nothing out, and is sent again. */
    if ((leaving && h->elect.state != RLT_ELECT_LEAVING) ||
        (releasing && h->elect.lease.state != RLT_LEASE_RELEASING))
        leases_wake(r, rlt_leases_key(h), h);
    leases_turns(r);
    return rlt_leases_event(r, ev);
}

RELET_PRIVATE void rlt_leases_stop(relet *r)
{
    uint32_t i;

    for (i = 0; i < r->leases.max; i++)
        rlt_elect_cut_off(&r->leases.list[i].elect, RELET_WHY_STOPPED, 1);
    leases_turns(r);
}

RELET_PRIVATE relet_time rlt_leases_deadline(const relet *r)
{
    relet_time t = RELET_NEVER;
    uint32_t i;

    if (!r->leases.busy)
        return RELET_NEVER;
    if (r->leases.due)
        return r->now;
    for (i = 0; i < r->leases.max; i++) {
        const rlt_lease_entry *h = &r->leases.list[i];
        int up = rlt_route_is_up(&r->route, h->hashslot);

        t = RLT_MIN(t, rlt_elect_deadline(&h->elect, up));
        t = RLT_MIN(t, leases_silent_at(r, h));
    }
    return t;
}

RELET_PRIVATE int rlt_leases_event(relet *r, relet_event *ev)
{
    uint32_t i;

    if (!r->leases.tells)
        return 0;
    for (i = 0; i < r->leases.max; i++) {
        if (!leases_in_use(&r->leases.list[i]) ||
            !rlt_elect_event(&r->leases.list[i].elect, ev))
            continue;
        ev->tag = r->leases.list[i].tag;
        ev->lease = (int)i;
        if (ev->kind == RELET_EV_LEASE_ENDED) {
            rlt_leases_leave(r, &r->leases.list[i]);
            leases_turns(r);
        }
        return 1;
    }
    leases_turns(r);
    return 0;
}

RELET_PRIVATE void rlt_leases_wake(relet *r, relet_span key)
{
    leases_wake(r, key, NULL);
    leases_turns(r);
}

/* ---------------------------------------------------------------- the user */

/* A group grows only at its end once it has begun. */
static const char *leases_group_rule(const relet *r, const rlt_lease_entry *h)
{
    uint32_t i;

    for (i = 0; h->group != 0 && i < r->leases.max; i++) {
        const rlt_lease_entry *b = &r->leases.list[i];

        if (b == h || !leases_in_use(b) || b->group != h->group)
            continue;
        if (leases_compare(b, h) == 0)
            return "the key is in this group already";
        if (leases_compare(b, h) > 0 && b->elect.state != RLT_ELECT_GATED)
            return "the group has begun with a key behind this one";
    }
    return NULL;
}

/* A number is free when the user was told that its lease has ended. */
static int leases_is_free(const relet *r, uint32_t i)
{
    return !leases_in_use(&r->leases.list[i]) &&
           !rlt_kept_has(r, RELET_EV_LEASE_ENDED, (int)i);
}

RELET_API int relet_lease_start(relet *r, const relet_lease_config *c)
{
    rlt_elect_plan plan;
    const char *rule;
    rlt_lease_entry *h;
    uint32_t i;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rlt_route_is_over(&r->route))
        return RELET_E_STOPPED;
    for (i = 0; i < r->leases.max && !leases_is_free(r, i); i++)
        ;
    if (i == r->leases.max)
        return RELET_E_LIMIT;
    h = &r->leases.list[i];
    h->tag = c->tag;
    h->group = c->group;
    h->quarantine_ms = c->quarantine_ms;
    h->ticked = 0;
    rule = leases_plan(c, &plan);
    if (rule == NULL)
        rule = rlt_leases_name(r, h, c);
    if (rule == NULL)
        rule = leases_group_rule(r, h);
    if (rule)
        return leases_refuse(r, rule);
    h->epoch = rlt_route_epoch(&r->route, h->hashslot);
    if (!plan.alone) {
        rlt_wake_name(r);
        rlt_leases_listen(r, h);
    }
    rlt_elect_start(&h->elect, &plan, &r->rand, r->now);
    r->leases.busy = r->leases.due = 1;
    r->leases.tells |= h->elect.tell != 0;
    return (int)i;
}

static rlt_lease_entry *leases_of(const relet *r, int lease)
{
    if (lease < 0 || (uint32_t)lease >= r->leases.max ||
        rlt_client_is_foreign(r) || !leases_in_use(&r->leases.list[lease]))
        return NULL;
    return &r->leases.list[lease];
}

RELET_PRIVATE int rlt_leases_has(const relet *r, int lease)
{
    return leases_of(r, lease) != NULL;
}

RELET_API int relet_lease_stop(relet *r, int lease)
{
    rlt_lease_entry *h = leases_of(r, lease);

    if (h == NULL)
        return rlt_client_refuse(r, "there is no such lease");
    rlt_elect_stop(&h->elect, r->now);
    leases_turns(r);
    return 0;
}

RELET_API int relet_lease_work_done(relet *r, int lease)
{
    rlt_lease_entry *h = leases_of(r, lease);

    if (h == NULL)
        return rlt_client_refuse(r, "there is no such lease");
    rlt_elect_stopped(&h->elect, r->now);
    leases_turns(r);
    return 0;
}

RELET_API relet_time relet_lease_valid_for(const relet *r, int lease,
                                           relet_time now)
{
    const rlt_lease_entry *h = leases_of(r, lease);
    relet_time until = h ? rlt_elect_valid_until(&h->elect) : INT64_MIN;

    if (until == RELET_NEVER)
        return RELET_NEVER;
    return until > now ? until - now : 0;
}

RELET_API uint64_t relet_lease_token(const relet *r, int lease)
{
    const rlt_lease_entry *h = leases_of(r, lease);

    if (h == NULL || h->elect.plan.alone ||
        rlt_elect_valid_until(&h->elect) == INT64_MIN)
        return 0;
    return h->elect.lease.token;
}

#endif /* RELET_NO_LEASE */
