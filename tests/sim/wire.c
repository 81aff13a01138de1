/* SPDX-License-Identifier: MIT
 *
 * wire.c - a second RESP parser, which shares no code with the library.
 *
 * Simple and bulk strings give the same digest, and so do the kinds of null,
 * since the client does not tell them apart; attributes are skipped. */
#include "wire.h"

#include <string.h>

#include "choices.h"

#define WIRE_DEPTH 16

uint64_t sim_wire_text(uint64_t digest, char kind, relet_span s)
{
    uint64_t part = 0;
    size_t i;

    digest = sim_mix(digest, (uint64_t)(unsigned char)kind << 32 | s.n);
    for (i = 0; i < s.n; i++) {
        part = part << 8 | (unsigned char)s.p[i];
        if (i % 8 == 7 || i + 1 == s.n) {
            digest = sim_mix(digest, part);
            part = 0;
        }
    }
    return digest;
}

/* ------------------------------------------------------------------ bytes */

typedef struct wire {
    const char *p;
    size_t n, at;
    sim_frame *frame;
} wire;

/* Reads a line without its end. Returns 1; 0: the line is not whole. */
static int wire_line(wire *w, relet_span *line)
{
    const char *from = w->p + w->at;
    const char *end = (const char *)memchr(from, '\n', w->n - w->at);

    if (end == NULL)
        return 0;
    line->p = from;
    line->n = (size_t)(end - from);
    w->at += line->n + 1;
    if (line->n > 0 && line->p[line->n - 1] == '\r')
        line->n--;
    return 1;
}

static int wire_number(relet_span s, int64_t *out)
{
    uint64_t v = 0;
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');

    if (i == s.n || s.n > 20)
        return 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return 0;
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    }
    *out = s.p[0] == '-' ? (int64_t)(0 - v) : (int64_t)v;
    return 1;
}

/* Reads a string of n bytes and its end. */
static int wire_bulk(wire *w, int64_t n, relet_span *out)
{
    if (n < 0 || (uint64_t)n + 2 > w->n - w->at)
        return 0;
    out->p = w->p + w->at;
    out->n = (size_t)n;
    w->at += out->n + 2;
    return 1;
}

long sim_wire_command(const uint8_t *p, size_t n, sim_words *out)
{
    wire w = {(const char *)p, n, 0, NULL};
    relet_span line, word;
    int64_t count, len, i;

    out->n = 0;
    if (!wire_line(&w, &line))
        return 0;
    if (line.n < 2 || line.p[0] != '*')
        return -1;
    line.p++, line.n--;
    if (!wire_number(line, &count) || count < 1)
        return -1;
    for (i = 0; i < count; i++) {
        if (!wire_line(&w, &line))
            return 0;
        if (line.n < 2 || line.p[0] != '$')
            return -1;
        line.p++, line.n--;
        if (!wire_number(line, &len) || len < 0)
            return -1;
        if (!wire_bulk(&w, len, &word))
            return 0;
        if (out->n < SIM_WORDS)
            out->word[out->n++] = word;
    }
    return (long)w.at;
}

static int wire_same(relet_span s, const char *text)
{
    size_t i;

    for (i = 0; i < s.n; i++)
        if (text[i] == '\0' || (s.p[i] & ~32) != (text[i] & ~32))
            return 0;
    return text[s.n] == '\0';
}

int sim_wire_is(const sim_words *w, size_t i, const char *text)
{
    return i < w->n && wire_same(w->word[i], text);
}

size_t sim_wire_put_tag(char *out, uint64_t tag)
{
    static const char digit[] = "0123456789abcdef";
    char hex[16];
    size_t n = 0, i;

    do {
        hex[n++] = digit[tag & 15];
        tag >>= 4;
    } while (tag > 0);
    memcpy(out, "op:", 3);
    for (i = 0; i < n; i++)
        out[3 + i] = hex[n - 1 - i];
    out[3 + n] = '\0';
    return 3 + n;
}

static uint64_t wire_tag(relet_span s)
{
    uint64_t v = 0;
    size_t i;

    if (s.n < 4 || s.n > 19 || memcmp(s.p, "op:", 3) != 0)
        return 0;
    for (i = 3; i < s.n; i++) {
        char c = s.p[i];

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint64_t)(c - 'a' + 10);
        else
            return 0;
    }
    return v;
}

uint64_t sim_wire_tag_before(const sim_words *w, size_t *i)
{
    uint64_t tag;

    while (--*i > 0)
        if ((tag = wire_tag(w->word[*i])) != 0)
            return tag;
    return 0;
}

uint64_t sim_wire_tag(const sim_words *w)
{
    size_t i = w->n;

    return i > 0 ? sim_wire_tag_before(w, &i) : 0;
}

static int wire_frame(wire *w, int depth, uint64_t *digest);

static int wire_children(wire *w, int64_t n, int depth, uint64_t *digest)
{
    while (n-- > 0) {
        int code = wire_frame(w, depth + 1, digest);

        if (code <= 0)
            return code;
    }
    return 1;
}

static void wire_saw(wire *w, int depth, char type, relet_span s)
{
    sim_frame *f = w->frame;

    if (depth == 0) {
        f->type = type;
        f->text = s;
    }
    if (depth == 1 && f->words < SIM_FRAME_WORDS)
        f->word[f->words++] = s;
}

static int wire_string(wire *w, char type, int64_t n, int depth,
                       uint64_t *digest)
{
    relet_span s;

    if (!wire_bulk(w, n, &s))
        return 0;
    wire_saw(w, depth, type, s);
    if (type == '=') {
        s.p += 4;
        s.n -= 4;
    }
    *digest = sim_wire_text(*digest, type == '$' ? '+' : type == '!' ? '-'
                                                                     : type,
                            s);
    return 1;
}

static uint64_t wire_count(uint64_t digest, char type, int64_t n)
{
    return sim_mix(digest, (uint64_t)(unsigned char)type << 48 ^ (uint64_t)n);
}

/* Reads a frame. Returns 1; 0: it is not whole; -1: it is not RESP. */
static int wire_frame(wire *w, int depth, uint64_t *digest)
{
    relet_span line, rest;
    uint64_t nothing = 0;
    int64_t n;
    int code;

    if (depth > WIRE_DEPTH)
        return -1;
    if (!wire_line(w, &line))
        return 0;
    if (line.n < 1)
        return -1;
    rest.p = line.p + 1;
    rest.n = line.n - 1;
    switch (line.p[0]) {
    case '+':
    case '-':
    case '(':
    case ',':
        wire_saw(w, depth, line.p[0], rest);
        *digest = sim_wire_text(*digest, line.p[0], rest);
        return 1;
    case '_':
        wire_saw(w, depth, '_', rest);
        *digest = wire_count(*digest, '_', 0);
        return 1;
    case '#':
        wire_saw(w, depth, '#', rest);
        *digest = wire_count(*digest, '#', rest.n == 1 && rest.p[0] == 't');
        return 1;
    }
    if (!wire_number(rest, &n))
        return -1;
    if (n < 0 && (line.p[0] == '$' || line.p[0] == '*')) {
        wire_saw(w, depth, '_', rest);
        *digest = wire_count(*digest, '_', 0);
        return 1;
    }
    switch (line.p[0]) {
    case ':':
        wire_saw(w, depth, ':', rest);
        *digest = wire_count(*digest, ':', n);
        return 1;
    case '$':
    case '=':
    case '!':
        return wire_string(w, line.p[0], n, depth, digest);
    case '|':
        code = wire_children(w, 2 * n, depth + 1, &nothing);
        return code <= 0 ? code : wire_frame(w, depth, digest);
    case '*':
    case '~':
    case '>':
    case '%':
        wire_saw(w, depth, line.p[0], rest);
        *digest = wire_count(*digest, line.p[0], n);
        return wire_children(w, line.p[0] == '%' ? 2 * n : n, depth, digest);
    }
    return -1;
}

long sim_wire_frame(const uint8_t *p, size_t n, sim_frame *out)
{
    wire w = {(const char *)p, n, 0, out};
    int code;

    memset(out, 0, sizeof *out);
    code = wire_frame(&w, 0, &out->digest);
    return code <= 0 ? code : (long)w.at;
}

uint64_t sim_wire_put_digest(const sim_frame *f, uint32_t before)
{
    int64_t first, again;

    if (before == 0 || f->type != '*' || f->words != 2 ||
        !wire_number(f->word[0], &first) || !wire_number(f->word[1], &again))
        return f->digest;
    return wire_count(wire_count(wire_count(0, '*', 2), ':', first + before),
                      ':', again);
}

/* ----------------------------------------------------------------- values */

static uint64_t wire_value(uint64_t digest, relet_value v, int depth);

static uint64_t wire_many(uint64_t digest, char type, relet_value v, int depth)
{
    size_t n = relet_value_count(v);
    relet_value c = relet_value_first(v);

    digest = wire_count(digest, type, (int64_t)n);
    for (n *= type == '%' ? 2 : 1; n > 0 && depth < WIRE_DEPTH; n--) {
        digest = wire_value(digest, c, depth + 1);
        c = relet_value_next(c);
    }
    return digest;
}

static uint64_t wire_value(uint64_t digest, relet_value v, int depth)
{
    relet_span text = relet_value_text(v);
    int64_t n = 0;
    int yes = 0;

    switch (relet_value_type(v)) {
    case RELET_T_NULL: return wire_count(digest, '_', 0);
    case RELET_T_TEXT: return sim_wire_text(digest, '+', text);
    case RELET_T_ERROR: return sim_wire_text(digest, '-', text);
    case RELET_T_DOUBLE: return sim_wire_text(digest, ',', text);
    case RELET_T_BIG: return sim_wire_text(digest, '(', text);
    case RELET_T_VERBATIM: return sim_wire_text(digest, '=', text);
    case RELET_T_INT:
        (void)relet_value_int(v, &n);
        return wire_count(digest, ':', n);
    case RELET_T_BOOL:
        (void)relet_value_bool(v, &yes);
        return wire_count(digest, '#', yes);
    case RELET_T_ARRAY: return wire_many(digest, '*', v, depth);
    case RELET_T_MAP: return wire_many(digest, '%', v, depth);
    case RELET_T_SET: return wire_many(digest, '~', v, depth);
    case RELET_T_PUSH: return wire_many(digest, '>', v, depth);
    }
    return 0;
}

uint64_t sim_wire_value(relet_value v)
{
    return wire_value(0, v, 0);
}
