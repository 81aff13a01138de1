/* SPDX-License-Identifier: MIT
 *
 * outcome.h - which events are the outcome of an operation. */
#ifndef T_OUTCOME_H
#define T_OUTCOME_H

#include <stdlib.h>

#include "relet.h"

/* The switch names every kind: the compiler warns of a kind that is missing. */
static inline int t_is_outcome(relet_kind kind)
{
    switch (kind) {
    case RELET_EV_REPLY:
    case RELET_EV_ERROR:
    case RELET_EV_NOT_SENT:
    case RELET_EV_UNSURE:
        return 1;
    case RELET_EV_NOTHING:
    case RELET_EV_UP:
    case RELET_EV_DOWN:
    case RELET_EV_SUBSCRIBED:
    case RELET_EV_UNSUBSCRIBED:
    case RELET_EV_SUBSCRIPTION_REFUSED:
    case RELET_EV_MESSAGE:
    case RELET_EV_INVALIDATE:
    case RELET_EV_GAP:
    case RELET_EV_PUSHED:
    case RELET_EV_LEASE_GAINED:
    case RELET_EV_LEASE_LOST:
    case RELET_EV_LEASE_TROUBLE:
    case RELET_EV_LEASE_ENDED:
    case RELET_EV_JOBS:
    case RELET_EV_JOB_CANCEL:
    case RELET_EV_JOB_LOST:
    case RELET_EV_WORKER_TROUBLE:
    case RELET_EV_WORKER_ENDED:
        return 0;
    }
    abort(); /* a kind that is none */
    return 0;
}

#endif
