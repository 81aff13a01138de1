/* SPDX-License-Identifier: MIT
 *
 * threads.c - a worker whose jobs run in threads of their own, while one thread
 * has the client and renews the leases.
 *
 *     cc threads.c relet.c -pthread -o threads
 *     ./threads redis://localhost sums & relet put --wait 5000 sums 1000
 *
 * A job is a number n; its thread adds up the numbers below n. A thread looks
 * at the clock before each step, so that it stops before another worker may
 * have the job. At SIGTERM or SIGINT no more jobs are claimed, those that run
 * are given back, and the process ends when the server knows. The client
 * belongs to the main thread; the other threads call only relet_wake, and
 * relet_clock, which takes no client. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relet.h"

#define HANDS 4
/* The jobs of a worker that was killed go to other workers after this time. The
 * client renews the lease of each job after a third of it, and learns of a
 * cancellation by the answer. */
#define LEASE_MS 3000
#define LOOK_MS 500   /* how often threads get the new ends of their leases  */
#define MARGIN_MS 100 /* no step takes longer, from its check to its end     */

typedef struct hand { /* a job and its thread                                */
    relet *r;
    pthread_t thread;
    int has_thread;
    uint64_t number; /* of the job; 0: the hand is free                      */
    unsigned long steps;
    char result[24];
    /* How the job ends if its thread stops early. No text: it is given back. */
    relet_failure end;
    pthread_mutex_t lock; /* of these two: */
    relet_time until;     /* the job may be worked on till then; 0: stop      */
    int ready;            /* 1: it has a result; -1: it has none              */
} hand;

static hand hands[HANDS];
static volatile sig_atomic_t asked;
static relet *to_wake;

static void on_signal(int signo)
{
    asked = signo;
    relet_wake(to_wake);
}

static void handle(void (*handler)(int))
{
    struct sigaction a;

    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    a.sa_flags = (int)SA_RESETHAND; /* a second signal ends the process */
    sigemptyset(&a.sa_mask);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
}

/* ------------------------------------------------------ in the job's thread */

static int may_go_on(hand *h)
{
    relet_time until;

    pthread_mutex_lock(&h->lock);
    until = h->until;
    pthread_mutex_unlock(&h->lock);
    return until - relet_clock() > MARGIN_MS;
}

static void *work(void *p)
{
    const struct timespec step = {0, 1000000};
    hand *h = (hand *)p;
    unsigned long i, sum = 0;

    for (i = 0; i < h->steps && may_go_on(h); i++) {
        sum += i;
        nanosleep(&step, NULL); /* instead of work that takes long */
    }
    snprintf(h->result, sizeof h->result, "%lu", sum);
    pthread_mutex_lock(&h->lock);
    h->ready = i == h->steps ? 1 : -1;
    pthread_mutex_unlock(&h->lock);
    relet_wake(h->r);
    return NULL;
}

/* ------------------------------------------------------- in the main thread */

static void stop(hand *h, relet_verdict verdict, const char *why)
{
    h->end.verdict = verdict;
    h->end.text = relet_str(why);
    pthread_mutex_lock(&h->lock);
    h->until = 0;
    pthread_mutex_unlock(&h->lock);
}

static hand *hand_of(uint64_t number)
{
    int i;

    for (i = 0; i < HANDS && hands[i].number != number; i++)
        continue;
    return i < HANDS ? &hands[i] : NULL;
}

/* The event lends the payload, so what the thread needs of it is copied. */
static void begin(int worker, const relet_work *w)
{
    hand *h = hand_of(0); /* there is one: the worker's room is HANDS */
    char text[20] = "", *end = text;
    relet_time now = relet_clock();

    if (w->job.payload.n > 0 && w->job.payload.n < sizeof text)
        memcpy(text, w->job.payload.p, w->job.payload.n);
    h->number = w->number;
    h->steps = strtoul(text, &end, 10);
    h->until = now + relet_job_valid_for(h->r, worker, w->number, now);
    h->ready = 0;
    memset(&h->end, 0, sizeof h->end);
    if (asked) {
        h->ready = -1; /* claimed before the worker was stopped */
    } else if (end == text || *end != '\0') { /* no attempt would help */
        stop(h, RELET_BURY, "the payload is no number");
        h->ready = -1;
    } else if (pthread_create(&h->thread, NULL, work, h) != 0) {
        h->ready = -1; /* given back: another worker may have a thread */
    } else {
        h->has_thread = 1;
    }
}

/* Ends the job of a hand whose thread has ended. Each job has to be ended, also
 * one that was lost, for which nothing is sent. */
static void finish(hand *h, int worker)
{
    int code;

    if (h->has_thread)
        pthread_join(h->thread, NULL);
    h->has_thread = 0;
    if (h->ready > 0)
        code = relet_job_done(h->r, worker, h->number, relet_str(h->result));
    else if (h->end.text.n > 0)
        code = relet_job_fail(h->r, worker, h->number, &h->end);
    else
        code = relet_job_release(h->r, worker, h->number);
    if (code != RELET_E_LIMIT && code != RELET_E_MEMORY)
        h->number = 0; /* else there is no room for it now: it is tried again */
}

/* No event tells that a lease was renewed, so the threads' copies of the time
 * that is left are brought up to date here, at least each LOOK_MS. Returns how
 * many jobs there are. */
static int look_after(int worker)
{
    relet_time now = relet_clock();
    int i, ready, n = 0;

    for (i = 0; i < HANDS; i++) {
        hand *h = &hands[i];

        if (h->number == 0)
            continue;
        pthread_mutex_lock(&h->lock);
        if (h->until != 0)
            h->until = now + relet_job_valid_for(h->r, worker, h->number, now);
        ready = h->ready;
        pthread_mutex_unlock(&h->lock);
        if (ready != 0)
            finish(h, worker);
        n += h->number != 0;
    }
    return n;
}

static void on_event(const relet_event *ev, int worker)
{
    hand *h = ev->job != 0 ? hand_of(ev->job) : NULL;
    relet_work w;
    size_t at = 0;

    while (ev->kind == RELET_EV_JOBS &&
           relet_jobs_next(hands[0].r, ev, &at, &w))
        begin(worker, &w);
    if (ev->kind == RELET_EV_JOB_LOST && h != NULL)
        stop(h, RELET_RETRY, ""); /* another worker has it, or soon will */
    if (ev->kind == RELET_EV_JOB_CANCEL && h != NULL)
        stop(h, RELET_RETRY, ev->why == RELET_WHY_TIMEOUT ? "it took too long"
                                                          : "cancelled");
    if (ev->kind == RELET_EV_DOWN || ev->kind == RELET_EV_WORKER_TROUBLE)
        fprintf(stderr, "%.*s\n", (int)ev->text.n, ev->text.p);
}

static int run(relet *r, int worker)
{
    int i, code, busy = 0, stopping = 0;
    relet_event ev;

    do {
        code = relet_wait(r, &ev, busy > 0 ? LOOK_MS : -1);
        if (code == 1)
            on_event(&ev, worker);
        if (asked && !stopping) {
            stopping = relet_worker_stop(r, worker) == 0;
            for (i = 0; i < HANDS; i++)
                stop(&hands[i], RELET_RETRY, "");
        }
        busy = look_after(worker);
    } while (code == 0 || (code == 1 && ev.kind != RELET_EV_WORKER_ENDED));
    return code < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    relet_worker_config c = {0};
    relet_fault fault;
    relet *r;
    int i, worker, code = 2;

    if (argc != 3)
        return fprintf(stderr, "usage: threads URL QUEUE\n"), 2;
    r = relet_open(argv[1], NULL, NULL, &fault);
    if (r == NULL)
        return fprintf(stderr, "%s\n", fault.text), 2;
    for (i = 0; i < HANDS; i++) {
        hands[i].r = r;
        pthread_mutex_init(&hands[i].lock, NULL);
    }
    to_wake = r;
    handle(on_signal);
    c.queue = relet_str(argv[2]);
    c.room = HANDS;
    c.lease_ms = LEASE_MS;
    worker = relet_worker_start(r, &c);
    if (worker >= 0)
        code = run(r, worker);
    if (worker < 0)
        fprintf(stderr, "%s: %s\n", relet_code_text(worker), relet_refusal(r));
    for (i = 0; i < HANDS; i++) { /* none is left unless run failed */
        stop(&hands[i], RELET_RETRY, "");
        if (hands[i].has_thread)
            pthread_join(hands[i].thread, NULL);
    }
    handle(SIG_DFL); /* relet_wake must not be called once closing begins */
    relet_close(r);
    return code;
}
