/* SPDX-License-Identifier: MIT
 *
 * sha1_test.c - tests of SHA-1, the name of a script for EVALSHA.
 */

#include "sha1.h"

#include "greatest.h"

TEST the_published_vectors_hold(void)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"a", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "a49b2446a02c645bf419f995b67091253a04a259"},
        {"return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"}};
    char name[40];
    size_t i;

    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rlt_sha1_hex(rows[i].text, strlen(rows[i].text), name);
        ASSERT_EQm(rows[i].text, 0, memcmp(rows[i].name, name, 40));
    }
    PASS();
}

TEST a_million_bytes_have_their_published_name(void)
{
    static char text[1000000];
    char name[40];

    memset(text, 'a', sizeof text);
    rlt_sha1_hex(text, sizeof text, name);
    ASSERT_MEM_EQ("34aa973cd4c4daa4f61eeb2bdbad27316534016f", name, 40);
    PASS();
}

/* The padding depends on the length modulo 64, so this tests every length up to
 * a few blocks, by one digest of all their digests. */
TEST every_length_of_the_last_block_is_padded_right(void)
{
    static char names[201 * 40];
    char text[201], name[40];
    int i, n;

    for (n = 0; n <= 200; n++) {
        for (i = 0; i < n; i++)
            text[i] = (char)(i * 7 + n);
        rlt_sha1_hex(text, (size_t)n, names + 40 * n);
    }
    rlt_sha1_hex(names, sizeof names, name);
    ASSERT_MEM_EQ("d0e309f468a0878a44ed87773fee2c1cccba443f", name, 40);
    PASS();
}

TEST a_null_text_has_the_hash_of_the_empty_text(void)
{
    char name[40];

    rlt_sha1_hex(NULL, 0, name);
    ASSERT_MEM_EQ("da39a3ee5e6b4b0d3255bfef95601890afd80709", name, 40);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(the_published_vectors_hold);
    RUN_TEST(a_million_bytes_have_their_published_name);
    RUN_TEST(every_length_of_the_last_block_is_padded_right);
    RUN_TEST(a_null_text_has_the_hash_of_the_empty_text);
    GREATEST_MAIN_END();
}
