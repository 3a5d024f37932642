"""Random models whose nodes can run together: convolutions with the nodes usual between them in networks, in
loops too.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: numbers of channels for which a sum of planes runs in blocks of 8 or 16 channels, and for which not
CHANNELS = (3, 8, 12, 16, 24, 32)


class RegionMaker:
    """Draws a model: ``RegionMaker(seed).make()`` -> (model, feeds)."""

    def __init__(self, seed: int) -> None:
        self.r, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.opset = self.r.choice((9, 11, 13, 17))

    def make(self) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        channels, side = self.r.choice(CHANNELS), self.r.choice((5, 8, 14, 24))
        x = self.rng.standard_normal((self.r.choice((1, 2)), channels, side, side)).astype(np.float32)
        if self.r.random() < 0.25:
            flat = x.reshape(-1)
            flat[self.rng.integers(flat.size, size=3)] = [np.nan, np.inf, -0.0]
        pool = [("x", x.shape)]
        for _ in range(self.r.randint(4, 14)):
            self.draw(pool)
        outputs = {pool[-1][0], *(n for n, _ in self.r.sample(pool[1:], min(2, len(pool) - 1)))}
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
            [helper.make_empty_tensor_value_info(o) for o in sorted(outputs)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8), {"x": x}

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        values = self.rng.standard_normal(shape) * 0.3
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def add(self, op: str, inputs: list[str], shape: tuple[int, ...], pool: list, **attrs: object) -> None:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attrs))
        pool.append((name, shape))

    def draw(self, pool: list) -> None:
        x, shape = self.r.choice(pool[-3:])
        draws: list[Callable[[str, tuple[int, ...], list], None]] = [self.unary, self.binary]
        if self.opset >= 11:
            draws += [self.cut, self.choose, self.padded, self.by_computed_sizes, self.taken]
        if len(shape) == 4:
            draws += [self.conv] * 3 + [self.pool, self.norm, self.join, self.binary]
        self.r.choice(draws)(x, shape, pool)

    def conv(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        kernel, out = self.r.choice((1, 3)), self.r.choice(CHANNELS)
        group = shape[1] if self.r.random() < 0.2 else 1
        out = shape[1] if group > 1 else out
        given = [x, self.weight(out, shape[1] // group, kernel, kernel)]
        if self.r.random() < 0.6:
            given.append(self.weight(out))
        made = (shape[0], out, *shape[2:])
        self.add("Conv", given, made, pool, pads=[kernel // 2] * 4, group=group)

    def pool(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        op = self.r.choice(("GlobalAveragePool", "AveragePool", "MaxPool", "GlobalMaxPool"))
        if op.startswith("Global"):
            self.add(op, [x], (*shape[:2], 1, 1), pool)
        else:
            self.add(op, [x], shape, pool, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def norm(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        parts = [self.weight(shape[1]) for _ in range(3)]
        name = f"w{len(self.weights)}"
        self.weights.append(
            numpy_helper.from_array(np.abs(self.rng.standard_normal(shape[1])).astype(np.float32), name)
        )
        self.add("BatchNormalization", [x, *parts, name], shape, pool)

    def join(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        others = [(n, s) for n, s in pool if len(s) == 4 and (s[0], *s[2:]) == (shape[0], *shape[2:])]
        other, more = self.r.choice(others)
        self.add("Concat", [x, other], (shape[0], shape[1] + more[1], *shape[2:]), pool, axis=1)

    def unary(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        op = self.r.choice(
            ("Relu", "Relu", "Sqrt", "Abs", "Neg", "HardSigmoid", "Sigmoid", "Clip", "Transpose", "Softmax")
        )
        if op == "Clip" and self.opset >= 11:
            self.add(op, [x, self.weight(), self.weight()], shape, pool)
        elif op == "Transpose" and len(shape) == 4:
            self.add(op, [x], (shape[0], shape[1], shape[3], shape[2]), pool, perm=[0, 1, 3, 2])
        elif op not in ("Clip", "Transpose"):
            self.add(op, [x], shape, pool)

    def binary(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        alike = [n for n, s in pool if s == shape]
        other = self.r.choice([*alike, *alike, self.weight(), self.weight(*shape[1:2], 1, 1) if len(shape) == 4 else x])
        self.add(self.r.choice(("Add", "Add", "Mul", "Sub", "Div")), [x, other], shape, pool)

    def ints(self, values: object) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(self, op: str, inputs: list[str], count: int = 1, **attrs: object) -> list[str]:
        """A node whose results are not drawn as inputs."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attrs))
        return names

    def cut(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        axis = self.r.randrange(len(shape))
        size = shape[axis]
        if size < 2:
            return
        part = self.r.randrange(1, size)
        made = (*shape[:axis], part, *shape[axis + 1 :])
        if self.r.random() < 0.5:
            step = self.r.choice((1, 1, 2, -1))
            ends = {1: (0, part), 2: (0, 2 * part), -1: (part - 1, -(1 << 40))}[step]
            made = (*made[:axis], len(range(size)[slice(0, 2 * part, 2)]), *made[axis + 1 :]) if step == 2 else made
            self.add("Slice", [x, *map(self.ints, ([ends[0]], [ends[1]], [axis], [step]))], made, pool)
        else:
            sizes = [size - part, part]
            given = {"split": sizes} if self.opset < 13 else {}
            inputs = [x] if self.opset < 13 else [x, self.ints(sizes)]
            self.add("Identity", [self.node("Split", inputs, 2, axis=axis, **given)[1]], made, pool)

    def choose(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        above = self.node(self.r.choice(("Less", "Greater", "Equal")), [x, self.weight()])[0]
        if self.r.random() < 0.5:
            self.add("Where", [above, x, self.weight()], shape, pool)
        else:
            self.add("Cast", [above], shape, pool, to=TensorProto.FLOAT)

    def padded(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        pads = [self.r.randrange(2) for _ in range(2 * len(shape))]
        pads[:2] = pads[len(shape) : len(shape) + 2] = [0, 0]
        sizes = zip(shape, pads, pads[len(shape) :], strict=False)
        self.add("Pad", [x, self.ints(pads), self.weight()], tuple(d + a + b for d, a, b in sizes), pool)

    def by_computed_sizes(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        """Axes merged and split again, by sizes known only at run time."""
        sizes = self.node("Shape", [x])[0]
        axis = self.r.randrange(len(shape))
        size = self.node("Gather", [sizes, self.ints([axis])])[0]
        flat = self.node("Mul", [self.node("Add", [size, self.ints([3])])[0], self.ints([0])])[0]
        rows = self.node(
            "Reshape", [x, self.node("Concat", [size, self.node("Sub", [flat, self.ints([1])])[0]], axis=0)[0]]
        )
        self.add("Reshape", [self.node("Neg", rows)[0], sizes], shape, pool)

    def taken(self, x: str, shape: tuple[int, ...], pool: list) -> None:
        axis = self.r.randrange(len(shape))
        stop = self.node("ReduceMax", [self.ints([1, shape[axis]])], keepdims=0)[0]
        places = self.node("Range", [self.ints(0), stop, self.ints(2)])[0]
        made = (*shape[:axis], len(range(0, shape[axis], 2)), *shape[axis + 1 :])
        self.add("Gather", [x, places], made, pool, axis=axis)
