"""Tables of the FlatBuffers that SameDiff writes.

Source of the numbers: libnd4j/include/graph/scheme/{graph,node,variable,array,properties,utils}.fbs of deeplearning4j.
The fields of a node have moved twice; LAYOUTS has all three forms in files with shape descriptors. (In the older two,
the classes of ops also have other numbers, see :mod:`workbench.frontends.samediff.layout`.)
"""

from __future__ import annotations

from workbench.frontends.flatbuffers.tables import Slot, Slots

_HEAD = {
    0: Slot("id", "int32"),
    1: Slot("name", "string"),
    2: Slot("class", "int8"),
    3: Slot("number", "int64"),
    4: Slot("properties", "FlatProperties", True),
    5: Slot("input", "int32", True),
    6: Slot("inputs", "IntPair", True),
}
_ARGUMENTS = {8: Slot("floats", "float64", True), 9: Slot("ints", "int64", True), 10: Slot("bools", "bool", True)}
_LATER = {15: Slot("output_names", "string", True), 16: Slot("op", "string")}
_MOVED = {16: Slot("output_names", "string", True), 17: Slot("op", "string")}

#: layout -> slots of a node; "current" since 1.0.0-beta4 (2019)
LAYOUTS = {
    "current": {
        **_HEAD,
        **_ARGUMENTS,
        11: Slot("dimensions", "int32", True),
        **_LATER,
        17: Slot("output_types", "int8", True),
        18: Slot("scalar", "FlatArray"),
        19: Slot("control_ops", "string", True),
        20: Slot("control_variables", "string", True),
        22: Slot("extra_types", "int8", True),
        23: Slot("extra_strings", "string", True),
    },
    "early": {**_HEAD, **_ARGUMENTS, 11: Slot("dimensions", "int32", True), **_MOVED},
    "first": {
        **_HEAD,
        9: Slot("floats", "float64", True),
        10: Slot("ints", "int64", True),
        11: Slot("dimensions", "int32", True),
        **_MOVED,
    },
}

_TABLES: Slots = {
    "FlatGraph": {
        1: Slot("variables", "FlatVariable", True),
        2: Slot("nodes", "FlatNode", True),
        5: Slot("placeholders", "string", True),
        6: Slot("losses", "string", True),
        7: Slot("training", "string"),
        8: Slot("updater", "UpdaterState", True),
    },
    "FlatVariable": {
        0: Slot("id", "IntPair"),
        1: Slot("name", "string"),
        2: Slot("dtype", "int8"),
        3: Slot("shape", "int64", True),
        4: Slot("array", "FlatArray"),
        6: Slot("kind", "int8"),
        7: Slot("control", "string", True),
    },
    "FlatArray": {
        0: Slot("shape", "int64", True),
        1: Slot("buffer", "bytes"),
        2: Slot("dtype", "int8"),
        3: Slot("byte_order", "int8"),
        6: Slot("external", "bool"),
        7: Slot("external_file", "string"),
        8: Slot("appended_at", "int64"),
        9: Slot("appended_bytes", "int64"),
    },
    "FlatProperties": {
        0: Slot("name", "string"),
        1: Slot("ints", "int32", True),
        2: Slot("longs", "int64", True),
        3: Slot("doubles", "float64", True),
        4: Slot("arrays", "FlatArray", True),
        5: Slot("bools", "bool", True),
        6: Slot("strings", "string", True),
    },
    "IntPair": {0: Slot("first", "int32"), 1: Slot("second", "int32")},
    "UpdaterState": {0: Slot("name", "string"), 1: Slot("keys", "string", True)},
}


def schema(layout: str) -> Slots:
    """The tables of a FlatGraph whose nodes have this layout."""
    return {**_TABLES, "FlatNode": LAYOUTS[layout]}


#: number of a data type -> dtype name of the graph
DTYPES: dict[int, str] = {
    1: "bool",
    3: "float16",
    5: "float32",
    6: "float64",
    7: "int8",
    8: "int16",
    9: "int32",
    10: "int64",
    11: "uint8",
    12: "uint16",
    13: "uint32",
    14: "uint64",
    17: "bfloat16",
    50: "string",
}
#: names of data types that our arrays cannot hold, for messages
FOREIGN_DTYPES = {2: "FLOAT8", 4: "HALF2", 15: "QINT8", 16: "QINT16", 51: "UTF16", 52: "UTF32"}

VARIABLE, CONSTANT, ARRAY, PLACEHOLDER, SEQUENCE = range(5)
KINDS = ("VARIABLE", "CONSTANT", "ARRAY", "PLACEHOLDER", "SEQUENCE")

#: classes of ops by their current numbers
CLASSES = {
    0: "TRANSFORM_FLOAT",
    1: "TRANSFORM_SAME",
    2: "TRANSFORM_BOOL",
    3: "TRANSFORM_STRICT",
    4: "TRANSFORM_ANY",
    5: "REDUCE_FLOAT",
    6: "REDUCE_SAME",
    7: "REDUCE_LONG",
    8: "REDUCE_BOOL",
    9: "INDEX_REDUCE",
    10: "SCALAR",
    11: "SCALAR_BOOL",
    12: "BROADCAST",
    13: "BROADCAST_BOOL",
    14: "PAIRWISE",
    15: "PAIRWISE_BOOL",
    16: "REDUCE_3",
    17: "SUMMARYSTATS",
    18: "SHAPE",
    19: "AGGREGATION",
    20: "RANDOM",
    21: "CUSTOM",
    22: "GRAPH",
    60: "BOOLEAN",
    119: "LOGIC",
    120: "UDF",
}
CUSTOM, LOGIC = 21, 119
