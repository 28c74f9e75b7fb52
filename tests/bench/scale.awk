#!/usr/bin/awk -f
# SPDX-License-Identifier: BSD-3-Clause
# The model of docs/scale.md: how long `mpiexec -n N sight metrics` takes with more processes than there are here. Each
# rank of the trees of share_reduce (engine/sharing.c) is simulated, for the division that slices_plan (timeline/slices.c)
# would choose; costs are those measured on one machine.
#   awk -f scale.awk [-v locations=1000000] [-v records=1000000000] [-v bytes_per_s=1e9]
BEGIN {
    if (!locations) locations = 1000000
    if (!records) records = 1000000000
    if (!bytes_per_s) bytes_per_s = 1e9
    skip_s = 8e-9          # a record that is read, by one process
    add_s = 12e-9          # one that is added up, too
    size = 1440            # bytes of a location's sums
    pack_s = 0.75e-6       # of a location
    unpack_s = 0.75e-6
    merge_s = 0.42e-6
    printf "%8s %8s %8s %12s %12s %12s %14s %14s\n", "ranks", "slices", "groups", "reading", "merging", "all",
           "most memory", "least"
    count = split("1 2 4 8 16 64 256 1000 10000", ranks)
    for (i = 1; i <= count; i++)
        choose(ranks[i] + 0)
}

# The same as plan_cost; groups have at least 1,024 locations.
function choose(ranks,    groups, slices, cost, least, best_slices, best_groups) {
    least = -1
    for (groups = 1; groups <= ranks && (groups == 1 || groups <= locations / 1024); groups++)
        for (slices = 1; slices * groups <= ranks; slices++) {
            cost = reading(slices, groups) + levels(slices) * locations / groups * 3.36e-6
            if (least < 0 || cost < least) {
                least = cost
                best_slices = slices
                best_groups = groups
            }
        }
    simulate(ranks, best_slices, best_groups)
}

function levels(count,    n) {
    for (n = 0; count > 1; count /= 2)
        n++
    return n
}

function reading(slices, groups) {
    return records / slices * (skip_s + add_s / groups)
}

# A slice has records of all locations of its group, so that no share becomes smaller on its way up; a group has its own.
function simulate(ranks, slices, groups,    one, group, held, all, step, from, ready, carried) {
    one = locations / groups
    held = tree(slices, one, reading(slices, groups))
    for (group = 0; group < groups; group++) {
        ready[group] = held
        carried[group] = one
    }
    for (step = 1; step < groups; step *= 2)
        for (group = 0; group + step < groups; group += 2 * step) {
            from = ready[group + step] + sending(carried[group + step])
            ready[group] = (from > ready[group] ? from : ready[group]) + carried[group + step] * (unpack_s + merge_s)
            carried[group] += carried[group + step]
        }
    all = ready[0]
    if (slices > 1)
        all += sending(locations) + locations * unpack_s
    printf "%8d %8d %8d %10.2f s %10.2f s %10.2f s %11.1f MB %11.1f MB\n", ranks, slices, groups,
           reading(slices, groups), all - reading(slices, groups), all,
           locations * size * (slices > 1 ? 3 : groups > 1 ? 2 : 1) / 1e6, one * size * (slices > 1 ? 3 : groups > 1 ? 2 : 1) / 1e6
}

function sending(count) {
    return count * (pack_s + size / bytes_per_s)
}

# When the first slice of a group has the sums of all of them.
function tree(slices, one, begin,    step, rank, from, ready) {
    for (rank = 0; rank < slices; rank++)
        ready[rank] = begin
    for (step = 1; step < slices; step *= 2)
        for (rank = 0; rank + step < slices; rank += 2 * step) {
            from = ready[rank + step] + sending(one)
            ready[rank] = (from > ready[rank] ? from : ready[rank]) + one * (unpack_s + merge_s)
        }
    return ready[0]
}
