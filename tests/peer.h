/* SPDX-License-Identifier: MIT
 *
 * peer.h - the other side of a link, in memory, with a simulated clock.
 *
 * A t_peer owns one client and is its driver: it takes the bytes that the
 * client writes, hands over the server's bytes in pieces of any size, and
 * records each event as one line of text, so that a test reads as a
 * conversation:
 *
 *     t_up(&p);
 *     t_ask(&p, 7, 0, "GET", "k");
 *     T_TOOK(&p, "GET k");
 *     t_say(&p, "$1\r\nv\r\n");
 *     T_TOLD(&p, "reply 7 \"v\"");
 *
 * With `honest` set, the peer answers each command as a server would. It has
 * its own encoder and decoder and uses none of the library's. */
#ifndef RLT_PEER_H
#define RLT_PEER_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "sha1.h"

/* The ways to run a suite; main sets them and runs the suite again. t_fixed:
 * without an allocator. t_piece: the most bytes that move at once. */
static int t_fixed = 0;
static size_t t_piece = 0;

static inline void t_die(const char *why)
{
    fprintf(stderr, "peer: %s\n", why);
    abort();
}

/* ------------------------------------------------------------- byte queues */

typedef struct t_bytes {
    char *p;
    size_t at, n, cap;
} t_bytes;

static inline size_t t_bytes_used(const t_bytes *b)
{
    return b->n - b->at;
}

static inline const char *t_bytes_head(const t_bytes *b)
{
    return b->p == NULL ? "" : b->p + b->at;
}

static inline void t_bytes_put(t_bytes *b, const void *p, size_t n)
{
    if (b->at == b->n)
        b->at = b->n = 0;
    if (b->n + n > b->cap) {
        b->cap = (b->n + n) * 2 + 64;
        b->p = (char *)realloc(b->p, b->cap);
        if (b->p == NULL)
            t_die("out of memory");
    }
    if (n > 0)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void t_bytes_drop(t_bytes *b, size_t n)
{
    if (n > t_bytes_used(b))
        t_die("dropped more than there is");
    b->at += n;
}

static inline void t_bytes_clear(t_bytes *b)
{
    b->at = b->n = 0;
}

static inline void t_bytes_free(t_bytes *b)
{
    free(b->p);
    memset(b, 0, sizeof *b);
}

/* ------------------------------------------------------------- allocations */

/* Every block moves at every resize, and its old place is overwritten. */
typedef struct t_heap {
    size_t held, blocks, peak;
    uint64_t calls, failed; /* calls that ask for memory; refused ones       */
    uint64_t fail_at;       /* the call that fails, from 1; 0: none          */
    int fail_on;            /* 1: all calls behind it fail, too              */
    const char *secret;     /* must not be in a freed block                  */
    int leaked_secret;
} t_heap;

static inline int t_find(const void *in, size_t n, const char *text)
{
    const char *p = (const char *)in;
    size_t len = strlen(text), i;

    for (i = 0; len > 0 && i + len <= n; i++)
        if (memcmp(p + i, text, len) == 0)
            return 1;
    return 0;
}

static inline void t_heap_release(t_heap *h, void *p, size_t n)
{
    char *block = (char *)p - 16;
    size_t size;

    memcpy(&size, block, sizeof size);
    if (size != n)
        t_die("old_size is not the size of the block");
    if (h->secret && t_find(p, n, h->secret))
        h->leaked_secret = 1;
    h->held -= n;
    h->blocks--;
    memset(block, 0xDF, n + 16);
    free(block);
}

static inline void *t_heap_resize(void *user, void *p, size_t old_size,
                                  size_t new_size)
{
    t_heap *h = (t_heap *)user;
    char *block;

    if ((p == NULL) != (old_size == 0))
        t_die("old_size does not fit the pointer");
    if (new_size > 0) {
        h->calls++;
        if (h->fail_at > 0 && (h->calls == h->fail_at ||
                               (h->fail_on && h->calls > h->fail_at))) {
            h->failed++;
            return NULL;
        }
        block = (char *)malloc(new_size + 16);
        if (block == NULL)
            t_die("out of memory");
        memcpy(block, &new_size, sizeof new_size);
        memset(block + 16, 0xCD, new_size);
        if (p != NULL)
            memcpy(block + 16, p, RLT_MIN(old_size, new_size));
        h->held += new_size;
        h->blocks++;
        h->peak = RLT_MAX(h->peak, h->held);
    } else {
        block = NULL;
    }
    if (p != NULL)
        t_heap_release(h, p, old_size);
    return block ? block + 16 : NULL;
}

/* ------------------------------------------------------------------- peers */

#define T_WORDS 40
#define T_NAMES 64

typedef struct t_peer t_peer;
typedef struct t_words {
    int n;
    relet_span word[T_WORDS];
} t_words;

/* Called for each command that an honest peer must answer. Returns 1 if it has
 * answered it. */
typedef int t_answer_fn(t_peer *p, const t_words *w);

/* The state of a link at an honest server, and the errors it must answer. */
typedef struct t_server {
    char name[T_NAMES][72]; /* subscribed: kind, then the name               */
    char sha[8][41];        /* scripts it knows, also of earlier links       */
    int scripts;
    int in_multi, dirty;
    t_bytes queued; /* commands of a transaction                             */
    int queue;
    int busy;           /* commands left to answer with busy_text            */
    const char *busy_text;
    int greeting_done;  /* a PING ended the handshake                        */
    const char *refuse; /* the error that answers SUBSCRIBE                  */
    const char *keep;   /* the error that answers UNSUBSCRIBE                */
} t_server;

struct t_peer {
    relet *r;
    void *block;
    size_t size;
    relet_config config;
    t_heap heap;
    relet_time now;
    relet_io io;      /* of the last open                                    */
    int open;         /* the driver holds a link                             */
    int opens, closes;
    int asked;        /* the client waits for relet_io_opened                */
    int deaf;         /* the driver does not answer the client               */
    const char *no;   /* the driver refuses with this text                   */
    int hangup;       /* the server closes behind its bytes                  */
    int manual;       /* events are not taken                                */
    size_t read_max, write_max; /* bytes at once; 0: no bound                */
    size_t accept;    /* bytes that the link still takes                     */
    size_t give;      /* bytes that the link still brings                    */
    t_bytes out;      /* written by the client, not decoded yet              */
    t_bytes in;       /* said by the server, not yet read                    */
    t_bytes log;      /* events, each ended by a NUL                         */
    relet_time retry_ms; /* of the last DOWN                                 */
    int honest;
    t_answer_fn *answer;
    void *user;
    t_server server;
    uint64_t written; /* bytes, on this link                                 */
    char line[4096], took[4096];
};

/* A fast and small configuration, the same in every test. */
static inline relet_config t_config(void)
{
    relet_config c;

    relet_config_init(&c);
    memcpy(c.host, "peer", sizeof "peer");
    c.operations_max = 64;
    c.subscriptions_max = 8;
    c.leases_max = 0;
    c.workers_max = 0;
    c.output_max = 16384;
    c.reply_max = 16384;
    c.tape_max = 16384;
    c.line_max = 1024;
    c.bulk_max = 8192;
    c.count_max = 512;
    c.buffer_min = 64;
    c.seed = 1;
    return c;
}

static inline int t_start_with(t_peer *p, const relet_config *c)
{
    relet_fault fault;

    memset(p, 0, sizeof *p);
    p->config = *c;
    p->config.resize = t_fixed ? NULL : t_heap_resize;
    p->config.resize_user = &p->heap;
    p->size = relet_size(&p->config);
    p->block = malloc(p->size ? p->size : 1);
    if (p->block == NULL)
        t_die("out of memory");
    memset(p->block, 0xCD, p->size);
    p->accept = p->give = (size_t)-1;
    p->read_max = p->write_max = t_piece;
    p->now = 1000;
    p->r = relet_init(p->block, p->size, &p->config, &fault);
    if (p->r == NULL)
        fprintf(stderr, "peer: %s\n", fault.text);
    return p->r != NULL;
}

static inline void t_start(t_peer *p)
{
    relet_config c = t_config();

    if (!t_start_with(p, &c))
        t_die("the client was not made");
}

/* Returns the number of blocks and bytes that were not freed: 0. */
static inline size_t t_end(t_peer *p)
{
    size_t blocks;

    if (p->r)
        relet_finish(p->r);
    blocks = p->heap.blocks + p->heap.held;
    free(p->block);
    t_bytes_free(&p->out);
    t_bytes_free(&p->in);
    t_bytes_free(&p->log);
    t_bytes_free(&p->server.queued);
    p->r = NULL;
    p->block = NULL;
    return blocks;
}

/* ---------------------------------------------------------- events as text */

typedef struct t_text {
    char *p;
    size_t cap, n;
} t_text;

#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline void t_text_put(t_text *t, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(t->p + t->n, t->cap - t->n, format, list);
    va_end(list);
    t->n += (size_t)n;
    if (t->n >= t->cap)
        t->n = t->cap - 1;
}

static inline void t_text_span(t_text *t, relet_span s)
{
    size_t i;

    for (i = 0; i < s.n && i < 256; i++)
        if (s.p[i] < ' ' || s.p[i] > '~')
            t_text_put(t, "\\x%02x", (unsigned)(uint8_t)s.p[i]);
        else
            t_text_put(t, "%c", s.p[i]);
    if (s.n > 256)
        t_text_put(t, "...%lu", (unsigned long)s.n);
}

static inline void t_text_value(t_text *t, relet_value v);

static inline void t_text_children(t_text *t, relet_value v, char from,
                                   char to)
{
    size_t n = relet_value_count(v), i;
    relet_value c = relet_value_first(v);

    if (relet_value_type(v) == RELET_T_MAP)
        n *= 2;
    t_text_put(t, "%c", from);
    for (i = 0; i < n; i++, c = relet_value_next(c)) {
        if (i > 0)
            t_text_put(t, " ");
        t_text_value(t, c);
    }
    t_text_put(t, "%c", to);
}

static inline void t_text_value(t_text *t, relet_value v)
{
    int64_t i = 0;
    int b = 0;

    switch (relet_value_type(v)) {
    case RELET_T_NULL:
        t_text_put(t, "nil");
        return;
    case RELET_T_TEXT:
        t_text_put(t, "\"");
        t_text_span(t, relet_value_text(v));
        t_text_put(t, "\"");
        return;
    case RELET_T_ERROR:
        t_text_put(t, "!");
        t_text_span(t, relet_value_text(v));
        return;
    case RELET_T_INT:
        (void)relet_value_int(v, &i);
        t_text_put(t, "%ld", (long)i);
        return;
    case RELET_T_BOOL:
        (void)relet_value_bool(v, &b);
        t_text_put(t, b ? "true" : "false");
        return;
    case RELET_T_DOUBLE:
    case RELET_T_BIG:
    case RELET_T_VERBATIM:
        t_text_span(t, relet_value_text(v));
        return;
    case RELET_T_ARRAY:
        t_text_children(t, v, '[', ']');
        return;
    case RELET_T_MAP:
        t_text_children(t, v, '{', '}');
        return;
    case RELET_T_SET:
        t_text_children(t, v, '(', ')');
        return;
    case RELET_T_PUSH:
        t_text_children(t, v, '<', '>');
        return;
    }
}

static inline void t_text_channel(t_text *t, const relet_event *ev)
{
    static const char *const kind[] = {" channel ", " pattern ", " sharded "};

    t_text_put(t, "%s", kind[ev->channel_kind]);
    if (ev->kind == RELET_EV_MESSAGE && ev->channel_kind == RELET_PATTERN) {
        t_text_span(t, ev->pattern);
        t_text_put(t, " ");
    }
    t_text_span(t, ev->channel);
}

/* Each job is number:payload; #2 is its second attempt, !1 means that it
 * stalled once. */
static inline void t_text_jobs(t_text *t, const relet *r,
                               const relet_event *ev)
{
    relet_work w;
    size_t at = 0;

    while (relet_jobs_next(r, ev, &at, &w)) {
        t_text_put(t, " %lu:", (unsigned long)w.number);
        t_text_span(t, w.job.payload);
        if (w.attempt != 1)
            t_text_put(t, "#%u", (unsigned)w.attempt);
        if (w.stalls > 0)
            t_text_put(t, "!%u", (unsigned)w.stalls);
    }
}

static inline void t_text_event(t_text *t, const relet *r,
                                const relet_event *ev)
{
    t_text_put(t, "%s", relet_kind_text(ev->kind));
    switch (ev->kind) {
    case RELET_EV_NOTHING:
        t_die("an event that is none");
        return;
    case RELET_EV_REPLY:
        t_text_put(t, " %lu ", (unsigned long)ev->tag);
        t_text_value(t, ev->value);
        return;
    case RELET_EV_ERROR:
        t_text_put(t, " %lu ", (unsigned long)ev->tag);
        if (ev->why != RELET_WHY_NONE)
            t_text_put(t, "%s: ", relet_why_text(ev->why));
        t_text_span(t, ev->text);
        return;
    case RELET_EV_NOT_SENT:
    case RELET_EV_UNSURE:
        t_text_put(t, " %lu %s", (unsigned long)ev->tag,
                   relet_why_text(ev->why));
        return;
    case RELET_EV_DOWN:
        t_text_put(t, " %s: ", relet_why_text(ev->why));
        t_text_span(t, ev->text);
        return;
    case RELET_EV_UP:
        t_text_put(t, " ");
        t_text_span(t, ev->text);
        return;
    case RELET_EV_SUBSCRIBED:
    case RELET_EV_UNSUBSCRIBED:
    case RELET_EV_SUBSCRIPTION_REFUSED:
        t_text_channel(t, ev);
        if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED)
            t_text_put(t, " ");
        t_text_span(t, ev->text);
        if (ev->why != RELET_WHY_NONE)
            t_text_put(t, " (%s)", relet_why_text(ev->why));
        return;
    case RELET_EV_MESSAGE:
        t_text_channel(t, ev);
        t_text_put(t, " ");
        t_text_value(t, ev->value);
        return;
    case RELET_EV_GAP:
        if (ev->channel.n > 0)
            t_text_channel(t, ev);
        if (ev->why != RELET_WHY_NONE)
            t_text_put(t, " %s", relet_why_text(ev->why));
        return;
    case RELET_EV_LEASE_GAINED:
    case RELET_EV_LEASE_LOST:
    case RELET_EV_LEASE_TROUBLE:
    case RELET_EV_LEASE_ENDED:
        t_text_put(t, " %lu", (unsigned long)ev->tag);
        if (ev->why != RELET_WHY_NONE)
            t_text_put(t, " %s", relet_why_text(ev->why));
        return;
    case RELET_EV_JOBS:
        t_text_jobs(t, r, ev);
        return;
    case RELET_EV_JOB_CANCEL:
    case RELET_EV_JOB_LOST:
        t_text_put(t, " %lu", (unsigned long)ev->job);
        if (ev->why != RELET_WHY_NONE)
            t_text_put(t, " %s", relet_why_text(ev->why));
        return;
    case RELET_EV_WORKER_TROUBLE:
        t_text_put(t, " ");
        t_text_span(t, ev->text);
        return;
    case RELET_EV_WORKER_ENDED:
        return;
    case RELET_EV_INVALIDATE:
    case RELET_EV_PUSHED:
        t_text_put(t, " ");
        t_text_value(t, ev->value);
        return;
    }
}

static inline void t_log(t_peer *p, const relet_event *ev)
{
    t_text t;

    t.p = p->line;
    t.cap = sizeof p->line;
    t.n = 0;
    t_text_event(&t, p->r, ev);
    if (ev->kind == RELET_EV_DOWN)
        p->retry_ms = ev->retry_in_ms;
    t_bytes_put(&p->log, p->line, t.n + 1);
}

/* ----------------------------------------------------------------- a driver */

static inline void t_server_new_link(t_server *s)
{
    memset(s->name, 0, sizeof s->name);
    s->in_multi = s->dirty = s->queue = s->greeting_done = 0;
    t_bytes_clear(&s->queued);
}

static inline void t_link_gone(t_peer *p)
{
    p->open = p->hangup = 0;
    t_bytes_clear(&p->in);
}

/* Does what the client asks of its driver. Returns 1 if it asked for
 * anything. */
static inline int t_links(t_peer *p)
{
    relet_io io;
    int moved = 0;

    while (relet_io_want(p->r, &io)) {
        moved = 1;
        if (!io.open) {
            p->closes++;
            p->asked = 0;
            t_link_gone(p);
            continue;
        }
        if (p->open || p->asked)
            t_die("a second link was asked for");
        p->io = io;
        p->opens++;
        p->asked = 1;
    }
    if (!p->asked || p->deaf)
        return moved;
    p->asked = 0;
    if (p->no) {
        relet_io_opened(p->r, 0, 111, p->no);
        return 1;
    }
    p->open = 1;
    p->written = 0;
    t_bytes_clear(&p->out);
    t_bytes_clear(&p->in);
    t_server_new_link(&p->server);
    relet_io_opened(p->r, 0, 0, NULL);
    return 1;
}

static inline int t_write(t_peer *p)
{
    const uint8_t *from = NULL;
    size_t n = relet_io_pending(p->r, 0, &from);

    if (p->write_max && n > p->write_max)
        n = p->write_max;
    n = RLT_MIN(n, p->accept);
    if (n == 0)
        return 0;
    if (!p->open)
        t_die("bytes to write, and no link");
    t_bytes_put(&p->out, from, n);
    p->written += n;
    if (p->accept != (size_t)-1)
        p->accept -= n;
    relet_io_sent(p->r, 0, n);
    return 1;
}

/* Overwrites the lent room also behind the bytes read. */
static inline int t_read(t_peer *p)
{
    size_t n = RLT_MIN(t_bytes_used(&p->in), p->give), room;
    uint8_t *to = NULL;

    if (!p->open)
        return 0;
    if (n == 0) {
        if (!p->hangup || t_bytes_used(&p->in) > 0)
            return 0;
        t_link_gone(p);
        relet_io_closed(p->r, 0, 0, NULL);
        return 1;
    }
    room = relet_io_space(p->r, 0, &to);
    if (room == 0)
        return 0;
    memset(to, 0xEE, room);
    n = RLT_MIN(n, room);
    if (p->read_max && n > p->read_max)
        n = p->read_max;
    memcpy(to, t_bytes_head(&p->in), n);
    t_bytes_drop(&p->in, n);
    if (p->give != (size_t)-1)
        p->give -= n;
    relet_io_received(p->r, 0, n);
    return 1;
}

static inline int t_take(t_peer *p)
{
    relet_event ev;
    int moved = 0;

    while (!p->manual && relet_next(p->r, &ev)) {
        t_log(p, &ev);
        moved = 1;
    }
    return moved;
}

static inline int t_serve(t_peer *p);

/* One turn of a driver's loop. Returns 1 if something moved. */
static inline int t_turn(t_peer *p)
{
    int moved = t_read(p);

    relet_tick(p->r, p->now);
    moved |= t_take(p);
    moved |= t_links(p);
    moved |= t_write(p);
    moved |= p->honest ? t_serve(p) : 0;
    return moved;
}

/* Turns until nothing moves. A client at rest has its deadline ahead. */
static inline void t_move(t_peer *p)
{
    int turns = 0;

    while (t_turn(p) || t_turn(p))
        if (++turns > 10000000)
            t_die("the client never comes to rest");
    if (!p->manual && relet_deadline(p->r) <= p->now)
        t_die("the client is at rest, and its deadline is now");
}

/* Time passes, and the driver wakes at each deadline. */
static inline void t_pass(t_peer *p, relet_time ms)
{
    relet_time end = p->now + ms;
    int wakes = 0;

    t_move(p);
    while (relet_deadline(p->r) <= end) {
        p->now = RLT_MAX(p->now, relet_deadline(p->r));
        t_move(p);
        if (++wakes > 1000000)
            t_die("the client never sleeps");
    }
    p->now = end;
    t_move(p);
}

/* The process did not run for a while. */
static inline void t_freeze(t_peer *p, relet_time ms)
{
    p->now += ms;
    t_move(p);
}

/* --------------------------------------------------------------- decoding */

/* Reads a header of this type at *at. Returns its number, or -1 while it is not
 * complete. */
static inline long t_header(const char *s, size_t n, size_t *at, char type)
{
    size_t i = *at;
    long v = 0;

    if (i < n && s[i] != type)
        t_die("the client wrote what is no command");
    for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++)
        v = v * 10 + (s[i] - '0');
    if (i + 2 > n)
        return -1;
    if (s[i] != '\r' || s[i + 1] != '\n')
        t_die("the client wrote a header that does not end");
    *at = i + 2;
    return v;
}

/* Decodes the next complete command into *w, of *size bytes. Returns 1 if there
 * is one. */
static inline int t_decode(const t_bytes *b, t_words *w, size_t *size)
{
    const char *s = t_bytes_head(b);
    size_t n = t_bytes_used(b), at = 0;
    long words, len;
    int i;

    if (n == 0 || (words = t_header(s, n, &at, '*')) < 0)
        return 0;
    if (words < 1 || words > T_WORDS)
        t_die("the client wrote a command of odd length");
    for (i = 0; i < (int)words; i++) {
        if (at >= n || (len = t_header(s, n, &at, '$')) < 0)
            return 0;
        if (at + (size_t)len + 2 > n)
            return 0;
        w->word[i].p = s + at;
        w->word[i].n = (size_t)len;
        at += (size_t)len;
        if (memcmp(s + at, "\r\n", 2) != 0)
            t_die("the client wrote an argument that does not end");
        at += 2;
    }
    w->n = (int)words;
    *size = at;
    return 1;
}

static inline int t_is(const t_words *w, int i, const char *text)
{
    return i < w->n && w->word[i].n == strlen(text) &&
           memcmp(w->word[i].p, text, w->word[i].n) == 0;
}

/* Returns the next complete command as one line, "" if there is none. */
static inline const char *t_took(t_peer *p)
{
    t_text t;
    t_words w;
    size_t size;
    int i;

    t.p = p->took;
    t.cap = sizeof p->took;
    t.n = 0;
    t.p[0] = '\0';
    if (!t_decode(&p->out, &w, &size))
        return t.p;
    for (i = 0; i < w.n; i++) {
        t_text_put(&t, i ? " " : "");
        t_text_span(&t, w.word[i]);
    }
    t_bytes_drop(&p->out, size);
    return t.p;
}

/* Returns the next event as one line, "" if there is none. */
static inline const char *t_told(t_peer *p)
{
    size_t n;

    p->line[0] = '\0';
    if (t_bytes_used(&p->log) == 0)
        return p->line;
    n = strlen(t_bytes_head(&p->log)) + 1;
    memcpy(p->line, t_bytes_head(&p->log), n);
    t_bytes_drop(&p->log, n);
    return p->line;
}

#define T_TOOK(peer, expected) \
    ASSERT_STR_EQ(expected, (t_move(peer), t_took(peer)))
#define T_TOLD(peer, expected) \
    ASSERT_STR_EQ(expected, (t_move(peer), t_told(peer)))

/* --------------------------------------------------------------- speaking */

static inline void t_say_span(t_peer *p, const void *s, size_t n)
{
    t_bytes_put(&p->in, s, n);
}

static inline void t_say(t_peer *p, const char *text)
{
    t_say_span(p, text, strlen(text));
}

static inline void t_say_number(t_peer *p, char type, size_t v)
{
    char s[32];

    t_say_span(p, s, (size_t)sprintf(s, "%c%lu\r\n", type, (unsigned long)v));
}

static inline void t_say_bulk(t_peer *p, relet_span s)
{
    t_say_number(p, '$', s.n);
    t_say_span(p, s.p, s.n);
    t_say(p, "\r\n");
}

/* The server closes the link once its bytes are read. */
static inline void t_hang_up(t_peer *p)
{
    p->hangup = 1;
    t_move(p);
}

/* The link is reset: all bytes under way are lost. */
static inline void t_break(t_peer *p)
{
    if (!p->open)
        return;
    t_link_gone(p);
    relet_io_closed(p->r, 0, 104, "reset");
    t_move(p);
}

/* -------------------------------------------------------- an honest server */

#define T_HELLO_SAYS \
    "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n" \
    "$5\r\nproto\r\n:3\r\n"

static inline int t_name_find(const t_server *s, char kind, relet_span name)
{
    int i;

    for (i = 0; i < T_NAMES; i++)
        if (s->name[i][0] == kind && strlen(s->name[i] + 1) == name.n &&
            memcmp(s->name[i] + 1, name.p, name.n) == 0)
            return i;
    return -1;
}

static inline int t_name_count(const t_server *s)
{
    int i, n = 0;

    for (i = 0; i < T_NAMES; i++)
        n += s->name[i][0] != '\0';
    return n;
}

static inline void t_name_add(t_server *s, char kind, relet_span name)
{
    int i;

    if (t_name_find(s, kind, name) >= 0)
        return;
    for (i = 0; i < T_NAMES && s->name[i][0] != '\0'; i++)
        ;
    if (i == T_NAMES || name.n + 2 > sizeof s->name[0])
        t_die("too many names for this peer");
    s->name[i][0] = kind;
    memcpy(s->name[i] + 1, name.p, name.n);
    s->name[i][1 + name.n] = '\0';
}

static inline void t_say_confirmed(t_peer *p, const char *word,
                                   relet_span name)
{
    t_say(p, ">3\r\n");
    t_say_bulk(p, relet_str(word));
    t_say_bulk(p, name);
    t_say_number(p, ':', (size_t)t_name_count(&p->server));
}

/* The commands of the three kinds of channels, and their confirmations. */
static inline int t_serve_wish(t_peer *p, const t_words *w)
{
    static const char *const words[3][2] = {{"SUBSCRIBE", "UNSUBSCRIBE"},
                                            {"PSUBSCRIBE", "PUNSUBSCRIBE"},
                                            {"SSUBSCRIBE", "SUNSUBSCRIBE"}};
    static const char *const said[3][2] = {{"subscribe", "unsubscribe"},
                                           {"psubscribe", "punsubscribe"},
                                           {"ssubscribe", "sunsubscribe"}};
    const char *error;
    int kind, leave, at;

    for (kind = 0; kind < 3; kind++)
        for (leave = 0; leave < 2; leave++) {
            if (!t_is(w, 0, words[kind][leave]))
                continue;
            error = leave ? p->server.keep : p->server.refuse;
            if (error) {
                t_say(p, error);
                return 1;
            }
            at = t_name_find(&p->server, "cps"[kind], w->word[1]);
            if (leave && at >= 0)
                p->server.name[at][0] = '\0';
            if (!leave)
                t_name_add(&p->server, "cps"[kind], w->word[1]);
            t_say_confirmed(p, said[kind][leave], w->word[1]);
            return 1;
        }
    return 0;
}

static inline int t_sha_known(const t_server *s, relet_span sha)
{
    int i;

    for (i = 0; i < s->scripts; i++)
        if (sha.n == 40 && memcmp(s->sha[i], sha.p, 40) == 0)
            return 1;
    return 0;
}

/* The answer of a script is its last word. */
static inline int t_serve_script(t_peer *p, const t_words *w)
{
    t_server *s = &p->server;
    char sha[40];
    relet_span name;

    if (t_is(w, 0, "EVALSHA") && !t_sha_known(s, w->word[1])) {
        t_say(p, "-NOSCRIPT No matching script.\r\n");
        return 1;
    }
    if (t_is(w, 0, "EVAL")) {
        rlt_sha1_hex(w->word[1].p, w->word[1].n, sha);
        name.p = sha;
        name.n = 40;
        if (!t_sha_known(s, name) && s->scripts < 8)
            memcpy(s->sha[s->scripts++], sha, 40);
    }
    t_say_bulk(p, w->word[w->n - 1]);
    return 1;
}

static inline int t_serve_one(t_peer *p, const t_words *w)
{
    if (p->answer && p->answer(p, w))
        return 1;
    if (t_is(w, 0, "HELLO"))
        t_say(p, T_HELLO_SAYS);
    else if (t_is(w, 0, "PING"))
        t_say(p, "+PONG\r\n");
    else if (t_is(w, 0, "ECHO") || t_is(w, 0, "GET"))
        t_say_bulk(p, w->word[1]);
    else if (t_is(w, 0, "EVAL") || t_is(w, 0, "EVALSHA"))
        return t_serve_script(p, w);
    else if (!t_serve_wish(p, w))
        t_say(p, "+OK\r\n");
    return 1;
}

/* A busy server still answers these commands, as real servers do. */
static inline int t_serve_busy(t_peer *p, const t_words *w)
{
    t_server *s = &p->server;

    if (s->busy == 0 || t_is(w, 0, "HELLO") || t_is(w, 0, "CLIENT") ||
        t_is(w, 0, "MULTI") || t_is(w, 0, "EXEC") || t_is(w, 0, "WATCH"))
        return 0;
    s->busy--;
    s->dirty |= s->in_multi;
    t_say(p, s->busy_text ? s->busy_text
                          : "-BUSY Redis is busy running a script.\r\n");
    return 1;
}

static inline void t_serve_exec(t_peer *p)
{
    t_server *s = &p->server;
    t_words w;
    size_t size;

    s->in_multi = 0;
    if (s->dirty) {
        t_say(p, "-EXECABORT Transaction discarded because of previous "
                 "errors.\r\n");
        return;
    }
    t_say_number(p, '*', (size_t)s->queue);
    while (t_decode(&s->queued, &w, &size)) {
        t_serve_one(p, &w);
        t_bytes_drop(&s->queued, size);
    }
}

static inline int t_serve_multi(t_peer *p, const t_words *w, size_t size)
{
    t_server *s = &p->server;

    if (t_is(w, 0, "MULTI")) {
        s->in_multi = 1;
        s->dirty = s->queue = 0;
        t_bytes_clear(&s->queued);
        t_say(p, "+OK\r\n");
        return 1;
    }
    if (!s->in_multi)
        return 0;
    if (t_is(w, 0, "EXEC")) {
        t_serve_exec(p);
        return 1;
    }
    t_bytes_put(&s->queued, t_bytes_head(&p->out), size);
    s->queue++;
    t_say(p, "+QUEUED\r\n");
    return 1;
}

/* Answers the next command. Returns 1 if there was one. */
static inline int t_serve_next(t_peer *p)
{
    t_words w;
    size_t size;

    if (!p->open || p->hangup || !t_decode(&p->out, &w, &size))
        return 0;
    if (!t_serve_busy(p, &w) && !t_serve_multi(p, &w, size))
        t_serve_one(p, &w);
    t_bytes_drop(&p->out, size);
    return 1;
}

/* Answers all complete commands. Returns 1 if there was one. */
static inline int t_serve(t_peer *p)
{
    int served = 0;

    while (t_serve_next(p))
        served = 1;
    return served;
}

/* -------------------------------------------------------------- short cuts */

/* Connects, does the handshake, and clears the log. Returns 1 if the client is
 * up. */
static inline int t_up(t_peer *p)
{
    int honest = p->honest;
    relet_time end = p->now + 60000;

    p->honest = 1;
    t_move(p);
    while (!relet_is_up(p->r) && p->now < end)
        t_pass(p, 100);
    p->honest = honest;
    t_bytes_clear(&p->log);
    return relet_is_up(p->r);
}

static inline relet_request t_request(uint64_t tag, unsigned flags)
{
    relet_request q;

    memset(&q, 0, sizeof q);
    q.tag = tag;
    q.flags = flags;
    return q;
}

/* Submits a command of up to three words, ended by NULL. */
static inline int t_ask3(t_peer *p, uint64_t tag, unsigned flags,
                         const char *a, const char *b, const char *c)
{
    relet_request q = t_request(tag, flags);

    return relet_command_text(p->r, &q, a, b, c, (char *)NULL);
}

static inline int t_ask(t_peer *p, uint64_t tag, unsigned flags,
                        const char *a, const char *b)
{
    return t_ask3(p, tag, flags, a, b, NULL);
}

static inline int t_ask_for(t_peer *p, uint64_t tag, unsigned flags,
                            relet_time ms, const char *a, const char *b)
{
    relet_request q = t_request(tag, flags);

    q.timeout_ms = ms;
    return relet_command_text(p->r, &q, a, b, (char *)NULL);
}

static inline int t_ask_within(t_peer *p, uint64_t tag, relet_time ms,
                               const char *a, const char *b)
{
    return t_ask_for(p, tag, 0, ms, a, b);
}

/* Submits a transaction of ECHO a and ECHO b. */
static inline int t_unit(t_peer *p, uint64_t tag, unsigned flags,
                         const char *a, const char *b)
{
    relet_request q = t_request(tag, flags);
    relet_span word[4];
    relet_args args[2];

    word[0] = word[2] = relet_str("ECHO");
    word[1] = relet_str(a);
    word[3] = relet_str(b);
    args[0].argv = word;
    args[1].argv = word + 2;
    args[0].argc = args[1].argc = 2;
    return relet_transaction(p->r, args, 2, &q);
}

/* What a server answers to t_unit(p, tag, flags, "x", "y"). */
#define T_EXEC_SAYS "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+x\r\n+y\r\n"

/* The bytes of WATCH k, for a link that takes no more than these. */
#define T_WATCH_K "*2\r\n$5\r\nWATCH\r\n$1\r\nk\r\n"

/* Submits a call of a script with one key and no argument. */
static inline int t_run(t_peer *p, uint64_t tag, unsigned flags, int script,
                        const char *key)
{
    relet_request q = t_request(tag, flags);
    relet_span word = relet_str(key);

    return relet_script_run(p->r, script, 1, &word, 1, &q);
}

static inline int t_wish(t_peer *p, relet_channel kind, const char *name)
{
    return relet_subscribe(p->r, kind, relet_str(name));
}

static inline int t_unwish(t_peer *p, relet_channel kind, const char *name)
{
    return relet_unsubscribe(p->r, kind, relet_str(name));
}

/* Runs each suite plainly, byte by byte, and in fixed memory. */
#define T_MAIN(suite)                                        \
    GREATEST_MAIN_DEFS();                                    \
    int main(int argc, char **argv)                          \
    {                                                        \
        GREATEST_MAIN_BEGIN();                               \
        RUN_SUITE(suite);                                    \
        t_piece = 1;                                         \
        RUN_SUITE(suite);                                    \
        t_fixed = 1;                                         \
        RUN_SUITE(suite);                                    \
        GREATEST_MAIN_END();                                 \
    }

static uint32_t t_seed = 1;

static inline uint32_t t_below(uint32_t n)
{
    t_seed = t_seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(t_seed >> 8) * n) >> 24);
}

#endif
