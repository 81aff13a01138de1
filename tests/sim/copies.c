/* SPDX-License-Identifier: MIT
 *
 * copies.c - the copies of a primary's writes: replicas that lag or are away, a
 * disk that is behind, and WAIT and WAITAOF, which ask how many copies there
 * are.
 *
 * A confirmed write is never lost: a replica that takes over has all that any
 * replica had confirmed, and a restart finds all that the disk had
 * confirmed. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"
#include "wire.h"

/* The number of replicas. A replica that has taken over does not count any
 * more, and the old primary has lost all of its replicas. */
static int copies_replicas(const sim_world *w, const sim_host *h)
{
    if (h->number != w->primary || w->replicas_away > 0)
        return 0;
    return w->shape.replicas - (w->shape.replicas > 0 &&
                                w->host[1 - w->primary].up);
}

/* When the i-th replica, or with -1 the primary's disk, has the bytes that were
 * written at written_us. */
static int64_t copies_at(const sim_world *w, const sim_link *l, int i,
                         int64_t written_us)
{
    int64_t at = written_us;

    if (i >= 0)
        at += (i + 1) * w->shape.lag_us + w->lag_us;
    if (i >= 0 && !l->wait_aof)
        return at;
    at += w->shape.sync_us;
    return w->disks_hang > 0 && at > w->hung_us ? SIM_NEVER : at;
}

typedef struct copies_sum {
    int copies, disk;
    int64_t next_us; /* when the next copy may be there                       */
} copies_sum;

static copies_sum copies_count(const sim_world *w, const sim_link *l)
{
    const sim_host *h = &w->host[l->host];
    int64_t written_us = sim_log_time(&h->log, l->wrote_n);
    int i, replicas = copies_replicas(w, h);
    copies_sum sum = {0, 0, SIM_NEVER};

    for (i = -1; i < replicas; i++) {
        int64_t at = copies_at(w, l, i, written_us);

        if (at <= w->now_us && i < 0)
            sum.disk = 1;
        else if (at <= w->now_us)
            sum.copies++;
        else if (at < sum.next_us)
            sum.next_us = at;
    }
    return sum;
}

static void copies_promise(sim_host *h, const sim_link *l,
                           const copies_sum *sum)
{
    if (sum->copies > 0 && h->copied_n < l->wrote_n)
        h->copied_n = l->wrote_n;
    if (l->wait_aof && sum->disk > 0 && h->synced_n < l->wrote_n)
        h->synced_n = l->wrote_n;
}

static void copies_answer(sim_world *w, sim_link *l, const copies_sum *sum)
{
    char text[40];

    if (l->wait_aof)
        sprintf(text, "*2\r\n:%d\r\n:%d\r\n", sum->disk, sum->copies);
    else
        sprintf(text, ":%d\r\n", sum->copies);
    SIM_SAY(w, "h%d tells n%d of %d copies%s", l->host, l->node, sum->copies,
            l->wait_aof && sum->disk ? ", and its disk" : "");
    if (sum->copies < l->wait_copies)
        SIM_MARK(too_few_copies);
    else if (l->wait_copies > 0)
        SIM_MARK(copied);
    if (l->wait_aof && sum->disk)
        SIM_MARK(synced);
    copies_promise(&w->host[l->host], l, sum);
    sim_claims_copied(w, l, sum->copies, l->wait_aof && sum->disk);
    l->waiting = l->blocked = 0;
    sim_host_say(l, text);
    sim_host_flush(w, l);
}

static void copies_look(sim_world *w, sim_link *l)
{
    copies_sum sum = copies_count(w, l);
    int64_t next_us = sum.next_us;

    if ((sum.copies >= l->wait_copies && sum.disk >= l->wait_disk) ||
        w->now_us >= l->wait_until_us) {
        copies_answer(w, l, &sum);
        return;
    }
    /* This takes longer than copies usually do, and commands sent after it on
     * the link have to wait. */
    if (next_us > w->now_us + (w->shape.replicas + 1) * w->shape.lag_us +
                      w->shape.sync_us)
        sim_disturb_link(w, l);
    if (next_us > l->wait_until_us)
        next_us = l->wait_until_us;
    sim_due_at(w, next_us, SIM_WAIT, l->number, l->gen);
}

static int64_t copies_number(const sim_words *c, size_t i)
{
    return i < c->n ? strtoll(c->word[i].p, NULL, 10) : 0;
}

/* Returns 1 if the command is WAIT or WAITAOF, which this file answers. */
int sim_copies_wait(sim_world *w, sim_link *l, const sim_words *c)
{
    size_t disk = sim_wire_is(c, 0, "WAITAOF") ? 1 : 0;

    if (!disk && !sim_wire_is(c, 0, "WAIT"))
        return 0;
    l->waiting = l->blocked = 1;
    l->wait_aof = disk > 0;
    l->wait_disk = disk && copies_number(c, 1) > 0;
    l->wait_copies = (int)copies_number(c, 1 + disk);
    l->wait_until_us = w->now_us + copies_number(c, 2 + disk) * SIM_MS;
    copies_look(w, l);
    return 1;
}

void sim_copies_due(sim_world *w, sim_link *l)
{
    if (l->state != SIM_OPEN || !l->waiting || l->host_gone ||
        w->host[l->host].frozen)
        return;
    copies_look(w, l);
    if (!l->waiting)
        sim_host_arrived(w, l);
}

void sim_copies_turn(sim_world *w)
{
    int i;

    for (i = 0; i < SIM_LINKS && w->link[i]; i++)
        sim_copies_due(w, w->link[i]);
}
