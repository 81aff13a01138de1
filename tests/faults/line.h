/* SPDX-License-Identifier: MIT
 *
 * line.h - the log lines of the processes in a fault scenario, and their socket
 * to the register.
 *
 *   NS WHO WHAT TERM TOKEN MORE...
 *
 * A scenario can make the processes wait, by files beside the register's
 * socket: SOCKET.upto has the number of jobs that may be put so far, and while
 * SOCKET.held exists no work on a job ends.
 *
 * NS is one clock for all processes: the monotonic clock that also counts while
 * the machine sleeps, without the offset of a time namespace. Each line is one
 * write, so that no line is lost in part when its process is killed. */
#ifndef T_LINE_H
#define T_LINE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static inline int64_t line_clock(void)
{
    struct timespec t = {0, 0};

    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns a datagram socket bound or connected to this path, or -1. */
static inline int line_socket(const char *path,
                              int (*how)(int, const struct sockaddr *,
                                         socklen_t))
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    if (fd < 0 || strlen(path) >= sizeof a.sun_path)
        return -1;
    memcpy(a.sun_path, path, strlen(path));
    return how(fd, (struct sockaddr *)&a, (socklen_t)sizeof a) ? -1 : fd;
}

static inline FILE *line_beside(const char *path, const char *what)
{
    char name[200];

    if (snprintf(name, sizeof name, "%s.%s", path, what) >= (int)sizeof name)
        exit(2);
    return fopen(name, "r");
}

/* Returns the number of jobs that may be put; without the file, all may be. */
static inline uint64_t line_upto(const char *path)
{
    FILE *f = line_beside(path, "upto");
    unsigned long n;

    if (f == NULL)
        return UINT64_MAX;
    if (fscanf(f, "%lu", &n) != 1)
        exit(2);
    (void)fclose(f);
    return n;
}

static inline int line_held(const char *path)
{
    FILE *f = line_beside(path, "held");

    return f != NULL && fclose(f) == 0;
}

/* Returns the offset that this process's time namespace adds to the clock. */
static inline int64_t line_shift(void)
{
    FILE *f = fopen("/proc/self/timens_offsets", "r");
    long long s, ns;
    char name[32];
    int64_t shift = 0;

    while (f != NULL && fscanf(f, "%31s %lld %lld", name, &s, &ns) == 3)
        if (strcmp(name, "boottime") == 0)
            shift = (int64_t)s * 1000000000 + ns;
    if (f != NULL)
        (void)fclose(f);
    return shift;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void line_say(int64_t ns, const char *who, const char *format,
                            ...)
{
    char line[600];
    int n = snprintf(line, sizeof line, "%lld %s ", (long long)ns, who);
    va_list list;

    va_start(list, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, list);
    va_end(list);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        exit(2);
}

#endif
