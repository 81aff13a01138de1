/* SPDX-License-Identifier: MIT
 *
 * multi.c - the commands that a client queues after MULTI, and its watches.
 */
#include "multi.h"

#define MULTI_HEADER RLT_POOL_ROUND(sizeof(rlt_queued))

RELET_PRIVATE const relet_span *rlt_multi_argv(const rlt_queued *q)
{
    const char *p = (const char *)q;

    return (const relet_span *)(const void *)(p + MULTI_HEADER);
}

static size_t multi_size(const rlt_peer *p)
{
    size_t n = MULTI_HEADER + p->argc * sizeof(relet_span);
    uint32_t i;

    for (i = 0; i < p->argc; i++)
        n += p->argv[i].n;
    return n;
}

static void multi_copy(rlt_queued *q, const rlt_peer *p)
{
    relet_span *argv =
        (relet_span *)(void *)((char *)(void *)q + MULTI_HEADER);
    char *at = (char *)(void *)(argv + p->argc);
    uint32_t i;

    for (i = 0; i < p->argc; i++) {
        argv[i].p = at;
        argv[i].n = p->argv[i].n;
        if (argv[i].n > 0)
            memcpy(at, p->argv[i].p, argv[i].n);
        at += argv[i].n;
    }
}

RELET_PRIVATE int rlt_queue_add(rlt_peer *p, const rlt_call *c)
{
    size_t size = multi_size(p);
    rlt_queued *q;

    if (p->multi_broken || rlt_queue_changed(p, INT64_MIN))
        return 1; /* EXEC will not run it */
    q = (rlt_queued *)rlt_pool_try(&p->server->pool, size);
    if (q == NULL)
        return 0;
    q->next = NULL;
    q->command = c->command;
    q->container = c->container;
    q->is_sub = c->is_sub;
    q->argc = p->argc;
    q->size = size;
    multi_copy(q, p);
    if (p->multi_last)
        p->multi_last->next = q;
    else
        p->multi_first = q;
    p->multi_last = q;
    p->multi_flags |= c->command->flags;
    p->multi_count++;
    return 1;
}

RELET_PRIVATE void rlt_queue_clear(rlt_peer *p)
{
    rlt_queued *q = p->multi_first, *next;

    for (; q; q = next) {
        next = q->next;
        rlt_pool_put(&p->server->pool, q, q->size);
    }
    p->multi_first = p->multi_last = NULL;
    p->multi_count = 0;
    p->multi_flags = 0;
    p->in_multi = 0;
    p->multi_broken = 0;
    rlt_queue_unwatch(p);
}

/* ----------------------------------------------------------------- watching */

static int multi_is_due(const rlt_keys *k, relet_span key, int64_t now_ms)
{
    rlt_entry *e = rlt_keys_find(k, key);

    return e != NULL && rlt_keys_is_due(rlt_keys_obj(e), now_ms);
}

RELET_PRIVATE void rlt_queue_watch(rlt_peer *p, relet_span key,
                                   int64_t now_ms)
{
    rlt_server *s = p->server;
    rlt_keys *k = &s->dbs[p->db].keys;
    rlt_watching *w;

    for (w = p->watching; w; w = w->next)
        if (w->db == p->db &&
            rlt_span_same(rlt_keys_watched_key(w->watch), key))
            return;
    w = (rlt_watching *)rlt_pool_get(&s->pool, sizeof *w);
    w->watch = rlt_keys_watch(k, &s->pool, key);
    w->changes = w->watch->changes;
    w->db = p->db;
    w->expired = multi_is_due(k, key, now_ms);
    w->next = p->watching;
    p->watching = w;
}

RELET_PRIVATE void rlt_queue_unwatch(rlt_peer *p)
{
    rlt_server *s = p->server;
    rlt_watching *w = p->watching, *next;

    for (; w; w = next) {
        next = w->next;
        rlt_keys_unwatch(&s->dbs[w->db].keys, &s->pool, w->watch);
        rlt_pool_put(&s->pool, w, sizeof *w);
    }
    p->watching = NULL;
    p->multi_changed = 0;
}

RELET_PRIVATE int rlt_queue_changed(const rlt_peer *p, int64_t now_ms)
{
    const rlt_watching *w;

    if (p->multi_changed)
        return 1;
    for (w = p->watching; w; w = w->next) {
        if (w->changes != w->watch->changes)
            return 1;
        if (!w->expired && multi_is_due(&p->server->dbs[w->db].keys,
                                        rlt_keys_watched_key(w->watch),
                                        now_ms))
            return 1;
    }
    return 0;
}
