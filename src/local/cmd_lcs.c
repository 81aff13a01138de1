/* SPDX-License-Identifier: MIT
 *
 * cmd_lcs.c - LCS: what two strings have in common, in order.
 */
#include "rows.h"

typedef struct cmd_lcs_asked {
    int len, idx, with_len;
    int64_t min_len;
} cmd_lcs_asked;

/* Lengths of the longest common subsequence of all beginnings: of the first i
 * bytes of a and the first j of b. */
typedef struct cmd_lcs_table {
    relet_span a, b;
    uint32_t *len;
} cmd_lcs_table;

static uint32_t *cmd_lcs_at(const cmd_lcs_table *t, size_t i, size_t j)
{
    return &t->len[i * (t->b.n + 1) + j];
}

static void cmd_lcs_fill(const cmd_lcs_table *t)
{
    size_t i, j;

    for (i = 0; i <= t->a.n; i++)
        for (j = 0; j <= t->b.n; j++) {
            uint32_t *at = cmd_lcs_at(t, i, j);

            if (i == 0 || j == 0)
                *at = 0;
            else if (t->a.p[i - 1] == t->b.p[j - 1])
                *at = *cmd_lcs_at(t, i - 1, j - 1) + 1;
            else
                *at = RLT_MAX(*cmd_lcs_at(t, i - 1, j),
                              *cmd_lcs_at(t, i, j - 1));
        }
}

/* A run of bytes that both have: up to i and j, both not included. */
typedef struct cmd_lcs_run {
    size_t i, j, n;
} cmd_lcs_run;

/* The last run before *i and *j, which become where it begins: 1, or 0: there
 * is none. When both ways are as good, b is the one to be shortened. */
static int cmd_lcs_back(const cmd_lcs_table *t, size_t *i, size_t *j,
                        cmd_lcs_run *run)
{
    while (*i > 0 && *j > 0 && t->a.p[*i - 1] != t->b.p[*j - 1]) {
        if (*cmd_lcs_at(t, *i - 1, *j) > *cmd_lcs_at(t, *i, *j - 1))
            --*i;
        else
            --*j;
    }
    run->i = *i;
    run->j = *j;
    run->n = 0;
    while (*i > 0 && *j > 0 && t->a.p[*i - 1] == t->b.p[*j - 1]) {
        --*i;
        --*j;
        run->n++;
    }
    return run->n > 0;
}

static void cmd_lcs_pair(rlt_out *o, size_t end, size_t n)
{
    rlt_out_array(o, 2);
    rlt_out_int(o, (int64_t)(end - n));
    rlt_out_int(o, (int64_t)end - 1);
}

static void cmd_lcs_tell_runs(rlt_call *c, const cmd_lcs_table *t,
                              const cmd_lcs_asked *asked)
{
    size_t i = t->a.n, j = t->b.n, mark, n = 0;
    cmd_lcs_run run;

    rlt_out_map(c->out, 2);
    rlt_out_text(c->out, "matches");
    mark = rlt_out_later(c->out);
    while (cmd_lcs_back(t, &i, &j, &run)) {
        if ((int64_t)run.n < asked->min_len)
            continue;
        rlt_out_array(c->out, asked->with_len ? 3 : 2);
        cmd_lcs_pair(c->out, run.i, run.n);
        cmd_lcs_pair(c->out, run.j, run.n);
        if (asked->with_len)
            rlt_out_int(c->out, (int64_t)run.n);
        n++;
    }
    rlt_out_later_end(c->out, mark, '*', n);
    rlt_out_text(c->out, "len");
    rlt_out_int(c->out, *cmd_lcs_at(t, t->a.n, t->b.n));
}

static void cmd_lcs_tell_bytes(rlt_call *c, const cmd_lcs_table *t)
{
    size_t i = t->a.n, j = t->b.n, at = *cmd_lcs_at(t, i, j);
    cmd_lcs_run run;
    relet_span s;
    char *text = (char *)rlt_call_scratch(c, at + 1);

    if (text == NULL)
        return;
    s.p = text;
    s.n = at;
    while (cmd_lcs_back(t, &i, &j, &run)) {
        at -= run.n;
        memcpy(text + at, t->a.p + i, run.n);
    }
    rlt_out_bulk(c->out, s);
}

static int cmd_lcs_options(rlt_call *c, cmd_lcs_asked *asked)
{
    uint32_t i;

    memset(asked, 0, sizeof *asked);
    for (i = 3; i < c->argc; i++) {
        if (rlt_call_is(c, i, "idx")) {
            asked->idx = 1;
        } else if (rlt_call_is(c, i, "len")) {
            asked->len = 1;
        } else if (rlt_call_is(c, i, "withmatchlen")) {
            asked->with_len = 1;
        } else if (rlt_call_is(c, i, "minmatchlen") && i + 1 < c->argc) {
            if (!rlt_call_int(c, ++i, &asked->min_len, NULL))
                return 0;
        } else {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
    }
    if (asked->idx && asked->len) {
        rlt_call_error(c, "ERR If you want both the length and indexes, "
                          "please just use IDX.");
        return 0;
    }
    return 1;
}

static int cmd_lcs_strings(rlt_call *c, relet_span *s)
{
    rlt_entry *e[2];
    int i;

    for (i = 0; i < 2; i++)
        e[i] = rlt_call_find_read(c, c->argv[1 + i]);
    for (i = 0; i < 2; i++) {
        if (e[i] && rlt_keys_obj(e[i])->type != RLT_OBJ_STRING) {
            rlt_call_error(c, "ERR The specified keys must contain string "
                              "values");
            return 0;
        }
        s[i] = e[i] ? rlt_obj_span(rlt_keys_obj(e[i])) : relet_str("");
    }
    return 1;
}

static void cmd_lcs_lcs(rlt_call *c)
{
    cmd_lcs_asked asked;
    cmd_lcs_table t;
    relet_span s[2];

    if (!cmd_lcs_strings(c, s) || !cmd_lcs_options(c, &asked))
        return;
    t.a = s[0];
    t.b = s[1];
    if (t.b.n + 1 > SIZE_MAX / 16 / (t.a.n + 1)) {
        rlt_call_error(c, RLT_ERR_OOM);
        return;
    }
    t.len = (uint32_t *)rlt_call_scratch(
        c, (t.a.n + 1) * (t.b.n + 1) * sizeof *t.len);
    if (t.len == NULL)
        return;
    cmd_lcs_fill(&t);
    if (asked.idx)
        cmd_lcs_tell_runs(c, &t, &asked);
    else if (asked.len)
        rlt_out_int(c->out, *cmd_lcs_at(&t, t.a.n, t.b.n));
    else
        cmd_lcs_tell_bytes(c, &t);
}

static const rlt_command cmd_lcs_rows[] = {
    {"lcs", cmd_lcs_lcs, -3, RLT_CMD_READONLY, 1, 2, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_lcs_rows(size_t *n)
{
    *n = sizeof cmd_lcs_rows / sizeof *cmd_lcs_rows;
    return cmd_lcs_rows;
}
