/* SPDX-License-Identifier: MIT
 *
 * world.h - a few clients and one local server, in one thread and one clock.
 *
 * Each client is a t_peer whose bytes go to the local server and back. The
 * world can pause a client (it does nothing, like a stopped process), cut its
 * link, carry nothing for it in one direction or both, and move the server's
 * clock. At every turn the world compares the leases that clients believe in:
 * if two clients believe at the same time, the world has failed. */
#ifndef T_WORLD_H
#define T_WORLD_H

#include "peer.h"
#include "relet_local.h"

#include "greatest.h"

#define T_CLIENTS 6

typedef struct t_world {
    relet_local *l;
    void *block;
    relet_time now;
    int64_t wall_ms; /* the server's clock minus now                         */
    int clients;
    t_peer p[T_CLIENTS];
    int id[T_CLIENTS];      /* its connection at the server, or -1           */
    int opens[T_CLIENTS];   /* the p[i].opens that id[i] belongs to          */
    int paused[T_CLIENTS];
    int no_way_out[T_CLIENTS], no_way_in[T_CLIENTS];
    int refusing;           /* 1: new links are refused                      */
    int both_lead;          /* 1: two clients believed at the same time      */
    uint64_t commands;      /* client writes that reached the server         */
} t_world;

static inline void *t_world_resize(void *user, void *p, size_t old_size,
                                   size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size > 0)
        return realloc(p, new_size);
    free(p);
    return NULL;
}

static inline void t_world_serve(t_world *w)
{
    relet_local_config c;

    memset(&c, 0, sizeof c);
    c.resize = t_world_resize;
    c.seed = (uint64_t)(w->now + 1);
    w->block = malloc(relet_local_size());
    w->l = relet_local_init(w->block, relet_local_size(), &c);
    if (w->l == NULL)
        t_die("no local server");
    relet_local_time(w->l, (w->now + w->wall_ms) * 1000);
}

static inline void t_world_start_with(t_world *w, int clients,
                                      const relet_config *like)
{
    relet_config c = *like;
    int i;

    memset(w, 0, sizeof *w);
    w->now = 1000;
    w->wall_ms = INT64_C(1700000000000);
    w->clients = clients;
    for (i = 0; i < clients; i++) {
        c.seed = 77 + (uint64_t)i;
        w->id[i] = -1;
        if (!t_start_with(&w->p[i], &c))
            t_die("no client");
    }
    t_world_serve(w);
}

static inline void t_world_start(t_world *w, int clients)
{
    relet_config c = t_config();

    c.leases_max = 4;
    t_world_start_with(w, clients, &c);
}

static inline void t_world_end(t_world *w)
{
    int i;

    for (i = 0; i < w->clients; i++)
        (void)t_end(&w->p[i]);
    relet_local_finish(w->l);
    free(w->block);
}

static inline void t_world_drop(t_world *w, int i)
{
    if (w->id[i] >= 0)
        relet_local_hangup(w->l, w->id[i]);
    w->id[i] = -1;
}

/* Carries bytes from and to a client; 1 if any moved. */
static inline int t_world_carry(t_world *w, int i)
{
    t_peer *p = &w->p[i];
    const uint8_t *from = NULL;
    int moved = 0;
    size_t n;

    if (w->id[i] >= 0 && (!p->open || p->opens != w->opens[i]))
        t_world_drop(w, i);
    if (p->open && w->id[i] < 0) {
        w->id[i] = relet_local_connect(w->l);
        w->opens[i] = p->opens;
    }
    if (w->id[i] < 0)
        return 0;
    n = t_bytes_used(&p->out);
    if (n > 0 && !w->no_way_out[i]) {
        relet_local_feed(w->l, w->id[i], t_bytes_head(&p->out), n);
        t_bytes_drop(&p->out, n);
        w->commands++;
        moved = 1;
    }
    n = relet_local_output(w->l, w->id[i], &from);
    if (n > 0 && !w->no_way_in[i]) {
        t_say_span(p, from, n);
        relet_local_sent(w->l, w->id[i], n);
        moved = 1;
    }
    if (relet_local_closed(w->l, w->id[i]))
        p->hangup = 1;
    return moved;
}

/* Notes when two clients believe in their first lease at the same time. */
static inline void t_world_judge(t_world *w)
{
    uint64_t held[T_CLIENTS];
    int i, j, n = 0;

    for (i = 0; i < w->clients; i++)
        if (relet_lease_valid_for(w->p[i].r, 0, w->now) > 0)
            held[n++] = relet_lease_token(w->p[i].r, 0);
    for (i = 0; i < n; i++)
        for (j = 0; j < i; j++)
            w->both_lead |= held[i] != 0 && held[j] != 0;
}

static inline int t_world_turn(t_world *w)
{
    int i, moved = 0;

    relet_local_time(w->l, (w->now + w->wall_ms) * 1000);
    for (i = 0; i < w->clients; i++) {
        w->p[i].now = w->now;
        w->p[i].no = w->refusing ? "refused" : NULL;
        if (!w->paused[i])
            moved |= t_turn(&w->p[i]);
        moved |= t_world_carry(w, i);
    }
    t_world_judge(w);
    return moved;
}

static inline void t_world_settle(t_world *w)
{
    int turns = 0;

    while (t_world_turn(w) || t_world_turn(w))
        if (++turns > 100000)
            t_die("the world never comes to rest");
}

static inline relet_time t_world_next(const t_world *w)
{
    int64_t local = relet_local_deadline(w->l);
    relet_time t = RELET_NEVER;
    int i;

    if (local != INT64_MAX)
        t = local / 1000 + (local % 1000 != 0) - w->wall_ms;
    for (i = 0; i < w->clients; i++)
        if (!w->paused[i])
            t = RLT_MIN(t, relet_deadline(w->p[i].r));
    return RLT_MAX(t, w->now + 1);
}

static inline void t_world_pass(t_world *w, relet_time ms)
{
    relet_time end = w->now + ms;

    t_world_settle(w);
    while (t_world_next(w) < end) {
        w->now = t_world_next(w);
        t_world_settle(w);
    }
    w->now = end;
    t_world_settle(w);
}

/* The link breaks, and what was on its way is gone. */
static inline void t_world_cut(t_world *w, int i)
{
    t_bytes_clear(&w->p[i].in);
    t_bytes_clear(&w->p[i].out);
    if (w->p[i].open)
        w->p[i].hangup = 1;
    t_world_drop(w, i);
}

/* The pushes on their way to the client are gone, and one comes instead that is
 * over its limits. */
static inline void t_world_lose_pushes(t_world *w, int i)
{
    static const char push[] = ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n";
    const uint8_t *from = NULL;
    size_t n = relet_local_output(w->l, w->id[i], &from);

    if (n == 0 || from[0] != '>')
        t_die("no push is on its way");
    relet_local_sent(w->l, w->id[i], n);
    t_say_span(&w->p[i], push, sizeof push - 1);
    t_say(&w->p[i], "$9000\r\n");
    for (n = 0; n < 9000; n++)
        t_say_span(&w->p[i], "x", 1);
    t_say(&w->p[i], "\r\n");
}

/* The process is gone: nothing is released. */
static inline void t_world_kill(t_world *w, int i)
{
    w->paused[i] = 1;
    t_bytes_clear(&w->p[i].out);
    t_world_drop(w, i);
    w->p[i].open = 0;
}

/* Runs a command on a connection of its own; returns the reply's bytes. */
static inline const char *t_world_ask(t_world *w, const char *line)
{
    static char reply[512];
    const uint8_t *from = NULL;
    int id = relet_local_connect(w->l);
    size_t n;

    relet_local_feed(w->l, id, line, strlen(line));
    relet_local_feed(w->l, id, "\r\n", 2);
    n = relet_local_output(w->l, id, &from);
    n = RLT_MIN(n, sizeof reply - 1);
    memcpy(reply, from, n);
    reply[n] = '\0';
    relet_local_hangup(w->l, id);
    return reply;
}

/* The next event of a lease or a worker; "" when there is none. */
static inline const char *t_world_told(t_world *w, int i)
{
    const char *line;

    do {
        line = t_told(&w->p[i]);
    } while (line[0] != '\0' && strncmp(line, "lease", 5) != 0 &&
             strncmp(line, "job", 3) != 0 && strncmp(line, "worker", 6) != 0);
    return line;
}

#define T_HEARD(world, i, expected) \
    ASSERT_STR_EQ(expected, t_world_told(world, i))

/* The first client refused the call, because it breaks this rule. */
#define T_REFUSED(world, rule, code)                            \
    do {                                                        \
        ASSERT_EQ(RELET_E_CONFIG, code);                        \
        ASSERT_STR_EQ(rule, relet_refusal((world)->p[0].r));    \
    } while (0)

static inline relet_lease_config t_lease(const char *name)
{
    relet_lease_config c;

    memset(&c, 0, sizeof c);
    c.name = relet_str(name);
    c.tag = 7;
    return c;
}

#endif
