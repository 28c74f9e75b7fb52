#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make bench: speed as ratios against bare loops of the same run, with limits beside them. Prints; judges nothing.
#   bench.sh [RECORDS]   (default 20,000,000; files of about 40 bytes a record go to TMPDIR)
set -eu
: "${SIGHT:?}" "${bench:?}" "${bench_source:?}"
records=${1:-20000000}
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-bench.XXXXXX")
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# peak_per_call TRACE -> peak bytes per MPI call of the whole diagnosis in one thread, and its MB and seconds
peak_per_call() {
    diagnosed=$(measure "$SIGHT" -j 1 "$1")
    calls=$("$bench/diagnosis" "$1" | cut -d' ' -f3)
    awk -v calls="$calls" -v kb="$(peak "$diagnosed")" 'BEGIN { printf "%.1f %.0f", kb * 1024 / calls, kb * 1024 / 1e6 }'
    echo " $(user "$diagnosed")"
}

# Least user seconds, wall seconds and peak kB of five runs: "user wall kB".
measure() {
    python3 - "$@" <<'P'
import os, subprocess, sys, time
best = None
for _ in range(5):
    start = time.monotonic()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    row = (usage.ru_utime, time.monotonic() - start, usage.ru_maxrss)
    best = row if best is None or row[0] < best[0] else best
print("%.3f %.3f %d" % best)
P
}
ratio() { # ratio A B -> A/B
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'
}
row() {
    printf '%-46s %10s %14s   %s\n' "$1" "$2" "$3" "$4"
}
user() { echo "$1" | cut -d' ' -f1; }
wall() { echo "$1" | cut -d' ' -f2; }
peak() { echo "$1" | cut -d' ' -f3; }
size() { stat -c %s "$1"; }

"$bench/generate" clog2 pingpong 64 "$records" run.clog2
"$bench/generate" clog pingpong 64 "$records" run.clog
"$SIGHT" convert -q run.clog2 -o run.alog
"$SIGHT" convert -q run.clog2 -o run.xml
"$bench/generate" clog2 pingpong 64 10000 small.clog2

printf '%s records, 64 processes; least of five runs each, files in cache\n\n' "$records"
row measured value limit what

limit=$(measure "$bench/limit" run.clog2)
metrics=$(measure "$SIGHT" metrics --format json run.clog2)
row "CLOG-2 to metrics, user time / bare loop" "$(ratio "$(user "$metrics")" "$(user "$limit")")" "" "$(user "$metrics") s / $(user "$limit") s"
row "CLOG-2 to metrics, million records/s" "$(awk -v n="$records" -v t="$(wall "$metrics")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" "" "wall, both passes"
clog=$(measure "$SIGHT" metrics --format json run.clog)
row "CLOG to metrics, million records/s" "$(awk -v n="$records" -v t="$(wall "$clog")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 20" "wall, both passes"
alog=$(measure "$SIGHT" metrics --format json run.alog)
row "ALOG to metrics, MB/s" "$(awk -v n="$(size run.alog)" -v t="$(wall "$alog")" 'BEGIN { printf "%.0f", n / t / 1e6 }')" ">= 150" "wall, both passes"
sax=$(measure "$bench/sax_limit" run.xml)
xml=$(measure "$SIGHT" metrics --format json run.xml)
row "XML to metrics, user time / empty SAX2 pass" "$(ratio "$(user "$xml")" "$(user "$sax")")" "<= 1.5" "$(user "$xml") s / $(user "$sax") s"
toxml=$(measure "$SIGHT" convert run.clog2 --format xml -o /dev/null)
row "CLOG-2 to XML, MB/s written" "$(awk -v n="$(size run.xml)" -v t="$(wall "$toxml")" 'BEGIN { printf "%.0f", n / t / 1e6 }')" ">= 300" "wall, to /dev/null"
row "XML / ALOG of the same run, bytes" "$(ratio "$(size run.xml)" "$(size run.alog)")" "<= 2.6" ""
gzip -c run.xml >run.xml.gz
row "XML packed by gzip / XML, bytes" "$(ratio "$(size run.xml.gz)" "$(size run.xml)")" "<= 0.2" ""
row "XML packed by gzip / ALOG, bytes" "$(ratio "$(size run.xml.gz)" "$(size run.alog)")" "<= 0.2" ""
small=$(measure "$SIGHT" metrics --format json small.clog2)
row "peak memory, kB, 10,000 records" "$(peak "$small")" "<= 32768" ""
row "peak memory, kB, all records" "$(peak "$metrics")" "<= 32768" ""
short=$(measure "$SIGHT" run.clog2)
row "sight TRACE / sight metrics, wall time" "$(ratio "$(wall "$short")" "$(wall "$metrics")")" "<= 1.2" "$(wall "$short") s / $(wall "$metrics") s"
steps=$("$bench/diagnosis" run.clog2)
row "matching and wait states, million records/s" "$(awk -v n="$records" -v t="${steps%% *}" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 8" "processor time, one thread, reading included"
row "critical path and one replay, million records/s" "$(echo "$steps" | awk -v n="$records" '{ printf "%.1f", n / $2 / 1e6 }')" ">= 4" "processor time, one thread, impact included"
for pattern in pingpong ring allreduce halo requests; do
    "$bench/generate" clog2 $pattern 64 "$records" waits.clog2
    used=$(peak_per_call waits.clog2)
    row "bytes a call at the peak, $pattern" "${used%% *}" "<= 40" "sight -j 1 TRACE; MB, user s: ${used#* }"
done
"$bench/generate" clog2 halo 65536 "$records" waits.clog2
used=$(peak_per_call waits.clog2)
row "bytes a call at the peak, 65,536 processes" "${used%% *}" "" "halo; 3.6 kB a process are their metrics; MB, user s: ${used#* }"
rm waits.clog2
awk -v processes=65536 -f "$bench_source/metrics.awk" >large.xml
charts=$(measure "$SIGHT" chart all large.xml -f -o charts)
row "all charts of 65,536 processes, s" "$(wall "$charts")" "< 3" "wall, from a metrics file of $(($(size large.xml) / 1000000)) MB, SVG"
report=$(measure "$SIGHT" report large.xml -f -o large.html)
row "report of 65,536 processes, s" "$(wall "$report")" "" "$(size large.html) bytes (limit 5,000,000)"
SIGHT_CACHE=$directory/cache
export SIGHT_CACHE
made=$(measure sh -c 'rm -rf "$SIGHT_CACHE"; exec "$0" timeline -q run.clog2' "$SIGHT")
row "index made, million records/s" "$(awk -v n="$records" -v t="$(wall "$made")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 5" "wall, $(peak "$made") kB"
first=$(measure "$SIGHT" timeline -q run.clog2)
row "first picture with an index, s" "$(wall "$first")" "< 2" "sight timeline"
tiles=$("$bench/tiles" run.clog2)
row "index / CLOG-2, bytes, %" "$(echo "$tiles" | cut -d' ' -f2)" "<= 10" ""
row "slowest tile of 2,000 bins, ms" "$(echo "$tiles" | cut -d' ' -f3)" "< 20" "$(echo "$tiles" | cut -d' ' -f4) times nearer; mean of 24 zooms $(echo "$tiles" | cut -d' ' -f5) ms"
if "$SIGHT" convert -q run.clog2 -o run.otf2 2>/dev/null; then
    written=$(measure "$SIGHT" convert -q -f run.clog2 -o run.otf2)
    row "CLOG-2 to OTF2, million events/s" "$(awk -v n="$records" -v t="$(user "$written")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 3" "user time"
    otf2=$(measure "$SIGHT" metrics --format json run.otf2)
    row "OTF2 to metrics, million events/s" "$(awk -v n="$records" -v t="$(user "$otf2")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 12" "user time, $(peak "$otf2") kB"
    if command -v otf2-print >/dev/null; then
        printed=$(measure otf2-print run.otf2/traces.otf2)
        row "otf2-print, times our user time" "$(ratio "$(user "$printed")" "$(user "$otf2")")" ">= 5" "$(user "$printed") s"
    fi
    "$bench/generate" clog2 ring 1024 1000000 wide.clog2
    "$SIGHT" convert -q wide.clog2 -o wide.otf2
    wide=$(measure "$SIGHT" metrics --format json wide.otf2)
    row "peak memory, kB, OTF2 of 1,024 locations" "$(peak "$wide")" "" ""
fi
for format in chrome:json paraver:prv paje:trace perfetto:pftrace; do
    written=$(measure "$SIGHT" convert -q -f --no-waits run.clog2 -o "run.${format#*:}")
    row "CLOG-2 to ${format%:*}, million events/s" "$(awk -v n="$records" -v t="$(user "$written")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 3" "user time, $(peak "$written") kB; $(($(size "run.${format#*:}") / 1000000)) MB written"
done
diagnosed=$(measure "$SIGHT" convert -q -f run.clog2 -o run.pftrace)
row "with waits and findings, times as long" "$(ratio "$(user "$diagnosed")" "$(user "$written")")" "" "user time, $(peak "$diagnosed") kB: perfetto"
for name in prv trace; do
    lines=$(wc -l <run.$name)
    read=$(measure "$SIGHT" metrics --format json run.$name)
    [ $name = prv ] && title=Paraver || title=Pajé
    row "$title to metrics, million records/s" "$(awk -v n="$lines" -v t="$(user "$read")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 8" "user time, both passes, $(peak "$read") kB"
    if [ $name = trace ] && command -v pj_dump >/dev/null; then
        dumped=$(measure pj_dump -q run.$name)
        row "pj_dump, times our user time" "$(ratio "$(user "$dumped")" "$(user "$read")")" "" "$(user "$dumped") s"
    fi
done
if "$SIGHT" --version | grep -q 'sqlite yes'; then
    SIGHT_CACHE=$directory/cache
    export SIGHT_CACHE
    "$SIGHT" timeline -q run.clog2 >/dev/null
    asked() { # asked WHAT QUERY: rows of the table / user and system time
        rows=$("$SIGHT" sql -q --format csv run.clog2 "SELECT count(*) FROM ${2#*FROM }" | tail -n 1)
        took=$(measure "$SIGHT" sql run.clog2 "$2")
        row "SQL, $1, million rows/s" "$(awk -v n="$rows" -v t="$(user "$took")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" ">= 20" "user time, $(peak "$took") kB"
    }
    asked "count(*), sum(time_s) of states" "SELECT count(*), sum(time_s) FROM states"
    asked "count(*), sum(bytes) of messages" "SELECT count(*), sum(bytes) FROM messages"
    window=$(measure "$SIGHT" sql run.clog2 "SELECT count(*), sum(time_s) FROM states WHERE enter_s BETWEEN 1 AND 1.001")
    row "SQL, a window of a ms, ms" "$(awk -v t="$(wall "$window")" 'BEGIN { printf "%.0f", t * 1000 }')" "<= 100" "wall, the program's start included"
    imported=$(measure "$SIGHT" sql -f --save run.sqlite run.clog2)
    row "SQL, all tables into a file, s" "$(user "$imported")" "" "user time, $(($(size run.sqlite) / 1000000)) MB"
    if command -v sqlite3 >/dev/null; then
        plain=$(measure sqlite3 run.sqlite "SELECT count(*), sum(time_s) FROM states")
        row "SQLite on the file, states, million rows/s" "$(awk -v n="$(sqlite3 run.sqlite 'SELECT count(*) FROM states')" -v t="$(user "$plain")" 'BEGIN { printf "%.1f", n / t / 1e6 }')" "" "user time"
    fi
fi
for tool in xmllint pj_dump vite; do
    if ! command -v "$tool" >/dev/null; then
        row "$tool" - "" "not installed"
    elif [ "$tool" = xmllint ]; then
        lint=$(measure xmllint --sax --noout run.xml)
        row "xmllint --sax --noout, times our user time" "$(ratio "$(user "$lint")" "$(user "$xml")")" "" "$(user "$lint") s"
    elif [ "$tool" = pj_dump ]; then
        paje=$(measure "$SIGHT" metrics --format json run.trace)
        dumped=$(measure pj_dump -q run.trace)
        row "pj_dump -q, times our user time" "$(ratio "$(user "$dumped")" "$(user "$paje")")" "" "$(user "$dumped") s / $(user "$paje") s, Pajé to metrics"
    else
        row "$tool" - "" "installed, but draws and does not measure"
    fi
done
