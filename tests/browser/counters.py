# SPDX-License-Identifier: BSD-3-Clause
"""counters.py make FILE: a trace of four processes with counters. counters.py ask ADDRESS: the curves that the server answers,
compared with sums made here. counters.py page ADDRESS PICTURES: their graphs in a browser. Prints "ok NAME" or "not ok NAME"."""
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

PROCESSES, READINGS, STEP = 4, 3000, 1_000_000  # more readings than the index has steps; ns between them


def work(rank, reading):
    """How much the sum grows from this reading to the next."""
    return (1000 + 100 * rank) * (1 if reading < READINGS // 2 else 3) + reading % 7


def level(rank, reading):
    return 50 + 10 * rank + reading % 5


SUMS = [[0] for _ in range(PROCESSES)]
for rank in range(PROCESSES):
    for reading in range(READINGS):
        SUMS[rank].append(SUMS[rank][-1] + work(rank, reading))


def make(path):
    with open(path, "w") as out:
        print('<!DOCTYPE trace SYSTEM "sight.dtd">\n<trace>', file=out)
        print('<marktype name="work" type="uint64" mode="accumulated"/><marktype name="level" type="int64" unit="C" mode="absolute"/>', file=out)
        print('<marktype name="cores" type="int64" mode="absolute"/><marktype name="CPU time" type="int64" unit="ns" mode="accumulated"/>', file=out)
        for rank in range(PROCESSES):
            for reading in range(READINGS + 1):
                values = {"work": SUMS[rank][reading], "level": level(rank, reading), "cores": 4, "CPU time": reading * STEP // 2}
                for name, value in values.items():
                    print(f'<counter process="{rank}" timestamp="{reading * STEP // 1000}" data="{name}" value="{value}"/>', file=out)
        print("</trace>", file=out)


def ok(good, name, got=""):
    print("ok" if good else "not ok", name, flush=True)
    if not good:
        print("#", got, flush=True)


def read(address, path, **parameters):
    query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
    return json.load(urllib.request.urlopen(address + path + query))


def near(got, wanted):
    return abs(got - wanted) <= 1e-4 * abs(wanted)


def ask(address):
    counters = read(address, "meta")["counters"]
    ok([(c["name"], c["sum"], c["resource"]) for c in counters] == [("work", True, False), ("level", False, False), ("CPU time", True, True)], "counters, but not the resource that never changes", counters)
    mark = {c["name"]: c["mark"] for c in counters}

    def curve(name, first, count, begin, end, bins):
        """Windows include their last ns."""
        return read(address, "counter", mark=mark[name], order="rank", first=first, count=count, **{"from": begin, "to": end - 1}, bins=bins)

    # A bin for each step: what the index keeps of 3,000 readings is coarser, the events of a short window are not.
    base = 1490
    got = curve("work", 1, 2, base * STEP, (base + 20) * STEP, 20)
    wanted = [[work(rank, base + i) * 1e3 for rank in (1, 2)] for i in range(20)]
    ok(all(near(g, sum(w) / 2) for g, w in zip(got["mean"], wanted)), "the mean growth per second of two processes", got)
    ok(all(near(g, min(w)) for g, w in zip(got["least"], wanted)) and all(near(g, max(w)) for g, w in zip(got["most"], wanted)), "the least and the most of them", got)
    got = curve("level", 0, 4, base * STEP, (base + 20) * STEP, 20)
    wanted = [[level(rank, base + i) for rank in range(4)] for i in range(20)]
    ok(all(near(g, sum(w) / 4) and near(a, min(w)) and near(b, max(w)) for g, a, b, w in zip(got["mean"], got["least"], got["most"], wanted)), "values hold until the next reading", got)

    # The whole run in two halves: sums are exact, however few steps are kept.
    got = curve("work", 0, 4, 0, READINGS * STEP, 2)
    half = READINGS // 2
    wanted = [sum(SUMS[rank][half] for rank in range(4)) / 4 / (half * STEP / 1e9), sum(SUMS[rank][-1] - SUMS[rank][half] for rank in range(4)) / 4 / (half * STEP / 1e9)]
    ok(all(near(g, w) for g, w in zip(got["mean"], wanted)), "the whole run in halves", (got, wanted))
    ok(near(got["least"][0], 1e6) and near(got["most"][1], (3 * 1300 + 6) * 1e3), "with its extremes", got)
    got = curve("CPU time", 3, 1, 0, READINGS * STEP, 7)
    ok(all(near(value, 5e8) for kind in got.values() for value in kind), "half of the time is CPU time", got)
    for path in ("counter", f"counter?mark=99&order=rank&first=0&count=4&from=0&to=100&bins=3", f"counter?mark={mark['work']}&order=rank&first=0&count=4&from=0&to=100&bins=5000", f"counter?mark={mark['work']}&order=rank&first=3&count=2&from=0&to=100&bins=5"):
        try:
            urllib.request.urlopen(address + path)
            ok(False, f"refused: {path}")
        except urllib.error.HTTPError as error:
            ok(error.code == 400, f"refused: {path}", error.code)


def page(address, pictures):
    from webdriver import Browser

    with Browser(1400, 860) as browser:
        browser.open(address)
        browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
        shown = "sight.timeline.layout().counters.list.map((counter) => counter.name).join()"
        drawn = "sight.timeline.layout().counters.list.every((counter) => sight.timeline.scene.curves.has(counter.mark))"
        ok(browser.run(f"return {shown}") == "work,level", "the program's counters have a graph", browser.run(f"return {shown}"))
        ok(browser.wait(drawn), "its numbers are there")
        # The pointer over the middle of the second graph.
        place = browser.run("""const {plot, counters} = sight.timeline.layout(); const box = sight.timeline.frame.getBoundingClientRect();
            return {x: box.left + plot.x + plot.width * 0.3, y: box.top + counters.y + 66 + 40}""")
        browser.act(("move", 5, 5), ("move", place["x"], place["y"]))
        browser.wait("!document.querySelector('.tip').hidden", 5)
        text = browser.run("return document.querySelector('.tip').innerText").replace("\u00a0", " ")
        ok(text.startswith("level") and re.search("from 5[0-4] C to 8[0-4] C", text) and "4 processes" in text, "hovering: what it is, of how many", text)
        browser.run("document.querySelector('.counters input[data-mark=\"3\"]').click()")
        ok(browser.wait(f"{shown} === 'work,level,CPU time' && {drawn}"), "a box adds one")
        browser.wait("location.hash.includes('counters=0.1.3')")
        browser.run("return new Promise((done) => setTimeout(done, 300))")
        browser.screenshot(f"{pictures}/counters.png")
        picture = browser.run("return sight.timeline.svg().text()")
        ok("CPU time, share of the time" in picture and "work per second" in picture, "the saved picture has them")
        browser.run("sight.toggleCounters()")
        ok(browser.wait(f"{shown} === ''"), "the button hides them")
        browser.run("location.hash = 'counters=1&p=2-3&t=1000000000-1010000000'")
        ok(browser.wait(f"{shown} === 'level' && {drawn} && sight.timeline.scene.curves.get(1).to === 1010000000"), "the address shows one")
        found = browser.run("const {least, most} = sight.timeline.scene.curves.get(1); return [Math.min(...least), Math.max(...most)]")
        ok(found == [70, 74], "of the process that is seen", found)
        ok(not browser.console(), "the browser has nothing to say", browser.console())


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    {"make": make, "ask": ask, "page": page}[sys.argv[1]](*sys.argv[2:])
