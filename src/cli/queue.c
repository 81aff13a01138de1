/* SPDX-License-Identifier: MIT
 *
 * queue.c - relet cancel, retry, purge, pause, resume, limit: what operators do
 * to a queue. Also the helpers that all commands about queues share. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define QUEUE_STEP 128 /* jobs in one step, named or not                     */

/* ------------------------------------------------------------ for all files */

const char *const cli_places[] = {"gone", "waiting", "waiting", "delayed",
                                  "leased", "done", "dead", NULL};

int cli_place(const char *name)
{
    int i;

    for (i = RELET_AT_WAITING; cli_places[i]; i++)
        if (!strcmp(cli_places[i], name))
            return i;
    cli_say("there is no place '%s': waiting, delayed, leased, done, dead",
            name);
    return -1;
}

int cli_number(const char *text, uint64_t *out)
{
    char *end;
    unsigned long long n;

    if (*text < '1' || *text > '9')
        return 0;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno || *end || n > INT64_MAX)
        return 0;
    *out = n;
    return 1;
}

/* Checks that all operands but the first are job numbers. 0 or an exit code. */
static int queue_numbers(const cli *c)
{
    uint64_t ignored;
    int i;

    for (i = 1; i < c->argc; i++) {
        if (cli_number(c->argv[i], &ignored))
            continue;
        cli_say("'%s' is not the number of a job", c->argv[i]);
        return CLI_USAGE;
    }
    return 0;
}

int cli_queue(cli *c, const char *command, int more, const char *of)
{
    int code;

    if (c->argc < 1 + more) {
        cli_say("%s: which %s? See relet %s --help", command,
                c->argc ? of : "queue", command);
        return CLI_USAGE;
    }
    if (!of && c->argc > 1) {
        cli_say("%s takes one queue, not '%s', too", command, c->argv[1]);
        return CLI_USAGE;
    }
    c->queue = c->argv[0];
    code = of ? queue_numbers(c) : 0;
    if (!code)
        code = cli_configure(c);
    return code ? code : cli_connect(c, 0);
}

/* -------------------------------------------------------------------- names */

typedef struct queue_names {
    cli *c;
    char **p;
    size_t n, cap;
} queue_names;

/* Adds the NAME of a key {PREFIX:NAME}:jobs; other keys are skipped. */
static void queue_found(queue_names *l, relet_span key)
{
    static const char end[] = "}:jobs";
    const char *prefix = l->c->config.prefix;
    size_t k = strlen(prefix), tail = sizeof end - 1;

    if (key.n <= tail + 1 || key.p[0] != '{' ||
        memcmp(key.p + key.n - tail, end, tail) != 0)
        return;
    key.p++;
    key.n -= tail + 1;
    if (memchr(key.p, '}', key.n) || memchr(key.p, 0, key.n))
        return;
    if (k > 0) {
        if (key.n <= k + 1 || memcmp(key.p, prefix, k) != 0 || key.p[k] != ':')
            return;
        key.p += k + 1;
        key.n -= k + 1;
    }
    if (l->n + 1 >= l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->p = (char **)cli_grow(l->p, l->cap * sizeof *l->p);
    }
    l->p[l->n] = (char *)cli_grow(NULL, key.n + 1);
    memcpy(l->p[l->n], key.p, key.n);
    l->p[l->n++][key.n] = 0;
}

static int queue_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int queue_scan_page(queue_names *l, char *cursor, size_t size)
{
    relet_request q = cli_request(l->c);
    relet_value part, key;
    relet_event ev;
    int code = relet_command_text(l->c->r, &q, "SCAN", cursor, "MATCH",
                                  "{*}:jobs", "COUNT", "1000", "TYPE", "hash",
                                  (char *)NULL);

    code = cli_answer(l->c, code, &ev);
    if (code)
        return code;
    part = relet_value_first(ev.value);
    snprintf(cursor, size, "%.*s", cli_text(relet_value_text(part)));
    part = relet_value_next(part);
    for (key = relet_value_first(part); relet_value_text(key).p;
         key = relet_value_next(key))
        queue_found(l, relet_value_text(key));
    return 0;
}

/* Repeated names are dropped: SCAN may return a key more than once. */
int cli_queues(cli *c, char ***names)
{
    char cursor[32] = "0";
    queue_names l;
    size_t i, n = 0;
    int code;

    memset(&l, 0, sizeof l);
    l.c = c;
    l.p = (char **)cli_grow(NULL, sizeof *l.p);
    do {
        code = queue_scan_page(&l, cursor, sizeof cursor);
    } while (!code && strcmp(cursor, "0") != 0);
    if (l.n > 1)
        qsort(l.p, l.n, sizeof *l.p, queue_compare);
    for (i = 0; i < l.n; i++) {
        if (n > 0 && !strcmp(l.p[n - 1], l.p[i]))
            free(l.p[i]);
        else
            l.p[n++] = l.p[i];
    }
    l.p[n] = NULL;
    *names = l.p;
    return code;
}

/* ------------------------------------------------------------------- cancel */

static int cancel_one(cli *c, uint64_t number, const char *name)
{
    static const char *const said[] = {"there is none", "cancelled",
                                       "it runs, and is told",
                                       "it has ended"};
    relet_request q = cli_request(c);
    relet_cancelled what;
    relet_event ev;
    int code = relet_queue_job_cancel(c->r, relet_str(c->argv[0]), number,
                                      relet_str(c->id), &q);

    code = cli_answer(c, code, &ev);
    if (code)
        return code;
    if (!relet_queue_job_cancel_read(ev.value, &what, &number))
        return CLI_ERROR;
    if (c->json)
        printf("{\"job\":%" PRIu64 ",\"cancelled\":%s,\"runs\":%s}\n", number,
               what == RELET_CANCEL_GONE || what == RELET_CANCEL_TOLD
                   ? "true" : "false",
               what == RELET_CANCEL_TOLD ? "true" : "false");
    else {
        show_name(stdout, name);
        printf("\t%s\n", said[what]);
    }
    return what == RELET_CANCEL_GONE || what == RELET_CANCEL_TOLD ? 0
                                                                  : CLI_ERROR;
}

static int cancel_run(cli *c)
{
    uint64_t number = 0;
    int i, code = cli_queue(c, "cancel", !c->id, "job"), worst;

    if (code)
        return code;
    worst = c->id ? cancel_one(c, 0, c->id) : 0;
    for (i = 1; i < c->argc; i++) {
        (void)cli_number(c->argv[i], &number);
        code = cancel_one(c, number, c->argv[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static const cli_option cancel_options[] = {
    {0, "id", "ID", CLI_TEXT, offsetof(cli, id), 0, 0, "the job with this id"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command cancel_command = {
    "cancel", "cancel jobs of a queue",
    "cancel [OPTION]... QUEUE NUMBER...",
    "Removes jobs that do not run. The worker of a running job is told within\n"
    "a third of its lease, and the job is not tried again. The exit code is 1\n"
    "if there is no such job, or if it has ended.",
    cancel_options, 0, cancel_run,
};

/* -------------------------------------------------------------------- retry */

static void retry_add(relet_replayed *sum, relet_value v)
{
    relet_replayed step;

    if (!relet_queue_replay_read(v, &step))
        memset(&step, 0, sizeof step);
    sum->replayed += step.replayed;
    sum->refused += step.refused;
    sum->not_dead += step.not_dead;
    sum->more = step.more;
}

/* How many jobs were looked at. */
static uint64_t retry_seen(const relet_replayed *sum)
{
    return sum->replayed + sum->refused + sum->not_dead;
}

/* Retries the jobs that operands from i on name: 128, or fewer long ones. */
static int retry_named(cli *c, int i, relet_replayed *sum)
{
    uint64_t numbers[QUEUE_STEP];
    relet_request q = cli_request(c);
    relet_event ev;
    size_t n = 0;
    int code;

    while (i < c->argc && n < QUEUE_STEP)
        (void)cli_number(c->argv[i++], &numbers[n++]);
    code = relet_queue_replay(c->r, relet_str(c->argv[0]), numbers, n, 0, 0,
                              (uint32_t)c->replays, &q);
    code = cli_answer(c, code, &ev);
    if (!code)
        retry_add(sum, ev.value);
    return code;
}

/* Retries dead jobs, the oldest first. A job that is refused stays, and the
 * next step begins behind it. */
static int retry_all(cli *c, relet_replayed *sum)
{
    relet_request q = cli_request(c);
    int64_t left = c->count ? c->count : INT64_MAX;
    relet_event ev;
    uint32_t most;
    int code;

    do {
        most = left < QUEUE_STEP ? (uint32_t)left : QUEUE_STEP;
        code = relet_queue_replay(c->r, relet_str(c->argv[0]), NULL, 0,
                                  sum->refused + sum->not_dead, most,
                                  (uint32_t)c->replays, &q);
        code = cli_answer(c, code, &ev);
        if (code)
            return code;
        retry_add(sum, ev.value);
        left = c->count ? c->count - (int64_t)sum->replayed : left;
    } while (sum->more && left > 0);
    return 0;
}

static int retry_run(cli *c)
{
    relet_replayed sum;
    uint64_t seen;
    int code;

    memset(&sum, 0, sizeof sum);
    if (c->all && c->argc > 1) {
        cli_say("retry takes numbers or --all, not both");
        return CLI_USAGE;
    }
    if (!c->all && c->count) {
        cli_say("--count goes with --all");
        return CLI_USAGE;
    }
    code = cli_queue(c, "retry", !c->all, "job");
    while (!code && !c->all &&
           (seen = retry_seen(&sum)) < (uint64_t)c->argc - 1) {
        code = retry_named(c, 1 + (int)seen, &sum);
        if (!code && retry_seen(&sum) == seen)
            break; /* the reply held no counts */
    }
    if (!code && c->all)
        code = retry_all(c, &sum);
    if (code)
        return code;
    printf(c->json ? "{\"retried\":%" PRIu64 ",\"refused\":%" PRIu64
                     ",\"not_dead\":%" PRIu64 "}\n"
                   : "%" PRIu64 " retried, %" PRIu64 " refused, %" PRIu64
                     " not dead\n",
           sum.replayed, sum.refused, sum.not_dead);
    return sum.refused + sum.not_dead > 0 ? CLI_ERROR : 0;
}

static const cli_option retry_options[] = {
    {'a', "all", NULL, CLI_FLAG, offsetof(cli, all), 0, 0,
     "all dead jobs, the oldest first"},
    {'n', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, INT32_MAX,
     "with --all: at most N jobs"},
    {0, "replays", "N", CLI_NUMBER, offsetof(cli, replays), 1, INT32_MAX,
     "refuse a job that was retried N times; default 10"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command retry_command = {
    "retry", "make dead jobs wait again",
    "retry [OPTION]... QUEUE NUMBER...",
    "The jobs keep their numbers and ids, and have all their attempts again.\n"
    "The exit code is 1 if a job is not dead, was cancelled, or was retried\n"
    "too often.",
    retry_options, 0, retry_run,
};

/* -------------------------------------------------------------------- purge */

static int purge_run(cli *c)
{
    relet_request q = cli_request(c);
    int place = c->all ? RELET_AT_NOWHERE : -1, code;
    int64_t left = c->count ? c->count : INT64_MAX, gone = 0;
    relet_removed step = {0, 1};
    relet_event ev;

    if (c->place && !c->all)
        place = cli_place(c->place);
    if (!c->place == !c->all) {
        cli_say("purge wants --place or --all");
        return CLI_USAGE;
    }
    if (place < 0)
        return CLI_USAGE;
    code = cli_queue(c, "purge", 0, NULL);
    while (!code && step.more && left > 0) {
        code = relet_queue_purge(c->r, relet_str(c->argv[0]),
                                 (relet_place)place,
                                 left < QUEUE_STEP ? (uint32_t)left
                                                   : QUEUE_STEP,
                                 c->force, &q);
        code = cli_answer(c, code, &ev);
        if (code || !relet_queue_purge_read(ev.value, &step))
            break;
        gone += (int64_t)step.removed;
        left -= (int64_t)step.removed;
    }
    if (!code || gone > 0)
        printf(c->json ? "{\"purged\":%" PRId64 "}\n" : "%" PRId64 " purged\n",
               gone);
    return code;
}

static const cli_option purge_options[] = {
    {0, "place", "PLACE", CLI_TEXT, offsetof(cli, place), 0, 0,
     "waiting, delayed, leased, done or dead"},
    {'a', "all", NULL, CLI_FLAG, offsetof(cli, all), 0, 0, "all places"},
    {'f', "force", NULL, CLI_FLAG, offsetof(cli, force), 0, 0,
     "also leased jobs: their workers lose them"},
    {'n', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, INT32_MAX,
     "at most N jobs"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command purge_command = {
    "purge", "remove jobs of a queue, in any state",
    "purge [OPTION]... QUEUE",
    "Removes the jobs of a place, or of all places, in steps of 128; leased\n"
    "jobs only with --force. It may be interrupted and run again.",
    purge_options, 0, purge_run,
};

/* ----------------------------------------------------- pause, resume, limit */

static int queue_gates(cli *c, const char *command, int otherwise,
                       int (*ask)(relet *, relet_span, int,
                                  const relet_request *))
{
    relet_request q = cli_request(c);
    int gates = (c->in ? RELET_IN : 0) | (c->out ? RELET_OUT : 0);
    relet_event ev;
    int code = cli_queue(c, command, 0, NULL);

    if (code)
        return code;
    code = ask(c->r, relet_str(c->argv[0]), gates ? gates : otherwise, &q);
    return cli_answer(c, code, &ev);
}

static int pause_run(cli *c)
{
    return queue_gates(c, "pause", RELET_OUT, relet_queue_pause);
}

static int resume_run(cli *c)
{
    return queue_gates(c, "resume", RELET_IN | RELET_OUT, relet_queue_resume);
}

static int limit_run(cli *c)
{
    relet_request q = cli_request(c);
    uint64_t limit = 0;
    relet_event ev;
    int code;

    if (c->argc != 2) {
        cli_say("limit wants a queue and a number, or none");
        return CLI_USAGE;
    }
    if (strcmp(c->argv[1], "none") != 0 &&
        (!cli_number(c->argv[1], &limit) || limit > INT32_MAX)) {
        cli_say("'%s' is no limit: a number from 1 to %ld, or none",
                c->argv[1], (long)INT32_MAX);
        return CLI_USAGE;
    }
    c->argc = 1;
    code = cli_queue(c, "limit", 0, NULL);
    if (code)
        return code;
    code = relet_queue_limit(c->r, relet_str(c->argv[0]), (uint32_t)limit, &q);
    return cli_answer(c, code, &ev);
}

#define QUEUE_GATES                                                           \
    {0, "in", NULL, CLI_FLAG, offsetof(cli, in), 0, 0, "putting jobs"},       \
    {0, "out", NULL, CLI_FLAG, offsetof(cli, out), 0, 0, "claiming jobs"}

static const cli_option gate_options[] = {
    QUEUE_GATES,
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_option limit_options[] = {
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command pause_command = {
    "pause", "let no job of a queue be claimed, or none be put",
    "pause [OPTION]... QUEUE",
    "Without an option no job can be claimed any more. With --in no job can\n"
    "be put: a put is refused with CLOSED. Jobs that run go on.",
    gate_options, 0, pause_run,
};

const cli_command resume_command = {
    "resume", "end a pause",
    "resume [OPTION]... QUEUE",
    "Without an option jobs can be put and claimed again. Idle workers notice\n"
    "it within a second.",
    gate_options, 0, resume_run,
};

const cli_command limit_command = {
    "limit", "limit how many jobs of a queue run at a time",
    "limit [OPTION]... QUEUE N|none",
    "At most N jobs are leased at a time, however many workers there are.\n"
    "Jobs that run go on.",
    limit_options, 0, limit_run,
};
