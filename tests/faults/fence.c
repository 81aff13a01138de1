/* SPDX-License-Identifier: MIT
 *
 * fence.c - registers that take a write only if no earlier token was higher.
 *
 *   fence SOCKET REGISTERS >LOG
 *
 * Leaders write to one register; each job has its own. The log is the truth:
 * which writes were taken, which were refused, and in which order. A write is
 * one datagram, WHO SEQ TERM TOKEN; for a job, TERM is the job's number. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "line.h"

int main(int argc, char **argv)
{
    int fd = argc == 3 ? line_socket(argv[1], bind) : -1;
    uint64_t *highest, *at, seq, term, token;
    char text[200], who[32];
    size_t registers;
    long n;

    if (fd < 0)
        return 2;
    registers = (size_t)strtoul(argv[2], NULL, 10);
    highest = (uint64_t *)calloc(registers, sizeof *highest);
    if (highest == NULL)
        return 2;
    line_say(line_clock(), "fence", "ready 0 0");
    while ((n = (long)recv(fd, text, sizeof text - 1, 0)) > 0) {
        text[n] = '\0';
        if (sscanf(text, "%31s %" SCNu64 " %" SCNu64 " %" SCNu64, who, &seq,
                   &term, &token) != 4)
            return 2;
        at = &highest[term % registers];
        line_say(line_clock(), "fence",
                 "%s %" PRIu64 " %" PRIu64 " %s %" PRIu64 " %" PRIu64,
                 token >= *at ? "took" : "refused", term, token, who, seq,
                 *at);
        *at = token > *at ? token : *at;
    }
    return 1;
}
