/* SPDX-License-Identifier: MIT
 *
 * socket.h - one link, from the request to open it until it is closed.
 *
 *     SHUT -> CONNECTING -> [SHAKING] -> CONNECTED -> SHUT
 *
 * Moves bytes between a client's relet_io_ functions (relet.h, part 9) and a
 * descriptor, or a transport on top of one. connect.c does CONNECTING; SHAKING
 * is a transport's handshake. It never waits: it says what to watch, and until
 * when. */
#ifndef RLT_SOCKET_H
#define RLT_SOCKET_H

#include "connect.h"

#ifndef RELET_NO_POLL

#define RLT_SOCKET_STAGE 16384 /* a TLS record */

typedef enum rlt_socket_phase {
    RLT_SHUT,
    RLT_CONNECTING,
    RLT_SHAKING,
    RLT_CONNECTED
} rlt_socket_phase;

typedef struct rlt_socket {
    const relet_transport *transport;
    void *session;  /* the transport's, or NULL                            */
    uint8_t *stage; /* bytes that the session may have seen already        */
    size_t staged, stage_at;
    int given;      /* the caller's descriptor until it is used, or -1     */
    int given_only; /* there is no address for a second link               */
    rlt_socket_phase phase;
    int fd;
    int shake_wants, read_wants, write_wants; /* POLLIN or POLLOUT         */
    int blocked; /* the last write had to stop; wait for readiness         */
    int more;    /* the session may hold bytes that poll cannot see        */
    int broken;  /* a write failed: read what has come, then report it     */
    int err;     /* errno of the last failure; its sentence is in `text`   */
    relet_io io; /* the last request of relet_io_want                      */
    rlt_connect dial;
    char text[RLT_TEXT_MAX(384)];
} rlt_socket;

/* `stage` is needed with a transport, and holds RLT_SOCKET_STAGE bytes. */
RELET_PRIVATE void rlt_socket_init(rlt_socket *c,
                                   const relet_transport *transport,
                                   uint8_t *stage, int keepalive_s,
                                   rlt_watchset *set);

/* Opens or closes the link, as relet_io_want said. */
RELET_PRIVATE void rlt_socket_want(relet *r, rlt_socket *c, const relet_io *io);

/* Writes pending bytes until none are left or the link blocks. */
RELET_PRIVATE void rlt_socket_write(relet *r, rlt_socket *c);

/* Fills in what to watch: RLT_CONNECT_RACERS places; unused ones have fd -1. */
RELET_PRIVATE void rlt_socket_watch(relet *r, rlt_socket *c, relet_watch *w);

/* Some places were ready (bit i: place i), or time has passed. */
RELET_PRIVATE void rlt_socket_turn(relet *r, rlt_socket *c, unsigned ready,
                                   relet_time now);

/* When a turn is due though no place is ready. */
RELET_PRIVATE relet_time rlt_socket_deadline(const rlt_socket *c);

/* In a child process: drops the session without closing it. The session is the
 * parent's, and closing it would send bytes. */
RELET_PRIVATE void rlt_socket_forget(rlt_socket *c);

/* Closes everything without telling the client. */
RELET_PRIVATE void rlt_socket_shut(rlt_socket *c);

#endif /* RELET_NO_POLL */

#endif
