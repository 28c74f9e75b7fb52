#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""faults.py SIGHT SHIM SAMPLES [PER_CALL [COMMAND...]]: every command with the n-th call of each kind failing, once and for good.

A run with a fault must end by itself. It may end with 0 only if its results are the same; else one line says why, the
exit code is that of what failed, and there is no output or, where it was complete, all of it. In no case temporary
files stay behind. PER_CALL moments are tried of each kind of call and command (0: all)."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

# The libraries that draw do without a font, or a line of a table, for which they got no memory.
DRAWN = (".svg", ".png", ".pdf", ".html")
CALLS = ("malloc", "open", "read", "write", "mmap", "close", "rename")
TRACE, CLOCK, ALOG, CLOG = "{s}/features_5.clog2", "{s}/sort_bad_8.clog2", "{s}/msort8.alog", "{s}/pipe8.clog"
PACKED = "packed.clog2.zst"
COMMANDS = {
    "diagnosis": [TRACE], "metrics": ["metrics", "--format", "json", TRACE], "packed": ["metrics", PACKED],
    "standard input": ["metrics", "-"], "info": ["info", TRACE], "what-if": ["what-if", TRACE], "search": ["search", TRACE],
    "phases": ["phases", TRACE], "heuristics": ["heuristics", TRACE], "compare": ["compare", TRACE, "metrics.xml"],
    "fixed clocks": ["metrics", "--fix-clocks", CLOCK], "timeline": ["timeline", "--progress", "never", TRACE],
    "timeline stored": ["timeline", ALOG], "local files": ["metrics", "{s}/local_4"],
    "to XML": ["convert", CLOG, "-o", "out.xml"], "to ALOG": ["convert", TRACE, "-o", "out.alog"],
    "to CLOG-2": ["convert", ALOG, "-o", "out.clog2"], "to CLOG-2, packed": ["convert", TRACE, "-o", "out.clog2.gz"],
    "to standard output": ["convert", TRACE, "--format", "clog2", "-o", "-"],
    "report": ["report", TRACE, "-o", "out.html"], "report PDF": ["report", TRACE, "-o", "out.pdf"],
    "SVG": ["chart", "balance", TRACE, "-o", "out.svg"], "PNG": ["chart", "timeline", TRACE, "-o", "out.png"],
    "PDF": ["chart", "activity", TRACE, "-o", "out.pdf"],
}


class Case:
    def __init__(self, setup, name):
        self.setup, self.name = setup, name

    def run(self, call, number, stays):
        """(exit code, bytes of standard output, of standard error, files in the directory, calls)"""
        with tempfile.TemporaryDirectory(dir=self.setup.top) as where:
            work, temporary = where + "/work", where + "/tmp"
            os.mkdir(temporary)
            shutil.copytree(self.setup.inputs, work)
            before = set(os.listdir(work))
            environment = dict(os.environ, LD_PRELOAD=self.setup.shim, FAULT_CALL=call, FAULT_AT=str(number),
                               FAULT_STAYS=str(int(stays)), FAULT_COUNT=where + "/count", TMPDIR=temporary,
                               SIGHT_CACHE=where + "/cache", XDG_CACHE_HOME=self.setup.fonts, SOURCE_DATE_EPOCH="1",
                               G_SLICE="always-malloc", LC_ALL="C.UTF-8", SIGHT_JOBS="1")
            command = [self.setup.sight] + [word.format(s=self.setup.samples) for word in COMMANDS[self.name]]
            with open(self.setup.samples + "/features_5.clog2", "rb") as standard:
                done = subprocess.run(command, cwd=work, env=environment, stdin=standard, capture_output=True, timeout=20)
            files = {}
            for name in sorted(set(os.listdir(work)) - before):
                with open(os.path.join(work, name), "rb") as file:
                    files[name] = file.read()
            left = os.listdir(temporary)
            for directory, _, names in os.walk(where + "/cache"):
                left += [name for name in names if not name.endswith((".index", ".events"))]
            count = int(open(where + "/count").read()) if number == 0 else 0
            return done.returncode, done.stdout, done.stderr, files, left, count

    def fault(self, call, number, stays, want):
        """What is wrong, or None."""
        try:
            code, out, err, files, left, _ = self.run(call, number, stays)
        except subprocess.TimeoutExpired:
            # Pango 1.50 waits for ever for its thread that reads the fonts where that got no memory.
            waits_for_fonts = call == "malloc" and stays and any(name.endswith(DRAWN) for name in want[3])
            return None if waits_for_fonts else "hangs"
        # Our line may follow one that fontconfig began and could not end.
        lines = [line for line in err.decode(errors="replace").splitlines() if "sight: " in line]
        if code < 0 or code > 5:
            return "exit code %d: %s" % (code, err[-200:])
        if left:
            return "leaves %s" % left
        if set(files) - set(want[3]):
            return "leaves %s" % sorted(set(files) - set(want[3]))
        drawn = call == "malloc" and code == want[0] and any(name.endswith(DRAWN) for name in want[3])
        if any(files[name] != want[3][name] for name in files) and not drawn:
            return "an output that is not whole, exit code %d" % code
        if code == want[0]:
            same = drawn or (out == want[1] and files == want[3])
            return None if same else "silent: other results, exit code %d, said: %s" % (code, lines)
        if code not in (4, 5):
            return "exit code %d: %s" % (code, lines)
        return None if lines else "says nothing, exit code %d: %s" % (code, err[-200:])


def moments(count, some):
    """The first ones, the last one, and others in between."""
    if some == 0 or count <= some:
        return range(1, count + 1)
    return sorted({1 + round((count - 1) * (i / (some - 1)) ** 2) for i in range(some)})


class Setup:
    def __init__(self, top, sight, shim, samples):
        self.top, self.sight, self.shim, self.samples = top, sight, os.path.abspath(shim), os.path.abspath(samples)
        self.inputs, self.fonts = top + "/inputs", top + "/fonts"
        os.mkdir(self.inputs)
        os.mkdir(self.fonts)
        trace = self.samples + "/features_5.clog2"
        make = lambda *words: subprocess.run([sight, *words], check=True, capture_output=True)
        make("metrics", "--format", "xml", trace, "-o", self.inputs + "/metrics.xml")
        make("convert", trace, "-o", self.inputs + "/" + PACKED)


def main():
    sight, shim, samples = sys.argv[1:4]
    some = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    names = sys.argv[5:] or list(COMMANDS)
    bad = runs = 0
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        setup = Setup(top, sight, shim, samples)
        for name in names:
            case, found = Case(setup, name), []
            tries = []
            for call in CALLS:
                want = case.run(call, 0, False)
                tries += [(call, number, stays, want) for number in moments(want[5], some) for stays in (False, True)]
            for one, fault in zip(tries, pool.map(lambda one: case.fault(*one), tries)):
                if fault:
                    found.append("%s %d %s: %s" % (one[0], one[1], "and all after it" if one[2] else "alone", fault))
            runs += len(tries)
            bad += bool(found)
            print("%sok %s: %d faults" % ("not " if found else "", name, len(tries)))
            for line in found[:20]:
                print("# " + line, flush=True)
    print("# %d runs" % runs)
    sys.exit(bad > 0)


main()
