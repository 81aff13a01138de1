/* SPDX-License-Identifier: MIT
 *
 * scan.c - bytes to judged values, in one pass that can stop at any byte.
 *
 * Two paths give the same verdicts. The fast one takes the frequent types
 * while a whole header is surely there, and leaves at anything odd, before
 * having changed anything. The careful one is a machine that takes what there
 * is, down to one byte, and is the one that knows errors. There is no stack:
 * an open aggregate's node remembers the node above it. */
#include "scan.h"

/* No header is longer: a sign, 19 digits and CRLF after the type. */
#define SCAN_FAST_MIN 32

/* The way of a lone leaf must not pay for the registers of all others. */
#if defined(__GNUC__)
#define SCAN_INLINE inline __attribute__((always_inline))
#define SCAN_APART __attribute__((noinline))
#else
#define SCAN_INLINE inline
#define SCAN_APART
#endif

#define SCAN_TOP UINT32_MAX /* no aggregate is open                          */

typedef enum scan_phase {
    SCAN_PLAIN,   /* the first byte of an item; the fast path may try        */
    SCAN_TYPE,    /* the first byte of an item that is skipped or described  */
    SCAN_SIGN,    /* before a number: a sign, a question mark or a digit     */
    SCAN_DIGITS,
    SCAN_DOUBLE,
    SCAN_TEXT,
    SCAN_TRUTH,   /* t or f                                                  */
    SCAN_CR,      /* nothing but the end of the line may come                */
    SCAN_LF,
    SCAN_FORMAT,  /* the first four bytes of a verbatim                      */
    SCAN_PAYLOAD,
    SCAN_TAIL,    /* CRLF behind a payload                                   */
    SCAN_CHUNK,   /* a semicolon, inside a streamed string                   */
    SCAN_TOLD     /* nothing, until the verdict has been heard               */
} scan_phase;

static void scan_fail(rlt_scan *s, rlt_scan_error error)
{
    s->error = (int)error;
    s->verdict = (uint8_t)RLT_SCAN_ERROR;
}

static void scan_set(relet_node *node, unsigned kind, unsigned flags,
                     uint32_t len, int64_t payload)
{
    node->kind = (uint8_t)kind;
    node->flags = (uint8_t)flags;
    node->spare = 0;
    node->len = len;
    node->payload = payload;
}

/* --------------------------------------------------------- opening, closing
 */

static int64_t scan_above(uint32_t open, uint32_t left)
{
    return (int64_t)((uint64_t)left << 32 | open);
}

/* Behind what is lent stands an END, so that a walk past it reads a node. */
static void scan_lend(rlt_scan *s, uint32_t result, rlt_verdict verdict)
{
    s->result = result;
    s->verdict = (uint8_t)verdict;
    scan_set(&s->tape[s->top], RLT_NODE_END, 0, 0, -1);
}

static void scan_frame_end(rlt_scan *s, uint32_t node, unsigned kind)
{
    if (s->skipping) {
        s->skip_push = kind == RELET_PUSH;
        s->verdict = (uint8_t)RLT_SCAN_SKIPPED;
    } else {
        scan_lend(s, node, kind == RELET_PUSH ? RLT_SCAN_PUSH : RLT_SCAN_VALUE);
    }
}

/* A streamed aggregate starts with one more left than it may have, so that
 * being over the cap shows where every other aggregate ends. */
static uint32_t scan_stream_room(const relet_node *node, uint32_t count)
{
    return node->kind == RELET_MAP ? count * 2 + 1 : count + 1;
}

static void scan_stream_over(rlt_scan *s)
{
    relet_node *node = &s->tape[s->open];
    uint32_t more = RLT_SCAN_COUNT_HARD - s->limits.count_max;

    if (node->flags & RLT_NODE_OVER || more == 0) {
        scan_fail(s, RLT_SCAN_E_LIMIT);
        return;
    }
    node->flags |= RLT_NODE_OVER;
    s->left = scan_stream_room(node, more) - 1;
    rlt_scan_skip(s, RLT_SKIP_COUNT);
}

/* The innermost aggregate has ended. Attributes and pushes inside a value are
 * not counted as parts of it. */
static void scan_end(rlt_scan *s)
{
    uint32_t at = s->open;
    relet_node *node = &s->tape[at];
    uint64_t above = (uint64_t)node->payload;
    unsigned kind = node->kind;

    node->flags &= (uint8_t)~RLT_NODE_OPEN;
    node->payload = s->top - at - 1;
    s->open = (uint32_t)above;
    s->left = (uint32_t)(above >> 32);
    s->depth--;
    if (s->skipping)
        s->top = at;
    if (kind == RLT_NODE_ATTRIBUTE) {
        s->attributes--;
        s->described = 1;
        if (s->skipping)
            return;
        node->payload++;
        scan_set(&s->tape[s->top], RLT_NODE_END, 0, s->top - at, -1);
        s->top++;
        return;
    }
    s->pushes = (uint8_t)(s->pushes && kind != RELET_PUSH);
    if (s->open == SCAN_TOP)
        scan_frame_end(s, at, kind);
    else if (kind != RELET_PUSH)
        s->left--;
    else if (s->skipping)
        s->lost_pushes++;
    else
        scan_lend(s, at, RLT_SCAN_PUSH);
}

static void scan_close(rlt_scan *s)
{
    while (s->left == 0 && s->verdict == RLT_SCAN_MORE) {
        if (s->tape[s->open].flags & RLT_NODE_STREAMED)
            scan_stream_over(s);
        else
            scan_end(s);
    }
}

static void scan_leaf(rlt_scan *s, unsigned kind, uint64_t len, int64_t payload)
{
    s->phase = SCAN_TYPE;
    if (!s->skipping)
        scan_set(&s->tape[s->top++], kind,
                 s->described ? RLT_NODE_DESCRIBED : 0, (uint32_t)len, payload);
    s->described = 0;
    if (s->open == SCAN_TOP) {
        scan_frame_end(s, s->top - 1, kind);
    } else {
        s->left--;
        scan_close(s);
    }
}

static unsigned scan_kind(const rlt_scan *s)
{
    switch (s->type) {
    case '*': return RELET_ARRAY;
    case '%': return RELET_MAP;
    case '~': return RELET_SET;
    case '>': return RELET_PUSH;
    default: return RLT_NODE_ATTRIBUTE;
    }
}

/* Several attributes in a row are one map: the first is opened again. */
static relet_node *scan_reopen(rlt_scan *s)
{
    relet_node *end = &s->tape[--s->top];
    relet_node *node = end - end->len;

    node->flags |= RLT_NODE_OPEN;
    return node;
}

static void scan_open(rlt_scan *s, uint32_t count, unsigned flags)
{
    unsigned kind = scan_kind(s);
    int doubled = kind == RELET_MAP || kind == RLT_NODE_ATTRIBUTE;
    relet_node *node;

    if (s->depth == RLT_SCAN_DEPTH_HARD || s->top == s->tape_cap) {
        scan_fail(s, RLT_SCAN_E_DEPTH);
        return;
    }
    if (kind == RLT_NODE_ATTRIBUTE && s->described && !s->skipping) {
        node = scan_reopen(s);
        node->len += count;
    } else {
        node = &s->tape[s->top++];
        flags |= s->described ? RLT_NODE_DESCRIBED : 0;
        scan_set(node, kind, flags | RLT_NODE_OPEN, count, 0);
    }
    node->payload = scan_above(s->open, s->left);
    s->open = (uint32_t)(node - s->tape);
    s->left = doubled ? count * 2 : count;
    if (flags & RLT_NODE_STREAMED)
        s->left = scan_stream_room(node, s->limits.count_max);
    s->depth++;
    s->described = 0;
    s->phase = SCAN_TYPE;
    s->pushes = (uint8_t)(s->pushes || kind == RELET_PUSH);
    s->attributes = (uint8_t)(s->attributes + (kind == RLT_NODE_ATTRIBUTE));
    scan_close(s);
}

/* ------------------------------------------------------------- careful path
 *
 * One function per phase; each takes at least one byte or fails at it. */

static int scan_may_stop(const rlt_scan *s)
{
    const relet_node *node = &s->tape[s->open];

    if (s->open == SCAN_TOP || !(node->flags & RLT_NODE_STREAMED))
        return 0;
    return !s->described && (node->kind != RELET_MAP || s->left % 2 == 1);
}

static void scan_begin(rlt_scan *s, uint8_t c)
{
    s->type = c;
    s->number = 0;
    s->digits = s->minus = s->grammar = 0;
    s->phase = SCAN_SIGN;
}

static void scan_type(rlt_scan *s, uint8_t c)
{
    scan_begin(s, c);
    switch (c) {
    case ':': case '$': case '!': case '=':
    case '*': case '%': case '~': case '|':
        break;
    case '>':
        if (s->pushes || s->attributes > 0) {
            scan_fail(s, RLT_SCAN_E_PUSH);
            return;
        }
        break;
    case '+': case '-': case '(':
        s->phase = SCAN_TEXT;
        break;
    case ',':
        s->phase = SCAN_DOUBLE;
        break;
    case '#':
        s->phase = SCAN_TRUTH;
        break;
    case '_':
        s->phase = SCAN_CR;
        break;
    case '.':
        if (!scan_may_stop(s)) {
            scan_fail(s, RLT_SCAN_E_STREAM);
            return;
        }
        s->phase = SCAN_CR;
        break;
    default:
        scan_fail(s, RLT_SCAN_E_TYPE);
        return;
    }
    s->at++;
}

static void scan_chunk(rlt_scan *s, uint8_t c)
{
    if (c != ';') {
        scan_fail(s, RLT_SCAN_E_STREAM);
        return;
    }
    scan_begin(s, c);
    s->at++;
}

static int scan_streams(uint8_t type)
{
    return type == '$' || type == '*' || type == '~' || type == '%';
}

static void scan_sign(rlt_scan *s, uint8_t c)
{
    s->phase = SCAN_DIGITS;
    if (c == '-') {
        s->minus = 1;
    } else if (c == '?' && scan_streams(s->type)) {
        s->grammar = 1;
        s->phase = SCAN_CR;
    } else if (c != '+' || s->type != ':') {
        return; /* to be judged as a digit */
    }
    s->at++;
}

/* The 20th digit is fatal: no line of digits is waited for without end. */
static void scan_digits(rlt_scan *s, const uint8_t *frame, size_t n)
{
    uint32_t d;

    for (; s->at < n; s->at++) {
        d = (uint32_t)frame[s->at] - 48u;
        if (d > 9 || s->digits == 19)
            break;
        s->number = s->number * 10 + d;
        s->digits++;
    }
    if (s->at == n)
        return;
    if (frame[s->at] != '\r' || s->digits == 0) {
        scan_fail(s, s->type == ':' ? RLT_SCAN_E_INT : RLT_SCAN_E_LEN);
        return;
    }
    s->phase = SCAN_LF;
    s->at++;
}

/* What servers have been seen to send: shortest decimal text, inf, and what
 * printf of any libc makes of NaN. States: */
enum {
    SCAN_D_START, SCAN_D_SIGNED, SCAN_D_DOT, SCAN_D_INT, SCAN_D_FRACTION,
    SCAN_D_E, SCAN_D_E_SIGNED, SCAN_D_EXPONENT, SCAN_D_I, SCAN_D_IN,
    SCAN_D_N, SCAN_D_NA, SCAN_D_NAN, SCAN_D_PAREN, SCAN_D_WORD, SCAN_D_BAD
};

static int scan_double_step(int state, uint8_t c)
{
    int digit = c >= '0' && c <= '9';
    int low = c | 0x20; /* letters of both cases */

    switch (state) {
    case SCAN_D_START:
    case SCAN_D_SIGNED:
        if (state == SCAN_D_START && (c == '+' || c == '-'))
            return SCAN_D_SIGNED;
        if (low == 'i' || low == 'n')
            return low == 'i' ? SCAN_D_I : SCAN_D_N;
        return digit ? SCAN_D_INT : c == '.' ? SCAN_D_DOT : SCAN_D_BAD;
    case SCAN_D_INT:
    case SCAN_D_FRACTION:
        if (digit)
            return state;
        if (state == SCAN_D_INT && c == '.')
            return SCAN_D_FRACTION;
        return low == 'e' ? SCAN_D_E : SCAN_D_BAD;
    case SCAN_D_DOT:
        return digit ? SCAN_D_FRACTION : SCAN_D_BAD;
    case SCAN_D_E:
        if (c == '+' || c == '-')
            return SCAN_D_E_SIGNED;
        return digit ? SCAN_D_EXPONENT : SCAN_D_BAD;
    case SCAN_D_E_SIGNED:
    case SCAN_D_EXPONENT:
        return digit ? SCAN_D_EXPONENT : SCAN_D_BAD;
    case SCAN_D_I: return low == 'n' ? SCAN_D_IN : SCAN_D_BAD;
    case SCAN_D_IN: return low == 'f' ? SCAN_D_WORD : SCAN_D_BAD;
    case SCAN_D_N: return low == 'a' ? SCAN_D_NA : SCAN_D_BAD;
    case SCAN_D_NA: return low == 'n' ? SCAN_D_NAN : SCAN_D_BAD;
    case SCAN_D_NAN: return c == '(' ? SCAN_D_PAREN : SCAN_D_BAD;
    case SCAN_D_PAREN:
        if (digit || c == '_' || (low >= 'a' && low <= 'z'))
            return SCAN_D_PAREN;
        return c == ')' ? SCAN_D_WORD : SCAN_D_BAD;
    default: return SCAN_D_BAD;
    }
}

static int scan_double_whole(int state)
{
    return state == SCAN_D_INT || state == SCAN_D_FRACTION ||
           state == SCAN_D_EXPONENT || state == SCAN_D_NAN ||
           state == SCAN_D_WORD;
}

/* Text runs to its CR; a double's bytes have a say in it. */
static void scan_text(rlt_scan *s, const uint8_t *frame, size_t n)
{
    size_t from = s->at;
    int state = s->grammar;
    uint8_t c = 0;

    for (; s->at < n; s->at++) {
        c = frame[s->at];
        if (c == '\r' || c == '\n')
            break;
        if (s->phase == SCAN_DOUBLE)
            state = scan_double_step(state, c);
        if (state == SCAN_D_BAD)
            break;
    }
    s->grammar = (uint8_t)state;
    s->number += s->at - from;
    if (s->number > s->limits.line_max)
        rlt_scan_skip(s, RLT_SKIP_LINE);
    if (s->at == n)
        return;
    if (c == '\n') {
        scan_fail(s, RLT_SCAN_E_LINE);
    } else if (s->phase == SCAN_DOUBLE && !scan_double_whole(state)) {
        scan_fail(s, RLT_SCAN_E_DOUBLE);
    } else {
        s->phase = SCAN_LF;
        s->at++;
    }
}

static void scan_truth(rlt_scan *s, uint8_t c)
{
    if (c != 't' && c != 'f') {
        scan_fail(s, RLT_SCAN_E_BOOL);
        return;
    }
    s->number = c == 't';
    s->phase = SCAN_CR;
    s->at++;
}

static void scan_cr(rlt_scan *s, uint8_t c)
{
    if (c == '\r') {
        s->phase = SCAN_LF;
        s->at++;
    } else if (scan_streams(s->type)) {
        scan_fail(s, RLT_SCAN_E_LEN);
    } else if (c == '\n' || s->type == '.') {
        scan_fail(s, RLT_SCAN_E_LINE);
    } else {
        scan_fail(s, s->type == '_' ? RLT_SCAN_E_NULL : RLT_SCAN_E_BOOL);
    }
}

static void scan_integer(rlt_scan *s)
{
    uint64_t most = (uint64_t)INT64_MAX + s->minus;

    if (s->number > most)
        scan_fail(s, RLT_SCAN_E_INT);
    else if (s->number > INT64_MAX)
        scan_leaf(s, RELET_INT, 0, INT64_MIN);
    else
        scan_leaf(s, RELET_INT, 0,
                  s->minus ? -(int64_t)s->number : (int64_t)s->number);
}

/* 1 when the number of the header is one; else it was null, or an error. */
static int scan_sized(rlt_scan *s, uint32_t hard)
{
    int nullable = scan_streams(s->type) || s->type == '=';

    if (s->minus) {
        if (s->number == 1 && s->digits == 1 && nullable)
            scan_leaf(s, RELET_NULL, 0, 0);
        else
            scan_fail(s, RLT_SCAN_E_LEN);
        return 0;
    }
    if (s->number > hard) {
        scan_fail(s, s->number > INT64_MAX ? RLT_SCAN_E_LEN
                                           : RLT_SCAN_E_LIMIT);
        return 0;
    }
    return 1;
}

static void scan_string(rlt_scan *s)
{
    uint64_t total = s->number;

    if (s->grammar) { /* $? */
        s->join_at = s->at;
        s->join_len = 0;
        s->phase = SCAN_CHUNK;
        return;
    }
    if (!scan_sized(s, RLT_SCAN_BULK_HARD))
        return;
    if (s->type == ';') {
        total += s->join_len;
        if (s->number == 0) {
            scan_leaf(s, RELET_TEXT, total, (int64_t)s->join_at);
            return;
        }
    }
    if (s->type == '=' && total < 4)
        scan_fail(s, RLT_SCAN_E_VERB);
    else if (total > RLT_SCAN_BULK_HARD)
        scan_fail(s, RLT_SCAN_E_LIMIT);
    else if (total > s->limits.bulk_max)
        rlt_scan_skip(s, RLT_SKIP_BULK);
    s->rest = (uint32_t)s->number;
    s->phase = s->type == '=' ? SCAN_FORMAT : SCAN_PAYLOAD;
}

static void scan_aggregate(rlt_scan *s)
{
    unsigned flags = s->grammar ? RLT_NODE_STREAMED : 0;

    if (!scan_sized(s, RLT_SCAN_COUNT_HARD))
        return;
    if (s->type == '>' || s->type == '|')
        flags = RLT_NODE_APART;
    if (s->number > s->limits.count_max)
        rlt_scan_skip(s, RLT_SKIP_COUNT);
    if (s->depth >= s->limits.depth_max && s->depth < RLT_SCAN_DEPTH_HARD)
        rlt_scan_skip(s, RLT_SKIP_DEPTH);
    scan_open(s, (uint32_t)s->number, flags);
}

static void scan_stop(rlt_scan *s)
{
    relet_node *node = &s->tape[s->open];
    uint32_t seen = scan_stream_room(node, s->limits.count_max) - s->left;

    node->len = node->kind == RELET_MAP ? seen / 2 : seen;
    s->phase = SCAN_TYPE;
    scan_end(s);
    scan_close(s);
}

static void scan_lf(rlt_scan *s, uint8_t c)
{
    int64_t text = (int64_t)s->at - 1 - (int64_t)s->number;

    if (c != '\n') {
        scan_fail(s, RLT_SCAN_E_LINE);
        return;
    }
    s->at++;
    switch (s->type) {
    case '+': scan_leaf(s, RELET_TEXT, s->number, text); return;
    case '-': scan_leaf(s, RELET_FAILURE, s->number, text); return;
    case '(': scan_leaf(s, RELET_BIG, s->number, text); return;
    case ',': scan_leaf(s, RELET_DOUBLE, s->number, text); return;
    case '_': scan_leaf(s, RELET_NULL, 0, 0); return;
    case '#': scan_leaf(s, RELET_BOOL, 0, (int64_t)s->number); return;
    case ':': scan_integer(s); return;
    case '.': scan_stop(s); return;
    case '$': case '!': case '=': case ';': scan_string(s); return;
    default: scan_aggregate(s); return;
    }
}

/* A verbatim's node is the text behind its format. */
static void scan_format(rlt_scan *s, const uint8_t *frame)
{
    if (frame[s->at + 3] != ':') {
        s->at += 3;
        scan_fail(s, RLT_SCAN_E_VERB);
        return;
    }
    s->at += 4;
    s->number -= 4;
    s->rest -= 4;
    s->phase = SCAN_PAYLOAD;
}

/* All of it is there, or it is not wanted. */
static void scan_payload(rlt_scan *s, size_t n)
{
    size_t take = RLT_MIN(n - s->at, (size_t)s->rest);

    s->at += take;
    s->rest -= (uint32_t)take;
    if (s->rest == 0)
        s->phase = SCAN_TAIL;
}

static void scan_tail(rlt_scan *s, uint8_t *frame)
{
    size_t len = (size_t)s->number;

    if (frame[s->at] != '\r' || frame[s->at + 1] != '\n') {
        s->at += frame[s->at] == '\r';
        scan_fail(s, RLT_SCAN_E_CRLF);
        return;
    }
    if (s->type == ';') {
        if (!s->skipping)
            memmove(frame + s->join_at + s->join_len, frame + s->at - len, len);
        s->join_len += (uint32_t)len;
        s->phase = SCAN_CHUNK;
        s->at += 2;
        return;
    }
    s->at += 2;
    scan_leaf(s,
              s->type == '$'   ? (unsigned)RELET_TEXT
              : s->type == '!' ? (unsigned)RELET_FAILURE
                               : (unsigned)RELET_VERBATIM,
              len, (int64_t)s->at - 2 - (int64_t)len);
}

static size_t scan_need(const rlt_scan *s)
{
    if (s->phase == SCAN_FORMAT)
        return s->at + 4;
    if (s->phase == SCAN_TAIL)
        return s->at + 2;
    if (s->phase == SCAN_PAYLOAD && !s->skipping)
        return s->at + s->rest + 2;
    return s->at + 1;
}

static void scan_settle(rlt_scan *s)
{
    if (s->verdict != RLT_SCAN_MORE)
        s->phase = SCAN_TOLD;
    else if (s->phase <= SCAN_TYPE)
        s->phase = s->skipping || s->described ? SCAN_TYPE : SCAN_PLAIN;
    s->need = scan_need(s);
}

static void scan_step(rlt_scan *s, uint8_t *frame, size_t n)
{
    uint8_t c = frame[s->at];

    switch ((scan_phase)s->phase) {
    case SCAN_PLAIN:
    case SCAN_TYPE: scan_type(s, c); break;
    case SCAN_SIGN: scan_sign(s, c); break;
    case SCAN_DIGITS: scan_digits(s, frame, n); break;
    case SCAN_DOUBLE:
    case SCAN_TEXT: scan_text(s, frame, n); break;
    case SCAN_TRUTH: scan_truth(s, c); break;
    case SCAN_CR: scan_cr(s, c); break;
    case SCAN_LF: scan_lf(s, c); break;
    case SCAN_FORMAT: scan_format(s, frame); break;
    case SCAN_PAYLOAD: scan_payload(s, n); break;
    case SCAN_TAIL: scan_tail(s, frame); break;
    case SCAN_CHUNK: scan_chunk(s, c); break;
    case SCAN_TOLD: rlt_assert(0 && "nothing more may be judged"); break;
    }
    scan_settle(s);
}

/* ---------------------------------------------------------------- fast path
 *
 * Plain loops: they let the next item start before this one is known. */

static int scan_is_crlf(const uint8_t *p)
{
    return memcmp(p, "\r\n", 2) == 0;
}

/* At most 9 digits, up to the CR; NULL: not so. */
static const uint8_t *scan_fast_count(const uint8_t *p, uint32_t *out)
{
    const uint8_t *last = p + 9;
    uint32_t v = (uint32_t)*p - 48u, d;

    if (v > 9)
        return NULL;
    for (p++; (d = (uint32_t)*p - 48u) <= 9; p++) {
        if (p == last)
            return NULL;
        v = v * 10 + d;
    }
    *out = v;
    return p;
}

/* At most 18 digits: nothing overflows. */
static const uint8_t *scan_fast_int(const uint8_t *p, int64_t *out)
{
    int minus = *p == '-';
    const uint8_t *last = p + 18;
    int64_t v;
    uint32_t d;

    p += minus;
    v = (int64_t)*p - 48;
    if (v < 0 || v > 9)
        return NULL;
    for (p++; (d = (uint32_t)*p - 48u) <= 9; p++) {
        if (p == last)
            return NULL;
        v = v * 10 + d;
    }
    *out = minus ? -v : v;
    return p;
}

/* The innermost aggregate got its last value. Returns what is now left in the
 * one that goes on; 0: closing it is not plain, or it was the frame. */
static uint32_t scan_fast_close(rlt_scan *s, relet_node *node)
{
    relet_node *open;
    uint64_t above;

    do {
        open = s->tape + s->open;
        if (open->flags & (RLT_NODE_APART | RLT_NODE_STREAMED))
            return 0;
        above = (uint64_t)open->payload;
        open->flags &= (uint8_t)~RLT_NODE_OPEN;
        open->payload = node - open - 1;
        s->open = (uint32_t)above;
        s->depth--;
        if (s->open == SCAN_TOP) {
            s->result = (uint32_t)(open - s->tape);
            return 0;
        }
    } while (above >> 32 == 1);
    return (uint32_t)(above >> 32) - 1;
}

/* One plain leaf at p into a node, at least SCAN_FAST_MIN bytes before end;
 * returns what follows it, or NULL for the careful path to judge. */
static SCAN_INLINE const uint8_t *scan_fast_leaf(const rlt_scan *s,
                                                const uint8_t *frame,
                                                const uint8_t *p,
                                                const uint8_t *end,
                                                relet_node *node)
{
    const uint8_t *q = p + 1;
    uint32_t len;
    int64_t number;

    switch (*p) {
    case '$':
        q = scan_fast_count(q, &len);
        if (q == NULL || len > s->limits.bulk_max ||
            end - q < (ptrdiff_t)len + 4 || !scan_is_crlf(q) ||
            !scan_is_crlf(q + 2 + len))
            return NULL;
        scan_set(node, RELET_TEXT, 0, len, q + 2 - frame);
        return q + len + 4;
    case ':':
        q = scan_fast_int(q, &number);
        if (q == NULL || !scan_is_crlf(q))
            return NULL;
        scan_set(node, RELET_INT, 0, 0, number);
        return q + 2;
    case '+':
    case '-':
        while (*q > '\r' && q < p + SCAN_FAST_MIN - 2)
            q++;
        len = (uint32_t)(q - p - 1);
        if (!scan_is_crlf(q) || len > s->limits.line_max)
            return NULL;
        scan_set(node, *p == '+' ? RELET_TEXT : RELET_FAILURE, 0, len,
                 p + 1 - frame);
        return q + 2;
    case '_':
        scan_set(node, RELET_NULL, 0, 0, 0);
        return scan_is_crlf(q) ? q + 2 : NULL;
    default:
        return NULL;
    }
}

/* Takes whole items while there are enough bytes and nodes. 0: what comes is
 * not plain, or not there; what was taken is taken. */
static int scan_fast(rlt_scan *s, const uint8_t *frame, size_t n)
{
    const uint8_t *p = frame + s->at, *end = frame + n, *q;
    relet_node *node = s->tape + s->top, *full = s->tape + s->tape_cap - 1;
    uint32_t left = s->left, count;

    do {
        if (*p == '*' || *p == '%') {
            q = scan_fast_count(p + 1, &count);
            if (q == NULL || !scan_is_crlf(q) || count == 0 ||
                count > s->limits.count_max || s->depth >= s->limits.depth_max)
                break;
            scan_set(node, *p == '*' ? RELET_ARRAY : RELET_MAP, RLT_NODE_OPEN,
                     count, scan_above(s->open, left));
            left = *p == '*' ? count : count * 2;
            s->open = (uint32_t)(node++ - s->tape);
            s->depth++;
            p = q + 2;
            continue;
        }
        q = scan_fast_leaf(s, frame, p, end, node);
        if (q == NULL)
            break;
        p = q;
        node++;
        if (--left > 0)
            continue;
        left = s->open == SCAN_TOP ? 0 : scan_fast_close(s, node);
    } while (left > 0 && end - p >= SCAN_FAST_MIN && node < full);
    s->at = (size_t)(p - frame);
    s->top = (uint32_t)(node - s->tape);
    s->left = left;
    if (left == 0 && s->open == SCAN_TOP)
        scan_lend(s, s->result, RLT_SCAN_VALUE);
    else
        scan_close(s);
    scan_settle(s);
    return s->verdict != RLT_SCAN_MORE;
}

/* ------------------------------------------------------------ what is called
 */

static void scan_frame_begin(rlt_scan *s)
{
    s->at = 0;
    s->need = 1;
    s->top = 0;
    s->open = SCAN_TOP;
    s->left = 1;
    s->phase = SCAN_PLAIN;
    s->verdict = RLT_SCAN_MORE;
}

RELET_PRIVATE void rlt_scan_init(rlt_scan *s, const rlt_scan_limits *l,
                                 relet_node *tape, uint32_t tape_cap)
{
    rlt_assert(tape_cap >= 3);
    memset(s, 0, sizeof *s);
    s->limits = *l;
    s->limits.bulk_max = RLT_MIN(l->bulk_max, RLT_SCAN_BULK_HARD);
    s->limits.count_max = RLT_MIN(l->count_max, RLT_SCAN_COUNT_HARD);
    s->limits.depth_max = RLT_MIN(l->depth_max, RLT_SCAN_DEPTH_HARD);
    s->tape = tape;
    s->tape_cap = tape_cap;
    scan_frame_begin(s);
}

RELET_PRIVATE void rlt_scan_tape(rlt_scan *s, relet_node *tape,
                                 uint32_t tape_cap)
{
    rlt_assert(tape_cap >= s->top);
    s->tape = tape;
    s->tape_cap = tape_cap;
}

static SCAN_APART rlt_verdict scan_go(rlt_scan *s, uint8_t *frame, size_t n)
{
    int fast = 1; /* 0: it has just been tried here */

    while (s->verdict == RLT_SCAN_MORE && n >= s->need) {
        if (s->phase <= SCAN_TYPE && s->tape_cap - s->top < 2 && !s->skipping)
            return RLT_SCAN_TAPE;
        if (s->phase == SCAN_PLAIN && n - s->at >= SCAN_FAST_MIN && fast) {
            fast = scan_fast(s, frame, n);
        } else {
            scan_step(s, frame, n);
            fast = 1;
        }
    }
    return (rlt_verdict)s->verdict;
}

/* Most frames are one leaf: they do not even need what is known of others. */
RELET_PRIVATE rlt_verdict rlt_scan_run(rlt_scan *s, uint8_t *frame, size_t n)
{
    const uint8_t *p;

    if (s->phase == SCAN_PLAIN && s->open == SCAN_TOP && n >= SCAN_FAST_MIN) {
        p = scan_fast_leaf(s, frame, frame, frame + n, s->tape);
        if (p != NULL) {
            s->at = (size_t)(p - frame);
            s->top = 1;
            scan_lend(s, 0, RLT_SCAN_VALUE);
            s->phase = SCAN_TOLD;
            return RLT_SCAN_VALUE;
        }
    }
    return scan_go(s, frame, n);
}

RELET_PRIVATE relet_value rlt_scan_value(const rlt_scan *s,
                                         const uint8_t *frame)
{
    relet_value v;

    rlt_assert(s->verdict == RLT_SCAN_VALUE || s->verdict == RLT_SCAN_PUSH);
    v.node = s->tape + s->result;
    v.base = (const char *)frame;
    return v;
}

/* A push inside a value leaves the tape with what the server said about it. */
static void scan_push_undo(rlt_scan *s)
{
    const relet_node *push = &s->tape[s->result];

    s->top = s->result;
    if (push->flags & RLT_NODE_DESCRIBED)
        s->top -= 1 + push[-1].len;
    s->verdict = RLT_SCAN_MORE;
    s->phase = SCAN_TYPE;
    scan_settle(s);
}

RELET_PRIVATE size_t rlt_scan_next(rlt_scan *s)
{
    size_t used = s->at;

    rlt_assert(s->verdict == RLT_SCAN_VALUE || s->verdict == RLT_SCAN_PUSH ||
               s->verdict == RLT_SCAN_SKIPPED);
    if (s->open != SCAN_TOP) {
        scan_push_undo(s);
        return 0;
    }
    if (RLT_TINY)
        memset(s->tape, 0xdb, s->top * sizeof *s->tape);
    if (s->skipping) {
        s->skipping = s->skip_push = 0;
        s->skip_why = RLT_SKIP_NONE;
        s->lost_pushes = 0;
    }
    scan_frame_begin(s);
    return used;
}

/* Only what is still open must be known from here on; it moves together. */
RELET_PRIVATE void rlt_scan_skip(rlt_scan *s, int why)
{
    uint32_t i, kept = 0;

    if (s->skipping || s->verdict != RLT_SCAN_MORE)
        return;
    for (i = 0; i < s->top; i++) {
        if (!(s->tape[i].flags & RLT_NODE_OPEN))
            continue;
        s->tape[kept] = s->tape[i];
        s->tape[kept].payload = scan_above(
            kept == 0 ? SCAN_TOP : kept - 1,
            (uint32_t)((uint64_t)s->tape[kept].payload >> 32));
        kept++;
    }
    s->top = kept;
    if (kept > 0)
        s->open = kept - 1;
    s->skipping = 1;
    s->skip_why = why;
    scan_settle(s);
}

RELET_PRIVATE size_t rlt_scan_drop(rlt_scan *s)
{
    size_t used = s->at;

    if (!s->skipping || s->verdict != RLT_SCAN_MORE)
        return 0;
    s->at = 0;
    s->need -= used;
    return used;
}

RELET_PRIVATE const char *rlt_scan_error_text(int error)
{
    switch ((rlt_scan_error)error) {
    case RLT_SCAN_E_NONE: return "no error";
    case RLT_SCAN_E_TYPE: return "no reply begins with this byte";
    case RLT_SCAN_E_LINE: return "a line does not end in CRLF";
    case RLT_SCAN_E_CRLF: return "a string does not end where it said";
    case RLT_SCAN_E_INT: return "not a 64-bit integer";
    case RLT_SCAN_E_LEN: return "not a length";
    case RLT_SCAN_E_LIMIT: return "a length over the limit of the protocol";
    case RLT_SCAN_E_DEPTH: return "nested too deeply";
    case RLT_SCAN_E_NULL: return "not a null";
    case RLT_SCAN_E_BOOL: return "not a boolean";
    case RLT_SCAN_E_DOUBLE: return "not a double";
    case RLT_SCAN_E_VERB: return "verbatim text without its format";
    case RLT_SCAN_E_PUSH: return "a push inside a push or an attribute";
    case RLT_SCAN_E_STREAM: return "not a part of a streamed value";
    }
    return "unknown error";
}
