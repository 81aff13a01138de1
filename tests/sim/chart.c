/* SPDX-License-Identifier: MIT
 *
 * chart.c - prints which node led when: a line for each lease and node. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define CHART_COLUMNS 64

static sim_span *chart_new(sim_world *w, int key, int node, int64_t to_us)
{
    sim_span *s = &w->leases.span[w->leases.spans++ % SIM_SPANS];

    s->key = key;
    s->node = node;
    s->token = 0;
    s->from_us = w->now_us;
    s->to_us = to_us;
    return s;
}

void sim_chart_begin(sim_world *w, int node, sim_hold *h)
{
    chart_new(w, h->key, node, h->until_us)->token = h->token;
    h->span = w->leases.spans;
}

void sim_chart_other(sim_world *w, int key, int64_t to_us)
{
    (void)chart_new(w, key, -1, to_us);
}

/* Returns 1 if the line is not empty. */
static int chart_line(const sim_world *w, int key, int node, int64_t from_us,
                      int64_t column_us, char *line)
{
    uint32_t i;
    int found = 0, at;

    memset(line, '.', CHART_COLUMNS);
    line[CHART_COLUMNS] = '\0';
    for (i = 0; i < SIM_SPANS && i < w->leases.spans; i++) {
        const sim_span *s = &w->leases.span[i];

        if (s->key != key || s->node != node)
            continue;
        for (at = 0; at < CHART_COLUMNS; at++)
            if (s->to_us > from_us + at * column_us &&
                s->from_us < from_us + (at + 1) * column_us) {
                line[at] = (char)(s->from_us >= from_us + at * column_us ? '|'
                                                                         : '=');
                found = 1;
            }
    }
    return found;
}

void sim_chart_print(const sim_world *w)
{
    int64_t column_us = 250 * SIM_MS;
    int64_t from_us = w->now_us - (CHART_COLUMNS - 4) * column_us;
    char line[CHART_COLUMNS + 1];
    int key, node;

    if (w->leases.spans == 0)
        return;
    printf("nodes that believe that they lead, a column each %ld ms, now is "
           "four before the end:\n", (long)(column_us / SIM_MS));
    for (key = 0; key < SIM_KEYS; key++)
        for (node = -1; node < w->shape.nodes; node++)
            if (chart_line(w, key, node, from_us, column_us, line))
                printf("  %s %c%c %s\n", sim_key_name[key],
                       node < 0 ? ' ' : 'n', node < 0 ? '*' : '0' + node,
                       line);
}
