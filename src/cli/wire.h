/* SPDX-License-Identifier: MIT
 *
 * wire.h - a client, the local server and a wire between them, for the demo:
 * what is on the wire can be held back, given out in pieces, or cut. */
#ifndef RELET_WIRE_H
#define RELET_WIRE_H

#include "cli.h"
#include "relet_local.h"

#define WIRE_BYTES 4096

typedef struct wire {
    relet *r;
    relet_local *server;
    void *memory;       /* of the server                                     */
    int link, other;    /* connection numbers; other is somebody else's      */
    char out[WIRE_BYTES]; /* written by the client, not yet at the server    */
    size_t n;
} wire;

/* The server starts; 1, or 0 when there is no memory. */
int wire_open(wire *w);
void wire_close(wire *w);

void wire_time(wire *w, relet_time now);

/* The link is there, or gone with what is on it. */
void wire_connect(wire *w);
void wire_cut(wire *w);

/* Carry what the client has written onto the wire, all but the last bytes. */
size_t wire_take(wire *w, size_t but);

/* What is on the wire reaches the server, which runs what is whole. */
void wire_serve(wire *w);

/* What the server has for the client, lent. */
size_t wire_answers(const wire *w, const uint8_t **p);

/* At most so many of those bytes reach the client. How many. */
size_t wire_give(wire *w, size_t most);

/* Somebody else sends a command. */
void wire_meanwhile(wire *w, const char *command);

#endif
