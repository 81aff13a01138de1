/* SPDX-License-Identifier: MIT
 *
 * deed.c - the command that `relet work` runs for each job in a fault scenario.
 *
 *   deed SOCKET LOG MS
 *
 * The job's payload is a number, which also names its register behind SOCKET
 * (fence.c). After MS milliseconds the command writes to that register with its
 * token and ends by 0; some jobs fail at their first attempt instead. Lines in
 * LOG:
 *
 *   begun JOB TOKEN ATTEMPT STALLS
 *   held JOB TOKEN                   MS are over, but SOCKET.held still exists
 *   write JOB TOKEN SEQ              the command has decided to write
 *   failed JOB TOKEN                 the command has decided to fail */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>

#include "line.h"

enum { FAIL = 7 }; /* one job in so many fails                               */

static void deed_pause(long ms)
{
    struct timespec pause;

    pause.tv_sec = ms / 1000;
    pause.tv_nsec = ms % 1000 * 1000000;
    (void)nanosleep(&pause, NULL);
}

static uint64_t deed_number(const char *name)
{
    const char *text = getenv(name);

    if (text == NULL)
        exit(2);
    return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
    uint64_t job, token, attempt, stalls;
    char who[32], text[100];
    int fd, n, held = 0;

    if (argc != 4 || scanf("%" SCNu64, &job) != 1)
        return 2;
    token = deed_number("RELET_TOKEN");
    attempt = deed_number("RELET_ATTEMPT");
    stalls = deed_number("RELET_STALLS");
    fd = open(argv[2], O_WRONLY | O_APPEND);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        return 2;
    fd = line_socket(argv[1], connect);
    if (fd < 0)
        return 2;
    snprintf(who, sizeof who, "c%ld", (long)getpid());
    line_say(line_clock(), who,
             "begun %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, job, token,
             attempt, stalls);
    for (deed_pause(atol(argv[3])); line_held(argv[1]); deed_pause(5))
        if (!held++)
            line_say(line_clock(), who, "held %" PRIu64 " %" PRIu64, job,
                     token);
    if (job % FAIL == 0 && attempt == 1) {
        line_say(line_clock(), who, "failed %" PRIu64 " %" PRIu64, job, token);
        return 1;
    }
    line_say(line_clock(), who, "write %" PRIu64 " %" PRIu64 " 1", job, token);
    n = snprintf(text, sizeof text, "%s 1 %" PRIu64 " %" PRIu64, who, job,
                 token);
    return send(fd, text, (size_t)n, 0) == n ? 0 : 2;
}
