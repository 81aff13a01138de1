#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# all.sh - everything that `make test` runs, and one sum at the end.
#
#   tests/all.sh            every step
#   tests/all.sh asan m32   only these
#   tests/all.sh --list     their names, needs and commands; nothing runs
#
# Steps are independent and run two at a time, except those that load real
# servers or measure: these run alone, at the end. Before them the fault
# scenarios, which wait most of the time, run on both servers at the same time.
# Each fuzz harness runs for FUZZ_SECONDS. The output of each step is in
# build/test/NAME.log. floors.tsv has the least number of tests of each step: a
# step that counts fewer has failed. `bash tests/floors.sh` raises these numbers
# to the counts of the last run, and adds new steps.

set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
export MAKE=${MAKE:-make} WERROR=1

# strange: prints keys that are missing in an older output of deps.sh.
strange() {
    local key
    for key in $(sh tests/deps.sh --programs | cut -d ' ' -f 1 | sort -u); do
        grep -q "^$key=" build/deps/have.mk || echo "$key"
    done
}

if [ "$*" = --list ]; then
    shift
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    only_list=yes
else
    work=build/test
    only_list=
    rm -rf "$work"
    mkdir -p "$work"
fi

# The PATH of the steps has only programs that a minimal machine has, too. A
# compiler that is a link to ccache keeps its own path.
if [ -z "$only_list" ]; then
    { [ -f build/deps/have.mk ] && [ -z "$(strange)" ]; } ||
        sh tests/deps.sh || exit 1
    sh tests/programs.sh build/programs || exit 1
    export CCACHE_PATH=${CCACHE_PATH:-$PATH}
    # shellcheck disable=SC2123
    PATH=$PWD/build/programs
fi

chosen=$*
seconds=${FUZZ_SECONDS:-20}
fresh=$(git rev-parse --short=12 HEAD 2>/dev/null || date +%Y%m%d)

# step NAME NEEDS COMMAND: NEEDS are keys of have.mk, joined by blanks, or -.
step() {
    [ -z "$chosen" ] || [[ " $chosen " == *" $1 "* ]] || return 0
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

# flavour NAME NEEDS: a step with the whole suite in one of the Makefile's
# flavours.
flavour() {
    step "$1" "$2" "$MAKE -s F=$1 suite"
}

parallel_steps() {
    # The longest steps, so they begin first. Mutants show that the simulator
    # finds defects.
    step mutants PATCH "$MAKE -s mutants JOBS=1"
    step clang-tidy CLANG_TIDY "sh tools/analyze.sh clang-tidy"

    # The suite, built in every way that could matter; slow builds first.
    flavour valgrind VALGRIND
    flavour be "CC_BE QEMU_BE"
    flavour asan -
    flavour asan-clang CLANG
    flavour shipped -
    flavour visible -
    flavour release -
    flavour release-clang CLANG
    flavour tiny -
    flavour msan CLANG
    flavour m32 M32
    flavour musl MUSL_GCC
    flavour tcc TCC

    # One test of the driver needs a second thread.
    local tests=build/tsan/tests
    step tsan - "$MAKE -s F=tsan UNITS='$tests/connect_test \
$tests/poll_test $tests/transport_test' REPLAYS= suite"

    local harness name
    for harness in fuzz/*_fuzz.c; do
        name=${harness##*/}
        name=${name%_fuzz.c}
        step "fuzz-$name" CLANG_FUZZER \
            "$MAKE -s fuzz T=$seconds ONLY=$name"
    done
    step coverage "CLANG LLVM_COV LLVM_PROFDATA" "sh tools/coverage.sh"

    # Whole clients under faults. Each commit begins with another seed, which
    # the output names.
    step sim - "$MAKE -s sim SEEDS=2000 FROM=1 MARKS=1"
    step sim-fresh - "$MAKE -s sim SECONDS=60 FROM=$fresh"
    step sim-jobs - "$MAKE -s sim SECONDS=60 WORK=jobs FROM=$fresh"
    step sim-lease - "$MAKE -s sim SECONDS=60 WORK=lease FROM=$fresh"
    step sim-asan - "$MAKE -s F=asan sim SEEDS=300 FROM=1"
    step sim-hash - "sh tests/sim_hash_test.sh"

    # Warnings of compilers and analysers.
    step warnings - "sh tests/warnings_test.sh"
    step header - "sh tests/header_test.sh"
    step amalgamation - "sh tests/amalgamation_test.sh"
    step local-amalgamation - "sh tests/local_amalgamation_test.sh"
    step analyzer - "sh tools/analyze.sh gcc"
    step cppcheck CPPCHECK "sh tools/analyze.sh cppcheck"

    # Checks of the code and its files.
    step layers - "$MAKE -s check-layers"
    step shape - "$MAKE -s check-shape"
    step pure - "$MAKE -s check-pure"
    step symbols - "$MAKE -s check-symbols"
    step generated PATCH "$MAKE -s check-generated"
    step demo - "$MAKE -s demo"
    step benches HIREDIS_DIR "$MAKE -s bench-programs"
}

scripts() {
    local script name
    for script in tests/*_test.sh; do
        name=${script##*/}
        name=${name%_test.sh}
        case $name in
        warnings | header | amalgamation | local_amalgamation) ;;
        sim_hash | faults) ;;
        # These tests watch other processes by ps.
        lead | jobs | examples) step "$name" PS "bash $script" ;;
        *) step "$name" - "bash $script" ;;
        esac
    done
}

fault_steps() {
    step faults PS "ONLY=redis bash tests/faults_test.sh"
    step faults-valkey PS "ONLY=valkey bash tests/faults_test.sh"
}

# Steps on real servers, or that depend on time: one after the other.
lone_steps() {
    scripts
    step servers - "sh tests/servers.sh"
    step model "REDIS_SERVER VALKEY_SERVER" "$MAKE -s model"
    step lua-model "REDIS_SERVER VALKEY_SERVER" "$MAKE -s lua-model"
    step kills - "sh tests/kills.sh"
    step size - "$MAKE -s check-size"
    step stack - "$MAKE -s check-stack"
    step bench HIREDIS_DIR "BENCH_QUICK=1 bash tests/bench/run.sh"
}

# Builds the files that more than one step needs.
build() {
    $MAKE -s -j2 all dist build/sim && $MAKE -s -j2 F=pure build/pure/relet &&
        $MAKE -s -j2 F=asan faults build/asan/relet &&
        $MAKE -s build/model/shim.so &&
        { [ -z "$CLANG_FUZZER" ] || $MAKE -s -j2 F=fuzz fuzzers; }
}

parallel_steps >"$work/parallel"
fault_steps >"$work/faults"
lone_steps >"$work/lone"
if [ -n "$only_list" ]; then
    cat "$work/parallel" "$work/faults" "$work/lone"
    exit
fi

# shellcheck disable=SC1091
. build/deps/have.mk
echo "building; fresh seeds: make sim SECONDS=60 FROM=$fresh"
jobs=2
if [ -n "$chosen" ]; then
    jobs=1 # they may build the same things
elif ! build >"$work/build.log" 2>&1; then
    tail -n 40 "$work/build.log"
    echo "0 passed, 1 failed, 0 skipped" | tee "$work/sum"
    exit 1
fi
CHOSEN=$chosen bash tests/steps.sh "$work" tests/floors.tsv \
    $jobs "$work/parallel" $jobs "$work/faults" 1 "$work/lone"
code=$?
[ -n "$chosen" ] || echo "$SECONDS" >"$work/seconds"
exit $code
