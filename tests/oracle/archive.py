#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""archive.py METRICS.json EXPECTATION: compares `sight metrics --format json` of an OTF2 archive with what otf2-print and
OTF2's Python binding say of it. Prints differences; exit 1 if any. Times may differ by 1 ns an instance: expectations were
rounded."""
import json
import sys

differences = []


def ns(seconds):
    return round(float(seconds) * 1e9)


def equal(what, got, want, tolerance=0):
    if abs(got - want) > tolerance if tolerance else got != want:
        differences.append(f"{what}: got {got}, expected {want}")


def functions(rank, have, want):
    equal(f"{rank} functions", sorted(have), sorted(want))
    for name in set(have) & set(want):
        count = want[name]["count"]
        equal(f"{rank} {name} count", have[name]["count"], count)
        equal(f"{rank} {name} time", ns(have[name]["time_s"]), ns(want[name]["time_s"]), count + 1)
        equal(f"{rank} {name} min", ns(have[name]["min_s"]), ns(want[name]["min_s"]), 1)
        equal(f"{rank} {name} max", ns(have[name]["max_s"]), ns(want[name]["max_s"]), 1)


def partners(rank, key, have, want):
    """Sizes that nobody wrote (2^63 and more) are not known."""
    rows = {str(row["to" if key == "sent" else "from"]): [row["messages"], row["bytes"]] for row in have}
    known = {partner: [row[0], row[1] if row[1] < 2**62 else None] for partner, row in want.items()
             if int(partner) < 2**24}
    equal(f"{rank} {key} partners", sorted(rows), sorted(known))
    for partner in set(rows) & set(known):
        equal(f"{rank} {key} {partner} messages", rows[partner][0], known[partner][0])
        if known[partner][1] is not None:
            equal(f"{rank} {key} {partner} bytes", rows[partner][1], known[partner][1])


def main():
    with open(sys.argv[1]) as file:
        got = json.load(file)
    with open(sys.argv[2]) as file:
        want = json.load(file)
    equal("processes", got["trace"]["processes"], want["processes"])
    equal("complete", got["trace"]["complete"], True)
    rows = {row["rank"]: row for row in got["processes"]}
    equal("ranks", sorted(rows), sorted(row["rank"] for row in want["ranks"]))
    for expected in want["ranks"]:
        rank, row = expected["rank"], rows[expected["rank"]]
        equal(f"{rank} begin", ns(row["begin_s"]), ns(expected["begin_s"]), 1)
        equal(f"{rank} end", ns(row["end_s"]), ns(expected["end_s"]), 1)
        closed = {f["name"]: f for f in row["functions"] if f["count"]}
        functions(rank, closed, expected["functions"])
        partners(rank, "sent", row["sent"], expected["sent"])
        partners(rank, "received", row["received"], expected["received"])
    print("\n".join(differences))
    return bool(differences)


sys.exit(main())
