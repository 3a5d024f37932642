"""The workbench as an ONNX backend: the standard interface of ``onnx.backend.base``.

>>> from onnx.backend.test import BackendTest
>>> suite = BackendTest(WorkbenchBackend).test_suite

Each run executes the imported graph, :attr:`WorkbenchRep.graph`, which a session can step through. Source:
https://onnx.ai/onnx/api/backend.html.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from workbench.errors import FeedError
from workbench.frontends.onnx import from_onnx
from workbench.ir.graph import Graph
from workbench.ir.values import from_graph


class WorkbenchRep(BackendRep):
    """An imported model, which may be run any number of times."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        sys.modules["workbench"].Graph  # loads the public names, which give Graph its method run  # noqa: B018

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run the model and return its outputs, which can also be read by name (``result["y"]``).

        ``inputs`` are values in the order of the model's inputs that have no initializer, or a mapping of names to
        values: arrays, TensorProtos, lists for sequences, None for an optional without a value. Raises FeedError if
        they do not fit the model, ExecutionError if a node fails.
        """
        outputs = self.graph.run(self._feeds(inputs))
        plain = [from_graph(v) for v in outputs.values()]
        return namedtupledict("Outputs", list(outputs))(*plain)

    def _feeds(self, inputs: Any) -> dict[str, Any]:
        names = list(self.graph.inputs)
        if isinstance(inputs, Mapping):
            return {name: _value(v) for name, v in inputs.items()}
        values = [inputs] if isinstance(inputs, (np.ndarray, np.generic, TensorProto)) else list(inputs)
        if len(values) != len(names):
            raise FeedError(
                f"The model has {len(names)} inputs ({', '.join(names) or 'none'}), got {len(values)} values.",
                slug="wrong-count",
                fix="give one value for each input that has no initializer, in their order.",
            )
        return {name: _value(v) for name, v in zip(names, values, strict=True)}


class WorkbenchBackend(Backend):
    """The backend class; all of its methods are class methods, as the interface requires."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> WorkbenchRep:
        """Import a model. Raises what :func:`workbench.from_onnx` raises, and FeedError for another device."""
        if not cls.supports_device(device):
            raise FeedError(f"There is no device {device!r} here.", slug="no-device", fix='use "CPU".')
        return WorkbenchRep(from_onnx(model))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run a single node; ``opset_version`` chooses the operator set, by default the library's newest."""
        names = [n for n in dict.fromkeys(node.input) if n]
        values = inputs if isinstance(inputs, Mapping) else dict(zip(names, map(_value, inputs), strict=True))
        ends = [n for n in node.output if n]
        kinds = [TypeProto() for _ in ends]
        for kind, (dtype, shape) in zip(kinds, outputs_info or (), strict=False):
            kind.CopyFrom(helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        graph = helper.make_graph(
            [node],
            "node",
            [helper.make_value_info(n, _type_of(values[n])) for n in names],
            [helper.make_value_info(n, kind) for n, kind in zip(ends, kinds, strict=True)],
        )
        version = int(kwargs.get("opset_version", 0))
        opsets = [helper.make_opsetid(node.domain, version)] if version else None
        return cls.run_model(helper.make_model(graph, opset_imports=opsets), values, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.partition(":")[0] == "CPU"


def _value(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _type_of(value: Any) -> TypeProto:
    """The type of a feed; a sequence without elements counts as one of floats."""
    if value is None:
        return helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    if isinstance(value, (list, tuple)):
        element = helper.make_tensor_type_proto(TensorProto.FLOAT, None) if not value else _type_of(value[0])
        return helper.make_sequence_type_proto(element)
    array = np.asarray(value)
    number = TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_type_proto(number, array.shape)


run_model, run_node, prepare = WorkbenchBackend.run_model, WorkbenchBackend.run_node, WorkbenchBackend.prepare
supports_device = WorkbenchBackend.supports_device
