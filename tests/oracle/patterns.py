# SPDX-License-Identifier: BSD-3-Clause
"""Steps that the programs of judge.py and its other kinds share: each is used with `yield from` inside a program."""
from judging import SIZE


def others(rank):
    return [other for other in range(SIZE) if other != rank]


def send_to_root(p, root, size, any_source=False):
    """All send to the root, which receives in the order of ranks, or as they come."""
    if p.rank != root:
        yield p.send(root, size)
        return
    for source in others(root):
        yield p.receive(None if any_source else source, 0)


def reduce_by_hand(p, root, any_source=False, work=0):
    """All send to the root, which computes and sends the result to all."""
    yield from send_to_root(p, root, 8, any_source)
    if p.rank != root:
        yield p.receive(root, 0)
        return
    if work:
        yield p.compute(work)
    for to in others(root):
        yield p.send(to, 8)


def large_message(p, sender, receiver, late, work):
    """All work; the receive of a message that needs its receiver is posted before that, or late."""
    if p.rank == sender:
        yield p.send(receiver, 100000)
        yield p.compute(work)
    elif p.rank == receiver and late:
        yield p.compute(work)
        yield p.receive(sender, 0)
    elif p.rank == receiver:
        request = yield p.irecv(sender)
        yield p.compute(work)
        yield p.wait(request)
    else:
        yield p.compute(work)


def wait_for_all(p, size):
    """All send to process 0, which waits for all messages at once."""
    if p.rank > 0:
        yield p.send(0, size)
        return
    requests = []
    for source in range(1, SIZE):
        requests.append((yield p.irecv(source)))
    yield p.wait(*requests)


def stage(p, work, size):
    """A stage of a pipeline: from the process before this one, to the one after it."""
    if p.rank > 0:
        yield p.receive(p.rank - 1, 0)
    yield p.compute(work)
    if p.rank < SIZE - 1:
        yield p.send(p.rank + 1, size)


def handle_in_order(p, in_rank_order, work, turn):
    """Process 0 handles results, `work` ns each, in the order of ranks or as they come: in the reverse order, `work` apart."""
    if p.rank > 0:
        yield p.compute((SIZE - p.rank) * work)
        yield p.send(0, 100, turn)
        yield p.compute(p.rank * work)
        return
    for source in range(1, SIZE):
        yield p.receive(source if in_rank_order else None, turn)
        yield p.compute(work)
