/* SPDX-License-Identifier: MIT
 *
 * ending.c - the operations that end before their answer: they are cancelled,
 * their time is up, their link breaks, or the WATCH that they count on is not
 * in force. */
#include "conn.h"

/* Remove the bytes of operations that ended before any of them was sent: all in
 * one pass, since thousands of operations may end at the same time. */
static void ending_squeeze(rlt_conn *c)
{
    uint8_t *head = rlt_buf_head(&c->out);
    uint64_t from = c->answered, to = from, end;
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++, from = end) {
        rlt_op *op = rlt_conn_at(c, pos);

        end = op->end;
        if (!(op->flags & RLT_OP_CUT)) {
            if (to != from)
                memmove(head + (to - c->base), head + (from - c->base),
                        (size_t)(end - from));
            to += end - from;
        }
        op->flags &= (uint8_t)~RLT_OP_CUT;
        op->end = to;
    }
    if (to != from)
        rlt_buf_cut(&c->out, (size_t)(to - c->base), (size_t)(from - to));
}

/* ---------------------------------------------------------------- watches
 *
 * A transaction counts on each WATCH before it, back to the last UNWATCH or the
 * last transaction that counted on a WATCH.
 *
 *   the WATCH                          its transaction
 *   ---------------------------------  -----------------------------------
 *   ends NOT_SENT: cancel, time-out    ends NOT_SENT, WATCH_LOST
 *   is one of several, ends NOT_SENT   the same
 *   ends NOT_SENT, and an UNWATCH      goes out: it does not count on this
 *   follows                            WATCH
 *   is refused, or its answer is over  no byte of it sent: NOT_SENT,
 *   a limit or found no memory         WATCH_LOST; else it runs
 *   … by BUSY, LOADING; REPEATABLE     the same: the WATCH is not sent again,
 *                                      since it would follow its transaction
 *   ends UNSURE, then is answered OK   runs, guarded
 *   loses its link                     see ending_survives
 *   fails in one of these ways before  submitting it is refused once, with
 *   the transaction is submitted       this reason, unless an UNWATCH or a
 *                                      WATCH comes first
 *   is not accepted (RELET_E_LIMIT)    must be withheld by the caller
 *
 * An operation that is sent again goes behind the operations that were
 * submitted meanwhile. An UNWATCH or the EXEC of another transaction would end
 * a WATCH there: neither is sent again (see deliver_may_repeat). */
static int ending_is_watch(const rlt_op *op)
{
    return RLT_HAS_WATCH && op->klass == RLT_OP_PLAIN &&
           (op->flags & RLT_OP_WATCHED);
}

/* Whether the operation ends the watches before it, or was meant to. */
static int ending_ends_watches(const rlt_op *op)
{
    if (!RLT_HAS_WATCH)
        return 0;
    return op->klass == RLT_OP_UNIT
               ? (op->flags & RLT_OP_WATCHED) != 0
               : (op->flags & (RLT_OP_WATCHED | RLT_OP_UNWATCHED)) ==
                     RLT_OP_UNWATCHED;
}

/* The operation at `pos` will not go out, and its ring entry may be reused. No
 * later transaction may count on the watches before it instead. */
static void ending_loosen(rlt_conn *c, uint32_t pos)
{
    while (pos != c->first && !ending_ends_watches(rlt_conn_at(c, pos - 1))) {
        pos--;
        if (ending_is_watch(rlt_conn_at(c, pos)))
            rlt_conn_at(c, pos)->flags |= RLT_OP_UNWATCHED;
    }
}

/* End a LIVE operation before its answer. The caller then calls ending_unguard,
 * if `unguarded` is set, and ending_squeeze. */
static void ending_one(rlt_conn *c, uint32_t pos, relet_why why)
{
    rlt_op *op = rlt_conn_at(c, pos);

    rlt_assert(op->state == RLT_LIVE);
    /* (UN)SUBSCRIBE still has to go out: a subscription counts on it. */
    if (!rlt_conn_is_users(op)) {
        op->state = RLT_TOMBSTONE;
        return;
    }
    if (rlt_conn_is_kept(op))
        c->kept_ops--;
    if (rlt_conn_is_batched(op)) /* UNSURE if its predecessor is             */
        op->flags |= (uint8_t)(rlt_conn_at(c, pos - 1)->flags & RLT_OP_UNSURE);
    else if (rlt_conn_start(c, pos) < c->sent)
        op->flags |= RLT_OP_DUE | RLT_OP_UNSURE;
    else
        op->flags |= RLT_OP_CUT;
    if ((op->flags & RLT_OP_CUT) && ending_ends_watches(op))
        ending_loosen(c, pos);
    if ((op->flags & RLT_OP_CUT) && ending_is_watch(op))
        c->unguarded = 1;
    op->state = RLT_ENDED;
    op->why = (uint8_t)why;
    if (c->ended++ == 0 || rlt_conn_before(pos, c->ended_from))
        c->ended_from = pos;
}

/* Whether this is a WATCH that ends unsent now, and may be counted on. */
static int ending_is_gone_watch(const rlt_op *op)
{
    return ending_is_watch(op) && (op->flags & RLT_OP_CUT) &&
           !(op->flags & RLT_OP_UNWATCHED);
}

/* No transaction may go out that counts on a WATCH that is not in force: on one
 * before `pos`, if `gone`, or on one that ends unsent now. */
static void ending_unguard(rlt_conn *c, uint32_t pos, int gone)
{
    for (; pos != c->last; pos++) {
        rlt_op *op = rlt_conn_at(c, pos);

        gone |= ending_is_gone_watch(op);
        if (!ending_ends_watches(op))
            continue;
        if (gone && op->klass == RLT_OP_UNIT && op->state == RLT_LIVE &&
            rlt_conn_start(c, pos) >= c->sent) {
            ending_one(c, pos, RELET_WHY_WATCH_LOST);
            op->flags |= RLT_OP_UNWATCHED;
        }
        gone = 0;
    }
    c->unguarded = 0;
    c->watch_gone |= (uint8_t)gone;
    if (gone)
        ending_loosen(c, pos);
}

RELET_PRIVATE void rlt_conn_watch_refused(rlt_conn *c)
{
    const rlt_op *op = rlt_conn_at(c, c->first);

    rlt_assert(ending_is_watch(op));
    ending_unguard(c, c->first + 1, !(op->flags & RLT_OP_UNWATCHED));
    ending_squeeze(c);
}

RELET_PRIVATE size_t rlt_conn_cancel(rlt_conn *c, uint64_t tag,
                                     const uint64_t *heir)
{
    size_t n = 0;
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++) {
        rlt_op *op = rlt_conn_at(c, pos);

        if (op->state == RLT_LIVE && op->tag == tag && rlt_conn_counts(op) &&
            !rlt_conn_is_batched(op) && !rlt_conn_is_led(c, pos)) {
            n++;
            if (heir == NULL) {
                ending_one(c, pos, RELET_WHY_CANCELLED);
                continue;
            }
            op->flags |= RLT_OP_OURS;
            op->tag = *heir;
            c->outstanding--;
        }
    }
    if (RLT_HAS_WATCH && c->unguarded)
        ending_unguard(c, c->first, 0);
    if (n > 0 && heir == NULL)
        ending_squeeze(c);
    return n;
}

RELET_PRIVATE int rlt_conn_has_tag(const rlt_conn *c, uint64_t tag)
{
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++) {
        const rlt_op *op = rlt_conn_at(c, pos);

        if (op->tag == tag && rlt_conn_counts(op) && op->state <= RLT_ENDED)
            return 1;
    }
    return 0;
}

RELET_PRIVATE int rlt_conn_take_ended(rlt_conn *c, rlt_op *out, int *unsure)
{
    rlt_op *op;

    if (c->ended == 0)
        return 0;
    while (rlt_conn_at(c, c->ended_from)->state != RLT_ENDED)
        c->ended_from++;
    op = rlt_conn_at(c, c->ended_from);
    *out = *op;
    *unsure = (op->flags & RLT_OP_UNSURE) != 0;
    op->state = (op->flags & RLT_OP_DUE) ? RLT_TOMBSTONE : RLT_GONE;
    c->ended--;
    if (rlt_conn_counts(op))
        c->outstanding--;
    rlt_conn_sweep(c);
    if (rlt_conn_before(c->ended_from, c->first))
        c->ended_from = c->first;
    return 1;
}

/* ------------------------------------------------------------------- time */

/* Turn the durations of fresh operations into times. */
static void ending_time_fresh(rlt_conn *c, relet_time now)
{
    relet_time earliest = c->earliest;
    uint32_t pos;

    for (pos = c->fresh; pos != c->last; pos++) {
        rlt_op *op = rlt_conn_at(c, pos);

        if (!(op->flags & RLT_OP_TIMED) && op->deadline != RELET_NEVER)
            op->deadline += now;
        op->flags |= RLT_OP_TIMED;
        earliest = RLT_MIN(earliest, op->deadline);
    }
    c->fresh = pos;
    c->earliest = earliest;
    c->soonest = RELET_NEVER;
}

RELET_PRIVATE void rlt_conn_tick(rlt_conn *c, relet_time now, int expire)
{
    uint32_t pos;

    ending_time_fresh(c, now);
    if (!expire || now < c->earliest)
        return;
    /* `earliest` may belong to an operation that was answered long ago: this
     * pass also finds the true one. It runs about once per time-out, not once
     * per operation, which a heap would cost. */
    c->earliest = RELET_NEVER;
    for (pos = c->first; pos != c->last; pos++) {
        rlt_op *op = rlt_conn_at(c, pos);

        if (op->state != RLT_LIVE)
            continue;
        if (op->deadline <= now)
            ending_one(c, pos, RELET_WHY_TIMEOUT);
        else
            c->earliest = RLT_MIN(c->earliest, op->deadline);
    }
    if (RLT_HAS_WATCH && c->unguarded)
        ending_unguard(c, c->first, 0);
    ending_squeeze(c);
    if (c->ended == 0)
        rlt_conn_sweep(c);
}

RELET_PRIVATE relet_time rlt_conn_deadline(const rlt_conn *c, relet_time now)
{
    relet_time fresh = RELET_NEVER;

    if (rlt_conn_idle(c))
        return RELET_NEVER;
    if (c->soonest != RELET_NEVER)
        fresh = now + c->soonest;
    return RLT_MIN(fresh, c->earliest);
}

/* -------------------------------------------------------------- the break */

/* Decides the fate of an operation whose link is gone: returns 1 if its bytes
 * stay for the next link. */
static int ending_survives(rlt_conn *c, rlt_op *op, relet_why why, int last)
{
    int was_sent = op->end <= c->sent;

    if (op->state == RLT_LIVE && rlt_conn_is_kept(op))
        c->kept_ops--;
    if (op->state == RLT_LIVE && !rlt_conn_is_users(op))
        op->state = RLT_GONE;
    if (op->state == RLT_TOMBSTONE)
        op->state = RLT_GONE;
    op->flags &= (uint8_t)~RLT_OP_DUE;
    if (op->state != RLT_LIVE)
        return 0;
    /* The next link brings all of its answers, also those that had come. */
    if (op->klass != RLT_OP_SCRIPT)
        op->skip = op->arg;
    if (was_sent)
        op->flags |= RLT_OP_UNSURE;
    if (!last && !(op->flags & RLT_OP_WATCHED) &&
        ((op->flags & RELET_REPEATABLE) ||
         (!was_sent && !rlt_conn_is_ours(op)))) {
        c->repeated += (uint64_t)was_sent;
        return 1;
    }
    op->state = RLT_ENDED;
    op->why = (uint8_t)why;
    if (!last && !was_sent)
        op->why = RELET_WHY_WATCH_LOST;
    c->ended++;
    return 0;
}

RELET_PRIVATE void rlt_conn_break(rlt_conn *c, relet_why why, int last)
{
    uint64_t start = c->answered, base = c->base;
    uint32_t pos, to = c->first;
    size_t kept = 0;

    rlt_reader_close(&c->reader);
    for (pos = c->first; pos != c->last; pos++) {
        rlt_op op = *rlt_conn_at(c, pos);
        uint64_t end = op.end;

        if (ending_survives(c, &op, why, last)) {
            uint8_t *head = rlt_buf_head(&c->out);

            memmove(head + kept, head + (start - base), (size_t)(end - start));
            kept += (size_t)(end - start);
            if (rlt_conn_is_kept(&op))
                c->kept_ops++;
        }
        start = end;
        op.end = kept;
        if (op.state != RLT_GONE)
            *rlt_conn_at(c, to++) = op;
    }
    rlt_buf_cut(&c->out, kept, rlt_buf_used(&c->out) - kept);
    c->last = to;
    c->base = c->sent = c->whole = c->answered = 0;
    c->unsent = c->fresh = c->ended_from = c->first;
}
