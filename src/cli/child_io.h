/* SPDX-License-Identifier: MIT
 *
 * child_io.h - a command that is given its input and whose output is kept.
 *
 * Nothing here waits: pipes are filled and emptied as far as they go when poll
 * says so. What the command writes to standard error is passed on to ours, and
 * the end of it kept. */
#ifndef RELET_PIPED_H
#define RELET_PIPED_H

#include <poll.h>

#include "child.h"

#define CHILD_IO_TAIL 2000
#define CHILD_IO_NOTE 250
#define CHILD_IO_NOTES                                                         \
    3 /* the descriptor by which it tells how far it has come */
#define CHILD_IO_FDS CHILD_FDS

typedef struct child_io {
    child child;
    int fd[CHILD_IO_FDS];    /* our ends; -1: closed                        */
    char *in;                /* a copy of what it is given                  */
    size_t in_n, in_at;
    char *out;               /* what it said                                */
    size_t out_n, out_cap, out_max;
    int out_over;            /* … and more than that, which is thrown away  */
    char tail[CHILD_IO_TAIL]; /* the end of what it said on standard error  */
    size_t tail_n;
    int quiet;               /* do not pass that on                         */
    void (*pass)(void *to, const char *bytes, size_t n); /* instead of ours */
    void *to;
    int midline;             /* the last of it was no newline               */
    char line[CHILD_IO_NOTE]; /* of its notes, not complete                 */
    size_t line_n;
    char note[CHILD_IO_NOTE]; /* the last complete line, cut to that        */
    size_t note_n;
    int has_note;            /* … which nobody has taken yet                */
} child_io;

/* argv as for child_start. 0, or -1 and errno. */
int child_io_start(child_io *p, char **argv, relet_span in, size_t out_max,
                   relet_time kill_at);

/* Whether standard error takes something now: who does not read it is not to
 * keep us from what is more urgent. */
int child_io_may_say(void);

/* The descriptors to watch, at most CHILD_IO_FDS; how many there are. */
int child_io_watch(const child_io *p, struct pollfd *fds);

/* Do what can be done now. */
void child_io_carry(child_io *p);

/* As child_ended; then all that the command has written is here. */
int child_io_ended(child_io *p, int *code);

/* What is kept is given back. */
void child_io_free(child_io *p);

#endif
