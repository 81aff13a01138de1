/* SPDX-License-Identifier: MIT
 *
 * rand.c - pseudo-random numbers for jitter; equal seeds give equal numbers on
 * every machine.
 *
 * xoshiro256++ with its state filled by splitmix64, as its authors advise. */

#include "rand.h"

#include "text.h"

static uint64_t rand_rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t rand_split(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void rlt_rand_seed(rlt_rand *r, uint64_t seed)
{
    int i;

    for (i = 0; i < 4; i++)
        r->s[i] = rand_split(&seed);
}

uint64_t rlt_rand_next(rlt_rand *r)
{
    uint64_t *s = r->s;
    uint64_t out = rand_rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rand_rotate(s[3], 45);
    return out;
}

/* No rejection: for jitter a bias of n / 2^64 does not matter, and one number
 * drawn per call keeps runs with equal seeds in step. */
uint64_t rlt_rand_below(rlt_rand *r, uint64_t n)
{
    rlt_assert(n > 0);
    return rlt_text_mul_high(rlt_rand_next(r), n);
}
