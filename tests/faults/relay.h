/* SPDX-License-Identifier: MIT
 *
 * relay.h - carries bytes between two sockets: with a delay, or up to a
 * limit. */
#ifndef T_RELAY_H
#define T_RELAY_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_CHUNKS 16
#define RELAY_CHUNK 4096

typedef struct relay_chunk {
    int64_t due; /* in the time of the caller's clock                       */
    size_t at, n;
    char bytes[RELAY_CHUNK];
} relay_chunk;

/* One direction: a ring of chunks, first in first out. */
typedef struct relay_pipe {
    relay_chunk chunk[RELAY_CHUNKS];
    unsigned first, count;
    int64_t last_due;
    int64_t carried;
    int64_t limit; /* the link is cut after so many bytes; below 0: never   */
    int ended;
} relay_pipe;

typedef struct relay {
    int fd[2];          /* pipe[w] carries from fd[w] to fd[!w]; -1: closed */
    relay_pipe pipe[2];
} relay;

static inline void relay_open(relay *l, int a, int b)
{
    int w;

    l->fd[0] = a;
    l->fd[1] = b;
    for (w = 0; w < 2; w++) {
        (void)fcntl(l->fd[w], F_SETFL, O_NONBLOCK);
        l->pipe[w].first = l->pipe[w].count = 0;
        l->pipe[w].last_due = l->pipe[w].carried = 0;
        l->pipe[w].limit = -1;
        l->pipe[w].ended = 0;
    }
}

static inline void relay_cut(relay *l)
{
    if (l->fd[0] < 0)
        return;
    (void)close(l->fd[0]);
    (void)close(l->fd[1]);
    l->fd[0] = l->fd[1] = -1;
}

static inline relay_chunk *relay_head(relay_pipe *q)
{
    return &q->chunk[q->first % RELAY_CHUNKS];
}

/* Fills in the descriptors to watch, and returns the time at which the next
 * chunk is due. */
static inline int64_t relay_watch(relay *l, struct pollfd p[2], int64_t now)
{
    int64_t due = INT64_MAX;
    int w;

    memset(p, 0, 2 * sizeof *p);
    for (w = 0; w < 2; w++) {
        relay_pipe *q = &l->pipe[w];

        if (q->count < RELAY_CHUNKS && !q->ended)
            p[w].events |= POLLIN;
    }
    for (w = 0; w < 2 && l->fd[0] >= 0; w++) {
        relay_pipe *q = &l->pipe[w];

        if (q->count > 0 && relay_head(q)->due <= now)
            p[!w].events |= POLLOUT;
        else if (q->count > 0 && relay_head(q)->due < due)
            due = relay_head(q)->due;
    }
    for (w = 0; w < 2; w++) /* else poll would repeat a hangup */
        p[w].fd = p[w].events ? l->fd[w] : -1;
    return due;
}

static inline void relay_fill(relay *l, int w, int64_t due)
{
    relay_pipe *q = &l->pipe[w];
    relay_chunk *c = &q->chunk[(q->first + q->count) % RELAY_CHUNKS];
    long got;

    if (q->ended || q->count == RELAY_CHUNKS)
        return;
    got = (long)recv(l->fd[w], c->bytes, sizeof c->bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return;
    if (got <= 0) {
        q->ended = 1;
        return;
    }
    c->at = 0;
    c->n = (size_t)got;
    c->due = q->last_due = due > q->last_due ? due : q->last_due;
    q->count++;
}

/* Writes the chunks that are due. Returns 0 if the other side has gone. */
static inline int relay_empty(relay *l, int w, int64_t now)
{
    relay_pipe *q = &l->pipe[w];

    while (q->count > 0 && relay_head(q)->due <= now) {
        relay_chunk *c = relay_head(q);
        size_t n = c->n - c->at;
        long put;

        if (q->limit >= 0 && (int64_t)n > q->limit - q->carried)
            n = (size_t)(q->limit - q->carried);
        put = n == 0 ? 0
                     : (long)send(l->fd[!w], c->bytes + c->at, n, MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        c->at += (size_t)put;
        q->carried += put;
        if (q->carried == q->limit)
            return 0;
        if (c->at == c->n) {
            q->first++;
            q->count--;
        }
    }
    return !(q->ended && q->count == 0);
}

/* Carries bytes; those that arrive now are due at due[]. Returns 0 if the link
 * has ended. */
static inline int relay_turn(relay *l, int64_t now, const int64_t due[2])
{
    int w;

    for (w = 0; w < 2 && l->fd[0] >= 0; w++) {
        relay_fill(l, w, due[w]);
        if (!relay_empty(l, w, now))
            relay_cut(l);
    }
    return l->fd[0] >= 0;
}

#endif
