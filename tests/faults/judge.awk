# SPDX-License-Identifier: MIT
#
# judge.awk - reads the sorted log of a fault scenario and prints each breach of
# a rule, with the line that shows it. No output means that all rules hold.
#
#   sort -n LOG... | awk -f judge.awk -v room=MS [-v void="L1"] [-v sum=FILE]
#
#   L1  no two contenders believe in the lease at the same time
#   L2  each token belongs to one owner and one term, and is higher than all
#       tokens before
#   L3  a contender decides to write only after GAINED, and while it believes
#   L4  the register took only writes that their writer had decided on, with the
#       writer's own token, which is not below any token before; it refused only
#       lower tokens
#   L5  no belief reaches further than the TTL from now
#   L7  gained and lost alternate, terms count from 1, ended is the last, and
#       the end of a belief is reported in time, except while a process is
#       stopped
#   R1  each operation had one outcome; R2 its own answer; R6 no answer was
#       taken for a broken protocol; R8 no operation ended too late
#
# `room` is the delay allowed to a loaded machine. `void` names rules that
# cannot hold in the scenario.

function broken(rule, text) {
    if (index(void, rule))
        return
    print rule ": " text ": " $0
}

function begin(who) {
    ttl[who] = $6
    leading[who] = over[who] = term[who] = token[who] = until[who] = 0
    stopped[who] = dead[who] = 0
}

# ------------------------------------------------------------------- belief

function believe(who,    other) {
    beliefs++
    for (other in until)
        if (other != who && until[other] > $1)
            broken("L1", other " believes until " until[other])
    if ($6 - $1 > ttl[who] * 1000000)
        broken("L5", "further than " ttl[who] " ms")
    own(who)
    until[who] = $6
}

function own(who) {
    if ($5 in owner) {
        if (owner[$5] != who " " began[who])
            broken("L2", "the token of " owner[$5])
        return
    }
    owner[$5] = who " " began[who]
    if ($5 <= last)
        broken("L2", "not above " last)
    last = $5
}

# The time by which the contender must have been told that its belief has ended.
function due(who) {
    at = until[who] > woken[who] ? until[who] : woken[who]
    return at + room * 1000000
}

# ------------------------------------------------------------------- events

function gain(who) {
    terms++
    if (leading[who] || over[who])
        broken("L7", "out of turn")
    if ($4 != term[who] + 1)
        broken("L7", "the term before was " term[who])
    if (owner[$5] != who " " began[who] || $5 <= token[who])
        broken("L2", "not a new token of its own")
    leading[who] = 1
    term[who] = $4
    token[who] = $5
}

function lose(who) {
    if (!leading[who] || $4 != term[who] || $5 != token[who])
        broken("L7", "it led term " term[who] + 0)
    if ($1 > due(who))
        broken("L7", "believed until " until[who])
    leading[who] = 0
}

function finish(who) {
    if (leading[who] || over[who])
        broken("L7", "out of turn")
    over[who] = 1
}

# ------------------------------------------------------------------- writes

function decide(who) {
    decided[who " " $6] = $5
    if (!leading[who] || $5 != token[who])
        broken("L3", "it does not lead by this token")
    else if ($1 >= until[who])
        broken("L3", "believed until " until[who])
}

function take() {
    writes++
    if ($5 < highest)
        broken("L4", "taken below " highest)
    if (decided[$6 " " $7] != $5)
        broken("L4", "taken, and nobody had decided it")
    highest = $5 > highest ? $5 : highest
}

function refuse() {
    refused++
    if ($5 >= highest)
        broken("L4", "refused, though none was above")
}

# ---------------------------------------------------------------- operations

function tally(who,    i, pair) {
    for (i = 6; i <= NF; i++) {
        split($i, pair, "=")
        n[pair[1]] = pair[2]
    }
    if (n["asked"] != n["heard"] || n["twice"] > 0)
        broken("R1", "not one outcome each")
    if (n["wrong"] > 0)
        broken("R2", "answers that belong to others")
    if (n["protocol"] > 0)
        broken("R6", "a broken protocol")
    if (n["late"] > room && !woken[who])
        broken("R8", "beyond its time")
    asked += n["asked"]
    attempts += n["attempts"]
}

# --------------------------------------------------------------------- lines

{ latest = $1 }

$3 == "start" { begin($2); began[$2] = $1 }
$3 == "valid" { believe($2) }
$3 == "void" && until[$2] > $1 { until[$2] = $1 }
$3 == "gained" { gain($2) }
$3 == "lost" { lose($2) }
$3 == "ended" { finish($2) }
$3 == "write" { decide($2) }
$3 == "took" { take() }
$3 == "refused" { refuse() }
$3 == "stats" { tally($2) }
$3 == "bye" && !over[$2] { broken("L7", "gone, and nothing had ended") }
$2 == "world" && $3 == "kill" { dead[$4] = 1 }
$2 == "world" && $3 == "stop" { stopped[$4] = 1 }
$2 == "world" && $3 == "cont" { stopped[$4] = 0; woken[$4] = $1 }

END {
    for (who in leading)
        if (leading[who] && !dead[who] && !stopped[who] && latest > due(who))
            broken("L7", who " was never told of an end at " until[who])
    if (sum != "")
        printf "%d beliefs, %d terms, %d writes taken, %d refused, " \
            "%d operations, %d links\n", beliefs, terms, writes, refused, \
            asked, attempts >sum
}
