# SPDX-License-Identifier: BSD-3-Clause
"""A third set of kinds for judge.py: senders that are held back, cores that are shared, rhythms of many lengths, two faults at
once, non-blocking collectives, and work that is done once.  All were listed before anything was changed for them."""
from judging import *  # noqa: F401,F403
from judge_more import rhythm
from patterns import large_message
from simulator import Machine
from simulate import MS, US, grid, halo, halo_program, neighbours


# 2. Small eager messages that their receiver holds back

HELD_BACK = {"machine": lambda: Machine(credits=4)}


def stage_of(slow_ms, slow, pieces=150, stages=SIZE):
    def program(p):
        for _ in range(pieces):
            if p.rank > 0:
                yield p.receive(p.rank - 1, 0)
            yield p.compute((slow_ms if p.rank == slow else 1) * MS)
            if p.rank < stages - 1:
                yield p.send(p.rank + 1, 400)
    return program


def even_stages(slow_ms, pieces=150):
    """The same work in all, the same in each stage."""
    def program(p):
        for _ in range(pieces):
            if p.rank > 0:
                yield p.receive(p.rank - 1, 0)
            yield p.compute((SIZE - 1 + slow_ms) * MS // SIZE)
            if p.rank < SIZE - 1:
                yield p.send(p.rank + 1, 400)
    return program


@kind("slow stage holds senders back", **HELD_BACK)
def slow_stage(draw):
    return stage_of(5, 4), even_stages(5), [first_is("compute-imbalance", cause=[4]), saving(-0.15, 0.15), one_number]


@kind("slow last stage holds senders back", held=True, **HELD_BACK)
def slow_last_stage(draw):
    return stage_of(4, SIZE - 1), even_stages(4), [first_is("compute-imbalance", cause=[SIZE - 1]), saving(-0.15, 0.15), one_number]


def consumer(each, own, later=False, turns=40):
    """All others send to process 0, which works on what it gets; later: with MPI_Isend, waited for after the work."""
    def program(p):
        for _ in range(turns):
            if p.rank == 0:
                for _ in range(SIZE - 1):
                    yield p.receive(None, 0)
                    yield p.compute(int(each * MS))
            elif later:
                request = yield p.isend(0, 400)
                yield p.compute(int(own * MS))
                yield p.wait(request)
            else:
                yield p.compute(int(own * MS))
                yield p.send(0, 400)
    return program


@kind("slow consumer holds senders back", **HELD_BACK)
def slow_consumer(draw):
    return (consumer(2, 2), consumer(0.5, 3.5), [first_is("compute-imbalance", cause=[0]), saving(-0.3, 0.3), one_number, not_silent])


@kind("slow consumer of MPI_Isend", held=True, **HELD_BACK)
def slow_consumer_later(draw):
    return (consumer(2, 2, True), consumer(0.5, 3.5, True),
            [first_is("compute-imbalance", cause=[0]), saving(-0.3, 0.3), one_number, not_silent])


# 3. Rhythms

@kind("random work and a long start", machine=lambda: Machine(starting={"MPI_Init": 900 * MS}))
def random_2(draw):
    pieces = {(rank, turn): draw.choice([2, 3, 4, 8]) * MS for rank in range(SIZE) for turn in range(60)}
    return rhythm(lambda rank, turn: pieces[rank, turn], 2, 60, False), None, [first_is("dynamic-imbalance"), one_number, not_silent]


@kind("work rotates with a barrier every 50th")
def rotates_50(draw):
    def program(p):
        for turn in range(200):
            yield p.compute((8 if turn % SIZE == p.rank else 3) * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 100)
            if turn % 50 == 49:
                yield p.barrier()

    def fixed(p):
        for turn in range(200):
            yield p.compute(29 * MS // 8)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 100)
            if turn % 50 == 49:
                yield p.barrier()
    return program, fixed, [first_is("dynamic-imbalance", "serialisation"), saving(-0.2, 0.2), one_number]


IRREGULAR = (2, 3, 11, 12, 20, 31, 33, 41, 55, 58)


@kind("random work in a halo with reductions now and then", machine=lambda: Machine(starting={"MPI_Init": 900 * MS}))
def random_irregular(draw):
    pieces = {(rank, turn): draw.choice([2, 2, 3, 9]) * MS for rank in range(SIZE) for turn in range(60)}

    def program(p):
        for turn in range(60):
            yield p.compute(pieces[p.rank, turn])
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 100)
            if turn in IRREGULAR:
                yield p.allreduce(8)
    return program, None, [first_is("dynamic-imbalance"), one_number, not_silent]


@kind("work rotates with barriers now and then", held=True)
def rotates_irregular(draw):
    def program(p):
        for turn in range(60):
            yield p.compute((9 if turn % SIZE == p.rank else 3) * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 100)
            if turn in IRREGULAR:
                yield p.barrier()
    return program, None, [first_is("dynamic-imbalance", "serialisation"), one_number, not_silent]


@kind("random work in a ring with reductions every 7th")
def random_ring(draw):
    pieces = {(rank, turn): draw.randrange(500, 1500) * 10 * US for rank in range(SIZE) for turn in range(56)}
    return rhythm(lambda rank, turn: pieces[rank, turn], 7, 56), None, [first_is("dynamic-imbalance"), one_number]


# 4. Shared cores

SHARED = {"machine": lambda: Machine(cores=2)}


@kind("halo of 8 processes on 2 cores", **SHARED)
def shared_halo(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: 2 * MS, 800, 60)
    return program, None, [first_is("oversubscription"), follows("transfer"), follows("late-sender"), follows("wait-at-nxn")]


@kind("exchange and reduction of 8 processes on 2 cores", **SHARED)
def shared_exchange(draw):
    def program(p):
        for _ in range(80):
            yield p.compute(1 * MS)
            yield p.exchange((p.rank + 1) % SIZE, (p.rank - 1) % SIZE, 800)
            yield p.allreduce(8)
    return program, None, [first_is("oversubscription"), follows("transfer"), follows("late-sender"), follows("wait-at-nxn")]


@kind("uneven work of 8 processes on 2 cores", **SHARED)
def shared_uneven(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: (6 if rank == 3 else 2) * MS, 800, 60)
    return program, None, [first_is("oversubscription"), follows("transfer"), follows("late-sender")]


@kind("reductions of 8 processes on 4 cores", held=True, machine=lambda: Machine(cores=4))
def shared_reductions(draw):
    def program(p):
        for _ in range(80):
            yield p.compute(3 * MS)
            yield p.allreduce(8)
    return program, None, [first_is("oversubscription"), follows("wait-at-nxn")]


# 7. Two faults at once

def two_senders(uneven, late):
    """Process 2 computes longer; process 5 sends late to process 6, although it could send before its work."""
    def program(p):
        for _ in range(20):
            yield p.compute((8 if p.rank == 2 and uneven else 3) * MS)
            yield p.allreduce(8)
            if p.rank == 5:
                if not late:
                    yield p.send(6, 100)
                yield p.compute(5 * MS)
                if late:
                    yield p.send(6, 100)
            elif p.rank == 6:
                yield p.receive(5, 0)
                yield p.compute(5 * MS)
            else:
                yield p.compute(5 * MS)
            yield p.barrier()
    return program


@kind("uneven work and a late sender")
def uneven_late_sender(draw):
    return (two_senders(True, True), None,
            [has("late-sender", fixed=two_senders(True, False)), independent("late-sender"), has("compute-imbalance"), one_number])


def order_and_work(uneven, wrong):
    """Process 1 computes longer before the reduction; process 0 receives in the order of ranks what comes in the reverse."""
    def program(p):
        for turn in range(20):
            yield p.compute((9 if p.rank == 1 and uneven else 3) * MS)
            yield p.allreduce(8)
            if p.rank == 0:
                for source in range(1, SIZE):
                    yield p.receive(source if wrong else None, turn)
                    yield p.compute(1 * MS)
            else:
                yield p.compute((SIZE - p.rank) * MS)
                yield p.send(0, 100, turn)
                yield p.compute(p.rank * MS)
            yield p.barrier()
    return program


@kind("uneven work and a wrong order")
def uneven_wrong_order(draw):
    return (order_and_work(True, True), None,
            [has("wrong-order", fixed=order_and_work(True, False)), independent("wrong-order"), one_number])


@kind("a late sender and a late receiver", held=True)
def sender_and_receiver(draw):
    def build(sender, receiver):
        def program(p):
            for _ in range(20):
                if p.rank == 1:
                    if sender:
                        yield p.compute(4 * MS)
                    yield p.send(0, 100)
                    if not sender:
                        yield p.compute(4 * MS)
                elif p.rank == 0:
                    yield p.receive(1, 0)
                    yield p.compute(4 * MS)
                else:
                    yield p.compute(4 * MS)
                yield p.barrier()
                yield from large_message(p, 4, 5, receiver, 6 * MS)
                yield p.barrier()
        return program
    return (build(True, True), None,
            [has("late-sender", fixed=build(False, True)), has("late-receiver", fixed=build(True, False)),
             independent("late-sender"), independent("late-receiver"), one_number])


# 10. Non-blocking collectives, and work that is done once

def later(name, work, turns=30):
    def program(p):
        for turn in range(turns):
            yield p.compute(work(p.rank, turn))
            request = yield p.icollective(name, 0 if name == "MPI_Ibarrier" else 8)
            yield p.compute(1 * MS)
            yield p.wait(request)
    return program


@kind("uneven work at a non-blocking barrier")
def uneven_later(draw):
    return (later("MPI_Ibarrier", lambda rank, turn: (8 if rank == 3 else 3) * MS), later("MPI_Ibarrier", lambda rank, turn: 29 * MS // 8),
            [first_is("compute-imbalance", cause=[3]), saving(), one_number])


@kind("work rotates at a non-blocking barrier")
def rotates_later(draw):
    return (later("MPI_Ibarrier", lambda rank, turn: (8 if turn % SIZE == rank else 3) * MS),
            later("MPI_Ibarrier", lambda rank, turn: 29 * MS // 8),
            [first_is("dynamic-imbalance", "serialisation"), saving(-0.15, 0.15), one_number])


@kind("random work at a non-blocking reduction", held=True)
def random_later(draw):
    pieces = {(rank, turn): draw.choice([2, 3, 4, 8]) * MS for rank in range(SIZE) for turn in range(30)}
    means = [sum(pieces[rank, turn] for rank in range(SIZE)) // SIZE for turn in range(30)]
    return (later("MPI_Iallreduce", lambda rank, turn: pieces[rank, turn]), later("MPI_Iallreduce", lambda rank, turn: means[turn]),
            [first_is("dynamic-imbalance"), saving(-0.15, 0.15), one_number])


@kind("a slow first iteration in a halo")
def slow_first_halo(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: (80 if rank == 6 and turn == 0 else 3) * MS, 800, 20)
    return program, None, [not_silent, never_says("overload", "times as long as the others"), says("first|once|iteration")]


@kind("one reads much more of the input", held=True)
def input_uneven(draw):
    def program(p):
        yield p.compute((90 if p.rank == 2 else 10) * MS)
        yield p.barrier()
        for _ in range(25):
            yield p.compute(4 * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
    return program, None, [not_silent, never_says("overload"), says("once|alone|[Ss]erial")]


# Two faults at barriers: the barrier is the cause of neither

def between_barriers(alone, slow=True):
    """One computes longer before a barrier; then `alone(p)`, which others wait for, and another barrier."""
    def program(p):
        for _ in range(20):
            yield p.compute((10 if slow and p.rank == 5 else 5) * MS)
            yield p.barrier()
            yield from alone(p)
            yield p.barrier()
    return program


def root_first(late):
    def alone(p):
        if late and p.rank == 0:
            yield p.compute(5 * MS)
        yield p.bcast(8)
        if not late or p.rank != 0:
            yield p.compute(5 * MS)
    return alone


def receiver_first(late):
    def alone(p):
        if p.rank % 2 == 0:
            if not late:
                yield p.compute(5 * MS)
            yield p.send(p.rank + 1, 200000)
            if late:
                yield p.compute(5 * MS)
        else:
            yield p.compute(5 * MS)
            yield p.receive(p.rank - 1, 0)
    return alone


@kind("uneven work and a late root between barriers")
def rooted_barriers(draw):
    return between_barriers(root_first(True)), None, [
        first_is("late-broadcast", "compute-imbalance"), follows("wait-at-barrier"), one_number,
        has("late-broadcast", [0], fixed=between_barriers(root_first(False)))]


@kind("uneven work and late receivers between barriers")
def receiving_barriers(draw):
    return between_barriers(receiver_first(True)), None, [
        first_is("late-receiver", "compute-imbalance"), follows("wait-at-barrier"), one_number,
        has("late-receiver", fixed=between_barriers(receiver_first(False)))]


# Nothing is wrong

@kind("clean: non-blocking reduction")
def clean_later(draw):
    return later("MPI_Iallreduce", lambda rank, turn: 5 * MS), None, [clean]


@kind("clean: pipeline with little room", **HELD_BACK)
def clean_held_pipeline(draw):
    return stage_of(1, 0, 600), None, [clean]


@kind("clean: halo with checks now and then", held=True)
def clean_irregular(draw):
    def program(p):
        for turn in range(60):
            yield p.compute(4 * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 800)
            if turn in IRREGULAR:
                yield p.allreduce(8)
    return program, None, [clean]
