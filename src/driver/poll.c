/* SPDX-License-Identifier: MIT
 *
 * poll.c - the driver for POSIX systems: opens and closes clients, and waits
 * for their next event. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CLOCK_BOOTTIME */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "kept.h"
#include "turn.h"

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
#define POLL_KEEPALIVE_S 60

/* --------------------------------------------------------------- the system */

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

#ifndef RELET_SMALL

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

#endif /* RELET_SMALL */

RELET_API void relet_wake(relet *r)
{
    const rlt_driver *d = rlt_driver_of(r);
    uint64_t one = 1;
    int err = errno;

    if (rlt_origin_is_foreign(&d->origin, r))
        return;
    (void)!write(d->wake_out, &one, sizeof one); /* a full pipe wakes, too */
    errno = err;
}

/* ------------------------------------------------------------------ waiting */

/* There was no event: takes turns until there is one. */
static RLT_APART int poll_take_turns(relet *r, relet_event *ev, int timeout_ms)
{
    rlt_driver *d = rlt_driver_of(r);
    relet_time until;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    until = rlt_turn_until(r, timeout_ms);
    do {
        rlt_turn_serve(r);
        if (relet_next(r, ev))
            return 1;
        if (d->woken)
            break;
        if (timeout_ms < 0 && rlt_turn_is_over(r))
            return RELET_E_STOPPED;
        if (rlt_turn_take(r, until) != 0)
            return RELET_E_SYSTEM;
        if (relet_next(r, ev))
            return 1;
    } while (d->now < until);
    rlt_turn_serve(r); /* the caller's loop may ask next what to watch */
    if (relet_next(r, ev))
        return 1;
    d->woken = 0;
    return 0;
}

RELET_API int relet_wait(relet *r, relet_event *ev, int timeout_ms)
{
    rlt_driver *d = rlt_driver_of(r);
    int code = 1;

    if (d->origin.home == NULL && rlt_turn_look_foreign(r))
        return RELET_E_FORKED;
    if (!relet_next(r, ev))
        code = poll_take_turns(r, ev, timeout_ms);
    d->lends = code == 1;
    return code;
}

RELET_API int relet_watches(relet *r, relet_watch *w, int max)
{
    relet_watch all[RELET_WATCH_MAX];
    int i, n = 0;

    if (rlt_turn_look_foreign(r))
        return 0;
    rlt_turn_watch(r, rlt_driver_of(r), all);
    for (i = 0; i < RELET_WATCH_MAX && n < max; i++)
        if (all[i].fd >= 0)
            w[n++] = all[i];
    return n;
}

RELET_API int relet_fd(relet *r)
{
    rlt_driver *d = rlt_driver_of(r);
    relet_watch w[RELET_WATCH_MAX];
    int fd;

    if (rlt_turn_look_foreign(r))
        return RELET_E_FORKED;
    rlt_turn_watch(r, d, w);
    fd = rlt_watchset_sync(&d->set, w);
    return fd >= 0 ? fd : RELET_E_SYSTEM;
}

RELET_API int relet_poll_timeout(const relet *r)
{
    const rlt_driver *d = rlt_driver_of(r);

    if (rlt_origin_is_foreign(&d->origin, r))
        return -1;
    if (d->woken || d->lends || rlt_kept_any(r))
        return 0;
    return rlt_turn_pause(rlt_turn_due(r, d), relet_clock());
}

/* ------------------------------------------------------ opening and closing */

static RLT_APART relet *poll_fault(relet_fault *fault, int code,
                                   const char *field, const char *text)
{
    if (fault != NULL) {
        memset(fault, 0, sizeof *fault);
        fault->code = code;
        fault->field = field;
        if (RLT_HAS_TEXT)
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
        return RLT_TEXT("rediss: needs a transport, see relet_poll_config");
    case RELET_UNIX:
        if (rlt_connect_path_fits(c->host))
            return NULL;
        return RLT_TEXT("unix: the path is longer than this system allows");
    case RELET_SENTINEL: return RLT_TEXT("sentinel: is not built yet");
    case RELET_CLUSTER: return RLT_TEXT("cluster: is not built yet");
    case RELET_MEM:
    case RELET_FILE:
#ifdef RELET_LOCAL
        if (p != NULL && p->fd != NULL)
            return RLT_TEXT("mem: and file: take no descriptor");
        return NULL;
#else
        return c->scheme == RELET_MEM ? RLT_TEXT("mem:" POLL_NO_STORE)
                                      : RLT_TEXT("file:" POLL_NO_STORE);
#endif
    }
    return RLT_TEXT("unknown scheme");
}

/* 0, or -1 and errno. */
static int poll_init(rlt_driver *d, uint8_t *stage, int known,
                     const relet_poll_config *p)
{
    int i, keepalive_s = POLL_KEEPALIVE_S;

    if (p != NULL && p->keepalive_s != 0)
        keepalive_s = p->keepalive_s;
    memset(d, 0, sizeof *d);
    d->wake_in = d->wake_out = -1;
    rlt_watchset_init(&d->set);
    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_socket_init(&d->link[i], p != NULL ? p->transport : NULL,
                        stage + i * RLT_SOCKET_STAGE, keepalive_s, &d->set);
    if (p != NULL && p->fd != NULL) {
        if (rlt_connect_prepare(*p->fd) != 0)
            return -1;
        rlt_connect_options(*p->fd, keepalive_s);
        d->link[0].given_only = !known;
    }
    return rlt_turn_wake_open(d);
}

/* The driver, its stage and its client share one block. The client takes over
 * the caller's descriptor only when nothing can fail any more. */
static relet *poll_start(int known, const relet_config *c,
                         const relet_poll_config *p, relet_store *store,
                         relet_fault *fault)
{
    size_t at = (sizeof(rlt_driver) + 15) / 16 * 16;
    size_t head =
        at + (p && p->transport ? RELET_LINKS_MAX * RLT_SOCKET_STAGE : 0);
    size_t size = relet_size(c);
    rlt_driver *d;
    relet *r = NULL;

    if (size == 0) {
        (void)relet_config_check(c, fault);
        return NULL;
    }
    d = (rlt_driver *)malloc(head + size);
    if (d == NULL)
        return poll_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    if (poll_init(d, (uint8_t *)d + at, known, p) != 0)
        poll_fault(fault, RELET_E_SYSTEM, NULL,
                   RLT_HAS_TEXT ? strerror(errno) : "");
    else
        r = relet_init((char *)d + head, size, c, fault);
    if (r == NULL) {
        rlt_turn_wake_close(d);
        free(d);
        return NULL;
    }
    if (p != NULL && p->fd != NULL)
        d->link[0].given = *p->fd;
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
static relet *poll_start_store(int known, const relet_config *c,
                               const relet_poll_config *p, relet_fault *fault)
{
    relet_store *store;
    relet *r;

    if (relet_config_check(c, fault) != 0)
        return NULL;
    store = relet_store_join(p != NULL ? p->stores : NULL, c, fault);
    if (store == NULL)
        return NULL;
    r = poll_start(known, c, p, store, fault);
    if (r == NULL)
        relet_store_leave(store);
    return r;
}
#endif

/* Reads the URL, if there is one: 0 or RELET_E_CONFIG. */
static int poll_url(relet_config *c, const char *url, relet_fault *fault)
{
    if (url == NULL)
        return 0;
#ifdef RELET_SMALL
    (void)c;
    (void)poll_fault(fault, RELET_E_CONFIG, "url", "");
    return RELET_E_CONFIG;
#else
    return relet_config_url(c, url, fault);
#endif
}

/* The caller may give the descriptor of the first link. known: there is an
 * address for the later links. */
static relet *poll_open(const char *url, int known, relet_config *c,
                        const relet_poll_config *p, relet_fault *fault)
{
    const char *trouble;

    if (poll_url(c, url, fault) != 0)
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
        return poll_start_store(known, c, p, fault);
#endif
    return poll_start(known, c, p, NULL, fault);
}

RELET_API relet *relet_open(const char *url, const relet_config *c,
                            const relet_poll_config *p, relet_fault *fault)
{
    relet_config *own = (relet_config *)malloc(sizeof *own);
    int known = url != NULL;
    relet *r;

    if (own == NULL)
        return poll_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    if (c != NULL)
        *own = *c;
    else
        relet_config_init(own);
#ifdef RELET_SMALL
    known = c != NULL;
#endif
    r = poll_open(url, known, own, p, fault);
    relet_config_wipe(own); /* on success and on failure */
    free(own);
    return r;
}

RELET_API void relet_close(relet *r)
{
    rlt_driver *d;
    int i;

    if (r == NULL)
        return;
    d = rlt_driver_of(r);
    if (rlt_turn_look_foreign(r)) {
        for (i = 0; i < RELET_LINKS_MAX; i++)
            rlt_socket_forget(&d->link[i]);
        rlt_watchset_forget(&d->set);
    }
    if (RLT_TURN_STORE(d) != NULL)
        relet_store_leave(RLT_TURN_STORE(d));
    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_socket_shut(&d->link[i]);
    rlt_connect_close(&d->link[0].given);
    rlt_turn_wake_close(d);
    rlt_watchset_close(&d->set);
    relet_finish(r);
    rlt_origin_end(&d->origin);
    free(d);
}

#ifdef RELET_LOCAL
RELET_API int relet_store_info_get(const relet *r, relet_store_info *out)
{
    const rlt_driver *d = rlt_driver_of(r);

    memset(out, 0, sizeof *out);
    return !rlt_origin_is_foreign(&d->origin, r) && d->store != NULL &&
           relet_store_tell(d->store, out);
}
#endif

#endif /* RELET_NO_POLL */
