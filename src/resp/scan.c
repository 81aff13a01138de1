/* SPDX-License-Identifier: MIT
 *
 * scan.c - turns bytes into judged values, in one pass that can stop at any
 * byte.
 *
 * Two paths give the same verdicts. The fast path takes the frequent types
 * while a whole header is surely there, and leaves any other item untouched.
 * The careful path takes the bytes that are there, down to one, and only the
 * careful path finds errors. */
#include "scan.h"

#include "text.h"

/* More than any header has: the type, a sign, 19 digits and CRLF. */
#define SCAN_FAST_MIN 32

/* Whether the fast path may try n bytes. */
static int scan_has_fast(size_t n)
{
    return RLT_HAS_FAST && n >= SCAN_FAST_MIN;
}

/* ------------------------------------------------------------- careful path */

static unsigned scan_kind(uint8_t type)
{
    switch (type) {
    case '+': case '$': case ';': return RELET_T_TEXT;
    case '-': case '!': return RELET_T_ERROR;
    case '(': return RELET_T_BIG;
    case ',': return RELET_T_DOUBLE;
    case '=': return RELET_T_VERBATIM;
    case '*': return RELET_T_ARRAY;
    case '%': return RELET_T_MAP;
    case '~': return RELET_T_SET;
    case '>': return RELET_T_PUSH;
    default: return RELET_NODE_ATTRIBUTE;
    }
}

/* Whether the parts of a streamed string are being joined. */
static int scan_joins(const rlt_scan *s)
{
    return RLT_HAS_STREAMS && s->joining;
}

/* Whether the line begins a streamed value. */
static int scan_streams(const rlt_scan *s)
{
    return RLT_HAS_STREAMS && s->line.streamed;
}

static int scan_may_stop(const rlt_scan *s)
{
    const relet_node *node;

    if (!RLT_HAS_STREAMS || s->open == RLT_SCAN_AT_TOP || s->described)
        return 0;
    node = &s->tape[s->open];
    return (node->flags & RLT_NODE_STREAMED) != 0 &&
           (node->kind != RELET_T_MAP || s->left % 2 == 1);
}

/* Takes the type byte of an item, if this type is allowed in this place. */
static void scan_type(rlt_scan *s, uint8_t c)
{
    if (scan_joins(s) ? c != ';' : c == '.' && !scan_may_stop(s))
        rlt_tape_fail(s, RLT_SCAN_E_STREAM);
    else if (!rlt_line_begin(&s->line, c) || (c == ';' && !scan_joins(s)))
        rlt_tape_fail(s, RLT_SCAN_E_TYPE);
    else if (c == '>' && (s->pushes || s->attributes > 0))
        rlt_tape_fail(s, RLT_SCAN_E_PUSH);
    else {
        s->phase = RLT_SCAN_AT_LINE;
        s->at++;
    }
}

static void scan_integer(rlt_scan *s)
{
    uint64_t number = s->line.number;

    if (number > (uint64_t)INT64_MAX + s->line.minus)
        rlt_tape_fail(s, RLT_SCAN_E_INT);
    else if (number > INT64_MAX)
        rlt_tape_leaf(s, RELET_T_INT, 0, INT64_MIN);
    else
        rlt_tape_leaf(s, RELET_T_INT, 0,
                  s->line.minus ? -(int64_t)number : (int64_t)number);
}

/* 1 if the line gives a size. Else 0: the line was a null, taken here as a
 * leaf, or is wrong. */
static int scan_sized(rlt_scan *s, uint32_t hard)
{
    const rlt_line *l = &s->line;

    if (l->minus && l->number == 1 && l->digits == 1 &&
        (rlt_line_streams(l->type) || l->type == '=')) {
        rlt_tape_leaf(s, RELET_T_NULL, 0, 0);
        return 0;
    }
    if (l->minus || l->number > INT64_MAX)
        rlt_tape_fail(s, RLT_SCAN_E_LEN);
    else if (l->number > hard)
        rlt_tape_fail(s, RLT_SCAN_E_LIMIT);
    return s->verdict == RLT_SCAN_MORE;
}

static void scan_join_begin(rlt_scan *s)
{
    s->joining = 1;
    s->join_at = s->at;
    s->join_len = 0;
    s->phase = RLT_SCAN_AT_TYPE;
}

static void scan_join_end(rlt_scan *s)
{
    s->joining = 0;
    rlt_tape_leaf(s, RELET_T_TEXT, s->join_len, (int64_t)s->join_at);
}

static void scan_string(rlt_scan *s)
{
    uint64_t total = s->line.number + (scan_joins(s) ? s->join_len : 0);

    if (scan_streams(s)) {
        scan_join_begin(s);
        return;
    }
    if (!scan_sized(s, RLT_SCAN_BULK_HARD))
        return;
    if (scan_joins(s) && s->line.number == 0) {
        scan_join_end(s);
        return;
    }
    s->rest = (uint32_t)s->line.number;
    s->phase = s->line.type == '=' ? RLT_SCAN_AT_FORMAT : RLT_SCAN_AT_PAYLOAD;
    if (s->line.type == '=' && total < 4)
        rlt_tape_fail(s, RLT_SCAN_E_VERB);
    else if (total > RLT_SCAN_BULK_HARD)
        rlt_tape_fail(s, RLT_SCAN_E_LIMIT);
    else if (total > s->limits.bulk_max)
        rlt_tape_skip(s, RLT_SKIP_BULK);
}

static void scan_aggregate(rlt_scan *s)
{
    unsigned flags = scan_streams(s) ? RLT_NODE_STREAMED : 0;

    if (!scan_sized(s, RLT_SCAN_COUNT_HARD))
        return;
    if (s->line.type == '>' || s->line.type == '|')
        flags = RLT_NODE_APART;
    if (s->line.number > s->limits.count_max)
        rlt_tape_skip(s, RLT_SKIP_COUNT);
    if (s->depth >= s->limits.depth_max && s->depth < RLT_SCAN_DEPTH_HARD)
        rlt_tape_skip(s, RLT_SKIP_DEPTH);
    rlt_tape_open(s, scan_kind(s->line.type), (uint32_t)s->line.number,
                  flags);
}

static void scan_stop(rlt_scan *s)
{
    relet_node *node = &s->tape[s->open];
    uint32_t seen = rlt_tape_stream_room(node, s->limits.count_max) - s->left;

    node->len = node->kind == RELET_T_MAP ? seen / 2 : seen;
    s->phase = RLT_SCAN_AT_TYPE;
    rlt_tape_end(s);
    rlt_tape_close(s);
}

/* The bytes of a line that is text. RELET_SMALL judges a double here; elsewhere
 * each of its bytes was judged when it came. */
static void scan_text(rlt_scan *s, const uint8_t *frame)
{
    const rlt_line *l = &s->line;
    size_t n = (size_t)l->number, from = s->at - 2 - n;
#ifdef RELET_SMALL
    double unused;

    if (l->type == ',' && !s->skipping &&
        !rlt_text_double((const char *)frame + from, n, &unused)) {
        rlt_tape_fail(s, RLT_SCAN_E_DOUBLE);
        return;
    }
#endif
    (void)frame;
    rlt_tape_leaf(s, scan_kind(l->type), n, (int64_t)from);
}

static void scan_line_done(rlt_scan *s, const uint8_t *frame)
{
    const rlt_line *l = &s->line;

    switch (l->type) {
    case '+': case '-': case '(': case ',': scan_text(s, frame); return;
    case ':': scan_integer(s); return;
    case '_': rlt_tape_leaf(s, RELET_T_NULL, 0, 0); return;
    case '#': rlt_tape_leaf(s, RELET_T_BOOL, 0, (int64_t)l->number); return;
    case '.':
        if (RLT_HAS_STREAMS)
            scan_stop(s);
        return;
    case '$': case '!': case '=': case ';': scan_string(s); return;
    default: scan_aggregate(s); return;
    }
}

static int scan_line_is_text(uint8_t type)
{
    return type == '+' || type == '-' || type == '(' || type == ',';
}

static void scan_line(rlt_scan *s, const uint8_t *frame, size_t n)
{
    s->at += rlt_line_take(&s->line, frame + s->at, n - s->at);
    if (s->line.number > s->limits.line_max && scan_line_is_text(s->line.type))
        rlt_tape_skip(s, RLT_SKIP_LINE);
    if (s->line.error != RLT_SCAN_E_NONE)
        rlt_tape_fail(s, (rlt_scan_error)s->line.error);
    else if (s->line.done)
        scan_line_done(s, frame);
}

/* The node of a verbatim spans only the text behind the format. */
static void scan_format(rlt_scan *s, const uint8_t *frame)
{
    if (frame[s->at + 3] != ':') {
        s->at += 3;
        rlt_tape_fail(s, RLT_SCAN_E_VERB);
        return;
    }
    s->at += 4;
    s->line.number -= 4;
    s->rest -= 4;
    s->phase = RLT_SCAN_AT_PAYLOAD;
}

/* Either the whole payload is there, or the frame is being skipped. */
static void scan_payload(rlt_scan *s, size_t n)
{
    size_t take = RLT_MIN(n - s->at, (size_t)s->rest);

    s->at += take;
    s->rest -= (uint32_t)take;
    if (s->rest == 0)
        s->phase = RLT_SCAN_AT_TAIL;
}

static void scan_tail(rlt_scan *s, uint8_t *frame)
{
    size_t len = (size_t)s->line.number, from = s->at - len;

    if (frame[s->at] != '\r' || frame[s->at + 1] != '\n') {
        s->at += frame[s->at] == '\r';
        rlt_tape_fail(s, RLT_SCAN_E_CRLF);
        return;
    }
    s->at += 2;
    if (!scan_joins(s)) {
        rlt_tape_leaf(s, scan_kind(s->line.type), len, (int64_t)from);
        return;
    }
    if (!s->skipping)
        memmove(frame + s->join_at + s->join_len, frame + from, len);
    s->join_len += (uint32_t)len;
    s->phase = RLT_SCAN_AT_TYPE;
}

static void scan_step(rlt_scan *s, uint8_t *frame, size_t n)
{
    switch ((rlt_scan_phase)s->phase) {
    case RLT_SCAN_AT_PLAIN:
    case RLT_SCAN_AT_TYPE: scan_type(s, frame[s->at]); break;
    case RLT_SCAN_AT_LINE: scan_line(s, frame, n); break;
    case RLT_SCAN_AT_FORMAT: scan_format(s, frame); break;
    case RLT_SCAN_AT_PAYLOAD: scan_payload(s, n); break;
    case RLT_SCAN_AT_TAIL: scan_tail(s, frame); break;
    case RLT_SCAN_AT_TOLD: rlt_assert(0 && "nothing more may be judged"); break;
    }
    if (s->phase == RLT_SCAN_AT_LINE)
        s->need = s->at + 1;
    else
        rlt_tape_settle(s);
}

/* ---------------------------------------------------------------- fast path
 *
 * Plain loops, so that the processor can start on the next item before the
 * result of this one is known. */

static int scan_is_crlf(const uint8_t *p)
{
    return memcmp(p, "\r\n", 2) == 0;
}

/* Reads at most 9 digits. Returns the byte behind them, which should be the
 * CR, or NULL if there is no digit or a tenth. */
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

/* Reads a minus or none and at most 18 digits, so nothing overflows. */
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

/* The innermost aggregate got its last value. Ends it and every outer one that
 * is then complete. Returns the number of values still missing in the next
 * outer one. Returns 0 if the frame is complete, or if the next one to end is
 * not plain: a push, an attribute or a streamed one. */
static uint32_t scan_fast_close(rlt_scan *s, const relet_node *node)
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
        if (s->open == RLT_SCAN_AT_TOP) {
            s->result = (uint32_t)(open - s->tape);
            return 0;
        }
    } while (above >> 32 == 1);
    return (uint32_t)(above >> 32) - 1;
}

/* Reads one plain leaf at p, which is at least SCAN_FAST_MIN bytes before end,
 * into a node. Returns the byte behind the leaf, or NULL if the careful path
 * must judge it. */
static RLT_INLINE const uint8_t *scan_fast_leaf(const rlt_scan *s,
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
        rlt_tape_set(node, RELET_T_TEXT, 0, len, q + 2 - frame);
        return q + len + 4;
    case ':':
        q = scan_fast_int(q, &number);
        if (q == NULL || !scan_is_crlf(q))
            return NULL;
        rlt_tape_set(node, RELET_T_INT, 0, 0, number);
        return q + 2;
    case '+':
    case '-':
        while (*q > '\r' && q < p + SCAN_FAST_MIN - 2)
            q++;
        len = (uint32_t)(q - p - 1);
        if (!scan_is_crlf(q) || len > s->limits.line_max)
            return NULL;
        rlt_tape_set(node, *p == '+' ? RELET_T_TEXT : RELET_T_ERROR, 0, len,
                 p + 1 - frame);
        return q + 2;
    case '_':
        rlt_tape_set(node, RELET_T_NULL, 0, 0, 0);
        return scan_is_crlf(q) ? q + 2 : NULL;
    default:
        return NULL;
    }
}

/* Takes whole items while there are enough bytes and nodes. Returns 1 at a
 * verdict. Returns 0 if the next item is not plain or not there yet; the items
 * taken so far stay taken. */
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
            rlt_tape_set(node, *p == '*' ? RELET_T_ARRAY : RELET_T_MAP,
                         RLT_NODE_OPEN, count, rlt_tape_above(s->open, left));
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
        left = s->open == RLT_SCAN_AT_TOP ? 0 : scan_fast_close(s, node);
    } while (left > 0 && end - p >= SCAN_FAST_MIN && node < full);
    s->at = (size_t)(p - frame);
    s->top = (uint32_t)(node - s->tape);
    s->left = left;
    if (left == 0 && s->open == RLT_SCAN_AT_TOP)
        rlt_tape_lend(s, s->result, RLT_SCAN_VALUE);
    else
        rlt_tape_close(s);
    rlt_tape_settle(s);
    return s->verdict != RLT_SCAN_MORE;
}

/* --------------------------------------------------------- public functions */

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
    s->open = RLT_SCAN_AT_TOP;
    rlt_tape_begin(s);
}

RELET_PRIVATE void rlt_scan_tape(rlt_scan *s, relet_node *tape,
                                 uint32_t tape_cap)
{
    rlt_assert(tape_cap >= s->top);
    s->tape = tape;
    s->tape_cap = tape_cap;
}

static RLT_APART rlt_verdict scan_go(rlt_scan *s, uint8_t *frame, size_t n)
{
    int fast = 1; /* 0: the fast path has just given up at this byte */

    do {
        if (s->phase == RLT_SCAN_AT_TOLD)
            break;
        if (s->phase <= RLT_SCAN_AT_TYPE) {
            if (s->tape_cap - s->top < 2 && !s->skipping)
                return RLT_SCAN_TAPE;
            if (fast && s->phase == RLT_SCAN_AT_PLAIN &&
                scan_has_fast(n - s->at)) {
                fast = scan_fast(s, frame, n);
                continue;
            }
        }
        scan_step(s, frame, n);
        fast = 1;
    } while (n >= s->need);
    return (rlt_verdict)s->verdict;
}

/* Most frames are a single leaf. Such a frame is read here first, without the
 * state that larger frames need. */
RELET_PRIVATE rlt_verdict rlt_scan_run(rlt_scan *s, uint8_t *frame, size_t n)
{
    const uint8_t *p;

    if (scan_has_fast(n) && s->phase == RLT_SCAN_AT_PLAIN &&
        s->open == RLT_SCAN_AT_TOP) {
        p = scan_fast_leaf(s, frame, frame, frame + n, s->tape);
        if (p != NULL) {
            s->at = (size_t)(p - frame);
            s->top = 1;
            rlt_tape_lend(s, 0, RLT_SCAN_VALUE);
            return RLT_SCAN_VALUE;
        }
    }
    if (n < s->need)
        return (rlt_verdict)s->verdict;
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

RELET_PRIVATE size_t rlt_scan_next(rlt_scan *s)
{
    size_t used = s->at;

    rlt_assert(s->verdict == RLT_SCAN_VALUE || s->verdict == RLT_SCAN_PUSH ||
               s->verdict == RLT_SCAN_SKIPPED);
    if (s->open != RLT_SCAN_AT_TOP) {
        rlt_tape_undo(s);
        return 0;
    }
    if (RLT_TINY)
        memset(s->tape, 0xdb, s->top * sizeof *s->tape);
    if (s->skipping) {
        s->skipping = s->skip_push = 0;
        s->skip_why = RLT_SKIP_NONE;
        s->lost_pushes = 0;
    }
    rlt_tape_begin(s);
    return used;
}

RELET_PRIVATE void rlt_scan_skip(rlt_scan *s, int why)
{
    rlt_tape_skip(s, why);
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
