/* SPDX-License-Identifier: MIT
 *
 * table.c - the table of all commands.
 */
#include "table.h"
#include "cmd_hash.h"
#include "cmd_list.h"
#include "cmd_set.h"
#include "cmd_stream.h"
#include "cmd_zset.h"
#include "rows.h"
#include "lookup.h"
#include "users.h"

typedef struct table_family {
    rlt_rows_fn *rows;
    const char *category;
} table_family;

static const table_family table_families[] = {
    {rlt_cmd_conn_rows, "connection"},
    {rlt_cmd_client_rows, "connection"},
    {rlt_cmd_server_rows, ""},
    {rlt_cmd_info_rows, ""},
    {rlt_cmd_config_rows, ""},
    {rlt_cmd_acl_rows, ""},
    {rlt_cmd_news_rows, "pubsub"},
    {rlt_cmd_multi_rows, "transaction"},
    {rlt_cmd_eval_rows, "scripting"},
    {rlt_cmd_key_rows, "keyspace"},
    {rlt_cmd_flush_rows, "keyspace"},
    {rlt_cmd_expire_rows, "keyspace"},
    {rlt_cmd_string_rows, "string"},
    {rlt_cmd_number_rows, "string"},
    {rlt_cmd_hash_rows, "hash"},
    {rlt_cmd_list_rows, "list"},
    {rlt_cmd_list_move_rows, "list"},
    {rlt_cmd_set_rows, "set"},
    {rlt_cmd_set_algebra_rows, "set"},
    {rlt_cmd_zset_rows, "sortedset"},
    {rlt_cmd_zset_range_rows, "sortedset"},
    {rlt_cmd_zset_pop_rows, "sortedset"},
    {rlt_cmd_zset_algebra_rows, "sortedset"},
    {rlt_cmd_stream_rows, "stream"},
    {rlt_cmd_stream_read_rows, "stream"},
    {rlt_cmd_group_rows, "stream"},
    {rlt_cmd_group_claim_rows, "stream"}};

RELET_PRIVATE void rlt_table_fill(rlt_server *s)
{
    const rlt_command *rows;
    size_t i, k, n;
    int category;

    for (i = 0; i < sizeof table_families / sizeof *table_families; i++) {
        rows = table_families[i].rows(&n);
        category = rlt_users_category_find(
            relet_str(table_families[i].category));
        if (category < 0)
            category = RLT_USERS_NO_CATEGORY;
        for (k = 0; k < n; k++)
            rlt_lookup_add(s, &rows[k], (uint8_t)category);
    }
}
