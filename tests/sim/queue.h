/* SPDX-License-Identifier: MIT
 *
 * queue.h - what is to happen, in the order in which it will.
 *
 * By time; what falls on the same instant by `tie`, a random number, so that
 * all orders are met; and the rest as it came. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct sim_due {
    int64_t at_us;
    uint64_t tie, seq;
    int kind;
    int whom;
    uint64_t which; /* generation, so that what is too late is known          */
} sim_due;

typedef struct sim_queue {
    sim_due *heap;
    size_t n, cap;
    uint64_t seq;
} sim_queue;

void sim_queue_clear(sim_queue *q);
void sim_queue_free(sim_queue *q);
void sim_queue_put(sim_queue *q, sim_due d);

/* 1 and *out, or 0 when nothing is to happen. */
int sim_queue_take(sim_queue *q, sim_due *out);

#endif
