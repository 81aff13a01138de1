/* SPDX-License-Identifier: MIT
 *
 * choices.c - draws everything random from one seed. Each stream is a
 * xoshiro256++ that splitmix64 has seeded from the seed, the kind of the stream
 * and its index. */
#include "choices.h"

#include <string.h>

static uint64_t choices_split(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t sim_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b * UINT64_C(0xd6e8feb86659fd93) + (b >> 29));

    return choices_split(&x);
}

uint64_t sim_keyed(const sim_choices *c, uint64_t kind, uint64_t a, uint64_t b)
{
    return sim_mix(sim_mix(sim_mix(c->seed, kind), a), b);
}

void sim_choices_seed(sim_choices *c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
}

void sim_choices_bytes(sim_choices *c, const uint8_t *p, size_t n)
{
    size_t i;

    sim_choices_seed(c, n);
    for (i = 0; i < n; i++)
        c->seed = sim_mix(c->seed, p[i]);
    c->source = SIM_FROM_BYTES;
    c->bytes = p;
    c->bytes_n = n;
}

void sim_choices_record(sim_choices *c, uint32_t *tape, size_t max)
{
    c->tape = tape;
    c->tape_max = max;
    c->tape_n = c->tape_at = 0;
}

void sim_choices_replay(sim_choices *c)
{
    c->source = SIM_FROM_TAPE;
    c->tape_at = 0;
}

void sim_choices_odometer(sim_choices *c)
{
    memset(c, 0, sizeof *c);
    c->source = SIM_FROM_ODOMETER;
}

int sim_choices_turn(sim_choices *c)
{
    size_t i = c->digits;

    while (i > 0 && c->digit[i - 1] + 1 >= c->base[i - 1])
        c->digit[--i] = 0;
    c->digits = 0;
    if (i == 0)
        return 0;
    c->digit[i - 1]++;
    return 1;
}

void sim_stream_open(sim_stream *st, sim_choices *c, uint64_t kind,
                     uint64_t index)
{
    uint64_t x = sim_keyed(c, kind, index, 0);
    int i;

    st->from = c;
    for (i = 0; i < 4; i++)
        st->s[i] = choices_split(&x);
}

static uint64_t choices_turn(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t choices_next(uint64_t s[4])
{
    uint64_t result = choices_turn(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = choices_turn(s[3], 45);
    return result;
}

/* The high half of a product, from 32-bit halves: not every target has 128-bit
 * integers. */
static uint32_t choices_below(uint64_t bits, uint32_t n)
{
    return (uint32_t)(((bits >> 32) * n) >> 32);
}

static uint32_t choices_byte(sim_choices *c, uint32_t n)
{
    uint32_t v = 0, most = n - 1;

    for (; most > 0 && c->bytes_at < c->bytes_n; most >>= 8)
        v = v << 8 | c->bytes[c->bytes_at++];
    return v % n;
}

static uint32_t choices_digit(sim_choices *c, uint32_t n)
{
    if (c->digits == SIM_DIGITS)
        return 0;
    c->base[c->digits] = n;
    return c->digit[c->digits++];
}

static uint32_t choices_draw(sim_stream *st, uint32_t n)
{
    sim_choices *c = st->from;

    switch (c->source) {
    case SIM_FROM_BYTES:
        if (c->bytes_at < c->bytes_n)
            return choices_byte(c, n);
        break;
    case SIM_FROM_TAPE:
        if (c->tape_at < c->tape_n)
            return c->tape[c->tape_at++] % n;
        break;
    case SIM_FROM_ODOMETER:
        return choices_digit(c, n);
    case SIM_FROM_SEED:
        break;
    }
    return choices_below(choices_next(st->s), n);
}

uint32_t sim_choose(sim_stream *st, uint32_t n)
{
    sim_choices *c = st->from;
    uint32_t v;

    if (n < 2)
        return 0;
    v = choices_draw(st, n);
    if (c->source != SIM_FROM_TAPE && c->tape_n < c->tape_max)
        c->tape[c->tape_n++] = v;
    return v;
}

int sim_chance(sim_stream *st, uint32_t part, uint32_t whole)
{
    return sim_choose(st, whole) < part;
}

int64_t sim_even(sim_stream *st, int64_t lo, int64_t hi)
{
    uint64_t n = (uint64_t)(hi - lo) + 1;
    uint64_t high;

    if (hi <= lo)
        return lo;
    if (n <= UINT32_MAX)
        return lo + (int64_t)sim_choose(st, (uint32_t)n);
    high = sim_choose(st, (uint32_t)(n >> 20));
    return lo + (int64_t)(high << 20 | sim_choose(st, 1u << 20));
}

int64_t sim_spread(sim_stream *st, int64_t lo, int64_t hi)
{
    uint64_t span = (uint64_t)(hi - lo), top;
    uint32_t powers = 0;

    if (hi <= lo)
        return lo;
    while (powers < 63 && span >> powers > 0)
        powers++;
    switch (sim_choose(st, 16)) {
    case 0: return lo;
    case 1: return hi;
    }
    top = (uint64_t)1 << sim_choose(st, powers);
    top = 2 * top - 1 > span ? span : 2 * top - 1;
    return sim_even(st, lo + (int64_t)(top / 2), lo + (int64_t)top);
}

/* -ln(1 - x) in 1024ths, in the middle of each 64th. */
static const uint16_t choices_quantile[64] = {
       8,   24,   41,   58,   75,   92,  110,  128,  146,  165,  184,  203,
     223,  243,  263,  284,  305,  327,  349,  372,  395,  419,  444,  469,
     494,  520,  547,  575,  603,  633,  663,  694,  726,  759,  793,  828,
     865,  903,  942,  983, 1026, 1070, 1117, 1166, 1217, 1271, 1328, 1388,
    1452, 1520, 1594, 1672, 1758, 1851, 1953, 2067, 2195, 2342, 2513, 2719,
    2976, 3320, 3844, 4968};

int64_t sim_delay(uint64_t bits, int64_t mean)
{
    return choices_quantile[bits & 63] * mean / 1024;
}
