# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI from all kinds of Python code, and says from where; then computes, and says in which function for how long.

The calls are MPI_Barrier of MPI_COMM_SELF; each is on the line of a call of here(), which prints the truth."""
import importlib
import os
import sys
import threading
import time
import zlib

from mpi4py import MPI

SELF = MPI.COMM_SELF


def here():
    frame = sys._getframe(1)
    print(f"at,{os.path.basename(frame.f_code.co_filename)},{frame.f_lineno},{frame.f_code.co_qualname}", flush=True)


class Solver:
    def step(self):
        SELF.Barrier(), here()

    @property
    def size(self):
        SELF.Barrier(), here()
        return 1

    def __getattr__(self, name):
        SELF.Barrier(), here()
        return name


def generate():
    SELF.Barrier(), here()
    yield 1
    SELF.Barrier(), here()
    yield from (inner(i) for i in range(2))


def inner(i):
    SELF.Barrier(), here()
    return i


def recurse(depth):
    if depth == 0:
        SELF.Barrier(), here()
        return
    recurse(depth - 1)
    SELF.Barrier(), here()


def fail():
    try:
        raise ValueError
    except ValueError:
        SELF.Barrier(), here()
    finally:
        SELF.Barrier(), here()


# A line with a number of its own after lines of many lengths; and calls over several lines.
def spread():
    text = """
    one

    two"""
    numbers = [
        i
        for i in range(3)
    ]
    SELF.Barrier(), here()
    return len(text) + len(numbers)


def made_codes():
    for i in range(20):
        # Each is freed before the next one is made, which is then in its place.
        text = "\n" * (i % 5) + "SELF.Barrier(), here()\n"
        name = f"<made {i % 7}>" if i % 2 else "<made" + " very" * 60 + f" long {i % 7}>"
        exec(compile(text, name, "exec"), {"SELF": SELF, "here": here})
    exec("SELF.Barrier(), here()")


def late_module():
    # The test has written it: several processes would write it while others read it.
    sys.path.insert(0, ".")
    sys.dont_write_bytecode = True
    importlib.import_module("für_größen").größe(SELF, here)


def calls():
    Solver().step()
    Solver().size
    Solver().missing
    list(generate())
    recurse(70)
    fail()
    spread()
    sorted([2, 1], key=lambda i: (SELF.Barrier(), here(), i)[2])
    made_codes()
    late_module()


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for i in range(1000):
            i * i


def work_long():
    burn(0.6)


def work_short():
    burn(0.3)


def compress(data, seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        zlib.compress(data)


def deep(depth):
    if depth > 0:
        return deep(depth - 1)
    return work_short()


def compute():
    work_long()
    compress(bytes(range(256)) * 2000, 0.3)
    thread = threading.Thread(target=work_short)
    thread.start()
    thread.join()
    deep(20)


calls()
if "compute" in sys.argv:
    compute()
