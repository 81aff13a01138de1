/* SPDX-License-Identifier: MIT
 *
 * num.h - doubles as Redis reads and prints them.
 *
 * Uses integers only, so that the bytes are the same on every machine. */
#ifndef RLT_NUM_H
#define RLT_NUM_H

#include "longdouble.h"

/* The most bytes of a double as text. */
#define RLT_NUM_MAX 32

/* As printf writes "%.<digits>g", digits from 1 to 17; inf, -inf, nan, -nan.
 * No NUL; returns how many bytes. */
RELET_PRIVATE size_t rlt_num_g(char *out, double v, int digits);

/* As Redis 7.0 prints a score or a double reply: %.17g, inf, -inf. */
RELET_PRIVATE size_t rlt_num_score(char *out, double v);

/* Reads the whole span as Redis reads scores: what strtod takes, so also
 * hexadecimal fractions and inf, but no leading blanks, no NUL, not nan, not
 * out of range. 1, or 0 and *out is untouched. */
RELET_PRIVATE int rlt_num_read(relet_span s, double *out);

/* As rlt_num_read, but also nan and numbers out of range (inf or 0). */
RELET_PRIVATE int rlt_num_read_any(relet_span s, double *out);

/* Reads a bound of a range of scores, where Redis accepts all that strtod does:
 * leading blanks, the empty text (0), out of range (inf or 0); bytes behind a
 * NUL are ignored. *open is 1 after a leading (, else 0. */
RELET_PRIVATE int rlt_num_read_bound(relet_span s, double *out, int *open);

#endif
