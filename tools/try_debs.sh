#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# try_debs.sh DIRECTORY: are the Debian packages in it complete? Unpacks them into a folder and runs what needs no
# installation; as root it installs them, records a program under each MPI, and removes them again. Run from the folder
# of the sources.
set -eu
directory=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
names="sight sight-recorder-mpich sight-recorder-openmpi libsight1 libsight-dev python3-sight sight-doc"

fail() {
    echo "Debian packages: $1" >&2
    exit 1
}

files=
for name in $names; do
    file=$(ls "$directory/${name}"_*.deb) || fail "$name is missing"
    files="$files $(realpath "$file")"
    dpkg-deb -x "$file" "$scratch/root"
done

# The programs that link to nothing of ours run from where they are unpacked.
library=$(dirname "$scratch"/root/usr/lib/*/libsight.so.1)
"$scratch/root/usr/bin/sight" --version >"$scratch/version"
"$scratch/root/usr/bin/sight" explain samples/sort_good_8.clog2 >/dev/null
# A manual is there for each command, and can be shown.
"$scratch/root/usr/bin/sight" completion bash >"$scratch/completion"
cmp -s "$scratch/completion" "$scratch/root/usr/share/bash-completion/completions/sight" || fail "completion differs"
for page in man/*.[0-9]; do
    section=${page##*.}
    gzip -dc "$scratch/root/usr/share/man/man$section/$(basename "$page").gz" | cmp -s - "$page" || fail "$page differs"
done
for mpi in mpich openmpi; do
    for kind in record team; do
        [ -f "$library/sight/libsight-$kind-$mpi.so" ] || fail "libsight-$kind-$mpi.so is missing"
    done
done
# The header and the library are those that pkg-config describes.
cat >"$scratch/version.c" <<'END'
#include <sight.h>
#include <stdio.h>
int main(void)
{
    return puts(sight_version()) < 0;
}
END
${CC:-cc} -I"$scratch/root/usr/include" -o "$scratch/version.out" "$scratch/version.c" -L"$library" -lsight
LD_LIBRARY_PATH=$library "$scratch/version.out" >/dev/null
if python3 -c 'import numpy' 2>/dev/null; then
    LD_LIBRARY_PATH=$library PYTHONPATH=$scratch/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
        python3 -c 'import sight; assert len(sight.open("samples/sort_good_8.clog2").messages()["bytes"]) == 207'
fi

if [ "$(id -u)" != 0 ] || [ -e /usr/bin/sight ]; then
    echo "Debian packages: unpacked and tried; not installed (that takes root, and no other sight in /usr)"
    exit 0
fi

# Whatever happens: the machine is left without them.
remove() {
    attempts=0
    # Another program may hold the lock of the package manager for a moment.
    # shellcheck disable=SC2086
    until dpkg --purge $names >"$scratch/remove" 2>&1 || [ $((attempts += 1)) = 60 ]; do
        sleep 1
    done
    rm -rf "$scratch"
}
trap remove EXIT
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 install --no-install-recommends $files \
    >"$scratch/install" 2>&1 || {
    cat "$scratch/install"
    fail "cannot be installed"
}
cmp -s "$scratch/version" - <<END || fail "the installed sight is another"
$(/usr/bin/sight --version)
END
# Open MPI refuses to run as root, and more processes than cores, by default.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
source=$PWD
for mpi in mpich openmpi; do
    (
        cd "$scratch"
        "mpicc.$mpi" -w -O1 -o "jacobi-$mpi" "$source/tests/programs/jacobi.c" -lm
        sight record -f -o "record-$mpi.clog2" -- "mpiexec.$mpi" -n 2 "./jacobi-$mpi" 200 20 >/dev/null
        # From here on, the launcher is the one that fits the program.
        sight run -f -n 2 -o "run-$mpi.clog2" -- "./jacobi-$mpi" 200 20 >"run-$mpi"
        for trace in "record-$mpi.clog2" "run-$mpi.clog2"; do
            sight info "$trace" | grep -q 'processes *2$' || exit 1
        done
    ) || fail "cannot record under $mpi"
done
echo "Debian packages: installed, tried under both MPIs, removed"
