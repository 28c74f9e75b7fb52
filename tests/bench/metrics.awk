# SPDX-License-Identifier: BSD-3-Clause
# A metrics file of any number of processes, for measuring and for pictures: a two-dimensional halo exchange in which one
# process in the middle has twice the work of the others, and most waiting is for that one.
# Usage: awk -v processes=1024 -f metrics.awk
function noise() { # in [0,1), the same in every awk
    seed = (seed * 1103 + 12345) % 1000003
    return seed / 1000003
}
function call(name, class, count, time) {
    printf "<function name=\"%s\" class=\"%s\" count=\"%.0f\" time_s=\"%.9f\" exclusive_s=\"%.9f\" min_s=\"%.9f\" max_s=\"%.9f\"/>\n",
        name, class, count, time, time, time / count / 2, time / count * 2
}
function partners(element, attribute, i) {
    for (i = 1; i <= neighbours; i++)
        printf "<%s %s=\"%.0f\" messages=\"%.0f\" bytes=\"%.0f\"/>\n", element, attribute, neighbour[i], steps, steps * bytes
}
function meet(column, row) {
    if (column >= 0 && column < columns && row >= 0 && row * columns + column < processes)
        neighbour[++neighbours] = row * columns + column
}
function find_neighbours(rank, column, row) {
    column = rank % columns
    row = int(rank / columns)
    neighbours = 0
    meet(column, row - 1)
    meet(column - 1, row)
    meet(column + 1, row)
    meet(column, row + 1)
}
# What each computes: a little more from rank to rank, and one twice as much.
function find_work(rank) {
    for (rank = 0; rank < processes; rank++) {
        work[rank] = 0.9 + 0.15 * noise() + 0.1 * (rank / processes)
        if (rank == busy)
            work[rank] = 1.9
        sum_work += work[rank]
        most_work = work[rank] > most_work ? work[rank] : most_work
    }
}
function one_process(rank, mpi) {
    find_neighbours(rank)
    mpi = total - work[rank]
    printf "<process rank=\"%.0f\" begin_s=\"0.000000000\" end_s=\"%.9f\" communication_s=\"%.9f\" events=\"%.0f\" ",
        rank, total, mpi, steps * (neighbours * 4 + 8)
    printf "messages_sent=\"%.0f\" bytes_sent=\"%.0f\" messages_received=\"%.0f\" bytes_received=\"%.0f\">\n",
        steps * neighbours, steps * neighbours * bytes, steps * neighbours, steps * neighbours * bytes
    call("MPI_Allreduce", "collective", steps, mpi * 0.46)
    call("MPI_Barrier", "sync", 10, mpi * 0.06)
    call("MPI_Bcast", "collective", 4, mpi * 0.02)
    call("MPI_Init", "setup", 1, mpi * 0.05)
    call("MPI_Irecv", "p2p", steps * 4, mpi * 0.03)
    call("MPI_Isend", "p2p", steps * 4, mpi * 0.08)
    call("MPI_Waitall", "wait", steps, mpi * 0.3)
    partners("sent", "to")
    partners("received", "from")
    print "</process>"
}
function number(name, value) {
    printf "<number name=\"%s\" value=\"%s\"/>\n", name, value
}
# Of the time in a function so much is waiting: for the busy process, but of messages for the next rank.
function wait_of(kind, name, part, calls, saving, rank, sum) {
    for (rank = 0; rank < processes; rank++)
        sum += waited(rank, part)
    printf "<wait kind=\"%s\" count=\"%.0f\" calls=\"%.0f\" time_s=\"%.9f\" longest_s=\"%.9f\" from_s=\"0.010000000\" to_s=\"%.9f\" saving_s=\"%.9f\">\n",
        kind, calls * processes * 0.8, calls * processes, sum, sum / processes / calls * 4, total, saving
    for (rank = 0; rank < processes; rank++)
        printf "<waiter rank=\"%.0f\" waited_s=\"%.9f\" caused_s=\"%.9f\"/>\n", rank, waited(rank, part), caused(kind, rank, part, sum)
    printf "<waited name=\"%s\" time_s=\"%.9f\"/>\n</wait>\n", name, sum
}
function waited(rank, part) {
    return rank == busy ? 0 : (total - work[rank]) * part
}
function caused(kind, rank, part, sum) {
    if (kind == "late-sender")
        return waited((rank + 1) % processes, part)
    return rank == busy ? sum : 0
}
# The path is the busy process' but for a piece of its neighbours.
function path_of(rank) {
    if (rank == busy)
        printf "<path rank=\"%.0f\" compute_s=\"%.9f\" mpi_s=\"%.9f\"/>\n", rank, most_work, 0.28
    else if (rank == busy - 1 || rank == busy + 1)
        printf "<path rank=\"%.0f\" compute_s=\"%.9f\" mpi_s=\"%.9f\"/>\n", rank, (total - most_work - 0.3) / 2, 0.01
}
function analysis(rank, ideal) {
    ideal = most_work + 0.1
    print "<analysis>"
    number("duration", sprintf("%.9f", total))
    number("calls", steps * 10 * processes)
    number("messages", ends / 2)
    number("collectives", steps + 14)
    number("path", sprintf("%.9f", total))
    number("replay", sprintf("%.9f", total))
    number("ideal", sprintf("%.9f", ideal))
    number("balanced_saving", sprintf("%.9f", (most_work - sum_work / processes) * 0.9))
    number("load_balance", sum_work / processes / most_work)
    number("serialisation", most_work / ideal)
    number("transfer", ideal / total)
    wait_of("late-sender", "MPI_Waitall", 0.22, steps, 0.1)
    wait_of("wait-at-nxn", "MPI_Allreduce", 0.38, steps, 0.2)
    wait_of("wait-at-barrier", "MPI_Barrier", 0.05, 10, 0.02)
    wait_of("wait-at-init", "MPI_Init", 0.03, 1, 0.01)
    for (rank = busy - 1; rank <= busy + 1; rank++)
        if (rank >= 0 && rank < processes)
            path_of(rank)
    printf "<path name=\"MPI_Allreduce\" time_s=\"%.9f\"/>\n<path name=\"MPI_Waitall\" time_s=\"%.9f\"/>\n", 0.2, 0.1
    printf "<delay rank=\"%.0f\" cost_s=\"%.9f\"/>\n", busy, (total * processes - sum_work) * 0.4
    print "</analysis>"
}
BEGIN {
    seed = 42
    total = 2.4
    busy = int(processes / 2)
    steps = 500
    bytes = 8192
    columns = int(sqrt(processes))
    find_work()
    for (rank = 0; rank < processes; rank++) {
        find_neighbours(rank)
        ends += 2 * steps * neighbours
    }
    print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    print "<!DOCTYPE metrics SYSTEM \"sight-metrics.dtd\">"
    printf "<metrics version=\"1\" format=\"clog2\" processes=\"%.0f\" complete=\"true\" message_ends=\"%.0f\">\n", processes, ends
    for (rank = 0; rank < processes; rank++)
        one_process(rank)
    printf "<size from_bytes=\"4096\" to_bytes=\"8191\" messages_sent=\"%.0f\" bytes_sent=\"%.0f\" ", ends / 8, ends / 8 * 6000
    printf "messages_received=\"%.0f\" bytes_received=\"%.0f\"/>\n", ends / 8, ends / 8 * 6000
    printf "<size from_bytes=\"8192\" to_bytes=\"16383\" messages_sent=\"%.0f\" bytes_sent=\"%.0f\" ", ends / 2 - ends / 8, (ends / 2 - ends / 8) * bytes
    printf "messages_received=\"%.0f\" bytes_received=\"%.0f\"/>\n", ends / 2 - ends / 8, (ends / 2 - ends / 8) * bytes
    analysis()
    print "</metrics>"
}
