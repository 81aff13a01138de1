/* SPDX-License-Identifier: MIT
 *
 * logfile.h - one log as a file: opened, read, appended to, replaced.
 *
 * Functions that return int return 0, or an errno and have left a sentence in
 * `text`. After one the log is to be closed: what is in the file is known
 * again only when it is read again. */
#ifndef RLT_LOGFILE_H
#define RLT_LOGFILE_H

#include "log.h"

#ifndef RELET_NO_POLL

typedef struct rlt_logfile {
    int fd;               /* -1: closed                                      */
    char *path;           /* without links, from malloc                      */
    rlt_log log;
    uint64_t size;        /* of what is whole                                */
    uint64_t end;         /* of the file, while it is read                   */
    uint64_t synced;      /* so much is safe                                 */
    uint64_t cut_at;      /* where it was torn when it was opened, and       */
    uint64_t cut_bytes;   /* how much was cut off                            */
    uint8_t *p;           /* a window of the file, from malloc, with n bytes */
    size_t at, n, cap;
    char text[384];
} rlt_logfile;

RELET_PRIVATE void rlt_logfile_init(rlt_logfile *d);

/* Make the file if there is none, and lock it. A new one has size 0, and
 * rlt_logfile_replace has to fill it; else read all records. */
RELET_PRIVATE int rlt_logfile_open(rlt_logfile *d, const char *path);

/* Lends the next record; *n is 0 behind the last, and then the file ends at
 * `size` and is safe. */
RELET_PRIVATE int rlt_logfile_next(rlt_logfile *d, const uint8_t **p,
                                   size_t *n);

/* Write a record. It is safe after rlt_logfile_sync. */
RELET_PRIVATE int rlt_logfile_append(rlt_logfile *d, const void *p, size_t n);
RELET_PRIVATE int rlt_logfile_sync(rlt_logfile *d);

/* A second log, which is to take the place of d: begun by `fresh`, filled by
 * `add` in as few records as are sensible, put in the place by `replace`. A
 * crash at any time leaves one of both. When one fails, d is as it was, unless
 * *done says that the names have changed. In any case `abandon` it then. */
RELET_PRIVATE int rlt_logfile_fresh(rlt_logfile *fresh, rlt_logfile *d,
                                    uint64_t salt);
RELET_PRIVATE int rlt_logfile_add(rlt_logfile *fresh, const void *p, size_t n);
RELET_PRIVATE int rlt_logfile_replace(rlt_logfile *d, rlt_logfile *fresh,
                                      int *done);
RELET_PRIVATE void rlt_logfile_abandon(rlt_logfile *fresh);

/* A sentence of one's own, with the file's name. */
RELET_PRIVATE void rlt_logfile_blame(rlt_logfile *d, const char *what);

/* Close the file, which unlocks it. */
RELET_PRIVATE void rlt_logfile_close(rlt_logfile *d);

#endif /* RELET_NO_POLL */

#endif
