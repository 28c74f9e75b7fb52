#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kills.py SIGHT TRACE KILLS [COMMAND...]: kills commands that write files at KILLS random moments each.

Of what was written before nothing is lost: the input is as it was, an output that was there is the old one or the whole
new one, one that was not there is missing or whole, and what the next run makes is what the first would have made, also
of the cache that a killed one left."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

COMMANDS = {
    "convert": ["convert", "-f", "trace.clog2", "-o", "out.xml"],
    "convert, packed": ["convert", "-f", "trace.clog2", "-o", "out.alog.gz"],
    "convert, to a directory": ["convert", "-f", "trace.clog2", "-o", "out.otf2"],
    "metrics": ["metrics", "-f", "trace.clog2", "--format", "xml", "-o", "out.xml"],
    "report": ["report", "-f", "trace.clog2", "-o", "out.html"],
    "timeline": ["timeline", "trace.clog2"],
    "view": ["view", "--no-browser", "trace.clog2"],
}
# Libraries that sight may be built without.
NEEDS = {"convert, packed": "zlib", "convert, to a directory": "otf2", "view": "microhttpd"}
OLD = b"what was there before\n"


def content(path):
    """A hash of the file; None: there is none."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Killing:
    def __init__(self, sight, trace, top, name):
        self.name, self.words = name, COMMANDS[name]
        self.command = [sight] + self.words
        self.work = os.path.join(top, "work")
        os.mkdir(self.work)
        self.trace = os.path.join(self.work, "trace.clog2")
        shutil.copy(trace, self.trace)
        self.output = os.path.join(self.work, self.words[self.words.index("-o") + 1]) if "-o" in self.words else None
        self.environment = dict(os.environ, SIGHT_CACHE=os.path.join(top, "cache"), TMPDIR=self.work, SOURCE_DATE_EPOCH="1",
                                LC_ALL="C.UTF-8")

    def result(self):
        """The output; of an archive its events, since it has the time of its making in it."""
        if not os.path.isdir(self.output):
            return content(self.output)
        command = [self.command[0], "metrics", "--format", "json", self.output]
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=120)
        return done.returncode, done.stdout

    def start(self):
        return subprocess.Popen(self.command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(self, process):
        """What the server says about the trace."""
        base = process.stdout.readline().decode().strip()
        with urllib.request.urlopen(base + "meta", timeout=60) as answer:
            meta = answer.read()
        with urllib.request.urlopen(base + "tile?shift=20&fold=0&index=0&block=0", timeout=60) as answer:
            return hashlib.sha256(meta + answer.read()).hexdigest()

    def whole(self):
        """A run that is not killed: (exit code, its results)"""
        process = self.start()
        if self.name == "view":
            try:
                said = self.ask(process)
            finally:
                process.terminate()
            process.communicate(timeout=60)
            return 0, said
        said, _ = process.communicate(timeout=120)
        return process.returncode, self.result() if self.output else said

    def clean(self):
        """Only the input is left of the run before."""
        for name in os.listdir(self.work):
            path = os.path.join(self.work, name)
            if path != self.trace:
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def remove_cache(self):
        shutil.rmtree(self.environment["SIGHT_CACHE"], ignore_errors=True)

    def killed(self, moment, there, want, before):
        """What is wrong after a run that was killed, or None."""
        old = None
        if there and self.output and not self.output.endswith(".otf2"):
            with open(self.output, "wb") as file:
                file.write(OLD)
            old = self.result()
        process = self.start()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.caught += process.returncode == -signal.SIGKILL
        if content(self.trace) != before:
            return "the input is another one"
        if self.output and self.result() not in (old, want[1]):
            return "a part of an output"
        self.left += len(set(os.listdir(self.work)) - {"trace.clog2", os.path.basename(self.output or "")}) > 0
        if self.whole() != want:
            return "the next run gives something else"
        return None

    def all(self, kills, random_number):
        self.remove_cache()
        begin = time.monotonic()
        want = self.whole()
        long = time.monotonic() - begin
        before = content(self.trace)
        self.caught = self.left = 0
        found = []
        for i in range(kills):
            self.clean()
            if random_number.random() < 0.7:
                self.remove_cache()
            moment = random_number.random() * long * 1.1
            fault = self.killed(moment, random_number.random() < 0.5, want, before)
            if fault:
                found.append("after %.1f ms: %s" % (1e3 * moment, fault))
        return want, found


def main():
    sight, trace, kills = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    seed = int(os.environ.get("SIGHT_TEST_SEED", os.getpid()))
    random_number = random.Random(seed)
    bad = 0
    version = subprocess.run([sight, "--version"], capture_output=True, text=True).stdout
    for name in sys.argv[4:] or COMMANDS:
        if name in NEEDS and NEEDS[name] + " yes" not in version:
            print("ok %s # SKIP built without %s" % (name, NEEDS[name]), flush=True)
            continue
        with tempfile.TemporaryDirectory() as top:
            killing = Killing(sight, trace, top, name)
            want, found = killing.all(kills, random_number)
            fine = not found and want[0] == 0
            bad += not fine
            print("%sok %s: killed %d times (%d while it ran, %d left temporary files)" %
                  ("" if fine else "not ", name, kills, killing.caught, killing.left), flush=True)
            for line in found[:10]:
                print("# seed %d, %s" % (seed, line), flush=True)
    sys.exit(bad > 0)


main()
