#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in `sight sql`: it ends a query, keeps the prompt, drops a line, and ends the program where there is no prompt.

    interrupt.py SIGHT TRACE

Signals are sent once the query is known to run: it never ends, and takes processor time, which is waited for.
"""
import os
import pty
import select
import signal
import subprocess
import sys
import time

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
TICKS = 15  # far more than starting takes
LIMIT = 300  # seconds: a program that ignores a signal fails the test, and does not hang it


def ticks(process):
    with open("/proc/%d/stat" % process, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def wait_until_busy(process):
    before = ticks(process)
    while ticks(process) < before + TICKS:
        time.sleep(0.01)


class Terminal:
    def __init__(self, arguments):
        self.process, self.end = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ.update(HOME="/nonexistent", TERM="dumb")
            os.environ.pop("XDG_STATE_HOME", None)
            os.execv(arguments[0], arguments)
        self.seen = ""

    def wait_for(self, text):
        while text not in self.seen:
            try:
                read = os.read(self.end, 4096).decode(errors="replace")
            except OSError:
                read = ""
            if not read:
                sys.exit("# %r never came; there was %r" % (text, self.seen))
            self.seen += read
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def type(self, text):
        os.write(self.end, text.encode())

    def ctrl_c(self):
        os.kill(self.process, signal.SIGINT)

    def drop_line(self):
        """As a user does, once more where nothing happens: the signal may come between the prompt and reading."""
        self.ctrl_c()
        while not select.select([self.end], [], [], 2)[0]:
            self.ctrl_c()


def prompt(sight, trace):
    terminal = Terminal([sight, "sql", "-q", "--format", "csv", trace])
    terminal.wait_for("sight> ")
    terminal.type(ENDLESS + ";\n")
    wait_until_busy(terminal.process)
    terminal.ctrl_c()
    terminal.wait_for("interrupted")
    terminal.wait_for("sight> ")
    # The next one runs.
    terminal.type("SELECT 20 + 2;\n")
    terminal.wait_for("22")
    terminal.wait_for("sight> ")
    # A statement that is not complete is dropped.
    terminal.type("SELECT 30 +\n")
    terminal.wait_for("...> ")
    terminal.drop_line()
    terminal.wait_for("sight> ")
    terminal.type("SELECT 40 + 4;\n")
    terminal.wait_for("44")
    terminal.wait_for("sight> ")
    terminal.type(".quit\n")
    code = os.waitstatus_to_exitcode(os.waitpid(terminal.process, 0)[1])
    if code != 0:
        sys.exit("# exit code %d of the prompt" % code)


def one_shot(sight, trace):
    with subprocess.Popen([sight, "sql", "-q", "--format", "csv", trace, ENDLESS], stdout=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        wait_until_busy(process.pid)
        process.send_signal(signal.SIGINT)
        code = process.wait()
    if code != 130:
        sys.exit("# exit code %d of a query" % code)


if __name__ == "__main__":
    signal.alarm(LIMIT)
    prompt(sys.argv[1], sys.argv[2])
    one_shot(sys.argv[1], sys.argv[2])
