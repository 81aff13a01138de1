/* SPDX-License-Identifier: MIT
 *
 * scripts.c - the scripts a server knows, by their SHA-1.
 */
#include "scripts.h"

RELET_PRIVATE int rlt_scripts_begin(rlt_server *s)
{
    rlt_scripts *k =
        (rlt_scripts *)rlt_pool_try(&s->pool, sizeof(rlt_scripts));

    if (k == NULL)
        return 0;
    memset(k, 0, sizeof *k);
    s->scripts = k;
    rlt_out_init(&k->reply, s->memory, s->config.output_max);
    return rlt_lua_init(&k->lua, s->memory) == 0;
}

static void scripts_forget(rlt_server *s, rlt_entry *e)
{
    rlt_script *script = (rlt_script *)e->value.p;

    rlt_lua_code_free(&s->scripts->lua, script->code);
    rlt_pool_put(&s->pool, script, sizeof *script);
}

RELET_PRIVATE void rlt_scripts_flush(rlt_server *s)
{
    rlt_entry *e;

    for (e = s->scripts->known.first; e; e = e->next)
        scripts_forget(s, e);
    rlt_dict_clear(&s->scripts->known, &s->pool);
}

RELET_PRIVATE void rlt_scripts_free(rlt_server *s)
{
    if (s->scripts == NULL)
        return;
    rlt_scripts_flush(s);
    rlt_lua_free(&s->scripts->lua);
    rlt_out_free(&s->scripts->reply);
    rlt_pool_put(&s->pool, s->scripts, sizeof *s->scripts);
    s->scripts = NULL;
}

RELET_PRIVATE rlt_script *rlt_scripts_find(const rlt_server *s,
                                           relet_span sha)
{
    char lower[40];
    relet_span name;
    rlt_entry *e;
    size_t i;

    if (sha.n != sizeof lower)
        return NULL;
    for (i = 0; i < sizeof lower; i++)
        lower[i] = sha.p[i] >= 'A' && sha.p[i] <= 'Z'
                       ? (char)(sha.p[i] - 'A' + 'a')
                       : sha.p[i];
    name.p = lower;
    name.n = sizeof lower;
    e = rlt_dict_find(&s->scripts->known, name);
    return e ? (rlt_script *)e->value.p : NULL;
}

/* ----------------------------------------------------------- the first line */

static int scripts_flag(relet_span word)
{
    static const char *const words[] = {"no-writes", "allow-oom",
                                        "allow-stale", "no-cluster",
                                        "allow-cross-slot-keys"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (rlt_span_is(word, words[i]))
            return 1 << i;
    return 0;
}

static int scripts_flags(relet_span list, const char **error,
                         relet_span *word)
{
    int flags = 0, flag;

    while (list.p != NULL && list.n > 0) {
        *word = rlt_span_cut(&list, ',');
        flag = scripts_flag(*word);
        if (flag == 0) {
            *error = "ERR Unexpected flag in script shebang: ";
            return -1;
        }
        flags |= flag;
        /* "a," ends in a flag that is empty, and unknown */
        if (list.p != NULL && list.n == 0) {
            *error = "ERR Unexpected flag in script shebang: ";
            word->n = 0;
            return -1;
        }
    }
    return flags;
}

static relet_span scripts_word(relet_span *line)
{
    relet_span word;

    while (line->n > 0 && (*line->p == ' ' || (*line->p >= '\t' &&
                                               *line->p <= '\r'))) {
        line->p++;
        line->n--;
    }
    word.p = line->p;
    word.n = 0;
    while (line->n > 0 && *line->p != ' ' &&
           !(*line->p >= '\t' && *line->p <= '\r')) {
        word.n++;
        line->p++;
        line->n--;
    }
    return word;
}

RELET_PRIVATE int rlt_scripts_first_line(relet_span text, size_t *skip,
                                         const char **error,
                                         relet_span *word)
{
    relet_span line = text;
    const char *end;
    int flags = 0, more;

    *skip = 0;
    *error = NULL;
    *word = relet_str("");
    if (!rlt_span_eat(&line, "#!"))
        return RLT_SCRIPT_PLAIN;
    end = (const char *)memchr(text.p, '\n', text.n);
    if (end == NULL) {
        *error = "ERR Invalid script shebang";
        return -1;
    }
    line = text;
    line.n = *skip = (size_t)(end - text.p);
    *word = scripts_word(&line);
    if (!rlt_span_is(*word, "#!lua")) {
        *error = "ERR Unexpected engine in script shebang: ";
        return -1;
    }
    for (*word = scripts_word(&line); word->n > 0;
         *word = scripts_word(&line)) {
        relet_span list = *word;

        if (!rlt_span_eat(&list, "flags=")) {
            *error = "ERR Unknown lua shebang option: ";
            return -1;
        }
        more = scripts_flags(list, error, word);
        if (more < 0)
            return -1;
        flags |= more;
    }
    return flags;
}

/* ---------------------------------------------------------------- compiling */

static rlt_script *scripts_keep(rlt_call *c, const char *sha, int flags,
                                rlt_lua_code *code)
{
    rlt_server *s = c->server;
    relet_span name;
    rlt_script *script;
    rlt_entry *e;

    if (!rlt_pool_ensure_more(&s->pool, RLT_POOL_COST(sizeof *script) +
                                            RLT_DICT_COST(40))) {
        rlt_lua_code_free(&s->scripts->lua, code);
        rlt_call_error(c, RLT_ERR_OOM);
        return NULL;
    }
    name.p = sha;
    name.n = 40;
    script = (rlt_script *)rlt_pool_get(&s->pool, sizeof *script);
    script->code = code;
    script->flags = flags;
    memcpy(script->sha, sha, 40);
    script->sha[40] = '\0';
    e = rlt_dict_add(&s->scripts->known, &s->pool, name);
    e->value.p = script;
    return script;
}

RELET_PRIVATE rlt_script *rlt_scripts_load(rlt_call *c, relet_span text)
{
    rlt_server *s = c->server;
    char sha[40], error[512];
    const char *bad;
    relet_span name, word, source = text;
    rlt_lua_code *code;
    rlt_script *known;
    size_t skip;
    int flags, failed;

    rlt_sha1_hex(text.p, text.n, sha);
    name.p = sha;
    name.n = sizeof sha;
    known = rlt_scripts_find(s, name);
    if (known)
        return known;
    flags = rlt_scripts_first_line(text, &skip, &bad, &word);
    if (flags < 0) {
        rlt_call_error_with(c, bad, word, "");
        return NULL;
    }
    if (source.n > 0)
        source.p += skip;
    source.n -= skip;
    failed = rlt_lua_compile(&s->scripts->lua, source, "user_script", &code,
                             error, sizeof error);
    if (failed == 0)
        return scripts_keep(c, sha, flags, code);
    if (failed == RELET_E_CONFIG)
        rlt_call_error_with(c, "ERR Error compiling script (new function): ",
                            relet_str(error), "");
    else
        rlt_call_error(c, RLT_ERR_OOM);
    return NULL;
}

/* -------------------------------------------------------------------- flags */

static int scripts_says(const rlt_call *c)
{
    const rlt_script *script = NULL;
    const char *bad;
    relet_span word;
    size_t skip;

    if (strncmp(c->command->name, "evalsha", 7) == 0) {
        script = rlt_scripts_find(c->server, c->argv[1]);
        return script ? script->flags : -1;
    }
    return rlt_scripts_first_line(c->argv[1], &skip, &bad, &word);
}

RELET_PRIVATE uint32_t rlt_scripts_flags(const rlt_call *c)
{
    uint32_t flags = c->command->flags;
    int says;

    if (c->is_sub || strncmp(c->command->name, "eval", 4) != 0)
        return flags;
    says = scripts_says(c);
    if (says < 0 || (says & RLT_SCRIPT_PLAIN))
        return flags;
    flags &= ~(uint32_t)(RLT_CMD_STALE | RLT_CMD_DENYOOM | RLT_CMD_WRITE |
                         RLT_CMD_MAY_REPLICATE);
    if (!(says & (RLT_SCRIPT_ALLOW_OOM | RLT_SCRIPT_NO_WRITES)))
        flags |= RLT_CMD_DENYOOM;
    if (!(says & RLT_SCRIPT_NO_WRITES))
        flags |= RLT_CMD_WRITE;
    if (says & RLT_SCRIPT_ALLOW_STALE)
        flags |= RLT_CMD_STALE;
    return flags;
}
