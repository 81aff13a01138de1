/* SPDX-License-Identifier: MIT
 *
 * text_fuzz.c - numbers, hash slots and redirects against simpler readers.
 *
 * The input is one text, which is read as each of these. Integers must be those
 * of strtoll, doubles those of strtod (in the C locale, which a harness never
 * leaves), hash slots those of a CRC taken bit by bit. Those functions accept
 * more than the library's grammar: a grammar written out here tells it apart.
 * */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hashslot.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *s)
{
    size_t n = 0;

    while (is_digit(s[n]))
        n++;
    return n;
}

/* sign digits, at most 19 of them */
static int is_integer(const char *s, size_t n)
{
    size_t sign = s[0] == '-' || s[0] == '+', count = digits(s + sign);

    return count >= 1 && count <= 19 && sign + count == n;
}

/* sign digits point digits exponent, with a digit on one side of the point */
static int is_number(const char *s, size_t n)
{
    const char *p = s + (*s == '-' || *s == '+');
    size_t before = digits(p), behind = 0;

    p += before;
    if (*p == '.') {
        behind = digits(p + 1);
        p += 1 + behind;
    }
    if (before + behind == 0)
        return 0;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        before = digits(p);
        if (before == 0)
            return 0;
        p += before;
    }
    return p == s + n;
}

static void fuzz_integer(const uint8_t *data, size_t n, const char *text)
{
    int64_t ours = 7;
    long long theirs;
    char again[20];
    int taken = rlt_text_int((const char *)data, n, &ours);

    if (!is_integer(text, n)) {
        must(!taken && ours == 7);
        return;
    }
    errno = 0;
    theirs = strtoll(text, NULL, 10);
    must(taken == (errno == 0));
    if (!taken)
        return;
    must(ours == theirs);
    n = rlt_text_put_i64(again, ours);
    must(rlt_text_int(again, n, &ours) && ours == theirs);
}

static void fuzz_double(const uint8_t *data, size_t n, const char *text)
{
    double ours = 7, theirs;
    int taken = rlt_text_double((const char *)data, n, &ours);

    if (is_number(text, n)) {
        theirs = strtod(text, NULL);
        must(taken);
        must(memcmp(&ours, &theirs, sizeof ours) == 0);
    } else if (taken) {
        must(ours != ours || ours - ours != 0); /* a word: inf or nan */
    } else {
        must(ours == 7);
    }
}

static uint16_t crc(const uint8_t *p, size_t n)
{
    unsigned sum = 0;
    int bit;

    for (; n > 0; n--) {
        sum ^= (unsigned)*p++ << 8;
        for (bit = 0; bit < 8; bit++)
            sum = sum & 0x8000 ? (sum << 1 ^ 0x1021) & 0xffff : sum << 1;
    }
    return (uint16_t)sum;
}

static uint16_t slow_slot(const uint8_t *p, size_t n)
{
    size_t open = 0, end;

    while (open < n && p[open] != '{')
        open++;
    for (end = open + 1; end < n; end++)
        if (p[end] == '}')
            break;
    if (end < n && end > open + 1)
        return crc(p + open + 1, end - open - 1) % 16384;
    return crc(p, n) % 16384;
}

static void fuzz_redirect(relet_span text)
{
    static const char *const kinds[] = {"MOVED", "ASK", "REDIRECT"};
    rlt_redirect r, again;
    char plain[40], *whole;
    relet_span s;
    int head;

    if (!rlt_hashslot_redirect(text, &r))
        return;
    must(r.slot < 16384 && r.port >= 1 && r.port <= 65535);
    must(r.host.p >= text.p && r.host.p + r.host.n <= text.p + text.n);
    head = snprintf(plain, sizeof plain, "%s ", kinds[r.kind]);
    if (r.kind != RLT_REDIRECT)
        head += snprintf(plain + head, sizeof plain - (size_t)head, "%d ",
                         r.slot);
    whole = (char *)malloc(r.host.n + 80);
    must(whole != NULL);
    s.p = whole;
    s.n = (size_t)sprintf(whole, "%s%.*s:%d", plain, (int)r.host.n, r.host.p,
                          r.port);
    must(rlt_hashslot_redirect(s, &again));
    must(again.kind == r.kind && again.slot == r.slot && again.port == r.port);
    must(rlt_span_same(again.host, r.host));
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = (char *)malloc(n + 1), said[24];
    relet_span s, rest;
    rlt_say say;

    must(text != NULL);
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    fuzz_integer(data, n, text);
    fuzz_double(data, n, text);

    s.p = (const char *)data;
    s.n = n;
    must(rlt_hashslot_of(s) == slow_slot(data, n));
    fuzz_redirect(s);

    rlt_say_init(&say, said, sizeof said);
    rlt_say_span(&say, s);
    must(strlen(said) == RLT_MIN(say.n, sizeof said - 1));
    rest = s;
    for (n = 0; rest.p != NULL && rest.n > 0; n++)
        n += rlt_span_cut(&rest, ' ').n;
    must(n == s.n || n == s.n + 1);
    free(text);
    return 0;
}
