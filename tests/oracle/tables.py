#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of `sight sql` against what decode.py reads from the same traces.

    tables.py SIGHT TRACE...

States and ends of messages must be the same, one by one; in random windows, on random processes and with random names
queries must find as many as a plain count does.
"""
import collections
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode


def asked(sight, trace, query):
    made = subprocess.run([sight, "sql", "-q", "--format", "json", trace, query], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if made.returncode not in (0, 3):
        sys.exit("%s: %s: %s" % (trace, query, made.stderr.decode()))
    return [json.loads(line) for line in made.stdout.decode().splitlines()]


def expected(trace):
    """States as [rank, thread, name, enter, leave], ends of messages as [kind, rank, partner, tag, bytes, time], ns
    from the first event."""
    states, ends, open_states, latest, begins = [], [], {}, {}, []
    for event in decode.decode(trace).events():
        row = (event.process, event.thread)
        begins.append(event.time)
        time = latest[row] = max(event.time, latest.get(row, event.time))
        stack = open_states.setdefault(row, [])
        if event.kind == "enter":
            stack.append([event.process, event.thread, event.name, time, None, event.state])
        elif event.kind == "leave":
            for index in range(len(stack) - 1, -1, -1):
                if stack[index][5] == event.state:
                    stack[index][4] = time
                    states.append(stack.pop(index)[:5])
                    break
        elif event.kind in ("send", "receive") and (event.partner is None or event.partner >= 0):
            ends.append([event.kind, event.process, event.partner, event.tag, event.bytes, time])
    states += [state[:5] for stack in open_states.values() for state in stack]
    begin = min(begins)
    for state in states:
        state[3] -= begin
        state[4] = None if state[4] is None else state[4] - begin
    for end in ends:
        end[5] -= begin
    return states, ends, max(begins) - begin


def compare(what, trace, got, want):
    got, want = (collections.Counter(map(tuple, rows)) for rows in (got, want))
    for sign, rows in (("only in sight", got - want), ("not in sight", want - got)):
        for row in list(rows)[:3]:
            print("# %s: %s: %s: %s" % (trace, what, sign, row))
    return got != want


def windows(sight, trace, states, duration, rng):
    wrong = 0
    names = sorted({state[2] for state in states})
    for _ in range(6):
        first, last = sorted(rng.randrange(duration + 1) for _ in range(2))
        rank, name = rng.choice(states)[0], rng.choice(names)
        conditions = [
            ("enter_ns BETWEEN %d AND %d" % (first, last), lambda s: first <= s[3] <= last),
            ("leave_ns >= %d AND enter_ns <= %d" % (first, last), lambda s: s[4] is not None and s[4] >= first and s[3] <= last),
            ("enter_ns < %d AND leave_ns > %d" % (first, last), lambda s: s[4] is not None and s[3] < first and s[4] > last),
            ("rank = %d AND enter_ns >= %d" % (rank, first), lambda s: s[0] == rank and s[3] >= first),
            ("name = '%s' AND leave_ns < %d" % (name, last), lambda s: s[2] == name and s[4] is not None and s[4] < last),
            ("rank IN (%d, 0) AND name = '%s'" % (rank, name), lambda s: s[0] in (rank, 0) and s[2] == name)]
        query = " UNION ALL ".join("SELECT count(*) AS n FROM states WHERE " + text for text, _ in conditions)
        got = [row["n"] for row in asked(sight, trace, query)]
        for (text, holds), found in zip(conditions, got):
            if found != sum(map(holds, states)):
                print("# %s: %s: found %d, there are %d" % (trace, text, found, sum(map(holds, states))))
                wrong = 1
    return wrong


GROUPS = {"states": ["run", "rank", "thread", "name", "class", "depth"],
          "messages": ["source", "destination", "tag", "communicator"],
          "calls": ["rank", "thread", "name", "class", "wait", "communicator", "site"],
          "members": ["rank", "thread", "name"], "waits": ["rank", "name", "wait", "cause_rank", "cause_name", "communicator"]}


def groups(sight, trace, states, rng):
    """Rows in groups, in both directions: as SQLite groups them where it is not told what the columns are (+column)."""
    wrong = 0
    for table, columns in GROUPS.items():
        chosen = rng.sample(columns, rng.randint(1, 3))
        order = ", ".join(name + rng.choice(["", " DESC"]) for name in chosen)
        hidden = ", ".join("+" + name for name in chosen)
        where = rng.choice(["1", "rank > 1" if "rank" in columns else "source > 1"])
        select = "SELECT %s, count(*) AS n FROM %s WHERE %s GROUP BY " % (", ".join(chosen), table, where)
        by_us = asked(sight, trace, select + ", ".join(chosen) + " ORDER BY " + order)
        plain = asked(sight, trace, "SELECT * FROM (%s) ORDER BY %s" % (
            select + hidden, order))
        if by_us != plain:
            print("# %s: %s by %s: %s, should be %s" % (trace, table, order, by_us[:3], plain[:3]))
            wrong = 1
        first = asked(sight, trace, "SELECT %s FROM %s ORDER BY %s LIMIT 5" % (", ".join(chosen), table, order))
        plain = asked(sight, trace, "SELECT %s FROM (SELECT * FROM %s LIMIT -1 OFFSET 0) ORDER BY %s LIMIT 5" % (
            ", ".join(chosen), table, order))
        if first != plain:
            print("# %s: first of %s by %s: %s, should be %s" % (trace, table, order, first, plain))
            wrong = 1
    got = {(row["rank"], row["name"]): (row["n"], row["ns"]) for row in
           asked(sight, trace, "SELECT rank, name, count(*) AS n, sum(time_ns) AS ns FROM states GROUP BY rank, name")}
    want = {}
    for rank, _, name, enter, leave in states:
        number, ns = want.get((rank, name), (0, None))
        want[rank, name] = number + 1, ns if leave is None else (ns or 0) + max(leave - enter, 0)
    if got != want:
        print("# %s: groups of rank and name differ" % trace)
        wrong = 1
    return wrong


def check(sight, trace, rng):
    states, ends, duration = expected(trace)
    got = asked(sight, trace, "SELECT rank, thread, name, enter_ns, leave_ns FROM states")
    wrong = compare("states", trace, [list(row.values()) for row in got], states)
    got = asked(sight, trace, "SELECT source, destination, tag, bytes, send_ns, receive_ns FROM messages")
    sent = [["send", m["source"], m["destination"], m["tag"], m["send_ns"]] for m in got if m["send_ns"] is not None]
    received = [["receive", m["destination"], m["source"], m["tag"], m["receive_ns"]] for m in got
                if m["receive_ns"] is not None]
    wrong |= compare("messages", trace, sent + received, [end[:4] + end[5:] for end in ends])
    if sum(m["bytes"] for m in got if m["send_ns"] is not None) != sum(end[4] for end in ends if end[0] == "send"):
        print("# %s: bytes of messages differ" % trace)
        wrong = 1
    outermost = asked(sight, trace, "SELECT sum(count) + sum(open) AS n FROM functions")[0]["n"]
    if outermost != len(states):
        print("# %s: functions have %s states, there are %d" % (trace, outermost, len(states)))
        wrong = 1
    wrong |= groups(sight, trace, states, rng)
    return wrong | (windows(sight, trace, states, duration, rng) if states else 0)


def main():
    rng = random.Random(1)
    return max(check(sys.argv[1], trace, rng) for trace in sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
