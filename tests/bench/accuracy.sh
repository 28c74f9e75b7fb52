#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make accuracy: how often is the diagnosis right? Programs with one problem planted are recorded: the first finding must be it, and
# name the process. The same programs without the problem must give no finding. Prints the table of docs/accuracy.md. No part of
# make check: on a busy machine the waits that it causes are true, and are found.
set -eu
: "${SIGHT:?}" "${srcdir:?}"
programs=$(cd "$srcdir/tests/programs" && pwd)
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-accuracy.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cd "$directory"
# Open MPI gives its core away while it waits, so that more processes than cores disturb each other least.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle
: "${MPI:=openmpi}" "${SIZES:=2 4 8 16}"
mpicc.$MPI -O1 -w -o planted "$programs/planted.c" -lm
mpicc.$MPI -O1 -w -o planted_traffic "$programs/planted_traffic.c" -lm
right_bad=0 all_bad=0 right_clean=0 all_clean=0 shared=0

# "id causes share root" of the first finding; "- - 0% -" where there is none.
first() {
    "$SIGHT" heuristics --format json run.clog2 | python3 -c '
import json, sys
found = json.load(sys.stdin)["findings"]
if found:
    print(found[0]["id"], ",".join(map(str, found[0]["causes"])) or "-", "%.0f%%" % (100 * found[0]["share"]), found[0]["root"] or "-")
else:
    print("- - 0% -")'
}

judge() { # judge PROCESSES PATTERN RANK clean|bad, of $program
    "$SIGHT" record -q -f -o run.clog2 -- mpiexec.$MPI -n "$1" "./$program" "$2" "$3" "$4" >truth.out 2>record.err
    read -r wanted culprit <truth.out
    # A program in which nothing is wrong, whichever way it is run.
    [ "$wanted" != - ] || set -- "$1" "$2" "$3" clean
    # shellcheck disable=SC2046
    set -- "$@" $(first)
    right=no
    if [ "$4" = clean ]; then
        wanted=none
        culprit=-
        [ "$5" != - ] || right=yes
        all_clean=$((all_clean + 1))
        [ $right = no ] || right_clean=$((right_clean + 1))
    else
        case ",$wanted," in
        *",$8,"*) right=yes ;; # it names what was planted as its root
        *",$5,"*) if [ "$culprit" = - ] || [ "$5" = serialisation ] || [ "$6" = "$culprit" ]; then right=yes; fi ;;
        esac
        all_bad=$((all_bad + 1))
        [ $right = no ] || right_bad=$((right_bad + 1))
    fi
    [ $right = yes ] || [ "$5" != oversubscription ] || shared=$((shared + 1))
    echo "| $1 | $2 | $(echo "$wanted" | sed 's/,/ or /g') | $culprit | $5$([ "$8" = - ] || echo ", from $8") | $6 | $7 | $right |"
}

echo '| processes | pattern | planted | by process | first finding | by process | could save | right |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
program=planted
for processes in $SIZES; do
    for pattern in barrier allreduce reduce gather early-reduce ring halo transient late-start turns synchronising idle broadcast late-sender late-receiver late-post \
        nonblocking scan neighbours inter wrong-order contention \
        window-fence window-late-post window-early-wait window-late-complete window-lock; do
        # Two processes cannot queue for a third.
        [ $pattern != contention ] || [ $processes -gt 2 ] || continue
        judge $processes $pattern $((processes / 2)) bad
        judge $processes $pattern 0 clean
    done
done
program=planted_traffic
for pattern in stage consumer consumer-later sparse-random sparse-rotating sparse-ring probe-spinning probe-sleeping test-one test-all \
    test-any test-meanwhile gather-all halo-uneven small-exchanges small-later two-problems two-problems-rooted late-root late-scatter; do
    case $pattern in consumer* | probe-spinning) processes=3 ;; *) processes=4 ;; esac
    judge $processes $pattern 1 bad
    judge $processes $pattern 1 clean
done
printf '\nPlanted: %s of %s found first. Clean: %s of %s without finding. Of the others %s shared cores.\n' \
    $right_bad $all_bad $right_clean $all_clean $shared
