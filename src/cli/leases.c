/* SPDX-License-Identifier: MIT
 *
 * leases.c - relet leases: lists each lease with its holder, the time that is
 * left and the number of clients that wait.
 *
 * Beside each lease that relet ever took there is KEY:fence or {KEY}:fence, a
 * hash which is never deleted. SCAN looks for these hashes. The rest is read in
 * one transaction for each lease, so that a line shows a single moment. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define LEASES_FENCE ":fence"
#define LEASES_SLEEPERS ":sleepers"

typedef struct lease_row {
    char *key;
    char *fence;
} lease_row;

typedef struct lister {
    cli *c;
    relet_span prefix;
    lease_row *rows;
    size_t n, cap;
    int code;
} lister;

/* ------------------------------------------------------------------ finding */

static char *leases_copy(const char *p, size_t n)
{
    char *copy = (char *)cli_grow(NULL, n + 1);

    memcpy(copy, p, n);
    copy[n] = 0;
    return copy;
}

/* The lease's key, without the braces that the fence's name has around it. */
static relet_span leases_key_of(relet_span fence)
{
    relet_span key = fence;

    key.n -= sizeof LEASES_FENCE - 1;
    if (key.n > 2 && key.p[0] == '{' && key.p[key.n - 1] == '}' &&
        !memchr(key.p, '}', key.n - 1)) {
        key.p++;
        key.n -= 2;
    }
    return key;
}

static void leases_found(lister *l, relet_span fence)
{
    const size_t end = sizeof LEASES_FENCE - 1;
    relet_span key;

    if (fence.n <= end ||
        memcmp(fence.p + fence.n - end, LEASES_FENCE, end) != 0)
        return;
    key = leases_key_of(fence);
    if (key.n < l->prefix.n || memcmp(key.p, l->prefix.p, l->prefix.n) != 0)
        return;
    if (memchr(key.p, 0, key.n)) /* no lease of relet has a NUL */
        return;
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->rows = (lease_row *)cli_grow(l->rows, l->cap * sizeof *l->rows);
    }
    l->rows[l->n].key = leases_copy(key.p, key.n);
    l->rows[l->n].fence = leases_copy(fence.p, fence.n);
    l->n++;
}

static int leases_scan_page(lister *l, char *cursor, size_t size)
{
    relet_span argv[8] = {{"SCAN", 4},       {NULL, 0},     {"MATCH", 5},
                          {"*" LEASES_FENCE, 7}, {"COUNT", 5}, {"1000", 4},
                          {"TYPE", 4},       {"hash", 4}};
    relet_value part, key;
    relet_event ev;
    int code;

    argv[1] = relet_str(cursor);
    code = relet_call(l->c->r, argv, 8, &ev, -1);
    if (code)
        return cli_trouble(l->c, code);
    if (ev.kind != RELET_EV_REPLY)
        return cli_refused(l->c, &ev);
    part = relet_value_first(ev.value);
    snprintf(cursor, size, "%.*s", cli_text(relet_value_text(part)));
    part = relet_value_next(part);
    for (key = relet_value_first(part); relet_value_text(key).p;
         key = relet_value_next(key))
        leases_found(l, relet_value_text(key));
    return 0;
}

static int leases_compare(const void *a, const void *b)
{
    const lease_row *x = (const lease_row *)a, *y = (const lease_row *)b;
    int order = strcmp(x->key, y->key);

    return order ? order : strcmp(x->fence, y->fence);
}

static void leases_row_free(lease_row *row)
{
    free(row->key);
    free(row->fence);
}

/* Sorts the rows and drops repeats: SCAN may return a key more than once. */
static void leases_sort(lister *l)
{
    size_t i, n = 0;

    if (l->n > 1)
        qsort(l->rows, l->n, sizeof *l->rows, leases_compare);
    for (i = 0; i < l->n; i++) {
        if (n > 0 && !leases_compare(&l->rows[n - 1], &l->rows[i]))
            leases_row_free(&l->rows[i]);
        else
            l->rows[n++] = l->rows[i];
    }
    l->n = n;
}

static int leases_scan(lister *l)
{
    char cursor[32] = "0";
    int code;

    do {
        code = leases_scan_page(l, cursor, sizeof cursor);
    } while (!code && strcmp(cursor, "0") != 0);
    leases_sort(l);
    return code;
}

/* ------------------------------------------------------------------ showing */

static void leases_show_text(const lease_row *row, show_form form,
                             relet_span holder, relet_span token,
                             int64_t left_ms, int64_t waiting)
{
    if (form == SHOW_PRETTY)
        show_quoted(stdout, relet_str(row->key));
    else
        show_name(stdout, row->key);
    putchar('\t');
    if (!holder.p)
        putchar('-');
    else if (form == SHOW_PRETTY)
        show_quoted(stdout, holder);
    else
        fwrite(holder.p, 1, holder.n, stdout);
    printf("\t%.*s\t", cli_text(token));
    if (left_ms < 0)
        putchar('-');
    else
        printf("%" PRId64, left_ms);
    printf("\t%" PRId64 "\n", waiting);
}

static void leases_show_json(const lease_row *row, relet_span holder,
                             relet_span token, int64_t left_ms,
                             int64_t waiting)
{
    fputs("{\"key\":", stdout);
    show_json(stdout, relet_str(row->key));
    fputs(",\"holder\":", stdout);
    if (holder.p)
        show_json(stdout, holder);
    else
        fputs("null", stdout);
    printf(",\"token\":%.*s,\"left_ms\":", cli_text(token));
    if (left_ms < 0)
        fputs("null", stdout);
    else
        printf("%" PRId64, left_ms);
    printf(",\"waiting\":%" PRId64 "}\n", waiting);
}

/* Shows the transaction's reply: [holder, ms left, token, sleepers]. A fence
 * without a token is not relet's, nor is a key that is no string: both are
 * skipped. */
static void leases_show(const lister *l, const lease_row *row, relet_value v)
{
    relet_span holder, token;
    int64_t left_ms = -1, waiting = 0, number;

    v = relet_value_first(v);
    if (relet_value_type(v) == RELET_T_ERROR)
        return;
    holder = relet_value_text(v);
    v = relet_value_next(v);
    if (!relet_value_int(v, &left_ms))
        left_ms = -1;
    v = relet_value_next(v);
    token = relet_value_text(v);
    if (!relet_value_int(v, &number))
        return;
    v = relet_value_next(v);
    if (!relet_value_int(v, &waiting))
        waiting = 0;
    if (!holder.p && !waiting && !l->c->all)
        return;
    if (show_form_of(l->c) == SHOW_JSON)
        leases_show_json(row, holder, token, left_ms, waiting);
    else
        leases_show_text(row, show_form_of(l->c), holder, token, left_ms,
                         waiting);
}

static int leases_ask(const lister *l, const lease_row *row, uint64_t tag)
{
    size_t n = strlen(row->fence) - (sizeof LEASES_FENCE - 1);
    char *sleepers = (char *)cli_grow(NULL, n + sizeof LEASES_SLEEPERS);
    relet_span get[2], pttl[2], hget[3], zcard[2];
    relet_args commands[4];
    relet_request q = cli_request(l->c);
    int code;

    memcpy(sleepers, row->fence, n);
    memcpy(sleepers + n, LEASES_SLEEPERS, sizeof LEASES_SLEEPERS);
    get[0] = relet_str("GET");
    pttl[0] = relet_str("PTTL");
    hget[0] = relet_str("HGET");
    zcard[0] = relet_str("ZCARD");
    get[1] = pttl[1] = relet_str(row->key);
    hget[1] = relet_str(row->fence);
    hget[2] = relet_str("token");
    zcard[1] = relet_str(sleepers);
    commands[0].argv = get;
    commands[1].argv = pttl;
    commands[2].argv = hget;
    commands[3].argv = zcard;
    commands[0].argc = commands[1].argc = commands[3].argc = 2;
    commands[2].argc = 3;
    q.tag = tag;
    code = relet_transaction(l->c->r, commands, 4, &q);
    free(sleepers);
    return code;
}

static void leases_heard(lister *l, const relet_event *ev)
{
    int code = 0;

    if (ev->kind == RELET_EV_REPLY && ev->tag < l->n && l->rows)
        leases_show(l, &l->rows[ev->tag], ev->value);
    else if (ev->kind == RELET_EV_ERROR || ev->kind == RELET_EV_NOT_SENT ||
             ev->kind == RELET_EV_UNSURE)
        code = cli_refused(l->c, ev);
    if (code > l->code)
        l->code = code;
}

/* Transactions that are under way at a time. */
#define LEASES_DEPTH 100

static int leases_list(lister *l)
{
    relet_event ev;
    size_t asked = 0;
    int code = 0;

    while (!code && (asked < l->n || relet_outstanding(l->c->r) > 0)) {
        if (asked < l->n && relet_outstanding(l->c->r) < LEASES_DEPTH) {
            code = leases_ask(l, &l->rows[asked], asked);
            asked++;
            continue;
        }
        code = relet_wait(l->c->r, &ev, -1);
        if (code == 1) {
            leases_heard(l, &ev);
            code = 0;
        }
    }
    return code ? cli_trouble(l->c, code) : l->code;
}

static int leases_run(cli *c)
{
    lister l;
    size_t i;
    int code;

    memset(&l, 0, sizeof l);
    l.c = c;
    if (c->argc > 1) {
        cli_say("leases takes one prefix, not '%s', too", c->argv[1]);
        return CLI_USAGE;
    }
    l.prefix = relet_str(c->argc ? c->argv[0] : "");
    code = cli_configure(c);
    if (!code)
        code = cli_connect(c, 0);
    if (!code)
        code = leases_scan(&l);
    if (!code)
        code = leases_list(&l);
    for (i = 0; i < l.n; i++)
        leases_row_free(&l.rows[i]);
    free(l.rows);
    return code;
}

static const cli_option leases_options[] = {
    {'a', "all", NULL, CLI_FLAG, offsetof(cli, all), 0, 0,
     "also leases without a holder and without followers"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command leases_command = {
    "leases", "list the leases, their holders and followers",
    "leases [OPTION]... [PREFIX]",
    "Prints a line for each lease that is held or waited for and whose key\n"
    "begins with PREFIX: key, holder, token, milliseconds left, and how many\n"
    "clients wait. Goes through all keys by SCAN. Locks that only other\n"
    "programs take are not seen.",
    leases_options, 0, leases_run,
};
