#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make analyse: the static analyser (clang-tidy, with the checks of .clang-tidy) over all sources. Run it in the build
# directory; CPPFLAGS holds what the sources need to be parsed. NODES: so many states of a function are looked at (the
# analyser's own limit is 225,000; a third of them takes a third of the time). Any finding is an error.
set -eu
: "${srcdir:?}" "${CPPFLAGS:?}"
CPPFLAGS="$CPPFLAGS -Xclang -analyzer-config -Xclang max-nodes=${NODES:-225000}"
jobs=$(nproc 2>/dev/null || echo 1)
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-analyse.XXXXXX")
trap 'rm -rf "$directory"' EXIT

# An analyser that finds nothing must first show that it can.
cat >"$directory/planted.c" <<'C'
#include <stdlib.h>
int planted(size_t size);
int planted(size_t size)
{
    char *block = malloc(size);
    if (!block)
        return 1;
    block[0] = 0;
    free(block);
    return block[0];
}
C
analyse() { # analyse FILE...: prints findings; fails where there are any
    # shellcheck disable=SC2086
    clang-tidy --quiet --config-file="$srcdir/.clang-tidy" "$@" -- -std=c17 -DHAVE_CONFIG_H $CPPFLAGS 2>"$directory/noise"
}
if analyse "$directory/planted.c" >"$directory/planted.log" || ! grep -q 'clang-analyzer-unix.Malloc' "$directory/planted.log"; then
    echo "analyse: clang-tidy does not find a planted use of freed memory" >&2
    exit 1
fi

# What includes mpi.h is parsed with an MPI's headers, where there is one.
cd "$srcdir"
find src -name '*.c' ! -path 'src/record/*' ! -path src/team/team_mpi.c | sort >"$directory/files"
cd - >/dev/null
export srcdir directory CPPFLAGS
found=0
sed "s|^|$srcdir/|" "$directory/files" | xargs -P "$jobs" -n 8 sh -c '
    clang-tidy --quiet --config-file="$srcdir/.clang-tidy" "$@" -- -std=c17 -DHAVE_CONFIG_H $CPPFLAGS 2>/dev/null' analyse \
    >"$directory/log" || found=1
grep -E 'warning:|error:' "$directory/log" || true
if [ $found != 0 ]; then
    tail -n 40 "$directory/log"
    exit 1
fi
echo "analyse: $(wc -l <"$directory/files") files, no finding"
