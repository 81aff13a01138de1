#!/bin/sh
# SPDX-License-Identifier: MIT
#
# programs.sh - the programs that the tests may call by name.
#
#   tests/programs.sh            a line for each: PACKAGE or KEY, and its name
#   tests/programs.sh FOLDER     FOLDER holds a link to each that is here
#
# They are those of packages that every Debian has (Essential, or of priority
# required), those that come with gcc, make and git, and what tests/deps.sh
# installs. all.sh has nothing but that folder on its PATH, so that a program
# which deps.sh does not bring is missing on every machine, not only on a bare
# one; programs_test.sh names it.

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

# where NAME: the first on the PATH; command -v would tell of what the shell has
# itself, too.
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
