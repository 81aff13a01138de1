/* SPDX-License-Identifier: MIT
 *
 * luamathlib.c - the math library.
 *
 * Left out: random, and the functions of angles (sin, atan2, …). */
#include "lualib.h"

#define LUAMATHLIB_PI 3.14159265358979323846

typedef double luamathlib_function(double v);

static int luamathlib_one(rlt_lua *L, uint32_t base, int n,
                          luamathlib_function *f)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double v;

    if (rlt_luaarg_number(&a, 1, &v) < 0)
        return -1;
    return rlt_luapush_number(L, f(v));
}

static double luamathlib_abs_of(double v)
{
    return rlt_luanum_negative(v) ? -v : v;
}

static double luamathlib_deg_of(double v)
{
    return v / (LUAMATHLIB_PI / 180.0);
}

static double luamathlib_rad_of(double v)
{
    return v * (LUAMATHLIB_PI / 180.0);
}

static int luamathlib_abs(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, luamathlib_abs_of);
}

static int luamathlib_ceil(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_ceil);
}

static int luamathlib_deg(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, luamathlib_deg_of);
}

static int luamathlib_exp(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_exp);
}

static int luamathlib_floor(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_floor);
}

static int luamathlib_log(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_log);
}

static int luamathlib_log10(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_log10);
}

static int luamathlib_rad(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, luamathlib_rad_of);
}

static int luamathlib_sqrt(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_one(L, base, n, rlt_luanum_sqrt);
}

typedef double luamathlib_function_of_two(double x, double y);

/* If both arguments are wrong, servers name the second. */
static int luamathlib_two(rlt_lua *L, uint32_t base, int n,
                          luamathlib_function_of_two *f)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double x, y;

    if (rlt_luaarg_number(&a, 2, &y) < 0 || rlt_luaarg_number(&a, 1, &x) < 0)
        return -1;
    return rlt_luapush_number(L, f(x, y));
}

static int luamathlib_fmod(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_two(L, base, n, rlt_luanum_fmod);
}

static int luamathlib_pow(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_two(L, base, n, rlt_luanum_pow);
}

static int luamathlib_frexp(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double v;
    int exponent;

    if (rlt_luaarg_number(&a, 1, &v) < 0)
        return -1;
    (void)rlt_luapush_number(L, rlt_luanum_frexp(v, &exponent));
    return 1 + rlt_luapush_number(L, exponent);
}

static int luamathlib_ldexp(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double v;
    int64_t exponent;

    if (rlt_luaarg_int32(&a, 2, &exponent) < 0 ||
        rlt_luaarg_number(&a, 1, &v) < 0)
        return -1;
    return rlt_luapush_number(L, rlt_luanum_ldexp(v, exponent));
}

static int luamathlib_modf(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double v, whole, rest;

    if (rlt_luaarg_number(&a, 1, &v) < 0)
        return -1;
    whole = rlt_luanum_negative(v) ? rlt_luanum_ceil(v) : rlt_luanum_floor(v);
    rest = v == whole ? 0 : v - whole;
    if (rlt_luanum_negative(v) && rest == 0)
        rest = -0.0;
    (void)rlt_luapush_number(L, whole);
    return 1 + rlt_luapush_number(L, rest);
}

/* The largest argument; with sign -1 the smallest. */
static int luamathlib_most(rlt_lua *L, uint32_t base, int n, double sign)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    double most, v;
    int i;

    if (rlt_luaarg_number(&a, 1, &most) < 0)
        return -1;
    for (i = 2; i <= n; i++) {
        if (rlt_luaarg_number(&a, i, &v) < 0)
            return -1;
        if (sign * v > sign * most)
            most = v;
    }
    return rlt_luapush_number(L, most);
}

static int luamathlib_max(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_most(L, base, n, 1);
}

static int luamathlib_min(rlt_lua *L, uint32_t base, int n)
{
    return luamathlib_most(L, base, n, -1);
}

/* mod is an old name of fmod. */
static const rlt_luabuiltin luamathlib_all[] = {
    {"abs", luamathlib_abs},     {"ceil", luamathlib_ceil},
    {"deg", luamathlib_deg},     {"exp", luamathlib_exp},
    {"floor", luamathlib_floor}, {"fmod", luamathlib_fmod},
    {"frexp", luamathlib_frexp}, {"ldexp", luamathlib_ldexp},
    {"log", luamathlib_log},     {"log10", luamathlib_log10},
    {"max", luamathlib_max},     {"min", luamathlib_min},
    {"mod", luamathlib_fmod},    {"modf", luamathlib_modf},
    {"pow", luamathlib_pow},     {"rad", luamathlib_rad},
    {"sqrt", luamathlib_sqrt}};

RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_math(size_t *n)
{
    *n = sizeof luamathlib_all / sizeof luamathlib_all[0];
    return luamathlib_all;
}
