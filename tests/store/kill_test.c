/* SPDX-License-Identifier: MIT
 *
 * kill_test.c - a process that writes a file is killed, many times, anywhere.
 *
 * The child does numbered jobs and says through a pipe which were acknowledged.
 * After each SIGKILL the parent reads the file. It must find every acknowledged
 * job, at most one more, and no job half done. KILLS=n sets the number of
 * kills, 50 by default; SEED=n chooses other moments.
 *
 * The kernel does a small write at once, and a sync takes nearly all of the
 * time. So for most of the children a writev of this test writes some bytes at
 * a time, and its fdatasync does nothing: what a killed process wrote is in the
 * file without a sync. */
#define _GNU_SOURCE

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "greatest.h"
#include "relet_local.h"

#define T_SOON_MS 60000

static char t_folder[256], t_path[300], t_url[400];
static uint64_t t_seed = 1;

static uint64_t t_random(uint64_t below)
{
    t_seed = t_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (t_seed >> 33) % below;
}

static int t_crumbs; /* write some bytes at a time, and do not sync */

ssize_t writev(int fd, const struct iovec *v, int n)
{
    size_t left, crumb;
    ssize_t put = 0, one;
    const char *p;
    int i;

    if (!t_crumbs)
        return (ssize_t)syscall(SYS_writev, fd, v, n);
    for (i = 0; i < n; i++)
        for (p = (const char *)v[i].iov_base, left = v[i].iov_len; left > 0;) {
            crumb = 1 + t_random(60);
            one = write(fd, p, crumb < left ? crumb : left);
            if (one < 0)
                return put > 0 ? put : -1;
            p += one;
            left -= (size_t)one;
            put += one;
        }
    return put;
}

int fdatasync(int fd)
{
    return t_crumbs ? 0 : (int)syscall(SYS_fdatasync, fd);
}

static relet *t_open(relet_stores *all)
{
    relet_poll_config p;
    relet_fault fault;
    relet *r;

    memset(&p, 0, sizeof p);
    p.stores = all;
    r = relet_open(t_url, NULL, &p, &fault);
    if (r == NULL) {
        fprintf(stderr, "%s\n", fault.text);
        abort();
    }
    return r;
}

static int64_t t_number(relet *r, const char *a, const char *b)
{
    relet_span argv[2];
    relet_event ev;
    int64_t n = -1;

    argv[0] = relet_str(a);
    argv[1] = relet_str(b);
    if (relet_call(r, argv, 2, &ev, T_SOON_MS) != 0 ||
        ev.kind != RELET_EV_REPLY)
        return -1;
    if (relet_value_type(ev.value) == RELET_T_NULL)
        return 0;
    return relet_value_int(ev.value, &n) ? n : -1;
}

/* --------------------------------------------------------------- the child */

static void t_words(relet_span *argv, relet_args *args, const char *const *w,
                    size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        argv[i] = relet_str(w[i]);
    args->argv = argv;
    args->argc = n;
}

/* A transaction does a job: it counts the job, lists it, and keeps its number
 * in a hash of the last hundred. */
static int t_job_transaction(relet *r, const char *number, const char *slot)
{
    const char *count[] = {"INCR", "count"}, *list[] = {"RPUSH", "jobs", ""};
    const char *place[] = {"HSET", "places", "", ""};
    relet_span argv[9];
    relet_args args[3];

    list[2] = place[3] = number;
    place[2] = slot;
    t_words(argv, &args[0], count, 2);
    t_words(argv + 2, &args[1], list, 3);
    t_words(argv + 5, &args[2], place, 4);
    return relet_transaction(r, args, 3, NULL);
}

static const char t_body[] =
    "redis.call('INCR', KEYS[1]) redis.call('RPUSH', KEYS[2], ARGV[1]) "
    "redis.call('HSET', KEYS[3], ARGV[2], ARGV[1]) return 1";

static int t_job_script(relet *r, int script, const char *number,
                        const char *slot)
{
    const char *words[] = {"count", "jobs", "places", "", ""};
    relet_span argv[5];
    relet_args args;

    words[3] = number;
    words[4] = slot;
    t_words(argv, &args, words, 5);
    return relet_script_run(r, script, 3, argv, 5, NULL);
}

/* Removes the first 50 of the list, so that there are deletes; the same script
 * counts them in `gone`. */
static int t_trim(relet *r, int script)
{
    const char *words[] = {"jobs", "gone"};
    relet_span argv[2];
    relet_args args;

    t_words(argv, &args, words, 2);
    return relet_script_run(r, script, 2, argv, 2, NULL);
}

static const char t_trim_body[] =
    "for i = 1, 50 do if redis.call('LPOP', KEYS[1]) then "
    "redis.call('INCR', KEYS[2]) end end return 1";

static int t_done(relet *r)
{
    relet_event ev;

    for (;;) {
        if (relet_wait(r, &ev, T_SOON_MS) != 1)
            return 0;
        if (ev.kind == RELET_EV_REPLY)
            return 1;
        if (ev.kind != RELET_EV_UP)
            return 0;
    }
}

static void t_work(int out)
{
    relet_stores_config c;
    char number[24], slot[24];
    int jobs, trim, code;
    relet *r;
    int64_t n;

    memset(&c, 0, sizeof c);
    c.rewrite_min = 4096; /* so that some kills hit a rewrite */
    r = t_open(relet_stores_make(&c));
    jobs = relet_script_add(r, relet_str(t_body));
    trim = relet_script_add(r, relet_str(t_trim_body));
    for (n = t_number(r, "GET", "count") + 1;; n++) {
        snprintf(number, sizeof number, "%lld", (long long)n);
        snprintf(slot, sizeof slot, "%lld", (long long)n % 100);
        code = n % 3 == 0 ? t_job_script(r, jobs, number, slot)
                          : t_job_transaction(r, number, slot);
        if (code != 0 || !t_done(r))
            _exit(1);
        if (write(out, &n, sizeof n) != (ssize_t)sizeof n)
            _exit(2);
        if (n % 100 == 0 && (t_trim(r, trim) != 0 || !t_done(r)))
            _exit(3);
    }
}

/* -------------------------------------------------------------- the parent */

/* Starts a child and kills it after some microseconds. Returns the last job
 * that the child acknowledged, or -1. */
static int64_t t_kill(int64_t last)
{
    struct timespec t = {0, 0};
    int fd[2], status;
    int64_t job;
    pid_t pid;

    if (pipe(fd) != 0)
        abort();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        (void)close(fd[0]);
        t_crumbs = t_random(10) > 0;
        t_work(fd[1]);
    }
    (void)close(fd[1]);
    t.tv_nsec = (long)t_random(t_random(2) ? 40000000 : 4000000);
    (void)nanosleep(&t, NULL);
    (void)kill(pid, SIGKILL);
    while (read(fd[0], &job, sizeof job) == (ssize_t)sizeof job)
        last = job;
    (void)close(fd[0]);
    if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
        return -1;
    return last;
}

/* 1 when job n has its place in the hash. */
static int t_has_place(relet *r, int64_t n)
{
    const char *words[] = {"HGET", "places", ""};
    relet_span argv[3];
    relet_args args;
    relet_event ev;
    char slot[24];
    int64_t v;

    snprintf(slot, sizeof slot, "%lld", (long long)(n % 100));
    words[2] = slot;
    t_words(argv, &args, words, 3);
    return relet_call(r, argv, 3, &ev, T_SOON_MS) == 0 &&
           relet_value_int(ev.value, &v) && v == n;
}

/* How many torn tails and half rewrites the parent found. */
static unsigned t_cuts, t_halves;

static enum greatest_test_res t_look(int64_t *last)
{
    relet *r = t_open(NULL);
    int64_t count = t_number(r, "GET", "count");
    int64_t length = t_number(r, "LLEN", "jobs");
    int64_t gone = t_number(r, "GET", "gone");
    relet_store_info info;

    ASSERT(relet_store_info_get(r, &info));
    t_cuts += info.cut_bytes > 0;
    ASSERT(count >= *last);
    ASSERT(count <= *last + 1);
    ASSERT_EQ(count, length + gone);
    if (count > 0)
        ASSERT(t_has_place(r, count));
    if (count > 1)
        ASSERT(t_has_place(r, count - 1));
    *last = count;
    relet_close(r);
    PASS();
}

TEST acknowledged_jobs_survive_every_kill(void)
{
    const char *base = getenv("TMPDIR"), *kills = getenv("KILLS");
    char beside[320];
    int64_t last = 0;
    int i, n = kills != NULL ? atoi(kills) : 50;

    snprintf(t_folder, sizeof t_folder, "%s/relet_kill_XXXXXX",
             base != NULL ? base : "/tmp");
    ASSERT(mkdtemp(t_folder) != NULL);
    snprintf(t_path, sizeof t_path, "%s/log", t_folder);
    snprintf(beside, sizeof beside, "%s.new", t_path);
    snprintf(t_url, sizeof t_url, "file:%s", t_path);
    for (i = 0; i < n; i++) {
        last = t_kill(last);
        ASSERT(last >= 0);
        t_halves += access(beside, F_OK) == 0;
        CHECK_CALL(t_look(&last));
        ASSERT(access(beside, F_OK) != 0);
    }
    printf("%d kills, %lld jobs, %u torn tails, %u half rewrites\n", n,
           (long long)last, t_cuts, t_halves);
    ASSERT(last > 0);
    unlink(t_path);
    ASSERT_EQ(0, rmdir(t_folder));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    const char *seed = getenv("SEED");

    GREATEST_MAIN_BEGIN();
    t_seed = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    RUN_TEST(acknowledged_jobs_survive_every_kill);
    GREATEST_MAIN_END();
}
