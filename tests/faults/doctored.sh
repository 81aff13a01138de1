# SPDX-License-Identifier: MIT
#
# doctored.sh - tests judge.awk: a log without fault passes, and each fault put
# into the log is reported by its rule.
# shellcheck shell=bash disable=SC2016

# n1 leads and is renewed, is told to stop, and n2 follows; milliseconds.
doctored_log() {
    cat <<'END'
1000 fence ready 0 0
1001 n1 start 0 0 1500 11
1001 n2 start 0 0 1500 12
1010 n1 valid 0 500 2490
1011 n1 gained 1 500 none
1012 n1 write 1 500 1
1013 fence took 1 500 n1 1 0
1500 n1 valid 1 500 2980
1501 n1 write 1 500 2
1502 fence took 1 500 n1 2 500
1600 n1 lost 1 500 stopped stopped
1601 n1 void 1 500
1603 n1 ended 1 0 stopped
1604 n1 stats 0 0 asked=9 heard=9 twice=0 wrong=0 late=1 attempts=1 protocol=0
1605 n1 bye 0 0
1610 n2 valid 0 600 3090
1611 n2 gained 1 600 none
1612 n2 write 1 600 1
1613 fence took 1 600 n2 1 500
1614 world stop n2
7000 world cont n2
7001 n2 void 1 600
7002 n2 lost 1 600 expired it was not renewed in time
7003 n2 valid 1 700 8490
7004 n2 gained 2 700 none
7005 n2 lost 2 700 stopped stopped
7006 n2 void 2 700
7007 n2 ended 2 0 stopped
7008 n2 bye 0 0
END
}

# verdict SED [VOID]: prints the rules that the log breaks after this change.
verdict() {
    doctored_log | sed "$1" |
        sed 's/^[0-9]*/&000000/; s/\( valid .*\)/\1000000/' |
        sort -s -n -k 1,1 |
        awk -f tests/faults/judge.awk -v room=1000 -v void="${2:-}" |
        cut -d : -f 1 | sort -u | paste -sd ' '
}

# refuses RULES CLAIM SED
refuses() { check "judge: $2" same "$1" "$(verdict "$3")"; }

scene_doctored() {
    check 'judge: a log without fault passes' same '' "$(verdict '')"
    refuses L1 'two believe at one time' '/n1 void/d'
    check 'judge: a rule without grounds refuses nothing' \
        same '' "$(verdict '/n1 void/d' L1)"
    refuses L1 'a third one believes at the same time' \
        '/1612 n2/i 1612 n3 valid 0 601 1613
         /ready/a 1000 n3 start 0 0 1500 13'
    refuses L2 'two have one token' 's/ 600/ 500/'
    refuses 'L2 L4' 'a token is lower than one before' 's/ 600/ 400/'
    refuses L2 'a second term has the token of the first' 's/ 700/ 600/'
    refuses L3 'a write after its end was decided' \
        '/n2 void 1/i 7000 n2 write 1 600 2'
    refuses L3 'a write before it was told' 's/^1011/1013/; s/^1013 f/1014 f/'
    refuses L3 'a write after it was told of the loss' \
        '/n2 void 2/i 7005 n2 write 2 700 3'
    refuses L4 'an old token was taken' \
        '/world stop/i 1614 fence took 1 500 n1 2 600'
    refuses L4 'a write was taken that nobody had decided' '/1502/s/n1 2/n1 3/'
    refuses L4 'a write was taken that another one had decided' \
        '/1502/s/n1 2/n2 2/'
    refuses L4 'a write with the highest token was refused' \
        '/1502/s/took/refused/'
    refuses L5 'a belief that reaches further than its TTL' 's/2490/2511/'
    refuses L7 'a late loss' \
        '/world/d; s/^700/409/; s/8490/5580/'
    refuses L7 'a late loss after a pause' \
        's/^700[2-8]/8500/; s/8490/9900/'
    refuses L7 'a loss that nobody was told of' \
        '/n2 lost 1/,$d; /n2 void 1/a 9000 n9 up 0 0'
    refuses L7 'two gains in a row' '/n2 lost 1/d'
    refuses L7 'two losses in a row' '/n1 lost/p'
    refuses L7 'a term that is missing' 's/n2 \([a-z]*\) 2 /n2 \1 3 /'
    refuses L7 'an end before its loss' '/n1 lost/d'
    refuses L7 'a gain after the end' '/n1 bye/i 1604 n1 valid 1 550 1605\
1604 n1 gained 2 550 none'
    refuses L7 'no end at all' '/n2 ended/d'
    refuses R1 'an operation without an outcome' 's/heard=9/heard=8/'
    refuses R1 'an operation with two' 's/twice=0/twice=1/'
    refuses R2 "another operation's answer" 's/wrong=0/wrong=1/'
    refuses R6 'a protocol that was said to be broken' \
        's/protocol=0/protocol=1/'
    refuses R8 'an operation that had no end in time' 's/late=1/late=1001/'
}
