/* SPDX-License-Identifier: MIT
 *
 * luastat.h - the functions that the two files of the parser share. */
#ifndef RLT_LUASTAT_H
#define RLT_LUASTAT_H

#include "luaparse.h"

typedef struct rlt_luaparser {
    rlt_lualex x;
    rlt_luacode *code; /* of the function being read                         */
    int depth;
} rlt_luaparser;

RELET_PRIVATE int rlt_luaparse_eat(rlt_luaparser *p, int type);
RELET_PRIVATE void rlt_luaparse_need(rlt_luaparser *p, int type);
RELET_PRIVATE void rlt_luaparse_need_close(rlt_luaparser *p, int type,
                                           int opener, uint32_t line);
RELET_PRIVATE void rlt_luaparse_fail_expected(rlt_luaparser *p, int type);
RELET_PRIVATE const rlt_luastr *rlt_luaparse_name(rlt_luaparser *p);
RELET_PRIVATE int rlt_luaparse_enter(rlt_luaparser *p);
RELET_PRIVATE void rlt_luaparse_leave(rlt_luaparser *p);

/* A local that will be the one after `ahead` others not active yet. */
RELET_PRIVATE void rlt_luaparse_declare(rlt_luaparser *p,
                                        const rlt_luastr *name, int ahead);
RELET_PRIVATE void rlt_luaparse_declare_text(rlt_luaparser *p,
                                             const char *name, int ahead);
RELET_PRIVATE void rlt_luaparse_activate(rlt_luaparser *p, int n);
RELET_PRIVATE void rlt_luaparse_deactivate(rlt_luaparser *p, int down_to);

RELET_PRIVATE void rlt_luaparse_variable(rlt_luaparser *p, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luaparse_field(rlt_luaparser *p, rlt_luaexpr *t);
RELET_PRIVATE void rlt_luaparse_suffixed(rlt_luaparser *p, rlt_luaexpr *e);
RELET_PRIVATE int rlt_luaparse_list(rlt_luaparser *p, rlt_luaexpr *e);
RELET_PRIVATE void rlt_luaparse_expr(rlt_luaparser *p, rlt_luaexpr *e);
/* Parameters and block of a function; method: its first one is self. */
RELET_PRIVATE void rlt_luaparse_body(rlt_luaparser *p, rlt_luaexpr *e,
                                     int method, uint32_t line);

#endif
