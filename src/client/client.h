/* SPDX-License-Identifier: MIT
 *
 * client.h - the state of a client. client.c plans its memory, loop.c gives it
 * the time, submit.c writes commands, dispatch.c returns events, and kept.c
 * stores events while the user waits for another one. leases.c,
 * lease_requests.c, workers.c, team.c, complete.c, put.c, queue.c and answers.c
 * connect the parts of the engine to the client. wake.c has the channels on
 * which these parts are woken.
 *
 * The functions for users are in relet.h. */
#ifndef RLT_CLIENT_H
#define RLT_CLIENT_H

#include <stdarg.h>

#include "base.h"
#include "route.h"
#include "text.h"
#include "part.h"
#ifndef RELET_NO_LEASE
#include "elect.h"
#endif
#ifndef RELET_NO_QUEUE
#include "args.h"
#include "job.h"
#include "worker.h"
#endif

#define RLT_LEASES_KEY_MAX 255
#define RLT_LEASES_LABEL_MAX 63
#define RLT_LEASES_MS_MAX ((relet_time)1000000000)
#define RLT_UID_LEN 32 /* random hexadecimal digits: a unique id             */

/* The channel for wake-ups of a key is {KEY}:wake:UID, a sharded channel in the
 * hash slot of the key. The bytes behind the tag, and of the longest one. */
#define RLT_WAKE_TAIL (6 + RLT_UID_LEN)
#define RLT_WAKE_MAX (RLT_LEASES_KEY_MAX + 2 + RLT_WAKE_TAIL)

/* ------------------------------------------------------------------- leases */

#ifndef RELET_NO_LEASE

/* A lease of the user's: its state machine, and its names. */
typedef struct rlt_lease_entry {
    rlt_elect elect;
    uint64_t tag;
    relet_time quarantine_ms;
    uint32_t group;
    uint32_t epoch; /* of the link that the lease has seen last              */
    uint16_t hashslot;
    uint8_t listens; /* its channel for wake-ups is subscribed               */
    uint16_t key_len;
    uint8_t owner_len;
    uint8_t ticked; /* a tick has come since its start                       */
    char key[RLT_LEASES_KEY_MAX];
    char owner[RLT_LEASES_LABEL_MAX + 1 + RLT_UID_LEN];
} rlt_lease_entry;

typedef struct rlt_leases {
    rlt_lease_entry *list;
    uint32_t max;
    uint32_t serial; /* of the next request                                  */
    uint8_t busy;    /* a lease is in use                                    */
    uint8_t due;     /* a lease was started since the last tick              */
    uint8_t tells;   /* a lease has an event to tell                         */
} rlt_leases;

#endif

/* ------------------------------------------------------------------- queues */

#ifndef RELET_NO_QUEUE

/* A worker of the user's: its state machine, and its names. */
typedef struct rlt_worker_entry {
    rlt_worker work;
    uint64_t tag;
    uint32_t team, weight;
    uint32_t epoch; /* of the link that the worker has seen last             */
    uint8_t listens; /* its channel for wake-ups is subscribed               */
    uint8_t wake_len;
    char wake[RLT_QUEUE_NAME_MAX + 2 + RLT_WAKE_TAIL];
    uint64_t served; /* jobs taken / weight, in millionths                   */
    rlt_queue_tag queue;
    uint8_t name_len;
    uint16_t hashslot;
    char type[RLT_JOB_TEXT_MAX];
    char name[RLT_LEASES_LABEL_MAX + 1 + RLT_UID_LEN];
} rlt_worker_entry;

/* The newest put, which later puts may join; and the last answer to a put
 * batch, kept until each of its batched operations has been told. */
typedef struct rlt_put_batch {
    relet_event ev;
    int64_t first;
    relet_node said[16];
    uint32_t number; /* index in `said` of the node with `first`             */
    rlt_queue_tag queue;
    uint32_t place; /* 0: no put to join                                     */
    uint32_t jobs;
} rlt_put_batch;

/* The largest step of a worker: the answer to a larger step could exceed the
 * limits of the configuration. */
typedef struct rlt_step_limits {
    uint32_t claim_bytes; /* of records in the answer to a claim             */
    uint32_t jobs;        /* 0: not even one                                 */
} rlt_step_limits;

typedef struct rlt_workers {
    rlt_worker_entry *list;
    rlt_claim *claims; /* jobs_max for each worker, then an rlt_queue_room   */
    rlt_step_limits limits;
    uint64_t put_op; /* number of the last put                               */
    uint32_t serial; /* of the last request                                  */
    uint16_t max, jobs_max;
    uint8_t busy;    /* a worker is in use                                   */
    uint8_t due;     /* RLT_WORKERS_DUE…                                     */
    uint8_t tells;   /* a worker has an event to tell                        */
} rlt_workers;

#endif

/* ----------------------------------------------------------------- a client */

/* Output bytes reserved for workers and leases, so that bulk output of the user
 * cannot block a renewal: room for each script once, and for the calls of each
 * worker or lease. */
#define RLT_WORKERS_OUTPUT(workers)                                            \
    ((workers) > 0 ? 16384 + 16384 * (workers) : 0)
#define RLT_LEASES_OUTPUT(leases) ((leases) > 0 ? 8192 + 2048 * (leases) : 0)

/* State that a client loses by fork. Where the system can zero a page in the
 * child, the driver keeps this state in such a page, so that no call has to ask
 * in which process it runs. */
typedef struct rlt_home {
    uint32_t operations_max; /* 0: this is not the process of the client     */
} rlt_home;

/* PREFIX:wake:UID, the beginning of the channels on which the ends of jobs are
 * told to this client. UID is the end of its channels for wake-ups, and its
 * name as a producer of jobs. */
typedef struct rlt_wake {
    uint8_t len; /* 0: it has no name yet                                    */
    char name[64 + 5 + RLT_UID_LEN];
} rlt_wake;

struct rlt_kept; /* an event that is kept: kept.h */

struct relet {
    rlt_home *home;
    struct rlt_kept *kept; /* the newest event that is kept                  */
    relet_time now; /* of the last tick                                      */
    rlt_route route;
    rlt_setup setup;
    rlt_memory memory; /* the user's hook                                    */
    size_t held, held_peak;
    void *driver;
    const char *refusal, *prefix;
    size_t output_max, name_max;
    rlt_rand rand; /* of the engine's parts                                  */
#ifndef RELET_NO_LEASE
    rlt_leases leases;
#endif
#ifndef RELET_NO_QUEUE
    rlt_workers workers;
#endif
    rlt_home own_home; /* home, unless a driver has set one                  */
    uint8_t fail_fast;
    rlt_wake wake;
    uint64_t submitted, replies, errors, not_sent, unsure;
    uint64_t bytes_in, bytes_out;
};

/* Whether this process is not the one that opened the client. */
RLT_SHORT int rlt_client_is_foreign(const relet *r)
{
    return r->home->operations_max == 0;
}

/* Returns RELET_E_REFUSED, or _FORKED where the client is foreign;
 * relet_refusal names the rule from now on. */
RELET_PRIVATE int rlt_client_refuse(relet *r, const char *rule);

/* Sets the driver's own pointer. home: memory that fork zeroes, or NULL; then
 * the driver calls rlt_client_make_foreign when it sees that it runs in another
 * process. */
RELET_PRIVATE void rlt_client_driver_set(relet *r, void *driver,
                                         rlt_home *home);
RELET_PRIVATE void *rlt_client_driver(const relet *r);
RELET_PRIVATE void rlt_client_make_foreign(relet *r);

/* Reads words up to a NULL into argv. Returns their number, or
 * RLT_SUBMIT_WORDS + 1 if there are more. */
#define RLT_SUBMIT_WORDS 64
RELET_PRIVATE size_t rlt_submit_words(relet_span argv[RLT_SUBMIT_WORDS],
                                      va_list list);

/* Submit a request of a lease or a worker: 0, or a code. Unless the request is
 * repeatable, it ends with the current link. Its outcome goes to
 * rlt_leases_answer or rlt_workers_answer, under q->tag, an rlt_tag. */
RELET_PRIVATE int rlt_submit_command(relet *r, uint16_t hashslot,
                                     const relet_args *a,
                                     const relet_request *q);
RELET_PRIVATE int rlt_submit_script(relet *r, rlt_own_script which,
                                    size_t keys, const relet_args *a,
                                    const relet_request *q);

/* Submits a library script as an operation of the user. flags: added to the
 * user's. */
RELET_PRIVATE int rlt_submit_put(relet *r, rlt_own_script which, size_t keys,
                                 const relet_args *a, const relet_request *q,
                                 uint8_t flags, uint32_t place);

/* Appends arguments to the newest command, which has argc, as a batched
 * operation of the user: 1; 0 if the command cannot be joined; or a code.
 * `before`: the jobs that the command has already. */
RELET_PRIVATE int rlt_submit_along(relet *r, uint16_t hashslot, size_t argc,
                                   uint32_t place, uint32_t before,
                                   const relet_args *more,
                                   const relet_request *q);

/* The first use of a lease or queue registers the scripts and makes the name of
 * this client. Leases and workers also subscribe to wake-ups. By default a
 * server disconnects a subscriber when over 32 MB of its output are unsent. */
RELET_PRIVATE void rlt_wake_name(relet *r);

/* TAG:wake:UID, the channel for wake-ups of the keys with this tag, written
 * behind n bytes of `out`, which are the tag; _name comes before. */
RELET_PRIVATE relet_span rlt_wake_channel(const relet *r, char *out, size_t n);

/* Subscribes to the channel: 1, or 0 if there was no memory. Then it is to be
 * tried again, and until then only timers wake. _leave: the reverse. */
RELET_PRIVATE int rlt_wake_listen(relet *r, uint16_t hashslot,
                                  relet_span channel);
RELET_PRIVATE void rlt_wake_leave(relet *r, uint16_t hashslot,
                                  relet_span channel);

/* 1 if *ev is about a channel for wake-ups, and not to be told. A message on
 * this channel names the key of a lease or a queue, and wakes the leases or
 * workers that wait for that key. */
RELET_PRIVATE int rlt_wake_hides(const relet *r, const relet_event *ev);

/* Writes RLT_UID_LEN random digits, and returns that length. */
RELET_PRIVATE size_t rlt_uid_make(relet *r, char *out);

/* ------------------------------------------------------------------ the parts
 *
 * The functions that each part of the engine has for the client. _any: a lease
 * or worker is in use. _event: 1 and *ev if there is an event to tell. _answer:
 * takes the outcome of a request; 1 if *ev is to be told. _wake: a message
 * named this key. */

/* The same for a part that is left out: it is never in use. */
#define RLT_CLIENT_WITHOUT(part)                                               \
    RLT_SHORT relet_time rlt_##part##_deadline(const relet *r)                 \
    {                                                                          \
        (void)r;                                                               \
        return RELET_NEVER;                                                    \
    }                                                                          \
    RLT_SHORT void rlt_##part##_tick(relet *r)                                 \
    {                                                                          \
        (void)r;                                                               \
    }                                                                          \
    RLT_SHORT void rlt_##part##_stop(relet *r)                                 \
    {                                                                          \
        (void)r;                                                               \
    }                                                                          \
    RLT_SHORT int rlt_##part##_event(relet *r, relet_event *ev)                \
    {                                                                          \
        (void)r;                                                               \
        (void)ev;                                                              \
        return 0;                                                              \
    }                                                                          \
    RLT_SHORT int rlt_##part##_answer(relet *r, rlt_tag tag, rlt_heard heard,  \
                                      relet_value v, relet_event *ev)          \
    {                                                                          \
        (void)tag;                                                             \
        (void)heard;                                                           \
        (void)v;                                                               \
        return rlt_##part##_event(r, ev);                                      \
    }                                                                          \
    RLT_SHORT void rlt_##part##_wake(relet *r, relet_span key)                 \
    {                                                                          \
        (void)r;                                                               \
        (void)key;                                                             \
    }                                                                          \
    RLT_SHORT int rlt_##part##_any(const relet *r)                             \
    {                                                                          \
        (void)r;                                                               \
        return 0;                                                              \
    }                                                                          \
    RLT_SHORT int rlt_##part##_has(const relet *r, int number)                 \
    {                                                                          \
        (void)r;                                                               \
        (void)number;                                                          \
        return 0;                                                              \
    }                                                                          \
    RLT_SHORT int rlt_##part##_tells(const relet *r)                           \
    {                                                                          \
        return rlt_##part##_any(r);                                            \
    }

#ifndef RELET_NO_LEASE

RELET_PRIVATE relet_time rlt_leases_deadline(const relet *r);
RELET_PRIVATE void rlt_leases_tick(relet *r);
RELET_PRIVATE void rlt_leases_stop(relet *r);
RELET_PRIVATE int rlt_leases_event(relet *r, relet_event *ev);
RELET_PRIVATE int rlt_leases_answer(relet *r, rlt_tag tag, rlt_heard heard,
                                    relet_value v, relet_event *ev);
/* A message on the channel of wake-ups named this key. An empty key: messages
 * were lost, so every lease asks. */
RELET_PRIVATE void rlt_leases_wake(relet *r, relet_span key);

/* Whether this is the number of a lease in use. */
RELET_PRIVATE int rlt_leases_has(const relet *r, int lease);

RLT_SHORT int rlt_leases_any(const relet *r)
{
    return r->leases.busy;
}

RLT_SHORT int rlt_leases_tells(const relet *r)
{
    return r->leases.tells;
}

#else

RLT_CLIENT_WITHOUT(leases)

#endif

#ifndef RELET_NO_QUEUE

RELET_PRIVATE relet_time rlt_workers_deadline(const relet *r);
RELET_PRIVATE void rlt_workers_tick(relet *r);
RELET_PRIVATE void rlt_workers_stop(relet *r);
RELET_PRIVATE int rlt_workers_event(relet *r, relet_event *ev);
RELET_PRIVATE int rlt_workers_answer(relet *r, rlt_tag tag, rlt_heard heard,
                                     relet_value v, relet_event *ev);
RELET_PRIVATE void rlt_workers_wake(relet *r, relet_span key);

/* Call it when all events have been taken. */
RELET_PRIVATE void rlt_workers_flush(relet *r);

/* RELET_EV_JOBS is kept: notes in the copy which jobs the event brought, since
 * the next claim forgets that. */
RELET_PRIVATE void rlt_workers_kept(const relet *r, const relet_event *ev,
                                    void *copy);

/* Whether this is the number of a worker in use. */
RELET_PRIVATE int rlt_workers_has(const relet *r, int worker);

/* A put was answered by *ev, and so were the operations batched with it (there
 * are some). rlt_put_event returns 1 and *ev for the next of these. */
RELET_PRIVATE void rlt_put_answered(relet *r, const relet_event *ev);
RELET_PRIVATE int rlt_put_event(relet *r, relet_event *ev);

RLT_SHORT int rlt_puts_tells(const relet *r)
{
    return rlt_route_has_answered(&r->route);
}

RLT_SHORT int rlt_workers_any(const relet *r)
{
    return r->workers.busy;
}

RLT_SHORT int rlt_workers_tells(const relet *r)
{
    return r->workers.tells;
}

/* Workers at a time; 0: the client has no queues. */
RLT_SHORT uint32_t rlt_workers_max(const relet *r)
{
    return r->workers.max;
}

#else

RLT_CLIENT_WITHOUT(workers)

RLT_SHORT void rlt_workers_flush(relet *r)
{
    (void)r;
}

RLT_SHORT void rlt_workers_kept(const relet *r, const relet_event *ev,
                                void *copy)
{
    (void)r;
    (void)ev;
    (void)copy;
}

RLT_SHORT void rlt_put_answered(relet *r, const relet_event *ev)
{
    (void)r;
    (void)ev;
}

RLT_SHORT int rlt_put_event(relet *r, relet_event *ev)
{
    return rlt_workers_event(r, ev);
}

RLT_SHORT int rlt_puts_tells(const relet *r)
{
    return rlt_workers_tells(r);
}

RLT_SHORT uint32_t rlt_workers_max(const relet *r)
{
    (void)r;
    return 0;
}

#endif

/* -------------------------------------------------------- inside the leases */

#ifndef RELET_NO_LEASE

RLT_SHORT relet_span rlt_leases_key(const rlt_lease_entry *h)
{
    return rlt_span(h->key, h->key_len);
}

RLT_SHORT rlt_tag rlt_leases_tag(const relet *r, const rlt_lease_entry *h,
                                 uint32_t serial)
{
    return RLT_TAG(RLT_PART_LEASE, h - r->leases.list, serial);
}

/* Makes the key and the owner of a lease: NULL, or the rule that is broken. */
RELET_PRIVATE const char *rlt_leases_name(relet *r, rlt_lease_entry *h,
                                          const relet_lease_config *c);

/* Subscribes to the channel for wake-ups of the key, and leaves it. */
RELET_PRIVATE void rlt_leases_listen(relet *r, rlt_lease_entry *h);
RELET_PRIVATE void rlt_leases_leave(relet *r, rlt_lease_entry *h);

/* Submits what the lease wants: 0, or a code. */
RELET_PRIVATE int rlt_leases_send(relet *r, const rlt_lease_entry *h,
                                  const rlt_request *want);

#endif

/* -------------------------------------------------------- inside the queues */

#ifndef RELET_NO_QUEUE

/* The state for queues, in a client that may have workers. */
typedef struct rlt_queue_room {
    rlt_put_batch batch;
    rlt_args args;
} rlt_queue_room;

RLT_SHORT rlt_queue_room *rlt_client_queues(const relet *r)
{
    return (rlt_queue_room *)(void *)(r->workers.claims +
                                      (size_t)r->workers.max *
                                          r->workers.jobs_max);
}

RLT_SHORT rlt_put_batch *rlt_client_batch(const relet *r)
{
    return &rlt_client_queues(r)->batch;
}

/* Returns the arguments for the next call of a script, emptied. */
RELET_PRIVATE rlt_args *rlt_client_args(const relet *r);

/* Submits a promote behind a request that parks jobs in `delayed`. The promote
 * is repeated over the next link if one breaks; its outcome is ignored. Without
 * it a worker would only later promote the jobs, or learn when they are due. */
RELET_PRIVATE void rlt_put_promote(relet *r, const rlt_queue_tag *tag,
                                   const relet_request *q);

/* DUE: jobs that have ended are sent when all events are taken. DUE_AT_TICK: a
 * worker that has just started waits for a tick, because its leases are timed
 * from when the claim was sent, and the time is not known before the tick. */
enum { RLT_WORKERS_DUE = 1, RLT_WORKERS_DUE_AT_TICK = 2 };

#define RLT_WORKERS_STEP_SHIFT 28
#define RLT_WORKERS_SERIAL ((1u << RLT_WORKERS_STEP_SHIFT) - 1)
#define RLT_WORKERS_CLOSING 15u
#define RLT_WORKERS_MS_MAX ((relet_time)1000000000000)
/* A worker by its number, or NULL; its name; the tag of its request with this
 * step and serial number, or of a script for one claim: then `what` is
 * RLT_WORKERS_CLOSING, and `serial` the index of the claim. */
RELET_PRIVATE int rlt_workers_in_use(const rlt_worker_entry *d);
RELET_PRIVATE rlt_worker_entry *rlt_workers_entry(const relet *r, int worker);
RELET_PRIVATE relet_span rlt_workers_name(const rlt_worker_entry *d);
RELET_PRIVATE rlt_tag rlt_workers_tag(const relet *r,
                                      const rlt_worker_entry *d, uint32_t what,
                                      uint32_t serial);

/* For a worker of a team. _join: the worker starts. _account counts the jobs
 * that it took until now. _allowed returns how many jobs it may have at a
 * time. */
RELET_PRIVATE void rlt_team_join(const relet *r, rlt_worker_entry *d);
RELET_PRIVATE void rlt_team_account(const relet *r, rlt_worker_entry *d);
RELET_PRIVATE uint32_t rlt_team_allowed(const relet *r,
                                        const rlt_worker_entry *d);

/* Buries the claimed jobs whose deadline has passed. */
RELET_PRIVATE void rlt_complete_stale(relet *r, rlt_worker_entry *d);

#endif

#endif
