# SPDX-License-Identifier: BSD-3-Clause
"""edges.py KIND ADDRESS PICTURES: the page of `sight view` for a trace at an edge: none (no events), one (one event), many
(50,000 messages of two processes), wide (65,536 processes), features_5 (solo events) or hosts (eight processes, dealt out in
turn to three hosts). Prints "ok NAME" or "not ok NAME"."""
import sys
import time

from webdriver import Browser

kind, address, pictures = sys.argv[1:4]


def ok(good, name, got=""):
    print("ok" if good else "not ok", f"{kind}: {name}", flush=True)
    if not good:
        print("#", got, flush=True)


def rest(browser):
    """Until all that the view asked for is there and drawn."""
    browser.run("return new Promise((done) => setTimeout(done, 300))")
    browser.wait("!sight.timeline.fetching && sight.timeline.scene.tiles.loading.size === 0", 20)
    browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def colours(browser):
    """How many colours the picture of the timeline has."""
    return browser.run("""const {canvas} = sight.timeline, {width, height} = canvas;
        const pen = Object.assign(document.createElement('canvas'), {width, height}).getContext('2d', {willReadFrequently: true});
        pen.drawImage(canvas, 0, 0);
        return new Set(new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer)).size""")


def shares(browser):
    """Cells of several rows show what takes how much. Then all cells are made half computing and a quarter of each of two
    states: the pictures are not those of the trace any more."""
    parts = browser.run("""const {scene} = sight.timeline, found = [];
        for (const tile of scene.tiles.tiles.values()) for (let line = 0; line < tile.lines; line++) for (let bin = 0; bin < tile.bins; bin++) {
          const cell = tile.cell(line, bin); if (cell.parts[0].slot !== 255) found.push([cell.parts.length, cell.parts.reduce((sum, part) => sum + part.share, 0)]); }
        return found""")
    # Two functions and computing: a cell has no part but these three.
    ok(any(count > 1 for count, _ in parts) and all(count <= 3 and abs(total - 1) < 0.01 for count, total in parts), "the parts are all of a cell", parts[:4])
    seen = browser.run("""const {timeline} = sight, {tiles} = timeline.scene.tiles;
        for (const tile of tiles.values()) { for (let at = 0; at < tile.cells.length; at += 8) tile.cells.set([254, 128, 0, 0, 1, 64, 0, 63], at); tile.pictures.clear(); }
        timeline.redraw();
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
          const {canvas} = [...tiles.values()].map((tile) => tile.pictures.get('shares')).find(Boolean);
          const colours = [...new Uint32Array(canvas.getContext('2d').getImageData(7, 16, 1, 8).data.buffer)];
          return colours.map((colour) => colours.indexOf(colour)); })""")
    ok(seen == [0, 0, 2, 2, 4, 4, 4, 4], "each part is as high as its share, computing below", seen)


def frame(browser):
    """The middle length, in ms, of a frame while the view zooms in and out."""
    return browser.run("""return new Promise((done) => { const {timeline} = sight; const times = []; let i = 0, last = performance.now();
        const whole = timeline.whole(), middle = whole.t1 / 2;
        const step = (now) => { times.push(now - last); last = now; if (++i > 40) return done(times.slice(2).sort((a, b) => a - b)[19]);
          const half = middle * 0.9 ** (i < 20 ? i : 40 - i); timeline.setView({...whole, t0: middle - half, t1: middle + half}); requestAnimationFrame(step); };
        requestAnimationFrame(step); })""")


def no_events(browser):
    seen = browser.run("return document.querySelector('main').innerText + document.getElementById('facts').textContent")
    ok("no events" in seen, "the page says so", seen)
    ok("No findings." in seen, "and that there are no findings", seen)
    ok(not any(word in seen for word in ("NaN", "undefined", "Infinity")), "no number that is none", seen)


def one_event(browser):
    ok(browser.run("return sight.source.meta.rows") == 1, "one process")
    seen = browser.run("return document.body.innerText")
    ok("1 process, 0 s, 1 event\n" in seen + "\n", "one event", seen)
    ok(not any(word in seen for word in ("NaN", "undefined", "Infinity")), "no number that is none", seen)


def density(browser):
    """Whether messages change the picture."""
    shown, hidden = browser.run("""const {timeline} = sight; const text = () => timeline.canvas.toDataURL();
        const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return drawn().then(async () => { const shown = text(); sight.toggle('messages'); await drawn(); const hidden = text();
          sight.toggle('messages'); await drawn(); return [shown, hidden]; })""")
    return shown != hidden


def many_messages(browser):
    ok(browser.run("return sight.timeline.scene.arrows") is None, "no arrows")
    hint = browser.run("return document.querySelector('.hint').textContent")
    ok("zoom in" in hint, "it says how to see them", hint)
    ok(density(browser), "but how many there are is drawn")
    length = frame(browser)
    ok(length <= 50, f"{length:.0f} ms a frame while zooming")
    # About 5,000 messages: each state is drawn, but arrows would hide them.
    browser.run("const {timeline} = sight; timeline.setView({...timeline.whole(), t0: 1e8, t1: 1.6e8})")
    ok(browser.wait("sight.timeline.scene.isExact", 10), "nearer: all states")
    rest(browser)
    ok(browser.run("return sight.timeline.scene.arrows") is None and density(browser), "and how many messages there are")
    browser.screenshot(f"{pictures}/edge_near.png")
    browser.run("const {timeline} = sight; timeline.setView({...timeline.whole(), t0: 1e6, t1: 1.3e6})")
    rest(browser)
    ok(browser.wait("sight.timeline.scene.arrows?.length > 10", 10), "zoomed in, there are arrows", browser.run("return sight.timeline.scene.arrows"))
    browser.run("const {timeline} = sight; timeline.setView(timeline.whole())")


def many_processes(browser):
    rows, fold = browser.run("return [sight.source.meta.rows, layoutFold()]; function layoutFold() { return sight.timeline.at(innerWidth / 2, 300)?.fold; }")
    ok(rows == 65536 and fold > 4, "all processes, folded", [rows, fold])
    count = colours(browser)
    ok(count > 3, "something is drawn", count)
    length = frame(browser)
    ok(length <= 50, f"{length:.0f} ms a frame while zooming")
    browser.run("const {timeline} = sight; timeline.setView({...timeline.whole(), r0: 40000, r1: 40016})")
    rest(browser)
    ok(browser.run("return sight.timeline.at(innerWidth / 2, 300).fold") == 0, "zoomed in, each has a line")
    browser.run("const {timeline} = sight; timeline.setView(timeline.whole())")
    rest(browser)
    shares(browser)


def solo_events(browser):
    """features_5.clog2 has five of the program's own solo events with a payload, one on each process."""
    ok(browser.wait("sight.timeline.scene.isExact", 10), "all states")
    rest(browser)
    marks = browser.run("const {exact, meta} = sight.timeline.scene; return exact.marks.row.map((row, i) => [row, meta.marks[exact.marks.mark[i]], exact.marks.time[i], exact.markTexts[i]])")
    mine = [mark for mark in marks if mark[1] == "Checkpoint"]
    ok(sorted(mark[0] for mark in mine) == [0, 1, 2, 3, 4] and all(mark[3] for mark in mine), "each process has its solo event, with a text", marks)
    before = browser.run("return sight.timeline.canvas.toDataURL()")
    ok(browser.run("return sight.timeline.scene.marksDrawn.length") > 0, "they are drawn")
    row, name, when, text = mine[2]
    browser.run("const {timeline} = sight, [time] = arguments; timeline.setView({...timeline.whole(), t0: time - 2000, t1: time + 2000})", when)
    rest(browser)
    tip = browser.run("""const {timeline} = sight, [row, time] = arguments, {exact, marksDrawn} = timeline.scene;
        const [, x, y] = marksDrawn.find(([i]) => exact.marks.row[i] === row && exact.marks.time[i] === time), pointer = {x, y: y + 3};
        timeline.setHover(pointer, timeline.at(pointer.x, pointer.y)); return timeline.tip.innerText""", row, when)
    ok(name in tip and text in tip and f"process {row}" in tip, "the tooltip has name, text and process", [tip, text])
    browser.run("const {timeline} = sight; timeline.setHover(null, null); timeline.setView(timeline.whole())")
    browser.press("k")
    rest(browser)
    ok(browser.run("return sight.timeline.scene.marksDrawn.length") == 0 and browser.run("return sight.timeline.canvas.toDataURL()") != before, "and can be hidden")
    browser.press("k")


def hosts(browser):
    """Rows by host, a line for each host, and back."""
    scene = "sight.timeline.scene"
    browser.press("h")
    rest(browser)
    ok(browser.run(f"return [...{scene}.rows]") == [0, 3, 6, 1, 4, 7, 2, 5], "by host", browser.run(f"return [...{scene}.rows]"))
    ok(browser.run(f"return {scene}.hostNames") == ["node01", "node02", "node03"], "their names are short", browser.run(f"return {scene}.hostNames"))
    drawn = browser.run("return sight.timeline.svg().text()")
    ok(all(f">{name}</text>" in drawn for name in ("node01", "node02", "node03")), "and stand beside their processes")
    ok(browser.run(CHOSEN) == ["host", "0"], "the choices say so", browser.run(CHOSEN))
    browser.screenshot(f"{pictures}/hosts.png")
    browser.run("const {timeline} = sight; timeline.onLabel(timeline.layout().middle(4), 5)")
    rest(browser)
    seen = browser.run("const {timeline} = sight, layout = timeline.layout(); return [layout.lines, 2 ** layout.fold, timeline.scene.isExact, location.hash]")
    ok(seen == [3, 4, False, "#order=hosts"], "a click on a host folds them all, and the address has it", seen)
    ok(browser.run(CHOSEN) == ["host", "hosts"], "and so do the choices", browser.run(CHOSEN))
    rows = browser.run("const {timeline} = sight; return timeline.area(timeline.layout()).rows")
    ok(rows == [0, 3, 6, 1, 4, 7, 2, 5], "all processes are seen", rows)
    calls = browser.run("""const {timeline} = sight, {meta} = timeline.source;
        const of = (lines) => timeline.source.statistics(0, meta.duration, lines).then(({states, messages}) => JSON.stringify([messages, states.map((s) => [meta.states[s.state].name, s.count, s.exclusive]).sort()]));
        return Promise.all([0, 1, 2].map(async (host) => [await of({order: 'hosts', first: 4 * host, count: 4}), await of({order: 'host', first: [0, 3, 6][host], count: host < 2 ? 3 : 2})]))""")
    ok(len(calls) == 3 and all(own == same and "MPI_Recv" in own for own, same in calls), "the counts of a host are those of its processes", calls)
    browser.screenshot(f"{pictures}/hosts_folded.png")
    tip = browser.run("const {timeline} = sight, {plot, middle} = timeline.layout(), [x, y] = [plot.x + 100, middle(1)]; timeline.setHover({x, y}, timeline.at(x, y)); return timeline.tip.innerText")
    ok("node02" in tip, "the tooltip names the host", tip)
    browser.run("sight.timeline.setHover(null, null); sight.timeline.togglePin(5)")
    rest(browser)
    ok(">5</text>" in browser.run("return sight.timeline.svg().text()"), "a process is pinned above them")
    browser.run("sight.timeline.togglePin(5); sight.timeline.onLabel(sight.timeline.layout().middle(1))")
    ok(browser.wait("sight.timeline.scene.view.r0 === 3 && sight.timeline.scene.view.r1 === 6", 10), "a click on a folded host shows its processes", browser.run(f"return {scene}.view"))
    ok(browser.run(f"return {scene}.orderName") == "host", "each on its line")
    browser.run("location.hash = 'order=hosts'")
    ok(browser.wait(f"{scene}.orderName === 'hosts'", 10), "the address leads there")
    rest(browser)
    browser.press("h")
    rest(browser)
    ok(browser.run(f"return [{scene}.orderName, {scene}.view.r1]") == ["rank", 8], "and H back to the ranks")


CHOSEN = "return [...document.querySelectorAll('.tools select')].map((select) => select.value)"
TABS = ("charts", "matrix", "efficiency", "search", "timeline")
check = {"none": no_events, "one": one_event, "many": many_messages, "wide": many_processes, "features_5": solo_events, "hosts": hosts}[kind]
began = time.monotonic()
with Browser(1200, 800) as browser:
    browser.open(address)
    ok(browser.wait("document.documentElement.dataset.ready === 'true'", 20), "the page is there")
    ok(browser.wait("sight.judgement", 60), "the diagnosis is there")
    rest(browser)
    browser.screenshot(f"{pictures}/edge_{kind}.png")
    check(browser)
    for tab in TABS:
        browser.click(f"#tab-{tab}")
        ok(browser.wait(f"document.getElementById('panel-{tab}').hasChildNodes()", 20), f"the tab {tab} says something")
    browser.press("..wd0")
    rest(browser)
    fault = browser.run("const fault = document.querySelector('.fault'); return fault.hidden ? '' : fault.textContent")
    ok(not fault, "no fault is reported", fault)
    said = browser.console()
    ok(not said, "the console is silent", said)
print(f"# {time.monotonic() - began:.1f} s", flush=True)
