"""Graphs of TensorFlow 1 with control flow version 1, frozen to one GraphDef."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.models.recipe import Made

v1 = tf.compat.v1
#: placeholders with their values, and the tensors to fetch
Program = tuple[list[tuple[Any, np.ndarray]], list[Any]]


def _place(value: Any, name: str = "x") -> tuple[Any, np.ndarray]:
    value = np.asarray(value)
    return v1.placeholder(value.dtype, [None] * value.ndim, name), value


def _some(*shape: int) -> np.ndarray:
    return np.random.default_rng(19).standard_normal(shape).astype(np.float32)


def newton() -> Program:
    feed = _place(np.float32(7))
    root = tf.while_loop(lambda x: tf.abs(x * x - feed[0]) > 1e-4, lambda x: [(x + feed[0] / x) / 2], [feed[0]])
    return [feed], [root[0] if isinstance(root, (list, tuple)) else root]


def cond() -> Program:
    feed = _place(_some(4))
    y = tf.cond(tf.reduce_sum(feed[0]) > 0, lambda: feed[0] * 2, lambda: tf.nn.relu(feed[0]) - 1)
    return [feed], [tf.cond(y[0] > y[1], lambda: y + 1, lambda: tf.cond(y[2] > 0, lambda: y - 1, lambda: y * 3))]


def collatz() -> Program:
    feed = _place(np.int32(19))
    last, steps = tf.while_loop(
        lambda n, k: n > 1,
        lambda n, k: (tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), k + 1),
        [feed[0], tf.constant(0)],
    )
    return [feed], [last, steps]


def while_in_cond() -> Program:
    feed, limit = _place(_some(3)), _place(np.int32(5), "limit")
    loop = lambda: tf.while_loop(lambda i, x: i < limit[0], lambda i, x: (i + 1, tf.sin(x)), [0, feed[0]])[1]  # noqa: E731
    return [feed, limit], [tf.cond(limit[0] > 3, loop, lambda: feed[0])]


def map() -> Program:
    feed = _place(_some(5, 3))
    pairs = tf.map_fn(lambda x: (tf.reduce_max(x), x * x), feed[0], dtype=(tf.float32, tf.float32))
    return [feed], list(pairs)


def scan() -> Program:
    feed = _place(_some(6, 2))
    return [feed], [tf.scan(lambda s, x: s * 0.9 + x, feed[0]), tf.foldr(lambda s, x: tf.maximum(s, x), feed[0])]


def nested() -> Program:
    feed = _place(_some(4))

    def row(i, total):
        inner = tf.while_loop(
            lambda j, t: tf.logical_and(j <= i, tf.reduce_sum(t) < 20),
            lambda j, t: (j + 1, t + feed[0] * 0.5),
            [0, total],
        )
        return i + 1, inner[1]

    return [feed], list(tf.while_loop(lambda i, t: i < 5, row, [0, tf.zeros([4])], parallel_iterations=3))


def arrays() -> Program:
    feed = _place(_some(7, 2))
    given = v1.TensorArray(tf.float32, 7).unstack(feed[0])
    written = v1.TensorArray(tf.float32, 7, clear_after_read=False)
    _, _, written = tf.while_loop(
        lambda i, s, a: i < 7,
        lambda i, s, a: (i + 1, s + given.read(i), a.write(i, tf.tanh(s))),
        [0, tf.zeros([2]), written],
    )
    return [feed], [written.stack(), written.gather([3, 1])]


def case() -> Program:
    feed = _place(_some(3))
    sides = [(feed[0][0] > 5, lambda: feed[0] + 1), (feed[0][1] < 5, lambda: feed[0] * 10)]
    return [feed], [v1.case(sides, default=lambda: feed[0]), v1.where(feed[0] > 0)]


def rnn() -> Program:
    """An LSTM by hand, with lengths: rows that have ended keep their state."""
    feed, ends = _place(_some(6, 2, 3)), _place(np.array([4, 6], np.int32), "lengths")
    weight, bias = v1.get_variable("w", initializer=_some(7, 16)), v1.get_variable("b", initializer=_some(16))

    def step(t, h, c):
        i, g, f, o = tf.split(tf.matmul(tf.concat([feed[0][t], h], 1), weight) + bias, 4, axis=1)
        new_c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        live = t < ends[0]
        pick = lambda new, old: tf.where(live, new, old)  # noqa: E731
        live = tf.broadcast_to(live[:, None], tf.shape(h))
        return t + 1, pick(tf.sigmoid(o) * tf.tanh(new_c), h), pick(new_c, c)

    return [feed, ends], list(tf.while_loop(lambda t, h, c: t < 6, step, [0, tf.zeros([2, 4]), tf.zeros([2, 4])]))


def matrix() -> Program:
    feed = _place(_some(5, 5) * 0.3)

    def body(i, x, gap):
        new = tf.matmul(x, feed[0]) + tf.eye(5)
        return i + 1, new, tf.norm(new - x)

    return [feed], list(tf.while_loop(lambda i, x, gap: gap > 1e-3, body, [0, tf.eye(5), tf.constant(1.0)]))


PROGRAMS: dict[str, Callable[[], Program]] = {
    f.__name__: f for f in (newton, cond, collatz, while_in_cond, map, scan, nested, arrays, case, rnn, matrix)
}


def frozen(name: str, folder: Path) -> Made:
    """Write ``frozen.pb``; inputs and outputs are named as its tensors."""
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.disable_tensor_equality()
        feeds, fetches = PROGRAMS[name]()
        fetches = [tf.identity(f, f"result{i}") for i, f in enumerate(fetches)]
        session.run(v1.global_variables_initializer())
        values = session.run(fetches, dict(feeds))
        ends = [f.op.name for f in fetches]
        definition = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ends)
        (folder / "frozen.pb").write_bytes(definition.SerializeToString())
        inputs = {place.op.name: value for place, value in feeds}
        names = [f.name for f in fetches]
        return Made("frozen.pb", inputs, dict(zip(names, values, strict=True)), names)
