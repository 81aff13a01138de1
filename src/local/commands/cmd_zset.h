/* SPDX-License-Identifier: MIT
 *
 * cmd_zset.h - commands on sorted sets.
 */
#ifndef RLT_CMD_ZSET_H
#define RLT_CMD_ZSET_H

#include "call.h"

/* cmd_zset.c; ranges: cmd_zset_range.c; popping and waiting: cmd_zset_pop.c;
 * several at once: cmd_zset_algebra.c. */
RELET_PRIVATE const rlt_command *rlt_cmd_zset_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_zset_range_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_zset_pop_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_zset_algebra_rows(size_t *n);

/* Writes a member, with its score if asked: two elements in RESP2, in RESP3 an
 * array of both. And writes the header for n of these. */
RELET_PRIVATE void rlt_cmd_zset_tell(rlt_call *c, relet_span member,
                                     double score, int with_score);
RELET_PRIVATE void rlt_cmd_zset_header(rlt_call *c, size_t n, int with_score);

/* Puts the result o under argv[1], or (o NULL) deletes that key. Replies the
 * number of members. */
RELET_PRIVATE void rlt_cmd_zset_store(rlt_call *c, rlt_obj *o,
                                      const char *event);

#endif
