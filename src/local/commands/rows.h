/* SPDX-License-Identifier: MIT
 *
 * rows.h - the families of commands that need the state of the server.
 */
#ifndef RLT_ROWS_H
#define RLT_ROWS_H

#include "state.h"

RELET_PRIVATE const rlt_command *rlt_cmd_multi_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_key_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_expire_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_string_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_number_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_conn_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_client_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_news_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_server_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_config_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_info_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_flush_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_acl_rows(size_t *n);
RELET_PRIVATE const rlt_command *rlt_cmd_eval_rows(size_t *n);

/* Databases from … to - 1 are emptied (cmd_flush.c). */
RELET_PRIVATE void rlt_cmd_flush_dbs(rlt_server *s, uint32_t from,
                                     uint32_t to);

/* Subcommands of CLIENT (cmd_track.c). */
RELET_PRIVATE size_t rlt_cmd_track_bound(const rlt_call *c);
RELET_PRIVATE void rlt_cmd_track_tracking(rlt_call *c);
RELET_PRIVATE void rlt_cmd_track_caching(rlt_call *c);
RELET_PRIVATE void rlt_cmd_track_getredir(rlt_call *c);
RELET_PRIVATE void rlt_cmd_track_info(rlt_call *c);

/* 1 if a client may have this name, or 0: an error was replied (cmd_conn.c). */
RELET_PRIVATE int rlt_cmd_conn_name_ok(rlt_call *c, relet_span name);

#endif
