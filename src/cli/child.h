/* SPDX-License-Identifier: MIT
 *
 * child.h - a command that may run only as long as a lease is valid.
 *
 * Two processes are started: the command, and a guard that leads its process
 * group. The guard is told until when the command may live. It kills the whole
 * group then, or as soon as this process is gone. So the command does not
 * outlive the lease when this process is stopped, blocks in a look-up of names
 * or is killed by SIGKILL. The guard's pid keeps the number of the process
 * group from being used again. */
#ifndef RELET_CHILD_H
#define RELET_CHILD_H

#include <sys/types.h>

#include "relet.h"

/* Exit codes, the same as a shell's. */
enum {
    CHILD_UNABLE = 126,  /* found, but could not be started                 */
    CHILD_UNKNOWN = 127, /* not found                                       */
    CHILD_SIGNAL = 128   /* and the number of the signal that ended it      */
};

#define CHILD_FDS 4 /* descriptors given to the command, from 0 on         */

typedef struct child {
    pid_t pid;          /* 0: no command runs                               */
    pid_t guard;        /* leads the process group                          */
    int line;           /* pipe to the guard, which kills when it closes    */
    int terminal;       /* the terminal is lent to the group                */
    int waits;          /* the command is stopped, as it wants the terminal */
    relet_time kill_at; /* as the guard knows it                            */
} child;

/* From now on SIGCHLD and the signals that end a process wake r; signals that
 * were ignored stay ignored. r NULL: signals wake no client any more. */
void child_signals(relet *r);

/* The last signal that came, but for SIGCHLD, told once; 0: none. */
int child_signal_take(void);

/* 0 when there is a command of this name that may be executed; else
 * CHILD_UNKNOWN or CHILD_UNABLE, and the reason was printed. */
int child_look_up(const char *name);

/* Start a command. argv ends with NULL. fds become its standard input, output
 * and error and its descriptor 3; each is the number that it becomes, or above
 * it. fds NULL: the command has our first three, and is given no fourth. 0, or
 * -1 and errno: nothing was started. A command that cannot be executed ends
 * with CHILD_UNKNOWN or CHILD_UNABLE as its exit code. */
int child_start(child *x, char **argv, const int *fds, relet_time kill_at);

/* Set a number in the environment of commands that are started later. */
void child_setenv(const char *name, uint64_t n);

/* Set the time at which the command is killed; if it has passed, kill now. */
void child_kill_at(child *x, relet_time at);

/* Send a signal to the command and to all of its group. */
void child_tell(const child *x, int signo);

/* 1 when the command has ended: then no process of its group is left, and *code
 * is the command's exit code. */
int child_ended(child *x, int *code);

#endif
