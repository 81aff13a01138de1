/* SPDX-License-Identifier: MIT
 *
 * alloc_test.c - tests of failed allocations. In each of these conversations,
 * each allocation fails once; then each fails together with all that follow,
 * until memory comes back.
 *
 * After each failure, every operation was refused by a code or has one outcome,
 * the client works, and all memory is freed in the end. No allocation is left
 * out: a conversation is repeated until no allocation of it failed. */
#include "peer.h"

#include "kept.h"
#include "greatest.h"

#define T_TAGS 64
#define T_AFTER 63 /* submitted when memory is back */

typedef struct t_tally {
    t_peer p;
    int accepted[T_TAGS], outcomes[T_TAGS];
    int odd; /* a code that no failed allocation explains                    */
    int last_ok;
} t_tally;

typedef void t_talk(t_tally *t);

static unsigned long t_indices;
static char t_big[5001];

/* ----------------------------------------------------------- conversations */

static void t_count(t_tally *t, uint64_t tag, int code)
{
    if (code == 0)
        t->accepted[tag]++;
    else if (code != RELET_E_MEMORY && code != RELET_E_LIMIT)
        t->odd = code;
}

static void t_note(t_tally *t, int code)
{
    if (code != 0 && code != RELET_E_MEMORY && code != RELET_E_LIMIT &&
        code != RELET_E_REFUSED)
        t->odd = code;
}

static void t_talk_connect(t_tally *t)
{
    t_note(t, t_wish(&t->p, RELET_CHANNEL, "a-channel-with-a-long-name"));
    t_note(t, t_wish(&t->p, RELET_PATTERN, "another-with-a-long-name-*"));
    t_count(t, 1, t_ask(&t->p, 1, 0, "GET", "k"));
    t_pass(&t->p, 3000);
}

static void t_talk_pipeline(t_tally *t)
{
    uint64_t i;

    t_pass(&t->p, 3000);
    for (i = 0; i < 40; i++)
        t_count(t, i, t_ask(&t->p, i, i % 2, "ECHO", "some bytes to echo"));
    t_pass(&t->p, 3000);
}

static int t_answer_long(t_peer *p, const t_words *w)
{
    int i;

    if (!t_is(w, 0, "LRANGE"))
        return 0;
    t_say(p, "*400\r\n");
    for (i = 0; i < 200; i++)
        t_say(p, i == 100 ? ">1\r\n+push\r\n:1\r\n*0\r\n" : ":1\r\n*0\r\n");
    return 1;
}

static void t_talk_big(t_tally *t)
{
    t->p.answer = t_answer_long;
    t_count(t, 1, t_ask(&t->p, 1, 0, "ECHO", t_big));
    t_count(t, 2, t_ask(&t->p, 2, 0, "LRANGE", "k"));
    t_count(t, 3, t_ask(&t->p, 3, RELET_REPEATABLE, "ECHO", t_big));
    t_count(t, 4, t_ask(&t->p, 4, 0, "LRANGE", "k"));
    t_pass(&t->p, 3000);
}

static void t_talk_units(t_tally *t)
{
    t_count(t, 1, t_unit(&t->p, 1, 0, t_big + 4000, "y"));
    t_pass(&t->p, 3000);
    t_count(t, 2, t_unit(&t->p, 2, RELET_REPEATABLE, "x", t_big + 3000));
    t_count(t, 3, t_ask(&t->p, 3, 0, "WATCH", "k"));
    t_count(t, 4, t_unit(&t->p, 4, 0, "x", "y"));
    t_pass(&t->p, 3000);
}

static void t_talk_scripts(t_tally *t)
{
    int script = relet_script_add(t->p.r, relet_str(t_big + 4500));

    t_count(t, 1, t_run(&t->p, 1, 0, script, "k"));
    t_pass(&t->p, 3000);
    t_count(t, 2, t_run(&t->p, 2, 0, script, "k"));
    t_pass(&t->p, 1000);
    t->p.server.scripts = 0;
    t_count(t, 3, t_run(&t->p, 3, 0, script, "k"));
    t_count(t, 4, t_run(&t->p, 4, RELET_REPEATABLE, script, "l"));
    t_pass(&t->p, 3000);
}

static void t_talk_wishes(t_tally *t)
{
    char name[40];
    int i;

    t_pass(&t->p, 3000);
    for (i = 0; i < 8; i++) {
        sprintf(name, "a-channel-with-a-long-name-%d", i);
        t_note(t, t_wish(&t->p, RELET_CHANNEL, name));
    }
    t_pass(&t->p, 1000);
    for (i = 0; i < 8; i += 2) {
        sprintf(name, "a-channel-with-a-long-name-%d", i);
        t_note(t, t_unwish(&t->p, RELET_CHANNEL, name));
    }
    t_pass(&t->p, 3000);
}

static void t_talk_break(t_tally *t)
{
    uint64_t i;

    t_pass(&t->p, 3000);
    t->p.honest = 0;
    t_note(t, t_wish(&t->p, RELET_CHANNEL, "a-channel"));
    for (i = 0; i < 20; i++)
        t_count(t, i, t_ask(&t->p, i, i % 2, "ECHO", "some bytes to echo"));
    t_move(&t->p);
    t_break(&t->p);
    t->p.honest = 1;
    t_pass(&t->p, 3000);
}

static void t_talk_rest(t_tally *t)
{
    t_count(t, 1, t_ask(&t->p, 1, 0, "ECHO", t_big));
    t_pass(&t->p, 40000);
    t_count(t, 2, t_ask(&t->p, 2, 0, "ECHO", t_big));
    t_pass(&t->p, 3000);
}

static void t_talk_credentials(t_tally *t)
{
    relet_span word = {t_big, 1000};

    t_pass(&t->p, 3000);
    t_note(t, relet_credentials(t->p.r, relet_str("bob"), word));
    t_break(&t->p);
    t_pass(&t->p, 3000);
    t_count(t, 1, t_ask(&t->p, 1, 0, "GET", "k"));
    t_pass(&t->p, 3000);
}

/* Takes one event. Returns 1 if there was one. */
static int t_take_one(t_tally *t)
{
    relet_event ev;
    int told = relet_next(t->p.r, &ev);

    if (told)
        t_log(&t->p, &ev);
    return told;
}

/* Waits for the outcome with this tag. After a refusal it takes one event, as
 * the manual says. */
static void t_await(t_tally *t, uint64_t tag)
{
    rlt_wanted w;
    relet_event ev;
    int code = 0, turns;

    w.kind = RELET_EV_REPLY;
    w.number = -1;
    w.tag = tag;
    for (turns = 0; turns < 200 && code != 1; turns++) {
        code = rlt_await_begin(t->p.r, &w, &ev);
        if (code == RELET_E_REFUSED)
            return; /* it is in the log */
        if (code == 0) {
            (void)t_turn(&t->p);
            code = rlt_await_next(t->p.r, &w, &ev);
        }
        if (code == 1)
            t_log(&t->p, &ev);
        else if (code != 0 && (code != RELET_E_MEMORY || !t_take_one(t)))
            t_note(t, code);
    }
}

static void t_talk_await(t_tally *t)
{
    uint64_t i;

    t_pass(&t->p, 3000);
    t_note(t, t_wish(&t->p, RELET_CHANNEL, "a-channel"));
    t->p.manual = 1;
    for (i = 0; i < 6; i++)
        t_count(t, i, t_ask(&t->p, i, i % 2, "ECHO", "some bytes to echo"));
    t_await(t, 4);
    t_await(t, 2);
    t_count(t, 6, t_ask(&t->p, 6, 0, "ECHO", t_big));
    t_await(t, 6);
    t_await(t, 5);
    t->p.manual = 0;
    t_pass(&t->p, 3000);
}

/* ------------------------------------------------------------------ oracle */

static void t_sum(t_tally *t)
{
    static const char *const kind[] = {"reply ", "error ", "not sent ",
                                       "unsure "};
    unsigned long tag;
    const char *line;
    size_t i, n;

    while ((line = t_told(&t->p))[0] != '\0')
        for (i = 0; i < 4; i++) {
            n = strlen(kind[i]);
            if (strncmp(line, kind[i], n) != 0)
                continue;
            tag = strtoul(line + n, NULL, 10);
            if (tag >= T_TAGS)
                continue;
            t->outcomes[tag]++;
            t->last_ok = i == 0 && tag == T_AFTER;
        }
}

static int t_is_settled(const t_tally *t)
{
    int i;

    for (i = 0; i < T_TAGS; i++)
        if (t->accepted[i] != t->outcomes[i])
            return 0;
    return 1;
}

static relet_config t_config_full(void)
{
    relet_config c = t_config();

    strcpy(c.user, "ann");
    strcpy(c.password, "sesame");
    strcpy(c.name, "worker");
    c.db = 1;
    return c;
}

/* relet_init allocates memory, too, so its allocations fail as well. */
static int t_open(t_tally *t, uint64_t fail_at, int fail_on)
{
    relet_config c = t_config_full();
    t_peer *p = &t->p;

    memset(t, 0, sizeof *t);
    p->config = c;
    p->config.resize = t_heap_resize;
    p->config.resize_user = &p->heap;
    p->heap.fail_at = fail_at;
    p->heap.fail_on = fail_on;
    p->size = relet_size(&p->config);
    p->block = malloc(p->size);
    p->accept = p->give = (size_t)-1;
    p->read_max = p->write_max = t_piece;
    p->now = 1000;
    p->honest = 1;
    p->r = relet_init(p->block, p->size, &p->config, NULL);
    return p->r != NULL;
}

/* Runs one conversation with one failure. Returns 0 if a check failed, and sets
 * *over if no allocation failed. */
static int t_once(t_talk *talk, uint64_t fail_at, int fail_on, int stop,
                  int *over)
{
    static t_tally t;
    int good = 1;

    if (t_open(&t, fail_at, fail_on)) {
        talk(&t);
        *over = t.p.heap.failed == 0;
        t.p.heap.fail_at = 0;
        if (stop)
            relet_stop(t.p.r);
        else
            t_pass(&t.p, 40000);
        if (!stop)
            t_count(&t, T_AFTER, t_ask(&t.p, T_AFTER, 0, "GET", "after"));
        t_pass(&t.p, 1000);
        t_sum(&t);
        good = t_is_settled(&t) && t.odd == 0 && (stop || t.last_ok) &&
               relet_outstanding(t.p.r) == 0;
    }
    t_indices++;
    return t_end(&t.p) == 0 && good;
}

static int t_sweep(t_talk *talk)
{
    uint64_t at;
    int fail_on, stop, over;

    for (fail_on = 0; fail_on < 2; fail_on++)
        for (stop = 0; stop < 2; stop++) {
            over = 0;
            for (at = 1; !over; at++)
                if (!t_once(talk, at, fail_on, stop, &over)) {
                    fprintf(stderr, "alloc: index %lu, on %d, stop %d\n",
                            (unsigned long)at, fail_on, stop);
                    return 0;
                }
        }
    return 1;
}

#define T_SWEEP(name, talk) \
    TEST name(void) \
    { \
        ASSERT(t_sweep(talk)); \
        PASS(); \
    }

T_SWEEP(every_allocation_may_fail_while_connecting, t_talk_connect)
T_SWEEP(every_allocation_may_fail_in_a_pipeline, t_talk_pipeline)
T_SWEEP(every_allocation_may_fail_under_big_answers, t_talk_big)
T_SWEEP(every_allocation_may_fail_in_transactions, t_talk_units)
T_SWEEP(every_allocation_may_fail_around_scripts, t_talk_scripts)
T_SWEEP(every_allocation_may_fail_around_wishes, t_talk_wishes)
T_SWEEP(every_allocation_may_fail_around_a_break, t_talk_break)
T_SWEEP(every_allocation_may_fail_while_resting, t_talk_rest)
T_SWEEP(every_allocation_may_fail_around_new_credentials, t_talk_credentials)
T_SWEEP(every_allocation_may_fail_while_events_are_kept, t_talk_await)

/* When new credentials find no memory, the old ones stay in force. */
TEST credentials_that_found_no_memory_change_nothing(void)
{
    relet_span word = {t_big, 1000};
    relet_config c = t_config_full();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.heap.fail_at = p.heap.calls + 1;
    ASSERT_EQ(RELET_E_MEMORY,
              relet_credentials(p.r, relet_str("bob"), word));
    t_break(&p);
    t_pass(&p, 200);
    T_TOOK(&p, "HELLO 3 AUTH ann sesame SETNAME worker");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_without_memory_is_an_error_of_that_operation(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    (void)t_ask(&p, 3, 0, "GET", "k");
    t_move(&p);
    p.heap.fail_at = p.heap.calls + 1;
    p.heap.fail_on = 1;
    t_say(&p, "$5000\r\n");
    t_say(&p, t_big);
    t_say(&p, "\r\n");
    T_TOLD(&p, "error 1 memory: no memory for the answer");
    p.heap.fail_at = 0;
    t_say(&p, "$9000\r\n");
    t_say(&p, t_big);
    t_say_span(&p, t_big, 4000);
    t_say(&p, "\r\n+small\r\n");
    T_TOLD(&p, "error 2 too large: a string of the answer is over bulk_max");
    T_TOLD(&p, "reply 3 \"small\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_link_without_memory_to_read_into_is_told(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    p.heap.fail_at = p.heap.calls + 1;
    p.heap.fail_on = 1;
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    t_pass(&p, 5000);
    T_TOLD(&p, "down memory: no memory to read into");
    p.heap.fail_at = 0;
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression, found by the simulator (seed 99180402): the client connected
 * again after connect_timeout_ms, however long the back-off was. */
TEST a_handshake_without_memory_is_retried_after_the_back_off(void)
{
    relet_config c = t_config();
    unsigned long opens;
    t_peer p;
    int i;

    c.connect_timeout_ms = 10;
    c.retry_min_ms = 1000;
    c.retry_max_ms = 60000;
    ASSERT(t_start_with(&p, &c));
    p.heap.fail_at = p.heap.calls + 2; /* the first is for the link */
    p.heap.fail_on = 1;
    for (i = 0; i < 8; i++) {
        T_TOLD(&p, "down memory: no memory for the greeting");
        opens = (unsigned long)p.opens;
        t_pass(&p, p.retry_ms - 1);
        ASSERT_EQ(opens, (unsigned long)p.opens);
        p.now++;
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: a shortage during the handshake ended the link after it had come
 * up. */
TEST a_shortage_that_is_over_is_not_blamed(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    p.heap.fail_at = p.heap.calls + 1;
    t_say(&p, T_HELLO_SAYS);
    t_pass(&p, 5000);
    T_TOLD(&p, "down silent: no answer to the greeting in "
               "connect_timeout_ms");
    p.heap.fail_at = p.heap.calls + 1;
    ASSERT(t_up(&p));
    t_pass(&p, 10000);
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(alloc)
{
    RUN_TEST(every_allocation_may_fail_while_connecting);
    RUN_TEST(every_allocation_may_fail_in_a_pipeline);
    RUN_TEST(every_allocation_may_fail_under_big_answers);
    RUN_TEST(every_allocation_may_fail_in_transactions);
    RUN_TEST(every_allocation_may_fail_around_scripts);
    RUN_TEST(every_allocation_may_fail_around_wishes);
    RUN_TEST(every_allocation_may_fail_around_a_break);
    RUN_TEST(every_allocation_may_fail_while_resting);
    RUN_TEST(every_allocation_may_fail_around_new_credentials);
    RUN_TEST(every_allocation_may_fail_while_events_are_kept);
    RUN_TEST(credentials_that_found_no_memory_change_nothing);
    RUN_TEST(an_answer_without_memory_is_an_error_of_that_operation);
    RUN_TEST(a_link_without_memory_to_read_into_is_told);
    RUN_TEST(a_handshake_without_memory_is_retried_after_the_back_off);
    RUN_TEST(a_shortage_that_is_over_is_not_blamed);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    memset(t_big, '-', sizeof t_big - 1);
    RUN_SUITE(alloc);
    t_piece = 7;
    RUN_SUITE(alloc);
    printf("%lu conversations, each short of memory at another place\n",
           t_indices);
    GREATEST_MAIN_END();
}
