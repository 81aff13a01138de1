/* SPDX-License-Identifier: MIT
 *
 * lua_rig.h - an interpreter with a small fixed set of data.
 *
 * It runs a script and gives the reply that EVAL would get. It knows a few
 * commands on a few keys; real servers are filled so that they give the same
 * replies (lua_rig_fill). */
#ifndef LUA_RIG_H
#define LUA_RIG_H

#include <stdio.h>
#include <stdlib.h>

#include "lua.h"
#include "luaresp.h"
#include "sha1.h"

typedef struct lua_rig {
    rlt_lua L;
    rlt_out out;
    int64_t steps_max;
    size_t memory_max;
    int resp;           /* of the one who asks                               */
    long fail_at;       /* the allocation that fails; -1: none               */
    long allocations;
    size_t held;        /* bytes                                             */
    char reply[256];    /* of the last command                               */
    char logged[256];
} lua_rig;

static void *lua_rig_resize(void *user, void *p, size_t old, size_t size)
{
    lua_rig *r = (lua_rig *)user;

    if (size == 0) {
        free(p);
        r->held -= old;
        return NULL;
    }
    if (r->fail_at >= 0 && r->allocations++ >= r->fail_at)
        return NULL;
    p = realloc(p, size);
    r->held += size - old;
    return p;
}

/* Commands that fill a real server with the same data. */
static const char *const lua_rig_fill[] = {
    "DEL text hash set zset list nothing",
    "SET text v",
    "HSET hash a 1 b 2 c 3",
    "SADD set a b",
    "ZADD zset 1.5 a 2 b",
    "RPUSH list x y z",
    NULL};

typedef struct lua_rig_answer {
    const char *command, *resp2, *resp3;
} lua_rig_answer;

static const lua_rig_answer lua_rig_answers[] = {
    {"get text", "$1\r\nv\r\n", NULL},
    {"get nothing", "$-1\r\n", "_\r\n"},
    {"incr text", "-ERR value is not an integer or out of range\r\n", NULL},
    {"lrange list 0 -1", "*3\r\n$1\r\nx\r\n$1\r\ny\r\n$1\r\nz\r\n", NULL},
    {"llen list", ":3\r\n", NULL},
    {"hgetall hash",
     "*6\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n$1\r\nc\r\n$1\r\n3"
     "\r\n",
     "%3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n$1\r\nc\r\n$1\r\n3"
     "\r\n"},
    {"hgetall nothing", "*0\r\n", "%0\r\n"},
    {"sismember set a", ":1\r\n", NULL},
    {"zscore zset a", "$3\r\n1.5\r\n", ",1.5\r\n"},
    {"zrange zset 0 -1 withscores",
     "*4\r\n$1\r\na\r\n$3\r\n1.5\r\n$1\r\nb\r\n$1\r\n2\r\n",
     "*2\r\n*2\r\n$1\r\na\r\n,1.5\r\n*2\r\n$1\r\nb\r\n,2\r\n"},
    {"mget text nothing text", "*3\r\n$1\r\nv\r\n$-1\r\n$1\r\nv\r\n",
     "*3\r\n$1\r\nv\r\n_\r\n$1\r\nv\r\n"},
    {"mget nothing text nothing nothing",
     "*4\r\n$-1\r\n$1\r\nv\r\n$-1\r\n$-1\r\n",
     "*4\r\n_\r\n$1\r\nv\r\n_\r\n_\r\n"},
    {"llen text",
     "-WRONGTYPE Operation against a key holding the wrong kind of value"
     "\r\n", NULL},
    {"set text", "-ERR Wrong number of args calling Redis command from "
                 "script\r\n", NULL},
    {"ping", "+PONG\r\n", NULL},
    {"debug jmap", "-ERR This Redis command is not allowed from script\r\n",
     NULL}};

static size_t lua_rig_join(char *out, size_t cap, const relet_span *argv,
                           uint32_t argc)
{
    size_t n = 0;
    uint32_t i;

    for (i = 0; i < argc; i++) {
        if (n + argv[i].n + 2 > cap)
            return 0;
        if (i > 0)
            out[n++] = ' ';
        memcpy(out + n, argv[i].p, argv[i].n);
        n += argv[i].n;
    }
    out[n] = 0;
    return n;
}

static int lua_rig_call(void *user, const relet_span *argv, uint32_t argc,
                        int resp, relet_span *reply)
{
    lua_rig *r = (lua_rig *)user;
    char line[128];
    size_t i, n = lua_rig_join(line, sizeof line, argv, argc);

    *reply = relet_str("-ERR Unknown Redis command called from script\r\n");
    if (argc == 2 && argv[0].n == 4 && memcmp(argv[0].p, "echo", 4) == 0 &&
        argv[1].n < 200) {
        n = (size_t)sprintf(r->reply, "$%u\r\n", (unsigned)argv[1].n);
        memcpy(r->reply + n, argv[1].p, argv[1].n);
        memcpy(r->reply + n + argv[1].n, "\r\n", 2);
        reply->p = r->reply;
        reply->n = n + argv[1].n + 2;
        return 0;
    }
    for (i = 0; i < sizeof lua_rig_answers / sizeof lua_rig_answers[0]; i++) {
        const lua_rig_answer *a = &lua_rig_answers[i];

        if (strlen(a->command) == n && memcmp(a->command, line, n) == 0)
            *reply = relet_str(resp == 3 && a->resp3 ? a->resp3 : a->resp2);
    }
    return 0;
}

static void lua_rig_log(void *user, int level, relet_span text)
{
    lua_rig *r = (lua_rig *)user;

    sprintf(r->logged, "%d %.*s", level,
            (int)(text.n < 200 ? text.n : 200), text.p);
}

/* 1, or 0: no memory. */
static int lua_rig_open(lua_rig *r, long fail_at)
{
    rlt_memory memory;

    memset(r, 0, sizeof *r);
    r->fail_at = fail_at;
    r->steps_max = 10000000;
    r->memory_max = (size_t)64 << 20;
    r->resp = 2;
    memory.resize = lua_rig_resize;
    memory.user = r;
    rlt_out_init(&r->out, memory, (size_t)16 << 20);
    return rlt_lua_init(&r->L, memory) == 0;
}

static void lua_rig_close(lua_rig *r)
{
    rlt_lua_free(&r->L);
    rlt_out_free(&r->out);
}

static const relet_span lua_rig_keys[] = {{"text", 4}, {"k 2", 3}};
static const relet_span lua_rig_args[] = {
    {"1", 1}, {"two", 3}, {"", 0}, {"3.5", 3}, {"a\0b", 3}};

/* As servers end the sentence of a script that failed. */
static void lua_rig_say_error(lua_rig *r, const rlt_lua_result *result,
                              relet_span source)
{
    char text[1024], sha1[41];
    size_t n = result->error.n < 800 ? result->error.n : 800;
    relet_span s;

    memcpy(text, result->error.p, n);
    rlt_sha1_hex(source.p, source.n, sha1);
    sha1[40] = 0;
    if (result->line != 0)
        n += (size_t)sprintf(text + n, " script: %s, on %.*s:%ld.", sha1,
                             (int)result->source.n, result->source.p,
                             (long)result->line);
    s.p = text;
    s.n = n;
    rlt_out_error_span(&r->out, s);
}

/* Compile, run, reply. Until lua_rig_done the value is there, too. */
static int lua_rig_start(lua_rig *r, relet_span source,
                         rlt_lua_code **code, rlt_lua_result *result)
{
    char error[512], text[600];
    rlt_lua_host host;
    rlt_lua_call call;
    int e;

    r->out.resp = r->resp;
    e = rlt_lua_compile(&r->L, source, "user_script", code, error,
                        sizeof error);
    if (e != 0) {
        *code = NULL;
        sprintf(text, "ERR Error compiling script (new function): %s", error);
        rlt_out_error(&r->out, e == RELET_E_MEMORY ? "OOM" : text);
        return 0;
    }
    memset(&host, 0, sizeof host);
    host.user = r;
    host.call = lua_rig_call;
    host.log = lua_rig_log;
    memset(&call, 0, sizeof call);
    call.keys = lua_rig_keys;
    call.keys_n = 2;
    call.args = lua_rig_args;
    call.args_n = 5;
    call.host = &host;
    call.steps_max = r->steps_max;
    call.memory_max = r->memory_max;
    return rlt_lua_run(&r->L, *code, &call, result);
}

/* The reply to EVAL, lent until the next one. */
static inline relet_span lua_rig_eval(lua_rig *r, relet_span source)
{
    rlt_lua_code *code;
    rlt_lua_result result;
    relet_span s;

    rlt_buf_drop(&r->out.buf, rlt_buf_used(&r->out.buf));
    r->out.failed = 0;
    if (lua_rig_start(r, source, &code, &result))
        (void)rlt_luaresp_write(&r->L, &r->out, &result.value);
    else if (code)
        lua_rig_say_error(r, &result, source);
    rlt_lua_end(&r->L);
    rlt_lua_code_free(&r->L, code);
    s.p = (const char *)rlt_buf_head(&r->out.buf);
    s.n = rlt_buf_used(&r->out.buf);
    if (r->out.failed || s.p == NULL)
        s = relet_str("(no reply)");
    return s;
}

#endif
