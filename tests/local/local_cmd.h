/* SPDX-License-Identifier: MIT
 *
 * local_cmd.h - for the tests of the local server's commands: a server, three
 * clients, and functions that compare replies.
 *
 * Clients 0 and 1 speak RESP2, client 2 RESP3. A command is words with one
 * blank between them, '' is an empty one. The replies in the tests were
 * recorded from the real server under a clock that stood still. */
#ifndef T_LOCAL_CMD_H
#define T_LOCAL_CMD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "relet_local.h"

#define T_CLIENTS 3
#define T_BEGIN_US INT64_C(1700000000123456)

typedef struct t_server {
    relet_local *l;
    void *block;
    int ids[T_CLIENTS];
    int64_t now_us;
    long calls, fail_from, fail_to; /* these calls for memory fail           */
} t_server;

static t_server t_one;

static inline void *t_resize(void *user, void *p, size_t old_size,
                             size_t new_size)
{
    t_server *s = (t_server *)user;
    void *q;

    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    s->calls++;
    if (s->calls >= s->fail_from && s->calls < s->fail_to)
        return NULL;
    q = realloc(p, new_size);
    if (q == NULL)
        abort();
    return q;
}

static inline void t_send(int client, const char *command)
{
    static char frame[1 << 20];
    const char *p, *end;
    size_t n, words = 1;

    for (p = command; *p; p++)
        words += *p == ' ';
    n = (size_t)sprintf(frame, "*%u\r\n", (unsigned)words);
    for (p = command; words > 0; words--, p = end + 1) {
        end = strchr(p, ' ') ? strchr(p, ' ') : p + strlen(p);
        if (end - p == 2 && p[0] == '\'' && p[1] == '\'')
            n += (size_t)sprintf(frame + n, "$0\r\n\r\n");
        else
            n += (size_t)sprintf(frame + n, "$%u\r\n%.*s\r\n",
                                 (unsigned)(end - p), (int)(end - p), p);
    }
    relet_local_feed(t_one.l, t_one.ids[client], frame, n);
}

/* Returns 1 if exactly these bytes were sent to the client. */
static inline int t_hears(int client, const char *reply)
{
    const uint8_t *p;
    size_t n = relet_local_output(t_one.l, t_one.ids[client], &p);
    int same = n == strlen(reply) && (n == 0 || memcmp(p, reply, n) == 0);

    if (!same)
        fprintf(stderr, "heard: %.*s", (int)n, (const char *)p);
    relet_local_sent(t_one.l, t_one.ids[client], n);
    return same;
}

static inline void t_open(void)
{
    static relet_local_config config; /* all zero */
    const uint8_t *p;
    int i;

    config.resize = t_resize;
    config.user = &t_one;
    config.effects = 1;
    memset(&t_one, 0, sizeof t_one);
    t_one.block = malloc(relet_local_size());
    t_one.l = relet_local_init(t_one.block, relet_local_size(), &config);
    if (t_one.l == NULL)
        abort();
    t_one.now_us = T_BEGIN_US;
    relet_local_time(t_one.l, t_one.now_us);
    for (i = 0; i < T_CLIENTS; i++)
        t_one.ids[i] = relet_local_connect(t_one.l);
    t_send(2, "HELLO 3");
    relet_local_sent(t_one.l, t_one.ids[2],
                     relet_local_output(t_one.l, t_one.ids[2], &p));
}

static inline void t_close(void)
{
    relet_local_finish(t_one.l);
    free(t_one.block);
}

static inline void t_pass(int64_t ms)
{
    t_one.now_us += ms * 1000;
    relet_local_time(t_one.l, t_one.now_us);
}

static inline int t_says(int client, const char *command, const char *reply)
{
    t_send(client, command);
    return t_hears(client, reply);
}

/* Drops the bytes that were sent to the client. */
static inline void t_done(int client)
{
    const uint8_t *p;

    relet_local_sent(t_one.l, t_one.ids[client],
                     relet_local_output(t_one.l, t_one.ids[client], &p));
}

static inline void t_does(int client, const char *command)
{
    t_send(client, command);
    t_done(client);
}

/* Returns 1 if exactly these commands were added to the log: a command per
 * line, with a blank between words. */
static inline int t_logs(const char *lines)
{
    static char text[1 << 16];
    const uint8_t *p;
    size_t n, i = 0, out = 0, words, k, len;
    int broken;

    n = relet_local_effects(t_one.l, &p, &broken);
    while (i < n) {
        words = (size_t)strtoul((const char *)p + i + 1, NULL, 10);
        for (k = 0; k <= words; k++) {
            while (p[i] != '\n')
                i++;
            i++;
            if (k == words)
                break;
            len = (size_t)strtoul((const char *)p + i + 1, NULL, 10);
            while (p[i] != '\n')
                i++;
            i++;
            memcpy(text + out, p + i, len);
            out += len;
            text[out++] = k + 1 == words ? '\n' : ' ';
            i += len;
        }
    }
    text[out] = '\0';
    relet_local_effects_taken(t_one.l, n);
    if (strcmp(text, lines) != 0)
        fprintf(stderr, "logged:\n%s", text);
    return strcmp(text, lines) == 0;
}

#define T_SAYS(command, reply) ASSERT(t_says(0, command, reply))
#define T_SAYS_TO(client, command, reply) \
    ASSERT(t_says(client, command, reply))
#define T_HEARS(client, reply) ASSERT(t_hears(client, reply))

#endif
