/* SPDX-License-Identifier: MIT
 *
 * socket.c - one link: a descriptor, perhaps with a transport on it, and moving
 * bytes between the link and a client's relet_io_ functions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "socket.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef MSG_NOSIGNAL
#define SOCKET_SEND_FLAGS MSG_NOSIGNAL
#else
#define SOCKET_SEND_FLAGS 0 /* SO_NOSIGPIPE is set instead */
#endif

#define SOCKET_READS 4 /* in one turn, so that ticks are not delayed */
#define SOCKET_BYTES_MAX ((size_t)1 << 30) /* in one call: fits a long */

/* --------------------------------------------------------------- one stream
 *
 * A plain socket returns a transport's codes, so that the rest of this file
 * knows only those. */

static long socket_code(rlt_socket *c, int want)
{
    c->err = errno;
    if (c->err == EAGAIN)
        return want;
    return RELET_TRANSPORT_FAILED;
}

static long socket_recv(rlt_socket *c, void *p, size_t n)
{
    long got;

    n = RLT_MIN(n, SOCKET_BYTES_MAX);
    if (c->session != NULL)
        return c->transport->read(c->session, p, n);
    do {
        got = (long)recv(c->fd, p, n, 0);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? socket_code(c, RELET_TRANSPORT_READ) : got;
}

static long socket_send(rlt_socket *c, const void *p, size_t n)
{
    long put;

    if (c->session != NULL)
        return c->transport->write(c->session, p, n);
    n = RLT_MIN(n, SOCKET_BYTES_MAX);
    do {
        put = (long)send(c->fd, p, n, SOCKET_SEND_FLAGS);
    } while (put < 0 && errno == EINTR);
    return put < 0 ? socket_code(c, RELET_TRANSPORT_WRITE) : put;
}

static int socket_is_want(long code)
{
    return code == RELET_TRANSPORT_READ || code == RELET_TRANSPORT_WRITE;
}

static int socket_wants(long code)
{
    return code == RELET_TRANSPORT_READ ? POLLIN : POLLOUT;
}

/* The sentence for people: "connect to 127.0.0.1:6379: Connection refused". */
static void socket_say(rlt_socket *c, const char *step, const char *why)
{
    const char *host = c->io.host;
    int v6 = strchr(host, ':') != NULL;

    if (!RLT_HAS_TEXT)
        return;
    if (c->io.scheme == RELET_UNIX)
        (void)snprintf(c->text, sizeof c->text, "%s %.200s: %.120s", step,
                       host, why);
    else
        (void)snprintf(c->text, sizeof c->text, "%s %s%.200s%s:%d: %.120s",
                       step, v6 ? "[" : "", host, v6 ? "]" : "", c->io.port,
                       why);
}

static void socket_say_transport(rlt_socket *c, const char *step)
{
    const char *why = NULL;

    if (RLT_HAS_TEXT && c->transport->problem != NULL)
        why = c->transport->problem(c->session);
    c->err = EIO;
    socket_say(c, step, why != NULL ? why : "the transport failed");
}

static void socket_say_stream(rlt_socket *c, const char *step)
{
    if (c->session != NULL)
        socket_say_transport(c, step);
    else
        socket_say(c, step, RLT_HAS_TEXT ? strerror(c->err) : "");
}

RELET_PRIVATE void rlt_socket_forget(rlt_socket *c)
{
    c->session = NULL;
}

RELET_PRIVATE void rlt_socket_shut(rlt_socket *c)
{
    if (c->session != NULL)
        c->transport->close(c->session);
    c->session = NULL;
    rlt_connect_stop(&c->dial);
    rlt_watchset_drop(c->dial.set, c->fd);
    rlt_connect_close(&c->fd);
    c->phase = RLT_SHUT;
    c->staged = c->stage_at = 0;
    c->more = c->broken = c->blocked = 0;
}

/* ------------------------------------------------------------------ opening */

static void socket_not_opened(relet *r, rlt_socket *c)
{
    rlt_socket_shut(c);
    relet_io_opened(r, c->io.link, c->err, c->text);
}

static void socket_opened(relet *r, rlt_socket *c)
{
    c->phase = RLT_CONNECTED;
    c->read_wants = POLLIN;
    c->write_wants = POLLOUT;
    c->more = c->session != NULL; /* the handshake may have read data */
    relet_io_opened(r, c->io.link, 0, NULL);
}

static void socket_shake(relet *r, rlt_socket *c, relet_time now)
{
    int code = c->transport->handshake(c->session);

    if (code == 0) {
        socket_opened(r, c);
    } else if (!socket_is_want(code)) {
        socket_say_transport(c, "TLS with");
        socket_not_opened(r, c);
    } else if (now >= c->io.deadline) {
        c->err = ETIMEDOUT;
        socket_say(c, "TLS with", "timed out");
        socket_not_opened(r, c);
    } else {
        c->shake_wants = socket_wants(code);
    }
}

static void socket_connected(relet *r, rlt_socket *c, int fd, relet_time now)
{
    c->fd = fd;
    if (c->io.scheme != RELET_TLS) {
        socket_opened(r, c);
        return;
    }
    c->session = c->transport->open(c->transport->user, fd, c->io.host);
    if (c->session == NULL) {
        socket_say_transport(c, "TLS with");
        socket_not_opened(r, c);
        return;
    }
    c->phase = RLT_SHAKING;
    socket_shake(r, c, now);
}

static void socket_dialed(relet *r, rlt_socket *c, int fd, relet_time now)
{
    if (fd >= 0) {
        socket_connected(r, c, fd, now);
    } else if (fd == RLT_CONNECT_LOST) {
        c->err = c->dial.err;
        socket_say(c, c->dial.step, c->dial.why);
        socket_not_opened(r, c);
    }
}

static void socket_open(relet *r, rlt_socket *c)
{
    relet_time now = relet_clock();
    int fd = c->given;

    c->phase = RLT_CONNECTING;
    if (fd >= 0) {
        c->given = -1;
        socket_connected(r, c, fd, now);
    } else if (c->given_only) {
        c->err = ENOTCONN;
        if (RLT_HAS_TEXT)
            (void)snprintf(c->text, sizeof c->text, "%s",
                           "the given descriptor is used up");
        socket_not_opened(r, c);
    } else {
        socket_dialed(r, c, rlt_connect_start(&c->dial, &c->io, now), now);
    }
}

/* ------------------------------------------------------------- moving bytes */

static void socket_closed(relet *r, rlt_socket *c, int err)
{
    rlt_socket_shut(c);
    relet_io_closed(r, c->io.link, err, err != 0 ? c->text : NULL);
}

/* Lends the bytes to write next. A transport that answers "later" may have made
 * a record of the bytes already, while the client may still take back what is
 * pending. So bytes that a transport has seen count as sent; `stage` keeps them
 * to be passed again unchanged. */
static size_t socket_pending(relet *r, rlt_socket *c, const uint8_t **p)
{
    size_t n = 0;

    if (c->staged == 0)
        n = relet_io_pending(r, c->io.link, p);
    if (n > 0 && c->session != NULL) {
        c->stage_at = 0;
        c->staged = RLT_MIN(n, RLT_SOCKET_STAGE);
        memcpy(c->stage, *p, c->staged);
        relet_io_sent(r, c->io.link, c->staged);
    }
    if (c->staged == 0)
        return n;
    *p = c->stage + c->stage_at;
    return c->staged;
}

static void socket_sent(relet *r, rlt_socket *c, size_t n)
{
    c->write_wants = POLLOUT;
    if (c->session != NULL) {
        c->stage_at += n;
        c->staged -= n;
    } else {
        relet_io_sent(r, c->io.link, n);
    }
}

RELET_PRIVATE void rlt_socket_write(relet *r, rlt_socket *c)
{
    const uint8_t *p;
    size_t n;
    long put;

    while (c->phase == RLT_CONNECTED && !c->broken && !c->blocked) {
        n = socket_pending(r, c, &p);
        if (n == 0)
            return;
        put = socket_send(c, p, n);
        if (put > 0) {
            socket_sent(r, c, (size_t)put);
        } else if (socket_is_want(put)) {
            c->write_wants = socket_wants(put);
            c->blocked = 1;
        } else {
            /* What the server sent before it closed can still be read. */
            socket_say_stream(c, "write to");
            c->broken = c->err != 0 ? c->err : EIO;
        }
    }
}

/* Nothing was read: closes the link if that is its end. */
static void socket_not_read(relet *r, rlt_socket *c, long code)
{
    if (c->broken) {
        socket_closed(r, c, c->broken);
    } else if (socket_is_want(code)) {
        c->read_wants = socket_wants(code);
        c->more = 0;
    } else if (code == 0) {
        socket_closed(r, c, 0);
    } else {
        socket_say_stream(c, "read from");
        socket_closed(r, c, c->err);
    }
}

static void socket_read(relet *r, rlt_socket *c)
{
    uint8_t *p;
    size_t n;
    long got;
    int turn;

    for (turn = 0; turn < SOCKET_READS; turn++) {
        n = relet_io_space(r, c->io.link, &p);
        if (n == 0)
            return;
        got = socket_recv(c, p, n);
        if (got <= 0) {
            socket_not_read(r, c, got);
            return;
        }
        c->read_wants = POLLIN;
        c->more = c->session != NULL;
        relet_io_received(r, c->io.link, (size_t)got);
        if (c->session == NULL && (size_t)got < n)
            return; /* the socket is empty: spare a call */
    }
}

static int socket_events(relet *r, rlt_socket *c)
{
    const uint8_t *out;
    uint8_t *in;
    int events = 0;

    if (relet_io_space(r, c->io.link, &in) > 0)
        events |= c->read_wants;
    if (!c->broken &&
        (c->staged > 0 || relet_io_pending(r, c->io.link, &out) > 0))
        events |= c->write_wants;
    return events;
}

/* ----------------------------------------------------------- for the driver */

RELET_PRIVATE void rlt_socket_init(rlt_socket *c,
                                   const relet_transport *transport,
                                   uint8_t *stage, int keepalive_s,
                                   rlt_watchset *set)
{
    memset(c, 0, sizeof *c);
    c->transport = transport;
    c->stage = stage;
    c->fd = c->given = -1;
    rlt_connect_init(&c->dial, keepalive_s, set);
}

RELET_PRIVATE void rlt_socket_want(relet *r, rlt_socket *c, const relet_io *io)
{
    rlt_socket_shut(c);
    c->io = *io;
    if (io->open)
        socket_open(r, c);
}

/* A link that waits for nothing is not watched: poll would report a hang-up for
 * ever. */
RELET_PRIVATE void rlt_socket_watch(relet *r, rlt_socket *c, relet_watch *w)
{
    int i, events = 0;

    for (i = 0; i < RLT_CONNECT_RACERS; i++) {
        w[i].fd = c->dial.fd[i];
        w[i].events = POLLOUT;
    }
    switch (c->phase) {
    case RLT_SHUT: return;
    case RLT_CONNECTING: return;
    case RLT_SHAKING: events = c->shake_wants; break;
    case RLT_CONNECTED: events = socket_events(r, c); break;
    }
    w[0].fd = events != 0 ? c->fd : -1;
    w[0].events = (short)events;
}

RELET_PRIVATE void rlt_socket_turn(relet *r, rlt_socket *c, unsigned ready,
                                   relet_time now)
{
    switch (c->phase) {
    case RLT_SHUT:
        return;
    case RLT_CONNECTING:
        socket_dialed(r, c, rlt_connect_turn(&c->dial, ready, now), now);
        return;
    case RLT_SHAKING:
        socket_shake(r, c, now);
        return;
    case RLT_CONNECTED:
        if (ready != 0)
            c->blocked = 0;
        if (ready != 0 || c->more || c->broken)
            socket_read(r, c);
        rlt_socket_write(r, c); /* reading may queue more output */
        return;
    }
}

RELET_PRIVATE relet_time rlt_socket_deadline(const rlt_socket *c)
{
    switch (c->phase) {
    case RLT_SHUT: break;
    case RLT_CONNECTING: return rlt_connect_deadline(&c->dial);
    case RLT_SHAKING: return c->io.deadline;
    case RLT_CONNECTED: return c->more || c->broken ? 0 : RELET_NEVER;
    }
    return RELET_NEVER;
}

#endif /* RELET_NO_POLL */
