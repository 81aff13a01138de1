/* SPDX-License-Identifier: MIT
 *
 * server_test.c - tests of the client and its driver on real servers: each
 * command is answered, for any number, size and type; scripts and
 * transactions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_rig.h"
#include "server_run.h"

#define T_BIG ((size_t)64 << 20)

/* ------------------------------------------------------------- plain speed */

static void a_pipeline_of_100000_increments_is_answered_in_order(void)
{
    relet_config g = t_config();
    t_client *c;

    t_start("");
    g.operations_max = 100000;
    c = t_open(&g);
    t_many(c, 100000, T_COUNT, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 100000);
    T_EQ(c->counter, 100000);
    T_EQ(c->late_order, 0);
    T_EQ(T_ASK(c, "GET", "counter")->number, 100000);
    T_EQ(t_stats(c).connects, 1);
}

static void a_pipeline_of_100000_echoes_is_answered_in_order(void)
{
    relet_config g = t_config();
    t_client *c;

    t_start("");
    g.operations_max = 100000;
    c = t_open(&g);
    T_UNTIL(relet_is_up(c->r));
    t_many(c, 100000, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 100000);
    T_EQ(c->late_order, 0);
    T_EQ(t_stats(c).connects, 1);
}

static void a_full_queue_says_so_and_goes_on(void)
{
    relet_config g = t_config();
    int code, full = 0;
    t_client *c;

    t_start("");
    g.operations_max = 16;
    c = t_open(&g);
    while (c->tags < 10000) {
        code = t_do(c, T_COUNT, 0, 0);
        full += code == RELET_E_LIMIT;
        T(code == 0 || code == RELET_E_LIMIT);
        T_CMP(relet_outstanding(c->r), <=, 16);
        if (code == RELET_E_LIMIT)
            T_UNTIL(relet_outstanding(c->r) < 16);
    }
    T_UNTIL(t_quiet(c));
    T_EQ(c->counter, 10000);
    T_CMP(full, >=, 100);
}

/* ------------------------------------------------------------------- bulks */

static char *t_big;

static void t_big_fill(void)
{
    uint32_t x = 1;
    size_t i;

    t_big = (char *)realloc(t_big, T_BIG);
    T(t_big != NULL);
    for (i = 0; i < T_BIG; i++) {
        x = x * 1664525u + 1013904223u;
        t_big[i] = (char)(x >> 24);
    }
}

static void t_big_same(relet_value v)
{
    T_EQ(relet_value_text(v).n, T_BIG);
    T(memcmp(relet_value_text(v).p, t_big, T_BIG) == 0);
}

static void t_see_big(t_client *c, const relet_event *ev)
{
    relet_value v = ev->value;

    (void)c;
    if (ev->kind != RELET_EV_REPLY || relet_value_is(v, "OK"))
        return;
    if (relet_value_type(v) == RELET_T_TEXT) {
        t_big_same(v);
        return;
    }
    T_EQ(relet_value_count(v), 3);
    t_big_same(relet_value_at(v, 0));
    T_EQ(relet_value_type(relet_value_at(v, 1)), RELET_T_NULL);
    t_big_same(relet_value_at(v, 2));
}

static void a_bulk_of_64_mib_travels_both_ways(void)
{
    relet_span argv[3];
    t_client *c;

    t_start("");
    c = t_promote();
    t_big_fill();
    argv[0] = relet_str("SET");
    argv[1] = relet_str("big");
    argv[2].p = t_big;
    argv[2].n = T_BIG;
    T_EQ(t_try(c, T_ANY, 0, 0, argv, 3), 0);
    T_SAY(c, "GET", "big");
    T_SAY(c, "MGET", "big", "none", "big");
    c->see = t_see_big;
    T_UNTIL(t_quiet(c));
    c->see = NULL;
    free(t_big);
    t_big = NULL;
    T_EQ(c->n[RELET_EV_REPLY], 3);
    T_EQ(T_ASK(c, "STRLEN", "big")->number, T_BIG);
    T_EQ(t_stats(c).connects, 1);
}

/* ------------------------------------------------------------------- types */

static void t_is_map(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_MAP);
    T_EQ(relet_value_count(v), 2);
    T(relet_value_is(relet_value_get(v, "f"), "1"));
    T(relet_value_is(relet_value_get(v, "g"), "2"));
}

static void t_is_set(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_SET);
    T_EQ(relet_value_count(v), 2);
}

static void t_is_double(relet_value v)
{
    double d = 0;

    T_EQ(relet_value_type(v), RELET_T_DOUBLE);
    T(relet_value_double(v, &d) && d == 1.5);
}

static void t_is_number(relet_value v)
{
    int64_t n = 0;

    T_EQ(relet_value_type(v), RELET_T_INT);
    T(relet_value_int(v, &n) && n == 2);
}

static void t_is_big(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_BIG);
    T(relet_value_is(v, "1234567999999999999999999999999999999"));
    T(!relet_value_malformed(v));
}

static void t_is_bad_big(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_BIG);
    T(relet_value_is(v, "hello"));
    T(relet_value_malformed(v));
}

static void t_is_true(relet_value v)
{
    int b = 0;

    T_EQ(relet_value_type(v), RELET_T_BOOL);
    T(relet_value_bool(v, &b) && b == 1);
}

static void t_is_false(relet_value v)
{
    int b = 1;

    T_EQ(relet_value_type(v), RELET_T_BOOL);
    T(relet_value_bool(v, &b) && b == 0);
}

static void t_is_null(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_NULL);
}

static void t_is_verbatim(relet_value v)
{
    T_EQ(relet_value_type(v), RELET_T_VERBATIM);
    T(relet_value_is(v, "This is a verbatim\nstring"));
    T_EQ(relet_value_format(v).n, 3);
    T(memcmp(relet_value_format(v).p, "txt", 3) == 0);
}

static void t_is_attributed(relet_value v)
{
    relet_value a = relet_value_attributes(v);

    T(relet_value_is(v, "Some real reply following the attribute"));
    T_EQ(relet_value_count(a), 1);
    T_EQ(relet_value_count(relet_value_get(a, "key-popularity")), 2);
}

static void t_is_behind_push(relet_value v)
{
    T(relet_value_is(v, "Some real reply following the push reply"));
}

static void t_is_from_script(relet_value v)
{
    double d = 0;

    T_EQ(relet_value_type(v), RELET_T_MAP);
    T_EQ(relet_value_type(relet_value_get(v, "a")), RELET_T_DOUBLE);
    T(relet_value_double(relet_value_get(v, "a"), &d) && d == 0.5);
    T_EQ(relet_value_type(relet_value_get(v, "b")), RELET_T_BOOL);
}

typedef struct t_typed {
    const char *words[7]; /* NULL behind the last */
    void (*check)(relet_value v);
} t_typed;

static const t_typed t_types[] = {
    {{"HSET", "h", "f", "1", "g", "2", NULL}, t_is_number},
    {{"SADD", "s", "x", "y", NULL}, t_is_number},
    {{"HGETALL", "h", NULL}, t_is_map},
    {{"SMEMBERS", "s", NULL}, t_is_set},
    {{"ZINCRBY", "z", "1.5", "m", NULL}, t_is_double},
    {{"ZSCORE", "z", "m", NULL}, t_is_double},
    {{"DEBUG", "PROTOCOL", "bignum", NULL}, t_is_big},
    {{"EVAL", "return {big_number='hello'}", "0", NULL}, t_is_bad_big},
    {{"DEBUG", "PROTOCOL", "true", NULL}, t_is_true},
    {{"DEBUG", "PROTOCOL", "false", NULL}, t_is_false},
    {{"DEBUG", "PROTOCOL", "null", NULL}, t_is_null},
    {{"BLPOP", "none", "0.01", NULL}, t_is_null},
    {{"DEBUG", "PROTOCOL", "verbatim", NULL}, t_is_verbatim},
    {{"DEBUG", "PROTOCOL", "attrib", NULL}, t_is_attributed},
    {{"DEBUG", "PROTOCOL", "push", NULL}, t_is_behind_push},
    {{"EVAL", "redis.setresp(3) return {map={a={double=0.5}, b=true}}", "0",
      NULL},
     t_is_from_script}};

#define T_TYPES (sizeof t_types / sizeof t_types[0])

static void t_see_types(t_client *c, const relet_event *ev)
{
    (void)c;
    if (ev->kind == RELET_EV_REPLY)
        t_types[ev->tag].check(ev->value);
}

static void every_type_of_resp3_arrives_as_its_own_type(void)
{
    t_client *c;
    size_t i;

    t_start("");
    c = t_promote();
    c->see = t_see_types;
    for (i = 0; i < T_TYPES; i++)
        T_EQ(t_words(c, t_types[i].words), 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], T_TYPES);
    T_EQ(c->n[RELET_EV_PUSHED], 1);
    T_EQ(t_stats(c).connects, 1);
}

/* ------------------------------------------------------------------- errors */

static void errors_that_prove_no_effect_say_so(void)
{
    const t_answer *a;
    t_client *c;

    t_start("");
    c = t_promote();
    T_EQ(T_ASK(c, "SET", "k", "1")->kind, RELET_EV_REPLY);
    a = T_ASK(c, "INCR");
    T_EQ(a->kind, RELET_EV_ERROR);
    T(a->proves);
    a = T_ASK(c, "NONSENSE", "k");
    T_EQ(a->kind, RELET_EV_ERROR);
    T(a->proves);
    T_EQ(T_ASK(c, "CONFIG", "SET", "maxmemory", "1")->kind, RELET_EV_REPLY);
    a = T_ASK(c, "INCR", "k");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "OOM");
    T(a->proves);
    T_EQ(T_ASK(c, "CONFIG", "SET", "maxmemory", "0")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(c, "REPLICAOF", "127.0.0.1", "1")->kind, RELET_EV_REPLY);
    a = T_ASK(c, "INCR", "k");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "READONLY");
    T(a->proves);
    T_EQ(T_ASK(c, "GET", "k")->number, 1);
    T_EQ(T_ASK(c, "REPLICAOF", "NO", "ONE")->kind, RELET_EV_REPLY);
    a = T_ASK(c, "EVAL", "redis.call('INCR', 'k') return redis.call('LPUSH', "
                         "'k', '1')", "0");
    T_EQ(a->kind, RELET_EV_ERROR);
    T(!a->proves);
    T_EQ(T_ASK(c, "GET", "k")->number, 2);
}

static void t_too_large(t_client *c, uint64_t tag, const char *limit)
{
    const t_answer *a = t_ask(c, tag);

    T_EQ(a->kind, RELET_EV_ERROR);
    T_EQ(a->why, RELET_WHY_TOO_LARGE);
    T_HAS(a->text, limit);
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
}

static void a_reply_over_a_limit_costs_itself_and_not_the_link(void)
{
    relet_config g = t_config();
    t_client *c;

    t_start("");
    g.bulk_max = 1000;
    g.line_max = 200;
    g.count_max = 100;
    g.depth_max = 8;
    g.reply_max = 1 << 14;
    g.tape_max = 1 << 14;
    c = t_open(&g);
    t_too_large(c, T_SAY(c, "EVAL", "return string.rep('x', 1001)", "0"),
                "bulk_max");
    t_too_large(c, T_SAY(c, "EVAL",
                         "return redis.status_reply(string.rep('x', 300))",
                         "0"), "line_max");
    t_too_large(c, T_SAY(c, "EVAL",
                         "local t = {} for i = 1, 101 do t[i] = i end "
                         "return t", "0"), "count_max");
    t_too_large(c, T_SAY(c, "EVAL",
                         "local t = {1} for i = 1, 20 do t = {t} end "
                         "return t", "0"), "depth_max");
    t_too_large(c, T_SAY(c, "EVAL",
                         "local t = {} for i = 1, 50 do "
                         "t[i] = string.rep('x', 900) end return t", "0"),
                "reply_max");
    t_too_large(c, T_SAY(c, "EVAL",
                         "local t, u = {}, {} for i = 1, 90 do u[i] = 1 end "
                         "for i = 1, 20 do t[i] = u end return t", "0"),
                "tape_max");
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 1);
    T_SAY(c, "EVAL", "return redis.call('PUBLISH', 'news', "
                     "string.rep('x', 2000))", "0");
    T_UNTIL(c->n[RELET_EV_GAP] == 1 && t_quiet(c));
    T_EQ(c->n[RELET_EV_MESSAGE], 0);
    T_EQ(c->n[RELET_EV_REPLY], 7);
    T_EQ(t_stats(c).connects, 1);
}

/* ----------------------------------------------------------------- scripts */

static void a_busy_script_is_waited_out_by_repeatable_commands(void)
{
    relet_config g = t_config();
    t_client *c, *late, *admin, *hog;
    const t_answer *a;
    uint64_t tag;

    t_start("busy-reply-threshold 20");
    admin = t_promote();
    hog = t_promote();
    c = t_promote();
    T_SAY(hog, "EVAL", "while true do end", "0");
    do {
        a = T_ASK(c, "PING");
    } while (a->kind == RELET_EV_REPLY);
    a = T_ASK(c, "SET", "k", "1");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "BUSY");
    T(a->proves);
    tag = t_say(c, RELET_REPEATABLE, 0, "GET", "k", (const char *)NULL);
    late = t_open(&g);
    T_SAY(late, "GET", "k");
    T_UNTIL(late->n[RELET_EV_DOWN] > 0);
    t_pass(200);
    T_EQ(c->line[tag].outcome, RELET_EV_NOTHING);
    T_CMP(t_stats(c).repeated, <, 100); /* the client does not hammer */
    T_EQ(T_ASK(admin, "SCRIPT", "KILL")->kind, RELET_EV_REPLY);
    a = t_ask(c, tag);
    T_EQ(a->kind, RELET_EV_REPLY);
    T_EQ(a->type, RELET_T_NULL); /* the SET without REPEATABLE had no effect */
    T_CMP(t_stats(c).repeated, >, 0);
    T_EQ(t_stats(c).connects, 1);
    T_UNTIL(t_quiet(hog) && t_quiet(late));
    T_EQ(hog->n[RELET_EV_ERROR], 1);
    T_EQ(late->down[RELET_WHY_BUSY], 1);
    T_EQ(late->n[RELET_EV_DOWN], 1);
    T_EQ(late->n[RELET_EV_REPLY], 1);
}

static void a_flushed_script_runs_once_without_an_error(void)
{
    static const char body[] =
        "return redis.call('RPUSH', KEYS[1], ARGV[1])";
    relet_time end;
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_promote();
    c->script = relet_script_add(c->r, relet_str(body));
    T_CMP(c->script, >=, 0);
    c->window = 100;
    for (end = relet_clock() + 1000; relet_clock() < end; t_pass(5))
        T_EQ(T_ASK(admin, "SCRIPT", "FLUSH")->kind, RELET_EV_REPLY);
    c->window = 0;
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], c->tags);
    T_CMP(c->tags, >, 1000);
    T_HAS(T_ASK(admin, "INFO", "errorstats")->text, "errorstat_NOSCRIPT");
    t_judge(c, admin);
}

static void scripts_survive_new_links(void)
{
    static const char body[] =
        "return redis.call('RPUSH', KEYS[1], ARGV[1])";
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_promote();
    c = t_promote();
    c->script = relet_script_add(c->r, relet_str(body));
    T_CMP(c->script, >=, 0);
    c->window = 100;
    for (i = 0; i < 10; i++) {
        t_pass(20);
        T_SAY(admin, "SCRIPT", "FLUSH");
        T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->kind,
             RELET_EV_REPLY);
    }
    c->window = 0;
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_ERROR], 0);
    t_judge(c, admin);
}

/* ------------------------------------------------------------ transactions */

/* Submits a transaction of two commands of up to four words, each ended by
 * NULL. Returns 0 or an error code. */
static int t_unit(t_client *c, const char *const words[2][5])
{
    relet_request q = t_request(c, 0, 0);
    relet_span argv[2][4];
    relet_args args[2];
    int i, code;

    for (i = 0; i < 2; i++) {
        args[i].argv = argv[i];
        for (args[i].argc = 0; words[i][args[i].argc] != NULL; args[i].argc++)
            argv[i][args[i].argc] = relet_str(words[i][args[i].argc]);
    }
    t_line_new(c, T_ANY, 0);
    code = relet_transaction(c->r, args, 2, &q);
    c->tags += code == 0;
    if (code == 0)
        (void)t_asked(c);
    return code;
}

static const char *const t_both[2][5] = {{"SET", "a", "1", NULL, NULL},
                                         {"INCR", "a", NULL, NULL, NULL}};

static void a_transaction_is_all_or_nothing(void)
{
    static const char *const bad[2][5] = {{"SET", "b", "1", NULL, NULL},
                                          {"NONSENSE", NULL, NULL, NULL, NULL}};
    const t_answer *a;
    t_client *c;

    t_start("");
    c = t_promote();
    T_EQ(t_unit(c, t_both), 0);
    t_many(c, 1, T_ECHO, 0, 0);
    a = t_ask(c, 0);
    T_EQ(a->kind, RELET_EV_REPLY);
    T_EQ(a->count, 2);
    T_EQ(t_unit(c, bad), 0);
    t_many(c, 1, T_ECHO, 0, 0);
    a = t_ask(c, c->asked);
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "unknown command");
    T(a->proves);
    T_EQ(T_ASK(c, "EXISTS", "b")->number, 0);
    T_EQ(T_ASK(c, "GET", "a")->number, 2);
}

static void t_see_failure_inside(t_client *c, const relet_event *ev)
{
    (void)c;
    T_EQ(ev->kind, RELET_EV_REPLY);
    T_EQ(relet_value_count(ev->value), 2);
    T(relet_value_is(relet_value_at(ev->value, 0), "OK"));
    T_EQ(relet_value_type(relet_value_at(ev->value, 1)), RELET_T_ERROR);
}

static void a_command_that_fails_inside_fails_alone(void)
{
    static const char *const half[2][5] = {{"SET", "b", "1", NULL, NULL},
                                           {"LPUSH", "b", "1", NULL, NULL}};
    t_client *c;

    t_start("");
    c = t_promote();
    T_EQ(t_unit(c, half), 0);
    c->see = t_see_failure_inside;
    T_UNTIL(t_quiet(c));
    c->see = NULL;
    T_EQ(c->n[RELET_EV_REPLY], 1);
    T_EQ(T_ASK(c, "GET", "b")->number, 1);
}

static void a_watched_key_that_changes_voids_the_transaction(void)
{
    const t_answer *a;
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_promote();
    T_EQ(T_ASK(c, "WATCH", "a")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(admin, "SET", "a", "9")->kind, RELET_EV_REPLY);
    T_EQ(t_unit(c, t_both), 0);
    a = t_ask(c, c->asked);
    T_EQ(a->kind, RELET_EV_REPLY);
    T_EQ(a->type, RELET_T_NULL);
    T_EQ(T_ASK(c, "GET", "a")->number, 9);
    T_EQ(t_unit(c, t_both), 0); /* the WATCH has ended */
    T_EQ(t_ask(c, c->asked)->count, 2);
}

static void a_watch_that_died_with_its_link_refuses_the_transaction(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
    c = t_promote();
    T_EQ(T_ASK(c, "WATCH", "a")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->number, 1);
    T_UNTIL(c->n[RELET_EV_UP] == 2);
    T_EQ(t_unit(c, t_both), RELET_E_REFUSED);
    T_HAS(relet_refusal(c->r), "WATCH");
    T_EQ(T_ASK(c, "EXISTS", "a")->number, 0);
    T_EQ(t_unit(c, t_both), 0);
    T_EQ(t_ask(c, c->asked)->count, 2);
}

/* The client holds the transaction back while the server refuses everything. */
static void a_watch_that_dies_ends_the_transaction_behind_it_unsent(void)
{
    relet_config g = t_config();
    t_client *c, *admin;

    t_start("replica-serve-stale-data no");
    admin = t_promote();
    g.retry_min_ms = g.retry_max_ms = 2000;
    c = t_open(&g);
    T_EQ(T_ASK(c, "WATCH", "a")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(admin, "REPLICAOF", "127.0.0.1", "1")->kind, RELET_EV_REPLY);
    (void)t_say(c, RELET_REPEATABLE, 0, "GET", "a", (const char *)NULL);
    T_UNTIL(t_stats(c).repeated == 1);
    T_EQ(t_unit(c, t_both), 0);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->number, 1);
    T_EQ(T_ASK(admin, "REPLICAOF", "NO", "ONE")->kind, RELET_EV_REPLY);
    T_UNTIL(t_quiet(c));
    T_EQ(c->line[2].outcome, RELET_EV_NOT_SENT);
    T_EQ(c->line[2].why, RELET_WHY_WATCH_LOST);
    T_EQ(c->line[1].outcome, RELET_EV_REPLY);
    T_EQ(T_ASK(c, "EXISTS", "a")->number, 0);
}

static void transactions_under_kills_are_whole_or_nothing(void)
{
    static const char *const same =
        "local a = redis.call('LRANGE', 'left', 0, -1) "
        "local b = redis.call('LRANGE', 'right', 0, -1) "
        "return table.concat(a, ' ') == table.concat(b, ' ') and #a or -1";
    char tag[24];
    const char *words[2][5] = {{"RPUSH", "left", NULL, NULL, NULL},
                               {"RPUSH", "right", NULL, NULL, NULL}};
    t_client *c, *admin;
    int i, k;

    t_start("");
    admin = t_promote();
    c = t_promote();
    words[0][2] = words[1][2] = tag;
    for (i = 0; i < 20; i++) {
        for (k = 0; k < 500; k++) {
            (void)snprintf(tag, sizeof tag, "%d", i * 500 + k);
            T_EQ(t_unit(c, (const char *const (*)[5])words), 0);
            if (k == 250)
                T_SAY(admin, "CLIENT", "KILL", "TYPE", "normal");
            if (k % 50 == 0)
                t_turn();
        }
        T_UNTIL(t_quiet(c));
    }
    T_EQ(c->n[RELET_EV_ERROR], 0);
    T_CMP(t_stats(c).connects, >=, 10);
    T_CMP(T_ASK(admin, "EVAL", same, "0")->number, >=, c->n[RELET_EV_REPLY]);
    T_CMP(admin->answer.number, <=,
          c->n[RELET_EV_REPLY] + c->n[RELET_EV_UNSURE]);
}

static const t_case t_cases[] = {
    C(a_pipeline_of_100000_increments_is_answered_in_order, T_BOTH),
    C(a_pipeline_of_100000_echoes_is_answered_in_order, T_BOTH),
    C(a_full_queue_says_so_and_goes_on, T_BOTH),
    C(a_bulk_of_64_mib_travels_both_ways, T_BOTH),
    C(every_type_of_resp3_arrives_as_its_own_type, T_BOTH),
    C(a_reply_over_a_limit_costs_itself_and_not_the_link, T_BOTH),
    C(errors_that_prove_no_effect_say_so, T_BOTH),
    C(a_busy_script_is_waited_out_by_repeatable_commands, T_BOTH),
    C(a_flushed_script_runs_once_without_an_error, T_BOTH),
    C(scripts_survive_new_links, T_BOTH),
    C(a_transaction_is_all_or_nothing, T_BOTH),
    C(a_command_that_fails_inside_fails_alone, T_BOTH),
    C(a_watched_key_that_changes_voids_the_transaction, T_BOTH),
    C(a_watch_that_died_with_its_link_refuses_the_transaction, T_BOTH),
    C(a_watch_that_dies_ends_the_transaction_behind_it_unsent, T_BOTH),
    C(transactions_under_kills_are_whole_or_nothing, T_BOTH)};

T_SERVER_MAIN(t_cases)
