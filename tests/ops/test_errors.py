"""Wrong arity, dtype, shape and attrs raise one clear error each, with its slug and a fix."""

from __future__ import annotations

import numpy as np
import pytest

from workbench import ops
from workbench.errors import TypeMismatchError, UnknownOpError
from workbench.ir.types import UNKNOWN, TensorType

F = TensorType.parse
WRONG = [
    # op, types, attrs, slug, words of the message
    ("add", ["float32[2]"], {}, "wrong-arity", "takes 2 inputs (x, y), but got 1"),
    ("add", ["float32[2]"] * 3, {}, "wrong-arity", "but got 3"),
    ("sqrt", [], {}, "wrong-arity", "takes 1 input (x), but got 0"),
    ("Merge", [], {}, "wrong-arity", "one or more"),
    ("concat", [], {}, "wrong-arity", "one or more"),
    ("one_hot", ["int64[]", "int64[]", "int64[]"], {}, "wrong-arity", "together"),
    ("add", ["string[]", "float32[]"], {}, "wrong-dtype", "numbers"),
    ("subtract", ["bool[]", "bool[]"], {}, "wrong-dtype", "not defined for bool and bool"),
    ("add", ["opaque[...]", "float32[]"], {}, "wrong-dtype", "numbers"),
    ("where", ["int32[]", "float32[]", "float32[]"], {}, "wrong-dtype", "bools"),
    ("where", ["bool[]", "string[]", "float32[]"], {}, "wrong-dtype", "cannot join strings"),
    ("cast", ["string[]"], {"dtype": "int32"}, "wrong-dtype", "cannot turn string into int32"),
    ("bitwise_and", ["float32[]", "int32[]"], {}, "wrong-dtype", "integers"),
    ("Switch", ["float32[]", "float32[]"], {}, "wrong-dtype", "scalar bool"),
    ("LoopCond", ["int32[]"], {}, "wrong-dtype", "scalar bool"),
    ("Merge", ["int32[]", "float32[]"], {}, "wrong-dtype", "one dtype"),
    ("gather", ["float32[3]", "float32[]"], {}, "wrong-dtype", "integers as indices"),
    ("scatter_update", ["float32[3]", "int64[1,1]", "int32[1]"], {}, "wrong-dtype", "updates of dtype float32"),
    ("matmul", ["bfloat16[2,2]", "int16[2,2]"], {}, "wrong-dtype", "common dtype"),
    ("add", ["float32[2]", "float32[3]"], {}, "wrong-shape", "cannot broadcast the shapes [2] and [3]"),
    ("where", ["bool[2]", "float32[3]", "float32[]"], {}, "wrong-shape", "broadcast"),
    ("Switch", ["float32[]", "bool[2]"], {}, "wrong-shape", "scalar"),
    ("matmul", ["float32[2,3]", "float32[2,3]"], {}, "wrong-shape", "inner sizes 3 and 2"),
    ("matmul", ["float32[]", "float32[2]"], {}, "wrong-shape", "scalar"),
    ("gemm", ["float32[2]", "float32[2,2]"], {}, "wrong-shape", "rank 2"),
    ("einsum", ["float32[3,1]"], {"equation": "ii->i"}, "wrong-shape", "the sizes 3 and 1 for 'i'"),
    ("conv_transpose", ["float32[1,3,3,2]", "float32[2,2,4,2]", "float32[5]"], {}, "wrong-shape", "5 biases for 4"),
    ("reshape", ["float32[2,3]"], {"shape": (4, -1)}, "wrong-shape", "6 elements"),
    ("reshape", ["float32[2,3]"], {"shape": (5,)}, "wrong-shape", "6 elements"),
    ("concat", ["float32[2,3]", "float32[2,4]"], {"axis": 0}, "wrong-shape", "sizes 3 and 4"),
    ("concat", ["float32[]", "float32[]"], {}, "wrong-shape", "scalars"),
    ("stack", ["float32[2]", "float32[2,1]"], {}, "wrong-shape", "one rank"),
    ("split", ["float32[5]"], {"num": 2}, "wrong-shape", "equal parts"),
    ("split", ["float32[5]"], {"sizes": (2, 2)}, "wrong-shape", "cannot cut"),
    ("squeeze", ["float32[2]"], {"axis": 0}, "wrong-shape", "not 1"),
    ("broadcast_to", ["float32[2]"], {"shape": (3,)}, "wrong-shape", "cannot broadcast"),
    ("getitem", ["float32[2]"], {"index": (("int", 2),)}, "wrong-shape", "no index 2"),
    ("getitem", ["float32[2]"], {"index": (("int", 0), ("int", 0))}, "wrong-shape", "2 indices"),
    ("gather", ["float32[]", "int64[]"], {}, "wrong-shape", "scalar"),
    ("gather_nd", ["float32[2]", "int64[1,2]"], {}, "wrong-shape", "cannot index"),
    ("scatter_update", ["float32[3,2]", "int64[1,1]", "float32[1]"], {}, "wrong-shape", "float32[1,2]"),
    ("einsum", ["float32[2,3]", "float32[2,3]"], {"equation": "ij,jk->ik"}, "wrong-shape", "'j'"),
    ("tensordot", ["float32[2,3]", "float32[2,3]"], {"axes": 1}, "wrong-shape", "cannot sum axis"),
    ("ensure_shape", ["float32[2]"], {"shape": (3,)}, "wrong-shape", "[3]"),
    ("sum", ["float32[2]"], {"axis": 1}, "wrong-attr", "no axis 1"),
    ("sum", ["float32[2,2]"], {"axis": (0, -2)}, "wrong-attr", "repeat"),
    ("sum", ["float32[2]"], {"axs": 1}, "wrong-attr", "no attr 'axs'"),
    ("sum", ["float32[2]", "int64[1]"], {"axis": 0}, "wrong-attr", "both as an attr and as an input"),
    ("transpose", ["float32[2,3]"], {"perm": (0,)}, "wrong-attr", "perm"),
    ("reshape", ["float32[2,3]"], {}, "wrong-attr", "needs 'shape'"),
    ("reshape", ["float32[2,3]"], {"shape": (-1, -1)}, "wrong-attr", "-1 at most once"),
    ("cast", ["float32[]"], {}, "wrong-attr", "needs the attr 'dtype'"),
    ("cast", ["float32[]"], {"dtype": "float99"}, "wrong-attr", "float99"),
    ("Enter", ["float32[]"], {}, "wrong-attr", "frame_name"),
    ("Const", [], {"value": 1.0}, "wrong-attr", "array"),
    ("unstack", ["float32[?]"], {}, "wrong-attr", "how many parts"),
    ("einsum", ["float32[2]"], {"equation": "i,i->i"}, "wrong-attr", "2 inputs"),
    ("pad", ["float32[2]"], {"pad_width": ((0, -1),)}, "wrong-attr", "pad by"),
]


@pytest.mark.parametrize(("op", "types", "attrs", "slug", "words"), WRONG, ids=[f"{w[0]}-{w[3]}" for w in WRONG])
def test_wrong(op, types, attrs, slug, words):
    parsed = [F(t) for t in types]
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(op).infer(parsed, attrs, [None] * len(parsed))
    error = caught.value
    assert error.slug == slug
    assert error.fix or slug == "wrong-shape" or op == "einsum"
    assert error.message.startswith(f"The op {op!r} ")
    assert words in str(error)


def test_unknown_op_suggests_the_nearest():
    with pytest.raises(UnknownOpError, match=r"'subtrct'.*subtract.*\[unknown-op\]"):
        ops.lookup("subtrct")


def test_values_that_break_a_rule():
    zero = np.array(0)
    with pytest.raises(TypeMismatchError, match="steps of 0"):
        ops.lookup("range").infer([TensorType.of(zero)] * 3, {}, [zero] * 3)
    with pytest.raises(TypeMismatchError, match="steps of 0"):  # known only at the run
        ops.lookup("range").evaluate([zero] * 3, {})
    with pytest.raises(TypeMismatchError, match="cannot take 3 elements"):
        three = np.array([3])
        ops.lookup("slice_size").infer([F("int32[2]"), F("int64[1]"), F("int64[1]")], {}, [None, None, three])


# by family, because frontends may have added ops to the registry
OURS = {m.FAMILY for m in ops.FAMILIES} | {"bits", "logic"}


@pytest.mark.parametrize("name", [n for n in ops.names() if ops.lookup(n).family in OURS])
def test_any_type_may_be_unknown(name):
    """An op accepts inputs of unknown type if its attrs are given."""
    spec = ops.lookup(name)
    if any(v is ops.REQUIRED for v in spec.attrs.values()):
        return
    low, _ = spec.arity()
    types = [UNKNOWN] * max(low, 1 if spec.inputs and spec.inputs[0].startswith("*") else 0)
    try:
        result = spec.infer(types, {}, [None] * len(types))
    except TypeMismatchError as error:
        assert error.slug == "wrong-attr" and "needs" in error.message or name == "unstack"
    else:
        assert all(isinstance(t, TensorType) for t in result)
