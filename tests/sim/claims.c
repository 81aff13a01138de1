/* SPDX-License-Identifier: MIT
 *
 * claims.c - what must hold of leases at a server, whatever happens.
 *
 *   L1  at any instant at most one node believes that it leads (belief.c)
 *   L2  tokens grow, and no two grants share one
 *   L3  no leader acts when the server may have ended its lease (lease.c)
 *   L4  the register that a lease protects accepts no token below the highest
 *       token that it has seen, and no token from two leaders (lease.c)
 *   L5  a node believes in a lease no longer than a server granted it and, if
 *       copies were asked for, has copied it; a refusal ends the belief at once
 *       (belief.c)
 *   L6  an owner changes only its own lease; no grant is reported after a stop
 *   L7  GAINED and LOST alternate, LOST is told in time, ENDED is the last; no
 *       lease is kept beyond its grace (belief.c)
 *   L8  once all is whole, some node leads; a leader that leaves is followed at
 *       once (lease.c)
 *   L9  the number of a node's requests for a lease is bounded
 *
 * L1 holds as long as servers lose no writes and their clocks do not leap; L2
 * also if only one of the two happens. A lease that was granted or renewed
 * after such an event is judged again. A lease that asks for copies is judged
 * also if servers lose writes. The other rules always hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

const char *const sim_key_name[SIM_KEYS] = {"la", "lb", "lc"};

void sim_claims_begin(sim_world *w)
{
    int i;

    for (i = 0; i < SIM_VOIDS; i++)
        w->leases.void_us[i] = -1;
    w->leases.hand_key = -1;
}

void sim_claims_void(sim_world *w, sim_void why)
{
    w->leases.void_us[why] = w->now_us;
    if (why != SIM_VOID_TIME)
        sim_record_forgotten(w);
}

/* Returns 1 if the old primary still serves, also while the new one is down.
 * Writes of the old primary will then be lost. */
int sim_claims_two_masters(sim_world *w)
{
    if (!w->host[1 - w->primary].up)
        return 0;
    sim_claims_void(w, SIM_VOID_COPY);
    return 1;
}

static sim_hold *claims_of(sim_world *w, int node, unsigned serial)
{
    int i;

    for (i = 0; i < SIM_HOLDS && node >= 0 && node < SIM_NODES; i++)
        if (serial > 0 && w->node[node].hold[i].serial == serial)
            return &w->node[node].hold[i];
    return NULL;
}

static int claims_key(relet_span s)
{
    int i;

    for (i = 0; i < SIM_KEYS; i++)
        if (s.n == 2 && memcmp(s.p, sim_key_name[i], 2) == 0)
            return i;
    return -1;
}

static void claims_text(char *out, size_t size, relet_span s)
{
    if (s.n >= size)
        s.n = size - 1;
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
}

static uint64_t claims_number(relet_span s)
{
    char text[24];

    claims_text(text, sizeof text, s);
    return strtoull(text, NULL, 10);
}

/* Tells which of the lease scripts this is by the number of its words. */
static int claims_script(const sim_words *c, sim_run *run)
{
    if ((!sim_wire_is(c, 0, "EVALSHA") && !sim_wire_is(c, 0, "EVAL")) ||
        c->n < 8 || (run->key = claims_key(c->word[3])) < 0)
        return 0;
    run->what = c->n == 11 ? SIM_ACQUIRE : c->n == 10 ? SIM_RELEASE : SIM_RENEW;
    return 1;
}

static void claims_arguments(const sim_words *c, sim_run *run)
{
    const relet_span *arg = c->word + (run->what == SIM_RENEW ? 5 : 6);

    claims_text(run->owner, sizeof run->owner, arg[0]);
    if (sscanf(run->owner, "n%d.%u:", &run->node, &run->serial) != 2)
        run->node = -1;
    if (run->what == SIM_RENEW)
        run->token = claims_number(arg[1]);
    else
        run->term = claims_number(arg[1]);
    if (run->what == SIM_RELEASE)
        run->token = claims_number(arg[2]);
    else
        run->ttl_us = (int64_t)claims_number(arg[2]) * SIM_MS;
}

int sim_claims_read(const sim_words *c, sim_run *run)
{
    run->term = run->token = 0;
    run->ttl_us = 0;
    if (!claims_script(c, run))
        return 0;
    claims_arguments(c, run);
    return 1;
}

void sim_claims_late(sim_world *w, const sim_link *l, unsigned serial)
{
    w->leases.late_serial = serial;
    w->leases.late_link = l->number;
    w->leases.late_gen = l->gen;
}

static void claims_late(sim_world *w, const sim_run *run)
{
    sim_leases *g = &w->leases;

    if (g->late_serial == 0 || g->late_serial != run->serial)
        return;
    g->late_serial = 0;
    if (w->link[g->late_link]->gen == g->late_gen)
        sim_net_flows(w, w->link[g->late_link], SIM_UP);
}

static void claims_look(sim_host *h, int key, char *value, size_t n,
                        char *left, size_t left_n)
{
    char text[160];
    const char *from;

    sim_host_ask(h, text, sizeof text, 2, "GET", sim_key_name[key]);
    from = text[0] == '-' ? NULL : strchr(text, '\n');
    value[0] = '\0';
    if (from) {
        strncpy(value, from + 1, n - 1);
        value[n - 1] = '\0';
        value[strcspn(value, "\r")] = '\0';
    }
    sim_host_ask(h, left, left_n, 2, "PTTL", sim_key_name[key]);
}

static uint64_t claims_last(sim_host *h, int key)
{
    char fence[16], text[40];
    const char *from;

    sprintf(fence, "{%s}:fence", sim_key_name[key]);
    sim_host_ask(h, text, sizeof text, 3, "HGET", fence, "token");
    from = strchr(text, '\n');
    return text[0] == '-' || from == NULL ? 0 : strtoull(from, NULL, 10);
}

/* Returns 1 if one of the first eight channels in line has a listener; the
 * channel `own` does not count. */
static int claims_listener(sim_host *h, int key, relet_span own)
{
    char name[32], line[2048], text[200];
    const char *at;
    size_t n;

    sprintf(name, "{%s}:sleepers", sim_key_name[key]);
    sim_host_ask(h, line, sizeof line, 4, "ZRANGE", name, "0", "7");
    for (at = line; (at = strstr(at, "\r\n")) != NULL; at += n) {
        char channel[128];

        at += 2;
        n = strcspn(at, "\r");
        if (n == 0 || n >= sizeof channel || *at == '$' || *at == '*' ||
            (n == own.n && memcmp(at, own.p, n) == 0))
            continue;
        memcpy(channel, at, n);
        channel[n] = '\0';
        sim_host_ask(h, text, sizeof text, 3, "PUBSUB", "SHARDNUMSUB",
                     channel);
        if (strrchr(text, ':') && atoi(strrchr(text, ':') + 1) > 0)
            return 1;
    }
    return 0;
}

void sim_claims_before(sim_world *w, sim_link *l, const sim_words *c)
{
    sim_run *run = &w->leases.run;
    sim_hold *h;

    run->active = run->cut = 0;
    if (!sim_claims_read(c, run))
        return;
    sim_hears_first(w, l);
    if (l->selected != w->shape.db)
        return;
    run->active = 1;
    run->answered = 0;
    run->host = l->host;
    run->record = sim_record_arrived(l);
    h = claims_of(w, run->node, run->serial);
    if (h && run->what == SIM_ACQUIRE) {
        h->asked++;
        sim_waits_channel(&w->node[run->node], c->word[9]);
    }
    claims_look(&w->host[l->host], run->key, run->before, sizeof run->before,
                run->before_left, sizeof run->before_left);
    if (run->what == SIM_ACQUIRE)
        run->last = claims_last(&w->host[l->host], run->key);
    if (run->what == SIM_RELEASE)
        run->listener = claims_listener(&w->host[l->host], run->key,
                                        c->word[9]);
}

/* Reads the script's answer: n bytes of the link's output from `at` on. */
void sim_claims_answer(sim_world *w, const sim_link *l, size_t at, size_t n)
{
    sim_run *run = &w->leases.run;
    char text[160], *p = text;
    int i;

    if (!run->active || n == 0 || l->out[at] != '*')
        return;
    run->behind = l->pipe[SIM_DOWN].carried + (at + n - l->out_at);
    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, l->out + at, n);
    text[n] = '\0';
    for (i = 0; i < 3; i++) {
        p = strchr(p, ':');
        if (p == NULL)
            return;
        run->answer[i] = (int64_t)strtoll(++p, NULL, 10);
    }
    run->answered = 1;
}

/* A lie has changed the length of the answer, which now ends `later` bytes
 * later. */
void sim_claims_answer_ends(sim_world *w, int64_t later)
{
    sim_run *run = &w->leases.run;

    if (run->active && run->behind > 0)
        run->behind += (uint64_t)later;
}

/* Judges a new token. If a server lost writes and its clock was set back
 * besides, no server could know which tokens were given out. */
static void claims_token(sim_world *w, const sim_run *run, int64_t wall)
{
    sim_key *k = &w->leases.key[run->key];
    uint64_t token = (uint64_t)run->answer[1];
    int lossy = w->leases.void_us[SIM_VOID_COPY] >= k->granted_us ||
                w->leases.void_us[SIM_VOID_DISK] >= k->granted_us;
    int blind = lossy && wall <= (int64_t)k->token;

    if (!blind && !sim_holds(w, SIM_L2, token > k->token))
        sim_fail(w, SIM_L2, "%s: token %llu is granted after token %llu",
                 sim_key_name[run->key], (unsigned long long)token,
                 (unsigned long long)k->token);
    if (lossy && k->token > 0 && token > k->token)
        SIM_MARK(token_floor_used);
    k->highest = RLT_MAX(k->highest, token);
    if (token <= k->token)
        k->twice = RLT_MAX(k->twice, k->highest);
    k->token = token;
    k->granted_us = w->now_us;
}

/* Returns 1 if a server's clock has leapt since then. A server counts the time
 * since its start by that clock. */
int sim_claims_leapt(const sim_world *w, int64_t since_us)
{
    size_t i;

    for (i = 0; i < w->leases.leaps; i++)
        if (w->leases.leap[i].to_us >= since_us)
            return 1;
    return 0;
}

/* The leases of an earlier server have ended when this one begins to grant. */
static void claims_quarantine(sim_world *w, const sim_run *run,
                              const sim_hold *h)
{
    int64_t since = w->now_us - w->host[run->host].start_us;

    if (h == NULL || h->quarantine_ms == 0 || run->before[0] != '\0' ||
        sim_claims_leapt(w, w->host[run->host].start_us))
        return;
    if (!sim_holds(w, SIM_L1, since * 101 / 100 + 2 * SIM_MS >=
                                  h->quarantine_ms * SIM_MS))
        sim_fail(w, SIM_L1, "%s is granted %ld ms after a start of its server, "
                 "within the quarantine of %ld ms",
                 sim_key_name[run->key], (long)(since / SIM_MS),
                 (long)h->quarantine_ms);
}

static void claims_granted(sim_world *w, const sim_run *run, sim_hold *h,
                           int64_t wall)
{
    if (sim_claims_two_masters(w))
        SIM_MARK(two_masters);
    if ((uint64_t)run->answer[1] == run->last) {
        SIM_MARK(grant_repeated);
    } else {
        claims_token(w, run, wall);
        claims_late(w, run);
        claims_quarantine(w, run, h);
    }
    if (h == NULL || h->stopping) {
        SIM_MARK(grant_after_stop);
        return;
    }
    if (h->granted > 0 && h->granted != h->token &&
        h->granted != (uint64_t)run->answer[1])
        SIM_MARK(grant_unused);
    if (h->granted != (uint64_t)run->answer[1])
        h->granted_us = w->now_us;
    h->granted = (uint64_t)run->answer[1];
}

static void claims_released(sim_world *w, const sim_run *run)
{
    claims_late(w, run);
    w->leases.key[run->key].wakes++;
    if (run->answer[0] == 1)
        SIM_MARK(released);
    else if (run->token > 0)
        SIM_MARK(release_lost);
    if (run->answer[2] == 1)
        SIM_MARK(woken_by_leader);
    if (run->answer[0] != 0 && run->listener &&
        !sim_holds(w, SIM_L8, run->answer[2] == 1))
        sim_fail(w, SIM_L8, "%s: %.20s releases the lease, and no listener in "
                 "line is woken", sim_key_name[run->key], run->owner);
}

/* A request does not change the lease of another owner, and is not answered by
 * success. */
static void claims_own(sim_world *w, const sim_run *run, sim_host *host)
{
    char value[160], left[32];
    int free = run->before[0] == '\0';
    int own = strcmp(run->before, run->owner) == 0;
    int won = run->answered && run->answer[0] == 1;

    if (!free && !own)
        claims_look(host, run->key, value, sizeof value, left, sizeof left);
    if (!free && !own &&
        !sim_holds(w, SIM_L6, strcmp(value, run->before) == 0 &&
                                  strcmp(left, run->before_left) == 0))
        sim_fail(w, SIM_L6, "%s: a request of %.20s changed the lease of %.20s",
                 sim_key_name[run->key], run->owner, run->before);
    if (won && !sim_holds(w, SIM_L6,
                          own || (free && run->what == SIM_ACQUIRE)))
        sim_fail(w, SIM_L6, "%s: a request of %.20s succeeded, and the owner "
                 "was %.20s", sim_key_name[run->key], run->owner,
                 free ? "nobody" : run->before);
    if (won && run->what != SIM_ACQUIRE && run->token > 0 &&
        run->token != (uint64_t)run->answer[1])
        sim_fail(w, SIM_L6, "%s: a request of %.20s succeeded with token %llu, "
                 "and the token was %llu",
                 sim_key_name[run->key], run->owner,
                 (unsigned long long)run->token,
                 (unsigned long long)run->answer[1]);
}

/* The delay of a retry doubles from a hundredth of a lease. A new link, a
 * release or a wake-up lets a node ask at once. */
static void claims_load(sim_world *w, const sim_hold *h)
{
    const sim_node *n = &w->node[w->leases.run.node];
    relet_time unit = (h->retry_ms < h->ttl_ms ? h->retry_ms : h->ttl_ms) / 200;
    int64_t most = 40 + (w->now_us - h->start_us) / SIM_MS / (unit + 1);

    most += 4 * (int64_t)(w->leases.key[h->key].wakes - h->wakes) +
            4 * (int64_t)(n->ups - h->ups);
    if (!sim_holds(w, SIM_L9, h->asked <= most))
        sim_fail(w, SIM_L9, "n%d asked for %s %u times in %ld ms", n->number,
                 sim_key_name[h->key], h->asked,
                 (long)((w->now_us - h->start_us) / SIM_MS));
}

static void claims_renewed(const sim_world *w, const sim_run *run,
                           sim_hold *h, const sim_link *l)
{
    if (run->answer[0] == 1) {
        if (h == NULL || !h->leading)
            SIM_MARK(renew_late);
        return;
    }
    SIM_MARK(renew_refused);
    if (h && run->answer[0] == 0 && strcmp(run->before, run->owner) == 0)
        SIM_MARK(renew_of_older);
    if (h == NULL || run->behind == 0)
        return;
    h->refused_gen = l->gen;
    h->refused_us = w->now_us;
    h->refused_at = run->behind;
    h->refused_token = run->token;
}

/* A node that is told of success has the lease for as long as it asked for. */
static void claims_length(sim_world *w, const sim_run *run, sim_host *host)
{
    char value[160], left[32];

    claims_look(host, run->key, value, sizeof value, left, sizeof left);
    if (!sim_holds(w, SIM_L5, strtoll(left, NULL, 10) * SIM_MS >= run->ttl_us))
        sim_fail(w, SIM_L5, "%s: %.20s was granted %ld ms, but the key expires "
                 "in %ld ms", sim_key_name[run->key], run->owner,
                 (long)(run->ttl_us / SIM_MS), strtol(left, NULL, 10));
}

/* The script ended in its middle: a release may have woken no follower, and an
 * acquisition may have left a token that only the answer to its owner's next
 * request will tell. */
static void claims_cut(sim_world *w, sim_run *run, sim_link *l, int64_t wall)
{
    SIM_MARK(lease_cut);
    sim_disturb_by_error(w, l);
    run->answer[1] = (int64_t)claims_last(&w->host[run->host], run->key);
    if (run->what == SIM_ACQUIRE && (uint64_t)run->answer[1] != run->last)
        claims_token(w, run, wall);
}

void sim_claims_after(sim_world *w, sim_link *l)
{
    sim_run *run = &w->leases.run;
    sim_host *host = &w->host[run->host];
    sim_hold *h;
    int64_t wall = sim_host_wall(w, host);

    if (!run->active)
        return;
    run->active = 0;
    if (l->state != SIM_OPEN || l->reset || l->pipe[SIM_DOWN].dying)
        run->behind = 0;
    sim_record_ran(w, run, !run->answered, run->behind);
    if (run->cut && !run->answered)
        claims_cut(w, run, l, wall);
    claims_own(w, run, host);
    if (!run->answered || w->failed)
        return;
    h = claims_of(w, run->node, run->serial);
    SIM_SAY(w, "h%d %s %s for %.8s: %ld, token %llu", run->host,
            run->what == SIM_ACQUIRE ? "acquires"
            : run->what == SIM_RENEW ? "renews" : "releases",
            sim_key_name[run->key], run->owner, (long)run->answer[0],
            (unsigned long long)run->answer[1]);
    if (run->what == SIM_RELEASE)
        claims_released(w, run);
    if (run->what == SIM_RENEW)
        claims_renewed(w, run, h, l);
    if (run->what == SIM_ACQUIRE && run->answer[0] == 1)
        claims_granted(w, run, h, wall);
    if (run->what == SIM_ACQUIRE && run->answer[0] == 0 &&
        strcmp(run->before, "other") == 0)
        SIM_MARK(other_waited);
    if (run->what == SIM_ACQUIRE && h) {
        claims_load(w, h);
        sim_pace_ran(h);
    }
    if (run->what == SIM_RELEASE || run->answer[0] != 1)
        return;
    claims_length(w, run, host);
    if (h == NULL)
        return;
    h->refused_gen = 0; /* servers that lost writes may grant a token again   */
    h->stale = run->host != w->primary;
    h->ran_us = w->now_us;
    if (!h->copies && !h->disk)
        h->run_us = w->now_us;
    h->truth_us = w->now_us + run->ttl_us;
    l->granted[h - w->node[run->node].hold] = h->serial;
    l->granted_to_us[h - w->node[run->node].hold] = h->truth_us;
}

void sim_claims_copied(sim_world *w, const sim_link *l, int copies, int disk)
{
    int i;

    for (i = 0; i < SIM_HOLDS; i++) {
        sim_hold *h = &w->node[l->node].hold[i];

        if (h->serial > 0 && l->granted[i] == h->serial &&
            copies >= h->copies && (disk || !h->disk) &&
            h->copied_us < l->granted_to_us[i])
            h->copied_us = l->granted_to_us[i];
    }
}
