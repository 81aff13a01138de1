/* SPDX-License-Identifier: MIT
 *
 * members.h - many clients in one poll set, each with one lease at a time.
 *
 * Client i is members[i]; poll watches it at watched[i]. */
#ifndef T_MEMBERS_H
#define T_MEMBERS_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relet.h"

#define MEMBERS 1001

static void die(const char *why, const char *detail)
{
    fprintf(stderr, "lease_bench: %s%s%s\n", why, *detail ? ": " : "", detail);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

typedef struct member {
    relet *r;
    relet_time due;     /* time of its next turn without an event            */
    uint64_t bytes_out; /* bytes_out at its last turn                        */
    long sent;          /* how often bytes_out has grown                     */
    int lease;
    int leads, ended;
    double gained_us;
} member;

static char server[64];
static member members[MEMBERS];
static struct pollfd watched[MEMBERS];
static int member_count;

static relet *client_open(void)
{
    relet_fault fault;
    relet_event ev;
    relet *r = relet_open(server, NULL, NULL, &fault);

    if (r == NULL)
        die("relet_open", fault.text);
    if (relet_wait(r, &ev, 5000) != 1 || ev.kind != RELET_EV_UP)
        die("no connection", server);
    return r;
}

/* The first descriptor is for relet_wake; an open link adds one more. */
static void member_watch(int i)
{
    member *m = &members[i];
    relet_watch w[RELET_WATCH_MAX];
    int ms = relet_poll_timeout(m->r);

    if (relet_watches(m->r, w, RELET_WATCH_MAX) != 2)
        die("a link broke", "");
    watched[i].fd = w[1].fd;
    watched[i].events = w[1].events;
    m->due = ms < 0 ? RELET_NEVER : relet_clock() + ms;
}

static void member_count_sent(member *m)
{
    relet_stats s;

    relet_stats_get(m->r, &s);
    m->sent += s.bytes_out != m->bytes_out;
    m->bytes_out = s.bytes_out;
}

static void member_serve(int i)
{
    member *m = &members[i];
    relet_event ev;

    while (relet_wait(m->r, &ev, 0) == 1) {
        if (ev.kind == RELET_EV_LEASE_GAINED) {
            m->gained_us = now_us();
            m->leads = 1;
        } else if (ev.kind == RELET_EV_LEASE_ENDED) {
            m->ended = 1;
        } else if (ev.kind != RELET_EV_LEASE_LOST) {
            die("not expected", relet_kind_text(ev.kind));
        }
    }
    member_count_sent(m);
    member_watch(i);
}

static void members_open(int n)
{
    for (member_count = 0; member_count < n; member_count++) {
        memset(&members[member_count], 0, sizeof members[0]);
        members[member_count].r = client_open();
        member_serve(member_count);
    }
}

static void members_close(void)
{
    while (member_count > 0)
        relet_close(members[--member_count].r);
}

static void member_start(int i, const char *name, relet_time ttl_ms)
{
    relet_lease_config c;

    memset(&c, 0, sizeof c);
    c.name = relet_str(name);
    c.ttl_ms = ttl_ms;
    members[i].leads = members[i].ended = 0;
    members[i].lease = relet_lease_start(members[i].r, &c);
    if (members[i].lease < 0)
        die("relet_lease_start", relet_refusal(members[i].r));
    member_serve(i);
}

/* Stops a client that waits for its lease. */
static void member_give_up(int i)
{
    if (relet_lease_stop(members[i].r, members[i].lease) != 0)
        die("relet_lease_stop", relet_refusal(members[i].r));
    member_serve(i);
}

/* Releases the lease of a client that leads. */
static void member_leave(int i)
{
    if (relet_lease_work_done(members[i].r, members[i].lease) != 0)
        die("relet_lease_work_done", relet_refusal(members[i].r));
    member_serve(i);
}

static int members_pause(relet_time until)
{
    relet_time due = until, now = relet_clock();
    int i;

    for (i = 0; i < member_count; i++)
        due = members[i].due < due ? members[i].due : due;
    if (due == RELET_NEVER)
        return -1;
    return due > now ? (int)(due - now) : 0;
}

/* Waits until a client has something to do, or until that time, and does it. */
static void members_turn(relet_time until)
{
    int i, n = poll(watched, (nfds_t)member_count, members_pause(until));
    relet_time now = relet_clock();

    if (n < 0 && errno != EINTR)
        die("poll", strerror(errno));
    for (i = 0; i < member_count; i++)
        if ((n > 0 && watched[i].revents != 0) || members[i].due <= now)
            member_serve(i);
}

static void members_run(relet_time ms)
{
    relet_time until = relet_clock() + ms;

    while (relet_clock() < until)
        members_turn(until);
}

static int members_leading(void)
{
    int i, n = 0;

    for (i = 0; i < member_count; i++)
        n += members[i].leads;
    return n;
}

#endif
