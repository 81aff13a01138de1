#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutant.sh PATCH - applies one patch to a copy of the client's files and checks
# that the defect is found in the way that the head of the patch names: either
#
#   expect: L1|L3            the simulator finds it by one of these rules, even
#                            if other rules fail earlier,
#   budget: 200 seeds        within so many seeds from seed 1; the number is 5
#                            times the average that is needed from other seeds
#   work: jobs               with this workload
#
# or
#
#   test: engine/hold_rules_test a_key_may_hold_any_byte
#                            this unit test finds it, which passes without the
#                            patch; if the test is skipped, so is the mutant
#
# "expect: none" is the control: its patch changes nothing, and no rule may
# fail. Only patched files are compiled, the others come from the library; a
# seed is the same run in any build.

set -u
patch=$1
name=$(basename "$patch" .patch)
log=build/mutants/$name.log
work=$PWD/build/mutants/$name # tests run here if the patch changes lua/
scripts=
kind=sim
seeds=0
needs=

field() { sed -n "s/^$1: *\([^ ]*\).*/\1/p" "$patch" | head -n 1; }

# changed FOLDER: prints the files of the folder that the patch changes.
changed() { sed -n "s|^+++ [^/]*/$1/\([^[:space:]]*\).*|\1|p" "$patch"; }

# Prints the files of src to compile: those that the patch changes, or that
# include a changed file.
sources() {
    for file in $(changed src) ${scripts:+link/script_text.inc}; do
        case $file in
        *.c) echo "$file" ;;
        *) (cd src && grep -l "\"${file##*/}\"" ./*/*.c) ;;
        esac
    done | sed 's|^\./||' | sort -u
}

# copied FILE: copies a file of src to $work.
copied() {
    mkdir -p "$work/src/${1%/*}" && cp "src/$1" "$work/src/$1"
}

# Compiles the patched objects into $work.
objects() {
    rm -rf "$work"
    mkdir -p "$work/src/link" || return 1
    for file in $(changed src) $(sources); do
        copied "$file" || return 1
    done
    [ -z "$scripts" ] || cp -R lua "$work/" || return 1
    (cd "$work" && patch -s -p1 -F0) <"$patch" || return 1
    [ -z "$scripts" ] || LC_ALL=C awk -f tools/embed.awk "$work"/lua/*.lua |
        build/tools/pack >"$work/src/link/script_text.inc" || return 1
    # A patched header comes before its original.
    patched=$(echo "$MUTANT_FOLDERS" | sed "s|-Isrc|-I$work/src|g")
    for file in $(sources); do
        # These variables hold several words.
        # shellcheck disable=SC2086
        $MUTANT_CC -std=c99 $MUTANT_CFLAGS -g0 -w -DRELET_LOCAL -Iinclude \
            $patched $MUTANT_FOLDERS -c \
            -o "$work/$(basename "$file" .c).o" "$work/src/$file" || return 1
    done
}

# link PROGRAM OBJECT...
link() {
    out=$1
    shift
    # shellcheck disable=SC2086
    $MUTANT_CC $MUTANT_CFLAGS -o "$out" "$@" build/librelet.a \
        -lpthread -lm
}

# result caught|missed|skipped TEXT: records how the mutant ended, and exits.
result() {
    echo "$1 $kind $seeds" >"build/mutants/$name.result"
    case $1 in
    skipped) echo "SKIP $name: $2" ;;
    *) echo "$name: $2" ;;
    esac
    [ "$1" = missed ] || rm -rf "$work"
    exit 0
}

# ------------------------------------------------------------- a unit test

# run PROGRAM TEST: runs a test, beside the patched scripts if there are any.
run() (
    [ -z "$scripts" ] || cd "$work" || exit 1
    timeout 120 "$1" -v -t "$2"
)

# passes PROGRAM TEST: sets alone=yes if no other test runs in the same call.
passes() {
    timeout 120 "$1" -v -t "$2" >"$log" 2>&1 || return 1
    alone=yes
    ! grep '^PASS ' "$log" | grep -qv "^PASS $2:" || alone=
    grep -q "^PASS $2:" "$log"
}

# fails PROGRAM TEST: the test fails, or a failed assertion of the client ends
# the program by SIGILL, SIGTRAP or SIGABRT, or it ends by SIGSEGV. A test that
# ended the program has printed no line, so such an end counts only if no other
# test runs in the same call.
fails() {
    run "$1" "$2" >"$log" 2>&1
    code=$?
    grep -q "^FAIL $2:" "$log" && return
    case $alone:$code in yes:13[234] | yes:139) return 0 ;; esac
    return 1
}

# Prints the reason for which the test skipped itself without the patch.
unable() { sed -n "s/^SKIP $1: \(.*\) ([0-9]* ticks.*/\1/p" "$log"; }

unit() {
    kind=unit
    program=$(field test)
    test=$(sed -n 's/^test: *[^ ]* *//p' "$patch")
    object=build/unit/$program.o
    link "$work/control" "$object" >"$log" 2>&1 ||
        result missed "its test does not link, see $log"
    passes "$work/control" "$test" || {
        why=$(unable "$test")
        [ -z "$why" ] || result skipped "$test: $why"
        result missed "$test does not pass without it, see $log"
    }
    link "$work/test" "$object" "$work"/*.o >"$log" 2>&1 ||
        result missed "does not link, see $log"
    fails "$work/test" "$test" ||
        result missed "NOT CAUGHT by $program $test"
    result caught "$test"
}

# ----------------------------------------------------------- the simulator

# Judges the exit code of the simulator: 0 if the mutant was caught, 1 if not.
judge() {
    case $expect:$1 in
    none:3) return 0 ;;
    none:* | *:3 | *:4) return 1 ;;
    *:0) return 0 ;;
    esac
    # An assertion of the client failed.
    case $expect in *E1*) grep -q '^FAILED E1' "$log" ;; *) return 1 ;; esac
}

# Shrinks the failure: it must need ten faults at most, and the shrinking must
# end within a minute. A failure that only shows when a seed runs twice is not
# shrunk.
shrunk() {
    seed=$(sed -n 's/^seed \([0-9]*\) FAILED.*/\1/p' "$log" | tail -n 1)
    [ -n "$seed" ] && [ -z "$crash" ] || return 0
    timeout 60 "$work/sim" SEED="$seed" WORK="$works" >"$log.shrunk" 2>&1
    few=$(sed -n 's/^ *\([0-9]*\) faults of .* are enough.*/\1/p' "$log.shrunk")
    sed -n 's/^ *\(.* faults of .*\) are enough, found \(.*\):/, \1 \2/p' \
        "$log.shrunk"
    [ "${few:-99}" -le 10 ] || grep -q ', found in 0 tries:$' "$log.shrunk"
}

# Prints the rule and the seed that found the defect, from the log.
found() {
    sed -n -e 's/^seed \([0-9]*\) FAILED \([RELQ0-9]*\):.*/\2 by seed \1/p' \
        -e 's/^FAILED E1: .*SEED=\([0-9]*\).*/E1 by seed \1/p' "$log" |
        tail -n 1
    [ "$expect" != none ] || echo "survives $seeds seeds"
}

simulator() {
    expect=$(field expect)
    budget=$(field budget)
    works=$(field work) # if empty, each seed draws its workload
    [ "$expect" != none ] || kind=control
    # shellcheck disable=SC2086
    link "$work/sim" $MUTANT_OBJECTS "$work"/*.o >"$log" 2>&1 ||
        result missed "does not link, see $log"
    timeout 300 "$work/sim" SEEDS="$budget" \
        EXPECT="$expect" WORK="$works" >"$log" 2>&1
    code=$?
    seeds=$(sed -n 's/^\([0-9]*\) seeds from .*/\1/p' "$log")
    crash=$(sed -n 's/^FAILED E1: .*SEED=\([0-9]*\).*/\1/p' "$log")
    [ -z "$crash" ] || seeds=$crash # an assertion ended it
    seeds=${seeds:-0}
    judge "$code" && needs=$(shrunk) && result caught "$(found)$needs"
    result missed "NOT CAUGHT by $expect in $seeds of $budget seeds, or not \
shrunk$needs: $(grep FAILED "$log" | head -n 1)"
}

scripts=$(changed lua)
objects >"$log" 2>&1 ||
    result missed "does not apply or build any more, see $log"
[ -n "$(field test)" ] && unit
simulator
