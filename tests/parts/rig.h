/* SPDX-License-Identifier: MIT
 *
 * rig.h - how the programs of this folder report a mistake and wait for an
 * event. */
#ifndef T_PARTS_RIG_H
#define T_PARTS_RIG_H

#include <stdio.h>

#include "relet.h"

static inline int wrong(const char *what)
{
    printf("%s\n", what);
    return 1;
}

#ifndef RELET_NO_POLL
/* The next event of this kind, within ten seconds; others are dropped. */
static inline int comes(relet *r, relet_kind kind, relet_event *ev)
{
    relet_time end = relet_clock() + 10000;

    while (relet_clock() < end)
        if (relet_wait(r, ev, 1000) == 1 && ev->kind == kind)
            return 1;
    return 0;
}
#endif

#endif
