/* SPDX-License-Identifier: MIT
 *
 * store_link.c - stores for clients of the driver: which clients share a store,
 * and moving bytes between a client and its connection. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "store.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STORE_LINK_FEED ((size_t)65536) /* bytes fed at once share one sync */
#define STORE_LINK_AHEAD ((size_t)1 << 20) /* untaken replies: pause feeding */
#define STORE_LINK_REWRITE ((uint64_t)1 << 20)

struct relet_stores {
    relet_stores_config config;
    rlt_store *first;
    long process; /* of their maker: a child must not write to its files     */
    int closed;
};

struct relet_store {
    rlt_store *shelf;
    relet *r;
    int link;
    int id;        /* of the connection; -1: none                            */
    uint64_t life; /* of the store, when the connection was made             */
};

/* ------------------------------------------------------------------ moving */

static int store_link_is_connected(const relet_store *k)
{
    return k->id >= 0 && k->life == k->shelf->life;
}

static void store_link_hangup(relet_store *k)
{
    if (store_link_is_connected(k)) {
        relet_local_hangup(k->shelf->local, k->id);
        rlt_store_commit(k->shelf);
    }
    k->id = -1;
}

/* 0, or an errno and a sentence. */
static int store_link_connect(relet_store *k, const char **text)
{
    rlt_store *s = k->shelf;
    int code = rlt_store_open(s), id;

    *text = s->text;
    if (code != 0)
        return code;
    id = relet_local_connect(s->local);
    k->id = RLT_MAX(id, -1);
    k->life = s->life;
    *text = id == RELET_E_LIMIT ? "the store has too many clients"
                                : "no memory";
    return id >= 0 ? 0 : id == RELET_E_LIMIT ? EAGAIN : ENOMEM;
}

RELET_API void relet_store_wish(relet_store *k, relet *r, const relet_io *io)
{
    const char *text;
    int code;

    store_link_hangup(k);
    k->r = r;
    k->link = io->link;
    if (!io->open)
        return;
    code = store_link_connect(k, &text);
    relet_io_opened(r, k->link, code, code != 0 ? text : NULL);
}

static int store_link_read(relet_store *k)
{
    relet_local *l = k->shelf->local;
    const uint8_t *from;
    uint8_t *to;
    size_t n, room;
    int moved = 0;

    while ((n = relet_local_output(l, k->id, &from)) > 0) {
        room = relet_io_space(k->r, k->link, &to);
        if (room == 0)
            break; /* until the client has read what is there */
        n = RLT_MIN(n, room);
        memcpy(to, from, n);
        relet_local_sent(l, k->id, n);
        relet_io_received(k->r, k->link, n);
        moved = 1;
    }
    return moved;
}

/* The bytes that may be fed now. */
static size_t store_link_pending(const relet_store *k, const uint8_t **p)
{
    const relet_local *l = k->shelf->local;

    if (relet_local_closed(l, k->id) ||
        relet_local_output(l, k->id, p) > STORE_LINK_AHEAD)
        return 0;
    return RLT_MIN(relet_io_pending(k->r, k->link, p), STORE_LINK_FEED);
}

/* Bytes that were fed count as sent: if the commit fails, the outcome of their
 * commands is unknown. */
static int store_link_write(relet_store *k)
{
    const uint8_t *p;
    size_t n = store_link_pending(k, &p);

    if (n == 0)
        return 0;
    relet_local_feed(k->shelf->local, k->id, p, n);
    relet_io_sent(k->r, k->link, n);
    rlt_store_commit(k->shelf);
    return 1;
}

/* Tells the client if its connection has ended. */
static void store_link_settle(relet_store *k)
{
    rlt_store *s = k->shelf;
    const uint8_t *p;

    if (k->id < 0)
        return;
    if (!store_link_is_connected(k)) {
        k->id = -1;
        relet_io_closed(k->r, k->link, EIO, s->text);
    } else if (relet_local_closed(s->local, k->id) &&
               relet_local_output(s->local, k->id, &p) == 0) {
        store_link_hangup(k);
        relet_io_closed(k->r, k->link, 0, NULL);
    }
}

RELET_API void relet_store_move(relet_store *k)
{
    int more = 1;

    rlt_store_pass(k->shelf);
    while (more && store_link_is_connected(k)) {
        more = store_link_read(k);
        more |= store_link_write(k);
    }
    rlt_store_sync_due(k->shelf);
    store_link_settle(k);
}

RELET_API relet_time relet_store_deadline(const relet_store *k)
{
    const relet_local *l = k->shelf->local;
    const uint8_t *p;

    if (k->id >= 0 && !store_link_is_connected(k))
        return 0;
    if (k->id >= 0 &&
        (relet_local_output(l, k->id, &p) > 0 || relet_local_closed(l, k->id) ||
         store_link_pending(k, &p) > 0))
        return 0;
    return rlt_store_deadline(k->shelf);
}

/* ------------------------------------------------------ opening and closing */

RELET_API relet_stores *relet_stores_make(const relet_stores_config *c)
{
    relet_stores *all = (relet_stores *)calloc(1, sizeof *all);

    if (all == NULL)
        return NULL;
    all->process = (long)getpid();
    if (c != NULL)
        all->config = *c;
    if (all->config.rewrite_min == 0)
        all->config.rewrite_min = STORE_LINK_REWRITE;
    return all;
}

/* Frees the stores that are no longer needed and, once closed and empty, the
 * list itself. */
static void store_link_sweep(relet_stores *all)
{
    rlt_store **at = &all->first, *s;

    while ((s = *at) != NULL) {
        if (s->clients > 0 || (!all->closed && s->scheme == RELET_MEM &&
                               s->name[0] != '\0')) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        rlt_store_shut(s);
        free(s);
    }
    if (all->closed && all->first == NULL)
        free(all);
}

RELET_API void relet_stores_close(relet_stores *all)
{
    if (all == NULL)
        return;
    all->closed = 1;
    store_link_sweep(all);
}

static relet_store *store_link_fault(relet_fault *fault, int code,
                                     const char *field, const char *text)
{
    if (fault != NULL) {
        memset(fault, 0, sizeof *fault);
        fault->code = code;
        fault->field = field;
        (void)snprintf(fault->text, sizeof fault->text, "%s", text);
    }
    return NULL;
}

/* The store that a configuration names, or NULL. A store without a name is not
 * shared. */
static rlt_store *store_link_find(relet_stores *all, const relet_config *c)
{
    rlt_store *s = all->first;

    while (s != NULL && (c->host[0] == '\0' || s->scheme != c->scheme ||
                         strcmp(s->name, c->host) != 0))
        s = s->next;
    return s;
}

static rlt_store *store_link_shelf(relet_stores *all, const relet_config *c)
{
    rlt_store *s = (rlt_store *)calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->owner = all;
    s->config = &all->config;
    s->scheme = c->scheme;
    s->fsync = c->fsync;
    s->seed = c->seed;
    s->sync_at = RELET_NEVER;
    memcpy(s->name, c->host, sizeof s->name);
    rlt_logfile_init(&s->disk);
    s->next = all->first;
    all->first = s;
    return s;
}

static relet_store *store_link_join(relet_stores *all, const relet_config *c,
                                    relet_fault *fault)
{
    rlt_store *s = store_link_find(all, c);
    relet_store *k;

    if (s != NULL && s->fsync != c->fsync)
        return store_link_fault(
            fault, RELET_E_CONFIG, "fsync",
            "fsync is another one than that of a client which "
            "has the file open");
    k = (relet_store *)calloc(1, sizeof *k);
    if (k == NULL)
        return store_link_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    if (s == NULL)
        s = store_link_shelf(all, c);
    if (s == NULL) {
        free(k);
        return store_link_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    }
    k->shelf = s;
    k->id = -1;
    s->clients++;
    return k;
}

RELET_API relet_store *relet_store_join(relet_stores *all,
                                        const relet_config *c,
                                        relet_fault *fault)
{
    relet_stores *own = NULL;
    relet_store *k;

    if (all == NULL && c->scheme == RELET_MEM && c->host[0] != '\0')
        return store_link_fault(
            fault, RELET_E_CONFIG, "url",
            "mem: with a name is shared through the stores of "
            "relet_poll_config, and there are none; mem: alone "
            "needs none");
    if (all != NULL && all->process != (long)getpid())
        return store_link_fault(fault, RELET_E_FORKED, "stores",
                                "another process made these stores");
    if (all == NULL)
        all = own = relet_stores_make(NULL);
    if (all == NULL)
        return store_link_fault(fault, RELET_E_MEMORY, NULL, "no memory");
    k = store_link_join(all, c, fault);
    relet_stores_close(own); /* takes effect when this client leaves */
    return k;
}

RELET_API void relet_store_leave(relet_store *k)
{
    rlt_store *s = k->shelf;

    if (s->owner->process == (long)getpid()) {
        store_link_hangup(k);
        rlt_store_sync(s);
    }
    s->clients--;
    free(k);
    store_link_sweep(s->owner);
}

RELET_API int relet_store_tell(const relet_store *k, relet_store_info *out)
{
    const rlt_store *s = k->shelf;

    memset(out, 0, sizeof *out);
    if (!store_link_is_connected(k))
        return 0;
    *out = s->info;
    out->memory = relet_local_used(s->local, NULL);
    out->log_bytes = s->disk.size;
    return 1;
}

#endif /* RELET_NO_POLL */
