/* SPDX-License-Identifier: MIT
 *
 * fork_test.c - tests of a client after fork: the child is refused every call,
 * and the parent's client is not disturbed.
 *
 * The test holds the server's end of a socket pair, so it sees each byte. Where
 * the system cannot zero a page in a child (RELET_POLL_PLAIN stands for such a
 * system), the driver compares process numbers. There the child is refused from
 * the first call on that would touch a descriptor. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "greatest.h"
#include "relet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char t_hello[] =
    "%3\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+proto\r\n:3\r\n"
    "+OK\r\n+OK\r\n+PONG\r\n";

typedef struct t_rig {
    relet *r;
    int fd; /* of the server */
} t_rig;

static t_rig t_one = {NULL, -1};

static void t_teardown(void *user)
{
    (void)user;
    relet_close(t_one.r);
    if (t_one.fd >= 0)
        (void)close(t_one.fd);
    t_one.r = NULL;
    t_one.fd = -1;
}

static int t_say(const char *text)
{
    return write(t_one.fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Reads the bytes that have reached the server. Returns their number, or -1 at
 * the end of the link. */
static long t_heard(char *p, size_t n)
{
    long got = (long)recv(t_one.fd, p, n, MSG_DONTWAIT);

    if (got == 0)
        return -1;
    return got > 0 ? got : 0;
}

/* Opens a client over a socket pair and brings it up. */
static int t_start(const relet_transport *transport)
{
    relet_poll_config p;
    relet_config c;
    relet_event ev;
    char bytes[4096];
    int fd[2];

    relet_config_init(&c);
    c.scheme = transport ? RELET_TLS : RELET_TCP;
    memset(&p, 0, sizeof p);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
        return 0;
    p.fd = &fd[0];
    p.transport = transport;
    t_one.fd = fd[1];
    t_one.r = relet_open(NULL, &c, &p, NULL);
    if (t_one.r == NULL || !t_say(t_hello))
        return 0;
    if (relet_wait(t_one.r, &ev, 5000) != 1 || ev.kind != RELET_EV_UP)
        return 0;
    return t_heard(bytes, sizeof bytes) > 0;
}

/* Returns 1 if the parent's next command is answered as usual. */
static int t_goes_on(void)
{
    char bytes[256];
    relet_event ev;
    long n;

    if (relet_command_text(t_one.r, NULL, "GET", "k", (char *)NULL) != 0 ||
        relet_wait(t_one.r, &ev, 0) != 0)
        return 0;
    n = t_heard(bytes, sizeof bytes);
    if (n != 20 || memcmp(bytes, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 20) != 0 ||
        !t_say("$5\r\nvalue\r\n"))
        return 0;
    return relet_wait(t_one.r, &ev, 5000) == 1 && ev.kind == RELET_EV_REPLY &&
           relet_value_is(ev.value, "value");
}

/* Returns 1 if this system zeroes a page marked by MADV_WIPEONFORK. */
static int t_wipes(void)
{
#if defined(MADV_WIPEONFORK) && !defined(RELET_POLL_PLAIN)
    char *p = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int wipes = p != MAP_FAILED && madvise(p, 4096, INT_MAX) != 0 &&
                madvise(p, 4096, MADV_WIPEONFORK) == 0;

    if (p != MAP_FAILED)
        (void)munmap(p, 4096);
    return wipes;
#else
    return 0;
#endif
}

/* --------------------------------------------------------- calls of a child */

#define T_FORKED(n, call) \
    case n: return (call) == RELET_E_FORKED

/* Makes the n-th call that queues something or changes a setting. Returns 1 if
 * it was refused, 0 if not, -1 if there is no such call. */
static int t_try_asking(relet *r, int n)
{
    relet_span word = relet_str("x"), argv[1];
    relet_args unit[1];
    relet_lease_config lease;
    relet_worker_config worker;
    relet_job job;
    relet_failure f;
    uint64_t number = 1;

    argv[0] = word;
    unit[0].argv = argv;
    unit[0].argc = 1;
    memset(&lease, 0, sizeof lease);
    memset(&worker, 0, sizeof worker);
    memset(&job, 0, sizeof job);
    memset(&f, 0, sizeof f);
    lease.name = worker.queue = job.payload = job.id = word;
    switch (n) {
    T_FORKED(0, relet_command(r, argv, 1, NULL));
    T_FORKED(1, relet_command_text(r, NULL, "PING", (char *)NULL));
    T_FORKED(2, relet_transaction(r, unit, 1, NULL));
    T_FORKED(3, relet_script_add(r, word));
    T_FORKED(4, relet_script_run(r, 0, 0, argv, 1, NULL));
    T_FORKED(5, relet_subscribe(r, RELET_CHANNEL, word));
    T_FORKED(6, relet_unsubscribe(r, RELET_CHANNEL, word));
    T_FORKED(7, relet_credentials(r, word, word));
    T_FORKED(8, relet_lease_start(r, &lease));
    T_FORKED(9, relet_lease_stop(r, 0));
    T_FORKED(10, relet_lease_work_done(r, 0));
    T_FORKED(11, relet_worker_start(r, &worker));
    T_FORKED(12, relet_worker_stop(r, 0));
    T_FORKED(13, relet_job_done(r, 0, 1, word));
    T_FORKED(14, relet_job_fail(r, 0, 1, &f));
    T_FORKED(15, relet_job_release(r, 0, 1));
    T_FORKED(16, relet_job_progress(r, 0, 1, word));
    T_FORKED(17, relet_queue_put(r, word, &job, 1, 0, NULL));
    T_FORKED(18,
             relet_queue_put_unique(r, word, &job, RELET_REPLACE, 0, 0, NULL));
    T_FORKED(19, relet_queue_job_look(r, word, 1, word, NULL));
    T_FORKED(20, relet_queue_job_keep(r, word, 1, word, 1, NULL));
    T_FORKED(21,
             relet_queue_job_list(r, word, RELET_AT_WAITING, 0, 1, NULL, NULL));
    T_FORKED(22, relet_queue_job_cancel(r, word, 1, word, NULL));
    T_FORKED(23, relet_queue_status(r, word, NULL));
    T_FORKED(24, relet_queue_replay(r, word, &number, 1, 0, 0, 0, NULL));
    T_FORKED(25, relet_queue_purge(r, word, RELET_AT_DEAD, 1, 0, NULL));
    T_FORKED(26, relet_queue_reap(r, word, 1, 1, 0, NULL));
    T_FORKED(27, relet_queue_promote(r, word, 1, NULL));
    T_FORKED(28, relet_queue_trim(r, word, 1, 1, 1, 1, NULL));
    T_FORKED(29, relet_queue_forget(r, word, relet_str(""), NULL));
    T_FORKED(30, relet_queue_limit(r, word, 1, NULL));
    T_FORKED(31, relet_queue_pause(r, word, RELET_IN, NULL));
    T_FORKED(32, relet_queue_resume(r, word, RELET_IN, NULL));
    T_FORKED(33, relet_queue_repair(r, word, 1, 1, NULL));
    }
    return -1;
}

/* Makes the n-th call that waits, returns a state or moves bytes. Returns as
 * t_try_asking. */
static int t_try_telling(relet *r, int n)
{
    relet_span word = relet_str("x");
    relet_job_info info;
    relet_watch watch[RELET_WATCH_MAX];
    relet_stats stats;
    relet_event ev;
    relet_work work;
    relet_job job;
    relet_io io;
    const uint8_t *out;
    uint8_t *in;
    size_t at = 0;

    memset(&job, 0, sizeof job);
    memset(&ev, 0, sizeof ev);
    job.payload = word;
    ev.kind = RELET_EV_JOBS;
    switch (n) {
    T_FORKED(0, relet_wait(r, &ev, 0));
    T_FORKED(1, relet_call(r, &word, 1, &ev, 0));
    T_FORKED(26, relet_fd(r));
    T_FORKED(27, relet_call_text(r, &ev, 0, "PING", (char *)NULL));
    T_FORKED(28, relet_await(r, 1, &ev, 0));
    T_FORKED(29, relet_lease_await_end(r, 0, &ev, 0));
    T_FORKED(30, relet_worker_await_end(r, 0, &ev, 0));
    T_FORKED(2, relet_queue_put_wait(r, word, &job, &ev, &info, 100));
    case 3: return relet_next(r, &ev) == 0;
    case 4: return relet_cancel(r, 0) == 0;
    case 5: return relet_outstanding(r) == 0;
    case 6: return relet_is_up(r) == 0;
    case 7: return relet_watches(r, watch, RELET_WATCH_MAX) == 0;
    case 8: return relet_poll_timeout(r) == -1;
    case 9: return relet_lease_valid_for(r, 0, relet_clock()) == 0;
    case 10: return relet_lease_token(r, 0) == 0;
    case 11: return relet_job_valid_for(r, 0, 1, relet_clock()) == 0;
    case 12: return relet_jobs_next(r, &ev, &at, &work) == 0;
    case 13: relet_stats_get(r, &stats); return stats.connects == 0;
    case 14: return strstr(relet_refusal(r), "another process opened") != NULL;
    case 15: relet_wake(r); return 1; /* the parent checks the wake-up */
    case 16: relet_stop(r); return 1;
    case 17: return relet_deadline(r) == RELET_NEVER;
    case 18: relet_tick(r, relet_clock() + 100000); return 1;
    case 19: return relet_io_want(r, &io) == 0;
    case 20: relet_io_opened(r, 0, 0, NULL); return 1;
    case 21: relet_io_closed(r, 0, 0, NULL); return 1;
    case 22: return relet_io_space(r, 0, &in) == 0;
    case 23: relet_io_received(r, 0, 1); return 1;
    case 24: return relet_io_pending(r, 0, &out) == 0;
    case 25: relet_io_sent(r, 0, 1); return 1;
    }
    return -1;
}

typedef int t_try_fn(relet *r, int n);

/* Ends a child that has not closed its client. It ends by exec, so that no leak
 * check takes the client for a leak. */
static void t_leave(int code)
{
    char text[16];

    sprintf(text, "exit %d", code);
    (void)execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(99);
}

/* Makes the calls from number `from` on in a child. Returns the number of the
 * first that is not refused, or 200 if all are. */
static int t_child(t_try_fn *try_one, int from, int close_too)
{
    pid_t pid = fork();
    int status = 0, n, good;

    if (pid == 0) {
        for (n = from; (good = try_one(t_one.r, n)) > 0; n++)
            continue;
        if (good == 0)
            t_leave(n);
        if (!close_too)
            t_leave(200);
        relet_close(t_one.r);
        _exit(200);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* Makes all of these calls, each as the first call of its own child. */
static int t_each_first(t_try_fn *try_one, int count)
{
    int n, got = 200;

    for (n = 0; got == 200 && n < count; n++)
        got = t_child(try_one, n, 0);
    return got;
}

/* Returns 1 if the child has sent nothing and the link still works. */
static int t_parent_is_undisturbed(void)
{
    char bytes[16];

    return t_heard(bytes, sizeof bytes) == 0 && t_goes_on();
}

/* -------------------------------------------------------------------- tests */

TEST a_child_is_refused_every_call_whichever_is_first(void)
{
    if (!t_wipes())
        SKIPm("this system cannot zero a page in a child");
    ASSERT(t_start(NULL));
    ASSERT_EQ(200, t_each_first(t_try_asking, 34));
    ASSERT_EQ(200, t_each_first(t_try_telling, 31));
    ASSERT_EQ(-1, t_try_asking(t_one.r, 34));
    ASSERT_EQ(-1, t_try_telling(t_one.r, 31));
    ASSERT(t_parent_is_undisturbed());
    PASS();
}

/* relet_wait comes first, so that the child is refused also on a system that
 * cannot zero a page. */
static int t_try_behind_wait(relet *r, int n)
{
    return n == 0 ? t_try_telling(r, 0) : t_try_asking(r, n - 1);
}

TEST a_child_that_waited_is_refused_every_call(void)
{
    ASSERT(t_start(NULL));
    ASSERT_EQ(200, t_child(t_try_behind_wait, 0, 1));
    ASSERT_EQ(200, t_child(t_try_telling, 0, 1));
    ASSERT(t_parent_is_undisturbed());
    PASS();
}

TEST a_child_that_only_closes_leaves_the_link_to_its_parent(void)
{
    ASSERT(t_start(NULL));
    ASSERT_EQ(200, t_child(t_try_asking, 1000, 1));
    ASSERT(t_parent_is_undisturbed());
    ASSERT_EQ(200, t_child(t_try_asking, 1000, 0));
    ASSERT(t_parent_is_undisturbed());
    PASS();
}

/* The child has a copy of the queue, and shares the socket with the answer. */
TEST an_answer_under_way_at_a_fork_reaches_the_parent(void)
{
    char bytes[64];
    relet_event ev;

    ASSERT(t_start(NULL));
    ASSERT_EQ(0, relet_command_text(t_one.r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_wait(t_one.r, &ev, 0));
    ASSERT_EQ(14, t_heard(bytes, sizeof bytes));
    ASSERT(t_say("+PONG\r\n"));
    ASSERT_EQ(0, relet_command_text(t_one.r, NULL, "ECHO", "1", (char *)NULL));
    ASSERT_EQ(200, t_child(t_try_telling, 0, 1));
    ASSERT_EQ(0, t_heard(bytes, sizeof bytes));
    ASSERT_EQ(1, relet_wait(t_one.r, &ev, 5000));
    ASSERT_EQ(RELET_EV_REPLY, ev.kind);
    ASSERT(relet_value_is(ev.value, "PONG"));
    ASSERT_EQ(0, relet_wait(t_one.r, &ev, 0));
    ASSERT_EQ(21, t_heard(bytes, sizeof bytes));
    PASS();
}

static int t_try_wake(relet *r, int n)
{
    if (n > 0)
        return -1;
    relet_wake(r);
    return 1;
}

TEST a_child_does_not_wake_its_parent(void)
{
    relet_watch w[RELET_WATCH_MAX];
    struct pollfd p;

    ASSERT(t_start(NULL));
    ASSERT(relet_watches(t_one.r, w, RELET_WATCH_MAX) > 0);
    p.fd = w[0].fd; /* the wake-up's descriptor is first */
    p.events = POLLIN;
    ASSERT_EQ(200, t_child(t_try_wake, 0, 1));
    ASSERT_EQ(0, poll(&p, 1, 0));
    relet_wake(t_one.r);
    ASSERT_EQ(1, poll(&p, 1, 0));
    PASS();
}

/* The child shares the kernel object behind relet_fd. */
TEST a_child_that_closes_leaves_relet_fd_as_it_is(void)
{
    relet_event ev;
    struct pollfd p;

    ASSERT(t_start(NULL));
    p.fd = relet_fd(t_one.r);
    if (p.fd < 0)
        SKIPm("this system has no epoll");
    p.events = POLLIN;
    ASSERT_EQ(0, poll(&p, 1, 0));
    ASSERT_EQ(200, t_child(t_try_asking, 1000, 1));
    ASSERT(t_say("+stray\r\n"));
    ASSERT_EQ(1, poll(&p, 1, 5000));
    ASSERT_EQ(1, relet_wait(t_one.r, &ev, 0));
    ASSERT_EQ(RELET_EV_DOWN, ev.kind);
    PASS();
}

/* The child keeps the old link open. relet_fd must not report that link. */
TEST a_child_that_lives_on_does_not_keep_relet_fd_readable(void)
{
    relet_event ev;
    struct pollfd p;
    pid_t pid;

    ASSERT(t_start(NULL));
    p.fd = relet_fd(t_one.r);
    if (p.fd < 0)
        SKIPm("this system has no epoll");
    p.events = POLLIN;
    pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    (void)shutdown(t_one.fd, SHUT_RDWR);
    while (relet_wait(t_one.r, &ev, 0) == 1)
        continue;
    ASSERT_EQ(p.fd, relet_fd(t_one.r));
    ASSERT_EQ(0, poll(&p, 1, 0));
    ASSERT_EQ(0, kill(pid, SIGKILL));
    ASSERT_EQ(pid, waitpid(pid, NULL, 0));
    PASS();
}

/* --------------------------------- a transport that sends a closing message,
 * as TLS does */

static int t_session = -1;

static void *t_open(void *user, int fd, const char *host)
{
    (void)user;
    (void)host;
    t_session = fd;
    return &t_session;
}

static int t_shake(void *session)
{
    (void)session;
    return 0;
}

static long t_code(ssize_t n, int want)
{
    if (n >= 0)
        return (long)n;
    return errno == EAGAIN ? want : RELET_TRANSPORT_FAILED;
}

static long t_read(void *session, void *p, size_t n)
{
    return t_code(recv(*(int *)session, p, n, 0), RELET_TRANSPORT_READ);
}

static long t_write(void *session, const void *p, size_t n)
{
    return t_code(send(*(int *)session, p, n, MSG_NOSIGNAL),
                  RELET_TRANSPORT_WRITE);
}

static void t_goodbye(void *session)
{
    (void)!write(*(int *)session, "bye", 3);
}

TEST a_child_that_closes_ends_no_transport_session(void)
{
    static const relet_transport transport = {
        NULL, t_open, t_shake, t_read, t_write, t_goodbye, NULL};
    char bytes[8];

    ASSERT(t_start(&transport));
    ASSERT_EQ(200, t_child(t_try_asking, 1000, 1));
    ASSERT(t_parent_is_undisturbed());
    relet_close(t_one.r);
    t_one.r = NULL;
    ASSERT_EQ(3, t_heard(bytes, sizeof bytes));
    PASS();
}

/* Tests a child of a child, and a child whose parent has closed the client. */
TEST a_grandchild_is_refused_too(void)
{
    int status = 0;
    pid_t pid;

    ASSERT(t_start(NULL));
    pid = fork();
    if (pid == 0)
        t_leave(t_child(t_try_behind_wait, 0, 1) == 200 &&
                        t_child(t_try_telling, 0, 1) == 200
                    ? 0
                    : 1);
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ(0, status);
    ASSERT(t_parent_is_undisturbed());
    PASS();
}

/* A client in the caller's memory has no descriptors, so its copy in a child is
 * a separate client, and the caller's driver decides where its bytes go. */
TEST a_client_without_the_driver_does_not_know_of_processes(void)
{
    static int64_t memory[1024];
    relet_config c;
    int status = 0;
    relet *r;
    pid_t pid;

    relet_config_init_small(&c);
    r = relet_init(memory, sizeof memory, &c, NULL);
    ASSERT(r != NULL);
    pid = fork();
    if (pid == 0)
        _exit(relet_command_text(r, NULL, "PING", (char *)NULL) == 0 ? 0 : 1);
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ(0, status);
    relet_finish(r);
    PASS();
}

static SUITE(forks)
{
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_child_is_refused_every_call_whichever_is_first);
    RUN_TEST(a_child_that_waited_is_refused_every_call);
    RUN_TEST(a_child_that_only_closes_leaves_the_link_to_its_parent);
    RUN_TEST(an_answer_under_way_at_a_fork_reaches_the_parent);
    RUN_TEST(a_child_does_not_wake_its_parent);
    RUN_TEST(a_child_that_closes_leaves_relet_fd_as_it_is);
    RUN_TEST(a_child_that_lives_on_does_not_keep_relet_fd_readable);
    RUN_TEST(a_child_that_closes_ends_no_transport_session);
    RUN_TEST(a_grandchild_is_refused_too);
    RUN_TEST(a_client_without_the_driver_does_not_know_of_processes);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(forks);
    GREATEST_MAIN_END();
}
