/* SPDX-License-Identifier: MIT
 *
 * luaerr.h - the errors of a script, in the words of Lua 5.1.
 *
 * Every function here sets the error and returns -1. */
#ifndef RLT_LUAERR_H
#define RLT_LUAERR_H

#include "luavm.h"

/* "user_script:7: text", with the position in the function that called the
 * running builtin; _plain: without a position. */
RELET_PRIVATE int rlt_luaerr(rlt_lua *L, const char *text);
RELET_PRIVATE int rlt_luaerr_plain(rlt_lua *L, const char *text);

RELET_PRIVATE int rlt_luaerr_memory(rlt_lua *L);
RELET_PRIVATE int rlt_luaerr_steps(rlt_lua *L);

/* Errors of instructions in the running function of the script, such as
 * "attempt to index local 'x' (a nil value)". */
RELET_PRIVATE int rlt_luaerr_run(rlt_lua *L, const char *text);
RELET_PRIVATE int rlt_luaerr_type(rlt_lua *L, const rlt_luaval *v,
                                  const char *doing);
RELET_PRIVATE int rlt_luaerr_order(rlt_lua *L, const rlt_luaval *a,
                                   const rlt_luaval *b);
RELET_PRIVATE int rlt_luaerr_global(rlt_lua *L, const rlt_luastr *name);

/* For builtins: "bad argument #1 to 'sub' (text)"; the first one is 1. */
RELET_PRIVATE int rlt_luaerr_argument(rlt_lua *L, int i, const char *text);
/* "string expected, got nil"; v NULL: got no value. */
RELET_PRIVATE int rlt_luaerr_expected(rlt_lua *L, int i, const rlt_luaval *v,
                                      const char *expected);

/* "chunk:line: " of the function `level` calls up, into a sentence; nothing
 * when that has no position. */
RELET_PRIVATE void rlt_luaerr_where(const rlt_lua *L, int level,
                                    rlt_say *say);
/* The line that an error which ends the script is reported with; -1: in no
 * function of the script; 0: not known. */
RELET_PRIVATE int64_t rlt_luaerr_line(const rlt_lua *L);

#endif
