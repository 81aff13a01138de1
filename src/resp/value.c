/* SPDX-License-Identifier: MIT
 *
 * value.c - a cursor over a tape that scan.c has judged.
 *
 * No bytes from a server can make a function here fail, and none looks past
 * the END behind the nodes on loan. Functions that move the cursor step over
 * attributes; only the described value leads back to its attribute. */
#include "value.h"

static relet_value value_none(void)
{
    relet_value v;

    v.node = NULL;
    v.base = NULL;
    return v;
}

static relet_value value_of(const relet_node *node, const char *base)
{
    relet_value v;

    v.node = node;
    v.base = base;
    return v;
}

static unsigned value_kind(relet_value v)
{
    return v.node == NULL ? (unsigned)RELET_T_NULL : v.node->kind;
}

/* Maps and attributes have two children for each element. */
static int value_paired(unsigned kind)
{
    return kind == RELET_T_MAP || kind == RELET_NODE_ATTRIBUTE;
}

/* ------------------------------------------------------------------ scalars */

relet_span relet_value_format(relet_value v)
{
    relet_span format = {NULL, 0};

    if (value_kind(v) == RELET_T_VERBATIM) {
        format.p = v.base + v.node->payload - 4;
        format.n = 3;
    }
    return format;
}

int relet_value_text_int(relet_value v, int64_t *out)
{
    relet_span text = relet_value_text(v);

    return value_kind(v) == RELET_T_TEXT && rlt_text_int(text.p, text.n, out);
}

int relet_value_double(relet_value v, double *out)
{
    unsigned kind = value_kind(v);
    relet_span text;

    if (kind == RELET_T_INT) {
        *out = (double)v.node->payload;
        return 1;
    }
    if (kind != RELET_T_TEXT && kind != RELET_T_DOUBLE)
        return 0;
    text = relet_value_text(v);
    return rlt_text_double(text.p, text.n, out);
}

int relet_value_bool(relet_value v, int *out)
{
    unsigned kind = value_kind(v);

    if (kind != RELET_T_BOOL && kind != RELET_T_INT)
        return 0;
    if (v.node->payload != 0 && v.node->payload != 1)
        return 0;
    *out = (int)v.node->payload;
    return 1;
}

int relet_value_is(relet_value v, const char *text)
{
    relet_span mine = relet_value_text(v);

    return mine.p != NULL && rlt_span_is(mine, text);
}

/* A valid big number is an optional sign and one or more digits, without a
 * limit. */
int relet_value_malformed(relet_value v)
{
    relet_span text = relet_value_text(v);

    if (value_kind(v) != RELET_T_BIG)
        return 0;
    if (text.n > 0 && (*text.p == '+' || *text.p == '-')) {
        text.p++;
        text.n--;
    }
    if (text.n == 0)
        return 1;
    for (; text.n > 0; text.p++, text.n--)
        if (*text.p < '0' || *text.p > '9')
            return 1;
    return 0;
}

/* ----------------------------------------------------------------- children */

/* The number of children on the tape: a map has two for each element. */
static size_t value_children(relet_value v)
{
    size_t n = relet_value_count(v);

    return value_paired(value_kind(v)) ? n * 2 : n;
}

relet_value relet_value_at(relet_value v, size_t i)
{
    size_t n = value_children(v);

    if (i >= n)
        return value_none();
    if ((size_t)v.node->payload == n) /* one node each */
        return value_of(v.node + 1 + i, v.base);
    for (v = relet_value_first(v); i > 0; i--)
        v = relet_value_next(v);
    return v;
}

relet_value relet_value_get(relet_value v, const char *key)
{
    size_t pairs = value_children(v) / 2, n = strlen(key);
    relet_value name = relet_value_first(v), value;
    relet_span text;

    if (!value_paired(value_kind(v)) && value_kind(v) != RELET_T_ARRAY)
        return value_none();
    for (; pairs > 0; pairs--, name = relet_value_next(value)) {
        value = relet_value_next(name);
        text = relet_value_text(name);
        if (text.p != NULL && text.n == n && memcmp(text.p, key, n) == 0)
            return value;
    }
    return value_none();
}

relet_value relet_value_attributes(relet_value v)
{
    const relet_node *end;

    if (v.node == NULL || !(v.node->flags & RLT_NODE_DESCRIBED))
        return value_none();
    end = v.node - 1;
    return value_of(end - end->len, v.base);
}

/* ------------------------------------------------------------------ keeping */

/* The text of a node and, of a verbatim, the format before it. */
static relet_span value_bytes(const relet_node *node, const char *base)
{
    relet_span bytes = relet_value_text(value_of(node, base));

    if (bytes.p != NULL && node->kind == RELET_T_VERBATIM) {
        bytes.p -= 4;
        bytes.n += 4;
    }
    return bytes;
}

/* The first node of v, including its attributes, and the number of nodes from
 * there to the end of v. */
static const relet_node *value_range(relet_value v, size_t *n)
{
    const relet_node *first = v.node;
    relet_value attributes = relet_value_attributes(v);

    if (attributes.node != NULL)
        first = attributes.node;
    *n = (size_t)(relet_node_behind(v.node) - first);
    return first;
}

size_t relet_value_size(relet_value v)
{
    const relet_node *first;
    size_t n, i, bytes;

    if (v.node == NULL)
        return 0;
    first = value_range(v, &n);
    bytes = (n + 1) * sizeof *first;
    for (i = 0; i < n; i++)
        bytes += value_bytes(&first[i], v.base).n;
    return bytes;
}

relet_value relet_value_copy(relet_value v, void *mem, size_t size)
{
    relet_node *to = (relet_node *)mem;
    const relet_node *from;
    char *base = (char *)mem;
    relet_span bytes;
    size_t n, i, at;

    if (v.node == NULL || size < relet_value_size(v))
        return value_none();
    from = value_range(v, &n);
    at = (n + 1) * sizeof *from;
    for (i = 0; i < n; i++) {
        to[i] = from[i];
        bytes = value_bytes(&from[i], v.base);
        if (bytes.p == NULL)
            continue;
        memcpy(base + at, bytes.p, bytes.n);
        at += bytes.n;
        to[i].payload = (int64_t)(at - from[i].len);
    }
    memset(&to[n], 0, sizeof to[n]);
    to[n].kind = RELET_NODE_END;
    to[n].payload = -1;
    return value_of(to + (v.node - from), base);
}

/* ------------------------------------------------------------ error replies */

/* 1 if the text begins with the word and then a blank or the end: BUSY does
 * not match BUSYGROUP. */
static int value_begins(relet_span text, const char *word)
{
    return rlt_span_eat(&text, word) && (text.n == 0 || *text.p == ' ');
}

static int value_begins_any(relet_span text, const char *const *words, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (value_begins(text, words[i]))
            return 1;
    return 0;
}

static int value_holds(relet_span text, const char *word)
{
    size_t n = strlen(word);

    for (; text.n >= n; text.p++, text.n--)
        if (memcmp(text.p, word, n) == 0)
            return 1;
    return 0;
}

/* Servers refuse with these errors before anything runs, whatever the command.
 */
int rlt_value_proves_script_unrun(relet_value v)
{
    static const char *const words[] = {"MOVED", "ASK", "REDIRECT", "TRYAGAIN",
                                        "NOSCRIPT", "BUSY", "LOADING"};
    relet_span text = relet_value_text(v);

    if (value_kind(v) != RELET_T_ERROR || value_holds(text, " script: "))
        return 0;
    return value_begins_any(text, words, sizeof words / sizeof *words);
}

/* An error raised inside a script has " script: " in its text and proves
 * nothing: effects from before the error stay. */
int relet_value_proves_no_effect(relet_value v)
{
    static const char *const words[] = {
        "CLUSTERDOWN", "CROSSSLOT", "NOAUTH", "NOPERM", "READONLY", "MISCONF",
        "NOREPLICAS", "MASTERDOWN", "EXECABORT", "OOM", "UNBLOCKED",
        "ERR unknown command", "ERR wrong number of arguments"};
    relet_span text = relet_value_text(v);

    if (rlt_value_proves_script_unrun(v))
        return 1;
    if (value_kind(v) != RELET_T_ERROR || value_holds(text, " script: "))
        return 0;
    return value_begins_any(text, words, sizeof words / sizeof *words);
}
