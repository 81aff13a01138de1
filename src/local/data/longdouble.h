/* SPDX-License-Identifier: MIT
 *
 * longdouble.h - the extended-precision numbers that INCRBYFLOAT adds.
 */
#ifndef RLT_LONG_H
#define RLT_LONG_H

#include "big.h"

/* A floating-point number with a mantissa of 64 bits and a wide exponent. */
typedef struct rlt_long {
    uint64_t mantissa; /* highest bit set unless 0 or subnormal              */
    int32_t exp2;      /* the value is mantissa * 2^exp2                     */
    uint8_t minus;
    uint8_t inf;       /* 1: infinite; 2: not a number                       */
} rlt_long;

/* The most bytes of one number as text. */
#define RLT_LONG_MAX 5120

/* 1, or 0: not a number (ERR value is not a valid float). */
RELET_PRIVATE int rlt_longdouble_read(relet_span s, rlt_long *out);

/* The sum, rounded to 64 bits, half to even. When its `inf` is not 0: ERR
 * increment would produce NaN or Infinity. */
RELET_PRIVATE rlt_long rlt_longdouble_add(rlt_long a, rlt_long b);

/* As Redis stores it: "%.17Lf" without trailing zeros or a trailing point; "-0"
 * is "0". out has RLT_LONG_MAX bytes; returns how many are used. */
RELET_PRIVATE size_t rlt_longdouble_text(char *out, rlt_long v);

#endif
