#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`sight query` and `sight resources` against what decode.py reads, and random questions against `sight sql`.

    foci.py SIGHT TRACE...
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode
import tables


def query(sight, trace, question):
    made = subprocess.run([sight, "query", "-q", "--format", "json", question, trace], stdout=subprocess.PIPE, check=True)
    return json.loads(made.stdout)["rows"]


DEFINITIONS = """metric own_worst
  unit       %%
  base       mpi / time
  aggregate  max
metric own_mean
  base       mpi
  aggregate  mean
metric own_least
  base       mpi
  aggregate  min
metric own_part
  unit       s
  base       mpi
  constraint /Code/%s /Machine/%s
"""


def definitions(sight, trace, truth, names, rng):
    """Metrics of a user's own on each focus, as counted from the processes and the calls."""
    wrong = 0
    name, ranks = rng.choice(sorted(names)), sorted(truth)
    chosen = sorted(rng.sample(ranks, rng.randrange(1, len(ranks) + 1)))
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "own-metrics-%d" % os.getpid())
    with open(path, "w", encoding="utf-8") as file:
        file.write(DEFINITIONS % (name, ",".join(map(str, chosen))))

    def own(question):
        made = subprocess.run([sight, "query", "-q", "--format", "json", "--definitions", path, question, trace],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(made.stdout)["rows"]

    def same(what, got, want):
        nonlocal wrong
        if got != want:
            print("# %s: %s: %s, should be %s" % (trace, what, got, want))
            wrong = 1

    each = {row["focus"]: row for row in own("mpi, own_worst, own_mean, own_least, mpi/time @ /Machine/*")}
    whole = own("own_worst, own_mean, own_least, own_part")[0]
    same("the largest", round(whole["own_worst"], 9), round(max(row["mpi/time"] for row in each.values()), 9))
    same("the least", whole["own_least"], min(row["mpi"] for row in each.values()))
    same("the mean", abs(ns(whole["own_mean"]) - sum(ns(row["mpi"]) for row in each.values()) / len(each)) <= 1, True)
    same("of one process", all(row["own_mean"] == row["mpi"] == row["own_least"] for row in each.values()), True)
    part = query(sight, trace, "mpi @ /Code/%s /Machine/%s" % (name, ",".join(map(str, chosen))))[0]["mpi"]
    same("a constraint", whole["own_part"], part)
    rows = own("own_part @ /Machine/*")
    same("a constraint by process", [ns(sum(row["own_part"] for row in rows)),
                                     [row["focus"] for row in rows if row["own_part"] and
                                      int(row["focus"].split("/")[2]) not in chosen]], [ns(part), []])
    rows = own("own_part, mpi @ /Code/*")
    same("a constraint by function", {row["focus"].split("/")[3]: row["own_part"] for row in rows if row["own_part"]},
         {name: part} if part else {})
    same("nothing in common", own("own_part @ /Code/%s" % rng.choice(sorted(names - {name}) or [name]))[0]["own_part"],
         0.0 if len(names) > 1 else part)
    rows = own("mpi, compute, own_mean @ /Machine/* /Time/5")
    by_process = {}
    for row in rows:
        by_process[row["focus"].split(" ")[0]] = by_process.get(row["focus"].split(" ")[0], 0) + ns(row["mpi"])
    same("sum over parts of each process", by_process, {focus: ns(row["mpi"]) for focus, row in each.items()})
    os.remove(path)
    return wrong


def resources(sight, trace):
    made = subprocess.run([sight, "resources", "-q", "--format", "json", trace], stdout=subprocess.PIPE, check=True)
    return {row["path"]: round(row["first_s"] * 1e9) for row in json.loads(made.stdout)["resources"]}


def expected_resources(trace):
    begin, want = None, {}
    events = list(decode.decode(trace).events())
    begin = min(event.time for event in events)
    for event in events:
        paths = ["/Machine/%d/%d" % (event.process, event.thread)]
        if event.kind == "enter" and not event.name.startswith(("MPI_", "MPE_")):
            paths.append("/State/" + event.name)
        for path in paths:
            want[path] = min(want.get(path, event.time - begin), event.time - begin)
    names = {event.name for event in events if event.kind == "enter" and event.name.startswith("MPI_")}
    return want, names


def ns(seconds):
    return round(seconds * 1e9)


def check(sight, trace, rng):
    wrong = 0

    def same(what, got, want):
        nonlocal wrong
        if got != want:
            print("# %s: %s: %s, should be %s" % (trace, what, got, want))
            wrong = 1

    found = resources(sight, trace)
    want, names = expected_resources(trace)
    same("places", {path: first for path, first in found.items() if path.startswith(("/Machine", "/State"))}, want)
    same("functions", {path.split("/")[3] for path in found if path.startswith("/Code/") and "/MPI_" in path}, names)

    truth = {process["rank"]: process for process in decode.metrics(decode.decode(trace))["ranks"]}
    rows = query(sight, trace, "mpi, compute, time @ /Machine/*")
    polls = any(name.startswith(("MPI_Test", "MPI_Iprobe")) for name in names)  # those that fail are one call
    same("MPI by process", polls or {int(row["focus"].split("/")[2]): ns(row["mpi"]) for row in rows},
         polls or {rank: process["communication_ns"] for rank, process in truth.items()})
    same("computing by process", polls or {int(row["focus"].split("/")[2]): ns(row["compute"]) for row in rows},
         polls or {rank: process["compute_ns"] for rank, process in truth.items()})
    whole = query(sight, trace, "mpi, compute, messages, bytes")[0]
    sent = sum(cell[0] for process in truth.values() for partner, cell in process["sent"].items() if int(partner) >= 0)
    same("messages", whole["messages"], sent)
    for parts in (1, 7, 50):
        rows = query(sight, trace, "mpi, compute, messages @ /Time/%d" % parts)
        same("sum over %d parts" % parts, [ns(sum(row["mpi"] for row in rows)), ns(sum(row["compute"] for row in rows)),
                                           sum(row["messages"] for row in rows)],
             [ns(whole["mpi"]), ns(whole["compute"]), whole["messages"]])
    ranks = sorted(truth)
    chosen = ",".join(map(str, rng.sample(ranks, rng.randint(1, len(ranks) - 1)))) if len(ranks) > 1 else None
    classes = {row["class"] for row in tables.asked(sight, trace, "SELECT DISTINCT class FROM calls")}
    for part in ["/Code/" + name for name in sorted(names) + sorted(classes)][:9] + ["/Machine/%s" % chosen] * bool(chosen):
        other = part[:part.rindex("/") + 1] + "!" + part[part.rindex("/") + 1:]
        one, rest = (query(sight, trace, "mpi, calls, messages @ " + focus)[0] for focus in (part, other))
        everything = query(sight, trace, "mpi, calls, messages")[0]
        same(part + " and all but it", [ns(one["mpi"]) + ns(rest["mpi"]), one["calls"] + rest["calls"],
                                        one["messages"] + rest["messages"]],
             [ns(everything["mpi"]), everything["calls"], everything["messages"]])
    for _ in range(5):
        chosen = sorted(rng.sample(ranks, rng.randrange(1, len(ranks) + 1)))
        name = rng.choice(sorted(names)) if names else None
        if not name:
            break
        text = ",".join(map(str, chosen))
        got = query(sight, trace, "calls, mpi, waiting @ /Machine/%s /Code/%s" % (text, name))[0]
        rows = tables.asked(sight, trace, "SELECT count(*) AS calls, total(time_ns) AS mpi, total(waiting_ns) AS waiting "
                            "FROM calls WHERE name = '%s' AND rank IN (%s)" % (name, text))[0]
        same("%s on %s" % (name, text), [got["calls"], ns(got["mpi"]), ns(got["waiting"])],
             [rows["calls"], round(rows["mpi"]), round(rows["waiting"])])
    return max(wrong, definitions(sight, trace, truth, names, rng) if names else 0)


def main():
    rng = random.Random(2)
    return max(check(sys.argv[1], trace, rng) for trace in sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
