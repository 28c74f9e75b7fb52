# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of `mpiexec -n N sight DIR` where each host has only the files of its own processes, after lib.sh.
# Hosts are mount namespaces here: each sees another directory of the same name. Needs root.
. "$srcdir/tests/cli/record_lib.sh"
# What MPI leaves to the end of the process is no leak of sight's.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
export ASAN_OPTIONS
mkdir dir small

# host COMMAND...: as on host number rank % 2, which has part.0 or part.1 as `dir`, and a disk of $DISK, or 64 kB.
cat >host <<'END'
#!/bin/sh
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
echo $$ >"pid.$rank"
exec unshare --mount sh -c 'mount --bind "$0" dir && mount -t tmpfs -o size=${DISK:-64k} none small && exec "$@"' "part.$((rank % 2))" "$@"
END
chmod +x host

# together PROCESSES COMMAND...: by so many on two hosts what a host that has all files says.
together() {
    size=$1
    shift
    wanted=0
    unshare --mount sh -c 'mount --bind all dir && exec "$@"' sh "$SIGHT" "$@" >want 2>said || wanted=$?
    rm -rf "$SIGHT_CACHE" # an index is made again
    run timeout -k 5 60 "mpiexec.$mpi" -n "$size" ./host env TMPDIR="${room:-/tmp}" "$SIGHT" "$@"
    grep '^sight: ' err >lines
    [ "$code" = "$wanted" ] && [ -s want ] && cmp -s want out && cmp -s said lines
    ok $? "$mpi: sight $* by $size processes on two hosts, each of which has a part"
}

# ends_early COMMAND...: where a file takes long to send.
ends_early() {
    for signal in KILL INT; do
        rm -f pid.*
        timeout -k 5 60 "mpiexec.$mpi" -n 2 ./host env TMPDIR="$PWD" "$SIGHT" "$@" >out 2>err &
        launcher=$!
        for second in 1 2 3 4 5 6 7 8 9; do
            sleep 1
            [ -s pid.1 ] && [ "$second" -gt 1 ] && break
        done
        alive=0
        if [ $signal = KILL ]; then
            kill -KILL "$(cat pid.1)" || alive=$?
        else
            kill -INT $launcher || alive=$? # passes it on
        fi
        code=0
        wait $launcher || code=$?
        for second in 1 2 3 4 5 6 7 8 9; do
            ls -d /proc/"$(cat pid.0)" /proc/"$(cat pid.1)" sight* /dev/shm/sight* >left 2>/dev/null
            [ -s left ] || break
            sleep 1
        done
        # MPICH's launcher says on standard output what happened, and now and then ends with 0 after Ctrl-C.
        [ $alive = 0 ] && { [ "$code" -ne 0 ] || [ $mpi$signal = mpichINT ]; } && [ "$code" -ne 124 ] && ! grep -q processes, out && [ ! -s left ]
        ok $? "$mpi: sight $*: SIG$signal while files are sent ends all, and nothing stays"
    done
}

# full_disk COMMAND...: a disk of 64 kB.
full_disk() {
    rm -f left.*
    # shellcheck disable=SC2016
    run timeout -k 5 60 "mpiexec.$mpi" -n 2 ./host sh -c '"$@"; code=$?; ls -A small >"left.$$"; exit $code' sh \
        env TMPDIR=small "$SIGHT" "$@"
    [ "$code" = 5 ] && [ "$(grep -c '^sight: ' err)" = 1 ] && grep -q 'cannot write a temporary file in small: No space left' err &&
        [ "$(cat left.* | wc -c)" = 0 ]
    ok $? "$mpi: sight $*: a full disk is one line, and nothing stays"
}

# hosts_are_here: for the MPI in $mpi; a skip says why not.
hosts_are_here() {
    mpi_is_here || return 1
    [ -f "$build/libsight-team-$mpi.so" ] && unshare --mount true 2>/dev/null && return
    skip "$mpi: several hosts" "no plug-in, or no namespaces here"
    return 1
}
