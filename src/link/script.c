/* SPDX-License-Identifier: MIT
 *
 * script.c - scripts by their SHA-1, and whole where the server lacks them.
 *
 * A server's cache of scripts is its own: it is not replicated, and a restart
 * or SCRIPT FLUSH empties it. So a link sends each script whole the first
 * time, which loads it, and by its SHA-1 from then on; where the server does
 * not have the script, its NOSCRIPT makes the client send it whole again. */
#include "script.h"

#include "script_text.inc"
#include "sha1.h"
#include "text.h"

RELET_PRIVATE void rlt_scripts_init(rlt_scripts *s, rlt_script *list,
                                    uint32_t max)
{
    s->list = list;
    s->count = 0;
    s->max = max;
    s->own = 0;
}

static void script_name(rlt_script *script, relet_span body)
{
    script->body = body;
    script->known = 0;
    rlt_sha1_hex(body.p, body.n, script->sha);
}

RELET_PRIVATE void rlt_scripts_own(rlt_scripts *s, uint32_t count)
{
    static const char *const text[] = {
#ifndef RELET_NO_LEASE
        script_text_lease_acquire, script_text_lease_release,
        script_text_lease_renew,
#endif
#ifndef RELET_NO_QUEUE
        script_text_queue_cancel, script_text_queue_claim,
        script_text_queue_claim_type, script_text_queue_done,
        script_text_queue_done_plain, script_text_queue_fail,
        script_text_queue_forget, script_text_queue_idle,
        script_text_queue_keep, script_text_queue_list, script_text_queue_look,
        script_text_queue_progress, script_text_queue_promote,
        script_text_queue_purge, script_text_queue_put,
        script_text_queue_put_full, script_text_queue_rank,
        script_text_queue_reap, script_text_queue_recall,
        script_text_queue_release, script_text_queue_renew,
        script_text_queue_repair, script_text_queue_replay,
        script_text_queue_status, script_text_queue_trim,
        script_text_queue_unique,
#endif
        NULL};

    rlt_assert(count < sizeof text / sizeof *text);
    for (; s->own < count; s->own++)
        script_name(&s->list[s->max + s->own], relet_str(text[s->own]));
}

RELET_PRIVATE uint32_t rlt_script_own(const rlt_scripts *s,
                                      rlt_own_script which)
{
    rlt_assert((uint32_t)which < s->own);
    return s->max + (uint32_t)which;
}

RELET_PRIVATE int rlt_script_add(rlt_scripts *s, relet_span body)
{
    rlt_script script;
    uint32_t i;

    script_name(&script, body);
    for (i = 0; i < s->count; i++)
        if (memcmp(s->list[i].sha, script.sha, sizeof script.sha) == 0)
            return (int)i;
    if (s->count == s->max)
        return RELET_E_LIMIT;
    s->list[s->count] = script;
    return (int)s->count++;
}

RELET_PRIVATE void rlt_scripts_forget(rlt_scripts *s)
{
    uint32_t i;

    for (i = 0; i < s->count; i++)
        s->list[i].known = 0;
    for (i = 0; i < s->own; i++)
        s->list[s->max + i].known = 0;
}

RELET_PRIVATE void rlt_script_words(const rlt_script *s, int whole,
                                    size_t keys, char digits[20],
                                    relet_span words[RLT_SCRIPT_WORDS])
{
    words[0] = relet_str(whole ? "EVAL" : "EVALSHA");
    words[1].p = whole ? s->body.p : s->sha;
    words[1].n = whole ? s->body.n : sizeof s->sha;
    words[2].p = digits;
    words[2].n = rlt_text_put_u64(digits, keys);
}

RELET_PRIVATE void rlt_script_whole(const rlt_script *s, relet_span evalsha,
                                    char head[RLT_SCRIPT_HEAD], size_t *cut,
                                    relet_span patch[RLT_SCRIPT_PATCHES])
{
    /* *5 CRLF $7 CRLF EVALSHA CRLF $40 CRLF sha CRLF, then the rest. The
     * count is copied, since the buffer that holds evalsha may move. */
    const char *end = (const char *)memchr(evalsha.p, '\n', evalsha.n);
    size_t count = (size_t)(end - evalsha.p) + 1;
    size_t n = count;

    rlt_assert(end != NULL);
    rlt_assert(count < RLT_SCRIPT_HEAD);
    *cut = count + strlen("$7\r\nEVALSHA\r\n$40\r\n") + sizeof s->sha + 2;
    rlt_assert(*cut < evalsha.n);
    memcpy(head, evalsha.p, count);
    n = rlt_span_put(head, n, relet_str("$4\r\nEVAL\r\n$"));
    n += rlt_text_put_u64(head + n, s->body.n);
    n = rlt_span_put(head, n, relet_str("\r\n"));
    rlt_assert(n <= RLT_SCRIPT_HEAD);
    patch[0].p = head;
    patch[0].n = n;
    patch[1] = s->body;
    patch[2] = relet_str("\r\n");
}
