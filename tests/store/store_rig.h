/* SPDX-License-Identifier: MIT
 *
 * store_rig.h - what the tests of stores share: clients, a folder, and system
 * calls that a test can make fail.
 *
 * The library calls the writev, fdatasync, rename and poll below. */
#ifndef T_STORE_RIG_H
#define T_STORE_RIG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "greatest.h"
#include "relet_local.h"

#define T_SOON_MS 20000 /* to fail instead of hanging, on a slow machine */

/* ------------------------------------------------------------- the system */

static long t_polls, t_syncs, t_writes;
static long t_room = -1;   /* bytes that may yet be written; -1: no limit    */
static int t_sync_errno;   /* the error that fdatasync reports               */
static int t_rename_errno;

ssize_t writev(int fd, const struct iovec *v, int n)
{
    size_t all = 0, left;
    ssize_t put = 0, one;
    int i;

    t_writes++;
    for (i = 0; i < n; i++)
        all += v[i].iov_len;
    left = t_room >= 0 && (size_t)t_room < all ? (size_t)t_room : all;
    if (left == 0 && all > 0) {
        errno = ENOSPC;
        return -1;
    }
    for (i = 0; i < n && left > 0; i++) {
        size_t take = v[i].iov_len < left ? v[i].iov_len : left;

        if (take == 0)
            continue;
        one = write(fd, v[i].iov_base, take);
        if (one < 0)
            return put > 0 ? put : -1;
        put += one;
        left -= (size_t)one;
        if ((size_t)one < take)
            break;
    }
    if (t_room >= 0)
        t_room -= put;
    return put;
}

int fdatasync(int fd)
{
    t_syncs++;
    if (t_sync_errno != 0) {
        errno = t_sync_errno;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    if (t_rename_errno != 0) {
        errno = t_rename_errno;
        return -1;
    }
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
    struct timespec t;

    t_polls++;
    t.tv_sec = timeout_ms / 1000;
    t.tv_nsec = timeout_ms % 1000 * 1000000L;
    return ppoll(p, n, timeout_ms < 0 ? NULL : &t, NULL);
}

/* ---------------------------------------------------------------- clients */

#define T_OPEN_MAX 4

static relet *t_clients[T_OPEN_MAX];
static relet_stores *t_stores;
static char t_folder[256], t_path[300], t_url[512];
static char t_heard[1 << 16];
static relet_fault t_fault;

/* Opens one more client; NULL if that fails, with the reason in t_fault. */
static inline relet *t_open(const char *url, relet_stores *stores)
{
    relet_poll_config p;
    relet_config c;
    int i = 0;

    memset(&p, 0, sizeof p);
    p.stores = stores;
    relet_config_init(&c);
    c.retry_max_ms = c.retry_min_ms = 1;
    while (t_clients[i] != NULL)
        i++;
    t_clients[i] = relet_open(url, &c, &p, &t_fault);
    return t_clients[i];
}

static inline void t_close(relet *r)
{
    int i;

    for (i = 0; i < T_OPEN_MAX; i++)
        if (t_clients[i] == r)
            t_clients[i] = NULL;
    relet_close(r);
}

static inline relet *t_file_with(const char *options, relet_stores *stores)
{
    snprintf(t_url, sizeof t_url, "file:%s%s", t_path, options);
    return t_open(t_url, stores);
}

static inline relet *t_file(void)
{
    return t_file_with("", t_stores);
}

static inline void t_setup(void *user)
{
    const char *base = getenv("TMPDIR");

    (void)user;
    snprintf(t_folder, sizeof t_folder, "%s/relet_store_XXXXXX",
             base != NULL ? base : "/tmp");
    if (mkdtemp(t_folder) == NULL)
        abort();
    snprintf(t_path, sizeof t_path, "%s/log", t_folder);
    t_polls = t_syncs = t_writes = 0;
}

static inline void t_teardown(void *user)
{
    char path[400];
    int i;

    (void)user;
    t_room = -1;
    t_sync_errno = t_rename_errno = 0;
    for (i = 0; i < T_OPEN_MAX; i++)
        if (t_clients[i] != NULL)
            t_close(t_clients[i]);
    relet_stores_close(t_stores);
    t_stores = NULL;
    unlink(t_path);
    snprintf(path, sizeof path, "%s.new", t_path);
    unlink(path);
    if (rmdir(t_folder) != 0)
        abort();
}

/* ---------------------------------------------------------------- commands */

static inline size_t t_words(relet_span *argv, const char *command)
{
    static char text[4096];
    char *word, *rest = text;
    size_t n = 0;

    snprintf(text, sizeof text, "%s", command);
    while ((word = strsep(&rest, " ")) != NULL)
        argv[n++] = relet_str(word);
    return n;
}

static inline int t_submit(relet *r, const char *command, uint64_t tag)
{
    relet_request q = {0, RELET_NEVER, 0};
    relet_span argv[64];

    q.tag = tag;
    return relet_command(r, argv, t_words(argv, command), &q);
}

static inline size_t t_show(relet_value v, char *out)
{
    relet_span s = relet_value_text(v);
    size_t n = relet_value_count(v), at = 0;
    relet_value c = relet_value_first(v);
    int64_t i;

    if (relet_value_type(v) == RELET_T_NULL)
        return (size_t)sprintf(out, "(nil)");
    if (relet_value_type(v) == RELET_T_INT && relet_value_int(v, &i))
        return (size_t)sprintf(out, "%lld", (long long)i);
    if (relet_value_type(v) == RELET_T_MAP)
        n *= 2;
    if (s.p != NULL) {
        memcpy(out, s.p, s.n);
        out[s.n] = '\0';
        return s.n;
    }
    out[at++] = '[';
    for (; n > 0; n--, c = relet_value_next(c)) {
        at += t_show(c, out + at);
        if (n > 1)
            out[at++] = ' ';
    }
    out[at++] = ']';
    out[at] = '\0';
    return at;
}

/* The outcome as text: the reply, or the kind of the outcome and its reason. */
static inline const char *t_outcome(const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY)
        (void)t_show(ev->value, t_heard);
    else if (ev->kind == RELET_EV_ERROR)
        snprintf(t_heard, sizeof t_heard, "-%.*s", (int)ev->text.n,
                 ev->text.p);
    else
        snprintf(t_heard, sizeof t_heard, "%s %s", relet_kind_text(ev->kind),
                 relet_why_text(ev->why));
    return t_heard;
}

static inline const char *t_does(relet *r, const char *command)
{
    relet_span argv[64];
    relet_event ev;
    int code = relet_call(r, argv, t_words(argv, command), &ev, T_SOON_MS);

    if (code != 0)
        return relet_code_text(code);
    return t_outcome(&ev);
}

/* The next event of this kind. */
static inline int t_await(relet *r, relet_kind kind, relet_event *ev)
{
    relet_time end = relet_clock() + T_SOON_MS;

    while (relet_clock() < end)
        if (relet_wait(r, ev, T_SOON_MS) == 1 && ev->kind == kind)
            return 1;
    return 0;
}

/* 1 if RELET_EV_DOWN comes with a text that contains this text. */
static inline int t_is_down(relet *r, const char *text)
{
    relet_event ev;

    return t_await(r, RELET_EV_DOWN, &ev) && ev.text.n < sizeof t_heard &&
           (memcpy(t_heard, ev.text.p, ev.text.n),
            t_heard[ev.text.n] = '\0', strstr(t_heard, text) != NULL);
}

#define T_SAYS(r, command, reply) ASSERT_STR_EQ(reply, t_does(r, command))

/* -------------------------------------------------------------------- files */

static inline long t_size(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (long)s.st_size : -1;
}

static inline size_t t_slurp(char *out, size_t cap)
{
    FILE *f = fopen(t_path, "rb");
    size_t n;

    if (f == NULL)
        abort();
    n = fread(out, 1, cap, f);
    fclose(f);
    return n;
}

static inline void t_spill(const char *p, size_t n)
{
    FILE *f = fopen(t_path, "wb");

    if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0)
        abort();
}

#endif
