/* SPDX-License-Identifier: MIT
 *
 * luanum.c - the text of a script's numbers, in both directions.
 *
 * A double is m * 2^e, so it has an end in decimal too: all of its digits are
 * made, then rounded. The functions are in luamath.c. */
#include "luanum.h"

#include "num.h"

#define LUANUM_DIGITS 800 /* 767 are the most that a double has              */

static uint64_t luanum_bits(double v)
{
    uint64_t u;

    memcpy(&u, &v, sizeof u);
    return u;
}

static double luanum_of_bits(uint64_t u)
{
    double v;

    memcpy(&v, &u, sizeof v);
    return v;
}

RELET_PRIVATE int rlt_luanum_negative(double v)
{
    return (int)(luanum_bits(v) >> 63);
}

RELET_PRIVATE double rlt_luanum_infinity(void)
{
    return luanum_of_bits((uint64_t)0x7ff << 52);
}

RELET_PRIVATE double rlt_luanum_nan(void)
{
    return luanum_of_bits((uint64_t)0xfff8 << 48);
}

RELET_PRIVATE int64_t rlt_luanum_int(double v)
{
    if (v >= -9223372036854775808.0 && v < 9223372036854775808.0)
        return (int64_t)v;
    return INT64_MIN;
}

RELET_PRIVATE uint64_t rlt_luanum_word(double v)
{
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0)
        return (uint64_t)v;
    return v >= 18446744073709551616.0 ? 0 : (uint64_t)rlt_luanum_int(v);
}

/* The digits of a finite positive number, all of them. point: how many stand
 * before the decimal point; 0 or less: that many zeros stand behind it. */
typedef struct luanum_decimal {
    char digit[LUANUM_DIGITS];
    int n, point;
} luanum_decimal;

/* m * 2^-k has k decimals when m is odd. */
static void luanum_decimal_of(luanum_decimal *d, double v)
{
    uint64_t u = luanum_bits(v), m = u & (((uint64_t)1 << 52) - 1);
    int e = (int)(u >> 52 & 0x7ff), decimals;
    rlt_big b;

    d->n = d->point = 0;
    if (v == 0)
        return;
    m |= (uint64_t)(e > 0) << 52;
    for (e = RLT_MAX(e, 1) - 1075; m % 2 == 0; m /= 2)
        e++;
    decimals = RLT_MAX(-e, 0);
    rlt_big_fixed(&b, m, e, decimals);
    d->n = (int)rlt_big_put_fixed(d->digit, &b, 0, 0);
    d->point = d->n - decimals;
}

/* A 1 more in the last place: 0.999 becomes 1.00. */
static void luanum_carry(luanum_decimal *d)
{
    int i = d->n;

    while (i > 0 && d->digit[i - 1] == '9')
        d->digit[--i] = '0';
    if (i > 0) {
        d->digit[i - 1]++;
        return;
    }
    memmove(d->digit + 1, d->digit, (size_t)d->n);
    d->digit[0] = '1';
    d->n++;
    d->point++;
}

/* Keep the first n digits, half to even. n may be 0 or less: then what stays
 * is nothing, or a 1 before it. */
static void luanum_round(luanum_decimal *d, int n)
{
    int up = 0, i, tie;

    if (n >= d->n)
        return;
    if (n >= 0) {
        tie = d->digit[n] == '5';
        for (i = n + 1; i < d->n; i++)
            tie &= d->digit[i] == '0';
        up = tie ? n > 0 && d->digit[n - 1] % 2 == 1 : d->digit[n] >= '5';
    }
    d->n = RLT_MAX(n, 0);
    if (d->n == 0)
        d->point += -n * (n < 0);
    if (up)
        luanum_carry(d);
}

static char luanum_digit(const luanum_decimal *d, int i)
{
    return i >= 0 && i < d->n ? d->digit[i] : '0';
}

static size_t luanum_put_fixed(char *out, const luanum_decimal *d, int behind,
                               int always_point)
{
    size_t n = 0;
    int i;

    if (d->n == 0 || d->point <= 0)
        out[n++] = '0';
    for (i = 0; d->n > 0 && i < d->point; i++)
        out[n++] = luanum_digit(d, i);
    if (behind > 0 || always_point)
        out[n++] = '.';
    for (i = 0; i < behind; i++)
        out[n++] = d->n > 0 ? luanum_digit(d, d->point + i) : '0';
    return n;
}

static size_t luanum_put_exponent(char *out, const luanum_decimal *d,
                                  int behind, int always_point, char e)
{
    size_t n = 0;
    int i, x = d->n > 0 ? d->point - 1 : 0, size = x < 0 ? -x : x;

    out[n++] = luanum_digit(d, 0);
    if (behind > 0 || always_point)
        out[n++] = '.';
    for (i = 1; i <= behind; i++)
        out[n++] = luanum_digit(d, i);
    out[n++] = e;
    out[n++] = x < 0 ? '-' : '+';
    if (size < 10)
        out[n++] = '0';
    return n + rlt_text_put_u64(out + n, (uint64_t)size);
}

/* %g: whichever of the two is shorter, without zeros at the end. */
static size_t luanum_put_general(char *out, luanum_decimal *d, int digits,
                                 const rlt_luanum_spec *spec)
{
    int x = d->n > 0 ? d->point - 1 : 0, n = d->n;
    char e = spec->conversion == 'G' ? 'E' : 'e';

    while (n > 0 && d->digit[n - 1] == '0')
        n--;
    if (spec->alternate)
        n = digits;
    if (x < -4 || x >= digits)
        return luanum_put_exponent(out, d, RLT_MAX(n - 1, 0),
                                   spec->alternate, e);
    if (d->n == 0)
        return luanum_put_fixed(out, d, RLT_MAX(n - 1, 0), spec->alternate);
    return luanum_put_fixed(out, d, RLT_MAX(n - d->point, 0),
                            spec->alternate);
}

/* The digits of |v|, no sign. */
static size_t luanum_put(char *out, double v, const rlt_luanum_spec *spec)
{
    luanum_decimal d;
    int precision = spec->precision < 0 ? 6 : spec->precision;

    luanum_decimal_of(&d, v);
    switch (spec->conversion) {
    case 'f':
        luanum_round(&d, d.point + precision);
        return luanum_put_fixed(out, &d, precision, spec->alternate);
    case 'e':
    case 'E':
        luanum_round(&d, precision + 1);
        return luanum_put_exponent(out, &d, precision, spec->alternate,
                                   spec->conversion);
    default:
        precision = RLT_MAX(precision, 1);
        luanum_round(&d, precision);
        return luanum_put_general(out, &d, precision, spec);
    }
}

/* Sign, padding, body: `body` has n bytes; prefix is "", "0x" or "0X". */
static size_t luanum_pad(char *out, const rlt_luanum_spec *spec,
                         const char *sign, const char *body, size_t n,
                         int zero)
{
    size_t s = strlen(sign), all = s + n, width = (size_t)spec->width, at = 0;
    size_t pad = width > all ? width - all : 0;

    if (!spec->left && !zero) {
        memset(out, ' ', pad);
        at = pad;
    }
    memcpy(out + at, sign, s);
    at += s;
    if (!spec->left && zero) {
        memset(out + at, '0', pad);
        at += pad;
    }
    memcpy(out + at, body, n);
    at += n;
    if (spec->left) {
        memset(out + at, ' ', pad);
        at += pad;
    }
    return at;
}

RELET_PRIVATE size_t rlt_luanum_format(char *out, double v,
                                       const rlt_luanum_spec *spec)
{
    char body[RLT_LUANUM_FORMAT];
    int negative = rlt_luanum_negative(v), upper = spec->conversion < 'a';
    const char *sign = negative ? "-" : spec->plus ? "+" :
                       spec->blank ? " " : "";
    size_t n;

    if (v != v)
        return luanum_pad(out, spec, sign, upper ? "NAN" : "nan", 3, 0);
    if (negative)
        v = -v;
    if (v == rlt_luanum_infinity())
        return luanum_pad(out, spec, sign, upper ? "INF" : "inf", 3, 0);
    n = luanum_put(body, v, spec);
    return luanum_pad(out, spec, sign, body, n, spec->zero);
}

/* The digits of u, at least precision many, from the end of body backwards;
 * returns where they begin. */
static char *luanum_base(char *end, uint64_t u, unsigned base, int precision,
                         int upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char *p = end;

    for (; u > 0; u /= base)
        *--p = digits[u % base];
    while (end - p < precision)
        *--p = '0';
    return p;
}

RELET_PRIVATE size_t rlt_luanum_format_int(char *out, uint64_t magnitude,
                                           int negative,
                                           const rlt_luanum_spec *spec)
{
    char body[RLT_LUANUM_FORMAT], *end = body + sizeof body, *p;
    const char *sign = "";
    char c = spec->conversion;
    unsigned base = c == 'o' ? 8 : c == 'x' || c == 'X' ? 16 : 10;

    p = luanum_base(end, magnitude, base,
                    spec->precision < 0 ? 1 : spec->precision, c == 'X');
    if (c == 'o' && spec->alternate && (p == end || *p != '0'))
        *--p = '0';
    if (c == 'd')
        sign = negative ? "-" : spec->plus ? "+" : spec->blank ? " " : "";
    if (base == 16 && spec->alternate && magnitude > 0)
        sign = c == 'x' ? "0x" : "0X";
    return luanum_pad(out, spec, sign, p, (size_t)(end - p),
                      spec->zero && spec->precision < 0);
}

/* %.{digits}g. Most numbers are whole, and need no large integers. */
static size_t luanum_general(char *out, double v, int digits, double whole)
{
    if (v > -whole && v < whole && v == (double)(int64_t)v &&
        (v != 0 || !rlt_luanum_negative(v)))
        return rlt_text_put_i64(out, (int64_t)v);
    return rlt_num_g(out, v, digits);
}

RELET_PRIVATE size_t rlt_luanum_text(char *out, double v)
{
    return luanum_general(out, v, 14, 1e14);
}

RELET_PRIVATE size_t rlt_luanum_exact(char *out, double v)
{
    return luanum_general(out, v, 17, 9007199254740992.0);
}

/* ------------------------------------------------------------- from text */

static int luanum_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Up to the first NUL, without blanks around it. */
static relet_span luanum_trim(relet_span s)
{
    s = rlt_span_cut(&s, '\0');
    while (s.n > 0 && luanum_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && luanum_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

static int luanum_sign(relet_span *s)
{
    int negative = s->n > 0 && s->p[0] == '-';

    if (s->n > 0 && (s->p[0] == '-' || s->p[0] == '+')) {
        s->p++;
        s->n--;
    }
    return negative;
}

static int luanum_is_hex(relet_span s)
{
    return s.n > 1 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');
}

/* Fast path: most numbers are a few digits and nothing else, and are exact. */
static int luanum_read_short(relet_span s, double *out)
{
    int64_t v = 0;
    size_t i;

    if (s.n == 0 || s.n > 15)
        return 0;
    for (i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return 0;
        v = v * 10 + (s.p[i] - '0');
    }
    *out = (double)v;
    return 1;
}

RELET_PRIVATE int rlt_luanum_read(relet_span s, double *out)
{
    if (luanum_read_short(s, out))
        return 1;
    s = luanum_trim(s);
    return s.n > 0 && rlt_num_read_any(s, out);
}

static int luanum_letter(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

RELET_PRIVATE int rlt_luanum_read_base(relet_span s, int base, double *out)
{
    uint64_t v = 0, b = (uint64_t)base;
    int negative, full = 0, digit;
    size_t i;

    s = luanum_trim(s);
    negative = luanum_sign(&s);
    if (base == 16 && luanum_is_hex(s) && s.n > 2) {
        s.p += 2;
        s.n -= 2;
    }
    for (i = 0; i < s.n; i++) {
        digit = luanum_letter(s.p[i]);
        if (digit >= base)
            return 0;
        full |= v > (UINT64_MAX - (uint64_t)digit) / b;
        v = v * b + (uint64_t)digit;
    }
    if (full)
        v = UINT64_MAX;
    else if (negative)
        v = 0 - v;
    *out = (double)v;
    return s.n > 0;
}
