/* SPDX-License-Identifier: MIT
 *
 * script.c - scripts by their SHA-1, and whole where the server lacks them.
 *
 * A server's cache of scripts is its own: it is not replicated, and a restart
 * or SCRIPT FLUSH empties it. So a link sends each script whole the first
 * time, which loads it, and by its SHA-1 from then on; where the server does
 * not have the script, its NOSCRIPT makes the client send it whole again.
 *
 * The library's own scripts are packed. Each is unpacked where it is sent, in
 * the output, and its SHA-1 is computed there. */
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

/* The SHA-1 of one of the library's own scripts is computed when the script is
 * first sent. */
RELET_PRIVATE void rlt_scripts_own(rlt_scripts *s, uint32_t count)
{
    rlt_script *script;

    rlt_assert(count < sizeof script_text_places / sizeof *script_text_places);
    for (; s->own < count; s->own++) {
        script = &s->list[s->max + s->own];
        memset(script, 0, sizeof *script);
        script->body.n = script_text_places[s->own][1];
    }
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

    script.body = body;
    script.known = 0;
    rlt_sha1_hex(body.p, body.n, script.sha);
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

/* ------------------------------------------------ the library's own, packed */

/* The pairs and the texts of the part that a script belongs to. */
static const uint8_t *script_part(uint32_t own)
{
    const uint8_t *part = NULL;

#ifndef RELET_NO_QUEUE
    part = script_text_queue;
#endif
#ifndef RELET_NO_LEASE
    if (own < RLT_SCRIPTS_LEASE)
        part = script_text_lease;
#endif
    (void)own;
    return part;
}

/* A symbol has ten bits, so its bits are in two bytes. */
static uint32_t script_symbol(const uint8_t *part, uint32_t i)
{
    const uint8_t *p = part + i * 10 / 8;

    return ((uint32_t)p[0] | (uint32_t)p[1] << 8) >> i * 10 % 8 & 1023;
}

/* Writes the n bytes that the symbols from `at` on stand for. A symbol of 128
 * or more is a pair of symbols: the left one is unpacked first, and the right
 * one waits. */
static void script_unpack(const uint8_t *part, uint32_t at, uint8_t *out,
                          size_t n)
{
    uint32_t depth = 0, symbol, pair;
    uint16_t waiting[SCRIPT_TEXT_DEPTH];

    for (; n > 0; n--) {
        symbol = depth > 0 ? waiting[--depth] : script_symbol(part, at++);
        while (symbol >= 128) {
            pair = 2 * (symbol - 128);
            rlt_assert(depth < SCRIPT_TEXT_DEPTH);
            waiting[depth++] = (uint16_t)script_symbol(part, pair + 1);
            symbol = script_symbol(part, pair);
        }
        *out++ = (uint8_t)symbol;
    }
    rlt_assert(depth == 0);
}

/* The text stands behind *N, $4, EVAL and its length, each with CRLF. */
static uint8_t *script_gap(uint8_t *eval)
{
    int lines;

    for (lines = 0; lines < 4; lines++)
        eval = (uint8_t *)memchr(eval, '\n', 16) + 1;
    return eval;
}

RELET_PRIVATE void rlt_script_fill(rlt_scripts *s, uint32_t number,
                                   uint8_t *eval)
{
    rlt_script *script = &s->list[number];
    uint32_t own = number - s->max;

    rlt_assert(rlt_script_is_packed(script));
    rlt_assert(own < s->own);
    eval = script_gap(eval);
    script_unpack(script_part(own), script_text_places[own][0], eval,
                  script->body.n);
    if (script->sha[0] == '\0')
        rlt_sha1_hex(eval, script->body.n, script->sha);
}
