/* SPDX-License-Identifier: MIT
 *
 * handshake_test.c - tests of the handshake: its steps, their refusals, its
 * deadline, and the credentials that it sends and that must not stay in freed
 * memory. */
#include "session_rig.h"

#include "greatest.h"

/* ----------------------------------------------------------- the handshake */

TEST the_handshake_has_every_step_in_order(void)
{
    t_peer p;

    t_start_named(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "news"));
    ASSERT_EQ(0, t_wish(&p, RELET_PATTERN, "n*"));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    T_TOOK(&p, "HELLO 3 AUTH ann sesame SETNAME worker-1");
    T_NEXT_TOOK(&p, "CLIENT SETINFO LIB-NAME relet");
    T_NEXT_TOOK(&p, "CLIENT SETINFO LIB-VER " RELET_VERSION);
    T_NEXT_TOOK(&p, "SELECT 3");
    T_NEXT_TOOK(&p, "CLIENT TRACKING ON BCAST NOLOOP PREFIX user: PREFIX "
                    "job:");
    T_NEXT_TOOK(&p, "SUBSCRIBE news");
    T_NEXT_TOOK(&p, "PSUBSCRIBE n*");
    T_NEXT_TOOK(&p, "PING");
    T_NEXT_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST each_kind_of_tracking_is_asked_for_in_its_words(void)
{
    static const char *const words[] = {"CLIENT TRACKING ON",
                                        "CLIENT TRACKING ON OPTIN",
                                        "CLIENT TRACKING ON BCAST"};
    relet_config c = t_config();
    int i;

    for (i = 0; i < 3; i++) {
        t_peer p;

        c.tracking = (relet_tracking)(RELET_TRACK_READ + i);
        ASSERT(t_start_with(&p, &c));
        t_move(&p);
        t_took(&p);
        t_took(&p);
        t_took(&p);
        ASSERT_STR_EQ(words[i], t_took(&p));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST the_handshake_goes_out_in_one_write(void)
{
    const uint8_t *from = NULL;
    size_t n;
    t_peer p;

    t_start_named(&p);
    p.accept = 0;
    t_move(&p);
    n = relet_io_pending(p.r, 0, &from);
    ASSERT(t_find(from, n, "HELLO"));
    ASSERT(t_find(from, n, "PING\r\n"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST no_command_of_the_user_goes_out_before_the_handshake_is_answered(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n");
    T_TOOK(&p, "");
    ASSERT_EQ(0, relet_is_up(p.r));
    t_say(&p, "+PONG\r\n");
    T_TOOK(&p, "GET k");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The next command would be sent in the middle of the unsent handshake. */
TEST a_handshake_answered_before_it_is_sent_breaks_the_link(void)
{
    static const char *const end[] = {"+PONG\r\n", "-LOADING x\r\n"};
    int i;

    for (i = 0; i < 2; i++) {
        t_peer p;

        t_start(&p);
        p.accept = 30;
        t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n");
        t_say(&p, end[i]);
        T_TOLD(&p, "down protocol: the greeting was answered before it was "
                   "sent");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST without_a_password_no_auth_is_sent(void)
{
    t_peer p;

    t_start(&p);
    T_TOOK(&p, "HELLO 3");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_password_without_a_user_is_the_default_users(void)
{
    relet_config c = t_config();
    t_peer p;

    strcpy(c.password, "sesame");
    ASSERT(t_start_with(&p, &c));
    T_TOOK(&p, "HELLO 3 AUTH default sesame");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* These answers make the handshake fail, and DOWN tells this reason. */
#define T_REFUSED(start, answers, told) \
    do { \
        t_peer p; \
        start(&p); \
        t_greet_with(&p, answers); \
        ASSERT_STR_EQ(told, t_told(&p)); \
        ASSERT_STR_EQ("", t_told(&p)); \
        ASSERT_EQ(0, relet_is_up(p.r)); \
        ASSERT_EQ(1, p.closes); \
        ASSERT_EQ(0, t_end(&p)); \
    } while (0)

TEST a_wrong_password_is_told_as_such(void)
{
    T_REFUSED(t_start_named,
              "-WRONGPASS invalid username-password pair or user is "
              "disabled.\r\n",
              "down auth: HELLO was refused: WRONGPASS invalid "
              "username-password pair or user is disabled.");
    PASS();
}

TEST a_missing_password_is_told_as_such(void)
{
    T_REFUSED(t_start, "-NOAUTH HELLO must be called with AUTH\r\n",
              "down auth: HELLO was refused: NOAUTH HELLO must be called "
              "with AUTH");
    PASS();
}

TEST a_server_without_resp3_is_told_as_such(void)
{
    T_REFUSED(t_start, "-NOPROTO unsupported protocol version\r\n",
              "down no resp3: HELLO 3 was refused, and RESP3 is all we "
              "speak: NOPROTO unsupported protocol version");
    T_REFUSED(t_start, "-ERR unknown command `HELLO`\r\n",
              "down no resp3: HELLO 3 was refused, and RESP3 is all we "
              "speak: ERR unknown command `HELLO`");
    PASS();
}

TEST a_hello_in_resp2_is_not_resp3(void)
{
    T_REFUSED(t_start, "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n"
                       ":2\r\n",
              "down no resp3: HELLO 3 was answered, but not in RESP3");
    T_REFUSED(t_start, "+OK\r\n",
              "down no resp3: HELLO 3 was answered, but not in RESP3");
    PASS();
}

TEST a_database_out_of_range_is_told_as_such(void)
{
    T_REFUSED(t_start_named,
              T_HELLO_SAYS "+OK\r\n+OK\r\n-ERR DB index is out of range\r\n",
              "down setup: SELECT was refused: ERR DB index is out of "
              "range");
    PASS();
}

TEST a_refused_tracking_is_told_as_such(void)
{
    T_REFUSED(t_start_named,
              T_HELLO_SAYS "+OK\r\n+OK\r\n+OK\r\n-ERR no tracking here\r\n",
              "down setup: CLIENT TRACKING was refused: ERR no tracking "
              "here");
    PASS();
}

TEST a_select_without_permission_is_told_as_auth(void)
{
    T_REFUSED(t_start_named,
              T_HELLO_SAYS "+OK\r\n+OK\r\n-NOPERM no select\r\n",
              "down auth: SELECT was refused: NOPERM no select");
    PASS();
}

TEST a_server_without_client_setinfo_is_accepted(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "-ERR unknown subcommand\r\n"
                                  "-NOPERM no client\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_user_without_permission_to_ping_can_connect(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-NOPERM no ping\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_ping_that_is_refused_with_noauth_fails_the_handshake(void)
{
    T_REFUSED(t_start, T_HELLO_SAYS "+OK\r\n+OK\r\n-NOAUTH first\r\n",
              "down auth: PING was refused: NOAUTH first");
    PASS();
}

/* Regression: the refusal was skipped, since it is over line_max, and the
 * handshake went on as if HELLO had succeeded. */
TEST a_refusal_of_hello_over_line_max_fails_the_handshake(void)
{
    relet_config c = t_config();
    t_peer p;

    c.line_max = 64;
    ASSERT(t_start_with(&p, &c));
    t_greet_with(&p, "-NOAUTH HELLO must be called with the client already "
                     "authenticated, otherwise it needs AUTH and more\r\n");
    T_TOLD(&p, "down setup: an answer to the greeting is over a limit");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_to_hello_over_a_limit_is_accepted(void)
{
    relet_config c = t_config();
    t_peer p;

    c.count_max = 16;
    ASSERT(t_start_with(&p, &c));
    t_greet_with(&p, "%2\r\n+server\r\n+redis\r\n+modules\r\n*17\r\n"
                     ":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n"
                     ":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n"
                     "+OK\r\n+OK\r\n+PONG\r\n");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_unanswered_handshake_ends_with_connect_timeout(void)
{
    t_peer p;

    t_start(&p);
    t_pass(&p, 4999);
    ASSERT_STR_EQ("", t_told(&p));
    t_pass(&p, 1);
    ASSERT_STR_EQ("down silent: no answer to the greeting in "
                  "connect_timeout_ms", t_told(&p));
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST opening_and_handshake_share_one_deadline(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_pass(&p, 3000);
    ASSERT_EQ(6000, p.io.deadline);
    p.deaf = 0;
    t_pass(&p, 1999);
    ASSERT_STR_EQ("", t_told(&p));
    t_pass(&p, 1);
    ASSERT_STR_EQ("down silent: no answer to the greeting in "
                  "connect_timeout_ms", t_told(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_driver_that_never_opens_is_given_up_on(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_pass(&p, 5000);
    ASSERT_STR_EQ("down connect: no connection in connect_timeout_ms",
                  t_told(&p));
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_refused_connection_is_told_in_the_drivers_words(void)
{
    t_peer p;

    t_start(&p);
    p.no = "connection refused";
    T_TOLD(&p, "down connect: connection refused");
    ASSERT_EQ(0, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_refusal_of_a_server_with_too_many_clients_is_reported(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, "-ERR max number of clients reached\r\n");
    t_hang_up(&p);
    T_TOLD(&p, "down closed: HELLO was refused: ERR max number of clients "
               "reached");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST other_protocols_are_told_with_their_first_wrong_byte(void)
{
    T_REFUSED(t_start, "HTTP/1.1 400 Bad Request\r\n\r\n",
              "down protocol: the server does not speak RESP: no reply "
              "begins with this byte, at byte 0 of what it sent");
    T_REFUSED(t_start, "SSH-2.0-OpenSSH_9.2\r\n",
              "down protocol: the server does not speak RESP: no reply "
              "begins with this byte, at byte 0 of what it sent");
    T_REFUSED(t_start, "\x15\x03\x01",
              "down protocol: the server does not speak RESP: no reply "
              "begins with this byte, at byte 0 of what it sent");
    PASS();
}

/* ------------------------------------------------------------ credentials */

TEST new_credentials_are_used_at_the_next_connect(void)
{
    t_peer p;

    t_start_named(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, relet_credentials(p.r, relet_str("bob"),
                                   relet_str("token-2")));
    T_TOOK(&p, "");
    t_break(&p);
    t_pass(&p, 200);
    T_TOOK(&p, "HELLO 3 AUTH bob token-2 SETNAME worker-1");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST credentials_that_do_not_fit_are_refused(void)
{
    char text[5000];
    relet_span s;
    t_peer p;

    memset(text, 'x', sizeof text);
    t_start(&p);
    s.p = text;
    s.n = sizeof text;
    ASSERT_EQ(RELET_E_CONFIG, relet_credentials(p.r, relet_str("u"), s));
    s.n = 256;
    ASSERT_EQ(RELET_E_CONFIG, relet_credentials(p.r, s, relet_str("p")));
    ASSERT_EQ(RELET_E_CONFIG,
              relet_credentials(p.r, relet_str("u"), relet_str("")));
    T_TOOK(&p, "HELLO 3");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST no_password_remains_after_finish(void)
{
    t_peer p;

    t_start_named(&p);
    p.heap.secret = "sesame";
    ASSERT(t_up(&p));
    ASSERT(t_fixed == t_find(p.block, p.size, "sesame"));
    relet_finish(p.r);
    p.r = NULL;
    ASSERT_EQ(0, t_find(p.block, p.size, "sesame"));
    ASSERT_EQ(0, p.heap.leaked_secret);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: a handshake that grew left its first half, with the password, in
 * freed memory. */
TEST no_password_remains_in_memory_that_a_handshake_outgrew(void)
{
    char name[64];
    t_peer p;
    int i;

    t_start_named(&p);
    p.heap.secret = "sesame";
    memset(name, 'n', sizeof name);
    for (i = 0; i < 4; i++) {
        sprintf(name, "channel-%d-", i);
        memset(name + strlen(name), 'n', 40);
        name[40] = '\0';
        ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, name));
    }
    p.honest = 1;
    t_pass(&p, 100);
    t_break(&p);
    t_pass(&p, 1000);
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    ASSERT_EQ(0, p.heap.leaked_secret);
    PASS();
}

/* Regression: longer credentials were copied to new memory, and the old ones
 * were freed without being overwritten. */
TEST longer_credentials_leave_nothing_of_the_old_ones(void)
{
    char token[1500];
    relet_span longer;
    t_peer p;

    memset(token, 'x', sizeof token);
    longer.p = token;
    longer.n = sizeof token;
    t_start_named(&p);
    p.heap.secret = "sesame";
    ASSERT_EQ(t_fixed ? RELET_E_MEMORY : 0,
              relet_credentials(p.r, relet_str("u"), longer));
    ASSERT_EQ(0, t_end(&p));
    ASSERT_EQ(0, p.heap.leaked_secret);
    PASS();
}

static SUITE(handshake)
{
    RUN_TEST(the_handshake_has_every_step_in_order);
    RUN_TEST(each_kind_of_tracking_is_asked_for_in_its_words);
    RUN_TEST(the_handshake_goes_out_in_one_write);
    RUN_TEST(no_command_of_the_user_goes_out_before_the_handshake_is_answered);
    RUN_TEST(a_handshake_answered_before_it_is_sent_breaks_the_link);
    RUN_TEST(without_a_password_no_auth_is_sent);
    RUN_TEST(a_password_without_a_user_is_the_default_users);
    RUN_TEST(a_wrong_password_is_told_as_such);
    RUN_TEST(a_missing_password_is_told_as_such);
    RUN_TEST(a_server_without_resp3_is_told_as_such);
    RUN_TEST(a_hello_in_resp2_is_not_resp3);
    RUN_TEST(a_database_out_of_range_is_told_as_such);
    RUN_TEST(a_refused_tracking_is_told_as_such);
    RUN_TEST(a_select_without_permission_is_told_as_auth);
    RUN_TEST(a_server_without_client_setinfo_is_accepted);
    RUN_TEST(a_user_without_permission_to_ping_can_connect);
    RUN_TEST(a_ping_that_is_refused_with_noauth_fails_the_handshake);
    RUN_TEST(a_refusal_of_hello_over_line_max_fails_the_handshake);
    RUN_TEST(an_answer_to_hello_over_a_limit_is_accepted);
    RUN_TEST(an_unanswered_handshake_ends_with_connect_timeout);
    RUN_TEST(opening_and_handshake_share_one_deadline);
    RUN_TEST(a_driver_that_never_opens_is_given_up_on);
    RUN_TEST(a_refused_connection_is_told_in_the_drivers_words);
    RUN_TEST(the_refusal_of_a_server_with_too_many_clients_is_reported);
    RUN_TEST(other_protocols_are_told_with_their_first_wrong_byte);
    RUN_TEST(new_credentials_are_used_at_the_next_connect);
    RUN_TEST(credentials_that_do_not_fit_are_refused);
    RUN_TEST(no_password_remains_after_finish);
    RUN_TEST(no_password_remains_in_memory_that_a_handshake_outgrew);
    RUN_TEST(longer_credentials_leave_nothing_of_the_old_ones);
}

T_MAIN(handshake)
