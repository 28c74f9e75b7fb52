#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sets everything up on Debian 12 and runs the main job (`run`) or all tests (`test`).
set -eu
cd "$(dirname "$0")/.."

what=${1:-run}
packages="gcc make autoconf automake pkg-config libxml2-dev libxml2-utils libpango1.0-dev libcairo2-dev fonts-dejavu-core zlib1g-dev libzstd-dev zstd libdw-dev libiberty-dev libmicrohttpd-dev libsqlite3-dev libedit-dev libyajl-dev libopen-trace-format2-dev mpich libmpich-dev"
if [ "$what" = test ]; then
    packages="$packages clang libclang-rt-dev clang-format clang-tidy python3 python3-numpy universal-ctags mandoc tidy poppler-utils chromium chromium-driver
        openmpi-bin libopenmpi-dev gfortran otf2-tools python3-otf2 python3-mpi4py"
fi

install_packages() {
    missing=
    for package in $packages; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get -qq update
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq install -y --no-install-recommends $missing >/dev/null
}

jobs=$(nproc 2>/dev/null || echo 1)

build() { # build DIRECTORY CONFIGURE-ARGUMENTS...
    directory=$1
    shift
    mkdir -p "$directory"
    (cd "$directory" && ../configure -q "$@" && make -s -j"$jobs")
}

run_sample() {
    sight=build/sight
    trace=samples/sort_good_8.clog2
    "$sight" "$trace"
    printf '\n'
    "$sight" metrics "$trace"
    printf '\n'
    "$sight" heuristics "$trace"
    "$sight" convert "$trace" -f -o build/sort_good_8.xml
    cp dtd/sight.dtd build/
    xmllint --noout --nonet --valid build/sort_good_8.xml
    "$sight" report "$trace" -f -o build/sort_good_8.html
    printf '\n== recording one of our programs\n'
    mpicc.mpich -w -g -O2 -o build/jacobi tests/programs/jacobi.c -lm
    (cd build && ./sight run -f -n 2 -o jacobi.clog2 -- ./jacobi 400 50)
    printf '\nbuild/jacobi.clog2 is that recording.\n'
    printf 'build/sort_good_8.html is the report to look at, with charts.\n'
    printf 'build/sort_good_8.xml is the trace as XML, valid against dtd/sight.dtd.\n'
    printf 'The program is build/sight: try build/sight --help\n'
}

# What only the packages need is not worth a failure where it cannot be had.
try_debs() {
    packages="debhelper lintian"
    (install_packages) || true
    if ! command -v dh >/dev/null || ! command -v lintian >/dev/null; then
        printf 'skipped: debhelper and lintian cannot be installed\n'
        return 0
    fi
    (cd build-gcc && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs" make -s deb >deb.log 2>&1) ||
        { tail -n 40 build-gcc/deb.log; exit 1; }
    sh tools/try_debs.sh build-gcc/deb
}

# Tests wait for processes much of the time: the analyser takes what they leave of the cores.
start_analyser() {
    (cd build-gcc && NODES=20000 exec nice -n 19 make -s analyse >analyse.log 2>&1) &
    analyser=$!
    trap 'kill "$analyser" 2>/dev/null || true' EXIT
}

finish_analyser() {
    code=0
    wait "$analyser" || code=$?
    trap - EXIT
    cat build-gcc/analyse.log
    return $code
}

run_tests() {
    printf '== formatting\n'
    git ls-files 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' 2>/dev/null | xargs -r clang-format --dry-run -Werror
    printf '== gcc, warnings as errors, all tests\n'
    # Line numbers are all that reports need of debug information: less of it is less to compile and to link.
    build build-gcc CC=gcc --enable-werror CFLAGS='-O2 -g1'
    SIGHT_TEST_AGAIN=$PWD/build-gcc/failed_once # see tests/cli/again.sh
    export SIGHT_TEST_AGAIN
    : >"$SIGHT_TEST_AGAIN"
    start_analyser
    # Tests wait much of the time: half as many again run as there are cores.
    (cd build-gcc && VERBOSE=1 make -s -j"$((jobs + jobs / 2))" check)
    printf '== the distribution: clang, warnings as errors, AddressSanitizer and UndefinedBehaviorSanitizer, all tests (parts of the longest)\n'
    (cd build-gcc && VERBOSE=1 SIGHT_TEST_KILLS=1 SIGHT_TEST_BRIEF=1 make -s -j"$((jobs + jobs / 2))" distcheck \
        DISTCHECK_CONFIGURE_FLAGS="CC=clang --enable-werror --enable-sanitize CFLAGS='-O1 -gline-tables-only'" >distcheck.log 2>&1) ||
        { grep -B 12 -A 8 '^not ok\|^ERROR\|rror:' build-gcc/distcheck.log | tail -n 150; tail -n 40 build-gcc/distcheck.log; exit 1; }
    cat "$SIGHT_TEST_AGAIN"
    printf '== static analyser\n'
    finish_analyser
    printf '== without the optional libraries\n'
    build build-least CC=gcc CFLAGS=-O0 --enable-werror --without-zlib --without-zstd --without-libdw --without-libiberty --without-microhttpd --without-otf2 --without-yajl --without-sqlite --without-libedit
    build-least/sight --version
    build-least/sight metrics --format csv samples/sort_good_8.clog2 >/dev/null
    # Packaging changes rarely, and the rest takes long enough.
    if [ -n "${SIGHT_TEST_DEBS:-}" ]; then
        printf '== Debian packages\n'
        try_debs
    fi
    printf 'all tests passed\n'
}

install_packages
autoreconf -fi >/dev/null 2>&1 || autoreconf -fi
case $what in
run)
    build build
    run_sample
    ;;
test) run_tests ;;
*)
    echo "usage: sh tools/setup.sh run|test" >&2
    exit 2
    ;;
esac
