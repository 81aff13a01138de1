/* SPDX-License-Identifier: MIT
 *
 * info.c - the fields of INFO that depend on the commands of a tape.
 *
 * The local server has fewer fields than a real server. Each of its fields is
 * one of theirs, in the same section and order; a value is compared unless it
 * belongs to the process. A field of the local server that is not in this table
 * is compared as it is, and so is reported as a difference. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* How a field is compared. */
typedef enum info_how {
    INFO_HIDDEN, /* ours or Redis's alone: not even its name               */
    INFO_NAME,   /* belongs to the process                                 */
    INFO_OURS, /* the value, but not for Valkey: it tracks what scripts read,
                  and does not look at each key that SCAN meets            */
    INFO_VALUE
} info_how;

static int info_with_valkey;

void info_compare_with(const side *other)
{
    info_with_valkey = strcmp(other->name, "valkey") == 0;
}

static const struct {
    const char *name;
    info_how how;
} info_fields[] = {
    {"redis_version", INFO_HIDDEN}, /* Valkey says 7.2.4                   */
    {"redis_mode", INFO_HIDDEN},    /* Valkey says server_mode             */
    {"relet_version", INFO_HIDDEN},
    {"arch_bits", INFO_VALUE},
    {"run_id", INFO_NAME},
    {"tcp_port", INFO_NAME},
    {"server_time_usec", INFO_VALUE},
    {"uptime_in_seconds", INFO_NAME},
    {"uptime_in_days", INFO_NAME},
    {"connected_clients", INFO_NAME}, /* the rig has one more              */
    {"cluster_connections", INFO_VALUE},
    {"maxclients", INFO_NAME},
    {"blocked_clients", INFO_VALUE},
    {"tracking_clients", INFO_VALUE},
    {"used_memory", INFO_NAME},
    {"used_memory_peak", INFO_NAME},
    {"used_memory_dataset", INFO_NAME},
    {"number_of_cached_scripts", INFO_VALUE},
    {"maxmemory", INFO_VALUE},
    {"maxmemory_policy", INFO_VALUE},
    {"loading", INFO_VALUE},
    {"rdb_changes_since_last_save", INFO_NAME},
    {"rdb_last_save_time", INFO_NAME},
    {"aof_enabled", INFO_VALUE},
    {"total_connections_received", INFO_NAME},
    {"total_commands_processed", INFO_NAME},
    {"total_net_input_bytes", INFO_NAME},
    {"total_net_output_bytes", INFO_NAME},
    {"expired_keys", INFO_VALUE},
    {"evicted_keys", INFO_VALUE},
    {"keyspace_hits", INFO_OURS},
    {"keyspace_misses", INFO_OURS},
    {"pubsub_channels", INFO_VALUE},
    {"pubsub_patterns", INFO_VALUE},
    {"pubsubshard_channels", INFO_VALUE},
    {"tracking_total_keys", INFO_OURS},
    {"tracking_total_items", INFO_OURS},
    {"tracking_total_prefixes", INFO_VALUE},
    {"total_error_replies", INFO_VALUE},
    {"role", INFO_VALUE},
    {"connected_slaves", INFO_VALUE},
    {"master_replid", INFO_NAME},
    {"master_replid2", INFO_VALUE},
    {"master_repl_offset", INFO_NAME},
    {"second_repl_offset", INFO_VALUE},
    {"cluster_enabled", INFO_VALUE}};

static int info_find(word name)
{
    size_t i;

    for (i = 0; i < sizeof info_fields / sizeof *info_fields; i++)
        if (name.n == strlen(info_fields[i].name) &&
            memcmp(name.p, info_fields[i].name, name.n) == 0)
            return (int)i;
    return -1;
}

/* db0:keys=1,expires=0,avg_ttl=0: the last is an estimate. */
static void info_db(bytes *out, word line)
{
    const char *end = (const char *)memmem(line.p, line.n, ",avg_ttl", 8);

    bytes_put(out, line.p, end == NULL ? line.n : (size_t)(end - line.p));
    bytes_text(out, " ");
}

/* A section that ours does not have counts with nothing in it. */
static int info_section(word line)
{
    static const char *const names[] = {"# Server", "# Clients", "# Memory",
        "# Persistence", "# Stats", "# Replication", "# Cluster",
        "# Keyspace", NULL};
    int i;

    for (i = 0; names[i] != NULL; i++)
        if (word_is(line, names[i]))
            return 1;
    return 0;
}

static void info_line(bytes *out, word line, const side *s)
{
    const char *colon = (const char *)memchr(line.p, ':', line.n);
    word name = line;
    int at;

    if (line.n > 1 && line.p[0] == '#' && info_section(line)) {
        bytes_put(out, line.p, line.n);
        bytes_text(out, " ");
        return;
    }
    name.n = colon == NULL ? 0 : (size_t)(colon - line.p);
    at = info_find(name);
    if (name.n > 2 && memcmp(name.p, "db", 2) == 0 && name.p[2] >= '0' &&
        name.p[2] <= '9')
        info_db(out, line);
    else if (at < 0 && strcmp(s->name, "ours") == 0)
        bytes_format(out, "%.*s ", (int)line.n, line.p);
    else if (at >= 0 && info_fields[at].how != INFO_HIDDEN) {
        int named = info_fields[at].how == INFO_NAME ||
                    (info_fields[at].how == INFO_OURS && info_with_valkey);

        bytes_put(out, line.p, named ? name.n : line.n);
        bytes_text(out, " ");
    }
}

void info_render(bytes *out, word text, const side *s)
{
    while (text.n > 0) {
        const char *end = (const char *)memchr(text.p, '\n', text.n);
        word line = text;

        line.n = end == NULL ? text.n : (size_t)(end - text.p);
        text.p += line.n + (end != NULL);
        text.n -= line.n + (end != NULL);
        if (line.n > 0 && line.p[line.n - 1] == '\r')
            line.n--;
        if (line.n > 0)
            info_line(out, line, s);
    }
}
