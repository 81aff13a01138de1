/* SPDX-License-Identifier: MIT
 *
 * asks.c - reads the call of a queue script: which script it is, and its
 * arguments. A script is recognised by its keys, not by its text, so that a
 * script that a mutant has changed is recognised, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

/* Scripts with the same keys share an entry, and asks_arguments tells them
 * apart: RENEW stands for DONE_PLAIN and the list of `leased` as well, PUT_FULL
 * for UNIQUE, RECALL for PROGRESS, PUT for IDLE. */
static sim_verb asks_of(const char *last, size_t keys, const char *third)
{
    static const struct {
        sim_verb what;
        size_t keys;
        const char *last, *third;
    } known[] = {{SIM_V_PUT, 4, "idle", "ranked"},
                 {SIM_V_RELEASE, 4, "idle", "leased"},
                 {SIM_V_PUT_FULL, 5, "ranked", "ids"},
                 {SIM_V_PROMOTE, 5, "idle", "ranked"},
                 {SIM_V_REAP, 5, "idle", "leased"},
                 {SIM_V_CLAIM, 4, "leased", "ranked"},
                 {SIM_V_RANK, 3, "ranked", "ranked"},
                 {SIM_V_RECALL, 1, "jobs", ""},
                 {SIM_V_RENEW, 2, "leased", ""},
                 {SIM_V_DONE, 4, "ids", "done"},
                 {SIM_V_FAIL, 4, "dead", "delayed"},
                 {SIM_V_IDLE, 4, "idle", ""}, /* as put */
                 {SIM_V_CANCEL, 4, "delayed", "ranked"},
                 {SIM_V_PURGE, 8, "leased", "waiting"},
                 {SIM_V_REPLAY, 3, "dead", "dead"},
                 {SIM_V_KEEP, 3, "done", "done"},
                 {SIM_V_TRIM, 4, "ids", "dead"},
                 {SIM_V_REPAIR, 7, "dead", "ranked"},
                 {SIM_V_STATUS, 8, "idle", "ranked"},
                 {SIM_V_LOOK, 6, "dead", "delayed"},
                 {SIM_V_LIST, 2, "waiting", ""},
                 {SIM_V_LIST, 2, "ranked", ""},
                 {SIM_V_LIST, 2, "delayed", ""},
                 {SIM_V_LIST, 2, "done", ""},
                 {SIM_V_LIST, 2, "dead", ""},
                 {SIM_V_FORGET, 2, "ids", ""}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].keys == keys && strcmp(known[i].last, last) == 0 &&
            strcmp(known[i].third, third) == 0)
            return known[i].what;
    return SIM_V_NONE;
}

static void asks_name(char out[12], const sim_words *c, size_t i)
{
    relet_span name = {"", 0};

    if (i < c->n && sim_ledger_key(c->word[i], &name) >= 0 && name.n < 12)
        memcpy(out, name.p, name.n);
    else
        name.n = 0;
    out[name.n] = '\0';
}

static void asks_pairs(sim_step *run, const sim_words *c, size_t at)
{
    for (; at + 1 < c->n && run->pairs < SIM_ROOM; at += 2) {
        run->number[run->pairs] = (uint64_t)sim_ledger_number(c->word[at]);
        run->token[run->pairs++] = (uint64_t)sim_ledger_number(c->word[at + 1]);
    }
}

/* Reads node N and serial S of a worker named "nN.S:…", whatever follows. */
static void asks_worker(sim_step *run, relet_span s)
{
    char text[24];
    size_t n = s.n < sizeof text - 1 ? s.n : sizeof text - 1;

    memcpy(text, s.p, n);
    text[n] = '\0';
    if (sscanf(text, "n%d.%u:", &run->node, &run->serial) != 2)
        run->node = -1;
}

static void asks_arguments(sim_step *run, const sim_words *c, size_t at)
{
    relet_span none = {"", 0};
    const relet_span *a = at + 7 <= SIM_WORDS ? c->word + at : &none;

    switch (run->what) {
    case SIM_V_LIST:
        run->verdict = a[0].p[0];
        run->wanted = (uint32_t)sim_ledger_number(a[2]);
        return;
    case SIM_V_RENEW:
        if (at < c->n && a[0].n == 1 && a[0].p[0] == 'l') {
            run->what = SIM_V_LIST;
            run->verdict = 'l';
            run->wanted = (uint32_t)sim_ledger_number(a[2]);
            return;
        }
        if (at < c->n && a[0].n > 0 && a[0].p[0] == 'n') {
            run->what = SIM_V_DONE_PLAIN;
            asks_worker(run, a[0]);
            run->op = (uint64_t)sim_ledger_number(a[1]);
        } else {
            run->lease_ms = sim_ledger_number(a[0]);
            run->run_ms = sim_ledger_number(a[1]);
        }
        asks_pairs(run, c, at + 2);
        return;
    case SIM_V_RELEASE:
        asks_pairs(run, c, at);
        return;
    case SIM_V_CLAIM:
        asks_worker(run, a[0]);
        run->lease_ms = sim_ledger_number(a[2]);
        run->wanted = (uint32_t)sim_ledger_number(a[3]);
        run->bytes = sim_ledger_number(a[4]);
        run->typed = at + 6 < c->n;
        return;
    case SIM_V_DONE:
        asks_worker(run, a[0]);
        run->op = (uint64_t)sim_ledger_number(a[1]);
        asks_pairs(run, c, at + 2);
        run->pairs = 1;
        run->wait_ms = sim_ledger_number(a[4]);
        return;
    case SIM_V_FAIL:
        asks_worker(run, a[0]);
        run->op = (uint64_t)sim_ledger_number(a[1]);
        run->number[0] = strtoull(a[2].p, NULL, 10);
        run->token[0] = (uint64_t)sim_ledger_number(a[3]);
        run->pairs = 1;
        run->verdict = a[4].p[0];
        run->wait_ms = sim_ledger_number(a[5]);
        return;
    case SIM_V_REAP:
        run->wanted = (uint32_t)sim_ledger_number(a[0]);
        run->stalls_max = (uint32_t)sim_ledger_number(a[1]);
        run->lease_ms = sim_ledger_number(a[2]);
        return;
    case SIM_V_PUT_FULL:
        run->waiting_max = (long)sim_ledger_number(a[2]);
        run->wanted = (uint32_t)((c->n - at - 3) / 2);
        if (at + 2 < c->n && a[2].n == 1 && a[2].p[0] >= 'a') {
            run->what = SIM_V_UNIQUE;
            run->verdict = a[2].p[0];
            run->wait_ms = sim_ledger_number(a[3]);
            run->waiting_max = (long)sim_ledger_number(a[6]);
            run->wanted = 1;
        }
        return;
    case SIM_V_RECALL:
        if (at < c->n && a[0].n > 0 && a[0].p[0] >= '0' && a[0].p[0] <= '9')
            run->what = SIM_V_PROGRESS;
        else
            asks_worker(run, a[0]);
        asks_pairs(run, c, at); /* the library sends only one pair            */
        return;
    case SIM_V_CANCEL:
    case SIM_V_LOOK:
    case SIM_V_KEEP:
        run->id = sim_ledger_id(a[0]);
        run->number[0] = run->id ? 0 : (uint64_t)sim_ledger_number(a[1]);
        if (run->what == SIM_V_KEEP)
            run->wait_ms = sim_ledger_number(a[2]);
        return;
    case SIM_V_PURGE:
        run->verdict = a[0].p[0];
        run->wanted = (uint32_t)sim_ledger_number(a[1]);
        run->forced = a[2].n == 1 && a[2].p[0] == '1';
        return;
    case SIM_V_REPLAY:
        run->stalls_max = (uint32_t)sim_ledger_number(a[0]);
        run->wanted = (uint32_t)sim_ledger_number(a[1]);
        for (at += 3; at < c->n && run->pairs < SIM_ROOM; at++)
            run->number[run->pairs++] =
                (uint64_t)sim_ledger_number(c->word[at]);
        return;
    case SIM_V_TRIM:
        run->most[0] = (int64_t)sim_ledger_number(a[0]);
        run->most[1] = (int64_t)sim_ledger_number(a[1]);
        run->wait_ms = sim_ledger_number(a[2]);
        run->wanted = (uint32_t)sim_ledger_number(a[3]);
        return;
    case SIM_V_REPAIR:
        run->number[0] = (uint64_t)sim_ledger_number(a[0]);
        return;
    case SIM_V_PROMOTE:
        run->wanted = (uint32_t)sim_ledger_number(a[0]);
        return;
    case SIM_V_PUT:
        run->waiting_max = (long)sim_ledger_number(a[2]);
        run->wanted = (uint32_t)(c->n - at - 3);
        return;
    case SIM_V_NONE:
    case SIM_V_DONE_PLAIN:
    case SIM_V_IDLE:
    case SIM_V_FORGET:
    case SIM_V_UNIQUE:
    case SIM_V_PROGRESS:
    case SIM_V_RANK:
    case SIM_V_STATUS:
        return;
    }
}

int sim_asks_read(const sim_words *c, sim_step *run)
{
    char third[12], last[12];
    relet_span name;
    size_t keys;

    memset(run, 0, sizeof *run);
    run->node = -1;
    if ((!sim_wire_is(c, 0, "EVALSHA") && !sim_wire_is(c, 0, "EVAL")) ||
        c->n < 5 || (run->queue = sim_ledger_key(c->word[3], &name)) < 0)
        return 0;
    keys = (size_t)sim_ledger_number(c->word[2]);
    asks_name(last, c, 2 + keys);
    asks_name(third, c, 5);
    if (keys < 3)
        third[0] = '\0';
    run->what = asks_of(last, keys, third);
    if (run->what == SIM_V_PUT && c->n == 5 + keys)
        run->what = SIM_V_IDLE;
    if (run->what != SIM_V_NONE)
        asks_arguments(run, c, 3 + keys);
    return run->what != SIM_V_NONE;
}
