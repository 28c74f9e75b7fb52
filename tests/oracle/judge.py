#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the diagnosis says of simulated runs, beyond the right finding: never silent, one number for one fix, advice that fits.

    judge.py SIGHT [--only NAME,NAME] [--held yes|no|all] [--seed N] [--keep DIRECTORY]

Each kind is a program of 8 processes on the machine of simulator.py, and what must hold of the first screen, of the search and
of what-if.  Kinds that are marked as held were written with the others and not looked at while sight was changed for these.
Prints a line a run; exits with 1 if any is wrong.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judging import *  # noqa: F401,F403
from patterns import handle_in_order, reduce_by_hand, stage, wait_for_all
from simulator import Machine, Run
from simulate import MS, grid, halo, halo_program, master_program, neighbours


# 1. Silence

@kind("two roles in lockstep")
def two_roles(draw):
    """Half of the processes serve the other half: each computes while its partner waits."""
    def program(p):
        partner = p.rank ^ 1
        for _ in range(30):
            if p.rank % 2 == 0:
                yield p.compute(8 * MS)
                yield p.send(partner, 100)
                yield p.receive(partner, 0)
            else:
                yield p.receive(partner, 0)
                yield p.compute(1 * MS)
                yield p.send(partner, 100)
    return program, None, [not_silent, bounded]


@kind("broadcast without roots", rootless=True)
def no_roots(draw):
    def program(p):
        for _ in range(20):
            if p.rank == 0:
                yield p.compute(9 * MS)
            yield p.bcast(8)
            yield p.compute(2 * MS)
    return program, None, [not_silent, bounded]


@kind("stages that take turns")
def stages(draw):
    """A pipeline with one slow stage and few pieces."""
    def program(p):
        for _ in range(6):
            yield from stage(p, (6 if p.rank == 3 else 2) * MS, 100)
    return program, None, [not_silent, bounded]


@kind("different work for each pair", held=True)
def pairs(draw):
    factors = [1, 3, 2, 7, 1, 5, 4, 2]

    def program(p):
        for turn in range(20):
            yield p.compute(factors[(p.rank * 3 + turn) % 8] * MS)
            partner = p.rank ^ (1, 2, 4)[turn % 3]
            yield p.exchange(partner, partner, 100)
    return program, None, [not_silent, bounded]


@kind("uneven work and a slow root")
def two_causes(draw):
    def program(p):
        for _ in range(20):
            yield p.compute((6 if p.rank == 5 else 2) * MS)
            yield p.allreduce(8)
            if p.rank == 0:
                yield p.compute(3 * MS)
            yield p.bcast(8)
    return program, None, [not_silent, one_number]


@kind("uneven work, barriers")
def uneven_barrier(draw):
    def program(p):
        for _ in range(30):
            yield p.compute((9 if p.rank == 3 else 3) * MS)
            yield p.barrier()
    return program, None, [first_is("compute-imbalance", cause=[3]), bounded, one_number, begins_with_busy]


@kind("uneven work, ring", held=True)
def uneven_ring(draw):
    def program(p):
        for _ in range(30):
            yield p.compute((9 if p.rank == 3 else 3) * MS)
            yield p.exchange((p.rank + 1) % SIZE, (p.rank - 1) % SIZE, 100)
    return program, None, [first_is("compute-imbalance", cause=[3]), bounded, one_number, begins_with_busy]


# 9. Starting and ending MPI

STARTING = {"MPI_Init": 500 * MS, "MPI_Finalize": 200 * MS}


@kind("short run, long start", machine=lambda: Machine(starting=STARTING))
def long_start(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: 4 * MS, 800, 20)
    return program, None, [clean, never_says("hardly", "starting and ending", "MPI_Init takes"),
                                     search_never_says("communicators once", "MPI_Init")]


@kind("short uneven run, long start", machine=lambda: Machine(starting=STARTING))
def long_start_uneven(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: (9 if rank == 2 else 3) * MS, 800, 20)
    return program, None, [first_is("compute-imbalance", cause=[2]), never_says("hardly", "starting and ending"),
                                     search_never_says("communicators once")]


@kind("short run, slow messages, long start", held=True, machine=lambda: Machine(latency=3 * MS, starting=STARTING))
def long_start_slow(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: 1 * MS, 8, 20)
    return program, None, [not_silent, never_says("hardly", "starting and ending"), search_never_says("communicators once")]


@kind("communicator made once")
def cart_once(draw):
    def program(p):
        yield p.collective("MPI_Cart_create")
        yield p.file("MPI_Comm_split", 100 * MS)
        for _ in range(20):
            yield p.compute(2 * MS)
            yield p.allreduce(8)
    return program, None, [never_says("make them once"), search_never_says("once, outside loops")]


@kind("communicators in a loop")
def cart_often(draw):
    def program(p):
        for _ in range(20):
            yield p.file("MPI_Comm_split", 5 * MS)
            yield p.compute(2 * MS)
            yield p.allreduce(8)
            yield p.file("MPI_Comm_free", 1 * MS)
    return program, None, [first_is("transfer"), lambda said: None if "once" in said.first["advice"] else said.first["advice"]]


# 10. Advice that fits


@kind("reduction by hand")
def reduction_by_hand(draw):
    """All send to process 0, which adds up as they come and sends the sum back."""
    def program(p):
        for _ in range(30):
            yield p.compute((9 if p.rank == 4 else 3) * MS)
            yield from reduce_by_hand(p, 0, any_source=True)
    return program, None, [first_is("compute-imbalance", cause=[4]), NO_MASTER]


@kind("gather with Waitall")
def gather_waitall(draw):
    def program(p):
        for _ in range(30):
            yield p.compute((9 if p.rank == 4 else 3) * MS)
            yield from wait_for_all(p, 1000)
            yield p.bcast(8)
    return program, None, [first_is("compute-imbalance", cause=[4]), NO_MASTER]


@kind("reduction by hand, root late", held=True)
def reduction_late_root(draw):
    def program(p):
        for _ in range(30):
            yield p.compute(3 * MS)
            if p.rank == 0:
                yield p.compute(5 * MS)
            yield from reduce_by_hand(p, 0)
    return program, None, [first_is("compute-imbalance", "late-sender", cause=[0]), NO_MASTER]


@kind("real master and workers", held=True)
def real_master(draw):
    return master_program(SIZE, 200, lambda task: 2 * MS, 1 * MS), None, [not_silent, says("[Mm]aster")]


@kind("token round the ring")
def token_ring(draw):
    """One after the other does its part of a file."""
    def program(p):
        for _ in range(6):
            if p.rank > 0:
                yield p.receive(p.rank - 1, 0)
            yield p.compute(4 * MS)
            yield p.send((p.rank + 1) % SIZE, 4)
            if p.rank == 0:
                yield p.receive(SIZE - 1, 0)
            yield p.allreduce(8)
    return program, None, [first_is("serialisation", "late-sender"), never_says("sweep", "as soon as it is done", "smaller pieces", "smaller blocks"),
                           says("token|one after the other|at a time")]


@kind("token and back")
def token_back(draw):
    """Open chain: no sweep of a grid either."""
    def program(p):
        for _ in range(5):
            yield p.compute(2 * MS)
            if p.rank > 0:
                yield p.receive(p.rank - 1, 0)
            yield p.compute(4 * MS)
            if p.rank < SIZE - 1:
                yield p.send(p.rank + 1, 4)
                yield p.receive(p.rank + 1, 1)
            if p.rank > 0:
                yield p.send(p.rank - 1, 4, 1)
    return program, None, [first_is("serialisation", "late-sender"), never_says("sweep")]


@kind("slow first iteration")
def slow_first(draw):
    def program(p):
        for turn in range(20):
            yield p.compute((60 if p.rank == 3 and turn == 0 else 3) * MS)
            yield p.allreduce(8)
    return program, None, [first_is("dynamic-imbalance", "compute-imbalance", cause=[3]), never_says("overload"), says("first|once|iteration")]


@kind("input read by one")
def input_by_one(draw):
    def program(p):
        if p.rank == 0:
            yield p.compute(80 * MS)
        yield p.bcast(100000)
        for _ in range(20):
            yield p.compute(4 * MS)
            yield p.allreduce(8)
    return program, None, [not_silent, never_says("overload", "times as long as the others"), says("[Ss]erial|alone")]


@kind("output written by one", held=True)
def output_by_one(draw):
    def program(p):
        for _ in range(20):
            yield p.compute(4 * MS)
            yield p.allreduce(8)
        yield p.collective("MPI_Gather", 1000, SIZE - 1)
        if p.rank == SIZE - 1:
            yield p.compute(80 * MS)
        yield p.barrier()
    return program, None, [not_silent, never_says("overload", "times as long as the others"), says("[Ss]erial|alone")]


@kind("serial section with broadcast")
def serial_bcast(draw):
    def program(p):
        for _ in range(20):
            yield p.compute(4 * MS)
            yield p.reduce(8)
            if p.rank == 0:
                yield p.compute(6 * MS)
            yield p.bcast(8)
    return program, None, [not_silent, says("[Ss]erial|alone"), begins_with_busy]


@kind("serial section with messages", held=True)
def serial_messages(draw):
    def program(p):
        for _ in range(20):
            yield p.compute(4 * MS)
            yield from reduce_by_hand(p, 2, any_source=True, work=6 * MS)
    return program, None, [not_silent, says("[Ss]erial|alone"), NO_MASTER]


@kind("wrong order with work at home")
def order_at_home(draw):
    """Process 0 collects by rank, the others come in the reverse order; the rest of the turn is even."""
    def build(planted):
        def program(p):
            for turn in range(20):
                yield from handle_in_order(p, planted, 1 * MS, turn)
                yield p.bcast(8)
        return program
    return build(True), build(False), [first_is("wrong-order", "late-sender", "serialisation"), saving(-0.2, 0.2)]


# 4. What is not sharing of cores

@kind("slow network", machine=lambda: Machine(bandwidth=0.05))
def slow_network(draw):
    program = halo_program(grid(SIZE, 2), lambda rank, turn: 2 * MS, 200000, 20)
    return program, None, [not_silent, never_says("share cores", "oversubscri")]


@kind("unsteady network", held=True, machine=lambda: Machine(latency=200000, jitter=20))
def unsteady_network(draw):
    def program(p):
        for _ in range(40):
            yield p.compute(1 * MS)
            yield from halo(p, neighbours(p.rank, grid(SIZE, 2)), 100)
            yield p.allreduce(8)
    return program, None, [never_says("share cores", "oversubscri")]


import judge_more  # noqa: E402,F401: more kinds
import judge_third  # noqa: E402,F401
import judge_fourth  # noqa: E402,F401
import judge_fifth  # noqa: E402,F401


def judge(sight, name, directory, seed):
    make, _, machine, comms, rootless = KINDS[name]
    planted, fixed, checks = make(random.Random(seed))
    run = Run(SIZE, planted, machine(), comms, seed)
    without = Run(SIZE, fixed, machine(), comms, seed) if fixed else None
    path = os.path.join(directory, "%d.xml" % list(KINDS).index(name))
    run.write(path)
    if rootless:
        with open(path, encoding="utf-8") as file:
            text = re.sub(r' root="\d+"', "", file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    said = Said(sight, path, run, without, lambda program: Run(SIZE, program, machine(), comms, seed))
    wrong = [message for message in (check(said) for check in checks) if message]
    return said, wrong


def main():
    options = argparse.ArgumentParser()
    options.add_argument("sight")
    options.add_argument("--only", default="")
    options.add_argument("--held", default="all", choices=["yes", "no", "all"])
    options.add_argument("--seed", default="1")
    options.add_argument("--keep")
    options = options.parse_args()
    names = options.only.split(",") if options.only else [
        name for name in KINDS if options.held == "all" or KINDS[name][1] == (options.held == "yes")]
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            said, wrong = judge(options.sight, name, options.keep or directory, options.seed)
            first = "%s %.1f %%" % (said.first["id"], 100 * said.first["share"]) if said.first else "none"
            print("| %s | %s | %s |" % (name, first, "; ".join(wrong) or "right"), flush=True)
            failed += bool(wrong)
    print("%d of %d kinds are right" % (len(names) - failed, len(names)))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
