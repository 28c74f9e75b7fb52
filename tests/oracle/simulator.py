# SPDX-License-Identifier: BSD-3-Clause
"""A simulated machine that runs MPI programs, and writes their traces as SIGHT XML.

Discrete events in whole nanoseconds.  A program is a generator for each process, which yields the calls of its Process
object: `yield process.compute(ns)`, `yield process.send(to, bytes)`.  The machine is that of the LogGP family: each message
costs its sender and its receiver an overhead, crosses the network in a latency, and occupies the sender's and then the
receiver's endpoint for bytes / bandwidth, one message after the other.  Up to `eager` bytes the sender goes on at once;
beyond, it waits until the receive is posted (rendezvous).  With `credits` an eager send waits, too, while so many messages are
on the way to the same receiver, which takes them off the network only when it has to wait for one.  With `cores` processes take
turns on them; who waits in MPI needs none until what it waits for has happened.  Collectives are trees and butterflies of such messages: members
that pass data on wait for those behind them.  Computing and latency have noise of their own stream for each process, so that
the same program with another amount of work meets the same noise.

It shares no code with SIGHT, and none with waits.py, whose runs are random and small where these are like programs.
"""
import heapq
import math
import random

SOON = 20000  # ns
TREES = ("MPI_Ibcast", "MPI_Ireduce")


class Machine:
    def __init__(self, **changes):
        self.latency = 1500  # ns
        self.overhead = 300
        self.bandwidth = 4.0  # bytes/ns
        self.copying = 10.0  # bytes/ns into a buffer
        self.eager = 16384  # bytes
        self.noise = 0.01  # of computing, relative: |normal|
        self.jitter = 0.1  # of the latency
        self.slow_links = {}  # (sender, receiver) -> how many times as long
        self.start_spread = 200000  # ns: processes begin within it
        self.starting = {}  # what MPI_Init and MPI_Finalize take beyond: name -> ns
        self.late_process = None  # (rank, ns that it begins later)
        self.progress = True  # of non-blocking collectives: whatever their members do, or only in calls that complete them
        self.credits = None  # eager messages of a pair that are on the way before the receiver looks for more; None: any number
        self.cores = None  # that all processes share; None: each has its own
        self.slice = 3000000  # ns that one computes before the next gets its core
        for name, value in changes.items():
            assert hasattr(self, name), name
            setattr(self, name, value)


class Call:
    __slots__ = ("name", "enter", "leave", "comm", "messages", "requests", "root", "sent", "received", "thread")

    def __init__(self, name, enter, comm=0):
        self.name, self.enter, self.comm = name, enter, comm
        self.leave = self.requests = self.root = self.sent = self.received = None
        self.messages = ()
        self.thread = 0


class Message:
    __slots__ = ("source", "to", "tag", "bytes", "rendezvous", "send", "receive", "arrived", "to_receiver", "to_sender")

    def __init__(self, source, to, tag, size, rendezvous):
        self.source, self.to, self.tag, self.bytes, self.rendezvous = source, to, tag, size, rendezvous
        self.send = self.receive = self.arrived = self.to_receiver = self.to_sender = None


class Request:
    __slots__ = ("number", "message", "receives", "done", "source", "tag", "waiter", "posted", "completed_in", "group",
                 "rank", "ending")

    def __init__(self, number, receives, posted):
        self.number, self.receives, self.posted = number, receives, posted
        self.message = self.done = self.waiter = self.completed_in = self.group = None


class Process:
    """What a program may do. All but `rank` and `random` is yielded."""

    def __init__(self, run, rank):
        self.run, self.rank = run, rank
        self.random = random.Random("%s/%d" % (run.seed, rank))
        self.calls, self.marks = [], []
        self.requests = 0
        self.leaving, self.has_core, self.in_call = None, False, False
        self.posted, self.unexpected = [], []  # receives without message, messages without receive
        self.computed = 0

    def compute(self, ns):
        return ("compute", int(ns * (1 + self.run.machine.noise * abs(self.random.gauss(0, 1)))))

    def state(self, name, ns):
        """Computing in a state of the user's."""
        return ("state", name, self.compute(ns)[1])

    def send(self, to, size, tag=0, name="MPI_Send"):
        return ("send", name, to, size, tag)

    def receive(self, source=None, tag=None, name="MPI_Recv"):
        """Gives (source, tag, size)."""
        return ("receive", name, source, tag)

    def exchange(self, to, source, size, tag=0):
        return ("exchange", "MPI_Sendrecv", to, source, size, tag)

    def isend(self, to, size, tag=0):
        """Gives a request."""
        return ("isend", "MPI_Isend", to, size, tag)

    def irecv(self, source, tag=0):
        return ("irecv", "MPI_Irecv", source, tag)

    def wait(self, *requests):
        return ("wait", "MPI_Wait" if len(requests) == 1 else "MPI_Waitall", requests)

    def collective(self, name, size=8, root=None, comm=0):
        return ("collective", name, size, root, comm)

    def barrier(self, comm=0):
        return ("collective", "MPI_Barrier", 0, None, comm)

    def allreduce(self, size=8, comm=0):
        return ("collective", "MPI_Allreduce", size, None, comm)

    def bcast(self, size=8, root=0, comm=0):
        return ("collective", "MPI_Bcast", size, root, comm)

    def reduce(self, size=8, root=0, comm=0):
        return ("collective", "MPI_Reduce", size, root, comm)

    def icollective(self, name, size=8, comm=0):
        """A non-blocking one of all with all, or MPI_Ibcast or MPI_Ireduce of root 0: gives a request."""
        return ("icollective", name, size, comm)

    def file(self, name, ns):
        """A call on a file that does not wait."""
        return ("local", name, int(ns))


class Group:
    """One collective: who is there, and when each can leave."""

    def __init__(self, members):
        self.members = members
        self.count = len(members)
        self.enter = [None] * self.count
        self.ready = [None] * self.count  # data of the parent are there, or of all children
        self.open = [0] * self.count  # children that are still missing
        self.upto = 0
        self.calls = [None] * self.count
        self.arrived = 0


def log2_up(count):
    return max(1, (count - 1).bit_length())


class Run:
    def __init__(self, processes, program, machine=None, comms=(), seed=0):
        """`comms`: lists of ranks; number 0 is the world, theirs count from 1."""
        self.machine = machine or Machine()
        self.size, self.seed = processes, seed
        self.comms = [list(range(processes))] + [list(members) for members in comms]
        self.places = [None] + [{member: place for place, member in enumerate(members)} for members in self.comms[1:]]
        self.groups, self.turn = {}, {}
        self.processes = [Process(self, rank) for rank in range(processes)]
        self.heap, self.order, self.now = [], 0, 0
        self.out_free, self.in_free = [0] * processes, [0] * processes
        self.on_the_way, self.held = {}, {}  # by (sender, receiver): how many messages; (message, when it is ready)
        self.free_cores, self.runnable = self.machine.cores, []
        self.network = random.Random("network/%s" % seed)
        self.programs = []
        self.left = processes
        self.messages = []
        self.rooted, self.symmetric = [], []  # collectives that are over
        begin = random.Random("begin/%s" % seed)
        for process in self.processes:
            late, ns = self.machine.late_process or (None, 0)
            after = begin.randrange(self.machine.start_spread + 1) + (ns if process.rank == late else 0)
            self.programs.append(self.whole(process, program, after))
            self.at(0, self.take_core if self.machine.cores else self.go_on, process, *(
                (self.go_on, process, None) if self.machine.cores else (None,)))
        while self.heap:
            self.now, _, action, arguments = heapq.heappop(self.heap)
            action(*arguments)
        assert self.left == 0, "%d processes wait for ever: %s" % (
            self.left, [(p.rank, p.calls[-1].name) for p in self.processes if p.calls[-1].leave is None][:4])
        # Every trace ends where the last process does; begins with the first.
        self.begin = min(process.calls[0].enter for process in self.processes)
        self.end = max(process.calls[-1].leave for process in self.processes)
        self.duration = self.end - self.begin

    @staticmethod
    def whole(process, program, late):
        yield ("sleep", late)
        yield process.collective("MPI_Init")
        yield from program(process)
        yield process.collective("MPI_Finalize")

    def at(self, when, action, *arguments):
        self.order += 1
        heapq.heappush(self.heap, (when, self.order, action, arguments))

    def latency(self, source, to):
        ns = self.machine.latency * (1 + self.machine.jitter * self.network.random())
        return int(ns * self.machine.slow_links.get((source, to), 1))

    def go_on(self, process, result):
        try:
            step = self.programs[process.rank].send(result)
        except StopIteration:
            self.left -= 1
            self.give_core(process)
            return
        process.leaving = None
        process.in_call = step[0] not in ("compute", "sleep")
        getattr(self, "do_" + step[0])(process, *step[1:])
        # Who is to go on soon does not give its core away.
        if self.machine.cores and step[0] != "compute" and (process.leaving or math.inf) > self.now + SOON:
            self.give_core(process)

    def give_core(self, process):
        if process.has_core:
            process.has_core = False
            self.free_cores += 1
            self.share_cores()

    def take_core(self, process, action, *arguments):
        """Acts once the process has a core."""
        if process.has_core:
            action(*arguments)
        else:
            self.runnable.append((process, action, arguments))
            self.share_cores()

    def share_cores(self):
        while self.free_cores > 0 and self.runnable:
            process, action, arguments = self.runnable.pop(0)
            self.free_cores -= 1
            process.has_core = True
            self.at(self.now, action, *arguments)

    def compute_slice(self, process, left, then):
        ns = min(left, self.machine.slice)
        self.at(self.now + ns, self.end_slice, process, left - ns, then)

    def end_slice(self, process, left, then):
        if left == 0:
            then()
        elif self.runnable:
            self.give_core(process)
            self.take_core(process, self.compute_slice, process, left, then)
        else:
            self.compute_slice(process, left, then)

    def enter(self, process, name, comm=0):
        call = Call(name, self.now, comm)
        process.calls.append(call)
        return call

    def leave(self, process, call, when, result=None):
        process.leaving = when
        if self.machine.cores:
            self.at(when, self.take_core, process, self.leave_now, process, call, result)
            return
        call.leave = when
        self.at(when, self.go_on, process, result)

    def leave_now(self, process, call, result):
        call.leave = self.now
        self.go_on(process, result)

    def do_compute(self, process, ns):
        process.computed += ns
        if self.machine.cores:
            self.take_core(process, self.compute_slice, process, ns, lambda: self.go_on(process, None))
            return
        self.at(self.now + ns, self.go_on, process, None)

    def do_sleep(self, process, ns):
        self.at(self.now + ns, self.go_on, process, None)

    def do_state(self, process, name, ns):
        process.computed += ns
        self.leave(process, self.enter(process, name), self.now + ns)

    def do_local(self, process, name, ns):
        self.leave(process, self.enter(process, name), self.now + ns)

    # Messages

    def new_request(self, process, receives):
        process.requests += 1
        return Request(process.requests, receives, self.now)

    def start_send(self, process, call, to, size, tag):
        """The request of it, and when the sender has done its part."""
        request = self.new_request(process, False)
        message = request.message = Message(process.rank, to, tag, size, size > self.machine.eager)
        message.send, message.to_sender = call, request
        self.messages.append(message)
        call.messages += (("send", to, tag, size),)
        ready = self.now + self.machine.overhead + (0 if message.rendezvous else int(size / self.machine.copying))
        if message.rendezvous:
            self.at(ready + self.latency(process.rank, to), self.envelope, message)
        elif not self.has_room(message):
            self.held.setdefault((message.source, to), []).append(message)
        else:
            request.done = ready
            self.transfer(message, ready)
        return request, ready

    def has_room(self, message):
        """Counts a message that is on the way from now on."""
        pair = message.source, message.to
        if self.machine.credits is None or self.is_waiting(self.processes[message.to]):
            return True
        if self.on_the_way.get(pair, 0) >= self.machine.credits or self.held.get(pair):
            return False
        self.on_the_way[pair] = self.on_the_way.get(pair, 0) + 1
        return True

    def is_waiting(self, process):
        return process.in_call and process.leaving is None and process.calls[-1].leave is None

    def look_for_messages(self, process):
        """The process takes what is on the way to it off the network: held messages get their places."""
        for source in range(self.size):
            pair = source, process.rank
            self.on_the_way.pop(pair, None)
            for message in self.held.pop(pair, []):
                self.transfer(message, self.now)
                self.at(self.now + self.latency(process.rank, source), self.complete, message.to_sender)

    def transfer(self, message, ready):
        """The data leave when the endpoint is free."""
        ns = int(message.bytes / self.machine.bandwidth * self.machine.slow_links.get((message.source, message.to), 1))
        begin = max(ready, self.out_free[message.source])
        self.out_free[message.source] = begin + ns
        self.at(begin + self.latency(message.source, message.to), self.arrive, message, ns)
        if message.rendezvous:
            self.at(begin + ns, self.complete, message.to_sender)

    def arrive(self, message, ns):
        end = max(self.now, self.in_free[message.to]) + ns
        self.in_free[message.to] = end
        self.at(end, self.has_arrived, message)

    def has_arrived(self, message):
        message.arrived = self.now
        if message.to_receiver:
            self.complete(message.to_receiver)
        elif not message.rendezvous:
            self.envelope(message)

    def envelope(self, message):
        process = self.processes[message.to]
        for place, request in enumerate(process.posted):
            if self.fits(request, message):
                del process.posted[place]
                self.matched(request, message)
                return
        process.unexpected.append(message)

    @staticmethod
    def fits(request, message):
        return request.source in (None, message.source) and request.tag in (None, message.tag)

    def matched(self, request, message):
        request.message, message.to_receiver = message, request
        if message.rendezvous:
            self.transfer(message, self.now + self.latency(message.to, message.source))
        elif message.arrived is not None:
            self.complete(request)

    def start_receive(self, process, source, tag):
        request = self.new_request(process, True)
        request.source, request.tag = source, tag
        for place, message in enumerate(process.unexpected):
            if self.fits(request, message):
                del process.unexpected[place]
                self.matched(request, message)
                return request
        process.posted.append(request)
        return request

    def complete(self, request):
        request.done = self.now
        if request.group and request.group[2] in TREES:
            self.end_icollective(request)
        if request.waiter:
            self.look_again(*request.waiter)

    def look_again(self, process, call, requests, result):
        """Ends a call once all its requests are done."""
        for request in requests:
            if request.done is None:
                if self.machine.credits is not None:
                    self.look_for_messages(process)
                request.waiter = (process, call, requests, result)
                return
        when = max([self.now] + [request.done for request in requests]) + self.machine.overhead
        for request in requests:
            request.completed_in = call
            if request.receives:
                message = request.message
                call.messages += (("receive", message.source, message.tag, message.bytes),)
                if result is None:
                    result = (message.source, message.tag, message.bytes)
        self.leave(process, call, when, result)

    def do_send(self, process, name, to, size, tag):
        call = self.enter(process, name)
        request, ready = self.start_send(process, call, to, size, tag)
        if request.done is not None:
            request.completed_in = call
            self.leave(process, call, ready)
        else:
            self.look_again(process, call, [request], None)

    def do_receive(self, process, name, source, tag):
        call = self.enter(process, name)
        self.look_again(process, call, [self.start_receive(process, source, tag)], None)

    def do_exchange(self, process, name, to, source, size, tag):
        call = self.enter(process, name)
        receive = self.start_receive(process, source, tag)
        request, _ = self.start_send(process, call, to, size, tag)
        self.look_again(process, call, [request, receive], None)

    def do_isend(self, process, name, to, size, tag):
        call = self.enter(process, name)
        request, ready = self.start_send(process, call, to, size, tag)
        call.requests = [request.number]
        self.leave(process, call, ready, request)

    def do_icollective(self, process, name, size, comm):
        turn = self.turn.get((process.rank, comm, name), 0)
        self.turn[process.rank, comm, name] = turn + 1
        requests, late = self.groups.setdefault((comm, turn, name), ([], set(self.comms[comm])))
        call = self.enter(process, name, comm)
        request = self.new_request(process, False)
        call.requests = [request.number]
        call.root = 0 if name in TREES else None
        requests.append(request)
        request.group = comm, turn, name, size
        request.rank, request.ending = process.rank, False
        self.leave(process, call, self.now + self.machine.overhead, request)
        if self.machine.progress:
            late.clear()
        self.end_icollective(request)

    def end_icollective(self, request):
        """Ends it for all once they have started it and, without progress, wait for it."""
        comm, turn, name, size = request.group
        requests, late = self.groups[comm, turn, name]
        if name in TREES:
            self.end_tree(requests, late, self.comms[comm], name, size)
        elif len(requests) == len(self.comms[comm]) and not late:
            for one in requests:
                self.at(self.now + log2_up(len(requests)) * self.hop(size), self.complete, one)

    def end_tree(self, requests, late, members, name, size):
        """Ends it for those whose parent (MPI_Ibcast) or children (MPI_Ireduce) have passed on what they need."""
        started = {members.index(request.rank): request for request in requests}
        for place, request in started.items():
            parent = place & (place - 1)
            first = [child for child in range(place + 1, len(members)) if child & (child - 1) == place]
            if name == "MPI_Ibcast":
                first = [parent] if place else []
            # Who needs nothing does its part at once, as it starts it.
            ready = not first or request.rank not in late
            if ready and not request.ending and all(one in started and started[one].done is not None for one in first):
                request.ending = True
                self.at(self.now + (self.hop(size) if first else 0), self.complete, request)

    def do_irecv(self, process, name, source, tag):
        call = self.enter(process, name)
        request = self.start_receive(process, source, tag)
        call.requests = [request.number]
        self.leave(process, call, self.now + self.machine.overhead, request)

    def do_wait(self, process, name, requests):
        call = self.enter(process, name)
        call.requests = sorted(request.number for request in requests)
        for request in requests:
            if request.group and not self.machine.progress:
                self.groups[request.group[:3]][1].discard(process.rank)
                self.end_icollective(request)
        self.look_again(process, call, list(requests), None)

    # Collectives

    def do_collective(self, process, name, size, root, comm):
        turn = self.turn.get((process.rank, comm), 0)
        self.turn[process.rank, comm] = turn + 1
        group = self.groups.get((comm, turn))
        if group is None:
            group = self.groups[comm, turn] = Group(self.comms[comm])
        place = self.places[comm][process.rank] if comm else process.rank
        call = self.enter(process, name, comm)
        call.root = root
        group.calls[place], group.enter[place] = call, self.now
        group.arrived += 1
        if name in ("MPI_Bcast", "MPI_Scatter"):
            self.enter_one_to_all(group, place, size, root, name)
        elif name in ("MPI_Reduce", "MPI_Gather"):
            self.enter_all_to_one(group, place, size, root, name)
        elif name in ("MPI_Scan", "MPI_Exscan"):
            self.enter_prefix(group, size)
        elif group.arrived == group.count:
            self.end_all_to_all(group, size, name)
        if group.arrived == group.count:
            del self.groups[comm, turn]
            if root is not None:
                self.rooted.append((name, root, group.calls))
            elif name not in ("MPI_Scan", "MPI_Exscan"):
                self.symmetric.append((name, group.calls))

    def hop(self, size):
        machine = self.machine
        return int(machine.latency * (1 + machine.jitter * self.network.random()) + machine.overhead +
                   size / machine.bandwidth)

    def member_leaves(self, group, place, when):
        self.leave(self.processes[group.members[place]], group.calls[place], max(when, group.enter[place]))

    @staticmethod
    def children(count, relative):
        """Of a binomial tree, those with the largest subtree first: (child, members of its subtree)."""
        low = relative & -relative if relative else 1 << log2_up(count)
        step = low >> 1
        while step:
            if relative + step < count:
                yield relative + step, min(step, count - relative - step)
            step >>= 1

    def enter_one_to_all(self, group, place, size, root, name):
        if place == root:
            group.ready[place] = self.now
        if group.ready[place] is not None:
            self.pass_down(group, place, size, root, name)

    def pass_down(self, group, place, size, root, name):
        todo = [place]
        while todo:
            place = todo.pop()
            when = max(group.enter[place], group.ready[place]) + self.machine.overhead
            for child, below in self.children(group.count, (place - root) % group.count):
                other = (child + root) % group.count
                bytes_on = size if name == "MPI_Bcast" else size * below
                group.ready[other] = when + self.hop(bytes_on)
                when += self.machine.overhead + int(bytes_on / self.machine.bandwidth)
                if group.enter[other] is not None:
                    todo.append(other)
            self.member_leaves(group, place, when)

    def enter_all_to_one(self, group, place, size, root, name):
        if group.upto == 0:
            group.upto = 1
            for relative in range(group.count):
                group.open[(relative + root) % group.count] = sum(1 for _ in self.children(group.count, relative))
        group.ready[place] = max(group.ready[place] or 0, self.now)
        while group.enter[place] is not None and group.open[place] == 0:
            relative = (place - root) % group.count
            when = max(group.ready[place], group.enter[place]) + self.machine.overhead
            if relative == 0:
                self.member_leaves(group, place, when)
                return
            low = relative & -relative
            below = min(low, group.count - relative)
            bytes_on = size if name == "MPI_Reduce" else size * below
            self.member_leaves(group, place, when + int(bytes_on / self.machine.bandwidth))
            parent = (relative - low + root) % group.count
            group.ready[parent] = max(group.ready[parent] or 0, when + self.hop(bytes_on))
            group.open[parent] -= 1
            place = parent

    def enter_prefix(self, group, size):
        while group.upto < group.count and group.enter[group.upto] is not None:
            latest = max(group.ready[group.upto - 1] if group.upto else 0, group.enter[group.upto])
            group.ready[group.upto] = latest
            self.member_leaves(group, group.upto, max(self.now, latest) + log2_up(group.upto + 1) * self.hop(size))
            group.upto += 1

    def end_all_to_all(self, group, size, name):
        """A dissemination: in each of log2 P steps everybody waits for the one that is 2^k below."""
        times, count = group.enter, group.count
        big = {"MPI_Alltoall": size * count / 2, "MPI_Alltoallv": size * count / 2}.get(name, size)
        if name == "MPI_Allgather":
            big = size * count / log2_up(count)
        for k in range(log2_up(count)):
            step = 1 << k
            hops = [self.hop(big) for _ in range(min(count, 64))]
            times = [max(times[i], times[i - step]) + hops[i & 63 if count > 64 else i] for i in range(count)]
        for place in range(count):
            self.member_leaves(group, place, times[place] + self.machine.starting.get(name, 0))

    # Truth

    def waits(self):
        """Seconds by kind of wait, by Scalasca's rules (peers.md 2.4): each call has its longest."""
        longest, kinds = {}, {}

        def wait(call, kind, until):
            ns = min(until, call.leave) - call.enter
            if ns > longest.get(id(call), (0, ""))[0]:
                longest[id(call)] = (ns, kind)

        for message in self.messages:
            wait(message.to_receiver.completed_in, "late-sender", message.send.enter)
            completed = message.to_sender.completed_in
            if completed.leave > message.to_receiver.posted:
                wait(completed, "late-receiver", message.to_receiver.posted)
        for name, calls in self.symmetric:
            latest = max(call.enter for call in calls)
            kind = {"MPI_Barrier": "wait-at-barrier", "MPI_Init": "late-start", "MPI_Finalize": "finalize"}
            for call in calls:
                wait(call, kind.get(name, "wait-at-nxn"), latest)
        for name, root, calls in self.rooted:
            others = [call for place, call in enumerate(calls) if place != root]
            if name in ("MPI_Bcast", "MPI_Scatter"):
                for call in others:
                    wait(call, "late-broadcast", calls[root].enter)
            elif others:
                wait(calls[root], "early-reduce", min(call.enter for call in others))
        for ns, kind in longest.values():
            kinds[kind] = kinds.get(kind, 0) + ns / 1e9
        return kinds

    def uneven_work(self):
        """What all together would compute longer if they computed as long as who computes most."""
        times = [process.computed for process in self.processes]
        return (max(times) * len(times) - sum(times)) / 1e9

    # The trace

    def write(self, path):
        with open(path, "w", encoding="utf-8", buffering=1 << 20) as out:
            out.write('<!DOCTYPE trace SYSTEM "sight.dtd">\n<trace processes="%d">\n' % self.size)
            out.write('<marktype name="MPI request" format="request=%25d, count=%25d" id="5000"/>\n')
            out.write('<communicator id="0" kind="intra" world="yes"/>\n')
            for comm, members in enumerate(self.comms):
                if comm:
                    out.write('<communicator id="%d" kind="intra"/>\n' % comm)
                    for rank, member in enumerate(members):
                        out.write('<membership step="intra" communicator="%d" parent="0" rank="%d" process="%d" '
                                  'timestamp="0"/>\n' % (comm, rank, member))
            for process in self.processes:
                for call in process.calls:
                    self.write_call(out, process.rank, call)
            out.write("</trace>\n")

    @staticmethod
    def write_call(out, rank, call):
        enter, leave = microseconds(call.enter), microseconds(call.leave)
        comm = ' communicator="%d"' % call.comm if call.comm else ""
        out.write('<event process="%d" timestamp="%s" data="%s"%s/>\n' % (rank, enter, call.name, comm))
        for direction, partner, tag, size in call.messages:
            out.write('<message process="%d" timestamp="%s" communication="%d" tag="%d" bytes="%d" direction="%s"/>\n' %
                      (rank, enter if direction == "send" else leave, partner, tag, size, direction))
        requests = ""
        if call.requests:
            first, count = call.requests[0], len(call.requests)
            if call.requests[-1] - first + 1 != count:
                for number in call.requests[:-1]:
                    out.write('<mark process="%d" timestamp="%s" data="MPI request" request="%d" requests="1"/>\n' %
                              (rank, leave, number))
                first, count = call.requests[-1], 1
            requests = ' request="%d" requests="%d"' % (first, count)
        root = "" if call.root is None else ' root="%d"' % call.root
        out.write('<event process="%d" timestamp="%s" data="%s"%s%s%s/>\n' % (rank, leave, call.name, root, comm, requests))


def microseconds(ns):
    return "%d.%03d" % divmod(ns, 1000)
