/* SPDX-License-Identifier: MIT
 *
 * poll_server.h - servers for the driver's tests, each a child process.
 *
 * They speak as much RESP3 as a client needs to come up, or deliberately
 * another protocol. A child ends on request, or when its parent is gone: then
 * its end of the leash, a pipe, reads as closed. */
#ifndef T_POLL_SERVER_H
#define T_POLL_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum t_manner {
    T_RESP3,
    T_RESP2, /* does not know HELLO                               */
    T_HTTP,  /* answers as a web server, and closes               */
    T_TLS,   /* answers with an alert, and closes                 */
    T_CLOSE, /* closes at once                                    */
    T_MUTE   /* takes everything and says nothing                 */
} t_manner;

typedef struct t_server {
    pid_t pid; /* 0: none                                         */
    int leash;
    int port;
    char path[100];
    volatile int *accepted; /* shared with the child: links taken  */
} t_server;

typedef struct t_peer {
    int fd;
    char *in;
    size_t n, cap;
} t_peer;

#define T_PEERS 32
#define T_ARGS 8

typedef struct t_arg {
    const char *p;
    size_t n;
} t_arg;

static const char t_hello[] =
    "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n"
    "$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:5\r\n$4\r\nmode\r\n$10\r\nstandalone"
    "\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

/* --------------------------------------------------------------- sockets */

static int t_listen(const struct sockaddr *a, size_t n, int backlog)
{
    int one = 1;
    int fd = socket(a->sa_family, SOCK_STREAM, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, a, (socklen_t)n) != 0 || listen(fd, backlog) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Opens a listener at an address of this machine. A *port of 0 is replaced by
 * the port chosen. Returns -1 if the machine has no such address. */
static int t_listen_tcp(const char *host, int *port, int backlog)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a;
    socklen_t n = (socklen_t)sizeof a.v4;
    int fd;

    memset(&a, 0, sizeof a);
    if (inet_pton(AF_INET, host, &a.v4.sin_addr) == 1) {
        a.v4.sin_family = AF_INET;
        a.v4.sin_port = htons((uint16_t)*port);
    } else {
        n = (socklen_t)sizeof a.v6;
        a.v6.sin6_family = AF_INET6;
        (void)inet_pton(AF_INET6, host, &a.v6.sin6_addr);
        a.v6.sin6_port = htons((uint16_t)*port);
    }
    fd = t_listen(&a.any, n, backlog);
    if (fd < 0 || getsockname(fd, &a.any, &n) != 0)
        return -1;
    *port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port
                                             : a.v6.sin6_port);
    return fd;
}

static inline int t_listen_unix(const char *path)
{
    union {
        struct sockaddr any;
        struct sockaddr_un local;
    } a;
    size_t n = strlen(path);

    memset(&a, 0, sizeof a);
    a.local.sun_family = AF_UNIX;
    memcpy(a.local.sun_path, path, n);
    if (path[0] == '@')
        a.local.sun_path[0] = '\0';
    else
        (void)unlink(path);
    return t_listen(&a.any, offsetof(struct sockaddr_un, sun_path) + n, 8);
}

/* --------------------------------------------------------------- the child */

static void t_send(t_peer *c, const char *p, size_t n)
{
    while (n > 0) {
        long put = (long)send(c->fd, p, n, MSG_NOSIGNAL);

        if (put < 0)
            return; /* the next read sees the error */
        p += put;
        n -= (size_t)put;
    }
}

static void t_send_bulk(t_peer *c, const char *p, size_t n)
{
    char head[32];
    int k = snprintf(head, sizeof head, "$%lu\r\n", (unsigned long)n);

    t_send(c, head, (size_t)k);
    t_send(c, p, n);
    t_send(c, "\r\n", 2);
}

static int t_is(t_arg a, const char *word)
{
    return a.n == strlen(word) && memcmp(a.p, word, a.n) == 0;
}

/* Reads the number behind a type byte. Returns the length of its line, or 0 if
 * the line is not complete. */
static size_t t_number(const char *p, size_t n, size_t *value)
{
    size_t i;

    *value = 0;
    for (i = 1; i + 1 < n; i++) {
        if (p[i] == '\r')
            return i + 2;
        *value = *value * 10 + (size_t)(p[i] - '0');
    }
    return 0;
}

/* Parses one complete command at p. Returns its length, or 0. */
static size_t t_command(const char *p, size_t n, t_arg *argv, size_t *argc)
{
    size_t i, len, step, at = t_number(p, n, argc);

    if (at == 0 || *argc > T_ARGS)
        return 0;
    for (i = 0; i < *argc; i++) {
        step = at < n ? t_number(p + at, n - at, &len) : 0;
        if (step == 0 || at + step + len + 2 > n)
            return 0;
        argv[i].p = p + at + step;
        argv[i].n = len;
        at += step + len + 2;
    }
    return at;
}

/* Returns 1 if the link stays open. */
static int t_answer(t_manner manner, t_peer *c, const t_arg *argv, size_t argc)
{
    if (manner == T_RESP2 && t_is(argv[0], "HELLO"))
        t_send(c, "-ERR unknown command 'HELLO'\r\n", 30);
    else if (t_is(argv[0], "HELLO"))
        t_send(c, t_hello, sizeof t_hello - 1);
    else if (t_is(argv[0], "PING"))
        t_send(c, "+PONG\r\n", 7);
    else if (t_is(argv[0], "ECHO") || t_is(argv[0], "GET"))
        t_send_bulk(c, argv[argc - 1].p, argv[argc - 1].n);
    else if (t_is(argv[0], "CLOSE"))
        return 0;
    else if (!t_is(argv[0], "SILENCE"))
        t_send(c, "+OK\r\n", 5);
    return 1;
}

static int t_taken(t_manner manner, t_peer *c)
{
    t_arg argv[T_ARGS];
    size_t argc, step, at = 0;

    switch (manner) {
    case T_RESP3:
    case T_RESP2:
        break;
    case T_HTTP:
        t_send(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 47);
        return 0;
    case T_TLS:
        t_send(c, "\x15\x03\x03\x00\x02\x02\x46", 7);
        return 0;
    case T_CLOSE:
        return 0;
    case T_MUTE:
        c->n = 0;
        return 1;
    }
    while ((step = t_command(c->in + at, c->n - at, argv, &argc)) > 0) {
        if (argc > 0 && !t_answer(manner, c, argv, argc))
            return 0;
        at += step;
    }
    c->n -= at;
    memmove(c->in, c->in + at, c->n);
    return 1;
}

static int t_serve_peer(t_manner manner, t_peer *c)
{
    long got;

    if (c->cap - c->n < 65536) {
        c->cap = c->cap * 2 + 65536;
        c->in = (char *)realloc(c->in, c->cap);
        if (c->in == NULL)
            _exit(1);
    }
    got = (long)recv(c->fd, c->in + c->n, c->cap - c->n, 0);
    if (got <= 0)
        return 0;
    c->n += (size_t)got;
    return t_taken(manner, c);
}

static void t_child(t_manner manner, int listener, int leash,
                    volatile int *accepted)
{
    t_peer peer[T_PEERS];
    struct pollfd p[T_PEERS + 2];
    int i, one = 1;

    memset(peer, 0, sizeof peer);
    memset(p, 0, sizeof p);
    for (i = 0; i < T_PEERS + 2; i++) {
        p[i].fd = i == 0 ? leash : i == 1 ? listener : -1;
        p[i].events = POLLIN;
    }
    while (poll(p, T_PEERS + 2, -1) > 0 && p[0].revents == 0) {
        for (i = 0; i < T_PEERS; i++) {
            if (p[i + 2].fd < 0 || p[i + 2].revents == 0)
                continue;
            if (t_serve_peer(manner, &peer[i]))
                continue;
            (void)close(peer[i].fd);
            peer[i].n = 0;
            p[i + 2].fd = -1;
        }
        for (i = 0; p[1].revents != 0 && i < T_PEERS; i++) {
            if (p[i + 2].fd >= 0)
                continue;
            p[i + 2].fd = peer[i].fd = accept(listener, NULL, NULL);
            p[i + 2].revents = 0;
            (void)setsockopt(peer[i].fd, IPPROTO_TCP, TCP_NODELAY, &one,
                             sizeof one);
            ++*accepted;
            if (manner == T_CLOSE) {
                (void)close(peer[i].fd);
                p[i + 2].fd = -1;
            }
            break;
        }
    }
    _exit(0);
}

/* -------------------------------------------------------------- the parent */

static void t_fork(t_server *s, t_manner manner, int listener)
{
    int leash[2];
    void *shared = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED || pipe(leash) != 0)
        abort();
    s->accepted = (volatile int *)shared;
    s->pid = fork();
    if (s->pid < 0)
        abort();
    if (s->pid == 0) {
        (void)close(leash[1]);
        t_child(manner, listener, leash[0], s->accepted);
    }
    (void)close(leash[0]);
    (void)close(listener);
    s->leash = leash[1];
}

static void t_server_stop(t_server *s)
{
    if (s->pid <= 0)
        return;
    (void)kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    (void)close(s->leash);
    (void)munmap((void *)(size_t)s->accepted, sizeof(int));
    if (s->path[0] == '/')
        (void)unlink(s->path);
    memset(s, 0, sizeof *s);
}

#endif
