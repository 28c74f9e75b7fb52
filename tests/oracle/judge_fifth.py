# SPDX-License-Identifier: BSD-3-Clause
"""A fifth set of kinds for judge.py: files that one process writes or reads for others, small tasks, and collectives that
some complete late."""
import re

from judging import *  # noqa: F401,F403
from simulator import Machine
from simulate import MS, US, grid, halo, master_program, neighbours

WRITE = 2 * MS
HANDED = "only moves? data between"


def no_progress():
    return Machine(progress=False)


def steps(p):
    for _ in range(3):
        yield p.compute(3 * MS)
        yield p.allreduce(8)


def written_by_one(collect, own="MPI_File_write_at"):
    """`collect` brings the data to process 0, which writes or reads them; else each does its own."""
    def build(planted):
        def program(p):
            for _ in range(5):
                yield from steps(p)
                if planted:
                    yield from collect(p)
                else:
                    yield p.file(own, WRITE)
                yield p.barrier()
        return program
    return build(True), build(False), [first_is("io", cause=[0]), saving(-0.1, 0.2), says(HANDED), follows("transfer"), one_number]


@kind("gathered and written by one")
def gathered(draw):
    def collect(p):
        yield p.collective("MPI_Gather", 1000000, 0)
        if p.rank == 0:
            yield p.file("MPI_File_write", WRITE * SIZE)
    return written_by_one(collect)


@kind("received all at once, and written by one")
def received(draw):
    def collect(p):
        if p.rank > 0:
            yield p.wait((yield p.isend(0, 2000000)))
            return
        requests = []
        for source in range(1, SIZE):
            requests.append((yield p.irecv(source)))
        yield p.wait(*requests)
        yield p.file("MPI_File_write", WRITE * SIZE)
    return written_by_one(collect)


@kind("read by one, and sent")
def read_and_sent(draw):
    def collect(p):
        if p.rank > 0:
            yield p.receive(0, 0)
            return
        for to in range(SIZE):
            yield p.file("MPI_File_read", WRITE)
            if to:
                yield p.send(to, 2000000)
    return written_by_one(collect, "MPI_File_read")


@kind("a master that logs what it gets")
def logging_master(draw):
    """Results come to the master whether or not it writes them."""
    tasks = 140

    def build(planted):
        def program(p):
            if p.rank > 0:
                _, tag, _ = yield p.receive(0, None)
                while tag:
                    yield p.compute(2 * MS)
                    yield p.send(0, 400000, 1)
                    _, tag, _ = yield p.receive(0, None)
                return
            for worker in range(1, SIZE):
                yield p.send(worker, 100, 1)
            for done in range(tasks):
                source, _, _ = yield p.receive(None, None)
                if planted:
                    yield p.file("MPI_File_write", MS)
                yield p.send(source, 100, int(done + SIZE - 1 < tasks))
        return program
    return build(True), build(False), [first_is("io", cause=[0]), saving(), never_says(HANDED)]


@kind("gathered for a decision, and logged")
def logged_decision(draw):
    """What the gather brings is needed for what is broadcast, too."""
    def build(planted):
        def program(p):
            for _ in range(10):
                yield from steps(p)
                yield p.collective("MPI_Gather", 100000, 0)
                if planted and p.rank == 0:
                    yield p.file("MPI_File_write", 10 * MS)
                yield p.bcast(8)
        return program
    return build(True), build(False), [first_is("io", cause=[0]), saving(), never_says(HANDED)]


def merging_saves(said):
    """What tasks 20 times as large would save by what is said, and by the run that has them."""
    text = " ".join(said.ask("explain", said.path).split())
    found = re.search(r"Tasks 20 times as large would save about .*?, ([\d.]+) % of the run", text)
    if not found:
        return "does not say what larger tasks save"
    truth = said.saved / said.duration
    return None if abs(float(found.group(1)) / 100 - truth) <= 0.1 * truth else "%s %%, not %.1f %%" % (found.group(1), 100 * truth)


def tiny(work, service, first=0):
    """The master computes so long before it hands out any."""
    def build(times):
        program = master_program(SIZE, 2800 // times, lambda task: work * times, service)

        def begin(p):
            if p.rank == 0:
                yield p.compute(first)
            yield from program(p)
        return begin
    return build(1), build(20)


@kind("tiny tasks")
def tiny_tasks(draw):
    return (*tiny(15 * US, 500), [says("hand out larger tasks", "The tasks are small: a worker computes"), merging_saves,
                                  never_says("MPI_Isend and MPI_Irecv before computing")])


@kind("tiny tasks and a master that begins late")
def tiny_tasks_late(draw):
    return *tiny(15 * US, 500, 5 * MS), [merging_saves]


@kind("tiny tasks that queue at their master")
def queueing_tasks(draw):
    return *tiny(3 * US, 500), [merging_saves]


@kind("tasks that are long beside their messages")
def long_tasks(draw):
    work = [draw.choice([1, 1, 4]) * MS for _ in range(140)]
    return master_program(SIZE, 140, lambda task: work[task], 500), None, [never_says("tasks are small")]


def completed_late(who, after=0):
    """All start a sum; one computes longer before it completes it."""
    def build(planted):
        def program(p):
            for turn in range(24):
                request = yield p.icollective("MPI_Iallreduce")
                extra = 6 * MS if p.rank == who(turn) else 0
                yield p.compute(2 * MS + (extra if planted else 6 * MS // SIZE))
                yield p.wait(request)
                yield p.compute(after)
        return program
    return build(True), build(False)


@kind("one completes late", machine=no_progress)
def late_completion(draw):
    return (*completed_late(lambda turn: 5), [first_is("compute-imbalance", cause=[5]), saving(), follows("wait-at-nxn"), one_number])


@kind("each completes late in turn", machine=no_progress)
def late_in_turn(draw):
    return (*completed_late(lambda turn: turn % SIZE, MS), [first_is("dynamic-imbalance"), saving(), one_number])


@kind("one completes late, on a machine that makes progress")
def late_with_progress(draw):
    """The others wait for its next start."""
    return (*completed_late(lambda turn: 5), [first_is("compute-imbalance", cause=[5]), saving(), one_number])


def waited_in_wait(seconds):
    """So long all together wait for another's completion, within 2 %."""
    def check(said):
        found = re.search(r'<wait kind="wait-at-nxn".*?</wait>', said.ask("metrics", "--format", "xml", said.path), re.S)
        waited = re.search(r'<waited name="MPI_Wait" time_s="([\d.]+)"', found.group(0)) if found else None
        measured = float(waited.group(1)) if waited else 0
        return None if abs(measured - seconds) <= 0.02 * seconds else "%.4f s in MPI_Wait, not %.4f" % (measured, seconds)
    return check


def tree_late(name, who):
    """Each turn ends with a sum of all, so that who is late in one turn costs that turn."""
    def build(planted):
        def program(p):
            for turn in range(24):
                request = yield p.icollective(name)
                extra = 6 * MS if p.rank == who(turn) else 0
                yield p.compute(2 * MS + (extra if planted else 6 * MS // SIZE))
                yield p.wait(request)
                yield p.compute(MS)
                yield p.allreduce(8)
        return program
    return build(True), build(False)


@kind("inner processes of a broadcast complete late in turn", machine=no_progress)
def late_inner_broadcast(draw):
    """For 2 waits 3, for 4 wait 5 to 7, for 6 waits 7, 8 times each."""
    return (*tree_late("MPI_Ibcast", lambda turn: (2, 4, 6)[turn % 3]), [first_is("dynamic-imbalance"), saving(), follows("wait-at-nxn"), waited_in_wait(8 * (1 + 3 + 1) * 6 * MS / 1e9), one_number])


@kind("an inner process of a reduction completes late", machine=no_progress)
def late_inner_reduction(draw):
    return (*tree_late("MPI_Ireduce", lambda turn: 4), [first_is("compute-imbalance", cause=[4]), saving(),
                                                        follows("wait-at-nxn"), one_number])


@kind("a leaf of a broadcast completes late: nobody waits", machine=no_progress)
def late_leaf(draw):
    return (*tree_late("MPI_Ibcast", lambda turn: 7), [first_is("compute-imbalance", cause=[7]), waited_in_wait(0), one_number])


@kind("clean: sums that overlap, without progress", machine=no_progress)
def clean_overlap(draw):
    def program(p):
        for _ in range(30):
            request = yield p.icollective("MPI_Iallreduce")
            yield p.compute(4 * MS)
            yield p.wait(request)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
    return program, None, [clean]
