/* SPDX-License-Identifier: MIT
 *
 * conn.h - one byte stream, and the operations that wait for its answers.
 *
 * conn.c sends operations and takes their answers; ending.c ends operations
 * before their answers.
 *
 * An operation is in one of five states. "Due" means that the server still
 * owes answers to it, which have to be taken off the stream in order.
 *
 *   state      means                        event            becomes
 *   ---------  ---------------------------  ---------------  ------------------
 *   LIVE       no outcome yet               its last answer  GONE (reported)
 *                                           time up, cancel  ENDED; PING,
 *                                                            (UN)SUBSCRIBE:
 *                                                            TOMBSTONE
 *                                           link broke       ENDED; PING,
 *                                                            (UN)SUBSCRIBE:
 *                                                            GONE; or stays:
 *                                                            unsent, repeatable
 *                                           its leader's     ANSWERED
 *                                           answer
 *   ANSWERED   batched, outcome known       taken            GONE
 *   ENDED      outcome known, not yet       taken, due       TOMBSTONE
 *              taken                        taken, not due   GONE
 *   TOMBSTONE  ended, but still due         its last answer  GONE
 *                                           link broke       GONE
 *   GONE       finished; is removed at
 *              the front
 *
 * ENDED and ANSWERED operations are taken before the stream is read further, so
 * answers only ever meet LIVE and TOMBSTONE operations.
 *
 * Batched operations stand behind their leader, whose command includes their
 * work: they have no bytes, and one answer is for the whole batch. Until the
 * answer comes, the operations of a batch share everything but tag, class and
 * arg, so they end together. */
#ifndef RLT_CONN_H
#define RLT_CONN_H

#include "base.h"
#include "reader.h"

/* What the server owes to an operation. */
typedef enum rlt_class {
    RLT_OP_PLAIN,      /* one answer                                         */
    RLT_OP_UNIT,       /* a transaction: answers to skip, then EXEC's        */
    RLT_OP_SCRIPT,     /* EVALSHA: after NOSCRIPT it is sent as EVAL         */
    RLT_OP_BATCHED,    /* the answer of its leader                           */
    RLT_OP_PING,       /* the library's: any answer shows that it is alive   */
    RLT_OP_SUBSCRIBE,  /* the library's: one push, or one error              */
    RLT_OP_UNSUBSCRIBE /* the library's: pushes, up to one error, a barrier  */
} rlt_class;

enum { RLT_LIVE, RLT_ANSWERED, RLT_ENDED, RLT_TOMBSTONE, RLT_GONE };

/* Flags beside the public RELET_REPEATABLE. */
enum {
    RLT_OP_UNWATCHED = 2, /* an UNWATCH; a WATCH that no transaction counts
                           * on; a transaction that ended with its WATCH      */
    RLT_OP_WATCHED = 4, /* a WATCH, or a transaction that relies on one      */
    RLT_OP_DUE = 8,     /* ended, but its answers are still to come          */
    RLT_OP_TIMED = 16,  /* deadline is a time, no longer a duration          */
    RLT_OP_UNSURE = 32, /* it may have run: it can never end NOT_SENT        */
    RLT_OP_CUT = 64,    /* ended unsent: its bytes are to be removed         */
    RLT_OP_OURS = 128   /* like a user's, but its outcome goes to a lease or a
                         * worker; unless repeatable, it ends with its link,
                         * sent or not                                       */
};

/* BEHIND: the operation relies on the operation before it. AGAIN: the operation
 * before it was sent again and now follows it, so it is sent again, too. */
#define RLT_PLACE_BEHIND (UINT32_MAX - 1)
#define RLT_PLACE_AGAIN UINT32_MAX

typedef struct rlt_op {
    uint64_t tag;
    uint64_t end;        /* stream position behind its last byte             */
    relet_time deadline; /* a duration until a tick has seen it              */
    uint32_t arg;        /* the script's number; the subscription's slot;
                          * batched: jobs before its own in the command;
                          * else: the first value of `skip`                  */
    uint32_t skip;       /* answers that come before the one that counts     */
    uint32_t place;      /* of a put, from 1 on; 0: none; or RLT_PLACE_…     */
    uint8_t klass;       /* rlt_class                                        */
    uint8_t flags;
    uint8_t state;
    uint8_t why; /* relet_why of an ENDED operation                          */
} rlt_op;

typedef struct rlt_conn_plan {
    rlt_reader_plan reader;
    rlt_op *ops; /* a ring: a power of two                                   */
    uint32_t ops_cap;
    size_t output_max;
    void *out_block; /* without a resize hook                                */
} rlt_conn_plan;

typedef struct rlt_conn {
    rlt_op *ops;
    uint32_t mask;
    uint32_t first, last;  /* ring positions: [first, last), wrapping        */
    uint32_t unsent;       /* first operation not wholly given to the driver */
    uint32_t fresh;        /* first operation no tick has seen yet           */
    uint32_t ended_from;   /* no ENDED operation stands before this one      */
    uint32_t ended;        /* number of ENDED operations                     */
    uint32_t outstanding;  /* the user's operations without an outcome       */
    uint32_t kept_ops;     /* LIVE operations whose bytes must be kept       */
    uint8_t unguarded;     /* a WATCH has ended NOT_SENT: see ending_unguard */
    uint8_t watch_gone;    /* a WATCH failed, its transaction is to come     */
    uint64_t base;         /* stream position of the first byte in out       */
    uint64_t sent;         /* stream position of the next byte to send       */
    uint64_t answered;     /* end of the last operation that left            */
    uint64_t whole;        /* end of the last operation wholly sent          */
    relet_time earliest;   /* no deadline of a timed operation is before it  */
    relet_time soonest;    /* shortest duration of a fresh operation         */
    rlt_buf out;
    uint64_t late, repeated;
    rlt_reader reader; /* the incoming half of the stream                    */
} rlt_conn;

RELET_PRIVATE void rlt_conn_init(rlt_conn *c, const rlt_conn_plan *p);
RELET_PRIVATE void rlt_conn_free(rlt_conn *c);

/* --- submitting: begin, write exactly that many bytes, commit. */

/* Room for n bytes and one operation: 0 and *out, RELET_E_LIMIT, _MEMORY. */
RELET_PRIVATE int rlt_conn_begin(rlt_conn *c, size_t n, uint8_t **out);
RELET_PRIVATE void rlt_conn_commit(rlt_conn *c, const rlt_op *op, size_t n);

/* Returns the length of the newest command, at the end of `out`, if *op may be
 * batched with it: both have the same place, deadline and flags, and no byte of
 * the command was sent. Else returns 0. */
RELET_PRIVATE size_t rlt_conn_joinable(const rlt_conn *c, const rlt_op *op);

/* Batch *op with the newest command, which has become n bytes longer. */
RELET_PRIVATE void rlt_conn_join(rlt_conn *c, const rlt_op *op, size_t n);

/* The first byte of the newest command. */
RELET_PRIVATE uint8_t *rlt_conn_newest(const rlt_conn *c);

/* --- what goes out */

RELET_PRIVATE size_t rlt_conn_pending(const rlt_conn *c, const uint8_t **p);
RELET_PRIVATE void rlt_conn_sent(rlt_conn *c, size_t n);

/* --- the queue */

/* The operation with this ring position. */
RLT_SHORT rlt_op *rlt_conn_at(const rlt_conn *c, uint32_t pos)
{
    return &c->ops[pos & c->mask];
}

/* The operation that the next answer belongs to; NULL when none is due. */
RELET_PRIVATE rlt_op *rlt_conn_front(rlt_conn *c);

/* Idle: 1 if no operation is queued or due. Overdue: 1 if the next answer is
 * for a TOMBSTONE, so it is late: the link may be dead, or only slow. */
RLT_SHORT int rlt_conn_idle(const rlt_conn *c)
{
    return c->first == c->last;
}

RELET_PRIVATE int rlt_conn_overdue(const rlt_conn *c);

/* 1 if the next answer is for the RLT_OP_OURS operation with this tag, or if
 * the next answer is overdue. */
RELET_PRIVATE int rlt_conn_owes(const rlt_conn *c, uint64_t tag);

/* The answer to the front operation is for its batched operations, too: they
 * become ANSWERED. Returns their number. */
RELET_PRIVATE uint32_t rlt_conn_answer_batch(rlt_conn *c);

/* Take the next ANSWERED operation: 1 and *out as it was, or 0. */
RLT_SHORT int rlt_conn_has_answered(const rlt_conn *c)
{
    return !rlt_conn_idle(c) &&
           rlt_conn_at(c, c->first)->state == RLT_ANSWERED;
}

RELET_PRIVATE int rlt_conn_take_answered(rlt_conn *c, rlt_op *out);

/* Removes the front operation, which has had its last answer. */
RELET_PRIVATE void rlt_conn_pop(rlt_conn *c);

/* The front operation has had its last answer, and it is safe to run it anew:
 * send the operation again as the newest one, of this class, with its first
 * `cut` bytes replaced by the patches. Returns 0; or a code, and nothing was
 * changed. The operation's bytes must be kept. Where p of a patch is NULL, the
 * caller writes its n bytes afterwards. */
RELET_PRIVATE int rlt_conn_again(rlt_conn *c, rlt_class klass, size_t cut,
                                 const relet_span *patch, size_t patches);

/* The bytes of the front operation, a script's or a repeatable one's. */
RELET_PRIVATE relet_span rlt_conn_front_bytes(const rlt_conn *c);

/* Whether a user's operation has this tag and its outcome was not taken yet. */
RELET_PRIVATE int rlt_conn_has_tag(const rlt_conn *c, uint64_t tag);

/* Whether a LIVE operation has this place. */
RELET_PRIVATE int rlt_conn_has_place(const rlt_conn *c, uint32_t place);

/* End every LIVE operation of the user's with this tag, except those that are
 * in a batch. Returns their number. With an heir the operations do not end:
 * they become RLT_OP_OURS, with *heir as their tag. */
RELET_PRIVATE size_t rlt_conn_cancel(rlt_conn *c, uint64_t tag,
                                     const uint64_t *heir);

/* The front operation is a WATCH that is not in force: an unsent transaction
 * that counts on the WATCH ends. */
RELET_PRIVATE void rlt_conn_watch_refused(rlt_conn *c);

/* Time has passed. `expire`: end the operations whose time is up. */
RELET_PRIVATE void rlt_conn_tick(rlt_conn *c, relet_time now, int expire);
RELET_PRIVATE relet_time rlt_conn_deadline(const rlt_conn *c, relet_time now);

/* The link is gone. `last`: no operation is kept for a next link. */
RELET_PRIVATE void rlt_conn_break(rlt_conn *c, relet_why why, int last);

/* Take the next ENDED operation: 1, *out as it was, *unsure when bytes of it
 * may have reached the server. */
RELET_PRIVATE int rlt_conn_take_ended(rlt_conn *c, rlt_op *out, int *unsure);

/* Nothing is outstanding: give memory back. */
RELET_PRIVATE void rlt_conn_rest(rlt_conn *c);

/* ----------------------------------------------- inside conn.c and ending.c */

RLT_SHORT int rlt_conn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

RLT_SHORT int rlt_conn_is_users(const rlt_op *op)
{
    return op->klass <= RLT_OP_BATCHED;
}

/* Whether the outcome of the operation is for a lease or a worker. */
RLT_SHORT int rlt_conn_is_ours(const rlt_op *op)
{
    return RLT_HAS_ENGINE && (op->flags & RLT_OP_OURS) != 0;
}

/* Whether the operation is batched. */
RLT_SHORT int rlt_conn_is_batched(const rlt_op *op)
{
    return RLT_HAS_QUEUE && op->klass == RLT_OP_BATCHED;
}

/* Whether the operation counts as the user's, in `outstanding`. */
RLT_SHORT int rlt_conn_counts(const rlt_op *op)
{
    return rlt_conn_is_users(op) && !rlt_conn_is_ours(op);
}

/* Whether the operation's bytes are kept after they were sent. */
RLT_SHORT int rlt_conn_is_kept(const rlt_op *op)
{
    return op->klass == RLT_OP_SCRIPT || (op->flags & RELET_REPEATABLE);
}

/* The stream position of its first byte. */
RLT_SHORT uint64_t rlt_conn_start(const rlt_conn *c, uint32_t pos)
{
    return pos == c->first ? c->answered : rlt_conn_at(c, pos - 1)->end;
}

/* Whether the operation behind this one is batched with it. */
RLT_SHORT int rlt_conn_is_led(const rlt_conn *c, uint32_t pos)
{
    return RLT_HAS_QUEUE && pos + 1 != c->last &&
           rlt_conn_is_batched(rlt_conn_at(c, pos + 1));
}

/* Removes GONE operations at the front, with their bytes. */
RELET_PRIVATE void rlt_conn_sweep(rlt_conn *c);

#endif
