#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""roundtrip.py A.clog2 B.clog2: do two CLOG-2 files hold the same records? Per process in order, times to the ns; definitions are
compared by what they say, not by their ids; communicators by their UUIDs. Ends of blocks do not count. Exit 1 if not."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode  # noqa: E402


def nanoseconds(seconds):
    return round(seconds * 1e9)


def uuid_key(uuid):
    return (uuid[0], uuid[1], uuid[2].rstrip("\0"))


class File:
    def __init__(self, path):
        self.records = decode.decode_all([path]).records
        self.events, self.comms, self.world = {}, {}, {}
        for record in self.records:
            kind = record["type"]
            if kind == "statedef":
                text = (record["name"], record.get("colour"), record.get("format"))
                self.events.setdefault(record["start"], ("enter",) + text)
                self.events.setdefault(record["end"], ("leave",) + text)
            elif kind == "eventdef":
                self.events.setdefault(record["event"], ("mark", record["name"], record.get("colour")))
            elif kind == "comm" and record["kind"] != 10:
                self.comms.setdefault(record["comm"], uuid_key(record["uuid"]))
                if record["kind"] != 102:
                    self.world.setdefault((record["comm"], record["comm_rank"]), record["world_rank"])

    def of_processes(self):
        processes = {}
        for record in self.records:
            if record["type"] in ("endblock", "endlog"):
                continue
            process = self.world.get((record["icomm"], record["rank"]))
            processes.setdefault(process, []).append(self.normal(record))
        return processes

    def normal(self, record):
        kind = record["type"]
        normal = {"type": kind, "time": nanoseconds(record["time"]), "thread": record["thread"],
                  "comm": self.comms.get(record["icomm"]), "rank": record["rank"]}
        hidden = {"offset", "time", "rectype", "type", "icomm", "rank", "thread", "event", "start", "end", "state", "state_id",
                  "id", "comm", "partner_comm", "partner_icomm", "uuid", "shift", "pad"}
        for key, value in record.items():
            if key not in hidden:
                normal[key] = value
        if kind in ("bare", "cargo"):
            normal["event"] = self.events.get(record["event"], record["event"])
        elif kind == "message":
            normal["event"] = record.get("event")
            normal["partner_comm"] = self.comms.get(record.get("partner_comm", record.get("partner_icomm")))
        elif kind == "comm":
            normal["uuid"] = uuid_key(record["uuid"])
            normal["made"] = self.comms.get(record["comm"]) if record["kind"] != 10 else None
        elif kind == "timeshift":
            normal["shift"] = nanoseconds(record["shift"])
        return normal


def main():
    a, b = (File(path).of_processes() for path in sys.argv[1:3])
    differences = 0
    if set(a) != set(b):
        print(f"processes {sorted(map(str, a))} and {sorted(map(str, b))}")
        differences += 1
    for process in set(a) & set(b):
        if len(a[process]) != len(b[process]):
            print(f"process {process}: {len(a[process])} and {len(b[process])} records")
            differences += 1
        for i, (left, right) in enumerate(zip(a[process], b[process])):
            if left != right:
                differences += 1
                if differences <= 5:
                    print(f"process {process} record {i}:\n  {left}\n  {right}")
    return 1 if differences else 0


sys.exit(main())
