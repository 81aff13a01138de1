/* SPDX-License-Identifier: MIT
 *
 * log.c - the log of a server's writes and their times, so that a restart may
 * lose the log's end, and a replica may be behind. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static void *log_grow(void *p, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return p;
    while (*cap < need)
        *cap = *cap ? 2 * *cap : 256;
    p = realloc(p, *cap * size);
    if (p == NULL)
        abort();
    return p;
}

void sim_log_put(sim_log *g, int64_t at_us, const uint8_t *p, size_t n)
{
    if (n == 0)
        return;
    g->bytes = (uint8_t *)log_grow(g->bytes, &g->cap, g->n + n, 1);
    memcpy(g->bytes + g->n, p, n);
    g->n += n;
    g->at = (sim_mark_at *)log_grow(g->at, &g->at_cap, g->at_n + 1,
                                    sizeof *g->at);
    g->at[g->at_n].at_us = at_us;
    g->at[g->at_n++].n = g->n;
}

size_t sim_log_at(const sim_log *g, int64_t at_us)
{
    size_t i = g->at_n;

    while (i > 0 && g->at[i - 1].at_us > at_us)
        i--;
    return i > 0 ? g->at[i - 1].n : 0;
}

/* The time at which the log reached so many bytes. */
int64_t sim_log_time(const sim_log *g, size_t n)
{
    size_t i = g->at_n;

    while (i > 0 && g->at[i - 1].n >= n)
        i--;
    return n == 0 || i == g->at_n ? 0 : g->at[i].at_us;
}

/* Copies the first n bytes; `to` may be `from`. */
void sim_log_copy(sim_log *to, const sim_log *from, size_t n)
{
    size_t i;

    if (to != from) {
        to->n = to->at_n = 0;
        for (i = 0; i < from->at_n && from->at[i].n <= n; i++)
            sim_log_put(to, from->at[i].at_us, from->bytes + to->n,
                        from->at[i].n - to->n);
        return;
    }
    while (to->at_n > 0 && to->at[to->at_n - 1].n > n)
        to->at_n--;
    to->n = to->at_n > 0 ? to->at[to->at_n - 1].n : 0;
}
