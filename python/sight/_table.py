# SPDX-License-Identifier: BSD-3-Clause
"""Tables of columns."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Tuple

import numpy as np

from . import _arrow


class SightError(Exception):
    """A trace that cannot be read, a table that there is not, or a query that is wrong. `code` as of sight(1)."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


class Categorical:
    """A column of texts: `codes` (int32, -1: not known) are indices of `categories`."""

    def __init__(self, codes: np.ndarray, categories: List[str]):
        self.codes, self.categories = codes, categories

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        texts = np.array([*self.categories, None], dtype=object)
        return texts[self.codes]

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """Arrow's C data interface: a dictionary array."""
        return _arrow.column_capsules(self)

    def __eq__(self, text: object) -> np.ndarray:  # type: ignore[override]
        return self.codes == (self.categories.index(text) if text in self.categories else -2)


class Table:
    """Columns of equal length by name. `table["bytes"]` is a NumPy array, `table.column("name")` of texts a
    Categorical.

    Whatever takes tables by Arrow's C data interface takes this one: polars.DataFrame(table), pyarrow.table(table),
    pandas.DataFrame.from_arrow(table). Numbers are not copied; texts that come as codes stay codes (a dictionary), truths
    become bits, None is null."""

    def __init__(self, columns: Dict[str, Any]):
        self._columns = columns

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return list(self._columns)

    def column(self, name: str) -> Any:
        """A NumPy array, or a Categorical of texts."""
        return self._columns[name]

    def __getitem__(self, name: str) -> np.ndarray:
        column = self._columns[name]
        return np.asarray(column) if isinstance(column, Categorical) else column

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __repr__(self) -> str:
        return "<sight.Table: %d rows of %s>" % (len(self), ", ".join(self._columns))

    def rows(self) -> List[Tuple[Any, ...]]:
        """All rows as tuples."""
        return list(zip(*(self[name].tolist() for name in self._columns)))

    def __arrow_c_schema__(self) -> Any:
        """Arrow's C data interface: names and types."""
        return _arrow.schema_capsule(self._columns)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """Arrow's C data interface: one array of structs."""
        return _arrow.array_capsules(self._columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface: one table."""
        return _arrow.stream_capsule(self._columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, which shares the numbers; texts become category columns."""
        import pandas
        return pandas.DataFrame({
            name: pandas.Categorical.from_codes(column.codes, column.categories)
            if isinstance(column, Categorical) else column for name, column in self._columns.items()}, copy=False)
