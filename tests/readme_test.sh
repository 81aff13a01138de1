#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readme_test.sh - the programs in README.md compile with the two files that
# they tell to vendor, and those marked "run" do what they say: on a server of
# their own, which takes the place of redis://localhost.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=build/readme
rm -rf "$work"
mkdir -p "$work"
$MAKE -s dist || exit 1

list=$(awk -v DIR="$work" -f tests/readme_blocks.awk README.md)
[ -n "$list" ] || check "README.md has a program" false
have_server=
[ -n "${REDIS_SERVER:-}" ] && server_start "$work/server" && have_server=yes

compiles() {
    sed "s|redis://localhost\(:6379\)\{0,1\}|redis://127.0.0.1:$server_port|" \
        "$1" >"$1.tmp" && mv "$1.tmp" "$1"
    # shellcheck disable=SC2086
    "$CC" -Wall -Wextra -Ibuild/dist -o "${1%.c}" "$1" build/dist/relet.c $2
}

runs() {
    REDIS_URL=redis://127.0.0.1:$server_port timeout 20 "$1" \
        >"$1.log" 2>&1 </dev/null || {
        cat "$1.log"
        echo "it failed"
    }
}

while read -r file mark; do
    name=$(basename "$file" .c)
    libraries=
    if [ "$mark" = tls ]; then
        # tls_test.sh runs it: it is the example, to the byte.
        check "program $name is the example" \
            diff "$file" examples/tls_openssl.c
        given OPENSSL_DEV "readme_program_$name" || continue
        libraries="-lssl -lcrypto"
    fi
    check "program $name compiles" compiles "$file" "$libraries"
    [ "$mark" = run ] || continue
    if [ -n "$have_server" ]; then
        check "program $name runs" runs "${file%.c}"
    else
        skip "readme_program_${name}_runs" "there is no redis-server"
    fi
done <<END
$list
END
total
