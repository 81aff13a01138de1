# SPDX-License-Identifier: MIT
#
# world.sh - the parts of a fault scenario, read by faults_test.sh: a server, a
# register, contenders, the faults of each, and the verdict on their logs.
# shellcheck shell=bash disable=SC2154

faults=$PWD/build/asan/tests/faults
work=$PWD/build/faults${ONLY:+-$ONLY}

# The delay, in ms, allowed to a loaded machine. Every bound on time has this
# room.
room=3000
ttl=1500
PATIENCE=${PATIENCE:-30} # of until_so

program=contend       # what a node is, which judge reads its log, and how many
rules=judge           # registers there are
registers=1

scene=                # its number in the table, T7
dir=                  # … and its folder, with a log for each process
leader=               # of until_led
fence_pid=
node_in=              # words in front of them, to run them elsewhere
declare -A node_pid   # of those that were not killed
namespace=            # … and its network namespace

# ----------------------------------------------------------------------- log

# mark WHAT WHO: tells the judge of a fault. The time is that of the processes'
# clock.
mark() {
    local up
    read -r up _ </proc/uptime
    echo "${up/./}0000000 world $*" >>"$dir/world.log"
}

# Prints all log lines in order of time.
logs() { sort -s -n -k 1,1 "$dir"/*.log; }

# count WHO WHAT: prints the number of such lines.
count() { logs | awk -v who="$1" -v what="$2" '
    $2 == who && $3 == what { n++ } END { print n + 0 }'; }

# after_ms MARK WHAT: prints the ms from the last such mark to the next such
# line.
after_ms() {
    logs | awk -v mark="$1" -v what="$2" '
        $2 == "world" && $3 == mark { from = $1; ms = "" }
        $2 != "world" && $3 == what && from && ms == "" {
            ms = ($1 - from) / 1000000
        }
        END { print ms == "" ? "never" : int(ms) }'
}

# sum NAME: prints the sum of this counter over the `stats` lines of all nodes.
sum() {
    logs | awk -v name="$1" '$3 == "stats" {
            for (i = 6; i <= NF; i++)
                if (split($i, pair, "=") && pair[1] == name)
                    n += pair[2]
        }
        END { print n + 0 }'
}

# reasons WHO WHAT: prints the reasons in such lines, each once.
reasons() { logs | awk -v who="$1" -v what="$2" '
    $2 == who && $3 == what { print $6 }' | sort -u | paste -sd ' '; }

# ---------------------------------------------------------------------- nodes

# node NAME [SETTING...]: starts a node. $node_in stands in front of its
# command; $node_host is the address of its server.
node() {
    local name=$1
    shift
    : >>"$dir/$name.log"
    # shellcheck disable=SC2086
    $node_in "$faults/$program" "$name" \
        "redis://${node_host:-127.0.0.1}:${node_port:-$server_port}" \
        "$dir/socket" ttl=$ttl "$@" >>"$dir/$name.log" 2>>"$dir/$name.err" &
    node_pid[$name]=$!
}

# Starts three nodes with the same settings.
nodes() {
    local name
    for name in n1 n2 n3; do
        node $name "$@"
    done
    all_up
}

# all_up [N]: waits until each of the three nodes has connected N times.
all_up() {
    local name
    for name in n1 n2 n3; do
        must until_line "$dir/$name.log" ' up ' "${1:-1}"
    done
}

# The node may have ended already.
signal() { kill "-$1" "${node_pid[$2]:-}" 2>/dev/null; }

pause() {
    signal STOP "$1"
    until_so "$1 stops" stopped "$1"
    mark stop "$1"
}

stopped() { [[ $(ps -o stat= -p "${node_pid[$1]:-}") == T* ]]; }

wake() {
    mark cont "$1"
    signal CONT "$1"
}

murder() {
    mark kill "$1"
    signal KILL "$1"
    wait "${node_pid[$1]:-}" 2>/dev/null
    unset "node_pid[$1]"
}

# fail CLAIM: reports that an expected event did not come.
fail() {
    failed=$((failed + 1))
    echo "FAIL $on: $scene: $1"
}

# must COMMAND...: runs a command that waits, and reports its failure.
must() {
    local said
    said=$("$@") || fail "$said"
}

# Prints the node that gained the lease last, unless it has lost it or was
# killed since.
leads() {
    logs | awk '
        $3 == "gained" { who = $2 }
        $3 == "lost" && $2 == who { who = "" }
        $2 == "world" && $3 == "kill" && $4 == who { who = "" }
        END { print who }'
}

another_leads() {
    leader=$(leads)
    [ -n "$leader" ] && [ "$leader" != "$1" ]
}

# until_led [BUT]: waits until a node other than BUT leads.
until_led() {
    until_so "somebody leads${1:+, and not $1}" another_leads "${1:-}" ||
        fail "nobody leads${1:+, but perhaps $1}"
    leader=${leader:-nobody}
}

# until_wrote WHO [N]: waits for N more writes of this node, by default 3.
until_wrote() {
    local n
    n=$(taken "$1")
    must until_so "$1 writes" wrote "$1" $((n + ${2:-3}))
}

taken() { logs | awk -v who="$1" '
    $3 == "took" && $6 == who { n++ } END { print n + 0 }'; }
wrote() { [ "$(taken "$1")" -ge "$2" ]; }

redis() {
    # shellcheck disable=SC2086
    $server_in "$REDIS_CLI" -p "$server_port" "$@"
}

# quietly COMMAND...: runs the command with its output in a file.
quietly() { "$@" >>"$dir/said" 2>&1; }

# ------------------------------------------------------------------ beginning

scene_begin() {
    scene=$1
    dir=$work/$on-$scene
    mkdir -p "$dir/server"
    : >"$dir/world.log"
    : >"$dir/fence.log"
    allow 40
    "$faults/fence" "$dir/socket" $registers \
        >>"$dir/fence.log" 2>"$dir/fence.err" &
    fence_pid=$!
    must until_line "$dir/fence.log" ready
}

# world_begin SCENE [SERVER OPTION...]
world_begin() {
    scene_begin "$1"
    shift
    server_start "$dir/server" --enable-debug-command yes "$@" ||
        fail 'no server'
    trap world_ends EXIT
}

# Starts the same server again, on its data. It ends at once while the port is
# not free yet, as when the threads of a killed server outlive its process.
server_again() {
    until_so 'the server is there again' server_goes_on "$@" >>"$dir/said"
}

server_goes_on() {
    kill -0 "$server_pid" 2>/dev/null || server_begin "$server_port" \
        "$dir/server" --enable-debug-command yes "$@"
    server_answers
}

server_killed() {
    disown "$server_pid"
    kill -KILL "$server_pid"
    must until_gone "$server_pid"
}

# --------------------------------------------------------------------- ending

all_gone() {
    local name
    for name in "${!node_pid[@]}"; do
        gone "${node_pid[$name]}" || return
    done
}

all_said_bye() {
    local name
    for name in "${!node_pid[@]}"; do
        [ "$(tail -n 1 "$dir/$name.log" | cut -d ' ' -f 3)" = bye ] ||
            echo "$name: $(tail -n 1 "$dir/$name.log")"
    done
    cat "$dir"/*.err
}

judge() {
    logs | awk -f tests/faults/$rules.awk -v room=$room -v void="$1" \
        -v sum="$dir/sum"
}

# Removes every process and the namespace of the scenario, however it ended. A
# new child process has this trap for a moment, and must not run it.
world_ends() {
    local pids pid
    [ $$ = "$BASHPID" ] || return
    pids=$(jobs -p)
    disown -a # or bash would report each
    for pid in $pids; do
        kill -KILL "$pid" 2>/dev/null
        until_gone "$pid"
    done
    [ -z "$namespace" ] || ip netns del "$namespace"
    namespace=
    server_pid=
    node_pid=()
}

# Tells all nodes to end; the server stays.
world_leave() {
    local name
    for name in "${!node_pid[@]}"; do
        signal CONT "$name" && signal TERM "$name"
    done
    must until_so 'all leave' all_gone
    check "$scene: all processes leave in order" all_said_bye
    node_pid=()
}

# Each counter agrees with the outcomes told to its node: an answered request
# has happened once, an unsent one never, and an unsure one once or never.
counters() {
    local name least most n told=0
    while read -r name least most; do
        told=$((told + 1))
        n=$(redis GET "count:$name")
        [[ $n -ge $least && $n -le $most ]] ||
            echo "$name counts $n, and was told of $least to $most"
    done < <(logs | sed -n 's/^[0-9]* \(n[0-9]*\) stats .* replies=\([0-9]*\)'\
' .* unsure=\([0-9]*\) .*/\1 \2 \3/p' | awk '{ print $1, $2, $2 + $3 }')
    [ $told -gt 0 ] || echo 'no node told what it counted'
}

# world_end [VOID]: ends all nodes and judges the log, but not by the rules
# VOID.
world_end() {
    [ ${#node_pid[@]} -eq 0 ] || world_leave
    kill "$fence_pid"
    check "$scene: no rule is broken" judge "${1:-}"
    echo "# $on $scene: $(cat "$dir/sum")"
    world_ends
}
