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
    size_t head, tail; /* bytes in use; both 0 when none are        */
    size_t cap;        /* bytes behind p                            */
    size_t floor, max; /* cap is 0, or within these bounds          */
    rlt_memory memory;
} rlt_buf;

/* With memory.resize NULL, block has max bytes and stays the buffer's only
 * memory. Else block is ignored, and the first reserve allocates. */
RELET_PRIVATE void rlt_buf_init(rlt_buf *b, rlt_memory memory, void *block,
                                size_t floor, size_t max);
RELET_PRIVATE void rlt_buf_free(rlt_buf *b);

RELET_PRIVATE size_t rlt_buf_used(const rlt_buf *b);
RELET_PRIVATE size_t rlt_buf_room(const rlt_buf *b); /* free at the tail */

/* The first byte in use, and the one behind the last; NULL before the first
 * allocation. */
RELET_PRIVATE uint8_t *rlt_buf_head(const rlt_buf *b);
RELET_PRIVATE uint8_t *rlt_buf_end(const rlt_buf *b);

/* Makes room for n bytes at the tail. Returns 0, RELET_E_LIMIT if max allows
 * no n bytes beside those in use, or RELET_E_MEMORY. After an error the buffer
 * and the pointers into it are as they were. */
RELET_PRIVATE int rlt_buf_reserve(rlt_buf *b, size_t n);

/* Adds n bytes, which were written at the tail, to the contents. */
RELET_PRIVATE void rlt_buf_commit(rlt_buf *b, size_t n);

/* Reserves, copies and commits n bytes; where p is NULL, the caller writes them
 * afterwards. Returns the code of reserve; after an error nothing was added. */
RELET_PRIVATE int rlt_buf_put(rlt_buf *b, const void *p, size_t n);

/* Take n bytes away: from the head, or from the middle. */
RELET_PRIVATE void rlt_buf_drop(rlt_buf *b, size_t n);
RELET_PRIVATE void rlt_buf_cut(rlt_buf *b, size_t from_head, size_t n);

/* Gives memory back, down to the largest of floor, keep and the bytes in use.
 * If the allocator refuses, the buffer keeps its size. */
RELET_PRIVATE void rlt_buf_shrink(rlt_buf *b, size_t keep);

/* Overwrites the bytes that are not in use, so that a stale pointer shows. */
RELET_PRIVATE void rlt_buf_poison_room(rlt_buf *b);

#endif
