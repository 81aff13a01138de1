/* SPDX-License-Identifier: MIT
 *
 * text_test.c - tests of spans, decimal numbers, and sentences that never
 * overflow.
 */

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "greatest.h"

#define T_COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t t_state = 1;

static uint64_t t_next(void)
{
    t_state ^= t_state << 13;
    t_state ^= t_state >> 7;
    t_state ^= t_state << 17;
    return t_state;
}

/* A random number: each number of bits is as likely as any other. */
static uint64_t t_any(void)
{
    return t_next() >> (t_next() % 64);
}

static uint64_t t_bits(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static double t_double(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

/* ------------------------------------------------------------------- spans */

TEST a_null_string_is_an_empty_span(void)
{
    relet_span s = relet_str(NULL);

    ASSERT_EQ(NULL, s.p);
    ASSERT_EQ(0, s.n);
    PASS();
}

TEST eating_takes_a_word_off_the_front_or_nothing(void)
{
    relet_span s = relet_str("MOVED 7");

    ASSERT_EQ(0, rlt_span_eat(&s, "ASK "));
    ASSERT_EQ(0, rlt_span_eat(&s, "MOVED 7 and more"));
    ASSERT(rlt_span_is(s, "MOVED 7"));
    ASSERT_EQ(1, rlt_span_eat(&s, "MOVED "));
    ASSERT(rlt_span_is(s, "7"));
    ASSERT_EQ(1, rlt_span_eat(&s, ""));
    ASSERT(rlt_span_is(s, "7"));
    PASS();
}

TEST the_null_span_equals_an_empty_one(void)
{
    ASSERT(rlt_span_same(relet_str(NULL), relet_str("")));
    ASSERT(!rlt_span_same(relet_str(NULL), relet_str("a")));
    PASS();
}

TEST spans_are_compared_behind_a_nul_too(void)
{
    relet_span a = {"x\0y", 3}, b = {"x\0z", 3};

    ASSERT(!rlt_span_same(a, b));
    ASSERT(rlt_span_same(a, a));
    ASSERT(!rlt_span_is(a, "x"));
    PASS();
}

TEST case_is_folded_for_letters_only(void)
{
    ASSERT(rlt_span_is_nocase(relet_str("NaN"), "nan"));
    ASSERT(!rlt_span_is_nocase(relet_str("NaN"), "nano"));
    ASSERT(!rlt_span_is_nocase(relet_str("@"), "`"));
    ASSERT(!rlt_span_is_nocase(relet_str("["), "{"));
    PASS();
}

TEST cutting_tells_an_absent_mark_from_an_empty_rest(void)
{
    relet_span s = relet_str("a:b:"), head;

    head = rlt_span_cut(&s, ':');
    ASSERT(rlt_span_is(head, "a"));
    head = rlt_span_cut(&s, ':');
    ASSERT(rlt_span_is(head, "b"));
    ASSERT(s.p != NULL);
    ASSERT_EQ(0, s.n);
    head = rlt_span_cut(&s, ':');
    ASSERT_EQ(0, head.n);
    ASSERT_EQ(NULL, s.p);
    head = rlt_span_cut(&s, ':');
    ASSERT_EQ(NULL, head.p);
    PASS();
}

/* ---------------------------------------------------------------- integers */

TEST integers_are_read_over_their_whole_range(void)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"+0", 0},
                {"7", 7},
                {"+7", 7},
                {"-7", -7},
                {"007", 7},
                {"0000000000000000001", 1},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775807", -INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    int64_t v;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        v = 99;
        ASSERT_EQm(rows[i].text, 1,
                   rlt_text_int(rows[i].text, strlen(rows[i].text), &v));
        ASSERT_EQm(rows[i].text, rows[i].value, v);
    }
    PASS();
}

TEST a_text_that_is_no_integer_leaves_the_result_alone(void)
{
    static const char *const rows[] = {
        "", "+", "-", "+-1", "--1", " 1", "1 ", "1.", "1e3", "0x1", "a",
        "12a", "/", ":", "9223372036854775808", "-9223372036854775809",
        "9999999999999999999", "00000000000000000000", "18446744073709551616"};
    int64_t v = 99;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i], 0, rlt_text_int(rows[i], strlen(rows[i]), &v));
        ASSERT_EQm(rows[i], 99, v);
    }
    PASS();
}

TEST a_nul_is_not_a_digit(void)
{
    int64_t v = 99;

    ASSERT_EQ(0, rlt_text_int("1\0", 2, &v));
    PASS();
}

TEST unsigned_digits_are_those_of_printf(void)
{
    char ours[21], theirs[32];
    uint64_t v = 1;
    int i;

    for (i = 0; i < 20000; i++) {
        /* First numbers around each power of ten, then random ones. */
        v = i < 60 ? (i % 3 == 0 && i > 0 ? v * 10 : v) : t_any();
        ours[rlt_text_put_u64(ours, i < 60 ? v + (uint64_t)(i % 3) - 1 : v)] =
            '\0';
        (void)snprintf(theirs, sizeof theirs, "%llu",
                       (unsigned long long)(i < 60 ? v + (uint64_t)(i % 3) - 1
                                                   : v));
        ASSERT_STR_EQ(theirs, ours);
    }
    ASSERT_EQ(20, rlt_text_put_u64(ours, UINT64_MAX));
    ASSERT_MEM_EQ("18446744073709551615", ours, 20);
    PASS();
}

TEST signed_digits_read_back_as_the_same_number(void)
{
    static const int64_t edges[] = {0, 1, -1, 9, 10, -10, 99, 100, -100,
                                    INT64_MAX, INT64_MIN};
    char text[20];
    int64_t v, back;
    size_t i, n;

    for (i = 0; i < 20000; i++) {
        v = i < T_COUNT(edges) ? edges[i] : (int64_t)(t_any() >> 1);
        v = i % 2 == 0 || v == INT64_MIN ? v : -v;
        n = rlt_text_put_i64(text, v);
        ASSERT_EQ(1, rlt_text_int(text, n, &back));
        ASSERT_EQ(v, back);
    }
    ASSERT_EQ(20, rlt_text_put_i64(text, INT64_MIN));
    ASSERT_MEM_EQ("-9223372036854775808", text, 20);
    PASS();
}

TEST a_hex_digit_has_either_case(void)
{
    static const char digits[] = "0123456789abcdef";
    static const char upper[] = "0123456789ABCDEF";
    static const char *others = "/:@G`g \0";
    int i;

    for (i = 0; i < 16; i++) {
        ASSERT_EQ(i, rlt_text_hex(digits[i]));
        ASSERT_EQ(i, rlt_text_hex(upper[i]));
    }
    for (i = 0; i < 8; i++)
        ASSERT_EQ(-1, rlt_text_hex(others[i]));
    PASS();
}

/* The high half of the product, by long multiplication in 16-bit columns. */
static uint64_t t_mul_high(uint64_t a, uint64_t b)
{
    uint64_t columns[8] = {0}, carry = 0, out = 0;
    int i, j;

    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++)
            columns[i + j] += (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);
    for (i = 0; i < 8; i++) {
        carry += columns[i];
        if (i >= 4)
            out |= (carry & 0xffff) << 16 * (i - 4);
        carry >>= 16;
    }
    return out;
}

TEST the_upper_half_of_a_product_holds_every_carry(void)
{
    uint64_t a, b;
    int i;

    ASSERT_EQ(UINT64_MAX - 1, rlt_text_mul_high(UINT64_MAX, UINT64_MAX));
    for (i = 0; i < 100000; i++) {
        a = t_any();
        b = i % 3 == 0 ? ~t_any() : t_any();
        ASSERT_EQ(t_mul_high(a, b), rlt_text_mul_high(a, b));
    }
    PASS();
}

/* ----------------------------------------------------------------- doubles */

TEST known_doubles_have_known_bits(void)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } rows[] = {
        {"0", 0},
        {"-0", 0x8000000000000000},
        {"0e999999999999999999999999", 0},
        {"-0.000e-7", 0x8000000000000000},
        {"1", 0x3ff0000000000000},
        {"+1", 0x3ff0000000000000},
        {".5", 0x3fe0000000000000},
        {"5.", 0x4014000000000000},
        {"-1.5e+0", 0xbff8000000000000},
        {"0.1", 0x3fb999999999999a},
        {"1E22", 0x4480f0cf064dd592},
        {"1e23", 0x44b52d02c7e14af6},
        {"9007199254740993", 0x4340000000000000},
        {"9007199254740993.0000000000000000000000001", 0x4340000000000001},
        {"9007199254740995", 0x4340000000000002},
        {"18446744073709551615", 0x43f0000000000000},
        {"18446744073709551616", 0x43f0000000000000},
        {"2.2250738585072011e-308", 0x000fffffffffffff},
        {"2.2250738585072012e-308", 0x0010000000000000},
        {"2.2250738585072014e-308", 0x0010000000000000},
        {"5e-324", 1},
        {"2.4703282292062328e-324", 1},
        {"2.4703282292062327e-324", 0},
        {"2e-324", 0},
        {"1e-400", 0},
        {"1e-99999999999999999999", 0},
        {"1.7976931348623158e308", 0x7fefffffffffffff},
        {"1.7976931348623159e308", 0x7ff0000000000000},
        {"1e309", 0x7ff0000000000000},
        {"-1e99999999999999999999", 0xfff0000000000000},
        {"inf", 0x7ff0000000000000},
        {"+Inf", 0x7ff0000000000000},
        {"-INF", 0xfff0000000000000},
        {"6.631236846766476e-316", 0x0000000008000000},
        {"0.500000000000000166533453693773481063544750213623046875",
         0x3fe0000000000002}};
    double d;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i].text, 1,
                   rlt_text_double(rows[i].text, strlen(rows[i].text), &d));
        ASSERT_EQm(rows[i].text, rows[i].bits, t_bits(d));
    }
    PASS();
}

TEST every_form_of_nan_is_one(void)
{
    static const char *const rows[] = {"nan", "-nan", "NaN", "+NAN", "nan()",
                                       "-nan(0x7ff)", "NAN(ind)"};
    double d;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        d = 0;
        ASSERT_EQm(rows[i], 1,
                   rlt_text_double(rows[i], strlen(rows[i]), &d));
        ASSERTm(rows[i], d != d);
    }
    PASS();
}

TEST a_text_that_is_no_double_leaves_the_result_alone(void)
{
    static const char *const rows[] = {
        "", "+", "-", ".", "-.", "e", "e5", ".e5", "1e", "1e+", "1e-", "1e5.",
        "1e5x", "1.2.3", "1,5", " 1", "1 ", "0x10", "--1", "+-1", "1-", "i",
        "in", "infi", "infinity", "- inf", "na", "nano", "nan(", "nan)",
        "nan(x", "nanx)", "xnan()", "inf()", "1inf"};
    double d = 99;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i], 0,
                   rlt_text_double(rows[i], strlen(rows[i]), &d));
        ASSERTm(rows[i], t_bits(d) == t_bits(99));
    }
    PASS();
}

/* Text of many shapes. The slow ones, by printf, are rare. */
static size_t t_number(char *out)
{
    uint64_t shape = t_next() % 16;
    size_t n = 0;

    if (shape == 0)
        return (size_t)sprintf(out, "%.*g", (int)(t_next() % 20) + 1,
                               t_double(t_next() & 0x7fefffffffffffff));
    if (shape == 1) /* subnormal */
        return (size_t)sprintf(out, "%.17g", t_double(t_any() >> 12));
    if (t_next() % 4 == 0)
        out[n++] = '-';
    n += rlt_text_put_u64(out + n, t_any());
    if (shape & 4) {
        out[n++] = '.';
        n += rlt_text_put_u64(out + n, t_any());
    }
    if (shape & 8) {
        out[n++] = 'e';
        n += rlt_text_put_i64(out + n, (int64_t)(t_next() % 700) - 360);
    } else {
        out[n++] = 'E';
        n += rlt_text_put_i64(out + n, (int64_t)(t_next() % 60) - 40);
    }
    out[n] = '\0';
    return n;
}

/* Two million numbers take a second; a slow emulator tests fewer. */
TEST doubles_are_those_of_strtod(void)
{
    clock_t end = clock() + 4 * CLOCKS_PER_SEC;
    char text[400];
    double ours, theirs;
    long i;

    for (i = 0; i < 2000000; i++) {
        if (i % 1024 == 0 && clock() > end)
            break;
        ASSERT_EQm(text, 1, rlt_text_double(text, t_number(text), &ours));
        theirs = strtod(text, NULL);
        ASSERT_EQm(text, t_bits(theirs), t_bits(ours));
    }
    ASSERT(i > 10000);
    PASS();
}

/* odd * 2^exp2 in full, as digits and a power of ten: at most 770 digits. */
static size_t t_exact(char *out, uint64_t odd, int exp2)
{
    char digits[800];
    size_t n = rlt_text_put_u64(digits, odd), i;
    int step = exp2 < 0 ? 5 : 2, k, carry;

    for (i = 0; i < n / 2; i++) {
        char swap = digits[i];
        digits[i] = digits[n - 1 - i];
        digits[n - 1 - i] = swap;
    }
    for (k = exp2 < 0 ? -exp2 : exp2; k > 0; k--) {
        for (i = 0, carry = 0; i < n; i++) {
            carry += (digits[i] - '0') * step;
            digits[i] = (char)('0' + carry % 10);
            carry /= 10;
        }
        if (carry > 0)
            digits[n++] = (char)('0' + carry);
    }
    for (i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    return n;
}

static double t_read(const char *digits, size_t n, const char *tail)
{
    static char text[2000];
    double d = 99;

    memcpy(text, digits, n);
    memcpy(text + n, tail, strlen(tail) + 1);
    return rlt_text_double(text, strlen(text), &d) ? d : 99;
}

TEST a_middle_between_two_doubles_goes_to_the_even_one(void)
{
    static const int edges[] = {-1075, -1074, -1023, -54, -1, 0, 1, 63, 970};
    char digits[800], tail[64];
    uint64_t bits, m;
    size_t n, i, last;
    int exp2;

    for (i = 0; i < 600; i++) {
        exp2 = i < T_COUNT(edges) ? edges[i] : (int)(t_next() % 2046) - 1075;
        m = (t_next() >> 12 | (uint64_t)1 << 52) >> (exp2 == -1075);
        if (exp2 == -1075)
            m >>= t_next() % 52; /* subnormal, of any length */
        n = t_exact(digits, 2 * m + 1, exp2);
        (void)snprintf(tail, sizeof tail, "e%d", exp2 < 0 ? exp2 : 0);
        bits = m;
        if (m >> 52 != 0)
            bits += (uint64_t)(exp2 + 1075) << 52;
        ASSERT_EQm(tail, bits + (m & 1), t_bits(t_read(digits, n, tail)));

        /* A 1 behind the middle's last digit decides, however far behind. */
        (void)snprintf(tail, sizeof tail, ".%0*d1e%d", (int)(t_next() % 40), 0,
                       exp2 < 0 ? exp2 : 0);
        ASSERT_EQm(tail, bits + 1, t_bits(t_read(digits, n, tail)));

        for (last = n - 1; digits[last] == '0'; last--)
            digits[last] = '9';
        digits[last]--;
        (void)snprintf(tail, sizeof tail, "999e%d", (exp2 < 0 ? exp2 : 0) - 3);
        ASSERT_EQm(tail, bits, t_bits(t_read(digits, n, tail)));
    }
    PASS();
}

TEST thousands_of_digits_count_like_a_few(void)
{
    static char text[12000];
    double d;
    size_t n = 5000;

    memset(text, '0', sizeof text);
    text[0] = '1';
    memcpy(text + n, "e-5000", 6);
    ASSERT(rlt_text_double(text, n + 6, &d));
    ASSERT_EQ(t_bits(0.1), t_bits(d));

    memset(text, '0', sizeof text);
    text[1] = '.';
    memcpy(text + 10000, "125e10000", 9);
    ASSERT(rlt_text_double(text, 10009, &d));
    ASSERT_EQ(t_bits(12.5), t_bits(d));

    memset(text, '9', sizeof text);
    text[0] = '.';
    ASSERT(rlt_text_double(text, sizeof text, &d));
    ASSERT_EQ(t_bits(1), t_bits(d));
    PASS();
}

/* --------------------------------------------------------------- sentences */

TEST a_sentence_that_fits_is_whole(void)
{
    char out[64];
    rlt_say say;

    rlt_say_init(&say, out, sizeof out);
    ASSERT_STR_EQ("", out);
    rlt_say_text(&say, "port ");
    rlt_say_int(&say, -70000);
    rlt_say_span(&say, relet_str(" of host"));
    ASSERT_STR_EQ("port -70000 of host", out);
    ASSERT_EQ(strlen(out), say.n);
    PASS();
}

TEST a_sentence_of_any_size_ends_in_its_buffer(void)
{
    char out[32];
    rlt_say say;
    size_t cap;

    for (cap = 1; cap < 20; cap++) {
        memset(out, '#', sizeof out);
        rlt_say_init(&say, out, cap);
        rlt_say_text(&say, "12345");
        rlt_say_int(&say, 67890);
        rlt_say_span(&say, relet_str("abcde"));
        ASSERT_EQ(RLT_MIN(cap - 1, 15), strlen(out));
        ASSERT_EQ(0, memcmp(out, "1234567890abcde", strlen(out)));
        ASSERT_EQ('#', out[RLT_MAX(cap, 16)]);
    }
    PASS();
}

TEST bytes_that_cannot_be_printed_are_shown_as_codes(void)
{
    relet_span odd = {"a\0\n\x7f\xc3~ ", 7};
    char out[64];
    rlt_say say;

    rlt_say_init(&say, out, sizeof out);
    rlt_say_span(&say, odd);
    ASSERT_STR_EQ("a\\x00\\x0a\\x7f\\xc3~ ", out);
    PASS();
}

TEST every_code_has_a_name_of_its_own(void)
{
    int a, b;

    for (a = RELET_E_SYSTEM; a <= 0; a++)
        for (b = RELET_E_SYSTEM - 1; b < a; b++)
            ASSERT(strcmp(relet_code_text(a), relet_code_text(b)) != 0);
    ASSERT_STR_EQ(relet_code_text(1), relet_code_text(-1000));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_null_string_is_an_empty_span);
    RUN_TEST(eating_takes_a_word_off_the_front_or_nothing);
    RUN_TEST(the_null_span_equals_an_empty_one);
    RUN_TEST(spans_are_compared_behind_a_nul_too);
    RUN_TEST(case_is_folded_for_letters_only);
    RUN_TEST(cutting_tells_an_absent_mark_from_an_empty_rest);
    RUN_TEST(integers_are_read_over_their_whole_range);
    RUN_TEST(a_text_that_is_no_integer_leaves_the_result_alone);
    RUN_TEST(a_nul_is_not_a_digit);
    RUN_TEST(unsigned_digits_are_those_of_printf);
    RUN_TEST(signed_digits_read_back_as_the_same_number);
    RUN_TEST(a_hex_digit_has_either_case);
    RUN_TEST(the_upper_half_of_a_product_holds_every_carry);
    RUN_TEST(known_doubles_have_known_bits);
    RUN_TEST(every_form_of_nan_is_one);
    RUN_TEST(a_text_that_is_no_double_leaves_the_result_alone);
    RUN_TEST(doubles_are_those_of_strtod);
    RUN_TEST(a_middle_between_two_doubles_goes_to_the_even_one);
    RUN_TEST(thousands_of_digits_count_like_a_few);
    RUN_TEST(a_sentence_that_fits_is_whole);
    RUN_TEST(a_sentence_of_any_size_ends_in_its_buffer);
    RUN_TEST(bytes_that_cannot_be_printed_are_shown_as_codes);
    RUN_TEST(every_code_has_a_name_of_its_own);
    GREATEST_MAIN_END();
}
