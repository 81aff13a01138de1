/* SPDX-License-Identifier: MIT
 *
 * script_test.c - tests of scripts: called by SHA-1, and sent whole if the
 * server does not know them. */
#include "script.h"
#include "peer.h"

#include "greatest.h"

#include <stdio.h>
#include <stdlib.h>

#define T_BODY "return 1"
#define T_SHA "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"

static int t_add(t_peer *p, const char *body)
{
    return relet_script_add(p->r, relet_str(body));
}

/* The client is up, and the script has been sent whole over the link. */
static int t_make_known(t_peer *p)
{
    if (t_add(p, T_BODY) != 0 || !t_up(p) || t_run(p, 0, 0, 0, "k") < 0)
        return 0;
    p->honest = 1;
    t_move(p);
    p->honest = 0;
    return strcmp(t_told(p), "reply 0 \"k\"") == 0;
}

static int t_known(t_peer *p)
{
    t_start(p);
    return t_make_known(p);
}

TEST the_same_body_has_one_number(void)
{
    rlt_script list[2];
    rlt_scripts s;

    rlt_scripts_init(&s, list, 2);
    ASSERT_EQ(0, rlt_script_add(&s, relet_str(T_BODY)));
    ASSERT_EQ(1, rlt_script_add(&s, relet_str("return 2")));
    ASSERT_EQ(0, rlt_script_add(&s, relet_str(T_BODY)));
    ASSERT_EQ(RELET_E_LIMIT, rlt_script_add(&s, relet_str("return 3")));
    ASSERT_EQ(1, rlt_script_add(&s, relet_str("return 2")));
    ASSERT_MEM_EQ(T_SHA, list[0].sha, 40);
    PASS();
}

TEST a_new_link_is_not_thought_to_know_any_script(void)
{
    rlt_script list[1 + RLT_SCRIPTS_OWN];
    rlt_scripts s;
    size_t i;

    rlt_scripts_init(&s, list, 1);
    rlt_scripts_own(&s, RLT_SCRIPTS_OWN);
    ASSERT_EQ(0, rlt_script_add(&s, relet_str(T_BODY)));
    for (i = 0; i < 1 + RLT_SCRIPTS_OWN; i++)
        list[i].known = 1;
    rlt_scripts_forget(&s);
    for (i = 0; i < 1 + RLT_SCRIPTS_OWN; i++)
        ASSERT_EQ(0, list[i].known);
    PASS();
}

/* Tests several numbers of words, with keys of several lengths. */
TEST an_evalsha_becomes_the_eval_that_does_the_same(void)
{
    static const char *const head[] = {"*4\r\n", "*10\r\n", "*2147483647\r\n"};
    char bytes[200], whole[300], made[300], digits[RLT_SCRIPT_HEAD];
    relet_span patch[RLT_SCRIPT_PATCHES], evalsha;
    rlt_script script;
    size_t i, k, n, cut;

    memset(&script, 0, sizeof script);
    script.body = relet_str("return KEYS[1]");
    for (i = 0; i < 3; i++) {
        sprintf(bytes, "%s$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$1\r\nk\r\n",
                head[i], T_SHA);
        sprintf(whole, "%s$4\r\nEVAL\r\n$14\r\nreturn KEYS[1]\r\n$1\r\n1\r\n"
                       "$1\r\nk\r\n", head[i]);
        evalsha = relet_str(bytes);
        rlt_script_whole(&script, evalsha, digits, &cut, patch);
        for (k = n = 0; k < RLT_SCRIPT_PATCHES; k++) {
            memcpy(made + n, patch[k].p, patch[k].n);
            n += patch[k].n;
        }
        memcpy(made + n, bytes + cut, evalsha.n - cut);
        n += evalsha.n - cut;
        made[n] = '\0';
        ASSERT_STR_EQ(whole, made);
    }
    PASS();
}

/* ----------------------------------------------------- the library's own */

/* The files of lua/, in the order of rlt_own_script. */
static const char *const t_file[RLT_SCRIPTS_OWN] = {
    "lease_acquire", "lease_release", "lease_renew", "queue_cancel",
    "queue_claim", "queue_claim_type", "queue_done", "queue_done_plain",
    "queue_fail", "queue_forget", "queue_idle", "queue_keep", "queue_list",
    "queue_look", "queue_progress", "queue_promote", "queue_purge",
    "queue_put", "queue_put_full", "queue_rank", "queue_reap", "queue_recall",
    "queue_release", "queue_renew", "queue_repair", "queue_replay",
    "queue_status", "queue_trim", "queue_unique"};

/* Returns the text of a file as it is sent, see embed.awk. */
static const char *t_embedded(uint32_t own)
{
    static char text[8192];
    char path[80], line[200], *p;
    int comments = 0;
    size_t n = 0;
    FILE *f;

    sprintf(path, "lua/%s.lua", t_file[own]);
    f = fopen(path, "r");
    if (f == NULL)
        t_die("run it where lua/ is");
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "--", 2) == 0 && comments++ > 0)
            continue;
        if (strncmp(line, "--", 2) == 0 && strchr(line, ':') != NULL)
            memcpy(strchr(line, ':'), "\n", 2);
        p = line + strspn(line, " ");
        memcpy(text + n, p, strlen(p) + 1);
        n += strlen(p);
    }
    (void)fclose(f);
    return text;
}

/* A client's scripts, and an EVAL with a gap for one of them, which ends where
 * its memory does. */
typedef struct t_packed {
    rlt_script list[1 + RLT_SCRIPTS_OWN], *script;
    rlt_scripts s;
    uint32_t number;
    char *eval, *text;
} t_packed;

static void t_pack_begin(t_packed *t, uint32_t own)
{
    char head[40];
    int n;

    rlt_scripts_init(&t->s, t->list, 1);
    rlt_scripts_own(&t->s, RLT_SCRIPTS_OWN);
    t->number = rlt_script_own(&t->s, (rlt_own_script)own);
    t->script = &t->list[t->number];
    n = sprintf(head, "*3\r\n$4\r\nEVAL\r\n$%d\r\n",
                (int)t->script->body.n);
    t->eval = (char *)malloc((size_t)n + t->script->body.n);
    if (t->eval == NULL)
        t_die("out of memory");
    memcpy(t->eval, head, (size_t)n);
    t->text = t->eval + n;
}

static void t_fill(t_packed *t)
{
    rlt_script_fill(&t->s, t->number, (uint8_t *)t->eval);
}

TEST each_packed_script_is_the_text_of_its_file(void)
{
    const char *text;
    char sha[40];
    uint32_t own;
    t_packed t;

    for (own = 0; own < RLT_SCRIPTS_OWN; own++) {
        t_pack_begin(&t, own);
        text = t_embedded(own);
        ASSERT_EQm(t_file[own], strlen(text), t.script->body.n);
        t_fill(&t);
        ASSERT_MEM_EQm(t_file[own], text, t.text, strlen(text));
        rlt_sha1_hex(text, strlen(text), sha);
        ASSERT_MEM_EQm(t_file[own], sha, t.script->sha, sizeof sha);
        free(t.eval);
    }
    PASS();
}

TEST no_byte_is_written_behind_the_announced_length(void)
{
    char *text, *eval;
    uint32_t own;
    t_packed t;
    size_t n;

    for (own = 0; own < RLT_SCRIPTS_OWN; own++) {
        t_pack_begin(&t, own);
        n = t.script->body.n;
        eval = (char *)realloc(t.eval, (size_t)(t.text - t.eval) + n + 8);
        if (eval == NULL)
            t_die("out of memory");
        text = eval + (t.text - t.eval);
        t.eval = eval;
        memset(text, 0xee, n + 8);
        t_fill(&t);
        ASSERT_EQm(t_file[own], '\n', text[n - 1]);
        ASSERT_MEM_EQm(t_file[own], "\xee\xee\xee\xee\xee\xee\xee\xee",
                       text + n, 8);
        free(t.eval);
    }
    PASS();
}

/* Returns the text of the next command, an EVAL; or "". */
static const char *t_took_whole(t_peer *p)
{
    static char text[8192];
    size_t size;
    t_words w;

    t_move(p);
    text[0] = '\0';
    if (t_decode(&p->out, &w, &size) && t_is(&w, 0, "EVAL")) {
        memcpy(text, w.word[1].p, w.word[1].n);
        text[w.word[1].n] = '\0';
        t_bytes_drop(&p->out, size);
    }
    return text;
}

static int t_put(t_peer *p, uint64_t tag)
{
    relet_request q = {0, 0, 0};
    relet_job job;

    memset(&job, 0, sizeof job);
    job.payload = relet_str("payload");
    q.tag = tag;
    return relet_queue_put(p->r, relet_str("q"), &job, 1, 0, &q);
}

TEST a_packed_script_goes_whole_wherever_the_server_lacks_it(void)
{
    const char *text = t_embedded(RLT_SCRIPT_QUEUE_PUT);
    relet_config c = t_config();
    char head[80], sha[41];
    t_peer p;

    c.workers_max = 1;
    rlt_sha1_hex(text, strlen(text), sha);
    sha[40] = '\0';
    sprintf(head, "EVALSHA %s ", sha);
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_put(&p, 1));
    ASSERT_STR_EQ(text, t_took_whole(&p));
    ASSERT_EQ(0, t_put(&p, 2));
    t_move(&p);
    ASSERT_STRN_EQ(head, t_took(&p), strlen(head));
    (void)t_ask(&p, 3, 0, "GET", "k");
    T_TOOK(&p, "GET k");
    t_say(&p, "-ERR x\r\n-NOSCRIPT x\r\n+k\r\n");
    T_TOLD(&p, "error 1 ERR x");
    T_TOLD(&p, "reply 3 \"k\"");
    ASSERT_STR_EQ(text, t_took_whole(&p));
    t_say(&p, "-ERR y\r\n");
    T_TOLD(&p, "error 2 ERR y");
    t_break(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_put(&p, 4));
    ASSERT_STR_EQ(text, t_took_whole(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------ what is sent whole */

TEST a_script_goes_whole_once_and_then_by_its_name(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_add(&p, T_BODY));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_run(&p, 1, 0, 0, "a"));
    ASSERT_EQ(0, t_run(&p, 2, 0, 0, "b"));
    T_TOOK(&p, "EVAL return 1 1 a");
    T_TOOK(&p, "EVALSHA " T_SHA " 1 b");
    t_say(&p, "+x\r\n+y\r\n");
    T_TOLD(&p, "reply 1 \"x\"");
    T_TOLD(&p, "reply 2 \"y\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST each_link_gets_the_script_whole(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    t_break(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_run(&p, 1, 0, 0, "a"));
    T_TOOK(&p, "EVAL return 1 1 a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST script_calls_made_without_a_link_go_out_whole(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_add(&p, T_BODY));
    ASSERT_EQ(0, t_run(&p, 1, 0, 0, "a"));
    ASSERT_EQ(0, t_run(&p, 2, 0, 0, "b"));
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    T_TOOK(&p, "EVAL return 1 1 a");
    T_TOOK(&p, "EVAL return 1 1 b");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST invalid_script_calls_are_refused(void)
{
    relet_span word = relet_str("k");
    t_peer p;

    t_start(&p);
    ASSERT_EQ(RELET_E_REFUSED, t_add(&p, ""));
    ASSERT_EQ(RELET_E_REFUSED, t_run(&p, 1, 0, 0, "k"));
    ASSERT_EQ(0, t_add(&p, T_BODY));
    ASSERT_EQ(RELET_E_REFUSED, t_run(&p, 1, 0, -1, "k"));
    ASSERT_EQ(RELET_E_REFUSED, t_run(&p, 1, 0, 1, "k"));
    ASSERT_EQ(RELET_E_REFUSED,
              relet_script_run(p.r, 0, 2, &word, 1, NULL));
    ASSERT_STR_EQ("more keys than arguments", relet_refusal(p.r));
    ASSERT_EQ(0, relet_script_run(p.r, 0, 0, NULL, 0, NULL));
    ASSERT_EQ(1, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST noscript_makes_its_call_alone_go_out_whole(void)
{
    static const char bytes[] = "*4\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n"
                                "$1\r\n1\r\n$1\r\nb\r\n";
    t_peer p;

    ASSERT(t_known(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_run(&p, 2, 0, 0, "b");
    (void)t_ask(&p, 3, 0, "GET", "l");
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "+k\r\n-NOSCRIPT No matching script.\r\n+l\r\n");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "reply 3 \"l\"");
    T_TOLD(&p, "");
    ASSERT_EQ(strlen(bytes), t_bytes_used(&p.out));
    ASSERT_MEM_EQ(bytes, t_bytes_head(&p.out), strlen(bytes));
    t_say(&p, "+b\r\n");
    T_TOLD(&p, "reply 2 \"b\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST noscript_twice_in_a_row_sends_both_whole_in_order(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    (void)t_run(&p, 1, 0, 0, "a");
    (void)t_run(&p, 2, 0, 0, "b");
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "-NOSCRIPT x\r\n-NOSCRIPT x\r\n");
    T_TOOK(&p, "EVAL return 1 1 a");
    T_TOOK(&p, "EVAL return 1 1 b");
    T_TOOK(&p, "");
    t_say(&p, "+a\r\n+b\r\n");
    T_TOLD(&p, "reply 1 \"a\"");
    T_TOLD(&p, "reply 2 \"b\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* A Lua script passes on the error of a command that it calls. */
TEST noscript_of_a_script_sent_whole_is_its_own_error(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    (void)t_run(&p, 1, 0, 0, "a");
    t_move(&p);
    t_say(&p, "-NOSCRIPT x\r\n");
    t_move(&p);
    t_say(&p, "-NOSCRIPT from inside\r\n");
    T_TOLD(&p, "error 1 NOSCRIPT from inside");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST noscript_of_a_call_that_ended_is_swallowed(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    (void)t_run(&p, 1, 0, 0, "a");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_bytes_clear(&p.out);
    ASSERT_EQ(1, relet_cancel(p.r, 1));
    t_say(&p, "-NOSCRIPT x\r\n+k\r\n");
    T_TOLD(&p, "unsure 1 cancelled");
    T_TOLD(&p, "reply 2 \"k\"");
    T_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the script's number was taken for a number of answers to skip. */
TEST busy_after_noscript_shifts_nothing(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_add(&p, T_BODY));
    ASSERT_EQ(1, t_add(&p, "return 2"));
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_run(&p, 0, 0, 1, "known");
    T_TOLD(&p, "reply 0 \"known\"");
    p.server.scripts = 0;
    (void)t_run(&p, 1, RELET_REPEATABLE, 1, "a");
    p.honest = 0;
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "-NOSCRIPT x\r\n");
    T_TOOK(&p, "EVAL return 2 1 a");
    t_say(&p, "-BUSY x\r\n");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "k");
    p.honest = 1;
    t_pass(&p, 1000);
    T_TOLD(&p, "reply 2 \"k\"");
    T_TOLD(&p, "reply 1 \"a\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_repeated_call_cut_off_after_noscript_shifts_nothing(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_add(&p, T_BODY));
    ASSERT_EQ(1, t_add(&p, "return 2"));
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_run(&p, 0, 0, 1, "known");
    T_TOLD(&p, "reply 0 \"known\"");
    p.honest = 0;
    (void)t_run(&p, 1, RELET_REPEATABLE, 1, "a");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "-NOSCRIPT x\r\n");
    t_move(&p);
    t_break(&p);
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 2 \"k\"");
    T_TOLD(&p, "reply 1 \"a\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_script_call_that_is_repeatable_is_repeated(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    p.honest = 1;
    p.server.busy = 2;
    (void)t_run(&p, 1, RELET_REPEATABLE, 0, "a");
    t_pass(&p, 1000);
    T_TOLD(&p, "reply 1 \"a\"");
    p.server.busy = 1;
    (void)t_run(&p, 2, 0, 0, "a");
    T_TOLD(&p, "error 2 BUSY Redis is busy running a script.");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_unsent_call_survives_a_server_that_forgot_the_script(void)
{
    t_peer p;

    ASSERT(t_known(&p));
    p.accept = 0;
    (void)t_run(&p, 1, 0, 0, "a");
    t_move(&p);
    t_break(&p);
    p.accept = (size_t)-1;
    p.server.scripts = 0;
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 1 \"a\"");
    ASSERT_EQ(1, p.server.scripts);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST without_room_for_the_whole_the_error_is_told(void)
{
    static char body[900];
    relet_config c = t_config();
    char big[600];
    t_peer p;

    c.output_max = 1024;
    memset(body, '-', sizeof body - 1);
    memset(big, 'x', sizeof big);
    big[500] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT_EQ(0, t_add(&p, body));
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_run(&p, 0, 0, 0, "k");
    T_TOLD(&p, "reply 0 \"k\"");
    p.honest = 0;
    (void)t_run(&p, 1, 0, 0, "k");
    (void)t_ask(&p, 2, 0, "ECHO", big);
    t_move(&p);
    t_say(&p, "-NOSCRIPT x\r\n+y\r\n");
    T_TOLD(&p, "error 1 NOSCRIPT x");
    T_TOLD(&p, "reply 2 \"y\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_cached_call_goes_whole_behind_its_prefix(void)
{
    relet_config c = t_config();
    t_peer p;

    c.tracking = RELET_TRACK_OPTIN;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_make_known(&p));
    (void)t_run(&p, 1, RELET_CACHED, 0, "a");
    T_TOOK(&p, "CLIENT CACHING YES");
    T_TOOK(&p, "EVAL return 1 1 a");
    t_say(&p, "+OK\r\n+a\r\n");
    T_TOLD(&p, "reply 1 \"a\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(script)
{
    RUN_TEST(the_same_body_has_one_number);
    RUN_TEST(a_new_link_is_not_thought_to_know_any_script);
    RUN_TEST(an_evalsha_becomes_the_eval_that_does_the_same);
    RUN_TEST(each_packed_script_is_the_text_of_its_file);
    RUN_TEST(no_byte_is_written_behind_the_announced_length);
    RUN_TEST(a_packed_script_goes_whole_wherever_the_server_lacks_it);
    RUN_TEST(a_script_goes_whole_once_and_then_by_its_name);
    RUN_TEST(each_link_gets_the_script_whole);
    RUN_TEST(script_calls_made_without_a_link_go_out_whole);
    RUN_TEST(invalid_script_calls_are_refused);
    RUN_TEST(noscript_makes_its_call_alone_go_out_whole);
    RUN_TEST(noscript_twice_in_a_row_sends_both_whole_in_order);
    RUN_TEST(noscript_of_a_script_sent_whole_is_its_own_error);
    RUN_TEST(noscript_of_a_call_that_ended_is_swallowed);
    RUN_TEST(busy_after_noscript_shifts_nothing);
    RUN_TEST(a_repeated_call_cut_off_after_noscript_shifts_nothing);
    RUN_TEST(a_busy_script_call_that_is_repeatable_is_repeated);
    RUN_TEST(an_unsent_call_survives_a_server_that_forgot_the_script);
    RUN_TEST(without_room_for_the_whole_the_error_is_told);
    RUN_TEST(a_cached_call_goes_whole_behind_its_prefix);
}

T_MAIN(script)
