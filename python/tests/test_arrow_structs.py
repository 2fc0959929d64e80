"""Structs of the Arrow C data interface that contradict themselves. Real libraries do not make them, so
they are built here, field by field."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, Callable

import pytest

import robosieve

AGENT = "GPTBot"
URLS = [b"https://shop.example/", b"https://shop.example/x"]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


@_release
def _released_schema(schema: int) -> None:
    ctypes.cast(schema, ctypes.POINTER(ArrowSchema)).contents.release = None


@_release
def _released_array(array: int) -> None:
    ctypes.cast(array, ctypes.POINTER(ArrowArray)).contents.release = None


#: Structs and buffers live as long as the tests: a consumer may keep their addresses.
_alive: list[Any] = []


def _kept(value: Any) -> Any:
    _alive.append(value)
    return value


def _addresses(struct: Any, values: list[Any]) -> Any:
    pointers = [ctypes.pointer(value) if value is not None else None for value in values]
    return _kept((ctypes.POINTER(struct) * len(values))(*pointers))


class Column:
    """A column of the type string with two URLs, whose fields a test changes."""

    def __init__(self) -> None:
        text = b"".join(URLS)
        ends = [0, len(URLS[0]), len(text)]
        self.offsets = _kept((ctypes.c_int32 * 3)(*ends))
        self.text = _kept(ctypes.create_string_buffer(text))
        self.schema = _kept(ArrowSchema(format=b"u", release=ctypes.cast(_released_schema, ctypes.c_void_p)))
        self.array = _kept(
            ArrowArray(length=2, n_buffers=3, release=ctypes.cast(_released_array, ctypes.c_void_p))
        )
        self.set_buffers(None, ctypes.addressof(self.offsets), ctypes.addressof(self.text))

    def set_buffers(self, *addresses: int | None) -> None:
        self.array.buffers = _kept((ctypes.c_void_p * len(addresses))(*addresses))
        self.array.n_buffers = len(addresses)

    def set_children(self, schemas: list[Any], arrays: list[Any]) -> None:
        self.schema.n_children, self.schema.children = len(schemas), _addresses(ArrowSchema, schemas)
        self.array.n_children, self.array.children = len(arrays), _addresses(ArrowArray, arrays)

    def into_table(self) -> Column:
        """A table with this column."""
        table = Column()
        table.schema.format = b"+s"
        table.set_buffers(None)
        table.set_children([self.schema], [self.array])
        return table

    def into_dictionary(self) -> Column:
        """A dictionary of this column."""
        keys = _kept((ctypes.c_int8 * 2)(1, 0))
        column = Column()
        column.schema.format = b"c"
        column.set_buffers(None, ctypes.addressof(keys))
        column.schema.dictionary = ctypes.pointer(self.schema)
        column.array.dictionary = ctypes.pointer(self.array)
        return column

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        schema = _new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None)
        return schema, _new_capsule(ctypes.addressof(self.array), b"arrow_array", None)


def test_structs_of_these_tests_are_columns(snapshot: robosieve.Snapshot) -> None:
    expected = snapshot.verdicts(URLS, AGENT)
    assert list(snapshot.verdicts(Column(), AGENT)) == expected
    assert list(snapshot.verdicts(Column().into_table(), AGENT)) == expected
    assert list(snapshot.verdicts(Column().into_dictionary(), AGENT)) == expected[::-1]


def _array(**fields: Any) -> Callable[[Column], Column]:
    def change(column: Column) -> Column:
        for name, value in fields.items():
            setattr(column.array, name, value)
        return column

    return change


def _schema(**fields: Any) -> Callable[[Column], Column]:
    def change(column: Column) -> Column:
        for name, value in fields.items():
            setattr(column.schema, name, value)
        return column

    return change


def _null_column(column: Column) -> Column:
    column.schema.format = b"n"
    column.set_buffers()
    column.array.length = 1 << 62
    return column


def _without_offsets(column: Column) -> Column:
    column.set_buffers(None, None, ctypes.addressof(column.text))
    return column


def _without_text(column: Column) -> Column:
    column.set_buffers(None, ctypes.addressof(column.offsets), None)
    return column


def _negative_end(column: Column) -> Column:
    column.offsets[2] = -5
    return column


def _views(format: bytes, lengths: int | None, *, buffers: int = 4) -> Callable[[Column], Column]:
    def change(column: Column) -> Column:
        views = _kept((ctypes.c_int32 * 8)(*[1, 0, 0, 0] * 2))
        sizes = _kept((ctypes.c_int64 * 1)(lengths or 0))
        last = None if lengths is None else ctypes.addressof(sizes)
        column.schema.format = format
        column.set_buffers(*[None, ctypes.addressof(views), ctypes.addressof(column.text), last][:buffers])
        return column

    return change


def _table(change: Callable[[Column], Column]) -> Callable[[Column], Column]:
    return lambda column: change(column.into_table())


def _in_table(change: Callable[[Column], Column]) -> Callable[[Column], Column]:
    return lambda column: change(column).into_table()


def _dictionary(change: Callable[[Column], Column]) -> Callable[[Column], Column]:
    return lambda column: change(column.into_dictionary())


def _child_is_null(column: Column) -> Column:
    column.array.children = _addresses(ArrowArray, [None])
    return column


def _type_is_null(column: Column) -> Column:
    column.schema.children = _addresses(ArrowSchema, [None])
    return column


def _contains_itself(column: Column) -> Column:
    column.set_children([column.schema] * 2, [column.array] * 2)
    return column


CONTRADICTIONS: list[tuple[str, Callable[[Column], Column], str]] = [
    ("huge length", _array(length=1 << 62), "length is 4611686018427387904"),
    ("huge length of nulls", _null_column, "length is 4611686018427387904"),
    ("negative length", _array(length=-1), "length is -1"),
    ("negative offset", _array(offset=-1), "offset is -1"),
    ("huge offset", _array(offset=(1 << 63) - 1), "offset is 9223372036854775807"),
    ("negative nulls", _array(null_count=-2), "null_count is -2"),
    ("more nulls than rows", _array(null_count=3), "null_count is 3, and length 2"),
    ("no buffers", _array(n_buffers=0), 'n_buffers is 0, but the format "u" has 3'),
    ("negative buffers", _array(n_buffers=-1), "n_buffers is -1"),
    ("too many buffers", _array(n_buffers=4), 'n_buffers is 4, but the format "u" has 3'),
    ("buffers are null", _array(buffers=None), "buffers is null"),
    ("offsets are null", _without_offsets, "buffer 1 is null"),
    ("text is null", _without_text, "buffer at position 2 is null"),
    ("negative end", _negative_end, "the last offset is -5"),
    ("views without lengths", _views(b"vu", 5, buffers=2), 'n_buffers is 2, but the format "vu" has 3'),
    ("lengths are null", _views(b"vu", None), "the lengths of the other buffers is null"),
    ("negative length of text", _views(b"vz", -7), "the length of buffer 2 is -7"),
    ("no format", _schema(format=None), "the format is null"),
    ("format is not UTF-8", _schema(format=b"\xff"), "is not UTF-8"),
    ("name is not UTF-8", _in_table(_schema(name=b"\xff")), "is not UTF-8"),
    ("list without child", _schema(format=b"+l"), 'the format "+l" has 1 children, but n_children is 0'),
    ("runs without children", _schema(format=b"+r"), 'the format "+r" has 2 children, but n_children is 0'),
    ("string with children", _schema(n_children=1), "n_children is 1, but children is null"),
    ("negative children", _schema(n_children=-1), "n_children is -1"),
    ("missing child", _table(_array(n_children=0)), "the array has 0 children, and its type 1"),
    ("children are null", _table(_array(children=None)), "n_children is 1, but children is null"),
    ("child is null", _table(_child_is_null), "child 0 is null"),
    ("type of child is null", _table(_type_is_null), "child 0 is null"),
    ("short child", _in_table(_array(length=1)), "child 0 has the length 1, where the table needs 2"),
    ("child with a negative offset", _in_table(_array(offset=-4)), "child 0: offset is -4"),
    ("type contains itself", _table(_contains_itself), "too many types"),
    ("dictionary is null", _dictionary(_array(dictionary=None)), "the type has a dictionary, but the array has none"),
    ("dictionary of no type", _dictionary(_schema(dictionary=None)), "its type has none"),
    ("texts as keys", _dictionary(_schema(format=b"u")), "which is not that of an integer"),
]


@pytest.mark.parametrize(("change", "message"), [case[1:] for case in CONTRADICTIONS], ids=[c[0] for c in CONTRADICTIONS])
def test_structs_that_contradict_themselves_raise(
    snapshot: robosieve.Snapshot, change: Callable[[Column], Column], message: str
) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        snapshot.verdicts(change(Column()), AGENT)
    assert message in str(raised.value)


@pytest.mark.parametrize("format", [b"", b"?", b"+", b"+w:", b"+w:x", b"w:-1", b"tsx:", b"d:", b"+ud:", b"u:", b"q"])
def test_formats_of_no_type_raise(snapshot: robosieve.Snapshot, format: bytes) -> None:
    with pytest.raises((ValueError, TypeError), match="Arrow array"):
        snapshot.verdicts(_schema(format=format)(Column()), AGENT)


def test_more_rows_than_memory_raise(snapshot: robosieve.Snapshot) -> None:
    overcommit = Path("/proc/sys/vm/overcommit_memory")
    if not overcommit.exists() or overcommit.read_text().strip() == "1":
        pytest.skip("this system promises memory that it does not have")
    column = _null_column(Column())
    column.array.length = 1 << 40
    with pytest.raises(ValueError, match="not enough memory for the results of 1099511627776 rows"):
        snapshot.masks(column, AGENT)
