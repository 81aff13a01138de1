/* SPDX-License-Identifier: MIT
 *
 * client_bench.c - the whole client against hiredis on a real server.
 *
 *     client_bench [bench.tsv [PORT]]     a table; lines appended to the file
 *     client_bench --count WHO SET|GET DEPTH N PORT    N of them and nothing
 *                                         else, to count instructions; prints
 *                                         how many a second
 *
 * Each contender has one TCP connection to the same server, and does the same
 * in its most natural form: relet_command and relet_wait; redisAppendCommand-
 * Argv and redisGetReply. The floor formats nothing and parses nothing: it
 * writes ready-made bytes and counts the bytes that come back. All contenders
 * write queued bytes only when there is nothing left to read.
 *
 * Depth N is N commands at once, then their N replies. In a "full" window of
 * N each reply lets the next command go. Runs take turns; the table has the
 * median, and half of the range between the best and the worst run. User CPU
 * is sampled by the kernel's tick, so it is the sum of all runs, and the number
 * behind it is the error of so few samples. An answer of another length than
 * expected ends the program with 1. With BENCH_QUICK in the environment each
 * figure is that of one short run: for the checks, not for the figures. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <hiredis.h>

#include "relet.h"

enum {
    RUNS = 7,
    KEYS = 64,
    KEY = 16, /* "key:000000000000", as in redis-benchmark                   */
    VALUE = 16,
    DEPTH_MAX = 1024,
    CONTENDERS = 3 /* ours, theirs, the floor                                */
};

#define TICK_NS 4e6 /* of a kernel with 250 of them a second                 */

static int quick, runs = RUNS;

static void die(const char *why, const char *detail)
{
    fprintf(stderr, "client_bench: %s%s%s\n", why, *detail ? ": " : "",
            detail);
    exit(1);
}

/* ------------------------------------------------------------- the workload */

typedef struct job {
    int set; /* SET, else GET                                                */
    int full;
    long depth, n;
} job;

/* A command in the words of each contender. */
typedef struct command {
    relet_span span[3];
    const char *argv[3];
    size_t len[3];
    char key[KEY + 1];
    char wire[96];
    size_t wire_n;
} command;

static command set_commands[KEYS], get_commands[KEYS];
static const char value[VALUE + 1] = "0123456789abcdef";

static void command_word(command *c, int i, const char *word, size_t n)
{
    c->span[i].p = c->argv[i] = word;
    c->span[i].n = c->len[i] = n;
}

static void commands_make(void)
{
    int i;

    for (i = 0; i < KEYS; i++) {
        command *s = &set_commands[i], *g = &get_commands[i];

        snprintf(s->key, sizeof s->key, "key:%012u", (unsigned)i % 10000u);
        command_word(s, 0, "SET", 3);
        command_word(s, 1, s->key, KEY);
        command_word(s, 2, value, VALUE);
        command_word(g, 0, "GET", 3);
        command_word(g, 1, s->key, KEY);
        s->wire_n = (size_t)snprintf(
            s->wire, sizeof s->wire,
            "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", KEY, s->key, VALUE,
            value);
        g->wire_n = (size_t)snprintf(g->wire, sizeof g->wire,
                                     "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", KEY,
                                     s->key);
    }
}

static const command *job_command(const job *j, long i)
{
    return j->set ? &set_commands[i % KEYS] : &get_commands[i % KEYS];
}

/* Returns the number of commands that may be sent now. */
static long job_room(const job *j, long submitted, long done)
{
    long room = j->depth - (submitted - done);

    if (!j->full && submitted != done)
        return 0;
    return room < j->n - submitted ? room : j->n - submitted;
}

static size_t job_answer(const job *j)
{
    return j->set ? 2 : VALUE; /* "OK", or the value                         */
}

/* --------------------------------------------------------------------- ours */

static relet *ours_open(int port)
{
    relet_fault fault;
    relet_event ev;
    char url[64];
    relet *r;

    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    r = relet_open(url, NULL, NULL, &fault);
    if (r == NULL)
        die("relet_open", fault.text);
    if (relet_wait(r, &ev, 5000) != 1 || ev.kind != RELET_EV_UP)
        die("relet", "no connection");
    return r;
}

static void ours_run(relet *r, const job *j)
{
    const command *c;
    long submitted = 0, done, room;
    relet_event ev;

    for (done = 0; done < j->n; done++) {
        for (room = job_room(j, submitted, done); room > 0; room--) {
            c = job_command(j, submitted++);
            if (relet_command(r, c->span, j->set ? 3 : 2, NULL) != 0)
                die("relet_command", relet_refusal(r));
        }
        if (relet_wait(r, &ev, -1) != 1 || ev.kind != RELET_EV_REPLY ||
            relet_value_text(ev.value).n != job_answer(j))
            die("relet", "not the answer");
    }
}

/* ------------------------------------------------------------------- theirs */

static redisContext *theirs_open(int port)
{
    redisContext *h = redisConnect("127.0.0.1", port);

    if (h == NULL || h->err != 0)
        die("hiredis", h != NULL ? h->errstr : "no memory");
    freeReplyObject(redisCommand(h, "HELLO 3"));
    return h;
}

static void theirs_run(redisContext *h, job *j)
{
    command *c;
    long submitted = 0, done, room;
    redisReply *reply;
    void *got = NULL;

    for (done = 0; done < j->n; done++) {
        for (room = job_room(j, submitted, done); room > 0; room--) {
            c = (command *)(uintptr_t)job_command(j, submitted++);
            redisAppendCommandArgv(h, j->set ? 3 : 2, c->argv, c->len);
        }
        if (redisGetReply(h, &got) != REDIS_OK)
            die("hiredis", h->errstr);
        reply = (redisReply *)got;
        if (reply->len != job_answer(j))
            die("hiredis", "not the answer");
        freeReplyObject(reply);
    }
}

/* ---------------------------------------------------------------- the floor */

static int floor_open(int port)
{
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("the floor", "no connection");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void floor_write(int fd, const char *p, size_t n)
{
    ssize_t put;

    for (; n > 0; p += put, n -= (size_t)put)
        if ((put = write(fd, p, n)) <= 0)
            die("the floor", "write");
}

static void floor_run(int fd, const job *j)
{
    static char out[DEPTH_MAX * sizeof set_commands[0].wire], in[64 * 1024];
    long answer = j->set ? 5 : VALUE + 7; /* bytes on the wire               */
    long submitted = 0, done = 0, room, bytes = 0;
    const command *c;
    size_t n;
    ssize_t got;

    while (done < j->n) {
        n = 0;
        for (room = job_room(j, submitted, done); room > 0; room--) {
            c = job_command(j, submitted++);
            memcpy(out + n, c->wire, c->wire_n);
            n += c->wire_n;
        }
        floor_write(fd, out, n);
        if ((got = read(fd, in, sizeof in)) <= 0)
            die("the floor", "read");
        bytes += got;
        done = bytes / answer;
    }
}

/* ---------------------------------------------------------------- measuring */

typedef struct field {
    relet *ours;
    redisContext *theirs;
    int floor;
} field;

/* Nanoseconds per operation. */
typedef struct figures {
    double wall_ns[CONTENDERS], wall_error[CONTENDERS];
    double user_ns[CONTENDERS], user_error[CONTENDERS];
} figures;

static FILE *tsv;

static double wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double user_ns(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec * 1e9 +
           (double)used.ru_utime.tv_usec * 1e3;
}

static void run(field *f, int who, job *j)
{
    if (who == 0)
        ours_run(f->ours, j);
    else if (who == 1)
        theirs_run(f->theirs, j);
    else
        floor_run(f->floor, j);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void summarise_wall(figures *g, int who, double *wall, double n)
{
    qsort(wall, (size_t)runs, sizeof *wall, by_size);
    g->wall_ns[who] = wall[runs / 2] / n;
    g->wall_error[who] = (wall[runs - 1] - wall[0]) / 2 / n;
}

static void summarise_user(figures *g, int who, double sum, double n)
{
    g->user_ns[who] = sum / (n * runs);
    g->user_error[who] = sqrt(sum * TICK_NS) / (n * runs);
}

static figures measure(field *f, job *j)
{
    double wall[CONTENDERS][RUNS], user[CONTENDERS] = {0, 0, 0}, w, u;
    figures g;
    int i, who;

    for (i = 0; i < runs; i++)
        for (who = 0; who < CONTENDERS; who++) {
            w = wall_ns();
            u = user_ns();
            run(f, who, j);
            wall[who][i] = wall_ns() - w;
            user[who] += user_ns() - u;
        }
    for (who = 0; who < CONTENDERS; who++) {
        summarise_wall(&g, who, wall[who], (double)j->n);
        summarise_user(&g, who, user[who], (double)j->n);
    }
    return g;
}

/* ---------------------------------------------------------------- reporting */

/* A rate is printed as operations per second. */
static double told(double ns, int rate)
{
    return rate ? 1e9 / ns : ns;
}

static double percent(double error, double of)
{
    return of > 0 ? 100 * error / of : 0;
}

static void report_beside(const char *name, const double *ns, double error,
                          int rate, const char *peer, int who)
{
    if (tsv != NULL)
        fprintf(tsv, "client\t%s\t%.1f\t%s\t%.1f\t%s\t%.3f\t%.1f\n", name,
                told(ns[0], rate), peer, told(ns[who], rate),
                rate ? "ops/s" : "ns", ns[0] > 0 ? ns[who] / ns[0] : 0,
                percent(error, ns[0]));
}

static void report(const char *name, const double *ns, const double *error,
                   int rate)
{
    printf("client  %-26s%11.0f ±%3.0f%% %11.0f ±%3.0f%% %11.0f  %-6s"
           "%7.2f×\n",
           name, told(ns[0], rate), percent(error[0], ns[0]), told(ns[1], rate),
           percent(error[1], ns[1]), told(ns[2], rate), rate ? "ops/s" : "ns",
           ns[0] > 0 ? ns[1] / ns[0] : 0);
    fflush(stdout);
    report_beside(name, ns, error[0], rate, "hiredis 1.2.0", 1);
    report_beside(name, ns, error[0], rate, "raw writer and reader", 2);
}

static void bench(field *f, int set, long depth, int full, long n)
{
    job j;
    figures g;
    char name[64];

    j.set = set;
    j.depth = depth;
    j.full = full;
    j.n = quick ? n / 50 : n;
    g = measure(f, &j);
    snprintf(name, sizeof name, "%s, %s %ld", set ? "SET" : "GET",
             full ? "full window of" : "depth", depth);
    report(name, g.wall_ns, g.wall_error, 1);
    if (depth == 1)
        return;
    snprintf(name, sizeof name, "%s, %s %ld, user CPU", set ? "SET" : "GET",
             full ? "full" : "depth", depth);
    report(name, g.user_ns, g.user_error, 0);
}

static field field_open(int port)
{
    field f;
    job all;

    f.ours = ours_open(port);
    f.theirs = theirs_open(port);
    f.floor = floor_open(port);
    all.set = 1;
    all.full = 1;
    all.depth = 100;
    all.n = KEYS;
    ours_run(f.ours, &all); /* so that each GET finds its value              */
    return f;
}

static void field_close(field *f)
{
    relet_close(f->ours);
    redisFree(f->theirs);
    close(f->floor);
}

static void bench_all(int port)
{
    field f = field_open(port);
    int set;

    printf("%-34s%11s       %11s       %11s  %-6s%8s\n", "", "relet",
           "hiredis", "floor", "unit", "ratio");
    for (set = 1; set >= 0; set--) {
        bench(&f, set, 1, 0, 10000);
        bench(&f, set, 64, 0, 300000);
        bench(&f, set, 256, 0, 500000);
        bench(&f, set, 256, 1, 500000);
    }
    field_close(&f);
}

/* The whole memory in the smallest configuration: nothing is allocated
 * later. */
static void bench_memory(void)
{
    relet_config c;
    size_t ours;

    relet_config_init_small(&c);
    ours = relet_size(&c);
    printf("client  %-26s%11lu bytes\n", "smallest, one link",
           (unsigned long)ours);
    if (tsv != NULL)
        fprintf(tsv, "small\tclient, smallest, one link\t%lu\t-\t-\tbytes\t"
                     "-\t0\n",
                (unsigned long)ours);
}

/* Runs N commands by one contender alone. */
static int count_only(char **argv)
{
    int port = atoi(argv[4]), fd;
    double begin = wall_ns();
    job j;
    relet *r;
    redisContext *h;

    j.set = strcmp(argv[1], "SET") == 0;
    j.full = 0;
    j.depth = atol(argv[2]);
    j.n = atol(argv[3]);
    if (strcmp(argv[0], "relet") == 0) {
        r = ours_open(port);
        ours_run(r, &j);
        relet_close(r);
    } else if (strcmp(argv[0], "hiredis") == 0) {
        h = theirs_open(port);
        theirs_run(h, &j);
        redisFree(h);
    } else {
        fd = floor_open(port);
        floor_run(fd, &j);
        close(fd);
    }
    printf("%.0f\n", (double)j.n * 1e9 / (wall_ns() - begin));
    return 0;
}

int main(int argc, char **argv)
{
    quick = getenv("BENCH_QUICK") != NULL;
    runs = quick ? 1 : RUNS;
    commands_make();
    if (argc == 7 && strcmp(argv[1], "--count") == 0)
        return count_only(argv + 2);
    if (argc > 1 && (tsv = fopen(argv[1], "a")) == NULL)
        die("cannot write", argv[1]);
    if (argc > 2 && atoi(argv[2]) > 0)
        bench_all(atoi(argv[2]));
    else
        puts("client_bench: no server; tests/bench/run.sh starts one");
    bench_memory();
    if (tsv != NULL)
        fclose(tsv);
    return 0;
}
