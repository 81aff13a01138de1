#!/bin/sh
# SPDX-License-Identifier: MIT
#
# parts.sh DIST [PART...] - makes relet.c and relet.h with only these parts from
# the files in DIST, in the folder DIST/PART-PART...
#
# The parts are client, driver, lease and queue; client is always included. The
# word small chooses the client of RELET_SMALL. Without parts the script does
# nothing. `make dist PARTS="client lease"` calls it.

set -eu
dist=$1
shift
[ $# -gt 0 ] || exit 0

has() { [ "${parts#* "$1" }" != "$parts" ]; }

parts=" $* "
for part; do
    case $part in
    client | driver | lease | queue | small) ;;
    *)
        echo "PARTS: $part: no such part; there are client, driver, lease," \
            "queue and small" >&2
        exit 2
        ;;
    esac
done
out=
name=client
if has driver; then name=$name-driver; else out="$out RELET_NO_POLL"; fi
if has lease; then name=$name-lease; else out="$out RELET_NO_LEASE"; fi
if has queue; then name=$name-queue; else out="$out RELET_NO_QUEUE"; fi
if has small; then
    name=$name-small
    out="$out RELET_SMALL"
    if has lease || has queue; then
        echo 'PARTS: small has neither leases nor queues' >&2
        exit 2
    fi
fi
mkdir -p "$dist/$name"
for file in relet.h relet.c; do
    awk -v out="$out" -f tools/without.awk "$dist/$file" \
        >"$dist/$name/$file.new"
    mv "$dist/$name/$file.new" "$dist/$name/$file"
done
echo "$dist/$name/relet.c, relet.h"
