"""Detects the layout of a FlatGraph, and whether some bytes are a FlatGraph. The format has no identifier.

Files written before 2019 (ND4J 1.0.0-beta3 and older) are recognised and refused: their arrays have no shape
descriptors, their variables have the array in another slot, and their custom ops are of class 20, which now is another
class. Snapshots between that version and 1.0.0-beta4 wrote the current arrays with two other forms of nodes; of these
graphs only those with reductions alone, whose classes are known, are read.
"""

from __future__ import annotations

import struct
from contextlib import suppress

from workbench.errors import LoadError
from workbench.frontends.flatbuffers.tables import FlatError, FlatReader, Table
from workbench.frontends.samediff.schema import schema

#: minimum and maximum number of slots of a FlatGraph
_LEAST, _MOST = 3, 24
_MINUS_ONE = 0xFFFFFFFF
#: class of ops in snapshots -> current class; 5 to 8 were 4 to 7
_SHIFTED = {4: 5, 5: 6, 6: 7, 7: 8}
#: class of custom ops before 2019, which now is the class of random ops; number of ops in that class
_CUSTOM_THEN, _FEW = 20, 1000
_CHECKED = 64


def is_flatgraph(data: bytes) -> bool:
    """True if the bytes can be a SameDiff graph of any version, even a truncated one."""
    if len(data) < 16 or data[4:8].isalnum():  # other formats have an identifier of four letters here
        return False
    reader = FlatReader(data, schema("current"))
    try:
        root = reader.root_table()
    except FlatError:
        return False
    if not _LEAST <= len(root.places) <= _MOST or root.at(2) is None:
        return False
    kinds = {_named(reader, table) for slot in (1, 2) for table in _tables(reader, root, slot)[:_CHECKED]}
    if "bad" in kinds:
        return False
    return "named" in kinds or "cut off" in kinds or _is_cut_off(reader, root)


def layout_of(data: bytes) -> str:
    """The layout, ``current``, ``early`` or ``first``; LoadError ``samediff-before-2019`` for a file from before 2019.

    Variables and nodes with invalid offsets are skipped; reading the graph reports them.
    """
    reader = FlatReader(data, schema("current"))
    root = reader.root_table()
    variables, nodes = (_tables(reader, root, slot) for slot in (1, 2))
    if any(_word(data, v, 4) == _MINUS_ONE or _array_is_old(reader, v) for v in variables):
        raise before_2019()
    if any(_word(data, n, 11) == _MINUS_ONE for n in nodes):  # the device, one slot before the current one
        raise before_2019()
    moved = any(_is_vector_of_tables(reader, n, 16) or _only_at(n, 15, 16) for n in nodes)
    if not moved:
        return "current"
    for node in nodes:
        at, number = node.at(2), node.at(3)
        custom = at is not None and data[at] == _CUSTOM_THEN
        if custom and number is not None and abs(struct.unpack_from("<q", data, number)[0]) > _FEW:
            raise before_2019()
    return "early" if any(n.at(7) is not None for n in nodes) else "first"


def class_now(number: int, layout: str) -> int:
    """The current number of the class of an op."""
    return number if layout == "current" else _SHIFTED.get(number, number)


def before_2019() -> LoadError:
    """The error for files from before 2019."""
    return LoadError(
        "This SameDiff file has the layout of before 2019, which ND4J 1.0.0-beta3 and older versions wrote: its arrays "
        "have no shape descriptors, and its ops other numbers. Files of 1.0.0-beta4 (2019) and later are read.",
        slug="samediff-before-2019",
        fix="make the graph again with 1.0.0-beta4 or later, from the program or the TensorFlow model that it was made "
        "from, and save it there: sd.save(file, true). A frozen TensorFlow graph can be loaded here as it is.",
    )


def _tables(reader: FlatReader, root: Table, slot: int) -> list[Table]:
    at = root.at(slot)
    if at is None:
        return []
    found = []
    try:
        start = reader.target(at)
        for place in range(start + 4, start + 4 + 4 * reader.count(start, 4, "tables"), 4):
            with suppress(FlatError):
                found.append(reader.table(reader.target(place)))
    except FlatError:
        pass
    return found


def _named(reader: FlatReader, table: Table) -> str:
    """``named``, ``unnamed`` (as some nodes were), ``cut off``, or ``bad`` if slot 1 cannot be a name."""
    at = table.at(1)
    if at is None:
        return "unnamed"
    try:
        start = reader.target(at)
        count = reader.count(start, 1, "name")
        return "named" if reader.data[start + 4 : start + 4 + count].decode("utf-8") else "unnamed"
    except FlatError as error:
        return "cut off" if error.slug == "truncated" else "bad"
    except UnicodeDecodeError:
        return "bad"


def _is_cut_off(reader: FlatReader, root: Table) -> bool:
    """True if the bytes end within or before the variables and nodes, as in a truncated file."""
    for slot in (1, 2):
        at = root.at(slot)
        try:
            if at is not None and reader.count(reader.target(at), 4, "tables") > 0:
                return True
        except FlatError as error:
            return error.slug == "truncated"
    return False


def _word(data: bytes, table: Table, slot: int) -> int | None:
    at = table.at(slot)
    return None if at is None or at + 4 > len(data) else int.from_bytes(data[at : at + 4], "little")


def _array_is_old(reader: FlatReader, variable: Table) -> bool:
    """True if the array is in slot 3, after a shape in slot 2, where the current layout has a dtype of one byte."""
    at = variable.at(2)
    follows = min((p for p in variable.places if at is not None and p > at - variable.start), default=variable.size)
    if at is not None and follows - (at - variable.start) >= 4 and variable.at(3) is not None:
        return _points_to_table(reader, variable, 3)  # a shape, then the array
    return False


def _points_to_table(reader: FlatReader, table: Table, slot: int) -> bool:
    at = table.at(slot)
    try:
        return at is not None and bool(reader.table(reader.target(at)).places)
    except FlatError:
        return False


def _is_vector_of_tables(reader: FlatReader, node: Table, slot: int) -> bool:
    """True if a slot is a vector of strings, where the current layout has one string."""
    at = node.at(slot)
    if at is None:
        return False
    try:
        start = reader.target(at)
        count = reader.count(start, 4, "names")
        inner = [reader.target(start + 4 + 4 * i) for i in range(count)]
        return count > 0 and all(reader.count(place, 1, "name") > 0 for place in inner)
    except FlatError:
        return False


def _only_at(node: Table, *slots: int) -> bool:
    """True for a node of the first layout without an op name: a scope in slot 15 and no later slot."""
    first, then = slots
    return node.at(7) is None and node.at(8) is not None and node.at(first) is not None and node.at(then) is None
