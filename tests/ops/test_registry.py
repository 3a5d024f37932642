"""The table itself: documentation, attrs, the public interface, foreign ops, control-flow types."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.ops.samples import SAMPLES
from tests.ops.state_samples import STATES
from tests.ops.test_agreement import ELEMENTWISE
from workbench import ops
from workbench.errors import UnknownOpError
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType

F = TensorType.parse
FRAME_OPS = ("Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit")


@pytest.mark.parametrize("name", ops.names())
def test_entry_is_complete(name):
    spec = ops.lookup(name)
    assert spec.doc and spec.family
    assert name in ops.describe(name) and spec.doc in ops.describe(name)
    low, high = spec.arity()
    assert high is None or 0 <= low <= high


def test_every_op_has_a_test():
    families = {m.FAMILY for m in ops.FAMILIES} | {"bits", "logic"}
    ours = {n for n in ops.names() if ops.lookup(n).family in families}
    assert ours - set(SAMPLES) - set(STATES) - set(ELEMENTWISE) == {*FRAME_OPS, "Placeholder"}
    assert ops.table().count("\n") == len(REGISTRY) + 1


def test_the_executor_has_the_frame_ops_to_itself():
    for name in (*FRAME_OPS, "Placeholder"):
        assert ops.lookup(name).evaluate is None


def test_control_flow_types():
    def infer(name, *types, **attrs):
        return [str(t) for t in ops.lookup(name).infer([F(t) for t in types], attrs, [None] * len(types))]

    assert infer("Enter", "float32[2]", frame_name="f", is_constant=True) == ["float32[2]"]
    assert infer("Merge", "float32[2,3]", "float32[?,3]") == ["float32[?,3]", "int32[]"]
    assert infer("Merge", "float32[2]", "float32[2,3]", "float32[2]") == ["float32[...]", "int32[]"]
    assert infer("Merge", "any[...]", "float32[2]") == ["any[...]", "int32[]"]
    assert infer("Switch", "float32[2]", "bool[]") == ["float32[2]"] * 2
    assert infer("LoopCond", "bool[]") == ["bool[]"]
    assert infer("NextIteration", "opaque[...]") == ["opaque[...]"]
    assert infer("Exit", "string[2]") == ["string[2]"]
    assert infer("Placeholder", dtype="float32", shape=(2, None)) == ["float32[2,?]"]
    assert infer("Placeholder", dtype=np.float64) == ["float64[...]"]
    assert infer("NoOp") == []


def test_partly_known_shapes():
    def infer(name, *types, values=(), **attrs):
        return str(ops.lookup(name).infer([F(t) for t in types], attrs, values)[0])

    assert infer("add", "float32[2,1]", "float32[?]") == "float32[2,?]"
    assert infer("matmul", "float32[?,3]", "float32[3,4]") == "float32[?,4]"
    assert infer("sum", "float32[?,3]", axis=0) == "float32[3]"
    assert infer("sum", "float32[2,3,4]", "int64[2]") == "float32[?]"
    assert infer("reshape", "float32[?,3]", shape=(-1, 3)) == "float32[?,3]"
    assert infer("reshape", "float32[2,6]", "int64[2]", values=[None, np.array([3, -1])]) == "float32[3,4]"
    assert infer("reshape", "float32[2,6]", "int64[3]") == "float32[?,?,?]"
    assert infer("concat", "float32[?,3]", "float32[2,?]", axis=0) == "float32[?,3]"
    assert infer("range", "int32[]", "int32[]", "int32[]", values=[np.array(v) for v in (0, 7, 2)]) == "int32[4]"
    assert infer("fill", "int32[2]", "float32[]") == "float32[?,?]"
    assert infer("shape", "float32[?,?]", dtype="int32") == "int32[2]"
    assert infer("slice", "float32[5,?]", starts=(1, 0), ends=(9, 2)) == "float32[4,?]"
    assert infer("less", "any[...]", "float32[2]") == "bool[...]"
    assert infer("add", "bfloat16[]", "float32[]") == "float32[]"
    assert infer("divide", "int32[]", "int32[]") == "float64[]"


def test_aliases_and_ufuncs():
    assert ops.lookup("arcsin") is ops.lookup("asin")
    for ufunc in (np.add, np.arctan2, np.true_divide, np.absolute, np.conjugate, np.matmul, np.rint, np.pow):
        spec = ops.lookup(ops.ufunc_op(ufunc))
        assert spec.ufunc in (ufunc.__name__, None)
    assert ops.ufunc_op(np.frexp) is None
    for spec in map(ops.lookup, ops.names()):
        assert spec.ufunc is None or isinstance(getattr(np, spec.ufunc), np.ufunc)


def test_foreign_ops():
    def resolver(name, attrs):
        if name != "test:Twice":
            raise UnknownOpError(f"no {name}")
        return OpSpec(name, ("x",), ("y",), lambda t, a, v: t, lambda x, a: [2 * x[0]], "Twice x.", f"by {attrs['n']}")

    ops.foreign.register("test", resolver)
    spec = ops.lookup("test:Twice", {"n": 3})
    assert spec.family == "by 3" and spec.evaluate([np.array(2)], {}) == [4]
    with pytest.raises(UnknownOpError, match="no test:Thrice"):
        ops.lookup("test:Thrice")
    with pytest.raises(UnknownOpError, match="no frontend is loaded"):
        ops.lookup("nowhere:Foo")
    with pytest.raises(ValueError, match="colon"):
        ops.foreign.register("a:b", resolver)


def test_scalars_are_weak():
    for value, dtypes, expected in [
        (2, ["float32"], "float32"),
        (2.0, ["float32"], "float32"),
        (2.5, ["int32"], "float64"),
        (1j, ["float32"], "complex64"),
        (2, ["bfloat16"], "bfloat16"),
        (2.0, ["bfloat16"], "bfloat16"),
        (2, [], "int64"),
        (True, ["float32"], "bool"),
        ("a", ["string"], "string"),
        (2, ["any"], "int64"),
        (2, ["bool"], "int64"),
        (2, ["uint8", "int16"], "int16"),
    ]:
        assert ops.scalar_dtype(value, *dtypes) == expected, (value, dtypes)


def test_modules_are_documented():
    assert all(inspect.getdoc(module) for module in (ops, *ops.FAMILIES))
