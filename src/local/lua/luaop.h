/* SPDX-License-Identifier: MIT
 *
 * luaop.h - what a script is compiled to: instructions over registers.
 *
 * R is a register, K a constant, RK one or the other: a number below
 * RLT_LUAOP_CONSTANT is a register. Registers of a function are its locals in
 * order of declaration, then what expressions need; error messages rely on
 * that to say what a value was called. */
#ifndef RLT_LUAOP_H
#define RLT_LUAOP_H

#include "luaval.h"

typedef enum rlt_luaopcode {
    RLT_LUAOP_MOVE,      /* R[a] = R[b]                                      */
    RLT_LUAOP_LOADK,     /* R[a] = K[c]                                      */
    RLT_LUAOP_LOADBOOL,  /* R[a] = b; c: skip the next one                   */
    RLT_LUAOP_LOADNIL,   /* R[a] … R[b] = nil                                */
    RLT_LUAOP_GETUPVAL,  /* R[a] = upvalue b                                 */
    RLT_LUAOP_SETUPVAL,  /* upvalue b = R[a]                                 */
    RLT_LUAOP_GETGLOBAL, /* R[a] = the global K[c]                           */
    RLT_LUAOP_SETGLOBAL, /* an error: there are none of a script's own       */
    RLT_LUAOP_GETTABLE,  /* R[a] = R[b][RK[c]]                               */
    RLT_LUAOP_SETTABLE,  /* R[a][RK[b]] = RK[c]                              */
    RLT_LUAOP_NEWTABLE,  /* R[a] = {}, b elements, c fields                  */
    RLT_LUAOP_SELF,      /* R[a + 1] = R[b]; R[a] = R[b][RK[c]]              */
    RLT_LUAOP_ADD,       /* R[a] = RK[b] + RK[c], and so on                  */
    RLT_LUAOP_SUB,
    RLT_LUAOP_MUL,
    RLT_LUAOP_DIV,
    RLT_LUAOP_MOD,
    RLT_LUAOP_POW,
    RLT_LUAOP_UNM,       /* R[a] = -R[b]                                     */
    RLT_LUAOP_NOT,
    RLT_LUAOP_LEN,
    RLT_LUAOP_CONCAT,    /* R[a] = R[b] .. … .. R[c]                         */
    RLT_LUAOP_JUMP,      /* go to c                                          */
    RLT_LUAOP_EQ,        /* if (RK[b] == RK[c]) != a, skip the next: a jump  */
    RLT_LUAOP_LT,
    RLT_LUAOP_LE,
    RLT_LUAOP_TEST,      /* if R[a] is not c, skip the next: a jump          */
    RLT_LUAOP_TESTSET,   /* the same of R[b]; else R[a] = R[b]               */
    RLT_LUAOP_CALL,      /* R[a](R[a + 1] … b - 1 of them); c - 1 results    */
    RLT_LUAOP_TAILCALL,  /* b, c as there: 0 is "as many as there are"       */
    RLT_LUAOP_RETURN,    /* b - 1 values from R[a]; 0: up to the top         */
    RLT_LUAOP_FORPREP,   /* R[a], R[a + 1], R[a + 2]: from, to, step; to c   */
    RLT_LUAOP_FORLOOP,   /* one step; to c while there is one                */
    RLT_LUAOP_TFORLOOP,  /* R[a + 3] … c = R[a](R[a + 1], R[a + 2]);
                            nil: skip the next, a jump                       */
    RLT_LUAOP_SETLIST,   /* R[a][c + i] = R[a + i], 1 <= i <= b; b 0: all    */
    RLT_LUAOP_CLOSE,     /* upvalues from R[a] on get a place of their own   */
    RLT_LUAOP_CLOSURE,   /* R[a] = function c                                */
    RLT_LUAOP_VARARG     /* R[a] … = b - 1 of ...; 0: all                    */
} rlt_luaopcode;

#define RLT_LUAOP_CONSTANT 256
#define RLT_LUAOP_OPERAND_MAX 65535 /* what b holds                          */

typedef struct rlt_luaop {
    uint8_t op, a;
    uint16_t b;
    int32_t c;
} rlt_luaop;

/* A name for a register from one instruction up to another. */
typedef struct rlt_lualocal {
    const rlt_luastr *name;
    int32_t from, to;
    uint8_t reg;
} rlt_lualocal;

/* Where a new closure finds an upvalue: in the registers of the function that
 * makes the closure, or among the upvalues of that function. */
typedef struct rlt_luaup {
    const rlt_luastr *name;
    uint8_t in_stack, index;
} rlt_luaup;

/* How a function treats arguments for which it has no names. */
enum {
    RLT_LUA_VARARG = 1,    /* it keeps them                                  */
    RLT_LUA_VARARG_TABLE = 2 /* and finds them in a local called arg         */
};

typedef struct rlt_luaproto {
    const rlt_luaop *ops;
    const uint32_t *lines; /* one for each                                   */
    const rlt_luaval *constants;
    const struct rlt_luaproto *const *protos;
    const rlt_lualocal *locals;
    const rlt_luaup *ups;
    int32_t ops_n, locals_n;
    uint32_t line; /* where it begins; 0: the script itself                  */
    uint8_t ups_n, params, vararg, stack;
} rlt_luaproto;

#endif
