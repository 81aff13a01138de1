/* SPDX-License-Identifier: MIT
 *
 * server_await_test.c - tests of relet_queue_put_wait on real servers. The
 * worker is a separate process, since relet_queue_put_wait blocks its caller.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_rig.h"
#include "server_run.h"

static relet *t_await_open(void)
{
    relet_config g = t_config();
    relet_fault fault;
    relet *r;

    t_aim(&g);
    r = relet_open(NULL, &g, NULL, &fault);
    T(r != NULL);
    return r;
}

/* Ends a job as its payload asks. */
static void t_await_handle(relet *r, const relet_work *w)
{
    relet_failure f;

    memset(&f, 0, sizeof f);
    f.verdict = RELET_BURY;
    f.text = relet_str("it is broken");
    if (w->job.payload.p[0] == 'b')
        (void)relet_job_fail(r, 0, w->number, &f);
    if (w->job.payload.p[0] == 'k') /* first breaks the waiting client's link */
        (void)relet_command_text(r, NULL, "CLIENT", "KILL", "TYPE", "pubsub",
                                 (char *)NULL);
    if (w->job.payload.p[0] == 'g' || w->job.payload.p[0] == 'k')
        (void)relet_job_done(r, 0, w->number, relet_str("a result"));
}

/* Works until the process is killed. */
static void t_await_work(void)
{
    relet *r = t_await_open();
    relet_worker_config c;
    relet_event ev;
    relet_work w;
    size_t at;

    memset(&c, 0, sizeof c);
    c.queue = relet_str("q");
    c.room = 8;
    (void)relet_worker_start(r, &c);
    for (;;) {
        if (relet_wait(r, &ev, -1) == 1 && ev.kind == RELET_EV_JOBS)
            for (at = 0; relet_jobs_next(r, &ev, &at, &w);)
                t_await_handle(r, &w);
    }
}

static pid_t t_await_worker(void)
{
    pid_t parent = getpid(), pid = fork();

    T(pid >= 0);
    if (pid > 0)
        return pid;
    t_die_with_parent(parent);
    t_await_work();
    _exit(1);
}

static int t_await(relet *r, const char *payload, const char *id,
                   relet_event *ev, relet_job_info *end, int ms)
{
    relet_job job;

    memset(&job, 0, sizeof job);
    job.payload = relet_str(payload);
    job.id = relet_str(id);
    return relet_queue_put_wait(r, relet_str("q"), &job, ev, end, ms);
}

static int t_await_says(relet_span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static void a_put_that_waits_is_told_of_each_end(void)
{
    relet_job_info end;
    relet_event ev;
    relet *r;
    pid_t pid;
    int i;

    t_start("");
    pid = t_await_worker();
    r = t_await_open();
    for (i = 0; i < 20; i++) {
        T_EQ(t_await(r, "good", "", &ev, &end, T_SOON), 1);
        T_EQ(end.place, RELET_AT_DONE);
        T(t_await_says(end.result, "a result"));
    }
    T_EQ(t_await(r, "bad", "", &ev, &end, T_SOON), 1);
    T_EQ(end.place, RELET_AT_DEAD);
    T(t_await_says(end.error, "it is broken"));
    T_EQ(relet_outstanding(r), 0);
    relet_close(r);
    (void)kill(pid, SIGKILL);
    T(waitpid(pid, NULL, 0) == pid);
}

/* The message of the job's end is lost with the link, so the client finds the
 * end by looking at the job. */
static void a_put_that_waits_does_not_hang_when_its_link_breaks(void)
{
    relet_time began;
    relet_job_info end;
    relet_event ev;
    relet *r;
    pid_t pid;

    t_start("");
    pid = t_await_worker();
    r = t_await_open();
    began = relet_clock();
    T_EQ(t_await(r, "kill", "", &ev, &end, T_SOON), 1);
    T_EQ(end.place, RELET_AT_DONE);
    T(t_await_says(end.result, "a result"));
    T_CMP(relet_clock() - began, <, T_SOON / 2);
    relet_close(r);
    (void)kill(pid, SIGKILL);
    T(waitpid(pid, NULL, 0) == pid);
}

static void a_put_that_waits_too_long_says_so_and_tells_the_number(void)
{
    relet_job_info end;
    relet_event ev;
    relet *r;
    pid_t pid;

    t_start("");
    pid = t_await_worker();
    r = t_await_open();
    T_EQ(t_await(r, "silent", "", &ev, &end, 50), RELET_E_TIMEOUT);
    T_EQ(end.work.number, 1);
    T_EQ(t_await(r, "silent", "", &ev, &end, 0), RELET_E_TIMEOUT);
    T_EQ(relet_outstanding(r), 0);
    T_EQ(t_await(r, "good", "", &ev, &end, T_SOON), 1);
    relet_close(r);
    (void)kill(pid, SIGKILL);
    T(waitpid(pid, NULL, 0) == pid);
}

static void waiting_for_the_same_id_again_brings_the_kept_result(void)
{
    relet_job_info end;
    relet_event ev;
    relet *r;
    pid_t pid;

    t_start("");
    pid = t_await_worker();
    r = t_await_open();
    T_EQ(t_await(r, "good", "mine", &ev, &end, T_SOON), 1);
    T_EQ(t_await(r, "good", "mine", &ev, &end, T_SOON), 1);
    T_EQ(end.work.number, 1);
    T_EQ(end.place, RELET_AT_DONE);
    T(t_await_says(end.result, "a result"));
    relet_close(r);
    (void)kill(pid, SIGKILL);
    T(waitpid(pid, NULL, 0) == pid);
}

static void a_put_that_waits_is_told_that_its_job_was_refused(void)
{
    relet_job_info end;
    relet_event ev;
    relet *r;

    t_start("");
    r = t_await_open();
    (void)relet_command_text(r, NULL, "HSET", "{q}:jobs", "closed", "1",
                             (char *)NULL);
    while (relet_wait(r, &ev, T_SOON) == 1 && ev.kind != RELET_EV_REPLY)
        continue;
    T_EQ(t_await(r, "good", "", &ev, &end, T_SOON), 0);
    T_EQ(ev.kind, RELET_EV_ERROR);
    T_EQ(strncmp(ev.text.p, "CLOSED", 6), 0);
    relet_close(r);
}

static const t_case t_cases[] = {
    C(a_put_that_waits_is_told_of_each_end, T_BOTH),
    C(a_put_that_waits_does_not_hang_when_its_link_breaks, T_BOTH),
    C(a_put_that_waits_too_long_says_so_and_tells_the_number, T_BOTH),
    C(waiting_for_the_same_id_again_brings_the_kept_result, T_BOTH),
    C(a_put_that_waits_is_told_that_its_job_was_refused, T_BOTH)};

T_SERVER_MAIN(t_cases)
