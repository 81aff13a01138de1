/* SPDX-License-Identifier: MIT
 *
 * put.c - puts jobs into queues, in batches where it can, and reads the answers
 * to puts. */
#include "client.h"
#include "text.h"
#include "args.h"

#ifndef RELET_NO_QUEUE

#define PUT_PLAIN_MAX 128
#define PUT_WINDOW_MAX ((relet_time)1000000000000)
#define PUT_NUMBER_MAX (INT64_MAX - PUT_PLAIN_MAX) /* adding jobs cannot wrap */

static const char *put_rule(const relet *r, const relet_job *jobs,
                            size_t count, int *plain)
{
    char head[RLT_JOB_HEAD_MAX];
    const char *rule;
    size_t i;

    *plain = 1;
    if (r->workers.max == 0)
        return "queues need workers_max of at least 1";
    if (count == 0)
        return "nothing to put";
    for (i = 0; i < count; i++) {
        rule = rlt_job_rule(&jobs[i]);
        if (rule)
            return rule;
        *plain = *plain && rlt_job_head(&jobs[i], head) == 0;
    }
    if (count > (*plain ? PUT_PLAIN_MAX : RLT_ARGS_HEADS))
        return "at most 128 jobs at a time, or 16 that are not plain";
    return NULL;
}

/* Gives a put a number that no other put of this client has, and a place under
 * which the server remembers the number, so that a repeat changes nothing. No
 * other put has the place while this one waits for its answer. Returns the
 * place, from 1 on. */
static uint32_t put_op(relet *r, rlt_args *w)
{
    uint64_t places = 2 * (uint64_t)r->home->operations_max;
    uint32_t place = (uint32_t)(r->workers.put_op % places);

    rlt_client_batch(r)->place = 0;
    while (rlt_route_has_place(&r->route, place + 1))
        place = (uint32_t)((place + 1) % places);
    rlt_args_place(
        w, rlt_span(r->wake.name + r->wake.len - RLT_UID_LEN, RLT_UID_LEN),
        place);
    rlt_args_number(w, ++r->workers.put_op);
    return place + 1;
}

#define PUT_WORDS 10 /* words of a plain put before its jobs                  */

/* Joins the newest put, if that was not sent. Returns as rlt_submit_along. */
static int put_along(relet *r, const rlt_queue_tag *tag, const relet_job *jobs,
                     size_t count, const relet_request *q)
{
    rlt_put_batch *f = rlt_client_batch(r);
    rlt_args *w;
    relet_args more;
    size_t i;
    int code;

    if (f->place == 0 || f->jobs + count > PUT_PLAIN_MAX ||
        f->queue.len != tag->len ||
        memcmp(f->queue.text, tag->text, tag->len) != 0)
        return 0;
    rlt_assert(f->jobs > 0);
    w = rlt_client_args(r);
    for (i = 0; i < count; i++)
        rlt_args_add(w, jobs[i].payload);
    more.argv = w->argv;
    more.argc = w->argc;
    code = rlt_submit_along(
        r, rlt_route_hashslot(rlt_span(tag->text, tag->len)),
        PUT_WORDS + f->jobs, f->place, f->jobs, &more, q);
    if (code == 1)
        f->jobs += (uint32_t)count;
    return code;
}

RELET_PRIVATE void rlt_put_answered(relet *r, const relet_event *ev)
{
    rlt_put_batch *f = rlt_client_batch(r);
    char *room = (char *)f->said;
    relet_value number;

    rlt_assert(r->workers.max > 0); /* else nothing was put */
    f->ev = *ev;
    f->first = 0;
    f->ev.value = relet_value_copy(ev->value, f->said, sizeof f->said);
    number = relet_value_at(f->ev.value, 0);
    if (ev->kind == RELET_EV_REPLY && relet_value_type(number) == RELET_T_INT) {
        f->first = number.node->payload;
        f->number = (uint32_t)(number.node - f->said);
    }
    if (f->ev.value.node == NULL && ev->value.node != NULL) {
        f->ev.text.n = RLT_MIN(ev->text.n, sizeof f->said);
        f->ev.text.p = (const char *)memcpy(room, ev->text.n ? ev->text.p : "",
                                            f->ev.text.n);
    } else if (ev->value.node != NULL) {
        f->ev.text = relet_value_text(f->ev.value);
    }
}

RELET_PRIVATE int rlt_put_event(relet *r, relet_event *ev)
{
    rlt_put_batch *f = rlt_client_batch(r);
    rlt_op op;

    rlt_assert(r->workers.max > 0); /* a batch is of puts alone */
    if (!rlt_route_take_answered(&r->route, &op))
        return 0;
    if (f->first > 0 && f->first <= PUT_NUMBER_MAX)
        f->said[f->number].payload = f->first + (int64_t)op.arg;
    *ev = f->ev;
    ev->tag = op.tag;
    return 1;
}

static int put_plain(relet *r, rlt_args *w, const rlt_queue_tag *tag,
                     const relet_job *jobs, size_t count, uint64_t most,
                     uint32_t *place)
{
    size_t i;

    rlt_args_key(w, tag, RLT_KEY_JOBS);
    rlt_args_key(w, tag, RLT_KEY_WAITING);
    rlt_args_key(w, tag, RLT_KEY_RANKED);
    rlt_args_key(w, tag, RLT_KEY_IDLE);
    *place = put_op(r, w);
    rlt_args_number(w, most);
    for (i = 0; i < count; i++)
        rlt_args_add(w, jobs[i].payload);
    return RLT_SCRIPT_QUEUE_PUT;
}

static int put_offer(relet *r, rlt_args *w, const rlt_queue_tag *tag,
                     const relet_job *jobs, size_t count, uint64_t most,
                     uint32_t *place)
{
    size_t i;

    rlt_args_key(w, tag, RLT_KEY_JOBS);
    rlt_args_key(w, tag, RLT_KEY_DELAYED);
    rlt_args_key(w, tag, RLT_KEY_IDS);
    rlt_args_key(w, tag, RLT_KEY_WAITING);
    rlt_args_key(w, tag, RLT_KEY_RANKED);
    *place = put_op(r, w);
    rlt_args_number(w, most);
    for (i = 0; i < count; i++) {
        rlt_args_head(w, &jobs[i]);
        rlt_args_add(w, jobs[i].payload);
    }
    return RLT_SCRIPT_QUEUE_PUT_FULL;
}

/* From now on later puts may join this one. */
static void put_leads(relet *r, const rlt_queue_tag *tag, uint32_t place,
                      size_t count)
{
    rlt_put_batch *f = rlt_client_batch(r);

    rlt_assert(place > 0);
    rlt_assert(count > 0);
    rlt_assert(count <= PUT_PLAIN_MAX);
    f->queue = *tag;
    f->place = place;
    f->jobs = (uint32_t)count;
}

RELET_PRIVATE void rlt_put_promote(relet *r, const rlt_queue_tag *tag,
                                   const relet_request *q)
{
    relet_request own = {RLT_TAG_IGNORED, 0, RELET_REPEATABLE};
    rlt_args *w;
    relet_args a;

    w = rlt_client_args(r);
    rlt_args_key(w, tag, RLT_KEY_JOBS);
    rlt_args_key(w, tag, RLT_KEY_WAITING);
    rlt_args_key(w, tag, RLT_KEY_RANKED);
    rlt_args_key(w, tag, RLT_KEY_DELAYED);
    rlt_args_key(w, tag, RLT_KEY_IDLE);
    rlt_args_number(w, PUT_PLAIN_MAX);
    a.argv = w->argv;
    a.argc = w->argc;
    own.timeout_ms = q && q->timeout_ms > 0 ? q->timeout_ms
                                            : r->setup.timeout_ms;
    (void)rlt_submit_script(r, RLT_SCRIPT_QUEUE_PROMOTE, w->keys, &a, &own);
}

/* Output bytes that must be free for the promote behind a put_full. */
#define PUT_PROMOTE_BYTES (1024 + 5 * RLT_QUEUE_KEY_MAX)

static int put_has_room(const relet *r, int plain)
{
    return plain || rlt_route_queued(&r->route) + PUT_PROMOTE_BYTES <=
                        r->output_max;
}

RELET_API int relet_queue_put(relet *r, relet_span queue, const relet_job *jobs,
                              size_t count, uint32_t waiting_max,
                              const relet_request *q)
{
    rlt_queue_tag tag;
    rlt_args *w;
    relet_args a;
    uint64_t most = waiting_max; /* 0: no limit */
    int plain = 0, script, code;
    uint32_t place = 0;
    const char *rule = rlt_queue_tag_make(&tag, relet_str(r->prefix), queue);

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rule == NULL)
        rule = put_rule(r, jobs, count, &plain);
    if (rule)
        return rlt_client_refuse(r, rule);
    if (!put_has_room(r, plain))
        return RELET_E_LIMIT;
    code = plain && most == 0 ? put_along(r, &tag, jobs, count, q) : 0;
    if (code != 0)
        return code > 0 ? 0 : code;
    rlt_wake_name(r);
    w = rlt_client_args(r);
    script = plain ? put_plain(r, w, &tag, jobs, count, most, &place)
                   : put_offer(r, w, &tag, jobs, count, most, &place);
    a.argv = w->argv;
    a.argc = w->argc;
    code = rlt_submit_put(r, (rlt_own_script)script, w->keys, &a, q,
                          RELET_REPEATABLE, place);
    if (code == 0 && !plain)
        rlt_put_promote(r, &tag, q);
    if (code == 0 && plain && most == 0)
        put_leads(r, &tag, place, count);
    return code;
}

static const char *put_unique_rule(const relet *r, const relet_job *job,
                                   relet_unique mode, relet_time window_ms)
{
    int plain, opens = mode == RELET_THROTTLE || mode == RELET_EXTEND;
    const char *rule = put_rule(r, job, 1, &plain);

    if (rule == NULL && (unsigned)mode > RELET_DEBOUNCE)
        rule = "there is no such mode of relet_queue_put_unique";
    if (rule == NULL && job->id.n == 0)
        rule = "relet_queue_put_unique needs job.id";
    if (rule == NULL && opens && (window_ms < 1 || window_ms > PUT_WINDOW_MAX))
        rule = "window_ms must be between 1 and 1000000000000";
    return rule;
}

RELET_API int relet_queue_put_unique(relet *r, relet_span queue,
                                     const relet_job *job, relet_unique mode,
                                     relet_time window_ms, uint32_t waiting_max,
                                     const relet_request *q)
{
    rlt_queue_tag tag;
    rlt_args *w;
    relet_args a;
    uint32_t place;
    int code;
    const char *rule = rlt_queue_tag_make(&tag, relet_str(r->prefix), queue);

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (rule == NULL)
        rule = put_unique_rule(r, job, mode, window_ms);
    if (rule)
        return rlt_client_refuse(r, rule);
    if (!put_has_room(r, 0))
        return RELET_E_LIMIT;
    rlt_wake_name(r);
    w = rlt_client_args(r);
    rlt_args_key(w, &tag, RLT_KEY_JOBS);
    rlt_args_key(w, &tag, RLT_KEY_DELAYED);
    rlt_args_key(w, &tag, RLT_KEY_IDS);
    rlt_args_key(w, &tag, RLT_KEY_WAITING);
    rlt_args_key(w, &tag, RLT_KEY_RANKED);
    place = put_op(r, w);
    rlt_args_add(w, rlt_span(&"terd"[mode], 1));
    rlt_args_number(w, (uint64_t)RLT_MAX(window_ms, 0));
    rlt_args_head(w, job);
    rlt_args_add(w, job->payload);
    rlt_args_number(w, waiting_max);
    a.argv = w->argv;
    a.argc = w->argc;
    code = rlt_submit_put(r, RLT_SCRIPT_QUEUE_UNIQUE, w->keys, &a, q,
                          RELET_REPEATABLE, place);
    if (code == 0)
        rlt_put_promote(r, &tag, q);
    return code;
}

/* The i-th word of queue_put_full's answer: the number of the new job; or '-',
 * the number of the job that has its id already, and a letter for its place. */
static relet_span put_word(relet_value v, size_t i)
{
    relet_span s = relet_value_text(v);

    for (; i > 0 && s.p != NULL; i--)
        (void)rlt_span_cut(&s, ' ');
    return s.p != NULL ? rlt_span_cut(&s, ' ') : s;
}

/* Cuts the letter off the end of such a word, and returns it; or 0. */
static char put_letter(relet_span *word)
{
    char last = word->n > 0 && *word->p == '-' ? word->p[word->n - 1] : 0;

    if (last < 'A' || last > 'Z')
        return 0;
    word->n--;
    return last;
}

RELET_API int relet_queue_put_number(relet_value v, size_t i, uint64_t *number)
{
    relet_span word = put_word(v, i);
    int64_t n = 0;

    if (relet_value_type(v) == RELET_T_ARRAY) { /* plain: numbers in a row */
        if (!relet_value_int(relet_value_at(v, 0), &n) || n <= 0)
            return 0;
        *number = (uint64_t)n + i;
        return 1;
    }
    (void)put_letter(&word);
    if (word.p == NULL || !rlt_text_int(word.p, word.n, &n) || n == 0)
        return 0;
    *number = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    return n < 0 ? 2 : 1;
}

RELET_API relet_place relet_queue_put_twin(relet_value v, size_t i)
{
    relet_span word = put_word(v, i);

    switch (put_letter(&word)) {
    case 'W':
        return RELET_AT_WAITING;
    case 'L':
        return RELET_AT_LEASED;
    case 'D':
        return RELET_AT_DONE;
    case 'X':
        return RELET_AT_DEAD;
    default:
        return RELET_AT_NOWHERE;
    }
}

#endif /* RELET_NO_QUEUE */
