/* SPDX-License-Identifier: MIT
 *
 * dispatch.c - a command, from its name to its reply: the checks in their
 * order.
 */
#include "dispatch.h"
#include "propagate.h"
#include "lookup.h"
#include "pubsub.h"
#include "blocked.h"
#include "multi.h"
#include "scripts.h"
#include "track.h"
#include "users.h"

/* ----------------------------------------------------------------- running */

RELET_PRIVATE rlt_out *rlt_dispatch_out(rlt_peer *p)
{
    if (p->reply_mode == RLT_REPLY_ON || p->reply_mode == RLT_REPLY_SKIP_NEXT)
        return &p->out;
    p->server->nowhere.resp = p->out.resp;
    return &p->server->nowhere;
}

RELET_PRIVATE void rlt_dispatch_begin(rlt_call *c, rlt_peer *p)
{
    rlt_server *s = p->server;

    memset(c, 0, sizeof *c);
    c->server = s;
    c->peer = p;
    c->pool = &s->pool;
    c->rand = &s->rand;
    c->db = &s->dbs[p->db].keys;
    c->db_index = p->db;
    c->now_us = s->now_us;
    c->now_ms = s->now_us / 1000;
}

static void dispatch_effects(rlt_call *c)
{
    uint32_t i;

    c->server->dirty += c->dirty;
    if (c->dirty <= 0 || c->told_effect)
        return;
    rlt_propagate_begin(c->server, c->db_index, c->argc);
    for (i = 0; i < c->argc; i++)
        rlt_propagate_word(c->server, c->argv[i]);
}

/* 1 if Redis finds the keys of this XREAD, which begin at argv[i]: options
 * before STREAMS are well-formed, and each key has an id. */
static int dispatch_tracks_streams(const rlt_call *c, uint32_t i)
{
    uint32_t at = 1;

    while (at + 1 < i)
        if (rlt_call_is(c, at, "block") || rlt_call_is(c, at, "count"))
            at += 2;
        else if (rlt_call_is(c, at, "group"))
            at += 3;
        else if (rlt_call_is(c, at, "noack"))
            at++;
        else
            return 0;
    return at + 1 == i && (c->argc - i) % 2 == 0;
}

/* Record the keys that a tracking peer has read; in a script, the keys that the
 * script has declared. */
static void dispatch_track(const rlt_call *c)
{
    rlt_peer *p = c->peer;
    uint32_t at = 0, i;

    /* A woken command's keys were recorded when it began to wait. */
    if (c->woken || !(c->command->flags & RLT_CMD_READONLY) ||
        !(p->tracking & RLT_TRACK_ON) || (p->tracking & RLT_TRACK_BCAST))
        return;
    if (strncmp(c->command->name, "eval", 4) == 0)
        return; /* the script's commands are tracked */
    if ((p->tracking & RLT_TRACK_OPTIN) && !(p->tracking & RLT_TRACK_CACHING))
        return;
    if ((p->tracking & RLT_TRACK_OPTOUT) && (p->tracking & RLT_TRACK_CACHING))
        return;
    if (c->outer)
        c = c->outer;
    i = rlt_lookup_key(c->command, c->argv, c->argc, &at);
    if (c->command->find == RLT_KEYS_STREAMS && i != 0 &&
        !dispatch_tracks_streams(c, i))
        return;
    for (; i != 0; i = rlt_lookup_key(c->command, c->argv, c->argc, &at))
        rlt_track_read(p, c->argv[i]);
}

RELET_PRIVATE void rlt_dispatch_call(rlt_call *c)
{
    rlt_server *s = c->server;
    const rlt_command *row = c->command;
    size_t cost = 0;

    if (row->bound)
        cost = row->bound(c);
    else if (row->flags & RLT_CMD_WRITE)
        cost = rlt_call_cost(c);
    if (cost > 0 && !rlt_pool_ensure(c->pool, cost)) {
        rlt_call_error(c, RLT_ERR_OOM);
        return;
    }
    s->counts.commands++;
    row->run(c);
    dispatch_effects(c);
    dispatch_track(c);
    rlt_call_end(c);
    if (cost > 0)
        rlt_pool_settle(c->pool);
}

RELET_PRIVATE int rlt_dispatch_oom(const rlt_server *s)
{
    /* While clients are paused, Redis does not check maxmemory. */
    return s->settings.maxmemory > 0 && s->held > s->settings.maxmemory &&
           s->pause_until_ms < s->now_us / 1000;
}

/* ------------------------------------------------------------------ checks */

/* A refused command breaks the transaction that is being queued. */
static void dispatch_refused(rlt_call *c)
{
    if (c->peer->in_multi)
        c->peer->multi_broken = 1;
}

static int dispatch_is(const rlt_call *c, const char *name)
{
    return !c->is_sub && strcmp(c->command->name, name) == 0;
}

/* A refused EXEC discards its transaction. Its error is EXECABORT with the
 * reason, less a leading "ERR ". */
static void dispatch_refuse_with(rlt_call *c, const char *before,
                                 relet_span word, const char *after)
{
    char text[256] = "EXECABORT Transaction discarded because of: ";
    rlt_say s;

    if (c->command == NULL || !dispatch_is(c, "exec")) {
        dispatch_refused(c);
        rlt_call_error_with(c, before, word, after);
        return;
    }
    rlt_queue_clear(c->peer);
    rlt_say_init(&s, text, sizeof text);
    rlt_say_text(&s, "EXECABORT Transaction discarded because of: ");
    rlt_say_text(&s, before + (strncmp(before, "ERR ", 4) == 0 ? 4 : 0));
    rlt_call_error_with(c, text, word, after);
}

static void dispatch_refuse(rlt_call *c, const char *error)
{
    dispatch_refuse_with(c, error, relet_str(""), "");
}

static relet_span dispatch_full_name(const rlt_call *c, char *name)
{
    return rlt_call_full_name(
        c->command, c->is_sub ? c->argv[0] : relet_str(NULL), name);
}

static void dispatch_unknown(rlt_call *c)
{
    char args[1024] = "', with args beginning with: ";
    size_t n = strlen(args), start = n, len;
    relet_span word;
    uint32_t i;

    for (i = 1; i < c->argc && n - start < 128; i++) {
        const char *nul;

        word = c->argv[i];
        len = RLT_MIN(word.n, 128 - (n - start));
        nul = len ? (const char *)memchr(word.p, 0, len) : NULL;
        if (nul)
            len = (size_t)(nul - word.p);
        args[n++] = '\'';
        if (len > 0)
            memcpy(args + n, word.p, len);
        n += len;
        args[n++] = '\'';
        args[n++] = ' ';
    }
    args[n] = '\0';
    word = c->argv[0];
    word.n = RLT_MIN(word.n, 128);
    dispatch_refused(c);
    rlt_call_error_with(c, "ERR unknown command '", word, args);
}

static void dispatch_unknown_sub(rlt_call *c, const rlt_command *container)
{
    char after[96] = "'. Try ";
    size_t n = strlen(after), i;
    relet_span word = c->argv[1];

    for (i = 0; container->name[i]; i++) {
        char ch = container->name[i];

        after[n++] = ch >= 'a' && ch <= 'z' ? (char)(ch - 'a' + 'A') : ch;
    }
    memcpy(after + n, " HELP.", 7);
    word.n = RLT_MIN(word.n, 128);
    dispatch_refused(c);
    rlt_call_error_with(c, "ERR unknown subcommand '", word, after);
}

static int dispatch_known(rlt_call *c)
{
    rlt_server *s = c->server;
    const rlt_command *container;
    char name[RLT_CALL_NAME_MAX];

    c->command = rlt_lookup_row(s, c->argv, c->argc, &c->is_sub, &container);
    c->container = container;
    c->peer->last = c->command;
    c->peer->last_container = container;
    if (c->command == NULL) {
        if (container == NULL)
            dispatch_unknown(c);
        else
            dispatch_unknown_sub(c, container);
        return 0;
    }
    if (!rlt_lookup_arity_ok(c->command, c->argc)) {
        dispatch_refuse_with(c, "ERR wrong number of arguments for '",
                             dispatch_full_name(c, name), "' command");
        return 0;
    }
    return 1;
}

/* Commands that run at once, not queued, between MULTI and EXEC. */
static int dispatch_at_once(const rlt_call *c)
{
    return dispatch_is(c, "exec") || dispatch_is(c, "discard") ||
           dispatch_is(c, "multi") || dispatch_is(c, "watch") ||
           dispatch_is(c, "reset");
}

static int dispatch_permitted(rlt_call *c)
{
    rlt_peer *p = c->peer;
    char name[RLT_CALL_NAME_MAX], why;

    if (p->replaying)
        return 1;
    if (!p->authenticated && !(c->command->flags & RLT_CMD_NO_AUTH)) {
        dispatch_refuse(c, "NOAUTH Authentication required.");
        return 0;
    }
    if (p->in_multi && (c->command->flags & RLT_CMD_NO_MULTI)) {
        dispatch_refuse(c, "ERR Command not allowed inside a transaction");
        return 0;
    }
    if (rlt_users_may(c, p->user, &why))
        return 1;
    if (why == 'k') {
        dispatch_refuse(c,
                        "NOPERM this user has no permissions to access one of "
                        "the keys used as arguments");
    } else if (why == 'n') {
        dispatch_refuse(c,
                        "NOPERM this user has no permissions to access one of "
                        "the channels used as arguments");
    } else {
        dispatch_refuse_with(c,
                             "NOPERM this user has no permissions to run the '",
                             dispatch_full_name(c, name), "' command");
    }
    return 0;
}

static int dispatch_has_memory(rlt_call *c)
{
    rlt_peer *p = c->peer;
    uint32_t flags;

    if (!rlt_dispatch_oom(c->server) || p->replaying)
        return 1;
    flags = rlt_scripts_flags(c);
    if (dispatch_is(c, "exec"))
        flags |= p->multi_flags;
    if (!(flags & RLT_CMD_DENYOOM) &&
        !(p->in_multi && !dispatch_is(c, "exec") &&
          !dispatch_is(c, "discard") && !dispatch_is(c, "reset")))
        return 1;
    dispatch_refuse(c, RLT_ERR_OOM);
    return 0;
}

static int dispatch_in_place(rlt_call *c)
{
    rlt_peer *p = c->peer;
    char name[RLT_CALL_NAME_MAX];

    if (p->out.resp == 2 && rlt_local_pubsub_reading(p) &&
        !dispatch_is(c, "ping") && !dispatch_is(c, "subscribe") &&
        !dispatch_is(c, "ssubscribe") && !dispatch_is(c, "psubscribe") &&
        !dispatch_is(c, "unsubscribe") && !dispatch_is(c, "sunsubscribe") &&
        !dispatch_is(c, "punsubscribe") && !dispatch_is(c, "reset")) {
        dispatch_refuse_with(
            c, "ERR Can't execute '", dispatch_full_name(c, name),
            "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
            "RESET are allowed in this context");
        return 0;
    }
    return 1;
}

static int dispatch_paused(const rlt_call *c)
{
    const rlt_server *s = c->server;
    uint32_t flags;

    if (s->pause_until_ms < c->now_ms || c->peer->replaying)
        return 0;
    flags = rlt_scripts_flags(c);
    if (dispatch_is(c, "exec"))
        flags |= c->peer->multi_flags;
    return s->pause_all ||
           (flags & (RLT_CMD_WRITE | RLT_CMD_MAY_REPLICATE)) != 0;
}

/* QUIT comes before all checks, and so do POST and Host:, which only a browser
 * sends. */
static int dispatch_before_all(rlt_call *c)
{
    rlt_peer *p = c->peer;
    char second = c->argv[0].n > 3 ? c->argv[0].p[1] : '\0';

    if (second != 'u' && second != 'U' && second != 'o' && second != 'O')
        return 0; /* most commands are none of these                         */
    if (rlt_span_is_nocase(c->argv[0], "quit")) {
        rlt_out_status(c->out, "OK");
        p->closing = 1;
        return 1;
    }
    if (rlt_span_is_nocase(c->argv[0], "post") ||
        rlt_span_is_nocase(c->argv[0], "host:")) {
        rlt_buf_drop(&p->out.buf, rlt_buf_used(&p->out.buf));
        p->closing = 1;
        return 1;
    }
    return 0;
}

static void dispatch_checked(rlt_call *c)
{
    rlt_peer *p = c->peer;

    if (dispatch_before_all(c) || !dispatch_known(c) ||
        !dispatch_permitted(c) || !dispatch_has_memory(c) ||
        !dispatch_in_place(c))
        return;
    if (dispatch_paused(c)) {
        rlt_blocked_add(p, RLT_WAIT_PAUSE, 0);
        return;
    }
    if (p->in_multi && !dispatch_at_once(c)) {
        if (!rlt_queue_add(p, c)) {
            dispatch_refuse(c, RLT_ERR_OOM);
            return;
        }
        rlt_out_status(c->out, "QUEUED");
        return;
    }
    rlt_dispatch_call(c);
}

/* ----------------------------------------------------------------- waking */

/* The command of a peer that waited for this key runs once more. */
static void dispatch_woken(rlt_peer *p, relet_span key)
{
    rlt_server *s = p->server;
    rlt_call c;

    rlt_dispatch_begin(&c, p);
    c.argv = p->argv;
    c.argc = p->argc;
    c.command = rlt_lookup_row(s, c.argv, c.argc, &c.is_sub, &c.container);
    c.woken = &key;
    c.out = rlt_dispatch_out(p);
    rlt_assert(s->current == NULL);
    s->current = p;
    rlt_propagate_unit(s);
    rlt_dispatch_call(&c);
    rlt_propagate_unit_end(s);
    s->current = NULL;
    rlt_track_answered(p);
    rlt_blocked_told(p);
    if (!c.parked)
        rlt_blocked_end(p);
}

/* Wake the peer if the key has the type that it waits for, or if it waits with
 * RLT_BLOCK_GONE. */
static void dispatch_look(rlt_peer *p, relet_span key)
{
    rlt_entry *e = rlt_keys_find(&p->server->dbs[p->db].keys, key);

    if (!p->closing && ((e && rlt_keys_obj(e)->type == p->wait_type) ||
                        (p->wait_flags & RLT_BLOCK_GONE)))
        dispatch_woken(p, key);
}

static void dispatch_serve_key(rlt_server *s, const rlt_came *came)
{
    rlt_waiter *w = rlt_blocked_first(s, came), *next;

    for (; w; w = next) {
        next = w->next;
        dispatch_look(w->peer, rlt_str_span(came->key));
    }
}

/* Which keys became available is unknown: try every key of every waiter. */
static void dispatch_serve_all(rlt_server *s)
{
    const rlt_waiter *w, *next;
    rlt_peer *p;
    uint32_t i;

    s->came_lost = 0;
    for (i = 0; i < s->peers_cap; i++) {
        p = s->peers[i];
        for (w = p ? p->waiters : NULL; w; w = next) {
            next = w->of_peer;
            dispatch_look(p, rlt_entry_key(w->key));
            if (p->waiters == NULL)
                break;
        }
    }
}

RELET_PRIVATE void rlt_dispatch_serve(rlt_server *s)
{
    rlt_came *came;

    while ((came = rlt_blocked_next(s)) != NULL || s->came_lost) {
        if (came == NULL) {
            dispatch_serve_all(s);
            continue;
        }
        dispatch_serve_key(s, came);
        rlt_blocked_came_free(s, came);
    }
}

RELET_PRIVATE void rlt_dispatch_peer(rlt_peer *p)
{
    rlt_server *s = p->server;
    rlt_call c;

    rlt_dispatch_begin(&c, p);
    c.argv = p->argv;
    c.argc = p->argc;
    c.out = rlt_dispatch_out(p);
    p->used_ms = c.now_ms;
    s->current = p;
    s->effect_off = p->replaying;
    rlt_propagate_unit(s);
    dispatch_checked(&c);
    rlt_propagate_unit_end(s);
    s->effect_off = 0;
    s->current = NULL;
    if (!p->in_multi &&
        !(c.container && strcmp(c.container->name, "client") == 0))
        p->tracking &= ~RLT_TRACK_CACHING;
    if (rlt_buf_used(&s->nowhere.buf) > 0) {
        rlt_buf_drop(&s->nowhere.buf, rlt_buf_used(&s->nowhere.buf));
        s->nowhere.failed = 0;
    }
    rlt_track_answered(p);
    if (p->wait == RLT_WAIT_NONE)
        rlt_blocked_answered(p);
    rlt_dispatch_serve(s);
    if (p->out.failed)
        p->closing = 1;
}

/* -------------------------------------------------------------------- time */

RELET_PRIVATE void rlt_dispatch_unblock(rlt_peer *p, const char *error)
{
    rlt_out *o = rlt_dispatch_out(p);

    if (error)
        rlt_out_error(o, error);
    else if (p->wait == RLT_WAIT_SLEEP)
        rlt_out_status(o, "OK");
    else if (p->wait == RLT_WAIT_REPLICAS)
        rlt_out_int(o, 0);
    else
        rlt_out_null_array(o);
    rlt_blocked_told(p);
    rlt_blocked_end(p);
}

RELET_PRIVATE void rlt_dispatch_unpause(rlt_server *s)
{
    s->pause_until_ms = INT64_MIN;
    s->pause_all = 0;
    while (s->paused) {
        s->paused->again = 1;
        rlt_blocked_end(s->paused);
    }
}

static int dispatch_times_out(const rlt_peer *p)
{
    return p && p->wait != RLT_WAIT_NONE && p->wait != RLT_WAIT_PAUSE &&
           p->wait_until_ms != 0;
}

/* The peer that timed out first, the lower id among equals; NULL: none. */
static rlt_peer *dispatch_over_first(const rlt_server *s, int64_t now_ms)
{
    rlt_peer *p, *first = NULL;
    uint32_t i;

    for (i = 0; i < s->peers_cap && s->blocked > 0; i++) {
        p = s->peers[i];
        if (dispatch_times_out(p) && p->wait_until_ms < now_ms &&
            (first == NULL || p->wait_until_ms < first->wait_until_ms ||
             (p->wait_until_ms == first->wait_until_ms && p->id < first->id)))
            first = p;
    }
    return first;
}

RELET_PRIVATE void rlt_dispatch_time(rlt_server *s)
{
    int64_t now_ms = s->now_us / 1000;
    rlt_peer *p;
    uint32_t i;

    if (s->asleep_until_ms > now_ms)
        return;
    if (s->asleep_until_ms != 0) {
        s->asleep_until_ms = 0;
        for (i = 0; i < s->peers_cap; i++)
            if (s->peers[i])
                rlt_blocked_resume(s->peers[i]);
    }
    if (s->pause_until_ms != INT64_MIN && s->pause_until_ms < now_ms)
        rlt_dispatch_unpause(s);
    while ((p = dispatch_over_first(s, now_ms)) != NULL)
        rlt_dispatch_unblock(p, NULL);
}

RELET_PRIVATE int64_t rlt_dispatch_deadline_ms(const rlt_server *s)
{
    int64_t when = INT64_MAX;
    const rlt_peer *p;
    uint32_t i;

    if (s->asleep_until_ms != 0)
        return s->asleep_until_ms; /* no peer times out before this           */
    if (s->pause_until_ms != INT64_MIN)
        when = s->pause_until_ms + 1;
    for (i = 0; i < s->peers_cap && s->blocked > 0; i++) {
        p = s->peers[i];
        if (dispatch_times_out(p))
            when = RLT_MIN(when, p->wait_until_ms + 1);
    }
    return when;
}
