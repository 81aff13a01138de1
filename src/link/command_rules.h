/* SPDX-License-Identifier: MIT
 *
 * command_rules.h - commands that may not go over a shared link, and why. */
#ifndef RLT_COMMAND_RULES_H
#define RLT_COMMAND_RULES_H

#include "base.h"

/* What a command does to a WATCH. */
typedef enum rlt_effect {
    RLT_EFFECT_NONE,
    RLT_EFFECT_WATCH,
    RLT_EFFECT_UNWATCH
} rlt_effect;

/* Returns the rule that forbids this command, or NULL; *effect is always set.
 * `in_unit`: the command is part of a transaction. */
RELET_PRIVATE const char *rlt_command_rule(const relet_span *argv, size_t argc,
                                           int in_unit, rlt_effect *effect);

#endif
