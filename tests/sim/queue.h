/* SPDX-License-Identifier: MIT
 *
 * queue.h - the events that are due, in the order in which they happen.
 *
 * They are ordered by time; events of the same instant by `tie`, a random
 * number, so that all orders are met; the rest in the order in which they came.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct sim_due {
    int64_t at_us;
    uint64_t tie, seq;
    int kind;
    int whom;
    uint64_t which; /* a generation, for example, to tell late events         */
} sim_due;

typedef struct sim_queue {
    sim_due *heap;
    size_t n, cap;
    uint64_t seq;
} sim_queue;

void sim_queue_clear(sim_queue *q);
void sim_queue_free(sim_queue *q);
void sim_queue_put(sim_queue *q, sim_due d);

/* Returns 1 and fills *out, or returns 0 when nothing is due. */
int sim_queue_take(sim_queue *q, sim_due *out);

#endif
