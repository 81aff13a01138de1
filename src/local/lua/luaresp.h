/* SPDX-License-Identifier: MIT
 *
 * luaresp.h - between replies and values of a script, both ways: luaresp.c
 * reads a reply, luareply.c writes one. */
#ifndef RLT_LUARESP_H
#define RLT_LUARESP_H

#include "luaarg.h"
#include "out.h"

/* How deep a reply to a script may nest; replies of this server nest a few
 * levels. */
#define RLT_LUARESP_READ_DEPTH (RLT_TINY ? 8 : 64)

/* A server walks a value on the stack of the script: an element of an array
 * takes one slot, the value of a map 3 and the key 4, a member of a set 3. When
 * no slot is left, the reply is an error that says so. */
#define RLT_LUARESP_SLOTS (RLT_TINY ? 50 : 7994)

/* Push a reply as a value. 1; or negative with the error set: no memory, or
 * bytes that are no reply. */
RELET_PRIVATE int rlt_luaresp_read(rlt_lua *L, relet_span reply);

/* Writes a value as the reply of EVAL, in the client's protocol (out) and with
 * the types of the protocol that the script chose (L). A value that contains
 * itself many times may use up the steps: then the reply is that error. Without
 * memory out->failed is set. Returns the number of errors in the value that no
 * command has counted. */
RELET_PRIVATE size_t rlt_luaresp_write(rlt_lua *L, rlt_out *out,
                                       const rlt_luaval *v);

/* The table of an error as servers make it: "-CODE text", or "-text" and
 * then with the code ERR; up to a NUL. Pushes it: 1, or negative. */
RELET_PRIVATE int rlt_luaresp_push_error(rlt_lua *L, relet_span line);

RLT_SHORT int rlt_luaresp_line_end(char c)
{
    return c == '\r' || c == '\n';
}

#endif
