/* SPDX-License-Identifier: MIT
 *
 * value_words.h - writes values and the scanner's events in the words of
 * tests/vectors: @{text"ttl":int(3600)}arr[null dbl(0.5)] ; ERR LINE. */
#ifndef RLT_VALUE_WORDS_H
#define RLT_VALUE_WORDS_H

#include <math.h>
#include <stdio.h>

#include "scan_feed.h"
#include "value.h"

enum { T_TEXT_MAX = 65536 };

typedef struct t_text {
    char p[T_TEXT_MAX];
    size_t n;
} t_text;

static inline void t_put(t_text *t, const char *s, size_t n)
{
    if (n > sizeof t->p - 1 - t->n)
        n = sizeof t->p - 1 - t->n;
    memcpy(t->p + t->n, s, n);
    t->n += n;
    t->p[t->n] = '\0';
}

static inline void t_say(t_text *t, const char *s)
{
    t_put(t, s, strlen(s));
}

/* ----------------------------------------------------------- values as text */

static inline void t_put_quoted(t_text *t, relet_span s)
{
    char hex[8];
    size_t i;

    t_say(t, "\"");
    for (i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '\r')
            t_say(t, "\\r");
        else if (c == '\n')
            t_say(t, "\\n");
        else if (c >= 32 && c < 127)
            t_put(t, s.p + i, 1);
        else {
            snprintf(hex, sizeof hex, "\\x%02x", c);
            t_say(t, hex);
        }
    }
    t_say(t, "\"");
}

static inline void t_put_double(t_text *t, double d)
{
    char text[64];

    if (isnan(d))
        snprintf(text, sizeof text, "dbl(nan)");
    else
        snprintf(text, sizeof text, "dbl(%.17g)", d);
    t_say(t, text);
}

static inline void t_put_int(t_text *t, relet_value v)
{
    char text[32];
    int64_t i = 0;

    relet_value_int(v, &i);
    snprintf(text, sizeof text, "int(%lld)", (long long)i);
    t_say(t, text);
}

static inline void t_put_number(t_text *t, relet_value v)
{
    double d = 0;

    if (relet_value_double(v, &d))
        t_put_double(t, d);
    else
        t_say(t, "dbl(?)");
}

static inline void t_put_scalar(t_text *t, relet_value v)
{
    int truth = 0;

    switch (relet_value_type(v)) {
    case RELET_T_TEXT: t_say(t, "text"); break;
    case RELET_T_ERROR: t_say(t, "err"); break;
    case RELET_T_BIG:
        t_say(t, relet_value_malformed(v) ? "big?" : "big");
        break;
    case RELET_T_VERBATIM:
        t_say(t, "verb<");
        t_put(t, relet_value_format(v).p, relet_value_format(v).n);
        t_say(t, ">");
        break;
    case RELET_T_INT: t_put_int(t, v); return;
    case RELET_T_DOUBLE: t_put_number(t, v); return;
    case RELET_T_BOOL:
        relet_value_bool(v, &truth);
        t_say(t, truth ? "true" : "false");
        return;
    case RELET_T_NULL: t_say(t, "null"); return;
    case RELET_T_ARRAY:
    case RELET_T_MAP:
    case RELET_T_SET:
    case RELET_T_PUSH: return;
    }
    t_put_quoted(t, relet_value_text(v));
}

/* A test may recurse; the library may not. */
static inline void t_put_value(t_text *t, relet_value v)
{
    static const char *const open[] = {"arr[", "map[", "set[", "push["};
    relet_value a = relet_value_attributes(v), c;
    relet_type type = relet_value_type(v);
    size_t n, i;

    if (a.node != NULL) {
        t_say(t, "@{");
        n = relet_value_count(a);
        for (i = 0, c = relet_value_first(a); i < n * 2; i++) {
            t_say(t, i == 0 ? "" : i % 2 == 0 ? " " : ":");
            t_put_value(t, c);
            c = relet_value_next(c);
        }
        t_say(t, "}");
    }
    if (type < RELET_T_ARRAY) {
        t_put_scalar(t, v);
        return;
    }
    t_say(t, open[type - RELET_T_ARRAY]);
    n = relet_value_count(v) * (type == RELET_T_MAP ? 2 : 1);
    for (c = relet_value_first(v), i = 0; i < n; i++) {
        t_say(t, i > 0 ? " " : "");
        t_put_value(t, c);
        c = relet_value_next(c);
    }
    t_say(t, "]");
}

static inline const char *t_error_name(int error)
{
    static const char *const names[] = {
        "NONE", "TYPE", "LINE", "CRLF", "INT",  "LEN",  "LIMIT",
        "DEPTH", "NULL", "BOOL", "DBL",  "VERB", "PUSH", "STREAM"};

    return names[error];
}

static inline const char *t_why_name(int why)
{
    static const char *const names[] = {"NONE",  "LINE",  "BULK", "COUNT",
                                        "DEPTH", "BYTES", "TAPE"};

    return names[why];
}

/* A t_feed_fn that writes down its events, separated by " ; ". */
static inline void t_event(void *user, rlt_verdict verdict, const rlt_scan *s,
                           relet_value v)
{
    t_text *t = (t_text *)user;
    uint32_t lost;

    if (t->n > 0)
        t_say(t, " ; ");
    if (verdict == RLT_SCAN_ERROR) {
        t_say(t, "ERR ");
        t_say(t, t_error_name(s->error));
    } else if (verdict == RLT_SCAN_SKIPPED) {
        t_say(t, "SKIPPED ");
        t_say(t, t_why_name(s->skip_why));
        if (s->skip_push)
            t_say(t, " push");
        for (lost = s->lost_pushes; lost > 0; lost--)
            t_say(t, " lost");
    } else {
        t_put_value(t, v);
    }
}

#endif
