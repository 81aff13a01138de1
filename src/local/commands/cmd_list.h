/* SPDX-License-Identifier: MIT
 *
 * cmd_list.h - commands on lists.
 */
#ifndef RLT_CMD_LIST_H
#define RLT_CMD_LIST_H

#include "call.h"

/* cmd_list.c, and cmd_list_move.c: commands that pop from one of several lists,
 * move between two, or wait. */
RELET_PRIVATE const rlt_command *rlt_cmd_list_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_list_move_rows(size_t *n);

/* n elements were taken from an end of the list under argv[i]: notify clients,
 * and delete the list when it is empty. */
RELET_PRIVATE void rlt_cmd_list_taken(rlt_call *c, uint32_t i, rlt_obj *o,
                                      int end, int64_t n);

/* Removes n elements from an end, and replies them as an array. n is within the
 * list. */
RELET_PRIVATE void rlt_cmd_list_pop_range(rlt_call *c, uint32_t i, rlt_obj *o,
                                          int end, uint32_t n);

#endif
