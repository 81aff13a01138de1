/* SPDX-License-Identifier: MIT
 *
 * luamath.c - the functions of mathematics that scripts have (luanum.h).
 *
 * Functions with an exact or correctly rounded result give it: floor, fmod,
 * sqrt. Powers, exp and log are computed with twice the digits of a double (as
 * a sum of two doubles) and rounded once, so that 10^15 is exact. */
#include "luanum.h"

static uint64_t luamath_bits(double v)
{
    uint64_t u;

    memcpy(&u, &v, sizeof u);
    return u;
}

static double luamath_of_bits(uint64_t u)
{
    double v;

    memcpy(&v, &u, sizeof v);
    return v;
}

static int luamath_finite(double v)
{
    return (luamath_bits(v) >> 52 & 0x7ff) != 0x7ff;
}

static double luamath_abs(double v)
{
    return luamath_of_bits(luamath_bits(v) & ~((uint64_t)1 << 63));
}

/* From 2^52 on a double has no fraction. -0 stays what it is. */
static int luamath_whole(double v)
{
    return v == 0 || !(luamath_abs(v) < 4503599627370496.0);
}

RELET_PRIVATE double rlt_luanum_floor(double v)
{
    double whole;

    if (luamath_whole(v))
        return v;
    whole = (double)(int64_t)v;
    return whole > v ? whole - 1 : whole == 0 && v < 0 ? -0.0 : whole;
}

RELET_PRIVATE double rlt_luanum_ceil(double v)
{
    return -rlt_luanum_floor(-v);
}

RELET_PRIVATE double rlt_luanum_frexp(double v, int *exponent)
{
    uint64_t u = luamath_bits(v);
    int e = (int)(u >> 52 & 0x7ff), shift = 0;

    *exponent = 0;
    if (v == 0 || e == 0x7ff)
        return v;
    if (e == 0) { /* below the normal numbers: 2^54 lifts all of them        */
        shift = 54;
        u = luamath_bits(v * 18014398509481984.0);
        e = (int)(u >> 52 & 0x7ff);
    }
    *exponent = e - 1022 - shift;
    return luamath_of_bits((u & ~((uint64_t)0x7ff << 52)) |
                           (uint64_t)1022 << 52);
}

static double luamath_two_to(int n) /* -1022 … 1023 */
{
    return luamath_of_bits((uint64_t)(n + 1023) << 52);
}

/* Only the last step may leave the normal numbers: one rounding, not two. */
RELET_PRIVATE double rlt_luanum_ldexp(double v, int64_t n)
{
    int e;

    v = rlt_luanum_frexp(v, &e);
    if (v == 0 || !luamath_finite(v))
        return v;
    n = RLT_MAX(RLT_MIN(n, 4000), -4000) + e;
    if (n > 1024)
        return v * luamath_two_to(1023) * luamath_two_to(1023);
    if (n > 1000)
        return v * 2 * luamath_two_to((int)n - 1);
    if (n >= -1020)
        return v * luamath_two_to((int)n);
    if (n < -1100)
        return v * luamath_two_to(-1000) * luamath_two_to(-1000);
    return v * luamath_two_to(-1000) * luamath_two_to((int)n + 1000);
}

/* Long division, a bit at a time; the remainder is exact. */
RELET_PRIVATE double rlt_luanum_fmod(double a, double b)
{
    int ea, eb;
    double sign = rlt_luanum_negative(a) ? -1.0 : 1.0;
    uint64_t x, y;

    if (a != a)
        return a;
    if (b != b)
        return b;
    if (!luamath_finite(a) || b == 0)
        return rlt_luanum_nan();
    if (!luamath_finite(b) || a == 0)
        return a;
    x = (uint64_t)(luamath_abs(rlt_luanum_frexp(a, &ea)) * 9007199254740992.0);
    y = (uint64_t)(luamath_abs(rlt_luanum_frexp(b, &eb)) * 9007199254740992.0);
    if (ea < eb)
        return a;
    for (; ea > eb; ea--) {
        if (x >= y)
            x -= y;
        x <<= 1;
    }
    if (x >= y)
        x -= y;
    return sign * rlt_luanum_ldexp((double)x, (int64_t)eb - 53);
}

/* The root of m * 2^e digit by digit; what is left says how to round, and a
 * root is never halfway between two doubles. */
RELET_PRIVATE double rlt_luanum_sqrt(double v)
{
    int e, i;
    uint64_t m, root = 0, rest = 0;

    if (v != v || v == 0)
        return v;
    if (v < 0)
        return rlt_luanum_nan();
    if (!luamath_finite(v))
        return v;
    m = (uint64_t)(rlt_luanum_frexp(v, &e) * 9007199254740992.0);
    m <<= e % 2 != 0 ? 10 : 11; /* an even exponent: m / 2^64 in [1/4, 1)     */
    e += e % 2 != 0;
    for (i = 0; i < 54; i++) {
        rest = rest << 2 | m >> 62;
        m <<= 2;
        root <<= 1;
        if (rest > root << 1) {
            rest -= (root << 1) + 1;
            root++;
        }
    }
    root = (root >> 1) + (root & 1);
    return rlt_luanum_ldexp((double)root, e / 2 - 53);
}

/* ------------------------------------------- sums of two, and their like */

typedef struct luamath_pair {
    double hi, lo;
} luamath_pair;

static luamath_pair luamath_sum(double a, double b)
{
    luamath_pair r;
    double t;

    r.hi = a + b;
    t = r.hi - a;
    r.lo = (a - (r.hi - t)) + (b - t);
    return r;
}

/* The same, when a is the larger one. */
static luamath_pair luamath_join(double a, double b)
{
    luamath_pair r;

    r.hi = a + b;
    r.lo = b - (r.hi - a);
    return r;
}

static luamath_pair luamath_halves(double a)
{
    luamath_pair r;
    double t = a * 134217729.0;

    r.hi = t - (t - a);
    r.lo = a - r.hi;
    return r;
}

static luamath_pair luamath_product(double a, double b)
{
    luamath_pair r, x = luamath_halves(a), y = luamath_halves(b);

    r.hi = a * b;
    r.lo = ((x.hi * y.hi - r.hi) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo;
    return r;
}

static luamath_pair luamath_add(luamath_pair a, luamath_pair b)
{
    luamath_pair s = luamath_sum(a.hi, b.hi), t = luamath_sum(a.lo, b.lo);

    s = luamath_join(s.hi, s.lo + t.hi);
    return luamath_join(s.hi, s.lo + t.lo);
}

static luamath_pair luamath_mul(luamath_pair a, luamath_pair b)
{
    luamath_pair p = luamath_product(a.hi, b.hi);

    return luamath_join(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static luamath_pair luamath_of(double hi, double lo)
{
    luamath_pair r;

    r.hi = hi;
    r.lo = lo;
    return r;
}

static luamath_pair luamath_scale(luamath_pair a, double power_of_two)
{
    return luamath_of(a.hi * power_of_two, a.lo * power_of_two);
}

static luamath_pair luamath_div(luamath_pair a, luamath_pair b)
{
    double q = a.hi / b.hi, q2, q3;
    luamath_pair r;

    r = luamath_add(a, luamath_mul(b, luamath_of(-q, 0)));
    q2 = r.hi / b.hi;
    r = luamath_add(r, luamath_mul(b, luamath_of(-q2, 0)));
    q3 = r.hi / b.hi;
    r = luamath_join(q, q2);
    return luamath_add(r, luamath_of(q3, 0));
}

/* The natural logarithm of two. */
static luamath_pair luamath_ln2(void)
{
    return luamath_of(0.69314718055994530942, 2.3190468138462996e-17);
}

/* log(m * 2^k) = k log 2 + 2 atanh((m - 1) / (m + 1)), m near 1. */
static luamath_pair luamath_log(double v)
{
    int k, i;
    double m = rlt_luanum_frexp(v, &k);
    luamath_pair s, square, sum;

    if (m < 0.70710678118654752) {
        m *= 2;
        k--;
    }
    s = luamath_div(luamath_sum(m, -1), luamath_sum(m, 1));
    square = luamath_mul(s, s);
    sum = luamath_of(0, 0);
    for (i = 45; i >= 1; i -= 2) {
        sum = luamath_mul(sum, square);
        sum = luamath_add(sum, luamath_div(luamath_of(1, 0),
                                           luamath_of(i, 0)));
    }
    sum = luamath_scale(luamath_mul(sum, s), 2);
    return luamath_add(sum, luamath_mul(luamath_ln2(), luamath_of(k, 0)));
}

/* exp(a) = 2^k exp(r)^256, r so small that ten terms are plenty. */
static double luamath_exp(luamath_pair a)
{
    double k;
    luamath_pair r, sum;
    int i;

    if (a.hi > 710)
        return rlt_luanum_infinity();
    if (a.hi < -746)
        return 0;
    k = rlt_luanum_floor(a.hi / 0.69314718055994530942 + 0.5);
    r = luamath_add(a, luamath_mul(luamath_ln2(), luamath_of(-k, 0)));
    r = luamath_scale(r, 1.0 / 256);
    sum = luamath_of(1, 0);
    for (i = 12; i >= 1; i--) {
        sum = luamath_mul(sum, luamath_div(r, luamath_of(i, 0)));
        sum = luamath_add(sum, luamath_of(1, 0));
    }
    for (i = 0; i < 8; i++)
        sum = luamath_mul(sum, sum);
    return rlt_luanum_ldexp(sum.hi + sum.lo, (int64_t)k);
}

RELET_PRIVATE double rlt_luanum_exp(double v)
{
    if (v != v)
        return v;
    if (!luamath_finite(v))
        return v > 0 ? v : 0;
    return luamath_exp(luamath_of(v, 0));
}

/* Returns 1 and the logarithm of 0, a negative number, an infinity or NaN in
 * *r; 0 for any other number. */
static int luamath_log_edge(double v, double *r)
{
    if (v != v)
        *r = v;
    else if (v == 0)
        *r = -rlt_luanum_infinity();
    else if (v < 0)
        *r = rlt_luanum_nan();
    else if (!luamath_finite(v))
        *r = v;
    else
        return 0;
    return 1;
}

RELET_PRIVATE double rlt_luanum_log(double v)
{
    luamath_pair p;
    double r;

    if (luamath_log_edge(v, &r))
        return r;
    p = luamath_log(v);
    return p.hi + p.lo;
}

RELET_PRIVATE double rlt_luanum_log10(double v)
{
    luamath_pair p;
    double r;

    if (luamath_log_edge(v, &r))
        return r;
    p = luamath_div(luamath_log(v), luamath_log(10));
    return p.hi + p.lo;
}

static int luamath_odd(double v)
{
    double half = v * 0.5;

    return rlt_luanum_floor(v) == v && rlt_luanum_floor(half) != half;
}

/* a is 0 or infinite: the result is 0 or infinite, with a sign. */
static double luamath_pow_edge(double a, double b)
{
    double r = (a == 0) == (b > 0) ? 0 : rlt_luanum_infinity();

    return rlt_luanum_negative(a) && luamath_odd(b) ? -r : r;
}

static double luamath_pow_infinite(double a, double b)
{
    double size = luamath_abs(a);

    if (size == 1)
        return 1;
    return (size > 1) == (b > 0) ? rlt_luanum_infinity() : 0;
}

RELET_PRIVATE double rlt_luanum_pow(double a, double b)
{
    double r, size = luamath_abs(a);

    if (b == 0 || a == 1)
        return 1;
    if (a != a)
        return a;
    if (b != b)
        return b;
    if (!luamath_finite(b))
        return luamath_pow_infinite(a, b);
    if (a == 0 || !luamath_finite(a))
        return luamath_pow_edge(a, b);
    if (a < 0 && rlt_luanum_floor(b) != b)
        return rlt_luanum_nan();
    if (luamath_abs(b) > 1e17)
        r = luamath_pow_infinite(a, b);
    else
        r = luamath_exp(luamath_mul(luamath_log(size), luamath_of(b, 0)));
    return a < 0 && luamath_odd(b) ? -r : r;
}
