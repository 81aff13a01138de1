/* SPDX-License-Identifier: MIT
 *
 * num.h - doubles as servers read and print them.
 *
 * In integers alone, so that the bytes are the same on every machine. */
#ifndef RLT_NUM_H
#define RLT_NUM_H

#include "longdouble.h"

/* Bytes that a double takes at most. */
#define RLT_NUM_MAX 32

/* As printf writes "%.<digits>g", digits from 1 to 17; inf, -inf, nan, -nan.
 * No NUL; returns how many bytes. */
RELET_PRIVATE size_t rlt_num_g(char *out, double v, int digits);

/* As Redis 7.0 prints a score or a double reply: %.17g, inf, -inf. */
RELET_PRIVATE size_t rlt_num_score(char *out, double v);

/* The double that the whole span is, as servers read scores: what strtod
 * takes, so also hexadecimal fractions and inf, but no blanks in front, no
 * NUL, not nan, not out of range. 1, or 0 and *out untouched. */
RELET_PRIVATE int rlt_num_read(relet_span s, double *out);

/* All that strtod takes, not a number and out of range (inf or 0), too. */
RELET_PRIVATE int rlt_num_read_any(relet_span s, double *out);

/* As rlt_num_read, but for a bound of a range of scores, where servers take strtod's word:
 * blanks in front, nothing at all (0), out of range (inf or 0), what stands
 * behind a NUL is not seen; a leading ( sets *open, else it is 0. */
RELET_PRIVATE int rlt_num_read_bound(relet_span s, double *out, int *open);

#endif
