/* SPDX-License-Identifier: MIT
 *
 * cmd_expire.c - expiry times of keys: EXPIRE, TTL, PERSIST and so on.
 */
#include "rows.h"

enum {
    CMD_EXPIRE_NX = 1,
    CMD_EXPIRE_XX = 2,
    CMD_EXPIRE_GT = 4,
    CMD_EXPIRE_LT = 8
};

static int cmd_expire_options(rlt_call *c, int *flags)
{
    uint32_t i;

    *flags = 0;
    for (i = 3; i < c->argc; i++) {
        if (rlt_call_is(c, i, "nx")) {
            *flags |= CMD_EXPIRE_NX;
        } else if (rlt_call_is(c, i, "xx")) {
            *flags |= CMD_EXPIRE_XX;
        } else if (rlt_call_is(c, i, "gt")) {
            *flags |= CMD_EXPIRE_GT;
        } else if (rlt_call_is(c, i, "lt")) {
            *flags |= CMD_EXPIRE_LT;
        } else {
            rlt_call_error_with(c, "ERR Unsupported option ", c->argv[i], "");
            return 0;
        }
    }
    if ((*flags & CMD_EXPIRE_NX) && *flags != CMD_EXPIRE_NX) {
        rlt_call_error(c, "ERR NX and XX, GT or LT options at the same time "
                          "are not compatible");
        return 0;
    }
    if ((*flags & CMD_EXPIRE_GT) && (*flags & CMD_EXPIRE_LT)) {
        rlt_call_error(c, "ERR GT and LT options at the same time are not "
                          "compatible");
        return 0;
    }
    return 1;
}

static int cmd_expire_allowed(int flags, int64_t at_ms, int64_t now_at_ms)
{
    if ((flags & CMD_EXPIRE_NX) && now_at_ms >= 0)
        return 0;
    if ((flags & CMD_EXPIRE_XX) && now_at_ms < 0)
        return 0;
    if ((flags & CMD_EXPIRE_GT) && (now_at_ms < 0 || at_ms <= now_at_ms))
        return 0;
    if ((flags & CMD_EXPIRE_LT) && now_at_ms >= 0 && at_ms >= now_at_ms)
        return 0;
    return 1;
}

static int cmd_expire_time(rlt_call *c, int seconds, int64_t base,
                           int64_t *at_ms)
{
    if (!rlt_call_int(c, 2, at_ms, NULL))
        return 0;
    if ((seconds &&
         (*at_ms > INT64_MAX / 1000 || *at_ms < INT64_MIN / 1000)) ||
        (seconds ? *at_ms * 1000 : *at_ms) > INT64_MAX - RLT_MAX(base, 0)) {
        rlt_call_error_with(c, "ERR invalid expire time in '",
                            relet_str(c->command->name), "' command");
        return 0;
    }
    *at_ms = (seconds ? *at_ms * 1000 : *at_ms) + base;
    return 1;
}

static void cmd_expire_effect(rlt_call *c, const char *name, int64_t at_ms)
{
    rlt_call_effect(c, at_ms >= 0 ? 3 : 2);
    rlt_call_effect_text(c, name);
    rlt_call_effect_word(c, c->argv[1]);
    if (at_ms >= 0)
        rlt_call_effect_int(c, at_ms);
}

static void cmd_expire_set(rlt_call *c, rlt_entry *e, int64_t at_ms)
{
    if (at_ms <= c->now_ms && !c->peer->replaying) {
        (void)rlt_call_delete(c, c->argv[1]);
        cmd_expire_effect(c, "DEL", -1);
        rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "del");
        rlt_out_int(c->out, 1);
        return;
    }
    rlt_keys_expire(c->db, c->pool, e, at_ms);
    cmd_expire_effect(c, "PEXPIREAT", at_ms);
    rlt_out_int(c->out, 1);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "expire");
}

static void cmd_expire_as(rlt_call *c, int seconds, int64_t base)
{
    int64_t at_ms;
    rlt_entry *e;
    int flags;

    if (!cmd_expire_options(c, &flags) ||
        !cmd_expire_time(c, seconds, base, &at_ms))
        return;
    e = rlt_call_find_write(c, c->argv[1]);
    if (e == NULL || !cmd_expire_allowed(flags, at_ms, rlt_keys_expires_at(
                                                           rlt_keys_obj(e)))) {
        rlt_out_int(c->out, 0);
        return;
    }
    cmd_expire_set(c, e, at_ms);
}

static void cmd_expire_expire(rlt_call *c)
{
    cmd_expire_as(c, 1, c->now_ms);
}

static void cmd_expire_pexpire(rlt_call *c)
{
    cmd_expire_as(c, 0, c->now_ms);
}

static void cmd_expire_expireat(rlt_call *c)
{
    cmd_expire_as(c, 1, 0);
}

static void cmd_expire_pexpireat(rlt_call *c)
{
    cmd_expire_as(c, 0, 0);
}

/* The expiry time of argv[1]: 1 and *at_ms, or 0 when -2 or -1 was replied. */
static int cmd_expire_of(rlt_call *c, int64_t *at_ms)
{
    rlt_entry *e = rlt_call_find_read(c, c->argv[1]);

    *at_ms = e ? rlt_keys_expires_at(rlt_keys_obj(e)) : -1;
    if (*at_ms >= 0)
        return 1;
    rlt_out_int(c->out, e ? -1 : -2);
    return 0;
}

static void cmd_expire_pttl(rlt_call *c)
{
    int64_t at;

    if (cmd_expire_of(c, &at))
        rlt_out_int(c->out, RLT_MAX(at - c->now_ms, 0));
}

static void cmd_expire_ttl(rlt_call *c)
{
    int64_t at;

    if (cmd_expire_of(c, &at))
        rlt_out_int(c->out, (RLT_MAX(at - c->now_ms, 0) + 500) / 1000);
}

static void cmd_expire_expiretime(rlt_call *c)
{
    int64_t at;

    if (cmd_expire_of(c, &at))
        rlt_out_int(c->out, (at + 500) / 1000);
}

static void cmd_expire_pexpiretime(rlt_call *c)
{
    int64_t at;

    if (cmd_expire_of(c, &at))
        rlt_out_int(c->out, at);
}

static void cmd_expire_persist(rlt_call *c)
{
    rlt_entry *e = rlt_call_find_write(c, c->argv[1]);

    if (e == NULL || !rlt_keys_persist(c->db, c->pool, e)) {
        rlt_out_int(c->out, 0);
        return;
    }
    rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "persist");
    rlt_out_int(c->out, 1);
}

#define W (RLT_CMD_WRITE | RLT_CMD_FAST)
#define R (RLT_CMD_READONLY | RLT_CMD_FAST)
#define ONE 1, 1, 1, 0, 0, NULL, NULL

static const rlt_command cmd_expire_rows[] = {
    {"expire", cmd_expire_expire, -3, W, ONE},
    {"pexpire", cmd_expire_pexpire, -3, W, ONE},
    {"expireat", cmd_expire_expireat, -3, W, ONE},
    {"pexpireat", cmd_expire_pexpireat, -3, W, ONE},
    {"ttl", cmd_expire_ttl, 2, R, ONE},
    {"pttl", cmd_expire_pttl, 2, R, ONE},
    {"expiretime", cmd_expire_expiretime, 2, R, ONE},
    {"pexpiretime", cmd_expire_pexpiretime, 2, R, ONE},
    {"persist", cmd_expire_persist, 2, W, ONE},
};

#undef W
#undef R
#undef ONE

RELET_PRIVATE const rlt_command *rlt_cmd_expire_rows(size_t *n)
{
    *n = sizeof cmd_expire_rows / sizeof *cmd_expire_rows;
    return cmd_expire_rows;
}
