/* SPDX-License-Identifier: MIT
 *
 * kept_jobs_test.c - the events of a worker that are kept while its client
 * waits for something else. */
#include "work_rig.h"

#include "kept.h"

/* The first client waits as the driver does, while time passes. */
static int t_await_while(t_world *w, rlt_wanted want, relet_time ms)
{
    relet_event ev;
    int code = rlt_await_begin(w->p[0].r, &want, &ev), i;

    w->p[0].manual = 1;
    for (i = 0; code == 0 && i < 20; i++) {
        t_world_settle(w);
        code = rlt_await_next(w->p[0].r, &want, &ev);
        if (code == 0 && i >= 10)
            w->now += ms / 10;
    }
    w->p[0].manual = 0;
    return code;
}

static rlt_wanted t_reply(uint64_t tag)
{
    rlt_wanted w;

    w.kind = RELET_EV_REPLY;
    w.tag = tag;
    w.number = -1;
    return w;
}

/* A later claim forgets which jobs an earlier answer brought. */
TEST jobs_that_are_kept_can_be_begun_after_a_later_claim(void)
{
    rlt_wanted end = t_reply(0);
    t_world w;

    end.kind = RELET_EV_WORKER_ENDED;
    end.number = 0;
    t_begin(&w, 2);
    ASSERT_EQ(0, t_work_with(&w, 0, 4));
    t_world_pass(&w, 10);
    w.p[0].manual = 1;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_await_while(&w, end, 0));
    w.p[0].manual = 1;
    ASSERT_EQ(0, t_put(&w, 1, "b"));
    ASSERT_EQ(0, t_put(&w, 1, "c"));
    ASSERT_EQ(0, t_await_while(&w, end, 0));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "jobs 1:a");
    T_HEARD(&w, 0, "jobs 2:b 3:c");
    ASSERT_EQ(0, t_done(&w, 0, 1));
    ASSERT_EQ(0, t_done(&w, 0, 2));
    ASSERT_EQ(0, t_done(&w, 0, 3));
    t_world_end(&w);
    PASS();
}

TEST the_end_of_a_worker_is_awaited(void)
{
    rlt_wanted end;
    t_world w;

    t_begin(&w, 1);
    end = t_reply(0);
    end.kind = RELET_EV_WORKER_ENDED;
    end.number = 0;
    ASSERT_EQ(RELET_E_REFUSED, t_await_while(&w, end, 0));
    ASSERT_STR_EQ("there is no such worker", relet_refusal(w.p[0].r));
    ASSERT_EQ(0, t_work_with(&w, 0, 2));
    ASSERT_EQ(0, t_put(&w, 0, "a"));
    T_HEARD(&w, 0, "jobs 1:a");
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    ASSERT_EQ(0, t_await_while(&w, end, 100));
    ASSERT_EQ(0, relet_job_done(w.p[0].r, 0, 1, relet_str("")));
    ASSERT_EQ(1, t_await_while(&w, end, 100));
    ASSERT_EQ(RELET_E_REFUSED, t_await_while(&w, end, 0));
    t_world_end(&w);
    PASS();
}

TEST the_number_of_a_worker_is_not_free_while_its_end_is_kept(void)
{
    relet_request q = {1, 0, 0};
    rlt_wanted end = t_reply(0);
    t_world w;

    end.kind = RELET_EV_WORKER_ENDED;
    end.number = 0;
    t_begin(&w, 1);
    ASSERT_EQ(0, t_work_with(&w, 0, 2));
    t_world_pass(&w, 10);
    w.p[0].manual = 1;
    ASSERT_EQ(0, relet_worker_stop(w.p[0].r, 0));
    (void)relet_command_text(w.p[0].r, &q, "PING", (char *)NULL);
    ASSERT_EQ(1, t_await_while(&w, t_reply(1), 0));
    w.p[0].manual = 1;
    (void)relet_command_text(w.p[0].r, &q, "PING", (char *)NULL);
    ASSERT_EQ(1, t_await_while(&w, t_reply(1), 0));
    ASSERT_EQ(1, t_work_with(&w, 0, 2));
    ASSERT_EQ(1, t_await_while(&w, end, 0));
    ASSERT_EQ(0, t_work_with(&w, 0, 2));
    t_world_end(&w);
    PASS();
}

static SUITE(kept_jobs)
{
    RUN_TEST(jobs_that_are_kept_can_be_begun_after_a_later_claim);
    RUN_TEST(the_end_of_a_worker_is_awaited);
    RUN_TEST(the_number_of_a_worker_is_not_free_while_its_end_is_kept);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(kept_jobs);
    GREATEST_MAIN_END();
}
