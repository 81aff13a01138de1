/* SPDX-License-Identifier: MIT
 *
 * fsck_facts.h - what a scan found of each job of a queue, and the rules that a
 * job may break. */
#ifndef RELET_FSCK_FACTS_H
#define RELET_FSCK_FACTS_H

#include "cli.h"

/* Bits for what a scan found under a job's number. Places are in the order of
 * fsck_suffix, and the states that belong to them in the same order. */
enum {
    FSCK_WAITING = 1 << 0,
    FSCK_RANKED = 1 << 1,
    FSCK_DELAYED = 1 << 2,
    FSCK_LEASED = 1 << 3,
    FSCK_DONE = 1 << 4,
    FSCK_DEAD = 1 << 5,
    FSCK_PLACES = (1 << 6) - 1,
    FSCK_WAITS = FSCK_WAITING | FSCK_RANKED | FSCK_DELAYED,
    FSCK_RECORD = 1 << 6,
    FSCK_STATE = 1 << 7,
    FSCK_TEXT = 1 << 8,
    FSCK_HAS_L = 1 << 9, /* letter of its state; none of the three: W       */
    FSCK_HAS_D = 1 << 10,
    FSCK_HAS_X = 1 << 11,
    FSCK_ODD = 1 << 12,  /* a state or a record that has no known form      */
    FSCK_HIGH = 1 << 13  /* a number or a token higher than any given       */
};

typedef struct fsck_fact {
    uint64_t number;
    uint64_t token;
    uint32_t seen;
} fsck_fact;

/* Zeroed: empty. The list is from malloc. */
typedef struct fsck_facts {
    fsck_fact *list;
    size_t n, cap;
} fsck_facts;

void fsck_facts_add(fsck_facts *f, uint64_t number, uint32_t seen,
                    uint64_t token);

/* Sorts the facts and merges them into one for each number. */
void fsck_facts_fold(fsck_facts *f);

/* After _fold: 1 if a record of this number was seen. */
int fsck_facts_has(const fsck_facts *f, uint64_t number);

/* Reads the number at the beginning of s. Returns how many digits it has, at
 * most 18; 0: there is none. */
size_t fsck_facts_digits(relet_span s, uint64_t *number);

/* The bits for the state of a job, and its token; the bits for its record. */
uint32_t fsck_facts_state(relet_span s, uint64_t *token);
uint32_t fsck_facts_record(relet_span s);

/* Returns the rule that a job with these bits breaks, or NULL. */
const char *fsck_facts_wrong(uint32_t seen);

/* Whether a step that was cut short has left traces of the job. */
int fsck_facts_has_strays(uint32_t seen);

#endif
