/* SPDX-License-Identifier: MIT
 *
 * luaval.h - the values of a script: strings and tables among them.
 *
 * A string is immutable and may lend its bytes: those of a constant, of KEYS
 * or of an argument are never copied. A table has an array part and a hash
 * part, sized and laid out as in Lua 5.1; so #t of a table with holes and the
 * order of pairs() are what a real server's are (but for keys that are tables
 * or functions, which it orders by address). Metatables are left out. */
#ifndef RLT_LUAVAL_H
#define RLT_LUAVAL_H

#include "luamem.h"

/* The order matters: the types up to FALSE count as false. */
typedef enum rlt_luatype {
    RLT_LUA_NIL,
    RLT_LUA_FALSE,
    RLT_LUA_TRUE,
    RLT_LUA_NUMBER,
    RLT_LUA_STRING,
    RLT_LUA_TABLE,
    RLT_LUA_CLOSURE, /* a function of the script                             */
    RLT_LUA_BUILTIN  /* one of ours                                          */
} rlt_luatype;

typedef struct rlt_luastr {
    const char *p;
    uint32_t n;
    uint32_t hash;
} rlt_luastr;

struct rlt_luafn;
struct rlt_luabuiltin;
struct rlt_luaproto;

typedef struct rlt_luaval {
    union {
        double n;
        const rlt_luastr *s;
        struct rlt_luatab *t;
        struct rlt_luafn *f;
        const struct rlt_luabuiltin *b;
    } u;
    rlt_luatype type;
} rlt_luaval;

struct rlt_lua;

/* Its arguments are n values from stack[base] on. It puts results on top and
 * returns how many; or a negative number when the error is set. The stack may
 * move whenever something is called or room is made. */
typedef int rlt_luabuiltin_fn(struct rlt_lua *L, uint32_t base, int n);

typedef struct rlt_luabuiltin {
    const char *name;
    rlt_luabuiltin_fn *fn;
} rlt_luabuiltin;

/* A variable that a closure shares with the function around it: a place on the
 * stack and, once that function has returned, a place of its own. */
typedef struct rlt_luacell {
    rlt_luaval *at;
    rlt_luaval own;
    struct rlt_luacell *next; /* while it is on the stack: the next lower one */
} rlt_luacell;

/* A function of the script; or, with proto NULL, one of ours with a state. */
typedef struct rlt_luafn {
    const struct rlt_luaproto *proto;
    const rlt_luabuiltin *builtin;
    void *state;
    uint32_t serial;
    rlt_luacell *ups[1]; /* as many as the proto says                        */
} rlt_luafn;

typedef struct rlt_luanode {
    rlt_luaval key, value; /* a nil value: the key is free to come back      */
    struct rlt_luanode *next;
} rlt_luanode;

typedef struct rlt_luatab {
    rlt_luaval *array; /* 1 … array_n                                        */
    rlt_luanode *nodes;
    rlt_luanode *free; /* nodes from here on are taken                       */
    uint32_t array_n, nodes_n; /* nodes_n is 0 or a power of two             */
    uint32_t serial;   /* tells tables apart in tostring                     */
    uint8_t readonly;
    uint8_t strict;    /* reading a missing field is an error                */
} rlt_luatab;

/* Strings are at most this long; so lengths never overflow 32 bits. */
#define RLT_LUA_STRING_MAX ((size_t)0x7fffff00)

#define RLT_LUA_IS_FALSE(v) ((v)->type <= RLT_LUA_FALSE)

static inline rlt_luaval rlt_luaval_nil(void)
{
    rlt_luaval v;

    v.u.n = 0;
    v.type = RLT_LUA_NIL;
    return v;
}

static inline rlt_luaval rlt_luaval_bool(int b)
{
    rlt_luaval v;

    v.u.n = 0;
    v.type = b ? RLT_LUA_TRUE : RLT_LUA_FALSE;
    return v;
}

static inline rlt_luaval rlt_luaval_number(double n)
{
    rlt_luaval v;

    v.u.n = n;
    v.type = RLT_LUA_NUMBER;
    return v;
}

static inline rlt_luaval rlt_luaval_string(const rlt_luastr *s)
{
    rlt_luaval v;

    v.u.s = s;
    v.type = RLT_LUA_STRING;
    return v;
}

static inline rlt_luaval rlt_luaval_table(rlt_luatab *t)
{
    rlt_luaval v;

    v.u.t = t;
    v.type = RLT_LUA_TABLE;
    return v;
}

static inline relet_span rlt_luastr_span(const rlt_luastr *s)
{
    relet_span r;

    r.p = s->p;
    r.n = s->n;
    return r;
}

/* "nil", "boolean", "number", "string", "table", "function". */
RELET_PRIVATE const char *rlt_luaval_type_name(const rlt_luaval *v);

/* A string that lends n bytes, one with n bytes to be written behind it (their
 * address goes to *bytes; then rlt_luastr_seal), and one that is a copy. NULL:
 * no memory. */
RELET_PRIVATE rlt_luastr *rlt_luastr_lend(rlt_luamem *m, const char *p,
                                          size_t n);
RELET_PRIVATE rlt_luastr *rlt_luastr_make(rlt_luamem *m, size_t n,
                                          char **bytes);
RELET_PRIVATE rlt_luastr *rlt_luastr_copy(rlt_luamem *m, const char *p,
                                          size_t n);
RELET_PRIVATE void rlt_luastr_seal(rlt_luastr *s);
RELET_PRIVATE uint32_t rlt_luastr_hash(const char *p, size_t n);

static inline int rlt_luastr_same(const rlt_luastr *a, const rlt_luastr *b)
{
    return a == b || (a->hash == b->hash && a->n == b->n &&
                      memcmp(a->p, b->p, a->n) == 0);
}

/* As memcmp. */
RELET_PRIVATE int rlt_luastr_order(const rlt_luastr *a, const rlt_luastr *b);

/* Equality as the language has it: by value for numbers and strings. */
RELET_PRIVATE int rlt_luaval_same(const rlt_luaval *a, const rlt_luaval *b);

/* A table with room for so many elements and fields. */
RELET_PRIVATE rlt_luatab *rlt_luatab_new(rlt_luamem *m, uint32_t array,
                                         uint32_t nodes);

/* The value of a key; never NULL: a nil if there is none. */
RELET_PRIVATE const rlt_luaval *rlt_luatab_get(const rlt_luatab *t,
                                               const rlt_luaval *key);
RELET_PRIVATE const rlt_luaval *rlt_luatab_get_str(const rlt_luatab *t,
                                                   const rlt_luastr *key);
RELET_PRIVATE const rlt_luaval *rlt_luatab_get_text(const rlt_luatab *t,
                                                    const char *key);
RELET_PRIVATE const rlt_luaval *rlt_luatab_get_int(const rlt_luatab *t,
                                                   int64_t key);

/* Where to store under a key that is neither nil nor NaN, in a table that is
 * not read-only: write at once, before anything else touches the table. NULL:
 * no memory, the table as it was. */
RELET_PRIVATE rlt_luaval *rlt_luatab_slot(rlt_luamem *m, rlt_luatab *t,
                                          const rlt_luaval *key);
RELET_PRIVATE rlt_luaval *rlt_luatab_slot_int(rlt_luamem *m, rlt_luatab *t,
                                              int64_t key);

/* The value of a field that is there, to be overwritten though the table is
 * read-only: for the interpreter itself. */
RELET_PRIVATE rlt_luaval *rlt_luatab_global(const rlt_luatab *t,
                                            const char *key);

/* Room for elements up to n, as a constructor sees to it. 1, or 0. */
RELET_PRIVATE int rlt_luatab_reserve(rlt_luamem *m, rlt_luatab *t,
                                     uint32_t n);

/* A border: #t. */
RELET_PRIVATE int64_t rlt_luatab_length(const rlt_luatab *t);

/* The walk: *place is 0 at first; 1 and a pair, or 0 at the end. */
RELET_PRIVATE int rlt_luatab_walk(const rlt_luatab *t, uint32_t *place,
                                  rlt_luaval *key, rlt_luaval *value);
/* Where the walk goes on behind a key: 1, or 0 for a key it never gave. */
RELET_PRIVATE int rlt_luatab_place(const rlt_luatab *t, const rlt_luaval *key,
                                   uint32_t *place);

/* The size of a constructor's hint as it reaches the table: beyond 15 hints
 * are kept in eight bits, rounded up. */
RELET_PRIVATE uint32_t rlt_luatab_hint(uint32_t n);

#endif
