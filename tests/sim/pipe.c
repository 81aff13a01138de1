/* SPDX-License-Identifier: MIT
 *
 * pipe.c - one direction of a link: bytes in order, and when each arrives. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void sim_pipe_clear(sim_pipe *p, size_t limit)
{
    sim_pipe keep = *p;

    memset(p, 0, sizeof *p);
    p->bytes = keep.bytes;
    p->cap = keep.cap;
    p->parts = keep.parts;
    p->parts_cap = keep.parts_cap;
    p->limit = limit;
    p->cut_after = -1;
}

void sim_pipe_free(sim_pipe *p)
{
    free(p->bytes);
    free(p->parts);
    memset(p, 0, sizeof *p);
}

size_t sim_pipe_room(const sim_pipe *p)
{
    size_t used = p->tail - p->head;

    return used < p->limit ? p->limit - used : 0;
}

static void pipe_reserve(sim_pipe *p, size_t n)
{
    if (p->head > 0 && p->tail + n > p->cap) {
        memmove(p->bytes, p->bytes + p->head, p->tail - p->head);
        p->tail -= p->head;
        p->head = 0;
    }
    if (p->tail + n <= p->cap)
        return;
    while (p->cap < p->tail + n)
        p->cap = p->cap ? 2 * p->cap : 1024;
    p->bytes = (uint8_t *)realloc(p->bytes, p->cap);
    if (p->bytes == NULL)
        abort();
}

static void pipe_part(sim_pipe *p, size_t n, int64_t at_us)
{
    if (p->part == p->parts_n)
        p->part = p->parts_n = 0;
    if (p->parts_n > p->part && p->parts[p->parts_n - 1].at_us == at_us) {
        p->parts[p->parts_n - 1].n += n;
        return;
    }
    if (p->parts_n == p->parts_cap) {
        p->parts_cap = p->parts_cap ? 2 * p->parts_cap : 16;
        p->parts = (sim_part *)realloc(p->parts,
                                       p->parts_cap * sizeof *p->parts);
        if (p->parts == NULL)
            abort();
    }
    p->parts[p->parts_n].at_us = at_us;
    p->parts[p->parts_n++].n = n;
}

void sim_pipe_put(sim_pipe *p, const uint8_t *bytes, size_t n, int64_t at_us)
{
    pipe_reserve(p, n);
    if (n > 0)
        memcpy(p->bytes + p->tail, bytes, n);
    p->tail += n;
    p->carried += n;
    p->last_us = at_us;
    pipe_part(p, n, at_us);
}

int64_t sim_pipe_next(const sim_pipe *p)
{
    return p->part < p->parts_n ? p->parts[p->part].at_us : SIM_NEVER;
}

size_t sim_pipe_arrive(sim_pipe *p, int64_t now_us)
{
    size_t n = 0;

    while (p->part < p->parts_n && p->parts[p->part].at_us <= now_us)
        n += p->parts[p->part++].n;
    p->arrived += n;
    return n;
}

void sim_pipe_take(sim_pipe *p, size_t n)
{
    p->head += n;
    p->arrived -= n;
    if (p->head == p->tail)
        p->head = p->tail = 0;
}
