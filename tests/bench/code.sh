#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How often the diagnosis names the function that one process computes longer in, and names none where all compute alike:
# tests/programs/planted_code.c, N programs of each kind, recorded as by default. Every third seed is kept apart from those
# that rules were tried on. LANGUAGE=python: planted_code.py, where the finding must have its file and a line of the function,
# too; the late process then computes TIMES as much longer.
#   make code-accuracy N=40 MPI=mpich
#   make code-accuracy N=20 MPI=openmpi LANGUAGE=python TIMES=5
: "${SIGHT:?}" "${srcdir:?}"
mpi=${MPI:-mpich}
number=${N:-40}
processes=${PROCESSES:-3}
programs=$(cd "$srcdir/tests/programs" && pwd)
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-code.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cd "$directory" || exit 1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
if [ "${LANGUAGE:-c}" = python ]; then
    planted() {
        "$SIGHT" record -q -f -o trace.clog2 -- "mpiexec.$mpi" -n "$processes" /usr/bin/python3 "$programs/planted_code.py" "$@" "${TIMES:-1}"
    }
else
    "mpicc.$mpi" -O1 -g -o planted_code "$programs/planted_code.c" || exit 1
    planted() {
        "$SIGHT" record -q -f -o trace.clog2 -- "mpiexec.$mpi" -n "$processes" ./planted_code "$@"
    }
fi
for kind in ${KINDS:-late even}; do
    for seed in $(seq 1 "$number"); do
        planted "$seed" $kind >truth 2>err || cat err
        "$SIGHT" diagnose --format json -f -o diagnosis trace.clog2
        python3 -c '
import json, sys
seed, truth = int(sys.argv[1]), open("truth").read().strip().split(",")
found = [f for f in json.load(open("diagnosis"))["findings"] if f["code"]]
code = found[0]["code"][0] if found else {"name": "nothing"}
name = code["name"]
who = found[0]["causes"] if found else []
good = name == "nothing" if truth[0] == "even" else name == truth[2] and who == [int(truth[1])]
if good and len(truth) > 4:
    good = code["file"].endswith("/planted_code.py") and int(truth[4]) <= code["line"] <= int(truth[5])
print(truth[0], "apart" if seed % 3 == 0 else "tried", "right" if good else "wrong", seed, name, who, *truth[1:])' "$seed"
    done
done | tee cases | grep wrong
sort cases | awk '{ all[$1 " " $2]++; right[$1 " " $2] += $3 == "right" } END { for (k in all) printf "%s: %d of %d right\n", k, right[k], all[k] }' | sort
