/* SPDX-License-Identifier: MIT
 *
 * work_test.c - producers and workers of whole clients on a server. */
#include "work_rig.h"

TEST a_job_that_was_put_and_done_leaves_no_record(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "");
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs 1"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs 1s"));
    t_world_end(&w);
    PASS();
}

TEST a_worker_that_began_without_memory_is_woken_once_there_is_some(void)
{
    t_world w;

    t_begin(&w, 2);
    w.p[1].heap.fail_at = w.p[1].heap.calls + 1;
    w.p[1].heap.fail_on = 1;
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    ASSERT(t_fixed || w.p[1].heap.failed > 0);
    w.p[1].heap.fail_at = 0;
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_settle(&w);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

TEST a_put_wakes_a_sleeping_worker_at_once(void)
{
    relet_time now;
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 1000);
    now = w.now;
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(now, w.now);
    t_world_end(&w);
    PASS();
}

TEST jobs_come_in_order_and_no_more_than_there_is_room_for(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    ASSERT_EQ(0, t_put(&w, 0, "c"));
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a 2:b");
    T_HEARD(&w, 1, "");
    ASSERT_EQ(0, t_done(&w, 1, 2));
    T_HEARD(&w, 1, "jobs 3:c");
    t_world_end(&w);
    PASS();
}

TEST a_lease_goes_on_for_as_long_as_the_work_does(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 600000);
    T_HEARD(&w, 1, "jobs 1:a");
    T_HEARD(&w, 1, "");
    ASSERT(relet_job_valid_for(w.p[1].r, 0, 1, w.now) > 10000);
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "");
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs 1"));
    t_world_end(&w);
    PASS();
}

TEST a_paused_worker_hears_of_its_loss_and_changes_nothing(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    w.paused[1] = 1;
    t_world_pass(&w, 40000);
    w.paused[1] = 0;
    ASSERT_EQ(0, relet_job_valid_for(w.p[1].r, 0, 1, w.now));
    t_world_settle(&w);
    T_HEARD(&w, 1, "job lost 1 expired");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "HEXISTS {q}:jobs 1"));
    t_world_end(&w);
    PASS();
}

TEST the_job_of_a_dead_worker_is_relet(void)
{
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    t_world_kill(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 29000);
    T_HEARD(&w, 2, "");
    t_world_pass(&w, 10000);
    T_HEARD(&w, 2, "jobs 1:a!1");
    t_world_end(&w);
    PASS();
}

TEST a_job_that_kills_its_workers_is_dead_in_the_end(void)
{
    t_world w;
    int i;

    t_begin(&w, 5);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    for (i = 1; i <= 3; i++) {
        ASSERT_EQ(0, t_work_with(&w, i, 1));
        t_world_pass(&w, 40000);
        ASSERT(strncmp("jobs 1:a", t_world_told(&w, i), 8) == 0);
        t_world_kill(&w, i);
    }
    ASSERT_EQ(0, t_work_with(&w, 4, 1));
    t_world_pass(&w, 100000);
    T_HEARD(&w, 4, "");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:dead"));
    t_world_end(&w);
    PASS();
}

TEST a_job_that_failed_is_tried_again_until_it_is_dead(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 2);
    j.attempts = 2;
    j.backoff = RELET_BACKOFF_FIXED;
    j.backoff_ms = 5000;
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_fail(&w, 1, 1, RELET_RETRY));
    t_world_pass(&w, 4990);
    T_HEARD(&w, 1, "");
    t_world_pass(&w, 40000);
    T_HEARD(&w, 1, "jobs 1:a#2");
    ASSERT_EQ(0, t_fail(&w, 1, 1, RELET_RETRY));
    t_world_pass(&w, 100000);
    T_HEARD(&w, 1, "");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:dead"));
    t_world_end(&w);
    PASS();
}

/* Found by faults T13-jobs: the job was tried again only at the next poll, 30 s
 * later. */
TEST a_failed_job_is_retried_as_soon_as_it_is_due(void)
{
    relet_failure f;
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 1, "jobs 1:a");
    t_world_pass(&w, 1000);
    memset(&f, 0, sizeof f);
    f.delay_ms = 500;
    ASSERT_EQ(0, relet_job_fail(w.p[1].r, 0, 1, &f));
    t_world_settle(&w);
    t_world_pass(&w, 499);
    T_HEARD(&w, 1, "");
    t_world_pass(&w, 2);
    T_HEARD(&w, 1, "jobs 1:a#2");
    t_world_end(&w);
    PASS();
}

TEST a_stopped_worker_tells_others_when_its_snoozed_job_is_due(void)
{
    relet_failure f;
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    memset(&f, 0, sizeof f);
    f.verdict = RELET_SNOOZE;
    f.delay_ms = 500;
    ASSERT_EQ(0, relet_job_fail(w.p[1].r, 0, 1, &f));
    t_world_settle(&w);
    t_world_pass(&w, 501);
    T_HEARD(&w, 2, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

TEST a_stopped_worker_tells_others_when_its_failed_job_is_due(void)
{
    relet_failure f;
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    memset(&f, 0, sizeof f);
    f.delay_ms = 500;
    ASSERT_EQ(0, relet_job_fail(w.p[1].r, 0, 1, &f));
    t_world_settle(&w);
    t_world_pass(&w, 501);
    T_HEARD(&w, 2, "jobs 1:a#2");
    t_world_end(&w);
    PASS();
}

TEST a_job_given_back_goes_to_another_worker(void)
{
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    ASSERT_EQ(0, relet_job_release(w.p[1].r, 0, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "worker ended");
    T_HEARD(&w, 2, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

/* A newer job uses the claim of a job that was done, and jobs once went back in
 * the order of the claims. Found by the simulator. */
TEST jobs_given_back_wait_in_the_order_in_which_they_were_claimed(void)
{
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    ASSERT_EQ(0, t_put(&w, 0, "c"));
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a 2:b");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "jobs 3:c");
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    ASSERT_EQ(0, relet_job_release(w.p[1].r, 0, 3));
    ASSERT_EQ(0, relet_job_release(w.p[1].r, 0, 2));
    t_world_settle(&w);
    ASSERT_EQ(0, t_work_with(&w, 2, 2));
    t_world_settle(&w);
    T_HEARD(&w, 2, "jobs 2:b 3:c");
    t_world_end(&w);
    PASS();
}

/* Found by hand: once only the answer to a step ended a worker, and a failure
 * is not sent by a step. */
TEST a_worker_ends_behind_the_failure_of_its_last_job(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    ASSERT_EQ(0, t_fail(&w, 1, 1, RELET_BURY));
    T_HEARD(&w, 1, "worker ended");
    t_world_end(&w);
    PASS();
}

TEST a_worker_ends_behind_a_job_that_was_lost(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    w.paused[1] = 1;
    t_world_pass(&w, 40000);
    w.paused[1] = 0;
    t_world_settle(&w);
    T_HEARD(&w, 1, "job lost 1 expired");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "worker ended");
    t_world_end(&w);
    PASS();
}

TEST a_claim_whose_answer_was_lost_brings_the_same_jobs(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    w.no_way_in[1] = 1;
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_settle(&w);
    t_world_cut(&w, 1);
    w.no_way_in[1] = 0;
    t_world_pass(&w, 2000);
    T_HEARD(&w, 1, "jobs 1:a 2:b");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    ASSERT_EQ(0, t_done(&w, 1, 2));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

TEST a_put_whose_answer_was_lost_is_put_once(void)
{
    t_world w;

    t_begin(&w, 2);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_cut(&w, 0);
    w.no_way_in[0] = 0;
    t_world_pass(&w, 2000);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

static void t_put_late(t_world *w, int i, const char *payload, relet_time ms)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str(payload);
    j.delay_ms = ms;
    (void)t_put_job(w, i, &j);
}

TEST a_delayed_job_comes_to_a_sleeping_worker_when_it_is_due(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 1000);
    t_put_late(&w, 0, "b", 700);
    t_put_late(&w, 0, "a", 500);
    t_world_pass(&w, 499);
    T_HEARD(&w, 1, "");
    t_world_pass(&w, 2);
    T_HEARD(&w, 1, "jobs 2:a");
    ASSERT_EQ(0, t_done(&w, 1, 2));
    t_world_pass(&w, 197);
    T_HEARD(&w, 1, "");
    t_world_pass(&w, 2);
    T_HEARD(&w, 1, "jobs 1:b");
    t_world_end(&w);
    PASS();
}

/* A worker in the line of idle workers claimed a job by its own clock and
 * stayed in line: the wake-up for the next job found it full, and the worker
 * that slept was not woken. Found by the simulator, in a run without faults. */
TEST a_wake_up_for_a_full_worker_is_passed_to_a_sleeping_worker(void)
{
    int busy, other;
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 1000);
    t_put_late(&w, 0, "late", 500);
    t_world_pass(&w, 501);
    busy = strcmp(t_world_told(&w, 1), "jobs 1:late") == 0 ? 1 : 2;
    other = 3 - busy;
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_settle(&w);
    T_HEARD(&w, other, "jobs 2:a");
    ASSERT_EQ(0, t_done(&w, other, 2));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    t_world_settle(&w);
    T_HEARD(&w, other, "jobs 3:b");
    ASSERT_EQ(0, t_done(&w, busy, 1));
    ASSERT_EQ(0, t_put(&w, 0, "c"));
    t_world_settle(&w);
    T_HEARD(&w, busy, busy == 2 ? "jobs 1:late" : "jobs 4:c");
    t_world_end(&w);
    PASS();
}

/* Two workers of a team share the room for one job: the worker without a job
 * was taken for hungry. Seed 220620312490018 of WORK=jobs. */
TEST a_wake_up_for_a_full_team_is_passed_to_a_sleeping_worker(void)
{
    relet_worker_config c = t_config_of("q");
    int busy, other, i;
    t_world w;

    t_begin(&w, 3);
    c.room = 1;
    c.team = 1;
    for (i = 1; i <= 2; i++) {
        ASSERT_EQ(0, relet_worker_start(w.p[i].r, &c));
        ASSERT_EQ(1, relet_worker_start(w.p[i].r, &c));
    }
    t_world_pass(&w, 1000);
    t_put_late(&w, 0, "late", 500);
    t_world_pass(&w, 501);
    busy = strcmp(t_world_told(&w, 1), "jobs 1:late") == 0 ? 1 : 2;
    other = 3 - busy;
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_settle(&w);
    T_HEARD(&w, other, "jobs 2:a");
    t_world_end(&w);
    PASS();
}

/* A client has left the line of a queue, but the server has forgotten that: the
 * wake-up for the next job came to a client that does not work on that queue.
 * Seed 179801732653637 of WORK=jobs. */
TEST a_wake_up_for_a_queue_left_is_passed_to_a_sleeping_worker(void)
{
    relet_worker_config c = t_config_of("other");
    char line[200], *end;
    t_world w;

    t_begin(&w, 3);
    ASSERT_EQ(0, relet_worker_start(w.p[1].r, &c));
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 1000);
    sprintf(line, "ZADD {q}:idle 1 %s",
            strchr(t_world_ask(&w, "ZRANGE {other}:idle 0 -1"), '$'));
    end = strstr(line, "\r\n");
    ASSERT(end != NULL);
    memmove(strchr(line, '$'), end + 2, strlen(end + 2) + 1);
    *strstr(line, "\r\n") = '\0';
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, line));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    t_world_settle(&w);
    T_HEARD(&w, 2, "jobs 1:a");
    T_HEARD(&w, 1, "");
    t_world_end(&w);
    PASS();
}

/* A client that may publish on the channel may publish any text. */
TEST a_wake_up_for_a_name_too_long_for_a_queue_is_passed_over(void)
{
    static char line[5000];
    const char *said;
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 1000);
    said = t_world_ask(&w, "PUBSUB SHARDCHANNELS *:wake:*");
    (void)snprintf(line, sizeof line, "SPUBLISH %.*s %04000d:jobs",
                   (int)strcspn(strchr(said, '{'), "\r"), strchr(said, '{'),
                   0);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, line));
    t_world_pass(&w, 100);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 0, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

/* The job was once offered, and no client promoted it. */
TEST a_job_with_an_id_that_is_put_without_a_link_comes_at_once_later(void)
{
    relet_time down;
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 1000);
    t_world_cut(&w, 0);
    j.id = relet_str("mine");
    down = w.now;
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    t_world_pass(&w, 1000);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT(w.now - down <= 1000);
    t_world_end(&w);
    PASS();
}

/* The lease was taken as lost, and the job was relet while its handler went on:
 * two claims of one number cannot be told apart. The relet job once got no
 * claim, and counted as a stall. */
TEST a_job_relet_before_its_handler_ended_is_given_back(void)
{
    t_world w;

    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 1, "jobs 1:a");
    w.paused[1] = 1;
    t_world_pass(&w, 40000);
    w.paused[1] = 0;
    t_world_pass(&w, 100000);
    T_HEARD(&w, 1, "job lost 1 expired");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    t_world_pass(&w, 2000);
    T_HEARD(&w, 1, "jobs 1:a!1"); /* and it stalled only once */
    t_world_end(&w);
    PASS();
}

TEST an_attempt_that_takes_too_long_is_told_and_not_renewed(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 3);
    j.timeout_ms = 45000;
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 44900);
    T_HEARD(&w, 1, "jobs 1:a");
    t_world_pass(&w, 200);
    T_HEARD(&w, 1, "job cancel 1 timeout");
    t_world_pass(&w, 30000);
    T_HEARD(&w, 1, "job lost 1 expired");
    t_world_end(&w);
    PASS();
}

TEST a_job_not_begun_by_its_deadline_is_dead(void)
{
    relet_job j;
    t_world w;

    t_begin(&w, 2);
    memset(&j, 0, sizeof j);
    j.payload = relet_str("a");
    j.deadline_ms = 5000;
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    t_world_pass(&w, 7000);
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_pass(&w, 1000);
    T_HEARD(&w, 1, "jobs 2:b");
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:dead"));
    ASSERT_STR_EQ("$24\r\nxits deadline has passed\r\n",
                  t_world_ask(&w, "HGET {q}:jobs 1r"));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

/* All leases end at once by the server's clock, though no worker is gone. */
TEST a_server_clock_that_leaps_ahead_takes_no_jobs_away(void)
{
    t_world w;
    int i;

    t_begin(&w, 3);
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_work_with(&w, 2, 1));
    t_world_pass(&w, 40000);
    for (i = 0; i < 20; i++) { /* some leaps are between renewal and reaper */
        w.wall_ms += 60000;
        t_world_pass(&w, 4700);
    }
    T_HEARD(&w, 2, "");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "");
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:leased"));
    t_world_end(&w);
    PASS();
}

TEST a_result_is_kept_for_as_long_as_was_asked_for(void)
{
    relet_job j = t_job("a");
    t_world w;

    t_begin(&w, 2);
    j.id = relet_str("mine");
    j.keep_ms = 60000;
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, relet_job_done(w.p[1].r, 0, 1, relet_str("result")));
    t_world_settle(&w);
    ASSERT_STR_EQ("$7\r\ndresult\r\n", t_world_ask(&w, "HGET {q}:jobs 1r"));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_pass(&w, 59900);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    t_world_pass(&w, 200); /* its worker trims it */
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    ASSERT_EQ(0, t_put_job(&w, 0, &j));
    T_HEARD(&w, 1, "jobs 2:a");
    t_world_end(&w);
    PASS();
}

TEST expired_results_of_other_clients_are_removed_within_minutes(void)
{
    t_world w;

    t_begin(&w, 1);
    (void)t_world_ask(&w, "HSET {q}:jobs version 1 1 .aaaax 1s D");
    (void)t_world_ask(&w, "ZADD {q}:done 1 1");
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 4 * 30000 + 30000 / 8);
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:done"));
    t_world_end(&w);
    PASS();
}

TEST records_of_clients_that_are_gone_are_removed_within_hours(void)
{
    t_world w;

    t_begin(&w, 2);
    (void)t_world_ask(&w, "HSET {q}:jobs version 1 dgone:1 \"5 d\" "
                          "pgone:1 \"7 1\"");
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 3600000);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "HEXISTS {q}:jobs dgone:1"));
    t_world_pass(&w, 2 * 3600000);
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs dgone:1"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "HEXISTS {q}:jobs pgone:1"));
    t_world_end(&w);
    PASS();
}

/* How many of three dead jobs a worker keeps. Job 1, the oldest, is a month
 * old; job 3 is the newest. */
static const char *t_dead_after(relet_time dead_ms, uint32_t dead_max)
{
    relet_worker_config c = t_config_of("q");
    static char said[100];
    char line[200];
    t_world w;

    t_begin(&w, 1);
    (void)t_world_ask(&w, "HSET {q}:jobs version 1 1 .aaaax 1s X 2 .aaaax 2s X "
                          "3 .aaaax 3s X");
    sprintf(line, "ZADD {q}:dead %.0f 1 %.0f 2 %.0f 3",
            (double)(w.now + w.wall_ms) - 2.6e9, (double)w.wall_ms - 2e6,
            (double)w.wall_ms);
    (void)t_world_ask(&w, line);
    c.dead_ms = dead_ms;
    c.dead_max = dead_max;
    if (relet_worker_start(w.p[0].r, &c) != 0)
        return "is refused";
    t_world_pass(&w, 4 * 30000 + 30000 / 8);
    sprintf(said, "%.99s", t_world_ask(&w, "ZCARD {q}:dead"));
    t_world_end(&w);
    return said;
}

TEST dead_jobs_go_when_they_are_too_old_or_too_many(void)
{
    ASSERT_STR_EQ(":2\r\n", t_dead_after(0, 0));
    ASSERT_STR_EQ(":3\r\n", t_dead_after(RELET_NEVER, 0));
    ASSERT_STR_EQ(":1\r\n", t_dead_after(1000000, 0));
    ASSERT_STR_EQ(":1\r\n", t_dead_after(RELET_NEVER, 1));
    PASS();
}

/* Otherwise the worker would be woken, claim nothing, and line up again,
 * without end. */
TEST a_throttled_worker_polls_once_a_second_and_resumes_soon(void)
{
    uint64_t before;
    t_world w;

    t_begin(&w, 2);
    (void)t_world_ask(&w, "HSET {q}:jobs stopped 1");
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    t_world_pass(&w, 10000);
    before = w.commands;
    t_world_pass(&w, 100000);
    ASSERT(w.commands - before <= 250);
    T_HEARD(&w, 1, "");
    (void)t_world_ask(&w, "HDEL {q}:jobs stopped");
    t_world_pass(&w, 1001);
    T_HEARD(&w, 1, "jobs 1:a");
    t_world_end(&w);
    PASS();
}

TEST under_a_limit_the_next_job_comes_when_one_has_ended(void)
{
    t_world w;

    t_begin(&w, 2);
    (void)t_world_ask(&w, "HSET {q}:jobs limit 1");
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    ASSERT_EQ(0, t_put(&w, 0, "b"));
    ASSERT_EQ(0, t_work_with(&w, 1, 4));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    ASSERT_EQ(0, t_done(&w, 1, 1));
    T_HEARD(&w, 1, "jobs 2:b");
    t_world_end(&w);
    PASS();
}

TEST cancelled_jobs_in_line_do_not_put_a_worker_to_sleep(void)
{
    t_world w;
    int i;

    t_begin(&w, 2);
    for (i = 0; i < 5; i++)
        ASSERT_EQ(0, t_put(&w, 0, "a"));
    (void)t_world_ask(&w, "HDEL {q}:jobs 1 2 3 4");
    ASSERT_EQ(0, t_work_with(&w, 1, 2));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 5:a");
    t_world_end(&w);
    PASS();
}

static int t_work_on(t_world *w, int i, const char *type, uint32_t room)
{
    relet_worker_config c;

    memset(&c, 0, sizeof c);
    c.queue = relet_str("q");
    c.type = relet_str(type);
    c.room = room;
    return relet_worker_start(w->p[i].r, &c);
}

static void t_put_typed(t_world *w, const char *type, int count)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = j.type = relet_str(type);
    for (; count > 0; count--)
        (void)t_put_job(w, 0, &j);
}

TEST a_worker_by_type_gets_the_jobs_of_its_type_in_order(void)
{
    t_world w;

    t_begin(&w, 3);
    t_put_typed(&w, "a", 1);
    t_put_typed(&w, "b", 2);
    t_put_typed(&w, "a", 1);
    ASSERT_EQ(0, t_work_on(&w, 1, "b", 1));
    ASSERT_EQ(0, t_work_on(&w, 2, "a", 8));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 2:b");
    T_HEARD(&w, 2, "jobs 1:a 4:a");
    ASSERT_EQ(0, t_done(&w, 1, 2));
    T_HEARD(&w, 1, "jobs 3:b");
    t_world_end(&w);
    PASS();
}

TEST a_front_of_another_type_does_not_starve_a_type(void)
{
    t_world w;
    int i;

    t_begin(&w, 2);
    for (i = 0; i < 10; i++) /* in parts: a client's limit of operations */
        t_put_many(&w, 'q', 40);
    t_put_typed(&w, "a", 1);
    ASSERT_EQ(0, t_work_on(&w, 1, "a", 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 401:a");
    t_world_end(&w);
    PASS();
}

TEST a_wake_up_for_another_type_is_passed_on(void)
{
    t_world w;

    t_begin(&w, 4);
    ASSERT_EQ(0, t_work_on(&w, 1, "a", 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, t_work_on(&w, 2, "c", 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, t_work_on(&w, 3, "b", 1));
    t_world_pass(&w, 1000);
    t_put_typed(&w, "b", 1);
    t_world_settle(&w);
    T_HEARD(&w, 3, "jobs 1:b"); /* at once, though 1 and 2 are before it */
    t_world_end(&w);
    PASS();
}

/* Two workers that pass a wake-up to each other would never rest. */
TEST workers_by_type_do_not_wake_each_other_without_end(void)
{
    uint64_t before;
    t_world w;

    t_begin(&w, 4);
    ASSERT_EQ(0, t_work_on(&w, 1, "a", 1));
    ASSERT_EQ(0, t_work_on(&w, 2, "a", 1));
    ASSERT_EQ(0, t_work_on(&w, 3, "c", 1));
    t_world_pass(&w, 1000);
    t_put_typed(&w, "b", 1);
    t_world_pass(&w, 10000);
    before = w.commands;
    t_world_pass(&w, 100000);
    ASSERT(w.commands - before <= 1200); /* each worker looks twice a second */
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, "ZCARD {q}:idle"));
    t_put_typed(&w, "c", 1);
    t_world_pass(&w, 1001);
    T_HEARD(&w, 3, "jobs 2:c");
    t_world_end(&w);
    PASS();
}

TEST another_attempt_is_claimed_by_type_within_seconds(void)
{
    relet_failure f;
    t_world w;

    t_begin(&w, 2);
    t_put_typed(&w, "a", 1);
    t_put_typed(&w, "b", 5);
    ASSERT_EQ(0, t_work_on(&w, 1, "a", 1));
    t_world_settle(&w);
    T_HEARD(&w, 1, "jobs 1:a");
    t_world_pass(&w, 60000);
    memset(&f, 0, sizeof f);
    f.delay_ms = 500;
    ASSERT_EQ(0, relet_job_fail(w.p[1].r, 0, 1, &f));
    t_world_pass(&w, 3000);
    T_HEARD(&w, 1, "jobs 1:a#2");
    t_world_end(&w);
    PASS();
}

TEST a_claim_by_type_whose_answer_was_lost_brings_the_same_jobs(void)
{
    t_world w;

    t_begin(&w, 2);
    t_put_typed(&w, "b", 1);
    t_put_typed(&w, "a", 2);
    w.no_way_in[1] = 1;
    ASSERT_EQ(0, t_work_on(&w, 1, "a", 2));
    t_world_settle(&w);
    t_world_cut(&w, 1);
    w.no_way_in[1] = 0;
    t_world_pass(&w, 2000);
    T_HEARD(&w, 1, "jobs 2:a 3:a");
    t_world_end(&w);
    PASS();
}

TEST a_type_that_is_too_long_is_refused_by_name(void)
{
    char type[257];
    t_world w;

    t_begin(&w, 1);
    memset(type, 'x', 256);
    type[256] = '\0';
    ASSERT_EQ(RELET_E_CONFIG, t_work_on(&w, 0, type, 1));
    ASSERT_STR_EQ("worker.type has at most 255 bytes",
                  relet_refusal(w.p[0].r));
    ASSERT_EQ(0, t_work_on(&w, 0, type + 1, 1));
    t_world_end(&w);
    PASS();
}

TEST an_idle_worker_asks_seldom(void)
{
    uint64_t before;
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 10000);
    before = w.commands;
    t_world_pass(&w, 1000000);
    ASSERT(w.commands - before <= 110);
    t_world_end(&w);
    PASS();
}

TEST a_worker_listens_in_the_hash_slot_of_its_queue_until_it_ends(void)
{
    t_world w;

    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 1));
    t_world_pass(&w, 10);
    ASSERT(strncmp(t_world_ask(&w, "PUBSUB SHARDCHANNELS *"),
                   "*1\r\n$41\r\n{q}:wake:", 18) == 0);
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    t_world_pass(&w, 10);
    ASSERT_STR_EQ("*0\r\n", t_world_ask(&w, "PUBSUB SHARDCHANNELS *"));
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_job_that_was_put_and_done_leaves_no_record);
    RUN_TEST(a_worker_that_began_without_memory_is_woken_once_there_is_some);
    RUN_TEST(a_put_wakes_a_sleeping_worker_at_once);
    RUN_TEST(jobs_come_in_order_and_no_more_than_there_is_room_for);
    RUN_TEST(a_lease_goes_on_for_as_long_as_the_work_does);
    RUN_TEST(a_paused_worker_hears_of_its_loss_and_changes_nothing);
    RUN_TEST(the_job_of_a_dead_worker_is_relet);
    RUN_TEST(a_job_that_kills_its_workers_is_dead_in_the_end);
    RUN_TEST(a_job_that_failed_is_tried_again_until_it_is_dead);
    RUN_TEST(a_failed_job_is_retried_as_soon_as_it_is_due);
    RUN_TEST(a_stopped_worker_tells_others_when_its_snoozed_job_is_due);
    RUN_TEST(a_stopped_worker_tells_others_when_its_failed_job_is_due);
    RUN_TEST(a_job_given_back_goes_to_another_worker);
    RUN_TEST(jobs_given_back_wait_in_the_order_in_which_they_were_claimed);
    RUN_TEST(a_worker_ends_behind_the_failure_of_its_last_job);
    RUN_TEST(a_worker_ends_behind_a_job_that_was_lost);
    RUN_TEST(a_claim_whose_answer_was_lost_brings_the_same_jobs);
    RUN_TEST(a_put_whose_answer_was_lost_is_put_once);
    RUN_TEST(a_delayed_job_comes_to_a_sleeping_worker_when_it_is_due);
    RUN_TEST(a_wake_up_for_a_full_worker_is_passed_to_a_sleeping_worker);
    RUN_TEST(a_wake_up_for_a_queue_left_is_passed_to_a_sleeping_worker);
    RUN_TEST(a_wake_up_for_a_name_too_long_for_a_queue_is_passed_over);
    RUN_TEST(a_wake_up_for_a_full_team_is_passed_to_a_sleeping_worker);
    RUN_TEST(a_job_with_an_id_that_is_put_without_a_link_comes_at_once_later);
    RUN_TEST(a_job_relet_before_its_handler_ended_is_given_back);
    RUN_TEST(an_attempt_that_takes_too_long_is_told_and_not_renewed);
    RUN_TEST(a_job_not_begun_by_its_deadline_is_dead);
    RUN_TEST(a_server_clock_that_leaps_ahead_takes_no_jobs_away);
    RUN_TEST(a_result_is_kept_for_as_long_as_was_asked_for);
    RUN_TEST(expired_results_of_other_clients_are_removed_within_minutes);
    RUN_TEST(records_of_clients_that_are_gone_are_removed_within_hours);
    RUN_TEST(dead_jobs_go_when_they_are_too_old_or_too_many);
    RUN_TEST(a_throttled_worker_polls_once_a_second_and_resumes_soon);
    RUN_TEST(under_a_limit_the_next_job_comes_when_one_has_ended);
    RUN_TEST(cancelled_jobs_in_line_do_not_put_a_worker_to_sleep);
    RUN_TEST(a_worker_by_type_gets_the_jobs_of_its_type_in_order);
    RUN_TEST(a_front_of_another_type_does_not_starve_a_type);
    RUN_TEST(a_wake_up_for_another_type_is_passed_on);
    RUN_TEST(workers_by_type_do_not_wake_each_other_without_end);
    RUN_TEST(another_attempt_is_claimed_by_type_within_seconds);
    RUN_TEST(a_claim_by_type_whose_answer_was_lost_brings_the_same_jobs);
    RUN_TEST(a_type_that_is_too_long_is_refused_by_name);
    RUN_TEST(an_idle_worker_asks_seldom);
    RUN_TEST(a_worker_listens_in_the_hash_slot_of_its_queue_until_it_ends);
    GREATEST_MAIN_END();
}
