"""Graphs of one TensorFlow node with constant inputs."""

from __future__ import annotations

import numpy as np

import workbench.public  # noqa: F401  (defines Graph.run)
from tests.frontends.protobytes import const, data, float32, integer, node, tensor, varint
from workbench.frontends import from_graphdef
from workbench.ir.text import parse

NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "int64": 9}
FLOAT = integer(6, 1)


def held(name, value):
    """A constant."""
    array = np.asarray(value)
    return const(name, tensor(NUMBERS[array.dtype.name], array.shape, data(4, array.tobytes())))


def attr_of(value):
    """An AttrValue; a list of ints, text, or a number."""
    if isinstance(value, list):
        return data(1, data(3, b"".join(map(varint, value))))
    if isinstance(value, str):
        return data(2, value)
    if isinstance(value, bool):
        return integer(5, int(value))
    return float32(4, value) if isinstance(value, float) else integer(3, value)


def imported(op, *arrays, **attrs):
    """A graph of one node with constant inputs; "x:1" and so on are its tensors."""
    names = [f"in{i}" for i in range(len(arrays))]
    made = b"".join(held(n, a) for n, a in zip(names, arrays, strict=True))
    body = node("x", op, *names, T=FLOAT, **{k: attr_of(v) for k, v in attrs.items()})
    graph = from_graphdef(made + body)
    assert parse(graph.text()) == graph
    return graph


def outputs(op, *arrays, **attrs):
    found = imported(op, *arrays, **attrs).run()
    return [found[k] for k in sorted(found)]


def f32(*dims, seed=6):
    return np.random.default_rng(seed).normal(size=dims).astype(np.float32)


def first(x):
    """Channels last to channels first."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))
