/* SPDX-License-Identifier: MIT
 *
 * ours.c - the local server as a side, in this process.
 *
 * With MODEL_OURS, by include/relet_local.h; without it there is no such side.
 * A tape begins with a new server. This server, like the real ones, deletes
 * expired keys only when they are accessed, since the times of active expiry
 * are not compared. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

#ifndef MODEL_OURS

side *ours_start(void)
{
    return NULL;
}

#else

#include "relet_local.h"

typedef struct ours {
    relet_local *l;
    void *block;
    int id[MODEL_LINKS];
} ours;

static void *ours_resize(void *user, void *p, size_t old_size,
                         size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

static size_t ours_take_link(side *s, int link)
{
    ours *o = (ours *)s->state;
    size_t n, sum = 0;
    const uint8_t *p;

    while ((n = relet_local_output(o->l, o->id[link], &p)) > 0) {
        bytes_put(&s->heard[link], p, n);
        relet_local_sent(o->l, o->id[link], n);
        sum += n;
    }
    if (relet_local_closed(o->l, o->id[link])) {
        s->closed[link] = 1;
        relet_local_hangup(o->l, o->id[link]);
    }
    return sum;
}

static size_t ours_take(side *s)
{
    int link;

    for (link = 0; link < MODEL_LINKS; link++)
        if (s->open_links[link] && !s->closed[link])
            (void)ours_take_link(s, link);
    return 0; /* nothing is under way: there is no second look to take */
}

static int ours_open(side *s, int link)
{
    ours *o = (ours *)s->state;

    o->id[link] = relet_local_connect(o->l);
    s->closed[link] = 0;
    s->open_links[link] = o->id[link] >= 0;
    bytes_clear(&s->heard[link]);
    return o->id[link] >= 0 ? 0 : -1;
}

static void ours_shut(side *s, int link)
{
    ours *o = (ours *)s->state;

    if (s->open_links[link] && !s->closed[link])
        relet_local_hangup(o->l, o->id[link]);
    s->open_links[link] = 0;
}

static void ours_send(side *s, int link, const char *p, size_t n)
{
    ours *o = (ours *)s->state;

    if (s->open_links[link] && !s->closed[link])
        relet_local_feed(o->l, o->id[link], p, n);
}

static void ours_clock(side *s, int64_t us)
{
    relet_local_time(((ours *)s->state)->l, us);
}

static void ours_poke(side *s)
{
    (void)s;
}

static int ours_rest(side *s)
{
    (void)s;
    return 0;
}

static int ours_fresh(side *s)
{
    static const char lazy[] = "DEBUG SET-ACTIVE-EXPIRE 0\r\n";
    ours *o = (ours *)s->state;
    relet_local_config config;
    int i;

    for (i = 0; i < MODEL_LINKS; i++)
        ours_shut(s, i);
    if (o->l != NULL)
        relet_local_finish(o->l);
    memset(&config, 0, sizeof config);
    config.resize = ours_resize;
    config.seed = 1;
    o->l = relet_local_init(o->block, relet_local_size(), &config);
    if (o->l == NULL)
        return -1;
    relet_local_time(o->l, MODEL_BEGIN_US);
    if (ours_open(s, 0) != 0)
        return -1;
    ours_send(s, 0, lazy, sizeof lazy - 1);
    ours_shut(s, 0);
    return 0;
}

static void ours_stop(side *s)
{
    ours *o = (ours *)s->state;
    int i;

    if (o->l != NULL)
        relet_local_finish(o->l);
    for (i = 0; i < MODEL_LINKS; i++)
        bytes_free(&s->heard[i]);
    free(o->block);
    free(o);
    free(s);
}

side *ours_start(void)
{
    side *s = (side *)calloc(1, sizeof *s);
    ours *o = (ours *)calloc(1, sizeof *o);

    if (s == NULL || o == NULL)
        abort();
    o->block = malloc(relet_local_size());
    if (o->block == NULL)
        abort();
    s->name = "ours";
    s->state = o;
    s->fresh = ours_fresh;
    s->open = ours_open;
    s->shut = ours_shut;
    s->send = ours_send;
    s->clock = ours_clock;
    s->poke = ours_poke;
    s->rest = ours_rest;
    s->take = ours_take;
    s->stop = ours_stop;
    return s;
}

#endif
