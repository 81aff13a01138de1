/* SPDX-License-Identifier: MIT
 *
 * cmd_bits.h - strings as rows of bits.
 */
#ifndef RLT_CMD_BITS_H
#define RLT_CMD_BITS_H

#include "state.h"

/* cmd_bits.c, and cmd_bitfield.c: integers of any width in them. */
RELET_PRIVATE const rlt_command *rlt_cmd_bits_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_bitfield_rows(size_t *n);

#define RLT_CMD_BITS_OFFSET \
    "ERR bit offset is not an integer or out of range"

/* A place in bits; with `bits` above 0 also "#3", which is 3 times that. */
RELET_PRIVATE int rlt_cmd_bits_offset(const rlt_call *c, relet_span s,
                                      int bits, int64_t *at);

/* The string under argv[1], with at least so many bytes: made or stretched
 * (*grown is then 1). NULL: WRONGTYPE was replied. And what that takes. */
RELET_PRIVATE rlt_obj *rlt_cmd_bits_grow(rlt_call *c, size_t n, int *grown);
RELET_PRIVATE size_t rlt_cmd_bits_cost(const rlt_call *c, size_t n);

#endif
