"""Omitted attributes with TensorFlow's default: the node equals that of a file that has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.frontends.protobytes import const, data, integer, node, tensor
from tests.frontends.test_tf_math import results
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef
from workbench.frontends.files import guarded
from workbench.frontends.tf.graphdef import NodeDef, read_graphdef
from workbench.frontends.tf.lowering import lower
from workbench.frontends.tf.rules import DEFAULTS
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.opspec import REGISTRY

#: a node of each op with all the attributes that have a default; ``data/make_defaults.py`` wrote it with TensorFlow
NODES = read_graphdef((Path(__file__).parent / "data" / "defaults.pb").read_bytes()).nodes
#: values of attributes without a default, of any op
GIVEN = {
    "T": DTypeAttr(1),
    "Tcomplex": DTypeAttr(8),
    **dict.fromkeys(("N", "num", "num_split", "block_size", "k"), 2),
    **dict.fromkeys(("strides", "ksize", "ksizes", "rates"), [1, 1, 1, 1]),
    "padding": b"SAME",
}
#: attributes that limit the part of a value shown in a message
OF_MESSAGES = ("summarize",)


def lowered(given: NodeDef, constant: np.ndarray) -> tuple | None:
    """The lowered op and its attributes, with defaults, of a node whose inputs are this constant; None if refused."""
    consts = {
        t.node: NodeDef(t.node, "Const", (), (), {"dtype": DTypeAttr(3), "value": constant}) for t in given.inputs
    }
    try:
        with guarded("The node"):
            low = lower({**consts, "n": replace(given, name="n")}, lambda _: None)["n"]
    except WorkbenchError:
        return None
    attrs = {**REGISTRY.lookup(low.op, low.attrs).attrs, **low.attrs}
    return low.op, low.inputs, low.outputs, low.via, {k: plain(k, v) for k, v in attrs.items() if k not in OF_MESSAGES}


def plain(name: str, value):
    """A normal form of values that are equivalent for an op: texts as bytes, floats of any width, dilations of 1 as
    none.
    """
    if name == "dilations" and value is not None and set(value) == {1}:
        return None
    if isinstance(value, float):
        return np.float32(value).item()
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("constant", [np.array(1, np.int32), np.ones(4, np.int32)], ids=["scalar", "list"])
def test_an_attribute_left_out_is_tensorflows_default(constant):
    told = set()
    for each in NODES.values():
        full = replace(each, attrs={**GIVEN, **each.attrs})
        wanted = lowered(full, constant)
        told |= {each.op} if wanted else set()
        for left_out in each.attrs:
            rest = {k: v for k, v in full.attrs.items() if k != left_out}
            assert lowered(replace(full, attrs=rest), constant) == wanted, (each.op, left_out)
    assert len(told) > 0.95 * len(NODES) > 200
    assert set(DEFAULTS) <= told


def test_numbers_of_what_is_left_out():
    x = np.array([1.0, -2.0], np.float32)
    np.testing.assert_array_equal(results("LeakyRelu", [x], {})[0], np.where(x > 0, x, np.float32(0.2) * x))
    assert [r.dtype for r in results("ShapeN", [x, x], {}, 2)] == [np.int32] * 2
    image = np.zeros((2, 1, 2, 1), np.float32)
    image[1, 0, 1] = 1  # the second sample: its index counts within it
    window = data(1, b"".join(integer(3, n) for n in (1, 1, 2, 1)))
    given = {"ksize": window, "strides": window, "padding": data(2, "VALID")}
    image_node = const("c", tensor(1, image.shape, data(4, image.tobytes())))
    graph = from_graphdef(image_node + node("n", "MaxPoolWithArgmax", "c", **given), outputs=["n:1"])
    assert graph.run()["n:1"].ravel().tolist() == [0, 1]
