/* SPDX-License-Identifier: MIT
 *
 * choices.h - random draws from one seed.
 *
 * A stream has the subject of its decisions as its key, so a draw from one
 * stream changes no other stream: if a fault is left out, the other draws of
 * the run stay the same. There are no floats, and nothing here depends on the
 * machine.
 *
 * The values come from the seed; from a fuzzer's bytes and, after their end,
 * from a seed made of them; from a tape of earlier values; or from an odometer
 * that goes through all sequences of a given length. */
#ifndef SIM_CHOICES_H
#define SIM_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#define SIM_DIGITS 16 /* draws of an odometer                                 */

typedef enum sim_source {
    SIM_FROM_SEED,
    SIM_FROM_BYTES,
    SIM_FROM_TAPE,
    SIM_FROM_ODOMETER
} sim_source;

typedef struct sim_choices {
    sim_source source;
    uint64_t seed;
    const uint8_t *bytes; /* FROM_BYTES                                       */
    size_t bytes_n, bytes_at;
    uint32_t *tape; /* FROM_TAPE: read; else, when there is one: written      */
    size_t tape_max, tape_n, tape_at;
    uint32_t digit[SIM_DIGITS], base[SIM_DIGITS]; /* FROM_ODOMETER            */
    size_t digits;
} sim_choices;

typedef struct sim_stream {
    sim_choices *from;
    uint64_t s[4];
} sim_stream;

void sim_choices_seed(sim_choices *c, uint64_t seed);
void sim_choices_bytes(sim_choices *c, const uint8_t *p, size_t n);

/* From now on draws are recorded on the tape, or read back from it. */
void sim_choices_record(sim_choices *c, uint32_t *tape, size_t max);
void sim_choices_replay(sim_choices *c);

/* Moves on to the next sequence in which one of the first SIM_DIGITS draws
 * differs; returns 0 when there is none. */
void sim_choices_odometer(sim_choices *c);
int sim_choices_turn(sim_choices *c);

/* The stream that decides about the index-th of its kind. */
void sim_stream_open(sim_stream *st, sim_choices *c, uint64_t kind,
                     uint64_t index);

/* A number below n; 0 when n is 0. */
uint32_t sim_choose(sim_stream *st, uint32_t n);

/* Returns 1 in `part` of `whole` cases. */
int sim_chance(sim_stream *st, uint32_t part, uint32_t whole);

/* A number in lo … hi. sim_even: each number is as likely. sim_spread: each
 * power of two is as likely, and the ends are more likely. */
int64_t sim_even(sim_stream *st, int64_t lo, int64_t hi);
int64_t sim_spread(sim_stream *st, int64_t lo, int64_t hi);

/* A draw that needs no stream, because the same draw is asked for
 * repeatedly. */
uint64_t sim_mix(uint64_t a, uint64_t b);
uint64_t sim_keyed(const sim_choices *c, uint64_t kind, uint64_t a, uint64_t b);

/* An exponential delay with this mean, drawn from six of the bits. */
int64_t sim_delay(uint64_t bits, int64_t mean);

#endif
