# SPDX-License-Identifier: MIT
#
# doctored_jobs.sh - tests judge_jobs.awk: a log without fault passes, and each
# fault put into the log is reported by its rule.
# shellcheck shell=bash

# Job 1 fails once, and is done; job 2 is relet from n2, which was paused, to
# n3; job 3 is buried; job 4 is unsure, and job 5 was not put.
doctored_jobs_log() {
    cat <<'END'
1000 fence ready 0 0
1001 n1 put 1 0
1001 n1 put 2 0
1001 n1 put 3 0
1001 n1 put 4 0
1001 n1 put 5 0
1002 n1 queued 1 0
1002 n1 queued 2 0
1002 n1 queued 3 0
1002 n1 unsure 4 0 timeout
1002 n1 unput 5 0 none OOM
1003 n2 begun 1 501 1 0
1003 n2 begun 2 502 1 0
1004 n2 failed 1 501
1005 n2 write 2 502 1
1006 world stop n2
1100 n3 begun 1 503 2 0
1101 n3 write 1 503 1
1102 fence took 1 503 n3 1 0
1103 n3 done 1 503
2600 n3 begun 2 504 1 1
2601 n3 write 2 504 2
2602 fence took 2 504 n3 2 0
2603 n3 done 2 504
2604 n3 begun 3 505 1 0
2605 n3 buried 3 505
2700 world cont n2
2701 fence refused 2 502 n2 1 504
2702 n2 done 2 502
2703 n2 lost 2 502 expired
2704 n2 ended 0 0
2705 n2 stats 0 0 put=0 attempts=1 connects=1 protocol=0
2706 n2 bye 0 0
2707 n3 ended 0 0
2708 n3 bye 0 0
2709 world dead 3
END
}

jobs_verdict() {
    doctored_jobs_log | sed "$1" | sed 's/^[0-9]*/&000000/' |
        sort -s -n -k 1,1 |
        awk -f tests/faults/judge_jobs.awk -v room=1000 -v void="${2:-}" |
        cut -d : -f 1 | sort -u | paste -sd ' '
}

# refuses_jobs RULES CLAIM SED
refuses_jobs() { check "judge of jobs: $2" same "$1" "$(jobs_verdict "$3")"; }

scene_doctored_jobs() {
    check 'judge of jobs: a log without fault passes' \
        same '' "$(jobs_verdict '')"
    refuses_jobs J1 'a job is lost that was said to be put' '/world dead/d'
    check 'judge of jobs: a rule without grounds refuses nothing' \
        same '' "$(jobs_verdict '/world dead/d' J1)"
    refuses_jobs J1 'a job was done, and nothing became of it' '/took 1/d'
    check 'judge of jobs: a job whose put was unsure may come' \
        same '' "$(jobs_verdict '/2605/a 2606 n3 begun 4 506 1 0\
2606 n3 failed 4 506')"
    refuses_jobs J2 'what was said not to be put is worked on' \
        '/2605/a 2606 n3 begun 5 506 1 0\
2606 n3 failed 5 506'
    refuses_jobs J2 'so it is, and that was said later' \
        '/unput/s/1002/2800/; /2605/a 2606 n3 begun 5 506 1 0\
2606 n3 failed 5 506'
    refuses_jobs J2 'what nobody put is worked on' \
        '/2605/a 2606 n3 begun 6 506 1 0\
2606 n3 failed 6 506'
    refuses_jobs 'J3 J8' 'two jobs have one token' \
        's/begun 3 505/begun 3 504/; /buried/d'
    refuses_jobs 'J3 J4 J8' 'two workers are told of one token' 's/ 504/ 502/'
    refuses_jobs J4 'an old token was taken' '/2701/s/refused/took/'
    refuses_jobs J4 'a write was taken that nobody had decided' \
        '/1102/s/n3 1 0/n3 9 0/'
    refuses_jobs J4 'a write was taken that another one had decided' \
        '/1102/s/n3 1 0/n2 1 0/'
    refuses_jobs 'J1 J4' 'a write with the highest token was refused' \
        '/1102/s/took/refused/'
    refuses_jobs J5 'a write behind the loss was decided' \
        '/n2 lost/a 2703 n2 write 2 502 2'
    refuses_jobs J5 'a write behind the end was decided' \
        '/1103/a 1103 n3 write 1 503 3'
    refuses_jobs J6 'a late done was accepted' '/n2 lost/d'
    refuses_jobs J6 'a job that was done is worked on again' \
        '/2605/a 2606 n3 begun 1 506 2 1\
2607 n3 failed 1 506'
    check 'judge of jobs: a job done by a killed worker may come again' \
        same '' "$(jobs_verdict '/n2 lost/d; /2702/a 2703 world kill n2')"
    refuses_jobs J7 'an attempt is counted that did not fail' \
        's/2 504 1 1/2 504 2 1/'
    refuses_jobs J7 'an attempt is not counted any more' 's/503 2 0/503 0 0/'
    refuses_jobs J7 'a stall is not counted any more' \
        's/502 1 0/502 1 2/'
    refuses_jobs J8 'a job ends twice' '/1103/p'
    refuses_jobs J8 'a job ends that another one has' '/1103/s/n3/n2/'
    refuses_jobs J8 'a loss is told twice' '/n2 lost/p'
    refuses_jobs J8 'a worker is gone, and its job had not ended' '/buried/d'
    refuses_jobs R6 'a protocol that was said to be broken' \
        's/protocol=0/protocol=1/'
}
