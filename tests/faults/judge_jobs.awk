# SPDX-License-Identifier: MIT
#
# judge_jobs.awk - reads the sorted log of a fault scenario with jobs and prints
# each breach of a rule, with the line that shows it. No output means that all
# rules hold.
#
#   sort -n LOG... | awk -f judge_jobs.awk -v room=MS [-v void="J1"] \
#       [-v sum=FILE]
#
#   J1  each job whose put succeeded is done or dead at the end: its register
#       took a write, or the server lists it as dead
#   J2  no job is worked on that was reported as not put, or was never put
#   J3  each token comes once, and no worker gets one token for two jobs
#   J4  a register took only writes of workers that got the job with this token,
#       which is not below any token before; it refused only lower tokens
#   J5  a worker decides to write only while it works on the job, before a loss
#       or the end of the job
#   J6  a job that was done, without a report that it was too late, is not
#       worked on under a higher token, and not done a second time
#   J7  there are no more attempts than failures; attempts and stalls never
#       become fewer
#   J8  each job that a worker got ends once, and before its worker ends
#   R6  no answer was taken for a broken protocol
#
# A job is the number that it was put with. `void` names rules that cannot hold
# in the scenario. A killed process may have done its announced act.

function broken(rule, text) {
    if (index(void, rule))
        return
    print rule ": " text ": " $0
}

# ------------------------------------------------------------------- putting

function unput(job) {
    if (job in worked)
        broken("J2", "it was worked on, and not put")
    never[job] = 1
}

# ------------------------------------------------------------------- working

function begin(who, job, token) {
    begins++
    if (!(job in asked) || job in never)
        broken("J2", "nobody put it")
    if (token in owner)
        broken("J3", "the token of " owner[token])
    owner[token] = who " " job
    of[token] = job
    holds[token] = 1
    worked[job] = 1
    if ($6 > failures[job] + 1)
        broken("J7", "it failed " failures[job] + 0 " times")
    if (token > newest[job] && ($6 < attempt[job] || $7 < stalls[job]))
        broken("J7", "attempt " attempt[job] ", stalls " stalls[job] " before")
    if (token > newest[job]) {
        newest[job] = token
        attempt[job] = $6
        stalls[job] = $7
    }
}

function decide(who, job, token) {
    if (owner[token] != who " " job || !holds[token] || token in lost)
        broken("J5", "it does not work on it")
    decided[who " " $6] = job " " token
}

# done, failed, buried
function finish(who, job, token) {
    if (owner[token] != who " " job || ended[token])
        broken("J8", "it does not have it")
    ended[token] = 1
    holds[token] = 0
    if ($3 == "failed")
        failures[job]++
    if ($3 == "done")
        finished[token] = $0
}

function lose(who, job, token) {
    losses++
    if (owner[token] != who " " job || token in lost)
        broken("J8", "it does not have it")
    lost[token] = 1
    holds[token] = 0
}

# ----------------------------------------------------------------- registers

function take(job, token) {
    taken++
    if (token < highest[job])
        broken("J4", "taken below " highest[job])
    if (decided[$6 " " $7] != job " " token)
        broken("J4", "taken, and nobody had decided it")
    highest[job] = token > highest[job] ? token : highest[job]
    written[job] = 1
}

function refuse(job, token) {
    refused++
    if (token >= highest[job])
        broken("J4", "refused, though none was above")
}

# --------------------------------------------------------------------- lines

function leave(who,    token, part) {
    for (token in owner) {
        split(owner[token], part, " ")
        if (part[1] == who && holds[token])
            broken("J8", "gone, and job " part[2] " had not ended")
    }
}

# The last act of a killed process may not have arrived. The process was marked
# before it was killed, so it counts as dead from its next life on.
function die(who,    token, part) {
    delete doomed[who]
    for (token in owner) {
        split(owner[token], part, " ")
        if (part[1] == who) {
            holds[token] = 0
            unsure[token] = 1
        }
    }
}

function tally(    i, pair) {
    for (i = 6; i <= NF; i++) {
        split($i, pair, "=")
        n[pair[1]] = pair[2]
    }
    if (n["protocol"] > 0)
        broken("R6", "a broken protocol")
    attempts += n["attempts"]
}

{ job = $4; token = $5 }

$3 == "put" { asked[job] = 1; puts++ }
$3 == "queued" { queued[job] = $0 }
$3 == "unput" { unput(job) }
$3 == "begun" { begin($2, job, token) }
$3 == "write" { decide($2, job, token) }
$3 == "done" || $3 == "failed" || $3 == "buried" { finish($2, job, token) }
$3 == "lost" { lose($2, job, token) }
$3 == "took" { take(job, token) }
$3 == "refused" { refuse(job, token) }
$3 == "stats" { tally() }
$3 == "bye" { leave($2) }
$2 == "world" && $3 == "kill" { doomed[$4] = 1 }
$3 == "start" && $2 in doomed { die($2) }
$2 == "world" && $3 == "dead" { buried[$4] = 1 }

END {
    for (who in doomed)
        die(who)
    for (job in queued)
        if (!(job in written) && !(job in buried)) {
            $0 = queued[job]
            broken("J1", "it is neither done nor dead")
        }
    for (token in finished) {
        if (token in unsure || token in lost)
            continue
        job = of[token]
        $0 = finished[token]
        if (job in accepted)
            broken("J6", "it was done by token " accepted[job] ", too")
        accepted[job] = token
    }
    for (token in of)
        if (of[token] in accepted && token + 0 > accepted[of[token]] + 0) {
            $0 = finished[accepted[of[token]]]
            broken("J6", "worked on again by token " token)
        }
    if (sum != "")
        printf "%d jobs put, %d begun, %d losses, %d writes taken, " \
            "%d refused, %d links\n", puts, begins, losses, taken, refused, \
            attempts >sum
}
