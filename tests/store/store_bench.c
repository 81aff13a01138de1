/* SPDX-License-Identifier: MIT
 *
 * store_bench.c - commands a second through relet_call, one at a time, and
 * through a pipeline: in memory, and on a file with each way to sync.
 *
 *     store_bench FOLDER [SECONDS] */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relet_local.h"

#define BENCH_WINDOW 100

static relet_span words[3];

static relet *bench_open(const char *url)
{
    relet_fault fault;
    relet *r = relet_open(url, NULL, NULL, &fault);

    if (r == NULL) {
        fprintf(stderr, "%s\n", fault.text);
        exit(1);
    }
    words[0] = relet_str("SET");
    words[1] = relet_str("key");
    words[2] = relet_str("a value of 24 characters");
    return r;
}

static double bench_call(relet *r, double seconds)
{
    relet_time begin, end;
    relet_event ev;
    long n = 0;

    if (relet_call(r, words, 3, &ev, 10000) != 0)
        exit(1);
    begin = relet_clock();
    do {
        if (relet_call(r, words, 3, &ev, 10000) != 0 ||
            ev.kind != RELET_EV_REPLY)
            exit(1);
        n++;
        end = relet_clock();
    } while ((double)(end - begin) < seconds * 1000);
    return (double)n * 1000 / (double)(end - begin);
}

static double bench_pipeline(relet *r, double seconds)
{
    relet_time begin = relet_clock(), end;
    relet_event ev;
    long n = 0;
    int i, open;

    do {
        for (i = 0; i < BENCH_WINDOW; i++)
            if (relet_command(r, words, 3, NULL) != 0)
                exit(1);
        for (open = BENCH_WINDOW; open > 0;)
            if (relet_wait(r, &ev, 10000) == 1 && ev.kind == RELET_EV_REPLY)
                open--;
        n += BENCH_WINDOW;
        end = relet_clock();
    } while ((double)(end - begin) < seconds * 1000);
    return (double)n * 1000 / (double)(end - begin);
}

static void bench(const char *name, const char *url, double seconds)
{
    relet *r = bench_open(url);
    double one = bench_call(r, seconds);
    double many = bench_pipeline(r, seconds);

    printf("%-16s %10.0f one by one %10.0f in hundreds\n", name, one, many);
    relet_close(r);
}

int main(int argc, char **argv)
{
    static const char *const syncs[] = {"always", "everysec", "never"};
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    char path[512], url[600];
    int i;

    if (argc < 2)
        return 1;
    bench("mem:", "mem:", seconds);
    snprintf(path, sizeof path, "%s/store_bench.relet", argv[1]);
    for (i = 0; i < 3; i++) {
        snprintf(url, sizeof url, "file:%s?fsync=%s", path, syncs[i]);
        bench(syncs[i], url, seconds);
        unlink(path);
    }
    return 0;
}
