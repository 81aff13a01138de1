/* SPDX-License-Identifier: MIT
 *
 * num.c - doubles as Redis reads and prints them.
 */
#include "num.h"

#define NUM_DOUBLE_BITS 53
#define NUM_DOUBLE_MIN_EXP2 (-1074)
#define NUM_DOUBLE_MAX_EXP2 971

/* -------------------------------------------------------------------- parts */

static uint64_t num_bits(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double num_of_bits(uint64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static int num_is_finite(double v)
{
    return (num_bits(v) >> 52 & 0x7ff) != 0x7ff;
}

static int num_is_nan(double v)
{
    return num_bits(v) << 1 > (uint64_t)0x7ff << 53;
}

static uint64_t num_mantissa(double v, int *exp2)
{
    uint64_t bits = num_bits(v), m = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff);

    *exp2 = RLT_MAX(biased, 1) - 1075;
    return biased ? m | (uint64_t)1 << 52 : m;
}

static double num_double(uint64_t m, int exp2)
{
    uint64_t hidden = (uint64_t)1 << 52;

    if (exp2 > NUM_DOUBLE_MAX_EXP2)
        return num_of_bits((uint64_t)0x7ff << 52);
    if (m < hidden)
        return num_of_bits(m);
    return num_of_bits(m - hidden + ((uint64_t)(exp2 + 1075) << 52));
}

static int num_read_hex(relet_span s, double *out)
{
    rlt_big_ratio r;
    rlt_big_text t;
    int64_t height;
    uint64_t m;
    int exp2;
    double v = 0;

    if (!rlt_big_read(&t, s, &r.over) || t.base != 16)
        return 0;
    height = rlt_big_height(&t, &r.over);
    if (r.over.n > 0 && height > 1100) {
        v = num_of_bits((uint64_t)0x7ff << 52);
    } else if (r.over.n > 0 && height > -1100) {
        rlt_big_ratio_of(&t, &r);
        m = rlt_big_round(&r, NUM_DOUBLE_BITS, NUM_DOUBLE_MIN_EXP2, &exp2);
        v = num_double(m, exp2);
    }
    *out = t.minus ? -v : v;
    return 1;
}

/* rlt_text_double takes neither "infinity" nor hexadecimal digits. */
RELET_PRIVATE int rlt_num_read_any(relet_span s, double *out)
{
    relet_span word = s;

    if (rlt_text_double(s.p, s.n, out))
        return 1;
    if (!rlt_span_eat(&word, "-"))
        (void)rlt_span_eat(&word, "+");
    if (!rlt_span_is_nocase(word, "infinity"))
        return num_read_hex(s, out);
    *out = num_of_bits((uint64_t)0x7ff << 52);
    if (s.p[0] == '-')
        *out = -*out;
    return 1;
}

/* 1 if all digits before the exponent are 0. */
static int num_is_written_zero(relet_span s)
{
    char digit;

    if (!rlt_span_eat(&s, "-"))
        (void)rlt_span_eat(&s, "+");
    if (rlt_span_eat(&s, "0x") || rlt_span_eat(&s, "0X")) {
        for (; s.n > 0 && (s.p[0] | 32) != 'p'; s.p++, s.n--)
            if (s.p[0] != '0' && s.p[0] != '.')
                return 0;
        return 1;
    }
    for (; s.n > 0 && (s.p[0] | 32) != 'e'; s.p++, s.n--) {
        digit = s.p[0];
        if (digit != '0' && digit != '.')
            return 0;
    }
    return 1;
}

static int num_is_written_inf(relet_span s)
{
    if (!rlt_span_eat(&s, "-"))
        (void)rlt_span_eat(&s, "+");
    return s.n > 0 && (s.p[0] | 32) == 'i';
}

RELET_PRIVATE int rlt_num_read(relet_span s, double *out)
{
    double v;

    if (s.n == 0 || !rlt_num_read_any(s, &v) || num_is_nan(v))
        return 0;
    if (!num_is_finite(v) && !num_is_written_inf(s))
        return 0;
    if (num_bits(v) << 1 == 0 && !num_is_written_zero(s))
        return 0;
    *out = v;
    return 1;
}

RELET_PRIVATE int rlt_num_read_bound(relet_span s, double *out, int *open)
{
    s = rlt_span_cut(&s, '\0');
    *open = rlt_span_eat(&s, "(");
    *out = 0;
    if (s.n == 0)
        return 1;
    while (s.n > 0 && (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r'))) {
        s.p++;
        s.n--;
    }
    return s.n > 0 && rlt_num_read_any(s, out) && !num_is_nan(*out);
}

/* ----------------------------------------------------------------- printing */

static size_t num_word(char *out, const char *word, int minus)
{
    size_t n = strlen(word);

    if (minus)
        *out++ = '-';
    memcpy(out, word, n);
    return n + (size_t)minus;
}

static size_t num_special(char *out, double v)
{
    return num_word(out, num_is_nan(v) ? "nan" : "inf",
                    (int)(num_bits(v) >> 63));
}

static uint64_t num_pow10(int k)
{
    uint64_t v = 1;

    for (; k > 0; k--)
        v *= 10;
    return v;
}

/* m * 2^exp2 * 10^scale, rounded half to even; the result is below 2^62. */
static uint64_t num_scaled(uint64_t m, int exp2, int scale)
{
    rlt_big_ratio r;

    if (scale >= 0) {
        rlt_big_fixed(&r.over, m, exp2, scale);
        m = r.over.n > 0 ? r.over.w[0] : 0;
        return r.over.n > 1 ? m | (uint64_t)r.over.w[1] << 32 : m;
    }
    rlt_big_set(&r.over, m);
    rlt_big_set(&r.under, 1);
    rlt_big_pow5(&r.under, -scale);
    r.exp2 = exp2 + scale;
    m = rlt_big_round(&r, 64, 0, &exp2);
    rlt_assert(exp2 == 0);
    return m;
}

/* The first `digits` decimal digits of m * 2^exp2, m not 0, as one integer.
 * *exp10 is the decimal exponent of the first digit. */
static uint64_t num_digits(uint64_t m, int exp2, int digits, int *exp10)
{
    uint64_t limit = num_pow10(digits), d;
    int log2 = exp2;

    for (; m >> (log2 - exp2) > 1; log2++)
        ;
    /* log10(2) * 2^18, rounded down or up: the estimate is never too high. */
    *exp10 = log2 >= 0 ? (log2 * 78913) >> 18
                       : -((-log2 * 78914 + (1 << 18) - 1) >> 18);
    d = num_scaled(m, exp2, digits - 1 - *exp10);
    if (d >= limit) {
        *exp10 += 1;
        d = num_scaled(m, exp2, digits - 1 - *exp10);
    }
    return d;
}

/* Writes "d.ddde+xx"; the digits have no zeros at the end. */
static size_t num_put_exponent(char *out, const char *digits, size_t n,
                               int exp10)
{
    size_t at = 0;
    unsigned e = (unsigned)(exp10 < 0 ? -exp10 : exp10);

    out[at++] = digits[0];
    if (n > 1) {
        out[at++] = '.';
        memcpy(out + at, digits + 1, n - 1);
        at += n - 1;
    }
    out[at++] = 'e';
    out[at++] = exp10 < 0 ? '-' : '+';
    if (e < 10)
        out[at++] = '0';
    return at + rlt_text_put_u64(out + at, e);
}

static size_t num_put_plain(char *out, const char *digits, size_t n, int exp10)
{
    size_t whole = exp10 < 0 ? 0 : (size_t)exp10 + 1, at = 0, i;

    if (whole == 0) {
        out[at++] = '0';
        out[at++] = '.';
        for (i = 1; i < (size_t)-exp10; i++)
            out[at++] = '0';
    }
    for (i = 0; i < n || i < whole; i++) {
        if (whole > 0 && i == whole)
            out[at++] = '.';
        out[at++] = i < n ? digits[i] : '0';
    }
    return at;
}

RELET_PRIVATE size_t rlt_num_g(char *out, double v, int digits)
{
    char text[20];
    uint64_t m;
    size_t n;
    int exp2, exp10 = 0, minus = (int)(num_bits(v) >> 63);

    if (!num_is_finite(v))
        return num_special(out, v);
    m = num_mantissa(v, &exp2);
    if (m == 0)
        return num_word(out, "0", minus);
    n = rlt_text_put_u64(text, num_digits(m, exp2, digits, &exp10));
    rlt_assert(n == (size_t)digits);
    while (n > 1 && text[n - 1] == '0')
        n--;
    if (minus)
        *out++ = '-';
    if (exp10 < -4 || exp10 >= digits)
        return (size_t)minus + num_put_exponent(out, text, n, exp10);
    return (size_t)minus + num_put_plain(out, text, n, exp10);
}

/* Fast path: most printed numbers are integers of up to 15 digits. 0: not
 * one. */
static size_t num_put_whole(char *out, double v)
{
    int64_t i;

    if (!(v > -1e15 && v < 1e15))
        return 0;
    i = (int64_t)v;
    if ((double)i < v || (double)i > v || (i == 0 && num_bits(v) != 0))
        return 0;
    return rlt_text_put_i64(out, i);
}

RELET_PRIVATE size_t rlt_num_score(char *out, double v)
{
    size_t n = num_put_whole(out, v);

    return n ? n : rlt_num_g(out, v, 17);
}
