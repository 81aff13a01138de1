/* SPDX-License-Identifier: MIT
 *
 * propagate.h - what was changed, as commands that change it again.
 *
 * A unit is what happens at once: a command, a transaction, a script. When
 * there is more than one effect in it, they stand between MULTI and EXEC. */
#ifndef RLT_EFFECT_H
#define RLT_EFFECT_H

#include "state.h"

RELET_PRIVATE void rlt_propagate_unit(rlt_server *s);
RELET_PRIVATE void rlt_propagate_unit_end(rlt_server *s);

/* A command of so many words begins; then its words. */
RELET_PRIVATE void rlt_propagate_begin(rlt_server *s, uint32_t db,
                                       size_t words);
RELET_PRIVATE void rlt_propagate_word(rlt_server *s, relet_span word);

#endif
