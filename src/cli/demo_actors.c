/* SPDX-License-Identifier: MIT
 *
 * demo_actors.c - the actors of relet demo: what workers, producers and leaders
 * do, the effects of their work, and what becomes of a lost worker's jobs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define DEMO_ACTORS_REAP_MS 100
#define DEMO_ACTORS_PUT_EVERY_MS 5

enum { DEMO_ACTORS_PUT = 1, DEMO_ACTORS_COUNT };

/* ----------------------------------------------------------------- effects */

static void demo_actors_effect(demo *d, const demo_hand *h)
{
    demo_task *t = &d->task[h->number];

    if (h->token < t->effect_token) {
        t->refused++;
        return;
    }
    t->effect_token = h->token;
    if (t->effects > 0)
        t->repeats++;
    else
        t->effects = 1;
}

/* ------------------------------------------------------------------- losses */

void demo_actors_loses(demo *d, demo_actor *a, demo_loss *l)
{
    size_t i;

    l->who = a;
    l->at = a->since = d->now;
    for (i = 0; i < DEMO_ROOM; i++)
        l->jobs += a->hand[i].number != 0;
}

/* Another worker has claimed the job t: counts it as relet if the worker that
 * had it before was killed or paused. */
static void demo_actors_relets(demo *d, const demo_task *t)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        demo_loss *l = &d->loss[i];

        if (l->who != t->by || l->at == 0)
            continue;
        l->last_ms = d->now - l->at;
        if (l->relet++ == 0)
            l->first_ms = l->last_ms;
    }
}

/* Kills an actor in the middle of its jobs: the effect of one job is made, but
 * the queue is not told. */
void demo_actors_kill(demo *d, demo_actor *a)
{
    size_t i;

    for (i = 0; i < DEMO_ROOM; i++)
        if (a->hand[i].number != 0) {
            demo_actors_effect(d, &a->hand[i]);
            break;
        }
    a->state = DEMO_KILLED;
    a->since = d->now;
    relet_close(a->r);
    a->r = NULL;
}

/* ----------------------------------------------------------------- workers */

int demo_actors_busy(const demo_actor *a)
{
    size_t i;
    int n = 0;

    for (i = 0; i < DEMO_ROOM; i++)
        n += a->hand[i].number != 0;
    return n > DEMO_ROOM / 4;
}

demo_hand *demo_actors_hand_of(demo_actor *a, uint64_t number)
{
    size_t i;

    for (i = 0; i < DEMO_ROOM; i++)
        if (a->hand[i].number == number)
            return &a->hand[i];
    return NULL;
}

void demo_actors_jobs(demo *d, demo_actor *a, const relet_event *ev)
{
    relet_work work;
    size_t at = 0;

    while (relet_jobs_next(a->r, ev, &at, &work)) {
        demo_hand *h = demo_actors_hand_of(a, 0);
        demo_task *t = &d->task[work.number];

        if (!h)
            return; /* the worker gets no more than its room */
        h->number = work.number;
        h->token = work.token;
        h->ready_at = d->now + 5 + (relet_time)(work.number * 7919 % 30);
        h->lost = 0;
        if (t->claims++ > 0 && t->by != a)
            demo_actors_relets(d, t);
        t->by = a;
    }
}

/* No effect is made for a job whose lease is not valid any more. */
void demo_actors_work(demo *d, demo_actor *a)
{
    size_t i;

    for (i = 0; i < DEMO_ROOM; i++) {
        demo_hand *h = &a->hand[i];

        if (h->number == 0 || (h->ready_at > d->now && !h->lost))
            continue;
        if (relet_job_valid_for(a->r, 0, h->number, relet_clock()) > 0)
            demo_actors_effect(d, h);
        else
            h->lost = 1;
        if (relet_job_done(a->r, 0, h->number, relet_str("")) < 0)
            continue; /* no room now */
        a->lost += (unsigned)h->lost;
        a->done += !h->lost;
        h->number = 0;
    }
}

int demo_actors_start_worker(demo_actor *a)
{
    relet_worker_config w;

    memset(&w, 0, sizeof w);
    w.queue = relet_str("demo");
    w.label = relet_str(a->name);
    w.room = DEMO_ROOM;
    w.lease_ms = DEMO_LEASE_MS;
    w.reap_ms = DEMO_ACTORS_REAP_MS;
    return relet_worker_start(a->r, &w);
}

/* --------------------------------------------------------------- producers */

void demo_actors_produce(demo *d, demo_actor *a)
{
    relet_request q = {DEMO_ACTORS_PUT, 0, 0};
    unsigned due = (unsigned)((d->now - d->began) / DEMO_ACTORS_PUT_EVERY_MS);
    char text[32];
    relet_job job;

    while (a->asked < due && a->asked < DEMO_JOBS / 2) {
        snprintf(text, sizeof text, "%s %u", a->name, a->asked + 1);
        memset(&job, 0, sizeof job);
        job.payload = relet_str(text);
        if (relet_queue_put(a->r, relet_str("demo"), &job, 1, 0, &q) < 0)
            return;
        a->asked++;
    }
}

/* ------------------------------------------------------------------ counts */

void demo_actors_count(demo_actor *a)
{
    relet_request q = {DEMO_ACTORS_COUNT, 0, 0};

    (void)relet_queue_status(a->r, relet_str("demo"), &q);
}

static void demo_actors_counted(demo *d, const relet_event *ev)
{
    relet_queue_info info;

    if (!relet_queue_status_read(ev->value, &info))
        return;
    d->counts.waiting = info.waiting + info.ranked + info.delayed;
    d->counts.leased = info.leased;
    d->counts.done = info.done_ever;
    d->counts.dead = info.dead;
    d->counted++;
}

void demo_actors_outcome(demo *d, demo_actor *a, const relet_event *ev)
{
    if (ev->kind != RELET_EV_REPLY) {
        demo_view_tell(d, "%s: %s %.*s", a->name, relet_kind_text(ev->kind),
                   cli_text(ev->text));
        d->wrong = 1;
    } else if (ev->tag == DEMO_ACTORS_PUT) {
        a->put++;
        d->put++;
    } else if (ev->tag == DEMO_ACTORS_COUNT) {
        demo_actors_counted(d, ev);
    }
}

/* ----------------------------------------------------------------- leaders */

int demo_actors_start_leader(demo_actor *a)
{
    relet_lease_config l;

    memset(&l, 0, sizeof l);
    l.name = relet_str("demo");
    l.label = relet_str(a->name);
    l.ttl_ms = DEMO_LEASE_MS;
    return relet_lease_start(a->r, &l);
}

/* Counts a stolen lead if another leader still believes that it leads, or if
 * the token is not above the last one. */
void demo_actors_gained(demo *d, demo_actor *a, uint64_t token)
{
    const demo_actor *other;

    for (other = d->actor; other < d->actor + DEMO_ACTORS; other++)
        if (other->role == DEMO_LEADER && other->r && other != a &&
            relet_lease_valid_for(other->r, 0, relet_clock()) > 0)
            d->stolen++;
    d->stolen += token <= d->last_token;
    d->last_token = a->token = token;
    d->leader = a;
    d->terms++;
    if (d->leader_gone && !d->led_again_ms) {
        d->led_again_ms = d->now - d->leader_gone;
        demo_view_tell(d, "%s%s leads%s, %" PRId64 " ms after that", d->bold,
                   a->name, d->plain, d->led_again_ms);
    } else {
        demo_view_tell(d, "%s%s leads%s, with token %" PRIu64, d->bold, a->name,
                   d->plain, token);
    }
}
