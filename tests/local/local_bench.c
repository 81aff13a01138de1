/* SPDX-License-Identifier: MIT
 *
 * local_bench.c - compares the speed of the local server with a real one.
 *
 *     local_bench [bench.tsv [SOCKET]]    a table; lines appended to the file
 *     local_bench --count NAME N          N commands on the local server alone,
 *                                         to count instructions
 *
 * Both servers get the same bytes, DEPTH commands at once. The local server is
 * called, the real one is reached over a Unix socket, as a program would use
 * them: so the ratio says how much time the program saves, not which server is
 * faster. Runs alternate, and the best run of each server counts. An error, or
 * a reply with other line counts than that of the other server, ends the
 * program with 1. With BENCH_QUICK in the environment there is one short run,
 * which only checks the replies.
 */
#define _POSIX_C_SOURCE 200809L

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lua_rig.h"
#include "relet_local.h"

enum { RUNS = 7, DEPTH = 64, WORDS = 8, WIRE = 64 * 1024 };

static int quick, runs = RUNS;

static void die(const char *why)
{
    fprintf(stderr, "local_bench: %s\n", why);
    exit(1);
}

/* ---------------------------------------------------------------- workloads */

/* Renewing a lease: about 30 operations and five calls. */
static const char lease[] =
    "local owner, token = ARGV[1], tonumber(ARGV[2])\n"
    "local ttl = tonumber(ARGV[3])\n"
    "local held = redis.call('GET', KEYS[1])\n"
    "if held ~= owner then\n"
    "    return {0, held}\n"
    "end\n"
    "local fence = tonumber(redis.call('HGET', KEYS[2], 'fence'))\n"
    "if fence > token then\n"
    "    return {0, fence}\n"
    "end\n"
    "local now = redis.call('TIME')\n"
    "local ms = now[1] * 1000 + math.floor(now[2] / 1000)\n"
    "redis.call('PEXPIRE', KEYS[1], ttl)\n"
    "redis.call('HSET', KEYS[2], 'until', ms + ttl, 'by', owner)\n"
    "return {1, fence, ms}\n";

static const char script_loop[] =
    "local n = 0 for i = 1, 100000 do n = n + i % 7 end return n";

static const char script_tables[] =
    "local t = {} for i = 1, 10000 do t[i] = i end\n"
    "local s = 0 for i, v in ipairs(t) do s = s + v end return s";

static const char script_calls[] =
    "local function f(n) if n < 2 then return n end return f(n - 1) + "
    "f(n - 2) end return f(20)";

/* A % in a word stands for the number of the command, modulo 64. The empty word
 * of EVALSHA stands for the script's SHA-1. */
typedef struct work {
    const char *name;
    const char *script; /* NULL: none                                        */
    const char *words[WORDS];
    int commands; /* of a run; 0: not a rate but microseconds, DEPTH 1       */
} work;

static const work works[] = {
    {"PING", NULL, {"PING"}, 200000},
    {"GET", NULL, {"GET", "key:%"}, 200000},
    {"SET", NULL, {"SET", "key:%", "0123456789abcdef"}, 200000},
    {"INCR", NULL, {"INCR", "counter:%"}, 200000},
    {"ZADD", NULL, {"ZADD", "zset", "%", "member:%"}, 100000},
    {"HSET", NULL, {"HSET", "hash", "field:%", "0123456789abcdef"}, 200000},
    {"XADD", NULL, {"XADD", "stream", "MAXLEN", "1000", "*", "f", "value"},
     100000},
    {"EVALSHA, five calls", lease,
     {"EVALSHA", "", "2", "q:lease", "q:meta", "me-1", "17", "30000"}, 50000},
    {"script, loop of 100 000", script_loop, {"EVALSHA", "", "0"}, 0},
    {"script, table of 10 000", script_tables, {"EVALSHA", "", "0"}, 0},
    {"script, 21 891 calls", script_calls, {"EVALSHA", "", "0"}, 0}};

enum { WORKS = sizeof works / sizeof works[0] };

/* Commands that prepare the data. */
static const char *const world[][WORDS] = {
    {"FLUSHALL"},
    {"SET", "q:lease", "me-1"},
    {"HSET", "q:meta", "fence", "17"}};

/* The bytes of DEPTH commands. */
typedef struct wire {
    char p[WIRE];
    size_t n;
} wire;

static void wire_word(wire *w, const char *word, size_t n)
{
    w->n += (size_t)sprintf(w->p + w->n, "$%u\r\n", (unsigned)n);
    memcpy(w->p + w->n, word, n);
    w->n += n;
    w->p[w->n++] = '\r';
    w->p[w->n++] = '\n';
}

static void wire_command(wire *w, const char *const *words, int i,
                         const char *sha)
{
    char word[64], *percent;
    int n = 0, k;

    while (n < WORDS && words[n])
        n++;
    w->n += (size_t)sprintf(w->p + w->n, "*%d\r\n", n);
    for (k = 0; k < n; k++) {
        (void)snprintf(word, sizeof word, "%s", words[k][0] ? words[k] : sha);
        percent = strchr(word, '%');
        if (percent)
            sprintf(percent, "%d", i % 64);
        wire_word(w, word, strlen(word));
    }
}

static int work_depth(const work *k)
{
    return k->commands > 0 ? DEPTH : 1;
}

static void wire_work(wire *w, const work *k)
{
    char sha[41] = "";
    int i;

    if (k->script)
        rlt_sha1_hex(k->script, strlen(k->script), sha);
    w->n = 0;
    for (i = 0; i < work_depth(k); i++)
        wire_command(w, k->words, i, sha);
}

static void wire_prepare(wire *w, const work *k)
{
    size_t i;

    w->n = 0;
    for (i = 0; i < sizeof world / sizeof world[0]; i++)
        wire_command(w, world[i], 0, "");
    if (k->words[1] && strcmp(k->words[1], "key:%") == 0)
        for (i = 0; i < 64; i++)
            wire_command(w, works[2].words, (int)i, "");
    if (k->script) {
        w->n += (size_t)sprintf(w->p + w->n, "*3\r\n");
        wire_word(w, "SCRIPT", 6);
        wire_word(w, "LOAD", 4);
        wire_word(w, k->script, strlen(k->script));
    }
}

/* --------------------------------------------------------------------- ours */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *ours_resize(void *user, void *p, size_t old, size_t size)
{
    (void)user;
    (void)old;
    if (size > 0)
        return realloc(p, size);
    free(p);
    return NULL;
}

static relet_local *ours_open(void)
{
    relet_local_config config;
    relet_local *l;

    memset(&config, 0, sizeof config);
    config.resize = ours_resize;
    l = relet_local_init(malloc(relet_local_size()), relet_local_size(),
                         &config);
    if (l == NULL)
        die("no memory");
    relet_local_time(l, 1700000000123456);
    if (relet_local_connect(l) != 0)
        die("no connection");
    return l;
}

static void ours_close(relet_local *l)
{
    relet_local_finish(l);
    free(l);
}

/* Returns the bytes of the replies. */
static size_t ours_send(relet_local *l, const wire *w)
{
    const uint8_t *p;
    size_t n;

    relet_local_feed(l, 0, w->p, w->n);
    n = relet_local_output(l, 0, &p);
    if (n == 0 || *p == '-')
        die("ours answers with an error");
    relet_local_sent(l, 0, n);
    return n;
}

static double ours_run(relet_local *l, const wire *w, int times)
{
    double start;
    int i;

    (void)ours_send(l, w);
    start = now_s();
    for (i = 0; i < times; i++)
        (void)ours_send(l, w);
    return now_s() - start;
}

/* ------------------------------------------------------------------- theirs */

static int theirs_open(const char *path)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        die("cannot connect to the real server");
    return fd;
}

static void theirs_write(int fd, const wire *w)
{
    if (write(fd, w->p, w->n) != (ssize_t)w->n)
        die("cannot write to the real server");
}

static size_t theirs_read(int fd, char *p, size_t cap)
{
    ssize_t n = read(fd, p, cap);

    if (n <= 0)
        die("the real server has gone");
    return (size_t)n;
}

/* Reads replies until all their lines have come; each reply has `lines` lines.
 * The lengths of replies differ between servers (ids, times), but not their
 * lines. */
static double theirs_run(int fd, const wire *w, int times, size_t lines)
{
    static char p[WIRE];
    double start = 0;
    size_t n, i, seen;
    int k;

    for (k = -1; k < times; k++) {
        if (k == 0)
            start = now_s();
        theirs_write(fd, w);
        for (seen = 0; seen < lines;) {
            n = theirs_read(fd, p, sizeof p);
            if (seen == 0 && *p == '-')
                die("the real server answers with an error");
            for (i = 0; i < n; i++)
                seen += p[i] == '\n';
        }
        if (seen != lines)
            die("the real server answers with other lines");
    }
    return now_s() - start;
}

static size_t theirs_bytes(const char *path)
{
    static char p[WIRE];
    static const char *const info[WORDS] = {"INFO", "memory"};
    wire *w = (wire *)calloc(1, sizeof *w);
    int fd = theirs_open(path);
    char *at;

    if (w == NULL)
        die("no memory");
    wire_command(w, info, 0, "");
    theirs_write(fd, w);
    p[theirs_read(fd, p, sizeof p - 1)] = '\0';
    free(w);
    close(fd);
    at = strstr(p, "used_memory:");
    return at ? (size_t)strtoul(at + 12, NULL, 10) : 0;
}

/* --------------------------------------------------------------- the tables */

static FILE *tsv;

/* theirs 0: there is no other server. */
static void row(const char *name, double ours, double theirs, int digits,
                const char *unit, int less)
{
    double ratio = less ? theirs / ours : ours / theirs;

    printf("%-28s %12.*f %12.*f  %s\n", name, digits, ours, digits, theirs,
           unit);
    if (tsv && theirs > 0)
        fprintf(tsv, "local\t%s\t%.*f\tredis-server\t%.*f\t%s\t%.2f\t0\n", name,
                digits, ours, digits, theirs, unit, ratio);
}

static size_t count_lines(relet_local *l, const wire *w)
{
    const uint8_t *p;
    size_t n, i, lines = 0;

    relet_local_feed(l, 0, w->p, w->n);
    n = relet_local_output(l, 0, &p);
    for (i = 0; i < n; i++)
        lines += p[i] == '\n';
    relet_local_sent(l, 0, n);
    return lines;
}

static void bench(const work *k, const char *path)
{
    static wire w;
    relet_local *l = ours_open();
    int fd = path ? theirs_open(path) : -1, i;
    int times = k->commands > 0 ? k->commands / DEPTH : 10;
    double ours = 1e9, theirs = 1e9, t, each;
    size_t lines;

    times = quick ? times / 10 : times;
    wire_prepare(&w, k);
    lines = count_lines(l, &w);
    if (path)
        (void)theirs_run(fd, &w, 0, lines);
    wire_work(&w, k);
    lines = count_lines(l, &w);
    for (i = 0; i < runs; i++) {
        t = ours_run(l, &w, times);
        ours = RLT_MIN(ours, t);
        t = path ? theirs_run(fd, &w, times, lines) : 0;
        theirs = RLT_MIN(theirs, t);
    }
    each = (double)times * work_depth(k);
    if (k->commands == 0)
        row(k->name, ours / each * 1e6, theirs / each * 1e6, 1, "us", 1);
    else
        row(k->name, each / ours, path ? each / theirs : 0, 0, "per s", 0);
    if (path)
        close(fd);
    ours_close(l);
}

static void bench_bytes(const char *path)
{
    relet_local *l = ours_open();
    size_t held;

    (void)relet_local_used(l, &held);
    row("an empty store", (double)(held + relet_local_size()),
        path ? (double)theirs_bytes(path) : 0, 0, "bytes", 1);
    ours_close(l);
}

/* ------------------------------------------------ the interpreter by itself */

static int alone_call(void *user, const relet_span *argv, uint32_t argc,
                      int resp, relet_span *reply)
{
    (void)user;
    (void)argc;
    (void)resp;
    switch (argv[0].p[0]) {
    case 'G':
        *reply = relet_str("$4\r\nme-1\r\n");
        return 0;
    case 'T':
        *reply = relet_str("*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n");
        return 0;
    case 'P':
        *reply = relet_str(":1\r\n");
        return 0;
    default:
        *reply = relet_str(argv[0].p[1] == 'G' ? "$2\r\n17\r\n" : ":0\r\n");
        return 0;
    }
}

static void alone_once(lua_rig *r, const rlt_lua_code *code,
                       const rlt_lua_call *call)
{
    rlt_lua_result result;

    if (!rlt_lua_run(&r->L, code, call, &result))
        die("the script fails");
    (void)rlt_luaresp_write(&r->L, &r->out, &result.value);
    rlt_buf_drop(&r->out.buf, rlt_buf_used(&r->out.buf));
    rlt_lua_end(&r->L);
}

/* The seconds for so many runs of the lease script on a host that answers at
 * once. */
static double alone_run(lua_rig *r, const rlt_lua_code *code, int times)
{
    static const relet_span keys[] = {{"q:lease", 7}, {"q:meta", 6}};
    static const relet_span args[] = {{"me-1", 4}, {"17", 2}, {"30000", 5}};
    rlt_lua_host host;
    rlt_lua_call call;
    double start = now_s();
    int i;

    memset(&host, 0, sizeof host);
    host.call = alone_call;
    memset(&call, 0, sizeof call);
    call.keys = keys;
    call.keys_n = 2;
    call.args = args;
    call.args_n = 3;
    call.host = &host;
    call.steps_max = INT64_MAX / 2;
    call.memory_max = (size_t)64 << 20;
    for (i = 0; i < times; i++)
        alone_once(r, code, &call);
    return now_s() - start;
}

static double alone_compile(lua_rig *r, int times, rlt_lua_code **code)
{
    double start = now_s();
    char error[256];
    int i;

    for (i = 0; i < times; i++) {
        rlt_lua_code_free(&r->L, *code);
        if (rlt_lua_compile(&r->L, relet_str(lease), "user_script", code,
                            error, sizeof error) != 0)
            die(error);
    }
    return now_s() - start;
}

static void alone(int count)
{
    lua_rig r;
    rlt_lua_code *code = NULL;
    double best = 1e9, compile = 1e9, t;
    int i;

    if (!lua_rig_open(&r, -1))
        die("no memory");
    for (i = 0; i < (count ? 1 : runs); i++) {
        t = alone_compile(&r, count ? 1 : 2000, &code);
        compile = RLT_MIN(compile, t);
        t = alone_run(&r, code, count ? count : 20000);
        best = RLT_MIN(best, t);
    }
    if (count == 0) {
        row("lease, interpreter alone", best / 20000 * 1e6, 0, 3, "us", 1);
        row("lease, to compile", compile / 2000 * 1e6, 0, 3, "us", 1);
        row("interpreter at rest", (double)r.held, 0, 0, "bytes", 1);
    }
    rlt_lua_code_free(&r.L, code);
    lua_rig_close(&r);
}

static int count_only(const char *name, int n)
{
    static wire w;
    relet_local *l;
    int i;

    if (strcmp(name, "alone") == 0) {
        alone(n);
        return 0;
    }
    for (i = 0; i < WORKS && strcmp(works[i].name, name) != 0; i++)
        ;
    if (i == WORKS)
        die("no such workload");
    l = ours_open();
    wire_prepare(&w, &works[i]);
    (void)ours_send(l, &w);
    wire_work(&w, &works[i]);
    (void)ours_run(l, &w, n / work_depth(&works[i]));
    ours_close(l);
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = argc > 2 ? argv[2] : NULL;
    int i;

    quick = getenv("BENCH_QUICK") != NULL;
    runs = quick ? 1 : RUNS;
    if (argc == 4 && strcmp(argv[1], "--count") == 0)
        return count_only(argv[2], atoi(argv[3]));
    if (argc > 1) {
        tsv = fopen(argv[1], "a");
        if (tsv == NULL)
            die("cannot write");
    }
    printf("%-28s %12s %12s\n", "depth 64", "ours", "redis-server");
    bench_bytes(path);
    for (i = 0; i < WORKS; i++)
        bench(&works[i], path);
    alone(0);
    if (tsv)
        fclose(tsv);
    return 0;
}
