/* SPDX-License-Identifier: MIT
 *
 * connect.h - from a name to a connected socket, within one deadline.
 *
 * A name may have several addresses, of both families. They are tried side by
 * side: the next one starts when one failed, or after a quarter of a second of
 * silence, and the first to connect wins. Everything is non-blocking but the
 * look-up of a name that is not a number. */
#ifndef RLT_CONNECT_H
#define RLT_CONNECT_H

#include "watchset.h"

#ifndef RELET_NO_POLL

#define RLT_CONNECT_RACERS (RELET_WATCH_MAX - 1) /* attempts open at once */

struct rlt_connect_address;

typedef struct rlt_connect {
    struct rlt_connect_address *address; /* from malloc; freed with the race */
    int count, next;                  /* addresses; the first not tried yet */
    relet_time next_at, deadline;
    int keepalive_s;
    rlt_watchset *set; /* which a descriptor leaves before it is closed     */
    int fd[RLT_CONNECT_RACERS]; /* to watch for POLLOUT, or -1              */
    int born[RLT_CONNECT_RACERS]; /* which address each is of               */
    int err;                   /* why it failed, in errno's numbers …       */
    const char *step, *why;    /* … and words: step "connect to"            */
} rlt_connect;

enum { RLT_CONNECT_ON = -1, RLT_CONNECT_LOST = -2 };

RELET_PRIVATE void rlt_connect_init(rlt_connect *d, int keepalive_s,
                                    rlt_watchset *set);

/* Both return a connected descriptor, which is the caller's from then on,
 * RLT_CONNECT_ON, or RLT_CONNECT_LOST: then err, step and why tell. `ready`: bit
 * i is set when poll had something to say about fd[i]. */
RELET_PRIVATE int rlt_connect_start(rlt_connect *d, const relet_io *to,
                                    relet_time now);
RELET_PRIVATE int rlt_connect_turn(rlt_connect *d, unsigned ready,
                                   relet_time now);

RELET_PRIVATE relet_time rlt_connect_deadline(const rlt_connect *d);
RELET_PRIVATE void rlt_connect_stop(rlt_connect *d);

/* Whether a path fits into an address of this system. */
RELET_PRIVATE int rlt_connect_path_fits(const char *path);

/* What every descriptor of ours is: non-blocking and closed by exec. 0 or -1
 * and errno. */
RELET_PRIVATE int rlt_connect_prepare(int fd);

/* What every link's socket is: prompt, kept alive, without SIGPIPE. */
RELET_PRIVATE void rlt_connect_options(int fd, int keepalive_s);

RELET_PRIVATE void rlt_connect_close(int *fd);

#endif /* RELET_NO_POLL */

#endif
