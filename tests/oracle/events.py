#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`sight events` against what decode.py reads from the same traces.

    events.py SIGHT TRACE...
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode


def lines(sight, trace, form):
    made = subprocess.run([sight, "events", "-q", "--format", form, trace], stdout=subprocess.PIPE, check=True)
    return made.stdout.decode()


def cells(event):
    """What CSV has of an event; numbers with decimals are written in several ways."""
    return tuple("" if value is None else str(value) for name, value in event.items() if name not in ("time_s", "value"))


def main():
    wrong = 0
    for trace in sys.argv[2:]:
        want = collections.Counter()
        for event in decode.decode(trace).events():
            row = [event.kind, event.process, event.thread, event.time]
            if event.kind in ("enter", "leave"):
                row.append(event.name)
            if event.kind in ("send", "receive"):
                row += [event.partner, event.tag, event.bytes]
            want[tuple(row)] += 1
        got, objects = collections.Counter(), collections.Counter()
        for event in map(json.loads, lines(sys.argv[1], trace, "jsonl").splitlines()):
            objects[cells(event)] += 1
            row = [event["kind"], event["rank"], event["thread"], round(event["time_s"] * 1e9)]
            if event["kind"] in ("enter", "leave"):
                row.append(event["name"])
            if event["kind"] in ("send", "receive"):
                row += [event["partner"], event["tag"], event["bytes_sent" if event["kind"] == "send" else "bytes_received"] or 0]
            got[tuple(row)] += 1
        for row in list((got - want) + (want - got))[:3]:
            print("# %s: differs: %s" % (trace, row))
            wrong = 1
        table = collections.Counter(map(cells, csv.DictReader(io.StringIO(lines(sys.argv[1], trace, "csv")))))
        if table != objects:
            print("# %s: CSV and JSON differ" % trace)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
