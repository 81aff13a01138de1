/* SPDX-License-Identifier: MIT
 *
 * watchset.h - one descriptor for all that a client watches (relet_fd).
 *
 * It is an epoll instance of the client's own. A loop that watches it never
 * sees the descriptors in it, which come and go and whose numbers the program
 * may get for files of its own. Each descriptor leaves the set before it is
 * closed: afterwards its number may name another file, and a child process may
 * keep the file open, which would then be reported for ever. */
#ifndef RLT_WATCHSET_H
#define RLT_WATCHSET_H

#include "base.h"

#ifndef RELET_NO_POLL

typedef struct rlt_watchset {
    int fd; /* -1: relet_fd was not called yet                               */
    relet_watch in[RELET_WATCH_MAX]; /* what is in it; fd -1: a free place   */
} rlt_watchset;

RELET_PRIVATE void rlt_watchset_init(rlt_watchset *s);

/* Makes the set watch exactly what w lists: RELET_WATCH_MAX places; unused ones
 * have fd -1. Returns the set's descriptor, or -1 and errno if this system has
 * no epoll, or no room. */
RELET_PRIVATE int rlt_watchset_sync(rlt_watchset *s, const relet_watch *w);

/* Call it before a descriptor is closed. */
RELET_PRIVATE void rlt_watchset_drop(rlt_watchset *s, int fd);

/* In a child process: forgets all descriptors but removes none, as the epoll
 * instance is shared with the parent. */
RELET_PRIVATE void rlt_watchset_forget(rlt_watchset *s);

RELET_PRIVATE void rlt_watchset_close(rlt_watchset *s);

#endif /* RELET_NO_POLL */

#endif
