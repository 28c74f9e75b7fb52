#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same numbers, asked in three ways: `sight metrics`, `sight sql` and `sight query` must agree.

    agree.py SIGHT TRACE...

Messages and bytes of each process, calls of each function, a random part of the run (a function on some processes),
and a random window of time.
"""
import json
import random
import subprocess
import sys


def run(sight, *arguments):
    made = subprocess.run([sight, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    # 3: damaged, which all of them are to read as far as it goes.
    if made.returncode not in (0, 3):
        sys.exit("%s: %s" % (" ".join(arguments), made.stderr.decode()))
    return made.stdout.decode()


def asked(sight, trace, text):
    return [json.loads(line) for line in run(sight, "sql", "-q", "--format", "json", trace, text).splitlines()]


def question(sight, trace, text):
    return json.loads(run(sight, "query", "-q", "--format", "json", text, trace))["rows"]


def metrics(sight, trace, *window):
    """Messages and bytes that each process sends, and calls of each function, in the window."""
    sent, calls = {}, {}
    for process in json.loads(run(sight, "metrics", "-q", "--format", "json", *window, trace))["processes"]:
        rows = [row for row in process["sent"] if row["to"] is not None and row["to"] >= 0]
        sent[process["rank"]] = (sum(row["messages"] for row in rows), sum(row["bytes"] or 0 for row in rows))
        for row in process["functions"]:
            calls[process["rank"], row["name"]] = (row["count"] + row["open"], 0)
    return full(sent), full(calls)


SENT = ("SELECT source AS rank, NULL AS name, count(*) AS n, total(bytes) AS bytes FROM messages "
        "WHERE send_s IS NOT NULL AND %s GROUP BY source")
CALLS = "SELECT rank, name, count(*) AS n, 0.0 AS bytes FROM states WHERE %s GROUP BY rank, name"


def sql(sight, trace, sends="1", states="1"):
    """The same, by conditions on times."""
    rows = asked(sight, trace, "%s UNION ALL %s" % (SENT % sends, CALLS % states))
    return ({row["rank"]: (row["n"], round(row["bytes"])) for row in rows if row["name"] is None},
            {(row["rank"], row["name"]): (row["n"], 0) for row in rows if row["name"] is not None})


def query(sight, trace):
    rows = question(sight, trace, "messages, bytes @ /Machine/*")
    return full({int(row["focus"].split("/")[2]): (round(row["messages"]), round(row["bytes"])) for row in rows})


def full(counts):
    return {key: count for key, count in counts.items() if count != (0, 0)}


def ns(seconds):
    return round(seconds * 1e9)


def part(sight, trace, rng):
    """Some functions on some processes, by `query` and as a condition of `sql`."""
    rows = asked(sight, trace, "SELECT rank, name, count(*) AS calls, sum(time_ns) AS mpi, sum(waiting_ns) AS waiting "
                 "FROM calls GROUP BY rank, name")
    if not rows:
        return (), ()
    ranks, name = sorted({row["rank"] for row in rows}), rng.choice(sorted({row["name"] for row in rows}))
    chosen = sorted(rng.sample(ranks, rng.randrange(1, len(ranks) + 1)))
    got = question(sight, trace, "calls, mpi, waiting @ /Machine/%s /Code/%s" % (",".join(map(str, chosen)), name))[0]
    rows = [row for row in rows if row["name"] == name and row["rank"] in chosen]
    return ((name, chosen, got["calls"], ns(got["mpi"]), ns(got["waiting"])),
            (name, chosen, sum(row["calls"] for row in rows), sum(row["mpi"] for row in rows),
             sum(row["waiting"] for row in rows)))


def check(sight, trace, rng):
    wrong = 0

    def same(what, got, want):
        nonlocal wrong
        if got == want:
            return
        if isinstance(want, dict):
            keys = [key for key in want.keys() | got.keys() if got.get(key) != want.get(key)][:3]
            got, want = [(key, got.get(key)) for key in keys], [(key, want.get(key)) for key in keys]
        print("# %s: %s: %s, should be %s" % (trace, what, got, want))
        wrong = 1

    sent, calls = metrics(sight, trace)
    got = sql(sight, trace)
    same("messages of sql", got[0], sent)
    same("states of sql", got[1], calls)
    same("messages of query", query(sight, trace), sent)
    same("a part of query", *part(sight, trace, rng))
    last = asked(sight, trace, "SELECT duration_ns FROM runs")[0]["duration_ns"]
    first = rng.randrange(last + 1)
    end = rng.randrange(first + 1, last + 2)
    sent, calls = metrics(sight, trace, "--from", "%dns" % first, "--to", "%dns" % end)
    got = sql(sight, trace, *("%s_ns >= %d AND %s_ns < %d" % (when, first, when, end) for when in ("send", "enter")))
    same("messages from %d to %d ns" % (first, end), got[0], sent)
    return wrong


def main():
    rng = random.Random(20)
    return max([check(sys.argv[1], trace, rng) for trace in sys.argv[2:]], default=0)


if __name__ == "__main__":
    sys.exit(main())
