/* SPDX-License-Identifier: MIT
 *
 * jobs.h - the judge's data about queues: the jobs that were put, the state of
 * each job in each server's store, the workers that got it, and the deeds of
 * its handlers. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "put_wait.h"
#include "relet.h"

#define SIM_QUEUES 2
#define SIM_DESKS 2 /* workers of a node at a time                            */
#define SIM_ROOM 24 /* most jobs of a worker; few have more than 8            */
#define SIM_TASKS 64
#define SIM_JOBS_MAX 640    /* jobs of a run                                  */
#define SIM_DEEDS 1024      /* deeds under way to the data that they change   */
#define SIM_RENEWALS_MAX 8
#define SIM_NOBODYS UINT32_MAX /* the index of a job that a server made up   */
#define SIM_RANK_PARTS 2048 /* of the distance between two jobs              */
#define SIM_IDS 9           /* id1 to id8                                     */
#define SIM_LINE 1024       /* places of a waiting line that are checked      */

#define SIM_REPLY_TO "c0" /* a channel that nodes subscribe to                */
#define SIM_ENDS 4        /* ends of a job that are remembered                */
#define SIM_BURIALS 4     /* burials of a job that are remembered             */
#define SIM_TOLD 16       /* ends that one script publishes                   */

/* The texts of handlers; the token follows. */
#define SIM_TEXT_RESULT "fine "
#define SIM_TEXT_ERROR "it did not work "
#define SIM_TEXT_PROGRESS "half "

#define SIM_RAN 256      /* workers whose highest steps are known             */

#define SIM_JOB_LEASE_MAX_MS ((relet_time)8000)
#define SIM_JOB_WAIT_MAX_MS ((relet_time)3000) /* delays, backoff             */

/* The terms that were asked for with a job, as its record has them. If its put
 * replaced the payload of another job, the record keeps the other's terms. At
 * another server that replacement may not have happened, so each place has its
 * own: when they were kept per job, seed 5009359 buried one by the other's
 * terms. */
typedef struct sim_terms {
    uint32_t attempts;   /* how often it may be tried                         */
    uint32_t type;       /* 0: none                                           */
    int rank;
    relet_time keep_ms, timeout_ms, deadline_ms;
    int backoff;         /* relet_backoff                                     */
    int reply;           /* end published: 1 on SIM_REPLY_TO, 2 elsewhere     */
    relet_time backoff_ms, backoff_max_ms;
} sim_terms;

/* A job, as it was put. Its payload names the operation and its place in it. */
typedef struct sim_job {
    int queue;
    uint64_t tag;
    sim_terms terms;
    relet_time delay_ms;
    uint64_t id;         /* 0: none                                           */
    uint8_t lied;        /* a server lied to a node that had it               */
    uint64_t ends[SIM_ENDS]; /* digests of its last ends                      */
    uint32_t ended;      /* how often it ended                                */
    int64_t ended_us, gone_us; /* first end; its record went; 0: not yet      */
    uint8_t acked, stands_in; /* stands_in: another job has its id            */
    uint64_t buried[SIM_BURIALS]; /* tokens of its last burials by handlers:
                          * the job may be leased on two servers, and an
                          * attempt that lost it ends behind the next one     */
    unsigned burials;
    uint32_t starts, spent; /* handlers begun; attempts, stalls and releases  */
    uint64_t top;        /* token of the last deed                            */
    unsigned top_serial;
    uint64_t number[2];  /* its number at each host, … */
    uint64_t gen[2];     /* … in this incarnation of the host                 */
} sim_job;

/* The state of a job number in a store. */
typedef struct sim_place {
    uint32_t job;        /* 1 + index; 0: it has no record                    */
    char letter, flag;   /* letter of its state; 'W' if it has none           */
    uint64_t token;
    uint32_t attempts, stalls, replays;
    uint32_t waiting, ranked, delayed, leased, done, dead; /* times in it     */
    int64_t scores[4];   /* its scores in `delayed`, `leased`, `done`, `dead` */
    int64_t score;       /* the score in the set of its state                 */
    int64_t rank_score;  /* in parts of a job's distance, see SIM_RANK_PARTS  */
    int64_t born_s;      /* as its record says                                */
    sim_terms terms;     /* … too                                             */
    uint64_t text;       /* digest of its progress, error or result; 0: none  */
    uint8_t record, state; /* fields of it that exist                         */
    uint8_t gone;        /* its record has gone, but its number waits in line */
    uint8_t cut;         /* it is in several places after a cut: see cuts.c   */
    int64_t since_us;    /* it has waited since then                          */
} sim_place;

typedef struct sim_book { /* a queue in a store                               */
    sim_place *at;       /* by number                                         */
    size_t n, cap;
    uint64_t *line;      /* jobs that wait without a rank, oldest first       */
    size_t line_n, line_cap;
    size_t pushed_first, pushed_last; /* by this script, at head, at tail     */
    uint64_t token;      /* highest token that the queue gave out             */
    uint64_t run_gen;    /* host incarnation in which a reaper saw it;        */
    int64_t open_ms;     /* … no job is reaped earlier, by the host's clock   */
    int seen;            /* 0: no reaper has looked yet                       */
    long open;           /* jobs that are neither done nor dead               */
    long held, over[2];  /* leased; done, dead                                */
    long ranked_n, delayed_n;
    long gone_n;         /* numbers in line that are no jobs any more         */
    int closed, stopped;
    long limit;          /* 0: none                                           */
    int64_t gates_us;    /* when one of these last changed                    */
    long cut_n;          /* places marked since a script was cut              */
    int miscounted;      /* … and the gone numbers in line may be miscounted  */
    int64_t cut_us;      /* … and when the cut was                            */
    int64_t stale_us;    /* the last step over a link that was given up       */
    struct {
        uint64_t number; /* 0: none                                           */
        int64_t till, width; /* of its time window; 0: it has none            */
    } id[SIM_IDS];
} sim_book;

typedef struct sim_ledger {
    sim_book book[SIM_QUEUES];
    size_t read;         /* bytes of the host's log that were read            */
    int looked;          /* … and checked for leftovers of cut scripts        */
    int elsewhere;       /* what follows in the log is of another database    */
    uint64_t gen;
} sim_ledger;

/* A place as it was before this script. */
typedef struct sim_touch {
    int queue;
    uint64_t number;
    sim_place was;
    uint8_t moved;       /* more than its text changed                        */
} sim_touch;

/* A queue as it was before this script. */
typedef struct sim_before {
    struct {
        uint64_t number;
        int64_t till;
    } id[SIM_IDS];
    uint64_t line[SIM_LINE];
    size_t line_n;
    long ranked_n, delayed_n, held, over[2], idle_n;
    long gone;           /* places in line without a job                      */
    long cut_n;          /* places marked since a script was cut              */
    long listen;         /* clients that are told of ends                     */
    long late;           /* jobs that are due, for the script to touch        */
    long old[2];         /* the same of the jobs that it trims                */
} sim_before;

typedef enum sim_verb {
    SIM_V_NONE,
    SIM_V_PUT, SIM_V_PUT_FULL, SIM_V_PROMOTE, SIM_V_CLAIM, SIM_V_RECALL,
    SIM_V_RENEW, SIM_V_DONE_PLAIN, SIM_V_DONE, SIM_V_FAIL, SIM_V_RELEASE,
    SIM_V_REAP, SIM_V_IDLE,
    SIM_V_CANCEL, SIM_V_PURGE, SIM_V_REPLAY, SIM_V_TRIM, SIM_V_FORGET,
    SIM_V_UNIQUE, SIM_V_PROGRESS, SIM_V_RANK, SIM_V_KEEP,
    SIM_V_STATUS, SIM_V_LOOK, SIM_V_LIST, SIM_V_REPAIR
} sim_verb;

/* The script that a server runs now. */
typedef struct sim_step {
    sim_verb what;
    int host, queue;
    int refused;         /* refused by an error, such as NOSCRIPT             */
    int node;            /* node that the request names; below 0: none        */
    int from, link;      /* the node and the link that it came over           */
    unsigned serial;     /* of the worker                                     */
    uint64_t op;         /* the worker's number of this step, or 0            */
    relet_time lease_ms, run_ms;
    relet_time wait_ms;  /* until the next attempt; time a job is kept        */
    char verdict;        /* verdict, mode or place, as the script needs it    */
    int forced, stale;
    int full;            /* refused by the error FULL                         */
    int cut;             /* the script was cut in its middle                  */
    long waiting_max;    /* 0: any number                                     */
    int typed;           /* a claim of jobs of one type                       */
    int64_t bytes;       /* most bytes that a claim may bring                 */
    int id, enters, again; /* unique: a job enters; below 0: unknown          */
    uint32_t wanted, stalls_max;
    int64_t most[2];        /* done, dead jobs that stay                      */
    char said_type;      /* type of its answer, or 0                          */
    uint64_t said_digest;
    long said_count;     /* elements of its answer, … */
    uint32_t said_n;     /* … and how many of them are in `said`              */
    struct {
        int64_t number;
        uint64_t digest;
        char first;
        uint8_t empty;
    } said[20];
    char letters[160];   /* the first string of its answer                    */
    uint64_t told[SIM_TOLD]; /* digests of the ends that it published, … */
    uint32_t tolds, told_right; /* … their number; and the right number       */
    int told_any;        /* the right number is not known                     */
    uint32_t pairs;
    uint64_t number[SIM_ROOM], token[SIM_ROOM];
    int64_t wall_us, wall_ms;
} sim_step;

typedef enum sim_task_state {
    SIM_TASK_NONE,
    SIM_TASK_GRANTED, /* a server leased it; its node has not read that       */
    SIM_TASK_HELD,
    SIM_TASK_LOST,    /* lost, but its handler has not ended                  */
    SIM_TASK_ENDED    /* its handler has ended; the answer may come           */
} sim_task_state;

typedef struct sim_task {
    sim_task_state state;
    uint64_t number, token;
    uint32_t job;        /* index                                             */
    sim_terms terms;     /* of the record with which it was claimed           */
    uint32_t attempts, stalls, replays; /* before this attempt                */
    relet_time delay_ms; /* delay that its handler asked for; 0: none         */
    uint64_t key;        /* due events name the task by this key              */
    int64_t granted_us;
    int64_t ran_us;      /* a server last granted or renewed it, …            */
    int64_t truth_us;    /* … until then                                      */
    int64_t end_us;      /* when its handler ends                             */
    uint8_t accepted;    /* a server ended it by its token                    */
    uint8_t given_back;  /* its handler released it, and gets no more events  */
    uint8_t told;        /* the node got JOB_LOST for it                      */
    uint8_t acted;       /* its deed is under way                             */
    uint8_t stubborn;    /* its handler goes on though the job was lost       */
    uint8_t late;        /* its deadline had passed when it was leased        */
    uint8_t asked;       /* JOB_CANCEL came, as the job was cancelled         */
    uint8_t cut;         /* a script about it was cut                         */
    int64_t told_us;
    int64_t seen_us;     /* granted or ended then; the oldest is forgotten    */
    int64_t cancel_us;   /* when the job was cancelled at a server            */
    int64_t heard_us;    /* … and when the answer to a renewal said so        */
    int64_t timeout_us;  /* JOB_CANCEL came, as the handler ran too long      */
} sim_task;

typedef struct sim_desk {
    unsigned serial;     /* 0: none                                           */
    int queue;
    uint32_t room, team;
    uint32_t type;       /* of its jobs; 0: any                               */
    relet_time lease_ms;
    uint8_t stopping, never_reaps;
    int64_t start_us;
    int64_t busy_us;     /* until then it had jobs, or could take none        */
    int busy;            /* so it was at its last turn                        */
    sim_task task[SIM_TASKS];
} sim_desk;

/* A handler's effect on shared data; it arrives later, and the data refuse a
 * token below the highest seen. */
typedef struct sim_deed {
    uint32_t job;
    uint64_t token;
    unsigned serial;
} sim_deed;

/* A node that put a job and waits for its end: awaits.c. */
typedef struct sim_await {
    int alone;           /* the node does nothing else                        */
    int on;              /* the node waits                                    */
    int queue;
    uint32_t job;        /* index                                             */
    long cuts;           /* cut scripts, before the wait began                */
    int64_t from_us;
    int64_t over_us;     /* the wait ends by then, at the latest              */
    relet_time until;    /* the wait times out then                           */
    relet_job_info end;
    rlt_put_wait machine;
} sim_await;

/* After the healing: how a job comes to wait in a queue whose workers sleep. */
typedef enum sim_wait {
    SIM_WAIT_PUT,      /* it is put                                           */
    SIM_WAIT_DELAYED,  /* it is put with a delay                              */
    SIM_WAIT_RELEASED, /* its first handler gives it back                     */
    SIM_WAIT_DEAD,     /* its first handler dies                              */
    SIM_WAITS
} sim_wait;

typedef struct sim_probe {
    sim_wait how;
    uint32_t job;         /* 1 + index; 0: none                               */
    int64_t from_us;      /* when it began to wait; SIM_NEVER: not yet        */
    int64_t fell_us;      /* when its handler died; 0: it did not             */
    int64_t lease_us;     /* longest lease or hold-off at that time          */
    int64_t settle_us;    /* waiting since then for all to sleep              */
    int flushed;          /* the server was left with one script              */
    int begun;            /* 1 + node that began it; below 0: its last handler
                           * has begun                                        */
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
    unsigned noted;      /* progress, errors, results noted by this script    */
    sim_step run;
    sim_before before;
    struct {
        unsigned serial;
        uint64_t op[2];  /* highest step that ran: done or keep; fail         */
    } ran[SIM_RAN];      /* by the worker's serial                            */
    uint64_t token[SIM_QUEUES];   /* the last token that any server gave out  */
    int64_t granted_us[SIM_QUEUES];
    uint64_t token_top[SIM_QUEUES]; /* the highest one                        */
    uint64_t twice[SIM_QUEUES];   /* tokens up to it may exist twice; 0: none */
    unsigned loose[SIM_QUEUES];   /* bits of ids that may exist twice         */
    long purges[SIM_QUEUES][8]; /* purges of each node that may still run    */
    long cuts;           /* scripts that were cut                             */
    int crowd;           /* batches left to put, for a crowd of jobs          */
    int64_t crowd_us;    /* the delayed ones of these are due then            */
    int patient;         /* the run also waits until kept jobs are removed    */
    int64_t busy_us[SIM_QUEUES];  /* last script but reap, renew             */
    int64_t left_us; /* a server learned that a client had left its link     */
    sim_probe probe;
} sim_jobs;

#endif
