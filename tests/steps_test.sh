#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# steps_test.sh - no step of all.sh, and no test of one, goes missing unseen:
# steps.sh, step.sh, suite.sh, mutants.sh and floors.sh with steps that are made
# up.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
unset CHOSEN
work=build/steps_test
rm -rf "$work"
mkdir -p "$work"

# ------------------------------------------------------------------ one step

# play FLOOR NEEDS COMMAND...: a step "it" with this floor, - for none, and one
# behind it that is well. Leaves "$work/out".
play() {
    mkdir -p "$work/run"
    rm -f "$work"/run/*
    printf 'it\t%s\t%s\nnext\t-\ttrue\n' "$2" "${*:3}" >"$work/list"
    printf 'next\t1\n' >"$work/floors"
    [ "$1" = - ] || printf 'it\t%s\n' "$1" >>"$work/floors"
    STEP_SECONDS=5 bash tests/steps.sh "$work/run" "$work/floors" 1 \
        "$work/list" >"$work/out" 2>&1
    code=$?
    sum_up
}

# The numbers of the last line.
sum_up() { sum=$(tail -n 1 "$work/out" | tr -dc '0-9 ' | xargs); }

# gives SUM CODE [TEXT]: the run ended with this sum and this exit code, and
# TEXT is in its output.
gives() {
    if [ "$sum $code" != "$1 $2" ]; then
        echo "wanted $1, code $2; got $sum, code $code"
        cat "$work/out"
    elif ! grep -qF -- "${3:-}" "$work/out"; then
        echo "no '$3'"
        cat "$work/out"
    fi
}

play 3 - 'echo 3 passed, 0 failed, 0 skipped'
check 'a step that counts its floor has passed' gives '4 0 0' 0
play 3 - 'echo 1 passed, 0 failed, 2 skipped'
check 'skipped tests count for the floor' gives '2 0 2' 0
play 3 - 'echo 5 passed, 0 failed'
check 'more than the floor is fine' gives '6 0 0' 0
play 4 - 'echo 3 passed, 0 failed, 0 skipped'
check 'a count under the floor has failed' gives '4 1 0' 1 \
    'FAIL it: 3 tests, but 4'
play 4 - 'echo 0 passed, 0 failed, 0 skipped'
check 'nothing is under the floor' gives '1 1 0' 1 'FAIL it: 0 tests'
play 4 - true
check 'a step that ends with 0 and does not count is one test' \
    gives '2 1 0' 1 'FAIL it: 1 tests, but 4'
play 1 - 'echo 9 passed, 0 failed, 0 skipped; exit 1'
check 'a step that ends with 1 has failed, whatever it counts' \
    gives '10 1 0' 1 FAILED
play 1 - 'echo 9 passed, 2 failed, 0 skipped'
check 'a step that counts failures has failed, though it ends with 0' \
    gives '10 2 0' 1 FAILED
# shellcheck disable=SC2016
play 1 - 'kill -KILL $$'
check 'a command that is killed has failed' gives '1 1 0' 1 FAILED
play 1 - 'sleep 60'
check 'a command that takes too long has failed' gives '1 1 0' 1 \
    'FAIL it: took over 5 s'
play - - true
check 'a step without a floor has failed' \
    gives '2 1 0' 1 'FAIL it: has no floor'

# The parent of the command is timeout, and its parent the shell of the step.
# shellcheck disable=SC2016
play 1 - 'kill -KILL $(cut -d " " -f 4 /proc/$PPID/stat); sleep 1'
check 'a step whose shell is killed has failed, and the next one runs' \
    gives '1 1 0' 1 'FAIL it: the step was killed'
check 'all steps are counted, ended or not' grep -q '^1 of 2 steps ended$' \
    "$work/out"

# ended: the process that the command has begun does not run any more; a zombie
# does not run.
ended() {
    read -r child <"$work/child"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$child/status" \
            2>/dev/null || return 0
        sleep 0.1
    done
    echo "process $child still runs"
    kill -KILL "$child"
}

# deaf: it heeds no signal but SIGKILL, and tells its number.
# shellcheck disable=SC2016
deaf="sh -c 'trap \"\" TERM INT; echo \$\$ >$work/child; sleep 60; :' & "
play 1 - "$deaf sleep 60"
check 'a command that takes too long ends with all that it began' ended
play 1 - "$deaf until [ -s $work/child ]; do sleep 0.1; done"
check 'a command that ends leaves nothing behind' ended

# interrupted: Ctrl-C is a SIGINT to each process of the terminal's foreground.
interrupted() {
    rm -f "$work/child"
    printf 'it\t-\t%s\n' "echo \$\$ >$work/child; exec sleep 60" >"$work/list"
    setsid env --default-signal=INT bash tests/steps.sh "$work/run" \
        "$work/floors" 1 "$work/list" >"$work/out" 2>&1 &
    until [ -s "$work/child" ]; do sleep 0.1; done
    kill -INT -- "-$!"
    wait "$!"
    ended
}
check 'a step that is interrupted ends with its command' interrupted
# SIGINT, 2, and SIGQUIT, 3, are in the last digit of the mask.
heeds() {
    grep -qx 'SigIgn:[[:space:]]*[0-9a-f]*[0189]' "$work/run/it.log" ||
        cat "$work/run/it.log"
}
play 1 - 'grep SigIgn /proc/self/status'
check 'a command has not been told to ignore SIGINT' heeds

# ------------------------------------------------------------- missing tools

play 7 NO_SUCH_TOOL true
check 'a step without its tool skips as many tests as its floor' \
    gives '1 0 7' 0 'SKIP it: 7 tests: tests/deps.sh did not find NO_SUCH_TOOL'
lacks='echo "SKIP some: tests/deps.sh did not find NO_SUCH_TOOL"'
play 7 - "$lacks; echo 4 passed, 0 failed, 1 skipped"
check 'for want of a tool, what is short of the floor is skipped' \
    gives '5 0 3' 0 'SKIP it: 2 tests more'
play 7 - "${lacks/NO_SUCH_TOOL/COMPILER}; echo 4 passed, 0 failed, 1 skipped"
check 'a tool that is there is no excuse' gives '5 1 1' 1 'FAIL it: 5 tests'
play 7 - 'echo "SKIP some: because"; echo 4 passed, 0 failed, 1 skipped'
check 'another reason to skip is no excuse' gives '5 1 1' 1 'FAIL it: 5 tests'
play 7 - 'echo "SKIP some: this machine: has none"; echo 4 passed, 0 failed'
check 'a lack of the machine is an excuse to skip' gives '5 0 3' 0 \
    'SKIP it: 3 tests more'
play 7 - "$lacks; echo 4 passed, 1 failed, 1 skipped"
check 'a failure without its tool stays a failure' gives '5 1 1' 1 FAILED

given NO_SUCH_TOOL steps_given >"$work/said"
skipped=$((skipped - 1))
check 'given tells of a missing tool in these words' grep -qx \
    'SKIP steps_given: tests/deps.sh did not find NO_SUCH_TOOL' "$work/said"

# ------------------------------------------------------------------ the lists

play 1 - true
printf 'it\t1\nnext\t1\ngone\t3\n' >"$work/floors"
list_with() {
    bash tests/steps.sh "$work/run" "$work/floors" 1 "$1" >"$work/out" 2>&1
    code=$?
    sum_up
}
list_with "$work/list"
check 'a floor without a step is a failure' gives '2 1 0' 1 \
    'FAIL gone: has a floor'
CHOSEN=it list_with "$work/list"
check 'but not where only some steps were chosen' gives '2 0 0' 0
printf 'it\t1\nnext\t1\n' >"$work/floors"
printf 'it\t-\ttrue\nit\t-\ttrue\nnext\t-\ttrue\n' >"$work/twice"
list_with "$work/twice"
check 'two steps of one name are a failure' gives '3 1 0' 1 'FAIL it: two steps'

# ------------------------------------------------------------- test programs

# program CLAIM LINE... EXIT: a test program that says this and ends so.
program() {
    printf '#!/bin/sh\n%s\nexit %s\n' "$1" "$2" >"$work/$3"
    chmod +x "$work/$3"
    sh tests/suite.sh '' "$work/$3" >"$work/out" 2>&1
    code=$?
    sum_up
}
passes='echo "PASS one: (1 tick)"; echo "PASS two: (1 tick)"'
program "$passes; echo; echo 'Pass: 2, fail: 0, skip: 0.'" 0 a_test
check 'a test program that counts has passed' gives '2 0 0' 0
program "$passes" 0 a_test
check 'a test program without its closing line has failed, with code 0' \
    gives '2 1 0' 1 'FAIL a_test: ended without its closing line'
program "$passes; echo 'Pass: 2, fail: 0,'" 0 a_test
check 'half of a closing line is none' gives '2 1 0' 1 'closing line'
program "$passes" 3 a_test
check 'a test program that dies has failed' gives '2 1 0' 1 \
    'FAIL a_test: exit code 3'
program "$passes; echo 'Pass: 2, fail: 0, skip: 0.'" 1 a_test
check 'a test program that counts and ends with 1 has failed' \
    gives '2 1 0' 1 'exit code 1'
program "echo 'Pass: 0, fail: 0, skip: 0.'" 0 a_test
check 'a test program that counts nothing has failed' gives '0 1 0' 1 'nothing'
program "echo 12 inputs" 0 a_fuzz
check 'a harness is one test' gives '1 0 0' 0
program true 0 a_fuzz
check 'a harness that reads nothing and ends with 0 has failed' \
    gives '0 1 0' 1 'closing line'
# shellcheck disable=SC2016
program 'kill -KILL $$' 0 a_test
check 'a test program that is killed has failed' gives '0 1 0' 1 'exit code 137'

# ------------------------------------------------------------------- mutants

# A folder with a source, its patches, and a compiler that copies the program
# below. By the name of its copy the program acts as the control, as a mutant's
# test or as a mutant's simulator.
place=$work/place
mkdir -p "$place/src/base" "$place/tests/sim/mutants" "$place/build/mutants"
for script in mutants mutant head; do
    cp "tests/sim/$script.sh" "$place/tests/sim/"
done
echo 'int a;' >"$place/src/base/a.c"
cat >"$place/cc" <<'END_OF_COMPILER'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp ./program "$2" && chmod +x "$2"
END_OF_COMPILER
chmod +x "$place/cc"

# mutant NAME HEAD
mutant() {
    printf '%s\n' "$2" '' '--- a/src/base/a.c' '+++ b/src/base/a.c' \
        '@@ -1 +1 @@' '-int a;' '+int b;' >"$place/tests/sim/mutants/$1.patch"
}

# mutants COMMANDS: of the program.
mutants() {
    printf '#!/bin/sh\n%s\n' "$1" >"$place/program"
    (cd "$place" && sh tests/sim/mutants.sh ./cc '' '' ./program) \
        >"$work/out" 2>&1
    code=$?
    sum_up
}
# shellcheck disable=SC2016
pass='case $0 in *control) echo "PASS it_works: (1 tick)"; exit ;; esac'

if given PATCH steps_of_mutants; then
    mutant 001-one 'test: a_test it_works'
    mutant 002-two 'test: a_test it_works'
    mutants "$pass; echo 'FAIL it_works: (1 ticks, 0.1 sec)'; exit 1"
    check 'a mutant is caught by a test that fails' gives '2 0 0' 0
    mutants "$pass; exit 0"
    check 'a mutant is missed by a test that passes' gives '0 2 0' 1 NOT
    mutants "$pass; kill -ILL \$\$"
    check 'a mutant is caught by an assertion' gives '2 0 0' 0
    mutants "$pass; kill -KILL \$\$"
    check 'a mutant is not caught by a killed test' gives '0 2 0' 1 NOT
    mutants "${pass/;/; echo PASS it_works_too:;}; kill -ILL \$\$"
    check 'a mutant is not caught by an assertion of another test' \
        gives '0 2 0' 1 NOT
    mutants 'echo "SKIP it_works: no such address (1 ticks, 0.1 sec)"'
    check 'a mutant is skipped where its test is' gives '0 0 2' 0 \
        'SKIP 001-one: it_works: no such address'

    mutant 001-one 'expect: R10'
    mutant 002-two 'expect: R10'
    finds='echo "seed 7 FAILED R10: x"; echo "7 seeds from 1:"'
    mutants "$finds; echo '  19 faults of 19 are enough, found in 5 tries:'"
    check 'a failure that needs many faults does not count' gives '0 2 0' 1
    mutants "$finds; echo '  19 faults of 19 are enough, found in 0 tries:'"
    check 'a failure that shows when a seed is run twice counts' gives '2 0 0' 0

    finds="$finds; echo '  1 faults of 1 are enough, found in 1 tries:'"
    mutants "$finds"
    check 'a mutant is caught by the rule that its head names' gives '2 0 0' 0
    mutants "${finds//7 seeds/21 seeds}"
    check 'mutants that need more than 20 seeds are a failure' \
        gives '2 1 0' 1 'FAIL median'
    mutant 001-one 'expect: R10|R2|R3'
    mutants "$finds"
    check 'mutants that accept three rules are a failure' gives '2 1 0' 1 \
        '001-one.patch accepts more than two rules'
    mutant 001-one "$(printf 'expect: R10\nbudget: 501 seeds')"
    mutants "$finds"
    check 'mutants with more than 500 seeds are a failure' gives '2 1 0' 1 \
        '001-one.patch has more than 500 seeds'

    mutant 001-one 'expect: none'
    mutants 'echo "7 seeds from 1:"; exit 3'
    check 'the control is what no rule finds' gives '1 1 0' 1 \
        '001-one: survives 7 seeds'

    # The parent of the program is timeout, and its parent mutant.sh.
    mutant 001-one 'expect: R10'
    mutants 'case $0 in *001*) p=$(cut -d " " -f 4 /proc/$PPID/stat)
        kill -KILL $p; sleep 1 ;; esac
        echo "  1 faults of 1 are enough, found in 1 tries:"'
    check 'a mutant without a result has failed, and the next one runs' \
        gives '1 1 0' 1 'FAIL 001-one: it has no result'
fi

# The tests of kill_test, which counts each time that it has killed, are few.
check 'a thousand kills are not a thousand tests' \
    test "$(sed -n 's/^kills	//p' tests/floors.tsv)" -lt 20

# --------------------------------------------------------------- the floors

# floors ARGUMENT...
floors() {
    FLOORS=$work/floors WORK=$work/run bash tests/floors.sh "$@" \
        >"$work/out" 2>&1
}

# are LINE...: the floors.
are() {
    tr '\t' ' ' <"$work/floors" | grep -v '^#' | diff <(printf '%s\n' "$@") -
}

play 1 - 'echo 3 passed, 0 failed, 2 skipped'
printf '# kept\nnext\t4\n' >"$work/floors"
floors
check 'a floor is raised to what a run counted, and a new one written' \
    are 'it 5' 'next 4'
check 'comments in the file of floors stay' grep -qx '# kept' "$work/floors"
play 1 - 'echo 8 passed, 1 failed, 2 skipped'
printf 'it\t5\nnext\t1\n' >"$work/floors"
floors
check 'a step that failed raises nothing' are 'it 5' 'next 1'
floors it 2
check 'one floor may be set, to less too' are 'it 2' 'next 1'
check 'each step of all.sh has a floor, and each floor a step' \
    bash tests/floors.sh --check
bare() {
    grep -v '^lead	' tests/floors.tsv >"$work/floors"
    printf 'odd\t3\n' >>"$work/floors"
    floors --check
    if ! grep -q '^lead: a step without' "$work/out" ||
        ! grep -q '^odd: a floor without' "$work/out"; then
        echo 'it is not:'
        cat "$work/out"
    fi
}
check 'a floor that is missing or strange is named' bare
total
