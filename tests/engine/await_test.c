/* SPDX-License-Identifier: MIT
 *
 * await_test.c - relet_queue_put_wait: a client puts a job and waits for its
 * end. The transport feeds what the client writes to a local server. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

typedef struct t_rig {
    t_world w;
    relet *r;
    int id;      /* the client's connection                                  */
    int pair[2]; /* the client's end and the server's end of the link        */
    int listener; /* accepts the second link                                 */
    int cuts;     /* links to cut once job 1 exists                          */
    int played;
    int mute; /* 1: drop the server's bytes once job 1 exists                */
    const char *script; /* played once job 1 exists: "part|part"             */
    const char *early;  /* played before the early_at-th write               */
    int early_at;
    relet_event ev;
    relet_job_info end;
} t_rig;

/* Sends the server's output to the client. */
static void t_pump(t_rig *t)
{
    const uint8_t *from = NULL;
    size_t n;

    while ((n = relet_local_output(t->w.l, t->id, &from)) > 0) {
        if (send(t->pair[1], from, n, 0) != (ssize_t)n)
            t_die("the socket is full");
        relet_local_sent(t->w.l, t->id, n);
    }
}

/* The channel on which the end of the job is published. */
static const char *t_channel(t_rig *t)
{
    static char name[100];
    const char *said = t_world_ask(&t->w, "PUBSUB CHANNELS *:end:*");
    const char *at = strstr(said, "wake:");

    if (at == NULL)
        t_die("nobody waits");
    sprintf(name, "%.*s", (int)strcspn(at, "\r"), at);
    return name;
}

/* Each part is a command, or a message if it begins with a blank. */
static void t_play(t_rig *t, const char *p)
{
    char line[300], *end;
    size_t n;

    for (; *p != '\0'; p += n + (p[n] == '|')) {
        n = strcspn(p, "|");
        end = line;
        if (*p == ' ')
            end += sprintf(end, "PUBLISH %s \"%.*s\"", t_channel(t),
                           (int)n - 1, p + 1);
        else
            end += sprintf(end, "%.*s", (int)n, p);
        if (t_world_ask(&t->w, line)[0] == '-')
            t_die(line);
    }
}

/* The second link is a TCP connection to the listener. */
static void *t_open(void *user, int fd, const char *host)
{
    t_rig *t = (t_rig *)user;

    (void)host;
    if (t->pair[1] >= 0)
        return user;
    t->pair[0] = fd;
    t->pair[1] = accept(t->listener, NULL, NULL);
    t->id = relet_local_connect(t->w.l);
    return user;
}

static int t_shake(void *session)
{
    (void)session;
    return 0;
}

static long t_recv(void *session, void *p, size_t n)
{
    t_rig *t = (t_rig *)session;
    long got = (long)recv(t->pair[0], p, n, MSG_DONTWAIT);

    if (got < 0 && t->played && t->cuts > 0) {
        t->cuts--;
        relet_local_hangup(t->w.l, t->id);
        (void)close(t->pair[1]);
        t->pair[1] = -1;
        if (t_world_ask(&t->w, "HDEL {q}:jobs 1")[0] != ':')
            t_die("job 1 stays");
    }
    return got < 0 ? RELET_TRANSPORT_READ : got;
}

static long t_send(void *session, const void *p, size_t n)
{
    t_rig *t = (t_rig *)session;

    if (t->pair[1] < 0)
        return RELET_TRANSPORT_FAILED;
    relet_local_time(t->w.l, (relet_clock() + t->w.wall_ms) * 1000);
    if (t->early && --t->early_at == 0)
        t_play(t, t->early);
    relet_local_feed(t->w.l, t->id, p, n);
    if (t->mute &&
        strcmp(t_world_ask(&t->w, "HEXISTS {q}:jobs 1"), ":1\r\n") == 0)
        return (long)n;
    if (t->script && !t->played &&
        strcmp(t_world_ask(&t->w, "HEXISTS {q}:jobs 1"), ":1\r\n") == 0) {
        t->played = 1;
        t_play(t, t->script);
    }
    t_pump(t);
    return (long)n;
}

static void t_close(void *session)
{
    (void)session;
}

/* Opens a listener on the loopback address; its URL goes to `url`. */
static int t_listen(char *url)
{
    struct sockaddr_in a;
    socklen_t n = (socklen_t)sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&a, n) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        t_die("no listener");
    sprintf(url, "rediss://127.0.0.1:%d", ntohs(a.sin_port));
    return fd;
}

static void t_begin_with(t_rig *t, const relet_config *c)
{
    static relet_transport over;
    relet_poll_config pc;
    char url[40];

    memset(t, 0, sizeof *t);
    memset(&pc, 0, sizeof pc);
    t_world_start_with(&t->w, 0, c);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, t->pair) != 0)
        t_die("no sockets");
    t->id = relet_local_connect(t->w.l);
    over.user = t;
    over.open = t_open;
    over.handshake = t_shake;
    over.read = t_recv;
    over.write = t_send;
    over.close = t_close;
    pc.transport = &over;
    pc.fd = &t->pair[0];
    t->listener = t_listen(url);
    t->r = relet_open(url, c, &pc, NULL);
    if (t->r == NULL)
        t_die("no client");
}

static void t_begin(t_rig *t, const char *script)
{
    relet_config c;

    relet_config_init(&c);
    t_begin_with(t, &c);
    t->script = script;
}

static void t_finish(t_rig *t)
{
    relet_close(t->r);
    (void)close(t->pair[1]);
    (void)close(t->listener);
    t_world_end(&t->w);
}

static int t_wait(t_rig *t, const char *id, int ms)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str("a");
    j.id = relet_str(id);
    return relet_queue_put_wait(t->r, relet_str("q"), &j, &t->ev, &t->end, ms);
}

#define SOON 10000

static int t_wait_in(t_rig *t, const char *queue, int ms)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str("a");
    return relet_queue_put_wait(t->r, relet_str(queue), &j, &t->ev, &t->end,
                                ms);
}

static int t_says(relet_span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

/* ----------------------------------------------------------------- messages */

TEST a_waiting_client_is_told_the_result(void)
{
    t_rig t;

    t_begin(&t, " 1 d a result");
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT_EQ(RELET_AT_DONE, t.end.place);
    ASSERT_EQ(1, t.end.work.number);
    ASSERT(t_says(t.end.result, "a result"));
    ASSERT_EQ(NULL, t.end.error.p);
    t_finish(&t);
    PASS();
}

TEST a_waiting_client_is_told_the_error(void)
{
    t_rig t;

    t_begin(&t, " 1 x it is broken");
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT_EQ(RELET_AT_DEAD, t.end.place);
    ASSERT(t_says(t.end.error, "it is broken"));
    t_finish(&t);
    PASS();
}

TEST a_waiting_client_is_told_that_its_job_was_cancelled(void)
{
    t_rig t;

    t_begin(&t, " 1 c");
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT_EQ(RELET_AT_NOWHERE, t.end.place);
    ASSERT_EQ(1, t.end.work.number);
    t_finish(&t);
    PASS();
}

TEST a_message_about_another_job_is_passed_over(void)
{
    t_rig t;

    t_begin(&t, " | x d no| 2 d no| 1| 1 dd no|PUBLISH other \"1 d no\"|"
                " 1 d yes");
    ASSERT_EQ(0, relet_subscribe(t.r, RELET_CHANNEL, relet_str("other")));
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT(t_says(t.end.result, "yes"));
    t_finish(&t);
    PASS();
}

TEST a_client_may_wait_for_one_job_after_another(void)
{
    t_rig t;

    t_begin(&t, " 1 d one");
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    t.played = 0;
    t.script = " 2 d two";
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT_EQ(2, t.end.work.number);
    ASSERT_EQ(0, relet_outstanding(t.r));
    t_finish(&t);
    PASS();
}

/* The first wait timed out. Its job ends during the second wait, which is for a
 * job of another queue with the same number. Seed 5893 of WORK=jobs. */
TEST the_end_of_an_earlier_wait_s_job_ends_no_other_wait(void)
{
    char script[200];
    const char *at;
    t_rig t;

    t_begin(&t, "SET unused 1");
    ASSERT_EQ(RELET_E_TIMEOUT, t_wait_in(&t, "other", 0));
    ASSERT_EQ(1, t.end.work.number);
    at = strstr(t_world_ask(&t.w, "HGET {other}:jobs 1"), "wake:");
    ASSERT(at != NULL);
    (void)snprintf(script, sizeof script, "PUBLISH %.*s \"1 d no\"| 1 d yes",
                   (int)(strstr(at, ":end:") + 5 - at +
                         (long)strspn(strstr(at, ":end:") + 5, "0123456789")),
                   at);
    t.played = 0;
    t.script = script;
    ASSERT_EQ(1, t_wait_in(&t, "q", SOON));
    ASSERT_EQ(1, t.end.work.number);
    ASSERT(t_says(t.end.result, "yes"));
    t_finish(&t);
    PASS();
}

/* ------------------------------------------------------------------ looking */

TEST without_a_message_the_last_look_finds_the_end(void)
{
    t_rig t;

    t_begin(&t, "HSET {q}:jobs 1s \"D 1 0 0 0 - w\" 1r dresult|"
                "ZADD {q}:done 9999999999999 1");
    ASSERT_EQ(1, t_wait(&t, "", 30));
    ASSERT_EQ(RELET_AT_DONE, t.end.place);
    ASSERT(t_says(t.end.result, "result"));
    t_finish(&t);
    PASS();
}

/* The message was lost with the link: the client looks at the job again as soon
 * as it has a new link. */
TEST a_new_link_finds_the_end_at_once(void)
{
    relet_time began = relet_clock();
    t_rig t;

    t_begin(&t, "SET unused 1");
    t.cuts = 1;
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT_EQ(0, t.cuts);
    ASSERT_EQ(1, t.end.work.number);
    ASSERT_EQ(RELET_AT_NOWHERE, t.end.place);
    ASSERT(relet_clock() - began < 4000);
    t_finish(&t);
    PASS();
}

TEST a_job_that_is_gone_without_a_message_counts_as_ended(void)
{
    t_rig t;

    t_begin(&t, "HDEL {q}:jobs 1");
    ASSERT_EQ(1, t_wait(&t, "", 30));
    ASSERT_EQ(RELET_AT_NOWHERE, t.end.place);
    ASSERT_EQ(1, t.end.work.number);
    t_finish(&t);
    PASS();
}

TEST an_ended_job_of_the_same_id_is_found_at_once(void)
{
    relet_time began;
    t_rig t;

    t_begin(&t, " 1 d no");
    ASSERT_EQ(1, t_wait(&t, "x", SOON));
    (void)t_world_ask(&t.w, "HSET {q}:jobs 1s \"D 1 0 0 0 - w\" 1r dkept");
    (void)t_world_ask(&t.w, "ZADD {q}:done 9999999999999 1");
    began = relet_clock();
    ASSERT_EQ(1, t_wait(&t, "x", SOON));
    ASSERT_EQ(RELET_AT_DONE, t.end.place);
    ASSERT(t_says(t.end.result, "kept"));
    ASSERT(relet_clock() - began < SOON / 2);
    t_finish(&t);
    PASS();
}

/* The answer to the look was once told as that of the client's next request. */
TEST the_answer_to_an_unneeded_look_answers_no_later_request(void)
{
    relet_span argv[2];
    t_rig t;

    t_begin(&t, " 1 d no");
    ASSERT_EQ(1, t_wait(&t, "x", SOON));
    t.early = " 1 d told"; /* before the look that follows the put */
    t.early_at = 2;
    ASSERT_EQ(1, t_wait(&t, "x", SOON));
    ASSERT(t_says(t.end.result, "told"));
    ASSERT_EQ(0, relet_outstanding(t.r));
    argv[0] = relet_str("ECHO");
    argv[1] = relet_str("hello");
    ASSERT_EQ(0, relet_call(t.r, argv, 2, &t.ev, SOON));
    ASSERT(t_says(relet_value_text(t.ev.value), "hello"));
    ASSERT_EQ(RELET_E_TIMEOUT, t_wait(&t, "x", 30));
    t_finish(&t);
    PASS();
}

TEST a_job_that_has_not_ended_in_time_goes_on(void)
{
    t_rig t;

    t_begin(&t, NULL);
    ASSERT_EQ(RELET_E_TIMEOUT, t_wait(&t, "", 30));
    ASSERT_EQ(1, t.end.work.number);
    ASSERT_EQ(0, relet_outstanding(t.r));
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&t.w, "HEXISTS {q}:jobs 1"));
    t_finish(&t);
    PASS();
}

/* The put once had 1 ms for its answer; if that was too short, the job was
 * reported as going on, without a number. */
TEST a_wait_of_no_time_gives_the_number_of_the_job(void)
{
    t_rig t;

    t_begin(&t, NULL);
    ASSERT_EQ(RELET_E_TIMEOUT, t_wait(&t, "", 0));
    ASSERT_EQ(1, t.end.work.number);
    ASSERT_EQ(0, relet_outstanding(t.r));
    t_finish(&t);
    PASS();
}

TEST a_wait_of_no_time_reports_an_end_that_is_there(void)
{
    t_rig t;

    t_begin(&t, "HSET {q}:jobs 1s \"D 1 0 0 0 - w\" 1r dresult|"
                "ZADD {q}:done 9999999999999 1");
    ASSERT_EQ(1, t_wait(&t, "", 0));
    ASSERT_EQ(RELET_AT_DONE, t.end.place);
    ASSERT(t_says(t.end.result, "result"));
    t_finish(&t);
    PASS();
}

TEST a_put_that_is_never_answered_is_unsure(void)
{
    t_rig t;

    t_begin(&t, NULL);
    t.mute = 1;
    ASSERT_EQ(0, t_wait(&t, "", 30));
    ASSERT_EQ(RELET_EV_UNSURE, t.ev.kind);
    ASSERT_EQ(0, t.end.work.number);
    ASSERT_EQ(0, relet_outstanding(t.r));
    t_finish(&t);
    PASS();
}

/* The message may be lost; the look that follows must find the result. */
TEST a_result_that_is_waited_for_is_kept_for_a_minute_unless_told(void)
{
    relet_job j;
    t_rig t;

    t_begin(&t, " 1 d a result");
    ASSERT_EQ(1, t_wait(&t, "", SOON));
    ASSERT(strstr(t_world_ask(&t.w, "HGET {q}:jobs 1"), ";k60000 r"));
    t_finish(&t);
    t_begin(&t, " 1 d a result");
    memset(&j, 0, sizeof j);
    j.keep_ms = 7;
    ASSERT_EQ(
        1, relet_queue_put_wait(t.r, relet_str("q"), &j, &t.ev, &t.end, SOON));
    ASSERT(strstr(t_world_ask(&t.w, "HGET {q}:jobs 1"), ";k7 r"));
    t_finish(&t);
    PASS();
}

TEST a_look_that_is_refused_finds_nothing(void)
{
    t_rig t;

    t_begin(&t, "HSET {q}:jobs version 9");
    ASSERT_EQ(RELET_E_TIMEOUT, t_wait(&t, "", 30));
    t_finish(&t);
    PASS();
}

/* ----------------------------------------------------------------- refusals */

TEST a_refused_put_is_not_waited_for(void)
{
    t_rig t;

    t_begin(&t, NULL);
    (void)t_world_ask(&t.w, "HSET {q}:jobs version 1 closed 1");
    ASSERT_EQ(0, t_wait(&t, "", SOON));
    ASSERT_EQ(RELET_EV_ERROR, t.ev.kind);
    ASSERT_EQ(0, strncmp(t.ev.text.p, "CLOSED", 6));
    ASSERT_EQ(0, t.end.work.number);
    t_finish(&t);
    PASS();
}

#define REFUSED(rule, code)                              \
    do {                                                 \
        ASSERT_EQ(RELET_E_REFUSED, code);                \
        ASSERT_STR_EQ(rule, relet_refusal(t.r));         \
    } while (0)

#define ALONE                                                                  \
    "relet_queue_put_wait while there are other operations, leases or workers"

TEST a_wait_needs_an_end_of_its_time_and_a_queue(void)
{
    relet_job j;
    t_rig t;

    t_begin(&t, NULL);
    memset(&j, 0, sizeof j);
    REFUSED("relet_queue_put_wait needs an end of its time",
            t_wait(&t, "", -1));
    REFUSED("a queue has a name",
            relet_queue_put_wait(t.r, relet_str(""), &j, &t.ev, &t.end, SOON));
    t_finish(&t);
    PASS();
}

TEST a_wait_is_refused_to_a_client_with_other_work(void)
{
    relet_worker_config work;
    relet_lease_config lease;
    t_rig t;

    t_begin(&t, NULL);
    ASSERT_EQ(0, relet_command_text(t.r, NULL, "PING", (char *)NULL));
    REFUSED(ALONE, t_wait(&t, "", SOON));
    while (relet_outstanding(t.r) > 0)
        ASSERT(relet_wait(t.r, &t.ev, SOON) >= 0);
    memset(&work, 0, sizeof work);
    work.queue = relet_str("other");
    ASSERT_EQ(0, relet_worker_start(t.r, &work));
    REFUSED(ALONE, t_wait(&t, "", SOON));
    t_finish(&t);
    t_begin(&t, NULL);
    memset(&lease, 0, sizeof lease);
    lease.name = relet_str("n");
    ASSERT_EQ(0, relet_lease_start(t.r, &lease));
    REFUSED(ALONE, t_wait(&t, "", SOON));
    t_finish(&t);
    PASS();
}

TEST a_put_wait_without_room_for_its_channel_puts_no_job(void)
{
    relet_config c;
    t_rig t;

    relet_config_init(&c);
    c.subscriptions_max = 1;
    t_begin_with(&t, &c);
    ASSERT_EQ(0, relet_subscribe(t.r, RELET_CHANNEL, relet_str("mine")));
    ASSERT_EQ(RELET_E_LIMIT, t_wait(&t, "", SOON));
    ASSERT_EQ(0, relet_outstanding(t.r));
    t_finish(&t);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_waiting_client_is_told_the_result);
    RUN_TEST(a_waiting_client_is_told_the_error);
    RUN_TEST(a_waiting_client_is_told_that_its_job_was_cancelled);
    RUN_TEST(a_message_about_another_job_is_passed_over);
    RUN_TEST(the_end_of_an_earlier_wait_s_job_ends_no_other_wait);
    RUN_TEST(a_client_may_wait_for_one_job_after_another);
    RUN_TEST(without_a_message_the_last_look_finds_the_end);
    RUN_TEST(a_new_link_finds_the_end_at_once);
    RUN_TEST(a_job_that_is_gone_without_a_message_counts_as_ended);
    RUN_TEST(an_ended_job_of_the_same_id_is_found_at_once);
    RUN_TEST(the_answer_to_an_unneeded_look_answers_no_later_request);
    RUN_TEST(a_job_that_has_not_ended_in_time_goes_on);
    RUN_TEST(a_wait_of_no_time_gives_the_number_of_the_job);
    RUN_TEST(a_wait_of_no_time_reports_an_end_that_is_there);
    RUN_TEST(a_put_that_is_never_answered_is_unsure);
    RUN_TEST(a_result_that_is_waited_for_is_kept_for_a_minute_unless_told);
    RUN_TEST(a_look_that_is_refused_finds_nothing);
    RUN_TEST(a_refused_put_is_not_waited_for);
    RUN_TEST(a_wait_needs_an_end_of_its_time_and_a_queue);
    RUN_TEST(a_wait_is_refused_to_a_client_with_other_work);
    RUN_TEST(a_put_wait_without_room_for_its_channel_puts_no_job);
    GREATEST_MAIN_END();
}
