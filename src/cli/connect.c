/* SPDX-License-Identifier: MIT
 *
 * connect.c - makes a connected client from the parsed command line; also the
 * clock and the signals that the commands share. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "relet_local.h"

/* ---------------------------------------------------------- configuration */

/* Where a password may be in a URL that could not be parsed: between the first
 * colon behind "://" and the last '@'. 0 when there is none. */
static size_t connect_secret(const char *url, size_t *end)
{
    const char *from = strstr(url, "://"), *at, *colon;

    from = from ? from + 3 : url;
    at = strrchr(from, '@');
    colon = strchr(from, ':');
    if (!at || !colon || colon > at)
        return 0;
    *end = (size_t)(at - url);
    return (size_t)(colon - url) + 1;
}

/* Prints the URL with its password hidden and a mark under the byte at offset.
 * Each byte takes one column, so that the mark stands right. */
static void connect_point(const char *url, size_t offset)
{
    static const char hidden[] = "***";
    size_t end = 0, secret = connect_secret(url, &end), i;
    long mark = -1, column = 0;

    fputs("  ", stderr);
    for (i = 0; url[i]; i++) {
        if (i == offset)
            mark = column;
        if (secret && i == secret && i < end) {
            fputs(hidden, stderr);
            mark = offset >= secret && offset < end ? column : mark;
            column += (long)sizeof hidden - 1;
            i = end - 1;
            continue;
        }
        putc(url[i] > 0x20 && url[i] < 0x7f ? url[i] : '?', stderr);
        column++;
    }
    fprintf(stderr, "\n  %*s^\n", (int)(mark < 0 ? column : mark), "");
}

static int connect_fault(const cli *c, const relet_fault *fault)
{
    cli_say("%s%s", c->url && !strncmp(fault->text, "url:", 4) ? "--" : "",
            fault->text);
    if (c->url && !c->json && fault->field && !strcmp(fault->field, "url") &&
        isatty(STDERR_FILENO))
        connect_point(c->url, fault->offset);
    return CLI_USAGE;
}

int cli_configure(cli *c)
{
    relet_fault fault;
    int failed;

    relet_config_init(&c->config);
    c->config.output_max = (size_t)640 << 20; /* for the largest argument */
    failed = c->url ? relet_config_url(&c->config, c->url, &fault)
                    : relet_config_env(&c->config, "RELET_", &fault);
    if (failed)
        return connect_fault(c, &fault);
    if (c->timeout_ms > 0)
        c->config.timeout_ms = c->config.connect_timeout_ms = c->timeout_ms;
    if (c->config.scheme == RELET_MEM && c->config.host[0] &&
        strcmp(c->command, "demo") != 0) {
        cli_say("mem: with a name is shared within one program, and relet has "
                "nothing to share it with: use mem: or file:PATH");
        return CLI_USAGE;
    }
    return 0;
}

relet_request cli_request(const cli *c)
{
    relet_request q;

    memset(&q, 0, sizeof q);
    if (c->timeout_ms == 0)
        q.timeout_ms = RELET_NEVER;
    return q;
}

const char *cli_where(const cli *c, char *buf, size_t size)
{
    if (c->config.scheme == RELET_UNIX)
        snprintf(buf, size, "%s", c->config.host);
    else if (c->config.scheme == RELET_MEM || c->config.scheme == RELET_FILE)
        snprintf(buf, size, "%s%s",
                 c->config.scheme == RELET_MEM ? "mem:" : "file:",
                 c->config.host);
    else if (strchr(c->config.host, ':'))
        snprintf(buf, size, "[%s]:%d", c->config.host, c->config.port);
    else
        snprintf(buf, size, "%s:%d", c->config.host, c->config.port);
    return buf;
}

/* ------------------------------------------------------------- connecting */

static void connect_keep(char *out, size_t size, relet_span text)
{
    snprintf(out, size, "%.*s", cli_text(text));
}

int cli_wait_up(cli *c, long wait_ms)
{
    double until = cli_now_us() + 1000.0 * (double)wait_ms;
    char last[512] = "no answer";
    relet_event ev;
    int told = 0;

    for (;;) {
        double left_ms = (until - cli_now_us()) / 1000.0;
        int n;

        if (wait_ms > 0 && left_ms <= 0)
            break;
        n = relet_wait(c->r, &ev, wait_ms > 0 ? (int)left_ms + 1 : -1);
        if (n < 0)
            return cli_trouble(c, n);
        if (n == 1 && ev.kind == RELET_EV_UP) {
            connect_keep(c->server, sizeof c->server, ev.text);
            return 0;
        }
        if (n == 1 && ev.kind == RELET_EV_DOWN) {
            connect_keep(last, sizeof last, ev.text);
            if (wait_ms <= 0 || ev.why == RELET_WHY_AUTH ||
                ev.retry_in_ms == RELET_NEVER)
                break;
            if (!told++ && !c->quiet)
                cli_say("%s; it is waited for", last);
        }
    }
    cli_say_rule(c, last);
    return CLI_NOT_SENT;
}

/* The options that set the fields which the library's rules name. A field such
 * as "lease.ttl_ms" is found by its last word, too, as rules compare one field
 * with another. */
static const struct {
    const char *command; /* NULL: any                                       */
    const char *field, *option;
} connect_fields[] = {
    {NULL, "lease.label", "--owner"},      {NULL, "worker.label", "--owner"},
    {NULL, "lease.ttl_ms", "--ttl"},       {NULL, "ttl_ms", "--ttl"},
    {NULL, "lease.renew_ms", "--renew"},   {NULL, "lease.retry_ms", "--retry"},
    {NULL, "lease.wait_ms", "--wait"},     {NULL, "lease.grace_ms", "--grace"},
    {NULL, "worker.lease_ms", "--lease"},  {NULL, "lease_ms", "--lease"},
    {NULL, "worker.type", "--type"},
    {NULL, "worker.room", "--concurrency"},
    {NULL, "worker.weight", "the weight"},
    {NULL, "failure.delay_ms", "--snooze"},
    {NULL, "job.id", "--id"},              {NULL, "job.type", "--type"},
    {NULL, "job.rank", "--rank"},          {NULL, "job.delay_ms", "--delay"},
    {NULL, "job.timeout_ms", "--run"},     {NULL, "job.keep_ms", "--keep"},
    {NULL, "job.deadline_ms", "--deadline"},
    {NULL, "job.backoff_ms", "--backoff"}, {NULL, "window_ms", "--window"},
    {"reap", "hold_off_ms", "--lease"},    {"reap", "dead_ms", "--age"},
    {NULL, "connect_timeout_ms", "the time for that, --timeout"},
    {NULL, "output_max", "what relet sends at a time, 640 MiB"},
};

static int connect_is_word(char b)
{
    return (b >= 'a' && b <= 'z') || b == '_' || b == '.';
}

/* The option that sets the field which the first n bytes name, or NULL. */
static const char *connect_option(const cli *c, const char *field, size_t n)
{
    size_t i;

    for (i = 0; i < sizeof connect_fields / sizeof connect_fields[0]; i++) {
        const char *command = connect_fields[i].command;

        if (strlen(connect_fields[i].field) == n &&
            !memcmp(connect_fields[i].field, field, n) &&
            (!command || (c->command && !strcmp(command, c->command))))
            return connect_fields[i].option;
    }
    return NULL;
}

void cli_say_rule(const cli *c, const char *rule)
{
    char text[300];
    size_t at = 0, n;

    text[0] = 0;
    for (; *rule && at < sizeof text; rule += n) {
        const char *option = NULL;

        for (n = 0; connect_is_word(rule[n]); n++)
            continue;
        if (n > 0)
            option = connect_option(c, rule, n);
        else
            n = 1;
        at += (size_t)snprintf(text + at, sizeof text - at, "%.*s",
                               option ? (int)strlen(option) : (int)n,
                               option ? option : rule);
    }
    cli_say("%s", text);
}

int cli_unstarted(const cli *c, int code)
{
    if (code == RELET_E_CONFIG)
        cli_say_rule(c, relet_refusal(c->r));
    else
        cli_say("%s", relet_code_text(code));
    return CLI_USAGE;
}

int cli_trouble(const cli *c, int code)
{
    const char *text = relet_code_text(code);

    if (code == RELET_E_REFUSED)
        cli_say_rule(c, relet_refusal(c->r));
    else if (code == RELET_E_SYSTEM)
        cli_say("%s: %s", text, strerror(errno));
    else
        cli_say("%s", text);
    return code == RELET_E_REFUSED ? CLI_USAGE : CLI_NOT_SENT;
}

int cli_refused(const cli *c, const relet_event *ev)
{
    cli_say("%s%s%.*s", c->queue ? c->queue : "", c->queue ? ": " : "",
            cli_text(ev->text));
    return ev->kind == RELET_EV_ERROR      ? CLI_ERROR
           : ev->kind == RELET_EV_NOT_SENT ? CLI_NOT_SENT
                                        : CLI_UNSURE;
}

int cli_answer(cli *c, int code, relet_event *ev)
{
    while (code == 0) {
        int got = relet_wait(c->r, ev, -1);

        if (got < 0)
            code = got;
        else if (got == 1 && ev->kind == RELET_EV_REPLY)
            return 0;
        else if (got == 1 && (ev->kind == RELET_EV_ERROR ||
                              ev->kind == RELET_EV_NOT_SENT ||
                              ev->kind == RELET_EV_UNSURE))
            return cli_refused(c, ev);
        else if (cli_interrupted())
            return CLI_UNSURE;
    }
    return cli_trouble(c, code);
}

int cli_label(const cli *c, char label[CLI_LABEL])
{
    char host[41];

    if (c->owner && strlen(c->owner) >= CLI_LABEL) {
        cli_say("--owner has at most 63 bytes");
        return CLI_USAGE;
    }
    if (c->owner) {
        memcpy(label, c->owner, strlen(c->owner) + 1);
        return 0;
    }
    if (gethostname(host, sizeof host))
        host[0] = 0;
    host[sizeof host - 1] = 0;
    snprintf(label, CLI_LABEL, "%s.%ld", host, (long)getpid());
    return 0;
}

/* Reports that the torn end of a file: store, left by a crash, was cut off. */
static void connect_tell_cut(const cli *c)
{
    relet_store_info info;

    if (relet_store_info_get(c->r, &info) && info.cut_bytes > 0)
        cli_say("file:%s was torn at byte %" PRIu64 "; %" PRIu64
                " bytes were cut off", c->config.host, info.cut_at,
                info.cut_bytes);
}

int cli_open(cli *c)
{
    relet_fault fault;

    c->r = relet_open(NULL, &c->config, NULL, &fault);
    if (!c->r)
        return connect_fault(c, &fault);
    relet_config_wipe(&c->config);
    return 0;
}

int cli_connect(cli *c, long wait_ms)
{
    int code = cli_open(c);

    if (code == 0)
        code = cli_wait_up(c, wait_ms);
    if (code == 0)
        connect_tell_cut(c);
    return code;
}

/* ----------------------------------------------------------------- signals */

static relet *volatile connect_to_wake;
static volatile sig_atomic_t connect_interrupted;

static void connect_on_signal(int signo)
{
    int saved = errno;

    connect_interrupted = signo;
    if (connect_to_wake)
        relet_wake(connect_to_wake);
    errno = saved;
}

void cli_interruptible(cli *c)
{
    struct sigaction action, before;

    connect_to_wake = c->r;
    memset(&action, 0, sizeof action);
    action.sa_handler = connect_on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
}

int cli_interrupted(void)
{
    return connect_interrupted;
}

void cli_close(cli *c)
{
    connect_to_wake = NULL; /* a signal may still come */
    relet_close(c->r);
    relet_config_wipe(&c->config);
}

/* ---------------------------------------------------------- time and ranks */

double cli_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int connect_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void cli_sort(double *samples, size_t n)
{
    qsort(samples, n, sizeof *samples, connect_compare);
}

double cli_rank(const double *sorted, size_t n, double share)
{
    double rank = share * (double)n;
    size_t i = (size_t)rank;

    if ((double)i < rank)
        i++; /* the nearest rank at or above */
    if (n == 0)
        return 0;
    return sorted[i == 0 ? 0 : i > n ? n - 1 : i - 1];
}
