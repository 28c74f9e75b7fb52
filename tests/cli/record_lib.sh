# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests that record, after lib.sh: programs of tests/programs built for the MPI in $mpi, recorded, and
# compared with what they know of themselves. Goes into the test's directory.
# Relative names would be lost with the change of the directory.
programs=$(cd "$srcdir/tests/programs" && pwd)
headers=$(cd "$srcdir/src/record" && pwd)
build=$(dirname "$SIGHT")
cd "$directory" || exit 1
# Open MPI refuses to run as root, and more processes than cores, by default.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe

# compile PROGRAM [OPTIONS...]: for the MPI in $mpi.
compile() {
    program=$1
    shift
    if [ -f "$programs/$program.f90" ]; then
        "mpifort.$mpi" -fallow-argument-mismatch -w -o "$program" "$programs/$program.f90" "$@" 2>compile.err
    else
        "mpicc.$mpi" -w -O1 -o "$program" "$programs/$program.c" -lpthread -lm "$@" 2>compile.err
    fi
}

# The truth that a program printed into file out, and the same from a trace, as lines that can be compared.
truth_of() {
    grep '^sent,\|^received,' out | sort
}
messages_of() {
    for table in sent received; do
        "$SIGHT" metrics --format csv --table $table "$1" | tail -n +2 | sed "s/^/$table,/"
    done | sort
}
calls_of() {
    "$SIGHT" metrics --format csv --table functions "$1" | awk -F, 'NR > 1 { print "call," $1 "," $2 "," $4 }' | sort
}

record() { # record CODE PROCESSES PROGRAM [ARGUMENTS...]: leaves trace.clog2, out, err
    want=$1
    processes=$2
    shift 2
    mkdir -p truth && rm -f truth/*
    run env TRUTH_DIR="$PWD/truth" timeout -k 5 60 "$SIGHT" record $options -f -o trace.clog2 -- "mpiexec.$mpi" -n "$processes" "./$@"
    cat truth/* >>out 2>/dev/null
    [ "$want" = any ] || [ "$code" = "$want" ] || {
        echo "# code $code, wanted $want"
        sed 's/^/# /' err
    }
    [ "$want" = any ] || [ "$code" = "$want" ]
    ok $? "$mpi: $*: exit code is the program's"
}

messages() { # messages PROCESSES PROGRAM [ARGUMENTS...]: all messages as the program counted them
    compile "$2" || {
        skip "$mpi: $2" "does not compile"
        return
    }
    record 0 "$@"
    shift
    truth_of >expected
    messages_of trace.clog2 >got
    same "$mpi: $*: messages and bytes per partner" expected got
    "$SIGHT" info trace.clog2 >info
    awk '/sends without a receive|receives without a send|received before they were sent|partner unknown/ { n += $NF }
         END { exit n != 0 }' info
    ok $? "$mpi: $*: every message has both ends, none is received before it is sent"
}

# The truth in file $1 and the messages of trace $2 are the same.
equal() {
    grep '^sent,\|^received,' "$1" | sort >expected
    messages_of "$2" >got
    same "$3" expected got
}

# No message of the trace is received before it is sent, but for what one cannot measure where all processes share few
# cores: 5 ms.
clocks_agree() {
    "$SIGHT" info --format json "$1" | awk -F'[:,]' '/"clock_error_s"/ { found = 1; if ($2 > 0.005) exit 1 }
        END { exit !found }'
}

options=

# True if $mpi is here, with a recorder for it; else it is said.
mpi_is_here() {
    [ -f "$build/libsight-record-$mpi.so" ] && command -v "mpiexec.$mpi" "mpicc.$mpi" >/dev/null && return
    skip "$mpi" "not here"
    return 1
}
