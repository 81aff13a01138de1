/* SPDX-License-Identifier: MIT
 *
 * config_test.c - tests of settings: defaults, reading from text, checks, and
 * writing back to text.
 */

#include "url_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "greatest.h"

#define T_COUNT(a) (sizeof(a) / sizeof((a)[0]))

static relet_fault t_fault;

static void *t_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)p;
    (void)old_size;
    (void)new_size;
    return NULL;
}

/* The defaults of a client with an allocator. */
static relet_config t_default(void)
{
    relet_config c;

    relet_config_init(&c);
    c.resize = t_resize;
    return c;
}

static int t_url(relet_config *c, const char *url)
{
    *c = t_default();
    memset(&t_fault, 0, sizeof t_fault);
    return relet_config_url(c, url, &t_fault);
}

/* Pairs of name and value, ending in NULL. */
static const char *t_get(void *user, const char *name)
{
    const char *const *pairs = (const char *const *)user;

    for (; pairs[0] != NULL; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return NULL;
}

static int t_check(const relet_config *c)
{
    memset(&t_fault, 0, sizeof t_fault);
    return relet_config_check(c, &t_fault);
}

/* ---------------------------------------------------------------- defaults */

TEST the_defaults_pass_the_check(void)
{
    relet_config c = t_default();

    ASSERT_EQm(t_fault.text, 0, t_check(&c));
    ASSERT_EQ(RELET_TCP, c.scheme);
    ASSERT_STR_EQ("localhost", c.host);
    ASSERT_EQ(6379, c.port);
    ASSERT_EQ(0, c.db);
    ASSERT_EQ(5000, c.timeout_ms);
    ASSERT_EQ((uint32_t)512 << 20, c.bulk_max);
    PASS();
}

TEST the_small_defaults_need_no_allocator(void)
{
    relet_config c;

    relet_config_init_small(&c);
    ASSERT_EQ(NULL, c.resize);
    ASSERT_EQm(t_fault.text, 0, t_check(&c));
    ASSERT(c.output_max + c.reply_max + c.tape_max <= 3072);
    PASS();
}

TEST wiping_leaves_nothing_of_the_password(void)
{
    relet_config c = t_default();
    size_t i;

    memset(c.password, 'x', sizeof c.password);
    relet_config_wipe(&c);
    for (i = 0; i < sizeof c.password; i++)
        ASSERT_EQ(0, c.password[i]);
    ASSERT_STR_EQ("localhost", c.host);
    PASS();
}

/* --------------------------------------------------------------------- url */

/* Each URL stands beside the plainest URL with the same meaning. */
TEST every_form_of_a_url_is_understood(void)
{
    static const struct {
        const char *url, *plain;
    } rows[] = {
        {"redis://h", "redis://h:6379"},
        {"redis://h/", "redis://h:6379"},
        {"REDIS://h", "redis://h:6379"},
        {"valkey://h", "redis://h:6379"},
        {"rediss://h", "rediss://h:6379"},
        {"valkeys://h:1", "rediss://h:1"},
        {"redis://h:65535", "redis://h:65535"},
        {"redis://h:007", "redis://h:7"},
        {"redis://h/3", "redis://h:6379?db=3"},
        {"redis://h/?db=3", "redis://h:6379?db=3"},
        {"redis://h?db=3", "redis://h:6379?db=3"},
        {"redis://h/0", "redis://h:6379"},
        {"redis://h:7/2147483647", "redis://h:7?db=2147483647"},
        {"redis://127.0.0.1:1", "redis://127.0.0.1:1"},
        {"redis://a-b.c_d~e", "redis://a-b.c_d~e:6379"},
        {"redis://%68ost", "redis://host:6379"},
        {"redis://[::1]", "redis://[::1]:6379"},
        {"redis://[2001:DB8::1]:7/1", "redis://[2001:DB8::1]:7?db=1"},
        {"redis://[::ffff:10.0.0.1]:7", "redis://[::ffff:10.0.0.1]:7"},
        {"redis://[fe80::1%25eth0]:7", "redis://[fe80::1%25eth0]:7"},
        {"redis://:secret@h", "redis://:secret@h:6379"},
        {"redis://me:secret@h", "redis://me:secret@h:6379"},
        {"redis://me:a:b@h", "redis://me:a%3Ab@h:6379"},
        {"redis://m%40e:%2f%3f%23%25%20@h",
         "redis://m%40e:%2F%3F%23%25%20@h:6379"},
        {"redis://:p\xc3\xa9@h", "redis://:p%C3%A9@h:6379"},
        {"unix:/run/redis.sock", "unix:///run/redis.sock"},
        {"unix:///run/redis.sock", "unix:///run/redis.sock"},
        {"unix:///run/a%20b?db=2", "unix:///run/a%20b?db=2"},
        {"unix:/run/redis.sock?db=2", "unix:///run/redis.sock?db=2"},
        {"unix:////run//s", "unix:////run//s"},
        {"unix://:secret@/run/s", "unix://:secret@/run/s"},
        {"unix://me:secret@/s?name=n", "unix://me:secret@/s?name=n"},
        {"unix:@redis", "unix://%40redis"},
        {"unix:%40redis", "unix://%40redis"},
        {"unix://:secret@%40redis", "unix://:secret@%40redis"},
        {"unix:/a@b:c", "unix:///a%40b%3Ac"},
        {"sentinel://a/main", "sentinel://a/main"},
        {"sentinel://a:1,b,[::1]:3,[::2]/main",
         "sentinel://a:1,b,[::1]:3,[::2]/main"},
        {"sentinel://a:01/main/4", "sentinel://a:1/main?db=4"},
        {"sentinel://a/main/", "sentinel://a/main"},
        {"sentinel://me:secret@a,b/my%2fmain/4?name=n",
         "sentinel://me:secret@a,b/my%2Fmain?name=n&db=4"},
        {"cluster://a", "cluster://a"},
        {"cluster://a:1,b:2/", "cluster://a:1,b:2"},
        {"cluster://:secret@a,[::1]:2?name=n",
         "cluster://:secret@a,[::1]:2?name=n"},
        {"mem:", "mem:"},
        {"mem:one", "mem:one"},
        {"mem:one?db=1", "mem:one?db=1"},
        {"mem:?db=1", "mem:?db=1"},
        {"file:data", "file:data"},
        {"file:/var/a%20b", "file:/var/a%20b"},
        {"redis://h?name=worker-1&prefix=a%20b%26c",
         "redis://h:6379?name=worker-1&prefix=a%20b%26c"},
        {"redis://h?name=&prefix=", "redis://h:6379"},
        {"redis://h?timeout_ms=1&connect_timeout_ms=2&ping_every_ms=0",
         "redis://h:6379?connect_timeout_ms=2&timeout_ms=1&ping_every_ms=0"},
        {"redis://h?retry_max_ms=50&retry_min_ms=1&attempts_max=9",
         "redis://h:6379?retry_min_ms=1&retry_max_ms=50&attempts_max=9"},
        {"redis://h?fail_fast=1", "redis://h:6379?fail_fast=1"},
        {"redis://h?fail_fast=0&tracking=off", "redis://h:6379"},
        {"redis://h?tracking=read", "redis://h:6379?tracking=read"},
        {"redis://h?tracking=optin", "redis://h:6379?tracking=optin"},
        {"redis://h?tracking=broadcast", "redis://h:6379?tracking=broadcast"},
    };
    static char text[T_URL_MAX];
    relet_config c, again;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i].url, 0, t_url(&c, rows[i].url));
        ASSERT_EQm(rows[i].url, 0, t_check(&c));
        ASSERT_EQ(0, t_url_text(&c, 1, text, sizeof text));
        ASSERT_STR_EQ(rows[i].plain, text);
        ASSERT_EQm(text, 0, t_url(&again, text));
        ASSERT_EQm(text, 0, memcmp(&c, &again, sizeof c));
    }
    PASS();
}

TEST the_parts_of_a_url_land_in_their_fields(void)
{
    relet_config c;

    ASSERT_EQ(0, t_url(&c, "valkeys://m%20e:p%40ss@[::1]:7/3?name=n") + 1);
    ASSERT_EQ(0, t_url(&c, "valkeys://me:p%40ss@[::1%25lo]:7/3?name=n"
                           "&prefix=x:&fail_fast=1&timeout_ms=9"));
    ASSERT_EQ(RELET_TLS, c.scheme);
    ASSERT_STR_EQ("me", c.user);
    ASSERT_STR_EQ("p@ss", c.password);
    ASSERT_STR_EQ("::1%lo", c.host);
    ASSERT_EQ(7, c.port);
    ASSERT_EQ(3, c.db);
    ASSERT_STR_EQ("n", c.name);
    ASSERT_STR_EQ("x:", c.prefix);
    ASSERT_EQ(1, c.fail_fast);
    ASSERT_EQ(9, c.timeout_ms);
    ASSERT_EQ(0, t_url(&c, "sentinel://a:1,[::1]/main/2"));
    ASSERT_EQ(RELET_SENTINEL, c.scheme);
    ASSERT_STR_EQ("a:1,[::1]", c.host);
    ASSERT_STR_EQ("main", c.service);
    ASSERT_EQ(2, c.db);
    ASSERT_EQ(0, t_url(&c, "unix://:p@%40x?db=5"));
    ASSERT_EQ(RELET_UNIX, c.scheme);
    ASSERT_STR_EQ("@x", c.host);
    ASSERT_EQ(5, c.db);
    PASS();
}

TEST a_url_leaves_settings_it_does_not_mention_as_they_are(void)
{
    relet_config c = t_default();

    c.port = 7;
    c.db = 5;
    memcpy(c.user, "me", 3);
    memcpy(c.password, "old", 4);
    ASSERT_EQ(0, relet_config_url(&c, "redis://h", NULL));
    ASSERT_EQ(7, c.port);
    ASSERT_EQ(5, c.db);
    ASSERT_STR_EQ("me", c.user);
    ASSERT_STR_EQ("old", c.password);
    PASS();
}

TEST ports_in_a_list_are_not_the_port(void)
{
    static const char *const pairs[] = {"REDIS_SENTINEL_HOST", "s",
                                        "REDIS_SENTINEL_PORT", "7", NULL};
    const char *const *p = pairs;
    relet_config c;
    char *user;

    ASSERT_EQ(0, t_url(&c, "cluster://a:1,b:2"));
    ASSERT_EQ(6379, c.port);
    memcpy(&user, &p, sizeof user);
    ASSERT_EQ(0, relet_config_env_from(&c, "", t_get, user, NULL));
    ASSERT_STR_EQ("s:7", c.host);
    ASSERT_EQ(6379, c.port);
    PASS();
}

TEST a_password_alone_replaces_the_user_too(void)
{
    relet_config c = t_default();

    memcpy(c.user, "me", 3);
    memcpy(c.password, "a much longer one", 18);
    ASSERT_EQ(0, relet_config_url(&c, "redis://:new@h", NULL));
    ASSERT_STR_EQ("", c.user);
    ASSERT_STR_EQ("new", c.password);
    ASSERT_EQ(0, c.password[8]); /* the rest of the old one is wiped  */
    PASS();
}

TEST a_bad_url_is_refused_where_it_first_goes_wrong(void)
{
    static const struct {
        const char *url;
        size_t offset;
        const char *why;
    } rows[] = {
        {"", 0, "scheme"},
        {":", 0, "scheme"},
        {"redi", 0, "scheme"},
        {"http://h", 0, "scheme"},
        {" redis://h", 0, "scheme"},
        {"redis", 5, "missing"},
        {"redis:", 6, "//"},
        {"redis:h", 6, "//"},
        {"redis:/h", 6, "//"},
        {"redis://", 8, "host is empty"},
        {"redis:///", 8, "host is empty"},
        {"redis:///0", 8, "host is empty"},
        {"redis://?db=1", 8, "host is empty"},
        {"redis://:6379", 8, "host is empty"},
        {"redis://:secret@", 16, "host is empty"},
        {"redis://:secret@:1", 16, "host is empty"},
        {"redis://me@h", 10, "needs a password"},
        {"redis://@h", 8, "needs a password"},
        {"redis://:@h", 9, "password is empty"},
        {"redis://me:@h", 11, "password is empty"},
        {"redis://:a@b@h", 12, "host"},
        {"redis://:a%4@h", 10, "escape"},
        {"redis://:a%@h", 10, "escape"},
        {"redis://:a%zz@h", 10, "escape"},
        {"redis://:a%g0@h", 10, "escape"},
        {"redis://:a%00@h", 10, "control"},
        {"redis://:a%0a@h", 10, "control"},
        {"redis://:a%7f@h", 10, "control"},
        {"redis://:a\nb@h", 10, "control"},
        {"redis://:a\x7f@h", 10, "control"},
        {"redis://:a b@h", 10, "%20"},
        {"redis://:a#b@h", 10, "%23"},
        {"redis://m%20e:a@h", 9, "blank"},
        {"redis://h h", 9, "%20"},
        {"redis://h\t", 9, "control"},
        {"redis://h,i", 9, "host"},
        {"redis://h%2fi", 9, "host"},
        {"redis://h\xc3\xa9", 9, "host"},
        {"redis://h:", 10, "port is empty"},
        {"redis://h:/0", 10, "port is empty"},
        {"redis://h:x", 10, "port is not a number"},
        {"redis://h:1x", 11, "port is not a number"},
        {"redis://h:-1", 10, "port is not a number"},
        {"redis://h:+1", 10, "port is not a number"},
        {"redis://h:0", 10, "port 0 is under 1"},
        {"redis://h:65536", 10, "port 65536 is over 65535"},
        {"redis://h:99999999999999999999", 10, "is over 65535"},
        {"redis://::1", 8, "brackets"},
        {"redis://fe80::1:6379", 8, "brackets"},
        {"redis://[::1", 8, "bracket"},
        {"redis://[::1/0", 8, "bracket"},
        {"redis://[]", 9, "host is empty"},
        {"redis://[h]", 9, "IPv6"},
        {"redis://[1.2.3.4]", 9, "IPv6"},
        {"redis://[::g]", 11, "host"},
        {"redis://[::1]x", 13, "port"},
        {"redis://[::1]]:1", 13, "port"},
        {"redis://[::1]:", 14, "port is empty"},
        {"redis://[fe80::1%eth0]", 16, "zone"},
        {"redis://[fe80::1%2eth0]", 16, "zone"},
        {"redis://[fe80::1%25]", 16, "zone"},
        {"redis://[fe80::1%25%2f]", 19, "host"},
        {"redis://[fe80::1%25e/]", 8, "bracket"},
        {"redis://h/x", 10, "db is not a number"},
        {"redis://h/1/", 11, "db is not a number"},
        {"redis://h/1/2", 11, "db is not a number"},
        {"redis://h//1", 10, "db is not a number"},
        {"redis://h/-1", 10, "db is not a number"},
        {"redis://h/2147483648", 10, "db 2147483648 is over"},
        {"redis://h/1#x", 11, "db is not a number"},
        {"redis://h#x", 9, "%23"},
        {"redis://h?", 10, "empty"},
        {"redis://h?&db=1", 10, "empty"},
        {"redis://h?db=1&", 15, "empty"},
        {"redis://h?db=1&&name=x", 15, "empty"},
        {"redis://h?=1", 10, "empty"},
        {"redis://h?db", 12, "db has no value"},
        {"redis://h?db&name=x", 12, "db has no value"},
        {"redis://h?db=", 13, "db is empty"},
        {"redis://h?db=x", 13, "db is not a number"},
        {"redis://h?db=1=2", 14, "db is not a number"},
        {"redis://h?db=1?name=x", 14, "db is not a number"},
        {"redis://h?db=1&db=1", 15, "option db is repeated"},
        {"redis://h/1?db=1", 12, "option db is repeated"},
        {"redis://h?name=a&db=1&name=a", 22, "option name is repeated"},
        {"redis://h?DB=1", 10, "option DB is not known"},
        {"redis://h?dbx=1", 10, "option dbx is not known"},
        {"redis://h?d=1", 10, "option d is not known"},
        {"redis://h?host=x", 10, "option host is not known"},
        {"redis://h?password=x", 10, "option password is not known"},
        {"redis://h?stable_ms=1", 10, "option stable_ms is not known"},
        {"redis://h?seed=1", 10, "option seed is not known"},
        {"redis://h?%64b=1", 10, "option %64b is not known"},
        {"redis://h?timeout_ms=0", 21, "timeout_ms 0 is under 1"},
        {"redis://h?timeout_ms=1s", 22, "timeout_ms is not a number"},
        {"redis://h?timeout_ms=1000000000001", 21, "is over 1000000000000"},
        {"redis://h?retry_min_ms=0", 23, "retry_min_ms 0 is under 1"},
        {"redis://h?fail_fast=2", 20, "fail_fast 2 is over 1"},
        {"redis://h?fail_fast=yes", 20, "fail_fast is not a number"},
        {"redis://h?tracking=on", 19, "tracking is off, read"},
        {"redis://h?tracking=", 19, "tracking is off, read"},
        {"redis://h?tracking=READ", 19, "tracking is off, read"},
        {"redis://h?name=a%20b", 16, "name may not have a blank"},
        {"redis://h?name=a b", 16, "%20"},
        {"redis://h?name=a%c3%a9", 16, "name may have ASCII only"},
        {"redis://h?prefix=a%1f", 18, "prefix may not have a control"},
        {"redis://h?prefix=a#b", 18, "%23"},
        {"unix:", 5, "begins with"},
        {"unix:s", 5, "begins with"},
        {"unix:?db=1", 5, "begins with"},
        {"unix:/", 5, "has a name"},
        {"unix:@", 5, "has a name"},
        {"unix:%zz", 5, "escape"},
        {"unix:%2", 5, "escape"},
        {"unix: /s", 5, "%20"},
        {"unix:/a b", 7, "%20"},
        {"unix:/a%00", 7, "control"},
        {"unix://h/s", 7, "begins with"},
        {"unix://me@/s", 9, "needs a password"},
        {"unix://@s", 7, "needs a password"},
        {"unix://:p@", 10, "begins with"},
        {"unix://:p@s/t", 10, "begins with"},
        {"sentinel:a/main", 9, "//"},
        {"sentinel://", 11, "host is empty"},
        {"sentinel:///main", 11, "host is empty"},
        {"sentinel://a", 12, "service is empty"},
        {"sentinel://a/", 13, "service is empty"},
        {"sentinel://a//1", 13, "service is empty"},
        {"sentinel://a?db=1", 12, "service is empty"},
        {"sentinel://a,/main", 13, "host is empty"},
        {"sentinel://,a/main", 11, "host is empty"},
        {"sentinel://a,,b/main", 13, "host is empty"},
        {"sentinel://a:0/main", 13, "port 0 is under 1"},
        {"sentinel://a,b:70000/main", 15, "port 70000 is over 65535"},
        {"sentinel://a,::1/main", 13, "brackets"},
        {"sentinel://a,[::1/main", 13, "bracket"},
        {"sentinel://a/ma%20in", 15, "service may not have a blank"},
        {"sentinel://a/main/x", 18, "db is not a number"},
        {"sentinel://a/main/1/2", 19, "db is not a number"},
        {"cluster://", 10, "host is empty"},
        {"cluster://a,b:x", 14, "port is not a number"},
        {"cluster://a/0", 12, "nothing may follow"},
        {"mem://x", 4, "host"},
        {"mem:a/b", 5, "host"},
        {"mem:a%20", 5, "host"},
        {"file:", 5, "path is empty"},
        {"file:?db=1", 5, "path is empty"},
        {"file://a", 5, "without //"},
        {"file:/%2fa", 5, "without //"},
        {"file:a%0a", 6, "control"},
    };
    relet_config c, before = t_default();
    char start[40];
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i].url, RELET_E_CONFIG, t_url(&c, rows[i].url));
        ASSERT_EQm(rows[i].url, 0, memcmp(&c, &before, sizeof c));
        ASSERT_EQm(rows[i].url, RELET_E_CONFIG, t_fault.code);
        ASSERT_STR_EQm(rows[i].url, "url", t_fault.field);
        ASSERT_EQ_FMTm(rows[i].url, rows[i].offset, t_fault.offset, "%zu");
        ASSERTm(t_fault.text, strstr(t_fault.text, rows[i].why) != NULL);
        (void)snprintf(start, sizeof start, "url: at byte %u: ",
                       (unsigned)rows[i].offset);
        ASSERTm(t_fault.text,
                strncmp(t_fault.text, start, strlen(start)) == 0);
    }
    PASS();
}

/* Returns head, n times 'x', and tail as one text. */
static const char *t_long(const char *head, size_t n, const char *tail)
{
    static char url[16384];

    memcpy(url, head, strlen(head));
    memset(url + strlen(head), 'x', n);
    memcpy(url + strlen(head) + n, tail, strlen(tail) + 1);
    return url;
}

TEST a_part_that_is_too_long_is_refused_at_its_first_byte_too_many(void)
{
    static const struct {
        const char *head, *tail;
        size_t most;
    } rows[] = {{"redis://", ":1", 1023},
                {"redis://", ":p@h", 255},
                {"redis://:", "@h", 4095},
                {"redis://h?name=", "", 63},
                {"redis://h?prefix=", "&db=1", 63},
                {"sentinel://h/", "/1", 127},
                {"cluster://a,", "", 1021},
                {"mem:", "", 1023},
                {"file:", "?db=1", 1023}};
    relet_config c;
    size_t i;

    for (i = 0; i < T_COUNT(rows); i++) {
        ASSERT_EQm(rows[i].head, 0,
                   t_url(&c, t_long(rows[i].head, rows[i].most,
                                    rows[i].tail)));
        ASSERT_EQm(rows[i].head, RELET_E_CONFIG,
                   t_url(&c, t_long(rows[i].head, rows[i].most + 1,
                                    rows[i].tail)));
        ASSERT_EQm(t_fault.text, strlen(rows[i].head) + rows[i].most,
                   t_fault.offset);
        ASSERTm(t_fault.text, strstr(t_fault.text, " is longer than "));
    }
    PASS();
}

TEST a_socket_path_has_room_in_its_address(void)
{
    relet_config c;

    ASSERT_EQ(0, t_url(&c, t_long("unix:/", 106, "")));
    ASSERT_EQ(RELET_E_CONFIG, t_url(&c, t_long("unix:/", 107, "")));
    ASSERT_EQ(5, t_fault.offset);
    ASSERT(strstr(t_fault.text, "107 bytes"));
    PASS();
}

TEST a_list_that_only_its_ports_make_too_long_is_refused(void)
{
    relet_config c;

    ASSERT_EQ(0, t_url(&c, t_long("cluster://", 1018, ":1234")));
    ASSERT_EQ(RELET_E_CONFIG, t_url(&c, t_long("cluster://", 1019, ":1234")));
    ASSERT_EQ(0, t_url(&c, t_long("cluster://", 1021, ",b")));
    ASSERT_EQ(RELET_E_CONFIG, t_url(&c, t_long("cluster://", 1023, ",b")));
    PASS();
}

TEST a_fault_text_does_not_repeat_a_possible_password(void)
{
    static const char *const urls[] = {
        "redis://:hunter2", "redis://me:hunter2/x@h", "redis://:hunter2?@h",
        "redis://:hunter2%@h", "redis://:hunter2#@h", "hunter2",
        "redis://hunter2@h", "redis://[hunter2@h"};
    relet_config c;
    size_t i;

    for (i = 0; i < T_COUNT(urls); i++) {
        ASSERT_EQm(urls[i], RELET_E_CONFIG, t_url(&c, urls[i]));
        ASSERTm(t_fault.text, strstr(t_fault.text, "hunter2") == NULL);
    }
    PASS();
}

TEST a_long_fault_ends_in_its_text(void)
{
    relet_config c;

    ASSERT_EQ(RELET_E_CONFIG, t_url(&c, t_long("redis://h?", 2000, "=1")));
    ASSERT_EQ(sizeof t_fault.text - 1, strlen(t_fault.text));
    PASS();
}

TEST the_fault_argument_may_be_null(void)
{
    relet_config c = t_default();

    ASSERT_EQ(RELET_E_CONFIG, relet_config_url(&c, "redis://", NULL));
    c.port = 0;
    ASSERT_EQ(RELET_E_CONFIG, relet_config_check(&c, NULL));
    c = t_default();
    memcpy(c.host, "a b", 4);
    ASSERT_EQ(RELET_E_CONFIG, relet_config_check(&c, NULL));
    PASS();
}

TEST a_url_can_be_shown_without_its_password(void)
{
    char text[64];
    relet_config c;

    ASSERT_EQ(0, t_url(&c, "redis://me:secret@h:1"));
    ASSERT_EQ(0, t_url_text(&c, 0, text, sizeof text));
    ASSERT_STR_EQ("redis://me:***@h:1", text);
    PASS();
}

TEST a_url_that_does_not_fit_is_cut_and_reported(void)
{
    char text[64];
    relet_config c;

    ASSERT_EQ(0, t_url(&c, "redis://host:1234"));
    ASSERT_EQ(RELET_E_LIMIT, t_url_text(&c, 1, text, 10));
    ASSERT_STR_EQ("redis://h", text);
    PASS();
}

/* ------------------------------------------------------------- environment */

/* Returns the environment's meaning as a URL, or the sentence of its fault. */
static const char *t_env(const char *scope, const char *const *pairs)
{
    static char text[T_URL_MAX];
    relet_config c = t_default(), before = t_default();
    char *user;
    int err;

    memcpy(&user, &pairs, sizeof user);
    err = relet_config_env_from(&c, scope, t_get, user, &t_fault);
    if (err != 0)
        return memcmp(&c, &before, sizeof c) == 0 ? t_fault.text : "touched";
    (void)t_url_text(&c, 1, text, sizeof text);
    return text;
}

#define T_ROW(scope, expected, ...) \
    do { \
        static const char *const pairs[] = {__VA_ARGS__, NULL}; \
        ASSERT_STR_EQ(expected, t_env(scope, pairs)); \
    } while (0)

TEST an_environment_without_settings_changes_nothing(void)
{
    T_ROW("", "redis://localhost:6379", "HOME", "/");
    T_ROW(NULL, "redis://localhost:6379", "HOME", "/");
    T_ROW("MUTEX_", "redis://localhost:6379", "REDIS", "x");
    PASS();
}

TEST an_empty_variable_counts_as_not_set(void)
{
    T_ROW("", "redis://localhost:6379", "REDIS_URL", "", "REDIS_HOST", "",
          "REDIS_PASSWORD", "");
    T_ROW("M_", "redis://h:6379", "M_REDIS_HOST", "", "REDIS_HOST", "h");
    PASS();
}

TEST each_variable_sets_its_part(void)
{
    T_ROW("", "redis://h:7", "REDIS_URL", "redis://h:7");
    T_ROW("", "redis://h:6379", "REDIS_HOST", "h");
    T_ROW("", "redis://h:7", "REDIS_HOST", "h", "REDIS_PORT", "7");
    T_ROW("", "redis://localhost:7", "REDIS_PORT", "7");
    T_ROW("", "redis://[::1]:6379", "REDIS_HOST", "::1");
    T_ROW("", "redis://localhost:6379?db=4", "REDIS_DB", "4");
    T_ROW("", "redis://localhost:6379?prefix=x%25", "REDIS_PREFIX", "x%");
    T_ROW("", "redis://:p%2540%20@localhost:6379", "REDIS_PASSWORD", "p%40 ");
    T_ROW("", "redis://me:p@localhost:6379", "REDIS_USERNAME", "me",
          "REDIS_PASSWORD", "p");
    T_ROW("", "sentinel://s/main", "REDIS_SENTINEL_HOST", "s",
          "REDIS_SENTINEL_NAME", "main");
    T_ROW("", "sentinel://s:1,t:2,[::1]:1/main", "REDIS_SENTINEL_HOST",
          "s,t:2,[::1]", "REDIS_SENTINEL_PORT", "1", "REDIS_SENTINEL_NAME",
          "main");
    PASS();
}

TEST scoped_variables_beat_generic_ones(void)
{
    T_ROW("M_", "redis://a:6379", "M_REDIS_HOST", "a", "REDIS_HOST", "b");
    T_ROW("M_", "redis://b:6379", "REDIS_HOST", "b");
    T_ROW("M_", "redis://b:7", "REDIS_HOST", "b", "M_REDIS_PORT", "7",
          "REDIS_PORT", "8");
    T_ROW("M_", "redis://a:1?db=2", "M_REDIS_URL", "redis://a:1",
          "REDIS_URL", "redis://b:9/9", "M_REDIS_DB", "2", "REDIS_DB", "3");
    T_ROW("M_", "redis://a:6379?prefix=x", "M_REDIS_HOST", "a",
          "M_REDIS_PREFIX", "x", "REDIS_PREFIX", "y");
    PASS();
}

TEST a_scoped_url_beats_a_generic_sentinel(void)
{
    T_ROW("M_", "redis://a:1", "M_REDIS_URL", "redis://a:1",
          "REDIS_SENTINEL_HOST", "s", "REDIS_SENTINEL_NAME", "main",
          "REDIS_HOST", "b");
    PASS();
}

TEST in_one_scope_a_sentinel_beats_a_host_and_a_host_beats_a_url(void)
{
    T_ROW("M_", "redis://b:6379", "M_REDIS_URL", "redis://:p@a:1/2",
          "M_REDIS_HOST", "b");
    T_ROW("", "sentinel://s/main", "REDIS_URL", "redis://:p@a:1/2",
          "REDIS_HOST", "b", "REDIS_PORT", "7", "REDIS_SENTINEL_HOST", "s",
          "REDIS_SENTINEL_NAME", "main");
    PASS();
}

TEST a_scoped_password_beats_a_generic_one(void)
{
    T_ROW("M_", "redis://:url@a:1", "M_REDIS_URL", "redis://:url@a:1",
          "REDIS_PASSWORD", "generic");
    T_ROW("M_", "redis://:scoped@a:1", "M_REDIS_URL", "redis://:url@a:1",
          "M_REDIS_PASSWORD", "scoped");
    T_ROW("M_", "redis://:generic@a:1", "REDIS_URL", "redis://:url@a:1",
          "REDIS_PASSWORD", "generic");
    PASS();
}

TEST a_port_variable_beside_a_url_variable_is_ignored(void)
{
    T_ROW("", "redis://a:1", "REDIS_URL", "redis://a:1", "REDIS_PORT",
          "tcp://10.0.0.1:6379");
    PASS();
}

TEST a_host_keeps_tls_when_it_was_chosen(void)
{
    static const char *const pairs[] = {"REDIS_HOST", "h", NULL};
    relet_config c = t_default();
    const char *const *p = pairs;
    char *user;

    memcpy(&user, &p, sizeof user);
    c.scheme = RELET_TLS;
    ASSERT_EQ(0, relet_config_env_from(&c, "", t_get, user, NULL));
    ASSERT_EQ(RELET_TLS, c.scheme);
    c.scheme = RELET_CLUSTER;
    ASSERT_EQ(0, relet_config_env_from(&c, "", t_get, user, NULL));
    ASSERT_EQ(RELET_TCP, c.scheme);
    PASS();
}

TEST a_bad_variable_is_named(void)
{
    T_ROW("M_", "M_REDIS_PORT: at byte 0: port 70000 is over 65535",
          "M_REDIS_PORT", "70000");
    ASSERT_STR_EQ("port", t_fault.field);
    T_ROW("M_", "REDIS_DB: at byte 1: db is not a number", "REDIS_DB", "1x");
    T_ROW("", "REDIS_URL: at byte 8: host is empty", "REDIS_URL", "redis://");
    ASSERT_STR_EQ("url", t_fault.field);
    ASSERT_EQ(8, t_fault.offset);
    T_ROW("M_", "M_REDIS_URL: at byte 8: host is empty", "M_REDIS_URL",
          "redis://");
    T_ROW("M_", "M_REDIS_DB: at byte 0: db is not a number", "M_REDIS_DB",
          "x");
    T_ROW("", "REDIS_HOST: at byte 1: host may not have this byte",
          "REDIS_HOST", "a/b");
    T_ROW("", "REDIS_HOST: at byte 0: not an IPv6 address", "REDIS_HOST",
          "a:1");
    T_ROW("", "REDIS_SENTINEL_PORT: at byte 0: port 0 is under 1",
          "REDIS_SENTINEL_HOST", "a", "REDIS_SENTINEL_PORT", "0");
    T_ROW("", "REDIS_SENTINEL_HOST: at byte 2: host is empty",
          "REDIS_SENTINEL_HOST", "a,");
    T_ROW("", "REDIS_SENTINEL_NAME: at byte 1: service may not have a blank",
          "REDIS_SENTINEL_HOST", "a", "REDIS_SENTINEL_NAME", "a b");
    T_ROW("", "REDIS_USERNAME: at byte 1: user may not have a blank",
          "REDIS_USERNAME", "a b");
    T_ROW("", "REDIS_PASSWORD: at byte 1: password may not have a control "
              "byte", "REDIS_PASSWORD", "a\nb");
    PASS();
}

TEST a_scope_that_is_too_long_is_refused(void)
{
    static const char *const pairs[] = {"REDIS_HOST", "h", NULL};

    ASSERT_STR_EQ("scope is longer than 64 bytes",
                  t_env(t_long("", 65, ""), pairs));
    ASSERT_STR_EQ("redis://h:6379", t_env(t_long("", 64, ""), pairs));
    PASS();
}

/* ------------------------------------------------------------------- check */

#define T_REFUSED(expected, change) \
    do { \
        relet_config c = t_default(); \
        change; \
        ASSERT_EQm(expected, RELET_E_CONFIG, t_check(&c)); \
        ASSERT_STR_EQ(expected, t_fault.text); \
        ASSERT(strncmp(t_fault.field, t_fault.text, \
                       strlen(t_fault.field)) == 0); \
        ASSERT_EQ(RELET_E_CONFIG, t_fault.code); \
    } while (0)

#define T_TAKEN(change) \
    do { \
        relet_config c = t_default(); \
        change; \
        ASSERT_EQm(t_fault.text, 0, t_check(&c)); \
    } while (0)

static void t_set(char *field, const char *text)
{
    memcpy(field, text, strlen(text) + 1);
}

TEST a_number_out_of_its_range_is_refused_by_name(void)
{
    T_REFUSED("port is 0, must be at least 1", c.port = 0);
    T_REFUSED("port is 65536, must be at most 65535", c.port = 65536);
    T_REFUSED("db is -1, must be at least 0", c.db = -1);
    T_REFUSED("tracking_noloop is 2, must be at most 1",
              c.tracking_noloop = 2);
    T_REFUSED("connect_timeout_ms is 0, must be at least 1",
              c.connect_timeout_ms = 0);
    T_REFUSED("timeout_ms is -5, must be at least 1", c.timeout_ms = -5);
    T_REFUSED("timeout_ms is 9223372036854775807, must be at most "
              "1000000000000", c.timeout_ms = RELET_NEVER);
    T_REFUSED("ping_every_ms is -1, must be at least 0",
              c.ping_every_ms = -1);
    T_REFUSED("retry_min_ms is 0, must be at least 1", c.retry_min_ms = 0);
    T_REFUSED("retry_max_ms is 1000000000001, must be at most 1000000000000",
              c.retry_max_ms = 1000000000001);
    T_REFUSED("stable_ms is -1, must be at least 0", c.stable_ms = -1);
    T_REFUSED("attempts_max is -1, must be at least 0", c.attempts_max = -1);
    T_REFUSED("fail_fast is -1, must be at least 0", c.fail_fast = -1);
    T_REFUSED("operations_max is 0, must be at least 1",
              c.operations_max = 0);
    T_REFUSED("operations_max is 4294967295, must be at most 1048576",
              c.operations_max = UINT32_MAX);
    T_REFUSED("subscriptions_max is 1048577, must be at most 1048576",
              c.subscriptions_max = 1048577);
    T_REFUSED("scripts_max is 65537, must be at most 65536",
              c.scripts_max = 65537);
    T_REFUSED("output_max is 255, must be at least 256", c.output_max = 255);
    T_REFUSED("reply_max is 255, must be at least 256", c.reply_max = 255);
    T_REFUSED("tape_max is 255, must be at least 256", c.tape_max = 255);
    T_REFUSED("bulk_max is 63, must be at least 64", c.bulk_max = 63);
    T_REFUSED("bulk_max is 536870913, must be at most 536870912",
              c.bulk_max = 536870913);
    T_REFUSED("line_max is 63, must be at least 64", c.line_max = 63);
    T_REFUSED("count_max is 15, must be at least 16", c.count_max = 15);
    T_REFUSED("count_max is 2147483648, must be at most 2147483647",
              c.count_max = 2147483648u);
    T_REFUSED("depth_max is 0, must be at least 1", c.depth_max = 0);
    T_REFUSED("depth_max is 129, must be at most 128", c.depth_max = 129);
    T_REFUSED("buffer_min is 63, must be at least 64", c.buffer_min = 63);
    PASS();
}

TEST sizes_near_the_end_of_the_address_space_are_refused(void)
{
    relet_config c = t_default();

    c.reply_max = SIZE_MAX;
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    ASSERT_STR_EQ("reply_max", t_fault.field);
    c = t_default();
    c.tape_max = SIZE_MAX / 2;
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    c.tape_max = SIZE_MAX / 4;
    ASSERT_EQ(0, t_check(&c));
    PASS();
}

TEST a_value_outside_its_enumeration_is_refused(void)
{
    int wrong = 99;
    relet_config c = t_default();

    memcpy(&c.scheme, &wrong, sizeof c.scheme);
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    ASSERT_STR_EQ("scheme is not one of relet_scheme", t_fault.text);
    c = t_default();
    memcpy(&c.tracking, &wrong, sizeof c.tracking);
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    ASSERT_STR_EQ("tracking", t_fault.field);
    PASS();
}

TEST text_must_end_inside_its_field(void)
{
    T_REFUSED("host does not end with a NUL",
              memset(c.host, 'x', sizeof c.host));
    T_REFUSED("service does not end with a NUL",
              memset(c.service, 'x', sizeof c.service));
    T_REFUSED("user does not end with a NUL",
              memset(c.user, 'x', sizeof c.user));
    T_REFUSED("password does not end with a NUL",
              memset(c.password, 'x', sizeof c.password));
    T_REFUSED("name does not end with a NUL",
              memset(c.name, 'x', sizeof c.name));
    T_REFUSED("prefix does not end with a NUL",
              memset(c.prefix, 'x', sizeof c.prefix));
    T_REFUSED("tracking_prefix does not end with a NUL",
              memset(c.tracking_prefix, 'x', sizeof c.tracking_prefix));
    PASS();
}

TEST text_settings_refuse_bytes_that_no_server_takes(void)
{
    T_REFUSED("host may not have a control byte", t_set(c.host, "a\n"));
    T_REFUSED("password may not have a control byte",
              t_set(c.password, "a\x1f"));
    T_REFUSED("name may not have a blank", t_set(c.name, "a b"));
    T_REFUSED("name may have ASCII only", t_set(c.name, "\xc3\xa9"));
    T_REFUSED("user may not have a blank", t_set(c.user, "a b"));
    T_REFUSED("service may not have a blank", t_set(c.service, "a b"));
    T_REFUSED("prefix may not have a control byte", t_set(c.prefix, "\x7f"));
    T_TAKEN(t_set(c.prefix, "a b\xc3\xa9"));
    T_TAKEN(t_set(c.password, "a b\xc3\xa9"));
    PASS();
}

TEST a_user_needs_a_password_but_a_password_needs_no_user(void)
{
    T_REFUSED("user needs a password", t_set(c.user, "me"));
    T_TAKEN(t_set(c.password, "p"));
    PASS();
}

TEST each_scheme_wants_its_kind_of_host(void)
{
    T_REFUSED("host: at byte 0: host is empty", c.host[0] = '\0');
    T_REFUSED("host: at byte 0: not an IPv6 address", t_set(c.host, "h:1"));
    T_REFUSED("host: at byte 0: host may not have this byte",
              t_set(c.host, "[::1]"));
    T_TAKEN(t_set(c.host, "fe80::1%eth0"));
    T_REFUSED("host: at byte 0: a socket's path begins with / or @",
              c.scheme = RELET_UNIX);
    T_TAKEN((c.scheme = RELET_UNIX, t_set(c.host, "/s")));
    T_TAKEN((c.scheme = RELET_UNIX, t_set(c.host, "@s")));
    T_REFUSED("service is empty", c.scheme = RELET_SENTINEL);
    T_TAKEN((c.scheme = RELET_SENTINEL, t_set(c.service, "main"),
             t_set(c.host, "a:1,[::1]:2")));
    T_REFUSED("host: at byte 2: host is empty",
              (c.scheme = RELET_CLUSTER, t_set(c.host, "a,")));
    T_REFUSED("host: at byte 4: port 70000 is over 65535",
              (c.scheme = RELET_CLUSTER, t_set(c.host, "a,b:70000")));
    T_REFUSED("host: at byte 1: host may not have this byte",
              (c.scheme = RELET_MEM, t_set(c.host, "a/b")));
    T_TAKEN((c.scheme = RELET_MEM, c.host[0] = '\0'));
    T_REFUSED("host: at byte 0: path is empty",
              (c.scheme = RELET_FILE, c.host[0] = '\0'));
    PASS();
}

TEST a_prefix_to_track_needs_broadcasting(void)
{
    T_REFUSED("tracking_prefix needs tracking to be broadcast",
              (c.tracking = RELET_TRACK_READ, t_set(c.tracking_prefix, "a")));
    T_REFUSED("tracking_prefix has an empty item",
              (c.tracking = RELET_TRACK_BROADCAST,
               t_set(c.tracking_prefix, "a,")));
    T_TAKEN((c.tracking = RELET_TRACK_BROADCAST,
             t_set(c.tracking_prefix, "a,b c")));
    PASS();
}

TEST settings_must_fit_each_other(void)
{
    T_REFUSED("retry_min_ms is over retry_max_ms",
              (c.retry_min_ms = 11, c.retry_max_ms = 10));
    T_TAKEN((c.retry_min_ms = 10, c.retry_max_ms = 10));
    T_REFUSED("buffer_min is over output_max",
              (c.output_max = 512, c.buffer_min = 513));
    T_REFUSED("buffer_min is over reply_max",
              (c.reply_max = 512, c.buffer_min = 513));
    T_TAKEN((c.reply_max = 512, c.buffer_min = 512));
    PASS();
}

TEST without_an_allocator_buffers_stay_within_a_gibibyte(void)
{
    relet_config c = t_default();

    c.resize = NULL;
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    ASSERT_STR_EQ("resize", t_fault.field);
    c.output_max = c.reply_max = (size_t)1 << 29;
    c.tape_max = 256;
    ASSERT_EQ(RELET_E_CONFIG, t_check(&c));
    c.output_max -= 256;
    ASSERT_EQm(t_fault.text, 0, t_check(&c));
    PASS();
}

TEST a_bulk_may_be_larger_than_a_reply_which_then_counts(void)
{
    T_TAKEN((c.reply_max = 512, c.buffer_min = 512));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(the_defaults_pass_the_check);
    RUN_TEST(the_small_defaults_need_no_allocator);
    RUN_TEST(wiping_leaves_nothing_of_the_password);
    RUN_TEST(every_form_of_a_url_is_understood);
    RUN_TEST(the_parts_of_a_url_land_in_their_fields);
    RUN_TEST(a_url_leaves_settings_it_does_not_mention_as_they_are);
    RUN_TEST(ports_in_a_list_are_not_the_port);
    RUN_TEST(a_password_alone_replaces_the_user_too);
    RUN_TEST(a_bad_url_is_refused_where_it_first_goes_wrong);
    RUN_TEST(a_part_that_is_too_long_is_refused_at_its_first_byte_too_many);
    RUN_TEST(a_socket_path_has_room_in_its_address);
    RUN_TEST(a_list_that_only_its_ports_make_too_long_is_refused);
    RUN_TEST(a_fault_text_does_not_repeat_a_possible_password);
    RUN_TEST(a_long_fault_ends_in_its_text);
    RUN_TEST(the_fault_argument_may_be_null);
    RUN_TEST(a_url_can_be_shown_without_its_password);
    RUN_TEST(a_url_that_does_not_fit_is_cut_and_reported);
    RUN_TEST(an_environment_without_settings_changes_nothing);
    RUN_TEST(an_empty_variable_counts_as_not_set);
    RUN_TEST(each_variable_sets_its_part);
    RUN_TEST(scoped_variables_beat_generic_ones);
    RUN_TEST(a_scoped_url_beats_a_generic_sentinel);
    RUN_TEST(in_one_scope_a_sentinel_beats_a_host_and_a_host_beats_a_url);
    RUN_TEST(a_scoped_password_beats_a_generic_one);
    RUN_TEST(a_port_variable_beside_a_url_variable_is_ignored);
    RUN_TEST(a_host_keeps_tls_when_it_was_chosen);
    RUN_TEST(a_bad_variable_is_named);
    RUN_TEST(a_scope_that_is_too_long_is_refused);
    RUN_TEST(a_number_out_of_its_range_is_refused_by_name);
    RUN_TEST(sizes_near_the_end_of_the_address_space_are_refused);
    RUN_TEST(a_value_outside_its_enumeration_is_refused);
    RUN_TEST(text_must_end_inside_its_field);
    RUN_TEST(text_settings_refuse_bytes_that_no_server_takes);
    RUN_TEST(a_user_needs_a_password_but_a_password_needs_no_user);
    RUN_TEST(each_scheme_wants_its_kind_of_host);
    RUN_TEST(a_prefix_to_track_needs_broadcasting);
    RUN_TEST(settings_must_fit_each_other);
    RUN_TEST(without_an_allocator_buffers_stay_within_a_gibibyte);
    RUN_TEST(a_bulk_may_be_larger_than_a_reply_which_then_counts);
    GREATEST_MAIN_END();
}
