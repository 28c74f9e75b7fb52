#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many processes compute at once, in a metrics file, against what decode.py reads.

    concurrency.py METRICS.xml TRACE
"""
import os
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode


def changes(trace):
    """Begins (+1) and ends (-1) of computing: outside all MPI functions, from the first event of a process to its last."""
    inside, first, last, since, found = {}, {}, {}, {}, []
    for event in decode.decode(trace).events():
        process, time = event.process, max(event.time, last.get(event.process, event.time))
        first.setdefault(process, time)
        since.setdefault(process, time)
        last[process] = time
        if event.kind not in ("enter", "leave") or not event.name.startswith("MPI_"):
            continue
        depth = inside.get(process, 0)
        if event.kind == "enter" and depth == 0:
            found += [(since[process], 1), (time, -1)]
        if event.kind == "leave" and depth == 1:
            since[process] = time
        inside[process] = max(0, depth + (1 if event.kind == "enter" else -1))
    for process, time in last.items():
        if inside.get(process, 0) == 0:
            found += [(since[process], 1), (time, -1)]
    return sorted(found)


def main():
    want, number, before = {}, 0, None
    for time, change in changes(sys.argv[2]):
        if before is not None and time > before and number > 0:
            want[number] = want.get(number, 0) + time - before
        before, number = time, number + change
    analysis = xml.etree.ElementTree.parse(sys.argv[1]).getroot().find("analysis")
    got = {int(row.get("processes")): round(float(row.get("time_s")) * 1e9) for row in analysis.iter("concurrency")}
    busy = sum(round(float(word) * 1e9) for word in analysis.find("busy").get("times_s").split())
    if got != want or busy != sum(count * ns for count, ns in want.items()):
        print("# %s: %s, %d, should be %s" % (sys.argv[2], got, busy, want))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
