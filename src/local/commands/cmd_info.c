/* SPDX-License-Identifier: MIT
 *
 * cmd_info.c - INFO: the state of this server, in the fields of Redis.
 */
#include "rows.h"
#include "scripts.h"

static void cmd_info_text(rlt_out *o, const char *name, const char *v)
{
    rlt_out_raw(o, name, strlen(name));
    rlt_out_raw(o, ":", 1);
    rlt_out_raw(o, v, strlen(v));
    rlt_out_raw(o, "\r\n", 2);
}

static void cmd_info_int(rlt_out *o, const char *name, int64_t v)
{
    char text[24];

    text[rlt_text_put_i64(text, v)] = '\0';
    cmd_info_text(o, name, text);
}

static void cmd_info_server(const rlt_server *s, rlt_out *o)
{
    int64_t up = (s->now_us - s->start_us) / 1000000;

    cmd_info_text(o, "redis_version", "7.0.15");
    cmd_info_text(o, "relet_version", RELET_VERSION);
    cmd_info_text(o, "redis_mode", "standalone");
    cmd_info_int(o, "arch_bits", (int64_t)sizeof(void *) * 8);
    cmd_info_text(o, "run_id", s->run_id);
    cmd_info_int(o, "tcp_port", s->config.port);
    cmd_info_int(o, "server_time_usec", s->now_us);
    cmd_info_int(o, "uptime_in_seconds", up);
    cmd_info_int(o, "uptime_in_days", up / 86400);
}

static void cmd_info_clients(const rlt_server *s, rlt_out *o)
{
    cmd_info_int(o, "connected_clients", s->peers_count);
    cmd_info_int(o, "cluster_connections", 0);
    cmd_info_int(o, "maxclients", s->config.clients_max);
    cmd_info_int(o, "blocked_clients", s->blocked);
    cmd_info_int(o, "tracking_clients", s->trackers);
}

static void cmd_info_memory(const rlt_server *s, rlt_out *o)
{
    cmd_info_int(o, "used_memory", (int64_t)s->held);
    cmd_info_int(o, "used_memory_peak", (int64_t)s->held_peak);
    cmd_info_int(o, "used_memory_dataset", (int64_t)s->pool.used);
    cmd_info_int(o, "number_of_cached_scripts", s->scripts->known.count);
    cmd_info_int(o, "maxmemory", (int64_t)s->settings.maxmemory);
    cmd_info_text(o, "maxmemory_policy", "noeviction");
}

static void cmd_info_persistence(const rlt_server *s, rlt_out *o)
{
    cmd_info_int(o, "loading", 0);
    cmd_info_int(o, "rdb_changes_since_last_save", s->dirty);
    cmd_info_int(o, "rdb_last_save_time", s->start_us / 1000000);
    cmd_info_int(o, "aof_enabled", 0);
}

static void cmd_info_stats(const rlt_server *s, rlt_out *o)
{
    const rlt_counts *n = &s->counts;

    cmd_info_int(o, "total_connections_received", (int64_t)n->connections);
    cmd_info_int(o, "total_commands_processed", (int64_t)n->commands);
    cmd_info_int(o, "total_net_input_bytes", (int64_t)n->bytes_in);
    cmd_info_int(o, "total_net_output_bytes", (int64_t)n->bytes_out);
    cmd_info_int(o, "expired_keys", (int64_t)n->expired);
    cmd_info_int(o, "evicted_keys", 0);
    cmd_info_int(o, "keyspace_hits", (int64_t)n->hits);
    cmd_info_int(o, "keyspace_misses", (int64_t)n->misses);
    cmd_info_int(o, "pubsub_channels", s->topics[RLT_NEWS_CHANNEL].count);
    cmd_info_int(o, "pubsub_patterns", s->topics[RLT_NEWS_PATTERN].count);
    cmd_info_int(o, "pubsubshard_channels", s->topics[RLT_NEWS_SHARD].count);
    cmd_info_int(o, "tracking_total_keys", s->tracked.count);
    cmd_info_int(o, "tracking_total_items", (int64_t)s->tracked_items);
    cmd_info_int(o, "tracking_total_prefixes", s->prefixes.count);
    cmd_info_int(o, "total_error_replies", (int64_t)n->errors);
}

static void cmd_info_replication(const rlt_server *s, rlt_out *o)
{
    cmd_info_text(o, "role", "master");
    cmd_info_int(o, "connected_slaves", 0);
    cmd_info_text(o, "master_replid", s->replid);
    cmd_info_text(o, "master_replid2", s->replid2);
    cmd_info_int(o, "master_repl_offset", 0);
    cmd_info_int(o, "second_repl_offset",
                 strspn(s->replid2, "0") == 40 ? -1 : 0);
}

static void cmd_info_cluster(const rlt_server *s, rlt_out *o)
{
    (void)s;
    cmd_info_int(o, "cluster_enabled", 0);
}

static void cmd_info_keyspace(const rlt_server *s, rlt_out *o)
{
    char name[16] = "db", v[96];
    const rlt_keys *k;
    rlt_say say;
    uint32_t db;

    for (db = 0; db < s->config.databases; db++) {
        k = &s->dbs[db].keys;
        if (rlt_keys_count(k) == 0)
            continue;
        name[2 + rlt_text_put_u64(name + 2, db)] = '\0';
        rlt_say_init(&say, v, sizeof v);
        rlt_say_text(&say, "keys=");
        rlt_say_int(&say, rlt_keys_count(k));
        rlt_say_text(&say, ",expires=");
        rlt_say_int(&say, rlt_keys_due_count(k));
        rlt_say_text(&say, ",avg_ttl=0");
        cmd_info_text(o, name, v);
    }
}

typedef struct cmd_info_section {
    const char *name, *title;
    void (*write)(const rlt_server *s, rlt_out *o);
} cmd_info_section;

static const cmd_info_section cmd_info_sections[] = {
    {"server", "# Server\r\n", cmd_info_server},
    {"clients", "# Clients\r\n", cmd_info_clients},
    {"memory", "# Memory\r\n", cmd_info_memory},
    {"persistence", "# Persistence\r\n", cmd_info_persistence},
    {"stats", "# Stats\r\n", cmd_info_stats},
    {"replication", "# Replication\r\n", cmd_info_replication},
    {"cluster", "# Cluster\r\n", cmd_info_cluster},
    {"keyspace", "# Keyspace\r\n", cmd_info_keyspace}};

static int cmd_info_wanted(const rlt_call *c, const char *name)
{
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        if (rlt_call_is(c, i, name) || rlt_call_is(c, i, "all") ||
            rlt_call_is(c, i, "default") || rlt_call_is(c, i, "everything"))
            return 1;
    return c->argc == 1;
}

static void cmd_info_info(rlt_call *c)
{
    size_t i, n = sizeof cmd_info_sections / sizeof *cmd_info_sections;
    const cmd_info_section *s = cmd_info_sections;
    relet_span text;
    rlt_out o;

    rlt_out_init(&o, c->server->memory, c->server->config.output_max);
    for (i = 0; i < n; i++, s++) {
        if (!cmd_info_wanted(c, s->name))
            continue;
        if (rlt_buf_used(&o.buf) > 0)
            rlt_out_raw(&o, "\r\n", 2);
        rlt_out_raw(&o, s->title, strlen(s->title));
        s->write(c->server, &o);
    }
    text.p = (const char *)rlt_buf_head(&o.buf);
    text.n = rlt_buf_used(&o.buf);
    if (o.failed)
        rlt_call_error(c, RLT_ERR_OOM);
    else
        rlt_out_verbatim(c->out, "txt", text);
    rlt_out_free(&o);
}

static const rlt_command cmd_info_rows[] = {
    {"info", cmd_info_info, -1, RLT_CMD_LOADING | RLT_CMD_STALE, 0, 0, 0, 0,
     0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_info_rows(size_t *n)
{
    *n = sizeof cmd_info_rows / sizeof *cmd_info_rows;
    return cmd_info_rows;
}
