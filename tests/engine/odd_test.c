/* SPDX-License-Identifier: MIT
 *
 * odd_test.c - workers and puts of a client whose server gives answers that no
 * script of the library gives. */
#include "work_rig.h"

/* 1 if the call names a key with this suffix. */
static int t_names(const t_words *w, const char *suffix)
{
    size_t n = strlen(suffix);
    int i;

    for (i = 3; i < w->n; i++)
        if (w->word[i].n > n && w->word[i].p[0] == '{' &&
            memcmp(w->word[i].p + w->word[i].n - n, suffix, n) == 0)
            return 1;
    return 0;
}

/* Answers claims with the texts that p->user lists, in order; NULL ends the
 * list. Every other script call gets an error. */
static int t_odd(t_peer *p, const t_words *w)
{
    const char *const *said = (const char *const *)p->user;

    if (!t_is(w, 0, "EVAL") && !t_is(w, 0, "EVALSHA"))
        return 0;
    if (*said != NULL && t_names(w, ":ranked") && t_names(w, ":leased")) {
        t_say(p, *said);
        p->user = (void *)(uintptr_t)(said + 1);
    } else {
        t_say(p, "-ERR odd\r\n");
    }
    return 1;
}

static void t_odd_begin(t_peer *p, const char *const *said)
{
    relet_config c = t_config();
    relet_worker_config work = t_config_of("q");

    c.workers_max = 1;
    c.jobs_max = 4;
    (void)t_start_with(p, &c);
    (void)t_up(p);
    p->honest = 1;
    p->answer = t_odd;
    p->user = (void *)(uintptr_t)said;
    work.room = 4;
    (void)relet_worker_start(p->r, &work);
}

#define T_ODD_JOBS "*15\r\n:1\r\n+\r\n:0\r\n"           \
    "+x\r\n+.1234a\r\n+L 5 0 0 0 - me\r\n"              \
    ":2\r\n+.1234b\r\n+W 5 0 0 0 - me\r\n"              \
    ":3\r\n+.1234c\r\n+L 7 0 0 0 - me\r\n"              \
    ":0\r\n+.1234d\r\n+L 9 0 0 0 - me\r\n"

/* Answers every script call with the text at p->user. */
static int t_odd_put(t_peer *p, const t_words *w)
{
    if (!t_is(w, 0, "EVAL") && !t_is(w, 0, "EVALSHA"))
        return 0;
    t_say(p, *(const char **)p->user);
    return 1;
}

/* A count of bytes was once changed as if it were a job's number, and text was
 * read far away from the answer. */
TEST a_number_that_comes_as_text_is_told_as_it_came(void)
{
    static const char *const odd[] = {
        "*2\r\n$13\r\n9000000000000\r\n:0\r\n",
        "*2\r\n|1\r\n+k\r\n+v\r\n:9000000000000\r\n:0\r\n",
        "*2\r\n:9223372036854775807\r\n:0\r\n", "$1\r\n7\r\n", "*0\r\n"};
    relet_config c = t_config();
    const char *said;
    relet_event ev;
    relet_job j;
    size_t i;
    int n;
    t_peer p;

    c.workers_max = 1;
    memset(&j, 0, sizeof j);
    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        said = odd[i];
        (void)t_start_with(&p, &c);
        ASSERT(t_up(&p));
        p.honest = p.manual = 1;
        p.answer = t_odd_put;
        p.user = (void *)&said;
        for (n = 0; n < 3; n++)
            ASSERT_EQ(0, relet_queue_put(p.r, relet_str("q"), &j, 1, 0, NULL));
        while (n > 0)
            if (relet_next(p.r, &ev)) {
                ASSERT_EQ(RELET_EV_REPLY, ev.kind);
                t_log(&p, &ev); /* reads each byte of the event */
                n--;
            } else {
                (void)t_turn(&p);
            }
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

/* The next event that brings jobs, or "". */
static const char *t_jobs(t_peer *p)
{
    const char *line;

    t_move(p);
    do
        line = t_told(p);
    while (line[0] != '\0' && strncmp(line, "jobs", 4) != 0);
    return line;
}

TEST an_invalid_job_in_an_answer_is_passed_over(void)
{
    const char *const said[] = {T_ODD_JOBS, NULL};
    t_peer p;

    t_odd_begin(&p, said);
    ASSERT_STR_EQ("jobs 3:c", t_jobs(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_job_held_already_is_not_reported_again(void)
{
    const char *const said[] = {
        "*6\r\n:1\r\n+\r\n:3\r\n:3\r\n+.1234c\r\n+L 7 0 0 0 - me\r\n",
        "*9\r\n:1\r\n+\r\n:2\r\n:3\r\n+.1234c\r\n+L 7 0 0 0 - me\r\n"
        ":4\r\n+.1234d\r\n+L 8 0 0 0 - me\r\n", NULL};
    t_peer p;

    t_odd_begin(&p, said);
    ASSERT_STR_EQ("jobs 3:c", t_jobs(&p));
    ASSERT_STR_EQ("jobs 4:d", t_jobs(&p));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST relet_jobs_next_reads_only_events_that_bring_jobs(void)
{
    const char *const said[] = {T_ODD_JOBS, NULL};
    relet_event ev;
    relet_work work;
    size_t at = 0;
    t_peer p;

    t_odd_begin(&p, said);
    p.manual = 1;
    do
        if (!relet_next(p.r, &ev))
            ASSERT(t_turn(&p));
    while (ev.kind != RELET_EV_JOBS);
    ev.kind = RELET_EV_REPLY;
    ASSERT_EQ(0, relet_jobs_next(p.r, &ev, &at, &work));
    ev.kind = RELET_EV_JOBS;
    ev.worker = 1;
    ASSERT_EQ(0, relet_jobs_next(p.r, &ev, &at, &work));
    ev.worker = 0;
    ASSERT_EQ(1, relet_jobs_next(p.r, &ev, &at, &work));
    ASSERT_EQ(3, work.number);
    ASSERT_EQ(0, relet_jobs_next(p.r, &ev, &at, &work));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_number_that_comes_as_text_is_told_as_it_came);
    RUN_TEST(an_invalid_job_in_an_answer_is_passed_over);
    RUN_TEST(a_job_held_already_is_not_reported_again);
    RUN_TEST(relet_jobs_next_reads_only_events_that_bring_jobs);
    GREATEST_MAIN_END();
}
