/* SPDX-License-Identifier: MIT
 *
 * child.h - a command that may run only as long as a lease is believed in.
 *
 * Two processes are started: the command, and a guard that leads its process
 * group. The guard is told until when the command may live and kills the whole
 * group then, or as soon as we are gone: so neither that we are stopped, nor
 * that a look-up of names keeps us, nor a kill -9 lets the command outlive the
 * lease. The guard's pid keeps the number of the group from being used again.
 */
#ifndef RELET_CHILD_H
#define RELET_CHILD_H

#include <sys/types.h>

#include "relet.h"

/* What a shell answers, too. */
enum {
    CHILD_UNABLE = 126,  /* found, but could not be started                 */
    CHILD_UNKNOWN = 127, /* not found                                       */
    CHILD_SIGNAL = 128   /* and the number of the signal that ended it      */
};

#define CHILD_FDS 4 /* that it may be given, from 0 on                     */

typedef struct child {
    pid_t pid;          /* 0: none runs                                     */
    pid_t guard;        /* leads its group                                  */
    int line;           /* to the guard, who kills when it is closed        */
    int terminal;       /* it is lent to the group                          */
    int waits;          /* stopped, as it wants the terminal                */
    relet_time kill_at; /* as the guard knows it                            */
} child;

/* From now on SIGCHLD and the signals that end a process wake r; those that
 * were ignored stay ignored. r NULL: nobody is woken any more. */
void child_signals(relet *r);

/* The signal that came, once; 0: none. */
int child_signal_take(void);

/* 0 when there is a command of this name that may be executed; else it is said
 * why not, and CHILD_UNKNOWN or CHILD_UNABLE. */
int child_look_up(const char *name);

/* argv ends with NULL; fds: what is to become its standard input, output and
 * error, and descriptor 3, each higher than that or in its place; NULL: ours,
 * and no fourth. 0, or -1 and errno: nothing was started. That the command
 * could not be executed shows as its exit code. */
int child_start(child *x, char **argv, const int *fds, relet_time kill_at);

/* A number for the environment of those that are started. */
void child_setenv(const char *name, uint64_t n);

/* Until when it may live; at once when that is over. */
void child_kill_at(child *x, relet_time at);

/* Tell the command and all of its group. */
void child_tell(const child *x, int signo);

/* 1 when the command has ended: then nobody of its group is left, and *code is
 * its exit code. */
int child_ended(child *x, int *code);

#endif
