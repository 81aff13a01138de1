/* SPDX-License-Identifier: MIT
 *
 * show.c - a value as bytes, as text for people, or as JSON.
 *
 * Raw is what a pipe gets: exactly the server's bytes. Pretty is what a
 * terminal gets: nothing in it can move the cursor. JSON loses no byte: text
 * that is not UTF-8 becomes {"bytes":"base64"}.
 *
 * The recursion is as deep as the reply, which depth_max bounds. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

show_form show_form_of(const cli *c)
{
    if (c->json)
        return SHOW_JSON;
    return isatty(STDOUT_FILENO) ? SHOW_PRETTY : SHOW_RAW;
}

static void show_bytes(FILE *out, relet_span s)
{
    if (s.n)
        fwrite(s.p, 1, s.n, out);
}

/* A map has two children for each pair. */
static size_t show_children(relet_value v)
{
    size_t n = relet_value_count(v);

    return relet_value_type(v) == RELET_T_MAP ? n * 2 : n;
}

static int64_t show_int(relet_value v)
{
    int64_t i = 0;

    (void)relet_value_int(v, &i);
    return i;
}

static int show_bool(relet_value v)
{
    int b = 0;

    (void)relet_value_bool(v, &b);
    return b;
}

/* ----------------------------------------------------------------- bytes */

/* Length of the well-formed sequence at p, or 0. */
static size_t show_utf8_step(const unsigned char *p, size_t n)
{
    unsigned lo = 0x80, hi = 0xbf;
    size_t len, i;

    if (p[0] < 0x80)
        return 1;
    len = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
          : p[0] >= 0xe0 && p[0] <= 0xef ? 3
          : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                         : 0;
    if (len == 0 || len > n)
        return 0;
    if (p[0] == 0xe0)
        lo = 0xa0; /* shorter forms exist */
    if (p[0] == 0xed)
        hi = 0x9f; /* surrogates */
    if (p[0] == 0xf0)
        lo = 0x90;
    if (p[0] == 0xf4)
        hi = 0x8f; /* beyond U+10FFFF */
    for (i = 1; i < len; i++, lo = 0x80, hi = 0xbf)
        if (p[i] < lo || p[i] > hi)
            return 0;
    return len;
}

size_t show_utf8(const char *s)
{
    return show_utf8_step((const unsigned char *)s, strlen(s));
}

static int show_is_utf8(relet_span s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = 0;

    while (at < s.n) {
        size_t step = show_utf8_step(p + at, s.n - at);

        if (step == 0)
            return 0;
        at += step;
    }
    return 1;
}

static void show_base64(FILE *out, relet_span s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i;

    for (i = 0; i < s.n; i += 3) {
        size_t left = s.n - i;
        unsigned long w = (unsigned long)p[i] << 16;

        if (left > 1)
            w |= (unsigned long)p[i + 1] << 8;
        if (left > 2)
            w |= p[i + 2];
        putc(digits[w >> 18], out);
        putc(digits[w >> 12 & 63], out);
        putc(left > 1 ? digits[w >> 6 & 63] : '=', out);
        putc(left > 2 ? digits[w & 63] : '=', out);
    }
}

static const char show_hex[] = "0123456789abcdef";

static void show_json_string(FILE *out, relet_span s)
{
    size_t i, from = 0;

    putc('"', out);
    for (i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        fwrite(s.p + from, 1, i - from, out);
        from = i + 1;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else {
            fputs("\\u00", out); /* printf would take five times as long */
            putc(show_hex[c >> 4], out);
            putc(show_hex[c & 15], out);
        }
    }
    if (s.n)
        fwrite(s.p + from, 1, s.n - from, out);
    putc('"', out);
}

void show_json(FILE *out, relet_span s)
{
    if (show_is_utf8(s)) {
        show_json_string(out, s);
        return;
    }
    fputs("{\"bytes\":\"", out);
    show_base64(out, s);
    fputs("\"}", out);
}

void show_quoted(FILE *out, relet_span s)
{
    static const char plain[] = "\n\r\t\a\b\\\"", named[] = "nrtab\\\"";
    size_t i;

    putc('"', out);
    for (i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *p = c ? strchr(plain, c) : NULL;

        if (p)
            fprintf(out, "\\%c", named[p - plain]);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

void show_name(FILE *out, const char *name)
{
    const unsigned char *p = (const unsigned char *)name;

    while (*p >= 0x20 && *p != 0x7f)
        p++;
    if (*p)
        show_quoted(out, relet_str(name));
    else
        fputs(name, out);
}

/* Text for people as the server wrote it, but for its last line end. */
static void show_lines(FILE *out, relet_span s)
{
    size_t i;

    if (s.n && s.p[s.n - 1] == '\n')
        s.n--;
    for (i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '\r' && (i + 1 == s.n || s.p[i + 1] == '\n'))
            continue;
        if ((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            putc(c, out);
    }
}

/* ------------------------------------------------------------------- raw */

static void show_raw(FILE *out, relet_value v)
{
    relet_value child = relet_value_first(v);
    size_t n = show_children(v), i;

    for (i = 0; i < n; i++, child = relet_value_next(child)) {
        if (i)
            putc('\n', out);
        show_raw(out, child);
    }
    if (relet_value_type(v) == RELET_T_INT)
        fprintf(out, "%" PRId64, show_int(v));
    else if (relet_value_type(v) == RELET_T_BOOL)
        fputs(show_bool(v) ? "true" : "false", out);
    else
        show_bytes(out, relet_value_text(v));
}

/* ---------------------------------------------------------------- pretty */

static void show_pretty_leaf(FILE *out, relet_value v)
{
    relet_span s = relet_value_text(v);

    switch (relet_value_type(v)) {
    case RELET_T_NULL:
        fputs("(nil)", out);
        return;
    case RELET_T_TEXT:
        show_quoted(out, s);
        return;
    case RELET_T_ERROR:
        fputs("(error) ", out);
        break;
    case RELET_T_INT:
        fprintf(out, "(integer) %" PRId64, show_int(v));
        return;
    case RELET_T_DOUBLE:
        fputs("(double) ", out);
        break;
    case RELET_T_BOOL:
        fputs(show_bool(v) ? "(true)" : "(false)", out);
        return;
    case RELET_T_BIG:
        fputs(relet_value_malformed(v) ? "(malformed big number) "
                                       : "(big number) ", out);
        break;
    case RELET_T_VERBATIM:
        break;
    case RELET_T_ARRAY:
    case RELET_T_MAP:
    case RELET_T_SET:
    case RELET_T_PUSH:
        fputs("(empty)", out);
        return;
    }
    show_lines(out, s);
}

static int show_digits(size_t n)
{
    int digits = 1;

    while (n >= 10) {
        n /= 10;
        digits++;
    }
    return digits;
}

static char show_mark(relet_type t)
{
    if (t == RELET_T_MAP)
        return '#';
    if (t == RELET_T_SET)
        return '~';
    return t == RELET_T_PUSH ? '>' : ')';
}

/* Numbered lines, the children's indented behind their number. The first
 * line stands where the cursor is. No newline at the end. */
static void show_pretty(FILE *out, relet_value v, int indent)
{
    size_t n = relet_value_count(v), i;
    int digits = show_digits(n), inner = indent + digits + 2;
    relet_value child = relet_value_first(v);

    if (n == 0) {
        show_pretty_leaf(out, v);
        return;
    }
    for (i = 0; i < n; i++, child = relet_value_next(child)) {
        if (i)
            fprintf(out, "\n%*s", indent, "");
        fprintf(out, "%*lu%c ", digits, (unsigned long)(i + 1),
                show_mark(relet_value_type(v)));
        if (relet_value_type(v) == RELET_T_MAP) {
            show_pretty(out, child, inner);
            fputs(" => ", out);
            child = relet_value_next(child);
        }
        show_pretty(out, child, inner);
    }
}

/* ------------------------------------------------------------------ JSON */

/* A number in JSON has no '+' and no leading zero, and is not inf or nan. */
static int show_is_number(relet_span s)
{
    size_t i = s.n > 0 && s.p[0] == '-', from = i;

    if (i < s.n && s.p[i] == '0' && i + 1 < s.n && s.p[i + 1] >= '0' &&
        s.p[i + 1] <= '9')
        return 0;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    if (i == from)
        return 0;
    for (; i < s.n; i++)
        if (!strchr("0123456789.eE+-", s.p[i]) || s.p[i] == '\0')
            return 0;
    return s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9';
}

/* A document whose only key is one of these words has a meaning of its own. A
 * map must not look like such a document. */
static int show_is_reserved(relet_value key)
{
    return relet_value_is(key, "bytes") || relet_value_is(key, "error") ||
           relet_value_is(key, "map") || relet_value_is(key, "unsure") ||
           relet_value_is(key, "not_sent");
}

static int show_is_object(relet_value v)
{
    relet_value key = relet_value_first(v);
    size_t n = relet_value_count(v), i;

    if (n == 1 && show_is_reserved(key))
        return 0;
    for (i = 0; i < n; i++) {
        if (relet_value_type(key) != RELET_T_TEXT ||
            !show_is_utf8(relet_value_text(key)))
            return 0;
        key = relet_value_next(relet_value_next(key));
    }
    return 1;
}

static void show_json_value(FILE *out, relet_value v);

static void show_json_map(FILE *out, relet_value v)
{
    int object = show_is_object(v);
    relet_value key = relet_value_first(v);
    size_t n = relet_value_count(v), i;

    fputs(object ? "{" : "{\"map\":[", out);
    for (i = 0; i < n; i++) {
        relet_value value = relet_value_next(key);

        if (i)
            putc(',', out);
        if (!object)
            putc('[', out);
        show_json_value(out, key);
        putc(object ? ':' : ',', out);
        show_json_value(out, value);
        if (!object)
            putc(']', out);
        key = relet_value_next(value);
    }
    fputs(object ? "}" : "]}", out);
}

static void show_json_list(FILE *out, relet_value v)
{
    relet_value child = relet_value_first(v);
    size_t n = relet_value_count(v), i;

    putc('[', out);
    for (i = 0; i < n; i++, child = relet_value_next(child)) {
        if (i)
            putc(',', out);
        show_json_value(out, child);
    }
    putc(']', out);
}

static void show_json_value(FILE *out, relet_value v)
{
    switch (relet_value_type(v)) {
    case RELET_T_NULL:
        fputs("null", out);
        return;
    case RELET_T_ERROR:
        fputs("{\"error\":", out);
        show_json(out, relet_value_text(v));
        putc('}', out);
        return;
    case RELET_T_INT:
        fprintf(out, "%" PRId64, show_int(v));
        return;
    case RELET_T_BOOL:
        fputs(show_bool(v) ? "true" : "false", out);
        return;
    case RELET_T_DOUBLE:
        if (show_is_number(relet_value_text(v)))
            show_bytes(out, relet_value_text(v));
        else
            show_json(out, relet_value_text(v));
        return;
    case RELET_T_TEXT:
    case RELET_T_BIG:
    case RELET_T_VERBATIM:
        show_json(out, relet_value_text(v));
        return;
    case RELET_T_MAP:
        show_json_map(out, v);
        return;
    case RELET_T_ARRAY:
    case RELET_T_SET:
    case RELET_T_PUSH:
        show_json_list(out, v);
        return;
    }
}

void show_value(FILE *out, show_form form, relet_value v)
{
    switch (form) {
    case SHOW_RAW:
        show_raw(out, v);
        putc('\n', out);
        return;
    case SHOW_PRETTY:
        show_pretty(out, v, 0);
        putc('\n', out);
        return;
    case SHOW_JSON:
        show_json_value(out, v);
        putc('\n', out);
        return;
    }
}
