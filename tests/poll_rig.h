/* SPDX-License-Identifier: MIT
 *
 * poll_rig.h - clients and servers for the driver's tests, and functions that
 * inspect sockets.
 *
 * Servers are child processes. Where single bytes matter, the test holds the
 * other end of a socket pair itself. t_teardown ends what a test left open. */
#ifndef T_POLL_RIG_H
#define T_POLL_RIG_H

#include <fcntl.h>

#include "poll_server.h"
#include "relet.h"

#define T_OPEN_MAX 4
#define T_FDS 256
#define T_SOON_MS 20000 /* to fail instead of hanging, on a slow machine */

static t_server t_servers[4];
static relet *t_clients[T_OPEN_MAX];
static int t_fds[8], t_fds_n; /* closed after each test */

static inline void t_teardown(void *user)
{
    int i;

    (void)user;
    for (i = 0; i < T_OPEN_MAX; i++) {
        relet_close(t_clients[i]);
        t_clients[i] = NULL;
    }
    for (i = 0; i < 4; i++)
        t_server_stop(&t_servers[i]);
    while (t_fds_n > 0)
        (void)close(t_fds[--t_fds_n]);
}

static inline t_server *t_serve_at(t_manner manner, const char *host, int port)
{
    t_server *s = t_servers;
    int fd = t_listen_tcp(host, &port, 64);

    if (fd < 0)
        return NULL;
    while (s->pid != 0)
        s++;
    s->port = port;
    t_fork(s, manner, fd);
    return s;
}

static inline t_server *t_serve(t_manner manner)
{
    t_server *s = t_serve_at(manner, "127.0.0.1", 0);

    if (s == NULL)
        abort();
    return s;
}

/* A port at which no process listens: this process has just closed it. */
static inline int t_port_free(void)
{
    int port = 0;
    int fd = t_listen_tcp("127.0.0.1", &port, 1);

    (void)close(fd);
    return port;
}

static inline relet_config t_config(void)
{
    relet_config c;

    relet_config_init(&c);
    c.connect_timeout_ms = T_SOON_MS;
    c.timeout_ms = T_SOON_MS;
    c.retry_min_ms = 20;
    c.retry_max_ms = 60;
    return c;
}

static inline relet *t_keep(relet *r)
{
    int i = 0;

    while (i < T_OPEN_MAX && t_clients[i] != NULL)
        i++;
    if (i == T_OPEN_MAX)
        abort();
    return t_clients[i] = r;
}

static inline relet *t_open(const char *host, int port,
                            const relet_config *base)
{
    relet_config c = base != NULL ? *base : t_config();

    (void)snprintf(c.host, sizeof c.host, "%s", host);
    c.port = port;
    return t_keep(relet_open(NULL, &c, NULL, NULL));
}

static inline relet *t_open_server(const t_server *s)
{
    return t_open("127.0.0.1", s->port, NULL);
}

/* The client has one end of a socket pair, the test has the other. */
static inline relet *t_open_pair(int *peer, const relet_transport *transport)
{
    relet_config c = t_config();
    relet_poll_config p;
    int pair[2];

    memset(&p, 0, sizeof p);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    p.fd = &pair[0];
    p.transport = transport;
    if (transport != NULL)
        c.scheme = RELET_TLS;
    *peer = t_fds[t_fds_n++] = pair[1];
    return t_keep(relet_open(NULL, &c, &p, NULL));
}

/* Serves the other end of the pair until the client is up. */
static inline int t_come_up(relet *r, int peer)
{
    struct pollfd p;
    relet_event ev;
    t_peer server;
    int turn, up = 0;

    memset(&server, 0, sizeof server);
    server.fd = p.fd = peer;
    p.events = POLLIN;
    for (turn = 0; turn < 1000 && !up; turn++) {
        up = relet_wait(r, &ev, 0) == 1 && ev.kind == RELET_EV_UP;
        if (!up && poll(&p, 1, 0) > 0 && !t_serve_peer(T_RESP3, &server))
            break;
    }
    free(server.in);
    return up;
}

static inline void t_put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (long)strlen(text))
        abort();
}

/* Waits for one kind of event and drops the others. Returns 0 if none came. */
static inline int t_await(relet *r, relet_event *ev, relet_kind kind)
{
    relet_time end = relet_clock() + T_SOON_MS;

    while (relet_clock() < end)
        if (relet_wait(r, ev, 1000) == 1 && ev->kind == kind)
            return 1;
    return 0;
}

static inline int t_call(relet *r, relet_event *ev, const char *a,
                         const char *b)
{
    relet_span argv[2];

    argv[0] = relet_str(a);
    argv[1] = relet_str(b != NULL ? b : "");
    return relet_call(r, argv, b != NULL ? 2 : 1, ev, T_SOON_MS);
}

/* Returns 1 if the server echoes a text. */
static inline int t_echoes(relet *r)
{
    relet_event ev;

    return t_call(r, &ev, "ECHO", "to and fro") == 0 &&
           ev.kind == RELET_EV_REPLY && relet_value_is(ev.value, "to and fro");
}

static inline int t_says(relet_span text, const char *part)
{
    size_t i, n = strlen(part);

    for (i = 0; i + n <= text.n; i++)
        if (memcmp(text.p + i, part, n) == 0)
            return 1;
    return 0;
}

static inline int t_option(int fd, int level, int name)
{
    int value = -1;
    socklen_t n = (socklen_t)sizeof value;

    (void)getsockopt(fd, level, name, &value, &n);
    return value;
}

/* Returns the only socket that is not in `before`, or -1 if there is none or
 * more than one. */
static inline int t_new_socket(const char *before)
{
    int fd, n = 0, found = -1;

    for (fd = 0; fd < T_FDS; fd++)
        if (!before[fd] && t_option(fd, SOL_SOCKET, SO_TYPE) >= 0) {
            found = fd;
            n++;
        }
    return n == 1 ? found : -1;
}

static inline void t_fds_now(char *now)
{
    int fd;

    for (fd = 0; fd < T_FDS; fd++)
        now[fd] = fcntl(fd, F_GETFD) >= 0;
}

#endif
