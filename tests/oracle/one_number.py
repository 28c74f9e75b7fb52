#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One number for one fix: what each fix saves, wherever sight prints it.

    one_number.py SIGHT TRACE...

Compares the first screen with the explanation, heuristics, what-if (its standard scenarios, and the same ones asked for
alone), phases, the tables of sight sql, a metrics file of the run, and the texts of report and search.  Prints a line for
each difference; exits with 1 if there is any.
"""
import csv
import html
import io
import json
import re
import subprocess
import sys
import tempfile

NS = 2e-9  # times are printed in ns
BALANCE = {"compute-imbalance": "--balance"}  # the finding with a scenario of another name


class Trace:
    def __init__(self, sight, path):
        self.sight, self.path, self.different = sight, path, []
        self.diagnosis = self.json()
        self.findings = {f["id"]: f["saving_s"] for f in self.diagnosis["findings"]}

    def ask(self, *arguments):
        done = subprocess.run([self.sight, *arguments], capture_output=True, text=True, check=False)
        if done.returncode and "; used " not in done.stderr:  # an incomplete trace: what there is
            raise SystemExit("%s: %s" % (" ".join(arguments), done.stderr.strip()))
        return done.stdout

    def json(self, *command):
        return json.loads(self.ask(*command, "--format", "json", self.path))

    def compare(self, where, fix, saving_s, expected_s):
        if abs(saving_s - expected_s) > NS:
            self.different.append("%s: %s saves %.9f s, elsewhere %.9f s" % (where, fix, saving_s, expected_s))

    def same_findings(self, where, findings):
        if list(findings) != list(self.findings):
            self.different.append("%s: findings %s, not %s" % (where, list(findings), list(self.findings)))
        for finding in findings.keys() & self.findings.keys():
            self.compare(where, finding, findings[finding], self.findings[finding])

    def everywhere(self):
        for command in ("explain", "heuristics"):
            self.same_findings(command, {f["id"]: f["saving_s"] for f in self.json(command)["findings"]})
        rows = csv.DictReader(io.StringIO(
            self.ask("sql", "--format", "csv", self.path, "SELECT id, saving_s FROM findings")))
        self.same_findings("sql", {row["id"]: float(row["saving_s"]) for row in rows})
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/metrics.xml"
            self.ask("metrics", "--format", "xml", "-o", path, self.path)
            again = json.loads(self.ask(path, "--format", "json"))
            self.same_findings("metrics file", {f["id"]: f["saving_s"] for f in again["findings"]})

    def scenarios(self):
        for row in self.json("what-if")["scenarios"]:
            option = row["options"]
            for finding, saving_s in self.findings.items():
                if option == BALANCE.get(finding, "--free " + finding):
                    self.compare("what-if", finding, row["saving_s"], saving_s)
            if option == "--balance" or re.match("--free [a-z]|--speed-up", option):
                alone = self.json("what-if", *option.split(" "))["scenarios"][0]
                self.compare("what-if " + option, "it", alone["saving_s"], row["saving_s"])

    def iterations(self):
        iterations = self.json("phases").get("iterations") or {}
        finding = self.findings.get("dynamic-imbalance")
        if finding is not None and iterations.get("saving_s") is not None:
            self.compare("phases", "dynamic-imbalance", iterations["saving_s"], finding)

    def texts(self):
        """Each amount in the texts is that of a finding."""
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/report.html"
            self.ask("report", self.path, "-o", path)
            with open(path, encoding="utf-8") as file:
                report = html.unescape(re.sub("<[^>]*>", " ", file.read()))
        known = self.amounts(" ".join(self.ask("explain", self.path).split()).replace(" of the run (", " ("))
        for where, text in (("report", report), ("search", self.ask("search", self.path)),
                            ("first screen", self.ask(self.path)), ("phases", self.ask("phases", self.path))):
            for amount in self.amounts(text) - known:
                self.different.append("%s: could save %s, not among %s" % (where, amount, sorted(known)))

    @staticmethod
    def amounts(text):
        return set(re.findall(r"could save (?:up to )?([\d.,]+ \S+) \(", " ".join(text.split())))


def main():
    wrong = 0
    for path in sys.argv[2:]:
        trace = Trace(sys.argv[1], path)
        for check in (trace.everywhere, trace.scenarios, trace.iterations, trace.texts):
            check()
        for line in trace.different:
            print("%s: %s" % (path, line))
        wrong += bool(trace.different)
    print("%d of %d traces have one number for one fix" % (len(sys.argv) - 2 - wrong, len(sys.argv) - 2))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
