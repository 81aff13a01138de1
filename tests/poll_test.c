/* SPDX-License-Identifier: MIT
 *
 * poll_test.c - the driver against real sockets on this machine.
 *
 * Servers are child processes. Where single bytes matter, the test holds the
 * other end of a socket pair itself. Names are looked up in the table below, so
 * no test needs a resolver. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "greatest.h"
#include "poll_server.h"
#include "relet.h"

#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/time.h>

#define T_OPEN_MAX 4
#define T_FDS 256
#define T_SOON_MS 20000 /* to fail instead of hanging, on a slow machine */

static t_server t_servers[4];
static relet *t_clients[T_OPEN_MAX];
static int t_fds[8], t_fds_n; /* closed after each test */

/* ------------------------------------------------------------- names
 *
 * The library calls this getaddrinfo instead of the system's. */

static const char *t_addresses[8]; /* of the name many.test */

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    static struct addrinfo info[8];
    static struct sockaddr_in v4[8];
    static struct sockaddr_in6 v6[8];
    int i;

    (void)service;
    (void)hints;
    if (strcmp(name, "many.test") != 0)
        return EAI_NONAME;
    memset(info, 0, sizeof info);
    memset(v4, 0, sizeof v4);
    memset(v6, 0, sizeof v6);
    for (i = 0; i < 8 && t_addresses[i] != NULL; i++) {
        if (inet_pton(AF_INET, t_addresses[i], &v4[i].sin_addr) == 1) {
            info[i].ai_family = v4[i].sin_family = AF_INET;
            info[i].ai_addr = (struct sockaddr *)&v4[i];
            info[i].ai_addrlen = (socklen_t)sizeof v4[i];
        } else {
            info[i].ai_family = v6[i].sin6_family = AF_INET6;
            (void)inet_pton(AF_INET6, t_addresses[i], &v6[i].sin6_addr);
            info[i].ai_addr = (struct sockaddr *)&v6[i];
            info[i].ai_addrlen = (socklen_t)sizeof v6[i];
        }
        if (i > 0)
            info[i - 1].ai_next = &info[i];
    }
    *list = info;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

const char *gai_strerror(int code)
{
    return code == EAI_NONAME ? "no such name" : "no address";
}

/* The library calls this poll, too. Its calls are counted, since a client that
 * does not sleep polls without end. Processor time would be no measure: it
 * depends on the machine's other load. */
static long t_polls;

int poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
    struct timespec t;

    t_polls++;
    t.tv_sec = timeout_ms / 1000;
    t.tv_nsec = timeout_ms % 1000 * 1000000L;
    return ppoll(p, n, timeout_ms < 0 ? NULL : &t, NULL);
}

/* ----------------------------------------------------------- helpers */

static void t_teardown(void *user)
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
    memset(t_addresses, 0, sizeof t_addresses);
}

static t_server *t_serve_at(t_manner manner, const char *host, int port)
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

static t_server *t_serve(t_manner manner)
{
    t_server *s = t_serve_at(manner, "127.0.0.1", 0);

    if (s == NULL)
        abort();
    return s;
}

/* A port that no process listens at: this process has just given it up. */
static int t_port_free(void)
{
    int port = 0;
    int fd = t_listen_tcp("127.0.0.1", &port, 1);

    (void)close(fd);
    return port;
}

/* A listener that takes no more connections: its queue is full. */
static int t_black_hole(const char *host, int port)
{
    struct sockaddr_in a;
    struct pollfd p;
    int i, fd = t_listen_tcp(host, &port, 0);

    if (fd < 0)
        return -1;
    t_fds[t_fds_n++] = fd;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    (void)inet_pton(AF_INET, host, &a.sin_addr);
    for (i = 0; i < 3; i++) {
        p.fd = t_fds[t_fds_n++] = socket(AF_INET, SOCK_STREAM, 0);
        p.events = POLLOUT;
        (void)fcntl(p.fd, F_SETFL, O_NONBLOCK);
        (void)connect(p.fd, (struct sockaddr *)&a, (socklen_t)sizeof a);
        if (poll(&p, 1, 50) == 0)
            return port;
    }
    return -1;
}

static relet_config t_config(void)
{
    relet_config c;

    relet_config_init(&c);
    c.connect_timeout_ms = T_SOON_MS;
    c.timeout_ms = T_SOON_MS;
    c.retry_min_ms = 20;
    c.retry_max_ms = 60;
    return c;
}

static relet *t_keep(relet *r)
{
    int i = 0;

    while (i < T_OPEN_MAX && t_clients[i] != NULL)
        i++;
    if (i == T_OPEN_MAX)
        abort();
    return t_clients[i] = r;
}

static relet *t_open(const char *host, int port, const relet_config *base)
{
    relet_config c = base != NULL ? *base : t_config();

    (void)snprintf(c.host, sizeof c.host, "%s", host);
    c.port = port;
    return t_keep(relet_open(NULL, &c, NULL, NULL));
}

static relet *t_open_server(const t_server *s)
{
    return t_open("127.0.0.1", s->port, NULL);
}

/* The client has one end of a socket pair, the test has the other. */
static relet *t_open_pair(int *peer, const relet_transport *transport)
{
    relet_config c = t_config();
    relet_poll_config p;
    int pair[2];

    memset(&p, 0, sizeof p);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    p.fd = pair[0];
    p.transport = transport;
    if (transport != NULL)
        c.scheme = RELET_TLS;
    *peer = t_fds[t_fds_n++] = pair[1];
    return t_keep(relet_open(NULL, &c, &p, NULL));
}

/* Serves the other end of the pair until the client is up. */
static int t_come_up(relet *r, int peer)
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

static void t_put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (long)strlen(text))
        abort();
}

/* Waits for one kind of event and drops the others. Returns 0 if none came. */
static int t_await(relet *r, relet_event *ev, relet_kind kind)
{
    relet_time end = relet_clock() + T_SOON_MS;

    while (relet_clock() < end)
        if (relet_wait(r, ev, 1000) == 1 && ev->kind == kind)
            return 1;
    return 0;
}

static int t_call(relet *r, relet_event *ev, const char *a, const char *b)
{
    relet_span argv[2];

    argv[0] = relet_str(a);
    argv[1] = relet_str(b != NULL ? b : "");
    return relet_call(r, argv, b != NULL ? 2 : 1, ev, T_SOON_MS);
}

/* Returns 1 if the server echoes a text. */
static int t_echoes(relet *r)
{
    relet_event ev;

    return t_call(r, &ev, "ECHO", "to and fro") == 0 &&
           ev.kind == RELET_EV_REPLY && relet_value_is(ev.value, "to and fro");
}

static int t_says(relet_span text, const char *part)
{
    size_t i, n = strlen(part);

    for (i = 0; i + n <= text.n; i++)
        if (memcmp(text.p + i, part, n) == 0)
            return 1;
    return 0;
}

static int t_fd_count(void)
{
    int fd, n = 0;

    for (fd = 0; fd < T_FDS; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static int t_option(int fd, int level, int name)
{
    int value = -1;
    socklen_t n = (socklen_t)sizeof value;

    (void)getsockopt(fd, level, name, &value, &n);
    return value;
}

/* Returns the only socket that is not in `before`, or -1 if there is none or
 * more than one. */
static int t_new_socket(const char *before)
{
    int fd, n = 0, found = -1;

    for (fd = 0; fd < T_FDS; fd++)
        if (!before[fd] && t_option(fd, SOL_SOCKET, SO_TYPE) >= 0) {
            found = fd;
            n++;
        }
    return n == 1 ? found : -1;
}

static void t_fds_now(char *now)
{
    int fd;

    for (fd = 0; fd < T_FDS; fd++)
        now[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* How often a client tries to connect, and how often it polls, in half a
 * second. */
typedef struct t_effort {
    int downs;
    relet_why why;
    char text[256];
    long polls;
    relet_stats stats;
} t_effort;

static t_effort t_watch_effort(relet *r)
{
    relet_time end = relet_clock() + 500;
    relet_event ev;
    t_effort e;

    memset(&e, 0, sizeof e);
    t_polls = 0;
    while (relet_clock() < end) {
        if (relet_wait(r, &ev, (int)(end - relet_clock())) != 1 ||
            ev.kind != RELET_EV_DOWN)
            continue;
        e.downs++;
        e.why = ev.why;
        (void)snprintf(e.text, sizeof e.text, "%.*s", (int)ev.text.n,
                       ev.text.p);
    }
    e.polls = t_polls;
    relet_stats_get(r, &e.stats);
    return e;
}

/* -------------------------------------------------- where one can connect
 */

/* Regression: a relet_wait without a time limit never returned, though the
 * client had given up. */
TEST a_wait_without_end_ends_when_no_event_can_come_any_more(void)
{
    relet_config c = t_config();
    relet_event ev;
    relet *r;
    int code, downs = 0;

    c.attempts_max = 2;
    c.port = t_port_free();
    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    r = t_keep(relet_open(NULL, &c, NULL, NULL));
    while ((code = relet_wait(r, &ev, -1)) == 1)
        downs += ev.kind == RELET_EV_DOWN;
    ASSERT_EQ(RELET_E_STOPPED, code);
    ASSERT_EQ(2, downs);
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    relet_stop(r);
    ASSERT_EQ(RELET_E_STOPPED, relet_wait(r, &ev, -1));
    PASS();
}

TEST a_client_connects_over_ipv4(void)
{
    ASSERT(t_echoes(t_open_server(t_serve(T_RESP3))));
    PASS();
}

TEST a_client_connects_over_ipv6(void)
{
    t_server *s = t_serve_at(T_RESP3, "::1", 0);

    if (s == NULL)
        SKIPm("this machine has no ::1");
    ASSERT(t_echoes(t_open("::1", s->port, NULL)));
    PASS();
}

/* The timeout has more milliseconds than an int holds. */
TEST a_pause_of_a_month_is_no_pause_without_end(void)
{
    relet_config c = t_config();
    relet_event ev;
    int port = 0;
    relet *r;

    t_fds[t_fds_n++] = t_listen_tcp("127.0.0.1", &port, 1); /* says nothing */
    c.connect_timeout_ms = c.timeout_ms = INT64_C(3000000000);
    c.port = port;
    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    r = t_keep(relet_open(NULL, &c, NULL, NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 50));
    ASSERT_EQ(INT_MAX, relet_poll_timeout(r));
    PASS();
}

static relet *t_open_unix(t_server *s)
{
    relet_config c = t_config();
    int fd = t_listen_unix(s->path);

    if (fd < 0)
        return NULL;
    t_fork(s, T_RESP3, fd);
    c.scheme = RELET_UNIX;
    (void)snprintf(c.host, sizeof c.host, "%s", s->path);
    return t_keep(relet_open(NULL, &c, NULL, NULL));
}

TEST a_client_connects_over_a_unix_socket(void)
{
    t_server *s = &t_servers[0];

    (void)snprintf(s->path, sizeof s->path, "/tmp/relet-test-%ld.sock",
                   (long)getpid());
    ASSERT(t_echoes(t_open_unix(s)));
    PASS();
}

TEST a_client_connects_to_an_abstract_name(void)
{
    t_server *s = &t_servers[0];
    relet *r;

    (void)snprintf(s->path, sizeof s->path, "@relet-test-%ld",
                   (long)getpid());
    r = t_open_unix(s);
    if (r == NULL)
        SKIPm("this system has no abstract names");
    ASSERT(t_echoes(r));
    PASS();
}

/* Connects to a path until its listener takes no more links. Returns their
 * number. */
static int t_fill(const char *path, int *fd, int most)
{
    struct sockaddr_un a;
    int n;

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    for (n = 0; n < most; n++) {
        fd[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd[n], (struct sockaddr *)&a, sizeof a) != 0)
            break;
    }
    (void)close(fd[n < most ? n : most - 1]);
    return n;
}

TEST a_listener_whose_backlog_is_full_is_asked_again(void)
{
    t_server *s = &t_servers[0];
    relet_config c = t_config();
    relet_event ev;
    int listener, fd[32], n;
    relet *r;

    (void)snprintf(s->path, sizeof s->path, "/tmp/relet-test-%ld.sock",
                   (long)getpid());
    listener = t_listen_unix(s->path);
    n = t_fill(s->path, fd, 32);
    ASSERT(listener >= 0 && n < 32);
    c.scheme = RELET_UNIX;
    (void)snprintf(c.host, sizeof c.host, "%s", s->path);
    r = t_keep(relet_open(NULL, &c, NULL, NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 60)); /* no refusal is told        */
    while (n > 0)
        (void)close(fd[--n]);
    t_fork(s, T_RESP3, listener);
    ASSERT(t_echoes(r));
    PASS();
}

TEST a_path_that_does_not_fit_is_a_wrong_setting(void)
{
    relet_config c = t_config();
    relet_fault fault;

    c.scheme = RELET_UNIX;
    memset(c.host, 'a', 200);
    c.host[0] = '/';
    c.host[200] = '\0';
    ASSERT_EQ(NULL, relet_open(NULL, &c, NULL, &fault));
    ASSERT_EQ(RELET_E_CONFIG, fault.code);
    ASSERT(strstr(fault.text, "longer") != NULL);
    PASS();
}

TEST what_is_not_built_yet_is_refused_by_name(void)
{
    static const char *const url[] = {"sentinel://a,b/name",
                                      "cluster://a,b"};
    relet_fault fault;
    size_t i;

    for (i = 0; i < sizeof url / sizeof *url; i++) {
        size_t n = strcspn(url[i], ":") + 1;

        ASSERT_EQ(NULL, relet_open(url[i], NULL, NULL, &fault));
        ASSERT_EQ(RELET_E_CONFIG, fault.code);
        ASSERT(strncmp(fault.text, url[i], n) == 0);
        ASSERT_STR_EQ(" is not built yet", fault.text + n);
    }
    PASS();
}

TEST tls_without_a_transport_is_a_wrong_setting(void)
{
    relet_fault fault;

    ASSERT_EQ(NULL, relet_open("rediss://localhost", NULL, NULL, &fault));
    ASSERT_EQ(RELET_E_CONFIG, fault.code);
    ASSERT(strstr(fault.text, "transport") != NULL);
    PASS();
}

TEST the_environment_says_where_to_connect(void)
{
    relet_config c = t_config();

    (void)setenv("T_POLL_REDIS_URL", "redis://example.test:7001/3", 1);
    ASSERT_EQ(0, relet_config_env(&c, "T_POLL_", NULL));
    (void)unsetenv("T_POLL_REDIS_URL");
    ASSERT_STR_EQ("example.test", c.host);
    ASSERT_EQ(7001, c.port);
    ASSERT_EQ(3, c.db);
    PASS();
}

/* -------------------------------------------------- names, and their races
 */

TEST a_refusing_address_makes_way_for_the_next_at_once(void)
{
    t_server *s = t_serve(T_RESP3);
    relet_time start = relet_clock();
    relet_event ev;

    t_addresses[0] = "127.0.0.3";
    t_addresses[1] = "::1";
    t_addresses[2] = "127.0.0.1";
    ASSERT(t_await(t_open("many.test", s->port, NULL), &ev, RELET_EV_UP));
    ASSERT(relet_clock() - start < T_SOON_MS / 2);
    PASS();
}

TEST a_silent_address_is_overtaken_by_the_next(void)
{
    t_server *s = t_serve(T_RESP3);
    relet_time took, start;
    char before[T_FDS];
    relet_event ev;
    relet *r;

    if (t_black_hole("127.0.0.2", s->port) < 0)
        SKIPm("no address here swallows a connect");
    t_fds_now(before);
    t_addresses[0] = "127.0.0.2";
    t_addresses[1] = "127.0.0.1";
    start = relet_clock();
    r = t_open("many.test", s->port, NULL);
    ASSERT(t_await(r, &ev, RELET_EV_UP));
    took = relet_clock() - start;
    ASSERT(took >= 240);
    ASSERT(took < T_SOON_MS / 2);
    ASSERT(t_echoes(r));
    ASSERT(t_new_socket(before) >= 0); /* the losing socket is closed */
    PASS();
}

TEST many_silent_addresses_do_not_hide_a_good_one(void)
{
    t_server *s = t_serve(T_RESP3);
    relet_config c = t_config();
    relet_event ev;
    relet_stats stats;
    relet *r;
    int i;

    if (t_black_hole("127.0.0.2", s->port) < 0)
        SKIPm("no address here swallows a connect");
    for (i = 0; i < RELET_WATCH_MAX - 1; i++) /* as many as race at once */
        t_addresses[i] = "127.0.0.2";
    t_addresses[i] = "127.0.0.1";
    c.connect_timeout_ms = 2000;
    r = t_open("many.test", s->port, &c);
    ASSERT(t_await(r, &ev, RELET_EV_UP));
    relet_stats_get(r, &stats);
    ASSERT_EQ(1, (int)stats.attempts);
    PASS();
}

TEST a_silent_host_costs_the_connect_timeout_and_no_more(void)
{
    int port = t_black_hole("127.0.0.1", 0);
    relet_config c = t_config();
    relet_time took, start;
    relet_event ev;
    char want[64];

    if (port < 0)
        SKIPm("no address here swallows a connect");
    c.connect_timeout_ms = 200;
    start = relet_clock();
    ASSERT(t_await(t_open("127.0.0.1", port, &c), &ev, RELET_EV_DOWN));
    took = relet_clock() - start;
    ASSERT(took >= 200);
    ASSERT(took < T_SOON_MS / 2);
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    (void)snprintf(want, sizeof want, "connect to 127.0.0.1:%d: timed out",
                   port);
    ASSERT(t_says(ev.text, want));
    PASS();
}

TEST an_unknown_name_is_told_as_such(void)
{
    relet_event ev;

    ASSERT(t_await(t_open("none.test", 6379, NULL), &ev, RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    ASSERT(t_says(ev.text, "look up none.test:6379: no such name"));
    PASS();
}

/* ------------------------------------------------- when there is no server
 */

TEST a_refused_connect_is_told_with_its_reason(void)
{
    int port = t_port_free();
    relet_event ev;
    char want[128];

    (void)snprintf(want, sizeof want, "connect to 127.0.0.1:%d: %s", port,
                   strerror(ECONNREFUSED));
    ASSERT(t_await(t_open("127.0.0.1", port, NULL), &ev, RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    ASSERT(t_says(ev.text, want));
    PASS();
}

TEST a_refused_client_tries_again_without_haste(void)
{
    t_effort e = t_watch_effort(t_open("127.0.0.1", t_port_free(), NULL));

    ASSERT(e.stats.attempts >= 2);
    ASSERT(e.stats.attempts <= 500); /* full jitter may draw short pauses */
    ASSERT(e.downs <= (int)e.stats.attempts);
    ASSERT(e.downs + 1 >= (int)e.stats.attempts); /* one may be under way */
    ASSERT(e.polls <= 20 * ((long)e.stats.attempts + 1));
    PASS();
}

TEST a_client_comes_up_when_its_server_does(void)
{
    int port = t_port_free();
    relet *r = t_open("127.0.0.1", port, NULL);
    relet_event ev;

    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    ASSERT(t_serve_at(T_RESP3, "127.0.0.1", port) != NULL);
    ASSERT(t_await(r, &ev, RELET_EV_UP));
    ASSERT(t_echoes(r));
    PASS();
}

/* With a wrong server, the client tells the reason, and pauses between
 * attempts. */
static enum greatest_test_res t_check_wrong(t_manner manner, relet_why why)
{
    t_server *s = t_serve(manner);
    t_effort e = t_watch_effort(t_open_server(s));

    ASSERT(e.downs >= 1);
    ASSERT_EQ_FMT(why, e.why, "%d");
    ASSERT(e.text[0] != '\0');
    ASSERT_EQ(0, (int)e.stats.connects);
    ASSERT(*s->accepted <= (int)e.stats.attempts);
    ASSERT(e.stats.attempts <= 500);
    ASSERT(e.polls <= 20 * ((long)e.stats.attempts + 1));
    PASS();
}

TEST a_web_server_is_told_from_a_redis(void)
{
    CHECK_CALL(t_check_wrong(T_HTTP, RELET_WHY_PROTOCOL));
    PASS();
}

TEST a_tls_server_is_told_from_a_plain_one(void)
{
    CHECK_CALL(t_check_wrong(T_TLS, RELET_WHY_PROTOCOL));
    PASS();
}

TEST a_server_without_resp3_is_told(void)
{
    CHECK_CALL(t_check_wrong(T_RESP2, RELET_WHY_NO_RESP3));
    PASS();
}

TEST a_server_that_hangs_up_is_told(void)
{
    CHECK_CALL(t_check_wrong(T_CLOSE, RELET_WHY_CLOSED));
    PASS();
}

TEST a_mute_server_costs_the_connect_timeout_and_no_more(void)
{
    relet_config c = t_config();
    relet_time took, start = relet_clock();
    relet_event ev;

    c.connect_timeout_ms = 150;
    ASSERT(t_await(t_open("127.0.0.1", t_serve(T_MUTE)->port, &c), &ev,
                   RELET_EV_DOWN));
    took = relet_clock() - start;
    ASSERT(took >= 150);
    ASSERT(took < T_SOON_MS / 2);
    PASS();
}

/* -------------------------------------------------------- carrying bytes
 */

TEST a_large_value_goes_both_ways(void)
{
    relet_config c = t_config();
    size_t n = 3000000;
    relet_span argv[2];
    relet_event ev;
    relet *r = t_open_server(t_serve(T_RESP3));
    char *big;

    n = n < c.bulk_max ? n : c.bulk_max;
    n = n < c.output_max / 2 ? n : c.output_max / 2;
    n = n < c.reply_max / 2 ? n : c.reply_max / 2;
    big = (char *)malloc(n);
    ASSERT(big != NULL);
    memset(big, 'x', n);
    argv[0] = relet_str("ECHO");
    argv[1].p = big;
    argv[1].n = n;
    ASSERT_EQ(0, relet_call(r, argv, 2, &ev, T_SOON_MS));
    ASSERT_EQ(RELET_EV_REPLY, ev.kind);
    ASSERT_EQ(n, relet_value_text(ev.value).n);
    ASSERT_EQ(0, memcmp(relet_value_text(ev.value).p, big, n));
    free(big);
    PASS();
}

TEST a_broken_link_is_told_and_made_again(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, relet_command_text(r, NULL, "CLOSE", (char *)NULL));
    ASSERT(t_await(r, &ev, RELET_EV_UNSURE));
    ASSERT_EQ(RELET_WHY_BROKEN, ev.why);
    ASSERT(t_await(r, &ev, RELET_EV_UP));
    ASSERT(t_echoes(r));
    PASS();
}

TEST an_operation_without_an_answer_ends_in_time(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_request q = {7, 50, 0};
    relet_event ev;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, relet_command_text(r, &q, "SILENCE", (char *)NULL));
    ASSERT_EQ(1, relet_wait(r, &ev, T_SOON_MS));
    ASSERT_EQ(RELET_EV_UNSURE, ev.kind);
    ASSERT_EQ(RELET_WHY_TIMEOUT, ev.why);
    ASSERT_EQ(7, (int)ev.tag);
    PASS();
}

static volatile sig_atomic_t t_pipes;

static void t_on_pipe(int number)
{
    (void)number;
    t_pipes++;
}

TEST writing_to_who_has_left_raises_no_signal(void)
{
    void (*before)(int) = signal(SIGPIPE, t_on_pipe);
    relet_event ev;
    relet *r;
    int peer;

    t_pipes = 0;
    r = t_open_pair(&peer, NULL);
    (void)shutdown(peer, SHUT_RDWR);
    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    (void)signal(SIGPIPE, before);
    ASSERT_EQ(0, (int)t_pipes);
    PASS();
}

TEST the_last_words_of_who_has_left_are_read(void)
{
    relet_event ev;
    relet *r;
    int peer;

    r = t_open_pair(&peer, NULL);
    t_put(peer, "-ERR max number of clients reached\r\n");
    (void)shutdown(peer, SHUT_RDWR);
    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    ASSERT(t_says(ev.text, "max number of clients reached"));
    PASS();
}

TEST what_came_before_a_hang_up_is_told_before_it(void)
{
    relet_event ev;
    relet *r;
    int i, peer;

    r = t_open_pair(&peer, NULL);
    ASSERT(t_come_up(r, peer));
    for (i = 0; i < 3; i++)
        ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    t_put(peer, "+PONG\r\n+PONG\r\n+PONG\r\n");
    (void)shutdown(peer, SHUT_RDWR);
    for (i = 0; i < 3; i++) {
        ASSERT_EQ(1, relet_wait(r, &ev, T_SOON_MS));
        ASSERT_EQ(RELET_EV_REPLY, ev.kind);
    }
    ASSERT_EQ(1, relet_wait(r, &ev, T_SOON_MS));
    ASSERT_EQ(RELET_EV_DOWN, ev.kind);
    PASS();
}

/* ----------------------------------------------------- calls and waits */

TEST a_call_is_refused_while_operations_are_outstanding(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(RELET_E_REFUSED, t_call(r, &ev, "PING", NULL));
    ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    ASSERT_EQ(0, t_call(r, &ev, "PING", NULL));
    PASS();
}

TEST a_call_out_of_time_is_cancelled(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_span argv[1];
    relet_event ev;

    ASSERT(t_echoes(r));
    argv[0] = relet_str("SILENCE");
    ASSERT_EQ(RELET_E_TIMEOUT, relet_call(r, argv, 1, &ev, 30));
    ASSERT_EQ(0, (int)relet_outstanding(r));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    PASS();
}

TEST a_late_answer_is_not_taken_for_that_of_the_next_call(void)
{
    relet_span argv[1];
    relet_event ev;
    relet *r;
    int peer;

    r = t_open_pair(&peer, NULL);
    ASSERT(t_come_up(r, peer));
    argv[0] = relet_str("PING");
    ASSERT_EQ(RELET_E_TIMEOUT, relet_call(r, argv, 1, &ev, 10));
    t_put(peer, "+late\r\n+PONG\r\n");
    ASSERT_EQ(0, relet_call(r, argv, 1, &ev, T_SOON_MS));
    ASSERT(relet_value_is(ev.value, "PONG"));
    PASS();
}

TEST a_stopped_client_tells_what_became_of_its_operations(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, relet_command_text(r, NULL, "SILENCE", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    relet_stop(r);
    ASSERT(t_await(r, &ev, RELET_EV_UNSURE));
    ASSERT_EQ(RELET_WHY_STOPPED, ev.why);
    PASS();
}

static relet *t_waked;

static void t_on_alarm(int number)
{
    (void)number;
    if (t_waked != NULL)
        relet_wake(t_waked);
}

/* Alarms without SA_RESTART: every system call may be interrupted. */
static void t_alarms(long first_us, long every_us)
{
    struct sigaction act;
    struct itimerval it;

    memset(&act, 0, sizeof act);
    act.sa_handler = t_on_alarm;
    (void)sigaction(SIGALRM, &act, NULL);
    it.it_value.tv_sec = it.it_interval.tv_sec = 0;
    it.it_value.tv_usec = first_us;
    it.it_interval.tv_usec = every_us;
    (void)setitimer(ITIMER_REAL, &it, NULL);
}

TEST a_signal_handler_ends_a_wait(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;
    int got;

    ASSERT(t_echoes(r));
    t_waked = r;
    t_alarms(5000, 0);
    got = relet_wait(r, &ev, -1);
    t_waked = NULL;
    ASSERT_EQ(0, got);
    PASS();
}

static void *t_wake_thread(void *user)
{
    relet_wake((relet *)user);
    return NULL;
}

TEST another_thread_ends_a_wait(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    pthread_t thread;
    relet_event ev;
    int got;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, pthread_create(&thread, NULL, t_wake_thread, r));
    got = relet_wait(r, &ev, -1);
    (void)pthread_join(thread, NULL);
    ASSERT_EQ(0, got);
    PASS();
}

TEST wakes_before_a_wait_end_that_one_and_no_other(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_time start;
    relet_event ev;
    long i;

    ASSERT(t_echoes(r));
    for (i = 0; i < 20000; i++) /* more than a pipe holds */
        relet_wake(r);
    ASSERT_EQ(0, relet_wait(r, &ev, -1));
    start = relet_clock();
    ASSERT_EQ(0, relet_wait(r, &ev, 60));
    ASSERT(relet_clock() - start >= 60);
    PASS();
}

TEST a_wake_during_a_call_ends_the_next_wait(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    relet_wake(r);
    ASSERT(t_echoes(r));
    ASSERT_EQ(0, relet_poll_timeout(r));
    ASSERT_EQ(0, relet_wait(r, &ev, -1));
    PASS();
}

TEST a_storm_of_signals_surfaces_nowhere(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_time start;
    relet_event ev;
    int i, got, good = 0;

    t_alarms(1000, 1000);
    for (i = 0; i < 200; i++)
        good += t_echoes(r);
    start = relet_clock();
    got = relet_wait(r, &ev, 50);
    start = relet_clock() - start;
    t_alarms(0, 0);
    ASSERT_EQ(200, good);
    ASSERT_EQ(0, got);
    ASSERT(start >= 50);
    PASS();
}

/* --------------------------------------------------------- descriptors */

TEST every_descriptor_is_closed_by_exec_and_never_blocks(void)
{
    t_server *s = t_serve(T_RESP3);
    char before[T_FDS];
    int fd, n = 0;

    t_fds_now(before);
    ASSERT(t_echoes(t_open_server(s)));
    for (fd = 0; fd < T_FDS; fd++) {
        if (before[fd] || fcntl(fd, F_GETFD) < 0)
            continue;
        ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK);
        n++;
    }
    ASSERT(n >= 2);
    PASS();
}

TEST a_link_is_prompt_and_kept_alive(void)
{
    t_server *s = t_serve(T_RESP3);
    char before[T_FDS];
    int fd;

    t_fds_now(before);
    ASSERT(t_echoes(t_open_server(s)));
    fd = t_new_socket(before);
    ASSERT(fd >= 0);
    ASSERT(t_option(fd, IPPROTO_TCP, TCP_NODELAY) > 0);
    ASSERT(t_option(fd, SOL_SOCKET, SO_KEEPALIVE) > 0);
#ifdef TCP_KEEPIDLE
    ASSERT_EQ(60, t_option(fd, IPPROTO_TCP, TCP_KEEPIDLE));
#endif
#ifdef TCP_USER_TIMEOUT
    ASSERT_EQ(120000, t_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT));
#endif
    PASS();
}

TEST keepalive_can_be_left_alone(void)
{
    t_server *s = t_serve(T_RESP3);
    relet_config c = t_config();
    relet_poll_config p;
    char before[T_FDS];

    memset(&p, 0, sizeof p);
    p.keepalive_s = -1;
    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    c.port = s->port;
    t_fds_now(before);
    ASSERT(t_echoes(t_keep(relet_open(NULL, &c, &p, NULL))));
    ASSERT_EQ(0, t_option(t_new_socket(before), SOL_SOCKET, SO_KEEPALIVE));
    PASS();
}

TEST clients_that_come_and_go_leave_no_descriptor(void)
{
    t_server *s = t_serve(T_RESP3);
    int refused = t_port_free();
    int i, before = t_fd_count();
    relet_config c = t_config();
    relet_event ev;
    relet *r;

    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    for (i = 0; i < 50; i++) {
        c.port = i % 5 == 0 ? refused : s->port;
        r = relet_open(NULL, &c, NULL, NULL);
        ASSERT(r != NULL);
        if (i % 3 != 0)
            ASSERT_EQ(1, relet_wait(r, &ev, T_SOON_MS));
        else
            ASSERT_EQ(0, relet_wait(r, &ev, 0)); /* the connect is under way */
        relet_close(r);
    }
    ASSERT_EQ(before, t_fd_count());
    PASS();
}

TEST a_descriptor_of_the_callers_is_used_once_and_closed(void)
{
    relet_event ev;
    relet *r;
    char sink[512];
    int peer;

    r = t_open_pair(&peer, NULL);
    ASSERT(t_come_up(r, peer));
    t_put(peer, "?");
    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_PROTOCOL, ev.why);
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    while (read(peer, sink, sizeof sink) > 0)
        continue; /* until it is closed */
    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    ASSERT(t_says(ev.text, "the given descriptor is used up"));
    PASS();
}

TEST a_descriptor_of_the_callers_is_closed_though_never_used(void)
{
    char byte;
    int peer;

    relet_close(t_open_pair(&peer, NULL));
    t_clients[0] = NULL;
    ASSERT_EQ(0, (int)recv(peer, &byte, 1, MSG_DONTWAIT));
    PASS();
}

TEST after_the_callers_descriptor_the_url_is_used(void)
{
    t_server *s = t_serve(T_RESP3);
    relet_config c = t_config();
    relet_poll_config p;
    relet_event ev;
    relet *r;
    char url[64];
    int pair[2];

    memset(&p, 0, sizeof p);
    ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    t_fds[t_fds_n++] = pair[1];
    p.fd = pair[0];
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d", s->port);
    r = t_keep(relet_open(url, &c, &p, NULL));
    ASSERT(t_come_up(r, pair[1]));
    ASSERT_EQ(0, *s->accepted);
    (void)shutdown(pair[1], SHUT_RDWR);
    ASSERT(t_await(r, &ev, RELET_EV_UP));
    ASSERT_EQ(1, *s->accepted);
    ASSERT(t_echoes(r));
    PASS();
}

TEST a_descriptor_that_is_none_is_told(void)
{
    relet_config c = t_config();
    relet_poll_config p;
    relet_fault fault;
    int before = t_fd_count();

    memset(&p, 0, sizeof p);
    p.fd = T_FDS - 1;
    ASSERT_EQ(NULL, relet_open(NULL, &c, &p, &fault));
    ASSERT_EQ(RELET_E_SYSTEM, fault.code);
    ASSERT_STR_EQ(strerror(EBADF), fault.text);
    ASSERT_EQ(before, t_fd_count());
    PASS();
}

/* ------------------------------------------------ a loop of one's own */

/* A turn of the caller's own loop: relet_poll_timeout, relet_watches, poll. */
static int t_loop_turn(relet **r, int n)
{
    struct pollfd p[2 * RELET_WATCH_MAX];
    relet_watch w[RELET_WATCH_MAX];
    int i, k, ms, count = 0, timeout = T_SOON_MS;

    for (i = 0; i < n; i++) {
        ms = relet_poll_timeout(r[i]);
        if (ms >= 0 && ms < timeout)
            timeout = ms;
        for (k = relet_watches(r[i], w, RELET_WATCH_MAX); k > 0; k--) {
            p[count].fd = w[k - 1].fd;
            p[count++].events = w[k - 1].events;
        }
    }
    return poll(p, (nfds_t)count, timeout);
}

TEST two_clients_share_a_loop_of_the_callers(void)
{
    relet *r[2];
    relet_event ev;
    int i, turns, got[2] = {0, 0};

    r[0] = t_open_server(t_serve(T_RESP3));
    r[1] = t_open_server(t_serve(T_RESP3));
    for (i = 0; i < 100; i++)
        ASSERT_EQ(0, relet_command_text(r[i % 2], NULL, "GET", "key",
                                        (char *)NULL));
    for (turns = 0; got[0] + got[1] < 100; turns++) {
        ASSERT(turns < 2000);
        for (i = 0; i < 2; i++)
            while (relet_wait(r[i], &ev, 0) == 1)
                got[i] += ev.kind == RELET_EV_REPLY &&
                          relet_value_is(ev.value, "key");
        if (got[0] + got[1] < 100)
            ASSERT(t_loop_turn(r, 2) >= 0);
    }
    ASSERT_EQ(50, got[0]);
    ASSERT_EQ(50, got[1]);
    PASS();
}

TEST a_loop_of_the_callers_sleeps_while_nothing_happens(void)
{
    relet_time end;
    relet_event ev;
    int turns = 0;
    relet *r = t_open("127.0.0.1", t_port_free(), NULL);

    ASSERT(t_await(r, &ev, RELET_EV_DOWN));
    for (end = relet_clock() + 300; relet_clock() < end; turns++) {
        while (relet_wait(r, &ev, 0) == 1)
            continue;
        (void)t_loop_turn(&r, 1);
    }
    ASSERT(turns < 1000);
    PASS();
}

TEST a_wake_is_seen_by_a_loop_of_the_callers(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    relet_wake(r);
    ASSERT_EQ(1, t_loop_turn(&r, 1));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(relet_poll_timeout(r) != 0);
    PASS();
}

/* ---------------------------------------------------------- transports
 *
 * This engine behaves like TLS: it reads ahead of what it hands out, its
 * handshake changes direction, and a read may need the socket to be writable,
 * or a write need it to be readable. */

typedef struct t_engine {
    int fd;
    int shaken, shake_code;   /* what an unfinished handshake says   */
    int opened, closed;       /* how often                           */
    int write_wants_read;     /* until something was read            */
    int read_wants_write;     /* every other time                    */
    int refuse;               /* open gives no session               */
    int hold;                 /* write keeps a copy and says "later" */
    size_t held;
    char copy[256];
    const char *problem;
    char ahead[4096];
    size_t from, to;
} t_engine;

static void *t_engine_open(void *user, int fd, const char *host)
{
    t_engine *e = (t_engine *)user;

    (void)host;
    if (e->refuse)
        return NULL;
    e->fd = fd;
    e->opened++;
    e->from = e->to = 0;
    return e;
}

static int t_engine_handshake(void *session)
{
    t_engine *e = (t_engine *)session;

    if (e->shake_code != 0)
        return e->shake_code;
    return e->shaken++ == 0 ? RELET_TRANSPORT_WRITE : 0;
}

/* Hands out seven bytes at most. It reads the socket only when no byte is left
 * from the last read. */
static long t_engine_read(void *session, void *p, size_t n)
{
    t_engine *e = (t_engine *)session;
    long got;

    if (e->read_wants_write && (e->read_wants_write++ & 1))
        return RELET_TRANSPORT_WRITE;
    if (e->from == e->to) {
        got = (long)recv(e->fd, e->ahead, sizeof e->ahead, 0);
        if (got <= 0)
            return got == 0 ? 0
                   : errno == EAGAIN ? RELET_TRANSPORT_READ
                                     : RELET_TRANSPORT_FAILED;
        e->from = 0;
        e->to = (size_t)got;
        e->write_wants_read = 0;
    }
    n = n < 7 ? n : 7;
    n = n < e->to - e->from ? n : e->to - e->from;
    memcpy(p, e->ahead + e->from, n);
    e->from += n;
    return (long)n;
}

static long t_engine_write(void *session, const void *p, size_t n)
{
    t_engine *e = (t_engine *)session;
    long put;

    if (e->write_wants_read)
        return RELET_TRANSPORT_READ;
    if (e->hold) {
        e->held = n < sizeof e->copy ? n : sizeof e->copy;
        memcpy(e->copy, p, e->held);
        return RELET_TRANSPORT_WRITE;
    }
    if (e->held > 0) { /* as TLS does: the first copy is sent               */
        n = e->held;
        e->held = 0;
        return (long)send(e->fd, e->copy, n, MSG_NOSIGNAL);
    }
    put = (long)send(e->fd, p, n < 5 ? n : 5, MSG_NOSIGNAL);
    return put >= 0 ? put : RELET_TRANSPORT_FAILED;
}

static void t_engine_close(void *session)
{
    ((t_engine *)session)->closed++;
}

static const char *t_problem;

static const char *t_engine_problem(void *session)
{
    return session != NULL ? ((t_engine *)session)->problem : t_problem;
}

static t_engine t_the_engine;
static const relet_transport t_transport = {
    &t_the_engine,  t_engine_open,  t_engine_handshake, t_engine_read,
    t_engine_write, t_engine_close, t_engine_problem};

static relet *t_open_engine(int port, relet_time connect_timeout_ms)
{
    relet_config c = t_config();
    relet_poll_config p;

    memset(&p, 0, sizeof p);
    p.transport = &t_transport;
    c.scheme = RELET_TLS;
    c.port = port;
    c.connect_timeout_ms = connect_timeout_ms;
    (void)snprintf(c.host, sizeof c.host, "127.0.0.1");
    return t_keep(relet_open(NULL, &c, &p, NULL));
}

static void t_engine_reset(void)
{
    memset(&t_the_engine, 0, sizeof t_the_engine);
    t_problem = NULL;
}

TEST a_transport_carries_the_bytes(void)
{
    relet *r;
    int i;

    t_engine_reset();
    r = t_open_engine(t_serve(T_RESP3)->port, T_SOON_MS);
    for (i = 0; i < 20; i++)
        ASSERT(t_echoes(r));
    relet_close(r);
    t_clients[0] = NULL;
    ASSERT_EQ(1, t_the_engine.opened);
    ASSERT_EQ(1, t_the_engine.closed);
    PASS();
}

TEST bytes_inside_a_transport_are_not_waited_for(void)
{
    relet_event ev;
    relet *r;
    int peer, i;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    for (i = 0; i < 9; i++)
        ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    t_put(peer, "+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n+PONG\r\n"
                "+PONG\r\n+PONG\r\n+PONG\r\n");
    for (i = 0; i < 9; i++)
        ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    PASS();
}

TEST a_read_that_wants_to_write_is_served(void)
{
    relet *r;
    int i;

    t_engine_reset();
    t_the_engine.read_wants_write = 1;
    r = t_open_engine(t_serve(T_RESP3)->port, T_SOON_MS);
    for (i = 0; i < 20; i++)
        ASSERT(t_echoes(r));
    PASS();
}

TEST a_write_that_wants_to_read_waits_for_that(void)
{
    relet_watch w[RELET_WATCH_MAX];
    relet_event ev;
    relet *r;
    int i, n, peer;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.write_wants_read = 1;
    ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    n = relet_watches(r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++)
        ASSERT_EQ(POLLIN, w[i].events); /* it could always be written to */
    t_put(peer, "+PONG\r\n");
    t_the_engine.write_wants_read = 0;
    ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    PASS();
}

TEST a_write_that_a_transport_put_off_is_watched_for(void)
{
    relet_watch w[RELET_WATCH_MAX];
    relet_event ev;
    relet *r;
    int i, n, peer, events = 0;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.hold = 1;
    ASSERT_EQ(0, relet_command_text(r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(t_the_engine.held > 0);
    n = relet_watches(r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++)
        events |= w[i].events;
    ASSERT(events & POLLOUT);
    PASS();
}

TEST what_a_transport_has_seen_cannot_be_taken_back(void)
{
    static const char both[] = "*1\r\n$5\r\nFIRST\r\n"
                               "*1\r\n$6\r\nSECOND\r\n";
    relet_request first = {1, 0, 0};
    relet_event ev;
    relet *r;
    char got[64];
    int peer, turn;
    long part;
    size_t n = 0;

    t_engine_reset();
    r = t_open_pair(&peer, &t_transport);
    ASSERT(t_come_up(r, peer));
    t_the_engine.hold = 1;
    ASSERT_EQ(0, relet_command_text(r, &first, "FIRST", (char *)NULL));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(t_the_engine.held > 0);
    ASSERT_EQ(1, (int)relet_cancel(r, 1));
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_UNSURE, ev.kind);
    ASSERT_EQ(0, relet_command_text(r, NULL, "SECOND", (char *)NULL));
    t_the_engine.hold = 0;
    for (turn = 0; turn < 100 && n < sizeof both - 1; turn++) {
        ASSERT_EQ(0, relet_wait(r, &ev, 0));
        part = (long)recv(peer, got + n, sizeof got - n, MSG_DONTWAIT);
        n += part > 0 ? (size_t)part : 0;
    }
    ASSERT_EQ(sizeof both - 1, n);
    ASSERT_EQ(0, memcmp(got, both, n));
    PASS();
}

TEST a_handshake_without_end_costs_the_connect_timeout(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.shake_code = RELET_TRANSPORT_READ;
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, 100), &ev,
                   RELET_EV_DOWN));
    ASSERT_EQ(RELET_WHY_CONNECT, ev.why);
    ASSERT(t_says(ev.text, "TLS with 127.0.0.1"));
    ASSERT(t_says(ev.text, "timed out"));
    ASSERT_EQ(1, t_the_engine.opened);
    ASSERT_EQ(1, t_the_engine.closed);
    PASS();
}

TEST a_failed_handshake_is_told_in_the_transports_words(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.shake_code = RELET_TRANSPORT_FAILED;
    t_the_engine.problem = "certificate verify failed";
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, T_SOON_MS), &ev,
                   RELET_EV_DOWN));
    ASSERT(t_says(ev.text, "certificate verify failed"));
    ASSERT_EQ(t_the_engine.opened, t_the_engine.closed);
    PASS();
}

TEST a_transport_that_does_not_open_is_told_in_its_words(void)
{
    relet_event ev;

    t_engine_reset();
    t_the_engine.refuse = 1;
    t_problem = "no entropy";
    ASSERT(t_await(t_open_engine(t_serve(T_MUTE)->port, T_SOON_MS), &ev,
                   RELET_EV_DOWN));
    ASSERT(t_says(ev.text, "no entropy"));
    PASS();
}

SUITE(places)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_wait_without_end_ends_when_no_event_can_come_any_more);
    RUN_TEST(a_client_connects_over_ipv4);
    RUN_TEST(a_client_connects_over_ipv6);
    RUN_TEST(a_client_connects_over_a_unix_socket);
    RUN_TEST(a_listener_whose_backlog_is_full_is_asked_again);
    RUN_TEST(a_pause_of_a_month_is_no_pause_without_end);
    RUN_TEST(a_client_connects_to_an_abstract_name);
    RUN_TEST(a_path_that_does_not_fit_is_a_wrong_setting);
    RUN_TEST(what_is_not_built_yet_is_refused_by_name);
    RUN_TEST(tls_without_a_transport_is_a_wrong_setting);
    RUN_TEST(the_environment_says_where_to_connect);
    RUN_TEST(a_refusing_address_makes_way_for_the_next_at_once);
    RUN_TEST(a_silent_address_is_overtaken_by_the_next);
    RUN_TEST(many_silent_addresses_do_not_hide_a_good_one);
    RUN_TEST(a_silent_host_costs_the_connect_timeout_and_no_more);
    RUN_TEST(an_unknown_name_is_told_as_such);
}

SUITE(trouble)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_refused_connect_is_told_with_its_reason);
    RUN_TEST(a_refused_client_tries_again_without_haste);
    RUN_TEST(a_client_comes_up_when_its_server_does);
    RUN_TEST(a_web_server_is_told_from_a_redis);
    RUN_TEST(a_tls_server_is_told_from_a_plain_one);
    RUN_TEST(a_server_without_resp3_is_told);
    RUN_TEST(a_server_that_hangs_up_is_told);
    RUN_TEST(a_mute_server_costs_the_connect_timeout_and_no_more);
    RUN_TEST(a_large_value_goes_both_ways);
    RUN_TEST(a_broken_link_is_told_and_made_again);
    RUN_TEST(an_operation_without_an_answer_ends_in_time);
    RUN_TEST(writing_to_who_has_left_raises_no_signal);
    RUN_TEST(the_last_words_of_who_has_left_are_read);
    RUN_TEST(what_came_before_a_hang_up_is_told_before_it);
}

SUITE(waits)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_call_is_refused_while_operations_are_outstanding);
    RUN_TEST(a_call_out_of_time_is_cancelled);
    RUN_TEST(a_late_answer_is_not_taken_for_that_of_the_next_call);
    RUN_TEST(a_stopped_client_tells_what_became_of_its_operations);
    RUN_TEST(a_signal_handler_ends_a_wait);
    RUN_TEST(another_thread_ends_a_wait);
    RUN_TEST(wakes_before_a_wait_end_that_one_and_no_other);
    RUN_TEST(a_wake_during_a_call_ends_the_next_wait);
    RUN_TEST(a_storm_of_signals_surfaces_nowhere);
    RUN_TEST(two_clients_share_a_loop_of_the_callers);
    RUN_TEST(a_loop_of_the_callers_sleeps_while_nothing_happens);
    RUN_TEST(a_wake_is_seen_by_a_loop_of_the_callers);
}

SUITE(descriptors)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(every_descriptor_is_closed_by_exec_and_never_blocks);
    RUN_TEST(a_link_is_prompt_and_kept_alive);
    RUN_TEST(keepalive_can_be_left_alone);
    RUN_TEST(clients_that_come_and_go_leave_no_descriptor);
    RUN_TEST(a_descriptor_of_the_callers_is_used_once_and_closed);
    RUN_TEST(a_descriptor_of_the_callers_is_closed_though_never_used);
    RUN_TEST(after_the_callers_descriptor_the_url_is_used);
    RUN_TEST(a_descriptor_that_is_none_is_told);
}

SUITE(transports)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_transport_carries_the_bytes);
    RUN_TEST(bytes_inside_a_transport_are_not_waited_for);
    RUN_TEST(a_read_that_wants_to_write_is_served);
    RUN_TEST(a_write_that_wants_to_read_waits_for_that);
    RUN_TEST(a_write_that_a_transport_put_off_is_watched_for);
    RUN_TEST(what_a_transport_has_seen_cannot_be_taken_back);
    RUN_TEST(a_handshake_without_end_costs_the_connect_timeout);
    RUN_TEST(a_failed_handshake_is_told_in_the_transports_words);
    RUN_TEST(a_transport_that_does_not_open_is_told_in_its_words);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(places);
    RUN_SUITE(trouble);
    RUN_SUITE(waits);
    RUN_SUITE(descriptors);
    RUN_SUITE(transports);
    GREATEST_MAIN_END();
}
