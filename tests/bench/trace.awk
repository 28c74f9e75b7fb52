# SPDX-License-Identifier: BSD-3-Clause
# A trace of any number of processes, as SIGHT XML, for pictures: in each iteration a process computes, gives its right
# neighbour a message, receives one from the left, and all meet. An eighth of the processes, in the middle, has more to
# compute, and ever more; one iteration takes twice as long for all.
# Usage: awk -v processes=1024 -v iterations=60 -f trace.awk
function noise() { # in [0,1), the same in every awk
    seed = (seed * 1103 + 12345) % 1000003
    return seed / 1000003
}
function computing(rank, i, time) {
    time = 1000 + 120 * noise()
    if (rank * 16 >= processes * 7 && rank * 16 < processes * 9)
        time *= 1.3 + 0.5 * i / iterations
    return int(i == slow ? 2 * time : time)
}
function event(rank, time, name, rest) {
    printf "<event process=\"%d\" timestamp=\"%d\" data=\"%s\"%s/>\n", rank, time, name, rest
}
function message(rank, from, to, name, partner) {
    event(rank, from, name)
    event(rank, to, name, sprintf(" communication=\"%d\" tag=\"1\" bytes=\"8192\"", partner))
}
function iteration(rank, i, left, sent, received) {
    left = (rank + processes - 1) % processes
    sent = begin[i] + work[rank, i] + SEND
    received = begin[i] + work[left, i] + SEND
    received = (received > sent ? received : sent) + RECEIVE
    message(rank, sent - SEND, sent, "MPI_Send", (rank + 1) % processes)
    message(rank, sent, received, "MPI_Recv", left)
    event(rank, received, "MPI_Allreduce")
    event(rank, begin[i + 1], "MPI_Allreduce")
}
BEGIN {
    seed = 42
    SEND = 8
    RECEIVE = 4
    MEET = 30
    slow = int(iterations * 2 / 3)
    begin[0] = 2000
    for (i = 0; i < iterations; i++) {
        longest = 0
        for (rank = 0; rank < processes; rank++) {
            work[rank, i] = computing(rank, i)
            longest = work[rank, i] > longest ? work[rank, i] : longest
        }
        begin[i + 1] = begin[i] + longest + SEND + RECEIVE + MEET
    }
    print "<trace>"
    for (rank = 0; rank < processes; rank++) {
        event(rank, 0, "MPI_Bcast", "")
        event(rank, 1500, "MPI_Bcast", " communication=\"0\"")
        for (i = 0; i < iterations; i++)
            iteration(rank, i)
    }
    print "</trace>"
}
