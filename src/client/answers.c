/* SPDX-License-Identifier: MIT
 *
 * answers.c - reads the answers to the commands for operators, which queue.c
 * submits. */
#include "client.h"
#include "text.h"

#ifndef RELET_NO_QUEUE

static relet_span answers_text(relet_value v, size_t i)
{
    return relet_value_text(relet_value_at(v, i));
}

static int64_t answers_int(relet_value v, size_t i, int64_t otherwise)
{
    int64_t out;

    return relet_value_int(relet_value_at(v, i), &out) ? out : otherwise;
}

/* The next word as a number that is not negative, or 0. */
static uint64_t answers_word(relet_span *s)
{
    relet_span word = rlt_span_cut(s, ' ');
    int64_t v = 0;

    if (word.p == NULL || !rlt_text_int(word.p, word.n, &v) || v < 0)
        return 0;
    return (uint64_t)v;
}

/* "L token attempts stalls replays flag owners"; a job that was never claimed
 * has no state. */
static void answers_state(relet_span s, relet_job_info *out)
{
    relet_span letter = rlt_span_cut(&s, ' '), flag;
    int begun = rlt_span_is(letter, "L") || rlt_span_is(letter, "D");

    if (letter.p == NULL || letter.n == 0)
        return;
    out->work.token = answers_word(&s);
    out->work.attempt = (uint32_t)answers_word(&s) + (begun ? 1 : 0);
    out->work.stalls = (uint32_t)answers_word(&s);
    out->work.replays = (uint32_t)answers_word(&s);
    flag = rlt_span_cut(&s, ' ');
    out->is_cancelled = rlt_span_is(flag, "c");
    out->owners = s;
}

static void answers_told(relet_span s, relet_job_info *out)
{
    char letter = s.n > 0 ? *s.p : 0;

    if (letter == 0)
        return;
    s.p++;
    s.n--;
    if (letter == 'p')
        out->progress = s;
    else if (letter == 'd')
        out->result = s;
    else if (letter == 'x')
        out->error = s;
}

/* Record, state and text, from element i of v on. */
static void answers_job_read(relet_value v, size_t i, relet_job_info *out)
{
    relet_span record = answers_text(v, i);

    (void)rlt_job_read(record, &out->work.job, &out->work.put_s);
    out->payload_len = out->work.job.payload.n;
    answers_state(answers_text(v, i + 1), out);
    answers_told(answers_text(v, i + 2), out);
    out->told_len = RLT_MAX(answers_text(v, i + 2).n, 1) - 1;
}

static relet_place answers_place_of(relet_span letter)
{
    static const char letters[] = "gwkyldx";
    const char *at = letter.n == 1 && *letter.p
                         ? strchr(letters, *letter.p) : NULL;

    return at ? (relet_place)(at - letters) : RELET_AT_NOWHERE;
}

RELET_API int relet_queue_job_look_read(relet_value v, relet_job_info *out)
{
    memset(out, 0, sizeof *out);
    out->place = answers_place_of(answers_text(v, 0));
    if (out->place == RELET_AT_NOWHERE)
        return 0;
    out->work.number = (uint64_t)answers_int(v, 1, 0);
    out->at_ms = answers_int(v, 2, -1);
    answers_job_read(v, 3, out);
    return 1;
}

RELET_API int relet_queue_job_list_read(relet_value v, relet_place place,
                                        size_t *at, int64_t *go_on,
                                        relet_job_info *out)
{
    size_t i = *at ? *at : 2, shown;
    int64_t bytes, text;

    *go_on = answers_int(v, 0, -1);
    if (i + 7 > relet_value_count(v))
        return 0;
    memset(out, 0, sizeof *out);
    out->place = place;
    out->work.number = (uint64_t)answers_int(v, i, 0);
    out->at_ms = answers_int(v, i + 1, -1);
    bytes = RLT_MAX(answers_int(v, i + 2, 0), 0);
    shown = answers_text(v, i + 3).n;
    answers_job_read(v, i + 3, out);
    if ((uint64_t)bytes > shown)
        out->payload_len += (uint64_t)bytes - shown;
    text = answers_int(v, i + 6, 0); /* with the letter in front of it */
    if (text > 0 && (uint64_t)text - 1 > out->told_len)
        out->told_len = (uint64_t)text - 1;
    *at = i + 7;
    return 1;
}

RELET_API int relet_queue_job_cancel_read(relet_value v, relet_cancelled *out,
                                          uint64_t *number)
{
    static const char letters[] = "gcre";
    relet_span letter = answers_text(v, 0);
    const char *at = letter.n == 1 && *letter.p
                         ? strchr(letters, *letter.p) : NULL;

    if (at == NULL)
        return 0;
    *out = (relet_cancelled)(at - letters);
    *number = (uint64_t)RLT_MAX(answers_int(v, 1, 0), 0);
    return 1;
}

RELET_API int relet_queue_status_read(relet_value v, relet_queue_info *out)
{
    int64_t *const field[] = {
        &out->version, &out->waiting, &out->ranked,    &out->delayed,
        &out->leased,  &out->done,    &out->dead,      &out->idle,
        &out->put,     &out->done_ever, &out->limit,   &out->is_closed,
        &out->is_stopped, &out->waits_s, &out->due_ms, &out->lapse_ms,
        &out->server_us};
    size_t i;

    for (i = 0; i < sizeof field / sizeof field[0]; i++)
        if (!relet_value_int(relet_value_at(v, i), field[i]))
            return 0;
    return 1;
}

/* ------------------------------------------------------------- maintenance */

/* A count, at element i: 0 if it is none. */
static int answers_count(relet_value v, size_t i, uint64_t *out)
{
    int64_t n = answers_int(v, i, -1);

    *out = (uint64_t)RLT_MAX(n, 0);
    return n >= 0;
}

static relet_time answers_wait(relet_value v, size_t i)
{
    int64_t ms = answers_int(v, i, -1);

    return ms < 0 ? RELET_NEVER : ms;
}

RELET_API int relet_queue_replay_read(relet_value v, relet_replayed *out)
{
    out->more = answers_int(v, 3, 0) == 1;
    return answers_count(v, 0, &out->replayed) &&
           answers_count(v, 1, &out->refused) &&
           answers_count(v, 2, &out->not_dead);
}

RELET_API int relet_queue_purge_read(relet_value v, relet_removed *out)
{
    out->more = answers_int(v, 1, 0) == 1;
    return answers_count(v, 0, &out->removed);
}

RELET_API int relet_queue_trim_read(relet_value v, relet_removed *out)
{
    return relet_queue_purge_read(v, out);
}

RELET_API int relet_queue_reap_read(relet_value v, relet_reaped *out)
{
    out->again_ms = answers_wait(v, 2);
    out->server_ms = answers_int(v, 3, 0);
    return answers_count(v, 0, &out->waiting) &&
           answers_count(v, 1, &out->dead);
}

RELET_API int relet_queue_promote_read(relet_value v, relet_promoted *out)
{
    out->due_ms = answers_wait(v, 1);
    return answers_count(v, 0, &out->promoted);
}

#endif /* RELET_NO_QUEUE */
