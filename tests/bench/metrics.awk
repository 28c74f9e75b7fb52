# SPDX-License-Identifier: BSD-3-Clause
# A metrics file of any number of processes, for measuring and for pictures: a two-dimensional halo exchange in which one
# process in the middle has twice the work of the others. Usage: awk -v processes=1024 -f metrics.awk
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
function one_process(rank, work, total, mpi) {
    find_neighbours(rank)
    work = 0.9 + 0.15 * noise() + 0.1 * (rank / processes)
    if (rank == int(processes / 2) && processes > 2)
        work = 1.9
    total = 2.4
    mpi = total - work
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
BEGIN {
    seed = 42
    steps = 500
    bytes = 8192
    columns = int(sqrt(processes))
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
    print "</metrics>"
}
