/* SPDX-License-Identifier: MIT
 *
 * users.c - the users of ACL, and what they are permitted to do.
 */
#include "users.h"
#include "lookup.h"
#include "glob.h"

RELET_PRIVATE rlt_user *rlt_users_find(const rlt_server *s, relet_span name)
{
    rlt_user *u;

    for (u = s->users; u; u = u->next)
        if (rlt_span_same(rlt_str_span(u->name), name))
            return u;
    return NULL;
}

RELET_PRIVATE rlt_user *rlt_users_default(const rlt_server *s)
{
    return s->user_default;
}

RELET_PRIVATE int rlt_users_init(rlt_server *s)
{
    rlt_user *u;

    if (!rlt_pool_ensure(&s->pool,
                         RLT_POOL_COST(sizeof *u) + RLT_STR_COST(7)))
        return 0;
    u = (rlt_user *)rlt_pool_get(&s->pool, sizeof *u);
    memset(u, 0, sizeof *u);
    u->name = rlt_str_new(&s->pool, relet_str("default"));
    u->enabled = u->no_password = u->all_keys = u->all_channels = 1;
    u->all_commands = 1;
    s->users = s->user_default = u;
    return 1;
}

RELET_PRIVATE void rlt_users_one_free(rlt_server *s, rlt_user *u)
{
    rlt_dict_clear(&u->passwords, &s->pool);
    rlt_dict_clear(&u->keys, &s->pool);
    rlt_dict_clear(&u->channels, &s->pool);
    rlt_dict_clear(&u->rules, &s->pool);
    rlt_str_free(&s->pool, u->name);
    rlt_pool_put(&s->pool, u, sizeof *u);
}

RELET_PRIVATE void rlt_users_free(rlt_server *s)
{
    rlt_user *u = s->users, *next;

    for (; u; u = next) {
        next = u->next;
        rlt_users_one_free(s, u);
    }
    s->users = NULL;
}

RELET_PRIVATE rlt_user *rlt_users_enter(const rlt_server *s, relet_span name,
                                        relet_span password)
{
    rlt_user *u = rlt_users_find(s, name);

    if (u == NULL || !u->enabled)
        return NULL;
    if (!u->no_password && !rlt_dict_find(&u->passwords, password))
        return NULL;
    return u;
}

RELET_PRIVATE void rlt_users_begin(rlt_peer *p)
{
    rlt_user *u = rlt_users_default(p->server);

    p->user = u;
    p->authenticated = u->enabled && u->no_password;
}

RELET_PRIVATE void rlt_users_require(rlt_server *s, relet_span password)
{
    rlt_user *u = rlt_users_default(s);

    rlt_dict_clear(&u->passwords, &s->pool);
    u->no_password = password.n == 0;
    if (password.n > 0)
        (void)rlt_dict_add(&u->passwords, &s->pool, password);
}

/* ------------------------------------------------------------- categories */

static const char *const users_categories[] = {
    "keyspace", "read",        "write",     "set",        "sortedset",
    "list",     "hash",        "string",    "bitmap",     "hyperloglog",
    "geo",      "stream",      "pubsub",    "admin",      "fast",
    "slow",     "blocking",    "dangerous", "connection", "transaction",
    "scripting"};

enum {
    USERS_READ = 1 << 1,
    USERS_WRITE = 1 << 2,
    USERS_PUBSUB = 1 << 12,
    USERS_ADMIN = 1 << 13,
    USERS_FAST = 1 << 14,
    USERS_SLOW = 1 << 15,
    USERS_BLOCKING = 1 << 16,
    USERS_DANGEROUS = 1 << 17,
    USERS_SCRIPTING = 1 << 20
};

RELET_PRIVATE const char *rlt_users_category(int i)
{
    int n = (int)(sizeof users_categories / sizeof *users_categories);

    return i < n ? users_categories[i] : NULL;
}

RELET_PRIVATE int rlt_users_category_find(relet_span name)
{
    const char *word;
    int i;

    for (i = 0; (word = rlt_users_category(i)) != NULL; i++)
        if (rlt_span_is_nocase(name, word))
            return i;
    return -1;
}

static int users_dangerous(const rlt_command *row)
{
    static const char *const names[] = {"flushall", "flushdb", "info", "keys",
                                        "lastsave", "role",    "swapdb"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0)
            return 1;
    return 0;
}

RELET_PRIVATE uint32_t rlt_users_categories(const rlt_server *s,
                                            const rlt_command *row,
                                            const rlt_command *container)
{
    uint32_t family = UINT32_C(1)
                      << rlt_lookup_category(s, relet_str(container->name));
    uint32_t bits = family & ~(UINT32_C(1) << RLT_USERS_NO_CATEGORY);

    if (row->flags & RLT_CMD_WRITE)
        bits |= USERS_WRITE;
    if ((row->flags & RLT_CMD_READONLY) && !(bits & USERS_SCRIPTING))
        bits |= USERS_READ;
    if (row->flags & RLT_CMD_ADMIN)
        bits |= USERS_ADMIN | USERS_DANGEROUS;
    if (row->flags & RLT_CMD_PUBSUB)
        bits |= USERS_PUBSUB;
    if (row->flags & RLT_CMD_BLOCKING)
        bits |= USERS_BLOCKING;
    if (row == container && users_dangerous(row))
        bits |= USERS_DANGEROUS;
    return bits | (row->flags & RLT_CMD_FAST ? USERS_FAST : USERS_SLOW);
}

/* ------------------------------------------------------------- permission */

static int users_key(const rlt_user *u, relet_span key)
{
    const rlt_entry *e;

    for (e = u->keys.first; e; e = e->next)
        if (rlt_glob_match(rlt_entry_key(e), key, 0))
            return 1;
    return 0;
}

static int users_channel(const rlt_user *u, relet_span channel, int literal)
{
    const rlt_entry *e;

    for (e = u->channels.first; e; e = e->next)
        if (literal ? rlt_span_same(rlt_entry_key(e), channel)
                    : rlt_glob_match(rlt_entry_key(e), channel, 0))
            return 1;
    return 0;
}

static int users_channels(const rlt_call *c, const rlt_user *u)
{
    const char *name = c->command->name;
    uint32_t i, last = c->argc;
    int pattern = strcmp(name, "psubscribe") == 0;

    if (u->all_channels || !(c->command->flags & RLT_CMD_PUBSUB) || c->is_sub)
        return 1;
    if (strcmp(name, "publish") == 0 || strcmp(name, "spublish") == 0)
        last = 2;
    else if (!pattern && strcmp(name, "subscribe") != 0 &&
             strcmp(name, "ssubscribe") != 0)
        return 1;
    for (i = 1; i < last; i++)
        if (!users_channel(u, c->argv[i], pattern))
            return 0;
    return 1;
}

/* 1 if the rule is about this call: "@write", "get", "client|id", or
 * "get|first-argument". */
static int users_about(const rlt_call *c, relet_span rule)
{
    relet_span name;
    int category;

    if (rlt_span_eat(&rule, "@")) {
        category = rlt_users_category_find(rule);
        return category >= 0 &&
               (rlt_users_categories(c->server, c->command, c->container) >>
                    category &
                1u) != 0;
    }
    name = rlt_span_cut(&rule, '|');
    if (!rlt_span_is_nocase(name, c->container->name))
        return 0;
    return rule.p == NULL ||
           (c->argc > 1 && c->argv[1].n == rule.n &&
            rlt_glob_match(rule, c->argv[1], 1));
}

static int users_command(const rlt_call *c, const rlt_user *u)
{
    const rlt_entry *e;
    relet_span rule;
    int allowed = 0;

    for (e = u->rules.first; e; e = e->next) {
        rule = rlt_entry_key(e);
        rule.p++;
        rule.n--;
        if (rlt_span_is_nocase(rule, "@all") || users_about(c, rule))
            allowed = *e->key == '+';
    }
    return allowed;
}

RELET_PRIVATE int rlt_users_may_read(const rlt_user *u, relet_span channel,
                                     int literal)
{
    return u->all_channels || users_channel(u, channel, literal);
}

RELET_PRIVATE int rlt_users_may(const rlt_call *c, const rlt_user *u,
                                char *why)
{
    uint32_t at = 0, i;

    if (u == NULL || (u->all_commands && u->all_keys && u->all_channels))
        return 1;
    *why = 'c';
    if (!u->all_commands && !(c->command->flags & RLT_CMD_NO_AUTH) &&
        !users_command(c, u))
        return 0;
    *why = 'k';
    while (!u->all_keys &&
           (i = rlt_lookup_key(c->command, c->argv, c->argc, &at)) != 0)
        if (!users_key(u, c->argv[i]))
            return 0;
    *why = 'n';
    return users_channels(c, u);
}
