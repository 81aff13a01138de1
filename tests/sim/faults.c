/* SPDX-License-Identifier: MIT
 *
 * faults.c - draws the faults of a run, and turns them on and off.
 *
 * Each fault is drawn from a stream of its own and is whole in itself, so any
 * fault can be taken away and the others stay as they were. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static const char *const fault_name[SIM_TROUBLES] = {
    "reset", "fin", "cut", "hole", "slow", "refuse", "hang", "crowd",
    "squeeze", "after-run", "stall", "pause", "crash", "stop", "memory",
    "restart", "freeze", "failover", "clock", "flush", "clog", "replica",
    "errors", "greeting", "lies"};

const char *sim_fault_name(sim_trouble what)
{
    return fault_name[what];
}

/* ------------------------------------------------------------------ drawing */

static int fault_has_length(sim_trouble what)
{
    return !(what == SIM_T_RESET || what == SIM_T_FIN || what == SIM_T_CUT ||
             what == SIM_T_FLUSH || what == SIM_T_AFTER_RUN);
}

/* A stall may be long: TCP sends lost bytes again after waits that grow, and a
 * proxy keeps bytes until its server takes them. A stall does not end because
 * the client has closed its link. */
static int64_t fault_length(sim_trouble what, sim_stream *st)
{
    if (!fault_has_length(what))
        return 0;
    if (what == SIM_T_STALL)
        return sim_spread(st, SIM_S / 4, 30 * SIM_S);
    return sim_spread(st, SIM_MS, 8 * SIM_S);
}

static sim_trouble fault_class(const sim_world *w, sim_stream *st)
{
    uint32_t n = 0, i, k;

    for (i = 0; i < SIM_TROUBLES; i++)
        n += w->shape.troubles >> i & 1;
    k = sim_choose(st, n);
    for (i = 0; i < SIM_TROUBLES; i++)
        if ((w->shape.troubles >> i & 1) && k-- == 0)
            break;
    return (sim_trouble)i;
}

static void fault_draw(const sim_world *w, sim_fault *f, sim_stream *st)
{
    f->what = fault_class(w, st);
    f->at_us = SIM_S / 2 + sim_even(st, 0, w->shape.chaos_us);
    f->for_us = fault_length(f->what, st);
    f->node = sim_chance(st, 1, 6) ? -1
                                   : (int)sim_choose(st,
                                                     (uint32_t)w->shape.nodes);
    f->amount = sim_spread(st, 0, 2000);
    f->rate = (uint32_t)sim_spread(st, 1, 256);
    f->way = (int)sim_choose(st, 4);
    f->key = (uint64_t)sim_choose(st, UINT32_MAX);
}

/* A restart finds on its disk only the writes before this time. */
static int64_t fault_hangs_at(const sim_fault *f)
{
    int64_t at = f->at_us - f->amount * SIM_MS;

    return at > 0 ? at : 0;
}

void sim_faults_draw(sim_world *w)
{
    sim_stream st;
    int i;

    w->faults = w->shape.troubles ? w->shape.faults : 0;
    for (i = 0; i < w->faults; i++) {
        sim_fault *f = &w->fault[i];

        memset(f, 0, sizeof *f);
        sim_stream_open(&st, &w->choices, SIM_OF_FAULT, (uint64_t)i);
        fault_draw(w, f, &st);
        f->off = w->setup.keep && !w->setup.keep[i];
        if (f->off)
            continue;
        sim_due_at(w, f->at_us, SIM_FAULT_ON, i, 0);
        if (f->what == SIM_T_RESTART && (f->way & 2))
            sim_due_at(w, fault_hangs_at(f), SIM_HANG, i, 0);
    }
}

void sim_fault_print(const sim_world *w, int i)
{
    const sim_fault *f = &w->fault[i];

    printf("  fault %2d: %-9s at %.3f s for %.3f s, node %d, amount %ld, "
           "rate %u, way %d\n", i, fault_name[f->what],
           (double)f->at_us / 1e6, (double)f->for_us / 1e6, f->node,
           (long)f->amount, f->rate, f->way);
}

/* --------------------------------------------------------- faults of nodes */

/* A node that was held in the middle of its work first goes on with that
 * work. */
static void fault_pause(sim_world *w, sim_node *n, const sim_fault *f, int on)
{
    n->paused += on ? 1 : -1;
    if (on) {
        SIM_MARK(paused);
        return;
    }
    n->resumed_us = w->now_us;
    if (w->work != &sim_plain && n->paused == 0 && n->running && (f->way & 1)) {
        n->now = sim_node_clock(w, n);
        n->wake_late = 1;
        w->work->step(w, n);
    }
    if (n->paused == 0 && n->wake_late) {
        SIM_MARK(giant_step);
        n->wake_late = 0;
        sim_due_at(w, w->now_us, SIM_WAKE, n->number, UINT64_MAX);
    }
}

static void fault_reboot(sim_world *w, sim_node *n, const sim_fault *f, int on)
{
    if (!on) {
        if (!n->running && !n->boots) {
            n->boots = 1;
            sim_due_at(w, w->now_us, SIM_BOOT, n->number, 0);
        }
        return;
    }
    if (f->what == SIM_T_CRASH)
        SIM_MARK(crashed);
    else
        SIM_MARK(stopped);
    sim_node_end(w, n, f->what == SIM_T_CRASH ? 1 + (f->way & 1) : 0);
}

/* --------------------------------------------------------- faults of paths */

static void fault_path(sim_world *w, const sim_fault *f, int node, int on)
{
    int host, way, d = on ? 1 : -1;

    for (host = 0; host < SIM_HOSTS; host++) {
        sim_path *p = &w->path[node][host];

        if (f->what == SIM_T_HOLE) {
            for (way = 0; way < 2; way++)
                if (f->way == way || f->way > 1)
                    p->hole[way] += d;
            if (!on)
                sim_net_heal(w, node, host);
        } else if (f->what == SIM_T_REFUSE) {
            p->refuse += d;
        } else if (f->what == SIM_T_HANG) {
            p->hang += d;
        } else if (f->what == SIM_T_CROWD) {
            p->crowd += d;
        } else if (f->what == SIM_T_SLOW) {
            p->extra_us += d * f->amount * SIM_MS;
        } else {
            p->squeeze = on ? 1 + (size_t)f->amount : 0;
        }
    }
}

/* The paths of some nodes stop one after the other, in any order, and are freed
 * in another order. */
static void fault_clogs(sim_world *w, sim_fault *f, int node, int on)
{
    uint64_t bits = sim_keyed(&w->choices, SIM_OF_FAULT, f->key,
                              (uint64_t)node);
    uint64_t which = (uint64_t)node << 1;
    int64_t half = f->for_us / 2, from = w->now_us;
    int number = (int)(f - w->fault);

    if (!on) {
        sim_fault_clog(w, f, which);
        return;
    }
    if (bits & 1)
        return;
    sim_due_at(w, from + half * (int64_t)(bits >> 8 & 255) / 256, SIM_CLOG,
               number, which | 1);
    sim_due_at(w, from + half + half * (int64_t)(bits >> 16 & 255) / 256,
               SIM_CLOG, number, which);
}

void sim_fault_clog(sim_world *w, sim_fault *f, uint64_t which)
{
    int node = (int)(which >> 1), on = (int)(which & 1), host, way;

    if ((int)(f->clogged >> node & 1) == on || (on && !f->active))
        return;
    SIM_MARK(clogged);
    SIM_SAY(w, "the path of n%d is %s", node, on ? "stopped" : "free");
    f->clogged ^= 1u << node;
    for (host = 0; host < SIM_HOSTS; host++) {
        for (way = 0; way < 2; way++)
            w->path[node][host].hole[way] += on ? 1 : -1;
        if (!on)
            sim_net_heal(w, node, host);
    }
}

static void fault_link(sim_world *w, const sim_fault *f, sim_node *n, int on)
{
    sim_link *l = sim_net_of_node(w, n);

    if (!on || l == NULL || l->state != SIM_OPEN || l->reset)
        return;
    if (f->what == SIM_T_RESET) {
        l->unread_first = f->key >> 1 & 1;
        if (l->unread_first && (f->way & 1) == 0)
            (void)sim_pipe_arrive(&l->pipe[SIM_DOWN], SIM_NEVER);
        sim_net_reset(w, l, f->way & 1);
    } else if (f->what == SIM_T_FIN && !l->host_gone) {
        sim_disturb_link(w, l);
        sim_net_fin(w, l, SIM_DOWN);
        sim_net_host_lets_go(w, l);
    } else if (f->what == SIM_T_CUT) {
        l->pipe[f->way & 1].cut_after = f->amount;
    } else if (f->what == SIM_T_AFTER_RUN) {
        l->kill_after_run = 1;
    } else if (f->what == SIM_T_STALL) {
        sim_disturb_link(w, l);
        if (f->way == 3) {
            l->stall_for_us = f->for_us;
            l->stall_what = f->key & 1 ? SIM_ACQUIRE : SIM_RENEW;
        }
        if (f->way == SIM_UP || f->way == 2)
            sim_net_stall(l, SIM_UP, w->now_us + f->for_us);
        if (f->way == SIM_DOWN || f->way == 2)
            sim_net_stall(l, SIM_DOWN, w->now_us + f->for_us);
    }
}

/* Some faults excuse trouble of a node for as long as they last, not only when
 * they take effect. */
static void fault_touches(sim_world *w, sim_node *n, const sim_fault *f, int on)
{
    const unsigned always = 1u << SIM_T_SLOW | 1u << SIM_T_SQUEEZE |
                            1u << SIM_T_PAUSE | 1u << SIM_T_MEMORY |
                            1u << SIM_T_FREEZE;

    if (!(always >> f->what & 1))
        return;
    n->touching += on ? 1 : -1;
    sim_disturb(w, n->number);
}

static void fault_node(sim_world *w, sim_fault *f, int node, int on)
{
    sim_node *n = &w->node[node];

    fault_touches(w, n, f, on);
    switch (f->what) {
    case SIM_T_RESET:
    case SIM_T_FIN:
    case SIM_T_CUT:
    case SIM_T_AFTER_RUN:
    case SIM_T_STALL:
        fault_link(w, f, n, on);
        return;
    case SIM_T_HOLE:
    case SIM_T_SLOW:
    case SIM_T_REFUSE:
    case SIM_T_HANG:
    case SIM_T_CROWD:
    case SIM_T_SQUEEZE:
        fault_path(w, f, node, on);
        return;
    case SIM_T_PAUSE:
        fault_pause(w, n, f, on);
        return;
    case SIM_T_CRASH:
    case SIM_T_STOP:
        fault_reboot(w, n, f, on);
        return;
    case SIM_T_MEMORY:
        n->oom += on ? 1 : -1;
        n->oom_rate = f->way & 1 ? 256 : f->rate;
        w->memory_faults++;
        return;
    case SIM_T_ERRORS:
    case SIM_T_GREETING:
    case SIM_T_LIES:
        w->talking += on ? 1 : -1;
        if (!on && f->what == SIM_T_ERRORS && f->way == 3 &&
            sim_net_of_node(w, n) != NULL)
            sim_net_reset(w, sim_net_of_node(w, n), 0); /* it is killed      */
        return;
    case SIM_T_RESTART:
    case SIM_T_FREEZE:
    case SIM_T_FAILOVER:
    case SIM_T_CLOCK:
    case SIM_T_FLUSH:
    case SIM_T_REPLICA:
    case SIM_TROUBLES:
        return;
    case SIM_T_CLOG:
        fault_clogs(w, f, node, on);
        return;
    }
}

/* --------------------------------------------------------- faults of hosts */

/* While disks hang, writes do not reach them; if the machine is lost then,
 * these writes are lost, too. */
void sim_fault_hang(sim_world *w, sim_fault *f, int on)
{
    if (on && !f->hanging && w->disks_hang++ == 0)
        w->hung_us = w->now_us;
    if (!on && f->hanging)
        w->disks_hang--;
    f->hanging = on;
    sim_copies_turn(w);
}

static void fault_restart(sim_world *w, sim_host *h, sim_fault *f, int on)
{
    size_t keep = h->log.n;

    if (on) {
        sim_fault_hang(w, f, 0);
        sim_host_down(w, h, f->way & 1);
        SIM_MARK(restarted);
        return;
    }
    if (h->up)
        return;
    if (f->way & 2)
        keep = sim_log_at(&h->log, fault_hangs_at(f));
    if (w->disks_hang > 0 && keep > sim_log_at(&h->log, w->hung_us))
        keep = sim_log_at(&h->log, w->hung_us);
    if (keep < h->synced_n)
        keep = h->synced_n;
    if (keep < h->log.n) {
        SIM_MARK(writes_lost);
        sim_claims_void(w, SIM_VOID_DISK);
    }
    h->loading_until_us = w->now_us + (f->key & 1 ? f->amount * SIM_MS : 0);
    sim_host_start(w, h, &h->log, keep);
}

/* The new primary has all writes that replicas had confirmed; its disk has the
 * writes that were confirmed both as copied and as synced. Its clock may
 * differ. */
static void fault_taken_over(sim_world *w, const sim_host *old, sim_host *next)
{
    sim_claims_void(w, SIM_VOID_COPY);
    if (sim_host_wall(w, next) != sim_host_wall(w, old))
        sim_claims_void(w, SIM_VOID_TIME);
    next->copied_n = old->copied_n;
    next->synced_n = old->synced_n < old->copied_n ? old->synced_n
                                                   : old->copied_n;
}

/* The other server takes over without the last writes. The old primary goes on
 * for a while with the clients that are connected, and may refuse writes. */
static void fault_failover(sim_world *w, const sim_fault *f, int on)
{
    sim_host *old = &w->host[w->primary], *next = &w->host[1 - w->primary];
    size_t keep;

    if (on) {
        if (next->up || !old->up)
            return;
        SIM_MARK(failover);
        keep = sim_log_at(&old->log, w->now_us - f->amount * SIM_MS);
        if (keep < old->copied_n) {
            SIM_MARK(copies_saved);
            keep = old->copied_n;
        }
        if (keep < old->log.n)
            SIM_MARK(failover_lost);
        fault_taken_over(w, old, next);
        sim_host_id(old, "replication", "master_replid:", next->replid);
        sim_host_start(w, next, &old->log, keep);
        w->primary = next->number;
        old->read_only = f->way & 1;
        return;
    }
    /* The server that is not the primary now is shut. Its process ends, or goes
     * on as a replica: when promoted again it has its old run id and a new
     * replication id. */
    if (next->up && !(f->way & 2))
        sim_host_id(next, "server", "run_id:", next->run_id);
    sim_host_down(w, next, f->way & 2);
}

/* A clock is set at a moment, or stands still for a while. */
static void fault_leaps(sim_world *w, const sim_host *h, sim_fault *f, int on)
{
    sim_leases *g = &w->leases;

    if (!on && f->way < 2)
        return;
    if (on) {
        f->leap = g->leaps++;
        /* Leases that ended since the server last looked at its clock may be
         * valid again. */
        g->leap[f->leap].from_us = h->looked_us - 5 * SIM_MS;
    }
    g->leap[f->leap].to_us = f->way < 2 || !on ? w->now_us : SIM_NEVER;
}

static void fault_clock(sim_world *w, sim_host *h, sim_fault *f, int on)
{
    int64_t jump = f->amount * 50 * SIM_MS;

    if (f->way < 2 && on) {
        SIM_MARK(clock_jumped);
        h->wall_offset_us += f->way == 0 ? jump : -jump;
    }
    if (f->way >= 2 && on) {
        SIM_MARK(clock_stopped);
        h->wall_stop_us = sim_host_wall(w, h);
    }
    /* Both clocks run again: another server may serve by now. */
    if (f->way >= 2 && !on)
        w->host[0].wall_stop_us = w->host[1].wall_stop_us = SIM_NEVER;
    w->leases.leapt = 1;
    fault_leaps(w, h, f, on);
    if (w->leases.wall_max_us < h->wall_offset_us)
        w->leases.wall_max_us = h->wall_offset_us;
    if ((f->way == 0 && on) || (f->way >= 2 && !on))
        sim_claims_void(w, SIM_VOID_TIME);
    sim_host_clock(w, h);
}

static void fault_freeze(sim_world *w, sim_host *h, int on)
{
    w->host[0].frozen += on ? 1 : -1;
    w->host[1].frozen += on ? 1 : -1;
    if (on)
        SIM_MARK(frozen);
    else if (h->up && !h->frozen)
        sim_host_thaw(w, h);
}

static void fault_replica(sim_world *w, sim_fault *f, int on)
{
    int d = on ? 1 : -1;

    if (f->way & 1)
        w->replicas_away += d;
    else
        w->lag_us += d * f->amount * SIM_MS;
    sim_fault_hang(w, f, on && (f->way & 2));
}

static void fault_host(sim_world *w, sim_fault *f, int on)
{
    sim_host *h = &w->host[w->primary];

    if (f->what == SIM_T_RESTART || f->what == SIM_T_FAILOVER ||
        f->what == SIM_T_CLOCK)
        sim_disturb_servers(w);
    if (f->what == SIM_T_RESTART) {
        fault_restart(w, h, f, on);
    } else if (f->what == SIM_T_FAILOVER) {
        fault_failover(w, f, on);
    } else if (f->what == SIM_T_FREEZE) {
        fault_freeze(w, h, on);
    } else if (f->what == SIM_T_CLOCK) {
        fault_clock(w, h, f, on);
    } else if (f->what == SIM_T_REPLICA) {
        fault_replica(w, f, on);
    } else if (f->what == SIM_T_FLUSH && (f->way & 1) && on) {
        w->flush_next = 1;
    } else if (f->what == SIM_T_FLUSH && h->up && on) {
        SIM_MARK(scripts_flushed);
        sim_host_admin(w, h, 2, "SCRIPT", "FLUSH");
    }
}

/* ------------------------------------------------------------------- errors */

static const char *const fault_text[] = {
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script.",
    "READONLY You can't write against a read only replica.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "MISCONF Redis is configured to save RDB snapshots",
    "NOPERM this user has no permissions",
    "MASTERDOWN Link with MASTER is down",
    "NOREPLICAS Not enough good replicas to write.",
    "CLUSTERDOWN The cluster is down",
    "MOVED 3999 127.0.0.1:6381",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "NOAUTH Authentication required.",
    "ERR unknown command"};
#define FAULT_TEXTS (sizeof fault_text / sizeof fault_text[0])

const sim_fault *sim_fault_of(const sim_world *w, sim_trouble what, int node)
{
    int i;

    for (i = 0; w->talking > 0 && i < w->faults; i++) {
        const sim_fault *f = &w->fault[i];

        if (f->active && f->what == what && (f->node < 0 || f->node == node))
            return f;
    }
    return NULL;
}

const char *sim_fault_error(sim_world *w, int node, uint64_t tag, int greeting)
{
    sim_trouble what = greeting ? SIM_T_GREETING : SIM_T_ERRORS;
    uint64_t bits;
    int i;

    if (w->talking == 0)
        return NULL;
    for (i = 0; i < w->faults; i++) {
        const sim_fault *f = &w->fault[i];

        if (!f->active || f->what != what || (f->node >= 0 && f->node != node))
            continue;
        bits = sim_keyed(&w->choices, SIM_OF_ERROR, f->key, tag);
        if ((bits & 255) >= f->rate)
            continue;
        if (greeting)
            SIM_MARK(greeting_refused);
        if (!greeting && f->way == 3)
            return "BUSY Redis is busy running a script.";
        return fault_text[(bits >> 8) % FAULT_TEXTS];
    }
    return NULL;
}

/* -------------------------------------------------------------- on and off */

static void fault_turn(sim_world *w, sim_fault *f, int on)
{
    int i, all = f->node < 0 || (f->what >= SIM_T_RESTART &&
                                 f->what < SIM_T_ERRORS);

    f->active = on;
    for (i = 0; i < w->shape.nodes; i++)
        if (all || f->node == i)
            fault_node(w, f, i, on);
    fault_host(w, f, on);
}

void sim_fault_on(sim_world *w, sim_fault *f)
{
    if (f->fired || w->phase != SIM_CHAOS)
        return;
    f->fired = 1;
    w->faults_fired++;
    SIM_SAY(w, "fault %d: %s, node %d", (int)(f - w->fault),
            fault_name[f->what], f->node);
    fault_turn(w, f, 1);
    if (fault_has_length(f->what))
        sim_due_at(w, w->now_us + f->for_us, SIM_FAULT_OFF,
                   (int)(f - w->fault), 0);
    else
        f->active = 0;
}

void sim_fault_off(sim_world *w, sim_fault *f)
{
    if (!f->active)
        return;
    SIM_SAY(w, "fault %d ends: %s", (int)(f - w->fault), fault_name[f->what]);
    fault_turn(w, f, 0);
}

/* Heals the system: ends all active faults, and drops those that wait to take
 * effect on a link. */
void sim_faults_heal(sim_world *w)
{
    sim_link *l;
    uint64_t gen = 0;
    int i;

    w->flush_next = 0;
    for (i = 0; i < w->faults; i++) {
        sim_fault_off(w, &w->fault[i]);
        sim_fault_hang(w, &w->fault[i], 0);
    }
    while ((l = sim_net_next(w, &gen)) != NULL) {
        sim_net_whole(w, l);
        if (l->lied)
            sim_net_reset(w, l, 0);
    }
    for (i = 0; i < w->shape.nodes; i++)
        w->path[i][0].shut_us = w->path[i][1].shut_us = 0;
    for (i = 0; i < SIM_HOSTS; i++) {
        w->host[i].loading_until_us = 0;
        w->host[i].read_only = 0;
    }
    if (!w->host[w->primary].up)
        sim_host_start(w, &w->host[w->primary], &w->host[w->primary].log,
                       w->host[w->primary].log.n);
}
