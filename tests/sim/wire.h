/* SPDX-License-Identifier: MIT
 *
 * wire.h - a second RESP parser, which shares no code with the library.
 *
 * An answer is reduced to a digest by the same rules, from the bytes that a
 * server sent and from the value that a client's event has. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "relet.h"

#define SIM_FRAME_WORDS 20
#define SIM_WORDS 144 /* enough for a put of 128 jobs                        */

typedef struct sim_words {
    relet_span word[SIM_WORDS]; /* the first words of the command             */
    size_t n;
} sim_words;

/* The number of bytes of the command at p; 0: not whole; -1: it is none. */
long sim_wire_command(const uint8_t *p, size_t n, sim_words *out);

/* 1 if the word is this text, in any letter case. */
int sim_wire_is(const sim_words *w, size_t i, const char *text);

/* The tag in the words, "op:" and hex digits; 0: none. */
uint64_t sim_wire_tag(const sim_words *w);

/* The last tag before the word *i, which becomes its word's index; 0: none. */
uint64_t sim_wire_tag_before(const sim_words *w, size_t *i);
size_t sim_wire_put_tag(char *out, uint64_t tag);

typedef struct sim_frame {
    uint64_t digest;
    char type;        /* as on the wire                                       */
    relet_span text;  /* text of an error or a string                         */
    relet_span word[SIM_FRAME_WORDS]; /* its first elements                   */
    size_t words;
} sim_frame;

/* The number of bytes of the frame at p; 0 and -1 as above. */
long sim_wire_frame(const uint8_t *p, size_t n, sim_frame *out);

/* The digest as if this were [number, again] of a put after so many jobs. */
uint64_t sim_wire_put_digest(const sim_frame *f, uint32_t before);

uint64_t sim_wire_value(relet_value v);
uint64_t sim_wire_text(uint64_t digest, char kind, relet_span s);

#endif
