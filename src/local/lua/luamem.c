/* SPDX-License-Identifier: MIT
 *
 * luamem.c - memory that is given back only as a whole. */
#include "luamem.h"

#define LUAMEM_CHUNK_MAX ((size_t)256 * 1024)
#define LUAMEM_HEADER sizeof(rlt_luamem_chunk)

RELET_PRIVATE void rlt_luamem_init(rlt_luamem *m, rlt_memory memory,
                                   size_t first, size_t cap)
{
    memset(m, 0, sizeof *m);
    m->memory = memory;
    m->first = first;
    m->cap = cap;
}

static void luamem_release(rlt_luamem *m, rlt_luamem_chunk *c)
{
    size_t size = c->size;

    m->held -= size;
    (void)m->memory.resize(m->memory.user, c, size, 0);
}

static void luamem_use(rlt_luamem *m, rlt_luamem_chunk *c)
{
    m->at = (uint8_t *)c + LUAMEM_HEADER;
    m->end = (uint8_t *)c + c->size;
}

RELET_PRIVATE void rlt_luamem_reset(rlt_luamem *m, size_t keep)
{
    rlt_luamem_chunk *c = m->chunks, *next, *best = NULL;

    for (; c; c = next) {
        next = c->next;
        if (c->size <= keep && (best == NULL || c->size > best->size)) {
            if (best)
                luamem_release(m, best);
            best = c;
        } else {
            luamem_release(m, c);
        }
    }
    m->chunks = best;
    m->at = m->end = NULL;
    if (best == NULL)
        return;
    best->next = NULL;
    luamem_use(m, best);
    if (RLT_TINY)
        memset(m->at, 0xdb, (size_t)(m->end - m->at));
}

RELET_PRIVATE void rlt_luamem_free(rlt_luamem *m)
{
    rlt_luamem_reset(m, 0);
}

/* The size of the next chunk: twice that of the last one. The free bytes of the
 * last chunk are then lost. */
static size_t luamem_size(const rlt_luamem *m, size_t n)
{
    size_t size = m->chunks ? m->chunks->size * 2 : m->first;

    return RLT_MAX(RLT_MIN(size, LUAMEM_CHUNK_MAX), n + LUAMEM_HEADER);
}

RELET_PRIVATE void *rlt_luamem_more(rlt_luamem *m, size_t n)
{
    size_t size;
    rlt_luamem_chunk *c;

    if (n > SIZE_MAX / 4 || m->memory.resize == NULL)
        return NULL;
    n = (n + 15) & ~(size_t)15;
    size = luamem_size(m, n);
    if (m->cap > 0 && size > m->cap - RLT_MIN(m->held, m->cap))
        size = n + LUAMEM_HEADER;
    if (m->cap > 0 && size > m->cap - RLT_MIN(m->held, m->cap))
        return NULL;
    c = (rlt_luamem_chunk *)m->memory.resize(m->memory.user, NULL, 0, size);
    if (c == NULL)
        return NULL;
    c->size = size;
    c->next = m->chunks;
    m->chunks = c;
    m->held += size;
    luamem_use(m, c);
    m->at += n;
    return m->at - n;
}
