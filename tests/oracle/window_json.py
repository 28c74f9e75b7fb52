#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `sight timeline --format json` says of random runs whose every call and wait is known (waits.py).

    window_json.py SIGHT COUNT [SEED]     COUNT runs; prints what differs, exits with 1 if anything does

Calls with their communicators and bytes, waits, collectives with their members, and the same of a random window on
random processes.
"""
import collections
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import waits

OWN = ("barrier-completion", "nxn-completion", "io", "in-reduction")  # wait for no other process: not in the list
EVERYONE = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall"}  # all wait for the last


def ask(sight, path, *options):
    made = subprocess.run([sight, "timeline", "-q", "--format", "json", *options, path], stdout=subprocess.PIPE,
                          check=True)
    return json.loads(made.stdout, parse_float=waits.nanoseconds)


def call_of(call):
    sent = sum(message[3] for message in call.messages if message[0] == "send")
    return call.rank, call.name, call.enter, call.leave, call.comm, sent


def said_call(row, known):
    """Bytes of collectives are those of all of its members: only others are compared."""
    return (row["rank"], row["name"], row["enter_s"], row["leave_s"],
            known and row["communicator"], 0 if row["collective"] else row["bytes"])


def calls_of(run):
    return [call for calls in run.calls for call in calls if call.name.startswith("MPI_") and call.leave is not None]


def compare(what, got, want):
    got, want = collections.Counter(got), collections.Counter(want)
    for sign, rows in (("only in sight", got - want), ("not in sight", want - got)):
        for row in sorted(map(str, rows))[:3]:
            yield "%s: %s: %s" % (what, sign, row)


def waits_said(document):
    """As waits.expected_waits: kind -> calls that wait, process -> ns."""
    said = {}
    for row in document["waits"]:
        calls, waited = said.setdefault(row["wait"], (set(), {}))
        calls.add(row["call"])
        waited[row["rank"]] = waited.get(row["rank"], 0) + row["waiting_s"]
    return {kind: (len(calls), waited) for kind, (calls, waited) in said.items()}


def whole(run, document):
    calls = calls_of(run)
    rows = document["calls"]
    yield from compare("calls", [said_call(row, True)[:5] for row in rows if row["communicator"] is not None],
                       [call_of(call)[:5] for call in calls if any(
                           row["communicator"] is not None and (row["rank"], row["enter_s"]) == (call.rank, call.enter)
                           for row in rows)])
    yield from compare("calls", [said_call(row, True)[:4] for row in rows], [call_of(call)[:4] for call in calls])
    yield from compare("bytes", [said_call(row, True)[:4:3] + said_call(row, True)[5:] for row in rows
                                 if not row["collective"]],
                       [call_of(call)[:4:3] + call_of(call)[5:] for call in calls if not any(
                           row["collective"] and (row["rank"], row["enter_s"]) == (call.rank, call.enter)
                           for row in rows)])
    said, expected = waits_said(document), {kind: row[:2] for kind, row in waits.expected_waits(run).items()}
    for kind in sorted(set(said) | set(expected)):
        if said.get(kind) != expected.get(kind) and kind not in OWN + ("contention", "uneven-computing"):
            yield "waits %s: is %s, said %s" % (kind, expected.get(kind), said.get(kind))
    ids = {row["id"]: row for row in rows}
    for row in document["waits"]:
        if ids[row["call"]]["rank"] != row["rank"] or ids[row["cause_call"]]["rank"] != row["cause_rank"]:
            yield "waits: ids are not those of calls: %s" % row
    sides = {comm for pair in run.sides for comm in pair}  # the same calls on two communicators
    yield from collectives([call for call in calls if call.comm not in sides], document)


def collectives(calls, document):
    """The n-th calls of a function on a communicator are one."""
    members, number = collections.defaultdict(set), collections.Counter()
    for call in calls:
        if call.name in EVERYONE:
            key = call.rank, call.name, call.comm
            members[call.name, call.comm, number[key]].add((call.rank, call.enter))
            number[key] += 1
    said = collections.defaultdict(set)
    wanted = set().union(*members.values())
    for row in document["calls"]:
        if (row["rank"], row["enter_s"]) in wanted and row["collective"] is not None:
            said[row["collective"]].add((row["rank"], row["enter_s"]))
    yield from compare("members of collectives", map(frozenset, said.values()), map(frozenset, members.values()))
    communicators = {row["id"] for row in document["communicators"]}
    for row in document["collectives"]:
        if row["communicator"] not in communicators:
            yield "collectives: communicator %s is not listed" % row["communicator"]
        if row["id"] in said and (row["members"], row["latest_enter_s"]) != (
                len(said[row["id"]]), max(enter for _, enter in said[row["id"]])):
            yield "collectives: %s has members %s" % (row, said[row["id"]])


def window(sight, path, run, document, rng):
    begin, end = document["trace"]["begin_s"], document["trace"]["end_s"]
    first, last = sorted(rng.sample(range(end - begin + 1), 2))
    ranks = sorted(rng.sample(range(run.processes), rng.randint(1, run.processes)))
    part = ask(sight, path, "--from", "%dns" % first, "--to", "%dns" % last, "--processes", ",".join(map(str, ranks)))

    def within(start, stop):
        return start < begin + last and (stop > begin + first or start == stop == begin + first)

    wanted = [row for row in document["calls"] if row["rank"] in ranks and within(row["enter_s"], row["leave_s"])]
    if part["calls"] != wanted:
        yield "window: %d calls, are %d" % (len(part["calls"]), len(wanted))
    wanted = [row for row in document["waits"] if row["rank"] in ranks and
              within(row["begin_s"], row["begin_s"] + row["waiting_s"])]
    if part["waits"] != wanted:
        yield "window: %d waits, are %d" % (len(part["waits"]), len(wanted))
    if {row["id"] for row in part["collectives"]} != {row["collective"] for row in part["calls"]} - {None}:
        yield "window: collectives are not those of its calls"


def check(sight, seed, directory):
    run = waits.Run(seed)
    path = os.path.join(directory, "run.xml")
    run.write(path)
    document = ask(sight, path)
    return list(whole(run, document)) + list(window(sight, path, run, document, random.Random(seed)))


if __name__ == "__main__":
    sys.exit(waits.check_runs(check))
