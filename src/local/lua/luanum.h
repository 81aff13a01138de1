/* SPDX-License-Identifier: MIT
 *
 * luanum.h - the numbers of scripts, without the C library.
 *
 * All in IEEE 754 doubles and integers, so that a script gives the same bytes
 * on every machine: text in both directions, correctly rounded, and the few
 * functions of mathematics that scripts have. */
#ifndef RLT_LUANUM_H
#define RLT_LUANUM_H

#include "base.h"
#include "text.h"

/* Room for any number that rlt_luanum_text or _exact writes. */
#define RLT_LUANUM_TEXT 32

/* Room for any number of rlt_luanum_format: 309 digits, a precision and a
 * width of 99 at most, a sign and a point. */
#define RLT_LUANUM_FORMAT 512

/* A conversion as in a format of printf. */
typedef struct rlt_luanum_spec {
    char conversion;         /* e E f g G for doubles; d x X o for integers  */
    char left, plus, blank, alternate, zero;
    int width, precision;    /* precision -1: not given                      */
} rlt_luanum_spec;

/* The number as tostring writes it (14 digits), and with the 17 digits that
 * commands get. Both return a length. */
RELET_PRIVATE size_t rlt_luanum_text(char *out, double v);
RELET_PRIVATE size_t rlt_luanum_exact(char *out, double v);

RELET_PRIVATE size_t rlt_luanum_format(char *out, double v,
                                       const rlt_luanum_spec *spec);
/* magnitude with its sign apart; plus and blank are ignored for x, X and o. */
RELET_PRIVATE size_t rlt_luanum_format_int(char *out, uint64_t magnitude,
                                           int negative,
                                           const rlt_luanum_spec *spec);

/* 1 and the number that a text is, with blanks around it; a text ends at its
 * first NUL. Else 0. */
RELET_PRIVATE int rlt_luanum_read(relet_span s, double *out);

/* The same for an integer in base 2 to 36, a sign wrapping as in C. */
RELET_PRIVATE int rlt_luanum_read_base(relet_span s, int base, double *out);

/* Without the fraction; INT64_MIN when it is out of range. */
RELET_PRIVATE int64_t rlt_luanum_int(double v);
/* As a machine word: negative numbers wrap. */
RELET_PRIVATE uint64_t rlt_luanum_word(double v);
RELET_PRIVATE double rlt_luanum_infinity(void);
/* The not-a-number that arithmetic makes of numbers: its sign is set. */
RELET_PRIVATE double rlt_luanum_nan(void);
RELET_PRIVATE int rlt_luanum_negative(double v); /* the sign bit             */

RELET_PRIVATE double rlt_luanum_floor(double v);
RELET_PRIVATE double rlt_luanum_ceil(double v);
RELET_PRIVATE double rlt_luanum_fmod(double a, double b);
RELET_PRIVATE double rlt_luanum_sqrt(double v);
RELET_PRIVATE double rlt_luanum_pow(double a, double b);
RELET_PRIVATE double rlt_luanum_exp(double v);
RELET_PRIVATE double rlt_luanum_log(double v);
RELET_PRIVATE double rlt_luanum_log10(double v);
/* v * 2^n, and back: a fraction in [0.5, 1) and its exponent. */
RELET_PRIVATE double rlt_luanum_ldexp(double v, int64_t n);
RELET_PRIVATE double rlt_luanum_frexp(double v, int *exponent);

#endif
