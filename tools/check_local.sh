#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_local.sh FILE... - no file of the local server includes a file above it.
#
# The arguments are the files in their order, lowest first. Each includes only
# files before it, relet.h and relet_local.h; files of src/local include of the
# C library only headers that need no operating system. And no file of src/local
# is missing in the order.

set -u
printf '%s\n' src/local/*/*.[ch] | awk -v files="$*" '
function trouble(text) {
    print text
    bad = 1
}
function name(path) {
    sub(/.*\//, "", path)
    return path
}
function check(file, line, part, got) {
    while ((got = (getline line <file)) > 0) {
        if (line !~ /^[ \t]*#[ \t]*include/)
            continue
        match(line, /["<][^">]*[">]/)
        part = substr(line, RSTART, RLENGTH)
        if (part ~ /^</ && file !~ /^src\/local\//)
            continue
        if (index(plain, " " part " ") == 0 &&
            !(part ~ /^"/ && name(substr(part, 2, RLENGTH - 2)) in below))
            trouble(file " includes " part ", which does not stand below it")
    }
    if (got < 0)
        trouble(file " stands in the order, but is missing")
    close(file)
}
BEGIN {
    plain = " <stddef.h> <stdint.h> <string.h> <stdarg.h> <limits.h> " \
            "<float.h> \"relet.h\" \"relet_local.h\" "
    n = split(files, file, " ")
    for (k = 1; k <= n; k++) {
        check(file[k])
        below[name(file[k])] = 1
    }
}
!(name($0) in below) {
    trouble($0 " has no place in LOCAL of src/local/local.mk")
}
END {
    if (!bad)
        printf "layers: %d files of the local server look only down\n", n
    exit bad
}'
