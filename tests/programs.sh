#!/bin/sh
# SPDX-License-Identifier: MIT
#
# programs.sh - the programs that the tests may call by name.
#
#   tests/programs.sh          prints a line for each: PACKAGE or KEY, and name
#   tests/programs.sh FOLDER   makes links to the installed ones in FOLDER
#
# These are the programs of packages that every Debian has (Essential, or of
# priority required), those that come with gcc, make and git, and those that
# tests/deps.sh installs. The PATH of all.sh has only that folder, so that a
# program that deps.sh does not install is missing on every machine, not only on
# a minimal one; programs_test.sh names it.

set -u
cd "$(dirname "$0")/.." || exit 1

given() {
    cat <<'TABLE'
apt apt-config apt-get
bash bash
binutils ar as ld nm objcopy objdump ranlib size strip
bsdutils script
coreutils basename cat chmod comm cp cut date dd dirname echo env false head id
coreutils install ln ls mkdir mkfifo mktemp mv nproc od paste printf pwd
coreutils readlink rm rmdir seq sha1sum sha256sum sleep sort stat stty tail tee
coreutils test timeout touch tr true truncate tty uname uniq wc yes
dash sh
diffutils cmp diff
dpkg dpkg dpkg-query
findutils find xargs
gcc cc gcc
git git
grep grep
make make
mawk awk
sed sed
tar tar
gzip gzip
util-linux flock nsenter setsid unshare
TABLE
}

list() {
    given | while read -r package names; do
        for program in $names; do
            echo "$package $program"
        done
    done
    sh tests/deps.sh --programs
}

# where NAME: prints the first such program on the PATH; command -v would also
# find builtin commands of the shell.
where() (
    IFS=:
    for dir in $PATH /usr/sbin /sbin; do
        [ ! -d "$dir/$1" ] && [ -x "$dir/$1" ] && echo "$dir/$1" && return
    done
)

link() {
    rm -rf "$1"
    mkdir -p "$1" || exit 1
    list | while read -r _ program; do
        path=$(where "$program")
        [ -z "$path" ] || ln -sf "$path" "$1/$program"
    done
}

if [ $# -eq 0 ]; then list; else link "$1"; fi
