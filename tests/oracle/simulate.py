#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of simulated programs of 16 to 4,096 processes: are the findings about them true?

    simulate.py SIGHT [--sizes 16,64] [--only NAME,NAME] [--seed N] [--keep DIRECTORY] [--table] [--fast]

Each scenario is a program of a known kind, well written or with one problem planted, on a machine (simulator.py) with
parameters drawn at random (the seed is printed).  Of a planted one the first finding must be the problem, the processes named
those that have it, the seconds that are waited within 5 % of what was simulated, and what fixing it would save within 10 % of
the run (5 % of it at least) that is simulated without the problem; every other finding must follow from it.  A well-written one
must have no finding.  Prints a line a run; exits with 1 if any is wrong that is not listed as known.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from simulator import Machine, Run

MS = 1000000  # ns
US = 1000


class Plan:
    """A scenario of one size. `program(planted)` gives a program; `planted` False is the program without the problem."""

    def __init__(self, program, iterations, ids=(), causes=None, machine=None, comms=(), also=(), structure=(),
                 waiting=None, some=False):
        self.program, self.iterations = program, iterations
        self.ids, self.causes = tuple(ids), None if causes is None else sorted(causes)
        self.machine = machine or (lambda planted: Machine())
        self.comms, self.also, self.structure = comms, tuple(also), tuple(structure)
        self.waiting = waiting  # kind of wait whose seconds the finding has; None: as its id
        self.some = some  # one of the causes is enough


def grid(size, dimensions):
    """Sides of the most cubic grid, the longest first."""
    sides = []
    for left in range(dimensions, 0, -1):
        side = round(size ** (1 / left))
        while size % side:
            side -= 1
        sides.append(side)
        size //= side
    return sorted(sides, reverse=True)


def neighbours(rank, sides, periodic=False):
    """Of a process in a row-major grid."""
    found, stride = [], 1
    for side in reversed(sides):
        place = rank // stride % side
        for step in (-1, 1):
            if 0 <= place + step < side:
                found.append(rank + step * stride)
            elif periodic and side > 2:
                found.append(rank + step * stride - step * side * stride)
        stride *= side
    return found


def turns_for(size):
    """Iterations: fewer where there are many processes, so that traces stay small."""
    return {16: 40, 64: 30, 256: 16, 1024: 10}.get(size, 6 if size > 1024 else 40)


def halo(p, partners, size):
    """The exchange of an iteration."""
    requests = []
    for partner in partners:
        requests.append((yield p.irecv(partner)))
    for partner in partners:
        requests.append((yield p.isend(partner, size)))
    yield p.wait(*requests)


def halo_program(sides, work, size, turns, periodic=False, reduce_every=0):
    """`work(rank, turn)` in ns."""
    def program(p):
        partners = neighbours(p.rank, sides, periodic)
        for turn in range(turns):
            yield p.compute(work(p.rank, turn))
            yield from halo(p, partners, size)
            if reduce_every and turn % reduce_every == 0:
                yield p.allreduce(8)
    return program


def even(work):
    return lambda rank, turn: work


# Well written

def clean_halo_2d(draw, size):
    work, bytes_each, turns = draw.randint(3, 12) * MS, draw.choice([800, 8000, 64000]), turns_for(size)
    sides = grid(size, 2)
    return Plan(lambda planted: halo_program(sides, even(work), bytes_each, turns, draw.random() < 0.5), turns,
                structure=["halo"])


def clean_halo_3d(draw, size):
    work, bytes_each, turns = draw.randint(3, 12) * MS, draw.choice([800, 8000, 64000]), turns_for(size)
    return Plan(lambda planted: halo_program(grid(size, 3), even(work), bytes_each, turns, False, 5), turns,
                structure=["halo"])


def clean_cg(draw, size):
    work, turns = draw.randint(3, 8) * MS, turns_for(size)
    sides = grid(size, 2)

    def program(p):
        yield p.bcast(1000)
        partners = neighbours(p.rank, sides)
        for _ in range(turns):
            yield p.state("matrix", work)
            yield from halo(p, partners, 4000)
            yield p.allreduce(8)
            yield p.state("vectors", work // 2)
            yield p.allreduce(8)
    return Plan(lambda planted: program, turns, structure=["halo"])


def clean_fft(draw, size):
    work, turns = draw.randint(8, 20) * MS, turns_for(size)
    bytes_each = draw.choice([64, 512])

    def program(p):
        for _ in range(turns):
            yield p.compute(work)
            yield p.collective("MPI_Alltoall", bytes_each)
            yield p.compute(work)
    return Plan(lambda planted: program, turns, structure=["collective", "all-to-all"])


def clean_ring(draw, size):
    work, turns = draw.randint(3, 8) * MS, turns_for(size)

    def program(p):
        for _ in range(turns):
            yield p.compute(work)
            yield p.exchange((p.rank + 1) % size, (p.rank - 1) % size, 4000)
    return Plan(lambda planted: program, turns, structure=["ring", "halo"])


def master_program(size, tasks, work, service, answer=100, request=100):
    """Who is done asks for the next piece and computes it; `work(task)` in ns."""
    def program(p):
        if p.rank == 0:
            given, running = 0, 0
            for worker in range(1, size):
                yield p.send(worker, request if given < tasks else 0, 1 + given if given < tasks else 0)
                running += given < tasks
                given += given < tasks
            while running:
                source, _, _ = yield p.receive(None, None)
                yield p.compute(service)
                if given < tasks:
                    yield p.send(source, request, 1 + given)
                    given += 1
                else:
                    yield p.send(source, 0, 0)
                    running -= 1
        else:
            _, tag, _ = yield p.receive(0, None)
            while tag:
                yield p.compute(work(tag - 1))
                yield p.send(0, answer, tag)
                _, tag, _ = yield p.receive(0, None)
    return program


def clean_master(draw, size):
    tasks = (size - 1) * (100 if size <= 64 else 40 if size <= 256 else 12)
    service = 500
    # Every worker must wait little for a master that has size - 1 to serve, and the last pieces must be short.
    work = max(2 * MS, 20 * size * 1000)
    sizes = [int(work * draw.uniform(0.8, 1.2)) for _ in range(tasks)]
    for place in range(tasks - (size - 1) * 4, tasks):
        sizes[place] //= 8
    return Plan(lambda planted: master_program(size, tasks, lambda task: sizes[task], service), 0,
                structure=["master-worker"])


def clean_butterfly(draw, size):
    work, turns = draw.randint(3, 8) * MS, max(4, turns_for(size) // 4)

    def program(p):
        for _ in range(turns):
            for bit in range((size - 1).bit_length()):
                yield p.compute(work)
                yield p.exchange(p.rank ^ 1 << bit, p.rank ^ 1 << bit, 4000)
    return Plan(lambda planted: program, turns, structure=["butterfly", "halo"])


def clean_tree(draw, size):
    work, turns = draw.randint(10, 30) * MS, turns_for(size)

    def program(p):
        for _ in range(turns):
            yield p.compute(work)
            yield p.reduce(800)
            yield p.bcast(800)
    return Plan(lambda planted: program, turns, structure=["collective"])


def rows_and_columns(size):
    sides = grid(size, 2)
    rows = [[row * sides[1] + column for column in range(sides[1])] for row in range(sides[0])]
    columns = [[row * sides[1] + column for row in range(sides[0])] for column in range(sides[1])]
    return sides, rows + columns


def clean_summa(draw, size):
    work, turns = draw.randint(5, 15) * MS, turns_for(size)
    sides, comms = rows_and_columns(size)

    def program(p):
        row, column = divmod(p.rank, sides[1])
        for turn in range(turns):
            yield p.bcast(16000, turn % sides[1], 1 + row)
            yield p.bcast(16000, turn % sides[0], 1 + sides[0] + column)
            yield p.compute(work)
    return Plan(lambda planted: program, turns, comms=comms, structure=["collective"])


def wavefront_program(sides, blocks, work, turns):
    """Sweeps from a corner; blocks of planes behind each other."""
    def program(p):
        row, column = divmod(p.rank, sides[1])
        for turn in range(turns):
            step = 1 if turn % 2 == 0 else -1
            for _ in range(blocks):
                if 0 <= row - step < sides[0]:
                    yield p.receive(p.rank - step * sides[1], 0)
                if 0 <= column - step < sides[1]:
                    yield p.receive(p.rank - step, 1)
                yield p.compute(work)
                if 0 <= row + step < sides[0]:
                    yield p.send(p.rank + step * sides[1], 4000, 0)
                if 0 <= column + step < sides[1]:
                    yield p.send(p.rank + step, 4000, 1)
    return program


def clean_files(draw, size):
    """Little is read at the beginning and written at the end, by process 0."""
    work, turns, sides = draw.randint(5, 10) * MS, turns_for(size), grid(size, 2)

    def program(p):
        if p.rank == 0:
            yield p.compute(turns * work // 400)
        yield p.bcast(100000)
        yield from halo_program(sides, even(work), 4000, turns, False, 1)(p)
        yield p.collective("MPI_Gather", 64, 0)
        if p.rank == 0:
            yield p.compute(turns * work // 400)
    return Plan(lambda planted: program, turns, structure=["halo"])


# Uneven work: the run without the problem has the same work, spread evenly

def uneven(draw, size, factor, ids=("compute-imbalance",), causes=None, **more):
    """`factor(rank, turn)`: how many times the base of work; without the problem all have the mean of their run."""
    work, turns, sides = draw.randint(4, 10) * MS, turns_for(size), grid(size, 2)
    mean = sum(factor(rank, turn) for rank in range(size) for turn in range(turns)) / size / turns
    synchronised = more.pop("reduce_every", 1)
    return Plan(lambda planted: halo_program(
        sides, lambda rank, turn: int(work * (factor(rank, turn) if planted else mean)), 4000, turns, False, synchronised),
                turns, ids, causes, structure=["halo"], **more)


def slow_process(draw, size):
    slow = draw.randrange(size)
    longer = draw.uniform(1.3, 2)
    return uneven(draw, size, lambda rank, turn: longer if rank == slow else 1, causes=[slow])


def slow_process_halo(draw, size):
    """Without a collective: the delay spreads by one neighbour an iteration."""
    slow = draw.randrange(size)
    longer = draw.uniform(1.3, 2)
    return uneven(draw, size, lambda rank, turn: longer if rank == slow else 1, causes=[slow], reduce_every=0)


def slow_node(draw, size):
    per_node = 8 if size <= 64 else 32
    first = draw.randrange(size // per_node) * per_node
    slow = range(first, first + per_node)
    longer = draw.uniform(1.3, 1.8)
    return uneven(draw, size, lambda rank, turn: longer if rank in slow else 1, causes=slow)


def gradient(draw, size):
    steep = draw.uniform(0.3, 0.8)
    return uneven(draw, size, lambda rank, turn: 1 + steep * rank / size)


def rotating(draw, size):
    longer = draw.uniform(1.5, 2)
    step = draw.choice([1, 3])
    return uneven(draw, size, lambda rank, turn: longer if rank == turn * step % size else 1, ids=["dynamic-imbalance"])


def transient(draw, size):
    slow, turns = draw.randrange(size), turns_for(size)
    when = draw.randrange(1, turns - 1)
    longer = draw.uniform(0.5, 0.8) * turns
    return uneven(draw, size, lambda rank, turn: longer if rank == slow and turn == when else 1,
                  ids=["dynamic-imbalance", "compute-imbalance"], causes=None)


def growing(draw, size):
    slow, turns = draw.randrange(size), turns_for(size)
    steep = draw.uniform(0.8, 1.5)
    return uneven(draw, size, lambda rank, turn: 1 + steep * turn / turns if rank == slow else 1,
                  ids=["dynamic-imbalance", "compute-imbalance"], causes=[slow])


def random_work(draw, size):
    turns = turns_for(size)
    factors = [[draw.uniform(0.7, 1.3) for _ in range(turns)] for _ in range(size)]
    return uneven(draw, size, lambda rank, turn: factors[rank][turn], ids=["dynamic-imbalance"])


def idle(draw, size):
    count = max(1, size // draw.choice([8, 16]))
    idlers = range(size - count, size)
    work, turns = draw.randint(4, 10) * MS, turns_for(size)
    share = (size - count) / size

    def program(planted):
        def run(p):
            for _ in range(turns):
                if not planted or p.rank not in idlers:
                    yield p.compute(int(work * (1 if planted else share)))
                yield p.allreduce(8)
        return run
    return Plan(program, turns, ["idle-process"], idlers, structure=["collective"], waiting="idle")


def phase_only(draw, size):
    """The second third of the run is uneven."""
    slow, turns = draw.randrange(size), turns_for(size)
    longer = draw.uniform(1.8, 2.5)
    return uneven(draw, size, lambda rank, turn: longer if rank == slow and turns // 3 <= turn < 2 * turns // 3 else 1,
                  ids=["dynamic-imbalance", "compute-imbalance"], causes=[slow])


# Who is waited for

def late_sender_chain(draw, size):
    """Each computes, then passes on to the next, who waits for it before it computes: one after the other."""
    work, turns = draw.randint(1, 3) * MS, max(2, turns_for(size) // 8)

    def program(planted):
        def run(p):
            for _ in range(turns):
                if planted and p.rank > 0:
                    yield p.receive(p.rank - 1, 0)
                yield p.compute(work)
                if p.rank < size - 1:
                    yield p.send(p.rank + 1, 1000)
                if not planted and p.rank > 0:
                    yield p.receive(p.rank - 1, 0)
        return run
    return Plan(program, turns, ["serialisation", "late-sender"], structure=["pipeline"], waiting="late-sender")


def wrong_order(draw, size):
    """Process 0 collects by rank what the higher ranks have first."""
    work, turns = draw.randint(4, 8) * MS, turns_for(size)
    handling = max(1000, work // size)

    def program(planted):
        def run(p):
            for turn in range(turns):
                if p.rank == 0:
                    for source in range(1, size):
                        yield p.receive(source if planted else None, turn)
                        yield p.compute(handling)
                    yield p.bcast(8)
                else:
                    yield p.compute(int(work * (2 - p.rank / size)))
                    yield p.send(0, 1000, turn)
                    yield p.bcast(8)
        return run
    return Plan(program, turns, ["wrong-order"], structure=["master-worker"], waiting="wrong-order",
                also=["compute-imbalance", "late-broadcast", "serialisation", "contention", "late-sender"])


def late_receiver(draw, size):
    """Even ranks send much and wait until the odd ones, that compute first, receive."""
    work, turns = draw.randint(3, 8) * MS, turns_for(size)

    def program(planted):
        def run(p):
            other = p.rank ^ 1
            for _ in range(turns):
                if p.rank % 2 == 0:
                    if not planted:
                        yield p.compute(work)
                    yield p.send(other, 200000)
                    if planted:
                        yield p.compute(work)
                else:
                    yield p.compute(work)
                    yield p.receive(other, 0)
                yield p.barrier()
        return run
    return Plan(program, turns, ["late-receiver"], range(1, size, 2), also=["wait-at-barrier", "serialisation"],
                waiting="late-receiver")


def late_root(draw, size):
    """The root of the broadcast works before it while the others wait."""
    work, turns, root = draw.randint(4, 8) * MS, turns_for(size), draw.randrange(size)
    extra = int(work * draw.uniform(0.4, 0.8))

    def program(planted):
        def run(p):
            for _ in range(turns):
                yield p.compute(work)
                if p.rank == root and planted:
                    yield p.compute(extra)
                yield p.bcast(1000, root)
                yield p.allreduce(8)
        return run
    return Plan(program, turns, ["late-broadcast", "compute-imbalance"], [root], structure=["collective"])


def early_root(draw, size):
    """The root collects before the others have computed, and computes afterwards."""
    work, turns, root = draw.randint(4, 8) * MS, turns_for(size), draw.randrange(size)

    def program(planted):
        def run(p):
            for _ in range(turns):
                if p.rank != root or not planted:
                    yield p.compute(work)
                yield p.collective("MPI_Gather", 100, root)
                if p.rank == root and planted:
                    yield p.compute(work)
                yield p.barrier()
        return run
    return Plan(program, turns, ["early-reduce", "wait-at-barrier", "serialisation"], None, structure=["collective"],
                also=["wait-at-barrier", "serialisation"])


def serial_section(draw, size):
    """Process 0 does alone, each iteration, what the others wait for."""
    work, turns = draw.randint(4, 8) * MS, turns_for(size)
    serial = int(work * draw.uniform(0.3, 0.8))

    def program(planted):
        def run(p):
            for _ in range(turns):
                yield p.compute(work)
                yield p.barrier()
                if planted:
                    if p.rank == 0:
                        yield p.compute(serial)
                else:
                    yield p.compute(serial // size)
                yield p.barrier()
        return run
    return Plan(program, turns, ["compute-imbalance", "wait-at-barrier"], [0], structure=["collective"])


def sequential_files(draw, size):
    """Process 0 receives what each has, and writes it, one after the other."""
    work, turns = draw.randint(4, 8) * MS, max(3, turns_for(size) // 4)
    write = draw.randint(1, 3) * work // size

    def program(planted):
        def run(p):
            for _ in range(turns):
                for _ in range(4):
                    yield p.compute(work)
                    yield p.allreduce(8)
                if planted and p.rank == 0:
                    for source in range(size):
                        if source:
                            yield p.receive(source, 9)
                        yield p.file("MPI_File_write_at", write)
                elif planted:
                    yield p.send(0, 100000, 9)
                else:
                    yield p.file("MPI_File_write_at", write)
                yield p.barrier()
        return run
    return Plan(program, turns, ["io", "late-receiver", "contention", "wait-at-barrier", "serialisation", "transfer"], [0],
                structure=["master-worker"],
                also=["late-receiver", "contention", "io", "wait-at-barrier", "serialisation"])


def contention(draw, size):
    """In groups of 16 all send to the first, then to the second, ...: a receiver at a time."""
    work, turns = draw.randint(4, 8) * MS, max(2, turns_for(size) // 4)
    handling = draw.randint(20, 60) * US

    def program(planted):
        def run(p):
            first = p.rank // 16 * 16
            others = [first + (p.rank + step) % 16 for step in range(1, 16)]
            for _ in range(turns):
                yield p.compute(work)
                if not planted:
                    requests = []
                    for source in others:
                        requests.append((yield p.irecv(source)))
                    for to in others:
                        yield p.send(to, 60000)
                    yield p.wait(*requests)
                    yield p.compute(handling * 15)
                    continue
                for to in range(first, first + 16):
                    if p.rank != to:
                        yield p.send(to, 60000)
                        continue
                    for source in range(first, first + 16):
                        if source != to:
                            yield p.receive(source, 0)
                            yield p.compute(handling)
        return run
    return Plan(program, turns, ["contention", "late-receiver", "serialisation"], None,
                also=["contention", "late-receiver", "late-sender", "serialisation", "transfer"])


def saturated_master(draw, size):
    """The pieces are so small that the master is always busy; without the problem the workers do its work."""
    service = draw.randint(10, 30) * US
    work = service * size // 4
    tasks = size * 12
    return Plan(lambda planted: master_program(size, tasks, lambda task: work + (0 if planted else service),
                                               service if planted else 200), 0,
                ["late-sender", "serialisation", "contention", "compute-imbalance"], [0], structure=["master-worker"],
                also=["contention", "serialisation", "compute-imbalance"], waiting="late-sender")


def short_pipeline(draw, size):
    """Too few pieces of work go through the pipeline."""
    pieces = min(16, max(4, size // 4))
    work = draw.randint(1, 3) * MS

    def program(planted):
        more = 1 if planted else 16

        def run(p):
            for _ in range(pieces * more):
                if p.rank > 0:
                    yield p.receive(p.rank - 1, 0)
                yield p.compute(work // more)
                if p.rank < size - 1:
                    yield p.send(p.rank + 1, 1000 // more)
        return run
    return Plan(program, pieces, ["serialisation", "late-sender"], structure=["pipeline"], waiting="late-sender")


def wavefront_fill(draw, size):
    sides = grid(size, 2)
    work = draw.randint(2, 6) * MS
    finer = 32 if size <= 64 else 16
    return Plan(lambda planted: wavefront_program(sides, 4 if planted else 4 * finer, work if planted else work // finer, 2), 0,
                ["serialisation", "late-sender"], waiting="late-sender", structure=["halo"])


def broadcast_by_hand(draw, size):
    """Process 0 sends to each, one after the other, every iteration."""
    work, turns = draw.randint(1, 3) * MS, turns_for(size)
    bytes_each = min(1000000, int(draw.randint(2, 4) * 4 * work / size))

    def program(planted):
        def run(p):
            for _ in range(turns):
                if not planted:
                    yield p.bcast(bytes_each)
                elif p.rank == 0:
                    for to in range(1, size):
                        yield p.send(to, bytes_each)
                else:
                    yield p.receive(0, 0)
                yield p.compute(work)
        return run
    return Plan(program, turns, ["late-sender", "transfer", "serialisation", "contention"], [0],
                structure=["master-worker"], also=["contention", "transfer", "serialisation"])


# What calls cost

def small_messages(draw, size):
    work, turns, sides = draw.randint(100, 300) * US, max(4, turns_for(size) // 4), grid(size, 2)
    pieces = 60

    def program(planted):
        def run(p):
            partners = neighbours(p.rank, sides)
            for _ in range(turns):
                yield p.compute(work)
                for piece in range(pieces if planted else 1):
                    for partner in partners:
                        yield p.send(partner, 64 if planted else 64 * pieces, piece)
                for piece in range(pieces if planted else 1):
                    for partner in partners:
                        yield p.receive(partner, piece)
        return run
    return Plan(program, turns, ["small-messages", "transfer"], also=["transfer", "small-messages"], structure=["halo"])


def many_barriers(draw, size):
    work, turns = draw.randint(100, 200) * US, max(6, turns_for(size))
    count = 12

    def program(planted):
        def run(p):
            for _ in range(turns):
                for _ in range(count):
                    yield p.compute(work // count)
                    if planted:
                        yield p.barrier()
                yield p.allreduce(800)
        return run
    return Plan(program, turns, ["excessive-synchronisation", "transfer"], also=["transfer", "wait-at-barrier"],
                structure=["collective"])


def false_overlap(draw, size):
    """Isend and Irecv, then Wait at once: the transfer is not hidden."""
    work, turns, sides = draw.randint(2, 4) * MS, turns_for(size), grid(size, 2)
    bytes_each = int(draw.uniform(0.5, 1) * work * 4 / 4)

    def program(planted):
        def run(p):
            partners = neighbours(p.rank, sides, True)
            for _ in range(turns):
                requests = []
                for partner in partners:
                    requests.append((yield p.irecv(partner)))
                for partner in partners:
                    requests.append((yield p.isend(partner, bytes_each)))
                if planted:
                    yield p.wait(*requests)
                yield p.compute(work)
                if not planted:
                    yield p.wait(*requests)
        return run
    return Plan(program, turns, ["transfer"], structure=["halo"], also=["late-sender", "late-receiver"])


def slow_link(draw, size):
    work, turns, sides = draw.randint(2, 4) * MS, turns_for(size), grid(size, 2)
    source = draw.randrange(size)
    to = neighbours(source, sides)[0]
    slow = {(source, to): 40}

    def program(p):
        partners = neighbours(p.rank, sides)
        for _ in range(turns):
            yield p.compute(work)
            yield from halo(p, partners, 100000)
            yield p.allreduce(8)
    return Plan(lambda planted: program, turns, ["wait-at-nxn", "transfer", "late-sender"], [source, to],
                machine=lambda planted: Machine(slow_links=slow if planted else {}), structure=["halo"], some=True,
                also=["transfer", "wait-at-nxn"])


def late_start(draw, size):
    late, work, turns = draw.randrange(size), draw.randint(3, 6) * MS, turns_for(size)
    longer = int(work * turns * draw.uniform(0.2, 0.5))

    def start(planted):
        return Machine(late_process=(late, longer) if planted else None)

    def program(p):
        for _ in range(turns):
            yield p.compute(work)
            yield p.allreduce(8)
    return Plan(lambda planted: program, turns, ["late-start"], [late], machine=start, structure=["collective"])


def uneven_communication(draw, size):
    """One process has many partners, and the same work."""
    work, turns, hub = draw.randint(2, 4) * MS, turns_for(size), draw.randrange(size)
    partners_of_hub = [rank for rank in draw.sample(range(size), min(size - 1, 64)) if rank != hub]
    bytes_each = int(4 * work * draw.uniform(0.5, 1) / len(partners_of_hub))

    def program(planted):
        def run(p):
            partners = [(p.rank + 1) % size, (p.rank - 1) % size]
            if planted:
                more = partners_of_hub if p.rank == hub else [hub] if p.rank in partners_of_hub else []
                partners = partners + [one for one in more if one not in partners]
            for _ in range(turns):
                yield p.compute(work)
                yield from halo(p, partners, bytes_each)
                yield p.allreduce(8)
        return run
    return Plan(program, turns, ["wait-at-nxn", "late-sender", "transfer"], [hub],
                also=["wait-at-nxn", "transfer", "late-sender"])


def two_problems(draw, size):
    """A slow process, and a root that is late by half of that: both have too much work, and without the problem all share it."""
    slow, root = draw.sample(range(size), 2)
    work, turns = draw.randint(6, 10) * MS, turns_for(size)

    def program(planted):
        def run(p):
            for _ in range(turns):
                yield p.compute(int(work * ((1.8 if p.rank == slow else 1) if planted else 1 + 0.8 / size)))
                yield p.allreduce(8)
                if not planted or p.rank == root:
                    yield p.compute(int(work * 0.4 / (1 if planted else size)))
                yield p.bcast(1000, root)
        return run
    return Plan(program, turns, ["compute-imbalance"], [slow, root], structure=["collective"],
                also=["late-broadcast"])


SCENARIOS = {
    "halo 2-D": clean_halo_2d, "halo 3-D": clean_halo_3d, "conjugate gradient": clean_cg, "FFT": clean_fft,
    "ring": clean_ring, "master": clean_master, "butterfly": clean_butterfly, "tree": clean_tree, "SUMMA": clean_summa,
    "small files": clean_files,
    "slow process": slow_process, "slow process in halo": slow_process_halo, "slow node": slow_node,
    "gradient": gradient, "rotating": rotating, "transient": transient, "growing": growing, "random": random_work,
    "one phase": phase_only, "idle": idle, "late sender chain": late_sender_chain, "wrong order": wrong_order,
    "late receiver": late_receiver, "late root": late_root, "early root": early_root, "serial section": serial_section,
    "sequential files": sequential_files, "contention": contention, "saturated master": saturated_master,
    "short pipeline": short_pipeline, "wavefront fill": wavefront_fill, "broadcast by hand": broadcast_by_hand,
    "small messages": small_messages, "many barriers": many_barriers, "false overlap": false_overlap,
    "slow link": slow_link, "late start": late_start, "uneven communication": uneven_communication,
    "two problems": two_problems,
}


# What is known to be wrong, by how much at most where it is a saving, and why: (what, most, reason).
KNOWN = {
    "wrong order": (("first finding",), 0, "a replay does not know in which order messages could have been received "
                                           "instead: the wait that is named first is the one that follows"),
    "contention": (("saving",), 0.15, "what a process computes before it serves the first of a queue stays, though in "
                                      "another order nobody would wait for it"),
    "sequential files": (("saving",), 0.2, "of few processes: it is that of no I/O at all, and a part of it remains if all "
                                           "share it"),
}


def relative(said, truth, run):
    """Error of a number of seconds, relative to the truth; what is nothing beside the run is right."""
    return 0 if abs(said - truth) < 0.01 * run else (said - truth) / truth if truth else math.inf


class Judged:
    """What was found of one run, and what is wrong with it."""

    def __init__(self, name, size, plan, run, fixed, said):
        self.name, self.size = name, size
        findings = said["findings"]
        first = findings[0] if findings else None
        self.wrong, self.first, self.saving, self.waiting, self.processes = [], first, None, None, None
        self.duration = run.duration / 1e9
        self.others = [f["id"] for f in findings[1:] if f["root"] is None]
        if not plan.ids:
            self.others = [f["id"] for f in findings]
            if findings:
                self.wrong.append("false finding")
            return
        self.truth = (run.duration - fixed.duration) / 1e9
        # One that names the problem as its root is right as well.
        by_id = {finding["id"]: finding for finding in findings}
        if first and first["id"] not in plan.ids and first["root"] in plan.ids:
            first = by_id[first["root"]]
            self.others = [f["id"] for f in findings if f["root"] is None and f is not first]
        self.named = first
        if not first or first["id"] not in plan.ids:
            self.wrong.append("first finding")
        if first:
            self.saving = relative(first["saving_s"], self.truth, self.duration)
            # What transfers cost is a bound: no network costs nothing.
            if self.saving < -0.1 or self.saving > (0.3 if first["id"] == "transfer" else 0.1):
                self.wrong.append("saving")
            self.judge_waiting(plan, run, first)
            if plan.causes is not None:
                said = set(first["causes"])
                self.processes = bool(said) and said <= set(plan.causes) if plan.some else said == set(plan.causes)
                if not self.processes:
                    self.wrong.append("processes")
        if set(self.others) - set(plan.also) - set(plan.ids):
            self.wrong.append("false finding")

    def judge_waiting(self, plan, run, first):
        kind = first["id"]
        if kind == "compute-imbalance":
            truth = run.uneven_work()
        else:
            truth = run.waits().get(kind)
        if truth is None:
            return
        self.waiting = relative(first["waiting_s"], truth, self.duration)
        if abs(self.waiting) > 0.05:
            self.wrong.append("waiting")

    def line(self):
        def per_cent(value):
            return "-" if value is None else "%+.0f %%" % (100 * value) if abs(value) > 0.005 else "0 %"
        first = self.first
        named = getattr(self, "named", first)
        who = "-" if not named else ranks_text(named["causes"])
        share = "-" if not first else "%.1f %%" % (100 * first["saving_s"] / self.duration)
        truth = "-" if not hasattr(self, "truth") else "%.1f %%" % (100 * self.truth / self.duration)
        verdict = ", ".join(self.wrong) + (" (known)" if self.wrong and self.is_known() else "") or "right"
        return [str(self.size), self.name, "none" if not first else first["id"] if named is first else "%s, from %s" % (first["id"], named["id"]), who,
                {None: "-", True: "yes", False: "no"}[self.processes], per_cent(self.waiting), share, truth,
                per_cent(self.saving), " ".join(self.others) or "-", verdict]

    def is_known(self):
        what, most, _ = KNOWN.get(self.name, ((), 0, ""))
        return set(self.wrong) <= set(what) and ("saving" not in self.wrong or abs(self.saving) <= most)


def ranks_text(ranks):
    if len(ranks) > 6:
        return "%d processes" % len(ranks)
    return ",".join(map(str, ranks)) or "-"


def ask(sight, *arguments):
    done = subprocess.run([sight, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("simulate: sight %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def main():
    options = argparse.ArgumentParser()
    options.add_argument("sight")
    options.add_argument("--sizes", default="16,64,256")
    options.add_argument("--only", default="")
    options.add_argument("--seed", default="1")
    options.add_argument("--keep")
    options.add_argument("--text", action="store_true")
    options = options.parse_args()
    names = options.only.split(",") if options.only else list(SCENARIOS)
    wrong = known = runs = 0
    with tempfile.TemporaryDirectory() as directory:
        where = options.keep or directory
        for size in map(int, options.sizes.split(",")):
            for name in names:
                seed = "%s/%s/%d" % (options.seed, name, size)
                plan = SCENARIOS[name](random.Random(seed), size)
                run = Run(size, plan.program(True), plan.machine(True), plan.comms, seed)
                fixed = run
                if plan.ids:
                    fixed = Run(size, plan.program(False), plan.machine(False), plan.comms, seed)
                path = os.path.join(where, "%s-%d.xml" % (name.replace(" ", "-").replace(",", ""), size))
                run.write(path)
                said = json.loads(ask(options.sight, "heuristics", "--format", "json", path))
                judged = Judged(name, size, plan, run, fixed, said)
                print("| " + " | ".join(judged.line()) + " |", flush=True)
                if options.text:
                    print(ask(options.sight, path))
                wrong += bool(judged.wrong) and not judged.is_known()
                known += bool(judged.wrong) and judged.is_known()
                runs += 1
                if not options.keep:
                    os.unlink(path)
    print("seed %s: %d of %d runs are right, %d wrong for a known reason, %d wrong" %
          (options.seed, runs - wrong - known, runs, known, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
