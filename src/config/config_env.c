/* SPDX-License-Identifier: MIT
 *
 * config_env.c - reads settings from the environment, with or without a
 * scope. */
#include "text.h"
#include "config_url.h"

#ifndef RELET_SMALL

typedef struct env_env {
    rlt_parser *r;
    const char *scope;
    relet_env_fn *get;
    void *user;
} env_env;

typedef enum env_level {
    ENV_GENERIC,
    ENV_SCOPED
} env_level;

/* The value of a variable at one level, or NULL; a variable that is set but
 * empty counts as not set. The variable's name becomes the label for faults. */
static const char *env_at(env_env *e, env_level level,
                          const char *name)
{
    const char *value;
    rlt_say say;

    if (level == ENV_SCOPED && e->scope[0] == '\0')
        return NULL;
    rlt_say_init(&say, e->r->variable, sizeof e->r->variable);
    if (level == ENV_SCOPED)
        rlt_say_text(&say, e->scope);
    rlt_say_text(&say, name);
    value = e->get(e->user, e->r->variable);
    return value == NULL || *value == '\0' ? NULL : value;
}

/* The value of a variable at either level, scoped first, or NULL. */
static const char *env_any(env_env *e, const char *name)
{
    const char *value = env_at(e, ENV_SCOPED, name);

    return value != NULL ? value : env_at(e, ENV_GENERIC, name);
}

/* Sets a field from the variable that was looked up last. */
static int env_set(env_env *e, const char *value, const char *field)
{
    if (value == NULL)
        return 0;
    return rlt_parser_field(
        e->r, rlt_parser_start(e->r, e->r->variable, field, value), field);
}

/* Reads the variables that do not say where to connect. */
static int env_rest(env_env *e, env_level level)
{
    static const char *const pairs[][2] = {{"REDIS_DB", "db"},
                                           {"REDIS_USERNAME", "user"},
                                           {"REDIS_PASSWORD", "password"},
                                           {"REDIS_PREFIX", "prefix"}};
    size_t i;

    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (env_set(e, env_at(e, level, pairs[i][0]),
                           pairs[i][1]) < 0)
            return RELET_E_CONFIG;
    return 0;
}

static int env_url(env_env *e, env_level level)
{
    const char *value = env_at(e, level, "REDIS_URL");

    return rlt_url_read(e->r,
                      rlt_parser_start(e->r, e->r->variable, "url", value));
}

static int env_host(env_env *e, env_level level)
{
    rlt_parser *r = e->r;
    const char *value = env_at(e, level, "REDIS_HOST");
    relet_span s = rlt_parser_start(r, r->variable, "host", value);

    if (r->scheme != RELET_TLS)
        r->scheme = RELET_TCP;
    rlt_parser_clear(r, "host");
    if (rlt_url_host(r, s, rlt_url_colons(s) > 0) < 0)
        return RELET_E_CONFIG;
    return env_set(e, env_any(e, "REDIS_PORT"), "port");
}

static int env_sentinel(env_env *e, env_level level)
{
    rlt_parser *r = e->r;
    const char *value = env_any(e, "REDIS_SENTINEL_PORT");
    int64_t port = 0;
    relet_span s;

    r->scheme = RELET_SENTINEL;
    if (value != NULL) {
        s = rlt_parser_start(r, r->variable, "port", value);
        if (rlt_parser_number(r, s, "port", &port) < 0)
            return RELET_E_CONFIG;
    }
    value = env_at(e, level, "REDIS_SENTINEL_HOST");
    s = rlt_parser_start(r, r->variable, "host", value);
    if (rlt_url_list(r, s, port) < 0)
        return RELET_E_CONFIG;
    return env_set(e, env_any(e, "REDIS_SENTINEL_NAME"),
                          "service");
}

/* One variable, the first that is set, decides where to connect, so that parts
 * of two addresses are never mixed. REDIS_PORT counts only beside REDIS_HOST,
 * or if none of these is set: platforms that link containers set it to
 * something else. */
static const char *const env_wheres[] = {"REDIS_SENTINEL_HOST",
                                            "REDIS_HOST", "REDIS_URL"};

typedef enum env_where {
    ENV_WHERE_SENTINEL,
    ENV_WHERE_HOST,
    ENV_WHERE_URL,
    ENV_WHERE_NONE
} env_where;

static env_where env_find_where(env_env *e, env_level *level)
{
    int i;

    *level = ENV_SCOPED;
    for (i = 0; i < (int)ENV_WHERE_NONE; i++)
        if (env_at(e, *level, env_wheres[i]) != NULL)
            return (env_where)i;
    *level = ENV_GENERIC;
    for (i = 0; i < (int)ENV_WHERE_NONE; i++)
        if (env_at(e, *level, env_wheres[i]) != NULL)
            return (env_where)i;
    return ENV_WHERE_NONE;
}

/* Reads the general before the special: the credentials in a scoped URL
 * override a generic password, and a scoped password overrides them. */
static int env_read(rlt_parser *r, void *from)
{
    env_env *e = (env_env *)from;
    env_level level;
    env_where where;

    e->r = r;
    where = env_find_where(e, &level);
    if (where == ENV_WHERE_URL && level == ENV_GENERIC)
        if (env_url(e, level) < 0)
            return RELET_E_CONFIG;
    if (env_rest(e, ENV_GENERIC) < 0)
        return RELET_E_CONFIG;
    if (where == ENV_WHERE_URL && level == ENV_SCOPED)
        if (env_url(e, level) < 0)
            return RELET_E_CONFIG;
    if (env_rest(e, ENV_SCOPED) < 0)
        return RELET_E_CONFIG;

    switch (where) {
    case ENV_WHERE_SENTINEL:
        return env_sentinel(e, level);
    case ENV_WHERE_HOST:
        return env_host(e, level);
    case ENV_WHERE_NONE:
        return env_set(e, env_any(e, "REDIS_PORT"), "port");
    case ENV_WHERE_URL:
        break;
    }
    return 0;
}

RELET_API int relet_config_env_from(relet_config *c, const char *scope,
                          relet_env_fn *get, void *user, relet_fault *fault)
{
    rlt_parser r;
    env_env e;

    rlt_assert(c != NULL);
    rlt_assert(get != NULL);
    e.r = NULL;
    e.scope = scope == NULL ? "" : scope;
    e.get = get;
    e.user = user;
    if (strlen(e.scope) > sizeof r.variable / 2)
        return rlt_config_refuse(fault, "scope", "is longer than 64 bytes");
    return rlt_parser_run(&r, c, fault, env_read, &e);
}

#endif /* RELET_SMALL */
