/* SPDX-License-Identifier: MIT
 *
 * num.h - fractions as servers read, add and print them.
 *
 * In integers alone, so that the bytes are the same on every machine. */
#ifndef RLT_NUM_H
#define RLT_NUM_H

#include "../text.h"

/* Bytes that a double takes at most, in either form below. */
#define RLT_NUM_MAX 32

/* As printf writes "%.<digits>g", digits from 1 to 17; inf, -inf, nan, -nan.
 * No NUL; returns how many bytes. */
RELET_PRIVATE size_t rlt_num_g(char *out, double v, int digits);

/* The fewest digits that read back as the same double, placed as %.17g does.
 * (Redis 7.0 never prints this; later servers do.) */
RELET_PRIVATE size_t rlt_num_shortest(char *out, double v);

/* As Redis 7.0 prints a score or a double reply: %.17g, inf, -inf. */
RELET_PRIVATE size_t rlt_num_score(char *out, double v);

/* As printf writes "%.<decimals>f", decimals up to 17, cut at cap bytes. */
RELET_PRIVATE size_t rlt_num_f(char *out, size_t cap, double v, int decimals);

/* The double that the whole span is, as servers read scores: what strtod
 * takes, so also hexadecimal fractions and inf, but no blanks in front, no
 * NUL, not nan, not out of range. 1, or 0 and *out untouched. */
RELET_PRIVATE int rlt_num_read(relet_span s, double *out);

/* A number of 64 bits and a wide exponent, in which INCRBYFLOAT counts. */
typedef struct rlt_long {
    uint64_t mantissa; /* highest bit set unless it is 0 or tiny             */
    int32_t exp2;      /* the value is mantissa * 2^exp2                     */
    uint8_t minus, inf;
} rlt_long;

/* Bytes that one takes as text at most. */
#define RLT_LONG_MAX 5120

/* 1, or 0: not a number (ERR value is not a valid float). */
RELET_PRIVATE int rlt_long_read(relet_span s, rlt_long *out);

/* Rounded to 64 bits, half to even. inf + -inf has inf == 2, which is NaN. */
RELET_PRIVATE rlt_long rlt_long_add(rlt_long a, rlt_long b);

/* As servers keep it: "%.17Lf" without zeros behind the last digit and without
 * a lone point; "-0" is "0". out has RLT_LONG_MAX bytes; returns how many. */
RELET_PRIVATE size_t rlt_long_text(char *out, rlt_long v);

#endif
