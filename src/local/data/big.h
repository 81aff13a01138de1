/* SPDX-License-Identifier: MIT
 *
 * big.h - fractions of large integers, from text and to text, rounded once.
 *
 * Most numbers are a few words long; numbers of thousands of digits are rare,
 * and treated as exactly. */
#ifndef RLT_BIG_H
#define RLT_BIG_H

#include "text.h"

/* A number of 5119 digits over a power of ten of as many more. */
#define RLT_BIG_WORDS 800
#define RLT_BIG_TEXT_MAX 5119

typedef struct rlt_big {
    int n;
    uint32_t w[RLT_BIG_WORDS]; /* least significant first; the last is not 0 */
} rlt_big;

/* over / under * 2^exp2. Rounding it destroys both. */
typedef struct rlt_big_ratio {
    rlt_big over, under;
    int exp2;
} rlt_big_ratio;

/* The number that is read from a text: digits in base 10 or 16. */
typedef struct rlt_big_text {
    relet_span rest;
    int minus, base, inf;
    int digits;   /* 1: a digit was met, be it a leading zero                */
    int kept;     /* digits in `over`, from the first nonzero                */
    int64_t exp;  /* exponent of 10, or of 2 in base 16                      */
} rlt_big_text;

RELET_PRIVATE void rlt_big_set(rlt_big *b, uint64_t v);
RELET_PRIVATE int rlt_big_bits(const rlt_big *b);

/* b * 5^k */
RELET_PRIVATE void rlt_big_pow5(rlt_big *b, int k);

/* Rounds the ratio, which is not 0, half to even, to so many bits or fewer.
 * Returns the mantissa; *exp2 gets its exponent, which is not below min. */
RELET_PRIVATE uint64_t rlt_big_round(rlt_big_ratio *r, int bits, int min,
                                     int *exp2);

/* Reads the whole span: a sign, then inf, infinity, or digits with an exponent
 * as strtod takes them, also hexadecimal ones. 1, or 0: not a number. */
RELET_PRIVATE int rlt_big_read(rlt_big_text *t, relet_span s, rlt_big *over);

/* The position of the highest digit, in decimal digits, or in bits in base
 * 16. */
RELET_PRIVATE int64_t rlt_big_height(const rlt_big_text *t,
                                     const rlt_big *over);

/* Completes a ratio whose `over` was read. The height was checked before. */
RELET_PRIVATE void rlt_big_ratio_of(const rlt_big_text *t, rlt_big_ratio *r);

/* The integer m * 2^exp2 * 10^decimals, rounded half to even; and writing its
 * digits, the last `decimals` behind a point. Returns how many bytes. */
RELET_PRIVATE void rlt_big_fixed(rlt_big *b, uint64_t m, int exp2,
                                 int decimals);
RELET_PRIVATE size_t rlt_big_put_fixed(char *out, rlt_big *b, size_t decimals,
                                       int minus);

#endif
