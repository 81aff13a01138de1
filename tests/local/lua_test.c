/* SPDX-License-Identifier: MIT
 *
 * lua_test.c - scripts: what they return, how they fail, what they may use.
 *
 * That they do as real servers do is shown by lua_model.c, on the programs of
 * tests/lua/corpus.txt and on made-up ones. Here is what a real server cannot
 * show: limits, memory, numbers beside those of the C library. */
#include "greatest.h"
#include "lua_programs.h"
#include "lua_rig.h"

#define T_CORPUS "tests/lua/corpus.txt"
#define T_MANY_ARGUMENTS                                                      \
    "local t = {} for i = 1, 7000 do t[i] = 1 end\n"                          \
    "local function g(...) return g(1, ...) end return g(unpack(t))"
#define T_BUILDS 4000 /* random numbers per claim                            */

static relet_span t_eval(lua_rig *r, const char *source)
{
    return lua_rig_eval(r, relet_str(source));
}

/* The reply to a script, in one line for comparison: "$3|abc|". */
static const char *t_reply(int resp, const char *source)
{
    static char line[2048];
    lua_rig r;
    relet_span s;
    size_t i, n = 0;

    if (!lua_rig_open(&r, -1))
        return "no interpreter";
    r.resp = resp;
    s = t_eval(&r, source);
    for (i = 0; i < s.n && n + 1 < sizeof line; i++)
        if (s.p[i] != '\r')
            line[n++] = s.p[i] == '\n' ? '|' : s.p[i];
    line[n] = 0;
    lua_rig_close(&r);
    return r.held == 0 ? line : "leaked";
}

/* The sentence of an error, up to where the server speaks. */
static const char *t_error(const char *source)
{
    static char text[2048];
    char *end;

    strcpy(text, t_reply(2, source));
    end = strstr(text, " script: ");
    if (end)
        *end = 0;
    return text;
}

#define T_REPLIES(expected, source) ASSERT_STR_EQ(expected, t_reply(2, source))
#define T_FAILS(expected, source) ASSERT_STR_EQ(expected, t_error(source))

/* ---------------------------------------------------------------- numbers */

static double t_random(rlt_rand *rand)
{
    uint64_t u = rlt_rand_next(rand);
    double v;

    switch (u % 4) {
    case 0:
        u = rlt_rand_next(rand);
        memcpy(&v, &u, sizeof v);
        return v == v ? v : 1;
    case 1:
        return (double)(int64_t)rlt_rand_next(rand) /
               (double)((uint64_t)1 << rlt_rand_below(rand, 64));
    case 2:
        return (double)rlt_rand_below(rand, 100000) / 1000;
    default:
        return (double)rlt_rand_below(rand, 2000) / 8 - 100;
    }
}

TEST a_number_is_shown_as_the_c_library_shows_it(void)
{
    char expected[64], text[RLT_LUANUM_TEXT + 1];
    rlt_rand rand;
    double v;
    int i;

    rlt_rand_seed(&rand, 1);
    for (i = 0; i < T_BUILDS; i++) {
        v = t_random(&rand);
        sprintf(expected, "%.14g", v);
        text[rlt_luanum_text(text, v)] = 0;
        ASSERT_STR_EQ(expected, text);
        sprintf(expected, "%.17g", v);
        text[rlt_luanum_exact(text, v)] = 0;
        ASSERT_STR_EQ(expected, text);
    }
    PASS();
}

static void t_directive(const rlt_luanum_spec *spec, char *out)
{
    size_t n = 0;

    out[n++] = '%';
    if (spec->left)
        out[n++] = '-';
    if (spec->plus)
        out[n++] = '+';
    if (spec->blank)
        out[n++] = ' ';
    if (spec->zero)
        out[n++] = '0';
    if (spec->width > 0)
        n += (size_t)sprintf(out + n, "%d", spec->width);
    if (spec->precision >= 0)
        n += (size_t)sprintf(out + n, ".%d", spec->precision);
    out[n++] = spec->conversion;
    out[n] = 0;
}

static rlt_luanum_spec t_spec(rlt_rand *rand, const char *conversions)
{
    rlt_luanum_spec spec;

    memset(&spec, 0, sizeof spec);
    spec.conversion = conversions[rlt_rand_below(rand, strlen(conversions))];
    spec.left = rlt_rand_below(rand, 4) == 0;
    spec.plus = rlt_rand_below(rand, 4) == 0;
    spec.blank = rlt_rand_below(rand, 4) == 0;
    spec.zero = rlt_rand_below(rand, 4) == 0;
    spec.width = (int)rlt_rand_below(rand, 40);
    spec.precision =
        (int)rlt_rand_below(rand, rlt_rand_below(rand, 4) ? 20 : 100) - 1;
    return spec;
}

/* glibc and musl agree; an old one that rounds in another way would show. */
TEST a_format_of_a_double_is_the_c_librarys(void)
{
    char expected[RLT_LUANUM_FORMAT + 1], text[RLT_LUANUM_FORMAT + 1];
    char directive[32];
    rlt_luanum_spec spec;
    rlt_rand rand;
    double v;
    int i;

    rlt_rand_seed(&rand, 2);
    for (i = 0; i < T_BUILDS; i++) {
        v = t_random(&rand);
        spec = t_spec(&rand, "eEfgG");
        t_directive(&spec, directive);
        sprintf(expected, directive, v);
        text[rlt_luanum_format(text, v, &spec)] = 0;
        ASSERT_STR_EQm(directive, expected, text);
    }
    PASS();
}

TEST a_format_of_an_integer_is_the_c_librarys(void)
{
    char expected[RLT_LUANUM_FORMAT + 1], text[RLT_LUANUM_FORMAT + 1];
    char directive[32];
    rlt_luanum_spec spec;
    rlt_rand rand;
    int i, v, signs;

    rlt_rand_seed(&rand, 3);
    for (i = 0; i < T_BUILDS; i++) {
        v = (int)rlt_rand_below(&rand, 2000) - 1000;
        spec = t_spec(&rand, "dxXo");
        signs = spec.conversion == 'd';
        if (!signs)
            spec.plus = spec.blank = 0;
        if (spec.precision >= 0)
            spec.zero = 0;
        t_directive(&spec, directive);
        sprintf(expected, directive, signs ? v : v + 1000);
        text[rlt_luanum_format_int(
            text, signs ? (uint64_t)(v < 0 ? -v : v) : (uint64_t)(v + 1000),
            signs && v < 0, &spec)] = 0;
        ASSERT_STR_EQm(directive, expected, text);
    }
    PASS();
}

TEST a_printed_number_is_read_back_unchanged(void)
{
    char text[64];
    rlt_rand rand;
    double v, back;
    int i;

    rlt_rand_seed(&rand, 4);
    for (i = 0; i < T_BUILDS; i++) {
        v = t_random(&rand);
        sprintf(text, i % 2 ? " %.17g\t" : "%a", v);
        back = 0;
        ASSERT(rlt_luanum_read(relet_str(text), &back));
        ASSERT(memcmp(&v, &back, sizeof v) == 0);
    }
    PASS();
}

TEST a_square_root_is_the_nearest_double(void)
{
    rlt_rand rand;
    double v, root;
    int i;

    rlt_rand_seed(&rand, 5);
    for (i = 0; i < T_BUILDS; i++) {
        v = (double)rlt_rand_below(&rand, (uint64_t)1 << 26);
        root = rlt_luanum_sqrt(v * v);
        ASSERT(memcmp(&v, &root, sizeof v) == 0);
    }
    T_REPLIES("*3|$15|1.4142135623731|$4|-nan|$3|inf|",
              "return {tostring(math.sqrt(2)), tostring(math.sqrt(-1)), "
              "tostring(math.sqrt(1/0))}");
    PASS();
}

TEST a_power_of_whole_numbers_is_exact(void)
{
    double expected, power;
    int base, exponent;

    for (base = 2; base < 40; base++) {
        expected = 1;
        for (exponent = 0; expected < 9007199254740992.0; exponent++) {
            power = rlt_luanum_pow(base, exponent);
            ASSERT(memcmp(&power, &expected, sizeof power) == 0);
            expected *= base;
        }
    }
    PASS();
}

/* ---------------------------------------------------------------- language */

TEST a_script_returns_its_first_value(void)
{
    T_REPLIES("$3|abc|", "return 'abc', 5");
    T_REPLIES("$-1|", "local a = 1");
    PASS();
}

TEST a_table_with_holes_is_as_long_as_a_real_one(void)
{
    T_REPLIES("*5|:4|:5|:3|:0|:2|",
              "local t = {} t[1] = 1 t[2] = 2 t[4] = 4 t[3] = 3 "
              "return {#t, #{1, nil, nil, nil, 5}, #{nil, nil, 3}, #{nil}, "
              "#{1, 2, nil}}");
    PASS();
}

TEST pairs_come_in_the_order_of_a_real_server(void)
{
    T_REPLIES("*6|$2|a1|$2|k7|$2|b2|$2|t5|$2|z9|$2|n3|",
              "local r = {} for k, v in pairs({b = 2, a = 1, n = 3, t = 5, "
              "z = 9, k = 7}) do r[#r + 1] = k .. v end return r");
    PASS();
}

/* The address of a function would give another order in each run. */
TEST pairs_over_functions_come_in_the_same_order_in_each_run(void)
{
    T_REPLIES("$5|12345|",
              "local t, r = {}, '' for i = 1, 5 do t[function() return i end] "
              "= i end for f, i in pairs(t) do r = r .. i end return r");
    T_REPLIES("$5|15243|",
              "local t, r = {[type] = 1, [next] = 2, [tonumber] = 3, [pairs] = "
              "4, [error] = 5}, '' for f, i in pairs(t) do r = r .. i end "
              "return r");
    PASS();
}

TEST a_closure_keeps_its_own_variable(void)
{
    T_REPLIES("*3|:11|:12|:11|",
              "local f = {} for i = 1, 2 do local n = 10 f[i] = function() "
              "n = n + 1 return n end end return {f[1](), f[1](), f[2]()}");
    PASS();
}

TEST a_tail_call_takes_no_room(void)
{
    T_REPLIES(":0|", "local function f(n) if n == 0 then return 0 end "
                     "return f(n - 1) end return f(100000)");
    PASS();
}

TEST an_error_names_the_variable(void)
{
    T_FAILS("-ERR user_script:1: attempt to index local 'x' (a nil value)",
            "local x return x.y");
    T_FAILS("-ERR user_script:1: attempt to call field 'g' (a nil value)",
            "local t = {} t.g()");
    T_FAILS("-ERR user_script:1: attempt to concatenate upvalue 'u' (a nil "
            "value)",
            "local u local function f() return 'a' .. u end return f() .. 1");
    T_FAILS("-ERR user_script:1: attempt to call method 'm' (a nil value)",
            "return ('x'):m()");
    PASS();
}

TEST an_error_tells_its_line(void)
{
    T_FAILS("-ERR user_script:3: attempt to compare number with nil",
            "local a\n\nreturn 1 < a");
    T_FAILS("-ERR user_script:2: x", "local f = function()\nerror('x')\nend\n"
                                     "f() return 1");
    PASS();
}

TEST a_syntax_error_names_the_word(void)
{
    T_FAILS("-ERR Error compiling script (new function): user_script:1: '=' "
            "expected near 'y'|", "x y");
    T_FAILS("-ERR Error compiling script (new function): user_script:3: 'end' "
            "expected (to close 'if' at line 1) near '<eof>'|",
            "if a then\n\n");
    PASS();
}

TEST a_global_of_its_own_is_refused(void)
{
    T_FAILS("-ERR user_script:1: Attempt to modify a readonly table", "x = 1");
    T_FAILS("-ERR user_script:1: Script attempted to access nonexistent "
            "global variable 'x'", "return x");
    PASS();
}

TEST a_name_after_an_escaped_line_end_fits_its_buffer(void)
{
    T_REPLIES("$8|a|bcdefg|", "return 'a\\\r\nbcdefg'");
    PASS();
}

/* ------------------------------------------------------------- conversions */

TEST a_number_loses_its_fraction_in_a_reply(void)
{
    T_REPLIES("*3|:3|:-3|:-9223372036854775808|",
              "return {3.99, -3.99, 1e300}");
    PASS();
}

TEST typed_tables_are_types_of_the_protocol(void)
{
    ASSERT_STR_EQ("*6|,1.5|%1|$1|a|:1|~1|$1|m|(12|=7|txt:abc|+fine|",
                  t_reply(3, "return {{double = 1.5}, {map = {a = 1}}, "
                             "{set = {m = true}}, {big_number = '12'}, "
                             "{verbatim_string = {format = 'txt', string = "
                             "'abc'}}, {ok = 'fine'}}"));
    T_REPLIES("*6|$3|1.5|*2|$1|a|:1|*1|$1|m|$2|12|$3|abc|+fine|",
              "return {{double = 1.5}, {map = {a = 1}}, {set = {m = true}}, "
              "{big_number = '12'}, {verbatim_string = {format = 'txt', "
              "string = 'abc'}}, {ok = 'fine'}}");
    PASS();
}

TEST booleans_follow_the_protocol_that_the_script_chose(void)
{
    ASSERT_STR_EQ("*2|:1|_|", t_reply(3, "return {true, false}"));
    ASSERT_STR_EQ("*2|#t|#f|",
                  t_reply(3, "redis.setresp(3) return {true, false}"));
    T_REPLIES("*2|:1|:0|", "redis.setresp(3) return {true, false}");
    PASS();
}

TEST an_error_of_a_command_is_thrown_by_call_alone(void)
{
    T_FAILS("-ERR value is not an integer or out of range",
            "return redis.call('incr', 'text')");
    T_REPLIES("$43|ERR value is not an integer or out of range|",
              "return redis.pcall('incr', 'text').err");
    PASS();
}

TEST a_reply_of_resp3_becomes_a_typed_table(void)
{
    T_REPLIES("*3|$1|2|$3|1.5|$5|false|",
              "redis.setresp(3) return {redis.call('hgetall', 'hash').map.b, "
              "tostring(redis.call('zscore', 'zset', 'a').double), "
              "tostring(redis.call('get', 'nothing') ~= nil)}");
    PASS();
}

TEST an_argument_reaches_a_command_with_17_digits(void)
{
    T_REPLIES("$19|0.10000000000000001|", "return redis.call('echo', 0.1)");
    T_REPLIES("$5|1e+17|", "return redis.call('echo', 1e17)");
    PASS();
}

TEST messages_of_redis_log_reach_the_host(void)
{
    lua_rig r;

    ASSERT(lua_rig_open(&r, -1));
    (void)t_eval(&r, "redis.log(redis.LOG_WARNING, 'a', 5, nil, 'b')");
    ASSERT_STR_EQ("3 a 5 b", r.logged);
    lua_rig_close(&r);
    PASS();
}

/* A host whose replies are malformed. */
static int t_nonsense(void *user, const relet_span *argv, uint32_t argc,
                      int resp, relet_span *reply)
{
    (void)argv;
    (void)argc;
    (void)resp;
    *reply = relet_str((const char *)user);
    return 0;
}

TEST a_reply_that_is_none_ends_the_script(void)
{
    static const char *const replies[] = {
        "",        "*1\r\n",  "$5\r\nab\r\n", "x\r\n", ":a\r\n", "$-2\r\n",
        "+no end", "=3\r\nabc\r\n", "%1\r\n+a\r\n", ",x\r\n", "|1\r\n+a\r\n"};
    lua_rig r;
    rlt_lua_host host;
    rlt_lua_call call;
    rlt_lua_result result;
    rlt_lua_code *code;
    char error[128];
    size_t i;

    ASSERT(lua_rig_open(&r, -1));
    memset(&host, 0, sizeof host);
    memset(&call, 0, sizeof call);
    host.call = t_nonsense;
    call.host = &host;
    call.steps_max = 1000;
    ASSERT_EQ(0, rlt_lua_compile(&r.L,
                                 relet_str("pcall(redis.call, 'x') return 1"),
                                 "user_script", &code, error, sizeof error));
    for (i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        char text[32];

        strcpy(text, replies[i]);
        host.user = text;
        ASSERT_EQ(0, rlt_lua_run(&r.L, code, &call, &result));
        ASSERT(result.fatal);
        rlt_lua_end(&r.L);
    }
    rlt_lua_code_free(&r.L, code);
    lua_rig_close(&r);
    PASS();
}

/* ------------------------------------------------------------------ limits */

TEST a_runaway_script_ends_in_an_error(void)
{
    static const char *const all[] = {
        "while true do end",
        "repeat until false",
        "for i = 1, 1/0 do end",
        "for k in function() return 1 end do end",
        "local function f() return f() end f()",
        "while true do pcall(error) end",
        "local function f() pcall(f) return f() end f()",
        "string.find(string.rep('a', 30000), '.-.-.-b')",
        "string.find(string.rep('a', 100000), '(a*)(a*)(a*)%3b')",
        "string.rep('(', 50000):find('%b()x')",
        "('x'):rep(20000):gsub('', function(c) while true do end end)",
        "local t = {} for i = 1, 1e9 do t[i % 7] = i end",
        "local s = ('x'):rep(1e6) for i = 1, 1e9 do local b = s == s .. '' end",
        "table.insert({}, -1e9, 1)",
        "local t = {3, 2, 1} table.sort(t, function() while true do end end)"};
    lua_rig r;
    relet_span s;
    size_t i;

    ASSERT(lua_rig_open(&r, -1));
    r.steps_max = 300000;
    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        s = t_eval(&r, all[i]);
        ASSERTm(all[i], s.n > 5 && memcmp(s.p, "-ERR ", 5) == 0);
        
    }
    lua_rig_close(&r);
    PASS();
}

TEST a_script_cannot_catch_the_end_of_its_steps(void)
{
    lua_rig r;
    relet_span s;

    ASSERT(lua_rig_open(&r, -1));
    r.steps_max = 1000;
    s = t_eval(&r, "pcall(function() while true do end end) return 'caught'");
    ASSERT_EQ('-', s.p[0]);
    s = t_eval(&r, "xpcall(function() while true do end end, function() end) "
                   "return 'caught'");
    ASSERT_EQ('-', s.p[0]);
    lua_rig_close(&r);
    PASS();
}

TEST a_script_that_wants_too_much_memory_ends_in_an_error(void)
{
    static const char *const all[] = {
        "return ('x'):rep(1e9)",
        "return ('x'):rep(2^31 - 1)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} for i = 1, 1e8 do t[i * 2.5] = i end",
        "local s = ('x'):rep(1e6) return s:gsub('x', s)",
        "return table.concat({('x'):rep(1e6)}, 'x', 1, 1) .. ('y'):rep(1e8)",
        "local f f = function() return (function() f() end)() end f()",
        T_MANY_ARGUMENTS};
    lua_rig r;
    relet_span s;
    size_t i;

    ASSERT(lua_rig_open(&r, -1));
    r.memory_max = 1 << 20;
    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        s = t_eval(&r, all[i]);
        ASSERTm(all[i], s.n > 5 && memcmp(s.p, "-ERR ", 5) == 0);
        ASSERTm(all[i], r.held < 2u << 20);
    }
    lua_rig_close(&r);
    PASS();
}

TEST a_deep_pattern_is_refused(void)
{
    T_FAILS("-ERR user_script:1: pattern too complex",
            "return (('a'):rep(500)):match(('a?'):rep(500))");
    PASS();
}

TEST deep_source_is_refused(void)
{
    char source[4096];
    int i;

    strcpy(source, "return ");
    for (i = 0; i < 1000; i++)
        strcat(source, "(");
    T_FAILS("-ERR Error compiling script (new function): user_script:1: chunk "
            "has too many syntax levels|", source);
    PASS();
}

TEST a_value_that_holds_itself_ends_in_a_reply(void)
{
    lua_rig r;
    relet_span s;

    ASSERT(lua_rig_open(&r, -1));
    s = t_eval(&r, "local t = {} t[1] = t t.map = {t} return {map = {t}}");
    ASSERT(s.n > 30);
    ASSERT_EQ(0, memcmp(s.p + s.n - 13, "stack limit\r\n", 13));
    lua_rig_close(&r);
    PASS();
}

TEST a_reply_that_is_too_long_is_none(void)
{
    lua_rig r;
    relet_span s;

    ASSERT(lua_rig_open(&r, -1));
    r.out.buf.max = 1024;
    s = t_eval(&r, "local t = {1} for i = 1, 40 do t = {t, t} end return t");
    ASSERT_STR_EQ("(no reply)", s.p);
    lua_rig_close(&r);
    PASS();
}

/* ------------------------------------------------------------------ memory */

static const char t_busy[] =
    "local log = {}\n"
    "local function note(...) for i = 1, select('#', ...) do "
    "log[#log + 1] = tostring((select(i, ...))) end end\n"
    "for i = 1, 40 do log['k' .. i] = i * 1.5 end\n"
    "local f = function(a, ...) local n = a return function() n = n + 1 "
    "return n end, arg end\n"
    "note(f(1, 2, 3)) note(pcall(error, {err = 'x'}))\n"
    "note(pcall(function() local x return x.y end))\n"
    "note(('a,b,c'):gsub('%w', function(c) return c:upper() end))\n"
    "for w in ('x y z'):gmatch('%a') do note(w) end\n"
    "note(string.format('%5.2f|%q|%s', 1/3, 'q', ('z'):rep(200)))\n"
    "local t = {5, 3, 9, 1} table.sort(t, function(a, b) return a > b end)\n"
    "note(table.concat(t, ',')) note(unpack(t))\n"
    "local function deep(n) if n > 0 then return 1 + deep(n - 1) end "
    "return 0 end note(deep(100))\n"
    "redis.setresp(3) note(redis.call('hgetall', 'hash').map.a)\n"
    "note(redis.call('echo', 0.1), redis.pcall('incr', 'text').err)\n"
    "note(redis.sha1hex('a')) redis.log(1, 'b')\n"
    "note(redis.error_reply('E x').err, redis.status_reply('s').ok)\n"
    "return {log, map = {1}, {map = {a = {1}}}}";

/* Each allocation fails once: the reply is an error or none, and nothing is
 * lost. */
TEST any_allocation_of_a_script_may_fail(void)
{
    lua_rig r;
    relet_span s;
    long n;
    int done = 0;

    for (n = 0; !done && n < 10000; n++) {
        if (!lua_rig_open(&r, n)) {
            lua_rig_close(&r);
            ASSERT_EQ(0u, r.held);
            continue;
        }
        s = t_eval(&r, t_busy);
        done = r.allocations <= n;
        ASSERT(done || s.p[0] == '-' || s.p[0] == '(');
        r.fail_at = -1;
        s = t_eval(&r, "return {1, 'still alive'}");
        ASSERT_EQ('*', s.p[0]);
        lua_rig_close(&r);
        ASSERT_EQ(0u, r.held);
    }
    ASSERT(done);
    ASSERT(n > 20);
    PASS();
}

TEST a_second_run_allocates_nothing(void)
{
    lua_rig r;
    rlt_lua_code *code;
    rlt_lua_result result;
    rlt_lua_host host;
    rlt_lua_call call;
    char error[128];
    int i;

    ASSERT(lua_rig_open(&r, 1L << 30));
    memset(&host, 0, sizeof host);
    host.user = &r;
    host.call = lua_rig_call;
    memset(&call, 0, sizeof call);
    call.host = &host;
    call.steps_max = 1000000;
    call.memory_max = 1 << 20;
    ASSERT_EQ(0, rlt_lua_compile(&r.L, relet_str(t_busy), "user_script",
                                 &code, error, sizeof error));
    for (i = 0; i < 6; i++) {
        if (i == 5)
            r.fail_at = 0;
        ASSERT_EQ(1, rlt_lua_run(&r.L, code, &call, &result));
        rlt_lua_end(&r.L);
    }
    rlt_lua_code_free(&r.L, code);
    lua_rig_close(&r);
    PASS();
}

TEST an_interpreter_at_rest_is_small(void)
{
    lua_rig r;

    ASSERT(lua_rig_open(&r, -1));
    ASSERT(r.held <= 16384);
    lua_rig_close(&r);
    PASS();
}

TEST a_key_is_lent_and_not_copied(void)
{
    lua_rig r;
    rlt_lua_code *code;
    rlt_lua_result result;

    ASSERT(lua_rig_open(&r, -1));
    ASSERT_EQ(1, lua_rig_start(&r, relet_str("return KEYS[1]"), &code,
                               &result));
    ASSERT_EQ(RLT_LUA_STRING, result.value.type);
    ASSERT_EQ(lua_rig_keys[0].p, result.value.u.s->p);
    rlt_lua_end(&r.L);
    rlt_lua_code_free(&r.L, code);
    lua_rig_close(&r);
    PASS();
}

TEST a_code_runs_in_any_interpreter(void)
{
    lua_rig a, b;
    rlt_lua_code *code;
    rlt_lua_result result;
    rlt_lua_call call;
    char error[128];

    ASSERT(lua_rig_open(&a, -1));
    ASSERT(lua_rig_open(&b, -1));
    memset(&call, 0, sizeof call);
    call.steps_max = 1000;
    ASSERT_EQ(0, rlt_lua_compile(&a.L, relet_str("return 'x' .. 1"),
                                 "user_script", &code, error, sizeof error));
    rlt_lua_free(&a.L);
    ASSERT_EQ(1, rlt_lua_run(&b.L, code, &call, &result));
    ASSERT_EQ(2u, result.value.u.s->n);
    rlt_lua_end(&b.L);
    rlt_lua_code_free(&b.L, code);
    rlt_lua_free(&b.L);
    rlt_out_free(&a.out);
    rlt_out_free(&b.out);
    ASSERT_EQ(0u, a.held + b.held);
    PASS();
}

/* ------------------------------------------------------------------ corpus */

static char *t_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(1 << 20);

    *n = f && text ? fread(text, 1, 1 << 20, f) : 0;
    if (f)
        fclose(f);
    return text;
}

/* Every beginning of every program is compiled, in memory of just its size:
 * a checker would see a byte read behind it. */
TEST a_program_may_end_anywhere(void)
{
    size_t n, size, i, programs = 0;
    char *all = t_read(T_CORPUS, &n), error[512];
    const char *at = all, *text;
    lua_rig r;
    rlt_lua_code *code;

    ASSERT(lua_rig_open(&r, -1));
    while (program_from_corpus(&at, all + n, &text, &size)) {
        programs++;
        for (i = 0; i < size && i < 400; i += 1 + i / 40) {
            char *copy = (char *)malloc(i + 1);
            relet_span s;

            memcpy(copy, text, i);
            s.p = copy;
            s.n = i;
            if (rlt_lua_compile(&r.L, s, "user_script", &code, error,
                                sizeof error) == 0)
                rlt_lua_code_free(&r.L, code);
            else
                ASSERT(error[0] != 0);
            free(copy);
        }
    }
    ASSERT(programs > 700);
    lua_rig_close(&r);
    ASSERT_EQ(0u, r.held);
    free(all);
    PASS();
}

TEST a_program_gives_the_same_reply_twice(void)
{
    static program p;
    lua_rig r, again;
    relet_span a, b, s;
    uint64_t seed;

    ASSERT(lua_rig_open(&r, -1));
    ASSERT(lua_rig_open(&again, -1));
    for (seed = 1; seed <= 200; seed++) {
        program_make(&p, seed);
        s.p = p.text;
        s.n = p.n;
        a = lua_rig_eval(&r, s);
        b = lua_rig_eval(&again, s);
        ASSERT_EQ(a.n, b.n);
        ASSERT_EQ(0, memcmp(a.p, b.p, a.n));
    }
    lua_rig_close(&r);
    lua_rig_close(&again);
    PASS();
}

SUITE(numbers)
{
    RUN_TEST(a_number_is_shown_as_the_c_library_shows_it);
    RUN_TEST(a_format_of_a_double_is_the_c_librarys);
    RUN_TEST(a_format_of_an_integer_is_the_c_librarys);
    RUN_TEST(a_printed_number_is_read_back_unchanged);
    RUN_TEST(a_square_root_is_the_nearest_double);
    RUN_TEST(a_power_of_whole_numbers_is_exact);
}

SUITE(language)
{
    RUN_TEST(a_script_returns_its_first_value);
    RUN_TEST(a_table_with_holes_is_as_long_as_a_real_one);
    RUN_TEST(pairs_come_in_the_order_of_a_real_server);
    RUN_TEST(pairs_over_functions_come_in_the_same_order_in_each_run);
    RUN_TEST(a_closure_keeps_its_own_variable);
    RUN_TEST(a_tail_call_takes_no_room);
    RUN_TEST(an_error_names_the_variable);
    RUN_TEST(an_error_tells_its_line);
    RUN_TEST(a_syntax_error_names_the_word);
    RUN_TEST(a_global_of_its_own_is_refused);
    RUN_TEST(a_name_after_an_escaped_line_end_fits_its_buffer);
}

SUITE(conversions)
{
    RUN_TEST(a_number_loses_its_fraction_in_a_reply);
    RUN_TEST(typed_tables_are_types_of_the_protocol);
    RUN_TEST(booleans_follow_the_protocol_that_the_script_chose);
    RUN_TEST(an_error_of_a_command_is_thrown_by_call_alone);
    RUN_TEST(a_reply_of_resp3_becomes_a_typed_table);
    RUN_TEST(an_argument_reaches_a_command_with_17_digits);
    RUN_TEST(messages_of_redis_log_reach_the_host);
    RUN_TEST(a_reply_that_is_none_ends_the_script);
}

SUITE(limits)
{
    RUN_TEST(a_runaway_script_ends_in_an_error);
    RUN_TEST(a_script_cannot_catch_the_end_of_its_steps);
    RUN_TEST(a_script_that_wants_too_much_memory_ends_in_an_error);
    RUN_TEST(a_deep_pattern_is_refused);
    RUN_TEST(deep_source_is_refused);
    RUN_TEST(a_value_that_holds_itself_ends_in_a_reply);
    RUN_TEST(a_reply_that_is_too_long_is_none);
}

SUITE(memory)
{
    RUN_TEST(any_allocation_of_a_script_may_fail);
    RUN_TEST(a_second_run_allocates_nothing);
    RUN_TEST(an_interpreter_at_rest_is_small);
    RUN_TEST(a_key_is_lent_and_not_copied);
    RUN_TEST(a_code_runs_in_any_interpreter);
}

SUITE(programs)
{
    RUN_TEST(a_program_may_end_anywhere);
    RUN_TEST(a_program_gives_the_same_reply_twice);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(numbers);
    RUN_SUITE(language);
    RUN_SUITE(conversions);
    RUN_SUITE(limits);
    RUN_SUITE(memory);
    RUN_SUITE(programs);
    GREATEST_MAIN_END();
}
