/* SPDX-License-Identifier: MIT
 *
 * lua.h - scripts: compiled once, run often.
 *
 * Lua 5.1 as the scripts of a Redis 7.0 see it. Left out: metatables,
 * coroutines, load, loadstring, collectgarbage, gcinfo, math.random and the
 * functions of angles (sin, atan2, …), cjson, cmsgpack, bit and struct. A
 * script that uses one of them gets the error for a global that does not exist,
 * or a nil.
 *
 * An interpreter keeps its libraries and some memory between runs; a run in
 * the steady state allocates nothing. Whatever a run makes is gone with
 * rlt_lua_end; there is no collector, so a run can make no more than its
 * memory limit over all. Limits end a script with an error that it cannot
 * catch. Source and calls that nest as deep as they may take up to 256 KB of
 * the C stack (musl gives a thread 128 KB by default). */
#ifndef RLT_LUA_H
#define RLT_LUA_H

#include "luavm.h"

#define RLT_LUA_REDIS_VERSION "7.0.15"
#define RLT_LUA_REDIS_VERSION_NUMBER 0x0007000f

/* Immutable, and independent of the interpreter that compiled it. */
typedef struct rlt_lua_code {
    rlt_luamem memory;
    const rlt_luaproto *main;
    const char *chunk;
} rlt_lua_code;

/* The functions that the server has for scripts. */
typedef struct rlt_lua_host {
    void *user;

    /* Run a command. *reply is the reply that a server would send, in protocol
     * resp (2 or 3), also an error; it is lent until the next call. Returns the
     * steps that the command took beside those of any call, 0 or more; or a
     * negative number without memory for the reply: that ends the script. */
    int (*call)(void *user, const relet_span *argv, uint32_t argc, int resp,
                relet_span *reply);

    /* redis.acl_check_cmd: 1 when its user may run this, 0 when not, negative
     * when there is no such command. May be NULL. */
    int (*may)(void *user, const relet_span *argv, uint32_t argc);

    /* redis.log; 0 is debug, 3 a warning. May be NULL. */
    void (*log)(void *user, int level, relet_span text);

    /* redis.set_repl; bit 0 the log, bit 1 replicas. May be NULL. */
    void (*set_repl)(void *user, int what);
} rlt_lua_host;

typedef struct rlt_lua_call {
    const relet_span *keys, *args; /* lent until rlt_lua_end                 */
    uint32_t keys_n, args_n;
    const rlt_lua_host *host;
    int64_t steps_max;  /* calls, turns of loops, and what libraries do      */
    size_t memory_max;  /* bytes that the run may take                       */
} rlt_lua_call;

typedef struct rlt_lua_result {
    rlt_luaval value;   /* what it returned; for rlt_luaresp_write           */

    /* When it failed: the error with its code, "ERR user_script:1: …", and
     * where it was raised. If the source is known, servers append it and the
     * line, even line -1: " script: SHA1, on @user_script:1.", or
     * " script: SHA1, on =[C]:-1.". */
    relet_span error;
    relet_span source;  /* "@user_script", "=[C]"; empty: not known          */
    int64_t line;       /* -1: in no line of the script                      */
    int counted;        /* the command that failed has been counted already  */
    int fatal;          /* a limit of ours, or no memory                     */
} rlt_lua_result;

/* 0, or RELET_E_MEMORY. */
RELET_PRIVATE int rlt_lua_init(rlt_lua *L, rlt_memory memory);
RELET_PRIVATE void rlt_lua_free(rlt_lua *L);

/* 0 and a code that rlt_lua_code_free frees. RELET_E_CONFIG: the text is
 * wrong, error says how ("user_script:1: …"). RELET_E_MEMORY. chunk is kept;
 * L may be running. */
RELET_PRIVATE int rlt_lua_compile(rlt_lua *L, relet_span source,
                                  const char *chunk, rlt_lua_code **out,
                                  char *error, size_t error_cap);
RELET_PRIVATE void rlt_lua_code_free(rlt_lua *L, rlt_lua_code *code);
RELET_PRIVATE size_t rlt_lua_code_size(const rlt_lua_code *code);

/* Run it: 1, or 0 when it ended in an error. In both cases *out is lent until
 * rlt_lua_end, which must come before the next run. */
RELET_PRIVATE int rlt_lua_run(rlt_lua *L, const rlt_lua_code *code,
                              const rlt_lua_call *call, rlt_lua_result *out);
RELET_PRIVATE void rlt_lua_end(rlt_lua *L);

/* The protocol that the script has chosen: 2, or 3 by redis.setresp. */
RELET_PRIVATE int rlt_lua_resp(const rlt_lua *L);

#endif
