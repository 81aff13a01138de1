/* SPDX-License-Identifier: MIT
 *
 * part.c - how long a lease of a key or of a job is trusted. */
#include "part.h"

/* Two clocks may run apart by 200 parts in a million, and a process may take
 * some time from looking at its clock to acting. */
#define PART_DRIFT(ms) ((ms) / 5000 + 1)
#define PART_MARGIN(ms) RLT_MAX(5, (ms) / 100)

RELET_PRIVATE relet_time rlt_trust_ms(relet_time ttl_ms)
{
    return ttl_ms - PART_DRIFT(ttl_ms) - PART_MARGIN(ttl_ms);
}
