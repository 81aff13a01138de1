/* SPDX-License-Identifier: MIT
 *
 * part.h - what leases and queues, the parts of the engine, have in common: the
 * tags of their requests, their replies, and how long a lease is trusted.
 *
 * A part can be left out of a build: RELET_NO_LEASE, RELET_NO_QUEUE. */
#ifndef RLT_PART_H
#define RLT_PART_H

#include "base.h"

/* The tag of a library operation: the part that it belongs to, the index of its
 * lease or worker, and 32 bits of the part's own. The client ignores the
 * outcome of an operation that has the tag RLT_TAG_IGNORED. */
typedef uint64_t rlt_tag;
enum { RLT_PART_LEASE, RLT_PART_WORKER, RLT_PART_NONE };
#define RLT_TAG(part, index, own)                                              \
    ((rlt_tag)(part) << 60 | (rlt_tag)(index) << 32 | (rlt_tag)(own))
#define RLT_TAG_PART(tag) ((int)((tag) >> 60))
#define RLT_TAG_INDEX(tag) ((uint32_t)((tag) >> 32) & 0xfffffffu)
#define RLT_TAG_IGNORED RLT_TAG(RLT_PART_NONE, 0, 0)

typedef enum rlt_heard {
    RLT_HEARD_VALUE,  /* also an error from the server                       */
    RLT_HEARD_NOTHING /* not sent, or no answer                              */
} rlt_heard;

typedef struct rlt_reply {
    rlt_heard heard;
    uint32_t serial;
    relet_value value;
} rlt_reply;

/* How long a lease of ttl_ms is trusted, counted from its request. */
RELET_PRIVATE relet_time rlt_trust_ms(relet_time ttl_ms);

#endif
