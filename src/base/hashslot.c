/* SPDX-License-Identifier: MIT
 *
 * hashslot.c - which hash slot a key is in, and where a redirect points.
 */

#include "hashslot.h"

#include "text.h"

/* CRC16/XMODEM: polynomial 0x1021, high bit first. It takes half a byte at a
 * time, with a table of 16 words instead of 256, because keys are short. */
static uint16_t hashslot_crc(relet_span s)
{
    static const uint16_t half[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    unsigned crc = 0, byte;
    size_t i;

    for (i = 0; i < s.n; i++) {
        byte = (uint8_t)s.p[i];
        crc = (crc << 4 ^ half[(crc >> 12 ^ byte >> 4) & 15]) & 0xffff;
        crc = (crc << 4 ^ half[(crc >> 12 ^ byte) & 15]) & 0xffff;
    }
    return (uint16_t)crc;
}

uint16_t rlt_hashslot_of(relet_span key)
{
    relet_span rest = key, tag;

    (void)rlt_span_cut(&rest, '{');
    tag = rlt_span_cut(&rest, '}');
    if (rest.p != NULL && tag.n > 0)
        key = tag;
    return hashslot_crc(key) % RLT_HASHSLOTS;
}

/* The first byte must be a digit, so that a sign or a second blank fails. */
static int hashslot_number(relet_span s, int64_t min, int64_t max, int64_t *out)
{
    return s.n > 0 && s.p[0] >= '0' && s.p[0] <= '9' &&
           rlt_text_int(s.p, s.n, out) && *out >= min && *out <= max;
}

/* host:port. The host may be IPv6, so the last colon is the separator. */
static int hashslot_address(relet_span s, rlt_redirect *out)
{
    relet_span port;
    int64_t number;
    size_t i, at = s.n;

    for (i = 0; i < s.n; i++) {
        if ((uint8_t)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return 0;
        if (s.p[i] == ':')
            at = i;
    }
    if (at == s.n)
        return 0;
    port.p = s.p + at + 1;
    port.n = s.n - at - 1;
    if (!hashslot_number(port, 1, 65535, &number))
        return 0;
    out->host.p = s.p;
    out->host.n = at;
    out->port = (int)number;
    return 1;
}

int rlt_hashslot_redirect(relet_span error_text, rlt_redirect *out)
{
    relet_span rest = error_text;
    rlt_redirect r;
    int64_t slot = 0;

    memset(&r, 0, sizeof r);
    if (rlt_span_eat(&rest, "MOVED "))
        r.kind = RLT_MOVED;
    else if (rlt_span_eat(&rest, "ASK "))
        r.kind = RLT_ASK;
    else if (rlt_span_eat(&rest, "REDIRECT "))
        r.kind = RLT_REDIRECT;
    else
        return 0;
    if (r.kind != RLT_REDIRECT &&
        !hashslot_number(rlt_span_cut(&rest, ' '), 0, RLT_HASHSLOTS - 1, &slot))
        return 0;
    if (!hashslot_address(rest, &r))
        return 0;
    r.slot = (uint16_t)slot;
    *out = r;
    return 1;
}
