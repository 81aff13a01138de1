# SPDX-License-Identifier: MIT
#
# commands.awk - which programs the shell scripts call by name.
#
#   awk -f tests/commands.awk SCRIPT... MAKEFILE...
#
# Prints a line for each word at the place of a command, "FILE LINE WORD", and
# "FILE LINE WORD ()" for each function that a script defines. A word with an
# expansion or a slash in it is no name, and is left out; a quote that is not
# closed is reported as the command "unclosed-quote". Of a Makefile (*.mk,
# Makefile) the recipes and $(shell ...) are read. A program after timeout, env,
# exec, setsid, nice, xargs, nsenter, ip netns exec, check or until_so is found,
# too; a program in a string for eval, trap or sh -c is not found.

function peek(k) { return substr(text, at + k, 1) }

function line_of(pos,    k) {
    while (counted < pos) {
        if (substr(text, ++counted, 1) == "\n")
            line++
    }
    return line + first_line
}

function found(word, mark) {
    if (word ~ /^[A-Za-z0-9_.+\[-]+$/)
        print name, line_of(at), word mark
}

# Behind the one that closes what was opened: " or `; substitutions are read.
function quoted(close_by,    c) {
    for (; at <= size; at++) {
        c = peek(0)
        if (c == close_by) {
            at++
            return
        }
        if (c == "\\")
            at++
        else if (c == "$")
            dollar()
    }
    found("unclosed-" (close_by == "\"" ? "quote" : "backquote"), "")
}

# At the ' that opens; ends on the one that closes. With escapes: $'it\'s'.
function plain_quoted(escapes,    begin) {
    begin = ++at
    for (; at <= size; at++) {
        if (escapes && peek(0) == "\\")
            at++
        else if (peek(0) == "'")
            return substr(text, begin, at - begin)
    }
    found("unclosed-quote", "")
    return ""
}

# Arithmetic: to the parenthesis that closes it.
function arithmetic(depth,    c) {
    for (; at <= size && depth > 0; at++) {
        c = peek(0)
        if (c == "$")
            dollar()
        else if (c == "(")
            depth++
        else if (c == ")")
            depth--
    }
}

function braces(    c) {
    for (; at <= size; at++) {
        c = peek(0)
        if (c == "}")
            return
        if (c == "\\") {
            at++
        } else if (c == "'") {
            plain_quoted(0)
        } else if (c == "\"") {
            at++
            quoted("\"")
            at--
        } else if (c == "$") {
            dollar()
        }
    }
}

# At a $; ends on its last character, as a loop that counts up wants it.
function dollar() {
    if (peek(1) == "(" && peek(2) == "(") {
        at += 3
        arithmetic(2)
        at--
    } else if (peek(1) == "(") {
        at += 2
        list(")")
        at--
    } else if (peek(1) == "{") {
        at += 2
        braces()
    }
}

# A word, with $ for what is expanded in it.
function word(    c, w, begin) {
    w = ""
    for (; at <= size; at++) {
        c = peek(0)
        if (c ~ /[ \t\n;&|<>()]/)
            return w
        if (c == "\\") {
            at++
            if (peek(0) != "\n")
                w = w peek(0)
        } else if (c == "'") {
            w = w plain_quoted(0)
        } else if (c == "$" && peek(1) == "'") {
            at++
            w = w plain_quoted(1)
        } else if (c == "\"" || c == "`") {
            begin = at++
            quoted(c)
            at--
            w = w substr(text, begin + 1, at - begin - 1)
        } else if (c == "$") {
            dollar()
            w = w "$"
        } else {
            w = w c
        }
    }
    return w
}

function blanks() {
    for (; at <= size; at++) {
        if (peek(0) == "\\" && peek(1) == "\n")
            at++
        else if (peek(0) !~ /[ \t]/)
            return
    }
}

function comment() {
    while (at <= size && peek(0) != "\n")
        at++
}

# To the line that is LIMIT, at a newline. In one that is not quoted,
# substitutions are read.
function document(limit, plain, tabs,    end, row) {
    while (at < size) {
        end = index(substr(text, at + 1), "\n")
        row = substr(text, at + 1, end ? end - 1 : size)
        if (tabs)
            sub(/^\t+/, "", row)
        if (row == limit) {
            at += end ? end : size
            return
        }
        at++
        for (; at <= size && peek(0) != "\n"; at++)
            if (!plain && peek(0) == "\\")
                at++
            else if (!plain && peek(0) == "$")
                dollar()
    }
    found("unclosed-document", "")
}

# At < or >: a file, a string, a document or a process.
function redirect(    op, tabs, plain) {
    op = peek(0)
    if (peek(1) == "(") {
        at += 2
        list(")")
        return
    }
    for (at++; peek(0) ~ /[<>&|]/; at++)
        op = op peek(0)
    if (op == "<<") {
        tabs = peek(0) == "-"
        at += tabs
        blanks()
        plain = peek(0) ~ /['"\\]/
        waiting[++waiting_n] = word()
        waiting_plain[waiting_n] = plain
        waiting_tabs[waiting_n] = tabs
        return
    }
    blanks()
    word()
}

function newline(    k, n) {
    n = waiting_n
    waiting_n = 0
    for (k = 1; k <= n; k++)
        document(waiting[k], waiting_plain[k], waiting_tabs[k])
    at++
}

function condition(    w) {
    while (at <= size) {
        blanks()
        if (peek(0) ~ /[;&|<>()\n]/) {
            at++
            continue
        }
        w = word()
        if (w == "]]")
            return
    }
}

function cases(    w) {
    blanks()
    word()
    for (;;) {
        while (at <= size && peek(0) ~ /[ \t\n]/)
            at++
        if (at > size)
            return
        if (peek(0) == "#") {
            comment()
            continue
        }
        if (peek(0) ~ /[(|;]/) {
            at++
            continue
        }
        if (peek(0) == ")") {
            at++
            if (list(";;") == "esac")
                return
            continue
        }
        w = word()
        if (w == "esac")
            return
    }
}

# Words that stand before a command, and how many operands they have.
function prefix(w) {
    if (w ~ /^(env|exec|setsid|nsenter|nice|nohup|xargs|quietly|command)$/)
        return 0
    return w ~ /^(timeout|check|until_so|flock)$/ ? 1 : -1
}

# The command whose first word is W; to behind its prefixes.
function command(w,    first, skip, takes) {
    for (;;) {
        first = w
        found(w, "")
        skip = prefix(w)
        if (w == "ip" && substr(text, at) ~ /^ netns exec /) {
            at += length(" netns exec")
            skip = 1
        }
        if (skip < 0)
            return
        takes = 0
        for (;;) {
            blanks()
            if (at > size || peek(0) ~ /[\n;&|<>()]/) {
                if (first == "xargs")
                    found("echo", "") # as it does of its own accord
                return
            }
            w = word()
            if (takes) {
                takes = 0
            } else if (w ~ /^-/) {
                if (w == "-v")
                    return
                takes = w ~ /^-[nPIsko]$/
            } else if (w ~ /^[A-Za-z_0-9]+=/) {
                continue
            } else if (skip > 0) {
                skip--
            } else {
                break
            }
        }
        if (w ~ /^[0-9]+$/ && peek(0) ~ /[<>]/)
            return
    }
}

# Commands up to what ends them: "", a parenthesis or ;; of a case.
function list(end,    c, w, expects) {
    expects = 1
    while (at <= size) {
        blanks()
        c = peek(0)
        if (c == "") {
            return ""
        } else if (c == "\n") {
            newline()
            expects = 1
        } else if (c == "#") {
            comment()
        } else if (c == ";" && peek(1) == ";") {
            at += 2
            if (end == ";;")
                return ";;"
            expects = 1
        } else if (c ~ /[<>]/ || c == "&" && peek(1) == ">") {
            at += c == "&"
            redirect()
        } else if (c ~ /[;&|]/) {
            at++
            expects = 1
        } else if (c == ")") {
            at++
            if (end == ")")
                return ")"
            expects = 0
        } else if (c == "(") {
            if (expects && peek(1) == "(") {
                at += 2
                arithmetic(2)
            } else {
                at++
                list(")")
            }
            expects = 0
        } else {
            w = word()
            if (!expects) {
                if (peek(0) == "(" && w ~ /=$/) {
                    at++
                    list(")")
                }
                continue
            }
            expects = 0
            if (peek(0) == "(" && peek(1) == ")") {
                found(w, " ()")
                at += 2
                expects = 1
            } else if (w ~ /^[0-9]+$/ && peek(0) ~ /[<>]/) {
                expects = 1
            } else if (w ~ /^[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=/) {
                if (peek(0) == "(" && w ~ /=$/)
                    array()
                expects = 1
            } else if (w == "case") {
                cases()
            } else if (w == "esac") {
                if (end == ";;")
                    return "esac"
            } else if (w == "[[") {
                condition()
            } else if (w ~ /^(if|then|elif|else|while|until|do|!|{|time)$/) {
                expects = 1
            } else if (w == "for") {
                loop()
            } else if (w !~ /^(fi|done|}|select|function)$/) {
                command(w)
            }
        }
    }
    return ""
}

function array() {
    at++
    while (at <= size) {
        while (at <= size && peek(0) ~ /[ \t\n]/)
            at++
        if (peek(0) == ")") {
            at++
            return
        }
        if (peek(0) == "(")
            at++
        word()
    }
}

function loop() {
    blanks()
    if (peek(0) == "(" && peek(1) == "(") {
        at += 2
        arithmetic(2)
    }
}

function script(from, body) {
    text = body
    size = length(text)
    at = 1
    counted = line = 0
    first_line = from
    waiting_n = 0
    list("")
}

# What make expands is not to be read: $(...) with all that is in it. $$ is
# the shell's own $; and what stands in $(shell ...) is a script of its own.
function made(row, number,    out, k, c, depth, begin) {
    out = ""
    for (k = 1; k <= length(row); k++) {
        c = substr(row, k, 1)
        if (c != "$") {
            out = out c
            continue
        }
        c = substr(row, ++k, 1)
        if (c == "$") {
            out = out "$"
            continue
        }
        out = out "${x}"
        if (c != "(" && c != "{")
            continue
        begin = k + 1
        for (depth = 1; depth > 0 && k < length(row);) {
            c = substr(row, ++k, 1)
            depth += c ~ /[({]/ ? 1 : c ~ /[)}]/ ? -1 : 0
        }
        c = substr(row, begin, k - begin)
        if (c ~ /^shell /)
            shell[++shell_n] = made(substr(c, 7), number)
    }
    return out
}

function makefile(body,    rows, row, k, n, begin, recipe) {
    n = split(body, rows, "\n")
    for (k = 1; k <= n; k++) {
        begin = k
        row = rows[k]
        while (row ~ /\\$/ && k < n)
            row = row "\n" rows[++k]
        recipe = row ~ /^\t/
        shell_n = 0
        row = made(row, begin)
        sub(/^\t[@+-]*/, "", row)
        if (recipe)
            script(begin, row)
        for (; shell_n > 0; shell_n--)
            script(begin, shell[shell_n])
    }
}

function finish() {
    if (name ~ /\.mk$|Makefile$/)
        makefile(whole)
    else
        script(1, whole)
}

FNR == 1 {
    if (NR > 1)
        finish()
    name = FILENAME
    whole = ""
}
{ whole = whole $0 "\n" }
END { finish() }
