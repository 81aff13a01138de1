/* SPDX-License-Identifier: MIT
 *
 * lease_requests.c - the names of a lease on the server: its keys, its owner
 * and its channel for wake-ups; and the requests that carry these names. */
#include "client.h"
#include "cmd.h"
#include "text.h"

#ifndef RELET_NO_LEASE

#define REQUEST_KEYS 3 /* lease, fence, sleepers                             */

/* ------------------------------------------------------------------- names */

/* Whether only a part of the key, its hash tag, determines its hash slot. */
static int request_has_tag(relet_span key)
{
    const char *from = (const char *)memchr(key.p, '{', key.n), *to;

    if (from == NULL)
        return 0;
    to = (const char *)memchr(from, '}', key.n - (size_t)(from - key.p));
    return to != NULL && to > from + 1;
}

/* A hash tag ends at the first }. So a key with a } outside a tag can have no
 * companion in its hash slot. And the key {x} would have the companions of the
 * key x. */
static const char *request_key_rule(relet_span key)
{
    const char *end = (const char *)memchr(key.p, '}', key.n);

    if (end != NULL && !request_has_tag(key))
        return "the key of a lease has a } but no hash tag";
    if (end == key.p + key.n - 1 && key.p[0] == '{')
        return "the key of a lease is a hash tag and nothing else";
    return NULL;
}

/* PREFIX:leader:NAME, PREFIX:lock:NAME, or the key as it was given. */
static const char *request_key(const relet *r, rlt_lease_entry *h,
                               const relet_lease_config *c)
{
    relet_span kind = relet_str(c->once ? "lock:" : "leader:");
    relet_span prefix = relet_str(r->prefix), body = c->key;
    size_t n = 0;

    if ((c->key.n > 0) == (c->name.n > 0))
        return "a lease has either a name or a key";
    if (body.n == 0) {
        body = c->name;
        n = rlt_span_put(h->key, 0, prefix);
        if (n > 0)
            h->key[n++] = ':';
        n = rlt_span_put(h->key, n, kind);
    }
    if (body.n > RLT_LEASES_KEY_MAX - n)
        return "the key of a lease has at most 255 bytes";
    h->key_len = (uint16_t)rlt_span_put(h->key, n, body);
    return request_key_rule(rlt_leases_key(h));
}

/* LABEL:UID, with 128 random bits: no other owner ever has the same name. */
static const char *request_owner(relet *r, rlt_lease_entry *h, relet_span label)
{
    size_t n;

    if (label.n > RLT_LEASES_LABEL_MAX)
        return "lease.label has at most 63 bytes";
    n = rlt_span_put(h->owner, 0, label);
    if (n > 0)
        h->owner[n++] = ':';
    h->owner_len = (uint8_t)(n + rlt_uid_make(r, h->owner + n));
    return NULL;
}

/* A companion of the key, in the same hash slot. */
static relet_span request_companion(relet_span key, const char *what, char *out)
{
    int tag = !request_has_tag(key);
    size_t n = 0;

    if (tag)
        out[n++] = '{';
    n = rlt_span_put(out, n, key);
    if (tag)
        out[n++] = '}';
    return rlt_span(out, rlt_span_put(out, n, relet_str(what)));
}

RELET_PRIVATE const char *rlt_leases_name(relet *r, rlt_lease_entry *h,
                                          const relet_lease_config *c)
{
    const char *rule = request_key(r, h, c);

    if (rule == NULL)
        rule = request_owner(r, h, c->label);
    if (rule == NULL)
        h->hashslot = rlt_route_hashslot(rlt_leases_key(h));
    return rule;
}

/* ------------------------------------------------------------- its channel */

static relet_span request_channel(const relet *r, const rlt_lease_entry *h,
                                  char out[RLT_WAKE_MAX])
{
    return rlt_wake_channel(
        r, out, request_companion(rlt_leases_key(h), "", out).n);
}

RELET_PRIVATE void rlt_leases_listen(relet *r, rlt_lease_entry *h)
{
    char room[RLT_WAKE_MAX];

    if (!h->listens)
        h->listens = (uint8_t)rlt_wake_listen(r, h->hashslot,
                                              request_channel(r, h, room));
}

RELET_PRIVATE void rlt_leases_leave(relet *r, rlt_lease_entry *h)
{
    char room[RLT_WAKE_MAX];

    if (h->listens)
        rlt_wake_leave(r, h->hashslot, request_channel(r, h, room));
    h->listens = 0;
}

/* ----------------------------------------------------------------- sending */

static int request_confirm(relet *r, const rlt_lease_entry *h,
                           const relet_request *q)
{
    const rlt_lease_plan *p = &h->elect.plan.lease;
    char copies[20], ms[20];
    relet_span argv[4];
    relet_args a;
    size_t n = 0;

    argv[n++] = relet_str(p->fsync ? "WAITAOF" : "WAIT");
    if (p->fsync)
        argv[n++] = relet_str("1");
    argv[n++] = rlt_span(copies, rlt_text_put_u64(copies, p->replicas));
    argv[n++] = rlt_span(ms, rlt_text_put_i64(ms, p->replicas_ms));
    a.argv = argv;
    a.argc = n;
    return rlt_submit_command(r, h->hashslot, &a, q);
}

static size_t request_keys(const rlt_lease_entry *h,
                           char (*room)[RLT_LEASES_KEY_MAX + 12],
                           relet_span *argv)
{
    argv[0] = rlt_leases_key(h);
    argv[1] = request_companion(argv[0], ":fence", room[0]);
    argv[2] = request_companion(argv[0], ":sleepers", room[1]);
    return REQUEST_KEYS;
}

/* The keys come first, then the arguments that the head of the script lists. */
RELET_PRIVATE int rlt_leases_send(relet *r, const rlt_lease_entry *h,
                                  const rlt_request *want)
{
    const rlt_lease_plan *p = &h->elect.plan.lease;
    char room[2][RLT_LEASES_KEY_MAX + 12], term[20], token[20], ttl[20],
        q_ms[20], channel[RLT_WAKE_MAX];
    relet_span argv[REQUEST_KEYS + 5], words[4];
    relet_request q = {0, 0, 0};
    rlt_own_script script = RLT_SCRIPT_LEASE_ACQUIRE;
    relet_args a;
    size_t keys = request_keys(h, room, argv), n;

    q.tag = rlt_leases_tag(r, h, want->serial);
    q.timeout_ms = want->timeout_ms;
    if (want->what == RLT_WANT_CONFIRM)
        return request_confirm(r, h, &q);
    words[0] = rlt_span(term, rlt_text_put_u64(term, want->term));
    words[1] = rlt_span(token, want->token > 0
                                    ? rlt_text_put_u64(token, want->token)
                                    : 0);
    words[2] = rlt_span(ttl, rlt_text_put_i64(ttl, p->ttl_ms));
    words[3] = rlt_span(q_ms, rlt_text_put_i64(q_ms, h->quarantine_ms));
    rlt_assert(!h->elect.plan.alone);
    rlt_assert(h->key_len > 0);
    rlt_assert(h->owner_len > 0);
    if (want->what == RLT_WANT_RENEW)
        keys = 2;
    n = keys;
    argv[n++] = rlt_span(h->owner, h->owner_len);
    if (want->what == RLT_WANT_RENEW) {
        script = RLT_SCRIPT_LEASE_RENEW;
        argv[n++] = words[1];
        argv[n++] = words[2];
    } else if (want->what == RLT_WANT_RELEASE) {
        script = RLT_SCRIPT_LEASE_RELEASE;
        argv[n++] = words[0];
        argv[n++] = words[1];
        argv[n++] = request_channel(r, h, channel);
    } else {
        argv[n++] = words[0];
        argv[n++] = words[2];
        argv[n++] = request_channel(r, h, channel);
        argv[n++] = words[3];
    }
    a.argv = argv;
    a.argc = n;
    return rlt_submit_script(r, script, keys, &a, &q);
}

#endif /* RELET_NO_LEASE */
