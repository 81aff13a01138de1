/* SPDX-License-Identifier: MIT
 *
 * queue_scripts_bench.c - the scripts of a queue on a real server, with next to
 * nothing in front of them.
 *
 *     queue_scripts_bench bench.tsv PORT    a table; lines appended to the file
 *     queue_scripts_bench --life N TOTAL PORT    whole lives a second, N at a
 *                                           time, for who compares
 *
 * One connection, which writes ready-made bytes and counts the values that come
 * back. The server's data is flushed. Times of single steps are those that the
 * server counts itself (INFO commandstats), so they are free of the network
 * and nearly free of other programs. */
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

/* So many values; they stay in b_in. */
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

/* A command of words with single blanks between them; what it said. */
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
    B_PUT, B_CLAIM, B_DONE, B_RENEW, B_RELEASE, B_READY, B_REAP, B_OFFER, B_TRIM,
    B_PURGE, B_RANK, B_PICK, B_FORGET, B_SCRIPTS
} b_script;

static const struct {
    const char *name, *keys; /* letters of b_keys */
} b_list[B_SCRIPTS] = {{"put", "jwri"},    {"claim", "jwrl"},
                       {"done", "jl"},     {"renew", "jl"},
                       {"release", "jwli"}, {"ready", "jwrdi"},
                       {"reap", "jwlxi"},  {"offer", "jdnwr"},
                       {"trim", "joxn"},   {"purge", "jnwrdxol"},
                       {"rank", "jwr"},    {"pick", "jwrl"},
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

/* EVALSHA, its keys, and so many words that are to follow. */
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

/* What a claim brought, the value that begins at p. */
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
    }
}

/* ------------------------------------------------------------------- tables */

static void b_row(const char *what, double ours, const char *peer, double goal,
                  const char *unit, int more)
{
    double ratio = more ? ours / goal : goal / ours;

    printf("%-44s %10.1f %-6s", what, ours, unit);
    if (goal > 0)
        printf("  goal %.6g", goal);
    printf("\n");
    if (b_tsv && goal > 0)
        fprintf(b_tsv, "scripts\t%s\t%.1f\t%s\t%.6g\t%s\t%.2f\n", what, ours,
                peer, goal, unit, ratio);
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

static double b_median(double *v)
{
    qsort(v, RUNS, sizeof *v, b_by_size);
    return v[RUNS / 2];
}

static double b_cpu(void)
{
    return b_info("cpu", "used_cpu_user:") + b_info("cpu", "used_cpu_sys:");
}

/* put N; done N and claim N in one write. */
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
        b_take(held.n > 0 ? b_behind(b_in, b_in + b_in_n) : b_in, &held);
        if (held.n != n)
            b_die("a claim came short");
    }
    began = b_now() - began;
    *cpu = (b_cpu() - used) / total * 1e6;
    return total / began;
}

static void b_lives(void)
{
    static const int batch[] = {1, 10, 100};
    double rate[RUNS], cpu[RUNS];
    char what[60];
    int i, r;

    for (i = 0; i < 3; i++) {
        for (r = 0; r < RUNS; r++)
            rate[r] = b_life(batch[i], i == 0 ? 8000 : 40000, &cpu[r]);
        sprintf(what, "whole life, %d at a time", batch[i]);
        b_row(what, b_median(rate), "", 0, "jobs/s", 1);
        sprintf(what, "server CPU of that");
        b_row(what, b_median(cpu), "", 0, "us/job", 0);
    }
}

static void b_bulk(void)
{
    double rate[RUNS], began;
    int r, k, i;

    for (r = 0; r < RUNS; r++) {
        b_fresh();
        began = b_now();
        for (k = 0; k < 100000; k += 8 * 100) {
            for (i = 0; i < 8; i++)
                b_put(100);
            b_read(8);
        }
        rate[r] = 100000 / (b_now() - began);
    }
    b_row("put only, 100 at a time, 8 under way", b_median(rate), "", 0,
          "jobs/s", 1);
}

static void b_memory(void)
{
    double before, after;

    b_fresh();
    before = b_info("memory", "used_memory:");
    b_fill(100000);
    after = b_info("memory", "used_memory:");
    b_row("bytes of a waiting job over its payload",
          (after - before) / 100000 - PAYLOAD, "goal", 95, "bytes", 0);
}

/* Calls of all commands but those that measure. */
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

static void b_inner(void)
{
    b_jobs held;

    b_fresh();
    b_fill(1000);
    b_claim_now(100, &held);
    (void)b_say("CONFIG RESETSTAT");
    b_jobs_of(B_DONE, &held);
    b_claim(100);
    b_read(2);
    b_row("commands in a turn: done 100, claim 100", b_calls(), "goal", 10,
          "calls", 0);
    (void)b_say("CONFIG RESETSTAT");
    b_put(100);
    b_read(1);
    b_row("commands in a put of 100", b_calls(), "", 0, "calls", 0);
}

/* Of a call, since the counters were set back. */
static double b_usec(void)
{
    double usec, calls = b_info("commandstats", "cmdstat_evalsha:calls=");
    const char *p = strstr(b_in, "cmdstat_evalsha:");

    if (p == NULL || sscanf(strchr(p, ','), ",usec=%lf", &usec) != 1)
        b_die("no commandstats");
    return usec / calls;
}

/* Microseconds of a done of one job while so many others are leased. */
static double b_done_among(int leased)
{
    double us[RUNS];
    b_jobs held, one;
    int at, r, i;

    b_fresh();
    b_fill(leased + RUNS * BATCH_MAX);
    for (at = 0; at < leased; at += 100)
        b_claim_now(100, &held);
    for (r = 0; r < RUNS; r++) {
        b_claim_now(BATCH_MAX, &held);
        (void)b_say("CONFIG RESETSTAT");
        for (i = 0, one.n = 1; i < held.n; i++) {
            strcpy(one.number[0], held.number[i]);
            strcpy(one.token[0], held.token[i]);
            b_jobs_of(B_DONE, &one);
        }
        b_read(held.n);
        us[r] = b_usec();
    }
    return b_median(us);
}

static void b_among(void)
{
    double few = b_done_among(100), more = b_done_among(10000),
           many = b_done_among(100000);

    b_row("server time of done, 100 leased", few, "", 0, "us", 0);
    b_row("server time of done, 10 000 leased", more, "", 0, "us", 0);
    b_row("server time of done, 100 000 leased", many, "", 0, "us", 0);
    b_row("100 000 against 100", many / few, "goal", 1.3, "x", 0);
}

/* One step that has been written, RUNS times; the median. */
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
        b_steps[b_steps_n++ % RUNS] = b_usec();
        memcpy(b_in, answer, m);
        b_in_n = m;
    }
}

static double b_step_row(const char *name)
{
    double us = b_median(b_steps);
    char what[60];

    sprintf(what, "one %s", name);
    b_row(what, us, "", 0, "us", 0);
    b_steps_n = 0;
    return us;
}

/* Each at its largest, among 100 000 others. */
static void b_longest(void)
{
    static b_jobs held[RUNS + 1];
    double most = 0, us;
    int r, i;

    b_fresh();
    b_fill(100000);
#define B_STEP(name, act)                                                     \
    for (r = 0; r < RUNS; r++) {                                              \
        act;                                                                  \
    }                                                                         \
    us = b_step_row(name);                                                    \
    most = us > most ? us : most

    B_STEP("put of 128", b_put(BATCH_MAX); b_timed());
    B_STEP("claim of 128",
           b_claim(BATCH_MAX); b_timed(); b_take(b_in, &held[r]));
    B_STEP("renewal of 128", b_jobs_of(B_RENEW, &held[r]); b_timed());
    B_STEP("release of 128", b_jobs_of(B_RELEASE, &held[r]); b_timed());
    B_STEP("claim of 128 again",
           b_claim(BATCH_MAX); b_timed(); b_take(b_in, &held[r]));
    B_STEP("done of 128", b_jobs_of(B_DONE, &held[r]); b_timed());
    B_STEP("offer of 16",
           b_call(B_OFFER, 3 + 32); b_text("P.1"); b_number(b_op++);
           b_text("0"); for (i = 0; i < 16; i++) {
               char head[60];
               sprintf(head, "0,0,0,8,0;id%02d%04d", r, i);
               b_text(head);
               b_text("payload");
           } b_timed());
    B_STEP("promotion of 16", b_call(B_READY, 1); b_text("128"); b_timed());
    for (r = 0; r < RUNS; r++)
        b_claim_now(BATCH_MAX, &held[r]);
    for (r = 0; r < RUNS; r++)
        for (i = 0; i < held[r].n; i++) {
            char line[80];

            sprintf(line, "ZADD {q}:leased 0 %s", held[r].number[i]);
            (void)b_say(line);
        }
    B_STEP("reaping of 128", b_call(B_REAP, 3); b_text("128"); b_text("9");
           b_text("0"); b_timed());
    B_STEP("ranking of 128", b_call(B_RANK, 1); b_text("128"); b_timed());
    (void)b_say("RENAME {q}:waiting {q}:aside");
    B_STEP("pick that looks at 128",
           b_call(B_PICK, 6); b_text("W"); b_number(b_op++); b_text("9000");
           b_text("128"); b_text("none"); b_text("-inf"); b_timed());
    (void)b_say("RENAME {q}:aside {q}:waiting");
    B_STEP("purge of 128", b_call(B_PURGE, 3); b_text("w"); b_text("128");
           b_text("0"); b_timed());
    B_STEP("forgetting among 128", b_call(B_FORGET, 2); b_text("");
           b_text("128"); b_timed());
    b_row("the longest of them", most, "goal", 1000, "us", 0);
}

int main(int argc, char **argv)
{
    double cpu;

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
