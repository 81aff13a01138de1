/* SPDX-License-Identifier: MIT
 *
 * client.h - the parts put together, and the rooms that work on them: client for
 * memory and drivers, submit for what goes out, leases, complete, workers, put
 * and queue for the engine, dispatch for what comes.
 *
 * What users call is in relet.h. */
#ifndef RLT_CLIENT_H
#define RLT_CLIENT_H

#include "args.h"
#include "base.h"
#include "conn.h"
#include "elect.h"
#include "job.h"
#include "handshake.h"
#include "pubsub.h"
#include "script.h"
#include "session.h"
#include "worker.h"

#define RLT_LEASES_KEY_MAX 255
#define RLT_LEASES_LABEL_MAX 63
#define RLT_LEASES_MS_MAX ((relet_time)1000000000)
#define RLT_UID_LEN 32 /* hexadecimal digits that nobody else has            */

/* A lease of the user's: its machine, and its names. */
typedef struct rlt_lease_entry {
    rlt_elect elect;
    uint64_t tag;
    relet_time quarantine_ms;
    uint32_t group;
    uint16_t key_len;
    uint8_t owner_len;
    uint8_t ticked; /* since its start                                       */
    char key[RLT_LEASES_KEY_MAX];
    char owner[RLT_LEASES_LABEL_MAX + 1 + RLT_UID_LEN];
} rlt_lease_entry;

/* A worker of the user's: its machine, and its names. */
typedef struct rlt_worker_entry {
    rlt_worker work;
    uint64_t tag;
    relet_time run_ms, dead_ms; /* 0, of the second: for ever                */
    uint32_t stalls_max, dead_max;
    uint32_t team, weight;
    uint64_t served; /* jobs by weight, in millionths                        */
    rlt_queue_tag queue;
    uint8_t name_len, type_len;
    char type[RLT_JOB_TEXT_MAX];
    char name[RLT_LEASES_LABEL_MAX + 1 + RLT_UID_LEN];
} rlt_worker_entry;

/* The newest put, which others may join, and what the server says to the one
 * whose riders have yet to hear it. */
typedef struct rlt_put_batch {
    relet_event ev;
    int64_t first;
    relet_node said[16];
    uint32_t number; /* which of them `first` came in                        */
    rlt_queue_tag queue;
    uint32_t place; /* 0: there is none                                      */
    uint32_t jobs;
} rlt_put_batch;

/* Operations of ours are a lease's, a worker's, or nobody waits for them. */
#define RLT_TAG_NOBODY UINT64_MAX

/* Output that is kept free for leases, so that a user's bulk does not stop a
 * renewal: each of the scripts once, and a call for each lease. */
#define RLT_WORKERS_OUTPUT(workers)                                            \
    ((workers) > 0 ? 16384 + 16384 * (workers) : 0)
#define RLT_LEASES_OUTPUT(leases) ((leases) > 0 ? 8192 + 1280 * (leases) : 0)

/* What a client loses by fork. A driver that can keeps it in a page that the
 * system zeroes in the child, so that no call has to ask which process it is
 * in. */
typedef struct rlt_home {
    uint32_t operations_max; /* 0: this is not the process of the client     */
} rlt_home;

struct relet {
    rlt_home *home;
    rlt_session session;
    rlt_conn conn;
    rlt_pubsub pubsub;
    rlt_scripts scripts;
    rlt_setup setup;
    rlt_memory memory; /* the user's hook                                    */
    size_t held, held_peak;
    void *driver;
    const char *refusal;
    rlt_lease_entry *leases;
    uint32_t leases_max;
    uint32_t lease_serial; /* of the next request                            */
    uint64_t lease_link;  /* session.connects when they last had a link      */
    rlt_rand lease_rand;
    uint8_t lease_busy;   /* some are in use                                 */
    uint8_t lease_due;    /* one was started since the last tick             */
    uint8_t lease_tells;  /* some have something to tell                     */
    uint8_t worker_busy; /* some are in use                                  */
    uint8_t worker_due; /* RLT_WORKERS_DUE…                                  */
    uint8_t worker_tells; /* some have something to tell                     */
    uint8_t fail_fast;
    uint8_t listens;    /* for wake-ups                                      */
    uint8_t cause_len;
    uint8_t wake_len;
    /* The channel on which they are woken. It ends in chance, and by that is
     * known what this client puts. */
    char wake[64 + 5 + RLT_UID_LEN];
    rlt_worker_entry *workers;
    rlt_claim *claims; /* jobs_max for each worker, then what queues need    */
    uint32_t workers_max, jobs_max;
    uint64_t worker_link; /* session.connects when they last had a link      */
    uint32_t worker_serial; /* of the last errand                            */
    rlt_home own_home; /* without such a page                                */
    uint64_t put_op; /* of the last put                                      */
    const char *prefix;
    size_t output_max, name_max;
    char cause[120]; /* the first refusal inside the transaction at the front */
    uint64_t submitted, replies, errors, not_sent, unsure, pushes;
    uint64_t bytes_in, bytes_out;
};

/* Whether this process is another one than that which opened the client. */
static inline int rlt_client_is_foreign(const relet *r)
{
    return r->home->operations_max == 0;
}

/* What a client that may have workers needs for its queues. */
typedef struct rlt_queue_room {
    rlt_put_batch batch;
    rlt_args args;
} rlt_queue_room;

static inline rlt_queue_room *rlt_client_queues(const relet *r)
{
    return (rlt_queue_room *)(void *)(r->claims +
                                      (size_t)r->workers_max * r->jobs_max);
}

static inline rlt_put_batch *rlt_client_batch(const relet *r)
{
    return &rlt_client_queues(r)->batch;
}

/* The arguments of the next call of a script, and there are none yet. */
RELET_PRIVATE rlt_args *rlt_client_args(const relet *r);

/* Returns RELET_E_REFUSED, or _FORKED where the client is foreign; relet_refusal
 * names the rule from now on. */
RELET_PRIVATE int rlt_client_refuse(relet *r, const char *rule);

/* A word for the driver that opened this client; home: zeroed by fork, or NULL.
 * Without, the driver says so when it sees that it is in another process. */
RELET_PRIVATE void rlt_client_driver_set(relet *r, void *driver,
                                         rlt_home *home);
RELET_PRIVATE void *rlt_client_driver(const relet *r);
RELET_PRIVATE void rlt_client_make_foreign(relet *r);

/* Requests of leases. They go over the link that is up, or 0 does not come
 * back; the outcome goes to rlt_leases_answer, under q->tag. */
RELET_PRIVATE int rlt_submit_command(relet *r, const relet_args *a,
                                     const relet_request *q);
RELET_PRIVATE int rlt_submit_script(relet *r, rlt_own_script which,
                                    size_t keys, const relet_args *a,
                                    const relet_request *q);
RELET_PRIVATE void rlt_leases_answer(relet *r, uint64_t tag, rlt_heard heard,
                                     relet_value v);

/* An operation of the user's that is one of our scripts. flags: beside his. */
RELET_PRIVATE int rlt_submit_put(relet *r, rlt_own_script which, size_t keys,
                                 const relet_args *a, const relet_request *q,
                                 uint8_t flags, uint32_t place);

/* The same with more arguments for the newest of the user's, which has argc:
 * 1; 0 when that cannot be; or a code. `before`: jobs that stand in front. */
RELET_PRIVATE int rlt_submit_along(relet *r, size_t argc, uint32_t place,
                                   uint32_t before, const relet_args *more,
                                   const relet_request *q);

/* A put was answered by *ev: so were its riders. The next of them, and 1. */
RELET_PRIVATE void rlt_put_answered(relet *r, const relet_event *ev);
RELET_PRIVATE int rlt_put_event(relet *r, relet_event *ev);

/* What was offered to a queue, or is delayed no more, has no place yet, or no
 * worker that knows when it is due. This follows such a request, whatever
 * becomes of the link; without it a worker would see to it, later. */
RELET_PRIVATE void rlt_put_promote(relet *r, const rlt_queue_tag *tag,
                                   const relet_request *q);

/* What the first lease or queue brings: scripts, and the name by which this
 * client is known; who leads or works listens for wake-ups, too. To those who
 * listen a server sends no more than 32 MB at a time, unless it is told to. */
RELET_PRIVATE void rlt_leases_name(relet *r);
RELET_PRIVATE void rlt_leases_listen(relet *r);

/* RLT_UID_LEN digits. */
RELET_PRIVATE size_t rlt_uid_make(relet *r, char *out);

/* A worker by its number, or NULL; its name; under which tag it hears of an
 * errand of this serial number, or of what was sent for one slot. */
/* What has ended goes out when all events are taken. Who has just begun waits
 * for a tick: its jobs are believed in from when they were claimed, and until
 * then nobody knows what time it is. */
enum { RLT_WORKERS_DUE = 1, RLT_WORKERS_DUE_AT_TICK = 2 };

#define RLT_WORKERS_STEP_SHIFT 28
#define RLT_WORKERS_SERIAL ((1u << RLT_WORKERS_STEP_SHIFT) - 1)
#define RLT_WORKERS_CLOSING 15u
#define RLT_WORKERS_MS_MAX ((relet_time)1000000000000)
RELET_PRIVATE int rlt_workers_in_use(const rlt_worker_entry *d);
RELET_PRIVATE rlt_worker_entry *rlt_workers_entry(const relet *r, int worker);
RELET_PRIVATE relet_span rlt_workers_name(const rlt_worker_entry *d);
RELET_PRIVATE uint64_t rlt_workers_tag(const relet *r,
                                       const rlt_worker_entry *d, uint32_t what,
                                       uint32_t serial);

/* Fills *w for a step of the worker; returns its script. */
RELET_PRIVATE rlt_own_script rlt_steps_say(const relet *r, rlt_args *w,
                                           const rlt_worker_entry *d,
                                           const rlt_worker_request *e);

/* Jobs that are of no use any more are buried. */
RELET_PRIVATE void rlt_complete_stale(relet *r, rlt_worker_entry *d);

/* Of workers: as those of leases below. 1 and *ev: it brought jobs. */
RELET_PRIVATE int rlt_workers_answer(relet *r, uint64_t tag, rlt_heard heard,
                                     relet_value v, relet_event *ev);
RELET_PRIVATE void rlt_workers_stop(relet *r);
RELET_PRIVATE void rlt_workers_tick(relet *r);
RELET_PRIVATE void rlt_workers_flush(relet *r);
RELET_PRIVATE relet_time rlt_workers_deadline(const relet *r);
RELET_PRIVATE int rlt_workers_event(relet *r, relet_event *ev);
RELET_PRIVATE void rlt_workers_wake(relet *r, relet_span key);

/* 1 when there is one. */
RELET_PRIVATE int rlt_leases_any(const relet *r);
RELET_PRIVATE relet_time rlt_leases_deadline(const relet *r);
RELET_PRIVATE void rlt_leases_tick(relet *r);
RELET_PRIVATE void rlt_leases_stop(relet *r);

/* 1 and *ev, when one of them has something to tell. */
RELET_PRIVATE int rlt_leases_event(relet *r, relet_event *ev);

/* 1 when *ev is about the channel of wake-ups, and not to be told. A message on
 * it names the key of a lease or a queue, and wakes what waits for that key. */
RELET_PRIVATE int rlt_leases_hides(const relet *r, const relet_event *ev);
RELET_PRIVATE void rlt_leases_wake(relet *r, relet_span key);

#endif
