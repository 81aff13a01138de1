/* SPDX-License-Identifier: MIT
 *
 * luagsub.c - find, match, gmatch and gsub, on patterns (luamatch.h). */
#include "luamatch.h"

/* ---------------------------------------------------------- find and match */

static const char *luagsub_plain(rlt_lua *L, relet_span text, relet_span what)
{
    const char *at = text.p, *end = text.p + text.n;

    if (what.n == 0)
        return at;
    while ((size_t)(end - at) >= what.n) {
        size_t span = (size_t)(end - at) - what.n + 1;
        const char *hit = (const char *)memchr(at, what.p[0], span);

        if (rlt_luavm_spend(L, 1 + (hit ? (size_t)(hit - at) : span) / 64 +
                                   what.n / 64) < 0)
            return NULL;
        if (hit == NULL)
            return NULL;
        if (memcmp(hit, what.p, what.n) == 0)
            return hit;
        at = hit + 1;
    }
    return NULL;
}

/* Specials are looked for up to the first NUL: behind it a pattern is not
 * one any more. */
static int luagsub_is_plain(relet_span pattern)
{
    size_t i;

    for (i = 0; i < pattern.n && pattern.p[i]; i++)
        if (strchr("^$*+?.([%-", pattern.p[i]))
            return 0;
    return 1;
}

static int luagsub_found(rlt_lua *L, const char *text, const char *s,
                         const char *e)
{
    rlt_luavm_push(L, rlt_luaval_number((double)(s - text) + 1));
    rlt_luavm_push(L, rlt_luaval_number((double)(e - text)));
    return 2;
}

static int luagsub_search(rlt_lua *L, relet_span text, relet_span pattern,
                          size_t from, int find)
{
    rlt_luamatch m;
    const char *s = text.p + from, *p, *e;
    int anchor, n;

    rlt_luamatch_init(&m, L, text, &pattern);
    p = pattern.p;
    anchor = pattern.n > 0 && *p == '^';
    p += anchor;
    do {
        e = rlt_luamatch_at(&m, s, p);
        if (m.failed)
            return -1;
        if (e && find) {
            (void)luagsub_found(L, text.p, s, e);
            n = rlt_luamatch_push_all(&m, NULL, NULL);
            return n < 0 ? -1 : n + 2;
        }
        if (e)
            return rlt_luamatch_push_all(&m, s, e);
    } while (s++ < m.end && !anchor);
    return rlt_luapush(L, rlt_luaval_nil());
}

static int luagsub_find(rlt_lua *L, uint32_t base, int n, int find)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span text, pattern, rest;
    int64_t from = 1;
    const char *hit;
    const rlt_luaval *plain;

    if (rlt_luaarg_string(&a, 1, &text) < 0 ||
        rlt_luaarg_string(&a, 2, &pattern) < 0 ||
        rlt_luaarg_int_or(&a, 3, &from) < 0)
        return -1;
    if (from < 0)
        from = from + (int64_t)text.n >= 0 ? from + (int64_t)text.n + 1 : 0;
    from = RLT_MIN(RLT_MAX(from - 1, 0), (int64_t)text.n);
    plain = rlt_luaarg(&a, 4);
    if (!find || !((plain && !RLT_LUA_IS_FALSE(plain)) ||
                   luagsub_is_plain(pattern)))
        return luagsub_search(L, text, pattern, (size_t)from, find);
    rest.p = text.p + from;
    rest.n = text.n - (size_t)from;
    hit = luagsub_plain(L, rest, pattern);
    if (L->steps < 0)
        return -1;
    return hit ? luagsub_found(L, text.p, hit, hit + pattern.n)
               : rlt_luapush(L, rlt_luaval_nil());
}

RELET_PRIVATE int rlt_luamatch_find(rlt_lua *L, uint32_t base, int n)
{
    return luagsub_find(L, base, n, 1);
}

RELET_PRIVATE int rlt_luamatch_match(rlt_lua *L, uint32_t base, int n)
{
    return luagsub_find(L, base, n, 0);
}

/* ----------------------------------------------------------------- gmatch */

typedef struct luagsub_walk {
    relet_span text, pattern;
    size_t at;
} luagsub_walk;

static int luagsub_next(rlt_lua *L, uint32_t base, int n)
{
    luagsub_walk *w = (luagsub_walk *)L->frames[L->frames_n - 1].fn->state;
    relet_span pattern = w->pattern;
    const char *s, *e;
    rlt_luamatch m;

    (void)base;
    (void)n;
    rlt_luamatch_init(&m, L, w->text, &pattern);
    for (; w->at <= w->text.n; w->at++) {
        s = w->text.p + w->at;
        e = rlt_luamatch_at(&m, s, pattern.p);
        if (m.failed)
            return -1;
        if (e == NULL)
            continue;
        w->at = (size_t)(e - w->text.p) + (e == s);
        return rlt_luamatch_push_all(&m, s, e);
    }
    return 0;
}

static const rlt_luabuiltin luagsub_iterator = {"gmatch", luagsub_next};

RELET_PRIVATE int rlt_luamatch_gmatch(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    luagsub_walk *w;
    rlt_luafn *f;
    rlt_luaval v;

    w = (luagsub_walk *)rlt_luavm_alloc(L, sizeof *w);
    f = w ? (rlt_luafn *)rlt_luavm_alloc(L, sizeof *f) : NULL;
    if (f == NULL || rlt_luaarg_string(&a, 1, &w->text) < 0 ||
        rlt_luaarg_string(&a, 2, &w->pattern) < 0)
        return -1;
    w->at = 0;
    memset(f, 0, sizeof *f);
    f->builtin = &luagsub_iterator;
    f->state = w;
    f->serial = ++L->serial;
    v.u.f = f;
    v.type = RLT_LUA_CLOSURE;
    return rlt_luapush(L, v);
}

/* ------------------------------------------------------------------- gsub */

typedef struct luagsub_job {
    rlt_luamatch m;
    rlt_luabytes out;
    rlt_luaargs args; /* the third is the replacement                        */
} luagsub_job;

/* The value on top goes to the output, when it is text. */
static int luagsub_take(luagsub_job *j)
{
    rlt_lua *L = j->m.L;
    rlt_luaval v = L->stack[--L->top];

    if (rlt_luavm_to_string(L, &v) < 0)
        return -1;
    rlt_luabytes_add(&j->out, v.u.s->p, v.u.s->n);
    return j->out.failed ? -1 : 0;
}

/* A replacement text: %0 to %9 are captures, % before others is dropped. */
static int luagsub_add_text(luagsub_job *j, const char *s, const char *e)
{
    relet_span with = rlt_luastr_span(rlt_luaarg_given(&j->args, 3)->u.s);
    size_t i;
    char c;

    for (i = 0; i < with.n; i++) {
        c = with.p[i];
        if (c == '%') {
            c = ++i < with.n ? with.p[i] : 0;
            if (c == '0') {
                rlt_luabytes_add(&j->out, s, (size_t)(e - s));
                continue;
            }
            if (c >= '1' && c <= '9') {
                if (rlt_luamatch_push(&j->m, c - '1', s, e) < 0 ||
                    luagsub_take(j) < 0)
                    return -1;
                continue;
            }
        }
        rlt_luabytes_add_char(&j->out, c);
    }
    return j->out.failed ? -1 : 0;
}

/* Pushes the value that the table or function gives for the match. */
static int luagsub_ask(luagsub_job *j, const char *s, const char *e)
{
    rlt_lua *L = j->m.L;
    rlt_luaval with = *rlt_luaarg_given(&j->args, 3);
    uint32_t func = L->top;
    int n;

    if (with.type == RLT_LUA_TABLE) {
        if (rlt_luamatch_push(&j->m, 0, s, e) < 0)
            return -1;
        return rlt_luaexec_get(L, &L->stack[L->top - 1], &with,
                               &L->stack[L->top - 1]);
    }
    if (rlt_luavm_room(L, 1) < 0)
        return -1;
    rlt_luavm_push(L, with);
    n = rlt_luamatch_push_all(&j->m, s, e);
    return n < 0 ? -1 : rlt_luavm_call(L, func, n, 1);
}

static int luagsub_invalid(rlt_lua *L, const rlt_luaval *v)
{
    char text[64];
    rlt_say say;

    rlt_say_init(&say, text, sizeof text);
    rlt_say_text(&say, "invalid replacement value (a ");
    rlt_say_text(&say, rlt_luaval_type_name(v));
    rlt_say_text(&say, ")");
    return rlt_luaerr(L, text);
}

static int luagsub_add(luagsub_job *j, const char *s, const char *e)
{
    rlt_lua *L = j->m.L;
    const rlt_luaval *v;

    if (rlt_luaarg_given(&j->args, 3)->type == RLT_LUA_STRING)
        return luagsub_add_text(j, s, e);
    if (luagsub_ask(j, s, e) < 0)
        return -1;
    v = &L->stack[L->top - 1];
    if (RLT_LUA_IS_FALSE(v)) {
        L->top--;
        rlt_luabytes_add(&j->out, s, (size_t)(e - s));
        return j->out.failed ? -1 : 0;
    }
    if (v->type != RLT_LUA_STRING && v->type != RLT_LUA_NUMBER)
        return luagsub_invalid(L, v);
    return luagsub_take(j);
}

/* How many were replaced, or negative. */
static int64_t luagsub_all(luagsub_job *j, const char *p, int anchor,
                           int64_t max)
{
    const char *s = j->m.source, *e;
    int64_t n = 0;

    while (n < max) {
        e = rlt_luamatch_at(&j->m, s, p);
        if (j->m.failed)
            return -1;
        if (e) {
            n++;
            if (luagsub_add(j, s, e) < 0)
                return -1;
        }
        if (e && e > s)
            s = e;
        else if (s < j->m.end)
            rlt_luabytes_add_char(&j->out, *s++);
        else
            break;
        if (anchor)
            break;
    }
    rlt_luabytes_add(&j->out, s, (size_t)(j->m.end - s));
    return j->out.failed ? -1 : n;
}

static int luagsub_check(const rlt_luaargs *a)
{
    rlt_luaval *v = rlt_luaarg(a, 3);

    if (v == NULL || v->type < RLT_LUA_NUMBER)
        return rlt_luaerr_argument(a->L, 3,
                                   "string/function/table expected");
    return rlt_luavm_to_string(a->L, v);
}

RELET_PRIVATE int rlt_luamatch_gsub(rlt_lua *L, uint32_t base, int n)
{
    luagsub_job j;
    relet_span text, pattern;
    int64_t max, done;
    int anchor;

    j.args = rlt_luaargs_of(L, base, n);
    if (rlt_luaarg_string(&j.args, 1, &text) < 0 ||
        rlt_luaarg_string(&j.args, 2, &pattern) < 0)
        return -1;
    max = (int64_t)text.n + 1;
    if (rlt_luaarg_int32_or(&j.args, 4, &max) < 0 ||
        luagsub_check(&j.args) < 0)
        return -1;
    rlt_luamatch_init(&j.m, L, text, &pattern);
    rlt_luabytes_init(&j.out, L);
    anchor = pattern.n > 0 && *pattern.p == '^';
    done = luagsub_all(&j, pattern.p + anchor, anchor, max);
    if (done < 0 || rlt_luabytes_push(&j.out) < 0)
        return -1;
    return 1 + rlt_luapush_number(L, (double)done);
}
