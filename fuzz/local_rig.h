/* SPDX-License-Identifier: MIT
 *
 * local_rig.h - the tools of local_fuzz: an allocator that knows its blocks, a
 * reader that checks a server's output, and the sum of the data in a dump. */
#ifndef LOCAL_RIG_H
#define LOCAL_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relet_local.h"
#include "scan.h"

#define FUZZ_COMMAND_WORDS 256

typedef struct fuzz_heap {
    size_t held, peak;
    long calls, fail_from, fail_to;
} fuzz_heap;

/* Reads and checks the server's output on one connection. */
typedef struct fuzz_ear {
    uint8_t *in; /* output that is not checked yet                           */
    size_t n, cap;
    relet_node *tape;
    uint32_t tape_cap;
    rlt_scan scan;
    long replies;   /* frames that are no pushes                             */
    long refusals;  /* errors, wherever they stand                           */
    int resp3_seen; /* some type that RESP2 lacks was seen                   */
} fuzz_ear;

typedef struct fuzz_server {
    relet_local *l;
    fuzz_heap heap;
    int replay; /* the connection that is fed the log                        */
    fuzz_ear *ear; /* reads that connection                                  */
} fuzz_server;

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static uint64_t fuzz_hash(uint64_t h, const void *p, size_t n)
{
    const uint8_t *at = (const uint8_t *)p;

    while (n-- > 0)
        h = (h ^ *at++) * UINT64_C(0x100000001b3);
    return h;
}

/* -DFUZZ_TRACE prints all input and output. */
#ifdef FUZZ_TRACE
#define FUZZ_TRACES 1
#else
#define FUZZ_TRACES 0
#endif

static void fuzz_show(const char *what, const uint8_t *p, size_t n)
{
    size_t i;

    fprintf(stderr, "%s ", what);
    for (i = 0; i < n; i++)
        if (p[i] >= ' ' && p[i] <= '~')
            fputc(p[i], stderr);
        else if (p[i] == '\n')
            fputc(' ', stderr);
        else if (p[i] != '\r')
            fprintf(stderr, "\\x%02x", p[i]);
    fputc('\n', stderr);
}

/* ------------------------------------------------------------------- memory */

/* Each block holds its size, to check the size that the server passes. */
#define FUZZ_HEADER 16

static void *fuzz_resize(void *user, void *p, size_t old, size_t size)
{
    fuzz_heap *h = (fuzz_heap *)user;
    char *block = p ? (char *)p - FUZZ_HEADER : NULL;
    size_t was = 0;

    if (block)
        memcpy(&was, block, sizeof was);
    must(was == old, "a size that is not the block's");
    if (size == 0) {
        free(block);
        h->held -= old;
        return NULL;
    }
    h->calls++;
    if (h->calls >= h->fail_from && h->calls < h->fail_to)
        return NULL;
    block = (char *)realloc(block, size + FUZZ_HEADER);
    must(block != NULL, "the machine has no memory");
    memcpy(block, &size, sizeof size);
    h->held += size - old;
    h->peak = RLT_MAX(h->peak, h->held);
    return block + FUZZ_HEADER;
}

static void fuzz_server_begin(fuzz_server *s, const relet_local_config *config)
{
    relet_local_config c = *config;

    memset(s, 0, sizeof *s);
    c.user = &s->heap;
    s->l = relet_local_init(malloc(relet_local_size()), relet_local_size(),
                            &c);
    must(s->l != NULL, "no server");
}

static void fuzz_server_end(fuzz_server *s)
{
    relet_local_finish(s->l);
    must(s->heap.held == 0, "memory was not freed");
    free(s->l);
}

/* ------------------------------------------------------------------ replies */

static void fuzz_ear_begin(fuzz_ear *e)
{
    static const rlt_scan_limits limits = {1 << 24, 1 << 28, 1 << 28,
                                           RLT_SCAN_DEPTH_HARD};

    e->n = 0;
    e->replies = e->refusals = 0;
    if (e->tape == NULL) {
        e->tape_cap = 256;
        e->tape = (relet_node *)malloc(e->tape_cap * sizeof *e->tape);
    }
    rlt_scan_init(&e->scan, &limits, e->tape, e->tape_cap);
}

static void fuzz_tape_grow(fuzz_ear *e)
{
    e->tape_cap *= 2;
    e->tape = (relet_node *)realloc(e->tape, e->tape_cap * sizeof *e->tape);
    must(e->tape != NULL, "the machine has no memory");
    rlt_scan_tape(&e->scan, e->tape, e->tape_cap);
}

/* RESP2 has only texts, errors, integers, nulls and arrays. */
static void fuzz_look(fuzz_ear *e, int push)
{
    uint32_t i;

    e->replies += !push;
    e->resp3_seen |= push;
    for (i = 0; i < e->scan.top; i++)
        switch (e->tape[i].kind) {
        case RELET_T_ERROR:
            e->refusals++;
            break;
        case RELET_T_DOUBLE:
        case RELET_T_BOOL:
        case RELET_T_BIG:
        case RELET_T_VERBATIM:
        case RELET_T_MAP:
        case RELET_T_SET:
            e->resp3_seen = 1;
            break;
        }
}

/* Checks the output so far: 1 if no frame is incomplete. */
static int fuzz_judge(fuzz_ear *e)
{
    size_t done = 0;
    rlt_verdict v;

    while (done < e->n) {
        v = rlt_scan_run(&e->scan, e->in + done, e->n - done);
        if (v == RLT_SCAN_TAPE) {
            fuzz_tape_grow(e);
            continue;
        }
        must(v != RLT_SCAN_ERROR, "the output is not RESP");
        if (v == RLT_SCAN_MORE)
            break;
        if (v == RLT_SCAN_SKIPPED)
            e->replies++;
        else
            fuzz_look(e, v == RLT_SCAN_PUSH);
        done += rlt_scan_next(&e->scan);
    }
    e->n -= done;
    if (e->n > 0 && done > 0)
        memmove(e->in, e->in + done, e->n);
    return e->n == 0;
}

static void fuzz_hear(fuzz_ear *e, const uint8_t *p, size_t n)
{
    if (e->cap - e->n < n) {
        e->cap = (e->n + n) * 2;
        e->in = (uint8_t *)realloc(e->in, e->cap);
        must(e->in != NULL, "the machine has no memory");
    }
    memcpy(e->in + e->n, p, n);
    e->n += n;
}

/* ------------------------------------------------------ digests of the data */

typedef struct fuzz_reader {
    const uint8_t *p;
    size_t n, at;
    relet_span word[FUZZ_COMMAND_WORDS];
    int count;
} fuzz_reader;

static size_t fuzz_read_number(fuzz_reader *r)
{
    size_t v = 0;

    for (r->at++; r->p[r->at] != '\r'; r->at++)
        v = v * 10 + (size_t)(r->p[r->at] - '0');
    r->at += 2;
    return v;
}

static int fuzz_read(fuzz_reader *r)
{
    size_t words, len, i;

    if (r->at >= r->n)
        return 0;
    words = fuzz_read_number(r);
    r->count = 0;
    for (i = 0; i < words; i++) {
        len = fuzz_read_number(r);
        if (r->count < FUZZ_COMMAND_WORDS) {
            r->word[r->count].p = (const char *)r->p + r->at;
            r->word[r->count++].n = len;
        }
        r->at += len + 2;
    }
    must(r->at <= r->n, "half a command in the dump");
    return 1;
}

static uint64_t fuzz_word_hash(uint64_t h, relet_span w)
{
    return fuzz_hash(fuzz_hash(h, &w.n, sizeof w.n), w.p, w.n);
}

static int fuzz_is(const fuzz_reader *r, const char *name)
{
    return r->word[0].n == strlen(name) &&
           memcmp(r->word[0].p, name, r->word[0].n) == 0;
}

/* The sum of the data that commands make; keys and members in any order. */
typedef struct fuzz_digest {
    uint64_t sum, db, list;
    uint64_t index; /* of the next element in that list                      */
} fuzz_digest;

static void fuzz_digest_add(fuzz_digest *d, const fuzz_reader *r)
{
    uint64_t h, one;
    int i, step = fuzz_is(r, "SADD") || fuzz_is(r, "RPUSH")  ? 1
                  : fuzz_is(r, "HSET") || fuzz_is(r, "ZADD") ? 2
                                                             : 0;

    h = fuzz_word_hash(d->db + 1, r->word[0]);
    if (fuzz_is(r, "SELECT")) {
        d->db = fuzz_word_hash(7, r->word[1]);
        return;
    }
    for (i = 1; i < (step ? 2 : r->count); i++)
        h = fuzz_word_hash(h, r->word[i]);
    if (step == 0)
        d->sum += h;
    if (step == 0 || h != d->list)
        d->index = 0;
    d->list = h;
    for (i = 2; step && i + step <= r->count; i += step) {
        one = fuzz_word_hash(h, r->word[i]);
        if (step == 2)
            one = fuzz_word_hash(one, r->word[i + 1]);
        if (fuzz_is(r, "RPUSH"))
            one = fuzz_hash(one, &d->index, sizeof d->index);
        d->index++;
        d->sum += one;
    }
}

/* Feeds the server its own log: it must refuse no command of it. */
static void fuzz_replay(fuzz_server *s, const uint8_t *p, size_t n)
{
    const uint8_t *said;
    size_t said_n;

    if (n == 0)
        return;
    if (FUZZ_TRACES)
        fuzz_show("log", p, n);
    relet_local_feed(s->l, s->replay, p, n);
    said_n = relet_local_output(s->l, s->replay, &said);
    if (said_n > 0)
        fuzz_hear(s->ear, said, said_n);
    must(fuzz_judge(s->ear), "half a reply to the server's own log");
    if (s->ear->refusals > 0) {
        fuzz_show("log", p, n);
        fuzz_show("says", said, said_n);
        must(0, "the server refuses a command of its own log");
    }
    relet_local_sent(s->l, s->replay, said_n);
    must(!relet_local_closed(s->l, s->replay),
         "the server closes the connection that replays its own log");
}

/* Sums up a whole dump and feeds it to the server `to`, if any: 1, or 0 if
 * memory was short. */
static int fuzz_dump(relet_local *l, fuzz_server *to, uint64_t *sum, int show)
{
    fuzz_digest d;
    fuzz_reader r;
    uint64_t at = 0;
    int broken;

    memset(&d, 0, sizeof d);
    memset(&r, 0, sizeof r);
    while ((r.n = relet_local_dump(l, &at, &r.p, &broken)) > 0 || broken) {
        if (broken)
            return 0;
        r.at = 0;
        if (show)
            fuzz_show("dump", r.p, r.n);
        while (fuzz_read(&r))
            fuzz_digest_add(&d, &r);
        if (to)
            fuzz_replay(to, r.p, r.n);
    }
    *sum = d.sum;
    return 1;
}

#endif
