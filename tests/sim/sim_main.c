/* SPDX-License-Identifier: MIT
 *
 * sim_main.c - seeds in, one line out.
 *
 *   sim [SEEDS=n] [FROM=seed] [SECONDS=s] [PRESET=calm|full|lite] [MARKS=1]
 *       [WORK=plain|lease|both|jobs]
 *   sim SEED=x [TRACE=1] [KEEP=3,17]
 *
 * Without SEEDS it is as many as SECONDS allow, or a thousand. A seed that
 * fails is run again for its trace, and shrunk. Ends in a line; exits with 1
 * when a seed failed, or with MARKS=1 when something never came to pass, or a
 * rule was seldom looked at. EXPECT=R2 stops at the first failure and asks it
 * to be of that rule: for the mutants. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

typedef struct sim_campaign {
    uint64_t seeds, from, seconds;
    int one, trace, marks;
    const char *expect;
    sim_setup setup;
    uint8_t keep[SIM_FAULTS];
    /* What came of it. */
    uint64_t gave_up;
    uint64_t seeds_run, runs, failures, hash, events, simulated_us, unequal;
    uint64_t unmuted[SIM_RULES];
    int64_t recovery[4096];
    uint32_t recoveries;
    int first_failed;
} sim_campaign;

static uint64_t main_seed_now;

/* A broken assertion ends the process: say at least by which seed. */
static void main_trap(int signal_number)
{
    static const char text[] = "FAILED E1: an assertion or a crash; SEED=";
    char digits[24];
    size_t n = sizeof digits;
    uint64_t v = main_seed_now;

    do
        digits[--n] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    (void)!write(1, text, sizeof text - 1);
    (void)!write(1, digits + n, sizeof digits - n);
    (void)!write(1, "\n", 1);
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

/* ---------------------------------------------------------------- arguments */

static int main_word(const char *arg, const char *name, const char **value)
{
    size_t n = strlen(name);

    if (strncmp(arg, name, n) != 0 || arg[n] != '=')
        return 0;
    *value = arg + n + 1;
    return 1;
}

/* A decimal number, or the name of a commit. */
static uint64_t main_seed(const char *text)
{
    char *end;
    uint64_t v = strtoull(text, &end, 10);

    if (*end == '\0')
        return v;
    for (v = 0; *text; text++)
        v = sim_mix(v, (unsigned char)*text);
    return v >> 1;
}

static void main_keep(sim_campaign *c, const char *list)
{
    char *end;

    c->setup.keep = c->keep;
    while (*list) {
        unsigned long i = strtoul(list, &end, 10);

        if (i < SIM_FAULTS && end != list)
            c->keep[i] = 1;
        list = *end ? end + 1 : end;
    }
}

/* One kind of work, whatever the seed says. */
static void main_work(sim_campaign *c, const char *name)
{
    static const sim_workload *const work[] = {&sim_plain, &sim_lease,
                                               &sim_both, &sim_working};
    size_t i;

    for (i = 0; i < sizeof work / sizeof work[0]; i++)
        if (strcmp(name, work[i]->name) == 0)
            c->setup.work = work[i];
}

static int main_arguments(sim_campaign *c, int argc, char **argv)
{
    const char *v;
    int i;

    for (i = 1; i < argc; i++) {
        if (main_word(argv[i], "SEEDS", &v))
            c->seeds = strtoull(v, NULL, 10);
        else if (main_word(argv[i], "FROM", &v))
            c->from = main_seed(v);
        else if (main_word(argv[i], "SEED", &v) && *v)
            c->one = 1, c->from = main_seed(v), c->seeds = 1;
        else if (main_word(argv[i], "SECONDS", &v))
            c->seconds = strtoull(v, NULL, 10);
        else if (main_word(argv[i], "TRACE", &v))
            c->trace = atoi(v);
        else if (main_word(argv[i], "SALT", &v))
            c->setup.chunk_salt = strtoull(v, NULL, 10);
        else if (main_word(argv[i], "MARKS", &v))
            c->marks = atoi(v);
        else if (main_word(argv[i], "EXPECT", &v))
            c->expect = *v ? v : NULL;
        else if (main_word(argv[i], "KEEP", &v) && *v)
            main_keep(c, v);
        else if (main_word(argv[i], "PRESET", &v))
            c->setup.preset = strcmp(v, "calm") == 0   ? SIM_CALM
                              : strcmp(v, "full") == 0 ? SIM_FULL
                              : strcmp(v, "lite") == 0 ? SIM_LITE
                                                       : SIM_SWARM;
        else if (main_word(argv[i], "WORK", &v) && *v)
            main_work(c, v);
        else if (strchr(argv[i], '=') == NULL)
            return 0;
    }
    return 1;
}

/* --------------------------------------------------------------------- runs */

static void main_failure(sim_world *w, sim_campaign *c)
{
    sim_setup s = c->setup;
    uint8_t keep[SIM_FAULTS];
    char why[sizeof w->why];
    int rule = w->failed - 1, kept, tries = 0, i, fired = w->faults_fired;

    strcpy(why, w->why);
    printf("FAILED %s: %s\n", sim_rule_name[rule], why);
    if (c->expect)
        return;
    kept = s.keep ? -1 : sim_shrink(w, &s, keep, &tries);
    if (kept >= 0)
        s.keep = keep;
    s.trace = 1;
    sim_trace_clear();
    (void)sim_world_run(w, &s);
    sim_trace_print(40);
    sim_chart_print(w);
    sim_swarm_print(w);
    printf("  %d faults of %d are enough, found in %d tries:\n",
           kept < 0 ? fired : kept, fired, tries);
    for (i = 0; i < w->faults; i++)
        if (s.keep[i])
            sim_fault_print(w, i);
    printf("again: make sim SEED=%llu TRACE=1", (unsigned long long)s.seed);
    for (i = 0, fired = 0; i < w->faults; i++)
        if (s.keep[i])
            printf("%s%d", fired++ ? "," : " KEEP=", i);
    printf("\n");
}

static void main_count(sim_world *w, sim_campaign *c)
{
    int i;

    c->seeds_run++;
    c->runs++;
    c->events += w->events;
    c->simulated_us += (uint64_t)w->now_us;
    c->gave_up += (uint64_t)w->gave_up;
    for (i = 0; i < SIM_RULES; i++)
        c->unmuted[i] += w->checked[i] > 0;
    if (!w->failed && c->recoveries < 4096)
        c->recovery[c->recoveries++] = w->recovery_us;
}

/* The same seed again: everything is the same, and with other reads and
 * writes what the application saw is. */
static void main_again(sim_world *w, sim_campaign *c)
{
    sim_setup s = c->setup;
    uint64_t hash = w->hash, history = w->history;

    (void)sim_world_run(w, &s);
    c->runs++;
    c->events += w->events;
    w->checked[SIM_E2]++;
    if (w->hash != hash)
        sim_fail(w, SIM_E2, "two runs of a seed differ");
    /* How often memory is asked for depends on the pieces, and may. */
    if (w->failed || w->memory_faults > 0)
        return;
    s.chunk_salt = 1;
    (void)sim_world_run(w, &s);
    c->runs++;
    c->events += w->events;
    w->checked[SIM_R10]++;
    w->checked[SIM_E2]++;
    if (!w->failed && w->history != history)
        sim_fail(w, SIM_R10, "the history depends on how bytes are cut");
}

static void main_one(sim_world *w, sim_campaign *c, uint64_t seed)
{
    main_seed_now = c->setup.seed = seed;
    c->setup.trace = c->one ? c->trace : 0;
    (void)sim_world_run(w, &c->setup);
    if (c->one)
        printf("seed %llu: hash %016llx, history %016llx, %llu events\n",
               (unsigned long long)seed, (unsigned long long)w->hash,
               (unsigned long long)w->history,
               (unsigned long long)w->events);
    c->hash = sim_mix(c->hash, w->hash);
    if (!w->failed && seed % 10 == 7)
        main_again(w, c);
    main_count(w, c);
    if (!w->failed)
        return;
    if (c->failures++ == 0)
        c->first_failed = w->failed;
    printf("seed %llu ", (unsigned long long)seed);
    main_failure(w, c);
    (void)fflush(stdout);
}

/* ------------------------------------------------------------------ the end */

static int main_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void main_recovery(sim_campaign *c)
{
    uint32_t n = c->recoveries;

    if (n == 0)
        return;
    qsort(c->recovery, n, sizeof c->recovery[0], main_compare);
    printf("recovery p50 %ld ms, p99 %ld ms, max %ld ms\n",
           (long)(c->recovery[n / 2] / 1000),
           (long)(c->recovery[n - 1 - n / 100] / 1000),
           (long)(c->recovery[n - 1] / 1000));
}

static int main_marks(void)
{
    int i, missing = 0;

    for (i = 0; i < SIM_MARKS_N; i++)
        if (sim_marks[i] == 0)
            printf("%s%s", missing++ ? ", " : "marks never passed: ",
                   sim_mark_name[i]);
    if (missing)
        printf("\n");
    return missing;
}

/* Rules that were looked at in less than one of twenty runs. */
static int main_seldom(const sim_campaign *c)
{
    int i, seldom = 0;

    for (i = 0; i < SIM_RULES; i++)
        if (i != SIM_E1 && c->unmuted[i] * 20 < c->seeds_run)
            printf("%s%s", seldom++ ? ", " : "rules seldom looked at: ",
                   sim_rule_name[i]);
    if (seldom)
        printf("\n");
    return seldom;
}

static void main_sum(const sim_campaign *c, double seconds)
{
    int i;

    printf("%llu seeds from %llu in %.0f s, %llu failed, %.0f runs/s, "
           "%.0f events/s, %.1f simulated hours, hash %016llx; unmuted:",
           (unsigned long long)c->seeds_run, (unsigned long long)c->from,
           seconds, (unsigned long long)c->failures,
           (double)c->runs / seconds, (double)c->events / seconds,
           (double)c->simulated_us / 3.6e9, (unsigned long long)c->hash);
    for (i = 0; i < SIM_RULES; i++)
        if (i != SIM_E1)
            printf(" %s %.0f%%", sim_rule_name[i],
                   100.0 * (double)c->unmuted[i] /
                       (double)(c->seeds_run ? c->seeds_run : 1));
    printf("\n");
}

/* For the mutants: 0 when the first failure broke a rule of the list, 3 when
 * there was none, 4 when it broke another. */
static int main_verdict(const sim_campaign *c)
{
    const char *name, *at = c->expect;
    size_t n;

    if (c->first_failed == 0)
        return 3;
    name = sim_rule_name[c->first_failed - 1];
    n = strlen(name);
    for (; (at = strstr(at, name)) != NULL; at += n)
        if (at[n] == '\0' || at[n] == '|')
            return 0;
    return 4;
}

static double main_clock(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    static sim_campaign c;
    sim_world *w;
    uint64_t i;
    double start = main_clock(), spent;
    int missing = 0;

    c.from = 1;
    if (!main_arguments(&c, argc, argv)) {
        fprintf(stderr, "sim: SEEDS= FROM= SECONDS= SEED= TRACE= KEEP= "
                        "PRESET= WORK= MARKS= EXPECT=\n");
        return 2;
    }
    if (c.seeds == 0)
        c.seeds = c.seconds ? UINT64_MAX : 1000;
    (void)signal(SIGILL, main_trap);
    (void)signal(SIGABRT, main_trap);
    (void)signal(SIGSEGV, main_trap);
    (void)signal(SIGTRAP, main_trap);
    sim_trace_out = c.one && c.trace ? stdout : NULL;
    w = sim_world_new();
    for (i = 0; i < c.seeds; i++) {
        if (c.seconds && main_clock() - start > (double)c.seconds)
            break;
        main_one(w, &c, c.from + i);
        if (c.failures > 0 && (c.expect || c.failures >= 5))
            break;
    }
    sim_world_free(w);
    spent = main_clock() - start + 1e-9;
    main_recovery(&c);
    if (c.gave_up)
        printf("histories too long to judge: %llu\n",
               (unsigned long long)c.gave_up);
    if (!c.one)
        missing = main_marks() + main_seldom(&c) + (c.gave_up > 0);
    main_sum(&c, spent);
    if (c.expect)
        return main_verdict(&c);
    return c.failures > 0 || (c.marks && missing > 0);
}
