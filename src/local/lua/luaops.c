/* SPDX-License-Identifier: MIT
 *
 * luaops.c - operations on values, for instructions and libraries
 * (luaexec.h). */
#include "luacode.h"
#include "luaexec.h"

RELET_PRIVATE int rlt_luavm_spend(rlt_lua *L, size_t n)
{
    L->steps -= (int64_t)n;
    return RLT_LIKELY(L->steps >= 0) ? 0 : rlt_luaerr_steps(L);
}

/* --------------------------------------------------------------- new ones */

RELET_PRIVATE void *rlt_luavm_alloc(rlt_lua *L, size_t n)
{
    void *p = rlt_luamem_get(&L->run, n);

    if (p == NULL)
        (void)rlt_luaerr_memory(L);
    return p;
}

RELET_PRIVATE rlt_luatab *rlt_luavm_table(rlt_lua *L, uint32_t array,
                                          uint32_t nodes)
{
    rlt_luatab *t = rlt_luatab_new(&L->run, array, nodes);

    if (t == NULL) {
        (void)rlt_luaerr_memory(L);
        return NULL;
    }
    t->serial = ++L->serial;
    return t;
}

/* Each byte costs a 64th of a step, so that long strings are not free. */
RELET_PRIVATE rlt_luastr *rlt_luavm_bytes(rlt_lua *L, size_t n, char **bytes)
{
    rlt_luastr *s;

    if (rlt_luavm_spend(L, n / 64) < 0)
        return NULL;
    s = rlt_luastr_make(&L->run, n, bytes);
    if (s == NULL)
        (void)rlt_luaerr_memory(L);
    return s;
}

RELET_PRIVATE rlt_luastr *rlt_luavm_string(rlt_lua *L, const char *p,
                                           size_t n)
{
    char *bytes;
    rlt_luastr *s = rlt_luavm_bytes(L, n, &bytes);

    if (s == NULL)
        return NULL;
    if (n > 0)
        memcpy(bytes, p, n);
    rlt_luastr_seal(s);
    return s;
}

RELET_PRIVATE int rlt_luaexec_closure(rlt_lua *L, rlt_luaval *out,
                                      const rlt_luaproto *p,
                                      const rlt_luafn *around,
                                      rlt_luaval *registers)
{
    size_t size = sizeof(rlt_luafn) + p->ups_n * sizeof(rlt_luacell *);
    rlt_luafn *f = (rlt_luafn *)rlt_luavm_alloc(L, size);
    int i;

    if (f == NULL)
        return -1;
    f->proto = p;
    f->builtin = NULL;
    f->state = NULL;
    f->serial = ++L->serial;
    for (i = 0; i < p->ups_n; i++) {
        f->ups[i] = p->ups[i].in_stack
                        ? rlt_luavm_cell(L, registers + p->ups[i].index)
                        : around->ups[p->ups[i].index];
        if (f->ups[i] == NULL)
            return -1;
    }
    out->u.f = f;
    out->type = RLT_LUA_CLOSURE;
    return 0;
}

/* ----------------------------------------------------------------- tables */

/* Reading a global that does not exist is an error, as in servers. */
static int luaops_missing(rlt_lua *L, const rlt_luaval *key)
{
    rlt_luaval name = *key;

    if (key->type != RLT_LUA_STRING && key->type != RLT_LUA_NUMBER)
        return rlt_luaerr_run(L, "Second argument to luaProtectedTableError "
                                 "must be a string or number");
    if (rlt_luavm_to_string(L, &name) < 0)
        return -1;
    return rlt_luaerr_global(L, name.u.s);
}

/* The comparison of a long key costs steps. */
static int luaops_long(rlt_lua *L, const rlt_luaval *key)
{
    return key->type == RLT_LUA_STRING && key->u.s->n >= 256
               ? rlt_luavm_spend(L, key->u.s->n / 64)
               : 0;
}

RELET_PRIVATE int rlt_luaexec_get(rlt_lua *L, rlt_luaval *out,
                                  const rlt_luaval *t, const rlt_luaval *key)
{
    const rlt_luaval *found;

    if (t->type == RLT_LUA_STRING) {
        *out = *rlt_luatab_get(L->string_library, key);
        return 0;
    }
    if (t->type != RLT_LUA_TABLE)
        return rlt_luaerr_type(L, t, "index");
    if (luaops_long(L, key) < 0)
        return -1;
    found = rlt_luatab_get(t->u.t, key);
    if (RLT_UNLIKELY(found->type == RLT_LUA_NIL && t->u.t->strict))
        return luaops_missing(L, key);
    *out = *found;
    return 0;
}

RELET_PRIVATE int rlt_luavm_set(rlt_lua *L, rlt_luatab *t,
                                const rlt_luaval *key,
                                const rlt_luaval *value)
{
    rlt_luaval *slot;

    if (t->readonly)
        return rlt_luaerr_run(L, "Attempt to modify a readonly table");
    if (key->type == RLT_LUA_NIL)
        return rlt_luaerr_run(L, "table index is nil");
    if (key->type == RLT_LUA_NUMBER && key->u.n != key->u.n)
        return rlt_luaerr_run(L, "table index is NaN");
    if (luaops_long(L, key) < 0)
        return -1;
    slot = rlt_luatab_slot(&L->run, t, key);
    if (slot == NULL)
        return rlt_luaerr_memory(L);
    *slot = *value;
    return 0;
}

RELET_PRIVATE int rlt_luavm_set_int(rlt_lua *L, rlt_luatab *t, int64_t key,
                                    const rlt_luaval *value)
{
    rlt_luaval k = rlt_luaval_number((double)key);

    return rlt_luavm_set(L, t, &k, value);
}

RELET_PRIVATE int rlt_luavm_set_field(rlt_lua *L, rlt_luatab *t,
                                      const rlt_luaval *key, double n)
{
    rlt_luaval v = rlt_luaval_number(n);

    return rlt_luavm_set(L, t, key, &v);
}

RELET_PRIVATE int rlt_luaexec_set(rlt_lua *L, const rlt_luaval *t,
                                  const rlt_luaval *key,
                                  const rlt_luaval *value)
{
    if (t->type != RLT_LUA_TABLE)
        return rlt_luaerr_type(L, t, "index");
    return rlt_luavm_set(L, t->u.t, key, value);
}

RELET_PRIVATE int rlt_luaexec_list(rlt_lua *L, rlt_luaval *t, int n,
                                   uint32_t before)
{
    rlt_luatab *table = t->u.t;
    int i;

    if (n == 0)
        return 0;
    if (!rlt_luatab_reserve(&L->run, table, before + (uint32_t)n))
        return rlt_luaerr_memory(L);
    for (i = 0; i < n; i++)
        table->array[before + (uint32_t)i] = t[i + 1];
    return 0;
}

/* ---------------------------------------------------- numbers and strings */

RELET_PRIVATE int rlt_luavm_number(rlt_lua *L, const rlt_luaval *v,
                                   double *out)
{
    int64_t n;

    if (v->type == RLT_LUA_NUMBER) {
        *out = v->u.n;
        return 1;
    }
    if (v->type != RLT_LUA_STRING)
        return 0;
    n = v->u.s->n;
    L->steps -= n + n * n / 1024;
    return rlt_luanum_read(rlt_luastr_span(v->u.s), out);
}

RELET_PRIVATE void rlt_luavm_spend_digits(rlt_lua *L, double v)
{
    int e;

    (void)rlt_luanum_frexp(v, &e);
    L->steps -= e * e / 1000;
}

RELET_PRIVATE size_t rlt_luavm_text(rlt_lua *L, char *out, double v)
{
    rlt_luavm_spend_digits(L, v);
    return rlt_luanum_text(out, v);
}

RELET_PRIVATE int rlt_luavm_to_string(rlt_lua *L, rlt_luaval *v)
{
    char text[RLT_LUANUM_TEXT];
    const rlt_luastr *s;

    if (v->type != RLT_LUA_NUMBER)
        return 0;
    s = rlt_luavm_string(L, text, rlt_luavm_text(L, text, v->u.n));
    if (s == NULL)
        return -1;
    *v = rlt_luaval_string(s);
    return 0;
}

RELET_PRIVATE int rlt_luaexec_arithmetic(rlt_lua *L, rlt_luaopcode op,
                                         rlt_luaval *out, const rlt_luaval *a,
                                         const rlt_luaval *b)
{
    double x, y;

    if (!rlt_luavm_number(L, a, &x))
        return rlt_luaerr_type(L, a, "perform arithmetic on");
    if (!rlt_luavm_number(L, b, &y))
        return rlt_luaerr_type(L, b, "perform arithmetic on");
    *out = rlt_luaval_number(rlt_luaop_compute(op, x, y));
    return 0;
}

RELET_PRIVATE int rlt_luaexec_length(rlt_lua *L, rlt_luaval *out,
                                     const rlt_luaval *v)
{
    int64_t n;

    if (v->type == RLT_LUA_TABLE) {
        n = rlt_luatab_length(v->u.t);
        *out = rlt_luaval_number((double)n);
    } else if (v->type == RLT_LUA_STRING) {
        *out = rlt_luaval_number((double)v->u.s->n);
    } else {
        return rlt_luaerr_type(L, v, "get length of");
    }
    return 0;
}

RELET_PRIVATE int rlt_luavm_less(rlt_lua *L, const rlt_luaval *a,
                                 const rlt_luaval *b, int or_equal)
{
    int order;

    if (a->type == RLT_LUA_NUMBER && b->type == RLT_LUA_NUMBER)
        return or_equal ? a->u.n <= b->u.n : a->u.n < b->u.n;
    if (a->type != RLT_LUA_STRING || b->type != RLT_LUA_STRING)
        return rlt_luaerr_order(L, a, b);
    if (rlt_luavm_spend(L, RLT_MIN(a->u.s->n, b->u.s->n) / 64) < 0)
        return -1;
    order = rlt_luastr_order(a->u.s, b->u.s);
    return or_equal ? order <= 0 : order < 0;
}

RELET_PRIVATE int rlt_luavm_same(rlt_lua *L, const rlt_luaval *a,
                                 const rlt_luaval *b)
{
    if (a->type == RLT_LUA_STRING && b->type == RLT_LUA_STRING &&
        a->u.s->n == b->u.s->n && luaops_long(L, a) < 0)
        return -1;
    return rlt_luaval_same(a, b);
}

static int luaops_has_text(const rlt_luaval *v)
{
    return v->type == RLT_LUA_STRING || v->type == RLT_LUA_NUMBER;
}

/* Values are joined from the right, two at a time; the error is about the
 * first pair that cannot be, and in it about the left one. */
static int luaops_joinable(rlt_lua *L, const rlt_luaval *v, int n)
{
    int i;

    for (i = n - 2; i >= 0; i--) {
        if (!luaops_has_text(&v[i]))
            return rlt_luaerr_type(L, &v[i], "concatenate");
        if (i == n - 2 && !luaops_has_text(&v[i + 1]))
            return rlt_luaerr_type(L, &v[i + 1], "concatenate");
    }
    return 0;
}

RELET_PRIVATE int rlt_luaexec_concat(rlt_lua *L, rlt_luaval *out,
                                     const rlt_luaval *v, int n)
{
    char text[RLT_LUANUM_TEXT], *at;
    size_t size = 0;
    rlt_luastr *s;
    int i;

    if (luaops_joinable(L, v, n) < 0)
        return -1;
    for (i = 0; i < n; i++)
        size += v[i].type == RLT_LUA_STRING ? v[i].u.s->n
                                            : rlt_luavm_text(L, text,
                                                             v[i].u.n);
    s = rlt_luavm_bytes(L, size, &at);
    if (s == NULL)
        return -1;
    for (i = 0; i < n; i++) {
        if (v[i].type == RLT_LUA_STRING) {
            memcpy(at, v[i].u.s->p, v[i].u.s->n);
            at += v[i].u.s->n;
        } else {
            size = rlt_luanum_text(text, v[i].u.n);
            memcpy(at, text, size);
            at += size;
        }
    }
    rlt_luastr_seal(s);
    *out = rlt_luaval_string(s);
    return 0;
}

RELET_PRIVATE int rlt_luaexec_for(rlt_lua *L, rlt_luaval *r)
{
    static const char *const wrong[] = {
        "'for' initial value must be a number",
        "'for' limit must be a number", "'for' step must be a number"};
    double n;
    int i;

    for (i = 0; i < 3; i++) {
        if (!rlt_luavm_number(L, &r[i], &n))
            return rlt_luaerr_run(L, wrong[i]);
        r[i] = rlt_luaval_number(n);
    }
    r[0].u.n -= r[2].u.n;
    return 0;
}
