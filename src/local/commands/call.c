/* SPDX-License-Identifier: MIT
 *
 * call.c - one running command: looking keys up, and reporting its changes.
 */
#include "call.h"
#include "propagate.h"
#include "pubsub.h"
#include "blocked.h"
#include "track.h"

RELET_PRIVATE size_t rlt_call_cost(const rlt_call *c)
{
    /* The most expensive use of an argument, beside a key of its own: an object
     * and a list's chunk, or a member with its score. */
    const size_t each = RLT_OBJ_COST + RLT_KEYS_PUT_COST(0) +
                        RLT_LIST_COST(0) + RLT_ZSET_COST(0) +
                        RLT_KEYS_DUE_COST + 128;
    size_t n = 512;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += each + 3 * c->argv[i].n;
    return n;
}

/* ------------------------------------------------------------------ expiry */

/* A client that watched the key when it was already due saw it as gone: for its
 * watch this is no change. */
RELET_PRIVATE void rlt_call_watched_lapse(rlt_server *s, uint32_t db,
                                          relet_span key)
{
    rlt_keys *k = &s->dbs[db].keys;
    rlt_watching *w;
    uint32_t i;

    if (k->watched.count == 0)
        return;
    rlt_keys_touch(k, key);
    for (i = 0; i < s->peers_cap; i++)
        for (w = s->peers[i] ? s->peers[i]->watching : NULL; w; w = w->next)
            if (w->expired && w->db == db &&
                rlt_span_same(rlt_keys_watched_key(w->watch), key)) {
                w->changes++;
                w->expired = 0;
            }
}

RELET_PRIVATE void rlt_call_lapse(rlt_server *s, uint32_t db, rlt_entry *e)
{
    relet_span key = rlt_entry_key(e);

    s->counts.expired++;
    rlt_propagate_begin(s, db, 2);
    rlt_propagate_word(s, relet_str("DEL"));
    rlt_propagate_word(s, key);
    rlt_local_pubsub_event(s, db, RLT_EVENT_EXPIRED, "expired", key);
    rlt_track_changed(s, NULL, key);
    rlt_call_watched_lapse(s, db, key);
    rlt_keys_delete(&s->dbs[db].keys, &s->pool, e);
}

/* The entry, unless it is due: then it is deleted now. While writes are paused
 * a due entry stays, but is not returned. */
static rlt_entry *call_live(rlt_call *c, relet_span key)
{
    rlt_entry *e = rlt_keys_find(c->db, key);

    if (e == NULL || c->peer->replaying ||
        !rlt_keys_is_due(rlt_keys_obj(e), c->now_ms))
        return e;
    if (c->server->pause_until_ms < c->now_ms)
        rlt_call_lapse(c->server, c->db_index, e);
    return NULL;
}

/* ----------------------------------------------------------------- looking */

RELET_PRIVATE rlt_entry *rlt_call_find_write(rlt_call *c, relet_span key)
{
    return call_live(c, key);
}

RELET_PRIVATE rlt_entry *rlt_call_find_read(rlt_call *c, relet_span key)
{
    rlt_entry *e = rlt_call_find_write(c, key);

    if (e != NULL) {
        c->server->counts.hits++;
    } else {
        c->server->counts.misses++;
        rlt_call_event(c, RLT_EVENT_KEY_MISS, "keymiss", key);
    }
    return e;
}

RELET_PRIVATE rlt_obj *rlt_call_peek(const rlt_call *c, relet_span key)
{
    rlt_entry *e = rlt_keys_find(c->db, key);
    rlt_obj *o = e ? rlt_keys_obj(e) : NULL;

    return o && !rlt_keys_is_due(o, c->now_ms) ? o : NULL;
}

static int call_typed(rlt_call *c, rlt_entry *e, rlt_obj_type type,
                      rlt_obj **o)
{
    *o = e ? rlt_keys_obj(e) : NULL;
    if (*o == NULL || (*o)->type == type)
        return 1;
    rlt_call_error(c, RLT_ERR_WRONGTYPE);
    return 0;
}

RELET_PRIVATE int rlt_call_read(rlt_call *c, uint32_t i, rlt_obj_type type,
                                rlt_obj **o)
{
    return call_typed(c, rlt_call_find_read(c, c->argv[i]), type, o);
}

RELET_PRIVATE int rlt_call_write(rlt_call *c, uint32_t i, rlt_obj_type type,
                                 rlt_obj **o)
{
    return call_typed(c, rlt_call_find_write(c, c->argv[i]), type, o);
}

/* ---------------------------------------------------------------- changing */

RELET_PRIVATE rlt_entry *rlt_call_put(rlt_call *c, relet_span key, rlt_obj *o)
{
    rlt_entry *e = rlt_keys_find(c->db, key);
    int is_new = e == NULL;

    if (e && rlt_keys_obj(e)->type == RLT_OBJ_STREAM)
        rlt_call_ready(c, key);
    e = rlt_keys_put(c->db, c->pool, key, o);
    if (is_new) {
        if (o->type == RLT_OBJ_LIST || o->type == RLT_OBJ_ZSET ||
            o->type == RLT_OBJ_STREAM)
            rlt_call_ready(c, key);
        rlt_call_event(c, RLT_EVENT_NEW, "new", key);
    }
    return e;
}

RELET_PRIVATE rlt_obj *rlt_call_make(rlt_call *c, uint32_t i,
                                     rlt_obj_type type)
{
    rlt_obj *o = rlt_obj_new(c->pool, type);

    (void)rlt_call_put(c, c->argv[i], o);
    return o;
}

RELET_PRIVATE int rlt_call_delete(rlt_call *c, relet_span key)
{
    rlt_entry *e = rlt_keys_find(c->db, key);

    if (e == NULL)
        return 0;
    if (rlt_keys_obj(e)->type == RLT_OBJ_STREAM)
        rlt_call_ready(c, key);
    rlt_keys_delete(c->db, c->pool, e);
    return 1;
}

RELET_PRIVATE int rlt_call_delete_empty(rlt_call *c, uint32_t i,
                                        const rlt_obj *o)
{
    if (!rlt_obj_is_empty(o))
        return 0;
    (void)rlt_call_delete(c, c->argv[i]);
    rlt_call_event(c, RLT_EVENT_GENERIC, "del", c->argv[i]);
    return 1;
}

RELET_PRIVATE void rlt_call_modified(rlt_call *c, relet_span key)
{
    if (c->db->watched.count > 0)
        rlt_keys_touch(c->db, key);
    rlt_track_changed(c->server, c->in_script ? NULL : c->peer, key);
}

RELET_PRIVATE void rlt_call_event(rlt_call *c, int class_, const char *event,
                                  relet_span key)
{
    rlt_local_pubsub_event(c->server, c->db_index, class_, event, key);
}

RELET_PRIVATE void rlt_call_changed(rlt_call *c, relet_span key, int class_,
                                    const char *event)
{
    rlt_call_modified(c, key);
    rlt_call_event(c, class_, event, key);
    c->dirty++;
}

RELET_PRIVATE void rlt_call_taken(rlt_call *c, uint32_t i, const rlt_obj *o,
                                  int class_, const char *event, int64_t n)
{
    rlt_call_event(c, class_, event, c->argv[i]);
    c->dirty += n;
    (void)rlt_call_delete_empty(c, i, o);
    rlt_call_modified(c, c->argv[i]);
}

/* ---------------------------------------------------------------- waiting */

RELET_PRIVATE void rlt_call_ready(rlt_call *c, relet_span key)
{
    rlt_blocked_came(c->server, c->db_index, key);
}

RELET_PRIVATE int rlt_call_block(rlt_call *c, rlt_obj_type type,
                                 uint32_t first, uint32_t n, uint32_t step,
                                 int64_t deadline_ms, int flags)
{
    rlt_peer *p = c->peer;
    size_t cost = 0;
    uint32_t i;

    if (c->in_script || c->in_exec)
        return 0;
    c->parked = 1;
    if (c->woken != NULL)
        return 1;
    for (i = 0; i < n; i++)
        cost += RLT_PARK_COST(c->argv[first + i * step].n);
    if (!rlt_pool_ensure_more(c->pool, cost)) {
        c->parked = 0;
        rlt_call_error(c, RLT_ERR_OOM);
        return 1;
    }
    rlt_blocked_add(p, RLT_WAIT_KEYS, deadline_ms);
    p->wait_type = type;
    p->wait_flags = flags;
    for (i = 0; i < n; i++)
        rlt_blocked_key(p, c->argv[first + i * step]);
    return 1;
}

RELET_PRIVATE int rlt_call_note(rlt_call *c, const void *p, size_t n)
{
    rlt_peer *peer = c->peer;
    void *note;

    if (c->in_script || c->in_exec || c->woken != NULL || n == 0)
        return 1;
    note = rlt_pool_try(c->pool, n);
    if (note == NULL) {
        rlt_call_error(c, RLT_ERR_OOM);
        return 0;
    }
    memcpy(note, p, n);
    rlt_pool_put(c->pool, peer->note, peer->note_size);
    peer->note = note;
    peer->note_size = n;
    return 1;
}

RELET_PRIVATE const void *rlt_call_noted(const rlt_call *c, size_t *n)
{
    *n = c->peer->note_size;
    return c->peer->note;
}

/* ----------------------------------------------------------------- the log */

RELET_PRIVATE void rlt_call_effect(rlt_call *c, size_t words)
{
    c->told_effect = 1;
    rlt_propagate_begin(c->server, c->db_index, words);
}

RELET_PRIVATE void rlt_call_effect_word(rlt_call *c, relet_span word)
{
    rlt_propagate_word(c->server, word);
}

RELET_PRIVATE void rlt_call_effect_text(rlt_call *c, const char *word)
{
    rlt_propagate_word(c->server, relet_str(word));
}

RELET_PRIVATE void rlt_call_effect_int(rlt_call *c, int64_t word)
{
    char digits[24];
    relet_span s;

    s.p = digits;
    s.n = rlt_text_put_i64(digits, word);
    rlt_propagate_word(c->server, s);
}

RELET_PRIVATE void rlt_call_effect_none(rlt_call *c)
{
    c->told_effect = 1;
}

/* ----------------------------------------------------------------- scratch */

typedef struct call_scratch {
    struct call_scratch *next;
    size_t size;
} call_scratch;

#define CALL_SCRATCH_HEADER RLT_POOL_ROUND(sizeof(call_scratch))

RELET_PRIVATE void *rlt_call_scratch(rlt_call *c, size_t n)
{
    call_scratch *s = NULL;

    if (n < SIZE_MAX / 4)
        s = (call_scratch *)rlt_pool_try(c->pool, CALL_SCRATCH_HEADER + n);
    if (s == NULL) {
        rlt_call_error(c, RLT_ERR_OOM);
        return NULL;
    }
    s->next = (call_scratch *)c->scratch;
    s->size = CALL_SCRATCH_HEADER + n;
    c->scratch = s;
    return (char *)(void *)s + CALL_SCRATCH_HEADER;
}

RELET_PRIVATE void rlt_call_end(rlt_call *c)
{
    call_scratch *s = (call_scratch *)c->scratch, *next;

    for (; s; s = next) {
        next = s->next;
        rlt_pool_put(c->pool, s, s->size);
    }
    c->scratch = NULL;
}
