/* SPDX-License-Identifier: MIT
 *
 * track.c - client-side caching: which peers may cache which keys, and their
 * invalidations.
 *
 * A key is remembered with the peers that have read it, and forgotten when it
 * changes. If it cannot be remembered, for want of memory or beyond the limit,
 * the peer is told at once that the key has changed: a needless read is better
 * than an old value. */
#include "track.h"
#include "blocked.h"

RELET_PRIVATE rlt_peer *rlt_track_peer(const rlt_server *s, uint64_t id)
{
    uint32_t i;

    for (i = 0; i < s->peers_cap; i++)
        if (s->peers[i] && s->peers[i]->id == id)
            return s->peers[i];
    return NULL;
}

/* ---------------------------------------------------------------- telling */

static void track_broken(rlt_peer *p)
{
    p->tracking |= RLT_TRACK_BROKEN_REDIRECT;
    if (p->out.resp < 3)
        return;
    rlt_out_push(&p->out, 2);
    rlt_out_text(&p->out, "tracking-redir-broken");
    rlt_out_int(&p->out, (int64_t)p->redirect);
    rlt_blocked_told(p);
}

/* Begins the message to the peer, or to its redirection. Returns the recipient;
 * NULL: none. */
static rlt_peer *track_begin(rlt_peer *p)
{
    rlt_peer *to = p;
    rlt_out *o;

    if (p->redirect) {
        to = rlt_track_peer(p->server, p->redirect);
        if (to == NULL) {
            track_broken(p);
            return NULL;
        }
    }
    o = &to->out;
    if (to->out.resp > 2) {
        o->resp = 3;
        rlt_out_push(o, 2);
        rlt_out_text(o, "invalidate");
    } else if (p->redirect &&
               (to->subscribed[RLT_NEWS_CHANNEL].count > 0 ||
                to->subscribed[RLT_NEWS_PATTERN].count > 0 ||
                to->subscribed[RLT_NEWS_SHARD].count > 0)) {
        o->resp = 2;
        rlt_out_array(o, 3);
        rlt_out_text(o, "message");
        rlt_out_text(o, "__redis__:invalidate");
    } else {
        return NULL;
    }
    return to;
}

/* Redis writes this null in the protocol of the tracking peer, even to a
 * redirection. */
static void track_null(rlt_out *o, int resp)
{
    if (resp > 2)
        rlt_out_raw(o, "_\r\n", 3);
    else
        rlt_out_raw(o, "$-1\r\n", 5);
}

/* Invalidates the key, or all keys if key.p is NULL. */
static void track_say(rlt_peer *p, relet_span key)
{
    rlt_peer *to = track_begin(p);

    if (to == NULL)
        return;
    if (key.p == NULL) {
        track_null(&to->out, p->out.resp);
    } else {
        rlt_out_array(&to->out, 1);
        rlt_out_bulk(&to->out, key);
    }
    rlt_blocked_told(to);
}

/* The peer whose command is running is told after its reply: by then it may
 * have another protocol. Until then the keys wait in `later`, as bulk
 * strings. */
static void track_tell(rlt_peer *p, relet_span key)
{
    if (p != p->server->current)
        track_say(p, key);
    else if (key.p == NULL)
        rlt_out_null(&p->later);
    else
        rlt_out_bulk(&p->later, key);
}

/* Cuts the next key that track_tell stored off *rest. */
static relet_span track_waiting(relet_span *rest)
{
    relet_span line = rlt_span_cut(rest, '\n'), key = relet_str(NULL);
    int64_t n = -1;

    (void)rlt_text_int(line.p + 1, line.n - 2, &n); /* "$3\r" or "$-1\r"      */
    if (n < 0)
        return key;
    key.p = rest->p;
    key.n = (size_t)n;
    rest->p += key.n + 2;
    rest->n -= key.n + 2;
    return key;
}

RELET_PRIVATE void rlt_track_answered(rlt_peer *p)
{
    relet_span rest;

    if (p->later.failed)
        p->out.failed = 1;
    rest.n = rlt_buf_used(&p->later.buf);
    if (rest.n == 0)
        return;
    rest.p = (const char *)rlt_buf_head(&p->later.buf);
    while (rest.n > 0)
        track_say(p, track_waiting(&rest));
    rlt_buf_drop(&p->later.buf, rlt_buf_used(&p->later.buf));
    rlt_buf_shrink(&p->later.buf, 0);
}

/* ------------------------------------------------------------ remembering */

static int track_has(const rlt_entry *e, const rlt_peer *p)
{
    const rlt_tracker *t;

    for (t = (const rlt_tracker *)e->value.p; t; t = t->next)
        if (t->peer_id == p->id)
            return 1;
    return 0;
}

RELET_PRIVATE void rlt_track_read(rlt_peer *p, relet_span key)
{
    rlt_server *s = p->server;
    rlt_entry *e = rlt_dict_find(&s->tracked, key);
    rlt_tracker *t;

    if (e != NULL && track_has(e, p))
        return;
    if (!rlt_pool_ensure_more(&s->pool, RLT_POOL_COST(sizeof *t) +
                                            RLT_DICT_COST(key.n)) ||
        (e == NULL && s->settings.tracking_table_max > 0 &&
         s->tracked.count >= (uint64_t)s->settings.tracking_table_max)) {
        track_tell(p, key);
        return;
    }
    if (e == NULL)
        e = rlt_dict_add(&s->tracked, &s->pool, key);
    t = (rlt_tracker *)rlt_pool_get(&s->pool, sizeof *t);
    t->peer_id = p->id;
    t->number = p->number;
    t->next = (rlt_tracker *)e->value.p;
    e->value.p = t;
    s->tracked_items++;
}

static rlt_peer *track_of(const rlt_server *s, const rlt_tracker *t)
{
    rlt_peer *p = NULL;

    if ((uint32_t)t->number < s->peers_cap)
        p = s->peers[t->number];
    return p && p->id == t->peer_id ? p : NULL;
}

static void track_forget(rlt_server *s, rlt_entry *e)
{
    rlt_tracker *t = (rlt_tracker *)e->value.p, *next;

    for (; t; t = next) {
        next = t->next;
        rlt_pool_put(&s->pool, t, sizeof *t);
        s->tracked_items--;
    }
    rlt_dict_remove(&s->tracked, &s->pool, e);
}

/* Redis keeps these keys in a tree, and sends them in byte order. Beyond
 * TRACK_ORDERED keys they are sent as they came, to save time. */
#define TRACK_ORDERED 256

static rlt_entry *track_in_order(rlt_server *s, rlt_dict *d, relet_span key)
{
    rlt_entry *e = rlt_dict_add(d, &s->pool, key), *before = d->first;

    if (d->count > TRACK_ORDERED)
        return e;
    while (before != e && rlt_str_compare(rlt_entry_key(before), key) < 0)
        before = before->next;
    if (before != e)
        rlt_dict_place(d, e, before);
    return e;
}

/* The changed key cannot be recorded, so all keys are invalidated. */
static void track_lost(rlt_prefix *prefix)
{
    const rlt_entry *in;

    for (in = prefix->peers.first; in; in = in->next)
        track_tell((rlt_peer *)in->value.p, relet_str(NULL));
}

static void track_note_prefixes(rlt_server *s, const rlt_peer *by,
                                relet_span key)
{
    rlt_entry *e, *changed;
    rlt_prefix *prefix;

    for (e = s->prefixes.first; e; e = e->next) {
        if (e->len > key.n || memcmp(e->key, key.p, e->len) != 0)
            continue;
        prefix = (rlt_prefix *)e->value.p;
        changed = rlt_dict_find(&prefix->changed, key);
        if (changed == NULL &&
            rlt_pool_ensure_more(&s->pool, RLT_DICT_COST(key.n)))
            changed = track_in_order(s, &prefix->changed, key);
        if (changed != NULL)
            changed->value.i = by ? (int64_t)by->id : 0;
        else
            track_lost(prefix);
    }
}

RELET_PRIVATE void rlt_track_changed(rlt_server *s, const rlt_peer *by,
                                     relet_span key)
{
    const rlt_tracker *t;
    rlt_entry *e;
    rlt_peer *p;

    if (s->prefixes.count > 0)
        track_note_prefixes(s, by, key);
    if (s->tracked.count == 0)
        return;
    e = rlt_dict_find(&s->tracked, key);
    if (e == NULL)
        return;
    for (t = (const rlt_tracker *)e->value.p; t; t = t->next) {
        p = track_of(s, t);
        if (p == NULL || !(p->tracking & RLT_TRACK_ON) ||
            (p->tracking & RLT_TRACK_BCAST) ||
            ((p->tracking & RLT_TRACK_NOLOOP) && p == s->current))
            continue;
        track_tell(p, key);
    }
    track_forget(s, e);
}

RELET_PRIVATE void rlt_track_flushed(rlt_server *s)
{
    uint32_t i;

    for (i = 0; i < s->peers_cap && s->trackers > 0; i++)
        if (s->peers[i] && (s->peers[i]->tracking & RLT_TRACK_ON))
            track_tell(s->peers[i], relet_str(NULL));
    while (s->tracked.first)
        track_forget(s, s->tracked.first);
}

/* ------------------------------------------------------------ broadcasting */

static relet_span track_id(const rlt_peer *p)
{
    relet_span id;

    id.p = (const char *)&p->id;
    id.n = sizeof p->id;
    return id;
}

RELET_PRIVATE void rlt_track_prefix(rlt_peer *p, relet_span name)
{
    rlt_server *s = p->server;
    rlt_entry *e = rlt_dict_find(&s->prefixes, name), *own;
    rlt_prefix *prefix;

    if (rlt_dict_find(&p->prefixes, name))
        return;
    if (e == NULL) {
        e = track_in_order(s, &s->prefixes, name);
        e->value.p = rlt_pool_get(&s->pool, sizeof *prefix);
        memset(e->value.p, 0, sizeof *prefix);
    }
    prefix = (rlt_prefix *)e->value.p;
    own = rlt_dict_add(&prefix->peers, &s->pool, track_id(p));
    own->value.p = p;
    (void)track_in_order(s, &p->prefixes, name);
}

static void track_prefix_free(rlt_server *s, rlt_entry *e)
{
    rlt_prefix *prefix = (rlt_prefix *)e->value.p;

    rlt_dict_clear(&prefix->changed, &s->pool);
    rlt_dict_clear(&prefix->peers, &s->pool);
    rlt_pool_put(&s->pool, prefix, sizeof *prefix);
    rlt_dict_remove(&s->prefixes, &s->pool, e);
}

static void track_prefixes_leave(rlt_peer *p)
{
    rlt_server *s = p->server;
    rlt_entry *own, *e, *in;
    rlt_prefix *prefix;

    for (own = p->prefixes.first; own; own = own->next) {
        e = rlt_dict_find(&s->prefixes, rlt_entry_key(own));
        prefix = (rlt_prefix *)e->value.p;
        in = rlt_dict_find(&prefix->peers, track_id(p));
        rlt_dict_remove(&prefix->peers, &s->pool, in);
        if (prefix->peers.count == 0)
            track_prefix_free(s, e);
    }
    rlt_dict_clear(&p->prefixes, &s->pool);
}

static void track_tell_prefix(const rlt_prefix *prefix, rlt_peer *p)
{
    uint32_t n = prefix->changed.count;
    const rlt_entry *e;
    rlt_peer *to;

    for (e = prefix->changed.first; e; e = e->next)
        if ((p->tracking & RLT_TRACK_NOLOOP) &&
            (uint64_t)e->value.i == p->id)
            n--;
    to = n > 0 ? track_begin(p) : NULL;
    if (to == NULL)
        return;
    rlt_out_array(&to->out, n);
    for (e = prefix->changed.first; e; e = e->next)
        if (!(p->tracking & RLT_TRACK_NOLOOP) ||
            (uint64_t)e->value.i != p->id)
            rlt_out_bulk(&to->out, rlt_entry_key(e));
    rlt_blocked_told(to);
}

RELET_PRIVATE void rlt_track_broadcast(rlt_server *s)
{
    rlt_entry *e, *in;
    rlt_prefix *prefix;

    for (e = s->prefixes.first; e; e = e->next) {
        prefix = (rlt_prefix *)e->value.p;
        if (prefix->changed.count == 0)
            continue;
        for (in = prefix->peers.first; in; in = in->next)
            track_tell_prefix(prefix, (rlt_peer *)in->value.p);
        rlt_dict_clear(&prefix->changed, &s->pool);
    }
}

/* --------------------------------------------------------------- switching */

RELET_PRIVATE void rlt_track_on(rlt_peer *p, int flags, uint64_t redirect)
{
    if (!(p->tracking & RLT_TRACK_ON))
        p->server->trackers++;
    p->tracking = RLT_TRACK_ON | flags | (p->tracking & RLT_TRACK_CACHING);
    p->redirect = redirect;
}

RELET_PRIVATE void rlt_track_off(rlt_peer *p)
{
    if (!(p->tracking & RLT_TRACK_ON))
        return;
    p->server->trackers--;
    track_prefixes_leave(p);
    p->tracking = 0;
    p->redirect = 0;
}

RELET_PRIVATE void rlt_track_free(rlt_server *s)
{
    while (s->tracked.first)
        track_forget(s, s->tracked.first);
    rlt_dict_clear(&s->tracked, &s->pool);
    while (s->prefixes.first)
        track_prefix_free(s, s->prefixes.first);
    rlt_dict_clear(&s->prefixes, &s->pool);
}
