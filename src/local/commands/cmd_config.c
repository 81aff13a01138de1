/* SPDX-License-Identifier: MIT
 *
 * cmd_config.c - CONFIG: the settings that have an effect here.
 *
 * A setting that is not in the table is unknown: better an error than a value
 * that is remembered and does nothing. */
#include "glob.h"
#include "pubsub.h"
#include "rows.h"
#include "users.h"

typedef enum cmd_config_kind {
    CMD_CONFIG_MEMORY,
    CMD_CONFIG_INT,
    CMD_CONFIG_NOTIFY,
    CMD_CONFIG_PASSWORD,
    CMD_CONFIG_POLICY,
    CMD_CONFIG_FIXED /* cannot be set                                        */
} cmd_config_kind;

typedef enum cmd_config_which {
    CMD_CONFIG_NO_VALUE,
    CMD_CONFIG_MAXMEMORY,
    CMD_CONFIG_MAX_BULK,
    CMD_CONFIG_TRACKING,
    CMD_CONFIG_DATABASES,
    CMD_CONFIG_CLIENTS,
    CMD_CONFIG_PORT
} cmd_config_which;

typedef struct cmd_config_row {
    const char *name;
    cmd_config_kind kind;
    cmd_config_which which;
    int64_t min, max;
    const char *text; /* value of a fixed non-numeric setting                */
} cmd_config_row;

static const cmd_config_row cmd_config_table[] = {
    {"maxmemory", CMD_CONFIG_MEMORY, CMD_CONFIG_MAXMEMORY, 0, INT64_MAX,
     NULL},
    {"maxmemory-policy", CMD_CONFIG_POLICY, CMD_CONFIG_NO_VALUE, 0, 0,
     "noeviction"},
    {"maxmemory-samples", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, "5"},
    {"maxmemory-eviction-tenacity", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0,
     0, "10"},
    {"maxmemory-clients", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, "0"},
    {"notify-keyspace-events", CMD_CONFIG_NOTIFY, CMD_CONFIG_NO_VALUE, 0, 0,
     NULL},
    {"requirepass", CMD_CONFIG_PASSWORD, CMD_CONFIG_NO_VALUE, 0, 0, NULL},
    {"timeout", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, "0"},
    {"proto-max-bulk-len", CMD_CONFIG_MEMORY, CMD_CONFIG_MAX_BULK, 1048576,
     INT64_MAX, NULL},
    {"tracking-table-max-keys", CMD_CONFIG_INT, CMD_CONFIG_TRACKING, 0,
     INT64_MAX, NULL},
    {"databases", CMD_CONFIG_FIXED, CMD_CONFIG_DATABASES, 0, 0, NULL},
    {"maxclients", CMD_CONFIG_FIXED, CMD_CONFIG_CLIENTS, 0, 0, NULL},
    {"port", CMD_CONFIG_FIXED, CMD_CONFIG_PORT, 0, 0, NULL},
    {"appendonly", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, "no"},
    {"save", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, ""},
    {"cluster-enabled", CMD_CONFIG_FIXED, CMD_CONFIG_NO_VALUE, 0, 0, "no"}};

#define CMD_CONFIG_ROWS (sizeof cmd_config_table / sizeof *cmd_config_table)

static const cmd_config_row *cmd_config_find(relet_span name)
{
    size_t i;

    for (i = 0; i < CMD_CONFIG_ROWS; i++)
        if (rlt_span_is_nocase(name, cmd_config_table[i].name))
            return &cmd_config_table[i];
    return NULL;
}

/* --------------------------------------------------------------------- GET */

static int64_t cmd_config_number(const rlt_server *s, cmd_config_which which)
{
    switch (which) {
    case CMD_CONFIG_MAXMEMORY:
        return (int64_t)s->settings.maxmemory;
    case CMD_CONFIG_MAX_BULK:
        return s->settings.proto_max_bulk;
    case CMD_CONFIG_TRACKING:
        return s->settings.tracking_table_max;
    case CMD_CONFIG_DATABASES:
        return s->config.databases;
    case CMD_CONFIG_CLIENTS:
        return s->config.clients_max;
    case CMD_CONFIG_PORT:
        return s->config.port;
    case CMD_CONFIG_NO_VALUE:
        break;
    }
    return 0;
}

static void cmd_config_value(rlt_call *c, const cmd_config_row *row)
{
    const rlt_dict *passwords =
        &rlt_users_default(c->server)->passwords;
    char letters[24];
    relet_span s;

    if (row->kind == CMD_CONFIG_NOTIFY) {
        s.p = letters;
        s.n = rlt_local_pubsub_letters(c->server->settings.notify, letters);
        rlt_out_bulk(c->out, s);
    } else if (row->kind == CMD_CONFIG_PASSWORD) {
        rlt_out_bulk(c->out, passwords->first
                                 ? rlt_entry_key(passwords->first)
                                 : relet_str(""));
    } else if (row->text) {
        rlt_out_text(c->out, row->text);
    } else {
        rlt_out_bulk_int(c->out, cmd_config_number(c->server, row->which));
    }
}

static int cmd_config_asked(const rlt_call *c, const char *name)
{
    uint32_t i;

    for (i = 2; i < c->argc; i++)
        if (rlt_glob_match(c->argv[i], relet_str(name), 1))
            return 1;
    return 0;
}

static void cmd_config_get(rlt_call *c)
{
    size_t i, n = 0;

    for (i = 0; i < CMD_CONFIG_ROWS; i++)
        n += cmd_config_asked(c, cmd_config_table[i].name) ? 1u : 0u;
    rlt_out_map(c->out, n);
    for (i = 0; i < CMD_CONFIG_ROWS; i++)
        if (cmd_config_asked(c, cmd_config_table[i].name)) {
            rlt_out_text(c->out, cmd_config_table[i].name);
            cmd_config_value(c, &cmd_config_table[i]);
        }
}

/* --------------------------------------------------------------------- SET */

/* "100", "2kb", "1G": 1 and *v, or 0. */
static int cmd_config_memory(relet_span s, uint64_t *v)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"", 1},           {"b", 1},          {"k", 1000},
                 {"kb", 1024},      {"m", 1000000},    {"mb", 1048576},
                 {"g", 1000000000}, {"gb", 1073741824}};
    size_t n = 0, i;

    *v = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') {
        if (*v > UINT64_MAX / 10 - 1)
            return 0;
        *v = *v * 10 + (uint64_t)(s.p[n++] - '0');
    }
    if (n == 0)
        return 0;
    s.p += n;
    s.n -= n;
    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (rlt_span_is_nocase(s, units[i].unit)) {
            if (*v > (uint64_t)INT64_MAX / units[i].bytes)
                return 0;
            *v *= units[i].bytes;
            return 1;
        }
    return 0;
}

static int cmd_config_failed(rlt_call *c, const cmd_config_row *row,
                             const char *why)
{
    char after[320];
    rlt_say s;

    rlt_say_init(&s, after, sizeof after);
    rlt_say_text(&s, "') - ");
    rlt_say_text(&s, why);
    rlt_call_error_with(
        c, "ERR CONFIG SET failed (possibly related to argument '",
        relet_str(row->name), after);
    return 0;
}

static int cmd_config_outside(rlt_call *c, const cmd_config_row *row)
{
    char why[128];
    rlt_say s;

    rlt_say_init(&s, why, sizeof why);
    rlt_say_text(&s, "argument must be between ");
    rlt_say_int(&s, row->min);
    rlt_say_text(&s, " and ");
    rlt_say_int(&s, row->max);
    rlt_say_text(&s, " inclusive");
    return cmd_config_failed(c, row, why);
}

/* Reads argv[i] as a number: 1, or 0: an error was replied. */
static int cmd_config_read(rlt_call *c, const cmd_config_row *row, uint32_t i,
                           int64_t *v)
{
    uint64_t bytes;

    if (row->kind == CMD_CONFIG_MEMORY) {
        if (!cmd_config_memory(c->argv[i], &bytes))
            return cmd_config_failed(c, row,
                                     "argument must be a memory value");
        *v = (int64_t)bytes;
    } else if (!rlt_str_int(c->argv[i], v)) {
        return cmd_config_failed(
            c, row, "argument couldn't be parsed into an integer");
    }
    return (*v >= row->min && *v <= row->max) || cmd_config_outside(c, row);
}

static int cmd_config_good(rlt_call *c, const cmd_config_row *row, uint32_t i)
{
    int64_t v;

    rlt_assert(row != NULL);
    switch (row->kind) {
    case CMD_CONFIG_MEMORY:
    case CMD_CONFIG_INT:
        return cmd_config_read(c, row, i, &v);
    case CMD_CONFIG_NOTIFY:
        return rlt_local_pubsub_flags(c->argv[i]) >= 0 ||
               cmd_config_failed(c, row,
                                 "Invalid event class character. Use "
                                 "'Ag$lshzxeKEtmdn'.");
    case CMD_CONFIG_POLICY:
        return rlt_call_is(c, i, "noeviction") ||
               cmd_config_failed(c, row,
                                 "argument(s) must be one of the following: "
                                 "volatile-lru, volatile-lfu, "
                                 "volatile-random, volatile-ttl, "
                                 "allkeys-lru, allkeys-lfu, allkeys-random, "
                                 "noeviction");
    case CMD_CONFIG_FIXED:
        return cmd_config_failed(c, row, "can't set immutable config");
    case CMD_CONFIG_PASSWORD:
        break;
    }
    return 1;
}

static void cmd_config_set_number(rlt_settings *s, cmd_config_which which,
                                  int64_t v)
{
    switch (which) {
    case CMD_CONFIG_MAXMEMORY:
        s->maxmemory = (uint64_t)v;
        break;
    case CMD_CONFIG_MAX_BULK:
        s->proto_max_bulk = v;
        break;
    case CMD_CONFIG_TRACKING:
        s->tracking_table_max = v;
        break;
    case CMD_CONFIG_DATABASES:
    case CMD_CONFIG_CLIENTS:
    case CMD_CONFIG_PORT:
    case CMD_CONFIG_NO_VALUE:
        break;
    }
}

static void cmd_config_apply(rlt_call *c, const cmd_config_row *row,
                             uint32_t i)
{
    int64_t v;

    rlt_assert(row != NULL);
    if (row->kind == CMD_CONFIG_NOTIFY)
        c->server->settings.notify = rlt_local_pubsub_flags(c->argv[i]);
    else if (row->kind == CMD_CONFIG_PASSWORD)
        rlt_users_require(c->server, c->argv[i]);
    else if (row->which != CMD_CONFIG_NO_VALUE &&
             cmd_config_read(c, row, i, &v))
        cmd_config_set_number(&c->server->settings, row->which, v);
}

static int cmd_config_names_ok(rlt_call *c)
{
    const cmd_config_row *row;
    uint32_t i, k;

    for (i = 2; i < c->argc; i += 2) {
        row = cmd_config_find(c->argv[i]);
        if (row == NULL) {
            rlt_call_error_with(c,
                                "ERR Unknown option or number of arguments "
                                "for CONFIG SET - '",
                                c->argv[i], "'");
            return 0;
        }
        if (row->kind == CMD_CONFIG_FIXED)
            return cmd_config_failed(c, row, "can't set immutable config");
        for (k = 2; k < i; k += 2)
            if (cmd_config_find(c->argv[k]) == row)
                return cmd_config_failed(c, row, "duplicate parameter");
    }
    return 1;
}

static void cmd_config_set(rlt_call *c)
{
    uint32_t i;

    if (c->argc % 2 != 0) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if (!cmd_config_names_ok(c))
        return;
    for (i = 2; i < c->argc; i += 2)
        if (!cmd_config_good(c, cmd_config_find(c->argv[i]), i + 1))
            return;
    for (i = 2; i < c->argc; i += 2)
        cmd_config_apply(c, cmd_config_find(c->argv[i]), i + 1);
    rlt_out_status(c->out, "OK");
}

static size_t cmd_config_bound(const rlt_call *c)
{
    size_t n = 0;
    uint32_t i;

    for (i = 3; i < c->argc; i++)
        n += RLT_DICT_COST(c->argv[i].n);
    return n;
}

static void cmd_config_resetstat(rlt_call *c)
{
    memset(&c->server->counts, 0, sizeof c->server->counts);
    rlt_out_status(c->out, "OK");
}

static void cmd_config_rewrite(rlt_call *c)
{
    rlt_call_error(c, "ERR The server is running without a config file");
}

#define ADM \
    (RLT_CMD_ADMIN | RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE)
#define NONE 0, 0, 0, 0, 0

static const rlt_command cmd_config_config[] = {
    {"get", cmd_config_get, -3, ADM, NONE, NULL, NULL},
    {"help", rlt_call_help, 2, RLT_CMD_LOADING | RLT_CMD_STALE, NONE,
     NULL, NULL},
    {"resetstat", cmd_config_resetstat, 2, ADM, NONE, NULL, NULL},
    {"rewrite", cmd_config_rewrite, 2, ADM, NONE, NULL, NULL},
    {"set", cmd_config_set, -4, ADM, NONE, cmd_config_bound, NULL},
    {NULL, NULL, 0, 0, NONE, NULL, NULL},
};

static const rlt_command cmd_config_rows[] = {
    {"config", NULL, -2, 0, NONE, NULL, cmd_config_config},
};

#undef ADM
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_config_rows(size_t *n)
{
    *n = sizeof cmd_config_rows / sizeof *cmd_config_rows;
    return cmd_config_rows;
}
