#!/bin/sh
# SPDX-License-Identifier: MIT
#
# parts_test.sh - relet.c without leases, without queues, without either, and
# with RELET_SMALL, each with and without its driver, compiles with every
# compiler without warnings, and the other parts work. `make dist PARTS=…`
# writes the same parts.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=$PWD/build/parts
rm -rf "$work"
mkdir -p "$work"
"$MAKE" -s dist || exit 1
warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# builds FOLDER WORDS...: builds the program with the folder's relet.c and
# relet.h.
source=parts
builds() {
    folder=$1
    shift
    "$@" -I"$folder" -o "$work/program" "tests/parts/$source.c" \
        "$folder/relet.c"
}

# runs [EMULATOR]
runs() { "$@" "$work/program" "redis://127.0.0.1:$server_port"; }

# The server ends, and another one begins on its port.
restart_write() {
    cat >"$work/restart" <<END
"$REDIS_CLI" -p $server_port shutdown nosave
"$REDIS_SERVER" --port $server_port --bind 127.0.0.1 --save '' --dir "$work" \
    --daemonize yes --pidfile "$work/pid" >/dev/null
END
}

# restarts [EMULATOR]: tests the outcomes of RELET_SMALL while the server
# restarts.
restarts() { "$@" "$work/program" "$server_port" "sh $work/restart"; }

# small NAME RUN FOLDER COMPILER...
small() {
    name=$1
    run=$2
    folder=$3
    shift 3
    for poll in '' -DRELET_NO_POLL; do
        out="-DRELET_SMALL $poll"
        # shellcheck disable=SC2086
        check "$name: $out" builds "$folder" "$@" $out &&
            check "$name: $out works" runs $run
    done
    source=small
    # shellcheck disable=SC2086
    check "$name: what it promises" builds "$folder" "$@" -DRELET_SMALL &&
        check "$name: what it promises is so" restarts $run
    source=parts
    # shellcheck disable=SC2034  # for server_stop
    [ ! -f "$work/pid" ] || server_pid=$(cat "$work/pid")
}

# imports COMPILER FLAG...: without the driver, only functions of string.h that
# handle memory and strings, and what compilers add.
imports() {
    "$@" -Os -Ibuild/dist -c -o "$work/relet.o" build/dist/relet.c || return
    ! nm -u "$work/relet.o" | awk '{ print $2 }' |
        grep -v '^\(mem\|str\)[a-z]*$\|^_GLOBAL_OFFSET_TABLE_$\|^__stack_chk'
}

# each NAME RUN COMPILER...: all combinations.
each() {
    name=$1
    run=$2
    shift 2
    for poll in '' -DRELET_NO_POLL; do
        for lease in '' -DRELET_NO_LEASE; do
            for queue in '' -DRELET_NO_QUEUE; do
                out="$poll $lease $queue"
                # Words: macros, an emulator.
                # shellcheck disable=SC2086
                check "$name:$out" builds build/dist "$@" $out &&
                    check "$name:$out works" runs $run
            done
        done
    done
    small "$name" "$run" build/dist "$@"
}

given REDIS_SERVER 'parts: all of them' || { total; exit; }
server_start "$work" || exit 1
restart_write
# shellcheck disable=SC2086
each cc '' "$CC" -std=c99 -O1 $warn
# shellcheck disable=SC2086
given CLANG 'parts by clang' && each clang '' "$CLANG" -std=c99 -O1 $warn
given TCC 'parts by tcc' && each tcc '' "$TCC"
given MUSL_GCC 'parts on musl' && each musl '' "$MUSL_GCC" -Wall -Werror -static
# shellcheck disable=SC2086
given M32 'parts for 32 bits' &&
    each 'cc -m32' '' "$CC" -m32 -O1 -Wall -Werror ${M32_CFLAGS:-}
given COMPILER_CXX 'parts as C++' &&
    each c++ '' "$COMPILER_CXX" -x c++ -std=c++11 -Wall -Werror
if given CC_BE 'parts on a big-endian machine' &&
    given QEMU_BE 'parts on a big-endian machine'; then
    each big-endian "$QEMU_BE" "$CC_BE" -Wall -static -Wl,--no-warnings
fi
for out in '' -DRELET_NO_LEASE -DRELET_NO_QUEUE \
    '-DRELET_NO_LEASE -DRELET_NO_QUEUE' -DRELET_SMALL; do
    # shellcheck disable=SC2086
    check "without the driver, $out: imports" imports "$CC" -DRELET_NO_POLL $out
done

# RELET_SMALL judges each vector as every build does, but for streamed values.
small_vectors() {
    # shellcheck disable=SC2046
    "$CC" -std=c99 -w -DRELET_SMALL -include build/dist/relet.c -Iinclude \
        $(printf ' -I%s' src/*) -Itests -o "$work/vectors" \
        tests/vectors_test.c || return
    "$work/vectors" >"$work/vectors.out"
    grep -q '^[1-9][0-9]* passed' "$work/vectors.out" || echo 'no vector passes'
    sed -n 's/^line \([0-9]*\),.*/\1/p' "$work/vectors.out" |
        while read -r n; do
            sed -n "${n}p" tests/vectors/resp3.txt | grep -qF '?' ||
                echo "resp3.txt: line $n: has another verdict"
        done
}
check 'RELET_SMALL judges each vector that is not streamed' small_vectors

# dist FOLDER MACROS PART...: the same program with what make dist writes.
dist() {
    folder=build/dist/$1
    macros=$2
    shift 2
    check "PARTS=$*: is written" \
        same_words "$folder/relet.c, relet.h" "$MAKE" -s dist PARTS="$*"
    # shellcheck disable=SC2086
    check "PARTS=$*: compiles" builds "$folder" "$CC" -std=c99 -O1 $warn $macros
    check "PARTS=$*: works" runs
    check "PARTS=$*: has nothing of the rest" lacks "$folder" "$macros"
}

# same_words WANTED COMMAND...: the command prints exactly this text.
same_words() {
    wanted=$1
    shift
    said=$("$@" 2>&1)
    [ "$said" = "$wanted" ] || echo "$said"
}

# lacks FOLDER MACROS: the files have no name of a part that the macros leave
# out.
lacks() {
    set -- "$2" "$1"/relet.?
    macros=$1
    shift
    for name in 'LEASE relet_lease_start\|rlt_elect_' \
        'QUEUE relet_queue_put(\|rlt_claims_' \
        'SMALL int relet_\(subscribe\|await\)(' 'POLL relet_wait(\|<sys/'; do
        case $macros in *"${name%% *}"*) grep -n "${name#* }" "$@" ;; esac
    done
    true
}

dist client '-DRELET_NO_POLL -DRELET_NO_LEASE -DRELET_NO_QUEUE' client
dist client-lease '-DRELET_NO_POLL -DRELET_NO_QUEUE' client lease
dist client-driver-lease -DRELET_NO_QUEUE client driver lease
dist client-driver-queue -DRELET_NO_LEASE driver queue
dist client-driver-lease-queue '' client driver lease queue
dist client-driver-small \
    '-DRELET_SMALL -DRELET_NO_LEASE -DRELET_NO_QUEUE' driver small
check 'PARTS="small lease": is refused' same_words \
    'PARTS: small has neither leases nor queues' \
    sh tools/parts.sh build/dist small lease
check 'all parts are the whole file' \
    cmp build/dist/relet.c build/dist/client-driver-lease-queue/relet.c
check 'PARTS=clint: is refused' same_words \
    'PARTS: clint: no such part; there are client, driver, lease, '\
'queue and small' sh tools/parts.sh build/dist clint
total
