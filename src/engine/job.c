/* SPDX-License-Identifier: MIT
 *
 * job.c - how a job is stored on the server: names of keys, heads, states. */
#include "job.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

#define JOB_MS_MAX ((relet_time)1000000000000) /* some thirty years          */
#define JOB_ATTEMPTS 3
#define JOB_BACKOFF_MS 1000
#define JOB_BACKOFF_MAX_MS 3600000

static size_t job_put(char *out, size_t at, relet_span s)
{
    if (s.n > 0)
        memcpy(out + at, s.p, s.n);
    return at + s.n;
}

/* ------------------------------------------------------------------- names */

RELET_PRIVATE const char *rlt_queue_tag_make(rlt_queue_tag *q,
                                             relet_span prefix,
                                             relet_span name)
{
    size_t n = 0;

    if (name.n == 0)
        return "a queue has a name";
    if (name.n > RLT_QUEUE_NAME_MAX - 1 ||
        prefix.n > RLT_QUEUE_NAME_MAX - 1 - name.n)
        return "prefix and name of a queue have at most 199 bytes";
    if (memchr(name.p, '}', name.n) ||
        (prefix.n > 0 && memchr(prefix.p, '}', prefix.n)))
        return "the name of a queue may hold no }";
    q->text[n++] = '{';
    n = job_put(q->text, n, prefix);
    if (prefix.n > 0)
        q->text[n++] = ':';
    n = job_put(q->text, n, name);
    q->text[n++] = '}';
    q->len = (uint8_t)n;
    return NULL;
}

RELET_PRIVATE relet_span rlt_queue_name(const rlt_queue_tag *q,
                                        rlt_queue_key key,
                                        char room[RLT_QUEUE_KEY_MAX])
{
    static const char *const suffix[RLT_QUEUE_KEYS] = {
        ":jobs", ":waiting", ":ranked", ":delayed", ":leased",
        ":done", ":dead",    ":ids",    ":idle"};
    size_t n = job_put(room, 0, rlt_span(q->text, q->len));

    return rlt_span(room, job_put(room, n, relet_str(suffix[key])));
}

/* ------------------------------------------------------------------- heads */

RELET_PRIVATE const char *rlt_job_rule(const relet_job *j)
{
    if (j->id.n > RLT_JOB_TEXT_MAX)
        return "job.id has at most 255 bytes";
    if (j->type.n > RLT_JOB_TEXT_MAX)
        return "job.type has at most 255 bytes";
    if (j->reply_to.n > RLT_JOB_TEXT_MAX)
        return "job.reply_to has at most 255 bytes";
    if (j->rank < -1000 || j->rank > 1000)
        return "job.rank must be between -1000 and 1000";
    if (j->delay_ms < 0 || j->delay_ms > JOB_MS_MAX)
        return "job.delay_ms must be between 0 and 1000000000000";
    if ((int)j->backoff < 0 || j->backoff > RELET_BACKOFF_FIXED)
        return "job.backoff is not one of relet_backoff";
    if (j->backoff_ms < 0 || j->backoff_ms > JOB_MS_MAX)
        return "job.backoff_ms must be between 0 and 1000000000000";
    if (j->backoff_max_ms < 0 || j->backoff_max_ms > JOB_MS_MAX)
        return "job.backoff_max_ms must be between 0 and 1000000000000";
    if (j->timeout_ms < 0 || j->timeout_ms > JOB_MS_MAX)
        return "job.timeout_ms must be between 0 and 1000000000000";
    if (j->deadline_ms < 0 || j->deadline_ms > JOB_MS_MAX)
        return "job.deadline_ms must be between 0 and 1000000000000";
    if (j->keep_ms < 0 || j->keep_ms > JOB_MS_MAX)
        return "job.keep_ms must be between 0 and 1000000000000";
    return NULL;
}

/* Writes a letter and a number, or nothing for 0, the default. */
static size_t job_option(char *out, size_t at, char letter, int64_t v)
{
    if (v == 0)
        return at;
    out[at++] = letter;
    at += rlt_text_put_i64(out + at, v);
    out[at++] = ' ';
    return at;
}

/* The channel may hold any byte, so it is the last. */
static size_t job_options(const relet_job *j, char *out)
{
    size_t n = 0;

    n = job_option(out, n, 'a', (int64_t)j->attempts);
    n = job_option(out, n, 'b', j->backoff_ms);
    n = job_option(out, n, 'c', j->backoff_max_ms);
    n = job_option(out, n, 'd', j->deadline_ms);
    n = job_option(out, n, 'k', j->keep_ms);
    n = job_option(out, n, 's', (int64_t)j->backoff);
    n = job_option(out, n, 't', j->timeout_ms);
    if (j->reply_to.n > 0) {
        out[n++] = 'r';
        n = job_put(out, n, j->reply_to);
    }
    return n;
}

RELET_PRIVATE size_t rlt_job_head(const relet_job *j,
                                  char out[RLT_JOB_HEAD_MAX])
{
    char options[RLT_JOB_TEXT_MAX + 160];
    size_t k = job_options(j, options), n;

    if (j->rank == 0 && j->delay_ms == 0 && j->type.n == 0 && j->id.n == 0 &&
        k == 0)
        return 0;
    n = rlt_text_put_i64(out, j->rank);
    out[n++] = ',';
    n += rlt_text_put_i64(out + n, j->delay_ms);
    out[n++] = ',';
    n += rlt_text_put_u64(out + n, j->type.n);
    out[n++] = ',';
    n += rlt_text_put_u64(out + n, j->id.n);
    out[n++] = ',';
    n += rlt_text_put_u64(out + n, k);
    out[n++] = ';';
    n = job_put(out, n, j->type);
    n = job_put(out, n, j->id);
    return job_put(out, n, rlt_span(options, k));
}

/* Eats a number and the `end` behind it. */
static int job_eat(relet_span *s, char end, int64_t *out)
{
    relet_span word = rlt_span_cut(s, end);

    return s->p != NULL && rlt_text_int(word.p, word.n, out);
}

/* Takes n bytes off the front; the span must have as many. */
static relet_span job_take(relet_span *s, int64_t n)
{
    relet_span taken = rlt_span(s->p, (size_t)n);

    s->p += n;
    s->n -= (size_t)n;
    return taken;
}

static relet_time *job_field(relet_job *j, char letter)
{
    switch (letter) {
    case 'b':
        return &j->backoff_ms;
    case 'c':
        return &j->backoff_max_ms;
    case 'd':
        return &j->deadline_ms;
    case 'k':
        return &j->keep_ms;
    case 't':
        return &j->timeout_ms;
    default:
        return NULL;
    }
}

/* An option that a later version may have added is skipped. No time is longer
 * than a time that may be put, so that sums of times do not overflow. */
static void job_read_options(relet_span s, relet_job *j)
{
    while (s.p != NULL && s.n > 0) {
        char letter = *s.p;
        relet_time *field = job_field(j, letter);
        relet_span word;
        int64_t v = 0;

        (void)job_take(&s, 1);
        if (letter == 'r') {
            j->reply_to = s;
            return;
        }
        word = rlt_span_cut(&s, ' ');
        if (!rlt_text_int(word.p, word.n, &v) || v < 0)
            continue;
        if (field)
            *field = RLT_MIN(v, JOB_MS_MAX);
        else if (letter == 'a')
            j->attempts = (uint32_t)RLT_MIN(v, UINT32_MAX);
        else if (letter == 's' && v <= RELET_BACKOFF_FIXED)
            j->backoff = (relet_backoff)v;
    }
}

static int job_read_head(relet_span s, relet_job *j)
{
    int64_t rank, delay, type, id, options;

    if (!job_eat(&s, ',', &rank) || !job_eat(&s, ',', &delay) ||
        !job_eat(&s, ',', &type) || !job_eat(&s, ',', &id) ||
        !job_eat(&s, ';', &options))
        return 0;
    if (rank < -1000 || rank > 1000 || delay < 0 || type < 0 || id < 0 ||
        options < 0 || type > (int64_t)s.n || id > (int64_t)s.n - type ||
        options > (int64_t)s.n - type - id)
        return 0;
    j->rank = (int)rank;
    j->delay_ms = delay;
    j->type = job_take(&s, type);
    j->id = job_take(&s, id);
    job_read_options(job_take(&s, options), j);
    j->payload = s;
    return 1;
}

static int job_read_hex(relet_span s, uint64_t *out)
{
    size_t i;

    for (*out = 0, i = 0; i < 8; i++) {
        int digit = rlt_text_hex(s.p[i]);

        if (digit < 0)
            return 0;
        *out = *out << 4 | (uint64_t)digit;
    }
    return 1;
}

RELET_PRIVATE int rlt_job_read(relet_span record, relet_job *j,
                               uint64_t *born_s)
{
    relet_span s = record;
    int i;

    memset(j, 0, sizeof *j);
    *born_s = 0;
    if (s.n >= 5 && *s.p == '.') {
        for (i = 1; i < 5; i++)
            *born_s = *born_s << 8 | (uint8_t)s.p[i];
        (void)job_take(&s, 5);
        j->payload = s;
        return 1;
    }
    if (s.n >= 9 && *s.p == '+') {
        (void)job_take(&s, 1);
        if (job_read_hex(s, born_s)) {
            (void)job_take(&s, 8);
            if (job_read_head(s, j))
                return 1;
        }
    }
    memset(j, 0, sizeof *j);
    *born_s = 0;
    j->payload = record;
    return 0;
}

/* ------------------------------------------------------------------ states */

static int job_eat_count(relet_span *s, uint32_t *out)
{
    int64_t v;

    if (!job_eat(s, ' ', &v) || v < 0 || v > UINT32_MAX)
        return 0;
    *out = (uint32_t)v;
    return 1;
}

RELET_PRIVATE int rlt_job_state_read(relet_span text, rlt_job_state *s)
{
    int64_t token;

    if (!rlt_span_eat(&text, "L ") || !job_eat(&text, ' ', &token) ||
        token <= 0)
        return 0;
    s->token = (uint64_t)token;
    return job_eat_count(&text, &s->attempts) &&
           job_eat_count(&text, &s->stalls) &&
           job_eat_count(&text, &s->replays);
}

RELET_PRIVATE relet_time rlt_job_backoff(const relet_job *j, uint32_t attempts,
                                         uint64_t chance)
{
    relet_time most = j->backoff_max_ms ? j->backoff_max_ms
                                        : JOB_BACKOFF_MAX_MS;
    relet_time step = j->backoff_ms ? j->backoff_ms : JOB_BACKOFF_MS;
    relet_time wait = RLT_MIN(step, most), n = RLT_MAX(attempts, 1);

    if (j->backoff == RELET_BACKOFF_FIXED)
        return wait;
    if (j->backoff == RELET_BACKOFF_LINEAR)
        wait = n > most / step ? most : step * n;
    else
        for (; n > 1 && wait < most; n--)
            wait = RLT_MIN(wait * 2, most);
    return (relet_time)(chance % ((uint64_t)wait + 1));
}

RELET_PRIVATE uint32_t rlt_job_attempts(const relet_job *j)
{
    return j->attempts ? j->attempts : JOB_ATTEMPTS;
}

#endif /* RELET_NO_QUEUE */
