/* SPDX-License-Identifier: MIT
 *
 * server_trouble_test.c - tests of real servers that are away, killed, slow or
 * silent, and of links that are cut. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "server_proxy.h"
#include "server_rig.h"
#include "server_run.h"

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
    admin = t_promote();
    t_judge(c, admin);
}

#define T_SLOW "key-load-delay 500\nloading-process-events-interval-bytes 1024"

static void loading_is_waited_out_and_told_once(void)
{
    relet_config g = t_config();
    t_client *c, *late;

    t_start("");
    c = t_promote();
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
    admin = t_promote();
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
    admin = t_promote();
    t_judge(c, admin);
    t_judge_repeatable(c);
}

static void a_replica_without_its_master_is_waited_out(void)
{
    relet_config g = t_config();
    t_client *c, *late, *admin;
    const t_answer *a;
    uint64_t tag;

    t_start("replica-serve-stale-data no");
    admin = t_promote();
    c = t_promote();
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

static void a_client_killed_for_its_output_gets_correct_outcomes(void)
{
    t_client *c, *admin;
    char *big = (char *)malloc(512 * 1024);
    relet_span argv[3];
    int i;

    t_start("client-output-buffer-limit normal 1mb 0 0");
    admin = t_promote();
    c = t_promote();
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

/* ---------------------------------------------------------- slow and silent */

static void a_pause_of_the_server_ends_commands_with_short_timeouts(void)
{
    t_client *c, *admin;
    int i;

    t_start("");
    admin = t_promote();
    c = t_promote();
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
    admin = t_promote();
    c = t_promote();
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
    admin = t_promote();
    c = t_promote();
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
    admin = t_promote();
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

static void a_link_cut_at_any_byte_never_makes_an_outcome_wrong(void)
{
    relet_config g = t_config();
    uint64_t carried[2];
    t_client *c, *admin;
    int64_t k;
    int way;

    t_start("");
    admin = t_promote();
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

static void bytes_sent_one_at_a_time_make_no_difference(void)
{
    relet_config g = t_config();
    t_client *c, *admin;

    t_start("");
    admin = t_promote();
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

static const t_case t_cases[] = {
    C(operations_wait_for_a_server_that_is_away, T_BOTH),
    C(loading_is_waited_out_and_told_once, T_BOTH),
    C(a_client_killed_20_times_a_second_keeps_its_promises, T_BOTH),
    C(kill_9_under_load_loses_nothing_that_was_answered, T_BOTH),
    C(a_pause_of_the_server_ends_commands_with_short_timeouts, T_BOTH),
    C(a_pause_of_writes_lets_reads_through, T_BOTH),
    C(a_stopped_server_leaves_tombstones_and_keeps_the_link, T_BOTH),
    C(a_server_silent_for_too_long_loses_the_link, T_BOTH),
    C(a_client_killed_for_its_output_gets_correct_outcomes, T_BOTH),
    C(a_replica_without_its_master_is_waited_out, T_BOTH),
    C(a_link_cut_at_any_byte_never_makes_an_outcome_wrong, T_TCP),
    C(bytes_sent_one_at_a_time_make_no_difference, T_TCP),
    C(a_link_that_carries_nothing_is_found_by_a_ping, T_TCP),
    C(an_idle_link_is_kept_by_pings, T_BOTH)};

T_SERVER_MAIN(t_cases)
