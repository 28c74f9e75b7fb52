# SPDX-License-Identifier: BSD-3-Clause
# Makes the wrappers of all MPI functions that an MPI has. Standard input is its preprocessed mpi.h, which alone knows
# the exact prototypes; -v functions= is core/mpi_function.def, the names; -v hooks= is hooks.def, what recording does.
# For MPI_Send it writes:
#
#   EXPORT int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
#   {
#       struct call call;
#       if (!call_on(&call, FUNCTION_MPI_Send, CALLER, comm))
#           return PLAIN(MPI_Send)(buf, count, type, dest, tag, comm);
#       message_send(&call, count, type, dest, tag);
#       int outcome = PLAIN(MPI_Send)(buf, count, type, dest, tag, comm);
#       if (__builtin_expect(call.comm_new, 0))
#           call_comm_end(&call, comm, outcome);
#       if (outcome == MPI_SUCCESS) {
#           message_sent(&call, count, type);
#       }
#       if (outcome != MPI_SUCCESS) {
#           message_void(&call);
#       }
#       call_leave(&call);
#       return outcome;
#   }
#
# and a PMPI_Send that does the same where MPI's Fortran library or the program calls it (see real.h).

function fail(text)
{
    print "wrap.awk: " text > "/dev/stderr"
    failed = 1
    exit 1
}

function trim(text)
{
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

function read_functions(    line, field)
{
    while ((getline line < functions) > 0)
        if (line ~ /^MPI_FUNCTION\(/) {
            sub(/^MPI_FUNCTION\(/, "", line)
            split(line, field, / *, */)
            known[field[1]] = 1
            class_of[field[1]] = field[3]
        }
}

function read_hooks(    line, heading, names, n, i, when)
{
    while ((getline line < hooks) > 0) {
        if (line ~ /^#/ || line ~ /^ *$/)
            continue
        if (line ~ /^by hand /) {
            n = split(substr(line, 9), names, " ")
            for (i = 1; i <= n; i++)
                by_hand[names[i]] = 1
        } else if (line ~ /^MPI_/) {
            if (complete)
                heading = ""
            heading = heading " " line
            complete = line ~ /\)$/
            if (complete) {
                n = split(substr(heading, 1, index(heading, "(") - 1), names, " ")
                row = trim(substr(heading, index(heading, "(") + 1))
                sub(/\)$/, "", row)
                for (i = 1; i <= n; i++) {
                    if (!(names[i] in known))
                        fail("hooks.def: " names[i] " is not an MPI function")
                    row_of[names[i]] = ++rows
                    arguments_of[rows] = row
                }
                first = rows - n + 1
            }
        } else {
            line = trim(line)
            when = substr(line, 1, index(line, " ") - 1)
            if (when !~ /^(before|after|failed|always)$/)
                fail("hooks.def: '" when "' is not before, after, failed or always")
            for (i = first; i <= rows; i++)
                code[i, when] = code[i, when] "        " trim(substr(line, length(when) + 1)) "\n"
        }
    }
}

# True of what prepares a persistent collective, and has the arguments of the other one and two more.
function prepares(name)
{
    return class_of[name] == "COLLECTIVE" && name ~ /_init(_c)?$/
}

# The row of a function: its own, or that of the variant without _c, or of the collective that it prepares.
function find_row(name,    small)
{
    if (name in row_of)
        return row_of[name]
    small = name
    if (sub(/_c$/, "", small) && (small in row_of))
        return row_of[small]
    if (prepares(name) && sub(/_init$/, "", small) && (small in row_of))
        return row_of[small]
    return 0
}

# Splits "const void *buf, int n" into type[], argument[] and array[] ("[][3]"); returns how many there are.
function split_parameters(text,    n, i, at)
{
    text = trim(text)
    if (text == "void" || text == "")
        return 0
    n = split(text, parameter, ",")
    for (i = 1; i <= n; i++) {
        parameter[i] = trim(parameter[i])
        array[i] = ""
        if ((at = index(parameter[i], "["))) {
            array[i] = substr(parameter[i], at)
            parameter[i] = trim(substr(parameter[i], 1, at - 1))
        }
        if (!match(parameter[i], /[A-Za-z_][A-Za-z_0-9]*$/))
            fail("cannot read parameter '" parameter[i] "'")
        argument[i] = substr(parameter[i], RSTART)
        type[i] = trim(substr(parameter[i], 1, RSTART - 1))
    }
    return n
}

# Gives the parameters the names of the row.
function rename(name, row, n,    names, m, i, last)
{
    text = arguments_of[row] (prepares(name) ? ", info, request" : "")
    last = sub(/ last$/, "", text)
    m = split(text, names, ", *")
    if (last ? m > n : m != n)
        fail(name ": mpi.h has " n " parameters, hooks.def " m)
    for (i = 1; i <= m; i++)
        argument[i + n - m] = names[i]
}

function indent(text)
{
    gsub(/\n        /, "\n    ", text)
    sub(/^        /, "    ", text)
    return text
}

function write_wrapper(name, result, parameters,    n, i, row, list, call, comm, win, after)
{
    n = split_parameters(parameters)
    row = find_row(name)
    if (row)
        rename(name, row, n)
    list = n ? "" : "void"
    call = comm = win = ""
    for (i = 1; i <= n; i++) {
        list = list (i > 1 ? ", " : "") type[i] (type[i] ~ /\*$/ ? "" : " ") argument[i] array[i]
        call = call (i > 1 ? ", " : "") argument[i]
        if (comm == "" && type[i] == "MPI_Comm" && array[i] == "")
            comm = argument[i]
        if (win == "" && (type[i] == "MPI_Win" || name == "MPI_Win_free"))
            win = (type[i] == "MPI_Win" ? "" : "*") argument[i]
    }
    if (win ~ /^\*/)
        win = substr(win, 2) " ? " win " : MPI_WIN_NULL"
    printf "#undef %s\nEXPORT %s %s(%s)\n{\n    struct call call;\n", name, result, name, list
    if (comm == "" && type[1] ~ /^MPI_File( \*)?$/)
        printf "    if (!call_on_file(&call, FUNCTION_%s, CALLER, %s%s))\n", name,
               type[1] ~ /\*/ ? argument[1] " ? *" : "", argument[1] (type[1] ~ /\*/ ? " : MPI_FILE_NULL" : "")
    else if (comm != "")
        printf "    if (!call_on(&call, FUNCTION_%s, CALLER, %s))\n", name, comm
    else if (win != "")
        printf "    if (!call_on_window(&call, FUNCTION_%s, CALLER, %s))\n", name, win
    else
        printf "    if (!call_of(&call, FUNCTION_%s, CALLER))\n", name
    printf "        return PLAIN(%s)(%s);\n", name, call
    if (row)
        printf "%s", indent(code[row, "before"])
    printf "    %s outcome = PLAIN(%s)(%s);\n", result, name, call
    if (comm != "")
        printf "    if (__builtin_expect(call.comm_new, 0))\n        call_comm_end(&call, %s, outcome);\n", comm
    after = row ? code[row, "after"] : ""
    if ((class_of[name] ~ /^(COLLECTIVE|SYNC)$/ || name ~ /^MPI_File_i[a-z]*_.*all/) && n && type[n] ~ /^MPI_Request \*$/)
        after = after sprintf("        request_of_collective(&call, %s, %s);\n", argument[n],
                              name ~ /_init(_c)?$/ ? "true" : "false")
    if (after != "")
        printf "    if (outcome == MPI_SUCCESS) {\n%s    }\n", after
    if (row && code[row, "failed"] != "")
        printf "    if (outcome != MPI_SUCCESS) {\n%s    }\n", code[row, "failed"]
    if (row)
        printf "%s", indent(code[row, "always"])
    printf "    call_leave(&call);\n    return outcome;\n}\n\n"
    printf "#ifndef RECORD_STATIC\nDECLARE_OWN(%s);\n#undef P%s\nEXPORT %s P%s(%s)\n{\n", name, name, result, name, list
    printf "    return CALLED_BY_PROGRAM(%s) ? OWN(%s)(%s) : REAL(%s)(%s);\n}\n#endif\n\n", name, name, call, name, call
}

# One declaration of mpi.h.
function declaration(text,    open, name, result)
{
    gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", text)
    open = index(text, "(")
    if (!open)
        return
    if (text ~ /typedef|static/)
        return
    name = substr(text, 1, open - 1)
    result = name
    if (!match(name, /P?MPI_[A-Za-z_0-9]+ *$/))
        return
    name = trim(substr(name, RSTART))
    result = trim(substr(result, 1, RSTART - 1))
    sub(/^extern /, "", result)
    # Conversions of handles are no calls of communication, and MPI itself uses them in its macros.
    if (!(name in known) || (name in by_hand) || (name in done) || name ~ /_(f2c|c2f|f2f08|f082f|c2f08|f082c)$/)
        return
    done[name] = 1
    text = substr(text, open + 1)
    sub(/\)[^)]*$/, "", text)
    write_wrapper(name, result, text)
}

BEGIN {
    complete = 1
    read_functions()
    read_hooks()
    print "/* Made by wrap.awk from mpi.h, core/mpi_function.def and hooks.def. */\n#include \"record/clock.h\"\n#include \"record/collectives.h\"\n#include \"record/ending.h\"\n" \
          "#include \"record/files.h\"\n#include \"record/groups.h\"\n#include \"record/messages.h\"\n" \
          "#include \"record/pending.h\"\n#include \"record/real.h\"\n#include \"record/requests.h\"\n#include \"record/sessions.h\"\n" \
          "#include \"record/windows.h\"\n\n" \
          "/* Programs may call what is deprecated. */\n#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
}

!/^#/ { header = header "\n" $0 }

END {
    if (failed)
        exit 1
    n = split(header, declarations, ";")
    for (k = 1; k <= n; k++)
        declaration(declarations[k])
}
