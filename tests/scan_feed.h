/* SPDX-License-Identifier: MIT
 *
 * scan_feed.h - a connection in miniature, for the tests of the scanner.
 *
 * Bytes arrive in chunks of the caller's choice. The frame lives in a heap
 * block of exactly its size that moves at every chunk, so that a sanitizer
 * sees any access outside it. The tape begins tiny and grows by one node. */
#ifndef RLT_SCAN_FEED_H
#define RLT_SCAN_FEED_H

#include <stdlib.h>
#include <string.h>

#include "scan.h"

typedef void t_feed_fn(void *user, rlt_verdict verdict, const rlt_scan *s,
                       relet_value v);

typedef struct t_feed {
    rlt_scan scan;
    relet_node *tape;
    uint32_t tape_max; /* nodes; a larger frame is skipped                   */
    size_t frame_max;  /* bytes; likewise                                    */
    uint8_t *frame;
    size_t n, total; /* bytes in the frame, bytes of all frames before it    */
    t_feed_fn *event;
    void *user;
} t_feed;

static inline rlt_scan_limits t_feed_limits(void)
{
    rlt_scan_limits l = {RLT_SCAN_LINE_DEFAULT, RLT_SCAN_BULK_HARD,
                         RLT_SCAN_COUNT_HARD, RLT_SCAN_DEPTH_HARD};

    return l;
}

static inline void *t_feed_alloc(size_t n)
{
    void *p = malloc(n > 0 ? n : 1);

    if (p == NULL)
        abort();
    return p;
}

static inline void t_feed_init(t_feed *f, rlt_scan_limits limits,
                               uint32_t tape_max, t_feed_fn *event, void *user)
{
    uint32_t cap = tape_max < 3 ? tape_max : 3;

    memset(f, 0, sizeof *f);
    f->tape = (relet_node *)t_feed_alloc(cap * sizeof *f->tape);
    f->tape_max = tape_max;
    f->frame_max = (size_t)-1;
    f->event = event;
    f->user = user;
    rlt_scan_init(&f->scan, &limits, f->tape, cap);
}

static inline void t_feed_free(t_feed *f)
{
    free(f->tape);
    free(f->frame);
}

static inline void t_feed_drop(t_feed *f, size_t used)
{
    memmove(f->frame, f->frame + used, f->n - used);
    f->n -= used;
    f->total += used;
}

/* Grows by one below 64 nodes, where the edge cases are; then doubles. */
static inline void t_feed_tape(t_feed *f)
{
    uint32_t old = f->scan.tape_cap;
    uint32_t cap = old < 64 ? old + 1 : old * 2;
    relet_node *tape;

    if (old >= f->tape_max) {
        rlt_scan_skip(&f->scan, RLT_SKIP_TAPE);
        return;
    }
    cap = cap > f->tape_max ? f->tape_max : cap;
    tape = (relet_node *)t_feed_alloc(cap * sizeof *tape);
    memcpy(tape, f->tape, old * sizeof *tape);
    free(f->tape);
    f->tape = tape;
    rlt_scan_tape(&f->scan, tape, cap);
}

static inline relet_value t_feed_value(const t_feed *f, rlt_verdict verdict)
{
    relet_value none = {NULL, NULL};

    if (verdict != RLT_SCAN_VALUE && verdict != RLT_SCAN_PUSH)
        return none;
    return rlt_scan_value(&f->scan, f->frame);
}

/* Runs the scanner until it needs more bytes. */
static inline void t_feed_run(t_feed *f)
{
    rlt_verdict verdict;

    for (;;) {
        verdict = rlt_scan_run(&f->scan, f->frame, f->n);
        switch (verdict) {
        case RLT_SCAN_MORE:
            if (f->n >= f->frame_max)
                rlt_scan_skip(&f->scan, RLT_SKIP_BYTES);
            t_feed_drop(f, rlt_scan_drop(&f->scan));
            if (f->n < f->scan.need)
                return;
            break;
        case RLT_SCAN_TAPE:
            t_feed_tape(f);
            break;
        case RLT_SCAN_ERROR:
            f->event(f->user, verdict, &f->scan, t_feed_value(f, verdict));
            return;
        case RLT_SCAN_VALUE:
        case RLT_SCAN_PUSH:
        case RLT_SCAN_SKIPPED:
            f->event(f->user, verdict, &f->scan, t_feed_value(f, verdict));
            t_feed_drop(f, rlt_scan_next(&f->scan));
            break;
        }
    }
}

/* Returns 0 once the scanner has failed. */
static inline int t_feed_bytes(t_feed *f, const uint8_t *p, size_t n)
{
    uint8_t *frame;

    if (f->scan.error != RLT_SCAN_E_NONE)
        return 0;
    frame = (uint8_t *)t_feed_alloc(f->n + n);
    if (f->n > 0)
        memcpy(frame, f->frame, f->n);
    if (n > 0)
        memcpy(frame + f->n, p, n);
    free(f->frame);
    f->frame = frame;
    f->n += n;
    t_feed_run(f);
    return f->scan.error == RLT_SCAN_E_NONE;
}

#endif
