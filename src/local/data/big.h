/* SPDX-License-Identifier: MIT
 *
 * big.h - fractions of large integers, from text and to text, rounded once.
 *
 * Most are a few words long; those of thousands of digits are rare, and as
 * correct. */
#ifndef RLT_BIG_H
#define RLT_BIG_H

#include "text.h"

/* A number of 5119 digits over a power of ten of as many more. */
#define RLT_BIG_WORDS 800
#define RLT_BIG_TEXT_MAX 5119

typedef struct rlt_big {
    int n;
    uint32_t w[RLT_BIG_WORDS]; /* least first; the last is not 0             */
} rlt_big;

/* over / under * 2^exp2. Who rounds it uses both up. */
typedef struct rlt_big_ratio {
    rlt_big over, under;
    int exp2;
} rlt_big_ratio;

/* What stands in a text: digits in base 10 or 16. */
typedef struct rlt_big_text {
    relet_span rest;
    int minus, base, inf;
    int digits;   /* that were met, zeros in front too                       */
    int kept;     /* in `over`, from the first that is not 0                 */
    int64_t exp;  /* of the base; of 2 when it is 16                         */
} rlt_big_text;

RELET_PRIVATE void rlt_big_set(rlt_big *b, uint64_t v);
RELET_PRIVATE int rlt_big_bits(const rlt_big *b);

/* b * 5^k */
RELET_PRIVATE void rlt_big_pow5(rlt_big *b, int k);

/* The ratio, which is not 0, in so many bits or fewer, half to even: the
 * mantissa, and *exp2 with it, which is not below min. */
RELET_PRIVATE uint64_t rlt_big_round(rlt_big_ratio *r, int bits, int min,
                                     int *exp2);

/* The whole span: a sign, then inf, infinity, or digits with an exponent as
 * strtod takes them, hexadecimal ones too. 1, or 0: it is something else. */
RELET_PRIVATE int rlt_big_read(rlt_big_text *t, relet_span s, rlt_big *over);

/* Where its highest digit stands, in digits of base 10, or in bits. */
RELET_PRIVATE int64_t rlt_big_height(const rlt_big_text *t,
                                     const rlt_big *over);

/* The rest of a ratio whose `over` was read. The height is within reason. */
RELET_PRIVATE void rlt_big_ratio_of(const rlt_big_text *t, rlt_big_ratio *r);

/* The integer m * 2^exp2 * 10^decimals, half to even; and its digits, the last
 * so many behind a point. Returns how many bytes. */
RELET_PRIVATE void rlt_big_fixed(rlt_big *b, uint64_t m, int exp2,
                                 int decimals);
RELET_PRIVATE size_t rlt_big_put_fixed(char *out, rlt_big *b, size_t decimals,
                                       int minus);

#endif
