/* SPDX-License-Identifier: MIT
 *
 * clock.c - milliseconds that also pass while the machine sleeps, where the
 * system has such a clock. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "base.h"

#ifndef RELET_NO_POLL

#include <time.h>

RELET_API relet_time relet_clock(void)
{
    struct timespec t = {0, 0};

#ifdef CLOCK_BOOTTIME
    if (clock_gettime(CLOCK_BOOTTIME, &t) != 0)
#endif
        (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (relet_time)t.tv_sec * 1000 + (relet_time)(t.tv_nsec / 1000000);
}

#endif /* RELET_NO_POLL */
