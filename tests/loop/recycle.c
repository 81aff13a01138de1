/* SPDX-License-Identifier: MIT
 *
 * recycle.c - a foreign loop in which the program gets the descriptor numbers
 * that the client has just closed.
 *
 *     recycle TURNS       with epoll, or with libuv when made with -DWITH_UV
 *
 * This program is the server as well. In each turn it ends the client's link,
 * opens a pipe whose reading end gets the number of that link, and watches it
 * in the same loop. The client has to come up again over another number, and
 * the loop has to tell of the client and of all pipes. Prints what was wrong;
 * 0: nothing was. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

#include "relet.h"

#define PIPES_MAX 16
#define LOOP_MS 20

static const char hello[] =
    "%3\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+proto\r\n:3\r\n"
    "+OK\r\n+OK\r\n+PONG\r\n";

static relet *r;
static int seen[32];           /* events, by kind                            */
static int pipes[PIPES_MAX][2];
static int heard[PIPES_MAX];   /* bytes of each pipe                         */
static int pipes_n, recycled;

static void die(const char *what)
{
    fprintf(stderr, "recycle: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void drain_client(void)
{
    relet_event ev;

    while (relet_wait(r, &ev, 0) == 1)
        seen[ev.kind]++;
}

static void drain_pipe(int i)
{
    char byte;

    if (read(pipes[i][0], &byte, 1) == 1)
        heard[i]++;
}

/* ------------------------------------------------------------ the two loops
 *
 * loop_begin once, loop_add for each pipe, loop_turn for one short sleep. */

#ifdef WITH_UV

#include <uv.h>

static uv_poll_t client_handle, pipe_handle[PIPES_MAX];
static uv_timer_t due;

static void on_client(uv_poll_t *h, int status, int events)
{
    (void)h;
    (void)status;
    (void)events;
    drain_client();
}

static void on_pipe(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    drain_pipe((int)(h - pipe_handle));
}

static void on_due(uv_timer_t *h)
{
    (void)h;
}

static void loop_begin(void)
{
    if (uv_poll_init(uv_default_loop(), &client_handle, relet_fd(r)) != 0 ||
        uv_poll_start(&client_handle, UV_READABLE, on_client) != 0)
        die("uv_poll_init");
    uv_timer_init(uv_default_loop(), &due);
}

static void loop_add(int i)
{
    if (uv_poll_init(uv_default_loop(), &pipe_handle[i], pipes[i][0]) != 0 ||
        uv_poll_start(&pipe_handle[i], UV_READABLE, on_pipe) != 0)
        die("uv_poll_init of a pipe");
}

static void loop_turn(int ms)
{
    /* It repeats: one that is due already would not end the sleep. */
    uv_timer_start(&due, on_due, (uint64_t)ms, LOOP_MS);
    uv_run(uv_default_loop(), UV_RUN_ONCE);
    uv_timer_stop(&due);
}

#else

#include <sys/epoll.h>

static int set;

static void loop_watch(int fd, int tag)
{
    struct epoll_event e;

    memset(&e, 0, sizeof e);
    e.events = EPOLLIN;
    e.data.u32 = (uint32_t)tag;
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) != 0)
        die("epoll_ctl");
}

static void loop_begin(void)
{
    set = epoll_create1(EPOLL_CLOEXEC);
    loop_watch(relet_fd(r), PIPES_MAX);
}

static void loop_add(int i)
{
    loop_watch(pipes[i][0], i);
}

static void loop_turn(int ms)
{
    struct epoll_event e[4];
    int i, n = epoll_wait(set, e, 4, ms);

    for (i = 0; i < n; i++)
        if (e[i].data.u32 == PIPES_MAX)
            drain_client();
        else
            drain_pipe((int)e[i].data.u32);
}

#endif

/* ------------------------------------------------------------------- server */

static int listener, link_fd = -1;

static int serve_begin(void)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&a, n) != 0 ||
        listen(listener, 4) != 0 ||
        getsockname(listener, (struct sockaddr *)&a, &n) != 0)
        die("a listener");
    return ntohs(a.sin_port);
}

/* Greet who came; answer PONG to whatever is said later. */
static void serve(void)
{
    static int greeted;
    char bytes[4096];
    long n;

    if (link_fd < 0) {
        link_fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        greeted = 0;
    }
    n = link_fd < 0 ? 0 : (long)read(link_fd, bytes, sizeof bytes);
    if (n > 0 && write(link_fd, greeted ? "+PONG\r\n" : hello,
                       greeted ? 7 : sizeof hello - 1) < 0)
        die("the server's answer");
    greeted |= n > 0;
}

/* ---------------------------------------------------------------- the turns */

/* Until so many events of this kind were told. */
static void until(relet_kind kind, int count)
{
    int turn, ms;

    for (turn = 0; seen[kind] < count; turn++) {
        if (turn == 500) {
            fprintf(stderr, "recycle: no %s\n", relet_kind_text(kind));
            exit(1);
        }
        serve();
        if (relet_poll_timeout(r) == 0)
            drain_client();
        (void)relet_fd(r);
        ms = relet_poll_timeout(r);
        loop_turn(ms >= 0 && ms < LOOP_MS ? ms : LOOP_MS);
    }
}

/* The number of the client's link. */
static int link_number(void)
{
    relet_watch w[RELET_WATCH_MAX];
    int n = relet_watches(r, w, RELET_WATCH_MAX);

    if (n != 2)
        die("the client has no link to watch");
    return w[1].fd;
}

static void turn(int i)
{
    int was, fd = relet_fd(r);

    until(RELET_EV_UP, i + 1);
    was = link_number();
    relet_command_text(r, NULL, "PING", (char *)NULL);
    until(RELET_EV_REPLY, i + 1);
    shutdown(link_fd, SHUT_RDWR); /* its own number stays taken */
    until(RELET_EV_DOWN, i + 1);
    drain_client();
    if (pipe2(pipes[i], O_NONBLOCK | O_CLOEXEC) != 0)
        die("pipe");
    recycled += pipes[i][0] == was; /* else the client has it again already */
    close(link_fd);
    link_fd = -1;
    pipes_n = i + 1;
    loop_add(i);
    if (relet_fd(r) != fd)
        die("relet_fd has changed");
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 8, i;
    char url[64];

    snprintf(url, sizeof url,
             "redis://127.0.0.1:%d?retry_min_ms=200&retry_max_ms=200",
             serve_begin());
    r = relet_open(url, NULL, NULL, NULL);
    if (r == NULL || turns < 1 || turns > PIPES_MAX)
        die("relet_open");
    loop_begin();
    for (i = 0; i < turns; i++)
        turn(i);
    if (recycled < (turns + 1) / 2)
        die("numbers of links were not given again");
    until(RELET_EV_UP, turns + 1);
    relet_command_text(r, NULL, "PING", (char *)NULL);
    until(RELET_EV_REPLY, turns + 1);
    for (i = 0; i < pipes_n; i++)
        if (write(pipes[i][1], "x", 1) != 1)
            die("write");
    for (i = 0; i < 2 * pipes_n; i++)
        loop_turn(LOOP_MS);
    for (i = 0; i < pipes_n; i++)
        if (heard[i] != 1)
            die("the loop does not tell of a pipe");
    relet_close(r);
    return 0;
}
