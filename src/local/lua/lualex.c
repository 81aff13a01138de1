/* SPDX-License-Identifier: MIT
 *
 * lualex.c - the text of a script, cut into words. */
#include "lualex.h"

static const char *const lualex_words[] = {
    "and",    "break", "do",     "else",  "elseif", "end",    "false",
    "for",    "function", "if",  "in",    "local",  "nil",    "not",
    "or",     "repeat", "return", "then", "true",   "until",  "while",
    "..",     "...",   "==",     ">=",    "<=",     "~=",     "<number>",
    "<name>", "<string>", "<eof>"};

#define LUALEX_RESERVED (RLT_LUATOK_WHILE - RLT_LUATOK_AND + 1)

/* ---------------------------------------------------------------- errors */

static void lualex_stop(rlt_lualex *x)
{
    x->failed = 1;
    x->p = x->end;
    x->has_ahead = 0;
    x->token.type = RLT_LUATOK_END_OF_TEXT;
}

static void lualex_say_where(rlt_lualex *x, const char *text)
{
    rlt_say_text(&x->error, x->chunk);
    rlt_say_text(&x->error, ":");
    rlt_say_int(&x->error, (int64_t)x->line);
    rlt_say_text(&x->error, ": ");
    rlt_say_text(&x->error, text);
}

/* Bytes as they are: up to a NUL, as a C string shows them. */
static void lualex_say_bytes(rlt_say *s, const char *p, size_t n)
{
    char one[2] = {0, 0};

    for (; n > 0 && *p; n--, p++) {
        one[0] = *p;
        rlt_say_text(s, one);
    }
}

RELET_PRIVATE void rlt_lualex_say_type(rlt_say *s, int type)
{
    char one[2] = {0, 0};

    if (type >= RLT_LUATOK_AND) {
        rlt_say_text(s, lualex_words[type - RLT_LUATOK_AND]);
    } else if (type < 32 || type == 127) {
        rlt_say_text(s, "char(");
        rlt_say_int(s, type);
        rlt_say_text(s, ")");
    } else {
        one[0] = (char)type;
        rlt_say_text(s, one);
    }
}

static void lualex_say_token(rlt_say *s, const rlt_luatoken *t)
{
    if (t->type == RLT_LUATOK_STRING && t->string && t->p[0] != '[') {
        lualex_say_bytes(s, t->p, 1);
        lualex_say_bytes(s, t->string->p, t->string->n);
        lualex_say_bytes(s, t->p, 1);
    } else if (t->type == RLT_LUATOK_NAME || t->type == RLT_LUATOK_STRING ||
               t->type == RLT_LUATOK_NUMBER) {
        lualex_say_bytes(s, t->p, t->n);
    } else {
        rlt_lualex_say_type(s, t->type);
    }
}

RELET_PRIVATE void rlt_lualex_fail(rlt_lualex *x, const char *text)
{
    if (x->failed)
        return;
    lualex_say_where(x, text);
    rlt_say_text(&x->error, " near '");
    lualex_say_token(&x->error, &x->token);
    rlt_say_text(&x->error, "'");
    lualex_stop(x);
}

RELET_PRIVATE void rlt_lualex_fail_limit(rlt_lualex *x, const char *text)
{
    if (x->failed)
        return;
    lualex_say_where(x, text);
    lualex_stop(x);
}

RELET_PRIVATE void rlt_lualex_fail_memory(rlt_lualex *x)
{
    if (x->failed)
        return;
    rlt_say_text(&x->error, "not enough memory");
    lualex_stop(x);
}

/* An error inside a word, of which [from, p) has been read. */
static void lualex_fail_inside(rlt_lualex *x, const char *text, int type,
                               const char *from)
{
    x->token.type = type;
    x->token.string = NULL;
    x->token.p = from;
    x->token.n = (size_t)(x->p - from);
    rlt_lualex_fail(x, text);
}

/* --------------------------------------------------------------- strings */

RELET_PRIVATE const rlt_luastr *rlt_lualex_string(rlt_lualex *x,
                                                  const char *p, size_t n)
{
    rlt_luastr probe, *s;
    rlt_luaval key, *slot;
    const rlt_luaval *found;

    if (n > RLT_LUA_STRING_MAX) {
        rlt_lualex_fail_memory(x);
        return NULL;
    }
    probe.p = p;
    probe.n = (uint32_t)n;
    rlt_luastr_seal(&probe);
    found = rlt_luatab_get_str(x->strings, &probe);
    if (found->type == RLT_LUA_STRING)
        return found->u.s;
    s = rlt_luastr_copy(x->code, p, n);
    key = rlt_luaval_string(s);
    slot = s ? rlt_luatab_slot(x->scratch, x->strings, &key) : NULL;
    if (slot == NULL) {
        rlt_lualex_fail_memory(x);
        return NULL;
    }
    *slot = key;
    return s;
}

static void lualex_line_end(rlt_lualex *x)
{
    char c = *x->p++;

    if (x->p < x->end && (*x->p == '\n' || *x->p == '\r') && *x->p != c)
        x->p++;
    x->line++;
}

static int lualex_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int lualex_word_byte(char c)
{
    return lualex_digit(c) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_';
}

/* Up to three decimal digits. */
static void lualex_escape_digits(rlt_lualex *x, char **out, const char *from)
{
    const char *start = x->p;
    int v = 0;

    while (x->p < x->end && x->p - start < 3 && lualex_digit(*x->p))
        v = v * 10 + (*x->p++ - '0');
    if (v > 255) {
        x->p = start - 1;
        lualex_fail_inside(x, "escape sequence too large", RLT_LUATOK_STRING,
                           from);
        return;
    }
    *(*out)++ = (char)(unsigned char)v;
}

static void lualex_escape(rlt_lualex *x, char **out, const char *from)
{
    static const char plain[] = "abfnrtv", meant[] = "\a\b\f\n\r\t\v";
    const char *found;
    char c;

    x->p++; /* the backslash                                                 */
    if (x->p == x->end)
        return;
    c = *x->p;
    found = c ? strchr(plain, c) : NULL;
    if (found) {
        *(*out)++ = meant[found - plain];
        x->p++;
    } else if (c == '\n' || c == '\r') {
        *(*out)++ = '\n';
        lualex_line_end(x);
    } else if (lualex_digit(c)) {
        lualex_escape_digits(x, out, from);
    } else {
        *(*out)++ = c;
        x->p++;
    }
}

/* At most; line ends may be part of it, behind a backslash. */
static size_t lualex_quoted_size(const rlt_lualex *x)
{
    const char *p = x->p + 1;
    char quote = *x->p;

    while (p < x->end && *p != quote)
        p += *p == '\\' && p + 1 < x->end ? 2 : 1;
    return (size_t)(p - x->p);
}

static int lualex_quoted(rlt_lualex *x)
{
    const char *from = x->p;
    char quote = *x->p, *bytes, *out;

    bytes = (char *)rlt_luamem_get(x->scratch, lualex_quoted_size(x));
    if (bytes == NULL) {
        rlt_lualex_fail_memory(x);
        return RLT_LUATOK_END_OF_TEXT;
    }
    out = bytes;
    x->p++;
    while (!x->failed && x->p < x->end && *x->p != quote) {
        if (*x->p == '\n' || *x->p == '\r') {
            lualex_fail_inside(x, "unfinished string", RLT_LUATOK_STRING,
                               from);
        } else if (*x->p == '\\') {
            lualex_escape(x, &out, from);
        } else {
            *out++ = *x->p++;
        }
    }
    if (!x->failed && x->p == x->end)
        lualex_fail_inside(x, "unfinished string", RLT_LUATOK_END_OF_TEXT,
                           from);
    if (x->failed)
        return RLT_LUATOK_END_OF_TEXT;
    x->p++;
    x->token.string = rlt_lualex_string(x, bytes, (size_t)(out - bytes));
    return RLT_LUATOK_STRING;
}

/* At [ or ]: how many = stand before the next one of its kind, or -1. */
static int lualex_bracket(const rlt_lualex *x, const char *p)
{
    char c = *p;
    int n = 0;

    for (p++; p < x->end && *p == '='; p++)
        n++;
    return p < x->end && *p == c ? n : -1;
}

/* The bytes of a long bracket with line ends as \n; keep NULL: a comment. */
static void lualex_long_byte(rlt_lualex *x, char **keep)
{
    if (*x->p == '\n' || *x->p == '\r') {
        lualex_line_end(x);
        if (*keep)
            *(*keep)++ = '\n';
    } else {
        if (*keep)
            *(*keep)++ = *x->p;
        x->p++;
    }
}

static void lualex_long_unfinished(rlt_lualex *x, int comment)
{
    lualex_fail_inside(x, comment ? "unfinished long comment"
                                  : "unfinished long string",
                       RLT_LUATOK_END_OF_TEXT, x->p);
}

/* [==[ … ]==], to its end; out gets where the copy ends. */
static void lualex_long(rlt_lualex *x, int level, char *keep, char **out)
{
    *out = keep;
    x->p += level + 2;
    if (x->p < x->end && (*x->p == '\n' || *x->p == '\r'))
        lualex_line_end(x);
    while (x->p < x->end) {
        if (*x->p == ']' && lualex_bracket(x, x->p) == level) {
            x->p += level + 2;
            return;
        }
        lualex_long_byte(x, out);
    }
    lualex_long_unfinished(x, keep == NULL);
}

static int lualex_long_string(rlt_lualex *x, int level)
{
    char *bytes = (char *)rlt_luamem_get(x->scratch, (size_t)(x->end - x->p));
    char *out;

    if (bytes == NULL) {
        rlt_lualex_fail_memory(x);
        return RLT_LUATOK_END_OF_TEXT;
    }
    lualex_long(x, level, bytes, &out);
    if (x->failed)
        return RLT_LUATOK_END_OF_TEXT;
    x->token.string = rlt_lualex_string(x, bytes, (size_t)(out - bytes));
    return RLT_LUATOK_STRING;
}

/* ----------------------------------------------------------------- words */

static int lualex_number(rlt_lualex *x)
{
    const char *from = x->p;
    relet_span s;

    while (x->p < x->end && (lualex_digit(*x->p) || *x->p == '.'))
        x->p++;
    if (x->p < x->end && (*x->p == 'e' || *x->p == 'E')) {
        x->p++;
        if (x->p < x->end && (*x->p == '+' || *x->p == '-'))
            x->p++;
    }
    while (x->p < x->end && lualex_word_byte(*x->p))
        x->p++;
    s.p = from;
    s.n = (size_t)(x->p - from);
    if (!rlt_luanum_read(s, &x->token.number))
        lualex_fail_inside(x, "malformed number", RLT_LUATOK_NUMBER, from);
    return x->failed ? RLT_LUATOK_END_OF_TEXT : RLT_LUATOK_NUMBER;
}

static int lualex_name(rlt_lualex *x)
{
    const char *from = x->p;
    size_t n;
    int i;

    while (x->p < x->end && lualex_word_byte(*x->p))
        x->p++;
    n = (size_t)(x->p - from);
    for (i = 0; i < LUALEX_RESERVED; i++)
        if (strlen(lualex_words[i]) == n &&
            memcmp(lualex_words[i], from, n) == 0)
            return RLT_LUATOK_AND + i;
    x->token.string = rlt_lualex_string(x, from, n);
    return RLT_LUATOK_NAME;
}

static void lualex_comment(rlt_lualex *x)
{
    char *none;
    int level;

    x->p += 2;
    if (x->p < x->end && *x->p == '[') {
        level = lualex_bracket(x, x->p);
        if (level >= 0) {
            lualex_long(x, level, NULL, &none);
            return;
        }
    }
    while (x->p < x->end && *x->p != '\n' && *x->p != '\r')
        x->p++;
}

/* c, or pair when c is followed by =. */
static int lualex_or_equal(rlt_lualex *x, int pair)
{
    char c = *x->p++;

    if (x->p == x->end || *x->p != '=')
        return c;
    x->p++;
    return pair;
}

static int lualex_dots(rlt_lualex *x)
{
    size_t left = (size_t)(x->end - x->p);

    if (left >= 2 && lualex_digit(x->p[1]))
        return lualex_number(x);
    if (left >= 3 && x->p[1] == '.' && x->p[2] == '.') {
        x->p += 3;
        return RLT_LUATOK_DOTS;
    }
    if (left >= 2 && x->p[1] == '.') {
        x->p += 2;
        return RLT_LUATOK_CONCAT;
    }
    x->p++;
    return '.';
}

static int lualex_open_bracket(rlt_lualex *x)
{
    const char *from = x->p;
    int level = lualex_bracket(x, x->p);

    if (level >= 0)
        return lualex_long_string(x, level);
    if (x->p + 1 < x->end && x->p[1] == '=') {
        x->p++;
        while (x->p < x->end && *x->p == '=')
            x->p++;
        lualex_fail_inside(x, "invalid long string delimiter",
                           RLT_LUATOK_STRING, from);
        return RLT_LUATOK_END_OF_TEXT;
    }
    x->p++;
    return '[';
}

static void lualex_skip(rlt_lualex *x)
{
    while (x->p < x->end) {
        if (*x->p == '\n' || *x->p == '\r')
            lualex_line_end(x);
        else if (*x->p == ' ' || (*x->p >= '\t' && *x->p <= '\f'))
            x->p++;
        else if (*x->p == '-' && x->end - x->p > 1 && x->p[1] == '-')
            lualex_comment(x);
        else
            return;
    }
}

static int lualex_word(rlt_lualex *x)
{
    switch (*x->p) {
    case '=':
        return lualex_or_equal(x, RLT_LUATOK_EQ);
    case '<':
        return lualex_or_equal(x, RLT_LUATOK_LE);
    case '>':
        return lualex_or_equal(x, RLT_LUATOK_GE);
    case '~':
        return lualex_or_equal(x, RLT_LUATOK_NE);
    case '"':
    case '\'':
        return lualex_quoted(x);
    case '.':
        return lualex_dots(x);
    case '[':
        return lualex_open_bracket(x);
    default:
        if (lualex_digit(*x->p))
            return lualex_number(x);
        if (lualex_word_byte(*x->p))
            return lualex_name(x);
        return (unsigned char)*x->p++;
    }
}

static void lualex_read(rlt_lualex *x)
{
    const char *from;
    int type;

    x->token.string = NULL;
    lualex_skip(x);
    from = x->p;
    if (x->p == x->end) {
        x->token.type = RLT_LUATOK_END_OF_TEXT;
        return;
    }
    type = lualex_word(x);
    if (x->failed)
        return;
    x->token.type = type;
    x->token.p = from;
    x->token.n = (size_t)(x->p - from);
}

RELET_PRIVATE void rlt_lualex_next(rlt_lualex *x)
{
    x->last_line = x->line;
    if (x->has_ahead) {
        x->token = x->ahead;
        x->has_ahead = 0;
        return;
    }
    lualex_read(x);
}

RELET_PRIVATE int rlt_lualex_peek(rlt_lualex *x)
{
    rlt_luatoken now = x->token;

    rlt_assert(!x->has_ahead);
    lualex_read(x);
    if (x->failed)
        return x->token.type;
    x->ahead = x->token;
    x->has_ahead = 1;
    x->token = now;
    return x->ahead.type;
}

RELET_PRIVATE void rlt_lualex_start(rlt_lualex *x, relet_span source,
                                    const char *chunk, rlt_luamem *code,
                                    rlt_luamem *scratch, char *error,
                                    size_t error_cap)
{
    memset(x, 0, sizeof *x);
    x->p = source.n > 0 ? source.p : "";
    x->end = x->p + source.n;
    x->line = x->last_line = 1;
    x->chunk = chunk;
    x->code = code;
    x->scratch = scratch;
    rlt_say_init(&x->error, error, error_cap);
    x->strings = rlt_luatab_new(scratch, 0, 16);
    if (x->strings == NULL)
        rlt_lualex_fail_memory(x);
    else
        rlt_lualex_next(x);
}
