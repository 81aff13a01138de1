#!/bin/sh
# SPDX-License-Identifier: MIT
#
# head.sh PATCH... - says which heads of mutants ask for too much: three rules,
# or more than 500 seeds, are the sign of a rule that does not look closely. The
# control, which no rule may find, has as many seeds as it likes.

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
