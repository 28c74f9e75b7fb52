#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpe_rules.py FILE.clog2...: whether MPE's own tools get through the file. clog2_print prints the time of a communicator's
UUID into 80 characters; clog2TOslog2 dies of empty names and colours, of events that nothing declares, and of ranks
that no communicator record has."""
import sys
from decode import decode


def faults(trace):
    def declared(event):
        value = lambda key: int(trace.preamble[key])
        solo = event - value("user_solo_eventID_start")
        return (event in defined or 0 <= event < 2 * value("known_stateID_count")
                or 0 <= event - value("known_solo_eventID_start") < value("known_solo_eventID_count")
                or 0 <= event - value("user_eventID_start") < 2 * value("user_stateID_count")
                or 0 <= solo < value("user_solo_eventID_count"))

    ranks = {(r["comm"], r["comm_rank"]) for r in trace.records if r["rectype"] == 9}
    defined = {r[key] for r in trace.records if r["rectype"] in (2, 3) for key in ("start", "end", "event") if key in r}
    occurring = {r["event"] for r in trace.records if r["rectype"] in (5, 6)}
    rows = [r["uuid"] for r in trace.table] + [r["uuid"] for r in trace.records if r["rectype"] == 9 and r["kind"] != 10]
    for uuid in rows:
        if len("%d-%f-%s" % (uuid[0], uuid[1], uuid[2].split("\0")[0])) >= 80 or not uuid[1] >= 0:
            yield "UUID %r" % (uuid,)
    for record in trace.records:
        kind = record["rectype"]
        if kind in (2, 3) and not (record["name"] and record["colour"]):
            yield "empty name or colour: %r" % record
        if kind == 3 and record["event"] not in occurring and record["name"] == "event without description":
            yield "defined and not there: %r" % record
        if kind in (5, 6) and not declared(record["event"]):
            yield "not declared: %r" % record
        if kind == 7 and (record["partner_comm"], record["partner"]) not in ranks:
            yield "partner without communicator record: %r" % record
        if kind in (5, 6, 7, 8) and (record["icomm"], record["rank"]) not in ranks:
            yield "rank without communicator record: %r" % record


def main():
    found = [(path, fault) for path in sys.argv[1:] for fault in faults(decode(path))]
    for path, fault in found[:10]:
        print("%s: %s" % (path, fault))
    sys.exit(bool(found))


main()
