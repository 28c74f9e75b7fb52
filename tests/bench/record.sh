#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What recording costs, under each MPI that is here: each program without and with recording in one run.
#   make bench-record
: "${SIGHT:?}" "${srcdir:?}"
build=$(dirname "$SIGHT")
source=$(cd "$srcdir/tests/bench" && pwd)/pingpong.c
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-bench.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cd "$directory" || exit 1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
rounds=${1:-100000}

for mpi in mpich openmpi; do
    [ -f "$build/libsight-record-$mpi.so" ] && "mpicc.$mpi" -O2 -o pingpong "$source" 2>/dev/null || continue
    "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >plain
    "$SIGHT" record -f -o trace.clog2 -- "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >recorded 2>note
    echo "$mpi"
    # Records of a round: two ends of six each; entry, bytes and return; entry and return; three calls of two or three.
    paste plain recorded | awk '
        BEGIN { records["pingpong"] = 12; records["allreduce"] = 3; records["plain"] = 2; records["self"] = 8 }
        { printf "  %-10s %8.1f ns a round, recorded %8.1f ns: %5.2f times, %5.1f ns a record\n", $1, $2, $4, $4 / $2,
              ($4 - $2) / records[$1] }'
    sed 's/^sight: /  /' note
    mkdir left
    SIGHT_RECORD_DIR=$directory/left LD_PRELOAD=$build/libsight-record-$mpi.so "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >/dev/null
    bytes=$(cat left/*.record | wc -c)
    begin=$(date +%s%N)
    "$SIGHT" merge left -f -o trace.clog2 2>note
    end=$(date +%s%N)
    events=$(sed 's/.*: \([0-9,]*\) events.*/\1/' note | tr -d ,)
    awk -v n="$events" -v ns=$((end - begin)) -v bytes="$bytes" 'BEGIN {
        printf "  merge: %.1f million events/s; %.1f bytes an event in the buffer files\n", n / ns * 1e3, bytes / n }'
    rm -rf left
done
