"""TensorArrays, TensorLists and stacks: TensorFlow's rules, and immutable values.

Expected values follow the descriptions at https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops.state_samples import (
    ANY_SHAPE,
    BLANK,
    FLOW,
    FULL,
    FULL_STACK,
    GRAD,
    GRADS,
    GROWS,
    HANDLE,
    LIST,
    START,
    STATES,
    X,
    call,
    i32,
    one,
)
from workbench import ops
from workbench.errors import ExecutionError, TypeMismatchError
from workbench.ir.types import Opaque, TensorType
from workbench.ops.state.persistent import Elements


def plain(value):
    """A value as nested lists, to compare and to find changes."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tolist()
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.ravel()]
    elements = getattr(value, "elements", None)
    return repr(value) if elements is None else [None if e is None else plain(e) for e in elements]


@pytest.mark.parametrize("name", sorted(STATES))
def test_what_is_inferred_is_what_comes_and_inputs_stay(name):
    spec = ops.lookup(name)
    for inputs, attrs in STATES[name]:
        before = [plain(i) for i in inputs]
        results = spec.evaluate(list(inputs), attrs)
        again = spec.evaluate(list(inputs), attrs)
        assert [plain(i) for i in inputs] == before
        assert [plain(r) for r in results] == [plain(r) for r in again]
        types = [TensorType.of(i) for i in inputs]
        types = [TensorType("opaque", t.shape) if t.dtype == "string" else t for t in types]
        promised = spec.infer(types, attrs, [None] * len(inputs))
        assert len(promised) == len(results)
        for promise, result in zip(promised, results, strict=True):
            assert isinstance(result, np.ndarray | Opaque)
            opaque = isinstance(result, Opaque) or result.dtype == object
            assert promise.dtype == "opaque" if opaque else promise.accepts(TensorType.of(result))


FIRST = {n: ops.lookup(n).inputs[:1] for n in STATES}


@pytest.mark.parametrize(
    "name", [n for n in STATES if FIRST[n] and FIRST[n][0] in ("handle", "list", "stack", "optional", "table")]
)
def test_an_array_is_no_state(name):
    wrong = [TensorType("float32", ())] * max(ops.lookup(name).arity()[0], 1)
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(name).infer(wrong, {}, [None] * len(wrong))
    assert caught.value.slug == "wrong-dtype"


# -- TensorArrays -------------------------------------------------------------------------------------------------
def test_a_write_leaves_older_flows_alone():
    one_written = call("tensor_array_write", HANDLE, one(1), X[0], FLOW)
    other = call("tensor_array_write", HANDLE, one(1), X[1], FLOW)
    assert call("tensor_array_read", HANDLE, one(1), one_written).tolist() == X[0].tolist()
    assert call("tensor_array_read", HANDLE, one(1), other).tolist() == X[1].tolist()
    assert plain(FLOW) == [None] * 4
    value = np.array([1, 2, 3], np.float32)
    written = call("tensor_array_write", HANDLE, one(0), value, FLOW)
    value[:] = 9  # the executor reuses its memory
    assert plain(written)[0] == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        call("tensor_array_read", HANDLE, one(0), written)[0] = 5


def test_a_flow_is_the_float_that_it_is_in_tensorflow():
    assert np.asarray(FULL).dtype == np.float32 and np.asarray(FULL).shape == () and np.asarray(FULL) == 0


def test_reading_what_was_never_written():
    known, flow = call("tensor_array", one(2), dtype="int32", element_shape=(2,))
    assert call("tensor_array_read", known, one(0), flow).tolist() == [0, 0]
    same, flow = call("tensor_array", one(2), dtype="float32", identical_element_shapes=True)
    flow = call("tensor_array_write", same, one(1), X[0], flow)
    assert call("tensor_array_read", same, one(0), flow).tolist() == [0, 0, 0]
    assert call("tensor_array_concat", GROWS, START)[0].shape == (0,)
    assert call("tensor_array_gather", GROWS, i32(), START).shape == (0, 3)


def test_gradients_add_up_and_join():
    twice = call("tensor_array_write", GRAD, one(1), X[0], call("tensor_array_write", GRAD, one(1), X[1], GRADS))
    assert call("tensor_array_read", GRAD, one(1), twice).tolist() == (X[0] + X[1]).tolist()
    # zeros of the forward element's shape for unwritten elements
    assert call("tensor_array_read", GRAD, one(3), twice).tolist() == [0, 0, 0]
    other = call("tensor_array_write", GRAD, one(2), X[2], GRADS)
    nothing = call("tensor_array_flow", one(0.0, np.float32))
    both = call("tensor_array_join", nothing, twice, other, twice)
    assert plain(both) == [None, (2 * (X[0] + X[1])).tolist(), X[2].tolist(), None]
    # the gradients begin with the flow of the forward array, and continue with their own
    assert plain(call("tensor_array_write", GRAD, one(0), X[0], FULL))[0] == X[0].tolist()
    assert call("tensor_array_grad", HANDLE, both, source="s")[1] is both
    shaped, flow = call("tensor_array_grad", HANDLE, FULL, i32(2))
    assert call("tensor_array_read", shaped, one(0), flow).shape == (2, 3)


def test_a_dynamic_array_grows():
    flow = call("tensor_array_write", GROWS, one(40), X[0], START)
    assert int(call("tensor_array_size", GROWS, flow)) == 41
    assert call("tensor_array_split", GROWS, X.reshape(-1), np.full(4, 3), START).elements[3].tolist() == X[3].tolist()


ARRAY_FAULTS = {
    "beyond the end": ("tensor_array_write", (HANDLE, one(4), X[0], FLOW), {}, "bad-index"),
    "before the start": ("tensor_array_write", (GROWS, one(-1), X[0], START), {}, "bad-index"),
    "twice": ("tensor_array_write", (HANDLE, one(1), X[0], FULL), {}, "written-twice"),
    "another shape": ("tensor_array_write", (GROWS, one(0), X, START), {}, "wrong-shape"),
    "another dtype": ("tensor_array_write", (HANDLE, one(0), i32(1), FLOW), {}, "wrong-dtype"),
    "never written": ("tensor_array_read", (HANDLE, one(0), FLOW), {}, "never-written"),
    "read beyond": ("tensor_array_read", (HANDLE, one(4), FULL), {}, "bad-index"),
    "another array's flow": ("tensor_array_read", (HANDLE, one(0), START), {}, "wrong-flow"),
    "a negative size": ("tensor_array", (one(-1),), {"dtype": "int32"}, "bad-size"),
    "a huge size": ("tensor_array", (one(2**40, np.int64),), {"dtype": "int32"}, "bad-size"),
    "grown without end": ("tensor_array_write", (GROWS, one(2**31 - 1), X[0], START), {}, "bad-index"),
    "too few indices": ("tensor_array_scatter", (HANDLE, i32(0), X, FLOW), {}, "wrong-shape"),
    "too few lengths": ("tensor_array_split", (HANDLE, X, i32(4), FLOW), {}, "bad-size"),
    "lengths that do not add up": ("tensor_array_split", (HANDLE, X, i32(1, 1, 1, 0), FLOW), {}, "wrong-shape"),
    "sums of forward flows": (
        "tensor_array_join",
        (FULL, call("tensor_array_scatter", HANDLE, i32(0), X[:1], FLOW)),
        {},
        "wrong-flow",
    ),
}


@pytest.mark.parametrize("name, inputs, attrs, slug", ARRAY_FAULTS.values(), ids=ARRAY_FAULTS)
def test_faults_of_arrays(name, inputs, attrs, slug):
    with pytest.raises(ExecutionError) as caught:
        call(name, *inputs, **attrs)
    assert caught.value.slug == slug and caught.value.fix


# -- TensorLists --------------------------------------------------------------------------------------------------
def test_lists():
    assert call("tensor_list_stack", LIST, ANY_SHAPE).tolist() == X.tolist()
    shorter, last = call("tensor_list_pop_back", LIST, ANY_SHAPE)
    assert (len(shorter), last.tolist(), len(LIST)) == (3, X[3].tolist(), 4)
    assert call("tensor_list_stack", BLANK, ANY_SHAPE).tolist() == np.zeros((4, 3)).tolist()
    # an unwritten element takes its shape from the others
    some = call("tensor_list_set_item", call("tensor_list_reserve", ANY_SHAPE, one(2), dtype="float32"), one(1), X[0])
    assert call("tensor_list_get_item", some, one(0), ANY_SHAPE).tolist() == [0, 0, 0]
    joined, lengths = call("tensor_list_concat", call("tensor_list_split", X, i32(-1, 3), np.array([3, 1])), ANY_SHAPE)
    assert joined.tolist() == X.tolist() and lengths.tolist() == [3, 1]
    assert int(call("tensor_list_length", call("tensor_list_scatter", X[:2], i32(1, 3), i32(3)))) == 4
    assert call("tensor_list_element_shape", LIST, dtype="int32").tolist() == -1
    assert call("tensor_list_element_shape", BLANK, dtype="int64").tolist() == [3]
    assert call("tensor_list_stack", call("tensor_list_add", LIST, LIST), ANY_SHAPE).tolist() == (2 * X).tolist()
    nested = call("tensor_list_push_back", call("tensor_list_empty", i32(), one(-1), dtype="opaque"), LIST)
    assert call("tensor_list_get_item", nested, one(0), i32()) is LIST


EMPTY, FULL_LIST = call("tensor_list_empty", ANY_SHAPE, one(-1)), call("tensor_list_empty", ANY_SHAPE, one(0))
LIST_FAULTS = {
    "an index beyond": ("tensor_list_get_item", (LIST, one(4), ANY_SHAPE), {}, "bad-index"),
    "set beyond": ("tensor_list_set_item", (LIST, one(4), X[0]), {}, "bad-index"),
    "another shape": ("tensor_list_push_back", (BLANK, X), {}, "wrong-shape"),
    "another dtype": ("tensor_list_push_back", (LIST, i32(1)), {}, "wrong-dtype"),
    "full": ("tensor_list_push_back", (FULL_LIST, X), {}, "list-full"),
    "empty": ("tensor_list_pop_back", (EMPTY, ANY_SHAPE), {}, "list-empty"),
    "another shape asked": ("tensor_list_get_item", (LIST, one(0), i32(7)), {}, "wrong-shape"),
    "another number promised": ("tensor_list_stack", (LIST, ANY_SHAPE), {"num_elements": 5}, "bad-size"),
    "no shape known": ("tensor_list_stack", (EMPTY, ANY_SHAPE), {}, "never-written"),
    "scattered beyond": ("tensor_list_scatter", (X, i32(0, 1, 2, 3), i32(3), one(3)), {}, "bad-index"),
    "a scalar": ("tensor_list_from_tensor", (one(1), ANY_SHAPE), {}, "wrong-shape"),
    "a huge list": ("tensor_list_resize", (LIST, one(2**30)), {}, "bad-size"),
    "lists of two dtypes": ("tensor_list_concat_lists", (LIST, EMPTY), {}, "wrong-dtype"),
    "lists of two lengths": ("tensor_list_add", (LIST, call("tensor_list_resize", LIST, one(2))), {}, "bad-size"),
    "a full stack": ("stack_push", (call("stack_push", FULL_STACK, X), X), {}, "stack-full"),
    "no value": ("option_get", (call("option_none"),), {"dtypes": ("int32",)}, "no-value"),
    "another number of values": ("option_get", (call("option_of", X),), {"dtypes": ("int32",) * 2}, "no-value"),
    "an empty stack": ("stack_pop", (call("stack_new"),), {}, "stack-empty"),
}


@pytest.mark.parametrize("name, inputs, attrs, slug", LIST_FAULTS.values(), ids=LIST_FAULTS)
def test_faults_of_lists(name, inputs, attrs, slug):
    with pytest.raises(ExecutionError) as caught:
        call(name, *inputs, **attrs)
    assert caught.value.slug == slug and caught.value.fix


# -- the underlying lists --------------------------------------------------------------------------------------------
STEPS = st.lists(st.tuples(st.sampled_from(["set", "append", "sized", "back"]), st.integers(0, 2100), st.integers()))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1100), STEPS)
def test_elements_are_lists_and_older_ones_stay(count, steps):
    now, model = Elements(count), [None] * count
    history = [(now, list(model))]
    for kind, at, value in steps:
        if kind == "back":
            now, model = history[at % len(history)]
            model = list(model)
        elif kind == "append":
            now, model = now.append(value), [*model, value]
        elif kind == "sized":
            now, model = now.sized(at), [*model[:at], *[None] * (at - len(model))]
        elif model:
            now = now.set(at % len(model), value)
            model[at % len(model)] = value
        history.append((now, list(model)))
    for elements, expected in history:
        assert list(elements) == expected and len(elements) == len(expected)
    again = Elements.of(model)
    assert list(again) == model
    with pytest.raises(IndexError):
        now[len(now)]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 1500), st.integers()), st.dictionaries(st.integers(0, 1500), st.integers()))
def test_merged(one_way, other_way):
    def made(table):
        elements = Elements(max(table, default=0) + 1)
        for index, value in table.items():
            elements = elements.set(index, value)
        return elements

    calls = []
    both = made(one_way).merged(made(other_way), lambda a, b: calls.append(1) or (a, b))
    for i, item in enumerate(both):
        a, b = one_way.get(i), other_way.get(i)
        assert item == ((a, b) if i in one_way and i in other_way else b if a is None else a)
    assert len(calls) == len(one_way.keys() & other_way.keys())


def test_a_write_copies_one_path_only():
    full = Elements.of(range(32**3))
    changed = full.set(5, -1)
    blocks = [b for b in range(32) if changed._root[b] is not full._root[b]]
    assert blocks == [0]
    assert [b for b in range(32) if changed._root[0][b] is not full._root[0][b]] == [0]
