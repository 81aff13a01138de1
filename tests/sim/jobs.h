/* SPDX-License-Identifier: MIT
 *
 * jobs.h - what the ghost knows of queues: what was put, what each server's
 * store says of it, who was told to work, and what the work changed. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "put_wait.h"
#include "relet.h"

#define SIM_QUEUES 2
#define SIM_DESKS 2 /* workers of a node at a time                            */
#define SIM_ROOM 24 /* jobs of each, of few of them more than 8               */
#define SIM_TASKS 64
#define SIM_JOBS_MAX 640    /* jobs of a run                                  */
#define SIM_DEEDS 1024      /* under way to what the work changes             */
#define SIM_RENEWALS_MAX 8
#define SIM_NOBODYS UINT32_MAX /* a job that a server made up                */
#define SIM_RANK_PARTS 2048 /* of the distance between two jobs              */
#define SIM_IDS 9           /* id1 to id8                                     */
#define SIM_LINE 1024       /* places of a line that are looked at            */

#define SIM_REPLY_TO "c0" /* a channel that nodes wish for                    */
#define SIM_ENDS 4        /* of a job that are known                          */
#define SIM_TOLD 16       /* ends that a script tells                         */

/* What handlers say, and the token behind it. */
#define SIM_TEXT_RESULT "fine "
#define SIM_TEXT_ERROR "it did not work "
#define SIM_TEXT_PROGRESS "half "

#define SIM_RAN 256      /* workers of which it is known what ran             */

#define SIM_JOB_LEASE_MAX_MS ((relet_time)8000)
#define SIM_JOB_WAIT_MAX_MS ((relet_time)3000) /* delays, backoff             */

/* What was asked for with a job, and stands in its record: that of the job whose
 * payload it has replaced, where it has. At another server it has not, perhaps:
 * it was kept with the job, and seed 5009359 had one buried by the other's. */
typedef struct sim_terms {
    uint32_t attempts;   /* how often it may be tried                         */
    uint32_t type;       /* 0: none                                           */
    int rank;
    relet_time keep_ms, timeout_ms, deadline_ms;
    int backoff;         /* relet_backoff                                     */
    int reply;           /* its end is told: 1 on SIM_REPLY_TO, 2 elsewhere   */
    relet_time backoff_ms, backoff_max_ms;
} sim_terms;

/* A job, as it was put. Its payload names the operation and its place in it. */
typedef struct sim_job {
    int queue;
    uint64_t tag;
    sim_terms terms;
    relet_time delay_ms;
    uint64_t id;         /* 0: none                                           */
    uint8_t lied;        /* a node that had it was lied to                    */
    uint64_t ends[SIM_ENDS]; /* digests of what it ended with, the last ones  */
    uint32_t ended;      /* how often                                         */
    int64_t ended_us, gone_us; /* first; its record went; 0: not yet          */
    uint8_t acked, stands_in; /* stands_in: another job has its id            */
    uint64_t buried;     /* token by which its handler buried it last; 0: none */
    uint32_t starts, spent; /* handlers begun; attempts, stalls, givings back */
    uint64_t top;        /* token of the last deed                            */
    unsigned top_serial;
    uint64_t number[2];  /* at each host, … */
    uint64_t gen[2];     /* … in this life of it                              */
} sim_job;

/* What a store says of a number. */
typedef struct sim_place {
    uint32_t job;        /* 1 + index; 0: it has no record                    */
    char letter, flag;   /* of its state; 'W' when it has none                */
    uint64_t token;
    uint32_t attempts, stalls, replays;
    uint32_t waiting, ranked, delayed, leased, done, dead; /* how often       */
    int64_t scores[4];   /* in `delayed`, `leased`, `done`, `dead`            */
    int64_t score;       /* … in that of its state                            */
    int64_t rank_score;  /* in parts                                          */
    int64_t born_s;      /* as its record says                                */
    sim_terms terms;     /* … too                                             */
    uint64_t text;       /* digest of its progress, error or result; 0: none  */
    uint8_t record, state; /* fields of it that are there                     */
    uint8_t gone;        /* its record went, and it still stands in line      */
    uint8_t cut;         /* it is in more than its place: see cuts.c          */
    int64_t since_us;    /* it waits                                          */
} sim_place;

typedef struct sim_book { /* a queue in a store                               */
    sim_place *at;       /* by number                                         */
    size_t n, cap;
    uint64_t *line;      /* those that wait without a rank, first in first    */
    size_t line_n, line_cap;
    size_t pushed_first, pushed_last; /* by this script, in front and behind  */
    uint64_t token;      /* highest that it gave out                          */
    uint64_t run_gen;    /* the life of the host in which a reaper saw it;    */
    int64_t open_ms;     /* … nothing is taken before, by its clock           */
    int seen;            /* 0: nobody has looked for what is late             */
    long open;           /* jobs that are neither done nor dead               */
    long held, over[2];  /* leased; done, dead                                */
    long ranked_n, delayed_n;
    long gone_n;         /* that stand in line, and are no jobs any more      */
    int closed, stopped;
    long limit;          /* 0: none                                           */
    int64_t gates_us;    /* one of these changed last                         */
    long cut_n;          /* places that are marked since a script was cut     */
    int miscounted;      /* … and the places in line without a job            */
    int64_t cut_us;      /* … which was then                                  */
    struct {
        uint64_t number; /* 0: none                                           */
        int64_t till, width; /* of its window; 0: it has none                 */
    } id[SIM_IDS];
} sim_book;

typedef struct sim_ledger {
    sim_book book[SIM_QUEUES];
    size_t read;         /* of the host's log                                 */
    int looked;          /* … for what scripts that were cut have left        */
    uint64_t gen;
} sim_ledger;

/* What a place was before this script. */
typedef struct sim_touch {
    int queue;
    uint64_t number;
    sim_place was;
    uint8_t moved;       /* not its text alone was changed                    */
} sim_touch;

/* What a queue was before this script. */
typedef struct sim_before {
    struct {
        uint64_t number;
        int64_t till;
    } id[SIM_IDS];
    uint64_t line[SIM_LINE];
    size_t line_n;
    long ranked_n, delayed_n, held, over[2], idle_n;
    long gone;           /* places in line without a job                      */
    long cut_n;          /* marked since a script was cut                     */
    long listen;         /* clients that hear of ends                         */
    long late;           /* that the script is to touch by their time         */
    long old[2];         /* the same of what it trims                         */
} sim_before;

typedef enum sim_verb {
    SIM_V_NONE,
    SIM_V_PUT, SIM_V_OFFER, SIM_V_READY, SIM_V_CLAIM, SIM_V_HELD, SIM_V_RENEW,
    SIM_V_DONE, SIM_V_KEEP, SIM_V_FAIL, SIM_V_RELEASE, SIM_V_REAP,
    SIM_V_SLEEP,
    SIM_V_CANCEL, SIM_V_PURGE, SIM_V_REPLAY, SIM_V_TRIM, SIM_V_FORGET,
    SIM_V_UNIQUE, SIM_V_PROGRESS, SIM_V_RANK, SIM_V_RETAIN,
    SIM_V_STATUS, SIM_V_LOOK, SIM_V_LIST, SIM_V_REPAIR
} sim_verb;

/* The script that a server runs at this moment. */
typedef struct sim_step {
    sim_verb what;
    int host, queue;
    int refused;         /* by an error: NOSCRIPT, for one                    */
    int node;            /* below 0: nobody said                              */
    int from, link;      /* on whose link it came, and which                  */
    unsigned serial;     /* of the worker                                     */
    uint64_t op;         /* its number of this step, or 0                     */
    relet_time lease_ms, run_ms;
    relet_time wait_ms;  /* before the next attempt; for which it is kept     */
    char verdict;        /* and the mode, the place                           */
    int forced, stale;
    int full;            /* by that error                                     */
    int cut;             /* it ended in its middle                            */
    long waiting_max;    /* 0: any number                                     */
    int typed;           /* a claim of jobs of one type                       */
    int64_t bytes;       /* that a claim may bring                            */
    int id, enters, again; /* unique: a job enters, below 0: nobody knows     */
    uint32_t wanted, stalls_max;
    int64_t most[2];        /* done ones, dead ones that stay                    */
    char said_type;      /* of its answer, or 0                               */
    uint64_t said_digest;
    long said_count;     /* elements, … */
    uint32_t said_n;     /* … and how many of them are here                   */
    struct {
        int64_t number;
        uint64_t digest;
        char first;
        uint8_t empty;
    } said[20];
    char letters[160];   /* its first string                                  */
    uint64_t told[SIM_TOLD]; /* digests of the ends that it told, … */
    uint32_t tolds, told_right; /* … so often; and as often as is right       */
    int told_any;        /* nobody knows how often that is                    */
    uint32_t pairs;
    uint64_t number[SIM_ROOM], token[SIM_ROOM];
    int64_t wall_us, wall_ms;
} sim_step;

typedef enum sim_task_state {
    SIM_TASK_NONE,
    SIM_TASK_GRANTED, /* a server did; its node has not heard of it           */
    SIM_TASK_HELD,
    SIM_TASK_LOST,    /* and its handler has not ended                        */
    SIM_TASK_ENDED    /* its handler has: what the server says may come       */
} sim_task_state;

typedef struct sim_task {
    sim_task_state state;
    uint64_t number, token;
    uint32_t job;        /* index                                             */
    sim_terms terms;     /* of the record that it was claimed with            */
    uint32_t attempts, stalls, replays; /* before this attempt                */
    relet_time delay_ms; /* its handler asked for it; 0: it did not           */
    uint64_t key;        /* of this task: events that are due name it         */
    int64_t granted_us;
    int64_t ran_us;      /* a server granted or renewed it last, …            */
    int64_t truth_us;    /* … until then                                      */
    int64_t end_us;      /* its handler ends                                  */
    uint8_t accepted;    /* a server ended it by its token                    */
    uint8_t given_back;  /* by its handler, who hears no more of it           */
    uint8_t told;        /* that it was lost                                  */
    uint8_t acted;       /* its deed is under way                             */
    uint8_t stubborn;    /* its handler goes on though it was lost            */
    uint8_t late;        /* its deadline had passed when it was leased        */
    uint8_t asked;       /* JOB_CANCEL came, for that                         */
    uint8_t cut;         /* a script that was about it was cut                */
    int64_t told_us;
    int64_t seen_us;     /* granted or ended: the oldest is forgotten         */
    int64_t cancel_us;   /* a server was told that it is not wanted           */
    int64_t heard_us;    /* … and said so to a renewal                        */
    int64_t timeout_us;  /* JOB_CANCEL came, since it takes too long          */
} sim_task;

typedef struct sim_desk {
    unsigned serial;     /* 0: none                                           */
    int queue;
    uint32_t room, team;
    uint32_t type;       /* of its jobs; 0: any                               */
    relet_time lease_ms;
    uint8_t stopping, never_reaps;
    int64_t start_us;
    int64_t busy_us;     /* it had jobs, or could take none, until then       */
    int busy;            /* … and at its last turn                            */
    sim_task task[SIM_TASKS];
} sim_desk;

/* What a handler does, which arrives later where a lower token is refused. */
typedef struct sim_deed {
    uint32_t job;
    uint64_t token;
    unsigned serial;
} sim_deed;

/* A node that has put a job and waits for its end: awaits.c. */
typedef struct sim_await {
    int alone;           /* it does nothing else                              */
    int on;              /* it waits                                          */
    int queue;
    uint32_t job;        /* index                                             */
    long cuts;           /* of scripts, before it began                       */
    int64_t from_us;
    int64_t over_us;     /* it ends by then, at the latest                    */
    relet_time until;    /* its time is up                                    */
    relet_job_info end;
    rlt_put_wait machine;
} sim_await;

/* When all is whole: how a job comes to wait where somebody sleeps. */
typedef enum sim_wait {
    SIM_WAIT_PUT,      /* it is put,                                          */
    SIM_WAIT_DELAYED,  /* … and due later,                                    */
    SIM_WAIT_RELEASED, /* … and its first handler gives it back,              */
    SIM_WAIT_DEAD,     /* … or dies                                           */
    SIM_WAITS
} sim_wait;

typedef struct sim_probe {
    sim_wait how;
    uint32_t job;         /* 1 + index; 0: none                               */
    int64_t from_us;      /* it waits since then; SIM_NEVER: it does not yet  */
    int64_t fell_us;      /* who had it died; 0: nobody did                   */
    int64_t lease_us;     /* the longest that there was then                  */
    int64_t settle_us;    /* since then it is waited for all to sleep         */
    int flushed;          /* the server knows just one of the scripts         */
    int begun;            /* at 1 + this node; below 0: as often as it has to */
} sim_probe;

typedef struct sim_jobs {
    sim_job job[SIM_JOBS_MAX];
    uint32_t jobs;
    sim_deed deed[SIM_DEEDS];
    uint64_t deeds;
    unsigned serials;
    uint64_t keys;
    sim_touch *touch;
    size_t touches, touch_cap;
    unsigned noted;      /* progress, errors, results: by this script         */
    sim_step run;
    sim_before before;
    struct {
        unsigned serial;
        uint64_t op[2];  /* highest that ran: done or keep; fail              */
    } ran[SIM_RAN];      /* by the worker's serial                            */
    uint64_t token[SIM_QUEUES];   /* the last that was given out, by whomever */
    int64_t granted_us[SIM_QUEUES];
    int twice[SIM_QUEUES];        /* tokens may have begun again              */
    unsigned loose[SIM_QUEUES];   /* ids of which there may be two            */
    long purges[SIM_QUEUES][8]; /* by node: that may still run               */
    long cuts;           /* scripts that were cut                             */
    int crowd;           /* batches that are still put, for a crowd of jobs   */
    int64_t crowd_us;    /* some of them are due then                         */
    int patient;         /* it waits until what was kept has gone, too        */
    int64_t busy_us[SIM_QUEUES];  /* somebody claimed, put, lined up         */
    sim_probe probe;
} sim_jobs;

#endif
