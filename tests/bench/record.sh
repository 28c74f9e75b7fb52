#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What recording costs, under each MPI that is here: runs without and with recording in turn; of each the median, the least
# and the most.
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
repetitions=${2:-11}
short_runs=25
# Where it is allowed, nothing else gets the processors while two processes wait for each other.
alone=
chrt -r 1 true 2>/dev/null && alone="chrt -r 1"

for mpi in mpich openmpi; do
    [ -f "$build/libsight-record-$mpi.so" ] && "mpicc.$mpi" -O2 -o pingpong "$source" 2>/dev/null || continue
    : >pairs
    for repetition in $(seq 1 "$repetitions"); do
        $alone "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >plain
        $alone "$SIGHT" record -f -o trace.clog2 -- "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >recorded 2>note
        paste plain recorded >>pairs
    done
    echo "$mpi, $repetitions pairs of runs, one after the other"
    # Records of a round: two ends of six each; entry, bytes and return; entry and return; three calls of two or three.
    sort -s -k1,1 pairs | awk '
        function middle(n, value,    i, j, x) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && value[j] < value[j - 1]; j--) {
                    x = value[j]; value[j] = value[j - 1]; value[j - 1] = x
                }
            return (value[int((n + 1) / 2)] + value[int(n / 2) + 1]) / 2
        }
        function tell(    cost, without, with) {
            cost = middle(n, costs); without = middle(n, plains); with = middle(n, recordeds)
            printf "  %-10s %7.1f ns a round (%.1f to %.1f), recorded %7.1f ns (%.1f to %.1f): %5.2f times, %5.1f ns a record (%.1f to %.1f)\n",
                name, without, plains[1], plains[n], with, recordeds[1], recordeds[n], with / without, cost, costs[1], costs[n]
        }
        BEGIN { records["pingpong"] = 12; records["allreduce"] = 3; records["plain"] = 2; records["self"] = 8; records["nobody"] = 4 }
        name != "" && name != $1 { tell(); n = 0 }
        { name = $1; n++; plains[n] = $2; recordeds[n] = $4; costs[n] = ($4 - $2) / records[$1] }
        END { tell() }'
    sed 's/^sight: /  /' note
    mkdir left
    # What it costs to note what each call waits for (record/pending.h): against a recorder that does not, run by run,
    # in one process, so that nothing waits; many short runs, so that some are not disturbed.
    : >slots
    for repetition in $(seq 1 "$short_runs"); do
        for which in libsight-record without-pending; do
            SIGHT_RECORD_DIR=$directory/left LD_PRELOAD=$build/$which-$mpi.so "mpiexec.$mpi" -n 1 ./pingpong 20000 |
                awk -v which=$which '$1 == "nobody" { print which, $2 }' >>slots
            rm -f left/*
        done
    done
    sort -k1,1 -k2,2n slots | awk -v n="$short_runs" '
        { value[$1, ++count[$1]] = $2 }
        function middle(which) { return (value[which, int((n + 1) / 2)] + value[which, int(n / 2) + 1]) / 2 }
        END {
            printf "  of which to note what calls wait for: %.2f ns a record\n",
                (middle("libsight-record") - middle("without-pending")) / 4
        }'
    SIGHT_RECORD_DIR=$directory/left LD_PRELOAD=$build/libsight-record-$mpi.so "mpiexec.$mpi" -n 2 ./pingpong "$rounds" >/dev/null
    bytes=$(cat left/*.record | wc -c)
    begin=$(date +%s%N)
    "$SIGHT" merge left -f -o trace.clog2 2>note
    end=$(date +%s%N)
    events=$(sed 's/.*: \([0-9,]*\) events.*/\1/' note | tr -d ,)
    awk -v n="$events" -v ns=$((end - begin)) -v bytes="$bytes" 'BEGIN {
        printf "  merge: %.1f million events/s; %.1f bytes an event in the buffer files\n", n / ns * 1e3, bytes / n }'
    rm -rf left
    # Resources and samples: CPU time of the same work, recorded without and with them in turn.
    "mpicc.$mpi" -O2 -g -o work "$(dirname "$source")/work.c" 2>/dev/null || continue
    for rate in bare 0 100 250; do
        : >"work.$rate"
    done
    for repetition in $(seq 1 $((3 * repetitions))); do
        SIGHT_RECORD_RESOURCES=0 SIGHT_RECORD_SAMPLES=0 "$SIGHT" record -q -f -o work.bare.clog2 -- "mpiexec.$mpi" -n 1 ./work 500 >>work.bare
        for rate in 0 100 250; do
            SIGHT_RECORD_SAMPLES=$rate "$SIGHT" record -q -f -o "work.$rate.clog2" -- "mpiexec.$mpi" -n 1 ./work 500 >>"work.$rate"
        done
    done
    paste work.bare work.0 | awk '{ print $2 / $1 }' | sort -n | awk '{ v[NR] = $1 } END {
        printf "  resources: %.2f %% more CPU time (quartiles %.2f to %.2f)\n", 100 * (v[int((NR + 1) / 2)] - 1),
            100 * (v[int((NR + 3) / 4)] - 1), 100 * (v[int((3 * NR + 3) / 4)] - 1) }'
    for rate in 100 250; do
        samples=$("$SIGHT" info work.$rate.clog2 | awk '/samples of what/ { print $NF }' | tr -d ,)
        paste work.0 work.$rate | awk '{ print $2 / $1 }' | sort -n | awk -v rate=$rate -v samples="$samples" \
            -v with="$(wc -c <work.$rate.clog2)" -v without="$(wc -c <work.0.clog2)" '{ v[NR] = $1 } END {
            printf "  %d samples/s: %.2f %% more CPU time (quartiles %.2f to %.2f), %d samples, %.0f bytes each in CLOG-2\n", rate,
                100 * (v[int((NR + 1) / 2)] - 1), 100 * (v[int((NR + 3) / 4)] - 1), 100 * (v[int((3 * NR + 3) / 4)] - 1), samples, (with - without) / samples }'
    done
done
