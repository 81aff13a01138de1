/* SPDX-License-Identifier: MIT
 *
 * dump.h - the whole data set as commands that make it.
 */
#ifndef RLT_DUMP_H
#define RLT_DUMP_H

#include "state.h"

/* The commands that make a key of this database, behind what is in `o`. */
RELET_PRIVATE void rlt_dump_key(rlt_out *o, const rlt_entry *e);

/* SELECT. */
RELET_PRIVATE void rlt_dump_db(rlt_out *o, uint32_t db);

#endif
