/* SPDX-License-Identifier: MIT
 *
 * connect_test.c - tests of how the driver connects: to addresses, to names
 * that are looked up, to servers that are away or are no Redis.
 *
 * Names are looked up in the table below, so no test needs a resolver. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "greatest.h"
#include "poll_rig.h"

#include <netdb.h>

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

/* ------------------------------------------------------------------ helpers */

static void t_teardown_names(void *user)
{
    t_teardown(user);
    memset(t_addresses, 0, sizeof t_addresses);
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

/* ---------------------------------------------------- where one can connect */

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

TEST a_url_scheme_that_is_not_built_yet_is_refused_by_name(void)
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

/* --------------------------------------------------- names, and their races */

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

/* -------------------------------------------------- when there is no server */

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

TEST a_refused_client_backs_off_between_attempts(void)
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

/* With a wrong server, the client reports the reason, and waits between
 * attempts to connect. */
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

TEST a_web_server_is_distinguished_from_a_redis_server(void)
{
    CHECK_CALL(t_check_wrong(T_HTTP, RELET_WHY_PROTOCOL));
    PASS();
}

TEST a_tls_server_is_distinguished_from_a_plain_server(void)
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

SUITE(places)
{
    SET_TEARDOWN(t_teardown_names, NULL);
    RUN_TEST(a_client_connects_over_ipv4);
    RUN_TEST(a_client_connects_over_ipv6);
    RUN_TEST(a_client_connects_over_a_unix_socket);
    RUN_TEST(a_listener_whose_backlog_is_full_is_asked_again);
    RUN_TEST(a_client_connects_to_an_abstract_name);
    RUN_TEST(a_path_that_does_not_fit_is_a_wrong_setting);
    RUN_TEST(a_url_scheme_that_is_not_built_yet_is_refused_by_name);
    RUN_TEST(tls_without_a_transport_is_a_wrong_setting);
    RUN_TEST(the_environment_says_where_to_connect);
    RUN_TEST(a_refusing_address_makes_way_for_the_next_at_once);
    RUN_TEST(a_silent_address_is_overtaken_by_the_next);
    RUN_TEST(many_silent_addresses_do_not_hide_a_good_one);
    RUN_TEST(a_silent_host_costs_the_connect_timeout_and_no_more);
    RUN_TEST(an_unknown_name_is_told_as_such);
    RUN_TEST(a_refused_connect_is_told_with_its_reason);
    RUN_TEST(a_refused_client_backs_off_between_attempts);
    RUN_TEST(a_client_comes_up_when_its_server_does);
    RUN_TEST(a_web_server_is_distinguished_from_a_redis_server);
    RUN_TEST(a_tls_server_is_distinguished_from_a_plain_server);
    RUN_TEST(a_server_without_resp3_is_told);
    RUN_TEST(a_server_that_hangs_up_is_told);
    RUN_TEST(a_mute_server_costs_the_connect_timeout_and_no_more);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(places);
    GREATEST_MAIN_END();
}
