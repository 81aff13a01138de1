/* SPDX-License-Identifier: MIT
 *
 * workers.c - a process that puts jobs into a queue, works on them, or both.
 *
 *   workers NAME URL SOCKET [setting=number]... >>LOG
 *
 * A job is a number, which also names its register behind SOCKET (fence.c). The
 * work on a job is to wait, then to write to its register with its token, but
 * only while its lease is valid; then the job is done. Some jobs fail at first,
 * some are buried. Each request, event and decision is a line:
 *
 *   start 0 0 LEASE PID             the process has begun
 *   put JOB 0                       it is about to put the job
 *   queued JOB 0, unput JOB 0 WHY, unsure JOB 0    the outcome of the put
 *   begun JOB TOKEN ATTEMPT STALLS  it got the job
 *   held JOB TOKEN                  the work is over, but SOCKET.held exists
 *   write JOB TOKEN SEQ             it has decided to write
 *   done, failed, buried JOB TOKEN  it ends the job so
 *   lost JOB TOKEN WHY              it got a loss, perhaps after the end
 *   up, down 0 0 WHY TEXT
 *   ended 0 0                       its worker holds no claim any more
 *   stats 0 0 NAME=NUMBER...        the last line but `bye`
 *
 * SIGTERM: the process ends in order. SIGUSR1: it stops itself by SIGSTOP,
 * between a decision to write and the write. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "line.h"
#include "relet.h"

enum {
    TTL, ROOM, WORK, STALLS,       /* the worker; room 0: it only puts       */
    PUT, FROM, PACE, PAD,          /* number of jobs, the first; ms between
                                    * them; bytes in addition                */
    FAIL, BURY,                    /* one job in so many; 0: none            */
    TIMEOUT, PING, CONNECT, BACKOFF,
    SETTINGS
};

static struct {
    const char *name;
    long value;
} settings[SETTINGS] = {
    {"ttl", 1500},     {"room", 0},    {"work", 20},      {"stalls", 1000},
    {"put", 0},        {"from", 0},    {"pace", 5},       {"pad", 0},
    {"fail", 7},       {"bury", 31},   {"timeout", 1000}, {"ping", 1000},
    {"connect", 1000}, {"backoff", 200}};

enum { BEGUN_MAX = 1 << 14, PAD_MAX = 500000, UNDER_WAY = 32 };

typedef enum begun_state { WORKING, LOST, OVER } begun_state;

typedef struct begun {
    uint64_t job, number, token;
    uint32_t attempt;
    relet_time due;
    begun_state state;
    int held;
} begun;

typedef struct people {
    const char *name, *socket;
    relet *r;
    int worker, fence, ended;
    relet_time now, put_at;
    uint64_t put, answered, seq;
    begun *list; /* all jobs told, in order                                  */
    size_t count;
} people;

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

static void people_say(const people *p, const char *what, uint64_t job,
                       uint64_t token, const char *more)
{
    line_say(line_clock(), p->name, "%s %" PRIu64 " %" PRIu64 " %s", what, job,
             token, more);
}

/* ------------------------------------------------------------------ putting */

static void people_put(people *p)
{
    static char payload[PAD_MAX + 40];
    relet_request q = {0, 0, 0};
    relet_job j;

    while (p->put < (uint64_t)settings[PUT].value && p->now >= p->put_at &&
           p->put - p->answered < UNDER_WAY && !told_to_leave &&
           p->put < line_upto(p->socket)) {
        q.tag = (uint64_t)settings[FROM].value + p->put;
        memset(&j, 0, sizeof j);
        memset(payload, 'x', sizeof payload);
        j.payload.p = payload;
        j.payload.n = (size_t)snprintf(payload, 40, "%" PRIu64 " ", q.tag);
        payload[j.payload.n] = 'x';
        j.payload.n += (size_t)settings[PAD].value;
        people_say(p, "put", q.tag, 0, "");
        if (relet_queue_put(p->r, relet_str("q"), &j, 1, 0, &q) != 0) {
            people_say(p, "unput", q.tag, 0, "refused");
            p->answered++;
        }
        p->put++;
        p->put_at = p->now + settings[PACE].value;
    }
}

static void people_answer(people *p, const relet_event *ev)
{
    relet_span said = relet_value_text(ev->value);
    uint64_t number;
    char text[60];
    int none;

    p->answered++;
    if (ev->kind == RELET_EV_REPLY) {
        if (relet_queue_put_number(ev->value, 0, &number) != 1)
            exit(2);
        people_say(p, "queued", ev->tag, 0, "");
        return;
    }
    (void)snprintf(text, sizeof text, "%s %.*s", relet_why_text(ev->why),
                   (int)said.n, said.n ? said.p : "");
    /* The put's script makes all checks before it writes. */
    none = ev->kind == RELET_EV_NOT_SENT ||
           (ev->kind == RELET_EV_ERROR && strncmp(said.p, "OOM ", 4) == 0);
    people_say(p, none ? "unput" : "unsure", ev->tag, 0, text);
}

/* ------------------------------------------------------------------ working */

static void people_begin(people *p, const relet_event *ev)
{
    relet_work w;
    size_t at = 0;

    while (relet_jobs_next(p->r, ev, &at, &w)) {
        begun *b = &p->list[p->count++];
        char text[40];

        if (p->count == BEGUN_MAX)
            exit(2);
        b->job = strtoull(w.job.payload.p, NULL, 10);
        b->number = w.number;
        b->token = w.token;
        b->attempt = w.attempt;
        b->due = p->now + settings[WORK].value;
        b->state = WORKING;
        b->held = 0;
        (void)snprintf(text, sizeof text, "%u %u", w.attempt, w.stalls);
        people_say(p, "begun", b->job, b->token, text);
    }
}

/* The loss may be of a job that this process has ended. */
static void people_lose(people *p, const relet_event *ev)
{
    size_t i = p->count;

    while (i > 0 && (p->list[i - 1].number != ev->job ||
                     p->list[i - 1].token != ev->token))
        i--;
    if (i == 0)
        exit(2);
    people_say(p, "lost", p->list[i - 1].job, ev->token,
               relet_why_text(ev->why));
    if (p->list[i - 1].state == WORKING)
        p->list[i - 1].state = LOST;
}

/* Decides to write to the job's register, and writes. */
static void people_write(people *p, const begun *b)
{
    char text[100];
    int n;

    (void)snprintf(text, sizeof text, "%" PRIu64, ++p->seq);
    people_say(p, "write", b->job, b->token, text);
    n = snprintf(text, sizeof text, "%s %" PRIu64 " %" PRIu64 " %" PRIu64,
                 p->name, p->seq, b->job, b->token);
    if (told_to_pause) {
        told_to_pause = 0;
        (void)raise(SIGSTOP);
    }
    if (send(p->fence, text, (size_t)n, MSG_NOSIGNAL) != n)
        exit(2);
}

static int one_in(uint64_t job, int setting)
{
    long n = settings[setting].value;

    return n > 0 && job % (uint64_t)n == 0;
}

static int people_fail(people *p, const begun *b, relet_verdict verdict)
{
    relet_failure f;

    memset(&f, 0, sizeof f);
    f.verdict = verdict;
    f.text = relet_str("as it was told");
    f.delay_ms = verdict == RELET_RETRY ? 50 : 0;
    people_say(p, verdict == RELET_BURY ? "buried" : "failed", b->job,
               b->token, "");
    return relet_job_fail(p->r, p->worker, b->number, &f);
}

static int people_held(const people *p, begun *b)
{
    if (!line_held(p->socket))
        return 0;
    if (!b->held++)
        people_say(p, "held", b->job, b->token, "");
    return 1;
}

static void people_finish(people *p, begun *b)
{
    int code;

    if (b->state == LOST) {
        code = relet_job_release(p->r, p->worker, b->number);
    } else if (p->now < b->due || people_held(p, b)) {
        return;
    } else if (relet_job_valid_for(p->r, p->worker, b->number,
                                   relet_clock()) <= 0) {
        return; /* JOB_LOST will come */
    } else if (one_in(b->job, BURY)) {
        code = people_fail(p, b, RELET_BURY);
    } else if (one_in(b->job, FAIL) && b->attempt == 1) {
        code = people_fail(p, b, RELET_RETRY);
    } else {
        people_write(p, b);
        people_say(p, "done", b->job, b->token, "");
        code = relet_job_done(p->r, p->worker, b->number, relet_str("x"));
    }
    if (code == 0)
        b->state = OVER;
    else if (code == RELET_E_LIMIT || code == RELET_E_MEMORY)
        b->due = p->now + 50; /* the call is repeated */
    else
        exit(2);
}

static void people_work(people *p)
{
    size_t i;

    for (i = p->count > 256 ? p->count - 256 : 0; i < p->count; i++)
        if (p->list[i].state != OVER)
            people_finish(p, &p->list[i]);
}

/* ------------------------------------------------------------------- events */

static void people_hear(people *p, const relet_event *ev)
{
    char text[200];

    p->now = relet_clock();
    (void)snprintf(text, sizeof text, "%s %.*s", relet_why_text(ev->why),
                   (int)ev->text.n, ev->text.n ? ev->text.p : "");
    if (ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE) {
        people_answer(p, ev);
    } else if (ev->kind == RELET_EV_JOBS) {
        people_begin(p, ev);
    } else if (ev->kind == RELET_EV_JOB_LOST) {
        people_lose(p, ev);
    } else if (ev->kind == RELET_EV_WORKER_ENDED) {
        p->ended = 1;
        people_say(p, "ended", 0, 0, "");
    } else if (ev->kind == RELET_EV_UP || ev->kind == RELET_EV_DOWN) {
        people_say(p, ev->kind == RELET_EV_UP ? "up" : "down", 0, 0, text);
    }
}

/* While there is work, looks every 5 ms, since the work takes milliseconds. */
static int people_pause(const people *p)
{
    size_t i;

    for (i = p->count > 256 ? p->count - 256 : 0; i < p->count; i++)
        if (p->list[i].state != OVER)
            return 5;
    if (p->put < (uint64_t)settings[PUT].value && !told_to_leave)
        return 5;
    return -1;
}

static void people_run(people *p)
{
    int stopping = 0;
    relet_event ev;

    while (!told_to_leave || !p->ended || p->answered < p->put) {
        int got = relet_wait(p->r, &ev, people_pause(p));

        for (; got == 1; got = relet_wait(p->r, &ev, 0))
            people_hear(p, &ev);
        if (got < 0)
            exit(2);
        if (told_to_leave && !stopping++ && p->worker >= 0)
            (void)relet_worker_stop(p->r, p->worker);
        p->now = relet_clock();
        people_work(p);
        people_put(p);
    }
}

static void people_leave(people *p)
{
    relet_stats s;

    relet_stats_get(p->r, &s);
    line_say(line_clock(), p->name,
             "stats 0 0 put=%" PRIu64 " attempts=%" PRIu64 " connects=%" PRIu64
             " protocol=%" PRIu64,
             p->put, s.attempts, s.connects, s.protocol_errors);
    people_say(p, "bye", 0, 0, "");
}

/* -------------------------------------------------------------------- begin */

static int people_set(const char *word)
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

static relet *people_open(const people *p, const char *url)
{
    relet_fault fault;
    relet_config g;
    relet *r;

    relet_config_init(&g);
    (void)snprintf(g.name, sizeof g.name, "%s", p->name);
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

static int people_begin_work(people *p)
{
    relet_worker_config c;

    line_say(line_clock(), p->name, "start 0 0 %ld %ld", settings[TTL].value,
             (long)getpid());
    p->worker = -1;
    p->ended = settings[ROOM].value == 0;
    if (p->ended)
        return 0;
    memset(&c, 0, sizeof c);
    c.queue = relet_str("q");
    c.label = relet_str(p->name);
    c.room = (uint32_t)settings[ROOM].value;
    c.lease_ms = settings[TTL].value;
    c.stalls_max = (uint32_t)settings[STALLS].value;
    p->worker = relet_worker_start(p->r, &c);
    return p->worker < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    people p;
    int i;

    memset(&p, 0, sizeof p);
    p.list = (begun *)calloc(BEGUN_MAX, sizeof *p.list);
    if (argc < 4 || p.list == NULL)
        return 2;
    for (i = 4; i < argc; i++)
        if (people_set(argv[i]) != 0)
            return 2;
    p.name = argv[1];
    p.socket = argv[3];
    p.fence = line_socket(argv[3], connect);
    p.r = people_open(&p, argv[2]);
    if (p.fence < 0 || p.r == NULL)
        return 2;
    to_wake = p.r;
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGUSR1, on_signal);
    if (people_begin_work(&p) != 0)
        return 2;
    people_run(&p);
    people_leave(&p);
    relet_close(p.r);
    free(p.list);
    return 0;
}
