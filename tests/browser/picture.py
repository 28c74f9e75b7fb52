# SPDX-License-Identifier: BSD-3-Clause
"""picture.py ADDRESS OUT.png: the page of `sight view` with its first finding chosen, for the documentation."""
import sys

from webdriver import Browser

with Browser(1400, 860) as browser:
    browser.open(sys.argv[1])
    browser.wait("document.documentElement.dataset.ready === 'true' && sight.judgement")
    browser.run("location.hash = 'finding=1&t=560000000-1260000000'")
    browser.run("return new Promise((done) => setTimeout(done, 1500))")
    browser.screenshot(sys.argv[2])
