#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# faults_test.sh - leaders and workers on real servers, and real faults.
#
#   tests/faults_test.sh            every scenario
#   tests/faults_test.sh T5 T24     these
#   ONLY=valkey tests/faults_test.sh T5
#
# In each scenario contenders write to a register while they lead, or workers
# write to one for each of their jobs. The scenario causes a fault of these
# processes, of the server or of the network. Afterwards a judge reads the lines
# of all events, beliefs and acts (faults/judge.awk has the rules, and
# judge_jobs.awk those of jobs). tests/README.md lists the scenarios.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
# shellcheck disable=SC1091
. tests/wait.sh
# shellcheck disable=SC1091
. tests/faults/world.sh
# shellcheck disable=SC1091
. tests/faults/doctored.sh
# shellcheck disable=SC1091
. tests/faults/process.sh
# shellcheck disable=SC1091
. tests/faults/server.sh
# shellcheck disable=SC1091
. tests/faults/net.sh
# shellcheck disable=SC1091
. tests/faults/clock.sh
# shellcheck disable=SC1091
. tests/faults/harm.sh
# shellcheck disable=SC1091
. tests/faults/jobs.sh
# shellcheck disable=SC1091
. tests/faults/work.sh
# shellcheck disable=SC1091
. tests/faults/doctored_jobs.sh

chosen=" $* "

# scenes NAME...: runs those of these scenarios that the command line names.
scenes() {
    local name began
    for name; do
        [ "$chosen" = "  " ] || [[ $chosen == *" $name "* ]] || continue
        began=$SECONDS
        "scene_${name//-/_}"
        echo "# ${on:-judge} $name: $((SECONDS - began)) s"
    done
}

# on_server KIND KEY SCENE...
on_server() {
    local kind=$1
    [ -z "${ONLY:-}" ] || [ "$ONLY" = "$kind" ] || return
    given "$2" "faults: on $kind" || return
    # shellcheck disable=SC2034
    server_kind=$kind
    on=$kind
    scenes "${@:3}"
    on=
}

if [ "$(uname)" != Linux ]; then
    cannot faults 'it is not Linux'
    echo "$passed passed, $failed failed, $skipped skipped"
    exit 0
fi
rm -rf "$work"
mkdir -p "$work"
"$MAKE" -s F=asan faults build/asan/relet || exit 1
trap world_ends EXIT
trap 'exit 1' HUP INT TERM
[ "${ONLY:-redis}" != redis ] || scenes doctored doctored-jobs
on_server redis REDIS_SERVER T1 T4 T5 T7 T8 T10 T11 T12 T13 T14 T15 T17 \
    T18 T19 T20 T24 T24-cuts T32 T33 E11
on_server valkey VALKEY_SERVER T1 T4 T5 T7 T8 T11 T12 T13 T14 T17 T18 T19 T20 \
    T24 T32 T33
# shellcheck disable=SC2034
program=workers rules=judge_jobs registers=100000
on_server redis REDIS_SERVER T1-jobs T2-jobs T3-jobs T6-jobs T9-jobs \
    T10-jobs T11-jobs T12-jobs T13-jobs T14-jobs T15-jobs T16-jobs T17-jobs \
    T21-jobs T22-jobs T23-jobs T34-jobs \
    T1-work T2-work T3-work T6-work T9-work T10-work T11-work T12-work \
    T13-work T14-work T15-work T16-work T17-work T21-work T22-work T23-work \
    T34-work
on_server valkey VALKEY_SERVER T1-jobs T6-jobs T9-jobs T10-jobs T14-jobs \
    T16-jobs T22-jobs T1-work T6-work T9-work T13-work T16-work T34-work
total
