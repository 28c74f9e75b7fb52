# SPDX-License-Identifier: BSD-3-Clause
"""Tables for other libraries without copies: Arrow's C data interface.

https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html and the capsules of
CDataInterface/PyCapsuleInterface.html. Each struct that is given away names in private_data what must live until it is
released; the one who takes it may move it, children of it as well.
"""
from __future__ import annotations

import ctypes
import itertools
from typing import Any, Dict, List, Optional, Tuple

import numpy as np


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
                    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                   ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
                   ("dictionary", ctypes.POINTER(_Array)), ("release", ctypes.c_void_p),
                   ("private_data", ctypes.c_void_p)]


class _Stream(ctypes.Structure):
    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


_NULLABLE = 2
_INVALID = 22  # EINVAL: all that can go wrong in a stream is that it was released

# What has been given away and not yet released, by private_data; memory of structs in capsules, by address.
_given: Dict[int, Any] = {}
_capsules: Dict[int, Any] = {}
_numbers = itertools.count(1)


def given_away() -> int:
    """How many structs others have that they have not released."""
    return len(_given)


def _give(structure: Any, keep: Any) -> None:
    number = next(_numbers)
    _given[number] = keep
    structure.private_data = number


def _release(kind: Any, address: int, given: Dict[int, Any] = _given) -> None:
    structure = kind.from_address(address)
    parts = [structure.children[i] for i in range(structure.n_children)]
    if structure.dictionary:
        parts.append(structure.dictionary)
    for part in parts:
        if part.contents.release:
            _release(kind, ctypes.addressof(part.contents))
    structure.release = None
    given.pop(structure.private_data, None)


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def _callback(kind: Any, function: Any) -> Tuple[Any, int]:
    """A function with its address. It is never freed: who has a struct may release it when the interpreter ends."""
    made = kind(function)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made, ctypes.cast(made, ctypes.c_void_p).value or 0


_schema_release = _callback(_RELEASE, lambda address: _release(_Schema, address))
_array_release = _callback(_RELEASE, lambda address: _release(_Array, address))


def _pointers(kind: Any, parts: List[Any]) -> Any:
    return (ctypes.POINTER(kind) * len(parts))(*(ctypes.pointer(part) for part in parts))


def _schema(form: str, name: str, children: List[_Schema] = [], dictionary: Optional[_Schema] = None) -> _Schema:
    words = form.encode(), name.encode()
    pointers = _pointers(_Schema, children)
    made = _Schema(format=words[0], name=words[1], flags=_NULLABLE if name else 0, n_children=len(children),
                   release=_schema_release[1])
    if children:
        made.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema)))
    if dictionary:
        made.dictionary = ctypes.pointer(dictionary)
    _give(made, (words, pointers, children, dictionary))
    return made


def _array(length: int, buffers: List[Optional[np.ndarray]], nulls: int = 0, children: List[_Array] = [],
           dictionary: Optional[_Array] = None) -> _Array:
    addresses = (ctypes.c_void_p * len(buffers))(*(None if one is None else one.ctypes.data for one in buffers))
    pointers = _pointers(_Array, children)
    made = _Array(length=length, null_count=nulls, n_buffers=len(buffers), n_children=len(children),
                  buffers=addresses, release=_array_release[1])
    if children:
        made.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array)))
    if dictionary:
        made.dictionary = ctypes.pointer(dictionary)
    _give(made, (addresses, buffers, pointers, children, dictionary))
    return made


def _bits(truths: np.ndarray) -> np.ndarray:
    """One bit each, the first is the lowest."""
    return np.packbits(truths, bitorder="little")


def _texts(texts: List[Optional[str]]) -> _Array:
    """Texts of type U: offsets of 64 bits."""
    data = [b"" if text is None else str(text).encode() for text in texts]
    offsets = np.zeros(len(data) + 1, np.int64)
    np.cumsum([len(one) for one in data], out=offsets[1:])
    known = np.array([text is not None for text in texts], bool)
    nulls = len(texts) - int(known.sum())
    return _array(len(data), [_bits(known) if nulls else None, offsets, np.frombuffer(b"".join(data) or b"\0", np.uint8)],
                  nulls)


_NUMBERS = {"i4": "i", "i8": "l", "f8": "g"}


def _column_schema(name: str, column: Any) -> _Schema:
    if not isinstance(column, np.ndarray):
        return _schema("i", name, dictionary=_schema("U", ""))
    return _schema("b" if column.dtype == bool else _NUMBERS.get(column.dtype.str[1:], "U"), name)


def _column_array(column: Any) -> _Array:
    if not isinstance(column, np.ndarray):  # a Categorical
        codes = np.ascontiguousarray(column.codes)
        nulls = int((codes < 0).sum())
        return _array(len(codes), [_bits(codes >= 0) if nulls else None, codes], nulls,
                      dictionary=_texts(column.categories))
    if column.dtype == bool:
        return _array(len(column), [None, _bits(column)])
    if column.dtype.str[1:] in _NUMBERS:
        return _array(len(column), [None, np.ascontiguousarray(column)])
    return _texts(column.tolist())


def _table_schema(columns: Dict[str, Any]) -> _Schema:
    return _schema("+s", "", [_column_schema(name, column) for name, column in columns.items()])


def _table_array(columns: Dict[str, Any]) -> _Array:
    length = len(next(iter(columns.values()))) if columns else 0
    return _array(length, [None], children=[_column_array(column) for column in columns.values()])


def _move(structure: Any, address: int) -> None:
    ctypes.memmove(address, ctypes.addressof(structure), ctypes.sizeof(structure))


def _stream_state(address: int) -> Any:
    return _given.get(_Stream.from_address(address).private_data or 0)


def _stream_schema(address: int, out: int) -> int:
    state = _stream_state(address)
    if state is None:
        return _INVALID
    _move(_table_schema(state[0]), out)
    return 0


def _stream_next(address: int, out: int) -> int:
    """The table at first, then an array that is already released: the end."""
    state = _stream_state(address)
    if state is None:
        return _INVALID
    columns, state[1] = state[1], None
    _move(_Array() if columns is None else _table_array(columns), out)
    return 0


def _stream_release(address: int, given: Dict[int, Any] = _given) -> None:
    stream = _Stream.from_address(address)
    given.pop(stream.private_data or 0, None)
    stream.release = None


_stream_functions = (_callback(_FILL, _stream_schema), _callback(_FILL, _stream_next),
                     _callback(_ERROR, lambda _: None), _callback(_RELEASE, _stream_release))

_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# An own prototype: others in this process may use ctypes.pythonapi's with other types.
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def _capsule(structure: Any, name: bytes, destructor: Tuple[Any, int]) -> Any:
    address = ctypes.addressof(structure)
    _capsules[address] = structure
    return _new_capsule(address, name, destructor[1])


def _destructor(kind: Any, name: bytes, release: Any) -> Tuple[Any, int]:
    def destroy(capsule: int, capsules: Dict[int, Any] = _capsules) -> None:
        address = _capsule_pointer(capsule, name)
        if kind.from_address(address).release:  # nobody has taken it
            release(address)
        capsules.pop(address, None)
    return _callback(_DESTRUCTOR, destroy)


_SCHEMA, _ARRAY, _STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"
_schema_destructor = _destructor(_Schema, _SCHEMA, lambda address: _release(_Schema, address))
_array_destructor = _destructor(_Array, _ARRAY, lambda address: _release(_Array, address))
_stream_destructor = _destructor(_Stream, _STREAM, _stream_release)


def schema_capsule(columns: Dict[str, Any]) -> Any:
    """The types of columns, a struct."""
    return _capsule(_table_schema(columns), _SCHEMA, _schema_destructor)


def array_capsules(columns: Dict[str, Any]) -> Tuple[Any, Any]:
    """Types and values of columns, as one array of structs."""
    return schema_capsule(columns), _capsule(_table_array(columns), _ARRAY, _array_destructor)


def column_capsules(column: Any) -> Tuple[Any, Any]:
    """Type and values of one column."""
    return (_capsule(_column_schema("", column), _SCHEMA, _schema_destructor),
            _capsule(_column_array(column), _ARRAY, _array_destructor))


def stream_capsule(columns: Dict[str, Any]) -> Any:
    """Columns as a stream of one table."""
    stream = _Stream(*(address for _, address in _stream_functions))
    _give(stream, [columns, columns])
    return _capsule(stream, _STREAM, _stream_destructor)
