/* SPDX-License-Identifier: MIT
 *
 * scripts.c - script calls: small programs made on the spot, and lua/'s own.
 *
 * What a program does in itself is for the corpus of programs to test; here
 * scripts are a way to run commands, and to see what becomes of replies on
 * their way through Lua. */
#define _GNU_SOURCE
#include <dirent.h>
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

/* No reply that chance or a connection's number has a part in, nor help. */
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

static void script_add(ask *a, word w)
{
    if (a->argc < MODEL_WORDS)
        a->argv[a->argc++] = w;
}

void script_make(maker *m, const family *f, ask *a)
{
    word text = script_text(m, f), sha;
    char hex[40];

    rlt_sha1_hex(text.p, text.n, hex);
    sha = tape_word(m->t, hex, 40);
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
    m->shas[m->sha_count++ % 16] = sha;
    if (word_is(a->argv[0], "EVAL") && maker_once_in(m, 40))
        a->argv[2] = tape_text(m->t, maker_pick(m, hostile_words));
}

/* ------------------------------------------------------------------ lua/ */

#define SCRIPT_FILES 64

static struct {
    char *text[SCRIPT_FILES];
    size_t size[SCRIPT_FILES];
    int n;
} script_file;

static void script_file_read(const char *folder, const char *name)
{
    char path[600];
    char *p = (char *)malloc(65536);
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f == NULL || p == NULL) {
        free(p);
        return;
    }
    script_file.size[script_file.n] = fread(p, 1, 65536, f);
    script_file.text[script_file.n++] = p;
    (void)fclose(f);
}

static int script_is_lua(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && strcmp(d->d_name + n - 4, ".lua") == 0;
}

/* In the order of their names: a seed means the same everywhere. */
void script_files_read(const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, script_is_lua, alphasort), i;

    for (i = 0; i < n; i++) {
        if (script_file.n < SCRIPT_FILES)
            script_file_read(folder, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

/* How many names the head comment gives behind "KEYS" or "ARGV": the greatest
 * number there. */
static int script_count(const char *text, size_t size, const char *word_,
                        const char *until)
{
    const char *p = (const char *)memmem(text, size, word_, strlen(word_));
    const char *end = text + size, *stop;
    int most = 0;

    if (p == NULL)
        return 1;
    stop = (const char *)memmem(p, (size_t)(end - p), until, strlen(until));
    if (stop == NULL)
        stop = end;
    for (; p < stop; p++)
        if (*p >= '1' && *p <= '9' && p[-1] == ' ' && *p - '0' > most)
            most = *p - '0';
    return most;
}

/* Keys by their place, so that calls of one tape meet at the same ones. */
int script_files_make(maker *m, ask *a)
{
    int i, keys, args;
    const char *text;
    size_t size;

    if (script_file.n == 0)
        return 0;
    i = (int)maker_below(m, (uint32_t)script_file.n);
    text = script_file.text[i];
    size = script_file.size[i];
    keys = script_count(text, size, "KEYS", "ARGV");
    args = script_count(text, size, "ARGV", "Returns");
    expand_template(m, "!EVAL x", a);
    a->argv[1].p = text;
    a->argv[1].n = size;
    script_add(a, maker_format(m, "%d", keys));
    for (i = 0; i < keys; i++) {
        ask b;

        expand_template(m, "!ECHO %k", &b);
        script_add(a, maker_once_in(m, 12) ? b.argv[1]
                                           : maker_format(m, "job%d", i));
    }
    for (i = 0; i < args; i++) {
        ask b;

        expand_template(m, "!ECHO [%o|%o|%e|%i|%n|%M|%v|%w]", &b);
        script_add(a, b.argv[1]);
    }
    return 1;
}
