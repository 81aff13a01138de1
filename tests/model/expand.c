/* SPDX-License-Identifier: MIT
 *
 * expand.c - makes a command from a template, sometimes a malformed one.
 *
 * The letters of a template:
 *   %k a key, %s %h %l %t %z %x one that should be a string, hash, list, set,
 *   zset, stream; %v a value, %e a member, %i an integer, %f a score, %n a
 *   count, %q a count for random members, %r an index, %m a score bound, %L a
 *   lex bound, %I a stream id, %S %M seconds and ms from now, %A %B as points
 *   in time, %b a time-out, %p a pattern, %y a prefix, %c a channel, %P a
 *   channel pattern, %g a group, %o a consumer, %C the number of a connection,
 *   %d a data set, %u a script, %U a script's SHA, %w anything.
 * Of the library's own scripts: %N a job's number, %T its token, %X a lease's
 * token, %O the number of an operation, %J the head of a job, %K its id, %Y its
 * type, %W a wake-up channel; the last three may be empty. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

uint32_t maker_below(maker *m, uint32_t n)
{
    return (uint32_t)rlt_rand_below(&m->rand, n);
}

int maker_once_in(maker *m, uint32_t n)
{
    return maker_below(m, n) == 0;
}

const char *maker_pick(maker *m, const char *const *list)
{
    uint32_t n = 0;

    while (list[n] != NULL)
        n++;
    return list[maker_below(m, n)];
}

word maker_format(maker *m, const char *format, ...)
{
    char line[400];
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return tape_word(m->t, line, n < (int)sizeof line ? (size_t)n : 0);
}

void maker_end(maker *m, int64_t in_ms)
{
    int64_t at = m->now_us / 1000 + in_ms;

    if (in_ms > 0 && in_ms < 10000000)
        m->ends_ms[m->ends++ % 32] = at;
}

static const int64_t expand_ms[] = {1, 2, 5, 10, 50, 100, 999, 1000, 1001,
                                    1500, 2000, 5000, 60000, 3600000};

static int64_t expand_duration(maker *m)
{
    size_t n = sizeof expand_ms / sizeof *expand_ms;
    int64_t ms = expand_ms[maker_below(m, (uint32_t)n)];

    if (maker_once_in(m, 30))
        return -(int64_t)maker_below(m, 5);
    return ms;
}

static word expand_time(maker *m, char kind)
{
    int64_t ms = expand_duration(m);
    long long now = (long long)(m->now_us / 1000), at = now + (long long)ms;

    switch (kind) {
    case 'S':
        maker_end(m, ms / 1000 * 1000);
        return maker_format(m, "%lld", (long long)(ms / 1000));
    case 'A':
        maker_end(m, at / 1000 * 1000 - now);
        return maker_format(m, "%lld", at / 1000);
    case 'B':
        maker_end(m, ms);
        return maker_format(m, "%lld", at);
    case 'b':
        maker_end(m, ms);
        if (maker_once_in(m, 6))
            return tape_text(m->t, "0");
        return maker_format(m, "%lld.%03lld", (long long)(ms / 1000),
                            (long long)(ms < 0 ? 0 : ms % 1000));
    default: /* M */
        maker_end(m, ms);
        return maker_format(m, "%lld", (long long)ms);
    }
}

static word expand_key(maker *m, char kind)
{
    static const char *const odd[] = {"", "k", "{h}1", "\xff", "s*", "S1",
                                      NULL};
    static const char kinds[] = "shltzx";

    if (maker_once_in(m, 40))
        return tape_text(m->t, maker_pick(m, odd));
    if (kind == 'k' || maker_once_in(m, 16))
        kind = kinds[maker_below(m, 6)];
    return maker_format(m, "%c%u", kind, 1 + maker_below(m, 3));
}

static word expand_value(maker *m)
{
    static const char *const values[] = {"", "a", "hello", "0", "1", "10",
        "-5", "3.14", "x y", "12345678901234567890", "\xc3\xa9", "1e2",
        "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz", "ab\r\ncd",
        "no small hash or set holds so long a value as this one, which has "
        "more than 64 bytes",
        "-0", "0.1", NULL};
    char nul[4] = {'a', '\0', 'b', '\xff'};

    if (maker_once_in(m, 30))
        return tape_word(m->t, nul, sizeof nul);
    return tape_text(m->t, maker_pick(m, values));
}

static word expand_member(maker *m)
{
    static const char *const members[] = {"a", "b", "c", "d", "e", "1", "2",
        "3", "10", "", "aa", "B", "-1", "\xff", NULL};

    if (maker_once_in(m, 25))
        return expand_value(m);
    return tape_text(m->t, maker_pick(m, members));
}

static word expand_id(maker *m)
{
    static const char *const ids[] = {"0", "0-1", "1", "1-1", "1-2", "2-0",
        "5-5", "-", "+", "0-0", "$", ">", "(1-1", "1-*", "5", "100-0",
        "18446744073709551615-18446744073709551615", NULL};
    long long now = (long long)(m->now_us / 1000);

    if (maker_once_in(m, 3))
        return maker_format(m, "%lld-%u",
                            now - (long long)maker_below(m, 3),
                            maker_below(m, 3));
    return tape_text(m->t, maker_pick(m, ids));
}

static word expand_sha(maker *m)
{
    int have = m->sha_count < 16 ? m->sha_count : 16;

    if (have == 0 || maker_once_in(m, 8))
        return tape_text(m->t, maker_once_in(m, 2)
                         ? "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
                         : "E0E1F9FABFC9D4800C877A703B823AC0578FF8DX");
    return m->shas[maker_below(m, (uint32_t)have)];
}

static word expand_script(maker *m)
{
    static const char *const texts[] = {"return 1", "return {KEYS,ARGV}",
        "return redis.call('get',KEYS[1])", "return ARGV[1]", "return nil",
        "return redis.call('set',KEYS[1],'x')", "x", "return {1,{2,'a'},3.7}",
        "return redis.call('smembers',KEYS[1])", "#!lua\nreturn 7",
        "return redis.pcall('incr',KEYS[1])", NULL};
    word w = tape_text(m->t, maker_pick(m, texts));

    (void)script_sha(m, w);
    return w;
}

static const char *const *expand_list(char kind)
{
    static const char *const ints[] = {"1", "-1", "0", "5", "10", "-7",
        "100", "9223372036854775807", "255", "-9223372036854775808", NULL};
    static const char *const floats[] = {"1", "2", "3", "0", "-1", "1.5",
        "2.25", "0.1", "1e10", "-inf", "inf", "3.0", "1e-7", "100", "+5",
        "123456789.125", "1e22", "-0", NULL};
    static const char *const counts[] = {"0", "1", "2", "3", "5", "10", "-1",
        "100", NULL};
    static const char *const random[] = {"0", "1", "2", "3", "-1", "-3",
        "100", "5", NULL};
    static const char *const indexes[] = {"0", "1", "2", "-1", "-2", "3",
        "5", "-5", "100", "-100", NULL};
    static const char *const scores[] = {"-inf", "+inf", "1", "(1", "2",
        "(2", "0", "(0", "3", "inf", "(inf", "1.5", "(-inf", "-1", "1e9",
        NULL};
    static const char *const lexes[] = {"-", "+", "[a", "(a", "[c", "(c",
        "[", "(", "[b", "[\xff", "a", NULL};
    static const char *const patterns[] = {"*", "s*", "?1", "[sh]*", "a*",
        "*1", "[^s]?", "h\\1", "", "**", "[a-c]", "[", "s1", "\\", NULL};
    static const char *const channels[] = {"c1", "c2", "c3", "", "d", NULL};
    static const char *const channel_patterns[] = {"c*", "*", "c?", "[cd]*",
        NULL};
    static const char *const prefixes[] = {"s", "h", "s1", "z", "", NULL};
    static const char *const groups[] = {"g1", "g1", "g2", NULL};
    static const char *const consumers[] = {"al", "al", "bo", "cy", NULL};
    static const char *const dbs[] = {"0", "1", "2", "0", NULL};

    switch (kind) {
    case 'i': return ints;
    case 'f': return floats;
    case 'n': return counts;
    case 'q': return random;
    case 'r': return indexes;
    case 'm': return scores;
    case 'L': return lexes;
    case 'p': return patterns;
    case 'c': return channels;
    case 'P': return channel_patterns;
    case 'y': return prefixes;
    case 'g': return groups;
    case 'o': return consumers;
    case 'd': return dbs;
    default: return hostile_words;
    }
}

static word expand_kind(maker *m, char kind)
{
    if (strchr("kshltzx", kind) != NULL)
        return expand_key(m, kind);
    if (strchr("SMABb", kind) != NULL)
        return expand_time(m, kind);
    if (strchr("NTXOJKWY", kind) != NULL)
        return files_word(m, kind);
    switch (kind) {
    case 'v': return expand_value(m);
    case 'e': return expand_member(m);
    case 'I': return expand_id(m);
    case 'u': return expand_script(m);
    case 'U': return expand_sha(m);
    case 'C':
        return maker_format(m, "%c%u", MODEL_ID_MARK, maker_below(m, 4));
    case 'i':
        if (maker_once_in(m, 2))
            return maker_format(m, "%d", (int)maker_below(m, 40) - 10);
        break;
    case 'f':
        if (maker_once_in(m, 2))
            return maker_format(m, "%u", maker_below(m, 6));
        break;
    default:
        break;
    }
    return tape_text(m->t, maker_pick(m, expand_list(kind)));
}

/* ---------------------------------------------------------------- grammar */

static void expand_add(ask *a, word w)
{
    if (a->argc < MODEL_WORDS)
        a->argv[a->argc++] = w;
}

static void expand_part(maker *m, const char *p, const char *end, ask *a);

/* The end of what opens at p, and the pieces in it. */
static const char *expand_pieces(const char *p, char mark,
                                 const char **begin, int *n)
{
    int depth = 0;

    *n = 0;
    begin[(*n)++] = p + 1;
    for (p++;; p++) {
        if (strchr("[({", *p) != NULL && *p != '\0')
            depth++;
        else if (depth == 0 && strchr("])}", *p) != NULL)
            break;
        else if (strchr("])}", *p) != NULL)
            depth--;
        else if (depth == 0 && *p == mark)
            begin[(*n)++] = p + 1;
    }
    begin[*n] = p + 1;
    return p;
}

static void expand_shuffled(maker *m, const char **begin, int n, ask *a)
{
    int order[16], i;

    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = n - 1; i > 0; i--) {
        int k = (int)maker_below(m, (uint32_t)i + 1), x = order[i];

        order[i] = order[k];
        order[k] = x;
    }
    for (i = 0; i < n; i++)
        if (maker_below(m, 10) < 4)
            expand_part(m, begin[order[i]], begin[order[i] + 1] - 1, a);
}

static const char *expand_bracket(maker *m, const char *p, ask *a)
{
    const char *begin[18], *end;
    int n, i, times;

    end = expand_pieces(p, *p == '[' ? '|' : *p == '(' ? ';' : '\0', begin,
                        &n);
    if (*p == '(') {
        expand_shuffled(m, begin, n, a);
    } else if (*p == '[') {
        i = (int)maker_below(m, (uint32_t)n);
        expand_part(m, begin[i], begin[i + 1] - 1, a);
    } else {
        times = maker_once_in(m, 25) ? 8 : 1 + (int)maker_below(m, 3);
        for (i = 0; i < times; i++)
            expand_part(m, begin[0], begin[1] - 1, a);
    }
    return end + 1;
}

static const char *expand_word(maker *m, const char *p, const char *end,
                               ask *a)
{
    char text[64];
    size_t n = 0;

    if (*p == '%' && p + 1 < end) {
        word w = expand_kind(m, p[1]);

        p += 2;
        expand_add(a, w);
        return p;
    }
    for (; p < end && strchr(" [({", *p) == NULL; p++)
        if (n < sizeof text)
            text[n++] = *p;
    expand_add(a, tape_word(m->t, text, n));
    return p;
}

static void expand_part(maker *m, const char *p, const char *end, ask *a)
{
    while (p < end) {
        if (*p == ' ')
            p++;
        else if (strchr("[({", *p) != NULL && p + 1 < end)
            p = expand_bracket(m, p, a);
        else
            p = expand_word(m, p, end, a);
    }
}

void expand_template(maker *m, const char *template, ask *a)
{
    int tame = *template == '!';

    a->argc = 0;
    template += tame;
    expand_part(m, template, template + strlen(template), a);
    if (!tame && (int)maker_below(m, 1024) >= m->calm)
        expand_spoil(m, a);
    expand_tame(m, a);
}
