/* SPDX-License-Identifier: MIT
 *
 * luanum.c - the text of a script's numbers, in both directions.
 *
 * A double is m * 2^e. Its decimal digits are had by dividing a big integer,
 * and by multiplying a big fraction, by 10^9; only as many as are asked for,
 * and whether anything is left decides the rounding. The functions are in
 * luamath.c. */
#include "luanum.h"

#define LUANUM_DIGITS 420 /* 309 before the point, 99 behind it              */
#define LUANUM_WORDS 36   /* of 32 bits: 1024 before, 1074 behind            */
#define LUANUM_BILLION 1000000000u

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

/* The digits of a finite positive number. point: how many stand before the
 * decimal point; 0 or less: that many zeros stand behind it first. */
typedef struct luanum_decimal {
    uint8_t digit[LUANUM_DIGITS];
    int n, point;
    uint32_t rest[LUANUM_WORDS]; /* the fraction not written yet, a word of  */
    int words;                   /* it being 2^-32 of the one before         */
} luanum_decimal;

static void luanum_nine(luanum_decimal *d, uint32_t group)
{
    uint32_t scale;

    for (scale = LUANUM_BILLION / 10; scale > 0; scale /= 10) {
        uint32_t one = group / scale % 10;

        if (d->n == 0 && one == 0) {
            d->point -= d->point <= 0; /* a leading zero                     */
            continue;
        }
        d->digit[d->n++] = (uint8_t)one;
    }
}

/* The integer part: 32-bit words, the lowest first. */
static void luanum_integer(luanum_decimal *d, uint32_t *w, int n)
{
    uint32_t group[LUANUM_WORDS];
    int groups = 0, i;

    while (n > 0) {
        uint64_t carry = 0;

        for (i = n - 1; i >= 0; i--) {
            carry = carry << 32 | w[i];
            w[i] = (uint32_t)(carry / LUANUM_BILLION);
            carry %= LUANUM_BILLION;
        }
        group[groups++] = (uint32_t)carry;
        while (n > 0 && w[n - 1] == 0)
            n--;
    }
    d->point = 1; /* leading zeros of an integer count for nothing           */
    while (groups > 0)
        luanum_nine(d, group[--groups]);
    d->point = d->n;
}

/* Nine more digits of the fraction. */
static void luanum_more(luanum_decimal *d)
{
    uint64_t carry = 0;
    int i;

    for (i = d->words - 1; i >= 0; i--) {
        carry += (uint64_t)d->rest[i] * LUANUM_BILLION;
        d->rest[i] = (uint32_t)carry;
        carry >>= 32;
    }
    while (d->words > 0 && d->rest[d->words - 1] == 0)
        d->words--;
    luanum_nine(d, (uint32_t)carry);
}

/* m * 2^e into the words around the point. */
static void luanum_split(luanum_decimal *d, uint64_t m, int e)
{
    uint32_t w[LUANUM_WORDS];
    int bit, n = 0, i;

    memset(d, 0, sizeof *d);
    memset(w, 0, sizeof w);
    for (i = 0; i < 53; i++) {
        if (!(m >> i & 1))
            continue;
        bit = e + i;
        if (bit >= 0) {
            w[bit / 32] |= (uint32_t)1 << bit % 32;
            n = bit / 32 + 1;
        } else {
            bit = -1 - bit;
            d->rest[bit / 32] |= (uint32_t)0x80000000u >> bit % 32;
            d->words = RLT_MAX(d->words, bit / 32 + 1);
        }
    }
    luanum_integer(d, w, n);
}

/* A 1 more in the last place: 0.999 becomes 1.00. */
static void luanum_carry(luanum_decimal *d)
{
    int i = d->n;

    while (i > 0 && d->digit[i - 1] == 9)
        d->digit[--i] = 0;
    if (i > 0) {
        d->digit[i - 1]++;
        return;
    }
    memmove(d->digit + 1, d->digit, (size_t)d->n);
    d->digit[0] = 1;
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
        tie = d->digit[n] == 5 && d->words == 0;
        for (i = n + 1; i < d->n; i++)
            tie &= d->digit[i] == 0;
        up = tie ? n > 0 && d->digit[n - 1] % 2 == 1 : d->digit[n] >= 5;
    }
    d->n = RLT_MAX(n, 0);
    if (d->n == 0)
        d->point += -n * (n < 0);
    if (up)
        luanum_carry(d);
}

/* Enough digits that n can be kept; behind the number there are zeros. */
static void luanum_fill(luanum_decimal *d, int n)
{
    while (d->words > 0 && d->n <= n && d->n < LUANUM_DIGITS - 12)
        luanum_more(d);
}

static void luanum_decimal_of(luanum_decimal *d, double v)
{
    uint64_t u = luanum_bits(v), m = u & (((uint64_t)1 << 52) - 1);
    int e = (int)(u >> 52 & 0x7ff);

    if (e > 0)
        luanum_split(d, m | (uint64_t)1 << 52, e - 1075);
    else
        luanum_split(d, m, -1074);
}

/* n digits from the first one that is not 0: for e and g. */
static void luanum_significant(luanum_decimal *d, double v, int n)
{
    luanum_decimal_of(d, v);
    while (d->n == 0 && d->words > 0)
        luanum_more(d);
    luanum_fill(d, n);
    luanum_round(d, n);
}

/* n digits behind the point: for f. */
static void luanum_fixed(luanum_decimal *d, double v, int n)
{
    luanum_decimal_of(d, v);
    while (d->n == 0 && d->words > 0 && -d->point <= n)
        luanum_more(d);
    luanum_fill(d, d->point + n);
    luanum_round(d, d->point + n);
}

static char luanum_digit(const luanum_decimal *d, int i)
{
    return (char)('0' + (i >= 0 && i < d->n ? d->digit[i] : 0));
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

    while (n > 0 && d->digit[n - 1] == 0)
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

    switch (spec->conversion) {
    case 'f':
        luanum_fixed(&d, v, precision);
        return luanum_put_fixed(out, &d, precision, spec->alternate);
    case 'e':
    case 'E':
        luanum_significant(&d, v, precision + 1);
        return luanum_put_exponent(out, &d, precision, spec->alternate,
                                   spec->conversion);
    default:
        precision = RLT_MAX(precision, 1);
        luanum_significant(&d, v, precision);
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

/* %.{digits}g; whole numbers, nearly all there are, need no big ones. */
static size_t luanum_general(char *out, double v, int digits, double whole)
{
    rlt_luanum_spec spec;

    if (v > -whole && v < whole && v == (double)(int64_t)v &&
        (v != 0 || !rlt_luanum_negative(v)))
        return rlt_text_put_i64(out, (int64_t)v);
    memset(&spec, 0, sizeof spec);
    spec.conversion = 'g';
    spec.precision = digits;
    return rlt_luanum_format(out, v, &spec);
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
    const char *nul = s.n > 0 ? (const char *)memchr(s.p, 0, s.n) : NULL;

    if (nul)
        s.n = (size_t)(nul - s.p);
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

/* A mantissa of 64 bits whose lowest one stands for all that was cut off. */
typedef struct luanum_hex {
    uint64_t m;
    int64_t e;
    int digits;
} luanum_hex;

static void luanum_hex_digit(luanum_hex *h, int digit, int behind)
{
    h->digits++;
    if (h->m >> 60 == 0) {
        h->m = h->m << 4 | (uint64_t)digit;
        h->e -= behind ? 4 : 0;
    } else {
        h->m |= digit != 0;
        h->e += behind ? 0 : 4;
    }
}

/* Round to 53 bits (fewer near zero), half to even; the rest is exact. */
static double luanum_hex_value(luanum_hex h)
{
    int64_t cut;
    uint64_t rest, half;

    if (h.m == 0)
        return 0;
    while (h.m >> 63 == 0) {
        h.m <<= 1;
        h.e--;
    }
    cut = RLT_MAX(11, -1074 - h.e);
    if (cut > 64)
        return 0;
    rest = cut == 64 ? h.m : h.m & (((uint64_t)1 << cut) - 1);
    half = (uint64_t)1 << (cut - 1);
    h.m = cut == 64 ? 0 : h.m >> cut;
    h.m += rest > half || (rest == half && h.m % 2 == 1);
    return rlt_luanum_ldexp((double)h.m, h.e + cut);
}

static int luanum_read_exponent(relet_span s, int64_t *e)
{
    int negative = luanum_sign(&s);
    int64_t v = 0;
    size_t i;

    if (s.n == 0)
        return 0;
    for (i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return 0;
        v = RLT_MIN(v * 10 + (s.p[i] - '0'), (int64_t)1 << 40);
    }
    *e += negative ? -v : v;
    return 1;
}

/* What stands behind 0x. */
static int luanum_read_hex(relet_span s, double *out)
{
    luanum_hex h = {0, 0, 0};
    int behind = 0, digit;
    size_t i;

    for (i = 0; i < s.n; i++) {
        digit = rlt_text_hex(s.p[i]);
        if (digit >= 0)
            luanum_hex_digit(&h, digit, behind);
        else if (s.p[i] == '.' && !behind)
            behind = 1;
        else
            break;
    }
    if (h.digits == 0)
        return 0;
    if (i < s.n) {
        if (s.p[i] != 'p' && s.p[i] != 'P')
            return 0;
        s.p += i + 1;
        s.n -= i + 1;
        if (!luanum_read_exponent(s, &h.e))
            return 0;
    }
    *out = luanum_hex_value(h);
    return 1;
}

/* Nearly all are a few digits and nothing else: they are exact. */
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
    relet_span rest;
    int negative;

    if (luanum_read_short(s, out))
        return 1;
    s = luanum_trim(s);
    rest = s;
    negative = luanum_sign(&rest);
    if (rlt_span_is_nocase(rest, "infinity")) {
        *out = negative ? -rlt_luanum_infinity() : rlt_luanum_infinity();
        return 1;
    }
    if (!luanum_is_hex(rest))
        return s.n > 0 && rlt_text_double(s.p, s.n, out);
    rest.p += 2;
    rest.n -= 2;
    if (!luanum_read_hex(rest, out))
        return 0;
    if (negative)
        *out = -*out;
    return 1;
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
