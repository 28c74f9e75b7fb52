#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waits of one-sided communication as a program measured them, compared with what sight makes of its recording.

    windows.py SIGHT TRACE TRUTH    TRUTH has lines of tests/programs/rma.c: at,RANK,FUNCTION,ENTER,LEAVE in ns

Each process accesses the window of the next one and is accessed by the one before it; locks are of one target, those of one
process are exclusive, those of all are not. Each epoch of a lock accesses the target and flushes that.  For each kind of wait the sum, and what each process waits, may differ by 5 % and 10 ms: the program's clock
is read a little before and behind the recorder's.  It shares no code with SIGHT.
"""
import subprocess
import sys
import xml.etree.ElementTree


def calls_of(path):
    """function -> rank -> (enter, leave)"""
    calls = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("at,"):
                _, rank, function, enter, leave = line.split(",")
                calls.setdefault(function, {})[int(rank)] = (int(enter), int(leave))
    return calls


def until(call, moment):
    return max(0, min(moment, call[1]) - call[0])


def contention(calls):
    """rank -> ns. A lock is acquired when it is left; where one is left while another is held, when it is flushed."""
    steps = [{rank: (call, name.endswith("_all")) for name in (step, step + "_all") for rank, call in calls.get(name, {}).items()}
             for step in ("MPI_Win_lock", "MPI_Win_flush", "MPI_Win_unlock")]
    ranks = steps[0]
    shared = {rank: one_of_all for rank, (_, one_of_all) in ranks.items()}
    lock, flush, unlock = ({rank: call for rank, (call, _) in step.items()} for step in steps)
    pairs = [(rank, other) for rank in ranks for other in ranks
             if rank != other and not (shared[rank] and shared[other])]
    late = any(lock[other][1] <= lock[rank][1] < unlock[other][0] for rank, other in pairs)
    got = flush if late else lock
    waits = {}
    for rank in ranks:
        before = [other for one, other in pairs if one == rank and got[other][1] < got[rank][1]
                  and lock[rank][0] < unlock[other][0] <= got[rank][1]]
        if not before:
            continue
        last = max(before, key=lambda other: unlock[other][0])
        held = min(got[other][1] for other in before)
        call = next((step[rank] for step in (lock, flush) if step[rank][0] < unlock[last][0] <= step[rank][1]), None)
        if call:
            waits[rank] = max(0, min(unlock[last][1], call[1]) - max(call[0], held))
    return waits


def expected(calls):
    """kind -> rank -> ns"""
    waits = {"wait-at-fence": {}, "late-post": {}, "early-wait": {}, "late-complete": {}}
    fences = calls.get("MPI_Win_fence", {})
    latest = max((enter for enter, _ in fences.values()), default=0)
    for rank, call in fences.items():
        waits["wait-at-fence"][rank] = until(call, latest)
    posts, size = calls.get("MPI_Win_post", {}), len(calls.get("MPI_Win_post", {}))
    for rank in posts:
        posted = posts[(rank + 1) % size][0]
        start, complete = calls["MPI_Win_start"][rank], calls["MPI_Win_complete"][rank]
        waits["late-post"][rank] = until(start if start[1] >= posted else complete, posted)
        wait, origin = calls["MPI_Win_wait"][rank], (rank - 1) % size
        waits["early-wait"][rank] = until(wait, calls["MPI_Put"][origin][1])
        waits["late-complete"][rank] = until(wait, calls["MPI_Win_complete"][origin][0]) - waits["early-wait"][rank]
    waits["lock-contention"] = contention(calls)
    return waits


def said(sight, trace):
    made = subprocess.run([sight, "metrics", "-q", "--format", "xml", trace], stdout=subprocess.PIPE, check=True)
    waits = {}
    for wait in xml.etree.ElementTree.fromstring(made.stdout).find("analysis").iter("wait"):
        waits[wait.get("kind")] = {int(waiter.get("rank")): round(float(waiter.get("waited_s")) * 1e9)
                                   for waiter in wait.iter("waiter") if waiter.get("waited_s")}
    return waits


def main():
    actual, wrong = said(sys.argv[1], sys.argv[2]), 0
    for kind, truth in expected(calls_of(sys.argv[3])).items():
        got = actual.get(kind, {})
        pairs = [(truth.get(rank, 0), got.get(rank, 0)) for rank in sorted(set(truth) | set(got))]
        pairs.append((sum(truth.values()), sum(got.values())))
        if any(abs(one - other) > 0.05 * one + 10e6 for one, other in pairs):
            print("%s: is %s, said %s" % (kind, truth, got))
            wrong = 1
        print("%s: %.1f ms, said %.1f ms" % (kind, pairs[-1][0] / 1e6, pairs[-1][1] / 1e6))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
