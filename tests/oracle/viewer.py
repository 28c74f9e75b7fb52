#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files for viewers (Chrome's JSON, Perfetto), decoded by the formats' descriptions alone, and compared with metrics.

viewer.py FILE METRICS.json [DIAGNOSIS.json]

Both decoders give the same: tracks {key: (process name, track name)}, and items in the order of the file:
(time in ns, "B" | "E" | "i" | "C", track, name, args, flow id or None, the flow ends here)."""
import json
import re
import struct
import sys
from collections import Counter, defaultdict
from decimal import Decimal


def nanoseconds(number):
    exact = Decimal(number) * 1000
    assert exact == int(exact), number
    return int(exact)


def chrome(data):
    objects = json.loads(data, parse_float=Decimal, parse_int=Decimal)["traceEvents"]
    processes, names, items, flows = {}, {}, [], {}
    for one in objects:
        key = (one["pid"], one["tid"])
        if one["ph"] == "M":
            if one["name"] == "process_name":
                processes[one["pid"]] = one["args"]["name"]
            elif one["name"] == "thread_name":
                names[key] = one["args"]["name"]
            continue
        time = nanoseconds(one["ts"])
        if one["ph"] in "sf":
            assert one["ph"] == "s" or one["bp"] == "e"
            last = items[-1]  # the moment of the message stands before its arrow
            assert last[0] == time and last[2] == key
            items[-1] = last[:5] + (int(one["id"]), one["ph"] == "f")
            assert (one["ph"] == "f") == (last[3] == "receive")
            continue
        args = {k: int(v) if isinstance(v, Decimal) and v == int(v) else v for k, v in one.get("args", {}).items()}
        if one["ph"] == "i":
            assert one["s"] == "t"
        items.append((time, one["ph"], key, one.get("name"), args, None, False))
    return {k: (processes[k[0]], names.get(k)) for k in set(names) | {i[2] for i in items}}, items


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A message as {number: [values]}: integers, or bytes."""
    at, found = 0, defaultdict(list)
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif tag & 7 == 2:
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        else:
            raise ValueError("wire type %d at %d" % (tag & 7, at))
        found[tag >> 3].append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def text(values):
    return values[0].decode() if values else None


def perfetto(data):
    tracks, parents, items = {}, {}, []
    interned = {1: {}, 2: {}, 3: {}}
    packets = [fields(packet) for packet in fields(data)[1]]
    assert len({packet[10][0] for packet in packets}) == 1  # one sequence
    assert packets[0][13][0] & 1  # its first packet clears what is interned
    for packet in packets:
        for kind, entries in (fields(packet[12][0]) if packet[12] else {}).items():
            for entry in entries:
                entry = fields(entry)
                assert entry[1][0] not in interned[kind]
                interned[kind][entry[1][0]] = text(entry[2])
        if packet[60]:
            track = fields(packet[60][0])
            uuid = track[1][0]
            name, process, thread = text(track[2]), None, None
            if track[3]:
                process = fields(track[3][0])
                name = text(process[6])
            if track[4]:
                thread = fields(track[4][0])
                name = text(thread[5]) or name
            tracks[uuid] = name
            parents[uuid] = track[5][0] if track[5] else None
        if not packet[11]:
            continue
        event = fields(packet[11][0])
        kind = " BEiC"[event[9][0]]
        name = interned[2][event[10][0]] if event[10] else text(event[23])
        args = {}
        for note in event[4]:
            note = fields(note)
            key = interned[3][note[1][0]] if note[1] else text(note[10])
            args[key] = signed((note[4] or note[3])[0]) if note[4] or note[3] else text(note[6])
        if kind == "C":
            args["value"] = signed(event[30][0]) if event[30] else struct.unpack("<d", event[44][0])[0]
        flow = event[47] or event[48]
        assert all(i in interned[1] for i in event[3])
        items.append((packet[8][0], kind, event[11][0], name, args,
                      struct.unpack("<Q", flow[0])[0] if flow else None, bool(event[48])))

    def process_of(uuid):
        while parents[uuid] is not None:
            uuid = parents[uuid]
        return tracks[uuid]
    return {uuid: (process_of(uuid), name) for uuid, name in tracks.items()}, items


def check(tracks, items, metrics, diagnosis):
    functions, waits, open_slices, last = defaultdict(lambda: [0, 0]), Counter(), defaultdict(list), {}
    sent, received, flows, findings = defaultdict(Counter), defaultdict(Counter), defaultdict(list), []
    for time, kind, track, name, args, flow, ends in items:
        process, label = tracks[track]
        assert time >= last.get(track, 0), "%s goes back" % (track,)
        last[track] = time
        rank = int(re.search(r"(\d+)$", process)[1]) if process != "findings" else None
        if kind == "B":
            open_slices[track].append((time, name))
        elif kind == "E":
            begin, name = open_slices[track].pop()
            if rank is None:
                findings.append((name, begin, time))
            elif label == "waits":
                waits[name] += time - begin
            else:
                functions[rank, name][0] += 1
                functions[rank, name][1] += time - begin
        elif kind == "i" and name in ("send", "receive"):
            side = sent if name == "send" else received
            partner = args.get("to" if name == "send" else "from")
            if partner is not None:
                side[rank][partner, "messages"] += 1
                side[rank][partner, "bytes"] += args.get("bytes", 0)
            if flow is not None:
                assert ends == (name == "receive")
                flows[flow].append((name, rank, partner, args.get("tag"), args.get("bytes")))
    for ends in flows.values():
        assert sorted(e[0] for e in ends) == ["receive", "send"], ends
        (_, receiver, sender, tag, _), (_, source, target, tag2, _) = sorted(ends)
        assert (receiver, sender, tag) == (target, source, tag2), ends
    compare_metrics(functions, sent, received, metrics)
    matched = 0
    ends = defaultdict(Counter)
    for time, kind, track, name, args, flow, _ in items:
        if kind == "i" and name in ("send", "receive"):
            rank = int(re.search(r"(\d+)$", tracks[track][0])[1])
            partner = args.get("to" if name == "send" else "from")
            ends[(rank, partner) if name == "send" else (partner, rank), args.get("tag")][name] += 1
    matched = sum(min(both.values()) for both in ends.values() if len(both) == 2)
    assert len(flows) <= matched, (len(flows), matched)
    if diagnosis:
        wanted = [(f["title"], f["from_s"] * 10**9, f["to_s"] * 10**9) for f in diagnosis["findings"]]
        assert findings == wanted, (findings, wanted)
        waits["late-sender"] += waits["wrong-order-same-source"] + waits["wrong-order-other-source"]
        for finding in diagnosis["findings"]:
            if waits[finding["id"]]:
                assert waits[finding["id"]] == finding["waiting_s"] * 10**9, finding["id"]
    return len(flows), sum(waits.values())


def compare_metrics(functions, sent, received, metrics):
    for process in metrics["processes"]:
        rank = process["rank"]
        for row in process["functions"]:
            count, total = functions.pop((rank, row["name"]), (0, 0))
            assert (count, total) == (row["count"], row["time_s"] * 10**9), (rank, row, count, total)
        for side, key, partner in ((sent, "sent", "to"), (received, "received", "from")):
            for row in process[key]:
                here = side[rank]
                assert here.pop((row[partner], "messages"), 0) == row["messages"], (rank, row)
                assert here.pop((row[partner], "bytes"), 0) == row["bytes"], (rank, row)
            assert not {k: v for k, v in side[rank].items() if v and k[0] >= 0}, (rank, side[rank])
    assert not functions, dict(functions)


def main():
    data = open(sys.argv[1], "rb").read()
    tracks, items = chrome(data) if data[:1] == b"{" else perfetto(data)
    metrics = json.load(open(sys.argv[2]), parse_float=Decimal)
    diagnosis = json.load(open(sys.argv[3]), parse_float=Decimal) if len(sys.argv) > 3 else None
    print("%d messages, %d ns waiting" % check(tracks, items, metrics, diagnosis))


if __name__ == "__main__":
    main()
