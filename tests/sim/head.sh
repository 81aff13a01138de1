#!/bin/sh
# SPDX-License-Identifier: MIT
#
# head.sh PATCH... - prints which heads of mutants accept three rules or more,
# or more than 500 seeds: the rule that should find the defect is then too weak.
# The control, which no rule may find, may have any number of seeds.

awk '
    FNR == 1 { head = 1; expect = "none" }
    /^--- / { head = 0 }
    head && /^expect: / {
        expect = $2
        if (split($2, rule, "|") > 2)
            print FILENAME " accepts more than two rules: " $2
    }
    head && /^budget: / && expect != "none" && $2 > 500 {
        print FILENAME " has more than 500 seeds: " $2
    }' "$@"
