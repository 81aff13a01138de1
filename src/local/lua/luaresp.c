/* SPDX-License-Identifier: MIT
 *
 * luaresp.c - reads a reply as a value of a script.
 *
 * Written from what servers do: false is null; {ok=}, {err=}, {double=},
 * {map=}, {set=}, {big_number=} and {verbatim_string=} are types of the
 * protocol. */
#include "luaresp.h"

typedef struct luaresp_reader {
    rlt_lua *L;
    const char *p, *end;
    int depth;
} luaresp_reader;

static int luaresp_bad(luaresp_reader *r)
{
    (void)rlt_luaerr_plain(r->L, "ERR a reply cannot be read");
    r->L->fatal = 1;
    return -1;
}

/* The line after the type byte, without its end. */
static int luaresp_line(luaresp_reader *r, relet_span *out)
{
    const char *end;

    out->p = r->p;
    end = (const char *)memchr(r->p, '\r', (size_t)(r->end - r->p));
    if (end == NULL || r->end - end < 2)
        return luaresp_bad(r);
    out->n = (size_t)(end - r->p);
    r->p = end + 2;
    return 0;
}

/* The line is a number. Most have few digits. */
static int luaresp_number(luaresp_reader *r, int64_t *out)
{
    const char *p = r->p;
    relet_span line;

    for (*out = 0; r->end - p > 2 && *p >= '0' && *p <= '9' && p - r->p < 18;)
        *out = *out * 10 + (*p++ - '0');
    if (p > r->p && *p == '\r') {
        r->p = p + 2;
        return 0;
    }
    if (luaresp_line(r, &line) < 0)
        return -1;
    return rlt_text_int(line.p, line.n, out) ? 0 : luaresp_bad(r);
}

static int luaresp_key(rlt_lua *L, const char *name)
{
    if (rlt_luavm_room(L, 4) < 0)
        return -1;
    return rlt_luapush_text(L, name);
}

/* t[key] = value, of the three topmost values; the table stays. */
static int luaresp_put(rlt_lua *L)
{
    rlt_luaval *top = &L->stack[L->top];

    if (rlt_luavm_set(L, top[-3].u.t, &top[-2], &top[-1]) < 0)
        return -1;
    L->top -= 2;
    return 0;
}

static int luaresp_open(rlt_lua *L, uint32_t array, uint32_t nodes)
{
    rlt_luatab *t;

    if (rlt_luavm_room(L, 4) < 0)
        return -1;
    t = rlt_luavm_table(L, array, nodes);
    return t ? rlt_luapush(L, rlt_luaval_table(t)) : -1;
}

/* {name = text} */
static int luaresp_field(rlt_lua *L, const char *name, relet_span text)
{
    if (luaresp_open(L, 0, 1) < 0 || luaresp_key(L, name) < 0 ||
        rlt_luapush_string(L, text.p, text.n) < 0)
        return -1;
    return luaresp_put(L) < 0 ? -1 : 1;
}

RELET_PRIVATE int rlt_luaresp_push_error(rlt_lua *L, relet_span line)
{
    relet_span code = relet_str("ERR"), text = rlt_span_cut(&line, '\0');
    const char *blank;
    rlt_luabytes b;

    if (text.n > 0 && text.p[0] == '-') {
        text.p++;
        text.n--;
        blank = text.n > 0 ? (const char *)memchr(text.p, ' ', text.n) : NULL;
        if (blank) {
            code.p = text.p;
            code.n = (size_t)(blank - text.p);
            text.p = blank + 1;
            text.n -= code.n + 1;
        }
    }
    while (text.n > 0 && rlt_luaresp_line_end(text.p[text.n - 1]))
        text.n--;
    while (text.n > 0 && rlt_luaresp_line_end(*text.p)) {
        text.p++;
        text.n--;
    }
    rlt_luabytes_init(&b, L);
    rlt_luabytes_add(&b, code.p, code.n);
    rlt_luabytes_add(&b, " ", 1);
    rlt_luabytes_add(&b, text.p, text.n);
    if (b.failed)
        return -1;
    text.p = b.p;
    text.n = b.n;
    return luaresp_field(L, "err", text);
}

/* The error of a command, which has been counted when it was run. */
static int luaresp_error(luaresp_reader *r, relet_span line)
{
    rlt_lua *L = r->L;

    line.p--; /* the minus                                                   */
    line.n++;
    if (rlt_luaresp_push_error(L, line) < 0 ||
        luaresp_key(L, "ignore_error_stats_update") < 0)
        return -1;
    (void)rlt_luapush(L, rlt_luaval_bool(1));
    return luaresp_put(L) < 0 ? -1 : 1;
}

static int luaresp_any(luaresp_reader *r);

static int luaresp_bytes(luaresp_reader *r, int64_t n, relet_span *out)
{
    *out = relet_str("");
    if (n < 0 || r->end - r->p < 2 || n > r->end - r->p - 2)
        return luaresp_bad(r);
    out->p = r->p;
    out->n = (size_t)n;
    r->p += n + 2;
    return 0;
}

static int luaresp_bulk(luaresp_reader *r)
{
    int64_t n;
    relet_span s;

    if (luaresp_number(r, &n) < 0)
        return -1;
    if (n == -1)
        return rlt_luapush(r->L, rlt_luaval_bool(0));
    if (luaresp_bytes(r, n, &s) < 0)
        return -1;
    return rlt_luapush_string(r->L, s.p, s.n);
}

static int luaresp_verbatim(luaresp_reader *r)
{
    rlt_lua *L = r->L;
    int64_t n;
    relet_span s;

    if (luaresp_number(r, &n) < 0 || luaresp_bytes(r, n, &s) < 0)
        return -1;
    if (s.n < 4)
        return luaresp_bad(r);
    if (luaresp_open(L, 0, 0) < 0 || luaresp_key(L, "verbatim_string") < 0 ||
        luaresp_open(L, 0, 0) < 0 || luaresp_key(L, "string") < 0 ||
        rlt_luapush_string(L, s.p + 4, s.n - 4) < 0 || luaresp_put(L) < 0 ||
        luaresp_key(L, "format") < 0 ||
        rlt_luapush_string(L, s.p, 3) < 0 || luaresp_put(L) < 0)
        return -1;
    return luaresp_put(L) < 0 ? -1 : 1;
}

/* The size to which an array grows that takes n elements one by one, if none of
 * them is nil. In RESP3 that is not known before. */
static uint32_t luaresp_slots(const luaresp_reader *r, int64_t n)
{
    uint32_t slots = 1;

    if (n < 1 || r->L->resp != 2 || n > RLT_MIN(r->end - r->p, 1 << 20))
        return 0;
    while (slots < n)
        slots *= 2;
    return slots;
}

static int luaresp_array(luaresp_reader *r)
{
    rlt_lua *L = r->L;
    int64_t n, i;

    if (luaresp_number(r, &n) < 0)
        return -1;
    if (n == -1)
        return rlt_luapush(L, rlt_luaval_bool(0));
    if (luaresp_open(L, luaresp_slots(r, n), 0) < 0)
        return -1;
    for (i = 1; i <= n; i++) {
        (void)rlt_luapush_number(L, (double)i);
        if (luaresp_any(r) < 0 || luaresp_put(L) < 0)
            return -1;
    }
    return 1;
}

/* {map = {k = v}}, {set = {v = true}}; a null cannot be a key. */
static int luaresp_pairs(luaresp_reader *r, const char *name, int is_map)
{
    rlt_lua *L = r->L;
    int64_t n, i;

    if (luaresp_number(r, &n) < 0 || luaresp_open(L, 0, 0) < 0 ||
        luaresp_key(L, name) < 0 || luaresp_open(L, 0, 0) < 0)
        return -1;
    for (i = 0; i < n; i++) {
        if (luaresp_any(r) < 0)
            return -1;
        if (is_map ? luaresp_any(r) < 0
                   : rlt_luapush(L, rlt_luaval_bool(1)) < 0)
            return -1;
        if (L->stack[L->top - 2].type == RLT_LUA_NIL)
            L->top -= 2;
        else if (luaresp_put(L) < 0)
            return -1;
    }
    return luaresp_put(L) < 0 ? -1 : 1;
}

/* Skips the attributes of the value that follows: scripts do not see them. */
static int luaresp_attribute(luaresp_reader *r)
{
    int64_t n;

    if (luaresp_number(r, &n) < 0)
        return -1;
    for (n *= 2; n > 0; n--) {
        if (luaresp_any(r) < 0)
            return -1;
        r->L->top--;
    }
    return luaresp_any(r);
}

static int luaresp_double(luaresp_reader *r, relet_span line)
{
    rlt_lua *L = r->L;
    double v;

    if (!rlt_text_double(line.p, line.n, &v))
        return luaresp_bad(r);
    if (luaresp_open(L, 0, 0) < 0 || luaresp_key(L, "double") < 0)
        return -1;
    (void)rlt_luapush_number(L, v);
    return luaresp_put(L) < 0 ? -1 : 1;
}

/* The types whose value is in the line. */
static int luaresp_simple(luaresp_reader *r, char type)
{
    relet_span line;

    if (luaresp_line(r, &line) < 0)
        return -1;
    switch (type) {
    case '+':
        return luaresp_field(r->L, "ok", line);
    case '-':
        return luaresp_error(r, line);
    case '_':
        return rlt_luapush(r->L, rlt_luaval_nil());
    case '#':
        return rlt_luapush(r->L, rlt_luaval_bool(line.n > 0 &&
                                                 line.p[0] == 't'));
    case ',':
        return luaresp_double(r, line);
    case '(':
        return luaresp_field(r->L, "big_number", line);
    default:
        return luaresp_bad(r);
    }
}

static int luaresp_one(luaresp_reader *r)
{
    char type = *r->p++;
    int64_t i;

    switch (type) {
    case '$':
        return luaresp_bulk(r);
    case ':':
        if (luaresp_number(r, &i) < 0)
            return -1;
        return rlt_luapush_number(r->L, (double)i);
    case '*':
    case '>':
        return luaresp_array(r);
    case '%':
        return luaresp_pairs(r, "map", 1);
    case '~':
        return luaresp_pairs(r, "set", 0);
    case '=':
        return luaresp_verbatim(r);
    case '|':
        return luaresp_attribute(r);
    default:
        return luaresp_simple(r, type);
    }
}

static int luaresp_any(luaresp_reader *r)
{
    int e;

    if (r->p == r->end || r->depth == RLT_LUARESP_READ_DEPTH)
        return luaresp_bad(r);
    if (rlt_luavm_room(r->L, 4) < 0)
        return -1;
    r->depth++;
    e = luaresp_one(r);
    r->depth--;
    return e;
}

RELET_PRIVATE int rlt_luaresp_read(rlt_lua *L, relet_span reply)
{
    luaresp_reader r;

    r.L = L;
    r.p = reply.p;
    r.end = reply.p + reply.n;
    r.depth = 0;
    return luaresp_any(&r);
}
