/* SPDX-License-Identifier: MIT
 *
 * lualex.h - the text of a script, cut into words.
 *
 * The first error ends it: its sentence is kept, and from then on there is
 * nothing but the end of the text. So the parser need not look for errors,
 * only stop at the end. */
#ifndef RLT_LUALEX_H
#define RLT_LUALEX_H

#include "luanum.h"
#include "luaval.h"

/* Words of one byte are that byte. The reserved ones in alphabetical order,
 * as in the table of lualex.c. */
enum {
    RLT_LUATOK_AND = 257,
    RLT_LUATOK_BREAK,
    RLT_LUATOK_DO,
    RLT_LUATOK_ELSE,
    RLT_LUATOK_ELSEIF,
    RLT_LUATOK_END,
    RLT_LUATOK_FALSE,
    RLT_LUATOK_FOR,
    RLT_LUATOK_FUNCTION,
    RLT_LUATOK_IF,
    RLT_LUATOK_IN,
    RLT_LUATOK_LOCAL,
    RLT_LUATOK_NIL,
    RLT_LUATOK_NOT,
    RLT_LUATOK_OR,
    RLT_LUATOK_REPEAT,
    RLT_LUATOK_RETURN,
    RLT_LUATOK_THEN,
    RLT_LUATOK_TRUE,
    RLT_LUATOK_UNTIL,
    RLT_LUATOK_WHILE,
    RLT_LUATOK_CONCAT, /* ..                                                 */
    RLT_LUATOK_DOTS,
    RLT_LUATOK_EQ,
    RLT_LUATOK_GE,
    RLT_LUATOK_LE,
    RLT_LUATOK_NE,
    RLT_LUATOK_NUMBER,
    RLT_LUATOK_NAME,
    RLT_LUATOK_STRING,
    RLT_LUATOK_END_OF_TEXT
};

typedef struct rlt_luatoken {
    int type;
    double number;
    const rlt_luastr *string; /* a name, or a string's bytes                 */
    const char *p;            /* as it stands in the text                    */
    size_t n;
} rlt_luatoken;

typedef struct rlt_lualex {
    const char *p, *end;
    uint32_t line, last_line; /* of the word read, of the one before         */
    rlt_luatoken token, ahead;
    int has_ahead;
    int failed;
    const char *chunk;   /* how errors call the text                         */
    rlt_say error;       /* the sentence, when failed                        */
    rlt_luamem *code;    /* strings that stay                                */
    rlt_luamem *scratch; /* what is only needed until the end                */
    rlt_luatab *strings; /* each string once                                 */
} rlt_lualex;

/* Reads the first word. error: where the sentence goes. */
RELET_PRIVATE void rlt_lualex_start(rlt_lualex *x, relet_span source,
                                    const char *chunk, rlt_luamem *code,
                                    rlt_luamem *scratch, char *error,
                                    size_t error_cap);

RELET_PRIVATE void rlt_lualex_next(rlt_lualex *x);
RELET_PRIVATE int rlt_lualex_peek(rlt_lualex *x);

/* The one string of the code with these bytes, or NULL: no memory. */
RELET_PRIVATE const rlt_luastr *rlt_lualex_string(rlt_lualex *x,
                                                  const char *p, size_t n);

/* "chunk:line: text near 'the word read'", without the near for _limit. */
RELET_PRIVATE void rlt_lualex_fail(rlt_lualex *x, const char *text);
RELET_PRIVATE void rlt_lualex_fail_limit(rlt_lualex *x, const char *text);
RELET_PRIVATE void rlt_lualex_fail_memory(rlt_lualex *x);
/* A word as errors name it. */
RELET_PRIVATE void rlt_lualex_say_type(rlt_say *s, int type);

#endif
