/* SPDX-License-Identifier: MIT
 *
 * command_rules.c - commands that may not go over a shared link, and why.
 *
 * Each of these commands changes what later answers mean, or whether any come,
 * or leaves a state on the link that the next link would not have. */
#include "command_rules.h"

#include "text.h"

#define COMMAND_RULES_WISH                                                     \
    "is answered by pushes, not by a reply: use relet_subscribe and "          \
    "relet_unsubscribe"
#define COMMAND_RULES_UNIT                                                     \
    "must not be torn apart by others: use relet_transaction"
#define COMMAND_RULES_STREAM "turns the link into a stream that is no reply"

typedef struct command_rules_rule {
    const char *word, *second; /* second NULL: any                           */
    const char *text;          /* NULL: allowed, listed for its effect       */
    rlt_effect effect;
} command_rules_rule;

#define COMMAND_RULES_NO(word, second, text) \
    {word, second, RLT_TEXT(text), RLT_EFFECT_NONE}

/* Sorted by the length of the word, so that most commands are compared with no
 * rule at all. */
static const command_rules_rule command_rules_rules[] = {
    COMMAND_RULES_NO("AUTH", NULL,
                     "AUTH holds for one link: use relet_credentials"),
    COMMAND_RULES_NO("EXEC", NULL, "EXEC " COMMAND_RULES_UNIT),
    COMMAND_RULES_NO("QUIT", NULL, "QUIT closes the link: use relet_stop"),
    COMMAND_RULES_NO("SYNC", NULL, "SYNC " COMMAND_RULES_STREAM),
    COMMAND_RULES_NO("HELLO", NULL,
                     "HELLO changes the protocol, which is the client's"),
    COMMAND_RULES_NO("MULTI", NULL, "MULTI " COMMAND_RULES_UNIT),
    COMMAND_RULES_NO("PSYNC", NULL, "PSYNC " COMMAND_RULES_STREAM),
    COMMAND_RULES_NO("RESET", NULL, "RESET undoes the handshake"),
    {"WATCH", NULL, RLT_HAS_WATCH ? NULL : "", RLT_EFFECT_WATCH},
    COMMAND_RULES_NO("CLIENT", "REPLY",
                     "CLIENT REPLY would remove replies that are waited for"),
    COMMAND_RULES_NO("CLIENT", "TRACKING",
                     "CLIENT TRACKING would be lost with the link: set "
                     "tracking in the configuration"),
    COMMAND_RULES_NO("CLIENT", "CACHING",
                     "CLIENT CACHING must stand directly before its read: use "
                     "RELET_CACHED"),
    COMMAND_RULES_NO("SELECT", NULL,
                     "SELECT would be lost with the link: set db in the "
                     "configuration"),
    COMMAND_RULES_NO("DISCARD", NULL, "DISCARD " COMMAND_RULES_UNIT),
    COMMAND_RULES_NO("MONITOR", NULL, "MONITOR " COMMAND_RULES_STREAM),
    {"UNWATCH", NULL, NULL, RLT_EFFECT_UNWATCH},
    COMMAND_RULES_NO("REPLCONF", NULL,
                     "REPLCONF is for replicas, and not always answered"),
    COMMAND_RULES_NO("SUBSCRIBE", NULL, "SUBSCRIBE " COMMAND_RULES_WISH),
    COMMAND_RULES_NO("PSUBSCRIBE", NULL, "PSUBSCRIBE " COMMAND_RULES_WISH),
    COMMAND_RULES_NO("SSUBSCRIBE", NULL, "SSUBSCRIBE " COMMAND_RULES_WISH),
    COMMAND_RULES_NO("UNSUBSCRIBE", NULL, "UNSUBSCRIBE " COMMAND_RULES_WISH),
    COMMAND_RULES_NO("PUNSUBSCRIBE", NULL, "PUNSUBSCRIBE " COMMAND_RULES_WISH),
    COMMAND_RULES_NO("SUNSUBSCRIBE", NULL, "SUNSUBSCRIBE " COMMAND_RULES_WISH)};

#define COMMAND_RULES_RULES                                                    \
    (sizeof command_rules_rules / sizeof command_rules_rules[0])
#define COMMAND_RULES_WORD_MAX 12

/* For each length of a word, the index of the first rule. */
static const uint8_t command_rules_from[COMMAND_RULES_WORD_MAX + 2] = {
    0, 0, 0, 0, 0, 4, 9, 13, 16, 17, 18, 20, 21, 23};

/* Whether the first letter could be that of the word, in either case. */
static int command_rules_begins(relet_span s, const char *word)
{
    return (s.p[0] | 0x20) == (word[0] | 0x20);
}

/* Not inlined, so that most commands need not save the registers that this
 * function uses. */
static RLT_APART const char *command_rules_by_rule(const relet_span *argv,
                                                   size_t argc, int in_unit,
                                                   rlt_effect *effect)
{
    size_t i, n = argv[0].n;

    for (i = command_rules_from[n]; i < command_rules_from[n + 1]; i++) {
        const command_rules_rule *rule = &command_rules_rules[i];

        if (!command_rules_begins(argv[0], rule->word) ||
            !rlt_span_is_nocase(argv[0], rule->word))
            continue;
        if (rule->second &&
            (argc < 2 || !rlt_span_is_nocase(argv[1], rule->second)))
            continue;
        *effect = rule->effect;
        if (RLT_HAS_WATCH && in_unit && rule->effect == RLT_EFFECT_WATCH)
            return RLT_TEXT("WATCH inside a transaction comes too late");
        return rule->text;
    }
    return NULL;
}

RELET_PRIVATE const char *rlt_command_rule(const relet_span *argv, size_t argc,
                                           int in_unit, rlt_effect *effect)
{
    size_t n = argc > 0 ? argv[0].n : 0;

    *effect = RLT_EFFECT_NONE;
    if (n == 0)
        return RLT_TEXT("an empty command is never answered");
    if (n > COMMAND_RULES_WORD_MAX ||
        command_rules_from[n] == command_rules_from[n + 1])
        return NULL;
    return command_rules_by_rule(argv, argc, in_unit, effect);
}
