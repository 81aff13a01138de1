# SPDX-License-Identifier: MIT
#
# relet.bash - completes commands and options of relet. tests/cli_test.sh
# compares the lists with what --help prints.

# Behind --, from this word on, stands a command of the user's: completed as
# bash-completion does, or else by names of commands and files.
_relet_command()
{
    local word=${COMP_WORDS[COMP_CWORD]}

    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        compopt -o filenames 2>/dev/null
        if ((COMP_CWORD == $1)) && [[ $word != */* ]]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
    fi
}

_relet()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local common="-u --url --timeout --json -q --quiet -h --help"
    local command= i words

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -u | --url | --timeout) ((i++)) ;;
        -*) ;;
        *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    case $command in
    lead | lock | work)
        for ((; i < COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} == -- ]] || continue
            _relet_command $((i + 1))
            return 0
        done ;;
    esac
    case $command in
    '') words="call listen lead lock leases put work jobs job dead cancel retry"
        words+=" purge pause resume limit stats reap fsck ping bench demo help"
        words+=" $common -V --version" ;;
    call) words="-x --stdin --repeat $common" ;;
    listen) words="-p --pattern -s --sharded -n --count $common" ;;
    lead) words="-- --again --backoff --key --ttl --grace --owner $common" ;;
    lock) words="-- --wait --key --ttl --grace --owner $common" ;;
    leases) words="-a --all $common" ;;
    put) words="--lines --batch --id --type --rank --delay --attempts --run"
        words+=" --keep --most --unique --window --deadline --backoff --wait"
        words+=" $common" ;;
    work) words="-- -c --concurrency -n --count --drain --type --lease --run"
        words+=" --grace --snooze --result --stalls --owner $common" ;;
    jobs) words="--place --type -n --count $common" ;;
    dead) words="--type -n --count $common" ;;
    job) words="--id --payload --result $common" ;;
    cancel) words="--id $common" ;;
    retry) words="-a --all -n --count --replays $common" ;;
    purge) words="--place -a --all -f --force -n --count $common" ;;
    pause | resume) words="--in --out $common" ;;
    limit) words="none $common" ;;
    stats) words="--prom $common" ;;
    reap) words="--once -i --interval --lease --stalls --done --dead --age"
        words+=" --alone --ttl --renew --retry $common" ;;
    fsck) words="--repair --lease $common" ;;
    ping) words="-c --count -i --interval --wait $common" ;;
    bench) words="get set ping $common"
           words+=" -n --requests -d --depth -s --size -k --keys" ;;
    demo) words="$common" ;;
    help) words="call listen lead lock leases put work jobs job dead cancel"
        words+=" retry purge pause resume limit stats reap fsck ping bench demo"
        words+=" help" ;;
    *) words= ;;
    esac
    case $previous in
    --unique) words="throttle extend replace debounce" ;;
    --place) words="waiting delayed leased done dead" ;;
    --result | --done | --dead) [[ $command != job ]] && words= ;;
    --batch | --id | --type | --rank | --delay | --attempts | --run | \
        --keep | --most | --concurrency | --lease | --snooze | --stalls | \
        --replays | --age | --window | --deadline | --backoff) words= ;;
    -u | --url) words="redis:// valkey:// unix: mem: file:" ;;
    --timeout | --repeat | --interval | --wait | --requests | --depth | \
        --size | --keys | --count | --pattern | --key | --ttl | --grace | \
        --owner | --renew | --retry) words= ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ ${COMPREPLY-} == *:// ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -F _relet relet
