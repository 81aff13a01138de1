/* SPDX-License-Identifier: MIT
 *
 * wire.c - the wire of relet demo: bytes go where, and when, the demo says. */
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/* The client's clock begins at 0, the server's in a year like ours. */
#define WIRE_BEGAN_US INT64_C(1760000000000000)

static void *wire_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

int wire_open(wire *w)
{
    relet_local_config config;

    memset(&config, 0, sizeof config);
    config.resize = wire_resize;
    config.seed = 1; /* the same run id in every demo */
    w->memory = malloc(relet_local_size());
    if (!w->memory)
        return 0;
    w->server = relet_local_init(w->memory, relet_local_size(), &config);
    if (!w->server)
        return 0;
    wire_time(w, 0);
    w->other = relet_local_connect(w->server);
    return w->other >= 0;
}

void wire_close(wire *w)
{
    if (w->server)
        relet_local_finish(w->server);
    free(w->memory);
}

void wire_time(wire *w, relet_time now)
{
    relet_local_time(w->server, WIRE_BEGAN_US + now * 1000);
}

void wire_connect(wire *w)
{
    w->link = relet_local_connect(w->server);
    w->n = 0;
}

void wire_cut(wire *w)
{
    relet_local_hangup(w->server, w->link);
    w->n = 0;
}

size_t wire_take(wire *w, size_t but)
{
    const uint8_t *p;
    size_t n = relet_io_pending(w->r, 0, &p);

    n = n > but ? n - but : 0;
    if (n > sizeof w->out - w->n)
        n = sizeof w->out - w->n;
    if (n == 0)
        return 0;
    memcpy(w->out + w->n, p, n);
    w->n += n;
    relet_io_sent(w->r, 0, n);
    return n;
}

void wire_serve(wire *w)
{
    relet_local_feed(w->server, w->link, w->out, w->n);
    w->n = 0;
}

size_t wire_answers(const wire *w, const uint8_t **p)
{
    return relet_local_output(w->server, w->link, p);
}

size_t wire_give(wire *w, size_t most)
{
    const uint8_t *from;
    uint8_t *to;
    size_t have = wire_answers(w, &from), n = relet_io_space(w->r, 0, &to);

    n = n < most ? n : most;
    n = n < have ? n : have;
    if (n == 0)
        return 0;
    memcpy(to, from, n);
    relet_io_received(w->r, 0, n);
    relet_local_sent(w->server, w->link, n);
    return n;
}

void wire_meanwhile(wire *w, const char *command)
{
    const uint8_t *p;

    relet_local_feed(w->server, w->other, command, strlen(command));
    relet_local_sent(w->server, w->other,
                     relet_local_output(w->server, w->other, &p));
}
