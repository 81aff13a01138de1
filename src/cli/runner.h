/* SPDX-License-Identifier: MIT
 *
 * runner.h - one job and the command that runs for it, from its start to the
 * job's outcome. work.c has the loop around many of them. */
#ifndef RELET_RUNNER_H
#define RELET_RUNNER_H

#include "cli.h"
#include "child_io.h"

/* Why a command was told to end. */
typedef enum work_why {
    WORK_OWN, /* it was not told to end                                     */
    WORK_CANCELLED,
    WORK_OUT_OF_TIME,
    WORK_LEASE_ENDS,
    WORK_LEAVING, /* a second signal told relet to end                      */
    WORK_LOST
} work_why;

#define RUNNER_LINE 1000 /* a longer line is printed in parts                */

/* A queue that is worked on. */
typedef struct work_desk {
    char name[256];
    uint32_t weight;
    int number;          /* of its worker; -1: none                         */
} work_desk;

typedef struct runner {
    child_io child_io;
    const work_desk *desk;
    int busy;
    int ended;           /* the command has; the queue is not told yet      */
    int code;
    work_why why;
    uint64_t number, token;
    uint32_t attempt;
    relet_time time_ms;  /* how long the command may take; 0: no limit      */
    relet_time time_at;  /* when that time is over                          */
    relet_time kill_at;  /* of a command that was told to end               */
    relet_time note_at;  /* progress is passed on again no sooner           */
    char said[RUNNER_LINE]; /* --json: a line on standard error, so far     */
    size_t said_n;
} runner;

#define WORK_QUEUES_MAX 16

typedef struct worker {
    cli *c;
    work_desk desks[WORK_QUEUES_MAX];
    int queues;
    char title[300];     /* the names of the queues                         */
    char **command;
    char label[CLI_LABEL];
    relet_time lease, grace, margin;
    int at_work;         /* queues whose worker has not ended               */
    runner *runners;
    int width, busy;
    long begun;
    int stopping;        /* no more jobs are claimed                        */
    int signo;           /* the last signal that came; 0: none              */
    int asked;           /* the status of a queue was asked for             */
    int empty;           /* so many queues in a row are empty               */
    relet_time ask_at, leave_at;
    relet_time down_at;  /* since when the link is down; 0: it is not       */
    int code;
} worker;

/* Print a notice on standard error, a line or a JSON document; x may be NULL.
 * --quiet does not silence a notice of something wrong. */
void runner_note(const worker *w, const runner *x, const char *event,
                 const char *text, int wrong);

/* Start the command for a job, or give the job back. */
void runner_begin(worker *w, const work_desk *d, const relet_work *job);

/* Tell the command to end by SIGTERM, unless it was told before. */
void runner_tell(worker *w, runner *x, work_why why);

/* Do what is due, move bytes, and tell the queue when the command has ended. */
void runner_watch(worker *w, runner *x);

/* When something is due that no event tells of. */
relet_time runner_due(const worker *w, const runner *x, relet_time now);

/* work.c: claim no more jobs. */
void work_stop(worker *w);

#endif
