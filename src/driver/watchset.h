/* SPDX-License-Identifier: MIT
 *
 * watchset.h - one descriptor for all that a client watches (relet_fd).
 *
 * It is an epoll instance of the client's own. A loop that watches it never
 * sees the descriptors in it, which come and go and whose numbers the program
 * may get for files of its own. Each descriptor leaves the set before it is
 * closed: behind that its number may name another file, and a child process may
 * keep the file open, which would then be reported for ever. */
#ifndef RLT_WATCHSET_H
#define RLT_WATCHSET_H

#include "base.h"

#ifndef RELET_NO_POLL

typedef struct rlt_watchset {
    int fd; /* -1: nobody asked for it                                       */
    relet_watch in[RELET_WATCH_MAX]; /* what is in it; fd -1: a free place   */
} rlt_watchset;

RELET_PRIVATE void rlt_watchset_init(rlt_watchset *s);

/* Let the set have what stands in w, RELET_WATCH_MAX places, fd -1 where there
 * is nothing. The set's descriptor; -1 and errno: this system has no such
 * thing, or no room. */
RELET_PRIVATE int rlt_watchset_sync(rlt_watchset *s, const relet_watch *w);

/* This descriptor is about to be closed. */
RELET_PRIVATE void rlt_watchset_drop(rlt_watchset *s, int fd);

/* In a child: the instance is shared with the parent, so drop nothing. */
RELET_PRIVATE void rlt_watchset_forget(rlt_watchset *s);

RELET_PRIVATE void rlt_watchset_close(rlt_watchset *s);

#endif /* RELET_NO_POLL */

#endif
