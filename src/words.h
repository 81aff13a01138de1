/* SPDX-License-Identifier: MIT
 *
 * words.h - what a script of a queue is called with: keys, then arguments,
 * with room for the numbers among them. */
#ifndef RLT_WORDS_H
#define RLT_WORDS_H

#include "base.h"
#include "job.h"
#include "worker.h"

#define RLT_WORDS_KEYS 8
#define RLT_WORDS_MAX (RLT_WORDS_KEYS + 8 + 2 * RLT_WORK_BATCH)

typedef struct rlt_words {
    size_t argc, keys, used;
    relet_span argv[RLT_WORDS_MAX];
    char key[RLT_WORDS_KEYS][RLT_QUEUE_KEY_MAX];
    char text[RLT_WORDS_MAX * 20 + 160];
} rlt_words;

RELET_PRIVATE void rlt_words_init(rlt_words *w);

/* All keys come before the first argument. */
RELET_PRIVATE void rlt_words_key(rlt_words *w, const rlt_queue_tag *q,
                                 rlt_queue_key key);
RELET_PRIVATE void rlt_words_add(rlt_words *w, relet_span s); /* not copied   */
RELET_PRIVATE void rlt_words_number(rlt_words *w, uint64_t v);

/* "NAME.v", and "v,rank" or "v" alone. */
RELET_PRIVATE void rlt_words_place(rlt_words *w, relet_span name, uint64_t v);
RELET_PRIVATE void rlt_words_name(rlt_words *w, uint64_t v, int32_t rank);

#endif
