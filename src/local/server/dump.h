/* SPDX-License-Identifier: MIT
 *
 * dump.h - the whole data set as commands that recreate it.
 */
#ifndef RLT_DUMP_H
#define RLT_DUMP_H

#include "state.h"

/* Appends to `o` the commands that recreate one key of the selected
 * database. */
RELET_PRIVATE void rlt_dump_key(rlt_out *o, const rlt_entry *e);

/* Appends SELECT. */
RELET_PRIVATE void rlt_dump_db(rlt_out *o, uint32_t db);

#endif
