/* SPDX-License-Identifier: MIT
 *
 * luaresp.c - between replies and values of a script, both ways.
 *
 * Written from what servers do: numbers lose their fraction, nil ends an
 * array, false is null; {ok=}, {err=}, {double=}, {map=}, {set=},
 * {big_number=} and {verbatim_string=} are types of the protocol. */
#include "luaresp.h"

/* ---------------------------------------------------------- reply to value */

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

static int luaresp_line_end(char c)
{
    return c == '\r' || c == '\n';
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
    while (text.n > 0 && luaresp_line_end(text.p[text.n - 1]))
        text.n--;
    while (text.n > 0 && luaresp_line_end(*text.p)) {
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

/* What an array that takes n elements one by one grows to, if there is no nil
 * among them; which cannot be told before in RESP3. */
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

/* What is said about the value that follows is of no interest to scripts. */
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

/* ---------------------------------------------------------- value to reply */

typedef enum luaresp_kind {
    LUARESP_ARRAY,
    LUARESP_MAP,
    LUARESP_SET
} luaresp_kind;

/* A table that is being written. */
typedef struct luaresp_level {
    const rlt_luatab *t;
    luaresp_kind kind;
    uint32_t slots;   /* of the table itself                                 */
    uint32_t place;   /* of the walk                                         */
    int64_t n;        /* elements written                                    */
    rlt_luaval value; /* of a map's pair, whose key was written last         */
    int has_value;
} luaresp_level;

typedef struct luaresp_writer {
    rlt_lua *L;
    rlt_out *out;
    luaresp_level *levels;
    uint32_t n, cap;
    uint32_t slots; /* that the value at hand takes                          */
    size_t errors;  /* that no command has counted                           */
} luaresp_writer;

/* What an array has before its first nil, a map or set altogether. */
static size_t luaresp_count(const rlt_luatab *t, luaresp_kind kind)
{
    size_t n = 0;
    uint32_t place = 0;
    rlt_luaval key, value;

    if (kind == LUARESP_ARRAY)
        while (rlt_luatab_get_int(t, (int64_t)n + 1)->type != RLT_LUA_NIL)
            n++;
    else
        while (rlt_luatab_walk(t, &place, &key, &value))
            n++;
    return n;
}

static int luaresp_grow(luaresp_writer *w)
{
    uint32_t cap = w->cap > 0 ? w->cap * 2 : 16;
    luaresp_level *fresh = (luaresp_level *)rlt_luamem_get(
        &w->L->run, cap * sizeof *fresh);

    if (fresh == NULL)
        return 0;
    if (w->n > 0)
        memcpy(fresh, w->levels, w->n * sizeof *fresh);
    w->levels = fresh;
    w->cap = cap;
    return 1;
}

static void luaresp_push(luaresp_writer *w, const rlt_luatab *t,
                         luaresp_kind kind)
{
    luaresp_level *l;
    size_t n = luaresp_count(t, kind);

    if (w->n == w->cap && !luaresp_grow(w)) {
        w->out->failed = 1;
        return;
    }
    l = &w->levels[w->n++];
    memset(l, 0, sizeof *l);
    l->t = t;
    l->kind = kind;
    l->slots = w->slots;
    if (kind == LUARESP_ARRAY)
        rlt_out_array(w->out, n);
    else if (kind == LUARESP_MAP)
        rlt_out_map(w->out, n);
    else
        rlt_out_set(w->out, n);
}

static int luaresp_text(const rlt_luatab *t, const char *name,
                        relet_span *out)
{
    const rlt_luaval *v = rlt_luatab_get_text(t, name);

    if (v->type != RLT_LUA_STRING)
        return 0;
    *out = rlt_luastr_span(v->u.s);
    return 1;
}

static int luaresp_write_verbatim(luaresp_writer *w, const rlt_luatab *t)
{
    const rlt_luaval *v = rlt_luatab_get_text(t, "verbatim_string");
    relet_span format, text;
    char three[4] = {0, 0, 0, 0};

    if (v->type != RLT_LUA_TABLE ||
        !luaresp_text(v->u.t, "format", &format) ||
        !luaresp_text(v->u.t, "string", &text))
        return 0;
    format = rlt_span_cut(&format, '\0');
    if (format.n > 0)
        memcpy(three, format.p, RLT_MIN(format.n, (size_t)3));
    rlt_out_verbatim(w->out, three, text);
    return 1;
}

/* Its line ends become blanks, whatever the protocol. */
static void luaresp_write_big(luaresp_writer *w, relet_span text)
{
    char *p = (char *)rlt_luamem_get(&w->L->run, text.n);
    size_t i;

    if (p == NULL) {
        w->out->failed = 1;
        return;
    }
    for (i = 0; i < text.n; i++)
        p[i] = luaresp_line_end(text.p[i]) ? ' ' : text.p[i];
    text.p = p;
    rlt_out_big(w->out, text);
}

/* 1 when the table stands for a type of the protocol and is written. */
static int luaresp_write_typed(luaresp_writer *w, const rlt_luatab *t)
{
    relet_span text;
    const rlt_luaval *v;

    if (t->nodes_n == 0)
        return 0;
    if (luaresp_text(t, "err", &text)) {
        w->errors += RLT_LUA_IS_FALSE(
            rlt_luatab_get_text(t, "ignore_error_stats_update"));
        rlt_out_error_span(w->out, rlt_span_cut(&text, '\0'));
        return 1;
    }
    if (luaresp_text(t, "ok", &text)) {
        rlt_out_status_span(w->out, rlt_span_cut(&text, '\0'));
        return 1;
    }
    v = rlt_luatab_get_text(t, "double");
    if (v->type == RLT_LUA_NUMBER) {
        rlt_out_double(w->out, v->u.n);
        return 1;
    }
    v = rlt_luatab_get_text(t, "map");
    if (v->type == RLT_LUA_TABLE) {
        luaresp_push(w, v->u.t, LUARESP_MAP);
        return 1;
    }
    v = rlt_luatab_get_text(t, "set");
    if (v->type == RLT_LUA_TABLE) {
        luaresp_push(w, v->u.t, LUARESP_SET);
        return 1;
    }
    if (luaresp_text(t, "big_number", &text)) {
        luaresp_write_big(w, text);
        return 1;
    }
    return luaresp_write_verbatim(w, t);
}

static void luaresp_write_one(luaresp_writer *w, const rlt_luaval *v,
                              uint32_t slots)
{
    w->slots = slots;
    if (slots > RLT_LUARESP_SLOTS) {
        w->errors++;
        rlt_out_error(w->out, "ERR reached lua stack limit");
        return;
    }
    switch (v->type) {
    case RLT_LUA_STRING:
        rlt_out_bulk(w->out, rlt_luastr_span(v->u.s));
        return;
    case RLT_LUA_NUMBER:
        rlt_out_int(w->out, rlt_luanum_int(v->u.n));
        return;
    case RLT_LUA_FALSE:
    case RLT_LUA_TRUE:
        if (w->L->resp == 3)
            rlt_out_bool(w->out, v->type == RLT_LUA_TRUE);
        else if (v->type == RLT_LUA_TRUE)
            rlt_out_int(w->out, 1);
        else
            rlt_out_null(w->out);
        return;
    case RLT_LUA_TABLE:
        if (!luaresp_write_typed(w, v->u.t))
            luaresp_push(w, v->u.t, LUARESP_ARRAY);
        return;
    case RLT_LUA_NIL:
    case RLT_LUA_CLOSURE:
    case RLT_LUA_BUILTIN:
        rlt_out_null(w->out);
        return;
    }
}

/* The next thing inside the innermost table, or its end. */
static void luaresp_write_next(luaresp_writer *w)
{
    luaresp_level *l = &w->levels[w->n - 1];
    rlt_luaval key, value;

    if (l->has_value) {
        value = l->value;
        l->has_value = 0;
        luaresp_write_one(w, &value, l->slots + 3);
        return;
    }
    if (l->kind == LUARESP_ARRAY) {
        value = *rlt_luatab_get_int(l->t, ++l->n);
        if (value.type == RLT_LUA_NIL)
            w->n--;
        else
            luaresp_write_one(w, &value, l->slots + 1);
        return;
    }
    if (!rlt_luatab_walk(l->t, &l->place, &key, &value)) {
        w->n--;
        return;
    }
    l->value = value;
    l->has_value = l->kind == LUARESP_MAP;
    luaresp_write_one(w, &key, l->slots + (l->has_value ? 4 : 3));
}

RELET_PRIVATE size_t rlt_luaresp_write(rlt_lua *L, rlt_out *out,
                                       const rlt_luaval *v)
{
    size_t begin = rlt_buf_used(&out->buf);
    luaresp_writer w;

    memset(&w, 0, sizeof w);
    w.L = L;
    w.out = out;
    luaresp_write_one(&w, v, 0);
    while (w.n > 0 && !out->failed && --L->steps >= 0)
        luaresp_write_next(&w);
    if (L->steps < 0) {
        rlt_buf_cut(&out->buf, begin, rlt_buf_used(&out->buf) - begin);
        rlt_out_error(out, "ERR script used up its steps");
        w.errors = 1;
    }
    return w.errors;
}
