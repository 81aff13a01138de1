/* SPDX-License-Identifier: MIT
 *
 * work.c - relet work: runs a command for each job of a queue.
 *
 *                            job                      command
 *   claimed                  leased                   is started
 *   the command ends         done, failed, …          (its exit code decides)
 *   cancelled, out of time,  failed, or given back    SIGTERM, and SIGKILL
 *   not renewed for long                              when the grace is over
 *   lost                     may be another's         SIGKILL
 *
 * The loop renews leases while commands run. Each command has a guard, so that
 * none outlives its lease when this process is stopped or killed. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define WORK_WIDTH_MAX 128
#define WORK_IDLE_MS 200 /* how often --drain asks if the queues are empty   */
#define WORK_ASK 1       /* the tag of that request                          */

void work_stop(worker *w)
{
    int i;

    if (w->stopping)
        return;
    w->stopping = 1;
    for (i = 0; i < w->queues; i++)
        if (w->desks[i].number >= 0)
            (void)relet_worker_stop(w->c->r, w->desks[i].number);
}

/* ------------------------------------------------------------------- events */

/* The queue whose worker an event is about. */
static work_desk *work_desk_of(worker *w, const relet_event *ev)
{
    int i;

    for (i = 0; i < w->queues - 1 && w->desks[i].number != ev->worker; i++)
        ;
    return &w->desks[i];
}

static runner *work_find(worker *w, const relet_event *ev)
{
    int i;

    for (i = 0; i < w->width; i++)
        if (w->runners[i].busy && w->runners[i].number == ev->job &&
            w->runners[i].token == ev->token &&
            w->runners[i].desk == work_desk_of(w, ev))
            return &w->runners[i];
    return NULL;
}

static void work_event_lost(worker *w, const relet_event *ev)
{
    runner *x = work_find(w, ev);

    if (!x) { /* the command had ended, but too late */
        cli_say("%s: job %" PRIu64 ": lost: %s; what was done may be done "
                "again", work_desk_of(w, ev)->name, ev->job,
                relet_why_text(ev->why));
        return;
    }
    if (!x->ended)
        runner_note(w, x, "lost; the command is killed",
                    relet_why_text(ev->why), 1);
    x->why = WORK_LOST;
}

static void work_event_status(worker *w, const relet_event *ev)
{
    relet_queue_info info;

    w->asked = 0;
    if (ev->kind == RELET_EV_ERROR) {
        w->code = cli_refused(w->c, ev);
        work_stop(w);
    }
    if (ev->kind != RELET_EV_REPLY ||
        !relet_queue_status_read(ev->value, &info))
        return;
    if (info.waiting + info.ranked == 0 && info.due_ms != 0 && w->busy == 0)
        w->empty++;
    else
        w->empty = 0;
    if (w->empty == w->queues)
        work_stop(w);
    if (w->empty == 0) /* ask again, from the first queue on */
        w->ask_at = relet_clock() + WORK_IDLE_MS;
}

static void work_event_jobs(worker *w, const relet_event *ev)
{
    relet_work job;
    size_t at = 0;

    while (relet_jobs_next(w->c->r, ev, &at, &job))
        runner_begin(w, work_desk_of(w, ev), &job);
}

static void work_event(worker *w, const relet_event *ev)
{
    runner *x;

    if (ev->kind == RELET_EV_JOBS) {
        work_event_jobs(w, ev);
    } else if (ev->kind == RELET_EV_JOB_LOST) {
        work_event_lost(w, ev);
    } else if (ev->kind == RELET_EV_JOB_CANCEL) {
        x = work_find(w, ev);
        if (x)
            runner_tell(w, x, ev->why == RELET_WHY_TIMEOUT ? WORK_OUT_OF_TIME
                                                           : WORK_CANCELLED);
    } else if (ev->kind == RELET_EV_WORKER_ENDED) {
        work_desk_of(w, ev)->number = -1;
        w->at_work--;
    } else if (ev->kind == RELET_EV_UP || ev->kind == RELET_EV_DOWN ||
               ev->kind == RELET_EV_WORKER_TROUBLE ||
               ev->kind == RELET_EV_SUBSCRIPTION_REFUSED) {
        char text[200];

        if (ev->kind == RELET_EV_UP)
            w->down_at = 0;
        else if (ev->kind == RELET_EV_DOWN && w->down_at == 0)
            w->down_at = relet_clock();

        snprintf(text, sizeof text, "%.*s", cli_text(ev->text));
        runner_note(w, NULL, relet_kind_text(ev->kind), text,
                    ev->why == RELET_WHY_AUTH ||
                        ev->kind == RELET_EV_WORKER_TROUBLE ||
                        ev->kind == RELET_EV_SUBSCRIPTION_REFUSED);
    } else if (ev->tag == WORK_ASK && ev->kind >= RELET_EV_REPLY &&
               ev->kind <= RELET_EV_UNSURE) {
        work_event_status(w, ev);
    }
}

/* --------------------------------------------------------------------- loop */

/* After the first signal no more jobs are claimed, and commands that run may
 * end by themselves. The second one tells them to end. */
static void work_signal(worker *w, int signo)
{
    int i, again = w->signo != 0;

    w->signo = signo;
    if (!again) {
        if (w->busy > 0 && !w->c->quiet)
            cli_say("%s: %d at work; once more to end them", w->title, w->busy);
        work_stop(w);
        return;
    }
    w->code = CHILD_SIGNAL + signo;
    for (i = 0; i < w->width; i++)
        if (w->runners[i].busy)
            runner_tell(w, &w->runners[i], WORK_LEAVING);
}

/* --drain: asks for the status of a queue while no command runs here. */
static int work_ask(worker *w)
{
    relet_request q = cli_request(w->c);
    int code;

    w->empty = w->busy ? 0 : w->empty;
    if (!w->c->drain || w->stopping || w->busy || w->asked ||
        relet_clock() < w->ask_at || !relet_is_up(w->c->r))
        return 0;
    q.tag = WORK_ASK;
    code = relet_queue_status(w->c->r, relet_str(w->desks[w->empty].name), &q);
    w->asked = code == 0;
    return code && code != RELET_E_LIMIT ? cli_trouble(w->c, code) : 0;
}

/* With --drain or --count, relet does not wait for a server for ever. */
static relet_time work_given_up_at(const worker *w)
{
    if ((!w->c->drain && w->c->count == 0) || w->busy > 0 || w->down_at == 0 ||
        w->stopping)
        return RELET_NEVER;
    return w->down_at + w->c->config.timeout_ms;
}

/* The lease of a job ends by itself when the server was not told the job's
 * outcome. */
static int work_is_over(worker *w)
{
    if (w->at_work == 0)
        return 1;
    if (work_given_up_at(w) <= relet_clock())
        work_stop(w);
    if (!w->stopping || w->busy > 0)
        return 0;
    if (w->leave_at == 0)
        w->leave_at = relet_clock() + w->c->config.timeout_ms;
    if (relet_clock() < w->leave_at)
        return 0;
    cli_say("%s: the server %s; jobs end with their leases", w->title,
            relet_is_up(w->c->r) ? "did not take all that it was told"
                                 : "was not reached");
    if (!w->code)
        w->code = CLI_NOT_SENT;
    return 1;
}

static int work_timeout(const worker *w)
{
    relet_time now = relet_clock(), at = RELET_NEVER, due;
    int i, ms = relet_poll_timeout(w->c->r);

    for (i = 0; i < w->width; i++) {
        if (!w->runners[i].busy)
            continue;
        due = runner_due(w, &w->runners[i], now);
        at = due < at ? due : at;
    }
    if (w->leave_at > 0 && w->leave_at < at)
        at = w->leave_at;
    if (work_given_up_at(w) < at)
        at = work_given_up_at(w);
    if (w->c->drain && !w->stopping && !w->busy && !w->asked && w->ask_at < at)
        at = relet_is_up(w->c->r) ? w->ask_at : at;
    if (at == RELET_NEVER)
        return ms;
    due = at - now;
    due = due < 0 ? 0 : due < 1000000 ? due : 1000000;
    return ms < 0 || due < ms ? (int)due : ms;
}

static void work_poll(worker *w)
{
    struct pollfd fds[RELET_WATCH_MAX + CHILD_IO_FDS * WORK_WIDTH_MAX];
    relet_watch watch[RELET_WATCH_MAX];
    int i, n = relet_watches(w->c->r, watch, RELET_WATCH_MAX);

    for (i = 0; i < n; i++) {
        fds[i].fd = watch[i].fd;
        fds[i].events = watch[i].events;
        fds[i].revents = 0;
    }
    for (i = 0; i < w->width; i++)
        if (w->runners[i].busy && !w->runners[i].ended)
            n += child_io_watch(&w->runners[i].child_io, fds + n);
    (void)poll(fds, (nfds_t)n, work_timeout(w));
}

static int work_turn(worker *w)
{
    relet_event ev;
    int signo = child_signal_take(), got, i, code;

    if (signo)
        work_signal(w, signo);
    while ((got = relet_wait(w->c->r, &ev, 0)) == 1)
        work_event(w, &ev);
    if (got < 0)
        return cli_trouble(w->c, got);
    for (i = 0; i < w->width; i++)
        runner_watch(w, &w->runners[i]);
    code = work_ask(w);
    if (!code && !work_is_over(w))
        work_poll(w);
    return code;
}

/* Kills all commands: the loop that watched them is over. */
static void work_kill_all(worker *w)
{
    int i, ignored;

    for (i = 0; i < w->width; i++) {
        if (!w->runners[i].busy)
            continue;
        child_tell(&w->runners[i].child_io.child, SIGKILL);
        while (!w->runners[i].ended &&
               !child_io_ended(&w->runners[i].child_io, &ignored))
            ;
        child_io_free(&w->runners[i].child_io);
    }
}

static int work_loop(worker *w)
{
    int code = 0;

    while (!code && !work_is_over(w))
        code = work_turn(w);
    child_signals(NULL);
    work_kill_all(w);
    return code ? code : w->code;
}

/* ------------------------------------------------------------------ options */

static int work_start_one(worker *w, work_desk *d)
{
    relet_worker_config config;

    memset(&config, 0, sizeof config);
    config.queue = relet_str(d->name);
    config.team = 1;
    config.weight = d->weight;
    config.label = relet_str(w->label);
    config.type = relet_str(w->c->type);
    config.room = (uint32_t)w->width;
    config.lease_ms = w->lease;
    config.stalls_max = (uint32_t)w->c->stalls;
    d->number = relet_worker_start(w->c->r, &config);
    w->at_work += d->number >= 0;
    if (d->number >= 0)
        return 0;
    return cli_unstarted(w->c, d->number);
}

static int work_start(worker *w)
{
    int i, code = 0;

    for (i = 0; i < w->queues && !code; i++)
        code = work_start_one(w, &w->desks[i]);
    return code;
}

/* SIGKILL comes `margin` before the lease ends: a process may be slow to die,
 * and another worker may have the job as soon as the lease ends. */
static int work_times(worker *w)
{
    w->lease = w->c->ttl_ms ? w->c->ttl_ms : 30000;
    w->grace = w->c->grace_ms < 0 ? w->lease / 4 : w->c->grace_ms;
    w->margin = w->lease / 20 < 1000 ? w->lease / 20 : 1000;
    if (w->grace <= w->lease / 2)
        return 0;
    cli_say("--grace is at most half of --lease, which is %ld",
            (long)w->lease);
    return CLI_USAGE;
}

/* Takes NAME or NAME=WEIGHT; a WEIGHT that is no number belongs to the name. */
static int work_queue(worker *w, const char *word)
{
    work_desk *d = &w->desks[w->queues++];
    const char *equals = strrchr(word, '=');
    size_t n = strlen(word), at = strlen(w->title);
    uint64_t weight = 1;
    int i;

    if (equals && equals[1] && !equals[1 + strspn(equals + 1, "0123456789")]) {
        n = (size_t)(equals - word);
        weight = cli_number(equals + 1, &weight) ? weight : 0;
    }
    if (weight < 1 || weight > 1000000) {
        cli_say("%s: a weight is between 1 and 1000000", word);
        return CLI_USAGE;
    }
    if (n >= sizeof d->name) {
        cli_say("%s: the name of a queue is not so long", word);
        return CLI_USAGE;
    }
    memcpy(d->name, word, n);
    d->name[n] = 0;
    d->weight = (uint32_t)weight;
    d->number = -1;
    snprintf(w->title + at, sizeof w->title - at, "%s%s", at ? "," : "",
             d->name);
    for (i = 0; i < w->queues - 1; i++)
        if (!strcmp(w->desks[i].name, d->name)) {
            cli_say("%s: is named twice", d->name);
            return CLI_USAGE;
        }
    return 0;
}

static int work_words(worker *w)
{
    cli *c = w->c;
    int i, code, queues = c->dashes ? c->before : c->argc;

    if (queues == 0 || c->argc == queues) {
        cli_say("work: %s See relet work --help",
                queues == 0               ? "which queue?"
                : c->dashes || queues < 2 ? "which command?"
                                    : "-- stands in front of the command.");
        return CLI_USAGE;
    }
    if (c->type && c->drain) { /* a status has no counts by type */
        cli_say("--drain does not go with --type");
        return CLI_USAGE;
    }
    if (queues > WORK_QUEUES_MAX) {
        cli_say("work does %d queues at most", WORK_QUEUES_MAX);
        return CLI_USAGE;
    }
    for (i = 0, code = 0; i < queues && !code; i++)
        code = work_queue(w, c->argv[i]);
    if (code)
        return code;
    w->command = c->argv + queues;
    c->argv[c->argc] = NULL; /* there is room for one more */
    w->width = c->width ? (int)c->width : 1;
    if (c->count > 0 && c->count < w->width)
        w->width = (int)c->count;
    if (c->snooze_ms == 0)
        c->snooze_ms = 60000;
    if (c->result_max == 0)
        c->result_max = 1 << 20;
    return cli_label(c, w->label);
}

static int work_run(cli *c)
{
    worker w;
    int code;

    memset(&w, 0, sizeof w);
    w.c = c;
    code = work_words(&w);
    if (!code)
        code = cli_configure(c);
    if (!code)
        code = work_times(&w);
    if (!code)
        code = child_look_up(w.command[0]);
    if (code)
        return code;
    c->config.jobs_max = (uint32_t)w.width;
    c->config.workers_max = (uint32_t)w.queues;
    /* With --drain or --count, relet must not wait for a server for ever. */
    code = c->drain || c->count ? cli_connect(c, 0) : cli_open(c);
    if (code)
        return code;
    child_signals(c->r);
    w.runners = (runner *)cli_grow(NULL, (size_t)w.width * sizeof(runner));
    memset(w.runners, 0, (size_t)w.width * sizeof(runner));
    code = work_start(&w);
    if (!code)
        code = work_loop(&w);
    free(w.runners);
    return code;
}

static const cli_option work_options[] = {
    {'c', "concurrency", "N", CLI_NUMBER, offsetof(cli, width), 1,
     WORK_WIDTH_MAX, "commands at a time, at most 128; default 1"},
    {'n', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, INT32_MAX,
     "end after N jobs"},
    {0, "drain", NULL, CLI_FLAG, offsetof(cli, drain), 0, 0,
     "end when no job waits or is due"},
    {0, "type", "TYPE", CLI_TEXT, offsetof(cli, type), 0, 0,
     "only jobs of this type"},
    {0, "lease", "MS", CLI_NUMBER, offsetof(cli, ttl_ms), 200, 1000000000,
     "how long a lease lasts unrenewed; default 30000"},
    {0, "run", "MS", CLI_NUMBER, offsetof(cli, run_ms), 1, INT32_MAX,
     "how long a job may take that was put without --run"},
    {0, "grace", "MS", CLI_NUMBER, offsetof(cli, grace_ms), 0, 500000000,
     "from SIGTERM to SIGKILL; default a quarter of --lease"},
    {0, "snooze", "MS", CLI_NUMBER, offsetof(cli, snooze_ms), 1, INT32_MAX,
     "how long exit code 75 puts off a job; default 60000"},
    {0, "result", "BYTES", CLI_NUMBER, offsetof(cli, result_max), 1, INT32_MAX,
     "how long a result may be; default 1048576"},
    {0, "stalls", "N", CLI_NUMBER, offsetof(cli, stalls), 1, INT32_MAX,
     "how often the lease of a job may expire; default 2"},
    {0, "owner", "TEXT", CLI_TEXT, offsetof(cli, owner), 0, 0,
     "start of the worker's name; default host and pid"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command work_command = {
    "work", "run a command for each job of a queue",
    "work [OPTION]... QUEUE[=WEIGHT]... -- COMMAND [ARGUMENT]...",
    "Claims jobs and runs the command for each job. The payload is the\n"
    "standard input of the command, its standard output is the result, and\n"
    "its standard error is passed on and kept with a failure. Its environment\n"
    "has RELET_QUEUE, _JOB, _TOKEN, _ATTEMPT, _STALLS, _REPLAYS, and if the\n"
    "job has them RELET_ID and RELET_TYPE. relet job shows the last line that\n"
    "the command wrote to the descriptor RELET_PROGRESS_FD. Several queues\n"
    "share the commands by weight while all have work. The exit code of the\n"
    "command decides:\n\n"
    "  0   the job is done\n"
    "  75  again after --snooze; the attempt does not count\n"
    "  65  the job is dead\n"
    "  else, or a signal: failed; again later while attempts are left\n\n"
    "Leases are renewed while commands run. If a job is cancelled or its time\n"
    "is up, its command and the process group get SIGTERM, and after --grace\n"
    "SIGKILL; if a job is lost, SIGKILL at once. At SIGTERM or SIGINT relet\n"
    "claims no more jobs, and ends with 0 when the commands have ended. At a\n"
    "second signal N it sends SIGTERM to the commands, gives their jobs back\n"
    "and ends with 128 + N. It ends with 126 or 127 if the command cannot be\n"
    "executed or was not found.",
    work_options, 0, work_run,
};
