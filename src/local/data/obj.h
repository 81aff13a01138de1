/* SPDX-License-Identifier: MIT
 *
 * obj.h - the object under a key: one of six types, and its expiry time.
 *
 * An object is owned by its key, or by the caller that took it. */
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

/* Only the part of this struct that the type needs is allocated. */
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

/* Memory to promise for a new object, without a string's bytes
 * (RLT_STR_COST). */
#define RLT_OBJ_COST RLT_POOL_COST(sizeof(rlt_obj))

/* A new empty object; a string with a copy of the bytes, or one that owns s. */
RELET_PRIVATE rlt_obj *rlt_obj_new(rlt_pool *pool, rlt_obj_type type);
RELET_PRIVATE rlt_obj *rlt_obj_string(rlt_pool *pool, relet_span s);
RELET_PRIVATE rlt_obj *rlt_obj_string_of(rlt_pool *pool, rlt_str *s);

/* Frees the object and its contents. It must be under no key and have no
 * due. */
RELET_PRIVATE void rlt_obj_free(rlt_pool *pool, rlt_obj *o);

/* A deep copy, and the memory to promise for it. */
RELET_PRIVATE rlt_obj *rlt_obj_copy(rlt_pool *pool, const rlt_obj *o);
RELET_PRIVATE size_t rlt_obj_copy_cost(const rlt_obj *o);

/* The string of an object; and replacing it, which frees the old string. */
RELET_PRIVATE relet_span rlt_obj_span(const rlt_obj *o);
RELET_PRIVATE void rlt_obj_set_string(rlt_pool *pool, rlt_obj *o,
                                      rlt_str *s);

/* 1 when the object has no elements, so that its key must be deleted; never for
 * strings and streams. And the number of elements; 1 for a string. */
RELET_PRIVATE int rlt_obj_is_empty(const rlt_obj *o);
RELET_PRIVATE uint32_t rlt_obj_count(const rlt_obj *o);

/* "string", "list", "set", "zset", "hash", "stream". */
RELET_PRIVATE const char *rlt_obj_type_name(rlt_obj_type type);

#endif
