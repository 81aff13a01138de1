/* SPDX-License-Identifier: MIT
 *
 * cmd_acl.c - ACL: changing and listing users.
 */
#include "peer.h"
#include "rows.h"
#include "lookup.h"
#include "users.h"

/* ----------------------------------------------------------- checking rules */

static int cmd_acl_bad(rlt_call *c, relet_span rule, const char *why)
{
    char after[256];
    rlt_say s;

    rlt_say_init(&s, after, sizeof after);
    rlt_say_text(&s, "': ");
    rlt_say_text(&s, why);
    rlt_call_error_with(c, "ERR Error in ACL SETUSER modifier '", rule,
                        after);
    return 0;
}

/* "+get", "-client|kill", "+@read". */
static int cmd_acl_command_ok(rlt_call *c, relet_span rule)
{
    relet_span name = rule, sub;
    const rlt_command *row;

    name.p++;
    name.n--;
    if (rlt_span_is_nocase(name, "@all"))
        return 1;
    if (rlt_span_eat(&name, "@"))
        return rlt_users_category_find(name) >= 0 ||
               cmd_acl_bad(c, rule,
                           "Unknown command or category name in ACL");
    sub = name;
    name = rlt_span_cut(&sub, '|');
    row = rlt_lookup_command(c->server, name);
    if (row && sub.p && row->sub) {
        const rlt_command *s = row->sub;

        while (s->name && !rlt_span_is_nocase(sub, s->name))
            s++;
        if (s->name == NULL)
            row = NULL;
    }
    return row != NULL ||
           cmd_acl_bad(c, rule, "Unknown command or category name in ACL");
}

static int cmd_acl_is_word(relet_span rule)
{
    static const char *const words[] = {
        "on",        "off",         "nopass",        "resetpass",
        "allkeys",   "resetkeys",   "allchannels",   "resetchannels",
        "reset",     "allcommands", "nocommands",    "sanitize-payload",
        "skip-sanitize-payload",    "clearselectors"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (rlt_span_is_nocase(rule, words[i]))
            return 1;
    return 0;
}

/* The user's permissions after the rules before this one. */
typedef struct cmd_acl_so_far {
    int all_keys, all_channels;
} cmd_acl_so_far;

static int cmd_acl_pattern_ok(rlt_call *c, relet_span rule,
                              cmd_acl_so_far *had)
{
    static const char keys[] =
        "Adding a pattern after the * pattern (or the 'allkeys' flag) is not "
        "valid and does not have any effect. Try 'resetkeys' to start with "
        "an empty list of patterns";
    static const char channels[] =
        "Adding a pattern after the * pattern (or the 'allchannels' flag) is "
        "not valid and does not have any effect. Try 'resetchannels' to "
        "start with an empty list of channels";
    relet_span pattern = rule;
    int channel = rlt_span_eat(&pattern, "&"), all;

    if (!channel)
        (void)rlt_span_eat(&pattern, "~");
    all = rlt_span_is(pattern, "*");
    if (channel && had->all_channels && !all)
        return cmd_acl_bad(c, rule, channels);
    if (!channel && had->all_keys && !all)
        return cmd_acl_bad(c, rule, keys);
    if (channel)
        had->all_channels |= all;
    else
        had->all_keys |= all;
    return 1;
}

static void cmd_acl_word_seen(relet_span rule, cmd_acl_so_far *had)
{
    int reset = rlt_span_is_nocase(rule, "reset");

    if (reset || rlt_span_is_nocase(rule, "resetkeys"))
        had->all_keys = 0;
    if (reset || rlt_span_is_nocase(rule, "resetchannels"))
        had->all_channels = 0;
    if (rlt_span_is_nocase(rule, "allkeys"))
        had->all_keys = 1;
    if (rlt_span_is_nocase(rule, "allchannels"))
        had->all_channels = 1;
}

static int cmd_acl_rule_ok(rlt_call *c, const rlt_user *u, relet_span rule,
                           cmd_acl_so_far *had)
{
    relet_span password = rule;

    if (cmd_acl_is_word(rule)) {
        cmd_acl_word_seen(rule, had);
        return 1;
    }
    if (rule.n == 0)
        return cmd_acl_bad(c, rule, "Syntax error");
    switch (*rule.p) {
    case '>':
        return 1;
    case '<':
        password.p++;
        password.n--;
        return (u && rlt_dict_find(&u->passwords, password)) ||
               cmd_acl_bad(c, rule,
                           "The password you are trying to remove from the "
                           "user does not exist");
    case '+':
    case '-':
        return cmd_acl_command_ok(c, rule);
    case '~':
    case '&':
        return cmd_acl_pattern_ok(c, rule, had);
    }
    return cmd_acl_bad(c, rule, "Syntax error");
}

/* ----------------------------------------------------------------- SETUSER */

/* A repeated rule counts at its last place. */
static void cmd_acl_add(rlt_call *c, rlt_dict *d, relet_span key)
{
    rlt_entry *e = rlt_dict_find(d, key);

    if (e)
        rlt_dict_remove(d, c->pool, e);
    (void)rlt_dict_add(d, c->pool, key);
}

static void cmd_acl_all_commands(rlt_call *c, rlt_user *u, int all)
{
    u->all_commands = all;
    rlt_dict_clear(&u->rules, c->pool);
}

static void cmd_acl_reset(rlt_call *c, rlt_user *u)
{
    u->enabled = u->no_password = u->all_keys = u->all_channels = 0;
    rlt_dict_clear(&u->passwords, c->pool);
    rlt_dict_clear(&u->keys, c->pool);
    rlt_dict_clear(&u->channels, c->pool);
    cmd_acl_all_commands(c, u, 0);
}

static void cmd_acl_word(rlt_call *c, rlt_user *u, relet_span rule)
{
    if (rlt_span_is_nocase(rule, "on") || rlt_span_is_nocase(rule, "off")) {
        u->enabled = rule.n == 2;
    } else if (rlt_span_is_nocase(rule, "nopass") ||
               rlt_span_is_nocase(rule, "resetpass")) {
        u->no_password = rule.n == 6;
        rlt_dict_clear(&u->passwords, c->pool);
    } else if (rlt_span_is_nocase(rule, "allkeys") ||
               rlt_span_is_nocase(rule, "resetkeys")) {
        u->all_keys = rule.n == 7;
        rlt_dict_clear(&u->keys, c->pool);
    } else if (rlt_span_is_nocase(rule, "allchannels") ||
               rlt_span_is_nocase(rule, "resetchannels")) {
        u->all_channels = rule.n == 11;
        rlt_dict_clear(&u->channels, c->pool);
    } else if (rlt_span_is_nocase(rule, "allcommands") ||
               rlt_span_is_nocase(rule, "nocommands")) {
        cmd_acl_all_commands(c, u, rule.n == 11);
    } else if (rlt_span_is_nocase(rule, "reset")) {
        cmd_acl_reset(c, u);
    }
}

static void cmd_acl_command(rlt_call *c, rlt_user *u, relet_span rule)
{
    relet_span name = rule;

    name.p++;
    name.n--;
    if (rlt_span_is_nocase(name, "@all")) {
        cmd_acl_all_commands(c, u, *rule.p == '+');
        return;
    }
    if (u->all_commands) {
        cmd_acl_add(c, &u->rules, relet_str("+@all"));
        u->all_commands = 0;
    }
    cmd_acl_add(c, &u->rules, rule);
}

static void cmd_acl_pattern(rlt_call *c, rlt_user *u, relet_span rule)
{
    relet_span pattern = rule;

    if (rlt_span_eat(&pattern, "&")) {
        if (rlt_span_is(pattern, "*"))
            cmd_acl_word(c, u, relet_str("allchannels"));
        else
            cmd_acl_add(c, &u->channels, pattern);
        return;
    }
    (void)rlt_span_eat(&pattern, "~");
    if (rlt_span_is(pattern, "*"))
        cmd_acl_word(c, u, relet_str("allkeys"));
    else
        cmd_acl_add(c, &u->keys, pattern);
}

static void cmd_acl_apply(rlt_call *c, rlt_user *u, relet_span rule)
{
    relet_span rest = rule;
    rlt_entry *e;

    rest.p++;
    rest.n--;
    if (cmd_acl_is_word(rule)) {
        cmd_acl_word(c, u, rule);
    } else if (*rule.p == '>') {
        u->no_password = 0;
        cmd_acl_add(c, &u->passwords, rest);
    } else if (*rule.p == '<') {
        e = rlt_dict_find(&u->passwords, rest);
        if (e)
            rlt_dict_remove(&u->passwords, c->pool, e);
    } else if (*rule.p == '+' || *rule.p == '-') {
        cmd_acl_command(c, u, rule);
    } else {
        cmd_acl_pattern(c, u, rule);
    }
}

static rlt_user *cmd_acl_make(rlt_call *c, relet_span name)
{
    rlt_user *u = (rlt_user *)rlt_pool_get(c->pool, sizeof *u);
    rlt_user **at = &c->server->users;

    memset(u, 0, sizeof *u);
    u->name = rlt_str_new(c->pool, name);
    while (*at && rlt_str_compare(rlt_str_span((*at)->name), name) < 0)
        at = &(*at)->next;
    u->next = *at;
    *at = u;
    return u;
}

static size_t cmd_acl_bound(const rlt_call *c)
{
    size_t n = RLT_POOL_COST(sizeof(rlt_user)) + RLT_DICT_COST(8);
    uint32_t i;

    for (i = 2; i < c->argc; i++)
        n += RLT_STR_COST(c->argv[i].n) + RLT_DICT_COST(c->argv[i].n + 8);
    return n;
}

/* 0 if the peer must be closed: it is subscribed to a channel that its user may
 * no longer read. */
static int cmd_acl_may_go_on(const rlt_peer *p)
{
    const rlt_entry *e;
    int k;

    for (k = 0; k < RLT_NEWS_KINDS; k++)
        for (e = p->subscribed[k].first; e; e = e->next)
            if (!rlt_users_may_read(p->user, rlt_entry_key(e),
                                    k == RLT_NEWS_PATTERN))
                return 0;
    return 1;
}

static void cmd_acl_close_readers(rlt_call *c, const rlt_user *u)
{
    rlt_server *s = c->server;
    uint32_t i;

    for (i = 0; i < s->peers_cap; i++) {
        if (s->peers[i] == NULL || s->peers[i]->user != u ||
            cmd_acl_may_go_on(s->peers[i]))
            continue;
        if (s->peers[i] == c->peer)
            c->peer->closing = 1;
        else
            rlt_peer_drop(s->peers[i]);
    }
}

static void cmd_acl_setuser(rlt_call *c)
{
    relet_span name = c->argv[2];
    rlt_user *u = rlt_users_find(c->server, name);
    cmd_acl_so_far had;
    uint32_t i;
    size_t k;

    for (k = 0; k < name.n; k++)
        if (name.p[k] == '\0' || name.p[k] == ' ') {
            rlt_call_error(c, "ERR Usernames can't contain spaces or null "
                              "characters");
            return;
        }
    had.all_keys = u ? u->all_keys : 0;
    had.all_channels = u ? u->all_channels : 0;
    for (i = 3; i < c->argc; i++)
        if (!cmd_acl_rule_ok(c, u, c->argv[i], &had))
            return;
    if (u == NULL)
        u = cmd_acl_make(c, name);
    for (i = 3; i < c->argc; i++)
        cmd_acl_apply(c, u, c->argv[i]);
    cmd_acl_close_readers(c, u);
    rlt_out_status(c->out, "OK");
}

/* ----------------------------------------------------------------- DELUSER */

static void cmd_acl_delete(rlt_call *c, rlt_user *u)
{
    rlt_server *s = c->server;
    rlt_user **at = &s->users;
    uint32_t i;

    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    for (i = 0; i < s->peers_cap; i++)
        if (s->peers[i] && s->peers[i]->user == u) {
            s->peers[i]->user = s->user_default;
            s->peers[i]->authenticated = 0;
            if (s->peers[i] == c->peer)
                c->peer->closing = 1;
            else
                rlt_peer_drop(s->peers[i]);
        }
    rlt_users_one_free(s, u);
}

static void cmd_acl_deluser(rlt_call *c)
{
    int64_t n = 0;
    rlt_user *u;
    uint32_t i;

    for (i = 2; i < c->argc; i++) {
        if (rlt_span_is(c->argv[i], "default")) {
            rlt_call_error(c, "ERR The 'default' user cannot be removed");
            return;
        }
        u = rlt_users_find(c->server, c->argv[i]);
        if (u) {
            cmd_acl_delete(c, u);
            n++;
        }
    }
    rlt_out_int(c->out, n);
}

/* ----------------------------------------------------------------- listing */

static void cmd_acl_whoami(rlt_call *c)
{
    rlt_out_bulk(c->out, rlt_str_span(c->peer->user->name));
}

static void cmd_acl_users(rlt_call *c)
{
    const rlt_user *u;
    size_t mark = rlt_out_later(c->out), n = 0;

    for (u = c->server->users; u; u = u->next, n++)
        rlt_out_bulk(c->out, rlt_str_span(u->name));
    rlt_out_later_end(c->out, mark, '*', n);
}

static void cmd_acl_put(rlt_out *o, const char *before, relet_span s)
{
    rlt_out_raw(o, before, strlen(before));
    rlt_out_raw(o, s.p, s.n);
}

/* Passwords are not shown, not even as a hash. */
static void cmd_acl_line(rlt_out *o, const rlt_user *u)
{
    relet_span none = relet_str("");
    const rlt_entry *e;

    cmd_acl_put(o, "user ", rlt_str_span(u->name));
    cmd_acl_put(o, u->enabled ? " on" : " off", none);
    if (u->no_password)
        cmd_acl_put(o, " nopass", none);
    if (u->all_keys)
        cmd_acl_put(o, " ~*", none);
    for (e = u->keys.first; e; e = e->next)
        cmd_acl_put(o, " ~", rlt_entry_key(e));
    cmd_acl_put(o, u->all_channels ? " &*" : " resetchannels", none);
    for (e = u->channels.first; e; e = e->next)
        cmd_acl_put(o, " &", rlt_entry_key(e));
    if (u->rules.first == NULL || *u->rules.first->key == '-')
        cmd_acl_put(o, u->all_commands ? " +@all" : " -@all", none);
    else if (!rlt_span_is(rlt_entry_key(u->rules.first), "+@all"))
        cmd_acl_put(o, " -@all", none);
    for (e = u->rules.first; e; e = e->next)
        cmd_acl_put(o, " ", rlt_entry_key(e));
}

static void cmd_acl_list(rlt_call *c)
{
    size_t mark = rlt_out_later(c->out), n = 0;
    const rlt_user *u;
    relet_span text;
    rlt_out line;

    rlt_out_init(&line, c->server->memory, c->server->config.output_max);
    for (u = c->server->users; u; u = u->next, n++) {
        cmd_acl_line(&line, u);
        text.p = (const char *)rlt_buf_head(&line.buf);
        text.n = rlt_buf_used(&line.buf);
        rlt_out_bulk(c->out, text);
        rlt_buf_drop(&line.buf, text.n);
    }
    if (line.failed)
        c->out->failed = 1;
    rlt_out_free(&line);
    rlt_out_later_end(c->out, mark, '*', n);
}

static void cmd_acl_cat_of(rlt_call *c, int category)
{
    const rlt_server *s = c->server;
    size_t mark = rlt_out_later(c->out), n = 0;
    const rlt_command *row;
    uint32_t i;

    for (i = 0; i < RLT_TABLE_SIZE; i++) {
        row = s->table[i];
        if (row == NULL ||
            !(rlt_users_categories(s, row, row) >> category & 1u))
            continue;
        rlt_out_text(c->out, row->name);
        n++;
    }
    rlt_out_later_end(c->out, mark, '*', n);
}

static void cmd_acl_cat(rlt_call *c)
{
    size_t mark, n = 0;
    int category;

    if (c->argc > 3) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (c->argc == 3) {
        category = rlt_users_category_find(c->argv[2]);
        if (category >= 0)
            cmd_acl_cat_of(c, category);
        else
            rlt_call_error_with(c, "ERR Unknown category '", c->argv[2], "'");
        return;
    }
    mark = rlt_out_later(c->out);
    for (; rlt_users_category((int)n); n++)
        rlt_out_text(c->out, rlt_users_category((int)n));
    rlt_out_later_end(c->out, mark, '*', n);
}

#define ANY (RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE)
#define ADM (ANY | RLT_CMD_ADMIN)
#define NONE 0, 0, 0, 0, 0

static const rlt_command cmd_acl_acl[] = {
    {"cat", cmd_acl_cat, -2, ANY, NONE, NULL, NULL},
    {"deluser", cmd_acl_deluser, -3, ADM, NONE, NULL, NULL},
    {"help", rlt_call_help, 2, RLT_CMD_LOADING | RLT_CMD_STALE, NONE,
     NULL, NULL},
    {"list", cmd_acl_list, 2, ADM, NONE, NULL, NULL},
    {"setuser", cmd_acl_setuser, -3, ADM, NONE, cmd_acl_bound, NULL},
    {"users", cmd_acl_users, 2, ADM, NONE, NULL, NULL},
    {"whoami", cmd_acl_whoami, 2, ANY, NONE, NULL, NULL},
    {NULL, NULL, 0, 0, NONE, NULL, NULL},
};

static const rlt_command cmd_acl_rows[] = {
    {"acl", NULL, -2, 0, NONE, NULL, cmd_acl_acl},
};

#undef ANY
#undef ADM
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_acl_rows(size_t *n)
{
    *n = sizeof cmd_acl_rows / sizeof *cmd_acl_rows;
    return cmd_acl_rows;
}
