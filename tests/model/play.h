/* SPDX-License-Identifier: MIT
 *
 * play.h - the state of a tape that is being played, for compare.c and
 * judge.c. */
#ifndef MODEL_PLAY_H
#define MODEL_PLAY_H

#include "model.h"

#define PLAY_WAIT_MAX 512
#define ROOTS_MAX 4096

typedef struct line {
    const ask *wait[PLAY_WAIT_MAX]; /* sent and not answered             */
    int waiting;
    const ask *queue[PLAY_WAIT_MAX]; /* queued since MULTI               */
    int queued;
    int pushed; /* pushes that have answered the first that waits           */
    int any_order; /* one of those that wait may make pushes in any order    */
    int loose;  /* some of its commands are not answered                   */
} line;

/* One frame that a link has received. */
typedef struct root {
    int at;
    int push;
    const ask *owner;
    const ask *const *queue; /* of an EXEC                                 */
    int queued;
} root;

typedef struct heard {
    forest trees;
    root roots[ROOTS_MAX];
    int n;
    int whole; /* all of it could be read                                  */
} heard;

typedef struct play {
    side **sides;
    int n;
    int64_t now_us;
    line lines[MODEL_LINKS];
    int parted[4]; /* the side's data set is allowed to be another         */
    const ask *exec_queue[PLAY_WAIT_MAX];
    const step *step;
    int at;
    int tally;
    verdict *v;
} play;

/* Sends commands on the link of the step, or on the reader's if there is no
 * step, and waits until all is quiet. */
int play_asks(play *p, const ask *asks, int n, size_t cut);

/* Asks until the cursor is 0 again; then `heard` has all elements as one reply.
 * */
int scan_play(side *s, int link, const ask *a);

/* Judges all bytes that came since the last call: 0, or -1 and a verdict. */
int judge_all(play *p);
/* The replies on the last link of the reference. */
const heard *judge_reference(void);

/* Reads the whole data set of all sides, and judges it. */
int data_same(play *p);

#endif
