/* SPDX-License-Identifier: MIT
 *
 * wire.h - RESP, read a second time: by none of the code that is judged.
 *
 * An answer is reduced to a number, by the same rules from the bytes that a
 * server sent and from the value that a client showed. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "relet.h"

#define SIM_FRAME_WORDS 20
#define SIM_WORDS 144 /* of a put of 128 jobs, too                           */

typedef struct sim_words {
    relet_span word[SIM_WORDS]; /* the first of them                          */
    size_t n;
} sim_words;

/* Bytes of the command that p begins with; 0: not whole; -1: it is none. */
long sim_wire_command(const uint8_t *p, size_t n, sim_words *out);

/* 1 when the word is this, in any case. */
int sim_wire_is(const sim_words *w, size_t i, const char *text);

/* The tag in the words, "op:" and hex digits; 0: none. */
uint64_t sim_wire_tag(const sim_words *w);

/* The last one before the word *i, which *i is then; 0: none. */
uint64_t sim_wire_tag_before(const sim_words *w, size_t *i);
size_t sim_wire_put_tag(char *out, uint64_t tag);

typedef struct sim_frame {
    uint64_t digest;
    char type;        /* as on the wire                                       */
    relet_span text;  /* of an error or a string                              */
    relet_span word[SIM_FRAME_WORDS]; /* the first of what it consists of      */
    size_t words;
} sim_frame;

/* Bytes of the frame that p begins with; 0, -1 as above. */
long sim_wire_frame(const uint8_t *p, size_t n, sim_frame *out);

/* As if it were [number, again] of a put behind so many other jobs. */
uint64_t sim_wire_put_digest(const sim_frame *f, uint32_t before);

uint64_t sim_wire_value(relet_value v);
uint64_t sim_wire_text(uint64_t digest, char kind, relet_span s);

#endif
