#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_pure.sh OBJECT... - the core calls no function of the operating system.
#
# Each object may import only functions of the library and libc's mem* and str*;
# of the latter none that allocates, keeps state or reads the locale.

set -u
# A file that nm cannot read would seem to import nothing.
{ [ $# -gt 0 ] && nm "$@" >/dev/null; } || {
    echo "pure: no objects"
    exit 1
}
foreign=$(nm -A -u "$@" | awk '
    { name = $NF }
    name ~ /^(relet|rlt)_/ { next }
    name ~ /^str(to|dup|ndup|error|tok|coll|xfrm|signal|casecmp|ncasecmp)/ {
        print; next
    }
    name !~ /^(mem|str)[a-z]+$/ { print }')
if [ -n "$foreign" ]; then
    echo "the core imports more than mem* and str*:"
    echo "$foreign"
    exit 1
fi
echo "pure: $# objects import" \
    "$(nm -u "$@" | awk '$2 ~ /^(mem|str)/ { print $2 }' | sort -u | xargs)"
