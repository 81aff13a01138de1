/* SPDX-License-Identifier: MIT
 *
 * rig.c - real servers: processes, Unix sockets and a clock that stands still.
 *
 * A server runs in a temporary folder, under shim.c, and ends with this
 * process, however this process ends. Beside the links of a tape it has a
 * control link for the barrier: when a PING there is answered, the server has
 * read all bytes sent before, and when the next PING is answered, it has
 * written every reply, also those of timers and unblocked clients. Nothing else
 * happens in such a server: it has no active expiry, no save, and its wall
 * clock is frozen. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

#define RIG_SOON_MS 10000 /* then a server counts as gone */

typedef struct rig {
    pid_t pid;
    char folder[200];
    char path[240]; /* of the socket                                       */
    volatile int64_t *us;
    int fd[MODEL_LINKS];
    int control;
    const char *binary, *libs, *shim;
} rig;

static int rig_clock_make(rig *r)
{
    char path[240];
    int64_t begin = MODEL_BEGIN_US;
    int fd, ok;
    void *p;

    (void)snprintf(path, sizeof path, "%s/clock", r->folder);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return -1;
    ok = write(fd, &begin, sizeof begin) == (ssize_t)sizeof begin;
    p = mmap(NULL, sizeof begin, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (!ok || p == MAP_FAILED)
        return -1;
    r->us = (volatile int64_t *)p;
    return 0;
}

/* The allocator's thread sleeps until a time of the wall clock. With the frozen
 * clock that time is long past, so the thread would spin. */
static void rig_child(rig *r, pid_t parent)
{
    char path[240], log[240];
    int fd;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)snprintf(path, sizeof path, "%s/clock", r->folder);
    (void)snprintf(log, sizeof log, "%s/log", r->folder);
    (void)setenv("MODEL_CLOCK", path, 1);
    (void)setenv("LD_PRELOAD", r->shim, 1);
    if (r->libs != NULL && r->libs[0] != '\0')
        (void)setenv("LD_LIBRARY_PATH", r->libs, 1);
    if (chdir(r->folder) != 0)
        _exit(1);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        (void)dup2(fd, 1);
        (void)dup2(fd, 2);
    }
    (void)execl(r->binary, r->binary, "--port", "0", "--unixsocket", r->path,
                "--save", "", "--appendonly", "no", "--daemonize", "no",
                "--enable-debug-command", "yes", "--hz", "10", "--databases",
                "16", "--slowlog-log-slower-than", "-1", "--loglevel",
                "warning", "--jemalloc-bg-thread", "no", (char *)NULL);
    _exit(127);
}

static int rig_connect(const rig *r)
{
    struct sockaddr_un at;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(&at, 0, sizeof at);
    at.sun_family = AF_UNIX;
    memcpy(at.sun_path, r->path, strlen(r->path) + 1);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Returns 1 if there are bytes to read, 0 if none came in time. */
static int rig_ready(int fd, short what)
{
    struct pollfd p;
    int n;

    p.fd = fd;
    p.events = what;
    do
        n = poll(&p, 1, RIG_SOON_MS);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

static int rig_write(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Reads the control link until the bytes read end with this text. */
static int rig_until(rig *r, const char *end)
{
    char in[4096];
    size_t n = 0, m = strlen(end);

    for (;;) {
        ssize_t got;

        if (!rig_ready(r->control, POLLIN))
            return -1;
        got = recv(r->control, in + n, sizeof in - n, 0);
        if (got <= 0)
            return -1;
        n += (size_t)got;
        if (n >= m && memcmp(in + n - m, end, m) == 0)
            return 0;
        if (n > sizeof in / 2) {
            memmove(in, in + n - m, m);
            n = m;
        }
    }
}

static const char rig_reset[] =
    "CLIENT UNPAUSE\r\n"
    "DEBUG SET-ACTIVE-EXPIRE 0\r\n"
    "CONFIG SET notify-keyspace-events \"\" maxmemory 0 "
    "maxmemory-policy noeviction requirepass \"\" "
    "tracking-table-max-keys 1000000\r\n"
    "ACL DELUSER ann bob\r\n"
    "ACL LOG RESET\r\n"
    "SCRIPT FLUSH\r\n"
    "FLUSHALL ASYNC\r\n"
    "CONFIG RESETSTAT\r\n"
    "ECHO the-end\r\n";

static void rig_links_close(side *s)
{
    int i;

    for (i = 0; i < MODEL_LINKS; i++)
        if (s->open_links[i])
            s->shut(s, i);
}

static int rig_fresh(side *s)
{
    rig *r = (rig *)s->state;

    rig_links_close(s);
    *r->us = MODEL_BEGIN_US;
    if (rig_write(r->control, rig_reset, sizeof rig_reset - 1) != 0)
        return -1;
    return rig_until(r, "$7\r\nthe-end\r\n");
}

static int rig_open(side *s, int link)
{
    rig *r = (rig *)s->state;

    r->fd[link] = rig_connect(r);
    s->closed[link] = 0;
    s->open_links[link] = r->fd[link] >= 0;
    bytes_clear(&s->heard[link]);
    return r->fd[link] >= 0 ? 0 : -1;
}

static void rig_shut(side *s, int link)
{
    rig *r = (rig *)s->state;

    (void)close(r->fd[link]);
    r->fd[link] = -1;
    s->open_links[link] = 0;
}

/* A server that has closed the link does not read these bytes, so they are
 * dropped on all sides. */
static void rig_send(side *s, int link, const char *p, size_t n)
{
    rig *r = (rig *)s->state;

    if (s->open_links[link] && !s->closed[link])
        (void)rig_write(r->fd[link], p, n);
}

static void rig_clock(side *s, int64_t us)
{
    *((rig *)s->state)->us = us;
}

static void rig_poke(side *s)
{
    (void)rig_write(((rig *)s->state)->control, "PING\r\n", 6);
}

/* Prints the lines about the crash from the log of a server that crashed. */
static void rig_last_words(const rig *r)
{
    char path[240], line[300];
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/log", r->folder);
    f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strstr(line, "crashed by") != NULL ||
            strstr(line, "ASSERT") != NULL || strstr(line, "==>") != NULL)
            (void)printf("  %s", line);
    if (f != NULL)
        (void)fclose(f);
}

static int rig_rest(side *s)
{
    rig *r = (rig *)s->state;
    struct timespec pause = {0, 10000000};
    int status, tries;

    if (rig_until(r, "+PONG\r\n") == 0)
        return 0;
    for (tries = 0; tries < 200; tries++) {
        if (waitpid(r->pid, &status, WNOHANG) == r->pid) {
            (void)printf("%s ended with status %d\n", s->name, status);
            rig_last_words(r);
            r->pid = 0;
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    return -1;
}

static size_t rig_take_link(side *s, int link)
{
    rig *r = (rig *)s->state;
    char in[16384];
    size_t sum = 0;

    for (;;) {
        ssize_t n = recv(r->fd[link], in, sizeof in, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
            s->closed[link] = 1;
        if (n <= 0)
            return sum;
        bytes_put(&s->heard[link], in, (size_t)n);
        sum += (size_t)n;
    }
}

static size_t rig_take(side *s)
{
    size_t sum = 0;
    int i;

    for (i = 0; i < MODEL_LINKS; i++)
        if (s->open_links[i] && !s->closed[i])
            sum += rig_take_link(s, i);
    return sum;
}

static void rig_remove(const rig *r)
{
    static const char *const names[] = {"clock", "log", "socket", "dump.rdb"};
    char path[260];
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", r->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(r->folder);
}

static void rig_stop(side *s)
{
    rig *r = (rig *)s->state;
    int i;

    rig_links_close(s);
    if (r->control >= 0)
        (void)close(r->control);
    if (r->pid > 0) {
        (void)kill(r->pid, SIGKILL);
        (void)waitpid(r->pid, NULL, 0);
    }
    rig_remove(r);
    for (i = 0; i < MODEL_LINKS; i++)
        bytes_free(&s->heard[i]);
    free(r);
    free(s);
}

/* Waits in real time for a server to listen. */
static int rig_listens(rig *r)
{
    struct timespec pause = {0, 5000000};
    int tries;

    for (tries = 0; tries < RIG_SOON_MS / 5; tries++) {
        r->control = rig_connect(r);
        if (r->control >= 0)
            return 0;
        if (waitpid(r->pid, NULL, WNOHANG) == r->pid)
            break;
        (void)nanosleep(&pause, NULL);
    }
    return -1;
}

static side *rig_side(const char *name, rig *r)
{
    side *s = (side *)calloc(1, sizeof *s);

    if (s == NULL)
        abort();
    s->name = name;
    s->state = r;
    s->fresh = rig_fresh;
    s->open = rig_open;
    s->shut = rig_shut;
    s->send = rig_send;
    s->clock = rig_clock;
    s->poke = rig_poke;
    s->rest = rig_rest;
    s->take = rig_take;
    s->stop = rig_stop;
    return s;
}

side *rig_start(const char *name, const char *binary, const char *libs,
                const char *shim)
{
    rig *r = (rig *)calloc(1, sizeof *r);
    const char *tmp = getenv("TMPDIR");
    pid_t parent = getpid();
    side *s;

    if (r == NULL)
        abort();
    s = rig_side(name, r);
    r->control = -1;
    r->binary = binary;
    r->libs = libs;
    r->shim = shim;
    (void)snprintf(r->folder, 60, "%.40s/model-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(r->folder) == NULL || rig_clock_make(r) != 0) {
        (void)fprintf(stderr, "%s: no temporary folder\n", name);
        s->stop(s);
        return NULL;
    }
    (void)snprintf(r->path, sizeof r->path, "%s/socket", r->folder);
    r->pid = fork();
    if (r->pid == 0)
        rig_child(r, parent);
    if (r->pid < 0 || rig_listens(r) != 0) {
        (void)fprintf(stderr, "%s: does not start\n", name);
        s->stop(s);
        return NULL;
    }
    return s;
}
