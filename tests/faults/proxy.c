/* SPDX-License-Identifier: MIT
 *
 * proxy.c - a TCP proxy on loopback whose links are slow at random.
 *
 *   proxy SERVER_PORT SEED MEAN_MS MOST_MS >LOG
 *
 * Each chunk read is passed on after a random delay with an exponential
 * distribution around the mean; no chunk overtakes another. SIGHUP ends the
 * delays. The first line of the log tells the port. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>

#include "line.h"
#include "relay.h"

#define PROXY_LINKS 64

static relay links[PROXY_LINKS];
static uint64_t seed;
static double mean, most;
static volatile sig_atomic_t healed;

static void on_signal(int sig)
{
    (void)sig;
    healed = 1;
}

/* splitmix64 */
static uint64_t proxy_draw(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t proxy_delay(void)
{
    double u = (double)(proxy_draw() >> 11) / 9007199254740992.0;
    double ms = -mean * log(1 - u);

    return healed ? 0 : (int64_t)((ms < most ? ms : most) * 1e6);
}

/* Returns a socket bound to a port, or connected to one. */
static int proxy_socket(int port, int server)
{
    struct sockaddr_in a;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0), err;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    err = server ? bind(fd, (struct sockaddr *)&a, (socklen_t)sizeof a)
                 : connect(fd, (struct sockaddr *)&a, (socklen_t)sizeof a);
    if (err == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static int proxy_listen(void)
{
    int fd = proxy_socket(0, 1);
    struct sockaddr_in a;
    socklen_t n = (socklen_t)sizeof a;

    if (fd < 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        exit(2);
    line_say(line_clock(), "proxy", "ready 0 0 %d", ntohs(a.sin_port));
    return fd;
}

static void proxy_accept(int listener, int port)
{
    int fd = accept(listener, NULL, NULL), to = proxy_socket(port, 0), i;

    for (i = 0; i < PROXY_LINKS && links[i].fd[0] >= 0; i++)
        continue;
    if (fd >= 0 && to >= 0 && i < PROXY_LINKS) {
        relay_open(&links[i], fd, to);
        return;
    }
    (void)close(fd);
    (void)close(to);
}

static int proxy_pause(int64_t due, int64_t now)
{
    return due == INT64_MAX ? -1 : (int)((due - now) / 1000000) + 1;
}

static void proxy_turn(int listener, int port)
{
    struct pollfd p[1 + 2 * PROXY_LINKS];
    int64_t now = line_clock(), due = INT64_MAX, next, late[2];
    int i;

    p[0].fd = listener;
    p[0].events = POLLIN;
    p[0].revents = 0;
    for (i = 0; i < PROXY_LINKS; i++) {
        next = relay_watch(&links[i], p + 1 + 2 * i, now);
        due = next < due ? next : due;
    }
    if (poll(p, 1 + 2 * PROXY_LINKS, proxy_pause(due, now)) < 0)
        return; /* interrupted by a signal */
    now = line_clock();
    for (i = 0; i < PROXY_LINKS; i++) {
        late[0] = now + proxy_delay();
        late[1] = now + proxy_delay();
        (void)relay_turn(&links[i], now, late);
    }
    if (p[0].revents)
        proxy_accept(listener, port);
}

int main(int argc, char **argv)
{
    int listener, i;

    if (argc != 5)
        return 2;
    seed = (uint64_t)atol(argv[2]);
    mean = atof(argv[3]);
    most = atof(argv[4]);
    for (i = 0; i < PROXY_LINKS; i++)
        links[i].fd[0] = links[i].fd[1] = -1;
    (void)signal(SIGHUP, on_signal);
    listener = proxy_listen();
    for (;;)
        proxy_turn(listener, atoi(argv[1]));
}
