/* SPDX-License-Identifier: MIT
 *
 * longdouble.c - the extended-precision numbers that INCRBYFLOAT adds.
 *
 * Redis uses the compiler's long double, with 64 bits of mantissa and 15 of
 * exponent; this gives the same results on machines without one. */
#include "longdouble.h"

#define LONGDOUBLE_BITS 64
#define LONGDOUBLE_MIN_EXP2 (-16445)
#define LONGDOUBLE_MAX_EXP2 16320

RELET_PRIVATE int rlt_longdouble_read(relet_span s, rlt_long *out)
{
    rlt_big_ratio r;
    rlt_big_text t;
    rlt_long v;
    int64_t height;

    if (s.n == 0 || s.n > RLT_BIG_TEXT_MAX || !rlt_big_read(&t, s, &r.over))
        return 0;
    memset(&v, 0, sizeof v);
    v.minus = (uint8_t)t.minus;
    v.inf = (uint8_t)t.inf;
    v.exp2 = LONGDOUBLE_MIN_EXP2;
    if (r.over.n > 0) {
        height = rlt_big_height(&t, &r.over);
        if (height > 16500 || height < -16500 ||
            (t.base == 10 && (height > 4940 || height < -4970)))
            return 0;
        rlt_big_ratio_of(&t, &r);
        v.mantissa =
            rlt_big_round(&r, LONGDOUBLE_BITS, LONGDOUBLE_MIN_EXP2, &v.exp2);
        if (v.mantissa == 0 || v.exp2 > LONGDOUBLE_MAX_EXP2)
            return 0;
    }
    *out = v;
    return 1;
}

static size_t longdouble_word(char *out, const char *word, int minus)
{
    size_t n = strlen(word);

    if (minus)
        *out++ = '-';
    memcpy(out, word, n);
    return n + (size_t)minus;
}

RELET_PRIVATE size_t rlt_longdouble_text(char *out, rlt_long v)
{
    rlt_big b;
    size_t n;

    if (v.inf)
        return longdouble_word(out, v.inf == 1 ? "inf" : "nan", v.minus);
    rlt_big_fixed(&b, v.mantissa, v.exp2, 17);
    n = rlt_big_put_fixed(out, &b, 17, v.minus);
    while (out[n - 1] == '0')
        n--;
    n -= out[n - 1] == '.';
    if (n == 2 && memcmp(out, "-0", 2) == 0)
        out[--n - 1] = '0';
    return n;
}

/* ------------------------------------------------------------------- adding */

/* A mantissa of 128 bits; exp2 is the exponent of the highest 64. `cut`:
 * nonzero bits below the lowest were cut off. */
typedef struct longdouble_wide {
    uint64_t high, low;
    int exp2, cut;
} longdouble_wide;

static longdouble_wide longdouble_wide_down(uint64_t m, int by)
{
    longdouble_wide w = {0, 0, 0, 0};

    if (by == 0) {
        w.high = m;
    } else if (by < 64) {
        w.high = m >> by;
        w.low = m << (64 - by);
    } else if (by < 128) {
        w.low = m >> (by - 64);
        w.cut = by > 64 && m << (128 - by) != 0;
    } else {
        w.cut = m != 0;
    }
    return w;
}

static void longdouble_wide_add(longdouble_wide *a, const longdouble_wide *b)
{
    uint64_t low = a->low + b->low, carry = low < a->low;
    uint64_t high = a->high + b->high + carry;
    int over = carry ? high <= a->high : high < a->high;

    a->cut = b->cut;
    a->low = low;
    a->high = high;
    if (!over)
        return;
    a->cut |= (int)(low & 1);
    a->low = low >> 1 | high << 63;
    a->high = high >> 1 | (uint64_t)1 << 63;
    a->exp2++;
}

/* a = a - b; b is not larger. If bits of b were cut, one more is borrowed. */
static void longdouble_wide_take(longdouble_wide *a, const longdouble_wide *b)
{
    uint64_t low = b->low + (uint64_t)b->cut;
    uint64_t carry = low < b->low;

    a->cut = b->cut;
    a->high -= b->high + carry + (a->low < low);
    a->low -= low;
    while (a->high >> 63 == 0 && (a->high | a->low) != 0 &&
           a->exp2 > LONGDOUBLE_MIN_EXP2) {
        a->high = a->high << 1 | a->low >> 63;
        a->low <<= 1;
        a->exp2--;
    }
}

static void longdouble_wide_round(const longdouble_wide *w, rlt_long *out)
{
    uint64_t half = (uint64_t)1 << 63;
    int up = w->low > half || (w->low == half && (w->cut || (w->high & 1)));

    out->mantissa = w->high + (uint64_t)up;
    out->exp2 = w->exp2;
    if (up && out->mantissa == 0) {
        out->mantissa = half;
        out->exp2++;
    }
    out->inf = out->exp2 > LONGDOUBLE_MAX_EXP2;
}

static int longdouble_smaller(rlt_long a, rlt_long b)
{
    return a.exp2 != b.exp2 ? a.exp2 < b.exp2 : a.mantissa < b.mantissa;
}

RELET_PRIVATE rlt_long rlt_longdouble_add(rlt_long a, rlt_long b)
{
    longdouble_wide wide = {0, 0, 0, 0}, small;
    rlt_long sum = a;

    if (a.inf || b.inf) {
        if (!a.inf)
            sum = b;
        else if (b.inf && a.minus != b.minus)
            sum.inf = 2;
        return sum;
    }
    /* A zero may have any exponent. */
    if (a.mantissa == 0)
        a.exp2 = LONGDOUBLE_MIN_EXP2;
    if (b.mantissa == 0)
        b.exp2 = LONGDOUBLE_MIN_EXP2;
    if (longdouble_smaller(a, b)) {
        sum = a;
        a = b;
        b = sum;
    }
    sum.minus = a.minus;
    wide.high = a.mantissa;
    wide.exp2 = a.exp2;
    small = longdouble_wide_down(b.mantissa, a.exp2 - b.exp2);
    if (a.minus == b.minus)
        longdouble_wide_add(&wide, &small);
    else
        longdouble_wide_take(&wide, &small);
    longdouble_wide_round(&wide, &sum);
    if (sum.mantissa == 0 && a.minus != b.minus)
        sum.minus = 0;
    return sum;
}
