/* SPDX-License-Identifier: MIT
 *
 * piped.h - a command that is given its input and whose output is kept.
 *
 * Nothing here waits: pipes are filled and emptied as far as they go when poll
 * says so. What the command writes to standard error is passed on to ours, and
 * the end of it kept. */
#ifndef RELET_PIPED_H
#define RELET_PIPED_H

#include <poll.h>

#include "child.h"

#define PIPED_TAIL 2000
#define PIPED_NOTE 250
#define PIPED_NOTES 3 /* the descriptor by which it tells how far it has come */
#define PIPED_FDS CHILD_FDS

typedef struct piped {
    child child;
    int fd[PIPED_FDS];       /* our ends; -1: closed                        */
    char *in;                /* a copy of what it is given                  */
    size_t in_n, in_at;
    char *out;               /* what it said                                */
    size_t out_n, out_cap, out_max;
    int out_over;            /* … and more than that, which is thrown away  */
    char tail[PIPED_TAIL];   /* the end of what it said on standard error   */
    size_t tail_n;
    int quiet;               /* do not pass that on                         */
    void (*pass)(void *to, const char *bytes, size_t n); /* instead of ours */
    void *to;
    int midline;             /* the last of it was no newline               */
    char line[PIPED_NOTE];   /* of its notes, not complete                  */
    size_t line_n;
    char note[PIPED_NOTE];   /* the last complete line, cut to that         */
    size_t note_n;
    int has_note;            /* … which nobody has taken yet                */
} piped;

/* argv as for child_start. 0, or -1 and errno. */
int piped_start(piped *p, char **argv, relet_span in, size_t out_max,
                relet_time kill_at);

/* Whether standard error takes something now: who does not read it is not to
 * keep us from what is more urgent. */
int piped_may_say(void);

/* The descriptors to watch, at most PIPED_FDS; how many there are. */
int piped_watch(const piped *p, struct pollfd *fds);

/* Do what can be done now. */
void piped_carry(piped *p);

/* As child_ended; then all that the command has written is here. */
int piped_ended(piped *p, int *code);

/* What is kept is given back. */
void piped_free(piped *p);

#endif
