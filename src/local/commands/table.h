/* SPDX-License-Identifier: MIT
 *
 * table.h - all commands there are.
 */
#ifndef RLT_TABLE_H
#define RLT_TABLE_H

#include "state.h"

RELET_PRIVATE void rlt_table_fill(rlt_server *s);

#endif
