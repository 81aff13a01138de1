# SPDX-License-Identifier: MIT
#
# man3.awk - makes manual pages of section 3 from the comments and declarations
# of the public headers.
#
#   awk -v out=FOLDER -v version=0.1.0 -f tools/man3.awk relet.h relet_local.h
#
# relet.h begins with a comment that lists its parts; each part becomes a page,
# and that comment the page relet(3). A header without such a list becomes one
# page. Every function and type gets a link to the page that describes it.
#
# What the script expects of a header:
#
#   * A comment "---- 7 leases" begins part 7, "---- connections" a section of
#     the page, "---- private" the end. Text in that comment comes first.
#   * A comment directly above declarations describes all of them, up to the
#     next blank line. A comment with a blank line below it stands alone: its
#     first sentence is its heading.
#   * In a comment a blank line separates paragraphs, and lines that are
#     indented by two or more are a list ("TERM  text" in each) or are kept as
#     they are.
#   * A comment behind a member or an enumerator, or above it, describes it.

# ------------------------------------------------------------------ the text

function fail(message) {
    print FILENAME ": " message >"/dev/stderr"
    failed = 1
}

# Begins a paragraph, but writes no .PP directly below a heading.
function put(line) {
    if (line == ".PP" && last_line ~ /^\.S[HS]/)
        return
    page_text[page] = page_text[page] line "\n"
    last_line = line
}

# Escapes characters that troff would interpret. Other bytes above 127 are an
# error.
function escape(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    gsub(/…/, "...", s)
    gsub(/≤/, "at most", s)
    if (s ~ /[\200-\377]/)
        fail("no way to write this in a page: " s)
    return s
}

# Writes a line so that troff does not take it for a request.
function guard(s) { return s ~ /^[.']/ ? "\\&" s : s }

function escape_code(s) {
    s = escape(s)
    gsub(/'/, "\\(aq", s)
    gsub(/`/, "\\(ga", s)
    gsub(/\^/, "\\(ha", s)
    gsub(/~/, "\\(ti", s)
    return guard(s)
}

function page_ref(name) { return "\\fB" name "\\fR(3)" }

# Prose with the names of the interface in bold, `words` in italics, and
# "part 7" as the page of that part.
function marked(s,    done, word) {
    s = escape(s)
    while (match(s, /`[^`]*`|part [1-9]|(relet|RELET)_[A-Za-z0-9_]+/)) {
        word = substr(s, RSTART, RLENGTH)
        done = done substr(s, 1, RSTART - 1)
        s = substr(s, RSTART + RLENGTH)
        if (done ~ /[A-Za-z0-9_]$/)
            ; # the end of another word
        else if (word ~ /^`/)
            word = "\\fI" substr(word, 2, length(word) - 2) "\\fR"
        else if (word !~ /^part/)
            word = "\\fB" word "\\fR"
        else if (substr(word, 6) in part_page)
            word = page_ref(part_page[substr(word, 6)])
        done = done word
    }
    return done s
}

# Writes lines of at most 78 characters; each sentence begins a line.
function fill(s,    words, n, k, line) {
    n = split(s, words, " ")
    for (k = 1; k <= n; k++) {
        if (line != "" && length(line) + length(words[k]) > 77) {
            put(guard(line))
            line = ""
        }
        line = line (line == "" ? "" : " ") words[k]
        if (words[k] ~ /[.?!]\)?$/) {
            put(guard(line))
            line = ""
        }
    }
    if (line != "")
        put(guard(line))
}

function indent(s) {
    match(s, /^ */)
    return RLENGTH
}

# ---------------------------------------------------------------- a comment

# Writes the lines text[a] to text[b] unchanged; indented if the page has room.
function verbatim(a, b,    k, least, most) {
    least = 99
    for (k = a; k <= b; k++)
        if (text[k] != "" && indent(text[k]) < least)
            least = indent(text[k])
    for (k = a; k <= b; k++)
        if (length(text[k]) - least > most)
            most = length(text[k]) - least
    put(".PP")
    if (most <= 69)
        put(".RS 4")
    put(".EX")
    for (k = a; k <= b; k++)
        put(escape_code(substr(text[k], least + 1)))
    put(".EE")
    if (most <= 69)
        put(".RE")
}

function is_term(s) { return s ~ /^ *[^ ,]+(, [^ ,]+)*(   *[^ ].*)?$/ }

# Each line with the least indent is "TERM" or "TERM  text", the others go on.
function is_list(a, b,    k, least, rest, texts) {
    least = indent(text[a])
    for (k = a; k <= b; k++) {
        if (text[k] == "" || indent(text[k]) > least)
            continue
        if (indent(text[k]) < least || !is_term(text[k]))
            return 0
        rest = substr(text[k], least + 1)
        if (match(rest, /   */)) {
            rest = substr(rest, RSTART + RLENGTH)
            if (rest ~ /  / || rest !~ /[a-z][a-z]/)
                return 0
            texts++
        }
    }
    return texts > 0
}

function list(a, b,    k, least, line, body) {
    least = indent(text[a])
    for (k = a; k <= b; k++) {
        line = text[k]
        if (line != "" && indent(line) == least) {
            if (body != "")
                fill(marked(body))
            body = ""
            sub(/^ */, "", line)
            put(".TP")
            if (match(line, /   */)) {
                body = substr(line, RSTART + RLENGTH)
                line = substr(line, 1, RSTART - 1)
            }
            put("\\fB" escape(line) "\\fR")
        } else {
            body = body " " line
        }
    }
    fill(marked(body))
}

# "(1) text", and the indented lines below it.
function note(a, b,    k, body) {
    put(".TP 4")
    put(substr(text[a], 1, 3))
    body = substr(text[a], 5)
    for (k = a + 1; k <= b; k++)
        body = body " " text[k]
    fill(marked(body))
}

function paragraph(s) {
    put(".PP")
    fill(marked(s))
}

# The end of what is indented from line a on.
function block_end(a,    k, last) {
    last = a
    for (k = a + 1; k <= lines; k++) {
        if (text[k] != "" && indent(text[k]) < 2)
            break
        if (text[k] != "")
            last = k
    }
    return last
}

# The comment in text[1..lines].
function comment(    k, end, body) {
    for (k = 1; k <= lines; k++) {
        if (indent(text[k]) >= 2 || text[k] ~ /^\([0-9]\) / || text[k] == "") {
            if (body != "")
                paragraph(body)
            body = ""
        }
        if (text[k] == "")
            continue
        if (indent(text[k]) >= 2) {
            end = block_end(k)
            if (is_list(k, end))
                list(k, end)
            else
                verbatim(k, end)
            k = end
        } else if (text[k] ~ /^\([0-9]\) /) {
            end = block_end(k)
            note(k, end)
            k = end
        } else {
            body = body " " text[k]
        }
    }
    if (body != "")
        paragraph(body)
}

# ----------------------------------------------------------- a declaration

function is_function(s) { return s ~ /^(RELET_API|static inline) / }

function name_of_function(s) {
    match(s, /relet_[a-z0-9_]+\(/)
    return substr(s, RSTART, RLENGTH - 1)
}

# The name of a type, or its members if it has no name.
function name_of_type(s,    bits, k, n) {
    if (s ~ /^#define/) {
        split(s, bits, " ")
        return bits[2]
    }
    if (s ~ /^enum \{/) {
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", s)
        gsub(/[^A-Z0-9_,=]/, "", s)
        n = split(s, bits, ",")
        for (k = 1; k <= n; k++)
            sub(/=.*/, "", bits[k])
        if (n == 2)
            return bits[1] ", " bits[2]
        sub(/[A-Z0-9]+$/, "", bits[1])
        return bits[1] "*"
    }
    if (s ~ /^typedef (struct|enum) [a-z_]+ \{/) {
        split(s, bits, " ")
        return bits[3]
    }
    if (s ~ /\(/ && s !~ /^typedef (struct|enum)/) {
        match(s, /relet_[a-z0-9_]+\(/)
        return substr(s, RSTART, RLENGTH - 1)
    }
    sub(/;.*/, "", s)
    n = split(s, bits, " ")
    return bits[n]
}

# The declaration without words for the compiler, and with less indentation.
function prototype(s,    rows, n, k, cut, name, made, row) {
    gsub(/\n *RELET_ENDS_WITH_NULL;/, ";", s)
    match(s, /^(RELET_API|static inline) /)
    cut = RLENGTH
    n = split(s, rows, "\n")
    name = name_of_function(s)
    for (k = 1; k <= n; k++) {
        row = substr(rows[k], cut + 1)
        if (k > 1 && substr(rows[k], 1, cut) ~ /[^ ]/)
            fail("a prototype that is not aligned: " name)
        row = escape_code(row)
        if (k == 1)
            sub(name "\\(", "\\fB" name "\\fR(", row)
        made = made row (k < n ? "\n" : "")
    }
    return made
}

# Notes a member or enumerator with the comment behind it, a comment on a line
# of its own, or a blank line.
function noted(tag, s) {
    gsub(/  +/, " ", s)
    gsub(/^ | $/, "", s)
    sub(/[;,]$/, "", tag)
    tags[++notes] = tag
    says[notes] = s
}

# Notes the lines between the braces.
function read_members(s,    rows, n, k, row, tag, said, at, open) {
    notes = 0
    n = split(s, rows, "\n")
    for (k = 2; k < n; k++) {
        row = rows[k]
        sub(open ? "^ *\\* ?" : "^ +", "", row)
        if (!open) {
            at = index(row, "/*")
            tag = tag (tag == "" ? "" : " ") (at ? substr(row, 1, at - 1) : row)
            sub(/ +$/, "", tag)
            open = at > 0
            row = open ? substr(row, at + 2) : ""
        }
        if (open) {
            at = index(row, "*/")
            said = said " " (at ? substr(row, 1, at - 1) : row)
            open = !at
        }
        if (open || (said == "" && tag ~ /[^;,]$/ && k < n - 1))
            continue
        noted(tag, said)
        tag = said = ""
    }
}

# The members behind note k that have no comment; 0 if one of them has one.
function shared(k,    all) {
    for (k++; k <= notes && tags[k] != ""; k++) {
        if (says[k] != "")
            return 0
        all = all (all == "" ? "" : "; ") tags[k]
        last_shared = k
    }
    return all == "" ? 0 : all
}

function tagged(tag, s) {
    put(".TP")
    put("\\fB" escape_code(tag) "\\fR")
    fill(marked(s))
}

# A comment above members without comments describes these members; above others
# it is a paragraph.
function members(s,    k, all) {
    read_members(s)
    for (k = 1; k <= notes; k++) {
        if (tags[k] != "") {
            tagged(tags[k], says[k])
        } else if (says[k] != "") {
            all = shared(k)
            if (all == 0) {
                paragraph(says[k])
            } else {
                tagged(all, says[k])
                k = last_shared
            }
        }
    }
}

function type(s,    name) {
    name = name_of_type(s)
    if (name == "relet_node") # private, as its comment says
        return
    if (s ~ /\{/) {
        if (s ~ /^typedef struct/)
            paragraph("The members of " name ":")
        else if (s ~ /^typedef enum/)
            paragraph("The values of " name ":")
        members(s)
        return
    }
    put(".PP")
    put(".nf")
    put(escape_code(s))
    put(".fi")
}

# ----------------------------------------------------------------- a group

function link(name) {
    if (name in place)
        fail(name " is described twice")
    place[name] = page
}

function heading(s) { put(".SS " escape(s)) }

# The names in the heading of a group: its functions; without functions, its
# types; without types, its other names.
function title_of_group(    k, called, typed, rest) {
    for (k = 1; k <= decls; k++)
        if (is_function(decl[k]))
            called = called ", " name_of_function(decl[k]) "()"
        else if (decl[k] ~ /^typedef/)
            typed = typed ", " name_of_type(decl[k])
        else
            rest = rest ", " name_of_type(decl[k])
    return substr(called != "" ? called : typed != "" ? typed : rest, 3)
}

# A comment, in text[1..lines], and the declarations directly below it.
function group(    k, first) {
    if (decls == 0) {
        first = text[1]
        if (!match(first, /\.( |$)/))
            fail("a comment alone has no heading: " first)
        heading(substr(first, 1, RSTART - 1))
        text[1] = substr(first, RSTART + RLENGTH)
        comment()
        return
    }
    heading(title_of_group())
    if (lines == 0)
        fail(title_of_group() " has no comment")
    functions()
    comment()
    for (k = 1; k <= decls; k++)
        if (!is_function(decl[k])) {
            if (decl[k] ~ /^typedef/)
                link(name_of_type(decl[k]))
            type(decl[k])
        }
}

function functions(    k, name, some) {
    for (k = 1; k <= decls; k++) {
        if (!is_function(decl[k]))
            continue
        name = name_of_function(decl[k])
        link(name)
        names[page] = names[page] ", " name
        synopsis[page] = synopsis[page] prototype(decl[k]) "\n"
        if (!some++)
            put(".nf")
        put(prototype(decl[k]))
    }
    if (some)
        put(".fi")
}

# ---------------------------------------------------------------- a header

function begin_page(name, about) {
    page = name
    last_line = ".SH DESCRIPTION"
    summary[page] = about
    pages[++page_n] = page
    header[page] = FILENAME
    sub(/.*\//, "", header[page])
}

# The first comment: the purpose of the header, and perhaps the list of its
# parts.
function title(    k, n, name, about, words) {
    name = substr(text[3], 1, index(text[3], ".h") - 1)
    about = text[3]
    sub(/^[^-]* - /, "", about)
    sub(/\.$/, "", about)
    begin_page(name, about)
    for (k = 5; k <= lines; k++) {
        if (text[k] ~ /^ +[1-9]  [a-z]/) {
            split(text[k], words, " ")
            part_page[words[1]] = name "_" words[2]
            about = text[k]
            sub(/^ +[1-9]  [a-z]+ +/, "", about)
            part_about[words[1]] = about
            text[k] = "  " name "_" words[2] "(3)  " about
        }
        text[++n] = text[k]
    }
    lines = n
    comment()
}

function section(s,    k) {
    sub(/^-+ */, "", s)
    sub(/ *$/, "", s)
    if (s == "private") {
        over = 1
    } else if (s ~ /^[1-9] /) {
        s = substr(s, 1, 1)
        begin_page(part_page[s], part_about[s])
    } else {
        put(".SH " escape(toupper(s)))
    }
    text[1] = ""
    if (!over)
        comment()
}

function clean(s) {
    sub(/^\/\* ?/, "", s)
    sub(/ *\*\/$/, "", s)
    sub(/^ \* ?/, "", s)
    return s
}

function end_comment() {
    while (lines > 0 && text[lines] == "")
        lines--
    if (!titled[FILENAME]++)
        title()
    else if (text[1] ~ /^---/)
        section(text[1])
    else
        return
    lines = 0
}

FNR == 1 { over = in_comment = skipping = lines = decls = 0; part = "" }
over { next }
/^#ifdef __|^#ifndef RELET_API/ { skipping = 1 }
skipping {
    skipping = !/^#endif/
    lines = 0
    next
}
part == "" && /^\/\*/ {
    in_comment = 1
    lines = 0
}
in_comment {
    text[++lines] = clean($0)
    if (/\*\/$/) {
        in_comment = 0
        end_comment()
    }
    next
}
part == "" && /^$/ {
    if (lines > 0 || decls > 0)
        group()
    lines = decls = 0
    next
}
part == "" && /^#/ && !/^#define [A-Z_]+ / { next }
part == "" && /^struct [a-z_]+;$/ { next }
part ~ /\{/ && /^#/ { next } # a member that not every build has
{
    part = part (part == "" ? "" : "\n") $0
    code = $0
    sub(/ *\/\*.*/, "", code)
    if (part ~ /\{/ ? code ~ /^\}/ : code ~ /;$/ || part ~ /^#/) {
        decl[++decls] = part
        part = ""
    }
}

# ---------------------------------------------------------------- the pages

function page_head() {
    put(".\\\" SPDX-License-Identifier: MIT")
    put(".\\\" Made from include/" header[page] " by tools/man3.awk.")
    put(".nr HY 0")
    put(".TH " toupper(page) " 3 \"\" \"relet " version \
        "\" \"Library Functions\"")
    put(".ad l")
    put(".SH NAME")
    fill(page names[page] " \\- " escape(summary[page]))
    put(".SH SYNOPSIS")
    put(".nf")
    put("\\fB#include <" header[page] ">\\fR")
    if (synopsis[page] != "") {
        put(".PP")
        page_text[page] = page_text[page] synopsis[page]
    }
    put(".fi")
    put(".SH DESCRIPTION")
}

function see_also(    k, n) {
    put(".SH SEE ALSO")
    for (k = n = 1; k <= page_n; k++)
        if (pages[k] != page)
            put(".BR " pages[k] " (3)" (++n < page_n ? "," : ""))
}

function write_page(    body, file) {
    body = page_text[page]
    page_text[page] = ""
    page_head()
    page_text[page] = page_text[page] body
    see_also()
    file = out "/" page ".3"
    printf "%s", page_text[page] >file
    close(file)
}

function write_link(name,    file) {
    file = out "/" name ".3"
    print ".so man3/" place[name] ".3" >file
    close(file)
}

function write(    k, name) {
    for (k = 1; k <= page_n; k++) {
        page = pages[k]
        write_page()
    }
    for (name in place)
        if (!(name in summary))
            write_link(name)
}

END {
    if (!failed)
        write()
    exit failed
}
