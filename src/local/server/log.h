/* SPDX-License-Identifier: MIT
 *
 * log.h - the bytes of a log: how records look, and which are whole.
 *
 *     header   relet log 1 SALT BASE CHECK\n       numbers as 16 hex digits
 *     record   length synced mark check            8 bytes each, low one first
 *              payload                             `length` bytes
 *
 * SALT is a number of this file. Up to BASE the file was safe on disk before
 * it got its name. `synced` is how much of it was safe when the record was
 * written. `mark` is of salt, the record's place, length and synced; `check` is
 * of mark and the payload. So a record counts in its own file and at its own
 * place alone, not when it is found in freed blocks or in somebody's value.
 *
 * What a crash leaves at the end is no record. Whether it may be cut off is
 * told by what stands behind it: when a later record, or the header, knows that
 * this place was safe once, the file was damaged, and nothing may be cut. */
#ifndef RLT_LOG_H
#define RLT_LOG_H

#include "text.h"

#define RLT_LOG_HEADER 63 /* bytes */
#define RLT_LOG_HEAD 32   /* bytes of a record before its payload */

typedef struct rlt_log {
    uint64_t salt, base;
} rlt_log;

typedef enum rlt_log_kind {
    RLT_LOG_OURS,
    RLT_LOG_FOREIGN, /* something else                                        */
    RLT_LOG_LATER,   /* of a version that is not known here                   */
    RLT_LOG_DAMAGED  /* it was a header once                                  */
} rlt_log_kind;

RELET_PRIVATE void rlt_log_header(const rlt_log *g, char out[RLT_LOG_HEADER]);

/* What file begins with these n bytes (RLT_LOG_HEADER, or all there are). Only
 * with RLT_LOG_OURS *g is set. */
RELET_PRIVATE rlt_log_kind rlt_log_header_read(rlt_log *g, const char *p,
                                               size_t n);

/* The head of a record that stands at that place in the file. */
RELET_PRIVATE void rlt_log_head(const rlt_log *g, uint64_t at, uint64_t synced,
                                const void *payload, size_t n,
                                uint8_t out[RLT_LOG_HEAD]);

/* 1 when the bytes at that place are the head of a record. Then the payload of
 * *length bytes should follow, and can be tried by rlt_log_whole. */
RELET_PRIVATE int rlt_log_head_read(const rlt_log *g, uint64_t at,
                                    const uint8_t head[RLT_LOG_HEAD],
                                    uint64_t *length, uint64_t *synced);
RELET_PRIVATE int rlt_log_whole(const uint8_t head[RLT_LOG_HEAD],
                                const void *payload, size_t n);

/* How much of the file is known to have been safe once, going by the heads
 * that begin at one of `places` places from `at` on: at least g->base. `p`
 * holds the bytes from there, RLT_LOG_HEAD - 1 more than places. */
RELET_PRIVATE uint64_t rlt_log_safe(const rlt_log *g, uint64_t at,
                                    const uint8_t *p, size_t places);

/* The first error in replies (RESP2) to what was replayed; p NULL: none. */
RELET_PRIVATE relet_span rlt_log_refusal(const uint8_t *p, size_t n);

#endif
