/* SPDX-License-Identifier: MIT
 *
 * line.c - one line of the wire, from its type byte to its CRLF.
 *
 * A state machine that takes one byte at a time. It fails at the first byte
 * that no valid line has in that place; only the CR shows whether a double is
 * complete. */
#include "line.h"

/* The states. From LINE_D on they are the parts of a double. Servers have been
 * seen to send shortest decimal text, inf, and any text that a libc prints for
 * NaN. */
enum {
    LINE_SIGN, /* before a number: a sign, a question mark or a digit        */
    LINE_DIGITS,
    LINE_TEXT,
    LINE_TRUTH, /* t or f                                                    */
    LINE_CR,    /* the line must end here                                    */
    LINE_LF,
    LINE_D,
    LINE_D_SIGNED,
    LINE_D_DOT,
    LINE_D_INT,
    LINE_D_FRACTION,
    LINE_D_E,
    LINE_D_E_SIGNED,
    LINE_D_EXPONENT,
    LINE_D_I,
    LINE_D_IN,
    LINE_D_N,
    LINE_D_NA,
    LINE_D_NAN,
    LINE_D_PAREN,
    LINE_D_WORD,
    LINE_BAD
};

RELET_PRIVATE int rlt_line_streams(uint8_t type)
{
    return type == '$' || type == '*' || type == '~' || type == '%';
}

RELET_PRIVATE int rlt_line_begin(rlt_line *l, uint8_t type)
{
    memset(l, 0, sizeof *l);
    l->type = type;
    switch (type) {
    case ':': case '$': case '!': case '=': case ';':
    case '*': case '%': case '~': case '>': case '|':
        l->state = LINE_SIGN;
        return 1;
    case '+': case '-': case '(':
        l->state = LINE_TEXT;
        return 1;
    case ',':
        l->state = RLT_HAS_FAST ? LINE_D : LINE_TEXT;
        return 1;
    case '#':
        l->state = LINE_TRUTH;
        return 1;
    case '_': case '.':
        l->state = LINE_CR;
        return 1;
    default:
        return 0;
    }
}

static unsigned line_fail(rlt_line *l, rlt_scan_error error)
{
    l->error = (uint8_t)error;
    return LINE_BAD;
}

/* The 20th digit is an error, so that a line of digits cannot go on for ever.
 */
static unsigned line_digit(rlt_line *l, uint8_t c)
{
    uint32_t d = (uint32_t)c - 48u;

    if (d <= 9 && l->digits < 19) {
        l->number = l->number * 10 + d;
        l->digits++;
        return LINE_DIGITS;
    }
    if (c == '\r' && l->digits > 0)
        return LINE_LF;
    return line_fail(l, l->type == ':' ? RLT_SCAN_E_INT : RLT_SCAN_E_LEN);
}

static unsigned line_sign(rlt_line *l, uint8_t c)
{
    l->minus = c == '-';
    l->streamed = RLT_HAS_STREAMS && c == '?' && rlt_line_streams(l->type);
    if (RLT_HAS_STREAMS && l->streamed)
        return LINE_CR;
    if (l->minus || (c == '+' && l->type == ':'))
        return LINE_DIGITS;
    return line_digit(l, c);
}

static unsigned line_cr(rlt_line *l, uint8_t c)
{
    if (c == '\r')
        return LINE_LF;
    if (RLT_HAS_STREAMS && l->streamed)
        return line_fail(l, RLT_SCAN_E_LEN);
    if (c == '\n' || l->type == '.')
        return line_fail(l, RLT_SCAN_E_LINE);
    return line_fail(l, l->type == '_' ? RLT_SCAN_E_NULL : RLT_SCAN_E_BOOL);
}

static unsigned line_double_word(unsigned state, uint8_t c)
{
    int low = c | 0x20; /* letters of both cases */

    switch (state) {
    case LINE_D_I: return low == 'n' ? LINE_D_IN : LINE_BAD;
    case LINE_D_IN: return low == 'f' ? LINE_D_WORD : LINE_BAD;
    case LINE_D_N: return low == 'a' ? LINE_D_NA : LINE_BAD;
    case LINE_D_NA: return low == 'n' ? LINE_D_NAN : LINE_BAD;
    case LINE_D_NAN: return c == '(' ? LINE_D_PAREN : LINE_BAD;
    case LINE_D_PAREN:
        if ((c >= '0' && c <= '9') || c == '_' || (low >= 'a' && low <= 'z'))
            return LINE_D_PAREN;
        return c == ')' ? LINE_D_WORD : LINE_BAD;
    default: return LINE_BAD;
    }
}

static unsigned line_double(unsigned state, uint8_t c)
{
    int digit = c >= '0' && c <= '9', sign = c == '+' || c == '-';
    int low = c | 0x20;

    switch (state) {
    case LINE_D:
    case LINE_D_SIGNED:
        if (sign && state == LINE_D)
            return LINE_D_SIGNED;
        if (low == 'i' || low == 'n')
            return low == 'i' ? LINE_D_I : LINE_D_N;
        return digit ? LINE_D_INT : c == '.' ? LINE_D_DOT : LINE_BAD;
    case LINE_D_INT:
    case LINE_D_FRACTION:
        if (digit)
            return state;
        if (low == 'e')
            return LINE_D_E;
        return c == '.' && state == LINE_D_INT ? LINE_D_FRACTION : LINE_BAD;
    case LINE_D_DOT:
        return digit ? LINE_D_FRACTION : LINE_BAD;
    case LINE_D_E:
        return sign ? LINE_D_E_SIGNED : digit ? LINE_D_EXPONENT : LINE_BAD;
    case LINE_D_E_SIGNED:
    case LINE_D_EXPONENT:
        return digit ? LINE_D_EXPONENT : LINE_BAD;
    default:
        return line_double_word(state, c);
    }
}

static int line_double_ends(unsigned state)
{
    return state == LINE_D_INT || state == LINE_D_FRACTION ||
           state == LINE_D_EXPONENT || state == LINE_D_NAN ||
           state == LINE_D_WORD;
}

/* A byte of a text line. In a double it must also fit the state. */
static unsigned line_text(rlt_line *l, unsigned state, uint8_t c)
{
    if (c == '\n')
        return line_fail(l, RLT_SCAN_E_LINE);
    if (RLT_HAS_FAST && state >= LINE_D) {
        if (c == '\r' ? !line_double_ends(state)
                      : (state = line_double(state, c)) == LINE_BAD)
            return line_fail(l, RLT_SCAN_E_DOUBLE);
    }
    if (c == '\r')
        return LINE_LF;
    l->number++;
    return state;
}

static unsigned line_step(rlt_line *l, unsigned state, uint8_t c)
{
    switch (state) {
    case LINE_SIGN:
        return line_sign(l, c);
    case LINE_DIGITS:
        return line_digit(l, c);
    case LINE_TRUTH:
        if (c != 't' && c != 'f')
            return line_fail(l, RLT_SCAN_E_BOOL);
        l->number = c == 't';
        return LINE_CR;
    case LINE_CR:
        return line_cr(l, c);
    case LINE_LF:
        if (c != '\n')
            return line_fail(l, RLT_SCAN_E_LINE);
        l->done = 1;
        return LINE_LF;
    default:
        return line_text(l, state, c);
    }
}

RELET_PRIVATE size_t rlt_line_take(rlt_line *l, const uint8_t *p, size_t n)
{
    unsigned state = l->state;
    size_t i = 0;

    while (i < n && !l->done) {
        if (state == LINE_TEXT && p[i] > '\r') {
            l->number++;
            i++;
            continue;
        }
        state = line_step(l, state, p[i]);
        if (state == LINE_BAD)
            break;
        i++;
    }
    l->state = (uint8_t)state;
    return i;
}
