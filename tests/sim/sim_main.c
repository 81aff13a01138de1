/* SPDX-License-Identifier: MIT
 *
 * sim_main.c - runs seeds, and sums them up in one line.
 *
 *   sim [SEEDS=n] [FROM=seed] [SECONDS=s] [PRESET=calm|full|lite] [MARKS=1]
 *       [WORK=plain|lease|both|jobs]
 *   sim SEED=x [TRACE=1] [KEEP=3,17]
 *
 * Without SEEDS it runs as many seeds as SECONDS allow, or a thousand. A seed
 * that fails is run again for its trace, and shrunk. The output ends in one
 * line. The exit status is 1 if a seed failed, or with MARKS=1 if a mark was
 * never passed or a rule was judged in few seeds: a check with a valid excuse
 * is no judgement. EACH=1 prints for each seed its verdict, its hashes, and
 * how often each rule was judged. F=x names the build, in the line that tells
 * how to run a failure again. PLANT=1 lets each seed fail in which a fault
 * fired, PLANT=2 every seed, to test the report. For mutants, EXPECT=R2 goes on
 * until a seed fails by that rule, whatever rules other seeds fail by, and
 * EXPECT=none until any seed fails. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

typedef struct sim_campaign {
    uint64_t seeds, from, seconds;
    int one, trace, marks, each;
    const char *expect;
    const char *preset, *work, *flavour; /* as given, or NULL                 */
    sim_setup setup;
    uint8_t keep[SIM_FAULTS];
    /* The results. */
    uint64_t gave_up;
    uint64_t seeds_run, runs, failures, hash, events, simulated_us, unequal;
    uint64_t judged[SIM_RULES]; /* seeds with a check that needed no excuse   */
    uint64_t checks[SIM_RULES], excused[SIM_RULES];
    int64_t recovery[4096];
    uint32_t recoveries;
    int met;                    /* a seed failed as EXPECT says               */
} sim_campaign;

static uint64_t main_seed_now;
static char main_words_now[100]; /* what a run needs besides its seed         */

#define MAIN_PATIENCE_S 240 /* a seed takes a second at most; on a slow machine
                             * or under an emulator, some more                */

/* An assertion that fails, or a call that does not return, ends the process:
 * prints how to run the seed again. */
static void main_trap(int signal_number)
{
    static const char crash[] = "FAILED E1: an assertion or a crash";
    static const char stuck[] = "FAILED E3: a call that does not return";
    static const char text[] = "; again: make sim SEED=";
    char digits[24];
    size_t n = sizeof digits;
    uint64_t v = main_seed_now;

    do
        digits[--n] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    if (signal_number == SIGALRM)
        (void)!write(1, stuck, sizeof stuck - 1);
    else
        (void)!write(1, crash, sizeof crash - 1);
    (void)!write(1, text, sizeof text - 1);
    (void)!write(1, digits + n, sizeof digits - n);
    (void)!write(1, main_words_now, strlen(main_words_now));
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

/* Chooses one workload for all seeds. Returns 0 if none has this name. */
static int main_work(sim_campaign *c, const char *name)
{
    static const sim_workload *const work[] = {&sim_plain, &sim_lease,
                                               &sim_both, &sim_working};
    size_t i;

    for (i = 0; i < sizeof work / sizeof work[0]; i++)
        if (strcmp(name, work[i]->name) == 0)
            c->setup.work = work[i];
    c->work = name;
    return c->setup.work != NULL;
}

static int main_preset(sim_campaign *c, const char *name)
{
    static const char *const preset[] = {"swarm", "calm", "full", "lite"};
    int i;

    for (i = 0; i < 4; i++)
        if (strcmp(name, preset[i]) == 0)
            c->setup.preset = (sim_preset)i;
    c->preset = name;
    return strcmp(name, preset[c->setup.preset]) == 0;
}

/* Writes all that a run depends on, except its seed and its faults. */
static void main_words(const sim_campaign *c)
{
    char *at = main_words_now;

    if (c->work)
        at += sprintf(at, " WORK=%.8s", c->work);
    if (c->preset)
        at += sprintf(at, " PRESET=%.8s", c->preset);
    if (c->setup.chunk_salt)
        at += sprintf(at, " SALT=%llu",
                      (unsigned long long)c->setup.chunk_salt);
    if (c->setup.plant)
        at += sprintf(at, " PLANT=%d", c->setup.plant);
    if (c->flavour)
        sprintf(at, " F=%.20s", c->flavour);
}

/* Reads a word of the command line, except those about seeds; 0: unknown. */
static int main_option(sim_campaign *c, const char *arg)
{
    const char *v;

    if (*arg && arg[strlen(arg) - 1] == '=') /* as if it were absent */
        return 1;
    if (main_word(arg, "PRESET", &v))
        return main_preset(c, v);
    if (main_word(arg, "WORK", &v))
        return main_work(c, v);
    if (main_word(arg, "TRACE", &v))
        c->trace = atoi(v);
    else if (main_word(arg, "SALT", &v))
        c->setup.chunk_salt = strtoull(v, NULL, 10);
    else if (main_word(arg, "MARKS", &v))
        c->marks = atoi(v);
    else if (main_word(arg, "EACH", &v))
        c->each = atoi(v);
    else if (main_word(arg, "PLANT", &v))
        c->setup.plant = atoi(v);
    else if (main_word(arg, "F", &v))
        c->flavour = v;
    else if (main_word(arg, "EXPECT", &v))
        c->expect = v;
    else if (main_word(arg, "KEEP", &v))
        main_keep(c, v);
    else
        return 0;
    return 1;
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
        else if (!main_option(c, argv[i]))
            return 0;
    }
    main_words(c);
    return 1;
}

/* --------------------------------------------------------------------- runs */

/* Prints the whole command that makes the run fail again. */
static void main_again_by(const sim_setup *s)
{
    int i, many = 0;

    printf("again: make sim SEED=%llu%s TRACE=1", (unsigned long long)s->seed,
           main_words_now);
    for (i = 0; s->keep && i < SIM_FAULTS; i++)
        if (s->keep[i])
            printf("%s%d", many++ ? "," : " KEEP=", i);
    printf("%s\n", s->keep && many == 0 ? " KEEP=none" : "");
}

/* Prints the shape of the run, and the end of the trace before the failure. */
static void main_story(sim_world *w, sim_setup *s)
{
    s->trace = 1;
    sim_trace_clear();
    (void)sim_world_run(w, s);
    sim_trace_print(40);
    sim_chart_print(w);
    sim_swarm_print(w);
}

/* A failure that shows only when a seed runs twice is not shrunk. */
static void main_failure(sim_world *w, sim_campaign *c)
{
    sim_setup s = c->setup;
    uint8_t keep[SIM_FAULTS];
    int rule = w->failed, kept = -1, tries = 0, i, fired = w->faults_fired;

    printf("FAILED %s: %s\n", sim_rule_name[rule - 1], w->why);
    if (c->expect)
        return;
    if (s.keep == NULL && sim_world_run(w, &s) == rule) {
        kept = sim_shrink(w, &s, keep, &tries);
        s.keep = keep;
    }
    main_story(w, &s);
    printf("  %d faults of %d are enough, found in %d tries:\n",
           kept < 0 ? fired : kept, fired, tries);
    for (i = 0; i < w->faults; i++)
        if (s.keep == NULL || s.keep[i])
            sim_fault_print(w, i);
    main_again_by(&s);
}

static void main_count(sim_world *w, sim_campaign *c)
{
    int i;

    c->seeds_run++;
    c->runs++;
    c->events += w->events;
    c->simulated_us += (uint64_t)w->now_us;
    c->gave_up += (uint64_t)w->gave_up;
    for (i = 0; i < SIM_RULES; i++) {
        c->judged[i] += w->checked[i] > 0;
        c->checks[i] += w->checked[i] + w->excused[i];
        c->excused[i] += w->excused[i];
    }
    if (!w->failed && c->recoveries < 4096)
        c->recovery[c->recoveries++] = w->recovery_us;
}

/* Runs the same seed again: everything must be the same. Then runs it with
 * other splits of reads and writes: the events that the application got must be
 * the same. */
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
    /* How often memory is asked for may depend on the pieces. */
    if (w->failed || w->memory_faults > 0)
        return;
    s.chunk_salt = 1;
    (void)sim_world_run(w, &s);
    c->runs++;
    c->events += w->events;
    w->checked[SIM_E2]++;
    /* A request that follows from an answer is sent between two reads, or is
     * not sent, if the second read finds that the link has ended. */
    if (!w->failed &&
        !sim_judges(w, SIM_R10, w->found_out > 0, w->history == history))
        sim_fail(w, SIM_R10, "the history depends on how bytes are cut");
}

static void main_each(const sim_world *w, uint64_t seed)
{
    int i;

    printf("%llu: verdict %d, hash %016llx, history %016llx, looked at",
           (unsigned long long)seed, w->failed, (unsigned long long)w->hash,
           (unsigned long long)w->history);
    for (i = 0; i < SIM_RULES; i++)
        printf(" %llu", (unsigned long long)w->checked[i]);
    printf("\n");
}

/* Returns 1 if the rule is in the list of EXPECT, such as R2|R6; for
 * mutants. */
static int main_expects(const sim_campaign *c, int failed)
{
    const char *name = sim_rule_name[failed - 1], *at = c->expect;
    size_t n = strlen(name);

    for (; (at = strstr(at, name)) != NULL; at += n)
        if (at[n] == '\0' || at[n] == '|')
            return 1;
    return 0;
}

static void main_one(sim_world *w, sim_campaign *c, uint64_t seed)
{
    main_seed_now = c->setup.seed = seed;
    (void)alarm(MAIN_PATIENCE_S);
    c->setup.trace = c->one ? c->trace : 0;
    (void)sim_world_run(w, &c->setup);
    if (c->one)
        printf("seed %llu: hash %016llx, history %016llx, %llu events\n",
               (unsigned long long)seed, (unsigned long long)w->hash,
               (unsigned long long)w->history,
               (unsigned long long)w->events);
    c->hash = sim_mix(c->hash, w->hash);
    if (c->each)
        main_each(w, seed);
    if (!w->failed && seed % 10 == 7)
        main_again(w, c);
    main_count(w, c);
    if (!w->failed)
        return;
    c->failures++;
    c->met = c->expect && main_expects(c, w->failed);
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

/* Counts the rules that were judged in fewer than one of twenty runs. */
static int main_seldom(const sim_campaign *c)
{
    int i, seldom = 0;

    for (i = 0; i < SIM_RULES; i++)
        if (i != SIM_E1 && c->judged[i] * 20 < c->seeds_run)
            printf("%s%s", seldom++ ? ", " : "rules seldom judged: ",
                   sim_rule_name[i]);
    if (seldom)
        printf("\n");
    return seldom;
}

static void main_sum(const sim_campaign *c, double seconds)
{
    int i;

    printf("%llu seeds from %llu in %.0f s, %llu failed, %.0f runs/s, "
           "%.0f events/s, %.1f simulated hours, hash %016llx; judged:",
           (unsigned long long)c->seeds_run, (unsigned long long)c->from,
           seconds, (unsigned long long)c->failures,
           (double)c->runs / seconds, (double)c->events / seconds,
           (double)c->simulated_us / 3.6e9, (unsigned long long)c->hash);
    for (i = 0; i < SIM_RULES; i++)
        if (i != SIM_E1)
            printf(" %s %.0f%%", sim_rule_name[i],
                   100.0 * (double)c->judged[i] /
                       (double)(c->seeds_run ? c->seeds_run : 1));
    printf("\n");
}

/* For mutants: 0 if a seed failed by a rule of the list, 3 if no seed failed, 4
 * if seeds failed by other rules only. */
static int main_verdict(const sim_campaign *c)
{
    if (c->failures == 0)
        return 3;
    return c->met ? 0 : 4;
}

static int main_enough(const sim_campaign *c)
{
    if (c->expect == NULL)
        return c->failures >= 5;
    return c->met || (c->failures > 0 && strcmp(c->expect, "none") == 0);
}

/* Prints how many checks did not count, since an excuse was valid. */
static void main_excused(const sim_campaign *c)
{
    int i, n = 0;

    for (i = 0; i < SIM_RULES; i++)
        if (c->excused[i] > 0)
            printf("%s%s %.1f%%", n++ ? " " : "checks with an excuse: ",
                   sim_rule_name[i],
                   100.0 * (double)c->excused[i] / (double)c->checks[i]);
    if (n > 0)
        printf("\n");
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
                        "PRESET= WORK= SALT= MARKS= EACH= PLANT= F= "
                        "EXPECT=\n");
        return 2;
    }
    if (c.seeds == 0)
        c.seeds = c.seconds ? UINT64_MAX : 1000;
    (void)signal(SIGILL, main_trap);
    (void)signal(SIGABRT, main_trap);
    (void)signal(SIGSEGV, main_trap);
    (void)signal(SIGTRAP, main_trap);
    (void)signal(SIGALRM, main_trap);
    sim_trace_out = c.one && c.trace ? stdout : NULL;
    w = sim_world_new();
    for (i = 0; i < c.seeds; i++) {
        if (c.seconds && main_clock() - start > (double)c.seconds)
            break;
        main_one(w, &c, c.from + i);
        if (main_enough(&c))
            break;
    }
    sim_world_free(w);
    spent = main_clock() - start + 1e-9;
    main_recovery(&c);
    printf("histories too long to judge: %llu\n",
           (unsigned long long)c.gave_up);
    if (!c.one)
        missing = main_marks() + main_seldom(&c) + (c.gave_up > 0);
    main_excused(&c);
    main_sum(&c, spent);
    if (c.expect)
        return main_verdict(&c);
    return c.failures > 0 || (c.marks && missing > 0);
}
