/* SPDX-License-Identifier: MIT
 *
 * conn.h - one byte stream, and the operations that wait for its answers.
 *
 * An operation is in one of five states. "Due" means that the server still
 * owes answers to it, which have to be taken off the stream in order.
 *
 *   state   means                          event            becomes
 *   ------  -----------------------------  ---------------  ---------------
 *   LIVE    no outcome yet                 its last answer  GONE (reported)
 *                                          time up, cancel  ENDED; ours: TOLD
 *                                          link broke       ENDED, or stays:
 *                                                           unsent, repeatable
 *                                          its leader's     RIPE
 *                                          answer
 *   RIPE    a rider's outcome is known     taken            GONE
 *   ENDED   outcome known, not yet taken   taken, due       TOLD
 *                                          taken, not due   GONE
 *   TOLD    a tombstone: due, no more      its last answer  GONE
 *                                          link broke       GONE
 *   GONE    nothing; leaves at the front
 *
 * ENDED and RIPE operations are taken before the stream is read further, so
 * answers only ever meet LIVE and TOLD ones.
 *
 * Riders stand behind their leader, whose command does their work, too: they
 * have no bytes, and one answer is for all of them. Until it comes they share
 * everything but their tags, so they end together. */
#ifndef RLT_CONN_H
#define RLT_CONN_H

#include "base.h"
#include "reader.h"

/* What the server owes to an operation. */
typedef enum rlt_class {
    RLT_OP_PLAIN,      /* one answer                                         */
    RLT_OP_UNIT,       /* MULTI: answers to swallow, then EXEC's             */
    RLT_OP_SCRIPT,     /* EVALSHA: NOSCRIPT is not the end                   */
    RLT_OP_BATCHED,    /* that of its leader                                 */
    RLT_OP_PING,       /* ours: any answer is good news                      */
    RLT_OP_SUBSCRIBE,  /* ours: one push, or one error                       */
    RLT_OP_UNSUBSCRIBE /* ours: pushes and at most one error, then a barrier */
} rlt_class;

enum { RLT_LIVE, RLT_ANSWERED, RLT_ENDED, RLT_TOMBSTONE, RLT_GONE };

/* Flags beside the public RELET_REPEATABLE. */
enum {
    RLT_OP_UNWATCHED = 2, /* an UNWATCH; a WATCH that nothing counts on any
                           * more; a transaction that ended with its WATCH    */
    RLT_OP_WATCHED = 4, /* a WATCH, or a transaction that relies on one      */
    RLT_OP_DUE = 8,     /* ended, but its answers are still to come          */
    RLT_OP_TIMED = 16,  /* deadline is a time, no longer a duration          */
    RLT_OP_UNSURE = 32, /* it may have run: it can never end NOT_SENT        */
    RLT_OP_CUT = 64,    /* its bytes are about to leave the queue            */
    RLT_OP_OURS = 128   /* like a user's, but its outcome is a lease's or a
                         * worker's; unless it is repeatable it ends with its
                         * link, sent or not                                 */
};

/* An operation that counts on the one in front of it; and one that did in
 * vain, since that one is sent again, behind it: then so is this. */
#define RLT_PLACE_BEHIND (UINT32_MAX - 1)
#define RLT_PLACE_AGAIN UINT32_MAX

typedef struct rlt_op {
    uint64_t tag;
    uint64_t end;        /* position in the stream behind its last byte      */
    relet_time deadline; /* a duration until the first tick has seen it      */
    uint32_t arg;        /* number of the script, slot of the subscription,
                          * what stands before a rider's in their command    */
    uint32_t skip;       /* answers that come before the one that counts     */
    uint32_t place;      /* from 1 on; 0: none; or RLT_PLACE_…               */
    uint8_t klass;       /* rlt_class                                        */
    uint8_t flags;
    uint8_t state;
    uint8_t why; /* relet_why of an ended one                                */
} rlt_op;

typedef struct rlt_conn_plan {
    rlt_reader_plan reader;
    rlt_op *ops; /* a ring: a power of two                                   */
    uint32_t ops_cap;
    size_t output_max;
    void *out_block; /* without a resize hook                                */
} rlt_conn_plan;

typedef struct rlt_conn {
    rlt_reader reader; /* the half of the stream that comes in               */
    rlt_buf out;
    rlt_op *ops;
    uint32_t mask;
    uint32_t first, last;  /* ring positions: [first, last), wrapping        */
    uint32_t unsent;       /* first operation not wholly given to the driver */
    uint32_t fresh;        /* first operation no tick has seen yet           */
    uint32_t ended_from;   /* no ENDED operation stands before this one      */
    uint32_t ended;        /* how many ENDED                                 */
    uint32_t outstanding;  /* operations of the user's without an outcome    */
    uint32_t kept_ops;     /* LIVE ones whose bytes must be kept             */
    uint8_t unguarded;     /* a WATCH has ended NOT_SENT: see conn_unguard   */
    uint8_t watch_gone;    /* … or refused, and its transaction is to come   */
    uint64_t base;         /* stream position of the first byte in out       */
    uint64_t sent;         /* stream position of the next byte to send       */
    uint64_t answered;     /* end of the last operation that left            */
    uint64_t whole;        /* end of the last operation wholly sent          */
    relet_time earliest;   /* no deadline of a timed operation is before it  */
    relet_time soonest;    /* shortest duration of a fresh one               */
    uint64_t late, repeated;
} rlt_conn;

RELET_PRIVATE void rlt_conn_init(rlt_conn *c, const rlt_conn_plan *p);
RELET_PRIVATE void rlt_conn_free(rlt_conn *c);

/* --- submitting: begin, write exactly that many bytes, commit. */

/* Room for n bytes and one operation: 0 and *out, RELET_E_LIMIT, _MEMORY. */
RELET_PRIVATE int rlt_conn_begin(rlt_conn *c, size_t n, uint8_t **out);
RELET_PRIVATE void rlt_conn_commit(rlt_conn *c, const rlt_op *op, size_t n);

/* How long the newest command is, at the end of `out`, if *op may ride with
 * it: of its place and time, and no byte was sent of it. Else 0. */
RELET_PRIVATE size_t rlt_conn_joinable(const rlt_conn *c, const rlt_op *op);

/* So it does, and the command has become n bytes longer. */
RELET_PRIVATE void rlt_conn_join(rlt_conn *c, const rlt_op *op, size_t n);

/* --- what goes out */

RELET_PRIVATE size_t rlt_conn_pending(const rlt_conn *c, const uint8_t **p);
RELET_PRIVATE void rlt_conn_sent(rlt_conn *c, size_t n);

/* --- the queue */

/* The operation that the next answer belongs to; NULL when none is due. */
RELET_PRIVATE rlt_op *rlt_conn_front(rlt_conn *c);

/* 1 when nothing is queued or due; 1 when the answer that is due next did not
 * come in its time: the link may be dead, or only slow. */
RELET_PRIVATE int rlt_conn_idle(const rlt_conn *c);
RELET_PRIVATE int rlt_conn_overdue(const rlt_conn *c);

/* 1 when nothing that has time left stands before ours with this tag. */
RELET_PRIVATE int rlt_conn_owes(const rlt_conn *c, uint64_t tag);

/* The answer to the front operation is that of its riders, too. How many. */
RELET_PRIVATE uint32_t rlt_conn_answer_batch(rlt_conn *c);

/* The next RIPE one, as it was: 1, or 0. */
RELET_PRIVATE int rlt_conn_take_answered(rlt_conn *c, rlt_op *out);

/* It has had its last answer. */
RELET_PRIVATE void rlt_conn_pop(rlt_conn *c);

/* It has had its last answer, which proved that it did not run: send it again
 * as the newest one, of this class, with its first `cut` bytes replaced by the
 * patches. 0; or a code, and nothing was changed. Its bytes must be kept. */
RELET_PRIVATE int rlt_conn_again(rlt_conn *c, rlt_class klass, size_t cut,
                                 const relet_span *patch, size_t patches);

/* The bytes of the front operation, which must be kept. */
RELET_PRIVATE relet_span rlt_conn_front_bytes(const rlt_conn *c);

/* Whether an operation is waited for that has this place. */
RELET_PRIVATE int rlt_conn_has_place(const rlt_conn *c, uint32_t place);

/* End every LIVE operation of the user's own with this tag, but for riders and
 * those that have some. How many. With an heir they are not ended: they are
 * ours from now on, by this tag. */
RELET_PRIVATE size_t rlt_conn_cancel(rlt_conn *c, uint64_t tag,
                                     const uint64_t *heir);

/* The front operation is a WATCH that is not in force. */
RELET_PRIVATE void rlt_conn_watch_refused(rlt_conn *c);

/* Time has passed: end what is overdue. */
RELET_PRIVATE void rlt_conn_tick(rlt_conn *c, relet_time now, int expire);
RELET_PRIVATE relet_time rlt_conn_deadline(const rlt_conn *c, relet_time now);

/* The link is gone. `last`: nothing is kept for a next one. */
RELET_PRIVATE void rlt_conn_break(rlt_conn *c, relet_why why, int last);

/* Take the next ENDED operation: 1, *out as it was, *unsure when bytes of it
 * may have reached the server. */
RELET_PRIVATE int rlt_conn_take_ended(rlt_conn *c, rlt_op *out, int *unsure);

/* Nothing is outstanding: give memory back. */
RELET_PRIVATE void rlt_conn_rest(rlt_conn *c);

#endif
