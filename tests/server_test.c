/* SPDX-License-Identifier: MIT
 *
 * server_test.c - tests of the client and its driver on real servers.
 *
 *   REDIS_SERVER=… VALKEY_SERVER=… [VALKEY_LIBS=…] server_test [PART OF NAME]
 *
 * Each test runs on Redis and on Valkey, over TCP and over a Unix socket. The
 * two servers are tested at once, by one process each. After each test, the
 * ledger of every client must show exactly one outcome for each operation. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_await.h"
#include "server_proxy.h"
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
    c = t_ready();
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

static void every_type_of_resp3_arrives_as_what_it_is(void)
{
    t_client *c;
    size_t i;

    t_start("");
    c = t_ready();
    c->see = t_see_types;
    for (i = 0; i < T_TYPES; i++)
        T_EQ(t_words(c, t_types[i].words), 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], T_TYPES);
    T_EQ(c->n[RELET_EV_PUSHED], 1);
    T_EQ(t_stats(c).connects, 1);
}

/* ---------------------------------------------------------- authentication */

static void the_right_password_comes_up_in_the_right_database(void)
{
    relet_config g = t_config();
    t_client *c, *other;

    t_start("requirepass right");
    (void)strcpy(g.password, "right");
    other = t_open(&g);
    g.db = 3;
    (void)strcpy(g.name, "me");
    c = t_open(&g);
    T_EQ(T_ASK(c, "SET", "k", "v")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(other, "EXISTS", "k")->number, 0);
    T(strcmp(T_ASK(c, "CLIENT", "GETNAME")->text, "me") == 0);
    T_EQ(c->n[RELET_EV_DOWN], 0);
    T_HAS(c->up_text, t_world.kind);
}

static void a_wrong_password_is_told_and_retried_slowly(void)
{
    relet_config g = t_config();
    const t_answer *a;
    uint64_t tag;
    t_client *c;

    t_start("requirepass right");
    (void)strcpy(g.password, "wrong");
    g.retry_max_ms = 400;
    c = t_open(&g);
    tag = t_say(c, 0, 100, "PING", (const char *)NULL);
    T_UNTIL(c->n[RELET_EV_DOWN] == 1);
    T_EQ(c->down[RELET_WHY_AUTH], 1);
    T_HAS(c->down_text, "WRONGPASS");
    T_CMP(c->retry_in_ms, >=, 200);
    a = t_ask(c, tag);
    T_EQ(a->kind, RELET_EV_NOT_SENT);
    T_EQ(a->why, RELET_WHY_TIMEOUT);
    T_EQ(relet_credentials(c->r, relet_str(""), relet_str("right")), 0);
    T_EQ(T_ASK(c, "PING")->kind, RELET_EV_REPLY);
    T_CMP(t_stats(c).attempts, <=, 4);
}

static void no_password_where_one_is_needed_is_told(void)
{
    relet_config g = t_config();
    t_client *c;

    t_start("requirepass right");
    g.retry_max_ms = 400;
    c = t_open(&g);
    T_UNTIL(c->n[RELET_EV_DOWN] == 1);
    T_EQ(c->down[RELET_WHY_AUTH], 1);
    T_HAS(c->down_text, "NOAUTH");
    T_CMP(c->retry_in_ms, >=, 200);
}

static relet_config t_as_bob(void)
{
    relet_config g = t_config();

    (void)strcpy(g.user, "bob");
    (void)strcpy(g.password, "pw");
    return g;
}

static void a_forbidden_command_is_an_error_without_effect(void)
{
    relet_config g = t_as_bob();
    const t_answer *a;
    t_client *c;

    t_start("user bob on >pw ~mine* &* +@all -ping -incr");
    c = t_open(&g);
    a = T_ASK(c, "INCR", "mine");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "NOPERM");
    T(a->proves);
    a = T_ASK(c, "SET", "yours", "1");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "NOPERM");
    T_EQ(T_ASK(c, "EXISTS", "mine")->number, 0);
    T_EQ(T_ASK(c, "PING")->kind, RELET_EV_ERROR);
    T_EQ(c->n[RELET_EV_DOWN], 0);
}

static void a_forbidden_select_keeps_the_link_down(void)
{
    relet_config g = t_as_bob();
    t_client *c;

    t_start("user bob on >pw ~* &* +@all -select");
    g.db = 1;
    g.retry_max_ms = 400;
    c = t_open(&g);
    T_UNTIL(c->n[RELET_EV_DOWN] == 1);
    T_EQ(c->down[RELET_WHY_AUTH], 1);
    T_HAS(c->down_text, "SELECT was refused: NOPERM");
}

static void a_database_out_of_range_keeps_the_link_down(void)
{
    relet_config g = t_config();
    t_client *c;

    t_start("databases 4");
    g.db = 4;
    g.retry_max_ms = 400;
    c = t_open(&g);
    T_UNTIL(c->n[RELET_EV_DOWN] == 1);
    T_EQ(c->down[RELET_WHY_SETUP], 1);
    T_HAS(c->down_text, "SELECT was refused: ERR DB index is out of range");
    T_CMP(c->retry_in_ms, >=, 200);
}

static int t_wish(t_client *c, relet_channel kind, const char *name)
{
    return relet_subscribe(c->r, kind, relet_str(name));
}

static void a_refused_channel_is_forgotten_while_others_hold(void)
{
    relet_config g = t_as_bob();
    t_client *c, *admin;

    t_start("user bob on >pw ~* resetchannels &open &pat* +@all -ssubscribe");
    admin = t_ready();
    c = t_open(&g);
    T_EQ(t_wish(c, RELET_CHANNEL, "secret"), 0); /* in the handshake */
    T_EQ(t_wish(c, RELET_CHANNEL, "open"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 1);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 1);
    T_EQ(t_wish(c, RELET_SHARDED, "open"), 0); /* on a link that is up */
    T_EQ(t_wish(c, RELET_CHANNEL, "secret"), 0);
    T_EQ(t_wish(c, RELET_PATTERN, "pat*"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 2);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 3);
    T_HAS(c->refused_text, "NOPERM");
    T_EQ(T_ASK(admin, "PUBLISH", "open", "1")->number, 1);
    T_EQ(T_ASK(admin, "PUBLISH", "pattern", "1")->number, 1);
    T_EQ(T_ASK(admin, "PUBLISH", "secret", "1")->number, 0);
    T_UNTIL(c->n[RELET_EV_MESSAGE] == 2);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "USER", "bob")->number, 1);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 4 && relet_is_up(c->r));
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 3);
    T_EQ(T_ASK(c, "SET", "k", "v")->kind, RELET_EV_REPLY);
}

static void a_deleted_user_loses_the_link_and_is_told_why(void)
{
    relet_config g = t_as_bob();
    t_client *c, *admin;

    t_start("user bob on >pw ~* &* +@all");
    g.retry_max_ms = 100;
    admin = t_ready();
    c = t_open(&g);
    T_EQ(T_ASK(c, "SET", "k", "1")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(admin, "ACL", "DELUSER", "bob")->number, 1);
    T_UNTIL(c->down[RELET_WHY_CLOSED] == 1 && c->down[RELET_WHY_AUTH] > 0);
    T_HAS(c->down_text, "WRONGPASS");
    T_EQ(T_ASK(admin, "ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all")
             ->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(c, "GET", "k")->number, 1);
}

static void a_server_without_hello_is_down_for_want_of_resp3(void)
{
    relet_config g = t_config();
    uint64_t turns, attempts;
    t_client *c;

    t_start("rename-command HELLO \"\"");
    g.retry_max_ms = 200;
    c = t_open(&g);
    (void)t_say(c, 0, 300, "PING", (const char *)NULL);
    T_UNTIL(c->down[RELET_WHY_NO_RESP3] == 1);
    T_HAS(c->down_text, "HELLO 3 was refused");
    attempts = t_stats(c).attempts;
    turns = t_world.turns;
    t_pass(500);
    T_CMP(t_stats(c).attempts - attempts, <=, 6);
    T_CMP(t_world.turns - turns, <=, 100); /* the client does not spin */
    T_EQ(c->n[RELET_EV_NOT_SENT], 1);
}

static void too_many_clients_is_told_in_the_servers_words(void)
{
    relet_config g = t_config();
    t_client *admin, *second, *third;

    t_start("maxclients 2");
    admin = t_ready();
    second = t_ready();
    third = t_open(&g);
    T_UNTIL(third->n[RELET_EV_DOWN] >= 1);
    T_EQ(third->down[RELET_WHY_CLOSED], third->n[RELET_EV_DOWN]);
    T_HAS(third->down_text, "max number of clients reached");
    T_SAY(third, "PING");
    t_end(second);
    T_UNTIL(t_quiet(third));
    T_EQ(third->n[RELET_EV_REPLY], 1);
    T_EQ(T_ASK(admin, "PING")->kind, RELET_EV_REPLY);
}

/* ------------------------------------------------------- here, away, back */

static void operations_wait_for_a_server_that_is_away(void)
{
    relet_config g = t_config();
    t_client *c, *admin;

    t_remove_data();
    t_place();
    c = t_open(&g);
    t_many(c, 10, T_PUSH, 0, 200);
    t_many(c, 10, T_PUSH, 0, 0);
    T_UNTIL(c->n[RELET_EV_NOT_SENT] == 10);
    T_EQ(t_count(c, T_PUSH, RELET_EV_NOTHING), 10);
    T_CMP(c->down[RELET_WHY_CONNECT], >=, 1);
    T_EQ(c->line[0].why, RELET_WHY_TIMEOUT);
    t_start_here("", 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 10);
    admin = t_ready();
    t_judge(c, admin);
}

#define T_SLOW "key-load-delay 500\nloading-process-events-interval-bytes 1024"

static void loading_is_waited_out_and_told_once(void)
{
    relet_config g = t_config();
    t_client *c, *late;

    t_start("");
    c = t_ready();
    T_EQ(T_ASK(c, "DEBUG", "POPULATE", "2000")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(c, "SAVE")->kind, RELET_EV_REPLY);
    t_kill();
    t_many(c, 50, T_ECHO, 0, 0);
    t_start_here(T_SLOW, 1);
    late = t_open(&g);
    t_many(late, 100, T_ECHO, 0, 0);
    t_many(late, 100, T_COUNT, RELET_REPEATABLE, 0);
    T_UNTIL(late->n[RELET_EV_DOWN] > 0);
    T_UNTIL(t_quiet(c) && t_quiet(late));
    T_EQ(late->down[RELET_WHY_BUSY], 1);
    T_EQ(late->n[RELET_EV_DOWN], 1);
    T_HAS(late->down_text, "LOADING");
    T_EQ(late->n[RELET_EV_UP], 1);
    T_EQ(late->n[RELET_EV_REPLY], 200);
    T_EQ(c->down[RELET_WHY_BUSY], 1);
    T_EQ(c->n[RELET_EV_REPLY] + c->n[RELET_EV_UNSURE], 52);
    T_EQ(c->n[RELET_EV_ERROR], 0);
    T_EQ(T_ASK(c, "DBSIZE")->number, 2001);
}

static void a_client_killed_20_times_a_second_keeps_its_promises(void)
{
    relet_config g = t_config();
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_ready();
    c = t_open(&g);
    c->window = 256;
    T_UNTIL(c->n[RELET_EV_REPLY] > 0);
    for (i = 0; i < 60; i++) {
        t_pass(50);
        T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->kind,
             RELET_EV_REPLY);
    }
    c->window = 0;
    T_UNTIL(t_quiet(c) && relet_is_up(c->r));
    T_CMP(t_stats(c).connects, >=, 40);
    T_CMP(c->down[RELET_WHY_CLOSED], >=, 40);
    T_CMP(c->n[RELET_EV_UNSURE], >, 0);
    T_CMP(t_stats(c).repeated, >, 0);
    T_EQ(c->n[RELET_EV_NOT_SENT] + c->n[RELET_EV_ERROR], 0);
    t_judge(c, admin);
    t_judge_repeatable(c);
}

static void kill_9_under_load_loses_nothing_that_was_answered(void)
{
    static const char *const durable =
        "appendonly yes\nappendfsync always\nauto-aof-rewrite-percentage 0";
    relet_config g = t_config();
    t_client *c, *admin;
    uint64_t replies;
    int i;

    t_start(durable);
    c = t_open(&g);
    c->window = 256;
    for (i = 0; i < 3; i++) {
        replies = c->n[RELET_EV_REPLY];
        T_UNTIL(c->n[RELET_EV_REPLY] > replies + 1000);
        t_kill();
        t_pass(30); /* the port refuses links meanwhile */
        t_start_here(durable, 0);
    }
    c->window = 0;
    T_UNTIL(t_quiet(c) && relet_is_up(c->r));
    T_EQ(t_stats(c).connects, 4);
    T_EQ(c->n[RELET_EV_NOT_SENT] + c->n[RELET_EV_ERROR], 0);
    admin = t_ready();
    t_judge(c, admin);
    t_judge_repeatable(c);
}

/* ---------------------------------------------------------- slow and silent */

static void a_pause_of_the_server_ends_what_cannot_wait(void)
{
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_ready();
    c = t_ready();
    T_EQ(T_ASK(admin, "CLIENT", "PAUSE", "800", "ALL")->kind, RELET_EV_REPLY);
    for (i = 0; i < 50; i++) {
        t_many(c, 1, T_PUSH, 0, 150);
        t_many(c, 1, T_PUSH, 0, 5000);
    }
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_UNSURE], 50);
    T_EQ(c->n[RELET_EV_REPLY], 50);
    T_EQ(c->line[0].why, RELET_WHY_TIMEOUT);
    T_EQ(t_stats(c).late, 50);
    T_EQ(t_stats(c).connects, 1);
    t_judge(c, admin);
    T_EQ(T_ASK(admin, "LLEN", "log")->number, 100); /* late, not lost */
}

static void a_pause_of_writes_lets_reads_through(void)
{
    relet_time began;
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_ready();
    began = relet_clock();
    T_EQ(T_ASK(admin, "CLIENT", "PAUSE", "600", "WRITE")->kind, RELET_EV_REPLY);
    t_many(c, 20, T_ECHO, 0, 500);
    T_UNTIL(t_quiet(c));
    T_CMP(relet_clock() - began, <, 600);
    T_EQ(c->n[RELET_EV_REPLY], 20);
    t_many(c, 20, T_PUSH, 0, 100);
    t_many(c, 20, T_PUSH, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_UNSURE], 20);
    T_EQ(c->n[RELET_EV_REPLY], 40);
    T_EQ(t_stats(c).connects, 1);
    t_judge(c, admin);
}

static void a_stopped_server_leaves_tombstones_and_keeps_the_link(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_ready();
    t_signal(SIGSTOP);
    t_many(c, 100, T_PUSH, 0, 200);
    t_many(c, 100, T_ECHO, 0, 200);
    t_many(c, 100, T_ECHO, 0, 0);
    T_UNTIL(c->n[RELET_EV_UNSURE] == 200);
    t_many(c, 100, T_ECHO, RELET_REPEATABLE, 0);
    t_pass(800);
    t_signal(SIGCONT);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 200);
    T_EQ(c->late_order, 0);
    T_EQ(t_stats(c).late, 200);
    T_EQ(t_stats(c).connects, 1);
    T_EQ(c->n[RELET_EV_DOWN], 0);
    t_judge(c, admin);
    T_EQ(T_ASK(admin, "LLEN", "log")->number, 100);
}

static void a_server_silent_for_too_long_loses_the_link(void)
{
    relet_config g = t_config();
    relet_time began;
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    g.timeout_ms = 200;
    g.ping_every_ms = 200;
    g.connect_timeout_ms = 300;
    c = t_open(&g);
    T_UNTIL(relet_is_up(c->r));
    began = relet_clock();
    t_signal(SIGSTOP);
    t_many(c, 20, T_PUSH, 0, 0);
    t_many(c, 20, T_ECHO, RELET_REPEATABLE, RELET_NEVER);
    T_UNTIL(c->down[RELET_WHY_SILENT] > 0);
    T_CMP(relet_clock() - began, >=, 350);
    T_CMP(relet_clock() - began, <, 5000);
    t_pass(400);
    t_signal(SIGCONT);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_UNSURE], 20);
    T_EQ(c->n[RELET_EV_REPLY], 20);
    T_EQ(t_stats(c).connects, 2);
    T_EQ(T_ASK(admin, "PING")->kind, RELET_EV_REPLY);
    t_judge(c, admin);
}

/* ------------------------------------------------------------------ limits */

static void a_client_killed_for_its_output_is_told_the_truth(void)
{
    t_client *c, *admin;
    char *big = (char *)malloc(512 * 1024);
    relet_span argv[3];
    int i;

    t_start("client-output-buffer-limit normal 1mb 0 0");
    admin = t_ready();
    c = t_ready();
    T(big != NULL);
    memset(big, 'x', 512 * 1024);
    argv[0] = relet_str("SET");
    argv[1] = relet_str("big");
    argv[2].p = big;
    argv[2].n = 512 * 1024;
    T_EQ(t_try(c, T_ANY, 0, 0, argv, 3), 0);
    T_UNTIL(t_quiet(c));
    free(big);
    for (i = 0; i < 50; i++) {
        t_many(c, 1, T_PUSH, 0, 0);
        T_SAY(c, "GET", "big");
    }
    t_many(c, 10, T_ECHO, RELET_REPEATABLE, 0);
    T_UNTIL(t_quiet(c));
    T_CMP(c->down[RELET_WHY_CLOSED], >=, 1);
    T_CMP(c->n[RELET_EV_UNSURE], >, 0);
    T_EQ(c->n[RELET_EV_NOT_SENT] + c->n[RELET_EV_ERROR], 0);
    T_EQ(T_ASK(c, "GET", "big")->kind, RELET_EV_REPLY);
    t_judge(c, admin);
    t_judge_repeatable(c);
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

static void errors_that_prove_no_effect_say_so(void)
{
    const t_answer *a;
    t_client *c;

    t_start("");
    c = t_ready();
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

static void a_replica_without_its_master_is_waited_out(void)
{
    relet_config g = t_config();
    t_client *c, *late, *admin;
    const t_answer *a;
    uint64_t tag;

    t_start("replica-serve-stale-data no");
    admin = t_ready();
    c = t_ready();
    T_EQ(T_ASK(admin, "REPLICAOF", "127.0.0.1", "1")->kind, RELET_EV_REPLY);
    a = T_ASK(c, "GET", "k");
    T_EQ(a->kind, RELET_EV_ERROR);
    T_HAS(a->text, "MASTERDOWN");
    T(a->proves);
    tag = t_say(c, RELET_REPEATABLE, 0, "GET", "k", (const char *)NULL);
    late = t_open(&g);
    T_SAY(late, "GET", "k");
    T_UNTIL(late->n[RELET_EV_DOWN] > 0);
    t_pass(200);
    T_EQ(c->line[tag].outcome, RELET_EV_NOTHING);
    T_CMP(t_stats(c).repeated, <, 100); /* the client does not hammer */
    T_EQ(T_ASK(admin, "REPLICAOF", "NO", "ONE")->kind, RELET_EV_REPLY);
    T_EQ(t_ask(c, tag)->kind, RELET_EV_REPLY);
    T_CMP(t_stats(c).repeated, >, 0);
    T_UNTIL(t_quiet(late));
    T_EQ(late->down[RELET_WHY_BUSY], 1);
    T_EQ(late->n[RELET_EV_DOWN], 1);
    T_EQ(late->n[RELET_EV_REPLY], 1);
}

/* ----------------------------------------------------------------- scripts */

static void a_busy_script_is_waited_out_by_what_may_be_repeated(void)
{
    relet_config g = t_config();
    t_client *c, *late, *admin, *hog;
    const t_answer *a;
    uint64_t tag;

    t_start("busy-reply-threshold 20");
    admin = t_ready();
    hog = t_ready();
    c = t_ready();
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

static void a_flushed_script_runs_once_and_nobody_notices(void)
{
    static const char body[] =
        "return redis.call('RPUSH', KEYS[1], ARGV[1])";
    relet_time end;
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_ready();
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
    admin = t_ready();
    c = t_ready();
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
    c = t_ready();
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
    c = t_ready();
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
    admin = t_ready();
    c = t_ready();
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
    admin = t_ready();
    c = t_ready();
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
    admin = t_ready();
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
    admin = t_ready();
    c = t_ready();
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

/* ---------------------------------------------------------------- messages */

static struct {
    uint64_t next, wrong; /* messages are numbers that count up         */
    uint64_t after_left;  /* came after UNSUBSCRIBED                    */
    char channel[40], pattern[40];
    char keys[200]; /* invalidated keys                                 */
} t_heard;

static void t_see_messages(t_client *c, const relet_event *ev)
{
    int64_t n = -1;

    if (ev->kind != RELET_EV_MESSAGE)
        return;
    (void)relet_value_int(ev->value, &n);
    t_heard.wrong += (uint64_t)n != t_heard.next;
    t_heard.next = (uint64_t)n + 1;
    t_heard.after_left += c->n[RELET_EV_UNSUBSCRIBED] > 0;
    t_copy(t_heard.channel, sizeof t_heard.channel, ev->channel);
    t_copy(t_heard.pattern, sizeof t_heard.pattern, ev->pattern);
}

static void t_listen(t_client *c)
{
    memset(&t_heard, 0, sizeof t_heard);
    c->see = t_see_messages;
}

static const char *const t_storm =
    "for i = 0, 9999 do redis.call('PUBLISH', 'news', i) end return 1";

static void ten_thousand_pushes_between_two_replies_are_all_told(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_ready();
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 1);
    t_listen(c);
    t_many(c, 1, T_ECHO, 0, 0);
    T_SAY(c, "EVAL", t_storm, "0");
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_MESSAGE], 10000);
    T_EQ(t_heard.wrong, 0);
    t_heard.next = 0;
    T_EQ(T_ASK(admin, "EVAL", t_storm, "0")->number, 1);
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_MESSAGE], 20000);
    T_EQ(t_heard.wrong, 0);
    T_EQ(c->n[RELET_EV_REPLY], 4);
    T_EQ(t_stats(c).pushes, 20001);
}

typedef struct t_way {
    relet_channel kind;
    const char *wish, *channel, *publish;
} t_way;

static void t_try_way(t_client *c, t_client *admin, const t_way *w)
{
    const uint64_t *n = c->n;
    uint64_t heard, gaps = n[RELET_EV_GAP], told = n[RELET_EV_SUBSCRIBED],
                    left = n[RELET_EV_UNSUBSCRIBED];

    T_EQ(t_wish(c, w->kind, w->wish), 0);
    T_EQ(t_wish(c, w->kind, w->wish), 0);
    T_UNTIL(n[RELET_EV_SUBSCRIBED] == told + 1);
    heard = n[RELET_EV_MESSAGE];
    T_EQ(T_ASK(admin, w->publish, w->channel, "1")->number, 1);
    T_UNTIL(n[RELET_EV_MESSAGE] == heard + 1);
    T(strcmp(t_heard.channel, w->channel) == 0);
    if (w->kind == RELET_PATTERN)
        T(strcmp(t_heard.pattern, w->wish) == 0);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "pubsub")->number, 1);
    T_UNTIL(n[RELET_EV_GAP] == gaps + 2 && n[RELET_EV_SUBSCRIBED] == told + 2);
    T_EQ(T_ASK(admin, w->publish, w->channel, "2")->number, 1);
    T_UNTIL(n[RELET_EV_MESSAGE] == heard + 2);
    T_EQ(relet_unsubscribe(c->r, w->kind, relet_str(w->wish)), 0);
    T_UNTIL(n[RELET_EV_UNSUBSCRIBED] == left + 1);
    T_EQ(T_ASK(admin, w->publish, w->channel, "3")->number, 0);
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(n[RELET_EV_MESSAGE], heard + 2);
}

static void every_kind_of_wish_holds_until_it_is_taken_back(void)
{
    static const t_way ways[3] = {
        {RELET_CHANNEL, "news", "news", "PUBLISH"},
        {RELET_PATTERN, "n?ws*", "news.today", "PUBLISH"},
        {RELET_SHARDED, "shard", "shard", "SPUBLISH"}};
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_ready();
    c = t_ready();
    t_listen(c);
    for (i = 0; i < 3; i++)
        t_try_way(c, admin, &ways[i]);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 0);
    T_EQ(t_stats(c).connects, 4);
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")),
         RELET_E_REFUSED);
}

static void no_message_comes_after_unsubscribed(void)
{
    t_client *c, *admin;
    char number[24];
    int i;

    t_start("");
    admin = t_ready();
    c = t_ready();
    t_listen(c);
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_EQ(t_wish(c, RELET_CHANNEL, "other"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 2);
    for (i = 0; i < 10000; i++) {
        (void)snprintf(number, sizeof number, "%d", i);
        T_SAY(admin, "PUBLISH", "news", number);
    }
    T_UNTIL(c->n[RELET_EV_MESSAGE] > 2000);
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(admin) && t_quiet(c));
    T_UNTIL(c->n[RELET_EV_UNSUBSCRIBED] == 1);
    T_EQ(t_heard.wrong, 0);
    T_EQ(t_heard.after_left, 0);
    T_EQ(T_ASK(admin, "PUBLISH", "news", "1")->number, 0);
    T_EQ(T_ASK(admin, "PUBLISH", "other", "1")->number, 1);
    T_UNTIL(t_heard.after_left == 1);
}

/* The server answers UNSUBSCRIBE with an error, not with a push. */
static void unsubscribing_ends_though_the_server_refuses_it(void)
{
    relet_config g = t_as_bob();
    t_client *c;

    t_start("user bob on >pw ~* &* +@all -unsubscribe -punsubscribe");
    c = t_open(&g);
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_EQ(t_wish(c, RELET_PATTERN, "news"), 0);
    T_UNTIL(c->n[RELET_EV_SUBSCRIBED] == 2);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    /* Only the end of the link ends the channel's messages. The next link has
     * the other subscription again. */
    T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    T_UNTIL(c->n[RELET_EV_UNSUBSCRIBED] == 1 && c->n[RELET_EV_UP] == 2);
    T_EQ(c->n[RELET_EV_DOWN], 1);
    T_EQ(c->n[RELET_EV_SUBSCRIBED], 3);
    t_many(c, 10, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 20);
    T_EQ(c->n[RELET_EV_ERROR], 0);
}

static void a_wish_toggled_in_a_storm_ends_as_it_was_last_put(void)
{
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_ready();
    c = t_ready();
    for (i = 0; i < 200; i++) {
        if (i < 20 && i % 5 == 0)
            T_SAY(admin, "EVAL", t_storm, "0");
        T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
        t_many(c, 1, T_ECHO, 0, 0);
        if (i % 3 == 0)
            t_turn();
        T_EQ(relet_unsubscribe(c->r, RELET_CHANNEL, relet_str("news")), 0);
    }
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    T_UNTIL(t_quiet(c) && t_quiet(admin));
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    t_listen(c);
    T_EQ(T_ASK(admin, "PUBLISH", "news", "0")->number, 1);
    T_UNTIL(t_heard.next == 1);
    T_EQ(c->n[RELET_EV_DOWN], 0);
    T_EQ(c->n[RELET_EV_SUBSCRIPTION_REFUSED], 0);
}

/* -------------------------------------------------------------- tracking */

static void t_see_keys(t_client *c, const relet_event *ev)
{
    relet_value v = relet_value_first(ev->value);
    size_t n = relet_value_count(ev->value), used = strlen(t_heard.keys);
    relet_span key;

    (void)c;
    if (ev->kind != RELET_EV_INVALIDATE)
        return;
    if (relet_value_type(ev->value) == RELET_T_NULL)
        (void)snprintf(t_heard.keys + used, sizeof t_heard.keys - used, "* ");
    for (; n > 0; n--, v = relet_value_next(v)) {
        key = relet_value_text(v);
        used = strlen(t_heard.keys);
        T_CMP(key.n, <, sizeof t_heard.keys - used - 1);
        t_copy(t_heard.keys + used, key.n + 1, key);
        (void)strcat(t_heard.keys, " ");
    }
}

static t_client *t_tracker(relet_tracking tracking, const char *prefix,
                           int noloop)
{
    relet_config g = t_config();
    t_client *c;

    g.tracking = tracking;
    g.tracking_noloop = noloop;
    (void)snprintf(g.tracking_prefix, sizeof g.tracking_prefix, "%s", prefix);
    memset(&t_heard, 0, sizeof t_heard);
    c = t_open(&g);
    c->see = t_see_keys;
    T_UNTIL(relet_is_up(c->r) && c->n[RELET_EV_UP] > 0);
    return c;
}

/* Checks that exactly these keys were invalidated, and forgets them. */
static void t_heard_keys(t_client *c, const char *keys)
{
    t_many(c, 1, T_ECHO, 0, 0);
    T_UNTIL(t_quiet(c));
    if (strcmp(t_heard.keys, keys) != 0)
        t_fail(__FILE__, __LINE__, "invalidated '%s', not '%s'", t_heard.keys,
               keys);
    t_heard.keys[0] = '\0';
}

static void tracking_reads_tells_of_keys_read_and_of_gaps(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_tracker(RELET_TRACK_READ, "", 0);
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(admin, "SET", "unread", "1");
    (void)T_ASK(admin, "SET", "read", "1");
    t_heard_keys(c, "read ");
    (void)T_ASK(admin, "SET", "read", "2"); /* an invalidation is told once */
    t_heard_keys(c, "");
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(c, "SET", "read", "3");
    t_heard_keys(c, "read ");
    (void)T_ASK(admin, "FLUSHALL");
    t_heard_keys(c, "* ");
    T_EQ(c->n[RELET_EV_GAP], 0);
    T_EQ(T_ASK(admin, "CLIENT", "KILL", "TYPE", "normal")->number, 1);
    T_UNTIL(c->n[RELET_EV_GAP] == 2); /* one with DOWN, one with UP */
    (void)T_ASK(c, "GET", "read");
    (void)T_ASK(admin, "SET", "read", "4");
    t_heard_keys(c, "read ");
}

static void tracking_by_choice_tells_of_chosen_reads_only(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_tracker(RELET_TRACK_OPTIN, "", 0);
    (void)T_ASK(c, "GET", "plain");
    (void)t_ask(c, t_say(c, RELET_CACHED, 0, "GET", "chosen",
                         (const char *)NULL));
    T_EQ(c->answer.kind, RELET_EV_REPLY);
    T_EQ(c->answer.type, RELET_T_NULL);
    (void)T_ASK(admin, "SET", "plain", "1");
    (void)T_ASK(admin, "SET", "chosen", "1");
    t_heard_keys(c, "chosen ");
}

static void tracking_by_prefix_tells_of_what_was_never_read(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_tracker(RELET_TRACK_BROADCAST, "a:,b:", 0);
    (void)T_ASK(admin, "SET", "c:1", "1");
    t_heard_keys(c, "");
    (void)T_ASK(admin, "SET", "a:1", "1");
    t_heard_keys(c, "a:1 ");
    (void)T_ASK(admin, "SET", "b:1", "1");
    t_heard_keys(c, "b:1 ");
}

static void tracking_without_loop_is_silent_about_own_writes(void)
{
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    c = t_tracker(RELET_TRACK_READ, "", 1);
    (void)T_ASK(c, "GET", "k");
    (void)T_ASK(c, "SET", "k", "1");
    t_heard_keys(c, "");
    (void)T_ASK(c, "GET", "k");
    (void)T_ASK(admin, "SET", "k", "2");
    t_heard_keys(c, "k ");
}

/* ------------------------------------------------------- through a proxy */

static void t_small_talk(t_client *c)
{
    t_many(c, 1, T_PUSH, 0, 0);
    t_many(c, 1, T_ECHO, RELET_REPEATABLE, 0);
    t_many(c, 1, T_PUSH, 0, 0);
    t_many(c, 1, T_SET, RELET_REPEATABLE, 0);
    t_many(c, 1, T_ECHO, 0, 0);
}

/* Once the server has dropped the client's link, it has run all commands that
 * arrived. */
static void t_until_alone(t_client *admin)
{
    do {
        (void)T_ASK(admin, "INFO", "clients");
    } while (strstr(admin->answer.text, "connected_clients:1\r") == NULL);
}

static uint64_t t_marks[RELET_EV_PUSHED + 1];

/* Runs one conversation over a link that is cut after `at` bytes of direction
 * `way`. With stop set, the client is stopped at the break. */
static void t_cut_talk(t_client *admin, int way, int64_t at, int stop)
{
    relet_config g = t_config();
    t_client *c;
    int kind;

    t_proxy_open();
    t_proxy.cut[way] = at;
    c = t_open_proxied(&g);
    t_small_talk(c);
    T_UNTIL(t_quiet(c) || (stop && c->n[RELET_EV_DOWN] > 0));
    if (!stop) {
        T_EQ(c->n[RELET_EV_NOT_SENT] + c->n[RELET_EV_ERROR], 0);
        t_judge_repeatable(c);
    }
    t_settle(c);
    t_proxy_close();
    t_until_alone(admin);
    t_judge(c, admin);
    for (kind = 0; kind <= RELET_EV_PUSHED; kind++)
        t_marks[kind] += c->n[kind];
    t_close(c);
    T_EQ(T_ASK(admin, "UNLINK", "log", "done")->kind, RELET_EV_REPLY);
}

static void a_link_cut_at_any_byte_never_makes_an_outcome_lie(void)
{
    relet_config g = t_config();
    uint64_t carried[2];
    t_client *c, *admin;
    int64_t k;
    int way;

    t_start("");
    admin = t_ready();
    t_proxy_open();
    c = t_open_proxied(&g);
    t_small_talk(c);
    T_UNTIL(t_quiet(c));
    memcpy(carried, t_proxy.carried, sizeof carried);
    t_end(c);
    t_proxy_close();
    t_until_alone(admin);
    T_EQ(T_ASK(admin, "UNLINK", "log", "done")->number, 2);
    memset(t_marks, 0, sizeof t_marks);
    for (way = 0; way < 2; way++) {
        T_CMP(carried[way], >, 100);
        for (k = 0; k < (int64_t)carried[way]; k++) {
            t_cut_talk(admin, way, k, 0);
            t_cut_talk(admin, way, k, 1);
        }
    }
    T_CMP(t_marks[RELET_EV_REPLY], >, 0); /* every outcome occurred */
    T_CMP(t_marks[RELET_EV_NOT_SENT], >, 0);
    T_CMP(t_marks[RELET_EV_UNSURE], >, 0);
}

static void one_byte_at_a_time_makes_no_difference(void)
{
    relet_config g = t_config();
    t_client *c, *admin;

    t_start("");
    admin = t_ready();
    t_proxy_open();
    t_proxy.one_byte = 1;
    c = t_open_proxied(&g);
    T_EQ(t_wish(c, RELET_CHANNEL, "news"), 0);
    t_many(c, 50, T_ECHO, 0, 0);
    t_many(c, 50, T_PUSH, 0, 0);
    T_UNTIL(t_quiet(c) && c->n[RELET_EV_SUBSCRIBED] == 1);
    T_EQ(T_ASK(admin, "PUBLISH", "news", "of some length")->number, 1);
    T_UNTIL(c->n[RELET_EV_MESSAGE] == 1);
    T_EQ(T_ASK(c, "INFO")->type, RELET_T_VERBATIM);
    T_EQ(t_stats(c).connects, 1);
    T_EQ(c->late_order, 0);
    t_judge(c, admin);
}

static void a_link_that_carries_nothing_is_found_by_a_ping(void)
{
    relet_config g = t_config();
    relet_time began;
    t_client *c;

    t_start("");
    g.ping_every_ms = 100;
    g.timeout_ms = 200;
    t_proxy_open();
    c = t_open_proxied(&g);
    T_UNTIL(relet_is_up(c->r));
    t_proxy.mute = 1;
    began = relet_clock();
    T_UNTIL(c->n[RELET_EV_DOWN] == 1);
    T_EQ(c->down[RELET_WHY_SILENT], 1);
    T_CMP(relet_clock() - began, >=, 200);
    T_CMP(relet_clock() - began, <, 2000);
    t_proxy.mute = 0;
    t_many(c, 10, T_ECHO, 0, 5000);
    T_UNTIL(t_quiet(c));
    T_EQ(c->n[RELET_EV_REPLY], 10);
}

static void an_idle_link_is_kept_by_pings(void)
{
    relet_config g = t_config();
    t_client *kept, *idle;

    t_start("timeout 1");
    g.ping_every_ms = 0;
    idle = t_open(&g);
    g.ping_every_ms = 300;
    kept = t_open(&g);
    T_UNTIL(idle->down[RELET_WHY_CLOSED] > 0);
    T_UNTIL(idle->n[RELET_EV_UP] == 2);
    t_pass(500);
    T_EQ(kept->n[RELET_EV_UP], 1);
    T_EQ(kept->n[RELET_EV_DOWN], 0);
    T_EQ(T_ASK(kept, "PING")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(idle, "PING")->kind, RELET_EV_REPLY);
}

/* ----------------------------------------------------------------- the run */

#define C(name, where) {#name, name, where}

static const t_case t_cases[] = {
    C(a_pipeline_of_100000_increments_is_answered_in_order, T_BOTH),
    C(a_pipeline_of_100000_echoes_is_answered_in_order, T_BOTH),
    C(a_full_queue_says_so_and_goes_on, T_BOTH),
    C(a_bulk_of_64_mib_travels_both_ways, T_BOTH),
    C(every_type_of_resp3_arrives_as_what_it_is, T_BOTH),
    C(the_right_password_comes_up_in_the_right_database, T_BOTH),
    C(a_wrong_password_is_told_and_retried_slowly, T_BOTH),
    C(no_password_where_one_is_needed_is_told, T_BOTH),
    C(a_forbidden_command_is_an_error_without_effect, T_BOTH),
    C(a_forbidden_select_keeps_the_link_down, T_BOTH),
    C(a_database_out_of_range_keeps_the_link_down, T_BOTH),
    C(a_refused_channel_is_forgotten_while_others_hold, T_BOTH),
    C(a_deleted_user_loses_the_link_and_is_told_why, T_BOTH),
    C(a_server_without_hello_is_down_for_want_of_resp3, T_BOTH),
    C(too_many_clients_is_told_in_the_servers_words, T_BOTH),
    C(operations_wait_for_a_server_that_is_away, T_BOTH),
    C(loading_is_waited_out_and_told_once, T_BOTH),
    C(a_client_killed_20_times_a_second_keeps_its_promises, T_BOTH),
    C(kill_9_under_load_loses_nothing_that_was_answered, T_BOTH),
    C(a_pause_of_the_server_ends_what_cannot_wait, T_BOTH),
    C(a_pause_of_writes_lets_reads_through, T_BOTH),
    C(a_stopped_server_leaves_tombstones_and_keeps_the_link, T_BOTH),
    C(a_server_silent_for_too_long_loses_the_link, T_BOTH),
    C(a_client_killed_for_its_output_is_told_the_truth, T_BOTH),
    C(a_reply_over_a_limit_costs_itself_and_not_the_link, T_BOTH),
    C(errors_that_prove_no_effect_say_so, T_BOTH),
    C(a_replica_without_its_master_is_waited_out, T_BOTH),
    C(a_busy_script_is_waited_out_by_what_may_be_repeated, T_BOTH),
    C(a_flushed_script_runs_once_and_nobody_notices, T_BOTH),
    C(scripts_survive_new_links, T_BOTH),
    C(a_transaction_is_all_or_nothing, T_BOTH),
    C(a_command_that_fails_inside_fails_alone, T_BOTH),
    C(a_watched_key_that_changes_voids_the_transaction, T_BOTH),
    C(a_watch_that_died_with_its_link_refuses_the_transaction, T_BOTH),
    C(a_watch_that_dies_ends_the_transaction_behind_it_unsent, T_BOTH),
    C(transactions_under_kills_are_whole_or_nothing, T_BOTH),
    C(ten_thousand_pushes_between_two_replies_are_all_told, T_BOTH),
    C(every_kind_of_wish_holds_until_it_is_taken_back, T_BOTH),
    C(no_message_comes_after_unsubscribed, T_BOTH),
    C(unsubscribing_ends_though_the_server_refuses_it, T_BOTH),
    C(a_wish_toggled_in_a_storm_ends_as_it_was_last_put, T_BOTH),
    C(tracking_reads_tells_of_keys_read_and_of_gaps, T_BOTH),
    C(tracking_by_choice_tells_of_chosen_reads_only, T_BOTH),
    C(tracking_by_prefix_tells_of_what_was_never_read, T_BOTH),
    C(tracking_without_loop_is_silent_about_own_writes, T_BOTH),
    C(a_link_cut_at_any_byte_never_makes_an_outcome_lie, T_TCP),
    C(one_byte_at_a_time_makes_no_difference, T_TCP),
    C(a_link_that_carries_nothing_is_found_by_a_ping, T_TCP),
    C(an_idle_link_is_kept_by_pings, T_BOTH),
    C(a_put_that_waits_is_told_of_each_end, T_BOTH),
    C(a_put_that_waits_does_not_hang_when_its_link_breaks, T_BOTH),
    C(a_put_that_waits_too_long_says_so_and_tells_the_number, T_BOTH),
    C(waiting_for_the_same_id_again_brings_the_kept_result, T_BOTH),
    C(a_put_that_waits_is_told_when_it_was_not_put, T_BOTH)};

int main(int argc, char **argv)
{
    return t_main(argc, argv, t_cases, sizeof t_cases / sizeof t_cases[0]);
}
