/* SPDX-License-Identifier: MIT
 *
 * luaexec.h - the functions that the files of the interpreter share. */
#ifndef RLT_LUAEXEC_H
#define RLT_LUAEXEC_H

#include "luaerr.h"

/* The result of a call without an error. */
#define LUAEXEC_DONE 0    /* results are in place                            */
#define LUAEXEC_ENTERED 1 /* there is a new frame, its instructions to run   */

RELET_PRIVATE int rlt_luavm_enter(rlt_lua *L, uint32_t func, int want);
RELET_PRIVATE int rlt_luavm_tail_call(rlt_lua *L, uint32_t func);
RELET_PRIVATE int rlt_luavm_return(rlt_lua *L, const rlt_luaval *from, int n);
RELET_PRIVATE int rlt_luavm_spread(rlt_lua *L, uint32_t to, int want);
RELET_PRIVATE rlt_luacell *rlt_luavm_cell(rlt_lua *L, rlt_luaval *at);
RELET_PRIVATE void rlt_luavm_close(rlt_lua *L, const rlt_luaval *from);

/* Run until the newest frame that was entered from C returns. */
RELET_PRIVATE int rlt_luaexec(rlt_lua *L);

/* Instructions on values; 0, or negative. */
RELET_PRIVATE int rlt_luavm_set_field(rlt_lua *L, rlt_luatab *t,
                                      const rlt_luaval *key, double n);
RELET_PRIVATE int rlt_luaexec_get(rlt_lua *L, rlt_luaval *out,
                                  const rlt_luaval *t, const rlt_luaval *key);
RELET_PRIVATE int rlt_luaexec_set(rlt_lua *L, const rlt_luaval *t,
                                  const rlt_luaval *key,
                                  const rlt_luaval *value);
RELET_PRIVATE int rlt_luaexec_arithmetic(rlt_lua *L, rlt_luaopcode op,
                                         rlt_luaval *out, const rlt_luaval *a,
                                         const rlt_luaval *b);
RELET_PRIVATE int rlt_luaexec_length(rlt_lua *L, rlt_luaval *out,
                                     const rlt_luaval *v);
RELET_PRIVATE int rlt_luaexec_concat(rlt_lua *L, rlt_luaval *out,
                                     const rlt_luaval *v, int n);
RELET_PRIVATE int rlt_luaexec_for(rlt_lua *L, rlt_luaval *r);
RELET_PRIVATE int rlt_luaexec_list(rlt_lua *L, rlt_luaval *t, int n,
                                   uint32_t before);
RELET_PRIVATE int rlt_luaexec_closure(rlt_lua *L, rlt_luaval *out,
                                      const rlt_luaproto *p,
                                      const rlt_luafn *around,
                                      rlt_luaval *registers);

#endif
