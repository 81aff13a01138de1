/* SPDX-License-Identifier: MIT
 *
 * tape.h - the tape of nodes that a scan leaves, with its open and closed
 * aggregates, and the state of a scan.
 *
 * The state is here because the tape changes it while the scanner reads. There
 * is no stack: the node of an open aggregate holds the index of the aggregate
 * around it. */
#ifndef RLT_TAPE_H
#define RLT_TAPE_H

#include "line.h"

/* Limits that no setting lifts: beyond them the position in the stream is no
 * longer trusted. The first is the servers' cap on a string, the second lets
 * twice a count fit in 32 bits. */
#define RLT_SCAN_BULK_HARD 536870912u
#define RLT_SCAN_COUNT_HARD 2147483647u
#define RLT_SCAN_DEPTH_HARD 128u
#define RLT_SCAN_LINE_DEFAULT 65536u

/* A frame beyond one of these limits is judged to its end but not kept. */
typedef struct rlt_scan_limits {
    uint32_t line_max;  /* bytes of a text line                              */
    uint32_t bulk_max;  /* bytes of a string, streamed ones as a whole       */
    uint32_t count_max; /* elements of an aggregate, pairs of a map          */
    uint32_t depth_max; /* aggregates, attributes and pushes inside another  */
} rlt_scan_limits;

typedef enum rlt_verdict {
    RLT_SCAN_MORE,    /* nothing can change before need bytes are there      */
    RLT_SCAN_VALUE,   /* a whole top-level value is lent                     */
    RLT_SCAN_PUSH,    /* a push is lent, perhaps inside an unfinished value  */
    RLT_SCAN_TAPE,    /* the tape is full                                    */
    RLT_SCAN_SKIPPED, /* a skipped frame has ended; skip_why says why        */
    RLT_SCAN_ERROR    /* not valid: see `error`; judging stopped at `at`     */
} rlt_verdict;

/* Why a frame is skipped. The last two are for the caller of rlt_scan_skip. */
typedef enum rlt_scan_why {
    RLT_SKIP_NONE,
    RLT_SKIP_LINE,
    RLT_SKIP_BULK,
    RLT_SKIP_COUNT,
    RLT_SKIP_DEPTH,
    RLT_SKIP_BYTES, /* no room for the frame's bytes                         */
    RLT_SKIP_TAPE   /* no room for its nodes                                 */
} rlt_scan_why;

/* The private layout of relet_node. `kind` is a relet_type, or
 * RELET_NODE_ATTRIBUTE or RELET_NODE_END.
 *
 *   text, double, big   len bytes at offset payload; a verbatim's format
 *                       stands at payload - 4
 *   int, bool           payload is the value
 *   closed aggregate    len elements (pairs), payload nodes in its subtree
 *   open aggregate      payload is the index of the aggregate around it and
 *                       the number of values still missing in that one
 *   attribute           a closed map, its subtree ending in an END whose len
 *                       leads back to it; the described value follows
 *   END                 also behind the last node of a loan; payload is -1,
 *                       so relet_value_next stays on an END                */

#define RLT_NODE_OPEN 1u      /* still being scanned                         */
#define RLT_NODE_DESCRIBED 2u /* the node before is its attribute's END      */
#define RLT_NODE_APART 4u     /* a push or attribute: not an element         */
#define RLT_NODE_STREAMED 8u  /* ends at a '.' line, not at a count          */
#define RLT_NODE_OVER 16u     /* streamed, and already over count_max        */

/* Other modules may read at, need, error, skip_why, skip_push, lost_pushes. */
typedef struct rlt_scan {
    size_t at;   /* bytes of this frame judged                               */
    size_t need; /* bytes from its start before anything can change          */
    relet_node *tape;
    uint32_t tape_cap;
    uint32_t top;     /* nodes on the tape                                   */
    uint32_t open;    /* innermost open aggregate, or RLT_SCAN_AT_TOP        */
    uint32_t left;    /* values still missing in it                          */
    uint32_t depth;   /* open aggregates                                     */
    uint32_t result;  /* the node that is lent                               */
    uint8_t verdict;  /* rlt_scan_run repeats it until rlt_scan_next         */
    uint8_t phase;
    uint8_t skipping;
    uint8_t described; /* an attribute waits for its value                   */
    uint8_t pushes;  /* 1 inside a push                                      */
    uint8_t attributes; /* open attributes                                   */
    uint8_t skip_push;  /* the skipped frame was a push                      */
    uint8_t joining;    /* inside a streamed string                          */
    uint32_t rest;      /* payload bytes not yet seen                        */
    uint32_t join_len;  /* bytes of a streamed string joined so far …        */
    size_t join_at;     /* … and the offset of the first                     */
    uint32_t lost_pushes; /* pushes dropped inside a skipped frame           */
    int error;            /* rlt_scan_error                                  */
    int skip_why;         /* rlt_scan_why                                    */
    rlt_line line; /* the current line, or the line before the payload       */
    rlt_scan_limits limits;
} rlt_scan;

#define RLT_SCAN_AT_TOP UINT32_MAX /* no aggregate is open */

/* The position of the scanner in an item. */
typedef enum rlt_scan_phase {
    RLT_SCAN_AT_PLAIN,  /* the first byte; the fast path may try             */
    RLT_SCAN_AT_TYPE,   /* the first byte, for the careful path only         */
    RLT_SCAN_AT_LINE,   /* in the line                                       */
    RLT_SCAN_AT_FORMAT, /* the first four bytes of a verbatim                */
    RLT_SCAN_AT_PAYLOAD,
    RLT_SCAN_AT_TAIL,   /* CRLF behind a payload                             */
    RLT_SCAN_AT_TOLD    /* at a verdict, until rlt_scan_next                 */
} rlt_scan_phase;

static inline void rlt_tape_tell(rlt_scan *s, rlt_verdict verdict)
{
    s->verdict = (uint8_t)verdict;
    s->phase = RLT_SCAN_AT_TOLD;
}

static inline void rlt_tape_fail(rlt_scan *s, rlt_scan_error error)
{
    s->error = (int)error;
    rlt_tape_tell(s, RLT_SCAN_ERROR);
}

static inline void rlt_tape_set(relet_node *node, unsigned kind,
                                unsigned flags, uint32_t len, int64_t payload)
{
    node->kind = (uint8_t)kind;
    node->flags = (uint8_t)flags;
    node->spare = 0;
    node->len = len;
    node->payload = payload;
}

static inline int64_t rlt_tape_above(uint32_t open, uint32_t left)
{
    return (int64_t)((uint64_t)left << 32 | open);
}

/* Puts an END behind the nodes on loan, so that a step past the last of them
 * still reads a node. */
static inline void rlt_tape_lend(rlt_scan *s, uint32_t result,
                                 rlt_verdict verdict)
{
    s->result = result;
    rlt_tape_tell(s, verdict);
    rlt_tape_set(&s->tape[s->top], RELET_NODE_END, 0, 0, -1);
}

/* Begins a new frame. */
RELET_PRIVATE void rlt_tape_begin(rlt_scan *s);

/* leaf adds a leaf, open begins an aggregate, end ends the innermost aggregate,
 * close ends every aggregate that has all its values, from the inside out.
 * leaf and open include a close. The frame ends with its outermost value. */
RELET_PRIVATE void rlt_tape_leaf(rlt_scan *s, unsigned kind, uint64_t len,
                                 int64_t payload);
RELET_PRIVATE void rlt_tape_open(rlt_scan *s, unsigned kind, uint32_t count,
                                 unsigned flags);
RELET_PRIVATE void rlt_tape_end(rlt_scan *s);
RELET_PRIVATE void rlt_tape_close(rlt_scan *s);

/* The initial `left` of a streamed aggregate: one more than the number of
 * values that the aggregate may have. So `left` 0 means that the aggregate is
 * over its cap, while any other aggregate is complete at 0. */
RELET_PRIVATE uint32_t rlt_tape_stream_room(const relet_node *node,
                                            uint32_t count);

/* Sets phase and need after an item, or a part of an item, was judged. */
RELET_PRIVATE void rlt_tape_settle(rlt_scan *s);

/* Takes a push inside a value off the tape, with the push's attributes. */
RELET_PRIVATE void rlt_tape_undo(rlt_scan *s);

/* Begins skip mode: from here on the tape holds only open aggregates. */
RELET_PRIVATE void rlt_tape_skip(rlt_scan *s, int why);

#endif
