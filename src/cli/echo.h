/* SPDX-License-Identifier: MIT
 *
 * echo.h - a server in memory: bytes in, bytes out. */
#ifndef RELET_ECHO_H
#define RELET_ECHO_H

#include "cli.h"

#define ECHO_BYTES 4096
#define ECHO_ARGS 16

typedef struct echo_bytes {
    char p[ECHO_BYTES];
    size_t n;
} echo_bytes;

typedef struct echo {
    echo_bytes in, out;
    int incr_seen, gets_seen; /* how many INCR and GET it has run            */
} echo;

/* Forget the first n bytes. */
void echo_drop(echo_bytes *b, size_t n);

/* Answer at most so many of the commands that have arrived. How many. */
int echo_serve(echo *e, int most);

void echo_publish(echo *e, const char *channel, const char *message);

#endif
