/* SPDX-License-Identifier: MIT
 *
 * split.c - a line of text into the arguments of a command.
 *
 * Blanks separate words. Inside "…" the escapes are \n \r \t \a \b \\ \" \xHH
 * and no others, inside '…' only \'. A closing quote ends its word. Decoding
 * never makes a line longer, so it is done in place. */
#include <string.h>

#include "cli.h"

typedef struct split_cursor {
    char *line;
    size_t n, at, to; /* to: where the next decoded byte goes */
    const char *why;
} split_cursor;

static int split_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int split_hex(char c)
{
    const char *digits = "0123456789abcdef", *p;

    if (c >= 'A' && c <= 'F')
        c = (char)(c - 'A' + 'a');
    p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

/* at is behind the backslash. 0, or -1 and why is set. */
static int split_escape(split_cursor *w)
{
    const char *from = "nrtab\\\"", *to = "\n\r\t\a\b\\\"", *p;
    char c = w->at < w->n ? w->line[w->at] : '\0';

    if (c == 'x' && w->n - w->at >= 3 && split_hex(w->line[w->at + 1]) >= 0 &&
        split_hex(w->line[w->at + 2]) >= 0) {
        w->line[w->to++] = (char)(split_hex(w->line[w->at + 1]) * 16 +
                                  split_hex(w->line[w->at + 2]));
        w->at += 3;
        return 0;
    }
    p = c ? strchr(from, c) : NULL;
    if (!p) {
        w->why = "unknown escape (\\n \\r \\t \\a \\b \\\\ \\\" \\xHH)";
        w->at--;
        return -1;
    }
    w->line[w->to++] = to[p - from];
    w->at++;
    return 0;
}

/* at is behind the opening quote; leaves it behind the closing one. */
static int split_quoted(split_cursor *w, char quote)
{
    size_t opened = w->at - 1;

    for (;;) {
        char c;

        if (w->at == w->n) {
            w->why = "this quote is not closed";
            w->at = opened;
            return -1;
        }
        c = w->line[w->at++];
        if (c == quote)
            break;
        if (c == '\\' && quote == '"') {
            if (split_escape(w))
                return -1;
            continue;
        }
        if (c == '\\' && w->at < w->n && w->line[w->at] == '\'')
            c = w->line[w->at++];
        w->line[w->to++] = c;
    }
    if (w->at == w->n || split_blank(w->line[w->at]))
        return 0;
    w->why = "a blank must follow a closing quote";
    return -1;
}

static int split_one(split_cursor *w)
{
    while (w->at < w->n && !split_blank(w->line[w->at])) {
        char c = w->line[w->at++];

        if (c != '"' && c != '\'')
            w->line[w->to++] = c;
        else if (split_quoted(w, c))
            return -1;
    }
    return 0;
}

static void split_push(cli_words *words, const char *p, size_t n)
{
    if (words->n == words->cap) {
        words->cap = words->cap ? words->cap * 2 : 64;
        words->p = (relet_span *)cli_grow(words->p,
                                          words->cap * sizeof *words->p);
    }
    words->p[words->n].p = p;
    words->p[words->n++].n = n;
}

size_t split_words(cli_words *words, char *line, size_t n, const char **why)
{
    split_cursor w;

    memset(&w, 0, sizeof w);
    w.line = line;
    w.n = n;
    words->n = 0;
    for (;;) {
        size_t from;

        while (w.at < w.n && split_blank(w.line[w.at]))
            w.at++;
        if (w.at == w.n)
            return 0;
        from = w.to;
        if (split_one(&w)) {
            *why = w.why;
            return w.at + 1;
        }
        split_push(words, line + from, w.to - from);
    }
}
