# SPDX-License-Identifier: BSD-3-Clause
"""view.py ADDRESS TRACE PICTURES: the page of `sight view` in a real browser, compared with what an independent decoder says
of the trace. Prints "ok NAME" or "not ok NAME"; leaves pictures in a folder."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import decode
from webdriver import Browser

address, trace, pictures = sys.argv[1:4]
ENTER, ESCAPE, SHIFT = "\ue007", "\ue00c", "\ue008"


def ok(good, name, got=""):
    print("ok" if good else "not ok", name, flush=True)
    if not good:
        print("#", got, flush=True)


def calls_of(path):
    """Every call of a trace without nesting: process, name, begin, end, messages [(kind, partner, tag, bytes)]."""
    open_calls, calls, begin = {}, [], None
    for event in decode.decode(path).events():
        if event.kind in ("enter", "leave", "mark", "send", "receive"):
            begin = event.time if begin is None else min(begin, event.time)
        if event.kind == "enter":
            open_calls[event.process] = [event.process, event.name, event.time, None, []]
        elif event.kind in ("send", "receive") and event.process in open_calls:
            open_calls[event.process][4].append((event.kind, event.partner, event.tag, event.bytes))
        elif event.kind == "leave" and event.process in open_calls:
            call = open_calls.pop(event.process)
            call[3] = event.time
            calls.append(call)
    for call in calls:
        call[2] -= begin
        call[3] -= begin
    return calls


def duration(ns):
    """As docs and charts write times."""
    if ns == 0:
        return "0 s"
    for limit, scale, unit in ((999.5, 1, "ns"), (999.5e3, 1e3, "µs"), (999.5e6, 1e6, "ms"), (1e18, 1e9, "s")):
        if ns < limit:
            value = ns / scale
            return f"{round(value)} ns" if unit == "ns" else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"
    return ""


def instant(ns):
    whole, rest = divmod(ns, 10**9)
    return f"{whole}.{rest:09d}"


def plain(text):
    return text.replace("\u00a0", " ").replace("\u2009", "")


calls = calls_of(trace)
browser_problems = []


def problems(browser):
    found = [line for line in browser.console()] + [url for url in browser.requests() if not url.startswith((address, "data:", "blob:", "about:", "chrome:"))]
    browser_problems.extend(found)
    return found


def point(browser, row, time):
    return browser.run("return sight.timeline.pointOf(...arguments)", row, time)


def show(browser, call, factor=3):
    """Zooms to a call by the address."""
    middle, half = (call[2] + call[3]) / 2, factor * max(call[3] - call[2], 100)
    browser.run("location.hash = arguments[0]", f"t={int(middle - half)}-{int(middle + half)}")
    browser.wait("sight.timeline.scene.isExact && !sight.timeline.fetching", 10)
    browser.run("return new Promise((done) => setTimeout(done, 300))")


def view(browser):
    return browser.run("const v = sight.timeline.scene.view; return [v.t0, v.t1, v.r0, v.r1]")


with Browser(1400, 860) as browser:
    browser.open(address)
    ok(browser.wait("document.documentElement.dataset.ready === 'true'"), "the page is there")
    ok(browser.wait("sight.judgement"), "the diagnosis is there")
    ok(browser.run("return document.title") == f"{os.path.basename(trace)} — SIGHT", "its title", browser.run("return document.title"))
    browser.run("return new Promise((done) => setTimeout(done, 600))")
    browser.screenshot(f"{pictures}/whole.png")

    # What the pointer meets is what the trace says.
    for name, kind in (("MPI_Recv", "receive"), ("MPI_Ssend", "send"), ("MPI_Barrier", None)):
        chosen = [call for call in calls if call[1] == name and call[3] - call[2] > 1e6]
        call = chosen[len(chosen) // 2]
        show(browser, call)
        place = point(browser, call[0], call[2] + (call[3] - call[2]) * 0.31)
        browser.run("sight.toggle('messages')")
        browser.act(("move", 5, 5), ("move", place["x"], place["y"] + 12))
        browser.wait("!document.querySelector('.tip').hidden", 5)
        browser.run("return new Promise((done) => setTimeout(done, 200))")
        text = plain(browser.run("return document.querySelector('.tip').innerText"))
        wanted = [f"{name}  {duration(call[3] - call[2])}", f"process {call[0]}, from {instant(call[2])} s"]
        for _, partner, tag, size in call[4]:
            wanted.append(f"{size / 1000:.1f} kB {'to' if kind == 'send' else 'from'} process {partner}, tag {tag}")
        ok(all(line in text for line in wanted), f"hovering {name}: its time, place, partner, bytes", f"{text!r} lacks one of {wanted}")
        browser.run("sight.toggle('messages')")
    browser.screenshot(f"{pictures}/hover.png")

    # A message leads to its other end.
    call = next(call for call in calls if call[1] == "MPI_Ssend" and call[0] == 3 and call[3] - call[2] > 1e7)
    partner = call[4][0][1]
    show(browser, call, 1)
    found = browser.run("""const [from, to] = arguments; const {timeline} = sight; const m = timeline.scene.exact.messages;
        const i = m.row.findIndex((row, k) => row === 3 && m.sent[k] >= from && m.sent[k] <= to);
        timeline.onClick({message: i, row: 3, state: -1});
        const s = timeline.scene.exact.states, k = timeline.scene.selected; return [s.row[k], s.from[k] <= m.received[i] && s.to[k] >= m.received[i]];""", call[2], call[3])
    ok(found == [partner, True], "a click on a message goes to its other end", found)

    # Findings.
    browser.click("button.finding")
    browser.run("return new Promise((done) => setTimeout(done, 700))")
    finding = browser.run("return sight.judgement.findings[0]")
    seen = view(browser)
    ok(seen[0] <= finding["from"] and seen[1] >= finding["to"] and browser.run("return document.querySelector('button.finding').getAttribute('aria-pressed')") == "true",
       "a click on a finding shows its time", seen)
    ok("finding=1" in browser.run("return location.hash"), "and the address has it")
    browser.click(".finding[aria-pressed=true] + .links button")
    ok(browser.wait("document.querySelector('[role=tabpanel]:not([hidden]) figure svg') && document.querySelector('#tab-timeline').ariaSelected === 'false'", 10), "from a finding to its chart")
    browser.click("#tab-timeline")
    browser.press(ESCAPE)

    # Search.
    browser.press("/")
    browser.press("MPI_Recv p 5 >50 ms" + ENTER)
    ok(browser.wait("document.querySelectorAll('.hits li').length > 0", 5), "a search finds something")
    wanted = sorted(call[2] for call in calls if call[1] == "MPI_Recv" and call[0] == 5 and call[3] - call[2] >= 50e6)
    got = browser.run("return sight.search.found.map((hit) => hit.from)")
    ok(got == wanted, "it finds what the trace has, no more and no less", f"{got} instead of {wanted}")
    browser.run("return new Promise((done) => setTimeout(done, 700))")
    selected = browser.run("const {scene} = sight.timeline; const s = scene.exact.states; return scene.selected < 0 ? null : [s.row[scene.selected], s.from[scene.selected]]")
    ok(selected == [5, wanted[0]], "and the first is selected and shown", selected)
    browser.screenshot(f"{pictures}/search.png")
    browser.press(ESCAPE)

    # Keys.
    browser.run("sight.timeline.frame.focus()")
    browser.press("0")
    browser.run("return new Promise((done) => setTimeout(done, 500))")
    whole = view(browser)
    browser.press("ww")
    near = view(browser)
    browser.press("d")
    right = view(browser)
    browser.press("a")
    left = view(browser)
    browser.press("ss")
    ok(near[1] - near[0] < 0.5 * (whole[1] - whole[0]) and right[0] > near[0] and abs(left[0] - near[0]) < 5 and view(browser)[1] - view(browser)[0] > 0.99 * (whole[1] - whole[0]), "W A S D", [whole, near, right, left])
    browser.press("..")
    ok(browser.run("return sight.timeline.scene.selected") >= 0 and "MPI_" in browser.run("return document.querySelector('[aria-live]').textContent"), "states can be gone through with keys, and are said")
    first = browser.run("return sight.timeline.scene.exact.states.row[sight.timeline.scene.selected]")
    browser.press(["\ue015"], hold=SHIFT)
    ok(browser.run("return sight.timeline.scene.exact.states.row[sight.timeline.scene.selected]") == first + 1, "and those of other processes")
    browser.press("?")
    ok(browser.run("return document.querySelector('dialog').open"), "? lists the keys")
    browser.press(ESCAPE)

    # Wheel, drag, box.
    browser.run("sight.timeline.setView(sight.timeline.whole())")
    browser.act(("move", 500, 400))
    browser.act(("wheel", 500, 400, -400))
    near = view(browser)
    ok(near[1] - near[0] < 0.6 * (whole[1] - whole[0]), "the wheel zooms", near)
    browser.act(("move", 500, 400), ("down",), ("move", 420, 400), ("move", 380, 400), ("up",))
    ok(view(browser)[0] > near[0], "dragging moves")
    before = view(browser)
    browser.run("""const frame = sight.timeline.frame, box = frame.getBoundingClientRect();
        const send = (type, x, y) => frame.dispatchEvent(new PointerEvent(type, {clientX: box.left + x, clientY: box.top + y, shiftKey: true, button: 0, pointerId: 1}));
        frame.setPointerCapture = () => {}; send('pointerdown', 300, 200); send('pointermove', 350, 300); send('pointermove', 400, 350); send('pointerup', 400, 350);""")
    browser.run("return new Promise((done) => setTimeout(done, 600))")
    after = view(browser)
    ok(after[1] - after[0] < 0.2 * (before[1] - before[0]) and after[3] - after[2] < before[3] - before[2], "Shift and dragging zooms to a box", [before, after])

    # A window's statistics against the trace.
    browser.run("sight.timeline.setView(sight.timeline.whole()); sight.timeline.setRange([500000000, 1000000000])")
    browser.wait("sight.states.statistics && sight.states.scope === 'range' && sight.states.span === 500000000", 5)
    got = {entry["name"]: entry["count"] for entry in browser.run("return sight.states.statistics.states.map((s) => ({name: sight.source.meta.states[s.state].name, count: s.count}))")}
    wanted = {}
    for call in calls:
        if 500000000 <= call[2] <= 1000000000:
            wanted[call[1]] = wanted.get(call[1], 0) + 1
    ok({name: count for name, count in got.items() if count} == wanted, "counts of a selection are the trace's", f"{got} {wanted}")
    browser.run("sight.states.choose(sight.states.statistics.states[0].state)")
    ok(browser.run("return document.querySelectorAll('.histogram .bars span').length") > 1, "a histogram of durations")
    browser.screenshot(f"{pictures}/selection.png")
    browser.press(ESCAPE)

    # Toggles, orders, the address.
    def colour(row, time):
        place = point(browser, row, time)
        return browser.run("""const {timeline} = sight; const box = timeline.frame.getBoundingClientRect(), r = timeline.ratio;
            const pen = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
            pen.drawImage(timeline.canvas, -(arguments[0] - box.left) * r, -(arguments[1] - box.top - 14) * r);
            return [...pen.getImageData(0, 0, 1, 1).data]""", place["x"], place["y"])

    call = max((call for call in calls if call[1] == "MPI_Ssend"), key=lambda call: call[3] - call[2])
    show(browser, call)
    where = (call[0], call[2] + (call[3] - call[2]) * 0.3)
    hatched = colour(*where)
    browser.run("sight.toggle('waits'); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown = colour(*where)
    ok(shown != hatched, "waiting is hatched, and can be shown without", [shown, hatched])
    browser.run("[...document.querySelectorAll('table.states input')].find((box) => box.getAttribute('aria-label') === 'show MPI_Ssend').click()")
    browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    hidden = colour(*where)
    ok(shown != hidden and "hidden=" in browser.run("sight.keepHash(); return location.hash"), "a state can be hidden, and the address has it", [shown, hidden])
    browser.run("[...document.querySelectorAll('table.states input')].find((box) => box.getAttribute('aria-label') === 'show MPI_Ssend').click()")
    chart_colour = browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--c' + sight.source.meta.states.find((s) => s.name === 'MPI_Ssend').ink).trim()")
    ok(shown[:3] == [int(chart_colour[i:i + 2], 16) for i in (1, 3, 5)], "functions have the colours of the charts", [shown, chart_colour])
    browser.run("return sight.setOrder('compute')")
    order = browser.run("return sight.timeline.scene.rows")
    ok(sorted(order) == list(range(8)) and browser.run("return location.hash.includes('order=compute')"), "rows by computing time", order)
    browser.run("return sight.setOrder('rank')")
    kept = browser.run("sight.timeline.setView({t0: 1e8, t1: 2e8, r0: 2, r1: 6}); return new Promise((done) => setTimeout(() => done(location.href), 400))")
    browser.open("about:blank")
    browser.open(kept)
    browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("return new Promise((done) => setTimeout(done, 300))")
    ok([round(value) for value in view(browser)] == [100000000, 200000000, 2, 6], "the address brings the view back", view(browser))

    # Pictures.
    svg = browser.run("return sight.timeline.svg().text()")
    ok(svg.startswith("<svg ") and "MPI_" in svg and browser.run("return new DOMParser().parseFromString(arguments[0], 'image/svg+xml').querySelector('parsererror')", svg) is None, "saved as SVG")
    ok(browser.run("return sight.timeline.png().then((blob) => [blob.type, blob.size > 5000])") == ["image/png", True], "saved as PNG")

    # Tabs.
    for tab, what in (("charts", "#panel-charts svg"), ("matrix", ".matrix span"), ("efficiency", "#panel-efficiency svg"), ("search", "#panel-search .tree li")):
        browser.click(f"#tab-{tab}")
        ok(browser.wait(f"document.querySelectorAll('{what}').length > 0", 10), f"the tab {tab}")
        browser.run("return new Promise((done) => setTimeout(done, 500))")
        browser.screenshot(f"{pictures}/{tab}.png")
    sent = {}
    for call in calls:
        for kind, partner, tag, size in call[4]:
            if kind == "send":
                pair = sent.setdefault((call[0], partner), [0, 0])
                pair[0] += 1
                pair[1] += size
    got = {(a, b): [count, size] for a, b, count, size in browser.run("return sight.source.json('matrix').then((matrix) => matrix.pairs)")}
    ok(got == sent, "the matrix is the trace's", [got, sent])
    browser.click("#tab-matrix")
    waits = browser.run("return sight.source.json('matrix').then((matrix) => [matrix.waiting, matrix.waits.reduce((sum, wait) => sum + wait[2], 0)])")
    known = browser.run("return fetch('window?from=0&to=' + sight.source.meta.duration + '&order=rank&first=0&count=8').then((answer) => answer.json()).then(({waits}) => waits.row.reduce((sum, row, i) => sum + (waits.cause[i] < 0 ? 0 : waits.to[i] - waits.from[i]), 0))")
    ok(waits[0] == waits[1] == known > 0, "its waiting time is that of the waits", [waits, known])
    for name, text in (("messages", f"{max(count for count, _ in sent.values())} messages"), ("bytes", f"{round(max(size for _, size in sent.values()) / 1000)} kB"), ("waiting time", " s")):
        browser.run("[...document.querySelectorAll('#panel-matrix .choice button')].find((button) => button.textContent === arguments[0]).click()", name)
        ends = browser.run("return [...document.querySelectorAll('.scale .ends span')].map((end) => end.textContent)")
        ok(ends[0] == "0" and text in plain(ends[2]), f"the matrix of {name} has a scale", ends)
    browser.screenshot(f"{pictures}/waiting.png")
    browser.click("#tab-timeline")

    # Rows: groups, pins; what hatching is; seconds of states.
    browser.run("sight.toggle('waits'); sight.timeline.setView(sight.timeline.whole()); sight.timeline.setGroup(2)")
    ok(browser.run("return sight.timeline.layout().lines") == 2 and "group=2" in browser.run("return location.hash"), "four processes to a line, and the address has it")
    browser.run("const {timeline} = sight; const layout = timeline.layout(); timeline.onLabel(layout.middle(1))")
    browser.run("return new Promise((done) => setTimeout(done, 600))")
    ok(view(browser)[2:] == [4, 8] and browser.run("return sight.timeline.scene.group") == 0, "a click on a group shows its processes", view(browser))
    browser.run("const {timeline} = sight; timeline.onLabel(timeline.layout().middle(6))")
    ok(browser.run("return sight.timeline.scene.pins") == [6] and "pin=6" in browser.run("return location.hash"), "a click on a rank pins its process")
    browser.run("sight.timeline.setView({...sight.timeline.whole(), r0: 0, r1: 2})")
    browser.wait("sight.timeline.scene.isExact && !sight.timeline.fetching")
    long = max((call for call in calls if call[0] == 6), key=lambda call: call[3] - call[2])
    pinned = browser.run("""const {timeline} = sight, layout = timeline.layout();
        const hit = timeline.at(layout.x(arguments[0]), layout.pins.y + 10); return [hit.row, timeline.stateLines(hit.state)[0]]""", (long[2] + long[3]) / 2)
    ok(pinned[0] == 6 and plain(pinned[1]) == f"{long[1]}  {duration(long[3] - long[2])}", "it is seen above others, to the state", pinned)
    browser.screenshot(f"{pictures}/pinned.png")
    browser.run("sight.timeline.onLabel(sight.timeline.layout().pins.y + 5)")
    ok(browser.run("return sight.timeline.scene.pins") == [], "a further click takes it back")
    browser.run("sight.timeline.frame.focus(); sight.timeline.setView({t0: 1e8, t1: 2e8, r0: 0, r1: 8})")
    browser.press("r")
    ok(browser.run("return sight.timeline.scene.range") == [1e8, 2e8] and "100" in browser.run("return sight.timeline.spoken.textContent"), "R selects the time that is seen")
    ok(">100\u00a0ms</text>" in browser.run("return sight.timeline.svg().text()"), "its length is on the axis")
    browser.press(ESCAPE)
    browser.run("sight.states.setScope('run')")
    seconds = {row[0]: row[1:] for row in browser.run("return [...document.querySelectorAll('table.states tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")}
    total = sum(call[3] - call[2] for call in calls if call[1] == "MPI_Recv")
    ok(plain(seconds["MPI_Recv"][1]) == duration(total), "states have their seconds", seconds["MPI_Recv"])

    # Steps back.
    def step(script):
        browser.run(f"{script}; return new Promise((done) => setTimeout(done, 1300))")
        return view(browser)[:2]

    step("0")
    whole = step("sight.timeline.setView(sight.timeline.whole())")
    near = step("sight.timeline.setView({t0: 3e8, t1: 4e8, r0: 0, r1: 8})")
    step("sight.timeline.setView({t0: 32e7, t1: 33e7, r0: 0, r1: 8})")
    seen = [step("history.back()"), step("history.back()"), step("history.forward()")]
    ok(seen == [near, whole, near], "Back undoes a zoom, Forward does it again", seen)

    # Speed: frames of a zoom through the whole range.
    frames = browser.run("""return new Promise((done) => { const {timeline} = sight; const times = []; let i = 0, last = performance.now();
        const whole = timeline.whole();
        const step = (now) => { times.push(now - last); last = now; if (++i > 60) return done(times.slice(2).sort((a, b) => a - b));
          const span = (whole.t1 - whole.t0) * 0.85 ** (i < 30 ? i : 60 - i); timeline.setView({...whole, t0: 5e8, t1: 5e8 + span}); requestAnimationFrame(step); };
        requestAnimationFrame(step); })""")
    middle = frames[len(frames) // 2]
    ok(middle <= 34, f"30 frames a second: {middle:.1f} ms a frame, 95 % below {frames[int(len(frames) * 0.95)]:.1f} ms")
    ok(not problems(browser), "the console is silent, nothing else is asked for", browser_problems)

with Browser(1100, 700, dark=True) as browser:
    browser.open(address)
    browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("return new Promise((done) => setTimeout(done, 600))")
    back = browser.run("return getComputedStyle(document.body).backgroundColor")
    ok(max(int(value) for value in re.findall(r"\d+", back)[:3]) < 60, "dark where the system is", back)
    browser.screenshot(f"{pictures}/dark.png")
    browser.press("t")
    back = browser.run("return getComputedStyle(document.body).backgroundColor")
    ok(min(int(value) for value in re.findall(r"\d+", back)[:3]) > 200, "T changes that", back)
    ok(not problems(browser), "dark: the console is silent", browser_problems)

with Browser(420, 800) as browser:
    browser.open(address)
    browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("return new Promise((done) => setTimeout(done, 600))")
    ok(browser.run("return document.documentElement.scrollWidth <= innerWidth") and browser.run("return sight.timeline.scene.width") > 300, "a small window: nothing is cut off", browser.run("return document.documentElement.scrollWidth"))
    browser.screenshot(f"{pictures}/small.png")
    ok(not problems(browser), "small: the console is silent", browser_problems)

with Browser(1200, 800) as browser:
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.open(address)
    browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("sight.timeline.flyTo({t0: 100, t1: 1000000})")
    ok(abs(view(browser)[1] - 1000000) < 50, "no animation for users who want reduced motion", view(browser))
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="utf-8") as file:
            axe = file.read()
        for tab in ("timeline", "charts", "matrix", "efficiency", "search"):
            browser.click(f"#tab-{tab}")
            browser.run("return new Promise((done) => setTimeout(done, 600))")
            browser.command("Page.enable")
            browser.command("Runtime.evaluate", expression=axe)
            faults = browser.run("return axe.run(document).then((result) => result.violations.map((v) => [v.impact, v.id, v.nodes[0].html.slice(0, 120)]))")
            serious = [fault for fault in faults if fault[0] in ("serious", "critical")]
            ok(not serious, f"axe finds no serious fault: {tab}", serious)
