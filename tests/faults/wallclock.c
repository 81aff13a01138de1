/* SPDX-License-Identifier: MIT
 *
 * wallclock.c - moves the clock of a server under test.
 *
 *   wallclock FILE <COMMANDS
 *
 * tests/model/shim.c maps FILE into the server. The clock begins with the true
 * time and follows the commands: `jump MS` moves it at once, `rate PERCENT`
 * sets its speed from now on; 0 stops it. The program ends at the end of the
 * commands. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include "line.h"

typedef struct wallclock {
    volatile int64_t *shown; /* microseconds                                */
    int64_t base_us, since_ns, rate;
} wallclock;

static void wallclock_show(wallclock *w)
{
    int64_t us = (line_clock() - w->since_ns) / 1000;

    *w->shown = w->base_us + us * w->rate / 100;
}

static int wallclock_open(wallclock *w, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    struct timespec t = {0, 0};
    void *p;

    if (fd < 0 || ftruncate(fd, (off_t)sizeof(int64_t)) != 0)
        return -1;
    p = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -1;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    w->shown = (volatile int64_t *)p;
    w->base_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    w->since_ns = line_clock();
    w->rate = 100;
    wallclock_show(w);
    return 0;
}

/* Reads one command, which is one write of less than a page. Returns 0 if there
 * are no more. */
static int wallclock_obey(wallclock *w)
{
    char text[100];
    long long n, got = (long)read(STDIN_FILENO, text, sizeof text - 1);

    if (got <= 0)
        return 0;
    text[got] = '\0';
    wallclock_show(w);
    w->base_us = *w->shown;
    w->since_ns = line_clock();
    if (sscanf(text, "jump %lld", &n) == 1)
        w->base_us += n * 1000;
    else if (sscanf(text, "rate %lld", &n) == 1)
        w->rate = n;
    else
        return 0;
    wallclock_show(w);
    return 1;
}

int main(int argc, char **argv)
{
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    wallclock w;

    if (argc != 2 || wallclock_open(&w, argv[1]) != 0)
        return 2;
    line_say(line_clock(), "clock", "ready 0 0");
    while (poll(&p, 1, 1) == 0 || wallclock_obey(&w))
        wallclock_show(&w);
    return 0;
}
