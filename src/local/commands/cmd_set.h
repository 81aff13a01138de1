/* SPDX-License-Identifier: MIT
 *
 * cmd_set.h - commands on sets.
 */
#ifndef RLT_CMD_SET_H
#define RLT_CMD_SET_H

#include "call.h"

/* cmd_set.c, and cmd_set_algebra.c: SINTER, SUNION, SDIFF and their
 * variants. */
RELET_PRIVATE const rlt_command *rlt_cmd_set_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_set_algebra_rows(size_t *n);

#endif
