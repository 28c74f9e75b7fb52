# SPDX-License-Identifier: BSD-3-Clause
"""report.py SMALL LARGE: the timeline inside reports, in a real browser: one that holds every state, one that holds tiles (if
it is there). Prints "ok NAME" or "not ok NAME"."""
import os
import sys

from webdriver import Browser


def ok(good, name, got=""):
    print("ok" if good else "not ok", name, flush=True)
    if not good:
        print("#", got, flush=True)


def opened(browser, path):
    browser.open("file://" + os.path.abspath(path))
    browser.requests()
    ready = browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("sight.timeline.frame.scrollIntoView(); return new Promise((done) => setTimeout(done, 600))")
    return ready


with Browser(1200, 900) as browser:
    ok(opened(browser, sys.argv[1]), "a small report has a timeline")
    ok(browser.run("return sight.timeline.scene.isExact"), "it holds every state")
    counts = browser.run("return Object.fromEntries(sight.states.ofRun.states.map((s) => [sight.source.meta.states[s.state].name, s.count]))")
    browser.run("sight.states.setScope('view')")
    browser.wait("sight.states.statistics && sight.states.statistics !== sight.states.ofRun")
    seen = browser.run("return Object.fromEntries(sight.states.statistics.states.map((s) => [sight.source.meta.states[s.state].name, s.count]))")
    ok(counts == seen and counts, "its counts are those of the metrics", [counts, seen])
    times = browser.run("return [sight.states.ofRun, sight.states.statistics].map((all) => all.states.map((s) => s.exclusive).sort((a, b) => a - b))")
    ok(times[0] == times[1], "its times are, to the nanosecond", times)
    found = browser.run("return sight.source.search({name: 'recv', process: 5, tag: NaN, least: 0, most: Infinity}).then((r) => r.found.length)")
    ok(found > 0 and browser.run("return sight.source.search({name: 'nothing', process: NaN, tag: NaN, least: 0, most: Infinity}).then((r) => r.found.length)") == 0, "it can be searched", found)
    browser.run("return sight.setOrder('compute')")
    ok(sorted(browser.run("return sight.timeline.scene.rows")) == list(range(8)), "it can be sorted")
    top = browser.run("const before = scrollY; sight.timeline.onWheel(new WheelEvent('wheel', {deltaY: 100, cancelable: true})); const v = sight.timeline.scene.view; return v.t1 - v.t0 === Math.max(1, sight.source.meta.duration)")
    ok(top, "the wheel scrolls the page until the timeline has the focus")
    # From a finding to its charts and its time; steps back.
    links = browser.run("return [...document.querySelectorAll('#finding-1 .see a')].map((link) => [link.textContent, Boolean(document.querySelector(link.getAttribute('href')))])")
    ok(len(links) > 1 and links[-1][0] == "Timeline" and all(there for _, there in links), "a finding has links to its charts and to the timeline", links)
    browser.run("document.querySelector('#finding-1 a[data-finding]').click(); return new Promise((done) => setTimeout(done, 1500))")
    found = browser.run("const {scene} = sight.timeline; return [scene.finding === sight.judgement.findings[0], scene.view.t0 <= scene.finding.from && scene.view.t1 >= scene.finding.to]")
    ok(found == [True, True], "that link marks it there", found)
    browser.run("sight.timeline.clear(); sight.timeline.setView(sight.timeline.whole()); return new Promise((done) => setTimeout(done, 1500))")
    browser.run("sight.timeline.setView({...sight.timeline.whole(), t1: 1e7}); return new Promise((done) => setTimeout(done, 1500))")
    browser.run("history.back(); return new Promise((done) => setTimeout(done, 500))")
    ok(browser.run("return sight.timeline.scene.view.t1 === sight.source.meta.duration"), "Back undoes a zoom")
    # Narrow pages: nothing covers anything, nothing is cut.
    for width in (850, 600):
        browser.resize(width, 900)
        browser.run("return new Promise((done) => setTimeout(done, 400))")
        seen = browser.run("const bottom = document.querySelector('aside').getBoundingClientRect().bottom; return [bottom, document.querySelector('#findings').getBoundingClientRect().top, document.documentElement.scrollWidth]")
        ok(seen[0] <= seen[1] and seen[2] <= width, f"{width} pixels wide: the panel is above the next section", seen)
    # On paper the picture with its legend takes the place of the canvas.
    browser.command("Emulation.setEmulatedMedia", media="print")
    seen = browser.run("return ['timeline-picture', 'timeline-live'].map((id) => document.getElementById(id).getBoundingClientRect().height > 0)")
    ok(seen == [True, False] and "hatched: waiting" in browser.run("return document.getElementById('timeline-picture').textContent"), "in print: the timeline as a picture with its legend", seen)
    browser.command("Emulation.setEmulatedMedia", media="")
    ok(not browser.console() and not [url for url in browser.requests() if not url.startswith(("file:", "data:", "chrome:", "blob:", "about:"))], "the console is silent, nothing is loaded")

with Browser(1200, 900, script=False) as browser:
    browser.open("file://" + os.path.abspath(sys.argv[1]))
    seen = browser.command("Runtime.evaluate", returnByValue=True, expression="""(() => { const picture = document.querySelector('#timeline-picture svg');
        return [document.documentElement.dataset.ready === undefined, picture.getBoundingClientRect().height > 200,
          document.getElementById('timeline-live').getBoundingClientRect().height === 0, document.querySelectorAll('details.window svg').length > 0]; })()""")["result"]["value"]
    ok(seen == [True, True, True, True], "without JavaScript: a picture of the timeline, and of the findings' windows", seen)

if len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
    with Browser(1200, 900) as browser:
        ok(opened(browser, sys.argv[2]), "a large report has a timeline")
        ok(not browser.run("return Boolean(sight.timeline.scene.exact)") and browser.run("return sight.timeline.scene.tiles.tiles.size") > 1, "it holds tiles")
        mean = browser.run("""const {timeline} = sight, {plot} = {plot: timeline.frame.getBoundingClientRect()};
            const pen = Object.assign(document.createElement('canvas'), {width: 200, height: 100}).getContext('2d', {willReadFrequently: true});
            pen.drawImage(timeline.canvas, -300, -200); const data = pen.getImageData(0, 0, 200, 100).data; const seen = new Set();
            for (let i = 0; i < data.length; i += 4) seen.add(data[i] + ',' + data[i + 1] + ',' + data[i + 2]); return [...seen].length""")
        ok(mean > 2, "and shows them", mean)
        ok(not browser.console(), "its console is silent")
