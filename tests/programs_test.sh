#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# programs_test.sh - scripts and recipes call only programs that are on every
# Debian or that tests/deps.sh installs; and the programs that programs.sh lists
# for every Debian are there.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
work=build/programs_test
rm -rf "$work"
mkdir -p "$work"

builtins=' . : [ alias bg break builtin cd command compgen complete continue
 declare disown echo eval exec exit export false fg getopts hash jobs kill let
 local mapfile printf pwd read readonly return set shift shopt source test trap
 true type typeset ulimit umask unset wait '

# undeclared LIST FILE...: prints the calls in these files that are neither in
# LIST nor functions of the file, or of a file that it may have read.
undeclared() {
    local list=$1
    shift
    awk -f tests/commands.awk "$@" | awk -v builtins="$builtins" '
        function group(file) {
            return file ~ /^tests\/faults/ ? "tests/faults" : file
        }
        BEGIN {
            n = split(builtins, words, /[ \n]+/)
            for (k = 1; k <= n; k++)
                known[words[k]] = 1
        }
        FILENAME != "-" { known[$2] = 1; next }
        $4 == "()" {
            if ($1 ~ /^tests\/(count|redis|wait)\.sh$/)
                known[$3] = 1
            ours[group($1), $3] = 1
            next
        }
        { file[++calls] = $1; line[calls] = $2; word[calls] = $3 }
        END {
            for (k = 1; k <= calls; k++)
                if (!(word[k] in known) && !((group(file[k]), word[k]) in ours))
                    printf "%s:%d calls %s, which deps.sh does not bring\n", \
                        file[k], line[k], word[k]
        }' "$list" -
}

makefiles=$(find src tests -name "*.mk" | sort)
scripts=$(find .ci tests tools fuzz -name '*.sh' -o -path .ci/run |
    sort)
sh tests/programs.sh >"$work/list"
# shellcheck disable=SC2086
check 'each program that is called is declared' \
    undeclared "$work/list" Makefile $makefiles $scripts

# If a line of the table is removed, the calls of its program are reported.
lacks() {
    grep -v "^$1 " "$work/list" >"$work/without"
    # shellcheck disable=SC2086
    undeclared "$work/without" Makefile $makefiles $scripts >"$work/said"
    grep -q " calls $2, " "$work/said" || echo "$2 is not missed"
}
check 'patch without its package is noticed' lacks PATCH patch
check 'ps without its package is noticed' lacks PS ps
check 'ip without its package is noticed' lacks IPTABLES ip
check 'make without its package is noticed' lacks make make
check 'awk without its package is noticed' lacks mawk awk

# ------------------------------------------------------------------ the scan

# What is called here, in turn: a1, a2, ...
cat >"$work/sample.sh" <<'END_OF_SAMPLE'
# no comment
a1 b "$(a2 'b (' | a3)" \
    b; if a4 -x && ! a5; then a6; fi # no
for x in b c; do a7 >b 2>&1 <"$(a8)"; done
X=1 a9 Y=2 | { a10; } || (a11 &)
case $(a12) in
b | c) a13 ;;
(d) a14 "$((1 + $(a15)))" ;;
*) [[ b == c && $(a16) =~ (d) ]] ;;
esac
f() { a17 <<X "${y:-$(a18)}"
not this $(a19)
X
}
timeout -s KILL 5 a20 b <(a21)
ls=(b c) a22
xargs -n 1 -P "$x" a23 b | xargs
env -i C=1 a24
ip netns exec "$n" a25 b
while read -r x; do a26; done <<'X'
not this $(that)
X
b=$'it\'s' a27; x=$(a28); check "claim ($1)" a29 && a30
END_OF_SAMPLE
sample() {
    awk -f tests/commands.awk "$work/sample.sh" |
        awk '$3 ~ /^a[0-9]+$/ { print $3 }' | sort -u -V >"$work/seen"
    seq 30 | sed 's/^/a/' | diff - "$work/seen"
    awk -f tests/commands.awk "$work/sample.sh" |
        awk '$3 !~ /^a[0-9]+$/ { print $3 $4 }' | sort -u | xargs \
        >"$work/others"
    echo 'check echo env f() ip read timeout xargs' |
        diff - "$work/others"
}
check 'the scan finds each command of a sample, and no other word' sample

printf 'a1 "b\n' >"$work/open.sh"
open() {
    awk -f tests/commands.awk "$work/open.sh" | grep -q unclosed-quote ||
        echo 'it is not'
}
check 'a quote that the scan sees no end of is told' open

printf 'X := $(shell a1 $$HOME | a2)\nall:\n\t@a3 $(Y) && \\\n\ta4 $(a b)\n' \
    >"$work/sample.mk"
recipes() {
    awk -f tests/commands.awk "$work/sample.mk" | awk '{ print $3 }' | sort |
        xargs >"$work/seen"
    echo 'a1 a2 a3 a4' | diff - "$work/seen"
}
check 'the scan finds the commands of a makefile' recipes

# ---------------------------------------------------------- on every Debian

# A program of a package has a path there; the alternative awk is mawk's.
package_has() {
    local name=$2
    [ "$1 $2" != 'mawk awk' ] || name=mawk
    [ "$1 $2" != 'gcc cc' ] || name=gcc # cc is an alternative, too
    dpkg-query -L "$1" 2>/dev/null | grep -qE "^(/usr)?/s?bin/$name\$" ||
        echo "package $1 has no $2"
}

is_everywhere() {
    case $1 in
    gcc | make | git | binutils) return ;; # of these: the rest is required
    esac
    dpkg-query -W -f '${Essential} ${Priority}\n' "$1" |
        grep -qE '^yes |required' || echo "package $1 need not be there"
}

if command -v dpkg-query >/dev/null && dpkg-query -s make >/dev/null 2>&1; then
    while read -r package program; do
        check "$program is of package $package" package_has "$package" \
            "$program"
    done < <(grep '^[a-z]' "$work/list")
    for package in $(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' "$work/list" |
        sort -u); do
        check "package $package is on every Debian" is_everywhere "$package"
    done
else
    cannot programs_of_every_debian 'it is no Debian'
fi

# ---------------------------------------------------------------- the folder

only_these() {
    sh tests/programs.sh "$work/folder"
    find "$work/folder" -type l | sed 's/.*\///' |
        grep -vxFf <(awk '{ print $2 }' "$work/list")
    [ -x "$work/folder/sh" ] || echo 'there is no sh'
}
check 'the folder of programs has these alone' only_these
total
