/* SPDX-License-Identifier: MIT
 *
 * cmd_stream.h - commands on streams and their groups.
 */
#ifndef RLT_CMD_STREAM_H
#define RLT_CMD_STREAM_H

#include "call.h"

/* cmd_stream.c: entries; cmd_stream_read.c: XREAD, XREADGROUP; cmd_group.c:
 * XGROUP, XINFO; cmd_group_claim.c: XACK, XPENDING, XCLAIM, XAUTOCLAIM, and the
 * functions below for groups. */
RELET_PRIVATE const rlt_command *rlt_cmd_stream_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_stream_read_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_group_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_group_claim_rows(size_t *n);

/* ---------------------------------------------------------------- arguments */

/* argv[i] as an id whose sequence is `missing` when it has none: 1, or 0 when
 * an error was replied. */
RELET_PRIVATE int rlt_cmd_stream_id(rlt_call *c, uint32_t i, uint64_t missing,
                                    rlt_stream_id *id);

/* As rlt_cmd_stream_id, but - and + are ids, too. */
RELET_PRIVATE int rlt_cmd_stream_id_any(rlt_call *c, uint32_t i,
                                        uint64_t missing, rlt_stream_id *id);

/* A bound of a range; after a leading ( the next id inwards. end 0: the lower
 * bound, 1: the upper bound. */
RELET_PRIVATE int rlt_cmd_stream_bound(rlt_call *c, uint32_t i, int end,
                                       rlt_stream_id *id);

/* The group named argv[i] of the stream under argv[key]: 1, or 0 when WRONGTYPE
 * or NOGROUP was replied, the latter with `tail` at its end. */
RELET_PRIVATE int rlt_cmd_stream_group(rlt_call *c, uint32_t key, uint32_t i,
                                       const char *tail, rlt_stream **s,
                                       rlt_stream_group **g);

/* Replies an error such as NOGROUP: a sentence around two names. */
RELET_PRIVATE void rlt_cmd_stream_no_group(rlt_call *c, const char *before,
                                           relet_span one, const char *between,
                                           relet_span other,
                                           const char *after);

/* The consumer named argv[i], which is seen now. A missing consumer is made,
 * with its event and log entry; its memory is promised. argv[key] is the
 * stream. */
RELET_PRIVATE rlt_stream_consumer *rlt_cmd_stream_consumer(
    rlt_call *c, uint32_t key, rlt_stream_group *g, uint32_t i);

/* ------------------------------------------------------------------ replies */

RELET_PRIVATE void rlt_cmd_stream_tell_id(rlt_call *c, rlt_stream_id id);
RELET_PRIVATE void rlt_cmd_stream_tell(rlt_call *c, const rlt_stream_entry *e);

/* An array of the entries from..to, at most max of them (0: all), the last
 * first when `reverse`. */
RELET_PRIVATE void rlt_cmd_stream_tell_range(rlt_call *c, const rlt_stream *s,
                                             rlt_stream_id from,
                                             rlt_stream_id to, uint64_t max,
                                             int reverse);

/* ------------------------------------------------------------------ the log */

RELET_PRIVATE void rlt_cmd_stream_log_id(rlt_call *c, rlt_stream_id id);

/* Log a pending entry, so that a replay restores it; and the position of the
 * group. key and group are indexes in argv. */
RELET_PRIVATE void rlt_cmd_stream_log_pending(rlt_call *c, uint32_t key,
                                              uint32_t group,
                                              const rlt_stream_group *g,
                                              const rlt_stream_pending *p);
RELET_PRIVATE void rlt_cmd_stream_log_group(rlt_call *c, uint32_t key,
                                            uint32_t group,
                                            const rlt_stream_group *g);

#endif
