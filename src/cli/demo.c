/* SPDX-License-Identifier: MIT
 *
 * demo.c - relet demo: the client at work on the local server.
 *
 * It is a driver like any other: it carries bytes between the client and the
 * server in memory that stands behind mem:, and time is a number that it sets.
 * Nothing is shown that is not checked: the exit code is 1 if anything was
 * not as stated. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

#define DEMO_OPERATIONS 32
#define DEMO_WORDS 8

/* How an operation is to end, and how often it did. */
typedef struct demo_claim {
    const char *line;   /* the command, as it is shown                       */
    const char *answer; /* of its reply; NULL: null                          */
    relet_kind kind;
    relet_why why;
    int outcomes;
} demo_claim;

typedef struct demo {
    relet *r;
    relet_time now;
    wire wire;
    demo_claim claims[DEMO_OPERATIONS]; /* by tag, which counts from 1       */
    uint64_t submitted, outcomes;
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
static void demo_show_bytes(const demo *d, const char *arrow, const void *bytes,
                            size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t i, column = 0;

    printf("  %s%s ", d->dim, arrow);
    for (i = 0; i < n; i++) {
        if (column > 45 && p[i - 1] == '\n' && strchr("*$:+-", p[i])) {
            printf("\n     ");
            column = 0;
        }
        if (p[i] == '\r' || p[i] == '\n')
            column += (size_t)printf(p[i] == '\r' ? "\\r" : "\\n");
        else
            column += (size_t)printf(p[i] < 0x20 ? "\\x%02x" : "%c", p[i]);
    }
    printf("%s\n", d->plain);
}

/* ----------------------------------------------------------------- events */

static int demo_is_answer(relet_value v, const char *answer)
{
    relet_span text = relet_value_text(v);
    int64_t i;

    if (answer == NULL)
        return relet_value_type(v) == RELET_NULL;
    if (relet_value_type(v) == RELET_INT)
        return relet_value_int(v, &i) && i == strtol(answer, NULL, 10);
    return text.p != NULL && text.n == strlen(answer) &&
           memcmp(text.p, answer, text.n) == 0;
}

static void demo_outcome(demo *d, const relet_event *ev)
{
    demo_claim *claim = &d->claims[ev->tag % DEMO_OPERATIONS];
    int reply = ev->kind == RELET_REPLY;

    d->outcomes++;
    claim->outcomes++;
    printf("  %s%-10s%s  %s: ", reply ? d->bold : d->red,
           relet_kind_text(ev->kind), d->plain, claim->line);
    if (reply)
        show_value(stdout, SHOW_JSON, ev->value);
    else
        puts(relet_why_text(ev->why));
    demo_check(d, ev->kind == claim->kind && ev->why == claim->why,
               claim->line);
    demo_check(d, !reply || demo_is_answer(ev->value, claim->answer),
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
    case RELET_LEASE_GAINED:
    case RELET_LEASE_LOST:
    case RELET_LEASE_TROUBLE:
    case RELET_LEASE_ENDED:
    case RELET_JOBS:
    case RELET_JOB_CANCEL:
    case RELET_JOB_LOST:
    case RELET_WORKER_ENDED:
        demo_check(d, 0, "no other event comes");
        return;
    }
}

static size_t demo_events(demo *d)
{
    relet_event ev;
    size_t n = 0;

    wire_time(&d->wire, d->now);
    relet_tick(d->r, d->now);
    for (; relet_next(d->r, &ev); n++)
        demo_event(d, &ev);
    return n;
}

/* ------------------------------------------------------------- the carrier */

/* The server's bytes reach the client in pieces of this size. Returns how many
 * pieces had come when the first event was there. */
static size_t demo_give(demo *d, size_t piece)
{
    size_t pieces = 0, first = 0;

    while (wire_give(&d->wire, piece) > 0) {
        pieces++;
        if (demo_events(d) > 0 && first == 0)
            first = pieces;
    }
    return first;
}

/* Until neither side has anything to say. */
static void demo_settle(demo *d)
{
    const uint8_t *p;

    do {
        (void)wire_take(&d->wire, 0);
        wire_serve(&d->wire);
        (void)demo_give(d, WIRE_BYTES);
        (void)demo_events(d);
    } while (relet_io_pending(d->r, 0, &p) > 0);
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

/* Submit a command, its words in one line. The claim is that it is answered
 * so; whoever knows better says so by demo_ends. Returns its tag. */
static uint64_t demo_submit(demo *d, const char *line, const char *answer,
                            relet_time timeout_ms, unsigned flags)
{
    relet_request q;
    relet_span argv[DEMO_WORDS];
    size_t argc = 0;
    const char *p = line;
    uint64_t tag = ++d->submitted;

    for (; *p && argc < DEMO_WORDS; p += *p == ' ') {
        argv[argc].p = p;
        p += strcspn(p, " ");
        argv[argc].n = (size_t)(p - (const char *)argv[argc].p);
        argc++;
    }
    memset(&q, 0, sizeof q);
    q.tag = tag;
    q.timeout_ms = timeout_ms;
    q.flags = flags;
    d->claims[tag].line = line;
    d->claims[tag].answer = answer;
    d->claims[tag].kind = RELET_REPLY;
    demo_check(d, relet_command(d->r, argv, argc, &q) == 0,
               "a command is accepted");
    return tag;
}

static uint64_t demo_ask(demo *d, const char *line, const char *answer)
{
    return demo_submit(d, line, answer, 0, 0);
}

static void demo_ends(demo *d, uint64_t tag, relet_kind kind, relet_why why)
{
    d->claims[tag].kind = kind;
    d->claims[tag].why = why;
}

/* ------------------------------------------------------------------ scenes */

static void demo_scene_connect(demo *d)
{
    const uint8_t *p;
    size_t n;

    demo_title(d, "Connecting: the greeting is one write");
    demo_check(d, demo_is_wanted(d), "the client asks for its link");
    wire_connect(&d->wire);
    relet_io_opened(d->r, 0, 0, NULL);
    (void)demo_events(d);
    (void)wire_take(&d->wire, 0);
    demo_show_bytes(d, "->", d->wire.out, d->wire.n);
    wire_serve(&d->wire);
    n = wire_answers(&d->wire, &p);
    demo_show_bytes(d, "<-", p, n);
    demo_check(d, n > 0 && p[0] == '%', "HELLO is answered first");
    demo_settle(d);
    demo_check(d, d->seen[RELET_UP] == 1 && relet_is_up(d->r),
               "the link is up");
}

static void demo_scene_pipeline(demo *d)
{
    demo_title(d, "A pipeline: three commands, one write, answers in order");
    demo_ask(d, "SET job:7 ready", "OK");
    demo_ask(d, "APPEND job:7 !", "6");
    demo_ask(d, "GET job:7", "ready!");
    (void)wire_take(&d->wire, 0);
    demo_show_bytes(d, "->", d->wire.out, d->wire.n);
    demo_settle(d);
}

static void demo_scene_pieces(demo *d)
{
    const uint8_t *p;
    size_t size, first;

    demo_title(d, "An answer that comes one byte at a time");
    demo_ask(d, "GETDEL job:7", "ready!");
    (void)wire_take(&d->wire, 0);
    wire_serve(&d->wire);
    size = wire_answers(&d->wire, &p);
    first = demo_give(d, 1);
    printf("  its event came with byte %lu of %lu\n", (unsigned long)first,
           (unsigned long)size);
    demo_check(d, first == size, "the event comes with the last byte");
}

static void demo_scene_late(demo *d)
{
    relet_stats stats;
    uint64_t late;

    demo_title(d, "An answer that comes too late is nobody else's");
    late = demo_submit(d, "INCR slow", "1", 100, 0);
    demo_ends(d, late, RELET_UNSURE, RELET_WHY_TIMEOUT);
    (void)demo_events(d);
    (void)wire_take(&d->wire, 0);
    d->now += 100;
    (void)demo_events(d);
    demo_check(d, d->claims[late].outcomes == 1, "its time is up");
    demo_ask(d, "INCR slow", "2");
    demo_settle(d); /* only now the server answers, both */
    relet_stats_get(d->r, &stats);
    printf("  %" PRIu64 " late answer swallowed\n", stats.late);
    demo_check(d, stats.late == 1, "one late answer is swallowed");
}

static void demo_scene_messages(demo *d)
{
    demo_title(d, "Messages come on the same link");
    demo_check(d, !relet_subscribe(d->r, RELET_CHANNEL, relet_str("news")),
               "a wish is accepted");
    (void)demo_events(d);
    demo_settle(d);
    wire_meanwhile(&d->wire, "PUBLISH news good\r\n");
    demo_ask(d, "ECHO between", "between");
    demo_settle(d);
    demo_check(d, d->seen[RELET_SUBSCRIBED] == 1 &&
                      d->seen[RELET_MESSAGE] == 1,
               "the message arrives beside the answer");
}

/* One run of the script; the bytes that it took on the wire. */
static size_t demo_run_script(demo *d, int script, const char *answer)
{
    relet_request q;
    relet_span key = relet_str("fence");
    size_t n;

    memset(&q, 0, sizeof q);
    q.tag = ++d->submitted;
    d->claims[q.tag].line = "next fence";
    d->claims[q.tag].answer = answer;
    d->claims[q.tag].kind = RELET_REPLY;
    demo_check(d, !relet_script_run(d->r, script, 1, &key, 1, &q),
               "a script is accepted");
    n = wire_take(&d->wire, 0);
    demo_settle(d);
    return n;
}

static void demo_scene_script(demo *d)
{
    size_t whole, named, again;
    int script = relet_script_add(d->r, relet_str(
        "local last = tonumber(redis.call('GET', KEYS[1]) or 0)\n"
        "local now = redis.call('TIME')\n"
        "local fence = math.max(last + 1, now[1] * 1000000 + now[2])\n"
        "redis.call('SET', KEYS[1], string.format('%.0f', fence))\n"
        "return redis.call('GET', KEYS[1])\n"));

    demo_title(d, "A script: sent once, then called by its name");
    demo_check(d, script >= 0, "a script is added");
    whole = demo_run_script(d, script, "1760000000100000");
    named = demo_run_script(d, script, "1760000000100001");
    wire_meanwhile(&d->wire, "SCRIPT FLUSH\r\n");
    again = demo_run_script(d, script, "1760000000100002");
    printf("  %lu bytes, then %lu; then it was forgotten and sent again\n",
           (unsigned long)whole, (unsigned long)named);
    demo_check(d, whole > named && named == again, "its name is shorter");
}

static void demo_scene_lapse(demo *d)
{
    demo_title(d, "A lease that lapses is relet");
    demo_ask(d, "SET lease you NX PX 1000", "OK");
    demo_ask(d, "SET lease me NX PX 1000", NULL);
    demo_settle(d);
    d->now += 1001;
    (void)demo_events(d);
    printf("  %s-- 1001 ms later --%s\n", d->dim, d->plain);
    demo_ask(d, "SET lease me NX PX 1000", "OK");
    demo_settle(d);
}

static void demo_scene_cut(demo *d)
{
    uint64_t incr;

    demo_title(d, "A link that breaks in the middle of a command");
    demo_ask(d, "SET a 1", "OK");
    demo_settle(d);
    incr = demo_ask(d, "INCR n", NULL);
    demo_ends(d, incr, RELET_UNSURE, RELET_WHY_BROKEN);
    demo_submit(d, "GET a", "1", 0, RELET_REPEATABLE);
    demo_ask(d, "SET b 2", "OK");
    (void)demo_events(d);
    (void)wire_take(&d->wire, 9);
    wire_serve(&d->wire);
    printf("  %s-- cut: INCR and GET ran, their answers are lost; SET is there "
           "in part --%s\n", d->dim, d->plain);
    wire_cut(&d->wire);
    relet_io_closed(d->r, 0, 1, "connection reset");
    (void)demo_events(d);
    demo_check(d, d->downs == 1 && !relet_is_up(d->r), "the link is down");
    demo_check(d, d->claims[incr].outcomes == 1, "what is unsure is told");
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

    demo_title(d, "Back again: two refusals, backoff, then a link");
    demo_ends(d, demo_submit(d, "SET c 3", NULL, 1, 0), RELET_NOT_SENT,
              RELET_WHY_TIMEOUT);
    (void)demo_events(d);
    demo_refuse(d, 50);
    demo_refuse(d, 100);
    demo_check(d, demo_is_wanted(d), "the client tries once more");
    wire_connect(&d->wire);
    relet_io_opened(d->r, 0, 0, NULL);
    (void)demo_events(d);
    demo_settle(d);
    wire_meanwhile(&d->wire, "PUBLISH news better\r\n");
    demo_ask(d, "GET n", "1"); /* what may not run twice did not */
    demo_ask(d, "EXISTS a b c", "2");
    demo_settle(d);
    relet_stats_get(d->r, &stats);
    printf("  %" PRId64 " ms of virtual time\n", d->now - began);
    demo_check(d, d->seen[RELET_UP] == 2 && d->seen[RELET_GAP] == 1 &&
                      d->seen[RELET_SUBSCRIBED] == 2 &&
                      d->seen[RELET_MESSAGE] == 2,
               "the subscription is back and the gap was told");
    demo_check(d, stats.repeated == 1, "what was repeatable was repeated once");
}

static void demo_scene_end(demo *d)
{
    relet_stats stats;
    uint64_t tag;

    demo_title(d, "Every operation ended, and ended once");
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
    demo_scene_script(d);
    demo_scene_lapse(d);
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
    d.wire.r = d.r;
    demo_check(&d, wire_open(&d.wire), "there is memory for a server");
    if (!d.wrong) {
        printf("A client in %lu bytes that never allocates, a driver and the "
               "local server,\nall in this process: no network, no clock.\n",
               (unsigned long)size);
        demo_scenes(&d);
    }
    wire_close(&d.wire);
    relet_finish(d.r);
    free(mem);
    puts(d.wrong ? "\nSomething was not as stated; see above."
                 : "\nAll of it was checked while it was shown. This is the "
                   "client, and the server\nbehind mem: and file:. Queues will "
                   "stand on them; they are not built yet. Go on\nwith: relet "
                   "call -u mem: INFO, relet ping, relet listen.");
    return d.wrong ? CLI_ERROR : CLI_OK;
}

static const cli_option demo_options[] = {
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command demo_command = {
    "demo", "see the client at work; needs no server",
    "demo",
    "Shows the client at work on the local server: connecting, a pipeline, an\n"
    "answer in pieces, one too late, messages, a script, a lease that lapses, a\n"
    "broken link and what becomes of each command, reconnecting. Every\n"
    "statement is checked: the exit code is 1 if one does not hold. Needs no\n"
    "server and no network.",
    demo_options, 0, demo_run,
};
