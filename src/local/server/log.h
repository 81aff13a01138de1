/* SPDX-License-Identifier: MIT
 *
 * log.h - the format of a log file: its records, and which of them are intact.
 *
 *     header   relet log 1 SALT BASE CHECK\n       numbers as 16 hex digits
 *     record   length synced mark check            8 bytes each, low one first
 *              payload                             `length` bytes
 *
 * SALT is this file's own number. The first BASE bytes were safe on disk before
 * the file got its name. `synced` is how many bytes of the file were safe when
 * the record was written. `mark` is a hash of salt, the record's offset, length
 * and synced; `check` is a hash of mark and the payload. So a record is valid
 * only in its own file and at its own offset, not where its bytes turn up in
 * freed blocks of the disk or inside a stored value.
 *
 * A crash leaves a torn record at the end. It may be cut off, unless a later
 * record or the header says that its offset was safe once: then the file is
 * damaged, and nothing may be cut. */
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
    RLT_LOG_FOREIGN, /* not a log of relet                                    */
    RLT_LOG_LATER,   /* a log of an unknown version                           */
    RLT_LOG_DAMAGED  /* begins as a log, but its header is bad                */
} rlt_log_kind;

RELET_PRIVATE void rlt_log_header(const rlt_log *g, char out[RLT_LOG_HEADER]);

/* The kind of the file that begins with these n bytes (RLT_LOG_HEADER, or the
 * whole file if shorter). *g is set only for RLT_LOG_OURS. */
RELET_PRIVATE rlt_log_kind rlt_log_header_read(rlt_log *g, const char *p,
                                               size_t n);

/* Writes the head of the record at offset `at` of the file. */
RELET_PRIVATE void rlt_log_head(const rlt_log *g, uint64_t at, uint64_t synced,
                                const void *payload, size_t n,
                                uint8_t out[RLT_LOG_HEAD]);

/* 1 when these bytes are the head of a record at offset `at`. Then a payload of
 * *length bytes should follow; rlt_log_whole returns 1 if it is intact. */
RELET_PRIVATE int rlt_log_head_read(const rlt_log *g, uint64_t at,
                                    const uint8_t head[RLT_LOG_HEAD],
                                    uint64_t *length, uint64_t *synced);
RELET_PRIVATE int rlt_log_whole(const uint8_t head[RLT_LOG_HEAD],
                                const void *payload, size_t n);

/* How many bytes of the file were safe once, by the record heads that begin at
 * one of the `places` offsets from `at` on; at least g->base. `p` holds the
 * bytes from `at` on, places + RLT_LOG_HEAD - 1 of them. */
RELET_PRIVATE uint64_t rlt_log_safe(const rlt_log *g, uint64_t at,
                                    const uint8_t *p, size_t places);

/* The first error in the replies (RESP2) to replayed commands; p NULL: none. */
RELET_PRIVATE relet_span rlt_log_refusal(const uint8_t *p, size_t n);

#endif
