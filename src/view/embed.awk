# SPDX-License-Identifier: BSD-3-Clause
# Writes texts as one C string: awk -v name=asset_x [-v before=... -v after=...] -f embed.awk FILE...
# Indentation, comments and, outside of what may be quoted, blanks around operators are left out. Of scripts, so are the
# last semicolon or comma before a bracket, and all but the first of several `let`.
function put(line) {
    if (FILENAME ~ /js$/ && line ~ /^[])}]/)
        sub(/[;,]$/, "", held)
    if (FILENAME ~ /js$/ && held ~ /^let[^A-Za-z0-9_$].*;$/ && line ~ /^let[^A-Za-z0-9_$]/) {
        held = substr(held, 1, length(held) - 1) "," substr(line, line ~ /^let / ? 5 : 4)
        return
    }
    put_held(FILENAME !~ /js$/ || (held ~ /[A-Za-z0-9_$]$/ && line !~ /^[])}?:.&|]/))
    held = line
}
function put_held(whole) {
    gsub(/\\/, "&&", held)
    gsub(/["?]/, "\\\\&", held)
    if (held != "")
        printf "    \"%s%s\"\n", held, whole ? "\\n" : ""
}
# `part` of the line without the blanks around it.
function close_up(line, part,    at) {
    while ((at = index(line, " " part " ")) > 0)
        line = substr(line, 1, at - 1) part substr(line, at + length(part) + 2)
    return line
}
# What never changes may as well be what may: the shorter word.
function with_let(code) {
    gsub(/ const /, " let ", code)
    gsub(/\(const /, "(let ", code)
    gsub(/;const /, ";let ", code)
    return code
}
function narrow(code,    i) {
    for (i = 1; i <= count; i++)
        code = close_up(code, operators[i])
    code = substr(with_let(" " code), 2)
    gsub(/, /, ",", code)
    gsub(/: /, ":", code)
    gsub(/; /, ";", code)
    gsub(/ ?\{ ?/, "{", code)
    gsub(/;? ?\} ?/, "}", code)
    gsub(/\) /, ")", code)
    gsub(/ \(/, "(", code)
    gsub(/ \[/, "[", code)
    gsub(/ !/, "!", code)
    gsub(/:true/, ":!0", code)
    gsub(/:false/, ":!1", code)
    gsub(/=true;/, "=!0;", code)
    gsub(/=false;/, "=!1;", code)
    gsub(/,0\./, ",.", code)
    gsub(/\(0\./, "(.", code)
    gsub(/\*0\./, "*.", code)
    while (match(code, /\([A-Za-z_$]+\)=>/))
        code = substr(code, 1, RSTART - 1) substr(code, RSTART + 1, RLENGTH - 4) "=>" substr(code, RSTART + RLENGTH)
    return code
}
# The line with all its code narrowed, also that within templates, its texts as they are; "" where there is a regular
# expression, which looks like a division.
function narrow_all(line,    i, c, result, code, inside, level, braces) {
    inside = ""
    level = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (inside != "") {
            result = result c
            if (c == "\\")
                result = result substr(line, ++i, 1)
            else if (c == inside)
                inside = ""
            else if (inside == "`" && substr(line, i, 2) == "${") {
                result = result substr(line, ++i, 1)
                inside = ""
                braces[++level] = 0
            }
        } else if (index("\"'`", c) || (c == "}" && level > 0 && braces[level] == 0)) {
            code = narrow(code)
            sub(/return $/, "return", code)
            result = result code c
            code = ""
            inside = c
            if (c == "}") {
                inside = "`"
                level--
            }
        } else if (c == "/" && substr(line, i - 1, 3) != " / ") {
            return ""
        } else {
            braces[level] += (c == "{") - (c == "}")
            code = code c
        }
    }
    return inside == "" && level == 0 ? result narrow(code) : ""
}
BEGIN {
    count = split("= => === !== && || ? : < > <= >= += -= /= * / ?? + -", operators, " ")
    printf "#include \"view/assets.h\"\n\nconst char %s[] =\n", name
    if (before != "")
        put(before)
}
{
    sub(/^[ \t]+/, "")
}
/^\/\*\*/ {
    comment = 1
}
comment {
    comment = !/\*\/$/
    next
}
/^\/\// || /^\/\*.*\*\/$/ || /^$/ {
    next
}
FILENAME ~ /js$/ {
    sub(/ \/\/ .*$/, "")
    narrowed = narrow_all($0)
    if (narrowed != "") {
        put(narrowed)
        next
    }
    first = match($0, /["'`\/]/) ? RSTART : length($0) + 1
    last = match($0, /["'`\/][^"'`\/]*$/) ? RSTART : length($0)
    $0 = narrow(substr($0, 1, first - 1)) substr($0, first, last - first + 1) narrow(substr($0, last + 1))
}
{
    put($0)
}
END {
    if (after != "")
        put(after)
    put_held(FILENAME !~ /js$/)
    print "    ;"
}
