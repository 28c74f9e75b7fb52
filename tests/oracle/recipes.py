#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs each recipe of sight-recipes(7) and compares its answer with one that is counted here, from events as decode.py
reads them. Waits are counted here where all messages are received by MPI_Recv and sent by MPI_Ssend. Of other traces, what
takes the analysis across processes (waits, the critical path, findings) must agree with `sight metrics` and the
diagnosis; a trace made by hand, whose answers are known, shows that these are right.

    recipes.py SIGHT MANUAL TRACE OTHER-TRACE
    recipes.py SIGHT MANUAL --by-hand
"""
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode
import tables


def recipes(manual):
    """Number, title and query of each."""
    with open(manual, encoding="utf-8") as file:
        text = file.read()
    return [(int(number), title, query) for number, title, query in
            re.findall(r"^\.Ss (\d+)\. ([^\n]*)\n\.Bd -literal -offset indent\n(.*?)\n\.Ed$", text, re.M | re.S)]


def ask(sight, traces, query):
    made = subprocess.run([sight, "sql", "-q", "--format", "json", *traces, query], stdout=subprocess.PIPE, check=True)
    return [list(json.loads(line).values()) for line in made.stdout.decode().splitlines()]


def s(ns):
    return ns / 1e9


class Truth:
    """What the decoder knows of a trace, in ns from its first event."""

    def __init__(self, path):
        self.path = path
        self.states, self.ends, self.duration = tables.expected(path)
        self.metrics = decode.metrics(decode.decode(path))["ranks"]
        self.calls = self.outermost()
        self.messages = self.matched()

    def outermost(self):
        """Calls of MPI that lie in no other, [rank, name, enter, leave]."""
        rows, calls = collections.defaultdict(list), []
        for rank, thread, name, enter, leave in self.states:
            if name.startswith("MPI_"):
                rows[rank, thread].append((enter, -leave, name))
        for (rank, _), row in rows.items():
            until = -1
            for enter, leave, name in sorted(row):
                if enter >= until:
                    calls.append([rank, name, enter, -leave])
                    until = -leave
        return calls

    def matched(self):
        """[source, destination, tag, bytes, send, receive]: the n-th send meets the n-th receive."""
        channels, messages = collections.defaultdict(lambda: ([], [])), []
        for kind, rank, partner, tag, size, time in sorted(self.ends, key=lambda end: end[5]):
            if kind == "send":
                channels[rank, partner, tag][0].append((time, size))
            else:
                channels[partner, rank, tag][1].append((time, size))
        for key, (sends, receives) in channels.items():
            for index in range(max(len(sends), len(receives))):
                send = sends[index] if index < len(sends) else (None, None)
                receive = receives[index] if index < len(receives) else (None, None)
                size = send[1] if send[1] is not None else receive[1]
                messages.append([*key, size, send[0], receive[0]])
        return messages


def grouped(rows, key, *sums):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return [[*one, *(total(found) for total in sums)] for one, found in groups.items()]


def of(index):
    return lambda rows: sum(row[index] for row in rows)


def who_sends(t):
    return sorted(grouped(t.messages, lambda m: (m[0], m[1]), len, of(3)), key=lambda r: (-r[3], r[0], r[1]))


def by_function(t):
    sums = collections.defaultdict(lambda: [0, 0])
    for process in t.metrics:
        for name, function in process["functions"].items():
            sums[name][0] += function["count"]
            sums[name][1] += function["time_ns"]
    return sorted(([name, count, s(ns)] for name, (count, ns) in sums.items()), key=lambda r: (-r[2], r[0]))


def computing(t):
    times = {process["rank"]: process["compute_ns"] for process in t.metrics}
    mean = statistics.mean(times.values())
    return sorted(([rank, s(ns), ns / mean] for rank, ns in times.items()), key=lambda r: (-r[1], r[0]))


def longest_calls(t):
    rows = sorted(t.calls, key=lambda c: (c[2] - c[3], c[0], c[2]))[:10]
    return [[rank, name, s(enter), s(leave - enter)] for rank, name, enter, leave in rows]


def window(t):
    rows = [state for state in t.states if state[4] is not None and state[4] >= 20000000 and state[3] <= 21000000]
    return sorted([rank, name, s(enter), s(leave)] for rank, _, name, enter, leave in rows)


def sizes(t):
    return sorted(grouped(t.messages, lambda m: (len(str(m[3])),), len, of(3)))


def tags(t):
    return sorted(grouped(t.messages, lambda m: (m[2],), len, of(3)))


def slowest_messages(t):
    rows = [m for m in t.messages if m[4] is not None and m[5] is not None]
    return [[m[0], m[1], m[2], s(m[4]), s(m[5] - m[4])] for m in
            sorted(rows, key=lambda m: (m[4] - m[5], m[4], m[0]))[:5]]


def course(t):
    rows = [m for m in t.messages if m[4] is not None]
    return sorted(grouped(rows, lambda m: (min(19, m[4] * 20 // t.duration),), len))


def first_and_last(t):
    return sorted(grouped(t.states, lambda x: (x[0],), lambda rows: s(min(row[3] for row in rows)),
                          lambda rows: s(max(row[4] for row in rows if row[4] is not None))))


def gaps(t):
    answer = []
    for rank in sorted({call[0] for call in t.calls}):
        calls = sorted(call[2:] for call in t.calls if call[0] == rank)
        between = [after[0] - before[1] for before, after in zip(calls, calls[1:])]
        answer.append([rank, max(between) if between else None])
    return answer


def medians(t):
    answer = []
    for name in sorted({call[1] for call in t.calls}):
        times = sorted(call[3] - call[2] for call in t.calls if call[1] == name)
        answer.append([name, s(times[(len(times) + 1) // 2 - 1])])
    return answer


def user_states(t):
    rows = [state for state in t.states if not state[2].startswith(("MPI_", "MPE_")) and state[4] is not None]
    return sorted(grouped(rows, lambda x: (x[0], x[2]), len, lambda found: s(sum(x[4] - x[3] for x in found))))


def mpi_in_states(t):
    users = [state for state in t.states if not state[2].startswith("MPI_") and state[4] is not None]
    sums = collections.defaultdict(int)
    for rank, thread, name, enter, leave in users:
        inside = [x for x in t.states if x[:2] == [rank, thread] and x[2].startswith("MPI_") and x[4] is not None
                  and x[3] >= enter and x[4] <= leave]
        if inside:
            sums[name] += sum(x[4] - x[3] for x in inside)
    return sorted(map(list, sums.items()))


def concurrency(t):
    steps = sorted([(call[2], 1) for call in t.calls] + [(call[3], -1) for call in t.calls])
    inside = most = 0
    for _, step in steps:
        inside += step
        most = max(most, inside)
    return [[most if steps else None]]


def lost(t):
    return sorted(([m[0], m[1], m[2], s(m[4])] for m in t.messages if m[5] is None), key=lambda r: (r[3], r[0]))


def marks(t):
    begin = min(process["begin_ns"] for process in t.metrics)
    times = collections.defaultdict(list)
    for event in decode.decode(t.path).events():
        if event.kind == "mark":
            times[event.name].append(event.time - begin)
    return sorted([name, len(found), min(found), max(found)] for name, found in times.items())


def waits_of(sight, trace):
    made = subprocess.run([sight, "metrics", "-q", "--format", "xml", trace], stdout=subprocess.PIPE, check=True)
    return xml.etree.ElementTree.fromstring(made.stdout).find("analysis")


# Kinds of time that are no waiting for a certain process.
NO_WAITS = ("uneven-computing", "contention", "nxn-completion", "barrier-completion", "in-reduction")


def ns_of(text):
    return round(float(text or 0) * 1e9)


# Calls that wait for others by a rule that waits_counted has.
KNOWN_WAITS = {"MPI_Recv", "MPI_Ssend", "MPI_Barrier"}
# Calls that wait for nobody.
LOCAL = {"MPI_Comm_rank", "MPI_Comm_size"}


def waits_counted(t):
    """[rank, kind, function, begin, ns, cause]: the rules of Scalasca's patterns (the mission's peers.md 2.4), for traces
    of those calls only; None of others."""
    if not {call[1] for call in t.calls} - LOCAL <= KNOWN_WAITS or not t.messages:
        return None

    def around(rank, time):
        return next(call for call in t.calls if call[0] == rank and call[2] <= time <= call[3])

    waits = []
    for source, to, _, _, sent, received in t.messages:
        send, receive = around(source, sent), around(to, received)
        if receive[2] < send[2]:
            waits.append([to, "late-sender", receive[1], receive[2], min(send[2], receive[3]) - receive[2], source, send[1]])
        # A send that returned before the receive was entered did not wait for it.
        if send[2] < receive[2] <= send[3]:
            waits.append([source, "late-receiver", send[1], send[2], receive[2] - send[2], to, receive[1]])
    barriers = collective_calls(t, "MPI_Barrier")
    for together in zip(*(barriers[rank] for rank in sorted(barriers))):
        latest = max(enter for enter, _ in together)
        cause = sorted(barriers)[[enter for enter, _ in together].index(latest)]
        waits += [[rank, "wait-at-barrier", "MPI_Barrier", enter, latest - enter, cause, "MPI_Barrier"]
                  for rank, (enter, _) in zip(sorted(barriers), together) if enter < latest]
    return waits


def waits_answer(number, t, waits):
    """Of recipes 13 to 16."""
    if number == 13:
        return sorted(grouped(waits, lambda w: (w[1],), len, of(4)), key=lambda r: -r[2])
    if number == 14:
        return sorted(grouped(waits, lambda w: (w[0], w[5]), of(4)), key=lambda r: (-r[2], r[0]))[:10]
    if number == 15:
        return [[w[0], w[2], s(w[3]), s(w[4]), w[5], w[6]] for w in
                sorted(waits, key=lambda w: (-w[4], w[0], w[3]))[:10]]
    return [[process["rank"], sum(w[4] for w in waits if w[0] == process["rank"]) / process["total_ns"]]
            for process in t.metrics]


# Four processes compute 1 s before each of ten barriers, process 2 computes 3 s; a barrier takes 10 us once all are there.
# So the others wait 2 s for process 2, each time, and the path is process 2's but for the last barrier: all leave it at
# once, and the path ends on the first of them. With even work each computes (1 + 1 + 3 + 1) s / 4 a round: 1.5 s less.
ROUND_US, LATEST_US = 3000010, 3000000
BY_HAND = {
    13: [["wait-at-barrier", 30, 60 * 10**9]],
    14: [[rank, 2, 20 * 10**9] for rank in (0, 1, 3)],
    15: [[0, "MPI_Barrier", (number * ROUND_US + 1000000) / 1e6, 2.0, 2, "MPI_Barrier"] for number in range(10)],
    16: [[0, 20 / 30.0001], [1, 20 / 30.0001], [2, 0], [3, 20 / 30.0001]],
    19: [[0, 10000], [2, 30000090000]],
    20: [["compute-imbalance", 15.0]],
}


def by_hand(sight, found):
    """True where an answer is wrong."""
    lines = ["<trace>"]
    for rank in range(4):
        event = '<event process="%d" timestamp="%%d" data="%%s"/>' % rank
        lines.append(event % (0, "work"))
        for number in range(10):
            computed = LATEST_US if rank == 2 else 1000000
            lines += [event % (number * ROUND_US + computed, "MPI_Barrier"), event % ((number + 1) * ROUND_US, "MPI_Barrier")]
        lines.append(event % (10 * ROUND_US, "work"))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "by_hand.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines + ["</trace>\n"]))
        queries, wrong = {number: query for number, _, query in found}, False
        for number, want in BY_HAND.items():
            # The advice of 20 is a sentence.
            got = [row[:len(want[0])] for row in ask(sight, [path], queries[number])]
            if not same(got, want):
                print("# by hand, %d: got %s, wanted %s" % (number, got[:3], want[:3]))
                wrong = True
    return wrong


def judged(number, sight, t, got):
    """True where the answer of a recipe about the analysis is what metrics say."""
    analysis = waits_of(sight, t.path)
    kinds = {wait.get("kind"): {int(x.get("rank")): ns_of(x.get("waited_s")) for x in wait.iter("waiter")
                                if x.get("waited_s")} for wait in analysis.iter("wait")}
    caused = collections.Counter()
    for wait in analysis.iter("wait"):
        for waiter in wait.iter("waiter"):
            caused[int(waiter.get("rank"))] += ns_of(waiter.get("caused_s"))
    waited = collections.Counter()
    for kind, ranks in kinds.items():
        if kind not in NO_WAITS:
            waited.update(ranks)
    if number == 13:
        return all(ns == sum(kinds[kind].values()) for kind, _, ns in got) and got
    if number == 14:
        return all(ns <= waited[rank] for rank, _, ns in got) and got
    if number == 15:
        return all(any(c[0] == rank and c[1] == name and s(c[2]) <= begin + 1e-9 and begin + waiting <= s(c[3]) + 2e-9
                       for c in t.calls) and cause != rank for rank, name, begin, waiting, cause, _ in got) and got
    if number == 16:
        totals = {process["rank"]: process["total_ns"] for process in t.metrics}
        return all(abs(share * totals[rank] - waited[rank]) < 1 for rank, share in got) and len(got) == len(totals)
    if number == 19:
        return 0 < sum(ns for _, ns in got) <= t.duration
    said = subprocess.run([sight, "-q", "--format", "json", t.path], stdout=subprocess.PIPE, check=True)
    findings = json.loads(said.stdout)["findings"]
    return [row[0] for row in got] == [finding["id"] for finding in findings if finding["share"] > 0.05]


def collective_calls(t, name):
    """Per rank, the enters of the calls of a function in order."""
    calls = collections.defaultdict(list)
    for rank, called, enter, leave in sorted(t.calls, key=lambda c: c[2]):
        if called == name:
            calls[rank].append((enter, leave))
    return calls


def last_in_barriers(t, got):
    """Of functions that all processes call equally often, and only together."""
    calls = collective_calls(t, "MPI_Barrier")
    processes = len(t.metrics)
    if len(calls) != processes or len({len(found) for found in calls.values()}) != 1:
        return True
    last = collections.Counter(max((found[number][0], -rank) for rank, found in calls.items())[1] * -1
                               for number in range(len(next(iter(calls.values())))))
    return {rank: times for name, rank, times in got if name == "MPI_Barrier"} == dict(last)


def spreads(t, got):
    enters = {call[2] for call in t.calls}
    return all(spread in {a - b for a in enters for b in enters} for _, _, spread in got)


def two_runs(t, other, names):
    rows = []
    for one, run in ((t, names[0]), (other, names[1])):
        sums = collections.defaultdict(lambda: [0, 0])
        for process in one.metrics:
            for name, function in process["functions"].items():
                sums[name][0] += function["count"]
                sums[name][1] += function["time_ns"]
        rows += [[name, run, *found] for name, found in sums.items()]
    return sorted(rows)


# Looks for a message that fail, one after the other, are one call.
POLLS = ("MPI_Iprobe", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome")

COUNTED = {1: who_sends, 2: by_function, 3: computing, 4: longest_calls, 5: window, 6: sizes, 7: tags,
           8: slowest_messages, 9: course, 10: first_and_last, 11: gaps, 12: medians, 21: user_states,
           22: mpi_in_states, 23: concurrency, 24: lost, 25: marks}


def close(got, want):
    if isinstance(got, float) or isinstance(want, float):
        return got is not None and want is not None and abs(got - want) < 1e-9
    return got == want


def same(got, want):
    return len(got) == len(want) and all(len(a) == len(b) and all(map(close, a, b)) for a, b in zip(got, want))


def answers(number, sight, truth, other, query):
    if number == 26:
        got = ask(sight, ["a=" + truth.path, "b=" + other.path], query)
        return got, two_runs(truth, other, "ab")
    got = ask(sight, [truth.path], query)
    if number in COUNTED:
        want = COUNTED[number](truth)
        if number == 12:
            got, want = ([row for row in rows if row[0] not in POLLS] for rows in (got, want))
        return (sorted(got) if number == 5 else got), want
    if number == 17:
        return got, got if last_in_barriers(truth, got) else None
    if number == 18:
        return got, got if spreads(truth, got) else None
    waits = waits_counted(truth) if 13 <= number <= 16 else None
    if waits:
        return got, waits_answer(number, truth, waits)
    return got, got if judged(number, sight, truth, got) or not truth.messages else None


def main():
    sight, manual, trace = sys.argv[1:4]
    found = recipes(manual)
    if trace == "--by-hand":
        return by_hand(sight, found)
    truth, other = Truth(trace), Truth(sys.argv[4])
    wrong = len(found) < 25
    for number, title, query in found:
        got, want = answers(number, sight, truth, other, query)
        if want is None or not same(got, want):
            print("# %d. %s: got %s" % (number, title, got[:3]))
            print("#   wanted %s" % (want[:3] if want else want))
            wrong = True
    print("# %d recipes" % len(found))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
