/* SPDX-License-Identifier: MIT
 *
 * session_test.c - tests of a link's life: handshake, health, loss, back-off,
 * and the next attempt. */
#include "peer.h"

#include "greatest.h"

#define T_NEXT_TOOK(peer, expected) ASSERT_STR_EQ(expected, t_took(peer))

static void t_greet_with(t_peer *p, const char *text)
{
    t_move(p);
    t_bytes_clear(&p->out);
    t_say(p, text);
    t_move(p);
}

static void t_start_named(t_peer *p)
{
    relet_config c = t_config();

    strcpy(c.user, "ann");
    strcpy(c.password, "sesame");
    strcpy(c.name, "worker-1");
    c.db = 3;
    c.tracking = RELET_TRACK_BROADCAST;
    c.tracking_noloop = 1;
    strcpy(c.tracking_prefix, "user:,job:");
    if (!t_start_with(p, &c))
        t_die("the client was not made");
}

/* ----------------------------------------------------------- the handshake */

TEST the_greeting_has_every_step_in_order(void)
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

TEST the_greeting_goes_out_in_one_write(void)
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

TEST no_byte_of_the_users_goes_out_before_the_greeting_is_answered(void)
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
TEST a_greeting_answered_before_it_is_sent_costs_the_link(void)
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

TEST a_server_that_does_not_know_setinfo_is_fine(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "-ERR unknown subcommand\r\n"
                                  "-NOPERM no client\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_user_who_may_not_ping_is_fine(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-NOPERM no ping\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_ping_that_wants_authentication_is_not_fine(void)
{
    T_REFUSED(t_start, T_HELLO_SAYS "+OK\r\n+OK\r\n-NOAUTH first\r\n",
              "down auth: PING was refused: NOAUTH first");
    PASS();
}

/* Regression: the refusal was skipped, since it is over line_max, and the
 * handshake went on as if HELLO had succeeded. */
TEST a_refusal_of_hello_over_line_max_is_no_greeting(void)
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

TEST a_hello_over_a_limit_is_fine(void)
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

TEST a_greeting_without_answer_ends_with_connect_timeout(void)
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

TEST opening_and_greeting_share_one_deadline(void)
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

TEST a_server_with_too_many_clients_has_the_last_word(void)
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

TEST words_nobody_asked_for_are_told_when_the_link_closes(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "-ERR Closing for maintenance\r\n");
    T_TOLD(&p, "");
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed: ERR Closing for "
               "maintenance");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_last_words_on_one_link_are_not_told_of_the_next(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "-ERR Closing for maintenance\r\n");
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed: ERR Closing for "
               "maintenance");
    t_pass(&p, 200);
    ASSERT(t_up(&p));
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_stray_answer_costs_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
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

TEST an_answer_to_nothing_is_counted_as_a_protocol_error(void)
{
    relet_stats stats;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    relet_stats_get(p.r, &stats);
    ASSERT_EQ(1, stats.protocol_errors);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_offset_of_a_protocol_error_counts_the_whole_link(void)
{
    relet_stats stats;
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, ":1x\r\n");
    T_TOLD(&p, "down protocol: the server does not speak RESP: not a 64-bit "
               "integer, at byte 86 of what it sent");
    T_TOLD(&p, "unsure 1 broken");
    relet_stats_get(p.r, &stats);
    ASSERT_EQ(1, stats.protocol_errors);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ---------------------------------------------------------------- holding */

TEST loading_is_waited_out_on_the_same_link_and_told_once(void)
{
    t_peer p;
    int i;

    t_start(&p);
    for (i = 0; i < 5; i++) {
        t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING Redis is "
                                      "loading the dataset in memory\r\n");
        if (i == 0)
            ASSERT_STR_EQ("down busy: LOADING Redis is loading the dataset "
                          "in memory", t_told(&p));
        ASSERT_STR_EQ("", t_told(&p));
        t_pass(&p, 1600);
    }
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(1, p.opens);
    ASSERT_EQ(0, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST every_busy_word_in_every_step_is_waited_out(void)
{
    static const char *const word[] = {
        "-LOADING later\r\n", "-BUSY later\r\n", "-MASTERDOWN later\r\n"};
    static const char *const good[] = {T_HELLO_SAYS, "+OK\r\n", "+OK\r\n",
                                       "+OK\r\n", "+OK\r\n", "+PONG\r\n"};
    size_t w, step, i;

    for (w = 0; w < 3; w++)
        for (step = 0; step < 6; step++) {
            t_peer p;

            t_start_named(&p);
            t_move(&p);
            t_bytes_clear(&p.out);
            for (i = 0; i < 6; i++)
                t_say(&p, i == step ? word[w] : good[i]);
            t_move(&p);
            ASSERT_EQ(0, strncmp("down busy: ", t_told(&p), 11));
            t_pass(&p, 200);
            T_NEXT_TOOK(&p, "HELLO 3 AUTH ann sesame SETNAME worker-1");
            ASSERT_EQ(1, p.opens);
            for (i = 0; i < 6; i++)
                t_say(&p, good[i]);
            T_TOLD(&p, "up redis 7.0.15");
            ASSERT_EQ(0, t_end(&p));
        }
    PASS();
}

TEST a_wish_refused_as_busy_is_made_again(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "b"));
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
                     ">3\r\n+subscribe\r\n+a\r\n:1\r\n"
                     "-BUSY later\r\n+PONG\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "down busy: BUSY later");
    t_pass(&p, 200);
    t_took(&p);
    t_took(&p);
    t_took(&p);
    T_NEXT_TOOK(&p, "SUBSCRIBE b");
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
              ">3\r\n+subscribe\r\n+b\r\n:2\r\n+PONG\r\n");
    T_TOLD(&p, "subscribed channel b");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_server_ends_no_subscription_and_confirms_none_again(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n"
                     ">3\r\n+subscribe\r\n+a\r\n:1\r\n-LOADING later\r\n");
    T_TOLD(&p, "subscribed channel a");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, ">3\r\n+message\r\n+a\r\n$2\r\nhi\r\n");
    T_TOLD(&p, "message channel a \"hi\"");
    t_pass(&p, 200);
    t_took(&p);
    t_took(&p);
    t_took(&p);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    t_say(&p, ">3\r\n+message\r\n+a\r\n$2\r\nho\r\n");
    T_TOLD(&p, "message channel a \"ho\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_while_the_server_is_left_alone_is_a_stray_one(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, "-ERR going away\r\n");
    T_TOLD(&p, "");
    t_say(&p, "+OK\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_over_a_limit_in_that_time_is_one_too(void)
{
    t_peer p;
    int i;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    t_say(&p, "*513\r\n");
    for (i = 0; i < 513; i++)
        t_say(&p, ":1\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ---------------------------------------------------------------- backoff */

/* Full jitter: a pause is between 0 and a bound that doubles up to the cap. */
TEST backoff_stays_under_a_bound_that_doubles(void)
{
    static const relet_time bound[] = {100,  200,  400,  800,   1600,
                                       3200, 6400, 10000, 10000, 10000};
    relet_time most[10] = {0}, least[10];
    int seed, i;

    for (i = 0; i < 10; i++)
        least[i] = RELET_NEVER;
    for (seed = 1; seed <= 60; seed++) {
        relet_config c = t_config();
        t_peer p;

        c.seed = (uint64_t)seed;
        ASSERT(t_start_with(&p, &c));
        p.no = "no";
        for (i = 0; i < 10; i++) {
            while (t_bytes_used(&p.log) == 0)
                t_turn(&p), p.now++;
            t_bytes_clear(&p.log);
            ASSERT(p.retry_ms >= 0 && p.retry_ms <= bound[i]);
            most[i] = RLT_MAX(most[i], p.retry_ms);
            least[i] = RLT_MIN(least[i], p.retry_ms);
        }
        ASSERT_EQ(0, t_end(&p));
    }
    for (i = 0; i < 10; i++) {
        ASSERT(most[i] > bound[i] * 8 / 10);
        ASSERT(least[i] < bound[i] * 2 / 10);
    }
    PASS();
}

TEST the_next_attempt_comes_when_down_said(void)
{
    t_peer p;
    relet_time retry;

    t_start(&p);
    p.no = "no";
    t_pass(&p, 0);
    while (p.opens < 6)
        t_pass(&p, 1);
    t_bytes_clear(&p.log);
    retry = p.retry_ms;
    ASSERT(retry > 1);
    t_pass(&p, retry - 1);
    ASSERT_EQ(6, p.opens);
    t_pass(&p, 1);
    ASSERT_EQ(7, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static relet_time t_longest_retry(relet_time lived, int links)
{
    relet_time longest = 0;
    t_peer p;
    int i;

    t_start(&p);
    for (i = 0; i < links; i++) {
        if (!t_up(&p))
            t_die("the client did not come up");
        p.honest = 1;
        t_pass(&p, lived);
        p.honest = 0;
        t_break(&p);
        longest = RLT_MAX(longest, p.retry_ms);
    }
    (void)t_end(&p);
    return longest;
}

TEST a_link_that_lived_long_resets_the_backoff(void)
{
    ASSERT(t_longest_retry(10000, 30) <= 100);
    PASS();
}

TEST a_link_that_lived_short_does_not_reset_the_backoff(void)
{
    ASSERT(t_longest_retry(9800, 30) > 1000);
    PASS();
}

TEST stubborn_refusals_are_retried_slowly(void)
{
    static const char *const said[] = {
        "-WRONGPASS no\r\n", "-NOPROTO no\r\n", "HTTP/1.1 200 OK\r\n",
        T_HELLO_SAYS "+OK\r\n+OK\r\n-ERR no ping\r\n"};
    size_t i;

    for (i = 0; i < sizeof said / sizeof said[0]; i++) {
        t_peer p;

        t_start(&p);
        t_greet_with(&p, said[i]);
        ASSERT(t_bytes_used(&p.log) > 0);
        ASSERT(p.retry_ms >= 5000 && p.retry_ms <= 10000);
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST attempts_max_gives_up_and_ends_every_operation(void)
{
    relet_config c = t_config();
    t_peer p;

    c.attempts_max = 3;
    ASSERT(t_start_with(&p, &c));
    p.no = "refused";
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "GET", "k"));
    t_pass(&p, 1000);
    T_TOLD(&p, "down connect: refused");
    T_TOLD(&p, "down connect: refused");
    T_TOLD(&p, "down connect: refused");
    ASSERT_EQ(RELET_NEVER, p.retry_ms);
    T_TOLD(&p, "not sent 1 gave up");
    T_TOLD(&p, "not sent 2 gave up");
    T_TOLD(&p, "");
    ASSERT_EQ(3, p.opens);
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(RELET_E_STOPPED, t_ask(&p, 3, 0, "GET", "k"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST giving_up_on_a_used_link_is_unsure_of_what_was_sent(void)
{
    relet_config c = t_config();
    t_peer p;

    c.attempts_max = 1;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "GET", "k"));
    t_move(&p);
    p.accept = 0;
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "GET", "k"));
    t_break(&p);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "unsure 1 gave up");
    T_TOLD(&p, "not sent 2 gave up");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST equal_seeds_behave_the_same(void)
{
    t_peer a, b;
    int i;

    t_start(&a);
    t_start(&b);
    a.no = b.no = "no";
    for (i = 0; i < 20; i++) {
        t_pass(&a, 777);
        t_pass(&b, 777);
        ASSERT_EQ(relet_deadline(a.r), relet_deadline(b.r));
        ASSERT_EQ(a.retry_ms, b.retry_ms);
        ASSERT_EQ(a.opens, b.opens);
    }
    ASSERT_EQ(0, t_end(&a));
    ASSERT_EQ(0, t_end(&b));
    PASS();
}

/* -------------------------------------------------------- health and time */

TEST an_idle_link_is_pinged(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 14999);
    T_NEXT_TOOK(&p, "");
    t_pass(&p, 1);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, "+PONG\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 14999);
    T_NEXT_TOOK(&p, "");
    t_pass(&p, 1);
    T_NEXT_TOOK(&p, "PING");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_ping_may_be_answered_by_an_error(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 15000);
    T_NEXT_TOOK(&p, "PING");
    t_say(&p, "-NOPERM no ping\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 15000);
    T_NEXT_TOOK(&p, "PING");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_link_that_talks_is_not_pinged(void)
{
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    for (i = 0; i < 20; i++) {
        t_pass(&p, 10000);
        t_say(&p, ">2\r\n+hey\r\n+you\r\n");
        T_TOLD(&p, "pushed <\"hey\" \"you\">");
        T_NEXT_TOOK(&p, "");
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST nothing_is_pinged_while_an_answer_is_due(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 100000, "BLPOP", "q"));
    T_TOOK(&p, "BLPOP q");
    t_pass(&p, 90000);
    T_NEXT_TOOK(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST ping_every_zero_never_pings(void)
{
    relet_config c = t_config();
    t_peer p;

    c.ping_every_ms = 0;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_pass(&p, 10000000);
    T_NEXT_TOOK(&p, "");
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_dead_link_is_found_in_ping_every_and_a_timeout(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_pass(&p, 19999);
    ASSERT_EQ(1, relet_is_up(p.r));
    t_pass(&p, 1);
    T_TOLD(&p, "down silent: the server does not answer");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_wait_without_a_limit_is_not_taken_for_death(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, RELET_NEVER, "BLPOP", "q"));
    t_pass(&p, 10000000);
    ASSERT_EQ(1, relet_is_up(p.r));
    t_say(&p, "$1\r\nx\r\n");
    T_TOLD(&p, "reply 1 \"x\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_slow_answer_does_not_cost_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "KEYS", "*"));
    t_pass(&p, 1000);
    T_TOLD(&p, "unsure 1 timeout");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    T_TOLD(&p, "");
    t_say(&p, "+late\r\n+right\r\n");
    T_TOLD(&p, "reply 2 \"right\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: silence was counted from the last byte read, an hour before. */
TEST a_short_timeout_after_a_long_rest_does_not_cost_the_link(void)
{
    relet_config c = t_config();
    t_peer p;

    c.ping_every_ms = 0;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_pass(&p, 3600000);
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "KEYS", "*"));
    t_pass(&p, 1000);
    T_TOLD(&p, "unsure 1 timeout");
    ASSERT_EQ(1, relet_is_up(p.r));
    t_pass(&p, 15000);
    T_TOLD(&p, "down silent: the server does not answer");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression, found by the simulator: bytes counted as heard at the previous
 * tick, which was long ago after the pause. So histories depended on how the
 * bytes were cut. */
TEST a_message_behind_a_pause_was_heard_now(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, ">2\r\n+NEWS\r\n:1\r\n");
    t_freeze(&p, 25000);
    t_pass(&p, 10000);
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_that_is_here_beats_a_deadline(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, "+here\r\n");
    t_freeze(&p, 3600000);
    T_TOLD(&p, "reply 1 \"here\"");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST many_answers_that_are_here_beat_their_deadlines(void)
{
    t_peer p;
    uint64_t i;
    char line[32];

    t_start(&p);
    ASSERT(t_up(&p));
    p.read_max = t_piece ? t_piece : 3;
    for (i = 0; i < 50; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    t_move(&p);
    for (i = 0; i < 50; i++)
        t_say(&p, "+here\r\n");
    t_freeze(&p, 3600000);
    for (i = 0; i < 50; i++) {
        sprintf(line, "reply %lu \"here\"", (unsigned long)i);
        ASSERT_STR_EQ(line, t_told(&p));
    }
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the tombstone in front made a link look dead although an answer
 * had just arrived. */
TEST a_late_answer_that_is_here_after_a_pause_saves_the_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "GET", "k"));
    t_pass(&p, 20);
    T_TOLD(&p, "unsure 1 timeout");
    t_say(&p, "+late\r\n");
    t_freeze(&p, 3600000);
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_greeting_that_is_here_beats_its_deadline(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    p.read_max = 0;
    t_freeze(&p, 3600000);
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST time_that_goes_back_counts_as_standing_still(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    relet_tick(p.r, p.now - 100000);
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    relet_tick(p.r, -5);
    t_pass(&p, 4999);
    T_TOLD(&p, "");
    t_pass(&p, 1);
    T_TOLD(&p, "unsure 1 timeout");
    T_TOLD(&p, "unsure 2 timeout");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_huge_timeout_is_as_good_as_none(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, RELET_NEVER - 1, "BLPOP", "q"));
    t_pass(&p, 100000);
    T_TOLD(&p, "");
    t_say(&p, "+x\r\n");
    T_TOLD(&p, "reply 1 \"x\"");
    ASSERT_EQ(0, t_end(&p));
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
TEST no_password_remains_in_memory_that_a_greeting_outgrew(void)
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

/* ------------------------------------------------------------------- stop */

TEST stop_before_the_first_tick_asks_for_nothing(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(RELET_NEVER, p.retry_ms);
    T_TOLD(&p, "not sent 1 stopped");
    T_TOLD(&p, "");
    ASSERT_EQ(0, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_while_opening_takes_the_wish_for_a_link_back(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.opens);
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_while_greeting_closes_the_link(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, p.open);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_while_the_server_is_busy_closes_the_link(void)
{
    t_peer p;

    t_start(&p);
    t_greet_with(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n-LOADING later\r\n");
    T_TOLD(&p, "down busy: LOADING later");
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stop_with_everything_under_way_ends_each_operation_once(void)
{
    t_peer p;
    int script;

    t_start(&p);
    script = relet_script_add(p.r, relet_str("return ARGV[1]"));
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask_within(&p, 1, 10, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    ASSERT_EQ(0, t_unit(&p, 3, RELET_REPEATABLE, "x", "y"));
    ASSERT_EQ(0, t_run(&p, 4, 0, script, "k"));
    ASSERT_EQ(0, t_unwish(&p, RELET_CHANNEL, "a"));
    t_pass(&p, 20);
    T_TOLD(&p, "unsure 1 timeout");
    p.accept = 5;
    ASSERT_EQ(0, t_ask(&p, 5, 0, "GET", "partly"));
    ASSERT_EQ(0, t_ask(&p, 6, RELET_REPEATABLE, "GET", "unsent"));
    t_move(&p);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    T_TOLD(&p, "unsure 2 stopped");
    T_TOLD(&p, "unsure 3 stopped");
    T_TOLD(&p, "unsure 4 stopped");
    T_TOLD(&p, "not sent 5 stopped");
    T_TOLD(&p, "not sent 6 stopped");
    T_TOLD(&p, "unsubscribed channel a");
    T_TOLD(&p, "");
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(RELET_E_STOPPED, t_ask(&p, 7, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_STOPPED, t_wish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(RELET_E_STOPPED, t_unwish(&p, RELET_CHANNEL, "a"));
    ASSERT_EQ(RELET_NEVER, relet_deadline(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST stopping_twice_is_stopping_once(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    relet_stop(p.r);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    relet_stop(p.r);
    T_TOLD(&p, "");
    t_pass(&p, 100000);
    T_TOLD(&p, "");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the client forgot a close that it had decided on between two
 * turns of the driver. */
TEST stop_does_not_forget_a_close_that_is_still_to_be_asked_for(void)
{
    relet_event ev;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+stray\r\n");
    while (t_read(&p))
        continue;
    ASSERT(relet_next(p.r, &ev));
    ASSERT_EQ(RELET_WHY_PROTOCOL, ev.why);
    relet_stop(p.r);
    T_TOLD(&p, "down stopped: stopped");
    ASSERT_EQ(1, p.closes);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------- the closing */

TEST answers_before_a_close_are_all_told(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 3, 0, "GET", "k"));
    t_move(&p);
    t_say(&p, "+one\r\n+two\r\n+thr");
    t_hang_up(&p);
    T_TOLD(&p, "reply 1 \"one\"");
    T_TOLD(&p, "reply 2 \"two\"");
    T_TOLD(&p, "down closed: the server closed");
    T_TOLD(&p, "unsure 3 broken");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST after_a_close_by_the_server_the_driver_is_not_asked_to_close(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_hang_up(&p);
    T_TOLD(&p, "down closed: the server closed");
    ASSERT_EQ(0, p.closes);
    t_pass(&p, 200);
    ASSERT_EQ(2, p.opens);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: a driver's second close of a link closed its successor. */
TEST a_close_told_late_does_not_hurt_the_next_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    t_say(&p, "+stray\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    relet_io_closed(p.r, 0, 104, "reset");
    t_pass(&p, 10000);
    ASSERT_EQ(2, p.opens);
    ASSERT_STR_EQ("HELLO 3", t_took(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_link_lost_while_opening_is_told(void)
{
    t_peer p;

    t_start(&p);
    p.deaf = 1;
    t_move(&p);
    p.asked = 0;
    relet_io_closed(p.r, 0, 104, "reset early");
    T_TOLD(&p, "down closed: reset early");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(session)
{
    RUN_TEST(the_greeting_has_every_step_in_order);
    RUN_TEST(each_kind_of_tracking_is_asked_for_in_its_words);
    RUN_TEST(the_greeting_goes_out_in_one_write);
    RUN_TEST(no_byte_of_the_users_goes_out_before_the_greeting_is_answered);
    RUN_TEST(a_greeting_answered_before_it_is_sent_costs_the_link);
    RUN_TEST(without_a_password_no_auth_is_sent);
    RUN_TEST(a_password_without_a_user_is_the_default_users);
    RUN_TEST(a_wrong_password_is_told_as_such);
    RUN_TEST(a_missing_password_is_told_as_such);
    RUN_TEST(a_server_without_resp3_is_told_as_such);
    RUN_TEST(a_hello_in_resp2_is_not_resp3);
    RUN_TEST(a_database_out_of_range_is_told_as_such);
    RUN_TEST(a_refused_tracking_is_told_as_such);
    RUN_TEST(a_select_without_permission_is_told_as_auth);
    RUN_TEST(a_server_that_does_not_know_setinfo_is_fine);
    RUN_TEST(a_user_who_may_not_ping_is_fine);
    RUN_TEST(a_ping_that_wants_authentication_is_not_fine);
    RUN_TEST(a_refusal_of_hello_over_line_max_is_no_greeting);
    RUN_TEST(a_hello_over_a_limit_is_fine);
    RUN_TEST(a_greeting_without_answer_ends_with_connect_timeout);
    RUN_TEST(opening_and_greeting_share_one_deadline);
    RUN_TEST(a_driver_that_never_opens_is_given_up_on);
    RUN_TEST(a_refused_connection_is_told_in_the_drivers_words);
    RUN_TEST(a_server_with_too_many_clients_has_the_last_word);
    RUN_TEST(words_nobody_asked_for_are_told_when_the_link_closes);
    RUN_TEST(the_last_words_on_one_link_are_not_told_of_the_next);
    RUN_TEST(a_stray_answer_costs_the_link);
    RUN_TEST(other_protocols_are_told_with_their_first_wrong_byte);
    RUN_TEST(an_answer_to_nothing_is_counted_as_a_protocol_error);
    RUN_TEST(the_offset_of_a_protocol_error_counts_the_whole_link);
    RUN_TEST(loading_is_waited_out_on_the_same_link_and_told_once);
    RUN_TEST(every_busy_word_in_every_step_is_waited_out);
    RUN_TEST(a_wish_refused_as_busy_is_made_again);
    RUN_TEST(a_busy_server_ends_no_subscription_and_confirms_none_again);
    RUN_TEST(an_answer_while_the_server_is_left_alone_is_a_stray_one);
    RUN_TEST(an_answer_over_a_limit_in_that_time_is_one_too);
    RUN_TEST(backoff_stays_under_a_bound_that_doubles);
    RUN_TEST(the_next_attempt_comes_when_down_said);
    RUN_TEST(a_link_that_lived_long_resets_the_backoff);
    RUN_TEST(a_link_that_lived_short_does_not_reset_the_backoff);
    RUN_TEST(stubborn_refusals_are_retried_slowly);
    RUN_TEST(attempts_max_gives_up_and_ends_every_operation);
    RUN_TEST(giving_up_on_a_used_link_is_unsure_of_what_was_sent);
    RUN_TEST(equal_seeds_behave_the_same);
    RUN_TEST(an_idle_link_is_pinged);
    RUN_TEST(a_ping_may_be_answered_by_an_error);
    RUN_TEST(a_link_that_talks_is_not_pinged);
    RUN_TEST(nothing_is_pinged_while_an_answer_is_due);
    RUN_TEST(ping_every_zero_never_pings);
    RUN_TEST(a_dead_link_is_found_in_ping_every_and_a_timeout);
    RUN_TEST(a_wait_without_a_limit_is_not_taken_for_death);
    RUN_TEST(a_slow_answer_does_not_cost_the_link);
    RUN_TEST(a_short_timeout_after_a_long_rest_does_not_cost_the_link);
    RUN_TEST(a_message_behind_a_pause_was_heard_now);
    RUN_TEST(an_answer_that_is_here_beats_a_deadline);
    RUN_TEST(many_answers_that_are_here_beat_their_deadlines);
    RUN_TEST(a_late_answer_that_is_here_after_a_pause_saves_the_link);
    RUN_TEST(a_greeting_that_is_here_beats_its_deadline);
    RUN_TEST(time_that_goes_back_counts_as_standing_still);
    RUN_TEST(a_huge_timeout_is_as_good_as_none);
    RUN_TEST(new_credentials_are_used_at_the_next_connect);
    RUN_TEST(credentials_that_do_not_fit_are_refused);
    RUN_TEST(no_password_remains_after_finish);
    RUN_TEST(no_password_remains_in_memory_that_a_greeting_outgrew);
    RUN_TEST(longer_credentials_leave_nothing_of_the_old_ones);
    RUN_TEST(stop_before_the_first_tick_asks_for_nothing);
    RUN_TEST(stop_while_opening_takes_the_wish_for_a_link_back);
    RUN_TEST(stop_while_greeting_closes_the_link);
    RUN_TEST(stop_while_the_server_is_busy_closes_the_link);
    RUN_TEST(stop_with_everything_under_way_ends_each_operation_once);
    RUN_TEST(stopping_twice_is_stopping_once);
    RUN_TEST(stop_does_not_forget_a_close_that_is_still_to_be_asked_for);
    RUN_TEST(answers_before_a_close_are_all_told);
    RUN_TEST(after_a_close_by_the_server_the_driver_is_not_asked_to_close);
    RUN_TEST(a_close_told_late_does_not_hurt_the_next_link);
    RUN_TEST(a_link_lost_while_opening_is_told);
}

T_MAIN(session)
