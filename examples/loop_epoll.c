/* SPDX-License-Identifier: MIT
 *
 * loop_epoll.c - a client in an epoll loop that is the program's own.
 *
 *     cc loop_epoll.c relet.c -o loop_epoll
 *     ./loop_epoll redis://localhost 20
 *
 * Sends 20 ECHOs, one every 100 ms, and prints their outcomes. The
 * server may be restarted meanwhile. The client's descriptor is added once:
 * relet_fd is the same for as long as the client is open. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* epoll and timers are not of POSIX */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "relet.h"

static int left; /* ECHOs that have no outcome yet */

/* Prints all events of the client. */
static void tell(relet *r)
{
    relet_event ev;

    while (relet_wait(r, &ev, 0) == 1) {
        int reply = ev.kind == RELET_EV_REPLY;
        relet_span text = reply ? relet_value_text(ev.value) : ev.text;

        printf("%s: %.*s\n", relet_kind_text(ev.kind), (int)text.n, text.p);
        if (ev.kind >= RELET_EV_REPLY && ev.kind <= RELET_EV_UNSURE)
            left--;
    }
    fflush(stdout);
}

static int add(int set, int fd)
{
    struct epoll_event e = {0};

    e.events = EPOLLIN;
    e.data.fd = fd;
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
}

/* The program's own work: a timer, which goes off every 100 ms. */
static int ticker(void)
{
    struct itimerspec t = {{0, 100000000}, {0, 100000000}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    return fd >= 0 && timerfd_settime(fd, 0, &t, NULL) == 0 ? fd : -1;
}

int main(int argc, char **argv)
{
    relet_fault fault;
    relet *r = relet_open(argc > 1 ? argv[1] : NULL, NULL, NULL, &fault);
    int set = epoll_create1(EPOLL_CLOEXEC), tick = ticker(), i, n;
    int to_send = argc > 2 ? atoi(argv[2]) : 20;
    struct epoll_event e[4];
    unsigned long long times;

    if (r == NULL)
        return fprintf(stderr, "%s\n", fault.text), 2;
    if (set < 0 || tick < 0 || add(set, tick) != 0 ||
        add(set, relet_fd(r)) != 0)
        return perror("epoll"), 2;
    left = to_send;
    while (left > 0) {
        (void)relet_fd(r); /* the same number: it is brought up to date */
        n = epoll_wait(set, e, 4, relet_poll_timeout(r));
        for (i = 0; i < n; i++)
            if (e[i].data.fd == tick && to_send > 0 &&
                read(tick, &times, sizeof times) > 0) {
                relet_command_text(r, NULL, "ECHO", "hello", (char *)NULL);
                to_send--;
            }
        tell(r);
    }
    close(set);
    close(tick);
    relet_close(r);
    return 0;
}
