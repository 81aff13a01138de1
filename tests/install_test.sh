#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install_test.sh - pkg-config finds the files of `make install`, these files
# are enough for README's first program, and `make uninstall` removes all of
# them.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=$PWD/build/install
root=$work/root
rm -rf "$work"
mkdir -p "$work"
version=$(sed -n 's/^#define RELET_VERSION "\(.*\)"/\1/p' include/relet.h)
case $version in
0.*) abi=${version%.*} ;;
*) abi=${version%%.*} ;;
esac

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
}

is() {
    [ "$1" = "$2" ] || echo "'$1' instead of '$2'"
}

installed() {
    is "$(cd "$root/opt/relet" && find . -type f -o -type l |
        LC_ALL=C sort | xargs)" \
        "./bin/relet ./include/relet.h ./include/relet_local.h ./lib/librelet.a\
 ./lib/librelet.so ./lib/librelet.so.$abi\
 ./lib/librelet.so.$version\
 ./lib/pkgconfig/relet.pc\
 ./share/bash-completion/completions/relet\
 $(sed 's|^|./share/man/|' build/man/list | xargs)"
}

pkg_config() {
    PKG_CONFIG_PATH=$root/opt/relet/lib/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$root "$PKG_CONFIG" "$@" relet
}

# builds FLAG...: the program, with the library that the flags name.
builds() {
    sed "s|redis://localhost\(:6379\)\{0,1\}|redis://127.0.0.1:$server_port|" \
        "$program" >"$work/first.c"
    "$CC" -o "$work/first" "$work/first.c" "$@"
}

runs() {
    LD_LIBRARY_PATH=$root/opt/relet/lib \
        REDIS_URL=redis://127.0.0.1:$server_port \
        quietly timeout 20 "$1" </dev/null
}

check "make install" quietly "$MAKE" install PREFIX=/opt/relet DESTDIR="$root"
check "it installs what it should" installed
check "the command starts" is \
    "$("$root/opt/relet/bin/relet" --version | head -n 1)" "relet $version"

program=$(awk -v DIR="$work" -f tests/readme_blocks.awk README.md |
    sed -n 's/\(.*\.c\) .*/\1/p' | head -n 1)
if given PKG_CONFIG install_found_by_pkg_config; then
    check "pkg-config knows the version" \
        is "$(pkg_config --modversion)" "$version"
    have_server=
    [ -n "${REDIS_SERVER:-}" ] && server_start "$work/server" &&
        have_server=yes
    # shellcheck disable=SC2046
    check "README's first program builds on the shared library" \
        builds $(pkg_config --cflags --libs)
    if [ -n "$have_server" ]; then
        check "README's first program runs" runs "$work/first"
        # shellcheck disable=SC2046
        check "it builds on the archive" \
            builds $(pkg_config --cflags) "$root/opt/relet/lib/librelet.a"
        check "the program on the archive runs" runs "$work/first"
    else
        given REDIS_SERVER readme_first_program_runs_installed &&
            check "a server for README's first program starts" false
    fi
fi

# A program that is linked in the tree runs there, without any installation.
printf '%s\n' '#include <stdio.h>' '#include "relet.h"' \
    'int main(void) { return printf("%s\n", relet_version()) < 0; }' \
    >"$work/linked.c"
check "a program is linked to build/librelet.so" \
    "$CC" -Iinclude -o "$work/linked" "$work/linked.c" -Lbuild -lrelet
check "the program on build/librelet.so runs in the tree" \
    is "$(LD_LIBRARY_PATH=build "$work/linked")" "$version"

check "make uninstall" \
    quietly "$MAKE" uninstall PREFIX=/opt/relet DESTDIR="$root"
check "nothing is left" is "$(find "$root" -type f -o -type l)" ""

check "make install MANDIR=..." quietly "$MAKE" install PREFIX=/opt/relet \
    MANDIR=/opt/man DESTDIR="$root"
check "MANDIR names the folder of the manual pages" \
    is "$(cd "$root/opt" && find . -name 'relet.[13]' | sort | xargs)" \
    "./man/man1/relet.1 ./man/man3/relet.3"
check "make uninstall MANDIR=..." quietly "$MAKE" uninstall \
    PREFIX=/opt/relet MANDIR=/opt/man DESTDIR="$root"
check "make uninstall MANDIR=... leaves nothing" \
    is "$(find "$root" -type f -o -type l)" ""
total
