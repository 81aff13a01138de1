/* SPDX-License-Identifier: MIT
 *
 * contend.c - a process that contends for a lease, and works while it leads.
 *
 *   contend NAME URL SOCKET [setting=number]... >>LOG
 *
 * The work is to write to the register behind SOCKET (fence.c), with the
 * lease's token and only while the lease is valid. The process may also keep
 * other operations under way on the same link. Each event, belief and act is a
 * line:
 *
 *   start 0 0 TTL PID             the process has begun
 *   gained, lost, ended TERM TOKEN WHY   events of the lease
 *   valid TERM TOKEN UNTIL        it believes in its lease until then
 *   void TERM TOKEN               it believes in its lease no longer
 *   write TERM TOKEN SEQ          it has decided to write
 *   up, down, trouble 0 0 WHY TEXT
 *   stats 0 0 NAME=NUMBER...      the last line but `bye`
 *
 * SIGTERM: the process ends in order. SIGUSR1: it stops itself by SIGSTOP at
 * the worst moment, between a decision to write and the write. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "line.h"
#include "relet.h"

enum {
    TTL, RETRY, EVERY,           /* the lease; ms between writes            */
    TIMEOUT, PING, CONNECT,      /* the client                              */
    BACKOFF,
    LOAD, PACE, SCRIPT, BIG,     /* operations at a time; ms between them;
                                  * scripts instead; large answers instead  */
    SETTINGS
};

static struct {
    const char *name;
    long value;
} settings[SETTINGS] = {{"ttl", 1500},   {"retry", 0},   {"every", 10},
                        {"timeout", 1000}, {"ping", 1000}, {"connect", 1000},
                        {"backoff", 200}, {"load", 0},    {"pace", 5},
                        {"script", 0},   {"big", 0}};

#define LOAD_MAX ((uint64_t)1 << 20)

typedef struct contender {
    const char *name;
    relet *r;
    int lease, fence, leading, over, script;
    int64_t shift;              /* of this process's clock                  */
    relet_time now, write_at, load_at;
    uint64_t term, token;
    relet_time until;           /* the last `valid` line's; 0: void         */
    uint64_t seq;
    /* Operations: when each was submitted, and how each ended. */
    uint64_t asked, heard, ended[RELET_EV_UNSURE + 1], twice, wrong;
    int64_t last;               /* the highest answer                       */
    relet_time late;            /* the longest delay beyond its time        */
    uint8_t kind[LOAD_MAX];
    relet_time at[LOAD_MAX];
} contender;

static volatile sig_atomic_t told_to_leave, told_to_pause;
static relet *volatile to_wake;

static void on_signal(int sig)
{
    if (sig == SIGUSR1)
        told_to_pause = 1;
    else
        told_to_leave = 1;
    if (to_wake != NULL)
        relet_wake(to_wake);
}

/* ----------------------------------------------------------------- belief */

/* Reads the clock once, so that line and belief are of the same moment. */
static int64_t contend_look(contender *c)
{
    int64_t ns = line_clock();
    relet_time left, until;

    c->now = ns / 1000000;
    left = relet_lease_valid_for(c->r, c->lease, c->now);
    until = left > 0 ? c->now + left : 0;
    if (until != c->until && until > 0)
        line_say(ns - c->shift, c->name, "valid %" PRIu64 " %" PRIu64 " %lld",
                 c->term, relet_lease_token(c->r, c->lease),
                 (long long)(until * 1000000 - c->shift));
    else if (until != c->until)
        line_say(ns - c->shift, c->name, "void %" PRIu64 " %" PRIu64, c->term,
                 c->token);
    c->until = until;
    return ns - c->shift;
}

static void contend_write(contender *c)
{
    int64_t ns = contend_look(c);
    char text[100];
    int n;

    if (!c->leading || c->until == 0 || c->now < c->write_at)
        return;
    c->write_at = c->now + settings[EVERY].value;
    line_say(ns, c->name, "write %" PRIu64 " %" PRIu64 " %" PRIu64, c->term,
             c->token, ++c->seq);
    n = snprintf(text, sizeof text, "%s %" PRIu64 " %" PRIu64 " %" PRIu64,
                 c->name, c->seq, c->term, c->token);
    if (told_to_pause) {
        told_to_pause = 0;
        (void)raise(SIGSTOP);
    }
    if (send(c->fence, text, (size_t)n, MSG_NOSIGNAL) != n)
        exit(2);
}

/* ------------------------------------------------------------- operations */

static int contend_ask(contender *c, char *key, const relet_request *q)
{
    relet_span argv[1];

    if (settings[BIG].value)
        return relet_command_text(c->r, q, "GET", "big", (char *)NULL);
    if (!settings[SCRIPT].value)
        return relet_command_text(c->r, q, "INCR", key, (char *)NULL);
    argv[0] = relet_str(key);
    return relet_script_run(c->r, c->script, 1, argv, 1, q);
}

static void contend_load(contender *c)
{
    relet_request q = {0, 0, 0};
    char key[40];

    (void)snprintf(key, sizeof key, "count:%s", c->name);
    while (c->asked - c->heard < (uint64_t)settings[LOAD].value &&
           c->now >= c->load_at && c->asked < LOAD_MAX && !told_to_leave) {
        q.tag = c->asked;
        if (contend_ask(c, key, &q) != 0)
            return;
        c->at[c->asked++] = c->now;
        c->load_at = c->now + settings[PACE].value;
    }
}

/* Only this process counts up its counter, so the answers grow, and stay within
 * the number of requests. An answer to another request breaks this. */
static void contend_answer(contender *c, const relet_event *ev)
{
    int64_t n = 0;

    if (settings[BIG].value || ev->kind != RELET_EV_REPLY)
        return;
    if (!relet_value_int(ev->value, &n) || n <= c->last ||
        n > (int64_t)ev->tag + 1)
        c->wrong++;
    c->last = n;
}

static void contend_outcome(contender *c, const relet_event *ev)
{
    relet_time late;

    if (ev->tag >= c->asked || c->kind[ev->tag] != 0) {
        c->twice++;
        return;
    }
    c->kind[ev->tag] = (uint8_t)ev->kind;
    c->ended[ev->kind]++;
    c->heard++;
    contend_answer(c, ev);
    late = relet_clock() - c->at[ev->tag] - settings[TIMEOUT].value;
    if (late > c->late)
        c->late = late;
}

/* ----------------------------------------------------------------- events */

static void contend_say(contender *c, const relet_event *ev, const char *what)
{
    line_say(contend_look(c), c->name, "%s %" PRIu64 " %" PRIu64 " %s %.*s",
             what, ev->term, ev->token, relet_why_text(ev->why),
             (int)ev->text.n, ev->text.n ? ev->text.p : "");
}

static void contend_lost(contender *c, const relet_event *ev)
{
    c->leading = 0;
    contend_say(c, ev, "lost");
    if (ev->why == RELET_WHY_STOPPED)
        (void)relet_lease_work_done(c->r, c->lease);
    (void)contend_look(c);
}

static void contend_hear(contender *c, const relet_event *ev)
{
    if (ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE) {
        contend_outcome(c, ev);
    } else if (ev->kind == RELET_EV_LEASE_GAINED) {
        c->leading = 1;
        c->term = ev->term;
        c->token = ev->token;
        contend_say(c, ev, "gained");
    } else if (ev->kind == RELET_EV_LEASE_LOST) {
        contend_lost(c, ev);
    } else if (ev->kind == RELET_EV_LEASE_ENDED) {
        c->over = 1;
        contend_say(c, ev, "ended");
    } else if (ev->kind == RELET_EV_LEASE_TROUBLE) {
        contend_say(c, ev, "trouble");
    } else if (ev->kind == RELET_EV_UP) {
        contend_say(c, ev, "up");
    } else if (ev->kind == RELET_EV_DOWN) {
        contend_say(c, ev, "down");
    }
}

static int contend_pause(const contender *c)
{
    relet_time at = INT32_MAX, now = relet_clock();

    if (c->leading)
        at = c->write_at - now;
    if (settings[LOAD].value > 0 && c->load_at - now < at)
        at = c->load_at - now;
    return at == INT32_MAX ? -1 : at < 0 ? 0 : (int)at;
}

/* A turn takes all events before it decides anything, so that an event is not
 * late because this process is slow. */
static void contend_run(contender *c)
{
    int stopping = 0;
    relet_event ev;

    while (!c->over) {
        int got = relet_wait(c->r, &ev, contend_pause(c));

        for (; got == 1; got = relet_wait(c->r, &ev, 0))
            contend_hear(c, &ev);
        if (got < 0)
            exit(2);
        if (told_to_leave && !stopping++)
            (void)relet_lease_stop(c->r, c->lease);
        contend_write(c);
        contend_load(c);
    }
}

/* The remaining operations end by themselves, since each has its timeout. */
static void contend_leave(contender *c)
{
    relet_stats s;
    relet_event ev;

    told_to_leave = 1;
    while (relet_outstanding(c->r) > 0 && relet_wait(c->r, &ev, -1) >= 0)
        contend_hear(c, &ev);
    relet_stop(c->r);
    while (relet_wait(c->r, &ev, 0) == 1)
        contend_hear(c, &ev);
    relet_stats_get(c->r, &s);
    line_say(line_clock() - c->shift, c->name,
             "stats 0 0 asked=%" PRIu64 " heard=%" PRIu64 " replies=%" PRIu64
             " errors=%" PRIu64 " unsent=%" PRIu64 " unsure=%" PRIu64
             " twice=%" PRIu64 " wrong=%" PRIu64 " late=%lld attempts=%" PRIu64
             " connects=%" PRIu64 " protocol=%" PRIu64,
             c->asked, c->heard, c->ended[RELET_EV_REPLY],
             c->ended[RELET_EV_ERROR],
             c->ended[RELET_EV_NOT_SENT], c->ended[RELET_EV_UNSURE], c->twice,
             c->wrong, (long long)c->late, s.attempts, s.connects,
             s.protocol_errors);
    line_say(line_clock() - c->shift, c->name, "bye 0 0");
}

/* ------------------------------------------------------------------ begin */

static int contend_set(const char *word)
{
    int i;

    for (i = 0; i < SETTINGS; i++) {
        size_t n = strlen(settings[i].name);

        if (strncmp(word, settings[i].name, n) == 0 && word[n] == '=') {
            settings[i].value = atol(word + n + 1);
            return 0;
        }
    }
    return -1;
}

static relet *contend_open(const contender *c, const char *url)
{
    relet_fault fault;
    relet_config g;
    relet *r;

    relet_config_init(&g);
    (void)snprintf(g.name, sizeof g.name, "%s", c->name);
    g.timeout_ms = settings[TIMEOUT].value;
    g.ping_every_ms = settings[PING].value;
    g.connect_timeout_ms = settings[CONNECT].value;
    g.retry_min_ms = 5;
    g.retry_max_ms = settings[BACKOFF].value;
    r = relet_open(url, &g, NULL, &fault);
    if (r == NULL)
        (void)fprintf(stderr, "%s\n", fault.text);
    return r;
}

static int contend_begin(contender *c)
{
    static const char script[] = "return redis.call('INCR', KEYS[1])";
    relet_lease_config lease;

    memset(&lease, 0, sizeof lease);
    lease.name = relet_str("fault");
    lease.label = relet_str(c->name);
    lease.ttl_ms = settings[TTL].value;
    lease.retry_ms = settings[RETRY].value;
    c->script = relet_script_add(c->r, relet_str(script));
    c->lease = relet_lease_start(c->r, &lease);
    line_say(line_clock() - c->shift, c->name, "start 0 0 %ld %ld",
             settings[TTL].value, (long)getpid());
    return c->lease < 0 || c->script < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    contender *c = (contender *)calloc(1, sizeof *c);
    int i;

    if (argc < 4 || c == NULL)
        return 2;
    for (i = 4; i < argc; i++)
        if (contend_set(argv[i]) != 0)
            return 2;
    c->name = argv[1];
    c->shift = line_shift();
    c->fence = line_socket(argv[3], connect);
    c->r = contend_open(c, argv[2]);
    if (c->fence < 0 || c->r == NULL)
        return 2;
    to_wake = c->r;
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGUSR1, on_signal);
    if (contend_begin(c) != 0)
        return 2;
    contend_run(c);
    contend_leave(c);
    relet_close(c->r);
    free(c);
    return 0;
}
