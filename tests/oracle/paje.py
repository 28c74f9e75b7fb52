#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Pajé trace that SIGHT wrote, read by the format's description alone, and compared with metrics of the source.

paje.py FILE METRICS.json

As strict as pj_dump: everything is defined before it is used, time does not go back, nothing is popped that was not
pushed, every link has both ends."""
import json
import re
import shlex
import sys
from collections import Counter, defaultdict
from decimal import Decimal

from written import compare


def main():
    metrics = json.load(open(sys.argv[2]), parse_float=Decimal)
    events, types, values, containers = {}, {"0": None}, {}, {"0": (None, None)}
    current, last = None, Decimal(0)
    stacks, links = defaultdict(list), {}
    functions, sent, received, marks = defaultdict(lambda: [0, 0]), Counter(), Counter(), 0
    destroyed = set()

    def rank_of(container):
        return int(re.match(r"rank-(\d+)", containers[container][1])[1])

    def pop(key, time):
        name, begin = stacks[key].pop()
        functions[rank_of(key[0]), name][0] += 1
        functions[rank_of(key[0]), name][1] += int((time - begin) * 10**9)

    for line in open(sys.argv[1], encoding="utf-8"):
        if line.startswith("#"):
            continue
        if line.startswith("%"):
            words = line[1:].split()
            if words[0] == "EventDef":
                current = (words[1], [])
                assert words[2] not in events
                events[words[2]] = current
            elif words[0] != "EndEventDef":
                current[1].append(words[0])
            continue
        lexer = shlex.shlex(line, posix=True)
        lexer.whitespace_split, lexer.escape, lexer.quotes, lexer.commenters = True, "", '"', ""
        number, *words = list(lexer)
        kind, names = events[number]
        assert len(words) == len(names), line
        of = dict(zip(names, words))
        time = Decimal(of.get("Time", 0))
        if "Time" in of:
            assert time >= last and re.fullmatch(r"\d+\.\d{9}", of["Time"]), line
            last = time
        if kind.endswith("Type"):
            assert of["Type"] in types and of["Alias"] not in types, line
            types[of["Alias"]] = of["Name"]
        elif kind == "PajeDefineEntityValue":
            assert of["Type"] in types and of["Alias"] not in values, line
            values[of["Alias"]] = of["Name"]
        elif kind == "PajeCreateContainer":
            assert of["Container"] in containers and of["Type"] in types and of["Alias"] not in containers
            containers[of["Alias"]] = (of["Container"], of["Name"])
        elif kind == "PajeDestroyContainer":
            name = of["Name"]
            assert name in containers and name not in destroyed
            assert all(c in destroyed for c, (parent, _) in containers.items() if parent == name)
            destroyed.add(name)
        else:
            assert of["Type"] in types and of["Container"] in containers, line
            assert of["Container"] not in destroyed
            key = (of["Container"], of["Type"])
            if kind == "PajePushState":
                stacks[key].append((values[of["Value"]], time))
            elif kind == "PajePopState":
                pop(key, time)
            elif kind == "PajeStartLink":
                assert links.setdefault(of["Key"], [None, None])[0] is None
                links[of["Key"]][0] = (rank_of(of["StartContainer"]), int(of.get("Size", 0)))
            elif kind == "PajeEndLink":
                assert links.setdefault(of["Key"], [None, None])[1] is None
                links[of["Key"]][1] = rank_of(of["EndContainer"])
            elif kind == "PajeNewEvent":
                assert of["Value"] in values
                marks += 1
            else:
                assert kind == "PajeSetVariable"
                float(of["Value"])
    assert destroyed == set(containers) - {"0"}
    for key, (start, end) in links.items():
        assert start is not None and end is not None, key
        source, target = key.split("_")[:2]
        assert (int(source), int(target)) == (start[0] + 1, end + 1), key
        for side, at in ((sent, (start[0], end)), (received, (end, start[0]))):
            side[at + ("messages",)] += 1
            side[at + ("bytes",)] += start[1]
    print("%d messages, %d marks" % (len(links), marks))
    compare(functions, sent, received, metrics, name_of)


def name_of(name):
    return re.sub("[\n\r]", " ", name).replace('"', "'")


if __name__ == "__main__":
    main()
