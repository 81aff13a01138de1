/* SPDX-License-Identifier: MIT
 *
 * stream.h - a stream: its entries by id. (Its groups: stream_group.h.)
 *
 * Entries are grouped into nodes as in Redis, by number and by bytes of their
 * packed form: trimming with ~ removes whole nodes, so clients can see where
 * the nodes end. */
#ifndef RLT_STREAM_H
#define RLT_STREAM_H

#include "str.h"
#include "tree.h"

#define RLT_STREAM_NODE_ENTRIES 100
#define RLT_STREAM_NODE_BYTES 4096

typedef struct rlt_stream_id {
    uint64_t ms, seq;
} rlt_stream_id;

typedef struct rlt_stream_node {
    struct rlt_stream_node *next, *back;
    rlt_stream_id master, last; /* first and last id it had, deleted or not  */
    uint32_t live, deleted;
    size_t bytes;               /* of the packed form                        */
    uint32_t n;                 /* fields that its first entry has …         */
    rlt_str *fields;            /* … and all of them: lengths and bytes      */
} rlt_stream_node;

typedef struct rlt_stream_entry {
    rlt_leaf leaf;
    rlt_stream_id id;
    rlt_stream_node *node;
    uint32_t n;      /* strings: fields and values in turn                   */
    uint32_t bytes;  /* of all strings                                       */
    uint32_t ends[1]; /* n of them: where each string ends; then the bytes   */
} rlt_stream_entry;

typedef struct rlt_stream {
    rlt_tree entries;     /* by id                                           */
    rlt_tree groups;      /* rlt_stream_group, by name                       */
    rlt_stream_node *first, *final; /* nodes; NULL when empty                */
    uint32_t nodes;
    rlt_stream_id last;        /* the highest id that was ever given         */
    rlt_stream_id max_deleted; /* the highest id that was deleted by XDEL    */
    uint64_t added;            /* entries-added                              */
} rlt_stream;

/* Memory to promise for an entry of so many strings, with so many bytes in
 * all. */
#define RLT_STREAM_ENTRY_COST(strings, bytes)                               \
    (RLT_POOL_COST(sizeof(rlt_stream_entry) + (size_t)(strings) * 4 +       \
                   (size_t)(bytes)) +                                       \
     RLT_POOL_COST(sizeof(rlt_stream_node)) +                               \
     RLT_STR_COST((size_t)(strings) * 4 + (size_t)(bytes)))

/* ---------------------------------------------------------------------- ids */

#define RLT_STREAM_ID_MAX 42 /* bytes as text                                */

RELET_PRIVATE rlt_stream_id rlt_stream_id_of(uint64_t ms, uint64_t seq);

/* Below 0, 0, above 0. */
RELET_PRIVATE int rlt_stream_id_compare(rlt_stream_id a, rlt_stream_id b);

/* Reads "ms-seq"; "ms" alone has the sequence `missing`. With `any` not NULL
 * also "ms-*": *any is then 1 (else 0) and seq is 0. Neither "-", "+", "$" nor
 * "*" are ids. 1, or 0: Invalid stream ID specified as stream command
 * argument. */
RELET_PRIVATE int rlt_stream_id_read(relet_span s, uint64_t missing,
                                     rlt_stream_id *out, int *any);
RELET_PRIVATE size_t rlt_stream_id_text(char *out, rlt_stream_id id);

/* Moves *id to the next id, or to the previous one. 0: there is none, *id
 * stays. */
RELET_PRIVATE int rlt_stream_id_next(rlt_stream_id *id);
RELET_PRIVATE int rlt_stream_id_back(rlt_stream_id *id);

/* ------------------------------------------------------------------ entries */

/* All zero is an empty stream. */
RELET_PRIVATE void rlt_stream_init(rlt_stream *s);
RELET_PRIVATE void rlt_stream_clear(rlt_stream *s,
                                    rlt_pool *pool); /* no groups are left */

/* Copies entries, nodes and counters into an empty stream; and the memory to
 * promise for that. */
RELET_PRIVATE void rlt_stream_copy(const rlt_stream *s, rlt_pool *pool,
                                   rlt_stream *to);
RELET_PRIVATE size_t rlt_stream_copy_cost(const rlt_stream *s);
RELET_PRIVATE uint32_t rlt_stream_count(const rlt_stream *s);

/* The id that XADD assigns: for "*" now, but above `last`; for "ms-*" the next
 * sequence in ms. 0: no id above `last` is left. */
RELET_PRIVATE int rlt_stream_id_for_now(const rlt_stream *s, uint64_t now_ms,
                                        rlt_stream_id *out);
RELET_PRIVATE int rlt_stream_id_in_ms(const rlt_stream *s, uint64_t ms,
                                      rlt_stream_id *out);

/* Adds an entry of n strings: fields and values in turn. The id is above `last`
 * (asserted): the caller refuses others. Counts the entry as added. */
RELET_PRIVATE rlt_stream_entry *rlt_stream_add(rlt_stream *s, rlt_pool *pool,
                                               rlt_stream_id id,
                                               const relet_span *strings,
                                               uint32_t n);

/* String i of an entry; fields are the even ones. */
RELET_PRIVATE relet_span rlt_stream_string(const rlt_stream_entry *e,
                                           uint32_t i);

/* The entry with this id; the first at or above id (side 1), or the last at or
 * below it (side 0); the first (side 0) or last (side 1) entry; the next (side
 * 1) or previous (side 0) entry. NULL when there is none. */
RELET_PRIVATE rlt_stream_entry *rlt_stream_find(const rlt_stream *s,
                                                rlt_stream_id id);
RELET_PRIVATE rlt_stream_entry *rlt_stream_seek(const rlt_stream *s,
                                                rlt_stream_id id, int side);
RELET_PRIVATE rlt_stream_entry *rlt_stream_end(const rlt_stream *s, int side);
RELET_PRIVATE rlt_stream_entry *rlt_stream_step(const rlt_stream_entry *e,
                                                int side);

/* Deletes an entry, and raises max_deleted. */
RELET_PRIVATE void rlt_stream_delete(rlt_stream *s, rlt_pool *pool,
                                     rlt_stream_entry *e);

/* How XTRIM and XADD trim: by length or below an id, and by whole nodes when
 * approx. `limit`: stop before more entries than that are removed; 0: no
 * limit. */
typedef struct rlt_stream_cut {
    int by_id, approx;
    uint64_t max_count;
    rlt_stream_id min_id;
    uint64_t limit;
} rlt_stream_cut;

/* Returns how many entries were removed. max_deleted stays, as in Redis. */
RELET_PRIVATE uint32_t rlt_stream_trim(rlt_stream *s, rlt_pool *pool,
                                       const rlt_stream_cut *cut);

#endif
