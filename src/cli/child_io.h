/* SPDX-License-Identifier: MIT
 *
 * child_io.h - a command that is given its input and whose output is kept.
 *
 * Nothing here blocks: pipes are filled and emptied as far as they go when poll
 * says so. The command's standard error is passed on to ours, and its end is
 * kept. */
#ifndef RELET_CHILD_IO_H
#define RELET_CHILD_IO_H

#include <poll.h>

#include "child.h"

#define CHILD_IO_TAIL 2000
#define CHILD_IO_NOTE 250
#define CHILD_IO_NOTES                                                         \
    3 /* the command's descriptor for notes on its progress */
#define CHILD_IO_FDS CHILD_FDS

typedef struct child_io {
    child child;
    int fd[CHILD_IO_FDS];    /* our ends; -1: closed                        */
    char *in;                /* a copy of the command's input               */
    size_t in_n, in_at;
    char *out;               /* the command's standard output               */
    size_t out_n, out_cap, out_max;
    int out_over;            /* output beyond out_max was thrown away       */
    char tail[CHILD_IO_TAIL]; /* the end of the command's standard error    */
    size_t tail_n;
    int quiet;               /* do not pass standard error on               */
    void (*pass)(void *to, const char *bytes, size_t n); /* NULL: to stderr */
    void *to;
    int midline;             /* the last byte passed on was no newline      */
    char line[CHILD_IO_NOTE]; /* a note that is not complete yet            */
    size_t line_n;
    char note[CHILD_IO_NOTE]; /* the last complete note, cut to the size    */
    size_t note_n;
    int has_note;            /* the note has not been taken yet             */
} child_io;

/* argv as for child_start. 0, or -1 and errno. */
int child_io_start(child_io *p, char **argv, relet_span in, size_t out_max,
                   relet_time kill_at);

/* 1 when standard error takes bytes now: a reader that does not read them must
 * not keep us from more urgent work. */
int child_io_may_say(void);

/* The descriptors to watch, at most CHILD_IO_FDS. Returns their number. */
int child_io_watch(const child_io *p, struct pollfd *fds);

/* Move the bytes that can be moved now. */
void child_io_carry(child_io *p);

/* As child_ended; when it is 1, all that the command has written is here. */
int child_io_ended(child_io *p, int *code);

/* Free the input and the output that are kept. */
void child_io_free(child_io *p);

#endif
