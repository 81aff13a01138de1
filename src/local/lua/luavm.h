/* SPDX-License-Identifier: MIT
 *
 * luavm.h - one interpreter: its stack, its calls, its errors.
 *
 * Functions of the script call each other without using the C stack. Only C
 * functions that call back (pcall, sort, gsub, a generic for) use it, and the
 * depth of such calls is limited. An error is a value in the interpreter and a
 * negative return, up to the function that catches it. Running out of steps or
 * of memory is fatal: a script cannot catch it. */
#ifndef RLT_LUAVM_H
#define RLT_LUAVM_H

#include "luanum.h"
#include "luaop.h"
#include "luaval.h"

/* Limits, the first three as in servers. Calls of C within calls of C: */
#define RLT_LUA_NESTING_MAX (RLT_TINY ? 40 : 200)
/* Calls within calls, of any kind: */
#define RLT_LUA_CALLS_MAX (RLT_TINY ? 200 : 16383)
/* Values that one of our functions may put on the stack: */
#define RLT_LUA_RESULTS_MAX 8000
/* Values on the stack altogether. Servers have no such limit; it keeps the
 * stack below 16 MiB. */
#define RLT_LUA_STACK_MAX ((uint32_t)1 << 20)
/* Slots that a builtin finds above its arguments without asking. */
#define RLT_LUA_SLOTS 20

#define RLT_LUA_ALL (-1) /* results wanted: as many as there are             */

typedef struct rlt_luaframe {
    const rlt_luafn *fn; /* NULL: a builtin without state                    */
    const rlt_luaop *pc; /* the next instruction; NULL: a builtin            */
    uint32_t func, base; /* where results go; the first register             */
    int32_t want;        /* results                                          */
    uint32_t tail_calls; /* frames that this one took the place of           */
    int returns_to_c;
} rlt_luaframe;

typedef struct rlt_lua {
    rlt_memory memory;
    rlt_luamem base; /* the libraries                                        */
    rlt_luamem run;  /* what the script makes                                */
    rlt_luaval *stack;
    uint32_t stack_cap, top;
    rlt_luaframe *frames;
    uint32_t frames_cap, frames_n;
    rlt_luacell *open; /* cells on the stack, the highest first              */
    rlt_luaval error;
    int fatal;
    int64_t steps; /* left                                                   */
    uint32_t nesting, serial;
    rlt_luatab *globals, *string_library;
    rlt_luaval *keys, *argv; /* where globals has KEYS and ARGV              */
    const struct rlt_lua_host *host;
    int resp;
    const char *chunk; /* how messages call the script                       */
} rlt_lua;

/* Call the function at stack[func] with the n values above it. Its results
 * take its place; with RLT_LUA_ALL, up to the top. 0, or negative. */
RELET_PRIVATE int rlt_luavm_call(rlt_lua *L, uint32_t func, int n, int want);

/* After a negative return: the stack as it was with so many frames, and the
 * error is still in L->error. */
RELET_PRIVATE void rlt_luavm_unwind(rlt_lua *L, uint32_t frames_n,
                                    uint32_t top, uint32_t nesting);

/* Room for n more values. 0, or negative. */
RELET_PRIVATE int rlt_luavm_room(rlt_lua *L, int n);

/* n steps are taken: 0, or negative when there are not so many left. */
RELET_PRIVATE int rlt_luavm_spend(rlt_lua *L, size_t n);

/* All may be NULL, with the error set. */
RELET_PRIVATE void *rlt_luavm_alloc(rlt_lua *L, size_t n);
RELET_PRIVATE rlt_luatab *rlt_luavm_table(rlt_lua *L, uint32_t array,
                                          uint32_t nodes);
/* A string of n bytes to be written, then sealed. */
RELET_PRIVATE rlt_luastr *rlt_luavm_bytes(rlt_lua *L, size_t n, char **bytes);
RELET_PRIVATE rlt_luastr *rlt_luavm_string(rlt_lua *L, const char *p,
                                           size_t n);

/* t[key] = value as the language has it: 0, or negative. */
RELET_PRIVATE int rlt_luavm_set(rlt_lua *L, rlt_luatab *t,
                                const rlt_luaval *key,
                                const rlt_luaval *value);
RELET_PRIVATE int rlt_luavm_set_int(rlt_lua *L, rlt_luatab *t, int64_t key,
                                    const rlt_luaval *value);

/* 1 and the number that v is or reads as, steps for its bytes; else 0. */
RELET_PRIVATE int rlt_luavm_number(rlt_lua *L, const rlt_luaval *v,
                                   double *out);
/* Steps for the digits of a number: far from 1 there are many. */
RELET_PRIVATE void rlt_luavm_spend_digits(rlt_lua *L, double v);
/* rlt_luanum_text, with its steps. */
RELET_PRIVATE size_t rlt_luavm_text(rlt_lua *L, char *out, double v);
/* A number in place becomes its text. 0, or negative. */
RELET_PRIVATE int rlt_luavm_to_string(rlt_lua *L, rlt_luaval *v);
/* a < b, or a <= b: 1, 0, or negative when they cannot be compared. */
RELET_PRIVATE int rlt_luavm_less(rlt_lua *L, const rlt_luaval *a,
                                 const rlt_luaval *b, int or_equal);

/* Equality that counts its steps: 1, 0, or negative. */
RELET_PRIVATE int rlt_luavm_same(rlt_lua *L, const rlt_luaval *a,
                                 const rlt_luaval *b);

/* There is room: see RLT_LUA_SLOTS. */
static inline void rlt_luavm_push(rlt_lua *L, rlt_luaval v)
{
    rlt_assert(L->top < L->stack_cap);
    L->stack[L->top++] = v;
}

#endif
