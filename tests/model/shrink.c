/* SPDX-License-Identifier: MIT
 *
 * shrink.c - removes steps from a failing tape as long as it still fails.
 *
 * First all steps after the failure are removed, then sequences of steps, long
 * ones first, then single commands of a write. Any failure on the same side
 * counts as the same failure. */
#include <string.h>

#include "model.h"

#define SHRINK_TRIES 400

static int shrink_fails(const tape *t, side **sides, int n, int other)
{
    static verdict v;

    compare_play(t, sides, n, 0, &v);
    return v.failed == 1 && v.other == other;
}

/* Words are not moved, since steps only point to them. */
static void shrink_without(tape *t, int from, int count)
{
    memmove(&t->steps[from], &t->steps[from + count],
            (size_t)(t->n - from - count) * sizeof *t->steps);
    t->n -= count;
}

static void shrink_asks(tape *t, side **sides, int n, int other, int *tries)
{
    int i, k;

    for (i = 0; i < t->n; i++)
        for (k = 0; t->steps[i].kind == STEP_ASK && t->steps[i].n > 1 &&
                    k < t->steps[i].n && *tries > 0; k++) {
            step was = t->steps[i];

            memmove(&t->steps[i].asks[k], &t->steps[i].asks[k + 1],
                    (size_t)(was.n - k - 1) * sizeof *was.asks);
            t->steps[i].n--;
            (*tries)--;
            if (shrink_fails(t, sides, n, other))
                k--;
            else
                t->steps[i] = was;
        }
}

void shrink_tape(tape *t, side **sides, int n, verdict *v)
{
    static step was[MODEL_STEPS];
    int other = v->other, tries = SHRINK_TRIES, count, from, had;

    if (v->failed != 1)
        return;
    if (v->step >= 0)
        t->n = v->step + 1;
    for (count = t->n / 2; count > 0 && tries > 0; count /= 2)
        for (from = t->n - count; from >= 0 && tries > 0; from -= count) {
            if (from + count > t->n)
                continue;
            had = t->n;
            memcpy(was, t->steps, sizeof was);
            shrink_without(t, from, count);
            tries--;
            if (shrink_fails(t, sides, n, other))
                continue;
            memcpy(t->steps, was, sizeof was);
            t->n = had;
        }
    shrink_asks(t, sides, n, other, &tries);
    compare_play(t, sides, n, 0, v);
}
