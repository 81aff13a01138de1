/* SPDX-License-Identifier: MIT
 *
 * text.h - spans, numbers in decimal, and messages that never overflow.
 *
 * Everything here takes bytes as they are: no locale, no NUL at the end, and
 * the same result on every machine. */
#ifndef RLT_TEXT_H
#define RLT_TEXT_H

#include "base.h"

/* Reads the whole span as an integer: an optional sign, 1 to 19 digits, within
 * int64. Returns 1 and sets *out, or returns 0 and leaves *out untouched. */
RELET_PRIVATE int rlt_text_int(const char *p, size_t n, int64_t *out);

/* Reads the whole span, of any length, as a number, correctly rounded (half to
 * even): sign, digits with or without a point, exponent; or inf, nan and
 * nan(...) in any case. Too large is inf, too small is 0. Returns as above. */
RELET_PRIVATE int rlt_text_double(const char *p, size_t n, double *out);

/* Writes v in decimal, without a NUL. Returns the number of bytes, at most
 * 20. */
RELET_PRIVATE size_t rlt_text_put_u64(char *out, uint64_t v);
RELET_PRIVATE size_t rlt_text_put_i64(char *out, int64_t v);

/* The numbers 00 to 99, to write two digits at a time. */
RLT_SHORT const char *rlt_text_pairs(void)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324"
        "25262728293031323334353637383940414243444546474849"
        "50515253545556575859606162636465666768697071727374"
        "75767778798081828384858687888990919293949596979899";

    return pairs;
}

/* The upper half of the 128 bits of a * b. */
RELET_PRIVATE uint64_t rlt_text_mul_high(uint64_t a, uint64_t b);

/* The value of a hexadecimal digit, or -1. */
RELET_PRIVATE int rlt_text_hex(char c);

/* n bytes from p on. */
RELET_PRIVATE relet_span rlt_span(const char *p, size_t n);

/* If s begins with word, cuts word off and returns 1; else returns 0 and
 * leaves s as it was. */
RELET_PRIVATE int rlt_span_eat(relet_span *s, const char *word);

RELET_PRIVATE int rlt_span_is(relet_span s, const char *word);
RELET_PRIVATE int rlt_span_is_nocase(relet_span s, const char *word);
RELET_PRIVATE int rlt_span_same(relet_span a, relet_span b);

/* Writes s at out + at; returns the place behind it. */
RELET_PRIVATE size_t rlt_span_put(char *out, size_t at, relet_span s);

/* Returns the head of s up to the first `at`. s becomes the bytes behind that
 * `at`, or a span whose p is NULL if there is no `at`: so "a" and "a:" differ
 * when cut at ':'. */
RELET_PRIVATE relet_span rlt_span_cut(relet_span *s, char at);

/* A message in a buffer of fixed size. Text that does not fit is left out, and
 * a NUL always ends the message. cap is at least 1. */
typedef struct rlt_say {
    char *p;
    size_t cap, n;
} rlt_say;

#ifndef RELET_SMALL

RELET_PRIVATE void rlt_say_init(rlt_say *s, char *p, size_t cap);
RELET_PRIVATE void rlt_say_text(rlt_say *s, const char *t);
RELET_PRIVATE void rlt_say_span(rlt_say *s, relet_span t); /* odd bytes: \xHH */
RELET_PRIVATE void rlt_say_int(rlt_say *s, int64_t v);

#else

/* RELET_SMALL has no sentences: every message is empty. */
RLT_SHORT void rlt_say_init(rlt_say *s, char *p, size_t cap)
{
    s->p = p;
    s->cap = cap;
    s->n = 0;
    *p = '\0';
}

RLT_SHORT void rlt_say_text(rlt_say *s, const char *t)
{
    (void)s;
    (void)t;
}

RLT_SHORT void rlt_say_span(rlt_say *s, relet_span t)
{
    (void)s;
    (void)t;
}

RLT_SHORT void rlt_say_int(rlt_say *s, int64_t v)
{
    (void)s;
    (void)v;
}

#endif

#endif
