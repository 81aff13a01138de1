# SPDX-License-Identifier: MIT
#
# embed.awk - writes the scripts in the form that a server gets: without
# indentation and without comments, except the name of the script. A line with
# "@" and the name of the file precedes each script.
#
#   awk -f tools/embed.awk lua/*.lua |
#       build/tools/pack >src/link/script_text.inc

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
