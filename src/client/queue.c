/* SPDX-License-Identifier: MIT
 *
 * queue.c - the commands of operators: look at jobs and counts, cancel, replay,
 * purge, reap, trim, repair, pause. */
#include "client.h"
#include "args.h"

#ifndef RELET_NO_QUEUE

#define QUEUE_MOST 128         /* jobs that a script looks at, named or not   */
#define QUEUE_REPLAYS 10
#define QUEUE_KEPT_MS 3600000  /* for a result whose expiry was lost          */
#define QUEUE_MS_MAX ((relet_time)1000000000000)
#define QUEUE_TEXT_MAX "4096"  /* bytes of a listed record or text; heads fit */

/* ------------------------------------------------------------------ sending */

/* A call that is being made. */
typedef struct queue_call {
    rlt_queue_tag tag;
    rlt_args *w;
} queue_call;

/* NULL, or the rule that is broken. */
static const char *queue_begin(const relet *r, queue_call *c, relet_span queue,
                               const rlt_queue_key *key, size_t keys)
{
    const char *rule = rlt_queue_tag_make(&c->tag, relet_str(r->prefix), queue);
    size_t i;

    if (rule == NULL && r->workers.max == 0)
        rule = "queues need workers_max of at least 1";
    if (rule)
        return rule;
    c->w = rlt_client_args(r);
    for (i = 0; i < keys; i++)
        rlt_args_key(c->w, &c->tag, key[i]);
    return NULL;
}

#define QUEUE_BEGIN(r, c, queue, key) \
    queue_begin(r, c, queue, key, sizeof(key) / sizeof(key)[0])

static int queue_send(relet *r, queue_call *c, rlt_own_script script,
                      const relet_request *q, uint8_t flags)
{
    relet_args a;

    rlt_assert(c->w->keys > 0);
    rlt_assert(c->w->argc >= c->w->keys);
    rlt_wake_name(r);
    a.argv = c->w->argv;
    a.argc = c->w->argc;
    return rlt_submit_put(r, script, c->w->keys, &a, q, flags, 0);
}

static const char *queue_most_rule(uint32_t most)
{
    return most < 1 || most > QUEUE_MOST ? "between 1 and 128 at a time"
                                         : NULL;
}

/* A job by its number, or by its id. */
static const char *queue_target(queue_call *c, uint64_t number, relet_span id)
{
    if (number == 0 && id.n == 0)
        return "a job is named by its number or its id";
    if (number > INT64_MAX || id.n > RLT_JOB_TEXT_MAX)
        return "there is no such job";
    rlt_args_add(c->w, number > 0 ? relet_str("") : id);
    if (number > 0)
        rlt_args_number(c->w, number);
    else
        rlt_args_add(c->w, relet_str(""));
    return NULL;
}

RELET_API int relet_queue_job_look(relet *r, relet_span queue, uint64_t number,
                                   relet_span id, const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS,   RLT_KEY_IDS,
                                        RLT_KEY_DELAYED, RLT_KEY_LEASED,
                                        RLT_KEY_DONE,   RLT_KEY_DEAD};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_target(&c, number, id);
    if (rule)
        return rlt_client_refuse(r, rule);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_LOOK, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_job_cancel(relet *r, relet_span queue,
                                     uint64_t number, relet_span id,
                                     const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_IDS,
                                        RLT_KEY_RANKED, RLT_KEY_DELAYED};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_target(&c, number, id);
    if (rule)
        return rlt_client_refuse(r, rule);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_CANCEL, q, 0);
}

RELET_API int relet_queue_job_keep(relet *r, relet_span queue, uint64_t number,
                                   relet_span id, relet_time keep_ms,
                                   const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_IDS,
                                        RLT_KEY_DONE};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_target(&c, number, id);
    if (rule == NULL && (keep_ms < 0 || keep_ms > QUEUE_MS_MAX))
        rule = "keep_ms must be between 0 and 1000000000000";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, (uint64_t)keep_ms);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_KEEP, q, RELET_REPEATABLE);
}

/* The letter of a place in scripts, or NULL; *key: where its jobs are. */
static const char *queue_place(relet_place place, rlt_queue_key *key)
{
    switch (place) {
    case RELET_AT_WAITING:
        *key = RLT_KEY_WAITING;
        return "w";
    case RELET_AT_RANKED:
        *key = RLT_KEY_RANKED;
        return "k";
    case RELET_AT_DELAYED:
        *key = RLT_KEY_DELAYED;
        return "y";
    case RELET_AT_LEASED:
        *key = RLT_KEY_LEASED;
        return "l";
    case RELET_AT_DONE:
        *key = RLT_KEY_DONE;
        return "d";
    case RELET_AT_DEAD:
        *key = RLT_KEY_DEAD;
        return "x";
    case RELET_AT_NOWHERE:
        break;
    }
    return NULL;
}

RELET_API int relet_queue_job_list(relet *r, relet_span queue,
                                   relet_place place, uint64_t from,
                                   uint32_t most, const relet_span *type,
                                   const relet_request *q)
{
    rlt_queue_key key[2] = {RLT_KEY_JOBS, RLT_KEY_WAITING};
    const char *letter = queue_place(place, &key[1]), *rule;
    queue_call c;

    rule = QUEUE_BEGIN(r, &c, queue, key);
    if (rule == NULL && letter == NULL)
        rule = "there is no such place";
    if (rule == NULL)
        rule = queue_most_rule(most);
    if (rule == NULL && from > (uint64_t)QUEUE_MS_MAX)
        rule = "a list is not so long";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_add(c.w, relet_str(letter));
    rlt_args_number(c.w, from);
    rlt_args_number(c.w, most);
    rlt_args_add(c.w, relet_str(QUEUE_TEXT_MAX));
    if (type)
        rlt_args_add(c.w, *type);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_LIST, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_status(relet *r, relet_span queue,
                                 const relet_request *q)
{
    static const rlt_queue_key key[] = {
        RLT_KEY_JOBS,   RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_DELAYED,
        RLT_KEY_LEASED, RLT_KEY_DONE,    RLT_KEY_DEAD,   RLT_KEY_IDLE};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule)
        return rlt_client_refuse(r, rule);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_STATUS, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_replay(relet *r, relet_span queue,
                                 const uint64_t *numbers, size_t count,
                                 uint64_t from, uint32_t most,
                                 uint32_t replays_max, const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_DELAYED,
                                        RLT_KEY_DEAD};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);
    size_t i;
    int code;

    if (rule == NULL && count > QUEUE_MOST)
        rule = "at most 128 jobs are named at a time";
    if (rule == NULL && count == 0)
        rule = queue_most_rule(most);
    if (rule == NULL && from > (uint64_t)QUEUE_MS_MAX)
        rule = "a list is not so long";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, replays_max ? replays_max : QUEUE_REPLAYS);
    rlt_args_number(c.w, most);
    rlt_args_number(c.w, from);
    for (i = 0; i < count; i++)
        rlt_args_number(c.w, numbers[i]);
    code = queue_send(r, &c, RLT_SCRIPT_QUEUE_REPLAY, q, 0);
    if (code == 0)
        rlt_put_promote(r, &c.tag, q);
    return code;
}

RELET_API int relet_queue_purge(relet *r, relet_span queue, relet_place place,
                                uint32_t most, int force,
                                const relet_request *q)
{
    static const rlt_queue_key key[] = {
        RLT_KEY_JOBS,    RLT_KEY_IDS,  RLT_KEY_WAITING, RLT_KEY_RANKED,
        RLT_KEY_DELAYED, RLT_KEY_DEAD, RLT_KEY_DONE,    RLT_KEY_LEASED};
    rlt_queue_key ignored;
    const char *letter = queue_place(place, &ignored), *rule;
    queue_call c;

    rule = QUEUE_BEGIN(r, &c, queue, key);
    if (rule == NULL)
        rule = queue_most_rule(most);
    if (rule == NULL && letter == NULL && place != RELET_AT_NOWHERE)
        rule = "there is no such place";
    if (rule)
        return rlt_client_refuse(r, rule);
    if (place == RELET_AT_RANKED) /* both kinds of waiting go */
        letter = "w";
    rlt_args_add(c.w, relet_str(letter ? letter : "a"));
    rlt_args_number(c.w, most);
    rlt_args_add(c.w, relet_str(force ? "1" : "0"));
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_PURGE, q, 0);
}

RELET_API int relet_queue_reap(relet *r, relet_span queue, uint32_t most,
                               uint32_t stalls_max, relet_time hold_off_ms,
                               const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_WAITING,
                                        RLT_KEY_LEASED, RLT_KEY_DEAD,
                                        RLT_KEY_IDLE};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_most_rule(most);
    if (rule == NULL && (hold_off_ms < 0 || hold_off_ms > QUEUE_MS_MAX))
        rule = "hold_off_ms must be between 0 and 1000000000000";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, most);
    rlt_args_number(c.w, stalls_max);
    rlt_args_number(c.w, (uint64_t)hold_off_ms);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_REAP, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_promote(relet *r, relet_span queue, uint32_t most,
                                  const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_WAITING,
                                        RLT_KEY_RANKED, RLT_KEY_DELAYED,
                                        RLT_KEY_IDLE};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_most_rule(most);
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, most);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_PROMOTE, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_trim(relet *r, relet_span queue, uint64_t done_max,
                               uint64_t dead_max, relet_time dead_ms,
                               uint32_t most, const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_DONE,
                                        RLT_KEY_DEAD, RLT_KEY_IDS};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule == NULL)
        rule = queue_most_rule(most);
    if (rule == NULL && (dead_ms < 0 || dead_ms > QUEUE_MS_MAX))
        rule = "dead_ms must be between 0 and 1000000000000";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, done_max);
    rlt_args_number(c.w, dead_max);
    rlt_args_number(c.w, (uint64_t)dead_ms);
    rlt_args_number(c.w, most);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_TRIM, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_forget(relet *r, relet_span queue, relet_span from,
                                 const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS, RLT_KEY_IDS};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_add(c.w, from);
    rlt_args_number(c.w, 100);
    return queue_send(r, &c, RLT_SCRIPT_QUEUE_FORGET, q, RELET_REPEATABLE);
}

RELET_API int relet_queue_repair(relet *r, relet_span queue, uint64_t number,
                                 relet_time lease_ms, const relet_request *q)
{
    static const rlt_queue_key key[] = {
        RLT_KEY_JOBS,   RLT_KEY_WAITING, RLT_KEY_RANKED, RLT_KEY_DELAYED,
        RLT_KEY_LEASED, RLT_KEY_DONE,    RLT_KEY_DEAD};
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);
    int code;

    if (rule == NULL && (number == 0 || number > INT64_MAX))
        rule = "there is no such job";
    if (rule == NULL && (lease_ms < 0 || lease_ms > QUEUE_MS_MAX))
        rule = "lease_ms must be between 0 and 1000000000000";
    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, number);
    rlt_args_number(c.w, (uint64_t)lease_ms);
    rlt_args_number(c.w, QUEUE_KEPT_MS);
    code = queue_send(r, &c, RLT_SCRIPT_QUEUE_REPAIR, q, RELET_REPEATABLE);
    if (code == 0)
        rlt_put_promote(r, &c.tag, q);
    return code;
}

/* ----------------------------------------------------------------- settings
 *
 * Fields of the queue itself beside its jobs, which the scripts read. */

static int queue_command(relet *r, const relet_span *argv, size_t argc,
                         const relet_request *q)
{
    relet_request again = {0, 0, 0};

    if (q)
        again = *q;
    again.flags |= RELET_REPEATABLE;
    return relet_command(r, argv, argc, &again);
}

RELET_API int relet_queue_limit(relet *r, relet_span queue, uint32_t limit,
                                const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS};
    relet_span argv[4];
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);

    if (rule)
        return rlt_client_refuse(r, rule);
    rlt_args_number(c.w, limit);
    argv[0] = relet_str(limit > 0 ? "HSET" : "HDEL");
    argv[1] = c.w->argv[0];
    argv[2] = relet_str("limit");
    argv[3] = c.w->argv[1];
    return queue_command(r, argv, limit > 0 ? 4 : 3, q);
}

static int queue_gates(relet *r, relet_span queue, int gates, int shut,
                       const relet_request *q)
{
    static const rlt_queue_key key[] = {RLT_KEY_JOBS};
    relet_span argv[6];
    queue_call c;
    const char *rule = QUEUE_BEGIN(r, &c, queue, key);
    size_t n = 2;
    int gate;

    if (rule == NULL && (gates < 1 || gates > (RELET_IN | RELET_OUT)))
        rule = "gates are RELET_IN, RELET_OUT or both";
    if (rule)
        return rlt_client_refuse(r, rule);
    argv[0] = relet_str(shut ? "HSET" : "HDEL");
    argv[1] = c.w->argv[0];
    for (gate = RELET_IN; gate <= RELET_OUT; gate++) {
        if (!(gates & gate))
            continue;
        argv[n++] = relet_str(gate == RELET_IN ? "closed" : "stopped");
        if (shut)
            argv[n++] = relet_str("1");
    }
    return queue_command(r, argv, n, q);
}

RELET_API int relet_queue_pause(relet *r, relet_span queue, int gates,
                                const relet_request *q)
{
    return queue_gates(r, queue, gates, 1, q);
}

RELET_API int relet_queue_resume(relet *r, relet_span queue, int gates,
                                 const relet_request *q)
{
    return queue_gates(r, queue, gates, 0, q);
}

#endif /* RELET_NO_QUEUE */
