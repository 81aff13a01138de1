/* SPDX-License-Identifier: MIT
 *
 * lookup.c - commands by their names, and the keys among their arguments.
 */
#include "lookup.h"

/* -------------------------------------------------------------- the table */

static char lookup_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Ignores case. That '@' and '`' hash alike, too, does no harm. */
static uint32_t lookup_hash(relet_span name)
{
    uint32_t h = 2166136261u;
    size_t i;

    for (i = 0; i < name.n; i++)
        h = (h ^ ((uint8_t)name.p[i] | 0x20u)) * 16777619u;
    return (h ^ h >> 15) & (RLT_TABLE_SIZE - 1);
}

RELET_PRIVATE void rlt_lookup_add(rlt_server *s, const rlt_command *row,
                                  uint8_t category)
{
    uint32_t at = lookup_hash(relet_str(row->name));

    while (s->table[at])
        at = (at + 1) & (RLT_TABLE_SIZE - 1);
    s->table[at] = row;
    s->table_category[at] = category;
    s->commands++;
    rlt_assert(s->commands < RLT_TABLE_SIZE / 2);
}

static int lookup_same(relet_span name, const char *word)
{
    size_t i;

    for (i = 0; i < name.n; i++)
        if ((name.p[i] != word[i] && lookup_lower(name.p[i]) != word[i]) ||
            word[i] == '\0')
            return 0;
    return word[i] == '\0';
}

/* The table index of the command, or of the empty place for it. */
static uint32_t lookup_place(const rlt_server *s, relet_span name)
{
    uint32_t at = lookup_hash(name);

    while (s->table[at] && !lookup_same(name, s->table[at]->name))
        at = (at + 1) & (RLT_TABLE_SIZE - 1);
    return at;
}

RELET_PRIVATE const rlt_command *rlt_lookup_command(const rlt_server *s,
                                                    relet_span name)
{
    return s->table[lookup_place(s, name)];
}

RELET_PRIVATE uint8_t rlt_lookup_category(const rlt_server *s, relet_span name)
{
    return s->table_category[lookup_place(s, name)];
}

RELET_PRIVATE const rlt_command *rlt_lookup_row(const rlt_server *s,
                                                const relet_span *argv,
                                                uint32_t argc, int *is_sub,
                                                const rlt_command **container)
{
    const rlt_command *row = rlt_lookup_command(s, argv[0]), *sub;

    *is_sub = 0;
    *container = row;
    if (row == NULL || row->sub == NULL || argc < 2)
        return row;
    for (sub = row->sub; sub->name; sub++)
        if (rlt_span_is_nocase(argv[1], sub->name)) {
            *is_sub = 1;
            return sub;
        }
    return NULL;
}

RELET_PRIVATE int rlt_lookup_arity_ok(const rlt_command *row, uint32_t argc)
{
    if (row->arity > 0)
        return argc == (uint32_t)row->arity;
    return argc >= (uint32_t)-row->arity;
}

/* -------------------------------------------------------------------- keys */

/* The next index from `first` to `last`; 0 when *at is past the last one. */
static uint32_t lookup_key_next(uint32_t first, uint32_t last, uint32_t step,
                                uint32_t *at)
{
    uint32_t next = *at < first ? first : *at + step;

    if (first == 0 || next > last)
        return 0;
    *at = next;
    return next;
}

/* Reads the number of keys as Redis does for its permission checks: with atoi,
 * which ignores what follows the digits. */
static int64_t lookup_key_number(relet_span s)
{
    uint64_t n = 0;
    int minus;

    while (s.n > 0 && (*s.p == ' ' || (*s.p >= '\t' && *s.p <= '\r'))) {
        s.p++;
        s.n--;
    }
    minus = rlt_span_eat(&s, "-");
    if (!minus)
        (void)rlt_span_eat(&s, "+");
    for (; s.n > 0 && *s.p >= '0' && *s.p <= '9' && n < INT64_MAX / 10;
         s.p++, s.n--)
        n = n * 10 + (uint64_t)(*s.p - '0');
    return minus ? 0 : (int32_t)(uint32_t)(n & UINT32_MAX);
}

static uint32_t lookup_key_counted(const rlt_command *row,
                                   const relet_span *argv, uint32_t argc,
                                   uint32_t *at)
{
    uint32_t count_at = (uint32_t)row->count_at, i;
    int64_t n;

    if (count_at >= argc)
        return 0;
    n = lookup_key_number(argv[count_at]);
    if (n < 1 || n > (int64_t)argc - (int64_t)count_at - 1)
        return 0;
    if (row->first > 0 && *at < (uint32_t)row->first) {
        *at = (uint32_t)row->first;
        return *at;
    }
    i = lookup_key_next(count_at + 1, count_at + (uint32_t)n, 1, at);
    return i;
}

static uint32_t lookup_key_streams(const relet_span *argv, uint32_t argc,
                                   uint32_t *at)
{
    uint32_t i = 1, n;

    while (i < argc && !rlt_span_is_nocase(argv[i], "streams"))
        i++;
    if (i >= argc)
        return 0;
    n = argc - i - 1;
    if (n < 2)
        return 0;
    return lookup_key_next(i + 1, i + n / 2, 1, at);
}

RELET_PRIVATE uint32_t rlt_lookup_key(const rlt_command *row,
                                      const relet_span *argv, uint32_t argc,
                                      uint32_t *at)
{
    uint32_t last;

    if (row->find == RLT_KEYS_COUNTED)
        return lookup_key_counted(row, argv, argc, at);
    if (row->find == RLT_KEYS_STREAMS)
        return lookup_key_streams(argv, argc, at);
    last = row->last < 0 ? argc - (uint32_t)-row->last : (uint32_t)row->last;
    return lookup_key_next((uint32_t)row->first, RLT_MIN(last, argc - 1),
                           (uint32_t)row->step, at);
}
