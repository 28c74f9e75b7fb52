#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py METRICS.json ORACLE.json: compares `sight metrics --format json` with `decode.py --metrics`, or with what
tests/bench/generate wrote as its truth, to the nanosecond. Prints differences; exit 1 if any."""
import json
import sys


def ns(seconds):
    """Seconds with 9 decimals as whole ns, without a float in between."""
    whole, _, fraction = seconds.partition(".")
    assert len(fraction) == 9, seconds
    return int(whole + fraction)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        got = json.load(file, parse_float=str)
    with open(sys.argv[2], encoding="utf-8") as file:
        want = json.load(file)
    differences = 0

    def equal(what, a, b):
        nonlocal differences
        if a != b:
            differences += 1
            if differences <= 20:
                print(f"{what}: got {a}, expected {b}")

    equal("processes", got["trace"]["processes"], want["processes"])
    if "events" in want:
        equal("events", got["trace"]["events"], want["events"])
    rows = {row["rank"]: row for row in got["processes"]}
    equal("ranks", sorted(rows), sorted(row["rank"] for row in want["ranks"]))
    for expected in want["ranks"]:
        rank = expected["rank"]
        row = rows[rank]
        times = {"begin_ns": "begin_s", "end_ns": "end_s", "mpi_ns": "communication_s",
                 "communication_ns": "communication_s", "compute_ns": "compute_s", "total_ns": "total_s"}
        for theirs, ours in times.items():
            if theirs in expected:
                equal(f"{rank} {ours}", ns(row[ours]), expected[theirs])
        equal(f"{rank} events", row["events"], expected["events"])
        if expected.get("communication_index") is not None:
            equal(f"{rank} index", round(float(row["communication_index"]), 9), round(expected["communication_index"], 9))
        functions = {function["name"]: function for function in row["functions"]}
        equal(f"{rank} functions", sorted(functions), sorted(expected["functions"]))
        for name in set(functions) & set(expected["functions"]):
            have, function = functions[name], expected["functions"][name]
            for key in ("count", "open", "stray"):
                if key in function:
                    equal(f"{rank} {name} {key}", have[key], function[key])
            for key in ("time", "exclusive", "min", "max", "open"):
                if f"{key}_ns" in function:
                    value = have[f"{key}_s"]
                    equal(f"{rank} {name} {key}_s", ns(value) if value else 0, function[f"{key}_ns"] or 0)
        for direction, key in (("sent", "to"), ("received", "from")):
            table = {str(line[key]): [line["messages"], line["bytes"]] for line in row[direction]}
            equal(f"{rank} {direction}", table, expected[direction])
        if "marks" in expected:
            equal(f"{rank} marks", {mark["name"]: mark["count"] for mark in row["marks"]}, expected["marks"])
    return 1 if differences else 0


sys.exit(main())
