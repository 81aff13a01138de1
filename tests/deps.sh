#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deps.sh - brings what the tests need onto a Debian 12 machine.
#
#   tests/deps.sh          install and download what is missing
#   tests/deps.sh --list   only say what is there and what is not
#   tests/deps.sh --programs   the programs that it brings, with their keys
#
# As root it installs Debian packages. Without root it still downloads what
# needs no installation (greatest, hiredis, Valkey) into build/deps. With
# RELET_NO_INSTALL=1 it does neither and only looks. Everything comes from the
# machine's own apt sources, asked for another suite where that is needed.
#
# The answer is build/deps/have.mk: KEY=value lines, read by make's include and
# by the shell's dot alike. An empty value means missing, and the tests that
# need the thing are then skipped by name. Only a C compiler and greatest are
# needed by every test: without them the exit code is 1.
#
# No service is installed or started: Redis's server is a second name of a
# program in redis-tools, and Valkey is unpacked, not installed.

set -u
LC_ALL=C
export LC_ALL

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
deps=$root/build/deps
log=$deps/apt.log          # may name hosts, so it is never printed
cc=${CC:-cc}

greatest_tar=80257fd74579e13438b05edf50dcdc8cf0cdb1870b4a2bc5967bd1fdbed1facf
greatest_header=4ecd1c1c1b1d2cd7f0c8b0c9d87f92030b9ef7910da3a8197076b17d13076940
hiredis_tar=82ad632d31ee05da13b537c124f819eb88e18851d9cb0c30ae0552084811588c

mode=install               # install | list
lacking=                   # keys that the first look did not find
wanted=                    # Debian packages that would bring them

# ---------------------------------------------------------------------------
# The tools. Each line: key, Debian packages, the programs of these packages
# that the tests call by name, how to find the tool. tests/programs.sh adds the
# programs of every Debian, and the tests have no others on their PATH. For
# -m32 the parts of gcc-multilib are named one by one, since gcc-multilib
# itself conflicts with every cross compiler.

each_item() {
    "$1" COMPILER "gcc libc6-dev" "cc" builds_hello "$cc"
    "$1" COMPILER_CXX "g++" "c++" probe_tool c++
    "$1" PATCH "patch" "patch" probe_tool patch
    "$1" PS "procps" "ps" probe_tool ps
    "$1" PKG_CONFIG "pkg-config" "pkg-config" probe_tool pkg-config
    "$1" CLANG "clang" "clang" builds_hello clang
    "$1" CLANG_FUZZER "clang libclang-rt-14-dev" "" probe_fuzzer
    "$1" CLANG_TIDY "clang-tidy" "clang-tidy" probe_tool clang-tidy
    "$1" LLVM_COV "llvm" "llvm-cov" probe_tool llvm-cov
    "$1" LLVM_PROFDATA "llvm" "llvm-profdata" probe_tool llvm-profdata
    "$1" LLVM_SYMBOLIZER "llvm" "llvm-symbolizer" probe_tool llvm-symbolizer
    "$1" TCC "tcc libc6-dev" "tcc" builds_hello tcc
    "$1" MUSL_GCC "musl-tools" "musl-gcc $(uname -m)-linux-gnu-gcc" \
        builds_hello "musl-gcc -static"
    "$1" M32 "lib32gcc-12-dev libc6-dev-i386 lib32stdc++-12-dev" "" probe_m32
    "$1" CC_BE "gcc-s390x-linux-gnu libc6-dev-s390x-cross" \
        "s390x-linux-gnu-gcc" probe_cc_be
    "$1" QEMU_BE "qemu-user" "qemu-s390x" probe_qemu_be
    "$1" VALGRIND "valgrind libc6-dbg" "valgrind valgrind.bin" \
        probe_valgrind
    "$1" CPPCHECK "cppcheck" "cppcheck" probe_tool cppcheck
    "$1" GROFF "groff-base" "groff troff grotty" \
        probe_tool groff
    "$1" MANDOC "mandoc" "mandoc" probe_tool mandoc
    "$1" OPENSSL "openssl" "openssl" probe_tool openssl
    "$1" OPENSSL_DEV "libssl-dev" "" probe_openssl_dev
    "$1" LIBUV_DEV "libuv1-dev" "" probe_libuv_dev
    "$1" IPTABLES "iptables iproute2" "iptables ip tc" probe_iptables
    "$1" REDIS_CLI "redis-tools" "redis-cli" probe_tool redis-cli
    "$1" REDIS_BENCHMARK "redis-tools" "redis-benchmark" \
        probe_tool redis-benchmark
    "$1" REDIS_SERVER "" "" probe_redis redis-server
    "$1" REDIS_SENTINEL "" "" probe_redis redis-sentinel
    "$1" VALKEY_SERVER "" "" probe_valkey valkey-server
    "$1" VALKEY_CLI "" "" probe_valkey valkey-cli
    "$1" GREATEST_DIR "" "" probe_greatest
    "$1" HIREDIS_DIR "" "" probe_hiredis
    "$1" NODE "" "node" probe_tool node
    "$1" NPM "" "npm" probe_tool npm
}

# ---------------------------------------------------------------------------
# Finding. A probe prints the value, or nothing, and changes nothing. A compiler
# counts only if it has built a program that runs: a compiler without its
# headers or libraries is useless.

probe_tool() {
    command -v "$1"
}

# Builds hello.c with the given command; hello.c includes the system headers of
# the library, since most failures are missing system headers.
build_hello() {
    rm -f "$work/hello"
    "$@" -o "$work/hello" "$work/hello.c" >/dev/null 2>&1
}

builds_hello() {
    # $CC may hold more than one word, so the argument is split.
    # shellcheck disable=SC2086
    build_hello $1 && "$work/hello" && command -v "${1%% *}"
}

probe_fuzzer() {
    clang -fsanitize=fuzzer,address -o "$work/fuzz" "$work/fuzz.c" \
        >/dev/null 2>&1 && echo yes
}

m32_hello() {
    # shellcheck disable=SC2086
    build_hello $cc -m32 "$@" && "$work/hello"
}

# The kernel's headers (asm/) serve 64 and 32 bits alike, but -m32 does not
# look where they are.
m32_headers() {
    echo "-idirafter/usr/include/$(uname -m)-linux-gnu"
}

probe_m32() {
    { m32_hello || m32_hello "$(m32_headers)"; } && echo yes
}

probe_m32_cflags() {
    probe_m32 >/dev/null && ! m32_hello && m32_headers
}

probe_cc_be() {
    build_hello s390x-linux-gnu-gcc -static && command -v s390x-linux-gnu-gcc
}

probe_qemu_be() {
    if build_hello s390x-linux-gnu-gcc -static; then
        qemu-s390x "$work/hello" || return
    fi
    command -v qemu-s390x
}

# Runs a program: without the C library's symbols valgrind starts, but gives up.
probe_valgrind() {
    valgrind -q true >/dev/null 2>&1 && command -v valgrind
}

probe_openssl_dev() {
    # shellcheck disable=SC2086
    $cc -o "$work/ssl" "$work/ssl.c" -lssl -lcrypto >/dev/null 2>&1 && echo yes
}

probe_libuv_dev() {
    echo '#include <uv.h>
        int main(void) { return uv_version() == 0; }' >"$work/uv.c"
    # shellcheck disable=SC2086
    $cc -o "$work/uv" "$work/uv.c" -luv >/dev/null 2>&1 && echo yes
}

# These programs are not on the usual PATH.
probe_iptables() (
    PATH=$PATH:/usr/sbin:/sbin
    probe_tool ip >/dev/null && probe_tool iptables
)

probe_redis() {
    command -v "$1" && return
    [ -x "$deps/bin/$1" ] && echo "$deps/bin/$1"
}

probe_valkey() {
    command -v "$1" && return
    starts "$deps/valkey/usr/bin/$1" && echo "$deps/valkey/usr/bin/$1"
}

starts() {
    LD_LIBRARY_PATH=$(valkey_libs "$deps/valkey") "$1" --version >/dev/null
}

valkey_libs() {
    for dir in "$1"/usr/lib/*-linux-gnu*; do
        [ -d "$dir" ] && echo "$dir" && return
    done
}

probe_greatest() {
    if [ -n "${GREATEST:-}" ]; then
        greatest_given
    elif [ -n "$(greatest_on_path)" ]; then
        greatest_on_path
    elif [ -f "$deps/greatest/greatest.h" ]; then
        echo "$deps/greatest"
    fi
}

# The header itself or its folder. If the user names one that does not exist, no
# other is looked for.
greatest_given() {
    dir=$GREATEST
    [ -f "$dir" ] && dir=$(dirname "$dir")
    [ -f "$dir/greatest.h" ] && (cd "$dir" && pwd)
}

greatest_on_path() {
    # shellcheck disable=SC2086
    echo '#include <greatest.h>' | $cc -E -x c - 2>/dev/null |
        sed -n 's|^# 1 "\(.*\)/greatest\.h".*|\1|p' | head -n 1
}

probe_hiredis() {
    [ -f "$deps/hiredis-1.2.0/hiredis.h" ] && echo "$deps/hiredis-1.2.0"
}

write_probes() {
    cat >"$work/hello.c" <<'END'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
int main(void) { return fflush(stdout) != 0 || strlen("hello") != 5; }
END
    cat >"$work/fuzz.c" <<'END'
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{ (void)p; (void)n; return 0; }
END
    cat >"$work/ssl.c" <<'END'
#include <openssl/ssl.h>
int main(void) { return SSL_CTX_new(TLS_client_method()) == NULL; }
END
}

# ---------------------------------------------------------------------------
# The verbs of each_item.

value_of() {
    eval "printf '%s\n' \"\${$1}\""
}

# find_value KEY PROBE...
find_value() {
    key=$1
    shift
    value=$("$@" 2>/dev/null | head -n 1)
    eval "$key=\$value"
    [ -n "$value" ]
}

look() {
    key=$1
    packages=$2
    shift 3
    find_value "$key" "$@" && return
    lacking="$lacking $key "
    wanted=$wanted${packages:+ $packages}
}

look_again() {
    key=$1
    shift 3
    case $lacking in
    *" $key "*) find_value "$key" "$@" ;;
    esac
}

report() {
    value=$(value_of "$1")
    case $lacking in
    *" $1 "*) state=new ;;
    *) state=found ;;
    esac
    if [ -z "$value" ]; then
        state=missing
        value=$(why_missing "$1" "$2")
    fi
    printf '%-16s %-8s %s\n' "$1" "$state" "$value"
}

why_missing() {
    case $1 in
    NODE | NPM) echo "optional, taken only where it is" ;;
    GREATEST_DIR)
        if [ -n "${GREATEST:-}" ]; then
            echo "GREATEST names no greatest.h"
        else
            echo "$why_no_download; GREATEST=folder would name one"
        fi ;;
    REDIS_S*) echo "comes with package redis-tools" ;;
    *) if [ -n "$2" ]; then
           echo "packages $2: $why_no_install"
       else
           echo "$why_no_download"
       fi ;;
    esac
}

programs() {
    for program in $3; do
        echo "$1 $program"
    done
}

emit() {
    echo "$1=$(value_of "$1")"
}

# ---------------------------------------------------------------------------
# Installing

# An old package list may still work, so a failed update is ignored; and if one
# package cannot be installed, the others are installed one by one. Without a
# network retries would only wait, so there are none.
install_packages() {
    system_apt update
    # shellcheck disable=SC2086
    system_apt install $wanted && return
    for package in $wanted; do
        system_apt install -o Acquire::Retries=0 "$package"
    done
}

# --no-remove: a package that the user has installed is never removed for a
# test.
system_apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        --no-install-recommends --no-remove \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
        -o Acquire::Retries=2 "$@" </dev/null >>"$log" 2>&1
}

# Debian's packages redis-server and redis-sentinel hold a service and this
# link. We want the link alone.
link_redis() {
    program=$(command -v redis-check-rdb) || return
    mkdir -p "$deps/bin"
    ln -sf "$program" "$deps/bin/$1"
}

# ---------------------------------------------------------------------------
# Downloading: by an apt with its own configuration, which knows only the suites
# that it is given, has no installed packages, and does not change the machine's
# lists and caches.

private_apt() {
    apt-get -q -y \
        -o Dir::Etc::SourceList=/dev/null \
        -o Dir::Etc::SourceParts="$apt/parts" \
        -o Dir::Etc::Preferences=/dev/null \
        -o Dir::Etc::PreferencesParts="$apt/none" \
        -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists" \
        -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none \
        -o Acquire::Retries=2 "$@" </dev/null >>"$log" 2>&1
}

# use_suites TYPE SUITE...  Not every source of the machine has every suite, so
# what the update says does not count; the download after it does.
use_suites() {
    apt=$work/apt
    rm -rf "$apt"
    mkdir -p "$apt/parts" "$apt/none" "$apt/lists" "$apt/cache/archives/partial"
    : >"$apt/status"
    type=$1
    shift
    write_sources "$type" "$*"
    private_apt update
    cd "$apt" || return
}

write_sources() {
    list=
    parts=
    eval "$(apt-config shell \
        list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    cat /dev/null "$list" "$parts"/*.list 2>/dev/null |
        rewrite_list "$1" "$2" >"$apt/parts/own.list"
    for file in "$parts"/*.sources; do
        [ -f "$file" ] && cat "$file" && echo
    done | rewrite_deb822 "$1" "$2" >"$apt/parts/own.sources"
}

# Where the machine has Debian itself from: its own release, component main.
home_suites() {
    # shellcheck disable=SC1091
    . /etc/os-release
    echo "${VERSION_CODENAME:-} stable oldstable testing unstable sid"
}

# One-line style:  deb [options] address suite component...
rewrite_list() {
    awk -v type="$1" -v suites="$2" -v homes=" $(home_suites) " '
    { sub(/#.*/, "") }
    $1 != "deb" || /cdrom:/ { next }
    {
        options = ""
        if (match($0, /\[[^]]*\]/)) {
            options = substr($0, RSTART, RLENGTH)
            sub(/\[[^]]*\]/, " ")
        }
        if (!index(homes, " " $3 " ") || !/ main( |$)/)
            next
        n = split(suites, suite, " ")
        for (i = 1; i <= n; i++)
            print type, options, $2, suite[i], "main"
    }'
}

# Paragraphs of "Field: value" with indented continuation lines.
rewrite_deb822() {
    awk -v type="$1" -v suites="$2" -v homes=" $(home_suites) " '
    function finish() {
        if (home && main && !disabled)
            printf "Types: %s\nSuites: %s\nComponents: main\n%s\n", \
                type, suites, kept
        home = main = disabled = 0
        kept = field = ""
    }
    /^#/ { next }
    /^[ \t]*$/ { finish(); next }
    { line = $0 }
    /^[^ \t]/ {
        field = tolower($0)
        sub(/[ \t]*:.*/, "", field)
        sub(/^[^:]*:/, " ")
    }
    field == "types" { next }
    field == "suites" {
        for (i = 1; i <= NF; i++)
            if (index(homes, " " $i " "))
                home = 1
        next
    }
    field == "components" { if (/[ \t]main([ \t]|$)/) main = 1; next }
    field == "enabled" { disabled = /no|false/; next }
    { kept = kept line "\n" }
    END { finish() }'
}

# is_sha256 FILE SUM
is_sha256() {
    [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ] && return
    echo "${1##*/}: not the file that was expected" >&2
    return 1
}

# place FROM TO: moves a folder, whole or not at all: $work is on the same disk.
place() {
    rm -rf "$2" && mkdir -p "$(dirname "$2")" && mv "$1" "$2"
}

fetch_greatest() (
    use_suites deb-src bookworm &&
        private_apt source --download-only fzy &&
        is_sha256 fzy_1.0.orig.tar.gz "$greatest_tar" &&
        tar -xzf fzy_1.0.orig.tar.gz &&
        is_sha256 fzy-1.0/deps/greatest/greatest.h "$greatest_header" &&
        place fzy-1.0/deps/greatest/greatest.h "$deps/greatest/greatest.h"
)

fetch_hiredis() (
    use_suites deb-src trixie &&
        private_apt source --download-only hiredis &&
        is_sha256 hiredis_1.2.0.orig.tar.gz "$hiredis_tar" &&
        tar -xzf hiredis_1.2.0.orig.tar.gz &&
        place hiredis-1.2.0 "$deps/hiredis-1.2.0"
)

fetch_valkey() (
    use_suites deb bookworm bookworm-backports &&
        private_apt download \
            valkey-server valkey-tools libjemalloc2 liblzf1 || return
    for package in ./*.deb; do
        dpkg -x "$package" valkey >>"$log" 2>&1 || return
    done
    place valkey "$deps/valkey"
)

fetch_missing() {
    [ -n "$REDIS_SERVER" ] || link_redis redis-server
    [ -n "$REDIS_SENTINEL" ] || link_redis redis-sentinel
    { [ -n "$VALKEY_SERVER" ] && [ -n "$VALKEY_CLI" ]; } || fetch_valkey
    [ -n "$GREATEST_DIR${GREATEST:-}" ] || fetch_greatest
    [ -n "$HIREDIS_DIR" ] || fetch_hiredis
}

# ---------------------------------------------------------------------------
# The whole

# Why nothing can be installed or downloaded; empty while it can.
decide() {
    why_no_install=
    why_no_download=
    if [ "$mode" = list ]; then
        why_no_install="not installed"
    elif [ -n "${RELET_NO_INSTALL:-}" ]; then
        why_no_install="RELET_NO_INSTALL is set"
    elif ! command -v apt-get >/dev/null; then
        why_no_install="no apt-get here"
    fi
    why_no_download=$why_no_install
    [ -n "$why_no_install" ] || [ "$(id -u)" -eq 0 ] ||
        why_no_install="only root can install"
}

bring() {
    [ "$mode" = list ] || : >"$log"
    if [ -z "$why_no_install" ] && [ -n "$wanted" ]; then
        install_packages
        why_no_install="failed, see build/deps/apt.log"
    fi
    if [ -z "$why_no_download" ]; then
        fetch_missing
        why_no_download="could not be had, see build/deps/apt.log"
    fi
    each_item look_again
}

# Left alone when nothing changed, so that make rebuilds nothing for it.
write_have() {
    {
        echo "# Written by tests/deps.sh. An empty value means missing."
        each_item emit
        echo "M32_CFLAGS=$(probe_m32_cflags)"
        echo "VALKEY_LIBS=$(valkey_libs "$deps/valkey")"
    } >"$work/have.mk"
    cmp -s "$work/have.mk" "$deps/have.mk" ||
        mv "$work/have.mk" "$deps/have.mk"
}

# A path goes unquoted into have.mk, since make and sh quote differently.
check_root() {
    case $root in
    *[!A-Za-z0-9_./+,@%:=~-]*)
        echo "deps.sh: move the project to a path of plain characters" >&2
        exit 1 ;;
    esac
}

check_needed() {
    [ -n "$COMPILER" ] && [ -n "$GREATEST_DIR" ] && return
    echo "deps.sh: no test runs without a C compiler and greatest.h" >&2
    exit 1
}

enter() {
    if [ "$mode" = list ]; then
        work=$(mktemp -d) || exit 1
    else
        take_turn
        work=$(mktemp -d "$deps/tmp.XXXXXX") || exit 1
    fi
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    write_probes
}

# One run at a time, since two would unpack into the same folder. The run that
# holds the lock also removes the remains of a run that was killed.
take_turn() {
    mkdir -p "$deps" || exit 1
    exec 9>"$deps/lock"
    ! command -v flock >/dev/null || { flock 9 && rm -rf "$deps"/tmp.*; }
}

main() {
    case $* in
    "") ;;
    --list) mode=list ;;
    --programs)
        each_item programs
        return ;;
    *)
        echo "usage: deps.sh [--list | --programs]" >&2
        exit 2 ;;
    esac
    check_root
    enter
    decide
    each_item look
    [ -z "$lacking" ] || bring
    each_item report
    [ "$mode" = list ] && return
    write_have
    check_needed
}

main "$@"
