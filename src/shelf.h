/* SPDX-License-Identifier: MIT
 *
 * shelf.h - one store: a local server, a clock, and a log where there is a
 * file.
 *
 *     shut -> open -> shut      life + 1
 *
 * It is shut until the first client connects, and again when its log cannot be
 * written. Then `life` goes up, and all connection numbers are void. */
#ifndef RLT_SHELF_H
#define RLT_SHELF_H

#include "disk.h"
#include "relet_local.h"

#ifndef RELET_NO_POLL

typedef struct rlt_shelf {
    struct rlt_shelf *next;
    relet_stores *owner;
    const relet_stores_config *config;
    unsigned clients;
    char name[1024];
    relet_scheme scheme;
    relet_fsync fsync;
    uint64_t seed;
    relet_local *local; /* NULL: shut                                         */
    uint64_t life;
    rlt_disk disk;
    int suspect;        /* a sync failed: the disk may have less than we read */
    relet_time sync_at; /* with RELET_FSYNC_EVERYSEC                          */
    uint64_t rewrite_at;
    relet_store_info info;
    char text[384];     /* why it was shut, or could not be opened            */
} rlt_shelf;

/* 0, or an errno and a sentence in `text`. */
RELET_PRIVATE int rlt_shelf_open(rlt_shelf *s);
RELET_PRIVATE void rlt_shelf_shut(rlt_shelf *s);

/* Time passes in the local server. It may be shut afterwards. */
RELET_PRIVATE void rlt_shelf_pass(rlt_shelf *s);

/* Write what commands changed. Call it behind everything that runs some, before
 * anybody gets replies. It may be shut afterwards. */
RELET_PRIVATE void rlt_shelf_commit(rlt_shelf *s);

/* See to it that what was written is safe: now, or if its time has come. */
RELET_PRIVATE void rlt_shelf_sync(rlt_shelf *s);
RELET_PRIVATE void rlt_shelf_sync_due(rlt_shelf *s);

/* When those are worth calling, by relet_clock. */
RELET_PRIVATE relet_time rlt_shelf_deadline(const rlt_shelf *s);

#endif /* RELET_NO_POLL */

#endif
