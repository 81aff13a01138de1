/* SPDX-License-Identifier: MIT
 *
 * submit.c - submits commands, transactions, scripts and subscriptions.
 *
 * A submission either queues all of its bytes and one operation, or returns a
 * code and has changed nothing. */
#include "client.h"
#include "cmd.h"
#include "command_rules.h"
#include "text.h"

/* A longer timeout becomes RELET_NEVER, which is not added to a time. */
#define SUBMIT_MS_MAX ((relet_time)1000000000000)
/* queue_forget.lua keeps the record of a client's last put for an hour or more:
 * puts end before that, so that no repeat puts jobs twice. */
#define SUBMIT_PUT_MS_MAX ((relet_time)50 * 60 * 1000)

/* Refuses n bytes that would not fit into an empty output of `room` bytes. n is
 * 0 if the arguments are over a limit. */
static int submit_fits(relet *r, size_t n, size_t room)
{
    if (n == 0)
        return rlt_client_refuse(r, "an argument is over 512 MiB, or there "
                                    "are too many");
    if (n > room)
        return rlt_client_refuse(r, "the command is larger than output_max");
    return 0;
}

/* The rules for each operation of the user, of n bytes. */
static int submit_may(relet *r, size_t n)
{
    int full = rlt_route_outstanding(&r->route) >= r->home->operations_max;
    int code;

    if (full && rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rlt_route_is_over(&r->route))
        return RELET_E_STOPPED;
    if (r->fail_fast && !rlt_route_is_up(&r->route, RLT_ANY_HASHSLOT))
        return rlt_client_refuse(r, "there is no link, and fail_fast is set");
    code = submit_fits(r, n, r->output_max);
    if (code)
        return code;
    if (full || n + rlt_route_queued(&r->route) > r->output_max)
        return RELET_E_LIMIT;
    return 0;
}

/* Room on this link for n bytes and one operation; or NULL, and *code says
 * why. */
static uint8_t *submit_begin(relet *r, rlt_link *l, size_t n, int *code)
{
    uint8_t *out = NULL;

    *code = submit_may(r, n);
    if (*code == 0)
        *code = rlt_link_begin(l, n, &out);
    return out;
}

/* Copies the user's tag, flag and timeout into the operation. */
static void submit_ask(const relet *r, const relet_request *q, rlt_op *op)
{
    op->deadline = r->setup.timeout_ms;
    if (q) {
        op->tag = q->tag;
        op->flags |= (uint8_t)(q->flags & RELET_REPEATABLE);
        if (q->timeout_ms > 0)
            op->deadline = q->timeout_ms;
        if (q->timeout_ms > SUBMIT_MS_MAX)
            op->deadline = RELET_NEVER;
    }
    if (RLT_HAS_QUEUE && op->place > 0)
        op->deadline = RLT_MIN(op->deadline, SUBMIT_PUT_MS_MAX);
}

#define SUBMIT_NOT_CACHED \
    "RELET_CACHED is for relet_command and relet_script_run alone"

static void submit_commit(relet *r, rlt_link *l, const relet_request *q,
                          rlt_op *op, size_t n)
{
    rlt_assert(n > 0);
    submit_ask(r, q, op);
    rlt_link_commit(l, op, n);
    r->submitted++;
}

static const char submit_caching[] =
    "*3\r\n$6\r\nCLIENT\r\n$7\r\nCACHING\r\n$3\r\nYES\r\n";

static int submit_is_cached(const relet_request *q)
{
#ifdef RELET_SMALL
    (void)q;
    return 0;
#else
    return q != NULL && (q->flags & RELET_CACHED) != 0;
#endif
}

/* The bytes of a CLIENT CACHING before the command, or 0. Its answer comes
 * before the one that counts. */
static size_t submit_prefix(rlt_op *op, const relet_request *q)
{
    if (!submit_is_cached(q))
        return 0;
    rlt_assert(op->skip == 0);
    op->skip = op->arg = 1;
    return sizeof submit_caching - 1;
}

/* Why the server would never invalidate the reply to this request, or NULL. */
static const char *submit_cached_rule(const relet *r, const relet_request *q)
{
    if (!submit_is_cached(q) || r->setup.tracking == RELET_TRACK_OPTIN)
        return NULL;
    return "RELET_CACHED needs tracking=optin in the configuration, or nothing "
           "invalidates what it reads";
}

RELET_API int relet_command(relet *r, const relet_span *argv, size_t argc,
                            const relet_request *q)
{
    rlt_effect effect;
    const char *rule = rlt_command_rule(argv, argc, 0, &effect);
    rlt_link *l = rlt_route_link(&r->route, RLT_ANY_HASHSLOT);
    uint8_t *out, *end;
    size_t prefix, n;
    rlt_op op;
    int code;

    if (rule == NULL)
        rule = submit_cached_rule(r, q);
    if (rule)
        return rlt_client_refuse(r, rule);
    memset(&op, 0, sizeof op);
    prefix = submit_prefix(&op, q);
    n = rlt_cmd_size(argv, argc);
    out = submit_begin(r, l, n ? n + prefix : 0, &code);
    if (out == NULL)
        return code;
    if (prefix > 0)
        memcpy(out, submit_caching, prefix);
    end = rlt_cmd_write(out + prefix, argv, argc);
    rlt_assert((size_t)(end - out) == n + prefix);
    (void)end;
    op.flags = rlt_link_watch_flags(l, effect);
    submit_commit(r, l, q, &op, n + prefix);
    rlt_link_watch(l, effect);
    return 0;
}

RELET_PRIVATE size_t rlt_submit_words(relet_span argv[RLT_SUBMIT_WORDS],
                                      va_list list)
{
    const char *word;
    size_t n = 0;

    while ((word = va_arg(list, const char *)) != NULL && n < RLT_SUBMIT_WORDS)
        argv[n++] = relet_str(word);
    return word != NULL ? RLT_SUBMIT_WORDS + 1 : n;
}

RELET_API int relet_command_text(relet *r, const relet_request *q, ...)
{
    relet_span argv[RLT_SUBMIT_WORDS];
    size_t argc;
    va_list list;

    va_start(list, q);
    argc = rlt_submit_words(argv, list);
    va_end(list);
    if (argc > RLT_SUBMIT_WORDS)
        return rlt_client_refuse(r, "relet_command_text takes 64 words");
    return relet_command(r, argv, argc, q);
}

static const char submit_multi[] = "*1\r\n$5\r\nMULTI\r\n";
static const char submit_exec[] = "*1\r\n$4\r\nEXEC\r\n";

/* Bytes of the whole transaction; 0 and a rule if a command is refused. */
static size_t submit_unit_size(const relet_args *c, size_t count,
                               const char **rule)
{
    size_t i, n, total = sizeof submit_multi + sizeof submit_exec - 2;
    rlt_effect effect;

    *rule = RLT_TEXT("a transaction without commands");
    for (i = 0; i < count; i++) {
        *rule = rlt_command_rule(c[i].argv, c[i].argc, 1, &effect);
        if (*rule)
            return 0;
        n = rlt_cmd_size(c[i].argv, c[i].argc);
        if (n == 0 || n > SIZE_MAX - total)
            return 0;
        total += n;
    }
    return *rule ? 0 : total;
}

RELET_API int relet_transaction(relet *r, const relet_args *commands,
                                size_t count, const relet_request *q)
{
    const char *rule;
    size_t n = submit_unit_size(commands, count, &rule), i;
    rlt_link *l = rlt_route_link(&r->route, RLT_ANY_HASHSLOT);
    uint8_t *out;
    rlt_op op;
    int code;

    if (rule)
        return rlt_client_refuse(r, rule);
    if (submit_is_cached(q))
        return rlt_client_refuse(r, SUBMIT_NOT_CACHED);
    rule = rlt_link_unguarded(l);
    if (rule)
        return rlt_client_refuse(r, rule);
    if (count >= UINT32_MAX)
        return rlt_client_refuse(r, "too many commands");
    out = submit_begin(r, l, n, &code);
    if (out == NULL)
        return code;
    memset(&op, 0, sizeof op);
    op.klass = RLT_OP_UNIT;
    op.skip = op.arg = (uint32_t)count + 1;
    memcpy(out, submit_multi, sizeof submit_multi - 1);
    out += sizeof submit_multi - 1;
    for (i = 0; i < count; i++)
        out = rlt_cmd_write(out, commands[i].argv, commands[i].argc);
    memcpy(out, submit_exec, sizeof submit_exec - 1);
    op.flags = rlt_link_exec_flags(l);
    submit_commit(r, l, q, &op, n);
    return 0;
}

RELET_API int relet_script_add(relet *r, relet_span body)
{
    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (body.n == 0)
        return rlt_client_refuse(r, "an empty script");
    return rlt_link_script_add(rlt_route_home(&r->route), body);
}

/* Library operations have room in the output that operations of the user cannot
 * take. Unless they are repeatable, they end with the current link. */
static int submit_ours(relet *r, rlt_link *l, const relet_span *head,
                       size_t heads, const relet_args *a,
                       const relet_request *q, rlt_op *op)
{
    size_t n = rlt_cmd_size_of(head, heads, a->argv, a->argc);
    uint8_t *out = NULL;
    int code = submit_fits(r, n, rlt_link_room(l));

    if (code == 0)
        code = rlt_link_begin(l, n, &out);
    if (code < 0)
        return code;
    (void)rlt_cmd_write_of(out, head, heads, a->argv, a->argc);
    op->tag = q->tag;
    op->deadline = q->timeout_ms;
    op->flags = (uint8_t)(RLT_OP_OURS | (q->flags & RELET_REPEATABLE));
    rlt_link_commit(l, op, n);
    return 0;
}

RELET_PRIVATE int rlt_submit_command(relet *r, uint16_t hashslot,
                                     const relet_args *a,
                                     const relet_request *q)
{
    relet_args rest = {a->argv + 1, a->argc - 1};
    rlt_op op;

    memset(&op, 0, sizeof op);
    return submit_ours(r, rlt_route_link(&r->route, hashslot), a->argv, 1,
                       &rest, q, &op);
}

/* The first key of a script determines the link. */
static rlt_link *submit_link(relet *r, size_t keys, const relet_args *a)
{
    return rlt_route_link(&r->route, keys > 0 ? rlt_route_hashslot(a->argv[0])
                                              : RLT_ANY_HASHSLOT);
}

RELET_PRIVATE int rlt_submit_script(relet *r, rlt_own_script which,
                                    size_t keys, const relet_args *a,
                                    const relet_request *q)
{
    rlt_link *l = submit_link(r, keys, a);
    uint32_t script = rlt_link_script(l, which);
    relet_span words[RLT_SCRIPT_WORDS];
    char digits[20];
    rlt_op op;
    int code;

    memset(&op, 0, sizeof op);
#ifndef RELET_NO_QUEUE
    if (which == RLT_SCRIPT_QUEUE_PROMOTE && q->tag == RLT_TAG_IGNORED)
        op.place = RLT_PLACE_BEHIND; /* see rlt_put_promote */
#endif
    rlt_link_script_words(l, script, 0, keys, digits, words, &op);
    code = submit_ours(r, l, words, RLT_SCRIPT_WORDS, a, q, &op);
    if (code == 0)
        rlt_link_script_sent(l, script, 1);
    return code;
}

static int submit_script(relet *r, uint32_t script, size_t keys,
                         const relet_args *a, const relet_request *q,
                         size_t prefix, rlt_op *op)
{
    rlt_link *l = submit_link(r, keys, a);
    relet_span words[RLT_SCRIPT_WORDS];
    char digits[20];
    uint8_t *out;
    size_t n;
    int code;

    rlt_link_script_words(l, script, prefix > 0, keys, digits, words, op);
    n = rlt_cmd_size_of(words, RLT_SCRIPT_WORDS, a->argv, a->argc);
    out = submit_begin(r, l, n ? n + prefix : 0, &code);
    if (out == NULL)
        return code;
    if (prefix > 0)
        memcpy(out, submit_caching, prefix);
    (void)rlt_cmd_write_of(out + prefix, words, RLT_SCRIPT_WORDS, a->argv,
                           a->argc);
    submit_commit(r, l, q, op, n + prefix);
    rlt_link_script_sent(l, script, 0);
    return 0;
}

RELET_PRIVATE int rlt_submit_put(relet *r, rlt_own_script which, size_t keys,
                                 const relet_args *a, const relet_request *q,
                                 uint8_t flags, uint32_t place)
{
    rlt_op op;

    if (submit_is_cached(q))
        return rlt_client_refuse(r, SUBMIT_NOT_CACHED);
    memset(&op, 0, sizeof op);
    op.flags = flags;
    op.place = place;
    return submit_script(r,
                         rlt_link_script(rlt_route_home(&r->route), which),
                         keys, a, q, 0, &op);
}

/* Bytes of a put batch at most. */
#define SUBMIT_ALONG_MAX 65536

RELET_PRIVATE int rlt_submit_along(relet *r, uint16_t hashslot, size_t argc,
                                   uint32_t place, uint32_t before,
                                   const relet_args *more,
                                   const relet_request *q)
{
    size_t n = rlt_cmd_more_size(argc, more->argv, more->argc), len;
    rlt_link *l = rlt_route_link(&r->route, hashslot);
    rlt_op op;
    int code;

    rlt_assert(place > 0);
    if (submit_is_cached(q))
        return rlt_client_refuse(r, SUBMIT_NOT_CACHED);
    memset(&op, 0, sizeof op);
    op.place = place;
    submit_ask(r, q, &op);
    op.klass = RLT_OP_BATCHED;
    op.flags = RELET_REPEATABLE;
    op.arg = before;
    len = rlt_link_joinable(l, &op);
    if (len == 0 || len + n > SUBMIT_ALONG_MAX)
        return 0;
    if (submit_begin(r, l, n, &code) == NULL)
        return code;
    rlt_link_join(l, &op, len, argc, more, n);
    r->submitted++;
    return 1;
}

RELET_API int relet_script_run(relet *r, int script, size_t keys,
                               const relet_span *argv, size_t argc,
                               const relet_request *q)
{
    relet_span none[1] = {{NULL, 0}};
    relet_args a;
    size_t prefix;
    rlt_op op;

    if (!rlt_link_has_script(rlt_route_home(&r->route), script))
        return rlt_client_refuse(r, "no such script");
    if (keys > argc)
        return rlt_client_refuse(r, "more keys than arguments");
    if (submit_cached_rule(r, q))
        return rlt_client_refuse(r, submit_cached_rule(r, q));
    a.argv = argc == 0 ? none : argv; /* argv may be NULL then */
    a.argc = argc;
    memset(&op, 0, sizeof op);
    prefix = submit_prefix(&op, q);
    return submit_script(r, (uint32_t)script, keys, &a, q, prefix, &op);
}

RELET_API size_t relet_cancel(relet *r, uint64_t tag)
{
    return rlt_client_is_foreign(r) ? 0 : rlt_route_cancel(&r->route, tag);
}

#ifndef RELET_SMALL

RELET_API int relet_subscribe(relet *r, relet_channel kind, relet_span name)
{
    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rlt_route_is_over(&r->route))
        return RELET_E_STOPPED;
    if ((unsigned)kind > RELET_SHARDED)
        return rlt_client_refuse(r, "no such kind of channel");
    if (name.n == 0)
        return rlt_client_refuse(r, "a channel without a name");
    if (name.n > r->name_max)
        return rlt_client_refuse(r, "a name that is over a limit");
    return rlt_link_subscribe(rlt_route_home(&r->route), kind, name);
}

RELET_API int relet_unsubscribe(relet *r, relet_channel kind, relet_span name)
{
    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rlt_route_is_over(&r->route))
        return RELET_E_STOPPED;
    if ((unsigned)kind > RELET_SHARDED ||
        rlt_link_unsubscribe(rlt_route_home(&r->route), kind, name) < 0)
        return rlt_client_refuse(r, "there is no such subscription");
    return 0;
}

#endif

RELET_API int relet_credentials(relet *r, relet_span user, relet_span password)
{
    relet_config *c = NULL;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (user.n >= sizeof c->user || password.n >= sizeof c->password ||
        (user.n > 0 && password.n == 0))
        return RELET_E_CONFIG;
    return rlt_route_credentials(&r->route, user, password);
}
