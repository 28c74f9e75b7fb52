#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tables.sh PRINT_TABLES FILE: prints a man page or README.md with the sections between "begin WHAT" and "end WHAT" made
# anew from the program's tables. `make tables` does it for all of them; tables.test finds where it was forgotten.
set -eu
tables=$(mktemp "${TMPDIR:-/tmp}/sight-tables.XXXXXX")
trap 'rm -f "$tables"' EXIT
"$1" >"$tables"
case $2 in
*.md) kind=md ;;
*) kind=man ;;
esac
awk -F '\t' -v kind="$kind" '
function roff(text) {
    gsub(/\\/, "\\e", text)
    sub(/^[.'"'"']/, "\\\\\\&&", text)
    return text
}
function cell(text) {
    gsub(/\|/, "\\|", text)
    return text
}
function lower(text) { return tolower(substr(text, 1, 1)) substr(text, 2) }
function item(macro, name, text) { printf ".It %s %s\n%s\n", macro, name, roff(text) }
function list(macro, what, text,    i) {
    for (i = 1; i <= rows; i++)
        if (field[i, 1] == what)
            item(macro, field[i, 2], field[i, text])
}
function value(text) {
    if (text == "-")
        return ""
    if (text !~ /\|/)
        return " Ar " text
    gsub(/\|/, " | ", text)
    return " Cm " text
}
# The options of a command but those that all have; help is a sentence fragment.
function options(command,    i, found) {
    for (i = 1; i <= rows; i++)
        if (field[i, 1] == "option" && field[i, 2] == command && field[i, 7] != "always") {
            if (!found++)
                print ".Bl -tag -width Ds"
            printf ".It %sFl -%s%s\n%s\n", field[i, 4] == "-" ? "" : "Fl " field[i, 4] " , ", field[i, 3],
                value(field[i, 5]), roff(field[i, 6])
        }
    if (found)
        print ".El\n.Pp\nAnd those of all commands:"
    else
        print "Those of all commands:"
    print ".Xr sight 1 ."
}
function words(what,    i, line) {
    for (i = 1; i <= rows; i++)
        if (field[i, 1] == what)
            line = line (line == "" ? "" : " , ") field[i, 2]
    return line
}
function commands(    i) {
    for (i = 1; i <= rows; i++)
        if (field[i, 1] == "command")
            printf ".It Cm %s\n%s; see\n.Xr sight-%s 1\n", field[i, 2], roff(field[i, 4]), field[i, 2]
}
function readme(what,    i) {
    if (what == "commands") {
        print "| command | does |\n| --- | --- |"
        for (i = 1; i <= rows; i++)
            if (field[i, 1] == "command")
                printf "| `sight %s` | %s |\n", cell(field[i, 2] == "diagnose" ? field[i, 3] : \
                    field[i, 2] (field[i, 3] == "-" ? "" : " " field[i, 3])), cell(field[i, 4])
    } else if (what == "charts") {
        print "| chart | answers |\n| --- | --- |"
        for (i = 1; i <= rows; i++)
            if (field[i, 1] == "chart")
                printf "| `%s` | %s |\n", field[i, 2], cell(field[i, 4])
    }
}
# Each table of queries, with its columns but the run.
function queries(    i) {
    for (i = 1; i <= rows; i++) {
        if (field[i, 1] == "query")
            printf ".Ss %s\n%s.\n.Bl -tag -width Ds -compact\n", field[i, 2], roff(toupper(substr(field[i, 3], 1, 1)) substr(field[i, 3], 2))
        else if (field[i, 1] == "column")
            item("Li", field[i, 3], (field[i, 5] == "-" ? "" : "(" field[i, 5] ") ") field[i, 4])
        if (field[i, 1] == "column" && field[i + 1, 1] != "column")
            print ".El"
    }
}
function section(what, argument,    i) {
    if (kind == "md")
        readme(what)
    else if (what == "commands")
        commands()
    else if (what == "options")
        options(argument)
    else if (what == "charts")
        for (i = 1; i <= rows; i++) {
            if (field[i, 1] == "chart")
                item("Cm", field[i, 2], field[i, 3] ": " lower(field[i, 4]))
        }
    else if (what == "formats")
        for (i = 1; i <= rows; i++) {
            if (field[i, 1] == "format")
                item("Cm", field[i, 2], field[i, 3] " (" field[i, 4] "), " field[i, 5])
        }
    else if (what == "findings")
        list("Li", "finding", 3)
    else if (what == "heuristics")
        list("Li", "heuristic", 4)
    else if (what == "waits")
        list("Li", "wait", 3)
    else if (what == "queries")
        queries()
    else if (what == "topics")
        print ".Cm " words("topic") " ;"
}
FILENAME == ARGV[1] {
    rows++
    for (i = 1; i <= NF; i++)
        field[rows, i] = $i
    next
}
skipping && /^(\.\\"|<!--) end / { skipping = 0 }
!skipping
/^(\.\\"|<!--) begin / {
    split($0, word, " ")
    section(word[3], word[4])
    skipping = 1
}
' "$tables" "$2"
