/* SPDX-License-Identifier: MIT
 *
 * threads.c - jobs whose handlers run in threads of their own, while one thread
 * has the client and keeps the leases alive.
 *
 *     cc threads.c relet.c -pthread -o threads
 *
 * The client belongs to the main thread. A handler says that it is ready by
 * relet_wake, the only function that may be called from elsewhere. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "relet.h"

#define HANDS 4
#define JOBS 20

typedef struct hand {
    pthread_t thread;
    relet *r;
    pthread_mutex_t *lock;
    uint64_t number; /* 0: it is free                                        */
    int running;     /* it has a thread                                      */
    int ready;       /* guarded by lock, as is stop                          */
    int stop;        /* the job was lost, cancelled or takes too long        */
    char payload[64];
    char result[24];
} hand;

/* The work: here it only counts. Between steps it looks whether to go on. */
static void *work_on(void *p)
{
    hand *h = (hand *)p;
    unsigned long i, sum = 0;
    int stop = 0;

    for (i = 0; i < 1000000 && !stop; i++) {
        sum += i;
        if (i % 1000 == 0) {
            pthread_mutex_lock(h->lock);
            stop = h->stop;
            pthread_mutex_unlock(h->lock);
        }
    }
    snprintf(h->result, sizeof h->result, "%lu", sum);
    pthread_mutex_lock(h->lock);
    h->ready = 1;
    pthread_mutex_unlock(h->lock);
    relet_wake(h->r);
    return NULL;
}

static hand *hand_of(hand *hands, uint64_t number)
{
    int i;

    for (i = 0; i < HANDS && hands[i].number != number; i++)
        continue;
    return i < HANDS ? &hands[i] : NULL;
}

static void begin(relet *r, hand *hands, const relet_work *w)
{
    hand *h = hand_of(hands, 0); /* there are as many as the worker has room */
    size_t n = w->job.payload.n < 63 ? w->job.payload.n : 63;

    h->number = w->number;
    h->ready = h->stop = 0;
    memcpy(h->payload, w->job.payload.p, n);
    h->payload[n] = '\0';
    h->running = pthread_create(&h->thread, NULL, work_on, h) == 0;
    if (h->running)
        return;
    relet_job_release(r, 0, h->number); /* another worker may have a thread */
    h->number = 0;
}

/* How many are done. Of one that was lost nothing is sent. */
static int finish(relet *r, hand *hands)
{
    int i, n = 0, ready, code;

    for (i = 0; i < HANDS; i++) {
        hand *h = &hands[i];

        pthread_mutex_lock(h->lock);
        ready = h->ready && h->number != 0;
        pthread_mutex_unlock(h->lock);
        if (!ready)
            continue;
        if (h->running)
            pthread_join(h->thread, NULL);
        h->running = 0;
        code = h->stop ? relet_job_release(r, 0, h->number)
                       : relet_job_done(r, 0, h->number, relet_str(h->result));
        if (code < 0)
            continue; /* no room to say so; next time */
        n += !h->stop;
        h->number = 0;
    }
    return n;
}

static void stop(hand *h)
{
    if (h == NULL)
        return;
    pthread_mutex_lock(h->lock);
    h->stop = 1;
    pthread_mutex_unlock(h->lock);
}

int main(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    hand hands[HANDS];
    relet *r = relet_open("redis://localhost", NULL, NULL, NULL);
    relet_span queue = relet_str("sums");
    relet_worker_config c;
    relet_event ev;
    relet_work w;
    relet_job job;
    size_t at;
    int i, done = 0, stopping = 0, over = 0;

    if (r == NULL)
        return 2;
    memset(hands, 0, sizeof hands);
    for (i = 0; i < HANDS; i++) {
        hands[i].r = r;
        hands[i].lock = &lock;
    }
    memset(&job, 0, sizeof job);
    job.payload = relet_str("a million");
    for (i = 0; i < JOBS; i++)
        relet_queue_put(r, queue, &job, 1, 0, NULL);
    memset(&c, 0, sizeof c);
    c.queue = queue;
    c.room = HANDS;
    relet_worker_start(r, &c);
    while (!over) {
        while (relet_wait(r, &ev, done < JOBS ? 1000 : 0) == 1) {
            if (ev.kind == RELET_EV_JOBS)
                for (at = 0; relet_jobs_next(r, &ev, &at, &w);)
                    begin(r, hands, &w);
            else if (ev.kind == RELET_EV_JOB_LOST ||
                     ev.kind == RELET_EV_JOB_CANCEL)
                stop(hand_of(hands, ev.job));
            over = ev.kind == RELET_EV_WORKER_ENDED;
        }
        done += finish(r, hands);
        if (done == JOBS && !stopping)
            stopping = relet_worker_stop(r, 0) == 0;
    }
    relet_close(r);
    printf("%d done\n", done);
    return 0;
}
