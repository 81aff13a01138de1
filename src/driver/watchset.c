/* SPDX-License-Identifier: MIT
 *
 * watchset.c - one descriptor for all that a client watches (relet_fd). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "watchset.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <poll.h>
#include <unistd.h>
#if defined(__linux__) && !defined(RELET_POLL_PLAIN)
#define WATCHSET_EPOLL 1
#include <sys/epoll.h>
#else
#define WATCHSET_EPOLL 0
#endif

RELET_PRIVATE void rlt_watchset_init(rlt_watchset *s)
{
    int i;

    memset(s, 0, sizeof *s);
    s->fd = -1;
    for (i = 0; i < RELET_WATCH_MAX; i++)
        s->in[i].fd = -1;
}

#if WATCHSET_EPOLL

static int watchset_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int watchset_control(const rlt_watchset *s, int op, relet_watch w)
{
    struct epoll_event e;

    memset(&e, 0, sizeof e);
    e.events = ((w.events & POLLIN) ? (uint32_t)EPOLLIN : 0u) |
               ((w.events & POLLOUT) ? (uint32_t)EPOLLOUT : 0u);
    return epoll_ctl(s->fd, op, w.fd, &e);
}

#define WATCHSET_ADD EPOLL_CTL_ADD
#define WATCHSET_CHANGE EPOLL_CTL_MOD
#define WATCHSET_REMOVE EPOLL_CTL_DEL

#else

enum { WATCHSET_ADD, WATCHSET_CHANGE, WATCHSET_REMOVE };

static int watchset_open(void)
{
    errno = ENOSYS;
    return -1;
}

static int watchset_control(const rlt_watchset *s, int op, relet_watch w)
{
    (void)s;
    (void)op;
    (void)w;
    return -1;
}

#endif

/* The index of a descriptor in a list, or -1. For fd -1: of a free place. */
static int watchset_find(const relet_watch *list, int fd)
{
    int i;

    for (i = 0; i < RELET_WATCH_MAX; i++)
        if (list[i].fd == fd)
            return i;
    return -1;
}

RELET_PRIVATE void rlt_watchset_drop(rlt_watchset *s, int fd)
{
    int i = s->fd >= 0 && fd >= 0 ? watchset_find(s->in, fd) : -1;

    if (i < 0)
        return;
    (void)watchset_control(s, WATCHSET_REMOVE, s->in[i]);
    s->in[i].fd = -1;
}

/* 0, or -1 and errno. */
static int watchset_want(rlt_watchset *s, relet_watch w)
{
    int i = watchset_find(s->in, w.fd), known = i >= 0;

    if (known && s->in[i].events == w.events)
        return 0;
    if (!known)
        i = watchset_find(s->in, -1);
    rlt_assert(i >= 0); /* the others were dropped */
    if (watchset_control(s, known ? WATCHSET_CHANGE : WATCHSET_ADD, w) != 0)
        return -1;
    s->in[i] = w;
    return 0;
}

RELET_PRIVATE int rlt_watchset_sync(rlt_watchset *s, const relet_watch *w)
{
    int i;

    if (s->fd < 0)
        s->fd = watchset_open();
    if (s->fd < 0)
        return -1;
    for (i = 0; i < RELET_WATCH_MAX; i++)
        if (s->in[i].fd >= 0 && watchset_find(w, s->in[i].fd) < 0)
            rlt_watchset_drop(s, s->in[i].fd);
    for (i = 0; i < RELET_WATCH_MAX; i++)
        if (w[i].fd >= 0 && watchset_want(s, w[i]) != 0)
            return -1;
    return s->fd;
}

RELET_PRIVATE void rlt_watchset_forget(rlt_watchset *s)
{
    int i;

    for (i = 0; i < RELET_WATCH_MAX; i++)
        s->in[i].fd = -1;
}

RELET_PRIVATE void rlt_watchset_close(rlt_watchset *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    rlt_watchset_init(s);
}

#endif /* RELET_NO_POLL */
