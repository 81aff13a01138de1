/* SPDX-License-Identifier: MIT
 *
 * server_proxy.h - a TCP proxy between a client and its server, for faults.
 *
 * The proxy runs in the loop of server_rig.h. It can cut the first link after
 * an exact number of bytes in one direction, carry one byte at a time, and stop
 * carrying bytes without closing a link. */
#ifndef T_SERVER_PROXY_H
#define T_SERVER_PROXY_H

#include "server_rig.h"

#define T_PIPE 16384

enum { T_THERE, T_BACK }; /* towards the server, towards the client */

typedef struct t_pipe {
    char bytes[T_PIPE];
    size_t at, n;
    uint64_t carried;
} t_pipe;

typedef struct t_link {
    int fd[2]; /* the client's, the server's; -1: no such link          */
    int first; /* this link is the one to cut                           */
    t_pipe pipe[2];
} t_link;

static struct {
    int open; /* there is a proxy                                       */
    int listener, port;
    int64_t cut[2]; /* cut after so many bytes; below 0: never          */
    int one_byte;
    int mute; /* no bytes pass                                          */
    int accepted;
    uint64_t carried[2]; /* over the first link                         */
    t_link link[T_LINKS];
} t_proxy;

static inline void t_proxy_open(void)
{
    int i;

    memset(&t_proxy, 0, sizeof t_proxy);
    for (i = 0; i < T_LINKS; i++)
        t_proxy.link[i].fd[0] = t_proxy.link[i].fd[1] = -1;
    t_proxy.cut[0] = t_proxy.cut[1] = -1;
    t_proxy.open = 1;
    t_proxy.listener = t_bind_loopback(&t_proxy.port);
    T(listen(t_proxy.listener, 16) == 0);
}

static inline void t_link_cut(t_link *l)
{
    (void)close(l->fd[0]);
    (void)close(l->fd[1]);
    l->fd[0] = l->fd[1] = -1;
}

static inline void t_proxy_close(void)
{
    int i;

    if (!t_proxy.open)
        return;
    for (i = 0; i < T_LINKS; i++)
        if (t_proxy.link[i].fd[0] >= 0)
            t_link_cut(&t_proxy.link[i]);
    (void)close(t_proxy.listener);
    t_proxy.open = 0;
}

/* Opens a client whose links go through the proxy. */
static inline t_client *t_open_proxied(const relet_config *g)
{
    relet_config own = *g;

    own.scheme = RELET_TCP;
    own.port = t_proxy.port;
    (void)snprintf(own.host, sizeof own.host, "127.0.0.1");
    return t_open_at(&own);
}

static inline void t_proxy_accept(void)
{
    t_link *l = t_proxy.link;

    while (l < t_proxy.link + T_LINKS && l->fd[0] >= 0)
        l++;
    T(l < t_proxy.link + T_LINKS);
    memset(l, 0, sizeof *l);
    l->fd[0] = accept(t_proxy.listener, NULL, NULL);
    T(l->fd[0] >= 0);
    l->fd[1] = t_connect();
    l->first = t_proxy.accepted++ == 0;
    if (l->fd[1] < 0) {
        (void)close(l->fd[0]);
        l->fd[0] = -1;
        return;
    }
    (void)fcntl(l->fd[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(l->fd[1], F_SETFL, O_NONBLOCK);
}

static inline int64_t t_link_limit(const t_link *l, int way)
{
    if (!l->first || t_proxy.cut[way] < 0)
        return INT64_MAX;
    return t_proxy.cut[way] - (int64_t)l->pipe[way].carried;
}

static inline int t_proxy_watch(struct pollfd *p)
{
    int i, way, n = 0;

    if (!t_proxy.open)
        return 0;
    memset(p, 0, T_PROXY_FDS * sizeof *p);
    p[n].fd = t_proxy.listener;
    p[n++].events = POLLIN;
    for (i = 0; i < T_LINKS; i++)
        for (way = 0; way < 2; way++) {
            t_link *l = &t_proxy.link[i];

            p[n].fd = t_proxy.mute ? -1 : l->fd[way];
            if (l->pipe[way].n == 0)
                p[n].events |= POLLIN;
            if (l->pipe[!way].n > 0)
                p[n].events |= POLLOUT;
            n++;
        }
    return n;
}

/* Returns 0 if one side has ended. */
static inline int t_pipe_fill(t_link *l, int way)
{
    t_pipe *q = &l->pipe[way];
    long got;

    if (q->n > 0)
        return 1;
    got = (long)recv(l->fd[way], q->bytes, t_proxy.one_byte ? 1 : T_PIPE, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK;
    q->at = 0;
    q->n = (size_t)got;
    return got > 0;
}

static inline int t_pipe_empty(t_link *l, int way)
{
    t_pipe *q = &l->pipe[way];
    size_t n = q->n;
    long put;

    if ((int64_t)n > t_link_limit(l, way))
        n = (size_t)t_link_limit(l, way);
    put = n > 0 ? (long)send(l->fd[!way], q->bytes + q->at, n, MSG_NOSIGNAL)
                : 0;
    if (put < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK;
    q->at += (size_t)put;
    q->n -= (size_t)put;
    q->carried += (uint64_t)put;
    if (l->first)
        t_proxy.carried[way] = q->carried;
    return t_link_limit(l, way) > 0;
}

static inline void t_link_turn(t_link *l)
{
    int way;

    for (way = 0; way < 2; way++)
        if (!t_pipe_fill(l, way) || !t_pipe_empty(l, way)) {
            t_link_cut(l);
            return;
        }
}

static inline void t_proxy_turn(const struct pollfd *p, int n)
{
    int i;

    if (n == 0)
        return;
    for (i = 0; i < T_LINKS; i++)
        if (!t_proxy.mute && t_proxy.link[i].fd[0] >= 0 &&
            (p[1 + 2 * i].revents || p[2 + 2 * i].revents))
            t_link_turn(&t_proxy.link[i]);
    if (p[0].revents)
        t_proxy_accept();
}

#endif
