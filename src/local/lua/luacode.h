/* SPDX-License-Identifier: MIT
 *
 * luacode.h - the instructions of one function while it is being compiled.
 *
 * An expression is described, not computed, for as long as that helps: a
 * constant may be folded, a comparison be a jump, a field be stored to. These
 * functions turn the description into code; luaparse.c has the grammar. */
#ifndef RLT_LUACODE_H
#define RLT_LUACODE_H

#include "lualex.h"
#include "luaop.h"

#define RLT_LUA_LOCALS_MAX 200
#define RLT_LUA_UPVALUES_MAX 60
#define RLT_LUA_REGISTERS_MAX 250

typedef enum rlt_luaexpr_kind {
    RLT_LUAEXPR_VOID,
    RLT_LUAEXPR_NIL,
    RLT_LUAEXPR_TRUE,
    RLT_LUAEXPR_FALSE,
    RLT_LUAEXPR_CONSTANT, /* info: its index                                 */
    RLT_LUAEXPR_NUMBER,   /* number                                          */
    RLT_LUAEXPR_LOCAL,    /* info: register                                  */
    RLT_LUAEXPR_UPVALUE,  /* info: index                                     */
    RLT_LUAEXPR_GLOBAL,   /* info: constant with the name                    */
    RLT_LUAEXPR_INDEXED,  /* info: register of the table; aux: RK of the key */
    RLT_LUAEXPR_JUMP,     /* info: instruction; a comparison                 */
    RLT_LUAEXPR_OPEN,     /* info: instruction whose a is not chosen yet     */
    RLT_LUAEXPR_FIXED,    /* info: register of a temporary                   */
    RLT_LUAEXPR_CALL,     /* info: instruction                               */
    RLT_LUAEXPR_VARARG    /* info: instruction                               */
} rlt_luaexpr_kind;

/* Jumps that want to know where to go are chained through their c. */
#define RLT_LUA_NO_JUMP (-1)

typedef struct rlt_luaexpr {
    rlt_luaexpr_kind kind;
    int32_t info, aux;
    double number;
    int32_t when_true, when_false; /* chains of jumps out of it              */
} rlt_luaexpr;

/* In the order of their instructions, then what has none of its own. */
typedef enum rlt_luabinary {
    RLT_LUABIN_ADD,
    RLT_LUABIN_SUB,
    RLT_LUABIN_MUL,
    RLT_LUABIN_DIV,
    RLT_LUABIN_MOD,
    RLT_LUABIN_POW,
    RLT_LUABIN_CONCAT,
    RLT_LUABIN_NE,
    RLT_LUABIN_EQ,
    RLT_LUABIN_LT,
    RLT_LUABIN_LE,
    RLT_LUABIN_GT,
    RLT_LUABIN_GE,
    RLT_LUABIN_AND,
    RLT_LUABIN_OR,
    RLT_LUABIN_NONE
} rlt_luabinary;

typedef struct rlt_luablock {
    struct rlt_luablock *outer;
    int32_t breaks;       /* chain                                           */
    uint8_t locals;       /* active outside                                  */
    uint8_t captured;     /* a local of it is somebody's upvalue             */
    uint8_t is_loop;
} rlt_luablock;

typedef struct rlt_luacode {
    rlt_lualex *x;
    struct rlt_luacode *outer;
    rlt_luablock *block;
    rlt_luaproto *proto;
    rlt_luaop *ops;
    uint32_t *lines;
    rlt_luaval *constants;
    rlt_luatab *constant_of; /* value to index                               */
    const rlt_luaproto **protos;
    rlt_lualocal *locals;
    int32_t n, cap, target;  /* instructions; the last one jumped to         */
    int32_t constants_n, constants_cap, nil_k, true_k, false_k;
    int32_t protos_n, protos_cap, locals_n, locals_cap;
    int32_t active[RLT_LUA_LOCALS_MAX]; /* indices of locals                 */
    rlt_luaup ups[RLT_LUA_UPVALUES_MAX];
    int active_n, free; /* locals in scope; the first free register          */
    int ups_n, stack, params, vararg;
    uint32_t line;
} rlt_luacode;

RELET_PRIVATE void rlt_luacode_open(rlt_luacode *c, rlt_lualex *x,
                                    rlt_luacode *outer);
/* The function as it stays, or NULL when the text or memory failed. */
RELET_PRIVATE const rlt_luaproto *rlt_luacode_close(rlt_luacode *c);

RELET_PRIVATE int32_t rlt_luacode_emit(rlt_luacode *c, rlt_luaopcode op,
                                       int a, int b, int32_t arg);
RELET_PRIVATE void rlt_luacode_line(rlt_luacode *c, uint32_t line);
RELET_PRIVATE int32_t rlt_luacode_jump(rlt_luacode *c);
RELET_PRIVATE int32_t rlt_luacode_label(rlt_luacode *c);
RELET_PRIVATE void rlt_luacode_patch(rlt_luacode *c, int32_t list,
                                     int32_t target);
RELET_PRIVATE void rlt_luacode_patch_here(rlt_luacode *c, int32_t list);
RELET_PRIVATE void rlt_luacode_join(rlt_luacode *c, int32_t *list,
                                    int32_t more);
RELET_PRIVATE void rlt_luacode_return(rlt_luacode *c, int first, int n);

RELET_PRIVATE void rlt_luacode_reserve(rlt_luacode *c, int n);
RELET_PRIVATE int32_t rlt_luacode_string(rlt_luacode *c, const rlt_luastr *s);
RELET_PRIVATE int32_t rlt_luacode_proto(rlt_luacode *c,
                                        const rlt_luaproto *p);
/* A name that becomes active with rlt_luaparse_activate. */
RELET_PRIVATE int32_t rlt_luacode_local(rlt_luacode *c, const rlt_luastr *s);

RELET_PRIVATE void rlt_luaexpr_init(rlt_luaexpr *e, rlt_luaexpr_kind kind,
                                    int32_t info);
RELET_PRIVATE void rlt_luacode_results(rlt_luacode *c, rlt_luaexpr *e, int n);
/* A variable becomes a value; jumps out of it stay. */
RELET_PRIVATE void rlt_luacode_read(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_one(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_next(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE int rlt_luacode_any(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_value(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE int32_t rlt_luacode_rk(rlt_luacode *c, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_store(rlt_luacode *c, const rlt_luaexpr *var,
                                     rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_self(rlt_luacode *c, rlt_luaexpr *e,
                                    rlt_luaexpr *key);
RELET_PRIVATE void rlt_luacode_index(rlt_luacode *c, rlt_luaexpr *t,
                                     rlt_luaexpr *key);
RELET_PRIVATE void rlt_luacode_if_true(rlt_luacode *c, rlt_luaexpr *e);

RELET_PRIVATE void rlt_luacode_unary(rlt_luacode *c, rlt_luaopcode op,
                                     rlt_luaexpr *e);
/* The left side is known; then both are. */
RELET_PRIVATE void rlt_luacode_infix(rlt_luacode *c, rlt_luabinary op,
                                     rlt_luaexpr *e);
RELET_PRIVATE void rlt_luacode_binary(rlt_luacode *c, rlt_luabinary op,
                                      rlt_luaexpr *e, rlt_luaexpr *right);

/* One arithmetic operation on two numbers; UNM takes the first. */
RELET_PRIVATE double rlt_luaop_compute(rlt_luaopcode op, double a, double b);

#endif
