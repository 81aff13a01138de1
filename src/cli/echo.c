/* SPDX-License-Identifier: MIT
 *
 * echo.c - the server of relet demo: answers each command by its arguments,
 * and what a greeting and a subscription need as a server would. */
#include <stdarg.h>
#include <string.h>

#include "echo.h"

#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void echo_put(echo_bytes *b, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(b->p + b->n, sizeof b->p - b->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof b->p - b->n)
        b->n += (size_t)n;
}

static void echo_put_bulk(echo_bytes *b, relet_span s)
{
    echo_put(b, "$%lu\r\n", (unsigned long)s.n);
    if (s.n + 2 > sizeof b->p - b->n)
        return;
    memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    echo_put(b, "\r\n");
}

void echo_drop(echo_bytes *b, size_t n)
{
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
}

/* A header line such as "$12\r\n" at *at: its number, or -1 when it is not
 * there (yet). */
static long echo_header(const echo_bytes *b, size_t *at, char mark)
{
    size_t i = *at;
    long n = 0;

    if (i >= b->n || b->p[i++] != mark)
        return -1;
    for (; i < b->n && b->p[i] >= '0' && b->p[i] <= '9'; i++)
        n = n * 10 + (b->p[i] - '0');
    if (i + 2 > b->n || b->p[i] != '\r' || n > ECHO_BYTES)
        return -1;
    *at = i + 2;
    return n;
}

/* The first whole command in b: its length in bytes, or 0. */
static size_t echo_parse(const echo_bytes *b, relet_span *argv, size_t *argc)
{
    size_t at = 0;
    long n = echo_header(b, &at, '*'), len;

    if (n < 1 || n > ECHO_ARGS)
        return 0;
    for (*argc = 0; *argc < (size_t)n; ++*argc) {
        len = echo_header(b, &at, '$');
        if (len < 0 || at + (size_t)len + 2 > b->n)
            return 0;
        argv[*argc].p = b->p + at;
        argv[*argc].n = (size_t)len;
        at += (size_t)len + 2;
    }
    return at;
}

static int echo_is(relet_span s, const char *word)
{
    return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

static void echo_answer(echo *e, const relet_span *argv, size_t argc)
{
    echo_bytes *out = &e->out;
    size_t i;

    e->incr_seen += echo_is(argv[0], "INCR");
    e->gets_seen += echo_is(argv[0], "GET");
    if (echo_is(argv[0], "HELLO"))
        echo_put(out, "%%7\r\n$6\r\nserver\r\n$4\r\necho\r\n$7\r\nversion\r\n"
                      "$3\r\n1.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n"
                      "$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n"
                      "$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n");
    else if (echo_is(argv[0], "PING"))
        echo_put(out, "+PONG\r\n");
    else if (echo_is(argv[0], "CLIENT") || echo_is(argv[0], "SELECT") ||
             echo_is(argv[0], "AUTH"))
        echo_put(out, "+OK\r\n");
    else if (echo_is(argv[0], "SUBSCRIBE") && argc == 2) {
        echo_put(out, ">3\r\n$9\r\nsubscribe\r\n");
        echo_put_bulk(out, argv[1]);
        echo_put(out, ":1\r\n");
    } else {
        echo_put(out, "*%lu\r\n", (unsigned long)argc);
        for (i = 0; i < argc; i++)
            echo_put_bulk(out, argv[i]);
    }
}

int echo_serve(echo *e, int most)
{
    relet_span argv[ECHO_ARGS];
    size_t argc, n;
    int served = 0;

    while (served < most && (n = echo_parse(&e->in, argv, &argc)) > 0) {
        echo_answer(e, argv, argc);
        echo_drop(&e->in, n);
        served++;
    }
    return served;
}

void echo_publish(echo *e, const char *channel, const char *message)
{
    echo_put(&e->out, ">3\r\n$7\r\nmessage\r\n");
    echo_put_bulk(&e->out, relet_str(channel));
    echo_put_bulk(&e->out, relet_str(message));
}
