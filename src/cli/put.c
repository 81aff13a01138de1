/* SPDX-License-Identifier: MIT
 *
 * put.c - relet put: puts jobs into a queue. Their payloads come from the
 * command line or from standard input, as a whole or one a line. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define PUT_PLAIN 128 /* plain jobs in one put                               */
#define PUT_OFFER 16

typedef struct putter {
    cli *c;
    relet_span queue;
    relet_job like;   /* the fields that all jobs share                      */
    relet_unique mode; /* with --unique                                      */
    relet_job jobs[PUT_PLAIN];
    char ids[PUT_OFFER][256]; /* --batch                                     */
    size_t n, most;   /* jobs gathered; the most that one put takes          */
    char *text;       /* payloads of the gathered jobs                       */
    size_t used, cap;
    uint64_t put, twins;
    uint64_t lines;   /* --batch: the number in the last id                  */
    int bar;          /* progress is shown on a terminal                     */
    double bytes, all; /* read from standard input; its size, 0: unknown     */
    double bar_at;    /* when progress was last shown                        */
    int code;         /* the worst exit code so far                          */
    int failed;       /* exit code of a failed put: nothing more is put      */
} putter;

static void put_worse(putter *p, int code)
{
    if (code > p->code)
        p->code = code;
}

/* ---------------------------------------------------------------- progress */

#define PUT_BAR 30
#define PUT_BAR_US 100000 /* the least time between two updates              */

/* Only a file's length is known beforehand. */
static void put_bar_begin(putter *p)
{
    struct stat info;

    p->bar = p->c->lines && !p->c->quiet && !p->c->json &&
             isatty(STDERR_FILENO);
    if (!fstat(STDIN_FILENO, &info) && S_ISREG(info.st_mode))
        p->all = (double)info.st_size;
}

static void put_bar_show(putter *p)
{
    static const char full[] = "##############################";
    double share = p->all > 0 ? p->bytes / p->all : 0;
    int n = share < 1 ? (int)(share * PUT_BAR) : PUT_BAR;

    fputs("\r", stderr);
    if (p->all > 0)
        fprintf(stderr, "[%-*.*s] %3d%%  ", PUT_BAR, n, full,
                share < 1 ? (int)(share * 100) : 100);
    fprintf(stderr, "%" PRIu64 " put, %" PRIu64 " duplicates\033[K", p->put,
            p->twins);
}

static void put_bar(putter *p)
{
    double now = cli_now_us();

    if (!p->bar || now < p->bar_at + PUT_BAR_US)
        return;
    p->bar_at = now;
    put_bar_show(p);
}

/* Erases the bar, so that other lines begin at the left. */
static void put_bar_end(putter *p)
{
    if (p->bar && p->bar_at > 0)
        fputs("\r\033[K", stderr);
    p->bar_at = 0;
}

/* ------------------------------------------------------------------ putting */

/* Reports one job. twin: the place of the job that has its id already, or NULL.
 * On a terminal the bar says enough. */
static void put_tell(putter *p, uint64_t number, const char *twin)
{
    p->put += twin == NULL;
    p->twins += twin != NULL;
    put_bar(p);
    if (p->bar && isatty(STDOUT_FILENO))
        return;
    if (p->c->json && twin)
        printf("{\"job\":%" PRIu64 ",\"duplicate\":true,\"place\":\"%s\"}\n",
               number, twin);
    else if (p->c->json)
        printf("{\"job\":%" PRIu64 ",\"duplicate\":false}\n", number);
    else
        printf("%" PRIu64 "%s%s\n", number, twin ? " duplicate " : "",
               twin ? twin : "");
}

/* A failure that all puts under way share is printed once, with the name of the
 * queue, which is not in all errors. */
static void put_failed(putter *p, const relet_event *ev)
{
    int code = ev->kind == RELET_EV_ERROR      ? CLI_ERROR
               : ev->kind == RELET_EV_NOT_SENT ? CLI_NOT_SENT
                                            : CLI_UNSURE;

    put_bar_end(p);
    if (code > p->failed)
        cli_say("%s: %.*s", p->c->argv[0], cli_text(ev->text));
    if (code > p->failed)
        p->failed = code;
    put_worse(p, code);
}

/* The tag of an operation is the number of its jobs. */
static void put_event(putter *p, const relet_event *ev)
{
    uint64_t i, number = 0;

    if (ev->kind == RELET_EV_REPLY) {
        for (i = 0; i < ev->tag; i++) {
            int is = relet_queue_put_number(ev->value, (size_t)i, &number);
            relet_place at = relet_queue_put_twin(ev->value, (size_t)i);

            if (is == 0)
                put_worse(p, CLI_ERROR);
            else
                put_tell(p, number, is == 2 ? cli_places[at] : NULL);
        }
    } else if (ev->kind == RELET_EV_ERROR || ev->kind == RELET_EV_NOT_SENT ||
               ev->kind == RELET_EV_UNSURE) {
        put_failed(p, ev);
    } else if (p->c->lines && !p->c->quiet &&
               (ev->kind == RELET_EV_DOWN || ev->kind == RELET_EV_UP)) {
        put_bar_end(p);
        cli_say("%s: %.*s", relet_kind_text(ev->kind), cli_text(ev->text));
    }
}

/* Takes events until at most `open` operations have no outcome. The wait also
 * ends at `till`, or when that is RELET_NEVER by a signal. */
static int put_await_answers(putter *p, size_t open, relet_time till)
{
    relet_event ev;

    while (relet_outstanding(p->c->r) > open &&
           (till != RELET_NEVER || !cli_interrupted())) {
        relet_time left = till == RELET_NEVER ? -1 : till - relet_clock();
        int got;

        if (till != RELET_NEVER && left <= 0)
            break;
        got = relet_wait(p->c->r, &ev, (int)left);
        if (got < 0)
            return cli_trouble(p->c, got);
        if (got == 1)
            put_event(p, &ev);
    }
    return 0;
}

/* Puts nothing more, but takes the answers that come within timeout_ms. A
 * second signal ends the program at once. Returns the signal's exit code, or
 * CLI_UNSURE when an outcome is not known. */
static int put_interrupted(putter *p)
{
    int code = put_await_answers(p, 0, relet_clock() +
                                           p->c->config.timeout_ms);
    size_t open = relet_outstanding(p->c->r);

    put_bar_end(p);
    cli_say("interrupted: %" PRIu64 " put, %" PRIu64 " duplicates%s", p->put,
            p->twins, open > 0 ? "; of the last it is not known" : "");
    if (code)
        return code;
    return open > 0 || p->code == CLI_UNSURE ? CLI_UNSURE
                                             : CLI_SIGNAL + cli_interrupted();
}

static int put_wait(putter *p, size_t open)
{
    int code = put_await_answers(p, open, RELET_NEVER);

    if (!code && cli_interrupted())
        code = put_interrupted(p);
    return code;
}

/* Puts the gathered jobs. Payloads move in memory while they are gathered, so
 * the jobs point to them only from here on. */
static int put_send(putter *p)
{
    relet_request q = cli_request(p->c);
    const char *at = p->text;
    uint32_t most = p->c->count > 0 ? (uint32_t)p->c->count : 0;
    size_t i;
    int code;

    if (p->n == 0 || p->failed || cli_interrupted())
        return 0;
    for (i = 0; i < p->n; i++) {
        p->jobs[i].payload.p = at;
        at += p->jobs[i].payload.n;
        if (p->c->batch)
            p->jobs[i].id = relet_str(p->ids[i]);
    }
    q.tag = p->n;
    if (p->c->lines && p->c->timeout_ms < 0)
        q.timeout_ms = RELET_NEVER; /* a server that is away is waited for */
    for (;;) {
        code =
            p->c->unique
                ? relet_queue_put_unique(p->c->r, p->queue, p->jobs, p->mode,
                                         p->c->window_ms, most, &q)
                : relet_queue_put(p->c->r, p->queue, p->jobs, p->n, most, &q);
        if (code != RELET_E_LIMIT)
            break;
        code = put_wait(p, relet_outstanding(p->c->r) - 1);
        if (code)
            return code;
    }
    p->n = p->used = 0;
    return code ? cli_trouble(p->c, code) : 0;
}

static int put_one(putter *p, const char *payload, size_t n)
{
    int code = p->n == p->most ? put_send(p) : 0;

    if (code)
        return code;
    if (p->cap - p->used < n) {
        p->cap = 2 * p->cap + n;
        p->text = (char *)cli_grow(p->text, p->cap);
    }
    if (n > 0)
        memcpy(p->text + p->used, payload, n);
    p->used += n;
    p->jobs[p->n] = p->like;
    if (p->c->batch)
        snprintf(p->ids[p->n], sizeof p->ids[p->n], "%s:%" PRIu64,
                 p->c->batch, ++p->lines);
    p->jobs[p->n++].payload.n = n;
    return 0;
}

/* Waits for standard input, and puts the gathered jobs meanwhile. 0 or an exit
 * code. */
static int put_await(putter *p)
{
    struct pollfd fds[1 + RELET_WATCH_MAX];
    relet_watch watch[RELET_WATCH_MAX];
    relet_event ev;
    int i, n, got, code;

    for (;;) {
        memset(fds, 0, sizeof fds);
        fds[0].fd = STDIN_FILENO;
        fds[0].events = POLLIN;
        if (poll(fds, 1, 0) != 0 || p->failed || cli_interrupted())
            return 0;
        code = put_send(p);
        if (code)
            return code;
        while ((got = relet_wait(p->c->r, &ev, 0)) == 1)
            put_event(p, &ev);
        if (got < 0)
            return cli_trouble(p->c, got);
        if (p->failed)
            return 0;
        cli_flush();
        n = relet_watches(p->c->r, watch, RELET_WATCH_MAX);
        for (i = 0; i < n; i++) {
            fds[1 + i].fd = watch[i].fd;
            fds[1 + i].events = watch[i].events;
        }
        (void)poll(fds, (nfds_t)n + 1, relet_poll_timeout(p->c->r));
    }
}

/* Reads standard input. Returns the bytes read; 0 at its end or on an error. */
static size_t put_read(char *p, size_t n, int *code)
{
    ssize_t got;

    do {
        got = read(STDIN_FILENO, p, n);
    } while (got < 0 && errno == EINTR && !cli_interrupted());
    if (got < 0 && !cli_interrupted()) {
        cli_say("standard input: %s", strerror(errno));
        *code = CLI_USAGE;
    }
    return got < 0 ? 0 : (size_t)got;
}

/* Puts each line of standard input as a job, or all of it as one job. */
static int put_input(putter *p)
{
    char *buf = NULL;
    size_t used = 0, cap = 0, n, at;
    int code = 0, end = 0;

    while (!code && !end && !p->failed && !cli_interrupted()) {
        if (cap - used < 65536) {
            cap = 2 * cap + 65536;
            buf = (char *)cli_grow(buf, cap);
        }
        code = put_await(p);
        if (code || p->failed || cli_interrupted())
            break;
        n = put_read(buf + used, cap - used, &code);
        end = n == 0;
        used += n;
        for (at = 0; p->c->lines && at < used && !code;) {
            char *to = (char *)memchr(buf + at, '\n', used - at);

            if (to == NULL && !end)
                break;
            n = to ? (size_t)(to - buf) - at : used - at;
            code = put_one(p, buf + at, n);
            at += n + (to != NULL);
            p->bytes += (double)n + 1;
        }
        if (p->c->lines) {
            memmove(buf, buf + at, used - at);
            used -= at;
        }
    }
    if (!code && !p->c->lines && end)
        code = put_one(p, buf, used);
    free(buf);
    return code;
}

static void put_end(const putter *p, const relet_job_info *end)
{
    relet_span text = end->place == RELET_AT_DONE ? end->result : end->error;

    if (p->c->json) {
        printf("{\"job\":%" PRIu64 ",\"place\":\"%s\",\"%s\":",
               end->work.number,
               end->place == RELET_AT_DONE   ? "done"
               : end->place == RELET_AT_DEAD ? "dead"
                                          : "gone",
               end->place == RELET_AT_DONE ? "result" : "error");
        show_json(stdout, text.p ? text : relet_str(""));
        puts("}");
    } else if (end->place == RELET_AT_DONE) {
        fwrite(text.p, 1, text.n, stdout);
    } else if (end->place == RELET_AT_DEAD) {
        cli_say("job %" PRIu64 " is dead: %.*s", end->work.number,
                cli_text(text));
    } else {
        cli_say("job %" PRIu64 " was cancelled, or is gone", end->work.number);
    }
}

/* Puts the one job that was gathered, and waits for its end. */
static int put_to_its_end(putter *p)
{
    relet_job_info end;
    relet_event ev;
    int code;

    p->jobs[0].payload.p = p->text;
    code = relet_queue_put_wait(p->c->r, p->queue, p->jobs, &ev, &end,
                                (int)p->c->wait_ms);
    if (code == RELET_E_TIMEOUT) {
        cli_say("job %" PRIu64 " has not ended in %ld ms", end.work.number,
                p->c->wait_ms);
        return CLI_UNSURE;
    }
    if (code < 0)
        return cli_trouble(p->c, code);
    if (code == 0) {
        put_event(p, &ev);
        return 0;
    }
    put_end(p, &end);
    return end.place == RELET_AT_DONE ? 0 : CLI_ERROR;
}

static int put_all(putter *p)
{
    int i, code = 0;

    if (p->c->argc == 1)
        code = put_input(p);
    for (i = 1; i < p->c->argc && !code; i++)
        code = put_one(p, p->c->argv[i], strlen(p->c->argv[i]));
    if (!code && p->c->wait_ms >= 0)
        return put_to_its_end(p);
    if (!code)
        code = put_send(p);
    if (!code)
        code = put_wait(p, 0);
    return code;
}

static void put_like(putter *p)
{
    const cli *c = p->c;
    relet_job *j = &p->like;

    if (c->id)
        j->id = relet_str(c->id);
    if (c->type)
        j->type = relet_str(c->type);
    j->rank = (int)c->rank;
    j->delay_ms = c->delay_ms;
    j->attempts = (uint32_t)c->attempts;
    j->timeout_ms = c->run_ms;
    j->keep_ms = c->keep_ms;
    j->deadline_ms = c->deadline_ms;
    j->backoff_ms = c->backoff_ms;
    p->most = c->id || c->batch || c->type || c->rank || c->delay_ms ||
                      c->attempts || c->run_ms || c->keep_ms ||
                      c->deadline_ms || c->backoff_ms
                  ? PUT_OFFER
                  : PUT_PLAIN;
}

/* NULL, or the rule that is broken. */
static const char *put_rule(putter *p)
{
    static const char *const modes[] = {"throttle", "extend", "replace",
                                        "debounce", NULL};
    const cli *c = p->c;
    int mode;

    if (c->argc == 0)
        return "put wants the name of a queue";
    if (c->id && (c->lines || c->argc > 2))
        return "--id is the id of one job";
    if (c->lines && c->argc > 1)
        return "--lines reads standard input, and takes no payloads";
    if ((c->id && !*c->id) || (c->batch && !*c->batch))
        return "an id has at least one byte";
    if (c->wait_ms >= 0 && c->count > 0)
        return "--most does not go with --wait";
    if (c->batch && (!c->lines || strlen(c->batch) > 230))
        return "--batch goes with --lines, and has at most 230 bytes";
    if (c->wait_ms >= 0 && (c->lines || c->argc > 2 || c->unique))
        return "--wait is for one job, without --unique";
    if (!c->unique)
        return c->window_ms ? "--window goes with --unique" : NULL;
    if (!c->id)
        return "--unique goes with --id";
    for (mode = 0; modes[mode] && strcmp(modes[mode], c->unique) != 0; mode++)
        continue;
    p->mode = (relet_unique)mode;
    return modes[mode] ? NULL
                       : "--unique is throttle, extend, replace or debounce";
}

static int put_run(cli *c)
{
    const char *rule;
    putter *p;
    int code;

    p = (putter *)cli_grow(NULL, sizeof *p);
    memset(p, 0, sizeof *p);
    p->c = c;
    rule = put_rule(p);
    if (rule) {
        cli_say("%s", rule);
        free(p);
        return CLI_USAGE;
    }
    p->queue = relet_str(c->argv[0]);
    put_like(p);
    code = cli_configure(c);
    if (!code)
        code = cli_connect(c, c->lines && c->timeout_ms < 0 ? INT32_MAX : 0);
    if (!code) {
        if (c->wait_ms < 0) /* with --wait a signal ends relet at once */
            cli_interruptible(c);
        put_bar_begin(p);
        code = put_all(p);
        put_bar_end(p);
        if (c->lines && !c->quiet && !c->json && !cli_interrupted())
            cli_say("%" PRIu64 " put, %" PRIu64 " duplicates", p->put,
                    p->twins);
        cli_flush();
    }
    put_worse(p, code);
    code = p->code;
    free(p->text);
    free(p);
    return code;
}

static const cli_option put_options[] = {
    {0, "lines", NULL, CLI_FLAG, offsetof(cli, lines), 0, 0,
     "each line of standard input is a job"},
    {0, "id", "ID", CLI_TEXT, offsetof(cli, id), 0, 0,
     "put the job only if there is no job with this id"},
    {0, "unique", "MODE", CLI_TEXT, offsetof(cli, unique), 0, 0,
     "throttle, extend, replace or debounce: see the manual"},
    {0, "window", "MS", CLI_NUMBER, offsetof(cli, window_ms), 1, INT32_MAX,
     "for throttle and extend: one job in this time"},
    {0, "batch", "NAME", CLI_TEXT, offsetof(cli, batch), 0, 0,
     "with --lines: the ids are NAME:1, NAME:2, ..."},
    {0, "type", "TYPE", CLI_TEXT, offsetof(cli, type), 0, 0,
     "the type of the job"},
    {0, "rank", "N", CLI_NUMBER, offsetof(cli, rank), -1000, 1000,
     "overtake at most the 1000 * N jobs put just before"},
    {0, "delay", "MS", CLI_NUMBER, offsetof(cli, delay_ms), 0, INT32_MAX,
     "no worker gets the job before this time"},
    {0, "attempts", "N", CLI_NUMBER, offsetof(cli, attempts), 1, INT32_MAX,
     "how often the job may be tried; default 3"},
    {0, "run", "MS", CLI_NUMBER, offsetof(cli, run_ms), 1, INT32_MAX,
     "how long an attempt may take"},
    {0, "keep", "MS", CLI_NUMBER, offsetof(cli, keep_ms), 1, INT32_MAX,
     "how long the result is kept"},
    {0, "deadline", "MS", CLI_NUMBER, offsetof(cli, deadline_ms), 1,
     INT32_MAX, "dead if it has not begun so long after the put"},
    {0, "backoff", "MS", CLI_NUMBER, offsetof(cli, backoff_ms), 1, INT32_MAX,
     "longest pauses: this, twice this, ...; default 1000"},
    {0, "most", "N", CLI_NUMBER, offsetof(cli, count), 1, INT32_MAX,
     "refuse the job if more than N jobs would wait"},
    {0, "wait", "MS", CLI_NUMBER, offsetof(cli, wait_ms), 0, INT32_MAX,
     "wait this long for its end, and print its result"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command put_command = {
    "put", "put jobs into a queue",
    "put [OPTION]... QUEUE [PAYLOAD]...",
    "Puts a job for each PAYLOAD. Without a payload, standard input is the\n"
    "payload of one job, or with --lines each line is the payload of a job.\n"
    "Prints the number of each job. If the link breaks, a put is repeated,\n"
    "and takes effect once. With --lines relet waits for a server that is\n"
    "away, unless --timeout limits the time, and shows the progress on a\n"
    "terminal instead of the numbers. With --batch the same lines may be put\n"
    "again after an interruption: a job that is in the queue, or done and\n"
    "kept (--keep), is not put twice. An interrupted relet tells how many\n"
    "jobs were put, and ends with 128 + the signal, or with 4 if it is not\n"
    "known of each job whether it was put.\n"
    "With --wait relet prints the result of one job instead of its number.\n"
    "Exit code 1: the job is dead or was cancelled; 4: it has not ended.",
    put_options, 0, put_run,
};
