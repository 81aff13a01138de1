/* SPDX-License-Identifier: MIT
 *
 * dispatch.c - finds the operation or subscription to which an answer or push
 * belongs, and makes the user's events.
 *
 * Input is handled when the user asks for the next event, one frame at a time,
 * until there is an event to tell. */
#include "client.h"
#include "text.h"

/* Field by field: for memset, compilers emit a string instruction, which costs
 * more than the rest of relet_next. */
static void dispatch_clear(relet_event *ev)
{
    static const relet_span none = {NULL, 0};

    ev->kind = RELET_NOTHING;
    ev->why = RELET_WHY_NONE;
    ev->tag = 0;
    ev->value.node = NULL;
    ev->value.base = NULL;
    ev->channel_kind = RELET_CHANNEL;
    ev->channel = none;
    ev->pattern = none;
    ev->text = none;
    ev->retry_in_ms = 0;
    ev->term = ev->token = 0;
    ev->lease = ev->did_wait = 0;
}

/* Why a frame was skipped, as outcome and as sentence. */
static void dispatch_over(const relet *r, relet_event *ev)
{
    static const char *const text[] = {
        "the answer is over a limit",
        "a line of the answer is over line_max",
        "a string of the answer is over bulk_max",
        "an aggregate of the answer is over count_max",
        "the answer is nested over depth_max",
        "the answer is over reply_max",
        "the answer is over tape_max"};

    ev->kind = RELET_ERROR;
    ev->why = RELET_WHY_TOO_LARGE;
    ev->text = relet_str(text[r->conn.reader.scan.skip_why]);
    if (r->conn.reader.no_memory) {
        ev->why = RELET_WHY_MEMORY;
        ev->text = relet_str("no memory for the answer");
    }
}

/* Saves the first refusal among the answers before the one that counts. Before
 * a single command that answer is CLIENT CACHING's, whose +OK is over no limit:
 * so an answer that was skipped is a refusal, too. */
static void dispatch_save_cause(relet *r, const rlt_op *op, relet_value v)
{
    relet_span text = {NULL, 0};

    if (relet_value_type(v) == RELET_FAILURE)
        text = relet_value_text(v);
    else if (v.node == NULL && op->klass == RLT_OP_PLAIN)
        text = relet_str("the answer to CLIENT CACHING YES is over a limit");
    if (text.n == 0 || r->cause_len > 0)
        return;
    r->cause_len = (uint8_t)RLT_MIN(text.n, sizeof r->cause);
    memcpy(r->cause, text.p, r->cause_len);
}

/* The server does not know the script: send this call again with its body. */
static int dispatch_whole(relet *r, const rlt_op *op)
{
    relet_span patch[RLT_SCRIPT_PATCHES];
    char head[RLT_SCRIPT_HEAD];
    size_t cut;

    rlt_script_whole(&r->scripts.list[op->arg], rlt_conn_front_bytes(&r->conn),
                     head, &cut, patch);
    return rlt_conn_again(&r->conn, RLT_OP_PLAIN, cut, patch,
                          RLT_SCRIPT_PATCHES) == 0;
}

/* The server is busy, and the operation may be repeated: send it later. */
static int dispatch_later(relet *r, rlt_op *op)
{
    if (op->klass != RLT_OP_SCRIPT)
        op->skip = op->arg;
    if (rlt_conn_again(&r->conn, (rlt_class)op->klass, 0, NULL, 0) < 0)
        return 0;
    r->conn.repeated++;
    rlt_session_hold(&r->session);
    return 1;
}

/* Whether the operation may be sent again, behind the newer ones. A refused
 * transaction has ended its WATCH. A WATCH would come behind its transaction.
 * An UNWATCH, or another EXEC, would come between a WATCH and the transaction
 * that relies on it. */
static int dispatch_may_repeat(const relet *r, const rlt_op *op)
{
    return (op->flags & RELET_REPEATABLE) &&
           !(op->flags & (RLT_OP_WATCHED | RLT_OP_UNWATCHED)) &&
           !(op->klass == RLT_OP_UNIT && r->session.watching);
}

/* 1 if the error does not end the LIVE operation, which was sent again. */
static int dispatch_goes_on(relet *r, rlt_op *op, relet_span error)
{
    relet_span word = error;

    if (op->state != RLT_LIVE)
        return 0;
    if (op->klass == RLT_OP_SCRIPT && rlt_span_eat(&word, "NOSCRIPT"))
        return dispatch_whole(r, op);
    if (dispatch_may_repeat(r, op)) {
        if (op->klass == RLT_OP_UNIT && r->cause_len > 0) {
            error.p = r->cause;
            error.n = r->cause_len;
        }
        return rlt_handshake_is_busy(error) && dispatch_later(r, op);
    }
    return 0;
}

/* CLIENT CACHING YES was refused, so nothing will invalidate this reply: the
 * user must not cache it, and gets an error instead. 1: the command was sent
 * again, and there is nothing to tell. */
static int dispatch_uncached(relet *r, rlt_op *op, relet_event *ev)
{
    relet_span refusal;

    rlt_assert(op->arg > 0);
    rlt_assert(r->cause_len > 0);
    refusal.p = r->cause;
    refusal.n = r->cause_len;
    if (op->state != RLT_LIVE)
        return 0;
    if (dispatch_may_repeat(r, op) && rlt_handshake_is_busy(refusal)) {
        op->flags |= RLT_OP_UNSURE; /* it ran, although CACHING did not */
        if (dispatch_later(r, op)) {
            r->cause_len = 0;
            return 1;
        }
    }
    ev->kind = RELET_ERROR;
    ev->why = RELET_WHY_REFUSED;
    ev->text = refusal;
    return 0;
}

static void dispatch_reply(relet *r, relet_value v, relet_event *ev)
{
    ev->kind = RELET_REPLY;
    ev->value = v;
    r->session.busy_tries = 0;
}

/* The outcome of a library operation. 1: *ev is to be told. */
static int dispatch_heard(relet *r, uint64_t tag, rlt_heard heard,
                          relet_value v, relet_event *ev)
{
    if (tag >> 32 >= r->leases_max)
        return rlt_workers_answer(r, tag, heard, v, ev);
    rlt_leases_answer(r, tag, heard, v);
    return rlt_leases_event(r, ev);
}

/* The operation that this one relies on had not run and was sent again, so this
 * one is sent again, behind it. */
static int dispatch_again(relet *r, rlt_op *op)
{
    if (op->state != RLT_LIVE || op->place != RLT_PLACE_AGAIN)
        return 0;
    op->place = RLT_PLACE_BEHIND;
    return rlt_conn_again(&r->conn, (rlt_class)op->klass, 0, NULL, 0) == 0;
}

/* The answer that counts, for a library operation. */
static int dispatch_ours(relet *r, rlt_op *op, relet_value v, relet_event *ev)
{
    int told = op->state == RLT_LIVE;
    uint64_t tag = op->tag;

    rlt_assert(op->flags & RLT_OP_OURS);
    r->cause_len = 0;
    if (dispatch_again(r, op)) {
        dispatch_clear(ev);
        return 0;
    }
    rlt_conn_pop(&r->conn);
    dispatch_clear(ev); /* the answer may be over a limit */
    if (!told)
        return rlt_leases_event(r, ev);
    return dispatch_heard(r, tag, v.node ? RLT_HEARD_VALUE : RLT_HEARD_NOTHING,
                          v, ev);
}

/* A WATCH that was refused, or whose answer was skipped, is taken as not in
 * force. */
static void dispatch_watch(relet *r, const rlt_op *op, relet_value v)
{
    if (op->klass != RLT_OP_PLAIN || !(op->flags & RLT_OP_WATCHED) ||
        (v.node && relet_value_type(v) != RELET_FAILURE))
        return;
    rlt_conn_watch_refused(&r->conn);
    rlt_session_watch(&r->session, RLT_WATCH_ENDED);
}

/* The answer that counts, for an operation of the user or the library. v is
 * null if the answer was skipped; ev then says why. 1: *ev is to be told. */
static int dispatch_finish(relet *r, rlt_op *op, relet_value v, relet_event *ev)
{
    int tell = op->state == RLT_LIVE;
    relet_span word = relet_value_text(v);

    rlt_assert(op->skip == 0); /* the answer that counts is the last */
    rlt_assert(op->klass != RLT_OP_BATCHED);
    ev->tag = op->tag;
    dispatch_watch(r, op, v);
    if (relet_value_type(v) == RELET_FAILURE) {
        if (dispatch_goes_on(r, op, relet_value_text(v))) {
            r->cause_len = 0;
            return 0;
        }
        if (op->flags & RLT_OP_OURS)
            return dispatch_ours(r, op, v, ev);
        ev->kind = RELET_ERROR;
        ev->value = v;
        ev->text = relet_value_text(v);
        if (r->cause_len > 0 && rlt_span_eat(&word, "EXECABORT")) {
            ev->text.p = r->cause;
            ev->text.n = r->cause_len;
        }
    } else if (op->flags & RLT_OP_OURS) {
        return dispatch_ours(r, op, v, ev);
    } else if (op->klass == RLT_OP_PLAIN && op->arg > 0 &&
               r->cause_len > 0) {
        if (dispatch_uncached(r, op, ev))
            return 0;
    } else if (ev->kind == RELET_NOTHING) {
        dispatch_reply(r, v, ev);
    }
    r->cause_len = 0;
    if (op->place > 0 && tell)
        rlt_put_answered(r, ev);
    rlt_conn_pop(&r->conn);
    return tell;
}

static int dispatch_subscribe_answer(relet *r, const rlt_op *op, relet_value v,
                                     relet_event *ev)
{
    uint32_t slot = op->arg;

    rlt_assert(op->klass == RLT_OP_SUBSCRIBE);
    rlt_assert(slot < r->pubsub.max);
    if (relet_value_type(v) != RELET_FAILURE) {
        rlt_session_fail(&r->session, RELET_WHY_PROTOCOL,
                         "SUBSCRIBE was answered by a reply", NULL);
        return 0;
    }
    rlt_conn_pop(&r->conn);
    if (rlt_handshake_is_busy(relet_value_text(v))) {
        rlt_pubsub_busy(&r->pubsub, slot);
        rlt_session_hold(&r->session);
        return 0;
    }
    if (!rlt_pubsub_refused(&r->pubsub, slot))
        return 0;
    ev->kind = RELET_SUBSCRIPTION_REFUSED;
    ev->text = relet_value_text(v);
    rlt_pubsub_show(&r->pubsub, slot, ev);
    return 1;
}

#define DISPATCH_BARRIER_BUSY 2 /* in `skip`: the UNSUBSCRIBE has failed */

/* UNSUBSCRIBE was refused, so messages would go on coming that the user is told
 * will not come: only the end of the link stops them. */
static void dispatch_cannot_leave(relet *r, relet_value v)
{
    char quote[120];
    rlt_say say;

    rlt_say_init(&say, quote, sizeof quote);
    rlt_say_span(&say, relet_value_text(v));
    rlt_session_fail(&r->session, RELET_WHY_BROKEN,
                     "given up, for UNSUBSCRIBE was refused", quote);
}

/* All answers before the barrier's own belong to the UNSUBSCRIBE. */
static int dispatch_barrier_answer(relet *r, rlt_op *op, relet_value v,
                                   relet_event *ev)
{
    uint32_t slot = op->arg, busy = op->skip == DISPATCH_BARRIER_BUSY;
    relet_span error = relet_value_text(v);

    rlt_assert(op->klass == RLT_OP_UNSUBSCRIBE);
    rlt_assert(slot < r->pubsub.max);
    if (relet_value_type(v) == RELET_FAILURE && op->skip == 1) {
        if (rlt_span_eat(&error, "NOPERM ")) {
            dispatch_cannot_leave(r, v);
            return 0;
        }
        busy = (uint32_t)rlt_handshake_is_busy(relet_value_text(v));
        op->skip = busy ? DISPATCH_BARRIER_BUSY : 0;
        return 0;
    }
    rlt_conn_pop(&r->conn);
    if (busy) {
        rlt_pubsub_stayed(&r->pubsub, slot);
        rlt_session_hold(&r->session);
        return 0;
    }
    rlt_pubsub_left(&r->pubsub, slot);
    dispatch_clear(ev); /* HELLO's answer may be over a limit: no matter */
    ev->kind = RELET_UNSUBSCRIBED;
    rlt_pubsub_show(&r->pubsub, slot, ev);
    return 1;
}

/* An answer that is not simply the reply to a command. */
static RLT_APART int dispatch_take_other(relet *r, rlt_op *op, relet_value v,
                                         relet_event *ev)
{
    if (op == NULL) {
        rlt_session_stray(&r->session, v);
        return 0;
    }
    switch ((rlt_class)op->klass) {
    case RLT_OP_PLAIN:
    case RLT_OP_UNIT:
    case RLT_OP_SCRIPT:
        if (op->skip > 0) {
            if (op->skip-- == op->arg)
                r->cause_len = 0; /* left over from a broken link */
            dispatch_save_cause(r, op, v);
            return 0;
        }
        return dispatch_finish(r, op, v, ev);
    case RLT_OP_BATCHED: /* has no answer of its own                         */
        break;
    case RLT_OP_PING:
        rlt_conn_pop(&r->conn);
        return 0;
    case RLT_OP_SUBSCRIBE:
        return dispatch_subscribe_answer(r, op, v, ev);
    case RLT_OP_UNSUBSCRIBE:
        return dispatch_barrier_answer(r, op, v, ev);
    }
    return 0;
}

/* One answer, while the link is up. A skipped answer comes as null, with
 * ev->kind set. A plain command with an `arg` has several answers. 1: *ev is to
 * be told. */
static int dispatch_take(relet *r, relet_value v, relet_event *ev)
{
    rlt_op *op = rlt_conn_front(&r->conn);

    if (op == NULL || op->klass != RLT_OP_PLAIN || op->state != RLT_LIVE ||
        op->arg > 0 || ev->kind != RELET_NOTHING || (op->flags & RLT_OP_OURS) ||
        op->place > 0 || relet_value_type(v) == RELET_FAILURE)
        return dispatch_take_other(r, op, v, ev);
    ev->tag = op->tag;
    dispatch_reply(r, v, ev);
    r->cause_len = 0;
    rlt_conn_pop(&r->conn);
    return 1;
}

/* A push that confirms a subscription, of the operation at the front or of the
 * handshake. 0: the subscription was not asked for. */
static int dispatch_confirmed(relet *r, uint32_t slot)
{
    rlt_op *op;

    if (slot == RLT_NO_SUBSCRIPTION || r->pubsub.subscriptions[slot].asked == 0)
        return 0;
    if (r->session.state == RLT_UP) {
        op = rlt_conn_front(&r->conn);
        if (op == NULL || op->klass != RLT_OP_SUBSCRIBE || op->arg != slot)
            return 0;
        rlt_conn_pop(&r->conn);
    }
    rlt_pubsub_agreed(&r->pubsub, slot);
    rlt_session_confirmed(&r->session);
    return 1;
}

static int dispatch_push(relet *r, relet_value v, relet_event *ev)
{
    uint32_t slot = RLT_NO_SUBSCRIPTION;

    r->pushes++;
    switch (rlt_pubsub_read(&r->pubsub, v, ev, &slot)) {
    case RLT_PUSH_MALFORMED:
        rlt_session_fail(&r->session, RELET_WHY_PROTOCOL,
                         "a push of a known kind has an unknown shape", NULL);
        return 0;
    case RLT_PUSH_SUBSCRIBED:
        return dispatch_confirmed(r, slot);
    case RLT_PUSH_UNSUBSCRIBED:
        /* An UNSUBSCRIBE of this client ends at its barrier. This push came
         * unasked: a sharded channel has moved away. */
        ev->kind = RELET_GAP;
        if (slot == RLT_NO_SUBSCRIPTION || !rlt_pubsub_moved(&r->pubsub, slot))
            return 0;
        rlt_session_subscribes(&r->session);
        return 1;
    case RLT_PUSH_MESSAGE:
    case RLT_PUSH_INVALIDATE:
    case RLT_PUSH_UNKNOWN:
        return 1;
    }
    return 0;
}

/* A push was lost for lack of room. If a subscription is not confirmed yet, the
 * lost push may have been its confirmation, which does not come twice. */
static void dispatch_lost(relet *r)
{
    r->session.tell_gap = 1;
    if (r->conn.reader.no_memory &&
        rlt_pubsub_next_asked(&r->pubsub) != RLT_NO_SUBSCRIPTION)
        rlt_session_fail(&r->session, RELET_WHY_MEMORY,
                         "no room for the answer to a subscription", NULL);
}

/* An answer over a limit. 1: *ev is to be told. */
static int dispatch_skipped(relet *r, relet_event *ev)
{
    relet_value none = {NULL, NULL};

    if (r->conn.reader.scan.lost_pushes > 0)
        r->session.tell_gap = 1;
    if (r->session.state != RLT_UP) {
        rlt_session_handshake_skip(&r->session);
        return 0;
    }
    dispatch_over(r, ev);
    return dispatch_take(r, none, ev);
}

/* Handles input until there is an event to tell. */
static int dispatch_listen(relet *r, relet_event *ev)
{
    relet_value v = {NULL, NULL};
    int tell = 0;

    while (!tell && rlt_session_hears(&r->session) && r->conn.ended == 0 &&
           !r->session.tell_up && !r->session.tell_down) {
        rlt_reader_release(&r->conn.reader);
        switch (rlt_reader_next(&r->conn.reader, &v)) {
        case RLT_ARRIVED_NOTHING:
            if (!rlt_session_drained(&r->session))
                return 0;
            break;
        case RLT_ARRIVED_VALUE:
            tell = r->session.state == RLT_UP
                       ? dispatch_take(r, v, ev)
                       : rlt_session_handshake(&r->session, v, ev);
            break;
        case RLT_ARRIVED_PUSH:
            tell = dispatch_push(r, v, ev);
            break;
        case RLT_ARRIVED_SKIPPED:
            tell = dispatch_skipped(r, ev);
            break;
        case RLT_ARRIVED_LOST:
            dispatch_lost(r);
            break;
        case RLT_ARRIVED_BAD:
            rlt_session_bad_input(&r->session);
            break;
        }
        if (!tell)
            dispatch_clear(ev);
    }
    return tell;
}

static const char *dispatch_ended_text(relet_why why, int unsure, int unwatched)
{
    if (why == RELET_WHY_TIMEOUT)
        return unsure ? "no answer in time" : "not sent in time";
    if (why == RELET_WHY_CANCELLED)
        return "cancelled";
    if (why == RELET_WHY_WATCH_LOST && unwatched)
        return "its WATCH was not sent, or refused";
    if (why == RELET_WHY_WATCH_LOST)
        return "the link that held the WATCH is gone";
    return unsure ? "sent, then the link was lost" : "not sent";
}

/* The outcome of the next operation that ended without an answer. */
static int dispatch_ended(relet *r, relet_event *ev)
{
    rlt_op op;
    int unsure;

    if (!rlt_conn_take_ended(&r->conn, &op, &unsure))
        return 0;
    if (r->session.watch_lost == RLT_WATCH_UNTOLD && r->conn.ended == 0)
        r->session.watch_lost = RLT_WATCH_ENDED;
    if (op.flags & RLT_OP_OURS)
        return dispatch_heard(r, op.tag, RLT_HEARD_NOTHING, ev->value, ev);
    ev->kind = unsure ? RELET_UNSURE : RELET_NOT_SENT;
    ev->why = (relet_why)op.why;
    ev->tag = op.tag;
    ev->text = relet_str(dispatch_ended_text(
        ev->why, unsure,
        op.klass == RLT_OP_UNIT && (op.flags & RLT_OP_UNWATCHED)));
    return 1;
}

static void dispatch_count(relet *r, const relet_event *ev)
{
    if (ev->kind == RELET_REPLY)
        r->replies++;
    else if (ev->kind == RELET_ERROR)
        r->errors++;
    else if (ev->kind == RELET_NOT_SENT)
        r->not_sent++;
    else if (ev->kind == RELET_UNSURE)
        r->unsure++;
}

/* The next event, including those that users are not told of. This runs once
 * per event, so a part is called only if it has something to tell. */
static int dispatch_next(relet *r, relet_event *ev)
{
    int told;

    dispatch_clear(ev);
    rlt_reader_release(&r->conn.reader);
    if (r->pubsub.lent)
        rlt_pubsub_release(&r->pubsub);
    do {
        told = (r->lease_tells && rlt_leases_event(r, ev)) ||
               (r->worker_tells && rlt_workers_event(r, ev)) ||
               rlt_put_event(r, ev) || rlt_session_event(&r->session, ev) ||
               dispatch_ended(r, ev) || rlt_pubsub_event(&r->pubsub, ev) ||
               rlt_session_last_event(&r->session, ev) ||
               dispatch_listen(r, ev);
    } while (!told && (r->session.tell_down || r->conn.ended ||
                       r->session.tell_up || r->session.tell_gap));
    if (told)
        dispatch_count(r, ev);
    return told;
}

/* 1: the event is about the channel of wake-ups, and not to be told. */
static int dispatch_wakes(relet *r, const relet_event *ev)
{
    if (!rlt_leases_hides(r, ev))
        return 0;
    if (ev->kind == RELET_MESSAGE) {
        rlt_leases_wake(r, relet_value_text(ev->value));
        rlt_workers_wake(r, relet_value_text(ev->value));
    }
    return 1;
}

RELET_API int relet_next(relet *r, relet_event *ev)
{
    int told;

    if (RLT_UNLIKELY(rlt_client_is_foreign(r)))
        return 0;
    do {
        told = dispatch_next(r, ev);
    } while (told && ev->channel.n > 0 && dispatch_wakes(r, ev));
    if (!told)
        rlt_workers_flush(r);
    return told;
}
