# SPDX-License-Identifier: BSD-3-Clause
"""More kinds for judge.py: rhythms, two faults at once, many small messages, serial sections, and programs without a fault."""
from judging import *  # noqa: F401,F403
from patterns import handle_in_order, large_message, send_to_root, stage, wait_for_all
from simulator import Machine
from simulate import MS, US, grid, halo, halo_program


# A reduction every k-th iteration

def rhythm(work, every, turns=40, ring=True):
    def program(p):
        for turn in range(turns):
            yield p.compute(work(p.rank, turn))
            if ring:
                yield p.exchange((p.rank + 1) % SIZE, (p.rank - 1) % SIZE, 100)
            if turn % every == every - 1:
                yield p.allreduce(8)
    return program


EVEN_OF_TURNS = rhythm(lambda rank, turn: 29 * MS // 8, 5)


@kind("work rotates, reduction every 5th")
def rotates_5(draw):
    return (rhythm(lambda rank, turn: (8 if turn % SIZE == rank else 3) * MS, 5), EVEN_OF_TURNS,
            [first_is("dynamic-imbalance", "serialisation"), saving(-0.2, 0.2), one_number])


@kind("work rotates in a ring, reduction every 10th")
def rotates_10(draw):
    return (rhythm(lambda rank, turn: (8 if turn % SIZE == rank else 3) * MS, 10), EVEN_OF_TURNS,
            [first_is("dynamic-imbalance", "serialisation"), saving(-0.2, 0.2), one_number])


@kind("work is random, barrier every 4th", held=True)
def random_4(draw):
    pieces = {(rank, turn): draw.choice([2, 2, 2, 9]) * MS for rank in range(SIZE) for turn in range(40)}
    return rhythm(lambda rank, turn: pieces[rank, turn], 4), None, [first_is("dynamic-imbalance"), one_number, not_silent]


@kind("work grows, reduction every 3rd")
def grows_3(draw):
    return (rhythm(lambda rank, turn: (3 * MS + (turn * 300 * US if rank == 5 else 0)), 3), None,
            [first_is("dynamic-imbalance", "compute-imbalance", cause=[5]), one_number, not_silent])


@kind("one process slower, reduction every 6th", held=True)
def slower_6(draw):
    return (rhythm(lambda rank, turn: (7 if rank == 2 else 3) * MS, 6), rhythm(lambda rank, turn: 28 * MS // 8, 6),
            [first_is("compute-imbalance", cause=[2]), saving(), one_number])


@kind("one sparse ring, slow in turns", held=True)
def sparse_ring(draw):
    return (rhythm(lambda rank, turn: (20 if turn % 10 == 3 and rank == turn // 10 else 3) * MS, 10, 40), None,
            [first_is("dynamic-imbalance"), one_number])


# Two faults at once

def two(uneven, late):
    """Process 2 computes longer; process 5 is late to post its receives for large messages of 4."""
    def program(p):
        for _ in range(20):
            yield p.compute((8 if p.rank == 2 and uneven else 3) * MS)
            yield p.allreduce(8)
            yield from large_message(p, 4, 5, late, 6 * MS)
            yield p.barrier()
    return program


@kind("uneven work and a late receiver")
def uneven_late_receiver(draw):
    return two(True, True), None, [has("late-receiver", fixed=two(True, False)), independent("late-receiver"), one_number]


def two_rooted(draw):
    """Process 1 computes longer before a barrier; the root works before its broadcast while the others wait. Sleeping ends late."""
    late = {(rank, turn): int(draw.expovariate(1 / 500)) * US for rank in range(SIZE) for turn in range(40)}

    def program(p):
        for turn in range(20):
            yield p.compute((20 if p.rank == 1 else 10) * MS + late[p.rank, 2 * turn])
            yield p.barrier()
            if p.rank == 0:
                yield p.compute(10 * MS)
            yield p.bcast(8)
            if p.rank != 0:
                yield p.compute(10 * MS + late[p.rank, 2 * turn + 1])
            yield p.barrier()
    return program


@kind("uneven work and a late root in noise")
def uneven_late_root(draw):
    return two_rooted(draw), None, [first_is("compute-imbalance", "late-broadcast"), has("late-broadcast", cause=[0]),
                                    has("compute-imbalance", cause=[1]), independent("late-broadcast"),
                                    follows("wait-at-barrier"), one_number]


@kind("only a late receiver")
def only_late_receiver(draw):
    return two(False, True), two(False, False), [first_is("late-receiver", cause=[5]), saving(), one_number]


def uneven_and_root(uneven, late):
    def program(p):
        for _ in range(20):
            yield p.compute((8 if p.rank == 3 and uneven else 3) * MS)
            yield p.allreduce(8)
            if p.rank == 0 and late:
                yield p.compute(4 * MS)
            yield p.bcast(8)
            yield p.compute(2 * MS)
    return program


@kind("uneven work and a root that is late", held=True)
def uneven_late_root(draw):
    return (uneven_and_root(True, True), None,
            [not_silent, one_number, has("late-broadcast", fixed=uneven_and_root(True, False)), bounded_by_sections])


@kind("uneven work and a slow network", machine=lambda: Machine(bandwidth=0.05))
def uneven_slow_network(draw):
    def build(uneven):
        return halo_program(grid(SIZE, 2), lambda rank, turn: (12 if rank == 6 and uneven else 3) * MS, 100000, 20)
    return build(True), None, [has("compute-imbalance", cause=[6], low=-0.25, high=0.25), has("transfer"), one_number]


# Many small messages

def small(turns, each, exchange=True):
    def program(p):
        for _ in range(turns):
            yield p.compute(500 * US)
            if exchange:
                for _ in range(each):
                    yield p.exchange((p.rank + 1) % SIZE, (p.rank - 1) % SIZE, 4)
            else:
                requests = []
                for i in range(each):
                    requests.append((yield p.irecv((p.rank - 1) % SIZE, i)))
                for i in range(each):
                    requests.append((yield p.isend((p.rank + 1) % SIZE, 4, i)))
                yield p.wait(*requests)
    return program


@kind("400 small exchanges")
def small_exchanges(draw):
    return small(4, 400), small(4, 1), [first_is("small-messages", "transfer"), follows("late-sender"), saving(-0.3, 0.3), one_number]


@kind("many small exchanges with much noise", machine=lambda: Machine(jitter=5.0))
def small_noisy(draw):
    return small(10, 200), small(10, 1), [first_is("small-messages", "transfer"), one_number]


@kind("many small messages and Waitall", held=True)
def small_waitall(draw):
    return small(5, 300, False), None, [first_is("small-messages", "transfer"), never("wrong-order"), one_number]


@kind("Waitall, the first comes last")
def waitall_order(draw):
    """All are needed: no order is wrong."""
    def program(p):
        for _ in range(30):
            yield p.compute(3 * MS)
            if p.rank > 0:
                yield p.compute((SIZE - p.rank) * 500 * US)
            yield from wait_for_all(p, 100)
            yield p.bcast(8)
    return program, None, [never("wrong-order"), search_never_says("order than they arrive"), one_number, not_silent]


# Serial sections, warm-up, one-off work

@kind("checkpoint by the root every 10th")
def checkpoint(draw):
    def program(p):
        for turn in range(40):
            yield p.compute(4 * MS)
            yield p.allreduce(8)
            if turn % 10 == 9:
                yield p.collective("MPI_Gather", 1000, 0)
                if p.rank == 0:
                    yield p.compute(40 * MS)
                yield p.barrier()
    return program, None, [not_silent, never_says("overload"), says("[Ss]erial|alone"), one_number]


@kind("root decides between gather and scatter")
def decide(draw):
    def program(p):
        for _ in range(25):
            yield p.compute(4 * MS)
            yield p.collective("MPI_Gather", 100, 0)
            if p.rank == 0:
                yield p.compute(4 * MS)
            yield p.collective("MPI_Scatter", 100, 0)
    return program, None, [not_silent, never_says("overload"), says("[Ss]erial|alone"), one_number, begins_with_busy]


@kind("input in the middle", held=True)
def input_later(draw):
    def program(p):
        for turn in range(20):
            if turn == 10:
                if p.rank == 5:
                    yield p.compute(90 * MS)
                yield p.bcast(50000, 5)
            yield p.compute(4 * MS)
            yield p.allreduce(8)
    return program, None, [not_silent, never_says("overload"), says("[Ss]erial|alone|once")]


@kind("all are slow in the first iteration")
def warm_up(draw):
    def program(p):
        for turn in range(20):
            yield p.compute((40 if turn == 0 else 4) * MS)
            yield p.allreduce(8)
    return program, None, [clean]


@kind("slow in the last iteration", held=True)
def slow_last(draw):
    def program(p):
        for turn in range(20):
            yield p.compute((60 if p.rank == 1 and turn == 19 else 3) * MS)
            yield p.allreduce(8)
    return program, None, [first_is("dynamic-imbalance", "compute-imbalance", cause=[1]), never_says("overload"),
                           says("last|once|iteration")]


@kind("sweep over a grid")
def sweep(draw):
    """A true wavefront: smaller blocks help, and that is what is said."""
    def program(p):
        for _ in range(6):
            for direction in (1, -1):
                before, after = p.rank - direction, p.rank + direction
                if 0 <= before < SIZE:
                    yield p.receive(before, 0)
                yield p.compute(5 * MS)
                if 0 <= after < SIZE:
                    yield p.send(after, 8000)
    return program, None, [first_is("serialisation", "late-sender"), says("smaller|pieces|blocks|pipelin"), NO_TOKEN, one_number]


@kind("token for a file, once", held=True)
def token_once(draw):
    def program(p):
        for _ in range(10):
            yield p.compute(3 * MS)
            yield p.allreduce(8)
        yield from stage(p, 12 * MS, 4)
        yield p.barrier()
    return program, None, [not_silent, says("token|one after the other|at a time|take turns"), never_says("sweep")]


@kind("tree of sums by hand")
def tree_by_hand(draw):
    def program(p):
        for _ in range(30):
            yield p.compute((9 if p.rank == 6 else 3) * MS)
            step = 1
            while step < SIZE:
                if p.rank % (2 * step) == step:
                    yield p.send(p.rank - step, 8)
                    break
                yield p.receive(p.rank + step, 0)
                step *= 2
            yield p.bcast(8)
    return program, None, [first_is("compute-imbalance", cause=[6]), NO_MASTER, one_number, begins_with_busy]


@kind("hub that adds up, without a broadcast", held=True)
def hub(draw):
    def program(p):
        for _ in range(30):
            yield p.compute((8 if p.rank == 5 else 3) * MS)
            yield from send_to_root(p, 3, 800)
            yield p.barrier()
    return program, None, [first_is("compute-imbalance", cause=[5]), NO_MASTER, one_number]


@kind("receives in rank order from a gatherer")
def order_of_ranks(draw):
    """Process 0 handles results in the order of ranks; they come in the reverse order, handling takes as long as they are apart."""
    def build(planted):
        def program(p):
            for turn in range(20):
                yield from handle_in_order(p, planted, 2 * MS, turn)
                yield p.barrier()
        return program
    return build(True), build(False), [first_is("wrong-order"), saving(-0.2, 0.2), one_number]


@kind("two sources in the wrong order", held=True)
def order_of_two(draw):
    def build(planted):
        def program(p):
            for turn in range(30):
                pair = p.rank // 4 * 4
                if p.rank % 4 == 0:
                    for source in ((1, 2, 3) if planted else (3, 2, 1)):
                        yield p.receive(pair + source, turn)
                        yield p.compute(1 * MS)
                else:
                    yield p.compute((4 - p.rank % 4) * MS)
                    yield p.send(pair, 100, turn)
                    yield p.compute((p.rank % 4) * MS)
                yield p.allreduce(8)
        return program
    return build(True), build(False), [first_is("wrong-order"), saving(-0.2, 0.2), one_number]


# Nothing is wrong

@kind("clean: stencil with corners")
def clean_corners(draw):
    def program(p):
        row, column = divmod(p.rank, 4)
        around = [((row + i) % 2) * 4 + (column + k) % 4 for i in (0, 1) for k in (-1, 0, 1) if (i, k) != (0, 0)]
        for turn in range(30):
            yield p.compute(4 * MS)
            yield from halo(p, sorted(set(around)), 2000)
            if turn % 5 == 4:
                yield p.allreduce(8)
    return program, None, [clean]


@kind("clean: full pipeline")
def clean_pipeline(draw):
    def program(p):
        for _ in range(800):
            yield from stage(p, 2 * MS, 1000)
    return program, None, [clean]


@kind("clean: gather and scatter", held=True)
def clean_gather(draw):
    def program(p):
        for _ in range(30):
            yield p.collective("MPI_Scatter", 1000, 0)
            yield p.compute(5 * MS)
            yield p.collective("MPI_Gather", 1000, 0)
    return program, None, [clean]


@kind("clean: transposition", held=True)
def clean_transposition(draw):
    def program(p):
        for _ in range(20):
            yield p.compute(5 * MS)
            yield p.collective("MPI_Alltoall", 4000)
            yield p.compute(5 * MS)
    return program, None, [clean]


@kind("clean: red and black")
def clean_red_black(draw):
    def program(p):
        for turn in range(60):
            yield p.compute(3 * MS)
            partner = p.rank ^ 1 if turn % 2 == 0 else (p.rank - 1 if p.rank % 2 == 0 else p.rank + 1) % SIZE
            yield p.exchange(partner, partner, 1000)
    return program, None, [clean]


@kind("clean: hints between iterations", held=True)
def clean_hints(draw):
    def program(p):
        for turn in range(30):
            yield p.compute(5 * MS)
            if p.rank == 0 and turn % 10 == 0:
                for to in range(1, SIZE):
                    yield p.send(to, 16, 7)
            if p.rank > 0 and turn % 10 == 0:
                yield p.receive(0, 7)
            yield p.allreduce(8)
    return program, None, [clean]
