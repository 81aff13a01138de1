/* SPDX-License-Identifier: MIT
 *
 * big.c - fractions of large integers, from text and to text, rounded once.
 */
#include "big.h"

/* ----------------------------------------------------------- large integers */

RELET_PRIVATE void rlt_big_set(rlt_big *b, uint64_t v)
{
    b->w[0] = (uint32_t)v;
    b->w[1] = (uint32_t)(v >> 32);
    b->n = b->w[1] ? 2 : b->w[0] ? 1 : 0;
}

/* b = b * mul + add */
static void big_scale(rlt_big *b, uint32_t mul, uint32_t add)
{
    uint64_t carry = add;
    int i;

    for (i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * mul;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        rlt_assert(b->n < RLT_BIG_WORDS);
        b->w[b->n++] = (uint32_t)carry;
    }
}

RELET_PRIVATE void rlt_big_pow5(rlt_big *b, int k)
{
    for (; k >= 13; k -= 13)
        big_scale(b, 1220703125u, 0);
    for (; k > 0; k--)
        big_scale(b, 5, 0);
}

static void big_shift(rlt_big *b, int bits)
{
    int words = bits / 32;

    if (b->n == 0)
        return;
    big_scale(b, (uint32_t)1 << bits % 32, 0);
    rlt_assert(b->n + words <= RLT_BIG_WORDS);
    memmove(b->w + words, b->w, (size_t)b->n * sizeof b->w[0]);
    memset(b->w, 0, (size_t)words * sizeof b->w[0]);
    b->n += words;
}

RELET_PRIVATE int rlt_big_bits(const rlt_big *b)
{
    int bits = b->n * 32;
    uint32_t top = b->n ? b->w[b->n - 1] : 0;

    for (; b->n && top >> 31 == 0; top <<= 1)
        bits--;
    return bits;
}

static int big_compare(const rlt_big *a, const rlt_big *b)
{
    int i;

    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (i = a->n - 1; i >= 0; i--)
        if (a->w[i] != b->w[i])
            return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

/* a = a - b; b is not larger */
static void big_take(rlt_big *a, const rlt_big *b)
{
    uint64_t borrow = 0, take;
    int i;

    for (i = 0; i < a->n; i++) {
        take = (i < b->n ? b->w[i] : 0) + borrow;
        borrow = a->w[i] < take;
        a->w[i] = (uint32_t)(a->w[i] - take);
    }
    while (a->n > 0 && a->w[a->n - 1] == 0)
        a->n--;
}

/* b = b / 10^9; returns the remainder. */
static uint32_t big_digits(rlt_big *b)
{
    uint64_t rest = 0;
    int i;

    for (i = b->n - 1; i >= 0; i--) {
        rest = rest << 32 | b->w[i];
        b->w[i] = (uint32_t)(rest / 1000000000u);
        rest %= 1000000000u;
    }
    while (b->n > 0 && b->w[b->n - 1] == 0)
        b->n--;
    return (uint32_t)rest;
}

/* ---------------------------------------------------------------- quotients */

/* Brings over / under into [1, 2), by moving powers of two to exp2. */
static void big_normal(rlt_big_ratio *r)
{
    int lead = rlt_big_bits(&r->over) - rlt_big_bits(&r->under);

    if (lead > 0)
        big_shift(&r->under, lead);
    else
        big_shift(&r->over, -lead);
    r->exp2 += lead;
    if (big_compare(&r->over, &r->under) < 0) {
        big_shift(&r->over, 1);
        r->exp2--;
    }
}

RELET_PRIVATE uint64_t rlt_big_round(rlt_big_ratio *r, int bits, int min,
                                     int *exp2)
{
    uint64_t m = 0, top = (uint64_t)1 << (bits - 1);
    int i, half;

    big_normal(r);
    *exp2 = RLT_MAX(r->exp2 - (bits - 1), min);
    for (i = r->exp2 - *exp2; i >= 0; i--) {
        m <<= 1;
        if (big_compare(&r->over, &r->under) >= 0) {
            big_take(&r->over, &r->under);
            m |= 1;
        }
        big_shift(&r->over, 1);
    }
    half = big_compare(&r->over, &r->under);
    if (r->exp2 - *exp2 < -1)
        half = -1;
    if (half < 0 || (half == 0 && (m & 1) == 0))
        return m;
    if (m == top + (top - 1)) {
        *exp2 += 1;
        return top;
    }
    return m + 1;
}

/* ------------------------------------------------------------------ reading */

static int big_text_digit(const rlt_big_text *t)
{
    int d = t->rest.n > 0 ? rlt_text_hex(t->rest.p[0]) : -1;

    return d < t->base ? d : -1;
}

static void big_text_next(rlt_big_text *t)
{
    t->rest.p++;
    t->rest.n--;
}

static void big_text_digits(rlt_big_text *t, rlt_big *over)
{
    int point = 0, step = t->base == 16 ? 4 : 1, d;

    for (;; big_text_next(t)) {
        if (!point && t->rest.n > 0 && t->rest.p[0] == '.') {
            point = 1;
            continue;
        }
        d = big_text_digit(t);
        if (d < 0)
            return;
        t->digits = 1;
        if (t->kept >= RLT_BIG_TEXT_MAX) { /* a nonzero digit breaks a tie  */
            over->w[0] |= d > 0;
            t->exp += point ? 0 : step;
            continue;
        }
        big_scale(over, (uint32_t)t->base, (uint32_t)d);
        t->kept += over->n > 0;
        t->exp -= point ? step : 0;
    }
}

/* 1 if the rest is an exponent or empty, else 0. */
static int big_text_exponent(rlt_big_text *t)
{
    relet_span s = t->rest;
    int64_t e = 0;
    int minus = 0;

    if (s.n == 0)
        return 1;
    if ((s.p[0] | 32) != (t->base == 16 ? 'p' : 'e'))
        return 0;
    big_text_next(t);
    minus = rlt_span_eat(&t->rest, "-");
    if (!minus)
        (void)rlt_span_eat(&t->rest, "+");
    if (t->rest.n == 0)
        return 0;
    for (; t->rest.n > 0; big_text_next(t)) {
        if (t->rest.p[0] < '0' || t->rest.p[0] > '9')
            return 0;
        if (e < (int64_t)1 << 40)
            e = e * 10 + (t->rest.p[0] - '0');
    }
    t->exp += minus ? -e : e;
    return 1;
}

RELET_PRIVATE int rlt_big_read(rlt_big_text *t, relet_span s, rlt_big *over)
{
    memset(t, 0, sizeof *t);
    over->n = 0;
    over->w[0] = 0;
    t->base = 10;
    t->minus = rlt_span_eat(&s, "-");
    if (!t->minus)
        (void)rlt_span_eat(&s, "+");
    t->inf = rlt_span_is_nocase(s, "inf") || rlt_span_is_nocase(s, "infinity");
    if (t->inf)
        return 1;
    if (rlt_span_eat(&s, "0x") || rlt_span_eat(&s, "0X"))
        t->base = 16;
    t->rest = s;
    big_text_digits(t, over);
    return t->digits && big_text_exponent(t);
}

RELET_PRIVATE int64_t rlt_big_height(const rlt_big_text *t, const rlt_big *over)
{
    return t->exp + (t->base == 16 ? rlt_big_bits(over) : t->kept);
}

RELET_PRIVATE void rlt_big_ratio_of(const rlt_big_text *t, rlt_big_ratio *r)
{
    int exp = (int)t->exp;

    rlt_big_set(&r->under, 1);
    r->exp2 = exp;
    if (t->base == 16)
        return;
    if (exp > 0)
        rlt_big_pow5(&r->over, exp);
    else
        rlt_big_pow5(&r->under, -exp);
}

/* ----------------------------------------------------------------- printing */

static int big_bit(const rlt_big *b, int i)
{
    return i < b->n * 32 && (b->w[i / 32] >> i % 32 & 1) != 0;
}

/* b / 2^bits, half to even; bits is above 0 */
static void big_unshift(rlt_big *b, int bits)
{
    int half = big_bit(b, bits - 1), rest = 0, i, words = bits / 32;
    uint64_t two;

    for (i = 0; i < bits - 1 && i < b->n * 32; i++)
        rest |= big_bit(b, i);
    b->n = RLT_MAX(b->n - words, 0);
    for (i = 0; i < b->n; i++) {
        two = b->w[i + words];
        if (i + 1 < b->n)
            two |= (uint64_t)b->w[i + words + 1] << 32;
        b->w[i] = (uint32_t)(two >> bits % 32);
    }
    while (b->n > 0 && b->w[b->n - 1] == 0)
        b->n--;
    if (half && (rest || big_bit(b, 0)))
        big_scale(b, 1, 1);
}

RELET_PRIVATE void rlt_big_fixed(rlt_big *b, uint64_t m, int exp2, int decimals)
{
    rlt_big_set(b, m);
    rlt_big_pow5(b, decimals);
    exp2 += decimals;
    if (exp2 < 0)
        big_unshift(b, -exp2);
    else
        big_shift(b, exp2);
}

static size_t big_put(char *out, rlt_big *b)
{
    uint32_t part[560];
    size_t n, at, i, k = 0;

    do
        part[k++] = big_digits(b);
    while (b->n > 0);
    n = rlt_text_put_u64(out, part[--k]);
    while (k > 0) {
        at = n + 9;
        k--;
        for (i = 0; i < 9; i++, part[k] /= 10)
            out[--at] = (char)('0' + part[k] % 10);
        n += 9;
    }
    return n;
}

RELET_PRIVATE size_t rlt_big_put_fixed(char *out, rlt_big *b, size_t decimals,
                                       int minus)
{
    size_t n, zeros, at = (size_t)minus;

    out[0] = '-';
    n = big_put(out + at, b);
    zeros = n > decimals ? 0 : decimals + 1 - n;
    memmove(out + at + zeros, out + at, n);
    memset(out + at, '0', zeros);
    n += zeros + at;
    if (decimals == 0)
        return n;
    memmove(out + n - decimals + 1, out + n - decimals, decimals);
    out[n - decimals] = '.';
    return n + 1;
}
