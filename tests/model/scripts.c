/* SPDX-License-Identifier: MIT
 *
 * scripts.c - script calls: small random programs.
 *
 * The corpus of programs tests Lua itself; here scripts are a way to run
 * commands, and to compare replies that pass through Lua. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "sha1.h"

/* Bodies; @ stands for one more command's arguments. */
static const char *const script_bodies[] = {
    "return redis.call(@)", "return redis.call(@)", "return redis.pcall(@)",
    "redis.setresp(3) return redis.call(@)",
    "redis.setresp(3) return redis.pcall(@)",
    "local r=redis.pcall(@) if type(r)=='table' and r.err then "
    "return {'E',r.err} end return {type(r),r}",
    "local a=redis.call(@) local b=redis.call(@) return {a,b}",
    "redis.call(@) redis.call(@) return redis.call(@)",
    "local a=redis.pcall(@) local b=redis.pcall(@) return {a,b}",
    "for i=1,3 do redis.call(@) end return redis.pcall(@)",
    "local r=redis.call(@) return type(r)",
    "local r=redis.call(@) return tostring(r and r~='' and type(r)=='string')",
    "local r=redis.call(@) if type(r)=='table' then return #r end return r",
    "redis.setresp(3) local r=redis.call(@) if type(r)=='table' then "
    "return {r.map~=nil,r.set~=nil,r.double or 0} end return type(r)",
    "redis.call(@) error('boom')", "redis.call(@) error({err='MY boom'})",
    "redis.call(@) return redis.error_reply('MY err')",
    "redis.call(@) return redis.status_reply('FINE')",
    "redis.call(@) return {err='ERR odd'}", "return {redis.call(@),3.9,true}",
    "return {1,2,nil,4}", "return {ok='yes'}", "return {err='no'}",
    "return {err='no space'}", "return true", "return false", "return nil",
    "return 3.99", "return -3.99", "return 'x'", "return {}", "return",
    "return {{},{1,{2}},'a'}", "return {double=3.5}",
    "return {map={a=1}}", "return {set={a=true}}",
    "redis.setresp(3) return {double=3.5}",
    "redis.setresp(3) return {map={a=1}}",
    "redis.setresp(3) return {set={a=true}}", "redis.setresp(3) return true",
    "redis.setresp(3) return false", "return {big_number='123'}",
    "redis.setresp(3) return {big_number='123'}",
    "redis.setresp(3) return {verbatim_string={format='txt',string='x'}}",
    "redis.setresp(4)", "return redis.call()", "return redis.call({})",
    "return redis.call('nosuch')", "return redis.pcall('nosuch')",
    "return redis.call('get')", "return redis.pcall('get')",
    "return redis.call('subscribe','c')", "return redis.call('multi')",
    "return redis.pcall('eval','return 1',0)", "return nope",
    "nope=1", "return redis.nope", "redis.nope=1", "return (", "return 1 +",
    "error()", "error(nil)", "return error('x',0)",
    "return redis.sha1hex('a')", "return redis.call('time')",
    "return {KEYS[1],ARGV[1],#KEYS,#ARGV}", "return redis.REDIS_VERSION_NUM",
    "return redis.call('set',KEYS[1],ARGV[1])", "return redis.call('ping')",
    "return redis.call('incrby',KEYS[1],2.0)", "return redis.error_reply(1)",
    "return redis.call('set',KEYS[1],1.5)", "return redis.status_reply()",
    "return redis.call('set',KEYS[1],2^53)",
    "return redis.call('set',KEYS[1],true)",
    "return redis.call('publish','c1',ARGV[1] or 'x')",
    "return redis.error_reply('-MY err')", "return redis.error_reply('plain')",
    "return redis.log(redis.LOG_DEBUG,'x')",
    "return redis.replicate_commands()",
    "return redis.set_repl(redis.REPL_ALL)", "return redis.breakpoint",
    "return redis.acl_check_cmd('get','x')", NULL};

static const char *const script_flags[] = {"#!lua\n",
    "#!lua flags=no-writes\n",
    "#!lua flags=allow-oom\n", "#!lua flags=allow-oom,no-writes\n",
    "#!lua flags=allow-stale,no-cluster\n", "#!lua flags=nope\n", "#!js\n",
    "#!lua name=x\n", "#!lua flags=\n", "#!", NULL};

static void script_quote(bytes *b, word w)
{
    size_t i;

    bytes_text(b, "'");
    for (i = 0; i < w.n; i++) {
        unsigned char c = (unsigned char)w.p[i];

        if (c < ' ' || c > '~' || c == '\'' || c == '\\')
            bytes_format(b, "\\%03u", c);
        else
            bytes_put(b, &c, 1);
    }
    bytes_text(b, "'");
}

static int script_number(word w)
{
    size_t i;

    for (i = 0; i < w.n; i++)
        if (w.p[i] < '0' || w.p[i] > '9')
            return 0;
    return w.n > 0 && w.n < 8 && (w.n == 1 || w.p[0] != '0');
}

/* Leaves out commands whose replies depend on chance or on the number of a
 * connection, and help. */
static int script_fit(const ask *a)
{
    static const char *const unfit[] = {"SPOP", "SRANDMEMBER", "HRANDFIELD",
        "ZRANDMEMBER", "RANDOMKEY", "CLIENT", "CONFIG", "INFO", "SCAN",
        "SSCAN", "HSCAN", "ZSCAN", "HELLO", "COMMAND", "EVAL", "EVALSHA",
        "SCRIPT", "ROLE", "KEYS", "ACL", "DEBUG", "LASTSAVE", NULL};
    const char *const *p;
    int i;

    for (p = unfit; *p != NULL; p++)
        if (word_is(a->argv[0], *p))
            return 0;
    for (i = 0; i < a->argc; i++)
        if (word_is(a->argv[i], "HELP") ||
            word_is_id(a->argv[i]))
            return 0;
    return 1;
}

static void script_command(maker *m, const family *f, bytes *b)
{
    ask *a = (ask *)calloc(1, sizeof *a);
    int i, tries = 0;

    if (a == NULL)
        abort();
    do
        expand_template(m, maker_pick(m, f->rows), a);
    while (!script_fit(a) && ++tries < 5);
    if (!script_fit(a))
        expand_template(m, "INCR %s", a);
    for (i = 0; i < a->argc; i++) {
        if (i > 0)
            bytes_text(b, ",");
        if (i == 1 && maker_once_in(m, 3))
            bytes_text(b, "KEYS[1]");
        else if (script_number(a->argv[i]) && maker_once_in(m, 3))
            bytes_put(b, a->argv[i].p, a->argv[i].n);
        else
            script_quote(b, a->argv[i]);
    }
    free(a);
}

static word script_text(maker *m, const family *f)
{
    bytes b = {NULL, 0, 0};
    const char *body = maker_pick(m, script_bodies);
    word w;

    if (!maker_once_in(m, 3))
        body = script_bodies[maker_below(m, 10)];
    if (maker_once_in(m, 8))
        bytes_text(&b, maker_pick(m, script_flags));
    for (; *body != '\0'; body++)
        if (*body == '@')
            script_command(m, f, &b);
        else
            bytes_put(&b, body, 1);
    w = tape_word(m->t, b.p, b.n);
    bytes_free(&b);
    return w;
}

/* ------------------------------------------------------- texts by their sha */

#define SCRIPT_TEXTS 512

static struct {
    word text[SCRIPT_TEXTS];
    char sha[SCRIPT_TEXTS][40];
    int n;
} script_known;

void script_forget(void)
{
    script_known.n = 0;
}

word script_sha(maker *m, word text)
{
    char hex[40];
    word sha;

    rlt_sha1_hex(text.p, text.n, hex);
    sha = tape_word(m->t, hex, 40);
    m->shas[m->sha_count++ % 16] = sha;
    if (script_known.n < SCRIPT_TEXTS) {
        memcpy(script_known.sha[script_known.n], hex, 40);
        script_known.text[script_known.n++] = text;
    }
    return sha;
}

word script_of(word sha)
{
    static const word none = {"", 0};
    int i;

    for (i = 0; i < script_known.n && sha.n == 40; i++)
        if (strncasecmp(script_known.sha[i], sha.p, 40) == 0)
            return script_known.text[i];
    return none;
}

void script_make(maker *m, const family *f, ask *a)
{
    word text = script_text(m, f), sha = script_sha(m, text);

    expand_template(m, "![EVAL|EVAL|EVAL|EVAL|EVALSHA|EVAL_RO|EVALSHA_RO] x "
                       "1 %k [%v|%i|%v %e|]", a);
    if (word_is(a->argv[0], "EVAL") || word_is(a->argv[0], "EVAL_RO"))
        a->argv[1] = text;
    else if (m->sha_count > 0 && !maker_once_in(m, 8)) /* one sent before */
        a->argv[1] = m->shas[maker_below(m, m->sha_count < 16
                                            ? (uint32_t)m->sha_count : 16)];
    else
        a->argv[1] = sha;
    if (maker_once_in(m, 12))
        expand_template(m, "!SCRIPT LOAD x", a);
    if (word_is(a->argv[0], "SCRIPT"))
        a->argv[2] = text;
    if (word_is(a->argv[0], "EVAL") && maker_once_in(m, 40))
        a->argv[2] = tape_text(m->t, maker_pick(m, hostile_words));
}
