/* SPDX-License-Identifier: MIT
 *
 * cmd_string.c - strings: SET and GET in all their forms.
 */
#include "rows.h"

/* ----------------------------------------------------------------- options */

enum {
    CMD_STRING_NX = 1,
    CMD_STRING_XX = 2,
    CMD_STRING_GET = 4,
    CMD_STRING_KEEP = 8,
    CMD_STRING_PERSIST = 16,
    CMD_STRING_EX = 32,
    CMD_STRING_PX = 64,
    CMD_STRING_EXAT = 128,
    CMD_STRING_PXAT = 256
};
#define CMD_STRING_TIMES \
    (CMD_STRING_EX | CMD_STRING_PX | CMD_STRING_EXAT | CMD_STRING_PXAT)

typedef struct cmd_string_options {
    int flags;
    uint32_t time; /* index of the time in argv; 0: none                     */
    int64_t at_ms;
} cmd_string_options;

typedef struct cmd_string_word {
    const char *word;
    int flag, not_with, of_set, of_getex;
} cmd_string_word;

static const cmd_string_word cmd_string_words[] = {
    {"nx", CMD_STRING_NX, CMD_STRING_XX, 1, 0},
    {"xx", CMD_STRING_XX, CMD_STRING_NX, 1, 0},
    {"get", CMD_STRING_GET, 0, 1, 0},
    {"keepttl", CMD_STRING_KEEP, CMD_STRING_PERSIST | CMD_STRING_TIMES, 1, 0},
    {"persist", CMD_STRING_PERSIST, CMD_STRING_KEEP | CMD_STRING_TIMES, 0, 1},
    {"ex", CMD_STRING_EX,
     CMD_STRING_KEEP | CMD_STRING_PERSIST | CMD_STRING_PX | CMD_STRING_EXAT |
         CMD_STRING_PXAT,
     1, 1},
    {"px", CMD_STRING_PX,
     CMD_STRING_KEEP | CMD_STRING_PERSIST | CMD_STRING_EX | CMD_STRING_EXAT |
         CMD_STRING_PXAT,
     1, 1},
    {"exat", CMD_STRING_EXAT,
     CMD_STRING_KEEP | CMD_STRING_PERSIST | CMD_STRING_EX | CMD_STRING_PX |
         CMD_STRING_PXAT,
     1, 1},
    {"pxat", CMD_STRING_PXAT,
     CMD_STRING_KEEP | CMD_STRING_PERSIST | CMD_STRING_EX | CMD_STRING_PX |
         CMD_STRING_EXAT,
     1, 1}};

static int cmd_string_option(const rlt_call *c, uint32_t *i,
                             cmd_string_options *o, int is_set)
{
    const cmd_string_word *w = cmd_string_words;
    const cmd_string_word *end =
        w + sizeof cmd_string_words / sizeof *cmd_string_words;

    for (; w < end; w++) {
        if (!(is_set ? w->of_set : w->of_getex) ||
            !rlt_call_is(c, *i, w->word) || (o->flags & w->not_with))
            continue;
        if (w->flag & CMD_STRING_TIMES) {
            if (*i + 1 >= c->argc)
                return 0;
            o->time = ++*i;
        }
        o->flags |= w->flag;
        return 1;
    }
    return 0;
}

static int cmd_string_parse(rlt_call *c, uint32_t i, cmd_string_options *o,
                            int is_set)
{
    memset(o, 0, sizeof *o);
    for (; i < c->argc; i++)
        if (!cmd_string_option(c, &i, o, is_set)) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
    return 1;
}

static int cmd_string_bad_time(rlt_call *c)
{
    rlt_call_error_with(c, "ERR invalid expire time in '",
                        relet_str(c->command->name), "' command");
    return 0;
}

/* Reads the time argument as a point in time. */
static int cmd_string_time(rlt_call *c, cmd_string_options *o)
{
    int seconds = (o->flags & (CMD_STRING_EX | CMD_STRING_EXAT)) != 0;
    int64_t v;

    if (o->time == 0)
        return 1;
    if (!rlt_call_int(c, o->time, &v, NULL))
        return 0;
    if (v <= 0 || (seconds && v > INT64_MAX / 1000))
        return cmd_string_bad_time(c);
    if (seconds)
        v *= 1000;
    if (o->flags & (CMD_STRING_EX | CMD_STRING_PX)) {
        if (c->now_ms > 0 && v > INT64_MAX - c->now_ms)
            return cmd_string_bad_time(c);
        v += c->now_ms;
    }
    if (v <= 0)
        return cmd_string_bad_time(c);
    o->at_ms = v;
    return 1;
}

/* --------------------------------------------------------------------- SET */

/* Stores v under the key; its expiry time is removed, or stays if `keep`. */
static rlt_entry *cmd_string_store(rlt_call *c, relet_span key, relet_span v,
                                   int keep)
{
    rlt_entry *e = rlt_keys_find(c->db, key);
    rlt_obj *o = e ? rlt_keys_obj(e) : NULL;
    int64_t at_ms = o ? rlt_keys_expires_at(o) : -1;

    if (o && o->type == RLT_OBJ_STRING) {
        rlt_obj_set_string(c->pool, o, rlt_str_new(c->pool, v));
        if (!keep && at_ms >= 0)
            (void)rlt_keys_persist(c->db, c->pool, e);
    } else {
        e = rlt_call_put(c, key, rlt_obj_string(c->pool, v));
        if (keep && at_ms >= 0)
            rlt_keys_expire(c->db, c->pool, e, at_ms);
    }
    return e;
}

static void cmd_string_effect(rlt_call *c, relet_span v, int64_t at_ms)
{
    rlt_call_effect(c, at_ms >= 0 ? 5 : 3);
    rlt_call_effect_text(c, "SET");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, v);
    if (at_ms < 0)
        return;
    rlt_call_effect_text(c, "PXAT");
    rlt_call_effect_int(c, at_ms);
}

/* Replies as GET does: 1, or 0 when WRONGTYPE was replied. */
static int cmd_string_reply(rlt_call *c, rlt_obj **o)
{
    if (!rlt_call_read(c, 1, RLT_OBJ_STRING, o))
        return 0;
    if (*o)
        rlt_out_bulk(c->out, rlt_obj_span(*o));
    else
        rlt_out_null(c->out);
    return 1;
}

/* Logs a plain SET without GET, which the log does not need. */
static void cmd_string_effect_no_get(rlt_call *c)
{
    uint32_t i, words = c->argc;

    for (i = 3; i < c->argc; i++)
        words -= rlt_call_is(c, i, "get") ? 1u : 0u;
    rlt_call_effect(c, words);
    for (i = 0; i < c->argc; i++)
        if (i < 3 || !rlt_call_is(c, i, "get"))
            rlt_call_effect_word(c, c->argv[i]);
}

/* SET, SETEX, PSETEX and SETNX, which replies 0 or 1 (is_setnx). */
static void cmd_string_set_as(rlt_call *c, relet_span v,
                              cmd_string_options *opt, int is_setnx)
{
    relet_span key = c->argv[1];
    rlt_entry *e;
    rlt_obj *old = NULL;
    int found;

    if (!cmd_string_time(c, opt))
        return;
    if ((opt->flags & CMD_STRING_GET) && !cmd_string_reply(c, &old))
        return;
    found = rlt_call_find_write(c, key) != NULL;
    if ((opt->flags & CMD_STRING_NX && found) ||
        (opt->flags & CMD_STRING_XX && !found)) {
        if (is_setnx)
            rlt_out_int(c->out, 0);
        else if (!(opt->flags & CMD_STRING_GET))
            rlt_out_null(c->out);
        return;
    }
    e = cmd_string_store(c, key, v, opt->flags & CMD_STRING_KEEP);
    rlt_call_changed(c, key, RLT_EVENT_STRING, "set");
    if (opt->time) {
        rlt_keys_expire(c->db, c->pool, e, opt->at_ms);
        cmd_string_effect(c, v, opt->at_ms);
        rlt_call_event(c, RLT_EVENT_GENERIC, "expire", key);
    } else if (opt->flags & CMD_STRING_GET) {
        cmd_string_effect_no_get(c);
    }
    if (is_setnx)
        rlt_out_int(c->out, 1);
    else if (!(opt->flags & CMD_STRING_GET))
        rlt_out_status(c->out, "OK");
}

static void cmd_string_set(rlt_call *c)
{
    cmd_string_options o;

    if (cmd_string_parse(c, 3, &o, 1))
        cmd_string_set_as(c, c->argv[2], &o, 0);
}

static void cmd_string_setnx(rlt_call *c)
{
    cmd_string_options o;

    memset(&o, 0, sizeof o);
    o.flags = CMD_STRING_NX;
    cmd_string_set_as(c, c->argv[2], &o, 1);
}

static void cmd_string_setex(rlt_call *c)
{
    cmd_string_options o;

    memset(&o, 0, sizeof o);
    o.time = 2;
    o.flags = c->command->name[0] == 'p' ? CMD_STRING_PX : CMD_STRING_EX;
    cmd_string_set_as(c, c->argv[3], &o, 0);
}

/* --------------------------------------------------------------------- GET */

static void cmd_string_get(rlt_call *c)
{
    rlt_obj *o;

    (void)cmd_string_reply(c, &o);
}

static void cmd_string_getset(rlt_call *c)
{
    rlt_obj *o;

    if (!cmd_string_reply(c, &o))
        return;
    (void)cmd_string_store(c, c->argv[1], c->argv[2], 0);
    cmd_string_effect(c, c->argv[2], -1);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "set");
}

static void cmd_string_effect_del(rlt_call *c)
{
    rlt_call_effect(c, 2);
    rlt_call_effect_text(c, "DEL");
    rlt_call_effect_word(c, c->argv[1]);
}

static void cmd_string_getdel(rlt_call *c)
{
    rlt_obj *o;

    if (!cmd_string_reply(c, &o) || o == NULL)
        return;
    (void)rlt_call_delete(c, c->argv[1]);
    cmd_string_effect_del(c);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "del");
}

static void cmd_string_getex_time(rlt_call *c, rlt_entry *e,
                                  const cmd_string_options *opt)
{
    if ((opt->flags & (CMD_STRING_EXAT | CMD_STRING_PXAT)) &&
        opt->at_ms <= c->now_ms) {
        (void)rlt_call_delete(c, c->argv[1]);
        cmd_string_effect_del(c);
        rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "del");
        return;
    }
    rlt_keys_expire(c->db, c->pool, e, opt->at_ms);
    rlt_call_effect(c, 3);
    rlt_call_effect_text(c, "PEXPIREAT");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_int(c, opt->at_ms);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "expire");
}

static void cmd_string_getex(rlt_call *c)
{
    cmd_string_options opt;
    rlt_entry *e;
    rlt_obj *o;

    if (!cmd_string_parse(c, 2, &opt, 0) ||
        !rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        return;
    if (o == NULL) {
        rlt_out_null(c->out);
        return;
    }
    if (!cmd_string_time(c, &opt))
        return;
    rlt_out_bulk(c->out, rlt_obj_span(o));
    e = rlt_keys_find(c->db, c->argv[1]);
    if (opt.time) {
        cmd_string_getex_time(c, e, &opt);
    } else if ((opt.flags & CMD_STRING_PERSIST) &&
               rlt_keys_persist(c->db, c->pool, e)) {
        rlt_call_effect(c, 2);
        rlt_call_effect_text(c, "PERSIST");
        rlt_call_effect_word(c, c->argv[1]);
        rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "persist");
    }
}

/* -------------------------------------------------------------------- many */

static void cmd_string_mget(rlt_call *c)
{
    rlt_entry *e;
    uint32_t i;

    rlt_out_array(c->out, c->argc - 1);
    for (i = 1; i < c->argc; i++) {
        e = rlt_call_find_read(c, c->argv[i]);
        if (e && rlt_keys_obj(e)->type == RLT_OBJ_STRING)
            rlt_out_bulk(c->out, rlt_obj_span(rlt_keys_obj(e)));
        else
            rlt_out_null(c->out);
    }
}

static void cmd_string_mset(rlt_call *c)
{
    int nx = c->command->name[4] == 'n';
    uint32_t i;

    if (c->argc % 2 == 0) {
        rlt_call_error_arity(c);
        return;
    }
    for (i = 1; nx && i < c->argc; i += 2)
        if (rlt_call_find_write(c, c->argv[i])) {
            rlt_out_int(c->out, 0);
            return;
        }
    for (i = 1; i < c->argc; i += 2) {
        if (!nx)
            (void)rlt_call_find_write(c, c->argv[i]);
        (void)cmd_string_store(c, c->argv[i], c->argv[i + 1], 0);
        rlt_call_changed(c, c->argv[i], RLT_EVENT_STRING, "set");
    }
    if (nx)
        rlt_out_int(c->out, 1);
    else
        rlt_out_status(c->out, "OK");
}

/* ------------------------------------------------------------------- parts */

static int cmd_string_too_long(rlt_call *c, uint64_t at, uint64_t n)
{
    if (at + n <= (uint64_t)c->server->settings.proto_max_bulk)
        return 0;
    rlt_call_error(c, "ERR string exceeds maximum allowed size "
                      "(proto-max-bulk-len)");
    return 1;
}

static size_t cmd_string_append_bound(const rlt_call *c)
{
    const rlt_obj *o = rlt_call_peek(c, c->argv[1]);
    size_t n = rlt_call_cost(c);

    if (o && o->type == RLT_OBJ_STRING)
        n += RLT_STR_RESIZE_COST(rlt_obj_span(o).n + c->argv[2].n);
    return n;
}

static void cmd_string_append(rlt_call *c)
{
    relet_span v = c->argv[2];
    rlt_obj *o;
    rlt_str *s;
    size_t n;

    if (!rlt_call_write(c, 1, RLT_OBJ_STRING, &o))
        return;
    if (o == NULL) {
        (void)cmd_string_store(c, c->argv[1], v, 0);
        n = v.n;
    } else {
        n = rlt_obj_span(o).n;
        if (cmd_string_too_long(c, n, v.n))
            return;
        s = rlt_str_resize(c->pool, o->of.str, n + v.n);
        if (v.n > 0)
            memcpy(s->p + n, v.p, v.n);
        o->of.str = s;
        n += v.n;
    }
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "append");
    rlt_out_int(c->out, (int64_t)n);
}

static size_t cmd_string_setrange_bound(const rlt_call *c)
{
    const rlt_obj *o = rlt_call_peek(c, c->argv[1]);
    size_t n = 0;
    int64_t at;

    if (!rlt_str_int(c->argv[2], &at) || at < 0 ||
        at > c->server->settings.proto_max_bulk ||
        (int64_t)c->argv[3].n > c->server->settings.proto_max_bulk - at)
        return rlt_call_cost(c);
    if (o && o->type == RLT_OBJ_STRING)
        n = rlt_obj_span(o).n;
    n = RLT_MAX(n, (size_t)at + c->argv[3].n);
    return rlt_call_cost(c) + RLT_STR_RESIZE_COST(n) + RLT_STR_COST(0);
}

static void cmd_string_setrange(rlt_call *c)
{
    relet_span v = c->argv[3];
    int64_t at;
    rlt_obj *o;
    size_t n;

    if (!rlt_call_int(c, 2, &at, NULL))
        return;
    if (at < 0) {
        rlt_call_error(c, "ERR offset is out of range");
        return;
    }
    if (!rlt_call_write(c, 1, RLT_OBJ_STRING, &o))
        return;
    n = o ? rlt_obj_span(o).n : 0;
    if (v.n == 0) {
        rlt_out_int(c->out, (int64_t)n);
        return;
    }
    if (cmd_string_too_long(c, (uint64_t)at, v.n))
        return;
    if (o == NULL)
        o = rlt_keys_obj(cmd_string_store(c, c->argv[1], relet_str(""), 0));
    n = RLT_MAX(n, (size_t)at + v.n);
    o->of.str = rlt_str_resize(c->pool, o->of.str, n);
    memcpy(o->of.str->p + at, v.p, v.n);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "setrange");
    rlt_out_int(c->out, (int64_t)n);
}

static void cmd_string_strlen(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        rlt_out_int(c->out, o ? (int64_t)rlt_obj_span(o).n : 0);
}

static void cmd_string_getrange(rlt_call *c)
{
    int64_t from, to, n;
    relet_span s;
    rlt_obj *o;

    if (!rlt_call_int(c, 2, &from, NULL) || !rlt_call_int(c, 3, &to, NULL) ||
        !rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        return;
    s = o ? rlt_obj_span(o) : relet_str("");
    n = (int64_t)s.n;
    if (n == 0 || (from < 0 && to < 0 && from > to)) {
        rlt_out_text(c->out, "");
        return;
    }
    from = RLT_MAX(from < 0 ? from + n : from, 0);
    to = RLT_MIN(RLT_MAX(to < 0 ? to + n : to, 0), n - 1);
    s.n = from > to ? 0 : (size_t)(to - from + 1);
    if (s.n > 0)
        s.p += from;
    rlt_out_bulk(c->out, s);
}

/* -------------------------------------------------------------------- rows */

#define W (RLT_CMD_WRITE | RLT_CMD_DENYOOM)
#define R RLT_CMD_READONLY
#define F RLT_CMD_FAST
#define ONE 1, 1, 1, 0, 0

static const rlt_command cmd_string_rows[] = {
    {"set", cmd_string_set, -3, W, ONE, NULL, NULL},
    {"setnx", cmd_string_setnx, 3, W | F, ONE, NULL, NULL},
    {"setex", cmd_string_setex, 4, W, ONE, NULL, NULL},
    {"psetex", cmd_string_setex, 4, W, ONE, NULL, NULL},
    {"get", cmd_string_get, 2, R | F, ONE, NULL, NULL},
    {"getset", cmd_string_getset, 3, W | F, ONE, NULL, NULL},
    {"getdel", cmd_string_getdel, 2, RLT_CMD_WRITE | F, ONE, NULL, NULL},
    {"getex", cmd_string_getex, -2, RLT_CMD_WRITE | F, ONE, NULL, NULL},
    {"mget", cmd_string_mget, -2, R | F, 1, -1, 1, 0, 0, NULL, NULL},
    {"mset", cmd_string_mset, -3, W, 1, -1, 2, 0, 0, NULL, NULL},
    {"msetnx", cmd_string_mset, -3, W, 1, -1, 2, 0, 0, NULL, NULL},
    {"append", cmd_string_append, 3, W | F, ONE, cmd_string_append_bound,
     NULL},
    {"setrange", cmd_string_setrange, 4, W, ONE, cmd_string_setrange_bound,
     NULL},
    {"strlen", cmd_string_strlen, 2, R | F, ONE, NULL, NULL},
    {"getrange", cmd_string_getrange, 4, R, ONE, NULL, NULL},
    {"substr", cmd_string_getrange, 4, R, ONE, NULL, NULL},
};

#undef W
#undef R
#undef F
#undef ONE

RELET_PRIVATE const rlt_command *rlt_cmd_string_rows(size_t *n)
{
    *n = sizeof cmd_string_rows / sizeof *cmd_string_rows;
    return cmd_string_rows;
}
