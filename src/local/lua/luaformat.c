/* SPDX-License-Identifier: MIT
 *
 * luaformat.c - string.format. */
#include "lualib.h"

#define LUAFORMAT_FLAGS 5 /* - + blank # 0, each once                         */

typedef struct luaformat {
    rlt_luabytes out;
    rlt_luaargs args;
    const char *p, *end;
    rlt_luanum_spec spec;
    int arg;
} luaformat;

static int luaformat_peek(const luaformat *f)
{
    return f->p < f->end ? (unsigned char)*f->p : 0;
}

static int luaformat_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int luaformat_flags(luaformat *f)
{
    int n = 0;

    for (;; n++, f->p++) {
        int c = luaformat_peek(f);

        if (c == '-')
            f->spec.left = 1;
        else if (c == '+')
            f->spec.plus = 1;
        else if (c == ' ')
            f->spec.blank = 1;
        else if (c == '#')
            f->spec.alternate = 1;
        else if (c == '0')
            f->spec.zero = 1;
        else
            break;
    }
    if (n > LUAFORMAT_FLAGS)
        return rlt_luaerr(f->args.L, "invalid format (repeated flags)");
    return 0;
}

/* Two digits at most. */
static int luaformat_digits(luaformat *f)
{
    int v = 0, i;

    for (i = 0; i < 2 && luaformat_is_digit(luaformat_peek(f)); i++)
        v = v * 10 + (*f->p++ - '0');
    return v;
}

static int luaformat_spec(luaformat *f)
{
    memset(&f->spec, 0, sizeof f->spec);
    if (luaformat_flags(f) < 0)
        return -1;
    f->spec.width = luaformat_digits(f);
    f->spec.precision = -1;
    if (luaformat_peek(f) == '.') {
        f->p++;
        f->spec.precision = luaformat_digits(f);
    }
    if (luaformat_is_digit(luaformat_peek(f)))
        return rlt_luaerr(f->args.L, "invalid format (width or precision "
                                     "too long)");
    return 0;
}

static void luaformat_blanks(luaformat *f, size_t n)
{
    size_t width = (size_t)f->spec.width;

    for (; n < width; n++)
        rlt_luabytes_add_char(&f->out, ' ');
}

/* Bytes in their width. */
static void luaformat_field(luaformat *f, const char *p, size_t n)
{
    if (!f->spec.left)
        luaformat_blanks(f, n);
    rlt_luabytes_add(&f->out, p, n);
    if (f->spec.left)
        luaformat_blanks(f, n);
}

static int luaformat_char(luaformat *f)
{
    int64_t v;
    char c;

    if (rlt_luaarg_int32(&f->args, f->arg, &v) < 0)
        return -1;
    c = (char)(unsigned char)(v & 255);
    if (c)
        luaformat_field(f, &c, 1);
    else if (!f->spec.left) /* a NUL ends what is shown                      */
        for (v = 1; v < f->spec.width; v++)
            rlt_luabytes_add_char(&f->out, ' ');
    return 0;
}

static int luaformat_int(luaformat *f, char conversion)
{
    char text[RLT_LUANUM_FORMAT];
    double v;
    int64_t i;
    uint64_t u;
    int negative = 0;

    if (rlt_luaarg_number(&f->args, f->arg, &v) < 0)
        return -1;
    if (conversion == 'd' || conversion == 'i') {
        i = rlt_luanum_int(v);
        negative = i < 0;
        u = negative ? 0 - (uint64_t)i : (uint64_t)i;
        conversion = 'd';
    } else {
        u = rlt_luanum_word(v);
    }
    if (conversion == 'u') {
        conversion = 'd';
        f->spec.plus = f->spec.blank = 0;
    }
    f->spec.conversion = conversion;
    rlt_luabytes_add(&f->out, text,
                     rlt_luanum_format_int(text, u, negative, &f->spec));
    return 0;
}

static int luaformat_double(luaformat *f, char conversion)
{
    char text[RLT_LUANUM_FORMAT];
    double v;

    if (rlt_luaarg_number(&f->args, f->arg, &v) < 0)
        return -1;
    rlt_luavm_spend_digits(f->args.L, v);
    f->spec.conversion = conversion;
    rlt_luabytes_add(&f->out, text, rlt_luanum_format(text, v, &f->spec));
    return 0;
}

static int luaformat_quoted(luaformat *f)
{
    relet_span s;
    size_t i;

    if (rlt_luaarg_string(&f->args, f->arg, &s) < 0)
        return -1;
    rlt_luabytes_add_char(&f->out, '"');
    for (i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '\r') {
            rlt_luabytes_add(&f->out, "\\r", 2);
        } else if (c == 0) {
            rlt_luabytes_add(&f->out, "\\000", 4);
        } else {
            if (c == '"' || c == '\\' || c == '\n')
                rlt_luabytes_add_char(&f->out, '\\');
            rlt_luabytes_add_char(&f->out, c);
        }
    }
    rlt_luabytes_add_char(&f->out, '"');
    return 0;
}

/* A long one without a precision goes as it is; a short one is a C string. */
static int luaformat_string(luaformat *f)
{
    relet_span s;
    const char *nul;

    if (rlt_luaarg_string(&f->args, f->arg, &s) < 0)
        return -1;
    if (f->spec.precision < 0 && s.n >= 100) {
        rlt_luabytes_add(&f->out, s.p, s.n);
        return 0;
    }
    nul = s.n > 0 ? (const char *)memchr(s.p, 0, s.n) : NULL;
    if (nul)
        s.n = (size_t)(nul - s.p);
    if (f->spec.precision >= 0)
        s.n = RLT_MIN(s.n, (size_t)f->spec.precision);
    luaformat_field(f, s.p, s.n);
    return 0;
}

static int luaformat_invalid(luaformat *f, int c)
{
    char text[48], one[2];
    rlt_say say;

    one[0] = (char)c;
    one[1] = 0;
    rlt_say_init(&say, text, sizeof text);
    rlt_say_text(&say, "invalid option '%");
    rlt_say_text(&say, one);
    rlt_say_text(&say, "' to 'format'");
    return rlt_luaerr(f->args.L, text);
}

static int luaformat_one(luaformat *f)
{
    int c;

    if (++f->arg > f->args.n)
        return rlt_luaerr_argument(f->args.L, f->arg, "no value");
    if (luaformat_spec(f) < 0)
        return -1;
    c = luaformat_peek(f);
    f->p += f->p < f->end;
    switch (c) {
    case 'c':
        return luaformat_char(f);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return luaformat_int(f, (char)c);
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        return luaformat_double(f, (char)c);
    case 'q':
        return luaformat_quoted(f);
    case 's':
        return luaformat_string(f);
    default:
        return luaformat_invalid(f, c);
    }
}

RELET_PRIVATE int rlt_lualib_format(rlt_lua *L, uint32_t base, int n)
{
    luaformat f;
    relet_span s;

    memset(&f, 0, sizeof f);
    f.args = rlt_luaargs_of(L, base, n);
    if (rlt_luaarg_string(&f.args, 1, &s) < 0)
        return -1;
    f.p = s.p;
    f.end = s.p + s.n;
    f.arg = 1;
    rlt_luabytes_init(&f.out, L);
    while (f.p < f.end) {
        if (*f.p++ != '%')
            rlt_luabytes_add_char(&f.out, f.p[-1]);
        else if (luaformat_peek(&f) == '%')
            rlt_luabytes_add_char(&f.out, *f.p++);
        else if (luaformat_one(&f) < 0)
            return -1;
    }
    return rlt_luabytes_push(&f.out);
}
