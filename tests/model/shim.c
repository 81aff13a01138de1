/* SPDX-License-Identifier: MIT
 *
 * shim.c - replaces the wall clock of a server under test by a mapped file.
 *
 * The shim is preloaded into the real servers. It reads microseconds from the
 * file named by MODEL_CLOCK. Only the wall clock is replaced; servers go on to
 * measure durations by the monotonic clock. The shim reads the monotonic clock
 * by the bare system call: looking up the next function of that name would
 * allocate memory, and the allocator asks for the time when it starts. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t);
int gettimeofday(struct timeval *restrict t, void *restrict zone);
time_t time(time_t *out);

static const volatile int64_t *shim_us;

__attribute__((constructor)) static void shim_start(void)
{
    const char *path = getenv("MODEL_CLOCK");
    int fd = path == NULL ? -1 : open(path, O_RDONLY);
    void *p;

    if (fd < 0)
        return;
    p = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED)
        shim_us = (const volatile int64_t *)p;
    (void)close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (shim_us == NULL ||
        (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec = (time_t)(*shim_us / 1000000);
    t->tv_nsec = (long)(*shim_us % 1000000) * 1000;
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec s;
    int rc = clock_gettime(CLOCK_REALTIME, &s);

    (void)zone;
    t->tv_sec = s.tv_sec;
    t->tv_usec = s.tv_nsec / 1000;
    return rc;
}

time_t time(time_t *out)
{
    struct timespec s;

    if (clock_gettime(CLOCK_REALTIME, &s) != 0)
        return (time_t)-1;
    if (out != NULL)
        *out = s.tv_sec;
    return s.tv_sec;
}
