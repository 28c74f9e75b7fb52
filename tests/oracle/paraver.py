#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Paraver trace that SIGHT wrote, read by the format's description alone, and compared with metrics of the source.

paraver.py NAME METRICS.json

Checks what other readers rely on: order, numbers of fields, states without gaps, communicators as declared, labels."""
import json
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal

from written import compare

MPI = range(50000001, 50000006)


def is_user(kind):
    return kind == 60000019 or 61990000 < kind < 61991000


def labels(path):
    values, group = {}, []
    section = None
    for line in open(path, encoding="latin-1"):
        line = line.rstrip("\n")
        if not line:
            section = None
        elif line == "EVENT_TYPE":
            section, group = "types", []
        elif line == "VALUES":
            section = "values"
        elif section == "types":
            _, kind, _ = line.split(None, 2)
            group.append(int(kind))
        elif section == "values":
            value, label = line.split(" ", 1)
            for kind in group:
                assert (kind, int(value)) not in values, line
                values[kind, int(value)] = label
    return values


def main():
    name = sys.argv[1]
    metrics = json.load(open(sys.argv[2]), parse_float=Decimal)
    names = labels(name + ".pcf")
    lines = open(name + ".prv", encoding="ascii").read().split("\n")
    assert lines.pop() == ""
    head = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(0|\d+\([\d,]+\)):1:(\d+)\(([\d:,]+)\),(\d+)",
                        lines[0])
    duration, tasks, comms = int(head[1]), int(head[3]), int(head[5])
    threads = [int(one.split(":")[0]) for one in head[4].split(",")]
    assert len(threads) == tasks == metrics["trace"]["processes"]
    assert sum(line.startswith("c:") for line in lines) == comms
    numbers = [int(line.split(":")[2]) for line in lines[1:comms + 1]]
    assert sorted(numbers) == list(range(1, comms + 1))
    for line in lines[1:comms + 1]:
        _, _, _, count, *members = line.split(":")
        assert int(count) == len(members) and all(1 <= int(m) <= tasks for m in members)
    last, reached, stacks = 0, defaultdict(int), defaultdict(list)
    functions, sent, received = defaultdict(lambda: [0, 0]), Counter(), Counter()
    for line in lines[comms + 1:]:
        kind, *fields = map(int, line.split(":"))
        cpu, application, task, thread, time = fields[:5]
        where = task, thread
        assert application == 1 and 1 <= task <= tasks and 1 <= thread <= threads[task - 1], line
        assert last <= time <= duration, line
        last = time
        if kind == 1:
            assert len(fields) == 7 and time == reached[where] < fields[5], line
            reached[where] = fields[5]
        elif kind == 2:
            assert len(fields) > 5 and len(fields) % 2 == 1
            for event, value in zip(fields[5::2], fields[6::2]):
                if event not in MPI and not is_user(event):
                    continue
                stack = stacks[where, event]
                if value:
                    stack.append((names[event, value], time))
                else:
                    function, begin = stack.pop()
                    functions[task - 1, function][0] += 1
                    functions[task - 1, function][1] += time - begin
        else:
            assert kind == 3 and len(fields) == 14, line
            to = fields[8]
            assert fields[4] == fields[5] and fields[10] == fields[11] <= duration
            for side, at in ((sent, (task - 1, to - 1)), (received, (to - 1, task - 1))):
                side[at + ("messages",)] += 1
                side[at + ("bytes",)] += fields[12]
    assert set(reached.values()) <= {duration}, reached
    print("%d messages" % sum(v for k, v in sent.items() if k[2] == "messages"))
    compare(functions, sent, received, metrics, name_of)


def name_of(name):
    return name.encode("latin-1", "replace").decode("latin-1")  # what labels can have


if __name__ == "__main__":
    main()
