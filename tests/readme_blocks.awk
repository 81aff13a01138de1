# SPDX-License-Identifier: MIT
#
# readme_blocks.awk - writes the programs of a page to DIR/1.c, 2.sh, ...
#
# A block between ```c and ``` that has a main is a program. The word "run"
# behind ```c marks a program that the test also runs, with a server. A block
# between ```sh run and ``` is a shell script that the test also runs. The
# script prints a line per program: its file and that word.

/^```(c|sh)( |$)/ {
    inside = 1
    kind = substr($1, 4)
    mark = $2
    text = ""
    next
}
/^```/ && inside {
    inside = 0
    if (kind == "c" ? text !~ /int main\(/ : mark != "run")
        next
    file = DIR "/" ++count "." kind
    printf "%s", text >file
    close(file)
    print file, mark
}
inside { text = text $0 "\n" }
