/* SPDX-License-Identifier: MIT
 *
 * callarg.c - the arguments of a command, and its errors, worded as in Redis.
 */
#include "call.h"
#include "glob.h"
#include "state.h"

/* ----------------------------------------------------------------- errors */

RELET_PRIVATE void rlt_call_error(rlt_call *c, const char *text)
{
    c->failed = 1;
    c->server->counts.errors++;
    rlt_out_error(c->out, text);
}

/* Redis prints names as C strings: they end at a NUL. */
static void callarg_add(char *to, size_t *n, size_t cap, relet_span s)
{
    const char *nul = s.n > 0 ? (const char *)memchr(s.p, 0, s.n) : NULL;
    size_t len = nul ? (size_t)(nul - s.p) : s.n;

    len = RLT_MIN(len, cap - *n);
    if (len > 0)
        memcpy(to + *n, s.p, len);
    *n += len;
}

RELET_PRIVATE void rlt_call_error_with(rlt_call *c, const char *before,
                                       relet_span word, const char *after)
{
    char text[1024];
    relet_span s;
    size_t n = 0;

    callarg_add(text, &n, sizeof text, relet_str(before));
    callarg_add(text, &n, sizeof text - strlen(after), word);
    callarg_add(text, &n, sizeof text, relet_str(after));
    s.p = text;
    s.n = n;
    c->failed = 1;
    c->server->counts.errors++;
    rlt_out_error_span(c->out, s);
}

static char callarg_upper(char ch)
{
    return ch >= 'a' && ch <= 'z' ? (char)(ch - 'a' + 'A') : ch;
}

static char callarg_lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}


RELET_PRIVATE relet_span rlt_call_full_name(const rlt_command *command,
                                            relet_span container, char *name)
{
    relet_span s;
    size_t n = 0, i;

    if (container.n > 0) {
        for (i = 0; i < container.n && n < 64; i++)
            name[n++] = callarg_lower(container.p[i]);
        name[n++] = '|';
    }
    callarg_add(name, &n, RLT_CALL_NAME_MAX, relet_str(command->name));
    s.p = name;
    s.n = n;
    return s;
}

RELET_PRIVATE void rlt_call_error_arity(rlt_call *c)
{
    char name[RLT_CALL_NAME_MAX];
    relet_span s = rlt_call_full_name(
        c->command, c->is_sub ? c->argv[0] : relet_str(NULL), name);

    rlt_call_error_with(c, "ERR wrong number of arguments for '", s,
                        "' command");
}

RELET_PRIVATE void rlt_call_error_subcommand(rlt_call *c)
{
    char after[160] = "'. Try ";
    size_t n = strlen(after), i;
    relet_span word = c->argv[c->argc > 1 ? 1 : 0];

    for (i = 0; i < c->argv[0].n && n < sizeof after - 8; i++)
        after[n++] = callarg_upper(c->argv[0].p[i]);
    memcpy(after + n, " HELP.", 7);
    word.n = RLT_MIN(word.n, 128);
    rlt_call_error_with(
        c, "ERR unknown subcommand or wrong number of arguments for '", word,
        after);
}

static void callarg_help_heading(rlt_call *c)
{
    static const char heading[] =
        " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:";
    char first[160];
    relet_span s;
    size_t n = 0, i;

    for (i = 0; i < c->argv[0].n && n < 80; i++)
        first[n++] = callarg_upper(c->argv[0].p[i]);
    memcpy(first + n, heading, sizeof heading - 1);
    s.p = first;
    s.n = n + sizeof heading - 1;
    rlt_out_status_span(c->out, s);
}

static void callarg_help_name(rlt_call *c, const char *name)
{
    char upper[64];
    relet_span s;

    s.p = upper;
    for (s.n = 0; name[s.n] && s.n < sizeof upper; s.n++)
        upper[s.n] = callarg_upper(name[s.n]);
    rlt_out_status_span(c->out, s);
}

RELET_PRIVATE void rlt_call_help(rlt_call *c)
{
    const rlt_command *sub, *container = c->container;
    size_t n = 2;

    for (sub = container->sub; sub->name; sub++)
        n += strcmp(sub->name, "help") != 0;
    rlt_out_array(c->out, n + 1);
    callarg_help_heading(c);
    for (sub = container->sub; sub->name; sub++)
        if (strcmp(sub->name, "help") != 0)
            callarg_help_name(c, sub->name);
    rlt_out_status(c->out, "HELP");
    rlt_out_status(c->out, "    Prints this help.");
}

/* ----------------------------------------------------------------- numbers */

RELET_PRIVATE int rlt_call_int(rlt_call *c, uint32_t i, int64_t *v,
                               const char *error)
{
    if (rlt_str_int(c->argv[i], v))
        return 1;
    rlt_call_error(c, error ? error : RLT_ERR_INT);
    return 0;
}

RELET_PRIVATE int rlt_call_between(rlt_call *c, uint32_t i, int64_t min,
                                   int64_t max, int64_t *v, const char *error)
{
    char low[24], high[64];
    relet_span s;
    size_t n;

    if (!rlt_call_int(c, i, v, error))
        return 0;
    if (*v >= min && *v <= max)
        return 1;
    if (error) {
        rlt_call_error(c, error);
        return 0;
    }
    s.p = low;
    s.n = rlt_text_put_i64(low, min);
    memcpy(high, " and ", 5);
    n = 5 + rlt_text_put_i64(high + 5, max);
    high[n] = '\0';
    rlt_call_error_with(
        c, "ERR value is out of range, value must between ", s, high);
    return 0;
}

RELET_PRIVATE int rlt_call_positive(rlt_call *c, uint32_t i, int64_t *v,
                                    const char *error)
{
    return rlt_call_between(c, i, 0, INT64_MAX, v,
                            error ? error : RLT_ERR_POSITIVE);
}

RELET_PRIVATE int rlt_call_double(rlt_call *c, uint32_t i, double *v,
                                  const char *error)
{
    if (rlt_num_read(c->argv[i], v))
        return 1;
    rlt_call_error(c, error ? error : RLT_ERR_FLOAT);
    return 0;
}

RELET_PRIVATE int rlt_call_is(const rlt_call *c, uint32_t i, const char *word)
{
    return i < c->argc && rlt_span_is_nocase(c->argv[i], word);
}

/* --------------------------------------------------------------- time-outs */

/* A time-out that overflows an int64 is negative in Redis; a deadline that
 * overflows never comes. */
static int callarg_deadline(rlt_call *c, int minus, uint64_t ms,
                            int64_t *deadline_ms)
{
    if ((minus && ms > 0) || ms > INT64_MAX) {
        rlt_call_error(c, "ERR timeout is negative");
        return 0;
    }
    if (ms == 0 || ms > (uint64_t)(INT64_MAX - RLT_MAX(c->now_ms, 0)))
        *deadline_ms = 0;
    else
        *deadline_ms = (int64_t)ms + c->now_ms;
    return 1;
}

/* v * 1000, rounded to 64 bits, half to even, as a long double is. */
static rlt_long callarg_thousand_times(rlt_long v)
{
    uint64_t high = rlt_text_mul_high(v.mantissa, 1000);
    uint64_t low = v.mantissa * 1000, lost, half;
    unsigned shift = 0;

    while (high >> shift)
        shift++;
    v.mantissa = low;
    if (shift == 0)
        return v;
    half = UINT64_C(1) << (shift - 1);
    lost = low & (half * 2 - 1);
    v.mantissa = low >> shift | high << (64 - shift);
    v.exp2 += (int32_t)shift;
    /* The mantissa cannot be all ones: a multiple of 1000 ends in three
     * zeros. */
    if (lost > half || (lost == half && (v.mantissa & 1)))
        v.mantissa++;
    return v;
}

/* The magnitude of v as an integer, rounded down or up; UINT64_MAX when it is
 * too large. */
static uint64_t callarg_whole(rlt_long v, int up)
{
    uint64_t m = v.mantissa, lost;

    if (v.inf)
        return UINT64_MAX;
    if (m == 0)
        return 0;
    if (v.exp2 >= 0)
        return v.exp2 > 62 || m >> (63 - v.exp2) ? UINT64_MAX : m << v.exp2;
    if (v.exp2 <= -64)
        return up ? 1 : 0;
    lost = m & ((UINT64_C(1) << -v.exp2) - 1);
    return (m >> -v.exp2) + (up && lost != 0 ? 1u : 0u);
}

/* Seconds are rounded up to milliseconds; so a negative time above -1 ms is
 * 0. */
RELET_PRIVATE int rlt_call_timeout_s(rlt_call *c, uint32_t i,
                                     int64_t *deadline_ms)
{
    rlt_long v;

    if (!rlt_longdouble_read(c->argv[i], &v)) {
        rlt_call_error(c, "ERR timeout is not a float or out of range");
        return 0;
    }
    if (!v.inf)
        v = callarg_thousand_times(v);
    return callarg_deadline(c, v.minus, callarg_whole(v, !v.minus),
                            deadline_ms);
}

RELET_PRIVATE int rlt_call_timeout_ms(rlt_call *c, uint32_t i,
                                      int64_t *deadline_ms)
{
    int64_t ms;

    if (!rlt_call_int(c, i, &ms,
                      "ERR timeout is not an integer or out of range"))
        return 0;
    return callarg_deadline(c, ms < 0, ms < 0 ? 1 : (uint64_t)ms,
                            deadline_ms);
}

/* -------------------------------------------------------------------- scan */

RELET_PRIVATE int rlt_call_scan_cursor(rlt_call *c, uint32_t i,
                                       rlt_call_scan *s)
{
    relet_span a = c->argv[i];
    uint64_t v = 0, digit;
    int minus = a.n > 0 && *a.p == '-', ok;
    size_t at = a.n > 0 && (*a.p == '-' || *a.p == '+') ? 1 : 0;

    a = rlt_span_cut(&a, '\0');
    memset(s, 0, sizeof *s);
    s->count = 10;
    ok = at == 0 || a.n > at;
    for (; at < a.n && ok; at++) {
        digit = (uint64_t)(unsigned char)a.p[at] - '0';
        ok = digit <= 9 && v <= (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    if (!ok) {
        rlt_call_error(c, "ERR invalid cursor");
        return 0;
    }
    s->cursor = minus ? 0 - v : v;
    return 1;
}

RELET_PRIVATE int rlt_call_scan_options(rlt_call *c, uint32_t i,
                                        rlt_call_scan *s, int with_type)
{
    for (; i < c->argc; i += 2) {
        if (i + 1 >= c->argc) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
        if (rlt_call_is(c, i, "count")) {
            if (!rlt_call_int(c, i + 1, &s->count, NULL))
                return 0;
            if (s->count < 1) {
                rlt_call_error(c, RLT_ERR_SYNTAX);
                return 0;
            }
        } else if (rlt_call_is(c, i, "match")) {
            s->match = c->argv[i + 1];
            if (rlt_span_is(s->match, "*"))
                s->match = relet_str(NULL);
        } else if (with_type && rlt_call_is(c, i, "type")) {
            s->type = c->argv[i + 1];
        } else {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
    }
    return 1;
}

RELET_PRIVATE int rlt_call_glob(relet_span pattern, relet_span s, int nocase)
{
    return rlt_glob_match(pattern, s, nocase);
}
