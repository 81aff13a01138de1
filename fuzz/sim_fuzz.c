/* SPDX-License-Identifier: MIT
 *
 * sim_fuzz.c - the simulator, whose choices are a fuzzer's bytes.
 *
 * Two clients, two seconds. What the bytes do not decide follows from them. */
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
