/* SPDX-License-Identifier: MIT
 *
 * frames.c - replies as trees, and a form of them that can be compared.
 *
 * This reader is independent of the library's, and checks little: a reply that
 * it cannot read is compared byte for byte. Parts that a rule allows to differ
 * are sorted or left out when the tree is written again. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

static int frame_new(forest *f, char type)
{
    frame *x;

    if (f->n == FRAME_MAX)
        return -1;
    x = &f->at[f->n];
    memset(x, 0, sizeof *x);
    x->type = type;
    x->first = x->next = -1;
    return f->n++;
}

static int frame_number(word line, long *out)
{
    char text[32];
    char *end;

    if (line.n == 0 || line.n >= sizeof text)
        return -1;
    memcpy(text, line.p, line.n);
    text[line.n] = '\0';
    *out = strtol(text, &end, 10);
    return *end == '\0' ? 0 : -1;
}

static int frame_blob(frame *x, const char *p, size_t n, long size)
{
    if (size < 0) {
        x->null = 1;
        return 0;
    }
    if ((size_t)size > n || n - (size_t)size < 2)
        return -1;
    x->text.p = p;
    x->text.n = (size_t)size;
    x->size += (size_t)size + 2;
    return 0;
}

/* Returns 1 if the frame is a push, which a server may write between the
 * replies of a transaction, as an array if the transaction has gone back to
 * RESP2. */
static int frame_is_news(const forest *f, int at)
{
    static const char *const words[] = {"message", "pmessage", "smessage",
                                        "invalidate"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if ((f->at[at].type == '>' ||
             (f->at[at].type == '*' && f->at[at].count > 2)) &&
            word_is(frame_head(f, at), words[i]))
            return 1;
    return 0;
}

static int frame_children(forest *f, int at, const char *p, size_t n)
{
    int i, last = -1;

    for (i = 0; i < f->at[at].count;) {
        int child = frame_read(f, p, n);

        if (child < 0)
            return -1;
        f->at[child].stray = frame_is_news(f, child);
        i += !f->at[child].stray;
        if (last < 0)
            f->at[at].first = child;
        else
            f->at[last].next = child;
        last = child;
        p += f->at[child].size;
        n -= f->at[child].size;
        f->at[at].size += f->at[child].size;
    }
    return 0;
}

int frame_read(forest *f, const char *p, size_t n)
{
    const char *end = n < 3 ? NULL : (const char *)memchr(p, '\r', n);
    long size = 0;
    word line;
    int at;

    if (end == NULL || (size_t)(end - p) + 2 > n || end[1] != '\n')
        return -1;
    at = frame_new(f, p[0]);
    if (at < 0)
        return -1;
    line.p = p + 1;
    line.n = (size_t)(end - line.p);
    f->at[at].size = line.n + 3;
    if (strchr("+-:_,#(", p[0]) != NULL) {
        f->at[at].text = line;
        return at;
    }
    if (strchr("$!=*~%>|", p[0]) == NULL || frame_number(line, &size) != 0)
        return -1;
    if (strchr("$!=", p[0]) != NULL)
        return frame_blob(&f->at[at], p + f->at[at].size,
                          n - f->at[at].size, size) == 0 ? at : -1;
    f->at[at].null = size < 0;
    if (size > FRAME_MAX)
        return -1;
    f->at[at].count = size < 0 ? 0 : (int)size;
    if (p[0] == '%' || p[0] == '|')
        f->at[at].count *= 2;
    return frame_children(f, at, p + f->at[at].size, n - f->at[at].size) == 0
               ? at : -1;
}

int frame_no_stray(const forest *f, int at)
{
    while (at >= 0 && f->at[at].stray)
        at = f->at[at].next;
    return at;
}

int frame_error(const forest *f, int at)
{
    return f->at[at].type == '-' || f->at[at].type == '!';
}

word frame_head(const forest *f, int at)
{
    static const word none = {"", 0};
    int first = f->at[at].first;

    return first < 0 ? none : f->at[first].text;
}

/* In RESP2 an array that begins with one of these words is one. */
int frame_is_push(const forest *f, int at)
{
    static const char *const words[] = {
        "message", "pmessage", "smessage", "subscribe", "psubscribe",
        "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe"};
    word head = frame_head(f, at);
    size_t i;

    if (f->at[at].type == '>')
        return 1;
    if (f->at[at].type != '*')
        return 0;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (head.n == strlen(words[i]) &&
            memcmp(head.p, words[i], head.n) == 0)
            return 1;
    return 0;
}

/* -------------------------------------------------------------- rendering */

static int render_order(const void *a, const void *b)
{
    const bytes *x = (const bytes *)a, *y = (const bytes *)b;
    size_t n = x->n < y->n ? x->n : y->n;
    int c = n == 0 ? 0 : memcmp(x->p, y->p, n);

    return c != 0 ? c : (x->n > y->n) - (x->n < y->n);
}

/* Children `by` by `by`, as sorted pieces. */
static void render_sorted(bytes *out, const forest *f, int at, rule inner,
                          int by, const side *s)
{
    int pieces = (f->at[at].count + by - 1) / by, i = 0, child, k;
    bytes *piece;

    piece = (bytes *)calloc((size_t)pieces + 1, sizeof *piece);
    if (piece == NULL)
        abort();
    for (child = frame_no_stray(f, f->at[at].first); child >= 0;
         child = frame_no_stray(f, f->at[child].next))
        frame_render(&piece[i++ / by], f, child, inner, s);
    qsort(piece, (size_t)pieces, sizeof *piece, render_order);
    for (k = 0; k < pieces; k++) {
        bytes_put(out, piece[k].p, piece[k].n);
        bytes_free(&piece[k]);
    }
    free(piece);
}

static void render_plain(bytes *out, const forest *f, int at, rule inner,
                         const side *s)
{
    int child;

    for (child = frame_no_stray(f, f->at[at].first); child >= 0;
         child = frame_no_stray(f, f->at[child].next))
        frame_render(out, f, child, inner, s);
}

static int render_aggregate(char type)
{
    return strchr("*~%>|", type) != NULL;
}

static void render_shape(bytes *out, const forest *f, int at)
{
    const frame *x = &f->at[at];
    int child;

    bytes_put(out, &x->type, 1);
    if (x->null)
        bytes_text(out, "null");
    if (render_aggregate(x->type))
        bytes_format(out, "%d", x->count);
    if (frame_error(f, at))
        bytes_put(out, x->text.p, x->text.n);
    bytes_text(out, " ");
    for (child = frame_no_stray(f, x->first); child >= 0;
         child = frame_no_stray(f, f->at[child].next))
        render_shape(out, f, child);
}

int frame_goes_on(const forest *f, int at)
{
    return f->at[at].count == 2 && !word_is(frame_head(f, at), "0");
}

static void render_scan(bytes *out, const forest *f, int at, rule r,
                        const side *s)
{
    int cursor = f->at[at].first, list;

    if (f->at[at].count != 2) {
        frame_render(out, f, at, RULE_EXACT, s);
        return;
    }
    list = f->at[cursor].next;
    frame_render(out, f, list, r, s);
}

static int render_known_id(word text, const side *s)
{
    long n;
    int i, k;

    if (frame_number(text, &n) != 0)
        return -1;
    for (i = 0; i < MODEL_LINKS; i++)
        if (n == s->id[i] && n > 0)
            return i;
    for (i = 0; i < MODEL_LINKS; i++)
        for (k = 0; k < MODEL_IDS; k++)
            if (n == s->id_was[i][k] && n > 0)
                return i;
    return -1;
}

/* Fields whose values belong to one server; of a HELLO, or of XINFO. */
static void render_hello(bytes *out, const forest *f, int at, const side *s)
{
    int child, hide = 0;

    bytes_format(out, "%c%d ", f->at[at].type, f->at[at].count);
    for (child = frame_no_stray(f, f->at[at].first); child >= 0;
         child = frame_no_stray(f, f->at[child].next)) {
        word w = f->at[child].text;

        if (hide)
            bytes_format(out, "%c? ", f->at[child].type);
        else
            frame_render(out, f, child, RULE_EXACT, s);
        hide = word_is(w, "server") || word_is(w, "version") ||
               word_is(w, "id") || word_is(w, "radix-tree-keys") ||
               word_is(w, "radix-tree-nodes");
    }
}

static void render_flags(bytes *out, word field)
{
    size_t i;

    for (i = 0; i < field.n; i++)
        if (field.p[i] != 'u')
            bytes_put(out, field.p + i, 1);
    bytes_text(out, " ");
}

/* The fields of one client's line that do not hang on buffers and sockets. */
static void render_client(bytes *out, word line, const side *s)
{
    static const char *const fields[] = {"id=", "name=", "flags=", "db=",
        "sub=", "psub=", "ssub=", "multi=", "cmd=", "user=", "redir=",
        "resp="};
    size_t i, at = 0;

    while (at < line.n) {
        const char *p = line.p + at;
        const char *end = (const char *)memchr(p, ' ', line.n - at);
        word value, field;

        field.p = p;
        field.n = end == NULL ? line.n - at : (size_t)(end - p);
        at += field.n + 1;
        for (i = 0; i < sizeof fields / sizeof *fields; i++) {
            size_t m = strlen(fields[i]);

            if (field.n < m || memcmp(p, fields[i], m) != 0)
                continue;
            value.p = p + m;
            value.n = field.n - m;
            if ((i == 0 || i == 10) && render_known_id(value, s) >= 0)
                bytes_format(out, "%s#%d ", fields[i],
                             render_known_id(value, s));
            else if (i == 2) /* u: has waited, and goes on in a moment      */
                render_flags(out, field);
            else if (i != 0)
                bytes_format(out, "%.*s ", (int)field.n, field.p);
            else
                return; /* a connection of the rig                      */
        }
    }
    bytes_text(out, "\n");
}

/* Without the "txt:" of RESP3. */
static word render_verbatim(const frame *x)
{
    word text = x->text;

    if (x->type == '=' && text.n >= 4) {
        text.p += 4;
        text.n -= 4;
    }
    return text;
}

/* Writes the clients sorted, since a server rotates its list of clients. */
static void render_clients(bytes *out, const forest *f, int at, const side *s)
{
    static bytes line[64];
    word text = render_verbatim(&f->at[at]);
    int n = 0, i;

    while (text.n > 0 && n < 64) {
        const char *end = (const char *)memchr(text.p, '\n', text.n);
        word w;

        w.p = text.p;
        w.n = end == NULL ? text.n : (size_t)(end - text.p);
        bytes_clear(&line[n]);
        render_client(&line[n++], w, s);
        if (end == NULL)
            break;
        text.p += w.n + 1;
        text.n -= w.n + 1;
    }
    qsort(line, (size_t)n, sizeof *line, render_order);
    for (i = 0; i < n; i++)
        bytes_put(out, line[i].p, line[i].n);
}

/* A script may have stored the run id of the process: all of its 40 digits, or
 * the last 32. */
static void render_text(bytes *out, word text, const side *s)
{
    const char *at;
    size_t n;
    int i;

    for (i = 0; i < 2; i++) {
        if (s->run[i][0] == '\0')
            continue;
        n = 40;
        at = (const char *)memmem(text.p, text.n, s->run[i], n);
        if (at == NULL) {
            n = 32;
            at = (const char *)memmem(text.p, text.n, s->run[i] + 8, n);
        }
        if (at == NULL)
            continue;
        bytes_put(out, text.p, (size_t)(at - text.p));
        bytes_format(out, "(name %d of the process)", i);
        text.n -= (size_t)(at - text.p) + n;
        text.p = at + n;
    }
    bytes_put(out, text.p, text.n);
}

static void render_scalar(bytes *out, const frame *x, const side *s)
{
    bytes_put(out, &x->type, 1);
    if (x->null)
        bytes_text(out, "null");
    render_text(out, x->text, s);
    bytes_text(out, " ");
}

static void render_open(bytes *out, const frame *x)
{
    bytes_put(out, &x->type, 1);
    if (x->null)
        bytes_text(out, "null ");
    else
        bytes_format(out, "%d ", x->count);
}

static void render_tree(bytes *out, const forest *f, int at, rule r,
                        const side *s)
{
    const frame *x = &f->at[at];
    rule inner = r == RULE_DEEP || r == RULE_IDS ? r : RULE_EXACT;

    render_open(out, x);
    if (x->type == '%')
        render_sorted(out, f, at, inner, 2, s);
    else if (x->type == '~')
        render_sorted(out, f, at, inner, 1, s);
    else if (r == RULE_PAIRS && x->first >= 0 &&
             !render_aggregate(f->at[x->first].type))
        render_sorted(out, f, at, inner, 2, s);
    else if (r == RULE_SORTED || r == RULE_DEEP || r == RULE_PAIRS)
        render_sorted(out, f, at, inner, 1, s);
    else
        render_plain(out, f, at, inner, s);
}

void frame_render(bytes *out, const forest *f, int at, rule r, const side *s)
{
    const frame *x = &f->at[at];

    if (frame_error(f, at) && r != RULE_ANY && r != RULE_TYPE)
        r = RULE_EXACT;
    switch (r) {
    case RULE_ANY:
        return;
    case RULE_TYPE:
        bytes_put(out, &x->type, 1);
        return;
    case RULE_SHAPE:
        render_shape(out, f, at);
        return;
    case RULE_SCAN:
        render_scan(out, f, at, RULE_SORTED, s);
        return;
    case RULE_SCAN_PAIRS:
        render_scan(out, f, at, RULE_PAIRS, s);
        return;
    case RULE_HELP:
        bytes_format(out, "%c", x->type);
        if (x->first >= 0)
            frame_render(out, f, x->first, RULE_EXACT, s);
        return;
    case RULE_INFO:
        bytes_put(out, &x->type, 1);
        info_render(out, render_verbatim(x), s);
        return;
    case RULE_HELLO:
        render_hello(out, f, at, s);
        return;
    case RULE_CLIENTS:
        render_clients(out, f, at, s);
        return;
    case RULE_IDS:
        if (!render_aggregate(x->type) && render_known_id(x->text, s) >= 0) {
            bytes_format(out, "#%d ", render_known_id(x->text, s));
            return;
        }
        break;
    case RULE_UNSUBSCRIBED:
        if (f->at[at].count == 3) {
            frame_render(out, f, x->first, RULE_EXACT, s);
            return;
        }
        break;
    case RULE_EXACT:
    case RULE_SORTED:
    case RULE_PAIRS:
    case RULE_DEEP:
        break;
    }
    if (render_aggregate(x->type))
        render_tree(out, f, at, r, s);
    else
        render_scalar(out, x, s);
}
