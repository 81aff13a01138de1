/* SPDX-License-Identifier: MIT
 *
 * slot_test.c - tests of a key's hash slot and of a redirect's address.
 */

#include "hashslot.h"
#include "text.h"

#include "greatest.h"

#define T_COUNT(a) (sizeof(a) / sizeof((a)[0]))

TEST keys_are_in_the_slots_that_servers_put_them_in(void)
{
    static const struct {
        relet_span key;
        int slot;
    } rows[] = {
        {{"", 0}, 0},
        {{"foo", 3}, 12182},
        {{"bar", 3}, 5061},
        {{"hello", 5}, 866},
        {{"123456789", 9}, 12739},
        {{"user1000", 8}, 3443},
        {{"{user1000}.following", 20}, 3443},
        {{"{user1000}.followers", 20}, 3443},
        {{"foo{}{bar}", 10}, 8363},   /* an empty tag: the whole key      */
        {{"foo{{bar}}zap", 13}, 4015}, /* the tag is {bar                  */
        {{"{bar", 4}, 4015},          /* no end: the whole key            */
        {{"foo{bar}{zap}", 13}, 5061}, /* the first tag counts             */
        {{"{}", 2}, 15257},
        {{"{", 1}, 4092},
        {{"}{a}", 4}, 15495},
        {{"a}b{c}d", 7}, 7365},
        {{"\x00\xff", 2}, 7920},
        {{"{orders}:1", 10}, 105},
        {{"orders", 6}, 105}};
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++)
        ASSERT_EQm(rows[i].key.p, rows[i].slot, rlt_hashslot_of(rows[i].key));
    PASS();
}

TEST a_null_span_is_the_empty_key(void)
{
    ASSERT_EQ(0, rlt_hashslot_of(relet_str(NULL)));
    PASS();
}

/* The CRC bit by bit, as its polynomial defines it. */
static unsigned t_crc(const uint8_t *p, size_t n)
{
    unsigned crc = 0;
    size_t i;
    int bit;

    for (i = 0; i < n; i++) {
        crc ^= (unsigned)p[i] << 8;
        for (bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
    }
    return crc;
}

TEST every_byte_counts_as_the_polynomial_says(void)
{
    uint8_t key[2];
    relet_span s;
    int a, b;

    s.p = (const char *)key;
    s.n = 2;
    for (a = 0; a < 256; a++)
        for (b = 0; b < 256; b++) {
            key[0] = (uint8_t)a;
            key[1] = (uint8_t)b;
            ASSERT_EQ(t_crc(key, 2) % 16384, rlt_hashslot_of(s));
        }
    PASS();
}

TEST redirects_say_where_to_go(void)
{
    static const struct {
        const char *text;
        rlt_redirect_kind kind;
        int slot;
        const char *host;
        int port;
    } rows[] = {
        {"MOVED 3999 127.0.0.1:6381", RLT_MOVED, 3999, "127.0.0.1", 6381},
        {"MOVED 3999 :6380", RLT_MOVED, 3999, "", 6380},
        {"MOVED 3999 2001:db8::1:6381", RLT_MOVED, 3999, "2001:db8::1", 6381},
        {"MOVED 3999 host.example:6381", RLT_MOVED, 3999, "host.example",
         6381},
        {"ASK 3999 127.0.0.1:6381", RLT_ASK, 3999, "127.0.0.1", 6381},
        {"MOVED 0 h:1", RLT_MOVED, 0, "h", 1},
        {"ASK 16383 h:65535", RLT_ASK, 16383, "h", 65535},
        {"REDIRECT 10.0.0.2:6379", RLT_REDIRECT, 0, "10.0.0.2", 6379}};
    rlt_redirect r;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        memset(&r, 0xa5, sizeof r);
        ASSERT_EQm(rows[i].text, 1,
                   rlt_hashslot_redirect(relet_str(rows[i].text), &r));
        ASSERT_EQm(rows[i].text, rows[i].kind, r.kind);
        ASSERT_EQm(rows[i].text, rows[i].slot, r.slot);
        ASSERTm(rows[i].text, rlt_span_is(r.host, rows[i].host));
        ASSERT_EQm(rows[i].text, rows[i].port, r.port);
    }
    PASS();
}

TEST a_malformed_redirect_is_no_redirect(void)
{
    static const char *const rows[] = {
        "", "MOVED", "MOVED ", "MOVED 16384 h:1", "MOVED -1 h:1",
        "MOVED +1 h:1", "MOVED x h:1", "MOVED 1", "MOVED 1 ", "MOVED 1 h",
        "MOVED 1 h:", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:+1",
        "MOVED 1 h:1x", "MOVED  1 h:1", "MOVED 1  h:1", "MOVED 1 h:1 ",
        "MOVED 1 h:1 x", "MOVED 1 a b:1", "MOVED 1 h\t:1", "MOVED 1 h\x7f:1",
        "MOVED 99999999999999999999 h:1", "MOVED 1 h:99999999999999999999",
        "moved 1 h:1", " MOVED 1 h:1", "ASKING 1 h:1", "MOVEDX 1 h:1",
        "ASK 16384 h:1", "ASK h:1", "REDIRECT", "REDIRECT ", "REDIRECT h",
        "REDIRECT 1 h:1", "REDIRECTED h:1", "TRYAGAIN Multiple keys request",
        "CLUSTERDOWN Hash slot not served", "ERR MOVED 1 h:1"};
    rlt_redirect r, before;
    size_t i;

    memset(&before, 0xa5, sizeof before);
    r = before;
    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i], 0, rlt_hashslot_redirect(relet_str(rows[i]), &r));
        ASSERT_EQm(rows[i], 0, memcmp(&r, &before, sizeof r));
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(keys_are_in_the_slots_that_servers_put_them_in);
    RUN_TEST(a_null_span_is_the_empty_key);
    RUN_TEST(every_byte_counts_as_the_polynomial_says);
    RUN_TEST(redirects_say_where_to_go);
    RUN_TEST(a_malformed_redirect_is_no_redirect);
    GREATEST_MAIN_END();
}
