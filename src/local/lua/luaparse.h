/* SPDX-License-Identifier: MIT
 *
 * luaparse.h - the grammar of Lua 5.1, in one pass to instructions. */
#ifndef RLT_LUAPARSE_H
#define RLT_LUAPARSE_H

#include "luacode.h"

/* How deep expressions, blocks and functions may nest; the parser's own stack
 * grows with it. The number is Lua's. */
#define RLT_LUA_SYNTAX_MAX (RLT_TINY ? 40 : 200)

/* The whole script as a function of no name and any arguments, in memory of
 * `code`; scratch is free again when this returns. NULL: error has the
 * sentence. */
RELET_PRIVATE const rlt_luaproto *rlt_luaparse(relet_span source,
                                               const char *chunk,
                                               rlt_luamem *code,
                                               rlt_luamem *scratch,
                                               char *error, size_t error_cap);

#endif
