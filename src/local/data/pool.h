/* SPDX-License-Identifier: MIT
 *
 * pool.h - the memory of one local server.
 *
 * A command must not fail when it is half done. So its memory is secured first:
 * rlt_pool_ensure promises that the next blocks, up to so many bytes, can be
 * taken; a command that cannot get its promise is refused before it has changed
 * anything. The caller passes the size when it frees a block, so blocks carry
 * no headers. */
#ifndef RLT_POOL_H
#define RLT_POOL_H

#include "base.h"

/* Blocks from this size on come from the user's allocator one by one, and go
 * back to it when they are freed. */
#define RLT_POOL_BIG ((size_t)16384)

#define RLT_POOL_ROUND(n) (((size_t)(n) + 15u) & ~(size_t)15u)

/* What a block of n bytes takes of a promise, for any n. */
#define RLT_POOL_COST(n) (RLT_POOL_ROUND(n) + 16u)

#define RLT_POOL_CLASSES 100

typedef struct rlt_pool_chunk {
    struct rlt_pool_chunk *next, *back;
    size_t size;   /* with this header                                       */
    size_t unused; /* keeps what follows aligned for anything                */
} rlt_pool_chunk;

/* Unused bytes at the end of a chunk. */
typedef struct rlt_pool_rest {
    uint8_t *at, *end;
} rlt_pool_rest;

typedef struct rlt_pool {
    rlt_memory memory;
    size_t cap;      /* bytes to hold at most; 0: no cap                     */
    size_t held;     /* bytes taken from the allocator                       */
    size_t used;     /* bytes of blocks in use by the server                 */
    size_t peak;     /* the most that `used` has been                        */
    size_t promised; /* bytes still left of the promise                      */
    rlt_pool_rest rest;     /* the newest chunk's; promises are kept here …  */
    rlt_pool_rest spare;    /* … or here, while at is not NULL               */
    rlt_pool_chunk *spared; /* the chunk of `spare`                          */
    void *scraps;           /* older rests, to be used up first              */
    rlt_pool_chunk chunks;  /* rings: of small blocks' chunks, …             */
    rlt_pool_chunk bigs;    /* … of big blocks in use                        */
    void *free[RLT_POOL_CLASSES]; /* by size class                           */
} rlt_pool;

RELET_PRIVATE void rlt_pool_init(rlt_pool *p, rlt_memory memory, size_t cap);

/* Give all memory back, whether its blocks were freed or not. */
RELET_PRIVATE void rlt_pool_free(rlt_pool *p);

/* Promise n bytes: blocks of any sizes, each counted by RLT_POOL_COST. Ends the
 * previous promise. 1, or 0: nothing is promised. */
RELET_PRIVATE int rlt_pool_ensure(rlt_pool *p, size_t n);

/* Promise n bytes in addition to what is left of the promise. */
RELET_PRIVATE int rlt_pool_ensure_more(rlt_pool *p, size_t n);

/* End the promise; a large chunk that was not used is given back. */
RELET_PRIVATE void rlt_pool_settle(rlt_pool *p);

/* Take a block out of the promise. */
RELET_PRIVATE void *rlt_pool_get(rlt_pool *p, size_t n);

/* Take a block that was not promised: NULL when there is no memory. The promise
 * stands. */
RELET_PRIVATE void *rlt_pool_try(rlt_pool *p, size_t n);

/* Free a block; n is the size it was taken with. NULL and 0 are fine. */
RELET_PRIVATE void rlt_pool_put(rlt_pool *p, void *block, size_t n);

#endif
