/* SPDX-License-Identifier: MIT
 *
 * text.c - spans, numbers in decimal, and messages that never overflow.
 *
 * Doubles are converted with integers alone. So the result does not depend on
 * the locale, the rounding mode, or registers wider than a double. */

#include "text.h"

relet_span relet_str(const char *text)
{
    relet_span s;

    s.p = text;
    s.n = text == NULL ? 0 : strlen(text);
    return s;
}

#ifndef RELET_SMALL

const char *relet_code_text(int code)
{
    switch (code) {
    case 0:
        return "ok";
    case RELET_E_CONFIG:
        return "a setting is wrong";
    case RELET_E_LIMIT:
        return "a limit is reached";
    case RELET_E_MEMORY:
        return "out of memory";
    case RELET_E_REFUSED:
        return "this may not be sent";
    case RELET_E_STOPPED:
        return "the client is stopped";
    case RELET_E_TIMEOUT:
        return "no outcome in time";
    case RELET_E_SYSTEM:
        return "the operating system refused";
    case RELET_E_FORKED:
        return "another process opened this client";
    }
    return "unknown code";
}

#endif

/* ------------------------------------------------------------------- spans */

RELET_PRIVATE relet_span rlt_span(const char *p, size_t n)
{
    relet_span s;

    s.p = p;
    s.n = n;
    return s;
}

int rlt_span_same(relet_span a, relet_span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int rlt_span_is(relet_span s, const char *word)
{
    return rlt_span_same(s, relet_str(word));
}

int rlt_span_eat(relet_span *s, const char *word)
{
    size_t n = strlen(word);

    if (s->n < n || (n > 0 && memcmp(s->p, word, n) != 0))
        return 0;
    if (n > 0)
        s->p += n;
    s->n -= n;
    return 1;
}

static char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int rlt_span_is_nocase(relet_span s, const char *word)
{
    size_t i;

    if (s.n != strlen(word))
        return 0;
    for (i = 0; i < s.n; i++)
        if (text_lower(s.p[i]) != text_lower(word[i]))
            return 0;
    return 1;
}

relet_span rlt_span_cut(relet_span *s, char at)
{
    relet_span head = *s;
    const char *found = NULL;

    if (s->n > 0)
        found = (const char *)memchr(s->p, at, s->n);
    if (found == NULL) {
        *s = relet_str(NULL);
        return head;
    }
    head.n = (size_t)(found - s->p);
    s->p = found + 1;
    s->n -= head.n + 1;
    return head;
}

/* ---------------------------------------------------------------- integers */

static int text_digit(char c)
{
    return c >= '0' && c <= '9';
}

int rlt_text_hex(char c)
{
    if (text_digit(c))
        return c - '0';
    c = text_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int rlt_text_int(const char *p, size_t n, int64_t *out)
{
    uint64_t v = 0, limit = INT64_MAX;
    int minus = n > 0 && *p == '-';
    size_t i;

    if (n > 0 && (*p == '-' || *p == '+')) {
        p++;
        n--;
    }
    if (n < 1 || n > 19)
        return 0;
    for (i = 0; i < n; i++) {
        if (!text_digit(p[i]))
            return 0;
        v = v * 10 + (uint64_t)(p[i] - '0');
    }
    if (v > limit + (uint64_t)minus)
        return 0;
    /* -1 - (v - 1), so that the smallest int64 needs no larger type. */
    *out = minus && v > 0 ? -1 - (int64_t)(v - 1) : (int64_t)v;
    return 1;
}

size_t rlt_text_put_u64(char *out, uint64_t v)
{
    const char *pairs = rlt_text_pairs();
    char digits[20];
    size_t at = sizeof digits;

    if (v < 10) { /* most lengths and most integers are this small           */
        *out = (char)('0' + v);
        return 1;
    }
    while (v >= 100) {
        at -= 2;
        memcpy(digits + at, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + v * 2, 2);
    } else {
        digits[--at] = (char)('0' + v);
    }
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t rlt_text_put_i64(char *out, int64_t v)
{
    if (v >= 0)
        return rlt_text_put_u64(out, (uint64_t)v);
    *out = '-';
    return 1 + rlt_text_put_u64(out + 1, 0 - (uint64_t)v);
}

/* ----------------------------------------------------------------- doubles
 *
 * A text is digits * 10^exp10. First that product is formed in 64 bits, with a
 * bound on its error. A double keeps 53 of these bits. So the error matters
 * only if the other 11 bits are closer to one half than the error bound: about
 * one text in twenty. Such a text is compared exactly, in large integers, with
 * the middle between the two neighbouring doubles. */

/* A middle between two doubles has 767 digits at most. If a digit behind those
 * that are kept is not zero, a single 1 in their place compares the same. */
#define TEXT_DIGITS_MAX 768

/* Holds the digits, or a middle times a power of five: 2560 bits, and one step
 * more. */
#define TEXT_BIG_WORDS 88

#define TEXT_INF ((uint64_t)0x7ff << 52)
#define TEXT_NAN ((uint64_t)0xfff << 51)

typedef struct text_decimal {
    const char *p;   /* the first digit that is not 0             */
    size_t n;        /* bytes from p on: the digits and a point   */
    uint64_t head;   /* the first 19 digits                       */
    int64_t exp10;   /* power of ten of the last digit in head    */
    int cut;         /* head lacks digits that are not 0          */
    int minus;
} text_decimal;

typedef struct text_big {
    uint32_t w[TEXT_BIG_WORDS]; /* least significant word first */
    int n;
} text_big;

/* Finds the significant digits at p and reads the first 19 of them. Returns
 * the number of bytes that all digits and a point take, 0 without a digit. */
static size_t text_digits(text_decimal *d, const char *p, size_t n)
{
    int point = 0, digits = 0, kept = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        if (p[i] == '.' && !point) {
            point = 1;
            continue;
        }
        if (!text_digit(p[i]))
            break;
        digits = 1;
        if (kept == 0 && p[i] == '0') {
            d->exp10 -= point;
            continue;
        }
        if (kept == 0)
            d->p = p + i;
        if (kept < 19) {
            d->head = d->head * 10 + (uint64_t)(p[i] - '0');
            d->exp10 -= point;
            kept++;
        } else {
            d->cut |= p[i] != '0';
            d->exp10 += !point;
        }
    }
    d->n = kept > 0 ? (size_t)(p + i - d->p) : 0;
    return digits ? i : 0;
}

/* Reads the exponent behind the digits. An exponent of 2^56 or more takes no
 * further digits: no text is long enough to bring such a number back into
 * range. */
static int text_exponent(text_decimal *d, const char *p, size_t n)
{
    int64_t e = 0;
    int minus;
    size_t i;

    if (n < 2 || text_lower(*p) != 'e')
        return 0;
    minus = p[1] == '-';
    i = 1 + (size_t)(minus || p[1] == '+');
    if (i == n)
        return 0;
    for (; i < n; i++) {
        if (!text_digit(p[i]))
            return 0;
        if (e < (int64_t)1 << 56)
            e = e * 10 + (p[i] - '0');
    }
    d->exp10 += minus ? -e : e;
    return 1;
}

static int text_decimal_read(text_decimal *d, const char *p, size_t n)
{
    size_t used;

    memset(d, 0, sizeof *d);
    d->minus = n > 0 && *p == '-';
    if (n > 0 && (*p == '-' || *p == '+')) {
        p++;
        n--;
    }
    used = text_digits(d, p, n);
    if (used == 0)
        return 0;
    return used == n || text_exponent(d, p + used, n - used);
}

/* b = b * mul + add */
static void text_big_scale(text_big *b, uint32_t mul, uint32_t add)
{
    uint64_t carry = add;
    int i;

    for (i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * mul;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        rlt_assert(b->n < TEXT_BIG_WORDS);
        b->w[b->n++] = (uint32_t)carry;
    }
}

static void text_big_pow5(text_big *b, int64_t k)
{
    for (; k >= 13; k -= 13)
        text_big_scale(b, 1220703125u, 0);
    for (; k > 0; k--)
        text_big_scale(b, 5, 0);
}

static void text_big_shift(text_big *b, int64_t bits)
{
    int words = (int)(bits / 32);

    text_big_scale(b, (uint32_t)1 << bits % 32, 0);
    rlt_assert(b->n + words <= TEXT_BIG_WORDS);
    memmove(b->w + words, b->w, (size_t)b->n * sizeof b->w[0]);
    memset(b->w, 0, (size_t)words * sizeof b->w[0]);
    b->n += words;
}

static int text_big_compare(const text_big *a, const text_big *b)
{
    int i;

    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (i = a->n - 1; i >= 0; i--)
        if (a->w[i] != b->w[i])
            return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

/* Sets b to all digits of d, or to as many as matter. *exp10 is the power of
 * ten of the last one. */
static void text_big_digits(text_big *b, const text_decimal *d, int64_t *exp10)
{
    int kept = 0, rest = 0;
    size_t i;

    b->n = 0;
    for (i = 0; i < d->n; i++) {
        if (d->p[i] == '.')
            continue;
        if (kept < TEXT_DIGITS_MAX)
            text_big_scale(b, 10, (uint32_t)(d->p[i] - '0'));
        else
            rest |= d->p[i] != '0';
        kept++;
    }
    *exp10 = d->exp10 + RLT_MIN(kept, 19) - RLT_MIN(kept, TEXT_DIGITS_MAX);
    if (rest) {
        text_big_scale(b, 10, 1);
        *exp10 -= 1;
    }
}

/* Compares d with (2 * m + 1) * 2^exp2: below 0, 0 or above 0. */
static int text_compare_middle(const text_decimal *d, uint64_t m, int exp2)
{
    text_big digits, middle;
    uint64_t odd = 2 * m + 1;
    int64_t exp10, shift;

    text_big_digits(&digits, d, &exp10);
    middle.w[0] = (uint32_t)odd;
    middle.w[1] = (uint32_t)(odd >> 32);
    middle.n = middle.w[1] != 0 ? 2 : 1;
    shift = exp10 - exp2;
    text_big_pow5(&digits, exp10);
    text_big_pow5(&middle, -exp10);
    text_big_shift(&digits, shift > 0 ? shift : 0);
    text_big_shift(&middle, shift < 0 ? -shift : 0);
    return text_big_compare(&digits, &middle);
}

uint64_t rlt_text_mul_high(uint64_t a, uint64_t b)
{
    uint64_t low = 0xffffffffu;
    uint64_t mid = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
    uint64_t more = (a & low) * (b >> 32) + (mid & low);

    return (a >> 32) * (b >> 32) + (mid >> 32) + (more >> 32);
}

/* mantissa * 2^exp2, with the mantissa's highest bit set. */
typedef struct text_wide {
    uint64_t mantissa;
    int exp2;
} text_wide;

/* 10^(2^i) and 10^-(2^i), each rounded to the nearest mantissa. */
static const struct text_power {
    uint64_t mantissa[2];
    int exp2[2];
} text_powers[9] = {
    {{0xa000000000000000, 0xcccccccccccccccd}, {-60, -67}},
    {{0xc800000000000000, 0xa3d70a3d70a3d70a}, {-57, -70}},
    {{0x9c40000000000000, 0xd1b71758e219652c}, {-50, -77}},
    {{0xbebc200000000000, 0xabcc77118461cefd}, {-37, -90}},
    {{0x8e1bc9bf04000000, 0xe69594bec44de15b}, {-10, -117}},
    {{0x9dc5ada82b70b59e, 0xcfb11ead453994ba}, {43, -170}},
    {{0xc2781f49ffcfa6d5, 0xa87fea27a539e9a5}, {149, -276}},
    {{0x93ba47c980e98ce0, 0xddd0467c64bce4a1}, {362, -489}},
    {{0xaa7eebfb9df9de8e, 0xc0314325637a193a}, {787, -914}},
};

/* head * 10^k for |k| < 512. The error of the mantissa is below 64 either way:
 * each of at most nine steps is off by 2.5 * 2^-63 of the value, and the
 * digits cut from head are worth 10^-18 of it. */
static text_wide text_wide_scale(uint64_t head, int k)
{
    text_wide w;
    int below = k < 0, i;

    w.mantissa = head;
    w.exp2 = 0;
    for (; w.mantissa >> 63 == 0; w.exp2--)
        w.mantissa <<= 1;
    k = below ? -k : k;
    for (i = 0; k >> i != 0; i++) {
        if ((k >> i & 1) == 0)
            continue;
        w.mantissa =
            rlt_text_mul_high(w.mantissa, text_powers[i].mantissa[below]);
        w.exp2 += text_powers[i].exp2[below] + 64;
        if (w.mantissa >> 63 == 0) {
            w.mantissa <<= 1;
            w.exp2--;
        }
    }
    return w;
}

/* The bits of the double that is nearest to d, without its sign. A mantissa
 * that rounds up to 2^53 carries into the exponent, as it should. */
static uint64_t text_round(const text_decimal *d)
{
    text_wide w = text_wide_scale(d->head, (int)d->exp10);
    uint64_t loss = d->exp10 != 0 || d->cut ? 64 : 0;
    uint64_t m, rest, half;
    int biased = w.exp2 + 63 + 1023, shift = 11, order, up;

    if (biased >= 2047)
        return TEXT_INF;
    if (biased < 1) { /* subnormal: fewer bits, the last one at 2^-1074 */
        shift += 1 - biased;
        biased = 1;
    }
    if (shift >= 128)
        return 0;
    if (shift > 64) {
        w.mantissa >>= shift - 64;
        shift = 64;
    }
    m = shift == 64 ? 0 : w.mantissa >> shift;
    rest = shift == 64 ? w.mantissa : w.mantissa - (m << shift);
    half = (uint64_t)1 << (shift - 1);
    up = rest > half;
    if ((up ? rest - half : half - rest) <= loss) {
        order = text_compare_middle(d, m, biased - 1076);
        up = order > 0 || (order == 0 && (m & 1) == 1);
    }
    return ((uint64_t)(biased - 1) << 52) + m + (uint64_t)up;
}

/* The bits of inf, nan or nan(...), in any case; the caller has taken a sign
 * off. Returns 0, which is none of these, for any other text. */
static uint64_t text_word(relet_span s)
{
    relet_span inner;

    if (rlt_span_is_nocase(s, "inf"))
        return TEXT_INF;
    if (rlt_span_is_nocase(s, "nan"))
        return TEXT_NAN;
    if (s.n < 5 || s.p[s.n - 1] != ')')
        return 0;
    inner = rlt_span_cut(&s, '(');
    return s.p != NULL && rlt_span_is_nocase(inner, "nan") ? TEXT_NAN : 0;
}

/* With exp10 below -345 the result is 0 whatever the digits, with exp10 above
 * 310 it is inf. */
static uint64_t text_bits(const text_decimal *d)
{
    if (d->head == 0 || d->exp10 < -345)
        return 0;
    return d->exp10 > 310 ? TEXT_INF : text_round(d);
}

int rlt_text_double(const char *p, size_t n, double *out)
{
    text_decimal d;
    relet_span word;
    uint64_t bits;

    if (text_decimal_read(&d, p, n)) {
        bits = text_bits(&d);
    } else {
        word.p = p;
        word.n = n;
        if (!rlt_span_eat(&word, "-"))
            (void)rlt_span_eat(&word, "+");
        bits = text_word(word);
        if (bits == 0)
            return 0;
    }
    bits |= (uint64_t)d.minus << 63;
    memcpy(out, &bits, sizeof bits);
    return 1;
}

/* ---------------------------------------------------------------- messages */

#ifndef RELET_SMALL

RLT_APART void rlt_say_init(rlt_say *s, char *p, size_t cap)
{
    rlt_assert(cap > 0);
    s->p = p;
    s->cap = cap;
    s->n = 0;
    *p = '\0';
}

static void say_bytes(rlt_say *s, const char *p, size_t n)
{
    size_t room = s->cap - 1 - s->n;

    n = RLT_MIN(n, room);
    memcpy(s->p + s->n, p, n);
    s->n += n;
    s->p[s->n] = '\0';
}

void rlt_say_text(rlt_say *s, const char *t)
{
    say_bytes(s, t, strlen(t));
}

void rlt_say_span(rlt_say *s, relet_span t)
{
    static const char hex[17] = "0123456789abcdef";
    char code[4] = {'\\', 'x', '0', '0'};
    size_t i;

    for (i = 0; i < t.n; i++) {
        if (t.p[i] >= ' ' && t.p[i] <= '~') {
            say_bytes(s, t.p + i, 1);
            continue;
        }
        code[2] = hex[(uint8_t)t.p[i] >> 4];
        code[3] = hex[(uint8_t)t.p[i] & 15];
        say_bytes(s, code, sizeof code);
    }
}

void rlt_say_int(rlt_say *s, int64_t v)
{
    char digits[20];
    size_t n = rlt_text_put_i64(digits, v);

    say_bytes(s, digits, n);
}

#endif

RELET_PRIVATE size_t rlt_span_put(char *out, size_t at, relet_span s)
{
    if (s.n > 0)
        memcpy(out + at, s.p, s.n);
    return at + s.n;
}
