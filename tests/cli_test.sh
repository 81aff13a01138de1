#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# cli_test.sh - tests of the relet command: its output, its errors and its exit
# codes.
#
#   tests/cli_test.sh       RELET names the program, build/relet otherwise
#
# The second part runs on each server that build/deps/have.mk knows; without
# one it is skipped by name. Servers listen on loopback, live in a temporary
# folder and are stopped by their pid.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
root=$PWD
relet=${RELET:-build/relet}
[[ $relet == /* ]] || relet=$root/$relet
REDIS_SERVER='' VALKEY_SERVER='' VALKEY_LIBS=''
# shellcheck disable=SC1091
[ -f build/deps/have.mk ] && . build/deps/have.mk
for name in $(compgen -v | grep -E '^(RELET_)?REDIS_(URL|HOST|PORT|DB|PREFIX|'\
'USERNAME|PASSWORD|SENTINEL_.*)$'); do
    unset "$name"
done

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
server='' listener=''
stop() {
    [ -z "$listener" ] || kill "$listener" 2>/dev/null
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

# ---------------------------------------------------------------------------
# run ARGUMENT...: runs the program with the file $in as its input; sets $code,
# $out and $err.
# feed TEXT ARGUMENT...: the same with this text as input, with printf's
# escapes.

in=$work/empty
: >"$in"
run() {
    timeout 20 "$relet" "$@" <"$in" >"$work/out" 2>"$work/err"
    code=$?
    read_back
}

feed() {
    printf "$1" >"$work/in"
    shift
    in=$work/in
    run "$@"
    in=$work/empty
}

# on_terminal ARGUMENT...: the same with a terminal as input and output.
on_terminal() {
    local line
    printf -v line '%q ' "$relet" "$@"
    SHELL=/bin/bash TERM=vt100 timeout 20 script -qec "$line" \
        "$work/typescript" <"$work/empty" 2>/dev/null |
        tr -d '\r' >"$work/out"
    code=${PIPESTATUS[0]}
    : >"$work/err"
    read_back
}

read_back() {
    out=$(tr '\0' '@' <"$work/out")
    err=$(tr '\0' '@' <"$work/err")
}

# claim TEXT CONDITION: checks the condition, an expression of [[ ]].
claim() {
    if eval "[[ $2 ]]"; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    printf 'FAIL %s\n  wanted: %s\n  code: %s\n  out: %.600s\n  err: %.600s\n' \
        "$1" "$2" "${code-}" "${out-}" "${err-}"
}

skip() {
    skipped=$((skipped + 1))
    printf 'SKIP cli_test: %s\n' "$1"
}

# As many as the claims of node are.
skip_node() {
    local text
    for text in 'a large document can be read' 'a document holds the same text'
    do
        skip "$text: there is no node"
    done
}

one_line() { [[ -n $1 && $1 != *$'\n'* ]]; }

# answers TEXT ARGUMENT...: relet call prints exactly this, and succeeds.
answers() {
    local want=$1
    shift
    run call "$@"
    claim "call $* answers $want" '$code == 0 && $out == "$want" && -z $err' \
        2>/dev/null
    [[ $out == "$want" ]] || printf '  exactly: %s\n' "$want"
}

# ------------------------------------------------------------- without server

commands='call listen lead lock leases put work jobs job dead cancel retry
purge pause resume limit stats reap fsck ping bench demo help'

test_help() {
    local c help page
    run --help
    claim 'help is for standard output' '$code == 0 && -z $err'
    for c in $commands; do
        claim "help lists $c" '$out == *"  $c "*'
    done
    for c in $commands; do
        run "$c" --help
        help=$out
        claim "$c --help begins with its usage" \
            '$code == 0 && $out == "usage: relet $c"*'
        run help "$c"
        claim "help $c is $c --help" '$code == 0 && $out == "$help"'
        claim "the help of $c fits 80 columns" \
            '-z $(awk "length > 79" "$work/out")'
    done
    run --version
    claim 'the version is that of the header' '$code == 0 && $out == "relet '"$(
        sed -n 's/^#define RELET_VERSION "\(.*\)"/\1/p' include/relet.h)"'"'
    for page in packaging/man/*.1; do
        claim "${page##*/} names this version" \
            '$(grep "^.TH" "$page") == *"\"$out\""*'
    done
}

# A wrong command line: exit code 2, one line on standard error that contains
# this text, and no output.
usage() {
    local holds=$1
    shift
    run "$@"
    claim "wrong use: relet $*" \
        '$code == 2 && -z $out && $err == relet:*"$holds"*'
    claim "one line for relet $*" '$(wc -l <"$work/err") == 1'
}

test_usage() {
    usage 'which command'
    usage "'pnig'; did you mean 'ping'" pnig
    usage "'lisen'; did you mean 'listen'" help lisen
    usage "no command 'xyzzy'; see" xyzzy
    usage "'--jsno'" --jsno ping
    usage "'-Z'; see relet ping --help" ping -Z
    usage "'--wait'" call --wait 5
    usage "'--version'; see" ping --version
    usage '--count takes a number from 1 to 1000000' ping -c 0
    usage "not '5x'" ping --count=5x
    usage '--interval wants a value: MS' ping -i
    usage '--json takes no value' ping --json=yes
    usage '--repeat wants a command' call --repeat 2
    usage '--stdin wants a command' call -x
    usage 'which channel' listen
    usage 'get, set or ping' bench
    usage "not 'del'" bench del
    usage "takes no 'localhost'" ping localhost
    usage 'no arguments' demo now
    usage "not ' 5'" put q --delay ' 5' x
    usage "not '+5'" put q --delay +5 x
    usage 'from 1 to 2147483647, or none' limit q 99999999999
    usage 'at least one byte' lead '' -- true
    usage 'at least one byte' lock --key '' -- true
    usage 'use mem: or file:' -u mem:name ping
    run -u mem: work q -- ''
    claim 'a command without a name is not found' \
        '$code == 127 && $err == *"'\'\''"*'
    usage "not 'ping', too" help call ping
    usage '--sharded does not go with' listen --sharded -p x y
    run --json -u redis://127.0.0.1:1 ping
    claim '--json: what goes wrong is a document, too' \
        '$code == 3 && $err == "{\"message\":\""*"\"}"'
}

# The long and short options at the beginning of these lines, each once.
options_of() {
    grep -oE '^(  |\.BR? )(-[a-zA-Z](, | ", " )|    )?--[a-z]+' |
        grep -oE -- '--?[a-zA-Z]+' | sort -u
}

# page_options PAGE: the options that a manual page describes.
page_options() {
    awk 'tag { gsub(/\\-/, "-"); print } { tag = $0 == ".TP" }' "$1" |
        options_of
}

# page_helps PAGE: the options that --help lists for the commands of a page; for
# relet(1) those that all commands share.
page_helps() {
    local c
    if [[ $1 == */relet.1 ]]; then
        "$relet" --help
    else
        for c in $(sed -n 's/^\.SS relet //p' "$1"); do
            "$relet" "$c" --help | sed '/^Common options:/,$d'
        done
    fi | options_of
}

# --help, the manual and the completion of bash have the same options.
test_options_agree() {
    local c page
    {
        "$relet" --help
        for c in $commands; do "$relet" "$c" --help; done
    } | options_of >"$work/help"
    grep -oE '(words\+?|common)="[^"]*"' packaging/completion/relet.bash |
        grep -oE -- '--?[a-zA-Z]+' | sort -u >"$work/bash"
    claim 'help names options' '$(wc -l <"$work/help") -gt 25'
    for page in packaging/man/*.1; do
        claim "${page##*/} describes the options that --help lists" \
            '-z $(diff <(page_helps "$page") <(page_options "$page") 2>&1)'
    done
    claim 'bash completes what --help lists' \
        '-z $(diff "$work/help" "$work/bash" 2>&1)'
    for c in $commands; do
        claim "one page of the manual has a section on $c" \
            '$(cat packaging/man/*.1 | grep -c "^\.SS relet $c\$") == 1'
    done
}

complete() {
    bash -c '. packaging/completion/relet.bash; COMP_WORDS=("$@")
             COMP_CWORD=$(($#-1)); _relet; echo "${COMPREPLY[*]}"' bash "$@"
}

test_completion() {
    local c at
    out=$(complete relet pi)
    claim 'pi is completed to ping' '$out == ping'
    out=$(complete relet -u redis://h ping --w)
    claim 'options are those of the command' '$out == --wait'
    out=$(complete relet bench s)
    claim 'bench is completed to set' '$out == set'
    out=$(complete relet jobs --place de)
    claim 'places are completed' '$out == "delayed dead"'
    for c in 'lead x' 'lock --key k' 'work -c 4 q r=2'; do
        # shellcheck disable=SC2086
        out=$(complete relet $c -- tru)
        claim "$c --: commands are completed" '" $out " == *" true "*'
        # shellcheck disable=SC2086
        out=$(complete relet $c -- cat tests/cli_te)
        claim "$c --: files are completed" '$out == tests/cli_test.sh'
        # shellcheck disable=SC2086
        out=$(complete relet $c -- tests/cli_te)
        claim "$c --: a command by its path" '$out == tests/cli_test.sh'
        # shellcheck disable=SC2086
        out=$(_command_offset() { COMPREPLY=("from $1"); }
              export -f _command_offset; complete relet $c -- ls --a)
        # shellcheck disable=SC2086
        set -- $c
        at=$(($# + 2))
        claim "$c --: as bash-completion does where it is" '$out == "from $at"'
    done
    out=$(complete relet lock x --wa)
    claim 'in front of -- options are completed' '$out == --wait'
}

test_urls() {
    local url
    for url in redis://host:99999 http://host redis:// 'redis://h?nope=1' \
        'redis://h/x' 'redis://:pa%zzword@h'; do
        run -u "$url" ping
        claim "$url is refused" \
            '$code == 2 && -z $out && $err == "relet: --url: at byte"*'
        claim "$url is refused in one line" '$(wc -l <"$work/err") == 1'
    done
    run -u 'redis://user:hush%zz@host' ping
    claim 'a password is not printed' '$err != *hush*'
    for url in mem:name rediss://h sentinel://h/s cluster://h; do
        run -u "$url" ping
        claim "$url cannot be used yet" '$code == 2 && $err == relet:*'
    done
    RELET_REDIS_URL=http://x run ping
    claim 'RELET_REDIS_URL is read' '$code == 2'
    REDIS_URL=http://x run ping
    claim 'REDIS_URL is read' '$code == 2'
    REDIS_URL=http://x RELET_REDIS_URL=redis://127.0.0.1:1 run ping
    claim 'RELET_REDIS_URL beats REDIS_URL' '$code == 3'
    REDIS_URL=http://x run -u redis://127.0.0.1:1 ping
    claim '--url beats the environment' '$code == 3'
    command -v script >/dev/null || { skip 'caret: no script(1)'; return; }
    on_terminal -u 'redis://user:hush@host:77777' ping
    claim 'a terminal shows the place of an error' '$out == *"redis://user:***@host:77777
                        ^"*'
    claim 'a terminal does not show the password' '$out != *hush*'
    on_terminal -u 'redis://user:hu%zzsh@host' ping
    claim 'a mistake in the password is shown at its place' '$out == *"
  redis://user:***@host
               ^"*'
}

test_no_server() {
    local began=$SECONDS
    for c in call\ PING call 'listen x' ping 'bench get'; do
        # shellcheck disable=SC2086
        run -u redis://127.0.0.1:1 $c
        claim "without a server $c ends in 3" \
            '$code == 3 && -z $out && $err == relet:*127.0.0.1:1*'
        claim "$c says so in one line" '$(wc -l <"$work/err") == 1'
    done
    claim 'commands without a server end quickly' '$((SECONDS - began)) -lt 5'
    run -u "unix:$work/none" ping
    claim 'without a socket, too' '$code == 3 && $err == *none*'
    began=$(date +%s%N)
    run -u redis://127.0.0.1:1 ping --wait 300
    claim 'a wait is bounded' '$code == 3 &&
        $((($(date +%s%N) - began) / 1000000)) -ge 300 &&
        $((($(date +%s%N) - began) / 1000000)) -lt 3000'
}

test_demo() {
    run demo
    claim 'the demo succeeds' '$code == 0 && -z $err'
    claim 'a pipe gets no colours' '$out != *$'\''\e'\''*'
    claim 'all that was put is done' '$out == *"1500 put = 1500 done; 0 wait"*'
    claim 'no effect twice' '$out == *"1500 effects, one for each job"*'
    run -u mem: demo
    claim 'the demo succeeds on mem:, too' '$code == 0 && -z $err'
    run -u redis://127.0.0.1:1 demo
    claim 'without a server the demo says so' \
        '$code == 3 && $(wc -l <"$work/err") == 1'
    "$relet" demo >/dev/full 2>"$work/err"
    code=$?
    claim 'a full disk is reported' '$code == 5 && $(wc -l <"$work/err") == 1'
    "$relet" demo >&- 2>"$work/err"
    code=$?
    claim 'a closed output is reported' \
        '$code == 5 && $(wc -l <"$work/err") == 1'
    command -v script >/dev/null || { skip 'colours: no script(1)'; return; }
    on_terminal demo
    claim 'a terminal gets colours' '$code == 0 && $out == *$'\''\e'\''*'
    NO_COLOR=1 on_terminal demo
    claim 'but not with NO_COLOR' '$code == 0 && $out != *$'\''\e[2m'\''*'
}

test_demo_there() {
    local signal
    run demo
    claim 'the demo succeeds on a server' '$code == 0 && -z $err'
    claim 'the demo prints its server' \
        '$out == *" on ${RELET_REDIS_URL#redis://}: "*'
    run --json call KEYS 'relet-demo*'
    claim 'the demo leaves no key on the server' '$out == "[]"'
    timeout 20 "$relet" demo 2>"$work/err" | head -n 1 >"$work/out"
    code=${PIPESTATUS[0]}
    err=$(cat "$work/err")
    claim 'a closed pipe ends the demo quietly' '$code == 5 && -z $err'
    run --json call KEYS 'relet-demo*'
    claim 'a demo that was ended by a closed pipe leaves no key' '$out == "[]"'
    for signal in INT TERM HUP; do
        : >"$work/said"
        "$relet" demo >"$work/said" 2>"$work/err" &
        listener=$!
        until_said put
        kill "-$signal" "$listener"
        wait "$listener"
        code=$?
        listener=
        claim "SIG$signal ends the demo by 128 + its number" \
            '$code == $((128 + $(kill -l $signal)))'
        run --json call KEYS 'relet-demo*'
        claim "the demo leaves no key after SIG$signal" '$out == "[]"'
    done
}

test_local_server() {
    run -u mem: call INCR n
    claim 'mem: answers' '$code == 0 && $out == 1 && -z $err'
    run -u mem: call INCR n
    claim 'mem: keeps no data' '$out == 1'
    run -u mem: call EVAL 'return redis.call("TYPE", KEYS[1])' 1 n
    claim 'mem: runs scripts' '$out == none'
    run -u mem: ping
    claim 'a ping says where' '$out == *"redis 7.0.15 at mem:: 1 of 1 "*'
    run -u "file:$work/store" call RPUSH jobs one two
    claim 'file: answers' '$code == 0 && $out == 2'
    run -u "file:$work/store" call LRANGE jobs 0 -1
    claim 'and remembers' '$out == "one
two"'
    printf 'tail' >>"$work/store"
    run -u "file:$work/store?fsync=never" call LLEN jobs
    claim 'a torn end of a file is cut and reported' '$code == 0 && $out == 2 &&
        $err == *"was torn at byte "*"; 4 bytes were cut off"'
    run -u "file:$work/no/folder" call PING
    claim 'a folder that does not exist is reported' \
        '$code == 3 && $err == *"no/folder: open: No such file"*'
    run -u "file:$work/store?fsync=maybe" call PING
    claim 'an unknown fsync policy is refused' '$code == 2 && $err == *fsync*'
}

# ---------------------------------------------------------------- with server

# start PROGRAM: a server on a free port, whose URL is then RELET_REDIS_URL.
start() {
    local try port
    for try in 1 2 3 4 5 6 7 8; do
        port=$((20000 + (RANDOM + try) % 40000))
        mkdir -p "$work/data"
        LD_LIBRARY_PATH=${VALKEY_LIBS:-} "$1" --port "$port" \
            --bind 127.0.0.1 --save '' --appendonly no --dir "$work/data" \
            --unixsocket "$work/socket" --enable-debug-command yes \
            >"$work/log" 2>&1 &
        server=$!
        export RELET_REDIS_URL=redis://127.0.0.1:$port
        run ping --wait 5000
        if [ "$code" = 0 ] && kill -0 "$server" 2>/dev/null; then
            return 0
        fi
        kill "$server" 2>/dev/null
        wait "$server" 2>/dev/null
    done
    server=
    return 1
}

test_call_text() {
    answers OK SET greeting hello
    answers hello GET greeting
    answers '' GET nothing
    answers 3 RPUSH list a b 'c d'
    answers $'a\nb\nc d' LRANGE list 0 -1
    answers $'1\n2\n3' EVAL 'return {1,{2,{3}}}' 0
    answers true EVAL 'redis.setresp(3) return true' 0
    answers -u ECHO -u
    answers --json -- ECHO --json
    run call GET list
    claim 'an error goes to stderr, code 1' \
        '$code == 1 && -z $out && $err == "relet: WRONGTYPE"*'
    run call --repeat 3 INCR counter
    claim 'a command is repeated' '$code == 0 && $out == $'\''1\n2\n3'\'
    run -u "unix:$work/socket" call ECHO socket
    claim 'a Unix socket will do' '$code == 0 && $out == socket'
}

json() {
    local want=$1
    shift
    answers "$want" --json "$@"
}

# Each kind of reply that a server can send, as a document.
test_call_json() {
    local set3='redis.setresp(3) return'
    json '"OK"' SET a 1
    json null GET nothing
    json 7 EVAL 'return 7' 0
    json -9223372036854775808 EVAL \
        "return redis.call('INCRBY', 'min', '-9223372036854775808')" 0
    json '"a\"\\b\nc"' ECHO $'a"\\b\nc'
    json '"\u001b\u007fé"' ECHO $'\e\x7f\xc3\xa9'
    json '"é€😀"' ECHO $'\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80'
    json '{"bytes":"/w=="}' ECHO $'\xff'
    json '{"bytes":"wMA="}' ECHO $'\xc0\xc0'
    json '{"bytes":"7aCA"}' ECHO $'\xed\xa0\x80'
    json '{"bytes":"4oI="}' ECHO $'\xe2\x82'
    json '[1,[2,"x"],[]]' EVAL 'return {1,{2,"x"},{}}' 0
    json '[1,{"error":"BAD day"}]' EVAL \
        "return {1, redis.error_reply('BAD day')}" 0
    json true EVAL "$set3 true" 0
    json false EVAL "$set3 false" 0
    json 3.25 EVAL "$set3 {double=3.25}" 0
    json '"inf"' EVAL "$set3 {double=math.huge}" 0
    json '"-inf"' EVAL "$set3 {double=-math.huge}" 0
    json '"12345678901234567890"' EVAL \
        "$set3 {big_number='12345678901234567890'}" 0
    json '["only"]' EVAL "$set3 {set={only=true}}" 0
    json '{"k":[1,2]}' EVAL "$set3 {map={k={1,2}}}" 0
    json '{"map":[["error","x"]]}' EVAL "$set3 {map={error='x'}}" 0
    json '{"map":[[{"bytes":"/w=="},1]]}' EVAL "$set3 {map={['\\255']=1}}" 0
    json '[]' SMEMBERS nothing
    json '{}' HGETALL nothing
    json '{"map":[[0,false],[1,true],[2,false]]}' DEBUG PROTOCOL map
    json '"This is a verbatim\nstring"' DEBUG PROTOCOL verbatim
    json '"Some real reply following the attribute"' DEBUG PROTOCOL attrib
    run call --json nonsense
    claim 'an error is a document, too' \
        '$code == 1 && $out == "{\"error\":\"ERR unknown command"*'
    run call DEBUG PROTOCOL push
    claim 'a push is not the reply' '$code == 0 && $err == *pushed*'
    [ -n "${NODE-}" ] || { skip_node; return; }
    run call --json COMMAND DOCS
    "$NODE" -e 'JSON.parse(require("fs").readFileSync(0))' <"$work/out"
    claim 'a large document can be read' "$? == 0"
    run call --json ECHO $'\x01\x02\x1f"\\/\t\r\n'
    "$NODE" -e 'process.exit(JSON.parse(require("fs").readFileSync(0)) ===
        "\x01\x02\x1f\"\\/\t\r\n" ? 0 : 1)' <"$work/out"
    claim 'a document holds the same text' "$? == 0"
}

test_call_terminal() {
    command -v script >/dev/null || { skip 'types: no script(1)'; return; }
    on_terminal call EVAL 'redis.setresp(3)
        return {1, {"a", {double=1.5}}, false, "\27[1m\0"}' 0
    claim 'a terminal gets types' '$out == '"'1) (integer) 1
2) 1) \"a\"
   2) (double) 1.5
3) (false)
4) \"\\x1b[1m\\x00\"'"
    on_terminal call EVAL 'redis.setresp(3) return {map={k={1,2}}}' 0
    claim 'a map has arrows' '$out == '"'1# \"k\" => 1) (integer) 1
           2) (integer) 2'"' || $out == '"'1# \"k\" => 1) (integer) 1
   2) (integer) 2'"
    on_terminal call EVAL "return {ok='fine'}" 0
    claim 'text is quoted' '$out == \"fine\"'
    on_terminal call nonsense
    claim 'an error is marked' '$code == 1 && $out == "(error) ERR unknown"*'
    on_terminal call INFO server
    claim 'verbatim text keeps its lines' \
        '$out == "# Server"*_version:* && $out != *"\\x"*'
}

test_call_input() {
    local want
    want=$'OK\nx@\n"y\nit\'s \\n'
    cat >"$work/in" <<'.'
SET a "x\x00\n\"y"
GET a

# note
ECHO 'it\'s \n'
.
    in=$work/in
    run call
    in=$work/empty
    claim 'lines are a pipeline, in order' '$code == 0 && $out == "$want"'
    feed 'ECHO 1\r\nECHO "" \r\n' call
    claim 'lines may end as on Windows' '$code == 0 && $out == 1'
    feed 'SET bad 1\nSET bad "2\nSET bad 3\n' call
    claim 'a bad line is reported' \
        '$code == 2 && $err == *"line 2, column 9: this quote is not closed"*'
    answers 1 GET bad
    feed 'PING "a"b' call
    claim 'text after a quote is reported' '$err == *"line 1, column 9:"*'
    feed 'PING "\\q"' call
    claim 'an unknown escape is told' '$err == *"column 7: unknown escape"*'
    feed 'PING "\\x1"' call
    claim 'half an escape is told' '$err == *"column 7: unknown escape"*'
    feed 'ECHO 1\nGET list extra\nECHO 2' call
    claim 'an error does not end a pipeline' \
        '$code == 1 && $out == $'\''1\n2'\'' && $err == *"line 2: ERR"*'
    feed 'ECHO 1\nSUBSCRIBE x\nECHO 2' call
    claim 'a refused command ends it' \
        '$code == 2 && $out == 1 && $err == *"line 2"*SUBSCRIBE*'
    seq 20000 | sed 's/.*/ECHO &/' >"$work/in"
    in=$work/in
    run call
    in=$work/empty
    claim 'a long pipeline is answered in order' \
        '$code == 0 && $out == "$(seq 20000)"'
    out=$({ echo 'ECHO first'; sleep 1; } | timeout 20 "$relet" call |
        { read -r line; echo "$line after $SECONDS"; })
    claim 'answers do not wait for the end of input' '$out == "first after"*'
}

test_call_bytes() {
    head -c 1000000 /dev/urandom >"$work/in"
    in=$work/in
    run call -x SET binary
    in=$work/empty
    claim '-x takes any bytes' '$code == 0 && $out == OK'
    run call GET binary
    echo >>"$work/in"
    claim 'a pipe gets the same bytes, and a newline' \
        '-z $(cmp "$work/in" "$work/out" 2>&1)'
    timeout 20 "$relet" call --repeat 1000 GET binary 2>"$work/err" |
        head -c 10 >/dev/null
    code=${PIPESTATUS[0]}
    err=$(cat "$work/err")
    claim 'a closed pipe ends it quietly' '$code == 5 && -z $err'
    timeout 20 "$relet" call --repeat 99 GET binary >/dev/full 2>"$work/err"
    code=$?
    claim 'a full disk is reported' '$code == 5 && $(wc -l <"$work/err") == 1'
    timeout 20 "$relet" call <&- >"$work/out" 2>"$work/err"
    code=$?
    read_back
    claim 'a closed input is told' '$code == 2 && $err == *"standard input"*'
    timeout 20 "$relet" call ECHO lost >&- 2>"$work/err"
    code=$?
    claim 'a closed output is reported' \
        '$code == 5 && $(wc -l <"$work/err") == 1'
    run call -x ECHO
    claim 'empty input is an empty argument' '$code == 0 && -z $out'
}

test_call_refused() {
    local c
    for c in SUBSCRIBE MULTI EXEC SELECT HELLO MONITOR QUIT RESET \
        AUTH 'CLIENT REPLY' 'client tracking'; do
        # shellcheck disable=SC2086
        run call $c
        claim "$c is refused by name" \
            '$code == 2 && -z $out && $err == *"${c^^}"*'
    done
    run call SUBSCRIBE x
    claim 'call SUBSCRIBE names relet listen' '$err == *"use relet listen"*'
    run call psubscribe x
    claim 'call PSUBSCRIBE names --pattern' \
        '$err == *"use relet listen --pattern"*'
    run call SSUBSCRIBE x
    claim 'call SSUBSCRIBE names --sharded' \
        '$err == *"use relet listen --sharded"*'
    for c in SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE \
        SUNSUBSCRIBE MONITOR SELECT AUTH MULTI EXEC DISCARD QUIT \
        'CLIENT TRACKING' 'CLIENT CACHING'; do
        # shellcheck disable=SC2086
        run call $c
        claim "the refusal of $c names no function of the library" \
            '$code == 2 && $err != *relet_* && $err != *RELET_*'
    done
    feed '""' call
    claim 'an empty command is refused' '$code == 2 && $err == *line*1*'
}

test_call_unsure() {
    run --timeout 200 call --json BLPOP empty 0
    claim 'no answer in time: unsure' \
        '$code == 4 && $out == "{\"unsure\":"* && $err == *unsure*'
    run --timeout 0 call BLPOP empty 0.3
    claim '--timeout 0 waits' '$code == 0'
    feed 'ECHO 1\nCLIENT KILL TYPE normal SKIPME no\nECHO 2\n' \
        --timeout 2000 call
    claim 'what was answered before a break is shown' '$out == 1*'
    feed 'ECHO 1\nBLPOP empty 0\nECHO 2\n' --timeout 200 call
    claim 'nothing is answered behind an unsure one' \
        '$code == 4 && $out == 1 && $(grep -c unsure "$work/err") == 2'
}

# until TEXT: the listener has said so on stderr.
until_said() {
    local tries=0
    until grep -q "$1" "$work/said"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || return 1
        sleep 0.05
    done
}

listen() {
    : >"$work/said"
    "$relet" listen "$@" >"$work/heard" 2>>"$work/said" &
    listener=$!
}

heard() {
    wait "$listener"
    code=$?
    listener=
    out=$(tr '\0' '@' <"$work/heard")
    err=$(cat "$work/said")
}

test_listen() {
    local try
    listen -n 3 -p 'c.*' b
    until_said 'listening to c' && until_said 'listening to b'
    run call PUBLISH c.1 one
    run call PUBLISH b $'t\two'
    printf 'a\0b' >"$work/in"
    in=$work/in run call -x PUBLISH b
    in=$work/empty
    heard
    claim 'messages are lines' \
        '$code == 0 && $out == '"\$'c.1\tone\nb\tt\two\nb\ta@b'"
    listen --json -n 2 -p 'c.*' b
    until_said 'listening to c' && until_said 'listening to b'
    run call PUBLISH c.1 one
    run call PUBLISH b $'\xff'
    heard
    claim 'messages are documents' '$code == 0 && $out == '"'"\
'{"channel":"c.1","pattern":"c.*","message":"one"}
{"channel":"b","message":{"bytes":"/w=="}}'"'"
    listen --json b
    until_said 'listening to b'
    : >"$work/said"
    run call CLIENT KILL TYPE pubsub
    until_said gap
    until_said 'listening to b'
    run call PUBLISH b back
    claim 'after a broken link it listens again' '$out == 1'
    kill -TERM "$listener"
    heard
    claim 'SIGTERM ends it well, and a gap was told' \
        '$code == 0 && $out == "{\"gap\":null}"* && $out == *back*'
    listen -q b
    for try in {1..500}; do
        run call PUBSUB NUMSUB b
        [ "$out" != $'b\n1' ] || break
    done
    kill -INT "$listener"
    heard
    claim '-q says nothing' '$code == 0 && -z $err$out'
}

test_listen_sharded() {
    listen -n 1 --sharded s
    until_said 'listening to s'
    run call SPUBLISH s one
    heard
    claim 'listen --sharded hears SPUBLISH' '$code == 0 && $out == "s	one"'
}

test_ping() {
    run -q ping
    claim '-q leaves standard output as it is' '$code == 0 && $out == answer*'
    run ping -c 3 -i 10
    claim 'ping counts its answers' \
        '$code == 0 && $out == *"3 of 3 answered; min "*" max "*ms'
    run --json ping
    claim 'ping has a document' \
        '$code == 0 && $out == "{\"server\":\"'"$name"' "*"\"answered\":1,"*'
    : >"$work/out"
    "$relet" ping -c 1000 -i 60000 >"$work/out" 2>"$work/err" &
    listener=$!
    until [ -s "$work/out" ] || ! kill -0 "$listener"; do
        sleep 0.05
    done
    kill -INT "$listener"
    wait "$listener"
    code=$?
    listener=
    read_back
    claim 'SIGINT ends it with the summary' '$code == 0 && $out == *"1 of 1"*'
}

test_bench() {
    run bench set -n 2000 -k 10 -s 100 -d 16
    claim 'bench set runs' '$code == 0 && $out == *operations/s* && -z $err'
    answers 1 EXISTS key:000000000003
    answers 100 STRLEN key:000000000009
    answers 0 EXISTS key:000000000010
    run bench get -n 2000 -k 10
    claim 'bench get finds what set wrote' '$code == 0 && $out != *misses*'
    run bench ping -n 100 -d 1 --json
    claim 'bench has a document' \
        '$code == 0 && $out == "{\"bench\":\"ping\","*"\"errors\":0}"'
    run call SET list nolist
    run call RENAME list key:000000000000
    run call DEL key:000000000000
    run call RPUSH key:000000000000 x
    run bench get -n 10 -k 1
    claim 'errors are counted' '$code == 1 && $out == *"errors "*'
}

# The lines of EXAMPLES in the manual, as they are typed. Jobs are put before
# operators look at them.
examples() {
    sed -n '/^\.SH EXAMPLES/,/^\.EE/p' packaging/man/relet-work.1 \
        packaging/man/relet-[!w]*.1 packaging/man/relet.1 |
        grep '^relet\|^printf' | sed 's/\\-/-/g; s/\\e/\\/g'
}

# Prepares the files, commands, worker and publisher that the examples need.
examples_begin() {
    rm -rf "$work/typed"
    mkdir -p "$work/bin" "$work/typed"
    ln -sf "$relet" "$work/bin/relet"
    cp include/relet.h "$work/typed/picture.png"
    seq 1 20 >"$work/typed/list"
    echo PING >"$work/typed/commands"
    printf '#!/bin/sh\ntrue\n' >"$work/typed/backup"
    printf '#!/bin/sh\ncat\n' >"$work/typed/deliver"
    printf '#!/bin/sh\nmkdir told && kill -TERM $PPID; true\n' \
        >"$work/typed/convert"
    printf '#!/bin/sh\nkill -TERM $PPID; exec sleep 9\n' \
        >"$work/typed/scheduler"
    cp "$work/typed/backup" "$work/typed/start"
    chmod +x "$work"/typed/{backup,start,deliver,convert,scheduler}
    "$relet" -q work sum -- wc -w 2>"$work/log" &
    listener=$!
    while sleep 0.2; do
        "$relet" call PUBLISH news.all "it is $SECONDS"
    done >"$work/log" 2>&1 &
    publisher=$!
    run call RPUSH jobs 'for BLPOP'
}

test_examples() {
    local line publisher want n=0 before=${listener:-}
    examples_begin
    while read -r line; do
        n=$((n + 1))
        want=0
        [[ $line != *./scheduler* ]] || want=143
        line=${line//redis:\/\/localhost/$RELET_REDIS_URL}
        line=${line//unix:\/run\/redis.sock/unix:$work/socket}
        (cd "$work/typed" && PATH=$work/bin:$PATH timeout 30 bash -c "$line" \
            >"$work/out" 2>"$work/err" <"$work/empty")
        code=$?
        read_back
        claim "the manual's example: $line" '$code == $want'
    done < <(examples)
    claim 'the manual has examples' '$n -gt 30'
    for line in put work jobs job dead retry cancel purge pause limit stats \
        reap fsck lead lock leases listen ping bench call; do
        claim "the manual has an example of $line" \
            '$(examples) == *"relet $line "* || $(examples) == *" $line "*'
    done
    kill "$listener" "$publisher"
    wait "$listener" "$publisher" 2>/dev/null
    listener=$before
}

# A server that goes away in the middle, which also ends it.
test_goes_away() {
    feed 'ECHO 1\nSHUTDOWN NOSAVE\nECHO 2\n' call --json
    claim 'a server that goes leaves commands unsure' \
        '$code == 4 && $out == *unsure*unsure*'
    wait "$server"
    server=
    run ping
    claim 'and then there is none' '$code == 3'
}

test_with() {
    name=$1
    if ! start "$2"; then
        failed=$((failed + 1))
        printf 'FAIL %s does not start\n' "$name"
        return
    fi
    test_call_text
    test_call_json
    test_call_terminal
    test_call_input
    test_call_bytes
    test_call_refused
    test_call_unsure
    test_listen
    test_listen_sharded
    test_ping
    test_bench
    test_demo_there
    test_examples
    test_goes_away
    unset RELET_REDIS_URL
}

test_help
test_usage
test_options_agree
test_completion
test_urls
test_no_server
test_demo
test_local_server
if [ -n "$REDIS_SERVER" ]; then
    test_with redis "$REDIS_SERVER"
else
    skip 'on redis: tests/deps.sh did not find REDIS_SERVER'
fi
if [ -n "$VALKEY_SERVER" ]; then
    test_with valkey "$VALKEY_SERVER"
else
    skip 'on valkey: tests/deps.sh did not find VALKEY_SERVER'
fi

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
