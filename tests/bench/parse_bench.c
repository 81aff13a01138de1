/* SPDX-License-Identifier: MIT
 *
 * parse_bench.c - the scanner and the encoder against hiredis, in one binary.
 *
 *     parse_bench [bench.tsv]        a table; with a file, lines appended to it
 *
 * Both get the same bytes in the same pieces: ours in the buffer that it parses
 * in, hiredis in a separate buffer and from there in its reader, as in its own
 * connections. Both take every reply; in the "walk" rows both visit every node
 * and sum lengths, integers and first bytes, and the sums must agree. The floor
 * is a walk over the bare bytes that keeps nothing. Time is CPU time of this
 * process, the median of interleaved runs. Instructions are counted by
 * valgrind, where it is installed, over many replies less over few.
 * Contenders that differ in sums, counts or bytes end the program with 1. With
 * BENCH_QUICK in the environment each figure is that of one short run: for the
 * checks, not for the figures. */
#define _POSIX_C_SOURCE 200809L

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis.h>

#include "cmd.h"
#include "scan.h"
#include "value.h"

enum {
    RUNS = 7,             /* of each contender, interleaved                  */
    PIECE = 16 * 1024,    /* what hiredis reads at a time                    */
    CONTENDERS = 3        /* ours, theirs, the floor                         */
};

static int quick, runs_n = RUNS;

typedef struct bytes {
    uint8_t *p;
    size_t n, cap;
} bytes;

static void die(const char *why)
{
    fprintf(stderr, "parse_bench: %s\n", why);
    exit(1);
}

static void *must_have(void *p)
{
    if (p == NULL)
        die("out of memory");
    return p;
}

static void put(bytes *b, const char *p, size_t n)
{
    while (b->cap < b->n + n) {
        b->cap = b->cap * 2 + 4096;
        b->p = must_have(realloc(b->p, b->cap));
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void puts_to(bytes *b, const char *p)
{
    put(b, p, strlen(p));
}

/* Stands for the kernel's copy of arriving bytes. The copy must not be
 * measured, so a single byte does not cost a call. */
static inline void arrive(void *to, const uint8_t *p, size_t n)
{
    if (n == 1)
        *(uint8_t *)to = *p;
    else
        memcpy(to, p, n);
}

/* ----------------------------------------------------------- counted memory */

typedef struct ledger {
    size_t live, calls;
} ledger;

static ledger books[2]; /* ours, theirs */

/* Returns the bytes that malloc took for p, with the word in front of it. */
static size_t book_size(void *p)
{
    return p == NULL ? 0 : malloc_usable_size(p) + sizeof(size_t);
}

static void *book_resize(ledger *l, void *p, size_t n)
{
    l->live -= book_size(p);
    p = must_have(realloc(p, n));
    l->live += book_size(p);
    l->calls++;
    return p;
}

static void book_free(ledger *l, void *p)
{
    l->live -= book_size(p);
    free(p);
}

static void *peer_malloc(size_t n)
{
    return book_resize(&books[1], NULL, n);
}

static void *peer_calloc(size_t k, size_t n)
{
    return memset(peer_malloc(k * n), 0, k * n);
}

static void *peer_realloc(void *p, size_t n)
{
    return book_resize(&books[1], p, n);
}

static char *peer_strdup(const char *s)
{
    return strcpy(peer_malloc(strlen(s) + 1), s);
}

static void peer_free(void *p)
{
    book_free(&books[1], p);
}

static void peer_counted(void)
{
    hiredisAllocFuncs counted = {peer_malloc, peer_calloc, peer_realloc,
                                 peer_strdup, peer_free};

    hiredisSetAllocators(&counted);
}

/* -------------------------------------------------------------------- ours
 *
 * The buffer grows and moves as a connection's does: it doubles, unless at
 * least as many bytes are consumed as would have to move. */

typedef struct input {
    rlt_scan scan;
    relet_node *tape;
    uint8_t *p;
    size_t from, to, cap;
    int walk;
    uint64_t sum, replies;
} input;

static void input_open(input *in, int walk)
{
    rlt_scan_limits limits = {RLT_SCAN_LINE_DEFAULT, RLT_SCAN_BULK_HARD,
                              RLT_SCAN_COUNT_HARD, RLT_SCAN_DEPTH_HARD};

    memset(in, 0, sizeof *in);
    in->walk = walk;
    in->cap = PIECE;
    in->p = book_resize(&books[0], NULL, in->cap);
    in->tape = book_resize(&books[0], NULL, 256 * sizeof *in->tape);
    rlt_scan_init(&in->scan, &limits, in->tape, 256);
}

static void input_close(input *in)
{
    book_free(&books[0], in->p);
    book_free(&books[0], in->tape);
}

static void input_tape_grow(input *in)
{
    uint32_t cap = in->scan.tape_cap * 2;

    in->tape = book_resize(&books[0], in->tape, cap * sizeof *in->tape);
    rlt_scan_tape(&in->scan, in->tape, cap);
}

static void input_make_room(input *in, size_t n)
{
    size_t used = in->to - in->from;

    if (used > in->from || in->cap - used < n) {
        in->cap = used + n > in->cap * 2 ? used + n : in->cap * 2;
        in->p = book_resize(&books[0], in->p, in->cap);
    }
    memmove(in->p, in->p + in->from, used);
    in->from = 0;
    in->to = used;
}

static inline uint64_t ours_leaf(relet_value v)
{
    relet_span text = relet_value_text(v);
    int64_t i;

    if (text.n > 0)
        return text.n + (uint8_t)*text.p;
    return relet_value_int(v, &i) ? (uint64_t)i : 1;
}

static uint64_t ours_nest(relet_value v)
{
    size_t n = relet_value_count(v);
    uint64_t sum = n;
    relet_value c = relet_value_first(v);

    n = relet_value_type(v) == RELET_T_MAP ? n * 2 : n;
    for (; n > 0; n--, c = relet_value_next(c))
        sum += relet_value_type(c) < RELET_T_ARRAY ? ours_leaf(c)
                                                   : ours_nest(c);
    return sum;
}

static uint64_t ours_walk(relet_value v)
{
    return relet_value_type(v) < RELET_T_ARRAY ? ours_leaf(v) : ours_nest(v);
}

static void input_take(input *in)
{
    if (in->walk)
        in->sum += ours_walk(rlt_scan_value(&in->scan, in->p + in->from));
    in->from += rlt_scan_next(&in->scan);
    in->replies++;
}

static void input_feed(input *in, const uint8_t *p, size_t n)
{
    rlt_verdict verdict;

    if (in->cap - in->to < n)
        input_make_room(in, n);
    arrive(in->p + in->to, p, n);
    in->to += n;
    while (in->to - in->from >= in->scan.need) {
        verdict = rlt_scan_run(&in->scan, in->p + in->from, in->to - in->from);
        if (verdict == RLT_SCAN_VALUE)
            input_take(in);
        else if (verdict == RLT_SCAN_TAPE)
            input_tape_grow(in);
        else if (verdict != RLT_SCAN_MORE)
            die(rlt_scan_error_text(in->scan.error));
    }
    if (in->from == in->to)
        in->from = in->to = 0;
}

static uint64_t ours_parse(const bytes *in, size_t piece, int walk,
                           uint64_t *replies)
{
    input r;
    size_t at, n;

    input_open(&r, walk);
    for (at = 0; at < in->n; at += n) {
        n = in->n - at < piece ? in->n - at : piece;
        input_feed(&r, in->p + at, n);
    }
    input_close(&r);
    *replies = r.replies;
    return r.sum;
}

/* ------------------------------------------------------------------- theirs */

static inline uint64_t peer_leaf(const redisReply *r)
{
    if (r->type == REDIS_REPLY_INTEGER)
        return (uint64_t)r->integer;
    return r->len > 0 ? r->len + (uint8_t)*r->str : 1;
}

static inline int peer_nests(const redisReply *r)
{
    return r->type == REDIS_REPLY_ARRAY || r->type == REDIS_REPLY_MAP ||
           r->type == REDIS_REPLY_SET;
}

static uint64_t peer_nest(const redisReply *r)
{
    uint64_t sum = r->type == REDIS_REPLY_MAP ? r->elements / 2 : r->elements;
    const redisReply *c;
    size_t i;

    for (i = 0; i < r->elements; i++) {
        c = r->element[i];
        sum += peer_nests(c) ? peer_nest(c) : peer_leaf(c);
    }
    return sum;
}

static uint64_t peer_walk(const redisReply *r)
{
    return peer_nests(r) ? peer_nest(r) : peer_leaf(r);
}

static uint64_t peer_parse(const bytes *in, size_t piece, int walk,
                           uint64_t *replies)
{
    redisReader *reader = redisReaderCreate();
    char *arrived = must_have(malloc(piece));
    uint64_t sum = 0;
    size_t at, n;
    void *reply;

    *replies = 0;
    for (at = 0; at < in->n; at += n) {
        n = in->n - at < piece ? in->n - at : piece;
        arrive(arrived, in->p + at, n);
        if (redisReaderFeed(reader, arrived, n) != REDIS_OK)
            die("hiredis: feed");
        for (;;) {
            if (redisReaderGetReply(reader, &reply) != REDIS_OK)
                die(reader->errstr);
            if (reply == NULL)
                break;
            if (walk)
                sum += peer_walk(reply);
            freeReplyObject(reply);
            ++*replies;
        }
    }
    redisReaderFree(reader);
    free(arrived);
    return sum;
}

/* --------------------------------------------------------------- the floor
 *
 * The floor reads headers, skips payloads and counts nesting: the least work
 * that finds the end of a reply. */

static uint64_t floor_parse(const bytes *in, size_t piece, int walk,
                            uint64_t *replies)
{
    const uint8_t *p = in->p, *end = in->p + in->n;
    uint64_t sum = 0, v;
    int64_t left = 0;
    uint8_t type;

    (void)piece;
    *replies = 0;
    while (p < end) {
        type = *p++;
        v = 0;
        if (type == '+' || type == '-') {
            while (*p != '\r')
                p++;
        } else {
            for (; *p != '\r'; p++)
                v = v * 10 + (uint64_t)(*p - '0');
        }
        p += 2;
        if (type == '$')
            p += v + 2;
        if (walk)
            sum += v;
        left += type == '*' ? (int64_t)v : type == '%' ? (int64_t)v * 2 : 0;
        if (left == 0)
            ++*replies;
        else
            left--;
    }
    return sum;
}

/* ---------------------------------------------------------------- workloads */

static void small_replies(bytes *b, size_t n)
{
    static const char *const mix[] = {
        "+OK\r\n", ":1\r\n", "$5\r\nhello\r\n", "+QUEUED\r\n",
        ":123456\r\n", "$16\r\n0123456789abcdef\r\n", "_\r\n",
        "$32\r\n0123456789abcdef0123456789abcdef\r\n"};
    size_t i;

    for (i = 0; i < n; i++)
        puts_to(b, mix[i * 2654435761u >> 7 & 7]);
}

static void integer_arrays(bytes *b, size_t n)
{
    char line[32];
    size_t i, k;

    for (i = 0; i < n; i++) {
        puts_to(b, "*100\r\n");
        for (k = 0; k < 100; k++) {
            snprintf(line, sizeof line, ":%lu\r\n",
                     (unsigned long)((i * 100 + k) * 2654435761u % 10000000));
            puts_to(b, line);
        }
    }
}

static void stream_entries(bytes *b, size_t n)
{
    char entry[256];
    size_t i, k;

    for (i = 0; i < n; i++) {
        puts_to(b, "%1\r\n$6\r\norders\r\n*20\r\n");
        for (k = 0; k < 20; k++) {
            snprintf(entry, sizeof entry,
                     "*2\r\n$15\r\n1700000000%03lu-0\r\n*4\r\n$2\r\nid\r\n"
                     "$6\r\n%06lu\r\n$5\r\nstate\r\n$7\r\nwaiting\r\n",
                     (unsigned long)(i % 1000), (unsigned long)k);
            puts_to(b, entry);
        }
    }
}

static void bulks(bytes *b, size_t n, size_t size)
{
    char header[32];
    char *payload = must_have(malloc(size));

    memset(payload, 'x', size);
    snprintf(header, sizeof header, "$%lu\r\n", (unsigned long)size);
    for (; n > 0; n--) {
        puts_to(b, header);
        put(b, payload, size);
        puts_to(b, "\r\n");
    }
    free(payload);
}

/* ---------------------------------------------------------------- measuring */

typedef uint64_t parse_fn(const bytes *in, size_t piece, int walk,
                          uint64_t *replies);

typedef struct result {
    double ns[CONTENDERS]; /* per reply or command                           */
    double spread[CONTENDERS];
} result;

static FILE *tsv;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void summarise(result *r, double runs[][RUNS], double units)
{
    int c;

    for (c = 0; c < CONTENDERS; c++) {
        qsort(runs[c], (size_t)runs_n, sizeof runs[c][0], by_size);
        r->ns[c] = runs[c][runs_n / 2] / units;
        r->spread[c] =
            (runs[c][runs_n - 1] - runs[c][0]) / runs[c][runs_n / 2];
    }
}

static void report(const char *bench, const char *workload, double ours,
                   double theirs, const char *unit, double spread)
{
    double ratio = ours > 0 ? theirs / ours : 0;

    if (tsv != NULL)
        fprintf(tsv, "%s\t%s\t%.3f\thiredis 1.2.0\t%.3f\t%s\t%.2f\t%.1f\n",
                bench, workload, ours, theirs, unit, ratio, spread * 50);
}

static void print_result(const char *bench, const char *workload, result r,
                         const char *unit)
{
    printf("%-8s%-34s%11.1f ±%3.0f%% %11.1f ±%3.0f%% %10.1f  %-9s %7.2f×\n",
           bench, workload, r.ns[0], r.spread[0] * 50, r.ns[1],
           r.spread[1] * 50, r.ns[2], unit, r.ns[1] / r.ns[0]);
    fflush(stdout);
    report(bench, workload, r.ns[0], r.ns[1], unit, r.spread[0]);
}

/* Small inputs are parsed more than once, to exceed the clock's resolution. */
static void measure(const char *workload, const bytes *in, size_t piece,
                    int walk, int times)
{
    static parse_fn *const parse[CONTENDERS] = {ours_parse, peer_parse,
                                                floor_parse};
    double runs[CONTENDERS][RUNS], start;
    uint64_t sum[CONTENDERS] = {0, 0, 0}, replies = 0, first = 0;
    char name[96];
    result r;
    int run, c, t;

    for (run = 0; run < runs_n; run++) {
        for (c = 0; c < CONTENDERS; c++) {
            start = now_ns();
            for (t = 0; t < times; t++)
                sum[c] = parse[c](in, piece, walk, &replies);
            runs[c][run] = now_ns() - start;
            first = run + c == 0 ? replies : first;
            if (replies != first || replies == 0)
                die("they do not count the same replies");
        }
    }
    if (sum[0] != sum[1])
        die("the sums differ");
    summarise(&r, runs, (double)replies * times);
    snprintf(name, sizeof name, "%s, %s", workload, walk ? "walk" : "drop");
    print_result("parse", name, r, "ns/reply");
}

static void measure_both(const char *workload, bytes *in, size_t piece,
                         int times)
{
    measure(workload, in, piece, 0, times);
    measure(workload, in, piece, 1, times);
    in->n = 0;
}

/* ----------------------------------------------------------------- encoding */

typedef struct command {
    const char *argv[3];
    size_t len[3];
    relet_span span[3];
} command;

static command set_command(size_t payload)
{
    static char value[256];
    command c;
    int i;

    memset(value, 'v', sizeof value);
    c.argv[0] = "SET";
    c.argv[1] = "user:1000:name";
    c.argv[2] = value;
    c.len[0] = 3;
    c.len[1] = 14;
    c.len[2] = payload;
    for (i = 0; i < 3; i++) {
        c.span[i].p = c.argv[i];
        c.span[i].n = c.len[i];
    }
    return c;
}

static uint8_t encoded[PIECE];

static size_t encode_ours(const command *c, int n)
{
    uint8_t *out = encoded;

    for (; n > 0; n--) {
        if ((size_t)(encoded + PIECE - out) < rlt_cmd_size(c->span, 3))
            out = encoded;
        out = rlt_cmd_write(out, c->span, 3);
    }
    return (size_t)(out - encoded);
}

static size_t encode_theirs(const command *c, int n)
{
    const char **argv = (const char **)(uintptr_t)c->argv;
    size_t sum = 0;
    char *text;

    for (; n > 0; n--) {
        sum += (size_t)redisFormatCommandArgv(&text, 3, argv, c->len);
        redisFreeCommand(text);
    }
    return sum;
}

/* The floor: the same bytes, copied ready-made. */
static size_t encode_floor(const command *c, int n)
{
    size_t size = rlt_cmd_size(c->span, 3);
    static uint8_t made[PIECE];
    uint8_t *out = encoded;

    rlt_cmd_write(made, c->span, 3);
    for (; n > 0; n--) {
        if ((size_t)(encoded + PIECE - out) < size)
            out = encoded;
        memcpy(out, made, size);
        out += size;
    }
    return (size_t)(out - encoded);
}

/* Checks that all contenders encode a command into the same bytes. */
static void encode_check(const command *c)
{
    const char **argv = (const char **)(uintptr_t)c->argv;
    size_t size = encode_ours(c, 1);
    static uint8_t ours[PIECE];
    char *theirs;

    memcpy(ours, encoded, size);
    if ((size_t)redisFormatCommandArgv(&theirs, 3, argv, c->len) != size ||
        memcmp(ours, theirs, size) != 0)
        die("the commands differ");
    redisFreeCommand(theirs);
    if (encode_floor(c, 1) != size || memcmp(ours, encoded, size) != 0)
        die("the floor is another command");
}

static void measure_encode(const char *workload, size_t payload, int n)
{
    typedef size_t encode_fn(const command *c, int n);
    static encode_fn *const encode[CONTENDERS] = {encode_ours, encode_theirs,
                                                  encode_floor};
    command c = set_command(payload);
    double runs[CONTENDERS][RUNS], start;
    volatile size_t sink = 0;
    result r;
    int run, i;

    encode_check(&c);
    for (run = 0; run < runs_n; run++) {
        for (i = 0; i < CONTENDERS; i++) {
            start = now_ns();
            sink += encode[i](&c, n);
            runs[i][run] = now_ns() - start;
        }
    }
    summarise(&r, runs, n);
    print_result("encode", workload, r, "ns/cmd");
}

/* ------------------------------------------------------------------- memory */

/* Measures the heap per element while a reply is held. Both have their input
 * buffer, and their usual growth of memory. */
static void measure_heap(void)
{
    enum { ELEMENTS = 100000 };
    bytes in = {NULL, 0, 0};
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    double ours, theirs;
    input r;
    size_t at, n;
    int i;

    puts_to(&in, "*100000\r\n");
    for (i = 0; i < ELEMENTS; i++)
        puts_to(&in, "$8\r\nabcdefgh\r\n");
    input_open(&r, 0);
    for (at = 0; at < in.n; at += n) {
        n = in.n - at < PIECE ? in.n - at : PIECE;
        input_feed(&r, in.p + at, n);
        redisReaderFeed(reader, (const char *)in.p + at, n);
        redisReaderGetReply(reader, &reply);
    }
    ours = (double)books[0].live / ELEMENTS;
    theirs = (double)books[1].live / ELEMENTS;
    if (reply == NULL || r.replies != 1)
        die("no reply");
    freeReplyObject(reply);
    redisReaderFree(reader);
    input_close(&r);
    free(in.p);
    printf("%-8s%-34s%11.1f       %11.1f                   %-9s %7.2f×\n",
           "memory", "heap per element, 8-byte strings", ours, theirs, "bytes",
           theirs / ours);
    report("memory", "heap per element, 8-byte strings", ours, theirs,
           "bytes", 0);
}

/* Counts allocator calls over many replies, once all buffers have their
 * size. */
static void measure_allocations(void)
{
    bytes in = {NULL, 0, 0};
    uint64_t warm, replies;
    double ours, theirs;
    input r;

    small_replies(&in, 1000);
    input_open(&r, 0);
    input_feed(&r, in.p, in.n);
    warm = books[0].calls;
    input_feed(&r, in.p, in.n);
    ours = (double)(books[0].calls - warm) / 1000;
    input_close(&r);
    warm = books[1].calls;
    peer_parse(&in, PIECE, 0, &replies);
    theirs = (double)(books[1].calls - warm) / (double)replies;
    free(in.p);
    printf("%-8s%-34s%11.2f       %11.2f                   %-9s\n", "memory",
           "allocations per reply", ours, theirs, "calls");
    report("memory", "allocations per reply", ours, theirs, "calls", 0);
}

/* ------------------------------------------------------------- instructions */

/* The work of the child process of measure_instructions. */
static int count_only(const char *who, const char *count)
{
    bytes in = {NULL, 0, 0};
    uint64_t replies;

    small_replies(&in, (size_t)strtoul(count, NULL, 10));
    if (who[0] == 'o')
        ours_parse(&in, PIECE, 0, &replies);
    else if (who[0] == 't')
        peer_parse(&in, PIECE, 0, &replies);
    else if (who[0] == 'f')
        floor_parse(&in, PIECE, 0, &replies);
    free(in.p);
    return 0;
}

static double instructions_of(const char *self, const char *who, int count)
{
    char line[512], *at;
    double n = 0;
    FILE *out;

    snprintf(line, sizeof line,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
             "'%s' --count %s %d 2>&1", self, who, count);
    out = popen(line, "r");
    if (out == NULL)
        return 0;
    while (fgets(line, sizeof line, out) != NULL) {
        at = strstr(line, "Collected : ");
        if (at != NULL)
            n = strtod(at + 12, NULL);
    }
    pclose(out);
    return n;
}

static double instructions_per_reply(const char *self, const char *who)
{
    int few = 2000, many = quick ? 4000 : 42000;
    double short_run = instructions_of(self, who, few);
    double long_run = instructions_of(self, who, many);

    return (long_run - short_run) / (many - few);
}

static void measure_instructions(const char *self)
{
    double making = instructions_per_reply(self, "none");
    double ours = instructions_per_reply(self, "ours") - making;
    double theirs = instructions_per_reply(self, "theirs") - making;
    double walking = instructions_per_reply(self, "floor") - making;

    if (ours <= 0 || theirs <= 0) {
        printf("%-8s%-34s not measured: no valgrind\n", "parse",
               "instructions per small reply");
        return;
    }
    printf("%-8s%-34s%11.1f       %11.1f      %10.1f  %-9s %7.2f×\n", "parse",
           "instructions per small reply", ours, theirs, walking, "instr",
           theirs / ours);
    report("parse", "instructions per small reply", ours, theirs, "instr", 0);
}

/* --------------------------------------------------------------------- main */

int main(int argc, char **argv)
{
    bytes in = {NULL, 0, 0};
    size_t part;

    quick = getenv("BENCH_QUICK") != NULL;
    runs_n = quick ? 1 : RUNS;
    part = quick ? 20 : 1;
    if (argc == 4 && strcmp(argv[1], "--count") == 0)
        return count_only(argv[2], argv[3]);
    if (argc > 1 && (tsv = fopen(argv[1], "a")) == NULL)
        die("cannot write the file of results");
    printf("%-8s%-34s%11s       %11s       %10s  %-9s %8s\n", "", "", "relet",
           "hiredis", "floor", "unit", "ratio");
    small_replies(&in, 100000 / part);
    measure_both("small replies, pipelined", &in, PIECE, 2);
    integer_arrays(&in, 2000 / part);
    measure_both("arrays of 100 integers", &in, PIECE, 2);
    stream_entries(&in, 1000 / part);
    measure_both("XREADGROUP of 20 entries", &in, PIECE, 2);
    bulks(&in, 4000 / part, 4096);
    measure_both("4 KiB bulks", &in, PIECE, 2);
    bulks(&in, quick ? 4 : 32, 1 << 20);
    measure_both("1 MiB bulks", &in, PIECE, 1);
    small_replies(&in, 50000 / part);
    measure_both("small, one byte at a time", &in, 1, 1);
    small_replies(&in, 650000 / part);
    measure_both("small, 4 MiB at a time", &in, 4 << 20, 1);
    measure_encode("SET, 3 arguments, 16 bytes", 16, 200000 / (int)part);
    measure_encode("SET, 3 arguments, 100 bytes", 100, 200000 / (int)part);
    measure_instructions(argv[0]);
    peer_counted();
    measure_heap();
    measure_allocations();
    free(in.p);
    if (tsv != NULL)
        fclose(tsv);
    return 0;
}
