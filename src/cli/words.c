/* SPDX-License-Identifier: MIT
 *
 * words.c - a line of text into the arguments of a command.
 *
 * Blanks separate. "…" knows \n \r \t \a \b \\ \" \xHH and nothing else, '…'
 * knows \'. A closing quote ends its word. Decoding never grows a line, so it
 * is done in place. */
#include <string.h>

#include "cli.h"

typedef struct words_cursor {
    char *line;
    size_t n, at, to; /* to: where the next decoded byte goes */
    const char *why;
} words_cursor;

static int words_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int words_hex(char c)
{
    const char *digits = "0123456789abcdef", *p;

    if (c >= 'A' && c <= 'F')
        c = (char)(c - 'A' + 'a');
    p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

/* at is behind the backslash. 0, or nothing good and why is set. */
static int words_escape(words_cursor *w)
{
    const char *from = "nrtab\\\"", *to = "\n\r\t\a\b\\\"", *p;
    char c = w->at < w->n ? w->line[w->at] : '\0';

    if (c == 'x' && w->n - w->at >= 3 && words_hex(w->line[w->at + 1]) >= 0 &&
        words_hex(w->line[w->at + 2]) >= 0) {
        w->line[w->to++] = (char)(words_hex(w->line[w->at + 1]) * 16 +
                                  words_hex(w->line[w->at + 2]));
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
static int words_quoted(words_cursor *w, char quote)
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
            if (words_escape(w))
                return -1;
            continue;
        }
        if (c == '\\' && w->at < w->n && w->line[w->at] == '\'')
            c = w->line[w->at++];
        w->line[w->to++] = c;
    }
    if (w->at == w->n || words_blank(w->line[w->at]))
        return 0;
    w->why = "a blank must follow a closing quote";
    return -1;
}

static int words_one(words_cursor *w)
{
    while (w->at < w->n && !words_blank(w->line[w->at])) {
        char c = w->line[w->at++];

        if (c != '"' && c != '\'')
            w->line[w->to++] = c;
        else if (words_quoted(w, c))
            return -1;
    }
    return 0;
}

static void words_push(cli_words *words, const char *p, size_t n)
{
    if (words->n == words->cap) {
        words->cap = words->cap ? words->cap * 2 : 64;
        words->p = (relet_span *)cli_grow(words->p,
                                          words->cap * sizeof *words->p);
    }
    words->p[words->n].p = p;
    words->p[words->n++].n = n;
}

size_t words_split(cli_words *words, char *line, size_t n, const char **why)
{
    words_cursor w;

    memset(&w, 0, sizeof w);
    w.line = line;
    w.n = n;
    words->n = 0;
    for (;;) {
        size_t from;

        while (w.at < w.n && words_blank(w.line[w.at]))
            w.at++;
        if (w.at == w.n)
            return 0;
        from = w.to;
        if (words_one(&w)) {
            *why = w.why;
            return w.at + 1;
        }
        words_push(words, line + from, w.to - from);
    }
}
