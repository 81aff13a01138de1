/* SPDX-License-Identifier: MIT
 *
 * turn.c - a turn of the driver for POSIX systems. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "turn.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>
#if defined(__linux__) && !defined(RELET_POLL_PLAIN)
#define TURN_EVENTFD 1
#include <sys/eventfd.h>
#else
#define TURN_EVENTFD 0
#endif

RELET_PRIVATE rlt_driver *rlt_driver_of(const relet *r)
{
    rlt_driver *d = (rlt_driver *)rlt_client_driver(r);

    rlt_assert(d != NULL);
    return d;
}

/* ---------------------------------------------------------------- waking up */

RELET_PRIVATE int rlt_turn_wake_open(rlt_driver *d)
{
#if TURN_EVENTFD
    d->wake_in = d->wake_out = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return d->wake_in < 0 ? -1 : 0;
#else
    int fd[2];

    if (pipe(fd) != 0)
        return -1;
    d->wake_in = fd[0];
    d->wake_out = fd[1];
    return rlt_connect_prepare(fd[0]) != 0 ? -1 : rlt_connect_prepare(fd[1]);
#endif
}

RELET_PRIVATE void rlt_turn_wake_close(rlt_driver *d)
{
    if (d->wake_out != d->wake_in)
        rlt_connect_close(&d->wake_out);
    rlt_connect_close(&d->wake_in);
}

static void turn_wake_take(rlt_driver *d)
{
    uint64_t bytes[8];

    while (read(d->wake_in, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    d->woken = 1;
}

/* A store answers at once, so that relet_wait may return before any turn.
 * Therefore tick here. */
static void turn_serve_store(relet *r, rlt_driver *d)
{
    relet_io io;

    relet_store_move(RLT_TURN_STORE(d));
    relet_tick(r, d->now);
    while (relet_io_want(r, &io)) {
        relet_store_wish(RLT_TURN_STORE(d), r, &io);
        relet_store_move(RLT_TURN_STORE(d));
    }
}

RELET_PRIVATE void rlt_turn_serve(relet *r)
{
    rlt_driver *d = rlt_driver_of(r);
    relet_io io;
    int i;

    if (RLT_TURN_STORE(d) != NULL) {
        turn_serve_store(r, d);
        return;
    }
    while (relet_io_want(r, &io))
        rlt_socket_want(r, &d->link[io.link], &io);
    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_socket_write(r, &d->link[i]);
}

/* The places of link i in what is watched. */
static int turn_place(int i)
{
    return 1 + i * RLT_CONNECT_RACERS;
}

RELET_PRIVATE void rlt_turn_watch(relet *r, rlt_driver *d, relet_watch *w)
{
    int i;

    w[0].fd = d->wake_in;
    w[0].events = POLLIN;
    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_socket_watch(r, &d->link[i], w + turn_place(i));
}

RELET_PRIVATE relet_time rlt_turn_due(const relet *r, const rlt_driver *d)
{
    relet_time due = relet_deadline(r);
    int i;

    if (RLT_TURN_STORE(d) != NULL)
        return RLT_MIN(due, relet_store_deadline(RLT_TURN_STORE(d)));
    for (i = 0; i < RELET_LINKS_MAX; i++)
        due = RLT_MIN(due, rlt_socket_deadline(&d->link[i]));
    return due;
}

RELET_PRIVATE int rlt_turn_pause(relet_time due, relet_time now)
{
    if (due == RELET_NEVER)
        return -1;
    if (due <= now)
        return 0;
    return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

/* Moves bytes on each link. Bit i of `ready`: the i-th place that is watched is
 * ready. */
static void turn_move(relet *r, rlt_driver *d, unsigned ready)
{
    unsigned mine = (1u << RLT_CONNECT_RACERS) - 1;
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_socket_turn(r, &d->link[i], ready >> turn_place(i) & mine, d->now);
}

RELET_PRIVATE int rlt_turn_take(relet *r, relet_time until)
{
    rlt_driver *d = rlt_driver_of(r);
    int pause_ms = rlt_turn_pause(RLT_MIN(rlt_turn_due(r, d), until), d->now);
    relet_watch w[RELET_WATCH_MAX];
    struct pollfd p[RELET_WATCH_MAX];
    unsigned ready = 0;
    int i, n;

    rlt_turn_watch(r, d, w);
    for (i = 0; i < RELET_WATCH_MAX; i++) {
        p[i].fd = w[i].fd;
        p[i].events = w[i].events;
        p[i].revents = 0;
    }
    n = poll(p, RELET_WATCH_MAX, pause_ms);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        return RELET_E_SYSTEM;
    for (i = 0; n > 0 && i < RELET_WATCH_MAX; i++)
        ready |= (p[i].revents != 0 ? 1u : 0u) << i;
    d->now = relet_clock();
    if (ready & 1)
        turn_wake_take(d);
    if (RLT_TURN_STORE(d) != NULL)
        relet_store_move(RLT_TURN_STORE(d));
    else
        turn_move(r, d, ready);
    relet_tick(r, d->now);
    return 0;
}

RELET_PRIVATE int rlt_turn_look_foreign(relet *r)
{
    return rlt_origin_look(&rlt_driver_of(r)->origin, r);
}

RELET_PRIVATE relet_time rlt_turn_now(const relet *r)
{
    return rlt_driver_of(r)->now;
}

RELET_PRIVATE relet_time rlt_turn_until(relet *r, relet_time ms)
{
    rlt_driver *d = rlt_driver_of(r);

    d->now = relet_clock();
    return ms < 0 || ms > RELET_NEVER - d->now ? RELET_NEVER : d->now + ms;
}

RELET_PRIVATE int rlt_turn_is_over(const relet *r)
{
    return rlt_route_is_over(&r->route) && relet_deadline(r) == RELET_NEVER;
}

#endif /* RELET_NO_POLL */
