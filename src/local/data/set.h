/* SPDX-License-Identifier: MIT
 *
 * set.h - a set of byte strings.
 *
 * While all members are integers, at most 512, they are iterated in ascending
 * order, as in Redis; else in order of insertion. Iterate as over a dict: e =
 * s->members.first; e = e->next. All zero is an empty set. */
#ifndef RLT_SET_H
#define RLT_SET_H

#include "dict.h"
#include "str.h"

#define RLT_SET_INTS 512

typedef struct rlt_set {
    rlt_dict members; /* value.i: the integer, while `large` is 0            */
    int large;        /* 1: not only integers, or too many; stays 1          */
} rlt_set;

#define RLT_SET_COST(n) RLT_DICT_COST(n)

RELET_PRIVATE void rlt_set_init(rlt_set *s);
RELET_PRIVATE void rlt_set_clear(rlt_set *s, rlt_pool *pool);

RELET_PRIVATE rlt_entry *rlt_set_find(const rlt_set *s, relet_span member);

/* 1, or 0: it was a member already. */
RELET_PRIVATE int rlt_set_add(rlt_set *s, rlt_pool *pool, relet_span member);
RELET_PRIVATE void rlt_set_remove(rlt_set *s, rlt_pool *pool, rlt_entry *e);

#endif
