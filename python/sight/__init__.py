# SPDX-License-Identifier: BSD-3-Clause
"""Traces of MPI programs as NumPy columns.

    import sight
    trace = sight.open("run.clog2")
    messages = trace.messages()              # a Table: columns by name
    messages["bytes"].sum()                  # NumPy arrays; times are seconds from the run's first event
    trace.calls(rank=0, begin_s=1.0, end_s=2.0).to_pandas()
    trace.sql("SELECT name, sum(time_s) FROM functions GROUP BY name")

Tables and columns are those of sight-sql(1). Texts are a Categorical: codes and categories; indexing a table with the
name of a text column gives an object array. What a trace does not record is NaN in numbers, -1 in integers, None in
texts. Needs libsight (libsight.so.1, or the file that the environment variable SIGHT_LIBRARY names) and NumPy.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._analysis import Analyses, multirun_analysis
from ._table import Categorical, SightError, Table

__all__ = ["open", "sql", "multirun_analysis", "Trace", "Table", "Categorical", "SightError"]

_TEXT, _INTEGER, _TIME, _BYTES, _NUMBER, _TRUTH = range(6)


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 512)]

    def exception(self) -> SightError:
        return SightError(self.code, self.text.decode(errors="replace"))


class _Limits(ctypes.Structure):
    _fields_ = [("from_ns", ctypes.c_int64), ("to_ns", ctypes.c_int64), ("rank", ctypes.c_int64),
                ("name", ctypes.c_char_p)]


_ROW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p),
                        ctypes.POINTER(ctypes.c_char_p))


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.environ.get("SIGHT_LIBRARY", "libsight.so.1"))
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
            ("sight_open", pointer, [text, pointer]), ("sight_close", None, [pointer]),
            ("sight_complete", number, [pointer, text, ctypes.c_size_t]),
            ("sight_version", text, []), ("sight_table_name", text, [ctypes.c_size_t]),
            ("sight_table_meaning", text, [text]), ("sight_column_name", text, [text, number]),
            ("sight_column_meaning", text, [text, number]), ("sight_column_type", number, [text, number]),
            ("sight_table", pointer, [pointer, text, pointer, pointer]), ("sight_rows_free", None, [pointer]),
            ("sight_next", number, [pointer, pointer]), ("sight_count", ctypes.c_size_t, [pointer]),
            ("sight_integers", None, [pointer, number, ctypes.c_int64, pointer]),
            ("sight_numbers", None, [pointer, number, pointer]), ("sight_codes", None, [pointer, number, pointer]),
            ("sight_code_text", text, [pointer, number, ctypes.c_int32]),
            ("sight_sql", number, [pointer, ctypes.c_size_t, text, _ROW, pointer, pointer])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
__version__: str = _library.sight_version().decode()


def _columns_of(table: str) -> List[Tuple[str, int]]:
    columns: List[Tuple[str, int]] = []
    name = _library.sight_column_name(table.encode(), 0)
    while name is not None:
        columns.append((name.decode(), _library.sight_column_type(table.encode(), len(columns))))
        name = _library.sight_column_name(table.encode(), len(columns))
    return columns


_KINDS = {_TEXT: np.int32, _INTEGER: np.int64, _TIME: np.float64, _BYTES: np.int64, _NUMBER: np.float64,
          _TRUTH: np.bool_}


class _Collected:
    """A column that grows by doubling, and is filled by the library in place."""

    def __init__(self, kind: int):
        self.kind, self.count = kind, 0
        self.values = np.empty(4096, np.int64 if kind == _TRUTH else _KINDS[kind])

    def take(self, rows: int, column: int, count: int) -> None:
        if self.count + count > len(self.values):
            self.values = np.concatenate([self.values, np.empty(max(count, len(self.values)), self.values.dtype)])
        at = self.values[self.count:].ctypes.data
        if self.kind == _TEXT:
            _library.sight_codes(rows, column, at)
        elif self.kind in (_TIME, _NUMBER):
            _library.sight_numbers(rows, column, at)
        else:
            _library.sight_integers(rows, column, -1, at)
        self.count += count

    def finish(self, rows: int, column: int) -> Any:
        values = self.values[:self.count]
        if self.kind != _TEXT:
            return values.astype(np.bool_) if self.kind == _TRUTH else values
        categories: List[str] = []
        text = _library.sight_code_text(rows, column, 0)
        while text is not None:
            categories.append(text.decode(errors="replace"))
            text = _library.sight_code_text(rows, column, len(categories))
        return Categorical(values, categories)


class Trace(Analyses):
    """A trace in any format that sight reads. What a table needs of it is read when it is first asked for."""

    def __init__(self, path: "str | os.PathLike[str]"):
        error = _Error()
        self.name = os.path.basename(os.path.normpath(os.fspath(path)))
        self._handle = _library.sight_open(os.fsencode(path), ctypes.byref(error))
        if not self._handle:
            raise error.exception()

    def close(self) -> None:
        """Frees the trace; tables that were made of it stay."""
        if getattr(self, "_handle", None):
            _library.sight_close(self._handle)
        self._handle = None

    __del__ = close

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def damage(self) -> Optional[str]:
        """What is missing or damaged of what has been read; None: nothing."""
        text = ctypes.create_string_buffer(600)
        return None if _library.sight_complete(self._handle, text, 600) else text.value.decode(errors="replace")

    def table(self, table: str, columns: Optional[List[str]] = None, rank: Optional[int] = None,
              name: Optional[str] = None, begin_s: Optional[float] = None, end_s: Optional[float] = None) -> Table:
        """A table, or some columns of it. Only rows of a process, of a function (states), or that overlap a window of
        time: what cannot be among them is not read, so that others may come with them only where the table has no
        such column."""
        every = _columns_of(table)
        if not every:
            raise SightError(2, "there is no table '%s'" % table)
        known = [column for column, _ in every]
        for column in columns or []:
            if column not in known:
                raise SightError(2, "table %s has no column '%s'" % (table, column))
        limits = _Limits(-2**63 if begin_s is None else int(begin_s * 1e9), 2**63 - 1 if end_s is None else int(end_s * 1e9),
                         -1 if rank is None else rank, None if name is None else name.encode())
        error = _Error()
        rows = _library.sight_table(self._handle, table.encode(), ctypes.byref(limits), ctypes.byref(error))
        if not rows:
            raise error.exception()
        try:
            wanted = [(index, column, _Collected(kind)) for index, (column, kind) in enumerate(every)
                      if columns is None or column in columns]
            more = _library.sight_next(rows, ctypes.byref(error))
            while more > 0:
                count = _library.sight_count(rows)
                for index, _, collected in wanted:
                    collected.take(rows, index, count)
                more = _library.sight_next(rows, ctypes.byref(error))
            if more < 0:
                raise error.exception()
            return Table({column: collected.finish(rows, index) for index, column, collected in wanted})
        finally:
            _library.sight_rows_free(rows)

    def sql(self, query: str) -> Table:
        """The answer to a query in SQL (sight-sql(1)). Numbers become NumPy arrays where a column has only numbers."""
        return sql([self], query)

    def states(self, **limits: Any) -> Table:
        """Every instance of a function or state: rank, thread, name, enter_s, leave_s, ..."""
        return self.table("states", **limits)

    def calls(self, **limits: Any) -> Table:
        """Calls of MPI, with their waiting."""
        return self.table("calls", **limits)

    def messages(self, **limits: Any) -> Table:
        """Messages: source, destination, tag, bytes, send_s, receive_s, communicator, ..."""
        return self.table("messages", **limits)

    def waits(self, **limits: Any) -> Table:
        """Waits, with whom they are for."""
        return self.table("waits", **limits)

    def metrics(self) -> Table:
        """Each function on each process: count, time_s, exclusive_s, ..."""
        return self.table("functions")

    def processes(self) -> Table:
        """Each process: communication_s, compute_s, messages and bytes."""
        return self.table("processes")

    def findings(self) -> Table:
        """What the diagnosis says, the largest saving first."""
        return self.table("findings")


def sql(traces: Sequence[Trace], query: str) -> Table:
    """The answer to a query in SQL over several traces, which the column `run` of each table tells apart."""
    names: List[str] = []
    values: List[List[Optional[str]]] = []

    def take(_: Any, count: int, titles: Any, texts: Any) -> int:
        if not names:
            names.extend(titles[i].decode() for i in range(count))
            values.extend([] for _ in range(count))
        for i in range(count):
            values[i].append(None if texts[i] is None else texts[i].decode(errors="replace"))
        return 0

    if not all(trace._handle for trace in traces):
        raise SightError(2, "a trace is closed")
    error = _Error()
    handles = (ctypes.c_void_p * len(traces))(*(trace._handle for trace in traces))
    if _library.sight_sql(handles, len(traces), query.encode(), _ROW(take), None, ctypes.byref(error)) != 0:
        raise error.exception()
    return Table({name: _as_array(column) for name, column in zip(names, values)})


def _as_array(texts: List[Optional[str]]) -> np.ndarray:
    known = [text for text in texts if text is not None]
    try:
        if len(known) == len(texts):
            return np.array([int(text) for text in known], np.int64)
    except ValueError:
        pass
    try:
        return np.array([np.nan if text is None else float(text) for text in texts], np.float64)
    except ValueError:
        return np.array(texts, dtype=object)


def open(path: "str | os.PathLike[str]") -> Trace:  # noqa: A001
    """Opens a trace: a file in any format, or a directory of the local files of one run."""
    return Trace(path)
