/* SPDX-License-Identifier: MIT
 *
 * queue_cut_test.c - the scripts of a queue on a server: steps that fail, or
 * end in the middle.
 *
 *   queue_cut_test [SOCKET]    the local server, or a real one there
 *
 * The tests move time by setting scores to 0: so no test waits, and the results
 * are the same on every server. */
#include "queue_rig.h"

/* ------------------------------------------------------- what may go wrong */

TEST a_queue_of_another_version_is_left_alone(void)
{
    static const char *const say[][10] = {
        {"put", "P", "1", "0", "a", NULL},
        {"put_full", "P", "1", "0", "0,0,0,0,0;", "a", NULL},
        {"unique", "P", "1", "t", "9", "0,0,0,1,0;x", "a", "0", NULL},
        {"claim", "W", "1", "9", "9", "1048576", NULL},
        {"claim_type", "W", "1", "9", "9", "1048576", "t", "-inf", NULL},
        {"rank", "9", NULL},
        {"done_plain", "W", "1", "1", "1", NULL},
        {"done", "W", "1", "1", "1", "0", "", NULL},
        {"fail", "W", "1", "1", "1", "r", "0", "", NULL},
        {"release", "1", "1", NULL},
        {"renew", "9", "9", "1", "1", NULL},
        {"recall", "W", "1", NULL},
        {"progress", "1", "1", "x", NULL},
        {"promote", "9", NULL},
        {"reap", "9", "9", "9", NULL},
        {"replay", "9", "9", "0", NULL},
        {"repair", "1", "9", "9", NULL},
        {"cancel", "", "1", NULL},
        {"trim", "0", "0", "0", "9", NULL},
        {"purge", "a", "9", "1", NULL},
        {"forget", "", "9", NULL},
        {"list", "w", "0", "9", "1100", NULL},
        {"keep", "", "1", "9", NULL},
        {"look", "", "1", NULL}};
    relet_span arg[10];
    size_t i, n;

    (void)t_say("HSET {q}:jobs version 2");
    for (i = 0; i < sizeof say / sizeof say[0]; i++) {
        for (n = 0; say[i][n + 1] != NULL; n++)
            arg[n] = t_span(say[i][n + 1]);
        SAID("-VERSION 2", t_run_spans(say[i][0], arg, n));
    }
    SAID("1", t_tell("DBSIZE"));
    SAID("1", t_tell("HLEN {q}:jobs"));
    PASS();
}

TEST work_goes_on_when_memory_is_full(void)
{
    t_put(3);
    (void)t_say("CONFIG SET maxmemory 1");
    ASSERT(strncmp(RUN("put", "P.1", "2", "0", "x", NULL), "-OOM", 4) == 0);
    ASSERT(strncmp(t_put_full("1", "0,0,0,0,0;", "x"), "-OOM", 4) == 0);
    ASSERT(strncmp(t_unique("1", "t", "0,0,0,1,0;x"), "-OOM", 4) == 0);
    (void)t_claim("W", "1", "3");
    SAID("1 2 3", t_brought());
    SAID("d", RUN("done_plain", "W", "1", "1", t_token("1"), NULL));
    SAID("d", RUN("fail", "W", "1", "2", t_token("2"), "r", "0", "e", NULL));
    SAID("d", RUN("release", "3", t_token("3"), NULL));
    ASSERT_EQ(NULL, t_drain());
    PASS();
}

static void t_put_thousand(void)
{
    relet_span arg[103];
    char op[20];
    int i, k;

    arg[0] = t_span("P.1");
    arg[2] = t_span("0");
    for (k = 3; k < 103; k++)
        arg[k] = t_span("x");
    for (i = 0; i < 10; i++) {
        sprintf(op, "%d", i + 100);
        arg[1] = t_span(op);
        (void)t_run_spans("put", arg, 103);
    }
}

/* A script cannot pass on more than some 8000 values at a time. */
TEST a_step_with_a_thousand_jobs_works(void)
{
    t_put_thousand();
    (void)RUN("claim", "W", "1", "-5", "1000", "1048576", NULL);
    SAID("1000", t_tell("ZCARD {q}:leased"));
    SAID("[0 1000 -1]", t_reap("1000", "0", "0"));
    SAID("[1000 0 0 1]", RUN("replay", "9", "1000", "0", NULL));
    SAID("[1000 -1]", RUN("promote", "1000", NULL));
    (void)RUN("claim", "W", "2", "-5", "1000", "1048576", NULL);
    SAID("[1000 0 -1]", t_reap("1000", "9", "0"));
    SAID("[1000 0]", RUN("rank", "1000", NULL));
    SAID("1000", t_tell("ZCARD {q}:ranked"));
    (void)RUN("claim", "W", "4", "-5", "1000", "1048576", NULL);
    (void)t_reap("1000", "0", "0");
    SAID("[1000 0]", RUN("trim", "0", "0", "0", "1000", NULL));
    SAID("0", t_tell("HEXISTS {q}:jobs 1000"));
    t_fresh(NULL);
    t_put_thousand();
    (void)RUN("list", "w", "0", "1000", "1100", NULL);
    ASSERT_EQ(1000, t_nth(0));
    SAID("[1000 1]", RUN("purge", "a", "1000", "0", NULL));
    SAID("0", t_tell("HEXISTS {q}:jobs 1000"));
    PASS();
}

/* --------------------------------------------------------------- cut anywhere
 *
 * There are jobs in every place. For each k, a step ends in an error after k of
 * its commands; then the step is repeated, as a client repeats it; then all
 * jobs are finished. */

static void t_everywhere(void)
{
    t_fresh(NULL);
    t_put(7);
    (void)RUN("put_full", "P.8", "1", "0", "0,0,1,1,3;Tuk5 ", "u",
              "4,0,0,1,0;v",
              "v", "2,3600000,0,1,0;w", "w", NULL); /* 8, 9, 10 */
    (void)t_claim("W", "1", "5");
    (void)RUN("fail", "W", "1", "4", t_token("4"), "x", "0", "no", "5",
              t_token("5"), "r", "0", "no", NULL);
}

static const char *const t_steps[][12] = {
    {"put", "P.2", "5", "0", "g", "h", NULL},
    {"put_full", "P.2", "5", "0", "0,0,0,1,0;z", "z", "3,7,0,1,0;y", "y", NULL},
    {"unique", "P.2", "5", "t", "5000", "0,0,0,1,0;z", "z", "0", NULL},
    {"unique", "P.2", "5", "e", "5000", "0,0,0,1,0;u", "z", "0", NULL},
    {"unique", "P.2", "5", "r", "5000", "0,0,0,1,0;u", "z", "0", NULL},
    {"unique", "P.2", "5", "d", "5000", "0,0,0,1,0;w", "z", "0", NULL},
    {"promote", "9", NULL},
    {"claim", "V", "2", "60000", "2", "1048576", NULL},
    {"claim", "V", "2", "60000", "9", "1048576", NULL},
    {"rank", "5", NULL},
    {"claim_type", "V", "2", "60000", "2", "1048576", "T", "-inf", NULL},
    {"done_plain", "W", "2", "1", "#1", "2", "#2", NULL},
    {"done", "W.1", "3", "1", "#1", "0", "r", NULL},
    {"done", "W.1", "3", "1", "#1", "5000", "r", NULL},
    {"fail", "W.1", "3", "1", "#1", "r", "5000", "r", NULL},
    {"fail", "W.1", "3", "1", "#1", "x", "5000", "r", NULL},
    {"release", "1", "#1", "3", "#3", NULL},
    {"renew", "60000", "86400000", "1", "#1", "3", "#3", NULL},
    {"progress", "1", "#1", "text", NULL},
    {"reap", "9", "9", "0", NULL},
    {"reap", "9", "0", "0", NULL},
    {"cancel", "", "6", NULL},
    {"cancel", "u", "", NULL},
    {"cancel", "", "1", NULL},
    {"replay", "9", "9", "0", NULL},
    {"trim", "0", "0", "0", "9", NULL},
    {"purge", "a", "5", "1", NULL},
    {"forget", "", "100", NULL},
    {"forget", "", "100", "3600", NULL},
    {"idle", "me", "1", NULL}};

/* #3 stands for the token of job 3. */
static const char *t_step(const char *const *step)
{
    relet_span arg[12];
    char token[12][30];
    size_t n;
    int cut = t_cut;

    t_cut = -1;
    for (n = 0; step[n + 1] != NULL; n++) {
        arg[n] = t_span(step[n + 1]);
        if (step[n + 1][0] == '#') {
            strcpy(token[n], t_token(step[n + 1] + 1));
            arg[n] = t_span(token[n]);
        }
    }
    t_cut = cut;
    (void)t_run_spans(step[0], arg, n);
    t_cut = -1;
    return t_shown;
}

static void t_prepare(const char *name)
{
    t_everywhere();
    if (strcmp(name, "reap") == 0)
        t_all_due("leased");
    if (strcmp(name, "promote") == 0)
        t_all_due("delayed");
    if (strcmp(name, "claim_type") == 0) {
        t_promote();
        (void)RUN("rank", "100", NULL);
    }
}

TEST a_step_that_is_cut_anywhere_loses_and_doubles_nothing(void)
{
    size_t i;
    int k, cuts = 0, records;
    static char name[60];

    for (i = 0; i < sizeof t_steps / sizeof t_steps[0]; i++) {
        t_prepare(t_steps[i][0]);
        (void)t_step(t_steps[i]);
        records = t_records();
        for (k = 0;; k++) {
            const char *said;
            int whole;

            sprintf(name, "%s (%d) cut after %d", t_steps[i][0], (int)i, k);
            t_prepare(t_steps[i][0]);
            ASSERT_EQm(name, NULL, t_sweep(0));
            t_cut = k;
            said = t_step(t_steps[i]);
            whole = !(said[0] == '-' && strstr(said, "cut"));
            ASSERTm(name, !whole || said[0] != '-' ||
                              strchr("0123456789", said[1]));
            ASSERT_EQm(name, NULL, t_sweep(0));
            said = t_step(t_steps[i]);
            ASSERTm(name, said[0] != '-' ||
                              strchr("0123456789", said[1]));
            ASSERT_EQm(name, NULL, t_sweep(0));
            if (strcmp(t_steps[i][0], "purge") != 0) /* it purges five more */
                ASSERT_EQm(name, records, t_records());
            said = t_drain();
            if (said)
                fprintf(stderr, "%s: %s\n", name, said);
            ASSERT_EQm(name, NULL, said);
            cuts++;
            if (whole)
                break;
        }
    }
    ASSERT(cuts > 150);
    PASS();
}

/* A command that breaks a job, the job's number, and the repair's answer. */
static const char *const t_breaks[][3] = {
    {"LREM {q}:waiting 0 6", "6", "y"},
    {"ZREM {q}:delayed 10,2", "10", "y"},
    {"ZREM {q}:leased 1", "1", "l"},
    {"ZREM {q}:dead 4", "4", "x"},
    {"HSET {q}:jobs 3s odd", "3", "s"},
    {"HSET {q}:jobs 6s W", "6", "s"},
    {"HSET {q}:jobs 77 .1234x", "77", "hy"},
    {"HDEL {q}:jobs 2", "2", "g"}};

TEST a_repair_that_is_cut_anywhere_is_done_by_the_next_one(void)
{
    static char name[60];
    size_t i;
    int k, whole;

    for (i = 0; i < sizeof t_breaks / sizeof t_breaks[0]; i++)
        for (k = 0, whole = 0; !whole; k++) {
            const char *n = t_breaks[i][1];

            sprintf(name, "%s, cut after %d", t_breaks[i][0], k);
            t_everywhere();
            (void)t_say(t_breaks[i][0]);
            t_cut = k;
            whole = strstr(RUN("repair", n, "60000", "5000", NULL), "cut") ==
                    NULL;
            t_cut = -1;
            if (whole)
                ASSERT_STR_EQm(name, t_breaks[i][2], t_shown);
            (void)RUN("repair", n, "60000", "5000", NULL);
            ASSERT_EQm(name, NULL, t_sweep(0));
            ASSERT_STR_EQm(name, "", RUN("repair", n, "60000", "5000", NULL));
            ASSERT_EQm(name, NULL, t_drain());
        }
    PASS();
}

/* A claim of more than sixteen jobs takes another path: it adds a long member
 * to the set of leased jobs and removes the member again. */
TEST a_claim_of_many_that_is_cut_anywhere_loses_and_doubles_nothing(void)
{
    static char name[40];
    int k, again, whole = 0;

    for (k = 0; !whole; k++)
        for (again = 0; again < 2; again++) {
            sprintf(name, "claim of 20 cut after %d", k);
            t_fresh(NULL);
            t_put(20);
            t_cut = k;
            whole = t_claim("V", "2", "20")[0] != '-';
            t_cut = -1;
            ASSERT_EQm(name, NULL, t_sweep(0));
            if (again)
                (void)t_claim("V", "2", "20");
            ASSERT_EQm(name, NULL, t_sweep(0));
            ASSERT_EQm(name, 20, t_records());
            ASSERT_EQm(name, NULL, t_drain());
            ASSERT_STR_EQm(name, "0", t_tell("EXISTS {q}:leased"));
        }
    ASSERT_EQ(9, k); /* it has eight commands */
    PASS();
}

/* The due time was once written last: after a cut, no worker knew when the job
 * was due, and none promoted it. Found by the simulator. */
TEST a_failed_job_that_waits_is_known_to_be_due_wherever_it_is_cut(void)
{
    static char name[60];
    int k, whole = 0, waits = 0;

    for (k = 0; !whole; k++) {
        sprintf(name, "fail cut after %d", k);
        t_fresh(NULL);
        t_put(1);
        (void)t_claim("W", "1", "1");
        t_cut = k;
        whole = strstr(RUN("fail", "W", "1", "1", t_token("1"), "r", "5000",
                           "no", NULL),
                       "cut") == NULL;
        t_cut = -1;
        if (t_tell("HGET {q}:jobs 1s")[0] != 'W')
            continue;
        waits++;
        ASSERT_STR_EQm(name, "1", t_tell("ZCARD {q}:delayed"));
        ASSERTm(name, atof(t_tell("HGET {q}:jobs due")) > 0);
    }
    ASSERT(waits >= 2);
    PASS();
}

/* One key holds a string while the step is tried; then it is as it was. */
TEST a_key_of_another_type_loses_and_doubles_nothing(void)
{
    static char key[10][24];
    static char name[300]; /* greatest prints it later */
    char line[300];
    const char *said;
    size_t i, k, keys;
    int refused = 0;

    for (i = 0; i < sizeof t_steps / sizeof t_steps[0]; i++) {
        keys = t_keys(t_named(t_steps[i][0]), key);
        for (k = 0; k < keys; k++) {
            sprintf(name, "%s (%d) without %s", t_steps[i][0], (int)i, key[k]);
            t_prepare(t_steps[i][0]);
            sprintf(line, "RENAME %s {q}:kept", key[k]);
            (void)t_say(line);
            sprintf(line, "SET %s text", key[k]);
            (void)t_say(line);
            refused += t_step(t_steps[i])[0] == '-';
            sprintf(line, "DEL %s", key[k]);
            (void)t_say(line);
            sprintf(line, "RENAME {q}:kept %s", key[k]);
            (void)t_say(line);
            ASSERT_EQm(name, NULL, t_sweep(0));
            (void)t_step(t_steps[i]);
            said = t_drain();
            if (said)
                fprintf(stderr, "%s: %s\n", name, said);
            ASSERT_EQm(name, NULL, said);
        }
    }
    ASSERT(refused > 60);
    PASS();
}

TEST each_queue_script_is_short_and_begins_with_its_purpose(void)
{
    size_t i;

    for (i = 0; i < T_SCRIPTS; i++)
        ASSERT_EQm(t_scripts[i].name, NULL,
                   t_form(t_scripts[i].text, t_scripts[i].oom));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv) || !t_load_all())
        return 1;
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(a_queue_of_another_version_is_left_alone);
    RUN_TEST(work_goes_on_when_memory_is_full);
    RUN_TEST(a_step_with_a_thousand_jobs_works);
    RUN_TEST(a_step_that_is_cut_anywhere_loses_and_doubles_nothing);
    RUN_TEST(a_repair_that_is_cut_anywhere_is_done_by_the_next_one);
    RUN_TEST(a_claim_of_many_that_is_cut_anywhere_loses_and_doubles_nothing);
    RUN_TEST(a_failed_job_that_waits_is_known_to_be_due_wherever_it_is_cut);
    RUN_TEST(a_key_of_another_type_loses_and_doubles_nothing);
    RUN_TEST(each_queue_script_is_short_and_begins_with_its_purpose);
    t_close();
    GREATEST_MAIN_END();
}
