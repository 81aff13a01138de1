/* SPDX-License-Identifier: MIT
 *
 * trace.c - the record of a run: the last 64 KiB of text for people, one hash
 * for comparisons, and the marks that were passed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define TRACE_BYTES 65536

static char trace_ring[TRACE_BYTES];
static size_t trace_at, trace_full;

FILE *sim_trace_out;
uint64_t sim_marks[SIM_MARKS_N];
const char *const sim_mark_name[SIM_MARKS_N] = {
#define SIM_MARK_TEXT(name) #name,
    SIM_MARKS(SIM_MARK_TEXT)};

static const char *trace_phase(sim_phase phase)
{
    switch (phase) {
    case SIM_BOOTING: return "boot ";
    case SIM_CHAOS: return "chaos";
    case SIM_QUIET: return "quiet";
    case SIM_PROBED: return "probe";
    case SIM_OVER: return "over ";
    }
    return "";
}

static void trace_keep(const char *text, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        trace_ring[trace_at++] = text[i];
        if (trace_at == TRACE_BYTES) {
            trace_at = 0;
            trace_full = 1;
        }
    }
}

void sim_say(const sim_world *w, const char *format, ...)
{
    char line[400];
    va_list list;
    int n, m;

    n = sprintf(line, "%5ld.%06ld %s ", (long)(w->now_us / SIM_S),
                (long)(w->now_us % SIM_S), trace_phase(w->phase));
    va_start(list, format);
    m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, list);
    va_end(list);
    n += m < (int)sizeof line - n - 2 ? m : (int)sizeof line - n - 2;
    line[n++] = '\n';
    if (sim_trace_out)
        (void)fwrite(line, 1, (size_t)n, sim_trace_out);
    trace_keep(line, (size_t)n);
}

void sim_trace_clear(void)
{
    trace_at = trace_full = 0;
}

/* Prints the last lines that were kept. */
void sim_trace_print(int lines)
{
    size_t n = trace_full ? TRACE_BYTES : trace_at, i = 0;
    size_t start = trace_full ? trace_at : 0;

    while (i < n) {
        if (i > 0 && trace_ring[(start + n - 1 - i) % TRACE_BYTES] == '\n' &&
            lines-- == 1)
            break;
        i++;
    }
    for (; i > 0; i--)
        putchar(trace_ring[(start + n - i) % TRACE_BYTES]);
}

void sim_note(sim_world *w, uint64_t kind, uint64_t what)
{
    w->hash = sim_mix(w->hash ^ (uint64_t)w->now_us, sim_mix(kind, what));
}
