/* SPDX-License-Identifier: MIT
 *
 * lua_model.c - the same programs as EVAL on real servers and on ours.
 *
 *     lua_model CORPUS REDIS_PORT VALKEY_PORT FROM COUNT
 *
 * Runs the corpus and COUNT made-up programs from seed FROM on, for callers
 * of both protocols, and compares the replies byte for byte. A port of 0: no
 * such server. What may differ stands in `freedoms`; all else is a defect of
 * ours. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lua_programs.h"
#include "lua_rig.h"

#define MODEL_REPLY (1 << 20)

typedef struct model {
    int fd, is_valkey;
    const char *name;
    char *buffer; /* the reply, and what came behind it                      */
    size_t n;
} model;

static long model_programs, model_compared, model_differ;

static void model_die(const char *what)
{
    fprintf(stderr, "lua_model: %s\n", what);
    exit(2);
}

/* --------------------------------------------------------------- freedoms */

/* Valkey 8.0 says in other words what Redis 7.0 says. */
static const struct {
    const char *valkey, *redis;
} freedoms[] = {
    {"for this call", "for this redis lib call"},
    {"ERR Command arguments", "ERR Lua redis lib command arguments"},
    {"Unknown command called", "Unknown Redis command called"},
    {"calling command from", "calling Redis command from"},
    {"server.log()", "redis.log()"},
    {"server.setresp()", "redis.setresp()"},
    {"Invalid log level", "Invalid debug level"},
    {"This Valkey command", "This Redis command"}};

/* Programs whose sizes or numbers differ for that begin so. */
static const char model_not_on_valkey[] = "-- not on valkey";

static size_t model_replace(char *p, size_t n, const char *old,
                            const char *with)
{
    size_t a = strlen(old), b = strlen(with), i;

    for (i = 0; i + a <= n; i++) {
        if (memcmp(p + i, old, a) != 0)
            continue;
        memmove(p + i + b, p + i + a, n - i - a);
        memcpy(p + i, with, b);
        n = n - a + b;
        i += b - 1;
    }
    return n;
}

/* "0x7f…", an address of a table or function, in 12 digits. */
static void model_blank_addresses(char *p, size_t n)
{
    size_t i, k;

    for (i = 0; i + 14 <= n; i++) {
        if (p[i] != '0' || p[i + 1] != 'x')
            continue;
        for (k = 2; k < 14 && rlt_text_hex(p[i + k]) >= 0; k++)
            ;
        if (k == 14)
            memset(p + i + 2, '-', 12);
    }
}

/* p has room for what freedoms add. */
static size_t model_normal(char *p, size_t n, int is_valkey)
{
    size_t i;

    model_blank_addresses(p, n);
    for (i = 0; is_valkey && i < sizeof freedoms / sizeof freedoms[0]; i++)
        n = model_replace(p, n, freedoms[i].valkey, freedoms[i].redis);
    return n;
}

/* ------------------------------------------------------------ real servers */

static void model_send(model *m, const void *p, size_t n)
{
    const char *at = (const char *)p;
    ssize_t sent;

    while (n > 0) {
        sent = send(m->fd, at, n, 0);
        if (sent <= 0)
            model_die("a server has gone");
        at += sent;
        n -= (size_t)sent;
    }
}

static void model_send_words(model *m, const relet_span *words, size_t n)
{
    static char out[PROGRAM_MAX + 4096];
    size_t at = (size_t)sprintf(out, "*%u\r\n", (unsigned)n), i;

    for (i = 0; i < n; i++) {
        if (at + words[i].n + 32 > sizeof out)
            model_die("a program is too long");
        at += (size_t)sprintf(out + at, "$%u\r\n", (unsigned)words[i].n);
        memcpy(out + at, words[i].p, words[i].n);
        at += words[i].n;
        memcpy(out + at, "\r\n", 2);
        at += 2;
    }
    model_send(m, out, at);
}

/* The length of the whole reply at p; 0: it is not complete yet. The
 * values that are still to come are counted, not nested. */
static size_t model_frame(const char *p, size_t n)
{
    size_t at = 0;
    long missing = 1, count;

    for (; missing > 0; missing--) {
        const char *end = (const char *)memchr(p + at, '\n', n - at);

        if (end == NULL)
            return 0;
        count = atol(p + at + 1);
        if (strchr("*~>", p[at]))
            missing += count > 0 ? count : 0;
        if (p[at] == '%')
            missing += 2 * count;
        if (strchr("$=", p[at]) && count >= 0) {
            at = (size_t)(end - p) + 1 + (size_t)count + 2;
            if (at > n)
                return 0;
            continue;
        }
        at = (size_t)(end - p) + 1;
        if (at >= n && missing > 1)
            return 0;
    }
    return at;
}

static relet_span model_receive(model *m)
{
    relet_span s;
    ssize_t n;

    while (m->n == 0 || model_frame(m->buffer, m->n) == 0) {
        if (m->n == MODEL_REPLY)
            model_die("a reply is too long");
        n = recv(m->fd, m->buffer + m->n, MODEL_REPLY - m->n, 0);
        if (n <= 0)
            model_die("a server has ended");
        m->n += (size_t)n;
    }
    s.p = m->buffer;
    s.n = model_frame(m->buffer, m->n);
    m->n = 0; /* one at a time: nothing stands behind it                     */
    return s;
}

static relet_span model_eval(model *m, relet_span source)
{
    relet_span words[10];
    size_t n = 0, i;

    words[n++] = relet_str("EVAL");
    words[n++] = source;
    words[n++] = relet_str("2");
    for (i = 0; i < 2; i++)
        words[n++] = lua_rig_keys[i];
    for (i = 0; i < 5; i++)
        words[n++] = lua_rig_args[i];
    model_send_words(m, words, n);
    return model_receive(m);
}

static void model_line(model *m, const char *line)
{
    model_send(m, line, strlen(line));
    model_send(m, "\r\n", 2);
    (void)model_receive(m);
}

static void model_connect(model *m, const char *name, int port)
{
    struct sockaddr_in to;
    int i;

    m->name = name;
    m->is_valkey = strcmp(name, "valkey") == 0;
    m->buffer = (char *)malloc(MODEL_REPLY * 2);
    m->fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (m->buffer == NULL || m->fd < 0 ||
        connect(m->fd, (struct sockaddr *)&to, sizeof to) != 0)
        model_die("a server cannot be reached");
    for (i = 0; lua_rig_fill[i]; i++)
        model_line(m, lua_rig_fill[i]);
}

/* --------------------------------------------------------------- comparing */

static void model_tell(const model *m, int resp, relet_span source,
                       relet_span theirs, relet_span ours)
{
    model_differ++;
    if (model_differ > 5)
        return;
    printf("---- differs from %s, RESP%d\n%.*s\n---- theirs\n%.*s\n---- "
           "ours\n%.*s\n", m->name, resp, (int)source.n, source.p,
           (int)(theirs.n < 2000 ? theirs.n : 2000), theirs.p,
           (int)(ours.n < 2000 ? ours.n : 2000), ours.p);
}

static void model_compare(lua_rig *r, model *m, relet_span source)
{
    static char ours_text[MODEL_REPLY];
    relet_span theirs, ours = lua_rig_eval(r, source);

    if (m->is_valkey && source.n >= sizeof model_not_on_valkey - 1 &&
        memcmp(source.p, model_not_on_valkey,
               sizeof model_not_on_valkey - 1) == 0)
        return;
    theirs = model_eval(m, source);
    theirs.n = model_normal(m->buffer, theirs.n, m->is_valkey);
    if (ours.n > sizeof ours_text)
        model_die("our reply is too long");
    memcpy(ours_text, ours.p, ours.n);
    ours.p = ours_text;
    ours.n = model_normal(ours_text, ours.n, 0);
    model_compared++;
    if (theirs.n != ours.n || memcmp(theirs.p, ours.p, ours.n) != 0)
        model_tell(m, r->resp, source, theirs, ours);
}

static void model_corpus(lua_rig *r, model *m, const char *all, size_t n)
{
    const char *at = all, *text;
    relet_span s;

    while (program_from_corpus(&at, all + n, &text, &s.n)) {
        s.p = text;
        model_compare(r, m, s);
        model_programs++;
    }
}

static void model_made_up(lua_rig *r, model *m, uint64_t from, long count)
{
    static program p;
    relet_span s;
    long i;

    for (i = 0; i < count; i++) {
        program_make(&p, from + (uint64_t)i);
        s.p = p.text;
        s.n = p.n;
        model_compare(r, m, s);
        model_programs++;
    }
}

static char *model_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(1 << 20);

    if (f == NULL || text == NULL)
        model_die("the corpus cannot be read");
    *n = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"redis", "valkey"};
    static const char *const hello[] = {"HELLO 2", "HELLO 3"};
    model m;
    lua_rig r;
    size_t n;
    char *all;
    int i, resp;

    if (argc != 6)
        model_die("CORPUS REDIS_PORT VALKEY_PORT FROM COUNT");
    all = model_read(argv[1], &n);
    if (!lua_rig_open(&r, -1))
        return 2;
    for (i = 0; i < 2; i++) {
        if (atoi(argv[2 + i]) == 0)
            continue;
        memset(&m, 0, sizeof m);
        model_connect(&m, names[i], atoi(argv[2 + i]));
        for (resp = 2; resp <= 3; resp++) {
            r.resp = resp;
            model_line(&m, hello[resp - 2]);
            model_corpus(&r, &m, all, n);
            model_made_up(&r, &m, strtoull(argv[4], NULL, 10),
                          atol(argv[5]));
        }
        close(m.fd);
        free(m.buffer);
    }
    lua_rig_close(&r);
    free(all);
    printf("%ld programs, %ld compared, %ld differ\n", model_programs,
           model_compared, model_differ);
    return model_differ > 0 || model_compared == 0;
}
