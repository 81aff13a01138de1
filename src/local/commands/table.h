/* SPDX-License-Identifier: MIT
 *
 * table.h - the table of all commands.
 */
#ifndef RLT_TABLE_H
#define RLT_TABLE_H

#include "state.h"

RELET_PRIVATE void rlt_table_fill(rlt_server *s);

#endif
