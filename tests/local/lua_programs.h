/* SPDX-License-Identifier: MIT
 *
 * lua_programs.h - programs made up from a seed, and those of the corpus.
 *
 * Made-up programs always end: loops have small bounds, functions call only
 * those before them, strings are kept short, and values that are used as
 * sizes are written out. Mostly their types fit; now and then they do not,
 * and the error is a result like any other. */
#ifndef LUA_PROGRAMS_H
#define LUA_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "rand.h"

#define PROGRAM_MAX 32768

typedef struct program {
    char text[PROGRAM_MAX];
    size_t n;
    rlt_rand rand;
    int functions; /* f1 … that may be called                                */
    int depth, loops, in_vararg;
} program;

static int program_pick(program *p, int n)
{
    return (int)(rlt_rand_below(&p->rand, (uint64_t)n));
}

static void program_add(program *p, const char *text)
{
    size_t n = strlen(text);

    if (p->n + n + 1 > PROGRAM_MAX)
        return;
    memcpy(p->text + p->n, text, n + 1);
    p->n += n;
}

static void program_one_of(program *p, const char *const *all, int n)
{
    program_add(p, all[program_pick(p, n)]);
}

#define PROGRAM_ONE_OF(p, all)                                                \
    program_one_of((p), (all), (int)(sizeof(all) / sizeof((all)[0])))

static void program_int(program *p, int from, int to)
{
    char text[16];

    sprintf(text, "%d", from + program_pick(p, to - from + 1));
    program_add(p, text);
}

static void program_number(program *p);
static void program_string(program *p);
static void program_table(program *p);
static void program_any(program *p);
static void program_block(program *p, int statements);

/* f(a, b) with arguments as the letters say: n, s, t, a. */
static void program_call(program *p, const char *name, const char *types)
{
    const char *t;

    program_add(p, name);
    program_add(p, "(");
    for (t = types; *t; t++) {
        if (t != types)
            program_add(p, ", ");
        if (program_pick(p, 40) == 0)
            program_any(p);
        else if (*t == 'n')
            program_number(p);
        else if (*t == 's')
            program_string(p);
        else if (*t == 't')
            program_table(p);
        else if (*t == 'i')
            program_int(p, -3, 6);
        else
            program_any(p);
    }
    program_add(p, ")");
}

static void program_function(program *p)
{
    char name[16];

    if (p->functions == 0) {
        program_add(p, "nil");
        return;
    }
    sprintf(name, "f%d", 1 + program_pick(p, p->functions));
    program_call(p, name, program_pick(p, 2) ? "aa" : "a");
}

static void program_binary(program *p, void (*left)(program *),
                           const char *const *operators, int n,
                           void (*right)(program *))
{
    program_add(p, "(");
    left(p);
    program_one_of(p, operators, n);
    right(p);
    program_add(p, ")");
}

static void program_number_leaf(program *p)
{
    static const char *const all[] = {
        "0",  "1",   "2",  "3",    "-1",   "10",   "0.5",  "1.25", "100",
        "n1", "n2",  "n1", "n2",   "#t1",  "#s1",  "#t2",  "1e3",  "0x1F",
        "-7", "2.5", "a",  "t1.n", "t1[1]", "t2[2]", "1e15", "\"12\"", "-0.1"};

    PROGRAM_ONE_OF(p, all);
}

static void program_number(program *p)
{
    static const char *const operators[] = {" + ", " - ", " * ", " / ",
                                            " % ", "+",   "-",   "*"};

    if (++p->depth > 4 || program_pick(p, 3) == 0) {
        program_number_leaf(p);
    } else {
        switch (program_pick(p, 14)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            program_binary(p, program_number, operators, 8, program_number);
            break;
        case 5:
            program_add(p, "-");
            program_number_leaf(p);
            break;
        case 6:
            program_call(p, "math.floor", "n");
            break;
        case 7:
            program_call(p, "math.max", "nnn");
            break;
        case 8:
            program_call(p, "math.fmod", "nn");
            break;
        case 9:
            program_call(p, "tonumber", "s");
            break;
        case 10:
            program_call(p, "string.len", "s");
            break;
        case 11:
            program_call(p, "math.abs", "n");
            break;
        case 12:
            program_add(p, "(");
            program_number_leaf(p);
            program_add(p, program_pick(p, 2) ? ")^2" : ")^0.5");
            break;
        default:
            program_function(p);
            break;
        }
    }
    p->depth--;
}

static void program_string_leaf(program *p)
{
    static const char *const all[] = {
        "\"\"",       "\"a\"",   "\"abc\"",  "\"hello world\"", "s1",
        "s2",         "s1",      "s2",       "\"12\"",          "\"a.b-c\"",
        "\"x\\0y\"",  "'q'",     "[[long]]", "\"k=v, x=y\"",    "b",
        "\"\\n\\t\"", "ARGV[2]", "KEYS[1]",  "t1.s"};

    PROGRAM_ONE_OF(p, all);
}

static void program_pattern(program *p)
{
    static const char *const all[] = {
        "\"%a+\"",   "\"%d*\"",      "\"(%w)(%w)\"", "\".\"",
        "\"[a-c]+\"", "\"^%s*(.-)%s*$\"", "\"l\"",  "\"()\"",
        "\"%w+=%w+\"", "\"[^,]*\"",  "\"%f[%w]%w\"", "\"(.)%1\"",
        "\"%\"",     "\"[x\"",       "\"a?b?c?\"",   "\".-o\"",
        "\"%p\"",    "\"\"",         "\"%b()\"",     "\"(a\""};

    PROGRAM_ONE_OF(p, all);
}

static void program_replacement(program *p)
{
    static const char *const all[] = {
        "\"<%0>\"", "\"%1\"",  "\"%2\"", "\"\"",
        "\"%%\"",   "{a = 1, l = \"L\", x = false}",
        "function(c) return c .. c end", "function() return nil end",
        "string.upper", "\"z\""};

    PROGRAM_ONE_OF(p, all);
}

static void program_substring(program *p)
{
    program_add(p, "(");
    program_string_leaf(p);
    program_add(p, "):sub(");
    program_int(p, -4, 5);
    program_add(p, ", ");
    program_int(p, -4, 5);
    program_add(p, ")");
}

static void program_matched(program *p)
{
    static const char *const all[] = {"string.match(", "string.find(",
                                      "string.gsub("};
    int which = program_pick(p, 3);

    program_add(p, "(");
    program_add(p, all[which]);
    program_string(p);
    program_add(p, ", ");
    program_pattern(p);
    if (which == 2) {
        program_add(p, ", ");
        program_replacement(p);
    }
    program_add(p, "))");
}

static void program_format(program *p)
{
    static const char *const all[] = {
        "%d",    "%5.2f", "%s", "%-6s|", "%x", "%g", "%q", "%05d", "%+d",
        "%.3s|", "%e",    "%c", "%i",    "%%", "%y", "%.14g"};

    program_add(p, "string.format(\"");
    PROGRAM_ONE_OF(p, all);
    program_add(p, " ");
    PROGRAM_ONE_OF(p, all);
    program_add(p, "\", ");
    if (program_pick(p, 2))
        program_number(p);
    else
        program_string(p);
    program_add(p, ", ");
    program_number(p);
    program_add(p, ")");
}

static void program_string(program *p)
{
    static const char *const concat[] = {" .. "};

    if (++p->depth > 4 || program_pick(p, 3) == 0) {
        program_string_leaf(p);
    } else {
        switch (program_pick(p, 12)) {
        case 0:
        case 1:
        case 2:
            program_binary(p, program_string, concat, 1,
                           program_pick(p, 3) ? program_string
                                              : program_number);
            break;
        case 3:
        case 4:
            program_substring(p);
            break;
        case 5:
        case 6:
            program_matched(p);
            break;
        case 7:
            program_format(p);
            break;
        case 8:
            program_call(p, "string.rep", "si");
            break;
        case 9:
            program_call(p, program_pick(p, 2) ? "string.upper"
                                               : "string.reverse", "s");
            break;
        case 10:
            program_call(p, "table.concat", program_pick(p, 2) ? "ts" : "t");
            break;
        default:
            program_call(p, "type", "a");
            break;
        }
    }
    p->depth--;
}

static void program_constructor(program *p)
{
    int n = program_pick(p, 5);
    static const char *const keys[] = {"n = ", "s = ", "[1] = ", "x = ",
                                       "[2.5] = ", "[\"k\"] = "};

    program_add(p, "{");
    while (n-- > 0) {
        if (program_pick(p, 3) == 0)
            PROGRAM_ONE_OF(p, keys);
        program_any(p);
        program_add(p, program_pick(p, 6) ? ", " : "; ");
    }
    if (p->in_vararg && program_pick(p, 3) == 0)
        program_add(p, "...");
    program_add(p, "}");
}

static void program_table(program *p)
{
    if (++p->depth > 3 || program_pick(p, 2))
        program_add(p, program_pick(p, 2) ? "t1" : "t2");
    else
        program_constructor(p);
    p->depth--;
}

static void program_condition(program *p)
{
    static const char *const order[] = {" < ", " <= ", " > ", " >= "};
    static const char *const same[] = {" == ", " ~= "};
    static const char *const both[] = {" and ", " or "};

    if (++p->depth > 5) {
        program_add(p, program_pick(p, 2) ? "true" : "a");
    } else {
        switch (program_pick(p, 7)) {
        case 0:
        case 1:
            program_binary(p, program_number, order, 4, program_number);
            break;
        case 2:
            program_binary(p, program_string, order, 4, program_string);
            break;
        case 3:
            program_binary(p, program_any, same, 2, program_any);
            break;
        case 4:
            program_add(p, "not ");
            program_condition(p);
            break;
        case 5:
            program_binary(p, program_condition, both, 2, program_condition);
            break;
        default:
            program_any(p);
            break;
        }
    }
    p->depth--;
}

static void program_choice(program *p)
{
    program_add(p, "(");
    program_condition(p);
    program_add(p, " and ");
    program_any(p);
    program_add(p, " or ");
    program_any(p);
    program_add(p, ")");
}

static void program_any(program *p)
{
    static const char *const leaves[] = {"nil", "true", "false", "a", "b",
                                         "t1.x", "t2.y.z", "t1[n1]", "ARGV[9]"};

    if (++p->depth > 4) {
        PROGRAM_ONE_OF(p, leaves);
    } else {
        switch (program_pick(p, 9)) {
        case 0:
        case 1:
            program_number(p);
            break;
        case 2:
        case 3:
            program_string(p);
            break;
        case 4:
            program_table(p);
            break;
        case 5:
            program_choice(p);
            break;
        case 6:
            program_condition(p);
            break;
        case 7:
            program_function(p);
            break;
        default:
            PROGRAM_ONE_OF(p, leaves);
            break;
        }
    }
    p->depth--;
}

static void program_assignment(program *p)
{
    static const char *const any[] = {"a", "b", "t1.x", "t2[n2]", "t1[#t1 + 1]",
                                      "t2.y", "t1[s1]", "t2[1]"};

    switch (program_pick(p, 7)) {
    case 0:
    case 1:
        program_add(p, program_pick(p, 2) ? "n1 = " : "n2 = ");
        program_number(p);
        break;
    case 2:
    case 3:
        program_add(p, program_pick(p, 2) ? "s1 = T(" : "s2 = T(");
        program_string(p);
        program_add(p, ")");
        break;
    case 4:
        program_add(p, program_pick(p, 2) ? "t1 = " : "t2 = ");
        program_constructor(p);
        break;
    case 5:
        program_add(p, "a, b = T(");
        program_any(p);
        program_add(p, "), T(");
        program_any(p);
        program_add(p, ")");
        break;
    default:
        PROGRAM_ONE_OF(p, any);
        program_add(p, " = T(");
        program_any(p);
        program_add(p, ")");
        break;
    }
    program_add(p, "\n");
}

static void program_loop(program *p)
{
    p->loops++;
    switch (program_pick(p, 5)) {
    case 0:
        program_add(p, "for i = ");
        program_int(p, -1, 3);
        program_add(p, ", ");
        program_int(p, 0, 4);
        if (program_pick(p, 4) == 0)
            program_add(p, ", 2");
        program_add(p, " do L(i)\n");
        break;
    case 1:
        program_add(p, "for k, v in pairs(");
        program_constructor(p);
        program_add(p, ") do L(k) L(v)\n");
        break;
    case 2:
        program_add(p, "for i, v in ipairs(");
        program_constructor(p);
        program_add(p, ") do L(v)\n");
        break;
    case 3:
        program_add(p, "local c = 0 while c < 3 and ");
        program_condition(p);
        program_add(p, " do c = c + 1\n");
        break;
    default:
        program_add(p, "for w in string.gmatch(");
        program_string(p);
        program_add(p, ", \"[%w]+\") do L(w)\n");
        break;
    }
    program_block(p, 1 + program_pick(p, 2));
    if (program_pick(p, 4) == 0) {
        program_add(p, "if ");
        program_condition(p);
        program_add(p, " then break end\n");
    }
    program_add(p, "end\n");
    p->loops--;
}

static void program_if(program *p)
{
    program_add(p, "if ");
    program_condition(p);
    program_add(p, " then\n");
    program_block(p, 1 + program_pick(p, 2));
    if (program_pick(p, 3) == 0) {
        program_add(p, "elseif ");
        program_condition(p);
        program_add(p, " then\n");
        program_block(p, 1);
    }
    if (program_pick(p, 2)) {
        program_add(p, "else\n");
        program_block(p, 1 + program_pick(p, 2));
    }
    program_add(p, "end\n");
}

static void program_protected(program *p)
{
    int vararg = p->in_vararg;

    p->in_vararg = 0;
    program_add(p, "L(pcall(function()\n");
    program_block(p, 1 + program_pick(p, 3));
    if (program_pick(p, 4) == 0) {
        program_add(p, "error(");
        program_any(p);
        program_add(p, program_pick(p, 3) ? ")\n" : ", 0)\n");
    }
    program_add(p, "return ");
    program_any(p);
    program_add(p, "\nend))\n");
    p->in_vararg = vararg;
}

static void program_library(program *p)
{
    switch (program_pick(p, 7)) {
    case 0:
        program_call(p, "table.insert", "ta");
        break;
    case 1:
        program_add(p, "L(table.remove(t1))");
        break;
    case 2:
        program_add(p, "table.sort({3, 1, 2, n1, 5}");
        program_add(p, program_pick(p, 2) ? ", function(x, y) return x > y end)"
                                          : ")");
        break;
    case 3:
        program_add(p, "L(unpack(");
        program_constructor(p);
        program_add(p, "))");
        break;
    case 4:
        program_add(p, "L(select(");
        program_int(p, -2, 3);
        program_add(p, ", 1, a, ");
        program_any(p);
        program_add(p, "))");
        break;
    case 5:
        program_add(p, "L(redis.pcall(\"echo\", ");
        program_string_leaf(p);
        program_add(p, " .. \"\"))");
        break;
    default:
        program_call(p, "table.insert", "tia");
        break;
    }
    program_add(p, "\n");
}

static void program_statement(program *p)
{
    if (p->n > PROGRAM_MAX / 2 || ++p->depth > 5) {
        program_add(p, "L(1)\n");
        p->depth -= p->n <= PROGRAM_MAX / 2;
        return;
    }
    switch (program_pick(p, 12)) {
    case 0:
    case 1:
        if (p->loops < 2)
            program_loop(p);
        break;
    case 2:
        program_if(p);
        break;
    case 3:
    case 4:
        program_protected(p);
        break;
    case 5:
        program_library(p);
        break;
    case 6:
        program_add(p, "L(");
        program_any(p);
        program_add(p, ")\n");
        break;
    case 7:
        program_add(p, "do local a, s1 = ");
        program_any(p);
        program_add(p, ", T(");
        program_string(p);
        program_add(p, ")\n");
        program_block(p, 1);
        program_add(p, "end\n");
        break;
    default:
        program_assignment(p);
        break;
    }
    p->depth--;
}

static void program_block(program *p, int statements)
{
    while (statements-- > 0)
        program_statement(p);
}

/* Functions share the variables around them. */
static void program_define(program *p)
{
    char line[64];

    p->in_vararg = program_pick(p, 3) == 0;
    sprintf(line, "local function f%d(a%s)\n", p->functions + 1,
            p->in_vararg ? ", ..." : ", c");
    program_add(p, line);
    program_block(p, 1 + program_pick(p, 2));
    program_add(p, "return ");
    if (p->in_vararg && program_pick(p, 2))
        program_add(p, "...");
    else
        program_any(p);
    program_add(p, "\nend\n");
    p->in_vararg = 0;
    p->functions++;
}

/* L notes values: of a table its pairs, in their order. T keeps texts short. */
static void program_make(program *p, uint64_t seed)
{
    int n;

    memset(p, 0, sizeof *p);
    rlt_rand_seed(&p->rand, seed);
    program_add(p,
                "local log, a, b = {}, 1, \"b\"\n"
                "local n1, n2, s1, s2 = 3, -2.5, \"hello\", \"k=v, x=y\"\n"
                "local t1, t2 = {1, 2, 3, n = 7, s = \"str\"}, {\"x\", y = 5}\n"
                "local function T(v)\n"
                "if type(v) == \"string\" and #v > 60 then "
                "return v:sub(1, 60) end return v end\n"
                "local function L(...)\n"
                "for i = 1, select(\"#\", ...) do local v = select(i, ...)\n"
                "if #log > 400 then return end\n"
                "if type(v) == \"table\" then log[#log + 1] = \"{\" .. #v\n"
                "for k, w in pairs(v) do\n"
                "log[#log + 1] = T(tostring(k)) .. \"=\" .. "
                "(type(w) == \"table\" and \"{}\" or T(tostring(w))) end\n"
                "else log[#log + 1] = T(tostring(v)) end end end\n");
    for (n = program_pick(p, 3); n > 0; n--)
        program_define(p);
    program_block(p, 4 + program_pick(p, 8));
    program_add(p, "L(a, b, n1, n2, s1, s2, t1, t2)\nreturn log\n");
}

/* The program behind *at in a corpus, whose programs stand between lines of
 * four minuses; 0 at its end. */
static int program_from_corpus(const char **at, const char *end,
                               const char **text, size_t *n)
{
    static const char mark[] = "\n----\n";
    const char *p = *at;

    if (p >= end)
        return 0;
    *text = p;
    while (end - p >= 6 && memcmp(p, mark, 6) != 0)
        p++;
    *n = (size_t)((end - p >= 6 ? p : end) - *text);
    *at = end - p >= 6 ? p + 6 : end;
    return 1;
}

#endif
