/* SPDX-License-Identifier: MIT
 *
 * cmd_fuzz.c - a server reads the arguments that the caller passed.
 *
 * The input is a list of arguments: a length byte and as many bytes; a length
 * over 239 means a power of two, 16 to 65536, of one byte. The command is
 * written into a block of exactly its size and read back by a decoder that
 * knows only what servers do: a count, then lengths, then bytes. It must find
 * the same arguments, and nothing behind them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum { ARGS_MAX = 256, LONG_FROM = 240, LONG_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Every long argument, 16 bytes to 64 KiB, is a part of these bytes. */
static const char *long_bytes(void)
{
    static char *bytes;

    if (bytes == NULL) {
        bytes = (char *)malloc(LONG_BYTES);
        must(bytes != NULL);
        memset(bytes, '\n', LONG_BYTES);
    }
    return bytes;
}

static size_t read_argv(relet_span *argv, const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;
    size_t argc = 0, len, total = 0;

    while (p < end && argc < ARGS_MAX && total < LONG_BYTES) {
        len = *p++;
        if (len >= LONG_FROM) {
            argv[argc].n = (size_t)1 << (4 + (len - LONG_FROM) % 13);
            argv[argc].p = long_bytes();
        } else {
            argv[argc].n = len < (size_t)(end - p) ? len : (size_t)(end - p);
            argv[argc].p = (const char *)p;
            p += argv[argc].n;
        }
        total += argv[argc++].n;
    }
    return argc;
}

/* A decimal number as a server reads it, without leading zeros, and CRLF. */
static size_t server_number(const uint8_t **p, const uint8_t *end, char type)
{
    size_t v = 0, digits = 0;

    must(*p < end && **p == (uint8_t)type);
    for (++*p; *p < end && **p >= '0' && **p <= '9'; ++*p, digits++)
        v = v * 10 + (size_t)(**p - '0');
    must(digits > 0 && digits < 11);
    must(digits == 1 || (*p)[-(ptrdiff_t)digits] != '0');
    must(end - *p >= 2 && (*p)[0] == '\r' && (*p)[1] == '\n');
    *p += 2;
    return v;
}

static void server_reads(const uint8_t *p, size_t n, const relet_span *argv,
                         size_t argc)
{
    const uint8_t *end = p + n;
    size_t i, len;

    must(server_number(&p, end, '*') == argc);
    for (i = 0; i < argc; i++) {
        len = server_number(&p, end, '$');
        must(len == argv[i].n);
        must((size_t)(end - p) >= len + 2);
        must(len == 0 || memcmp(p, argv[i].p, len) == 0);
        must(p[len] == '\r' && p[len + 1] == '\n');
        p += len + 2;
    }
    must(p == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    relet_span argv[ARGS_MAX];
    size_t argc = read_argv(argv, data, n);
    size_t size = rlt_cmd_size(argv, argc);
    uint8_t *out;

    must((size == 0) == (argc == 0));
    if (size == 0)
        return 0;
    out = (uint8_t *)malloc(size);
    must(out != NULL);
    must(rlt_cmd_write(out, argv, argc) == out + size);
    server_reads(out, size, argv, argc);
    free(out);
    return 0;
}
