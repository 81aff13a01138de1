/* SPDX-License-Identifier: MIT
 *
 * tape.h - the tape that a scan leaves: what is open, what is closed.
 *
 * The state of a scan lives here too: it is the tape's that is written while
 * the scanner reads. There is no stack, an open aggregate's node remembers the
 * node above it. */
#ifndef RLT_TAPE_H
#define RLT_TAPE_H

#include "line.h"

/* What no setting lifts: beyond these the position in the stream is no longer
 * believed. The first is what servers cap a string at, the second lets twice
 * a count fit 32 bits. */
#define RLT_SCAN_BULK_HARD 536870912u
#define RLT_SCAN_COUNT_HARD 2147483647u
#define RLT_SCAN_DEPTH_HARD 128u
#define RLT_SCAN_LINE_DEFAULT 65536u

/* A frame beyond one of these is judged to its end without being kept. */
typedef struct rlt_scan_limits {
    uint32_t line_max;  /* bytes of a text line                              */
    uint32_t bulk_max;  /* bytes of a string, streamed ones as a whole       */
    uint32_t count_max; /* elements of an aggregate, pairs of a map          */
    uint32_t depth_max; /* aggregates, attributes and pushes inside another  */
} rlt_scan_limits;

typedef enum rlt_verdict {
    RLT_SCAN_MORE,    /* nothing can change before need bytes are there      */
    RLT_SCAN_VALUE,   /* a whole top-level value is lent                     */
    RLT_SCAN_PUSH,    /* a whole push is, perhaps inside an unfinished value */
    RLT_SCAN_TAPE,    /* the tape is full                                    */
    RLT_SCAN_SKIPPED, /* a frame over a cap has ended; skip_why says which   */
    RLT_SCAN_ERROR    /* no value here: error, first wrong byte at `at`      */
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
 *   open aggregate      payload is the node above and what is left of that
 *   attribute           a closed map, its subtree ending in an END whose len
 *                       leads back to it; the described value follows
 *   END                 also behind the last node of what is lent; payload is
 *                       -1: with no nodes in it, a walk stays there        */

#define RLT_NODE_OPEN 1u      /* still being scanned                         */
#define RLT_NODE_DESCRIBED 2u /* the node before is its attribute's END      */
#define RLT_NODE_APART 4u     /* a push or attribute: not an element         */
#define RLT_NODE_STREAMED 8u  /* ends at a full stop, not at a count         */
#define RLT_NODE_OVER 16u     /* streamed, and already over count_max        */

/* Others read: at, need, error, skip_why, skip_push, lost_pushes. */
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
    uint8_t verdict;  /* what run says again until rlt_scan_next             */
    uint8_t phase;
    uint8_t skipping;
    uint8_t described; /* an attribute waits for its value                   */
    uint8_t pushes;  /* 1 inside a push                                      */
    uint8_t attributes; /* open ones                                         */
    uint8_t skip_push;  /* the skipped frame was a push                      */
    uint8_t joining;    /* inside a streamed string                          */
    uint32_t rest;      /* payload bytes not yet seen                        */
    uint32_t join_len;  /* a streamed string, as far as it is joined …       */
    size_t join_at;     /* … and where                                       */
    uint32_t lost_pushes; /* swallowed inside a skipped frame                */
    int error;            /* rlt_scan_error                                  */
    int skip_why;         /* rlt_scan_why                                    */
    rlt_line line; /* the one at hand, or that the payload at hand belongs to */
    rlt_scan_limits limits;
} rlt_scan;

#define RLT_SCAN_AT_TOP UINT32_MAX /* no aggregate is open */

/* Where in an item the scanner stands. */
typedef enum rlt_scan_phase {
    RLT_SCAN_AT_PLAIN,  /* its first byte; the fast path may try             */
    RLT_SCAN_AT_TYPE,   /* its first byte, for the careful path alone        */
    RLT_SCAN_AT_LINE,   /* in its line                                       */
    RLT_SCAN_AT_FORMAT, /* the first four bytes of a verbatim                */
    RLT_SCAN_AT_PAYLOAD,
    RLT_SCAN_AT_TAIL,   /* CRLF behind a payload                             */
    RLT_SCAN_AT_TOLD    /* nowhere, until the verdict has been heard         */
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

/* Behind what is lent stands an END, so that a walk past it reads a node. */
static inline void rlt_tape_lend(rlt_scan *s, uint32_t result,
                                 rlt_verdict verdict)
{
    s->result = result;
    rlt_tape_tell(s, verdict);
    rlt_tape_set(&s->tape[s->top], RELET_NODE_END, 0, 0, -1);
}

/* A new frame. */
RELET_PRIVATE void rlt_tape_begin(rlt_scan *s);

/* A leaf; an aggregate opens; the innermost one ends; all that have what they
 * want end. Each sees to what is above, up to the end of the frame. */
RELET_PRIVATE void rlt_tape_leaf(rlt_scan *s, unsigned kind, uint64_t len,
                                 int64_t payload);
RELET_PRIVATE void rlt_tape_open(rlt_scan *s, unsigned kind, uint32_t count,
                                 unsigned flags);
RELET_PRIVATE void rlt_tape_end(rlt_scan *s);
RELET_PRIVATE void rlt_tape_close(rlt_scan *s);

/* What a streamed aggregate starts with as left: one more than it may have, so
 * that being over the cap shows where every other aggregate ends. */
RELET_PRIVATE uint32_t rlt_tape_stream_room(const relet_node *node,
                                            uint32_t count);

/* What is needed now that an item, or a part of it, has been judged. */
RELET_PRIVATE void rlt_tape_settle(rlt_scan *s);

/* A push inside a value leaves the tape, with what was said about it. */
RELET_PRIVATE void rlt_tape_undo(rlt_scan *s);

/* Only what is still open is known from here on. */
RELET_PRIVATE void rlt_tape_skip(rlt_scan *s, int why);

#endif
