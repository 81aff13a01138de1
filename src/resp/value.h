/* SPDX-License-Identifier: MIT
 *
 * value.h - functions on values that other modules need beside the public
 * ones. */
#ifndef RLT_VALUE_H
#define RLT_VALUE_H

#include "scan.h"
#include "text.h"

/* Like relet_value_proves_no_effect, for a reply to a script: part of the
 * script may have run before the error, so fewer errors prove that nothing
 * ran. */
RELET_PRIVATE int rlt_value_proves_script_unrun(relet_value v);

#endif
