/* SPDX-License-Identifier: MIT
 *
 * tree.c - a balanced tree of ordered items, found by key or rank in O(log n).
 *
 * Neither side of a leaf weighs more than three times the other; else the leaf
 * is rotated: once, or twice when the inner grandchild weighs at least double
 * the outer one. (Weight: size + 1. Three and two are the pair for which this
 * always restores the balance.) */
#include "tree.h"

#define TREE_LEAN 3
#define TREE_TWICE 2

static uint32_t tree_size(const rlt_leaf *leaf)
{
    return leaf ? leaf->size : 0;
}

static uint64_t tree_weight(const rlt_leaf *leaf)
{
    return (uint64_t)tree_size(leaf) + 1;
}

static void tree_measure(rlt_leaf *leaf)
{
    leaf->size = tree_size(leaf->side[0]) + tree_size(leaf->side[1]) + 1;
}

/* The parent of `was`, or the root, now points to `is`. */
static void tree_replace(rlt_tree *t, const rlt_leaf *was, rlt_leaf *is)
{
    rlt_leaf *up = was->up;

    if (up == NULL)
        t->root = is;
    else
        up->side[up->side[1] == was] = is;
    if (is)
        is->up = up;
}

/* Rotates: the child on `side` comes up, the leaf goes down to the other
 * side. */
static rlt_leaf *tree_turn(rlt_tree *t, rlt_leaf *leaf, int side)
{
    rlt_leaf *child = leaf->side[side], *inner = child->side[!side];

    tree_replace(t, leaf, child);
    child->side[!side] = leaf;
    leaf->up = child;
    leaf->side[side] = inner;
    if (inner)
        inner->up = leaf;
    tree_measure(leaf);
    tree_measure(child);
    return child;
}

/* Balances a leaf whose sides are balanced. Returns the leaf now in its
 * place. */
static rlt_leaf *tree_balance(rlt_tree *t, rlt_leaf *leaf)
{
    rlt_leaf *child;
    int side;

    for (side = 0; side < 2; side++) {
        child = leaf->side[side];
        if (tree_weight(child) <= TREE_LEAN * tree_weight(leaf->side[!side]))
            continue;
        if (tree_weight(child->side[!side]) >=
            TREE_TWICE * tree_weight(child->side[side]))
            (void)tree_turn(t, child, !side);
        return tree_turn(t, leaf, side);
    }
    return leaf;
}

static void tree_mend(rlt_tree *t, rlt_leaf *from)
{
    for (; from; from = from->up) {
        tree_measure(from);
        from = tree_balance(t, from);
    }
}

RELET_PRIVATE uint32_t rlt_tree_count(const rlt_tree *t)
{
    return tree_size(t->root);
}

RELET_PRIVATE void rlt_tree_link(rlt_tree *t, rlt_leaf *leaf, rlt_leaf *up,
                                 int side)
{
    leaf->up = up;
    leaf->side[0] = leaf->side[1] = NULL;
    leaf->size = 1;
    if (up == NULL) {
        rlt_assert(t->root == NULL);
        t->root = leaf;
        return;
    }
    rlt_assert(up->side[side] == NULL);
    up->side[side] = leaf;
    tree_mend(t, up);
}

/* Puts the next leaf, which has no side 0, in the place of `leaf`. Returns the
 * lowest leaf that must be balanced. */
static rlt_leaf *tree_stand_in(rlt_tree *t, rlt_leaf *leaf)
{
    rlt_leaf *next = rlt_tree_step(leaf, 1), *from;

    rlt_assert(next != NULL);
    from = next->up == leaf ? next : next->up;
    tree_replace(t, next, next->side[1]);
    tree_replace(t, leaf, next);
    next->side[0] = leaf->side[0];
    next->side[1] = leaf->side[1];
    next->side[0]->up = next;
    if (next->side[1])
        next->side[1]->up = next;
    return from;
}

RELET_PRIVATE void rlt_tree_unlink(rlt_tree *t, rlt_leaf *leaf)
{
    rlt_leaf *from = leaf->up;

    if (leaf->side[0] && leaf->side[1])
        from = tree_stand_in(t, leaf);
    else
        tree_replace(t, leaf, leaf->side[leaf->side[0] == NULL]);
    leaf->up = leaf->side[0] = leaf->side[1] = NULL;
    tree_mend(t, from);
}

static rlt_leaf *tree_outermost(rlt_leaf *leaf, int side)
{
    while (leaf && leaf->side[side])
        leaf = leaf->side[side];
    return leaf;
}

RELET_PRIVATE rlt_leaf *rlt_tree_end(const rlt_tree *t, int side)
{
    return tree_outermost(t->root, side);
}

RELET_PRIVATE rlt_leaf *rlt_tree_step(const rlt_leaf *leaf, int side)
{
    if (leaf->side[side])
        return tree_outermost(leaf->side[side], !side);
    while (leaf->up && leaf->up->side[side] == leaf)
        leaf = leaf->up;
    return leaf->up;
}

RELET_PRIVATE uint32_t rlt_tree_rank(const rlt_leaf *leaf)
{
    uint32_t rank = tree_size(leaf->side[0]);

    for (; leaf->up; leaf = leaf->up)
        if (leaf->up->side[1] == leaf)
            rank += tree_size(leaf->up->side[0]) + 1;
    return rank;
}

RELET_PRIVATE rlt_leaf *rlt_tree_at(const rlt_tree *t, uint32_t rank)
{
    rlt_leaf *leaf = t->root;
    uint32_t before;
    int side;

    while (leaf && rank != tree_size(leaf->side[0])) {
        before = tree_size(leaf->side[0]);
        side = rank > before;
        if (side)
            rank -= before + 1;
        leaf = leaf->side[side];
    }
    return leaf;
}
