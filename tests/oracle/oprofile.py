#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""oprofile.py SIGHT DIRECTORY FORMAT: the tables of the dissertation on Extended OProfile (Mussi de Albuquerque, UFPR 2009) as
traces with counters, which `sight counters` must turn into the numbers that follow from the tables' cells. The numbers are
those of the tables, recomputed by hand, not by this program. Prints differences; exit 1 if any."""
import json
import os
import subprocess
import sys

sight, directory, form = sys.argv[1:4]
differences = 0
os.chdir(directory)

# Table 6.1: time stamp, binary, CPU_CLK_UNHALTED, L1_DTLB_MISSES_L2_DTLD_HITS, L1_AND_L2_DTLB_MISSES.
LOG = """2004291143,tlb teste,235494181,20996488,990284
2004442118,oprofile,235548720,20996736,990402
2004455914,oprofile,235555491,20996736,990404
2004592743,oprofile,235627403,20996736,990410
2004743619,oprofile,235710063,20996736,990416
2004894172,oprofile,235795961,20996736,990423
2005044853,vmlinux,235876816,20996737,990430
2005195523,vmlinux,235960173,20996738,990448
2005346466,vmlinux,236042444,20996739,990457
2005371143,oprofile,236055612,20996739,990458
2014107167,vmlinux,237882634,20997489,1016162
2014258021,libc-2.3.6.so,237931057,20997527,1016803
2014408780,vmlinux,237976297,20997547,1017637
2014559754,libc-2.3.6.so,238020696,20997582,1018400
2014645408,vmlinux,238056054,20997605,1018955
2014710594,oprofiled,238071539,20997610,1019272
2014861908,vmlinux,238133560,20997652,1020043
2015012886,vmlinux,238179766,20997664,1021159
2015163807,vmlinux,238229001,20997702,1021916
2015314592,vmlinux,238274002,20997721,1023022"""


def equal(what, got, want, digits=6):
    global differences
    if got is None or abs(got - want) > 0.6 * 10**-digits * max(1, 10**-digits):
        print(f"# {what}: got {got}, expected {want}")
        differences += 1


def write_xml(name, counters, events, states=(), mode="accumulated"):
    """`events`: (process, time in ns, line)."""
    processes = 1 + max(process for process, _, _ in events)
    with open(name, "w", encoding="ascii") as file:
        print(f'<?xml version="1.0"?>\n<trace processes="{processes}">', file=file)
        for counter in counters:
            print(f'<marktype name="{counter}" type="uint64" mode="{mode}"/>', file=file)
        for state in states:
            print(f'<state name="{state}"/>', file=file)
        for process, when, line in sorted(events, key=lambda event: event[:2]):
            at = f'process="{process}" timestamp="{when // 1000}.{when % 1000:03d}"'
            print(line.replace("@", at), file=file)
        print("</trace>", file=file)


def value(counter, number):
    return f'<counter @ data="{counter}" number="{number}"/>'


def trace(name, counters, events, states=(), mode="accumulated"):
    """The trace in the wanted format."""
    write_xml(name + ".xml", counters, events, states, mode)
    if form == "xml":
        return name + ".xml"
    out = name + "." + form
    subprocess.run([sight, "convert", "-q", "-f", name + ".xml", "-o", out], check=True, stderr=subprocess.DEVNULL)
    return out


def counters(path, *options):
    command = [sight, "counters", "-q", "--format", "json", *options, path]
    got = subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return json.loads(got)


def formulas(name, text):
    """Paraver and Pajé do not say that a counter is a sum: the formulas do."""
    if form in ("prv", "trace") and "mode " not in text:
        text = "".join(line + "\n" + ("mode accumulated\n" if line.startswith("counter ") else "") for line in text.split("\n"))
    with open(name, "w", encoding="ascii") as file:
        file.write(text)
    return ["--formulas", name]


def totals(name, table, columns):
    """Each row of a table is a process, and its cells the totals of counters between two readings."""
    events = []
    for process, cells in enumerate(table):
        for column, cell in zip(columns, cells):
            events.append((process, 1000, value(column, 0)))
            events.append((process, 2000000, value(column, cell)))
    return trace(name, columns, events)


def rows(result, formula):
    return [row["formulas"][formula] for row in result["rows"]]


def check_rows(what, result, formula, wanted, digits=6):
    got = rows(result, formula)
    equal(what + ": rows", len(got), len(wanted))
    for place, (one, other) in enumerate(zip(got, wanted)):
        equal(f"{what} {formula} {place}", one, other, digits)


def table_7_2():
    """Matrix product: accesses, misses and where they are served from."""
    path = totals("tab72", [[432000000000, 16600000000, 2150000000, 1080000000, 1070000000],
                            [50500000000, 29600000000, 1060000000, 1030000000, 34000000]],
                  ["CPU_CLK_UNHALTED", "DATA_CACHE_ACCESSES", "DATA_CACHE_MISSES", "DATA_CACHE_REFILLS_FROM_L2",
                   "DATA_CACHE_REFILLS_FROM_SYSTEM"])
    result = counters(path, *formulas("tab72.formulas", """counter cycles
spelled CPU_CLK_UNHALTED
counter accesses
spelled DATA_CACHE_ACCESSES
counter misses
spelled DATA_CACHE_MISSES
counter from_l2
spelled DATA_CACHE_REFILLS_FROM_L2
counter from_system
spelled DATA_CACHE_REFILLS_FROM_SYSTEM
metric access_rate
base   accesses / cycles
better higher
metric miss_rate
base   misses / accesses
unit   %
fair   5 %
poor   10 %
metric l2_share
base   from_l2 / misses
metric system_share
base   from_system / misses
metric l2_per_access
base   from_l2 / accesses
metric system_per_access
base   from_system / accesses
"""))
    check_rows("7.2", result, "access_rate", [0.038426, 0.586139])
    check_rows("7.2", result, "miss_rate", [0.129518, 0.035811])
    check_rows("7.2", result, "l2_share", [0.502326, 0.971698])
    check_rows("7.2", result, "system_share", [0.497674, 0.032075])
    check_rows("7.2", result, "l2_per_access", [0.065060, 0.034797])
    check_rows("7.2", result, "system_per_access", [0.064458, 0.001149])
    verdicts = [row["verdicts"].get("miss_rate") for row in result["rows"]]
    equal("7.2: verdicts", verdicts == ["poor", "good"], 1)
    if form in ("prv", "trace"):
        return
    own = counters(path)
    check_rows("7.2, sight's own", own, "l1_misses_per_access", [0.129518, 0.035811])
    equal("7.2: no instructions", own["rows"][0]["formulas"]["ipc"] is None, 1)


def ratios():
    """Tables 7.1, 7.2 (cycles), 8.1, 8.2 and the section of 8.3: two columns, how much one exceeds the other."""
    pairs = [(432000000000, 50500000000), (1252000000, 1111000000), (272000000, 221000000), (153000000, 94000000), (854347, 601180),
             (168521, 165887), (134371, 71937), (9926, 7773), (2147, 223), (2147, 989), (2147, 255), (2147, 1073)]
    path = totals("ratios", pairs, ["one", "other"])
    result = counters(path, *formulas("ratios.formulas", """counter one
counter other
metric ratio
base   one / other
metric more
base   one / other - 1
metric less
base   1 - other / one
"""))
    got = rows(result, "ratio")
    for place, want in ((0, 8.554455), (8, 9.627803)):
        equal(f"ratio {place}", got[place], want)
    for place, want in ((9, 2.171), (10, 8.420), (11, 2.001)):
        equal(f"ratio {place}", got[place], want, 3)
    more = rows(result, "more")
    for place, want in ((1, 0.1269), (2, 0.2308), (3, 0.6277), (4, 0.4211), (5, 0.0159), (6, 0.8679), (7, 0.2770)):
        equal(f"more {place}", more[place], want, 4)
    equal("less", rows(result, "less")[1], 0.1126, 4)
    # The section that sorts two vectors: accesses per cycle and misses per access, merge and quick.
    path = totals("section", [[49200000, 31700000, 134371], [35300000, 17500000, 71937]], ["cycles", "accesses", "misses"])
    result = counters(path, *formulas("section.formulas", """counter cycles
counter accesses
counter misses
metric rate
base   accesses / cycles
metric missed
base   misses / accesses
"""))
    check_rows("8.3", result, "rate", [0.644309, 0.495751])
    check_rows("8.3", result, "missed", [0.004239, 0.004111])


def overhead():
    """Tables 9.1 to 9.3 and 10.1 to 10.3."""
    table = [[2960000000, 2830000000, 2810000000], [29100000, 28900000, 28500000], [371000000, 370000000, 366000000],
             [432000000000, 427000000000, 424000000000], [50700000000, 47900000000, 45300000000],
             [1380000000, 1377000000, 1252000000], [1227000000, 1228000000, 1111000000]]
    path = totals("overhead", table, ["extended", "oprofile", "none"])
    result = counters(path, *formulas("overhead.formulas", """counter extended
counter oprofile
counter none
metric of_extended
base   100 * (extended / none - 1)
metric of_oprofile
base   100 * (oprofile / none - 1)
"""))
    check_rows("9", result, "of_extended", [5.34, 2.11, 1.37, 1.89, 11.92, 10.22, 10.44], 2)
    check_rows("9", result, "of_oprofile", [0.71, 1.40, 1.09, 0.71, 5.74, 9.98, 10.53], 2)
    table = [[26600000, 26500000], [4880000, 4640000], [380000, 350000], [16600000000, 15300000000], [1080000000, 1080000000],
             [1070000000, 1070000000], [29700000000, 30600000000], [1030000000, 1090000000], [34000000, 20400000],
             [735000000, 426000000], [4350000, 2500000], [1090000, 691000], [503000000, 347000000], [3410000, 2310000],
             [1090000, 839000]]
    path = totals("divergence", table, ["extended", "oprofile"])
    result = counters(path, *formulas("divergence.formulas", """counter extended
counter oprofile
metric divergence
base   100 * (max(extended, oprofile) / min(extended, oprofile) - 1)
"""))
    check_rows("10", result, "divergence", [0.377, 5.172, 8.571, 8.497, 0, 0, 3.030, 5.825, 66.667, 72.535, 74.000, 57.742, 44.957,
                                            47.619, 29.917], 3)


def log_6_1():
    """The excerpt of the log: rates from reading to reading, values at markers, sums by binary."""
    names = ["CPU_CLK_UNHALTED", "L1_DTLB_MISSES_L2_DTLD_HITS", "L1_AND_L2_DTLB_MISSES"]
    table = [line.split(",") for line in LOG.split("\n")]
    events = []
    # The sample was taken in the binary of its row: the time before it belongs to that.
    for before, row in zip([None] + table, table):
        if before:
            events.append((0, int(before[0]), f'<event @ data="{row[1]}" kind="enter"/>'))
        for name, cell in zip(names, row[2:]):
            events.append((0, int(row[0]), value(name, cell)))
        if before:
            events.append((0, int(row[0]), f'<event @ data="{row[1]}" kind="leave"/>'))
    path = trace("log", names, events, sorted({row[1] for row in table}))
    file = formulas("log.formulas", """counter unhalted
spelled CPU_CLK_UNHALTED
counter l1
spelled L1_DTLB_MISSES_L2_DTLD_HITS
counter l2
spelled L1_AND_L2_DTLB_MISSES
# Times are cycles: one for each ns.
metric rate
base   l2 / time / 1000000000
""")
    result = counters(path, "--by", "reading", *file)
    cycles = [150975, 13796, 136829, 150876, 150553, 150681, 150670, 150943, 24677, 8736024, 150854, 150759, 150974, 85654, 65186,
              151314, 150978, 150921, 150785]
    unhalted = [54539, 6771, 71912, 82660, 85898, 80855, 83357, 82271, 13168, 1827022, 48423, 45240, 44399, 35358, 15485, 62021,
                46206, 49235, 45001]
    l1 = [248, 0, 0, 0, 0, 1, 1, 1, 0, 750, 38, 20, 35, 23, 5, 42, 12, 38, 19]
    l2 = [118, 2, 6, 6, 7, 7, 18, 9, 1, 25704, 641, 834, 763, 555, 317, 771, 1116, 757, 1106]
    equal("6.1: rows", len(result["rows"]), len(cycles))
    for place, row in enumerate(result["rows"]):
        equal(f"6.1 cycles {place}", row["time_s"] * 1e9, cycles[place], 3)
        for name, wanted in zip(names, (unhalted, l1, l2)):
            equal(f"6.1 {name} {place}", row["counters"][name], wanted[place], 3)
    rate = rows(result, "rate")
    for place, want in ((0, 7.816e-4), (1, 1.450e-4), (2, 4.385e-5), (10, 4.249e-3), (16, 7.392e-3)):
        equal(f"6.1 rate {place}", rate[place], want, 6)
    for name, want in zip(names, (2779821, 1233, 32738)):
        equal(f"6.1 whole {name}", result["run"]["counters"][name], want, 3)
    equal("6.1 whole", result["run"]["time_s"] * 1e9, 11023449, 3)
    # One interval is far longer than the others: the tool wrote its buffers.
    longest = sorted(row["time_s"] for row in result["rows"])
    equal("6.1 gap", longest[-1] > 50 * longest[len(longest) // 2] > longest[-2], 1)
    # Markers count from the first row.
    for when, wanted in ((2004800000, (235742231.174, 20996736.000, 990418.621)),
                         (2014200000, (237912432.695, 20997512.385, 1016556.460))):
        at = counters(path, "--at", f"{when - 2004291143} ns", *file)["rows"][0]["counters"]
        for name, want in zip(names, wanted):
            equal(f"6.1 at {when} {name}", at[name], want, 3)
    binaries = {row["function"]: row for row in counters(path, "--by", "function", *file)["rows"]}
    for binary in {row[1] for row in table[1:]}:
        places = [place for place, row in enumerate(table[1:]) if row[1] == binary]
        for name, steps in zip(names, (unhalted, l1, l2)):
            equal(f"6.1 {binary} {name}", binaries[binary]["counters"][name], sum(steps[place] for place in places), 3)
    # A window cuts readings where it begins and ends.
    part = counters(path, "--from", f"{2004800000 - 2004291143} ns", "--to", f"{2014200000 - 2004291143} ns", *file)
    equal("6.1 window", part["run"]["counters"]["CPU_CLK_UNHALTED"], 237912432.695 - 235742231.174, 2)


def saw_tooth():
    """Values that begin again at 0, and the steps of the experiment with the TLB."""
    raw = [400, 449, 50, 449, 10]
    events = [(0, 1000 * (place + 1), value("raw", number)) for place, number in enumerate(raw)]
    path = trace("saw", ["raw"], events)
    file = formulas("saw.formulas", "counter raw\nwraps 450\nmetric same\nbase raw\n")
    for place, want in enumerate((400, 449, 500, 899, 910)):
        at = counters(path, "--at", f"{place} us", *file)["rows"][0]["counters"]["raw"]
        equal(f"unwrapped {place}", at, want, 3)
    file = formulas("falls.formulas", "counter raw\nmetric same\nbase raw\n")
    equal("without a modulus it falls", counters(path, *file)["counters"][0]["falls"], 2)
    # Pages 22 to 41, touched 500 times: up to 31 only the first touch misses. The counter begins again at 500,000.
    events, states, total, measured, when = [], [], 499000, 0, 1000
    for pages in range(22, 42):
        misses = pages if pages <= 31 else 500 * pages
        name = f"pages {pages}"
        states.append(name)
        events.append((0, when, value("misses", total % 500000)))
        events.append((0, when, f'<event @ data="{name}" kind="enter"/>'))
        total += misses
        when += 1000000
        events.append((0, when, f'<event @ data="{name}" kind="leave"/>'))
    events.append((0, when, value("misses", total % 500000)))
    path = trace("tlb", ["misses"], events, states)
    file = formulas("tlb.formulas", "counter misses\nwraps 500000\nmetric to_measured\nbase 188953 / misses - 1\n")
    result = counters(path, "--by", "function", *file)
    steps = {row["function"]: row["counters"]["misses"] for row in result["rows"]}
    equal("steps", len(steps), 20)
    equal("22 to 31", sum(steps[f"pages {pages}"] for pages in range(22, 32)), 265, 3)
    equal("32 to 41", sum(steps[f"pages {pages}"] for pages in range(32, 42)), 182500, 3)
    equal("all", result["run"]["counters"]["misses"], 182765, 3)
    equal("measured", result["run"]["formulas"]["to_measured"], 0.03386, 5)
    # Table 6.2: measured and expected.
    path = totals("tab62", [[42, 23], [33, 24], [18427, 18000], [20197, 18500]], ["measured", "expected"])
    result = counters(path, *formulas("tab62.formulas", "counter measured\ncounter expected\nmetric ratio\nbase measured / expected\n"))
    check_rows("6.2", result, "ratio", [1.8261, 1.375, 1.0237, 1.0917], 4)


def sizes():
    """Blocks of the matrix product that fit into 64 KiB: 3 b^2 8 bytes."""
    events = [(process, when, value("b", size)) for process, size in ((0, 48), (1, 56)) for when in (1000, 9000)]
    path = trace("sizes", ["b"], events, mode="absolute")
    result = counters(path, *formulas("sizes.formulas", "counter b\nmode absolute\nmetric bytes_of_block\nbase 3 * b * b * 8\n"))
    check_rows("sizes", result, "bytes_of_block", [55296, 75264], 3)


for table in (table_7_2, ratios, overhead, log_6_1, saw_tooth, sizes):
    table()
sys.exit(differences > 0)
