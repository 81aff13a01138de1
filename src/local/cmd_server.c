/* SPDX-License-Identifier: MIT
 *
 * cmd_server.c - the server as a whole: time, waiting, DEBUG, and what it
 * knows of its commands.
 */
#include "park.h"
#include "rows.h"
#include "find.h"

/* -------------------------------------------------------------------- time */

static void cmd_server_time(rlt_call *c)
{
    rlt_out_array(c->out, 2);
    rlt_out_bulk_int(c->out, c->now_us / 1000000);
    rlt_out_bulk_int(c->out, c->now_us % 1000000);
}

static void cmd_server_lastsave(rlt_call *c)
{
    rlt_out_int(c->out, c->server->start_us / 1000000);
}

static void cmd_server_role(rlt_call *c)
{
    rlt_out_array(c->out, 3);
    rlt_out_text(c->out, "master");
    rlt_out_int(c->out, 0);
    rlt_out_array(c->out, 0);
}

/* There are no replicas; so it is waited in vain. */
static void cmd_server_wait(rlt_call *c)
{
    int64_t n, until;

    if (!rlt_call_int(c, 1, &n, NULL) || !rlt_call_timeout_ms(c, 2, &until))
        return;
    /* Servers keep the number in 32 bits. */
    n = (int32_t)(uint32_t)((uint64_t)n & UINT32_MAX);
    if (n <= 0 || c->in_exec || c->in_script) {
        rlt_out_int(c->out, 0);
        return;
    }
    c->parked = 1;
    rlt_park(c->peer, RLT_WAIT_REPLICAS, until);
}

/* ------------------------------------------------------------------- DEBUG */

/* As strtod reads: what is no number is 0. */
static void cmd_server_sleep(rlt_call *c)
{
    double s = 0;

    if (!rlt_text_double(c->argv[2].p, c->argv[2].n, &s) || !(s > 0) ||
        c->in_exec || c->in_script) {
        rlt_out_status(c->out, "OK");
        return;
    }
    if (s > 1e9)
        s = 1e9;
    c->parked = 1;
    c->server->asleep_until_ms = c->now_ms + (int64_t)(s * 1000 + 0.5);
    rlt_park(c->peer, RLT_WAIT_SLEEP, c->server->asleep_until_ms - 1);
}

static void cmd_server_debug(rlt_call *c)
{
    int64_t on;

    if (rlt_call_is(c, 1, "sleep") && c->argc == 3) {
        cmd_server_sleep(c);
    } else if (rlt_call_is(c, 1, "set-active-expire") && c->argc == 3) {
        c->server->active_expire =
            rlt_str_int(c->argv[2], &on) ? on != 0 : 0;
        rlt_out_status(c->out, "OK");
    } else {
        rlt_call_error_subcommand(c);
    }
}

/* ----------------------------------------------------------------- COMMAND */

static void cmd_server_count(rlt_call *c)
{
    rlt_out_int(c->out, c->server->commands);
}

static void cmd_server_list(rlt_call *c)
{
    uint32_t i;

    rlt_out_set(c->out, c->server->commands);
    for (i = 0; i < RLT_TABLE_SIZE; i++)
        if (c->server->table[i])
            rlt_out_text(c->out, c->server->table[i]->name);
}

static void cmd_server_getkeys(rlt_call *c)
{
    const relet_span *argv = c->argv + 2;
    uint32_t argc = c->argc - 2, at = 0, n = 0, i;
    const rlt_command *row, *container;
    int is_sub;

    row = rlt_find_row(c->server, argv, argc, &is_sub, &container);
    if (row == NULL) {
        rlt_call_error(c, "ERR Invalid command specified");
        return;
    }
    if (row->first == 0 && row->find == RLT_KEYS_FIXED) {
        rlt_call_error(c, "ERR The command has no key arguments");
        return;
    }
    if (!rlt_find_arity_ok(row, argc)) {
        rlt_call_error(
            c, "ERR Invalid number of arguments specified for command");
        return;
    }
    while (rlt_find_key(row, argv, argc, &at))
        n++;
    if (!rlt_find_keys_ok(row, argv, argc)) {
        rlt_call_error(c, "ERR Invalid arguments specified for command");
        return;
    }
    rlt_out_array(c->out, n);
    for (at = 0; (i = rlt_find_key(row, argv, argc, &at)) != 0;)
        rlt_out_bulk(c->out, argv[i]);
}

/* ----------------------------------------------------------------- the rest */

static int cmd_server_samples(rlt_call *c)
{
    int64_t n = 0;

    if (c->argc == 3)
        return 1;
    if (c->argc == 5 && rlt_call_is(c, 3, "samples")) {
        if (!rlt_call_int(c, 4, &n, NULL))
            return 0;
        if (n >= 0)
            return 1;
    }
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static void cmd_server_usage(rlt_call *c)
{
    rlt_entry *e;

    if (!cmd_server_samples(c))
        return;
    e = rlt_call_look(c, c->argv[2]);
    if (e)
        rlt_out_int(c->out, (int64_t)(RLT_DICT_COST(c->argv[2].n) +
                                      rlt_obj_copy_cost(rlt_keys_obj(e))));
    else
        rlt_out_null(c->out);
}

static void cmd_server_zero(rlt_call *c)
{
    rlt_out_int(c->out, 0);
}

static void cmd_server_empty(rlt_call *c)
{
    rlt_out_array(c->out, 0);
}

static void cmd_server_ok(rlt_call *c)
{
    rlt_out_status(c->out, "OK");
}

static void cmd_server_no_cluster(rlt_call *c)
{
    rlt_call_error(c, "ERR This instance has cluster support disabled");
}

static void cmd_server_bare(rlt_call *c)
{
    rlt_call_error(c, "ERR COMMAND without a subcommand is not to be had "
                      "here");
}

#define ANY (RLT_CMD_LOADING | RLT_CMD_STALE)
#define ADM (ANY | RLT_CMD_ADMIN | RLT_CMD_NOSCRIPT)
#define SLOW (ANY | RLT_CMD_ADMIN)
#define NONE 0, 0, 0, 0, 0, NULL, NULL
#define END {NULL, NULL, 0, 0, NONE}

static const rlt_command cmd_server_command[] = {
    {"count", cmd_server_count, 2, ANY, NONE},
    {"getkeys", cmd_server_getkeys, -4, ANY, NONE},
    {"help", rlt_call_help_names, 2, ANY, NONE},
    {"list", cmd_server_list, 2, ANY, NONE},
    END,
};

static const rlt_command cmd_server_memory[] = {
    {"help", rlt_call_help_names, 2, ANY, NONE},
    {"usage", cmd_server_usage, -3, RLT_CMD_READONLY, 2, 2, 1, 0, 0, NULL,
     NULL},
    END,
};

static const rlt_command cmd_server_slowlog[] = {
    {"get", cmd_server_empty, -2, SLOW, NONE},
    {"help", rlt_call_help_names, 2, ANY, NONE},
    {"len", cmd_server_zero, 2, SLOW, NONE},
    {"reset", cmd_server_ok, 2, SLOW, NONE},
    END,
};

static const rlt_command cmd_server_cluster[] = {
    {"countkeysinslot", cmd_server_no_cluster, 3, ANY, NONE},
    {"help", cmd_server_no_cluster, 2, ANY, NONE},
    {"info", cmd_server_no_cluster, 2, ANY, NONE},
    {"keyslot", cmd_server_no_cluster, 3, ANY, NONE},
    {"myid", cmd_server_no_cluster, 2, ANY, NONE},
    {"nodes", cmd_server_no_cluster, 2, ANY, NONE},
    {"shards", cmd_server_no_cluster, 2, ANY, NONE},
    {"slots", cmd_server_no_cluster, 2, ANY, NONE},
    END,
};

static const rlt_command cmd_server_rows[] = {
    {"time", cmd_server_time, 1, ANY | RLT_CMD_FAST, NONE},
    {"lastsave", cmd_server_lastsave, 1, ANY | RLT_CMD_FAST, NONE},
    {"role", cmd_server_role, 1, ANY | RLT_CMD_NOSCRIPT | RLT_CMD_FAST,
     NONE},
    {"wait", cmd_server_wait, 3, RLT_CMD_NOSCRIPT, NONE},
    {"debug", cmd_server_debug, -2, ADM, NONE},
    {"command", cmd_server_bare, -1, ANY, 0, 0, 0, 0, 0, NULL,
     cmd_server_command},
    {"memory", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_server_memory},
    {"slowlog", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_server_slowlog},
    {"cluster", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_server_cluster},
    {"readonly", cmd_server_no_cluster, 1, ANY | RLT_CMD_FAST, NONE},
    {"readwrite", cmd_server_no_cluster, 1, ANY | RLT_CMD_FAST, NONE},
    {"asking", cmd_server_no_cluster, 1, RLT_CMD_FAST, NONE},
};

#undef ANY
#undef ADM
#undef SLOW
#undef NONE
#undef END

RELET_PRIVATE const rlt_command *rlt_cmd_server_rows(size_t *n)
{
    *n = sizeof cmd_server_rows / sizeof *cmd_server_rows;
    return cmd_server_rows;
}
