# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests: TAP output and a directory of their own. SIGHT and srcdir come from make check; by hand:
#   SIGHT=build/sight srcdir=. sh tests/cli/exit_codes.test
: "${SIGHT:?}" "${srcdir:?}"
samples=$srcdir/samples
directory=$(mktemp -d "${TMPDIR:-/tmp}/sight-test.XXXXXX")
trap 'rm -rf "$directory"' EXIT
SIGHT_CACHE=$directory/cache
export SIGHT_CACHE
# Recordings are the same every time: samples come by chance. record_samples.test has them.
SIGHT_RECORD_SAMPLES=0
export SIGHT_RECORD_SAMPLES
# SIGHT_TEST_BRIEF: the longest tests do a part of their work, since another run does all of it (tools/setup.sh). The
# recorders are the same in both runs: one MPI is enough for what is done with recordings.
: "${SIGHT_TEST_BRIEF:=}"
mpis="mpich openmpi"
[ -z "$SIGHT_TEST_BRIEF" ] || mpis=mpich
# Looking for leaks takes a third of a short command's time: in brief, not where scripts only repeat commands of others.
# And not at all what tests recorders, which are no part of the program that brief runs are made for (one built with
# sanitizers), or words, or only other data of the same commands: recordings are read in record_keep.test,
# record_pending.test, recording_formats.test and the fuzzers' corpora.
case $SIGHT_TEST_BRIEF/${0##*/} in
/*) ;;
*/record.test | */record_[cdhorsw]*.test | */record_kills.test | */record_python.test | */hangs.test | */not_stuck.test | */may_hang.test | */run_words.test | */help.test | */width.test | */completion.test | */metrics_file.test | \
    */agree.test | */metadata.test | */expectations.test | */simulate.test)
    echo "1..0 # SKIP another run has all of it"
    exit 0
    ;;
*/record*.test | */hangs.test | */chart.test | */metrics_file.test | */agree.test | */width.test | */help.test | */memory.test | */shortages.test | */completion.test | */simulate.test)
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
    export ASAN_OPTIONS
    ;;
esac
count=0
failed=0

# Where the test script called, as a comment. Only bash keeps that.
place() {
    [ -z "${BASH_VERSION:-}" ] || eval 'echo "# at $0:${BASH_LINENO[${#BASH_LINENO[@]} - 2]}"'
}

ok() { # ok RESULT(0 is good) NAME
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        place
        failed=1
    fi
}

skip() { # skip NAME WHY
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# Runs a command; code, standard output and standard error are left in $code, $directory/out and $directory/err.
run() {
    code=0
    "$@" >"$directory/out" 2>"$directory/err" </dev/null || code=$?
}

# expect_code CODE NAME COMMAND...: the exit code, and one line at most on standard error, which begins "sight: ".
expect_code() {
    want=$1
    name=$2
    shift 2
    run "$@"
    lines=$(wc -l <"$directory/err")
    result=0
    [ "$code" = "$want" ] || result=1
    [ "$lines" -le 1 ] || result=1
    [ "$lines" = 0 ] || grep -q '^sight: ' "$directory/err" || result=1
    [ "$result" = 0 ] || {
        echo "# code $code, wanted $want"
        sed 's/^/# /' "$directory/err"
    }
    ok $result "$name"
}

same() { # same NAME EXPECTED GOT
    cmp -s "$2" "$3"
    result=$?
    [ $result = 0 ] || diff "$2" "$3" | head -n 20 | sed 's/^/# /'
    [ -s "$2" ] || result=1
    ok $result "$1"
}

# Bash calls this for a command that there is not: a misspelt check must not pass as none.
command_not_found_handle() {
    echo "$1" >>"$directory/not_found"
    echo "$1: command not found" >&2
    return 127
}

finish() {
    [ ! -s "$directory/not_found" ] || ok 1 "no commands: $(sort -u "$directory/not_found" | tr '\n' ' ')"
    echo "1..$count"
    exit $failed
}
