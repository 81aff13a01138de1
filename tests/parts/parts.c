/* SPDX-License-Identifier: MIT
 *
 * parts.c - uses each part of relet that this build has.
 *
 *     parts URL
 *
 * With the driver it talks to a server: a command, a lease that is gained and
 * given up, a job that is put, claimed and done. Without the driver it submits
 * a command and looks at the bytes that are to be sent. What the build has not,
 * its configuration refuses. It prints what is wrong, and nothing else. small.c
 * tries the rest of RELET_SMALL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

/* A part that is left out is refused by name. */
static int refuses(void)
{
    relet_config c;
    relet_fault fault;

#ifdef RELET_NO_LEASE
    relet_config_init(&c);
    if (c.leases_max != 0)
        return wrong("the default is to have leases");
    c.leases_max = 1;
    if (relet_config_check(&c, &fault) != RELET_E_CONFIG ||
        strcmp(fault.field, "leases_max") != 0)
        return wrong("a lease is not refused");
#endif
#ifdef RELET_NO_QUEUE
    relet_config_init(&c);
    if (c.workers_max != 0)
        return wrong("the default is to have workers");
    c.workers_max = 1;
    if (relet_config_check(&c, &fault) != RELET_E_CONFIG ||
        strcmp(fault.field, "workers_max") != 0)
        return wrong("a worker is not refused");
#endif
#ifdef RELET_SMALL
    relet_config_init(&c);
    c.subscriptions_max = 1;
    if (relet_config_check(&c, &fault) != RELET_E_CONFIG ||
        strcmp(fault.field, "subscriptions_max") != 0)
        return wrong("subscriptions are not refused");
    c.subscriptions_max = 0;
    c.tracking = RELET_TRACK_READ;
    if (relet_config_check(&c, &fault) != RELET_E_CONFIG ||
        strcmp(fault.field, "tracking") != 0)
        return wrong("tracking is not refused");
#endif
    relet_config_init_small(&c);
    return relet_config_check(&c, &fault) < 0 ? wrong(fault.text) : 0;
}

#ifdef RELET_NO_POLL

static int works(const char *url)
{
    relet_config c;
    relet_fault fault;
    relet_io io;
    const uint8_t *p;
    size_t size;
    void *mem;
    relet *r;
    int bad = 0;

    (void)url;
    relet_config_init_small(&c);
    memcpy(c.host, "server", sizeof "server");
    size = relet_size(&c);
    mem = malloc(size);
    r = relet_init(mem, size, &c, &fault);
    if (r == NULL)
        return wrong(fault.text);
    relet_tick(r, 1);
    if (!relet_io_want(r, &io))
        bad = wrong("it does not want to connect");
    relet_io_opened(r, 0, 0, NULL);
    if (relet_io_pending(r, 0, &p) == 0 || memcmp(p, "*", 1) != 0)
        bad = wrong("it does not greet the server");
    if (relet_command_text(r, NULL, "PING", NULL) != 0)
        bad = wrong("it takes no command");
    relet_finish(r);
    free(mem);
    return bad;
}

#else

static int command(relet *r)
{
    relet_span argv[1];
    relet_event ev;

    argv[0] = relet_str("PING");
    if (relet_call(r, argv, 1, &ev, 5000) != 0 || ev.kind != RELET_EV_REPLY)
        return wrong("PING was not answered");
    return 0;
}

#ifndef RELET_NO_LEASE
static int lease(relet *r)
{
    relet_lease_config c;
    relet_event ev;
    int l;

    memset(&c, 0, sizeof c);
    c.name = relet_str("parts");
    c.ttl_ms = 2000;
    l = relet_lease_start(r, &c);
    if (l < 0 || !comes(r, RELET_EV_LEASE_GAINED, &ev) || ev.token == 0)
        return wrong("the lease is not gained");
    if (relet_lease_stop(r, l) != 0 || !comes(r, RELET_EV_LEASE_LOST, &ev) ||
        relet_lease_work_done(r, l) != 0 ||
        !comes(r, RELET_EV_LEASE_ENDED, &ev))
        return wrong("the lease is not given up");
    return 0;
}
#endif

#ifndef RELET_NO_QUEUE
static int queue(relet *r)
{
    relet_worker_config c;
    relet_event ev;
    relet_job job;
    relet_work work;
    size_t at = 0;
    int w;

    memset(&job, 0, sizeof job);
    job.payload = relet_str("payload");
    if (relet_queue_put(r, relet_str("parts"), &job, 1, 0, NULL) != 0 ||
        !comes(r, RELET_EV_REPLY, &ev))
        return wrong("the job is not put");
    memset(&c, 0, sizeof c);
    c.queue = relet_str("parts");
    w = relet_worker_start(r, &c);
    if (w < 0 || !comes(r, RELET_EV_JOBS, &ev) ||
        !relet_jobs_next(r, &ev, &at, &work) || work.job.payload.n != 7)
        return wrong("the job is not claimed");
    if (relet_job_done(r, w, work.number, relet_str("")) != 0 ||
        relet_worker_stop(r, w) != 0 || !comes(r, RELET_EV_WORKER_ENDED, &ev))
        return wrong("the job is not done");
    return 0;
}
#endif

static relet *opened(const char *url, relet_fault *fault)
{
#ifdef RELET_SMALL
    relet_config c;

    relet_config_init(&c);
    c.port = atoi(strrchr(url, ':') + 1);
    return relet_open(NULL, &c, NULL, fault);
#else
    return relet_open(url, NULL, NULL, fault);
#endif
}

static int works(const char *url)
{
    relet_fault fault;
    relet *r = opened(url, &fault);
    int bad;

    if (r == NULL)
        return wrong(fault.text);
    bad = command(r);
#ifndef RELET_NO_LEASE
    bad |= lease(r);
#endif
#ifndef RELET_NO_QUEUE
    bad |= queue(r);
#endif
    relet_close(r);
    return bad;
}

#endif

int main(int argc, char **argv)
{
    return refuses() | works(argc > 1 ? argv[1] : "");
}
