/* SPDX-License-Identifier: MIT
 *
 * desk_test.c - workers of whole clients: how they are configured, how a job
 * may end, and what happens to workers when their server is away. */
#include "work_rig.h"

#define REFUSED(w, rule, c) \
    T_REFUSED(w, rule, relet_worker_start((w)->p[0].r, c))

/* -------------------------------------------------------------------- rules */

TEST each_time_of_a_worker_has_its_bounds(void)
{
    relet_worker_config c = t_config_of("q");
    relet_time *const field[] = {&c.lease_ms, &c.renew_ms, &c.poll_ms,
                                 &c.reap_ms, &c.run_ms};
    static const relet_time under[] = {49, -1, -1, -1, 29999};
    static const relet_time over[] = {1000000001, 10001, 1000000001, 1000000001,
                                      INT64_C(1000000000001)};
    static const char *const rule[] = {
        "worker.lease_ms must be between 50 and 1000000000",
        "worker.renew_ms must be at most a third of lease_ms",
        "worker.poll_ms must be between 1 and 1000000000",
        "worker.reap_ms must be between 1 and 1000000000",
        "worker.run_ms must be between lease_ms and 1000000000000"};
    t_world w;
    size_t i;

    t_begin(&w, 1);
    for (i = 0; i < sizeof field / sizeof *field; i++) {
        *field[i] = under[i];
        REFUSED(&w, rule[i], &c);
        *field[i] = over[i];
        REFUSED(&w, rule[i], &c);
        *field[i] = 0;
    }
    t_world_end(&w);
    PASS();
}

TEST the_settings_of_a_worker_take_effect(void)
{
    relet_worker_config c = t_config_of("q");
    const char *at;
    t_world w;

    t_begin(&w, 1);
    c.lease_ms = 3000;
    c.renew_ms = 500;
    c.poll_ms = 60000;
    c.run_ms = 3000;
    c.reap_ms = RELET_NEVER;
    c.stalls_max = 1;
    c.weight = 7;
    ASSERT_EQ(0, relet_worker_start(w.p[0].r, &c));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_pass(&w, 2000);
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT(relet_job_valid_for(w.p[0].r, 0, 1, w.now) > 2000);
    at = t_world_ask(&w, "ZSCORE {q}:leased 1");
    ASSERT(at[0] == '$');
    t_world_pass(&w, 4000); /* no lease is renewed for longer than run_ms */
    T_HEARD(&w, 0, "job lost 1 timeout");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_pass(&w, 100000); /* reap_ms: it reaps no job */
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

TEST no_worker_has_more_room_or_weight_than_there_is(void)
{
    relet_worker_config c = t_config_of("q");
    t_world w;

    t_begin(&w, 1);
    c.room = 9;
    REFUSED(&w, "worker.room is over jobs_max", &c);
    c.room = 0;
    c.weight = 1000001;
    REFUSED(&w, "worker.weight must be at most 1000000", &c);
    t_world_end(&w);
    PASS();
}

/* Otherwise the client gets an answer that it cannot read again and again,
 * until the jobs are dead (seed 949 of WORK=jobs). */
TEST no_worker_claims_more_than_its_client_reads(void)
{
    char payload[201] = "", whole[1200] = "jobs";
    relet_config c[4];
    t_world w;
    size_t i, n;

    memset(payload, 'x', sizeof payload - 1);
    for (i = 0; i < 4; i++) {
        c[i] = t_config();
        c[i].workers_max = 2;
        c[i].jobs_max = 8;
    }
    c[0].count_max = 16;   /* values: three for each job */
    c[1].tape_max = 288;   /* as many */
    c[2].reply_max = 1600; /* bytes */
    c[3].bulk_max = 1472;  /* bytes of one value, and so of all */
    for (n = 1; n <= 4; n++)
        sprintf(whole + strlen(whole), " %d:%s", (int)n, payload);
    for (i = 0; i < 4; i++) {
        t_world_start_with(&w, 1, &c[i]);
        t_world_pass(&w, 10);
        for (n = 0; n < 6; n++)
            ASSERT_EQ(0, t_put(&w, 0, payload));
        ASSERT_EQ(0, t_work_with(&w, 0, 8));
        t_world_settle(&w);
        T_HEARD(&w, 0, whole);
        ASSERT(strncmp(t_world_told(&w, 0), "jobs 5:x", 8) == 0);
        T_HEARD(&w, 0, "");
        for (n = 1; n <= 6; n++)
            ASSERT_EQ(0, t_done(&w, 0, n));
        ASSERT_STR_EQ("$1\r\n6\r\n", t_world_ask(&w, "HGET {q}:jobs done"));
        t_world_end(&w);
    }
    PASS();
}

TEST a_worker_is_refused_if_its_scripts_exceed_output_max(void)
{
    relet_worker_config c = t_config_of("q");
    relet_config k = t_config();
    t_world w;

    k.workers_max = 1;
    k.output_max = 5183;
    t_world_start_with(&w, 1, &k);
    t_world_pass(&w, 10);
    REFUSED(&w, "a worker needs an output_max of 5184 at least", &c);
    t_world_end(&w);
    k.output_max = 5184;
    t_world_start_with(&w, 1, &k);
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    c.room = 2;
    ASSERT_EQ(0, relet_worker_start(w.p[0].r, &c));
    t_world_settle(&w);
    T_HEARD(&w, 0, "jobs 1:a");
    T_HEARD(&w, 0, "jobs 2:b");
    ASSERT_EQ(0, t_done(&w, 0, 1));
    ASSERT_EQ(0, t_done(&w, 0, 2));
    t_world_end(&w);
    PASS();
}

TEST a_label_is_one_word(void)
{
    static const char *const odd[] = {"a b", "a,b", "a\x7f", "a\n"};
    relet_worker_config c = t_config_of("q");
    char label[64];
    t_world w;
    size_t i;

    t_begin(&w, 1);
    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        c.label = relet_str(odd[i]);
        REFUSED(&w, "worker.label may hold no blanks, commas or odd bytes", &c);
    }
    memset(label, 'l', sizeof label);
    c.label.p = label;
    c.label.n = sizeof label;
    REFUSED(&w, "worker.label has at most 63 bytes", &c);
    c.label.n--;
    ASSERT_EQ(0, relet_worker_start(w.p[0].r, &c));
    t_world_end(&w);
    PASS();
}

TEST a_worker_has_a_queue_with_a_name(void)
{
    relet_worker_config c = t_config_of("");
    t_world w;

    t_begin(&w, 1);
    REFUSED(&w, "a queue has a name", &c);
    t_world_end(&w);
    PASS();
}

TEST there_are_no_more_workers_than_there_is_room_for(void)
{
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(1, t_work_with(&w, 0, 1));
    ASSERT_EQ(RELET_E_LIMIT, t_work_with(&w, 0, 1));
    relet_stop(w.p[0].r);
    ASSERT_EQ(RELET_E_STOPPED, t_work_with(&w, 0, 1));
    t_world_end(&w);
    PASS();
}

/* --------------------------------------------------------------------- ends */

TEST a_call_about_an_unknown_job_or_worker_is_refused(void)
{
    static const int none[] = {-1, 0, 1, 99};
    relet_failure f;
    t_world w;
    size_t i;

    t_begin(&w, 1);
    memset(&f, 0, sizeof f);
    ASSERT_EQ(1, (t_work_with(&w, 0, 1), t_work_with(&w, 0, 1)));
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 1));
    t_world_pass(&w, 1000);
    T_HEARD(&w, 0, "worker ended");
    for (i = 0; i < 4; i++) {
        relet *r = w.p[0].r;

        ASSERT_EQ(RELET_E_REFUSED, relet_job_done(r, none[i], 7, f.text));
        ASSERT_EQ(RELET_E_REFUSED, relet_job_fail(r, none[i], 7, &f));
        ASSERT_EQ(RELET_E_REFUSED, relet_job_release(r, none[i], 7));
        ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(r, none[i], 7, f.text));
        ASSERT_STR_EQ("the worker has no such job", relet_refusal(r));
        ASSERT_EQ(0, relet_job_valid_for(r, none[i], 7, w.now));
        if (i != 1)
            ASSERT_EQ(RELET_E_REFUSED, relet_worker_stop(r, none[i]));
    }
    t_world_end(&w);
    PASS();
}

TEST a_failure_with_a_negative_delay_is_refused(void)
{
    relet_failure f;
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    memset(&f, 0, sizeof f);
    f.delay_ms = -1;
    ASSERT_EQ(RELET_E_REFUSED, relet_job_fail(w.p[0].r, 0, 1, &f));
    ASSERT_STR_EQ("failure.delay_ms may not be below 0",
                  relet_refusal(w.p[0].r));
    ASSERT(relet_job_valid_for(w.p[0].r, 0, 1, w.now) > 0);
    t_world_end(&w);
    PASS();
}

/* The outcome of the request with tag 3, under which the link broke. */
static const char *t_broken_under(t_world *w, int code)
{
    const char *line;

    if (code != 0)
        return "";
    w->no_way_in[0] = 1;
    t_world_settle(w);
    t_world_cut(w, 0);
    w->no_way_in[0] = 0;
    t_world_pass(w, 1000);
    do
        line = t_told(&w->p[0]);
    while (line[0] != '\0' && strstr(line, " 3 ") == NULL);
    return line;
}

/* The second one would let more dead jobs wait than were asked for. */
TEST a_replay_is_not_sent_again_over_a_new_link(void)
{
    relet_request q = {3, 0, 0};
    t_world w;

    t_begin(&w, 1);
    ASSERT_STR_EQ("unsure 3 broken",
                  t_broken_under(&w, relet_queue_replay(
                                         w.p[0].r, relet_str("q"), NULL, 0, 0,
                                         1, 0, &q)));
    t_world_end(&w);
    PASS();
}

/* The second one would cancel the next job with this id. */
TEST a_cancel_is_not_sent_again_over_a_new_link(void)
{
    relet_request q = {3, 0, 0};
    t_world w;

    t_begin(&w, 1);
    ASSERT_STR_EQ("unsure 3 broken",
                  t_broken_under(&w, relet_queue_job_cancel(
                                         w.p[0].r, relet_str("q"), 0,
                                         relet_str("id"), &q)));
    t_world_end(&w);
    PASS();
}

TEST a_snooze_is_no_attempt(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    j.rank = 5;
    j.attempts = 1;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(0, t_fail(&w, 0, 1, RELET_SNOOZE));
    t_world_pass(&w, 100);
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(0, t_fail(&w, 0, 1, RELET_RETRY));
    t_world_pass(&w, 100000);
    T_HEARD(&w, 0, "");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:dead"));
    t_world_end(&w);
    PASS();
}

TEST the_same_id_in_two_queues_names_two_jobs(void)
{
    relet_request q = {8, 0, 0};
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    j.id = relet_str("x");
    j.keep_ms = 60000;
    ASSERT_EQ(0, t_work_with(&w, 0, 4));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("p"), &j, 1, 0, &q));
    T_HEARD(&w, 0, "jobs 1:a");
    T_HEARD(&w, 0, "");
    ASSERT_EQ(0, t_done(&w, 0, 1));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "LLEN {p}:waiting"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "EXISTS {p}:done {p}:leased"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {p}:jobs 1r"));
    ASSERT_STR_EQ("$1\r\n1\r\n", t_world_ask(&w, "HGET {p}:ids x"));
    t_world_end(&w);
    PASS();
}

/* The worker of q is full and another job waits; the queue r is stopped. */
TEST a_full_or_stopped_queue_holds_up_no_other_queue(void)
{
    relet_worker_config c = t_config_of("p");
    relet_request q = {8, 0, 0};
    relet_job j = t_job("b");
    t_world w;

    t_begin(&w, 1);
    (void)t_world_ask(&w, "HSET {r}:jobs version 1 stopped 1");
    c.room = 1;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(1, relet_worker_start(w.p[0].r, &c));
    t_world_settle(&w);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "behind it"));
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("r"), &j, 1, 0, &q));
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("p"), &j, 1, 0, &q));
    t_world_settle(&w);
    T_HEARD(&w, 0, "jobs 1:b");
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

TEST a_failed_job_keeps_its_rank(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    j.rank = -7;
    j.attempts = 2;
    j.backoff = RELET_BACKOFF_FIXED;
    j.backoff_ms = 5000;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(0, t_fail(&w, 0, 1, RELET_RETRY));
    ASSERT_STR_EQ("*1\r\n$4\r\n1,-7\r\n",
                  t_world_ask(&w, "ZRANGE {q}:delayed 0 -1"));
    t_world_end(&w);
    PASS();
}

/* A refused call sends nothing, and the worker keeps its claim. */
TEST a_job_whose_result_is_too_long_can_end_with_a_shorter_one(void)
{
    static char large[100000];
    relet_failure f;
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    memset(large, 'x', sizeof large);
    memset(&f, 0, sizeof f);
    f.text.p = large;
    f.text.n = sizeof large;
    j.keep_ms = 60000;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(RELET_E_REFUSED, relet_job_done(w.p[0].r, 0, 1, f.text));
    ASSERT_STR_EQ("the command is larger than output_max",
                  relet_refusal(w.p[0].r));
    ASSERT_EQ(RELET_E_REFUSED, relet_job_fail(w.p[0].r, 0, 1, &f));
    f.text.n = ((size_t)512 << 20) + 1; /* these bytes are not read */
    ASSERT_EQ(RELET_E_REFUSED, relet_job_done(w.p[0].r, 0, 1, f.text));
    ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(w.p[0].r, 0, 1, f.text));
    ASSERT_STR_EQ("an argument is over 512 MiB, or there are too many",
                  relet_refusal(w.p[0].r));
    ASSERT(relet_job_valid_for(w.p[0].r, 0, 1, w.now) > 0);
    f.verdict = (relet_verdict)3;
    ASSERT_EQ(RELET_E_REFUSED, relet_job_fail(w.p[0].r, 0, 1, &f));
    ASSERT_STR_EQ("failure.verdict is not one of relet_verdict",
                  relet_refusal(w.p[0].r));
    ASSERT_EQ(0, t_done(&w, 0, 1));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    t_world_end(&w);
    PASS();
}

TEST ends_of_jobs_go_out_when_all_events_are_taken(void)
{
    const uint8_t *from = NULL;
    relet_event ev;
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    ASSERT_EQ(0, t_work_with(&w, 0, 2));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "jobs 1:a 2:b");
    ASSERT(relet_deadline(w.p[0].r) > w.now);
    ASSERT_EQ(0, relet_job_done(w.p[0].r, 0, 1, relet_str("")));
    ASSERT_EQ(0, relet_job_done(w.p[0].r, 0, 2, relet_str("")));
    ASSERT_EQ(0, relet_io_pending(w.p[0].r, 0, &from));
    ASSERT(relet_deadline(w.p[0].r) <= w.now);
    ASSERT_EQ(0, relet_next(w.p[0].r, &ev));
    ASSERT(relet_io_pending(w.p[0].r, 0, &from) > 0);
    t_world_settle(&w);
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

TEST a_job_whose_end_is_never_answered_is_reported_lost_with_why_broken(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    j.keep_ms = 60000;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 0, "jobs 1:a");
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_done(&w, 0, 1));
    t_world_pass(&w, 40000);
    T_HEARD(&w, 0, "job lost 1 broken");
    t_world_end(&w);
    PASS();
}

TEST progress_of_a_lost_job_or_without_a_link_is_not_sent(void)
{
    relet_span half = relet_str("half");
    uint64_t commands;
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 0, "jobs 1:a");
    t_world_cut(&w, 0);
    w.refusing = 1;
    t_world_settle(&w);
    ASSERT_EQ(0, relet_job_progress(w.p[0].r, 0, 1, half));
    t_world_pass(&w, 40000);
    T_HEARD(&w, 0, "job lost 1 expired");
    w.refusing = 0;
    t_world_pass(&w, 10000);
    commands = w.commands;
    ASSERT_EQ(0, relet_job_progress(w.p[0].r, 0, 1, half));
    t_world_settle(&w);
    ASSERT_EQ(commands, w.commands);
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs 1r"));
    t_world_end(&w);
    PASS();
}

/* It is sent again over each link until its lease would have ended. */
TEST the_end_of_a_job_outlives_the_timeout_of_commands(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 1);
    j.keep_ms = 60000;
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 0, "jobs 1:a");
    w.refusing = 1;
    t_world_cut(&w, 0);
    ASSERT_EQ(0, t_done(&w, 0, 1));
    t_world_pass(&w, 15000);
    w.refusing = 0;
    t_world_pass(&w, 10000);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

/* -------------------------------------------------------------------- turns */

TEST an_idle_worker_that_stops_leaves_the_line_of_idle_workers(void)
{
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 1000);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:idle"));
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    t_world_settle(&w);
    T_HEARD(&w, 0, "worker ended");
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:idle"));
    t_world_end(&w);
    PASS();
}

/* A wake-up may be among the messages that were too large, or found no memory:
 * sim seed 6462275706863240922. */
TEST a_lost_message_wakes_every_worker(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 1000);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    t_world_lose_pushes(&w, 0);
    w.no_way_in[0] = 0;
    t_world_settle(&w);
    T_HEARD(&w, 0, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

/* Both workers of the client share one entry in the line of idle workers. */
TEST a_worker_that_stops_leaves_its_sibling_in_the_line(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(1, t_work_with(&w, 0, 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "worker ended");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:idle"));
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    T_HEARD(&w, 0, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

/* An error that no server should give is reported once. */
TEST a_refused_step_of_a_worker_is_reported_once_and_retried(void)
{
    t_world w;

    t_begin(&w, 1);
    (void)t_world_ask(&w, "SET {q}:leased 1");
    (void)t_world_ask(&w, "RPUSH {q}:waiting 1");
    (void)t_world_ask(&w, "HSET {q}:jobs version 1 1 .aaaax");
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 60000);
    ASSERT(strncmp(t_world_told(&w, 0), "worker trouble", 14) == 0);
    ASSERT(strncmp(t_world_told(&w, 0), "worker trouble", 14) == 0);
    T_HEARD(&w, 0, ""); /* one for claims, one for the reaper */
    (void)t_world_ask(&w, "DEL {q}:leased");
    t_world_pass(&w, 10000);
    T_HEARD(&w, 0, "jobs 1:x");
    t_world_end(&w);
    PASS();
}

TEST workers_of_a_client_that_gave_up_end(void)
{
    relet_config c = t_config();
    t_world w;

    c.workers_max = 2;
    c.jobs_max = 8;
    c.attempts_max = 2;
    t_world_start_with(&w, 1, &c);
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 0, "jobs 1:a");
    w.refusing = 1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 60000);
    T_HEARD(&w, 0, "job lost 1 stopped");
    T_HEARD(&w, 0, "worker ended");
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

TEST workers_of_two_teams_do_not_share_their_room(void)
{
    relet_worker_config c = t_config_of("a");
    relet_job j = t_job("x");
    t_world w;
    int i;

    t_begin(&w, 1);
    for (i = 0; i < 6; i++) {
        ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("a"), &j, 1, 0, NULL));
        ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("b"), &j, 1, 0, NULL));
    }
    c.room = 2;
    c.team = 1;
    ASSERT_EQ(0, relet_worker_start(w.p[0].r, &c));
    t_world_pass(&w, 1000);
    ASSERT_STR_EQ(":2\r\n", t_world_ask(&w, "ZCARD {a}:leased"));
    c.queue = relet_str("b");
    c.team = 2;
    ASSERT_EQ(1, relet_worker_start(w.p[0].r, &c));
    t_world_pass(&w, 1000);
    ASSERT_STR_EQ(":2\r\n", t_world_ask(&w, "ZCARD {a}:leased"));
    ASSERT_STR_EQ(":2\r\n", t_world_ask(&w, "ZCARD {b}:leased"));
    t_world_end(&w);
    PASS();
}

static int t_unique(t_world *w, const relet_job *j)
{
    return relet_queue_put_unique(w->p[0].r, relet_str("q"), j, RELET_REPLACE,
                                  0, 0, NULL);
}

TEST puts_that_want_more_than_a_payload_end_at_the_limit_of_output(void)
{
    static char payload[3000];
    relet_job j;
    t_world w;
    char waiting[20];
    int put = 0, code;

    t_begin(&w, 1);
    memset(payload, 'x', sizeof payload);
    memset(&j, 0, sizeof j);
    j.payload.p = payload;
    j.payload.n = sizeof payload;
    j.rank = 1;
    while ((code = relet_queue_put(w.p[0].r, relet_str("q"), &j, 1, 0, NULL)) ==
           0)
        put++;
    ASSERT_EQ(RELET_E_LIMIT, code);
    ASSERT(put > 0);
    j.id = relet_str("x");
    ASSERT_EQ(RELET_E_LIMIT, t_unique(&w, &j));
    t_world_settle(&w);
    sprintf(waiting, ":%d\r\n", put); /* and none stays delayed */
    ASSERT_STR_EQ(waiting, t_world_ask(&w, "ZCARD {q}:ranked"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:delayed"));
    t_world_end(&w);
    PASS();
}

static int t_put_for(t_world *w, uint64_t tag, relet_time timeout_ms)
{
    relet_request q = {0, 0, 0};
    relet_job j;

    q.tag = tag;
    q.timeout_ms = timeout_ms;
    memset(&j, 0, sizeof j);
    j.payload = relet_str("a");
    return relet_queue_put(w->p[0].r, relet_str("q"), &j, 1, 0, &q);
}

/* Otherwise later puts that came and went take the waiting put's repeat id. The
 * server then does not know its repeat, and the job is put twice. */
TEST a_put_that_is_waited_for_keeps_its_place(void)
{
    relet_config c = t_config();
    const char *line;
    t_world w;
    int i;

    c.workers_max = 1;
    c.operations_max = 2;
    t_world_start_with(&w, 1, &c);
    t_world_pass(&w, 10);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_put_for(&w, 1, RELET_NEVER));
    for (i = 0; i < 4; i++) {
        ASSERT_EQ(0, t_put_for(&w, 2, 50));
        t_world_pass(&w, 100);
    }
    t_world_cut(&w, 0);
    w.no_way_in[0] = 0;
    t_world_pass(&w, 5000);
    do
        line = t_told(&w.p[0]);
    while (line[0] != '\0' && strncmp(line, "reply 1 ", 8) != 0);
    ASSERT_STR_EQ("reply 1 [1 1]", line);
    ASSERT_STR_EQ(":5\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

/* After an hour the queue may forget a client's last put: a repeat would then
 * put the job twice. */
TEST a_put_ends_within_50_minutes_despite_a_longer_client_timeout(void)
{
    relet_config c = t_config();
    relet_job j = t_job("a");
    t_world w;

    c.workers_max = 1;
    c.timeout_ms = 7200000;
    t_world_start_with(&w, 1, &c);
    t_world_pass(&w, 10);
    w.no_way_in[0] = w.refusing = 1;
    t_world_cut(&w, 0);
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("q"), &j, 1, 0, NULL));
    t_world_pass(&w, 49 * 60000);
    ASSERT_EQ(1, (int)relet_outstanding(w.p[0].r));
    t_world_pass(&w, 60001);
    ASSERT_EQ(0, (int)relet_outstanding(w.p[0].r));
    t_world_end(&w);
    PASS();
}

/* -------------------------------------------------------------- permissions */

static void t_operate(relet *r)
{
    static const uint64_t first[] = {1};
    relet_span q = relet_str("q"), none = relet_str("");
    int place;

    (void)relet_queue_status(r, q, NULL);
    (void)relet_queue_job_look(r, q, 1, none, NULL);
    (void)relet_queue_job_keep(r, q, 1, none, 1000, NULL);
    (void)relet_queue_job_cancel(r, q, 0, relet_str("id"), NULL);
    for (place = RELET_AT_WAITING; place <= RELET_AT_DEAD; place++) {
        (void)relet_queue_job_list(r, q, (relet_place)place, 0, 9, NULL, NULL);
        (void)relet_queue_purge(r, q, (relet_place)place, 1, 0, NULL);
    }
    (void)relet_queue_replay(r, q, first, 1, 0, 0, 0, NULL);
    (void)relet_queue_replay(r, q, NULL, 0, 0, 9, 0, NULL);
    (void)relet_queue_repair(r, q, 1, 1000, NULL);
    (void)relet_queue_reap(r, q, 9, 1, 0, NULL);
    (void)relet_queue_promote(r, q, 9, NULL);
    (void)relet_queue_limit(r, q, 9, NULL);
    (void)relet_queue_pause(r, q, RELET_IN, NULL);
    (void)relet_queue_resume(r, q, RELET_IN, NULL);
    (void)relet_queue_trim(r, q, 0, 0, 1, 9, NULL);
    (void)relet_queue_forget(r, q, none, NULL);
}

static void t_put_all_kinds(relet *r)
{
    relet_span q = relet_str("q");
    relet_job j = t_job("plain");

    (void)relet_queue_put(r, q, &j, 1, 9, NULL);
    j.id = relet_str("id");
    j.type = relet_str("t");
    j.rank = 3;
    j.keep_ms = 60000;
    j.reply_to = relet_str("wake:x:end:1");
    (void)relet_queue_put(r, q, &j, 1, 9, NULL);
    j.delay_ms = 500;
    j.id = relet_str("other");
    (void)relet_queue_put_unique(r, q, &j, RELET_DEBOUNCE, 100, 9, NULL);
}

/* Ends jobs in each way, and counts them. Returns -1 if an event tells of a
 * missing permission. */
static int t_end_each_way(t_world *w)
{
    relet_failure f = {RELET_RETRY, {NULL, 0}, 1};
    const char *line;
    int n, began = 0;

    while ((line = t_told(&w->p[0]))[0] != '\0') {
        if (strstr(line, "NOPERM") || strstr(line, "can't run"))
            return -1;
        if (sscanf(line, "jobs %d:", &n) != 1)
            continue;
        (void)relet_job_progress(w->p[0].r, 0, (uint64_t)n, relet_str("half"));
        if (++began % 3 == 1)
            (void)relet_job_release(w->p[0].r, 0, (uint64_t)n);
        else if (began % 3 == 2)
            (void)relet_job_fail(w->p[0].r, 0, (uint64_t)n, &f);
        else
            (void)relet_job_done(w->p[0].r, 0, (uint64_t)n, relet_str("end"));
    }
    return began;
}

/* The list is that of relet.h. */
TEST the_commands_that_the_header_names_are_enough_for_a_queue(void)
{
    int i, n, began = 0;
    t_world w;

    t_begin(&w, 1);
    (void)t_world_ask(
        &w, "ACL SETUSER default -@all resetchannels resetkeys "
            "&{q}:wake:* &wake:*:end:* ~{q}:* +eval +evalsha +ssubscribe "
            "+sunsubscribe +subscribe +unsubscribe +spublish +publish +ping "
            "+time +info +hget +hmget +hset +hdel +hstrlen +hexists +hincrby "
            "+hscan +llen +lrange +lpos +lpush +rpush +lpop +rpop +zadd +zrem "
            "+zcard +zcount +zscore +zrange +zrangebyscore +zpopmin");
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    for (i = 0; i < 6; i++) {
        t_put_all_kinds(w.p[0].r);
        t_world_pass(&w, 1000);
        t_operate(w.p[0].r);
        t_world_pass(&w, 1000);
        n = t_end_each_way(&w);
        ASSERT(n >= 0);
        began += n;
    }
    ASSERT(began > 3);
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    t_world_pass(&w, 1000);
    ASSERT(t_end_each_way(&w) >= 0);
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(each_time_of_a_worker_has_its_bounds);
    RUN_TEST(the_settings_of_a_worker_take_effect);
    RUN_TEST(no_worker_has_more_room_or_weight_than_there_is);
    RUN_TEST(no_worker_claims_more_than_its_client_reads);
    RUN_TEST(a_worker_is_refused_if_its_scripts_exceed_output_max);
    RUN_TEST(a_label_is_one_word);
    RUN_TEST(a_worker_has_a_queue_with_a_name);
    RUN_TEST(there_are_no_more_workers_than_there_is_room_for);
    RUN_TEST(a_call_about_an_unknown_job_or_worker_is_refused);
    RUN_TEST(a_failure_with_a_negative_delay_is_refused);
    RUN_TEST(the_commands_that_the_header_names_are_enough_for_a_queue);
    RUN_TEST(a_replay_is_not_sent_again_over_a_new_link);
    RUN_TEST(a_cancel_is_not_sent_again_over_a_new_link);
    RUN_TEST(a_snooze_is_no_attempt);
    RUN_TEST(the_same_id_in_two_queues_names_two_jobs);
    RUN_TEST(a_full_or_stopped_queue_holds_up_no_other_queue);
    RUN_TEST(a_failed_job_keeps_its_rank);
    RUN_TEST(a_job_whose_result_is_too_long_can_end_with_a_shorter_one);
    RUN_TEST(ends_of_jobs_go_out_when_all_events_are_taken);
    RUN_TEST(
        a_job_whose_end_is_never_answered_is_reported_lost_with_why_broken);
    RUN_TEST(progress_of_a_lost_job_or_without_a_link_is_not_sent);
    RUN_TEST(the_end_of_a_job_outlives_the_timeout_of_commands);
    RUN_TEST(an_idle_worker_that_stops_leaves_the_line_of_idle_workers);
    RUN_TEST(a_lost_message_wakes_every_worker);
    RUN_TEST(a_worker_that_stops_leaves_its_sibling_in_the_line);
    RUN_TEST(a_refused_step_of_a_worker_is_reported_once_and_retried);
    RUN_TEST(workers_of_a_client_that_gave_up_end);
    RUN_TEST(workers_of_two_teams_do_not_share_their_room);
    RUN_TEST(puts_that_want_more_than_a_payload_end_at_the_limit_of_output);
    RUN_TEST(a_put_that_is_waited_for_keeps_its_place);
    RUN_TEST(a_put_ends_within_50_minutes_despite_a_longer_client_timeout);
    GREATEST_MAIN_END();
}
