/* SPDX-License-Identifier: MIT
 *
 * queue.c - the events that are due, in order: a binary heap. */
#include "queue.h"

#include <stdlib.h>

void sim_queue_clear(sim_queue *q)
{
    q->n = 0;
    q->seq = 0;
}

void sim_queue_free(sim_queue *q)
{
    free(q->heap);
    q->heap = NULL;
    q->n = q->cap = 0;
}

static int queue_before(const sim_due *a, const sim_due *b)
{
    if (a->at_us != b->at_us)
        return a->at_us < b->at_us;
    if (a->tie != b->tie)
        return a->tie < b->tie;
    return a->seq < b->seq;
}

static void queue_up(sim_queue *q, size_t i, sim_due d)
{
    while (i > 0 && queue_before(&d, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = d;
}

static void queue_down(sim_queue *q, sim_due d)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < q->n) {
        if (child + 1 < q->n &&
            queue_before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!queue_before(&q->heap[child], &d))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = d;
}

void sim_queue_put(sim_queue *q, sim_due d)
{
    if (q->n == q->cap) {
        q->cap = q->cap ? 2 * q->cap : 256;
        q->heap = (sim_due *)realloc(q->heap, q->cap * sizeof *q->heap);
        if (q->heap == NULL)
            abort();
    }
    d.seq = q->seq++;
    queue_up(q, q->n++, d);
}

int sim_queue_take(sim_queue *q, sim_due *out)
{
    sim_due last;

    if (q->n == 0)
        return 0;
    *out = q->heap[0];
    last = q->heap[--q->n];
    if (q->n > 0)
        queue_down(q, last);
    return 1;
}
