/* SPDX-License-Identifier: MIT
 *
 * out.c - writes replies in RESP2 and in RESP3.
 */
#include "out.h"

#define OUT_FLOOR 512

/* A sign, 20 digits, and a line end. */
#define OUT_LINE_MAX 32

RELET_PRIVATE void rlt_out_init(rlt_out *o, rlt_memory memory, size_t max)
{
    memset(o, 0, sizeof *o);
    rlt_buf_init(&o->buf, memory, NULL, RLT_MIN(OUT_FLOOR, max), max);
    o->resp = 2;
}

RELET_PRIVATE void rlt_out_free(rlt_out *o)
{
    rlt_buf_free(&o->buf);
}

RELET_PRIVATE void rlt_out_raw(rlt_out *o, const void *p, size_t n)
{
    if (o->failed || rlt_buf_put(&o->buf, p, n) != 0)
        o->failed = 1;
}

/* ------------------------------------------------------------- simple lines */

static int out_is_line_end(char c)
{
    return c == '\r' || c == '\n';
}

/* Bytes that would end the line become blanks. */
static void out_line(rlt_out *o, char type, relet_span text)
{
    uint8_t *at;
    size_t i;

    if (o->failed || rlt_buf_reserve(&o->buf, text.n + 3) != 0) {
        o->failed = 1;
        return;
    }
    at = rlt_buf_end(&o->buf);
    *at++ = (uint8_t)type;
    for (i = 0; i < text.n; i++)
        *at++ = out_is_line_end(text.p[i]) ? ' ' : (uint8_t)text.p[i];
    *at++ = '\r';
    *at = '\n';
    rlt_buf_commit(&o->buf, text.n + 3);
}

RELET_PRIVATE void rlt_out_status(rlt_out *o, const char *text)
{
    out_line(o, '+', relet_str(text));
}

RELET_PRIVATE void rlt_out_status_span(rlt_out *o, relet_span text)
{
    out_line(o, '+', text);
}

RELET_PRIVATE void rlt_out_error(rlt_out *o, const char *text)
{
    rlt_out_error_span(o, relet_str(text));
}

RELET_PRIVATE void rlt_out_error_span(rlt_out *o, relet_span text)
{
    while (text.n > 0 && out_is_line_end(text.p[text.n - 1]))
        text.n--;
    o->errors++;
    out_line(o, '-', text);
}

static size_t out_number(char *line, char type, int64_t v)
{
    size_t n = 1;

    line[0] = type;
    n += rlt_text_put_i64(line + n, v);
    line[n++] = '\r';
    line[n++] = '\n';
    return n;
}

static void out_put_number(rlt_out *o, char type, int64_t v)
{
    char line[OUT_LINE_MAX];

    rlt_out_raw(o, line, out_number(line, type, v));
}

RELET_PRIVATE void rlt_out_int(rlt_out *o, int64_t v)
{
    out_put_number(o, ':', v);
}

/* ------------------------------------------------------ strings and scalars */

/* A length, then so many bytes: in one step, all or nothing. */
static void out_sized(rlt_out *o, char type, relet_span a, relet_span b)
{
    char line[OUT_LINE_MAX];
    size_t head = out_number(line, type, (int64_t)(a.n + b.n));
    uint8_t *at;

    if (o->failed || rlt_buf_reserve(&o->buf, head + a.n + b.n + 2) != 0) {
        o->failed = 1;
        return;
    }
    at = rlt_buf_end(&o->buf);
    memcpy(at, line, head);
    if (a.n > 0)
        memcpy(at + head, a.p, a.n);
    if (b.n > 0)
        memcpy(at + head + a.n, b.p, b.n);
    memcpy(at + head + a.n + b.n, "\r\n", 2);
    rlt_buf_commit(&o->buf, head + a.n + b.n + 2);
}

RELET_PRIVATE void rlt_out_bulk(rlt_out *o, relet_span s)
{
    out_sized(o, '$', s, relet_str(NULL));
}

RELET_PRIVATE void rlt_out_text(rlt_out *o, const char *text)
{
    rlt_out_bulk(o, relet_str(text));
}

RELET_PRIVATE void rlt_out_bulk_int(rlt_out *o, int64_t v)
{
    char digits[20];
    relet_span s;

    s.p = digits;
    s.n = rlt_text_put_i64(digits, v);
    rlt_out_bulk(o, s);
}

RELET_PRIVATE void rlt_out_null(rlt_out *o)
{
    rlt_out_raw(o, o->resp == 2 ? "$-1\r\n" : "_\r\n", o->resp == 2 ? 5 : 3);
}

RELET_PRIVATE void rlt_out_null_array(rlt_out *o)
{
    rlt_out_raw(o, o->resp == 2 ? "*-1\r\n" : "_\r\n", o->resp == 2 ? 5 : 3);
}

RELET_PRIVATE void rlt_out_double(rlt_out *o, double v)
{
    char text[RLT_NUM_MAX];
    relet_span s;

    s.p = text;
    s.n = rlt_num_score(text, v);
    if (o->resp == 2)
        rlt_out_bulk(o, s);
    else
        out_line(o, ',', s);
}

RELET_PRIVATE void rlt_out_bool(rlt_out *o, int v)
{
    if (o->resp == 2)
        rlt_out_int(o, v != 0);
    else
        rlt_out_raw(o, v ? "#t\r\n" : "#f\r\n", 4);
}

RELET_PRIVATE void rlt_out_big(rlt_out *o, relet_span digits)
{
    if (o->resp == 2)
        rlt_out_bulk(o, digits);
    else
        out_line(o, '(', digits);
}

/* The format is three bytes: cut, or filled with blanks. */
RELET_PRIVATE void rlt_out_verbatim(rlt_out *o, const char *format,
                                    relet_span text)
{
    char head[4] = {' ', ' ', ' ', ':'};
    size_t n = strlen(format);
    relet_span s;

    if (o->resp == 2) {
        rlt_out_bulk(o, text);
        return;
    }
    memcpy(head, format, RLT_MIN(n, 3));
    s.p = head;
    s.n = sizeof head;
    out_sized(o, '=', s, text);
}

/* ------------------------------------------------------------------ headers */

RELET_PRIVATE void rlt_out_array(rlt_out *o, size_t n)
{
    out_put_number(o, '*', (int64_t)n);
}

static char out_type(const rlt_out *o, char type)
{
    return o->resp == 2 ? '*' : type;
}

RELET_PRIVATE void rlt_out_map(rlt_out *o, size_t pairs)
{
    out_put_number(o, out_type(o, '%'),
                   (int64_t)(o->resp == 2 ? pairs * 2 : pairs));
}

RELET_PRIVATE void rlt_out_set(rlt_out *o, size_t n)
{
    out_put_number(o, out_type(o, '~'), (int64_t)n);
}

RELET_PRIVATE void rlt_out_push(rlt_out *o, size_t n)
{
    out_put_number(o, out_type(o, '>'), (int64_t)n);
}

RELET_PRIVATE size_t rlt_out_later(rlt_out *o)
{
    return rlt_buf_used(&o->buf);
}

RELET_PRIVATE void rlt_out_later_end(rlt_out *o, size_t mark, char type,
                                     size_t n)
{
    char line[OUT_LINE_MAX];
    size_t head;
    uint8_t *at;

    if (type == '%' && o->resp == 2)
        n *= 2;
    head = out_number(line, out_type(o, type), (int64_t)n);
    if (o->failed || rlt_buf_reserve(&o->buf, head) != 0) {
        o->failed = 1;
        return;
    }
    at = rlt_buf_head(&o->buf) + mark;
    memmove(at + head, at, rlt_buf_used(&o->buf) - mark);
    memcpy(at, line, head);
    rlt_buf_commit(&o->buf, head);
}
