/* SPDX-License-Identifier: MIT
 *
 * logfile.c - one log as a file: opened, read, appended to, replaced.
 *
 * The lock is on the file itself, so no lock file is left behind. A rewrite
 * puts another file in its place: the new file is locked before it gets the
 * name, and a process that got a lock checks that the name is still that of
 * the locked file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "logfile.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define LOGFILE_WINDOW ((size_t)65536)
#define LOGFILE_IO_MAX ((size_t)1 << 30) /* in one call */
#define LOGFILE_NEW ".new"
#define LOGFILE_SAY 120 /* bytes of a path in a sentence */

/* Shows only the end of a long path, to leave room for the reason. */
static int logfile_say(rlt_logfile *d, const char *path, const char *what,
                       int err)
{
    size_t n = strlen(path), cut = n > LOGFILE_SAY ? n - LOGFILE_SAY : 0;

    (void)snprintf(d->text, sizeof d->text, "%s%s: %s%s%s",
                   cut > 0 ? "..." : "", path + cut, what,
                   err != 0 && what[0] != '\0' ? ": " : "",
                   err != 0 ? strerror(err) : "");
    return err != 0 ? err : EIO;
}

static int logfile_fault(rlt_logfile *d, const char *what)
{
    return logfile_say(d, d->path, what, errno);
}

RELET_PRIVATE void rlt_logfile_blame(rlt_logfile *d, const char *what)
{
    (void)logfile_say(d, d->path, what, 0);
}

RELET_PRIVATE void rlt_logfile_init(rlt_logfile *d)
{
    memset(d, 0, sizeof *d);
    d->fd = -1;
}

RELET_PRIVATE void rlt_logfile_close(rlt_logfile *d)
{
    if (d->fd >= 0)
        (void)close(d->fd);
    free(d->path);
    free(d->p);
    d->fd = -1;
    d->path = NULL;
    d->p = NULL;
    d->at = d->n = d->cap = 0;
}

/* ------------------------------------------------------------------ writing */

/* Writes head and p in full, at offset `at`. Returns 0, or -1 and errno. */
static int logfile_write(int fd, const void *head, size_t head_n, const void *p,
                         size_t n, uint64_t at)
{
    struct iovec v[2];
    ssize_t put;

    if (lseek(fd, (off_t)at, SEEK_SET) < 0)
        return -1;
    while (head_n + n > 0) {
        memcpy(&v[0].iov_base, &head, sizeof head);
        memcpy(&v[1].iov_base, &p, sizeof p);
        v[0].iov_len = head_n;
        v[1].iov_len = RLT_MIN(n, LOGFILE_IO_MAX);
        put = writev(fd, v, 2);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        if ((size_t)put < head_n) {
            head = (const char *)head + put;
            head_n -= (size_t)put;
            continue;
        }
        p = (const char *)p + ((size_t)put - head_n);
        n -= (size_t)put - head_n;
        head_n = 0;
    }
    return 0;
}

static int logfile_safe(int fd)
{
    int code;

    do {
#if defined(__APPLE__)
        code = fcntl(fd, F_FULLFSYNC);
#else
        code = fdatasync(fd);
#endif
    } while (code != 0 && errno == EINTR);
    return code;
}

RELET_PRIVATE int rlt_logfile_sync(rlt_logfile *d)
{
    if (d->synced == d->size)
        return 0;
    if (logfile_safe(d->fd) != 0)
        return logfile_fault(d, "sync");
    d->synced = d->size;
    return 0;
}

RELET_PRIVATE int rlt_logfile_append(rlt_logfile *d, const void *p, size_t n)
{
    uint8_t head[RLT_LOG_HEAD];

    rlt_log_head(&d->log, d->size, d->synced, p, n, head);
    if (logfile_write(d->fd, head, sizeof head, p, n, d->size) != 0)
        return logfile_fault(d, "write");
    d->size += sizeof head + n;
    return 0;
}

/* ------------------------------------------------------------------ opening */

/* Opens and locks the file at the path. The former owner of the lock may just
 * have put another file there; then that one is tried. */
static int logfile_lock(rlt_logfile *d, const char *path)
{
    struct stat ours, named;

    for (;;) {
        d->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (d->fd < 0)
            return logfile_say(d, path, "open", errno);
        if (flock(d->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                return logfile_say(d, path, "in use by another store", 0);
            return logfile_say(d, path, "lock", errno);
        }
        if (fstat(d->fd, &ours) != 0)
            return logfile_say(d, path, "stat", errno);
        if (stat(path, &named) == 0 && named.st_ino == ours.st_ino &&
            named.st_dev == ours.st_dev)
            break;
        (void)close(d->fd);
        d->fd = -1;
    }
    if (!S_ISREG(ours.st_mode))
        return logfile_say(d, path, "not a file", 0);
    d->end = (uint64_t)ours.st_size;
    return 0;
}

static char *logfile_beside(const rlt_logfile *d)
{
    size_t n = strlen(d->path);
    char *path = (char *)malloc(n + sizeof LOGFILE_NEW);

    if (path != NULL) {
        memcpy(path, d->path, n);
        memcpy(path + n, LOGFILE_NEW, sizeof LOGFILE_NEW);
    }
    return path;
}

static int logfile_clear(rlt_logfile *d)
{
    char *path = logfile_beside(d);
    int code = 0;

    if (path == NULL)
        return logfile_say(d, d->path, "", ENOMEM);
    if (unlink(path) != 0 && errno != ENOENT)
        code = logfile_say(d, path, "remove", errno);
    free(path);
    return code;
}

/* ------------------------------------------------------------------ reading */

static int logfile_room(rlt_logfile *d, size_t n)
{
    void *more;

    if (n <= d->cap)
        return 0;
    n = RLT_MAX(n, LOGFILE_WINDOW);
    more = realloc(d->p, n);
    if (more == NULL)
        return logfile_say(d, d->path, "", ENOMEM);
    d->p = (uint8_t *)more;
    d->cap = n;
    return 0;
}

/* The rest of the window begins at offset `place` of the file. Reads on until
 * it has n bytes; the file was that long when it was opened. */
static int logfile_read(rlt_logfile *d, uint64_t place, size_t n)
{
    ssize_t got;

    if (d->n - d->at >= n)
        return 0;
    d->n -= d->at;
    if (d->n > 0)
        memmove(d->p, d->p + d->at, d->n);
    d->at = 0;
    if (logfile_room(d, n) != 0)
        return ENOMEM;
    while (d->n < n) {
        got = pread(d->fd, d->p + d->n, RLT_MIN(d->cap - d->n, LOGFILE_IO_MAX),
                    (off_t)(place + d->n));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return logfile_fault(d, "read");
        if (got == 0)
            return logfile_say(d, d->path, "has become shorter", 0);
        d->n += (size_t)got;
    }
    return 0;
}

static int logfile_header(rlt_logfile *d)
{
    size_t n = (size_t)RLT_MIN(d->end, RLT_LOG_HEADER);
    int code = logfile_read(d, 0, n);

    if (code != 0)
        return code;
    switch (rlt_log_header_read(&d->log, (const char *)d->p, n)) {
    case RLT_LOG_OURS:
        break;
    case RLT_LOG_FOREIGN:
        return logfile_say(d, d->path, "is no log of relet's", 0);
    case RLT_LOG_LATER:
        return logfile_say(d, d->path, "was written by a later version", 0);
    case RLT_LOG_DAMAGED:
        return logfile_say(d, d->path, "its first line is damaged", 0);
    }
    d->at = n;
    d->size = n;
    return 0;
}

RELET_PRIVATE int rlt_logfile_open(rlt_logfile *d, const char *path)
{
    int code = logfile_lock(d, path);

    if (code != 0)
        return code;
    d->path = realpath(path, NULL);
    if (d->path == NULL)
        return logfile_say(d, path, "path", errno);
    d->size = d->synced = d->cut_at = d->cut_bytes = 0;
    code = logfile_clear(d);
    if (code != 0 || d->end == 0)
        return code;
    return logfile_header(d);
}

static int logfile_damaged(rlt_logfile *d, uint64_t safe)
{
    char what[160];

    (void)snprintf(what, sizeof what,
                   "damaged at byte %llu, and up to %llu it was safe once; "
                   "cut at %llu it can be opened, and what follows is lost",
                   (unsigned long long)d->size, (unsigned long long)safe,
                   (unsigned long long)d->size);
    return logfile_say(d, d->path, what, 0);
}

/* There is no whole record at `size`. If the header or a later record says that
 * bytes beyond `size` were safe once, the file is damaged; otherwise cuts off
 * the torn end. */
static int logfile_tail(rlt_logfile *d)
{
    uint64_t place = d->size, safe = d->log.base;
    size_t n;
    int code;

    while (d->end - place >= RLT_LOG_HEAD) {
        n = (size_t)RLT_MIN(d->end - place, LOGFILE_WINDOW);
        code = logfile_read(d, place, n);
        if (code != 0)
            return code;
        n -= RLT_LOG_HEAD - 1;
        safe = RLT_MAX(safe,
                       rlt_log_safe(&d->log, place, d->p + d->at, n));
        d->at += n;
        place += n;
    }
    if (safe > d->size)
        return logfile_damaged(d, safe);
    d->cut_at = d->size;
    d->cut_bytes = d->end - d->size;
    if (ftruncate(d->fd, (off_t)d->size) != 0)
        return logfile_fault(d, "cut");
    d->end = d->size;
    return 0;
}

/* Syncs the folder: without that, a crash could undo a rename. */
static int logfile_folder(rlt_logfile *d)
{
    char *slash = strrchr(d->path, '/');
    int fd, code = 0;

    rlt_assert(slash != NULL);
    *slash = '\0';
    fd = open(slash == d->path ? "/" : d->path, O_RDONLY | O_CLOEXEC);
    *slash = '/';
    if (fd < 0)
        return logfile_fault(d, "open the folder");
    if (fsync(fd) != 0 && errno != EINVAL) /* unsupported, and not needed */
        code = logfile_fault(d, "sync the folder");
    (void)close(fd);
    return code;
}

/* The last records and the last rename may be those of a killed process, and
 * not safe on disk yet: syncs the file and its folder. */
static int logfile_end(rlt_logfile *d)
{
    int code = d->size < d->end ? logfile_tail(d) : 0;

    free(d->p);
    d->p = NULL;
    d->at = d->n = d->cap = 0;
    if (code == 0)
        code = rlt_logfile_sync(d);
    return code != 0 ? code : logfile_folder(d);
}

RELET_PRIVATE int rlt_logfile_next(rlt_logfile *d, const uint8_t **p, size_t *n)
{
    uint64_t left = d->end - d->size, length, synced;
    int code;

    *n = 0;
    if (left <= RLT_LOG_HEAD)
        return logfile_end(d);
    code = logfile_read(d, d->size, RLT_LOG_HEAD);
    if (code != 0)
        return code;
    if (!rlt_log_head_read(&d->log, d->size, d->p + d->at, &length, &synced) ||
        length > left - RLT_LOG_HEAD || length > SIZE_MAX / 2)
        return logfile_end(d);
    code = logfile_read(d, d->size, (size_t)length + RLT_LOG_HEAD);
    if (code != 0)
        return code;
    *p = d->p + d->at + RLT_LOG_HEAD;
    if (!rlt_log_whole(*p - RLT_LOG_HEAD, *p, (size_t)length))
        return logfile_end(d);
    *n = (size_t)length;
    d->size += RLT_LOG_HEAD + length;
    d->at += RLT_LOG_HEAD + *n;
    return 0;
}

/* ---------------------------------------------------------------- replacing */

RELET_PRIVATE int rlt_logfile_fresh(rlt_logfile *fresh, rlt_logfile *d,
                                    uint64_t salt)
{
    struct stat old;

    rlt_logfile_init(fresh);
    fresh->path = logfile_beside(d);
    if (fresh->path == NULL)
        return logfile_say(fresh, d->path, "", ENOMEM);
    fresh->fd = open(fresh->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fresh->fd < 0)
        return logfile_fault(fresh, "open");
    if (fstat(d->fd, &old) != 0 || fchmod(fresh->fd, old.st_mode & 0777) != 0)
        return logfile_fault(fresh, "mode");
    if (flock(fresh->fd, LOCK_EX | LOCK_NB) != 0)
        return logfile_fault(fresh, "lock");
    fresh->log.salt = salt;
    fresh->size = RLT_LOG_HEADER; /* written last, when `base` is known */
    return 0;
}

static int logfile_flush(rlt_logfile *fresh)
{
    size_t n = fresh->n;

    fresh->n = 0;
    return n > 0 ? rlt_logfile_append(fresh, fresh->p, n) : 0;
}

RELET_PRIVATE int rlt_logfile_add(rlt_logfile *fresh, const void *p, size_t n)
{
    int code = logfile_room(fresh, LOGFILE_WINDOW);

    if (code == 0 && n > fresh->cap - fresh->n)
        code = logfile_flush(fresh);
    if (code != 0)
        return code;
    if (n > fresh->cap)
        return rlt_logfile_append(fresh, p, n);
    memcpy(fresh->p + fresh->n, p, n);
    fresh->n += n;
    return 0;
}

static int logfile_seal(rlt_logfile *fresh)
{
    char header[RLT_LOG_HEADER];
    int code = logfile_flush(fresh);

    if (code != 0)
        return code;
    fresh->log.base = fresh->size;
    rlt_log_header(&fresh->log, header);
    if (logfile_write(fresh->fd, NULL, 0, header, sizeof header, 0) != 0)
        return logfile_fault(fresh, "write");
    return rlt_logfile_sync(fresh);
}

RELET_PRIVATE int rlt_logfile_replace(rlt_logfile *d, rlt_logfile *fresh,
                                      int *done)
{
    int code = logfile_seal(fresh);

    *done = 0;
    if (code != 0)
        return code;
    if (rename(fresh->path, d->path) != 0)
        return logfile_fault(fresh, "rename");
    *done = 1;
    (void)close(d->fd);
    d->fd = fresh->fd;
    d->log = fresh->log;
    d->size = d->end = fresh->size;
    d->synced = fresh->synced;
    fresh->fd = -1;
    return logfile_folder(d);
}

RELET_PRIVATE void rlt_logfile_abandon(rlt_logfile *fresh)
{
    if (fresh->fd >= 0)
        (void)unlink(fresh->path);
    rlt_logfile_close(fresh);
}

#endif /* RELET_NO_POLL */
