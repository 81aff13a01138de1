/* SPDX-License-Identifier: MIT
 *
 * lua_bench.c - what a script costs, its commands apart.
 *
 * The script is one that renews a lease: about 30 operations and five calls,
 * on a host that answers at once. Run and reply are timed together; the best
 * of several rounds counts. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "lua_rig.h"

static const char bench_lease[] =
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

static const char bench_loop[] =
    "local n = 0 for i = 1, 100000 do n = n + i % 7 end return n";

static const char bench_tables[] =
    "local t = {} for i = 1, 10000 do t[i] = i end\n"
    "local s = 0 for i, v in ipairs(t) do s = s + v end return s";

static const char bench_calls[] =
    "local function f(n) if n < 2 then return n end return f(n - 1) + "
    "f(n - 2) end return f(20)";

static int bench_call(void *user, const relet_span *argv, uint32_t argc,
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

static double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void bench_once(lua_rig *r, const rlt_lua_code *code,
                       const rlt_lua_call *call)
{
    rlt_lua_result result;

    if (!rlt_lua_run(&r->L, code, call, &result)) {
        printf("%.*s\n", (int)result.error.n, result.error.p);
        exit(1);
    }
    rlt_luaresp_write(&r->L, &r->out, &result.value);
    rlt_buf_drop(&r->out.buf, rlt_buf_used(&r->out.buf));
    rlt_lua_end(&r->L);
}

static void bench(lua_rig *r, const char *name, const char *source, int times)
{
    static const relet_span keys[] = {{"q:lease", 7}, {"q:meta", 6}};
    static const relet_span args[] = {{"me-1", 4}, {"17", 2}, {"30000", 5}};
    char error[256];
    rlt_lua_host host;
    rlt_lua_call call;
    rlt_lua_code *code;
    double best = 1e9, start;
    long allocations;
    int round, i;

    memset(&host, 0, sizeof host);
    host.user = r;
    host.call = bench_call;
    memset(&call, 0, sizeof call);
    call.keys = keys;
    call.keys_n = 2;
    call.args = args;
    call.args_n = 3;
    call.host = &host;
    call.steps_max = INT64_MAX / 2;
    call.memory_max = (size_t)64 << 20;
    if (rlt_lua_compile(&r->L, relet_str(source), "user_script", &code, error,
                        sizeof error) != 0) {
        printf("%s\n", error);
        exit(1);
    }
    for (i = 0; i < 10; i++)
        bench_once(r, code, &call);
    allocations = r->allocations;
    for (round = 0; round < 7; round++) {
        start = bench_now();
        for (i = 0; i < times; i++)
            bench_once(r, code, &call);
        start = (bench_now() - start) / times;
        best = start < best ? start : best;
    }
    printf("%-22s %10.3f us   %5lu bytes of code, %ld allocations\n", name,
           best * 1e6, (unsigned long)rlt_lua_code_size(code),
           r->allocations - allocations);
    rlt_lua_code_free(&r->L, code);
}

int main(void)
{
    lua_rig r;
    char error[256];
    rlt_lua_code *code;
    double start, best = 1e9;
    int i, round;

    if (!lua_rig_open(&r, -1))
        return 1;
    r.fail_at = 1L << 60; /* counts allocations                              */
    printf("an interpreter at rest %10lu bytes\n", (unsigned long)r.held);
    bench(&r, "lease, five calls", bench_lease, 20000);
    bench(&r, "loop of 100 000", bench_loop, 20);
    bench(&r, "table of 10 000", bench_tables, 50);
    bench(&r, "21 891 calls", bench_calls, 20);
    for (round = 0; round < 5; round++) {
        start = bench_now();
        for (i = 0; i < 2000; i++) {
            if (rlt_lua_compile(&r.L, relet_str(bench_lease), "user_script",
                                &code, error, sizeof error) != 0)
                return 1;
            rlt_lua_code_free(&r.L, code);
        }
        start = (bench_now() - start) / 2000;
        best = start < best ? start : best;
    }
    printf("%-22s %10.3f us\n", "compile the lease", best * 1e6);
    lua_rig_close(&r);
    return 0;
}
