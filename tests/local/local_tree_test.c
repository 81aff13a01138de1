/* SPDX-License-Identifier: MIT
 *
 * local_tree_test.c - a balanced tree with ranks, against an array.
 */
#include "local_data.h"
#include "tree.h"

#define T_LEAVES 600

static rlt_leaf t_leaves[T_LEAVES];
static rlt_leaf *t_order[T_LEAVES];
static uint32_t t_count;
static rlt_tree t_tree;

/* Links the leaf at this rank, where a search by comparisons would end. */
static void t_link(rlt_leaf *leaf, uint32_t rank)
{
    rlt_leaf *up = NULL, *at = t_tree.root;
    uint32_t want = rank, before;
    int side = 0;

    while (at) {
        up = at;
        before = at->side[0] ? at->side[0]->size : 0;
        side = want > before;
        if (side)
            want -= before + 1;
        at = at->side[side];
    }
    rlt_tree_link(&t_tree, leaf, up, side);
    memmove(t_order + rank + 1, t_order + rank,
            (t_count - rank) * sizeof t_order[0]);
    t_order[rank] = leaf;
    t_count++;
}

static void t_unlink(uint32_t rank)
{
    rlt_tree_unlink(&t_tree, t_order[rank]);
    t_count--;
    memmove(t_order + rank, t_order + rank + 1,
            (t_count - rank) * sizeof t_order[0]);
}

static uint32_t t_depth(const rlt_leaf *leaf)
{
    uint32_t depth = 1;

    for (; leaf->up; leaf = leaf->up)
        depth++;
    return depth;
}

/* Weights of 1 to 3 on the sides: log 4/3 of the count. */
static uint32_t t_depth_max(uint32_t n)
{
    uint32_t depth = 1;
    double reach = 1;

    for (; reach < n + 1; depth++)
        reach = reach * 4 / 3;
    return depth;
}

static int t_right(void)
{
    uint32_t i, depth = t_depth_max(t_count);

    if (rlt_tree_count(&t_tree) != t_count ||
        rlt_tree_at(&t_tree, t_count) != NULL)
        return 0;
    for (i = 0; i < t_count; i++) {
        if (rlt_tree_at(&t_tree, i) != t_order[i] ||
            rlt_tree_rank(t_order[i]) != i || t_depth(t_order[i]) > depth)
            return 0;
        if (rlt_tree_step(t_order[i], 1) !=
                (i + 1 < t_count ? t_order[i + 1] : NULL) ||
            rlt_tree_step(t_order[i], 0) != (i > 0 ? t_order[i - 1] : NULL))
            return 0;
    }
    return rlt_tree_end(&t_tree, 0) == (t_count ? t_order[0] : NULL) &&
           rlt_tree_end(&t_tree, 1) == (t_count ? t_order[t_count - 1] : NULL);
}

static void t_clear(uint64_t seed)
{
    rlt_rand_seed(&t_dice, seed);
    t_count = 0;
    t_tree.root = NULL;
}

TEST ranks_and_neighbours_are_those_of_an_array(void)
{
    rlt_leaf *spare[T_LEAVES];
    uint32_t i, n, spares, seed, rank;

    for (seed = 1; seed <= 30; seed++) {
        t_clear(seed);
        for (spares = 0; spares < T_LEAVES; spares++)
            spare[spares] = &t_leaves[spares];
        for (i = 0; i < 900; i++) {
            n = i < 450 ? 3 : 8; /* grows, then shrinks */
            if (spares > 0 && (t_count == 0 || t_below(10) > n)) {
                t_link(spare[--spares], t_below(t_count + 1));
            } else {
                rank = t_below(t_count);
                spare[spares++] = t_order[rank];
                t_unlink(rank);
            }
            if (i % 30 == 0 || t_count < 8)
                ASSERT(t_right());
        }
        while (t_count > 0) {
            t_unlink(t_below(t_count));
            if (t_count < 40)
                ASSERT(t_right());
        }
    }
    PASS();
}

TEST leaves_added_at_an_end_stay_balanced(void)
{
    uint32_t i;
    int end;

    for (end = 0; end < 2; end++) {
        t_clear(1);
        for (i = 0; i < T_LEAVES; i++)
            t_link(&t_leaves[i], end ? t_count : 0);
        ASSERT(t_right());
        for (i = 0; i + 5 < T_LEAVES; i++)
            t_unlink(end ? 0 : t_count - 1);
        ASSERT(t_right());
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(ranks_and_neighbours_are_those_of_an_array);
    RUN_TEST(leaves_added_at_an_end_stay_balanced);
    GREATEST_MAIN_END();
}
