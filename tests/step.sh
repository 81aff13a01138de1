#!/bin/sh
# SPDX-License-Identifier: MIT
#
# step.sh LIST NUMBER - runs one step of all.sh and says how it went.
#
# LIST holds a line per step: name, needed keys of have.mk, command; separated
# by tabs. What the command says goes to build/test/NAME.log; when it ends by
# counting tests, they count, else the step is one test. The counts go to
# build/test/NAME.count.

set -u
list=$1
number=$2
tab=$(printf '\t')
# shellcheck disable=SC1091
. build/deps/have.mk

IFS=$tab read -r name needs command <<END
$(sed -n "${number}p" "$list")
END
log=build/test/$name.log
begin=$(date +%s)

lacking() {
    for key in $(echo "$needs" | tr -d -); do
        [ -n "$(eval "echo \"\${$key:-}\"")" ] || echo "$key"
    done
}

counts() {
    tail -n 3 "$log" | sed -n \
        -e 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2 0/p' \
        -e 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' |
        tail -n 1
}

# What failed, and how it ended.
trouble() {
    grep -a '^FAIL' "$log" | head -n 20
    echo ...
    tail -n 20 "$log"
}

missing=$(lacking | xargs)
if [ -n "$missing" ]; then
    code=0
    echo "SKIP $name: tests/deps.sh did not find $missing" >"$log"
    counted="0 0 1"
else
    sh -c "$command" >"$log" 2>&1 </dev/null
    code=$?
    counted=$(counts)
    if [ "$code" -eq 0 ]; then
        counted=${counted:-1 0 0}
    else
        counted=${counted:-0 1 0}
    fi
fi

# shellcheck disable=SC2086
set -- $counted
[ "$code" -eq 0 ] || [ "$2" -gt 0 ] || set -- "$1" 1 "$3"
echo "$1 $2 $3" >"build/test/$name.count"

result="$1 passed, $2 failed, $3 skipped"
[ "$2" -eq 0 ] || result="$result  FAILED"
printf '[%2d/%d] %-20s %4d s  %s\n' "$number" "$(wc -l <"$list")" "$name" \
    $(($(date +%s) - begin)) "$result"
[ "$2" -eq 0 ] || trouble | cut -c 1-200 | sed 's/^/    /'
exit 0
