/* SPDX-License-Identifier: MIT
 *
 * cmd_server.c - the server as a whole: TIME, WAIT, DEBUG, COMMAND and so on.
 */
#include "blocked.h"
#include "rows.h"
#include "lookup.h"

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

/* There are no replicas, so WAIT always waits in vain. */
static void cmd_server_wait(rlt_call *c)
{
    int64_t n, until;

    if (!rlt_call_int(c, 1, &n, NULL) || !rlt_call_timeout_ms(c, 2, &until))
        return;
    /* Redis keeps the number in 32 bits while it waits. */
    if (n > 0)
        n = (int32_t)(uint32_t)((uint64_t)n & UINT32_MAX);
    if (n <= 0 || c->in_exec || c->in_script) {
        rlt_out_int(c->out, 0);
        return;
    }
    c->parked = 1;
    rlt_blocked_add(c->peer, RLT_WAIT_REPLICAS, until);
}

/* ------------------------------------------------------------------- DEBUG */

/* Reads the time as strtod does: text that is no number is 0. */
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
    rlt_blocked_add(c->peer, RLT_WAIT_SLEEP, c->server->asleep_until_ms - 1);
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

/* ----------------------------------------------------------------- the rest */

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
#define NONE 0, 0, 0, 0, 0, NULL, NULL
#define END {NULL, NULL, 0, 0, NONE}

static const rlt_command cmd_server_command[] = {
    {"count", cmd_server_count, 2, ANY, NONE},
    {"help", rlt_call_help, 2, ANY, NONE},
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
    {"cluster", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_server_cluster},
    {"readonly", cmd_server_no_cluster, 1, ANY | RLT_CMD_FAST, NONE},
    {"readwrite", cmd_server_no_cluster, 1, ANY | RLT_CMD_FAST, NONE},
    {"asking", cmd_server_no_cluster, 1, RLT_CMD_FAST, NONE},
};

#undef ANY
#undef ADM
#undef NONE
#undef END

RELET_PRIVATE const rlt_command *rlt_cmd_server_rows(size_t *n)
{
    *n = sizeof cmd_server_rows / sizeof *cmd_server_rows;
    return cmd_server_rows;
}
