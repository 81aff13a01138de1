/* SPDX-License-Identifier: MIT
 *
 * link.c - begins and ends a link, and sends on it. */
#include "link.h"
#include "cmd.h"

RELET_PRIVATE void rlt_link_init(rlt_link *l, const rlt_link_plan *p)
{
    rlt_session *s = &l->session;

    memset(l, 0, sizeof *l);
    rlt_conn_init(&l->conn, &p->conn);
    rlt_pubsub_init(&l->pubsub, p->subscriptions, p->subscriptions_max,
                    p->memory, p->names, p->names_max);
    l->pubsub.spare = p->own_channels;
    rlt_scripts_init(&l->scripts, p->scripts, p->scripts_max);
    rlt_session_init(s);
    s->setup = s->handshake.setup = p->setup;
    s->conn = &l->conn;
    s->pubsub = s->handshake.pubsub = &l->pubsub;
    s->scripts = &l->scripts;
    rlt_rand_seed(&s->rand, p->seed);
    rlt_buf_init(&s->handshake.bytes, p->memory, p->hello,
                 RLT_MIN(512, p->hello_max), p->hello_max);
    rlt_buf_init(&s->handshake.secrets, p->memory, p->secrets,
                 RLT_MIN(96, p->secrets_max), p->secrets_max);
}

RELET_PRIVATE void rlt_link_free(rlt_link *l)
{
    (void)rlt_link_credentials(l, relet_str(""), relet_str(""));
    rlt_session_stop(&l->session);
    rlt_buf_free(&l->session.handshake.bytes);
    rlt_buf_free(&l->session.handshake.secrets);
    rlt_pubsub_free(&l->pubsub);
    rlt_conn_free(&l->conn);
}

RELET_PRIVATE void rlt_link_stats(const rlt_link *l, relet_stats *out)
{
    out->late += l->conn.late;
    out->repeated += l->conn.repeated;
    out->pushes += l->pushes;
    out->connects += l->session.connects;
    out->attempts += l->session.attempts;
    out->protocol_errors += l->session.protocol_errors;
}

/* --------------------------------------------------------- time, the driver */

RELET_PRIVATE relet_time rlt_link_deadline(const rlt_link *l)
{
    return rlt_session_deadline(&l->session);
}

RELET_PRIVATE void rlt_link_tick(rlt_link *l, relet_time now)
{
    rlt_reader_release(&l->conn.reader);
    rlt_session_tick(&l->session, now);
}

RELET_PRIVATE void rlt_link_stop(rlt_link *l)
{
    rlt_session_stop(&l->session);
}

RELET_PRIVATE size_t rlt_link_space(rlt_link *l, uint8_t **p)
{
    if (!rlt_session_hears(&l->session))
        return 0;
    rlt_reader_release(&l->conn.reader);
    return rlt_reader_space(&l->conn.reader, p);
}

RELET_PRIVATE void rlt_link_received(rlt_link *l, size_t n)
{
    rlt_reader_received(&l->conn.reader, n);
    l->session.heard = 1;
}

RELET_PRIVATE relet_time rlt_link_silent_at(const rlt_link *l, uint64_t tag,
                                            relet_time since, relet_time ms)
{
    if (!rlt_conn_owes(&l->conn, tag))
        return RELET_NEVER;
    return rlt_session_silent_at(&l->session, since, ms);
}

RELET_PRIVATE void rlt_link_silent(rlt_link *l)
{
    rlt_session_fail(&l->session, RELET_WHY_SILENT,
                     "a renewal is not answered", NULL);
}

/* --------------------------------------------------------------- operations */

RELET_PRIVATE void rlt_link_join(rlt_link *l, const rlt_op *op, size_t size,
                                 size_t argc, const relet_args *more, size_t n)
{
    rlt_assert(size <= rlt_buf_used(&l->conn.out));
    rlt_cmd_more(rlt_buf_end(&l->conn.out) - size, size, argc, more->argv,
                 more->argc);
    rlt_conn_join(&l->conn, op, n);
}

RELET_PRIVATE size_t rlt_link_cancel(rlt_link *l, uint64_t tag)
{
    size_t n = rlt_conn_cancel(&l->conn, tag, NULL);

    rlt_session_watch(&l->session, RLT_WATCH_UNTOLD);
    return n;
}

RELET_PRIVATE void rlt_link_disown(rlt_link *l, uint64_t tag, uint64_t heir)
{
    (void)rlt_conn_cancel(&l->conn, tag, &heir);
}

/* ------------------------------------------------------------------- WATCH */

/* If an earlier WATCH was lost and the user was not told yet, this WATCH
 * belongs to a transaction that will be refused. */
RELET_PRIVATE uint8_t rlt_link_watch_flags(const rlt_link *l,
                                           rlt_effect effect)
{
    if (effect == RLT_EFFECT_UNWATCH)
        return RLT_OP_UNWATCHED;
    if (!RLT_HAS_WATCH || effect != RLT_EFFECT_WATCH)
        return 0;
    return l->session.watch_lost == RLT_WATCH_UNTOLD
               ? RLT_OP_WATCHED | RLT_OP_UNWATCHED
               : RLT_OP_WATCHED;
}

RELET_PRIVATE void rlt_link_watch(rlt_link *l, rlt_effect effect)
{
    rlt_session *s = &l->session;

    if (effect == RLT_EFFECT_UNWATCH)
        s->watching = s->watch_lost = 0;
    if (!RLT_HAS_WATCH || effect != RLT_EFFECT_WATCH ||
        s->watch_lost == RLT_WATCH_UNTOLD)
        return;
    s->watching = 1;
    s->watch_lost = 0;
}

RELET_PRIVATE uint8_t rlt_link_exec_flags(rlt_link *l)
{
    int watched = RLT_HAS_WATCH && l->session.watching;

    rlt_assert(!l->session.watch_lost);
    l->session.watching = 0;
    return watched ? RLT_OP_WATCHED : 0;
}

RELET_PRIVATE const char *rlt_link_unguarded(rlt_link *l)
{
    int lost = l->session.watch_lost;

    if (!RLT_HAS_WATCH || !lost)
        return NULL;
    rlt_assert(!l->session.watching);
    l->session.watch_lost = 0;
    return lost == RLT_WATCH_LINK
               ? RLT_TEXT("the link that held the WATCH is gone")
               : RLT_TEXT("its WATCH was not sent, or refused");
}

/* ------------------------------------------------------------ subscriptions */

/* Sends the commands that a change of the subscriptions needs. With a code that
 * is not 0, nothing has changed. */
static int link_changed(rlt_link *l, int code)
{
    if (code == 0)
        rlt_session_subscribes(&l->session);
    return code;
}

RELET_PRIVATE int rlt_link_subscribe(rlt_link *l, relet_channel kind,
                                     relet_span name)
{
    return link_changed(l, rlt_pubsub_subscribe(&l->pubsub, kind, name));
}

RELET_PRIVATE int rlt_link_unsubscribe(rlt_link *l, relet_channel kind,
                                       relet_span name)
{
    return link_changed(l, rlt_pubsub_unsubscribe(&l->pubsub, kind, name));
}

RELET_PRIVATE int rlt_link_own_channel(rlt_link *l, relet_span name)
{
    return link_changed(l, rlt_pubsub_own(&l->pubsub, name));
}

RELET_PRIVATE void rlt_link_leave_channel(rlt_link *l, relet_span name)
{
    rlt_pubsub_disown(&l->pubsub, name);
    (void)link_changed(l, 0);
}

/* ----------------------------------------------------------------- scripts */

RELET_PRIVATE void rlt_link_script_words(const rlt_link *l, uint32_t script,
                                         int whole, size_t keys,
                                         char digits[20],
                                         relet_span words[RLT_SCRIPT_WORDS],
                                         rlt_op *op)
{
    const rlt_script *s = &l->scripts.list[script];

    whole = whole || !s->known;
    if (!whole) {
        op->klass = RLT_OP_SCRIPT;
        op->arg = script;
    }
    rlt_script_words(s, whole, keys, digits, words);
}

RELET_PRIVATE void rlt_link_script_sent(rlt_link *l, uint32_t script,
                                        int known)
{
    rlt_script *s = &l->scripts.list[script];

    if (!s->known && rlt_script_is_packed(s))
        rlt_script_fill(&l->scripts, script, rlt_conn_newest(&l->conn));
    s->known = (uint8_t)(known || rlt_link_is_up(l));
}
