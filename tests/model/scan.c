/* SPDX-License-Identifier: MIT
 *
 * scan.c - runs a scan to its end, on each side with its own cursors.
 *
 * The elements of one reply of a scan may differ between servers, but not the
 * elements of all replies together. So a step asks until the cursor is 0 again,
 * and replaces the replies by one: the union, with each element once. */
#include <stdlib.h>
#include <string.h>

#include "play.h"

#define SCAN_ROUNDS 2000
#define SCAN_MOST 4096

typedef struct scan {
    side *on;
    int link;
    const ask *ask;
    int cursor_at; /* which argument                                       */
    int by;        /* words of an element                                  */
    char cursor[32];
    bytes element[SCAN_MOST];
    int n;
    bytes rest; /* what else was heard                                     */
} scan;

static int scan_at(const ask *a)
{
    return word_is(a->argv[0], "SCAN") ? 1 : 2;
}

static int scan_by(const ask *a)
{
    return word_is(a->argv[0], "HSCAN") || word_is(a->argv[0], "ZSCAN") ? 2
                                                                        : 1;
}

static int scan_send(scan *c)
{
    bytes out = {NULL, 0, 0};
    int i;

    bytes_format(&out, "*%d\r\n", c->ask->argc);
    for (i = 0; i < c->ask->argc; i++) {
        word w = c->ask->argv[i];

        if (i == c->cursor_at) {
            w.p = c->cursor;
            w.n = strlen(c->cursor);
        }
        bytes_format(&out, "$%zu\r\n", w.n);
        bytes_put(&out, w.p, w.n);
        bytes_text(&out, "\r\n");
    }
    c->on->send(c->on, c->link, out.p, out.n);
    bytes_free(&out);
    for (i = 0; i < 2; i++) {
        c->on->poke(c->on);
        if (c->on->rest(c->on) != 0)
            return -1;
    }
    (void)c->on->take(c->on);
    return 0;
}

/* Elements are kept as the received bytes. */
static void scan_keep(scan *c, const forest *f, int list, const char *begin)
{
    int child = f->at[list].first, k;
    const char *p = begin;

    while (child >= 0 && c->n < SCAN_MOST) {
        for (k = 0; k < c->by && child >= 0; k++) {
            bytes_put(&c->element[c->n], p, f->at[child].size);
            p += f->at[child].size;
            child = f->at[child].next;
        }
        c->n++;
    }
}

static size_t scan_header(const char *p)
{
    return (size_t)(strchr(p, '\n') - p) + 1;
}

/* Reads one reply: returns 1 if the scan goes on, else 0. */
static int scan_reply(scan *c, const forest *f, int at, const char *p)
{
    int first = f->at[at].first, list;

    if (f->at[at].type != '*' || f->at[at].count != 2 ||
        f->at[first].text.n >= sizeof c->cursor) {
        bytes_put(&c->rest, p, f->at[at].size);
        c->cursor[0] = '\0';
        return 0;
    }
    list = f->at[first].next;
    memcpy(c->cursor, f->at[first].text.p, f->at[first].text.n);
    c->cursor[f->at[first].text.n] = '\0';
    p += scan_header(p) + f->at[first].size;
    scan_keep(c, f, list, p + scan_header(p));
    return strcmp(c->cursor, "0") != 0;
}

static int scan_round(scan *c)
{
    static forest f;
    bytes *h = &c->on->heard[c->link];
    size_t from = h->n, at = from;
    int more = 0, top;

    if (f.at == NULL && (f.at = (frame *)calloc(FRAME_MAX, sizeof(frame))) ==
                            NULL)
        abort();
    if (scan_send(c) != 0)
        return -1;
    for (; at < h->n; at += f.at[top].size) {
        f.n = 0;
        top = frame_read(&f, h->p + at, h->n - at);
        if (top < 0)
            break;
        if (frame_is_push(&f, top))
            bytes_put(&c->rest, h->p + at, f.at[top].size);
        else
            more = scan_reply(c, &f, top, h->p + at);
    }
    h->n = from;
    return more;
}

static int scan_order(const void *a, const void *b)
{
    const bytes *x = (const bytes *)a, *y = (const bytes *)b;
    size_t n = x->n < y->n ? x->n : y->n;
    int c = memcmp(x->p, y->p, n);

    return c != 0 ? c : (x->n > y->n) - (x->n < y->n);
}

/* Writes the pushes, and one reply with each element once. */
static void scan_tell(scan *c)
{
    bytes *h = &c->on->heard[c->link], all = {NULL, 0, 0};
    int i, n = 0;

    qsort(c->element, (size_t)c->n, sizeof *c->element, scan_order);
    for (i = 0; i < c->n; i++)
        if (i == 0 || !bytes_same(&c->element[i], &c->element[i - 1])) {
            bytes_put(&all, c->element[i].p, c->element[i].n);
            n++;
        }
    bytes_put(h, c->rest.p == NULL ? "" : c->rest.p, c->rest.n);
    if (c->cursor[0] != '\0') {
        bytes_format(h, "*2\r\n$1\r\n0\r\n*%d\r\n", n * c->by);
        bytes_put(h, all.p == NULL ? "" : all.p, all.n);
    }
    for (i = 0; i < c->n; i++)
        bytes_free(&c->element[i]);
    bytes_free(&all);
    bytes_free(&c->rest);
}

int scan_play(side *s, int link, const ask *a)
{
    static scan c;
    int rounds, more = 1;

    memset(&c, 0, sizeof c);
    c.on = s;
    c.link = link;
    c.ask = a;
    c.cursor_at = scan_at(a);
    c.by = scan_by(a);
    c.cursor[0] = '0';
    for (rounds = 0; more > 0 && rounds < SCAN_ROUNDS; rounds++)
        more = s->open_links[link] && !s->closed[link] ? scan_round(&c) : 0;
    if (more < 0)
        return -1;
    scan_tell(&c);
    return 0;
}
