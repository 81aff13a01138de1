/* SPDX-License-Identifier: MIT
 *
 * demo.c - relet demo: the client at work, without a network.
 *
 * It is a driver like any other: it carries bytes between the client and an
 * echo server that is a page of this file, and time is a number that it sets.
 * Nothing is shown that is not checked: the exit code is 1 if anything was
 * not as stated. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "echo.h"

#define DEMO_TAGS 16

/* How an operation is to end, and how often it did. */
typedef struct demo_claim {
    const char *command;
    relet_span word; /* its first, which is also the echo's                 */
    relet_kind kind;
    relet_why why;
    int outcomes;
} demo_claim;

typedef struct demo {
    relet *r;
    relet_time now;
    echo server;
    demo_claim claims[DEMO_TAGS];
    size_t submitted, outcomes;
    int downs, seen[RELET_PUSHED + 1];
    relet_time retry_in_ms;
    int wrong;
    const char *bold, *dim, *red, *plain;
} demo;

/* ------------------------------------------------------------ what it says */

static void demo_title(const demo *d, const char *title)
{
    printf("\n%s%s%s\n", d->bold, title, d->plain);
}

static void demo_check(demo *d, int holds, const char *claim)
{
    if (holds)
        return;
    d->wrong = 1;
    cli_say("not as stated: %s", claim);
}

/* Bytes of the wire, as C would write them; lines end where the wire's do. */
static void demo_show_bytes(const demo *d, const char *arrow,
                            const echo_bytes *b)
{
    size_t i, column = 0;

    printf("  %s%s ", d->dim, arrow);
    for (i = 0; i < b->n; i++) {
        unsigned char c = (unsigned char)b->p[i];

        if (column > 45 && b->p[i - 1] == '\n' && strchr("*$:+", b->p[i])) {
            printf("\n     ");
            column = 0;
        }
        if (c == '\r' || c == '\n')
            column += (size_t)printf(c == '\r' ? "\\r" : "\\n");
        else
            column += (size_t)printf(c < 0x20 ? "\\x%02x" : "%c", c);
    }
    printf("%s\n", d->plain);
}

/* ----------------------------------------------------------------- events */

static void demo_outcome(demo *d, const relet_event *ev)
{
    demo_claim *claim = &d->claims[ev->tag % DEMO_TAGS];
    int reply = ev->kind == RELET_REPLY;
    relet_span first;

    d->outcomes++;
    claim->outcomes++;
    printf("  %s%-10s%s  %s: ", reply ? d->bold : d->red,
           relet_kind_text(ev->kind), d->plain, claim->command);
    if (reply)
        show_value(stdout, SHOW_JSON, ev->value);
    else
        puts(relet_why_text(ev->why));
    demo_check(d, ev->kind == claim->kind && ev->why == claim->why,
               claim->command);
    first = relet_value_text(relet_value_first(ev->value));
    demo_check(d, !reply || (first.p != NULL && first.n == claim->word.n &&
                             !memcmp(first.p, claim->word.p, first.n)),
               "an answer belongs to its command");
}

static void demo_down(demo *d, const relet_event *ev)
{
    d->downs++;
    d->retry_in_ms = ev->retry_in_ms;
    printf("  %sdown%s        %.*s", d->red, d->plain, cli_text(ev->text));
    if (ev->retry_in_ms != RELET_NEVER)
        printf("; again in %" PRId64 " ms", ev->retry_in_ms);
    putchar('\n');
}

static void demo_notice(const demo *d, const relet_event *ev)
{
    relet_span text = relet_value_text(ev->value);

    if (ev->kind == RELET_UP)
        text = ev->text;
    if (ev->kind == RELET_GAP)
        text = relet_str("messages may have been missed");
    printf("  %s%-10s%s  %.*s%s%.*s\n", d->bold, relet_kind_text(ev->kind),
           d->plain, cli_text(ev->channel),
           ev->kind == RELET_MESSAGE ? ": " : "", cli_text(text));
}

static void demo_event(demo *d, const relet_event *ev)
{
    switch (ev->kind) {
    case RELET_REPLY:
    case RELET_ERROR:
    case RELET_NOT_SENT:
    case RELET_UNSURE:
        demo_outcome(d, ev);
        return;
    case RELET_DOWN:
        demo_down(d, ev);
        return;
    case RELET_UP:
    case RELET_SUBSCRIBED:
    case RELET_MESSAGE:
    case RELET_GAP:
        d->seen[ev->kind]++;
        demo_notice(d, ev);
        return;
    case RELET_NOTHING:
    case RELET_UNSUBSCRIBED:
    case RELET_SUBSCRIPTION_REFUSED:
    case RELET_INVALIDATE:
    case RELET_PUSHED:
        demo_check(d, 0, "no other event comes");
        return;
    }
}

static size_t demo_events(demo *d)
{
    relet_event ev;
    size_t n = 0;

    relet_tick(d->r, d->now);
    for (; relet_next(d->r, &ev); n++)
        demo_event(d, &ev);
    return n;
}

/* ------------------------------------------------------------- the carrier */

/* Carry what the client has written, at most so many bytes. How many. */
static size_t demo_carry_out(demo *d, size_t most)
{
    const uint8_t *p;
    size_t n = relet_io_pending(d->r, 0, &p);

    if (n > most)
        n = most;
    if (n > sizeof d->server.in.p - d->server.in.n)
        n = sizeof d->server.in.p - d->server.in.n;
    if (n == 0)
        return 0;
    memcpy(d->server.in.p + d->server.in.n, p, n);
    d->server.in.n += n;
    relet_io_sent(d->r, 0, n);
    return n;
}

/* Carry the server's bytes in pieces of this size. Returns how many pieces
 * had come when the first event was there. */
static size_t demo_carry_in(demo *d, size_t piece)
{
    size_t pieces = 0, first = 0;

    while (d->server.out.n > 0) {
        uint8_t *p;
        size_t n = relet_io_space(d->r, 0, &p);

        n = n < piece ? n : piece;
        n = n < d->server.out.n ? n : d->server.out.n;
        if (n == 0)
            break;
        memcpy(p, d->server.out.p, n);
        relet_io_received(d->r, 0, n);
        echo_drop(&d->server.out, n);
        pieces++;
        if (demo_events(d) > 0 && first == 0)
            first = pieces;
    }
    demo_check(d, d->server.out.n == 0, "all bytes are read");
    return first;
}

/* Until neither side has anything to say. */
static void demo_settle(demo *d)
{
    do {
        (void)demo_carry_out(d, ECHO_BYTES);
        (void)echo_serve(&d->server, ECHO_ARGS);
        (void)demo_carry_in(d, ECHO_BYTES);
        (void)demo_events(d);
    } while (d->server.out.n + demo_carry_out(d, ECHO_BYTES) > 0 && !d->wrong);
}

/* The client wants its link opened: 1 within the next turns of its clock. */
static int demo_is_wanted(demo *d)
{
    relet_io io;
    int turns;

    for (turns = 0; turns < 20; turns++) {
        while (relet_io_want(d->r, &io))
            if (io.open)
                return 1;
        if (relet_deadline(d->r) == RELET_NEVER)
            return 0;
        if (relet_deadline(d->r) > d->now)
            d->now = relet_deadline(d->r); /* time is a number: no sleeping */
        (void)demo_events(d);
    }
    return 0;
}

/* Submit two words. The claim is that they will be answered; whoever knows
 * better says so by demo_ends. */
static void demo_submit(demo *d, uint64_t tag, const char *text,
                        relet_span first, relet_span second,
                        relet_time timeout_ms, unsigned flags)
{
    relet_request q;
    relet_span argv[2];
    demo_claim *claim = &d->claims[tag];

    memset(&q, 0, sizeof q);
    q.tag = tag;
    q.timeout_ms = timeout_ms;
    q.flags = flags;
    argv[0] = first;
    argv[1] = second;
    claim->command = text;
    claim->word = first;
    claim->kind = RELET_REPLY;
    d->submitted++;
    demo_check(d, relet_command(d->r, argv, 2, &q) == 0,
               "a command is accepted");
}

static void demo_ends(demo *d, uint64_t tag, relet_kind kind, relet_why why)
{
    d->claims[tag].kind = kind;
    d->claims[tag].why = why;
}

static void demo_ask(demo *d, uint64_t tag, const char *text, const char *word,
                     const char *arg)
{
    demo_submit(d, tag, text, relet_str(word), relet_str(arg), 0, 0);
}

/* ------------------------------------------------------------------ scenes */

static void demo_scene_connect(demo *d)
{
    demo_title(d, "1  Connecting: the greeting is one write");
    demo_check(d, demo_is_wanted(d), "the client asks for its link");
    relet_io_opened(d->r, 0, 0, NULL);
    (void)demo_events(d);
    (void)demo_carry_out(d, ECHO_BYTES);
    demo_show_bytes(d, "->", &d->server.in);
    (void)echo_serve(&d->server, ECHO_ARGS);
    demo_check(d, d->server.in.n == 0, "the greeting is whole commands");
    demo_show_bytes(d, "<-", &d->server.out);
    demo_check(d, d->server.out.n > 0 && d->server.out.p[0] == '%',
               "HELLO is answered first");
    demo_settle(d);
    demo_check(d, d->seen[RELET_UP] == 1 && relet_is_up(d->r),
               "the link is up");
}

static void demo_scene_pipeline(demo *d)
{
    relet_span nul;

    nul.p = "a\0b";
    nul.n = 3;
    demo_title(d, "2  A pipeline: three commands, one write, answers in order");
    demo_ask(d, 1, "ECHO one", "ECHO", "one");
    demo_submit(d, 2, "SET, any bytes", relet_str("SET"), nul, 0, 0);
    demo_ask(d, 3, "TYPE three", "TYPE", "three");
    (void)demo_carry_out(d, ECHO_BYTES);
    demo_show_bytes(d, "->", &d->server.in);
    demo_check(d, echo_serve(&d->server, ECHO_ARGS) == 3,
               "one write held three");
    demo_settle(d);
}

static void demo_scene_pieces(demo *d)
{
    size_t size, first;

    demo_title(d, "3  An answer that comes one byte at a time");
    demo_ask(d, 4, "GETDEL slowly", "GETDEL", "slowly");
    (void)demo_carry_out(d, ECHO_BYTES);
    (void)echo_serve(&d->server, 1);
    size = d->server.out.n;
    first = demo_carry_in(d, 1);
    printf("  its event came with byte %lu of %lu\n", (unsigned long)first,
           (unsigned long)size);
    demo_check(d, first == size, "the event comes with the last byte");
}

static void demo_scene_late(demo *d)
{
    relet_stats stats;

    demo_title(d, "4  An answer that comes too late is nobody else's");
    demo_submit(d, 5, "SLOW, 100 ms at most", relet_str("SLOW"),
                relet_str("x"), 100, 0);
    demo_ends(d, 5, RELET_UNSURE, RELET_WHY_TIMEOUT);
    (void)demo_events(d);
    (void)demo_carry_out(d, ECHO_BYTES);
    d->now += 100;
    (void)demo_events(d);
    demo_check(d, d->claims[5].outcomes == 1, "its time is up");
    demo_ask(d, 6, "NEXT", "NEXT", "y");
    demo_settle(d); /* only now the server answers, both */
    relet_stats_get(d->r, &stats);
    printf("  %" PRIu64 " late answer swallowed\n", stats.late);
    demo_check(d, stats.late == 1, "one late answer is swallowed");
}

static void demo_scene_messages(demo *d)
{
    demo_title(d, "5  Messages come on the same link");
    demo_check(d, !relet_subscribe(d->r, RELET_CHANNEL, relet_str("news")),
               "a wish is accepted");
    (void)demo_events(d);
    demo_settle(d);
    demo_ask(d, 7, "ECHO between", "ECHO", "between");
    echo_publish(&d->server, "news", "before the answer");
    demo_settle(d);
    demo_check(d, d->seen[RELET_SUBSCRIBED] == 1 &&
                      d->seen[RELET_MESSAGE] == 1,
               "the message arrives beside the answer");
}

static void demo_scene_cut(demo *d)
{
    const uint8_t *p;

    demo_title(d, "6  A link that breaks in the middle of a command");
    demo_ask(d, 8, "SET a, answered before", "SET", "a");
    demo_ask(d, 9, "INCR n, sent, no answer", "INCR", "n");
    demo_ends(d, 9, RELET_UNSURE, RELET_WHY_BROKEN);
    demo_submit(d, 10, "GET a, sent, repeatable", relet_str("GET"),
                relet_str("a"), 0, RELET_REPEATABLE);
    demo_ask(d, 11, "SET b, half of it sent", "SET", "b");
    (void)demo_events(d);
    (void)demo_carry_out(d, relet_io_pending(d->r, 0, &p) - 9);
    demo_check(d, echo_serve(&d->server, 1) == 1, "one is answered");
    (void)demo_carry_in(d, ECHO_BYTES);
    (void)echo_serve(&d->server, ECHO_ARGS); /* it runs two more, … */
    printf("  %s-- cut: INCR and GET ran, of SET there are %lu bytes --%s\n",
           d->dim, (unsigned long)d->server.in.n, d->plain);
    d->server.in.n = d->server.out.n = 0; /* … but those answers are lost */
    relet_io_closed(d->r, 0, 1, "connection reset");
    (void)demo_events(d);
    demo_check(d, d->downs == 1 && !relet_is_up(d->r), "the link is down");
    demo_check(d, d->claims[9].outcomes == 1, "what is unsure is told at once");
}

/* The attempt fails; its backoff was under this bound. */
static void demo_refuse(demo *d, relet_time bound)
{
    demo_check(d, d->retry_in_ms <= bound, "backoff is bounded");
    demo_check(d, demo_is_wanted(d), "the client tries again");
    relet_io_opened(d->r, 0, 1, "connection refused");
    (void)demo_events(d);
}

static void demo_scene_again(demo *d)
{
    relet_time began = d->now;
    relet_stats stats;

    demo_title(d, "7  Back again: two refusals, backoff, then a link");
    demo_submit(d, 12, "SET c, for 1 ms, while down", relet_str("SET"),
                relet_str("c"), 1, 0);
    demo_ends(d, 12, RELET_NOT_SENT, RELET_WHY_TIMEOUT);
    (void)demo_events(d);
    demo_refuse(d, 50);
    demo_refuse(d, 100);
    demo_check(d, demo_is_wanted(d), "the client tries once more");
    relet_io_opened(d->r, 0, 0, NULL);
    (void)demo_events(d);
    demo_settle(d);
    echo_publish(&d->server, "news", "after the gap");
    demo_settle(d);
    relet_stats_get(d->r, &stats);
    printf("  %" PRId64 " ms of virtual time; INCR ran %d time, GET %d times\n",
           d->now - began, d->server.incr_seen, d->server.gets_seen);
    demo_check(d, d->seen[RELET_UP] == 2 && d->seen[RELET_GAP] == 1 &&
                      d->seen[RELET_SUBSCRIBED] == 2 &&
                      d->seen[RELET_MESSAGE] == 2,
               "the subscription is back and the gap was told");
    demo_check(d, d->server.incr_seen == 1, "what may not run twice did not");
    demo_check(d, d->server.gets_seen == 2 && stats.repeated == 1,
               "what was repeatable was repeated once");
}

static void demo_scene_end(demo *d)
{
    relet_stats stats;
    size_t tag;

    demo_title(d, "8  Every operation ended, and ended once");
    relet_stop(d->r);
    (void)demo_events(d);
    relet_stats_get(d->r, &stats);
    printf("  %" PRIu64 " submitted = %" PRIu64 " replies + %" PRIu64
           " errors + %" PRIu64 " unsure + %" PRIu64 " not sent\n",
           stats.submitted, stats.replies, stats.errors, stats.unsure,
           stats.not_sent);
    demo_check(d, stats.submitted == d->submitted &&
                      stats.replies + stats.errors + stats.unsure +
                              stats.not_sent == stats.submitted &&
                      d->outcomes == d->submitted,
               "as many outcomes as operations");
    for (tag = 1; tag <= d->submitted; tag++)
        demo_check(d, d->claims[tag].outcomes == 1, "each ends once");
}

/* ------------------------------------------------------------------- frame */

static void demo_colours(demo *d)
{
    const char *term = getenv("TERM");
    int colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term &&
                 strcmp(term, "dumb") != 0;

    d->bold = colour ? "\033[1m" : "";
    d->dim = colour ? "\033[2m" : "";
    d->red = colour ? "\033[31m" : "";
    d->plain = colour ? "\033[0m" : "";
}

static void demo_scenes(demo *d)
{
    demo_scene_connect(d);
    demo_scene_pipeline(d);
    demo_scene_pieces(d);
    demo_scene_late(d);
    demo_scene_messages(d);
    demo_scene_cut(d);
    demo_scene_again(d);
    demo_scene_end(d);
}

static void demo_config(relet_config *c)
{
    relet_config_init_small(c);
    c->retry_min_ms = 50;
    c->retry_max_ms = 400;
    c->seed = 1; /* the same jitter in every demo */
}

static int demo_run(cli *c)
{
    static demo d;
    relet_fault fault;
    size_t size;
    void *mem;

    if (c->argc || c->json) {
        cli_say("demo takes no %s", c->json ? "--json" : "arguments");
        return CLI_USAGE;
    }
    demo_colours(&d);
    demo_config(&c->config);
    size = relet_size(&c->config);
    mem = cli_grow(NULL, size + 1);
    d.r = relet_init(mem, size, &c->config, &fault);
    if (!d.r) {
        cli_say("%s", fault.text);
        free(mem);
        return CLI_USAGE;
    }
    printf("A client in %lu bytes that never allocates, a driver and an echo "
           "server,\nall in this process: no network, no clock.\n",
           (unsigned long)size);
    demo_scenes(&d);
    relet_finish(d.r);
    free(mem);
    puts(d.wrong ? "\nSomething was not as stated; see above."
                 : "\nAll of it was checked while it was shown. This is the "
                   "client: leases and\nqueues, which will stand on it, are "
                   "not built yet. With a server at hand:\nrelet ping, relet "
                   "call, relet listen, relet bench.");
    return d.wrong ? CLI_ERROR : CLI_OK;
}

static const cli_option demo_options[] = {
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command demo_command = {
    "demo", "see the client at work; needs no server",
    "demo",
    "Shows the client at work on an echo server in memory: connecting, a\n"
    "pipeline, an answer in pieces, one too late, messages, a broken link and\n"
    "what becomes of each command, reconnecting. Every statement is checked:\n"
    "the exit code is 1 if one does not hold. Needs no server and no network.",
    demo_options, 0, demo_run,
};
