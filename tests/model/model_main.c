/* SPDX-License-Identifier: MIT
 *
 * model_main.c - the differential test: model [options] [COUNT] [FROM]
 *
 *   -v            show which commands and errors the tapes reach
 *   -s a,b,…      the sides: redis, valkey, ours; the first is the reference
 *   -l folder     scripts to call, besides random ones
 *   -p            print the tape of seed FROM, and play nothing
 *   -k            do not shrink tapes that fail
 *   -m count      print at most so many failures in full
 *
 * Plays tapes FROM, FROM+1, …; exit code 1 if a side differs, 2 if no tape was
 * played. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

#define SIDES_MAX 4

static struct {
    long count;
    uint64_t from;
    int verbose, print, keep;
    long shown; /* failures told in full */
    char names[100];
    const char *scripts;
    side *sides[SIDES_MAX];
    char side_names[SIDES_MAX][20];
    char shim[600];
    int n;
    int missing;
    long passed, failed, skipped;
} model;

static const char *model_setting(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* redis, valkey, ours; the servers' programs come from the environment. */
static side *model_side(const char *name)
{
    if (strcmp(name, "ours") == 0)
        return ours_start();
    if (strncmp(name, "redis", 5) == 0 &&
        model_setting("REDIS_SERVER") != NULL)
        return rig_start("redis", model_setting("REDIS_SERVER"), NULL,
                         model.shim);
    if (strcmp(name, "valkey") == 0 &&
        model_setting("VALKEY_SERVER") != NULL)
        return rig_start("valkey", model_setting("VALKEY_SERVER"),
                         model_setting("VALKEY_LIBS"), model.shim);
    return NULL;
}

static void model_start(const char *program)
{
    char names[100];
    char *name, *path = realpath(program, NULL), *slash;

    slash = path == NULL ? NULL : strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    (void)snprintf(model.shim, sizeof model.shim, "%s/shim.so",
                   path == NULL ? "" : path);
    free(path);
    memcpy(names, model.names, sizeof names);
    for (name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        side *s = model.n < SIDES_MAX ? model_side(name) : NULL;

        if (s != NULL) {
            (void)snprintf(model.side_names[model.n], 20, "%s", name);
            model.sides[model.n++] = s;
            continue;
        }
        (void)printf("SKIP %s: it is not there\n", name);
        model.missing++;
    }
}

static void model_stop(void)
{
    while (model.n > 0) {
        model.n--;
        model.sides[model.n]->stop(model.sides[model.n]);
    }
}

static void model_tell(const tape *t, const verdict *v, const char *program)
{
    int i;

    (void)printf("\nFAIL seed %llu, %s", (unsigned long long)t->seed,
                 model.sides[v->other]->name);
    if (v->step >= 0)
        (void)printf(", step %d, connection %d\n", v->step, v->link);
    else
        (void)printf(", in the data set afterwards\n");
    for (i = 0; i < t->n; i++)
        tape_print(stdout, &t->steps[i]);
    if (v->asked.n > 0)
        (void)printf("  asked  %s\n", v->asked.p);
    if (v->reference.n > 0)
        (void)printf("  %s\n", v->reference.p);
    (void)printf("  %s\n", v->reply.p);
    (void)printf("  again: %s -s %s 1 %llu\n", program, model.names,
                 (unsigned long long)t->seed);
    (void)fflush(stdout);
}

/* A server that crashed is a finding, and no reason to stop. What made one of
 * them crash may have done so with another, too. */
static int model_restart(void)
{
    int i;

    for (i = 0; i < model.n; i++) {
        model.sides[i]->stop(model.sides[i]);
        model.sides[i] = model_side(model.side_names[i]);
        if (model.sides[i] == NULL) {
            while (i < --model.n)
                model.sides[model.n]->stop(model.sides[model.n]);
            model.n = i;
            return -1;
        }
    }
    return 0;
}

/* 0 to go on, -1 when a side is gone for good. */
static int model_seed(uint64_t seed, const char *program)
{
    static tape t;
    static verdict v, again;

    tape_make(&t, seed);
    compare_play(&t, model.sides, model.n, 1, &v);
    if (v.failed == 0) {
        model.passed++;
        return 0;
    }
    if (v.failed == 2 && v.other == 0) {
        (void)printf("SKIP seed %llu: the reference is gone\n",
                     (unsigned long long)seed);
        model.skipped++;
        return model_restart();
    }
    model.failed++;
    if (v.failed == 2) {
        model_tell(&t, &v, program);
        return model_restart();
    }
    if (model.failed > model.shown)
        return 0;
    if (!model.keep) {
        compare_play(&t, model.sides, model.n, 0, &again);
        if (again.failed == 0)
            (void)printf("\nnot a second time:");
        else
            shrink_tape(&t, model.sides, model.n, &v);
    }
    model_tell(&t, &v, program);
    return 0;
}

static void model_print(void)
{
    static tape t;
    int i;

    tape_make(&t, model.from);
    for (i = 0; i < t.n; i++)
        tape_print(stdout, &t.steps[i]);
}

static void model_options(int argc, char **argv)
{
    int c;

    model.count = 2000;
    model.shown = 20;
    model.from = 1;
    (void)snprintf(model.names, sizeof model.names, "redis,valkey,ours");
    while ((c = getopt(argc, argv, "vpks:l:m:")) != -1) {
        if (c == 'v')
            model.verbose = 1;
        else if (c == 'p')
            model.print = 1;
        else if (c == 'k')
            model.keep = 1;
        else if (c == 's')
            (void)snprintf(model.names, sizeof model.names, "%s", optarg);
        else if (c == 'm')
            model.shown = strtol(optarg, NULL, 10);
        else if (c == 'l')
            model.scripts = optarg;
        else
            exit(2);
    }
    if (optind < argc)
        model.count = strtol(argv[optind++], NULL, 10);
    if (optind < argc)
        model.from = strtoull(argv[optind], NULL, 10);
}

static double model_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One seed is told again for its own sake. */
static void model_chance(void)
{
    int played = 0, failed;

    failed = chance_play(model.sides, model.n, &played,
                         model.verbose ? stdout : NULL);
    model.failed += failed;
    model.passed += played - failed;
}

static int model_run(const char *program)
{
    double began = model_seconds(), took;
    long i;

    for (i = 0; i < model.count; i++)
        if (model_seed(model.from + (uint64_t)i, program) != 0)
            break;
    took = model_seconds() - began;
    if (model.count > 1 && i == model.count)
        model_chance();
    if (model.verbose) {
        tally_print(stdout);
        freedom_print(stdout);
    }
    (void)printf("%ld tapes in %.1f s (%.0f/s) on %s\n",
                 i, took,
                 (double)i / took, model.names);
    (void)printf("%ld passed, %ld failed, %ld skipped\n", model.passed,
                 model.failed, model.skipped);
    return model.failed > 0 || i < model.count ? 1 : 0;
}

int main(int argc, char **argv)
{
    int rc = 2;

    (void)signal(SIGPIPE, SIG_IGN);
    model_options(argc, argv);
    if (model.scripts != NULL)
        files_read(model.scripts);
    if (model.print) {
        model_print();
        return 0;
    }
    model_start(argv[0]);
    if (model.n >= 2)
        rc = model_run(argv[0]);
    else
        (void)printf("0 passed, 0 failed, %ld skipped\n", model.count);
    model_stop();
    return rc;
}
