# SPDX-License-Identifier: BSD-3-Clause
# Writes texts as one C string: awk -v name=asset_x [-v before=... -v after=...] -f embed.awk FILE...
# Indentation, comments and, outside of what may be quoted, blanks around operators are left out.
function put(line) {
    gsub(/\\/, "&&", line)
    gsub(/["?]/, "\\\\&", line)
    printf "    \"%s%s\"\n", line, FILENAME ~ /js$/ && line ~ /[{(,;[]$/ ? "" : "\\n"
}
# `part` of the line without the blanks around it.
function close_up(line, part,    at) {
    while ((at = index(line, " " part " ")) > 0)
        line = substr(line, 1, at - 1) part substr(line, at + length(part) + 2)
    return line
}
function narrow(code,    i) {
    for (i = 1; i <= count; i++)
        code = close_up(code, operators[i])
    gsub(/, /, ",", code)
    gsub(/; /, ";", code)
    gsub(/ ?\{ /, "{", code)
    gsub(/ \}/, "}", code)
    gsub(/\) \{/, "){", code)
    gsub(/if \(/, "if(", code)
    gsub(/for \(/, "for(", code)
    return code
}
BEGIN {
    count = split("= => === !== && || ? : < > <= >= += * / ??", operators, " ")
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
    print "    ;"
}
