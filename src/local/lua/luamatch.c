/* SPDX-License-Identifier: MIT
 *
 * luamatch.c - the patterns of Lua 5.1: does the text here match?
 *
 * A pattern ends at its first NUL (%z stands for one). Every comparison is a
 * step, so that no pattern can hold a server up. */
#include "luamatch.h"

static const char *luamatch_fail(rlt_luamatch *m, const char *text)
{
    if (!m->failed)
        (void)rlt_luaerr(m->L, text);
    m->failed = 1;
    return NULL;
}

static int luamatch_spend(rlt_luamatch *m, size_t n)
{
    if (rlt_luavm_spend(m->L, n) == 0)
        return 1;
    m->failed = 1;
    return 0;
}

RELET_PRIVATE void rlt_luamatch_init(rlt_luamatch *m, rlt_lua *L,
                                     relet_span text, relet_span *pattern)
{
    const char *nul = NULL;

    if (pattern->n > 0)
        nul = (const char *)memchr(pattern->p, 0, pattern->n);
    if (nul)
        pattern->n = (size_t)(nul - pattern->p);
    memset(m, 0, offsetof(rlt_luamatch, capture));
    m->L = L;
    m->source = text.p;
    m->end = text.p + text.n;
    m->pattern_end = pattern->p + pattern->n;
}

/* The byte of the pattern, 0 at its end. */
static int luamatch_peek(const rlt_luamatch *m, const char *p)
{
    return p < m->pattern_end ? (unsigned char)*p : 0;
}

/* ---------------------------------------------------------------- classes */

static int luamatch_between(int c, int from, int to)
{
    return c >= from && c <= to;
}

static int luamatch_letter(int c)
{
    return luamatch_between(c | 32, 'a', 'z') && c < 128;
}

static int luamatch_class(int c, int class_name)
{
    int r;

    switch (class_name | 32) {
    case 'a':
        r = luamatch_letter(c);
        break;
    case 'c':
        r = c < 32 || c == 127;
        break;
    case 'd':
        r = luamatch_between(c, '0', '9');
        break;
    case 'l':
        r = luamatch_between(c, 'a', 'z');
        break;
    case 'p':
        r = luamatch_between(c, 33, 126) && !luamatch_letter(c) &&
            !luamatch_between(c, '0', '9');
        break;
    case 's':
        r = c == ' ' || luamatch_between(c, '\t', '\r');
        break;
    case 'u':
        r = luamatch_between(c, 'A', 'Z');
        break;
    case 'w':
        r = luamatch_letter(c) || luamatch_between(c, '0', '9');
        break;
    case 'x':
        r = luamatch_between(c, '0', '9') ||
            luamatch_between(c | 32, 'a', 'f');
        break;
    case 'z':
        r = c == 0;
        break;
    default:
        return c == class_name;
    }
    if (!luamatch_letter(class_name))
        return c == class_name;
    return luamatch_between(class_name, 'A', 'Z') ? !r : r;
}

/* Is c in the set between p, the [, and end, the ]? */
static int luamatch_set(int c, const char *p, const char *end)
{
    int yes = 1;

    if (p[1] == '^') {
        yes = 0;
        p++;
    }
    while (++p < end) {
        if (*p == '%') {
            p++;
            if (luamatch_class(c, (unsigned char)*p))
                return yes;
        } else if (p[1] == '-' && p + 2 < end) {
            p += 2;
            if (luamatch_between(c, (unsigned char)p[-2], (unsigned char)*p))
                return yes;
        } else if ((unsigned char)*p == c) {
            return yes;
        }
    }
    return !yes;
}

/* Where the single item at p ends: a byte, %x or [set]. */
static const char *luamatch_item_end(rlt_luamatch *m, const char *p)
{
    int c = luamatch_peek(m, p++);

    if (c == '%') {
        if (p >= m->pattern_end)
            return luamatch_fail(m, "malformed pattern (ends with '%')");
        return p + 1;
    }
    if (c != '[')
        return p;
    if (luamatch_peek(m, p) == '^')
        p++;
    do { /* a ] in the first place is one of the set                         */
        if (p >= m->pattern_end)
            return luamatch_fail(m, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < m->pattern_end)
            p++;
    } while (luamatch_peek(m, p) != ']');
    return p + 1;
}

static int luamatch_single(const rlt_luamatch *m, const char *s,
                           const char *p, const char *item_end)
{
    int c;

    if (s >= m->end)
        return 0;
    c = (unsigned char)*s;
    if (*p == '.')
        return 1;
    if (*p == '%')
        return luamatch_class(c, (unsigned char)p[1]);
    if (*p == '[')
        return luamatch_set(c, p, item_end - 1);
    return (unsigned char)*p == c;
}

/* ------------------------------------------------------------------ parts */

static const char *luamatch_do(rlt_luamatch *m, const char *s, const char *p);

static const char *luamatch_balance(rlt_luamatch *m, const char *s,
                                    const char *p)
{
    const char *from = s;
    int depth = 1;

    if (m->pattern_end - p < 2)
        return luamatch_fail(m, "unbalanced pattern");
    if (s >= m->end || *s != *p)
        return NULL;
    while (++s < m->end) {
        if (*s == p[1]) {
            if (--depth == 0)
                break;
        } else if (*s == *p) {
            depth++;
        }
    }
    if (!luamatch_spend(m, (size_t)(s - from) / 8))
        return NULL;
    return s < m->end ? s + 1 : NULL;
}

static const char *luamatch_most(rlt_luamatch *m, const char *s,
                                 const char *p, const char *item_end)
{
    ptrdiff_t i = 0;
    const char *r;

    while (luamatch_single(m, s + i, p, item_end))
        i++;
    if (!luamatch_spend(m, (size_t)i / 4))
        return NULL;
    for (; i >= 0 && !m->failed; i--) {
        r = luamatch_do(m, s + i, item_end + 1);
        if (r)
            return r;
    }
    return NULL;
}

static const char *luamatch_fewest(rlt_luamatch *m, const char *s,
                                   const char *p, const char *item_end)
{
    const char *r;

    while (!m->failed) {
        r = luamatch_do(m, s, item_end + 1);
        if (r)
            return r;
        if (!luamatch_single(m, s, p, item_end))
            return NULL;
        s++;
    }
    return NULL;
}

static const char *luamatch_open(rlt_luamatch *m, const char *s,
                                 const char *p, ptrdiff_t what)
{
    const char *r;

    if (m->captures >= RLT_LUAMATCH_CAPTURES)
        return luamatch_fail(m, "too many captures");
    m->capture[m->captures].p = s;
    m->capture[m->captures].n = what;
    m->captures++;
    r = luamatch_do(m, s, p);
    if (r == NULL)
        m->captures--;
    return r;
}

static const char *luamatch_close(rlt_luamatch *m, const char *s,
                                  const char *p)
{
    int i = m->captures - 1;
    const char *r;

    while (i >= 0 && m->capture[i].n != RLT_LUAMATCH_UNFINISHED)
        i--;
    if (i < 0)
        return luamatch_fail(m, "invalid pattern capture");
    m->capture[i].n = s - m->capture[i].p;
    r = luamatch_do(m, s, p);
    if (r == NULL)
        m->capture[i].n = RLT_LUAMATCH_UNFINISHED;
    return r;
}

/* %1: the same bytes as in the capture. */
static const char *luamatch_back(rlt_luamatch *m, const char *s, int digit)
{
    int i = digit - '1';
    size_t n;

    if (i < 0 || i >= m->captures ||
        m->capture[i].n == RLT_LUAMATCH_UNFINISHED)
        return luamatch_fail(m, "invalid capture index");
    if (m->capture[i].n < 0)
        return NULL; /* a position is no text                                */
    n = (size_t)m->capture[i].n;
    if (!luamatch_spend(m, n / 64) || (size_t)(m->end - s) < n ||
        memcmp(m->capture[i].p, s, n) != 0)
        return NULL;
    return s + n;
}

/* %f[set]: between a byte that is not in it and one that is. */
static int luamatch_frontier(const rlt_luamatch *m, const char *s,
                             const char *p, const char *item_end)
{
    int before = s == m->source ? 0 : (unsigned char)s[-1];
    int here = s == m->end ? 0 : (unsigned char)*s;

    return !luamatch_set(before, p, item_end - 1) &&
           luamatch_set(here, p, item_end - 1);
}

/* The item at p and what follows it. *s and *p move on when there is more to
 * do; else the result is final. */
static int luamatch_item(rlt_luamatch *m, const char **s, const char **p,
                         const char **result)
{
    const char *end = luamatch_item_end(m, *p);
    int one;

    *result = NULL;
    if (end == NULL || !luamatch_spend(m, 1))
        return 0;
    one = luamatch_single(m, *s, *p, end);
    switch (luamatch_peek(m, end)) {
    case '?':
        *result = one ? luamatch_do(m, *s + 1, end + 1) : NULL;
        if (*result || m->failed)
            return 0;
        *p = end + 1;
        return 1;
    case '*':
        *result = luamatch_most(m, *s, *p, end);
        return 0;
    case '+':
        *result = one ? luamatch_most(m, *s + 1, *p, end) : NULL;
        return 0;
    case '-':
        *result = luamatch_fewest(m, *s, *p, end);
        return 0;
    default:
        *s += one;
        *p = end;
        return one;
    }
}

/* %b, %f and %1: 1 when it was one of them and matches, 0 when it does not,
 * -1 when it is an item. */
static int luamatch_special(rlt_luamatch *m, const char **s, const char **p)
{
    const char *end, *from;
    int c = luamatch_peek(m, *p + 1);

    if (c == 'b') {
        *s = luamatch_balance(m, *s, *p + 2);
        *p += 4;
        return *s != NULL;
    }
    if (c == 'f') {
        from = *p + 2;
        if (luamatch_peek(m, from) != '[') {
            (void)luamatch_fail(m, "missing '[' after '%f' in pattern");
            return 0;
        }
        end = luamatch_item_end(m, from);
        *p = end;
        return end && luamatch_frontier(m, *s, from, end);
    }
    if (!luamatch_between(c, '0', '9'))
        return -1;
    *s = luamatch_back(m, *s, c);
    *p += 2;
    return *s != NULL;
}

static const char *luamatch_run(rlt_luamatch *m, const char *s, const char *p)
{
    const char *result;
    int special;

    while (p < m->pattern_end && !m->failed) {
        if (*p == '(')
            return luamatch_peek(m, p + 1) == ')'
                       ? luamatch_open(m, s, p + 2, RLT_LUAMATCH_POSITION)
                       : luamatch_open(m, s, p + 1, RLT_LUAMATCH_UNFINISHED);
        if (*p == ')')
            return luamatch_close(m, s, p + 1);
        if (*p == '$' && p + 1 == m->pattern_end)
            return s == m->end ? s : NULL;
        special = *p == '%' ? luamatch_special(m, &s, &p) : -1;
        if (special == 0)
            return NULL;
        if (special < 0 && !luamatch_item(m, &s, &p, &result))
            return result;
    }
    return m->failed ? NULL : s;
}

static const char *luamatch_do(rlt_luamatch *m, const char *s, const char *p)
{
    const char *r;

    if (m->failed || !luamatch_spend(m, 1))
        return NULL;
    if (m->depth >= RLT_LUAMATCH_DEPTH)
        return luamatch_fail(m, "pattern too complex");
    m->depth++;
    r = luamatch_run(m, s, p);
    m->depth--;
    return r;
}

RELET_PRIVATE const char *rlt_luamatch_at(rlt_luamatch *m, const char *s,
                                          const char *pattern)
{
    m->captures = 0;
    return luamatch_do(m, s, pattern);
}

/* --------------------------------------------------------------- captures */

RELET_PRIVATE int rlt_luamatch_push(rlt_luamatch *m, int i, const char *s,
                                    const char *e)
{
    if (i >= m->captures) {
        if (i == 0)
            return rlt_luapush_string(m->L, s, (size_t)(e - s));
        return rlt_luaerr(m->L, "invalid capture index");
    }
    if (m->capture[i].n == RLT_LUAMATCH_UNFINISHED)
        return rlt_luaerr(m->L, "unfinished capture");
    if (m->capture[i].n == RLT_LUAMATCH_POSITION)
        return rlt_luapush_number(m->L,
                                  (double)(m->capture[i].p - m->source) + 1);
    return rlt_luapush_string(m->L, m->capture[i].p,
                              (size_t)m->capture[i].n);
}

RELET_PRIVATE int rlt_luamatch_push_all(rlt_luamatch *m, const char *s,
                                        const char *e)
{
    int n = m->captures == 0 && s ? 1 : m->captures, i;

    if (rlt_luavm_room(m->L, n) < 0)
        return -1;
    for (i = 0; i < n; i++)
        if (rlt_luamatch_push(m, i, s, e) < 0)
            return -1;
    return n;
}
