/* SPDX-License-Identifier: MIT
 *
 * bench.c - relet bench: what one connection can do.
 *
 * Two runs. The first has a sliding window of --depth commands: each outcome
 * lets the next command go, so the link never drains. This run measures
 * operations a second and the client's CPU time. The second has one command
 * under way at a time and measures latencies: in a full window they would only
 * tell how long the window is. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli.h"

#define BENCH_KEY "key:000000000000" /* as redis-benchmark writes them */
#define BENCH_ALONE_MAX 10000        /* commands of the second run      */

typedef struct bench {
    cli *c;
    relet_span argv[3];
    size_t argc;
    char key[sizeof BENCH_KEY];
    char *value;
    uint64_t random;

    long submitted, done, errors, misses;
    double seconds, cpu_us; /* of the first run */
    double *alone_us;       /* of the second    */
    long alone;
} bench;

/* Steele's splitmix64: two multiplications, and good enough to spread keys. */
static uint64_t bench_random(bench *b)
{
    uint64_t z = b->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void bench_pick_key(bench *b)
{
    uint64_t n = bench_random(b) % (uint64_t)b->c->keys;
    size_t i;

    for (i = sizeof BENCH_KEY - 2; b->key[i] != ':'; i--, n /= 10)
        b->key[i] = (char)('0' + n % 10);
}

static int bench_prepare(bench *b, const char *what)
{
    size_t size = (size_t)b->c->size;

    memcpy(b->key, BENCH_KEY, sizeof BENCH_KEY);
    b->random = 1;
    b->argv[1].p = b->key;
    b->argv[1].n = sizeof BENCH_KEY - 1;
    if (!strcmp(what, "ping")) {
        b->argv[0] = relet_str("PING");
        b->argc = 1;
    } else if (!strcmp(what, "get")) {
        b->argv[0] = relet_str("GET");
        b->argc = 2;
    } else if (!strcmp(what, "set")) {
        b->argv[0] = relet_str("SET");
        b->argc = 3;
        b->value = (char *)cli_grow(NULL, size + 1);
        memset(b->value, 'x', size);
        b->argv[2].p = b->value;
        b->argv[2].n = size;
    } else {
        cli_say("bench knows get, set and ping, not '%s'", what);
        return CLI_USAGE;
    }
    return 0;
}

/* ------------------------------------------------------------------- a run */

static int bench_submit(bench *b)
{
    relet_request q = cli_request(b->c);
    int refused;

    bench_pick_key(b);
    refused = relet_command(b->c->r, b->argv, b->argc, &q);
    if (!refused) {
        b->submitted++;
        return 0;
    }
    if (refused == RELET_E_LIMIT && b->submitted > b->done)
        return 0; /* large values: fewer are under way than --depth */
    return cli_trouble(b->c, refused);
}

/* 0, or an exit code: a link that breaks ends the run. */
static int bench_event(bench *b, const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY) {
        b->misses += relet_value_type(ev->value) == RELET_T_NULL;
        b->done++;
    } else if (ev->kind == RELET_EV_ERROR) {
        if (b->errors++ == 0)
            cli_say("%.*s", cli_text(ev->text));
        b->done++;
    } else if (ev->kind == RELET_EV_NOT_SENT || ev->kind == RELET_EV_UNSURE ||
               ev->kind == RELET_EV_DOWN) {
        cli_say("%.*s", cli_text(ev->text));
        return ev->kind == RELET_EV_UNSURE ? CLI_UNSURE : CLI_NOT_SENT;
    }
    return 0;
}

static int bench_wait(bench *b)
{
    relet_event ev;
    int got = relet_wait(b->c->r, &ev, -1);

    if (got < 0)
        return cli_trouble(b->c, got);
    return got == 1 ? bench_event(b, &ev) : 0;
}

static int bench_run_window(bench *b, long n, long depth)
{
    int code = 0;

    b->submitted = b->done = 0;
    while (!code && b->done < n) {
        long before = -1;

        while (!code && b->submitted < n && b->submitted != before &&
               b->submitted - b->done < depth) {
            before = b->submitted;
            code = bench_submit(b);
        }
        if (!code)
            code = bench_wait(b);
    }
    return code;
}

static double bench_cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec * 1e6 + (double)used.ru_utime.tv_usec;
}

static int bench_throughput(bench *b)
{
    double cpu = bench_cpu_us(), began = cli_now_us();
    int code = bench_run_window(b, b->c->count, b->c->depth);

    b->seconds = (cli_now_us() - began) / 1e6;
    b->cpu_us = bench_cpu_us() - cpu;
    return code;
}

static int bench_latency(bench *b)
{
    int code = 0;
    long i;

    b->alone = b->c->count < BENCH_ALONE_MAX ? b->c->count : BENCH_ALONE_MAX;
    b->alone_us = (double *)cli_grow(NULL, (size_t)b->alone * sizeof(double));
    for (i = 0; !code && i < b->alone; i++) {
        double began = cli_now_us();

        code = bench_run_window(b, 1, 1);
        b->alone_us[i] = cli_now_us() - began;
    }
    if (!code)
        cli_sort(b->alone_us, (size_t)b->alone);
    return code;
}

/* ------------------------------------------------------------------ results */

static double bench_alone(const bench *b, double share)
{
    return cli_rank(b->alone_us, (size_t)b->alone, share);
}

static void bench_print(const bench *b, const char *what)
{
    const cli *c = b->c;
    char where[1100];

    printf("%s, %ld times, depth %ld, %ld bytes, %ld keys, on %s at %s\n",
           what, c->count, c->depth, b->value ? c->size : 0L, c->keys,
           c->server, cli_where(c, where, sizeof where));
    printf("  throughput  %.0f operations/s, %.3f us user CPU each; "
           "%.3f s\n",
           (double)c->count / b->seconds, b->cpu_us / (double)c->count,
           b->seconds);
    printf("  alone       min %.1f, p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f,"
           " max %.1f us; %ld operations\n",
           bench_alone(b, 0), bench_alone(b, 0.5), bench_alone(b, 0.9),
           bench_alone(b, 0.99), bench_alone(b, 0.999), bench_alone(b, 1),
           b->alone);
    if (b->misses)
        printf("  misses      %ld (bench set first, with the same --keys)\n",
               b->misses);
    if (b->errors)
        printf("  errors      %ld\n", b->errors);
}

static void bench_print_json(const bench *b, const char *what)
{
    const cli *c = b->c;

    printf("{\"bench\":\"%s\",\"server\":", what);
    show_json(stdout, relet_str(c->server));
    printf(",\"operations\":%ld,\"depth\":%ld,\"size\":%ld,\"keys\":%ld,",
           c->count, c->depth, b->value ? c->size : 0L, c->keys);
    printf("\"seconds\":%.6f,\"operations_per_s\":%.0f,"
           "\"user_cpu_us_per_operation\":%.4f,",
           b->seconds, (double)c->count / b->seconds,
           b->cpu_us / (double)c->count);
    printf("\"alone\":{\"operations\":%ld,\"min_us\":%.1f,\"p50_us\":%.1f,"
           "\"p90_us\":%.1f,\"p99_us\":%.1f,\"p99_9_us\":%.1f,"
           "\"max_us\":%.1f},",
           b->alone, bench_alone(b, 0), bench_alone(b, 0.5),
           bench_alone(b, 0.9), bench_alone(b, 0.99), bench_alone(b, 0.999),
           bench_alone(b, 1));
    printf("\"misses\":%ld,\"errors\":%ld}\n", b->misses, b->errors);
}

static void bench_defaults(cli *c)
{
    if (!c->count)
        c->count = 1000000;
    if (!c->depth)
        c->depth = 64;
    if (c->size < 0)
        c->size = 16;
    if (!c->keys)
        c->keys = 100000;
}

static int bench_connect(cli *c)
{
    int code = cli_configure(c);

    if (code)
        return code;
    if (c->config.operations_max < (uint32_t)c->depth)
        c->config.operations_max = (uint32_t)c->depth;
    return cli_connect(c, 0);
}

static int bench_run(cli *c)
{
    bench b;
    int code;

    if (c->argc != 1) {
        cli_say("bench what: get, set or ping?");
        return CLI_USAGE;
    }
    memset(&b, 0, sizeof b);
    b.c = c;
    bench_defaults(c);
    code = bench_prepare(&b, c->argv[0]);
    if (!code)
        code = bench_connect(c);
    if (!code)
        code = bench_throughput(&b);
    if (!code)
        code = bench_latency(&b);
    if (!code && c->json)
        bench_print_json(&b, c->argv[0]);
    else if (!code)
        bench_print(&b, c->argv[0]);
    free(b.alone_us);
    free(b.value);
    return code ? code : b.errors ? CLI_ERROR : CLI_OK;
}

static const cli_option bench_options[] = {
    {'n', "requests", "N", CLI_NUMBER, offsetof(cli, count), 1, 2000000000,
     "number of operations; default 1000000"},
    {'d', "depth", "N", CLI_NUMBER, offsetof(cli, depth), 1, 65536,
     "operations under way at a time; default 64"},
    {'s', "size", "BYTES", CLI_NUMBER, offsetof(cli, size), 0, 536870912,
     "size of the value that set writes; default 16"},
    {'k', "keys", "N", CLI_NUMBER, offsetof(cli, keys), 1, 1000000000,
     "number of keys, chosen at random; default 100000"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command bench_command = {
    "bench", "measure throughput and latency of one connection",
    "bench [OPTION]... get|set|ping",
    "Runs one command many times on one connection: first with --depth\n"
    "commands under way, for throughput, then up to 10000 commands one at a\n"
    "time, for latency. The load is that of redis-benchmark -c 1 -P DEPTH\n"
    "-r KEYS, but each outcome lets the next command go. 'set' writes keys\n"
    "such as key:000000012345, and leaves them there.",
    bench_options, 0, bench_run,
};
