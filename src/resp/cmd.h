/* SPDX-License-Identifier: MIT
 *
 * cmd.h - writes argv as a RESP command.
 *
 * The caller asks for the size, makes room, then writes, so that a command
 * goes into a buffer whole or not at all. Servers do not check that an argument
 * ends where its length says, so the bytes written here must be right. */
#ifndef RLT_CMD_H
#define RLT_CMD_H

#include "base.h"

#define RLT_CMD_ARGS_MAX 2147483647u /* the most that servers parse          */
#define RLT_CMD_BULK_MAX 536870912u  /* servers' default proto-max-bulk-len  */

/* The exact bytes of the command; 0 if it must not be sent: no argument (no
 * reply would ever come), too many, one too long, or size_t too small. */
RELET_PRIVATE size_t rlt_cmd_size(const relet_span *argv, size_t argc);

/* Writes as many bytes as rlt_cmd_size returned, which must not have been 0.
 * Returns the first byte behind them. If p of an argument of over 32 bytes is
 * NULL, the argument is a gap: the caller writes its bytes afterwards. */
RELET_PRIVATE uint8_t *rlt_cmd_write(uint8_t *out, const relet_span *argv,
                                     size_t argc);

/* The same for a command in two parts: head and then argv. argc may be 0. */
RELET_PRIVATE size_t rlt_cmd_size_of(const relet_span *head, size_t heads,
                                     const relet_span *argv, size_t argc);
RELET_PRIVATE uint8_t *rlt_cmd_write_of(uint8_t *out, const relet_span *head,
                                        size_t heads, const relet_span *argv,
                                        size_t argc);

/* Appends arguments to a command that was written with argc arguments and has
 * len bytes. rlt_cmd_more_size returns by how many bytes the command grows, 0
 * if it must not be sent; rlt_cmd_more needs that much room behind the
 * command. */
RELET_PRIVATE size_t rlt_cmd_more_size(size_t argc, const relet_span *argv,
                                       size_t more);
RELET_PRIVATE void rlt_cmd_more(uint8_t *cmd, size_t len, size_t argc,
                                const relet_span *argv, size_t more);

#endif
