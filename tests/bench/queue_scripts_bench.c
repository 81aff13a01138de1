/* SPDX-License-Identifier: MIT
 *
 * queue_scripts_bench.c - measures the scripts of a queue on a real server,
 * called by a minimal client.
 *
 *     queue_scripts_bench bench.tsv PORT    a table; lines appended to the file
 *     queue_scripts_bench --life N TOTAL PORT    whole lives of jobs a second,
 *                                           N at a time, for peers.sh
 *
 * One connection writes ready-made bytes and reads the values that come back.
 * An unexpected answer ends the program with 1. The server's data is flushed.
 * Times of single steps are those that the server counts itself (INFO
 * commandstats), so they are free of the network and nearly free of other
 * programs. With BENCH_QUICK in the environment, each figure is that of one
 * short run: for the checks, not for the figures. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_MAX = 128, /* jobs in a step of the library                        */
    RUNS = 5,
    OUT = 1 << 20,
    IN = 1 << 22,
    PAYLOAD = 100
};

static int b_fd;
static FILE *b_tsv;
static char b_out[OUT], b_in[IN + 1];
static size_t b_out_n, b_in_n;
static unsigned long b_op = 1;
static int b_quick, b_runs = RUNS;

static void b_die(const char *why)
{
    fprintf(stderr, "queue_scripts_bench: %s\n", why);
    exit(1);
}

/* ------------------------------------------------------------------- wire */

static void b_connect(int port)
{
    struct sockaddr_in a;
    int one = 1;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    b_fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(b_fd, (struct sockaddr *)&a, sizeof a) != 0)
        b_die("nobody listens");
    (void)setsockopt(b_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void b_flush(void)
{
    size_t at = 0;

    while (at < b_out_n) {
        ssize_t n = write(b_fd, b_out + at, b_out_n - at);

        if (n <= 0)
            b_die("the link broke");
        at += (size_t)n;
    }
    b_out_n = 0;
}

static const char *b_behind(const char *p, const char *limit)
{
    const char *end = p < limit ? memchr(p, '\n', (size_t)(limit - p)) : NULL;
    long n;

    if (end == NULL)
        return NULL;
    n = strtol(p + 1, NULL, 10);
    end++;
    if (*p == '-') {
        fprintf(stderr, "%.*s\n", (int)(end - p), p);
        b_die("an error");
    }
    if (*p == '$' && n >= 0)
        return limit - end < n + 2 ? NULL : end + n + 2;
    if (*p == '*')
        for (; end != NULL && n > 0; n--)
            end = b_behind(end, limit);
    return end;
}

/* Reads so many values, which stay in b_in. */
static void b_read(int values)
{
    const char *at = b_in, *next;

    b_in_n = 0;
    b_flush();
    while (values > 0) {
        next = b_behind(at, b_in + b_in_n);
        if (next != NULL) {
            at = next;
            values--;
            continue;
        }
        {
            ssize_t n = read(b_fd, b_in + b_in_n, IN - b_in_n);

            if (n <= 0)
                b_die("the link broke");
            b_in_n += (size_t)n;
        }
    }
    b_in[b_in_n] = '\0';
}

static void b_word(const char *p, size_t n)
{
    if (b_out_n + n + 40 > OUT)
        b_die("too much at once");
    b_out_n += (size_t)sprintf(b_out + b_out_n, "$%lu\r\n", (unsigned long)n);
    memcpy(b_out + b_out_n, p, n);
    b_out_n += n;
    memcpy(b_out + b_out_n, "\r\n", 2);
    b_out_n += 2;
}

static void b_head(int words)
{
    b_out_n += (size_t)sprintf(b_out + b_out_n, "*%d\r\n", words);
}

/* Sends a command, its words separated by single blanks. Returns the answer. */
static const char *b_say(const char *line)
{
    const char *p, *end;
    int words = 1;

    for (p = line; *p; p++)
        words += *p == ' ';
    b_head(words);
    for (p = line; words-- > 0; p = end + 1) {
        end = p + strcspn(p, " ");
        b_word(p, (size_t)(end - p));
    }
    b_read(1);
    return b_in;
}

static double b_info(const char *section, const char *field)
{
    char line[60];
    const char *p;

    sprintf(line, "INFO %s", section);
    p = strstr(b_say(line), field);
    return p ? strtod(p + strlen(field), NULL) : 0;
}

/* ---------------------------------------------------------------- scripts */

typedef enum b_script {
    B_PUT, B_CLAIM, B_DONE, B_RENEW, B_RELEASE, B_PROMOTE, B_REAP, B_PUT_FULL,
    B_TRIM, B_PURGE, B_RANK, B_CLAIM_TYPE, B_FORGET, B_SCRIPTS
} b_script;

static const struct {
    const char *name, *keys; /* letters of b_keys */
} b_list[B_SCRIPTS] = {{"put", "jwri"},    {"claim", "jwrl"},
                       {"done_plain", "jl"},     {"renew", "jl"},
                       {"release", "jwli"}, {"promote", "jwrdi"},
                       {"reap", "jwlxi"},  {"put_full", "jdnwr"},
                       {"trim", "joxn"},   {"purge", "jnwrdxol"},
                       {"rank", "jwr"},    {"claim_type", "jwrl"},
                       {"forget", "jn"}};
static const char b_keys[][20] = {
    "j{q}:jobs", "w{q}:waiting", "r{q}:ranked", "d{q}:delayed", "l{q}:leased",
    "o{q}:done", "x{q}:dead",    "n{q}:ids",    "i{q}:idle"};
static char b_sha[B_SCRIPTS][41];

static void b_load(void)
{
    static char text[8000];
    char path[60];
    size_t n;
    FILE *f;
    int i;

    for (i = 0; i < B_SCRIPTS; i++) {
        sprintf(path, "lua/queue_%s.lua", b_list[i].name);
        f = fopen(path, "rb");
        if (f == NULL)
            b_die("run it where lua/ is");
        n = fread(text, 1, sizeof text, f);
        (void)fclose(f);
        b_head(3);
        b_word("SCRIPT", 6);
        b_word("LOAD", 4);
        b_word(text, n);
        b_read(1);
        memcpy(b_sha[i], b_in + 5, 40);
    }
}

/* Begins an EVALSHA with its keys; so many words must follow. */
static void b_call(b_script s, int words)
{
    const char *k;
    char digit[2] = {0, 0};
    size_t i;

    digit[0] = (char)('0' + strlen(b_list[s].keys));
    b_head(3 + digit[0] - '0' + words);
    b_word("EVALSHA", 7);
    b_word(b_sha[s], 40);
    b_word(digit, 1);
    for (k = b_list[s].keys; *k; k++)
        for (i = 0; i < sizeof b_keys / sizeof b_keys[0]; i++)
            if (b_keys[i][0] == *k)
                b_word(b_keys[i] + 1, strlen(b_keys[i] + 1));
}

static void b_text(const char *s)
{
    b_word(s, strlen(s));
}

static void b_number(unsigned long v)
{
    char text[30];

    b_word(text, (size_t)sprintf(text, "%lu", v));
}

/* --------------------------------------------------------------- the steps */

typedef struct b_jobs {
    int n;
    char number[BATCH_MAX][24], token[BATCH_MAX][24];
} b_jobs;

static void b_put(int n)
{
    static char payload[PAYLOAD + 1];
    int i;

    memset(payload, 'x', PAYLOAD);
    b_call(B_PUT, 3 + n);
    b_text("P.0");
    b_number(b_op++);
    b_text("0");
    for (i = 0; i < n; i++)
        b_word(payload, PAYLOAD);
}

static void b_claim(int n)
{
    b_call(B_CLAIM, 5);
    b_text("0123456789abcdef0123456789abcdef");
    b_number(b_op++);
    b_text("3600000");
    b_number((unsigned long)n);
    b_text("1048576");
}

static void b_jobs_of(b_script s, const b_jobs *j)
{
    int i, words = s == B_RELEASE ? 0 : 2;

    b_call(s, words + 2 * j->n);
    if (s == B_DONE) {
        b_text("0123456789abcdef0123456789abcdef");
        b_number(b_op++);
    } else if (s == B_RENEW) {
        b_text("3600000");
        b_text("86400000");
    }
    for (i = 0; i < j->n; i++) {
        b_text(j->number[i]);
        b_text(j->token[i]);
    }
}

static const char *b_copy(const char *p, char *to, size_t size)
{
    size_t n = (size_t)strtol(p + 1, NULL, 10);

    p = strchr(p, '\n') + 1;
    snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), p);
    return p + n + 2;
}

/* Reads the jobs of a claim from the value at p. */
static void b_take(const char *p, b_jobs *j)
{
    const char *limit = b_in + b_in_n;
    long count = strtol(p + 1, NULL, 10), i;
    char state[60];

    p = strchr(p, '\n') + 1;
    for (i = 0; i < 3; i++)
        p = b_behind(p, limit);
    for (j->n = 0; i + 2 < count; i += 3, j->n++) {
        p = b_copy(p, j->number[j->n], sizeof j->number[0]);
        p = b_behind(p, limit);
        p = b_copy(p, state, sizeof state);
        if (sscanf(state, "L %23s", j->token[j->n]) != 1)
            b_die("an odd state");
    }
}

static void b_claim_now(int n, b_jobs *j)
{
    b_claim(n);
    b_read(1);
    b_take(b_in, j);
}

/* Ends the program unless the answer in b_in begins so. */
static void b_must(const char *what, const char *begin)
{
    size_t n = strlen(begin);

    if (b_in_n >= n && memcmp(b_in, begin, n) == 0)
        return;
    fprintf(stderr, "%s: wanted %s, got %.60s\n", what, begin, b_in);
    b_die("a wrong answer");
}

/* The answer must be `open` and a string of n times this letter. */
static void b_must_all(const char *what, const char *open, char letter, int n)
{
    char want[BATCH_MAX + 30];
    int used = sprintf(want, "%s$%d\r\n", open, n);

    memset(want + used, letter, (size_t)n);
    want[used + n] = '\0';
    b_must(what, want);
}

/* The answer must say that the put is not a repetition. */
static void b_must_put(void)
{
    b_must("put", "*2\r\n:");
    if (b_in_n < 4 || memcmp(b_in + b_in_n - 4, ":0\r\n", 4) != 0)
        b_die("a put had been done before");
}

static void b_must_claim(const b_jobs *j, int n)
{
    if (j->n != n)
        b_die("a claim came short");
}

/* The answer must be the numbers of n new jobs, separated by blanks. */
static void b_must_offer(int n)
{
    const char *p = memchr(b_in, '\n', b_in_n);

    for (; p && *p; p++) {
        n -= *p == '\n' || *p == ' ';
        if (*p == '-')
            b_die("a put_full met an id of its own");
    }
    if (n != -1)
        b_die("a put_full came short");
}

static void b_fresh(void)
{
    (void)b_say("FLUSHALL");
}

static void b_fill(int n)
{
    int at, k;

    for (at = 0; at < n; at += k) {
        k = n - at < BATCH_MAX ? n - at : BATCH_MAX;
        b_put(k);
        b_read(1);
        b_must_put();
    }
}

/* ------------------------------------------------------------------- tables */

/* spread: half of the range, in percent of the figure. */
static void b_row_spread(const char *what, double ours, const char *unit,
                         double spread)
{
    printf("%-44s %10.1f ±%3.0f%% %s\n", what, ours, spread, unit);
    fflush(stdout);
    if (b_tsv)
        fprintf(b_tsv, "scripts\t%s\t%.2f\t-\t-\t%s\t-\t%.1f\n", what, ours,
                unit, spread);
}

static void b_row(const char *what, double ours, const char *unit)
{
    b_row_spread(what, ours, unit, 0);
}

static double b_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int b_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the median. Sorts the runs. */
static double b_median(double *v)
{
    qsort(v, (size_t)b_runs, sizeof *v, b_by_size);
    return v[b_runs / 2];
}

static void b_row_of(const char *what, double *v, const char *unit)
{
    double median = b_median(v);

    b_row_spread(what, median, unit,
                 median > 0 ? 50 * (v[b_runs - 1] - v[0]) / median : 0);
}

static double b_cpu(void)
{
    return b_info("cpu", "used_cpu_user:") + b_info("cpu", "used_cpu_sys:");
}

/* Puts N jobs; then sends done of N and claim of N in one write. */
static double b_life(int n, int total, double *cpu)
{
    b_jobs held;
    double began, used;
    int k;

    b_fresh();
    held.n = 0;
    used = b_cpu();
    began = b_now();
    for (k = 0; k <= total; k += n) {
        b_put(n);
        b_read(1);
        if (held.n > 0)
            b_jobs_of(B_DONE, &held);
        b_claim(n);
        b_read(held.n > 0 ? 2 : 1);
        if (held.n > 0)
            b_must_all("done_plain", "", 'd', n);
        b_take(held.n > 0 ? b_behind(b_in, b_in + b_in_n) : b_in, &held);
        b_must_claim(&held, n);
    }
    began = b_now() - began;
    *cpu = (b_cpu() - used) / total * 1e6;
    return total / began;
}

/* Returns n, or a twentieth of it with BENCH_QUICK. */
static int b_some(int n)
{
    return b_quick ? n / 20 : n;
}

static void b_lives(void)
{
    static const int batch[] = {1, 10, 100};
    double rate[RUNS], cpu[RUNS];
    char what[60];
    int i, r;

    for (i = 0; i < 3; i++) {
        for (r = 0; r < b_runs; r++)
            rate[r] = b_life(batch[i], b_some(i == 0 ? 8000 : 40000), &cpu[r]);
        sprintf(what, "whole life, %d at a time", batch[i]);
        b_row_of(what, rate, "jobs/s");
        sprintf(what, "server CPU of a life, %d at a time", batch[i]);
        b_row_of(what, cpu, "us/job");
    }
}

static void b_bulk(void)
{
    double rate[RUNS], began;
    int r, k, i, total = b_some(100000);

    for (r = 0; r < b_runs; r++) {
        b_fresh();
        began = b_now();
        for (k = 0; k < total; k += 8 * 100) {
            for (i = 0; i < 8; i++)
                b_put(100);
            b_read(8);
            b_must_put();
        }
        rate[r] = k / (b_now() - began);
    }
    b_row_of("put only, 100 at a time, 8 under way", rate, "jobs/s");
}

static void b_memory(void)
{
    double before, after;
    int total = b_some(100000);

    b_fresh();
    before = b_info("memory", "used_memory:");
    b_fill(total);
    after = b_info("memory", "used_memory:");
    b_row("bytes of a waiting job over its payload",
          (after - before) / total - PAYLOAD, "bytes");
}

/* Returns the calls of all commands except those of the measurement itself. */
static double b_calls(void)
{
    const char *p = b_say("INFO commandstats");
    double calls = 0;

    while ((p = strstr(p, "cmdstat_")) != NULL) {
        p += 8;
        if (strncmp(p, "evalsha", 7) != 0 && strncmp(p, "config", 6) != 0 &&
            strncmp(p, "info", 4) != 0)
            calls += strtod(strstr(p, "calls=") + 6, NULL);
    }
    return calls;
}

static void b_inner_turn(int n)
{
    b_jobs held;
    char what[60];

    b_claim_now(n, &held);
    (void)b_say("CONFIG RESETSTAT");
    b_jobs_of(B_DONE, &held);
    b_claim(n);
    b_read(2);
    b_must_all("done_plain", "", 'd', n);
    sprintf(what, "commands in a turn: done %d, claim %d", n, n);
    b_row(what, b_calls(), "calls");
}

static void b_inner(void)
{
    b_fresh();
    b_fill(1000);
    b_inner_turn(16);
    b_inner_turn(100);
    (void)b_say("CONFIG RESETSTAT");
    b_put(100);
    b_read(1);
    b_row("commands in a put of 100", b_calls(), "calls");
}

/* Returns the microseconds of a call since the counters were reset. */
static double b_usec(void)
{
    double usec, calls = b_info("commandstats", "cmdstat_evalsha:calls=");
    const char *p = strstr(b_in, "cmdstat_evalsha:");

    if (p == NULL || sscanf(strchr(p, ','), ",usec=%lf", &usec) != 1)
        b_die("no commandstats");
    return usec / calls;
}

/* Measures, in microseconds, a done of one job while so many others are
 * leased. */
static double b_done_among(const char *what, int leased)
{
    double us[RUNS];
    b_jobs held, one;
    int at, r, i;

    b_fresh();
    b_fill(leased + 100 + b_runs * BATCH_MAX);
    for (at = 0; at < leased; at += 100)
        b_claim_now(100, &held);
    for (r = 0; r < b_runs; r++) {
        b_claim_now(BATCH_MAX, &held);
        b_must_claim(&held, BATCH_MAX);
        (void)b_say("CONFIG RESETSTAT");
        for (i = 0, one.n = 1; i < held.n; i++) {
            strcpy(one.number[0], held.number[i]);
            strcpy(one.token[0], held.token[i]);
            b_jobs_of(B_DONE, &one);
        }
        b_read(held.n);
        b_must_all("done_plain", "", 'd', 1);
        us[r] = b_usec();
    }
    b_row_of(what, us, "us");
    return us[b_runs / 2];
}

static void b_among(void)
{
    double few, many;

    few = b_done_among("server time of done, 100 leased", 100);
    (void)b_done_among("server time of done, 10 000 leased", b_some(10000));
    many = b_done_among("server time of done, 100 000 leased", b_some(100000));
    b_row("server time of done, 100 000 leased against 100", many / few, "x");
}

/* Server times of one step, run b_runs times; the median counts. */
static double b_steps[RUNS];
static int b_steps_n;

static void b_timed(void)
{
    size_t n = b_out_n;
    static char kept[OUT];

    memcpy(kept, b_out, n);
    b_out_n = 0;
    (void)b_say("CONFIG RESETSTAT");
    memcpy(b_out, kept, n);
    b_out_n = n;
    b_read(1);
    {
        static char answer[IN + 1];
        size_t m = b_in_n;

        memcpy(answer, b_in, m);
        b_steps[b_steps_n++ % b_runs] = b_usec();
        memcpy(b_in, answer, m);
        b_in_n = m;
        b_in[m] = '\0';
    }
}

static double b_step_row(const char *name)
{
    char what[60];

    sprintf(what, "one %s", name);
    b_row_of(what, b_steps, "us");
    b_steps_n = 0;
    return b_steps[b_runs / 2];
}

/* Measures each step at its largest, among 100 000 other jobs. */
static void b_longest(void)
{
    static b_jobs held[RUNS + 1];
    double most = 0, us;
    int r, i;

    b_fresh();
    b_fill(b_quick ? 3000 : 100000);
#define B_STEP(name, act, must)                                               \
    for (r = 0; r < b_runs; r++) {                                            \
        act;                                                                  \
        b_timed();                                                            \
        must;                                                                 \
    }                                                                         \
    us = b_step_row(name);                                                    \
    most = us > most ? us : most

    B_STEP("put of 128", b_put(BATCH_MAX), b_must_put());
    B_STEP("claim of 128", b_claim(BATCH_MAX), b_take(b_in, &held[r]);
           b_must_claim(&held[r], BATCH_MAX));
    B_STEP("renewal of 128", b_jobs_of(B_RENEW, &held[r]),
           b_must_all("renew", "*2\r\n", 'r', BATCH_MAX));
    B_STEP("release of 128", b_jobs_of(B_RELEASE, &held[r]),
           b_must_all("release", "", 'd', BATCH_MAX));
    B_STEP("claim of 128 again", b_claim(BATCH_MAX), b_take(b_in, &held[r]);
           b_must_claim(&held[r], BATCH_MAX));
    B_STEP("done of 128", b_jobs_of(B_DONE, &held[r]),
           b_must_all("done_plain", "", 'd', BATCH_MAX));
    B_STEP("put_full of 16",
           b_call(B_PUT_FULL, 3 + 32); b_text("P.1"); b_number(b_op++);
           b_text("0"); for (i = 0; i < 16; i++) {
               char head[60];
               sprintf(head, "0,0,0,8,0;id%02d%04d", r, i);
               b_text(head);
               b_text("payload");
           }, b_must_offer(16));
    B_STEP("promotion of 16", b_call(B_PROMOTE, 1); b_text("16"),
           b_must("promote", "*2\r\n:16\r\n"));
    for (r = 0; r < b_runs; r++) {
        b_claim_now(BATCH_MAX, &held[r]);
        b_must_claim(&held[r], BATCH_MAX);
    }
    for (r = 0; r < b_runs; r++)
        for (i = 0; i < held[r].n; i++) {
            char line[80];

            sprintf(line, "ZADD {q}:leased 0 %s", held[r].number[i]);
            (void)b_say(line);
        }
    B_STEP("reaping of 128", b_call(B_REAP, 3); b_text("128"); b_text("9");
           b_text("0"), b_must("reap", "*4\r\n:128\r\n:0\r\n"));
    B_STEP("ranking of 128", b_call(B_RANK, 1); b_text("128"),
           b_must("rank", "*2\r\n:128\r\n"));
    (void)b_say("RENAME {q}:waiting {q}:aside");
    B_STEP("claim_type that looks at 128",
           b_call(B_CLAIM_TYPE, 7); b_text("W"); b_number(b_op++);
           b_text("9000"); b_text("128"); b_text("1048576"); b_text("none");
           b_text("-inf"),
           b_must("claim_type", "*3\r\n"));
    (void)b_say("RENAME {q}:aside {q}:waiting");
    B_STEP("purge of 128", b_call(B_PURGE, 3); b_text("w"); b_text("128");
           b_text("0"), b_must("purge", "*2\r\n:128\r\n:1\r\n"));
    B_STEP("forgetting among 128", b_call(B_FORGET, 2); b_text("");
           b_text("128"), b_must("forget", "$"));
    b_row("the longest script call", most, "us");
}

int main(int argc, char **argv)
{
    double cpu;

    b_quick = getenv("BENCH_QUICK") != NULL;
    b_runs = b_quick ? 1 : RUNS;
    if (argc == 5 && strcmp(argv[1], "--life") == 0) {
        b_connect(atoi(argv[4]));
        b_load();
        printf("%.0f\n", b_life(atoi(argv[2]), atoi(argv[3]), &cpu));
        return 0;
    }
    if (argc < 3) {
        printf("queue_scripts_bench: no server\n");
        return 0;
    }
    b_tsv = fopen(argv[1], "a");
    b_connect(atoi(argv[2]));
    b_load();
    b_lives();
    b_bulk();
    b_memory();
    b_inner();
    b_among();
    b_longest();
    b_fresh();
    if (b_tsv)
        (void)fclose(b_tsv);
    return 0;
}
