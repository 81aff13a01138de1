/* SPDX-License-Identifier: MIT
 *
 * reap.c - relet reap: the upkeep that workers do between jobs, done by one
 * process for several queues. Delayed jobs begin to wait when they are due.
 * Leased jobs wait again when their leases have ended. Old results and records
 * of clients are deleted.
 *
 * If several such processes run, a lease elects one of them for each queue. Two
 * at work for the same queue do no harm, but double the effort. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define REAP_STEP 128
#define REAP_TTL_MS 10000
#define REAP_PAUSE_MS 10 /* the least time between two rounds                */

/* The steps of a round, one after the other. */
typedef enum reap_what {
    REAP_PROMOTE,
    REAP_LAPSED,
    REAP_TRIM,
    REAP_FORGET
} reap_what;

typedef struct reaped {
    const char *name;
    int lease;            /* elects the queue's reaper; -1: no lease        */
    int leads;
    int asked;            /* an answer is due                               */
    reap_what next;
    relet_time at;        /* when the next step is due                      */
    relet_time again_ms;  /* from the end of this round to the next one     */
    char from[48];        /* where REAP_FORGET goes on                      */
    uint64_t relet, dead, promoted, gone;
    int over;             /* --once: the queue's round is done              */
} reaped;

typedef struct reaper {
    cli *c;
    reaped *queues;
    int n;
    relet_time every, hold_off;
    int code;
} reaper;

/* ----------------------------------------------------------------- one step */

static int reap_ask(const reaper *p, reaped *d, int i)
{
    relet_request q = cli_request(p->c);
    relet_span name = relet_str(d->name);
    relet *r = p->c->r;
    int code = RELET_E_REFUSED;

    q.tag = (uint64_t)i;
    switch (d->next) {
    case REAP_PROMOTE:
        code = relet_queue_promote(r, name, REAP_STEP, &q);
        break;
    case REAP_LAPSED:
        code = relet_queue_reap(r, name, REAP_STEP, (uint32_t)p->c->stalls,
                                p->hold_off, &q);
        break;
    case REAP_TRIM:
        code = relet_queue_trim(r, name, (uint64_t)p->c->done_max,
                                (uint64_t)p->c->dead_max, p->c->dead_ms,
                                REAP_STEP, &q);
        break;
    case REAP_FORGET:
        code = relet_queue_forget(r, name, relet_str(d->from), &q);
        break;
    }
    d->asked = code == 0;
    return code && code != RELET_E_LIMIT ? cli_trouble(p->c, code) : 0;
}

/* The next round comes when something is due, if that is sooner. */
static void reap_sooner(reaped *d, relet_time ms)
{
    if (ms < d->again_ms)
        d->again_ms = ms;
}

static int reap_heard_promote(reaped *d, relet_value v)
{
    relet_promoted step;

    if (!relet_queue_promote_read(v, &step))
        return 0;
    d->promoted += step.promoted;
    reap_sooner(d, step.due_ms);
    return step.promoted == REAP_STEP;
}

static int reap_heard_lapsed(reaped *d, relet_value v)
{
    relet_reaped step;

    if (!relet_queue_reap_read(v, &step))
        return 0;
    d->relet += step.waiting;
    d->dead += step.dead;
    reap_sooner(d, step.again_ms);
    return step.waiting + step.dead == REAP_STEP;
}

/* Takes the reply to a step. 1 when the same step has more to do. */
static int reap_heard(reaped *d, relet_value v)
{
    relet_removed removed;

    switch (d->next) {
    case REAP_PROMOTE:
        return reap_heard_promote(d, v);
    case REAP_LAPSED:
        return reap_heard_lapsed(d, v);
    case REAP_TRIM:
        if (!relet_queue_trim_read(v, &removed))
            return 0;
        d->gone += removed.removed;
        return removed.more;
    case REAP_FORGET:
        break;
    }
    snprintf(d->from, sizeof d->from, "%.*s", cli_text(relet_value_text(v)));
    return 0;
}

static void reap_tell(reaper *p, reaped *d)
{
    if (d->relet + d->dead + d->promoted + d->gone == 0 && !p->c->once)
        return;
    if (p->c->json) {
        fputs("{\"queue\":", stdout);
        show_json(stdout, relet_str(d->name));
        printf(",\"relet\":%" PRIu64 ",\"dead\":%" PRIu64 ",\"due\":%" PRIu64
               ",\"gone\":%" PRIu64 "}\n", d->relet, d->dead, d->promoted,
               d->gone);
    } else {
        show_name(stdout, d->name);
        printf("\trelet %" PRIu64 "\tdead %" PRIu64 "\tdue %" PRIu64
               "\tgone %" PRIu64 "\n", d->relet, d->dead, d->promoted,
               d->gone);
    }
    if (cli_flushed()) /* the lease is released all the same */
        p->code = CLI_OUTPUT;
    d->relet = d->dead = d->promoted = d->gone = 0;
}

static void reap_advance(reaper *p, reaped *d, int more)
{
    relet_time now = relet_clock();

    d->at = now;
    if (more)
        return;
    if (d->next == REAP_FORGET && p->c->once && d->from[0])
        return;
    if (d->next != REAP_FORGET) {
        d->next = (reap_what)(d->next + 1);
        return;
    }
    d->next = REAP_PROMOTE;
    reap_tell(p, d);
    d->over = p->c->once;
    d->at = now + (d->again_ms > REAP_PAUSE_MS ? d->again_ms : REAP_PAUSE_MS);
    d->again_ms = p->every;
}

/* ------------------------------------------------------------------- events */

static void reap_answer(reaper *p, reaped *d, const relet_event *ev)
{
    int code;

    d->asked = 0;
    if (ev->kind == RELET_EV_REPLY) {
        reap_advance(p, d, reap_heard(d, ev->value));
        return;
    }
    cli_say("%s: %.*s", d->name, cli_text(ev->text));
    code = ev->kind == RELET_EV_ERROR      ? CLI_ERROR
           : ev->kind == RELET_EV_NOT_SENT ? CLI_NOT_SENT
                                        : CLI_UNSURE;
    d->at = relet_clock() + p->every;
    if (p->c->once || ev->kind == RELET_EV_ERROR) {
        d->over = p->c->once;
        p->code = code > p->code ? code : p->code;
    }
}

/* Prints a notice on standard error, as all notices are. */
static void reap_note(const reaper *p, const reaped *d, const char *event,
                      const relet_event *ev, int wrong)
{
    if (p->c->quiet && !wrong)
        return;
    if (p->c->json) {
        fprintf(stderr, "{\"event\":\"%s\",\"queue\":", event);
        show_json(stderr, relet_str(d->name));
        fprintf(stderr, ",\"token\":%" PRIu64, ev->token);
        if (ev->text.n > 0) {
            fputs(",\"text\":", stderr);
            show_json(stderr, ev->text);
        }
        fputs("}\n", stderr);
    } else if (ev->kind == RELET_EV_LEASE_GAINED) {
        cli_say("%s: %s the lead: token %" PRIu64, d->name, event, ev->token);
    } else {
        cli_say("%s: %s the lead: %.*s", d->name, event, cli_text(ev->text));
    }
}

static void reap_event_lease(const reaper *p, reaped *d, const relet_event *ev)
{
    if (ev->kind == RELET_EV_LEASE_GAINED) {
        d->leads = 1;
        d->at = 0;
        reap_note(p, d, "gained", ev, 0);
    } else if (ev->kind == RELET_EV_LEASE_LOST) {
        d->leads = 0;
        reap_note(p, d, "lost", ev, 1);
        (void)relet_lease_work_done(p->c->r, d->lease);
    } else if (ev->kind == RELET_EV_LEASE_TROUBLE) {
        reap_note(p, d, d->leads ? "cannot renew" : "cannot have", ev, 1);
    }
}

static void reap_event(reaper *p, const relet_event *ev)
{
    int i;

    if (ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE &&
        ev->tag < (uint64_t)p->n) {
        reap_answer(p, &p->queues[ev->tag], ev);
        return;
    }
    if (!p->c->quiet && (ev->kind == RELET_EV_UP || ev->kind == RELET_EV_DOWN))
        cli_say("%s: %.*s", relet_kind_text(ev->kind), cli_text(ev->text));
    for (i = 0; i < p->n; i++) {
        reaped *d = &p->queues[i];

        if (d->lease == ev->lease && d->lease >= 0)
            reap_event_lease(p, d, ev);
    }
}

/* --------------------------------------------------------------------- loop */

static int reap_lead(reaper *p)
{
    relet_lease_config config;
    char name[256];
    int i;

    for (i = 0; i < p->n && !p->c->once && !p->c->alone; i++) {
        snprintf(name, sizeof name, "reap:%s", p->queues[i].name);
        memset(&config, 0, sizeof config);
        config.name = relet_str(name);
        config.ttl_ms = p->c->lead_ttl_ms ? p->c->lead_ttl_ms : REAP_TTL_MS;
        config.renew_ms = p->c->renew_ms;
        config.retry_ms = p->c->retry_ms;
        p->queues[i].lease = relet_lease_start(p->c->r, &config);
        if (p->queues[i].lease >= 0)
            continue;
        return cli_unstarted(p->c, p->queues[i].lease);
    }
    return 0;
}

/* Asks for all steps that are due. *at: when the next step is due; RELET_NEVER:
 * only answers are awaited, or other processes are at work. */
static int reap_asks(reaper *p, relet_time *at)
{
    relet_time now = relet_clock();
    int i, code = 0;

    *at = RELET_NEVER;
    for (i = 0; i < p->n && !code; i++) {
        reaped *d = &p->queues[i];

        if (d->asked || d->over || !d->leads)
            continue;
        if (d->at <= now)
            code = reap_ask(p, d, i);
        else if (d->at < *at)
            *at = d->at;
    }
    return code;
}

static int reap_is_over(const reaper *p)
{
    int i;

    if (p->code == CLI_OUTPUT)
        return 1;
    for (i = 0; i < p->n; i++)
        if (!p->queues[i].over)
            return cli_interrupted();
    return 1;
}

static int reap_loop(reaper *p)
{
    relet_event ev;
    relet_time at;
    int code = reap_lead(p);

    while (!code && !reap_is_over(p)) {
        relet_time left;
        int got;

        code = reap_asks(p, &at);
        left = at == RELET_NEVER ? -1 : at - relet_clock();
        if (code)
            break;
        got = relet_wait(p->c->r, &ev, at == RELET_NEVER ? -1
                                       : left > 0 ? (int)left : 0);
        if (got == 1)
            reap_event(p, &ev);
        else if (got < 0)
            code = cli_trouble(p->c, got);
    }
    return code ? code : p->code;
}

/* Releases the leases, so that the next process begins at once. */
static void reap_leave(const reaper *p)
{
    relet_time until = relet_clock() + 1000;
    relet_event ev;
    int i, held = 0;

    for (i = 0; i < p->n; i++) {
        if (p->queues[i].lease < 0)
            continue;
        held++;
        (void)relet_lease_stop(p->c->r, p->queues[i].lease);
        (void)relet_lease_work_done(p->c->r, p->queues[i].lease);
    }
    while (held > 0 && relet_clock() < until) {
        int got = relet_wait(p->c->r, &ev, 100);

        if (got < 0)
            return;
        held -= got == 1 && ev.kind == RELET_EV_LEASE_ENDED;
    }
}

static int reap_begin(reaper *p)
{
    cli *c = p->c;
    int i;

    p->n = c->argc;
    p->every = c->interval_ms < 0 ? 5000 : c->interval_ms;
    p->hold_off = c->ttl_ms ? c->ttl_ms : 30000;
    if (c->stalls == 0)
        c->stalls = 2;
    if (c->done_max < 0)
        c->done_max = 10000;
    if (c->dead_max < 0)
        c->dead_max = 10000;
    p->queues = (reaped *)cli_grow(NULL, (size_t)p->n * sizeof *p->queues);
    memset(p->queues, 0, (size_t)p->n * sizeof *p->queues);
    for (i = 0; i < p->n; i++) {
        p->queues[i].name = c->argv[i];
        p->queues[i].lease = -1;
        p->queues[i].leads = c->once || c->alone;
        p->queues[i].again_ms = p->every;
    }
    c->config.leases_max = (uint32_t)p->n;
    return c->once ? cli_connect(c, 0) : cli_open(c);
}

/* NULL, or the rule that is broken. */
static const char *reap_rule(const cli *c)
{
    int i, k;

    if (c->argc == 0 || c->argc > 64)
        return "reap wants the names of queues, at most 64";
    for (i = 0; i < c->argc; i++)
        for (k = 0; k < i; k++)
            if (!strcmp(c->argv[i], c->argv[k]))
                return "a queue is named twice";
    if ((c->alone || c->once) &&
        (c->lead_ttl_ms || c->renew_ms || c->retry_ms))
        return "--ttl, --renew and --retry are of the lease that --alone and "
               "--once do without";
    return NULL;
}

static int reap_run(cli *c)
{
    const char *rule = reap_rule(c);
    reaper p;
    int code;

    if (rule) {
        cli_say("%s", rule);
        return CLI_USAGE;
    }
    memset(&p, 0, sizeof p);
    p.c = c;
    code = cli_configure(c);
    if (!code)
        code = reap_begin(&p);
    if (!code) {
        cli_interruptible(c);
        code = reap_loop(&p);
        reap_leave(&p);
    }
    free(p.queues);
    return code;
}

static const cli_option reap_options[] = {
    {0, "once", NULL, CLI_FLAG, offsetof(cli, once), 0, 0,
     "work on each queue once, without the lease, then end"},
    {'i', "interval", "MS", CLI_NUMBER, offsetof(cli, interval_ms), 10,
     1000000000, "longest time between two rounds; default 5000"},
    {0, "alone", NULL, CLI_FLAG, offsetof(cli, alone), 0, 0,
     "work without the lease that elects one process"},
    {0, "ttl", "MS", CLI_NUMBER, offsetof(cli, lead_ttl_ms), 200, 1000000000,
     "how long it lasts without a renewal; default 10000"},
    {0, "renew", "MS", CLI_NUMBER, offsetof(cli, renew_ms), 1, 1000000000,
     "how often it is renewed; default a third of --ttl"},
    {0, "retry", "MS", CLI_NUMBER, offsetof(cli, retry_ms), 1, 1000000000,
     "how often the others ask for it; default --ttl"},
    {0, "lease", "MS", CLI_NUMBER, offsetof(cli, ttl_ms), 50, 1000000000,
     "after a failover: time to renew; default 30000"},
    {0, "stalls", "N", CLI_NUMBER, offsetof(cli, stalls), 1, INT32_MAX,
     "how often the lease of a job may expire; default 2"},
    {0, "done", "N", CLI_NUMBER, offsetof(cli, done_max), 0, INT32_MAX,
     "most results that are kept; default 10000"},
    {0, "dead", "N", CLI_NUMBER, offsetof(cli, dead_max), 0, INT32_MAX,
     "most dead jobs that are kept; default 10000"},
    {0, "age", "MS", CLI_NUMBER, offsetof(cli, dead_ms), 1, INT32_MAX,
     "how long dead jobs are kept; default for ever"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command reap_command = {
    "reap", "put jobs of lost workers back, and clean up queues",
    "reap [OPTION]... QUEUE...",
    "Jobs whose leases have expired wait again, or are dead if that happened\n"
    "too often; delayed jobs that are due begin to wait; results are removed\n"
    "after their time, and the oldest results and dead jobs over a number.\n"
    "Workers do the same; this command is for queues without running workers,\n"
    "and for other limits.\n"
    "If several such processes run, a lease elects one of them for each\n"
    "queue; standard error tells when it was gained or lost. Prints a line\n"
    "for each round that changed something. SIGTERM and SIGINT end it.",
    reap_options, 0, reap_run,
};
