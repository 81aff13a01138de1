/* SPDX-License-Identifier: MIT
 *
 * runner.h - what becomes of a job and of the command that runs for it. work.c
 * has the loop around many of them. */
#ifndef RELET_RUNNER_H
#define RELET_RUNNER_H

#include "cli.h"
#include "child_io.h"

/* Why a command was told to end. */
typedef enum work_why {
    WORK_OWN, /* it was not                                                 */
    WORK_CANCELLED,
    WORK_OUT_OF_TIME,
    WORK_LEASE_ENDS,
    WORK_LEAVING, /* we were told twice to end                              */
    WORK_LOST
} work_why;

#define RUNNER_LINE 1000 /* a longer one is told in parts                    */

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
    int ended;           /* and the queue is not told yet                   */
    int code;
    work_why why;
    uint64_t number, token;
    uint32_t attempt;
    relet_time time_ms;  /* how long it may take                            */
    relet_time time_at;  /* until then                                      */
    relet_time kill_at;  /* once it was told                                */
    relet_time note_at;  /* no sooner is more progress passed on            */
    char said[RUNNER_LINE]; /* --json: a line on standard error, so far     */
    size_t said_n;
} runner;

#define WORK_QUEUES_MAX 16

typedef struct worker {
    cli *c;
    work_desk desks[WORK_QUEUES_MAX];
    int queues;
    char title[300];     /* their names                                     */
    char **command;
    char label[CLI_LABEL];
    relet_time lease, grace, margin;
    int at_work;         /* so many of them                                 */
    runner *runners;
    int width, busy;
    long begun;
    int stopping;        /* no more jobs                                    */
    int signo;           /* because of this one                             */
    int asked;           /* how a queue is                                  */
    int empty;           /* so many in a row are                            */
    relet_time ask_at, leave_at;
    relet_time down_at;  /* 0: there is a link                              */
    int code;
} worker;

/* A line, or a document, on standard error; x may be NULL. What is wrong is
 * told even to --quiet. */
void runner_note(const worker *w, const runner *x, const char *event,
                 const char *text, int wrong);

/* Start the command for a job, or give the job back. */
void runner_begin(worker *w, const work_desk *d, const relet_work *job);

/* Tell the command to end, unless it was told. */
void runner_tell(worker *w, runner *x, work_why why);

/* Do what is due, move bytes, and tell the queue when it has ended. */
void runner_watch(worker *w, runner *x);

/* When something is due that no event tells of. */
relet_time runner_due(const worker *w, const runner *x, relet_time now);

/* work.c: no more jobs. */
void work_stop(worker *w);

#endif
