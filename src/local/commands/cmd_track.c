/* SPDX-License-Identifier: MIT
 *
 * cmd_track.c - CLIENT TRACKING, CACHING, GETREDIR, TRACKINGINFO.
 */
#include "rows.h"
#include "track.h"

typedef struct cmd_track_wish {
    int flags;
    int64_t redirect;
    uint32_t prefixes;
} cmd_track_wish;

static int cmd_track_option(rlt_call *c, uint32_t *i, cmd_track_wish *w)
{
    if (rlt_call_is(c, *i, "redirect") && *i + 1 < c->argc) {
        if (w->redirect != 0) {
            rlt_call_error(c, "ERR A client can only redirect to a single "
                              "other client");
            return 0;
        }
        if (!rlt_call_int(c, ++*i, &w->redirect, NULL))
            return 0;
        if (rlt_track_peer(c->server, (uint64_t)w->redirect) == NULL) {
            rlt_call_error(c, "ERR The client ID you want redirect to does "
                              "not exist");
            return 0;
        }
    } else if (rlt_call_is(c, *i, "bcast")) {
        w->flags |= RLT_TRACK_BCAST;
    } else if (rlt_call_is(c, *i, "optin")) {
        w->flags |= RLT_TRACK_OPTIN;
    } else if (rlt_call_is(c, *i, "optout")) {
        w->flags |= RLT_TRACK_OPTOUT;
    } else if (rlt_call_is(c, *i, "noloop")) {
        w->flags |= RLT_TRACK_NOLOOP;
    } else if (rlt_call_is(c, *i, "prefix") && *i + 1 < c->argc) {
        ++*i;
        w->prefixes++;
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    return 1;
}

/* The error if the options conflict with each other, or with the present
 * tracking of the client; NULL: none. */
static const char *cmd_track_wrong(const rlt_peer *p, const cmd_track_wish *w)
{
    int both = RLT_TRACK_OPTIN | RLT_TRACK_OPTOUT;

    if (!(w->flags & RLT_TRACK_BCAST) && w->prefixes > 0)
        return "ERR PREFIX option requires BCAST mode to be enabled";
    if ((p->tracking & RLT_TRACK_ON) &&
        ((p->tracking ^ w->flags) & RLT_TRACK_BCAST))
        return "ERR You can't switch BCAST mode on/off before disabling "
               "tracking for this client, and then re-enabling it with a "
               "different mode.";
    if ((w->flags & RLT_TRACK_BCAST) && (w->flags & both))
        return "ERR OPTIN and OPTOUT are not compatible with BCAST";
    if ((w->flags & both) == both)
        return "ERR You can't specify both OPTIN mode and OPTOUT mode";
    if (((w->flags & RLT_TRACK_OPTIN) && (p->tracking & RLT_TRACK_OPTOUT)) ||
        ((w->flags & RLT_TRACK_OPTOUT) && (p->tracking & RLT_TRACK_OPTIN)))
        return "ERR You can't switch OPTIN/OPTOUT mode before disabling "
               "tracking for this client, and then re-enabling it with a "
               "different mode.";
    return NULL;
}

/* --------------------------------------------------------------- prefixes */

/* The next argument that is a prefix, from *i on; 0: no more. */
static uint32_t cmd_track_prefix(const rlt_call *c, uint32_t *i)
{
    for (; *i < c->argc; ++*i) {
        if (rlt_call_is(c, *i, "redirect")) {
            ++*i;
        } else if (rlt_call_is(c, *i, "prefix")) {
            *i += 2;
            return *i - 1;
        }
    }
    return 0;
}

static int cmd_track_overlap(relet_span a, relet_span b)
{
    size_t n = RLT_MIN(a.n, b.n);

    return n == 0 || memcmp(a.p, b.p, n) == 0;
}

static int cmd_track_collides(rlt_call *c, relet_span a, relet_span b,
                              const char *with)
{
    char after[400];
    size_t n = strlen(with), len = RLT_MIN(b.n, 250);

    if (!cmd_track_overlap(a, b))
        return 0;
    memcpy(after, with, n);
    if (b.n > 0)
        memcpy(after + n, b.p, len);
    n += len;
    strcpy(after + n,
           "'. Prefixes for a single client must not overlap.");
    rlt_call_error_with(c, "ERR Prefix '", a, after);
    return 1;
}

static int cmd_track_prefixes_ok(rlt_call *c)
{
    uint32_t at = 3, next, i, k;
    const rlt_entry *e;

    while ((i = cmd_track_prefix(c, &at)) != 0) {
        for (e = c->peer->prefixes.first; e; e = e->next)
            if (cmd_track_collides(c, c->argv[i], rlt_entry_key(e),
                                   "' overlaps with an existing prefix '"))
                return 0;
        next = at;
        while ((k = cmd_track_prefix(c, &next)) != 0)
            if (cmd_track_collides(
                    c, c->argv[i], c->argv[k],
                    "' overlaps with another provided prefix '"))
                return 0;
    }
    return 1;
}

static void cmd_track_enable(rlt_call *c, const cmd_track_wish *w)
{
    uint32_t at = 3, i;

    rlt_track_on(c->peer, w->flags, (uint64_t)w->redirect);
    if (!(w->flags & RLT_TRACK_BCAST))
        return;
    if (w->prefixes == 0)
        rlt_track_prefix(c->peer, relet_str(""));
    while ((i = cmd_track_prefix(c, &at)) != 0)
        rlt_track_prefix(c->peer, c->argv[i]);
}

RELET_PRIVATE size_t rlt_cmd_track_bound(const rlt_call *c)
{
    size_t n = RLT_TRACK_PREFIX_COST(0);
    uint32_t i;

    for (i = 3; i < c->argc; i++)
        n += RLT_TRACK_PREFIX_COST(c->argv[i].n);
    return n;
}

RELET_PRIVATE void rlt_cmd_track_tracking(rlt_call *c)
{
    cmd_track_wish w;
    const char *wrong;
    uint32_t i;

    memset(&w, 0, sizeof w);
    for (i = 3; i < c->argc; i++)
        if (!cmd_track_option(c, &i, &w))
            return;
    if (rlt_call_is(c, 2, "on")) {
        wrong = cmd_track_wrong(c->peer, &w);
        if (wrong) {
            rlt_call_error(c, wrong);
            return;
        }
        if ((w.flags & RLT_TRACK_BCAST) && !cmd_track_prefixes_ok(c))
            return;
        cmd_track_enable(c, &w);
    } else if (rlt_call_is(c, 2, "off")) {
        rlt_track_off(c->peer);
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    rlt_out_status(c->out, "OK");
}

/* ----------------------------------------------------------------- the rest */

RELET_PRIVATE void rlt_cmd_track_caching(rlt_call *c)
{
    int t = c->peer->tracking;

    if (!(t & RLT_TRACK_ON)) {
        rlt_call_error(c, "ERR CLIENT CACHING can be called only when the "
                          "client is in tracking mode with OPTIN or OPTOUT "
                          "mode enabled");
        return;
    }
    if (rlt_call_is(c, 2, "yes")) {
        if (!(t & RLT_TRACK_OPTIN)) {
            rlt_call_error(c, "ERR CLIENT CACHING YES is only valid when "
                              "tracking is enabled in OPTIN mode.");
            return;
        }
    } else if (rlt_call_is(c, 2, "no")) {
        if (!(t & RLT_TRACK_OPTOUT)) {
            rlt_call_error(c, "ERR CLIENT CACHING NO is only valid when "
                              "tracking is enabled in OPTOUT mode.");
            return;
        }
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    c->peer->tracking |= RLT_TRACK_CACHING;
    rlt_out_status(c->out, "OK");
}

RELET_PRIVATE void rlt_cmd_track_getredir(rlt_call *c)
{
    rlt_out_int(c->out, c->peer->tracking & RLT_TRACK_ON
                            ? (int64_t)c->peer->redirect
                            : -1);
}

static size_t cmd_track_flags(rlt_out *o, int t)
{
    const char *words[8];
    size_t n = 0, i;

    words[n++] = t & RLT_TRACK_ON ? "on" : "off";
    if (t & RLT_TRACK_BCAST)
        words[n++] = "bcast";
    if (t & RLT_TRACK_OPTIN) {
        words[n++] = "optin";
        if (t & RLT_TRACK_CACHING)
            words[n++] = "caching-yes";
    }
    if (t & RLT_TRACK_OPTOUT) {
        words[n++] = "optout";
        if (t & RLT_TRACK_CACHING)
            words[n++] = "caching-no";
    }
    if (t & RLT_TRACK_NOLOOP)
        words[n++] = "noloop";
    if (t & RLT_TRACK_BROKEN_REDIRECT)
        words[n++] = "broken_redirect";
    rlt_out_set(o, n);
    for (i = 0; i < n; i++)
        rlt_out_text(o, words[i]);
    return n;
}

RELET_PRIVATE void rlt_cmd_track_info(rlt_call *c)
{
    const rlt_entry *e;

    rlt_out_map(c->out, 3);
    rlt_out_text(c->out, "flags");
    (void)cmd_track_flags(c->out, c->peer->tracking);
    rlt_out_text(c->out, "redirect");
    rlt_cmd_track_getredir(c);
    rlt_out_text(c->out, "prefixes");
    rlt_out_array(c->out, c->peer->prefixes.count);
    for (e = c->peer->prefixes.first; e; e = e->next)
        rlt_out_bulk(c->out, rlt_entry_key(e));
}
