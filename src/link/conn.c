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

/* Moves the cursors that point to an operation when it moves in the ring. */
static void conn_moved(rlt_conn *c, uint32_t from, uint32_t to)
{
    if (c->unsent == from)
        c->unsent = to;
    if (c->fresh == from)
        c->fresh = to;
    if (c->ended_from == from)
        c->ended_from = to;
}

/* Removes GONE operations from a full ring. An operation that ended unsent has
 * no bytes, but keeps its ring entry until it comes to the front, and the
 * operation before it may wait for long. */
static void conn_compact(rlt_conn *c)
{
    uint32_t pos, to = c->first;

    for (pos = c->first; pos != c->last; pos++) {
        conn_moved(c, pos, to);
        if (rlt_conn_at(c, pos)->state != RLT_GONE)
            *rlt_conn_at(c, to++) = *rlt_conn_at(c, pos);
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

/* The bytes are in the buffer already. *op is copied field by field, because
 * the caller has just stored each field alone: wider loads would stall the
 * processor. */
static void conn_push(rlt_conn *c, const rlt_op *op)
{
    rlt_op *o = rlt_conn_at(c, c->last++);

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
    if (rlt_conn_counts(o))
        c->outstanding++;
    if (rlt_conn_is_kept(o))
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

    while (rlt_conn_is_batched(rlt_conn_at(c, pos)))
        pos--;
    return pos;
}

RELET_PRIVATE uint8_t *rlt_conn_newest(const rlt_conn *c)
{
    uint64_t start = rlt_conn_start(c, conn_leader(c));

    rlt_assert(start >= c->base);
    return rlt_buf_head(&c->out) + (start - c->base);
}

RELET_PRIVATE size_t rlt_conn_joinable(const rlt_conn *c, const rlt_op *op)
{
    const rlt_op *last = rlt_conn_at(c, c->last - 1);
    uint64_t start;

    if (rlt_conn_idle(c) || c->last - c->first > c->mask ||
        last->state != RLT_LIVE || last->place != op->place ||
        last->deadline != op->deadline || last->flags != op->flags)
        return 0;
    start = rlt_conn_start(c, conn_leader(c));
    return start < c->sent ? 0 : (size_t)(conn_queued(c) - start);
}

RELET_PRIVATE void rlt_conn_join(rlt_conn *c, const rlt_op *op, size_t n)
{
    uint32_t pos = conn_leader(c);

    rlt_conn_commit(c, op, n);
    for (; pos != c->last; pos++)
        rlt_conn_at(c, pos)->end = conn_queued(c);
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
    while (c->unsent != c->last && rlt_conn_at(c, c->unsent)->end <= c->sent)
        c->whole = rlt_conn_at(c, c->unsent++)->end;
    conn_discard(c);
}

/* -------------------------------------------------------------- the queue */

/* Cursors may not stand before the first operation; ended_from matters only
 * while there are ENDED operations. */
static void conn_cursors(rlt_conn *c)
{
    if (rlt_conn_before(c->unsent, c->first))
        c->unsent = c->first;
    if (rlt_conn_before(c->fresh, c->first))
        c->fresh = c->first;
}

static void conn_leave(rlt_conn *c)
{
    c->answered = rlt_conn_at(c, c->first++)->end;
}

RELET_PRIVATE void rlt_conn_sweep(rlt_conn *c)
{
    while (c->first != c->last && rlt_conn_at(c, c->first)->state == RLT_GONE)
        conn_leave(c);
    if (c->first == c->last) /* so that few entries are ever touched */
        c->first = c->last = c->unsent = c->fresh = c->ended_from = 0;
    conn_cursors(c);
    if (c->base != c->whole)
        conn_discard(c);
}

RELET_PRIVATE rlt_op *rlt_conn_front(rlt_conn *c)
{
    rlt_op *op = rlt_conn_at(c, c->first);

    rlt_assert(c->ended == 0);
    if (rlt_conn_idle(c))
        return NULL;
    /* No answer can belong to an operation that was not sent. But MULTI may be
     * answered while its EXEC is not sent yet. */
    if (op->end > c->sent && (op->skip == 0 || c->answered >= c->sent))
        return NULL;
    return op;
}

RELET_PRIVATE int rlt_conn_overdue(const rlt_conn *c)
{
    return !rlt_conn_idle(c) &&
           rlt_conn_at(c, c->first)->state == RLT_TOMBSTONE;
}

RELET_PRIVATE int rlt_conn_owes(const rlt_conn *c, uint64_t tag)
{
    const rlt_op *op = rlt_conn_at(c, c->first);

    return rlt_conn_overdue(c) ||
           (!rlt_conn_idle(c) && (op->flags & RLT_OP_OURS) && op->tag == tag);
}

RELET_PRIVATE void rlt_conn_pop(rlt_conn *c)
{
    rlt_op *op = rlt_conn_at(c, c->first);

    rlt_assert(c->first != c->last);
    if (op->state == RLT_TOMBSTONE)
        c->late++;
    if (op->state == RLT_LIVE && rlt_conn_counts(op))
        c->outstanding--;
    if (op->state == RLT_LIVE && rlt_conn_is_kept(op))
        c->kept_ops--;
    op->state = RLT_GONE;
    rlt_conn_sweep(c);
}

RELET_PRIVATE uint32_t rlt_conn_answer_batch(rlt_conn *c)
{
    uint32_t n = 0;

    for (; rlt_conn_is_led(c, c->first + n); n++) {
        rlt_op *op = rlt_conn_at(c, c->first + n + 1);

        rlt_assert(op->state == RLT_LIVE);
        op->state = RLT_ANSWERED;
        c->kept_ops -= (uint32_t)rlt_conn_is_kept(op);
    }
    return n;
}

RELET_PRIVATE int rlt_conn_take_answered(rlt_conn *c, rlt_op *out)
{
    if (!rlt_conn_has_answered(c))
        return 0;
    *out = *rlt_conn_at(c, c->first);
    c->outstanding--;
    rlt_conn_pop(c);
    return 1;
}

RELET_PRIVATE relet_span rlt_conn_front_bytes(const rlt_conn *c)
{
    relet_span s;

    rlt_assert(rlt_conn_is_kept(rlt_conn_at(c, c->first)));
    rlt_assert(c->answered >= c->base);
    s.p = (const char *)rlt_buf_head(&c->out) + (c->answered - c->base);
    s.n = (size_t)(rlt_conn_at(c, c->first)->end - c->answered);
    return s;
}

RELET_PRIVATE int rlt_conn_again(rlt_conn *c, rlt_class klass, size_t cut,
                                 const relet_span *patch, size_t patches)
{
    rlt_op op = *rlt_conn_at(c, c->first);
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
        op = *rlt_conn_at(c, c->first);
    } while (rlt_conn_is_batched(&op));
    if (RLT_HAS_QUEUE && op.place == RLT_PLACE_BEHIND)
        rlt_conn_at(c, c->first)->place = RLT_PLACE_AGAIN;
    return 0;
}

RELET_PRIVATE int rlt_conn_has_place(const rlt_conn *c, uint32_t place)
{
    uint32_t pos;

    for (pos = c->first; pos != c->last; pos++)
        if (rlt_conn_at(c, pos)->place == place &&
            rlt_conn_at(c, pos)->state == RLT_LIVE)
            return 1;
    return 0;
}

RELET_PRIVATE void rlt_conn_rest(rlt_conn *c)
{
    rlt_buf_shrink(&c->out, 0);
    rlt_reader_rest(&c->reader);
}
