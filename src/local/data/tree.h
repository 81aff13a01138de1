/* SPDX-License-Identifier: MIT
 *
 * tree.h - a balanced tree of ordered items, found by key or rank in O(log n).
 *
 * An item in a tree embeds a leaf. The tree compares nothing and allocates
 * nothing: its owner walks down from the root to where a leaf belongs, and
 * links it there. Balance follows from sizes alone, so the same calls make
 * the same tree. */
#ifndef RLT_TREE_H
#define RLT_TREE_H

#include "base.h"

typedef struct rlt_leaf {
    struct rlt_leaf *up, *side[2]; /* side 0: leaves before this one         */
    uint32_t size;                 /* leaves from here down, this one too    */
} rlt_leaf;

typedef struct rlt_tree {
    rlt_leaf *root; /* NULL: empty                                           */
} rlt_tree;

/* The struct of this type whose member is the leaf. */
#define RLT_TREE_OWNER(type, member, leaf) \
    ((type *)(void *)((char *)(leaf) - offsetof(type, member)))

RELET_PRIVATE uint32_t rlt_tree_count(const rlt_tree *t);

/* Links a leaf under `up`, whose side is NULL; up NULL: into an empty tree. */
RELET_PRIVATE void rlt_tree_link(rlt_tree *t, rlt_leaf *leaf, rlt_leaf *up,
                                 int side);
RELET_PRIVATE void rlt_tree_unlink(rlt_tree *t, rlt_leaf *leaf);

/* The first (side 0) or the last (side 1); NULL when empty. */
RELET_PRIVATE rlt_leaf *rlt_tree_end(const rlt_tree *t, int side);

/* The next (side 1) or the one before (side 0); NULL at the end. */
RELET_PRIVATE rlt_leaf *rlt_tree_step(const rlt_leaf *leaf, int side);

/* How many leaves come before this one; the leaf with this rank, or NULL. */
RELET_PRIVATE uint32_t rlt_tree_rank(const rlt_leaf *leaf);
RELET_PRIVATE rlt_leaf *rlt_tree_at(const rlt_tree *t, uint32_t rank);

#endif
