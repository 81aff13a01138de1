/* SPDX-License-Identifier: MIT
 *
 * tls_openssl.c - a transport with OpenSSL, and a program that uses it.
 *
 *     cc tls_openssl.c relet.c -lssl -lcrypto -o tls_openssl
 *     ./tls_openssl rediss://localhost:6380 ca.pem
 *
 * The server's certificate must be for the host in the URL, and signed by that
 * authority; when none is given, by one that the system trusts. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "relet.h"

typedef struct tls {
    SSL *ssl;
    char problem[200];
} tls;

/* Translates OpenSSL's last result into a result of a relet_transport. */
static int tls_code(tls *t, int result)
{
    const char *why = ERR_reason_error_string(ERR_peek_error());
    long verdict = SSL_get_verify_result(t->ssl);

    switch (SSL_get_error(t->ssl, result)) {
    case SSL_ERROR_WANT_READ: return RELET_TRANSPORT_READ;
    case SSL_ERROR_WANT_WRITE: return RELET_TRANSPORT_WRITE;
    case SSL_ERROR_ZERO_RETURN: /* a proper end, but not of a handshake */
        return SSL_is_init_finished(t->ssl) ? 0 : RELET_TRANSPORT_FAILED;
    }
    if (verdict != X509_V_OK)
        why = X509_verify_cert_error_string(verdict);
    snprintf(t->problem, sizeof t->problem, "%s", why ? why : "hung up");
    return RELET_TRANSPORT_FAILED;
}

static void tls_close(void *session)
{
    SSL_free(((tls *)session)->ssl);
    free(session);
}

/* Sets the name that the certificate must have, and sends it to the server
 * (SNI). */
static int tls_expect(SSL *ssl, const char *host)
{
    char name[256]; /* not const, as OpenSSL likes it */

    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host))
        return 1;
    snprintf(name, sizeof name, "%s", host);
    return SSL_set1_host(ssl, name) && SSL_set_tlsext_host_name(ssl, name);
}

static void *tls_open(void *user, int fd, const char *host)
{
    tls *t = (tls *)calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->ssl = SSL_new((SSL_CTX *)user);
    if (t->ssl != NULL && SSL_set_fd(t->ssl, fd) && tls_expect(t->ssl, host))
        return t;
    tls_close(t);
    return NULL;
}

/* OpenSSL keeps errors in a queue of the thread, so the queue is emptied first.
 * */
static int tls_handshake(void *session)
{
    tls *t = (tls *)session;
    int code;

    ERR_clear_error();
    code = SSL_connect(t->ssl);
    return code == 1 ? 0 : tls_code(t, code);
}

static long tls_read(void *session, void *p, size_t n)
{
    SSL *ssl = ((tls *)session)->ssl;
    size_t got;

    ERR_clear_error();
    return SSL_read_ex(ssl, p, n, &got) ? (long)got : tls_code(session, 0);
}

static long tls_write(void *session, const void *p, size_t n)
{
    SSL *ssl = ((tls *)session)->ssl;
    size_t put;

    ERR_clear_error();
    return SSL_write_ex(ssl, p, n, &put) ? (long)put : tls_code(session, 0);
}

static const char *tls_problem(void *session)
{
    return session != NULL ? ((tls *)session)->problem : "no session";
}

/* SET and GET: 0 when both were answered. */
static int talk(relet *r)
{
    relet_event ev;
    int left = 2;

    relet_command_text(r, NULL, "SET", "greeting", "hello", (char *)NULL);
    relet_command_text(r, NULL, "GET", "greeting", (char *)NULL);
    while (left > 0 && relet_wait(r, &ev, -1) == 1) {
        int reply = ev.kind == RELET_EV_REPLY;
        relet_span text = reply ? relet_value_text(ev.value) : ev.text;

        printf("%s: %.*s\n", relet_kind_text(ev.kind), (int)text.n, text.p);
        if (!reply && ev.kind != RELET_EV_UP)
            return 1;
        left -= reply;
    }
    return 0;
}

int main(int argc, char **argv)
{
    relet_transport transport = {NULL,      tls_open,  tls_handshake, tls_read,
                                 tls_write, tls_close, tls_problem};
    relet_poll_config p = {&transport, NULL, 0, NULL};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    relet_fault fault;
    relet *r;
    int code;

    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes with write(2) */
    if (context == NULL ||
        !(argc > 2 ? SSL_CTX_load_verify_locations(context, argv[2], NULL)
                   : SSL_CTX_set_default_verify_paths(context)))
        return fprintf(stderr, "no certificates\n") > 0;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    transport.user = context;
    r = relet_open(argc > 1 ? argv[1] : "rediss://localhost", NULL, &p,
                   &fault);
    code = r == NULL ? 2 : talk(r);
    if (r == NULL)
        fprintf(stderr, "%s\n", fault.text);
    relet_close(r);
    SSL_CTX_free(context);
    return code;
}
