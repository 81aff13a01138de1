/* SPDX-License-Identifier: MIT
 *
 * lease_rig.h - a clock, a server's clock, and the server's answers as bytes,
 * for the tests of the state machines with leases. */
#ifndef T_LEASE_RIG_H
#define T_LEASE_RIG_H

#include <stdio.h>
#include <string.h>

#include "lease.h"
#include "scan.h"

#define T_TTL 10000
#define T_TRUST 9897 /* T_TTL less 2 + 1 of drift, 100 of margin             */

typedef struct t_clock {
    relet_time now;
    int64_t server_us;
    uint32_t serial; /* of the last request sent                             */
    rlt_rand rand;
    rlt_scan scan;
    relet_node tape[64];
    char bytes[300];
} t_clock;

static inline void t_clock_begin(t_clock *c)
{
    memset(c, 0, sizeof *c);
    rlt_rand_seed(&c->rand, 1);
    c->now = 1000;
    c->serial = 41;
    c->server_us = INT64_C(1700000000000000);
}

static inline rlt_lease_plan t_lease_plan(void)
{
    rlt_lease_plan plan;

    memset(&plan, 0, sizeof plan);
    plan.ttl_ms = T_TTL;
    plan.renew_ms = T_TTL / 3;
    plan.replicas_ms = 1000;
    return plan;
}

static inline void t_clock_pass(t_clock *c, relet_time ms)
{
    c->now += ms;
    c->server_us += ms * 1000;
}

/* Returns these bytes as the answer to this request; NULL: no answer. */
static inline rlt_reply t_reply_to(t_clock *c, uint32_t serial,
                                   const char *bytes)
{
    rlt_scan_limits limits = {1000, 1000, 100, 8};
    rlt_reply r;

    memset(&r, 0, sizeof r);
    r.serial = serial;
    r.heard = bytes ? RLT_HEARD_VALUE : RLT_HEARD_NOTHING;
    if (bytes == NULL)
        return r;
    rlt_scan_init(&c->scan, &limits, c->tape,
                  sizeof c->tape / sizeof c->tape[0]);
    memmove(c->bytes, bytes, strlen(bytes) + 1); /* it may be there already   */
    (void)rlt_scan_run(&c->scan, (uint8_t *)c->bytes, strlen(c->bytes));
    r.value = rlt_scan_value(&c->scan, (uint8_t *)c->bytes);
    return r;
}

/* Returns a script's answer to the last request. */
static inline rlt_reply t_script(t_clock *c, int status, long token, long left,
                                 int place)
{
    sprintf(c->bytes, "*5\r\n:%d\r\n:%ld\r\n:%ld\r\n:%.0f\r\n:%d\r\n", status,
            token, left, (double)c->server_us, place);
    return t_reply_to(c, c->serial, c->bytes);
}

#endif
