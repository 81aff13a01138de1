/* SPDX-License-Identifier: MIT
 *
 * queue_bench.c - a producer and a worker of a queue, for tests/bench/peers.sh.
 *
 *     queue_bench work PORT QUEUE HANDLERS COUNT
 *     queue_bench put PORT QUEUE COUNT WAY
 *
 * Arguments and output are those of tests/bench/peers.mjs: `ready` once it is
 * connected, and at the end the figures, in microseconds of the monotonic
 * clock, which all processes share, in microseconds of CPU, and in KB. A
 * producer begins with the first byte of its input. WAY is
 *
 *   N        one job a call, N calls under way
 *   bulk     100 jobs a call, 8 calls under way
 *   everyN   one job every N ms or so, for an idle worker
 *
 * A payload is 100 bytes: its number from 0 on, the time of its put, and
 * filling. The worker takes as many jobs as it has handlers, which do no work.
 * It ends when all COUNT jobs have come and the server knows of their ends. */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "relet.h"

enum { PAYLOAD = 100, BULK = 100, BULK_UNDER_WAY = 8 };

static relet *client;
static const char *queue;
static int count;

static void die(const char *why, const char *detail)
{
    fprintf(stderr, "queue_bench: %s: %s\n", why, detail);
    exit(1);
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* Returns the largest resident size of this program. ru_maxrss would include
 * the parent of which the process began as a copy. */
static long resident_kb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[120];
    long kb = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmHWM: %ld", &kb) == 1)
            break;
    if (f != NULL)
        (void)fclose(f);
    return kb;
}

static void client_open(const char *port, uint32_t room)
{
    char url[64];
    relet_config c;
    relet_fault fault;
    relet_event ev;

    snprintf(url, sizeof url, "redis://127.0.0.1:%s", port);
    relet_config_init(&c);
    c.workers_max = 1;
    c.jobs_max = room;
    client = relet_open(url, &c, NULL, &fault);
    if (client == NULL)
        die("relet_open", fault.text);
    if (relet_wait(client, &ev, 5000) != 1 || ev.kind != RELET_EV_UP)
        die("no connection", url);
}

/* ------------------------------------------------------------------ produce */

static int put_next; /* the number of the next payload                       */

static void put_some(int n)
{
    static char payload[BULK][PAYLOAD + 1];
    relet_job jobs[BULK];
    int i, used;

    memset(jobs, 0, sizeof jobs);
    for (i = 0; i < n; i++) {
        used = snprintf(payload[i], sizeof payload[i], "%8d %18lld ",
                        put_next++, (long long)now_us());
        memset(payload[i] + used, 'x', (size_t)(PAYLOAD - used));
        jobs[i].payload.p = payload[i];
        jobs[i].payload.n = PAYLOAD;
    }
    if (relet_queue_put(client, relet_str(queue), jobs, (size_t)n, 0, NULL) !=
        0)
        die("relet_queue_put", relet_refusal(client));
}

static void put_answer(void)
{
    relet_event ev;

    if (relet_wait(client, &ev, 30000) != 1)
        die("a put was not answered", "30 s");
    if (ev.kind != RELET_EV_REPLY)
        die("not expected", relet_kind_text(ev.kind));
}

/* Puts n jobs a call and keeps `window` calls under way. */
static void put_all(int n, int window)
{
    int calls = 0, answers = 0;

    while (answers < calls || put_next < count) {
        for (; put_next < count && calls - answers < window; calls++)
            put_some(count - put_next < n ? count - put_next : n);
        put_answer();
        answers++;
    }
}

static void put_slowly(int ms)
{
    struct timespec pause = {0, 0};

    while (put_next < count) {
        pause.tv_nsec = (ms + rand() % 7) * 1000000L;
        nanosleep(&pause, NULL);
        put_some(1);
        put_answer();
    }
}

static void produce(const char *way)
{
    int64_t begin, cpu;

    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF)
        die("nobody", "says when");
    begin = now_us();
    cpu = cpu_us();
    if (strcmp(way, "bulk") == 0)
        put_all(BULK, BULK_UNDER_WAY);
    else if (strncmp(way, "every", 5) == 0)
        put_slowly(atoi(way + 5));
    else if (atoi(way) > 0)
        put_all(1, atoi(way));
    else
        die("no such way", way);
    printf("begin=%lld end=%lld cpu=%lld rss=%ld\n", (long long)begin,
           (long long)now_us(), (long long)(cpu_us() - cpu), resident_kb());
}

/* --------------------------------------------------------------------- work */

static uint8_t *came;     /* by number: 1 if the job came                    */
static int32_t *late_us;  /* from put to handler, in order of arrival        */
static int came_n, came_twice;
static int64_t work_cpu, work_first; /* at the first job                     */

static void work_count(const relet_work *w)
{
    char text[PAYLOAD + 1];
    long long put_at = 0;
    int number = -1;

    if (w->job.payload.n != PAYLOAD)
        die("an odd payload", "too short, too long");
    memcpy(text, w->job.payload.p, PAYLOAD);
    text[PAYLOAD] = '\0';
    if (sscanf(text, "%d %lld", &number, &put_at) != 2 || number < 0 ||
        number >= count)
        die("an odd payload", text);
    if (came_n == 0) {
        work_cpu = cpu_us();
        work_first = now_us();
    }
    came_twice += came[number];
    if (!came[number])
        late_us[came_n++] = (int32_t)(now_us() - put_at);
    came[number] = 1;
}

static void work_on(const relet_event *ev, int worker)
{
    static const relet_span nothing = {NULL, 0};
    relet_work w;
    size_t at = 0;

    while (relet_jobs_next(client, ev, &at, &w)) {
        work_count(&w);
        if (relet_job_done(client, worker, w.number, nothing) != 0)
            die("relet_job_done", relet_refusal(client));
    }
}

static int by_size(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

static void work(uint32_t handlers)
{
    relet_worker_config c;
    relet_event ev;
    int worker, stopping = 0, got;

    memset(&c, 0, sizeof c);
    c.queue = relet_str(queue);
    c.room = handlers;
    worker = relet_worker_start(client, &c);
    if (worker < 0)
        die("relet_worker_start", relet_refusal(client));
    got = relet_wait(client, &ev, 300); /* 0: no job came; it sleeps */
    printf("ready\n");
    fflush(stdout);
    for (;; got = 0) {
        if (!got && relet_wait(client, &ev, 30000) != 1)
            die("nothing comes any more", "30 s");
        if (ev.kind == RELET_EV_JOBS)
            work_on(&ev, worker);
        else if (ev.kind == RELET_EV_WORKER_ENDED)
            break;
        else
            die("not expected", relet_kind_text(ev.kind));
        if (came_n == count && !stopping++)
            (void)relet_worker_stop(client, worker);
    }
}

static void work_report(void)
{
    int64_t end = now_us();

    qsort(late_us, (size_t)count, sizeof *late_us, by_size);
    printf("first=%lld end=%lld jobs=%d twice=%d cpu=%lld rss=%ld p50=%ld "
           "p99=%ld\n",
           (long long)work_first, (long long)end, came_n, came_twice,
           (long long)(cpu_us() - work_cpu), resident_kb(),
           (long)late_us[count / 2],
           (long)late_us[(count * 99 + 99) / 100 - 1]);
}

int main(int argc, char **argv)
{
    uint32_t handlers;

    if (argc != 6)
        return 0; /* only peers.sh calls this program */
    queue = argv[3];
    if (strcmp(argv[1], "put") == 0) {
        count = atoi(argv[4]);
        client_open(argv[2], 1);
        produce(argv[5]);
    } else {
        handlers = (uint32_t)atoi(argv[4]);
        count = atoi(argv[5]);
        came = (uint8_t *)calloc((size_t)count, sizeof *came);
        late_us = (int32_t *)calloc((size_t)count, sizeof *late_us);
        if (came == NULL || late_us == NULL)
            die("memory", "none");
        client_open(argv[2], handlers);
        work(handlers);
        work_report();
    }
    relet_close(client);
    return 0;
}
