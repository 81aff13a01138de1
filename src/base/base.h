/* SPDX-License-Identifier: MIT
 *
 * base.h - macros and types that every module of the core uses.
 *
 * The core includes no other system header than these three, and string.h
 * only for mem* and str*. A clock or a heap is passed in by the caller. */
#ifndef RLT_BASE_H
#define RLT_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "relet.h"

/* Marks a function that modules of the library share. It is empty if each file
 * is compiled alone; the amalgamation defines it as static, so that a vendored
 * relet.c adds only relet_* to a program. */
#ifndef RELET_PRIVATE
#define RELET_PRIVATE
#endif

/* Checks a contract of the library or of its caller, never what the server
 * sent. After a broken contract there is nothing sensible to return. libc's
 * assert is not used, because it would pull in stdio. */
#ifdef NDEBUG
#define rlt_assert(x) ((void)0)
#elif defined(__GNUC__)
#define rlt_assert(x) ((x) ? (void)0 : __builtin_trap())
#else
#define rlt_assert(x) ((x) ? (void)0 : (void)(*(volatile int *)0 = 0))
#endif

#if defined(__GNUC__)
#define RLT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RLT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define RLT_LIKELY(x) (x)
#define RLT_UNLIKELY(x) (x)
#endif

/* RLT_INLINE puts a hot function into its caller, unless the build is to be
 * small. RLT_APART keeps a rare path out of line, so that the hot path does not
 * pay for the registers of the rare one. Both were measured. */
#if defined(__OPTIMIZE_SIZE__)
#define RLT_INLINE
#elif defined(__GNUC__)
#define RLT_INLINE inline __attribute__((always_inline))
#else
#define RLT_INLINE inline
#endif
#if defined(__GNUC__)
#define RLT_APART __attribute__((noinline))
#else
#define RLT_APART
#endif

/* Marks a short function in a header. The amalgamation adds an attribute for
 * functions that a build does not use. */
#ifndef RLT_SHORT
#define RLT_SHORT static inline
#endif

/* RELET_TINY: the hostile build. Limits are at their smallest legal value and
 * memory that was lent is overwritten as soon as the loan ends. */
#ifdef RELET_TINY
#define RLT_TINY 1
#else
#define RLT_TINY 0
#endif

/* The parts of this build, as constants. If a constant is 0, compilers remove
 * the code of the part. RLT_HAS_ENGINE is 1 with leases, queues or both. */
#ifdef RELET_NO_QUEUE
#define RLT_HAS_QUEUE 0
#else
#define RLT_HAS_QUEUE 1
#endif
#ifdef RELET_NO_LEASE
#define RLT_HAS_ENGINE RLT_HAS_QUEUE
#else
#define RLT_HAS_ENGINE 1
#endif

/* RELET_SMALL has no subscriptions, no tracking, no WATCH, no fast path that
 * judges replies, no streamed values (servers send none) and no sentences for
 * people. RLT_TEXT replaces a sentence by "", since callers compare sentences
 * with NULL. RLT_TEXT_MAX is the size of a buffer for a sentence. */
#ifdef RELET_SMALL
#define RLT_HAS_MESSAGES 0
#define RLT_HAS_WATCH 0
#define RLT_HAS_FAST 0
#define RLT_HAS_STREAMS 0
#define RLT_HAS_TEXT 0
#define RLT_TEXT(sentence) ""
#define RLT_TEXT_MAX(bytes) 1
#else
#define RLT_HAS_MESSAGES 1
#define RLT_HAS_WATCH 1
#define RLT_HAS_FAST 1
#define RLT_HAS_STREAMS 1
#define RLT_HAS_TEXT 1
#define RLT_TEXT(sentence) sentence
#define RLT_TEXT_MAX(bytes) bytes
#endif

#define RLT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RLT_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The allocator, as every module sees it. With `resize` NULL nothing can
 * grow. */
typedef struct rlt_memory {
    relet_resize_fn *resize;
    void *user;
} rlt_memory;

#endif
