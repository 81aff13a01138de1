/* SPDX-License-Identifier: MIT
 *
 * cmd_walk.h - parts of an object: HSCAN and its like, and random elements.
 */
#ifndef RLT_CMD_WALK_H
#define RLT_CMD_WALK_H

#include "call.h"

/* Writes an entry of the dict to c->out: one word, or two with its value. */
typedef void rlt_cmd_walk_fn(rlt_call *c, const rlt_entry *e);

/* The entry after e when everything is walked at once. */
typedef const rlt_entry *rlt_cmd_walk_next_fn(const rlt_entry *e);

typedef struct rlt_cmd_walk {
    const rlt_dict *dict;
    const rlt_entry *first;     /* everything at once, from here by `next`; …*/
    rlt_cmd_walk_next_fn *next; /* … NULL: by the cursor                     */
    rlt_cmd_walk_fn *tell;
    uint32_t words;             /* that `tell` writes: 1 or 2                */
} rlt_cmd_walk;

/* The order of insertion, for `next`. */
RELET_PRIVATE const rlt_entry *rlt_cmd_walk_order(const rlt_entry *e);

/* Reply to a scan whose options follow argv[2]; and to a scan of a missing
 * key. */
RELET_PRIVATE void rlt_cmd_walk_scan(rlt_call *c, const rlt_cmd_walk *w,
                                     rlt_call_scan *s);
RELET_PRIVATE void rlt_cmd_walk_scan_none(rlt_call *c);

/* Writes `count` different entries, at most all, or (count below 0) -count
 * entries drawn one by one. Writes no header. */
RELET_PRIVATE void rlt_cmd_walk_draw(rlt_call *c, const rlt_dict *d,
                                     rlt_cmd_walk_fn *tell, int64_t count);

/* Reads the arguments behind argv[1] of HRANDFIELD and its like: [count
 * [with]]. 1, or 0 when an error was replied. Without a count *one is 1. */
RELET_PRIVATE int rlt_cmd_walk_draw_words(rlt_call *c, const char *with,
                                          int64_t *count, int *one,
                                          int *with_values);

/* Keys to be tried in turn, and what to take from the first that exists. */
typedef struct rlt_cmd_walk_keys {
    uint32_t first, n; /* argv[first] and so on                              */
    int end;           /* 0 or 1: which of two words followed                */
    int64_t count;     /* COUNT; 1 when not given                            */
} rlt_cmd_walk_keys;

/* numkeys key [key ...] <one of ends> [COUNT count], from argv[i] to the end:
 * 1, or 0 when an error was replied. */
RELET_PRIVATE int rlt_cmd_walk_many(rlt_call *c, uint32_t i,
                                    const char *const ends[2],
                                    rlt_cmd_walk_keys *k);

/* 1 if argv[i] may be served: a woken command serves its own key alone. */
RELET_PRIVATE int rlt_cmd_walk_is_on(const rlt_call *c, uint32_t i);

#endif
