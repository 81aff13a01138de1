/* SPDX-License-Identifier: MIT
 *
 * driver.c - the counterpart of poll.c: moves bytes between a client and its
 * simulated link, in pieces of any size. */
#include <string.h>

#include "sim.h"
#include "wire.h"

/* ------------------------------------------------------------------- pieces */

static size_t driver_line_end(const uint8_t *p, size_t n)
{
    const uint8_t *end = (const uint8_t *)memchr(p, '\n', n);

    return end ? (size_t)(end - p) : 0;
}

/* How many bytes are read or written at once: often all, otherwise a number
 * that ends at an awkward byte. */
static size_t driver_piece(const sim_world *w, sim_node *n, const uint8_t *p,
                           size_t most)
{
    size_t end;

    if (most < 2 || !sim_chance(&n->chunk, w->shape.chunky, 256))
        return most;
    switch (sim_choose(&n->chunk, 5)) {
    case 0:
        SIM_MARK(one_byte_read);
        return 1;
    case 1: /* between CR and LF */
        end = driver_line_end(p, most);
        if (end > 0)
            SIM_MARK(crlf_split);
        return end > 0 ? end : 1;
    case 2: /* behind a line */
        end = driver_line_end(p, most);
        return end + 1;
    case 3:
        return most - 1;
    }
    return 1 + sim_choose(&n->chunk, (uint32_t)most);
}

/* ------------------------------------------------------------------ reading */

static int driver_take(sim_world *w, sim_node *n)
{
    relet_event ev;
    int moved = 0;

    while (!w->failed && relet_next(n->r, &ev)) {
        moved = 1;
        sim_judge_event(w, n, &ev);
        w->work->event(w, n, &ev);
        if (ev.kind == RELET_EV_DOWN && ev.retry_in_ms == RELET_NEVER)
            n->leaving = 1;
    }
    return moved;
}

/* Reads one piece of the bytes that have arrived on this link. */
static int driver_read_link(sim_world *w, sim_node *n, sim_link *l)
{
    sim_pipe *p;
    uint8_t *room;
    size_t space, k;

    if (w->failed || l == NULL || l->state != SIM_OPEN || l->reset == 2 ||
        l->pipe[SIM_DOWN].arrived == 0 ||
        (space = relet_io_space(n->r, l->index, &room)) == 0)
        return 0;
    p = &l->pipe[SIM_DOWN];
    k = space < p->arrived ? space : p->arrived;
    k = driver_piece(w, n, p->bytes + p->head, k);
    if (w->setup.trace > 1)
        sim_say(w, "n%d reads %lu of %lu bytes", n->number, (unsigned long)k,
                (unsigned long)p->arrived);
    memcpy(room, p->bytes + p->head, k);
    sim_pipe_take(p, k);
    sim_record_read(w, l);
    sim_causes_read(w, l);
    relet_io_received(n->r, l->index, k);
    n->bytes_in += k;
    n->heard_at = n->now;
    if (p->wanted) {
        p->wanted = 0;
        sim_host_flush(w, l);
    }
    return 1;
}

static int driver_read(sim_world *w, sim_node *n)
{
    int i, moved = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        moved |= driver_read_link(w, n, sim_net_at(w, n, i));
    return moved;
}

/* ------------------------------------------------------------------ writing */

/* The tag of the command at p, or of the command that it precedes; *n: bytes of
 * the command at p. */
static uint64_t driver_tag(const uint8_t *p, size_t most, sim_words *c,
                           long *n)
{
    sim_words next;
    long k;

    *n = sim_wire_command(p, most, c);
    if (*n <= 0)
        return 0;
    if (!sim_wire_is(c, 0, "MULTI") &&
        !(sim_wire_is(c, 0, "CLIENT") && sim_wire_is(c, 1, "CACHING")))
        return sim_wire_tag(c);
    k = sim_wire_command(p + *n, most - (size_t)*n, &next);
    return k > 0 ? sim_wire_tag(&next) : 0;
}

/* MULTI and CLIENT CACHING count as the first bytes of the command behind
 * them. */
enum { DRIVER_ALONE, DRIVER_IN_MULTI, DRIVER_CACHING };

static void driver_unit(sim_link *l, const sim_words *c)
{
    if (sim_wire_is(c, 0, "MULTI"))
        l->tap_unit = DRIVER_IN_MULTI;
    else if (sim_wire_is(c, 0, "CLIENT") && sim_wire_is(c, 1, "CACHING"))
        l->tap_unit = DRIVER_CACHING;
    else if (sim_wire_is(c, 0, "EXEC") || l->tap_unit == DRIVER_CACHING)
        l->tap_unit = DRIVER_ALONE;
}

/* The last byte of a command was written. Its operation is whole, too, unless
 * another command belongs to the operation. */
static void driver_tap_end(sim_world *w, sim_link *l)
{
    if (l->tap_tag != 0 && l->tap_unit == DRIVER_ALONE) {
        sim_judge_whole(w, l, l->tap_tag);
        l->tap_tag = 0;
    }
}

/* Tells the judge which operations have their first or last byte among the k
 * pending bytes that are written now. */
static void driver_tap(sim_world *w, sim_link *l, const uint8_t *p, size_t k,
                       size_t most)
{
    size_t at = l->tap_skip < k ? l->tap_skip : k;
    sim_words c;
    uint64_t tag;
    long n;

    l->tap_skip -= at;
    if (at > 0 && l->tap_skip == 0)
        driver_tap_end(w, l);
    while (at < k && !w->failed) {
        tag = driver_tag(p + at, most - at, &c, &n);
        if (n <= 0) {
            sim_fail(w, SIM_R2, "n%d is about to send bytes that are no "
                     "command", l->node);
            return;
        }
        if (tag != 0 && l->tap_unit == DRIVER_ALONE) {
            sim_judge_touched(w, l, &c, tag);
            l->tap_tag = tag;
        }
        if (w->work != &sim_plain && tag == 0)
            sim_record_sent(w, l, &c);
        driver_unit(l, &c);
        l->tap_skip = at + (size_t)n > k ? at + (size_t)n - k : 0;
        at += (size_t)n;
        if (l->tap_skip == 0)
            driver_tap_end(w, l);
    }
}

static int driver_write_link(sim_world *w, sim_node *n, int index)
{
    sim_link *l;
    const uint8_t *p;
    size_t most, k, taken;
    int moved = 0;

    while (!w->failed && (l = sim_net_at(w, n, index)) != NULL &&
           l->state == SIM_OPEN && l->reset != 2 &&
           (most = relet_io_pending(n->r, index, &p)) > 0) {
        if (l->reset == 1) {
            SIM_MARK(reset_noticed_late);
            l->reset = 2;
            return 1;
        }
        k = driver_piece(w, n, p, most);
        taken = sim_pipe_room(&l->pipe[SIM_UP]);
        if (taken == 0 && !l->pipe[SIM_UP].dying) {
            l->pipe[SIM_UP].wanted = 1;
            SIM_MARK(pipe_full);
            break;
        }
        if (!l->pipe[SIM_UP].dying && taken < k) {
            k = taken;
            l->pipe[SIM_UP].wanted = 1;
        }
        if (k < most)
            SIM_MARK(short_write);
        driver_tap(w, l, p, k, most);
        if (w->setup.trace > 1)
            sim_say(w, "n%d writes %lu of %lu bytes", n->number,
                    (unsigned long)k, (unsigned long)most);
        (void)sim_net_write(w, l, SIM_UP, p, k);
        relet_io_sent(n->r, index, k);
        n->bytes_out += k;
        n->said_at = n->now;
        moved = 1;
    }
    return moved;
}

static int driver_write(sim_world *w, sim_node *n)
{
    int i, moved = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        moved |= driver_write_link(w, n, i);
    return moved;
}

/* -------------------------------------------------------------------- links */

static int driver_wants(sim_world *w, sim_node *n)
{
    relet_io io;
    sim_link *l;
    int moved = 0;

    while (relet_io_want(n->r, &io)) {
        moved = 1;
        w->checked[SIM_R7]++;
        if (io.open && n->link[io.link] > 0) {
            sim_fail(w, SIM_R7, "n%d opens a link that is open", n->number);
            return 0;
        }
        if (!io.open) {
            if (n->link[io.link] == 0) {
                sim_fail(w, SIM_R7, "n%d closes a link that is not open",
                         n->number);
                return 0;
            }
            sim_net_client_lets_go(w, sim_net_at(w, n, io.link), 0);
            continue;
        }
        l = sim_net_dial(w, n, &io);
        if (l == NULL) {
            relet_io_opened(n->r, io.link, 24, "too many links");
            continue;
        }
        n->link[io.link] = l->number + 1;
        n->message_gen = l->gen;
        n->message_first = n->message_last = 0;
    }
    return moved;
}

static void driver_opened(sim_node *n, sim_link *l)
{
    l->restore = n->wished;
    if (n->lied)
        sim_tasks_lied_to(n->world, n);
    n->lied = 0;
    n->wish_moved = 0;
    n->may_skip = 0;
    l->greeted = 0;
    l->tap_skip = 0;
    l->open_us = -1;
    n->heard_at = n->said_at = n->now;
    n->owed = 0;
    relet_io_opened(n->r, l->index, 0, NULL);
}

/* Tells the client what has become of this link. */
static int driver_link_is(sim_world *w, sim_node *n, sim_link *l)
{
    int opened;

    if (l == NULL)
        return 0;
    opened = l->open_us < 0;
    if (l->reset == 2 && opened && l->unread_first &&
        l->pipe[SIM_DOWN].arrived > 0) {
        SIM_MARK(reset_behind_data);
        l->unread_first = 0;
        l->reset = 3; /* closed once all bytes that are here were read */
        return 0;
    }
    l->reset = l->reset == 3 ? 2 : l->reset;
    if (l->state == SIM_OPEN && !opened && l->reset != 2) {
        driver_opened(n, l);
        return 1;
    }
    if (l->reset == 2) {
        sim_net_client_lets_go(w, l, 0);
        if (opened)
            relet_io_closed(n->r, l->index, 104, "reset by peer");
        else
            relet_io_opened(n->r, l->index, 111, "refused");
        return 1;
    }
    if (l->state == SIM_DIALLING && n->now >= l->give_up) {
        sim_net_client_lets_go(w, l, 0);
        relet_io_opened(n->r, l->index, 110, "timed out");
        return 1;
    }
    if (opened && l->pipe[SIM_DOWN].fin == 2 &&
        l->pipe[SIM_DOWN].arrived == 0) {
        sim_net_client_lets_go(w, l, 0);
        relet_io_closed(n->r, l->index, 0, NULL);
        return 1;
    }
    return 0;
}

static int driver_links(sim_world *w, sim_node *n)
{
    int i, moved = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        moved |= driver_link_is(w, n, sim_net_at(w, n, i));
    return moved;
}

/* If nothing was pending before the tick, a PING in front was added by this
 * tick; and it is the client's own PING if no operation of the user is open: a
 * busy server may have held up a PING of the user's. After an error of a busy
 * server the client sends its own PING once more. Deadlines of operations that
 * a tick submits count from the next tick. So if the tick has submitted
 * something, another tick follows at once: otherwise these deadlines would
 * depend on how the input was cut. */
static int driver_tick(sim_world *w, sim_node *n)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    const sim_link *l = sim_net_of_node(w, n);
    const uint8_t *p;
    size_t before = relet_io_pending(n->r, 0, &p), after;

    n->heard_tick = n->heard_at;
    relet_tick(n->r, n->now);
    after = relet_io_pending(n->r, 0, &p);
    if (before == 0 && n->open_ops == 0 && after >= sizeof ping - 1 &&
        memcmp(p, ping, sizeof ping - 1) == 0 &&
        (l == NULL || !sim_link_waits(w, l)))
        sim_judge_pinged(w, n);
    return after > before;
}

/* The client reads before the tick, so an operation does not time out if its
 * answer is here already. The first piece of the answer is enough for that. */
int sim_driver_turn(sim_world *w, sim_node *n)
{
    int moved = driver_links(w, n);

    moved |= driver_read(w, n);
    moved |= driver_tick(w, n);
    moved |= driver_take(w, n);
    while (driver_read(w, n)) {
        (void)driver_take(w, n);
        moved = 1;
    }
    moved |= driver_wants(w, n);
    moved |= driver_links(w, n);
    moved |= driver_write(w, n);
    return moved;
}
