/* SPDX-License-Identifier: MIT
 *
 * demo.h - shared by the files of relet demo: demo.c has the scenario,
 * demo_actors.c the actors in it, demo_view.c the output. */
#ifndef RELET_DEMO_H
#define RELET_DEMO_H

#include "cli.h"

#define DEMO_JOBS 1500  /* put by all producers                              */
#define DEMO_ROOM 8     /* jobs at a time, per worker                        */
#define DEMO_ACTORS 8
#define DEMO_LEASE_MS 600 /* of jobs, and of the leader                      */

typedef enum demo_role { DEMO_PRODUCER, DEMO_WORKER, DEMO_LEADER } demo_role;
typedef enum demo_state { DEMO_WELL, DEMO_PAUSED, DEMO_KILLED } demo_state;

typedef struct demo_hand {
    uint64_t number, token;
    relet_time ready_at; /* when the work is done                            */
    int lost;
} demo_hand;

typedef struct demo_actor {
    const char *name;
    demo_role role;
    demo_state state;
    relet *r;
    relet_time since; /* when it was paused or killed                        */
    unsigned put, asked, done, lost;
    demo_hand hand[DEMO_ROOM];
    uint64_t token; /* of a leader                                           */
    int ended;
} demo_actor;

/* What the demo knows of a job, by its number. A job's effect is made at a
 * resource that refuses a token below one that it has seen, and that makes the
 * effect of each job once. */
typedef struct demo_task {
    uint64_t token, effect_token;
    const demo_actor *by; /* the last worker that claimed it                 */
    unsigned claims, effects, repeats, refused;
} demo_task;

/* A worker that was killed or paused, and what became of its jobs. */
typedef struct demo_loss {
    const demo_actor *who;
    relet_time at;
    unsigned jobs, relet;
    relet_time first_ms, last_ms;
} demo_loss;

/* The jobs in each place, as the server counts them. */
typedef struct demo_counts {
    int64_t waiting, leased, done, dead;
} demo_counts;

typedef struct demo {
    cli *c;
    demo_actor actor[DEMO_ACTORS];
    demo_task task[DEMO_JOBS + 1];
    demo_loss loss[2];
    relet_time began, now;
    relet_time leader_gone, led_again_ms; /* killed then; led again after     */
    unsigned put, terms, stolen;
    uint64_t last_token;
    const demo_actor *leader;
    demo_counts counts; /* the latest from the server                        */
    unsigned counted;   /* how often counts came                             */
    char server[64];
    char prefix[40];
    int wrong;
    int unread;     /* standard output takes nothing more                    */

    const char *bold, *dim, *red, *plain;
    int live;       /* a terminal: the picture is drawn over itself          */
    int lines;      /* of the picture on the terminal                        */
    relet_time shown_at;
} demo;

/* demo_actors.c. The two starts return a code of the library. */
int demo_actors_start_worker(demo_actor *a);
int demo_actors_start_leader(demo_actor *a);
void demo_actors_work(demo *d, demo_actor *a);    /* ends jobs that are done */
void demo_actors_produce(demo *d, demo_actor *a); /* puts jobs that are due   */
void demo_actors_count(demo_actor *a);            /* asks for the job counts */
int demo_actors_busy(const demo_actor *a);
demo_hand *demo_actors_hand_of(demo_actor *a, uint64_t number);

/* Events. */
void demo_actors_jobs(demo *d, demo_actor *a, const relet_event *ev);
void demo_actors_outcome(demo *d, demo_actor *a, const relet_event *ev);
void demo_actors_gained(demo *d, demo_actor *a, uint64_t token);

/* demo_actors_loses counts the jobs that an actor is about to lose.
 * demo_actors_kill closes an actor's client in the middle of a job. */
void demo_actors_loses(demo *d, demo_actor *a, demo_loss *l);
void demo_actors_kill(demo *d, demo_actor *a);

/* demo_view.c */
void demo_view_begin(demo *d);
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void demo_view_tell(demo *d, const char *format, ...); /* a line that stays  */
void demo_view_show(demo *d, int last); /* the picture, if it is time        */
void demo_view_account(demo *d);

#endif
