/* SPDX-License-Identifier: MIT
 *
 * shrink.c - delta debugging: finds the faults that a failure needs. A failure
 * is the same if it breaks the same rule; R10 is broken by two runs. */
#include <string.h>

#include "sim.h"

#define SHRINK_TRIES 400

static int shrink_still(sim_world *w, const sim_setup *setup,
                        const uint8_t *keep, int rule)
{
    sim_setup s = *setup;
    uint64_t history;

    s.keep = keep;
    s.trace = 0;
    if (rule != 1 + SIM_R10)
        return sim_world_run(w, &s) == rule;
    if (sim_world_run(w, &s) != 0)
        return 0;
    history = w->history;
    s.chunk_salt = 1;
    return sim_world_run(w, &s) == 0 && w->history != history;
}

/* Tries a run without the part-th of `parts` parts of the kept faults. */
static int shrink_part(sim_world *w, const sim_setup *setup, uint8_t *keep,
                       int kept, int part, int parts, int rule)
{
    uint8_t less[SIM_FAULTS];
    int from = kept * part / parts, to = kept * (part + 1) / parts;
    int i, at = 0, left = kept;

    memcpy(less, keep, sizeof less);
    for (i = 0; i < SIM_FAULTS; i++)
        if (less[i] && (at++, at > from && at <= to)) {
            less[i] = 0;
            left--;
        }
    if (left == kept || !shrink_still(w, setup, less, rule))
        return kept;
    memcpy(keep, less, sizeof less);
    return left;
}

/* Tries runs without any two of the kept faults: two faults may undo each
 * other, so that neither can be left out alone. */
static int shrink_pairs(sim_world *w, const sim_setup *setup, uint8_t *keep,
                        int kept, int rule, int *tries)
{
    uint8_t less[SIM_FAULTS];
    int i, j;

    for (i = 0; i < SIM_FAULTS; i++)
        for (j = i + 1; j < SIM_FAULTS && *tries < SHRINK_TRIES; j++) {
            if (!keep[i] || !keep[j])
                continue;
            memcpy(less, keep, sizeof less);
            less[i] = less[j] = 0;
            ++*tries;
            if (!shrink_still(w, setup, less, rule))
                continue;
            memcpy(keep, less, sizeof less);
            return kept - 2;
        }
    return kept;
}

int sim_shrink(sim_world *w, const sim_setup *setup, uint8_t *keep, int *tries)
{
    int rule, kept = 0, parts = 2, part, i, left;

    *tries = 0;
    rule = w->failed;
    (void)sim_world_run(w, setup);
    memset(keep, 0, SIM_FAULTS);
    for (i = 0; i < w->faults; i++)
        kept += keep[i] = w->fault[i].fired || w->fault[i].hanging;
    while (kept > 0 && *tries < SHRINK_TRIES) {
        if (parts > kept)
            parts = kept;
        for (part = 0, left = kept; part < parts && left == kept; part++) {
            left = shrink_part(w, setup, keep, kept, part, parts, rule);
            ++*tries;
        }
        if (left < kept) {
            kept = left;
            parts = parts > 2 ? parts - 1 : 2;
        } else if (parts == kept) {
            left = shrink_pairs(w, setup, keep, kept, rule, tries);
            if (left == kept)
                break;
            kept = left;
        } else {
            parts *= 2;
        }
    }
    return kept;
}
