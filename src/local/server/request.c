/* SPDX-License-Identifier: MIT
 *
 * request.c - parses what clients send into commands, and runs them.
 *
 * Deliberately not the client's reader of RESP: this one reads requests as
 * Redis does, with the same limits and error messages. */
#include "request.h"
#include "blocked.h"
#include "peer.h"
#include "dispatch.h"

/* The longest line without an end; PROTO_INLINE_MAX_SIZE in Redis. */
#define REQUEST_LINE_MAX ((size_t)65536)

/* Limits for a client that has not authenticated. */
#define REQUEST_STRANGER_WORDS 10
#define REQUEST_STRANGER_BULK 16384

typedef enum request_state {
    REQUEST_MORE,
    REQUEST_WHOLE,
    REQUEST_BAD
} request_state;

static request_state request_bad(rlt_peer *p, const char *error)
{
    p->server->counts.errors++;
    p->closing = 1;
    if (rlt_dispatch_out(p) == &p->out)
        rlt_out_error(&p->out, error);
    return REQUEST_BAD;
}

/* ---------------------------------------------------------------- arguments */

static int request_args_grow(rlt_peer *p)
{
    rlt_server *s = p->server;
    const size_t each = sizeof *p->args + sizeof *p->argv;
    uint32_t cap = p->args_cap ? p->args_cap * 2 : 8;
    char *block;

    if (p->args_cap > UINT32_MAX / 4)
        return 0;
    block = (char *)s->memory.resize(s->memory.user, p->args,
                                     p->args_cap * each, cap * each);
    if (block == NULL)
        return 0;
    /* argv follows args in the block, and is filled anew for each command. */
    p->args = (rlt_arg *)(void *)block;
    p->argv = (relet_span *)(void *)(block + cap * sizeof *p->args);
    p->args_cap = cap;
    return 1;
}

static int request_arg(rlt_peer *p, size_t at, size_t n)
{
    if (p->argc == p->args_cap && !request_args_grow(p))
        return 0;
    p->args[p->argc].at = at;
    p->args[p->argc].n = n;
    p->argc++;
    return 1;
}

/* Fills argv from args: again whenever the bytes may have moved. */
static void request_spans(rlt_peer *p)
{
    const rlt_buf *b = p->is_inline ? &p->words : &p->in;
    const char *base = (const char *)rlt_buf_head(b);
    uint32_t i;

    for (i = 0; i < p->argc; i++) {
        p->argv[i].p = base ? base + p->args[i].at : "";
        p->argv[i].n = p->args[i].n;
    }
}

/* ------------------------------------------------------------------ inline */

static int request_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char request_escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    }
    return c;
}

/* Unquotes from behind a double quote. Returns the index of the closing quote,
 * or the end of the line when there is none. */
static size_t request_double(rlt_buf *w, const char *s, size_t i, size_t n)
{
    char c;

    for (; i < n && s[i] != '"'; i++) {
        c = s[i];
        if (c == '\\' && i + 3 < n && s[i + 1] == 'x' &&
            rlt_text_hex(s[i + 2]) >= 0 && rlt_text_hex(s[i + 3]) >= 0) {
            c = (char)(rlt_text_hex(s[i + 2]) * 16 + rlt_text_hex(s[i + 3]));
            i += 3;
        } else if (c == '\\' && i + 1 < n) {
            c = request_escaped(s[++i]);
        }
        (void)rlt_buf_put(w, &c, 1);
    }
    return i;
}

static size_t request_single(rlt_buf *w, const char *s, size_t i, size_t n)
{
    for (; i < n && s[i] != '\''; i++) {
        if (s[i] == '\\' && i + 1 < n && s[i + 1] == '\'')
            i++;
        (void)rlt_buf_put(w, s + i, 1);
    }
    return i;
}

/* Reads one word from i on. Returns where it ends, or SIZE_MAX if a quote is
 * unbalanced. */
static size_t request_word(rlt_buf *w, const char *s, size_t i, size_t n)
{
    while (i < n && !request_space(s[i])) {
        if (s[i] != '"' && s[i] != '\'') {
            (void)rlt_buf_put(w, s + i++, 1);
            continue;
        }
        i = s[i] == '"' ? request_double(w, s, i + 1, n)
                        : request_single(w, s, i + 1, n);
        if (i >= n)
            return SIZE_MAX;
        i++;
        if (i < n && !request_space(s[i]))
            return SIZE_MAX;
        return i;
    }
    return i;
}

static request_state request_words(rlt_peer *p, const char *s, size_t n)
{
    const char *nul = n > 0 ? (const char *)memchr(s, 0, n) : NULL;
    size_t i = 0, begin;

    if (nul)
        n = (size_t)(nul - s);
    if (rlt_buf_reserve(&p->words, n + 1) != 0) {
        p->closing = 1;
        return REQUEST_BAD;
    }
    for (;;) {
        while (i < n && request_space(s[i]))
            i++;
        if (i >= n)
            return REQUEST_WHOLE;
        begin = rlt_buf_used(&p->words);
        i = request_word(&p->words, s, i, n);
        if (i == SIZE_MAX)
            return request_bad(
                p, "ERR Protocol error: unbalanced quotes in request");
        if (!request_arg(p, begin, rlt_buf_used(&p->words) - begin)) {
            p->closing = 1;
            return REQUEST_BAD;
        }
    }
}

static request_state request_inline(rlt_peer *p)
{
    const char *s = (const char *)rlt_buf_head(&p->in);
    size_t used = rlt_buf_used(&p->in), n;
    size_t from = p->decode.searched;
    const char *end = (const char *)memchr(s + from, '\n', used - from);

    if (end == NULL) {
        p->decode.searched = used;
        if (used > REQUEST_LINE_MAX)
            return request_bad(p, "ERR Protocol error: too big inline request");
        return REQUEST_MORE;
    }
    n = (size_t)(end - s);
    p->decode.at = n + 1;
    if (n > 0 && s[n - 1] == '\r')
        n--;
    p->is_inline = 1;
    return request_words(p, s, n);
}

/* ------------------------------------------------------------------- arrays */

/* Finds a line that ends in \r\n, from decode.at on; its length goes to *n.
 * Redis looks for the \r with strchr, which a NUL stops. */
static request_state request_line(rlt_peer *p, size_t *n, const char *too_big)
{
    rlt_decode *d = &p->decode;
    const char *s = (const char *)rlt_buf_head(&p->in) + d->at;
    size_t used = rlt_buf_used(&p->in) - d->at, i = d->searched;

    while (i < used && s[i] != '\r' && s[i] != '\0')
        i++;
    d->searched = i;
    if (i >= used || s[i] == '\0') {
        if (used > REQUEST_LINE_MAX)
            return request_bad(p, too_big);
        return REQUEST_MORE;
    }
    if (i + 2 > used)
        return REQUEST_MORE;
    d->searched = 0;
    *n = i;
    return REQUEST_WHOLE;
}

static int request_number(const char *p, size_t n, int64_t *v)
{
    relet_span s;

    s.p = p;
    s.n = n;
    return rlt_str_int(s, v);
}

static request_state request_count(rlt_peer *p)
{
    rlt_decode *d = &p->decode;
    const char *s = (const char *)rlt_buf_head(&p->in) + d->at;
    size_t n = 0;
    int64_t v;
    request_state st =
        request_line(p, &n, "ERR Protocol error: too big mbulk count string");

    if (st != REQUEST_WHOLE)
        return st;
    if (!request_number(s + 1, n - 1, &v) || v > INT32_MAX)
        return request_bad(p, "ERR Protocol error: invalid multibulk length");
    if (v > REQUEST_STRANGER_WORDS && !p->authenticated && !p->replaying)
        return request_bad(
            p, "ERR Protocol error: unauthenticated multibulk length");
    d->at += n + 2;
    d->words = v > 0 ? v : 0;
    return REQUEST_WHOLE;
}

static request_state request_not_bulk(rlt_peer *p, char got)
{
    char text[] = "ERR Protocol error: expected '$', got 'x'";

    text[sizeof text - 3] = got;
    return request_bad(p, text);
}

static request_state request_bulk_header(rlt_peer *p)
{
    rlt_decode *d = &p->decode;
    const char *s = (const char *)rlt_buf_head(&p->in) + d->at;
    size_t n = 0;
    int64_t v;
    request_state st =
        request_line(p, &n, "ERR Protocol error: too big bulk count string");

    if (st != REQUEST_WHOLE)
        return st;
    if (*s != '$')
        return request_not_bulk(p, *s);
    if (!request_number(s + 1, n - 1, &v) || v < 0 ||
        v > p->server->settings.proto_max_bulk)
        return request_bad(p, "ERR Protocol error: invalid bulk length");
    if (v > REQUEST_STRANGER_BULK && !p->authenticated && !p->replaying)
        return request_bad(p,
                           "ERR Protocol error: unauthenticated bulk length");
    d->at += n + 2;
    d->bulk = v;
    return REQUEST_WHOLE;
}

/* Fast path for "$7\r\n" and "$42\r\n", the usual headers, if complete. */
static int request_bulk_short(rlt_peer *p)
{
    rlt_decode *d = &p->decode;
    const char *s = (const char *)rlt_buf_head(&p->in) + d->at;
    size_t left = rlt_buf_used(&p->in) - d->at;

    if (left < 5 || s[0] != '$' || s[1] < '1' || s[1] > '9')
        return 0;
    d->bulk = s[1] - '0';
    if (s[2] != '\r') {
        if (s[2] < '0' || s[2] > '9' || s[3] != '\r') {
            d->bulk = -1;
            return 0;
        }
        d->bulk = d->bulk * 10 + (s[2] - '0');
        d->at++;
    }
    d->at += 4;
    d->searched = 0;
    return 1;
}

static request_state request_array(rlt_peer *p)
{
    rlt_decode *d = &p->decode;
    request_state st;

    if (d->at == 0) {
        st = request_count(p);
        if (st != REQUEST_WHOLE)
            return st;
    }
    while (d->words > 0) {
        if (d->bulk < 0 && !request_bulk_short(p)) {
            if (rlt_buf_used(&p->in) == d->at)
                return REQUEST_MORE;
            st = request_bulk_header(p);
            if (st != REQUEST_WHOLE)
                return st;
        }
        if ((uint64_t)(rlt_buf_used(&p->in) - d->at) < (uint64_t)d->bulk + 2)
            return REQUEST_MORE;
        if (!request_arg(p, d->at, (size_t)d->bulk)) {
            p->closing = 1;
            return REQUEST_BAD;
        }
        d->at += (size_t)d->bulk + 2;
        d->bulk = -1;
        d->words--;
    }
    return REQUEST_WHOLE;
}

static request_state request_decode(rlt_peer *p)
{
    request_state st;

    if (rlt_buf_used(&p->in) == 0)
        return REQUEST_MORE;
    if (p->decode.at > 0 || *rlt_buf_head(&p->in) == '*')
        st = request_array(p);
    else
        st = request_inline(p);
    if (st == REQUEST_WHOLE)
        request_spans(p);
    return st;
}

/* ----------------------------------------------------------------- the loop */

static void request_done(rlt_peer *p)
{
    rlt_buf_drop(&p->in, p->decode.at);
    if (p->is_inline)
        rlt_buf_drop(&p->words, rlt_buf_used(&p->words));
    memset(&p->decode, 0, sizeof p->decode);
    p->decode.bulk = -1;
    p->argc = 0;
    p->is_inline = 0;
    p->held = 0;
}

static void request_go(rlt_peer *p)
{
    while (!p->closing && p->wait == RLT_WAIT_NONE &&
           p->server->asleep_until_ms == 0) {
        if (p->held && !p->again) {
            request_done(p);
            continue;
        }
        if (!p->held && request_decode(p) != REQUEST_WHOLE)
            return;
        p->again = 0;
        p->held = 0;
        if (p->argc > 0)
            rlt_dispatch_peer(p);
        if (p->wait == RLT_WAIT_NONE)
            request_done(p);
        else
            p->held = 1;
    }
    if (p->closing)
        rlt_peer_kill(p);
}

RELET_PRIVATE void rlt_request_feed(rlt_peer *p, const void *bytes, size_t n)
{
    if (p->closing || n == 0)
        return;
    p->server->counts.bytes_in += n;
    if (rlt_buf_put(&p->in, bytes, n) != 0) {
        rlt_peer_kill(p);
        return;
    }
    if (p->held)
        request_spans(p);
    request_go(p);
    if (rlt_buf_used(&p->in) == 0)
        rlt_buf_shrink(&p->in, 4096);
}

RELET_PRIVATE void rlt_request_resume(rlt_server *s)
{
    rlt_peer *p;

    while ((p = rlt_blocked_resumed(s)) != NULL)
        request_go(p);
}
