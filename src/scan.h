/* SPDX-License-Identifier: MIT
 *
 * scan.h - bytes to judged values: the only room that meets hostile bytes.
 *
 * The caller owns a buffer and shows the scanner the current frame: a push, or
 * a value with all that stands inside it. The scanner judges each byte once
 * and leaves a tape of nodes over the bytes in place; offsets are relative to
 * the frame's first byte, so the buffer may move whenever no call is running.
 *
 *     rlt_scan_run  ──MORE────► bring bytes: to n >= need; in skip mode drop
 *                   ──VALUE───► read rlt_scan_value, then rlt_scan_next
 *                   ──PUSH────► the same; the frame may go on after it
 *                   ──TAPE────► rlt_scan_tape or rlt_scan_skip, run again
 *                   ──SKIPPED─► rlt_scan_next
 *                   ──ERROR───► the end; every further run says so again
 */
#ifndef RLT_SCAN_H
#define RLT_SCAN_H

#include "base.h"

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

typedef enum rlt_scan_error {
    RLT_SCAN_E_NONE,
    RLT_SCAN_E_TYPE,   /* no type begins with this byte                      */
    RLT_SCAN_E_LINE,   /* CR without LF, LF without CR                       */
    RLT_SCAN_E_CRLF,   /* a string does not end where it said                */
    RLT_SCAN_E_INT,    /* not a 64-bit integer                               */
    RLT_SCAN_E_LEN,    /* not a length or count                              */
    RLT_SCAN_E_LIMIT,  /* a length or count beyond the hard limit            */
    RLT_SCAN_E_DEPTH,  /* nested beyond the hard limit, or beyond the tape   */
    RLT_SCAN_E_NULL,
    RLT_SCAN_E_BOOL,
    RLT_SCAN_E_DOUBLE,
    RLT_SCAN_E_VERB,   /* verbatim without its format                        */
    RLT_SCAN_E_PUSH,   /* a push inside a push or an attribute               */
    RLT_SCAN_E_STREAM  /* a streamed value that is not one                   */
} rlt_scan_error;

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

/* The private layout of relet_node. `kind` is a relet_type or one of these.
 *
 *   text, double, big   len bytes at offset payload; a verbatim's format
 *                       stands at payload - 4
 *   int, bool           payload is the value
 *   closed aggregate    len elements (pairs), payload nodes in its subtree
 *   open aggregate      payload is the node above and what is left of that
 *   attribute           a closed map, its subtree ending in an END whose len
 *                       leads back to it; the described value follows
 *   END                 also behind the last node of what is lent; payload
 *                       -1, so that its subtree has no nodes: next stays      */
#define RLT_NODE_ATTRIBUTE 12u
#define RLT_NODE_END 13u

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
    uint32_t open;    /* innermost open aggregate, or SCAN_TOP               */
    uint32_t left;    /* values still missing in it                          */
    uint32_t depth;   /* open aggregates                                     */
    uint32_t result;  /* the node that is lent                               */
    uint8_t verdict;  /* what run says again until rlt_scan_next             */
    uint8_t phase;
    uint8_t skipping;
    uint8_t described; /* an attribute waits for its value                   */
    uint8_t type;      /* of the item at hand, as on the wire                */
    uint8_t minus;
    uint8_t digits;
    uint8_t grammar; /* how far a double has come; else 1: streamed          */
    uint8_t pushes;  /* 1 inside a push                                      */
    uint8_t attributes; /* open ones                                         */
    uint8_t skip_push;  /* the skipped frame was a push                      */
    uint64_t number;    /* value, length, count, or text bytes so far        */
    uint32_t rest;      /* payload bytes not yet seen                        */
    uint32_t join_len;  /* a streamed string, as far as it is joined …       */
    size_t join_at;     /* … and where                                       */
    uint32_t lost_pushes; /* swallowed inside a skipped frame                */
    int error;            /* rlt_scan_error                                  */
    int skip_why;         /* rlt_scan_why                                    */
    rlt_scan_limits limits;
} rlt_scan;

/* The tape needs RLT_SCAN_DEPTH_HARD + 2 nodes to get over any frame in skip
 * mode; with fewer, one nested deeper is an error. Never fewer than 3. Limits
 * over the hard ones are the hard ones. */
RELET_PRIVATE void rlt_scan_init(rlt_scan *s, const rlt_scan_limits *l,
                                 relet_node *tape, uint32_t tape_cap);

/* The tape was moved or grown, what it held is still in it. */
RELET_PRIVATE void rlt_scan_tape(rlt_scan *s, relet_node *tape,
                                 uint32_t tape_cap);

/* Judge. `frame` is the first byte of the current frame, n bytes are there,
 * never fewer than last time. Streamed strings are joined in place, so bytes
 * before `at` may change. */
RELET_PRIVATE rlt_verdict rlt_scan_run(rlt_scan *s, uint8_t *frame, size_t n);

/* After VALUE or PUSH: what is lent, until the tape or the bytes move. */
RELET_PRIVATE relet_value rlt_scan_value(const rlt_scan *s,
                                         const uint8_t *frame);

/* Ends the loan after VALUE, PUSH or SKIPPED. So many bytes of the frame are
 * done with and the next frame starts there; 0: a push inside an unfinished
 * value is off the tape, and the same frame goes on. */
RELET_PRIVATE size_t rlt_scan_next(rlt_scan *s);

/* Go on without keeping this frame. The first reason stays. */
RELET_PRIVATE void rlt_scan_skip(rlt_scan *s, int why);

/* In skip mode, after MORE: how many bytes at the frame's start may be thrown
 * away. The caller does so: the frame starts that much later. */
RELET_PRIVATE size_t rlt_scan_drop(rlt_scan *s);

RELET_PRIVATE const char *rlt_scan_error_text(int error);

#endif
