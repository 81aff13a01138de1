/* SPDX-License-Identifier: MIT
 *
 * pool.h - the memory of one local server.
 *
 * A command must not fail when it is half done. So memory is seen to before:
 * rlt_pool_ensure makes a promise that what is taken next, up to so many
 * bytes, will be there; a command that cannot have the promise is refused
 * while it has done nothing. Sizes are given back with the memory, so blocks
 * carry no headers. */
#ifndef RLT_POOL_H
#define RLT_POOL_H

#include "base.h"

/* Blocks from this size on come from the user's allocator one by one, and go
 * back to it when they are put. */
#define RLT_POOL_BIG ((size_t)16384)

#define RLT_POOL_ROUND(n) (((size_t)(n) + 15u) & ~(size_t)15u)

/* What a block of n bytes takes of a promise, whatever its size. */
#define RLT_POOL_COST(n) (RLT_POOL_ROUND(n) + 16u)

#define RLT_POOL_CLASSES 100

typedef struct rlt_pool_chunk {
    struct rlt_pool_chunk *next, *back;
    size_t size;   /* with this header                                       */
    size_t unused; /* keeps what follows aligned for anything                */
} rlt_pool_chunk;

/* Bytes that were never used since they came, or came back whole. */
typedef struct rlt_pool_rest {
    uint8_t *at, *end;
} rlt_pool_rest;

typedef struct rlt_pool {
    rlt_memory memory;
    size_t cap;      /* bytes to hold at most; 0: no cap                     */
    size_t held;     /* bytes taken from the allocator                       */
    size_t used;     /* bytes in the hands of the server                     */
    size_t peak;     /* the most that `used` has been                        */
    size_t promised; /* bytes that a promise can still take                  */
    rlt_pool_rest rest;     /* the newest chunk's; promises are kept here …  */
    rlt_pool_rest spare;    /* … or here, while at is not NULL               */
    rlt_pool_chunk *spared; /* whose end that is                             */
    void *scraps;           /* older rests, to be used up first              */
    rlt_pool_chunk chunks;  /* rings: of small blocks' chunks, …             */
    rlt_pool_chunk bigs;    /* … of big blocks in use                        */
    void *free[RLT_POOL_CLASSES]; /* by size class                           */
} rlt_pool;

RELET_PRIVATE void rlt_pool_init(rlt_pool *p, rlt_memory memory, size_t cap);

/* Give all of it back, whether it was put or not. */
RELET_PRIVATE void rlt_pool_free(rlt_pool *p);

/* Promise n bytes: blocks of any sizes, each counted by RLT_POOL_COST. Ends the
 * promise before. 1, or 0: nothing is promised. */
RELET_PRIVATE int rlt_pool_ensure(rlt_pool *p, size_t n);

/* Promise n bytes more, beside what is left of the promise. */
RELET_PRIVATE int rlt_pool_ensure_more(rlt_pool *p, size_t n);

/* End all promises; big memory that was not taken goes back. */
RELET_PRIVATE void rlt_pool_settle(rlt_pool *p);

/* Take what was promised. */
RELET_PRIVATE void *rlt_pool_get(rlt_pool *p, size_t n);

/* Take what was not, beside what is: NULL when there is none. The promise
 * stands. */
RELET_PRIVATE void *rlt_pool_try(rlt_pool *p, size_t n);

/* n as it was taken. NULL and 0 are fine. */
RELET_PRIVATE void rlt_pool_put(rlt_pool *p, void *block, size_t n);

#endif
