/* SPDX-License-Identifier: MIT
 *
 * transport_test.c - tests of the driver over a transport of the caller's.
 *
 * The engine behaves like TLS: it reads ahead of what it hands out, its
 * handshake changes direction, and a read may need the socket to be writable,
 * or a write need it to be readable. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "greatest.h"
#include "poll_rig.h"

typedef struct t_engine {
    int fd;
    int shaken, shake_code;   /* code of an unfinished handshake     */
    int opened, closed;       /* how often                           */
    int write_wants_read;     /* until something was read            */
    int read_wants_write;     /* every other time                    */
    int refuse;               /* open gives no session               */
    int hold;                 /* write keeps a copy and says "later" */
    size_t held;
    char copy[256];
    const char *problem;
    char ahead[4096];
    size_t from, to;
} t_engine;

static void *t_engine_open(void *user, int fd, const char *host)
{
    t_engine *e = (t_engine *)user;

    (void)host;
    if (e->refuse)
        return NULL;
    e->fd = fd;
    e->opened++;
    e->from = e->to = 0;
    return e;
}

static int t_engine_handshake(void *session)
{
    t_engine *e = (t_engine *)session;

    if (e->shake_code != 0)
        return e->shake_code;
    return e->shaken++ == 0 ? RELET_TRANSPORT_WRITE : 0;
}

/* Hands out seven bytes at most. It reads the socket only when no byte is left
 * from the last read. */
static long t_engine_read(void *session, void *p, size_t n)
{
    t_engine *e = (t_engine *)session;
    long got;

    if (e->read_wants_write && (e->read_wants_write++ & 1))
        return RELET_TRANSPORT_WRITE;
    if (e->from == e->to) {
        got = (long)recv(e->fd, e->ahead, sizeof e->ahead, 0);
        if (got <= 0)
            return got == 0 ? 0
                   : errno == EAGAIN ? RELET_TRANSPORT_READ
                                     : RELET_TRANSPORT_FAILED;
        e->from = 0;
        e->to = (size_t)got;
        e->write_wants_read = 0;
    }
    n = n < 7 ? n : 7;
    n = n < e->to - e->from ? n : e->to - e->from;
    memcpy(p, e->ahead + e->from, n);
    e->from += n;
    return (long)n;
}

static long t_engine_write(void *session, const void *p, size_t n)
{
    t_engine *e = (t_engine *)session;
    long put;

    if (e->write_wants_read)
        return RELET_TRANSPORT_READ;
    if (e->hold) {
        e->held = n < sizeof e->copy ? n : sizeof e->copy;
        memcpy(e->copy, p, e->held);
        return RELET_TRANSPORT_WRITE;
    }
    if (e->held > 0) { /* as TLS does: the first copy is sent               */
        n = e->held;
        e->held = 0;
        return (long)send(e->fd, e->copy, n, MSG_NOSIGNAL);
    }
    put = (long)send(e->fd, p, n < 5 ? n : 5, MSG_NOSIGNAL);
    return put >= 0 ? put : RELET_TRANSPORT_FAILED;
}

static void t_engine_close(void *session)
{
    ((t_engine *)session)->closed++;
}

static const char *t_problem;

static const char *t_engine_problem(void *session)
{
    return session != NULL ? ((t_engine *)session)->problem : t_problem;
}

static t_engine t_the_engine;
static const relet_transport t_transport = {
    &t_the_engine,  t_engine_open,  t_engine_handshake, t_engine_read,
    t_engine_write, t_engine_close, t_engine_problem};

static relet *t_open_engine(int port, relet_time connect_timeout_ms)
{
    relet_config c = t_config();
    relet_poll_config p;

    memset(&p, 0, sizeof p);
    p.transport = &t_transport;
    c.scheme = RELET_TLS;
    c.port = port;
    c.connect_timeout_ms = connect_timeout_ms;
    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    return t_keep(relet_open(NULL, &c, &p, NULL));
}

static void t_engine_reset(void)
{
    memset(&t_the_engine, 0, sizeof t_the_engine);
    t_problem = NULL;
}

TEST a_transport_carries_the_bytes(void)
{
    relet *r;
    int i;

    t_engine_reset();
    r = t_open_engine(t_serve(T_RESP3)->port, T_SOON_MS);
    for (i = 0; i < 20; i++)
        ASSERT(t_echoes(r));
    relet_close(r);
    t_clients[0] = NULL;
    ASSERT_EQ(1, t_the_engine.opened);
    ASSERT_EQ(1, t_the_engine.closed);
    PASS();
}

TEST bytes_inside_a_transport_are_not_waited_for(void)
{
    relet_event ev;
    relet *r;
    int peer, i;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    for (i = 0; i < 9; i++)
        ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    t_put(peer, "+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n"
                "+PONG\r\n+PONG\r\n+PONG\r\n");
    for (i = 0; i < 9; i++)
        ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    PASS();
}

TEST a_read_that_wants_to_write_is_served(void)
{
    relet *r;
    int i;

    t_engine_reset();
    t_the_engine.read_wants_write = 1;
    r = t_open_engine(t_serve(T_RESP3)->port, T_SOON_MS);
    for (i = 0; i < 20; i++)
        ASSERT(t_echoes(r));
    PASS();
}

TEST a_write_that_wants_to_read_waits_for_that(void)
{
    relet_watch w[RELET_WATCH_MAX];
    relet_event ev;
    relet *r;
    int i, n, peer;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.write_wants_read = 1;
    ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    n = relet_watches(r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++)
        ASSERT_EQ(POLLIN, w[i].events); /* it could always be written to */
    t_put(peer, "+PONG\r\n");
    t_the_engine.write_wants_read = 0;
    ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    PASS();
}

TEST a_write_that_a_transport_put_off_is_watched_for(void)
{
    relet_watch w[RELET_WATCH_MAX];
    relet_event ev;
    relet *r;
    int i, n, peer, events = 0;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.hold = 1;
    ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(t_the_engine.held > 0);
    n = relet_watches(r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++)
        events |= w[i].events;
    ASSERT(events & POLLOUT);
    PASS();
}

TEST bytes_given_to_a_transport_cannot_be_taken_back(void)
{
    static const char both[] = "*1\r\n$5\r\nFIRST\r\n"
                               "*1\r\n$6\r\nSECOND\r\n";
    relet_request first = {1, 0, 0};
    relet_event ev;
    relet *r;
    char got[64];
    int peer, turn;
    long part;
    size_t n = 0;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.hold = 1;
    ASSERT_EQ(0, relet_command_text(r, &first, "FIRST", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(t_the_engine.held > 0);
    ASSERT_EQ(1, (int)relet_cancel(r, 1));
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_UNSURE, ev.kind);
    ASSERT_EQ(0, relet_command_text(r, NULL, "SECOND", (char *)NULL));
    t_the_engine.hold = 0;
    for (turn = 0; turn < 100 && n < sizeof both - 1; turn++) {
        ASSERT_EQ(0, relet_wait(r, &ev, 0));
        part = (long)recv(peer, got + n, sizeof got - n, MSG_DONTWAIT);
        n += part > 0 ? (size_t)part : 0;
    }
    ASSERT_EQ(sizeof both - 1, n);
    ASSERT_EQ(0, memcmp(got, both, n));
    PASS();
}

TEST a_handshake_without_end_costs_the_connect_timeout(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.shake_code = RELET_TRANSPORT_READ;
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, 100), &ev,
                   RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    ASSERT(t_says(ev.text, "TLS with 127.0.0.1"));
    ASSERT(t_says(ev.text, "timed out"));
    ASSERT_EQ(1, t_the_engine.opened);
    ASSERT_EQ(1, t_the_engine.closed);
    PASS();
}

TEST a_failed_handshake_is_told_in_the_transports_words(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.shake_code = RELET_TRANSPORT_FAILED;
    t_the_engine.problem = "certificate verify failed";
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, T_SOON_MS), &ev,
                   RELET_EV_DOWN));
    ASSERT(t_says(ev.text, "certificate verify failed"));
    ASSERT_EQ(t_the_engine.opened, t_the_engine.closed);
    PASS();
}

TEST a_transport_that_does_not_open_is_told_in_its_words(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.refuse = 1;
    t_problem = "no entropy";
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, T_SOON_MS), &ev,
                   RELET_EV_DOWN));
    ASSERT(t_says(ev.text, "no entropy"));
    PASS();
}

SUITE(transports)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_transport_carries_the_bytes);
    RUN_TEST(bytes_inside_a_transport_are_not_waited_for);
    RUN_TEST(a_read_that_wants_to_write_is_served);
    RUN_TEST(a_write_that_wants_to_read_waits_for_that);
    RUN_TEST(a_write_that_a_transport_put_off_is_watched_for);
    RUN_TEST(bytes_given_to_a_transport_cannot_be_taken_back);
    RUN_TEST(a_handshake_without_end_costs_the_connect_timeout);
    RUN_TEST(a_failed_handshake_is_told_in_the_transports_words);
    RUN_TEST(a_transport_that_does_not_open_is_told_in_its_words);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(transports);
    GREATEST_MAIN_END();
}
