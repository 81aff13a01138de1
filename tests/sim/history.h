/* SPDX-License-Identifier: MIT
 *
 * history.h - checks whether there is an order of acts in which all answers
 * about one lease are right.
 *
 * An act is a request to a server: when it was sent, when it ended, and how it
 * was answered. An act takes effect at one moment in between; an act without an
 * answer takes effect at most once, as long as it still can. The search is that
 * of Wing and Gong; the effects of the three scripts of lua/ are written here a
 * second time. The search needs no clients, servers or links, so it can also
 * judge the acts of real ones. */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include <stddef.h>
#include <stdint.h>

typedef enum sim_act_kind {
    SIM_ACT_ACQUIRE, /* who, term, ttl_us, quarantine                         */
    SIM_ACT_RENEW,   /* who, token, ttl_us                                    */
    SIM_ACT_RELEASE, /* who, term, token; 0: not known to the client          */
    SIM_ACT_TAKE,    /* another program: SET NX PX, for ttl_us                */
    SIM_ACT_DROP     /* another program: DEL, if the key is its own           */
} sim_act_kind;

#define SIM_ACT_OTHER UINT32_MAX /* `who` of TAKE and DROP                    */

typedef struct sim_act {
    sim_act_kind what;
    int64_t from_us, to_us; /* to: INT64_MAX, it may take effect for ever     */
    uint32_t who;           /* not 0                                          */
    int quarantine;
    int cut;                /* the script ended in its middle: no answer      */
    uint64_t term, token;
    int64_t ttl_us;
    int answered;
    int64_t status;         /* as the scripts say it; TAKE, DROP: 1 or 0      */
    uint64_t last;          /* the token that was answered                    */
} sim_act;

typedef enum sim_verdict {
    SIM_ORDERED,
    SIM_DISORDERED,
    SIM_GAVE_UP
} sim_verdict;

/* When a server's clock was set, or stood still. A lease in force at that time
 * may end at any time afterwards. */
typedef struct sim_leap {
    int64_t from_us, to_us;
} sim_leap;

/* Checks the acts about one lease, sorted by from_us. *culprit: the first act
 * that no order got past. */
sim_verdict sim_history_check(const sim_act *acts, size_t n,
                              const sim_leap *leaps, size_t leaps_n,
                              size_t *culprit);

#endif
