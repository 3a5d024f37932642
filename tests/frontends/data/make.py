"""Creates the files of this folder with TensorFlow (2.21 for the files checked in): ``python make.py``.

They are small models written by TensorFlow itself, with its results in ``expected.json``. The tests need no TensorFlow.
Files that the reader ignores (assets, fingerprints, debug information) are left out.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

HERE = Path(__file__).resolve().parent
v1 = tf.compat.v1
EXPECTED: dict[str, Any] = {}
FEEDS = ((1.0, 0), (1.0, 1), (2.5, 7), (40.0, 4))


def tidy(folder: Path) -> None:
    """Remove the files that the reader ignores."""
    path = folder / "saved_model.pb"
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for meta in model.meta_graphs:
        meta.meta_info_def.ClearField("stripped_op_list")
        functions = meta.graph_def.library.function
        for node in (*meta.graph_def.node, *(n for f in functions for n in f.node_def)):
            node.ClearField("experimental_debug_info")
            node.attr.pop("_output_shapes", None)
        for function in functions:
            function.arg_attr.clear()
            function.attr.pop("_output_shapes", None)
    path.write_bytes(model.SerializeToString(deterministic=True))
    for name in ("assets", "fingerprint.pb", "debug"):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def fresh(name: str) -> Path:
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def graph_loop() -> None:
    """A while loop of TensorFlow 1, in both forms."""
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], "x")
        names = tf.constant([b'a\n"q"', "ä".encode(), b"\x00\xff'"], name="names")
        tf.identity(names, name="same")
        tf.constant([np.inf, -np.inf, np.nan, 1e-40, -0.0], name="odd")
        tf.constant([[1, -2], [3, 4]], tf.int16, name="small")
        tf.constant([1 + 2j], name="complex")
        tf.constant([1.5, -2.0], tf.bfloat16, name="brain")
        i, y = v1.while_loop(lambda i, y: tf.less(i, 5), lambda i, y: (i + 1, y * 0.5 + 1.0), [tf.constant(0), x])
        tf.identity(y, name="y")
        with v1.Session() as session:
            EXPECTED["loop"] = {"feed": 3.0, "y": float(session.run(y, {x: 3.0})), "i": int(session.run(i, {x: 3.0}))}
    definition = graph.as_graph_def()
    (HERE / "loop.pb").write_bytes(definition.SerializeToString())
    (HERE / "loop.pbtxt").write_text(text_format.MessageToString(definition))


def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> tf.Tensor:
    """Each part of the partitioned variable starts with rows of its own."""
    first = partition_info.var_offset[0]
    return tf.constant(np.arange(10, dtype=np.float32).reshape(5, 2)[first : first + shape[0]])


def saved_v1() -> None:
    """A SavedModel of TensorFlow 1: reference and resource variables, a partitioned one, two tags, two signatures."""
    folder = fresh("saved_v1")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("layer/w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=False)
        b = v1.get_variable("layer/b", initializer=np.array([0.5, -0.5], np.float32), use_resource=True)
        table = v1.get_variable(
            "table", [5, 2], initializer=rows, partitioner=v1.fixed_size_partitioner(3), use_resource=True
        )
        count = v1.get_variable("count", initializer=np.int64(7), use_resource=True)
        y = tf.add(tf.matmul(x, w), b, name="y")
        total = tf.reduce_sum(table.as_tensor(), axis=0, name="total")
        n = tf.identity(count, name="n")
        session.run(v1.global_variables_initializer())
        info = v1.saved_model.build_tensor_info
        signature = v1.saved_model.signature_def_utils.build_signature_def
        signatures = {
            "serving_default": signature({"data": info(x)}, {"scores": info(y)}, "predict"),
            "totals": signature({}, {"sum": info(total), "count": info(n)}, "predict"),
        }
        builder = v1.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.add_meta_graph(["train", "gpu"], {"serving_default": signatures["totals"]})
        builder.save()
        feed = np.array([[1, 2, 3], [0, -1, 0.5]], np.float32)
        values = session.run({"scores": y, "sum": total, "count": n}, {x: feed})
    EXPECTED["saved_v1"] = {"data": feed.tolist(), **{k: np.asarray(v).tolist() for k, v in values.items()}}
    tidy(folder)


def saved_v2() -> None:
    """A SavedModel of TensorFlow 2: two variables of one name, a nested one, a loop in the function."""
    folder = fresh("saved_v2")
    v1.enable_control_flow_v2()

    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = tf.Variable(np.array([2.0, 3.0], np.float32), name="scale")

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = tf.Variable(1.5)
            self.second = tf.Variable(-4.0)
            self.inner = Inner()
            self.steps = tf.Variable(3, trainable=False, name="steps")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="data")])
        def __call__(self, data: tf.Tensor) -> dict[str, tf.Tensor]:
            out = data
            for _ in tf.range(self.steps):
                out = out * self.inner.scale + self.first
            return {"out": out, "shifted": out + self.second}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures=model.__call__)
    feed = np.array([[1, 2], [0, -1]], np.float32)
    values = {k: v.numpy().tolist() for k, v in model(tf.constant(feed)).items()}
    EXPECTED["saved_v2"] = {"data": feed.tolist(), **values}
    tidy(folder)


def functions() -> None:
    """A functional graph: nested While, If, Case and a call."""
    v1.enable_control_flow_v2()

    @tf.function
    def twice(x: tf.Tensor) -> tf.Tensor:
        return x + x

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")])
    def run(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            y = tf.cond(y > 10.0, lambda: y - 7.0, lambda: twice(y) + 1.0)
            return i + 1, tf.switch_case(i % 3, [lambda: y, lambda: y * 0.5, lambda: -y])

        return tf.while_loop(lambda i, y: i < n, body, [0, x])[1]

    concrete = run.get_concrete_function()
    definition = concrete.graph.as_graph_def()
    for node in (*definition.node, *(n for f in definition.library.function for n in f.node_def)):
        node.ClearField("experimental_debug_info")
        node.attr.pop("_output_shapes", None)
    (HERE / "functions.pb").write_bytes(definition.SerializeToString(deterministic=True))
    (HERE / "functions.pbtxt").write_text(text_format.MessageToString(definition))
    EXPECTED["functions"] = {
        "output": concrete.outputs[0].name,
        "runs": [[x, n, float(run(tf.constant(x), tf.constant(n)))] for x, n in FEEDS],
    }


def checkpoint() -> None:
    """A checkpoint of two shards with many dtypes, strings, an empty tensor and slices."""
    for path in HERE.glob("bundle.*"):
        path.unlink()
    tensors = {
        "f": np.arange(600, dtype=np.float32).reshape(20, 30) / 7,
        "h": np.array([1.5, -2], np.float16),
        "d": np.array(np.pi),
        "i8": np.array([-1, 2], np.int8),
        "u16": np.array([65535], np.uint16),
        "i64": np.array([[-(2**63)], [5]]),
        "b": np.array([True, False, True]),
        "c": np.array([1 + 2j], np.complex64),
        "e": np.zeros((0, 4), np.float32),
        "s": np.array([[b"", b"abc"], [b"\x00\xff", b"x" * 300]], object),
        "deep/name/with/a/long/path": np.int32(9),
    }
    with tf.Graph().as_default(), v1.Session() as session:
        names, prefixes = sorted(tensors), [str(HERE / f"part{i}") for i in range(2)]
        for i, prefix in enumerate(prefixes):
            mine = names[i::2]
            session.run(
                tf.raw_ops.SaveV2(
                    prefix=prefix,
                    tensor_names=mine,
                    shape_and_slices=[""] * len(mine),
                    tensors=[tf.constant(tensors[n]) for n in mine],
                )
            )
        whole = np.arange(200 * 3, dtype=np.int32).reshape(200, 3)
        slices = ["200 3 0,64:-", "200 3 64,130:-", "200 3 194,6:0,2", "200 3 194,6:2,1"]
        pieces = [whole[:64], whole[64:194], whole[194:, :2], whole[194:, 2:]]
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(HERE / "part2"),
                tensor_names=["sliced"] * 4,
                shape_and_slices=slices,
                tensors=[tf.constant(p) for p in pieces],
            )
        )
        session.run(
            tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=[*prefixes, str(HERE / "part2")],
                destination_prefix=str(HERE / "bundle"),
                delete_old_dirs=False,
            )
        )


if __name__ == "__main__":
    graph_loop()
    saved_v1()
    saved_v2()
    functions()
    checkpoint()
    (HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1) + "\n")
