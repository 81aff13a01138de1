#!/bin/sh
# SPDX-License-Identifier: MIT
#
# client_seeds.sh FOLDER - writes the hand-made conversations for client_fuzz.
#
# A conversation is a configuration (see fuzz_config) and steps (see fuzz_step),
# each with its amount after a colon. "up" stands for three turns, after which
# the link is up.

set -eu
folder=${1:-fuzz/corpus/client}
mkdir -p "$folder"

byte() {
    # shellcheck disable=SC2059
    printf "\\$(printf %03o "$1")"
}

step() {
    case ${1%%:*} in
    submit) what=0 ;;
    unit) what=1 ;;
    script) what=2 ;;
    wish) what=3 ;;
    cancel) what=4 ;;
    serve) what=5 ;;
    read) what=6 ;;
    write) what=7 ;;
    tick) what=8 ;;
    take) what=9 ;;
    link) what=10 ;;
    say) what=11 ;;
    shortage) what=12 ;;
    odd) what=13 ;;
    turn) what=14 ;;
    raw) what=15 ;;
    *) echo "no such step: $1" >&2; exit 1 ;;
    esac
    case $1 in
    *:*) amount=${1#*:} ;;
    *) amount=0 ;;
    esac
    byte $((amount * 16 + what))
}

# seed NAME CONFIGURATION STEP...
seed() {
    name=$1
    config=$2
    shift 2
    {
        byte "$config"
        for word; do
            case $word in
            up) step turn; step turn; step turn ;;
            byte=*) byte "${word#byte=}" ;;
            *) step "$word" ;;
            esac
        done
    } >"$folder/$name"
}

# Operations: 1 repeatable, 2 cached, 4 ten milliseconds, 8 no end.
seed connect 0 up
seed connect_with_password 8 up
seed connect_in_fixed_memory 64 up submit turn turn
seed connect_tracking 32 up submit:2 turn turn
seed greeting_in_pieces 0 tick write:3 write:9 serve:9 read:4 take read:5 take \
    read:9 take:3 read:0 take:9
seed greeting_times_out 0 tick write:0 tick:13 take:3 tick:14 turn
seed connect_refused 0 link:1 turn turn:6 turn:6 link turn:8 up
seed connect_without_answer 0 link:2 turn turn:13 turn:14 link turn
seed wait_for_a_link 0 submit unit script up turn turn
seed pipeline 0 up submit submit:1 submit:2 submit submit turn turn
seed unit 0 up unit unit:1 turn turn
seed script_twice 0 up script turn turn script script:1 turn turn
seed noscript 0 up script turn turn odd:7 script submit script:1 turn turn turn
seed noscript_twice 0 up script:8 turn turn odd:7 script:8 script:9 turn turn \
    odd:7 script:8 turn turn
seed break_unsent 0 up submit submit:1 unit link:6 turn turn:6 up
seed break_partly_sent 0 up submit submit:1 unit write:7 link:6 turn:6 up
seed break_sent 0 up submit submit:1 unit script turn link:5 turn:6 up turn
seed break_between_answers 0 up unit:1 submit:1 write:0 serve:2 read:3 take \
    read:3 take link:4 turn:6 up turn
seed hangup_behind_answers 0 up submit submit:1 write:0 serve:1 link:3 read:2 \
    take turn turn:6 up
seed timeout_unsent 0 up submit:4 submit tick tick:4 take:4 turn turn
seed timeout_sent 0 up submit:4 submit write:0 tick tick:4 take:3 serve:3 turn
seed timeout_in_the_middle 0 up submit:4 unit:4 write:5 tick tick:4 take:9 turn
seed cancel_unsent 0 up submit submit submit cancel:1 take turn turn
seed cancel_sent 0 up submit submit write:0 cancel cancel:1 take:2 turn turn
seed cancel_in_the_middle 0 up unit unit write:6 cancel cancel:1 take:3 turn
seed cancel_backwards 0 up submit submit submit cancel cancel:2 take:9 turn turn
seed close_with_bytes_to_write 0 up link:3 read submit write take:9 turn turn
seed busy_behind_noscript 0 up script:8 turn turn odd:7 script:9 write serve \
    read take:9 odd submit:1 write turn turn:6 turn:6 turn
seed watch_lost 0 up odd:11 turn turn unit:1 link:4 turn:6 up unit turn
seed watch_kept 0 up odd:11 unit turn turn
seed watch_while_down 0 link:1 turn odd:11 turn:6 unit link turn:6 up turn
seed busy_repeated 0 up odd:1 submit:1 submit unit:1 turn turn turn:6 turn:8 \
    turn:11 turn:11 turn
seed busy_greeting 0 odd:1 turn turn turn:6 turn:8 turn:11 turn:11
seed loading 0 odd:8 odd turn turn odd:9 turn:6 turn
seed wish_and_unwish 0 up wish wish:1 turn turn wish:4 turn turn wish:5 turn
seed wish_in_greeting 0 wish wish:10 turn wish:2 turn turn turn
seed wish_overtaken 0 up wish wish:4 wish write:0 wish:4 serve:9 turn turn
seed wish_refused 0 up odd:2 wish wish:1 turn turn odd:4 wish turn turn
seed wish_busy 0 up odd:3 wish turn turn odd:4 turn:6 turn:6 turn
seed unwish_busy 0 up wish turn turn odd:6 wish:4 turn turn odd:4 turn:6 turn:6
seed wishes_restored 0 wish wish:8 up link:5 turn:6 up turn
seed moved_away 0 up wish:8 turn turn say:13 turn turn
seed pushes_anywhere 0 up unit write:0 say:0 serve:1 say:1 serve:1 say:2 \
    serve:9 say:3 turn turn
seed stray_answer 0 up say:4 turn turn:13 turn
seed last_words 0 up say:5 turn link:3 turn turn:6 up
seed lies_about_busy 0 up submit:1 write:0 say:6 turn say:8 turn:8 turn
seed lies_about_scripts 0 up script turn turn script write:0 say:7 turn turn
seed frame_over_reply_max 4 up submit write:0 say:15 turn turn:14 turn
seed bytes_of_no_protocol 0 up raw:3 byte=72 byte=84 byte=84 byte=80 turn \
    turn:13 turn
seed idle_ping 0 up turn:14 turn turn:14 turn
seed dead_link 0 up turn:14 write:0 tick:13 turn turn:6 up
seed silent_without_pings 16 up submit:4 write:0 tick tick:14 take:3 tick:15 \
    turn turn
seed long_pause 0 up submit submit:8 write:0 serve:9 odd:13 turn turn
seed time_goes_back 0 up submit odd:14 turn turn
seed tiny_output 3 up submit submit unit submit script turn turn
seed short_of_memory 0 up shortage:2 submit submit unit turn shortage:5 \
    submit turn turn shortage turn
seed starved 0 shortage:3 turn turn turn:14 turn shortage turn:14 up
seed new_credentials 8 up odd:10 byte=20 link:4 turn:6 up
seed stop_with_all_under_way 128 up wish submit submit:1 unit script turn \
    submit:4 write:6 wish:4 odd:12 take:9 turn
seed stop_before_anything 128 submit odd:12 turn
