/* SPDX-License-Identifier: MIT
 *
 * conn.c - one byte stream, and the operations that wait for its answers.
 *
 * The output buffer holds the bytes from stream position `base` on. Positions
 * only grow while a link lives and start at 0 with each new one:
 *
 *   base <= whole <= sent <= base + used
 *
 * Bytes behind `whole` are never dropped, so an operation that was cut off in
 * the middle can go out again, whole, over the next link; bytes of operations
 * that may be sent again stay until they are answered. */
#include "conn.h"

static rlt_op *conn_at(const rlt_conn *c, uint32_t pos)
{
    return &c->ops[pos & c->mask];
}

static int conn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static int conn_is_users(const rlt_op *op)
{
    return op->klass <= RLT_OP_BATCHED;
}

/* Whether the operation counts as the user's, in `outstanding`. */
static int conn_counts(const rlt_op *op)
{
    return conn_is_users(op) && !(op->flags & RLT_OP_OURS);
}

/* Whether the operation's bytes are kept after they were sent. */
static int conn_is_kept(const rlt_op *op)
{
    return op->klass == RLT_OP_SCRIPT || (op->flags & RELET_REPEATABLE);
}

static uint64_t conn_start(const rlt_conn *c, uint32_t pos)
{
    return pos == c->first ? c->answered : conn_at(c, pos - 1)->end;
}

/* Whether the operation behind this one is batched with it. */
static int conn_is_led(const rlt_conn *c, uint32_t pos)
{
    return pos + 1 != c->last && conn_at(c, pos + 1)->klass == RLT_OP_BATCHED;
}

static uint64_t conn_queued(const rlt_conn *c)
{
    return c->base + rlt_buf_used(&c->out);
}

RELET_PRIVATE void rlt_conn_init(rlt_conn *c, const rlt_conn_plan *p)
{
    memset(c, 0, sizeof *c);
    rlt_assert((p->ops_cap & (p->ops_cap - 1)) == 0);
    c->ops = p->ops;
    c->mask = p->ops_cap - 1;
    c->earliest = c->soonest = RELET_NEVER;
    rlt_buf_init(&c->out, p->reader.memory, p->out_block,
                 RLT_MIN(p->reader.buffer_min, p->output_max), p->output_max);
    rlt_reader_init(&c->reader, &p->reader);
}

RELET_PRIVATE void rlt_conn_free(rlt_conn *c)
{
    rlt_buf_free(&c->out);
    rlt_reader_free(&c->reader);
}

/* ------------------------------------------------------------- submitting */

/* An operation moves in the ring: its cursors move with it. */
static void conn_moved(rlt_conn *c, uint32_t from, uint32_t to)
{
    if (c->unsent == from)
        c->unsent = to;
    if (c->fresh == from)
        c->fresh = to;
    if (c->ended_from == from)
        c->ended_from = to;
}

/* An operation that ended unsent has no bytes, but keeps its ring entry until
 * it comes to the front, and the operation before it may wait for long. */
static void conn_compact(rlt_conn *c)
{
    uint32_t pos, to = c->first;

    for (pos = c->first; pos != c->last; pos++) {
        conn_moved(c, pos, to);
        if (conn_at(c, pos)->state != RLT_GONE)
            *conn_at(c, to++) = *conn_at(c, pos);
    }
    conn_moved(c, pos, to);
    c->last = to;
}

static RLT_APART int conn_make_room(rlt_conn *c, size_t n)
{
    if (c->last - c->first > c->mask)
        conn_compact(c);
    if (c->last - c->first > c->mask)
        return RELET_E_LIMIT;
    return rlt_buf_reserve(&c->out, n);
}

RELET_PRIVATE int rlt_conn_begin(rlt_conn *c, size_t n, uint8_t **out)
{
    int code = 0;

    if (RLT_UNLIKELY(c->last - c->first > c->mask ||
                     n > rlt_buf_room(&c->out)))
        code = conn_make_room(c, n);
    if (code == 0)
        *out = rlt_buf_end(&c->out);
    return code;
}

/* The bytes are in the buffer already. *op is copied field by field: the caller
 * has just stored its fields so, and wider loads would stall the processor. */
static void conn_push(rlt_conn *c, const rlt_op *op)
{
    rlt_op *o = conn_at(c, c->last++);

    o->tag = op->tag;
    o->end = conn_queued(c);
    o->deadline = op->deadline;
    o->arg = op->arg;
    o->skip = op->skip;
    o->place = op->place;
    o->klass = op->klass;
    o->flags = op->flags;
    o->state = RLT_LIVE;
    o->why = 0;
    if (conn_counts(o))
        c->outstanding++;
    if (conn_is_kept(o))
        c->kept_ops++;
    if (o->flags & RLT_OP_TIMED)
        c->earliest = RLT_MIN(c->earliest, o->deadline);
    else
        c->soonest = RLT_MIN(c->soonest, o->deadline);
}

RELET_PRIVATE void rlt_conn_commit(rlt_conn *c, const rlt_op *op, size_t n)
{
    rlt_buf_commit(&c->out, n);
    conn_push(c, op);
}

/* The leader of the newest operation's batch, or the operation itself. It is
 * LIVE. */
static uint32_t conn_leader(const rlt_conn *c)
{
    uint32_t pos = c->last - 1;

    while (conn_at(c, pos)->klass == RLT_OP_BATCHED)
        pos--;
    return pos;
}

RELET_PRIVATE size_t rlt_conn_joinable(const rlt_conn *c, const rlt_op *op)
{
    const rlt_op *last = conn_at(c, c->last - 1);
    uint64_t start;

    if (rlt_conn_idle(c) || c->last - c->first > c->mask ||
        last->state != RLT_LIVE || last->place != op->place ||
        last->deadline != op->deadline || last->flags != op->flags)
        return 0;
    start = conn_start(c, conn_leader(c));
    return start < c->sent ? 0 : (size_t)(conn_queued(c) - start);
}

RELET_PRIVATE void rlt_conn_join(rlt_conn *c, const rlt_op *op, size_t n)
{
    uint32_t pos = conn_leader(c);

    rlt_conn_commit(c, op, n);
    for (; pos != c->last; pos++)
        conn_at(c, pos)->end = conn_queued(c);
}

/* ------------------------------------------------------------- bytes out */

/* Drop the bytes that will not be sent again. */
static void conn_discard(rlt_conn *c)
{
    uint64_t upto = c->whole;

    if (c->kept_ops > 0 && c->answered < upto)
        upto = c->answered;
    if (upto <= c->base)
        return;
    rlt_buf_drop(&c->out, (size_t)(upto - c->base));
    c->base = upto;
}

RELET_PRIVATE size_t rlt_conn_pending(const rlt_conn *c, const uint8_t **p)
{
    size_t gone = (size_t)(c->sent - c->base);
    size_t n = rlt_buf_used(&c->out) - gone;

    if (n > 0)
        *p = rlt_buf_head(&c->out) + gone;
    return n;
}

RELET_PRIVATE void rlt_conn_sent(rlt_conn *c, size_t n)
{
    rlt_assert(n <= conn_queued(c) - c->sent);
    c->sent += n;
    while (c->unsent != c->last && conn_at(c, c->unsent)->end <= c->sent)
        c->whole = conn_at(c, c->unsent++)->end;
    conn_discard(c);
}

/* -------------------------------------------------------------- the queue */

/* Cursors may not stand before the first operation; ended_from matters only
 * while there are ENDED operations. */
static void conn_cursors(rlt_conn *c)
{
    if (conn_before(c->unsent, c->first))
        c->unsent = c->first;
    if (conn_before(c->fresh, c->first))
        c->fresh = c->first;
}

static void conn_leave(rlt_conn *c)
{
    c->answered = conn_at(c, c->first++)->end;
}

static void conn_sweep_gone(rlt_conn *c)
{
    while (c->first != c->last && conn_at(c, c->first)->state == RLT_GONE)
        conn_leave(c);
    if (c->first == c->last) /* so that few entries are ever touched */
        c->first = c->last = c->unsent = c->fresh = c->ended_from = 0;
    conn_cursors(c);
    if (c->base != c->whole)
        conn_discard(c);
}

RELET_PRIVATE rlt_op *rlt_conn_front(rlt_conn *c)
{
    rlt_op *op = conn_at(c, c->first);

    rlt_assert(c->ended == 0);
    if (rlt_conn_idle(c))
        return NULL;
    /* No answer can belong to an operation that was not sent. But MULTI may be
     * answered while its EXEC is not sent yet. */
    if (op->end > c->sent && (op->skip == 0 || c->answered >= c->sent))
        return NULL;
    return op;
}

RELET_PRIVATE int rlt_conn_idle(const rlt_conn *c)
{
    return c->first == c->last;
}

RELET_PRIVATE int rlt_conn_overdue(const rlt_conn *c)
{
    return !rlt_conn_idle(c) && conn_at(c, c->first)->state == RLT_TOMBSTONE;
}

RELET_PRIVATE int rlt_conn_owes(const rlt_conn *c, uint64_t tag)
{
    const rlt_op *op = conn_at(c, c->first);

    return rlt_conn_overdue(c) ||
           (!rlt_conn_idle(c) && (op->flags & RLT_OP_OURS) && op->tag == tag);
}

RELET_PRIVATE void rlt_conn_pop(rlt_conn *c)
{
    rlt_op *op = conn_at(c, c->first);

    rlt_assert(c->first != c->last);
    if (op->state == RLT_TOMBSTONE)
        c->late++;
    if (op->state == RLT_LIVE && conn_counts(op))
        c->outstanding--;
    if (op->state == RLT_LIVE && conn_is_kept(op))
        c->kept_ops--;
    op->state = RLT_GONE;
    conn_sweep_gone(c);
}

RELET_PRIVATE uint32_t rlt_conn_answer_batch(rlt_conn *c)
{
    uint32_t n = 0;

    for (; conn_is_led(c, c->first + n); n++) {
        rlt_op *op = conn_at(c, c->first + n + 1);

        rlt_assert(op->state == RLT_LIVE);
        op->state = RLT_ANSWERED;
        c->kept_ops -= (uint32_t)conn_is_kept(op);
    }
    return n;
}

RELET_PRIVATE int rlt_conn_take_answered(rlt_conn *c, rlt_op *out)
{
    if (rlt_conn_idle(c) || conn_at(c, c->first)->state != RLT_ANSWERED)
        return 0;
    *out = *conn_at(c, c->first);
    c->outstanding--;
    rlt_conn_pop(c);
    return 1;
}

RELET_PRIVATE relet_span rlt_conn_front_bytes(const rlt_conn *c)
{
    relet_span s;

    rlt_assert(conn_is_kept(conn_at(c, c->first)));
    rlt_assert(c->answered >= c->base);
    s.p = (const char *)rlt_buf_head(&c->out) + (c->answered - c->base);
    s.n = (size_t)(conn_at(c, c->first)->end - c->answered);
    return s;
}

RELET_PRIVATE int rlt_conn_again(rlt_conn *c, rlt_class klass, size_t cut,
                                 const relet_span *patch, size_t patches)
{
    rlt_op op = *conn_at(c, c->first);
    size_t n = rlt_conn_front_bytes(c).n - cut, i;
    int code;

    for (i = 0; i < patches; i++)
        n += patch[i].n;
    code = rlt_buf_reserve(&c->out, n);
    if (code < 0)
        return code;
    for (i = 0; i < patches; i++)
        (void)rlt_buf_put(&c->out, patch[i].p, patch[i].n);
    /* Reserving may have moved the bytes: ask again where they are. */
    (void)rlt_buf_put(&c->out, rlt_conn_front_bytes(c).p + cut,
                      rlt_conn_front_bytes(c).n - cut);
    if (klass != (rlt_class)op.klass)
        op.arg = 0; /* a script's number; elsewhere, the answers to skip */
    op.klass = (uint8_t)klass;
    do {
        rlt_conn_pop(c);
        conn_push(c, &op);
        op = *conn_at(c, c->first);
    } while (op.klass == RLT_OP_BATCHED);
    if (op.place == RLT_PLACE_BEHIND)
        conn_at(c, c->first)->place = RLT_PLACE_AGAIN;
    return 0;
}

/* Remove the bytes of operations that ended before any of them was sent: all in
 * one pass, since thousands of operations may end at the same time. */
static void conn_squeeze(rlt_conn *c)
{
    uint8_t *head = rlt_buf_head(&c->out);
    uint64_t from = c->answered, to = from, end;
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++, from = end) {
        rlt_op *op = conn_at(c, pos);

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
 *   loses its link                     see conn_survives
 *   fails in one of these ways before  submitting it is refused once, with
 *   the transaction is submitted       this reason, unless an UNWATCH or a
 *                                      WATCH comes first
 *   is not accepted (RELET_E_LIMIT)    must be withheld by the caller
 *
 * An operation that is sent again goes behind the operations that were
 * submitted meanwhile. An UNWATCH or the EXEC of another transaction would end
 * a WATCH there: neither is sent again (see dispatch_may_repeat). */
static int conn_is_watch(const rlt_op *op)
{
    return op->klass == RLT_OP_PLAIN && (op->flags & RLT_OP_WATCHED);
}

/* Whether the operation ends the watches before it, or was meant to. */
static int conn_ends_watches(const rlt_op *op)
{
    return op->klass == RLT_OP_UNIT
               ? (op->flags & RLT_OP_WATCHED) != 0
               : (op->flags & (RLT_OP_WATCHED | RLT_OP_UNWATCHED)) ==
                     RLT_OP_UNWATCHED;
}

/* The operation at `pos` will not go out, and its ring entry may be reused. No
 * later transaction may count on the watches before it instead. */
static void conn_loosen(rlt_conn *c, uint32_t pos)
{
    while (pos != c->first && !conn_ends_watches(conn_at(c, pos - 1))) {
        pos--;
        if (conn_is_watch(conn_at(c, pos)))
            conn_at(c, pos)->flags |= RLT_OP_UNWATCHED;
    }
}

/* End a LIVE operation before its answer. The caller then calls conn_unguard,
 * if `unguarded` is set, and conn_squeeze. */
static void conn_end(rlt_conn *c, uint32_t pos, relet_why why)
{
    rlt_op *op = conn_at(c, pos);

    rlt_assert(op->state == RLT_LIVE);
    /* (UN)SUBSCRIBE still has to go out: a subscription counts on it. */
    if (!conn_is_users(op)) {
        op->state = RLT_TOMBSTONE;
        return;
    }
    if (conn_is_kept(op))
        c->kept_ops--;
    if (op->klass == RLT_OP_BATCHED) /* UNSURE if its predecessor is          */
        op->flags |= (uint8_t)(conn_at(c, pos - 1)->flags & RLT_OP_UNSURE);
    else if (conn_start(c, pos) < c->sent)
        op->flags |= RLT_OP_DUE | RLT_OP_UNSURE;
    else
        op->flags |= RLT_OP_CUT;
    if ((op->flags & RLT_OP_CUT) && conn_ends_watches(op))
        conn_loosen(c, pos);
    if ((op->flags & RLT_OP_CUT) && conn_is_watch(op))
        c->unguarded = 1;
    op->state = RLT_ENDED;
    op->why = (uint8_t)why;
    if (c->ended++ == 0 || conn_before(pos, c->ended_from))
        c->ended_from = pos;
}

/* Whether this is a WATCH that ends unsent now, and may be counted on. */
static int conn_is_gone_watch(const rlt_op *op)
{
    return conn_is_watch(op) && (op->flags & RLT_OP_CUT) &&
           !(op->flags & RLT_OP_UNWATCHED);
}

/* No transaction may go out that counts on a WATCH that is not in force: on one
 * before `pos`, if `gone`, or on one that ends unsent now. */
static void conn_unguard(rlt_conn *c, uint32_t pos, int gone)
{
    for (; pos != c->last; pos++) {
        rlt_op *op = conn_at(c, pos);

        gone |= conn_is_gone_watch(op);
        if (!conn_ends_watches(op))
            continue;
        if (gone && op->klass == RLT_OP_UNIT && op->state == RLT_LIVE &&
            conn_start(c, pos) >= c->sent) {
            conn_end(c, pos, RELET_WHY_WATCH_LOST);
            op->flags |= RLT_OP_UNWATCHED;
        }
        gone = 0;
    }
    c->unguarded = 0;
    c->watch_gone |= (uint8_t)gone;
    if (gone)
        conn_loosen(c, pos);
}

RELET_PRIVATE void rlt_conn_watch_refused(rlt_conn *c)
{
    const rlt_op *op = conn_at(c, c->first);

    rlt_assert(conn_is_watch(op));
    conn_unguard(c, c->first + 1, !(op->flags & RLT_OP_UNWATCHED));
    conn_squeeze(c);
}

RELET_PRIVATE size_t rlt_conn_cancel(rlt_conn *c, uint64_t tag,
                                     const uint64_t *heir)
{
    size_t n = 0;
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++) {
        rlt_op *op = conn_at(c, pos);

        if (op->state == RLT_LIVE && op->tag == tag && conn_counts(op) &&
            op->klass != RLT_OP_BATCHED && !conn_is_led(c, pos)) {
            n++;
            if (heir == NULL) {
                conn_end(c, pos, RELET_WHY_CANCELLED);
                continue;
            }
            op->flags |= RLT_OP_OURS;
            op->tag = *heir;
            c->outstanding--;
        }
    }
    if (c->unguarded)
        conn_unguard(c, c->first, 0);
    if (n > 0 && heir == NULL)
        conn_squeeze(c);
    return n;
}

RELET_PRIVATE int rlt_conn_has_place(const rlt_conn *c, uint32_t place)
{
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++)
        if (conn_at(c, pos)->place == place &&
            conn_at(c, pos)->state == RLT_LIVE)
            return 1;
    return 0;
}

RELET_PRIVATE int rlt_conn_take_ended(rlt_conn *c, rlt_op *out, int *unsure)
{
    rlt_op *op;

    if (c->ended == 0)
        return 0;
    while (conn_at(c, c->ended_from)->state != RLT_ENDED)
        c->ended_from++;
    op = conn_at(c, c->ended_from);
    *out = *op;
    *unsure = (op->flags & RLT_OP_UNSURE) != 0;
    op->state = (op->flags & RLT_OP_DUE) ? RLT_TOMBSTONE : RLT_GONE;
    c->ended--;
    if (conn_counts(op))
        c->outstanding--;
    conn_sweep_gone(c);
    if (conn_before(c->ended_from, c->first))
        c->ended_from = c->first;
    return 1;
}

/* ------------------------------------------------------------------- time */

/* Turn the durations of fresh operations into times. */
static void conn_time_fresh(rlt_conn *c, relet_time now)
{
    relet_time earliest = c->earliest;
    uint32_t pos;

    for (pos = c->fresh; pos != c->last; pos++) {
        rlt_op *op = conn_at(c, pos);

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

    conn_time_fresh(c, now);
    if (!expire || now < c->earliest)
        return;
    /* `earliest` may belong to an operation that was answered long ago: this
     * pass also finds the true one. It runs about once per time-out, not once
     * per operation, which a heap would cost. */
    c->earliest = RELET_NEVER;
    for (pos = c->first; pos != c->last; pos++) {
        rlt_op *op = conn_at(c, pos);

        if (op->state != RLT_LIVE)
            continue;
        if (op->deadline <= now)
            conn_end(c, pos, RELET_WHY_TIMEOUT);
        else
            c->earliest = RLT_MIN(c->earliest, op->deadline);
    }
    if (c->unguarded)
        conn_unguard(c, c->first, 0);
    conn_squeeze(c);
    if (c->ended == 0)
        conn_sweep_gone(c);
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
static int conn_survives(rlt_conn *c, rlt_op *op, relet_why why, int last)
{
    int was_sent = op->end <= c->sent;

    if (op->state == RLT_LIVE && conn_is_kept(op))
        c->kept_ops--;
    if (op->state == RLT_LIVE && !conn_is_users(op))
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
         (!was_sent && !(op->flags & RLT_OP_OURS)))) {
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
        rlt_op op = *conn_at(c, pos);
        uint64_t end = op.end;

        if (conn_survives(c, &op, why, last)) {
            uint8_t *head = rlt_buf_head(&c->out);

            memmove(head + kept, head + (start - base), (size_t)(end - start));
            kept += (size_t)(end - start);
            if (conn_is_kept(&op))
                c->kept_ops++;
        }
        start = end;
        op.end = kept;
        if (op.state != RLT_GONE)
            *conn_at(c, to++) = op;
    }
    rlt_buf_cut(&c->out, kept, rlt_buf_used(&c->out) - kept);
    c->last = to;
    c->base = c->sent = c->whole = c->answered = 0;
    c->unsent = c->fresh = c->ended_from = c->first;
}

RELET_PRIVATE void rlt_conn_rest(rlt_conn *c)
{
    rlt_buf_shrink(&c->out, 0);
    rlt_reader_rest(&c->reader);
}
