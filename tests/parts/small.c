/* SPDX-License-Identifier: MIT
 *
 * small.c - what RELET_SMALL promises, on a real server that restarts.
 *
 *     small PORT COMMAND
 *
 * COMMAND restarts the server on this port. The program prints what is wrong,
 * and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define SMALL_SETS 100

/* The outcome with this tag, within ten seconds. */
static int outcome(relet *r, uint64_t tag, relet_event *ev)
{
    relet_time end = relet_clock() + 10000;

    while (relet_clock() < end)
        if (relet_wait(r, ev, 1000) == 1 && ev->kind >= RELET_EV_REPLY &&
            ev->kind <= RELET_EV_UNSURE && ev->tag == tag)
            return 1;
    return 0;
}

static int replies_in_order(relet *r)
{
    relet_request q = {0, 0, 0};
    relet_event ev;
    uint64_t i;

    for (i = 1; i <= SMALL_SETS; i++) {
        q.tag = i;
        if (relet_command_text(r, &q, "INCR", "small", (char *)NULL) != 0)
            return wrong("a pipelined command is refused");
    }
    for (i = 1; i <= SMALL_SETS; i++) {
        int64_t n = 0;

        if (!comes(r, RELET_EV_REPLY, &ev) || ev.tag != i ||
            !relet_value_int(ev.value, &n) || n != (int64_t)i)
            return wrong("a pipelined command has not its own reply");
    }
    return 0;
}

static int values(relet *r)
{
    static const char body[] =
        "redis.setresp(3) return {1, 'two', {double=3.25}, false, "
        "{map={four={5, 6}}}, KEYS[1]}";
    relet_span key = relet_str("small");
    relet_request q = {9, 0, 0};
    relet_event ev;
    double d = 0;
    int script = relet_script_add(r, relet_str(body)), i;

    for (i = 0; i < 2; i++) { /* whole, then by its SHA-1 */
        relet_value v;

        if (relet_script_run(r, script, 1, &key, 1, &q) != 0 ||
            !outcome(r, 9, &ev) || ev.kind != RELET_EV_REPLY ||
            relet_value_count(ev.value) != 6)
            return wrong("a script has no reply");
        v = relet_value_get(relet_value_at(ev.value, 4), "four");
        if (!relet_value_is(relet_value_at(ev.value, 1), "two") ||
            !relet_value_double(relet_value_at(ev.value, 2), &d) ||
            d < 3.25 || d > 3.25 || relet_value_count(v) != 2 ||
            !relet_value_is(relet_value_at(ev.value, 5), "small"))
            return wrong("the reply of a script is read wrongly");
    }
    return 0;
}

static int transaction(relet *r)
{
    relet_span set[3], get[2];
    relet_args commands[2];
    relet_request q = {10, 0, 0};
    relet_event ev;

    set[0] = relet_str("SET");
    get[0] = relet_str("GET");
    set[1] = get[1] = relet_str("small");
    set[2] = relet_str("in a transaction");
    commands[0].argv = set;
    commands[0].argc = 3;
    commands[1].argv = get;
    commands[1].argc = 2;
    if (relet_transaction(r, commands, 2, &q) != 0 || !outcome(r, 10, &ev) ||
        ev.kind != RELET_EV_REPLY || relet_value_count(ev.value) != 2 ||
        !relet_value_is(relet_value_at(ev.value, 1), "in a transaction"))
        return wrong("a transaction has not its reply");
    return 0;
}

static int errors_are_codes(relet *r)
{
    relet_request q = {11, 100, 0};
    relet_event ev;

    if (relet_command_text(r, &q, "LPUSH", "small", "x", (char *)NULL) != 0 ||
        !outcome(r, 11, &ev) || ev.kind != RELET_EV_ERROR ||
        ev.text.n < 9 || memcmp(ev.text.p, "WRONGTYPE", 9) != 0)
        return wrong("the error of the server is not told");
    if (relet_command_text(r, &q, "SUBSCRIBE", "x", (char *)NULL) !=
        RELET_E_REFUSED)
        return wrong("SUBSCRIBE is not refused");
    if (relet_command_text(r, &q, "watch", "x", (char *)NULL) !=
        RELET_E_REFUSED)
        return wrong("WATCH is not refused");
    q.tag = 12;
    if (relet_command_text(r, &q, "BLPOP", "nothing", "1", (char *)NULL) != 0 ||
        !outcome(r, 12, &ev) || ev.kind != RELET_EV_UNSURE ||
        ev.why != RELET_WHY_TIMEOUT || ev.text.n != 0)
        return wrong("a command does not end at its timeout");
    return 0;
}

/* One command is under way when the server ends, one is submitted while there
 * is none. */
static int survives_a_restart(relet *r, const char *restart)
{
    relet_request q = {13, 0, 0};
    relet_event ev;

    if (relet_command_text(r, &q, "BLPOP", "nothing", "0", (char *)NULL) != 0)
        return wrong("BLPOP is refused");
    while (relet_wait(r, &ev, 200) == 1)
        continue;
    if (system(restart) != 0)
        return wrong("the server does not restart");
    if (!comes(r, RELET_EV_DOWN, &ev) || ev.why != RELET_WHY_CLOSED)
        return wrong("the end of the link is not told");
    if (!outcome(r, 13, &ev) || ev.kind != RELET_EV_UNSURE ||
        ev.why != RELET_WHY_BROKEN)
        return wrong("the command under way is not UNSURE");
    q.tag = 14;
    if (relet_command_text(r, &q, "PING", (char *)NULL) != 0 ||
        !comes(r, RELET_EV_UP, &ev) || !outcome(r, 14, &ev) ||
        ev.kind != RELET_EV_REPLY)
        return wrong("it does not reconnect");
    return values(r); /* the new server knows no script */
}

static int watches(relet *r)
{
    relet_watch w[RELET_WATCH_MAX];

    if (relet_watches(r, w, RELET_WATCH_MAX) < 2)
        return wrong("relet_watches does not list the link");
    return relet_fd(r) >= 0 ? 0 : wrong("relet_fd has no descriptor");
}

static int settings(int port)
{
    relet_config c;
    relet_fault fault;

    relet_config_init(&c);
    c.port = port;
    if (relet_open("redis://localhost", &c, NULL, &fault) != NULL ||
        fault.code != RELET_E_CONFIG || strcmp(fault.field, "url") != 0)
        return wrong("a URL is not refused");
    c.host[0] = '\0';
    if (relet_open(NULL, &c, NULL, &fault) != NULL ||
        strcmp(fault.field, "host") != 0)
        return wrong("an empty host is not refused");
    relet_config_init(&c);
    c.port = 0;
    if (relet_open(NULL, &c, NULL, &fault) != NULL ||
        strcmp(fault.field, "port") != 0 || fault.text[0] != '\0')
        return wrong("a wrong port is not refused by its name");
    return 0;
}

int main(int argc, char **argv)
{
    relet_span del[2];
    relet_config c;
    relet_event ev;
    relet *r;
    int bad;

    if (argc < 3)
        return wrong("usage: small PORT COMMAND");
    bad = settings(atoi(argv[1]));
    relet_config_init(&c);
    memcpy(c.host, "127.0.0.1", sizeof "127.0.0.1");
    c.port = atoi(argv[1]);
    r = relet_open(NULL, &c, NULL, NULL);
    if (r == NULL)
        return wrong("there is no client");
    del[0] = relet_str("DEL");
    del[1] = relet_str("small");
    if (relet_call(r, del, 2, &ev, 5000) != 0 || ev.kind != RELET_EV_REPLY)
        bad = wrong("DEL was not answered");
    bad = bad || replies_in_order(r) || values(r) || transaction(r) ||
          errors_are_codes(r) || watches(r) || survives_a_restart(r, argv[2]);
    relet_close(r);
    return bad;
}
