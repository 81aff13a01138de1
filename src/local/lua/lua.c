/* SPDX-License-Identifier: MIT
 *
 * lua.c - scripts: compiled once, run often.
 *
 * The libraries are made once and are read-only, as servers have them; a run
 * only fills in KEYS and ARGV. */
#include "lua.h"

#include "luaexec.h"
#include "lualib.h"
#include "luaparse.h"
#include "luaresp.h"

#define LUA_CHUNK_FIRST ((size_t)4096)
#define LUA_CODE_FIRST ((size_t)1024)
#define LUA_KEEP ((size_t)65536) /* bytes that wait for the next run          */
#define LUA_STACK_KEEP 1024u     /* and values, and calls                     */
#define LUA_FRAMES_KEEP 256u

/* -------------------------------------------------------------- libraries */

/* A field of a table that lasts. 1, or 0: no memory. */
static int lua_field(rlt_lua *L, rlt_luatab *t, const char *name,
                     rlt_luaval v)
{
    rlt_luastr *s = rlt_luastr_lend(&L->base, name, strlen(name));
    rlt_luaval key, *slot;

    if (s == NULL)
        return 0;
    key = rlt_luaval_string(s);
    slot = rlt_luatab_slot(&L->base, t, &key);
    if (slot == NULL)
        return 0;
    *slot = v;
    return 1;
}

static int lua_functions(rlt_lua *L, rlt_luatab *t,
                         const rlt_luabuiltin *(*library)(size_t *n))
{
    size_t n, i;
    const rlt_luabuiltin *all = library(&n);
    rlt_luaval v;

    for (i = 0; i < n; i++) {
        v.u.b = &all[i];
        v.type = RLT_LUA_BUILTIN;
        if (!lua_field(L, t, all[i].name, v))
            return 0;
    }
    return 1;
}

/* NULL: no memory. */
static rlt_luatab *lua_library(rlt_lua *L, const char *name,
                               const rlt_luabuiltin *(*library)(size_t *n))
{
    rlt_luatab *t = rlt_luatab_new(&L->base, 0, 0);

    if (t == NULL || !lua_functions(L, t, library) ||
        !lua_field(L, L->globals, name, rlt_luaval_table(t)))
        return NULL;
    t->readonly = 1;
    t->serial = ++L->serial;
    return t;
}

static int lua_text_field(rlt_lua *L, rlt_luatab *t, const char *name,
                          const char *text)
{
    rlt_luastr *s = rlt_luastr_lend(&L->base, text, strlen(text));

    return s && lua_field(L, t, name, rlt_luaval_string(s));
}

static int lua_constants(rlt_lua *L, rlt_luatab *redis, rlt_luatab *math)
{
    static const struct {
        const char *name;
        int value;
    } all[] = {{"LOG_DEBUG", 0},    {"LOG_VERBOSE", 1},
               {"LOG_NOTICE", 2},   {"LOG_WARNING", 3},
               {"REPL_NONE", 0},    {"REPL_AOF", 1},
               {"REPL_SLAVE", 2},   {"REPL_REPLICA", 2},
               {"REPL_ALL", 3},
               {"REDIS_VERSION_NUM", RLT_LUA_REDIS_VERSION_NUMBER}};
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!lua_field(L, redis, all[i].name,
                       rlt_luaval_number(all[i].value)))
            return 0;
    return lua_text_field(L, redis, "REDIS_VERSION", RLT_LUA_REDIS_VERSION) &&
           lua_field(L, math, "pi",
                     rlt_luaval_number(3.14159265358979323846)) &&
           lua_field(L, math, "huge",
                     rlt_luaval_number(rlt_luanum_infinity()));
}

static int lua_libraries(rlt_lua *L)
{
    rlt_luatab *g, *redis, *math;

    L->globals = g = rlt_luatab_new(&L->base, 0, 32);
    if (g == NULL)
        return 0;
    L->string_library = lua_library(L, "string", rlt_lualib_string);
    redis = lua_library(L, "redis", rlt_lualib_redis);
    math = lua_library(L, "math", rlt_lualib_math);
    if (L->string_library == NULL || redis == NULL || math == NULL ||
        lua_library(L, "table", rlt_lualib_table) == NULL ||
        !lua_constants(L, redis, math) ||
        !lua_functions(L, g, rlt_lualib_base) ||
        !lua_text_field(L, g, "_VERSION", "Lua 5.1") ||
        !lua_field(L, g, "_G", rlt_luaval_table(g)) ||
        !lua_field(L, g, "KEYS", rlt_luaval_bool(0)) ||
        !lua_field(L, g, "ARGV", rlt_luaval_bool(0)))
        return 0;
    g->readonly = g->strict = 1;
    L->keys = rlt_luatab_global(g, "KEYS");
    L->argv = rlt_luatab_global(g, "ARGV");
    return 1;
}

RELET_PRIVATE int rlt_lua_init(rlt_lua *L, rlt_memory memory)
{
    memset(L, 0, sizeof *L);
    L->memory = memory;
    L->resp = 2;
    L->chunk = "user_script";
    rlt_luamem_init(&L->base, memory, LUA_CHUNK_FIRST, 0);
    rlt_luamem_init(&L->run, memory, LUA_CHUNK_FIRST, 0);
    if (memory.resize != NULL && lua_libraries(L))
        return 0;
    rlt_lua_free(L);
    return RELET_E_MEMORY;
}

static void lua_free_stacks(rlt_lua *L)
{
    if (L->stack)
        (void)L->memory.resize(L->memory.user, L->stack,
                               L->stack_cap * sizeof *L->stack, 0);
    if (L->frames)
        (void)L->memory.resize(L->memory.user, L->frames,
                               L->frames_cap * sizeof *L->frames, 0);
    L->stack = NULL;
    L->frames = NULL;
    L->stack_cap = L->frames_cap = 0;
}

RELET_PRIVATE void rlt_lua_free(rlt_lua *L)
{
    lua_free_stacks(L);
    rlt_luamem_free(&L->run);
    rlt_luamem_free(&L->base);
}

/* ---------------------------------------------------------------- compiling */

/* The code's chain of chunks holds the code itself. */
RELET_PRIVATE int rlt_lua_compile(rlt_lua *L, relet_span source,
                                  const char *chunk, rlt_lua_code **out,
                                  char *error, size_t error_cap)
{
    rlt_luamem memory, scratch;
    rlt_lua_code *code;
    const rlt_luaproto *main = NULL;

    error[0] = 0;
    rlt_luamem_init(&memory, L->memory, LUA_CODE_FIRST, 0);
    rlt_luamem_init(&scratch, L->memory, LUA_CHUNK_FIRST, 0);
    code = (rlt_lua_code *)rlt_luamem_get(&memory, sizeof *code);
    if (code)
        main = rlt_luaparse(source, chunk, &memory, &scratch, error,
                            error_cap);
    rlt_luamem_free(&scratch);
    if (main == NULL) {
        rlt_luamem_free(&memory);
        return code == NULL || strcmp(error, "not enough memory") == 0 ||
                       error[0] == 0
                   ? RELET_E_MEMORY
                   : RELET_E_CONFIG;
    }
    code->main = main;
    code->chunk = chunk;
    code->memory = memory;
    *out = code;
    return 0;
}

RELET_PRIVATE void rlt_lua_code_free(rlt_lua *L, rlt_lua_code *code)
{
    rlt_luamem memory;

    (void)L;
    if (code == NULL)
        return;
    memory = code->memory;
    rlt_luamem_free(&memory);
}

RELET_PRIVATE size_t rlt_lua_code_size(const rlt_lua_code *code)
{
    return code->memory.held;
}

/* ------------------------------------------------------------------ running */

static int lua_list(rlt_lua *L, rlt_luaval *slot, const relet_span *all,
                    uint32_t n)
{
    rlt_luatab *t = rlt_luavm_table(L, n, 0);
    rlt_luastr *s;
    uint32_t i;

    if (t == NULL)
        return -1;
    for (i = 0; i < n; i++) {
        s = rlt_luastr_lend(&L->run, all[i].p, all[i].n);
        if (s == NULL)
            return rlt_luaerr_memory(L);
        t->array[i] = rlt_luaval_string(s);
    }
    *slot = rlt_luaval_table(t);
    return 0;
}

static int lua_start(rlt_lua *L, const rlt_lua_code *code,
                     const rlt_lua_call *call)
{
    rlt_luaval f;

    if (lua_list(L, L->keys, call->keys, call->keys_n) < 0 ||
        lua_list(L, L->argv, call->args, call->args_n) < 0 ||
        rlt_luaexec_closure(L, &f, code->main, NULL, NULL) < 0 ||
        rlt_luavm_room(L, RLT_LUA_SLOTS) < 0)
        return -1;
    rlt_luavm_push(L, f);
    return rlt_luavm_call(L, 0, 0, 1);
}

/* Servers see C strings. */
static relet_span lua_c_string(const rlt_luastr *s)
{
    relet_span text = rlt_luastr_span(s);

    return rlt_span_cut(&text, '\0');
}

/* The error as the server tells it: a text gets the code ERR in front. */
static void lua_failed(rlt_lua *L, rlt_lua_result *out)
{
    rlt_luaval v = L->error;
    rlt_luabytes b;
    relet_span text;

    out->fatal = L->fatal;
    out->line = rlt_luaerr_line(L);
    if (out->line != 0)
        out->source = relet_str(out->line > 0 ? "@user_script" : "=[C]");
    out->error = relet_str("ERR not enough memory");
    if (v.type == RLT_LUA_TABLE) {
        out->counted = !RLT_LUA_IS_FALSE(
            rlt_luatab_get_text(v.u.t, "ignore_error_stats_update"));
        v = *rlt_luatab_get_text(v.u.t, "err");
        if (v.type == RLT_LUA_STRING)
            out->error = lua_c_string(v.u.s);
        else
            out->error = relet_str("ERR unknown error");
        return;
    }
    L->steps = INT64_MAX;
    L->top = 0;
    if (rlt_luavm_room(L, RLT_LUA_SLOTS) < 0 || rlt_luapush_shown(L, &v) < 0)
        return;
    v = L->stack[--L->top];
    text = lua_c_string(v.u.s);
    rlt_luabytes_init(&b, L);
    rlt_luabytes_add(&b, "ERR ", 4);
    rlt_luabytes_add(&b, text.p, text.n);
    if (b.failed)
        return;
    out->error.p = b.p;
    out->error.n = b.n;
}

RELET_PRIVATE int rlt_lua_run(rlt_lua *L, const rlt_lua_code *code,
                              const rlt_lua_call *call, rlt_lua_result *out)
{
    memset(out, 0, sizeof *out);
    L->steps = call->steps_max;
    L->run.cap = call->memory_max;
    L->host = call->host;
    L->chunk = code->chunk;
    L->resp = 2;
    L->top = L->frames_n = L->nesting = 0;
    L->serial = 16;
    L->fatal = 0;
    L->open = NULL;
    L->error = rlt_luaval_nil();
    if (lua_start(L, code, call) < 0) {
        lua_failed(L, out);
        return 0;
    }
    out->value = L->stack[0];
    return 1;
}

RELET_PRIVATE void rlt_lua_end(rlt_lua *L)
{
    *L->keys = *L->argv = rlt_luaval_bool(0);
    L->open = NULL;
    rlt_luamem_reset(&L->run, LUA_KEEP);
    if (L->stack_cap > LUA_STACK_KEEP || L->frames_cap > LUA_FRAMES_KEEP)
        lua_free_stacks(L);
}

RELET_PRIVATE int rlt_lua_resp(const rlt_lua *L)
{
    return L->resp;
}
