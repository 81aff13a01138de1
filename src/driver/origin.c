/* SPDX-License-Identifier: MIT
 *
 * origin.c - the process that opened a client, and whether this is still that
 * process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MADV_WIPEONFORK, MAP_ANONYMOUS */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "origin.h"

#ifndef RELET_NO_POLL

#include <limits.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef RELET_POLL_PLAIN
#if defined(MADV_WIPEONFORK)
/* An emulator of system calls may accept any advice and do nothing, so an
 * invalid advice has to fail first. */
#define ORIGIN_WIPE(p, n)                    \
    (madvise((p), (n), INT_MAX) != 0         \
         ? madvise((p), (n), MADV_WIPEONFORK) \
         : -1)
#elif defined(INHERIT_ZERO)
#define ORIGIN_WIPE(p, n) minherit((p), (n), INHERIT_ZERO)
#endif
#endif

static size_t origin_page(void)
{
    long n = sysconf(_SC_PAGESIZE);

    return n > 0 ? (size_t)n : 4096;
}

/* A page that reads as zero in a child, or NULL. */
static rlt_home *origin_home(void)
{
#ifdef ORIGIN_WIPE
    size_t n = origin_page();
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (ORIGIN_WIPE(p, n) == 0)
        return (rlt_home *)p;
    (void)munmap(p, n); /* an old kernel */
#endif
    return NULL;
}

RELET_PRIVATE void rlt_origin_begin(rlt_origin *o)
{
    o->process = (long)getpid();
    o->home = origin_home();
}

RELET_PRIVATE void rlt_origin_end(rlt_origin *o)
{
    if (o->home != NULL)
        (void)munmap((void *)o->home, origin_page());
}

RELET_PRIVATE int rlt_origin_is_foreign(const rlt_origin *o, const relet *r)
{
    if (o->home != NULL)
        return rlt_client_is_foreign(r);
    return o->process != (long)getpid();
}

RELET_PRIVATE int rlt_origin_look(const rlt_origin *o, relet *r)
{
    int foreign = rlt_origin_is_foreign(o, r);

    if (foreign)
        rlt_client_make_foreign(r);
    return foreign;
}

#endif /* RELET_NO_POLL */
