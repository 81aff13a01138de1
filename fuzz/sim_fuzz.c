/* SPDX-License-Identifier: MIT
 *
 * sim_fuzz.c - runs the simulator with random draws from a fuzzer's bytes.
 *
 * A run has two clients and two seconds. After the end of the bytes, a seed
 * made of them decides. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    sim_setup setup = {0, SIM_LITE, 0, NULL, NULL, 0, 0, NULL, 0};
    sim_world *w;

    if (n == 0)
        return 0;
    w = sim_world_new();
    setup.bytes = data;
    setup.bytes_n = n;
    if (sim_world_run(w, &setup) == 0) {
        sim_world_free(w);
        return 0;
    }
    fprintf(stderr, "%s: %s\n", sim_rule_name[w->failed - 1], w->why);
    setup.trace = 1;
    sim_trace_clear();
    (void)sim_world_run(w, &setup);
    sim_trace_print(60);
    abort();
    return 0; /* not every compiler knows that abort ends */
}
