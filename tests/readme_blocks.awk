# SPDX-License-Identifier: MIT
#
# readme_blocks.awk - writes the C programs of README.md to DIR/1.c, 2.c, ...
#
# A block between ```c and ``` that holds a main is a program. Behind ```c may
# stand "run" (to be run with a server) or "tls" (needs OpenSSL). Prints a line
# per program: its file and that word.

/^```c( |$)/ {
    inside = 1
    mark = $2
    text = ""
    next
}
/^```/ && inside {
    inside = 0
    if (text !~ /int main\(/)
        next
    file = DIR "/" ++count ".c"
    printf "%s", text >file
    close(file)
    print file, mark
}
inside { text = text $0 "\n" }
