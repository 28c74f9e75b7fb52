# SPDX-License-Identifier: BSD-3-Clause
"""A fourth set of kinds for judge.py: groups, exchanges that convoy, roots that change, interruptions, and programs that look
uneven and are not.  All were written before sight was run on any of them; those that were wrong are held no longer."""
from judging import *  # noqa: F401,F403
from simulator import Machine
from simulate import MS, US, grid, halo, neighbours

ROWS = [[0, 1, 2, 3], [4, 5, 6, 7]]


def row(p):
    return 1 + p.rank // 4


@kind("one slow member of a group", held=True, comms=ROWS)
def slow_member(draw):
    """Rows reduce among themselves; all meet every eighth turn."""
    def build(slow):
        def program(p):
            for turn in range(32):
                yield p.compute(4 * MS + (6 * MS if slow and p.rank == 6 else 0) + (0 if slow else 6 * MS // SIZE))
                yield p.allreduce(8, row(p))
                if turn % 8 == 7:
                    yield p.allreduce(8)
        return program
    return build(True), build(False), [first_is("compute-imbalance", cause=[6]), saving(), follows("wait-at-nxn"), one_number]


@kind("two phases, each with its own slow process")
def two_slow(draw):
    """Computing is 2 and 5 beyond the others in total, but never at once."""
    def build(slow):
        def program(p):
            for _ in range(25):
                for culprit in (2, 5):
                    yield p.compute((7 if p.rank == culprit else 3) * MS if slow else int(3.5 * MS))
                    yield p.barrier()
        return program
    return build(True), build(False), [first_is("compute-imbalance", "dynamic-imbalance", cause=[2, 5]), saving(),
                                       follows("wait-at-barrier"), one_number]


@kind("half of the processes on slower nodes", held=True)
def slow_half(draw):
    def build(slow):
        def program(p):
            for _ in range(30):
                yield p.compute((6 if p.rank >= 5 else 4) * MS if slow else int(4.75 * MS))
                yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
        return program
    return build(True), build(False), [first_is("compute-imbalance", cause=[5, 6, 7]), saving(), one_number, begins_with_busy]


@kind("a shift that convoys")
def convoy(draw):
    """Each sends a large message to the next before it receives; only the last receives first."""
    def build(planted):
        def program(p):
            for _ in range(20):
                yield p.compute(2 * MS)
                if not planted:
                    yield p.exchange((p.rank + 1) % SIZE, (p.rank - 1) % SIZE, 2000000)
                elif p.rank == SIZE - 1:
                    yield p.receive(p.rank - 1, 0)
                    yield p.send(0, 2000000)
                else:
                    yield p.send(p.rank + 1, 2000000)
                    yield p.receive((p.rank - 1) % SIZE, 0)
        return program
    return build(True), build(False), [first_is("late-receiver", "serialisation"), saving(-0.25, 0.25), one_number, not_silent]


@kind("low ranks are late to a prefix sum", held=True)
def slow_prefix(draw):
    def build(slow):
        def program(p):
            for _ in range(30):
                yield p.compute((8 if p.rank == 1 else 3) * MS if slow else 29 * MS // 8)
                yield p.collective("MPI_Scan", 8)
        return program
    return build(True), build(False), [first_is("compute-imbalance", "early-scan", cause=[1]), saving(), one_number]


@kind("roots that change work before they broadcast", held=True)
def changing_roots(draw):
    """The panel of a factorisation: its owner computes it while all others wait."""
    def build(planted):
        def program(p):
            for turn in range(48):
                root = turn % SIZE
                if planted and p.rank == root:
                    yield p.compute(3 * MS)
                yield p.bcast(8000, root)
                yield p.compute(5 * MS)
                if not planted and p.rank == root:
                    yield p.compute(3 * MS)
        return program
    return build(True), None, [first_is("late-broadcast", "serialisation", "dynamic-imbalance"), not_silent, one_number,
                               never_says("overload", "times as long as the other")]


@kind("a process is interrupted now and then", held=True)
def interrupted(draw):
    def build(planted):
        def program(p):
            for turn in range(60):
                yield p.compute(3 * MS + (24 * MS if planted and p.rank == 4 and turn % 12 == 7 else 0))
                yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
                yield p.allreduce(8)
        return program
    return build(True), build(False), [first_is("dynamic-imbalance", "compute-imbalance", cause=[4]), saving(-0.2, 0.1),
                                       follows("wait-at-nxn"), one_number]


@kind("clean: a boundary that is sent last, and in time", held=True)
def late_boundary(draw):
    """Process 3 alone sends after its work; its neighbours do not need it earlier."""
    def build(planted):
        def program(p):
            partners = neighbours(p.rank, grid(SIZE, 2))
            for _ in range(30):
                requests = []
                for partner in partners:
                    requests.append((yield p.irecv(partner)))
                if planted and p.rank == 3:
                    yield p.compute(6 * MS)
                for partner in partners:
                    requests.append((yield p.isend(partner, 800)))
                if not (planted and p.rank == 3):
                    yield p.compute(6 * MS)
                yield p.wait(*requests)
                yield p.compute(2 * MS)
        return program
    return build(True), None, [clean]


@kind("more and more waits for one file", held=True)
def one_writer(draw):
    """All hand their data to process 0, which writes them, one after the other; all go on when it has."""
    def build(planted):
        def program(p):
            for _ in range(12):
                yield p.compute(10 * MS)
                yield p.collective("MPI_Gather", 20000, 0)
                if p.rank == 0:
                    yield p.file("MPI_File_write", (16 if planted else 2) * MS)
                yield p.barrier()
        return program
    return build(True), None, [first_is("io"), follows("wait-at-barrier"), one_number, not_silent]


@kind("a reduction for each value", held=True)
def many_reductions(draw):
    def build(each):
        def program(p):
            for _ in range(25):
                yield p.compute(1 * MS)
                for _ in range(each):
                    yield p.allreduce(8)
        return program
    return build(100), build(1), [first_is("small-messages", "excessive-synchronisation", "transfer"), saving(-0.1, 0.3),
                                  one_number, not_silent]


@kind("neighbours that wait for a process that waits for files", held=True)
def slow_reader(draw):
    """Process 7 reads a piece in each turn, and sends it on."""
    def build(planted):
        def program(p):
            for _ in range(25):
                if p.rank == 7 and planted:
                    yield p.file("MPI_File_read", 9 * MS)
                yield p.compute(4 * MS)
                yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
        return program
    return build(True), build(False), [first_is("io", "late-sender", cause=[7]), saving(-0.2, 0.2), one_number, not_silent]


@kind("collective of all in which one group comes late", held=True, comms=ROWS)
def late_group(draw):
    """The second row does twice as many inner iterations between collectives of all."""
    def build(planted):
        def program(p):
            for _ in range(15):
                for _ in range((6 if p.rank >= 4 else 3) if planted else 1):
                    yield p.compute(2 * MS if planted else 9 * MS)
                    yield p.allreduce(8, row(p))
                yield p.allreduce(8)
        return program
    return build(True), build(False), [first_is("compute-imbalance", cause=[4, 5, 6, 7]), saving(), one_number]


# Nothing is wrong

@kind("clean: rows and all in turn", held=True, comms=ROWS)
def clean_rows(draw):
    def program(p):
        for turn in range(40):
            yield p.compute(4 * MS)
            yield p.allreduce(800, row(p))
            if turn % 5 == 4:
                yield p.allreduce(8)
    return program, None, [clean]


@kind("clean: two buffers in a ring", held=True)
def clean_buffers(draw):
    """What comes next is on the way while the last is worked on."""
    def program(p):
        for _ in range(40):
            receive = yield p.irecv((p.rank - 1) % SIZE)
            send = yield p.isend((p.rank + 1) % SIZE, 200000)
            yield p.compute(4 * MS)
            yield p.wait(receive, send)
    return program, None, [clean]


@kind("clean: odd and even exchange", held=True)
def clean_sorting(draw):
    """An odd-even transposition sort: the ends rest every other turn, for as long as an exchange takes."""
    def program(p):
        for turn in range(64):
            yield p.compute(3 * MS)
            partner = p.rank + (1 if (p.rank + turn) % 2 == 0 else -1)
            if 0 <= partner < SIZE:
                yield p.exchange(partner, partner, 40000)
        yield p.allreduce(8)
    return program, None, [clean]


@kind("clean: sums at changing roots", held=True)
def clean_roots(draw):
    def program(p):
        for turn in range(48):
            yield p.compute(4 * MS)
            yield p.reduce(800, turn % SIZE)
            yield p.compute(2 * MS)
            yield p.bcast(800, turn % SIZE)
    return program, None, [clean]


@kind("clean: long iterations and few", held=True, machine=lambda: Machine(noise=0.005))
def clean_long(draw):
    def program(p):
        yield p.bcast(1000)
        for _ in range(3):
            yield p.compute(120 * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 8000)
        yield p.reduce(8)
        yield p.compute(300 * US)
    return program, None, [clean]
