/* SPDX-License-Identifier: MIT
 *
 * script_rig.h - the files in lua/, called on the local server or on a real
 * one. Replies come as text: [1 two [3] nil], an error with its minus. */
#ifndef T_SCRIPT_RIG_H
#define T_SCRIPT_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "greatest.h"
#include "relet_local.h"

#define T_WORDS 400
#define T_BYTES 4000000
#define T_WALL_US INT64_C(1700000000123456) /* the local server begins then */

static relet_local *t_local;
static void *t_block;
static int t_id;
static int t_fd = -1; /* of a real server */
static char t_reply[T_BYTES];
static size_t t_reply_n;

static inline void *t_resize(void *user, void *p, size_t old_size,
                             size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size > 0)
        return realloc(p, new_size);
    free(p);
    return NULL;
}

static inline int t_open_local(void)
{
    relet_local_config c;

    memset(&c, 0, sizeof c);
    c.resize = t_resize;
    t_block = malloc(relet_local_size());
    t_local = relet_local_init(t_block, relet_local_size(), &c);
    if (t_local == NULL)
        return 0;
    relet_local_time(t_local, T_WALL_US);
    t_id = relet_local_connect(t_local);
    return t_id >= 0;
}

static inline int t_open_real(const char *path)
{
    struct sockaddr_un a;

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof a.sun_path)
        return 0;
    strcpy(a.sun_path, path);
    t_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(t_fd, (struct sockaddr *)&a, sizeof a) == 0;
}

/* If the first argument is the path of a socket, connects to a real server
 * there and removes the argument. */
static inline int t_open(int *argc, char ***argv)
{
    const char *path = *argc > 1 && (*argv)[1][0] == '/' ? (*argv)[1] : NULL;

    if (path) {
        --*argc;
        ++*argv;
    }
    if (path ? t_open_real(path) : t_open_local())
        return 1;
    fprintf(stderr, "no server\n");
    return 0;
}

static inline void t_close(void)
{
    if (t_local) {
        relet_local_finish(t_local);
        free(t_block);
    } else {
        (void)close(t_fd);
    }
}

/* The first byte behind the value that begins at p, or NULL while the value is
 * not whole. Knows only the RESP2 that these tests get. */
static inline const char *t_behind(const char *p, const char *limit)
{
    const char *end = p < limit ? (const char *)memchr(p, '\n',
                                                       (size_t)(limit - p))
                                : NULL;
    long n;

    if (end == NULL)
        return NULL;
    n = strtol(p + 1, NULL, 10);
    end++;
    if (p[0] == '$' && n >= 0)
        return limit - end < n + 2 ? NULL : end + n + 2;
    if (p[0] == '*')
        for (; end != NULL && n > 0; n--)
            end = t_behind(end, limit);
    return end;
}

static inline void t_exchange(const char *bytes, size_t n)
{
    const uint8_t *from = NULL;
    ssize_t now;

    t_reply_n = 0;
    if (t_fd < 0) {
        relet_local_feed(t_local, t_id, bytes, n);
        t_reply_n = relet_local_output(t_local, t_id, &from);
        if (t_reply_n >= sizeof t_reply)
            abort();
        memcpy(t_reply, from, t_reply_n);
        relet_local_sent(t_local, t_id, t_reply_n);
        t_reply[t_reply_n] = '\0';
        return;
    }
    if (write(t_fd, bytes, n) != (ssize_t)n)
        abort();
    do {
        now = read(t_fd, t_reply + t_reply_n,
                   sizeof t_reply - 1 - t_reply_n);
        if (now <= 0)
            abort();
        t_reply_n += (size_t)now;
    } while (t_behind(t_reply, t_reply + t_reply_n) == NULL);
    t_reply[t_reply_n] = '\0';
}

/* A command of spans. */
static inline const char *t_ask_spans(const relet_span *word, size_t words)
{
    static char bytes[T_BYTES];
    size_t n, i;

    n = (size_t)sprintf(bytes, "*%lu\r\n", (unsigned long)words);
    for (i = 0; i < words; i++) {
        if (n + word[i].n + 40 > sizeof bytes)
            abort();
        n += (size_t)sprintf(bytes + n, "$%lu\r\n",
                             (unsigned long)word[i].n);
        memcpy(bytes + n, word[i].n ? word[i].p : "", word[i].n);
        n += word[i].n;
        memcpy(bytes + n, "\r\n", 2);
        n += 2;
    }
    t_exchange(bytes, n);
    return t_reply;
}

static inline relet_span t_span(const char *s)
{
    relet_span out;

    out.p = s;
    out.n = strlen(s);
    return out;
}

/* A command of words; NULL ends them. */
static inline const char *t_ask(const char *const *word)
{
    relet_span span[T_WORDS];
    size_t n = 0;

    for (; word[n] != NULL; n++)
        span[n] = t_span(word[n]);
    return t_ask_spans(span, n);
}

/* The same, from words with blanks between them. */
static inline const char *t_say(const char *line)
{
    const char *word[40];
    static char copy[2000];
    size_t n = 0;

    strcpy(copy, line);
    for (word[n] = strtok(copy, " "); word[n] != NULL;)
        word[++n] = strtok(NULL, " ");
    return t_ask(word);
}

static inline int t_load(char *text, size_t size, const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;

    if (f)
        (void)fclose(f);
    text[n] = '\0';
    return n > 0;
}

static inline void t_fresh(void *unused)
{
    (void)unused;
    (void)t_say("CONFIG SET maxmemory 0");
    (void)t_say("FLUSHALL");
}

/* --------------------------------------------------------- under observation
 *
 * A script that a test runs goes through this: it ends in an error where a step
 * is to be cut, and where it touches a key that it has emptied.
 *
 * The second error is what a Cluster gives. A node whose slot is MIGRATING
 * looks up every declared key before EVAL: if one is missing, the whole script
 * is refused (ASK, or TRYAGAIN on the side that imports), so nothing has
 * happened. Then the node looks up the keys of every redis.call again, and a
 * key that does not exist any more ends the script ("non local key"), while its
 * earlier writes stay. All declared keys existed at first: so a script that
 * runs in such a slot creates no key, and only a key that it emptied itself can
 * be missing. Redis 7.0 and Valkey 8.0 do the same; queue_move_test shows it on
 * a real Cluster. */
static inline const char *t_watched(const char *text, int cut)
{
    static char out[20000];
    const char *p = text, *call;
    char *to = out;

    if (p[0] == '#') {
        p = strchr(p, '\n') + 1;
        to += sprintf(to, "%.*s", (int)(p - text), text);
    }
    to += sprintf(to, "local cut, there = %d, {} for _, k in ipairs(KEYS) do "
                      "there[k] = redis.call('EXISTS', k) == 1 end "
                      "local function t_call(...) local name, k = ... "
                      "if cut == 0 then error('cut') end cut = cut - 1 "
                      "if there[k] == 'gone' then error(name .. ' of ' .. k .. "
                      "', which the script emptied') end "
                      "local reply = redis.call(...) "
                      "if there[k] ~= nil then "
                      "local is = redis.call('EXISTS', k) == 1 "
                      "there[k] = is or there[k] and 'gone' end "
                      "return reply end\n", cut);
    while ((call = strstr(p, "redis.call")) != NULL) {
        to += sprintf(to, "%.*st_call", (int)(call - p), p);
        p = call + 10;
    }
    strcpy(to, p);
    return out;
}

/* ------------------------------------------------------------------ as text */

static char t_shown[T_BYTES];

static inline char *t_show_bytes(char *to, const char *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (p[i] == '\0')
            to += sprintf(to, "\\0");
        else
            *to++ = p[i];
    return to;
}

static inline const char *t_show_one(const char *p, char **to)
{
    const char *line = strstr(p, "\r\n");
    long n = strtol(p + 1, NULL, 10), i;
    const char *next = line + 2;

    if (p[0] == '*' && n >= 0) {
        *(*to)++ = '[';
        for (i = 0; i < n; i++) {
            if (i > 0)
                *(*to)++ = ' ';
            next = t_show_one(next, to);
        }
        *(*to)++ = ']';
        return next;
    }
    if ((p[0] == '$' || p[0] == '*') && n < 0) {
        *to += sprintf(*to, "nil");
        return next;
    }
    if (p[0] == '$') {
        *to = t_show_bytes(*to, next, (size_t)n);
        return next + n + 2;
    }
    if (p[0] == '-')
        *(*to)++ = '-';
    *to = t_show_bytes(*to, p + 1, (size_t)(line - p - 1));
    return next;
}

static inline const char *t_show(void)
{
    char *to = t_shown;

    (void)t_show_one(t_reply, &to);
    *to = '\0';
    return t_shown;
}

/* ------------------------------------------------------------ claims of all */

/* NULL, or the rule for files in lua/ that this text breaks. */
static inline const char *t_form(const char *text, int oom)
{
    size_t lines = 0, width = 0;
    const char *p;

    if (oom ? strncmp(text, "-- ", 3) != 0
            : strncmp(text, "#!lua flags=allow-oom\n-- ", 25) != 0)
        return "begins with its flags and a comment";
    if (!strstr(text, "\n-- KEYS") || !strstr(text, "ARGV"))
        return "names its keys and arguments";
    if (!strstr(text, "\n-- Returns"))
        return "says what it returns";
    if (!strstr(text, "\n-- Invariant"))
        return "says what stays true";
    for (p = text; *p != '\0'; p++) {
        width = *p == '\n' ? 0 : width + 1;
        lines += *p == '\n';
        if (width > 80)
            return "has lines of at most 80 columns";
    }
    return lines <= 45 ? NULL : "has at most 45 lines";
}

/* A failover to another server and back to this one: the run id stays, the
 * replication id is new. A real server does that itself. With the local server,
 * the replication id that a script kept in this field is changed instead. */
static inline void t_failed_back(const char *key, const char *field)
{
    const char *word[] = {"HSET", key, field, NULL, NULL};
    static char value[400];
    char *id;

    if (t_fd >= 0) {
        (void)t_say("REPLICAOF 127.0.0.1 1");
        (void)t_say("REPLICAOF NO ONE");
        return;
    }
    word[0] = "HGET";
    word[3] = NULL;
    (void)t_ask(word);
    sprintf(value, "%.399s", t_show());
    if (strlen(value) < 64) /* only the run id */
        return;
    id = value + strlen(value) - 1; /* of the replication id */
    *id = *id == 'a' ? 'b' : 'a';
    word[0] = "HSET";
    word[3] = value;
    (void)t_ask(word);
}

#endif
