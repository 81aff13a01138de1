/* SPDX-License-Identifier: MIT
 *
 * luamem.h - memory that is given back only as a whole.
 *
 * A run of a script makes values and never frees one: there is no garbage
 * collector. So it takes memory from a list of chunks with a cap. The end of
 * the run frees all chunks but one, which the next run uses again. */
#ifndef RLT_LUAMEM_H
#define RLT_LUAMEM_H

#include "base.h"

typedef struct rlt_luamem_chunk {
    struct rlt_luamem_chunk *next;
    size_t size;      /* with this header                                    */
    size_t unused[2]; /* keeps what follows aligned for anything             */
} rlt_luamem_chunk;

typedef struct rlt_luamem {
    rlt_memory memory;
    rlt_luamem_chunk *chunks; /* the newest first                            */
    uint8_t *at, *end;        /* free bytes of the newest                    */
    size_t held, cap;         /* bytes; cap 0: no cap                        */
    size_t first;             /* size of the first chunk                     */
} rlt_luamem;

RELET_PRIVATE void rlt_luamem_init(rlt_luamem *m, rlt_memory memory,
                                   size_t first, size_t cap);
RELET_PRIVATE void rlt_luamem_free(rlt_luamem *m);

/* Everything is given up; the largest chunk that is at most keep stays. */
RELET_PRIVATE void rlt_luamem_reset(rlt_luamem *m, size_t keep);

/* n bytes aligned for anything, or NULL. */
RELET_PRIVATE void *rlt_luamem_more(rlt_luamem *m, size_t n);

static inline void *rlt_luamem_get(rlt_luamem *m, size_t n)
{
    size_t size = (n + 15) & ~(size_t)15;
    void *p = m->at;

    if (RLT_UNLIKELY(size < n || (size_t)(m->end - m->at) < size))
        return rlt_luamem_more(m, n);
    m->at += size;
    return p;
}

#endif
