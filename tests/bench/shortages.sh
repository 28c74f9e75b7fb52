#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How often the diagnosis names the resource that is short, and names none where nothing is: tests/programs/planted_shortage.c,
# N runs of each kind. Needs root for hosts and limits, which are namespaces.
#   make shortage-accuracy N=40 MPI=mpich KINDS="page none"
: "${SIGHT:?}" "${srcdir:?}"
mpi=${MPI:-mpich}
number=${N:-40}
kinds=${KINDS:-shared-core slow-node page read fsync grow write none}
source=$(cd "$srcdir/tests/programs" && pwd)/planted_shortage.c
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-shortages.XXXXXX")
trap 'rm -rf "$directory"; [ -z "$hog" ] || kill "$hog" 2>/dev/null' EXIT
hog=
cd "$directory" || exit 1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
"mpicc.$mpi" -O1 -g -o planted "$source" || exit 1
# What processes may have, in place of the machine's control groups: 200 MB of memory.
cat >limited <<'END'
mount -t tmpfs none /sys/fs/cgroup && echo 200000000 >/sys/fs/cgroup/memory.max && exec "$@"
END
record() {
    "$SIGHT" record -q -f -o trace.clog2 -- "$@" >out 2>&1 || cat out
}
for kind in $kinds; do
    for run in $(seq 1 "$number"); do
        launch="mpiexec.$mpi -n 2"
        expected=$kind
        case $kind in
        shared-core)
            expected="shared-core idle-core"
            # Open MPI would bind each of two processes to a core of its own.
            [ "$mpi" != openmpi ] || launch="$launch --bind-to none"
            # shellcheck disable=SC2086
            record taskset -c 0 $launch ./planted none
            ;;
        slow-node)
            # Another program has the second host's core as well, and comes first.
            taskset -c 1 sh -c 'while :; do :; done' &
            hog=$!
            record "mpiexec.$mpi" -n 1 taskset -c 0 ./planted none : \
                -n 1 nice -n 15 taskset -c 1 unshare --uts sh -c 'hostname far && exec ./planted none'
            kill $hog
            wait $hog 2>/dev/null
            hog=
            ;;
        grow)
            expected=memory-growth
            # shellcheck disable=SC2086
            record unshare --mount --cgroup sh limited $launch ./planted grow
            ;;
        *)
            # shellcheck disable=SC2086
            record $launch ./planted $kind
            ;;
        esac
        case $kind in
        page) expected=paging ;;
        read | fsync) expected=disk-wait ;;
        write | none) expected= ;;
        esac
        "$SIGHT" diagnose --format json -f -o diagnosis trace.clog2
        python3 -c '
import json, sys
kind, expected = sys.argv[1], set(sys.argv[2].split())
names = {"shared-core", "idle-core", "slow-node", "paging", "disk-wait", "memory-growth"}
got = [f["id"] for f in json.load(open("diagnosis"))["findings"] if f["id"] in names]
print(kind, "right" if set(got) == expected else "wrong", *got)' "$kind" "$expected"
    done
done | tee cases | grep wrong
awk '{ all[$1]++; right[$1] += $2 == "right" } END { for (k in all) printf "%s: %d of %d right\n", k, right[k], all[k] }' cases | sort
