/* SPDX-License-Identifier: MIT
 *
 * cmd_stream.c - entries of a stream: adding, listing, deleting, trimming.
 */
#include "cmd_stream.h"

#define CMD_STREAM_BAD_ID \
    "ERR Invalid stream ID specified as stream command argument"

/* ---------------------------------------------------------------------- ids */

RELET_PRIVATE int rlt_cmd_stream_id(rlt_call *c, uint32_t i, uint64_t missing,
                                    rlt_stream_id *id)
{
    if (rlt_stream_id_read(c->argv[i], missing, id, NULL))
        return 1;
    rlt_call_error(c, CMD_STREAM_BAD_ID);
    return 0;
}

RELET_PRIVATE int rlt_cmd_stream_id_any(rlt_call *c, uint32_t i,
                                        uint64_t missing, rlt_stream_id *id)
{
    if (rlt_span_is(c->argv[i], "-")) {
        *id = rlt_stream_id_of(0, 0);
        return 1;
    }
    if (rlt_span_is(c->argv[i], "+")) {
        *id = rlt_stream_id_of(UINT64_MAX, UINT64_MAX);
        return 1;
    }
    return rlt_cmd_stream_id(c, i, missing, id);
}

RELET_PRIVATE int rlt_cmd_stream_bound(rlt_call *c, uint32_t i, int end,
                                       rlt_stream_id *id)
{
    uint64_t missing = end ? UINT64_MAX : 0;
    relet_span s = c->argv[i];

    if (s.n < 2 || *s.p != '(')
        return rlt_cmd_stream_id_any(c, i, missing, id);
    s.p++;
    s.n--;
    if (!rlt_stream_id_read(s, missing, id, NULL)) {
        rlt_call_error(c, CMD_STREAM_BAD_ID);
        return 0;
    }
    if (end ? rlt_stream_id_back(id) : rlt_stream_id_next(id))
        return 1;
    rlt_call_error(c, end ? "ERR invalid end ID for the interval"
                          : "ERR invalid start ID for the interval");
    return 0;
}

static relet_span cmd_stream_id_span(char *text, rlt_stream_id id)
{
    relet_span s;

    s.p = text;
    s.n = rlt_stream_id_text(text, id);
    return s;
}

RELET_PRIVATE void rlt_cmd_stream_log_id(rlt_call *c, rlt_stream_id id)
{
    char text[RLT_STREAM_ID_MAX];

    rlt_call_effect_word(c, cmd_stream_id_span(text, id));
}

/* ------------------------------------------------------------------ listing */

RELET_PRIVATE void rlt_cmd_stream_tell_id(rlt_call *c, rlt_stream_id id)
{
    char text[RLT_STREAM_ID_MAX];

    rlt_out_bulk(c->out, cmd_stream_id_span(text, id));
}

RELET_PRIVATE void rlt_cmd_stream_tell(rlt_call *c, const rlt_stream_entry *e)
{
    uint32_t i;

    rlt_out_array(c->out, 2);
    rlt_cmd_stream_tell_id(c, e->id);
    rlt_out_array(c->out, e->n);
    for (i = 0; i < e->n; i++)
        rlt_out_bulk(c->out, rlt_stream_string(e, i));
}

RELET_PRIVATE void rlt_cmd_stream_tell_range(rlt_call *c, const rlt_stream *s,
                                             rlt_stream_id from,
                                             rlt_stream_id to, uint64_t max,
                                             int reverse)
{
    size_t mark = rlt_out_later(c->out), n = 0;
    rlt_stream_id stop = reverse ? from : to;
    const rlt_stream_entry *e =
        rlt_stream_seek(s, reverse ? to : from, !reverse);
    int order;

    for (; e && (max == 0 || n < max); e = rlt_stream_step(e, !reverse), n++) {
        order = rlt_stream_id_compare(e->id, stop);
        if (reverse ? order < 0 : order > 0)
            break;
        rlt_cmd_stream_tell(c, e);
    }
    rlt_out_later_end(c->out, mark, '*', n);
}

static int cmd_stream_range_count(rlt_call *c, int64_t *count)
{
    uint32_t i;

    *count = -1;
    for (i = 4; i < c->argc; i += 2) {
        if (i + 1 == c->argc || !rlt_call_is(c, i, "count")) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
        if (!rlt_call_int(c, i + 1, count, NULL))
            return 0;
        *count = RLT_MAX(*count, 0);
    }
    return 1;
}

static void cmd_stream_range(rlt_call *c, int reverse)
{
    uint32_t skip = reverse ? 1 : 0;
    rlt_stream_id from, to;
    int64_t count;
    rlt_obj *o;

    if (!rlt_cmd_stream_bound(c, 2 + skip, 0, &from) ||
        !rlt_cmd_stream_bound(c, 3 - skip, 1, &to) ||
        !cmd_stream_range_count(c, &count) ||
        !rlt_call_read(c, 1, RLT_OBJ_STREAM, &o))
        return;
    if (o == NULL)
        rlt_out_array(c->out, 0);
    else if (count == 0)
        rlt_out_null_array(c->out);
    else
        rlt_cmd_stream_tell_range(c, &o->of.stream, from, to,
                                  count < 0 ? 0 : (uint64_t)count, reverse);
}

static void cmd_stream_xrange(rlt_call *c)
{
    cmd_stream_range(c, 0);
}

static void cmd_stream_xrevrange(rlt_call *c)
{
    cmd_stream_range(c, 1);
}

static void cmd_stream_len(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_STREAM, &o))
        rlt_out_int(c->out, o ? rlt_stream_count(&o->of.stream) : 0);
}

/* ---------------------------------------------- arguments of XADD and XTRIM */

typedef struct cmd_stream_words {
    int adds;      /* 1: XADD, 0: XTRIM                                      */
    int trims;     /* trim as `cut` says                                     */
    int limited;   /* LIMIT was given                                        */
    int no_make;   /* NOMKSTREAM                                             */
    int any_seq;   /* the id is ms-*                                         */
    int has_id;    /* it is not *                                            */
    rlt_stream_cut cut;
    rlt_stream_id id;
    uint32_t id_at;
} cmd_stream_words;

/* Reads MAXLEN or MINID at argv[*i]; *i stops at the threshold. */
static int cmd_stream_threshold(rlt_call *c, uint32_t *i, cmd_stream_words *w)
{
    int64_t max;

    if (w->trims) {
        rlt_call_error(c, "ERR syntax error, MAXLEN and MINID options at the "
                          "same time are not compatible");
        return 0;
    }
    w->trims = 1;
    w->cut.by_id = rlt_call_is(c, *i, "minid");
    *i += 1;
    if (*i + 1 < c->argc) {
        w->cut.approx = rlt_span_is(c->argv[*i], "~");
        *i += w->cut.approx || rlt_span_is(c->argv[*i], "=");
    }
    if (w->cut.by_id)
        return rlt_cmd_stream_id(c, *i, 0, &w->cut.min_id);
    if (!rlt_call_int(c, *i, &max, NULL))
        return 0;
    w->cut.max_count = (uint64_t)max;
    if (max < 0)
        rlt_call_error(c, "ERR The MAXLEN argument must be >= 0.");
    return max >= 0;
}

static int cmd_stream_limit(rlt_call *c, uint32_t i, cmd_stream_words *w)
{
    int64_t limit;

    if (!rlt_call_int(c, i, &limit, NULL))
        return 0;
    w->cut.limit = (uint64_t)limit;
    w->limited = 1;
    if (limit < 0)
        rlt_call_error(c, "ERR The LIMIT argument must be >= 0.");
    return limit >= 0;
}

/* An argument that is no option: XADD's id, or an error in XTRIM. */
static int cmd_stream_rest(rlt_call *c, uint32_t i, cmd_stream_words *w)
{
    if (!w->adds) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    w->id_at = i;
    w->has_id = 1;
    if (rlt_stream_id_read(c->argv[i], 0, &w->id, &w->any_seq))
        return 1;
    rlt_call_error(c, CMD_STREAM_BAD_ID);
    return 0;
}

static int cmd_stream_options(rlt_call *c, cmd_stream_words *w)
{
    uint32_t i;
    int more;

    for (i = 2; i < c->argc && w->id_at == 0; i++) {
        more = i + 1 < c->argc;
        if (w->adds && rlt_span_is(c->argv[i], "*")) {
            w->id_at = i;
        } else if (more && (rlt_call_is(c, i, "maxlen") ||
                            rlt_call_is(c, i, "minid"))) {
            if (!cmd_stream_threshold(c, &i, w))
                return 0;
        } else if (more && rlt_call_is(c, i, "limit")) {
            if (!cmd_stream_limit(c, ++i, w))
                return 0;
        } else if (w->adds && rlt_call_is(c, i, "nomkstream")) {
            w->no_make = 1;
        } else if (!cmd_stream_rest(c, i, w)) {
            return 0;
        }
    }
    return 1;
}

/* With ~ Redis trims at most that many entries at once, unless LIMIT is
 * given. */
#define CMD_STREAM_TRIM_MAX (100 * RLT_STREAM_NODE_ENTRIES)

static int cmd_stream_words_read(rlt_call *c, cmd_stream_words *w, int adds)
{
    const char *fault = NULL;

    memset(w, 0, sizeof *w);
    w->adds = adds;
    if (!cmd_stream_options(c, w))
        return 0;
    if (w->cut.limit > 0 && !w->trims)
        fault = "ERR syntax error, LIMIT cannot be used without specifying a "
                "trimming strategy";
    else if (!adds && !w->trims)
        fault = "ERR syntax error, XTRIM must be called with either MAXLEN or "
                "MINID strategies";
    else if (w->limited && !w->cut.approx)
        fault = "ERR syntax error, LIMIT cannot be used without the special ~ "
                "option";
    if (fault) {
        rlt_call_error(c, fault);
        return 0;
    }
    if (w->cut.approx && !w->limited)
        w->cut.limit = CMD_STREAM_TRIM_MAX;
    return 1;
}

/* What ~ removes depends on more than the entries, so the log gets the number
 * of entries that are left. */
static void cmd_stream_log_trim(rlt_call *c, const rlt_stream *s)
{
    rlt_call_effect_text(c, "MAXLEN");
    rlt_call_effect_text(c, "=");
    rlt_call_effect_int(c, rlt_stream_count(s));
}

static void cmd_stream_trim(rlt_call *c)
{
    cmd_stream_words w;
    uint32_t gone = 0;
    rlt_obj *o;

    if (!cmd_stream_words_read(c, &w, 0) ||
        !rlt_call_write(c, 1, RLT_OBJ_STREAM, &o))
        return;
    if (o)
        gone = rlt_stream_trim(&o->of.stream, c->pool, &w.cut);
    if (gone > 0) {
        rlt_call_taken(c, 1, o, RLT_EVENT_STREAM, "xtrim", gone);
        rlt_call_effect(c, 5);
        rlt_call_effect_text(c, "XTRIM");
        rlt_call_effect_word(c, c->argv[1]);
        cmd_stream_log_trim(c, &o->of.stream);
    }
    rlt_out_int(c->out, gone);
}

/* --------------------------------------------------------------------- XADD */

/* Sets *id of the new entry. 0: an error was replied. */
static int cmd_stream_new_id(rlt_call *c, const rlt_stream *s,
                             const cmd_stream_words *w, rlt_stream_id *id)
{
    int ok = 1;

    if (s->last.ms == UINT64_MAX && s->last.seq == UINT64_MAX) {
        rlt_call_error(c, "ERR The stream has exhausted the last possible ID, "
                          "unable to add more items");
        return 0;
    }
    *id = w->id;
    if (!w->has_id)
        ok = rlt_stream_id_for_now(s, (uint64_t)c->now_ms, id);
    else if (w->any_seq)
        ok = rlt_stream_id_in_ms(s, w->id.ms, id);
    if (ok && rlt_stream_id_compare(*id, s->last) > 0)
        return 1;
    rlt_call_error(c, "ERR The ID specified in XADD is equal or smaller than "
                      "the target stream top item");
    return 0;
}

static void cmd_stream_log_add(rlt_call *c, const rlt_stream *s,
                               const cmd_stream_words *w, rlt_stream_id id)
{
    uint32_t i;

    rlt_call_effect(c, c->argc - w->id_at + (w->trims ? 5u : 2u));
    rlt_call_effect_text(c, "XADD");
    rlt_call_effect_word(c, c->argv[1]);
    if (w->trims)
        cmd_stream_log_trim(c, s);
    rlt_cmd_stream_log_id(c, id);
    for (i = w->id_at + 1; i < c->argc; i++)
        rlt_call_effect_word(c, c->argv[i]);
}

static void cmd_stream_append(rlt_call *c, rlt_stream *s,
                              const cmd_stream_words *w, rlt_stream_id id)
{
    (void)rlt_stream_add(s, c->pool, id, c->argv + w->id_at + 1,
                         c->argc - w->id_at - 1);
    rlt_cmd_stream_tell_id(c, id);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STREAM, "xadd");
    if (w->trims && rlt_stream_trim(s, c->pool, &w->cut) > 0)
        rlt_call_event(c, RLT_EVENT_STREAM, "xtrim", c->argv[1]);
    cmd_stream_log_add(c, s, w, id);
    rlt_call_ready(c, c->argv[1]);
}

static void cmd_stream_add(rlt_call *c)
{
    cmd_stream_words w;
    rlt_stream_id id;
    uint32_t strings;
    rlt_obj *o;

    if (!cmd_stream_words_read(c, &w, 1))
        return;
    strings = w.id_at > 0 ? c->argc - w.id_at - 1 : 0;
    if (strings == 0 || strings % 2 == 1) {
        rlt_call_error_arity(c);
        return;
    }
    if (w.has_id && !w.any_seq && w.id.ms == 0 && w.id.seq == 0) {
        rlt_call_error(c,
                       "ERR The ID specified in XADD must be greater than 0-0");
        return;
    }
    if (!rlt_call_write(c, 1, RLT_OBJ_STREAM, &o))
        return;
    if (o == NULL && w.no_make) {
        rlt_out_null(c->out);
        return;
    }
    if (o == NULL)
        o = rlt_call_make(c, 1, RLT_OBJ_STREAM);
    if (cmd_stream_new_id(c, &o->of.stream, &w, &id))
        cmd_stream_append(c, &o->of.stream, &w, id);
}

static size_t cmd_stream_add_bound(const rlt_call *c)
{
    size_t bytes = 0;
    uint32_t i;

    for (i = 2; i < c->argc; i++)
        bytes += c->argv[i].n;
    return 1024 + RLT_OBJ_COST + RLT_KEYS_PUT_COST(c->argv[1].n) +
           RLT_STREAM_ENTRY_COST(c->argc, bytes);
}

/* ------------------------------------------------------------- XDEL, XSETID */

static void cmd_stream_del(rlt_call *c)
{
    rlt_stream_entry *e;
    rlt_stream_id id;
    int64_t gone = 0;
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_STREAM, &o))
        return;
    for (i = 2; o && i < c->argc; i++)
        if (!rlt_cmd_stream_id(c, i, 0, &id))
            return;
    for (i = 2; o && i < c->argc; i++) {
        (void)rlt_stream_id_read(c->argv[i], 0, &id, NULL);
        e = rlt_stream_find(&o->of.stream, id);
        if (e == NULL)
            continue;
        rlt_stream_delete(&o->of.stream, c->pool, e);
        gone++;
    }
    if (gone > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_STREAM, "xdel");
        c->dirty += gone - 1;
    }
    rlt_out_int(c->out, gone);
}

typedef struct cmd_stream_set {
    rlt_stream_id last, max_deleted;
    int64_t added; /* -1: not given                                          */
} cmd_stream_set;

static int cmd_stream_set_option(rlt_call *c, uint32_t i, cmd_stream_set *v)
{
    if (i + 1 < c->argc && rlt_call_is(c, i, "entriesadded")) {
        if (!rlt_call_int(c, i + 1, &v->added, NULL))
            return 0;
        if (v->added >= 0)
            return 1;
        rlt_call_error(c, "ERR entries_added must be positive");
        return 0;
    }
    if (i + 1 < c->argc && rlt_call_is(c, i, "maxdeletedid")) {
        if (!rlt_cmd_stream_id(c, i + 1, 0, &v->max_deleted))
            return 0;
        if (rlt_stream_id_compare(v->last, v->max_deleted) >= 0)
            return 1;
        rlt_call_error(c, "ERR The ID specified in XSETID is smaller than the "
                          "provided max_deleted_entry_id");
        return 0;
    }
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static const char *cmd_stream_set_fault(const rlt_stream *s,
                                        const cmd_stream_set *v)
{
    const rlt_stream_entry *top = rlt_stream_end(s, 1);

    if (top == NULL)
        return NULL;
    if (rlt_stream_id_compare(v->last, top->id) < 0)
        return "ERR The ID specified in XSETID is smaller than the target "
               "stream top item";
    if (v->added != -1 && v->added < (int64_t)rlt_stream_count(s))
        return "ERR The entries_added specified in XSETID is smaller than the "
               "target stream length";
    return NULL;
}

static void cmd_stream_set_do(rlt_call *c, rlt_stream *s,
                              const cmd_stream_set *v)
{
    s->last = v->last;
    if (v->added != -1)
        s->added = (uint64_t)v->added;
    if (v->max_deleted.ms != 0 || v->max_deleted.seq != 0)
        s->max_deleted = v->max_deleted;
    rlt_out_status(c->out, "OK");
    rlt_call_event(c, RLT_EVENT_STREAM, "xsetid", c->argv[1]);
    c->dirty++;
}

static void cmd_stream_set_id(rlt_call *c)
{
    const char *fault;
    cmd_stream_set v;
    rlt_obj *o;
    uint32_t i;

    memset(&v, 0, sizeof v);
    v.added = -1;
    if (!rlt_cmd_stream_id(c, 2, 0, &v.last))
        return;
    for (i = 3; i < c->argc; i += 2)
        if (!cmd_stream_set_option(c, i, &v))
            return;
    if (!rlt_call_write(c, 1, RLT_OBJ_STREAM, &o))
        return;
    fault = o ? cmd_stream_set_fault(&o->of.stream, &v) : RLT_ERR_NO_KEY;
    if (fault)
        rlt_call_error(c, fault);
    else
        cmd_stream_set_do(c, &o->of.stream, &v);
}

/* --------------------------------------------------------------------- rows */

#define CMD_STREAM_GROW (RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_FAST)

static const rlt_command cmd_stream_rows[] = {
    {"xadd", cmd_stream_add, -5, CMD_STREAM_GROW, 1, 1, 1, 0, 0,
     cmd_stream_add_bound, NULL},
    {"xlen", cmd_stream_len, 2, RLT_CMD_READONLY | RLT_CMD_FAST, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"xrange", cmd_stream_xrange, -4, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"xrevrange", cmd_stream_xrevrange, -4, RLT_CMD_READONLY, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"xdel", cmd_stream_del, -3, RLT_CMD_WRITE | RLT_CMD_FAST, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"xtrim", cmd_stream_trim, -4, RLT_CMD_WRITE, 1, 1, 1, 0, 0, NULL, NULL},
    {"xsetid", cmd_stream_set_id, -3, CMD_STREAM_GROW, 1, 1, 1, 0, 0, NULL,
     NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_stream_rows(size_t *n)
{
    *n = sizeof cmd_stream_rows / sizeof cmd_stream_rows[0];
    return cmd_stream_rows;
}
