# SPDX-License-Identifier: BSD-3-Clause
"""A reader of Arrow's C data interface, from its text alone: structs at their offsets, as bytes of memory.

Structs are read where they are or moved, as the interface allows, and released once.
"""
import ctypes
import struct

SCHEMA, ARRAY, STREAM = "PPPqqPPPP", "qqqqqPPPPP", "PPPPP"


def pointer(capsule, name):
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return get(capsule, name)


def words(form, address):
    return list(struct.unpack("@" + form, ctypes.string_at(address, struct.calcsize("@" + form))))


def pointers(address, count):
    return words("P" * count, address)


def text(address):
    return ctypes.string_at(address).decode() if address else None


def release(address, form):
    """Calls the release of a struct, which is its last pointer but one; it must be NULL after it."""
    call = words(form, address)[-2]
    assert call, "released before"
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(call)(address)
    assert words(form, address)[-2] == 0, "release leaves itself"


def move(address, form):
    """The struct in memory of its own; the old place counts as released."""
    size = struct.calcsize("@" + form)
    memory = ctypes.create_string_buffer(ctypes.string_at(address, size), size)
    ctypes.memmove(address + size - 16, b"\0" * 8, 8)
    return memory, ctypes.addressof(memory)


def bit(address, index):
    return ctypes.string_at(address + index // 8, 1)[0] >> index % 8 & 1


def values(schema, array):
    """[(name, list of values)] of a struct; a list of values of anything else."""
    form, name, _, flags, children, child, dictionary, _, _ = words(SCHEMA, schema)
    length, nulls, offset, count, array_children, buffers, array_child, array_dictionary, _, _ = words(ARRAY, array)
    assert offset == 0 and children == array_children and length >= 0
    form, buffer = text(form), pointers(buffers, count)
    if form == "+s":
        assert count == 1 and buffer[0] == 0 and nulls == 0
        pairs = zip(pointers(child, children), pointers(array_child, children))
        return [(text(words(SCHEMA, one)[1]), values(one, other)) for one, other in pairs]
    assert flags == 2 or not text(name)
    known = [not buffer[0] or bit(buffer[0], i) for i in range(length)]
    assert nulls == known.count(0) if buffer[0] else nulls == 0
    if form == "U":
        at = words("q" * (length + 1), buffer[1])
        found = [ctypes.string_at(buffer[2] + at[i], at[i + 1] - at[i]).decode() for i in range(length)]
    elif form == "b":
        found = [bool(bit(buffer[1], i)) for i in range(length)]
    else:
        found = words({"i": "i", "l": "q", "g": "d"}[form] * length, buffer[1]) if length else []
    if dictionary:
        names = values(dictionary, array_dictionary)
        found = [names[one] if there else None for one, there in zip(found, known)]
    return [one if there else None for one, there in zip(found, known)]


def read_array(capsules):
    schema, array = pointer(capsules[0], b"arrow_schema"), pointer(capsules[1], b"arrow_array")
    return values(schema, array)


def read_moved(capsules):
    """Schema and array moved out of the capsules, the first child moved out of the array; each released in turn."""
    kept, schema = move(pointer(capsules[0], b"arrow_schema"), SCHEMA)
    memory, array = move(pointer(capsules[1], b"arrow_array"), ARRAY)
    found = values(schema, array)
    del capsules
    child, own = move(pointers(words(ARRAY, array)[6], 1)[0], ARRAY)
    release(array, ARRAY)
    first = pointers(words(SCHEMA, schema)[5], 1)[0]
    assert repr(values(first, own)) == repr(found[0][1]), "a child outlives its parent"
    release(own, ARRAY)
    release(schema, SCHEMA)
    return found


def read_stream(capsule):
    stream = pointer(capsule, b"arrow_array_stream")
    schema_of, next_of = (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(call)
                          for call in words(STREAM, stream)[:2])
    schema, array = (ctypes.create_string_buffer(struct.calcsize("@" + form)) for form in (SCHEMA, ARRAY))
    assert schema_of(stream, ctypes.addressof(schema)) == 0
    found = None
    while True:
        assert next_of(stream, ctypes.addressof(array)) == 0
        if not words(ARRAY, ctypes.addressof(array))[-2]:
            break
        assert found is None, "one table"
        found = values(ctypes.addressof(schema), ctypes.addressof(array))
        release(ctypes.addressof(array), ARRAY)
    release(ctypes.addressof(schema), SCHEMA)
    release(stream, STREAM)
    assert schema_of(stream, ctypes.addressof(schema)) != 0, "a released stream says nothing"
    return found
