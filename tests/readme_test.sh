#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readme_test.sh - the programs in README.md compile with the files that they
# tell to vendor, and those marked "run" do what they say: on a server of their
# own, which takes the place of redis://localhost. One that brings its server
# with it is also linked to the archive, and run on a file.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=build/readme
rm -rf "$work"
mkdir -p "$work"
$MAKE -s dist build/librelet.a || exit 1

list=$(awk -v DIR="$work" -f tests/readme_blocks.awk README.md)
[ -n "$list" ] || check "README.md has a program" false
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
    check "and again, on the same one" runs "${2%.c}" "file:$work/$1.relet"
}

while read -r file mark; do
    name=$(basename "$file" .c)
    libraries=build/dist/relet.c
    if grep -q relet_local.h "$file"; then
        local_program "$name" "$file"
        continue
    fi
    if [ "$mark" = tls ]; then
        # tls_test.sh runs it: it is the example, to the byte.
        check "program $name is the example" \
            diff "$file" examples/tls_openssl.c
        given OPENSSL_DEV "readme_program_$name" || continue
        libraries="$libraries -lssl -lcrypto"
    fi
    ! grep -q '^ \* threads.c - ' "$file" ||
        check "program $name is the example" diff "$file" examples/threads.c
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
total
