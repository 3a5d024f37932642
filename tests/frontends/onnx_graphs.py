"""Random ONNX graphs: a few nodes of elementwise ops, reductions, products, norms, moves, casts and quantisation.

Each node is evaluated as it is drawn, so that the next one has values of known shape and dtype. Sources are inputs,
declared with all, some or none of their sizes, or initializers; their numbers include those on which kernels often
fail: NaN, infinities, zeros of both signs, the least and greatest, subnormal ones.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.frontends.onnx_drawn_ops import OPS
from tests.frontends.onnx_expected import Node, evaluated
from workbench.ir.types import NUMERIC, numpy_dtype

SHORT = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
REALS = (*[d for d in NUMERIC if not d.startswith("complex")], *SHORT)
#: weights of the dtypes: the narrow ones are drawn most
WEIGHTS = {"float16": 5, "bfloat16": 4, "float32": 4, "int8": 3, "uint8": 3, "bool": 2, "int64": 2}
OPSETS = (11, 13, 17, 18, 20, 21, 22, 23)


@functools.cache
def _dtypes(op: str, opset: int, place: int, result: bool) -> tuple[str, ...]:
    schema = onnx.defs.get_schema(op, opset)
    formals = schema.outputs if result else schema.inputs
    formal = formals[min(place, len(formals) - 1)]
    return tuple(d for d in REALS if f"tensor({_onnx_name(d)})" in formal.types)


def _onnx_name(dtype: str) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype, dtype.replace("_", ""))


def has(op: str, opset: int) -> bool:
    try:
        return not onnx.defs.get_schema(op, opset).deprecated
    except onnx.defs.SchemaError:
        return False


class OnnxMaker:
    """A graph drawn node by node."""

    def __init__(self, seed: int, most: int = 12) -> None:
        self.rng = np.random.default_rng([seed, 77])
        self.opset = int(self.rng.choice(OPSETS))
        self.values: dict[str, np.ndarray] = {}
        self.feeds: dict[str, np.ndarray] = {}
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self._most = most

    def make(self) -> OnnxMaker:
        wanted = int(self.rng.integers(1, self._most + 1))
        for _ in range(4 * wanted):
            if len(self.nodes) == wanted:
                break
            self._draw()
        return self

    def _draw(self) -> None:
        op = str(self.rng.choice(list(OPS)))
        if not has(op, self.opset):
            return
        made = OPS[op](self, op)
        if made is None:
            return
        inputs, attrs, count = (*made, 1)[:3]
        node = Node(op, tuple(inputs), tuple(f"v{len(self.nodes)}_{k}" for k in range(count)), attrs, self.opset)
        found = evaluated(node, [self.values[n] for n in node.given])
        if found is None or sum(a.size for a in found) > 4000:
            return
        self.nodes.append(node)
        self.values.update(zip(node.outputs, found, strict=True))

    # sources

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def chance(self, of: float) -> bool:
        return bool(self.rng.random() < of)

    def kind(self, dtype: str) -> np.dtype:
        return numpy_dtype(dtype)

    def allowed(self, op: str, place: int) -> tuple[str, ...]:
        """dtypes that the standard allows for an input of an op."""
        return _dtypes(op, self.opset, place, False)

    def results(self, op: str, place: int) -> tuple[str, ...]:
        return _dtypes(op, self.opset, place, True)

    def axis(self, name: str) -> int:
        rank = self.values[name].ndim
        return self.integer(-rank, rank - 1)

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = int(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])) if rank is None else rank
        return tuple(
            int(self.rng.choice([0, 1, 2, 3, 4, 5, 7], p=[0.04, 0.2, 0.2, 0.2, 0.16, 0.1, 0.1])) for _ in range(rank)
        )

    def dtype(self, among: Iterable[str]) -> str:
        among = list(among)
        weights = np.array([WEIGHTS.get(d, 1) for d in among], float)
        return str(self.rng.choice(among, p=weights / weights.sum()))

    def numbers(self, dtype: str, shape: Sequence[int]) -> np.ndarray:
        kind = numpy_dtype(dtype)
        if dtype == "bool":
            return self.rng.random(tuple(shape)) < 0.5
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            small = self.rng.integers(max(-4, limits.min), 9, tuple(shape))
            special = np.array([limits.min, limits.max, 0, 1, limits.max - 1], kind)
            rate = self.rng.choice([0, 0.2, 0.8])
            return np.where(
                self.rng.random(tuple(shape)) < rate, self.rng.choice(special, tuple(shape)), small.astype(kind)
            )
        drawn = self.rng.standard_normal(tuple(shape)) * float(self.rng.choice([0.3, 1, 3, 30]))
        if self.chance(0.3):
            drawn = np.round(drawn * 2) / 2
        numbers = drawn.astype(kind)
        rate = float(self.rng.choice([0, 0, 0.1, 0.5]))
        return np.where(
            self.rng.random(tuple(shape)) < rate, self.rng.choice(specials(dtype), tuple(shape)), numbers
        ).astype(kind)

    def add(self, array: np.ndarray, constant: bool | None = None) -> str:
        """A new source that holds ``array``."""
        name = f"{'w' if constant else 'x'}{len(self.values)}"
        self.values[name] = array
        if self.chance(0.3) if constant is None else constant:
            self.constants[name] = array
        else:
            self.feeds[name] = array
        return name

    def castable(self, name: str, dtype: str) -> bool:
        """True if the standard defines the cast of a value: each of its floats gives an integer of the dtype."""
        array, kind = self.values[name], numpy_dtype(dtype)
        if kind.kind not in "iu" or array.dtype.kind in "biu":
            return True
        x, limits = array.astype(np.float64), np.iinfo(kind)
        return bool((np.isfinite(x) & (x > limits.min - 1.0) & (x < limits.max + 1.0)).all())

    def fresh(self, dtypes: Iterable[str], shape: Sequence[int] | None = None) -> str:
        return self.add(self.numbers(self.dtype(dtypes), self.shape() if shape is None else shape))

    def value(self, dtypes: Iterable[str], rank: range | None = None) -> str:
        """An existing value, or a new source."""
        dtypes = tuple(dtypes)
        found = [n for n, a in self.values.items() if a.dtype.name in dtypes and (rank is None or a.ndim in rank)]
        if found and self.chance(0.8):
            late = np.arange(1, len(found) + 1, dtype=float)
            return str(self.rng.choice(found, p=late / late.sum()))
        return self.fresh(dtypes, None if rank is None else self.shape(int(self.rng.choice(rank))))

    def like(self, name: str, broadcast: bool = True) -> str:
        """A value of the same dtype with a compatible shape."""
        array = self.values[name]
        found = [n for n, a in self.values.items() if a.dtype == array.dtype and _together(a.shape, array.shape)]
        if self.chance(0.5):
            return str(self.rng.choice(found))
        shape = tuple(1 if broadcast and self.chance(0.25) else d for d in array.shape)
        shape = shape[self.integer(0, len(shape)) :] if broadcast and self.chance(0.3) else shape
        return self.fresh([array.dtype.name], shape)

    def ints(self, value: Any, dtype: Any = np.int64) -> str:
        return self.add(np.asarray(value, dtype), self.chance(0.6))

    # the model

    def model(self, every: bool = True) -> onnx.ModelProto:
        """The model; with ``every`` each value is an output, otherwise those that no node reads."""
        taken = {n for node in self.nodes for n in node.inputs}
        outputs = [o for node in self.nodes for o in node.outputs if every or o not in taken]
        inputs = []
        for name, array in self.feeds.items():
            hidden = np.random.default_rng([len(name), array.size, len(self.nodes)]).random(array.ndim + 1)
            known = [None if h < 0.3 else d for h, d in zip(hidden, array.shape, strict=False)]
            number = helper.np_dtype_to_tensor_dtype(array.dtype)
            inputs.append(helper.make_tensor_value_info(name, number, None if hidden[-1] < 0.1 else known))
        graph = helper.make_graph(
            [n.proto() for n in self.nodes],
            "drawn",
            inputs,
            [onnx.ValueInfoProto(name=o) for o in outputs],
            [onnx.numpy_helper.from_array(a, n) for n, a in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


@functools.cache
def specials(dtype: str) -> np.ndarray:
    import ml_dtypes

    kind = numpy_dtype(dtype)
    limits = ml_dtypes.finfo(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            np.nan,
            np.inf,
            -np.inf,
            0.0,
            -0.0,
            1.0,
            -1.0,
            float(limits.max),
            float(limits.min),
            float(limits.smallest_normal),
            float(limits.smallest_subnormal),
            0.5,
            2.5,
            -1.5,
        ]
        return np.array(found).astype(kind)


def _together(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(one), reversed(other), strict=False))
