/* SPDX-License-Identifier: MIT
 *
 * lualib.h - the tables of functions that every script finds. */
#ifndef RLT_LUALIB_H
#define RLT_LUALIB_H

#include "luaarg.h"

/* Each returns the functions of one table; *n is their number. */
RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_base(size_t *n);
RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_string(size_t *n);
RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_table(size_t *n);
RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_math(size_t *n);
RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_redis(size_t *n);

RELET_PRIVATE int rlt_lualib_format(rlt_lua *L, uint32_t base, int n);
RELET_PRIVATE int rlt_lualib_sort(rlt_lua *L, uint32_t base, int n);

#endif
