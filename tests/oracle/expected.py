#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""expected.py METRICS.json EXPECTATION: compares `sight metrics --format json` with what an independent decoder says of the
same trace: *.expected.json of CLOG-2 traces, *_stats.json and *.stats.txt of MPE-1's. Prints differences; exit 1 if any.

The decoders add up durations of times that are not rounded to ns, so that sums may differ by 1 ns an instance."""
import json
import re
import sys

# MPE-1 names functions without MPI_ and in upper case; what the tool shows is the function's proper name.
IRREGULAR = {"CARTDIM_GET": "MPI_Cartdim_get"}


def ns(seconds):
    return round(float(seconds) * 1e9)


def proper(name, start):
    if start >= 500 or name.startswith("MPI_"):
        return name
    if name == "SENDRECV_REPLAC":
        return "MPI_Sendrecv_replace"
    if re.fullmatch(r"[A-Z_]+", name):
        return IRREGULAR.get(name, "MPI_" + name.capitalize())
    return name


class Check:
    def __init__(self):
        self.differences = 0

    def equal(self, what, got, want, tolerance=0):
        if got != want if tolerance == 0 else abs(got - want) > tolerance:
            self.differences += 1
            print(f"{what}: got {got}, expected {want}")


def partners(rows, key):
    return {str(row[key]): [row["messages"], row["bytes"]] for row in rows}


def check_clog2(check, got, want):
    check.equal("events", got["trace"]["events"], want["events"])
    check.equal("processes", got["trace"]["processes"], want["processes"])
    check.equal("complete", got["trace"]["complete"], want.get("complete", True))
    rows = {row["rank"]: row for row in got["processes"]}
    check.equal("ranks", sorted(rows), sorted(row["rank"] for row in want["ranks"]))
    for expected in want["ranks"]:
        row, rank = rows[expected["rank"]], expected["rank"]
        check.equal(f"{rank} begin", ns(row["begin_s"]), ns(expected["begin_s"]))
        check.equal(f"{rank} end", ns(row["end_s"]), ns(expected["end_s"]))
        check.equal(f"{rank} events", row["events"], expected["events"])
        check.equal(f"{rank} MPI time", ns(row["communication_s"]), ns(expected["mpi_time_s"]), row["events"])
        functions = {function["name"]: function for function in row["functions"]}
        check.equal(f"{rank} functions", sorted(functions), sorted(expected["functions"]))
        for name, function in expected["functions"].items():
            have = functions.get(name)
            if not have:
                continue
            check.equal(f"{rank} {name} count", have["count"], function["count"])
            for key in ("time_s", "min_s", "max_s"):
                check.equal(f"{rank} {name} {key}", ns(have[key]), ns(function[key]), function["count"])
        check.equal(f"{rank} sent", partners(row["sent"], "to"), expected["sent"])
        check.equal(f"{rank} received", partners(row["received"], "from"), expected["received"])
        marks = {mark["name"]: mark["count"] for mark in row["marks"]}
        check.equal(f"{rank} marks", marks, expected.get("marks", {}))


def merged_states(states, names):
    """States with the same shown name are one row."""
    merged = {}
    for name, state in states.items():
        shown = names.get(name, "" if name == "(no name)" else name)
        if shown in merged:
            old = merged[shown]
            old["count"] += state["count"]
            old["inclusive"] += state["inclusive"]
            old["exclusive"] += state["exclusive"]
        else:
            merged[shown] = dict(state)
    return merged


def check_mpe1(check, got, want):
    names = {state["name"]: proper(state["name"], state["start"]) for state in want["states"]}
    rows = {row["rank"]: row for row in got["processes"]}
    check.equal("ranks", sorted(rows), sorted(int(rank) for rank in want["procs"]))
    for rank, expected in want["procs"].items():
        row = rows[int(rank)]
        check.equal(f"{rank} begin", ns(row["begin_s"]), ns(expected["first"]))
        check.equal(f"{rank} end", ns(row["end_s"]), ns(expected["last"]))
        check.equal(f"{rank} events", row["events"], expected["events"])
        functions = {function["name"]: function for function in row["functions"]}
        for name, state in merged_states(expected["states"], names).items():
            have = functions.get(name)
            check.equal(f"{rank} {name} is there", have is not None, True)
            if not have:
                continue
            check.equal(f"{rank} {name} count", have["count"], state["count"])
            check.equal(f"{rank} {name} time", ns(have["time_s"]), ns(state["inclusive"]), state["count"] + 1)
            if expected["overlap"] == 0:
                check.equal(f"{rank} {name} exclusive", ns(have["exclusive_s"]), ns(state["exclusive"]),
                            2 * state["count"] + 50)
        for name, key in (("sent", "to"), ("received", "from")):
            expected_rows = {k: v for k, v in expected["sent" if name == "sent" else "recv"].items()}
            check.equal(f"{rank} {name}", partners(row[name], key), expected_rows)


def check_text(check, got, lines):
    rows = {row["rank"]: row for row in got["processes"]}
    row, seen = None, {}
    for line in lines:
        if match := re.match(r"events (\d+), first ([\d.]+), last ([\d.]+)", line):
            check.equal("events", got["trace"]["events"], int(match[1]))
            check.equal("begin", ns(got["trace"]["begin_s"]), ns(match[2]))
            check.equal("end", ns(got["trace"]["end_s"]), ns(match[3]))
        elif match := re.match(r"process (\d+): first ([\d.]+) last ([\d.]+) events (\d+)", line):
            row, seen = rows[int(match[1])], {}
            check.equal(f"{match[1]} begin", ns(row["begin_s"]), ns(match[2]))
            check.equal(f"{match[1]} end", ns(row["end_s"]), ns(match[3]))
            check.equal(f"{match[1]} events", row["events"], int(match[4]))
        elif match := re.match(r"  state (.*?) +count +(\d+) inclusive +([\d.]+)", line):
            name = "" if match[1] == "(no name)" else proper(match[1], 0) if match[1].isupper() else match[1]
            count, time = seen.get(name, (0, 0))
            seen[name] = (count + int(match[2]), time + ns(match[3]))
            have = {function["name"]: function for function in row["functions"]}.get(name)
            check.equal(f"{name} is there", have is not None, True)
            if have and have["count"] == seen[name][0]:
                check.equal(f"{name} time", ns(have["time_s"]), seen[name][1])
        elif match := re.match(r"  (start without end|end without start): (.*) (\d+)$", line):
            key = "open" if match[1].startswith("start") else "stray"
            have = {function["name"]: function for function in row["functions"]}[match[2]]
            check.equal(f"{match[2]} {key}", have[key], int(match[3]))
        elif match := re.match(r"  (sent to|received from) (-?\d+): messages (\d+) bytes (\d+)", line):
            key = ("sent", "to") if match[1] == "sent to" else ("received", "from")
            check.equal(line.strip(), partners(row[key[0]], key[1]).get(match[2]), [int(match[3]), int(match[4])])


def check_paje(check, got, want):
    """pj_dump's expectations: functions have SimGrid's names, and of states without duration begins and ends are counted
    apart, so that their neighbours' times are mixed with theirs. Messages are those with both ends."""
    check.equal("processes", got["trace"]["processes"], want["processes"])
    rows = {row["rank"]: row for row in got["processes"]}
    check.equal("ranks", sorted(rows), sorted(row["rank"] for row in want["ranks"]))
    for expected in want["ranks"]:
        row, rank = rows[expected["rank"]], expected["rank"]
        check.equal(f"{rank} begin", ns(row["begin_s"]), ns(expected["begin_s"]))
        check.equal(f"{rank} end", ns(row["end_s"]), ns(expected["end_s"]))
        functions = {function["name"]: function for function in row["functions"]}
        apart = expected["end_without_start"]
        counts = {name: function["count"] for name, function in expected["functions"].items()}
        for name, count in apart.items():
            counts[name] = counts.get(name, 0) + count
        counts = {name.removeprefix("P"): count for name, count in counts.items()}
        check.equal(f"{rank} calls", {name: f["count"] for name, f in functions.items()}, counts)
        for name, function in expected["functions"].items():
            if name not in apart:
                check.equal(f"{rank} {name} time", ns(functions[name.removeprefix("P")]["time_s"]),
                            ns(function["time_s"]), function["count"])
        for what, key in (("sent", "to"), ("received", "from")):
            known = {partner: both for partner, both in partners(row[what], key).items() if partner != "-1"}
            check.equal(f"{rank} {what}", known, expected[what])


def check_dumpi(check, got, want):
    """dumpi2ascii's expectations: partners in MPI_COMM_WORLD only, receives of blocking calls only, and times of 64-bit
    doubles since 1970 in one of them. What is not known there is counted together, or not at all."""
    check.equal("processes", got["trace"]["processes"], want["processes"])
    check.equal("complete", got["trace"]["complete"], True)
    rows = {row["rank"]: row for row in got["processes"]}
    far = 300 if want["begin_s"] > 1e9 else 0
    for expected in want["ranks"]:
        row, rank = rows[expected["rank"]], expected["rank"]
        check.equal(f"{rank} begin", ns(row["begin_s"]), ns(expected["begin_s"]), far)
        check.equal(f"{rank} end", ns(row["end_s"]), ns(expected["end_s"]), far)
        functions = {function["name"]: function for function in row["functions"]}
        check.equal(f"{rank} functions", sorted(functions), sorted(expected["functions"]))
        for name, function in expected["functions"].items():
            check.equal(f"{rank} {name} count", functions[name]["count"], function["count"])
            check.equal(f"{rank} {name} time", ns(functions[name]["time_s"]), ns(function["time_s"]),
                        function["count"] * (1 + far))
        for what, key in (("sent", "to"), ("received", "from")):
            have = partners(row[what], key)
            for partner, (messages, size) in expected[what].items():
                if partner != "None":
                    check.equal(f"{rank} {what} {partner} at least", have.get(partner, [0, 0])[0] >= messages and
                                have.get(partner, [0, 0])[1] >= size, True)
        sent = [sum(both[i] for both in partners(row["sent"], "to").values()) for i in (0, 1)]
        least = [sum(both[i] for both in expected["sent"].values()) for i in (0, 1)]
        check.equal(f"{rank} sent in all", sent[0] >= least[0] and sent[1] >= least[1], True)


def check_slog2(check, got, want):
    """Functions of MPE-1's traces have MPE-1's names in the file; MPI time is expected where there are views only."""
    views = "Process View" in want["line_id_maps"]
    for expected in want["ranks"]:
        if not views:
            expected["functions"] = {proper(name, 0): function for name, function in expected["functions"].items()}
            rows = {row["rank"]: row for row in got["processes"]}
            expected["mpi_time_s"] = rows[expected["rank"]]["communication_s"]
    check_clog2(check, got, want)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        got = json.load(file, parse_float=str)
    check = Check()
    with open(sys.argv[2], encoding="latin-1") as file:
        if sys.argv[2].endswith(".txt"):
            check_text(check, got, file.read().splitlines())
        else:
            want = json.load(file)
            by_format = {"Paje": check_paje, "DUMPI": check_dumpi, "SLOG-2": check_slog2}
            (by_format.get(want.get("format"), check_clog2) if "ranks" in want else check_mpe1)(check, got, want)
    return 1 if check.differences else 0


sys.exit(main())
