/* SPDX-License-Identifier: MIT
 *
 * deliver.c - finds the operation or subscription to which an answer or push
 * belongs, and what it means. */
#include "link.h"
#include "text.h"

/* Field by field: for memset, compilers emit a string instruction, which costs
 * more than the rest of relet_next. */
RELET_PRIVATE void rlt_event_clear(relet_event *ev)
{
    static const relet_span none = {NULL, 0};

    ev->kind = RELET_EV_NOTHING;
    ev->why = RELET_WHY_NONE;
    ev->tag = 0;
    ev->value.node = NULL;
    ev->value.base = NULL;
    ev->channel_kind = RELET_CHANNEL;
    ev->channel = none;
    ev->pattern = none;
    ev->text = none;
    ev->retry_in_ms = 0;
    ev->term = ev->job = ev->token = 0;
    ev->lease = ev->worker = -1;
    ev->did_wait = 0;
}

/* Why a frame was skipped, as outcome and as sentence. */
static void deliver_over(const rlt_link *l, relet_event *ev)
{
    static const char *const text[] = {
        "the answer is over a limit",
        "a line of the answer is over line_max",
        "a string of the answer is over bulk_max",
        "an aggregate of the answer is over count_max",
        "the answer is nested over depth_max",
        "the answer is over reply_max",
        "the answer is over tape_max"};

    ev->kind = RELET_EV_ERROR;
    ev->why = RELET_WHY_TOO_LARGE;
    if (RLT_HAS_TEXT)
        ev->text = relet_str(text[l->conn.reader.scan.skip_why]);
    if (l->conn.reader.no_memory) {
        ev->why = RELET_WHY_MEMORY;
        ev->text = relet_str(RLT_TEXT("no memory for the answer"));
    }
}

/* Saves the first refusal among the answers before the one that counts. Before
 * a single command, that is the answer to CLIENT CACHING. Its +OK fits every
 * limit, so a skipped answer was an error, too. */
static void deliver_save_cause(rlt_link *l, const rlt_op *op, relet_value v)
{
    relet_span text = {NULL, 0};

    if (relet_value_type(v) == RELET_T_ERROR)
        text = relet_value_text(v);
    else if (RLT_HAS_MESSAGES && v.node == NULL && op->klass == RLT_OP_PLAIN)
        text = relet_str("the answer to CLIENT CACHING YES is over a limit");
    if (text.n == 0 || l->cause_len > 0)
        return;
    l->cause_len = (uint8_t)RLT_MIN(text.n, sizeof l->cause);
    memcpy(l->cause, text.p, l->cause_len);
}

/* The server does not know the script: send this call again with its body. */
static int deliver_whole(rlt_link *l, const rlt_op *op)
{
    relet_span patch[RLT_SCRIPT_PATCHES];
    char head[RLT_SCRIPT_HEAD];
    uint32_t script = op->arg;
    const rlt_script *s = &l->scripts.list[script];
    size_t cut;

    rlt_script_whole(s, rlt_conn_front_bytes(&l->conn), head, &cut, patch);
    if (rlt_conn_again(&l->conn, RLT_OP_PLAIN, cut, patch,
                       RLT_SCRIPT_PATCHES) < 0)
        return 0;
    if (rlt_script_is_packed(s))
        rlt_script_fill(&l->scripts, script, rlt_conn_newest(&l->conn));
    return 1;
}

/* The server is busy, and the operation may be repeated: send it later. */
static int deliver_later(rlt_link *l, rlt_op *op)
{
    if (op->klass != RLT_OP_SCRIPT)
        op->skip = op->arg;
    if (rlt_conn_again(&l->conn, (rlt_class)op->klass, 0, NULL, 0) < 0)
        return 0;
    l->conn.repeated++;
    rlt_session_hold(&l->session);
    return 1;
}

/* Whether the operation may be sent again, behind the newer ones. A refused
 * transaction has ended its WATCH. A WATCH would come behind its transaction.
 * An UNWATCH, or another EXEC, would come between a WATCH and the transaction
 * that relies on it. */
static int deliver_may_repeat(const rlt_link *l, const rlt_op *op)
{
    return (op->flags & RELET_REPEATABLE) &&
           !(op->flags & (RLT_OP_WATCHED | RLT_OP_UNWATCHED)) &&
           !(op->klass == RLT_OP_UNIT && l->session.watching);
}

/* 1 if the error does not end the LIVE operation, which was sent again. */
static int deliver_goes_on(rlt_link *l, rlt_op *op, relet_span error)
{
    relet_span word = error;

    if (op->state != RLT_LIVE)
        return 0;
    if (op->klass == RLT_OP_SCRIPT && rlt_span_eat(&word, "NOSCRIPT"))
        return deliver_whole(l, op);
    if (deliver_may_repeat(l, op)) {
        if (op->klass == RLT_OP_UNIT && l->cause_len > 0) {
            error.p = l->cause;
            error.n = l->cause_len;
        }
        return rlt_handshake_is_busy(error) && deliver_later(l, op);
    }
    return 0;
}

/* CLIENT CACHING YES was refused, so nothing will invalidate this reply: the
 * user must not cache it, and gets an error instead. 1: the command was sent
 * again, and there is nothing to tell. */
static int deliver_uncached(rlt_link *l, rlt_op *op, relet_event *ev)
{
    relet_span refusal;

    rlt_assert(op->arg > 0);
    rlt_assert(l->cause_len > 0);
    refusal.p = l->cause;
    refusal.n = l->cause_len;
    if (op->state != RLT_LIVE)
        return 0;
    if (deliver_may_repeat(l, op) && rlt_handshake_is_busy(refusal)) {
        op->flags |= RLT_OP_UNSURE; /* it ran, although CACHING did not */
        if (deliver_later(l, op)) {
            l->cause_len = 0;
            return 1;
        }
    }
    ev->kind = RELET_EV_ERROR;
    ev->why = RELET_WHY_REFUSED;
    ev->text = refusal;
    return 0;
}

static void deliver_reply(rlt_link *l, relet_value v, relet_event *ev)
{
    ev->kind = RELET_EV_REPLY;
    ev->value = v;
    l->session.busy_tries = 0;
}

/* The operation that this one relies on had not run and was sent again, so this
 * one is sent again, behind it. */
static int deliver_again(rlt_link *l, rlt_op *op)
{
    if (!RLT_HAS_QUEUE || op->state != RLT_LIVE ||
        op->place != RLT_PLACE_AGAIN)
        return 0;
    op->place = RLT_PLACE_BEHIND;
    return rlt_conn_again(&l->conn, (rlt_class)op->klass, 0, NULL, 0) == 0;
}

/* The answer that counts, for a library operation. */
static rlt_found deliver_ours(rlt_link *l, rlt_op *op, relet_value v,
                              relet_event *ev)
{
    int told = op->state == RLT_LIVE;
    uint64_t tag = op->tag;

    rlt_assert(op->flags & RLT_OP_OURS);
    l->cause_len = 0;
    rlt_event_clear(ev); /* the answer may be over a limit */
    if (deliver_again(l, op))
        return RLT_FOUND_NOTHING;
    rlt_conn_pop(&l->conn);
    if (!told)
        return RLT_FOUND_NOTHING;
    ev->tag = tag;
    ev->value = v;
    return RLT_FOUND_OURS;
}

/* The client treats a WATCH as not in force if the server refused it, or if its
 * answer was skipped. */
static void deliver_watch(rlt_link *l, const rlt_op *op, relet_value v)
{
    if (!RLT_HAS_WATCH || op->klass != RLT_OP_PLAIN ||
        !(op->flags & RLT_OP_WATCHED) ||
        (v.node && relet_value_type(v) != RELET_T_ERROR))
        return;
    rlt_conn_watch_refused(&l->conn);
    rlt_session_watch(&l->session, RLT_WATCH_ENDED);
}

/* The answer that counts, for an operation of the user or the library. v is
 * null if the answer was skipped; ev then says why. */
static rlt_found deliver_finish(rlt_link *l, rlt_op *op, relet_value v,
                                relet_event *ev)
{
    rlt_found found =
        op->state == RLT_LIVE ? RLT_FOUND_OUTCOME : RLT_FOUND_NOTHING;
    relet_span word = relet_value_text(v);

    rlt_assert(op->skip == 0); /* the answer that counts is the last */
    rlt_assert(op->klass != RLT_OP_BATCHED);
    ev->tag = op->tag;
    deliver_watch(l, op, v);
    if (relet_value_type(v) == RELET_T_ERROR) {
        if (deliver_goes_on(l, op, relet_value_text(v))) {
            l->cause_len = 0;
            return RLT_FOUND_NOTHING;
        }
        if (rlt_conn_is_ours(op))
            return deliver_ours(l, op, v, ev);
        ev->kind = RELET_EV_ERROR;
        ev->value = v;
        ev->text = relet_value_text(v);
        if (l->cause_len > 0 && rlt_span_eat(&word, "EXECABORT")) {
            ev->text.p = l->cause;
            ev->text.n = l->cause_len;
        }
    } else if (rlt_conn_is_ours(op)) {
        return deliver_ours(l, op, v, ev);
    } else if (RLT_HAS_MESSAGES && op->klass == RLT_OP_PLAIN && op->arg > 0 &&
               l->cause_len > 0) {
        if (deliver_uncached(l, op, ev))
            return RLT_FOUND_NOTHING;
    } else if (ev->kind == RELET_EV_NOTHING) {
        deliver_reply(l, v, ev);
    }
    l->cause_len = 0;
    if (RLT_HAS_QUEUE && op->place > 0 && found &&
        rlt_conn_answer_batch(&l->conn) > 0)
        found = RLT_FOUND_BATCH;
    rlt_conn_pop(&l->conn);
    return found;
}

static rlt_found deliver_event(int told)
{
    return told ? RLT_FOUND_EVENT : RLT_FOUND_NOTHING;
}

static int deliver_subscribe_answer(rlt_link *l, const rlt_op *op,
                                    relet_value v, relet_event *ev)
{
    uint32_t slot = op->arg;

    rlt_assert(op->klass == RLT_OP_SUBSCRIBE);
    rlt_assert(slot < l->pubsub.max);
    if (relet_value_type(v) != RELET_T_ERROR) {
        rlt_session_fail(&l->session, RELET_WHY_PROTOCOL,
                         "SUBSCRIBE was answered by a reply", NULL);
        return 0;
    }
    rlt_conn_pop(&l->conn);
    if (rlt_handshake_is_busy(relet_value_text(v))) {
        rlt_pubsub_busy(&l->pubsub, slot);
        rlt_session_hold(&l->session);
        return 0;
    }
    if (!rlt_pubsub_refused(&l->pubsub, slot))
        return 0;
    ev->kind = RELET_EV_SUBSCRIPTION_REFUSED;
    ev->text = relet_value_text(v);
    rlt_pubsub_show(&l->pubsub, slot, ev);
    return 1;
}

#define DELIVER_BARRIER_BUSY 2 /* in `skip`: the UNSUBSCRIBE has failed */

/* UNSUBSCRIBE was refused, so the server would go on sending messages of which
 * the user expects no more: only the end of the link stops them. Messages on a
 * channel of the library's own do no harm. */
static void deliver_cannot_leave(rlt_link *l, relet_value v)
{
    char quote[120];
    rlt_say say;

    rlt_say_init(&say, quote, sizeof quote);
    rlt_say_span(&say, relet_value_text(v));
    rlt_session_fail(&l->session, RELET_WHY_BROKEN,
                     "given up, for UNSUBSCRIBE was refused", quote);
}

/* All answers before the barrier's own belong to the UNSUBSCRIBE. */
static int deliver_barrier_answer(rlt_link *l, rlt_op *op, relet_value v,
                                   relet_event *ev)
{
    uint32_t slot = op->arg, busy = op->skip == DELIVER_BARRIER_BUSY;
    relet_span error = relet_value_text(v);

    rlt_assert(op->klass == RLT_OP_UNSUBSCRIBE);
    rlt_assert(slot < l->pubsub.max);
    if (relet_value_type(v) == RELET_T_ERROR && op->skip == 1) {
        if (rlt_span_eat(&error, "NOPERM ") &&
            !rlt_pubsub_is_own(&l->pubsub, slot)) {
            deliver_cannot_leave(l, v);
            return 0;
        }
        busy = (uint32_t)rlt_handshake_is_busy(relet_value_text(v));
        op->skip = busy ? DELIVER_BARRIER_BUSY : 0;
        return 0;
    }
    rlt_conn_pop(&l->conn);
    if (busy) {
        rlt_pubsub_stayed(&l->pubsub, slot);
        rlt_session_hold(&l->session);
        return 0;
    }
    rlt_pubsub_left(&l->pubsub, slot);
    rlt_event_clear(ev); /* HELLO's answer may be over a limit: no matter */
    ev->kind = RELET_EV_UNSUBSCRIBED;
    rlt_pubsub_show(&l->pubsub, slot, ev);
    return 1;
}

/* An answer that is not simply the reply to a command. */
static RLT_APART rlt_found deliver_take_other(rlt_link *l, rlt_op *op,
                                              relet_value v, relet_event *ev)
{
    if (op == NULL) {
        rlt_session_stray(&l->session, v);
        return RLT_FOUND_NOTHING;
    }
    switch ((rlt_class)op->klass) {
    case RLT_OP_PLAIN:
    case RLT_OP_UNIT:
    case RLT_OP_SCRIPT:
        if (op->skip > 0) {
            if (op->skip-- == op->arg)
                l->cause_len = 0; /* left over from a broken link */
            deliver_save_cause(l, op, v);
            return RLT_FOUND_NOTHING;
        }
        return deliver_finish(l, op, v, ev);
    case RLT_OP_BATCHED: /* has no answer of its own                         */
        break;
    case RLT_OP_PING:
        rlt_conn_pop(&l->conn);
        break;
    case RLT_OP_SUBSCRIBE:
        if (RLT_HAS_MESSAGES)
            return deliver_event(deliver_subscribe_answer(l, op, v, ev));
        break;
    case RLT_OP_UNSUBSCRIBE:
        if (RLT_HAS_MESSAGES)
            return deliver_event(deliver_barrier_answer(l, op, v, ev));
        break;
    }
    return RLT_FOUND_NOTHING;
}

/* One answer, while the link is up. A skipped answer comes as null, with
 * ev->kind set. A plain command with an `arg` has several answers. */
static rlt_found deliver_take(rlt_link *l, relet_value v, relet_event *ev)
{
    rlt_op *op = rlt_conn_front(&l->conn);

    if (op == NULL || op->klass != RLT_OP_PLAIN || op->state != RLT_LIVE ||
        op->arg > 0 || ev->kind != RELET_EV_NOTHING ||
        rlt_conn_is_ours(op) || (RLT_HAS_QUEUE && op->place > 0) ||
        relet_value_type(v) == RELET_T_ERROR)
        return deliver_take_other(l, op, v, ev);
    ev->tag = op->tag;
    deliver_reply(l, v, ev);
    l->cause_len = 0;
    rlt_conn_pop(&l->conn);
    return RLT_FOUND_OUTCOME;
}

/* A push that confirms a subscription, of the operation at the front or of the
 * handshake. 0: the subscription was not asked for. */
static int deliver_confirmed(rlt_link *l, uint32_t slot)
{
    rlt_op *op;

    if (slot == RLT_NO_SUBSCRIPTION || l->pubsub.subscriptions[slot].asked == 0)
        return 0;
    if (l->session.state == RLT_UP) {
        op = rlt_conn_front(&l->conn);
        if (op == NULL || op->klass != RLT_OP_SUBSCRIBE || op->arg != slot)
            return 0;
        rlt_conn_pop(&l->conn);
    }
    rlt_pubsub_agreed(&l->pubsub, slot);
    rlt_session_confirmed(&l->session);
    return 1;
}

static int deliver_push(rlt_link *l, relet_value v, relet_event *ev)
{
    uint32_t slot = RLT_NO_SUBSCRIPTION;

    l->pushes++;
    if (!RLT_HAS_MESSAGES)
        return 0;
    switch (rlt_pubsub_read(&l->pubsub, v, ev, &slot)) {
    case RLT_PUSH_MALFORMED:
        rlt_session_fail(&l->session, RELET_WHY_PROTOCOL,
                         "a push of a known kind has an unknown shape", NULL);
        return 0;
    case RLT_PUSH_SUBSCRIBED:
        return deliver_confirmed(l, slot);
    case RLT_PUSH_UNSUBSCRIBED:
        /* An UNSUBSCRIBE of this client ends at its barrier. This push came
         * unasked: a sharded channel has moved away. */
        ev->kind = RELET_EV_GAP;
        if (slot == RLT_NO_SUBSCRIPTION || !rlt_pubsub_moved(&l->pubsub, slot))
            return 0;
        rlt_session_subscribes(&l->session);
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
static void deliver_lost(rlt_link *l)
{
    if (!RLT_HAS_MESSAGES)
        return;
    l->session.tell_gap = l->session.missed = 1;
    if (l->conn.reader.no_memory &&
        rlt_pubsub_next_asked(&l->pubsub) != RLT_NO_SUBSCRIPTION)
        rlt_session_fail(&l->session, RELET_WHY_MEMORY,
                         "no room for the answer to a subscription", NULL);
}

/* An answer over a limit. */
static rlt_found deliver_skipped(rlt_link *l, relet_event *ev)
{
    relet_value none = {NULL, NULL};

    if (RLT_HAS_MESSAGES && l->conn.reader.scan.lost_pushes > 0)
        l->session.tell_gap = l->session.missed = 1;
    if (l->session.state != RLT_UP) {
        rlt_session_handshake_skip(&l->session);
        return RLT_FOUND_NOTHING;
    }
    deliver_over(l, ev);
    return deliver_take(l, none, ev);
}

/* Judges input until there is something to deliver. */
static rlt_found deliver_input(rlt_link *l, relet_event *ev)
{
    rlt_found found = RLT_FOUND_NOTHING;
    relet_value v = {NULL, NULL};

    while (!found && rlt_session_hears(&l->session) && l->conn.ended == 0 &&
           !l->session.tell_up && !l->session.tell_down) {
        rlt_reader_release(&l->conn.reader);
        switch (rlt_reader_next(&l->conn.reader, &v)) {
        case RLT_ARRIVED_NOTHING:
            if (!rlt_session_drained(&l->session))
                return RLT_FOUND_NOTHING;
            break;
        case RLT_ARRIVED_VALUE:
            found = l->session.state == RLT_UP
                        ? deliver_take(l, v, ev)
                        : deliver_event(
                              rlt_session_handshake(&l->session, v, ev));
            break;
        case RLT_ARRIVED_PUSH:
            found = deliver_event(deliver_push(l, v, ev));
            break;
        case RLT_ARRIVED_SKIPPED:
            found = deliver_skipped(l, ev);
            break;
        case RLT_ARRIVED_LOST:
            deliver_lost(l);
            break;
        case RLT_ARRIVED_BAD:
            rlt_session_bad_input(&l->session);
            break;
        }
        if (!found)
            rlt_event_clear(ev);
    }
    return found;
}

static const char *deliver_ended_text(relet_why why, int unsure, int unwatched)
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
static rlt_found deliver_ended(rlt_link *l, relet_event *ev)
{
    rlt_op op;
    int unsure;

    if (!rlt_conn_take_ended(&l->conn, &op, &unsure))
        return RLT_FOUND_NOTHING;
    if (l->session.watch_lost == RLT_WATCH_UNTOLD && l->conn.ended == 0)
        l->session.watch_lost = RLT_WATCH_ENDED;
    ev->tag = op.tag;
    if (rlt_conn_is_ours(&op))
        return RLT_FOUND_OURS;
    ev->kind = unsure ? RELET_EV_UNSURE : RELET_EV_NOT_SENT;
    ev->why = (relet_why)op.why;
    if (RLT_HAS_TEXT)
        ev->text = relet_str(deliver_ended_text(
            ev->why, unsure,
            op.klass == RLT_OP_UNIT && (op.flags & RLT_OP_UNWATCHED)));
    return RLT_FOUND_OUTCOME;
}

/* Delivers what is due before more input is read. */
static rlt_found deliver_told(rlt_link *l, relet_event *ev, rlt_from *from)
{
    rlt_found found;

    if (*from == RLT_FROM_START) {
        *from = RLT_FROM_ENDED;
        if (rlt_session_event(&l->session, ev))
            return RLT_FOUND_EVENT;
        found = deliver_ended(l, ev);
        if (found)
            return found;
    }
    if (*from == RLT_FROM_ENDED &&
        (rlt_pubsub_event(&l->pubsub, ev) ||
         rlt_session_last_event(&l->session, ev)))
        return RLT_FOUND_EVENT;
    return RLT_FOUND_NOTHING;
}

/* Most calls find only input, so one test skips all others. */
RELET_PRIVATE rlt_found rlt_link_next(rlt_link *l, relet_event *ev,
                                      rlt_from *from)
{
    rlt_found found;

    if (*from != RLT_FROM_INPUT &&
        (rlt_link_tells(l) ||
         (RLT_HAS_MESSAGES && l->pubsub.goodbyes > 0))) {
        found = deliver_told(l, ev, from);
        if (found)
            return found;
    }
    *from = RLT_FROM_INPUT;
    return deliver_input(l, ev);
}
