/* SPDX-License-Identifier: MIT
 *
 * scan_fuzz.c - the scanner's verdict does not depend on how bytes arrive.
 *
 * Three bytes choose the caps, the room and the cuts; the rest is the input of
 * the scanner. It is fed whole, in chunks of chosen sizes, and byte by byte.
 * All three ways must give the same values, errors and offsets. Every value is
 * visited, kept as a copy, and the copy is visited too. With
 * -DSCAN_FUZZ_ONE_SHOT the input is fed whole only. */
#include <stdint.h>

#include "scan_feed.h"
#include "value.h"

typedef struct tale {
    uint64_t hash;
    size_t total;  /* bytes of finished frames                               */
    t_feed *feed;
} tale;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_text(uint64_t h, relet_span s)
{
    size_t i;

    for (i = 0; i < s.n; i++)
        h = mix(h, (uint8_t)s.p[i]);
    return mix(h, s.n);
}

static uint64_t mix_scalar(uint64_t h, relet_value v)
{
    int64_t i = 0;
    double d = 0;
    int b = 0;

    h = mix(h, (uint64_t)relet_value_int(v, &i));
    h = mix(h, (uint64_t)i);
    h = mix(h, (uint64_t)relet_value_bool(v, &b));
    h = mix(h, (uint64_t)b);
    h = mix(h, (uint64_t)relet_value_malformed(v));
    h = mix(h, (uint64_t)relet_value_proves_no_effect(v));
    must(relet_value_double(v, &d) || relet_value_type(v) != RELET_T_DOUBLE);
    h = mix_text(h, relet_value_format(v));
    return mix_text(h, relet_value_text(v));
}

/* The harness may recurse where the library may not. */
static uint64_t mix_value(uint64_t h, relet_value v)
{
    relet_value a = relet_value_attributes(v), c = relet_value_first(v);
    size_t n = relet_value_count(v), i;

    if (relet_value_type(v) == RELET_T_MAP)
        n *= 2;
    if (a.node != NULL)
        h = mix_value(mix(h, 77), a);
    h = mix_scalar(mix(h, (uint64_t)relet_value_type(v)), v);
    for (i = 0; i < n; i++, c = relet_value_next(c)) {
        must(c.node != NULL);
        must(i > 8 || relet_value_at(v, i).node == c.node);
        h = mix_value(h, c);
    }
    must(relet_value_at(v, n).node == NULL);
    return mix(h, n);
}

static uint64_t mix_copied(relet_value v, uint64_t hash)
{
    size_t size = relet_value_size(v);
    void *mem = t_feed_alloc(size);

    must(relet_value_copy(v, mem, size - 1).node == NULL);
    must(mix_value(0, relet_value_copy(v, mem, size)) == hash);
    free(mem);
    return hash;
}

static void told(void *user, rlt_verdict verdict, const rlt_scan *s,
                 relet_value v)
{
    tale *t = (tale *)user;
    uint64_t h = mix(t->hash, (uint64_t)verdict);

    must(s->top <= s->tape_cap);
    must(s->at <= t->feed->n);
    h = mix(h, t->feed->total + s->at);
    h = mix(h, (uint64_t)s->error);
    if (verdict == RLT_SCAN_SKIPPED) {
        h = mix(h, (uint64_t)s->skip_why);
        h = mix(h, s->lost_pushes * 2u + s->skip_push);
    }
    if (v.node != NULL)
        h = mix(h, mix_copied(v, mix_value(0, v)));
    t->hash = h;
}

/* Caps small enough for small inputs to hit; 0: those of a server process. */
static rlt_scan_limits limits_of(uint8_t choice)
{
    rlt_scan_limits l = t_feed_limits();

    if (choice & 1)
        l.line_max = 1 + (choice >> 5);
    if (choice & 2)
        l.bulk_max = choice >> 5;
    if (choice & 4)
        l.count_max = 1 + (choice >> 6);
    if (choice & 8)
        l.depth_max = 1 + (choice >> 6);
    return l;
}

/* A tape without room for the hard depth is legal, down to three nodes. */
static uint32_t tape_of(uint8_t choice)
{
    if (choice & 16)
        return RLT_SCAN_DEPTH_HARD + 2;
    return choice & 32 ? 3u + (choice >> 6) : UINT32_MAX;
}

static tale run(const uint8_t *data, size_t n, size_t chunk, uint32_t seed)
{
    t_feed f;
    tale t = {0, 0, NULL};
    size_t at = 3, take;

    t.feed = &f;
    t_feed_init(&f, limits_of(data[0]), tape_of(data[1]), told, &t);
    if (chunk == 0 && seed == 0 && data[1] & 1)
        f.frame_max = 16; /* depends on the cuts: only in the first run */
    while (at < n) {
        take = chunk;
        if (seed != 0) {
            seed = seed * 1664525u + 1013904223u;
            take = 1 + (seed >> 28);
        }
        take = take == 0 || take > n - at ? n - at : take;
        if (!t_feed_bytes(&f, data + at, take))
            break;
        at += take;
    }
    t.total = f.total;
    if (f.scan.error != RLT_SCAN_E_NONE)
        must(rlt_scan_run(&f.scan, f.frame, f.n) == RLT_SCAN_ERROR);
    t_feed_free(&f);
    t.feed = NULL;
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    tale whole;
#ifndef SCAN_FUZZ_ONE_SHOT
    tale other;
#endif

    if (n < 3)
        return 0;
    whole = run(data, n, 0, 0);
#ifndef SCAN_FUZZ_ONE_SHOT
    if (data[1] & 1)
        return 0;
    other = run(data, n, 1, 0);
    must(other.hash == whole.hash);
    must(whole.hash != 0 || other.total == whole.total);
    other = run(data, n, 0, data[2] + 1u);
    must(other.hash == whole.hash);
#endif
    (void)whole;
    return 0;
}
