/* SPDX-License-Identifier: MIT
 *
 * call.c - relet call: commands from the command line or from standard input,
 * pipelined, their replies in order.
 *
 * One link, one try. When the link breaks, or a command ends without an answer,
 * nothing more is sent: a later command may rely on one that may not have run.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli.h"

#define CALL_READ 65536

/* Commands under way at a time: enough to keep a link full, few enough that the
 * server does not pile up answers that we have yet to take. */
#define CALL_WINDOW 64

typedef struct call {
    cli *c;
    show_form form;
    int code;  /* the worst exit code so far                                */
    int ended; /* no more commands will be submitted                        */
    long timeout_ms; /* for each answer; 0: none                            */
    double moved_us;   /* when a byte last came, or was first waited for    */
    uint64_t bytes_in; /* bytes received until moved_us                     */

    cli_words words; /* the command to submit next                          */
    int ready;       /* words hold a command                                */
    long left;       /* times to send it, when it is from the command line  */

    char *in; /* standard input: bytes at..n are not taken yet              */
    size_t at, n, cap;
    size_t searched; /* no newline from at to here                          */
    int eof;
    unsigned long line;
} call;

static void call_note(call *k, int code)
{
    if (code > k->code)
        k->code = code;
}

/* Submits no more commands; those under way are still answered. */
static void call_end(call *k, int code)
{
    call_note(k, code);
    k->ended = 1;
    k->ready = 0;
}

/* Submits no more commands; each one under way ends now, with its event. */
static void call_stop(call *k, int code)
{
    call_end(k, code);
    relet_stop(k->c->r);
}

/* ------------------------------------------------------------------- input */

/* Reads standard input once. */
static void call_read(call *k)
{
    ssize_t n;

    if (k->at > 0) {
        memmove(k->in, k->in + k->at, k->n - k->at);
        k->n -= k->at;
        k->searched -= k->at;
        k->at = 0;
    }
    if (k->cap - k->n < CALL_READ) {
        k->cap = k->cap * 2 + CALL_READ;
        k->in = (char *)cli_grow(k->in, k->cap);
    }
    n = read(STDIN_FILENO, k->in + k->n, k->cap - k->n);
    if (n > 0)
        k->n += (size_t)n;
    if (n == 0)
        k->eof = 1;
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        cli_say("standard input: %s", strerror(errno));
        call_end(k, CLI_USAGE);
    }
}

/* 1 and the next line, without its newline, which the last line may lack; else
 * 0. */
static int call_line(call *k, char **line, size_t *n)
{
    char *from, *end;

    if (k->at == k->n)
        return 0;
    from = k->in + k->at;
    end = (char *)memchr(k->in + k->searched, '\n', k->n - k->searched);
    k->searched = k->n;
    if (!end && !k->eof)
        return 0;
    *line = from;
    *n = end ? (size_t)(end - from) : k->n - k->at;
    k->at += *n + (end != NULL);
    k->searched = k->at;
    k->line++;
    return 1;
}

/* Takes lines until one holds a command, which is then in words. */
static void call_from_input(call *k)
{
    const char *why;
    size_t n, column;
    char *line;

    while (call_line(k, &line, &n)) {
        column = split_words(&k->words, line, n, &why);
        if (column) {
            cli_say("line %lu, column %lu: %s; nothing was sent from here on",
                    k->line, (unsigned long)column, why);
            call_end(k, CLI_USAGE);
            return;
        }
        if (k->words.n > 0 && k->words.p[0].n > 0 &&
            k->words.p[0].p[0] == '#')
            continue;
        if (k->words.n > 0) {
            k->ready = 1;
            return;
        }
    }
    k->ended = k->eof;
}

static void call_next(call *k)
{
    if (k->ready || k->ended)
        return;
    if (!k->c->argc)
        call_from_input(k);
    else if (k->left > 0)
        k->ready = 1;
    else
        k->ended = 1;
}

/* -x: standard input to its end becomes the last argument. */
static void call_append_input(call *k)
{
    while (!k->eof && !k->ended)
        call_read(k);
    k->words.p[k->words.n].p = k->in ? k->in : "";
    k->words.p[k->words.n++].n = k->n;
}

static void call_take_operands(call *k)
{
    int i;

    k->words.cap = (size_t)k->c->argc + 1;
    k->words.p = (relet_span *)cli_grow(NULL,
                                        k->words.cap * sizeof(relet_span));
    for (i = 0; i < k->c->argc; i++)
        k->words.p[i] = relet_str(k->c->argv[i]);
    k->words.n = (size_t)k->c->argc;
    k->left = k->c->repeat;
    if (k->c->stdin_last)
        call_append_input(k);
}

/* --------------------------------------------------------------- submitting */

/* Advice for people about commands that may not go over a shared link. The text
 * of the library has advice for programs. */
static const struct {
    const char *word, *second; /* second NULL: any                           */
    const char *advice;
} call_advice[] = {
    {"SUBSCRIBE", NULL, "is answered by messages: use relet listen CHANNEL"},
    {"PSUBSCRIBE", NULL, "is answered by messages: use relet listen "
                         "--pattern PATTERN"},
    {"SSUBSCRIBE", NULL, "is answered by messages: use relet listen "
                         "--sharded CHANNEL"},
    {"UNSUBSCRIBE", NULL, "has nothing to end: relet listen ends its own "
                          "subscriptions"},
    {"PUNSUBSCRIBE", NULL, "has nothing to end: relet listen ends its own "
                           "subscriptions"},
    {"SUNSUBSCRIBE", NULL, "has nothing to end: relet listen ends its own "
                           "subscriptions"},
    {"MONITOR", NULL, "turns the link into a stream, and relet has no command "
                      "for that: use redis-cli"},
    {"SELECT", NULL, "would be lost with the link: name the database in the "
                     "URL, as in redis://HOST/1"},
    {"AUTH", NULL, "holds for one link: put USER:PASSWORD into the URL, as in "
                   "redis://USER:PASSWORD@HOST"},
    {"MULTI", NULL, "must not be torn apart, and relet call sends commands "
                    "one by one: use EVAL"},
    {"EXEC", NULL, "ends a MULTI, and there is none: use EVAL"},
    {"DISCARD", NULL, "ends a MULTI, and there is none"},
    {"QUIT", NULL, "closes the link; the end of the input does that"},
    {"CLIENT", "TRACKING", "would be lost with the link: set it in the URL, "
                           "as in redis://HOST?tracking=read"},
    {"CLIENT", "CACHING", "is for clients that keep replies, and relet call "
                          "keeps none"},
};

static int call_is_word(relet_span s, const char *word)
{
    return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

/* 1 when there was advice, and it was printed. */
static int call_advise(const call *k)
{
    const cli_words *w = &k->words;
    size_t i;

    for (i = 0; i < sizeof call_advice / sizeof call_advice[0]; i++) {
        const char *second = call_advice[i].second;

        if (w->n == 0 || !call_is_word(w->p[0], call_advice[i].word))
            continue;
        if (second && (w->n < 2 || !call_is_word(w->p[1], second)))
            continue;
        cli_say("%s%s%s %s", call_advice[i].word, second ? " " : "",
                second ? second : "", call_advice[i].advice);
        return 1;
    }
    return 0;
}

static void call_refused(call *k, int refused)
{
    if (k->line)
        cli_say("line %lu: nothing was sent from here on:", k->line);
    if (refused == RELET_E_REFUSED && call_advise(k))
        call_end(k, CLI_USAGE);
    else
        call_end(k, cli_trouble(k->c, refused));
}

static void call_submit(call *k)
{
    relet_request q;

    memset(&q, 0, sizeof q);
    q.timeout_ms = RELET_NEVER; /* see call_patience */
    for (call_next(k); k->ready; call_next(k)) {
        int refused;

        if (relet_outstanding(k->c->r) >= CALL_WINDOW)
            return;
        if (relet_outstanding(k->c->r) == 0)
            k->moved_us = cli_now_us();
        q.tag = k->line;
        refused = relet_command(k->c->r, k->words.p, k->words.n, &q);
        if (refused == RELET_E_LIMIT && relet_outstanding(k->c->r) > 0)
            return; /* room comes with the next outcome */
        if (refused) {
            call_refused(k, refused);
            return;
        }
        k->ready = 0;
        k->left--;
    }
}

/* ------------------------------------------------------------------- output */

/* Prints an outcome without a reply: on stderr and, with --json, also in place
 * of the reply, so that documents still match commands. */
static void call_trouble(call *k, const relet_event *ev, const char *word)
{
    char place[40] = "";

    if (k->form == SHOW_JSON) {
        printf("{\"%s\":", word);
        show_json(stdout, ev->text);
        puts("}");
    }
    if (ev->tag)
        snprintf(place, sizeof place, "line %lu: ", (unsigned long)ev->tag);
    cli_say("%s%s%.*s", place,
            ev->kind == RELET_EV_ERROR      ? ""
            : ev->kind == RELET_EV_NOT_SENT ? "not sent: "
                                         : "unsure, it may have run: ",
            cli_text(ev->text));
}

/* On a terminal and in JSON an error is a reply like others; a pipe's reader
 * must not take it for data. */
static void call_error(call *k, const relet_event *ev)
{
    call_note(k, CLI_ERROR);
    if (k->form == SHOW_PRETTY && relet_value_type(ev->value) != RELET_T_NULL)
        show_value(stdout, k->form, ev->value);
    else
        call_trouble(k, ev, "error");
}

static int call_is_done(const call *k)
{
    return k->ended && !k->ready && relet_outstanding(k->c->r) == 0;
}

static void call_event(call *k, const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY) {
        show_value(stdout, k->form, ev->value);
        if (ferror(stdout))
            cli_flush();
    } else if (ev->kind == RELET_EV_ERROR) {
        call_error(k, ev);
    } else if (ev->kind == RELET_EV_NOT_SENT) {
        call_trouble(k, ev, "not_sent");
        call_stop(k, CLI_NOT_SENT);
    } else if (ev->kind == RELET_EV_UNSURE) {
        call_trouble(k, ev, "unsure");
        call_stop(k, CLI_UNSURE);
    } else if (ev->kind == RELET_EV_DOWN && !call_is_done(k)) {
        if (k->code < CLI_NOT_SENT)
            cli_say("%.*s", cli_text(ev->text));
        call_stop(k, CLI_NOT_SENT);
    } else if (ev->kind == RELET_EV_PUSHED && !k->c->quiet) {
        cli_say("the server pushed a value that was not asked for");
    }
}

/* --------------------------------------------------------------------- loop */

/* Milliseconds until the next answer is overdue; -1: never. The time counts
 * from the last byte that came: a command deep in a pipeline, or a very large
 * answer, takes its time without any fault of the server's. */
static int call_patience(call *k)
{
    relet_stats stats;
    double left;

    if (k->timeout_ms == 0 || relet_outstanding(k->c->r) == 0)
        return -1;
    relet_stats_get(k->c->r, &stats);
    if (stats.bytes_in != k->bytes_in)
        k->moved_us = cli_now_us();
    k->bytes_in = stats.bytes_in;
    left = (k->moved_us - cli_now_us()) / 1000.0 + (double)k->timeout_ms;
    return left < 0 ? 0 : left > 1e9 ? 1000000000 : (int)left + 1;
}

/* Wait for the link or, while there is room for a command, for input. */
static void call_poll(call *k)
{
    struct pollfd fds[RELET_WATCH_MAX + 1];
    relet_watch watches[RELET_WATCH_MAX];
    int wants_input = !k->c->argc && !k->ready && !k->ended;
    int n = relet_watches(k->c->r, watches, RELET_WATCH_MAX), i;
    int timeout = relet_poll_timeout(k->c->r), patience = call_patience(k);

    for (i = 0; i < n; i++) {
        fds[i].fd = watches[i].fd;
        fds[i].events = watches[i].events;
    }
    fds[n].fd = wants_input ? STDIN_FILENO : -1;
    fds[n].events = POLLIN;
    fds[n].revents = 0;
    if (patience == 0) {
        cli_say("no answer for %ld ms (see --timeout)", k->timeout_ms);
        call_stop(k, CLI_UNSURE);
        return;
    }
    if (timeout < 0 || (patience > 0 && patience < timeout))
        timeout = patience;
    if (poll(fds, (nfds_t)n + 1, timeout) > 0 && fds[n].revents)
        call_read(k);
}

static int call_loop(call *k)
{
    relet_event ev;
    int got;

    for (;;) {
        call_submit(k);
        while ((got = relet_wait(k->c->r, &ev, 0)) == 1) {
            call_event(k, &ev);
            call_submit(k);
        }
        cli_flush();
        if (got < 0)
            return cli_trouble(k->c, got);
        if (call_is_done(k))
            return k->code;
        call_poll(k);
    }
}

static int call_run(cli *c)
{
    call k;
    int code;

    memset(&k, 0, sizeof k);
    k.c = c;
    if (c->repeat && !c->argc) {
        cli_say("--repeat wants a command behind it");
        return CLI_USAGE;
    }
    if (c->stdin_last && !c->argc) {
        cli_say("--stdin wants a command behind it");
        return CLI_USAGE;
    }
    if (!c->repeat)
        c->repeat = 1;
    k.form = show_form_of(c);
    code = cli_configure(c);
    k.timeout_ms = c->timeout_ms == 0 ? 0 : (long)c->config.timeout_ms;
    if (!code)
        code = cli_connect(c, 0);
    if (!code && c->argc)
        call_take_operands(&k);
    if (!code && !c->argc && !c->quiet && isatty(STDIN_FILENO))
        cli_say("%s; a command a line, Ctrl-D ends", c->server);
    if (!code)
        code = call_loop(&k);
    free(k.words.p);
    free(k.in);
    return code;
}

static const cli_option call_options[] = {
    {'x', "stdin", NULL, CLI_FLAG, offsetof(cli, stdin_last), 0, 0,
     "standard input, any bytes, is the last argument"},
    {0, "repeat", "N", CLI_NUMBER, offsetof(cli, repeat), 1, 1000000000,
     "send the command N times"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command call_command = {
    "call", "send a command, or a file of them, and print the replies",
    "call [OPTION]... [COMMAND [ARGUMENT]...]",
    "Sends COMMAND and prints its reply. Without it, reads commands from\n"
    "standard input, one in a line, sends them as a pipeline and prints the\n"
    "replies in order. Blanks separate arguments. Inside \"...\" the escapes\n"
    "are \\n \\r \\t \\a \\b \\\\ \\\" \\xHH, inside '...' only \\'.\n"
    "Empty lines and lines that begin with # are skipped. After a bad line\n"
    "nothing more is sent.\n\n"
    "A pipe gets the bytes of the reply, one element in a line, and errors of\n"
    "the server go to standard error. A terminal shows types and escapes.",
    call_options, 1, call_run,
};
