/* SPDX-License-Identifier: MIT
 *
 * connect.h - from a name to a connected socket, within one deadline.
 *
 * A name may have several addresses, of both families. They are tried side by
 * side: the next one starts when one failed, or after a quarter of a second of
 * silence, and the first to connect wins. Nothing blocks but the look-up of a
 * host name; numeric addresses need none. */
#ifndef RLT_CONNECT_H
#define RLT_CONNECT_H

#include "watchset.h"

#ifndef RELET_NO_POLL

/* Attempts that are open at once. */
#define RLT_CONNECT_RACERS ((RELET_WATCH_MAX - 1) / RELET_LINKS_MAX)

struct rlt_connect_address;

typedef struct rlt_connect {
    struct rlt_connect_address *address; /* from malloc; freed with the race */
    int count, next;                  /* addresses; the next one to try     */
    relet_time next_at, deadline;
    int keepalive_s;
    rlt_watchset *set; /* descriptors are dropped from it before closing    */
    int fd[RLT_CONNECT_RACERS]; /* to watch for POLLOUT, or -1              */
    int born[RLT_CONNECT_RACERS]; /* index of each attempt's address        */
    int err;                   /* errno of the failure …                    */
    const char *step, *why;    /* … in words; step is "connect to"          */
} rlt_connect;

enum { RLT_CONNECT_ON = -1, RLT_CONNECT_LOST = -2 };

RELET_PRIVATE void rlt_connect_init(rlt_connect *d, int keepalive_s,
                                    rlt_watchset *set);

/* Both return a connected descriptor, which the caller owns from then on;
 * RLT_CONNECT_ON while attempts go on; or RLT_CONNECT_LOST, and err, step and
 * why tell the cause. Bit i of `ready` is set if poll reported fd[i]. */
RELET_PRIVATE int rlt_connect_start(rlt_connect *d, const relet_io *to,
                                    relet_time now);
RELET_PRIVATE int rlt_connect_turn(rlt_connect *d, unsigned ready,
                                   relet_time now);

RELET_PRIVATE relet_time rlt_connect_deadline(const rlt_connect *d);
RELET_PRIVATE void rlt_connect_stop(rlt_connect *d);

/* Whether a path fits into an address of this system. */
RELET_PRIVATE int rlt_connect_path_fits(const char *path);

/* Makes a descriptor non-blocking and closed by exec, as all of ours are.
 * Returns 0, or -1 and errno. */
RELET_PRIVATE int rlt_connect_prepare(int fd);

/* Sets the options of a link's socket: no delay, keepalive, no SIGPIPE. */
RELET_PRIVATE void rlt_connect_options(int fd, int keepalive_s);

RELET_PRIVATE void rlt_connect_close(int *fd);

#endif /* RELET_NO_POLL */

#endif
