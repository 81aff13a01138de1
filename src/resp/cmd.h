/* SPDX-License-Identifier: MIT
 *
 * cmd.h - argv to a RESP command.
 *
 * In two steps, so that a command goes into a buffer whole or not at all: ask
 * for the size, make room, write. Servers do not check that an argument ends
 * where it said; what is written here must be right. */
#ifndef RLT_CMD_H
#define RLT_CMD_H

#include "base.h"

#define RLT_CMD_ARGS_MAX 2147483647u /* what servers parse                   */
#define RLT_CMD_BULK_MAX 536870912u  /* their default proto-max-bulk-len     */

/* Exact bytes of the command; 0 when it must not be sent: no argument (no
 * reply would ever come), too many, one too long, or size_t too small. */
RELET_PRIVATE size_t rlt_cmd_size(const relet_span *argv, size_t argc);

/* Writes as many bytes as rlt_cmd_size said, which was not 0. Returns the
 * first byte behind them. */
RELET_PRIVATE uint8_t *rlt_cmd_write(uint8_t *out, const relet_span *argv,
                                     size_t argc);

/* The same for a command in two parts: head and then argv. argc may be 0. */
RELET_PRIVATE size_t rlt_cmd_size_of(const relet_span *head, size_t heads,
                                     const relet_span *argv, size_t argc);
RELET_PRIVATE uint8_t *rlt_cmd_write_of(uint8_t *out, const relet_span *head,
                                        size_t heads, const relet_span *argv,
                                        size_t argc);

/* More arguments for a command that was written, of argc: by how many bytes it
 * grows, 0 as above; and the same at its end, where there is room. */
RELET_PRIVATE size_t rlt_cmd_more_size(size_t argc, const relet_span *argv,
                                       size_t more);
RELET_PRIVATE void rlt_cmd_more(uint8_t *cmd, size_t len, size_t argc,
                                const relet_span *argv, size_t more);

#endif
