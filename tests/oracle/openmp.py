# SPDX-License-Identifier: BSD-3-Clause
"""openmp.py EVENTS NAME=THREADS*CALLS...: parallel regions in the output of `sight events --format csv`: states nest, a
region's threads leave it together and wait there last, and each region has so many calls of so many threads."""
import collections
import csv
import sys

open_states = collections.defaultdict(list)
regions = collections.defaultdict(list)  # name -> (process, thread, enter, leave, wait until the leave)
for event in csv.DictReader(open(sys.argv[1])):
    if event["kind"] not in ("enter", "leave") or not event["name"].startswith("omp "):
        continue
    where, time = (event["rank"], event["thread"]), event["time_s"]
    if event["kind"] == "enter":
        open_states[where].append([event["name"], time, None])
        continue
    name, enter, waited = open_states[where].pop()
    assert name == event["name"], (where, name, event)
    if name.startswith("omp wait "):
        region = open_states[where][-1]
        assert region[0] == name.replace("omp wait", "omp") and region[2] is None, (name, region)
        region[2] = time
    else:
        assert waited in (None, time), (name, where, waited, time)
        regions[name].append((where[0], where[1], enter, time))
assert not any(open_states.values()), dict(open_states)
wanted = dict(word.split("=") for word in sys.argv[2:])
got = {}
for name, rows in regions.items():
    calls = collections.Counter((rank, leave) for rank, thread, enter, leave in rows)
    threads = set(calls.values())
    got[name.split(":")[-1]] = "%s*%d" % ("/".join(map(str, sorted(threads))), len(calls))
    masters = [row for row in rows if row[1] == "0"]
    assert len(masters) == len(calls), (name, len(masters))
    for rank, thread, enter, leave in rows:
        master = next(row for row in masters if row[0] == rank and row[3] == leave)
        assert master[2] <= enter <= leave, (name, rank, thread)
assert got == wanted, (got, wanted)
