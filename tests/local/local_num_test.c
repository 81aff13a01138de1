/* SPDX-License-Identifier: MIT
 *
 * local_num_test.c - fractions as servers read, add and print them.
 *
 * The tests compare doubles with libc; long doubles, where these have 64 bits,
 * with the compiler's own; and on every machine with vectors recorded from a
 * server. */
#include "local_data.h"
#include "num.h"

#include <errno.h>
#include <float.h>
#include <math.h>

static double t_double(void)
{
    uint64_t bits = rlt_rand_next(&t_dice);
    double v;

    switch (t_below(6)) {
    case 0:
        return (double)(int64_t)bits / 1000;
    case 1:
        return (double)(t_below(2000000)) / 100;
    case 2:
        return (double)(int64_t)bits;
    case 3:
        bits &= ~((uint64_t)0x7ff << 52) | (uint64_t)t_below(3) << 52;
        break;
    case 4:
        bits &= ~(((uint64_t)1 << t_below(52)) - 1);
        break;
    default:
        break;
    }
    memcpy(&v, &bits, sizeof v);
    return v;
}

static const double t_edges[] = {
    0.0,   -0.0,     1.0,     -1.0,      0.1,     1e15,   1e16,  1e17,
    1e18,  1e21,     1e22,    1e23,      9.5,     99999.5, 0.5,  1.5,
    2.5,   DBL_MAX,  DBL_MIN, 5e-324,    0.0001,  0.00001, 1e-5, 123456789,
    1e100, 9.9999999999999999e22, 9007199254740993.0, 1e308, 4.35, 0.3};

#define T_EDGES (sizeof t_edges / sizeof t_edges[0])

static int t_prints(double v)
{
    char want[400], got[RLT_NUM_MAX];
    size_t n;
    int digits;

    for (digits = 1; digits <= 17; digits++) {
        snprintf(want, sizeof want, "%.*g", digits, v);
        n = rlt_num_g(got, v, digits);
        if (n != strlen(want) || memcmp(got, want, n) != 0) {
            printf("%.*s is not %s\n", (int)n, got, want);
            return 0;
        }
    }
    n = rlt_num_score(got, v);
    snprintf(want, sizeof want, "%.17g", v);
    return n == strlen(want) && memcmp(got, want, n) == 0;
}

TEST doubles_print_as_printf_has_them(void)
{
    size_t i;

    rlt_rand_seed(&t_dice, 1);
    for (i = 0; i < T_EDGES; i++)
        ASSERT(t_prints(t_edges[i]) && t_prints(-t_edges[i]));
    for (i = 0; i < 3000; i++)
        ASSERT(t_prints(t_double()));
    ASSERT(t_prints(HUGE_VAL) && t_prints(-HUGE_VAL));
    PASS();
}

/* Accepts the texts of strtod, except leading blanks, NaN, and numbers out of
 * range. */
static int t_reads(const char *text)
{
    char *end;
    double want, got = 7;
    int good;

    errno = 0;
    want = strtod(text, &end);
    good = *text && *text != ' ' && *end == '\0' && !isnan(want) &&
           !(errno == ERANGE && (fabs(want) == HUGE_VAL || want == 0));
    if (rlt_num_read(t_text(text), &got) != good) {
        printf("%s: %s\n", text, good ? "refused" : "taken");
        return 0;
    }
    if (good ? memcmp(&got, &want, sizeof got) != 0 : got != 7) {
        printf("%s: %.17g is not %.17g\n", text, got, want);
        return 0;
    }
    return 1;
}

static const char *const t_texts[] = {
    "", "0", "-0", "+0", "1", "+1", "-1", "1.", ".5", ".", "-", "+", "e5",
    "1e5", "1e", "1e+", "1e+5", "1E5", "1e400", "-1e400", "1e-400", "0e-400",
    "0.0e999999999999999999999", "1e-320", "inf", "-inf", "+inf", "Infinity",
    "-INFINITY", "infinit", "nan", "-nan", "nan(5)", "NaN", " 1", "1 ", "1a",
    "0x", "0x1", "-0x1", "0X1P3", "0x1p", "0x1p-", "0x1p-1074", "0x1p-1075",
    "0x1.8p-1075", "0x1p-1076", "0x1p1023", "0x1p1024", "0x1.fffffffffffff8p0",
    "0x1.fffffffffffff7ffp0", "0x1.fffffffffffff8p1023", "0x.8", "0x.", "0x8.",
    "0xg", "0x1e5", "0xabcdefp0", "0xABCDEF.123456789abcdef01234p5", "x1",
    "--1", "+-1", "0x0p0", "-0x0", "0x0p99999999999999999999", "1_0", "1,5",
    "0x1p99999999999999999999", "0x1p-99999999999999999999", "0x-1", "++1",
    "0x00000000000000000000000000000001", "1e5.5", "i",
    "0x1.0000000000000800p0",
    "0x1.0000000000000801p0", "0x1.00000000000018p0"};

#define T_TEXTS (sizeof t_texts / sizeof t_texts[0])

TEST doubles_read_as_strtod_has_them(void)
{
    char text[64];
    size_t i;

#ifndef __GLIBC__
    SKIPm("servers read them with glibc, and libcs differ");
#endif
    rlt_rand_seed(&t_dice, 3);
    for (i = 0; i < T_TEXTS; i++)
        ASSERT(t_reads(t_texts[i]));
    for (i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, i % 2 ? "%a" : "%.19g", t_double());
        ASSERT(t_reads(text));
    }
    PASS();
}

TEST a_nul_belongs_to_the_text(void)
{
    double v;

    ASSERT(!rlt_num_read(t_span("1\0", 2), &v));
    ASSERT(!rlt_num_read(t_span("0x1\0", 4), &v));
    PASS();
}

TEST a_long_hexadecimal_text_is_rounded_as_a_whole(void)
{
    static char text[9000];
    double v;

    memset(text, '0', sizeof text);
    memcpy(text, "0x1.00000000000008", 18);
    ASSERT(rlt_num_read(t_span(text, 8000), &v));
    ASSERT(!(v > 1));
    text[7999] = '1';
    ASSERT(rlt_num_read(t_span(text, 8000), &v));
    ASSERT(v > 1);
    memset(text + 2, 'f', sizeof text - 2);
    ASSERT(!rlt_num_read(t_span(text, 8000), &v));
    memcpy(text + 7994, "p-31000", 7);
    ASSERT(rlt_num_read(t_span(text, 8001), &v));
    PASS();
}

static int t_bound(const char *text, double want, int want_open)
{
    double v = 0;
    int open = 7;

    return rlt_num_read_bound(t_text(text), &v, &open) && v == want &&
           open == want_open;
}

TEST a_bound_is_read_with_all_that_strtod_forgives(void)
{
    double v;
    int open;

    ASSERT(t_bound("5", 5, 0));
    ASSERT(t_bound("(5", 5, 1));
    ASSERT(t_bound("", 0, 0));
    ASSERT(t_bound("(", 0, 1));
    ASSERT(t_bound(" \t5", 5, 0));
    ASSERT(t_bound("( 5", 5, 1));
    ASSERT(t_bound("-inf", -HUGE_VAL, 0));
    ASSERT(t_bound("(+inf", HUGE_VAL, 1));
    ASSERT(t_bound("1e999", HUGE_VAL, 0));
    ASSERT(t_bound("1e-999", 0, 0));
    ASSERT(rlt_num_read_bound(t_span("5\0x", 3), &v, &open) && v == 5);
    ASSERT(!rlt_num_read_bound(t_text(" "), &v, &open));
    ASSERT(!rlt_num_read_bound(t_text("5 "), &v, &open));
    ASSERT(!rlt_num_read_bound(t_text("nan"), &v, &open));
    ASSERT(!rlt_num_read_bound(t_text("((5"), &v, &open));
    ASSERT(!rlt_num_read_bound(t_text("[5"), &v, &open));
    PASS();
}

/* ------------------------------------------------------------------- adding */

static int t_sum(const char *a, const char *b, const char *want)
{
    static char got[RLT_LONG_MAX];
    rlt_long x, y;
    size_t n;

    if (!rlt_longdouble_read(t_text(a), &x) ||
        !rlt_longdouble_read(t_text(b), &y))
        return want == NULL;
    if (want == NULL)
        return 0;
    n = rlt_longdouble_text(got, rlt_longdouble_add(x, y));
    if (n == strlen(want) && memcmp(got, want, n) == 0)
        return 1;
    printf("%s + %s is %.*s, not %s\n", a, b, (int)n, got, want);
    return 0;
}

TEST sums_are_those_that_a_server_gave(void)
{
    ASSERT(t_sum("5", "0.1", "5.1"));
    ASSERT(t_sum("5.1", "0.2", "5.3"));
    ASSERT(t_sum("0.1", "0.2", "0.3"));
    ASSERT(t_sum("1e-17", "1e-18", "0.00000000000000001"));
    ASSERT(t_sum("1e-20", "0", "0"));
    ASSERT(t_sum("0", "-1e-30", "0"));
    ASSERT(t_sum("-0", "0", "0"));
    ASSERT(t_sum("1e-4950", "1", "1"));
    ASSERT(t_sum("1e-5000", "1", NULL));
    ASSERT(t_sum("1e5000", "1", NULL));
    ASSERT(t_sum("nan", "1", NULL));
    ASSERT(t_sum(" 1", "1", NULL));
    ASSERT(t_sum("", "1", NULL));
    ASSERT(t_sum("inf", "1", "inf"));
    ASSERT(t_sum("1", "-infinity", "-inf"));
    ASSERT(t_sum("-inf", "-inf", "-inf"));
    ASSERT(t_sum("inf", "-inf", "nan"));
    ASSERT(t_sum("1e4932", "1e4932", "inf"));
    ASSERT(t_sum("0x10", "1", "17"));
    PASS();
}

TEST a_text_that_is_too_long_is_not_a_number(void)
{
    static char text[5200];
    rlt_long v;

    memset(text, '9', sizeof text);
    text[1] = '.';
    ASSERT(rlt_longdouble_read(t_span(text, 5119), &v));
    ASSERT(!rlt_longdouble_read(t_span(text, 5120), &v));
    memcpy(text + 5113, "e-4940", 6);
    ASSERT(rlt_longdouble_read(t_span(text, 5119), &v));
    PASS();
}

#if LDBL_MANT_DIG == 64

/* Adds as a server does, with the compiler's own long double. */
static int t_as_libc(const char *a, const char *b)
{
    static char want[RLT_LONG_MAX + 64];
    char *end, *last;
    long double x, y;
    int bad = 0;

    errno = 0;
    x = strtold(a, &end);
    bad |= *end || (errno == ERANGE && (fabsl(x) == HUGE_VALL || x == 0));
    errno = 0;
    y = strtold(b, &end);
    bad |= *end || (errno == ERANGE && (fabsl(y) == HUGE_VALL || y == 0));
    if (bad)
        return t_sum(a, b, NULL);
    if (isinf(x + y) || isnan(x + y))
        return 1;
    snprintf(want, sizeof want, "%.17Lf", x + y);
    for (last = want + strlen(want) - 1; *last == '0'; last--)
        *last = '\0';
    if (*last == '.')
        *last = '\0';
    return t_sum(a, b, strcmp(want, "-0") == 0 ? "0" : want);
}

static void t_long_text(char *out, size_t cap)
{
    uint64_t m = rlt_rand_next(&t_dice);
    long double v;

    switch (t_below(6)) {
    case 0:
        snprintf(out, cap, "%.17g", t_double());
        return;
    case 1:
        snprintf(out, cap, "%d.%02d", (int)t_below(2000) - 1000,
                 (int)t_below(100));
        return;
    case 2:
        snprintf(out, cap, "%.25Le", ldexpl((long double)m,
                                            (int)t_below(140) - 100));
        return;
    case 3:
        snprintf(out, cap, "-%lld.%llue%d", (long long)(m >> t_below(63)),
                 (unsigned long long)rlt_rand_next(&t_dice),
                 (int)t_below(80) - 40);
        return;
    case 4:
        v = ldexpl((long double)m, (int)t_below(32800) - 16450);
        snprintf(out, cap, "%.30Le", v);
        return;
    default:
        snprintf(out, cap, "%La", ldexpl((long double)m, (int)t_below(9) - 64));
        return;
    }
}

TEST sums_are_those_of_64_bit_long_doubles(void)
{
    char a[128], b[128];
    int i;

    rlt_rand_seed(&t_dice, 5);
    for (i = 0; i < 4000; i++) {
        t_long_text(a, sizeof a);
        t_long_text(b, sizeof b);
        ASSERT(t_as_libc(a, b));
    }
    for (i = 0; i < (int)T_TEXTS; i++)
        if (strstr(t_texts[i], "nan") == NULL &&
            strstr(t_texts[i], "NaN") == NULL && t_texts[i][0] != '\0' &&
            t_texts[i][0] != ' ')
            ASSERT(t_as_libc(t_texts[i], "0.25"));
    PASS();
}

#else

TEST sums_are_those_of_64_bit_long_doubles(void)
{
    SKIPm("long double has other bits here");
}

#endif

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(doubles_print_as_printf_has_them);
    RUN_TEST(doubles_read_as_strtod_has_them);
    RUN_TEST(a_nul_belongs_to_the_text);
    RUN_TEST(a_long_hexadecimal_text_is_rounded_as_a_whole);
    RUN_TEST(a_bound_is_read_with_all_that_strtod_forgives);
    RUN_TEST(sums_are_those_that_a_server_gave);
    RUN_TEST(a_text_that_is_too_long_is_not_a_number);
    RUN_TEST(sums_are_those_of_64_bit_long_doubles);
    GREATEST_MAIN_END();
}
