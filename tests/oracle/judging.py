# SPDX-License-Identifier: BSD-3-Clause
"""What judge.py checks of a simulated run: what sight says about it, in all commands, and what must hold of that."""
import json
import re
import subprocess

from simulator import Machine

SIZE = 8
KINDS = {}


def kind(name, held=False, machine=None, comms=(), rootless=False):
    """The function gives (program, checks): checks are called with what sight said, and give what is wrong or None."""
    def add(function):
        KINDS[name] = (function, held, machine or (lambda: Machine()), comms, rootless)
        return function
    return add


class Said:
    def __init__(self, sight, path, planned, fixed, again):
        def ask(*arguments):
            done = subprocess.run([sight, *arguments], capture_output=True, text=True, check=True)
            return done.stdout
        self.ask, self.path, self.again = ask, path, again
        self.text = " ".join(ask(path).split())
        self.diagnosis = json.loads(ask(path, "--format", "json"))
        self.explained = json.loads(ask("explain", "--format", "json", path))
        self.search = " ".join(ask("search", path).split())
        self.phases = " ".join(ask("phases", path).split())
        self.heuristics_text = " ".join(ask("heuristics", path).split())
        self.heuristics = json.loads(ask("heuristics", "--format", "json", path))
        self.what_if = json.loads(ask("what-if", "--format", "json", path))
        self.findings = self.diagnosis["findings"]
        self.first = self.findings[0] if self.findings else None
        self.efficiencies = self.diagnosis["efficiencies"]
        self.run, self.fixed = planned, fixed
        self.duration = planned.duration / 1e9
        self.saved = (planned.duration - fixed.duration) / 1e9 if fixed else None


def first_is(*ids, cause=None):
    def check(said):
        if not said.first:
            return "no finding"
        by_id = {f["id"]: f for f in said.findings}
        first = said.first
        if first["id"] not in ids and first["root"] in ids:
            first = by_id[first["root"]]
        if first["id"] not in ids:
            return "first is " + said.first["id"]
        if cause is not None and first["causes"] != cause:
            return "causes are %s" % first["causes"]
        return None
    return check


def saving(low=-0.1, high=0.1):
    """Of the first finding, against the run without the problem, relative to what that saves."""
    def check(said):
        if not said.first:
            return "no finding"
        error = (said.first["saving_s"] - said.saved) / said.saved
        return None if low <= error <= high else "saving %+.0f %%" % (100 * error)
    return check


def says(*patterns):
    return lambda said: next(("does not say '%s'" % p for p in patterns if not re.search(p, said.text)), None)


def never_says(*patterns):
    def check(said):
        everything = said.text + json.dumps(said.findings)
        return next(("says '%s'" % p for p in patterns if re.search(p, everything)), None)
    return check


def search_never_says(*patterns):
    return lambda said: next(("search says '%s'" % p for p in patterns if re.search(p, said.search)), None)


def not_silent(said):
    """Below 80 % something is said, with what is lost at most."""
    if said.efficiencies["parallel"] is None or said.efficiencies["parallel"] >= 0.8:
        return "parallel efficiency %s: no such case" % said.efficiencies["parallel"]
    return "silent" if "No finding" in said.text or not said.findings else None


def clean(said):
    if said.findings:
        return "false finding " + said.first["id"]
    return None if (said.efficiencies["parallel"] or 0) >= 0.8 else "parallel efficiency %s" % said.efficiencies["parallel"]


def bounded(said):
    """No imbalance is said to save more than max - mean of computing."""
    times = [process.computed / 1e9 for process in said.run.processes]
    bound = max(times) - sum(times) / len(times)
    for finding in said.findings:
        if finding["id"] in ("compute-imbalance", "lost-time") and finding["saving_s"] > 1.05 * bound + 0.01 * said.duration:
            return "%s saves %.3f of %.3f" % (finding["id"], finding["saving_s"], bound)
    return None


ALIKE = {"compute-imbalance": "--balance"}  # what-if has a scenario for the same fix


def amounts(text):
    """All "could save up to 12.3 ms (45 %)" in a text, in its words."""
    return re.findall(r"could save up to ([\d.,]+ \S+) \(", text)


def one_number(said):
    """A fix saves the same on the first screen, in the search, heuristics, phases and what-if."""
    known = set(amounts(" ".join(said.ask("explain", said.path).split()).replace(" of the run (", " (")))
    for name in ("text", "search", "heuristics_text", "phases"):
        for amount in amounts(getattr(said, name)):
            if amount not in known:
                return "%s: %s, but findings save %s" % (name, amount, ", ".join(sorted(known)) or "nothing")
    for name in ("search", "heuristics_text"):
        if said.first and not said.first["root"] and amounts(said.text)[:1] != amounts(getattr(said, name))[:1]:
            return "%s does not have the number of the first finding" % name
    for finding in said.findings:
        option = ALIKE.get(finding["id"], "--free " + finding["id"])
        for row in said.what_if["scenarios"]:
            if row["options"] == option and abs(row["saving_s"] - finding["saving_s"]) > 0.001 * said.duration:
                return "%s: what-if %.4f, diagnosis %.4f" % (finding["id"], row["saving_s"], finding["saving_s"])
    return None


def has(identifier, cause=None, low=-0.15, high=0.15, fixed=None):
    """There is such a finding; what it saves against the run in which only that is fixed, relative."""
    def check(said):
        found = [f for f in said.findings if f["id"] == identifier]
        if not found:
            return "no " + identifier
        if cause is not None and found[0]["causes"] != cause:
            return "%s: causes are %s" % (identifier, found[0]["causes"])
        if fixed is None:
            return None
        saved = said.duration - said.again(fixed).duration / 1e9
        error = (found[0]["saving_s"] - saved) / saved
        return None if low <= error <= high else "%s: saving %+.0f %%" % (identifier, 100 * error)
    return check


def independent(identifier):
    """The finding is there, and does not follow from another."""
    def check(said):
        found = [f for f in said.findings if f["id"] == identifier]
        return None if found and not found[0]["root"] else "%s from %s" % (identifier, found[0]["root"] if found else "nothing")
    return check


def follows(identifier):
    """Where the finding is there it follows from another."""
    return lambda said: next(("%s stands alone" % identifier for f in said.findings
                              if f["id"] == identifier and not f["root"]), None)


def never(identifier):
    return lambda said: "false finding " + identifier if any(f["id"] == identifier for f in said.findings) else None


def begins_with_busy(said):
    """Heuristics do not send people to processes that only wait."""
    times = [process.computed for process in said.run.processes]
    mean = sum(times) / len(times)
    for heuristic in said.heuristics["heuristics"]:
        for suggestion in heuristic["suggestions"]:
            for rank in re.findall(r"process (\d+)\b", suggestion):
                if times[int(rank)] < 0.9 * mean and "less" not in suggestion and "more" not in suggestion:
                    return "%s: %s" % (heuristic["id"], suggestion)
    return None


NO_MASTER = never_says("[Tt]he workers", "[Tt]he master", "masters below", "master/worker", "hand work out",
                        "its workers", "no worker")
NO_TOKEN = never_says("token")


def bounded_by_sections(said):
    """What even work saves is no more than what is computed unevenly between any two collectives."""
    found = [f for f in said.findings if f["id"] == "compute-imbalance"]
    return "saves nearly all" if found and found[0]["saving_s"] > 0.8 * said.duration else None
