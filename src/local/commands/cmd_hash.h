/* SPDX-License-Identifier: MIT
 *
 * cmd_hash.h - commands on hashes.
 */
#ifndef RLT_CMD_HASH_H
#define RLT_CMD_HASH_H

#include "call.h"

RELET_PRIVATE const rlt_command *rlt_cmd_hash_rows(size_t *n);

#endif
