#!/bin/sh
# SPDX-License-Identifier: MIT
#
# man_test.sh - the manual pages describe each command, function and type once,
# have all words of the headers' comments, and are correct and readable.

set -u
LC_ALL=C
export LC_ALL
# shellcheck disable=SC1091
. tests/count.sh
work=$PWD/build/man_test
man=$PWD/build/man
rm -rf "$work"
mkdir -p "$work"
"$MAKE" -s man || exit 1
pages=$(grep -L '^\.so ' "$man"/man[13]/*)

# public HEADER: prints the names that the header declares for users.
public() { sed '/^\/\* -* private$/,$d; /^\/\* The compiler warns/d' "$1"; }

functions() {
    public include/relet.h | cat - include/relet_local.h |
        sed -n 's/^\(RELET_API\|static inline\) .*\(relet_[a-z0-9_]*\)(.*/\2/p'
}

types() {
    public include/relet.h | cat - include/relet_local.h |
        sed -n 's/^} \(relet_[a-z_]*\);.*/\1/p
            s/^typedef struct \(relet_[a-z_]*\) \1;/\1/p
            s/^typedef [a-z_0-9]* \(relet_[a-z_]*\);/\1/p
            s/^typedef .*[ *]\(relet_[a-z_]*\)(.*/\1/p' |
        grep -v '^relet_node$'
}

# leads FILE: prints the page that the file is, or to which it links.
leads() {
    [ -f "$man/$1" ] || { echo "there is no $1" >&2; return; }
    to=$(sed -n 's/^\.so //p' "$man/$1")
    echo "$man/${to:-$1}"
}

# The synopsis of exactly one page has the name, and the link of this name leads
# to that page.
one_page() {
    has=$(sed -s -n "/^\.SH SYNOPSIS/,/^\.SH DESC/{/fB$1.fR(/F;}" "$man"/man3/*)
    [ "$(leads "man3/$1.3")" = "$has" ] || echo "$1: ${has:-no page}"
}

described() {
    page=$(leads "man3/$1.3")
    grep -q "fB$1.fR\|of $1:\|struct $1;\| $1;\| \**$1(" "$page" ||
        echo "$page does not describe $1"
}

for name in $(functions); do
    check "man $name shows the only page with its prototype" one_page "$name"
done
for name in $(types); do
    check "man $name shows a page that describes it" described "$name"
done

section() {
    grep -qx "\.SS relet $1" "$(leads "man1/relet-$1.1")" ||
        echo "relet-$1.1 has no section on relet $1"
}
commands=$(sed -n 's/^const cli_command \([a-z]*\)_command = {/\1/p' \
    src/cli/*.c)
check 'the source of relet has more than 20 commands' \
    [ "$(echo "$commands" | wc -l)" -gt 20 ]
for name in $commands help; do
    check "man relet-$name shows a page with a section on it" section "$name"
done

# -------------------------------------------------------- nothing is left out

# Counts each word of a text.
words() {
    tr A-Z a-z | grep -oE '[a-z]{3,}' |
        grep -vxE 'spdx|license|identifier|mit|part' | sort | uniq -c |
        awk '{ print $2, $1 }'
}

# Prints the text of comments, without the titles of parts.
comments() {
    public "$1" | awk '
        { row = $0; said = "" }
        !open && (at = index(row, "/*")) { open = 1; row = substr(row, at + 2) }
        open {
            at = index(row, "*/")
            said = at ? substr(row, 1, at - 1) : row
            open = !at
        }
        !/^#endif/ && said !~ /^ -----* [1-9]/ { print said }'
}

# Fewer than in the header, of some word: FROM, THERE are counts of words.
fewer() {
    awk 'NR == FNR { there[$1] = $2; next }
        there[$1] < $2 { print $1 ": " there[$1] + 0 " times, not " $2 }' \
        "$2" "$1"
}

# Prints the words of a page without troff's requests and font changes.
page_words() {
    sed -e '/^\.\\"/d' -e 's/\\f[BIR]/ /g; s/\\(../ /g; s/\\e//g' "$@" | words
}

says_all() {
    header=$1
    shift
    comments "include/$header" | words >"$work/$header.words"
    page_words "$@" >"$work/$header.pages"
    fewer "$work/$header.words" "$work/$header.pages"
}

# shellcheck disable=SC2046
check 'the pages have each word of the comments of relet.h' \
    says_all relet.h $(echo "$pages" | grep 'man3/' | grep -v relet_local)
check 'the page relet_local has each word of the comments of relet_local.h' \
    says_all relet_local.h "$man/man3/relet_local.3"

# -------------------------------------------------- what a header may not do

# refused EXPRESSION MESSAGE: relet.h, changed by sed, makes no pages.
refused() {
    sed "$1" include/relet.h >"$work/relet.h"
    if awk -v out="$work" -v version=0 -f tools/man3.awk "$work/relet.h" \
        >"$work/said" 2>&1; then
        echo "pages are made"
    fi
    grep -q "$2" "$work/said" || cat "$work/said"
}
check 'a function without a comment makes no page' \
    refused '/^\/\* Lend the next event/d' 'relet_next() has no comment'
check 'a function that is declared twice makes no page' \
    refused '/^RELET_API int relet_is_up/p' 'relet_is_up is described twice'
check 'a letter that the pages cannot show makes no page' \
    refused 's/Lend the next event/Lend the n\xc3\xa9xt event/' \
    'no way to write'

# ------------------------------------------------------------------ the form

requests='\\"|BI?|BR|EE|EX|I|IP|IR|PP|RB|RE|RI|RS|SH|SS|TH|TP|ad|br|fi|nf|nr|so'
of_man() {
    grep -hoE "^[.'][^ ]*" "$@" | sort -u | grep -vxE "\\.($requests)"
    grep -n '[^ -~]' "$@"
    awk '/^\.E[XE]/ { if (open == /^\.EX/) print FILENAME ": " FNR ": " $0
            open = /^\.EX/ }' "$@"
}
# shellcheck disable=SC2086
check 'the pages are ASCII and have only requests that any man knows' \
    of_man $pages

rendered() {
    "$GROFF" -z -ww -man -Tascii "$1"
    "$GROFF" -man -Tascii -rLL=80n -P-cbou "$1" >"$work/page"
    awk 'length > 80 { print FILENAME ":" FNR ": " $0 }' "$work/page"
    [ "$(wc -l <"$work/page")" -gt 20 ] || echo "the page is empty"
}

# The pages have no date; the changelog has the date of each version.
lint() { "$MANDOC" -T lint "$1" | sed '/WARNING: missing date/d'; }

for page in $pages; do
    name=${page##*/}
    if given GROFF "groff_renders_$name"; then
        check "groff renders $name without a warning in 80 columns" \
            rendered "$page"
    fi
    if given MANDOC "mandoc_accepts_$name"; then
        check "mandoc finds nothing wrong in $name" lint "$page"
    fi
done
total
