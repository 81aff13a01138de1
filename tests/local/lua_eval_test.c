/* SPDX-License-Identifier: MIT
 *
 * lua_eval_test.c - EVAL as a client sees it: scripts that want too much end
 * in an error, and the server works on; errors end as those of servers.
 *
 * Limits are small ones here; by default none takes more than two seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "relet_local.h"

typedef struct t_server {
    relet_local *l;
    void *block;
    char reply[1024]; /* the beginning of the last one                       */
    size_t reply_n;   /* all of its bytes                                    */
} t_server;

static void *t_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size > 0)
        return realloc(p, size);
    free(p);
    return NULL;
}

static t_server t_open(void)
{
    relet_local_config config;
    t_server s;

    memset(&config, 0, sizeof config);
    config.resize = t_resize;
    config.script_steps = 300000;
    config.script_memory = 1 << 20;
    memset(&s, 0, sizeof s);
    s.block = malloc(relet_local_size());
    s.l = relet_local_init(s.block, relet_local_size(), &config);
    if (s.l == NULL || relet_local_connect(s.l) != 0)
        abort();
    return s;
}

static void t_close(t_server *s)
{
    relet_local_finish(s->l);
    free(s->block);
}

static const char *t_send(t_server *s, const char *bytes, size_t n)
{
    const uint8_t *p;

    relet_local_feed(s->l, 0, bytes, n);
    s->reply_n = relet_local_output(s->l, 0, &p);
    n = s->reply_n < sizeof s->reply ? s->reply_n : sizeof s->reply - 1;
    memcpy(s->reply, p, n);
    s->reply[n] = '\0';
    relet_local_sent(s->l, 0, s->reply_n);
    return s->reply;
}

static const char *t_eval(t_server *s, const char *source)
{
    char bytes[2048];
    int n = snprintf(bytes, sizeof bytes,
                     "*3\r\n$4\r\nEVAL\r\n$%u\r\n%s\r\n$1\r\n0\r\n",
                     (unsigned)strlen(source), source);

    return t_send(s, bytes, (size_t)n);
}

/* 1 when the script ends in this error, and the next one runs. */
static int t_ends(t_server *s, const char *source, const char *error)
{
    if (*t_eval(s, source) != '-' || strstr(s->reply, error) == NULL) {
        fprintf(stderr, "%s: %s", source, s->reply);
        return 0;
    }
    return strcmp(t_eval(s, "return 7"), ":7\r\n") == 0;
}

/* ------------------------------------------------------------------- limits */

static const char t_steps[] = "script used up its steps";
static const char t_memory[] = "-ERR not enough memory";

TEST a_script_without_end_uses_up_its_steps(void)
{
    static const char *const all[] = {
        "while true do end",
        "local function f() return f() end f()",
        "while true do pcall(error) end",
        "local t = {} for i = 1, 2000 do t[i] = 1 end\n"
        "while true do select('#', unpack(t)) end",
        "string.find(('a'):rep(30000), '.-.-.-b')",
        "string.find(('a'):rep(10000), ('a-'):rep(15) .. 'b')",
        "('('):rep(50000):find('%b()x')",
        "local t = {} for i = 1, 20000 do table.insert(t, 1, i) end",
        "local s = '0x' .. ('1'):rep(5000)\n"
        "for i = 1, 999 do local n = s + 0 end",
        "local s = ('1'):rep(5000) for i = 1, 999 do local n = s + 0 end",
        "for i = 1, 999 do tostring(5e-324) end",
        "for i = 1, 999 do string.format('%g', 5e-324) end"};
    t_server s = t_open();
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        ASSERTm(all[i], t_ends(&s, all[i], t_steps));
    t_close(&s);
    PASS();
}

TEST a_bomb_of_strings_ends_at_the_memory_of_scripts(void)
{
    static const char *const all[] = {
        "return ('x'):rep(1e7)",
        ("local t = {} local s = ('x'):rep(1e4)\n"
         "for i = 1, 1e4 do t[i] = s end return table.concat(t)"),
        "return (('x'):rep(1e4):gsub('', ('y'):rep(1e4)))",
        "return (('x'):rep(1e3):gsub('x', ('%0'):rep(1e4)))",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end"};
    t_server s = t_open();
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        ASSERTm(all[i], t_ends(&s, all[i], t_memory));
    t_close(&s);
    PASS();
}

TEST a_wide_format_is_refused(void)
{
    t_server s = t_open();

    ASSERT(t_ends(&s, "return string.format('%99999d', 1)",
                  "invalid format (width or precision too long)"));
    t_close(&s);
    PASS();
}

TEST recursion_that_is_too_deep_ends_in_an_error(void)
{
    t_server s = t_open();

    ASSERT(t_ends(&s, "local f f = function() return (f()) end f()",
                  "stack overflow"));
    ASSERT(t_ends(&s, "local f f = function() ('x'):gsub('x', f) end f()",
                  "C stack overflow"));
    ASSERT(t_ends(&s,
                  "return string.find(('a'):rep(1000), ('a?'):rep(1000))",
                  "pattern too complex"));
    t_close(&s);
    PASS();
}

/* The bytes of the reply were all that ended it: one GiB of them. */
TEST a_value_in_itself_many_times_is_no_long_reply(void)
{
#ifdef RELET_TINY
    SKIPm("there a long reply moves with each byte");
#else
    t_server s = t_open();

    ASSERT(t_ends(&s, "local t = {1} for i = 1, 40 do t = {t, t} end return t",
                  t_steps));
    ASSERT(s.reply_n < 100);
    t_close(&s);
    PASS();
#endif
}

/* Such a command was as dear as any: a script could walk for three minutes. */
TEST a_command_that_walks_costs_steps_of_the_script(void)
{
    t_server s = t_open();

    ASSERT_STR_EQ("$-1\r\n",
                  t_eval(&s, "for i = 1, 3000 do redis.call('RPUSH', 'l', i) "
                             "redis.call('SET', i, i) end"));
    ASSERT(t_ends(&s, "for i = 1, 1900 do redis.call('LREM', 'l', 0, 'x') end",
                  t_steps));
    ASSERT(t_ends(&s, "for i = 1, 900 do redis.call('KEYS', 'x*') end",
                  t_steps));
    ASSERT_STR_EQ("$-1\r\n",
                  t_eval(&s, "for i = 1, 900 do redis.call('GET', i) end"));
    t_close(&s);
    PASS();
}

/* ------------------------------------------------------------------- errors */

/* The code got lost where there was no memory left to put it in front. */
TEST an_error_has_its_code_when_memory_ends(void)
{
    t_server s = t_open();

    ASSERT(t_ends(&s, "while true do redis.call('PING') end", t_memory));
    t_close(&s);
    PASS();
}

TEST an_error_below_a_c_function_has_no_line(void)
{
    t_server s = t_open();

    ASSERT_STR_EQ("-ERR Unknown Redis command called from script script: "
                  "f8f40d697eb923a546ddc5800548adca3e341557, on =[C]:-1.\r\n",
                  t_eval(&s, "table.sort({3,2,1}, redis.call)"));
    t_close(&s);
    PASS();
}

TEST a_script_may_not_wait_for_a_stream(void)
{
    t_server s = t_open();

    ASSERT_STR_EQ("-ERR xread command is not allowed with BLOCK option from "
                  "scripts script: 95f297f7db06b45e143164258449c787da90a4b0, "
                  "on @user_script:1.\r\n",
                  t_eval(&s, "return redis.call('xread','block','10',"
                             "'streams','a','0')"));
    t_close(&s);
    PASS();
}

SUITE(limits)
{
    RUN_TEST(a_script_without_end_uses_up_its_steps);
    RUN_TEST(a_bomb_of_strings_ends_at_the_memory_of_scripts);
    RUN_TEST(a_wide_format_is_refused);
    RUN_TEST(recursion_that_is_too_deep_ends_in_an_error);
    RUN_TEST(a_value_in_itself_many_times_is_no_long_reply);
    RUN_TEST(a_command_that_walks_costs_steps_of_the_script);
}

SUITE(errors)
{
    RUN_TEST(an_error_has_its_code_when_memory_ends);
    RUN_TEST(an_error_below_a_c_function_has_no_line);
    RUN_TEST(a_script_may_not_wait_for_a_stream);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(limits);
    RUN_SUITE(errors);
    GREATEST_MAIN_END();
}
