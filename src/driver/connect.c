/* SPDX-License-Identifier: MIT
 *
 * connect.c - opening sockets: addresses, options, and the race between the
 * attempts to connect. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_CLOEXEC, TCP_USER_TIMEOUT */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "connect.h"

#ifndef RELET_NO_POLL

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

/* RELET_POLL_PLAIN: use only POSIX, so that any system can test that. */
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK) && \
    !defined(RELET_POLL_PLAIN)
#define CONNECT_SOCKET_FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)
#else
#define CONNECT_SOCKET_FLAGS 0
#endif

#define CONNECT_KEEPALIVE_S_MAX 32767 /* the most that Linux takes       */
#define CONNECT_ADDRESSES 8 /* of one name; more are ignored             */
#define CONNECT_STAGGER_MS 250 /* RFC 8305: pause before one more        */
#define CONNECT_BACKLOG_MS 20 /* pause when a Unix listener is full        */

typedef struct rlt_connect_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } u;
    socklen_t len;
} rlt_connect_address;

/* -------------------------------------------------------------- descriptors */

RELET_PRIVATE int rlt_connect_prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return -1;
    flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

RELET_PRIVATE void rlt_connect_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void connect_drop(rlt_connect *d, int i)
{
    rlt_watchset_drop(d->set, d->fd[i]);
    rlt_connect_close(&d->fd[i]);
}

static void connect_option(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, (socklen_t)sizeof value);
}

/* A refused option never fails a connect: a descriptor from the caller need
 * not be TCP, and an old system may not know every option. */
RELET_PRIVATE void rlt_connect_options(int fd, int keepalive_s)
{
    int idle;

#ifdef SO_NOSIGPIPE
    connect_option(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
    connect_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (keepalive_s <= 0)
        return;
    idle = RLT_MIN(keepalive_s, CONNECT_KEEPALIVE_S_MAX);
    (void)idle; /* unused if no option takes it */
    connect_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#if defined(TCP_KEEPIDLE)
    connect_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
#elif defined(TCP_KEEPALIVE)
    connect_option(fd, IPPROTO_TCP, TCP_KEEPALIVE, idle);
#endif
#ifdef TCP_KEEPINTVL
    connect_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, RLT_MAX(idle / 3, 1));
#endif
#ifdef TCP_KEEPCNT
    connect_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
#ifdef TCP_USER_TIMEOUT /* as keepalive, but for bytes not acknowledged */
    connect_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, idle * 2000);
#endif
}

/* Connecting to a port of this machine's outgoing range that has no listener
 * can connect the socket to itself: all bytes sent come back. Such a connection
 * counts as refused. */
static int connect_meets_itself(int fd)
{
    rlt_connect_address a, b;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    a.len = b.len = (socklen_t)sizeof a.u;
    if (getsockname(fd, &a.u.any, &a.len) != 0 ||
        getpeername(fd, &b.u.any, &b.len) != 0 ||
        a.u.any.sa_family == AF_UNIX)
        return 0;
    return a.len == b.len && memcmp(&a.u, &b.u, (size_t)a.len) == 0;
}

/* ---------------------------------------------------------------- addresses */

static void connect_add(rlt_connect *d, const void *p, size_t n, int port)
{
    rlt_connect_address *a = &d->address[d->count];

    if (n > sizeof a->u || d->count == CONNECT_ADDRESSES)
        return;
    memset(a, 0, sizeof *a);
    memcpy(&a->u, p, n);
    a->len = (socklen_t)n;
    if (a->u.any.sa_family == AF_INET)
        a->u.v4.sin_port = htons((uint16_t)port);
    else if (a->u.any.sa_family == AF_INET6)
        a->u.v6.sin6_port = htons((uint16_t)port);
    d->count++;
}

RELET_PRIVATE int rlt_connect_path_fits(const char *path)
{
    return strlen(path) < sizeof(((struct sockaddr_un *)0)->sun_path);
}

/* A path or, after a leading @, an abstract name without a file. */
static void connect_add_path(rlt_connect *d, const char *path)
{
    struct sockaddr_un a;
    size_t n = strlen(path);

    rlt_assert(rlt_connect_path_fits(path));
    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    memcpy(a.sun_path, path, n);
    n += offsetof(struct sockaddr_un, sun_path);
    if (a.sun_path[0] == '@')
        a.sun_path[0] = '\0'; /* the length is part of the name */
    else
        n++;
    connect_add(d, &a, n, 0);
}

/* Numeric addresses bypass the resolver: a static program may have none. */
static int connect_add_number(rlt_connect *d, const relet_io *to)
{
    rlt_connect_address a;

    memset(&a, 0, sizeof a);
    if (inet_pton(AF_INET, to->host, &a.u.v4.sin_addr) == 1) {
        a.u.v4.sin_family = AF_INET;
        connect_add(d, &a.u, sizeof a.u.v4, to->port);
    } else if (inet_pton(AF_INET6, to->host, &a.u.v6.sin6_addr) == 1) {
        a.u.v6.sin6_family = AF_INET6;
        connect_add(d, &a.u, sizeof a.u.v6, to->port);
    }
    return d->count > 0;
}

static const struct addrinfo *connect_seek(const struct addrinfo *a, int family,
                                           int same)
{
    while (a != NULL && (a->ai_family == family) != same)
        a = a->ai_next;
    return a;
}

/* The resolver's order, but with alternating address families: a family that
 * is unreachable costs one stagger, not one for each of its addresses. */
static void connect_add_list(rlt_connect *d, const struct addrinfo *list,
                             int port)
{
    const struct addrinfo *a[2];
    int family = list->ai_family;
    int k = 0;

    a[0] = list;
    a[1] = connect_seek(list, family, 0);
    for (; a[0] != NULL || a[1] != NULL; k = !k) {
        if (a[k] == NULL)
            continue;
        connect_add(d, a[k]->ai_addr, (size_t)a[k]->ai_addrlen, port);
        a[k] = connect_seek(a[k]->ai_next, family, !k);
    }
}

static int connect_lost(rlt_connect *d, const char *step, const char *why)
{
    if (RLT_HAS_TEXT) {
        d->step = step;
        d->why = why != NULL ? why : strerror(d->err);
    }
    rlt_connect_stop(d);
    return RLT_CONNECT_LOST;
}

static int connect_look_up(rlt_connect *d, const relet_io *to)
{
    struct addrinfo want, *list = NULL;
    int err;

    memset(&want, 0, sizeof want);
    want.ai_socktype = SOCK_STREAM;
    err = getaddrinfo(to->host, NULL, &want, &list);
    if (err != 0) {
        d->err = err == EAI_SYSTEM ? errno : EHOSTUNREACH;
        return connect_lost(d, "look up",
                            !RLT_HAS_TEXT || err == EAI_SYSTEM
                                ? NULL
                                : gai_strerror(err));
    }
    connect_add_list(d, list, to->port);
    freeaddrinfo(list);
    return RLT_CONNECT_ON;
}

/* ----------------------------------------------------------------- the race */

static int connect_racers(const rlt_connect *d)
{
    int i, n = 0;

    for (i = 0; i < RLT_CONNECT_RACERS; i++)
        n += d->fd[i] >= 0;
    return n;
}

/* Returns a place for one more attempt. If all are taken, the oldest attempt
 * is dropped: three silent addresses must not block a fourth. */
static int connect_place(rlt_connect *d)
{
    int i, oldest = 0;

    for (i = 0; i < RLT_CONNECT_RACERS; i++) {
        if (d->fd[i] < 0)
            return i;
        if (d->born[i] < d->born[oldest])
            oldest = i;
    }
    connect_drop(d, oldest);
    return oldest;
}

/* While a place is free, the next address starts after one stagger. When all
 * are taken, the remaining addresses share the remaining time. */
static relet_time connect_pace(const rlt_connect *d, relet_time now)
{
    if (connect_racers(d) < RLT_CONNECT_RACERS)
        return now + CONNECT_STAGGER_MS;
    return now + (d->deadline - now) / (d->count - d->next + 1);
}

/* Takes the result of an attempt that has ended: 1 if it is connected. */
static int connect_look(rlt_connect *d, relet_time now, int i)
{
    int err = 0;
    socklen_t n = (socklen_t)sizeof err;

    if (getsockopt(d->fd[i], SOL_SOCKET, SO_ERROR, &err, &n) != 0)
        err = errno;
    if (err == 0 && connect_meets_itself(d->fd[i]))
        err = ECONNREFUSED;
    if (err == 0)
        return 1;
    d->err = err;
    connect_drop(d, i);
    d->next_at = now;
    return 0;
}

/* Start one attempt: 1 when it is connected at once. */
static int connect_try(rlt_connect *d, relet_time now, int i)
{
    const rlt_connect_address *a = &d->address[d->next];

    d->born[i] = d->next++;
    d->next_at = now;
    d->fd[i] =
        socket(a->u.any.sa_family, SOCK_STREAM | CONNECT_SOCKET_FLAGS, 0);
    if (d->fd[i] >= 0 &&
        (CONNECT_SOCKET_FLAGS != 0 || rlt_connect_prepare(d->fd[i]) == 0)) {
        rlt_connect_options(d->fd[i], d->keepalive_s);
        if (connect(d->fd[i], &a->u.any, a->len) == 0)
            return connect_look(d, now, i);
        if (errno == EINPROGRESS || errno == EINTR) {
            d->next_at = connect_pace(d, now);
            return 0;
        }
    }
    d->err = errno;
    connect_drop(d, i);
    if (d->err == EAGAIN && a->u.any.sa_family == AF_UNIX) {
        d->next--; /* the listener's backlog is full: try again */
        d->next_at = now + CONNECT_BACKLOG_MS;
    }
    return 0;
}

static int connect_won(rlt_connect *d, int i)
{
    int fd = d->fd[i];

    d->fd[i] = -1;
    rlt_connect_stop(d);
    return fd;
}

RELET_PRIVATE int rlt_connect_turn(rlt_connect *d, unsigned ready,
                                   relet_time now)
{
    int i;

    for (i = 0; i < RLT_CONNECT_RACERS; i++)
        if (d->fd[i] >= 0 && (ready >> i & 1) != 0 && connect_look(d, now, i))
            return connect_won(d, i);
    while (d->next < d->count && now >= d->next_at) {
        i = connect_place(d);
        if (connect_try(d, now, i))
            return connect_won(d, i);
    }
    if (connect_racers(d) == 0 && d->next == d->count)
        return connect_lost(d, "connect to", NULL);
    if (now < d->deadline)
        return RLT_CONNECT_ON;
    d->err = ETIMEDOUT;
    return connect_lost(d, "connect to", "timed out");
}

RELET_PRIVATE int rlt_connect_start(rlt_connect *d, const relet_io *to,
                                    relet_time now)
{
    rlt_connect_stop(d);
    d->deadline = to->deadline;
    d->next_at = now;
    d->address =
        (rlt_connect_address *)calloc(CONNECT_ADDRESSES, sizeof *d->address);
    if (d->address == NULL) {
        d->err = ENOMEM;
        return connect_lost(d, "connect to", NULL);
    }
    if (to->scheme == RELET_UNIX)
        connect_add_path(d, to->host);
    else if (!connect_add_number(d, to) &&
             connect_look_up(d, to) == RLT_CONNECT_LOST)
        return RLT_CONNECT_LOST;
    d->err = EHOSTUNREACH; /* for a name without an address */
    return rlt_connect_turn(d, 0, now);
}

RELET_PRIVATE relet_time rlt_connect_deadline(const rlt_connect *d)
{
    if (d->next < d->count)
        return RLT_MIN(d->next_at, d->deadline);
    return d->deadline;
}

RELET_PRIVATE void rlt_connect_stop(rlt_connect *d)
{
    int i;

    for (i = 0; i < RLT_CONNECT_RACERS; i++)
        connect_drop(d, i);
    free(d->address);
    d->address = NULL;
    d->count = d->next = 0;
}

RELET_PRIVATE void rlt_connect_init(rlt_connect *d, int keepalive_s,
                                    rlt_watchset *set)
{
    int i;

    memset(d, 0, sizeof *d);
    for (i = 0; i < RLT_CONNECT_RACERS; i++)
        d->fd[i] = -1;
    d->keepalive_s = keepalive_s;
    d->set = set;
}

#endif /* RELET_NO_POLL */
