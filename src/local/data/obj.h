/* SPDX-License-Identifier: MIT
 *
 * obj.h - what a key holds: one of six types, and when it ends.
 *
 * The owner of an object is the key it stands under, or whoever took it. */
#ifndef RLT_OBJ_H
#define RLT_OBJ_H

#include "hash.h"
#include "list.h"
#include "set.h"
#include "stream_group.h"
#include "zset.h"

typedef enum rlt_obj_type {
    RLT_OBJ_STRING,
    RLT_OBJ_LIST,
    RLT_OBJ_SET,
    RLT_OBJ_ZSET,
    RLT_OBJ_HASH,
    RLT_OBJ_STREAM
} rlt_obj_type;

typedef struct rlt_due rlt_due; /* see keys.h */

/* Only as much of it is allocated as its type needs. */
typedef struct rlt_obj {
    rlt_obj_type type;
    rlt_due *due; /* NULL: does not expire                                   */
    union {
        rlt_str *str;
        rlt_list list;
        rlt_set set;
        rlt_zset zset;
        rlt_hash hash;
        rlt_stream stream;
    } of;
} rlt_obj;

/* What a new one takes; a string's bytes apart (RLT_STR_COST). */
#define RLT_OBJ_COST RLT_POOL_COST(sizeof(rlt_obj))

/* An empty one; a string gets the bytes, or the str that is handed over. */
RELET_PRIVATE rlt_obj *rlt_obj_new(rlt_pool *pool, rlt_obj_type type);
RELET_PRIVATE rlt_obj *rlt_obj_string(rlt_pool *pool, relet_span s);
RELET_PRIVATE rlt_obj *rlt_obj_string_of(rlt_pool *pool, rlt_str *s);

/* With all it holds. It must stand under no key and have no due. */
RELET_PRIVATE void rlt_obj_free(rlt_pool *pool, rlt_obj *o);

/* A copy of all, and what that takes of a promise. */
RELET_PRIVATE rlt_obj *rlt_obj_copy(rlt_pool *pool, const rlt_obj *o);
RELET_PRIVATE size_t rlt_obj_copy_cost(const rlt_obj *o);

/* Its string. What it was is freed. */
RELET_PRIVATE relet_span rlt_obj_span(const rlt_obj *o);
RELET_PRIVATE void rlt_obj_set_string(rlt_pool *pool, rlt_obj *o,
                                      rlt_str *s);

/* 1 when it holds no elements: such a key must go. Never so for strings and
 * streams. And how many elements it has; of a string, 1. */
RELET_PRIVATE int rlt_obj_is_empty(const rlt_obj *o);
RELET_PRIVATE uint32_t rlt_obj_count(const rlt_obj *o);

/* "string", "list", "set", "zset", "hash", "stream". */
RELET_PRIVATE const char *rlt_obj_type_name(rlt_obj_type type);

#endif
