#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random runs whose every wait is known, compared with what sight makes of their traces.

    waits.py SIGHT COUNT [SEED]     COUNT runs; prints what differs, exits with 1 if anything does

A run is a random MPI program that is played here, call by call, with whole nanoseconds: who waits for whom follows from
the rules (Scalasca's patterns, as in the mission's peers.md 2.4), from the calls and partners that are known here, not
from any matching of a trace.  The program is written as SIGHT XML.  What is compared: for every kind of wait how many
calls wait, how long each process waits, and how long each is waited for; the length of the critical path, which is the
run's; a replay with nothing changed, which is the run; the run on an ideal network, played again here, and of some what
another network that costs nothing makes of them; the parts of the parallel efficiency and their product; and that the
costs of delays are all waiting.
It shares no code with SIGHT.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

class Call:
    def __init__(self, rank, name, enter, comm=0):
        self.rank, self.name, self.enter, self.comm = rank, name, enter, comm
        self.leave = None
        self.messages = []  # (direction, partner, tag, bytes, communicator)
        self.root = None
        self.needs = []  # calls that must be entered before this one can end
        self.gives = self.gets = True
        self.counts = False  # the bytes it gives and gets are in the trace
        self.after = []  # calls that must be left before
        self.target = None  # of an access to a window: process, and rank in the window
        self.ranks = None  # of the window: who it is about, and how it is locked
        self.receives = False
        self.requests = None  # (first, count) of those that it posts, starts or completes


class LockEpoch:
    """A process locks another's part of a window: its first calls of each sort."""
    ACQUIRING = "lock", "access", "flush", None

    def __init__(self, rank, target):
        self.rank, self.target = rank, target
        self.exclusive = self.all = False
        self.steps = {}

    def got(self, manner):
        """When the lock is acquired, at the latest."""
        return self.steps.get(self.ACQUIRING[manner[self.all]], self.steps["unlock"]).leave

    def giving(self):
        return self.steps["unlock"].enter

    def holds(self, manner):
        return self.got(manner) <= self.giving()

    def conflicts(self, other):
        return self.target == other.target and self.rank != other.rank and (self.exclusive or other.exclusive)


class Run:
    """Plays a random program. `now` is the clock of each process; calls are kept in the order in which they happen."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.processes = self.random.randint(2, 7)
        self.now = [0] * self.processes
        self.calls = [[] for _ in range(self.processes)]
        self.waits = {}  # kind -> list of (rank, cause, ns)
        self.late = []  # waits for senders: (call, send that it waits for, cause, ns)
        self.groups = [list(range(self.processes))]  # communicators: members by rank
        for _ in range(self.random.randint(0, 2)):
            size = self.random.randint(2, self.processes)
            self.groups.append(self.random.sample(range(self.processes), size))
        self.intra = len(self.groups)
        self.sources = {}  # communicator with a topology -> rank -> ranks that give to it; None: the trace does not say
        self.sides = []  # inter-communicators: the communicators that stand for their two groups
        self.partnerless = 0
        self.make_topologies()
        self.make_sides()
        self.windows = []  # communicators that are windows
        for _ in range(self.random.randint(0, 2)):
            self.windows.append(len(self.groups))
            self.groups.append(list(self.random.choice(self.groups[:self.intra])))
        self.accesses = {}  # (window, origin, target) -> [(start, complete)]; and [post], as they come
        self.exposures = {}
        self.reductions = []
        self.fences = []  # kind and members of each
        self.writes = []  # calls that begin and end each
        self.ends = []  # of messages: (send, receive), the calls with their records
        self.locks = {}  # window -> [LockEpoch]
        self.acquiring = {}  # window -> in which step of an epoch a lock is acquired: of one, of all
        self.waits_at_start = self.random.random() < 0.5  # else MPI_Win_start returns at once
        for rank in range(self.processes):
            self.mark(rank, "Begin")
        rounds = self.random.randint(1, 40)
        kinds = [self.eager, self.rendezvous, self.barrier, self.all_to_all, self.one_to_all, self.all_to_one,
                 self.several, self.out_of_order, self.user_state, self.scan, self.neighbours, self.two_groups,
                 self.completed_later, self.write_later, self.write_split,
                 self.make_comm]
        self.plain = self.random.random() < 0.25  # nothing that another network does in another way
        if self.plain:
            kinds = [self.eager, self.barrier, self.all_to_all, self.several, self.out_of_order, self.user_state]
        if self.windows:
            kinds += [self.fence, self.epoch, self.lock_epochs]
        self.requests_given = [self.random.randrange(9) for _ in range(self.processes)]
        for _ in range(rounds):
            for rank in range(self.processes):
                self.now[rank] += self.random.choice([0, 0, 7, 100, self.random.randint(0, 5000)])
            self.random.choice(kinds)()
        for rank in range(self.processes):
            self.now[rank] += self.random.randint(0, 30)
            self.mark(rank, "End")
        self.find_wrong_order()
        self.find_in_reductions()
        self.find_fences()
        self.find_writes()
        self.find_late_posts()
        self.find_contention()

    def make_topologies(self):
        for _ in range(self.random.randint(0, 2)):
            members = self.random.sample(range(self.processes), self.random.randint(2, self.processes))
            ranks = range(len(members))
            given = self.random.random() < 0.9
            self.sources[len(self.groups)] = [
                [self.random.choice(ranks) for _ in range(self.random.choice([0, 1, 2, 2, 4, 9]))] if given else None
                for _ in ranks]
            self.groups.append(members)

    def make_sides(self):
        for _ in range(self.random.randint(0, 2)):
            members = self.random.sample(range(self.processes), self.random.randint(2, self.processes))
            cut = self.random.randint(1, len(members) - 1)
            self.sides.append((len(self.groups), len(self.groups) + 1))
            self.groups += [members[:cut], members[cut:]]

    def enter(self, rank, name, comm=0):
        call = Call(rank, name, self.now[rank], comm)
        self.calls[rank].append(call)
        return call

    def leave(self, call, at):
        call.leave = max(at, call.enter)
        self.now[call.rank] = call.leave

    def user_state(self):
        rank = self.random.randrange(self.processes)
        self.leave(self.enter(rank, "Computing"), self.now[rank] + self.random.randint(0, 500))

    def mark(self, rank, name):
        self.leave(self.enter(rank, name), self.now[rank])

    def wait(self, kind, call, cause, until):
        """The wait of a call until something happens, clipped to the call."""
        ns = min(until, call.leave) - call.enter
        if ns > 0:
            self.waits.setdefault(kind, []).append((call.rank, cause, ns))

    def late_sender(self, receive, send, cause):
        ns = min(send.enter, receive.leave) - receive.enter
        if ns > 0:
            self.late.append((receive, send, cause, ns))

    def find_wrong_order(self):
        """A wait for a sender is of wrong order where another message was there, which a later call receives; but not in
        MPI_Waitall, which needs all that it waits for."""
        for receive, send, cause, ns in self.late:
            calls = self.calls[receive.rank]
            there = [other for later in calls[calls.index(receive) + 1:] if later.receives for other in later.needs
                     if other.enter < send.enter]
            kind = "late-sender" if not there or receive.name == "MPI_Waitall" else (
                "wrong-order-same-source" if any(other.rank == send.rank for other in there)
                else "wrong-order-other-source")
            self.waits.setdefault(kind, []).append((receive.rank, cause, ns))

    def cost(self):
        return self.random.choice([1, 5, 40, 300])

    def pair(self):
        comm = self.random.randrange(self.intra)
        sender, receiver = self.random.sample(self.groups[comm], 2)
        return comm, sender, receiver

    def message(self, send, receive, comm, tag=None):
        size = self.random.choice([0, 8, 5000])
        tag = self.random.randint(0, 3) if tag is None else tag
        send.messages.append(("send", receive.rank, tag, size, comm))
        receive.messages.append(("receive", send.rank, tag, size, comm))
        self.ends.append((send, receive))

    def ends_known(self, send, receive):
        """Late sender, and late receiver: a send that returns only after its receive was entered."""
        self.late_sender(receive, send, send.rank)
        receive.needs.append(send)
        receive.receives = True
        if send.leave > receive.enter > send.enter:
            self.wait("late-receiver", send, receive.rank, receive.enter)
            send.needs.append(receive)

    def eager(self):
        comm, sender, receiver = self.pair()
        send, receive = self.enter(sender, "MPI_Send", comm), self.enter(receiver, "MPI_Recv", comm)
        self.message(send, receive, comm)
        self.leave(send, send.enter + self.cost())
        self.leave(receive, max(receive.enter, send.enter + self.cost()) + self.cost())
        self.ends_known(send, receive)

    def rendezvous(self):
        comm, sender, receiver = self.pair()
        send, receive = self.enter(sender, "MPI_Ssend", comm), self.enter(receiver, "MPI_Recv", comm)
        self.message(send, receive, comm)
        met = max(send.enter, receive.enter)
        self.leave(send, met + self.cost())
        self.leave(receive, met + self.cost())
        self.ends_known(send, receive)

    def several(self):
        """One process posts receives and waits for all; of several late senders the latest counts."""
        receiver = self.random.randrange(self.processes)
        others = [rank for rank in range(self.processes) if rank != receiver]
        senders = self.random.sample(others, self.random.randint(1, len(others)))
        for _ in senders:
            post = self.enter(receiver, "MPI_Irecv")
            self.leave(post, post.enter + 2)
        self.now[receiver] += self.random.choice([0, 50, 3000])
        sends = [self.enter(rank, "MPI_Send") for rank in senders]
        waitall = self.enter(receiver, "MPI_Waitall")
        for send in sends:
            self.leave(send, send.enter + self.cost())
            self.message(send, waitall, 0)
        self.leave(waitall, max([waitall.enter] + [send.enter + 1 for send in sends]) + self.cost())
        waitall.needs = sends
        waitall.receives = True
        latest = max(sends, key=lambda send: send.enter)
        tie = sum(send.enter == latest.enter for send in sends) > 1
        self.late_sender(waitall, latest, None if tie else latest.rank)

    def request(self, call):
        """The call posts a request; numbers go round, as those that are completed are given again."""
        number = self.requests_given[call.rank] % 9 + 1
        self.requests_given[call.rank] += 1
        call.requests = (number, 1)
        return number

    def wait_for_requests(self, rank, numbers):
        """MPI_Waitall; numbers that do not follow each other are in marks before the leave."""
        call = self.enter(rank, "MPI_Waitall")
        call.marks = []
        for number in numbers:
            first, count = call.requests or (0, 0)
            if call.requests and number == first + count:
                call.requests = (first, count + 1)
                continue
            if call.requests:
                call.marks.append(call.requests)
            call.requests = (number, 1)
        return call

    def completed_later(self):
        """One process sends to several, synchronously or not, and completes that later; they receive in blocking calls,
        or post receives that they complete later. The sends complete when all synchronous ones are posted."""
        sender = self.random.randrange(self.processes)
        others = [rank for rank in range(self.processes) if rank != sender]
        receivers = self.random.sample(others, self.random.randint(1, len(others)))
        synchronous = self.random.random() < 0.7
        sends, numbers = [], []
        for _ in receivers:
            send = self.enter(sender, "MPI_Issend" if synchronous else "MPI_Isend")
            numbers.append(self.request(send))
            self.leave(send, send.enter + 2)
            sends.append(send)
        self.now[sender] += self.random.choice([0, 50, 3000])
        posts = []  # who posts a receive: the receive itself, or its MPI_Irecv
        receives = []
        for send, rank in zip(sends, receivers):
            if self.random.random() < 0.5:
                post = self.enter(rank, "MPI_Irecv")
                number = self.request(post)
                self.leave(post, post.enter + 3)
                self.now[rank] += self.random.choice([0, 40, 2000])
                receive = self.wait_for_requests(rank, [number])
            else:
                post = receive = self.enter(rank, "MPI_Recv")
            posts.append(post)
            receives.append(receive)
        for send, receive in zip(sends, receives):
            self.message(send, receive, 0)
            self.leave(receive, max(receive.enter, send.enter + 1) + self.cost())
            self.late_sender(receive, send, send.rank)
            receive.needs.append(send)
            receive.receives = True
        waitall = self.wait_for_requests(sender, numbers)
        # Without synchronisation it is over at once, whenever the receives are posted; unless those come in between.
        until = max(post.enter for post in posts) if synchronous else waitall.enter
        self.leave(waitall, max(waitall.enter, until) + self.cost())
        late = [post for post in posts if waitall.enter < post.enter < waitall.leave]
        if late:
            last = max(post.enter for post in late)
            causes = [post.rank for post in late if post.enter == last]
            self.wait("late-receiver", waitall, causes[0] if len(causes) == 1 else None, last)
            waitall.needs += late

    def out_of_order(self):
        """Two messages to one process, from one sender or two; the one that was sent last is received first."""
        comm, first, receiver = self.pair()
        second = self.random.choice([rank for rank in self.groups[comm] if rank != receiver])
        early = self.enter(first, "MPI_Send", comm)
        self.leave(early, early.enter + self.cost())
        self.now[second] += self.random.choice([0, 2000])
        late = self.enter(second, "MPI_Send", comm)
        self.leave(late, late.enter + self.cost())
        for send, tag in ((late, 5), (early, 4)):
            receive = self.enter(receiver, "MPI_Recv", comm)
            self.message(send, receive, comm, tag)
            self.leave(receive, max(receive.enter, send.enter + 1) + self.cost())
            self.ends_known(send, receive)

    def collective(self, names):
        comm = self.random.randrange(self.intra)
        name = self.random.choice(names)
        return comm, [self.enter(rank, name, comm) for rank in self.groups[comm]]

    def everyone_waits(self, kind, completion, names):
        _, calls = self.collective(names)
        latest = max(call.enter for call in calls)
        last = min(call.rank for call in calls if call.enter == latest)
        for call in calls:
            call.needs = calls
            self.leave(call, latest + self.cost())
        first_out = min(call.leave for call in calls)
        for call in calls:
            self.wait(kind, call, last, latest)
            if call.leave > max(first_out, latest):
                self.waits.setdefault(completion, []).append((call.rank, None, call.leave - max(first_out, latest)))

    def barrier(self):
        self.everyone_waits("wait-at-barrier", "barrier-completion", ["MPI_Barrier"])

    def all_to_all(self):
        self.everyone_waits("wait-at-nxn", "nxn-completion",
                            ["MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather", "MPI_Reduce_scatter"])

    def with_root(self, names):
        comm, calls = self.collective(names)
        root = self.random.randrange(len(calls))
        for call in calls:
            call.root = root
        return calls, calls[root], [call for call in calls if call is not calls[root]]

    def one_to_all(self):
        _, root, others = self.with_root(["MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"])
        self.leave(root, root.enter + self.cost())
        for call in others:
            call.needs = [root]
            self.leave(call, max(call.enter, root.enter) + self.cost())
            self.wait("late-broadcast", call, root.rank, root.enter)

    def all_to_one(self):
        calls, root, others = self.with_root(["MPI_Reduce", "MPI_Gather", "MPI_Gatherv"])
        last = max(call.enter for call in calls)
        for call in others:  # some are inner nodes of the tree; what stays in the middle of it needs not all
            self.leave(call, self.random.choice([call.enter, call.enter, last, (call.enter + last) // 2]) + self.cost())
        root.needs = others
        self.leave(root, max(call.enter for call in calls) + self.cost())
        first = min(others, key=lambda call: call.enter)
        self.wait("early-reduce", root, None, first.enter)
        self.reductions.append((calls, root, first.enter))

    def find_in_reductions(self):
        """Who stays until the last has come, by more than clocks may be wrong."""
        error = self.clock_error()
        for calls, root, first in self.reductions:
            last = max(call.enter for call in calls)
            for call in calls:
                early = max(min(first, call.leave) - call.enter, 0) if call is root else 0
                if last > call.enter + early and call.leave - last >= error:
                    self.waits.setdefault("in-reduction", []).append((call.rank, None, last - call.enter - early))

    def scan(self):
        _, calls = self.collective(["MPI_Scan", "MPI_Exscan"])
        latest = calls[0]
        for call in calls:
            latest = call if call.enter > latest.enter else latest
            call.needs = calls[:calls.index(call)]
            self.leave(call, latest.enter + self.cost())
            self.wait("early-scan", call, latest.rank, latest.enter)

    def some_have_nothing(self, calls):
        """Counts may be 0: such a process keeps nobody waiting, or does not wait."""
        for call in calls if self.random.random() < 0.3 else []:
            call.counts = True
            call.gives, call.gets = self.random.random() < 0.7, self.random.random() < 0.7

    def wait_for(self, kind, call, others, until=None):
        """The call waits for the last of the others that give something."""
        givers = [other for other in others if other.gives]
        if not call.gets or not givers:
            self.leave(call, call.enter + self.cost())
            return
        latest = max(other.enter for other in givers)
        call.needs = givers
        self.leave(call, max(call.enter, latest) + self.cost())
        last = min(other.rank for other in givers if other.enter == latest)
        self.wait(kind, call, None if until else last, until(givers) if until else latest)

    def wait_for_sides(self, kind, call, others, own, library):
        """The call waits for the other group; for its own as well if it is seen to end after that."""
        everyone = [[other for other in side if other.gives] for side in (others, own)]
        if not call.gets or not everyone[0]:
            self.leave(call, call.enter + self.cost())
            return
        latest = [max([other.enter for other in side], default=-1) for side in everyone]
        self.leave(call, max(call.enter, max(latest) if library else latest[0]) + self.cost())
        both = call.leave >= max(latest)
        call.needs = everyone[0] + everyone[1] if both else everyone[0]
        until = max(latest) if both else latest[0]
        last = [other.rank for other in call.needs if other.enter == until]
        self.wait(kind, call, last[0] if len(last) == 1 else None, until)

    def neighbours(self):
        if not self.sources:
            return
        comm = self.random.choice(list(self.sources))
        name = self.random.choice(["MPI_Neighbor_allgather", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw_c"])
        calls = [self.enter(rank, name, comm) for rank in self.groups[comm]]
        self.some_have_nothing(calls)
        for rank, call in enumerate(calls):
            sources = self.sources[comm][rank]
            self.partnerless += sources is None
            self.wait_for("wait-at-nxn", call, [calls[source] for source in sources or [] if source != rank])

    def two_groups(self):
        if not self.sides:
            return
        comms = self.random.choice(self.sides)
        kind, names = self.random.choice([("wait-at-barrier", ["MPI_Barrier"]),
                                          ("wait-at-nxn", ["MPI_Allreduce", "MPI_Alltoallv", "MPI_Allgather"]),
                                          ("late-broadcast", ["MPI_Bcast", "MPI_Scatterv"]),
                                          ("early-reduce", ["MPI_Reduce", "MPI_Gatherv"])])
        name = self.random.choice(names)
        groups = [[self.enter(rank, name, comm) for rank in self.groups[comm]] for comm in comms]
        if kind == "wait-at-nxn":
            self.some_have_nothing(groups[0] + groups[1])
        if kind.startswith("wait-at"):
            library = self.random.random() < 0.5  # it collects in each group first
            for side, calls in enumerate(groups):
                for call in calls:
                    self.wait_for_sides(kind, call, groups[1 - side], calls, library)
            return
        side = self.random.randrange(2)
        number = self.random.randrange(len(groups[side]))
        root = groups[side][number]
        for call in groups[side]:
            call.root = -2 if call is root else -3  # MPI_ROOT, MPI_PROC_NULL
            call.counts, call.gives, call.gets = True, False, False
        for call in groups[1 - side]:
            call.root = number
            call.counts, call.gives, call.gets = True, kind == "early-reduce", kind == "late-broadcast"
        root.gives, root.gets = kind == "late-broadcast", kind == "early-reduce"
        for call in groups[0] + groups[1]:
            if call is root:
                self.wait_for(kind, root, groups[1 - side], lambda givers: min(other.enter for other in givers))
            else:
                self.wait_for(kind, call, [root])

    def fence(self):
        self.come_together("wait-at-fence", self.random.choice(self.windows), "MPI_Win_fence")

    def make_comm(self):
        name = self.random.choice(["MPI_Comm_dup", "MPI_Comm_split", "MPI_Cart_create", "MPI_Comm_free"])
        self.come_together("wait-at-comm", self.random.randrange(self.intra), name)

    def come_together(self, kind, comm, name):
        """All wait for the last; or nobody does, where one leaves before."""
        calls = [self.enter(rank, name, comm) for rank in self.groups[comm]]
        latest = max(call.enter for call in calls)
        waits = self.random.random() < 0.7
        for call in calls:
            self.leave(call, (latest if waits else call.enter) + self.cost())
        self.fences.append((kind, calls))

    def clock_error(self):
        """By so much a message is received before it is sent: clocks may be as wrong."""
        return max([send.enter - receive.leave for send, receive in self.ends] + [0])

    def write_later(self):
        """All write to a file without blocking, and complete that; those who are there wait for the last, or nobody does."""
        comm = self.random.randrange(self.intra)
        posts = [self.enter(rank, "MPI_File_iwrite_at_all", comm) for rank in self.groups[comm]]
        numbers = [self.request(post) for post in posts]
        for post in posts:
            self.leave(post, post.enter + self.cost())
            self.io(post)
            self.now[post.rank] += self.random.choice([0, 40, 3000])
        ends = [self.wait_for_requests(post.rank, [number]) for post, number in zip(posts, numbers)]
        self.end_writing(posts, ends)

    def write_split(self):
        """The same in two halves: they wait in the first, or in the second, or not at all."""
        comm = self.random.randrange(self.intra)
        begins = [self.enter(rank, "MPI_File_write_all_begin", comm) for rank in self.groups[comm]]
        latest = max(call.enter for call in begins)
        at_begin = self.random.random() < 0.4
        for call in begins:
            self.leave(call, (latest if at_begin else call.enter) + self.cost())
            self.now[call.rank] += self.random.choice([0, 40, 3000])
        ends = [self.enter(rank, "MPI_File_write_all_end", comm) for rank in self.groups[comm]]
        self.end_writing(begins, ends)

    def end_writing(self, begins, ends):
        latest = max(call.enter for call in begins)
        waits = self.random.random() < 0.7
        for end in ends:
            self.leave(end, (max(end.enter, latest) if waits else end.enter) + self.cost())
        self.writes.append((begins, ends))

    def io(self, call, waited=0):
        if call.leave - call.enter > waited:
            self.waits.setdefault("io", []).append((call.rank, call.rank, call.leave - call.enter - waited))

    def find_writes(self):
        error = self.clock_error()
        for begins, ends in self.writes:
            latest = max(call.enter for call in begins)
            last = min(call.rank for call in begins if call.enter == latest)
            split = ends[0].name.startswith("MPI_File")
            calls = next((calls for calls in ([begins, ends] if split else [ends])
                          if min(call.leave for call in calls) + error >= latest), [])
            for call in calls:
                call.needs = call.needs + begins
                self.wait("wait-at-io", call, last, latest)
            for call in begins + ends if split else []:
                self.io(call, max(0, min(latest, call.leave) - call.enter) if call in calls else 0)

    def find_fences(self):
        error = self.clock_error()
        for kind, calls in self.fences:
            latest = max(call.enter for call in calls)
            last = min(call.rank for call in calls if call.enter == latest)
            if len(calls) > 1 and min(call.leave for call in calls) + error >= latest:
                for call in calls:
                    call.needs = calls
                    self.wait(kind, call, last, latest)

    def about(self, call, ranks, lock=0):
        call.ranks = (ranks, lock)
        return call

    def epoch(self):
        """Origins access targets: a process may be both, and does all that does not wait first."""
        comm = self.random.choice(self.windows)
        members = self.groups[comm]
        pairs = [(origin, target) for origin in members for target in members
                 if origin != target and self.random.random() < 0.4]
        rank_of = {member: rank for rank, member in enumerate(members)}
        posts, starts, completes = {}, {}, {}
        for target in sorted({target for _, target in pairs}):
            origins = [origin for origin, other in pairs if other == target]
            posts[target] = self.about(self.enter(target, "MPI_Win_post", comm), [rank_of[one] for one in origins])
            self.leave(posts[target], self.now[target] + self.cost())
            self.now[target] += self.random.choice([0, 0, 50, 800])
        for origin in sorted({origin for origin, _ in pairs}):
            targets = [target for other, target in pairs if other == origin]
            posted = max(posts[target].enter for target in targets)
            start = starts[origin] = self.about(self.enter(origin, "MPI_Win_start", comm),
                                                [rank_of[one] for one in targets])
            self.leave(start, max(start.enter, posted if self.waits_at_start else 0) + self.cost())
            puts = [self.put(origin, comm, self.random.choice(targets), rank_of)
                    for _ in range(self.random.choice([0, 1, 1, 3]))]
            self.now[origin] += self.random.choice([0, 0, 70, 900])
            complete = completes[origin] = self.enter(origin, "MPI_Win_complete", comm)
            complete.last = max(puts or [start], key=lambda call: call.leave)
            self.leave(complete, max(complete.enter, posted) + self.cost())
            for target in targets:
                self.accesses.setdefault((comm, origin, target), []).append((start, puts, complete))
                self.exposures.setdefault((comm, origin, target), []).append(posts[target])
        for target in posts:
            done = [completes[origin] for origin, other in pairs if other == target]
            wait = self.enter(target, "MPI_Win_wait", comm)
            wait.needs = done
            latest = max(call.enter for call in done)
            self.leave(wait, max(wait.enter, latest) + self.cost())
            self.end_of_accesses(wait, done)

    def put(self, rank, comm, target, rank_of):
        put = self.enter(rank, "MPI_Put", comm)
        self.leave(put, put.enter + self.cost())
        put.target = (target, rank_of[target])
        self.now[rank] += self.random.choice([0, 0, 30])
        return put

    def end_of_accesses(self, wait, done):
        """Until all origins have accessed the window the last time it is an early wait, from then on a late complete."""
        latest = max(call.enter for call in done)
        accessed = max(call.last.leave for call in done)
        early = max(0, min(accessed, wait.leave) - wait.enter)
        last = [call.rank for call in done if call.last.leave == accessed]
        self.wait("early-wait", wait, last[0] if len(last) == 1 else None, accessed)
        late = min(latest, wait.leave) - wait.enter - early
        last = [call.rank for call in done if call.enter == latest]
        if late > 0:
            self.waits.setdefault("late-complete", []).append((wait.rank, last[0] if len(last) == 1 else None, late))

    def find_late_posts(self):
        """Which call lasted until the post: MPI_Win_start where none of them ever returned before, or if this one did
        not; else the longest access of the epoch, if it is to that target; else MPI_Win_complete."""
        pairs = [(key[2], start, puts, complete, post) for key, accesses in self.accesses.items()
                 for (start, puts, complete), post in zip(accesses, self.exposures[key])]
        always = all(start.leave + self.clock_error() >= post.enter for _, start, _, _, post in pairs)
        waiters = set()
        for target, start, puts, complete, post in pairs:
            longest = max(puts, key=lambda call: call.leave - call.enter, default=None)
            waiter = complete
            if always or start.enter < post.enter <= start.leave:
                waiter = start
            elif longest and longest.target[0] == target and longest.enter < post.enter <= longest.leave:
                waiter = longest
            waiter.needs.append(post)
            waiter.posts = getattr(waiter, "posts", []) + [post]
            waiters.add(waiter)
        for waiter in waiters:
            latest = max(post.enter for post in waiter.posts)
            last = [post.rank for post in waiter.posts if min(post.enter, waiter.leave) == min(latest, waiter.leave)]
            self.wait("late-post", waiter, last[0] if len(last) == 1 else None, latest)

    def lock_epochs(self):
        """Who asks first gets it first; those that share it, together. When it is acquired is up to the MPI: at the lock, at
        the first access, at the first flush behind one, or at last in the unlock."""
        comm = self.random.choice(self.windows)
        members = self.groups[comm]
        rank_of = {member: rank for rank, member in enumerate(members)}
        target = self.random.choice(members)
        acquires = self.acquiring.setdefault(comm, self.random.choice(["lock", "lock", "access", "flush"]))
        some = self.random.sample(members, self.random.randint(1, len(members)))
        given = []  # (when it is free again, exclusive), of those before
        for rank in sorted(some, key=lambda one: self.now[one]):
            epoch = LockEpoch(rank, target)
            epoch.exclusive = self.random.random() < 0.6
            epoch.all = not epoch.exclusive and self.random.random() < 0.5
            unchecked = self.random.random() < 0.1
            got = False
            steps = ["lock"] + ["access"] * self.random.choice([0, 1, 2]) + \
                self.random.choice([[], ["flush"], ["flush"], ["access", "flush"]]) + ["unlock"]
            for step in steps:
                call = self.lock_step(epoch, step, comm, rank_of)
                needs = step == "unlock" or (step == acquires and (step != "flush" or "access" in epoch.steps))
                until = call.enter
                if needs and not got and not unchecked:
                    got = True
                    until = max([call.enter] + [free for free, alone in given if epoch.exclusive or alone])
                self.leave(call, until + self.cost())
                if step != "flush" or "access" in epoch.steps:
                    epoch.steps.setdefault(step, call)
                self.now[rank] += self.random.choice([0, 60, 2000]) if step == "flush" else 0
            if unchecked:
                epoch.steps["lock"].ranks = (epoch.steps["lock"].ranks[0], 3)
                continue
            given.append((epoch.steps["unlock"].leave, epoch.exclusive))
            if not epoch.all or "access" in epoch.steps:  # else nobody knows of what
                self.locks.setdefault(comm, []).append(epoch)

    def lock_step(self, epoch, step, comm, rank_of):
        if step == "access":
            put = self.enter(epoch.rank, "MPI_Put", comm)
            put.target = (epoch.target, rank_of[epoch.target])
            return put
        alone = step == "flush" and self.random.random() < 0.5  # MPI_Win_flush_all is for all, too
        call = self.enter(epoch.rank, "MPI_Win_" + step + ("_all" if epoch.all and not alone else ""), comm)
        if step == "lock" and epoch.all:
            return self.about(call, list(range(len(rank_of))), 1)
        if call.name.endswith("_all"):
            return call
        lock = (2 if epoch.exclusive else 1) if step == "lock" else 0
        return self.about(call, [rank_of[epoch.target]], lock)

    def find_contention(self):
        """From when on the lock is held against me, until it is given back; by whom is known where it is one."""
        for epochs in self.locks.values():
            manner = self.manner(epochs)
            for epoch in epochs:
                self.find_holder(epoch, epochs, manner)

    def manner(self, epochs):
        """When the window's locks are acquired: so soon that no two are held against each other."""
        manner = {False: 0, True: 0}  # of one, of all: a row of LockEpoch.ACQUIRING
        while True:
            later = set()
            for epoch in epochs:
                before = [other for other in epochs if epoch.conflicts(other) and other.holds(manner) and
                          epoch.holds(manner) and other.got(manner) <= epoch.got(manner)]
                longest = max(before, key=lambda other: other.giving(), default=None)
                if longest and longest.giving() - epoch.got(manner) > self.clock_error():
                    later.add((epoch.all or longest.all) and manner[True] < 3)
            later = {one for one in later if manner[one] < 3}
            if not later:
                return manner
            for one in later:
                manner[one] += 1

    def find_holder(self, epoch, epochs, manner):
        wanted = epoch.steps["lock"].enter
        against = [other for other in epochs if epoch.conflicts(other) and other.holds(manner)
                   and other.got(manner) <= epoch.giving() and other.got(manner) < epoch.got(manner)
                   and wanted < other.giving() <= epoch.got(manner)]
        if not against or manner[epoch.all] == 3:
            return
        latest = max(other.giving() for other in against)
        last = [other for other in against if other.giving() == latest]
        call = next((epoch.steps[step] for step in ("lock", "access", "flush", "unlock") if step in epoch.steps
                     and (step != "access" or manner[epoch.all] == 1)
                     and epoch.steps[step].enter < latest <= epoch.steps[step].leave), None)
        if not call:
            return
        unlock = last[-1].steps["unlock"]
        ns = min(unlock.leave, call.leave) - max(call.enter, min(other.got(manner) for other in against))
        call.after.append(unlock)
        if ns > 0:
            self.waits.setdefault("lock-contention", []).append(
                (call.rank, last[0].rank if len(last) == 1 else None, ns))

    def duration(self):
        return max(self.now)

    def computing(self, rank):
        in_mpi = sum(call.leave - call.enter for call in self.calls[rank] if call.name.startswith("MPI_"))
        return self.now[rank] - in_mpi

    def ideal(self):
        """How long the run lasts if calls take no time but for waiting: computing, and who needs whom, are as they are.
        """
        enters, leaves = {}, {}
        todo = [(rank, 0) for rank in range(self.processes)]
        in_mpi = [[call for call in calls if call.name.startswith("MPI_")] for calls in self.calls]
        while todo:
            waiting = []
            for rank, index in todo:
                while index < len(in_mpi[rank]):
                    call = in_mpi[rank][index]
                    before = in_mpi[rank][index - 1] if index else None
                    enters[call] = call.enter if not before else leaves[before] + call.enter - before.leave
                    if any(needed not in enters for needed in call.needs) or any(one not in leaves for one in call.after):
                        waiting.append((rank, index))
                        break
                    leaves[call] = max([enters[call]] + [enters[needed] for needed in call.needs]
                                       + [leaves[one] for one in call.after])
                    index += 1
            todo = waiting
        return max(leaves[calls[-1]] + self.now[rank] - calls[-1].leave if calls else self.now[rank]
                   for rank, calls in enumerate(in_mpi))

    def write(self, path):
        with open(path, "w", encoding="utf-8") as out:
            out.write('<!DOCTYPE trace SYSTEM "sight.dtd">\n<trace processes="%d">\n' % self.processes)
            out.write('<marktype name="MPI request" format="request=%25d, count=%25d" id="5000"/>\n')
            out.write('<constant name="MPI_File communicators" value="1"/>\n')
            out.write('<communicator id="0" kind="intra" world="yes"/>\n')
            alone = list(range(1, self.intra + len(self.sources))) + self.windows
            for comm, members in ((comm, self.groups[comm]) for comm in alone):
                out.write('<communicator id="%d" kind="intra"%s/>\n' %
                          (comm, ' window="yes"' if comm in self.windows else ""))
                for rank, member in enumerate(members):
                    out.write('<membership step="intra" communicator="%d" parent="0" rank="%d" process="%d" '
                              'timestamp="0"/>\n' % (comm, rank, member))
            self.write_sources(out)
            self.write_sides(out)
            for rank in range(self.processes):
                for call in self.calls[rank]:
                    self.write_call(out, rank, call)
            out.write("</trace>\n")

    def write_sources(self, out):
        for comm, sources in self.sources.items():
            for rank, ranks in enumerate(sources):
                if ranks is not None:
                    out.write('<neighbours%s communicator="%d" ranks="%s" process="%d" timestamp="0"/>\n' %
                              (self.random.choice(["", ' direction="receive"']), comm, " ".join(map(str, ranks)),
                               self.groups[comm][rank]))
                    out.write('<neighbours direction="send" communicator="%d" ranks="0" process="%d" timestamp="0"/>\n' %
                              (comm, self.groups[comm][rank]))

    def write_sides(self, out):
        for number, comms in enumerate(self.sides):
            inter = 1000 + number
            for comm, kind in zip((inter,) + comms, ("inter", "local", "remote")):
                out.write('<communicator id="%d" kind="%s"/>\n' % (comm, kind))
            for comm, other in (comms, comms[::-1]):
                for rank, member in enumerate(self.groups[comm]):
                    for step, number, number_in in (("inter", inter, rank), ("local", comm, rank), ("remote", other, -1)):
                        out.write('<membership step="%s" communicator="%d" parent="0" rank="%d" process="%d" '
                                  'timestamp="0"/>\n' % (step, number, number_in, member))

    @staticmethod
    def write_call(out, rank, call):
        comm = ' communicator="%d"' % call.comm
        out.write('<event process="%d" timestamp="%s" data="%s"%s/>\n' %
                  (rank, microseconds(call.enter), call.name, comm))
        ranks, lock = call.ranks or ([], 0)
        for one in ranks:
            payload = "%08X%08X%08X%08X" % (one, one, 1, lock)
            out.write('<mark process="%d" timestamp="%s" data="MPI ranks"%s payload="%s"/>\n' %
                      (rank, microseconds(call.enter), comm, payload))
        for direction, partner, tag, size, message_comm in call.messages:
            out.write('<message process="%d" timestamp="%s" communication="%d" tag="%d" bytes="%d" direction="%s" '
                      'communicator="%d"/>\n' % (rank, microseconds(call.leave), partner, tag, size, direction, message_comm))
        for first, count in getattr(call, "marks", []):
            out.write('<mark process="%d" timestamp="%s" data="MPI request" request="%d" requests="%d"/>\n' %
                      (rank, microseconds(call.leave), first, count))
        requests = "" if call.requests is None else ' request="%d" requests="%d"' % call.requests
        root = "" if call.root is None else ' communication="%d"' % call.root
        if call.target:
            root = ' root="%d" sent="8" received="0"' % call.target[1]
        counts = ' sent="%d" received="%d"' % (8 * call.gives, 8 * call.gets) if call.counts else ""
        out.write('<event process="%d" timestamp="%s" data="%s"%s%s%s/>\n' %
                  (rank, microseconds(call.leave), call.name, root, counts, requests))


def microseconds(ns):
    return "%d.%03d" % (ns // 1000, ns % 1000)


def nanoseconds(seconds):
    whole, fraction = seconds.split(".")
    return int(whole) * 10 ** 9 + int(fraction)


def expected_waits(run):
    """kind -> (calls that wait, process -> ns waited, process -> ns waited for; None: who is not compared)."""
    result = {}
    for kind, waits in run.waits.items():
        waited, caused = {}, {}
        for rank, cause, ns in waits:
            waited[rank] = waited.get(rank, 0) + ns
            caused[cause] = caused.get(cause, 0) + ns
        result[kind] = (len(waits), waited, None if None in caused else caused)
    return result


def actual_waits(analysis):
    result = {}
    for wait in analysis.iter("wait"):
        if wait.get("count") == "0" or wait.get("kind") in ("contention", "uneven-computing"):  # no waits of their own
            continue
        waited, caused = {}, {}
        for waiter in wait.iter("waiter"):
            for sums, word in ((waited, "waited_s"), (caused, "caused_s")):
                if waiter.get(word):
                    sums[int(waiter.get("rank"))] = nanoseconds(waiter.get(word))
        result[wait.get("kind")] = (int(wait.get("count")), waited, caused)
    return result


def differences(run, analysis):
    expected, actual = expected_waits(run), actual_waits(analysis)
    for kind in sorted(set(expected) | set(actual)):
        truth, said = expected.get(kind, (0, {}, {})), actual.get(kind, (0, {}, {}))
        for what, one, other in zip(("calls", "waited", "caused"), truth, said):
            if one is not None and one != other:
                yield "%s: %s: is %s, said %s" % (kind, what, one, other)
    numbers = {number.get("name"): number.get("value") for number in analysis.iter("number")}
    for name in ("duration", "path", "replay"):
        if nanoseconds(numbers[name]) != run.duration():
            yield "%s: is %d ns, said %s s" % (name, run.duration(), numbers[name])
    if int(numbers["partnerless"]) != run.partnerless:
        yield "partnerless: is %d, said %s" % (run.partnerless, numbers["partnerless"])
    yield from delay_differences(run, analysis, numbers)
    yield from efficiency_differences(run, numbers)


def delay_differences(run, analysis, numbers):
    """What delays cost, and what goes back to none, is all waiting for others, but for the rounding of each process."""
    waiting = sum(wait[-1] for kind, waits in run.waits.items()
                  if not kind.endswith("-completion") and kind not in ("in-reduction", "io") for wait in waits)
    costs = sum(nanoseconds(delay.get("cost_s")) for delay in analysis.iter("delay") if delay.get("rank"))
    if abs(waiting - costs - nanoseconds(numbers["unattributed"])) > run.processes + 1:
        yield "delays: %d ns are waited, said %d ns and %s s" % (waiting, costs, numbers["unattributed"])


def efficiency_differences(run, numbers):
    computing = [run.computing(rank) for rank in range(run.processes)]
    if max(computing) == 0:
        return
    balance = sum(computing) / len(computing) / max(computing)
    product = 1.0
    for name in ("load_balance", "serialisation", "transfer"):
        product *= float(numbers[name])
    if abs(float(numbers["load_balance"]) - balance) > 1e-12:
        yield "load_balance: is %.15f, said %s" % (balance, numbers["load_balance"])
    parallel = sum(computing) / len(computing) / run.duration()
    if abs(product - parallel) > 1e-12:
        yield "parallel efficiency: is %.15f, the product said is %.15f" % (parallel, product)
    if nanoseconds(numbers["ideal"]) != run.ideal():
        yield "ideal: is %d ns, said %s s" % (run.ideal(), numbers["ideal"])


def network_differences(sight, path, run):
    """On a network that costs nothing the run is as long as on the ideal one, if no send waited for its receive."""
    if not run.plain or "late-receiver" in run.waits:
        return
    made = subprocess.run([sight, "what-if", "-q", "--format", "json", "--latency", "0s", path], stdout=subprocess.PIPE,
                          check=True)
    lasts = json.loads(made.stdout, parse_float=str)["scenarios"][0]["run_s"]
    if nanoseconds(lasts) != run.ideal():
        yield "network that costs nothing: is %d ns, said %s s" % (run.ideal(), lasts)


def check(sight, seed, directory):
    run = Run(seed)
    path = os.path.join(directory, "run.xml")
    run.write(path)
    made = subprocess.run([sight, "metrics", "-q", "--format", "xml", path], stdout=subprocess.PIPE, check=False)
    if made.returncode != 0:
        return ["exit code %d" % made.returncode]
    analysis = xml.etree.ElementTree.fromstring(made.stdout).find("analysis")
    return list(differences(run, analysis)) + list(network_differences(sight, path, run))


def check_runs(check):
    """Checks as many random runs as the command line says (SIGHT COUNT [FIRST]) and prints what differs."""
    sight, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(first, first + count):
            lines = check(sight, seed, directory)
            wrong += bool(lines)
            for line in lines:
                print("# run %d: %s" % (seed, line))
    print("# %d of %d runs as they are" % (count - wrong, count))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(check_runs(check))
