/* SPDX-License-Identifier: MIT
 *
 * fence.c - a register that takes a write only with the highest token yet.
 *
 *   fence SOCKET >LOG
 *
 * It is what leaders write to, and it knows the truth: what was taken, what
 * was refused, in which order. A write is one datagram, WHO SEQ TERM TOKEN. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "line.h"

static int fence_open(const char *path)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    if (fd < 0 || strlen(path) >= sizeof a.sun_path)
        return -1;
    memcpy(a.sun_path, path, strlen(path));
    return bind(fd, (struct sockaddr *)&a, (socklen_t)sizeof a) ? -1 : fd;
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? fence_open(argv[1]) : -1;
    uint64_t highest = 0, seq, term, token;
    char text[200], who[32];
    long n;

    if (fd < 0)
        return 2;
    line_say(line_clock(), "fence", "ready 0 0");
    while ((n = (long)recv(fd, text, sizeof text - 1, 0)) > 0) {
        text[n] = '\0';
        if (sscanf(text, "%31s %" SCNu64 " %" SCNu64 " %" SCNu64, who, &seq,
                   &term, &token) != 4)
            return 2;
        line_say(line_clock(), "fence",
                 "%s %" PRIu64 " %" PRIu64 " %s %" PRIu64 " %" PRIu64,
                 token >= highest ? "took" : "refused", term, token, who, seq,
                 highest);
        highest = token > highest ? token : highest;
    }
    return 1;
}
