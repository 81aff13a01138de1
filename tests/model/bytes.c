/* SPDX-License-Identifier: MIT
 *
 * bytes.c - growing bytes, text that shows every byte, and a small glob.
 *
 * A test that is out of memory has nothing to say: it ends. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void bytes_room(bytes *b, size_t more)
{
    size_t cap = b->cap == 0 ? 256 : b->cap;

    if (b->cap - b->n > more)
        return;
    while (cap - b->n <= more)
        cap *= 2;
    b->p = (char *)realloc(b->p, cap);
    if (b->p == NULL)
        abort();
    b->cap = cap;
}

/* A NUL stands behind, which does not count. */
void bytes_put(bytes *b, const void *p, size_t n)
{
    bytes_room(b, n + 1);
    if (n > 0)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void bytes_text(bytes *b, const char *text)
{
    bytes_put(b, text, strlen(text));
}

void bytes_format(bytes *b, const char *format, ...)
{
    char line[2000];
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n > (int)sizeof line - 1)
        n = (int)sizeof line - 1;
    bytes_put(b, line, n < 0 ? 0 : (size_t)n);
}

void bytes_clear(bytes *b)
{
    b->n = 0;
    bytes_put(b, "", 0);
}

void bytes_free(bytes *b)
{
    free(b->p);
    memset(b, 0, sizeof *b);
}

void bytes_escape(bytes *b, const char *p, size_t n, size_t most)
{
    size_t i;

    for (i = 0; i < n && i < most; i++) {
        unsigned char c = (unsigned char)p[i];

        if (c == '\r')
            bytes_text(b, "\\r");
        else if (c == '\n')
            bytes_text(b, "\\n");
        else if (c == '"' || c == '\\')
            bytes_format(b, "\\%c", c);
        else if (c < ' ' || c > '~')
            bytes_format(b, "\\x%02x", c);
        else
            bytes_put(b, p + i, 1);
    }
    if (i < n)
        bytes_format(b, "... (%zu bytes)", n);
}

int bytes_same(const bytes *a, const bytes *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

static int bytes_lower(char c)
{
    return tolower((unsigned char)c);
}

int bytes_glob(const char *pattern, const char *p, size_t n)
{
    const char *star = NULL;
    size_t i = 0, back = 0;

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            back = i;
        } else if (*pattern != '\0' && i < n &&
                   bytes_lower(*pattern) == bytes_lower(p[i])) {
            pattern++;
            i++;
        } else if (i == n && *pattern == '\0') {
            return 1;
        } else if (star != NULL && back < n) {
            pattern = star;
            i = ++back;
        } else {
            return 0;
        }
    }
}

int word_is(word w, const char *text)
{
    size_t i;

    for (i = 0; i < w.n; i++)
        if (text[i] == '\0' || bytes_lower(w.p[i]) != bytes_lower(text[i]))
            return 0;
    return text[i] == '\0';
}

int word_is_id(word w)
{
    return w.n == 2 && w.p[0] == MODEL_ID_MARK && w.p[1] >= '0' &&
           w.p[1] < '0' + MODEL_CLIENTS;
}
