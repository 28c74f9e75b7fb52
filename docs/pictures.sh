#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make pictures: all pictures of the documentation, from metrics files of real runs (docs/runs) and, for the gallery, of made
# ones with 2 to 65,536 processes: metrics files, and traces for the charts that need one. The report's own picture needs
# chromium and is left alone without it.
set -eu
: "${SIGHT:?}" "${srcdir:?}"
docs=$srcdir/docs
work=$(mktemp -d "${TMPDIR:-/tmp}/sight-pictures.XXXXXX")
trap 'rm -rf "$work"' EXIT
export SIGHT_CACHE="$work/cache"
traced=concurrency,findings,iterations,search,timeline

for processes in 2 16 1024 65536; do
    mkdir -p "$docs/gallery/$processes"
    awk -v processes="$processes" -f "$srcdir/tests/bench/metrics.awk" >"$work/run.xml"
    "$SIGHT" chart all "$work/run.xml" -f --format png --width 840 --height 525 -o "$docs/gallery/$processes"
    awk -v processes="$processes" -v iterations=$((processes > 10000 ? 6 : 24)) -f "$srcdir/tests/bench/trace.awk" >"$work/trace.xml"
    "$SIGHT" chart "$traced" -q "$work/trace.xml" -f --format png --width 840 --height 525 -o "$docs/gallery/$processes"
    if [ "$processes" = 16 ]; then
        mkdir -p "$docs/gallery/dark"
        "$SIGHT" chart "$traced" -q "$work/trace.xml" -f --format png --theme dark --width 840 --height 525 \
            -o "$docs/gallery/dark"
    fi
done
"$SIGHT" chart communication,activity,compute "$docs/runs/sort_good_8.xml" -f --format png --theme dark --width 840 \
    --height 525 -o "$docs/gallery/dark"

for run in sort_good_8 sort_bad_8 sieve_good_8 sieve_bad_8; do
    for chart in balance communication activity; do
        "$SIGHT" chart "$chart" "$docs/runs/$run.xml" -f -o "$docs/pictures/${run}_$chart.svg"
    done
done

for run in own_sort_good own_sort_bad own_sieve_good own_sieve_bad; do
    "$SIGHT" chart waits "$docs/runs/$run.xml" -f -o "$docs/pictures/${run}_waits.svg"
done

if command -v chromium >/dev/null; then
    "$SIGHT" report "$srcdir/samples/sort_bad_8.clog2" -o "$work/report.html"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1120,1080 --virtual-time-budget=5000 \
        --screenshot="$work/report.png" "file://$work/report.html" >/dev/null 2>&1
    mv "$work/report.png" "$docs/pictures/report.png"
fi

# The timeline of a real run, from the server itself.
if command -v chromedriver >/dev/null && command -v python3 >/dev/null && "$SIGHT" --version | grep -q 'microhttpd yes'; then
    "$SIGHT" view --no-browser "$srcdir/samples/sort_bad_8.clog2" >"$work/address" 2>/dev/null &
    server=$!
    while kill -0 "$server" && [ ! -s "$work/address" ]; do sleep 0.2; done
    python3 "$srcdir/tests/browser/picture.py" "$(cat "$work/address")" "$docs/pictures/view.png"
    kill "$server"
fi
