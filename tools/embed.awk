# SPDX-License-Identifier: MIT
#
# embed.awk - writes src/link/script_text.inc: the scripts, without the blanks in
# front of their lines and without comments, but for their names.
#
#   awk -f tools/embed.awk lua/*.lua >src/link/script_text.inc

BEGIN {
    print "/* SPDX-License-Identifier: MIT"
    print " *"
    print " * script_text.inc - the scripts of lua/, made by tools/embed.awk. */"
}
FNR == 1 {
    named = 0
    if (NR > 1)
        print "    ;"
    if (part != "")
        print "#endif"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    part = name ~ /^lease_/ ? "LEASE" : "QUEUE"
    printf "\n#ifndef RELET_NO_%s\nstatic const char script_text_%s[] =\n", part, name
}
/^--/ && named++ { next }
/^--/ { sub(/:.*/, "") }
{
    sub(/^ +/, "")
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "    \"%s\\n\"\n", $0
}
END { print "    ;\n#endif" }
