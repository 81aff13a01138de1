/* SPDX-License-Identifier: MIT
 *
 * queue_move_test.c - the scripts in a hash slot that migrates to another node:
 * each is refused whole or done whole; t_watched says why.
 *
 *   queue_move_test [SOCKET]    the local server, or a real one there
 *
 * A real server in cluster mode that knows a second node puts the hash slot
 * into the state MIGRATING while a script runs. On other servers t_watched
 * makes the script fail where it touches a key that it has emptied. */
#include "queue_rig.h"

static char t_other[50]; /* the id of the second node; "": use t_watched      */
static char t_slot[30];  /* the hash slot of {q}                             */

/* Finds the node other than the one that answers. */
static void t_find_other(void)
{
    char line[400], *node;

    if (strncmp(t_say("CLUSTER NODES"), "-", 1) == 0)
        return;
    for (node = strtok(t_reply, "\n"); node; node = strtok(NULL, "\n"))
        if (sscanf(node, "%398[^\r]", line) == 1 && strlen(line) > 60 &&
            strstr(line, "myself") == NULL)
            sprintf(t_other, "%.40s", line);
    sprintf(t_slot, "%.20s", t_tell("CLUSTER KEYSLOT {q}"));
    t_bare = t_other[0] != '\0';
}

static void t_migrate(int on)
{
    char line[200];

    if (t_other[0] == '\0')
        return;
    sprintf(line, on ? "CLUSTER SETSLOT %s MIGRATING %s"
                     : "CLUSTER SETSLOT %s STABLE", t_slot, t_other);
    if (strcmp(t_tell(line), "OK") != 0)
        abort();
}

/* One job in each place, and one idle worker: job 1 is leased, 2 waits, 3 has a
 * rank, 4 is delayed, 5 is dead, 6 is done. All have the id x, which belongs to
 * the job `owner`. */
static void t_one_in_each(char owner)
{
    static const char *const state[] = {
        "L 99 0 0 0 - W", "W 0 0 0 0 -",    "W 0 0 0 0 -",
        "W 0 0 0 0 -",    "X 0 1 0 0 - W", "D 98 0 0 0 - W"};
    const char *word[] = {"HSET", "{q}:jobs", NULL, NULL, NULL, NULL, NULL};
    char n[2] = "1", field[3], line[60];

    t_fresh(NULL);
    (void)t_say("HSET {q}:jobs version 1 seq 6 fence 99");
    for (; n[0] <= '6'; n[0]++) {
        sprintf(field, "%ss", n);
        word[2] = n;
        word[3] = "+655555550,0,0,1,3;xrme";
        word[4] = field;
        word[5] = state[n[0] - '1'];
        (void)t_ask(word);
    }
    (void)t_say("ZADD {q}:leased 0 1");
    (void)t_say("RPUSH {q}:waiting 2");
    (void)t_say("ZADD {q}:ranked 0 3");
    (void)t_say("ZADD {q}:delayed 0 4");
    (void)t_say("ZADD {q}:dead 0 5");
    (void)t_say("ZADD {q}:done 0 6");
    (void)t_say("ZADD {q}:idle 0 me");
    sprintf(line, "HSET {q}:ids x %c", owner);
    (void)t_say(line);
}

static const char *const t_steps[][14] = {
    {"put", "P", "1", "9", "g", "h", NULL},
    {"put_full", "P", "1", "9", "0,0,0,1,0;x", "a", "3,7,0,1,0;y", "b", NULL},
    {"unique", "P", "1", "t", "5000", "0,0,0,1,0;x", "z", "9", NULL},
    {"unique", "P", "1", "e", "5000", "0,0,0,1,0;x", "z", "9", NULL},
    {"unique", "P", "1", "r", "5000", "0,0,0,1,0;x", "z", "9", NULL},
    {"unique", "P", "1", "d", "5000", "0,0,0,1,0;x", "z", "9", NULL},
    {"promote", "9", NULL},
    {"claim", "V", "1", "60000", "1", "1048576", NULL},
    {"claim", "V", "1", "60000", "9", "1048576", NULL},
    {"rank", "9", NULL},
    {"claim_type", "V", "1", "60000", "9", "1048576", "", "-inf", NULL},
    {"done_plain", "W", "1", "1", "99", NULL},
    {"done_plain", "W", "1", "1", "99", "1", "99", NULL},
    {"done", "W", "1", "1", "99", "0", "r", NULL},
    {"done", "W", "1", "1", "99", "0", "r", "1", "99", "0", "r", NULL},
    {"done", "W", "1", "1", "99", "5000", "r", NULL},
    {"done", "W", "1", "1", "99", "9", "r", "1", "99", "9", "r", NULL},
    {"fail", "W", "1", "1", "99", "r", "5000", "e", NULL},
    {"fail", "W", "1", "1", "99", "x", "0", "e", NULL},
    {"fail", "W", "1", "1", "99", "x", "0", "", "1", "99", "x", "0", "",
     NULL},
    {"release", "1", "99", NULL},
    {"renew", "60000", "86400000", "1", "99", NULL},
    {"progress", "1", "99", "text", NULL},
    {"recall", "W", "1", NULL},
    {"reap", "9", "9", "0", NULL},
    {"reap", "9", "0", "0", NULL},
    {"cancel", "", "1", NULL},
    {"cancel", "", "2", NULL},
    {"cancel", "", "3", NULL},
    {"cancel", "", "4", NULL},
    {"cancel", "x", "", NULL},
    {"replay", "9", "9", "0", NULL},
    {"replay", "9", "9", "0", "5", NULL},
    {"keep", "", "6", "5000", NULL},
    {"repair", "1", "60000", "5000", NULL},
    {"repair", "2", "60000", "5000", NULL},
    {"repair", "5", "60000", "5000", NULL},
    {"repair", "6", "60000", "5000", NULL},
    {"trim", "0", "0", "0", "9", NULL},
    {"trim", "0", "0", "0", "1", NULL},
    {"purge", "a", "9", "1", NULL},
    {"purge", "w", "9", "0", NULL},
    {"purge", "y", "9", "0", NULL},
    {"purge", "x", "9", "0", NULL},
    {"purge", "d", "9", "0", NULL},
    {"purge", "l", "9", "1", NULL},
    {"forget", "", "100", NULL},
    {"forget", "i0", "100", NULL},
    {"forget", "", "100", "3600", NULL},
    {"idle", "me", "1", NULL},
    {"idle", "me", "0", NULL},
    {"idle", "me", "p", NULL},
    {"list", "w", "0", "9", "1100", NULL},
    {"look", "", "1", NULL},
    {"status", NULL}};
#define T_STEPS (sizeof t_steps / sizeof t_steps[0])

static const char *t_step(const char *const *step)
{
    static char said[2000];
    relet_span arg[14];
    size_t n;

    for (n = 0; step[n + 1]; n++)
        arg[n] = t_span(step[n + 1]);
    t_migrate(1);
    sprintf(said, "%.1999s", t_run_spans(step[0], arg, n));
    t_migrate(0);
    return said;
}

/* An answer that begins with a minus is an error unless a digit follows. */
static int t_went_well(const char *name, const char *said)
{
    if (said[0] != '-' || strchr("0123456789", said[1]))
        return 1;
    fprintf(stderr, "%s: %s\n", name, said);
    return 0;
}

TEST a_script_touches_no_key_that_it_has_emptied(void)
{
    static char name[60];
    char owner;
    size_t i;

    for (i = 0; i < T_STEPS; i++)
        for (owner = '1'; owner <= '6'; owner++) {
            const char *said;

            sprintf(name, "%s (%d), x is of %c", t_steps[i][0], (int)i, owner);
            t_one_in_each(owner);
            said = t_step(t_steps[i]);
            ASSERTm(name, t_went_well(name, said));
            ASSERT_EQm(name, NULL, t_sweep(0));
        }
    PASS();
}

/* The same with one key missing from the start. A real Cluster refuses such a
 * script whole; another test shows that. */
TEST an_observed_script_may_find_keys_that_are_missing(void)
{
    static const char *const missing[] = {"waiting", "ranked", "delayed",
                                          "leased",  "done",   "dead",
                                          "idle",    "ids"};
    static char name[60];
    char line[60];
    size_t i, k;

    if (t_other[0])
        SKIP();
    for (i = 0; i < T_STEPS; i++)
        for (k = 0; k < sizeof missing / sizeof missing[0]; k++) {
            const char *said;

            sprintf(name, "%s (%d) without %s", t_steps[i][0], (int)i,
                    missing[k]);
            t_one_in_each('1');
            sprintf(line, "DEL {q}:%s", missing[k]);
            (void)t_say(line);
            said = t_step(t_steps[i]);
            ASSERTm(name, t_went_well(name, said));
        }
    PASS();
}

TEST a_script_whose_key_is_missing_is_refused_whole(void)
{
    static const char *const step[] = {"promote", "9", NULL};
    static char said[100];

    if (t_other[0] == '\0')
        SKIP();
    t_one_in_each('1');
    (void)t_say("DEL {q}:idle");
    sprintf(said, "%.99s", t_step(step));
    ASSERTm(said, strncmp(said, "-ASK ", 5) == 0 ||
                      strncmp(said, "-TRYAGAIN", 9) == 0);
    SAID("[4]", t_tell("ZRANGE {q}:delayed 0 -1"));
    SAID("[2]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("nil", t_tell("HGET {q}:jobs ranks"));
    PASS();
}

/* ------------------------------------------------------------------- leases */

static const char *t_lease(const char *script, size_t keys, const char *a,
                           const char *b, const char *c, const char *d)
{
    static char text[4096], said[100];
    const char *word[12] = {"EVAL", NULL, NULL, "{q}", "{q}:fence",
                            "{q}:sleepers"};
    char path[60];

    sprintf(path, "lua/lease_%s.lua", script);
    if (!t_load(text, sizeof text, path))
        abort();
    word[1] = t_bare ? text : t_watched(text, -1);
    word[2] = keys == 2 ? "2" : "3";
    word[3 + keys] = a;
    word[4 + keys] = b;
    word[5 + keys] = c;
    word[6 + keys] = d;
    word[7 + keys] = d && keys == 3 && strcmp(script, "acquire") == 0 ? "0"
                                                                      : NULL;
    t_migrate(1);
    (void)t_ask(word);
    sprintf(said, "%.99s", t_show());
    t_migrate(0);
    return said;
}

/* A lease of A with the term 1 and the token 7, and one sleeper. */
static void t_leased(const char *sleeper)
{
    char line[60];

    t_fresh(NULL);
    (void)t_say("SET {q} A PX 60000");
    (void)t_say("HSET {q}:fence token 7 owner A term 1");
    sprintf(line, "ZADD {q}:sleepers 1 %s", sleeper);
    (void)t_say(line);
}

TEST a_script_of_a_lease_touches_no_key_that_it_has_emptied(void)
{
    t_leased("B");
    ASSERT_EQ(0, strncmp("[0 7 ", t_lease("acquire", 3, "B", "1", "60000",
                                          "B"), 5));
    SAID("0", t_tell("EXISTS {q}:sleepers")); /* B does not listen */
    t_leased("A");
    ASSERT_EQ(0, strncmp("[1 ", t_lease("acquire", 3, "A", "2", "60000", "A"),
                         3));
    t_leased("B");
    ASSERT_EQ(0, strncmp("[1 7 0 ", t_lease("release", 3, "A", "1", "7", "A"),
                         7));
    t_leased("A");
    ASSERT_EQ(0, strncmp("[1 7 0 ", t_lease("release", 3, "A", "1", "7", "A"),
                         7));
    t_leased("B");
    ASSERT_EQ(0, strncmp("[1 7 ", t_lease("renew", 2, "A", "7", "60000", NULL),
                         5));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv) || !t_load_all())
        return 1;
    t_find_other();
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(a_script_touches_no_key_that_it_has_emptied);
    RUN_TEST(an_observed_script_may_find_keys_that_are_missing);
    RUN_TEST(a_script_whose_key_is_missing_is_refused_whole);
    RUN_TEST(a_script_of_a_lease_touches_no_key_that_it_has_emptied);
    t_close();
    GREATEST_MAIN_END();
}
