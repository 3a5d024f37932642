"""Tables of the TensorFlow messages in a GraphDef.

Source of the field numbers: tensorflow/core/framework/{graph,node_def,attr_value,tensor,tensor_shape,types,function,
versions}.proto of TensorFlow 2.x, which can read what 1.x wrote.
"""

from __future__ import annotations

from workbench.frontends.protobuf.wire import Field, Schema

#: maximum number of inputs and attributes of one node
MAX_INPUTS, MAX_ATTRS = 65_536, 4096

GRAPHDEF: Schema = {
    "GraphDef": {
        1: Field("node", "NodeDef", True),
        2: Field("library", "FunctionDefLibrary"),
        3: Field("version", "int"),
        4: Field("versions", "VersionDef"),
    },
    "VersionDef": {1: Field("producer", "int"), 2: Field("min_consumer", "int")},
    "NodeDef": {
        1: Field("name", "string"),
        2: Field("op", "string"),
        3: Field("input", "string", True, MAX_INPUTS),
        4: Field("device", "string"),
        5: Field("attr", "AttrEntry", True, MAX_ATTRS),
    },
    "AttrEntry": {1: Field("key", "string"), 2: Field("value", "AttrValue")},
    "AttrValue": {
        1: Field("list", "ListValue"),
        2: Field("s", "bytes"),
        3: Field("i", "int"),
        4: Field("f", "float"),
        5: Field("b", "bool"),
        6: Field("type", "int"),
        7: Field("shape", "TensorShapeProto"),
        8: Field("tensor", "TensorProto"),
        9: Field("placeholder", "string"),
        10: Field("func", "NameAttrList"),
    },
    "ListValue": {
        2: Field("s", "bytes", True),
        3: Field("i", "int", True),
        4: Field("f", "float", True),
        5: Field("b", "bool", True),
        6: Field("type", "int", True),
        7: Field("shape", "TensorShapeProto", True),
        8: Field("tensor", "TensorProto", True),
        9: Field("func", "NameAttrList", True),
    },
    "NameAttrList": {1: Field("name", "string"), 2: Field("attr", "AttrEntry", True, MAX_ATTRS)},
    "TensorShapeProto": {2: Field("dim", "Dim", True, 254), 3: Field("unknown_rank", "bool")},
    "Dim": {1: Field("size", "int"), 2: Field("name", "string")},
    "TensorProto": {
        1: Field("dtype", "int"),
        2: Field("tensor_shape", "TensorShapeProto"),
        3: Field("version_number", "int"),
        4: Field("tensor_content", "bytes"),
        5: Field("float_val", "float", True),
        6: Field("double_val", "double", True),
        7: Field("int_val", "int", True),
        8: Field("string_val", "bytes", True),
        9: Field("scomplex_val", "float", True),
        10: Field("int64_val", "int", True),
        11: Field("bool_val", "bool", True),
        12: Field("dcomplex_val", "double", True),
        13: Field("half_val", "int", True),
        16: Field("uint32_val", "int", True),
        17: Field("uint64_val", "uint", True),
    },
    "FunctionDefLibrary": {1: Field("function", "FunctionDef", True)},
    "FunctionDef": {
        1: Field("signature", "OpDef"),
        3: Field("node_def", "NodeDef", True),
        4: Field("ret", "TextEntry", True),
        6: Field("control_ret", "TextEntry", True),
    },
    "TextEntry": {1: Field("key", "string"), 2: Field("value", "string")},
    "OpDef": {
        1: Field("name", "string"),
        2: Field("input_arg", "ArgDef", True),
        3: Field("output_arg", "ArgDef", True),
        4: Field("attr", "AttrDef", True),
        20: Field("control_output", "string", True),
    },
    "ArgDef": {
        1: Field("name", "string"),
        3: Field("type", "int"),
        4: Field("type_attr", "string"),
        5: Field("number_attr", "string"),
        6: Field("type_list_attr", "string"),
    },
    "AttrDef": {1: Field("name", "string"), 2: Field("type", "string"), 3: Field("default_value", "AttrValue")},
}

#: DataType numbers -> dtype names of the graph. Reference types are the number + 100.
DTYPES: dict[int, str] = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "opaque",
    21: "opaque",
    22: "uint32",
    23: "uint64",
}

#: Names of the DataType numbers that our arrays cannot hold, for messages.
FOREIGN_DTYPES: dict[int, str] = {
    11: "DT_QINT8",
    12: "DT_QUINT8",
    13: "DT_QINT32",
    15: "DT_QINT16",
    16: "DT_QUINT16",
    24: "DT_FLOAT8_E5M2",
    25: "DT_FLOAT8_E4M3FN",
    29: "DT_INT4",
    30: "DT_UINT4",
}

_NAMES = (
    "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 "
    "QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ "
    "FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4 INT2 UINT2 FLOAT4_E2M1FN"
).split()
#: Names of enumeration values, for the text form: DataType, and SaverDef's CheckpointFormatVersion.
ENUMS: dict[str, int] = {
    **{f"DT_{name}": number for number, name in enumerate(_NAMES)},
    **{f"DT_{name}_REF": number + 100 for number, name in enumerate(_NAMES) if number},
    "LEGACY": 0,
    "V1": 1,
    "V2": 2,
}
