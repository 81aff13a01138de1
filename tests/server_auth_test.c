/* SPDX-License-Identifier: MIT
 *
 * server_auth_test.c - tests of permissions on real servers: passwords, users,
 * databases, channels, and servers that refuse all clients. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_rig.h"
#include "server_run.h"

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

static void a_missing_password_is_reported(void)
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

static void a_refused_channel_is_forgotten_while_others_hold(void)
{
    relet_config g = t_as_bob();
    t_client *c, *admin;

    t_start("user bob on >pw ~* resetchannels &open &pat* +@all -ssubscribe");
    admin = t_promote();
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
    admin = t_promote();
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

static void a_limit_of_clients_is_reported_in_the_servers_words(void)
{
    relet_config g = t_config();
    t_client *admin, *second, *third;

    t_start("maxclients 2");
    admin = t_promote();
    second = t_promote();
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

static const t_case t_cases[] = {
    C(the_right_password_comes_up_in_the_right_database, T_BOTH),
    C(a_wrong_password_is_told_and_retried_slowly, T_BOTH),
    C(a_missing_password_is_reported, T_BOTH),
    C(a_forbidden_command_is_an_error_without_effect, T_BOTH),
    C(a_forbidden_select_keeps_the_link_down, T_BOTH),
    C(a_database_out_of_range_keeps_the_link_down, T_BOTH),
    C(a_refused_channel_is_forgotten_while_others_hold, T_BOTH),
    C(a_deleted_user_loses_the_link_and_is_told_why, T_BOTH),
    C(a_server_without_hello_is_down_for_want_of_resp3, T_BOTH),
    C(a_limit_of_clients_is_reported_in_the_servers_words, T_BOTH)};

T_SERVER_MAIN(t_cases)
