/* SPDX-License-Identifier: MIT
 *
 * blocked.c - clients that wait: for a key, for time, for the end of a pause.
 */
#include "blocked.h"

static void blocked_pause(rlt_peer *p)
{
    rlt_server *s = p->server;

    p->pause_next = NULL;
    p->pause_back = s->paused_last;
    if (s->paused_last)
        s->paused_last->pause_next = p;
    else
        s->paused = p;
    s->paused_last = p;
}

static void blocked_pause_end(rlt_peer *p)
{
    rlt_server *s = p->server;

    if (p->pause_next)
        p->pause_next->pause_back = p->pause_back;
    else
        s->paused_last = p->pause_back;
    if (p->pause_back)
        p->pause_back->pause_next = p->pause_next;
    else
        s->paused = p->pause_next;
}

RELET_PRIVATE void rlt_blocked_add(rlt_peer *p, rlt_peer_wait what,
                                   int64_t until_ms)
{
    rlt_assert(p->wait == RLT_WAIT_NONE);
    p->wait = what;
    p->wait_until_ms = until_ms;
    p->server->blocked++;
    if (what == RLT_WAIT_PAUSE)
        blocked_pause(p);
}

static rlt_dict *blocked_line(rlt_peer *p)
{
    return &p->server->dbs[p->db].waiting;
}

static int blocked_has(const rlt_peer *p, const rlt_entry *e)
{
    const rlt_waiter *w;

    for (w = p->waiters; w; w = w->of_peer)
        if (w->key == e)
            return 1;
    return 0;
}

RELET_PRIVATE void rlt_blocked_key(rlt_peer *p, relet_span key)
{
    rlt_pool *pool = &p->server->pool;
    rlt_entry *e = rlt_dict_find(blocked_line(p), key);
    rlt_waiter *w, *last;

    if (e == NULL)
        e = rlt_dict_add(blocked_line(p), pool, key);
    else if (blocked_has(p, e))
        return;
    w = (rlt_waiter *)rlt_pool_get(pool, sizeof *w);
    memset(w, 0, sizeof *w);
    w->peer = p;
    w->key = e;
    last = (rlt_waiter *)e->value.p;
    while (last && last->next)
        last = last->next;
    w->back = last;
    if (last)
        last->next = w;
    else
        e->value.p = w;
    if (p->waiters_last)
        p->waiters_last->of_peer = w;
    else
        p->waiters = w;
    p->waiters_last = w;
}

static void blocked_unlink(rlt_peer *p, rlt_waiter *w)
{
    rlt_pool *pool = &p->server->pool;

    if (w->next)
        w->next->back = w->back;
    if (w->back)
        w->back->next = w->next;
    else
        w->key->value.p = w->next;
    if (w->key->value.p == NULL)
        rlt_dict_remove(blocked_line(p), pool, w->key);
    rlt_pool_put(pool, w, sizeof *w);
}

RELET_PRIVATE void rlt_blocked_answered(rlt_peer *p)
{
    if (p->reply_mode == RLT_REPLY_SKIP)
        p->reply_mode = RLT_REPLY_ON;
    if (p->reply_mode == RLT_REPLY_SKIP_NEXT)
        p->reply_mode = RLT_REPLY_SKIP;
}

RELET_PRIVATE void rlt_blocked_end(rlt_peer *p)
{
    rlt_waiter *w = p->waiters, *next;

    if (p->wait == RLT_WAIT_NONE)
        return;
    if (p->wait == RLT_WAIT_PAUSE) /* the command is yet to run              */
        blocked_pause_end(p);
    else
        rlt_blocked_answered(p);
    for (; w; w = next) {
        next = w->of_peer;
        blocked_unlink(p, w);
    }
    p->waiters = p->waiters_last = NULL;
    rlt_pool_put(&p->server->pool, p->note, p->note_size);
    p->note = NULL;
    p->note_size = 0;
    p->wait = RLT_WAIT_NONE;
    p->server->blocked--;
    rlt_blocked_resume(p);
}

/* ---------------------------------------------------------- available keys */

static int blocked_noted(const rlt_server *s, uint32_t db, relet_span key)
{
    const rlt_came *c;

    for (c = s->came; c; c = c->next)
        if (c->db == db && rlt_span_same(rlt_str_span(c->key), key))
            return 1;
    return 0;
}

/* If memory is short for a note, came_lost makes all waiters try their keys. */
RELET_PRIVATE void rlt_blocked_came(rlt_server *s, uint32_t db, relet_span key)
{
    rlt_came *c;

    if (s->blocked == 0 || rlt_dict_find(&s->dbs[db].waiting, key) == NULL ||
        blocked_noted(s, db, key))
        return;
    if (!rlt_pool_ensure_more(&s->pool, RLT_POOL_COST(sizeof *c) +
                                            RLT_STR_COST(key.n))) {
        s->came_lost = 1;
        return;
    }
    c = (rlt_came *)rlt_pool_get(&s->pool, sizeof *c);
    c->db = db;
    c->next = NULL;
    c->key = rlt_str_new(&s->pool, key);
    if (s->came_last)
        s->came_last->next = c;
    else
        s->came = c;
    s->came_last = c;
}

RELET_PRIVATE rlt_came *rlt_blocked_next(rlt_server *s)
{
    rlt_came *c = s->came;

    if (c == NULL)
        return NULL;
    s->came = c->next;
    if (s->came == NULL)
        s->came_last = NULL;
    return c;
}

RELET_PRIVATE rlt_waiter *rlt_blocked_first(rlt_server *s, const rlt_came *c)
{
    rlt_entry *e =
        rlt_dict_find(&s->dbs[c->db].waiting, rlt_str_span(c->key));

    return e ? (rlt_waiter *)e->value.p : NULL;
}

RELET_PRIVATE void rlt_blocked_came_free(rlt_server *s, rlt_came *c)
{
    rlt_str_free(&s->pool, c->key);
    rlt_pool_put(&s->pool, c, sizeof *c);
}

/* ---------------------------------------------------------------- resuming */

RELET_PRIVATE void rlt_blocked_resume(rlt_peer *p)
{
    rlt_server *s = p->server;

    if (p->resuming)
        return;
    p->resuming = 1;
    p->resume_next = NULL;
    if (s->resume_last)
        s->resume_last->resume_next = p;
    else
        s->resume = p;
    s->resume_last = p;
}

RELET_PRIVATE void rlt_blocked_told(rlt_peer *p)
{
    if (!p->out.failed || p->closing)
        return;
    p->closing = 1;
    rlt_blocked_resume(p);
}

RELET_PRIVATE rlt_peer *rlt_blocked_resumed(rlt_server *s)
{
    rlt_peer *p = s->resume;

    if (p == NULL)
        return NULL;
    s->resume = p->resume_next;
    if (s->resume == NULL)
        s->resume_last = NULL;
    p->resuming = 0;
    return p;
}
