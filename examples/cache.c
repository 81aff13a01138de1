/* SPDX-License-Identifier: MIT
 *
 * cache.c - a cache of limited size that the server keeps fresh.
 *
 *     cc cache.c relet.c -o cache
 *     ./cache redis://localhost
 *
 * Reads keys from standard input, one per line, and prints the value of each,
 * and whether it came from the server or the cache. When the server reports
 * that another client has changed a key, the cache drops the key; when the link
 * is lost, it drops all keys. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "relet.h"

#define ENTRIES 64 /* a new entry takes the place of the one that was there  */

typedef struct entry {
    size_t key_n, value_n; /* key_n 0: a free entry                          */
    char key[64], value[256];
} entry;

static entry cache[ENTRIES];

static entry *place_of(relet_span key)
{
    unsigned hash = 0;
    size_t i;

    for (i = 0; i < key.n; i++)
        hash = hash * 31 + (unsigned char)key.p[i];
    return &cache[hash % ENTRIES];
}

static int is(const entry *e, relet_span key)
{
    return e->key_n == key.n && memcmp(e->key, key.p, key.n) == 0;
}

static void cache_put(relet_span key, relet_span value)
{
    entry *e = place_of(key);

    if (key.n == 0 || key.n > sizeof e->key || value.n > sizeof e->value)
        return; /* too large: asked for each time */
    memcpy(e->key, key.p, key.n);
    memcpy(e->value, value.p, value.n);
    e->key_n = key.n;
    e->value_n = value.n;
}

/* Every event goes through here, also events that come while the program waits
 * for an answer: each may say that an entry of the cache is old. */
static void cache_event(const relet_event *ev)
{
    relet_value key = relet_value_first(ev->value);
    size_t n = relet_value_count(ev->value);

    if (ev->kind != RELET_EV_GAP && ev->kind != RELET_EV_INVALIDATE)
        return;
    if (relet_value_type(ev->value) == RELET_T_NULL) { /* GAP, FLUSHALL */
        memset(cache, 0, sizeof cache);
        printf("dropped all\n");
    }
    for (; n > 0; n--, key = relet_value_next(key)) {
        relet_span name = relet_value_text(key);

        if (is(place_of(name), name))
            place_of(name)->key_n = 0;
        printf("dropped %.*s\n", (int)name.n, name.p);
    }
}

static void print(relet_span key, relet_span text, const char *how)
{
    printf("%.*s = %.*s (%s)\n", (int)key.n, key.p, (int)text.n,
           text.n > 0 ? text.p : "", how);
}

/* Takes all events, looks into the cache, then asks the server. Without a link
 * GAP has emptied the cache, and the GET waits for the next link until its
 * timeout: the program prints no old value. */
static int look_up(relet *r, relet_span key)
{
    relet_request q = {1, 0, RELET_CACHED | RELET_REPEATABLE};
    const entry *e = place_of(key);
    relet_span argv[2], text;
    relet_event ev;
    int code;

    while ((code = relet_wait(r, &ev, 0)) == 1)
        cache_event(&ev);
    if (code == 0 && key.n > 0 && is(e, key)) {
        text.p = e->value;
        text.n = e->value_n;
        return print(key, text, "cached"), 0;
    }
    argv[0] = relet_str("GET");
    argv[1] = key;
    if (code == 0)
        code = relet_command(r, argv, 2, &q);
    if (code == RELET_E_REFUSED) /* fail_fast is set in the URL */
        return print(key, relet_str(relet_refusal(r)), "refused"), 0;
    while (code == 0 && (code = relet_wait(r, &ev, -1)) == 1) {
        code = 0;
        cache_event(&ev);
        if (ev.kind == RELET_EV_REPLY) {
            text = relet_value_text(ev.value);
            if (relet_value_type(ev.value) == RELET_T_NULL)
                return print(key, text, "there is none"), 0;
            cache_put(key, text);
            return print(key, text, "asked"), 0;
        }
        if (ev.kind >= RELET_EV_ERROR && ev.kind <= RELET_EV_UNSURE)
            return print(key, ev.text, relet_kind_text(ev.kind)), 0;
    }
    return code;
}

/* Takes all events, then sleeps until a line can be read or the client has
 * something to do: a client that is not driven neither takes invalidations nor
 * sends pings. The order matters, since neither the descriptors nor the timeout
 * tell of events that have not been taken. 1: a line; 0: not yet; or a code. */
static int doze(relet *r)
{
    struct pollfd p[RELET_WATCH_MAX + 1];
    relet_watch w[RELET_WATCH_MAX];
    relet_event ev;
    int i, n, code;

    while ((code = relet_wait(r, &ev, 0)) == 1)
        cache_event(&ev);
    if (code < 0)
        return code;
    n = relet_watches(r, w, RELET_WATCH_MAX);
    for (i = 0; i < n; i++) {
        p[i + 1].fd = w[i].fd;
        p[i + 1].events = w[i].events;
    }
    p[0].fd = STDIN_FILENO;
    p[0].events = POLLIN;
    p[0].revents = 0;
    if (poll(p, (nfds_t)n + 1, relet_poll_timeout(r)) < 0)
        return errno == EINTR ? 0 : RELET_E_SYSTEM;
    return p[0].revents != 0;
}

int main(int argc, char **argv)
{
    relet_config c;
    relet_fault fault;
    char line[1024]; /* a longer key is read as several */
    relet *r;
    int code;

    setvbuf(stdin, NULL, _IONBF, 0); /* poll does not see what stdio buffers */
    setvbuf(stdout, NULL, _IOLBF, 0);
    relet_config_init(&c);
    c.tracking = RELET_TRACK_OPTIN; /* keys read with RELET_CACHED */
    if (argc > 1 && relet_config_url(&c, argv[1], &fault) != 0)
        return fprintf(stderr, "%s\n", fault.text), 2;
    r = relet_open(NULL, &c, NULL, &fault);
    if (r == NULL)
        return fprintf(stderr, "%s\n", fault.text), 2;
    while ((code = doze(r)) >= 0) {
        relet_span key = {line, 0};

        if (code == 0)
            continue;
        if (fgets(line, sizeof line, stdin) == NULL)
            break;
        key.n = strcspn(line, "\n");
        code = look_up(r, key);
        if (code < 0)
            break;
    }
    if (code < 0)
        fprintf(stderr, "%s: %s\n", relet_code_text(code), relet_refusal(r));
    relet_close(r);
    return code < 0 ? 1 : 0;
}
