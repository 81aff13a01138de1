/* SPDX-License-Identifier: MIT
 *
 * refuse_test.c - tests of the commands that are refused on a shared link, and
 * of the reasons told. */
#include "command_rules.h"

#include "greatest.h"

static const char *t_rule(const char *word, const char *second, int in_unit,
                          rlt_effect *effect)
{
    relet_span argv[2];

    argv[0] = relet_str(word);
    argv[1] = relet_str(second ? second : "");
    return rlt_command_rule(argv, second ? 2 : 1, in_unit, effect);
}

static const char *const t_forbidden[][2] = {
    {"SUBSCRIBE", "a"},    {"PSUBSCRIBE", "a"},   {"SSUBSCRIBE", "a"},
    {"UNSUBSCRIBE", NULL}, {"PUNSUBSCRIBE", "a"}, {"SUNSUBSCRIBE", "a"},
    {"MULTI", NULL},       {"EXEC", NULL},        {"DISCARD", NULL},
    {"HELLO", "3"},        {"AUTH", "p"},         {"SELECT", "1"},
    {"RESET", NULL},       {"QUIT", NULL},        {"MONITOR", NULL},
    {"SYNC", NULL},        {"PSYNC", "?"},        {"REPLCONF", "ACK"},
    {"CLIENT", "REPLY"},   {"CLIENT", "TRACKING"}, {"CLIENT", "CACHING"}};

#define T_FORBIDDEN (sizeof t_forbidden / sizeof t_forbidden[0])

static void t_fold(char *out, const char *text, int how)
{
    for (; *text != '\0'; text++, how >>= 1)
        *out++ = (char)((how & 1) && *text >= 'A' && *text <= 'Z'
                            ? *text | 0x20 : *text);
    *out = '\0';
}

TEST every_forbidden_command_is_refused_in_any_case(void)
{
    char word[16], second[16];
    rlt_effect effect;
    size_t i;
    int how, unit;

    for (i = 0; i < T_FORBIDDEN; i++)
        for (how = 0; how < 4096; how += 91)
            for (unit = 0; unit < 2; unit++) {
                t_fold(word, t_forbidden[i][0], how);
                if (t_forbidden[i][1])
                    t_fold(second, t_forbidden[i][1], how);
                ASSERT(t_rule(word, t_forbidden[i][1] ? second : NULL, unit,
                              &effect) != NULL);
            }
    PASS();
}

TEST a_refusal_names_the_command(void)
{
    rlt_effect effect;
    const char *rule;
    size_t i, n;

    for (i = 0; i < T_FORBIDDEN; i++) {
        n = strlen(t_forbidden[i][0]);
        rule = t_rule(t_forbidden[i][0], t_forbidden[i][1], 0, &effect);
        ASSERT(rule != NULL);
        ASSERT_STRN_EQ(t_forbidden[i][0], rule, n);
        ASSERT_EQ(' ', rule[n]);
        if (strcmp(t_forbidden[i][0], "CLIENT") == 0)
            ASSERT_STRN_EQ(t_forbidden[i][1], rule + n + 1,
                           strlen(t_forbidden[i][1]));
    }
    PASS();
}

TEST a_word_that_only_begins_or_ends_alike_is_allowed(void)
{
    char word[20];
    rlt_effect effect;
    size_t i, n;

    for (i = 0; i < T_FORBIDDEN; i++) {
        n = strlen(t_forbidden[i][0]);
        if (strcmp(t_forbidden[i][0], "CLIENT") == 0)
            continue;
        memcpy(word, t_forbidden[i][0], n + 1);
        word[n - 1] = '\0';
        if (strcmp(word, "EXEC") != 0)
            ASSERT_EQ(NULL, t_rule(word, "x", 0, &effect));
        memcpy(word, t_forbidden[i][0], n);
        memcpy(word + n, "X", 2);
        ASSERT_EQ(NULL, t_rule(word, "x", 0, &effect));
        memcpy(word, t_forbidden[i][0], n + 1);
        word[n / 2] = (char)(word[n / 2] ^ 0x1f);
        ASSERT_EQ(NULL, t_rule(word, "x", 0, &effect));
    }
    PASS();
}

TEST ordinary_commands_are_allowed(void)
{
    static const char *const word[] = {
        "GET", "SET", "PING", "EVAL", "INFO", "BLPOP", "PUBLISH", "SPUBLISH",
        "PUBSUB", "XREADGROUP", "CLUSTER", "READONLY", "ASKING", "WAIT",
        "ZRANGEBYSCORE", "GEORADIUSBYMEMBER_RO", "x"};
    rlt_effect effect;
    size_t i;
    int unit;

    for (i = 0; i < sizeof word / sizeof word[0]; i++)
        for (unit = 0; unit < 2; unit++) {
            ASSERT_EQ(NULL, t_rule(word[i], "k", unit, &effect));
            ASSERT_EQ(RLT_EFFECT_NONE, effect);
        }
    PASS();
}

TEST client_is_refused_by_its_second_word_alone(void)
{
    static const char *const second[] = {"ID", "LIST", "SETNAME", "NO-EVICT",
                                         "TRACKINGINFO", "REPL", ""};
    rlt_effect effect;
    size_t i;

    ASSERT_EQ(NULL, t_rule("CLIENT", NULL, 0, &effect));
    for (i = 0; i < sizeof second / sizeof second[0]; i++)
        ASSERT_EQ(NULL, t_rule("CLIENT", second[i], 0, &effect));
    PASS();
}

TEST an_empty_command_is_refused(void)
{
    rlt_effect effect;

    ASSERT(rlt_command_rule(NULL, 0, 0, &effect) != NULL);
    ASSERT(t_rule("", NULL, 0, &effect) != NULL);
    ASSERT_EQ(RLT_EFFECT_NONE, effect);
    PASS();
}

TEST watch_and_unwatch_have_their_effects(void)
{
    rlt_effect effect;

    ASSERT_EQ(NULL, t_rule("Watch", "k", 0, &effect));
    ASSERT_EQ(RLT_EFFECT_WATCH, effect);
    ASSERT_EQ(NULL, t_rule("unwatch", NULL, 0, &effect));
    ASSERT_EQ(RLT_EFFECT_UNWATCH, effect);
    ASSERT(t_rule("WATCH", "k", 1, &effect) != NULL);
    ASSERT_EQ(NULL, t_rule("UNWATCH", NULL, 1, &effect));
    PASS();
}

static SUITE(refuse)
{
    RUN_TEST(every_forbidden_command_is_refused_in_any_case);
    RUN_TEST(a_refusal_names_the_command);
    RUN_TEST(a_word_that_only_begins_or_ends_alike_is_allowed);
    RUN_TEST(ordinary_commands_are_allowed);
    RUN_TEST(client_is_refused_by_its_second_word_alone);
    RUN_TEST(an_empty_command_is_refused);
    RUN_TEST(watch_and_unwatch_have_their_effects);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(refuse);
    GREATEST_MAIN_END();
}
