/* SPDX-License-Identifier: MIT
 *
 * rand.h - pseudo-random numbers for jitter; equal seeds give equal numbers on
 * every machine.
 *
 * Not for secrets. */
#ifndef RLT_RAND_H
#define RLT_RAND_H

#include "base.h"

typedef struct rlt_rand {
    uint64_t s[4];
} rlt_rand;

/* Any seed will do, including 0. */
RELET_PRIVATE void rlt_rand_seed(rlt_rand *r, uint64_t seed);
RELET_PRIVATE uint64_t rlt_rand_next(rlt_rand *r);

/* A number below n; n must not be 0. */
RELET_PRIVATE uint64_t rlt_rand_below(rlt_rand *r, uint64_t n);

#endif
