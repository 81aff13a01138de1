/* SPDX-License-Identifier: MIT
 *
 * demo.c - relet demo: the scenario of producers, workers and leaders on one
 * queue (demo_actors.c), and the failures that are injected into it.
 *
 * Each actor is a client of its own, in this process. Killing an actor closes
 * its client; a paused actor's client is not driven. Nothing is shown that is
 * not checked: the exit code is 1 if something was not as stated. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"
#include "relet_local.h"

#define DEMO_PAUSE_MS 1500
#define DEMO_MOST_MS 30000
#define DEMO_COUNT_EVERY_MS 50

static const struct {
    const char *name;
    demo_role role;
} demo_cast[DEMO_ACTORS] = {
    {"p1", DEMO_PRODUCER}, {"p2", DEMO_PRODUCER}, {"w1", DEMO_WORKER},
    {"w2", DEMO_WORKER},   {"w3", DEMO_WORKER},   {"l1", DEMO_LEADER},
    {"l2", DEMO_LEADER},   {"l3", DEMO_LEADER},
};

/* ------------------------------------------------------------------ events */

static void demo_event(demo *d, demo_actor *a, const relet_event *ev)
{
    demo_hand *h;

    switch (ev->kind) {
    case RELET_EV_REPLY:
    case RELET_EV_ERROR:
    case RELET_EV_NOT_SENT:
    case RELET_EV_UNSURE:
        demo_actors_outcome(d, a, ev);
        return;
    case RELET_EV_DOWN:
        if (ev->why != RELET_WHY_STOPPED)
            demo_view_tell(d, "%s: %.*s", a->name, cli_text(ev->text));
        return;
    case RELET_EV_JOBS:
        demo_actors_jobs(d, a, ev);
        return;
    case RELET_EV_JOB_LOST:
        h = demo_actors_hand_of(a, ev->job);
        if (h)
            h->lost = 1;
        return;
    case RELET_EV_LEASE_GAINED:
        demo_actors_gained(d, a, ev->token);
        return;
    case RELET_EV_LEASE_LOST:
        d->leader = d->leader == a ? NULL : d->leader;
        (void)relet_lease_work_done(a->r, ev->lease);
        return;
    case RELET_EV_LEASE_ENDED:
    case RELET_EV_WORKER_ENDED:
        a->ended = 1;
        return;
    case RELET_EV_UP:
    case RELET_EV_LEASE_TROUBLE:
    case RELET_EV_WORKER_TROUBLE:
    case RELET_EV_JOB_CANCEL:
    case RELET_EV_SUBSCRIBED:
    case RELET_EV_UNSUBSCRIBED:
    case RELET_EV_SUBSCRIPTION_REFUSED:
    case RELET_EV_MESSAGE:
    case RELET_EV_GAP:
    case RELET_EV_INVALIDATE:
    case RELET_EV_PUSHED:
    case RELET_EV_NOTHING:
        return;
    }
}

/* Does all that can be done now. Returns 0 or a code of the library. */
static int demo_turn(demo *d)
{
    relet_event ev;
    size_t i;
    int n;

    for (i = 0; i < DEMO_ACTORS; i++) {
        demo_actor *a = &d->actor[i];

        if (a->state != DEMO_WELL || !a->r)
            continue;
        d->now = relet_clock();
        while ((n = relet_wait(a->r, &ev, 0)) == 1)
            demo_event(d, a, &ev);
        if (n < 0)
            return n;
        if (a->role == DEMO_WORKER)
            demo_actors_work(d, a);
        if (a->role == DEMO_PRODUCER)
            demo_actors_produce(d, a);
    }
    return 0;
}

/* -------------------------------------------------------------------- play */

static demo_actor *demo_named(demo *d, const char *name)
{
    size_t i;

    for (i = 0; strcmp(d->actor[i].name, name) != 0; i++)
        continue;
    return &d->actor[i];
}

/* Injects the failures, each as soon as its time has come and the actor has
 * something to lose. */
static void demo_fate(demo *d)
{
    relet_time t = d->now - d->began;
    demo_actor *w1 = demo_named(d, "w1"), *w2 = demo_named(d, "w2");
    demo_loss *killed = &d->loss[0], *paused = &d->loss[1];

    if (t > 1000 && killed->at == 0 && demo_actors_busy(w1)) {
        demo_actors_loses(d, w1, killed);
        demo_actors_kill(d, w1);
        demo_view_tell(d, "%sw1 is killed%s with %u jobs; of one the effect "
                   "was made", d->red, d->plain, killed->jobs);
    }
    if (t > 2000 && paused->at == 0 && demo_actors_busy(w2)) {
        demo_actors_loses(d, w2, paused);
        w2->state = DEMO_PAUSED;
        demo_view_tell(d, "%sw2 is paused%s with %u jobs, for longer than its "
                   "leases", d->red, d->plain, paused->jobs);
    }
    if (w2->state == DEMO_PAUSED && d->now - w2->since > DEMO_PAUSE_MS) {
        w2->state = DEMO_WELL;
        demo_view_tell(d, "w2 goes on");
    }
    if (t > 2800 && !d->leader_gone && d->leader) {
        demo_actor *a = demo_named(d, d->leader->name);

        d->leader = NULL;
        d->leader_gone = d->now;
        demo_view_tell(d, "%s%s, which leads, is killed%s", d->red, a->name,
                   d->plain);
        demo_actors_kill(d, a);
    }
}

static int demo_is_over(const demo *d)
{
    return d->counts.done == DEMO_JOBS && d->led_again_ms > 0 &&
           d->loss[1].at != 0 && d->loss[1].who->state == DEMO_WELL;
}

/* 0, or an exit code. */
static int demo_play(demo *d)
{
    relet_time count_at = 0;
    int code;

    d->began = d->now = relet_clock();
    while (!demo_is_over(d) && !cli_interrupted() && !d->unread) {
        code = demo_turn(d);
        if (code < 0)
            return cli_trouble(d->c, code);
        demo_fate(d);
        if (d->now >= count_at) {
            demo_actors_count(&d->actor[0]);
            count_at = d->now + DEMO_COUNT_EVERY_MS;
        }
        demo_view_show(d, 0);
        if (d->now - d->began > DEMO_MOST_MS)
            return 0; /* the account says what is missing */
        (void)poll(NULL, 0, 2);
    }
    return 0;
}

/* Stops the actors that are left in an orderly way, and counts the queue once
 * more. */
static int demo_end(demo *d)
{
    unsigned counted = d->counted, left;
    relet_time until = relet_clock() + 5000;
    size_t i;

    for (i = 0; i < DEMO_ACTORS; i++) {
        if (d->actor[i].state == DEMO_PAUSED)
            d->actor[i].state = DEMO_WELL;
        if (d->actor[i].r && d->actor[i].role == DEMO_WORKER)
            (void)relet_worker_stop(d->actor[i].r, 0);
        if (d->actor[i].r && d->actor[i].role == DEMO_LEADER)
            (void)relet_lease_stop(d->actor[i].r, 0);
    }
    demo_actors_count(&d->actor[0]);
    do {
        int code = demo_turn(d);

        if (code < 0)
            return cli_trouble(d->c, code);
        for (left = 0, i = 0; i < DEMO_ACTORS; i++)
            left += d->actor[i].r && d->actor[i].role != DEMO_PRODUCER &&
                    !d->actor[i].ended;
        (void)poll(NULL, 0, 2);
    } while ((left > 0 || d->counted == counted) && relet_clock() < until);
    return 0;
}

/* ------------------------------------------------------------------- frame */

/* Opens a client for each actor: to the configured server, or else to a mem:
 * store that all of them share. */
static int demo_open(demo *d, relet_poll_config *p)
{
    relet_config *c = &d->c->config;
    relet_fault fault;
    size_t i;

    snprintf(d->prefix, sizeof d->prefix, "relet-demo-%ld", (long)getpid());
    snprintf(c->prefix, sizeof c->prefix, "%s", d->prefix);
    c->workers_max = 1;
    c->jobs_max = DEMO_ROOM;
    c->leases_max = 1;
    c->output_max = 1 << 20;
    for (i = 0; i < DEMO_ACTORS; i++) {
        demo_actor *a = &d->actor[i];

        a->name = demo_cast[i].name;
        a->role = demo_cast[i].role;
        a->r = relet_open(NULL, c, p, &fault);
        if (!a->r) {
            cli_say("%s", fault.text);
            return CLI_USAGE;
        }
    }
    return 0;
}

/* The first client finds out whether there is a server. */
static int demo_greet(demo *d)
{
    char where[300];
    int code;

    d->c->r = d->actor[0].r;
    code = cli_wait_up(d->c, 0);
    d->c->r = NULL;
    if (code)
        return code;
    printf("%s on %s: 2 producers, 3 workers, 3 candidates; leases of %d "
           "ms\n\n", d->c->server, cli_where(d->c, where, sizeof where),
           DEMO_LEASE_MS);
    return 0;
}

static int demo_enter(demo *d)
{
    size_t i;
    int code = 0;

    for (i = 0; i < DEMO_ACTORS && code >= 0; i++) {
        if (d->actor[i].role == DEMO_WORKER)
            code = demo_actors_start_worker(&d->actor[i]);
        if (d->actor[i].role == DEMO_LEADER)
            code = demo_actors_start_leader(&d->actor[i]);
    }
    return code < 0 ? cli_trouble(d->c, code) : 0;
}

/* Closes the actors' clients, which has to come first, and removes the demo's
 * keys: nothing of the demo stays on a server. */
static void demo_clean(demo *d, relet_poll_config *p)
{
    static const char *const around[][2] = {
        {"{", ":demo}:jobs"},      {"{", ":demo}:waiting"},
        {"{", ":demo}:ranked"},    {"{", ":demo}:delayed"},
        {"{", ":demo}:leased"},    {"{", ":demo}:done"},
        {"{", ":demo}:dead"},      {"{", ":demo}:ids"},
        {"{", ":demo}:idle"},      {"", ":leader:demo"},
        {"{", ":leader:demo}:fence"}, {"{", ":leader:demo}:sleepers"}};
    relet *r = relet_open(NULL, &d->c->config, p, NULL);
    relet_span argv[2];
    relet_event ev;
    char key[100];
    size_t i;

    for (i = 0; i < DEMO_ACTORS; i++) {
        relet_close(d->actor[i].r);
        d->actor[i].r = NULL;
    }
    argv[0] = relet_str("UNLINK");
    argv[1].p = key;
    for (i = 0; i < sizeof around / sizeof around[0]; i++) {
        argv[1].n = (size_t)snprintf(key, sizeof key, "%s%s%s", around[i][0],
                                     d->prefix, around[i][1]);
        if (r != NULL)
            (void)relet_call(r, argv, 2, &ev, 1000);
    }
    relet_close(r);
}

static int demo_all(demo *d, relet_poll_config *p)
{
    int code = demo_open(d, p);

    if (code == 0)
        code = demo_greet(d);
    if (code == 0)
        code = demo_enter(d);
    if (code == 0)
        code = demo_play(d);
    if (code == 0)
        code = demo_end(d);
    if (code == 0 && !cli_interrupted() && !d->unread)
        demo_view_account(d);
    if (d->began)
        demo_clean(d, p);
    return code;
}

static int demo_run(cli *c)
{
    relet_poll_config p;
    demo *d;
    size_t i;
    int code;

    if (c->argc || c->json) {
        cli_say("demo takes no %s", c->json ? "--json" : "arguments");
        return CLI_USAGE;
    }
    if (!c->url && !getenv("REDIS_URL") && !getenv("RELET_REDIS_URL"))
        c->url = "mem:demo";
    code = cli_configure(c);
    if (code)
        return code;
    if (c->config.scheme == RELET_MEM) /* a store that all actors share */
        snprintf(c->config.host, sizeof c->config.host, "demo");
    d = (demo *)cli_grow(NULL, sizeof *d);
    memset(d, 0, sizeof *d);
    memset(&p, 0, sizeof p);
    d->c = c;
    p.stores = relet_stores_make(NULL);
    demo_view_begin(d);
    cli_interruptible(c);
    code = demo_all(d, &p);
    for (i = 0; i < DEMO_ACTORS; i++)
        relet_close(d->actor[i].r);
    relet_stores_close(p.stores);
    if (code == 0 && cli_interrupted())
        code = CLI_SIGNAL + cli_interrupted();
    if (code == 0 && d->wrong)
        code = CLI_ERROR;
    free(d);
    return code;
}

static const cli_option demo_options[] = {
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command demo_command = {
    "demo", "see a queue at work, and what it survives",
    "demo",
    "Producers, workers and leaders at work on one queue: a worker is killed\n"
    "in the middle of its jobs, one is paused for longer than its leases, the\n"
    "leader is killed. At the end there is an account of all jobs and their\n"
    "effects; the exit code is 1 if something is not as it should be. It\n"
    "needs no server: without -u and REDIS_URL it runs on the local one, in\n"
    "memory. On a real one its keys begin with relet-demo-, and are removed\n"
    "at the end.",
    demo_options, 0, demo_run,
};
