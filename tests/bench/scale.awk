#!/usr/bin/awk -f
# SPDX-License-Identifier: BSD-3-Clause
# The model of docs/scale.md: how long `mpiexec -n N sight metrics` takes with more processes than there are here. Each
# rank of the tree of share_reduce (engine/sharing.c) is simulated; costs are those measured on one machine.
#   awk -f scale.awk [-v locations=1000000] [-v records=1000000000] [-v bytes_per_s=1e9]
BEGIN {
    if (!locations) locations = 1000000
    if (!records) records = 1000000000
    if (!bytes_per_s) bytes_per_s = 1e9
    read_s = 20e-9         # a record, by one process
    size = 1440            # bytes of a location's sums
    pack_s = 0.75e-6       # of a location
    unpack_s = 0.75e-6
    merge_s = 0.42e-6
    printf "%8s %12s %12s %12s %14s\n", "ranks", "reading", "merging", "all", "most memory"
    count = split("1 2 4 8 16 64 256 1000 10000", ranks)
    for (i = 1; i <= count; i++)
        simulate(ranks[i] + 0)
}

# A slice of the file has records of all locations, so that no share becomes smaller on its way up.
function simulate(ranks,    rank, step, from, sent, all) {
    for (rank = 0; rank < ranks; rank++)
        ready[rank] = records / ranks * read_s
    sent = locations * (pack_s + size / bytes_per_s)
    for (step = 1; step < ranks; step *= 2)
        for (rank = 0; rank + step < ranks; rank += 2 * step) {
            from = ready[rank + step] + sent
            ready[rank] = (from > ready[rank] ? from : ready[rank]) + locations * (unpack_s + merge_s)
        }
    all = ready[0] + (ranks > 1 ? sent + locations * unpack_s : 0)
    printf "%8d %10.2f s %10.2f s %10.2f s %11.1f MB\n", ranks, records / ranks * read_s,
           all - records / ranks * read_s, all, locations * size * (ranks > 1 ? 3 : 1) / 1e6
}
