#!/bin/sh
# SPDX-License-Identifier: MIT
#
# names_test.sh - the tests that tests/README.md names exist, and no function of
# one script hides a function of another script that is read beside it.

set -u
# shellcheck disable=SC1091
. tests/count.sh

known() {
    grep -rqE "(TEST|static void) $1\(|SIM_MARK\($1\)|\b$1\b" tests/*.c \
        tests/*.h tests/engine tests/sim tests/*.sh || echo "there is no $1"
}

for name in $(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' tests/README.md | tr -d '`' |
    sort -u); do
    check "tests/README.md: $name is there" known "$name"
done

# A reader who follows one claim opens nine files at most.
walk() {
    rooms=$(sed -n '/^## The walk of a claim/,$s/^    \([a-z_]*\) .*/\1/p' \
        docs/internals.md | sort -u)
    for room in $rooms; do
        [ -f "$(echo src/*/"$room".c)" ] || echo "there is no room $room"
    done
    set -- $rooms
    [ $# -ge 6 ] && [ $# -le 9 ] || echo "a claim passes $# rooms: $rooms"
}

check 'docs/internals.md: the walk of a claim is nine rooms at most' walk

# permitted SCRIPT...: the commands that these scripts call are in one of the
# lists of relet.h that an ACL must allow.
permitted() {
    lists=$(tr -s '\n *' ' ' <include/relet.h |
        grep -oE 'An ACL must allow[^;]*;')
    for command in $(grep -ohE "'[A-Z]{3,}'" "$@" | tr -d "'" | sort -u |
        grep -vxE 'COUNT|LIMIT|MATCH|WITHSCORES'); do
        echo "$lists" | grep -qw "$command" ||
            echo "relet.h does not name $command"
    done
}

check 'relet.h names the commands that an ACL must allow' permitted lua/*.lua

# A function may be renamed, and comments may keep its old name.
named_in_comments() {
    # shellcheck disable=SC2046
    LC_ALL=C awk -f tests/comment_names.awk $(find src include tests fuzz \
        examples -name '*.[ch]')
}

check 'each function, macro and file that a comment names is there' \
    named_in_comments

# tests/fork_test.c calls each function that takes a client after a fork.
for name in $(tr '\n' ' ' <include/relet.h |
    grep -oE 'relet_[a-z_]+\((const )?relet \*r\b' | sed 's/(.*//' |
    sort -u); do
    [ "$name" = relet_finish ] ||
        check "tests/fork_test.c calls $name" grep -q "\b$name(" \
            tests/fork_test.c
done

# A second function of one name replaces the first: T4 once did nothing, since a
# later script also had a function `freeze`.
named_twice() {
    sed -n 's/^\([a-z_0-9]*\)() .*/\1/p' "$@" | sort | uniq -d
}

check 'faults: no function is named twice' named_twice tests/count.sh \
    tests/redis.sh tests/wait.sh tests/faults/*.sh tests/faults_test.sh
total
