#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# jobs_test.sh - relet work and what operators do to queues, from outside:
# commands that run for jobs, and what becomes of the jobs when processes are
# killed or stopped.
#
#   tests/jobs_test.sh      RELET names the program, build/relet otherwise
#
# The tests run on each real server that deps.sh found. They wait for a process
# by reading the files that it writes.

# Text in single quotes is expanded by the shells that the tests start.
# shellcheck disable=SC2016
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
# shellcheck disable=SC1091
. tests/wait.sh
relet=${RELET:-build/relet}
[[ $relet == /* ]] || relet=$PWD/$relet
for name in $(compgen -v | grep -E '^(RELET_)?REDIS_(URL|HOST|PORT|DB|PREFIX|'\
'USERNAME|PASSWORD|SENTINEL_.*)$'); do
    unset "$name"
done
work=$PWD/build/jobs
rm -rf "$work"
mkdir -p "$work"

# ------------------------------------------------------------------- helpers

# run ARGUMENT...: leaves $code, $out and the file err.
run() {
    out=$(timeout 30 "$relet" "$@" 2>"$work/err" </dev/null)
    code=$?
}

# begin NAME ARGUMENT...: in the background as $pid; files NAME.out and .err.
begin() {
    local as=$1
    shift
    : >"$work/$as.out"
    : >"$work/$as.err"
    "$relet" "$@" >"$work/$as.out" 2>"$work/$as.err" </dev/null &
    pid=$!
}

redis() { "$REDIS_CLI" -p "$server_port" "$@"; }

# A command that prints its pid, number and token, then waits to be killed.
forever='echo "pid $$ job $RELET_JOB token $RELET_TOKEN" >&2
    while :; do sleep 1; done'
# The same command, which only reports SIGTERM.
stubborn='trap "echo told >&2" TERM; '$forever

# pid_of FILE, token_of FILE: of the last command that wrote to the file.
pid_of() { sed -n 's/^pid \([0-9]*\) .*/\1/p' "$work/$1" | tail -n 1; }
token_of() { sed -n 's/^pid .* token \([0-9]*\)$/\1/p' "$work/$1" | tail -n 1; }

# place QUEUE NUMBER: prints the place of the job.
place() {
    "$relet" --json job "$1" "$2" 2>&1 |
        sed 's/.*"place":"\([a-z]*\)".*/\1/'
}
is_at() { [ "$(place "$1" "$2")" = "$3" ]; }
has_job() { "$relet" --json job "$1" "$2" | grep -q -- "$3"; }

sound() { "$relet" fsck "$1" >"$work/fsck" || cat "$work/fsck"; }

# ----------------------------------------------------------- a job, and its end

test_done() {
    run put --keep 60000 up hello
    check 'put: prints the number' same '0 1' "$code $out"
    run -q work --drain up -- tr a-z A-Z
    check 'work --drain ends when the queue is empty' same 0 "$code"
    run job --result up 1
    check 'payload in, result out' same HELLO "$out"
    run -q put env -- x
    run -q work -n 1 env -- sh -c \
        'echo $RELET_QUEUE $RELET_JOB $RELET_ATTEMPT ${RELET_ID-none} >"$1"' \
        sh "$work/env"
    check 'the command finds its job' same 'env 1 1 none' "$(cat "$work/env")"
    run -q put --id mine --type t --attempts 2 env x
    run -q work -n 1 env -- sh -c 'echo $RELET_ID $RELET_TYPE >"$1"' \
        sh "$work/env"
    check 'the command finds the id and type of its job' \
        same 'mine t' "$(cat "$work/env")"
    printf 'a\0b\r\n' | "$relet" -q put --keep 60000 bytes >"$work/log"
    run -q work --drain bytes -- cat
    check 'any bytes go in and out' \
        same 6100620d0a "$("$relet" job --result bytes 1 |
            od -An -tx1 | tr -d ' \n')"
    head -c 16777216 /dev/zero | "$relet" -q put big >"$work/log"
    "$relet" -q put big '' </dev/null >"$work/log"
    : >"$work/big"
    run -q work --drain big -- sh -c 'wc -c >>"$1"' sh "$work/big"
    check 'payloads of 16 MB and of 0 bytes reach the command' same 16777216,0 \
        "$(tr -d ' ' <"$work/big" | paste -sd , -)"
    head -c 3000000 /dev/zero | "$relet" -q put deaf >"$work/log"
    run -q work --drain deaf -- true
    check 'a command need not read its payload' same '0 1' \
        "$code $(redis HGET '{deaf}:jobs' 'done')"
    for name in up env bytes big deaf; do
        check "$name: fsck finds nothing" sound "$name"
    done
}

# Option -q suppresses notices, but not the results on standard output.
test_quiet() {
    run -q put quiet x
    check 'put -q: prints the number' same '0 1' "$code $out"
    run -q put --id i quiet x
    run -q put --id i quiet x
    check 'put -q: prints the number of a duplicate' \
        same '2 duplicate waiting' "$out"
}

# Each line on standard error is a document: notices of relet, and what the
# command writes there.
test_json_lines() {
    run put --keep 60000 doc a b
    run --json work -n 2 doc -- sh -c 'echo one >&2; printf "a\"b" >&2
        head -c 2500 /dev/zero | tr "\0" x >&2'
    check 'work --json: only documents' same 0 \
        "$(grep -cv '^{"[a-z]*":.*}$' "$work/err")"
    check 'work --json: documents show what the command writes' grep -q \
        '"event":"stderr","queue":"doc","job":1,.*"text":"one"}$' "$work/err"
    check 'work --json: a last line without an end, too' \
        grep -q '"text":"a\\"bxxx' "$work/err"
    run put doc c d
    begin one --json work doc -- sh -c 'echo "pid $$" >&2; read line <"$1"' \
        sh "$work/fifo"
    until_line "$work/one.err" '"text":"pid '
    kill -TERM "$pid"
    until_line "$work/one.err" 'at work; once more'
    give_line "$work/fifo"
    wait "$pid"
    check 'work --json: a signal is told by a document' same 0 \
        "$(grep -cv '^{"[a-z]*":.*}$' "$work/one.err")"
    run -q --json work -n 1 doc -- sh -c 'echo one >&2'
    check 'work -q --json: no notices either' \
        same '0 ' "$code $(cat "$work/err")"
    run --json job --payload doc 1
    check 'job --payload --json: a string' same '"a"' "$out"
}

# jobs has the beginning of a long text, and says how long it is.
test_long_texts() {
    run put --keep 60000 length a b
    run -q work --drain length -- sh -c 'head -c 100000 /dev/zero | tr "\0" x
        [ "$RELET_JOB" = 1 ] || exit 65'
    run jobs --place done length
    check 'jobs: +N is of the whole result' same +99940 \
        "$(grep -o '+[0-9]*$' <<<"$out")"
    run --json jobs --place done length
    check 'jobs --json: result_len' grep -q '"result_len":100000,"result":"x' \
        <<<"$out"
    run --json job length 1
    check 'job --json: the whole result, and no more members' \
        grep -q '"payload":"a","result":"x\{9000\}' <<<"$out"
    check 'job --json: no length beside the whole result' same 0 \
        "$(grep -c result_len <<<"$out")"
}

# A command of relet work has no terminal, so that reading from a terminal fails
# instead of stopping the command.
test_terminal() {
    command -v script >/dev/null || { skip terminal 'no script(1)'; return; }
    run put --attempts 1 tty x
    printf -v line '%q ' "$relet" work --drain tty -- \
        sh -c 'read a </dev/tty || exit 65; echo "$a"'
    SHELL=/bin/sh timeout 10 script -qefc "$line" "$work/typescript" \
        >"$work/out" 2>&1 </dev/null
    check 'work: a command finds no terminal' same 0 $?
    check 'work: a command without a terminal fails at once' \
        grep -q 'job 1: failed: exit code' "$work/out"
    check 'work: a command without a terminal says why' \
        grep -q 'open /dev/tty' "$work/out"
}

test_put_waits() {
    begin answers work answers -- sh -c 'read -r word; case $word in
        dead) echo no >&2; exit 65;; long) sleep 100;; *) echo "<$word>";; esac'
    run put --wait 10000 answers hello
    check 'put --wait: prints the result' same '0 <hello>' "$code $out"
    run put --wait 10000 --json answers you
    check 'put --wait --json: the result is a document' \
        same '{"job":2,"place":"done","result":"<you>\n"}' "$out"
    run put --wait 10000 answers dead
    check 'put --wait: a dead job ends it by 1, with the reason' \
        same '1 ' "$code $out"
    check 'put --wait: the reason is on standard error' \
        grep -q 'job 3 is dead: .*no' "$work/err"
    run put --wait 200 answers long
    check 'put --wait: a job that has not ended: 4, and its number' \
        same 4 "$code"
    check 'put --wait: a job that has not ended goes on' \
        grep -q 'job 4 has not ended in 200 ms' "$work/err"
    run cancel answers 4
    kill "$pid"
    wait "$pid"
}

test_exit_codes() {
    run put --backoff 3600000 codes a b c d
    run -q work -c 4 -n 4 codes -- sh -c 'echo "because" >&2
        case $RELET_JOB in 1) exit 3;; 2) exit 65;; 3) exit 75;;
        4) kill -KILL $$;; esac'
    check 'exit code 3: tried again later' same delayed "$(place codes 1)"
    check 'exit code 3: the error has the last line of the command' \
        has_job codes 1 '"error":"exit code 3: because"'
    check 'exit code 3: an attempt is used' has_job codes 1 '"attempt":1'
    check 'exit code 65: dead' same dead "$(place codes 2)"
    check 'exit code 75: put off' same delayed "$(place codes 3)"
    check 'exit code 75: no attempt is used' has_job codes 3 '"attempt":0'
    check 'a signal: tried again later' has_job codes 4 'signal 9: because'
    run put --attempts 1 once a
    run -q work --drain once -- false
    check 'the last attempt: dead' same dead "$(place once 1)"
    run put large a
    run -q work --drain --result 10 large -- echo 12345678901
    check 'a result over the bound is a failure, by name' \
        has_job large 1 'the result is over 10 bytes'
    run put slow a
    run work --drain --run 100 --grace 0 slow -- sleep 100
    check 'a job out of time is a failure, by name' \
        has_job slow 1 'not done in 100 ms'
    check 'a job out of time is reported' \
        grep -q 'job 1: failed: not done in' "$work/err"
    run put --run 100 slow2 a
    run -q work --drain --grace 5000 slow2 -- sh -c 'sleep 100'
    check 'the timeout of the job itself ends it, too' \
        has_job slow2 1 'not done in 100 ms'
    run put --json x a
    run --json work --drain x -- sh -c 'exit 65'
    check 'option --json: documents on standard error' grep -q \
        '"event":"failed","queue":"x","job":1,.*"code":65' "$work/err"
    run put --deadline 1 stale a
    sleep 2.1 # it was put within a second
    run -q work --drain stale -- touch "$work/stale"
    check 'a job is not begun after its deadline' \
        same 'dead 1' "$(place stale 1) $([ -e "$work/stale" ]; echo $?)"
    check 'codes: fsck finds nothing' sound codes
}

test_usage() {
    local words
    for words in work 'work q' 'work q ls -l' 'work -c 0 q -- true' \
        'work -c 129 q -- true' \
        'work --drain --type t q -- true' \
        'work --lease 1000 --grace 501 q -- true' \
        'work a}b -- true' 'work a a=2 -- true' 'work a=1000001 -- true' \
        'work a b --' jobs 'jobs a b' 'jobs --place here q' job 'job q' \
        'job q x' 'job q 0' 'job q -1' 'job q 9999999999999999999' cancel \
        'cancel q' 'cancel q 1x' 'retry q' 'retry q --all 1' \
        'retry q -n 2 1' purge 'purge q' \
        'purge q --place x' 'purge q --all --place dead' pause 'pause a b' \
        'resume' 'limit q' 'limit q 0' 'limit q x' 'stats --prom --json' \
        reap 'dead' 'fsck a}b' 'put --id x q a b' 'put --unique x --id x q a' \
        'put --unique replace q a' 'put --window 5 q a' \
        'put --unique throttle --id x q a'; do
        # shellcheck disable=SC2086
        run -u mem: $words
        check "wrong use: $words" same 2 "$code"
    done
    for words in '--window:put --unique throttle --id x q a' \
        '--owner:work --owner a,b q -- true' \
        'one name:lead a b -- true' \
        'no name beside --key:lead --key k a -- true' \
        'which queue:work -- true' 'which queue:work -- true x' \
        'in front of the command:work q true' \
        'is named twice:reap q q' '--alone:reap --alone --ttl 1000 q' \
        '--renew must be at most a third of --ttl:reap --ttl 900 --renew 400 q'
    do
        # shellcheck disable=SC2086
        run -u mem: ${words#*:}
        check "wrong use, by the names of options: ${words#*:}" same 2 "$code"
        check "it names ${words%%:*}" grep -q -e "${words%%:*}" "$work/err"
    done
    run -u mem: work q -- /nonexistent/program
    check 'work: a command that is not there: 127' same 127 "$code"
    run -u mem: work q -- /etc/passwd
    check 'work: a command that cannot be executed: 126' same 126 "$code"
    for words in 'work --drain q -- true' 'jobs q' stats 'reap --once q' \
        fsck; do
        # shellcheck disable=SC2086
        run -u redis://127.0.0.1:1 $words
        check "without a server: $words: 3" same 3 "$code"
    done
    run -u mem: work --drain q -- true
    check 'work --drain of an empty queue, on mem:' same 0 "$code"
}

# ----------------------------------------------------------- without a server

test_file() {
    local store=file:$work/store.log old
    rm -f "$work/store.log"
    run -u "$store" put --keep 60000 kept a b
    check 'in a file: put' same '0 1 2' "$code $(echo $out)"
    run -u "$store" put --id x kept c
    run -u "$store" put --id x kept c
    check 'in a file: an id is taken' same '0 3 duplicate waiting' "$code $out"
    begin one -u "$store" work --lease 300 kept -- sh -c "$forever"
    until_line "$work/one.err" '^pid'
    old=$(pid_of one.err)
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'in a file: kill -9 of the worker kills the command' until_gone "$old"
    run -q -u "$store" work --lease 300 -n 3 kept -- sh -c 'cat; echo \
        " token $RELET_TOKEN stalls $RELET_STALLS" >>"$1"' sh "$work/kept"
    check 'in a file: a job of the killed worker is relet once' same '3 1' \
        "$(wc -l <"$work/kept") $(grep -c 'stalls 1' "$work/kept")"
    check 'in a file: the relet job has a higher token' holds "$(sed -n \
        's/.*token \(.*\) stalls 1/\1/p' "$work/kept")" -gt \
        "$(token_of one.err)"
    run -u "$store" job --result kept 1
    check 'in a file: results are kept' same '0 a' "$code $out"
    run -u "$store" fsck kept
    check 'in a file: fsck finds nothing' same 0 "$code"
    run -u "$store" put kept d
    run -u "$store" call LPOP '{kept}:waiting'
    run -u "$store" fsck --repair kept
    check 'in a file: fsck --repair' \
        grep -q ' 1 broken, 1 repaired, ' <<<"$code $out"
    run -u "$store" fsck kept
    check 'in a file: fsck --repair is for good' same 0 "$code"
}

# -------------------------------------------------------------------- many jobs

test_many() {
    seq 1 300 | "$relet" -q put --lines many >"$work/log"
    : >"$work/many"
    begin one -q work -c 8 --drain many -- sh -c 'echo "$(cat)" >>"$1"' \
        sh "$work/many"
    one=$pid
    begin two -q work -c 8 --drain many -- sh -c 'echo "$(cat)" >>"$1"' \
        sh "$work/many"
    wait "$one"
    wait "$pid"
    check 'two workers do each of 300 jobs once' same "$(seq 1 300)" \
        "$(sort -n "$work/many")"
    check 'many: fsck finds nothing' sound many
    run put both a b
    begin one -q work -c 2 -n 2 both -- sh -c 'cat >/dev/null
        if [ $RELET_JOB = 1 ]; then echo one >"$1"; else read line <"$1"; fi' \
        sh "$work/fifo"
    check 'the input of a command ends while another command runs' \
        until_gone "$pid" ||
        kill -KILL "$pid"
    wait "$pid"
    run put wide a b c
    begin one work -c 3 wide -- sh -c "$forever"
    check 'work -c 3: three jobs at a time' until_line "$work/one.err" '^pid' 3
    kill -TERM "$pid"
    until_line "$work/one.err" '3 at work'
    kill -TERM "$pid"
    wait "$pid"
    check 'two signals: the code is that of the second' same 143 $?
    check 'two signals: the jobs are given back with all attempts' \
        same '3 0' "$(redis LLEN '{wide}:waiting') $(
            redis HGET '{wide}:jobs' 1s | cut -d ' ' -f 3)"
}

# ------------------------------------------------------------------------- ends

test_by_type() {
    run put --type a types 1
    run put --type b types 2
    run put --type a types 3
    : >"$work/types"
    run -q work -n 2 --type a types -- \
        sh -c 'echo "$RELET_TYPE $(cat)" >>"$1"' sh "$work/types"
    check 'work --type: jobs of the type are done in order' \
        same 'a 1,a 3' "$(paste -sd , "$work/types")"
    check 'work --type: jobs of other types go on waiting' \
        same waiting "$(place types 2)"
    begin one -q work -n 1 --type a types -- sh -c 'cat >>"$1"' \
        sh "$work/types"
    run put --type a types new
    wait "$pid"
    check 'work --type: a new job is begun though other types wait' \
        same new "$(tail -n 1 "$work/types")"
    check 'types: fsck finds nothing' sound types
}

test_queues() {
    seq 1 30 | "$relet" -q put --lines heavy >"$work/log"
    seq 1 30 | "$relet" -q put --lines light >"$work/log"
    : >"$work/queues"
    run -q work -n 16 heavy=3 light -- sh -c 'echo $RELET_QUEUE >>"$1"' \
        sh "$work/queues"
    check 'work: several queues' same 0 "$code"
    check 'work: each of several queues has its share' \
        holds "$(grep -c light "$work/queues")" -ge 3
    check 'work: no queue has more than its share' \
        holds "$(grep -c light "$work/queues")" -le 8
    run -q work --drain -c 4 heavy light -- sh -c 'echo $RELET_QUEUE >>"$1"' \
        sh "$work/queues"
    check 'work --drain: work ends when all queues are empty' same '30 30' \
        "$(grep -c heavy "$work/queues") $(grep -c light "$work/queues")"
    begin one work -c 2 heavy light -- sh -c "$forever"
    run put heavy a
    run put light a
    check 'jobs of two queues are at work in one process' \
        until_line "$work/one.err" '^pid' 2
    run cancel light "$(redis HGET '{light}:jobs' seq)"
    check 'a cancel reaches the job of its own queue only' until_line \
        "$work/one.err" 'light: job 31: failed: cancelled'
    kill -TERM "$pid"
    until_line "$work/one.err" 'heavy,light: 1 at work'
    kill -TERM "$pid"
    wait "$pid"
    for name in heavy light; do
        check "$name: fsck finds nothing" sound "$name"
    done
}

test_progress() {
    rm -f "$work/go"
    run put --keep 60000 far a
    begin one -q work -n 1 far -- sh -c 'eval "exec 4>&$RELET_PROGRESS_FD"
        i=0; while [ $i -lt 500 ]; do i=$((i + 1)); echo "step $i" >&4; done
        printf "half a " >&4
        until [ -e "$1" ]; do sleep 0.1; done; echo line >&4
        read -r line <"$2"; echo done' sh "$work/go" "$work/fifo"
    check 'RELET_PROGRESS_FD: the last line is shown' \
        until_so 'step 500' has_job far 1 '"progress":"step 500"'
    touch "$work/go"
    check 'RELET_PROGRESS_FD: no part of a line is shown' \
        until_so 'half a line' has_job far 1 '"progress":"half a line"'
    give_line "$work/fifo"
    wait "$pid"
    run job --result far 1
    check 'RELET_PROGRESS_FD: the result replaces the progress' same done "$out"
    run put long a
    begin one -q work -n 1 long -- sh -c 'head -c 100000 /dev/zero |
        tr "\0" x >&"$RELET_PROGRESS_FD"; echo >&"$RELET_PROGRESS_FD"
        read -r line <"$1"' sh "$work/fifo"
    check 'RELET_PROGRESS_FD: a line that is too long is cut' \
        until_so 250 has_job long 1 \
        "\"progress\":\"x\\{250\\}\""
    give_line "$work/fifo"
    wait "$pid"
}

test_graceful() {
    run put end a b
    begin one work end -- sh -c 'echo "pid $$ job 0 token 0" >&2
        read line <"$1"' sh "$work/fifo"
    until_line "$work/one.err" '^pid'
    kill -TERM "$pid"
    until_line "$work/one.err" '1 at work'
    give_line "$work/fifo"
    wait "$pid"
    check 'SIGTERM: work ends by 0 when the running job has ended' same 0 $?
    check 'SIGTERM: the running job is done' \
        same 1 "$(redis HGET '{end}:jobs' 'done')"
    check 'SIGTERM: no other job is begun' \
        same 1 "$(redis LLEN '{end}:waiting')"
}

test_cancel() {
    run put off a b
    begin one work --lease 600 off -- sh -c "$forever"
    until_line "$work/one.err" '^pid'
    run cancel off 2
    check 'cancel: a waiting job is gone' same '0 2	cancelled' "$code $out"
    run cancel off 1
    check 'cancel: the worker of a running job is told' \
        same '0 1	it runs, and is told' \
        "$code $out"
    check 'cancel: the command of a running job is ended' \
        until_gone "$(pid_of one.err)"
    check 'cancel: a running job that was cancelled is dead' \
        until_so dead is_at off 1 dead
    run cancel --id $'a\tb\nc' off
    check 'cancel: an id with a newline is one line' same \
        '"a\tb\nc"	there is none' "$out"
    run cancel off 1 7
    check 'cancel: an ended or unknown job: 1' same 1 "$code"
    kill -TERM "$pid"
    wait "$pid"
    check 'off: fsck finds nothing' sound off
}

test_worker_killed() {
    local old inner
    run put kill9 a
    begin one work --lease 1000 kill9 -- sh -c \
        'sleep 1000 & echo "inner $!" >&2; '"$forever"
    until_line "$work/one.err" '^pid'
    old=$(pid_of one.err)
    inner=$(sed -n 's/^inner //p' "$work/one.err")
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'kill -9 of the worker kills the command' until_gone "$old"
    check 'kill -9 of the worker kills children of the command' \
        until_gone "$inner"
    begin two work --lease 1000 -n 1 kill9 -- sh -c '
        echo "pid $$ job $RELET_JOB token $RELET_TOKEN" >&2
        echo "stalls $RELET_STALLS" >&2'
    wait "$pid"
    check 'kill -9 of the worker: its job is relet' \
        same 'stalls 1' "$(grep stalls "$work/two.err")"
    check 'kill -9 of the worker: the relet job has a higher token' \
        holds "$(token_of two.err)" -gt "$(token_of one.err)"
    check 'kill9: fsck finds nothing' sound kill9
}

test_worker_stopped() {
    local first old
    run put pause a
    begin one work --lease 1500 pause -- sh -c "$stubborn"
    first=$pid
    until_line "$work/one.err" '^pid'
    old=$(pid_of one.err)
    kill -STOP "$first"
    begin two work --lease 1500 -n 1 pause -- sh -c \
        'echo "old: $(ps -o stat= -p '"$old"')" >&2'
    wait "$pid"
    check 'a stopped worker: its command is dead when the job is relet' \
        grep -Eq '^old: (Z.*)?$' "$work/two.err"
    kill -CONT "$first"
    check 'a stopped worker that goes on is told of the loss' \
        until_line "$work/one.err" 'job 1: '
    kill -TERM "$first"
    wait "$first"
    check 'a stopped worker that goes on changes nothing' \
        same 1 "$(redis HGET '{pause}:jobs' 'done')"
    check 'pause: fsck finds nothing' sound pause
}

test_server_dies() {
    local old one two
    run put held a
    run put ending a
    begin two --timeout 1000 work --drain ending -- sleep 1
    two=$pid
    until_so 'it is at work' leased ending
    begin one work --lease 2000 held -- sh -c "$stubborn"
    until_line "$work/one.err" '^pid'
    old=$(pid_of one.err)
    kill -KILL "$server_pid"
    wait "$server_pid" 2>/dev/null
    wait "$two"
    check 'work --drain: the wait for a server that is away ends' \
        same 3 $?
    echo x | "$relet" put --lines away >"$work/two.out" 2>"$work/two.err" &
    two=$!
    check 'put --lines: a server that is away is waited for' \
        until_line "$work/two.err" 'it is waited for'
    check 'the server dies: the command gets a signal' \
        until_line "$work/one.err" '^told$'
    check 'the server dies: the command is killed' until_gone "$old"
    check 'the server dies: the kill is reported' \
        until_line "$work/one.err" 'not renewed for long'
    server_try "$server_port" "$work/server" || exit 1
    wait "$two"
    check 'put --lines: puts its line when the server is there' \
        same '0 1' "$? $(cat "$work/two.out")"
    run put held b
    check 'work goes on when the server is back' \
        until_line "$work/one.err" '^pid' 2
    kill -TERM "$pid"
    until_line "$work/one.err" 'at work'
    kill -TERM "$pid"
    wait "$pid"
}

test_no_leftovers() {
    run put tidy a b c d e
    begin one work tidy -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >>"$1"' \
        sh "$work/left"
    until_so 'five are done' tidy_is_done
    check 'processes left behind by a command are ended' \
        gone "$(tail -n 1 "$work/left")"
    kill -STOP "$pid"
    check 'no zombies' same 0 "$(ps -o stat= --ppid "$pid" | grep -c Z)"
    kill -CONT "$pid"
    check 'no descriptors are left open' \
        holds "$(ls "/proc/$pid/fd" | wc -l)" -le 12
    kill -TERM "$pid"
    wait "$pid"
}
tidy_is_done() { [ "$(redis HGET '{tidy}:jobs' 'done')" = 5 ]; }

# -------------------------------------------------------------------- operators

test_operators() {
    redis FLUSHALL >"$work/log"
    run stats
    check 'stats: no queues' same '0 ' "$code $out"
    run put --type t --id x ops one
    run put --rank 5 ops two
    run put --delay 600000 ops "a	b\\n"
    run jobs ops
    check 'jobs: all jobs are listed by place' same '1 2 3' \
        "$(cut -f 1 <<<"$out" | paste -sd ' ')"
    check 'jobs: texts are quoted' \
        grep -q $'^1\twaiting\t-\t0\t"x"\t"t"\t"one"\t-$' <<<"$out"
    run jobs --type t ops
    check 'jobs --type' same 1 "$(cut -f 1 <<<"$out")"
    run jobs --place delayed ops
    check 'jobs --place' same 3 "$(cut -f 1 <<<"$out")"
    run jobs -n 2 ops
    check 'jobs -n' same 2 "$(wc -l <<<"$out")"
    run --json jobs --place delayed ops
    check 'jobs --json' grep -Eqx '\{"job":3,"place":"delayed","at_ms":[0-9]+,'\
'"put_s":[0-9]+,"attempt":0,"stalls":0,"replays":0,"payload_len":5,'\
'"payload":"a\\u0009b\\\\n"\}' <<<"$out"
    run job --id x ops
    check 'job: a job is found by its id' grep -qx 'payload   "one"' <<<"$out"
    run job --payload ops 2
    check 'job --payload' same two "$out"
    run job --result ops 2
    check 'job --result: a job without a result: 1' same 1 "$code"
    run job ops 9
    check 'job: an unknown job: 1' same 1 "$code"
    run --json stats ops
    check 'stats --json' grep -q \
        '"waiting":2,"delayed":1,"leased":0,"done":0,"dead":0,"put":3' <<<"$out"
    run stats --prom
    check 'stats --prom: all queues' \
        grep -qx 'relet_queue_jobs{queue="ops",place="waiting"} 2' <<<"$out"
    check 'stats --prom: each metric is described once' same '' \
        "$(grep '^# TYPE' <<<"$out" | sort | uniq -d)"
    redis HSET '{aa}:jobs' version 1 >"$work/log"
    redis SET '{aa}:waiting' x >"$work/log"
    run stats --prom
    check 'stats: a queue that the server cannot tell about: 1' same 1 "$code"
    check 'stats: the name of a broken queue is reported' \
        grep -q '^relet: aa: WRONGTYPE' "$work/err"
    check 'stats: the other queues are shown' \
        grep -qx 'relet_queue_jobs{queue="ops",place="waiting"} 2' <<<"$out"
    run fsck
    check 'fsck: the name of a broken queue is reported' \
        grep -q '^relet: aa: WRONGTYPE' "$work/err"
    check 'fsck: the other queues are checked' grep -q '^ops: 3 jobs' <<<"$out"
    run jobs aa
    check 'jobs: the name of a broken queue is reported' \
        grep -q '^relet: aa: WRONGTYPE' "$work/err"
    redis DEL '{aa}:jobs' '{aa}:waiting' >"$work/log"
    run stats
    check 'stats: for people' grep -q $'^ops\twaiting 2\tdelayed 1' <<<"$out"
}

test_unique() {
    run put --id x --unique replace one old
    run put --id x --unique replace one new
    check 'put --unique replace: prints the number of the first job' \
        same '0 1 duplicate waiting' "$code $out"
    run job --payload one 1
    check 'put --unique replace: the job has the last payload' same new "$out"
    run put --id z --unique replace --most 1 one other
    check 'put --unique --most: a job over the limit is refused' \
        grep -q 'FULL 1 jobs wait' "$work/err"
    run put --id y --unique throttle --window 60000 one a
    run -q work --drain one -- true
    run put --id y --unique throttle --window 60000 one b
    check 'put --unique throttle: one job in a window, done or not' \
        same '0 2 duplicate gone' "$code $out"
}

test_pause() {
    run pause ops
    begin one -q work --drain -c 4 ops -- true
    run pause --in ops
    run put ops x
    check 'pause --in: put is refused' same 1 "$code"
    check 'pause --in: the refusal names the reason' grep -q CLOSED "$work/err"
    check 'pause: nothing is claimed' same 2 \
        "$("$relet" --json stats ops | sed 's/.*"waiting":\([0-9]*\).*/\1/')"
    run limit ops 1
    run stats ops
    check 'stats: pauses and limits are shown' \
        grep -q $'limit 1\tpaused in\tpaused out' <<<"$out"
    run resume ops
    run limit ops none
    wait "$pid"
    check 'resume: the queue goes on' same 0 $?
    check 'resume: no job waits' same 0 \
        "$("$relet" --json stats ops | sed 's/.*"waiting":\([0-9]*\).*/\1/')"
}

test_dead() {
    run put grave a b c
    run -q work --drain grave -- sh -c 'exit 65'
    run dead grave
    check 'dead: dead jobs are listed with their errors' same 3 \
        "$(grep -c '"exit code 65"$' <<<"$out")"
    run retry grave 2 9
    check 'retry: a dead job is replayed' \
        same '1 1 retried, 0 refused, 1 not dead' "$code $out"
    check 'retry: the replayed job waits' same waiting "$(place grave 2)"
    run retry --all grave
    check 'retry --all' same '0 2 retried, 0 refused, 0 not dead' "$code $out"
    run -q work --drain grave -- sh -c 'exit 65'
    run retry --replays 1 --all grave
    check 'retry: a job is replayed no more often than allowed' \
        same '1 0 retried, 3 refused, 0 not dead' "$code $out"
    run put grave d
    run -q work --drain grave -- sh -c 'exit 65'
    run retry --replays 1 --all -n 1 grave
    check 'retry -n: goes on behind refused jobs' \
        same '1 1 retried, 3 refused, 0 not dead' "$code $out"
    run -q work --drain grave -- true
    run purge --place dead -n 2 grave
    check 'purge -n' same '0 2 purged' "$code $out"
    run purge --all grave
    check 'purge --all' same '0 1 purged' "$code $out"
    run put grave a
    begin one work grave -- sh -c "$forever"
    until_line "$work/one.err" '^pid'
    run purge --all grave
    check 'purge: a leased job is refused: 1' same 1 "$code"
    run purge --all --force grave
    check 'purge --force: a leased job is purged' same '0 1 purged' "$code $out"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'grave: fsck finds nothing' sound grave
}

# Of several `relet reap` one is at work; another one follows when it ends or is
# killed.
test_reap_leads() {
    local one two three holder token
    run put lead a
    begin one reap --ttl 2000 --renew 300 --retry 100 -i 50 lead
    one=$pid
    check 'reap: gaining the lead is told' \
        until_line "$work/one.err" '^relet: lead: gained the lead: token [0-9]'
    begin two --json reap --ttl 2000 --retry 100 -i 50 lead
    two=$pid
    begin three reap --ttl 2000 --retry 100 -i 50 lead
    three=$pid
    until_line "$work/two.err" '"message":"up'
    until_line "$work/three.err" up
    holder=$(redis GET leader:reap:lead)
    token=$(redis HGET '{leader:reap:lead}:fence' token)
    sleep 5
    check 'reap: the lease is renewed over several TTLs' \
        same "$holder $token" "$(redis GET leader:reap:lead) $(
            redis HGET '{leader:reap:lead}:fence' token)"
    check 'reap: one of three is at work' same '1 0 0' "$(
        cat "$work/one.err" "$work/two.err" "$work/three.err" |
            grep -c gained) $(grep -c gained "$work/two.err") $(
            grep -c gained "$work/three.err")"
    kill -TERM "$one"
    wait "$one"
    kill -KILL "$three"
    wait "$three" 2>/dev/null
    check 'reap: the next one follows a SIGTERM; told by a document' \
        until_line "$work/two.err" \
        '^{"event":"gained","queue":"lead","token":[0-9]*}$'
    begin one reap --ttl 2000 --retry 100 -i 50 lead
    one=$pid
    until_line "$work/one.err" up
    kill -KILL "$two"
    wait "$two" 2>/dev/null
    check 'reap: the next one follows a kill -9' \
        until_line "$work/one.err" 'gained the lead'
    redis SET leader:reap:lead somebody >"$work/log"
    check 'reap: losing the lead is told' \
        until_line "$work/one.err" '^relet: lead: lost the lead: '
    begin two reap --alone -i 50 lead
    two=$pid
    begin three work --lease 300 lead -- sh -c "$forever"
    until_line "$work/three.err" '^pid'
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'reap --alone: at work without the lead' \
        until_line "$work/two.out" 'relet 1'
    check 'reap --alone: tells of no lead' \
        same 0 "$(grep -c lead: "$work/two.err")"
    kill -TERM "$one" "$two"
    wait "$one" "$two"
    redis DEL leader:reap:lead >"$work/log"
    "$relet" reap --once lead >"$work/log"
    run put --delay 1 lead a b
    mkfifo "$work/pipe"
    "$relet" reap -i 50 lead >"$work/pipe" 2>"$work/one.err" &
    pid=$!
    exec 3<"$work/pipe"
    until_line "$work/one.err" 'gained the lead'
    exec 3<&-
    run put --delay 1 lead c
    wait "$pid"
    check 'reap: a closed pipe ends it by 5' same 5 $?
    check 'reap: the lead is free after a closed pipe' \
        same 0 "$(redis EXISTS leader:reap:lead)"
    rm "$work/pipe"
}

test_reap() {
    local one two
    run put lapse a
    begin one work --lease 300 lapse -- sh -c "$forever"
    until_line "$work/one.err" '^pid'
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    run reap --once --lease 50 lapse
    check 'reap --once: a line for each queue' \
        grep -q $'^lapse\trelet [01]\tdead 0' <<<"$out"
    begin one reap --lease 50 -i 50 lapse
    one=$pid
    begin two reap --lease 50 -i 50 lapse
    two=$pid
    check 'reap: a job that lost its worker waits again' \
        until_so waits is_at lapse 1 waiting
    run put --keep 1 lapse b
    run purge --place waiting lapse
    run put --keep 1 lapse c
    run -q work --drain lapse -- cat
    check 'reap: results go when their time is over' \
        until_so gone is_gone lapse 3
    kill -TERM "$one" "$two"
    wait "$one"
    check 'reap: SIGTERM ends it by 0' same 0 $?
    wait "$two"
    check 'reap: its lease is free after SIGTERM' \
        same 0 "$(redis EXISTS leader:reap:lapse)"
}
is_gone() { ! "$relet" job "$1" "$2" >/dev/null 2>&1; }

test_fsck() {
    redis FLUSHALL >"$work/log"
    run put --keep 60000 sick a b c d
    run -q work -n 1 sick -- true
    run fsck
    check 'fsck: nothing is broken: 0' same 0 "$code"
    redis LREM '{sick}:delayed' 0 2 >"$work/log" 2>&1
    redis LREM '{sick}:waiting' 0 2 >"$work/log"
    redis ZREM '{sick}:delayed' 2 >"$work/log"
    redis HSET '{sick}:jobs' 3s 'L 5 0 0 0 - w' >"$work/log"
    redis HSET '{sick}:jobs' 9s 'W 0 0 0 0 - w' 70 .1234x 4s Q >"$work/log"
    run fsck sick
    check 'fsck: broken: 1' same 1 "$code"
    check 'fsck: a job in no line' grep -q $'^sick\t2\twaits, but' <<<"$out"
    check 'fsck: a leased job without a lease' \
        grep -q $'^sick\t3\tis leased' <<<"$out"
    check 'fsck: a part without a record' grep -q $'^sick\t9\ta part' <<<"$out"
    check 'fsck: a number not given' grep -q $'^sick\t70\tits number' <<<"$out"
    check 'fsck: a state of no kind' grep -q $'^sick\t4\ta record or' <<<"$out"
    run --json fsck sick
    check 'fsck --json' grep -q '"queue":"sick","jobs":[0-9]*,"passed_over":'\
'[0-9]*,"broken":5}' <<<"$out"
    redis HSET '{sick}:jobs' version 2 >"$work/log"
    run fsck sick
    check 'fsck: a queue of another version: 1' same 1 "$code"
    run stats sick
    check 'stats: a queue of another version is reported' same 0 "$code"
}

# repairs HOW [NUMBER PLACE WHAT]: fsck --repair reports its repair of the job,
# and finds nothing the next time.
repairs() {
    run fsck --repair --lease 60000 ill
    check "fsck --repair: $1: 0" same 0 "$code"
    check "fsck --repair: $1: what was done" \
        grep -q "^ill	$2	.*	$4" <<<"$out"
    check "fsck --repair: $1: how many" grep -q \
        '^ill: [0-9]* jobs, 1 broken, 1 repaired' <<<"$out"
    [ "$3" = - ] || check "fsck --repair: $1: where it is" is_at ill "$2" "$3"
    run fsck --repair ill
    check "fsck --repair: $1: nothing is left for a second time" grep -q \
        '^ill: [0-9]* jobs, 0 broken, 0 repaired' <<<"$out"
}

# Each kind of damage that fsck knows, and its repair.
test_fsck_repair() {
    local n
    redis FLUSHALL >"$work/log"
    run put --keep 600000 ill a b c d e
    run put --rank 3 ill ranked
    run put --delay 600000 --rank -2 ill delayed
    redis LREM '{ill}:waiting' 0 2 >"$work/log"
    redis ZREM '{ill}:ranked' 2 >"$work/log"
    redis ZREM '{ill}:delayed' 2 >"$work/log"
    repairs 'a job in no line' 2 waiting 'it waits again$'
    redis ZREM '{ill}:ranked' 6 >"$work/log"
    redis ZREM '{ill}:delayed' 6,3 >"$work/log"
    repairs 'a ranked job in no line' 6 waiting 'it waits again$'
    redis ZREM '{ill}:delayed' 7,-2 >"$work/log"
    repairs 'a delayed job in no line' 7 waiting 'it waits again$'
    run -q work -n 1 ill -- cat
    n=$(redis ZRANGE '{ill}:done' 0 0)
    redis ZREM '{ill}:done' "$n" >"$work/log"
    repairs 'a result that would be kept for ever' "$n" 'done' 'its result'
    check 'fsck --repair: a result is kept for an hour' holds \
        "$(redis ZSCORE '{ill}:done' "$n")" -gt $(($(now_ms) + 3500000))
    run -q work -n 1 ill -- sh -c 'exit 65'
    n=$(redis ZRANGE '{ill}:dead' 0 0)
    redis ZREM '{ill}:dead' "$n" >"$work/log"
    repairs 'a dead job that is not among the dead' "$n" dead 'it is among'
    begin one work ill -- sh -c 'echo "pid $$ job $RELET_JOB token 0" >&2
        read line <"$1"' sh "$work/fifo"
    until_line "$work/one.err" '^pid'
    n=$(sed -n 's/^pid .* job \([0-9]*\) .*/\1/p' "$work/one.err")
    redis ZREM '{ill}:leased' "$n" >"$work/log"
    repairs 'a job that is leased to nobody' "$n" leased 'it is leased'
    kill -TERM "$pid"
    until_line "$work/one.err" 'at work'
    give_line "$work/fifo"
    wait "$pid"
    check 'fsck --repair: a worker at work keeps its job' \
        is_at ill "$n" 'done'
    redis HSET '{ill}:jobs' 5s Q >"$work/log"
    repairs 'a state of no kind' 5 dead 'it is dead'
    run retry ill 5
    check 'fsck --repair: a dead job may be retried after a repair' \
        same waiting "$(place ill 5)"
    redis HSET '{ill}:jobs' 5s 'L 7 x' >"$work/log"
    repairs 'a state that is cut off' 5 dead 'it is dead'
    redis HSET '{ill}:jobs' 9s 'W 0 0 0 0 - w' 9r ptext >"$work/log"
    repairs 'a part without a record' 9 - 'the rest of it is removed$'
    check 'fsck --repair: a repaired job leaves no record' same 00 \
        "$(redis HEXISTS '{ill}:jobs' 9s)$(redis HEXISTS '{ill}:jobs' 9r)"
    redis HSET '{ill}:jobs' 70 .1234x >"$work/log"
    repairs 'a number that was not given' 70 waiting \
        'later numbers are above its own, it waits again$'
    run put ill new
    check 'fsck --repair: later numbers are above the repaired one' \
        same 71 "$out"
    redis HSET '{ill}:jobs' 71s 'W 9000000000000000 0 0 0 - w' >"$work/log"
    run fsck --repair ill
    check 'fsck --repair: a token beyond all clocks: 1' same 1 "$code"
    check 'fsck --repair: an impossible token is reported' \
        grep -q '^ill	71	.*	it cannot be repaired$' <<<"$out"
    redis HSET '{ill}:jobs' 71s 'W 4000000000000000 0 0 0 - w' >"$work/log"
    repairs 'a token that was not given' 71 waiting 'later numbers'
    check 'fsck --repair: later tokens are above the repaired one' \
        same 4000000000000000 \
        "$(redis HGET '{ill}:jobs' fence)"
    redis HSET '{ill}:jobs' 71 odd >"$work/log"
    for n in 1 2; do
        run --json fsck --repair ill
        check 'fsck --repair: a record of no kind: 1' same 1 "$code"
        check 'fsck --repair --json: names what was not repaired' grep -q \
            '"job":71,.*,"repair":"it cannot be repaired"}$' <<<"$out"
        check 'fsck --repair --json: how many' grep -q \
            '"broken":1,"repaired":0}$' <<<"$out"
    done
    check 'fsck --repair: a record that cannot be repaired stays' same odd \
        "$(redis HGET '{ill}:jobs' 71)"
    redis HDEL '{ill}:jobs' 71 71s >"$work/log"
    run -q work --drain ill -- true
    check 'fsck --repair: all waiting jobs are done in the end' same '0 0' \
        "$code $("$relet" --json stats ill |
            sed 's/.*"waiting":\([0-9]*\).*/\1/')"
    run put ill x y
    redis LREM '{ill}:waiting' 0 72 >"$work/log"
    redis ZREM '{ill}:ranked' 72 >"$work/log"
    run fsck ill
    check 'fsck without --repair changes nothing' same 1 "$code"
    run fsck ill
    check 'fsck without --repair changes nothing when run again' same 1 "$code"
    check 'fsck without --repair reports no repair' \
        same 0 "$(grep -c repaired <<<"$out")"
}

# Jobs lose their places while workers take them; all are done once.
test_fsck_repair_at_work() {
    local n
    : >"$work/mended"
    begin one -q work -c 4 mended -- sh -c 'echo "$(cat)" >>"$1"' \
        sh "$work/mended"
    seq 1 400 | "$relet" -q put --lines mended >"$work/log"
    for n in 50 350 370 390 399; do
        redis LREM '{mended}:waiting' 0 $n >"$work/log"
    done
    until_so 'it is repaired' mended_is_empty
    check 'fsck --repair beside workers: each job is done once' \
        same "$(seq 1 400)" "$(sort -n "$work/mended")"
    kill -TERM "$pid"
    wait "$pid"
}
mended_is_empty() {
    "$relet" fsck --repair mended >"$work/fsck"
    [ "$(redis HGET '{mended}:jobs' 'done')" = 400 ]
}

# fsck finds nothing while jobs are put and done.
test_fsck_at_work() {
    local bad=0 putting
    begin one -q work -c 8 busy -- sh -c 'exit $((RELET_JOB % 3))'
    one=$pid
    seq 1 2000 | "$relet" -q put --lines busy >"$work/log" &
    putting=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "$relet" fsck busy >"$work/fsck" || { bad=1; cat "$work/fsck"; }
    done
    check 'fsck of a queue at work finds nothing' same 0 "$bad"
    kill -TERM "$one"
    wait "$one" "$putting"
}

# ------------------------------------------------------------------------ lines

test_lines() {
    seq 1 1000 | "$relet" put --lines lines >"$work/out" 2>"$work/err"
    check 'put --lines: a number for each' same 1000 "$(wc -l <"$work/out")"
    check 'put --lines: no progress but on a terminal' \
        same 1 "$(wc -l <"$work/err")"
    : >"$work/one.out"
    "$relet" put --lines slow <"$work/fifo" >"$work/one.out" \
        2>"$work/one.err" &
    pid=$!
    exec 3>"$work/fifo"
    seq 1 300 >&3
    check 'put --lines: lines are put before the end of the input' \
        until_line "$work/one.out" . 300
    redis CLIENT KILL TYPE normal >"$work/log"
    redis CLIENT KILL TYPE pubsub >>"$work/log"
    seq 301 600 >&3
    until_line "$work/one.out" . 600
    exec 3>&-
    wait "$pid"
    check 'put --lines: goes on when the link broke' same 0 $?
    check 'put --lines: a broken link doubles no job' \
        same 600 "$(redis LLEN '{slow}:waiting')"
    check 'put --lines: a broken link is reported' \
        until_line "$work/one.err" ': up'
    seq 1 40 | "$relet" -q put --lines --batch b batch >"$work/log"
    seq 1 100 | "$relet" put --lines --batch b batch >"$work/out" 2>&1
    check 'put --batch: a second run puts only the rest' \
        same '60 put, 40 duplicates' \
        "$(tail -n 1 "$work/out" | sed 's/^relet: //')"
    run put --batch x batch a
    check 'put --batch goes with --lines' same 2 "$code"
    command -v script >/dev/null || { skip bar 'no script(1)'; return; }
    seq 1 50000 >"$work/lines"
    printf -v line '%q ' "$relet" put --lines bar
    SHELL=/bin/sh timeout 20 script -qefc "$line <$work/lines" \
        "$work/typescript" >"$work/out" 2>&1 </dev/null
    check 'put --lines: a bar on a terminal, and no numbers' same '1 0' \
        "$(grep -c '%  [0-9]* put' "$work/out") $(
            grep -cx '[0-9]*.\?' "$work/out")"
}

# put --lines ends at the first refused batch, and reports the refusal once.
test_refused_lines() {
    seq 1 100000 | "$relet" put --lines --most 1000 full >"$work/out" \
        2>"$work/err"
    check 'put --lines --most: 1' same 1 $?
    check 'put --lines --most: a refusal is reported once' \
        same 1 "$(grep -c FULL "$work/err")"
    check 'put --lines --most: jobs put before are reported' \
        grep -q "^relet: $(redis LLEN '{full}:waiting') put, 0 dup" "$work/err"
    redis CONFIG SET maxmemory 1 >"$work/log"
    (seq 1 1000; sleep 5) | timeout 4 "$relet" -q put --lines oom \
        >"$work/out" 2>"$work/err"
    check 'put --lines: OOM ends it before the end of the input' \
        same 1 "${PIPESTATUS[1]}"
    redis CONFIG SET maxmemory 0 >"$work/log"
    check 'put --lines: OOM is reported once' \
        same 1 "$(grep -c OOM "$work/err")"
}

# ---------------------------------------------------------------- interruptions

# A command that is interrupted reports the results that it has.
test_interrupted() {
    local words
    for words in '--lines q x' '--id= q x' '--lines --batch= q' \
        '--most 1 --wait 9 q x'; do
        # shellcheck disable=SC2086
        run put $words
        check "put $words: wrong use" same 2 "$code"
    done
    run work q=0 -- true
    check 'work: 0 is no weight' same 2 "$code"
    "$relet" put --lines cut <"$work/fifo" >"$work/one.out" \
        2>"$work/one.err" &
    pid=$!
    exec 3>"$work/fifo"
    seq 1 30 >&3
    until_line "$work/one.out" . 30
    kill -TERM "$pid"
    wait "$pid"
    check 'put --lines: interrupted, nothing unsure: 128 + 15' same 143 $?
    check 'put --lines: interrupted: the count is reported once' same \
        'relet: interrupted: 30 put, 0 duplicates' "$(cat "$work/one.err")"
    exec 3>&-
    "$relet" put --lines cut <"$work/fifo" >"$work/one.out" \
        2>"$work/one.err" &
    pid=$!
    exec 3>"$work/fifo"
    until_so 'it has connected' connected
    sleep 0.3 # and waits for input
    kill -INT "$pid"
    wait "$pid"
    check 'put --lines: interrupted before any was put: 128 + 2' same 130 $?
    check 'put --lines: interrupted: zero puts are reported' \
        same 'relet: interrupted: 0 put, 0 duplicates' \
        "$(cat "$work/one.err")"
    exec 3>&-
    begin one put --wait 60000 cut x
    must_wait cut 31
    kill -TERM "$pid"
    wait "$pid"
    check 'put --wait: a signal ends the command' same 143 $?
    run put --wait 0 cut y
    check 'put --wait: an unknown outcome is no failure to send' same 4 "$code"
    run put gone x
    begin one work --lease 60000 -n 1 gone -- sleep 60
    until_so 'it runs' leased gone
    run cancel gone 1
    kill -TERM "$pid" && kill -TERM "$pid"
    wait "$pid"
    redis ZADD '{gone}:leased' XX 0 1 >"$work/log"
    run reap --once gone
    run retry --all gone
    check 'retry: a cancelled job does not come back' \
        same '0 retried, 1 refused, 0 not dead' "$out"
    run put $'odd\xff' x
    run stats --prom $'odd\xff' cut cut
    check 'stats --prom: bytes that are no UTF-8 are escaped' \
        grep -qF 'queue="odd\\xff",place="waiting"} 1' <<<"$out"
    check 'stats --prom: each queue is shown once' same 1 \
        "$(grep -c 'jobs{queue="cut",place="waiting"}' <<<"$out")"
    run put end x
    run work -n 1 end -- sh -c 'printf partial >&2'
    check 'work: a line that a command left open is closed' \
        grep -q '^relet: end: job 1: done' "$work/err"
}
connected() { [ "$(redis CLIENT LIST | wc -l)" -ge 2 ]; }
leased() { [ "$(redis ZCARD "{$1}:leased")" -ge 1 ]; }
must_wait() { until_so "$2 wait" waits_in "$1" "$2"; }
waits_in() { [ "$(redis ZCARD "{$1}:delayed")" -ge 1 ] ||
    [ "$(redis LLEN "{$1}:waiting")" -ge "$2" ]; }

# A server that refuses INFO, and a server that goes away.
test_odd_servers() {
    redis ACL SETUSER plain on '>pw' '~*' '&*' +@all -info >"$work/log"
    run put plain a b c
    run -u "redis://plain:pw@127.0.0.1:$server_port" -q work --drain plain \
        -- true
    check 'work: without INFO' same '0 3' \
        "$code $(redis HGET '{plain}:jobs' 'done')"
    begin one -u "redis://plain:pw@127.0.0.1:$server_port" work plain -- true
    redis ACL SETUSER plain on -zadd >"$work/log"
    run put plain a
    check 'work: a refusal of the server is reported' \
        until_line "$work/one.err" 'worker trouble: '
    kill -TERM "$pid"
    kill -TERM "$pid" 2>/dev/null # it may be over
    wait "$pid"
    # A server sends at most 32 MB to a subscriber before it closes the link.
    head -c 34000000 /dev/zero | "$relet" -q put --keep 60000 huge >"$work/log"
    run put huge small
    begin one work --lease 500 --stalls 1 huge -- cat
    PATIENCE=60 until_line "$work/one.err" 'job 2: done' >"$work/said"
    check 'work: a job too large to be sent holds up no other job' \
        cat "$work/said"
    "$relet" job --payload huge 1 >"$work/out"
    check 'job: a job too large to be claimed can be shown' same '0 34000000' \
        "$? $(wc -c <"$work/out")"
    PATIENCE=60 until_so 'it is dead' dead_in huge >"$work/said"
    check 'work: a job too large to be sent is dead in the end' cat "$work/said"
    kill -TERM "$pid"
    kill -TERM "$pid" 2>/dev/null # it may be over
    wait "$pid"
}
dead_in() { [ "$(redis ZCARD "{$1}:dead")" -ge 1 ]; }

# --------------------------------------------------------------------- the run

ends() {
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    server_pid=
}

# on_server KIND: runs every test on a server that this function starts.
on_server() {
    server_kind=$1
    on=$1
    server_start "$work/server" || exit 1
    trap ends EXIT
    export RELET_REDIS_URL=redis://127.0.0.1:$server_port
    for claim_of in ${ONLY:-done quiet json_lines long_texts terminal \
        put_waits exit_codes many by_type queues progress graceful cancel \
        worker_killed worker_stopped server_dies no_leftovers operators \
        unique pause dead reap reap_leads fsck fsck_repair fsck_repair_at_work \
        fsck_at_work lines refused_lines interrupted odd_servers}; do
        "test_$claim_of"
    done
    ends
    on=
}

mkfifo "$work/fifo"
[ -n "${ONLY:-}" ] || test_usage
[ -n "${ONLY:-}" ] || test_file
if given REDIS_SERVER 'jobs: on redis'; then
    on_server redis
fi
if given VALKEY_SERVER 'jobs: on valkey'; then
    on_server valkey
fi
total
