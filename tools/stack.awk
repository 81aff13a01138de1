# SPDX-License-Identifier: MIT
#
# stack.awk - the deepest stack of each public function, from what gcc writes
# with -fcallgraph-info=su (nodes with the bytes of their frames, and calls).
#
# Prints bytes, function and the chain of calls. The system's functions and the
# caller's hooks have no size here and count as 0; a call through a pointer
# counts as client_resize, which is the only function of the library that is
# called through a pointer. Recursion, or a frame without a bound, is an error.

function name(title) {
    sub(/.*:/, "", title)
    return title
}

/^node:/ {
    split($0, part, "\"")
    n = name(part[2])
    if (match(part[4], /[0-9]+ bytes \([a-z,]*\)/)) {
        size = substr(part[4], RSTART, RLENGTH)
        if (size !~ /static|bounded/) {
            print "a frame without a bound: " n | "cat >&2"
            bad = 1
        }
        frame[n] = size + 0
    }
}

/^edge:/ {
    split($0, part, "\"")
    from = name(part[2])
    to = name(part[4])
    if (to == "__indirect_call")
        to = from == "client_resize" ? "" : "client_resize"
    if (to != "" && !((from, to) in seen)) {
        seen[from, to] = 1
        calls[from] = calls[from] " " to
    }
}

# The deepest stack of f and the functions below it; way[f] is the next function
# of that chain.
function depth(f,    list, n, i, below, most) {
    if (f in deep)
        return deep[f]
    if (f in open_now) {
        print "recursion: " f | "cat >&2"
        bad = 1
        return 0
    }
    open_now[f] = 1
    n = split(calls[f], list, " ")
    for (i = 1; i <= n; i++) {
        below = depth(list[i])
        if (below > most) {
            most = below
            way[f] = list[i]
        }
    }
    delete open_now[f]
    deep[f] = most + frame[f]
    return deep[f]
}

END {
    for (f in frame)
        if (f ~ /^relet_[a-z0-9_]+$/) {
            line = depth(f) " " f
            for (g = way[f]; g != ""; g = way[g])
                line = line " " g "(" (frame[g] + 0) ")"
            print line
        }
    exit bad
}
