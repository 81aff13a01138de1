/* SPDX-License-Identifier: MIT
 *
 * lookup.h - commands by their names, and the keys among their arguments.
 */
#ifndef RLT_FIND_H
#define RLT_FIND_H

#include "state.h"

/* rlt_lookup_add adds a row to the table, with the category of its family;
 * rlt_lookup_category returns the category of a command. */
RELET_PRIVATE void rlt_lookup_add(rlt_server *s, const rlt_command *row,
                                  uint8_t category);
RELET_PRIVATE uint8_t rlt_lookup_category(const rlt_server *s, relet_span name);

/* The row of a command; NULL: unknown. *is_sub: the row is that of a
 * subcommand. *container: the row of argv[0] alone. */
RELET_PRIVATE const rlt_command *rlt_lookup_command(const rlt_server *s,
                                                    relet_span name);
RELET_PRIVATE const rlt_command *rlt_lookup_row(const rlt_server *s,
                                                const relet_span *argv,
                                                uint32_t argc, int *is_sub,
                                                const rlt_command **container);
RELET_PRIVATE int rlt_lookup_arity_ok(const rlt_command *row, uint32_t argc);

/* The index of the next key among the arguments; 0: no more. *at is 0 at first.
 * Inconsistent arguments have no keys. */
RELET_PRIVATE uint32_t rlt_lookup_key(const rlt_command *row,
                                      const relet_span *argv, uint32_t argc,
                                      uint32_t *at);

#endif
