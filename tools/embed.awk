# SPDX-License-Identifier: MIT
#
# embed.awk - writes the scripts as a server gets them: without the blanks in
# front of their lines and without comments, but for their names. A line with
# "@" and the name of the file precedes each script.
#
#   awk -f tools/embed.awk lua/*.lua | build/tools/pack >src/link/script_text.inc

FNR == 1 {
    named = 0
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    print "@" name
}
/^--/ && named++ { next }
/^--/ { sub(/:.*/, "") }
{
    sub(/^ +/, "")
    print
}
