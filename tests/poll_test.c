/* SPDX-License-Identifier: MIT
 *
 * poll_test.c - the driver against real sockets on this machine: bytes in both
 * directions, calls and waits, descriptors, and a loop of the caller's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "greatest.h"
#include "poll_rig.h"

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>

/* ----------------------------------------------------------- carrying bytes */

TEST a_large_value_goes_both_ways_over_a_socket(void)
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

TEST writing_to_a_closed_peer_raises_no_signal(void)
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

TEST an_error_sent_before_the_peer_closed_is_read(void)
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

TEST replies_before_a_hang_up_are_reported_before_the_hang_up(void)
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

TEST a_call_may_take_longer_than_other_operations(void)
{
    relet_config c = t_config();
    relet_span argv[1];
    relet_event ev;
    relet *r;

    c.timeout_ms = 50;
    r = t_open("127.0.0.1", t_serve(T_RESP3)->port, &c);
    argv[0] = relet_str("SILENCE");
    ASSERT_EQ(RELET_E_TIMEOUT, relet_call(r, argv, 1, &ev, 300));
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

TEST a_call_of_words_is_a_call(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT_EQ(0, relet_call_text(r, &ev, T_SOON_MS, "ECHO", "x", (char *)NULL));
    ASSERT(relet_value_is(ev.value, "x"));
    ASSERT_EQ(RELET_E_TIMEOUT,
              relet_call_text(r, &ev, 10, "SILENCE", (char *)NULL));
    PASS();
}

static int t_ask(relet *r, uint64_t tag, const char *word, const char *text)
{
    relet_request q = {0, 0, 0};

    q.tag = tag;
    return relet_command_text(r, &q, word, text, (char *)NULL);
}

/* UP, and the reply before the awaited one, are told later. */
TEST an_outcome_is_awaited_and_the_other_events_are_kept(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT_EQ(0, t_ask(r, 1, "ECHO", "first"));
    ASSERT_EQ(0, t_ask(r, 2, "ECHO", "second"));
    ASSERT_EQ(1, relet_await(r, 2, &ev, T_SOON_MS));
    ASSERT_EQ(2, (int)ev.tag);
    ASSERT(relet_value_is(ev.value, "second"));
    ASSERT_EQ(0, relet_poll_timeout(r));
    ASSERT_EQ(RELET_E_REFUSED,
              relet_call_text(r, &ev, 10, "PING", (char *)NULL));
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_UP, ev.kind);
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_REPLY, ev.kind);
    ASSERT(relet_value_is(ev.value, "first"));
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(relet_poll_timeout(r) != 0);
    ASSERT(t_echoes(r));
    PASS();
}

/* Story: a loop that took one event in a turn slept for the timeout of a ping
 * while the next reply had been read already. */
TEST a_loop_that_takes_one_event_a_turn_does_not_sleep_before_the_next(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;
    int tag;

    for (tag = 1; tag <= 3; tag++)
        ASSERT_EQ(0, t_ask(r, (uint64_t)tag, "ECHO", "x"));
    ASSERT(t_await(r, &ev, RELET_EV_REPLY));
    for (tag = 1; tag <= 3; tag++) {
        ASSERT_EQ(tag, (int)ev.tag);
        ASSERT_EQ(0, relet_poll_timeout(r));
        if (tag < 3)
            ASSERT_EQ(1, relet_wait(r, &ev, T_SOON_MS));
    }
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(relet_poll_timeout(r) > 0);
    ASSERT_EQ(0, t_ask(r, 4, "ECHO", "x"));
    ASSERT_EQ(1, relet_await(r, 4, &ev, T_SOON_MS));
    ASSERT_EQ(0, relet_poll_timeout(r));
    PASS();
}

TEST an_await_out_of_time_leaves_its_operation(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_event ev;

    ASSERT(t_echoes(r));
    ASSERT_EQ(0, t_ask(r, 1, "SILENCE", NULL));
    ASSERT_EQ(0, relet_await(r, 1, &ev, 0));
    ASSERT_EQ(0, relet_await(r, 1, &ev, 20));
    ASSERT_EQ(1, (int)relet_outstanding(r));
    relet_wake(r); /* is left to relet_wait */
    ASSERT_EQ(0, relet_await(r, 1, &ev, 20));
    ASSERT_EQ(0, relet_wait(r, &ev, T_SOON_MS));
    ASSERT_EQ(0, t_ask(r, 2, "CLOSE", NULL));
    ASSERT_EQ(1, relet_await(r, 1, &ev, -1));
    ASSERT_EQ(RELET_EV_UNSURE, ev.kind);
    ASSERT_EQ(RELET_WHY_BROKEN, ev.why);
    ASSERT_EQ(1, relet_await(r, 2, &ev, RELET_NEVER));
    ASSERT_EQ(RELET_E_REFUSED, relet_await(r, 2, &ev, -1));
    relet_stop(r);
    ASSERT_EQ(RELET_E_REFUSED, relet_await(r, 2, &ev, -1));
    PASS();
}

/* A leader asks a question in the middle of its loop. */
TEST a_leader_asks_and_its_events_are_kept(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    relet_lease_config c;
    relet_event ev;

    memset(&c, 0, sizeof c);
    c.name = relet_str("n");
    c.alone = 1;
    ASSERT_EQ(0, relet_lease_start(r, &c));
    ASSERT_EQ(1, relet_lease_start(r, &c));
    ASSERT_EQ(0, t_ask(r, 1, "ECHO", "a question"));
    ASSERT_EQ(1, relet_await(r, 1, &ev, T_SOON_MS));
    ASSERT(relet_value_is(ev.value, "a question"));
    ASSERT_EQ(0, relet_lease_await_end(r, 0, &ev, 0));
    ASSERT_EQ(0, relet_lease_stop(r, 0));
    ASSERT_EQ(0, relet_lease_work_done(r, 0));
    ASSERT_EQ(1, relet_lease_await_end(r, 0, &ev, T_SOON_MS));
    ASSERT_EQ(RELET_EV_LEASE_ENDED, ev.kind);
    ASSERT_EQ(RELET_E_REFUSED, relet_lease_await_end(r, 0, &ev, -1));
    ASSERT_EQ(RELET_E_REFUSED, relet_worker_await_end(r, 0, &ev, -1));
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_LEASE_GAINED, ev.kind);
    ASSERT_EQ(0, ev.lease);
    ASSERT_EQ(1, relet_wait(r, &ev, 0));
    ASSERT_EQ(RELET_EV_LEASE_GAINED, ev.kind);
    ASSERT_EQ(1, ev.lease);
    ASSERT(relet_lease_valid_for(r, 1, relet_clock()) > 0);
    PASS();
}

/* No link will come any more, but the lease is believed in for some time. */
TEST the_end_of_a_lease_is_awaited_though_the_client_has_given_up(void)
{
    relet_config c = t_config();
    relet_poll_config p;
    relet_lease_config lease;
    relet_event ev;
    relet *r;
    int pair[2];

    memset(&p, 0, sizeof p);
    memset(&lease, 0, sizeof lease);
    ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    t_fds[t_fds_n++] = pair[1];
    p.fd = &pair[0];
    c.attempts_max = 1;
    r = t_keep(relet_open(NULL, &c, &p, NULL));
    ASSERT(t_come_up(r, pair[1]));
    lease.name = relet_str("n");
    lease.ttl_ms = 2000;
    ASSERT_EQ(0, relet_lease_start(r, &lease));
    ASSERT_EQ(0, relet_wait(r, &ev, 20)); /* the request goes out */
    t_put(pair[1], "-NOPERM no wake-ups\r\n*5\r\n:1\r\n:7\r\n:2000\r\n"
                   ":1700000000000000\r\n:0\r\n");
    ASSERT(t_await(r, &ev, RELET_EV_LEASE_GAINED));
    (void)shutdown(pair[1], SHUT_RDWR);
    ASSERT_EQ(1, relet_lease_await_end(r, 0, &ev, -1));
    ASSERT_EQ(RELET_EV_LEASE_ENDED, ev.kind);
    PASS();
}

TEST a_stopped_client_reports_the_outcome_of_its_operations(void)
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

TEST wakes_before_a_wait_end_only_that_wait(void)
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

static int t_fd_count(void)
{
    int fd, n = 0;

    for (fd = 0; fd < T_FDS; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

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
    p.fd = &pair[0];
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

static int t_is_socket(int fd)
{
    struct stat s;

    return fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode);
}

/* A daemon that closed its standard input gets descriptor 0 from socketpair. */
TEST descriptor_0_is_a_descriptor(void)
{
    int saved = dup(0), peer;
    relet *r;

    ASSERT(saved >= 0);
    ASSERT_EQ(0, close(0));
    r = t_open_pair(&peer, NULL);
    ASSERT(peer > 0);
    ASSERT(t_come_up(r, peer));
    ASSERT(t_is_socket(0));
    relet_close(r);
    t_clients[0] = NULL;
    ASSERT_EQ(0, dup2(saved, 0));
    ASSERT_EQ(0, close(saved));
    PASS();
}

TEST an_invalid_descriptor_is_refused(void)
{
    relet_config c = t_config();
    relet_poll_config p;
    relet_fault fault;
    int before = t_fd_count(), none = T_FDS - 1;

    memset(&p, 0, sizeof p);
    p.fd = &none;
    ASSERT_EQ(NULL, relet_open(NULL, &c, &p, &fault));
    ASSERT_EQ(RELET_E_SYSTEM, fault.code);
    ASSERT_STR_EQ(strerror(EBADF), fault.text);
    ASSERT_EQ(before, t_fd_count());
    PASS();
}

/* -------------------------------------------------- the caller's own loop */

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

/* The next link gets the number of the descriptor of the one before. */
TEST relet_fd_is_readable_for_the_next_link_too(void)
{
    relet *r = t_open_server(t_serve(T_RESP3));
    struct pollfd p;
    relet_event ev;
    int ups = 0;

    ASSERT(t_echoes(r));
    p.fd = relet_fd(r);
    if (p.fd < 0)
        SKIPm("this system has no epoll");
    p.events = POLLIN;
    ASSERT_EQ(0, t_ask(r, 1, "CLOSE", NULL));
    while (ups == 0) {
        while (relet_wait(r, &ev, 0) == 1)
            ups += ev.kind == RELET_EV_UP;
        ASSERT_EQ(p.fd, relet_fd(r));
        ASSERT(ups > 0 || poll(&p, 1, relet_poll_timeout(r)) >= 0);
    }
    ASSERT(t_echoes(r));
    PASS();
}

SUITE(driver)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_wait_without_end_ends_when_no_event_can_come_any_more);
    RUN_TEST(a_pause_of_a_month_is_no_pause_without_end);
    RUN_TEST(a_large_value_goes_both_ways_over_a_socket);
    RUN_TEST(a_broken_link_is_told_and_made_again);
    RUN_TEST(an_operation_without_an_answer_ends_in_time);
    RUN_TEST(writing_to_a_closed_peer_raises_no_signal);
    RUN_TEST(an_error_sent_before_the_peer_closed_is_read);
    RUN_TEST(replies_before_a_hang_up_are_reported_before_the_hang_up);
    RUN_TEST(a_call_is_refused_while_operations_are_outstanding);
    RUN_TEST(a_call_out_of_time_is_cancelled);
    RUN_TEST(a_call_may_take_longer_than_other_operations);
    RUN_TEST(a_late_answer_is_not_taken_for_that_of_the_next_call);
    RUN_TEST(a_call_of_words_is_a_call);
    RUN_TEST(an_outcome_is_awaited_and_the_other_events_are_kept);
    RUN_TEST(a_loop_that_takes_one_event_a_turn_does_not_sleep_before_the_next);
    RUN_TEST(an_await_out_of_time_leaves_its_operation);
    RUN_TEST(a_leader_asks_and_its_events_are_kept);
    RUN_TEST(the_end_of_a_lease_is_awaited_though_the_client_has_given_up);
    RUN_TEST(a_stopped_client_reports_the_outcome_of_its_operations);
    RUN_TEST(a_signal_handler_ends_a_wait);
    RUN_TEST(another_thread_ends_a_wait);
    RUN_TEST(wakes_before_a_wait_end_only_that_wait);
    RUN_TEST(a_wake_during_a_call_ends_the_next_wait);
    RUN_TEST(a_storm_of_signals_surfaces_nowhere);
    RUN_TEST(two_clients_share_a_loop_of_the_callers);
    RUN_TEST(a_loop_of_the_callers_sleeps_while_nothing_happens);
    RUN_TEST(a_wake_is_seen_by_a_loop_of_the_callers);
    RUN_TEST(relet_fd_is_readable_for_the_next_link_too);
    RUN_TEST(every_descriptor_is_closed_by_exec_and_never_blocks);
    RUN_TEST(a_link_is_prompt_and_kept_alive);
    RUN_TEST(keepalive_can_be_left_alone);
    RUN_TEST(clients_that_come_and_go_leave_no_descriptor);
    RUN_TEST(a_descriptor_of_the_callers_is_used_once_and_closed);
    RUN_TEST(a_descriptor_of_the_callers_is_closed_though_never_used);
    RUN_TEST(after_the_callers_descriptor_the_url_is_used);
    RUN_TEST(descriptor_0_is_a_descriptor);
    RUN_TEST(an_invalid_descriptor_is_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(driver);
    GREATEST_MAIN_END();
}
