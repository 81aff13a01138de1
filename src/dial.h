/* SPDX-License-Identifier: MIT
 *
 * dial.h - from a name to a connected socket, within one deadline.
 *
 * A name may have several addresses, of both families. They are tried side by
 * side: the next one starts when one failed, or after a quarter of a second of
 * silence, and the first to connect wins. Everything is non-blocking but the
 * look-up of a name that is not a number. */
#ifndef RLT_DIAL_H
#define RLT_DIAL_H

#include "watchset.h"

#ifndef RELET_NO_POLL

#define RLT_DIAL_RACERS (RELET_WATCH_MAX - 1) /* attempts open at once */

struct rlt_dial_address;

typedef struct rlt_dial {
    struct rlt_dial_address *address; /* from malloc; freed with the race   */
    int count, next;                  /* addresses; the first not tried yet */
    relet_time next_at, deadline;
    int keepalive_s;
    rlt_watchset *set; /* which a descriptor leaves before it is closed     */
    int fd[RLT_DIAL_RACERS];   /* to watch for POLLOUT, or -1               */
    int born[RLT_DIAL_RACERS]; /* which address each is of                  */
    int err;                   /* why it failed, in errno's numbers …       */
    const char *step, *why;    /* … and words: step "connect to"            */
} rlt_dial;

enum { RLT_DIAL_ON = -1, RLT_DIAL_LOST = -2 };

RELET_PRIVATE void rlt_dial_init(rlt_dial *d, int keepalive_s,
                                 rlt_watchset *set);

/* Both return a connected descriptor, which is the caller's from then on,
 * RLT_DIAL_ON, or RLT_DIAL_LOST: then err, step and why tell. `ready`: bit i is
 * set when poll had something to say about fd[i]. */
RELET_PRIVATE int rlt_dial_start(rlt_dial *d, const relet_io *to,
                                 relet_time now);
RELET_PRIVATE int rlt_dial_turn(rlt_dial *d, unsigned ready, relet_time now);

RELET_PRIVATE relet_time rlt_dial_deadline(const rlt_dial *d);
RELET_PRIVATE void rlt_dial_stop(rlt_dial *d);

/* Whether a path fits into an address of this system. */
RELET_PRIVATE int rlt_dial_path_fits(const char *path);

/* What every descriptor of ours is: non-blocking and closed by exec. 0 or -1
 * and errno. */
RELET_PRIVATE int rlt_dial_prepare(int fd);

/* What every link's socket is: prompt, kept alive, without SIGPIPE. */
RELET_PRIVATE void rlt_dial_options(int fd, int keepalive_s);

RELET_PRIVATE void rlt_dial_close(int *fd);

#endif /* RELET_NO_POLL */

#endif
