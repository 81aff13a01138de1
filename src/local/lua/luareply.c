/* SPDX-License-Identifier: MIT
 *
 * luareply.c - writes a value of a script as a reply.
 *
 * Written from what servers do: numbers lose their fraction, nil ends an
 * array, false is null; {ok=}, {err=}, {double=}, {map=}, {set=},
 * {big_number=} and {verbatim_string=} are types of the protocol. */
#include "luaresp.h"

typedef enum luareply_kind {
    LUAREPLY_ARRAY,
    LUAREPLY_MAP,
    LUAREPLY_SET
} luareply_kind;

/* A table that is being written. */
typedef struct luareply_level {
    const rlt_luatab *t;
    luareply_kind kind;
    uint32_t slots;   /* of the table itself                                 */
    uint32_t place;   /* of the walk                                         */
    int64_t n;        /* elements written                                    */
    rlt_luaval value; /* of a map's pair, whose key was written last         */
    int has_value;
} luareply_level;

typedef struct luareply_writer {
    rlt_lua *L;
    rlt_out *out;
    luareply_level *levels;
    uint32_t n, cap;
    uint32_t slots; /* that the value at hand takes                          */
    size_t errors;  /* that no command has counted                           */
} luareply_writer;

/* The number of elements: of an array up to its first nil, of a map or set
 * all. */
static size_t luareply_count(const rlt_luatab *t, luareply_kind kind)
{
    size_t n = 0;
    uint32_t place = 0;
    rlt_luaval key, value;

    if (kind == LUAREPLY_ARRAY)
        while (rlt_luatab_get_int(t, (int64_t)n + 1)->type != RLT_LUA_NIL)
            n++;
    else
        while (rlt_luatab_walk(t, &place, &key, &value))
            n++;
    return n;
}

static int luareply_grow(luareply_writer *w)
{
    uint32_t cap = w->cap > 0 ? w->cap * 2 : 16;
    luareply_level *fresh = (luareply_level *)rlt_luamem_get(
        &w->L->run, cap * sizeof *fresh);

    if (fresh == NULL)
        return 0;
    if (w->n > 0)
        memcpy(fresh, w->levels, w->n * sizeof *fresh);
    w->levels = fresh;
    w->cap = cap;
    return 1;
}

static void luareply_push(luareply_writer *w, const rlt_luatab *t,
                          luareply_kind kind)
{
    luareply_level *l;
    size_t n = luareply_count(t, kind);

    if (w->n == w->cap && !luareply_grow(w)) {
        w->out->failed = 1;
        return;
    }
    l = &w->levels[w->n++];
    memset(l, 0, sizeof *l);
    l->t = t;
    l->kind = kind;
    l->slots = w->slots;
    if (kind == LUAREPLY_ARRAY)
        rlt_out_array(w->out, n);
    else if (kind == LUAREPLY_MAP)
        rlt_out_map(w->out, n);
    else
        rlt_out_set(w->out, n);
}

static int luareply_text(const rlt_luatab *t, const char *name,
                         relet_span *out)
{
    const rlt_luaval *v = rlt_luatab_get_text(t, name);

    if (v->type != RLT_LUA_STRING)
        return 0;
    *out = rlt_luastr_span(v->u.s);
    return 1;
}

static int luareply_write_verbatim(luareply_writer *w, const rlt_luatab *t)
{
    const rlt_luaval *v = rlt_luatab_get_text(t, "verbatim_string");
    relet_span format, text;
    char three[4] = {0, 0, 0, 0};

    if (v->type != RLT_LUA_TABLE ||
        !luareply_text(v->u.t, "format", &format) ||
        !luareply_text(v->u.t, "string", &text))
        return 0;
    format = rlt_span_cut(&format, '\0');
    if (format.n > 0)
        memcpy(three, format.p, RLT_MIN(format.n, (size_t)3));
    rlt_out_verbatim(w->out, three, text);
    return 1;
}

/* Its line ends become blanks, whatever the protocol. */
static void luareply_write_big(luareply_writer *w, relet_span text)
{
    char *p = (char *)rlt_luamem_get(&w->L->run, text.n);
    size_t i;

    if (p == NULL) {
        w->out->failed = 1;
        return;
    }
    for (i = 0; i < text.n; i++)
        p[i] = rlt_luaresp_line_end(text.p[i]) ? ' ' : text.p[i];
    text.p = p;
    rlt_out_big(w->out, text);
}

/* 1 when the table stands for a type of the protocol and is written. */
static int luareply_write_typed(luareply_writer *w, const rlt_luatab *t)
{
    relet_span text;
    const rlt_luaval *v;

    if (t->nodes_n == 0)
        return 0;
    if (luareply_text(t, "err", &text)) {
        w->errors += RLT_LUA_IS_FALSE(
            rlt_luatab_get_text(t, "ignore_error_stats_update"));
        rlt_out_error_span(w->out, rlt_span_cut(&text, '\0'));
        return 1;
    }
    if (luareply_text(t, "ok", &text)) {
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
        luareply_push(w, v->u.t, LUAREPLY_MAP);
        return 1;
    }
    v = rlt_luatab_get_text(t, "set");
    if (v->type == RLT_LUA_TABLE) {
        luareply_push(w, v->u.t, LUAREPLY_SET);
        return 1;
    }
    if (luareply_text(t, "big_number", &text)) {
        luareply_write_big(w, text);
        return 1;
    }
    return luareply_write_verbatim(w, t);
}

static void luareply_write_one(luareply_writer *w, const rlt_luaval *v,
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
        if (!luareply_write_typed(w, v->u.t))
            luareply_push(w, v->u.t, LUAREPLY_ARRAY);
        return;
    case RLT_LUA_NIL:
    case RLT_LUA_CLOSURE:
    case RLT_LUA_BUILTIN:
        rlt_out_null(w->out);
        return;
    }
}

/* The next thing inside the innermost table, or its end. */
static void luareply_write_next(luareply_writer *w)
{
    luareply_level *l = &w->levels[w->n - 1];
    rlt_luaval key, value;

    if (l->has_value) {
        value = l->value;
        l->has_value = 0;
        luareply_write_one(w, &value, l->slots + 3);
        return;
    }
    if (l->kind == LUAREPLY_ARRAY) {
        value = *rlt_luatab_get_int(l->t, ++l->n);
        if (value.type == RLT_LUA_NIL)
            w->n--;
        else
            luareply_write_one(w, &value, l->slots + 1);
        return;
    }
    if (!rlt_luatab_walk(l->t, &l->place, &key, &value)) {
        w->n--;
        return;
    }
    l->value = value;
    l->has_value = l->kind == LUAREPLY_MAP;
    luareply_write_one(w, &key, l->slots + (l->has_value ? 4 : 3));
}

RELET_PRIVATE size_t rlt_luaresp_write(rlt_lua *L, rlt_out *out,
                                       const rlt_luaval *v)
{
    size_t begin = rlt_buf_used(&out->buf);
    luareply_writer w;

    memset(&w, 0, sizeof w);
    w.L = L;
    w.out = out;
    luareply_write_one(&w, v, 0);
    while (w.n > 0 && !out->failed && --L->steps >= 0)
        luareply_write_next(&w);
    if (L->steps < 0) {
        rlt_buf_cut(&out->buf, begin, rlt_buf_used(&out->buf) - begin);
        rlt_out_error(out, "ERR script used up its steps");
        w.errors = 1;
    }
    return w.errors;
}
