/* SPDX-License-Identifier: MIT
 *
 * sha1.c - SHA-1, which gives the name by which EVALSHA knows a script.
 *
 * FIPS 180-4, a block at a time, with the schedule in 16 words. */

#include "sha1.h"

static uint32_t sha1_rotate(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

static uint32_t sha1_load(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
           (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/* The word for round i; the schedule needs only the 16 before it. */
static uint32_t sha1_word(uint32_t w[16], int i)
{
    if (i >= 16)
        w[i & 15] = sha1_rotate(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^
                                w[(i + 2) & 15] ^ w[i & 15], 1);
    return w[i & 15];
}

static uint32_t sha1_mix(int i, uint32_t b, uint32_t c, uint32_t d)
{
    if (i < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (i < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (i < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void sha1_block(uint32_t h[5], const uint8_t *p)
{
    uint32_t w[16], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], next;
    int i;

    for (i = 0; i < 16; i++)
        w[i] = sha1_load(p + 4 * i);
    for (i = 0; i < 80; i++) {
        next = sha1_rotate(a, 5) + sha1_mix(i, b, c, d) + e + sha1_word(w, i);
        e = d;
        d = c;
        c = sha1_rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

/* The end of the message, a one bit, zeros, and the length in bits, in one
 * block or two. */
static void sha1_last(uint32_t h[5], const uint8_t *p, size_t left, uint64_t n)
{
    uint8_t end[64];
    int i;

    memset(end, 0, sizeof end);
    if (left > 0)
        memcpy(end, p, left);
    end[left] = 0x80;
    if (left >= 56) {
        sha1_block(h, end);
        memset(end, 0, sizeof end);
    }
    for (i = 0; i < 8; i++)
        end[63 - i] = (uint8_t)(n * 8 >> 8 * i);
    sha1_block(h, end);
}

void rlt_sha1_hex(const void *p, size_t n, char out[40])
{
    static const char hex[17] = "0123456789abcdef";
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                     0xc3d2e1f0u};
    const uint8_t *bytes = (const uint8_t *)p;
    size_t left = n;
    int i;

    for (; left >= 64; left -= 64, bytes += 64)
        sha1_block(h, bytes);
    sha1_last(h, bytes, left, n);
    for (i = 0; i < 40; i++)
        out[i] = hex[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
}
