# SPDX-License-Identifier: BSD-3-Clause
"""As planted_code.c, in Python: computes in seven functions for CPU times that a seed chooses, in steps that end in a
call of all processes. `planted_code.py SEED even` does so on all processes alike; with "late" one of them, chosen too,
spends more time in one of the functions, TIMES (1) as much more. Prints what is true: "late,PROCESS,FUNCTION,MS,FIRST,LAST",
the last two the lines of the function, or "even"."""
import random
import sys
from time import thread_time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD

# Each has lines of its own: the finding is to name them.


def assemble(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def factorise(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def multiply(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def smooth(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def restrict_grid(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def interpolate(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


def norm(seconds):
    until = thread_time() + seconds
    while thread_time() < until:
        for i in range(500):
            i * 31 & 1023


FUNCTIONS = [assemble, factorise, multiply, smooth, restrict_grid, interpolate, norm]


def synchronise(kind):
    if kind == 0:
        WORLD.Barrier()
    elif kind == 1:
        WORLD.allreduce(1)
    else:
        WORLD.alltoall([0] * WORLD.size)


def main():
    chance = random.Random(int(sys.argv[1]))
    is_late = sys.argv[2] == "late"
    times = float(sys.argv[3]) if len(sys.argv) > 3 else 1
    steps, kind, late = chance.randrange(8, 24), chance.randrange(3), chance.randrange(WORLD.size)
    function = chance.choice(FUNCTIONS)
    # All of it 0.6 s; the late function 0.2 to 0.5 s more.
    more = times * chance.uniform(0.2, 0.5)
    shares = [chance.randrange(1, 10) for _ in FUNCTIONS]
    for _ in range(steps):
        for share, each in zip(shares, FUNCTIONS):
            each(0.6 * share / sum(shares) / steps)
        if is_late and WORLD.rank == late:
            function(more / steps)
        synchronise(kind)
    if WORLD.rank == 0 and is_late:
        lines = [line for _, _, line in function.__code__.co_lines() if line]
        print(f"late,{late},{function.__name__},{1000 * more:.0f},{min(lines)},{max(lines)}")
    elif WORLD.rank == 0:
        print("even")


main()
