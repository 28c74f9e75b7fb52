#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make bench-parallel: metrics and diagnoses by threads, by processes of an MPI launcher, and metrics of compressed traces
# and OTF2 archives, as ratios against one thread in the same run. Prints; judges nothing.
#   parallel.sh [RECORDS]   (default 10,000,000; files of about 50 bytes a record go to TMPDIR)
set -eu
: "${SIGHT:?}" "${bench:?}" "${srcdir:?}"
records=${1:-10000000}
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-bench.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cd "$directory"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe

# All ways in turn, five times: the least wall and processor seconds of each, and the largest process.
cat >ways.py <<'P'
import os, shutil, subprocess, sys, time
sight, trace, records, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
base = [sight, what, "-q", "--format", "json"]
ways = [("1 thread", base + ["-j", "1", trace])]
if trace.endswith(".clog2"):
    ways += [("2 threads", base + ["-j", "2", trace])]
if trace.endswith(".clog2") and what == "metrics":
    ways += [("1 thread, .zst", base + ["-j", "1", trace + ".zst"]),
             ("2 threads, .zst", base + ["-j", "2", trace + ".zst"])]
for mpi in "mpich", "openmpi":
    launcher, plugin = "mpiexec." + mpi, os.path.join(os.path.dirname(sight), "libsight-team-%s.so" % mpi)
    if shutil.which(launcher) and os.path.exists(plugin):
        ways += [("%d process%s, %s" % (n, "es"[:2 * (n > 1)], mpi), [launcher, "-n", str(n)] + base + ["-j", "1", trace])
                 for n in (1, 2)]
best = {}
for _ in range(5):
    for name, command in ways:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        row = (time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, status)
        best[name] = tuple(map(min, row, best[name])) if name in best else row
one = best["1 thread"][0]
for name, (wall, cpu, kb, status) in best.items():
    print("  %-22s %8.3f s %8.1f M records/s %8.2f times %9.3f s CPU %8.1f MB%s" %
          (name, wall, records / wall / 1e6, one / wall, cpu, kb / 1e3, "  FAILED" * (status != 0)))
P

for pattern in pingpong halo allreduce; do
    "$bench/generate" clog2 $pattern 64 "$records" $pattern.clog2
    "$SIGHT" convert -q $pattern.clog2 -o $pattern.clog2.zst
    echo "$pattern, $records records: $(stat -c %s $pattern.clog2) bytes, $(stat -c %s $pattern.clog2.zst) compressed"
    python3 ways.py "$SIGHT" $pattern.clog2 "$records" metrics
    echo "$pattern, diagnosis"
    python3 ways.py "$SIGHT" $pattern.clog2 "$records" diagnose
    if "$SIGHT" convert -q $pattern.clog2 -o $pattern.otf2 2>/dev/null; then
        echo "$pattern as an OTF2 archive"
        python3 ways.py "$SIGHT" $pattern.otf2 "$records" metrics
    fi
    rm -r $pattern.clog2 $pattern.clog2.zst $pattern.otf2
done

# What each process of sight takes.
cat >rank.py <<'P'
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, close_fds=False) # MPICH's launcher has left one open
_, status, usage = os.wait4(process.pid, 0)
rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
with open("ranks", "a") as file: # a short line is written at once
    file.write("%d %.3f %.1f %d\n" % (rank, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, status))
P

ranks() { # ranks COMMAND TRACE: by one and eight processes, more than there are cores
    for n in 1 8; do
        for mpi in mpich openmpi; do
            command -v mpiexec.$mpi >/dev/null && [ -f "${SIGHT%/*}/libsight-team-$mpi.so" ] || continue
            rm -f ranks
            mpiexec.$mpi -n $n python3 rank.py "$SIGHT" "$1" -q --format json -j 1 "$2"
            awk -v name="$1, $n process$([ $n = 1 ] || echo es), $mpi" '$1 == 0 { cpu = $2; mb = $3 }
                $1 > 0 && $2 > most { most = $2 } $1 > 0 && $3 > large { large = $3 } $4 { failed = "  FAILED" }
                END { printf "  %-30s process 0: %7.3f s CPU, %7.1f MB", name, cpu, mb
                      if (NR > 1) printf "; others up to %7.3f s, %7.1f MB", most, large
                      print failed }' ranks
        done
    done
}

"$bench/generate" clog2 pingpong 65536 "$records" many.clog2
echo "65,536 processes, $records records"
ranks metrics many.clog2
rm many.clog2

# Read where it is, without merging it.
for mpi in mpich openmpi; do
    recorder=${SIGHT%/*}/libsight-record-$mpi.so
    command -v mpicc.$mpi >/dev/null && [ -f "$recorder" ] || continue
    mpicc.$mpi -w -O1 -o own_messages "$srcdir/tests/programs/own_messages.c" && mkdir recording || exit 1
    SIGHT_RECORD_DIR=$PWD/recording LD_PRELOAD=$recorder mpiexec.$mpi -n 64 ./own_messages $((records / 1000))
    echo "unmerged recording of 64 processes: $(du -sm recording | cut -f 1) MB"
    ranks metrics recording
    ranks diagnose recording
    break
done
