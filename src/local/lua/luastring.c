/* SPDX-License-Identifier: MIT
 *
 * luastring.c - the string library, except for patterns. */
#include "lualib.h"
#include "luamatch.h"

/* -1 is the last byte; any place before the first byte is 0. */
static int64_t luastring_place(int64_t i, size_t n)
{
    if (i < 0)
        i += (int64_t)n + 1;
    return RLT_MAX(i, 0);
}

static int luastring_len(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span s;

    if (rlt_luaarg_string(&a, 1, &s) < 0)
        return -1;
    return rlt_luapush_number(L, (double)s.n);
}

static int luastring_sub(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span s;
    int64_t from, to = -1;

    if (rlt_luaarg_string(&a, 1, &s) < 0 ||
        rlt_luaarg_int(&a, 2, &from) < 0 ||
        rlt_luaarg_int_or(&a, 3, &to) < 0)
        return -1;
    from = RLT_MAX(luastring_place(from, s.n), 1);
    to = RLT_MIN(luastring_place(to, s.n), (int64_t)s.n);
    if (from > to)
        return rlt_luapush_text(L, "");
    return rlt_luapush_string(L, s.p + from - 1, (size_t)(to - from) + 1);
}

static int luastring_byte(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span s;
    int64_t from = 1, to, i;

    if (rlt_luaarg_string(&a, 1, &s) < 0 ||
        rlt_luaarg_int_or(&a, 2, &from) < 0)
        return -1;
    from = to = luastring_place(from, s.n);
    if (rlt_luaarg_int_or(&a, 3, &to) < 0)
        return -1;
    to = RLT_MIN(luastring_place(to, s.n), (int64_t)s.n);
    from = RLT_MAX(from, 1);
    if (from > to)
        return 0;
    if (to - from + 1 + n > RLT_LUA_RESULTS_MAX)
        return rlt_luaerr(L, "stack overflow (string slice too long)");
    if (rlt_luavm_room(L, (int)(to - from) + 1) < 0)
        return -1;
    for (i = from; i <= to; i++)
        (void)rlt_luapush_number(L, (unsigned char)s.p[i - 1]);
    return (int)(to - from) + 1;
}

static int luastring_char(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luabytes b;
    int64_t c;
    int i;

    rlt_luabytes_init(&b, L);
    for (i = 1; i <= n; i++) {
        if (rlt_luaarg_int32(&a, i, &c) < 0)
            return -1;
        if (c < 0 || c > 255)
            return rlt_luaerr_argument(L, i, "invalid value");
        rlt_luabytes_add_char(&b, (char)(unsigned char)c);
    }
    return rlt_luabytes_push(&b);
}

static int luastring_rep(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span s;
    int64_t times, i;
    rlt_luastr *out;
    char *bytes;

    if (rlt_luaarg_string(&a, 1, &s) < 0 ||
        rlt_luaarg_int32(&a, 2, &times) < 0)
        return -1;
    times = s.n > 0 ? RLT_MAX(times, 0) : 0;
    if (times > 0 && s.n > RLT_LUA_STRING_MAX / (size_t)times)
        return rlt_luaerr_memory(L);
    out = rlt_luavm_bytes(L, s.n * (size_t)times, &bytes);
    if (out == NULL)
        return -1;
    for (i = 0; i < times; i++)
        memcpy(bytes + (size_t)i * s.n, s.p, s.n);
    rlt_luastr_seal(out);
    return rlt_luapush(L, rlt_luaval_string(out));
}

static char luastring_lower_of(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static char luastring_upper_of(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static int luastring_map(rlt_lua *L, uint32_t base, int n, char (*map)(char))
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span s;
    rlt_luastr *out;
    char *bytes;
    size_t i;

    if (rlt_luaarg_string(&a, 1, &s) < 0)
        return -1;
    out = rlt_luavm_bytes(L, s.n, &bytes);
    if (out == NULL)
        return -1;
    for (i = 0; i < s.n; i++)
        bytes[i] = map ? map(s.p[i]) : s.p[s.n - 1 - i];
    rlt_luastr_seal(out);
    return rlt_luapush(L, rlt_luaval_string(out));
}

static int luastring_lower(rlt_lua *L, uint32_t base, int n)
{
    return luastring_map(L, base, n, luastring_lower_of);
}

static int luastring_upper(rlt_lua *L, uint32_t base, int n)
{
    return luastring_map(L, base, n, luastring_upper_of);
}

static int luastring_reverse(rlt_lua *L, uint32_t base, int n)
{
    return luastring_map(L, base, n, NULL);
}

/* gfind is an old name of gmatch. */
static const rlt_luabuiltin luastring_all[] = {
    {"byte", luastring_byte},        {"char", luastring_char},
    {"find", rlt_luamatch_find},     {"format", rlt_lualib_format},
    {"gfind", rlt_luamatch_gmatch},  {"gmatch", rlt_luamatch_gmatch},
    {"gsub", rlt_luamatch_gsub},     {"len", luastring_len},
    {"lower", luastring_lower},      {"match", rlt_luamatch_match},
    {"rep", luastring_rep},          {"reverse", luastring_reverse},
    {"sub", luastring_sub},          {"upper", luastring_upper}};

RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_string(size_t *n)
{
    *n = sizeof luastring_all / sizeof luastring_all[0];
    return luastring_all;
}
