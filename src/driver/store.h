/* SPDX-License-Identifier: MIT
 *
 * store.h - one store: a local server, a clock, and a log where there is a
 * file.
 *
 *     shut -> open -> shut      life + 1
 *
 * It is shut until the first client connects, and again when its log cannot be
 * written. Then `life` goes up, and all connection numbers are void. */
#ifndef RLT_STORE_H
#define RLT_STORE_H

#include "logfile.h"
#include "relet_local.h"

#ifndef RELET_NO_POLL

typedef struct rlt_store {
    struct rlt_store *next;
    relet_stores *owner;
    const relet_stores_config *config;
    unsigned clients;
    char name[1024];
    relet_scheme scheme;
    relet_fsync fsync;
    uint64_t seed;
    relet_local *local; /* NULL: shut                                         */
    uint64_t life;
    rlt_logfile disk;
    int suspect;        /* a sync failed: the disk may have less than we read */
    relet_time sync_at; /* with RELET_FSYNC_EVERYSEC                          */
    uint64_t rewrite_at;
    relet_store_info info;
    char text[384];     /* why it was shut, or could not be opened            */
} rlt_store;

/* 0, or an errno and a sentence in `text`. */
RELET_PRIVATE int rlt_store_open(rlt_store *s);
RELET_PRIVATE void rlt_store_shut(rlt_store *s);

/* Time passes in the local server. It may be shut afterwards. */
RELET_PRIVATE void rlt_store_pass(rlt_store *s);

/* Write what commands changed. Call it behind everything that runs some, before
 * anybody gets replies. It may be shut afterwards. */
RELET_PRIVATE void rlt_store_commit(rlt_store *s);

/* See to it that what was written is safe: now, or if its time has come. */
RELET_PRIVATE void rlt_store_sync(rlt_store *s);
RELET_PRIVATE void rlt_store_sync_due(rlt_store *s);

/* When those are worth calling, by relet_clock. */
RELET_PRIVATE relet_time rlt_store_deadline(const rlt_store *s);

#endif /* RELET_NO_POLL */

#endif
