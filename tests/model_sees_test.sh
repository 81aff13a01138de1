#!/bin/sh
# SPDX-License-Identifier: MIT
#
# model_sees_test.sh - `make model` finds two defects that it once missed: a
# draw that is not even, and an invalidation that comes before the reply of the
# command that caused it. The script plants each defect in a copy of one file of
# the local server; the model that is linked to the copy has to fail.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/model # has the shim that sets the clock of a server
mkdir -p "$work"
given REDIS_SERVER model_sees_what_is_doctored || { total; exit; }
$MAKE -s build/librelet.a build/model/shim.so build/model/model || exit 1
# These are flags, and the sources of the model.
core=$($MAKE -s folders)
local=$($MAKE -s local-folders)
sources=$(find tests/model -name '*.c' ! -name shim.c)

# doctored NAME FILE SED-SCRIPT: the model with this change in the file.
doctored() {
    sed "$3" "$2" >"$work/$1.c"
    ! cmp -s "$2" "$work/$1.c" || { echo "the change changes nothing"; return; }
    # shellcheck disable=SC2086
    "$CC" -std=c99 -O2 -w -Iinclude $local "-I${2%/*}" -c -o "$work/$1.o" \
        "$work/$1.c" &&
        "$CC" -std=c99 -O2 -w -DMODEL_OURS -Iinclude $core -Itests/model \
            -o "$work/doctored_$1" $sources "$work/$1.o" build/librelet.a -lm
}

# plays NAME CODE WORDS: of so many tapes that both defects are among them. Its
# exit code is this one, and it says these words.
plays() {
    REDIS_SERVER=$REDIS_SERVER "$work/$1" -s redis,ours 600 1 \
        >"$work/$1.log" 2>&1
    [ $? -eq "$2" ] && grep -q "$3" "$work/$1.log" ||
        tail -n 5 "$work/$1.log"
}

check 'the model as it is finds nothing' plays model 0 ', 0 failed'

check 'a draw that favours the first of a chain is made' doctored chance \
    src/local/data/dict.c 's/^        depth = .*;/        depth = 0;/'
check 'and the model counts the draws' plays doctored_chance 1 \
    'FAIL not as by chance'
check 'an invalidation that comes too early is made' doctored order \
    src/local/server/dispatch.c \
    '/rlt_assert(s->current == NULL);/{n;s/s->current = p;/s->current = NULL;/}'
check 'and the model sees the order of replies and pushes' \
    plays doctored_order 1 '^FAIL seed'
total
