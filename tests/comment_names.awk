# SPDX-License-Identifier: MIT
#
# comment_names.awk - the names of functions, macros and files that the comments
# of C files mention and that no code has. A name that ends with … or _ stands
# for several.
#
#   awk -f tests/comment_names.awk FILE...

function code_words(text) {
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*(\.[ch])?/)) {
        there[substr(text, RSTART, RLENGTH)] = 1
        text = substr(text, RSTART + RLENGTH)
    }
}
function comment_words(text, word, behind) {
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*(\.[ch])?/)) {
        word = substr(text, RSTART, RLENGTH)
        behind = substr(text, RSTART + RLENGTH, 3)
        text = substr(text, RSTART + RLENGTH)
        if (behind == "…" || word ~ /_$/ || substr(behind, 1, 1) == "*")
            continue
        if (word ~ /^(rlt|relet|RLT|RELET)_/ || word ~ /^[a-z_0-9]+\.[ch]$/)
            said[word] = FILENAME
    }
}
FNR == 1 {
    inside = 0
    name = FILENAME
    sub(/.*\//, "", name)
    there[name] = 1
}
{
    line = $0
    while (line != "")
        if (inside) {
            end = index(line, "*/")
            comment_words(end ? substr(line, 1, end - 1) : line)
            line = end ? substr(line, end + 2) : ""
            inside = !end
        } else {
            start = index(line, "/*")
            code_words(start ? substr(line, 1, start - 1) : line)
            line = start ? substr(line, start + 2) : ""
            inside = start > 0
        }
}
END {
    for (word in said)
        if (!(word in there))
            print said[word] ": there is no " word
}
