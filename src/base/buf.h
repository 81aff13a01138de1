/* SPDX-License-Identifier: MIT
 *
 * buf.h - a byte queue that grows through the allocator hook, up to a cap.
 *
 * Bytes are committed at the tail and dropped from the head. Every pointer
 * into a buffer is good until the next reserve, put, cut, shrink or free. */
#ifndef RLT_BUF_H
#define RLT_BUF_H

#include "base.h"

typedef struct rlt_buf {
    uint8_t *p;
    size_t head, tail; /* what is in use; 0 and 0 when nothing is   */
    size_t cap;        /* bytes behind p                            */
    size_t floor, max; /* cap is 0, or between these                */
    rlt_memory memory;
} rlt_buf;

/* With memory.resize NULL, block has max bytes and stays the buffer's only
 * memory. Else block is ignored, and nothing is allocated before it is used. */
RELET_PRIVATE void rlt_buf_init(rlt_buf *b, rlt_memory memory, void *block,
                                size_t floor, size_t max);
RELET_PRIVATE void rlt_buf_free(rlt_buf *b);

RELET_PRIVATE size_t rlt_buf_used(const rlt_buf *b);
RELET_PRIVATE size_t rlt_buf_room(const rlt_buf *b); /* free at the tail */

/* The first byte in use, and the one behind the last; NULL before the first
 * allocation. */
RELET_PRIVATE uint8_t *rlt_buf_head(const rlt_buf *b);
RELET_PRIVATE uint8_t *rlt_buf_end(const rlt_buf *b);

/* See to n bytes of room at the tail: 0, RELET_E_LIMIT when they can never be
 * had beside what is in use, or RELET_E_MEMORY. After an error the buffer and
 * the pointers into it are as they were. */
RELET_PRIVATE int rlt_buf_reserve(rlt_buf *b, size_t n);

/* Bytes that were written into the room now belong to the contents. */
RELET_PRIVATE void rlt_buf_commit(rlt_buf *b, size_t n);

/* Reserve, copy, commit: all of it or, with the code of reserve, nothing. */
RELET_PRIVATE int rlt_buf_put(rlt_buf *b, const void *p, size_t n);

/* Take n bytes away: from the head, or from the middle. */
RELET_PRIVATE void rlt_buf_drop(rlt_buf *b, size_t n);
RELET_PRIVATE void rlt_buf_cut(rlt_buf *b, size_t from_head, size_t n);

/* Give memory back, down to the largest of floor, keep and what is in use. An
 * allocator that will not is no harm. */
RELET_PRIVATE void rlt_buf_shrink(rlt_buf *b, size_t keep);

/* Overwrite what is not in use, so that a pointer kept too long shows. */
RELET_PRIVATE void rlt_buf_poison_room(rlt_buf *b);

#endif
