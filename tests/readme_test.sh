#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readme_test.sh - the programs in README.md and docs/ compile with the vendored
# files that these pages name, and programs marked "run" end with exit code 0.
# They run on a server of their own, whose URL replaces redis://localhost. A
# program with the local server is also linked to the archive, and run on a
# file. The targets of the pages' links exist.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=build/readme
rm -rf "$work"
mkdir -p "$work"
$MAKE -s all dist || exit 1

pages="README.md $(echo docs/*.md)"
list=$(for page in $pages; do
    name=$(basename "$page" .md)
    mkdir "$work/$name"
    awk -v DIR="$work/$name" -f tests/readme_blocks.awk "$page"
done)
for page in README.md docs/client.md docs/leases.md docs/queues.md \
    docs/local.md; do
    check "$page has a program" grep -q '^```c run' "$page"
done
have_server=
[ -n "${REDIS_SERVER:-}" ] && server_start "$work/server" && have_server=yes

compiles() {
    sed "s|redis://localhost\(:6379\)\{0,1\}|redis://127.0.0.1:$server_port|" \
        "$1" >"$1.tmp" && mv "$1.tmp" "$1"
    # shellcheck disable=SC2086
    "$CC" -Wall -Wextra -Ibuild/dist -o "${1%.c}" "$1" $2
}

runs() {
    REDIS_URL=redis://127.0.0.1:$server_port timeout 20 "$@" \
        >"$1.log" 2>&1 </dev/null || {
        cat "$1.log"
        echo "it failed"
    }
}

# Both ways to have the local server, and both kinds of store.
local_program() {
    check "program $1 compiles" compiles "$2" \
        "-DRELET_LOCAL build/dist/relet.c build/dist/relet_local.c"
    check "program $1 runs" runs "${2%.c}"
    check "program $1 compiles with the archive" compiles "$2" \
        build/librelet.a
    check "program $1 runs on a file" runs "${2%.c}" "file:$work/$1.relet"
    check "program $1 runs again on the same file" runs "${2%.c}" \
        "file:$work/$1.relet"
}

# Runs a shell script, in which `relet` is the command from build/ and uses the
# server of this test.
script_runs() {
    sed "s|redis://localhost\(:6379\)\{0,1\}|redis://127.0.0.1:$server_port|" \
        "$1" >"$1.tmp"
    PATH=$PWD/build:$PATH timeout 20 sh -eu "$1.tmp" >"$1.log" 2>&1 \
        </dev/null || { cat "$1.log"; echo "it failed"; }
}

while read -r file mark; do
    name=${file#"$work/"}
    name=${name%.*}
    case $file in
    *.sh)
        if [ -n "$have_server" ]; then
            check "script $name runs" script_runs "$file"
        else
            given REDIS_SERVER "readme_script_${name}_runs" &&
                check "a server for script $name starts" false
        fi
        continue ;;
    esac
    libraries=build/dist/relet.c
    if grep -q relet_local.h "$file"; then
        local_program "$name" "$file"
        continue
    fi
    check "program $name compiles" compiles "$file" "$libraries"
    [ "$mark" = run ] || continue
    if [ -n "$have_server" ]; then
        check "program $name runs" runs "${file%.c}"
    else
        given REDIS_SERVER "readme_program_${name}_runs" &&
            check "a server for program $name starts" false
    fi
done <<END
$list
END

# Each program of examples/ has its place in README.md. It compiles by the line
# in its head, with the files to vendor; examples_test.sh, loop_test.sh and
# tls_test.sh run it.
by_its_head() {
    (cd "$work/examples" && sh -eu -c "$(sed -n \
        's|^[ */]*    \(cc .*\)|\1|p' "$1" | head -n 1)")
}
mkdir "$work/examples"
cp examples/* build/dist/relet.c build/dist/relet.h "$work/examples"
for file in examples/*; do
    name=${file##*/}
    check "README.md links to $file" grep -q "(examples/$name)" README.md
    case $name in
    *openssl*) given OPENSSL_DEV "$file compiles" || continue ;;
    *uv*) given LIBUV_DEV "$file compiles" || continue ;;
    *.cpp) given COMPILER_CXX "$file compiles" || continue ;;
    esac
    check "$file compiles by its head" by_its_head "$name"
done

# links PAGE: prints the targets of links that do not exist. An anchor is a
# heading in small letters with dashes.
links() {
    grep -oE '\]\([^)]+\)' "$1" | sed 's/^](//; s/)$//' | sort -u |
        grep -v '^https*:' |
        while IFS='#' read -r path anchor; do
            target=$(dirname "$1")/$path
            [ -n "$path" ] || target=$1
            [ -e "$target" ] || echo "$1 links to $path"
            [ -z "$anchor" ] || sed -n 's/^##* //p' "$target" |
                tr 'A-Z ' 'a-z-' | tr -d ',.' | grep -qx "$anchor" ||
                echo "$1 links to $path#$anchor"
        done
}
for page in $pages CONTRIBUTING.md CHANGELOG.md; do
    check "$page: what it links to is there" links "$page"
done
check 'README.md has at most 14 KB' test "$(wc -c <README.md)" -le 14336
total
