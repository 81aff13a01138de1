/* SPDX-License-Identifier: MIT
 *
 * cmd.c - writes argv as a RESP command: a header, then each argument with its
 * length in front.
 *
 * Arguments are short and many. So lengths below 100 take one branch, and a
 * short argument is copied without a call to memcpy, which in a small libc
 * costs more than copying the bytes. */
#include "cmd.h"

#include "text.h"

/* Digits of a count or length; both are below 2^31. */
static size_t cmd_digits(uint32_t v)
{
    size_t n = 1;

    if (v < 100)
        return v < 10 ? 1 : 2;
    for (; v >= 10; v /= 10)
        n++;
    return n;
}

static uint8_t *cmd_put_long(uint8_t *out, uint32_t v)
{
    uint8_t *end = out + cmd_digits(v), *p = end;

    for (; v >= 100; v /= 100) {
        p -= 2;
        memcpy(p, rlt_text_pairs() + v % 100 * 2, 2);
    }
    if (v >= 10)
        memcpy(p - 2, rlt_text_pairs() + v * 2, 2);
    else
        p[-1] = (uint8_t)('0' + v);
    return end;
}

/* A type byte, a number, CRLF. */
static RLT_INLINE uint8_t *cmd_put_header(uint8_t *out, char type, uint32_t v)
{
    *out++ = (uint8_t)type;
    if (v < 10) {
        *out++ = (uint8_t)('0' + v);
    } else if (v < 100) {
        memcpy(out, rlt_text_pairs() + v * 2, 2);
        out += 2;
    } else {
        out = cmd_put_long(out, v);
    }
    memcpy(out, "\r\n", 2);
    return out + 2;
}

/* Copies up to 32 bytes as two halves that overlap, each of a size that the
 * compiler knows. */
static void cmd_copy(uint8_t *out, const char *p, size_t n)
{
    if (n > 32) {
        if (p != NULL)
            memcpy(out, p, n);
    } else if (n >= 16) {
        memcpy(out, p, 16);
        memcpy(out + n - 16, p + n - 16, 16);
    } else if (n >= 8) {
        memcpy(out, p, 8);
        memcpy(out + n - 8, p + n - 8, 8);
    } else if (n >= 4) {
        memcpy(out, p, 4);
        memcpy(out + n - 4, p + n - 4, 4);
    } else if (n > 0) {
        out[0] = (uint8_t)p[0];
        out[n / 2] = (uint8_t)p[n / 2];
        out[n - 1] = (uint8_t)p[n - 1];
    }
}

/* Adds the bytes of the arguments to size. Returns 0 if one cannot be sent. */
static size_t cmd_size_args(size_t size, const relet_span *argv, size_t argc)
{
    const relet_span *end = argv + argc;
    size_t n;

    for (; argv < end; argv++) {
        n = argv->n;
        if (n > RLT_CMD_BULK_MAX || SIZE_MAX - size < n + 16)
            return 0;
        size += n + 6 + (n >= 10);
        if (n >= 100)
            size += cmd_digits((uint32_t)n) - 2;
    }
    return size;
}

static uint8_t *cmd_put_args(uint8_t *out, const relet_span *argv, size_t argc)
{
    size_t i, n;

    for (i = 0; i < argc; i++) {
        n = argv[i].n;
        rlt_assert(n <= RLT_CMD_BULK_MAX);
        out = cmd_put_header(out, '$', (uint32_t)n);
        cmd_copy(out, argv[i].p, n);
        memcpy(out + n, "\r\n", 2);
        out += n + 2;
    }
    return out;
}

RELET_PRIVATE size_t rlt_cmd_size(const relet_span *argv, size_t argc)
{
    if (argc == 0 || argc > RLT_CMD_ARGS_MAX)
        return 0;
    return cmd_size_args(1 + cmd_digits((uint32_t)argc) + 2, argv, argc);
}

RELET_PRIVATE uint8_t *rlt_cmd_write(uint8_t *out, const relet_span *argv,
                                     size_t argc)
{
    rlt_assert(argc > 0);
    return cmd_put_args(cmd_put_header(out, '*', (uint32_t)argc), argv, argc);
}

RELET_PRIVATE size_t rlt_cmd_size_of(const relet_span *head, size_t heads,
                                     const relet_span *argv, size_t argc)
{
    size_t size;

    rlt_assert(heads > 0);
    if (argc > RLT_CMD_ARGS_MAX - heads)
        return 0;
    size = 1 + cmd_digits((uint32_t)(heads + argc)) + 2;
    size = cmd_size_args(size, head, heads);
    return size ? cmd_size_args(size, argv, argc) : 0;
}

RELET_PRIVATE uint8_t *rlt_cmd_write_of(uint8_t *out, const relet_span *head,
                                        size_t heads, const relet_span *argv,
                                        size_t argc)
{
    out = cmd_put_header(out, '*', (uint32_t)(heads + argc));
    out = cmd_put_args(out, head, heads);
    return cmd_put_args(out, argv, argc);
}

RELET_PRIVATE size_t rlt_cmd_more_size(size_t argc, const relet_span *argv,
                                       size_t more)
{
    if (argc == 0 || more == 0 || more > RLT_CMD_ARGS_MAX - argc)
        return 0;
    return cmd_size_args(cmd_digits((uint32_t)(argc + more)) -
                             cmd_digits((uint32_t)argc), argv, more);
}

RELET_PRIVATE void rlt_cmd_more(uint8_t *cmd, size_t len, size_t argc,
                                const relet_span *argv, size_t more)
{
    size_t old = 3 + cmd_digits((uint32_t)argc);
    uint32_t all = (uint32_t)(argc + more);
    size_t head = 3 + cmd_digits(all);

    if (head != old)
        memmove(cmd + head, cmd + old, len - old);
    (void)cmd_put_header(cmd, '*', all);
    (void)cmd_put_args(cmd + len - old + head, argv, more);
}
