/* SPDX-License-Identifier: MIT
 *
 * store.h - one store: a local server, a clock, and a log where there is a
 * file.
 *
 *     shut -> open -> shut      life + 1
 *
 * A store is shut until its first client connects, and again when its log
 * cannot be written. Shutting adds 1 to `life`, and all connection numbers
 * become void. */
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

/* Tells the local server the time, and commits. The store may be shut
 * afterwards. */
RELET_PRIVATE void rlt_store_pass(rlt_store *s);

/* Writes the changes of commands to the log. Call it after commands have run,
 * before any client gets replies. The store may be shut afterwards. */
RELET_PRIVATE void rlt_store_commit(rlt_store *s);

/* Syncs the log: now, or if sync_at has come. The store may be shut
 * afterwards. */
RELET_PRIVATE void rlt_store_sync(rlt_store *s);
RELET_PRIVATE void rlt_store_sync_due(rlt_store *s);

/* When rlt_store_pass or rlt_store_sync_due is next due, by relet_clock. */
RELET_PRIVATE relet_time rlt_store_deadline(const rlt_store *s);

#endif /* RELET_NO_POLL */

#endif
