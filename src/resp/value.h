/* SPDX-License-Identifier: MIT
 *
 * value.h - what rooms above need of values beyond the public functions. */
#ifndef RLT_VALUE_H
#define RLT_VALUE_H

#include "scan.h"
#include "text.h"

/* As relet_value_proves_no_effect, for an answer to a script: part of it may
 * have run before the error, so fewer errors prove something. */
RELET_PRIVATE int rlt_value_proves_script_unrun(relet_value v);

#endif
