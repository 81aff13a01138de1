/* SPDX-License-Identifier: MIT
 *
 * cuts.c - a conversation about a lease, with the link cut at each of its
 * bytes.
 *
 *   cuts PORT
 *
 * A speaks to the server through a relay that cuts the link after k bytes in
 * one direction: handshake, acquire, renew, release and some INCRs. B wants the
 * same lease over a link that holds. For each k, both directions, and whatever
 * A must send over its next link:
 *
 *   A is granted the lease, keeps it, renews it and releases it; then B is
 *   granted it, with a higher token; A and B never both believe in it;
 *   each INCR has one outcome; an answered one has happened once, an unsent one
 *   never, and none twice; each answer belongs to its INCR;
 *   a cut link costs one new link.
 *
 * Each breach is printed, and the exit code is then 1. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>

#include "line.h"
#include "relay.h"
#include "relet.h"

#define CUTS_AT_ONCE 32
#define CUTS_MS 20000 /* to fail instead of hanging, on a slow machine      */
#define CUTS_INCRS 3

typedef struct side {
    relet *r;
    int lease, gained, lost, ended;
    uint64_t token;
    relet_time until; /* its first belief in the lease                      */
} side;

typedef struct cut {
    int busy, failed, way, truth;
    int64_t at;             /* -1: no cut                                   */
    char key[32], count[40];
    relay link;
    side a, b;
    int outcome[CUTS_INCRS], incrs;
    int64_t answer[CUTS_INCRS], total, left;
    relet_time end;
    int64_t bytes[2];
} cut;

static cut cuts[CUTS_AT_ONCE];
static int server_port, failures, unsures, unsents, made;

static void cut_fail(cut *c, const char *claim)
{
    if (!c->failed)
        (void)printf("%s cut after %lld bytes: %s\n",
                     c->way ? "answers" : "requests", (long long)c->at, claim);
    c->failed = 1;
}

/* ------------------------------------------------------------------ begin */

static int cut_connect(void)
{
    struct sockaddr_in a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)server_port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, (socklen_t)sizeof a) != 0)
        exit(2);
    return fd;
}

/* A's first link goes through the relay; all others go straight to the
 * server. */
static void side_open(side *s, const cut *c, int fd)
{
    relet_poll_config p;
    relet_lease_config lease;
    relet_config g;
    char url[64];

    memset(s, 0, sizeof *s);
    memset(&p, 0, sizeof p);
    memset(&lease, 0, sizeof lease);
    relet_config_init(&g);
    g.retry_min_ms = 1;
    g.timeout_ms = CUTS_MS;
    p.fd = fd > 0 ? &fd : NULL;
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d", server_port);
    s->r = relet_open(url, &g, &p, NULL);
    lease.key = relet_str(c->key);
    lease.ttl_ms = 2 * CUTS_MS; /* so that it cannot expire in a test       */
    lease.renew_ms = 2;
    s->lease = s->r ? relet_lease_start(s->r, &lease) : -1;
    if (s->lease < 0)
        exit(2);
}

static void cut_incr(cut *c)
{
    relet_request q = {0, 0, 0};

    q.tag = (uint64_t)c->incrs++;
    if (relet_command_text(c->a.r, &q, "INCR", c->count, (char *)NULL) != 0)
        exit(2);
}

static void cut_begin(cut *c, int way, int64_t at)
{
    int fd[2];

    memset(c, 0, sizeof *c);
    c->busy = 1;
    c->way = way;
    c->at = at;
    c->total = c->left = -1;
    c->end = relet_clock() + CUTS_MS;
    (void)snprintf(c->key, sizeof c->key, "cut:%d:%lld", way, (long long)at);
    (void)snprintf(c->count, sizeof c->count, "%s:n", c->key);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
        exit(2);
    relay_open(&c->link, fd[1], cut_connect());
    c->link.pipe[way].limit = at;
    side_open(&c->a, c, fd[0]);
    cut_incr(c);
}

/* ----------------------------------------------------------------- events */

static void cut_outcome(cut *c, const relet_event *ev)
{
    if (ev->tag >= CUTS_INCRS || c->outcome[ev->tag] != RELET_EV_NOTHING) {
        cut_fail(c, "an operation had two outcomes");
        return;
    }
    c->outcome[ev->tag] = (int)ev->kind;
    if (ev->kind == RELET_EV_REPLY)
        (void)relet_value_int(ev->value, &c->answer[ev->tag]);
    unsures += ev->kind == RELET_EV_UNSURE;
    unsents += ev->kind == RELET_EV_NOT_SENT;
}

/* Takes the server's last answers, to B: the counter, and whether the key is
 * left. */
static void cut_truth(cut *c, const relet_event *ev)
{
    int64_t n = 0;

    if (ev->kind != RELET_EV_REPLY)
        cut_fail(c, "the server was not asked");
    (void)relet_value_int(ev->value, &n);
    if (ev->tag == 0)
        c->total = n;
    else
        c->left = n;
}

static void side_hear(side *s, cut *c, const relet_event *ev)
{
    if (ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE) {
        if (s == &c->a)
            cut_outcome(c, ev);
        else
            cut_truth(c, ev);
    } else if (ev->kind == RELET_EV_LEASE_GAINED) {
        s->gained++;
        s->token = ev->token;
        s->until = relet_lease_valid_for(s->r, s->lease, 0);
    } else if (ev->kind == RELET_EV_LEASE_LOST) {
        s->lost++;
        if (ev->why != RELET_WHY_STOPPED)
            cut_fail(c, relet_why_text(ev->why));
        (void)relet_lease_work_done(s->r, s->lease);
    } else if (ev->kind == RELET_EV_LEASE_ENDED) {
        s->ended++;
    }
}

static void side_turn(side *s, cut *c)
{
    relet_event ev;

    while (s->r != NULL && relet_wait(s->r, &ev, 0) == 1)
        side_hear(s, c, &ev);
}

/* ------------------------------------------------------------------ judge */

static int64_t side_until(const side *s)
{
    return s->r ? relet_lease_valid_for(s->r, s->lease, 0) : 0;
}

static void side_judge(const side *s, cut *c, const char *claim)
{
    if (s->gained != 1 || s->lost != 1 || s->ended != 1)
        cut_fail(c, claim);
}

static void cut_judge_counts(cut *c)
{
    int64_t least = 0, most = 0, last = 0;
    int i;

    for (i = 0; i < CUTS_INCRS; i++) {
        least += c->outcome[i] == RELET_EV_REPLY;
        most += c->outcome[i] == RELET_EV_REPLY ||
                c->outcome[i] == RELET_EV_UNSURE;
        if (c->outcome[i] == RELET_EV_REPLY && c->answer[i] <= last)
            cut_fail(c, "the answer to another question");
        if (c->outcome[i] == RELET_EV_REPLY)
            last = c->answer[i];
    }
    if (c->total < least || c->total > most)
        cut_fail(c, "what was told and what has happened differ");
}

static int cut_made(const cut *c)
{
    return c->at >= 0 && c->bytes[c->way] == c->at;
}

/* A has connected again if its link was cut. The last cuts come when both
 * leases have ended: B's answers may then be there before A's new link. */
static int cut_mended(const cut *c)
{
    relet_stats s;

    relet_stats_get(c->a.r, &s);
    return s.attempts > (uint64_t)cut_made(c);
}

static void cut_judge(cut *c)
{
    int was_cut = cut_made(c);
    relet_stats s;

    made += was_cut;
    side_judge(&c->a, c, "A was not granted, lost and released once");
    side_judge(&c->b, c, "B was not granted, lost and released once");
    if (c->b.token <= c->a.token)
        cut_fail(c, "tokens do not grow");
    if (c->left != 0)
        cut_fail(c, "the key is still there");
    cut_judge_counts(c);
    relet_stats_get(c->a.r, &s);
    if (s.attempts != 1 + (uint64_t)was_cut || s.protocol_errors > 0)
        cut_fail(c, "a cut link did not cost one new one");
}

/* ------------------------------------------------------------------- turns */

static int cut_settled(const cut *c)
{
    int i;

    for (i = 0; i < CUTS_INCRS; i++)
        if (c->outcome[i] == RELET_EV_NOTHING)
            return 0;
    return 1;
}

/* Begins the next step once the one before has happened. */
static void cut_step(cut *c)
{
    relet_request q = {0, 0, 0};

    if (c->incrs == 1 && c->a.gained) {
        cut_incr(c);
        side_open(&c->b, c, 0);
    }
    if (c->incrs == 2 && side_until(&c->a) > c->a.until) {
        cut_incr(c);
        (void)relet_lease_stop(c->a.r, c->a.lease);
    }
    if (c->b.gained && !c->b.lost)
        (void)relet_lease_stop(c->b.r, c->b.lease);
    if (c->b.ended && c->a.ended && cut_settled(c) && !c->truth) {
        c->truth = 1;
        (void)relet_command_text(c->b.r, &q, "GET", c->count, (char *)NULL);
        q.tag = 1;
        (void)relet_command_text(c->b.r, &q, "EXISTS", c->key, (char *)NULL);
    }
}

static void cut_close(cut *c)
{
    failures += c->failed;
    c->busy = 0;
    relay_cut(&c->link);
    relet_close(c->a.r);
    relet_close(c->b.r);
}

static void cut_relay(cut *c)
{
    static const int64_t at_once[2] = {0, 0};

    if (c->link.fd[0] >= 0)
        (void)relay_turn(&c->link, 1, at_once);
    c->bytes[0] = c->link.pipe[0].carried;
    c->bytes[1] = c->link.pipe[1].carried;
}

static void cut_turn(cut *c)
{
    relet_time now = relet_clock();
    int ended;

    cut_relay(c);
    side_turn(&c->a, c);
    side_turn(&c->b, c);
    cut_step(c);
    if (side_until(&c->a) > now && side_until(&c->b) > now)
        cut_fail(c, "A and B both believe in the lease");
    ended = c->left >= 0 && cut_mended(c);
    if (!ended && now < c->end && !c->failed)
        return;
    if (!ended)
        cut_fail(c, "it never ends");
    cut_judge(c);
    cut_close(c);
}

static int side_watch(const side *s, struct pollfd *p, int *ms)
{
    relet_watch w[RELET_WATCH_MAX];
    int i, n, due;

    if (s->r == NULL)
        return 0;
    n = relet_watches(s->r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++) {
        p[i].fd = w[i].fd;
        p[i].events = w[i].events;
    }
    due = relet_poll_timeout(s->r);
    if (due >= 0 && due < *ms)
        *ms = due;
    return n;
}

static void cuts_turn(void)
{
    struct pollfd p[CUTS_AT_ONCE * (2 + 2 * RELET_WATCH_MAX)];
    int i, n = 0, ms = 1000;

    for (i = 0; i < CUTS_AT_ONCE; i++) {
        if (!cuts[i].busy)
            continue;
        (void)relay_watch(&cuts[i].link, p + n, 1);
        n += 2;
        n += side_watch(&cuts[i].a, p + n, &ms);
        n += side_watch(&cuts[i].b, p + n, &ms);
    }
    (void)poll(p, (nfds_t)n, ms);
    for (i = 0; i < CUTS_AT_ONCE; i++)
        if (cuts[i].busy)
            cut_turn(&cuts[i]);
}

static cut *cuts_free(void)
{
    int i;

    for (i = 0; i < CUTS_AT_ONCE; i++)
        if (!cuts[i].busy)
            return &cuts[i];
    return NULL;
}

static int cuts_busy(void)
{
    int i, n = 0;

    for (i = 0; i < CUTS_AT_ONCE; i++)
        n += cuts[i].busy;
    return n;
}

static void cuts_run(int way, int64_t upto)
{
    int64_t at;

    for (at = 0; at <= upto && failures < 20;) {
        cut *c = cuts_free();

        if (c != NULL)
            cut_begin(c, way, at++);
        else
            cuts_turn();
    }
    while (cuts_busy() > 0)
        cuts_turn();
}

int main(int argc, char **argv)
{
    int64_t bytes[2];

    if (argc != 2)
        return 2;
    server_port = atoi(argv[1]);
    cut_begin(&cuts[0], 0, -1);
    while (cuts_busy() > 0)
        cuts_turn();
    bytes[0] = cuts[0].bytes[0];
    bytes[1] = cuts[0].bytes[1];
    cuts_run(0, bytes[0]);
    cuts_run(1, bytes[1]);
    (void)printf("%" PRId64 " cuts in requests, %" PRId64 " in answers; "
                 "%d links cut, %d unsure, %d not sent\n",
                 bytes[0] + 1, bytes[1] + 1, made, unsures, unsents);
    return failures > 0 || made == 0;
}
