# SPDX-License-Identifier: BSD-3-Clause
"""page_numbers.py PRINT_NUMBERS PAGE: the page writes numbers as the program does, also those in the middle between two roundings.
The functions of the page are run by Node.js, or in the browser."""
import json
import random
import shutil
import subprocess
import sys

from webdriver import Browser

program, page = sys.argv[1:3]
random.seed(9)
lines = [("time", time) for time in (0, 1, -1, 999, 1000, 831600000000000, 9_999_499_999_999, 9_999_500_000_000)]
for unit in (1, 10**3, 10**6, 10**9, 3_600 * 10**9, 86_400 * 10**9):  # in the middle: eighths and sixteenths
    lines += [("time", round(k * unit / parts)) for k in range(1, 17_000, 7) for parts in (8, 16)]
lines += [("time", random.choice((1, -1)) * int(10 ** random.uniform(0, 15.9))) for _ in range(5000)]
lines += [("bytes", int(10 ** random.uniform(0, 18))) for _ in range(3000)]
lines += [("bytes", k * 125 * 10**power) for k in range(1, 90) for power in range(0, 13, 3)]
lines += [("share", k / 1600) for k in range(1601)] + [("share", random.random() ** 3) for _ in range(3000)]
for kind in ("value:", "value:Hz", "value:kHz", "value:B", "value:ns", "rate:", "rate:B", "rate:uJ"):
    lines += [(kind, random.choice((1, -1)) * k / 2**power) for k in range(1, 40) for power in range(0, 30, 3)]
    lines += [(kind, random.choice((1, -1)) * 10 ** random.uniform(-6, 13)) for _ in range(500)]

numbers = "".join(f"{kind} {number!r}\n" for kind, number in lines)
texts = subprocess.run([program], input=numbers, capture_output=True, text=True, check=True).stdout.splitlines()
source = "class Timeline {}\n" + "".join(open(f"{page}/{name}.js").read() for name in ("text", "counters")) + """
const shown = { time: duration, bytes: byteSize, share: percent };
const textOf = ([kind, value]) => (shown[kind] || ((number) => counterText({ sum: kind[0] === 'r', unit: kind.split(':')[1] }, number)))(value);
"""
if shutil.which("node"):
    script = source + f"process.stdout.write(JSON.stringify({json.dumps(lines)}.map(textOf)))"
    got = json.loads(subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True).stdout)
else:
    with Browser(400, 300) as browser:
        got = browser.run(source + "return arguments[0].map(textOf)", lines)
wrong = [(line, text, there) for line, text, there in zip(lines, texts, got) if text != there.replace("\u00a0", " ")]
for line, text, there in wrong[:10]:
    print("#", *line, "is", text, "and on the page", there)
print("#", len(lines), "numbers")
sys.exit(bool(wrong) or len(texts) != len(lines) or len(got) != len(lines))
