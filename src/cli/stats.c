/* SPDX-License-Identifier: MIT
 *
 * stats.c - relet stats: queues in numbers, for people and for monitors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct stats_row {
    const char *name;
    relet_queue_info info;
} stats_row;

static void stats_text(const stats_row *row)
{
    const relet_queue_info *i = &row->info;

    show_name(stdout, row->name);
    printf("\twaiting %" PRId64 "\tdelayed %" PRId64 "\tleased %" PRId64
           "\tdone %" PRId64 "\tdead %" PRId64 "\tput %" PRId64
           "\tfinished %" PRId64 "\tidle %" PRId64,
           i->waiting + i->ranked, i->delayed, i->leased, i->done,
           i->dead, i->put, i->done_ever, i->idle);
    if (i->waits_s >= 0)
        printf("\toldest %" PRId64 " s", i->waits_s);
    if (i->limit >= 0)
        printf("\tlimit %" PRId64, i->limit);
    if (i->is_closed)
        fputs("\tpaused in", stdout);
    if (i->is_stopped)
        fputs("\tpaused out", stdout);
    putchar('\n');
}

static void stats_member(const char *name, int64_t v)
{
    if (v < 0)
        printf(",\"%s\":null", name);
    else
        printf(",\"%s\":%" PRId64, name, v);
}

static void stats_json(const stats_row *row)
{
    const relet_queue_info *i = &row->info;

    fputs("{\"queue\":", stdout);
    show_json(stdout, relet_str(row->name));
    stats_member("waiting", i->waiting + i->ranked);
    stats_member("delayed", i->delayed);
    stats_member("leased", i->leased);
    stats_member("done", i->done);
    stats_member("dead", i->dead);
    stats_member("put", i->put);
    stats_member("finished", i->done_ever);
    stats_member("idle", i->idle);
    stats_member("limit", i->limit);
    stats_member("oldest_s", i->waits_s);
    stats_member("due_ms", i->due_ms);
    stats_member("lapse_ms", i->lapse_ms);
    printf(",\"paused_in\":%s,\"paused_out\":%s}\n",
           i->is_closed ? "true" : "false", i->is_stopped ? "true" : "false");
}

/* ------------------------------------------------------------- Prometheus */

/* Label values are UTF-8: a single invalid byte would cost all queues their
 * samples. */
static void stats_label(const char *s)
{
    while (*s) {
        size_t n = show_utf8(s);

        if (*s == '\\' || *s == '"')
            putchar('\\');
        if (n == 0)
            printf("\\\\x%02x", (unsigned char)*s);
        else if (*s == '\n')
            fputs("\\n", stdout);
        else
            fwrite(s, 1, n, stdout);
        s += n > 0 ? n : 1;
    }
}

static void stats_sample(const char *metric, const stats_row *row,
                         const char *place, int64_t v)
{
    if (v < 0)
        return;
    printf("relet_queue_%s{queue=\"", metric);
    stats_label(row->name);
    if (place)
        printf("\",place=\"%s", place);
    printf("\"} %" PRId64 "\n", v);
}

static void stats_places(const stats_row *row)
{
    const relet_queue_info *i = &row->info;

    stats_sample("jobs", row, "waiting", i->waiting + i->ranked);
    stats_sample("jobs", row, "delayed", i->delayed);
    stats_sample("jobs", row, "leased", i->leased);
    stats_sample("jobs", row, "done", i->done);
    stats_sample("jobs", row, "dead", i->dead);
}

typedef struct stats_metric {
    const char *name, *kind, *help;
    size_t at; /* in relet_queue_info */
} stats_metric;

static const stats_metric stats_metrics[] = {
    {"put_total", "counter", "Jobs that were put.",
     offsetof(relet_queue_info, put)},
    {"finished_total", "counter", "Jobs that were done.",
     offsetof(relet_queue_info, done_ever)},
    {"idle_workers", "gauge", "Workers without work.",
     offsetof(relet_queue_info, idle)},
    {"oldest_seconds", "gauge", "How long the first job in line has waited.",
     offsetof(relet_queue_info, waits_s)},
    {"limit", "gauge", "Jobs that may be leased at a time.",
     offsetof(relet_queue_info, limit)},
    {"paused_in", "gauge", "1 while no job can be put.",
     offsetof(relet_queue_info, is_closed)},
    {"paused_out", "gauge", "1 while no job can be claimed.",
     offsetof(relet_queue_info, is_stopped)},
};

static void stats_head(const char *name, const char *kind, const char *help)
{
    printf("# HELP relet_queue_%s %s\n# TYPE relet_queue_%s %s\n", name, help,
           name, kind);
}

static void stats_prom(const stats_row *rows, size_t n)
{
    size_t i, k;

    stats_head("jobs", "gauge", "Jobs by place.");
    for (i = 0; i < n; i++)
        stats_places(&rows[i]);
    for (k = 0; k < sizeof stats_metrics / sizeof *stats_metrics; k++) {
        const stats_metric *m = &stats_metrics[k];

        stats_head(m->name, m->kind, m->help);
        for (i = 0; i < n; i++) {
            int64_t v;

            memcpy(&v, (const char *)&rows[i].info + m->at, sizeof v);
            stats_sample(m->name, &rows[i], NULL, v);
        }
    }
}

/* ------------------------------------------------------------------- asking */

static int stats_ask(cli *c, stats_row *row)
{
    relet_request q = cli_request(c);
    relet_event ev;
    int code = relet_queue_status(c->r, relet_str(row->name), &q);

    c->queue = row->name;
    code = cli_answer(c, code, &ev);
    if (!code && !relet_queue_status_read(ev.value, &row->info)) {
        cli_say("%s: an answer of another form", row->name);
        code = CLI_ERROR;
    }
    return code;
}

static int stats_named_before(char **names, size_t i)
{
    size_t k;

    for (k = 0; k < i && strcmp(names[k], names[i]) != 0; k++)
        ;
    return k < i;
}

/* A queue that is named twice is shown once. An error of the server about one
 * queue does not keep the others from being shown. */
static int stats_of(cli *c, char **names, size_t named)
{
    stats_row *rows = (stats_row *)cli_grow(NULL, (named + 1) * sizeof *rows);
    size_t i, n = 0;
    int code, worst = 0;

    for (i = 0; i < named && worst <= CLI_ERROR; i++) {
        if (stats_named_before(names, i))
            continue;
        rows[n].name = names[i];
        code = stats_ask(c, &rows[n]);
        worst = code > worst ? code : worst;
        if (code)
            continue;
        if (!c->prom && c->json)
            stats_json(&rows[n]);
        else if (!c->prom)
            stats_text(&rows[n]);
        n++;
    }
    if (worst <= CLI_ERROR && c->prom)
        stats_prom(rows, n);
    free(rows);
    return worst;
}

static int stats_run(cli *c)
{
    char **names = NULL;
    size_t n = 0;
    int code;

    if (c->prom && c->json) {
        cli_say("stats takes --prom or --json, not both");
        return CLI_USAGE;
    }
    code = cli_configure(c);
    if (!code)
        code = cli_connect(c, 0);
    if (code)
        return code;
    if (c->argc > 0)
        return stats_of(c, c->argv, (size_t)c->argc);
    code = cli_queues(c, &names);
    for (n = 0; names[n]; n++)
        ;
    if (!code)
        code = stats_of(c, names, n);
    while (n > 0)
        free(names[--n]);
    free(names);
    return code;
}

static const cli_option stats_options[] = {
    {0, "prom", NULL, CLI_FLAG, offsetof(cli, prom), 0, 0,
     "print the text format of Prometheus"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command stats_command = {
    "stats", "show the counts of queues",
    "stats [OPTION]... [QUEUE]...",
    "Prints for each queue how many jobs wait, are delayed, leased, kept\n"
    "though done, and dead; how many were put and finished in all; how many\n"
    "workers are idle; and how long the first job in line has waited. Without\n"
    "a name, SCAN looks for all queues.",
    stats_options, 0, stats_run,
};
