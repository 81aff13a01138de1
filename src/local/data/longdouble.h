/* SPDX-License-Identifier: MIT
 *
 * longdouble.h - the wider numbers in which INCRBYFLOAT counts.
 */
#ifndef RLT_LONG_H
#define RLT_LONG_H

#include "big.h"

/* A number of 64 bits and a wide exponent, in which INCRBYFLOAT counts. */
typedef struct rlt_long {
    uint64_t mantissa; /* highest bit set unless it is 0 or tiny             */
    int32_t exp2;      /* the value is mantissa * 2^exp2                     */
    uint8_t minus;
    uint8_t inf;       /* 1: infinite; 2: not a number                       */
} rlt_long;

/* Bytes that one takes as text at most. */
#define RLT_LONG_MAX 5120

/* 1, or 0: not a number (ERR value is not a valid float). */
RELET_PRIVATE int rlt_longdouble_read(relet_span s, rlt_long *out);

/* Rounded to 64 bits, half to even. When `inf` of the sum is not 0: ERR
 * increment would produce NaN or Infinity. */
RELET_PRIVATE rlt_long rlt_longdouble_add(rlt_long a, rlt_long b);

/* As servers keep it: "%.17Lf" without zeros behind the last digit and without
 * a lone point; "-0" is "0". out has RLT_LONG_MAX bytes; returns how many. */
RELET_PRIVATE size_t rlt_longdouble_text(char *out, rlt_long v);

#endif
