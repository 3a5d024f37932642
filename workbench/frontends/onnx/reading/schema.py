"""Fields of the ONNX messages that hold text or messages; numbers are left to the onnx library.

Source of the field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 13 and earlier).
"""

from __future__ import annotations

from workbench.frontends.protobuf.wire import Field, Schema


def _texts(*numbers: int) -> dict[int, Field]:
    return {number: Field("text", "string", True) for number in numbers}


def _messages(**numbers: int) -> dict[int, Field]:
    return {number: Field(kind, kind, True) for kind, number in numbers.items()}


_GRAPH_VALUES = {number: Field("value", "ValueInfoProto", True) for number in (11, 12, 13)}

ONNX: Schema = {
    "ModelProto": {
        **_texts(2, 3, 4, 6),
        **_messages(
            GraphProto=7,
            OperatorSetIdProto=8,
            StringStringEntryProto=14,
            TrainingInfoProto=20,
            FunctionProto=25,
            DeviceConfigurationProto=26,
        ),
    },
    "GraphProto": {
        **_texts(2, 10),
        **_GRAPH_VALUES,
        **_messages(NodeProto=1, TensorProto=5, TensorAnnotation=14, SparseTensorProto=15, StringStringEntryProto=16),
    },
    "NodeProto": {
        **_texts(1, 2, 3, 4, 6, 7, 8),
        **_messages(AttributeProto=5, StringStringEntryProto=9, NodeDeviceConfigurationProto=10),
    },
    "AttributeProto": {
        **_texts(1, 13, 21),
        **{number: Field("tensor", "TensorProto", True) for number in (5, 10)},
        **{number: Field("graph", "GraphProto", True) for number in (6, 11)},
        **{number: Field("type", "TypeProto", True) for number in (14, 15)},
        **{number: Field("sparse", "SparseTensorProto", True) for number in (22, 23)},
    },
    "FunctionProto": {
        **_texts(1, 4, 5, 6, 8, 10, 13),
        **_messages(NodeProto=7, OperatorSetIdProto=9, AttributeProto=11, ValueInfoProto=12, StringStringEntryProto=14),
    },
    "TensorProto": {
        **_texts(8, 12),
        **_messages(Segment=3, StringStringEntryProto=13),
        16: Field("metadata", "StringStringEntryProto", True),
    },
    "SparseTensorProto": {number: Field("tensor", "TensorProto", True) for number in (1, 2)},
    "ValueInfoProto": {**_texts(1, 3), **_messages(TypeProto=2, StringStringEntryProto=4)},
    "TypeProto": {
        **_texts(6),
        **_messages(Tensor=1, Sequence=4, Map=5, Opaque=7),
        8: Field("sparse", "Tensor", True),
        9: Field("optional", "Sequence", True),
    },
    "Tensor": _messages(TensorShapeProto=2),
    "Sequence": _messages(TypeProto=1),
    "Map": _messages(TypeProto=2),
    "Opaque": _texts(1, 2),
    "TensorShapeProto": _messages(Dimension=1),
    "Dimension": _texts(2, 3),
    "TrainingInfoProto": {
        **{number: Field("graph", "GraphProto", True) for number in (1, 2)},
        **{number: Field("binding", "StringStringEntryProto", True) for number in (3, 4)},
    },
    "OperatorSetIdProto": _texts(1),
    "StringStringEntryProto": _texts(1, 2),
    "TensorAnnotation": {**_texts(1), **_messages(StringStringEntryProto=2)},
    "DeviceConfigurationProto": _texts(1, 3),
    "NodeDeviceConfigurationProto": _texts(1),
    "Segment": {},
}
