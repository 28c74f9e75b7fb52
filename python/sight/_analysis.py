# SPDX-License-Identifier: BSD-3-Clause
"""What users of Pipit ask of a trace, under the names that they know, with columns and units of sight."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ._table import SightError, Table

# Pipit's words for what sight's tables call otherwise.
_METRICS = {"time.inc": "time_s", "time.exc": "exclusive_s", "time_s": "time_s", "exclusive_s": "exclusive_s",
            "count": "count"}
_VOLUMES = {"bytes": "bytes", "size": "bytes", "messages": "messages", "count": "messages"}


def _word(words: Dict[str, str], word: str, what: str) -> str:
    if word not in words:
        raise SightError(2, "there is no %s '%s': it is one of %s" % (what, word, ", ".join(words)))
    return words[word]


def _in_bins(begin: np.ndarray, end: np.ndarray, group: np.ndarray, groups: int, edges: np.ndarray) -> np.ndarray:
    """How much of intervals lies in each bin: shape (groups, bins). Bins are equally wide."""
    bins, width = len(edges) - 1, edges[1] - edges[0]
    first = np.clip(np.searchsorted(edges, begin, "right") - 1, 0, bins - 1)
    last = np.clip(np.searchsorted(edges, end, "right") - 1, 0, bins - 1)
    sums = np.zeros(groups * bins)

    def add(where: np.ndarray, bin_: np.ndarray, time: np.ndarray) -> None:
        sums[:] += np.bincount(group[where] * bins + bin_[where], time[where], groups * bins)

    within = first == last
    add(within, first, end - begin)
    add(~within, first, edges[first + 1] - begin)
    add(~within, last, end - edges[last])
    # Whole bins between them: where they begin and end to be covered, added up from the left.
    steps = np.zeros((groups, bins + 1), np.int64)
    np.add.at(steps, (group[~within], first[~within] + 1), 1)
    np.add.at(steps, (group[~within], last[~within]), -1)
    return sums.reshape(groups, bins) + np.cumsum(steps, axis=1)[:, :bins] * width


def _stacked(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Index of the innermost interval that is open where each begins; -1: none. Intervals are in the order in which
    they begin."""
    around, stack = np.full(len(begin), -1), []  # type: Tuple[np.ndarray, List[int]]
    for i in range(len(begin)):
        stack = [one for one in stack if end[one] > begin[i]]
        if stack:
            around[i] = stack[-1]
        stack.append(i)
    return around


def _around(thread: np.ndarray, depth: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Index of the state around each, of states by thread and begin: the last one before it that is one level above.
    Threads with states that do not nest go through a stack of their own."""
    around = np.full(len(begin), -1)
    for level in range(1, int(depth.max(initial=0)) + 1):
        inner, outer = np.flatnonzero(depth == level), np.flatnonzero(depth == level - 1)
        before = np.searchsorted(outer, inner) - 1
        around[inner] = np.where(before >= 0, outer[before], -1) if len(outer) else -1
    inner = depth > 0
    wrong = inner & ((around < 0) | (thread[around] != thread) | (end[around] < end))
    for one in np.unique(thread[wrong]):
        rows = np.flatnonzero(thread == one)
        found = _stacked(begin[rows], end[rows])
        around[rows] = np.where(found >= 0, rows[found], -1)
    return around


class Analyses:
    """Analyses of one trace. Times are seconds, sizes bytes."""

    def table(self, table: str, columns: Optional[List[str]] = None, **limits: Any) -> Table:
        raise NotImplementedError

    def flat_profile(self, per_process: bool = False) -> Table:
        """Each function over all processes: name, count (instances that were left), time_s (inclusive), exclusive_s;
        the longest first. `per_process`: each function on each process, with its rank."""
        rows = self.table("functions", ["rank", "name", "count", "time_s", "exclusive_s"])
        if per_process:
            return rows
        names = rows.column("name")
        sums = {column: np.bincount(names.codes, rows[column], len(names.categories)) for column in
                ("count", "time_s", "exclusive_s")}
        order = np.argsort(-sums["time_s"], kind="stable")
        return Table({"name": np.array(names.categories, dtype=object)[order],
                      "count": sums["count"][order].astype(np.int64),
                      "time_s": sums["time_s"][order], "exclusive_s": sums["exclusive_s"][order]})

    def time_profile(self, num_bins: int = 50, normalized: bool = False) -> Table:
        """Time in each function in equal parts of the run: bin_start and bin_end (s), idle_time, and a column for each
        function, as sums over all threads of the time in which it is the innermost state (s). idle_time is that in no
        state: where a trace has MPI functions only, the program's computing. `normalized`: shares of the time of all
        threads. Each column has num_bins values."""
        if num_bins < 1:
            raise SightError(2, "a time profile needs at least one bin")
        states = self.table("states", ["rank", "thread", "name", "depth", "enter_s", "leave_s"])
        threads = self.table("threads", ["rank", "thread", "kind", "end_s"])
        duration = float(self.table("runs", ["duration_s"])["duration_s"][0])
        names, begin, end = states.column("name"), states["enter_s"], states["leave_s"].copy()
        keys = threads["rank"].astype(np.int64) << 32 | threads["thread"]
        order = np.argsort(keys)
        thread = order[np.searchsorted(keys[order], states["rank"] << 32 | states["thread"])]
        # A state that is never left lasts to the end of its thread.
        never = np.isnan(end)
        end[never] = np.maximum(threads["end_s"][thread[never]], begin[never])
        order = np.lexsort((end, states["depth"], begin, thread))
        begin, end, group = begin[order], end[order], names.codes[order]
        around = _around(thread[order], states["depth"][order], begin, end)
        inner = around >= 0
        edges = np.linspace(0, max(duration, 1e-9), num_bins + 1)
        groups = len(names.categories)
        times = _in_bins(begin, end, group, groups, edges) - _in_bins(
            begin[inner], np.minimum(end[inner], end[around[inner]]), group[around[inner]], groups, edges)
        times[times < 1e-12] = 0  # of two sums that are equal but for their rounding
        count = int((~(threads.column("kind") == "metric")).sum())
        whole = (edges[1:] - edges[:-1]) * count
        profile = np.vstack([whole - times.sum(axis=0), times]) / (whole if normalized else 1)
        return Table({"bin_start": edges[:-1], "bin_end": edges[1:],
                      **dict(zip(["idle_time", *names.categories], profile))})

    def comm_matrix(self, output: str = "bytes") -> np.ndarray:
        """What each process sends to each: `output` is "bytes" (or "size") or "messages" (or "count"). Shape
        (processes, processes): row is the sender, column the receiver; int64."""
        rows = self.table("messages", ["source", "destination", "bytes"])
        size = 1 + int(max([*rows["source"], *rows["destination"]], default=-1)) if len(rows) else 0
        size = max(size, 1 + int(max(self.table("processes", ["rank"])["rank"], default=-1)))
        bytes_ = _word(_VOLUMES, output, "output") == "bytes"
        weight = np.maximum(rows["bytes"], 0) if bytes_ else np.ones(len(rows), np.int64)
        matrix = np.zeros((size, size), np.int64)
        np.add.at(matrix, (rows["source"], rows["destination"]), weight)
        return matrix

    def comm_summary(self, output: str = "bytes") -> Table:
        """What each process sends and receives: rank, sent, received; `output` as of comm_matrix."""
        matrix = self.comm_matrix(output)
        return Table({"rank": np.arange(len(matrix)), "sent": matrix.sum(axis=1), "received": matrix.sum(axis=0)})

    comm_by_process = comm_summary

    def message_histogram(self, bins: int = 20) -> Tuple[np.ndarray, np.ndarray]:
        """How many messages have which size: counts (bins) and edges in bytes (bins + 1)."""
        sizes = self.table("messages", ["bytes"])["bytes"]
        return np.histogram(sizes[sizes >= 0], bins)

    def comm_over_time(self, output: str = "bytes", bins: int = 50,
                       kind: str = "send") -> Tuple[np.ndarray, np.ndarray]:
        """Bytes or messages sent (`kind` "send") or received ("receive") over the run: values (bins) and edges in
        seconds (bins + 1); `output` as of comm_matrix."""
        when = _word({"send": "send_s", "receive": "receive_s"}, kind, "kind")
        rows = self.table("messages", [when, "bytes"])
        known = ~np.isnan(rows[when])
        duration = float(self.table("runs", ["duration_s"])["duration_s"][0])
        bytes_ = _word(_VOLUMES, output, "output") == "bytes"
        weight = np.maximum(rows["bytes"][known], 0) if bytes_ else None
        return np.histogram(rows[when][known], bins, (0, duration), weights=weight)

    def load_imbalance(self, metric: str = "time_s", num_processes: int = 1) -> Table:
        """Each function: mean_s and max_s over the processes of `metric`, "time_s" ("time.inc") or "exclusive_s"
        ("time.exc"), imbalance (their quotient), and the rank that has the most. `num_processes` above 1: also ranks,
        for each function a list of those that have most."""
        metric = _word(_METRICS, metric, "metric")
        rows = self.table("functions", ["rank", "name", metric])
        names, ranks = rows.column("name"), np.unique(self.table("processes", ["rank"])["rank"])
        times = np.zeros((len(names.categories), len(ranks)))
        np.add.at(times, (names.codes, np.searchsorted(ranks, rows["rank"])), rows[metric])
        mean, longest = times.mean(axis=1), times.max(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            quotient = longest / mean
        columns = {"name": np.array(names.categories, dtype=object), "mean_s": mean, "max_s": longest,
                   "imbalance": quotient, "rank": ranks[times.argmax(axis=1)]}
        if num_processes > 1:
            most = np.argsort(-times, axis=1, kind="stable")[:, :num_processes]
            columns["ranks"] = np.empty(len(most), dtype=object)
            columns["ranks"][:] = [ranks[one].tolist() for one in most]
        return Table(columns)

    def idle_time(self, idle_functions: Optional[Iterable[str]] = None) -> Table:
        """Each process: rank, time_s in which it waits for others; with `idle_functions` its time in these
        functions."""
        ranks = np.unique(self.table("processes", ["rank"])["rank"])
        if idle_functions is None:
            rows, column = self.table("waits", ["rank", "waiting_s"]), "waiting_s"
            chosen = np.ones(len(rows), bool)
        else:
            rows, column = self.table("functions", ["rank", "name", "time_s"]), "time_s"
            chosen = np.isin(rows["name"], list(idle_functions))
        sums = np.zeros(len(ranks))
        np.add.at(sums, np.searchsorted(ranks, rows["rank"][chosen]), rows[column][chosen])
        return Table({"rank": ranks, "time_s": sums})

    def critical_path(self) -> Table:
        """The pieces of the critical path, by time: rank, thread, begin_s, end_s, time_s."""
        return self.table("critical_path")

    critical_path_analysis = critical_path

    def iterations(self) -> Table:
        """The iterations of the main loop that sight found, as in sight-phases(1)."""
        return self.table("iterations")

    def phases(self) -> Table:
        """The phases of the run, as in sight-phases(1)."""
        return self.table("phases")

    def detect_pattern(self, start_event: str, process: int = 0) -> Table:
        """What a process (its main thread) repeats. From each enter of the function `start_event` to the next: number,
        begin_s, end_s, time_s, states (how many are entered), and pattern: pieces with the same functions in the same
        order have the same number; 0 is the most frequent. The loops that sight finds by itself: iterations()."""
        rows = self.table("states", ["rank", "thread", "name", "depth", "enter_s"], rank=process)
        chosen = (rows["rank"] == process) & (rows["thread"] == 0)
        names = rows.column("name")
        enter, code, depth = rows["enter_s"][chosen], names.codes[chosen], rows["depth"][chosen]
        order = np.lexsort((depth, enter))
        enter, code = enter[order], code[order]
        heads = np.flatnonzero((names == start_event)[chosen][order])
        if len(heads) == 0:
            raise SightError(2, "process %d has no function '%s'" % (process, start_event))
        ends = np.append(heads[1:], len(code))
        ranks = self.table("processes", ["rank", "end_s"])
        end = np.append(enter[heads[1:]], ranks["end_s"][ranks["rank"] == process][:1])
        words = [code[a:b].tobytes() for a, b in zip(heads, ends)]
        counts: Dict[bytes, int] = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        numbers = {word: i for i, word in enumerate(sorted(counts, key=lambda one: -counts[one]))}
        return Table({"number": np.arange(len(heads)), "begin_s": enter[heads], "end_s": end,
                      "time_s": end - enter[heads], "states": ends - heads,
                      "pattern": np.array([numbers[word] for word in words], np.int64)})


def multirun_analysis(traces: Sequence[Any], metric_column: str = "exclusive_s",
                      names: Optional[Sequence[str]] = None) -> Table:
    """The functions of several runs next to each other: name, and for each run a column with `metric_column`, "time_s"
    ("time.inc"), "exclusive_s" ("time.exc") or "count", as sum over its processes; 0 where a run does not have the
    function. Columns have the names of the runs, or `names`; the longest function of all runs first."""
    metric = _word(_METRICS, metric_column, "metric")
    titles = list(names) if names is not None else [trace.name for trace in traces]
    if len(titles) != len(traces) or len(set(titles)) != len(titles):
        raise SightError(2, "each run needs a name of its own: names=[...]")
    profiles = [trace.flat_profile() for trace in traces]
    every = sorted({name for profile in profiles for name in profile["name"]})
    columns = {}
    for title, profile in zip(titles, profiles):
        values = dict(zip(profile["name"], profile[metric].tolist()))
        columns[title] = np.array([values.get(name, 0) for name in every], profile[metric].dtype)
    order = np.argsort(-sum(columns.values()), kind="stable") if columns else np.arange(len(every))
    return Table({"name": np.array(every, dtype=object)[order],
                  **{title: column[order] for title, column in columns.items()}})
