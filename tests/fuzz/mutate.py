#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Structure-aware fuzzing of whole commands: real traces are changed where they have a meaning (ids, ranks, requests,
payloads, times, definitions), and every command must come to an end that the manual knows.

    mutate.py SIGHT SEED... [--count N] [--first N] [--keep DIR] [--seconds S] [--megabytes M]

SEED is a CLOG-2, XML or ALOG trace, a metrics file, a file of hypotheses (*.hypotheses), or a directory of buffer
files of a recording. Mutant N of the same seeds is always the same one. SIGHT may be built with sanitizers. Not a part
of `make check`: what it finds becomes a file of tests/fuzz/corpus.
"""
import argparse
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 65535, 2**31 - 1, -2**31, 2**30, 10**6, 10**9, -999999999]
LONG_NUMBERS = NUMBERS + [2**63 - 1, -2**63, 2**62, 2**53, 10**15, 2**32]
TIMES = [0.0, -0.0, 1e-9, -1.0, 1e8, 9e9, -9e9, 9.1e9, 1e300, float("nan"), float("inf"), float("-inf"), 5e-324]
CLOG2_PAYLOAD = [0, 0, 112, 104, 40, 8, 40, 24, 16, 48, 48, 8]
HEADER, PREAMBLE = 24, 1024


# --- CLOG-2

def clog2_records(data):
    """Offsets and kinds of the records of a file as sight writes it."""
    big = b"is_big_endian= TRUE" in data[:PREAMBLE] or b"is_big_endian=TRUE" in data[:PREAMBLE]
    order = ">" if big else "<"
    match = re.search(rb"block_size=\s*(\d+)", data[:PREAMBLE])
    block = int(match.group(1)) if match else 65536
    records, at = [], PREAMBLE
    while at + HEADER <= len(data):
        kind = struct.unpack_from(order + "i", data, at + 20)[0]
        if not 0 <= kind < len(CLOG2_PAYLOAD):
            break
        records.append((at, kind))
        if kind == 0:
            break
        if kind == 1:
            at = PREAMBLE + ((at - PREAMBLE) // block + 1) * block
        else:
            at += HEADER + CLOG2_PAYLOAD[kind]
    return order, records


def mutate_clog2(rng, data):
    data = bytearray(data)
    order, records = clog2_records(data)
    if not records:
        return bytes(data)
    by_kind = {}
    for at, kind in records:
        by_kind.setdefault(kind, []).append(at)
    for _ in range(rng.choice([1, 1, 2, 4, 16, 64])):
        # Kinds that are few have the same chance as those that are many.
        kind = rng.choice(sorted(by_kind))
        at = rng.choice(by_kind[kind])
        what = rng.randrange(8)
        size = HEADER + CLOG2_PAYLOAD[kind]
        if what == 0:
            struct.pack_into(order + "d", data, at, rng.choice(TIMES))
        elif what == 1:
            struct.pack_into(order + "i", data, at + 4 * rng.randrange(2, 6), rng.choice(NUMBERS))
        elif what in (2, 3) and size > HEADER:
            field = at + HEADER + 4 * rng.randrange((size - HEADER) // 4)
            struct.pack_into(order + "i", data, field, rng.choice(NUMBERS + [rng.randrange(0, 1500)]))
        elif what == 4 and size > HEADER:
            data[at + HEADER + rng.randrange(size - HEADER)] = rng.randrange(256)
        elif what == 5:
            other = rng.choice(by_kind[kind])
            data[at:at + size] = data[other:other + size]
        elif what == 6:
            # A field as another record has it: ids that exist elsewhere.
            other = rng.choice(by_kind[kind])
            field = 4 * rng.randrange(2, size // 4)
            data[at + field:at + field + 4] = data[other + field:other + field + 4]
        else:
            struct.pack_into(order + "i", data, at + 20, rng.randrange(-1, 13))
    if rng.random() < 0.1:
        at = rng.randrange(PREAMBLE)
        data[at] = rng.randrange(256)
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)):]
    return bytes(data)


# --- text

def mutate_value(rng, value, others):
    what = rng.randrange(6)
    if what == 0:
        return str(rng.choice(LONG_NUMBERS)).encode()
    if what == 1:
        return rng.choice([b"", b"-", b"x", b"1e9", b"9" * 40, b"0x10", b"1.5", b"-0", b" 1", b"&#1;", b"\xff", b"%00",
                           b"&lt;&amp;&quot;", b"A" * 5000, b"yes", b"inter", b"intra", b"freed", b"send", b"receive",
                           b"0 1 2", b"1,2,3", b"FF" * 40, "\u202eabc".encode()])
    if what in (2, 3) and others:
        return rng.choice(others)
    if what == 4 and value:
        at = rng.randrange(len(value))
        return value[:at] + bytes([rng.choice(b"0123456789-.eEfF ")]) + value[at + 1:]
    return value + value


def mutate_xml(rng, data):
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if rng.random() < 0.3:
            lines = data.split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            what = rng.randrange(3)
            if what == 0:
                lines[a], lines[b] = lines[b], lines[a]
            elif what == 1:
                lines.insert(a, lines[b])
            else:
                del lines[a]
            data = b"\n".join(lines)
            continue
        attributes = list(re.finditer(rb'([\w-]+)="([^"]*)"', data))
        if not attributes:
            break
        names = sorted({match.group(1) for match in attributes})
        name = rng.choice(names)
        of_name = [match for match in attributes if match.group(1) == name]
        match = rng.choice(of_name)
        value = mutate_value(rng, match.group(2), [other.group(2) for other in of_name])
        if rng.random() < 0.1:
            data = data[:match.start()] + data[match.end():]
        elif rng.random() < 0.1:
            data = data[:match.start()] + rng.choice(names) + b'="' + value + b'"' + data[match.end():]
        else:
            data = data[:match.start(2)] + value + data[match.end(2):]
    if rng.random() < 0.05:
        data = data[:rng.randrange(len(data))]
    return data


def mutate_lines(rng, data):
    """Words and lines of ALOG and of hypotheses."""
    lines = data.split(b"\n")
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        words = lines[a].split()
        what = rng.randrange(5)
        if what <= 1 and words:
            words[rng.randrange(len(words))] = mutate_value(rng, words[0], lines[b].split())
            lines[a] = (b"  " if lines[a].startswith(b"  ") else b"") + b" ".join(words)
        elif what == 2:
            lines[a], lines[b] = lines[b], lines[a]
        elif what == 3:
            lines.insert(a, lines[b])
        elif len(lines) > 1:
            del lines[a]
    return b"\n".join(lines)


# --- buffer files of recordings

def mutate_record(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        in_header = rng.random() < 0.25
        at = 4 * (rng.randrange(2, 42) if in_header or len(data) < 4200 else rng.randrange(1024, len(data) // 4))
        what = rng.randrange(5)
        if at + 8 > len(data):
            continue
        if what == 0:
            struct.pack_into("<i", data, at, rng.choice(NUMBERS))
        elif what == 1:
            struct.pack_into("<q", data, at, rng.choice(LONG_NUMBERS))
        elif what == 2:
            data[at + rng.randrange(4)] = rng.randrange(256)
        elif what == 3:
            data[at & ~7] = rng.choice([*range(21), *range(0x80, 0x92)])
        elif len(data) > 4200:
            other = 8 * rng.randrange(512, len(data) // 8 - 1)
            data[at & ~7:(at & ~7) + 8] = data[other:other + 8]
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)):]
    return bytes(data)


# --- running

def kind_of(path):
    if os.path.isdir(path):
        return "record"
    with open(path, "rb") as file:
        head = file.read(512)
    if head.startswith(b"CLOG-02."):
        return "clog2"
    if b"sight-metrics" in head:
        return "metrics"
    if head.lstrip().startswith(b"<"):
        return "xml"
    return "hypotheses" if path.endswith(".hypotheses") else "alog"


MUTATORS = {"clog2": mutate_clog2, "xml": mutate_xml, "metrics": mutate_xml, "alog": mutate_lines,
            "hypotheses": mutate_lines}

OF_METRICS = [
    ["{in}"], ["metrics", "--format", "json", "{in}"], ["metrics", "--format", "xml", "{in}"], ["metrics", "{in}"],
    ["heuristics", "-v", "{in}"], ["heuristics", "--format", "json", "{in}"], ["explain", "1", "{in}"],
    ["explain", "critical-path", "{in}"], ["phases", "--all", "{in}"], ["phases", "--format", "json", "{in}"],
    ["search", "--all", "{in}"], ["compare", "{in}", "{in}"], ["report", "-f", "{in}", "-o", "{out}.html"],
    ["chart", "all", "-f", "{in}", "-o", "{out}.pdf"],
    ["chart", "all", "-f", "{in}", "-o", "{out}.charts"],
]
OF_TRACES = OF_METRICS + [
    ["info", "-v", "{in}"], ["info", "--format", "json", "{in}"], ["convert", "-f", "{in}", "-o", "{out}.xml"],
    ["convert", "-f", "{in}", "-o", "{out}.alog"], ["convert", "-f", "{in}", "-o", "{out}.clog2"],
    ["timeline", "{in}"], ["timeline", "--format", "json", "--all", "{in}"],
    ["timeline", "--from", "10%", "--to", "60%", "{in}"], ["what-if", "{in}"],
    ["what-if", "--ideal", "--balance", "--format", "json", "{in}"], ["what-if", "--latency", "5us", "{in}"],
    ["what-if", "--buses", "1", "--eager", "1k", "{in}"], ["--fix-clocks", "{in}"],
    ["convert", "--fix-clocks", "-f", "{in}", "-o", "{out}.clog2"], ["info", "-v", "--fix-clocks", "{in}"],
    ["metrics", "--from", "1ms", "--processes", "0-1", "{in}"], ["search", "--format", "json", "{in}"],
    ["report", "-f", "{in}", "-o", "{out}.pdf"],
]
COMMANDS = {"metrics": OF_METRICS, "record": [["merge", "-f", "{in}", "-o", "{out}.clog2"]]}


class Run:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.environment = dict(os.environ, SIGHT_CACHE=os.path.join(directory, "cache"), HOME=directory, LC_ALL="C",
                                ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0:exitcode=99",
                                UBSAN_OPTIONS="halt_on_error=1:exitcode=98")
        self.runs = self.faults = 0

    def one(self, arguments):
        """What is wrong with a run of the command, or None."""
        self.runs += 1
        try:
            done = subprocess.run([self.options.sight, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.options.seconds, env=self.environment, cwd=self.directory)
        except subprocess.TimeoutExpired:
            return "takes more than %d s" % self.options.seconds
        errors = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (0, 1, 2, 3, 4):
            return "exit code %d: %s" % (done.returncode, errors[-3000:])
        lines = errors.splitlines()
        if done.returncode in (2, 3, 4) and not lines:
            return "exit code %d, and nothing is said" % done.returncode
        if any(not line.startswith("sight: ") for line in lines):
            return "says " + errors[-3000:]
        if any(ord(letter) < 32 and letter != "\n" for letter in errors):
            return "control characters on standard error: %r" % errors[-300:]
        return None

    def commands(self, kind, path, rng):
        out = os.path.join(self.directory, "out")
        rows = COMMANDS.get(kind, OF_TRACES)
        for row in rng.sample(rows, min(len(rows), self.options.commands)):
            arguments = [word.replace("{in}", path).replace("{out}", out) for word in row]
            problem = self.one(arguments)
            if problem:
                return row, problem
            merged = out + ".clog2"
            if kind == "record" and os.path.exists(merged):
                return self.commands("clog2", merged, rng)
        return None

    def mutant(self, number):
        rng = random.Random(number)
        seed = rng.choice(self.options.seeds)
        kind = kind_of(seed)
        path = os.path.join(self.directory, "mutant")
        subprocess.run(["rm", "-rf", path], check=True)
        if kind == "record":
            os.mkdir(path)
            for name in sorted(os.listdir(seed)):
                with open(os.path.join(seed, name), "rb") as file:
                    data = file.read()
                with open(os.path.join(path, name), "wb") as file:
                    file.write(mutate_record(rng, data) if rng.random() < 0.6 else data)
        else:
            with open(seed, "rb") as file:
                data = MUTATORS[kind](rng, file.read())
            with open(path, "wb") as file:
                file.write(data)
        if kind == "hypotheses":
            problem = self.one(["search", "--hypotheses", path, self.options.trace])
            found = (["search", "--hypotheses", "{in}"], problem) if problem else None
        else:
            found = self.commands(kind, path, rng)
        if found:
            self.faults += 1
            print("mutant %d of %s: %s: %s" % (number, seed, " ".join(found[0]), found[1]), flush=True)
            if self.options.keep:
                kept = os.path.join(self.options.keep, "mutant-%d" % number)
                (shutil.copytree if kind == "record" else shutil.copy)(path, kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sight")
    parser.add_argument("seeds", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", help="directory for mutants that show a fault")
    parser.add_argument("--commands", type=int, default=6, help="commands for each mutant")
    parser.add_argument("--trace", default="", help="the trace that hypotheses are tested with")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=0, help="limit of the address space (not with sanitizers)")
    options = parser.parse_args()
    options.sight = os.path.abspath(options.sight)
    options.seeds = [os.path.abspath(seed) for seed in options.seeds]
    options.trace = os.path.abspath(options.trace)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    if options.megabytes:
        limit = options.megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with tempfile.TemporaryDirectory() as directory:
        run = Run(options, directory)
        for number in range(options.first, options.first + options.count):
            run.mutant(number)
            if number % 100 == 99:
                print("up to mutant %d: %d runs, %d faults" % (number, run.runs, run.faults), flush=True)
        print("%d mutants, %d runs, %d faults" % (options.count, run.runs, run.faults))
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
