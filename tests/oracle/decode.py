#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Independent decoder of MPI traces: CLOG-2, CLOG-1, ALOG and SIGHT's XML.

    decode.py --records FILE          every record with all its fields, in file order
    decode.py --metrics FILE...       totals of every process, in whole nanoseconds

It shares no code with SIGHT, so that an agreement of the two means something.
It prefers being obviously right to being fast.  Several files are taken as the
local (unmerged) CLOG-2 files of one run.
"""
import argparse
import gzip
import json
import math
import os
import struct
import subprocess
import sys
import xml.parsers.expat
from decimal import Decimal, InvalidOperation

KNOWN_STATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/formats/mpe2_known_states.tsv")
UNKNOWN_COMM = -999999999
MAX_SECONDS = 9e9
SEND, RECEIVE = -101, -102

# The functions that the profiling library of MPE-1 logged, in its own spelling.
MPE1_NAMES = """
ALLGATHER ALLGATHERV ALLREDUCE ALLTOALL ALLTOALLV BARRIER BCAST GATHER GATHERV OP_CREATE OP_FREE
REDUCE_SCATTER REDUCE SCAN SCATTER SCATTERV ATTR_DELETE ATTR_GET ATTR_PUT COMM_COMPARE COMM_CREATE
COMM_DUP COMM_FREE COMM_GROUP COMM_RANK COMM_REMOTE_GROUP COMM_REMOTE_SIZE COMM_SIZE COMM_SPLIT
COMM_TEST_INTER GROUP_COMPARE GROUP_DIFFERENCE GROUP_EXCL GROUP_FREE GROUP_INCL GROUP_INTERSECTION
GROUP_RANK GROUP_RANGE_EXCL GROUP_RANGE_INCL GROUP_SIZE GROUP_TRANSLATE_RANKS GROUP_UNION
INTERCOMM_CREATE INTERCOMM_MERGE KEYVAL_CREATE KEYVAL_FREE ABORT ERROR_CLASS ERRHANDLER_CREATE
ERRHANDLER_FREE ERRHANDLER_GET ERROR_STRING ERRHANDLER_SET GET_PROCESSOR_NAME INITIALIZED WTICK
WTIME ADDRESS BSEND BSEND_INIT BUFFER_ATTACH BUFFER_DETACH CANCEL REQUEST_FREE RECV_INIT SEND_INIT
GET_ELEMENTS GET_COUNT IBSEND IPROBE IRECV IRSEND ISEND ISSEND PACK PACK_SIZE PROBE RECV RSEND
RSEND_INIT SEND SENDRECV SENDRECV_REPLACE SSEND SSEND_INIT START STARTALL TEST TESTALL TESTANY
TEST_CANCELLED TESTSOME TYPE_COMMIT TYPE_CONTIGUOUS TYPE_EXTENT TYPE_FREE TYPE_HINDEXED
TYPE_HVECTOR TYPE_INDEXED TYPE_LB TYPE_SIZE TYPE_STRUCT TYPE_UB TYPE_VECTOR UNPACK WAIT WAITALL
WAITANY WAITSOME CART_COORDS CART_CREATE CART_GET CART_MAP CART_SHIFT CARTDIM_GET DIMS_CREATE
GRAPH_CREATE GRAPH_GET GRAPH_MAP GRAPH_NEIGHBORS GRAPH_NEIGHBORS_COUNT GRAPHDIMS_GET TOPO_TEST
CART_RANK CART_SUB
""".split()
MPE1_PROPER = {name: "MPI_" + name.capitalize() for name in MPE1_NAMES}


class Damage(Exception):
    """The file cannot be read further than this."""


def nanoseconds(seconds):
    if not math.isfinite(seconds) or abs(seconds) > MAX_SECONDS:
        raise Damage("time %r" % seconds)
    return round(seconds * 1e9)


def c_string(raw):
    return raw.split(b"\0", 1)[0].decode("latin-1")


def read_bytes(path):
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as stream:
            data = stream.read()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def mpe1_name(name, start):
    """The library's own ids lie below the first user id; a user's `SEND` stays `SEND`."""
    if start >= 500:
        return name
    if name in MPE1_PROPER:
        return MPE1_PROPER[name]
    if len(name) >= 14:
        longer = [known for known in MPE1_NAMES if known.startswith(name)]
        if len(longer) == 1:
            return MPE1_PROPER[longer[0]]
    return name


class Event:
    """What all formats come down to: kind is enter, leave, send, receive, collective or mark."""
    __slots__ = ("time", "process", "thread", "kind", "state", "name", "partner", "tag", "bytes")

    def __init__(self, time, process, thread, kind, state=None, name=None, partner=None, tag=None, size=0):
        self.time, self.process, self.thread, self.kind = time, process, thread, kind
        self.state, self.name, self.partner, self.tag, self.bytes = state, name, partner, tag, size


class Trace:
    """Base of the four decoders: `records` in file order, `events()` translated."""
    format = "?"

    def __init__(self):
        self.records = []
        self.complete = True
        self.notes = []
        self.processes = None
        self.starts, self.ends, self.marks = {}, {}, {}

    def note(self, text):
        self.notes.append(text)

    def define_state(self, state, start, end, name):
        """The first definition of a pair of ids wins, as in all the tools of the time."""
        if start in self.starts and self.starts[start][0] == (start, end):
            return
        self.starts.setdefault(start, ((start, end), name))
        self.ends.setdefault(end, ((start, end), name))

    def state_event(self, time, process, thread, ident):
        if ident in self.starts:
            return Event(time, process, thread, "enter", *self.starts[ident])
        if ident in self.ends:
            return Event(time, process, thread, "leave", *self.ends[ident])
        return Event(time, process, thread, "mark", ident, self.marks.get(ident, str(ident)))


# --------------------------------------------------------------------------- CLOG-2

class Clog2(Trace):
    format = "clog2"
    BODY = {0: 0, 1: 0, 2: 112, 3: 104, 4: 40, 5: 8, 6: 40, 7: 24, 8: 16, 9: 48, 10: 48, 11: 8}
    NAMES = {0: "endlog", 1: "endblock", 2: "statedef", 3: "eventdef", 4: "constdef", 5: "bare", 6: "cargo",
             7: "message", 8: "collective", 9: "comm", 10: "srcloc", 11: "timeshift"}

    def __init__(self, data):
        super().__init__()
        self.data = data
        self.preamble = self.read_preamble(data[:1024])
        self.minor = int(self.version.split(".")[-1])
        self.big = self.preamble.get("is_big_endian", "TRUE").strip().upper() == "TRUE"
        self.order = ">" if self.big else "<"
        self.merged = self.preamble.get("is_finalzed", "TRUE").strip().upper() == "TRUE"
        self.block = int(self.preamble["block_size"])
        self.old = self.minor < 30
        self.body = dict(self.BODY)
        if self.old:
            self.body[9] = 16
        size = self.preamble.get("max_comm_world_size", self.preamble.get("comm_world_size"))
        self.processes = int(size) if size else None
        self.table = []
        self.walk()
        self.read_table()
        self.define()

    def read_preamble(self, text):
        words = text.split(b"\0")
        self.version = words[0].decode("latin-1")
        if not self.version.startswith("CLOG-02."):
            raise Damage("no CLOG-2 version")
        pairs, at, self.table_at = {}, 1, 0
        while at + 1 < len(words) and words[at].endswith(b"="):
            title, value = words[at][:-1].decode("latin-1"), words[at + 1].decode("latin-1")
            pairs[title] = value
            at += 2
            if title == "commtable_fptr":
                high, unit, low = int(value), int(words[at]), int(words[at + 1])
                self.table_at = high * unit + low
                at += 2
        return pairs

    def walk(self):
        start = 1024
        head = struct.Struct(self.order + ("dii" if self.old else "diiii"))
        while start < len(self.data):
            kind = self.walk_block(start, head)
            if kind == 0:
                return
            start += self.block
        self.complete = False
        self.note("no end-of-log record")

    def walk_block(self, start, head):
        at, stop = start, min(start + self.block, len(self.data))
        while True:
            if at + head.size > stop:
                raise_at = "block at %d has no end record" % start
                self.complete = False
                self.note(raise_at)
                return 0 if stop == len(self.data) else 1
            fields = head.unpack_from(self.data, at)
            kind = fields[2] if self.old else fields[4]
            if kind not in self.body or at + head.size + self.body[kind] > stop:
                self.complete = False
                self.note("byte %d: record type %d" % (at, kind))
                return 1
            record = {"offset": at, "time": fields[0], "rectype": kind, "type": self.NAMES[kind]}
            if self.old:
                record.update(icomm=0, rank=fields[1], thread=0)
            else:
                record.update(icomm=fields[1], rank=fields[2], thread=fields[3])
            self.fill(record, at + head.size)
            self.records.append(record)
            if kind in (0, 1):
                return kind
            at += head.size + self.body[kind]

    def ints(self, at, count):
        return struct.unpack_from("%s%di" % (self.order, count), self.data, at)

    def text(self, at, size):
        return c_string(self.data[at:at + size])

    def fill(self, record, at):
        kind = record["rectype"]
        if kind == 2:
            state, first, last = self.ints(at, 3)
            record.update(state=state, start=first, end=last, colour=self.text(at + 16, 24),
                          name=self.text(at + 40, 32), format=self.text(at + 72, 40))
        elif kind == 3:
            record.update(event=self.ints(at, 1)[0], colour=self.text(at + 8, 24), name=self.text(at + 32, 32),
                          format=self.text(at + 64, 40))
        elif kind == 4:
            record.update(event=self.ints(at, 1)[0], value=self.ints(at + 4, 1)[0], name=self.text(at + 8, 32))
        elif kind in (5, 6):
            record["event"] = self.ints(at, 1)[0]
            if kind == 6:
                record["cargo"] = self.data[at + 8:at + 40].hex()
        elif kind == 7:
            self.fill_message(record, self.ints(at, 5))
        elif kind == 8:
            a, b, c, d = self.ints(at, 4)
            record.update(event=a, root=b, size=d if self.old else c)
        elif kind == 9:
            self.fill_comm(record, at)
        elif kind == 10:
            record.update(id=self.ints(at, 1)[0], line=self.ints(at + 4, 1)[0], file=self.text(at + 8, 40))
        elif kind == 11:
            record["shift"] = struct.unpack_from(self.order + "d", self.data, at)[0]

    def fill_message(self, record, values):
        if self.old:
            event, tag, partner, comm, size = values
        else:
            event, comm, partner, tag, size = values
        record.update(event=event, partner_comm=comm, partner=partner, tag=tag, size=size)

    def uuid(self, at):
        number, time = struct.unpack_from(self.order + "id", self.data, at)
        return number, time, self.data[at + 12:at + 32].decode("latin-1")

    def fill_comm(self, record, at):
        if self.old:
            kind, parent, new = self.ints(at, 3)
            record.update(kind=kind, parent=parent, comm=new)
            return
        kind, comm, rank, world = self.ints(at, 4)
        record.update(kind=kind, comm=comm, comm_rank=rank, world_rank=world, uuid=self.uuid(at + 16))

    def read_table(self):
        at = self.table_at
        if at == 0 or at + 4 > len(self.data):
            return
        count = self.ints(at, 1)[0]
        for index in range(count):
            entry = at + 4 + 40 * index
            if entry + 40 > len(self.data):
                self.complete = False
                self.note("communicator table is cut")
                return
            lid, kind = self.ints(entry + 32, 2)
            self.table.append({"uuid": self.uuid(entry), "lid": lid, "kind": kind})

    def define(self):
        for record in self.records:
            if record["rectype"] == 2:
                self.define_state(record["state"], record["start"], record["end"], record["name"])
            elif record["rectype"] == 3:
                self.marks.setdefault(record["event"], record["name"])
        self.marks.setdefault(-10, "MPE_Comm_init")
        self.marks.setdefault(-9, "MPE_Comm_finalize")
        for state, first, last, name in built_in_states():
            if first not in self.starts and last not in self.ends:
                self.define_state(state, first, last, name)

    def world_map(self):
        """(communicator, rank in it) -> rank in MPI_COMM_WORLD, known only once all is read."""
        ranks = {}
        for record in self.records:
            if record["rectype"] == 9 and not self.old and record["kind"] in (0, 1, 100, 101, 1000):
                ranks.setdefault((record["comm"], record["comm_rank"]), record["world_rank"])
        return ranks

    def events(self):
        if self.old:
            yield from self.translate(lambda record: record["rank"],
                                      lambda record: record["partner"], lambda record: record["time"])
        elif self.merged:
            ranks = self.world_map()
            yield from self.translate(
                lambda record: ranks.get((record["icomm"], record["rank"]), record["rank"] if not ranks else None),
                lambda record: record["partner"] if record["partner"] < 0
                else ranks.get((record["partner_comm"], record["partner"])),
                lambda record: record["time"])
        else:
            yield from LocalRun([self]).events()

    def translate(self, process_of, partner_of, time_of):
        for record in self.records:
            kind = record["rectype"]
            if kind not in (5, 6, 7, 8):
                continue
            time, process, thread = nanoseconds(time_of(record)), process_of(record), record["thread"]
            if kind in (5, 6):
                yield self.state_event(time, process, thread, record["event"])
            elif kind == 7:
                what = "send" if record["event"] == SEND else "receive"
                yield Event(time, process, thread, what, partner=partner_of(record), tag=record["tag"],
                            size=record["size"])
            else:
                yield Event(time, process, thread, "collective", size=record["size"])


def built_in_states():
    if not os.path.exists(KNOWN_STATES):
        return []
    rows = []
    with open(KNOWN_STATES, encoding="latin-1") as stream:
        next(stream)
        for line in stream:
            cells = line.rstrip("\n").split("\t")
            rows.append((int(cells[0]), int(cells[1]), int(cells[2]), cells[3]))
    return rows


class LocalRun(Trace):
    """The per-process files of one run: communicators are joined by their global id."""
    format = "clog2"

    def __init__(self, files):
        super().__init__()
        self.files = files
        self.processes = max((one.processes or 0) for one in files)
        self.members = {}
        for one in files:
            self.complete &= one.complete
            self.notes += one.notes
            self.records += one.records
            self.prepare(one)
        for one in files:
            self.adopt(one)

    def prepare(self, one):
        """An aborted run has no table; the order of creation gives the same numbering."""
        rebuilt, one.world = [], None
        for record in one.records:
            if record["rectype"] != 9 or record["kind"] == 10:
                continue
            kind = record["kind"]
            rebuilt.append({"uuid": record["uuid"], "kind": {1000: 0, 101: 2, 102: 3}.get(kind, 1)})
            if kind == 0:
                one.world = record["world_rank"]
            if kind in (0, 1, 100, 101, 1000):
                self.members[(record["uuid"], record["comm_rank"])] = record["world_rank"]
        if not one.table:
            one.table = rebuilt

    def adopt(self, one):
        for start, definition in one.starts.items():
            self.starts.setdefault(start, definition)
        for end, definition in one.ends.items():
            self.ends.setdefault(end, definition)
        for mark, name in one.marks.items():
            self.marks.setdefault(mark, name)

    @staticmethod
    def sides(one, index):
        table = one.table
        if not 0 <= index < len(table):
            return None, None
        if table[index]["kind"] == 0 and index + 2 < len(table):
            return table[index + 1]["uuid"], table[index + 2]["uuid"]
        return table[index]["uuid"], table[index]["uuid"]

    def partner(self, one, record):
        if record["partner"] < 0:
            return record["partner"]
        known = self.members.get((self.sides(one, record["icomm"])[1], record["partner"]))
        return record["partner"] if known is None and record["icomm"] == 0 else known

    def events(self):
        for one in self.files:
            one.starts, one.ends, one.marks = self.starts, self.ends, self.marks
            shift, shifted = 0.0, {}
            for record in one.records:
                if record["rectype"] == 11:
                    shift = record["shift"]
                shifted[record["offset"]] = record["time"] + shift
            yield from one.translate(lambda record: one.world, lambda record: self.partner(one, record),
                                     lambda record: shifted[record["offset"]])


# --------------------------------------------------------------------------- CLOG-1

class Clog1(Trace):
    format = "clog"
    LENGTH = {-2: 3, -1: 3, 1: 7, 2: 6, 3: 6, 4: 5, 5: 6, 6: 10, 7: 9, 8: 4}
    NAMES = {-2: "endlog", -1: "endblock", 1: "raw", 2: "msg", 3: "coll", 4: "comm", 5: "eventdef", 6: "statedef",
             7: "srcloc", 8: "timeshift"}

    def __init__(self, data):
        super().__init__()
        self.data = data
        self.order = self.sniff(data)
        self.block = self.block_size()
        self.walk()
        ranks = [r["rank"] for r in self.records if r["rectype"] > 0]
        self.processes = max(ranks) + 1 if ranks else 0
        for record in self.records:
            if record["rectype"] == 6:
                self.define_state(record["state"], record["start"], record["end"],
                                  mpe1_name(record["name"], record["start"]))
            elif record["rectype"] == 5:
                self.marks.setdefault(record["event"], record["name"])

    @classmethod
    def sniff(cls, data):
        if len(data) >= 24:
            for order in ">", "<":
                time, kind, length = struct.unpack_from(order + "dii", data, 0)
                if cls.LENGTH.get(kind) == length and math.isfinite(time):
                    return order
        return None

    def header(self, at):
        if at + 24 > len(self.data):
            return None
        time, kind, length, rank = struct.unpack_from(self.order + "diii", self.data, at)
        return (time, kind, rank) if self.LENGTH.get(kind) == length else None

    def block_size(self):
        at, size = 0, 1024
        while True:
            found = self.header(at)
            if found is None or found[1] in (-1, -2):
                break
            at += 8 * self.LENGTH[found[1]]
        while size < at + 24:
            size *= 2
        while size < len(self.data) and self.header(size) is None:
            size *= 2
        return size

    def walk(self):
        start = 0
        while start < len(self.data):
            if self.walk_block(start) == -2:
                return
            start += self.block
        self.complete = False
        self.note("no end-of-log record")

    def walk_block(self, start):
        at, stop = start, min(start + self.block, len(self.data))
        while True:
            found = self.header(at)
            size = 8 * self.LENGTH[found[1]] if found else 0
            if found is None or at + size > stop:
                self.complete = False
                self.note("byte %d: no valid record" % at)
                return -1
            time, kind, rank = found
            record = {"offset": at, "time": time, "rectype": kind, "type": self.NAMES[kind], "rank": rank}
            self.fill(record, kind, at + 24)
            self.records.append(record)
            if kind < 0:
                return kind
            at += size

    def ints(self, at, count):
        return struct.unpack_from("%s%di" % (self.order, count), self.data, at)

    def text(self, at, size):
        return c_string(self.data[at:at + size])

    def fill(self, record, kind, at):
        if kind == 1:
            event, data, loc = self.ints(at, 3)
            record.update(event=event, data=data, srcloc=loc, text=self.text(at + 16, 16))
        elif kind == 2:
            event, tag, partner, comm, size, loc = self.ints(at, 6)
            record.update(event=event, tag=tag, partner=partner, comm=comm, size=size, srcloc=loc)
        elif kind == 3:
            event, root, comm, size, loc = self.ints(at, 5)
            record.update(event=event, root=root, comm=comm, size=size, srcloc=loc)
        elif kind == 4:
            which, parent, new, loc = self.ints(at, 4)
            record.update(kind=which, parent=parent, comm=new, srcloc=loc)
        elif kind == 5:
            record.update(event=self.ints(at, 1)[0], name=self.text(at + 8, 16))
        elif kind == 6:
            state, first, last = self.ints(at, 3)
            record.update(state=state, start=first, end=last, colour=self.text(at + 16, 24),
                          name=self.text(at + 40, 16))
        elif kind == 7:
            record.update(id=self.ints(at, 1)[0], line=self.ints(at + 4, 1)[0], file=self.text(at + 8, 40))
        elif kind == 8:
            record["shift"] = struct.unpack_from(self.order + "d", self.data, at)[0]

    def events(self):
        for record in self.records:
            if record["rectype"] not in (1, 2, 3):
                continue
            time, process, kind = nanoseconds(record["time"]), record["rank"], record["event"]
            if record["rectype"] == 3:
                yield Event(time, process, 0, "collective", size=record["size"])
            elif record["rectype"] == 2:
                yield Event(time, process, 0, "send" if kind == SEND else "receive", partner=record["partner"],
                            tag=record["tag"], size=record["size"])
            elif kind in (SEND, RECEIVE):
                yield message_event(time, process, kind, record["data"], record["text"])
            elif kind > -101:
                yield self.state_event(time, process, 0, kind)


def message_event(time, process, kind, partner, text):
    """`TAG SIZE` is the text of a message in MPE-1; either number may be missing."""
    numbers = []
    for word in text.split()[:2]:
        try:
            numbers.append(int(word))
        except ValueError:
            break
    tag = numbers[0] if numbers else None
    size = numbers[1] if len(numbers) > 1 else 0
    return Event(time, process, 0, "send" if kind == SEND else "receive",
                 partner=-1 if partner < 0 else partner, tag=tag, size=size)


# --------------------------------------------------------------------------- ALOG

class Alog(Trace):
    format = "alog"

    def __init__(self, data):
        super().__init__()
        self.processes, self.rollover = None, Decimal(0)
        self.events_declared = None
        if data and not data.endswith(b"\n"):
            self.note("no newline at the end")
        at = 0
        for number, raw in enumerate(data.split(b"\n"), 1):
            line = raw.rstrip(b"\r")
            if line.strip() and not line.strip().startswith(b"#"):
                self.parse(line.decode("latin-1"), number, at)
            at += len(raw) + 1
        for record in self.records:
            self.define(record)

    def parse(self, line, number, offset):
        words = line.split(None, 6)
        try:
            kind, process, task, data, cycle = (int(word) for word in words[:5])
            time = Decimal(words[5])
            if not time.is_finite():
                raise ValueError
        except (ValueError, IndexError, InvalidOperation):
            self.note("line %d malformed" % number)
            self.complete = False
            return
        comment = words[6].strip() if len(words) > 6 else ""
        self.records.append({"offset": offset, "line": number, "rectype": kind, "rank": process, "task": task,
                             "data": data, "cycle": cycle, "time": str(time), "comment": comment})

    def define(self, record):
        kind, comment = record["rectype"], record["comment"]
        if kind == -2:
            self.events_declared = record["data"]
        elif kind == -3:
            self.processes = record["data"]
        elif kind == -11:
            self.rollover = Decimal(record["time"])
        elif kind == -9:
            self.marks.setdefault(record["data"], comment)
        elif kind == -13:
            words = comment.split(None, 1)
            name = words[1] if len(words) > 1 else "".join(words)
            if name in (":", ""):
                name = ""
            self.define_state(None, record["task"], record["data"], mpe1_name(name.strip(), record["task"]))

    def events(self):
        for record in self.records:
            kind, process = record["rectype"], record["rank"]
            if -100 <= kind < 0:
                continue
            microseconds = Decimal(record["time"])
            if record["cycle"] > 0 and self.rollover > 0:
                microseconds += record["cycle"] * self.rollover
            time = round(microseconds * 1000)
            if kind in (SEND, RECEIVE):
                yield message_event(time, process, kind, record["data"], record["comment"])
            elif kind >= 0:
                yield self.state_event(time, process, 0, kind)


# --------------------------------------------------------------------------- XML

class Xml(Trace):
    format = "xml"

    def __init__(self, data):
        super().__init__()
        self.stack = {}
        self.list = []
        self.pending = {}
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler = self.element
        try:
            parser.Parse(data, True)
        except xml.parsers.expat.ExpatError as error:
            self.complete = False
            self.note(str(error))
        ranks = [event.process for event in self.list]
        self.processes = max([self.processes or 0] + [rank + 1 for rank in ranks])

    def element(self, tag, attributes):
        self.records.append(dict(attributes, element=tag))
        if tag == "trace" and attributes.get("processes", "").isdigit():
            self.processes = int(attributes["processes"])
        elif tag == "event":
            self.event(attributes)
        elif tag == "mark":
            self.list.append(Event(self.time(attributes), int(attributes["process"]),
                                   int(attributes.get("thread", 0)), "mark", None, attributes.get("data")))
        elif tag == "message":
            self.message(attributes)

    @staticmethod
    def time(attributes):
        return round(Decimal(attributes["timestamp"]) * 1000)

    def event(self, attributes):
        process, thread = int(attributes["process"]), int(attributes.get("thread", 0))
        name, time = attributes["data"], self.time(attributes)
        stack = self.stack.setdefault((process, thread), [])
        kind = attributes.get("kind") or self.guess(stack, name)
        carries = self.carries(attributes, name)
        if kind == "enter":
            stack.append([name, carries])
            self.list.append(Event(time, process, thread, "enter", name, name))
            if carries:
                self.emit(attributes, time, process, thread, name)
            return
        given = self.close(stack, name)
        if carries and not given:
            self.emit(attributes, time, process, thread, name)
        self.list.append(Event(time, process, thread, "leave", name, name))

    @staticmethod
    def guess(stack, name):
        """One line alone does not say what it is: it closes what it can, else it opens."""
        if stack and stack[-1][0] == name:
            return "leave"
        if name.startswith("MPI_") and any(entry[0] == name for entry in stack):
            return "leave"
        return "enter"

    @staticmethod
    def close(stack, name):
        for index in range(len(stack) - 1, -1, -1):
            if stack[index][0] == name:
                given = stack[index][1]
                if name.startswith("MPI_"):
                    del stack[index:]
                else:
                    del stack[index]
                return given
        return False

    COLLECTIVES = ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv",
                   "MPI_Allreduce", "MPI_Barrier", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall",
                   "MPI_Alltoallv", "MPI_Reduce_scatter", "MPI_Scan")

    def carries(self, attributes, name):
        """On a collective the attribute is the root, which is no message."""
        return "communication" in attributes and name not in self.COLLECTIVES

    def emit(self, attributes, time, process, thread, name):
        direction = attributes.get("direction") or self.direction(name)
        own = attributes.get("time")
        if own is not None:
            time = round(Decimal(own) * 1000)
        size = int(attributes.get("bytes", 0) or 0)
        partner = int(attributes["communication"])
        tag = attributes.get("tag")
        self.list.append(Event(time, process, thread, direction, partner=max(partner, -1),
                               tag=int(tag) if tag else None, size=size))

    @staticmethod
    def direction(name):
        """A wait, a test or a receive completes a receive; all else that names a partner sends."""
        plain = name.lower()
        receives = ("recv", "wait", "test", "probe")
        if plain.startswith("mpi_sendrecv"):
            return "send"
        return "receive" if any(word in plain for word in receives) and "isend" not in plain else "send"

    def message(self, attributes):
        process, thread = int(attributes["process"]), int(attributes.get("thread", 0))
        self.emit(attributes, self.time(attributes), process, thread, attributes.get("data", ""))

    def events(self):
        return iter(self.list)


# --------------------------------------------------------------------------- metrics

class Thread:
    def __init__(self):
        self.open = []      # instances in the order of entering: [state, name, entered, exclusive]
        self.last = 0


class Process:
    def __init__(self, rank):
        self.rank, self.events = rank, 0
        self.begin = self.end = None
        self.threads, self.functions = {}, {}
        self.sent, self.received = {}, {}
        self.marks = {}
        self.depth, self.mpi_since, self.mpi = 0, 0, 0

    def function(self, name):
        return self.functions.setdefault(name, {"count": 0, "time_ns": 0, "exclusive_ns": 0, "min_ns": None,
                                                "max_ns": None, "open": 0, "open_ns": 0, "stray": 0})

    def take(self, event):
        self.events += 1
        self.begin = event.time if self.begin is None else min(self.begin, event.time)
        self.end = event.time if self.end is None else max(self.end, event.time)
        if event.kind in ("enter", "leave"):
            self.state(event)
        elif event.kind in ("send", "receive"):
            table = self.sent if event.kind == "send" else self.received
            cell = table.setdefault(event.partner, [0, 0])
            cell[0] += 1
            cell[1] += event.bytes
        elif event.kind == "mark":
            self.marks[event.name] = self.marks.get(event.name, 0) + 1

    def state(self, event):
        thread = self.threads.setdefault(event.thread, Thread())
        if thread.open:
            thread.open[-1][3] += max(0, event.time - thread.last)
        thread.last = event.time
        if event.kind == "enter":
            thread.open.append([event.state, event.name, event.time, 0])
            if len(thread.open) > 10000:
                raise Damage("more than 10,000 levels")
            self.enter_mpi(event)
        else:
            self.leave(thread, event)

    def enter_mpi(self, event):
        if event.name.startswith("MPI_"):
            if self.depth == 0:
                self.mpi_since = event.time
            self.depth += 1

    def leave(self, thread, event):
        totals = self.function(event.name)
        for index in range(len(thread.open) - 1, -1, -1):
            if thread.open[index][0] == event.state:
                break
        else:
            totals["stray"] += 1
            return
        _, name, entered, exclusive = thread.open.pop(index)
        length = max(0, event.time - entered)
        totals["count"] += 1
        totals["time_ns"] += length
        totals["exclusive_ns"] += exclusive
        totals["min_ns"] = length if totals["min_ns"] is None else min(totals["min_ns"], length)
        totals["max_ns"] = length if totals["max_ns"] is None else max(totals["max_ns"], length)
        if name.startswith("MPI_"):
            self.depth -= 1
            if self.depth == 0:
                self.mpi += max(0, event.time - self.mpi_since)

    def finish(self):
        for thread in self.threads.values():
            for _, name, entered, _ in thread.open:
                totals = self.function(name)
                totals["open"] += 1
                totals["open_ns"] += max(0, self.end - entered)
        if self.depth > 0:
            self.mpi += max(0, self.end - self.mpi_since)

    def messages(self):
        """MPI_PROC_NULL is a partner in the lists, but nobody's neighbour in the index."""
        return sum(cell[0] for table in (self.sent, self.received) for partner, cell in table.items()
                   if partner is None or partner >= 0)


def partners(table):
    return {str(key): table[key] for key in sorted(table, key=lambda k: -2 if k is None else k)}


def metrics(trace):
    processes = {}
    try:
        for event in trace.events():
            processes.setdefault(event.process, Process(event.process)).take(event)
    except Damage as damage:
        trace.complete = False
        trace.note(str(damage))
    rows = []
    ordered = sorted(processes.values(), key=lambda p: -1 if p.rank is None else p.rank)
    for process in ordered:
        process.finish()
    everybody = sum(process.messages() for process in ordered)
    for process in ordered:
        total = process.end - process.begin
        rows.append({
            "rank": process.rank, "begin_ns": process.begin, "end_ns": process.end, "events": process.events,
            "communication_ns": process.mpi, "compute_ns": total - process.mpi, "total_ns": total,
            "communication_index": process.messages() / everybody if everybody else None,
            "functions": dict(sorted(process.functions.items())), "marks": dict(sorted(process.marks.items())),
            "sent": partners(process.sent), "received": partners(process.received)})
    return {"format": trace.format, "processes": trace.processes, "complete": trace.complete,
            "events": sum(row["events"] for row in rows), "notes": trace.notes, "ranks": rows}


def decode(path):
    data = read_bytes(path)
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith(b"CLOG-02."):
        return Clog2(data)
    if start.startswith(b"<"):
        return Xml(data)
    if Clog1.sniff(data):
        return Clog1(data)
    return Alog(data)


def decode_all(paths):
    if len(paths) == 1:
        return decode(paths[0])
    files = [decode(path) for path in paths]
    if not all(isinstance(one, Clog2) and not one.merged for one in files):
        sys.exit("decode.py: several files must be the local CLOG-2 files of one run")
    return LocalRun(files)


def main():
    parser = argparse.ArgumentParser(description="independent decoder of MPI traces")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--records", action="store_true")
    what.add_argument("--metrics", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    trace = decode_all(options.files)
    json.dump(trace.records if options.records else metrics(trace), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
