#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OTF2 archives that are damaged: their bytes, records and files are changed, and commands must come to an end that the
manual knows, whatever libotf2 makes of it.

    archives.py SIGHT ARCHIVE... [--count N] [--first N] [--keep DIR] [--seconds S] [--megabytes M] [--every]

ARCHIVE is the directory of an archive. Mutant N of the same archives is always the same one; one command is run with it,
or with --every all of them. SIGHT may be built with AddressSanitizer: then a crash is looked at again, and whether it is
one of libotf2. Of each run is demanded:
 * exit code 0, 3 or 4 (3: with its output, 4: without), within S seconds of processor time and M megabytes;
 * with 3 and 4 one line, which begins with "sight: " and names the mutant;
 * no other file is left."""
import argparse
import collections
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

# The files of an archive are chunks: a byte, the order of bytes, two numbers of events. Records are a type, a length
# (of one byte, or 255 and eight bytes) and numbers, each the count of its bytes and then these; a record of type 5, of
# eight bytes without a length, stands before those of its time.
CHUNK, CHUNK_HEADER, CHUNK_END, FILE_END, TIME = 3, 18, 2, 1, 5
NUMBERS = [0, 1, 2, 3, 7, 127, 128, 255, 256, 65535, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**40, 2**63 - 1,
           2**63, 2**64 - 2]


def records(data):
    """(begin of a record, of its contents, end) of those that can be found without knowing types."""
    found, at = [], 0
    while at < len(data):
        if data[at] == CHUNK:
            at += CHUNK_HEADER
        elif data[at] == TIME:
            at += 9
        elif data[at] < 10:
            at += 1
        elif at + 1 < len(data):
            begin, length = at + 2, data[at + 1]
            if length == 255 and at + 10 <= len(data):
                begin, length = at + 10, struct.unpack_from("<Q", data, at + 2)[0]
            if begin + length > len(data):
                break
            found.append((at, begin, begin + length))
            at = begin + length
        else:
            break
    return found


def compressed(number):
    if number == 2**64 - 1:
        return b"\xff"
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "little")


def numbers_of(contents):
    """Where numbers may stand in a record: (begin, end)."""
    found, at = [], 0
    while at < len(contents):
        size = contents[at] if contents[at] <= 8 else 0
        found.append((at, min(at + 1 + size, len(contents))))
        at += 1 + size
    return found


def put_record(data, begin, end, kind, contents):
    """The record in place of what is there, with the length that it has."""
    length = bytes([len(contents)]) if len(contents) < 255 else b"\xff" + struct.pack("<Q", len(contents))
    data[begin:end] = bytes([kind]) + length + contents


def change_number(rng, data, all_records):
    begin, contents, end = rng.choice(all_records)
    places = numbers_of(data[contents:end])
    if not places:
        return
    at, after = rng.choice(places)
    number = compressed(rng.choice(NUMBERS + [2**64 - 1, rng.randrange(20), rng.randrange(2**rng.randrange(1, 64))]))
    put_record(data, begin, end, data[begin], bytes(data[contents:contents + at]) + number +
               bytes(data[contents + after:end]))


def change_record(rng, data):
    """One change that keeps the records readable, or nearly."""
    found = records(data)
    what = rng.randrange(8)
    if not found or what == 0:
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
        return
    begin, contents, end = rng.choice(found)
    other_begin, other_contents, other_end = rng.choice(found)
    if what <= 3:
        change_number(rng, data, found)
    elif what == 4:
        data[begin] = rng.randrange(80)
    elif what == 5:
        data[begin + 1] = rng.choice([0, 1, 254, 255, rng.randrange(256)])
    elif what == 6:
        # A record again, elsewhere: definitions that contradict each other, events out of their order.
        data[begin:begin] = data[other_begin:other_end]
    elif rng.random() < 0.5:
        del data[begin:end]
    else:
        put_record(data, begin, end, data[begin], bytes(data[other_contents:other_end]))


def change_times(rng, data):
    places = [at for at in range(len(data) - 9) if data[at] == TIME]
    for at in rng.sample(places, min(len(places), rng.choice([1, 1, 3, 20]))):
        struct.pack_into("<Q", data, at + 1, rng.choice(NUMBERS + [2**64 - 1, rng.randrange(2**64)]))


def change_file(rng, data):
    data = bytearray(data)
    what = rng.randrange(10)
    if what <= 4:
        for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
            change_record(rng, data)
    elif what <= 6 and data:
        for _ in range(rng.choice([1, 1, 2, 4])):
            data[rng.randrange(min(len(data), rng.choice([24, 10**9])))] = rng.choice([0, 255, rng.randrange(256)])
    elif what == 7:
        change_times(rng, data)
    elif what == 8:
        del data[rng.randrange(len(data) + 1):]
    else:
        at = rng.randrange(len(data) + 1)
        data[at:at] = rng.choice([b"\0" * rng.choice([1, 8, 5000]), bytes(data), rng.randbytes(rng.randrange(1, 300))])
    return bytes(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def change_files(rng, files):
    """Files that are missing, empty, exchanged or something else."""
    one, other = rng.choice(files), rng.choice(files)
    what = rng.randrange(6)
    if what == 0:
        os.remove(one)
    elif what == 1:
        write(one, b"")
    elif what == 2:
        first, second = read(one), read(other)
        write(one, second)
        write(other, first)
    elif what == 3:
        write(one, read(other))
    elif what == 4:
        os.remove(one)
        os.mkdir(one)
    else:
        os.remove(one)
        os.symlink(rng.choice(["/dev/null", "/dev/zero", os.path.basename(one), os.path.basename(other)]), one)


def make_mutant(rng, archives, path):
    """Returns what was changed."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(rng.choice(archives), path, copy_function=shutil.copyfile)
    for place, directories, _ in os.walk(path):
        for name in [".", *directories]:
            os.chmod(os.path.join(place, name), 0o755)
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(path) for name in names
                   if name.endswith((".otf2", ".def", ".evt")))
    if rng.random() < 0.1:
        change_files(rng, files)
        return "files"
    # The anchor and the definitions of all are two files beside many.
    heads = [file for file in files if os.path.dirname(file) == path]
    changed = set()
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        file = rng.choice(heads if rng.random() < 0.4 else files)
        write(file, change_file(rng, read(file)))
        changed.add(os.path.relpath(file, path))
    return " ".join(sorted(changed))


COMMANDS = [[], ["info", "-v"], ["metrics", "--format", "json"], ["convert", "-q", "-o", "out.xml"],
            ["convert", "-q", "-o", "out.otf2"], ["metrics", "--fix-clocks", "--format", "xml", "-o", "out.metrics"]]
ASAN = "allocator_may_return_null=1:detect_leaks=0:exitcode=99"
ENTRY = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ (?:in (\S+) )?(.*)$", re.MULTILINE)


class Runs:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.codes = collections.Counter()
        self.crashes = self.faults = 0
        self.most_seconds = self.most_megabytes = (0, 0)  # and the mutant

    def limit(self):
        seconds = self.options.seconds
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    def run(self, arguments, asan=ASAN):
        """Exit code, standard error, seconds of processor time, megabytes."""
        environment = dict(os.environ, SIGHT_CACHE=os.path.join(self.directory, "cache"), LC_ALL="C", ASAN_OPTIONS=asan,
                           UBSAN_OPTIONS="halt_on_error=1:exitcode=98", TMPDIR=os.path.join(self.directory, "tmp"))
        with open(os.path.join(self.directory, "errors"), "w+b") as errors:
            child = subprocess.Popen([self.options.sight, *arguments], stdin=subprocess.DEVNULL, cwd=self.directory,
                                     stdout=subprocess.DEVNULL, stderr=errors, env=environment, preexec_fn=self.limit)
            # A process that waits uses no processor time: it is ended after some minutes.
            end = time.monotonic() + 60 * self.options.seconds
            status, usage = None, None
            while status is None and time.monotonic() < end:
                pid, result, usage = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    status = result
                else:
                    time.sleep(0.002)
            if status is None:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            text = errors.read().decode("utf-8", "replace")
        return child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def whose_crash(self, arguments):
        """With AddressSanitizer: the first function of the crash that is ours before any of libotf2, or None."""
        _, errors, _, _ = self.run(arguments, ASAN + ":handle_segv=2:handle_abort=2:handle_sigbus=2:handle_sigfpe=2")
        for function, place in ENTRY.findall(errors):
            if "libotf2" in place or function.startswith("otf2_") and "/src/" not in place:
                return None
            if "/src/" in place and "sanitizer" not in place:
                return "%s %s" % (function, place)
        return None

    def problem(self, number, command):
        arguments = [*command[:1], "mutant", *command[1:]]
        outputs = [word for word in command if word.startswith("out.")]
        code, errors, seconds, megabytes = self.run(arguments)
        self.codes[code] += 1
        self.most_seconds = max(self.most_seconds, (seconds, number))
        self.most_megabytes = max(self.most_megabytes, (megabytes, number))
        lines = errors.splitlines()
        left = set(os.listdir(self.directory)) - {"mutant", "errors", "cache", "tmp"}
        written = left & set(outputs)
        left |= {"tmp/" + name for name in os.listdir(os.path.join(self.directory, "tmp"))}
        for name in left:
            path = os.path.join(self.directory, name)
            (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
        if code not in (0, 3, 4):
            return "exit code %d: %s" % (code, errors[-3000:])
        if code and (len(lines) != 1 or not lines[0].startswith("sight: mutant")):
            return "exit code %d, but not one line with the archive's name: %r" % (code, errors[-3000:])
        if not code and lines:
            return "exit code 0, but says %r" % errors[-3000:]
        if any(ord(letter) < 32 and letter != "\n" for letter in errors):
            return "control characters on standard error: %r" % errors[-300:]
        if left - written or (bool(written) != (code != 4) and outputs):
            return "exit code %d, and these files: %s" % (code, " ".join(sorted(left)) or "none")
        if megabytes > self.options.megabytes:
            return "%.0f MB" % megabytes
        if "libotf2 crashed" in errors:
            self.crashes += 1
            ours = self.whose_crash(arguments)
            if ours:
                return "a crash of ours: " + ours
        return None

    def mutant(self, number):
        rng = random.Random(number)
        changed = make_mutant(rng, self.options.archives, os.path.join(self.directory, "mutant"))
        for command in COMMANDS if self.options.every else [rng.choice(COMMANDS)]:
            problem = self.problem(number, command)
            if problem:
                self.faults += 1
                print("# mutant %d (%s): sight %s: %s" % (number, changed, " ".join(command), problem), flush=True)
                if self.options.keep:
                    kept = os.path.join(self.options.keep, "mutant-%d" % number)
                    shutil.copytree(os.path.join(self.directory, "mutant"), kept, symlinks=True, dirs_exist_ok=True)

    def summary(self):
        return "%d runs (%s), %d crashes of libotf2, at most %.2f s (mutant %d) and %.0f MB (mutant %d), %d faults" % (
            sum(self.codes.values()), ", ".join("%d times %d" % (n, code) for code, n in sorted(self.codes.items())),
            self.crashes, *self.most_seconds, *self.most_megabytes, self.faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sight")
    parser.add_argument("archives", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", help="directory for mutants that show a fault")
    parser.add_argument("--every", action="store_true", help="all commands with each mutant")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=1000)
    options = parser.parse_args()
    options.sight = os.path.abspath(options.sight)
    options.archives = [os.path.abspath(archive) for archive in options.archives]
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "tmp"))
        runs = Runs(options, directory)
        for number in range(options.first, options.first + options.count):
            runs.mutant(number)
            if number % 200 == 199:
                print("# up to mutant %d: %s" % (number, runs.summary()), flush=True)
        print("# %d mutants: %s" % (options.count, runs.summary()))
    return 1 if runs.faults else 0


if __name__ == "__main__":
    sys.exit(main())
