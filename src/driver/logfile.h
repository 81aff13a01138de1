/* SPDX-License-Identifier: MIT
 *
 * logfile.h - one log as a file: opened, read, appended to, replaced.
 *
 * Functions that return int return 0, or an errno with a sentence in `text`.
 * After an error close the log: its content is unknown until it is read
 * again. */
#ifndef RLT_LOGFILE_H
#define RLT_LOGFILE_H

#include "log.h"

#ifndef RELET_NO_POLL

typedef struct rlt_logfile {
    int fd;               /* -1: closed                                      */
    char *path;           /* symbolic links resolved; from malloc            */
    rlt_log log;
    uint64_t size;        /* end of the last whole record                    */
    uint64_t end;         /* size of the file, while it is read              */
    uint64_t synced;      /* bytes that are safe on disk                     */
    uint64_t cut_at;      /* where a torn end was cut off when opening, …    */
    uint64_t cut_bytes;   /* … and its size                                  */
    uint8_t *p;           /* a window of the file, from malloc, with n bytes */
    size_t at, n, cap;
    char text[384];
} rlt_logfile;

RELET_PRIVATE void rlt_logfile_init(rlt_logfile *d);

/* Opens and locks the file; makes it if there is none. If size is 0 it is new:
 * fill it by rlt_logfile_replace. Otherwise read all records. */
RELET_PRIVATE int rlt_logfile_open(rlt_logfile *d, const char *path);

/* Lends the next record. After the last one *n is 0: then a torn end has been
 * cut off, the file ends at `size`, and all of it is safe on disk. */
RELET_PRIVATE int rlt_logfile_next(rlt_logfile *d, const uint8_t **p,
                                   size_t *n);

/* Writes a record. It is safe on disk after rlt_logfile_sync. */
RELET_PRIVATE int rlt_logfile_append(rlt_logfile *d, const void *p, size_t n);
RELET_PRIVATE int rlt_logfile_sync(rlt_logfile *d);

/* Replacing the log d by a second one: `fresh` begins it, `add` fills it, in
 * few large records, `replace` renames it over d. A crash at any time leaves
 * one of the two. If a call fails, d is as it was, unless *done says that the
 * rename took place. Call `abandon` at the end in any case. */
RELET_PRIVATE int rlt_logfile_fresh(rlt_logfile *fresh, rlt_logfile *d,
                                    uint64_t salt);
RELET_PRIVATE int rlt_logfile_add(rlt_logfile *fresh, const void *p, size_t n);
RELET_PRIVATE int rlt_logfile_replace(rlt_logfile *d, rlt_logfile *fresh,
                                      int *done);
RELET_PRIVATE void rlt_logfile_abandon(rlt_logfile *fresh);

/* Sets `text` to the file's name and this sentence. */
RELET_PRIVATE void rlt_logfile_blame(rlt_logfile *d, const char *what);

/* Close the file, which unlocks it. */
RELET_PRIVATE void rlt_logfile_close(rlt_logfile *d);

#endif /* RELET_NO_POLL */

#endif
