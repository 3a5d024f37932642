"""Creates ``control_flow.zip``: small TensorFlow graphs with loops, branches, calls and gradients, and their values.

Run it with a Python that has TensorFlow (the archive is from 2.21); the tests read only the archive::

    python tests/frontends/data/make_control_flow.py

``NAME/graph.pb`` is the GraphDef, ``NAME/io.npz`` holds feeds (``in:TENSOR``) and values (``out:TENSOR``). Names begin
with ``v1/`` (frames, stacks, TensorArrays) or ``v2/`` (functions, TensorLists).
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
F = np.float32
FILES: dict[str, bytes] = {}


def keep(name: str, graph_def: Any, feeds: dict[str, Any], values: dict[str, Any]) -> None:
    archive = io.BytesIO()
    np.savez(archive, **{f"in:{k}": v for k, v in feeds.items()}, **{f"out:{k}": v for k, v in values.items()})
    FILES[f"{name}/graph.pb"] = graph_def.SerializeToString(deterministic=True)
    FILES[f"{name}/io.npz"] = archive.getvalue()


def v2(name: str, function: Callable[..., Any], *feeds: Any) -> None:
    specs = [tf.TensorSpec(np.shape(f), np.asarray(f).dtype) for f in feeds]
    concrete = tf.function(function).get_concrete_function(*specs)
    found = tf.nest.flatten(concrete(*[tf.constant(f) for f in feeds]))
    # one output may be named twice; its values agree
    outputs = {t.name: v.numpy() for t, v in zip(concrete.outputs, found, strict=True)}
    inputs = {t.name: f for t, f in zip(concrete.inputs, feeds, strict=False)}
    keep(f"v2/{name}", concrete.graph.as_graph_def(), inputs, outputs)


def v1(name: str, build: Callable[..., Any], **feeds: Any) -> None:
    graph = tf1.Graph()
    with graph.as_default():
        tf1.disable_control_flow_v2()
        placeholders = {k: tf1.placeholder(np.asarray(v).dtype, np.shape(v), name=k) for k, v in feeds.items()}
        outputs = [tf1.identity(o, name=f"out{i}") for i, o in enumerate(build(**placeholders))]
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            found = session.run(outputs, {placeholders[k]: v for k, v in feeds.items()})
        tf1.enable_control_flow_v2()
    inputs = {f"{k}:0": np.asarray(v) for k, v in feeds.items()}
    keep(f"v1/{name}", graph.as_graph_def(), inputs, {o.name: v for o, v in zip(outputs, found, strict=True)})


# -- functions ----------------------------------------------------------------------------------------------------
def collatz(n):
    return tf.while_loop(
        lambda n, i: n != 1, lambda n, i: (tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), i + 1), (n, 0)
    )


def nested(x):
    def outer(i, s):
        _, t = tf.while_loop(lambda j, t: j < i + 1, lambda j, t: (j + 1, t + x * tf.cast(j, tf.float32)), (0, s))
        return i + 1, tf.where(t > 50.0, t / 2.0, t)

    return tf.while_loop(lambda i, s: i < 6, outer, (0, x))


def exchange(x, n):
    """Variables that are swapped, one that is not changed, and a loop without trips."""
    found = tf.while_loop(lambda i, a, b, c, n: i < n, lambda i, a, b, c, n: (i + 1, b, a + c, a, n), (0, x, -x, x, n))
    none = tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * 2.0), (0, x))
    return *found, *none


def written(x):
    items = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        items = items.write(i, x * tf.cast(i, tf.float32))
    return items.stack(), items.gather([3, 1])


def dynamic(x):
    items, i = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3]), 0
    while tf.reduce_sum(x) < 100.0:
        items = items.write(i, x)
        x, i = x * 1.7, i + 1
    return items.concat(), items.size()


def switched(i, x):
    return tf.switch_case(i, [lambda: x + 1.0, lambda: x * 10.0, lambda: tf.constant(-1.0)])


@tf.function
def helper(a, b):
    return a * b + 1.0, a - b


def calls(x, y):
    p, q = helper(x, y)
    r, s = helper(q, p)
    return r * s + p, q


def effects(x):
    for i in tf.range(3):
        if x > 2.0:
            tf.print("big", x, i)
            x = x - 1.0
        else:
            tf.debugging.assert_less(x, 10.0)
            x = x * 3.0
    return x


def early(x):
    s = 0.0
    for i in tf.range(10):
        if s > x:
            break
        if i % 2 == 0:
            continue
        s += tf.cast(i, tf.float32)
    return s


def lists(x):
    raw = tf.raw_ops
    whole = raw.TensorListFromTensor(tensor=x, element_shape=[2])
    more = raw.TensorListConcatLists(input_a=whole, input_b=whole, element_dtype=tf.float32)
    longer = raw.TensorListResize(input_handle=more, size=9)
    scattered = raw.TensorListScatterV2(tensor=x, indices=[4, 0, 2], element_shape=[2], num_elements=6)
    into = raw.TensorListScatterIntoExistingList(input_handle=scattered, tensor=-x, indices=[1, 2, 3])
    split = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=[2, 1])
    joined, lengths = raw.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 2], leading_dims=tf.zeros([0], tf.int64), element_dtype=tf.float32
    )
    popped, last = raw.TensorListPopBack(input_handle=more, element_shape=[2], element_dtype=tf.float32)

    def stack(handle):
        return raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)

    return (
        stack(longer),
        stack(scattered),
        stack(into),
        joined,
        lengths,
        last,
        raw.TensorListLength(input_handle=popped),
        raw.TensorListElementShape(input_handle=split, shape_type=tf.int32),
        raw.TensorListGather(input_handle=into, indices=[3, 3], element_shape=[2], element_dtype=tf.float32),
    )


def gradient(function):
    def found(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x), y

    return found


def sines(x):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf.sin(y) * x + y), (0, x))[1]


def nested_sines(x):
    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < i + 2, lambda j, z: (j + 1, z * tf.cos(x) + z), (0, y))[1]

    return tf.while_loop(lambda i, y: i < 3, outer, (0, x))[1]


def scanned(x):
    return tf.reduce_sum(tf.scan(lambda a, b: a * b + 1.0, x) ** 2)


def branched(x):
    def body(i, y):
        def small():
            return tf.switch_case(i, [lambda: y * 3.0, lambda: y + x])

        return i + 1, tf.cond(y > 1.0, lambda: tf.sin(y) * x, small)

    return tf.while_loop(lambda i, y: i < 6, body, (0, x))[1]


# -- frames ---------------------------------------------------------------------------------------------------------
def frame_gradient(function):
    def found(x):
        y = function(x)
        return [y, tf1.gradients(y, x)[0]]

    return found


def frame_sines(x):
    return tf1.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf.sin(y) * x + y), (tf.constant(0), x))[1]


def frame_nested(x):
    def outer(i, y):
        start = (tf.constant(0), y)
        return i + 1, tf1.while_loop(lambda j, z: j < i + 2, lambda j, z: (j + 1, z * tf.cos(x) + z), start)[1]

    return tf1.while_loop(lambda i, y: i < 3, outer, (tf.constant(0), x))[1]


def cond_in_loop(x):
    def body(i, y):
        return i + 1, tf1.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y * y + x)

    return tf1.while_loop(lambda i, y: i < 5, body, (tf.constant(0), x))[1]


def loop_in_cond(x):
    def loop():
        return tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(y) + x), (tf.constant(0), x))[1]

    return tf1.cond(x > 0.0, loop, lambda: -x)


def loop_in_cond_in_loop(x):
    def inner(i, y):
        start = (tf.constant(0), y)
        return tf1.while_loop(lambda j, z: j < i + 1, lambda j, z: (j + 1, tf.sin(z) * x), start)[1]

    def body(i, y):
        return i + 1, tf1.cond(i < 2, lambda: inner(i, y), lambda: y * x)

    return tf1.while_loop(lambda i, y: i < 4, body, (tf.constant(0), x))[1]


def arrays(x):
    read = tf1.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x)
    write = tf1.TensorArray(tf.float32, size=4)

    def body(i, s, write):
        s = s * read.read(i) + tf.reduce_sum(x)
        return i + 1, s, write.write(i, s)

    _, s, write = tf1.while_loop(lambda i, s, w: i < 4, body, (tf.constant(0), tf.constant(1.0), write))
    return tf.reduce_sum(write.stack() ** 2) + s


def split_array(x):
    parts = tf1.TensorArray(tf.float32, size=2, infer_shape=False, clear_after_read=False).split(x, [1, 3])
    return parts.concat() * tf.constant([1.0, 2.0, 3.0, 4.0]) + tf.reduce_sum(parts.read(1) ** 2)


def growing_array(x):
    items = tf1.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[], clear_after_read=False)

    def body(i, items):
        return i + 1, items.write(i, x * tf.cast(i, tf.float32))

    _, items = tf1.while_loop(lambda i, a: i < 6, body, (tf.constant(0), items))
    return tf.reduce_sum(items.gather([0, 2, 5]) * tf.constant([1.0, 2.0, 3.0]))


def variables(x):
    a = tf1.get_variable("a", initializer=tf.constant([1.0, 2.0]), use_resource=True)
    b = tf1.get_variable("b", initializer=tf.constant([[0.5, 1.0], [2.0, 0.25]]), use_resource=False)
    tf1.assign_add(a, [1.0, 1.0])
    step = tf.function(lambda v: tf.linalg.matvec(b, v) * a + helper(v, a)[0])
    return [step(x), tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * a), (tf.constant(0), x))[1]]


def main() -> None:
    v2("collatz", collatz, np.int32(27))
    v2("nested", nested, F(1.5))
    v2("exchange", exchange, F(1.5), np.int32(5))
    v2("written", written, np.arange(3, dtype=F))
    v2("dynamic", dynamic, np.arange(1, 4, dtype=F))
    for index in (-1, 0, 1, 7):
        v2(f"case_{index}", switched, np.int32(index), F(2))
    v2("calls", calls, F(3), F(4))
    v2("effects", effects, F(2.5))
    v2("early", early, F(7))
    v2("map", lambda x: tf.map_fn(lambda r: tf.reduce_sum(r) * 2.0, x), np.arange(6, dtype=F).reshape(3, 2))
    v2("lists", lists, np.arange(6, dtype=F).reshape(3, 2))
    pair = np.array([0.3, 0.5], F)
    v2("gradient", gradient(sines), pair)
    v2("gradient_nested", gradient(nested_sines), pair)
    v2("gradient_scan", gradient(scanned), np.arange(1, 5, dtype=F))
    v2("gradient_branches", gradient(branched), F(0.7))
    tf1.disable_eager_execution()
    v1("gradient", frame_gradient(frame_sines), x=F(0.3))
    v1("gradient_nested", frame_gradient(frame_nested), x=pair)
    v1("gradient_cond_in_loop", frame_gradient(cond_in_loop), x=F(0.7))
    v1("gradient_loop_in_cond", frame_gradient(loop_in_cond), x=F(0.7))
    v1("gradient_loop_not_taken", frame_gradient(loop_in_cond), x=F(-0.7))
    v1("gradient_loop_in_cond_in_loop", frame_gradient(loop_in_cond_in_loop), x=F(0.9))
    four = np.array([0.3, 0.5, 2.0, -1.0], F)
    v1("gradient_arrays", frame_gradient(arrays), x=four)
    v1("gradient_split", frame_gradient(split_array), x=four)
    v1("gradient_growing", frame_gradient(growing_array), x=F(2))
    v1("variables", variables, x=pair)
    target = Path(__file__).with_name("control_flow.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in FILES.items():
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    print(f"{len(FILES) // 2} graphs with TensorFlow {tf.__version__}")


if __name__ == "__main__":
    sys.exit(main())
