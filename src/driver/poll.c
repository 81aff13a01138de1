/* SPDX-License-Identifier: MIT
 *
 * poll.c - the driver for POSIX systems: one client, its link, a clock.
 *
 * The link is a socket (socket.c) or, with mem: and file:, a connection number
 * of a local server (relet_local.h), if RELET_LOCAL is defined.
 *
 * A turn waits for the link's descriptors and for relet_wake, until the next
 * deadline at most. Then it moves bytes first and tells the time second. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "socket.h"
#include "client.h"
#include "origin.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__) && !defined(RELET_POLL_PLAIN)
#define POLL_EVENTFD 1
#include <sys/eventfd.h>
#else
#define POLL_EVENTFD 0
#endif

#define POLL_KEEPALIVE_S 60

#ifdef RELET_LOCAL
#include "relet_local.h"
#define POLL_STORE(d) ((d)->store)
#else
typedef struct relet_store relet_store;
#define POLL_STORE(d) ((relet_store *)NULL) /* removes the code for it */
#define relet_store_leave(k) ((void)0)
#define relet_store_wish(k, r, io) ((void)0)
#define relet_store_move(k) ((void)0)
#define relet_store_deadline(k) RELET_NEVER
#endif

typedef struct poll_driver {
    int wake_in, wake_out;
    int woken; /* relet_wake was called, and no wait has ended for it yet */
    relet_time now;
    rlt_socket link;
    rlt_watchset set; /* for relet_fd                                        */
    rlt_origin origin;
#ifdef RELET_LOCAL
    relet_store *store; /* with mem: and file:, instead of `link`            */
#endif
} poll_driver;

static poll_driver *poll_of(const relet *r)
{
    poll_driver *d = (poll_driver *)rlt_client_driver(r);

    rlt_assert(d != NULL);
    return d;
}

/* --------------------------------------------------------------- the system
 */

/* Jitter and the names of owners depend on the seed. Without a source of
 * random bytes a guess is better than no client. */
static uint64_t poll_seed(const void *place)
{
    uint64_t seed = 0;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!read(fd, &seed, sizeof seed);
        (void)close(fd);
    }
    seed ^= (uint64_t)relet_clock() << 20 ^ (uint64_t)getpid();
    seed ^= (uint64_t)(uintptr_t)place << 8;
    return seed != 0 ? seed : 1;
}

static void *poll_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static const char *poll_getenv(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

RELET_API int relet_config_env(relet_config *c, const char *scope,
                               relet_fault *fault)
{
    return relet_config_env_from(c, scope, poll_getenv, NULL, fault);
}

/* ----------------------------------------------------------------- waking up
 */

static int poll_wake_open(poll_driver *d)
{
#if POLL_EVENTFD
    d->wake_in = d->wake_out = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return d->wake_in < 0 ? -1 : 0;
#else
    int fd[2];

    if (pipe(fd) != 0)
        return -1;
    d->wake_in = fd[0];
    d->wake_out = fd[1];
    return rlt_connect_prepare(fd[0]) != 0 ? -1 : rlt_connect_prepare(fd[1]);
#endif
}

static void poll_wake_close(poll_driver *d)
{
    if (d->wake_out != d->wake_in)
        rlt_connect_close(&d->wake_out);
    rlt_connect_close(&d->wake_in);
}

static void poll_wake_take(poll_driver *d)
{
    uint64_t bytes[8];

    while (read(d->wake_in, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    d->woken = 1;
}

RELET_API void relet_wake(relet *r)
{
    const poll_driver *d = poll_of(r);
    uint64_t one = 1;
    int err = errno;

    if (rlt_origin_is_foreign(&d->origin, r))
        return;
    (void)!write(d->wake_out, &one, sizeof one); /* full: wakes anyway */
    errno = err;
}

/* ------------------------------------------------------------------ waiting
 */

/* A store answers at once, so that relet_wait may return before any turn.
 * Therefore tick here. */
static void poll_serve_store(relet *r, poll_driver *d)
{
    relet_io io;

    relet_store_move(POLL_STORE(d));
    relet_tick(r, d->now);
    while (relet_io_want(r, &io)) {
        relet_store_wish(POLL_STORE(d), r, &io);
        relet_store_move(POLL_STORE(d));
    }
}

/* Opens or closes the link as the client asks, and writes pending bytes. */
static void poll_serve(relet *r, poll_driver *d)
{
    relet_io io;

    if (POLL_STORE(d) != NULL) {
        poll_serve_store(r, d);
        return;
    }
    while (relet_io_want(r, &io))
        rlt_socket_want(r, &d->link, &io);
    rlt_socket_write(r, &d->link);
}

/* w[0] is for wake-ups, the others are the link's; unused ones have fd -1. */
static void poll_watch(relet *r, poll_driver *d, relet_watch *w)
{
    w[0].fd = d->wake_in;
    w[0].events = POLLIN;
    rlt_socket_watch(r, &d->link, w + 1);
}

/* When a turn is due though no descriptor is ready. */
static relet_time poll_due(const relet *r, const poll_driver *d)
{
    relet_time due = relet_deadline(r), link;

    if (POLL_STORE(d) != NULL)
        link = relet_store_deadline(POLL_STORE(d));
    else
        link = rlt_socket_deadline(&d->link);
    return RLT_MIN(due, link);
}

static int poll_pause(relet_time due, relet_time now)
{
    if (due == RELET_NEVER)
        return -1;
    if (due <= now)
        return 0;
    return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

/* Sleeps until `until` at most, and does one turn of work. */
static int poll_turn(relet *r, poll_driver *d, relet_time until)
{
    int pause_ms = poll_pause(RLT_MIN(poll_due(r, d), until), d->now);
    relet_watch w[RELET_WATCH_MAX];
    struct pollfd p[RELET_WATCH_MAX];
    unsigned ready = 0;
    int i, n;

    poll_watch(r, d, w);
    for (i = 0; i < RELET_WATCH_MAX; i++) {
        p[i].fd = w[i].fd;
        p[i].events = w[i].events;
        p[i].revents = 0;
    }
    n = poll(p, RELET_WATCH_MAX, pause_ms);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        return RELET_E_SYSTEM;
    for (i = 0; n > 0 && i < RELET_WATCH_MAX; i++)
        ready |= (p[i].revents != 0 ? 1u : 0u) << i;
    d->now = relet_clock();
    if (ready & 1)
        poll_wake_take(d);
    if (POLL_STORE(d) != NULL)
        relet_store_move(POLL_STORE(d));
    else
        rlt_socket_turn(r, &d->link, ready >> 1, d->now);
    relet_tick(r, d->now);
    return 0;
}

static relet_time poll_until(poll_driver *d, int timeout_ms)
{
    d->now = relet_clock();
    return timeout_ms < 0 ? RELET_NEVER : d->now + timeout_ms;
}

/* No link will come any more, and nothing is due: waiting would not end. */
static int poll_is_over(const relet *r)
{
    return rlt_link_is_over(&r->link) && relet_deadline(r) == RELET_NEVER;
}

RELET_API int relet_wait(relet *r, relet_event *ev, int timeout_ms)
{
    poll_driver *d = poll_of(r);
    relet_time until;

    if (d->origin.home == NULL && rlt_origin_look(&d->origin, r))
        return RELET_E_FORKED;
    if (relet_next(r, ev))
        return 1;
    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    until = poll_until(d, timeout_ms);
    do {
        poll_serve(r, d);
        if (relet_next(r, ev))
            return 1;
        if (d->woken)
            break;
        if (timeout_ms < 0 && poll_is_over(r))
            return RELET_E_STOPPED;
        if (poll_turn(r, d, until) != 0)
            return RELET_E_SYSTEM;
        if (relet_next(r, ev))
            return 1;
    } while (d->now < until);
    poll_serve(r, d); /* the caller's loop may ask next what to watch */
    if (relet_next(r, ev))
        return 1;
    d->woken = 0;
    return 0;
}

/* ------------------------------------------------------- waiting for one event
 */

/* The end of a wait that may be longer than an int of milliseconds. */
static relet_time poll_end(poll_driver *d, relet_time ms)
{
    d->now = relet_clock();
    return ms < 0 || ms > RELET_NEVER - d->now ? RELET_NEVER : d->now + ms;
}

/* Takes a turn, even if there is no time: what has come counts. A wake-up is
 * left to relet_wait. */
static int poll_await(relet *r, const rlt_wanted *w, relet_event *ev,
                      relet_time ms)
{
    poll_driver *d = poll_of(r);
    relet_time until;
    int code, turns = 0;

    if (poll_look_foreign(r, d))
        return RELET_E_FORKED;
    code = rlt_await_begin(r, w, ev);
    if (code != 0)
        return code;
    until = poll_end(d, ms);
    for (;; turns = 1) {
        poll_serve(r, d);
        code = rlt_await_next(r, w, ev);
        if (code != 0 || (turns && d->now >= until))
            return code;
        if (until == RELET_NEVER && poll_is_over(r))
            return RELET_E_STOPPED;
        if (poll_turn(r, d, until) != 0)
            return RELET_E_SYSTEM;
    }
}

RELET_API int relet_await(relet *r, uint64_t tag, relet_event *ev,
                          relet_time ms)
{
    rlt_wanted w;

    w.kind = RELET_EV_REPLY;
    w.number = -1;
    w.tag = tag;
    return poll_await(r, &w, ev, ms);
}

#if !defined(RELET_NO_LEASE) || !defined(RELET_NO_QUEUE)
static int poll_await_end(relet *r, relet_kind kind, int number,
                          relet_event *ev, relet_time ms)
{
    rlt_wanted w;

    w.kind = kind;
    w.number = number;
    w.tag = 0;
    return poll_await(r, &w, ev, ms);
}
#endif

#ifndef RELET_NO_LEASE
RELET_API int relet_lease_await_end(relet *r, int lease, relet_event *ev,
                                    relet_time ms)
{
    return poll_await_end(r, RELET_EV_LEASE_ENDED, lease, ev, ms);
}
#endif

#ifndef RELET_NO_QUEUE
RELET_API int relet_worker_await_end(relet *r, int worker, relet_event *ev,
                                     relet_time ms)
{
    return poll_await_end(r, RELET_EV_WORKER_ENDED, worker, ev, ms);
}
#endif

/* Tells the outcome of a relet_call from older outcomes. */
#define POLL_CALL_TAG UINT64_C(0x72656c65742e6331)

static int poll_is_outcome(const relet_event *ev)
{
    return ev->tag == POLL_CALL_TAG &&
           (ev->kind == RELET_EV_REPLY || ev->kind == RELET_EV_ERROR ||
            ev->kind == RELET_EV_NOT_SENT || ev->kind == RELET_EV_UNSURE);
}

RELET_API int relet_call(relet *r, const relet_span *argv, size_t argc,
                         relet_event *ev, int timeout_ms)
{
    poll_driver *d = poll_of(r);
    relet_time until = poll_until(d, timeout_ms);
    relet_request q = {POLL_CALL_TAG, 0, 0};
    int code;

    if (rlt_origin_look(&d->origin, r))
        return RELET_E_FORKED;
    if (relet_outstanding(r) > 0)
        return rlt_client_refuse(r, "relet_call while other operations are "
                                    "outstanding");
    if (rlt_leases_any(r) || rlt_workers_any(r))
        return rlt_client_refuse(r, "relet_call while there are leases or "
                                    "workers: their events would be lost");
    if (rlt_kept_any(r))
        return rlt_client_refuse(r, "relet_call while there are events to take "
                                    "that an earlier wait has kept");
    if (timeout_ms >= 0)
        q.timeout_ms = RELET_NEVER; /* `until` decides */
    code = relet_command(r, argv, argc, &q);
    if (code != 0)
        return code;
    while (code == 0) {
        poll_serve(r, d);
        while (relet_next(r, ev))
            if (poll_is_outcome(ev))
                return 0;
        code = d->now < until ? poll_turn(r, d, until) : RELET_E_TIMEOUT;
    }
    (void)relet_cancel(r, POLL_CALL_TAG);
    while (relet_next(r, ev))
        continue;
    return code;
}

RELET_API int relet_call_text(relet *r, relet_event *ev, int timeout_ms, ...)
{
    relet_span argv[RLT_SUBMIT_WORDS];
    size_t argc;
    va_list list;

    va_start(list, timeout_ms);
    argc = rlt_submit_words(argv, list);
    va_end(list);
    if (argc > RLT_SUBMIT_WORDS)
        return rlt_client_refuse(r, "relet_call_text takes 64 words");
    return relet_call(r, argv, argc, ev, timeout_ms);
}

RELET_API int relet_watches(relet *r, relet_watch *w, int max)
{
    relet_watch all[RELET_WATCH_MAX];
    int i, n = 0;

    if (rlt_origin_look(&poll_of(r)->origin, r))
        return 0;
    poll_watch(r, poll_of(r), all);
    for (i = 0; i < RELET_WATCH_MAX && n < max; i++)
        if (all[i].fd >= 0)
            w[n++] = all[i];
    return n;
}

RELET_API int relet_fd(relet *r)
{
    poll_driver *d = poll_of(r);
    relet_watch w[RELET_WATCH_MAX];
    int fd;

    if (rlt_origin_look(&d->origin, r))
        return RELET_E_FORKED;
    poll_watch(r, d, w);
    fd = rlt_watchset_sync(&d->set, w);
    return fd >= 0 ? fd : RELET_E_SYSTEM;
}

RELET_API int relet_poll_timeout(const relet *r)
{
    const poll_driver *d = poll_of(r);

    if (rlt_origin_is_foreign(&d->origin, r))
        return -1;
    if (d->woken || rlt_kept_any(r))
        return 0;
    return poll_pause(poll_due(r, d), relet_clock());
}

/* ---------------------------------------------------------- life and death
 */

static relet *poll_fault(relet_fault *fault, int code, const char *field,
                         const char *text)
{
    if (fault != NULL) {
        memset(fault, 0, sizeof *fault);
        fault->code = code;
        fault->field = field;
        (void)snprintf(fault->text, sizeof fault->text, "%s", text);
    }
    return NULL;
}

#define POLL_NO_STORE \
    " needs relet_local.c, and relet.c compiled with -DRELET_LOCAL"

/* The reason why this driver cannot open such a link, or NULL. */
static const char *poll_trouble(const relet_config *c,
                                const relet_poll_config *p)
{
    switch (c->scheme) {
    case RELET_TCP: return NULL;
    case RELET_TLS:
        if (p != NULL && p->transport != NULL)
            return NULL;
        return "rediss: needs a transport, see relet_poll_config";
    case RELET_UNIX:
        if (rlt_connect_path_fits(c->host))
            return NULL;
        return "unix: the path is longer than this system allows";
    case RELET_SENTINEL: return "sentinel: is not built yet";
    case RELET_CLUSTER: return "cluster: is not built yet";
    case RELET_MEM:
    case RELET_FILE:
#ifdef RELET_LOCAL
        if (p != NULL && p->fd != NULL)
            return "mem: and file: take no descriptor";
        return NULL;
#else
        return c->scheme == RELET_MEM ? "mem:" POLL_NO_STORE
                                      : "file:" POLL_NO_STORE;
#endif
    }
    return "unknown scheme";
}

/* 0, or -1 and errno. */
static int poll_init(poll_driver *d, uint8_t *stage, const char *url,
                     const relet_poll_config *p)
{
    int keepalive_s = POLL_KEEPALIVE_S;

    if (p != NULL && p->keepalive_s != 0)
        keepalive_s = p->keepalive_s;
    memset(d, 0, sizeof *d);
    d->wake_in = d->wake_out = -1;
    rlt_watchset_init(&d->set);
    rlt_socket_init(&d->link, p != NULL ? p->transport : NULL, stage,
                    keepalive_s, &d->set);
    if (p != NULL && p->fd != NULL) {
        if (rlt_connect_prepare(*p->fd) != 0)
            return -1;
        rlt_connect_options(*p->fd, keepalive_s);
        d->link.given_only = url == NULL;
    }
    return poll_wake_open(d);
}

/* The driver, its stage and its client share one block. The client takes over
 * the caller's descriptor only when nothing can fail any more. */
static relet *poll_start(const char *url, const relet_config *c,
                         const relet_poll_config *p, relet_store *store,
                         relet_fault *fault)
{
    size_t at = (sizeof(poll_driver) + 15) / 16 * 16;
    size_t head = at + (p && p->transport ? RLT_SOCKET_STAGE : 0);
    size_t size = relet_size(c);
    poll_driver *d;
    relet *r = NULL;

    if (size == 0) {
        (void)relet_config_check(c, fault);
        return NULL;
    }
    d = (poll_driver *)malloc(head + size);
    if (d == NULL)
        return poll_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    if (poll_init(d, (uint8_t *)d + at, url, p) != 0)
        poll_fault(fault, RELET_E_SYSTEM, NULL, strerror(errno));
    else
        r = relet_init((char *)d + head, size, c, fault);
    if (r == NULL) {
        poll_wake_close(d);
        free(d);
        return NULL;
    }
    if (p != NULL && p->fd != NULL)
        d->link.given = *p->fd;
#ifdef RELET_LOCAL
    d->store = store;
#else
    (void)store;
#endif
    rlt_origin_begin(&d->origin);
    rlt_client_driver_set(r, d, d->origin.home);
    return r;
}

#ifdef RELET_LOCAL
static relet *poll_start_store(const char *url, const relet_config *c,
                               const relet_poll_config *p, relet_fault *fault)
{
    relet_store *store;
    relet *r;

    if (relet_config_check(c, fault) != 0)
        return NULL;
    store = relet_store_join(p != NULL ? p->stores : NULL, c, fault);
    if (store == NULL)
        return NULL;
    r = poll_start(url, c, p, store, fault);
    if (r == NULL)
        relet_store_leave(store);
    return r;
}
#endif

static relet *poll_open(const char *url, relet_config *c,
                        const relet_poll_config *p, relet_fault *fault)
{
    const char *trouble;

    if (url != NULL && relet_config_url(c, url, fault) != 0)
        return NULL;
    trouble = poll_trouble(c, p);
    if (trouble != NULL)
        return poll_fault(fault, RELET_E_CONFIG,
                          url != NULL ? "url" : "scheme", trouble);
    if (c->resize == NULL)
        c->resize = poll_resize;
    if (c->seed == 0)
        c->seed = poll_seed(c);
#ifdef RELET_LOCAL
    if (c->scheme == RELET_MEM || c->scheme == RELET_FILE)
        return poll_start_store(url, c, p, fault);
#endif
    return poll_start(url, c, p, NULL, fault);
}

RELET_API relet *relet_open(const char *url, const relet_config *c,
                            const relet_poll_config *p, relet_fault *fault)
{
    relet_config *own = (relet_config *)malloc(sizeof *own);
    relet *r;

    if (own == NULL)
        return poll_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    if (c != NULL)
        *own = *c;
    else
        relet_config_init(own);
    r = poll_open(url, own, p, fault);
    relet_config_wipe(own); /* on success and on failure */
    free(own);
    return r;
}

RELET_API void relet_close(relet *r)
{
    poll_driver *d;

    if (r == NULL)
        return;
    d = poll_of(r);
    if (rlt_origin_look(&d->origin, r)) {
        rlt_socket_forget(&d->link);
        rlt_watchset_forget(&d->set);
    }
    if (POLL_STORE(d) != NULL)
        relet_store_leave(POLL_STORE(d));
    rlt_socket_shut(&d->link);
    rlt_connect_close(&d->link.given);
    poll_wake_close(d);
    rlt_watchset_close(&d->set);
    relet_finish(r);
    rlt_origin_end(&d->origin);
    free(d);
}

#ifdef RELET_LOCAL
RELET_API int relet_store_info_get(const relet *r, relet_store_info *out)
{
    const poll_driver *d = poll_of(r);

    memset(out, 0, sizeof *out);
    return !rlt_origin_is_foreign(&d->origin, r) && d->store != NULL &&
           relet_store_tell(d->store, out);
}
#endif

#endif /* RELET_NO_POLL */
