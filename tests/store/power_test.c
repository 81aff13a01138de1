/* SPDX-License-Identifier: MIT
 *
 * power_test.c - the power is cut while a store writes its file.
 *
 * The test records all that the library does to files while jobs are done. Then
 * the power fails at some step. What was synced before is on the disk; of the
 * other writes any part may be there, and a rename may be done or not. The
 * store opens such a file, and must find every job that was acknowledged before
 * the cut, at most one more, and no job half done. CUTS=n sets the number of
 * cuts; SEED=n chooses others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "greatest.h"
#include "relet_local.h"

#define T_MAX(a, b) ((a) > (b) ? (a) : (b))
#define T_JOBS 150
#define T_STEPS 5000
#define T_FD_MAX 64
#define T_FILE_MAX ((size_t)1 << 20)

/* ----------------------------------------------------------- what was done */

typedef enum t_kind {
    T_WRITE,   /* bytes at a place of a file                                 */
    T_SYNC,    /* all that was written to a file is safe                     */
    T_RENAME,  /* a file gets the log's name                                 */
    T_FOLDER,  /* the folder is synced: the name is safe                     */
    T_ANSWERED /* a job was answered                                         */
} t_kind;

typedef struct t_step {
    t_kind kind;
    int file;
    size_t at, n;
    char *bytes;
} t_step;

static t_step t_steps[T_STEPS];
static size_t t_count;
static int t_file_of[T_FD_MAX], t_files;
static int t_recording;

static void t_record(t_kind kind, int file, size_t at, const void *p, size_t n)
{
    t_step *s = &t_steps[t_count++];

    if (t_count == T_STEPS)
        abort();
    s->kind = kind;
    s->file = file;
    s->at = at;
    s->n = n;
    s->bytes = NULL;
    if (n == 0)
        return;
    s->bytes = (char *)malloc(n);
    memcpy(s->bytes, p, n);
}

/* The store locks each file before it writes: so a file gets its number
 * here. */
int flock(int fd, int operation)
{
    (void)operation;
    if (t_recording)
        t_file_of[fd] = ++t_files;
    return 0;
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    ssize_t put = 0;
    int i;

    for (i = 0; i < n; i++) {
        if (t_recording && v[i].iov_len > 0)
            t_record(T_WRITE, t_file_of[fd], (size_t)lseek(fd, 0, SEEK_CUR),
                     v[i].iov_base, v[i].iov_len);
        if (write(fd, v[i].iov_base, v[i].iov_len) !=
            (ssize_t)v[i].iov_len)
            abort();
        put += (ssize_t)v[i].iov_len;
    }
    return put;
}

int fdatasync(int fd)
{
    if (t_recording)
        t_record(T_SYNC, t_file_of[fd], 0, NULL, 0);
    return 0;
}

int fsync(int fd)
{
    (void)fd;
    if (t_recording)
        t_record(T_FOLDER, 0, 0, NULL, 0);
    return 0;
}

int rename(const char *from, const char *to)
{
    if (t_recording)
        t_record(T_RENAME, t_files, 0, NULL, 0);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* ----------------------------------------------------------------- the jobs */

static char t_folder[256], t_path[300], t_url[400];

static relet *t_open(relet_stores *all)
{
    relet_poll_config p;
    relet_fault fault;
    relet *r;

    memset(&p, 0, sizeof p);
    p.stores = all;
    r = relet_open(t_url, NULL, &p, &fault);
    if (r == NULL)
        abort();
    return r;
}

static int64_t t_ask(relet *r, const char *a, const char *b)
{
    relet_span argv[2];
    relet_event ev;
    int64_t n = -1;

    argv[0] = relet_str(a);
    argv[1] = relet_str(b);
    if (relet_call(r, argv, 2, &ev, 20000) != 0 || ev.kind != RELET_EV_REPLY)
        return -1;
    if (relet_value_type(ev.value) == RELET_T_NULL)
        return 0;
    return relet_value_int(ev.value, &n) ? n : -1;
}

static int t_job(relet *r)
{
    static const char body[] = "redis.call('INCR', 'count') "
                               "return redis.call('RPUSH', 'jobs', 'x')";
    relet_span argv[3];
    relet_event ev;

    argv[0] = relet_str("EVAL");
    argv[1] = relet_str(body);
    argv[2] = relet_str("0");
    return relet_call(r, argv, 3, &ev, 20000) == 0 && ev.kind == RELET_EV_REPLY;
}

static void t_work(const char *options)
{
    relet_stores_config c;
    relet_stores *all;
    relet *r;
    int i;

    memset(&c, 0, sizeof c);
    c.rewrite_min = 700;
    all = relet_stores_make(&c);
    snprintf(t_url, sizeof t_url, "file:%s%s", t_path, options);
    t_recording = 1;
    r = t_open(all);
    for (i = 0; i < T_JOBS; i++) {
        if (!t_job(r))
            abort();
        t_record(T_ANSWERED, 0, 0, NULL, 0);
    }
    t_recording = 0;
    relet_close(r);
    relet_stores_close(all);
    unlink(t_path);
}

/* --------------------------------------------------------------- the crash */

static uint64_t t_seed = 1;

static size_t t_random(size_t below)
{
    t_seed = t_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)((t_seed >> 33) % below);
}

/* The file that has the log's name after a cut before this step; 1: the empty
 * file. */
static int t_named(size_t cut)
{
    int safe = 1, now = 1;
    size_t i;

    for (i = 0; i < cut; i++) {
        if (t_steps[i].kind == T_RENAME)
            now = t_steps[i].file;
        if (t_steps[i].kind == T_FOLDER)
            safe = now;
    }
    return t_random(2) ? safe : now;
}

/* Of a write that was not synced, the disk has nothing, all, the first bytes,
 * the last bytes, or the length alone. */
static void t_maybe(char *file, size_t *size, const t_step *s)
{
    size_t k = t_random(s->n + 1), how = t_random(5);

    if (how == 0)
        return;
    if (s->at > *size)
        memset(file + *size, 0, s->at - *size);
    if (s->at + s->n > *size)
        memset(file + T_MAX(*size, s->at), 0,
               s->at + s->n - T_MAX(*size, s->at));
    if (how == 1)
        memcpy(file + s->at, s->bytes, s->n);
    else if (how == 2)
        memcpy(file + s->at, s->bytes, k);
    else if (how == 3)
        memcpy(file + s->at + k, s->bytes + k, s->n - k);
    *size = T_MAX(*size, how == 2 ? s->at + k : s->at + s->n);
}

/* Writes the file as the disk has it after the cut. */
static void t_crash(size_t cut)
{
    static char file[T_FILE_MAX];
    size_t i, size = 0, synced = 0;
    int named = t_named(cut);
    FILE *f;

    for (i = 0; i < cut; i++)
        if (t_steps[i].kind == T_SYNC && t_steps[i].file == named)
            synced = i + 1;
    for (i = 0; i < cut; i++) {
        const t_step *s = &t_steps[i];

        if (s->kind != T_WRITE || s->file != named)
            continue;
        if (i >= synced) {
            t_maybe(file, &size, s);
            continue;
        }
        memcpy(file + s->at, s->bytes, s->n);
        size = T_MAX(size, s->at + s->n);
    }
    f = fopen(t_path, "wb");
    if (f == NULL || fwrite(file, 1, size, f) != size || fclose(f) != 0)
        abort();
}

static int t_answered(size_t cut)
{
    size_t i;
    int n = 0;

    for (i = 0; i < cut; i++)
        n += t_steps[i].kind == T_ANSWERED;
    return n;
}

static enum greatest_test_res t_look(size_t cut, int lossy)
{
    relet *r;
    int64_t count;

    t_crash(cut);
    r = t_open(NULL);
    count = t_ask(r, "GET", "count");
    ASSERT(count >= (lossy ? 0 : t_answered(cut)));
    ASSERT(count <= t_answered(cut) + 1);
    ASSERT_EQ(count, t_ask(r, "LLEN", "jobs"));
    relet_close(r);
    PASS();
}

static enum greatest_test_res t_cuts(const char *options, int lossy)
{
    const char *base = getenv("TMPDIR"), *cuts = getenv("CUTS");
    int i, n = cuts != NULL ? atoi(cuts) : 400;

    snprintf(t_folder, sizeof t_folder, "%s/relet_power_XXXXXX",
             base != NULL ? base : "/tmp");
    ASSERT(mkdtemp(t_folder) != NULL);
    snprintf(t_path, sizeof t_path, "%s/log", t_folder);
    t_work(options);
    for (i = 0; i < n; i++)
        CHECK_CALL(t_look(t_random(t_count + 1), lossy));
    unlink(t_path);
    ASSERT_EQ(0, rmdir(t_folder));
    while (t_count > 0)
        free(t_steps[--t_count].bytes);
    t_files = 0;
    PASS();
}

TEST a_file_synced_always_survives_a_power_cut_at_any_step(void)
{
    CHECK_CALL(t_cuts("", 0));
    PASS();
}

TEST a_file_never_synced_survives_a_power_cut_without_half_commands(void)
{
    CHECK_CALL(t_cuts("?fsync=never", 1));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    const char *seed = getenv("SEED");

    GREATEST_MAIN_BEGIN();
    t_seed = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    RUN_TEST(a_file_synced_always_survives_a_power_cut_at_any_step);
    RUN_TEST(a_file_never_synced_survives_a_power_cut_without_half_commands);
    GREATEST_MAIN_END();
}
